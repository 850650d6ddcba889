//! Whether two properties can set the same thing, so that their order matters.
//!
//! The answer errs on the side of yes: properties are put into families by their first word once vendor prefixes and
//! hacks are off, and families that are tied by shorthands or aliases are one. Within a family two properties are
//! apart only if both are listed, in different groups or as longhands. So what this file does not know competes with
//! everything that shares its first word.

/// Does the order of declarations of these two properties matter? Lower case, hacks included.
pub(super) fn compete(a: &str, b: &str) -> bool {
    // An escape may spell any name.
    if a.contains('\\') || b.contains('\\') {
        return true;
    }
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
    if name.contains('\\') || !name.starts_with("--") && base(name) == "all" {
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
    if let Some(rest) = name.strip_prefix("mso-") {
        return rest;
    }
    name.strip_prefix('-')
        .and_then(|rest| rest.split_once('-'))
        .map_or(name, |(_, rest)| rest)
}

/// Properties of different families have nothing to do with each other. `name`: without prefixes.
pub(super) fn family(name: &str) -> &str {
    match name {
        // `line-clamp` is a shorthand of these.
        "max-lines" | "block-ellipsis" | "continue" => return "font",
        _ if name.starts_with("column-break") => return "break",
        _ => {}
    }
    let first = name.split('-').next().unwrap_or(name);
    match first {
        "font" | "line" => "font",
        "top" | "right" | "bottom" | "left" | "inset" | "offset" | "start" | "end" | "position"
        | "anchor" => "inset",
        "width" | "height" | "inline" | "block" | "min" | "max" | "logical" | "aspect" => "size",
        "flex" | "order" | "grid" | "gap" | "row" | "rule" | "column" | "columns" | "place" | "align"
        | "justify" | "box" | "item" | "masonry" => "flex",
        "break" | "page" | "region" => "break",
        "border" | "corner" | "corners" => "border",
        "vertical" | "alignment" | "baseline" | "dominant" => "vertical",
        "text" | "white" | "word" | "overflow" | "glyph" => "text",
        "color" | "print" => "color",
        "scroll" | "overscroll" => "scroll",
        "writing" | "layout" => "writing",
        first => first,
    }
}

/// Two different members of one family that are known to set different things.
fn apart(a: &str, b: &str) -> bool {
    if let (Some((side_a, part_a)), Some((side_b, part_b))) = (border_side(a), border_side(b)) {
        return side_a != side_b || !(part_a.is_empty() || part_b.is_empty() || part_a == part_b);
    }
    if let (Some(a), Some(b)) = (group(a), group(b))
        && a != b
    {
        return true;
    }
    is_corner(a) && is_corner(b) || LONGHANDS.contains(&a) && LONGHANDS.contains(&b)
}

/// Known properties of a family that nothing ties to those of its other groups.
fn group(name: &str) -> Option<&str> {
    Some(match name {
        "border-collapse" => name,
        "border-spacing" | "border-horizontal-spacing" | "border-vertical-spacing" => "border-spacing",
        "border-radius"
        | "border-start-start-radius"
        | "border-start-end-radius"
        | "border-end-start-radius"
        | "border-end-end-radius" => "border-radius",
        _ if is_corner(name) => "border-radius",
        // `border` sets the image as well.
        "border" | "border-color" | "border-style" | "border-width" | "border-image" => "border",
        _ if border_side(name).is_some() || name.starts_with("border-image-") => "border",

        "position" => name,
        "inset" | "top" | "right" | "bottom" | "left" => "inset",

        "box-shadow" | "box-sizing" | "box-decoration-break" | "box-reflect" => name,
        "box-align" | "box-direction" | "box-flex" | "box-flex-group" | "box-lines" | "box-ordinal-group"
        | "box-orient" | "box-pack" => "flex",
        _ if family(name) == "flex" && !name.starts_with("box") => "flex",

        "color" | "color-scheme" => name,
        "color-adjust" | "print-color-adjust" => "color-adjust",

        "overflow" | "overflow-x" | "overflow-y" => "overflow",
        "overflow-scrolling" => name,
        "overflow-wrap" | "word-wrap" => "overflow-wrap",
        "word-break" | "word-spacing" => name,
        "white-space" | "white-space-collapse" | "text-wrap" | "text-wrap-mode" | "text-wrap-style" => {
            "white-space"
        }
        "text-align" | "text-align-all" | "text-align-last" => "text-align",
        "text-decoration"
        | "text-decoration-line"
        | "text-decoration-color"
        | "text-decoration-style"
        | "text-decoration-thickness"
        | "text-decoration-skip"
        | "text-decoration-skip-ink" => "text-decoration",
        "text-emphasis" | "text-emphasis-color" | "text-emphasis-style" | "text-emphasis-position" => {
            "text-emphasis"
        }
        "text-stroke" | "text-stroke-color" | "text-stroke-width" => "text-stroke",
        "text-underline-offset" | "text-underline-position" => name,
        "text-fill-color" | "text-indent" | "text-overflow" | "text-rendering" | "text-shadow"
        | "text-size-adjust" | "text-transform" => name,
        _ => return None,
    })
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
        check("-webkit-text-stroke", "-webkit-text-stroke-color", true);
        check("-webkit-text-stroke-width", "-webkit-text-stroke", true);
        check("text-combine-upright", "-webkit-text-combine", true);
        check("rule", "column-rule", true);
        check("row-rule-color", "rule", true);
        check("border-spacing", "-webkit-border-horizontal-spacing", true);
        check("border-spacing", "-webkit-border-vertical-spacing", true);
        check("border-spacing", "border-collapse", false);
        check("text-spacing", "text-autospace", true);
        check("text-spacing", "text-spacing-trim", true);
        check("text-autospace", "text-spacing-trim", true);
        check("glyph-orientation-vertical", "text-orientation", true);
        check("-moz-border-radius-topleft", "-moz-border-radius", true);
        check("corner-top-left", "border-top-left-radius", true);
        check("max-lines", "-webkit-line-clamp", true);
        check("print-color-adjust", "color-adjust", true);
        check("color-adjust", "color", false);
        check("position", "inset", false);
        check("position-area", "inset", true);
        check("box-shadow", "-webkit-box-flex", false);
        check("box-shadow", "align-items", false);
        check("overflow", "overflow-x", true);
        check("overflow", "word-wrap", false);
        check("word-break", "text-align", false);
        check("text-align", "text-align-last", true);
        // What is not known competes with all that begins like it, whatever the vendor.
        check("text-x", "text-align", true);
        check("border-x", "border-radius", true);
        check("box-x", "box-shadow", true);
        check("overflow-x-y", "overflow-wrap", true);
        check("-new-x-a", "x-b", true);
        check("c\\6flor", "color", true);
    }
}
