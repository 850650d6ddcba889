//! Files beside one another: equal bytes under several addresses, and variants that are of another file.
//!
//! In: the site and what its pages request. Out: findings. Files are read once, and only where another has the same
//! size.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic};
use crate::graph::{self, Destination, Graph};
use crate::media::Media;
use crate::parallel;
use crate::site::{FileId, Site};
use crate::variants;

/// Addresses that pages request and that answer with the same bytes.
pub(super) fn duplicates(site: &Site, graph: &Graph) -> anyhow::Result<Vec<Diagnostic>> {
    let mut by_size: BTreeMap<u64, BTreeMap<FileId, Vec<&str>>> = BTreeMap::new();
    // Icons are requested by the browser itself, once.
    let mut requested = vec![false; graph.addresses.len()];
    for request in graph.pages.iter().flat_map(|page| &*page.requests) {
        requested[request.address as usize] = true;
    }
    for (address, _) in graph
        .addresses
        .iter()
        .zip(requested)
        .filter(|(_, requested)| *requested)
    {
        let Destination::File(id) = address.to else {
            continue;
        };
        let file = site.file(id);
        if file.size > 0 && !matches!(file.media, Media::Html | Media::Xhtml) {
            let addresses = by_size.entry(file.size).or_default().entry(id).or_default();
            addresses.push(&address.url);
        }
    }
    let mut diagnostics = Vec::new();
    for (&id, addresses) in by_size.values().flatten() {
        if let [first, others @ ..] = addresses.as_slice()
            && let Some(other) = others.first()
        {
            let more = match others.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let message = format!("requested as {first} and as {other}{more}");
            diagnostics.push(Diagnostic::new(
                &site.file(id).path,
                None,
                Code::DuplicateFile,
                message,
            ));
        }
    }
    let twins: Vec<FileId> = by_size
        .values()
        .filter(|files| files.len() > 1)
        .flat_map(|files| files.keys().copied())
        .collect();
    let hashes = parallel::map(&twins, |&id| {
        Ok((site.file(id).size, graph::hash(&site.read(id)?)))
    });
    let mut by_bytes: BTreeMap<(u64, u64), Vec<FileId>> = BTreeMap::new();
    for (id, hash) in twins.into_iter().zip(hashes) {
        let hash: anyhow::Result<_> = hash;
        by_bytes.entry(hash?).or_default().push(id);
    }
    for files in by_bytes.values() {
        let [first, others @ ..] = files.as_slice() else {
            continue;
        };
        for &other in others {
            let message = format!("the same bytes as {}", site.file(*first).path);
            diagnostics.push(Diagnostic::new(
                &site.file(other).path,
                None,
                Code::DuplicateFile,
                message,
            ));
        }
    }
    Ok(diagnostics)
}

/// A `.gz` or `.br` that does not unpack to the file beside it.
pub(super) fn stale_variants(site: &Site) -> anyhow::Result<Vec<Diagnostic>> {
    let variants: Vec<(FileId, FileId)> = site
        .files
        .iter()
        .enumerate()
        .filter_map(|(id, file)| Some((FileId(id as u32), file.variant_of?)))
        .collect();
    let looked = parallel::map(&variants, |&(id, plain)| {
        let Some(coding) = variants::coding_of(&site.file(id).path) else {
            return anyhow::Ok(None);
        };
        let fits = variants::unpacks_to(coding, &site.read(id)?, &site.read(plain)?);
        let message = || format!("does not unpack to {}", site.file(plain).path);
        Ok((!fits).then(|| Diagnostic::new(&site.file(id).path, None, Code::StaleVariant, message())))
    });
    looked.into_iter().filter_map(Result::transpose).collect()
}
