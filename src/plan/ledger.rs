//! The account of every page: what a plan makes it request and download, compared with before.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use super::{Context, Plan, SheetChange};
use crate::graph::{AddressId, Destination, Graph, Request};
use crate::measure::Sizes;
use crate::site::FileId;

/// Which pages have to do with a stylesheet or an address, frames included.
#[derive(Debug)]
pub(crate) struct Relations {
    /// By key of the stylesheet: the pages that load it.
    pub(crate) loads: Vec<Vec<u32>>,
    /// By address: the pages that request it.
    pub(crate) requests: Vec<Vec<u32>>,
    /// By page: the documents of its view, itself first.
    pub(crate) documents: Vec<Box<[u32]>>,
    /// What the entry page's first view leaves in the cache.
    pub(crate) cached: HashSet<AddressId>,
    /// Pages that other pages show in frames.
    pub(crate) framed: HashSet<u32>,
}

impl Relations {
    pub(crate) fn new(graph: &Graph) -> Relations {
        let mut loads = vec![Vec::new(); graph.sheets.len()];
        let mut requests = vec![Vec::new(); graph.addresses.len()];
        let mut documents = Vec::with_capacity(graph.pages.len());
        let mut framed = HashSet::new();
        for page in 0..graph.pages.len() as u32 {
            let all = graph.documents(page);
            for &document in &all {
                for &key in &*graph.pages[document as usize].sheets {
                    if loads[key as usize].last() != Some(&page) {
                        loads[key as usize].push(page);
                    }
                }
                for request in &*graph.pages[document as usize].requests {
                    if requests[request.address as usize].last() != Some(&page) {
                        requests[request.address as usize].push(page);
                    }
                }
            }
            framed.extend(&all[1..]);
            documents.push(all.into_boxed_slice());
        }
        let mut relations = Relations {
            loads,
            requests,
            documents,
            cached: HashSet::new(),
            framed,
        };
        if let Some(entry) = graph.entry {
            let entry = relations.requests_of(graph, entry).map(|r| r.address);
            relations.cached = entry.filter(|&a| !graph.is_revalidated(a)).collect();
        }
        relations
    }

    /// All requests of a page's view, of its frames too; an address may come twice.
    pub(crate) fn requests_of<'a>(
        &'a self,
        graph: &'a Graph,
        page: u32,
    ) -> impl Iterator<Item = &'a Request> {
        self.documents[page as usize]
            .iter()
            .flat_map(|&d| graph.pages[d as usize].requests.iter())
    }

    /// Whether `page` no longer requests `address` when `carried` says which uses in CSS carry the image.
    pub(crate) fn is_saved(
        &self,
        graph: &Graph,
        page: u32,
        address: AddressId,
        carried: impl Fn(u32, &crate::graph::Use) -> bool,
    ) -> bool {
        let mut uses = 0;
        let all = self.documents[page as usize].iter().all(|&document| {
            let facts = &graph.pages[document as usize];
            let Some(request) = facts.requests.iter().find(|r| r.address == address) else {
                return true;
            };
            // A preload link is taken out, where the page may change.
            if request.markup || (request.preload && facts.opaque.is_some()) {
                return false;
            }
            facts.uses.iter().filter(|u| u.address == address).all(|found| {
                uses += 1;
                carried(document, found)
            })
        });
        all && uses > 0
    }
}

/// How a page got worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    RequestsFirst(i64),
    RequestsFollowUp(i64),
    FirstGzip(i64),
    FirstBr(i64),
    VisitGzip(i64),
    VisitBr(i64),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::RequestsFirst(n) => write!(f, "{n} requests more on its first view"),
            Verdict::RequestsFollowUp(n) => write!(f, "{n} requests more on its follow-up view"),
            Verdict::FirstGzip(n) => write!(f, "{n} bytes more on its first view (gzip)"),
            Verdict::FirstBr(n) => write!(f, "{n} bytes more on its first view (brotli)"),
            Verdict::VisitGzip(n) => write!(f, "{n} bytes more on a visit (gzip)"),
            Verdict::VisitBr(n) => write!(f, "{n} bytes more on a visit (brotli)"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worse {
    pub page: u32,
    pub verdict: Verdict,
}

/// What a plan changes for one page; negative numbers save.
#[derive(Debug, Clone, Copy, Default)]
struct Change {
    requests_first: i64,
    requests_follow_up: i64,
    first: [i64; 2],
    follow_up: [i64; 2],
}

/// Sizes of changed stylesheets by the function, of changed pages as the plan measured them.
pub(super) fn audit(
    context: &Context<'_>,
    plan: &Plan,
    sizes: impl Fn(&SheetChange) -> (Sizes, Sizes),
) -> Vec<Worse> {
    let sheets = plan
        .sheets
        .iter()
        .map(|(&key, change)| (key, sizes(change)))
        .collect();
    audit_with(context, plan, &sheets)
}

pub(super) fn audit_with(
    context: &Context<'_>,
    plan: &Plan,
    sheets: &BTreeMap<u32, (Sizes, Sizes)>,
) -> Vec<Worse> {
    let graph = context.graph;
    let mut growth: HashMap<FileId, [i64; 2]> = HashMap::new();
    let delta = |(before, after): (Sizes, Sizes)| {
        [
            after.gzip as i64 - before.gzip as i64,
            after.br as i64 - before.br as i64,
        ]
    };
    for (&key, &sizes) in sheets {
        growth.insert(graph.sheets[key as usize].file, delta(sizes));
    }
    for (&page, change) in &plan.pages {
        growth.insert(
            graph.pages[page as usize].file,
            delta((change.before, change.after)),
        );
    }
    let image_sizes = super::shared::image_sizes(context, plan.images.keys().copied());
    let touched: BTreeSet<u32> = touched_pages(context, plan);
    let changes: Vec<(u32, Change)> = touched
        .iter()
        .map(|&page| (page, change_of(context, plan, &growth, &image_sizes, page)))
        .collect();
    let entry = graph
        .entry
        .and_then(|e| changes.iter().find(|(p, _)| *p == e))
        .map(|(_, c)| *c)
        .unwrap_or_default();
    let entry_slack = graph.entry.map(|entry| context.slack(entry)).unwrap_or_default();
    let mut worse = Vec::new();
    for (page, mut change) in changes {
        let slack = context.slack(page);
        (0..2).for_each(|i| change.first[i] += slack.first[i]);
        (0..2).for_each(|i| change.follow_up[i] += slack.follow_up[i]);
        let visit = [
            entry.first[0] + entry_slack.first[0] + change.follow_up[0],
            entry.first[1] + entry_slack.first[1] + change.follow_up[1],
        ];
        let checks = [
            (
                change.requests_first,
                Verdict::RequestsFirst as fn(i64) -> Verdict,
            ),
            (change.requests_follow_up, Verdict::RequestsFollowUp),
            (change.first[0], Verdict::FirstGzip),
            (change.first[1], Verdict::FirstBr),
            (visit[0], Verdict::VisitGzip),
            (visit[1], Verdict::VisitBr),
        ];
        if let Some((n, verdict)) = checks.into_iter().find(|(n, _)| *n > 0) {
            worse.push(Worse {
                page,
                verdict: verdict(n),
            });
        }
    }
    worse
}

/// Pages that load something changed or request an image that was inlined somewhere.
fn touched_pages(context: &Context<'_>, plan: &Plan) -> BTreeSet<u32> {
    let relations = &context.relations;
    let mut touched = BTreeSet::new();
    for &key in plan.sheets.keys() {
        touched.extend(&relations.loads[key as usize]);
    }
    for &address in plan.images.keys() {
        touched.extend(&relations.requests[address as usize]);
    }
    touched.extend(plan.pages.keys());
    if plan.pages.keys().any(|p| relations.framed.contains(p)) {
        touched.extend(
            (0..relations.documents.len() as u32).filter(|&p| relations.documents[p as usize].len() > 1),
        );
    }
    touched.extend(context.graph.entry);
    touched
}

fn change_of(
    context: &Context<'_>,
    plan: &Plan,
    growth: &HashMap<FileId, [i64; 2]>,
    image_sizes: &BTreeMap<AddressId, Sizes>,
    page: u32,
) -> Change {
    let (graph, relations) = (context.graph, &context.relations);
    let overhead = context.options.request_overhead as i64;
    let mut change = Change::default();
    let mut seen = HashSet::new();
    for request in relations.requests_of(graph, page) {
        let address = request.address;
        if !seen.insert(address) {
            continue;
        }
        let was_cached = relations.cached.contains(&address);
        if plan.images.contains_key(&address) {
            let saved = plan.saves(context, page, address);
            let entry_saves = graph.entry.is_some_and(|e| plan.saves(context, e, address));
            let sizes = image_sizes.get(&address).copied().unwrap_or_default();
            let cost = [sizes.gzip as i64 + overhead, sizes.br as i64 + overhead];
            if saved {
                change.requests_first -= 1;
                (0..2).for_each(|i| change.first[i] -= cost[i]);
            }
            let before = !was_cached;
            let after = !saved && (!was_cached || entry_saves);
            let times = i64::from(after) - i64::from(before);
            change.requests_follow_up += times;
            (0..2).for_each(|i| change.follow_up[i] += times * cost[i]);
            continue;
        }
        if let Destination::File(file) = graph.addresses[address as usize].to
            && let Some(grown) = growth.get(&file)
        {
            (0..2).for_each(|i| change.first[i] += grown[i]);
            if !was_cached {
                (0..2).for_each(|i| change.follow_up[i] += grown[i]);
            }
        }
    }
    change
}

impl Plan {
    /// Whether the page no longer requests the address.
    pub(crate) fn saves(&self, context: &Context<'_>, page: u32, address: AddressId) -> bool {
        context
            .relations
            .is_saved(context.graph, page, address, |document, found| {
                match found.place {
                    crate::graph::Place::Sheet(key) => self
                        .sheets
                        .get(&key)
                        .is_some_and(|change| change.inlined.contains(&address)),
                    _ => self
                        .pages
                        .get(&document)
                        .is_some_and(|change| change.inlined.contains(&address)),
                }
            })
    }
}
