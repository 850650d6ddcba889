//! What stands before a block or ends an at-statement: selectors, media queries, conditions.

use std::borrow::Cow;

use super::piece::{self, Gap, Piece};
use super::token::{Kind, Tok};
use super::value;

/// The members of a selector list, each printed; `None` if it cannot be a selector list in any browser or is none
/// that we understand.
pub(super) fn selectors(text: &str, toks: &[Tok]) -> Option<Vec<String>> {
    let pieces = piece::pieces(text, toks);
    let mut depth = 0usize;
    let mut from = 0;
    let mut out = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        match piece.kind {
            kind if kind.opens() => depth += 1,
            Kind::CloseParen | Kind::CloseSquare | Kind::CloseCurly => depth = depth.checked_sub(1)?,
            Kind::Comma if depth == 0 => {
                out.push(selector(&pieces[from..i])?);
                from = i + 1;
            }
            Kind::BadStr
            | Kind::BadUrl
            | Kind::Url
            | Kind::AtKeyword
            | Kind::Semicolon
            | Kind::Html
            | Kind::Delim('!' | '\\') => return None,
            _ => {}
        }
    }
    out.push(selector(&pieces[from..])?);
    Some(out)
}

fn selector(pieces: &[Piece]) -> Option<String> {
    if pieces.is_empty() {
        return None;
    }
    let mut pieces = pieces.to_vec();
    // Whether the token of this index is inside `[]`, inside `()`.
    let mut square = Vec::with_capacity(pieces.len());
    let mut round = Vec::with_capacity(pieces.len());
    let (mut in_square, mut in_round) = (0usize, 0usize);
    for i in 0..pieces.len() {
        match pieces[i].kind {
            Kind::CloseSquare => in_square = in_square.saturating_sub(1),
            Kind::CloseParen => in_round = in_round.saturating_sub(1),
            _ => {}
        }
        square.push(in_square > 0);
        round.push(in_round > 0);
        match pieces[i].kind {
            Kind::OpenSquare => in_square += 1,
            Kind::Function | Kind::OpenParen => in_round += 1,
            Kind::Str if in_square > 0 => {
                value::quotes(&mut pieces[i]);
                let bare = pieces[i].text[1..].trim_end_matches('"').to_owned();
                if pieces.get(i + 1).is_some_and(|p| p.kind == Kind::CloseSquare)
                    && is_name(&bare)
                    && pieces[i].text.len() == bare.len() + 2
                {
                    pieces[i].text = Cow::Owned(bare);
                    pieces[i].kind = Kind::Ident;
                }
            }
            _ => {}
        }
    }
    // `a:before` and `a::before` are one: the four old pseudo-elements (Selectors 4, section 3.6).
    for i in 1..pieces.len().saturating_sub(1) {
        if pieces[i - 1].kind == Kind::Colon
            && pieces[i].kind == Kind::Colon
            && pieces[i].gap == Gap::None
            && pieces[i + 1].gap == Gap::None
            && ["before", "after", "first-line", "first-letter"]
                .iter()
                .any(|w| pieces[i + 1].is_word(w))
        {
            pieces[i].text = Cow::Borrowed("");
        }
    }
    // `*.a` and `.a` serialise alike; after a combinator or at the start `*` may go, before one it may not.
    for i in (0..pieces.len().saturating_sub(1)).rev() {
        let begins = i == 0
            || pieces[i].gap == Gap::Space
            || matches!(pieces[i - 1].kind, Kind::Comma | Kind::Delim('>' | '+' | '~'));
        let goes_on = pieces[i + 1].gap == Gap::None
            && matches!(
                pieces[i + 1].kind,
                Kind::Delim('.') | Kind::Hash | Kind::OpenSquare
            );
        if pieces[i].is_delim('*') && !square[i] && !round[i] && begins && goes_on {
            pieces[i + 1].gap = pieces[i].gap;
            pieces.remove(i);
            square.remove(i);
            round.remove(i);
        }
    }
    Some(piece::join(&pieces, |i| {
        let (a, b) = (&pieces[i - 1], &pieces[i]);
        if square[i] && square[i - 1] {
            // Before the `i` of `[a=b i]` a blank may be all that separates.
            return b.kind != Kind::Ident || a.kind == Kind::Match || a.is_delim('=') || a.is_delim('|');
        }
        let edge = |p: &Piece| matches!(p.kind, Kind::Comma | Kind::Delim('>' | '+' | '~'));
        edge(a)
            || edge(b)
            || a.kind.opens()
            || matches!(b.kind, Kind::CloseParen | Kind::CloseSquare)
            || (round[i] && a.kind == Kind::Comma)
    }))
}

/// May this stand in an attribute selector without quotes? Escapes and non-ASCII letters keep theirs.
fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes
        .first()
        .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// The prelude of an at-rule.
pub(super) fn at_rule(name: &str, text: &str, toks: &[Tok]) -> String {
    let mut pieces = piece::pieces(text, toks);
    match name {
        "import" => import(&mut pieces),
        "media" | "supports" | "container" | "layer" | "keyframes" | "-webkit-keyframes"
        | "-moz-keyframes" | "page" => {}
        "scope" | "font-face" => {}
        // Not understood: white space may mean something.
        _ => return piece::join(&pieces, |_| false),
    }
    let mut depth = 0usize;
    let mut depths = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        if matches!(
            piece.kind,
            Kind::CloseParen | Kind::CloseSquare | Kind::CloseCurly
        ) {
            depth = depth.saturating_sub(1);
        }
        depths.push(depth);
        if piece.kind.opens() {
            depth += 1;
        }
    }
    piece::join(&pieces, |i| {
        let (a, b) = (&pieces[i - 1], &pieces[i]);
        let edge = |p: &Piece, depth: usize| {
            p.kind == Kind::Comma
                || depth > 0 && matches!(p.kind, Kind::Colon | Kind::Delim('>' | '<' | '=' | '/'))
        };
        edge(a, depths[i - 1]) && a.kind != Kind::Colon
            || a.kind == Kind::Colon && depths[i - 1] > 0 && b.kind != Kind::CloseParen
            || edge(b, depths[i])
            || a.kind.opens()
            || b.kind == Kind::CloseParen && a.kind != Kind::Colon
    })
}

/// `@import url(a)` to `@import "a"`.
fn import(pieces: &mut Vec<Piece>) {
    value::urls(pieces);
    let Some(first) = pieces.first_mut() else { return };
    if first.kind == Kind::Url
        && let Some(inner) = first.text.get(4..first.text.len() - 1)
        && inner.chars().all(super::data::plain_in_url)
        && first.text.ends_with(')')
    {
        first.text = Cow::Owned(format!("\"{inner}\""));
        first.kind = Kind::Str;
    } else if first.kind == Kind::Str {
        value::quotes(first);
    }
    first.gap = Gap::None;
}

/// The selector of a keyframe; `from` and `0%` serialise alike, as do `to` and `100%`.
pub(super) fn keyframe(text: &str, toks: &[Tok]) -> String {
    let mut pieces = piece::pieces(text, toks);
    for piece in &mut pieces {
        if piece.is_word("from") {
            piece.text = Cow::Borrowed("0%");
        } else if piece.text == "100%" {
            piece.text = Cow::Borrowed("to");
        }
    }
    piece::join(&pieces, |i| {
        pieces[i - 1].kind == Kind::Comma || pieces[i].kind == Kind::Comma
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::css::token;

    #[test]
    fn selectors_lose_what_means_nothing() {
        let check = |text: &str, expected: &str| {
            let toks = token::list(text);
            assert_eq!(
                selectors(text, &toks).map(|list| list.join(",")),
                Some(expected.to_owned())
            );
        };
        check("a  b", "a b");
        check("a > b + c ~ d", "a>b+c~d");
        check("a , b", "a,b");
        check("a/**/.b", "a.b");
        check("a .b", "a .b");
        check("a :hover", "a :hover");
        check(":is( a , b ) c", ":is(a,b) c");
        check("[ a = 'b' ]", "[a=b]");
        check("[a='b c']", "[a=\"b c\"]");
        check("[a='b' i]", "[a=\"b\" i]");
        check("[a=b i]", "[a=b i]");
        check("[a=''] [b='1'] [c=\"-d\"]", "[a=\"\"] [b=\"1\"] [c=\"-d\"]");
        check("[a*=' icon-']", "[a*=\" icon-\"]");
        check("[class ^= \"a\"]", "[class^=a]");
        check("a::before", "a:before");
        check("a::AFTER", "a:AFTER");
        check("a::placeholder", "a::placeholder");
        check(":nth-child( 2n + 1 )", ":nth-child(2n+ 1)");
        check(":nth-child(2n - 1)", ":nth-child(2n - 1)");
        check(".md\\:w-1\\/2", ".md\\:w-1\\/2");
        check(".\\31 0", ".\\31 0");
        check(".\\31  b", ".\\31  b");
        check("> a", ">a");
        check("*|*", "*|*");
        check("*.a > *#b *[c] * *", ".a>#b [c] * *");
        check("a *.b", "a .b");
        check("*|*.b", "*|*.b");
        check("*:hover", "*:hover");
        check(":not(*.a)", ":not(*.a)");
        check("& > a", "&>a");
        assert_eq!(selectors(";a", &token::list(";a")), None);
        assert_eq!(selectors("a,", &token::list("a,")), None);
        assert_eq!(selectors("}a", &token::list("}a")), None);
    }

    #[test]
    fn queries_lose_what_means_nothing() {
        let check = |name: &str, text: &str, expected: &str| {
            assert_eq!(at_rule(name, text, &token::list(text)), expected)
        };
        check(
            "media",
            "screen  and ( min-width : 1px )",
            "screen and (min-width:1px)",
        );
        check("media", "(a:b) , print", "(a:b),print");
        check(
            "media",
            "( width >= 1px ) and (1px<width)",
            "(width>=1px) and (1px<width)",
        );
        check("media", "(aspect-ratio: 16 / 9)", "(aspect-ratio:16/9)");
        check("media", "not all", "not all");
        check("media", "screen\\9", "screen\\9");
        check("supports", "not ( display : grid )", "not (display:grid)");
        check("supports", "(--a: )", "(--a: )");
        check("import", "url( \"a\" ) print", "\"a\" print");
        check("import", "url(a)", "\"a\"");
        check("import", "'a'", "\"a\"");
        check("page", ":first", ":first");
        check("namespace", "svg url(a)", "svg url(a)");
        check("apply", "a , b", "a , b");
    }

    #[test]
    fn keyframes_are_short() {
        let check = |text: &str, expected: &str| assert_eq!(keyframe(text, &token::list(text)), expected);
        check("from", "0%");
        check("100%", "to");
        check("from , 50% , to", "0%,50%,to");
    }
}
