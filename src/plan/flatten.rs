//! `@import` becomes text of the importing sheet, in place: cached old sheets and new pages render alike.
//!
//! What pages save is one request for every imported sheet that nothing else of theirs asks for; pages that have it
//! anyway get its bytes twice, which the account sees. Where not all imports can go, those behind the first ones may.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::account::Change;
use super::shape::{Work, difference};
use super::{Action, Cost};
use crate::css::{self, Import};
use crate::graph::{AddressId, Destination, Initiator, Place};
use crate::options::Pass;
use crate::url::{self, Target};

/// Imports inside imports: more than sites have.
const LEVELS: usize = 16;

pub(super) fn decide(work: &mut Work<'_>) {
    let graph = work.ground.graph();
    // Only sheets that some page asks for by its markup: what they import comes with them.
    for key in 0..graph.sheets.len() as u32 {
        let imports = match &work.texts[key as usize] {
            Some(text) => css::imports(text),
            None => continue,
        };
        if imports.is_empty() {
            continue;
        }
        let file = graph.sheets[key as usize].file;
        let path = &work.ground.context.site.file(file).path;
        if work.flattened.contains(&key) || !work.ground.context.options.runs_on(Pass::Flatten, path) {
            continue;
        }
        // All of them, else those behind the first, and so on: an import that stays must stand before the rules.
        let mut result = Err(String::new());
        for kept in 0..imports.len() {
            let next = attempt(work, key, kept);
            if next.is_ok() || kept == 0 {
                result = next;
            }
            if result.is_ok() {
                break;
            }
        }
        work.decisions
            .retain(|d| d.file != file || d.action != Action::Keep);
        if let Err(reason) = result {
            work.decide(
                file,
                Action::Keep,
                format!("its imports stay: {reason}"),
                Cost::default(),
            );
        }
    }
}

/// Flattens the sheet but for its first imports.
fn attempt(work: &mut Work<'_>, key: u32, kept: usize) -> Result<(), String> {
    let ground = work.ground;
    let graph = ground.graph();
    let mut inner = Vec::new();
    let text = flat(work, key, kept, &mut vec![key], &mut inner)?;
    let sheet = &graph.sheets[key as usize];
    let Some(own) = address_of(work, key) else {
        return Err("no page asks for it under one address".into());
    };
    inner.sort_unstable();
    inner.dedup();
    // Pages where the imported sheets come from this sheet alone.
    let mut stops = Vec::new();
    for &imported in &inner {
        let docs: Vec<u32> = ground.requested_by[imported as usize]
            .iter()
            .copied()
            .filter(|&d| comes_from(work, d, imported, key, &inner))
            .collect();
        let views = ground.stops(imported, &docs);
        if !views.is_empty() {
            stops.push((imported, views));
        }
    }
    if stops.is_empty() {
        return Err("other elements ask for the imported sheets as well".into());
    }
    if work
        .units
        .iter()
        .any(|unit| unit.keys.len() > 1 && unit.keys.contains(&key))
    {
        return Err("it is part of a combined sheet".into());
    }
    let keys = keys(work);
    let parts: Vec<Arc<str>> = inner
        .iter()
        .filter_map(|address| keys.get(address))
        .chain([&key])
        .filter_map(|&key| work.texts[key as usize].clone())
        .collect();
    let parts: Vec<&str> = parts.iter().map(|text| &**text).collect();
    let sizes = ground.measure_joined(&text, &parts);
    let grown = work.account.add(sizes, true);
    let views = work.account.views(own).to_vec();
    stops.push((own, views.clone()));
    let change = Change {
        stops,
        starts: vec![(grown, views)],
        resizes: Vec::new(),
        grows: Vec::new(),
        blocks: false,
    };
    let cost = work.take(&change)?;
    let growth = difference(work.account.sizes(own), sizes);
    work.account.replace(own, grown);
    let text: Arc<str> = Arc::from(text);
    for unit in work.units.iter_mut().filter(|unit| unit.keys == [key]) {
        unit.text = Some(text.clone());
    }
    work.texts[key as usize] = Some(text);
    work.flattened.insert(key);
    let reason = format!(
        "{} imported sheets stand in it now, {:+} bytes (gzip)",
        inner.len(),
        growth[0]
    );
    work.decide(sheet.file, Action::Flatten, reason, cost);
    Ok(())
}

/// The text with all imports but the first `kept` in place; `stack` are the sheets around, by key; `inner` gets the addresses.
fn flat(
    work: &Work<'_>,
    key: u32,
    kept: usize,
    stack: &mut Vec<u32>,
    inner: &mut Vec<AddressId>,
) -> Result<String, String> {
    let ground = work.ground;
    let (site, graph) = (ground.context.site, ground.graph());
    let sheet = &graph.sheets[key as usize];
    let Some(text) = &work.texts[key as usize] else {
        return Err(format!("{} cannot be moved as text", site.file(sheet.file).path));
    };
    let imports = css::imports(text);
    let mut parts: Vec<(Import, Option<String>)> = Vec::new();
    for (nth, import) in imports.into_iter().enumerate() {
        if nth < kept {
            parts.push((import, None));
            continue;
        }
        let Target::File {
            file,
            address,
            fragment,
        } = url::resolve(site, &graph.mount, &sheet.base, &import.url)
        else {
            parts.push((import, None));
            continue;
        };
        let id = graph.address(&crate::graph::Address {
            url: address,
            to: Destination::File(file),
        });
        let (Some(inside), Some(id)) = (graph.sheet_of(file), id.filter(|_| fragment.is_none())) else {
            parts.push((import, None));
            continue;
        };
        if stack.contains(&inside) {
            // A browser does not load it again inside itself.
            inner.push(id);
            parts.push((import, Some(String::new())));
            continue;
        }
        if stack.len() >= LEVELS {
            return Err("imports go too deep".into());
        }
        stack.push(inside);
        let text = flat(work, inside, 0, stack, inner)?;
        stack.pop();
        let from = &site.file(graph.sheets[inside as usize].file).path;
        let to = &site.file(sheet.file).path;
        let moved = work
            .rebase(&text, from, to)
            .ok_or_else(|| format!("{from} has addresses that cannot be moved"))?;
        inner.push(id);
        parts.push((import, Some(moved)));
    }
    let borrowed: Vec<(Import, Option<&str>)> = parts
        .iter()
        .map(|(import, text)| (import.clone(), text.as_deref()))
        .collect();
    css::flatten(text, &borrowed).map_err(str::to_owned)
}

/// Whether the document asks for the imported sheet only because of `key` or of sheets that go with it.
fn comes_from(work: &Work<'_>, document: u32, imported: AddressId, key: u32, inner: &[AddressId]) -> bool {
    let graph = work.ground.graph();
    let facts = &graph.pages[document as usize];
    let Some(request) = facts.requests.iter().find(|r| r.address == imported) else {
        return false;
    };
    if request.markup || request.preload || matches!(request.initiator, Initiator::Markup) {
        return false;
    }
    let goes_with = |other: u32| {
        other == key
            || inner.iter().any(|&a| {
                work.ground.file_of(a).and_then(|file| graph.sheet_of(file)) == Some(other)
                    && facts.requests.iter().any(|r| r.address == a && !r.markup)
            })
    };
    facts
        .uses
        .iter()
        .filter(|used| used.address == imported)
        .all(|used| matches!(used.place, Place::Sheet(other) if goes_with(other)))
}

/// The one address under which pages ask for this sheet.
fn address_of(work: &Work<'_>, key: u32) -> Option<AddressId> {
    let graph = work.ground.graph();
    let file = graph.sheets[key as usize].file;
    match graph.addresses_of(file) {
        [address] => Some(*address),
        _ => None,
    }
}

/// By address: the key of its sheet.
pub(super) fn keys(work: &Work<'_>) -> BTreeMap<AddressId, u32> {
    let graph = work.ground.graph();
    (0..graph.addresses.len() as u32)
        .filter_map(|a| Some((a, graph.sheet_of(work.ground.file_of(a)?)?)))
        .collect()
}
