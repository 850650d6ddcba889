//! The value of a declaration in fewer bytes.
//!
//! Every rewrite here is one that Chromium's object model cannot see, because both spellings serialise alike: `0.50`
//! and `.5`, `#AABBCC` and `#abc`, `rgb(1,2,3)` and `#010203`, `url("a")` and `url(a)`. Those it can see are not
//! done, though they would be shorter: `bold` and `700`, `red` and `#f00`, `none` and `0 0`, `0em` and `0`.

use std::borrow::Cow;

use super::piece::{self, Gap, Piece};
use super::token::{Kind, Tok};

/// `toks`: the value without blanks at its ends and without `!important`. `name`: the property, lower case, without
/// a hack's prefix.
pub(super) fn print(name: &str, text: &str, toks: &[Tok]) -> String {
    let mut pieces = piece::pieces(text, toks);
    if can_rewrite(name, &pieces) {
        rewrite(name, &mut pieces);
    }
    let tight = |i: usize| tight(&pieces[i - 1], &pieces[i]);
    piece::join(&pieces, tight)
}

/// Texts that browsers keep as written (`var()` and its kin) or that are read by other rules than CSS tokens.
fn can_rewrite(name: &str, pieces: &[Piece]) -> bool {
    !name.starts_with("--")
        && name != "unicode-range"
        && !pieces.iter().any(|p| match p.kind {
            // A colon, an equals sign: a filter of Internet Explorer.
            Kind::Colon | Kind::Delim('=' | '\\') | Kind::OpenCurly => true,
            Kind::Function => {
                [
                    "var",
                    "env",
                    "attr",
                    "expression",
                    "if",
                    "inherit",
                    "random",
                    "random-item",
                ]
                .iter()
                .any(|f| p.is_function(f))
                    || p.text.starts_with("--")
            }
            _ => false,
        })
}

fn tight(a: &Piece, b: &Piece) -> bool {
    matches!(
        a.kind,
        Kind::Comma | Kind::Function | Kind::OpenParen | Kind::OpenSquare | Kind::Delim('/' | '!')
    ) || matches!(
        b.kind,
        Kind::Comma | Kind::CloseParen | Kind::CloseSquare | Kind::Delim('/' | '!')
    )
}

fn rewrite(name: &str, pieces: &mut Vec<Piece>) {
    urls(pieces);
    colors(pieces);
    let mut functions: Vec<bool> = Vec::new();
    for i in 0..pieces.len() {
        let piece = &mut pieces[i];
        match piece.kind {
            // Whether lengths may lose their unit inside it.
            Kind::Function => functions.push(false),
            Kind::OpenParen | Kind::OpenSquare | Kind::OpenCurly => functions.push(false),
            Kind::CloseParen | Kind::CloseSquare | Kind::CloseCurly => {
                functions.pop();
            }
            Kind::Number | Kind::Percentage | Kind::Dimension => {
                let zero = functions.is_empty() && takes_zero(name);
                let short = number(
                    &piece.text,
                    piece.kind,
                    zero,
                    !functions.is_empty() || takes_fraction(name),
                );
                if let Some(short) = short {
                    piece.text = Cow::Owned(short);
                }
            }
            Kind::Hash => {
                if let Some(short) = hex(&piece.text) {
                    piece.text = Cow::Owned(short);
                }
            }
            Kind::Str => quotes(piece),
            _ => {}
        }
    }
    if is_box(name) {
        fold_box(pieces);
    }
}

/// `url("a")` to `url(a)`, `url( a )` to `url(a)`.
pub(super) fn urls(pieces: &mut Vec<Piece>) {
    let mut i = 0;
    while i < pieces.len() {
        if pieces[i].kind == Kind::Url {
            let inner = &pieces[i].text[4..];
            if let Some(inner) = inner.strip_suffix(')')
                && !inner.ends_with('\\')
                && (inner.starts_with([' ', '\t', '\n', '\r', '\x0c'])
                    || inner.ends_with([' ', '\t', '\n', '\r', '\x0c']))
            {
                let inner = inner.trim_matches([' ', '\t', '\n', '\r', '\x0c']);
                // A blank may belong to an escape before it.
                if !inner.contains('\\') {
                    pieces[i].text = Cow::Owned(format!("url({inner})"));
                }
            }
        } else if pieces[i].is_function("url")
            && i + 2 < pieces.len()
            && pieces[i + 1].kind == Kind::Str
            && pieces[i + 2].kind == Kind::CloseParen
        {
            let string = &pieces[i + 1].text;
            let inner = &string[1..string.len() - 1];
            if !inner.is_empty() && inner.chars().all(super::data::plain_in_url) {
                pieces[i].text = Cow::Owned(format!("url({inner})"));
                pieces[i].kind = Kind::Url;
                pieces.drain(i + 1..i + 3);
            }
        }
        i += 1;
    }
}

/// One kind of quotes compresses better than two; the value stays.
pub(super) fn quotes(piece: &mut Piece) {
    let raw = &piece.text;
    if raw.starts_with('\'') && raw.len() >= 2 {
        let inner = &raw[1..raw.len() - 1];
        if !inner.contains(['"', '\\', '\'']) {
            piece.text = Cow::Owned(format!("\"{inner}\""));
        }
    }
}

/// `rgb(1, 2, 3)` to hex digits: only integers in range and commas, so that nothing is rounded or clamped.
fn colors(pieces: &mut Vec<Piece>) {
    let mut i = 0;
    while i + 6 < pieces.len() {
        if pieces[i].is_function("rgb")
            && pieces[i + 2].kind == Kind::Comma
            && pieces[i + 4].kind == Kind::Comma
            && pieces[i + 6].kind == Kind::CloseParen
        {
            let parts: Vec<u8> = [1, 3, 5]
                .iter()
                .filter_map(|&k| {
                    let part = &pieces[i + k];
                    (part.kind == Kind::Number)
                        .then(|| part.text.parse().ok())
                        .flatten()
                })
                .collect();
            if let [r, g, b] = parts[..] {
                pieces[i].text = Cow::Owned(format!("#{r:02x}{g:02x}{b:02x}"));
                pieces[i].kind = Kind::Hash;
                pieces.drain(i + 1..i + 7);
                // What follows was kept apart by the bracket.
                if let Some(next) = pieces.get_mut(i + 1)
                    && next.gap != Gap::Space
                {
                    next.gap = Gap::Space;
                }
            }
        }
        i += 1;
    }
}

fn hex(raw: &str) -> Option<String> {
    let digits = raw.get(1..)?;
    if !matches!(digits.len(), 3 | 4 | 6 | 8) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let lower = digits.to_ascii_lowercase();
    let bytes = lower.as_bytes();
    if bytes.len() > 4 && bytes.chunks(2).all(|pair| pair[0] == pair[1]) {
        return Some(format!(
            "#{}",
            bytes.iter().step_by(2).map(|&b| b as char).collect::<String>()
        ));
    }
    Some(format!("#{lower}"))
}

/// A number without useless digits, if that is shorter. No exponent is touched, no digit that counts is lost.
fn number(raw: &str, kind: Kind, zero: bool, fraction: bool) -> Option<String> {
    let end = raw
        .find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-'))
        .unwrap_or(raw.len());
    let (digits, unit) = raw.split_at(end);
    // `1e3` and `1e-3` are numbers whose digits do not end there; `1em` is not.
    let rest = unit.as_bytes();
    let exponent = rest.len() > 1
        && rest[0].eq_ignore_ascii_case(&b'e')
        && (rest[1].is_ascii_digit()
            || (rest.len() > 2 && matches!(rest[1], b'+' | b'-') && rest[2].is_ascii_digit()));
    if exponent || digits[1..].contains(['+', '-']) {
        return None;
    }
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None if digits.starts_with('+') => return None,
        None => ("", digits),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let short_part = part.trim_end_matches('0');
    let mut short_whole = whole.trim_start_matches('0');
    let had_point = digits.contains('.');
    // An integer and `1.0` are different things where only integers are taken.
    if had_point && short_part.is_empty() && kind == Kind::Number && !fraction {
        return None;
    }
    if short_whole.is_empty() && short_part.is_empty() {
        short_whole = "0";
        if zero && unit.eq_ignore_ascii_case("px") && sign.is_empty() {
            return Some("0".to_owned());
        }
    }
    let mut out = format!("{sign}{short_whole}");
    if !short_part.is_empty() {
        out.push('.');
        out.push_str(short_part);
    }
    out.push_str(unit);
    (out.len() < raw.len()).then_some(out)
}

/// Properties in which every `0px` outside functions may be `0`: a length is taken there and a bare number is not.
fn takes_zero(name: &str) -> bool {
    const NAMES: [&str; 36] = [
        "top",
        "right",
        "bottom",
        "left",
        "width",
        "height",
        "min-width",
        "min-height",
        "max-width",
        "max-height",
        "background",
        "background-position",
        "background-size",
        "border",
        "border-top",
        "border-right",
        "border-bottom",
        "border-left",
        "border-width",
        "border-top-width",
        "border-right-width",
        "border-bottom-width",
        "border-left-width",
        "border-radius",
        "border-spacing",
        "outline",
        "outline-width",
        "outline-offset",
        "letter-spacing",
        "word-spacing",
        "text-indent",
        "box-shadow",
        "text-shadow",
        "font-size",
        "-webkit-box-shadow",
        "-moz-box-shadow",
    ];
    is_margin(name) || NAMES.contains(&name) || (name.starts_with("border-") && name.ends_with("-radius"))
}

fn is_margin(name: &str) -> bool {
    matches!(
        name,
        "margin"
            | "margin-top"
            | "margin-right"
            | "margin-bottom"
            | "margin-left"
            | "padding"
            | "padding-top"
            | "padding-right"
            | "padding-bottom"
            | "padding-left"
    )
}

/// Properties whose bare numbers may have a fraction, so that `1.0` and `1` are the same.
fn takes_fraction(name: &str) -> bool {
    matches!(
        name,
        "opacity"
            | "line-height"
            | "flex"
            | "flex-grow"
            | "flex-shrink"
            | "zoom"
            | "font"
            | "animation-iteration-count"
            | "stroke-width"
            | "fill-opacity"
            | "stroke-opacity"
            | "margin"
            | "padding"
    ) || takes_zero(name)
}

/// Shorthands of four sides.
fn is_box(name: &str) -> bool {
    matches!(
        name,
        "margin" | "padding" | "border-width" | "border-style" | "border-color" | "border-radius"
    )
}

/// `1px 2px 1px 2px` to `1px 2px`.
fn fold_box(pieces: &mut Vec<Piece>) {
    let simple = pieces.iter().skip(1).all(|p| p.gap == Gap::Space)
        && pieces.iter().all(|p| {
            matches!(
                p.kind,
                Kind::Number | Kind::Percentage | Kind::Dimension | Kind::Ident | Kind::Hash
            )
        })
        && (2..=4).contains(&pieces.len());
    if !simple {
        return;
    }
    let same = |a: usize, b: usize, list: &[Piece]| list[a].text == list[b].text;
    if pieces.len() == 4 && same(3, 1, pieces) {
        pieces.pop();
    }
    if pieces.len() == 3 && same(2, 0, pieces) {
        pieces.pop();
    }
    if pieces.len() == 2 && same(1, 0, pieces) {
        pieces.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::css::token;

    #[test]
    fn values_get_shorter_and_stay_equal() {
        let check = |name: &str, value: &str, expected: &str| {
            assert_eq!(print(name, value, &token::list(value)), expected)
        };
        check("width", "0.50px", ".5px");
        check("width", "-0.0px", "-0px");
        check("width", "0px", "0");
        check("width", "0.0px", "0");
        check("width", "0em", "0em");
        check("width", "0%", "0%");
        check("width", "1.0e3px", "1.0e3px");
        check("width", "1.0em", "1em");
        check("width", "100px", "100px");
        check("width", "66.66666667%", "66.66666667%");
        check("line-height", "0px", "0px");
        check("flex", "1 1 0px", "1 1 0px");
        check("z-index", "1.0", "1.0");
        check("opacity", "1.0", "1");
        check("opacity", "0.70710678", ".70710678");
        check("width", "calc( 0px + 1.50px )", "calc(0px + 1.5px)");
        check("width", "calc(1px*0.5/2)", "calc(1px*.5/2)");
        check("color", "#AABBCC", "#abc");
        check("color", "#aabbccdd", "#abcd");
        check("color", "#AABBCD", "#aabbcd");
        check("color", "rgb( 1 , 2,3 )", "#010203");
        check("color", "rgb(1.5,2,3)", "rgb(1.5,2,3)");
        check("color", "rgb(256,2,3)", "rgb(256,2,3)");
        check("color", "rgba(0, 0, 0, 0.50)", "rgba(0,0,0,.5)");
        check("color", "red", "red");
        check("background", "url( \"a.png\" ) no-repeat", "url(a.png) no-repeat");
        check("background", "url(\"a b.png\")", "url(\"a b.png\")");
        check("background", "url( a.png )", "url(a.png)");
        check(
            "background",
            "linear-gradient(rgb(0,0,0),#FFF)",
            "linear-gradient(#000000,#fff)"
                .replace("#000000", "#000")
                .as_str(),
        );
        check("content", "'a'", "\"a\"");
        check("content", "'\"'", "'\"'");
        check("content", "'\\f101'", "'\\f101'");
        check("margin", "1px 2px 1px 2px", "1px 2px");
        check("margin", "0px 0 0px 0", "0");
        check("margin", "1px 2px 3px 2px", "1px 2px 3px");
        check("border-radius", "1px 1px / 1px 1px", "1px 1px/1px 1px");
        check("font", "12px / 1.50 'A' , b", "12px/1.5 \"A\",b");
        check("unicode-range", "U+0025-00FF, u+4??", "U+0025-00FF,u+4??");
        check(
            "filter",
            "progid:X.Y( a='#80000000', b=0.50 )",
            "progid:X.Y(a='#80000000',b=0.50)",
        );
        check("filter", "alpha(opacity=50)", "alpha(opacity=50)");
        check("color", "var( --a , #FFF )", "var(--a,#FFF)");
        check("a", "b/**/c", "b/**/c");
        check("margin", "1px\\9", "1px\\9");
    }
}
