//! Every fixture before and after a build, in a real browser: the same pixels at three widths, the same text,
//! title and links, no new failure, and as many requests as the JSON report says.
//!
//! `cargo xtask e2e [--bin PROGRAM] [--with FLAGS] [FIXTURE…]`; FLAGS, in one word, are those of every build beside its
//! own. Retries once; prints one line a fixture, and the share of pages whose addresses, not their number alone, are
//! those of the report. With `--sites DIR…` that is asked of other sites.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, bail};
use fewer::serve::{Server, page_url};
use serde_json::Value;

use crate::accuracy;
use crate::browser::{self, Browser};
use crate::expected::{self, Side};
use crate::visit::{self, Traffic, Visit, WIDTHS};

/// Browsers side by side: they wait more than they work.
const WORKERS: usize = 4;

/// A fixture before and after its build, both being served.
struct Built {
    name: String,
    report: Value,
    servers: [Server; 2],
    /// Addresses that scripts ask for, from `scripted` beside the fixture: no report can know them.
    scripted: BTreeSet<String>,
    /// The report with the addresses by which OUT's pages ask.
    named: Value,
}

/// Pages with what is wrong, one line each; `build` for the build itself.
type Failures = Vec<(String, Vec<String>)>;

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let mut program = None;
    let mut more = Vec::new();
    let mut names = Vec::new();
    let mut sites: Option<Vec<PathBuf>> = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--bin" => program = Some(PathBuf::from(args.next().context("--bin needs a program")?)),
            "--with" => {
                let flags = args.next().context("--with needs flags")?;
                more.extend(flags.split_whitespace().map(str::to_owned));
            }
            "--sites" => sites = Some(Vec::new()),
            flag if flag.starts_with('-') => bail!("unknown option {flag}"),
            folder if sites.is_some() => sites.get_or_insert_default().push(PathBuf::from(folder)),
            name => names.push(name.to_string()),
        }
    }
    let program = match program {
        Some(program) => program,
        None => build_program()?,
    };
    let chromium = browser::find()?;
    if let Some(sites) = sites {
        return accuracy::run(&program, &chromium, &sites);
    }
    let fixtures = fixtures(&names)?;
    let started = Instant::now();
    let work = tempfile::tempdir()?;
    let built = in_parallel(
        &fixtures,
        || Ok(()),
        |(), fixture| build(&program, fixture, work.path(), &more),
    )?;
    let mut jobs = Vec::new();
    for (fixture, built) in built
        .iter()
        .enumerate()
        .filter_map(|(at, built)| Some((at, built.as_ref().ok()?)))
    {
        jobs.extend(built.pages()?.into_iter().map(|page| (fixture, built, page)));
    }
    let checked = in_parallel(
        &jobs,
        || Browser::start(&chromium),
        |browser, job| Ok(check(browser, job.1, job.2)),
    )?;

    let mut checks = jobs.into_iter().zip(checked).peekable();
    let (mut passed, mut failed) = (0, 0);
    let (mut views, mut exact) = (0, 0);
    for (at, (folder, built)) in fixtures.iter().zip(&built).enumerate() {
        let mut failures: Failures = built
            .as_ref()
            .err()
            .map(|error| ("build".into(), vec![error.clone()]))
            .into_iter()
            .collect();
        let mut pages = 0;
        while let Some(((_, _, page), checked)) = checks.next_if(|((fixture, ..), _)| *fixture == at) {
            pages += 1;
            views += checked.views;
            exact += checked.exact;
            if !checked.reasons.is_empty() {
                failures.push((page["path"].to_string(), checked.reasons));
            }
        }
        passed += pages + usize::from(built.is_err()) - failures.len();
        failed += failures.len();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        println!(
            "{} {name} ({pages} pages)",
            if failures.is_empty() { "ok  " } else { "FAIL" }
        );
        for (page, reason) in failures
            .iter()
            .flat_map(|(page, reasons)| reasons.iter().map(move |r| (page, r)))
        {
            println!("     {page}: {reason}");
        }
    }
    println!(
        "e2e: {} fixtures in {:.0} s",
        fixtures.len(),
        started.elapsed().as_secs_f64()
    );
    println!("e2e: {exact} of {views} views ask for exactly the addresses that the report says");
    println!("e2e: {passed} passed, {failed} failed");
    if failed > 0 {
        bail!("{failed} pages are not what they were, or not what the report says");
    }
    Ok(())
}

/// The binary beside this one, built in the same profile.
pub(crate) fn build_program() -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--package", "fewer", "--bin", "fewer"])
        .status()?;
    if !built.success() {
        bail!("fewer does not build");
    }
    Ok(std::env::current_exe()?.with_file_name("fewer"))
}

/// The folders of the named fixtures, or of all.
fn fixtures(names: &[String]) -> anyhow::Result<Vec<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let mut found: Vec<PathBuf> = fs::read_dir(&root)
        .with_context(|| format!("cannot read {}", root.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<anyhow::Result<_>>()?;
    found.retain(|folder| folder.join("site").is_dir());
    found.sort();
    for name in names {
        if !found.iter().any(|folder| folder.ends_with(name)) {
            bail!("no fixture {name}");
        }
    }
    if !names.is_empty() {
        found.retain(|folder| names.iter().any(|name| folder.ends_with(name)));
    }
    Ok(found)
}

/// Does every job, a few at a time, each worker with a state of its own. Results keep the order of the jobs.
pub(crate) fn in_parallel<J: Sync, S, R: Send>(
    jobs: &[J],
    start: impl Fn() -> anyhow::Result<S> + Sync,
    work: impl Fn(&mut S, &J) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let worker = || -> anyhow::Result<Vec<(usize, R)>> {
        let mut state = start()?;
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::SeqCst);
            let Some(job) = jobs.get(at) else { return Ok(done) };
            done.push((at, work(&mut state, job)?));
        }
    };
    let mut results = Vec::new();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS.min(jobs.len()))
            .map(|_| scope.spawn(worker))
            .collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(done) => done.map(|done| results.extend(done)),
            Err(_) => bail!("a worker panicked"),
        })
    })?;
    results.sort_by_key(|(at, _)| *at);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Builds one fixture below `work`; the inner error is a build that failed.
fn build(
    program: &Path,
    fixture: &Path,
    work: &Path,
    more: &[String],
) -> anyhow::Result<Result<Built, String>> {
    let name = fixture
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let (site, out) = (fixture.join("site"), work.join(&name));
    let report = work.join(format!("{name}.json"));
    let built = Command::new(program)
        .arg("build")
        .arg(&site)
        .arg("--out")
        .arg(&out)
        .arg("--report")
        .arg(&report)
        .arg("--no-cache")
        .env("RUST_BACKTRACE", "0")
        .args(
            fs::read_to_string(fixture.join("args"))
                .unwrap_or_default()
                .split_whitespace(),
        )
        .args(more)
        .output()
        .with_context(|| format!("cannot run {}", program.display()))?;
    if !built.status.success() {
        let stderr = String::from_utf8_lossy(&built.stderr);
        let said: Vec<&str> = stderr.lines().take(3).collect();
        return Ok(Err(format!("{}: {}", built.status, said.join(" "))));
    }
    let Ok(report) = fs::read(&report) else {
        return Ok(Err("no report was written".into()));
    };
    let report: Value = serde_json::from_slice(&report)?;
    let mut named = report.clone();
    expected::name_as_out(&mut named, &out)?;
    let listed = fs::read_to_string(fixture.join("scripted")).unwrap_or_default();
    Ok(Ok(Built {
        name,
        report,
        scripted: listed.lines().map(str::to_owned).collect(),
        named,
        servers: [Server::start_site(&site)?, Server::start(&out)?],
    }))
}

impl Built {
    /// What the report can know of the addresses that were asked for.
    fn known(&self, traffic: &Traffic) -> BTreeSet<String> {
        let asked = traffic.requests.iter().cloned();
        asked.filter(|url| !self.scripted.contains(url)).collect()
    }

    /// The report of every page.
    fn pages(&self) -> anyhow::Result<Vec<&Value>> {
        let pages = self.report["pages"].as_array();
        Ok(pages
            .with_context(|| format!("the report of {} has no pages", self.name))?
            .iter()
            .collect())
    }
}

/// What is wrong with a page, and how many of its views ask for exactly the addresses that the report says.
#[derive(Debug, Default)]
struct Checked {
    reasons: Vec<String>,
    views: usize,
    exact: usize,
}

/// Looks at one page, again if something is wrong: what fails by chance under load does not fail twice.
fn check(browser: &mut Browser, built: &Built, page: &Value) -> Checked {
    let origins = built.servers.each_ref().map(Server::origin);
    let path = page["path"].as_str().unwrap_or_default();
    let entry = built.report["entry"].as_str();
    let mut look = || {
        check_page(browser, &origins, entry, path, built, page).unwrap_or_else(|error| Checked {
            reasons: vec![format!("cannot be seen: {error:#}")],
            ..Checked::default()
        })
    };
    let checked = look();
    if checked.reasons.is_empty() {
        checked
    } else {
        look()
    }
}

/// Says what is wrong with one page of OUT, or with what the report says of it.
fn check_page(
    browser: &mut Browser,
    origins: &[String; 2],
    entry: Option<&str>,
    path: &str,
    built: &Built,
    report: &Value,
) -> anyhow::Result<Checked> {
    let url = page_url(path);
    let before = visit::first_view(browser, &origins[0], &url)?;
    let after = visit::first_view(browser, &origins[1], &url)?;
    let mut reasons = compare(&before, &after);
    for (width, (old, new)) in WIDTHS.iter().zip(before.pictures.iter().zip(&after.pictures)) {
        reasons.extend(visit::difference(browser, old, new)?.map(|what| format!("at {width} px: {what}")));
    }
    let (mut views, mut exact) = (0, 0);
    for (origin, side, which, visit) in [
        (&origins[0], "before", Side::Before, &before),
        (&origins[1], "after", Side::After, &after),
    ] {
        let said = match which {
            Side::Before => &built.report,
            Side::After => &built.named,
        };
        let expected = expected::of(said, path, which).context("the report does not have the page")?;
        let mut judge = |expected: &BTreeSet<String>, reported: &Value, traffic: &Traffic, view: &str| {
            let what = format!("{side}, {view}");
            let asked = built.known(traffic);
            reasons.extend(recount(reported, &asked, &what));
            let difference = expected::difference(expected, &asked);
            views += 1;
            exact += usize::from(difference.is_none());
            reasons.extend(difference.map(|difference| format!("{what}: {difference}")));
        };
        judge(
            &expected.first,
            &report[side]["first"],
            &visit.traffic,
            "first view",
        );
        let Some(entry) = entry else { continue };
        let traffic = visit::follow_up(browser, origin, &page_url(entry), &url)?;
        judge(
            &expected.follow_up,
            &report[side]["follow_up"],
            &traffic,
            "follow-up view",
        );
    }
    Ok(Checked {
        reasons,
        views,
        exact,
    })
}

/// What went wrong in scripts, without where: a script that moved into another file has another place.
fn messages(visit: &Visit) -> Vec<String> {
    let message = |error: &String| match error.find("\\n    at ") {
        Some(at) => error[..at].to_owned(),
        None => error.clone(),
    };
    visit.errors.iter().map(message).collect()
}

fn compare(before: &Visit, after: &Visit) -> Vec<String> {
    let mut reasons = Vec::new();
    for key in ["title", "text", "links", "broken", "mode"] {
        if before.seen[key] != after.seen[key] {
            reasons.push(format!("{key}: {} became {}", before.seen[key], after.seen[key]));
        }
    }
    let new = |old: &[String], new: &[String]| -> Vec<String> {
        new.iter().filter(|line| !old.contains(line)).cloned().collect()
    };
    let (old_traffic, new_traffic) = (&before.traffic, &after.traffic);
    for (what, lines) in [
        (
            "new failed requests",
            new(&old_traffic.failed, &new_traffic.failed),
        ),
        ("new console errors", new(&messages(before), &messages(after))),
        (
            "new requests elsewhere",
            new(&old_traffic.elsewhere, &new_traffic.elsewhere),
        ),
        (
            "lost requests elsewhere",
            new(&new_traffic.elsewhere, &old_traffic.elsewhere),
        ),
    ] {
        if !lines.is_empty() {
            reasons.push(format!("{what}: {}", lines.join(", ")));
        }
    }
    if new_traffic.requests.len() > old_traffic.requests.len() {
        reasons.push(format!(
            "more requests: {:?}",
            new(&old_traffic.requests, &new_traffic.requests)
        ));
    }
    reasons
}

/// Compares the report's number of requests with what the browser asked for.
///
/// An address counts once for each view. Two frames that start at the same moment may both ask for one sheet before
/// the cache has it: seen on a busy machine, for the untouched page as well as for the built one.
fn recount(view: &Value, asked: &BTreeSet<String>, what: &str) -> Option<String> {
    let reported = view["requests"].as_u64();
    if reported == Some(asked.len() as u64) {
        return None;
    }
    let reported = reported.map_or("nothing".to_string(), |count| count.to_string());
    Some(format!(
        "{what}: the report says {reported}, the browser asked for {}",
        asked.len()
    ))
}
