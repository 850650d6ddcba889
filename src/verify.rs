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

use browser::Browser;
use record::Traffic;
use sample::Sample;
use visit::Visit;

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
    let servers = [Server::start(site)?, Server::start(out)?];
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

/// The browsers of one worker: of SITE and of OUT.
struct Pair<'a> {
    browsers: [Option<Browser>; 2],
    ports: [u16; 2],
    states: &'a [State],
    entry: Option<&'a str>,
    wishes: &'a Wishes,
}

const SIDES: [&str; 2] = ["in SITE", "in OUT"];

impl<'a> Pair<'a> {
    fn start(
        wishes: &'a Wishes,
        ports: [u16; 2],
        states: &'a [State],
        entry: Option<&'a str>,
    ) -> anyhow::Result<Pair<'a>> {
        let start = |port| Browser::start(&wishes.program, port).map(Some);
        Ok(Pair {
            browsers: [start(ports[0])?, start(ports[1])?],
            ports,
            states,
            entry,
            wishes,
        })
    }

    /// Does something in one of the browsers; once more in a new one if it fails, as a crash may be chance.
    fn attempt<T>(
        &mut self,
        side: usize,
        work: impl Fn(&mut Browser) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut tried = false;
        loop {
            let mut browser = match self.browsers[side].take() {
                Some(browser) => browser,
                None => Browser::start(&self.wishes.program, self.ports[side])?,
            };
            match work(&mut browser) {
                Ok(value) => {
                    self.browsers[side] = Some(browser);
                    return Ok(value);
                }
                Err(error) if tried => {
                    return Err(error.context(format!("it cannot be seen {}", SIDES[side])));
                }
                // The browser ends here: whatever state it is in, the next has none.
                Err(_) => tried = true,
            }
        }
    }

    fn first_views(&mut self, job: &Job, states: &[State]) -> anyhow::Result<[Visit; 2]> {
        let patience = self.wishes.patience;
        let mut view = |side| {
            self.attempt(side, |browser| {
                visit::first_view(browser, &job.address, states, patience)
            })
        };
        Ok([view(0)?, view(1)?])
    }

    fn follow_ups(&mut self, job: &Job, entry: &str) -> anyhow::Result<[Traffic; 2]> {
        let (state, patience) = (self.states[0], self.wishes.patience);
        let mut view = |side| {
            self.attempt(side, |browser| {
                visit::follow_up(browser, entry, &job.address, state, patience)
            })
        };
        Ok([view(0)?, view(1)?])
    }

    /// Looks at one page. What goes wrong is a fault of the page, which names it; the others are still looked at.
    fn page(&mut self, job: &Job) -> Page {
        let mut page = Page {
            path: job.path.clone(),
            stands_for: job.sample.stands_for,
            requests: None,
            faults: Vec::new(),
            notes: Vec::new(),
        };
        if let Err(error) = self.look(job, &mut page) {
            page.faults
                .push(Fault::new(Kind::Unseen, None, format!("{error:#}")));
        }
        page
    }

    fn look(&mut self, job: &Job, page: &mut Page) -> anyhow::Result<()> {
        let mut first = self.first_views(job, self.states)?;
        if first.iter().any(|visit| visit.restless) {
            let text = "it never stops asking for something; it was looked at all the same".to_owned();
            page.notes.push(Fault::new(Kind::Requests, None, text));
        }
        let found = compare::differences(&first[0], &first[1])?;
        if !found.is_empty() {
            self.judge(job, &mut first, found, page)?;
        }
        self.count(job, &first, page)
    }

    /// Tells faults of OUT from what SITE does not hold steady itself: both are looked at again, in the states in
    /// question.
    fn judge(
        &mut self,
        job: &Job,
        first: &mut [Visit; 2],
        found: Vec<Fault>,
        page: &mut Page,
    ) -> anyhow::Result<()> {
        let in_question = |state: State| found.iter().any(|fault| fault.state == Some(state));
        let counted = self.states[0];
        let states = self.states.iter().copied();
        let states: Vec<State> = states
            .filter(|&state| state == counted || in_question(state))
            .collect();
        for visit in first.iter_mut() {
            visit.shots.retain(|shot| states.contains(&shot.state));
        }
        let second = self.first_views(job, &states)?;
        let unsteady = compare::differences(&first[0], &second[0])?;
        let again = compare::differences(&second[0], &second[1])?;
        let has =
            |faults: &[Fault], fault: &Fault| faults.iter().any(|other| other.aspect() == fault.aspect());
        let mut third = None;
        for mut fault in found {
            if has(&unsteady, &fault) {
                fault.text = format!("SITE itself is not the same twice ({})", fault.text);
                page.notes.push(fault);
                continue;
            }
            if !has(&again, &fault) {
                // One of two: a third look decides between a fault that comes and goes and a busy machine.
                if third.is_none() {
                    let visits = self.first_views(job, &states)?;
                    third = Some(compare::differences(&visits[0], &visits[1])?);
                }
                if !third.as_ref().is_some_and(|third| has(third, &fault)) {
                    fault.text = format!("seen once, and not in two more looks ({})", fault.text);
                    page.notes.push(fault);
                    continue;
                }
            }
            page.faults.push(fault);
        }
        Ok(())
    }

    /// Compares the numbers of requests with the report's.
    ///
    /// A report cannot know what scripts ask for. Where SITE and OUT make the same number of requests beyond the
    /// report's, what was saved is what it says, and that is only noted.
    fn count(&mut self, job: &Job, first: &[Visit; 2], page: &mut Page) -> anyhow::Result<()> {
        let Some(predicted) = job.predicted else {
            let text = "the report does not name this page".to_owned();
            page.faults.push(Fault::new(Kind::Count, None, text));
            return Ok(());
        };
        let entry = self.entry;
        let mut traffic = first.each_ref().map(|visit| visit.traffic.clone());
        if off(predicted.map(|views| views.first), &traffic).is_some_and(|off| off[0] != off[1]) {
            traffic = self
                .first_views(job, &self.states[..1])?
                .map(|visit| visit.traffic);
        }
        let mut later = None;
        if let Some(entry) = entry
            && let [Some(before), Some(after)] = predicted.map(|views| views.follow_up)
        {
            let mut seen = self.follow_ups(job, entry)?;
            if off([before, after], &seen).is_some_and(|off| off[0] != off[1]) {
                seen = self.follow_ups(job, entry)?;
            }
            later = Some(([before, after], seen));
        }
        let views = |side: usize| Views {
            first: traffic[side].count(),
            follow_up: later.as_ref().map(|(_, seen)| seen[side].count()),
        };
        page.requests = Some([0, 1].map(|side| Requests {
            predicted: predicted[side],
            seen: views(side),
        }));
        let first = ("first view", predicted.map(|views| views.first), traffic);
        let later = later.map(|(numbers, traffic)| ("follow-up view", numbers, traffic));
        for (view, numbers, traffic) in [Some(first), later].into_iter().flatten() {
            let Some(off) = off(numbers, &traffic) else {
                continue;
            };
            if off[0] == off[1] {
                let text = format!(
                    "{view}: {} requests more than the report says, before and after: scripts make them",
                    off[0]
                );
                page.notes.push(Fault::new(Kind::Count, None, text));
                continue;
            }
            let side = usize::from(off[1] != 0);
            let text = format!(
                "{view}: the report says {} before and {} after, the browser asked for {} and {}; {}: {}",
                numbers[0],
                numbers[1],
                traffic[0].count(),
                traffic[1].count(),
                SIDES[side],
                traffic[side].requests.join(" ")
            );
            page.faults.push(Fault::new(Kind::Count, None, text));
        }
        Ok(())
    }
}

/// By how much the browser's numbers are not the report's, `None` where they are.
fn off(predicted: [u64; 2], seen: &[Traffic; 2]) -> Option<[i64; 2]> {
    let off = [0, 1].map(|side| seen[side].count() as i64 - predicted[side] as i64);
    (off != [0, 0]).then_some(off)
}
