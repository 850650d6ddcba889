//! The account of every page while the structure of the site changes: who requests what, and what each view costs.
//!
//! A pass proposes a `Change`; `Account::take` books it if no page gets worse by it and the cost model says that it
//! pays. Everything is exact for the sizes that it is given; what encoding whole pages shows later is handed in with
//! `correct`.

use std::collections::{BTreeMap, BTreeSet};

use super::Cost;
use super::cost::Model;
use super::ledger::Relations;
use crate::graph::{AddressId, Graph};
use crate::measure::Sizes;

/// Something that views request: an address of the graph, or a file that the plan makes.
pub(super) type Resource = u32;

/// What a pass wants to do.
#[derive(Debug, Default, Clone)]
pub(super) struct Change {
    /// Views that no longer request these.
    pub(super) stops: Vec<(Resource, Vec<u32>)>,
    /// Views that request these from now on.
    pub(super) starts: Vec<(Resource, Vec<u32>)>,
    /// Bytes that the documents themselves gain, as gzip and brotli.
    pub(super) grows: Vec<(u32, [i64; 2])>,
    /// Rendering waits for what the documents gain.
    pub(super) blocks: bool,
}

#[derive(Debug, Clone)]
struct Holding {
    /// Pages whose view requests it, sorted.
    views: Vec<u32>,
    sizes: Sizes,
    /// Rendering waits for it.
    blocks: bool,
    /// Asked for again on every view: documents, and what is missing.
    revalidated: bool,
}

/// Why a change is not made.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) why: String,
    /// The pages that would get worse, if it is about them.
    pub(super) pages: Vec<u32>,
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Refusal {
        Refusal {
            why: why.to_owned(),
            pages: Vec::new(),
        }
    }
}

impl From<Refusal> for String {
    fn from(refusal: Refusal) -> String {
        refusal.why
    }
}

#[derive(Debug)]
pub(super) struct Account {
    entry: Option<u32>,
    overhead: i64,
    model: Model,
    holdings: Vec<Holding>,
    /// What changed so far, by page.
    balance: Vec<Balance>,
}

/// What changed for one page; negative numbers save.
#[derive(Debug, Clone, Copy, Default)]
struct Balance {
    requests_first: i64,
    requests_follow_up: i64,
    first: [i64; 2],
    follow_up: [i64; 2],
}

impl Balance {
    fn add(&mut self, other: &Balance) {
        self.requests_first += other.requests_first;
        self.requests_follow_up += other.requests_follow_up;
        (0..2).for_each(|i| self.first[i] += other.first[i]);
        (0..2).for_each(|i| self.follow_up[i] += other.follow_up[i]);
    }
}

impl Account {
    pub(super) fn new(
        graph: &Graph,
        relations: &Relations,
        overhead: u64,
        model: Model,
        sizes: impl Fn(AddressId) -> (Sizes, bool),
    ) -> Account {
        let holdings = relations.requests.iter().enumerate().map(|(address, views)| {
            let (sizes, blocks) = sizes(address as AddressId);
            Holding {
                views: views.clone(),
                sizes,
                blocks,
                revalidated: graph.is_revalidated(address as AddressId),
            }
        });
        Account {
            entry: graph.entry,
            overhead: overhead as i64,
            model,
            holdings: holdings.collect(),
            balance: vec![Balance::default(); graph.pages.len()],
        }
    }

    /// A new file that nothing requests yet.
    pub(super) fn add(&mut self, sizes: Sizes, blocks: bool) -> Resource {
        self.holdings.push(Holding {
            views: Vec::new(),
            sizes,
            blocks,
            revalidated: false,
        });
        self.holdings.len() as Resource - 1
    }

    pub(super) fn views(&self, resource: Resource) -> &[u32] {
        &self.holdings[resource as usize].views
    }

    pub(super) fn sizes(&self, resource: Resource) -> Sizes {
        self.holdings[resource as usize].sizes
    }

    /// `resource` weighs and is requested from now on as `other` is, which is nothing any more.
    pub(super) fn replace(&mut self, resource: Resource, other: Resource) {
        let views = std::mem::take(&mut self.holdings[other as usize].views);
        let sizes = self.holdings[other as usize].sizes;
        let holding = &mut self.holdings[resource as usize];
        holding.views = views;
        holding.sizes = sizes;
    }

    /// Whether a follow-up view finds it in the cache.
    fn is_cached(&self, resource: Resource, views: &[u32]) -> bool {
        !self.holdings[resource as usize].revalidated
            && self
                .entry
                .is_some_and(|entry| views.binary_search(&entry).is_ok())
    }

    /// Books the difference between what a file weighed in SITE and what it weighs now; of a gain only half, since
    /// encoders at the final levels see less of it than the fast ones.
    pub(super) fn resize(&mut self, resource: Resource, before: Sizes) {
        let holding = self.holdings[resource as usize].clone();
        let cached = self.is_cached(resource, &holding.views);
        let grown = [
            holding.sizes.gzip as i64 - before.gzip as i64,
            holding.sizes.br as i64 - before.br as i64,
        ]
        .map(|grown| if grown < 0 { grown / 2 } else { grown });
        for &view in &holding.views {
            self.correct(view, grown, cached);
        }
    }

    /// Books bytes of a page; with `first_only` they are not on its follow-up view.
    pub(super) fn correct(&mut self, page: u32, bytes: [i64; 2], first_only: bool) {
        let balance = &mut self.balance[page as usize];
        (0..2).for_each(|i| balance.first[i] += bytes[i]);
        if !first_only {
            (0..2).for_each(|i| balance.follow_up[i] += bytes[i]);
        }
    }

    /// Books the change if it pays and no page gets worse; else says why not.
    pub(super) fn take(&mut self, change: &Change, name: &dyn Fn(u32) -> String) -> Result<Cost, Refusal> {
        let (effects, expected) = self.effects(change);
        self.check(&effects, name)?;
        if expected[0] >= 0.0 || expected[1] >= 0.0 {
            let why = format!(
                "does not pay: a visit would cost {:.0} bytes more (gzip), {:.0} (brotli)",
                expected[0], expected[1]
            );
            return Err(Refusal {
                why,
                pages: Vec::new(),
            });
        }
        let mut cost = Cost::default();
        for (page, effect) in &effects {
            self.balance[*page as usize].add(effect);
            cost.requests_first += effect.requests_first;
            cost.requests_follow_up += effect.requests_follow_up;
            cost.bytes_gzip += effect.first[0];
            cost.bytes_br += effect.first[1];
        }
        for (resource, views) in &self.after(change) {
            self.holdings[*resource as usize].views.clone_from(views);
        }
        Ok(cost)
    }

    /// Who requests each resource of the change afterwards.
    fn after(&self, change: &Change) -> BTreeMap<Resource, Vec<u32>> {
        let mut after: BTreeMap<Resource, BTreeSet<u32>> = BTreeMap::new();
        for (resource, stops) in &change.stops {
            let set = after
                .entry(*resource)
                .or_insert_with(|| self.views(*resource).iter().copied().collect());
            for view in stops {
                set.remove(view);
            }
        }
        for (resource, starts) in &change.starts {
            let set = after
                .entry(*resource)
                .or_insert_with(|| self.views(*resource).iter().copied().collect());
            set.extend(starts);
        }
        after
            .into_iter()
            .map(|(resource, views)| (resource, views.into_iter().collect()))
            .collect()
    }

    /// What the change does to every page it touches, and to the cost of a visit.
    fn effects(&self, change: &Change) -> (BTreeMap<u32, Balance>, [f64; 2]) {
        let mut effects: BTreeMap<u32, Balance> = BTreeMap::new();
        let mut expected = [0.0; 2];
        for (resource, views) in self.after(change) {
            let holding = &self.holdings[resource as usize];
            let was_cached = self.is_cached(resource, &holding.views);
            let is_cached = self.is_cached(resource, &views);
            let price = [
                holding.sizes.gzip as i64 + self.overhead,
                holding.sizes.br as i64 + self.overhead,
            ];
            let touched: BTreeSet<u32> = holding.views.iter().chain(&views).copied().collect();
            for page in touched {
                let was = holding.views.binary_search(&page).is_ok();
                let is = views.binary_search(&page).is_ok();
                let first = i64::from(is) - i64::from(was);
                let follow_up = i64::from(is && !is_cached) - i64::from(was && !was_cached);
                if first == 0 && follow_up == 0 {
                    continue;
                }
                effects.entry(page).or_default().add(&Balance {
                    requests_first: first,
                    requests_follow_up: follow_up,
                    first: price.map(|p| p * first),
                    follow_up: price.map(|p| p * follow_up),
                });
            }
            let times =
                self.model.fetches(&views, self.entry) - self.model.fetches(&holding.views, self.entry);
            let fetch = self.model.fetch(holding.sizes, holding.blocks);
            (0..2).for_each(|i| expected[i] += times * fetch[i]);
        }
        for &(page, grown) in &change.grows {
            effects.entry(page).or_default().add(&Balance {
                first: grown,
                follow_up: grown,
                ..Balance::default()
            });
            let markup = self.model.markup(page, self.entry, grown, change.blocks);
            (0..2).for_each(|i| expected[i] += markup[i]);
        }
        (effects, expected)
    }

    /// Promise 3 for every page that the effects reach.
    fn check(&self, effects: &BTreeMap<u32, Balance>, name: &dyn Fn(u32) -> String) -> Result<(), Refusal> {
        let with = |page: u32| {
            let mut balance = self.balance[page as usize];
            if let Some(effect) = effects.get(&page) {
                balance.add(effect);
            }
            balance
        };
        let entry = self.entry.map(with).unwrap_or_default();
        let fault = |page: u32| {
            let balance = with(page);
            match () {
                () if balance.requests_first > 0 || balance.requests_follow_up > 0 => {
                    Some("more requests on")
                }
                () if balance.first.iter().any(|&bytes| bytes > 0) => Some("more bytes on the first view of"),
                () if (0..2).any(|i| entry.first[i] + balance.follow_up[i] > 0) => {
                    Some("more bytes on a visit that ends at")
                }
                () => None,
            }
        };
        let mut faults = effects.keys().filter_map(|&page| Some((page, fault(page)?)));
        if let Some((page, what)) = faults.next() {
            let pages = std::iter::once(page)
                .chain(faults.map(|(page, _)| page))
                .collect();
            let why = format!("{what} {}", name(page));
            return Err(Refusal { why, pages });
        }
        // What the entry page's first view gains is part of every visit.
        let grown = self.entry.and_then(|entry| effects.get(&entry));
        if grown.is_some_and(|effect| effect.first.iter().any(|&bytes| bytes > 0))
            && let Some(page) = (0..self.balance.len() as u32).find(|&page| fault(page).is_some())
        {
            let why = format!("more bytes on a visit that ends at {}", name(page));
            return Err(Refusal {
                why,
                pages: Vec::new(),
            });
        }
        Ok(())
    }

    /// Pages that are worse off than in SITE, by all that was booked; `margins`: bytes that the pages whose markup
    /// changed must have won, since encoders at other levels see them a little differently.
    pub(super) fn worse(&self, margins: &BTreeMap<u32, i64>) -> Vec<u32> {
        let entry = self.entry.map(|e| self.balance[e as usize]).unwrap_or_default();
        let is_worse = |page: u32| {
            let balance = &self.balance[page as usize];
            let margin = margins.get(&page).copied().unwrap_or_default();
            balance.requests_first > 0
                || balance.requests_follow_up > 0
                || (0..2).any(|i| {
                    balance.first[i] + margin > 0 || entry.first[i] + balance.follow_up[i] + margin > 0
                })
        };
        (0..self.balance.len() as u32)
            .filter(|&page| is_worse(page))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn holding(views: &[u32], bytes: u64, revalidated: bool) -> Holding {
        Holding {
            views: views.to_vec(),
            sizes: Sizes::plain(bytes),
            blocks: false,
            revalidated,
        }
    }

    /// Three pages, the first is the entry: a sheet on all, an image on all, an image on the last two.
    fn account() -> Account {
        Account {
            entry: Some(0),
            overhead: 200,
            model: Model::new(&Options::defaults(), Some(0), vec![1.0; 3]),
            holdings: vec![
                holding(&[0, 1, 2], 1000, false),
                holding(&[0, 1, 2], 300, false),
                holding(&[1, 2], 400, false),
            ],
            balance: vec![Balance::default(); 3],
        }
    }

    #[track_caller]
    fn check(change: Change, expected: Result<i64, &str>) {
        let mut account = account();
        let result = account.take(&change, &|page| format!("page {page}"));
        match (result, expected) {
            (Ok(cost), Ok(requests)) => assert_eq!(cost.requests_first, requests),
            (Err(refusal), Err(why)) => assert_eq!(refusal.why, why),
            (result, expected) => panic!("{result:?} for {expected:?}"),
        }
        // A refused change leaves no trace.
        if expected.is_err() {
            assert_eq!(account.views(1), [0, 1, 2]);
        }
        assert!(account.worse(&BTreeMap::new()).is_empty());
    }

    fn stop(resource: Resource, views: &[u32], grows: &[(u32, i64)]) -> Change {
        Change {
            stops: vec![(resource, views.to_vec())],
            starts: Vec::new(),
            grows: grows
                .iter()
                .map(|&(page, bytes)| (page, [bytes, bytes]))
                .collect(),
            blocks: false,
        }
    }

    #[test]
    fn a_page_saves_what_it_no_longer_asks_for() {
        check(stop(2, &[1, 2], &[(1, 450), (2, 450)]), Ok(-2));
        check(stop(2, &[1], &[(1, 600)]), Ok(-1));
        check(
            stop(2, &[1], &[(1, 601)]),
            Err("more bytes on the first view of page 1"),
        );
    }

    #[test]
    fn the_cache_of_a_visit_counts() {
        // The others live on what the entry page left them.
        check(stop(1, &[0], &[(0, 200)]), Err("more requests on page 1"));
        // In all pages it travels again with each: the entry page saves 200 and pays for its own reload.
        check(
            stop(1, &[0, 1, 2], &[(0, 300), (1, 300), (2, 300)]),
            Err("more bytes on a visit that ends at page 0"),
        );
        check(stop(1, &[0, 1, 2], &[(0, 240), (1, 240), (2, 240)]), Ok(-3));
    }

    #[test]
    fn what_pays_for_no_visit_is_not_done() {
        let mut account = account();
        account.balance[1].first = [-9000; 2];
        account.balance[1].follow_up = [-9000; 2];
        let refusal = account
            .take(&stop(2, &[1], &[(1, 9000)]), &|_| String::new())
            .expect_err("a visit would carry the bytes twice");
        assert!(refusal.why.starts_with("does not pay: "), "{}", refusal.why);
    }

    #[test]
    fn a_new_file_is_cached_for_those_who_have_it_from_the_entry_page() {
        let mut account = account();
        let sheet = account.add(Sizes::plain(1300), true);
        let change = Change {
            stops: vec![(0, vec![0, 1, 2]), (1, vec![0, 1, 2])],
            starts: vec![(sheet, vec![0, 1, 2])],
            grows: vec![(0, [50; 2]), (1, [50; 2]), (2, [50; 2])],
            blocks: false,
        };
        let cost = account
            .take(&change, &|_| String::new())
            .expect("it saves a request on each page");
        assert_eq!((cost.requests_first, cost.requests_follow_up), (-3, 0));
        assert_eq!(account.balance[1].first, [-150; 2]);
        assert_eq!(account.balance[1].follow_up, [50; 2]);
        assert!(account.worse(&BTreeMap::new()).is_empty());
        assert_eq!(account.worse(&BTreeMap::from([(2, 200)])), [2]);
    }
}
