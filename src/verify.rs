//! Proof: opens the pages of SITE and of OUT in a real browser and tells whether anyone could tell them apart.
//!
//! In: both folders, and what is wished of browser, windows and pages. Out: an `Outcome`. Both folders have the same
//! address in their browsers, so a script that prints it prints the same; every other host is out of reach. A page
//! of SITE that is not the same twice is called unsteady: it is neither failed nor called equal. Neither folder is
//! written, and nothing is decided here that a build would act on.

mod browser;
mod chromium;
mod compare;
mod firefox;
mod html;
mod json;
mod look;
mod outcome;
mod pixels;
mod predicted;
mod program;
mod record;
mod sample;
mod state;
mod summary;
mod visit;
mod wire;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use globset::GlobSet;

pub use html::html;
pub use json::json;
pub use outcome::{Fault, Kind, Outcome, Page, Requests, Views};
pub use pixels::Difference;
pub use predicted::Predicted;
pub use program::{Family, Program, find};
pub use state::{Mode, State};
pub use summary::summary;

use look::Pair;
use sample::Sample;

use crate::build::Progress;
use crate::options::Options;
use crate::serve::Server;
use crate::site::{self, Site, SitePath};
use crate::{disk, graph, parallel, url};

/// Browsers wait more than they work, but each takes a few hundred megabytes.
const MOST_WORKERS: usize = 4;

/// What is to be looked at, and how.
#[derive(Debug, Clone)]
pub struct Wishes {
    pub program: Program,
    /// CSS pixels. Requests are counted in the first.
    pub viewports: Vec<(u32, u32)>,
    /// The first is that in which requests are counted.
    pub modes: Vec<Mode>,
    /// Every page, not one of each template.
    pub all: bool,
    /// Only pages that match.
    pub pages: Option<GlobSet>,
    /// The most pages to look at.
    pub max: Option<usize>,
    /// What cannot be compared counts as a difference.
    pub strict: bool,
    /// How long a page may take to load.
    pub patience: Duration,
}

/// Windows beside the one that requests are counted in: that of a telephone.
pub const NARROW: (u32, u32) = (390, 844);

/// A page to look at.
struct Job {
    sample: Sample,
    path: SitePath,
    /// What a browser asks for.
    address: String,
    predicted: Option<[Views; 2]>,
}

/// Compares two folders. `predicted` is what a report says of both; without one it is counted anew.
///
/// Fails if a folder cannot be read, no page is chosen, or the browser does not start.
pub fn verify(
    site: &Path,
    out: &Path,
    options: &Options,
    wishes: &Wishes,
    predicted: Option<Predicted>,
    progress: Progress<'_>,
) -> anyhow::Result<Outcome> {
    let states: Vec<State> = wishes
        .viewports
        .iter()
        .flat_map(|&(width, height)| {
            wishes
                .modes
                .iter()
                .map(move |&mode| State { width, height, mode })
        })
        .collect();
    ensure!(!states.is_empty(), "no window to look at pages in");
    progress("reading");
    let (site_files, _) = site::read(site, options)?;
    let (out_files, _) = site::read(out, options)?;
    let (site_graph, _) = graph::link(&site_files, options)?;
    let (out_graph, _) = graph::link(&out_files, options)?;
    let predicted = predicted
        .unwrap_or_else(|| Predicted::of_folders([(&site_files, &site_graph), (&out_files, &out_graph)]));
    let paths = |files: &Site, graph: &graph::Graph| -> Vec<SitePath> {
        graph
            .pages
            .iter()
            .map(|page| files.file(page.file).path.clone())
            .collect()
    };
    let (before, after) = (paths(&site_files, &site_graph), paths(&out_files, &out_graph));
    let wanted = |path: &SitePath| {
        let path = disk::join(Path::new(""), path.as_bytes());
        wishes.pages.as_ref().is_none_or(|globs| globs.is_match(path))
    };
    let missing = |list: &[SitePath], other: &[SitePath]| -> Vec<SitePath> {
        let gone = list
            .iter()
            .filter(|path| wanted(path) && other.binary_search(path).is_err());
        gone.cloned().collect()
    };
    let (lost, extra) = (missing(&before, &after), missing(&after, &before));
    let chosen: Vec<&SitePath> = before.iter().filter(|path| wanted(path)).collect();
    ensure!(
        !chosen.is_empty(),
        "there is no page to look at in {}",
        disk::shown(site)
    );
    let both: Vec<&SitePath> = chosen
        .iter()
        .copied()
        .filter(|path| after.binary_search(path).is_ok())
        .collect();
    let (samples, left_out) = samples(&both, [&site_files, &out_files], &predicted, wishes)?;

    let mount = url::mount(None)?;
    let jobs: Vec<Job> = samples
        .into_iter()
        .map(|sample| Job {
            sample,
            path: both[sample.page].clone(),
            address: url::address(&mount, both[sample.page]),
            predicted: predicted.of(&both[sample.page].to_string()),
        })
        .collect();
    let entry = predicted.entry.as_ref().and_then(|entry| {
        let page = before.iter().find(|path| path.to_string() == *entry)?;
        Some(url::address(&mount, page))
    });
    let servers = [Server::start_site(site)?, Server::start(out)?];
    let ports = [port(&servers[0])?, port(&servers[1])?];
    let looked_at = look_at_all(&jobs, ports, &states, entry.as_deref(), wishes, progress)?;
    Ok(Outcome {
        browser: wishes.program.to_string(),
        states,
        pages: chosen.len(),
        left_out,
        looked_at,
        lost,
        extra,
        strict: wishes.strict,
    })
}

fn port(server: &Server) -> anyhow::Result<u16> {
    let origin = server.origin();
    let port = origin.rsplit(':').next().and_then(|port| port.parse().ok());
    port.with_context(|| format!("{origin} has no port"))
}

/// The pages to look at, and how many more there would be without `--max`.
fn samples(
    pages: &[&SitePath],
    folders: [&Site; 2],
    predicted: &Predicted,
    wishes: &Wishes,
) -> anyhow::Result<(Vec<Sample>, usize)> {
    let templates: Vec<[u8; 32]> = if wishes.all {
        pages
            .iter()
            .map(|path| *blake3::hash(path.as_bytes()).as_bytes())
            .collect()
    } else {
        let templates = parallel::map(pages, |path| {
            let read = |site: &Site| match site.find(path.as_bytes()) {
                Some(file) => site.read(file),
                None => Ok(Vec::new()),
            };
            let (before, after) = (read(folders[0])?, read(folders[1])?);
            Ok(sample::template(&before, &after, path.as_bytes()))
        });
        templates.into_iter().collect::<anyhow::Result<_>>()?
    };
    let entry = predicted.entry.as_ref();
    let entry = entry.and_then(|entry| pages.iter().position(|path| path.to_string() == *entry));
    let all = sample::choose(&templates, entry, None).len();
    let samples = sample::choose(&templates, entry, wishes.max);
    let left_out = all - samples.len();
    Ok((samples, left_out))
}

/// Every worker has two browsers, one for each folder, and takes the next page when it is done with one.
fn look_at_all(
    jobs: &[Job],
    ports: [u16; 2],
    states: &[State],
    entry: Option<&str>,
    wishes: &Wishes,
    progress: Progress<'_>,
) -> anyhow::Result<Vec<Page>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers: Vec<usize> = (0..cores.min(MOST_WORKERS).min(jobs.len())).collect();
    let next = AtomicUsize::new(0);
    let work = |_: &usize| -> anyhow::Result<Vec<(usize, Page)>> {
        let mut pair = Pair::start(wishes, ports, states, entry)?;
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::SeqCst);
            let Some(job) = jobs.get(at) else { return Ok(done) };
            progress(&format!("looking at page {} of {}", at + 1, jobs.len()));
            done.push((at, pair.page(job)));
        }
    };
    if workers.is_empty() {
        return Ok(Vec::new());
    }
    let done = parallel::with_threads(workers.len(), || parallel::map(&workers, work))?;
    let mut pages = BTreeMap::new();
    for done in done {
        pages.extend(done?);
    }
    Ok(pages.into_values().collect())
}
