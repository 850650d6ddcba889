//! The shape of the site: which files a page asks for. Decided before what stands in each file (`shared`, `local`).
//!
//! The passes work on one account of all pages, in the order of `decide`. What comes out is SITE with other contents
//! for some files and with some files more; it is read and linked like a site of its own, and the passes that print
//! CSS and put images into it go on from there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use super::account::{Account, Change, Refusal, Resource};
use super::ground::Ground;
use super::placeholder::Shared;
use super::printed::Known;
use super::survey::Link;
use super::{
    Action, Context, Cost, Decision, combine, combine_scripts, embed, flatten, made, same, scripts, share,
};
use crate::graph::{AddressId, Graph};
use crate::measure::Sizes;
use crate::options::{Options, Pass};
use crate::policy::Uses;
use crate::site::{FileId, Site, SitePath};

/// SITE in its new shape.
#[derive(Debug)]
pub struct Shape {
    pub site: Site,
    /// `site` is not SITE as it was.
    pub changed: bool,
    pub decisions: Vec<(SitePath, Decision)>,
    /// At the fast levels: what changed or moved, as it was in SITE and as it is now, by path.
    pub before: BTreeMap<SitePath, Sizes>,
    pub after: BTreeMap<SitePath, Sizes>,
    pub uses: Uses,
    pub(super) printed: Known,
    /// Addresses that were moved into another file, and what became of them.
    pub moved: BTreeMap<String, Action>,
}

/// One or several stylesheets that pages link at one place.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// The links that it stands for, in order; none for a sheet that is new to its pages.
    pub(super) items: Vec<Item>,
    pub(super) keys: Vec<u32>,
    /// What it says, relative to `home`; `None` where it cannot be moved.
    pub(super) text: Option<Arc<str>>,
    pub(super) home: SitePath,
    pub(super) resource: Resource,
    /// Pages that link it in a way that can be changed, sorted.
    pub(super) docs: Vec<u32>,
    /// Whether those are all pages that request it.
    pub(super) complete: bool,
    /// Rules that show images, with the class of each.
    pub(super) images: Vec<(AddressId, String)>,
    /// Images that stand in `text` in place of their addresses.
    pub(super) inlined: Vec<AddressId>,
    pub(super) fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Under its own address.
    Kept,
    /// Under a new name.
    Renamed,
    /// In a `style` element of each page.
    Embedded,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Item {
    pub(super) address: AddressId,
    pub(super) media: Option<Box<str>>,
}

impl Item {
    pub(super) fn of(link: &Link) -> Item {
        Item {
            address: link.address,
            media: link.media.clone(),
        }
    }
}

/// Texts by unit and folder.
type Rebased = HashMap<(usize, Box<[u8]>), Arc<str>>;

/// The decisions of one round.
pub(super) struct Work<'a> {
    pub(super) ground: &'a Ground<'a>,
    pub(super) account: Account<'a>,
    /// By key: what the sheet says now, where that is known as Unicode.
    pub(super) texts: Vec<Option<Arc<str>>>,
    pub(super) flattened: BTreeSet<u32>,
    pub(super) units: Vec<Unit>,
    /// Those that are new to their pages.
    pub(super) new_units: Vec<usize>,
    /// Units that a link may belong to: one of them has its page.
    pub(super) unit_of: HashMap<Item, Vec<usize>>,
    /// Images that pages carry, with these pages.
    pub(super) carried: BTreeMap<AddressId, embed::Carried>,
    /// Images that a unit shows, with the class, the placeholder, and the pages.
    pub(super) shared: BTreeMap<AddressId, Shared>,
    pub(super) scripts: BTreeMap<AddressId, (Arc<str>, BTreeSet<u32>)>,
    pub(super) joints: Vec<combine_scripts::Joint>,
    /// By address: the joint that it became part of.
    pub(super) joint_of: BTreeMap<AddressId, usize>,
    pub(super) aliases: BTreeMap<AddressId, same::Alias>,
    /// By page: what it is believed to grow by.
    pub(super) booked: Vec<[i64; 2]>,
    /// Pages that have a placeholder.
    pub(super) placed: BTreeSet<u32>,
    pub(super) decisions: Vec<Decision>,
    pub(super) bans: &'a Bans,
    /// What units say in `style` elements of pages.
    pub(super) rebased: Mutex<Rebased>,
}

/// What an earlier round showed.
#[derive(Debug, Default, Clone)]
pub(super) struct Bans {
    /// Pages whose own markup carries nothing new.
    pub(super) pages: BTreeSet<u32>,
    /// Images that stay files on a page.
    pub(super) images: BTreeSet<(u32, AddressId)>,
    /// By page: bytes that a whole page grew by, beyond what was booked for its images.
    pub(super) corrections: BTreeMap<u32, [i64; 2]>,
}

/// Rounds before everything that touches a page in question is left out.
const ROUNDS: usize = 10;

/// What a page whose markup changes must win at the fast levels: so many bytes, and one in so many of its own. Seen
/// on 17 sites: up to 130 bytes of 47,000, 10 of 8,500.
const MARGIN: u64 = 16;
const SHARE: u64 = 300;

/// Decides the shape; `None` where nothing changes. `avoid`: pages that an earlier build showed to get worse.
pub fn decide(site: &Site, graph: &Graph, options: &Options, avoid: &[u32]) -> anyhow::Result<Option<Shape>> {
    let passes = [
        Pass::Same,
        Pass::Flatten,
        Pass::Combine,
        Pass::Embed,
        Pass::Share,
        Pass::Scripts,
    ];
    if !passes.iter().any(|pass| options.runs(*pass)) || graph.pages.is_empty() {
        return Ok(None);
    }
    let context = Context::new(site, graph, options);
    let ground = Ground::new(&context)?;
    let mut bans = Bans::default();
    bans.pages.extend(avoid);
    let mut measured = HashMap::new();
    for round in 0..ROUNDS {
        let mut work = Work::new(&ground, &bans);
        if options.runs(Pass::Flatten) {
            flatten::decide(&mut work);
        }
        combine::decide(&mut work);
        if options.runs(Pass::Flatten) {
            // What was combined may have made room.
            flatten::decide(&mut work);
            combine::again(&mut work);
        }
        if options.runs(Pass::Embed) {
            // A sheet of one page is not worth a file, whatever it could carry.
            embed::sheets(&mut work, 1);
        }
        if options.runs(Pass::Share) {
            share::decide(&mut work, false)?;
        }
        if options.runs(Pass::Embed) {
            embed::sheets(&mut work, u32::MAX);
            embed::images(&mut work)?;
            if options.runs(Pass::Inline) {
                embed::sheets_with_images(&mut work)?;
            }
        }
        if options.runs(Pass::Share) {
            share::decide(&mut work, true)?;
            share::rest(&mut work)?;
        }
        if options.combine_scripts {
            combine_scripts::decide(&mut work);
        }
        if options.runs(Pass::Scripts) {
            scripts::decide(&mut work);
        }
        if options.runs(Pass::Same) {
            same::decide(&mut work)?;
        }
        let shape = made::shape(&work, &mut measured)?;
        // What whole pages really grew by is known only now.
        let mut grown = BTreeMap::new();
        for (&page, &(before, after)) in &shape.pages {
            let real = difference(before, after);
            let booked = work.booked[page as usize];
            let more = [real[0] - booked[0], real[1] - booked[1]];
            grown.insert(page, more);
            for &view in &ground.context.relations.views_of[page as usize] {
                work.account.correct(view, more, false);
            }
        }
        let margin =
            |(page, (_, after)): (&u32, &(Sizes, Sizes))| (*page, (MARGIN + after.br / SHARE) as i64);
        let worse = work.account.worse(&shape.pages.iter().map(margin).collect());
        if worse.is_empty() {
            return Ok(Some(made::finish(work, shape)));
        }
        let documents = worse
            .into_iter()
            .flat_map(|page| &*context.relations.documents[page as usize]);
        let most_shown: Vec<_> = documents.map(|&page| (page, work.most_shown(page))).collect();
        for (document, shown) in most_shown {
            let more = grown.get(&document).copied().unwrap_or_default();
            let known = bans.corrections.entry(document).or_default();
            let next = [known[0] + more[0].max(0), known[1] + more[1].max(0)];
            let learned = *known != next;
            *known = next;
            if learned && round == 0 {
                continue;
            }
            // A guess about many copies of an image is the first thing to be wrong.
            match shown.filter(|_| round + 2 < ROUNDS) {
                Some(address) => bans.images.insert((document, address)),
                None => bans.pages.insert(document),
            };
        }
    }
    Ok(None)
}

pub(super) fn difference(before: Sizes, after: Sizes) -> [i64; 2] {
    [
        after.gzip as i64 - before.gzip as i64,
        after.br as i64 - before.br as i64,
    ]
}

impl<'a> Work<'a> {
    fn new(ground: &'a Ground<'a>, bans: &'a Bans) -> Work<'a> {
        let context = ground.context;
        let graph = context.graph;
        let mut account = Account::new(context, |address| ground.sizes[address as usize]);
        for (key, printed) in ground.prints.iter().enumerate() {
            let Ok(printed) = printed else { continue };
            // Of a gain only half: the final levels see less of it than the fast ones.
            let grown = difference(printed.before, printed.sizes).map(|bytes| bytes.max(bytes / 2));
            for &address in graph.addresses_of(graph.sheets[key].file) {
                account.grow(address, grown);
            }
        }
        for (page, &gain) in ground.gains.iter().enumerate() {
            for &view in &ground.context.relations.views_of[page] {
                account.correct(view, gain, false);
            }
        }
        let booked = vec![[0; 2]; graph.pages.len()];
        let texts = (0..graph.sheets.len())
            .map(|key| ground.unicode(key as u32))
            .collect();
        Work {
            ground,
            account,
            texts,
            flattened: BTreeSet::new(),
            units: Vec::new(),
            new_units: Vec::new(),
            unit_of: HashMap::new(),
            carried: BTreeMap::new(),
            shared: BTreeMap::new(),
            scripts: BTreeMap::new(),
            joints: Vec::new(),
            joint_of: BTreeMap::new(),
            aliases: BTreeMap::new(),
            booked,
            placed: BTreeSet::new(),
            decisions: Vec::new(),
            bans,
            rebased: Mutex::default(),
        }
    }

    /// Books the change if it may be; remembers what pages grow by.
    pub(super) fn take(&mut self, change: &Change) -> Result<Cost, Refusal> {
        let ground = self.ground;
        let cost = self.account.take(change, &|page| ground.name(page))?;
        for &(page, grown) in &change.grows {
            let booked = &mut self.booked[page as usize];
            (0..2).for_each(|i| booked[i] += grown[i]);
        }
        Ok(cost)
    }

    pub(super) fn decide(&mut self, file: FileId, action: Action, reason: impl Into<String>, cost: Cost) {
        self.decisions.push(Decision {
            file,
            action,
            reason: reason.into(),
            cost,
        });
    }

    /// The pages that used the file do so no more; those that are left fetch it for them.
    pub(super) fn is_only_prefetched(&self, address: AddressId) -> bool {
        let only_fetches = |page: &u32| {
            let doc = self.ground.docs[*page as usize].as_ref();
            doc.is_some_and(|doc| {
                let survey = &doc.survey;
                let hints = survey
                    .hints
                    .iter()
                    .any(|hint| hint.prefetch && hint.address == address);
                let uses = survey.links.iter().any(|link| link.address == address)
                    || survey.scripts.iter().any(|script| script.address == address)
                    || !self.ground.images(*page, address).is_empty()
                    || survey.others.binary_search(&address).is_ok();
                hints && !uses
            })
        };
        let views = self.account.views(address);
        let had = &self.ground.context.relations.requests[address as usize];
        views.len() < had.len() && views.iter().all(only_fetches)
    }

    /// Of the images that stand somewhere else on this page now: the one that it shows most often.
    fn most_shown(&self, page: u32) -> Option<AddressId> {
        let doc = self.ground.docs[page as usize].as_ref()?;
        let placed = doc.survey.images.iter().map(|image| image.address);
        let placed = placed.filter(|&address| self.is_placed(page, address));
        placed.max_by_key(|&address| (self.ground.images(page, address).len(), address))
    }

    /// The image stands somewhere else on this page already.
    pub(super) fn is_placed(&self, page: u32, address: AddressId) -> bool {
        self.shared
            .get(&address)
            .is_some_and(|shared| shared.docs.contains(&page))
            || self
                .carried
                .get(&address)
                .is_some_and(|carried| carried.is_on(page))
    }

    pub(super) fn runs_on(&self, pass: Pass, file: FileId) -> bool {
        let context = self.ground.context;
        context.options.runs_on(pass, &context.site.file(file).path)
    }

    /// The unit that a link of this page belongs to.
    pub(super) fn unit(&self, page: u32, item: &Item) -> Option<usize> {
        let units = self.unit_of.get(item)?;
        let has = |index: &&usize| self.units[**index].docs.binary_search(&page).is_ok();
        units.iter().find(has).copied()
    }

    pub(super) fn keep(&mut self, address: AddressId, reason: impl Into<String>) {
        if let Some(file) = self.ground.file_of(address) {
            self.decide(file, Action::Keep, reason, Cost::default());
        }
    }
}

/// A sheet's bytes: as UTF-8 that says so.
pub(super) fn bytes_of(text: &str) -> Vec<u8> {
    if text.is_ascii() {
        return text.as_bytes().to_vec();
    }
    [b"@charset \"utf-8\";", text.as_bytes()].concat()
}
