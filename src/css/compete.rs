//! Whether two properties can set the same thing, so that their order matters.
//!
//! The answer errs on the side of yes: properties are put into families by their first word once vendor prefixes and
//! hacks are off, families that are tied by shorthands or aliases are one, and within a family only pairs of the
//! listed longhands are known to be apart.

/// Does the order of declarations of these two properties matter? Lower case, hacks included.
pub(super) fn compete(a: &str, b: &str) -> bool {
    if a.starts_with("--") || b.starts_with("--") {
        return a == b;
    }
    let (a, b) = (base(a), base(b));
    if a == b || a == "all" || b == "all" {
        return true;
    }
    family(a) == family(b) && !apart(a, b)
}

/// One bit of 64 for the family: rules whose masks share none do not compete.
pub(super) fn mask(name: &str) -> u64 {
    if !name.starts_with("--") && base(name) == "all" {
        return u64::MAX;
    }
    let key = if name.starts_with("--") {
        name
    } else {
        family(base(name))
    };
    // FNV-1a: only a filter, so collisions cost time and nothing else.
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    });
    1 << (hash >> 58)
}

/// Without a hack's prefix (`*zoom`, `_height`) and a vendor's.
pub(super) fn base(name: &str) -> &str {
    let name = name.trim_start_matches(['*', '+', '&', '$', '!', '_']);
    for vendor in [
        "-webkit-", "-moz-", "-ms-", "-o-", "-khtml-", "-epub-", "-apple-", "-xv-", "-wap-", "mso-",
    ] {
        if let Some(rest) = name.strip_prefix(vendor) {
            return rest;
        }
    }
    name
}

pub(super) fn family(name: &str) -> &str {
    let first = name.split('-').next().unwrap_or(name);
    match first {
        "font" | "line" => "font",
        "top" | "right" | "bottom" | "left" | "inset" | "offset" | "start" | "end" => "inset",
        "width" | "height" | "inline" | "block" | "min" | "max" | "logical" | "aspect" => "size",
        "flex" | "order" | "grid" | "gap" | "row" | "column" | "columns" | "place" | "align" | "justify" => {
            if name.starts_with("column-break") {
                "break"
            } else {
                "flex"
            }
        }
        "box" => match name {
            "box-shadow" | "box-sizing" => name,
            _ => "flex",
        },
        "break" | "page" => "break",
        "white" => "white",
        "vertical" | "alignment" | "baseline" | "dominant" => "vertical",
        "word" | "overflow" if matches!(name, "word-wrap" | "overflow-wrap") => "wrap",
        "word" => name,
        "print" | "color" if name.ends_with("adjust") => "adjust",
        "text" => match name.split('-').nth(1) {
            Some("wrap") => "white",
            Some("decoration") => "text-decoration",
            Some("emphasis") => "text-emphasis",
            Some("align") => "text-align",
            Some("box") => "text-box",
            Some("size") => "text-size",
            _ => name,
        },
        first => first,
    }
}

/// Two different members of one family that are known to set different things.
fn apart(a: &str, b: &str) -> bool {
    if let (Some((side_a, part_a)), Some((side_b, part_b))) = (border_side(a), border_side(b)) {
        return side_a != side_b || !(part_a.is_empty() || part_b.is_empty() || part_a == part_b);
    }
    let radius = |name: &str| name.ends_with("-radius");
    let alone = |name: &str| matches!(name, "border-collapse" | "border-spacing") || radius(name);
    if name_in_border(a) && name_in_border(b) && (alone(a) || alone(b)) {
        return !(radius(a) && radius(b)) || (is_corner(a) && is_corner(b));
    }
    LONGHANDS.contains(&a) && LONGHANDS.contains(&b)
}

fn name_in_border(name: &str) -> bool {
    name == "border" || name.starts_with("border-")
}

fn border_side(name: &str) -> Option<(&str, &str)> {
    let rest = name.strip_prefix("border-")?;
    let (side, part) = rest.split_once('-').unwrap_or((rest, ""));
    (matches!(side, "top" | "right" | "bottom" | "left") && matches!(part, "" | "color" | "style" | "width"))
        .then_some((side, part))
}

fn is_corner(name: &str) -> bool {
    matches!(
        name,
        "border-top-left-radius"
            | "border-top-right-radius"
            | "border-bottom-left-radius"
            | "border-bottom-right-radius"
    )
}

/// Physical longhands, no two of which overlap.
const LONGHANDS: [&str; 48] = [
    "margin-top",
    "margin-right",
    "margin-bottom",
    "margin-left",
    "padding-top",
    "padding-right",
    "padding-bottom",
    "padding-left",
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
    "background-color",
    "background-image",
    "background-position",
    "background-size",
    "background-repeat",
    "background-attachment",
    "background-clip",
    "background-origin",
    "font-size",
    "font-style",
    "font-weight",
    "font-family",
    "line-height",
    "outline-color",
    "outline-style",
    "outline-width",
    "outline-offset",
    "list-style-type",
    "list-style-image",
    "list-style-position",
    "overflow-x",
    "overflow-y",
    "transition-property",
    "transition-duration",
    "transition-delay",
    "transition-timing-function",
    "text-decoration-line",
    "text-decoration-color",
    "text-decoration-style",
    "text-decoration-thickness",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_matters_where_properties_overlap() {
        let check = |a: &str, b: &str, expected: bool| {
            assert_eq!(compete(a, b), expected, "{a} {b}");
            assert_eq!(compete(b, a), expected, "{b} {a}");
            if expected {
                assert_ne!(mask(a) & mask(b), 0, "{a} {b}");
            }
        };
        check("color", "color", true);
        check("color", "background", false);
        check("margin", "margin-top", true);
        check("margin-left", "margin-top", false);
        check("margin-inline-start", "margin-left", true);
        check("font", "line-height", true);
        check("font-size", "line-height", false);
        check("font-variant", "font", true);
        check("background", "background-color", true);
        check("background-position-x", "background-position", true);
        check("border", "border-top", true);
        check("border-top", "border-bottom-color", false);
        check("border-top", "border-top-color", true);
        check("border-top-width", "border-top-color", false);
        check("border-color", "border-top", true);
        check("border-image", "border", true);
        check("border-radius", "border", false);
        check("border-radius", "border-top-left-radius", true);
        check("-webkit-border-radius", "border-radius", true);
        check("border-top-left-radius", "border-top-right-radius", false);
        check("border-start-start-radius", "border-top-right-radius", true);
        check("inset", "top", true);
        check("inline-size", "width", true);
        check("width", "height", false);
        check("word-wrap", "overflow-wrap", true);
        check("grid-gap", "gap", true);
        check("column-gap", "row-gap", true);
        check("-webkit-box-flex", "-ms-flex", true);
        check("page-break-after", "break-after", true);
        check("-webkit-column-break-after", "break-after", true);
        check("white-space", "text-wrap", true);
        check("text-decoration", "text-decoration-color", true);
        check("text-transform", "text-decoration", false);
        check("all", "color", true);
        check("all", "-moz-odd", true);
        check("--a", "--b", false);
        check("--a", "--a", true);
        check("--a", "all", false);
        check("*zoom", "zoom", true);
        check("_height", "height", true);
        check("transition", "transition-delay", true);
        check("vertical-align", "alignment-baseline", true);
    }
}
