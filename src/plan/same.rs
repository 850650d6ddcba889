//! Files with equal bytes are asked for under one URL, so that a browser's cache has them once.
//!
//! Behind the other passes, for what is still a file of its own: images, and stylesheets that mean the same from both
//! places (no relative address in them). The copy that the entry page asks for is the one that stays, else the one
//! that most pages ask for.

use std::collections::{BTreeMap, BTreeSet};

use super::Action;
use super::account::Change;
use super::placeholder;
use super::shape::{Fate, Item, Work};
use crate::graph::{self, AddressId};
use crate::media::{self, Media};
use crate::options::Pass;
use crate::url;

/// One URL in place of another, on these pages.
#[derive(Debug)]
pub(super) struct Alias {
    pub(super) to: AddressId,
    pub(super) docs: BTreeSet<u32>,
}

pub(super) fn decide(work: &mut Work<'_>) -> anyhow::Result<()> {
    for group in groups(work)? {
        let entry = work.ground.graph().entry;
        let wanted = |address: &AddressId| {
            let views = work.account.views(*address);
            let by_entry = entry.is_some_and(|entry| views.binary_search(&entry).is_ok());
            (by_entry, views.len(), std::cmp::Reverse(*address))
        };
        let Some(&stays) = group.iter().max_by_key(|address| wanted(address)) else {
            continue;
        };
        for &address in group.iter().filter(|address| **address != stays) {
            if let Err(reason) = alias(work, address, stays) {
                work.keep(address, format!("the same bytes as another file: {reason}"));
            }
        }
    }
    Ok(())
}

/// Addresses of files with equal bytes, without a query, that some page still asks for.
fn groups(work: &Work<'_>) -> anyhow::Result<Vec<Vec<AddressId>>> {
    let ground = work.ground;
    let site = ground.context.site;
    let mut by_size: BTreeMap<(u64, String), Vec<AddressId>> = BTreeMap::new();
    for address in 0..ground.graph().addresses.len() as AddressId {
        let Some(file) = ground
            .file_of(address)
            .filter(|_| !work.account.views(address).is_empty())
        else {
            continue;
        };
        let entry = site.file(file);
        let is_kind = media::is_image(entry.media) || entry.media == Media::Css;
        let bare = !ground.graph().addresses[address as usize].url.contains('?');
        if is_kind && bare && entry.editable && work.runs_on(Pass::Same, file) {
            by_size
                .entry((entry.size, entry.path.extension()))
                .or_default()
                .push(address);
        }
    }
    let mut groups = Vec::new();
    for (_, addresses) in by_size.into_iter().filter(|(_, addresses)| addresses.len() > 1) {
        let mut by_bytes: BTreeMap<u64, Vec<AddressId>> = BTreeMap::new();
        for address in addresses {
            if let Some(file) = ground.file_of(address) {
                by_bytes
                    .entry(graph::hash(&site.read(file)?))
                    .or_default()
                    .push(address);
            }
        }
        groups.extend(by_bytes.into_values().filter(|addresses| addresses.len() > 1));
    }
    groups.sort_unstable();
    Ok(groups)
}

fn alias(work: &mut Work<'_>, from: AddressId, to: AddressId) -> Result<(), String> {
    let ground = work.ground;
    let site = ground.context.site;
    let (Some(file), Some(target)) = (ground.file_of(from), ground.file_of(to)) else {
        return Err("it is no file".into());
    };
    let key = ground.graph().sheet_of(file);
    if let Some(key) = key {
        let paths = (&site.file(file).path, &site.file(target).path);
        let twin = ground
            .graph()
            .sheet_of(target)
            .and_then(|key| work.texts[key as usize].clone());
        let text = work.texts[key as usize].clone();
        let same = text.is_some() && text == twin;
        let moved = text.and_then(|text| Some(work.rebase(&text, paths.0, paths.1)? == *text));
        if !same || moved != Some(true) {
            return Err("addresses in it are relative to its folder".into());
        }
    }
    let reference = |page: &u32, address: AddressId| {
        let here = &site.file(ground.graph().pages[*page as usize].file).path;
        let url = &ground.graph().addresses[address as usize].url;
        url::relative_to_address(&ground.graph().mount, here, url)
    };
    let free = |page: &u32| match key {
        Some(_) => ground.link(*page, from).is_some_and(|link| {
            let unit = work.unit(*page, &Item::of(link));
            unit.is_some_and(|unit| work.units[unit].fate == Fate::Kept)
        }),
        None => {
            !ground.images(*page, from).is_empty()
                && !work.is_placed(*page, from)
                && placeholder::may_rewrite(ground, *page, from, &reference(page, to))
        }
    };
    let docs: Vec<u32> = ground.requested_by[from as usize]
        .iter()
        .copied()
        .filter(free)
        .collect();
    if docs.is_empty() {
        return Err("no page asks for it in a way that can change".into());
    }
    let longer = |page: &u32| {
        let length = |address: AddressId| reference(page, address).len() as i64;
        (length(to) - length(from)).max(0)
    };
    let change = Change {
        stops: vec![(from, ground.stops(from, &docs))],
        starts: vec![(to, ground.stops(from, &docs))],
        resizes: Vec::new(),
        grows: docs.iter().map(|page| (*page, [longer(page); 2])).collect(),
        blocks: false,
    };
    let cost = work.take(&change)?;
    let path = &site.file(target).path;
    work.decide(
        file,
        Action::Same,
        match docs.len() {
            1 => format!("1 page asks for {path} in its place"),
            n => format!("{n} pages ask for {path} in its place"),
        },
        cost,
    );
    let docs = docs.into_iter().collect();
    work.aliases.insert(from, Alias { to, docs });
    Ok(())
}
