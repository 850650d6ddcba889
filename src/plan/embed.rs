//! Small sheets and images into the page: what a request costs more than the bytes do.
//!
//! A sheet or image goes into all pages that can take it or into none: a copy in one page is no cached file for the
//! others. The account says when that pays.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::account::{Change, Refusal, Resource};
use super::placeholder::{self, Shared};
use super::shape::{Fate, Unit, Work, bytes_of};
use super::{Action, Cost, number_of_pages};
use crate::css;
use crate::graph::{Address, AddressId, Destination, Place, Use};
use crate::image;
use crate::options::Pass;
use crate::site::FileId;
use crate::url::{self, Target};

/// A further copy of an image in the same page (bytes, for every match of the encoder), where it still sees the one
/// before.
const COPY: i64 = 4;

/// A rule of a `style` element around a data URL (bytes).
const RULE: i64 = 24;

/// A `style` element of this text: what it grows a page by beside the text.
const STYLE_ELEMENT: i64 = 4;

/// Sheets of at most so many pages; one page, if it is not the entry page, whose cache the others live on.
pub(super) fn sheets(work: &mut Work<'_>, pages: u32) {
    for index in 0..work.units.len() {
        let unit = &work.units[index];
        let is_entry = || pages == 1 && unit.docs.first().copied() == work.ground.graph().entry;
        let few = unit.docs.len() as u64 <= u64::from(pages) && !is_entry();
        let Some(&first) = unit.keys.first().filter(|_| unit.fate != Fate::Embedded && few) else {
            continue;
        };
        let file = work.ground.graph().sheets[first as usize].file;
        if !work.runs_on(Pass::Embed, file) {
            continue;
        }
        match sheet(work, index) {
            Ok((cost, pages)) => {
                work.units[index].fate = Fate::Embedded;
                let reason = format!("stands in a `style` element of {}", number_of_pages(pages));
                work.decide(file, Action::Embed, reason, cost);
            }
            Err(_) if pages == 1 => {}
            Err(reason) => {
                let reason = format!("not in the pages: {reason}");
                work.decide(file, Action::Keep, reason, Cost::default());
            }
        }
    }
}

fn sheet(work: &mut Work<'_>, index: usize) -> Result<(Cost, usize), String> {
    let text = movable(work, index)?;
    if !work.units[index].complete {
        return Err("some page asks for it in a way that cannot change".into());
    }
    take(work, index, &text, Vec::new())
}

/// Sheets that no page wins by alone, as visitors have them in their cache, with the small images that their pages ask
/// for because of them: these requests end as well. Pages that cannot be edited keep the file.
pub(super) fn sheets_with_images(work: &mut Work<'_>) -> anyhow::Result<()> {
    for index in 0..work.units.len() {
        let unit = &work.units[index];
        let Some(&first) = unit.keys.first().filter(|_| unit.fate != Fate::Embedded) else {
            continue;
        };
        let file = work.ground.graph().sheets[first as usize].file;
        if !work.runs_on(Pass::Embed, file) {
            continue;
        }
        let Ok(text) = movable(work, index) else { continue };
        let images = small_images(work, index, &text)?;
        if images.is_empty() {
            continue;
        }
        let Some(text) = illustrated(work, index, &text, &images) else {
            continue;
        };
        let stops = images
            .iter()
            .map(|(address, image)| (*address, image.views.clone()))
            .collect();
        let Ok((cost, pages)) = take(work, index, &text, stops) else {
            continue;
        };
        let unit = &mut work.units[index];
        unit.fate = Fate::Embedded;
        unit.text = Some(text);
        unit.inlined = images.keys().copied().collect();
        let reason = format!(
            "stands in a `style` element of {}, with {} of its images",
            number_of_pages(pages),
            images.len()
        );
        work.decisions
            .retain(|old| old.file != file || old.action != Action::Keep);
        work.decide(file, Action::Embed, reason, cost);
        for (address, image) in &images {
            if let Some(file) = work.ground.file_of(*address) {
                let reason = format!("stands in the own CSS of {}", number_of_pages(image.views.len()));
                work.decide(file, Action::Inline, reason, Cost::default());
            }
        }
    }
    Ok(())
}

/// An image that a sheet names once.
struct Small {
    url: String,
    /// Pages that ask for it because of this sheet alone.
    views: Vec<u32>,
}

fn small_images(work: &Work<'_>, index: usize, text: &str) -> anyhow::Result<BTreeMap<AddressId, Small>> {
    let ground = work.ground;
    let (site, graph, unit) = (ground.context.site, ground.graph(), &work.units[index]);
    let mut found: BTreeMap<AddressId, Option<Small>> = BTreeMap::new();
    if unit
        .docs
        .iter()
        .any(|&page| !graph.pages[page as usize].allows_data)
    {
        return Ok(BTreeMap::new());
    }
    for url in css::scan(text, false).urls {
        let Some((file, address)) = work.image(index, &url.value) else {
            continue;
        };
        if found.contains_key(&address) || !image::takes_images(&url.place) {
            found.insert(address, None);
            continue;
        }
        let asks = |page: &&u32| {
            let facts = &graph.pages[**page as usize];
            let mut requests = facts.requests.iter().filter(|request| request.address == address);
            let by_css = requests.all(|request| !request.markup && !request.preload);
            let mut uses = facts.uses.iter().filter(|used| used.address == address);
            let here = |used: &Use| matches!(used.place, Place::Sheet(key) if unit.keys.contains(&key));
            by_css && uses.clone().count() > 0 && uses.all(here)
        };
        let views: Vec<u32> = unit.docs.iter().filter(asks).copied().collect();
        let entry = site.file(file);
        let cap = ground.context.options.inline_cap_of(&entry.path);
        let small = if views.is_empty() || entry.size > cap || !work.runs_on(Pass::Inline, file) {
            None
        } else {
            let url = image::data_url(entry, &site.read(file)?, cap).ok();
            url.map(|url| Small { url, views })
        };
        found.insert(address, small);
    }
    let small = found
        .into_iter()
        .filter_map(|(address, small)| Some((address, small?)));
    Ok(small.collect())
}

/// The text with these images in it.
fn illustrated(
    work: &Work<'_>,
    index: usize,
    text: &str,
    images: &BTreeMap<AddressId, Small>,
) -> Option<Arc<str>> {
    let image = |raw: &str| Some(images.get(&work.image(index, raw)?.1)?.url.clone());
    css::rebase(text, &mut |_, raw| {
        Some(image(raw).unwrap_or_else(|| raw.to_owned()))
    })
    .map(Arc::from)
}

impl Work<'_> {
    /// The file that an address in a unit's text leads to, and its id, if pages request it.
    fn image(&self, index: usize, raw: &str) -> Option<(FileId, AddressId)> {
        let (site, graph) = (self.ground.context.site, self.ground.graph());
        let base = url::base(&graph.mount, &self.units[index].home);
        match url::resolve(site, &graph.mount, &base, raw) {
            Target::File { file, address, .. } => {
                let to = Destination::File(file);
                Some((file, graph.address(&Address { url: address, to })?))
            }
            _ => None,
        }
    }
}

/// What a unit says, where it could stand in its pages.
fn movable(work: &Work<'_>, index: usize) -> Result<Arc<str>, String> {
    let ground = work.ground;
    let unit = &work.units[index];
    if unit.docs.is_empty() {
        return Err("no page links it any more".into());
    }
    let text = unit.text.clone().ok_or("its text cannot be moved")?;
    let sizes = work.account.sizes(unit.resource);
    if sizes.identity > work.ground.context.options.inline_cap() {
        return Err(format!(
            "{} bytes are too many to be in every page",
            sizes.identity
        ));
    }
    if !unit.images.is_empty() {
        return Err("it carries images for its pages".into());
    }
    if text.to_ascii_lowercase().contains("</style") {
        return Err("it holds `</style`".into());
    }
    // Chromium shows another part of an SVG when the address stands in the page itself.
    if css::scan(&text, false)
        .urls
        .iter()
        .any(|url| url.value.find('#').is_some_and(|at| at > 0))
    {
        return Err("it has an address with a fragment".into());
    }
    for &page in &unit.docs {
        let facts = &ground.graph().pages[page as usize];
        let Some(doc) = &ground.docs[page as usize] else {
            return Err("a page cannot be edited".into());
        };
        let refuses = match () {
            () if !doc.alone => Some("has to do with frames"),
            () if doc.fixed_sheets.is_some() => Some("has a script or selector that could see it"),
            () if doc.survey.moved => Some("has a base element"),
            () if !facts.allows_inline_styles => Some("has a policy against inline styles"),
            () if !text.is_ascii() && !doc.is_utf_8 => Some("has another encoding"),
            () if work.bans.pages.contains(&page) => Some("would get larger"),
            () => None,
        };
        if let Some(why) = refuses {
            return Err(format!("{} {why}", ground.name(page)));
        }
    }
    Ok(text)
}

/// Books the unit with this text as a part of its pages, which ask for less besides.
fn take(
    work: &mut Work<'_>,
    index: usize,
    text: &str,
    mut stops: Vec<(Resource, Vec<u32>)>,
) -> Result<(Cost, usize), String> {
    let ground = work.ground;
    let unit: &Unit = &work.units[index];
    let first = ground.graph().pages[unit.docs[0] as usize].file;
    let to = &ground.context.site.file(first).path;
    let moved = work
        .rebase(text, &unit.home, to)
        .ok_or("its addresses cannot be moved")?;
    let alone = ground.measure(&bytes_of(&moved));
    let grown = [alone.gzip as i64 + STYLE_ELEMENT, alone.br as i64 + STYLE_ELEMENT];
    let docs = unit.docs.clone();
    stops.push((unit.resource, ground.views(&docs)));
    let change = Change {
        stops,
        starts: Vec::new(),
        resizes: Vec::new(),
        grows: docs.iter().map(|&d| (d, grown)).collect(),
        blocks: true,
    };
    Ok((work.take(&change)?, docs.len()))
}

pub(super) fn images(work: &mut Work<'_>) -> anyhow::Result<()> {
    let ground = work.ground;
    for address in 0..ground.graph().addresses.len() as AddressId {
        let docs: Vec<u32> = ground.requested_by[address as usize]
            .iter()
            .copied()
            .filter(|&page| {
                !ground.images(page, address).is_empty()
                    && ground.docs[page as usize].as_ref().is_some_and(|doc| doc.alone)
                    && !work.bans.pages.contains(&page)
                    && !work.bans.images.contains(&(page, address))
                    && !work.is_placed(page, address)
            })
            .collect();
        let Some(file) = ground
            .file_of(address)
            .filter(|&file| work.runs_on(Pass::Embed, file))
        else {
            continue;
        };
        if docs.is_empty() {
            let mut pages = ground.requested_by[address as usize].iter();
            let why = pages.find_map(|&page| Some((page, ground.fixed_image(page, address)?)));
            if let Some((page, why)) = why {
                work.keep(address, format!("not in the pages: {}: {why}", ground.name(page)));
            }
            continue;
        }
        let is_cached = ground
            .graph()
            .entry
            .is_some_and(|entry| work.account.views(address).contains(&entry));
        let mut docs = docs;
        let mut first = None;
        for _ in 0..ATTEMPTS {
            let Err(refusal) = carry(work, address, file, &docs)? else {
                first = None;
                break;
            };
            // Pages that lose by it keep the file, unless the others would take it out of their cache.
            let before = docs.len();
            if !is_cached {
                docs.retain(|page| !refusal.pages.contains(page));
            }
            first.get_or_insert(refusal.why);
            if docs.is_empty() || docs.len() == before {
                break;
            }
        }
        if let Some(why) = first {
            work.keep(address, format!("not in the pages: {why}"));
        }
    }
    Ok(())
}

/// Attempts without the pages that would have got worse.
const ATTEMPTS: usize = 4;

/// An image that pages carry themselves.
#[derive(Debug)]
pub(super) struct Carried {
    pub(super) url: Arc<str>,
    /// Pages that have it in `src`.
    pub(super) plain: BTreeSet<u32>,
    /// For pages that show it many times: once, in a `style` element.
    pub(super) styled: Option<Shared>,
}

impl Carried {
    pub(super) fn pages(&self) -> impl Iterator<Item = u32> {
        let styled = self.styled.iter().flat_map(|shared| &shared.docs);
        self.plain.iter().chain(styled).copied()
    }

    pub(super) fn is_on(&self, page: u32) -> bool {
        self.plain.contains(&page)
            || self
                .styled
                .as_ref()
                .is_some_and(|shared| shared.docs.contains(&page))
    }
}

fn carry(
    work: &mut Work<'_>,
    address: AddressId,
    file: FileId,
    docs: &[u32],
) -> anyhow::Result<Result<(), Refusal>> {
    let ground = work.ground;
    let entry = ground.context.site.file(file);
    let cap = ground.context.options.inline_cap_of(&entry.path);
    if entry.size > cap {
        let why = format!("{} bytes, over the limit of {cap}", entry.size);
        return Ok(Err(Refusal::from(why.as_str())));
    }
    let bytes = ground.context.site.read(file)?;
    let url = match image::data_url(entry, &bytes, cap) {
        Ok(url) => url,
        Err(refusal) => return Ok(Err(Refusal::from(refusal.reason()))),
    };
    let alone = ground.measure(url.as_bytes());
    let mut styled = Shared::new(ground, &url, &bytes);
    let mut plain = BTreeSet::new();
    let mut grows = Vec::new();
    for &page in docs {
        let (near, far) = ground.copies(page, address);
        let bias = work.bias(page, near + far + 1);
        // A repetition is one match in 258 bytes (RFC 1951, section 3.2.5).
        let copy = COPY * (1 + url.len() as i64 / 258);
        let in_place = [
            alone.gzip as i64 * (1 + far) + near * copy,
            alone.br as i64 + (near + far) * copy,
        ];
        let marks = placeholder::growth(work, page, near, far);
        let in_rule = [alone.gzip as i64, alone.br as i64];
        let in_rule = [in_rule[0] + RULE + marks[0], in_rule[1] + RULE + marks[1]];
        let many = near + far > 0 && in_rule[0] < in_place[0] && placeholder::may_style(work, page);
        let styled = styled.as_mut().filter(|_| many);
        let grown = match styled.filter(|shared| shared.suits(work, page, address, true)) {
            Some(shared) => {
                shared.docs.insert(page);
                in_rule
            }
            None if placeholder::may_rewrite(ground, page, address, &url) => {
                plain.insert(page);
                in_place
            }
            None => continue,
        };
        grows.push((page, [grown[0] + bias[0], grown[1] + bias[1]]));
    }
    let docs: Vec<u32> = grows.iter().map(|(page, _)| *page).collect();
    if docs.is_empty() {
        return Ok(Err(Refusal::from("a selector could see the other address")));
    }
    let change = Change {
        stops: vec![(address, ground.stops(address, &docs))],
        starts: Vec::new(),
        resizes: Vec::new(),
        grows,
        blocks: false,
    };
    match work.take(&change) {
        Ok(cost) => {
            let reason = format!("stands in {}", number_of_pages(docs.len()));
            work.decide(file, Action::Embed, reason, cost);
            let styled = styled.filter(|shared| !shared.docs.is_empty());
            work.placed.extend(styled.iter().flat_map(|shared| &shared.docs));
            let url = Arc::from(url);
            work.carried.insert(address, Carried { url, plain, styled });
            Ok(Ok(()))
        }
        Err(refusal) => Ok(Err(refusal)),
    }
}
