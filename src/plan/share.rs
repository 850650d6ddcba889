//! Images that many pages show move into the stylesheet that those pages share.
//!
//! The element and all its attributes stay; `src` becomes an empty SVG of the image's own size, and one class more
//! has the rule `content:url(data:...)`. A valid `src` is needed: without one Chromium shows the alternative text and
//! ignores the size that CSS gives (measured in Chromium 156 and Firefox 153, architecture, section 13). The sheet
//! gets a new name, so that no cached old sheet meets a new page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use super::account::{Change, Refusal, Resource};
use super::ground::Ground;
use super::placeholder::{self, FIRST, Shared};
use super::shape::{Fate, Unit, Work, bytes_of};
use super::{Action, Cost};
use crate::graph::AddressId;
use crate::image;
use crate::media;
use crate::options::Pass;
use crate::site::{FileId, SitePath};

/// An image that fewer than one in so many pages of a sheet show is tried alone, and only if it is small (bytes).
const SHARE: usize = 5;
const SMALL: u64 = 400;

/// Sets of images that are tried for one sheet.
const SETS: usize = 48;

/// Attempts without the pages that would have got worse.
const ATTEMPTS: usize = 8;

/// One image in question.
struct Candidate {
    address: AddressId,
    file: FileId,
    shared: Shared,
    /// The pages that could take it, by the unit that would carry it (`None`: a new sheet).
    docs: BTreeMap<Option<usize>, Vec<u32>>,
}

/// With `splits`, pages that would lose by it keep the sheet as it was, and the others ask for another one.
pub(super) fn decide(work: &mut Work<'_>, splits: bool) -> anyhow::Result<()> {
    if work.ground.has_worker {
        return Ok(());
    }
    let carriers = carriers(work);
    let candidates = candidates(work, &carriers, None)?;
    let mut by_carrier: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (index, candidate) in candidates.iter().enumerate() {
        for carrier in candidate.docs.keys() {
            by_carrier.entry(*carrier).or_default().push(index);
        }
    }
    let mut refusals: BTreeMap<usize, String> = BTreeMap::new();
    let mut done: BTreeSet<usize> = BTreeSet::new();
    // What most pages share first: an image that stands there is cached for the others.
    let mut by_carrier: Vec<(Option<usize>, Vec<usize>)> = by_carrier.into_iter().collect();
    by_carrier.sort_by_key(|(key, _)| std::cmp::Reverse(key.map_or(0, |unit| work.units[unit].docs.len())));
    for (key, mut indexes) in by_carrier {
        let shows = |index: &usize| candidates[*index].docs[&key].len();
        indexes.sort_by_key(|index| (std::cmp::Reverse(shows(index)), candidates[*index].address));
        let all = key.map_or_else(|| shows(&indexes[0]), |unit| work.units[unit].docs.len());
        // The unit that has them so far; it may be a part of the one under the key.
        let mut carrier = key;
        let (mut set, mut left): (Vec<usize>, Vec<usize>) =
            indexes.into_iter().partition(|index| shows(index) * SHARE >= all);
        // Together first: what one image saves pays for another that fewer pages show.
        for _ in 0..SETS {
            let images: Vec<&Candidate> = set.iter().map(|&index| &candidates[index]).collect();
            if images.is_empty() || (images.len() == 1 && carrier.is_none()) {
                break;
            }
            match attempt(work, key, carrier, &images, splits) {
                Ok(unit) => {
                    carrier = Some(unit);
                    done.extend(set.drain(..));
                }
                Err(refusal) => {
                    let victim = victim(work, &candidates, &set, refusal.pages.first().copied());
                    left.push(set.remove(victim));
                    refusals.entry(*left.last().unwrap_or(&0)).or_insert(refusal.why);
                }
            }
        }
        left.extend(set);
        left.sort_by_key(|index| (std::cmp::Reverse(shows(index)), *index));
        let many = left.len() > SETS;
        for index in left {
            let few = many && shows(&index) * SHARE < all;
            let result = match carrier {
                None => continue,
                Some(_) if few && work.ground.context.site.file(candidates[index].file).size > SMALL => {
                    Err("too few of the pages that would carry it show it".to_owned())
                }
                Some(_) => {
                    attempt(work, key, carrier, &[&candidates[index]], splits).map_err(|refusal| refusal.why)
                }
            };
            match result {
                Ok(unit) => {
                    carrier = Some(unit);
                    done.insert(index);
                }
                Err(reason) => {
                    refusals.entry(index).or_insert(reason);
                }
            }
        }
    }
    for (index, reason) in refusals {
        if splits && !done.contains(&index) {
            work.keep(
                candidates[index].address,
                format!("not in a shared sheet: {reason}"),
            );
        }
    }
    Ok(())
}

/// Which image of the set to leave out: the largest that the page in question pays for without showing it, else the
/// one that fewest pages show.
fn victim(work: &Work<'_>, candidates: &[Candidate], set: &[usize], page: Option<u32>) -> usize {
    let shown = |index: usize, page: u32| !work.ground.images(page, candidates[index].address).is_empty();
    let size = |at: &usize| work.ground.context.site.file(candidates[set[*at]].file).size;
    let unshown = page.and_then(|page| {
        (0..set.len())
            .filter(|&at| !shown(set[at], page))
            .max_by_key(size)
    });
    unshown.unwrap_or(set.len() - 1)
}

/// Images of the entry page that no sheet and no page could take: a sheet of their own, one request for all of them,
/// which is cached when the reader comes back.
pub(super) fn rest(work: &mut Work<'_>) -> anyhow::Result<()> {
    let ground = work.ground;
    let Some(entry) = ground.graph().entry.filter(|_| !ground.has_worker) else {
        return Ok(());
    };
    let none = vec![None; ground.docs.len()];
    let left = candidates(work, &none, Some(entry))?;
    let mut images: Vec<&Candidate> = left.iter().collect();
    images.sort_by_key(|candidate| (ground.context.site.file(candidate.file).size, candidate.address));
    while images.len() > 1 {
        if attempt(work, None, None, &images, false).is_ok() {
            break;
        }
        images.pop();
    }
    Ok(())
}

/// By page: the unit that would carry its images. The one that most pages share.
fn carriers(work: &Work<'_>) -> Vec<Option<usize>> {
    let mut carriers: Vec<Option<usize>> = vec![None; work.ground.docs.len()];
    let mut order: Vec<usize> = (0..work.units.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(work.units[index].docs.len()), index));
    for index in order {
        let unit = &work.units[index];
        let for_every_medium = unit.items.len() > 1 || unit.items.iter().all(|item| item.media.is_none());
        if unit.text.is_none() || unit.fate == Fate::Embedded || !for_every_medium || !unit.complete {
            continue;
        }
        for &page in &unit.docs {
            carriers[page as usize].get_or_insert(index);
        }
    }
    carriers
}

/// `only`: for this page alone.
fn candidates(
    work: &Work<'_>,
    carriers: &[Option<usize>],
    only: Option<u32>,
) -> anyhow::Result<Vec<Candidate>> {
    let ground = work.ground;
    let mut found = Vec::new();
    for address in 0..ground.graph().addresses.len() as AddressId {
        let Some(file) = ground.file_of(address) else {
            continue;
        };
        let docs = &ground.requested_by[address as usize];
        let entry = ground.context.site.file(file);
        if !work.runs_on(Pass::Share, file)
            || entry.size > ground.context.options.inline_cap_of(&entry.path)
            || !media::is_image(entry.media)
        {
            continue;
        }
        let docs: Vec<u32> = docs
            .iter()
            .copied()
            .filter(|&page| {
                only.is_none_or(|only| only == page)
                    && !ground.images(page, address).is_empty()
                    && !work.is_placed(page, address)
            })
            .collect();
        if docs.is_empty() {
            continue;
        }
        let bytes = ground.context.site.read(file)?;
        let Ok(url) = image::data_url(entry, &bytes, entry.size) else {
            continue;
        };
        let Some(shared) = Shared::new(ground, &url, &bytes) else {
            continue;
        };
        let mut by_carrier: BTreeMap<Option<usize>, Vec<u32>> = BTreeMap::new();
        for page in docs {
            let carrier = carriers[page as usize];
            if shared.suits(work, page, address, carrier.is_none()) {
                by_carrier.entry(carrier).or_default().push(page);
            }
        }
        by_carrier.retain(|carrier, pages| carrier.is_some() || only.is_some() || pages.len() > 1);
        if !by_carrier.is_empty() {
            found.push(Candidate {
                address,
                file,
                shared,
                docs: by_carrier,
            });
        }
    }
    Ok(found)
}

/// Puts these images into the carrier together; the index of the unit that has them. `key` is the unit that the
/// candidates know it by.
fn attempt(
    work: &mut Work<'_>,
    key: Option<usize>,
    carrier: Option<usize>,
    images: &[&Candidate],
    splits: bool,
) -> Result<usize, Refusal> {
    let mut without = Without::default();
    let mut first = None;
    for _ in 0..ATTEMPTS {
        let proposal = match Proposal::new(work, key, carrier, images, &without) {
            Ok(proposal) => proposal,
            Err(refusal) => {
                first.get_or_insert(refusal);
                break;
            }
        };
        let refusal = match work.take(&proposal.change) {
            Ok(cost) => return Ok(proposal.carry_out(work, cost)),
            Err(refusal) => refusal,
        };
        let learned = without.learn(work, &proposal, &refusal)
            && (splits || carrier.is_none() || without.pages.is_empty());
        first.get_or_insert(refusal);
        if !learned {
            break;
        }
    }
    Err(first.unwrap_or_else(|| Refusal::from("no attempt was made")))
}

/// What is left out of an attempt, because pages would have got worse.
#[derive(Debug, Default)]
struct Without {
    /// An image stays a file on this page.
    images: BTreeSet<(u32, AddressId)>,
    /// Pages that keep the sheet as it was.
    pages: BTreeSet<u32>,
}

impl Without {
    /// Whether another attempt is worth it.
    fn learn(&mut self, work: &Work<'_>, proposal: &Proposal<'_>, refusal: &Refusal) -> bool {
        let before = (self.images.len(), self.pages.len());
        // What the entry page's first view gains is part of every visit: the others may be well without it.
        if let Some(entry) = work.ground.graph().entry
            && refusal.pages.contains(&entry)
            && self.pages.insert(entry)
        {
            return true;
        }
        for &page in &refusal.pages {
            if self.pages.contains(&page) {
                // It misses the sheet that the entry page no longer has: then that one keeps it too.
                self.pages.extend(work.ground.graph().entry);
                continue;
            }
            let shown = proposal.images.iter().filter(|(_, pages)| pages.contains(&page));
            let most = shown
                .map(|(c, _)| (work.ground.images(page, c.address).len(), c.address))
                .max();
            match most {
                // An image that the page shows many times costs most.
                Some((times, address)) if times > 3 && proposal.carrier.is_some() => {
                    self.images.insert((page, address));
                }
                _ => {
                    self.pages.insert(page);
                }
            }
        }
        before != (self.images.len(), self.pages.len())
    }
}

/// Images that would go into one carrier.
struct Proposal<'c> {
    carrier: Option<usize>,
    images: Vec<(&'c Candidate, BTreeSet<u32>)>,
    /// Pages that show one of them.
    users: BTreeSet<u32>,
    text: String,
    docs: Vec<u32>,
    resource: Resource,
    change: Change,
}

impl<'c> Proposal<'c> {
    fn new(
        work: &mut Work<'_>,
        key: Option<usize>,
        carrier: Option<usize>,
        images: &[&'c Candidate],
        without: &Without,
    ) -> Result<Proposal<'c>, Refusal> {
        let ground = work.ground;
        let is_member =
            |page: &u32| carrier.is_none_or(|unit| work.units[unit].docs.binary_search(page).is_ok());
        let mut growth: BTreeMap<u32, [i64; 2]> = BTreeMap::new();
        let mut stops = Vec::new();
        let mut list = Vec::new();
        for &candidate in images {
            let Some(pages) = candidate.docs.get(&key) else {
                return Err(Refusal::from("its pages have another sheet"));
            };
            let pages: Vec<u32> = pages
                .iter()
                .copied()
                .filter(|page| {
                    is_member(page)
                        && !without.pages.contains(page)
                        && !without.images.contains(&(*page, candidate.address))
                })
                .collect();
            for &page in &pages {
                let (near, far) = ground.copies(page, candidate.address);
                let bias = work.bias(page, near + far + 1);
                let marks = placeholder::growth(work, page, near, far);
                // The first placeholder of the page is paid for once.
                let again = growth.contains_key(&page) && !work.placed.contains(&page);
                let grown = growth.entry(page).or_default();
                (0..2).for_each(|i| grown[i] += marks[i] + bias[i] - if again { FIRST } else { 0 });
            }
            stops.push((candidate.address, ground.stops(candidate.address, &pages)));
            list.push((candidate, pages.into_iter().collect()));
        }
        let users: BTreeSet<u32> = growth.keys().copied().collect();
        if users.is_empty() {
            return Err(Refusal::from("no page could show it so"));
        }
        let rules: String = images.iter().map(|c| &*c.shared.rule).collect();
        let (text, docs): (String, Vec<u32>) = match carrier {
            Some(index) => {
                let unit = &work.units[index];
                let text = unit
                    .text
                    .clone()
                    .ok_or_else(|| Refusal::from("its sheet cannot be moved"))?;
                let docs = unit
                    .docs
                    .iter()
                    .copied()
                    .filter(|page| !without.pages.contains(page));
                (text.to_string() + &rules, docs.collect())
            }
            None => (rules, users.iter().copied().collect()),
        };
        let sizes = ground.measure(&bytes_of(&text));
        let resource = work.account.add(sizes, true);
        let views = ground.views(&docs);
        if let Some(index) = carrier {
            stops.push((work.units[index].resource, views.clone()));
        }
        let change = Change {
            stops,
            starts: vec![(resource, views)],
            resizes: Vec::new(),
            grows: growth.into_iter().collect(),
            blocks: false,
        };
        Ok(Proposal {
            carrier,
            images: list,
            users,
            text,
            docs,
            resource,
            change,
        })
    }

    /// The index of the unit that has the images now.
    fn carry_out(self, work: &mut Work<'_>, cost: Cost) -> usize {
        let mut index = self.carrier.unwrap_or(work.units.len());
        if let Some(carrier) = self.carrier {
            let unit = &mut work.units[carrier];
            if unit.docs.len() > self.docs.len() {
                // The pages that keep the sheet as it was are another unit from now on.
                let mut new = unit.clone();
                let moved = |page: &u32| self.docs.binary_search(page).is_ok();
                unit.docs.retain(|page| !moved(page));
                unit.complete = false;
                new.complete = false;
                new.docs = self.docs.clone();
                index = work.units.len();
                work.add_unit(new);
            }
        } else {
            work.add_unit(Unit {
                items: Vec::new(),
                keys: Vec::new(),
                text: None,
                home: common_folder(work.ground, &self.docs),
                resource: self.resource,
                docs: self.docs,
                complete: true,
                images: Vec::new(),
                inlined: Vec::new(),
                fate: Fate::Renamed,
            });
        }
        work.placed.extend(&self.users);
        let mut cost = cost;
        let count = self.images.len();
        let first = self.images.first().map(|(candidate, _)| candidate.file);
        for (candidate, pages) in self.images {
            let unit = &mut work.units[index];
            unit.images
                .push((candidate.address, candidate.shared.class.clone()));
            let home = unit.home.clone();
            let mut reason = match pages.len() {
                1 => format!("shown by 1 page through its sheet ({home})"),
                n => format!("shown by {n} pages through the sheet that they share ({home})"),
            };
            // What they save together stands with the first.
            match first.filter(|_| count > 1) {
                Some(first) if first == candidate.file => {
                    let _ = write!(reason, "; counted for {count} images together");
                }
                Some(first) => {
                    let path = &work.ground.context.site.file(first).path;
                    let _ = write!(reason, "; counted with {path}");
                }
                None => {}
            }
            let shared = work
                .shared
                .entry(candidate.address)
                .or_insert_with(|| candidate.shared.clone());
            shared.docs.extend(&pages);
            work.decide(candidate.file, Action::Share, reason, std::mem::take(&mut cost));
        }
        let unit = &mut work.units[index];
        unit.text = Some(Arc::from(self.text));
        unit.resource = self.resource;
        unit.fate = Fate::Renamed;
        index
    }
}

/// Where a sheet for these pages stands: in the folder that they have in common.
fn common_folder(ground: &Ground<'_>, docs: &[u32]) -> SitePath {
    let folder = |page: &u32| {
        let file = ground.graph().pages[*page as usize].file;
        ground.context.site.file(file).path.folder().to_vec()
    };
    let mut common = docs.first().map(folder).unwrap_or_default();
    for page in docs {
        let folder = folder(page);
        while !folder.starts_with(&common) {
            common.pop();
            let end = common.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
            common.truncate(end);
        }
    }
    common.extend_from_slice(b"images.css");
    SitePath::new(common)
}
