//! Selectors that every browser in use knows: CSS 3 and older, without vendor prefixes.
//!
//! One member that a browser does not know makes it drop the whole rule, so only these may come together in a list
//! that the author did not write.

use super::token::{self, Kind};

/// Lower case; those with `(` take an argument.
const PSEUDO: [&str; 27] = [
    "active",
    "after",
    "before",
    "checked",
    "disabled",
    "empty",
    "enabled",
    "first-child",
    "first-letter",
    "first-line",
    "first-of-type",
    "focus",
    "hover",
    "lang(",
    "last-child",
    "last-of-type",
    "link",
    "not(",
    "nth-child(",
    "nth-last-child(",
    "nth-last-of-type(",
    "nth-of-type(",
    "only-child",
    "only-of-type",
    "root",
    "target",
    "visited",
];

const ELEMENTS: [&str; 4] = ["after", "before", "first-letter", "first-line"];

/// Is this the name of a pseudo-element that may be written with one colon?
pub(super) fn is_element(name: &str) -> bool {
    ELEMENTS.iter().any(|e| name.eq_ignore_ascii_case(e))
}

pub(super) fn is_known(selector: &str) -> bool {
    let toks = token::list(selector);
    let kind = |i: usize| toks.get(i).map(|t| t.kind);
    let mut i = 0;
    // A compound selector must follow: at the start and after a combinator.
    let mut wanted = true;
    while let Some(tok) = toks.get(i) {
        match tok.kind {
            Kind::Ident if wanted => wanted = false,
            Kind::Delim('*') if wanted => wanted = false,
            Kind::Hash
                if !tok
                    .text(selector)
                    .as_bytes()
                    .get(1)
                    .is_some_and(u8::is_ascii_digit) =>
            {
                wanted = false
            }
            Kind::Delim('.') if kind(i + 1) == Some(Kind::Ident) => {
                wanted = false;
                i += 1;
            }
            Kind::OpenSquare if kind(i + 1) == Some(Kind::Ident) => {
                wanted = false;
                let test = |k: usize| {
                    matches!(kind(k), Some(Kind::Match | Kind::Delim('=')))
                        && matches!(kind(k + 1), Some(Kind::Ident | Kind::Str))
                };
                i += if test(i + 2) { 4 } else { 2 };
                if kind(i) != Some(Kind::CloseSquare) {
                    return false;
                }
            }
            Kind::Colon => {
                wanted = false;
                if kind(i + 1) == Some(Kind::Colon) {
                    return false;
                }
                i += 1;
                let Some(name) = toks.get(i) else { return false };
                if !PSEUDO.iter().any(|p| name.text(selector).eq_ignore_ascii_case(p)) {
                    return false;
                }
                // Nothing may follow a pseudo-element.
                if is_element(name.text(selector)) {
                    return i + 1 == toks.len();
                }
                if name.kind == Kind::Function {
                    let from = i + 1;
                    while !matches!(kind(i), Some(Kind::CloseParen) | None) {
                        i += 1;
                        // Lists and nested functions are newer.
                        if matches!(kind(i), Some(Kind::Comma | Kind::Function | Kind::OpenParen)) {
                            return false;
                        }
                    }
                    if i >= toks.len() {
                        return false;
                    }
                    let inner = &selector[toks[from].start as usize..toks[i].start as usize];
                    let simple = !inner.is_empty()
                        && inner
                            .bytes()
                            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'_'));
                    let negated = name.text(selector).eq_ignore_ascii_case("not(");
                    if negated
                        && (inner.contains([' ', '>', '+', '~'])
                            || ELEMENTS.iter().any(|e| inner.to_ascii_lowercase().contains(e))
                            || !is_known(inner))
                        || !negated && !simple
                    {
                        return false;
                    }
                    // `2n+1` and the like: what else an argument may be is not looked into.
                    if name.text(selector).to_ascii_lowercase().starts_with("nth") && !is_nth(inner) {
                        return false;
                    }
                }
            }
            Kind::Space | Kind::Delim('>' | '+' | '~') if !wanted => wanted = true,
            _ => return false,
        }
        i += 1;
    }
    !wanted
}

/// `odd`, `even`, `3`, `2n`, `-n+3`: CSS Syntax 3, section 6, without white space.
fn is_nth(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    if matches!(lower.as_str(), "odd" | "even") {
        return true;
    }
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    match lower.split_once('n') {
        None => digits(&lower),
        Some((a, b)) => {
            let a = a.trim_start_matches(['-', '+']);
            (a.is_empty() || digits(a)) && (b.is_empty() || (b.starts_with(['+', '-']) && digits(&b[1..])))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_every_browser_knows() {
        let check = |selector: &str, expected: bool| assert_eq!(is_known(selector), expected, "{selector}");
        check("a", true);
        check(".a.b #c>d+e~f *", true);
        check("a:hover", true);
        check("a:before", true);
        check("a:before", true);
        check("a:before.b", false);
        check("a:before b", false);
        check("a:before:hover", false);
        check("a:not(:hover)", true);
        check("a:not(b:before)", false);
        check("a::before", false);
        check("a::-moz-x", false);
        check("a:-ms-x", false);
        check("a:is(b)", false);
        check("a:not(.b)", true);
        check("a:not(.b,.c)", false);
        check("a:not(:not(b))", false);
        check("a:not(b c)", false);
        check("a:nth-child(2n+1)", true);
        check("a:nth-child(x)", false);
        check("a:nth-child(2 of b)", false);
        check("[a]", true);
        check("[a=b]", true);
        check("[a^=\"b c\"]", true);
        check("[a=b i]", false);
        check("#1a", false);
        check(">a", false);
        check("a>", false);
        check("a>>b", false);
        check("ab|c", false);
        check("&", false);
        check("50%", false);
        check(".a\\:b", true);
        check("", false);
        check(".a.b*", false);
        check(".ab c", true);
        check(".1", false);
        check("a:lang(en)", true);
        check("a:hover(b)", false);
        check("a:not(", false);
    }
}
