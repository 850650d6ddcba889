//! The whole path: read, link, decide, write, read again, compare.

mod assemble;
mod deploy;
mod draft;

pub use assemble::measured;
use draft::{Decided, Draft};

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use crate::check::suggest;
use crate::compare::{self, Views};
use crate::diagnostic::{Code, Diagnostic};
use crate::disk::Staging;
use crate::graph::{self, Graph, Request};
use crate::measure::{self, Sizes};
use crate::names::Names;
use crate::options::Options;
use crate::output::{self, Written};
use crate::plan::{self, Bans, Plan};
use crate::report::Report;
use crate::site::{self, FileId, Site};
use crate::{parallel, previous, variants};

/// What a build made. OUT appears with `Staging::commit`, after the budgets were looked at.
#[derive(Debug)]
pub struct Built {
    pub report: Report,
    /// `None` for a dry run.
    pub staging: Option<Staging>,
    /// The policy that OUT needs, for `--write-policy`.
    pub policy: Option<String>,
}

/// Tells which stage is at work, for a progress line.
pub type Progress<'a> = &'a (dyn Fn(&str) + Sync);

/// Builds OUT beside itself. With `dry_run` nothing is written, and the sizes are those of the fast levels.
pub fn build(
    root: &Path,
    out: &Path,
    options: &Options,
    dry_run: bool,
    progress: Progress<'_>,
) -> anyhow::Result<Built> {
    if let Some(old) = &options.keep_previous {
        previous::check(old, out)?;
    }
    let staging = if dry_run {
        Staging::check(root, out, options.force)?;
        None
    } else {
        Some(Staging::begin(root, out, options.force)?)
    };
    progress("reading");
    let (site, mut diagnostics) = site::read(root, options)?;
    progress("linking");
    let (graph, found) = graph::link(&site, options)?;
    diagnostics.extend(found);
    suggest::names(&site, &mut diagnostics);
    let mut staging = staging;
    let mut bans = Bans::default();
    let mut round = 0;
    loop {
        progress("deciding");
        let decided = Decided::new(&site, &graph, options, &bans)?;
        let draft = decided.draft(&site, &graph);
        let names = deploy::names(&site, &draft, options, &bans)?;
        if dry_run {
            return Ok(Built {
                report: expected(&site, &graph, &draft, &names, diagnostics, options)?,
                staging: None,
                policy: None,
            });
        }
        let target = match staging.take() {
            Some(staging) => staging,
            None => Staging::begin(root, out, options.force)?,
        };
        progress("writing");
        let written = output::write(draft.site, draft.graph, draft.plan, &names, &target, options)?;
        let carried = deploy::write(&site, &draft, &names, &target, options)?;
        progress("reading again");
        let (out_site, _) = site::read(target.path(), options)?;
        let mirror = deploy::mirror(draft.site, &names, options);
        let (out_graph, _) = graph::link_with(&out_site, options, mirror)?;
        let sizes: Vec<Sizes> = written.iter().map(|w| w.sizes).collect();
        let mut weights = Weights::new(&site, &draft, &sizes);
        weights.apart = written.iter().map(|w| w.apart).collect();
        let compared = Compared::new(&graph, Some((&out_graph, &out_site)), &draft, &names, &weights);
        let worse = compared.worse(&graph, options)?;
        let Some((page, why)) = worse.first() else {
            options.cache.finish();
            diagnostics.extend(stale_variants(draft.site, &written));
            diagnostics.extend(carried);
            diagnostics.extend(names.diagnostics.iter().cloned());
            let mut report = assemble::report(&site, &graph, &draft, &names, &compared, diagnostics, options);
            report.totals.written = Some(assemble::summed(draft.site, &written));
            let policy = match options.writes_policy {
                true => Some(deploy::policy(&out_site, &out_graph, options)?),
                false => None,
            };
            return Ok(Built {
                report,
                staging: Some(target),
                policy,
            });
        };
        // Built again without new names for what these pages ask for; that costs no other change.
        let pages: Vec<u32> = worse.iter().map(|(page, _)| *page).collect();
        let documents: Vec<u32> = pages.iter().flat_map(|&page| graph.documents(page)).collect();
        if names.touch(&documents) && !documents.iter().all(|page| bans.names.contains(page)) {
            bans.names.extend(documents);
            continue;
        }
        anyhow::ensure!(
            round < 3,
            "{} got worse ({why}): this is a fault of fewer, OUT is not written; --skip all avoids it",
            site.file(graph.pages[*page as usize].file).path
        );
        // Built again without what touched these pages, then in the old shape, then without anything.
        match round {
            0 => bans
                .pages
                .extend(pages.iter().flat_map(|&page| graph.documents(page))),
            1 => {
                bans.shape = true;
                bans.add_pages(&graph, &pages);
            }
            _ => bans.add_all(&graph),
        }
        round += 1;
    }
}

/// What a build of this site would report. Nothing is written; the sizes are those of the fast levels.
pub fn forecast(
    site: &Site,
    graph: &Graph,
    diagnostics: Vec<Diagnostic>,
    options: &Options,
) -> anyhow::Result<Report> {
    let bans = Bans::default();
    let decided = Decided::new(site, graph, options, &bans)?;
    let draft = decided.draft(site, graph);
    let names = deploy::names(site, &draft, options, &bans)?;
    expected(site, graph, &draft, &names, diagnostics, options)
}

fn expected(
    site: &Site,
    graph: &Graph,
    draft: &Draft<'_>,
    names: &Names,
    mut diagnostics: Vec<Diagnostic>,
    options: &Options,
) -> anyhow::Result<Report> {
    let sizes = fast_sizes(draft.site, options)?;
    let weights = Weights::new(site, draft, &sizes);
    let later = after_plan(draft, options);
    let unnamed = Names::default();
    let compared = Compared::new(graph, Some((&later, draft.site)), draft, &unnamed, &weights);
    diagnostics.extend(names.diagnostics.iter().cloned());
    Ok(assemble::report(
        site,
        graph,
        draft,
        names,
        &compared,
        diagnostics,
        options,
    ))
}

/// Measures SITE as it is.
pub fn report(root: &Path, options: &Options, progress: Progress<'_>) -> anyhow::Result<Report> {
    progress("reading");
    let (site, mut diagnostics) = site::read(root, options)?;
    progress("linking");
    let (graph, found) = graph::link(&site, options)?;
    diagnostics.extend(found);
    suggest::names(&site, &mut diagnostics);
    progress("measuring");
    let sizes = fast_sizes(&site, options)?;
    let decided = Decided::default();
    let draft = decided.draft(&site, &graph);
    let weights = Weights::new(&site, &draft, &sizes);
    let names = Names::default();
    let compared = Compared::new(&graph, None, &draft, &names, &weights);
    Ok(assemble::report(
        &site,
        &graph,
        &draft,
        &names,
        &compared,
        diagnostics,
        options,
    ))
}

/// What every file weighs: of SITE by its `FileId`, of OUT by the id that the draft has for the same path.
struct Weights {
    before: Vec<Sizes>,
    after: Vec<Sizes>,
    /// What was asked for by name adds to `after`, where it adds something.
    apart: Vec<[i64; 3]>,
}

impl Weights {
    /// `sizes`: of the draft's files, as they were written. A file that was edited, or whose content moved, counts
    /// at the fast levels on both sides; all others count as they were written.
    fn new(site: &Site, draft: &Draft<'_>, sizes: &[Sizes]) -> Weights {
        let mut before: Vec<Sizes> = Vec::with_capacity(site.files.len());
        let mut after = sizes.to_vec();
        let mut was: HashMap<FileId, Sizes> = HashMap::new();
        for (file, sizes, now) in changed(draft.graph, draft.plan) {
            was.insert(file, sizes);
            after[file.0 as usize] = now;
        }
        if let Some(shape) = draft.shape {
            for (path, sizes) in &shape.after {
                if let Some(file) = draft.site.find(path.as_bytes())
                    && !was.contains_key(&file)
                {
                    after[file.0 as usize] = *sizes;
                }
            }
        }
        for file in &site.files {
            let id = draft.site.find(file.path.as_bytes());
            let shaped = draft.shape.and_then(|shape| shape.before.get(&file.path));
            let written = || id.map(|id| was.get(&id).copied().unwrap_or(sizes[id.0 as usize]));
            before.push(shaped.copied().or_else(written).unwrap_or_default());
        }
        Weights {
            before,
            after,
            apart: Vec::new(),
        }
    }
}

/// Files that the plan changes, with their sizes before and after.
fn changed<'a>(graph: &'a Graph, plan: &'a Plan) -> impl Iterator<Item = (FileId, Sizes, Sizes)> + 'a {
    let sheets = plan
        .sheets
        .iter()
        .map(|(&key, c)| (graph.sheets[key as usize].file, c.before, c.after));
    let pages = plan
        .pages
        .iter()
        .map(|(&page, c)| (graph.pages[page as usize].file, c.before, c.after));
    sheets.chain(pages)
}

fn fast_sizes(site: &Site, options: &Options) -> anyhow::Result<Vec<Sizes>> {
    let levels = measure::levels(options);
    let ids: Vec<FileId> = (0..site.files.len() as u32).map(FileId).collect();
    let measured = parallel::map(&ids, |&id| {
        let file = site.file(id);
        if !variants::wanted(file, options) {
            return Ok(Sizes::plain(file.size));
        }
        Ok(measure::sizes(&site.read(id)?, true, levels, options))
    });
    measured.into_iter().collect()
}

/// The graph that OUT would have.
fn after_plan(draft: &Draft<'_>, options: &Options) -> Graph {
    let context = plan::Context::new(draft.site, draft.graph, options);
    let mut after = draft.graph.clone();
    for (index, page) in after.pages.iter_mut().enumerate() {
        let stays = |r: &&Request| !draft.plan.saves(&context, index as u32, r.address);
        page.requests = page.requests.iter().filter(stays).cloned().collect();
    }
    after
}

fn stale_variants(site: &Site, written: &[Written]) -> Vec<Diagnostic> {
    let stale = written.iter().enumerate().filter(|(_, w)| w.stale_variant);
    stale
        .map(|(id, _)| {
            let path = &site.files[id].path;
            Diagnostic::new(
                path,
                None,
                Code::StaleVariant,
                "a .gz, .br or .zst beside it in SITE holds something else",
            )
        })
        .collect()
}

/// The views of every page, before and after.
struct Compared<'a> {
    before: Side<'a>,
    after: Option<Side<'a>>,
    /// The views of OUT with what was asked for by name, if that is something.
    whole: Option<Vec<Views>>,
    /// Addresses of OUT by those that they were in the draft.
    old: HashMap<String, String>,
}

/// What was counted on one side.
struct Side<'a> {
    graph: &'a Graph,
    /// By page.
    views: Vec<Views>,
    documents: Vec<Sizes>,
    /// By address.
    sizes: Vec<Sizes>,
}

impl<'a> Side<'a> {
    fn new(graph: &'a Graph, size: impl Fn(FileId) -> Sizes) -> Side<'a> {
        Side {
            graph,
            views: compare::count(graph, &size),
            documents: graph.pages.iter().map(|page| size(page.file)).collect(),
            sizes: (0..graph.addresses.len() as u32)
                .map(|address| compare::size(graph, address, &size))
                .collect(),
        }
    }
}

impl<'a> Compared<'a> {
    fn new(
        graph: &'a Graph,
        after: Option<(&'a Graph, &Site)>,
        draft: &Draft<'_>,
        names: &Names,
        weights: &Weights,
    ) -> Compared<'a> {
        let mut compared = Compared {
            before: Side::new(graph, |file| weights.before[file.0 as usize]),
            after: None,
            whole: None,
            old: names.addresses(draft.site, &graph.mount),
        };
        let Some((graph, out)) = after else {
            return compared;
        };
        let origin: Vec<Option<FileId>> = out
            .files
            .iter()
            .map(|file| names.origin(draft.site, &file.path))
            .collect();
        let size = |file: FileId| match origin[file.0 as usize] {
            Some(file) => weights.after[file.0 as usize],
            None => Sizes::plain(out.file(file).size),
        };
        compared.after = Some(Side::new(graph, size));
        if weights.apart.iter().any(|apart| *apart != [0; 3]) {
            let whole = |file: FileId| {
                let apart = origin[file.0 as usize].and_then(|file| weights.apart.get(file.0 as usize));
                apart.map_or(size(file), |apart| size(file).with(*apart))
            };
            compared.whole = Some(compare::count(graph, whole));
        }
        compared
    }

    /// The address that a file had before it got its name.
    fn old<'u>(&'u self, url: &'u str) -> Cow<'u, str> {
        let (path, query) = url.split_at(url.find('?').unwrap_or(url.len()));
        match self.old.get(path) {
            Some(old) => Cow::Owned(format!("{old}{query}")),
            None => Cow::Borrowed(url),
        }
    }

    /// Promise 3, checked on what was really written: the pages that broke it, and how.
    fn worse(&self, graph: &Graph, options: &Options) -> anyhow::Result<Vec<(u32, String)>> {
        let Some(after) = &self.after else {
            return Ok(Vec::new());
        };
        let (before, out_graph, after) = (&self.before.views, after.graph, &after.views);
        let same = before.len() == after.len() && graph.entry == out_graph.entry;
        anyhow::ensure!(same, "OUT has other pages than SITE: this is a fault of fewer");
        let Some(entry) = graph.entry else {
            return Ok(Vec::new());
        };
        let entry = (&before[entry as usize], &after[entry as usize]);
        let pairs = before.iter().zip(after).enumerate();
        let worse = pairs.filter_map(|(page, (was, is))| {
            Some((
                page as u32,
                compare::worse(was, is, entry, options.request_overhead)?,
            ))
        });
        Ok(worse.collect())
    }
}
