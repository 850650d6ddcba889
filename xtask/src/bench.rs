//! How long the stages take, against each other and against a peer.
//!
//! `cargo xtask bench [SITE…]` builds each site (default: the blog, eight times over, so that there is something to
//! measure) with and without passes and variants. The stages (scanning, deciding, rewriting, reporting, copying) are
//! a build without variants; the peer is brotli 11 over the same site, which any tool has to pay for. `cargo xtask
//! bench css` compares stylesheets instead. Ratios of one run on one machine; seconds alone say little.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::css_bench;

/// Scanning, deciding, rewriting and reporting may take this much of the time of brotli 11.
const BUDGET: f64 = 0.25;

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if args.first().is_some_and(|arg| arg == "css") {
        return css_bench::run(args.get(1..).unwrap_or_default());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let built = Command::new(cargo)
        .args(["build", "--release", "--package", "fewer", "--manifest-path"])
        .arg(manifest)
        .status()?;
    if !built.success() {
        bail!("fewer does not build");
    }
    let program = std::env::current_exe()?.with_file_name("../release/fewer");
    let work = tempfile::tempdir()?;
    let sites = if args.is_empty() {
        vec![repeated_blog(work.path())?]
    } else {
        args.iter().map(PathBuf::from).collect()
    };
    println!(
        "{:<24} {:>9} {:>9} {:>9} {:>7}",
        "site", "stages s", "brotli s", "all s", "ratio"
    );
    let mut over = Vec::new();
    for site in &sites {
        let name = site
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let time = |args: &[&str]| time_of(&program, site, &work.path().join("out"), args);
        let stages = time(&["--no-gzip", "--no-brotli"])?;
        let copy = time(&["--skip", "all", "--no-gzip", "--no-brotli"])?;
        let brotli = time(&["--skip", "all", "--no-gzip"])?
            .saturating_sub(copy)
            .max(Duration::from_millis(1));
        let all = time(&[])?;
        let ratio = stages.as_secs_f64() / brotli.as_secs_f64();
        let seconds = [stages, brotli, all]
            .map(|time| format!("{:>9.2}", time.as_secs_f64()))
            .join(" ");
        println!("{name:<24} {seconds} {ratio:>7.3}");
        if ratio > BUDGET {
            over.push(name);
        }
    }
    println!("on one thread; ratio: stages to brotli 11, at most {BUDGET}");
    if !over.is_empty() {
        bail!("over the budget: {}", over.join(", "));
    }
    Ok(())
}

/// One build on one thread.
fn time_of(program: &Path, site: &Path, out: &Path, args: &[&str]) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let mut command = Command::new(program);
    command
        .arg("build")
        .arg(site)
        .arg("--out")
        .arg(out)
        .args(["--force", "--quiet", "--threads", "1"])
        .args(args);
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    if !status.success() {
        bail!("{} does not build", site.display());
    }
    Ok(started.elapsed())
}

/// The blog in eight folders of one site.
fn repeated_blog(work: &Path) -> anyhow::Result<PathBuf> {
    let blog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/blog/site");
    let site = work.join("blog-8");
    for n in 0..8 {
        copy(&blog, &site.join(n.to_string()))?;
    }
    Ok(site)
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &place)?;
        } else {
            fs::copy(entry.path(), place)?;
        }
    }
    Ok(())
}
