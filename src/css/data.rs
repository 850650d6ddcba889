//! Writes `url(…)` and data: URLs in as few bytes as every place allows that a sheet can stand in: a file, a
//! `style` element and, after HTML escaping, an attribute.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// `url(…)` holding `url` with as few bytes as are safe in a stylesheet, in a `style` element and in an attribute.
pub fn url_token(url: &str) -> String {
    let bare = url.chars().filter(|&c| !plain_in_url(c)).count();
    let double = url.chars().filter(|&c| c == '"' || needs_escape(c)).count() + 2;
    let single = url.chars().filter(|&c| c == '\'' || needs_escape(c)).count() + 2;
    // On a tie quotes: less surprising than escapes.
    let quote = match double.min(single) {
        n if bare < n => None,
        n if n == double => Some('"'),
        _ => Some('\''),
    };
    let mut out = String::with_capacity(url.len() + 8);
    out.push_str("url(");
    out.extend(quote);
    for (at, c) in url.char_indices() {
        let escape = match quote {
            None => !plain_in_url(c),
            Some(quote) => c == quote || needs_escape(c),
        };
        match c {
            '\0' => out.push('\u{fffd}'),
            _ if c.is_ascii_control() => out.push_str(&format!("\\{:x} ", u32::from(c))),
            _ => {
                if escape || (c == '/' && ends_style(url, at)) {
                    out.push('\\');
                }
                out.push(c);
            }
        }
    }
    out.extend(quote);
    out.push(')');
    out
}

/// Is the `/` at `slash` the one of `</style`, which would end a style element?
fn ends_style(url: &str, slash: usize) -> bool {
    let bytes = url.as_bytes();
    slash > 0
        && bytes[slash - 1] == b'<'
        && bytes
            .get(slash + 1..slash + 6)
            .is_some_and(|name| name.eq_ignore_ascii_case(b"style"))
}

/// May stand in `url()` without quotes (CSS Syntax 3, section 4.3.6)?
pub(super) fn plain_in_url(c: char) -> bool {
    !matches!(c, '"' | '\'' | '(' | ')' | '\\' | ' ') && !c.is_ascii_control()
}

/// Must be escaped in a string whatever its quotes are?
fn needs_escape(c: char) -> bool {
    c == '\\' || c.is_ascii_control()
}

/// A data: URL for `bytes`. An SVG (`svg`) is text: it is percent-encoded where that is shorter than base64.
pub fn data_url(mime: &str, bytes: &[u8], svg: bool) -> String {
    let base64 = || format!("data:{mime};base64,{}", STANDARD.encode(bytes));
    if !svg {
        return base64();
    }
    let mut text = format!("data:{mime},");
    for (i, &b) in bytes.iter().enumerate() {
        let plain = match b {
            // Blanks at the end of a URL or of its path are stripped (URL standard, section 4.4).
            b' ' => bytes.get(i + 1).is_some_and(|&next| next != b'?'),
            // `\` would have to be doubled in a sheet, `&` depends on the escaping of an attribute, and `"` is left
            // to be the outer quote of sheets and attributes.
            b'%' | b'#' | b'"' | b'\\' | b'&' => false,
            _ => b.is_ascii_graphic(),
        };
        if plain {
            text.push(b as char);
        } else {
            text.push_str(&format!("%{b:02x}"));
        }
    }
    let coded = base64();
    if text.len() < coded.len() { text } else { coded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::css::token::{self, Kind};

    /// What a browser makes of `url(…)`.
    fn read(token: &str) -> String {
        let toks = token::list(token);
        let value = match toks[0].kind {
            Kind::Url => &toks[0],
            _ => {
                assert_eq!((toks.len(), toks[1].kind), (3, Kind::Str), "{token}");
                &toks[1]
            }
        };
        assert!(token.ends_with(')'), "{token}");
        value.value(token).into_owned()
    }

    #[test]
    fn the_shortest_quotes_are_taken() {
        let check = |url: &str, expected: &str| {
            assert_eq!(url_token(url), expected);
            assert_eq!(read(expected), url);
        };
        check("a.png", "url(a.png)");
        check("a b.png", "url(a\\ b.png)");
        check("a b c d.png", "url(\"a b c d.png\")");
        check("a(1).png", "url(\"a(1).png\")");
        check("it's (a) \"b\"", "url('it\\'s (a) \"b\"')");
        check("a\nb", "url(a\\a b)");
        check("x</style>", "url(x<\\/style>)");
        check("x</STYLE", "url(x<\\/STYLE)");
        check("x</g>", "url(x</g>)");
        check("a\\b", "url(a\\\\b)");
        check("", "url()");
        check("\u{e9}", "url(\u{e9})");
    }

    #[test]
    fn pictures_become_data_urls() {
        let check =
            |bytes: &[u8], svg: bool, expected: &str| assert_eq!(data_url("a/b", bytes, svg), expected);
        check(b"<svg>", false, "data:a/b;base64,PHN2Zz4=");
        check(
            b"<svg a='#1' b=\"50%\"/> ",
            true,
            "data:a/b,<svg a='%231' b=%2250%25%22/>%20",
        );
        check("\u{e9}\u{e9}\u{e9}".as_bytes(), true, "data:a/b;base64,w6nDqcOp");
        check(
            "<svg>abcdefghijklmno\u{e9}".as_bytes(),
            true,
            "data:a/b,<svg>abcdefghijklmno%c3%a9",
        );
    }

    /// The body of a data: URL as browsers get it: parsed as a URL, fragment cut off, percent-decoded.
    fn body(url: &str) -> Vec<u8> {
        let mut parsed = ::url::Url::parse(url).expect("a data: URL always parses");
        parsed.set_fragment(None);
        let (head, rest) = parsed.as_str().split_once(',').expect("a data: URL has a comma");
        if head.ends_with(";base64") {
            return STANDARD.decode(rest).expect("we wrote base64");
        }
        let rest = rest.as_bytes();
        let mut out = Vec::new();
        let mut i = 0;
        while i < rest.len() {
            let hex = rest
                .get(i + 1..i + 3)
                .and_then(|h| u8::from_str_radix(std::str::from_utf8(h).ok()?, 16).ok());
            match (rest[i], hex) {
                (b'%', Some(b)) => {
                    out.push(b);
                    i += 3;
                }
                (b, _) => {
                    out.push(b);
                    i += 1;
                }
            }
        }
        out
    }

    proptest::proptest! {
        #[test]
        fn any_url_survives(url in "[ -~\u{e9}\n\t</style'\"()\\\\]*") {
            assert_eq!(read(&url_token(&url)), url);
        }

        #[test]
        fn any_svg_survives(head in "[ -~\u{e9}\n\t\r#%?&'\" ]*", tail in proptest::collection::vec(0u8.., 0..9)) {
            let mut svg = head.repeat(4).into_bytes();
            svg.extend(&tail);
            let token = url_token(&data_url("image/svg+xml", &svg, true));
            assert_eq!(body(&read(&token)), svg);
            assert!(!token.to_ascii_lowercase().contains("</style"));
        }
    }
}
