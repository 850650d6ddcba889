//! Shorthands whose parts may come in any order, in one order, and without the parts that are the default anyway.
//!
//! One order compresses better than several. The object model shows the same longhands; what is not plainly one of
//! the known parts keeps the whole value as it is.

use super::piece::{Gap, Piece};
use super::token::Kind;

const REPEATS: [&str; 6] = ["repeat", "repeat-x", "repeat-y", "no-repeat", "space", "round"];
const ATTACHMENTS: [&str; 3] = ["scroll", "fixed", "local"];
const PLACES: [&str; 5] = ["left", "right", "top", "bottom", "center"];

fn is_one_of(piece: &Piece, words: &[&str]) -> bool {
    words.iter().any(|w| piece.is_word(w))
}

/// `background` as image, position, repeat, attachment, colour.
pub(super) fn background(pieces: &mut Vec<Piece>) {
    let mut out = Vec::with_capacity(pieces.len());
    let mut depth = 0usize;
    for layer in pieces.split_inclusive(|p| {
        match p.kind {
            kind if kind.opens() => depth += 1,
            Kind::CloseParen | Kind::CloseSquare | Kind::CloseCurly => depth = depth.saturating_sub(1),
            _ => {}
        }
        p.kind == Kind::Comma && depth == 0
    }) {
        let (body, comma) = match layer {
            [body @ .., last] if last.kind == Kind::Comma => (body, Some(last)),
            _ => (layer, None),
        };
        let Some(sorted) = layer_parts(body) else { return };
        out.extend(sorted);
        out.extend(comma.cloned());
    }
    *pieces = out;
}

fn layer_parts<'a>(layer: &[Piece<'a>]) -> Option<Vec<Piece<'a>>> {
    let mut parts: [Option<Vec<Piece>>; 5] = [None, None, None, None, None];
    let mut i = 0;
    while i < layer.len() {
        let first = &layer[i];
        let mut end = i + 1;
        let run = |from: usize, test: &dyn Fn(&Piece) -> bool| {
            from + layer[from..].iter().take_while(|p| test(p)).count()
        };
        let is_place = |p: &Piece| {
            matches!(p.kind, Kind::Number | Kind::Dimension | Kind::Percentage) || is_one_of(p, &PLACES)
        };
        let rank = if first.kind == Kind::Url || first.is_word("none") {
            0
        } else if first.kind == Kind::Function {
            end = closed(layer, i)?;
            let name = first.text[..first.text.len() - 1].to_ascii_lowercase();
            if name.ends_with("-gradient") || name == "url" {
                0
            } else if matches!(name.as_str(), "rgb" | "rgba" | "hsl" | "hsla") {
                4
            } else {
                return None;
            }
        } else if is_place(first) {
            end = run(i, &is_place);
            if layer.get(end).is_some_and(|p| p.is_delim('/')) {
                let from = end + 1;
                end = run(from, &|p| {
                    is_place(p) || ["auto", "cover", "contain"].iter().any(|w| p.is_word(w))
                });
                if end == from {
                    return None;
                }
            }
            1
        } else if is_one_of(first, &REPEATS) {
            end = run(i, &|p| is_one_of(p, &REPEATS));
            2
        } else if is_one_of(first, &ATTACHMENTS) {
            3
        } else if first.kind == Kind::Hash
            || first.kind == Kind::Ident
                && !first.text.contains('\\')
                && !["padding-box", "border-box", "content-box", "text"]
                    .iter()
                    .any(|w| first.is_word(w))
        {
            4
        } else {
            return None;
        };
        let mut part = layer[i..end].to_vec();
        part[0].gap = Gap::Space;
        // `left 10px 0` is a position of three parts; two positions are none.
        if rank == 1 && part.len() == 2 && part.iter().all(|p| p.is_word("center")) {
            part.pop();
        }
        if parts[rank].replace(part).is_some() {
            return None;
        }
        i = end;
    }
    Some(parts.into_iter().flatten().flatten().collect())
}

/// The place after the bracket that closes the function at `i`.
fn closed(pieces: &[Piece], i: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (k, piece) in pieces.iter().enumerate().skip(i) {
        match piece.kind {
            kind if kind.opens() => depth += 1,
            Kind::CloseParen | Kind::CloseSquare | Kind::CloseCurly => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(k + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// `center center` alone is `center`.
pub(super) fn center(pieces: &mut Vec<Piece>) {
    if pieces.len() == 2 && pieces[1].gap == Gap::Space && pieces.iter().all(|p| p.is_word("center")) {
        pieces.pop();
    }
}

/// `font:normal bold 12px a` to `font:bold 12px a`: what is not written is normal (CSS Fonts 4, section 2.7).
pub(super) fn font(pieces: &mut Vec<Piece>) {
    let Some(size) = pieces.iter().position(|p| {
        !(p.kind == Kind::Number
            || [
                "normal",
                "italic",
                "oblique",
                "bold",
                "bolder",
                "lighter",
                "small-caps",
            ]
            .iter()
            .any(|w| p.is_word(w)))
    }) else {
        return;
    };
    // With a fourth word it depends on the browser whether the font's width may stand here.
    if size > 3
        || !matches!(pieces[size].kind, Kind::Dimension | Kind::Percentage)
        || pieces[1..=size].iter().any(|p| p.gap != Gap::Space)
    {
        return;
    }
    let mut i = 0;
    pieces.retain(|p| {
        i += 1;
        i > size || !p.is_word("normal")
    });
}

/// Gradients go down unless told otherwise: `linear-gradient(to bottom,` says nothing, nor does `top,` with a prefix.
pub(super) fn gradients(pieces: &mut Vec<Piece>) {
    let mut i = 0;
    while i + 2 < pieces.len() {
        if pieces[i].kind == Kind::Function {
            let name = pieces[i].text[..pieces[i].text.len() - 1].to_ascii_lowercase();
            let plain = matches!(name.as_str(), "linear-gradient" | "repeating-linear-gradient");
            if plain
                && pieces[i + 1].is_word("to")
                && pieces[i + 2].is_word("bottom")
                && pieces.get(i + 3).is_some_and(|p| p.kind == Kind::Comma)
                && pieces.get(i + 4).is_some_and(|p| p.kind != Kind::CloseParen)
            {
                pieces.drain(i + 1..i + 4);
                pieces[i + 1].gap = Gap::None;
            } else if plain
                && pieces[i + 1].kind == Kind::Dimension
                && pieces[i + 1].text.eq_ignore_ascii_case("180deg")
                && pieces[i + 2].kind == Kind::Comma
                && pieces.get(i + 3).is_some_and(|p| p.kind != Kind::CloseParen)
            {
                pieces.drain(i + 1..i + 3);
                pieces[i + 1].gap = Gap::None;
            }
        }
        i += 1;
    }
}

/// `border:0 none` to `border:0`: a line without a style has none.
pub(super) fn line(pieces: &mut Vec<Piece>) {
    if pieces.len() == 2
        && matches!(pieces[0].kind, Kind::Number | Kind::Dimension)
        && pieces[1].is_word("none")
    {
        pieces.pop();
        pieces[0].gap = Gap::None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::print::print;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let out = print(&format!("a {{ {body} }}")).unwrap_or_default();
        assert_eq!(out, format!("a{{{expected}}}"), "{body}");
    }

    #[test]
    fn backgrounds_in_one_order() {
        let check = |value: &str, expected: &str| {
            check(&format!("background:{value}"), &format!("background:{expected}"))
        };
        check(
            "#fff url(a) no-repeat fixed left top",
            "url(a)left top no-repeat fixed#fff",
        );
        check("no-repeat url(a) center center", "url(a)center no-repeat");
        check(
            "no-repeat url(a),red url(b)0 0/cover",
            "url(a)no-repeat,url(b)0 0/cover red",
        );
        check("rgba(0,0,0,.5) url(a)", "url(a)rgba(0,0,0,.5)");
        check(
            "no-repeat linear-gradient(to bottom,red,blue)",
            "linear-gradient(red,blue)no-repeat",
        );
        check("red none", "none red");
        // Two of a kind, boxes, functions: left alone.
        check("no-repeat url(a) padding-box", "no-repeat url(a)padding-box");
        check("0 0 no-repeat 1px 1px", "0 0 no-repeat 1px 1px");
        check(
            "no-repeat calc(1px + 2px) 0 url(a)",
            "no-repeat calc(1px + 2px)0 url(a)",
        );
        check("no-repeat var(--a)", "no-repeat var(--a)");
        check("red blue url(a)", "red blue url(a)");
        check("red url(a)\\9", "red url(a)\\9");
        check("10px center center", "10px center center");
        check("0/url(a)", "0/url(a)");
    }

    #[test]
    fn defaults_go() {
        check("background-position:center center", "background-position:center");
        check(
            "background-position:center center,0 0",
            "background-position:center center,0 0",
        );
        check("transform-origin:center center", "transform-origin:center");
        check("background-size:auto auto", "background-size:auto auto");
        check("font:normal normal normal 14px/1 a", "font:14px/1 a");
        check("font:normal bold 1em a", "font:bold 1em a");
        check("font:normal", "font:normal");
        check(
            "font:normal normal normal normal normal 14px a",
            "font:normal normal normal normal normal 14px a",
        );
        check("font:normal medium a", "font:normal medium a");
        check("font:normal 14px normal", "font:14px normal");
        check(
            "background-image:linear-gradient(180deg,red,blue)",
            "background-image:linear-gradient(red,blue)",
        );
        check(
            "background-image:linear-gradient(to bottom right,red,blue)",
            "background-image:linear-gradient(to bottom right,red,blue)",
        );
        check(
            "background-image:linear-gradient(to bottom)",
            "background-image:linear-gradient(to bottom)",
        );
        check(
            "background-image:-webkit-linear-gradient(top,red,blue)",
            "background-image:-webkit-linear-gradient(top,red,blue)",
        );
        check("border:none 0", "border:0");
        check("border-left:0 none", "border-left:0");
        check("border:0 none red", "border:0 none red");
        check("border:none", "border:none");
        check("outline:0 none", "outline:0 none");
    }
}
