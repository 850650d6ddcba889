//! Classic scripts that pages load one after the other become one file (`--combine-scripts`).
//!
//! Chosen for the site, as sheets are (`combine`): two scripts belong together when every page that has one has the
//! other right behind it. Each part stands in a block of its own that reports its error, so the next one runs. Two
//! things of a program reach beyond its block, because all parts are one program (ECMAScript, 16.1.7):
//!
//! - its `var`s exist from the start, not from where it begins: no part before it, and no script before them, may
//!   take such a name from outside (it could be an element's `id`, or be asked for with `in`);
//! - one `var` that another script declares by `let` stops all parts: no other script of the page may do so.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::account::Change;
use super::code::Code;
use super::ground::{Doc, Ground};
use super::made;
use super::shape::Work;
use super::{Action, Cost, number_of_pages};
use crate::graph::{self, AddressId};
use crate::integrity;
use crate::measure::Sizes;
use crate::options::Pass;
use crate::script;
use crate::site::{FileId, SitePath};

/// Scripts that are one file on these pages.
#[derive(Debug)]
pub(super) struct Joint {
    /// In order.
    pub(super) items: Vec<AddressId>,
    pub(super) text: Arc<str>,
    pub(super) name: SitePath,
    /// The file of the first.
    pub(super) home: FileId,
    pub(super) sizes: Sizes,
    /// Sorted.
    pub(super) docs: Vec<u32>,
}

type Docs = BTreeMap<AddressId, Vec<u32>>;

pub(super) fn decide(work: &mut Work<'_>) {
    let ground = work.ground;
    if ground.has_worker {
        return;
    }
    let (docs_of, fixed) = docs_of(work);
    for chain in chains(ground, &docs_of) {
        let mut rest = chain.as_slice();
        while rest.len() > 1 {
            let (fit, reason) = fit(work, rest, &docs_of[&rest[0]]);
            let mut end = fit;
            // The longest run from here on that pays.
            while end > 1 {
                match join(work, &rest[..end], &docs_of[&rest[0]]) {
                    Ok(()) => break,
                    Err(why) => work.keep(rest[end - 1], format!("not combined: {why}")),
                }
                end = shorter(end);
            }
            if fit < rest.len() && end == fit {
                work.keep(rest[fit], format!("not combined: {reason}"));
            }
            // What cannot go with the ones before it may begin a run, if it can be in one at all.
            rest = &rest[end.max(1)..];
        }
    }
    for (address, page, why) in fixed {
        if !work.joint_of.contains_key(&address) {
            work.keep(address, format!("not combined: {} {why}", ground.name(page)));
        }
    }
}

/// The next length to try: few steps for long runs, each of which is compressed.
fn shorter(length: usize) -> usize {
    if length > 16 { length / 2 } else { length - 1 }
}

/// Pages that have each script in a way that can be changed, and a page of each script that cannot, with a reason.
fn docs_of(work: &Work<'_>) -> (Docs, Vec<(AddressId, u32, &'static str)>) {
    let ground = work.ground;
    let mut docs_of = Docs::new();
    let mut fixed: BTreeMap<AddressId, (u32, &'static str)> = BTreeMap::new();
    for (page, doc) in ground.docs.iter().enumerate() {
        let Some(doc) = doc else { continue };
        let page = page as u32;
        let page_refuses = match () {
            () if !doc.alone => Some("has to do with frames"),
            () if doc.looks_up_scripts => Some("has a script that looks up script elements"),
            () if !ground.graph().pages[page as usize].allows_own_names => {
                Some("has a policy that names the files it may load")
            }
            () if work.bans.pages.contains(&page) => Some("would get larger"),
            () => None,
        };
        for script in &doc.survey.scripts {
            let is_free = script.element.is_some() && ground.script(page, script.address).is_some();
            let tag_refuses = (!is_free).then_some("asks for it by an element that cannot change");
            match page_refuses.or(tag_refuses) {
                None => docs_of.entry(script.address).or_default().push(page),
                Some(why) => {
                    fixed.entry(script.address).or_insert((page, why));
                }
            }
        }
    }
    let fixed = fixed
        .into_iter()
        .map(|(address, (page, why))| (address, page, why))
        .collect();
    (docs_of, fixed)
}

/// Scripts that always stand together, in order; two at least.
fn chains(ground: &Ground<'_>, docs_of: &Docs) -> Vec<Vec<AddressId>> {
    let mut follows: BTreeMap<(AddressId, AddressId), usize> = BTreeMap::new();
    for (page, doc) in ground.docs.iter().enumerate() {
        let Some(doc) = doc else { continue };
        let has = |address: AddressId| {
            docs_of
                .get(&address)
                .is_some_and(|docs| docs.binary_search(&(page as u32)).is_ok())
        };
        for pair in doc.survey.scripts.windows(2) {
            if pair[1].joined && has(pair[0].address) && has(pair[1].address) {
                *follows.entry((pair[0].address, pair[1].address)).or_default() += 1;
            }
        }
    }
    let mut next = BTreeMap::new();
    let mut behind = BTreeSet::new();
    for (&(a, b), &times) in &follows {
        if docs_of[&a].len() == times && docs_of[&b].len() == times {
            next.insert(a, b);
            behind.insert(b);
        }
    }
    let first = docs_of
        .keys()
        .filter(|item| !behind.contains(item) && next.contains_key(item));
    first
        .map(|&item| std::iter::successors(Some(item), |item| next.get(item).copied()).collect())
        .collect()
}

/// How many of `items`, from the first on, can be one program, and why the one behind them cannot.
fn fit(work: &Work<'_>, items: &[AddressId], docs: &[u32]) -> (usize, String) {
    let ground = work.ground;
    let pages: Vec<(u32, &Doc)> = docs
        .iter()
        .filter_map(|&page| Some((page, ground.docs[page as usize].as_ref()?)))
        .collect();
    let mut names = Names {
        taken: earlier(ground, items[0], &pages),
        declared: BTreeSet::new(),
    };
    for (index, &item) in items.iter().enumerate() {
        let fits = match ground.file_of(item) {
            Some(file) => part(work, file, &pages).and_then(|code| names.add(code, index == 0)),
            None => Err("it is no file".to_owned()),
        };
        if let Err(reason) = fits {
            return (index, reason);
        }
    }
    (items.len(), String::new())
}

/// The script, if it may share a file on these pages.
fn part<'g>(work: &Work<'g>, file: FileId, pages: &[(u32, &Doc)]) -> Result<&'g Code, String> {
    let ground = work.ground;
    let code = ground.codes.get(file).ok_or("it is no script by its name")?;
    let text = code.text.as_ref().ok_or("its bytes are no UTF-8")?;
    code.facts.combine.map_err(str::to_owned)?;
    if !ground.context.site.file(file).editable {
        return Err("left out by --include or --exclude".into());
    }
    if !work.runs_on(Pass::Combine, file) {
        return Err("left out by --skip or a rule".into());
    }
    if integrity::is_sealed(text.as_bytes(), &ground.graph().seals) {
        return Err("a script holds the hash of its bytes".into());
    }
    for &(page, doc) in pages {
        if !text.is_ascii() && !doc.is_utf_8 {
            return Err(format!("{} has another encoding", ground.name(page)));
        }
        let globals = &code.facts.globals;
        if !globals.is_empty() && doc.unread {
            let name = ground.name(page);
            return Err(format!("{name} has a script that may declare {} too", globals[0]));
        }
        if let Some(name) = globals.iter().find(|name| doc.lexical.contains(*name)) {
            return Err(format!(
                "another script of {} declares {name} too",
                ground.name(page)
            ));
        }
    }
    Ok(code)
}

/// Names that scripts before the one at `first` take from outside.
fn earlier(ground: &Ground<'_>, first: AddressId, pages: &[(u32, &Doc)]) -> HashSet<u64> {
    let mut files = BTreeSet::new();
    let mut taken = HashSet::new();
    for &(page, doc) in pages {
        let Some(at) = ground.script(page, first).map(|script| script.tag.start) else {
            continue;
        };
        let scripts = doc.survey.scripts.iter();
        files.extend(
            scripts
                .filter(|script| script.tag.start < at || !script.free)
                .filter_map(|script| ground.file_of(script.address)),
        );
        for (_, outer) in doc.outer.iter().filter(|(place, _)| *place < at) {
            taken.extend(outer);
        }
    }
    for code in files.iter().filter_map(|file| ground.codes.get(*file)) {
        taken.extend(&code.facts.outer);
    }
    taken
}

/// Names of the parts so far.
struct Names {
    /// That they and the scripts before them take from outside.
    taken: HashSet<u64>,
    declared: BTreeSet<String>,
}

impl Names {
    fn add(&mut self, code: &Code, is_first: bool) -> Result<(), String> {
        let facts = &code.facts;
        let is_taken = |name: &&String| {
            !self.declared.contains(*name) && self.taken.contains(&graph::hash(name.as_bytes()))
        };
        // The first one begins when the whole does.
        if !is_first && let Some(name) = facts.globals.iter().find(is_taken) {
            return Err(format!("a script before it could see that {name} is declared"));
        }
        self.declared.extend(facts.globals.iter().cloned());
        self.taken.extend(&facts.outer);
        Ok(())
    }
}

/// Makes one file of these scripts, if that pays.
fn join(work: &mut Work<'_>, items: &[AddressId], docs: &[u32]) -> Result<(), String> {
    let ground = work.ground;
    let site = ground.context.site;
    let files: Vec<FileId> = items.iter().filter_map(|item| ground.file_of(*item)).collect();
    let parts: Vec<&str> = files
        .iter()
        .filter_map(|file| ground.codes.get(*file)?.text.as_deref())
        .collect();
    let home = *files.first().ok_or("it is no file")?;
    let text = script::combine(&parts);
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let name = made::free_name(site, &site.file(home).path, b".js", &hash, text.as_bytes())
        .map_err(|error| error.to_string())?;
    let sizes = ground.measure(text.as_bytes());
    let resource = work.account.add(sizes, true);
    let change = Change {
        stops: items.iter().map(|&i| (i, ground.stops(i, docs))).collect(),
        starts: vec![(resource, ground.views(docs))],
        resizes: Vec::new(),
        grows: Vec::new(),
        blocks: true,
    };
    let cost = work.take(&change)?;
    let names: Vec<String> = files
        .iter()
        .map(|file| site.file(*file).path.to_string())
        .collect();
    let reason = format!(
        "one script for {}: {}",
        number_of_pages(docs.len()),
        names.join(" + ")
    );
    work.decide(home, Action::Combine, reason, cost);
    for &other in files.iter().filter(|other| **other != home) {
        let reason = format!("part of one script with {}", site.file(home).path);
        work.decide(other, Action::Combine, reason, Cost::default());
    }
    for &item in items {
        work.joint_of.insert(item, work.joints.len());
    }
    work.joints.push(Joint {
        items: items.to_vec(),
        text: text.into(),
        name,
        home,
        sizes,
        docs: docs.to_vec(),
    });
    Ok(())
}

impl Work<'_> {
    /// The joint that a script of this page became part of.
    pub(super) fn joint(&self, page: u32, address: AddressId) -> Option<usize> {
        let index = *self.joint_of.get(&address)?;
        self.joints[index]
            .docs
            .binary_search(&page)
            .is_ok()
            .then_some(index)
    }
}
