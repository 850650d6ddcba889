//! Stage 3: what changes, and why.
//!
//! A change is accepted only where it pays and where no page pays for it: for every page, the bytes of its first
//! view and of a visit (the entry page's first view plus this page's follow-up view) may not grow, as gzip and as
//! brotli, each request counted as its body plus the overhead; and neither view may make more requests.
//!
//! First comes the shape of the site (`shape`): which files a page asks for. Its passes, in the order in which they
//! claim things: `flatten`, `combine`, `embed` (sheets of one page), `share`, `embed`, `scripts`, `same`. They work on
//! one account of all pages (`account`) with one cost model (`cost`), and `made` carries out what they decided. Then
//! `decide` goes over what stands in each file: stylesheet files first, because what they gain is shared by many
//! pages (`sheets`), then each page's own CSS (`local`). Both are pure functions of graph, bytes and options.

mod account;
mod code;
mod combine;
mod combine_scripts;
mod cost;
mod embed;
mod flatten;
mod ground;
mod ledger;
mod local;
mod made;
mod markup;
mod placeholder;
mod printed;
mod same;
mod scripts;
mod shape;
mod share;
mod sheets;
mod survey;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::graph::{AddressId, Graph};
use crate::measure::{self, Levels, Sizes};
use crate::options::{Options, Pass};
use crate::site::{FileId, Site};

pub use account::{Verdict, Worse};
pub(crate) use printed::Known;
pub use shape::{Shape, decide as shape};

/// All changes of a build.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// By key of the stylesheet.
    pub sheets: BTreeMap<u32, SheetChange>,
    /// By index of the page.
    pub pages: BTreeMap<u32, PageChange>,
    pub decisions: Vec<Decision>,
    /// The data URL of every image that was put somewhere.
    pub images: BTreeMap<AddressId, Arc<str>>,
    /// Printed `style` elements that many pages have.
    pub(crate) styles: Arc<Known>,
    /// Pages where a `data:` image appeared that no policy question stood against.
    pub uses_data: bool,
}

#[derive(Debug, Clone)]
pub struct SheetChange {
    pub bytes: Arc<[u8]>,
    /// Images that this sheet now carries.
    pub inlined: BTreeSet<AddressId>,
    pub before: Sizes,
    pub after: Sizes,
}

/// A page is edited again when it is written; only what to do is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageChange {
    pub minify: bool,
    pub inlined: BTreeSet<AddressId>,
    pub before: Sizes,
    pub after: Sizes,
}

/// One line of the explanation: what was done to a file, or why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub file: FileId,
    pub action: Action,
    pub reason: String,
    pub cost: Cost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Another file with the same bytes is asked for in its place.
    Same,
    /// An `@import` became text of the sheet that imports it.
    Flatten,
    /// Several stylesheets became one.
    Combine,
    /// The image of `img` elements stands in the stylesheet that their pages share.
    Share,
    /// The file's content stands in the pages that asked for it.
    Embed,
    /// The image's bytes moved into CSS.
    Inline,
    /// CSS is printed shorter.
    Minify,
    /// Pages ask for it under a name that is the hash of its bytes.
    Name,
    /// Pages ask for it on another host.
    Host,
    /// Left as it was.
    Keep,
}

impl Action {
    pub fn name(self) -> &'static str {
        match self {
            Action::Same => "same",
            Action::Flatten => "flatten",
            Action::Combine => "combine",
            Action::Share => "share",
            Action::Embed => "embed",
            Action::Inline => "inline",
            Action::Minify => "minify",
            Action::Name => "name",
            Action::Host => "host",
            Action::Keep => "keep",
        }
    }
}

/// What a decision changes, summed over all pages; negative numbers save. Bytes are those of first views.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    pub requests_first: i64,
    pub requests_follow_up: i64,
    pub bytes_gzip: i64,
    pub bytes_br: i64,
}

/// What an earlier round showed to be harmful: not to be done again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bans {
    /// An image in a stylesheet.
    pub inline: BTreeSet<(u32, AddressId)>,
    /// Any change of this stylesheet.
    pub sheets: BTreeSet<u32>,
    /// Any change of this page's own CSS and markup.
    pub pages: BTreeSet<u32>,
    /// Any new shape of the site.
    pub shape: bool,
    /// New names for what this page asks for.
    pub names: BTreeSet<u32>,
}

/// Everything that the passes read.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) site: &'a Site,
    pub(crate) graph: &'a Graph,
    pub(crate) options: &'a Options,
    pub(crate) relations: ledger::Relations,
    known: Option<&'a printed::Known>,
    /// By page: what the shape won, which may be spent again.
    slack: &'a [Slack],
}

/// What a page's views cost less than in SITE (negative numbers), as gzip and brotli, requests with their overhead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slack {
    pub first: [i64; 2],
    pub follow_up: [i64; 2],
}

impl<'a> Context<'a> {
    pub(crate) fn new(site: &'a Site, graph: &'a Graph, options: &'a Options) -> Context<'a> {
        Context {
            site,
            graph,
            options,
            relations: ledger::Relations::new(graph),
            known: None,
            slack: &[],
        }
    }

    fn slack(&self, page: u32) -> Slack {
        self.slack.get(page as usize).copied().unwrap_or_default()
    }

    pub(crate) fn runs(&self, pass: Pass) -> bool {
        self.options.runs(pass)
    }
}

/// Rounds after which the plan falls back to touching nothing of what is still in question.
const ROUNDS: usize = 12;

impl Bans {
    /// Every change that these pages have to do with.
    pub fn add_pages(&mut self, graph: &Graph, pages: &[u32]) {
        for &page in pages {
            for document in graph.documents(page) {
                self.pages.insert(document);
                self.sheets.extend(&*graph.pages[document as usize].sheets);
            }
        }
    }

    /// Every change.
    pub fn add_all(&mut self, graph: &Graph) {
        self.sheets.extend(0..graph.sheets.len() as u32);
        self.pages.extend(0..graph.pages.len() as u32);
    }
}

/// Decides with the fast levels, then checks with the levels of the files really written. `bans` is what an earlier
/// build of the same site showed to be harmful.
/// `shape` is what the site has its shape from, if that changed, with what every page won by it.
pub fn decide(
    site: &Site,
    graph: &Graph,
    shape: Option<(&Shape, &[Slack])>,
    options: &Options,
    bans: &Bans,
) -> anyhow::Result<Plan> {
    let mut context = Context::new(site, graph, options);
    if let Some((shape, slack)) = shape {
        context.known = Some(&shape.printed);
        context.slack = slack;
    }
    let printed = printed::print_all(&context)?;
    let mut bans = bans.clone();
    let mut measured = Measured::new();
    let pages: Vec<u32> = (0..graph.pages.len() as u32).collect();
    let styles = match context.runs(Pass::Minify) {
        true => Arc::new(local::styles(&context, &pages)?),
        false => Arc::default(),
    };
    for round in 0.. {
        let mut plan = Plan {
            styles: styles.clone(),
            ..Plan::default()
        };
        sheets::decide(&context, &printed, &bans, &mut plan)?;
        local::decide(&context, &bans, &mut plan)?;
        let worse = worse_pages(&context, &plan, &mut measured)?;
        let Some(first) = worse.first() else {
            return Ok(plan);
        };
        anyhow::ensure!(
            round < 2 * ROUNDS,
            "{} would take {}: this is a fault of fewer, please report it",
            site.file(graph.pages[first.page as usize].file).path,
            first.verdict
        );
        ban(&context, &plan, &worse, round >= ROUNDS, &mut bans);
    }
    unreachable!("the loop ends by return or error")
}

/// Sizes at the final levels by the hash of the bytes, so that no round measures a text again.
type Measured = HashMap<u64, Sizes>;

/// Pages that the plan makes worse: measured fast, and with doubtful stylesheets at their final levels.
fn worse_pages(context: &Context<'_>, plan: &Plan, measured: &mut Measured) -> anyhow::Result<Vec<Worse>> {
    let sheets = plan
        .sheets
        .iter()
        .map(|(&key, change)| (key, (change.before, change.after)));
    let fast = ledger::audit(context, plan, &sheets.collect());
    let levels = measure::final_levels(context.options);
    if !fast.is_empty() || levels == measure::levels(context.options) {
        return Ok(fast);
    }
    let full = full_sizes(context, plan, levels, measured)?;
    Ok(ledger::audit(context, plan, &full))
}

/// What printing alone saved clearly at the fast levels it also saves at the final ones.
/// For reasons.
fn number_of_pages(number: usize) -> String {
    match number {
        1 => "1 page".to_owned(),
        _ => format!("{number} pages"),
    }
}

fn is_clear(change: &SheetChange) -> bool {
    let clear = |before: u64, after: u64| before >= after + before / 32 + 16;
    change.inlined.is_empty()
        && clear(change.before.gzip, change.after.gzip)
        && clear(change.before.br, change.after.br)
}

fn full_sizes(
    context: &Context<'_>,
    plan: &Plan,
    levels: Levels,
    measured: &mut Measured,
) -> anyhow::Result<BTreeMap<u32, (Sizes, Sizes)>> {
    let mut result = BTreeMap::new();
    let mut doubtful = Vec::new();
    for (&key, change) in &plan.sheets {
        if is_clear(change) {
            // The final levels see less of what printing saves: about two thirds on the sheets at hand.
            let half = |before: u64, after: u64| before - before.saturating_sub(after) / 2;
            let after = Sizes {
                identity: change.after.identity,
                gzip: half(change.before.gzip, change.after.gzip),
                br: half(change.before.br, change.after.br),
            };
            result.insert(key, (change.before, after));
            continue;
        }
        let file = context.graph.sheets[key as usize].file;
        let before: Arc<[u8]> = context.site.read(file)?.into();
        doubtful.push((key, file, [before, change.bytes.clone()]));
    }
    let mut jobs = Vec::new();
    for (_, file, texts) in &doubtful {
        let encoded = crate::variants::wanted(context.site.file(*file), context.options);
        for text in texts {
            let hash = crate::graph::hash(text);
            if !measured.contains_key(&hash) {
                jobs.push((hash, encoded, text.clone()));
            }
        }
    }
    let sizes = crate::parallel::map(&jobs, |(_, encoded, text)| {
        measure::sizes(text, *encoded, levels, context.options)
    });
    measured.extend(jobs.iter().map(|(hash, ..)| *hash).zip(sizes));
    for (key, _, texts) in doubtful {
        let [before, after] = texts.map(|text| {
            measured
                .get(&crate::graph::hash(&text))
                .copied()
                .unwrap_or_default()
        });
        result.insert(key, (before, after));
    }
    Ok(result)
}

/// Forbids what most likely made these pages worse: their own CSS first, then the largest image that such a page
/// does not show, then the stylesheet as a whole.
fn ban(context: &Context<'_>, plan: &Plan, worse: &[Worse], harshly: bool, bans: &mut Bans) {
    let before = bans.clone();
    for worse in worse {
        let documents = context.graph.documents(worse.page);
        for page in &documents {
            if plan.pages.contains_key(page) {
                bans.pages.insert(*page);
            }
        }
        let sheets: BTreeSet<u32> = documents
            .iter()
            .flat_map(|&d| context.graph.pages[d as usize].sheets.iter().copied())
            .collect();
        for key in sheets {
            let Some(change) = plan.sheets.get(&key) else {
                continue;
            };
            let shown = |address: &AddressId| {
                documents.iter().any(|&d| {
                    context.graph.pages[d as usize]
                        .requests
                        .iter()
                        .any(|r| r.address == *address)
                })
            };
            let size = |address: &&AddressId| (plan.images.get(address).map_or(0, |u| u.len()), **address);
            let suspect = change.inlined.iter().filter(|a| !shown(a)).max_by_key(size);
            match suspect.or_else(|| change.inlined.iter().max_by_key(size)) {
                Some(&address) if !harshly => drop(bans.inline.insert((key, address))),
                _ => drop(bans.sheets.insert(key)),
            }
        }
    }
    if *bans == before {
        // Nothing named above is left: give up every change.
        bans.add_all(context.graph);
    }
}
