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
    // Of each open `(`: whether selectors are in it. What else it may be, `2n + 1`, has its own rules for blanks.
    let mut listed: Vec<bool> = Vec::new();
    let mut in_square = 0usize;
    for i in 0..pieces.len() {
        match pieces[i].kind {
            Kind::CloseSquare => in_square = in_square.saturating_sub(1),
            Kind::CloseParen => {
                listed.pop();
            }
            _ => {}
        }
        square.push(in_square > 0);
        round.push(listed.last().copied());
        match pieces[i].kind {
            Kind::OpenSquare => in_square += 1,
            Kind::Function | Kind::OpenParen => listed.push(takes_selectors(&pieces[i])),
            Kind::Str if in_square > 0 => {
                value::quotes(&mut pieces[i]);
                let bare = pieces[i].text[1..].trim_end_matches('"').to_owned();
                if (pieces[i - 1].kind == Kind::Match || pieces[i - 1].is_delim('='))
                    && pieces.get(i + 1).is_some_and(|p| p.kind == Kind::CloseSquare)
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
        if pieces[i].is_delim('*') && !square[i] && round[i].is_none() && begins && goes_on {
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
            // A namespace's bar takes none at all: with blanks the selector is none (Selectors 4, section 5.1).
            return !(a.is_delim('|') || b.is_delim('|'))
                && (b.kind != Kind::Ident || a.kind == Kind::Match || a.is_delim('='));
        }
        let edge = |p: &Piece| matches!(p.kind, Kind::Comma | Kind::Delim('>' | '+' | '~'));
        if round[i] == Some(false) && (a.is_delim('+') || b.is_delim('+')) {
            // `2n + 1` is `2n+ 1`, but `+ n` is not `+n` (CSS Syntax 3, section 6.2).
            return a.kind.opens() || matches!(a.kind, Kind::Ident | Kind::Dimension);
        }
        edge(a) || edge(b) || a.kind.opens() || matches!(b.kind, Kind::CloseParen | Kind::CloseSquare)
    }))
}

/// Is this the beginning of a function whose argument is selectors?
fn takes_selectors(piece: &Piece) -> bool {
    const NAMES: [&str; 13] = [
        "is",
        "where",
        "not",
        "has",
        "matches",
        "-webkit-any",
        "-moz-any",
        "host",
        "host-context",
        "slotted",
        "cue",
        "cue-region",
        "current",
    ];
    NAMES.iter().any(|name| piece.is_function(name))
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
    // The depth and the colon of the value of a custom property: its blanks belong to it.
    let mut custom = None;
    let mut verbatim = Vec::with_capacity(pieces.len());
    for (i, piece) in pieces.iter().enumerate() {
        if matches!(
            piece.kind,
            Kind::CloseParen | Kind::CloseSquare | Kind::CloseCurly
        ) {
            depth = depth.saturating_sub(1);
            if custom.is_some_and(|(at, _)| depth < at) {
                custom = None;
            }
        }
        depths.push(depth);
        verbatim.push(custom.is_some_and(|(_, colon)| i > colon + 1));
        if piece.kind.opens() {
            depth += 1;
        }
        if custom.is_none() && is_name_of_value(&pieces, i) && pieces[i - 1].text.starts_with("--") {
            custom = Some((depth, i));
        }
    }
    piece::join(&pieces, |i| {
        let (a, b) = (&pieces[i - 1], &pieces[i]);
        if verbatim[i] {
            return false;
        }
        // Any other colon may be a pseudo-class.
        let colon = |i: usize| name != "scope" && is_name_of_value(&pieces, i);
        let edge = |p: &Piece, depth: usize| {
            p.kind == Kind::Comma || depth > 0 && matches!(p.kind, Kind::Delim('>' | '<' | '=' | '/'))
        };
        edge(a, depths[i - 1])
            || edge(b, depths[i])
            || colon(i - 1) && b.kind != Kind::CloseParen
            || colon(i)
            || a.kind.opens()
            || b.kind == Kind::CloseParen && a.kind != Kind::Colon
    })
}

/// Is the piece at `i` the colon of `(name: value)`?
fn is_name_of_value(pieces: &[Piece], i: usize) -> bool {
    pieces[i].kind == Kind::Colon
        && i >= 2
        && pieces[i - 1].kind == Kind::Ident
        && (pieces[i - 2].kind == Kind::OpenParen
            || ["supports", "style", "scroll-state"]
                .iter()
                .any(|f| pieces[i - 2].is_function(f)))
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
    for i in 0..pieces.len() {
        // Not in `exit 100%`, a place in a named range.
        let ends = |k: Option<&Piece>| k.is_none_or(|p| p.kind == Kind::Comma);
        if !ends(pieces.get(i + 1)) || !ends(i.checked_sub(1).and_then(|k| pieces.get(k))) {
            continue;
        }
        if pieces[i].is_word("from") {
            pieces[i].text = Cow::Borrowed("0%");
        } else if pieces[i].text == "100%" {
            pieces[i].text = Cow::Borrowed("to");
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
        check(":nth-child(+ n)", ":nth-child(+ n)");
        check(":nth-child( +n )", ":nth-child(+n)");
        check(":nth-child(2n + + 1)", ":nth-child(2n+ + 1)");
        check(":nth-child(-n + 3 of a > b)", ":nth-child(-n+ 3 of a>b)");
        check(":x(+ n) + b", ":x(+ n)+b");
        check(":not( a + b ):has( + c )", ":not(a+b):has(+c)");
        check("[a | b]", "[a | b]");
        check("['b'] [a 'b']", "[\"b\"] [a\"b\"]");
        check("a > > b", "a> >b");
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
        check("supports", "( --a : b , c ) or (d : e)", "(--a:b , c) or (d:e)");
        check(
            "supports",
            "(--a : (b : c) / d) or (e : f)",
            "(--a:(b : c) / d) or (e:f)",
        );
        check("supports", "selector( a :hover )", "selector(a :hover)");
        check("supports", "selector(a > b)", "selector(a>b)");
        check("supports", "(a: b :c)", "(a:b :c)");
        check(
            "scope",
            "(div :first-child) to (.x :hover)",
            "(div :first-child) to (.x :hover)",
        );
        check("import", "'x' supports( a : b ) ", "\"x\" supports(a:b)");
        check(
            "import",
            "'x' supports(selector(a :hover)) (b : c)",
            "\"x\" supports(selector(a :hover)) (b:c)",
        );
        check(
            "container",
            "x ( width > 1px ) and style( --a : b )",
            "x (width>1px) and style(--a:b)",
        );
        check("media", "(width > = 1px)", "(width> =1px)");
        check("media", "(1px < = width)", "(1px< =width)");
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
        check("from,100%", "0%,to");
        check("exit  100%", "exit 100%");
        check("entry from , 100%", "entry from,to");
        check("100% from", "100% from");
    }
}
