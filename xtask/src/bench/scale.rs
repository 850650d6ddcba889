//! `bench scale [PAGES...]`: what growing sites and huge files take. Time per page has to stay flat, memory below
//! 300 MB and 400 bytes a page.
//!
//! Sites are those of `gen`, built with `--no-gzip --no-brotli`: how long the encoders take for a page does not depend
//! on how many there are.
//!
//! Seen on two cores:
//!
//! | pages | wall s | CPU s | us/page | MiB | allowed |
//! |---|---|---|---|---|---|
//! | 1,000 | 1.1 | 1.8 | 1780 | 59 | 286 |
//! | 10,000 | 8.9 | 16.6 | 1655 | 145 | 290 |
//! | 100,000 | 72.8 | 132.9 | 1329 | 578 | 324 |
//!
//! Time is flat. Memory is not: about 5 kB a page, as three graphs, the surveys, the edits and the report are held at
//! once. A page of 50 MB takes 2.6 s and 315 MiB, a sheet of 20 MB 8 s and 832 MiB, 100,000 selectors 1.1 s, a page with
//! 100,000 images 1.5 s; each at most 2.2 times the half of it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::process::{self, Cost};
use crate::gen_site;

/// Kinds of huge files, each with half the size and the whole.
const HUGE: [(&str, u64); 4] = [("page", 50), ("sheet", 20), ("selectors", 100), ("images", 100)];

/// Bytes of a page's text.
const TEXT: u64 = 1500;

pub(super) fn run(program: &Path, args: &[String]) -> anyhow::Result<()> {
    let counts: Vec<u64> = args
        .iter()
        .map(|arg| {
            arg.parse()
                .with_context(|| format!("{arg}: expected a number of pages"))
        })
        .collect::<anyhow::Result<_>>()?;
    let counts = if counts.is_empty() {
        vec![1000, 10_000]
    } else {
        counts
    };
    let mut missed = Vec::new();
    println!(
        "{:<18} {:>8} {:>8} {:>10} {:>8} {:>8}",
        "pages", "wall s", "CPU s", "us/page", "MiB", "allowed"
    );
    let mut first = None;
    for &pages in &counts {
        let cost = built(program, |out| gen_site::site(pages, TEXT, out))?;
        let each = cost.cpu / pages as f64 * 1e6;
        let allowed = (300e6 + 400.0 * pages as f64) / f64::from(1 << 20);
        println!(
            "{pages:<18} {:>8.2} {:>8.2} {each:>10.0} {:>8.0} {allowed:>8.0}",
            cost.wall, cost.cpu, cost.memory
        );
        if cost.memory > allowed {
            missed.push(format!("memory of {pages} pages"));
        }
        if each > *first.get_or_insert(each) * 1.2 {
            missed.push(format!("time of {pages} pages"));
        }
    }
    println!(
        "{:<18} {:>8} {:>8} {:>10} {:>8}",
        "huge", "wall s", "CPU s", "ratio", "MiB"
    );
    for (kind, size) in HUGE {
        let mut half = None;
        for size in [size / 2, size] {
            let words = ["--huge", kind, "--size", &size.to_string(), "--out"].map(str::to_owned);
            let cost = built(program, |out| {
                gen_site::run(&[&words[..], &[out.to_string_lossy().into_owned()]].concat())
            })?;
            let ratio = half.map_or(1.0, |half| cost.cpu / half);
            half = Some(cost.cpu.max(0.01));
            println!(
                "{:<18} {:>8.2} {:>8.2} {ratio:>10.2} {:>8.0}",
                format!("{kind} {size}"),
                cost.wall,
                cost.cpu,
                cost.memory
            );
            // Twice as much may take twice as long, and noise.
            if ratio > 2.6 {
                missed.push(format!("time of {kind} {size}"));
            }
        }
    }
    ensure!(missed.is_empty(), "missed: {}", missed.join(", "));
    Ok(())
}

fn built(program: &Path, make: impl FnOnce(&Path) -> anyhow::Result<()>) -> anyhow::Result<Cost> {
    let work = tempfile::tempdir()?;
    let site = work.path().join("site");
    fs::create_dir(&site)?;
    make(&site)?;
    let mut command = Command::new(program);
    command
        .arg("build")
        .arg(&site)
        .arg("--out")
        .arg(work.path().join("out"));
    command.args(["--no-gzip", "--no-brotli", "--no-cache", "--quiet"]);
    process::run(&mut command)
}
