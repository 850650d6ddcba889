//! Which pages have to do with which files, and whether a plan keeps its promise to all of them.

use std::collections::{BTreeMap, HashSet};

use super::account::{Account, Change, Worse};
use super::shape::difference;
use super::{Context, Plan};
use crate::graph::{AddressId, Graph, Request};
use crate::measure::Sizes;

/// Which pages have to do with a stylesheet or an address, frames included.
#[derive(Debug)]
pub(crate) struct Relations {
    /// By key of the stylesheet: the pages that load it.
    pub(crate) loads: Vec<Vec<u32>>,
    /// By address: the pages that request it.
    pub(crate) requests: Vec<Vec<u32>>,
    /// By page: the documents of its view, itself first.
    pub(crate) documents: Vec<Box<[u32]>>,
    /// By document: the pages whose view it is part of.
    pub(crate) views_of: Vec<Vec<u32>>,
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
        let mut views_of = vec![Vec::new(); graph.pages.len()];
        for page in 0..graph.pages.len() as u32 {
            let all = graph.documents(page);
            for &document in &all {
                views_of[document as usize].push(page);
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
            views_of,
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

/// Pages that the plan makes worse, with these sizes of its changed stylesheets, before and after.
pub(super) fn audit(
    context: &Context<'_>,
    plan: &Plan,
    sheets: &BTreeMap<u32, (Sizes, Sizes)>,
) -> Vec<Worse> {
    let (graph, relations) = (context.graph, &context.relations);
    let images = super::sheets::image_sizes(context, plan.images.keys().copied());
    let account = Account::new(context, |address| {
        (images.get(&address).copied().unwrap_or_default(), false)
    });
    let mut change = Change::default();
    for &address in plan.images.keys() {
        let requests = relations.requests[address as usize].iter().copied();
        let saved = requests.filter(|&page| plan.saves(context, page, address));
        change.stops.push((address, saved.collect()));
    }
    for (&key, &(before, after)) in sheets {
        let grown = difference(before, after);
        let addresses = graph.addresses_of(graph.sheets[key as usize].file);
        change
            .resizes
            .extend(addresses.iter().map(|&address| (address, grown)));
    }
    for (&page, changed) in &plan.pages {
        let grown = difference(changed.before, changed.after);
        let views = relations.views_of[page as usize].iter();
        change.grows.extend(views.map(|&view| (view, grown)));
    }
    account.faults(&account.effects(&change))
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
