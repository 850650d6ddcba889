//! How often the addresses that a report predicts are those that a browser asks for: `cargo xtask e2e --sites DIR...`.
//!
//! In: folders with built sites. Of each up to 20 pages, taken evenly from the sorted list, are opened in Chromium, with
//! an empty cache and coming from the entry page. Out: a line for each page that differs, and the share of those that
//! do not. A page is opened again without scripts where it differs: if it then does not ask for what was not
//! predicted, its scripts ask for that, and it does not count.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use fewer::serve::{Server, page_url};
use serde_json::Value;

use crate::browser::Browser;
use crate::e2e::in_parallel;
use crate::expected::{self, Side};
use crate::visit::{self, Traffic};

/// Pages of a site that are opened.
const PAGES: usize = 20;
/// The share of pages that must agree, of those whose scripts ask for nothing (percent).
const WANTED: f64 = 98.0;

/// A page to open.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) site: &'a str,
    pub(crate) report: &'a Value,
    /// What is served: SITE or OUT.
    pub(crate) side: Side,
    pub(crate) origin: String,
    pub(crate) path: &'a str,
}

/// Of both views: what differs, if anything, and whether scripts explain it.
pub(crate) type Outcome = [Option<(String, bool)>; 2];

pub(crate) fn run(program: &Path, chromium: &Path, sites: &[PathBuf]) -> anyhow::Result<()> {
    let work = tempfile::tempdir()?;
    let reports = sites
        .iter()
        .enumerate()
        .map(|(nth, site)| report(program, site, &work.path().join(format!("{nth}.json"))))
        .collect::<anyhow::Result<Vec<Value>>>()?;
    let servers = sites
        .iter()
        .map(|site| Server::start_site(site))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let names: Vec<String> = sites
        .iter()
        .map(|site| {
            site.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let mut jobs = Vec::new();
    for ((name, report), server) in names.iter().zip(&reports).zip(&servers) {
        let pages = report["pages"].as_array().context("a report has no pages")?;
        for path in evenly(pages, PAGES)
            .into_iter()
            .filter_map(|page| page["path"].as_str())
        {
            jobs.push(Job {
                site: name,
                report,
                side: Side::Before,
                origin: server.origin(),
                path,
            });
        }
    }
    let outcomes = in_parallel(
        &jobs,
        || Browser::start(chromium),
        |browser, job| Ok(open(browser, job)),
    )?;
    let mut counts = [Count::default(); 2];
    for (job, outcome) in jobs.iter().zip(&outcomes) {
        for ((view, seen), count) in ["first view", "follow-up view"]
            .iter()
            .zip(outcome)
            .zip(&mut counts)
        {
            count.add(seen.as_ref());
            if let Some((what, by_scripts)) = seen {
                let why = if *by_scripts { "its scripts: " } else { "" };
                println!("     {}/{} ({view}): {why}{what}", job.site, job.path);
            }
        }
    }
    for (view, count) in ["first view", "follow-up view"].iter().zip(&counts) {
        println!("e2e: {view}: {count}");
    }
    if counts.iter().any(|count| count.share() < WANTED) {
        bail!("fewer than {WANTED} % of the pages ask for what the report says");
    }
    Ok(())
}

/// Pages that agree, that differ, and that differ by what their scripts ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) equal: usize,
    pub(crate) other: usize,
    pub(crate) scripted: usize,
}

impl Count {
    pub(crate) fn add(&mut self, difference: Option<&(String, bool)>) {
        match difference {
            None => self.equal += 1,
            Some((_, true)) => self.scripted += 1,
            Some((_, false)) => self.other += 1,
        }
    }

    /// Percent of the pages whose scripts ask for nothing.
    pub(crate) fn share(&self) -> f64 {
        let all = self.equal + self.other;
        if all == 0 {
            100.0
        } else {
            100.0 * self.equal as f64 / all as f64
        }
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:.1} % predicted to the address ({} of {} pages; on {} more, scripts ask for something)",
            self.share(),
            self.equal,
            self.equal + self.other,
            self.scripted
        )
    }
}

fn report(program: &Path, site: &Path, to: &Path) -> anyhow::Result<Value> {
    let done = Command::new(program)
        .arg("report")
        .arg(site)
        .arg("--quiet")
        .arg("--report")
        .arg(to)
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    if !done.success() {
        bail!("{} cannot be measured", site.display());
    }
    Ok(serde_json::from_slice(&fs::read(to)?)?)
}

/// Up to `most` of them at equal distances, the first among them.
pub(crate) fn evenly(pages: &[Value], most: usize) -> Vec<&Value> {
    let count = pages.len().min(most);
    (0..count).map(|nth| &pages[nth * pages.len() / count]).collect()
}

/// The addresses of both views that a browser asked for, or why it could not be seen.
type Seen = Result<[BTreeSet<String>; 2], String>;

/// Opens a page, again if it differs: what goes wrong by chance under load does not go wrong twice.
pub(crate) fn open(browser: &mut Browser, job: &Job<'_>) -> Outcome {
    let Some(expected) = expected::of(job.report, job.path, job.side) else {
        return [const { None }; 2];
    };
    let expected = [expected.first, expected.follow_up];
    let mut look =
        |scripts: bool| look(browser, job, scripts).map_err(|error| format!("cannot be seen: {error:#}"));
    let mut seen = look(true);
    if differences(&expected, &seen).iter().any(Option::is_some) {
        seen = look(true);
    }
    let mut outcome = differences(&expected, &seen).map(|what| what.map(|what| (what, false)));
    if outcome.iter().all(Option::is_none) {
        return outcome;
    }
    if let (Ok(seen), Ok(without)) = (&seen, look(false)) {
        for (view, difference) in outcome.iter_mut().enumerate() {
            if let Some((_, by_scripts)) = difference {
                *by_scripts = is_by_scripts(&expected[view], &seen[view], &without[view]);
            }
        }
    }
    outcome
}

/// How each view differs from what was expected.
fn differences(expected: &[BTreeSet<String>; 2], seen: &Seen) -> [Option<String>; 2] {
    match seen {
        Ok(seen) => [0, 1].map(|view| expected::difference(&expected[view], &seen[view])),
        Err(why) => [Some(why.clone()), Some(why.clone())],
    }
}

/// Everything that is asked for against expectation is not asked for without scripts, and the other way round. The
/// files of scripts themselves, which nobody fetches then, do not matter.
fn is_by_scripts(expected: &BTreeSet<String>, seen: &BTreeSet<String>, without: &BTreeSet<String>) -> bool {
    seen.difference(expected).all(|more| !without.contains(more))
        && expected.difference(seen).all(|less| without.contains(less))
}

fn look(browser: &mut Browser, job: &Job<'_>, scripts: bool) -> anyhow::Result<[BTreeSet<String>; 2]> {
    let url = page_url(job.path);
    let first = addresses(&visit::traffic(browser, &job.origin, None, &url, scripts)?);
    let Some(entry) = job.report["entry"].as_str() else {
        // Without an entry page nothing is known of a follow-up view.
        let follow_up = expected::of(job.report, job.path, job.side).map(|expected| expected.follow_up);
        return Ok([first, follow_up.unwrap_or_default()]);
    };
    let second = visit::traffic(browser, &job.origin, Some(&page_url(entry)), &url, scripts)?;
    Ok([first, addresses(&second)])
}

fn addresses(traffic: &Traffic) -> BTreeSet<String> {
    traffic.requests.iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_taken_evenly() {
        let pages: Vec<Value> = (0..45).map(Value::from).collect();
        let taken: Vec<i64> = evenly(&pages, 20).into_iter().filter_map(Value::as_i64).collect();
        assert_eq!((taken.len(), taken[0], taken[1], taken[19]), (20, 0, 2, 42));
        assert_eq!(evenly(&pages[..3], 20).len(), 3);
        assert_eq!(evenly(&[], 20).len(), 0);
    }

    #[test]
    fn scripts_explain_what_goes_away_with_them() {
        let set = |urls: &[&str]| {
            urls.iter()
                .map(|url| (*url).to_owned())
                .collect::<BTreeSet<String>>()
        };
        let expected = set(&["/", "/a.css", "/a.js"]);
        let seen = set(&["/", "/a.css", "/a.js", "/more.png"]);
        assert!(is_by_scripts(&expected, &seen, &set(&["/", "/a.css"])));
        assert!(!is_by_scripts(
            &expected,
            &seen,
            &set(&["/", "/a.css", "/more.png"])
        ));
        // A script took the stylesheet away; nobody did.
        let seen = set(&["/", "/a.js"]);
        assert!(is_by_scripts(&expected, &seen, &set(&["/", "/a.css"])));
        assert!(!is_by_scripts(&expected, &seen, &set(&["/"])));
    }

    #[test]
    fn what_scripts_ask_for_does_not_count() {
        let mut count = Count::default();
        count.add(None);
        count.add(Some(&("x".to_owned(), true)));
        assert_eq!(count.share(), 100.0);
        count.add(Some(&("x".to_owned(), false)));
        assert_eq!(count.share(), 50.0);
        assert_eq!(
            count.to_string(),
            "50.0 % predicted to the address (1 of 2 pages; on 1 more, scripts ask for something)"
        );
    }
}
