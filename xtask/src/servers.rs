//! Real servers with the configurations that `fewer server-config` writes, asked over HTTP and by a real browser.
//!
//! `cargo xtask servers [--bin PROGRAM] [SERVER…]`: nginx, apache, htaccess, caddy, lighttpd, varnish, and
//! `serve`, the preview, which must answer as they do. Each is started on 127.0.0.1 from its Debian package;
//! one that is missing and may not be installed is a failure. With `--site DIR` (repeatable) another site is
//! asked for, whatever it holds.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::browser::{self, Browser};
use crate::{packages, visit};

mod ask;
mod asked;
mod checks;
pub(crate) mod daemon;
mod deploys;
mod given;
mod site;
mod vcl;

use daemon::{Daemon, KINDS};

/// Faults of one server that are printed.
const FAULTS: usize = 40;

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let mut program = None;
    let mut names = Vec::new();
    let mut sites = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--bin" => program = Some(PathBuf::from(args.next().context("--bin needs a program")?)),
            "--site" => sites.push(PathBuf::from(args.next().context("--site needs a folder")?)),
            name if KINDS.contains(&name) => names.push(name.to_string()),
            other => bail!("no server {other}: {}", KINDS.join(", ")),
        }
    }
    let program = match program {
        Some(program) => program,
        None => crate::e2e::build_program()?,
    };
    packages::provide_servers()?;
    let kinds: Vec<&str> = KINDS
        .into_iter()
        .filter(|kind| names.is_empty() || names.iter().any(|name| name == kind))
        .collect();
    let mut failed = 0;
    if !sites.is_empty() {
        for site in &sites {
            failed += others(&program, &kinds, site)?;
        }
        return verdict(failed);
    }
    for kind in kinds {
        let mut faults = Vec::new();
        for prefix in ["/", "/sub/path/"] {
            let found = http(&program, kind, prefix).unwrap_or_else(|error| vec![format!("{error:#}")]);
            faults.extend(found.into_iter().map(|fault| format!("at {prefix}: {fault}")));
        }
        let work = daemon::folder()?;
        faults.extend(
            asked::run(&program, kind, work.path()).unwrap_or_else(|error| vec![format!("{error:#}")]),
        );
        faults.extend(views(&program, kind).unwrap_or_else(|error| vec![format!("{error:#}")]));
        failed += print(kind, &faults);
    }
    verdict(failed)
}

/// One line for what was asked, one for each fault; 1 if there is any.
fn print(what: &str, faults: &[String]) -> usize {
    println!("{} {what}", if faults.is_empty() { "ok  " } else { "FAIL" });
    for fault in faults.iter().take(FAULTS) {
        println!("     {fault}");
    }
    if faults.len() > FAULTS {
        println!("     and {} more", faults.len() - FAULTS);
    }
    usize::from(!faults.is_empty())
}

fn verdict(failed: usize) -> anyhow::Result<()> {
    if failed > 0 {
        bail!("{failed} servers do not answer as they should");
    }
    Ok(())
}

/// Asks every server for another site; how many fail.
fn others(program: &Path, kinds: &[&str], site: &Path) -> anyhow::Result<usize> {
    let chromium = browser::find()?;
    let work = daemon::folder()?;
    let given = given::Given::build(program, site, work.path())?;
    let mut failed = 0;
    for kind in kinds {
        // One that ends takes no other server's pages with it.
        let mut browser = Browser::start(&chromium)?;
        let (faults, looked) = given
            .run(program, kind, &mut browser, work.path())
            .unwrap_or_else(|error| (vec![format!("{error:#}")], "not asked to the end".to_string()));
        failed += print(&format!("{kind}: {} ({looked})", site.display()), &faults);
    }
    Ok(failed)
}

/// Starts the server on a site with every kind of file and asks it.
fn http(program: &Path, kind: &str, prefix: &str) -> anyhow::Result<Vec<String>> {
    let work = daemon::folder()?;
    let out = site::build(program, work.path())?;
    let daemon = Daemon::start(program, kind, &out, prefix, work.path())?;
    let mut faults = checks::run(&daemon, kind, prefix, &out)?;
    if kind == "varnish" && prefix == "/" {
        faults.extend(vcl::run(program, &out, work.path())?);
    }
    if !faults.is_empty() {
        faults.push(format!("its log: {}", daemon.log()));
    }
    Ok(faults)
}

/// Looks at pages of the blog through the server: a browser must ask for exactly what the report says.
fn views(program: &Path, kind: &str) -> anyhow::Result<Vec<String>> {
    let chromium = browser::find()?;
    let work = daemon::folder()?;
    let (out, report) = (work.path().join("out"), work.path().join("report.json"));
    let blog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/blog/site");
    let built = Command::new(program)
        .arg("build")
        .arg(&blog)
        .arg("--out")
        .arg(&out)
        .arg("--report")
        .arg(&report)
        .arg("-q")
        .status()?;
    if !built.success() {
        bail!("the blog does not build");
    }
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&report)?)?;
    let daemon = Daemon::start(program, kind, &out, "/", work.path())?;
    let mut browser = Browser::start(&chromium)?;
    let mut faults = Vec::new();
    if kind == "nginx" {
        let work = daemon::folder()?;
        faults.extend(deploys::run(program, kind, &mut browser, work.path())?);
    }
    let entry = fewer::serve::page_url(report["entry"].as_str().unwrap_or("index.html"));
    let pages = report["pages"].as_array().context("the report has no pages")?;
    for page in pages.iter().step_by(4) {
        let path = fewer::serve::page_url(page["path"].as_str().unwrap_or_default());
        let first = visit::first_view(&mut browser, &daemon.origin, &path)?;
        let again = visit::follow_up(&mut browser, &daemon.origin, &entry, &path)?;
        for (view, traffic) in [("first", &first.traffic), ("follow_up", &again)] {
            let said = page["after"][view]["requests"].as_u64();
            if said != Some(traffic.requests.len() as u64) || !traffic.failed.is_empty() {
                faults.push(format!(
                    "{path}, {view}: the report says {said:?}, the browser asked for {:?}, failed {:?}",
                    traffic.requests, traffic.failed
                ));
            }
        }
    }
    Ok(faults)
}
