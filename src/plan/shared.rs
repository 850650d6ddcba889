//! Stylesheet files: printed shorter, and given the images that their pages show.
//!
//! A sheet changes in place, under its old URL: a cached old sheet and a new page, or the other way round, render
//! alike, because an image is the same picture as a file and as a data URL.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cost::Model;
use super::printed::{Printed, Prints, with_images};
use super::{Action, Bans, Context, Cost, Decision, Plan, SheetChange};
use crate::graph::{AddressId, Destination, Place};
use crate::image;
use crate::measure::{self, Sizes};
use crate::options::Pass;
use crate::site::FileId;
use crate::variants;

/// Of so many pages that load a stylesheet one must show an image that it carries.
const SHARE: usize = 5;

/// One image in question: who shows it through which stylesheet.
struct Candidate {
    address: AddressId,
    file: FileId,
    /// Keys of the stylesheets whose matching rules name it.
    sheets: BTreeSet<u32>,
    /// Pages that request it.
    pages: usize,
}

/// The growth of every page so far, gzip and brotli: of its first view and of its follow-up view.
struct Balance {
    first: Vec<[i64; 2]>,
    follow_up: Vec<[i64; 2]>,
}

pub(super) fn decide(
    context: &Context<'_>,
    prints: &Prints,
    bans: &Bans,
    plan: &mut Plan,
) -> anyhow::Result<()> {
    let mut work = Work::new(context, prints, bans);
    work.explain_sheets(plan);
    if context.runs(Pass::Inline) && context.options.inline_cap() > 0 {
        for candidate in candidates(context, prints) {
            work.consider(&candidate, plan)?;
        }
    }
    for (key, state) in work.state {
        if state.inlined.is_empty() && !state.printed.minified {
            continue;
        }
        let text = state.text(&plan.images);
        let Some(bytes) = state.printed.source.encode(&text) else {
            continue;
        };
        plan.uses_data |= !state.inlined.is_empty();
        let change = SheetChange {
            bytes: bytes.into(),
            inlined: state.inlined,
            before: state.printed.before,
            after: state.sizes,
        };
        plan.sheets.insert(key, change);
    }
    Ok(())
}

/// Images of stylesheet files that some page requests because of them, most wanted first.
fn candidates(context: &Context<'_>, prints: &Prints) -> Vec<Candidate> {
    let mut found: BTreeMap<AddressId, BTreeSet<u32>> = BTreeMap::new();
    for page in &context.graph.pages {
        for used in &*page.uses {
            if let Place::Sheet(key) = used.place {
                found.entry(used.address).or_default().insert(key);
            }
        }
    }
    let mut candidates: Vec<Candidate> = found
        .into_iter()
        .filter_map(|(address, sheets)| {
            let Destination::File(file) = context.graph.addresses[address as usize].to else {
                return None;
            };
            let named = |key: &u32| {
                prints[*key as usize]
                    .as_ref()
                    .is_ok_and(|p| p.places.iter().any(|(_, a)| *a == address))
            };
            let sheets: BTreeSet<u32> = sheets.into_iter().filter(named).collect();
            let pages = context.relations.requests[address as usize].len();
            (!sheets.is_empty()).then_some(Candidate {
                address,
                file,
                sheets,
                pages,
            })
        })
        .collect();
    // Small images on many pages first: they pay most for each byte, and slack is limited.
    candidates.sort_by_key(|c| {
        (
            std::cmp::Reverse(c.pages),
            context.site.file(c.file).size,
            c.address,
        )
    });
    candidates
}

/// A stylesheet while images are added to it.
struct State<'a> {
    printed: &'a Printed,
    inlined: BTreeSet<AddressId>,
    sizes: Sizes,
}

impl State<'_> {
    /// The printed text with the images of `inlined` in it.
    fn text(&self, images: &BTreeMap<AddressId, Arc<str>>) -> String {
        with_images(self.printed, &self.inlined, images)
    }
}

struct Work<'a> {
    context: &'a Context<'a>,
    prints: &'a Prints,
    bans: &'a Bans,
    state: BTreeMap<u32, State<'a>>,
    balance: Balance,
    model: Model,
}

/// What one candidate would do to one page.
struct Effect {
    page: u32,
    saved: bool,
    first: [i64; 2],
    follow_up: [i64; 2],
    follow_up_requests: i64,
}

impl<'a> Work<'a> {
    fn new(context: &'a Context<'a>, prints: &'a Prints, bans: &'a Bans) -> Work<'a> {
        let pages = context.graph.pages.len();
        let slack = (0..pages as u32).map(|page| context.slack(page));
        let mut balance = Balance {
            first: slack.clone().map(|slack| slack.first).collect(),
            follow_up: slack.map(|slack| slack.follow_up).collect(),
        };
        let mut state = BTreeMap::new();
        for (key, printed) in prints.iter().enumerate() {
            let key = key as u32;
            let Ok(printed) = printed else { continue };
            if bans.sheets.contains(&key) {
                continue;
            }
            let grown = difference(printed.before, printed.sizes);
            add_growth(context, key, grown, &mut balance);
            state.insert(
                key,
                State {
                    printed,
                    inlined: BTreeSet::new(),
                    sizes: printed.sizes,
                },
            );
        }
        Work {
            context,
            prints,
            bans,
            state,
            balance,
            model: Model::of(context),
        }
    }

    /// One decision for every stylesheet.
    fn explain_sheets(&self, plan: &mut Plan) {
        for (key, printed) in self.prints.iter().enumerate() {
            let file = self.context.graph.sheets[key].file;
            let (action, reason, grown) = match printed {
                Err(why) => (Action::Keep, (*why).to_owned(), [0; 2]),
                Ok(_) if self.bans.sheets.contains(&(key as u32)) => (
                    Action::Keep,
                    "a changed sheet made a page larger".to_owned(),
                    [0; 2],
                ),
                Ok(p) if p.minified => {
                    let reason = format!("{} bytes become {}", p.before.identity, p.sizes.identity);
                    (Action::Minify, reason, difference(p.before, p.sizes))
                }
                Ok(_) if !self.context.runs(Pass::Minify) => {
                    (Action::Keep, "--skip minify".to_owned(), [0; 2])
                }
                Ok(_) => (Action::Keep, "printed it would not be smaller".to_owned(), [0; 2]),
            };
            let loads = self.context.relations.loads[key].len() as i64;
            let cost = Cost {
                bytes_gzip: grown[0] * loads,
                bytes_br: grown[1] * loads,
                ..Cost::default()
            };
            plan.decisions.push(Decision {
                file,
                action,
                reason,
                cost,
            });
        }
    }

    fn consider(&mut self, candidate: &Candidate, plan: &mut Plan) -> anyhow::Result<()> {
        let context = self.context;
        let mut keep = |reason: String| {
            let cost = Cost::default();
            plan.decisions.push(Decision {
                file: candidate.file,
                action: Action::Keep,
                reason,
                cost,
            });
        };
        let file = context.site.file(candidate.file);
        if file.size > context.options.inline_cap() {
            keep(format!(
                "{} bytes, over --inline-limit {}",
                file.size,
                context.options.inline_cap()
            ));
            return Ok(());
        }
        let bytes = context.site.read(candidate.file)?;
        let url: Arc<str> = match image::data_url(file, &bytes, context.options.inline_cap()) {
            Ok(url) => url.into(),
            Err(refusal) => {
                keep(refusal.reason().to_owned());
                return Ok(());
            }
        };
        let allowed: BTreeSet<u32> = candidate
            .sheets
            .iter()
            .copied()
            .filter(|&k| self.takes(k, candidate))
            .collect();
        if allowed.is_empty() {
            keep(self.refusal(candidate));
            return Ok(());
        }
        let own = image_sizes(context, [candidate.address])
            .remove(&candidate.address)
            .unwrap_or_default();
        plan.images.insert(candidate.address, url);
        // All sheets together first; else each alone, for sites whose folders have a sheet each.
        let mut attempts = vec![allowed.clone()];
        if allowed.len() > 1 {
            attempts.extend(allowed.iter().map(|&k| BTreeSet::from([k])));
        }
        let mut why = String::new();
        let mut done = false;
        for sheets in attempts {
            match self.attempt(candidate, &sheets, own, plan) {
                Ok((cost, reason)) => {
                    let action = Action::Inline;
                    plan.decisions.push(Decision {
                        file: candidate.file,
                        action,
                        reason,
                        cost,
                    });
                    done = true;
                    if sheets.len() == allowed.len() {
                        break;
                    }
                }
                Err(reason) if why.is_empty() => why = reason,
                Err(_) => {}
            }
        }
        if !done {
            plan.images.remove(&candidate.address);
            let cost = Cost::default();
            plan.decisions.push(Decision {
                file: candidate.file,
                action: Action::Keep,
                reason: why,
                cost,
            });
        }
        Ok(())
    }

    /// Whether this stylesheet may carry the image at all.
    fn takes(&self, key: u32, candidate: &Candidate) -> bool {
        self.state.contains_key(&key)
            && !self.bans.inline.contains(&(key, candidate.address))
            && self.prints[key as usize]
                .as_ref()
                .is_ok_and(|p| p.takes(candidate.address))
            && !self.is_forbidden(key)
    }

    /// Some page that loads this stylesheet has a policy without `data:`.
    fn is_forbidden(&self, key: u32) -> bool {
        let relations = &self.context.relations;
        relations.loads[key as usize].iter().any(|&page| {
            relations.documents[page as usize].iter().any(|&document| {
                let facts = &self.context.graph.pages[document as usize];
                !facts.allows_data && facts.sheets.contains(&key)
            })
        })
    }

    fn refusal(&self, candidate: &Candidate) -> String {
        for &key in &candidate.sheets {
            let printed = match &self.prints[key as usize] {
                Ok(printed) => printed,
                Err(why) => return format!("its stylesheet stays as it is: {why}"),
            };
            if self.is_forbidden(key) {
                return "a page of its stylesheet has a policy that forbids data: images".to_owned();
            }
            if !printed.takes(candidate.address) {
                let times = printed.times(candidate.address);
                return format!("its stylesheet names it {times} times, in ways that cannot share one copy");
            }
        }
        "a page would get larger".to_owned()
    }

    /// Puts the image into these stylesheets if that pays and no page gets worse.
    fn attempt(
        &mut self,
        candidate: &Candidate,
        sheets: &BTreeSet<u32>,
        own: Sizes,
        plan: &Plan,
    ) -> Result<(Cost, String), String> {
        let context = self.context;
        let mut grown: BTreeMap<u32, (Sizes, [i64; 2])> = BTreeMap::new();
        for &key in sheets {
            let Some(state) = self.state.get(&key) else {
                return Err("its stylesheet stays as it is".into());
            };
            if state.inlined.contains(&candidate.address) {
                return Err("already there".into());
            }
            let mut inlined = state.inlined.clone();
            inlined.insert(candidate.address);
            let text = with_images(state.printed, &inlined, &plan.images);
            let Some(bytes) = state.printed.source.encode(&text) else {
                return Err("not encodable".into());
            };
            let encoded = variants::wanted(
                context.site.file(context.graph.sheets[key as usize].file),
                context.options,
            );
            let sizes = measure::sizes(&bytes, encoded, measure::levels(context.options), context.options);
            grown.insert(key, (sizes, difference(state.sizes, sizes)));
        }
        let effects = self.effects(candidate, &grown, own);
        let expected = self.expected(candidate, &grown, own, &effects);
        let loads = grown
            .keys()
            .map(|&key| context.relations.loads[key as usize].len())
            .max();
        let few = candidate.pages * SHARE < loads.unwrap_or_default();
        let cost = self.check(&effects, expected, few)?;
        for effect in &effects {
            let page = effect.page as usize;
            (0..2).for_each(|i| self.balance.first[page][i] += effect.first[i]);
            (0..2).for_each(|i| self.balance.follow_up[page][i] += effect.follow_up[i]);
        }
        for (key, (sizes, _)) in &grown {
            if let Some(state) = self.state.get_mut(key) {
                state.inlined.insert(candidate.address);
                state.sizes = *sizes;
            }
        }
        let marginal = grown.values().map(|(_, g)| g[0]).max().unwrap_or_default();
        let reason = format!(
            "saves {} of {} + {} bytes for {marginal} bytes in the stylesheet (gzip)",
            requests(-cost.requests_first),
            own.gzip,
            context.options.request_overhead
        );
        Ok((cost, reason))
    }

    fn effects(
        &self,
        candidate: &Candidate,
        grown: &BTreeMap<u32, (Sizes, [i64; 2])>,
        own: Sizes,
    ) -> Vec<Effect> {
        let (graph, relations) = (self.context.graph, &self.context.relations);
        let overhead = self.context.options.request_overhead as i64;
        let price = [own.gzip as i64 + overhead, own.br as i64 + overhead];
        let address = candidate.address;
        let carried = |key: u32| {
            grown.contains_key(&key) || self.state.get(&key).is_some_and(|s| s.inlined.contains(&address))
        };
        let is_saved = |page: u32| {
            relations.is_saved(
                graph,
                page,
                address,
                |_, found| matches!(found.place, Place::Sheet(k) if carried(k)),
            )
        };
        let was_cached = relations.cached.contains(&address);
        let entry_saves = was_cached && graph.entry.is_some_and(is_saved);
        let mut pages: BTreeSet<u32> = relations.requests[address as usize].iter().copied().collect();
        for key in grown.keys() {
            pages.extend(&relations.loads[*key as usize]);
        }
        let effect = |page: u32| {
            let mut effect = Effect {
                page,
                saved: false,
                first: [0; 2],
                follow_up: [0; 2],
                follow_up_requests: 0,
            };
            let mut requested = false;
            let mut seen = BTreeSet::new();
            for request in relations.requests_of(graph, page) {
                requested |= request.address == address;
                let Destination::File(file) = graph.addresses[request.address as usize].to else {
                    continue;
                };
                let Some((_, g)) = graph.sheet_of(file).and_then(|key| grown.get(&key)) else {
                    continue;
                };
                if !seen.insert(request.address) {
                    continue;
                }
                (0..2).for_each(|i| effect.first[i] += g[i]);
                if !relations.cached.contains(&request.address) {
                    (0..2).for_each(|i| effect.follow_up[i] += g[i]);
                }
            }
            if requested {
                effect.saved = is_saved(page);
                let times = i64::from(!effect.saved && (!was_cached || entry_saves)) - i64::from(!was_cached);
                effect.follow_up_requests = times;
                (0..2).for_each(|i| effect.follow_up[i] += times * price[i]);
                if effect.saved {
                    (0..2).for_each(|i| effect.first[i] -= price[i]);
                }
            }
            effect
        };
        pages.into_iter().map(effect).collect()
    }

    /// What a visit would cost more, by the cost model.
    fn expected(
        &self,
        candidate: &Candidate,
        grown: &BTreeMap<u32, (Sizes, [i64; 2])>,
        own: Sizes,
        effects: &[Effect],
    ) -> [f64; 2] {
        let (entry, relations) = (self.context.graph.entry, &self.context.relations);
        let before = &relations.requests[candidate.address as usize];
        let saved: BTreeSet<u32> = effects.iter().filter(|e| e.saved).map(|e| e.page).collect();
        let after: Vec<u32> = before
            .iter()
            .copied()
            .filter(|page| !saved.contains(page))
            .collect();
        let times = self.model.fetches(&after, entry) - self.model.fetches(before, entry);
        let mut expected = self.model.fetch(own, false).map(|bytes| bytes * times);
        for (&key, (_, grown)) in grown {
            let times = self.model.fetches(&relations.loads[key as usize], entry);
            (0..2).for_each(|i| expected[i] += times * self.model.body(grown[i], true));
        }
        expected
    }

    /// The cost over all pages, or why the change is refused.
    fn check(&self, effects: &[Effect], expected: [f64; 2], few: bool) -> Result<Cost, String> {
        let graph = self.context.graph;
        let mut cost = Cost::default();
        let mut entry = graph
            .entry
            .map(|e| self.balance.first[e as usize])
            .unwrap_or_default();
        for effect in effects {
            cost.requests_first -= i64::from(effect.saved);
            cost.requests_follow_up += effect.follow_up_requests;
            cost.bytes_gzip += effect.first[0];
            cost.bytes_br += effect.first[1];
            if Some(effect.page) == graph.entry {
                (0..2).for_each(|i| entry[i] += effect.first[i]);
            }
        }
        if cost.requests_first == 0 {
            return Err("no page would make fewer requests: other elements ask for it as well".into());
        }
        // Pages that never show it pay for it on every first view: that is fair where many do, or where all first views
        // together still win.
        let all_win = cost.bytes_gzip < 0 && cost.bytes_br < 0;
        if few && !all_win {
            return Err("too few of the pages that load its stylesheet show it".to_owned());
        }
        if !all_win && (expected[0] >= 0.0 || expected[1] >= 0.0) {
            return Err(format!(
                "does not pay: a visit would cost {:.0} bytes more (gzip), {:.0} (brotli)",
                expected[0], expected[1]
            ));
        }
        let name = |page: u32| {
            self.context
                .site
                .file(graph.pages[page as usize].file)
                .path
                .to_string()
        };
        for effect in effects {
            let (first, follow) = (
                self.balance.first[effect.page as usize],
                self.balance.follow_up[effect.page as usize],
            );
            if effect.follow_up_requests > 0 {
                return Err(format!(
                    "{} would ask for it on a follow-up view",
                    name(effect.page)
                ));
            }
            let grows =
                |i: usize| first[i] + effect.first[i] > 0 || entry[i] + follow[i] + effect.follow_up[i] > 0;
            if grows(0) || grows(1) {
                return Err(format!("{} would get larger", name(effect.page)));
            }
        }
        // A larger first view of the entry page is part of every visit, also of those that end elsewhere.
        let affected: BTreeSet<u32> = effects.iter().map(|e| e.page).collect();
        let others = (0..graph.pages.len() as u32).filter(|page| !affected.contains(page));
        let grows = |page: &u32| (0..2).any(|i| entry[i] + self.balance.follow_up[*page as usize][i] > 0);
        match others.filter(|_| entry != [0; 2]).find(grows) {
            Some(page) => Err(format!("a visit that ends at {} would get larger", name(page))),
            None => Ok(cost),
        }
    }
}

fn requests(n: i64) -> String {
    if n == 1 {
        "1 request".to_owned()
    } else {
        format!("{n} requests")
    }
}

fn difference(before: Sizes, after: Sizes) -> [i64; 2] {
    [
        after.gzip as i64 - before.gzip as i64,
        after.br as i64 - before.br as i64,
    ]
}

/// Books what a stylesheet gained or lost on every page that loads it.
fn add_growth(context: &Context<'_>, key: u32, grown: [i64; 2], balance: &mut Balance) {
    let (graph, relations) = (context.graph, &context.relations);
    for &page in &relations.loads[key as usize] {
        let mut seen = BTreeSet::new();
        for request in relations.requests_of(graph, page) {
            let Destination::File(file) = graph.addresses[request.address as usize].to else {
                continue;
            };
            if graph.sheet_of(file) != Some(key) || !seen.insert(request.address) {
                continue;
            }
            (0..2).for_each(|i| balance.first[page as usize][i] += grown[i]);
            if !relations.cached.contains(&request.address) {
                (0..2).for_each(|i| balance.follow_up[page as usize][i] += grown[i]);
            }
        }
    }
}

/// The sizes of images as files.
pub(super) fn image_sizes(
    context: &Context<'_>,
    addresses: impl IntoIterator<Item = AddressId>,
) -> BTreeMap<AddressId, Sizes> {
    let mut sizes = BTreeMap::new();
    for address in addresses {
        let Destination::File(file) = context.graph.addresses[address as usize].to else {
            continue;
        };
        let entry = context.site.file(file);
        let measured = if variants::wanted(entry, context.options) {
            let Ok(bytes) = context.site.read(file) else {
                continue;
            };
            measure::sizes(&bytes, true, measure::levels(context.options), context.options)
        } else {
            Sizes::plain(entry.size)
        };
        sizes.insert(address, measured);
    }
    sizes
}
