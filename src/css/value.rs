//! The value of a declaration in fewer bytes.
//!
//! Every rewrite here is one that Chromium's object model cannot see, because both spellings serialise alike: `0.50`
//! and `.5`, `#AABBCC` and `#abc`, `rgb(1,2,3)` and `#010203`, `url("a")` and `url(a)`. Those it can see are not
//! done, though they would be shorter: `bold` and `700`, `red` and `#f00`, `none` and `0 0`, `0em` and `0`.

use std::borrow::Cow;

use super::order;
use super::piece::{self, Gap, Piece};
use super::token::{Kind, Tok};
use number::{function_takes_fraction, number, takes_fraction, takes_zero};

mod number;

/// `toks`: the value without blanks at its ends and without `!important`. `name`: the property, lower case, without
/// a hack's prefix.
pub(super) fn print(name: &str, text: &str, toks: &[Tok]) -> String {
    let mut pieces = piece::pieces(text, toks);
    let free = can_rewrite(name, &pieces);
    if free {
        rewrite(name, &mut pieces);
    }
    let tight = |i: usize| {
        let (a, b) = (&pieces[i - 1], &pieces[i]);
        tight(a, b) || free && apart(name, a, b)
    };
    let mut out = piece::join(&pieces, tight);
    // The blank that ends an escape (`1\9 `) is not needed before `;`, `}` or `!`; an escaped blank is.
    let trimmed = out.trim_end_matches(' ').len();
    if !out[..trimmed].ends_with('\\') {
        out.truncate(trimmed);
    }
    out
}

/// Texts that browsers keep as written (`var()` and its kin) or that are read by other rules than CSS tokens.
fn can_rewrite(name: &str, pieces: &[Piece]) -> bool {
    !name.starts_with("--")
        && name != "unicode-range"
        // Of `@property`: its text is what scripts read.
        && name != "initial-value"
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

/// Tokens that end or begin by themselves (CSS 2.1, section 4.1.1 has it so as well): `solid #ccc`, `url(a) 0`.
fn apart(name: &str, a: &Piece, b: &Piece) -> bool {
    let operator = matches!(b.kind, Kind::Delim(_));
    if name == "src" {
        // Fonts are given to very old browsers by how they misread this.
        return false;
    }
    b.kind == Kind::Hash
        || b.kind == Kind::Str
        || !operator
            && matches!(
                a.kind,
                Kind::CloseParen | Kind::Url | Kind::Str | Kind::Percentage
            )
}

fn rewrite(name: &str, pieces: &mut Vec<Piece>) {
    urls(pieces);
    colors(pieces);
    // Of each open bracket: whether lengths may lose their unit in it, and numbers an empty fraction.
    let mut functions: Vec<(bool, bool)> = Vec::new();
    for piece in pieces.iter_mut() {
        match piece.kind {
            Kind::Function => {
                let lower = piece.text.to_ascii_lowercase();
                functions.push((
                    name.ends_with("transform") && lower.starts_with("translate"),
                    function_takes_fraction(lower.trim_end_matches('(')),
                ));
            }
            Kind::OpenParen => {
                let fraction = functions.last().is_some_and(|f| f.1);
                functions.push((false, fraction));
            }
            Kind::OpenSquare | Kind::OpenCurly => functions.push((false, false)),
            Kind::CloseParen | Kind::CloseSquare | Kind::CloseCurly => {
                functions.pop();
            }
            Kind::Number | Kind::Percentage | Kind::Dimension => {
                let (zero, fraction) = functions
                    .last()
                    .copied()
                    .unwrap_or_else(|| (takes_zero(name), takes_fraction(name)));
                let short = number(&piece.text, piece.kind, zero, fraction);
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
    } else if is_line(name) {
        order_line(pieces);
        if name != "outline" {
            order::line(pieces);
        }
    } else if name == "background" {
        order::gradients(pieces);
        order::background(pieces);
    } else if name == "background-image" {
        order::gradients(pieces);
    } else if matches!(name, "background-position" | "transform-origin") {
        order::center(pieces);
    } else if name.ends_with("transition") {
        shorten_transition(pieces);
    } else if name == "font-family" || name == "font" {
        if name == "font" {
            order::font(pieces);
        }
        family_names(pieces);
    } else if matches!(name, "flex" | "-webkit-flex" | "-ms-flex") {
        flex_words(pieces);
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
        if !inner.contains(['"', '\'']) {
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

/// Alone these stand for a whole value, beside another they make it invalid (CSS Values 4, section 2.1.1).
fn is_wide(piece: &Piece) -> bool {
    [
        "inherit",
        "initial",
        "unset",
        "revert",
        "revert-layer",
        "default",
        "-moz-initial",
    ]
    .iter()
    .any(|w| piece.is_word(w))
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
            ) && !is_wide(p)
                && !p.text.contains('\\')
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

/// Shorthands of a line's width, style and colour in any order.
fn is_line(name: &str) -> bool {
    matches!(
        name,
        "border" | "border-top" | "border-right" | "border-bottom" | "border-left" | "outline"
    )
}

/// `solid 1px #ccc` to `1px solid #ccc`: one order compresses better than six.
fn order_line(pieces: &mut Vec<Piece>) {
    let mut parts: [Option<Vec<Piece>>; 3] = [None, None, None];
    let mut i = 0;
    while i < pieces.len() {
        let first = &pieces[i];
        let mut end = i + 1;
        let rank = match first.kind {
            Kind::Number | Kind::Dimension => 0,
            Kind::Ident if ["thin", "medium", "thick"].iter().any(|w| first.is_word(w)) => 0,
            Kind::Ident if STYLES.iter().any(|w| first.is_word(w)) => 1,
            // `currentcolor`, `invert`, `inherit`: names of colours are not listed here.
            Kind::Ident | Kind::Hash => 2,
            Kind::Function
                if ["rgb", "rgba", "hsl", "hsla"]
                    .iter()
                    .any(|f| first.is_function(f)) =>
            {
                while pieces
                    .get(end)
                    .is_some_and(|p| p.kind != Kind::CloseParen && !p.kind.opens())
                {
                    end += 1;
                }
                if pieces.get(end).is_none_or(|p| p.kind != Kind::CloseParen) {
                    return;
                }
                end += 1;
                2
            }
            _ => return,
        };
        let mut part = pieces[i..end].to_vec();
        part[0].gap = Gap::Space;
        if parts[rank].replace(part).is_some() {
            return;
        }
        i = end;
    }
    *pieces = parts.into_iter().flatten().flatten().collect();
}

const STYLES: [&str; 10] = [
    "none", "hidden", "dotted", "dashed", "solid", "double", "groove", "ridge", "inset", "outset",
];

/// `all`, `ease` and a delay of `0s` are what a transition has anyway, if nothing else is in their place: of two
/// properties none may go, and a second timing function is read as a property.
fn shorten_transition(pieces: &mut Vec<Piece>) {
    let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut depth = 0usize;
    for part in pieces.split_inclusive(|p| {
        match p.kind {
            kind if kind.opens() => depth += 1,
            Kind::CloseParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        p.kind == Kind::Comma && depth == 0
    }) {
        let times = part.iter().filter(|p| p.kind == Kind::Dimension).count();
        let count = |word: &str| part.iter().filter(|p| p.is_word(word)).count();
        let plain = part
            .iter()
            .all(|p| matches!(p.kind, Kind::Ident | Kind::Dimension | Kind::Comma) && !p.text.contains('\\'));
        let timings: usize = TIMINGS.iter().map(|w| count(w)).sum();
        let others = part.iter().filter(|p| p.kind == Kind::Ident).count() - timings;
        // Without a duration there would be nothing left to stand for the transition.
        if !plain || !(1..=2).contains(&times) || timings > 1 || others > 1 {
            out.extend(part.iter().cloned());
            continue;
        }
        let mut seen = 0;
        let mut kept = part.iter().filter(|p| {
            seen += usize::from(p.kind == Kind::Dimension);
            !(p.is_word("ease")
                || p.is_word("all")
                || p.kind == Kind::Dimension && seen == 2 && p.text == "0s")
        });
        if let Some(first) = kept.next() {
            out.push(Piece {
                gap: part[0].gap,
                ..first.clone()
            });
        }
        out.extend(kept.cloned());
    }
    *pieces = out;
}

/// Words that name a timing function (CSS Easing 1, section 2).
const TIMINGS: [&str; 7] = [
    "ease",
    "linear",
    "ease-in",
    "ease-out",
    "ease-in-out",
    "step-start",
    "step-end",
];

/// `"Helvetica Neue"` to `Helvetica Neue`: the same name, unless a word of it means something by itself.
fn family_names(pieces: &mut [Piece]) {
    const KEYWORDS: [&str; 26] = [
        "serif",
        "sans-serif",
        "monospace",
        "cursive",
        "fantasy",
        "system-ui",
        "math",
        "emoji",
        "fangsong",
        "ui-serif",
        "ui-sans-serif",
        "ui-monospace",
        "ui-rounded",
        "generic",
        "inherit",
        "initial",
        "unset",
        "revert",
        "revert-layer",
        "default",
        "auto",
        "none",
        "normal",
        "caption",
        "icon",
        "menu",
    ];
    for i in 0..pieces.len() {
        if pieces[i].kind != Kind::Str || pieces.get(i + 1).is_some_and(|p| p.kind != Kind::Comma) {
            continue;
        }
        // Only a name that begins here: what stands before must be a comma or the size in `font`.
        if i > 0
            && !matches!(
                pieces[i - 1].kind,
                Kind::Comma | Kind::Dimension | Kind::Percentage | Kind::Number
            )
        {
            continue;
        }
        let inner = pieces[i].text[1..pieces[i].text.len() - 1].to_owned();
        let word = |w: &str| {
            w.starts_with(|c: char| c.is_ascii_alphabetic())
                && w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
                && !w.starts_with("ui-")
                && !KEYWORDS.iter().any(|k| w.eq_ignore_ascii_case(k))
        };
        if !inner.is_empty() && inner.split(' ').all(word) {
            if i > 0 && pieces[i - 1].kind != Kind::Comma {
                pieces[i].gap = Gap::Space;
            }
            pieces[i].text = Cow::Owned(inner);
            pieces[i].kind = Kind::Ident;
        }
    }
}

/// `0 0 auto` to `none`, `1 1 auto` to `auto` (Flexbox 1, section 7.2).
fn flex_words(pieces: &mut Vec<Piece>) {
    let [a, b, c] = pieces.as_slice() else { return };
    if !c.is_word("auto") || a.text != b.text || b.gap != Gap::Space {
        return;
    }
    let word = match a.text.as_ref() {
        "0" => "none",
        "1" => "auto",
        _ => return,
    };
    pieces[0] = Piece {
        kind: Kind::Ident,
        text: Cow::Borrowed(word),
        gap: Gap::None,
    };
    pieces.truncate(1);
}

#[cfg(test)]
mod tests;
