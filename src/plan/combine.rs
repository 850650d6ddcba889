//! Stylesheets that pages load one after the other become one file.
//!
//! Chosen for the site: two sheets belong together when every page that has one has the other right behind it, with
//! nothing between that could see the order. So no page asks for rules that it did not have, and a sheet that many
//! pages share is still one file for all of them. Links that stay alone become units of one sheet each, which the
//! passes behind this one work on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

use super::account::Change;
use super::flatten;
use super::shape::{Fate, Item, Unit, Work};
use super::{Action, Cost, number_of_pages};
use crate::css::{self, Part};
use crate::options::Pass;
use crate::site::{FileId, SitePath};

pub(super) fn decide(work: &mut Work<'_>) {
    let docs_of = docs_of(work);
    let keys = flatten::keys(work);
    for chain in chains(work, &docs_of) {
        let mut rest = chain.as_slice();
        while !rest.is_empty() {
            let mut end = rest.len();
            // The longest run from here on that can be one sheet.
            while end > 1 && !join(work, &rest[..end], &docs_of, &keys) {
                end -= 1;
            }
            if end == 1 {
                single(work, &rest[0], &docs_of, &keys);
            }
            rest = &rest[end..];
        }
    }
}

/// Once more, for sheets that stayed alone because of imports which now are text.
pub(super) fn again(work: &mut Work<'_>) {
    let docs_of = docs_of(work);
    let keys = flatten::keys(work);
    for chain in chains(work, &docs_of) {
        let is_flat = |item: &Item| {
            keys.get(&item.address)
                .is_some_and(|key| work.flattened.contains(key))
        };
        let is_single = |item: &Item| {
            let units = work.unit_of.get(item).map_or(&[][..], Vec::as_slice);
            matches!(units, [unit] if work.units[*unit].fate == Fate::Kept)
        };
        if chain.len() > 1 && chain.iter().any(is_flat) && chain.iter().all(is_single) {
            let old: Vec<usize> = chain
                .iter()
                .filter_map(|item| Some(*work.unit_of.get(item)?.first()?))
                .collect();
            if join(work, &chain, &docs_of, &keys) {
                for unit in old {
                    work.units[unit].docs.clear();
                }
            }
        }
    }
}

/// The pages of every link that can be written in another way.
fn docs_of(work: &Work<'_>) -> BTreeMap<Item, Vec<u32>> {
    let mut docs_of: BTreeMap<Item, Vec<u32>> = BTreeMap::new();
    for (page, doc) in work.ground.docs.iter().enumerate() {
        for link in doc.iter().flat_map(|doc| &doc.survey.links) {
            if work.ground.link(page as u32, link.address).is_some() {
                docs_of.entry(Item::of(link)).or_default().push(page as u32);
            }
        }
    }
    docs_of
}

/// Sheets that always stand together, in order.
fn chains(work: &Work<'_>, docs_of: &BTreeMap<Item, Vec<u32>>) -> Vec<Vec<Item>> {
    let ground = work.ground;
    if !ground.context.runs(Pass::Combine) || ground.has_worker {
        return docs_of.keys().map(|item| vec![item.clone()]).collect();
    }
    let mut follows: BTreeMap<(Item, Item), usize> = BTreeMap::new();
    for (page, doc) in ground.docs.iter().enumerate() {
        let mut last: Option<Item> = None;
        for link in doc.iter().flat_map(|doc| &doc.survey.links) {
            let item = ground.link(page as u32, link.address).map(|_| Item::of(link));
            if let (Some(last), Some(item), true) = (last, &item, link.joined) {
                *follows.entry((last, item.clone())).or_default() += 1;
            }
            last = item;
        }
    }
    let mut next: BTreeMap<&Item, &Item> = BTreeMap::new();
    let mut behind: BTreeSet<&Item> = BTreeSet::new();
    for ((a, b), &times) in &follows {
        if docs_of[a].len() == times && docs_of[b].len() == times {
            next.insert(a, b);
            behind.insert(b);
        }
    }
    let first = docs_of.keys().filter(|item| !behind.contains(item));
    let chain = |item: &Item| {
        std::iter::successors(Some(item), |item| next.get(item).copied())
            .cloned()
            .collect()
    };
    first.map(chain).collect()
}

/// Makes one unit of these links, if their sheets can be one and that pays.
fn join(
    work: &mut Work<'_>,
    items: &[Item],
    docs_of: &BTreeMap<Item, Vec<u32>>,
    keys: &BTreeMap<u32, u32>,
) -> bool {
    let ground = work.ground;
    let site = ground.context.site;
    let docs = docs_of[&items[0]].clone();
    let fixed = |page: &u32| {
        ground.docs[*page as usize]
            .as_ref()
            .and_then(|doc| doc.fixed_sheets)
    };
    if let Some(reason) = docs.iter().find_map(fixed) {
        if let Some(file) = ground.file_of(items[0].address) {
            work.decide(
                file,
                Action::Keep,
                format!("not combined: {reason}"),
                Cost::default(),
            );
        }
        return false;
    }
    let off = |item: &Item| {
        let file = ground.file_of(item.address);
        file.is_some_and(|file| {
            !ground
                .context
                .options
                .runs_on(Pass::Combine, &site.file(file).path)
        })
    };
    if items.iter().any(off) {
        return false;
    }
    let mut texts = Vec::new();
    let mut sheet_keys = Vec::new();
    let mut home: Option<SitePath> = None;
    for item in items {
        let Some(&key) = keys.get(&item.address) else {
            return false;
        };
        let path = &site.file(ground.graph().sheets[key as usize].file).path;
        let home = home.get_or_insert_with(|| path.clone());
        let Some(text) = work.texts[key as usize].clone() else {
            return false;
        };
        let Some(moved) = work.rebase(&text, path, home) else {
            return false;
        };
        texts.push(moved);
        sheet_keys.push(key);
    }
    let parts: Vec<Part<'_>> = items
        .iter()
        .zip(&texts)
        .map(|(item, text)| Part {
            text,
            media: item.media.as_deref(),
        })
        .collect();
    let file = |item: &Item| ground.file_of(item.address);
    let text = match css::join(&parts) {
        Ok(text) => text,
        Err(reason) => {
            if let Some(file) = items.last().and_then(file) {
                work.decide(
                    file,
                    Action::Keep,
                    format!("not combined: {reason}"),
                    Cost::default(),
                );
            }
            return false;
        }
    };
    let parts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let sizes = ground.measure_joined(&text, &parts);
    let resource = work.account.add(sizes, true);
    let change = Change {
        stops: items
            .iter()
            .map(|i| (i.address, ground.stops(i.address, &docs)))
            .collect(),
        starts: vec![(resource, ground.views(&docs))],
        resizes: Vec::new(),
        grows: Vec::new(),
        blocks: false,
    };
    match work.take(&change) {
        Ok(cost) => {
            let names: Vec<String> = items
                .iter()
                .filter_map(|i| Some(site.file(file(i)?).path.to_string()))
                .collect();
            let reason = format!(
                "one sheet for {}: {}",
                number_of_pages(docs.len()),
                names.join(" + ")
            );
            let mut files: Vec<FileId> = items.iter().filter_map(&file).collect();
            files.sort_unstable();
            files.dedup();
            if let Some(first) = file(&items[0]) {
                work.decide(first, Action::Combine, reason, cost);
                for other in files.into_iter().filter(|other| *other != first) {
                    let reason = format!("part of one sheet with {}", site.file(first).path);
                    work.decide(other, Action::Combine, reason, Cost::default());
                }
            }
            let complete = items
                .iter()
                .all(|i| ground.requested_by[i.address as usize].len() == docs.len());
            let unit = Unit {
                items: items.to_vec(),
                keys: sheet_keys,
                text: Some(Arc::from(text)),
                home: home.unwrap_or_else(|| SitePath::new("")),
                resource,
                docs,
                complete,
                images: Vec::new(),
                inlined: Vec::new(),
                fate: Fate::Renamed,
            };
            work.add_unit(unit);
            true
        }
        Err(refusal) => {
            if let Some(file) = items.last().and_then(file) {
                work.decide(
                    file,
                    Action::Keep,
                    format!("not combined: {}", refusal.why),
                    Cost::default(),
                );
            }
            false
        }
    }
}

fn single(work: &mut Work<'_>, item: &Item, docs_of: &BTreeMap<Item, Vec<u32>>, keys: &BTreeMap<u32, u32>) {
    let Some(&key) = keys.get(&item.address) else {
        return;
    };
    let ground = work.ground;
    let docs = docs_of[item].clone();
    let unit = Unit {
        items: vec![item.clone()],
        keys: vec![key],
        text: work.texts[key as usize].clone(),
        home: ground
            .context
            .site
            .file(ground.graph().sheets[key as usize].file)
            .path
            .clone(),
        resource: item.address,
        complete: ground.requested_by[item.address as usize].len() == docs.len(),
        docs,
        images: Vec::new(),
        inlined: Vec::new(),
        fate: Fate::Kept,
    };
    work.add_unit(unit);
}

impl Work<'_> {
    pub(super) fn add_unit(&mut self, unit: Unit) {
        let index = self.units.len();
        if unit.items.is_empty() {
            self.new_units.push(index);
        }
        for item in &unit.items {
            self.unit_of.entry(item.clone()).or_default().push(index);
        }
        self.units.push(unit);
    }

    /// The unit with this text as it reads in the folder of `to`; worked out once for all pages there.
    pub(super) fn rebased(&self, index: usize, text: &Arc<str>, to: &SitePath) -> Arc<str> {
        let place = (index, Box::from(to.folder()));
        let known = || self.rebased.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(moved) = known().get(&place) {
            return moved.clone();
        }
        let moved = self.rebase(text, &self.units[index].home, to);
        let moved = moved.map_or_else(|| text.clone(), Arc::from);
        known().insert(place, moved.clone());
        moved
    }

    /// The sheet of `from` as it would read in the folder of `to`.
    pub(super) fn rebase(&self, text: &str, from: &SitePath, to: &SitePath) -> Option<String> {
        use crate::url::{self, Target};
        let (site, graph) = (self.ground.context.site, self.ground.graph());
        // What a custom property says is relative to the sheet that uses it.
        if self.ground.has_custom_urls && from.folder() != to.folder() && css::reads_variables(text) {
            return None;
        }
        let base = url::base(&graph.mount, from);
        css::rebase(text, &mut |_, raw| {
            let fragment = raw.find('#').map_or("", |at| &raw[at..]);
            match url::resolve(site, &graph.mount, &base, raw) {
                Target::File { address, .. }
                | Target::Missing { address, .. }
                | Target::Redirect { address, .. } => {
                    Some(url::relative_to_address(&graph.mount, to, &address) + fragment)
                }
                Target::External(_) => raw.starts_with("//").then(|| raw.to_owned()),
                _ => None,
            }
        })
    }
}
