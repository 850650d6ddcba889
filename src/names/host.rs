//! Which files pages ask for on the other host (`--cdn`): those of which every reference can go there.
//!
//! A stylesheet on the other host asks there for what it names by relative addresses, so it goes only when that goes
//! too, or when `--base-url` says how to name the pages' own host.

use std::collections::{BTreeMap, BTreeSet};

use super::pins::{self, Pins};
use super::{Ground, is_nameable};
use crate::relink;
use crate::site::FileId;
use crate::url;

pub(super) fn away(ground: Ground<'_>, pins: &mut Pins) -> BTreeSet<FileId> {
    let graph = ground.graph;
    let mut asked = pins.anything.clone();
    // By file: the loaded stylesheets that ask for it.
    let mut asked_by: BTreeMap<FileId, Vec<u32>> = BTreeMap::new();
    for &key in &pins.loaded {
        for (nth, found) in graph.sheets[key as usize].scan.urls.iter().enumerate() {
            if let Some(file) = pins::target(ground, key, nth) {
                asked_by.entry(file).or_default().push(key);
                if !relink::is_elsewhere(&found.place) {
                    asked.insert(file);
                }
            }
        }
    }
    let goes = |file: &FileId| is_nameable(ground, *file) && !pins.stays.contains_key(file);
    let mut away: BTreeSet<FileId> = asked.into_iter().filter(goes).collect();
    if url::has_origin(&graph.mount) {
        return away;
    }
    let mut todo: Vec<FileId> = asked_by
        .keys()
        .filter(|file| !away.contains(file))
        .copied()
        .collect();
    while let Some(file) = todo.pop() {
        for &key in asked_by.get(&file).into_iter().flatten() {
            let sheet = graph.sheets[key as usize].file;
            if away.remove(&sheet) {
                let why = "it asks for files that stay there, and no --base-url says how to name their host";
                pins.stays.entry(sheet).or_insert(why);
                todo.push(sheet);
            }
        }
    }
    away
}
