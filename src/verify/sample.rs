//! Which pages are looked at: one of every template, chosen alike on every machine.
//!
//! Pages that have the same elements, classes, sheets and scripts came from the same template, however often each
//! occurs and whatever numbers stand in the names. SITE and OUT both count: a page that was changed in another way
//! than its neighbours is a template of its own. In: the bytes of both pages. Out: groups of indices.

use std::collections::{BTreeMap, BTreeSet};

use lol_html::{AsciiCompatibleEncoding, HtmlRewriter, Settings, element};

/// A page that is looked at, for itself and for others like it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) page: usize,
    /// Pages of the same template, itself among them.
    pub(super) stands_for: usize,
}

/// One page of every template: the entry page of its own, the first of any other. `max` keeps the templates that
/// most pages have, the entry page's first. In page order.
pub(super) fn choose(templates: &[[u8; 32]], entry: Option<usize>, max: Option<usize>) -> Vec<Sample> {
    let mut groups: BTreeMap<&[u8; 32], Vec<usize>> = BTreeMap::new();
    for (page, template) in templates.iter().enumerate() {
        groups.entry(template).or_default().push(page);
    }
    let mut samples: Vec<Sample> = groups
        .values()
        .map(|pages| Sample {
            page: entry.filter(|entry| pages.contains(entry)).unwrap_or(pages[0]),
            stands_for: pages.len(),
        })
        .collect();
    if let Some(max) = max {
        samples.sort_by_key(|sample| {
            (
                Some(sample.page) != entry,
                usize::MAX - sample.stands_for,
                sample.page,
            )
        });
        samples.truncate(max);
    }
    samples.sort_by_key(|sample| sample.page);
    samples
}

/// A hash of what the page is built of, before and after. `path` tells pages apart that cannot be read.
pub(super) fn template(before: &[u8], after: &[u8], path: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for page in [before, after] {
        let parts = parts(page);
        if parts.is_empty() {
            hasher.update(path);
        }
        for part in &parts {
            hasher.update(part.as_bytes());
            hasher.update(b"\0");
        }
        hasher.update(b"\xff");
    }
    *hasher.finalize().as_bytes()
}

/// The distinct elements of a page: name, classes, and what a sheet, script or image comes from.
fn parts(page: &[u8]) -> BTreeSet<String> {
    let mut parts = BTreeSet::new();
    let settings = Settings::new()
        .with_encoding(AsciiCompatibleEncoding::utf_8())
        .with_strict(false)
        .append_element_content_handler(element!("*", |element| {
            let mut part = element.tag_name();
            let classes = element.get_attribute("class").unwrap_or_default();
            let classes: BTreeSet<String> = classes.split_ascii_whitespace().map(unnumbered).collect();
            for class in &classes {
                part.push('.');
                part.push_str(class);
            }
            if element.has_attribute("style") {
                part.push_str("[style]");
            }
            for name in ["src", "href", "data"] {
                let Some(value) = element.get_attribute(name) else {
                    continue;
                };
                let scheme = value
                    .get(..5)
                    .is_some_and(|start| start.eq_ignore_ascii_case("data:"));
                if scheme {
                    part.push_str("[data:]");
                } else if matches!(part.as_bytes(), [b'l', b'i', b'n', b'k', ..])
                    || part.starts_with("script")
                {
                    // The folder differs with the depth of the page.
                    let file = value.rsplit('/').next().unwrap_or_default();
                    part.push_str(&format!("[{}]", unnumbered(file)));
                }
            }
            parts.insert(part);
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    // What the parser gives up on has the elements that were read so far.
    let _ = rewriter.write(page).and_then(|()| rewriter.end());
    parts
}

/// Runs of digits become one sign: `post-17` and `post-4` are one class.
fn unnumbered(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, other: &str) -> bool {
        template(one.as_bytes(), b"<p>", b"a") == template(other.as_bytes(), b"<p>", b"b")
    }

    #[test]
    fn pages_of_a_template_may_differ_in_text_numbers_and_depth() {
        let page = |depth: &str, posts: &str| {
            format!("<link rel=stylesheet href='{depth}main.css'><ul>{posts}</ul><img src='{posts}.png'>")
        };
        let short = page("", "<li class='post post-1'>a</li>");
        let long = page(
            "../",
            "<li class='post-27 post'>b</li><li class='post post-3'>c</li>",
        );
        assert!(same(&short, &long));
        assert!(!same(&short, &page("", "<li class='post draft'>a</li>")));
        assert!(!same(&short, &short.replace("main", "other")));
        assert!(!same("<img src=a.png>", "<img src=data:image/png;base64,AA>"));
    }

    #[test]
    fn pages_without_elements_are_told_apart() {
        assert_ne!(template(b"", b"", b"a"), template(b"", b"", b"b"));
        assert_ne!(template(b"<p>", b"<p>", b"a"), template(b"<p>", b"<p><b>", b"a"));
    }

    #[test]
    fn the_entry_page_stands_for_its_template_and_comes_before_all_others() {
        let [a, b, c] = [[1; 32], [2; 32], [3; 32]];
        let templates = [a, b, b, c, c, c];
        let chosen = |entry, max| -> Vec<(usize, usize)> {
            let samples = choose(&templates, entry, max).into_iter();
            samples.map(|sample| (sample.page, sample.stands_for)).collect()
        };
        assert_eq!(chosen(Some(2), None), [(0, 1), (2, 2), (3, 3)]);
        assert_eq!(chosen(None, Some(2)), [(1, 2), (3, 3)]);
        assert_eq!(chosen(Some(0), Some(2)), [(0, 1), (3, 3)]);
        assert_eq!(chosen(None, Some(0)), []);
    }
}
