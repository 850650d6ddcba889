//! The specificity of selectors: rules of different specificity never compete by their order.
//!
//! Only selectors that every browser knows (`known`) have one here; all their parts count as in Selectors 4,
//! section 17: ids, then classes, attributes and pseudo-classes, then elements and pseudo-elements. Among author
//! declarations of one importance and one layer the order of appearance decides only between equals (CSS Cascade 5,
//! section 6.1), and no rule moves in or out of a layer or a scope.

use super::known;
use super::token::{self, Kind};

/// What a selector weighs, packed so that it compares as one number; `None` where that is not certain.
pub(super) fn weight(selector: &str) -> Option<u32> {
    if !known::is_known(selector) {
        return None;
    }
    let (mut ids, mut classes, mut elements) = (0u32, 0u32, 0u32);
    let toks = token::list(selector);
    let mut i = 0;
    while let Some(tok) = toks.get(i) {
        match tok.kind {
            Kind::Hash => ids += 1,
            Kind::Delim('.') => {
                classes += 1;
                i += 1;
            }
            Kind::OpenSquare => {
                classes += 1;
                while toks.get(i).is_some_and(|t| t.kind != Kind::CloseSquare) {
                    i += 1;
                }
            }
            Kind::Colon => {
                i += 1;
                let name = toks.get(i)?.text(selector);
                if known::is_element(name) {
                    elements += 1;
                } else if name.eq_ignore_ascii_case("not(") {
                    // The argument counts and nothing else: its tokens come next.
                } else {
                    classes += 1;
                    if toks[i].kind == Kind::Function {
                        while toks.get(i).is_some_and(|t| t.kind != Kind::CloseParen) {
                            i += 1;
                        }
                    }
                }
            }
            Kind::Ident => elements += 1,
            _ => {}
        }
        i += 1;
    }
    (ids < 256 && classes < 256 && elements < 256).then_some(ids << 16 | classes << 8 | elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_the_standard() {
        let check = |selector: &str, expected: Option<(u32, u32, u32)>| {
            let expected = expected.map(|(a, b, c)| a << 16 | b << 8 | c);
            assert_eq!(weight(selector), expected, "{selector}");
        };
        check("*", Some((0, 0, 0)));
        check("a", Some((0, 0, 1)));
        check("a b>c+d~e", Some((0, 0, 5)));
        check(".a", Some((0, 1, 0)));
        check("a.b.c#d", Some((1, 2, 1)));
        check("[a][b=c] [d=\"e f\"]", Some((0, 3, 0)));
        check("a:hover", Some((0, 1, 1)));
        check("a:before", Some((0, 0, 2)));
        check("a:AFTER", Some((0, 0, 2)));
        check("a:first-line", Some((0, 0, 2)));
        check("a:not(.b)", Some((0, 1, 1)));
        check("a:not(b)", Some((0, 0, 2)));
        check("a:not(#b):hover", Some((1, 1, 1)));
        check("a:not(:hover)", Some((0, 1, 1)));
        check("a:not([b])", Some((0, 1, 1)));
        check("*:not(*)", Some((0, 0, 0)));
        check("a:nth-child(2n+1) b", Some((0, 1, 2)));
        check("a:nth-child(odd)", Some((0, 1, 1)));
        check("a:lang(en).b", Some((0, 2, 1)));
        // Not certain: newer, prefixed or nested.
        check(":is(a,.b)", None);
        check(":where(a)", None);
        check("a::-moz-x", None);
        check("&", None);
        check("a:not(.b,.c)", None);
    }
}
