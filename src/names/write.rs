//! What the names mean for the bytes of a page: addresses, `integrity`, and the `Link` headers that go with it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::order::suffix;
use super::page::{follows, loads_module, rel};
use super::pins::Pins;
use super::{Ground, Names};
use crate::edit::{self, Edit};
use crate::graph::{self, Graph};
use crate::html::{self, Kind, Tag};
use crate::integrity;
use crate::media::Media;
use crate::parallel;
use crate::relink::{self, Reader};
use crate::site::{FileId, Site, SitePath};
use crate::url;

/// A page under the new names.
pub(crate) struct Written {
    pub(crate) bytes: Vec<u8>,
    /// The newest time of what its new names stand for.
    pub(crate) modified: SystemTime,
}

impl Names {
    /// `None` where the page stays as it is.
    pub(crate) fn page(&self, site: &Site, graph: &Graph, page: u32, bytes: &[u8]) -> Option<Written> {
        if !self.pages.contains(&page) {
            return None;
        }
        let reader = Reader::new(site, graph, page, bytes);
        let changes = reader.changes(&mut |found| {
            let new = || self.reference(site, found.raw, found.file);
            follows(found).then(new).flatten()
        });
        let mut modified = SystemTime::UNIX_EPOCH;
        let mut note = |file: FileId| {
            let time = self.named.get(&file).map(|named| named.modified);
            modified = modified.max(time.unwrap_or(SystemTime::UNIX_EPOCH));
        };
        changes
            .iter()
            .flat_map(|change| &change.files)
            .for_each(|&file| note(file));
        let mut edits: Vec<Edit> = changes.into_iter().map(|change| change.edit).collect();
        for tag in reader.scan.tags.iter().filter(|tag| graph::is_live(tag)) {
            if let Some((sealed, file)) = self.seal(site, &reader, tag) {
                edits.extend(sealed);
                note(file);
            }
        }
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let bytes = edit::splice(bytes, &edits);
        (!edits.is_empty()).then_some(Written { bytes, modified })
    }

    fn reference(&self, site: &Site, raw: &str, file: FileId) -> Option<String> {
        let path = self.path(site, file);
        if let Some(host) = self.host.as_ref().filter(|_| self.away.contains(&file)) {
            return Some(format!("{}{}", url::on_host(host, path), suffix(raw)));
        }
        (*path != site.file(file).path).then(|| relink::renamed(raw, &url::name(path)))
    }

    /// The `integrity` of an element: that of the bytes that it gets now, or a new one.
    fn seal(&self, site: &Site, reader: &Reader<'_>, tag: &Tag) -> Option<(Vec<Edit>, FileId)> {
        if !is_sealable(tag) || tag.get("data-fewer").is_some() {
            return None;
        }
        let name = if tag.name == "link" { "href" } else { "src" };
        let address = tag.attributes.iter().find(|a| a.name == name)?;
        let (file, _) = reader.file(&address.value)?;
        let media = site.file(file).media;
        if !matches!(media, Media::Css | Media::Script) {
            return None;
        }
        let span = address.span.clone()?;
        let end = span.end + usize::from(address.quote.is_some());
        let old = tag.attributes.iter().find(|a| a.name == "integrity");
        let added = match (old, self.seals.get(&file)) {
            (None, Some(seal)) => format!(" integrity=\"{seal}\""),
            _ => String::new(),
        };
        let is_sealed = old.is_some() || !added.is_empty();
        let needs_cors = is_sealed && self.away.contains(&file) && !loads_module(tag);
        let crossorigin = match needs_cors && tag.get("crossorigin").is_none() {
            true => " crossorigin=\"anonymous\"",
            false => "",
        };
        let mut edits = Vec::new();
        if !added.is_empty() || !crossorigin.is_empty() {
            edits.push(Edit {
                span: end..end,
                with: format!("{added}{crossorigin}").into_bytes(),
            });
        }
        if let Some(old) = old
            && let Some(span) = old.span.clone()
            && let Some(new) = self
                .bytes(file)
                .and_then(|bytes| integrity::renew(&old.value, bytes))
        {
            let quote = if old.quote.is_some() { "" } else { "\"" };
            let with = format!("{quote}{new}{quote}").into_bytes();
            edits.push(Edit { span, with });
        }
        Some((edits, file))
    }

    /// What a file says under its new name or in its place, where that is something new.
    fn bytes(&self, file: FileId) -> Option<&Arc<[u8]>> {
        let named = self.named.get(&file).and_then(|named| named.bytes.as_ref());
        named.or_else(|| self.in_place.get(&file))
    }
}

/// An element whose file browsers check: a stylesheet, a script, or a preload of one.
fn is_sealable(tag: &Tag) -> bool {
    if tag.within.foreign {
        return false;
    }
    match tag.name.as_str() {
        "script" => html::script_kind(tag) == Some(Kind::Script) && tag.get("src").is_some(),
        "link" => {
            let purpose = tag.get("as").unwrap_or_default().trim().to_ascii_lowercase();
            graph::names_stylesheet(tag)
                || rel(tag, "modulepreload")
                || rel(tag, "preload") && matches!(purpose.as_str(), "style" | "script")
        }
        _ => false,
    }
}

/// `--sri`: the seals of the stylesheets and scripts that pages ask for, of the bytes that they end up with.
pub(super) fn seals(
    ground: Ground<'_>,
    pins: &Pins,
    names: &Names,
) -> anyhow::Result<BTreeMap<FileId, String>> {
    let (site, graph) = (ground.site, ground.graph);
    let may = |file: &FileId| {
        let entry = site.file(*file);
        matches!(entry.media, Media::Css | Media::Script)
            && entry.editable
            && !pins.unsealed.contains(file)
            && (!names.away.contains(file) || names.cors)
    };
    let files: Vec<FileId> = pins.anything.iter().copied().filter(may).collect();
    let sealed = parallel::map(&files, |&file| {
        if let Some(bytes) = names.bytes(file) {
            return anyhow::Ok(integrity::seal(bytes));
        }
        let change = graph.sheet_of(file).and_then(|key| ground.plan.sheets.get(&key));
        Ok(match change {
            Some(change) => integrity::seal(&change.bytes),
            None => integrity::seal(&site.read(file)?),
        })
    });
    files
        .into_iter()
        .zip(sealed)
        .map(|(file, seal)| Ok((file, seal?)))
        .collect()
}

/// `--link-headers`: by page, a header for each stylesheet that rendering waits for.
pub(super) fn link_headers(
    ground: Ground<'_>,
    pins: &Pins,
    names: &Names,
) -> BTreeMap<SitePath, Vec<String>> {
    let (site, graph) = (ground.site, ground.graph);
    let mut links = BTreeMap::new();
    for (&page, sheets) in &pins.critical {
        let header = |(file, raw): &(FileId, String)| {
            let path = names.path(site, *file);
            let query = suffix(raw).split('#').next().unwrap_or_default();
            let is_away = names.away.contains(file);
            let root = match names.host.as_ref().filter(|_| is_away) {
                Some(host) => url::on_host(host, path),
                None => url::absolute(&graph.mount, path),
            };
            let mut header = format!("<{root}{}>; rel=preload; as=style", encoded(query));
            if let Some(seal) = names.seals.get(file) {
                header.push_str(&format!("; integrity=\"{seal}\""));
                if is_away {
                    header.push_str("; crossorigin=anonymous");
                }
            }
            header
        };
        let path = site.file(graph.pages[page as usize].file).path.clone();
        links.insert(path, sheets.iter().map(header).collect());
    }
    links
}

/// A query as a header can say it: no bracket ends the address, no line the header.
fn encoded(query: &str) -> String {
    let mut out = String::with_capacity(query.len());
    for byte in query.bytes() {
        match byte {
            b'<' | b'>' | b'"' | b' ' | 0..0x20 | 0x7f.. => out.push_str(&format!("%{byte:02X}")),
            _ => out.push(char::from(byte)),
        }
    }
    out
}
