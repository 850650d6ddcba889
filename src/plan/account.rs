//! The account of every page: who requests what, and what each view costs.
//!
//! A pass makes a `Change`; `Account::take` books it if no page gets worse by it and the cost model says that it pays.
//! The ledger checks a whole plan in the same way. Everything is exact for the sizes that it is given; what encoding
//! whole pages shows later is handed in with `correct`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::cost::Model;
use super::{Context, Cost};
use crate::graph::AddressId;
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
    /// Bytes that files gain which views go on to request, as gzip and brotli.
    pub(super) resizes: Vec<(Resource, [i64; 2])>,
    /// Bytes that the pages themselves gain.
    pub(super) grows: Vec<(u32, [i64; 2])>,
    /// Rendering waits for what the documents gain.
    pub(super) blocks: bool,
}

#[derive(Debug)]
struct Holding<'a> {
    /// Pages whose view requests it, sorted.
    views: Cow<'a, [u32]>,
    sizes: Sizes,
    /// Rendering waits for it.
    blocks: bool,
    /// Asked for again on every view: documents, and what is missing.
    revalidated: bool,
}

/// How a page would get worse.
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
            Verdict::RequestsFirst(n) => write!(f, "{n} more requests on its first view"),
            Verdict::RequestsFollowUp(n) => write!(f, "{n} more requests on its follow-up view"),
            Verdict::FirstGzip(n) => write!(f, "{n} more bytes on its first view (gzip)"),
            Verdict::FirstBr(n) => write!(f, "{n} more bytes on its first view (brotli)"),
            Verdict::VisitGzip(n) => write!(f, "{n} more bytes on a visit (gzip)"),
            Verdict::VisitBr(n) => write!(f, "{n} more bytes on a visit (brotli)"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worse {
    pub page: u32,
    pub verdict: Verdict,
}

/// Why a change is not made.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) why: String,
    /// The pages that would get worse, if it is about them.
    pub(super) pages: Vec<u32>,
}

/// What a change does.
#[derive(Debug)]
pub(super) struct Effects {
    pages: BTreeMap<u32, Balance>,
    /// Who requests what afterwards.
    views: BTreeMap<Resource, Vec<u32>>,
    /// What a visit costs more, by the cost model, as gzip and as brotli.
    pub(super) expected: [f64; 2],
    pub(super) cost: Cost,
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
pub(super) struct Account<'a> {
    entry: Option<u32>,
    overhead: i64,
    model: Model,
    holdings: Vec<Holding<'a>>,
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

    /// What is worse than in SITE, when the entry page has this balance and the page must have won this much.
    fn verdict(&self, entry: &Balance, margin: i64) -> Option<Verdict> {
        let visit = |i: usize| entry.first[i] + self.follow_up[i];
        let checks = [
            (self.requests_first, Verdict::RequestsFirst as fn(i64) -> Verdict),
            (self.requests_follow_up, Verdict::RequestsFollowUp),
            (self.first[0] + margin, Verdict::FirstGzip),
            (self.first[1] + margin, Verdict::FirstBr),
            (visit(0) + margin, Verdict::VisitGzip),
            (visit(1) + margin, Verdict::VisitBr),
        ];
        let worse = checks.into_iter().find(|(more, _)| *more > 0);
        worse.map(|(more, verdict)| verdict(more))
    }
}

impl Effects {
    /// Whether a visit gets cheaper, under both codings.
    pub(super) fn pay(&self) -> Result<(), Refusal> {
        if self.expected.iter().all(|&bytes| bytes < 0.0) {
            return Ok(());
        }
        let why = format!(
            "does not pay: a visit would cost {:.0} bytes more (gzip), {:.0} (brotli)",
            self.expected[0], self.expected[1]
        );
        Err(Refusal {
            why,
            pages: Vec::new(),
        })
    }

    /// Whether all first views together take fewer bytes.
    pub(super) fn all_win(&self) -> bool {
        self.cost.bytes_gzip < 0 && self.cost.bytes_br < 0
    }
}

impl<'a> Account<'a> {
    /// The pages as they are, with what they won before; `sizes` of an address, and whether rendering waits for it.
    pub(super) fn new(context: &'a Context<'_>, sizes: impl Fn(AddressId) -> (Sizes, bool)) -> Account<'a> {
        let graph = context.graph;
        let holdings = context
            .relations
            .requests
            .iter()
            .enumerate()
            .map(|(address, views)| {
                let (sizes, blocks) = sizes(address as AddressId);
                Holding {
                    views: Cow::Borrowed(views),
                    sizes,
                    blocks,
                    revalidated: graph.is_revalidated(address as AddressId),
                }
            });
        let balance = (0..graph.pages.len() as u32).map(|page| {
            let slack = context.slack(page);
            Balance {
                first: slack.first,
                follow_up: slack.follow_up,
                ..Balance::default()
            }
        });
        Account {
            entry: graph.entry,
            overhead: context.options.request_overhead as i64,
            model: Model::of(context),
            holdings: holdings.collect(),
            balance: balance.collect(),
        }
    }

    /// A new file that nothing requests yet.
    pub(super) fn add(&mut self, sizes: Sizes, blocks: bool) -> Resource {
        self.holdings.push(Holding {
            views: Cow::Borrowed(&[]),
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

    /// What a file weighs that nobody has stopped or started to request yet.
    pub(super) fn weigh(&mut self, resource: Resource, sizes: Sizes) {
        self.holdings[resource as usize].sizes = sizes;
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

    /// Books what a file gained, on every page that requests it.
    pub(super) fn grow(&mut self, resource: Resource, grown: [i64; 2]) {
        let views = self.holdings[resource as usize].views.clone();
        let cached = self.is_cached(resource, &views);
        for &view in &*views {
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
        let effects = self.effects(change);
        self.check(&effects, name)?;
        effects.pay()?;
        Ok(self.book(effects))
    }

    pub(super) fn book(&mut self, effects: Effects) -> Cost {
        for (page, effect) in &effects.pages {
            self.balance[*page as usize].add(effect);
        }
        for (resource, views) in effects.views {
            self.holdings[resource as usize].views = Cow::Owned(views);
        }
        effects.cost
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
    pub(super) fn effects(&self, change: &Change) -> Effects {
        let mut effects: BTreeMap<u32, Balance> = BTreeMap::new();
        let mut expected = [0.0; 2];
        let after = self.after(change);
        for (&resource, views) in &after {
            let holding = &self.holdings[resource as usize];
            let was_cached = self.is_cached(resource, &holding.views);
            let is_cached = self.is_cached(resource, views);
            let price = [
                holding.sizes.gzip as i64 + self.overhead,
                holding.sizes.br as i64 + self.overhead,
            ];
            let touched: BTreeSet<u32> = holding.views.iter().chain(views).copied().collect();
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
                self.model.fetches(views, self.entry) - self.model.fetches(&holding.views, self.entry);
            let fetch = self.model.fetch(holding.sizes, holding.blocks);
            (0..2).for_each(|i| expected[i] += times * fetch[i]);
        }
        for &(resource, grown) in &change.resizes {
            let holding = &self.holdings[resource as usize];
            let views = after.get(&resource).map_or(&*holding.views, Vec::as_slice);
            let cached = self.is_cached(resource, views);
            for &page in views {
                effects.entry(page).or_default().add(&Balance {
                    first: grown,
                    follow_up: if cached { [0; 2] } else { grown },
                    ..Balance::default()
                });
            }
            let times = self.model.fetches(views, self.entry);
            (0..2).for_each(|i| expected[i] += times * self.model.body(grown[i], holding.blocks));
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
        let mut cost = Cost::default();
        for effect in effects.values() {
            cost.requests_first += effect.requests_first;
            cost.requests_follow_up += effect.requests_follow_up;
            cost.bytes_gzip += effect.first[0];
            cost.bytes_br += effect.first[1];
        }
        Effects {
            pages: effects,
            views: after,
            expected,
            cost,
        }
    }

    /// Promise 3 for every page that the effects reach.
    pub(super) fn check(&self, effects: &Effects, name: &dyn Fn(u32) -> String) -> Result<(), Refusal> {
        let worse = self.faults(effects);
        match worse.first() {
            None => Ok(()),
            Some(first) => Err(Refusal {
                why: format!("{} would take {}", name(first.page), first.verdict),
                pages: worse.iter().map(|worse| worse.page).collect(),
            }),
        }
    }

    /// The pages that the effects would make worse than they were in SITE.
    pub(super) fn faults(&self, effects: &Effects) -> Vec<Worse> {
        let with = |page: u32| {
            let mut balance = self.balance[page as usize];
            if let Some(effect) = effects.pages.get(&page) {
                balance.add(effect);
            }
            balance
        };
        let entry = self.entry.map(with).unwrap_or_default();
        let worse = |page: u32| {
            let verdict = with(page).verdict(&entry, 0)?;
            Some(Worse { page, verdict })
        };
        // What the entry page's first view gains is part of every visit.
        let effect = self.entry.and_then(|entry| effects.pages.get(&entry));
        match effect.is_some_and(|effect| effect.first.iter().any(|&bytes| bytes > 0)) {
            true => (0..self.balance.len() as u32).filter_map(worse).collect(),
            false => effects.pages.keys().copied().filter_map(worse).collect(),
        }
    }

    /// Pages that are worse off than in SITE, by all that was booked; `margins`: bytes that the pages whose markup
    /// changed must have won, since encoders at other levels see them a little differently.
    pub(super) fn worse(&self, margins: &BTreeMap<u32, i64>) -> Vec<u32> {
        let entry = self.entry.map(|e| self.balance[e as usize]).unwrap_or_default();
        let is_worse = |page: &u32| {
            let margin = margins.get(page).copied().unwrap_or_default();
            self.balance[*page as usize].verdict(&entry, margin).is_some()
        };
        (0..self.balance.len() as u32).filter(is_worse).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn holding(views: &[u32], bytes: u64, revalidated: bool) -> Holding<'_> {
        Holding {
            views: Cow::Borrowed(views),
            sizes: Sizes::plain(bytes),
            blocks: false,
            revalidated,
        }
    }

    /// Three pages, the first is the entry: a sheet on all, an image on all, an image on the last two.
    fn account() -> Account<'static> {
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
            resizes: Vec::new(),
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
            Err("page 1 would take 1 more bytes on its first view (gzip)"),
        );
    }

    #[test]
    fn the_cache_of_a_visit_counts() {
        // The others live on what the entry page left them.
        check(
            stop(1, &[0], &[(0, 200)]),
            Err("page 1 would take 1 more requests on its follow-up view"),
        );
        // In all pages it travels again with each: the entry page saves 200 and pays for its own reload.
        check(
            stop(1, &[0, 1, 2], &[(0, 300), (1, 300), (2, 300)]),
            Err("page 0 would take 100 more bytes on a visit (gzip)"),
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
            resizes: Vec::new(),
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
