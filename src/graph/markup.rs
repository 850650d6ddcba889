//! What of a page's markup counts, and what its references resolve against.

use std::collections::HashSet;

use crate::html::{self, Scan, Tag};
use crate::url::{self, Base};

/// What the references of a page resolve against.
///
/// A `base` element counts for what comes after it; a sheet or script before it was asked for by then (HTML standard,
/// "fetch and process the linked resource" runs when the element is inserted). Such pages are counted, not edited.
pub(super) struct Bases {
    pub(super) document: Base,
    own: Base,
    /// References, as written, that stand before a `base` element and not also behind it.
    pub(super) early: HashSet<String>,
}

impl Bases {
    pub(super) fn new(own: Base, scan: &Scan) -> Bases {
        let document = document_base(&own, scan);
        let is_base = |t: &&Tag| t.name == "base" && is_live(t) && t.get("href").is_some();
        let mut early = HashSet::new();
        if let Some(at) = scan.tags.iter().position(|t| is_base(&t)) {
            let urls = |tags: &[Tag]| -> HashSet<String> {
                tags.iter()
                    .filter(|t| is_live(t))
                    .flat_map(html::references)
                    .map(|r| r.url)
                    .collect()
            };
            let late = urls(&scan.tags[at + 1..]);
            early = urls(&scan.tags[..at])
                .into_iter()
                .filter(|url| !late.contains(url))
                .collect();
        }
        Bases { document, own, early }
    }

    pub(super) fn of(&self, raw: &str) -> &Base {
        if self.early.contains(raw) {
            &self.own
        } else {
            &self.document
        }
    }
}

/// The document base: the first `base` element with an `href` in the tree decides, also for what stands before it.
pub(crate) fn document_base(own: &Base, scan: &Scan) -> Base {
    let found = scan
        .tags
        .iter()
        .find(|t| t.name == "base" && is_live(t) && t.get("href").is_some());
    match found.and_then(|t| t.get("href")) {
        Some(href) => url::with_base_element(own, href),
        None => own.clone(),
    }
}

/// Part of the document as a browser with scripting builds it.
pub(crate) fn is_live(tag: &Tag) -> bool {
    !tag.within.noscript && !tag.within.template && !tag.within.srcdoc
}

/// A `style` element that browsers read as CSS.
pub(crate) fn is_css(tag: &Tag) -> bool {
    tag.name == "style"
        && tag.get("type").is_none_or(|t| {
            let t = t.trim_matches(|c: char| c.is_ascii_whitespace());
            t.is_empty() || t.eq_ignore_ascii_case("text/css")
        })
}

/// A `link` whose `rel` says `stylesheet`, alternate and titled ones too.
pub(crate) fn names_stylesheet(tag: &Tag) -> bool {
    let is_stylesheet = |rel: &str| {
        rel.split_ascii_whitespace()
            .any(|word| word.eq_ignore_ascii_case("stylesheet"))
    };
    tag.name == "link" && !tag.within.foreign && tag.get("rel").is_some_and(is_stylesheet)
}

/// The `style` elements of the scan that `view::style_elements` also counts, in the same order.
pub(crate) fn style_tags(scan: &Scan) -> impl Iterator<Item = &Tag> {
    scan.tags
        .iter()
        .filter(|t| is_css(t) && is_live(t) && t.content.is_some())
}
