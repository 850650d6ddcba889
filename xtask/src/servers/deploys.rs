//! Two deploys, the second with `--keep-previous`: whatever Chromium asked for on any page of the first, the
//! server of the second still answers, and with the bytes that the page was made for where its name says so.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use fewer::serve::page_url;
use serde_json::Value;

use super::ask::ask;
use super::daemon::Daemon;
use crate::browser::Browser;
use crate::load;
use crate::visit;

pub(super) fn run(
    fewer: &Path,
    kind: &str,
    browser: &mut Browser,
    work: &Path,
) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    let blog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/blog/site");
    for (name, flags) in [
        ("plain", &[][..]),
        ("apart", &["--skip", "embed", "--skip", "share"][..]),
        ("named", &["--fingerprint"][..]),
    ] {
        let (site, first, second) = (
            work.join(name),
            work.join(format!("{name}-1")),
            work.join(format!("{name}-2")),
        );
        load::copy(&blog, &site)?;
        let report = build(fewer, &site, &first, flags)?;
        let asked = asked(fewer, kind, browser, &first, &report, work)?;

        let css = fs::read_to_string(site.join("css/style.css"))?;
        fs::write(
            site.join("css/style.css"),
            format!("{css}\n#page {{ outline: 0 solid red }}\n"),
        )?;
        fs::copy(site.join("img/header.png"), site.join("img/logo.png"))?;
        let old = first.to_str().context("the folder's name is text")?;
        build(
            fewer,
            &site,
            &second,
            &[flags, &["--keep-previous", old]].concat(),
        )?;

        let daemon = Daemon::start(fewer, kind, &second, "/", work)?;
        let for_ever = names(&first)?;
        let changed: Vec<&String> = asked.iter().filter(|path| !same(path, &first, &second)).collect();
        if changed.is_empty() && name != "named" {
            faults.push(format!(
                "{name}: the second deploy changed nothing that pages ask for"
            ));
        }
        if !asked.iter().any(|path| for_ever.contains(path)) {
            faults.push(format!(
                "{name}: no page of the first deploy asks for a hashed name"
            ));
        }
        for path in &asked {
            let answer = ask(&daemon.origin, "GET", &format!("/{path}"), "")?;
            let is_for_ever = for_ever.contains(path);
            let from = if is_for_ever { &first } else { &second };
            let right = answer.status == 200 && answer.body == fs::read(from.join(file(path)))?;
            let kept = answer.get("cache-control").ends_with("immutable");
            if !right || kept != is_for_ever {
                faults.push(format!(
                    "{name}: /{path} of the first deploy, on the second: {answer:?}"
                ));
            }
        }
    }
    Ok(faults)
}

fn build(fewer: &Path, site: &Path, out: &Path, flags: &[&str]) -> anyhow::Result<Value> {
    let report = out.with_extension("json");
    let status = Command::new(fewer)
        .arg("build")
        .arg(site)
        .arg("--out")
        .arg(out)
        .arg("--report")
        .arg(&report)
        .arg("-q")
        .args(flags)
        .status()?;
    if !status.success() {
        bail!("the blog does not build with {flags:?}");
    }
    Ok(serde_json::from_slice(&fs::read(&report)?)?)
}

/// What a browser asks for on all pages, without the first `/`.
fn asked(
    fewer: &Path,
    kind: &str,
    browser: &mut Browser,
    out: &Path,
    report: &Value,
    work: &Path,
) -> anyhow::Result<BTreeSet<String>> {
    let daemon = Daemon::start(fewer, kind, out, "/", work)?;
    let mut asked = BTreeSet::new();
    let pages = report["pages"].as_array().context("the report has no pages")?;
    for page in pages.iter().filter_map(|page| page["path"].as_str()) {
        let traffic = visit::traffic(browser, &daemon.origin, None, &page_url(page), true)?;
        if !traffic.failed.is_empty() {
            bail!("{page} of the first deploy: {:?}", traffic.failed);
        }
        let paths = traffic.requests.iter().map(|url| url.trim_start_matches('/'));
        asked.extend(paths.map(str::to_string));
    }
    Ok(asked)
}

fn names(out: &Path) -> anyhow::Result<BTreeSet<String>> {
    let manifest: Value = serde_json::from_slice(&fs::read(out.join("fewer-manifest.json"))?)?;
    let listed = manifest["immutable"].as_array().into_iter().flatten();
    Ok(listed.filter_map(Value::as_str).map(str::to_string).collect())
}

/// The file behind a path of the blog, whose names need no decoding.
fn file(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    match path.is_empty() || path.ends_with('/') {
        true => format!("{path}index.html"),
        false => path.to_string(),
    }
}

fn same(path: &str, first: &Path, second: &Path) -> bool {
    let read = |out: &Path| fs::read(out.join(file(path))).ok();
    read(first) == read(second)
}
