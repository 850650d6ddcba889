//! The whole path: read, link, decide, write, read again, compare.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use crate::compare::{self, Views};
use crate::diagnostic::{Code, Diagnostic};
use crate::disk::Staging;
use crate::graph::{self, Destination, Graph, Initiator, Request};
use crate::html::Kind;
use crate::measure::{self, Levels, Sizes};
use crate::options::{Options, Pass};
use crate::output::{self, Written};
use crate::plan::{self, Plan};
use crate::report::{self, Report, State};
use crate::site::{self, FileId, Site};
use crate::{parallel, variants};

/// What a build made. OUT appears with `Staging::commit`, after the budgets were looked at.
#[derive(Debug)]
pub struct Built {
    pub report: Report,
    /// `None` for a dry run.
    pub staging: Option<Staging>,
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
    progress("deciding");
    let plan = plan::decide(&site, &graph, options)?;
    let Some(staging) = staging else {
        let sizes = fast_sizes(&site, options)?;
        let after = with_changes(&graph, &plan, &sizes);
        let later = after_plan(&site, &graph, &plan, options);
        let weights = Weights { before: sizes, after };
        let report = assemble(
            &site,
            &graph,
            Some((&later, &site)),
            &plan,
            &weights,
            None,
            diagnostics,
            options,
        )?;
        return Ok(Built {
            report,
            staging: None,
        });
    };
    progress("writing");
    let written = output::write(&site, &graph, &plan, &staging, options)?;
    diagnostics.extend(stale_variants(&site, &written));
    progress("reading again");
    let (out_site, _) = site::read(staging.path(), options)?;
    let (out_graph, _) = graph::link(&out_site, options)?;
    let weights = Weights::of(&graph, &plan, &written);
    let again = Some((&out_graph, &out_site));
    let report = assemble(
        &site,
        &graph,
        again,
        &plan,
        &weights,
        Some(&written),
        diagnostics,
        options,
    )?;
    Ok(Built {
        report,
        staging: Some(staging),
    })
}

/// Measures SITE as it is.
pub fn report(root: &Path, options: &Options, progress: Progress<'_>) -> anyhow::Result<Report> {
    progress("reading");
    let (site, mut diagnostics) = site::read(root, options)?;
    progress("linking");
    let (graph, found) = graph::link(&site, options)?;
    diagnostics.extend(found);
    progress("measuring");
    let sizes = fast_sizes(&site, options)?;
    let weights = Weights {
        after: sizes.clone(),
        before: sizes,
    };
    assemble(
        &site,
        &graph,
        None,
        &Plan::default(),
        &weights,
        None,
        diagnostics,
        options,
    )
}

/// The size of every file of SITE, before and after, by `FileId`.
struct Weights {
    before: Vec<Sizes>,
    after: Vec<Sizes>,
}

impl Weights {
    /// An edited file is compared with itself at one and the same levels; all others count as they were written.
    fn of(graph: &Graph, plan: &Plan, written: &[Written]) -> Weights {
        let mut before: Vec<Sizes> = written.iter().map(|w| w.sizes).collect();
        let after = with_changes(graph, plan, &before);
        for (file, sizes, _) in changed(graph, plan) {
            before[file.0 as usize] = sizes;
        }
        Weights { before, after }
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

fn with_changes(graph: &Graph, plan: &Plan, sizes: &[Sizes]) -> Vec<Sizes> {
    let mut sizes = sizes.to_vec();
    for (file, _, after) in changed(graph, plan) {
        sizes[file.0 as usize] = after;
    }
    sizes
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
fn after_plan(site: &Site, graph: &Graph, plan: &Plan, options: &Options) -> Graph {
    let context = plan::Context::new(site, graph, options);
    let mut after = graph.clone();
    for (index, page) in after.pages.iter_mut().enumerate() {
        let stays = |r: &&Request| !plan.saves(&context, index as u32, r.address);
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
                "a .gz or .br beside it in SITE holds something else; OUT has it made anew or not at all",
            )
        })
        .collect()
}

#[expect(
    clippy::too_many_arguments,
    reason = "the one place where all results of the stages meet"
)]
fn assemble(
    site: &Site,
    graph: &Graph,
    after: Option<(&Graph, &Site)>,
    plan: &Plan,
    weights: &Weights,
    written: Option<&[Written]>,
    mut diagnostics: Vec<Diagnostic>,
    options: &Options,
) -> anyhow::Result<Report> {
    let before_views = compare::count(graph, |file| weights.before[file.0 as usize]);
    let after_views = after.map(|(graph, out)| {
        let origin: Vec<Option<FileId>> = out.files.iter().map(|f| site.find(f.path.as_bytes())).collect();
        let size = |file: FileId| match origin[file.0 as usize] {
            Some(file) => weights.after[file.0 as usize],
            None => Sizes::plain(out.file(file).size),
        };
        (compare::count(graph, size), graph)
    });
    if let Some((views, out_graph)) = &after_views {
        check(site, graph, &before_views, out_graph, views, options)?;
    }
    let overhead = options.request_overhead;
    let mut names = Names::new(graph);
    let mut pages = Vec::with_capacity(graph.pages.len());
    for (index, facts) in graph.pages.iter().enumerate() {
        let later = after_views.as_ref().map(|(views, graph)| (views[index], *graph));
        pages.push(report::Page {
            path: site.file(facts.file).path.clone(),
            before: views(&before_views[index], overhead),
            after: later.map(|(v, _)| views(&v, overhead)),
            requests: requests(
                site,
                graph,
                later.map(|(_, graph)| graph),
                index as u32,
                &mut names,
            ),
        });
    }
    diagnostics.sort();
    diagnostics.dedup();
    let levels = Levels {
        ..measure::levels(options)
    };
    let mut totals = report::Totals::of(&pages, site.files.len() as u64);
    totals.policy = if plan.uses_data {
        policy_needs(site, graph, plan, options)?
    } else {
        Vec::new()
    };
    totals.written = written.map(|written| summed(site, written));
    Ok(Report {
        entry: graph
            .entry
            .map(|entry| site.file(graph.pages[entry as usize].file).path.clone()),
        measured: report::Measured {
            gzip: levels.gzip.to_string(),
            brotli: levels.brotli.to_string(),
            viewport: report::Viewport {
                width: options.viewport.0,
                height: options.viewport.1,
            },
            request_overhead: overhead,
        },
        pages,
        totals,
        decisions: decisions(site, plan),
        diagnostics,
        max_requests: None,
    })
}

/// Promise 3, checked on what was really written.
fn check(
    site: &Site,
    graph: &Graph,
    before: &[Views],
    out_graph: &Graph,
    after: &[Views],
    options: &Options,
) -> anyhow::Result<()> {
    let path = |index: usize| &site.file(graph.pages[index].file).path;
    anyhow::ensure!(
        before.len() == after.len(),
        "OUT has other pages than SITE: this is a fault of fewer"
    );
    let entry = graph.entry.unwrap_or_default() as usize;
    debug_assert_eq!(graph.entry, out_graph.entry);
    for (index, (was, is)) in before.iter().zip(after).enumerate() {
        let overhead = options.request_overhead;
        if let Some(why) = compare::worse(was, is, (&before[entry], &after[entry]), overhead) {
            anyhow::bail!(
                "{} got worse ({why}): this is a fault of fewer, OUT is not written; --skip all avoids it",
                path(index)
            );
        }
    }
    Ok(())
}

fn views(views: &Views, overhead: u64) -> report::Views {
    let view = |count: &compare::Count| {
        let sum = |bytes: u64| bytes + count.requests * overhead;
        report::View {
            requests: count.requests,
            bytes: report::Bytes {
                identity: sum(count.bytes.identity),
                gzip: sum(count.bytes.gzip),
                br: sum(count.bytes.br),
            },
        }
    };
    report::Views {
        first: view(&views.first),
        follow_up: view(&views.follow_up),
    }
}

/// Shared strings of the report: most pages name the same few files.
struct Names {
    urls: Vec<Arc<str>>,
    initiators: HashMap<String, Arc<str>>,
}

impl Names {
    fn new(graph: &Graph) -> Names {
        let urls = graph
            .addresses
            .iter()
            .map(|a| Arc::from(a.url.as_str()))
            .collect();
        Names {
            urls,
            initiators: HashMap::new(),
        }
    }

    fn initiator(&mut self, site: &Site, graph: &Graph, request: &Request) -> Arc<str> {
        let name = match request.initiator {
            Initiator::Markup => "markup".to_owned(),
            Initiator::Sheet(key) => site.file(graph.sheets[key as usize].file).path.to_string(),
            Initiator::StyleElement => "style element".to_owned(),
            Initiator::StyleAttribute => "style attribute".to_owned(),
        };
        self.initiators
            .entry(name)
            .or_insert_with_key(|name| Arc::from(name.as_str()))
            .clone()
    }
}

fn requests(
    site: &Site,
    graph: &Graph,
    after: Option<&Graph>,
    page: u32,
    names: &mut Names,
) -> Vec<report::Request> {
    let later: Option<HashSet<&str>> = after.map(|out| {
        compare::requests(out, page)
            .map(|r| out.addresses[r.address as usize].url.as_str())
            .collect()
    });
    let facts = &graph.pages[page as usize];
    let mut seen = HashSet::new();
    let mut list = Vec::new();
    let mut redirected = HashSet::new();
    for request in compare::requests(graph, page) {
        let address = &graph.addresses[request.address as usize];
        if address.to == Destination::File(facts.file) || !seen.insert(request.address) {
            continue;
        }
        if address.to == Destination::Redirect {
            redirected.insert(format!("{}/", address.url));
            continue;
        }
        let stays = later
            .as_ref()
            .is_none_or(|later| later.contains(address.url.as_str()));
        let state = match address.to {
            _ if !stays => State::Inlined,
            Destination::Missing => State::Missing,
            _ if redirected.contains(&address.url) => State::Redirect,
            _ if request.lazy => State::Lazy,
            _ => State::Kept,
        };
        list.push(report::Request {
            url: names.urls[request.address as usize].clone(),
            kind: request.kind,
            initiator: names.initiator(site, graph, request),
            state,
        });
    }
    let markup: Arc<str> = Arc::from("markup");
    let other = |url: Arc<str>, kind: Kind, state: State| report::Request {
        url,
        kind,
        initiator: markup.clone(),
        state,
    };
    list.extend(
        facts
            .icons
            .iter()
            .map(|&a| other(names.urls[a as usize].clone(), Kind::Icon, State::Icon)),
    );
    list.extend(
        facts
            .external
            .iter()
            .map(|url| other(Arc::from(url.as_str()), Kind::Meta, State::External)),
    );
    list
}

fn decisions(site: &Site, plan: &Plan) -> Vec<report::Decision> {
    let mut list: Vec<report::Decision> = plan
        .decisions
        .iter()
        .map(|d| report::Decision {
            file: site.file(d.file).path.clone(),
            action: d.action.name(),
            reason: d.reason.clone(),
            cost: report::Cost {
                requests_first: d.cost.requests_first,
                requests_follow_up: d.cost.requests_follow_up,
                bytes_gzip: d.cost.bytes_gzip,
                bytes_br: d.cost.bytes_br,
            },
        })
        .collect();
    list.sort_by(|a, b| (&a.file, a.action, &a.reason).cmp(&(&b.file, b.action, &b.reason)));
    list
}

/// What OUT needs of a policy: pages under no policy today may get one from the server later.
fn policy_needs(site: &Site, graph: &Graph, plan: &Plan, options: &Options) -> anyhow::Result<Vec<String>> {
    let had = site_uses_data(site, graph)?;
    let _ = (plan, options);
    Ok(if had {
        Vec::new()
    } else {
        vec!["img-src data:".to_owned()]
    })
}

/// Some stylesheet of SITE names a `data:` image already.
fn site_uses_data(site: &Site, graph: &Graph) -> anyhow::Result<bool> {
    let _ = site;
    Ok(graph.sheets.iter().any(|sheet| {
        sheet
            .scan
            .urls
            .iter()
            .any(|u| u.value.trim_start().starts_with("data:image"))
    }))
}

fn summed(site: &Site, written: &[Written]) -> report::Written {
    let mut sum = report::Written::default();
    for (file, written) in site.files.iter().zip(written) {
        if file.variant_of.is_some() {
            continue;
        }
        match (file.editable, written.edited) {
            (false, _) => sum.excluded += 1,
            (true, true) => sum.edited += 1,
            (true, false) => sum.copied += 1,
        }
        sum.gzip += written.gzip_file;
        sum.br += written.br_file;
    }
    sum
}

/// Names of the passes that ran, for the summary of a build without any.
pub fn passes(options: &Options) -> BTreeMap<&'static str, bool> {
    Pass::ALL
        .into_iter()
        .map(|pass| (pass.name(), options.runs(pass)))
        .collect()
}
