//! What browsers read over in a stylesheet: properties, values, selectors and at-rules that they do not know.
//!
//! In: a text, and who knows selectors. Out: places with a message, and whether the author most likely meant it: a
//! prefix or a hack is written for some browsers and dropped by the others on purpose. Only what is sure is said: a
//! value is looked at where its grammar is small and old.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use lightningcss::properties::{Property, PropertyId};
use lightningcss::stylesheet::ParserOptions;

use super::items::{self, Block, Event, text_of};
use super::token::{self, Kind, Tok};
use crate::nearest::nearest;

/// One thing that is dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The item or prelude. Byte offsets.
    pub span: Range<usize>,
    /// Written for certain browsers.
    pub hack: bool,
    pub message: String,
}

/// Properties that Chromium 156 or Firefox 153 know, prefixed ones too: what `CSS.supports(NAME, "inherit")` answers for
/// every name that a style object of theirs has. Sorted, one a line.
const PROPERTIES: &str = include_str!("properties.txt");

static KNOWN: LazyLock<HashSet<&'static str>> = LazyLock::new(|| PROPERTIES.lines().collect());

/// Longer values are data, and parsing them is not worth it.
const LONGEST: usize = 200;
/// Places of one sheet that are listed: more are not read.
const MOST: usize = 1000;

/// `declarations`: the text is that of a `style` attribute. `accepts` says whether a browser knows a selector list.
pub fn dropped(text: &str, declarations: bool, accepts: &dyn Fn(&str) -> bool) -> Vec<Dropped> {
    if u32::try_from(text.len()).is_err() {
        return Vec::new();
    }
    let toks = token::list(text);
    let mut finder = Finder {
        text,
        accepts,
        found: Vec::new(),
        hacks: HashSet::new(),
        values: BTreeMap::new(),
        nested: false,
        open: Vec::new(),
    };
    items::walk(text, &toks, declarations, |event| finder.read(&event));
    finder.found
}

struct Finder<'a> {
    text: &'a str,
    accepts: &'a dyn Fn(&str) -> bool,
    found: Vec<Dropped>,
    /// Messages about hacks: each once is enough.
    hacks: HashSet<String>,
    /// Values that were parsed before: the same few stand in every sheet.
    values: BTreeMap<(String, String), bool>,
    /// Inside of something that is dropped as a whole.
    nested: bool,
    /// Of each open block: whether it is dropped.
    open: Vec<bool>,
}

impl Finder<'_> {
    fn say(&mut self, toks: &[Tok], hack: bool, message: String) {
        let (Some(first), Some(last)) = (toks.first(), toks.last()) else {
            return;
        };
        if self.found.len() >= MOST || hack && !self.hacks.insert(message.clone()) {
            return;
        }
        let span = first.start as usize..last.end as usize;
        self.found.push(Dropped { span, hack, message });
    }

    fn read(&mut self, event: &Event<'_>) {
        match event {
            Event::Open { prelude, around } => {
                let dropped = !self.nested && self.prelude(prelude, *around);
                self.open.push(dropped);
                self.nested |= dropped;
            }
            Event::Close => {
                if self.open.pop() == Some(true) {
                    self.nested = false;
                }
            }
            Event::Item { toks, block } if !self.nested => self.item(toks, *block),
            Event::Item { .. } => {}
        }
    }

    /// Whether the block behind it is dropped.
    fn prelude(&mut self, toks: &[Tok], around: Block) -> bool {
        let text = self.text;
        if let Some(at) = toks.first().filter(|tok| tok.kind == Kind::AtKeyword) {
            let name = at.value(text).to_ascii_lowercase();
            return !AT_BLOCKS.contains(&name.as_str())
                && around != Block::Inert
                && self.at_rule(toks, &name);
        }
        if matches!(around, Block::Keyframes | Block::Inert) {
            return false;
        }
        // Where Bootstrap 4 keeps names for a script of Internet Explorer.
        if text_of(text, toks) == ".ie-custom-properties" {
            return true;
        }
        if (self.accepts)(text_of(text, toks)) || toks.is_empty() {
            return false;
        }
        // The one that makes browsers drop the list; if each is known alone, the list itself is wrong.
        let members = toks.split(|tok| tok.kind == Kind::Comma).map(items::trimmed);
        let wrong = members
            .into_iter()
            .find(|member| !(self.accepts)(text_of(text, member)));
        let wrong = wrong
            .filter(|member| !member.is_empty() && !toks.iter().any(|tok| tok.kind.opens()))
            .unwrap_or(toks);
        let shown = shown(text_of(text, wrong));
        if is_prefixed(text, wrong) {
            self.say(
                wrong,
                true,
                format!("only some browsers know the selector `{shown}`"),
            );
        } else {
            let message = format!("no browser knows the selector `{shown}`: they drop the rule");
            self.say(wrong, false, message);
        }
        true
    }

    /// Always `true`: it is dropped.
    fn at_rule(&mut self, toks: &[Tok], name: &str) -> bool {
        if name.starts_with('-') || name == "viewport" {
            self.say(&toks[..1], true, format!("only some browsers know `@{name}`"));
            return true;
        }
        let known = AT_BLOCKS.iter().chain(&AT_STATEMENTS).copied();
        let message = match nearest(name, known, 1).first() {
            Some(near) => format!("no browser knows `@{name}`, did you mean `@{near}`?"),
            None => format!("no browser knows `@{name}`"),
        };
        self.say(&toks[..1], false, message);
        true
    }

    fn item(&mut self, toks: &[Tok], block: Block) {
        let text = self.text;
        let Some(first) = toks.first() else { return };
        if first.kind == Kind::AtKeyword {
            let name = first.value(text).to_ascii_lowercase();
            if block != Block::Inert
                && !AT_STATEMENTS.contains(&name.as_str())
                && !AT_BLOCKS.contains(&name.as_str())
            {
                self.at_rule(toks, &name);
            }
            return;
        }
        if block != Block::Style {
            return;
        }
        match items::declaration(text, toks) {
            Some((name, _)) if name.starts_with("--") => {}
            Some((name, value)) => self.declaration(toks, &name, value),
            None => {
                // `*zoom: 1`: any character in front hides a declaration from all but Internet Explorer 7.
                let is_star =
                    matches!(first.kind, Kind::Delim(_)) && items::declaration(text, &toks[1..]).is_some();
                if is_star {
                    let name = text_of(text, &toks[..2]);
                    self.say(toks, true, format!("only old browsers read `{}`", shown(name)));
                }
            }
        }
    }

    fn declaration(&mut self, toks: &[Tok], name: &str, value: &[Tok]) {
        if !KNOWN.contains(name) {
            let is_hack = name.starts_with(['-', '_']) || name.starts_with("mso-") || OLD.contains(&name);
            if is_hack {
                self.say(
                    toks,
                    true,
                    format!("only some browsers know the property `{}`", shown(name)),
                );
                return;
            }
            let known = PROPERTIES.lines().filter(|known| !known.starts_with('-'));
            let message = match nearest(name, known, 1).first() {
                Some(near) => format!(
                    "no browser knows the property `{}`, did you mean `{near}`?",
                    shown(name)
                ),
                None => format!("no browser knows the property `{}`", shown(name)),
            };
            self.say(toks, false, message);
            return;
        }
        let written = text_of(self.text, value);
        let lower = written.to_ascii_lowercase();
        let old = ["expression(", "progid:", "alpha(", "\\9", "\\0", "!ie"];
        if old.iter().any(|mark| lower.contains(mark)) {
            let message = format!(
                "only old browsers read this value of `{name}`: `{}`",
                shown(written)
            );
            self.say(toks, true, message);
            return;
        }
        if CHECKED.binary_search(&name).is_err() || written.len() > LONGEST || is_open(&lower) {
            return;
        }
        let message = if value.is_empty() {
            format!("`{name}` has no value")
        } else if takes_lengths(name) && has_bare_number(self.text, value) {
            let value = shown(written);
            format!("`{name}: {value}` needs a unit, such as px: browsers drop it, except in quirks mode")
        } else if self.fits(name, written) {
            return;
        } else {
            format!("no browser takes this value of `{name}`: `{}`", shown(written))
        };
        self.say(toks, false, message);
    }

    fn fits(&mut self, name: &str, value: &str) -> bool {
        let key = (name.to_owned(), value.to_owned());
        *self.values.entry(key).or_insert_with(|| is_typed(name, value))
    }
}

/// Whether lightningcss reads the value by the grammar of the property. It does not fail on others but keeps them.
fn is_typed(name: &str, value: &str) -> bool {
    let value = match value.rfind('!') {
        Some(at) if value[at + 1..].trim().eq_ignore_ascii_case("important") => &value[..at],
        _ => value,
    };
    if WIDE.iter().any(|wide| value.trim().eq_ignore_ascii_case(wide)) {
        return true;
    }
    let parsed = Property::parse_string(PropertyId::from(name), value, ParserOptions::default());
    matches!(parsed, Ok(property) if !matches!(property, Property::Unparsed(_) | Property::Custom(_)))
}

/// Numbers in its values are lengths.
fn takes_lengths(name: &str) -> bool {
    name != "font-weight" && !name.ends_with("color") && !name.ends_with("style")
}

/// A number other than 0, outside of functions. lightningcss reads one as pixels.
fn has_bare_number(text: &str, value: &[Tok]) -> bool {
    let mut depth = 0usize;
    value.iter().any(|tok| {
        if tok.kind.opens() {
            depth += 1;
        } else if tok.kind == Kind::CloseParen {
            depth = depth.saturating_sub(1);
        }
        let is_zero = |text: &str| text.parse::<f64>().is_ok_and(|number| number == 0.0);
        depth == 0 && tok.kind == Kind::Number && !is_zero(tok.text(text))
    })
}

/// Functions and names whose meaning is not known here: variables, prefixes, arithmetic that is newer than the parser.
fn is_open(lower: &str) -> bool {
    let newer = [
        "var(", "env(", "attr(", "if(", "-webkit-", "-moz-", "-ms-", "-o-", "anchor", "stretch", "url(", "\\",
    ];
    newer.iter().any(|part| lower.contains(part)) || lower.matches('(').count() > 3
}

fn is_prefixed(text: &str, toks: &[Tok]) -> bool {
    toks.windows(2).any(|pair| {
        pair[0].kind == Kind::Colon
            && matches!(pair[1].kind, Kind::Ident | Kind::Function)
            && pair[1].text(text).starts_with('-')
    })
}

/// At most 40 characters on one line.
fn shown(text: &str) -> String {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line,
    }
}

const WIDE: [&str; 5] = ["inherit", "initial", "unset", "revert", "revert-layer"];

/// At-rules with a block that some browser in use knows.
const AT_BLOCKS: [&str; 24] = [
    "media",
    "supports",
    "font-face",
    "keyframes",
    "-webkit-keyframes",
    "-moz-keyframes",
    "-o-keyframes",
    "-ms-keyframes",
    "page",
    "layer",
    "container",
    "property",
    "counter-style",
    "scope",
    "starting-style",
    "font-feature-values",
    "font-palette-values",
    "view-transition",
    "position-try",
    "function",
    "-moz-document",
    "document",
    "navigation",
    "color-profile",
];

const AT_STATEMENTS: [&str; 5] = ["import", "namespace", "layer", "charset", "custom-media"];

/// Properties of Internet Explorer without a prefix.
const OLD: [&str; 16] = [
    "behavior",
    "ime-mode",
    "layout-flow",
    "layout-grid",
    "scrollbar-3dlight-color",
    "scrollbar-arrow-color",
    "scrollbar-base-color",
    "scrollbar-darkshadow-color",
    "scrollbar-face-color",
    "scrollbar-highlight-color",
    "scrollbar-shadow-color",
    "scrollbar-track-color",
    "text-autospace",
    "text-kashida",
    "text-kashida-space",
    "text-underline-style",
];

/// Properties whose values are looked at: old, with a small grammar that lightningcss knows as a whole. Sorted.
const CHECKED: [&str; 41] = [
    "background-color",
    "border",
    "border-bottom",
    "border-bottom-color",
    "border-bottom-style",
    "border-bottom-width",
    "border-color",
    "border-left",
    "border-left-color",
    "border-left-style",
    "border-left-width",
    "border-right",
    "border-right-color",
    "border-right-style",
    "border-right-width",
    "border-style",
    "border-top",
    "border-top-color",
    "border-top-style",
    "border-top-width",
    "border-width",
    "bottom",
    "color",
    "font-size",
    "font-style",
    "font-weight",
    "left",
    "letter-spacing",
    "margin",
    "margin-bottom",
    "margin-left",
    "margin-right",
    "margin-top",
    "padding",
    "padding-bottom",
    "padding-left",
    "padding-right",
    "padding-top",
    "right",
    "top",
    "word-spacing",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(selector: &str) -> bool {
        !selector.contains("hovr") && !selector.contains("::-moz")
    }

    #[track_caller]
    fn check(text: &str, expected: &[(bool, &str)]) {
        let found = dropped(text, false, &accepts);
        let found: Vec<(bool, &str)> = found.iter().map(|d| (d.hack, d.message.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn tables_are_sorted() {
        assert!(CHECKED.is_sorted() && PROPERTIES.lines().is_sorted() && KNOWN.len() > 700);
        assert!(CHECKED.iter().all(|name| KNOWN.contains(name)));
        // Each of them is one that lightningcss types at all, or every value would be refused.
        for name in CHECKED {
            let value = match name {
                "font-style" => "italic",
                "font-weight" => "700",
                name if name.ends_with("color") => "red",
                name if name.ends_with("style") => "solid",
                _ => "1px",
            };
            assert!(is_typed(name, value), "{name}");
        }
    }

    #[test]
    fn properties() {
        check(
            "a{color:red;-webkit-transform:none;--x:y;filter:none;zoom:1}",
            &[],
        );
        check(
            "a{colr:red}",
            &[(
                false,
                "no browser knows the property `colr`, did you mean `color`?",
            )],
        );
        check(
            "a{zebra-mane:1}",
            &[(false, "no browser knows the property `zebra-mane`")],
        );
        check(
            "a{*zoom:1;_height:1px}b{*zoom:1}",
            &[
                (true, "only old browsers read `*zoom`"),
                (true, "only some browsers know the property `_height`"),
            ],
        );
        check(
            "a{-ms-filter:x;mso-x:y;behavior:url(x)}",
            &[
                (true, "only some browsers know the property `-ms-filter`"),
                (true, "only some browsers know the property `mso-x`"),
                (true, "only some browsers know the property `behavior`"),
            ],
        );
        check("@font-face{font-famly:x}@page{size:a4}", &[]);
    }

    #[test]
    fn values() {
        check(
            "a{color:#12345}",
            &[(false, "no browser takes this value of `color`: `#12345`")],
        );
        check(
            "a{margin-top:12}",
            &[(
                false,
                "`margin-top: 12` needs a unit, such as px: browsers drop it, except in quirks mode",
            )],
        );
        check(
            "a{margin:;top:0;left:auto!important;color:inherit;color:Canvas}",
            &[(false, "`margin` has no value")],
        );
        check(
            "a{margin:1px\\9;width:expression(1)}",
            &[
                (true, "only old browsers read this value of `margin`: `1px\\9`"),
                (
                    true,
                    "only old browsers read this value of `width`: `expression(1)`",
                ),
            ],
        );
        check(
            "a{margin:0 0.0 -0;border:0 none;font-weight:700;color:var(--x);margin:calc(1px + 2em);border:-moz-x}",
            &[],
        );
        check(
            "a{border:1 solid}",
            &[(
                false,
                "`border: 1 solid` needs a unit, such as px: browsers drop it, except in quirks mode",
            )],
        );
    }

    #[test]
    fn rules() {
        check(
            "a:hovr{colr:red}b{color:red}",
            &[(
                false,
                "no browser knows the selector `a:hovr`: they drop the rule",
            )],
        );
        check(
            "a::-moz-x{colr:red}",
            &[(true, "only some browsers know the selector `a::-moz-x`")],
        );
        check(
            "@medai x{a{b:c}}@apply x;@-ms-viewport{width:1px}",
            &[
                (false, "no browser knows `@medai`, did you mean `@media`?"),
                (false, "no browser knows `@apply`"),
                (true, "only some browsers know `@-ms-viewport`"),
            ],
        );
        check(
            "@keyframes x{from{colr:red}}",
            &[(
                false,
                "no browser knows the property `colr`, did you mean `color`?",
            )],
        );
    }
}
