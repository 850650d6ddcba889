//! Names of calls and words of selectors that tell what a script looks up.

/// `text` has `word` where a selector would have the name of an element: not as part of a longer word, a class,
/// an id, an attribute or a value.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len().saturating_sub(word.len() - 1)).any(|at| {
        let end = at + word.len();
        let before = at.checked_sub(1).map(|i| bytes[i]);
        bytes[at..end].eq_ignore_ascii_case(word.as_bytes())
            && !before.is_some_and(|b| is_name(b) || b".#:[='\"/".contains(&b))
            && !bytes.get(end).is_some_and(|b| is_name(*b) || *b == b'=')
    })
}

/// `text` has the ending of a file's name.
pub(super) fn has_ending(text: &str, ending: &str) -> bool {
    let name = |at: usize| text.as_bytes().get(at).is_some_and(|b| is_name(*b) || *b == b'(');
    text.match_indices(ending).any(|(at, _)| !name(at + ending.len()))
}

/// The names before every `ending` in `text`, without folders, with the ending; empty where the name comes from
/// elsewhere (`".css"`, or a name that begins in the middle of a text).
pub(super) fn file_names(text: &str, ending: &str) -> Vec<String> {
    let name = |(at, _): (usize, &str)| {
        let start = text[..at]
            .rfind(|c: char| c.is_ascii_whitespace() || "/\\\"'(=,;".contains(c))
            .map_or(0, |i| i + 1);
        let name = &text[start..at];
        if name.is_empty() {
            String::new()
        } else {
            format!("{name}{ending}")
        }
    };
    text.match_indices(ending).map(name).collect()
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | 0x80..)
}

/// Every `[name` of `text` in lower case: what stands before it, and what comes behind it.
fn attribute_tests<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let open = text
        .match_indices('[')
        .map(|(at, _)| (&text[..at], &text[at + 1..]));
    open.filter_map(move |(before, rest)| Some((before, rest.strip_prefix(name)?)))
}

/// An element, class or other condition stands before a test.
fn is_named(before: &str) -> bool {
    before.ends_with(|c: char| c.is_ascii_alphanumeric() || "-_])".contains(c))
}

/// `text` selects by a `src`, and not that of scripts or frames alone.
pub(super) fn selects_by_source(text: &str) -> bool {
    attribute_tests(text, "src")
        .any(|(before, _)| !["script", "iframe"].iter().any(|name| before.ends_with(name)))
}

/// The same where a script may be selected: the selector names no element, and the value no picture.
pub(super) fn selects_scripts_by_source(text: &str) -> bool {
    const PICTURES: [&str; 8] = ["png", "gif", "jpg", "jpeg", "svg", "webp", "avif", "ico"];
    let text = text.to_ascii_lowercase();
    attribute_tests(&text, "src").any(|(before, rest)| {
        let test = rest.split(']').next().unwrap_or_default();
        !is_named(before) && !PICTURES.iter().any(|kind| test.contains(kind))
    })
}

/// `text` selects by an attribute of stylesheet links alone: `[media]`, `[rel=stylesheet]`, `[href$=".css"]`.
pub(super) fn selects_by_link(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["media", "rel", "href"].iter().any(|name| {
        attribute_tests(&text, name).any(|(before, rest)| {
            let rest = rest.trim_start_matches([' ', '~', '|', '^', '$', '*']);
            let value = rest
                .strip_prefix('=')
                .map(|value| value.trim_start_matches([' ', '"', '\'']));
            let is_other = value.is_some_and(|value| match *name {
                "rel" => value.starts_with(|c: char| c.is_ascii_alphabetic()) && !value.contains("sheet"),
                // What a script puts together (`'[href="' + id + '"]'`, as Bootstrap does) is an anchor's.
                "href" => !value.contains("css"),
                _ => false,
            });
            !is_named(before) && !is_other && rest.starts_with(['=', ']'])
        })
    })
}

/// `text` looks for links, but for other ones than sheets: `link[rel=next]`.
pub(super) fn is_other_link(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let others = text.split("link[rel=").skip(1).filter(|rest| {
        // Something must be said: the rest may come from a variable.
        rest.trim_start_matches(['\'', '"'])
            .starts_with(|c: char| c.is_ascii_alphabetic())
    });
    !text.contains("sheet") && text.matches("link").count() == others.count()
}

/// Every compound of `text` begins as one of a selector does. One word alone may be anything.
pub(super) fn is_selector(text: &str) -> bool {
    let mut compounds = text
        .split([' ', ',', '>', '+', '~'])
        .filter(|c| !c.is_empty())
        .peekable();
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric());
    !plain
        && compounds.peek().is_some()
        && compounds.all(|compound| {
            let name = compound
                .split(['.', '#', '[', ':', '*', ']'])
                .next()
                .unwrap_or("");
            name.is_empty() || TAGS.binary_search(&name).is_ok()
        })
}

/// Calls that find elements by a selector or a name.
pub(super) fn is_lookup(name: &str) -> bool {
    LOOKUPS.binary_search(&name).is_ok()
}

/// Calls that take words and find nothing.
pub(super) fn is_harmless(name: &str) -> bool {
    name.starts_with("create") || HARMLESS.binary_search(&name).is_ok()
}

/// Calls that read or set an attribute of elements.
pub(super) fn is_attribute_call(name: &str) -> bool {
    ATTRIBUTE_CALLS.binary_search(&name).is_ok()
}

/// Calls of a jQuery object that return it.
pub(super) fn is_chained(name: &str) -> bool {
    matches!(
        name,
        "addClass"
            | "append"
            | "appendTo"
            | "attr"
            | "css"
            | "data"
            | "height"
            | "html"
            | "on"
            | "prop"
            | "text"
            | "width"
    )
}

pub(super) fn is_source(name: &str) -> bool {
    name.eq_ignore_ascii_case("src") || name.eq_ignore_ascii_case("srcset")
}

pub(super) fn is_document(name: &str) -> bool {
    matches!(
        name,
        "document" | "ownerDocument" | "contentDocument" | "doc" | "_document" | "$document"
    )
}

/// A variable or property that seems to hold an image element.
pub(super) fn names_an_image(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    names_only_an_image(name)
        || ["target", "element", "elem"]
            .iter()
            .any(|word| lower.contains(word))
        || matches!(lower.as_str(), "el" | "ele" | "$el")
}

/// A name that scripts which know nothing of each other give to elements.
pub(super) fn is_common(name: &str) -> bool {
    let plain = name.trim_matches(['$', '_']);
    matches!(
        plain.to_ascii_lowercase().as_str(),
        "img"
            | "image"
            | "pic"
            | "picture"
            | "photo"
            | "thumb"
            | "el"
            | "ele"
            | "elem"
            | "element"
            | "target"
            | "node"
    )
}

/// A variable or property that seems to hold an image element and no other.
pub(super) fn names_only_an_image(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["img", "image", "pic", "thumb", "photo"]
        .iter()
        .any(|word| name.contains(word))
}

const LOOKUPS: &[&str] = &[
    "$",
    "$$",
    "add",
    "children",
    "closest",
    "delegate",
    "die",
    "evaluate",
    "filter",
    "find",
    "findAll",
    "first",
    "getElements",
    "getElementsByTagName",
    "getElementsByTagNameNS",
    "has",
    "is",
    "jQuery",
    "live",
    "matches",
    "matchesSelector",
    "mozMatchesSelector",
    "msMatchesSelector",
    "next",
    "nextAll",
    "nextUntil",
    "not",
    "on",
    "one",
    "parent",
    "parents",
    "parentsUntil",
    "prev",
    "prevAll",
    "prevUntil",
    "query",
    "queryAll",
    "querySelector",
    "querySelectorAll",
    "select",
    "selectAll",
    "siblings",
    "undelegate",
    "webkitMatchesSelector",
];

const HARMLESS: &[&str] = &[
    "Error",
    "RegExp",
    "String",
    "Symbol",
    "TypeError",
    "_",
    "addEventListener",
    "alert",
    "confirm",
    "decodeURIComponent",
    "define",
    "encodeURIComponent",
    "escape",
    "eval",
    "fetch",
    "getComputedStyle",
    "gettext",
    "parseInt",
    "removeEventListener",
    "require",
    "setTimeout",
    "unescape",
];

const ATTRIBUTE_CALLS: &[&str] = &[
    "attr",
    "getAttribute",
    "getAttributeNS",
    "getAttributeNode",
    "hasAttribute",
    "prop",
    "removeAttr",
    "removeAttribute",
    "setAttribute",
    "setAttributeNS",
];

/// Names of elements that selectors use.
const TAGS: &[&str] = &[
    "a", "article", "aside", "audio", "body", "button", "canvas", "dd", "div", "dl", "dt", "fieldset",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "html", "iframe",
    "image", "img", "input", "label", "li", "link", "main", "nav", "object", "ol", "p", "picture", "pre",
    "script", "section", "select", "source", "span", "style", "svg", "table", "tbody", "td", "textarea",
    "th", "thead", "tr", "ul", "use", "video",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for table in [LOOKUPS, HARMLESS, ATTRIBUTE_CALLS, TAGS] {
            assert!(table.is_sorted(), "{table:?}");
        }
    }

    #[test]
    fn words_of_selectors() {
        let check = |text: &str, expected: bool| assert_eq!(has_word(text, "img"), expected, "{text}");
        check("img", true);
        check("a>IMG.b", true);
        check("a img:first", true);
        check(".img", false);
        check("#img", false);
        check("[img]", false);
        check("imgs", false);
        check("a-img", false);
        check("img-a", false);
        check("a='img'", false);
        check("im", false);
        check("", false);
    }
}
