//! Declarations of four sides in one rule become one shorthand: `margin:0;margin-top:1px` to `margin:1px 0 0`.
//!
//! Only where every declaration of the rule that could compete is one of the set, has the same importance, and has a
//! value that every browser takes: CSS 2.1 lengths, percentages, a few words, hex colours. One hack, fallback, vendor
//! prefix, `var()`, logical property or value that some browser may refuse, and the whole set stays as it is. The
//! object model shows the same longhands before and after.

use super::compete::compete;
use super::tree::{Declaration, Node};

/// What a value may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// A length or percentage, and whether negative ones and `auto` are taken.
    Margin,
    Padding,
    Width,
    Radius,
    Style,
    Color,
}

/// A shorthand and its four longhands in the order in which it names them.
const SETS: [(&str, [&str; 4], Takes); 6] = [
    (
        "margin",
        ["margin-top", "margin-right", "margin-bottom", "margin-left"],
        Takes::Margin,
    ),
    (
        "padding",
        ["padding-top", "padding-right", "padding-bottom", "padding-left"],
        Takes::Padding,
    ),
    (
        "border-width",
        [
            "border-top-width",
            "border-right-width",
            "border-bottom-width",
            "border-left-width",
        ],
        Takes::Width,
    ),
    (
        "border-style",
        [
            "border-top-style",
            "border-right-style",
            "border-bottom-style",
            "border-left-style",
        ],
        Takes::Style,
    ),
    (
        "border-color",
        [
            "border-top-color",
            "border-right-color",
            "border-bottom-color",
            "border-left-color",
        ],
        Takes::Color,
    ),
    (
        "border-radius",
        [
            "border-top-left-radius",
            "border-top-right-radius",
            "border-bottom-right-radius",
            "border-bottom-left-radius",
        ],
        Takes::Radius,
    ),
];

/// Long bodies are rare, pairs of their declarations many.
const LONG: usize = 100;

/// `nodes`: the body of a rule.
pub(super) fn sides(nodes: &mut Vec<Node>) {
    if nodes.len() < 2 || nodes.len() > LONG || nodes.iter().any(|n| !matches!(n, Node::Declaration(_))) {
        return;
    }
    for (shorthand, longhands, takes) in SETS {
        if let Some((at, folded)) = fold(nodes, shorthand, longhands, takes) {
            let mut i = 0;
            nodes.retain(|node| {
                i += 1;
                let ours = |d: &Declaration| d.name == shorthand || longhands.contains(&d.name.as_str());
                i - 1 == at || !matches!(node, Node::Declaration(d) if ours(d))
            });
            if let Some(node) = nodes
                .iter_mut()
                .find(|n| matches!(n, Node::Declaration(d) if d.name == shorthand || longhands.contains(&d.name.as_str())))
            {
                *node = Node::Declaration(folded);
            }
        }
    }
}

/// The one declaration that does what all of the set do, and the place of the last of them.
fn fold(nodes: &[Node], shorthand: &str, longhands: [&str; 4], takes: Takes) -> Option<(usize, Declaration)> {
    let mut sides: [Option<&str>; 4] = [None; 4];
    let mut count = 0;
    let mut at = 0;
    let mut importance = None;
    for (i, node) in nodes.iter().enumerate() {
        let Node::Declaration(d) = node else { return None };
        if d.name == shorthand {
            // `#fff#000` needs no blank.
            let parts: Vec<&str> = d
                .value
                .split(' ')
                .flat_map(|part| {
                    let second = part.char_indices().skip(1).find(|(_, c)| *c == '#');
                    let (first, rest) = part.split_at(second.map_or(part.len(), |(i, _)| i));
                    std::iter::once(first).chain((!rest.is_empty()).then_some(rest))
                })
                .collect();
            if parts.len() > 4 || !parts.iter().all(|p| plain(p, takes)) {
                return None;
            }
            for (k, side) in sides.iter_mut().enumerate() {
                // Right follows top, bottom follows top, left follows right.
                let from = [0, 1, 2, 3]
                    .get(k)
                    .filter(|&&n| n < parts.len())
                    .copied()
                    .unwrap_or(match (k, parts.len()) {
                        (3, n) if n > 1 => 1,
                        _ => 0,
                    });
                set(side, parts[from])?;
            }
        } else if let Some(k) = longhands.iter().position(|l| *l == d.name) {
            if !plain(&d.value, takes) {
                return None;
            }
            set(&mut sides[k], &d.value)?;
        } else if compete(&d.name, shorthand) {
            return None;
        } else {
            continue;
        }
        if *importance.get_or_insert(d.important) != d.important {
            return None;
        }
        count += 1;
        at = i;
    }
    let [Some(a), Some(b), Some(c), Some(d)] = sides else {
        return None;
    };
    if count < 2 {
        return None;
    }
    let value = if b != d {
        format!("{a} {b} {c} {d}")
    } else if a != c {
        format!("{a} {b} {c}")
    } else if a != b {
        format!("{a} {b}")
    } else {
        a.to_owned()
    };
    Some((
        at,
        Declaration {
            name: shorthand.to_owned(),
            value: value.replace(" #", "#"),
            important: importance?,
        },
    ))
}

/// Sets a side; what it had must not be a fallback for a unit that came later.
fn set<'v>(side: &mut Option<&'v str>, value: &'v str) -> Option<()> {
    if side.is_some() && value.ends_with("rem") {
        return None;
    }
    *side = Some(value);
    Some(())
}

/// Does every browser take this value, and read it in the same way?
fn plain(value: &str, takes: Takes) -> bool {
    match takes {
        Takes::Margin => value == "auto" || is_length(value.strip_prefix('-').unwrap_or(value), true),
        Takes::Padding | Takes::Radius => is_length(value, true),
        Takes::Width => matches!(value, "thin" | "medium" | "thick") || is_length(value, false),
        Takes::Style => matches!(
            value,
            "none"
                | "hidden"
                | "dotted"
                | "dashed"
                | "solid"
                | "double"
                | "groove"
                | "ridge"
                | "inset"
                | "outset"
        ),
        Takes::Color => {
            value == "transparent"
                || value.strip_prefix('#').is_some_and(|hex| {
                    matches!(hex.len(), 3 | 6) && hex.bytes().all(|b| b.is_ascii_hexdigit())
                })
        }
    }
}

/// `0`, or digits and a unit of CSS 2.1 or `rem`. Other numbers without a unit are not lengths.
fn is_length(value: &str, percentage: bool) -> bool {
    if value == "0" {
        return true;
    }
    let end = value
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(value.len());
    let (number, unit) = value.split_at(end);
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    digits(whole)
        && digits(part)
        && !part.is_empty()
        && (number.contains('.') || !whole.is_empty())
        && (matches!(
            unit,
            "px" | "em" | "ex" | "pt" | "pc" | "in" | "cm" | "mm" | "rem"
        ) || percentage && unit == "%")
}

#[cfg(test)]
mod tests {
    use super::super::print::print;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let css = format!("a {{ {body} }}");
        let out = print(&css).unwrap_or_default();
        assert_eq!(out, format!("a{{{expected}}}"), "{body}");
    }

    #[track_caller]
    fn stays(body: &str) {
        check(body, body);
    }

    #[test]
    fn four_sides_are_one() {
        check(
            "margin-top:1px;margin-right:2%;margin-bottom:-3em;margin-left:auto",
            "margin:1px 2% -3em auto",
        );
        check(
            "margin-left:0;margin-right:0;margin-top:0;margin-bottom:0px",
            "margin:0",
        );
        check("margin:0;margin-top:1px", "margin:1px 0 0");
        check("margin:1px 2px;margin-left:3px", "margin:1px 2px 1px 3px");
        check("margin:1px 2px 3px;margin-bottom:1px", "margin:1px 2px");
        check("margin-top:1px;margin:0", "margin:0");
        check("margin:5px;margin:0 auto", "margin:0 auto");
        check("padding:10px;padding-bottom:3px", "padding:10px 10px 3px");
        check(
            "margin:0!important;margin-top:1px!important",
            "margin:1px 0 0!important",
        );
        check(
            "border-top-width:1px;border-right-width:0;border-bottom-width:1px;border-left-width:0",
            "border-width:1px 0",
        );
        check(
            "border-top-style:solid;border-right-style:none;border-bottom-style:solid;border-left-style:solid",
            "border-style:solid none solid solid",
        );
        check(
            "border-top-color:#fff;border-right-color:#fff;border-bottom-color:transparent;border-left-color:#fff",
            "border-color:#fff#fff transparent",
        );
        check(
            "border-top-left-radius:1px;border-top-right-radius:2px;border-bottom-right-radius:3px;border-bottom-left-radius:4px",
            "border-radius:1px 2px 3px 4px",
        );
        check(
            "border-radius:4px;border-top-left-radius:0",
            "border-radius:0 4px 4px",
        );
        check(
            "margin-top:1rem;margin-right:1rem;margin-bottom:1rem;margin-left:1rem",
            "margin:1rem",
        );
    }

    #[test]
    fn what_another_browser_may_read_differently_stays() {
        // Three sides.
        stays("margin-bottom:0;margin-right:0;margin-top:0");
        // Importance differs.
        stays("margin:0;margin-top:1px!important");
        stays("margin:0!important;margin-top:1px");
        // Not values, or not everywhere.
        stays("margin:0;margin-top:1");
        stays("padding:0;padding-top:-1px");
        stays("padding:0;padding-top:auto");
        stays("margin:0;margin-top:calc(1px + 1vw)");
        stays("margin:0;margin-top:1vw");
        stays("margin:0;margin-top:env(a)");
        stays("margin:0;margin-top:var(--a)");
        stays("margin:var(--a);margin-top:0");
        stays("margin:0;margin-top:inherit");
        stays("margin:0;margin-top:1px\\9");
        stays("margin:1px 2px 3px 4px 5px;margin-top:0");
        stays("border-radius:1px/2px;border-top-left-radius:0");
        stays("border-radius:1px;border-top-left-radius:0 1px");
        stays("border-radius:-1px;border-top-left-radius:0");
        stays("border-width:1%;border-top-width:0");
        stays("border-color:#ffff;border-top-color:#fff");
        stays("border-color:red;border-top-color:currentcolor");
        // A fallback.
        stays("margin:10px;margin:1rem");
        stays("margin:10px;margin-top:1rem");
        // A hack, a logical side, a prefix, a shorthand of something else in between.
        stays("*margin-left:2px;margin:0");
        stays("_margin:2px;margin:0");
        stays("margin:0;margin-inline-start:1px;margin-top:2px");
        stays("border-radius:0;-webkit-border-radius:1px;border-top-left-radius:2px");
        stays("border-width:1px;border-top:0;border-top-width:2px");
        stays("all:unset;margin:0;margin-top:1px");
    }
}
