//! Where the URLs of a stylesheet stand: the same tokens in the same order as `css::scan` lists them.

use cssparser::{ParseError, Parser, Token};

/// Byte offsets of `url()`, `src()`, strings right inside `image-set()`, and strings of `@import`, in source order,
/// whatever they mean there.
pub(super) fn locate(css: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // Most sheets without any of these hold no backslash either, which could spell them differently.
    let bytes = css.as_bytes();
    let hit = |needle: &[u8]| {
        bytes
            .windows(needle.len())
            .any(|w| w.eq_ignore_ascii_case(needle))
    };
    if !bytes.contains(&b'\\') && !hit(b"url(") && !hit(b"src(") && !hit(b"image-set(") && !hit(b"@import") {
        return found;
    }
    walk(&mut Parser::new(css), false, &mut found);
    found
}

/// Blocks nested deeper than the parser's limit (75) are passed over.
fn walk(input: &mut Parser<'_>, set: bool, found: &mut Vec<usize>) {
    let mut import = false;
    loop {
        input.skip_whitespace();
        let at = input.position().byte_index();
        let Ok(token) = input.next() else { return };
        let after_import = std::mem::take(&mut import);
        let mut inner_set = false;
        match token {
            Token::UnquotedUrl(_) => {
                found.push(at);
                continue;
            }
            Token::QuotedString(_) => {
                if set || after_import {
                    found.push(at);
                }
                continue;
            }
            Token::AtKeyword(name) => {
                import = name.eq_ignore_ascii_case("import");
                continue;
            }
            Token::Function(name) => {
                let url = name.eq_ignore_ascii_case("url");
                inner_set =
                    name.eq_ignore_ascii_case("image-set") || name.eq_ignore_ascii_case("-webkit-image-set");
                if url || name.eq_ignore_ascii_case("src") {
                    let _ = input.parse_nested_block(|i| {
                        i.expect_string()?;
                        found.push(at);
                        walk(i, false, found);
                        Ok::<_, ParseError<()>>(())
                    });
                    continue;
                }
            }
            Token::ParenthesisBlock | Token::SquareBracketBlock | Token::CurlyBracketBlock => {}
            _ => continue,
        }
        let _ = input.parse_nested_block(|i| {
            walk(i, inner_set, found);
            Ok::<_, ParseError<()>>(())
        });
    }
}
