//! One attribute selector: reads it, and says which values it matches (Selectors 4, section 6; HTML, section 4.16.2).

use super::token::{Kind, Tok};

/// `[name]`, `[name=value]` and the like, without a namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttributeTest {
    /// Lower case, as HTML elements have it.
    pub name: String,
    pub operator: Operator,
    /// Without quotes and escapes; empty for `Exists`.
    pub value: String,
    /// ASCII case does not count: `i`, or an attribute whose values HTML compares so, without `s`.
    pub ignore_case: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    Exists,
    /// `=`
    Equals,
    /// `~=`
    Includes,
    /// `|=`
    DashMatch,
    /// `^=`
    Prefix,
    /// `$=`
    Suffix,
    /// `*=`
    Substring,
}

impl AttributeTest {
    /// Does an HTML element whose attribute has this value match? `None`: it has no such attribute.
    pub fn matches(&self, value: Option<&str>) -> bool {
        let Some(value) = value else { return false };
        if !self.ignore_case {
            return self.test(value, &self.value);
        }
        self.test(&value.to_ascii_lowercase(), &self.value.to_ascii_lowercase())
    }

    fn test(&self, value: &str, wanted: &str) -> bool {
        match self.operator {
            Operator::Exists => true,
            Operator::Equals => value == wanted,
            Operator::Includes => value.split(BLANK).any(|word| !word.is_empty() && word == wanted),
            Operator::DashMatch => value
                .strip_prefix(wanted)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
            // An empty string is in none (section 6.2).
            Operator::Prefix => !wanted.is_empty() && value.starts_with(wanted),
            Operator::Suffix => !wanted.is_empty() && value.ends_with(wanted),
            Operator::Substring => !wanted.is_empty() && value.contains(wanted),
        }
    }
}

const BLANK: [char; 5] = [' ', '\t', '\n', '\u{c}', '\r'];

/// Reads what stands behind a `[`, and says how many tokens that was, the `]` included.
pub(super) fn read(text: &str, toks: &[Tok]) -> Option<(AttributeTest, usize)> {
    let mut solid = toks
        .iter()
        .enumerate()
        .filter(|(_, t)| !t.kind.is_blank())
        .peekable();
    let (at, mut first) = solid.next()?;
    let mut name_at = at;
    let bar = |t: &Tok| t.kind == Kind::Delim('|');
    // `ns|name`, `*|name`, `|name`: the bar takes no blanks.
    if bar(first) || matches!(first.kind, Kind::Ident | Kind::Delim('*')) && toks.get(at + 1).is_some_and(bar)
    {
        if !bar(first) {
            (name_at, _) = solid.next()?;
        }
        let (index, name) = solid.next()?;
        if index != name_at + 1 {
            return None;
        }
        first = name;
    }
    if first.kind != Kind::Ident {
        return None;
    }
    let mut test = AttributeTest {
        name: first.value(text).to_ascii_lowercase(),
        operator: Operator::Exists,
        value: String::new(),
        ignore_case: false,
    };
    let (at, next) = solid.next()?;
    test.operator = match (next.kind, next.text(text)) {
        (Kind::CloseSquare, _) => return Some((test, at + 1)),
        (Kind::Delim('='), _) => Operator::Equals,
        (Kind::Match, "~=") => Operator::Includes,
        (Kind::Match, "|=") => Operator::DashMatch,
        (Kind::Match, "^=") => Operator::Prefix,
        (Kind::Match, "$=") => Operator::Suffix,
        (Kind::Match, "*=") => Operator::Substring,
        _ => return None,
    };
    let (_, value) = solid.next()?;
    if !matches!(value.kind, Kind::Ident | Kind::Str) {
        return None;
    }
    test.value = value.value(text).into_owned();
    test.ignore_case = FOLDED.contains(&test.name.as_str());
    let (mut at, mut end) = solid.next()?;
    if end.kind == Kind::Ident {
        test.ignore_case = match end.text(text) {
            "i" | "I" => true,
            "s" | "S" => false,
            _ => return None,
        };
        (at, end) = solid.next()?;
    }
    (end.kind == Kind::CloseSquare).then_some((test, at + 1))
}

/// Attributes of HTML elements whose values selectors compare without ASCII case (HTML, section 4.16.2).
const FOLDED: [&str; 46] = [
    "accept",
    "accept-charset",
    "align",
    "alink",
    "axis",
    "bgcolor",
    "charset",
    "checked",
    "clear",
    "codetype",
    "color",
    "compact",
    "declare",
    "defer",
    "dir",
    "direction",
    "disabled",
    "enctype",
    "face",
    "frame",
    "hreflang",
    "http-equiv",
    "lang",
    "language",
    "link",
    "media",
    "method",
    "multiple",
    "nohref",
    "noresize",
    "noshade",
    "nowrap",
    "readonly",
    "rel",
    "rev",
    "rules",
    "scope",
    "scrolling",
    "selected",
    "shape",
    "target",
    "text",
    "type",
    "valign",
    "valuetype",
    "vlink",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::css::token;

    fn parse(text: &str) -> Option<AttributeTest> {
        let toks = token::list(text);
        assert_eq!(toks[0].kind, Kind::OpenSquare);
        let (test, used) = read(text, &toks[1..])?;
        assert_eq!(used, toks.len() - 1, "{text}");
        Some(test)
    }

    #[test]
    fn attribute_selectors_are_read() {
        let check = |text: &str, name: &str, operator: Operator, value: &str, ignore_case: bool| {
            let test = AttributeTest {
                name: name.to_owned(),
                operator,
                value: value.to_owned(),
                ignore_case,
            };
            assert_eq!(parse(text), Some(test), "{text}");
        };
        check("[a]", "a", Operator::Exists, "", false);
        check("[ SRC ]", "src", Operator::Exists, "", false);
        check("[a=b]", "a", Operator::Equals, "b", false);
        check("[a = 'b c' ]", "a", Operator::Equals, "b c", false);
        check("[a~=b]", "a", Operator::Includes, "b", false);
        check("[a|=b]", "a", Operator::DashMatch, "b", false);
        check("[a^=\"b\"]", "a", Operator::Prefix, "b", false);
        check("[a$=b]", "a", Operator::Suffix, "b", false);
        check("[a*=b]", "a", Operator::Substring, "b", false);
        check("[a=b i]", "a", Operator::Equals, "b", true);
        check("[a='b'I]", "a", Operator::Equals, "b", true);
        check("[a=b s]", "a", Operator::Equals, "b", false);
        check("[type=B]", "type", Operator::Equals, "B", true);
        check("[type=B s]", "type", Operator::Equals, "B", false);
        check("[ns|a]", "a", Operator::Exists, "", false);
        check("[*|a=b]", "a", Operator::Equals, "b", false);
        check("[|a|=b]", "a", Operator::DashMatch, "b", false);
        check("[/**/a/**/=/**/b/**/]", "a", Operator::Equals, "b", false);
        check("[\\61=\\62]", "a", Operator::Equals, "b", false);
        for text in [
            "[]",
            "[1]",
            "[a=1]",
            "[a=b c]",
            "[a=b i i]",
            "[a|b|c]",
            "[ns| a]",
            "[ns |a]",
            "[a",
            "[a=",
            "[a='b'",
            "['a']",
            "[a = = b]",
            "[a b]",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn values_match() {
        let check = |selector: &str, value: Option<&str>, expected: bool| {
            let test = parse(selector).expect("the table's selectors are valid");
            assert_eq!(test.matches(value), expected, "{selector} {value:?}");
        };
        check("[a]", None, false);
        check("[a]", Some(""), true);
        check("[a='']", None, false);
        check("[a='']", Some(""), true);
        check("[a=b]", Some("b"), true);
        check("[a=b]", Some("B"), false);
        check("[a=b i]", Some("B"), true);
        check("[a='\u{e9}' i]", Some("\u{c9}"), false);
        check("[rel=ICON]", Some("icon"), true);
        check("[rel=ICON s]", Some("icon"), false);
        check("[a~=b]", Some("a\tb\nc"), true);
        check("[a~=b]", Some("ab"), false);
        check("[a~='']", Some(""), false);
        check("[a~='a b']", Some("a b"), false);
        check("[a~=b]", Some("a\u{a0}b"), false);
        check("[a|=en]", Some("en"), true);
        check("[a|=en]", Some("en-GB"), true);
        check("[a|=en]", Some("english"), false);
        check("[a|='']", Some("-x"), true);
        check("[a|='']", Some(""), true);
        check("[a|='']", Some("x"), false);
        check("[a^=b]", Some("bc"), true);
        check("[a^='']", Some("bc"), false);
        check("[a$='.png']", Some("x.png"), true);
        check("[a$='.png']", Some("x.PNG"), false);
        check("[a$='.png' i]", Some("x.PNG"), true);
        check("[a$='']", Some(""), false);
        check("[a*=lo]", Some("hello"), true);
        check("[a*='']", Some("hello"), false);
        check("[a*=lo]", None, false);
    }
}
