//! Stylesheet files: printed shorter, and given the images that their pages show.
//!
//! A sheet changes in place, under its old URL: a cached old sheet and a new page, or the other way round, render
//! alike, because an image is the same picture as a file and as a data URL.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::account::{Account, Change};
use super::printed::{Printed, Prints, with_images};
use super::shape::difference;
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
    account: Account<'a>,
}

impl<'a> Work<'a> {
    fn new(context: &'a Context<'a>, prints: &'a Prints, bans: &'a Bans) -> Work<'a> {
        let mut account = Account::new(context, |_| Default::default());
        let mut state = BTreeMap::new();
        for (key, printed) in prints.iter().enumerate() {
            let Ok(printed) = printed else { continue };
            let key = key as u32;
            if bans.sheets.contains(&key) {
                continue;
            }
            let grown = difference(printed.before, printed.sizes);
            for &address in addresses_of(context, key) {
                account.grow(address, grown);
            }
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
            account,
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
        self.account.weigh(candidate.address, own);
        let mut change = Change {
            stops: vec![(candidate.address, self.saved(candidate.address, &grown))],
            ..Change::default()
        };
        for (&key, &(_, grown)) in &grown {
            let addresses = addresses_of(context, key).iter();
            change.resizes.extend(addresses.map(|&address| (address, grown)));
        }
        let effects = self.account.effects(&change);
        if effects.cost.requests_first == 0 {
            return Err("no page would make fewer requests: other elements ask for it as well".into());
        }
        // Pages that never show it pay for it on every first view: that is fair where many do, or where all first
        // views together still win.
        if !effects.all_win() {
            let loads = grown
                .keys()
                .map(|&key| context.relations.loads[key as usize].len());
            if candidate.pages * SHARE < loads.max().unwrap_or_default() {
                return Err("too few of the pages that load its stylesheet show it".into());
            }
            effects.pay()?;
        }
        let name = |page: u32| {
            let file = context.graph.pages[page as usize].file;
            context.site.file(file).path.to_string()
        };
        self.account.check(&effects, &name)?;
        let cost = self.account.book(effects);
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

    /// Pages that no longer request the image when these sheets carry it too.
    fn saved(&self, address: AddressId, grown: &BTreeMap<u32, (Sizes, [i64; 2])>) -> Vec<u32> {
        let (graph, relations) = (self.context.graph, &self.context.relations);
        let carries = |key: u32| {
            grown.contains_key(&key) || self.state.get(&key).is_some_and(|s| s.inlined.contains(&address))
        };
        let is_saved = |page: &u32| {
            relations.is_saved(
                graph,
                *page,
                address,
                |_, found| matches!(found.place, Place::Sheet(key) if carries(key)),
            )
        };
        relations.requests[address as usize]
            .iter()
            .copied()
            .filter(is_saved)
            .collect()
    }
}

/// The addresses under which pages request a stylesheet.
fn addresses_of<'a>(context: &Context<'a>, key: u32) -> &'a [AddressId] {
    let graph = context.graph;
    graph.addresses_of(graph.sheets[key as usize].file)
}

fn requests(n: i64) -> String {
    if n == 1 {
        "1 request".to_owned()
    } else {
        format!("{n} requests")
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
