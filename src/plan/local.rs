//! Each page's own CSS: `style` elements and `style` attributes, printed shorter and given images of that page.
//!
//! Only this page pays and gains, except on the entry page, whose first view fills the cache of all visits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::sheets::image_sizes;
use super::{Action, Bans, Context, Cost, Decision, Known, PageChange, Plan, number_of_pages};
use crate::css;
use crate::graph::{AddressId, Destination, Place};
use crate::image;
use crate::measure::{self, Sizes};
use crate::options::Pass;
use crate::parallel;
use crate::rewrite::{self, PageEdits};
use crate::variants;

/// A page is not touched for less: encoders of other levels disagree about a few bytes, and the reader of a diff
/// deserves a reason.
const LEAST_GAIN: u64 = 32;

/// And of so many bytes of the whole page one: on a page of 147,000 bytes (gzip) a gain of 167 at the fast level was
/// a loss of 264 at the best, as other blocks were chosen.
const SHARE: u64 = 300;

/// Whether a page of now `after` bytes won enough over `before`.
fn wins(before: u64, after: u64) -> bool {
    before >= after + LEAST_GAIN.max(after / SHARE)
}

/// What the parallel step finds out about one page.
struct Found {
    change: Option<PageChange>,
    decision: Option<Decision>,
    images: BTreeMap<AddressId, Arc<str>>,
}

pub(super) fn decide(context: &Context<'_>, bans: &Bans, plan: &mut Plan) -> anyhow::Result<()> {
    let renewed: BTreeSet<crate::site::FileId> = plan
        .sheets
        .keys()
        .map(|&key| context.graph.sheets[key as usize].file)
        .collect();
    let names_renewed = |page: &u32| {
        let facts = &context.graph.pages[*page as usize];
        facts.integrity.iter().any(|(file, _)| renewed.contains(file))
    };
    let preloads_inlined = |page: &u32| {
        let facts = &context.graph.pages[*page as usize];
        facts
            .requests
            .iter()
            .any(|r| r.preload && !r.markup && plan.images.contains_key(&r.address))
    };
    let pages: Vec<u32> = (0..context.graph.pages.len() as u32)
        .filter(|&page| {
            let facts = &context.graph.pages[page as usize];
            facts.opaque.is_none() && (facts.styled || names_renewed(&page) || preloads_inlined(&page))
        })
        .collect();
    let mut carried: BTreeMap<AddressId, i64> = BTreeMap::new();
    let shared: &Plan = plan;
    let found = parallel::map(&pages, |&page| look(context, bans, shared, page));
    for (page, found) in pages.into_iter().zip(found) {
        let found = found?;
        plan.uses_data |= !found.images.is_empty();
        for &address in found.images.keys() {
            *carried.entry(address).or_default() += 1;
        }
        plan.images.extend(found.images);
        plan.decisions.extend(found.decision);
        if let Some(change) = found.change {
            plan.pages.insert(page, change);
        }
    }
    for (address, pages) in carried {
        if let Destination::File(file) = context.graph.addresses[address as usize].to {
            plan.decisions.push(Decision {
                file,
                action: Action::Inline,
                reason: format!("stands in the own CSS of {}", number_of_pages(pages as usize)),
                cost: Cost {
                    requests_first: -pages,
                    ..Cost::default()
                },
            });
        }
    }
    Ok(())
}

fn look(context: &Context<'_>, bans: &Bans, plan: &Plan, page: u32) -> anyhow::Result<Found> {
    let facts = &context.graph.pages[page as usize];
    let bytes = context.site.read(facts.file)?;
    anyhow::ensure!(
        crate::graph::hash(&bytes) == facts.hash,
        "{} changed during the build",
        context.site.file(facts.file).path
    );
    let encoded = variants::wanted(context.site.file(facts.file), context.options);
    let measure =
        |bytes: &[u8]| measure::sizes(bytes, encoded, measure::levels(context.options), context.options);
    let reader = rewrite::Reader::new(context.site, context.graph, context.options, page, &bytes);
    let before = measure(&bytes);
    let build = |minify: bool, images: &BTreeMap<AddressId, Arc<str>>| {
        let edits = PageEdits {
            minify,
            images,
            plan,
            known: &plan.styles,
        };
        let bytes = reader.rewrite(&edits);
        let sizes = measure(&bytes);
        // Several uses may have become one by printing; a second copy of an image is never worth it.
        let once = images
            .values()
            .all(|url| occurrences(&bytes, url.as_bytes()) <= 1);
        (sizes, bytes == reader.bytes, once)
    };
    let none = BTreeMap::new();
    let banned = bans.pages.contains(&page);
    // Integrity and preloads follow what happened to the stylesheets, whether that makes the page smaller or not.
    let (plain, untouched, _) = build(false, &none);
    let mut best = (plain, false);
    if context.runs(Pass::Minify) && !banned {
        let (sizes, ..) = build(true, &none);
        if wins(plain.gzip, sizes.gzip) && wins(plain.br, sizes.br) {
            best = (sizes, true);
        }
    }
    let mut images = BTreeMap::new();
    if context.runs(Pass::Inline) && context.options.inline_cap() > 0 && !banned && facts.allows_data {
        for (address, url, own) in candidates(context, plan, page)? {
            let mut more = images.clone();
            more.insert(address, url);
            let overhead = context.options.request_overhead;
            // Every candidate must earn what it adds, and the margin that other encoder levels may differ by.
            let pays = |was: u64, is: u64, own: u64| wins(was + own + overhead, is);
            // Printing may be what makes several uses one, even where it would not pay alone.
            let may_print = context.runs(Pass::Minify);
            for minify in [best.1, may_print] {
                let (sizes, _, once) = build(minify, &more);
                if once && pays(best.0.gzip, sizes.gzip, own.gzip) && pays(best.0.br, sizes.br, own.br) {
                    best = (sizes, minify);
                    images = more;
                    break;
                }
                if minify == may_print {
                    break;
                }
            }
        }
    }
    let (after, minify) = best;
    if untouched && !minify && images.is_empty() {
        return Ok(Found {
            change: None,
            decision: None,
            images,
        });
    }
    let cost = Cost {
        requests_first: -(images.len() as i64),
        requests_follow_up: -(images
            .keys()
            .filter(|a| !context.relations.cached.contains(a))
            .count() as i64),
        bytes_gzip: after.gzip as i64 - before.gzip as i64,
        bytes_br: after.br as i64 - before.br as i64,
    };
    let (action, reason) = match (images.len(), minify) {
        (0, true) => (
            Action::Minify,
            format!("its own CSS: {} bytes become {}", before.identity, after.identity),
        ),
        (0, false) => (
            Action::Keep,
            "only integrity or preload links follow the stylesheets".to_owned(),
        ),
        (n, _) => (
            Action::Inline,
            format!(
                "{n} of its own CSS images, {} bytes become {}",
                before.identity, after.identity
            ),
        ),
    };
    let decision = Decision {
        file: facts.file,
        action,
        reason,
        cost,
    };
    let change = PageChange {
        minify,
        inlined: images.keys().copied().collect(),
        before,
        after,
    };
    Ok(Found {
        change: Some(change),
        decision: Some(decision),
        images,
    })
}

/// Prints the `style` elements that several of these pages have, each once.
pub(super) fn styles(context: &Context<'_>, pages: &[u32]) -> anyhow::Result<Known> {
    let hashes = |&page: &u32| {
        let facts = &context.graph.pages[page as usize];
        if !facts.styled {
            return Ok(Vec::new());
        }
        let bytes = context.site.read(facts.file)?;
        let reader = rewrite::Reader::new(context.site, context.graph, context.options, page, &bytes);
        let texts = reader.style_texts();
        anyhow::Ok(
            texts
                .iter()
                .map(|text| crate::graph::hash(text.as_bytes()))
                .collect(),
        )
    };
    let mut seen: BTreeMap<u64, (usize, u32)> = BTreeMap::new();
    for (&page, hashes) in pages.iter().zip(parallel::map(pages, hashes)) {
        for hash in hashes? {
            seen.entry(hash).or_insert((0, page)).0 += 1;
        }
    }
    let earlier = context.known;
    let many: Vec<(u64, u32)> = seen
        .into_iter()
        .filter(|(_, (times, _))| *times > 1)
        .map(|(hash, (_, page))| (hash, page))
        .collect();
    let printed = parallel::map(&many, |&(hash, page)| {
        if let Some(known) = earlier.and_then(|known| known.get(&hash)) {
            return anyhow::Ok(known.clone());
        }
        let facts = &context.graph.pages[page as usize];
        let bytes = context.site.read(facts.file)?;
        let reader = rewrite::Reader::new(context.site, context.graph, context.options, page, &bytes);
        let text = reader
            .style_texts()
            .into_iter()
            .find(|text| crate::graph::hash(text.as_bytes()) == hash);
        let printed = text.and_then(|text| css::print(&text, context.options.targets));
        Ok(printed.map(Arc::from))
    });
    let mut known = Known::new();
    for ((hash, _), printed) in many.into_iter().zip(printed) {
        known.insert(hash, printed?);
    }
    Ok(known)
}

/// What printing a page's own CSS will save, as gzip and brotli: room for what the page is to carry.
pub(super) fn gain(context: &Context<'_>, known: &Known, page: u32) -> anyhow::Result<[i64; 2]> {
    let facts = &context.graph.pages[page as usize];
    if !facts.styled || facts.opaque.is_some() || !context.runs(Pass::Minify) {
        return Ok([0; 2]);
    }
    let bytes = context.site.read(facts.file)?;
    let encoded = variants::wanted(context.site.file(facts.file), context.options);
    let measure =
        |bytes: &[u8]| measure::sizes(bytes, encoded, measure::levels(context.options), context.options);
    let reader = rewrite::Reader::new(context.site, context.graph, context.options, page, &bytes);
    let printed = reader.rewrite(&PageEdits {
        minify: true,
        images: &BTreeMap::new(),
        plan: &Plan::default(),
        known,
    });
    if printed == bytes {
        return Ok([0; 2]);
    }
    let (before, after) = (measure(&bytes), measure(&printed));
    if wins(before.gzip, after.gzip) && wins(before.br, after.br) {
        return Ok(super::shape::difference(before, after));
    }
    Ok([0; 2])
}

/// Images that only this page's own CSS asks for, smallest first.
fn candidates(
    context: &Context<'_>,
    plan: &Plan,
    page: u32,
) -> anyhow::Result<Vec<(AddressId, Arc<str>, Sizes)>> {
    let (graph, relations) = (context.graph, &context.relations);
    // Inside a frame the same image may be shown by another document of the view.
    if relations.framed.contains(&page) || relations.documents[page as usize].len() > 1 {
        return Ok(Vec::new());
    }
    let facts = &graph.pages[page as usize];
    let mut found = Vec::new();
    let addresses: BTreeSet<AddressId> = facts
        .uses
        .iter()
        .filter(|u| !matches!(u.place, Place::Sheet(_)))
        .map(|u| u.address)
        .collect();
    for address in addresses {
        let elsewhere = !relations.is_saved(graph, page, address, |_, u| match u.place {
            Place::Sheet(key) => plan
                .sheets
                .get(&key)
                .is_some_and(|s| s.inlined.contains(&address)),
            Place::Element(_) => facts.aligned,
            Place::Attribute(_) => !facts.selects_style && !facts.hashes_styles,
        });
        // What the entry page leaves in the cache is worth its bytes to the pages that follow.
        let shared_by_cache = relations.cached.contains(&address)
            && (Some(page) != graph.entry || relations.requests[address as usize].len() > 1);
        if elsewhere || facts.hashes_styles || shared_by_cache {
            continue;
        }
        let Destination::File(file) = graph.addresses[address as usize].to else {
            continue;
        };
        let entry = context.site.file(file);
        if entry.size > context.options.inline_cap() {
            continue;
        }
        let bytes = context.site.read(file)?;
        let Ok(url) = image::data_url(entry, &bytes, context.options.inline_cap()) else {
            continue;
        };
        let sizes = image_sizes(context, [address])
            .remove(&address)
            .unwrap_or_default();
        found.push((address, Arc::from(url), sizes));
    }
    found.sort_by_key(|(address, _, sizes)| (sizes.identity, *address));
    Ok(found)
}

fn occurrences(bytes: &[u8], part: &[u8]) -> usize {
    memchr::memmem::find_iter(bytes, part).count()
}
