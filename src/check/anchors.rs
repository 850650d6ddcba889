//! Places in pages that links lead to: `page.html#place`.
//!
//! A site may have millions of both, so they are kept as hashes of 32 bits: two that agree by chance hide a finding
//! and never make one.

use crate::diagnostic::{Code, Diagnostic};
use crate::graph::Graph;
use crate::html::{self, Scan};
use crate::parallel;
use crate::site::Site;

/// The places of one page, sorted.
#[derive(Debug)]
pub(super) struct Anchors(Option<Box<[u32]>>);

/// A place that a link leads to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    page: u32,
    /// Of the fragment as written, and with its escapes decoded: either may be the id (HTML standard, 7.4.6.4).
    hashes: [u32; 2],
    /// Of the attribute.
    at: u32,
}

impl Anchors {
    /// Of a page that is not read: any place may be there.
    pub(super) fn unknown() -> Anchors {
        Anchors(None)
    }

    pub(super) fn of(scan: &Scan) -> Anchors {
        let ids = scan.ids.iter().map(|id| hash(id.value.as_bytes()));
        let names = scan
            .tags
            .iter()
            .filter(|tag| tag.name == "a" && !tag.within.foreign);
        let names = names.filter_map(|tag| Some(hash(tag.get("name")?.as_bytes())));
        let mut all: Vec<u32> = ids.chain(names).collect();
        all.sort_unstable();
        all.dedup();
        Anchors(Some(all.into()))
    }

    fn has(&self, wanted: &Wanted) -> bool {
        let found = |hashes: &[u32]| {
            wanted
                .hashes
                .iter()
                .any(|hash| hashes.binary_search(hash).is_ok())
        };
        self.0.as_deref().is_none_or(found)
    }
}

/// `None` for what is no place: the top, what scripts route by (`#!/x`, `#/x`), a search for text, and `#0`, which is
/// written for "nowhere".
pub(super) fn wanted(page: u32, fragment: &str, at: usize) -> Option<Wanted> {
    let place = fragment.split(":~:").next().unwrap_or_default();
    if place.is_empty()
        || place == "0"
        || place.eq_ignore_ascii_case("top")
        || place.starts_with(['!', '/', '?'])
    {
        return None;
    }
    Some(Wanted {
        page,
        hashes: [hash(place.as_bytes()), hash(&decoded(place))],
        at: u32::try_from(at).ok()?,
    })
}

/// What is wanted and not there. Pages that want such a place are read once more, for the words.
pub(super) fn missing(
    site: &Site,
    graph: &Graph,
    anchors: &[Anchors],
    wanted: &[Box<[Wanted]>],
) -> anyhow::Result<Vec<Diagnostic>> {
    let pages: Vec<(usize, Vec<&Wanted>)> = wanted
        .iter()
        .enumerate()
        .map(|(page, wanted)| {
            let lost = wanted
                .iter()
                .filter(|wanted| !anchors[wanted.page as usize].has(wanted));
            (page, lost.collect::<Vec<_>>())
        })
        .filter(|(_, lost)| !lost.is_empty())
        .collect();
    let told = parallel::map(&pages, |(page, lost)| {
        let facts = &graph.pages[*page];
        let path = &site.file(facts.file).path;
        let bytes = site.read(facts.file)?;
        let Some(encoding) = facts.encoding else {
            return anyhow::Ok(Vec::new());
        };
        let scan = html::scan(&bytes, encoding);
        let mut found = Vec::new();
        for tag in &scan.tags {
            let Some(href) = tag.attributes.iter().find(|a| a.name == "href") else {
                continue;
            };
            let at = href.span.as_ref().map_or(tag.span.start, |span| span.start);
            let Ok(nth) = lost.binary_search_by_key(&at, |wanted| wanted.at as usize) else {
                continue;
            };
            let target = &site.file(graph.pages[lost[nth].page as usize].file).path;
            let fragment = href
                .value
                .split_once('#')
                .map_or("", |(_, fragment)| fragment.trim());
            let message = format!("{target} has no place {}", super::quoted(&format!("#{fragment}")));
            found.push((at, Code::MissingAnchor, message));
        }
        found.truncate(MOST);
        Ok(super::sheets::locate(path, &bytes, found))
    });
    Ok(told.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat())
}

/// Findings on one page: more are not read.
const MOST: usize = 100;

/// Bytes of `%41`; anything else as it stands.
fn decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|b| char::from(*b).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// FNV-1a, folded.
fn hash(bytes: &[u8]) -> u32 {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash ^ hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let scan = html::scan_ids(
            "<p id=a><a name='b c'><svg><g id='\u{e9}'/></svg><noscript><p id=n></noscript><template><p id=t></template><p id='x%20y'>"
                .as_bytes(),
            encoding_rs::UTF_8,
        );
        let anchors = Anchors::of(&scan);
        let check = |fragment: &str, expected: Option<bool>| {
            let found = wanted(0, fragment, 0).map(|wanted| anchors.has(&wanted));
            assert_eq!(found, expected, "{fragment}");
        };
        check("a", Some(true));
        check("A", Some(false));
        check("b%20c", Some(true));
        check("%C3%A9", Some(true));
        check("n", Some(true));
        check("t", Some(true));
        check("x%20y", Some(true));
        check("x%2520y", Some(true));
        check("z", Some(false));
        check("a:~:text=b", Some(true));
        check(":~:text=b", None);
        check("", None);
        check("Top", None);
        check("0", None);
        check("!", None);
        check("/route", None);
    }
}
