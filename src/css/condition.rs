//! Media query lists and `supports()` conditions that can be written elsewhere: as the prelude of a rule.
//!
//! Only what is surely valid is accepted, by a small grammar over tokens (Media Queries 4, section 3; CSS
//! Conditional 3, section 6): no comments, no escapes, no nesting. Everything else is left where it stands.

use std::borrow::Cow;

use super::token::{self, Kind, Tok};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media<'a> {
    /// Always matches.
    All,
    /// The list without blanks at its ends.
    Some(&'a str),
    Unclear,
}

/// Reads a `media` attribute, or what follows the address of an `@import`.
pub(super) fn media(text: &str) -> Media<'_> {
    let text = text.trim_matches(BLANK);
    if text.is_empty() || text.eq_ignore_ascii_case("all") {
        return Media::All;
    }
    let toks = token::list(text);
    let plain = |t: &Tok| match t.kind {
        Kind::Ident | Kind::Dimension => {
            let word = t.text(text);
            !word.contains('\\') && !word.starts_with("--")
        }
        Kind::OpenParen
        | Kind::CloseParen
        | Kind::Colon
        | Kind::Comma
        | Kind::Number
        | Kind::Space
        | Kind::Delim('<' | '>' | '=' | '/') => true,
        _ => false,
    };
    let understood = toks.iter().all(plain)
        && toks
            .split(|t| t.kind == Kind::Comma)
            .all(|toks| query(text, toks).is_some());
    if understood {
        Media::Some(text)
    } else {
        Media::Unclear
    }
}

/// White space of CSS and of HTML.
const BLANK: [char; 5] = [' ', '\t', '\n', '\r', '\u{c}'];

/// A part of a condition at its top level.
enum Term {
    Word(String),
    /// A bracket or function with what is in it.
    Group,
}

/// `Some` if it is a query. A comma inside brackets has cut them, which makes it none.
fn query(text: &str, toks: &[Tok]) -> Option<()> {
    let mut terms = Vec::new();
    let mut rest = toks.iter();
    while let Some(tok) = rest.next() {
        match tok.kind {
            Kind::Space => {}
            Kind::Ident => terms.push(Term::Word(tok.text(text).to_ascii_lowercase())),
            Kind::OpenParen => {
                let from = rest.as_slice();
                let end = from.iter().position(|t| t.kind == Kind::CloseParen)?;
                feature(text, &from[..end])?;
                rest = from[end + 1..].iter();
                terms.push(Term::Group);
            }
            _ => return None,
        }
    }
    let mut terms = terms.as_slice();
    if let [Term::Word(first), after @ ..] = terms {
        let after = match (first.as_str(), after) {
            // `not (feature)`
            ("not", [Term::Group]) => return Some(()),
            ("not" | "only", [Term::Word(kind), after @ ..]) if is_type(kind) => after,
            (kind, after) if is_type(kind) => after,
            _ => return None,
        };
        return joined(after, &["and"]);
    }
    if let [Term::Group, after @ ..] = terms {
        terms = after;
        return joined(terms, &["and", "or"]);
    }
    None
}

/// Behind the first term: one of these words and a group, again and again, always the same word.
fn joined(mut terms: &[Term], words: &[&str]) -> Option<()> {
    let mut word: Option<&str> = None;
    while let [Term::Word(now), Term::Group, rest @ ..] = terms {
        if !words.contains(&now.as_str()) || word.is_some_and(|w| w != now) {
            return None;
        }
        word = Some(now);
        terms = rest;
    }
    terms.is_empty().then_some(())
}

fn is_type(word: &str) -> bool {
    !matches!(word, "and" | "or" | "not" | "only" | "layer")
}

/// `name`, `name: value` or a range, without the brackets.
fn feature(text: &str, toks: &[Tok]) -> Option<()> {
    // One letter a token; a comparison is `<`, a ratio or any other value `v`, a name (or a word as value) `n`.
    let mut shape = String::new();
    let mut gap = true;
    for tok in toks {
        match tok.kind {
            Kind::Space => {
                gap = true;
                continue;
            }
            Kind::Ident => shape.push('n'),
            Kind::Number | Kind::Dimension => shape.push('v'),
            Kind::Colon => shape.push(':'),
            Kind::Delim('/') => shape.push('/'),
            Kind::Delim('=') if !gap && shape.ends_with('<') && tok.start > 0 => {
                let before = text.as_bytes()[tok.start as usize - 1];
                if !matches!(before, b'<' | b'>') {
                    return None;
                }
            }
            Kind::Delim('<' | '>' | '=') => shape.push('<'),
            _ => return None,
        }
        gap = false;
    }
    let shape = shape.replace("v/v", "v");
    matches!(
        shape.as_str(),
        "n" | "n:v" | "n:n" | "n<v" | "v<n" | "v<n<v" | "n<n"
    )
    .then_some(())
}

/// The prelude of the `@supports` that means what `supports(TEXT)` means in an `@import`.
pub(super) fn supports(text: &str) -> Option<Cow<'_, str>> {
    let text = text.trim_matches(BLANK);
    let toks = token::list(text);
    let solid: Vec<&Tok> = toks.iter().filter(|t| t.kind != Kind::Space).collect();
    let mut open: Vec<Kind> = Vec::new();
    let mut terms = Vec::new();
    for tok in &solid {
        if open.last() == Some(&tok.kind) {
            open.pop();
            continue;
        }
        let word = tok.text(text);
        match tok.kind {
            Kind::Comment
            | Kind::BadStr
            | Kind::BadUrl
            | Kind::Html
            | Kind::OpenCurly
            | Kind::CloseCurly
            | Kind::CloseParen
            | Kind::CloseSquare
            | Kind::Semicolon => return None,
            _ if word.contains('\\') || token::unfinished(**tok, text) => return None,
            Kind::OpenParen if open.is_empty() => terms.push(Term::Group),
            Kind::Function
                if open.is_empty()
                    && ["selector(", "font-format(", "font-tech("]
                        .iter()
                        .any(|f| word.eq_ignore_ascii_case(f)) =>
            {
                terms.push(Term::Group);
            }
            _ if open.is_empty() => terms.push(Term::Word(word.to_ascii_lowercase())),
            _ => {}
        }
        open.extend(tok.kind.closer());
    }
    if !open.is_empty() {
        return None;
    }
    if let [name, colon, _, ..] = solid.as_slice()
        && (name.kind, colon.kind) == (Kind::Ident, Kind::Colon)
    {
        return Some(Cow::Owned(format!("({text})")));
    }
    match terms.as_slice() {
        [Term::Word(not), Term::Group] if not == "not" => {}
        [Term::Group, rest @ ..] => joined(rest, &["and", "or"])?,
        _ => return None,
    }
    Some(Cow::Borrowed(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_lists_are_understood_or_not() {
        let yes = |text: &str| assert_eq!(media(text), Media::Some(text), "{text}");
        let no = |text: &str| assert_eq!(media(text), Media::Unclear, "{text}");
        for text in ["", " \n", "all", " ALL "] {
            assert_eq!(media(text), Media::All, "{text}");
        }
        assert_eq!(media(" print\t"), Media::Some("print"));
        yes("print");
        yes("screen, print");
        yes("not screen");
        yes("only screen and (min-width: 40em)");
        yes("(min-width:1px) and (max-width:2px)");
        yes("(min-width:1px) or (hover)");
        yes("not (hover)");
        yes("(min-aspect-ratio: 16/9)");
        yes("(width >= 600px)");
        yes("(1px < width <= 9px)");
        yes("all and (orientation:portrait),print");
        yes("(prefers-color-scheme: dark)");
        yes("screen and (-webkit-min-device-pixel-ratio:1.5)");
        no("screen and");
        no("and");
        no("layer");
        no("screen,");
        no(",");
        no("screen{}");
        no("screen;print");
        no("print/**/");
        no("/*");
        no("(min-width:1px");
        no("(min-width:1px))");
        no("screen and(color)");
        no("screen or (color)");
        no("(a) and (b) or (c)");
        no("((a) and (b))");
        no("screen and (min-width:0\\0)");
        no("\\61ll");
        no("\"print\"");
        no("(min-width:calc(1px + 2px))");
        no("(--narrow)");
        no("(width > = 1px)");
        no("(a,b)");
        no("(a:b,c)");
        no("not screen print");
        no("$media");
        no("}");
    }

    #[test]
    fn supports_conditions_become_preludes() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(supports(text).as_deref(), expected);
        check("display: grid", Some("(display: grid)"));
        check(" display:grid ", Some("(display:grid)"));
        check("width: max(1px, 2px)", Some("(width: max(1px, 2px))"));
        check("(display: grid)", Some("(display: grid)"));
        check("not (display: grid)", Some("not (display: grid)"));
        check(
            "(a: b) and (c: d) and (e: f)",
            Some("(a: b) and (c: d) and (e: f)"),
        );
        check("selector(:has(a))", Some("selector(:has(a))"));
        check("((a: b) or (c: d))", Some("((a: b) or (c: d))"));
        check("(a: b) and (c: d) or (e: f)", None);
        check("", None);
        check("display", None);
        check("display:", None);
        check("foo(bar)", None);
        check("(a: b", None);
        check("(a: b))", None);
        check("a: b; c", None);
        check("--a: {}", None);
        check("a: /**/b", None);
        check("\\61: b", None);
    }
}
