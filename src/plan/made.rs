//! Carries out what the passes of the shape decided: new sheets with their names, and the edits of every page.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::SystemTime;

use super::shape::{Fate, Shape, Unit, Work, bytes_of};
use super::{Action, Known, markup, printed};
use crate::css;
use crate::edit::{self, Edit};
use crate::graph::{self, AddressId};
use crate::image;
use crate::measure::Sizes;
use crate::media::Media;
use crate::names::DIGITS;
use crate::parallel;
use crate::policy::Uses;
use crate::site::{Content, File, FileId, Site, SitePath};
use crate::url::{self, Target};

/// Sizes by the hash of the bytes: no round measures a page twice.
pub(super) type Measured = HashMap<u64, Sizes>;

/// The new files and pages of one round.
pub(super) struct Made {
    /// By page: its sizes in SITE and now.
    pub(super) pages: BTreeMap<u32, (Sizes, Sizes)>,
    edits: BTreeMap<u32, Arc<[Edit]>>,
    /// By unit.
    names: BTreeMap<usize, SitePath>,
}

pub(super) fn shape(work: &Work<'_>, measured: &mut Measured) -> anyhow::Result<Made> {
    let mut names = BTreeMap::new();
    for (index, unit) in work.units.iter().enumerate() {
        if unit.fate == Fate::Renamed
            && let Some(text) = &unit.text
        {
            names.insert(index, name(work, unit, text)?);
        }
    }
    let touched: Vec<u32> = touched(work).into_iter().collect();
    let known: &Measured = measured;
    let found = parallel::map(&touched, |&page| page_of(work, &names, known, page));
    let mut made = Made {
        pages: BTreeMap::new(),
        edits: BTreeMap::new(),
        names,
    };
    for (page, found) in touched.into_iter().zip(found) {
        let Some(found) = found? else { continue };
        measured.insert(found.before.0, found.before.1);
        measured.insert(found.after.0, found.after.1);
        made.pages.insert(page, (found.before.1, found.after.1));
        made.edits.insert(page, found.edits);
    }
    Ok(made)
}

struct Edited {
    edits: Arc<[Edit]>,
    before: (u64, Sizes),
    after: (u64, Sizes),
}

/// Pages whose markup changes.
fn touched(work: &Work<'_>) -> BTreeSet<u32> {
    let mut pages = BTreeSet::new();
    for unit in work.units.iter().filter(|unit| unit.fate != Fate::Kept) {
        pages.extend(&unit.docs);
    }
    pages.extend(work.carried.values().flat_map(|carried| carried.pages()));
    pages.extend(work.shared.values().flat_map(|shared| &shared.docs));
    pages.extend(work.aliases.values().flat_map(|alias| &alias.docs));
    pages.extend(work.scripts.values().flat_map(|(_, docs)| docs));
    pages.extend(work.joints.iter().flat_map(|joint| &joint.docs));
    for (page, doc) in work.ground.docs.iter().enumerate() {
        let mut hints = doc.iter().flat_map(|doc| &doc.survey.hints);
        if hints.any(|hint| hint.prefetch && work.is_only_prefetched(hint.address)) {
            pages.insert(page as u32);
        }
    }
    pages
}

fn page_of(
    work: &Work<'_>,
    names: &BTreeMap<usize, SitePath>,
    known: &Measured,
    page: u32,
) -> anyhow::Result<Option<Edited>> {
    let facts = &work.ground.graph().pages[page as usize];
    let bytes = work.ground.context.site.read(facts.file)?;
    let edits = markup::edits(work, names, page, &bytes);
    if edits.is_empty() {
        return Ok(None);
    }
    let after = edit::splice(&bytes, &edits);
    let measure = |bytes: &[u8]| {
        let hash = graph::hash(bytes);
        let sizes = known.get(&hash).copied();
        (hash, sizes.unwrap_or_else(|| work.ground.measure(bytes)))
    };
    Ok(Some(Edited {
        edits: edits.into(),
        before: measure(&bytes),
        after: measure(&after),
    }))
}

/// `css/site.1a2b3c4d5e6f7a8b.css`: the name of its first part, and a hash of all that it says and shows. The hash of
/// its last bytes, which are printed later, takes the place of this one (`names`).
fn name(work: &Work<'_>, unit: &Unit, text: &str) -> anyhow::Result<SitePath> {
    let site = work.ground.context.site;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes_of(text));
    // Images that the sheet names may come to stand in it.
    let base = url::base(&work.ground.graph().mount, &unit.home);
    for found in css::scan(text, false)
        .urls
        .iter()
        .filter(|u| image::takes_images(&u.place))
    {
        if let Target::File { file, .. } = url::resolve(site, &work.ground.graph().mount, &base, &found.value)
            && site.file(file).size <= work.inline_cap()
        {
            hasher.update(&graph::hash(&site.read(file)?).to_le_bytes());
        }
    }
    let hash = hasher.finalize().to_hex();
    free_name(site, &unit.home, b".css", &hash, &bytes_of(text))
}

/// `stem.hash.ending` beside `home`, where no file is or one with these bytes.
pub(super) fn free_name(
    site: &Site,
    home: &SitePath,
    ending: &[u8],
    hash: &str,
    bytes: &[u8],
) -> anyhow::Result<SitePath> {
    let name = home.name();
    let stem = name.strip_suffix(ending).unwrap_or(name);
    // A second build names after the same stem.
    let stem = match stem.iter().rposition(|&b| b == b'.') {
        Some(dot) if stem.len() - dot == DIGITS + 1 && stem[dot + 1..].iter().all(u8::is_ascii_hexdigit) => {
            &stem[..dot]
        }
        _ => stem,
    };
    let path = |digits: usize| {
        SitePath::new([home.folder(), stem, b".", &hash.as_bytes()[..digits], ending].concat())
    };
    let free = (DIGITS..=64)
        .step_by(DIGITS)
        .map(path)
        .find(|path| match site.find(path.as_bytes()) {
            Some(file) => site.read(file).is_ok_and(|old| old == bytes),
            None => true,
        });
    free.ok_or_else(|| anyhow::anyhow!("no free name beside {home}"))
}

/// SITE in the new shape.
pub(super) fn finish(work: Work<'_>, made: Made) -> Shape {
    let ground = work.ground;
    let (site, graph) = (ground.context.site, ground.graph());
    let mut shape = Shape {
        site: site.clone(),
        decisions: Vec::new(),
        before: BTreeMap::new(),
        after: BTreeMap::new(),
        uses: Uses::default(),
        changed: false,
        printed: known(&work),
        moved: BTreeMap::new(),
    };
    let path = |file: FileId| site.file(file).path.clone();
    let image_time = |address: AddressId| ground.file_of(address).map(|f| site.file(f).modified);
    let mut changed: BTreeMap<FileId, (Content, SystemTime)> = BTreeMap::new();
    let mut added = Vec::new();
    for &key in &work.flattened {
        let file = graph.sheets[key as usize].file;
        if let Some(text) = &work.texts[key as usize] {
            let bytes = bytes_of(text);
            let modified = work.newest(&[key]);
            shape.before.insert(path(file), before(&work, key));
            shape.after.insert(path(file), ground.measure(&bytes));
            changed.insert(file, (Content::made(bytes), modified));
        }
    }
    let mut unit_time = BTreeMap::new();
    for (index, unit) in work.units.iter().enumerate() {
        let shown = unit
            .images
            .iter()
            .map(|(address, _)| address)
            .chain(&unit.inlined);
        let times = shown.filter_map(|&address| image_time(address));
        let modified = times.fold(work.newest(&unit.keys), SystemTime::max);
        unit_time.insert(index, modified);
        if unit.fate != Fate::Kept {
            for &key in &unit.keys {
                let file = graph.sheets[key as usize].file;
                shape
                    .before
                    .entry(path(file))
                    .or_insert_with(|| before(&work, key));
                shape
                    .after
                    .entry(path(file))
                    .or_insert_with(|| before(&work, key));
            }
        }
        let (Some(name), Some(text)) = (made.names.get(&index), &unit.text) else {
            continue;
        };
        let bytes = bytes_of(text);
        shape.after.insert(name.clone(), ground.measure(&bytes));
        if site.find(name.as_bytes()).is_some() {
            continue;
        }
        let mode = match unit.keys.first() {
            Some(&key) => site.file(graph.sheets[key as usize].file).mode,
            None => site.file(graph.pages[unit.docs[0] as usize].file).mode,
        };
        added.push(File {
            path: name.clone(),
            media: Media::Css,
            size: bytes.len() as u64,
            modified,
            mode,
            editable: true,
            variant_of: None,
            content: Content::made(bytes),
        });
    }
    for joint in &work.joints {
        shape.after.insert(joint.name.clone(), joint.sizes);
        if site.find(joint.name.as_bytes()).is_some() {
            continue;
        }
        added.push(File {
            path: joint.name.clone(),
            media: Media::Script,
            size: joint.text.len() as u64,
            modified: joint
                .items
                .iter()
                .filter_map(|a| image_time(*a))
                .fold(SystemTime::UNIX_EPOCH, SystemTime::max),
            mode: site.file(joint.home).mode,
            editable: true,
            variant_of: None,
            content: Content::made(joint.text.as_bytes()),
        });
    }
    let newest = newest_of_pages(&work, &unit_time);
    for (&page, edits) in &made.edits {
        let facts = &graph.pages[page as usize];
        let own = site.file(facts.file).modified;
        let modified = newest.get(&page).map_or(own, |time| own.max(*time));
        let content = Content::edited(facts.hash, edits.clone());
        changed.insert(facts.file, (content, modified));
        let (before, after) = made.pages[&page];
        shape.before.insert(path(facts.file), before);
        shape.after.insert(path(facts.file), after);
    }
    // What moved weighs the same on both sides, at the levels of what it moved into.
    let moved = work
        .carried
        .keys()
        .chain(work.shared.keys())
        .chain(work.scripts.keys())
        .chain(work.joint_of.keys())
        .chain(work.units.iter().flat_map(|unit| &unit.inlined));
    for &address in moved {
        if let Some(file) = ground.file_of(address) {
            let sizes = ground.sizes[address as usize].0;
            shape.before.insert(path(file), sizes);
            shape.after.insert(path(file), sizes);
        }
    }
    shape.uses.data_images = !work.carried.is_empty()
        || !work.shared.is_empty()
        || work.units.iter().any(|unit| !unit.inlined.is_empty());
    shape.uses.inline_scripts = !work.scripts.is_empty();
    shape.uses.inline_styles = work.units.iter().any(|unit| unit.fate == Fate::Embedded)
        || work.carried.values().any(|carried| carried.styled.is_some());
    shape.moved = moved_addresses(&work);
    shape.decisions = work.decisions.iter().map(|d| (path(d.file), d.clone())).collect();
    shape.changed = !changed.is_empty() || !added.is_empty();
    shape.site = site.with(changed, added);
    shape
}

/// By page: the newest time of what came into it, or what a new name in it stands for.
fn newest_of_pages(work: &Work<'_>, unit_time: &BTreeMap<usize, SystemTime>) -> HashMap<u32, SystemTime> {
    let mut newest: HashMap<u32, SystemTime> = HashMap::new();
    let mut note = |page: u32, time: SystemTime| {
        let known = newest.entry(page).or_insert(time);
        *known = (*known).max(time);
    };
    let time = |address: AddressId| {
        let file = work.ground.file_of(address);
        file.map_or(SystemTime::UNIX_EPOCH, |file| {
            work.ground.context.site.file(file).modified
        })
    };
    for (index, unit) in work.units.iter().enumerate() {
        if unit.fate != Fate::Kept {
            unit.docs.iter().for_each(|&page| note(page, unit_time[&index]));
        }
    }
    for (&address, carried) in &work.carried {
        carried.pages().for_each(|page| note(page, time(address)));
    }
    for (&address, (_, docs)) in &work.scripts {
        docs.iter().for_each(|&page| note(page, time(address)));
    }
    for joint in &work.joints {
        let parts = joint.items.iter().map(|&address| time(address));
        let latest = parts.fold(SystemTime::UNIX_EPOCH, SystemTime::max);
        joint.docs.iter().for_each(|&page| note(page, latest));
    }
    newest
}

/// Everything that was printed so far. What was printed need not be printed again.
fn known(work: &Work<'_>) -> Known {
    let ground = work.ground;
    let mut known = printed::known(ground.context, &ground.prints);
    known.extend(ground.styles.iter().map(|(hash, text)| (*hash, text.clone())));
    let printed: Vec<u64> = known
        .values()
        .flatten()
        .map(|text| graph::hash(text.as_bytes()))
        .collect();
    let units = work.units.iter().filter_map(|unit| unit.text.as_ref());
    let units: Vec<u64> = units.map(|text| graph::hash(text.as_bytes())).collect();
    for hash in printed.into_iter().chain(units) {
        known.entry(hash).or_insert(None);
    }
    known
}

/// What a sheet weighs in SITE.
fn before(work: &Work<'_>, key: u32) -> Sizes {
    match &work.ground.prints[key as usize] {
        Ok(printed) => printed.before,
        Err(_) => Sizes::default(),
    }
}

fn moved_addresses(work: &Work<'_>) -> BTreeMap<String, Action> {
    let mut moved = BTreeMap::new();
    let mut add = |address: AddressId, action: Action| {
        let url = work.ground.graph().addresses[address as usize].url.clone();
        moved.insert(url, action);
    };
    for unit in &work.units {
        let action = match unit.fate {
            Fate::Kept => continue,
            Fate::Renamed => Action::Combine,
            Fate::Embedded => Action::Embed,
        };
        unit.items.iter().for_each(|item| add(item.address, action));
    }
    let inlined = work.units.iter().flat_map(|unit| &unit.inlined);
    inlined.for_each(|&a| add(a, Action::Inline));
    work.carried.keys().for_each(|&a| add(a, Action::Embed));
    work.scripts.keys().for_each(|&a| add(a, Action::Embed));
    work.joint_of.keys().for_each(|&a| add(a, Action::Combine));
    work.shared.keys().for_each(|&a| add(a, Action::Share));
    work.aliases.keys().for_each(|&a| add(a, Action::Same));
    moved
}

impl Work<'_> {
    pub(super) fn inline_cap(&self) -> u64 {
        self.ground.context.options.inline_cap()
    }

    /// The newest time of these sheets and of what was flattened into them.
    fn newest(&self, keys: &[u32]) -> SystemTime {
        let (site, graph) = (self.ground.context.site, self.ground.graph());
        let mut seen = BTreeSet::new();
        let mut todo = keys.to_vec();
        let mut newest = SystemTime::UNIX_EPOCH;
        while let Some(key) = todo.pop() {
            if !seen.insert(key) {
                continue;
            }
            let sheet = &graph.sheets[key as usize];
            newest = newest.max(site.file(sheet.file).modified);
            let imports = sheet.scan.urls.iter().zip(&sheet.targets);
            for (found, target) in imports.filter(|_| self.flattened.contains(&key)) {
                if found.place == css::Place::Import
                    && let Some(address) = target
                    && let graph::Destination::File(file) = address.to
                {
                    todo.extend(graph.sheet_of(file));
                }
            }
        }
        newest
    }
}
