//! Numbers in fewer digits, and where a zero needs no unit and a whole number no fraction.

use super::Kind;

/// A number without useless digits, if that is shorter. No exponent is touched, no digit that counts is lost.
pub(super) fn number(raw: &str, kind: Kind, zero: bool, fraction: bool) -> Option<String> {
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
pub(super) fn takes_zero(name: &str) -> bool {
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
pub(super) fn takes_fraction(name: &str) -> bool {
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

/// Functions whose bare numbers may have a fraction; not `steps()`, `repeat()` and whatever else counts. `name`:
/// lower case.
pub(super) fn function_takes_fraction(name: &str) -> bool {
    const NAMES: [&str; 27] = [
        "rgb",
        "rgba",
        "hsl",
        "hsla",
        "hwb",
        "lab",
        "lch",
        "oklab",
        "oklch",
        "color",
        "color-mix",
        "calc",
        "-webkit-calc",
        "-moz-calc",
        "min",
        "max",
        "clamp",
        "perspective",
        "cubic-bezier",
        "brightness",
        "contrast",
        "grayscale",
        "invert",
        "opacity",
        "saturate",
        "sepia",
        "drop-shadow",
    ];
    NAMES.contains(&name)
        || name.ends_with("-gradient")
        || ["translate", "scale", "rotate", "skew", "matrix"]
            .iter()
            .any(|f| {
                name.strip_prefix(f)
                    .is_some_and(|axis| matches!(axis, "" | "x" | "y" | "z" | "3d"))
            })
}
