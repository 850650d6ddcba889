//! Which types may be told as `charset=utf-8` without changing how any page reads.
//!
//! A header wins over what a page or sheet declares, so it is sent for an extension only where every file of it reads
//! the same with it: pages that declare UTF-8, sheets and scripts that are ASCII or UTF-8 beside such pages.

use std::collections::{BTreeMap, BTreeSet};

use encoding_rs::{Encoding, UTF_8, X_USER_DEFINED};

use super::media_type;
use crate::charset;
use crate::media;
use crate::parallel;
use crate::site::{FileId, Site};

/// How a file stands to UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reads {
    /// ASCII without a declaration: the same in any charset, but what it uses may take its charset from it.
    Ascii,
    Utf8,
    Otherwise,
}

/// The extensions (lower case) whose files are sent with the charset.
pub(super) fn utf8(site: &Site) -> BTreeSet<String> {
    let texts: Vec<(FileId, String)> = (0..site.files.len() as u32)
        .map(|id| (FileId(id), media::type_extension(&site.file(FileId(id)).path)))
        .filter(|(_, extension)| media_type::takes_charset(extension))
        .collect();
    let found = parallel::map(&texts, |(id, extension)| match site.read(*id) {
        Ok(bytes) => reads(&bytes, extension),
        Err(_) => Reads::Otherwise,
    });
    let mut worst: BTreeMap<&str, Reads> = BTreeMap::new();
    let mut most: BTreeMap<&str, Reads> = BTreeMap::new();
    for ((_, extension), reads) in texts.iter().zip(found) {
        let entry = worst.entry(extension).or_insert(Reads::Ascii);
        *entry = reads.max(*entry);
        let entry = most
            .entry(if is_page(extension) { "page" } else { "part" })
            .or_insert(Reads::Ascii);
        *entry = reads.max(*entry);
    }
    let pages = most.get("page").copied();
    let parts_are_ascii = most.get("part").is_none_or(|reads| *reads == Reads::Ascii);
    // Even ASCII reads differently in a page of UTF-16 that lends its charset.
    let utf_16 = pages_are(site, &texts, |encoding| encoding.is_none());
    // A page that declares nothing lends its charset to sheets and scripts; that only matters if they are not ASCII.
    let told = |extension: &str, reads: Reads| match reads {
        Reads::Otherwise => false,
        Reads::Ascii if is_page(extension) => parts_are_ascii,
        Reads::Utf8 if is_page(extension) => parts_are_ascii || !undeclared(site, &texts),
        Reads::Ascii => is_text(extension) || !utf_16,
        Reads::Utf8 => {
            is_text(extension) || pages.is_none_or(|reads| reads == Reads::Utf8) && !undeclared(site, &texts)
        }
    };
    worst
        .into_iter()
        .filter(|(extension, reads)| told(extension, *reads))
        .map(|(extension, _)| extension.to_string())
        .collect()
}

fn is_page(extension: &str) -> bool {
    media_type::PAGES.contains(&extension)
}

/// Whether no page uses files of this type as a part of itself.
fn is_text(extension: &str) -> bool {
    !matches!(extension, "css" | "js" | "mjs" | "cjs")
}

/// Whether some page declares nothing, and so lends windows-1252 to its sheets and scripts.
fn undeclared(site: &Site, texts: &[(FileId, String)]) -> bool {
    pages_are(site, texts, |encoding| encoding == Some(X_USER_DEFINED))
}

/// Whether the encoding of some page is such a one; `None` is UTF-16, `X_USER_DEFINED` none that it declares.
fn pages_are(
    site: &Site,
    texts: &[(FileId, String)],
    such: impl Fn(Option<&'static Encoding>) -> bool,
) -> bool {
    let pages = texts.iter().filter(|(_, extension)| is_page(extension));
    let encoding = |id: FileId| Some(charset::of_page(&site.read(id).ok()?, X_USER_DEFINED));
    pages.filter_map(|(id, _)| encoding(*id)).any(such)
}

fn reads(bytes: &[u8], extension: &str) -> Reads {
    if is_page(extension) {
        return match charset::of_page(bytes, X_USER_DEFINED) {
            Some(encoding) if encoding == UTF_8 => Reads::Utf8,
            // A form sends its text in the page's encoding, whatever the page's own bytes are.
            Some(encoding) if encoding == X_USER_DEFINED && bytes.is_ascii() && !has_form(bytes) => {
                Reads::Ascii
            }
            _ => Reads::Otherwise,
        };
    }
    if bytes.is_ascii() {
        return Reads::Ascii;
    }
    let declared = extension != "css" || charset::of_sheet(bytes, UTF_8) == Some(UTF_8);
    if declared && std::str::from_utf8(bytes).is_ok() {
        Reads::Utf8
    } else {
        Reads::Otherwise
    }
}

fn has_form(bytes: &[u8]) -> bool {
    bytes
        .windows(5)
        .any(|window| window.eq_ignore_ascii_case(b"<form"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn check(files: &[(&str, &[u8])], expected: &[&str]) {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            crate::disk::write_file(&dir.path().join(name), bytes).unwrap();
        }
        let (site, _) = crate::site::read(dir.path(), &Options::defaults()).unwrap();
        let found = utf8(&site);
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn told_only_where_nothing_reads_differently() {
        let utf8 = b"<meta charset=utf-8><p>\xC3\xA9";
        let latin = b"<meta charset=iso-8859-1><p>\xE9";
        check(&[("a.html", utf8), ("a.css", b"p{}")], &["css", "html"]);
        check(
            &[("a.html", utf8), ("a.css", b".a{content:'\xC3\xA9'}")],
            &["css", "html"],
        );
        // One page that is not UTF-8 and the header would break it; its ASCII sheet reads the same.
        check(
            &[("a.html", utf8), ("b.html", latin), ("a.css", b"p{}")],
            &["css"],
        );
        // The sheet takes windows-1252 from the page: a header would change what it shows.
        check(&[("b.html", latin), ("a.css", b".a{content:'\xC3\xA9'}")], &[]);
        check(&[("b.html", b"<p>x"), ("a.css", b".a{content:'\xC3\xA9'}")], &[]);
        check(&[("b.html", b"<p>x"), ("a.css", b"p{}")], &["css", "html"]);
        check(&[("b.html", b"<FORM>x")], &[]);
        check(
            &[("a.css", b"@charset \"iso-8859-1\";.a{content:'\xC3\xA9'}")],
            &[],
        );
        // Read as UTF-16 the sheet is none.
        check(
            &[
                ("a.html", utf8),
                ("b.html", b"\xFF\xFEx\0"),
                ("a.css", b"p{}"),
                ("a.txt", b"x"),
            ],
            &["txt"],
        );
        check(&[("a.txt", b"\xE9"), ("b.md", b"\xC3\xA9")], &["md"]);
    }
}
