//! The policy that a built site needs, page by page, in the format of `_headers` (`--write-policy`).
//!
//! In: OUT as it was read again. Out: text with a `Content-Security-Policy` for each page: its own host, the hosts that
//! its markup and stylesheets name, `data:` where they have it, and hashes of the inline elements. What scripts load by
//! themselves is outside our sight, as are `javascript:` links.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::css;
use crate::graph::{self, Graph};
use crate::html::{self, Kind};
use crate::media::Media;
use crate::parallel;
use crate::site::{Site, SitePath};
use crate::url::{self, Base, Mount, Target};
use crate::{charset, relink, view};

/// Style attributes are named by `style-src-attr`, since a hash for each would make headers long.
const DIRECTIVES: [&str; 5] = ["style-src", "script-src", "img-src", "font-src", "media-src"];

/// One rule for all pages where they need the same, else a rule for each. `mount` knows of no other host, whatever
/// that serves.
pub(crate) fn needed(site: &Site, graph: &Graph, mount: &Mount) -> anyhow::Result<String> {
    let sheets: Vec<u32> = (0..graph.sheets.len() as u32).collect();
    let in_sheets: Vec<Sources> = parallel::map(&sheets, |&key| of_sheet(site, graph, mount, key));
    let pages: Vec<u32> = (0..graph.pages.len() as u32).collect();
    let policies = parallel::map(&pages, |&page| of_page(site, graph, mount, &in_sheets, page));
    let mut rules: BTreeMap<SitePath, String> = BTreeMap::new();
    for (page, policy) in pages.into_iter().zip(policies) {
        let path = site.file(graph.pages[page as usize].file).path.clone();
        rules.insert(path, policy?);
    }
    let kinds: BTreeSet<&String> = rules.values().collect();
    let mut out = String::new();
    if let (1, Some(policy)) = (kinds.len(), rules.values().next()) {
        out.push_str(&format!(
            "{}*\n  Content-Security-Policy: {policy}\n",
            mount.path()
        ));
        return Ok(out);
    }
    for (path, policy) in &rules {
        let address = url::address(mount, path);
        out.push_str(&format!("{address}\n  Content-Security-Policy: {policy}\n"));
        // Hosts that ask by the request's own path must find the rule under both.
        let whole = url::absolute(mount, path);
        if whole != address {
            out.push_str(&format!("{whole}\n  Content-Security-Policy: {policy}\n"));
        }
    }
    Ok(out)
}

/// By directive: sources beside the own host.
type Sources = [BTreeSet<String>; 5];

fn of_page(
    site: &Site,
    graph: &Graph,
    mount: &Mount,
    sheets: &[Sources],
    page: u32,
) -> anyhow::Result<String> {
    let facts = &graph.pages[page as usize];
    let bytes = site.read(facts.file)?;
    let file = site.file(facts.file);
    let encoding = facts.encoding.unwrap_or(encoding_rs::UTF_8);
    let mut sources = Sources::default();
    let own = url::base(mount, &file.path);
    let document = match file.media {
        Media::Xhtml => view::parse_xml(&bytes, charset::of_xml(&bytes).unwrap_or(encoding_rs::UTF_8)),
        _ => view::parse(&bytes, encoding),
    };
    let inline = view::inline(&document);
    let mut has_scripts = !inline.scripts.is_empty() || !inline.handlers.is_empty();
    if file.media != Media::Xhtml {
        let scan = html::scan(&bytes, encoding);
        let base = graph::document_base(&own, &scan);
        for tag in scan.tags.iter().filter(|tag| !tag.within.template) {
            for reference in html::references(tag) {
                if let Some(directive) = directive(reference.kind) {
                    has_scripts |= directive == 1;
                    note(site, mount, &base, &reference.url, directive, &mut sources);
                }
            }
            if let Some(style) = tag.get("style") {
                of_css(site, mount, &base, &css::scan(style, true), &mut sources);
            }
        }
        for text in &inline.styles {
            of_css(site, mount, &base, &css::scan(text, false), &mut sources);
        }
    }
    for &key in &*facts.sheets {
        for (all, some) in sources.iter_mut().zip(&sheets[key as usize]) {
            all.extend(some.iter().cloned());
        }
    }
    sources[0].extend(inline.styles.iter().map(|text| hash(text)));
    sources[1].extend(inline.scripts.iter().map(|text| hash(text)));
    let mut lists: Vec<String> = Vec::new();
    for (index, (name, sources)) in DIRECTIVES.iter().zip(&sources).enumerate() {
        if index == 1 && !has_scripts {
            lists.push("script-src 'none'".to_owned());
            continue;
        }
        let all: Vec<&str> = std::iter::once("'self'")
            .chain(sources.iter().map(String::as_str))
            .collect();
        lists.push(format!("{name} {}", all.join(" ")));
    }
    if inline.style_attributes {
        lists.push("style-src-attr 'unsafe-inline'".to_owned());
    }
    let handlers: BTreeSet<String> = inline.handlers.iter().map(|text| hash(text)).collect();
    if !handlers.is_empty() {
        let hashes: Vec<&str> = handlers.iter().map(String::as_str).collect();
        lists.push(format!("script-src-attr 'unsafe-hashes' {}", hashes.join(" ")));
    }
    Ok(lists.join("; "))
}

fn of_sheet(site: &Site, graph: &Graph, mount: &Mount, key: u32) -> Sources {
    let sheet = &graph.sheets[key as usize];
    let mut sources = Sources::default();
    of_css(site, mount, &sheet.base, &sheet.scan, &mut sources);
    sources
}

fn of_css(site: &Site, mount: &Mount, base: &Base, scan: &css::Scan, sources: &mut Sources) {
    for found in scan.urls.iter().filter(|found| found.place != css::Place::Other) {
        if let Some(directive) = directive(relink::kind_of(&found.place)) {
            note(site, mount, base, &found.value, directive, sources);
        }
    }
}

/// The place in `DIRECTIVES`.
fn directive(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Stylesheet => Some(0),
        Kind::Script => Some(1),
        Kind::Image | Kind::Icon | Kind::SvgImage | Kind::SvgUse => Some(2),
        Kind::Font => Some(3),
        Kind::Media => Some(4),
        _ => None,
    }
}

/// The origin of an address elsewhere, or `data:`.
fn note(site: &Site, mount: &Mount, base: &Base, raw: &str, directive: usize, sources: &mut Sources) {
    if raw
        .trim_start()
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case("data:"))
    {
        sources[directive].insert("data:".to_owned());
        return;
    }
    if let Target::External(whole) = url::resolve(site, mount, base, raw)
        && let Some((scheme, rest)) = whole.split_once("://")
    {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        sources[directive].insert(format!("{scheme}://{host}"));
    }
}

/// CSP3, section 6.7.2.4: of the text in UTF-8.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}
