//! The table of `cargo xtask bench FOLDER...`: what each kind of build takes, and what others take for a part of it.
//!
//! | row | what runs |
//! |---|---|
//! | `stages` | `fewer` without variants: reading, linking, deciding, rewriting, copying, reading again, comparing |
//! | `copy` | the same with `--skip all`: what of it is not deciding |
//! | `build` | the whole default build with an empty cache |
//! | `warm` | the same again into an empty OUT, with the cache |
//! | `edit` | the same after one page of SITE changed |
//! | `script` | `find \| xargs -P` with `gzip -9` and `brotli -q 11` over the files of OUT that got variants |
//! | `passes off` | the variants of SITE as it is, with the cache |
//! | `gzipper`, `jampack` | those, where they are in the path |
//!
//! Seen on two cores, wall seconds (three manuals; the last two columns are parts of `build`):
//!
//! | site | stages | build | script | build / script | warm | edit |
//! |---|---|---|---|---|---|---|
//! | apache-manual | 6.2 | 25.5 | 43.9 | 0.58 | 0.056 | 0.043 |
//! | eigen-docs | 4.5 | 66.5 | 51.9 | 1.28 | 0.039 | 0.045 |
//! | boost-docs | 4.7 | 51.7 | 37.1 | 1.39 | 0.028 | 0.023 |
//!
//! gzipper takes 4.1 and jampack's rewriting alone 2.8 times as long as our whole build of apache-manual. Where `build`
//! takes longer than the script, it is for gzip at its best levels and for measuring: brotli's share is the same, byte
//! for byte, and apache-manual is quicker because two thirds of its files are equal to another.
//!
//! What profiles of it showed (perf, release build, three manuals of 58 to 75 MB), in CPU seconds of eigen-docs:
//!
//! - Scanning with lol_html was 40 % of all but the encoding, as each pass read its pages anew: ten times a page.
//!   What `html::scan` found is kept in few bytes (`html::Packed`) and parsing is done three times, once for each
//!   content that a page has. With a faster allocator (malloc was a quarter) the stages went from 18.6 to 11.4.
//! - html5ever's trees are the next half of it: SITE, SITE in its new shape and OUT are each looked at as a browser
//!   would. Facts and scans of a page, kept from build to build by its bytes and all else that they rest on
//!   (`graph::kept`), spare a warm build most of that: 14.0 to 4.6 CPU seconds for facts, 2.7 with scans.
//! - Then three naive searches stood out: a data URL looked for in each page byte by byte (15 % of a warm build),
//!   a sheet rebased for each page instead of each folder (16 %), event handlers (4 %).
//! - Two threads at two equal files: one waits while the other packs. With equal sizes put last, writing
//!   apache-manual keeps 0.99 of two cores busy instead of 0.85.
//! - ext4 passes over inodes that were deleted in the last minutes: a build that followed the removal of another OUT
//!   spent a third of its time there. The rows do not delete anything before the end.
//! - Of encoding, brotli's `UpdateNodes` is more than half; the library as cargo builds it (-O3) is as fast as
//!   Debian's program or a little faster. gzip at its best levels is 11 to 15 %, against 3 % for `gzip -9`.
//! - Measuring candidates at the fast levels is 4 of 140 seconds, with a cache or without measuring twice.
//! - Positions of diagnostics were counted from the page's first byte for each: 3 % on pages with broken links.
//! - Writing the cache and OUT is 7 % in the kernel on sites of small files.

use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::process::{self, Cost, cores, is_there};
use crate::gen_site;

pub(super) fn run(program: &Path, args: &[String]) -> anyhow::Result<()> {
    let work = tempfile::tempdir()?;
    let mut folders: Vec<PathBuf> = args.iter().map(PathBuf::from).collect();
    if folders.is_empty() {
        folders.push(work.path().join("made"));
        gen_site::site(1000, 3000, &folders[0])?;
    }
    println!(
        "{:<12} {:>8} {:>8} {:>6} {:>8} {:>7} {:>12} {:>12}",
        "", "wall s", "CPU s", "busy", "of build", "MiB", "gz bytes", "br bytes"
    );
    let mut missed = Vec::new();
    for (nth, folder) in folders.iter().enumerate() {
        let place = work.path().join(nth.to_string());
        fs::create_dir(&place)?;
        missed.extend(one(program, folder, &place)?);
    }
    println!(
        "busy: CPU seconds of the wall's on {} cores; MiB: most of the first process",
        cores()
    );
    ensure!(missed.is_empty(), "missed: {}", missed.join(", "));
    Ok(())
}

/// All rows of a folder; what they should be and are not.
fn one(program: &Path, site: &Path, place: &Path) -> anyhow::Result<Vec<String>> {
    let name = site
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let (_, bytes) = files(site, &|_| true)?
        .iter()
        .fold((0, 0), |(n, sum), (_, size)| (n + 1, sum + size));
    println!("{name}: {:.1} MB", bytes as f64 / 1e6);
    // Each into a folder of its own, all removed at the end: where many files were deleted a moment ago, ext4 takes a
    // second longer to make new ones (it passes over their inodes), and that build would pay for it.
    let build = |site: &Path, out: &str, args: &[&str]| {
        let mut command = Command::new(program);
        command.arg("build").arg(site).arg("--out").arg(place.join(out));
        process::run(command.arg("--quiet").args(args))
    };
    let cache = place.join("cache");
    let cached = ["--cache", cache.to_str().context("a folder that is no UTF-8")?];
    let plain = ["--no-gzip", "--no-brotli", "--no-cache"];
    let copy = build(site, "copy", &[&plain[..], &["--skip", "all"]].concat())?;
    let stages = build(site, "stages", &plain)?;
    let cold = build(site, "cold", &cached)?;
    let sizes = [
        variants(&place.join("cold"), ".gz")?,
        variants(&place.join("cold"), ".br")?,
    ];
    // The script runs right after what it is compared with, on a copy of the same files.
    let script = script(&place.join("cold"), &place.join("script"))?;
    let warm = build(site, "warm", &cached)?;
    let edited = edited(site, &place.join("edited"))?;
    let edit = build(&edited, "edit", &cached)?;
    let off = build(site, "off", &[&cached[..], &["--skip", "all"]].concat())?;
    let off_sizes = [
        variants(&place.join("off"), ".gz")?,
        variants(&place.join("off"), ".br")?,
    ];
    let row = |name: &str, cost: Cost, sizes: Option<[u64; 2]>| {
        let sizes = sizes.map_or(String::new(), |[gz, br]| format!("{gz:>12} {br:>12}"));
        println!(
            "{name:<12} {:>8.2} {:>8.2} {:>6.2} {:>8.3} {:>7.0} {sizes}",
            cost.wall,
            cost.cpu,
            cost.cpu / cost.wall / cores() as f64,
            cost.wall / cold.wall,
            cost.memory
        );
    };
    row("copy", copy, None);
    row("stages", stages, None);
    row("build", cold, Some(sizes));
    row("warm", warm, None);
    row("edit", edit, None);
    row("script", script.0, Some(script.1));
    row("passes off", off, Some(off_sizes));
    for (name, args) in [
        (
            "gzipper",
            &[
                "compress",
                "--gzip",
                "--gzip-level",
                "9",
                "--brotli",
                "--brotli-quality",
                "11",
            ][..],
        ),
        ("jampack", &[][..]),
    ] {
        if !is_there(name) {
            println!("{name:<12} is not in the path");
            continue;
        }
        let copy = place.join(name);
        copy_plain(&place.join("off"), &copy)?;
        let cost = process::run(Command::new(name).args(args).arg(&copy))?;
        row(
            name,
            cost,
            Some([variants(&copy, ".gz")?, variants(&copy, ".br")?]),
        );
    }
    println!(
        "scan, decide, rewrite, report: {:.1} MB/s; encode: {:.2} MB/s (CPU, one core)",
        bytes as f64 / 1e6 / stages.cpu.max(0.01),
        bytes as f64 / 1e6 / (cold.cpu - stages.cpu).max(0.01)
    );
    let mut missed = Vec::new();
    let mut check = |holds: bool, what: &str| {
        if !holds {
            missed.push(format!("{name}: {what}"));
        }
    };
    check(cold.wall <= script.0.wall, "no more time than the script");
    check(
        sizes[0] + sizes[1] < script.1[0] + script.1[1],
        "fewer bytes than the script",
    );
    check(edit.wall <= cold.wall * 0.05, "a second build takes 5 %");
    check(warm.wall <= cold.wall * 0.1, "a warm build takes 10 %");
    Ok(missed)
}

/// The classic script over a copy of the files of OUT that have variants: its cost, and the bytes of its variants.
fn script(out: &Path, copy: &Path) -> anyhow::Result<(Cost, [u64; 2])> {
    ensure!(
        is_there("brotli"),
        "brotli is missing: install the package brotli"
    );
    copy_plain(out, copy)?;
    // As many processes as there are cores, and several files to each, which is kind to the script: starting a
    // process for each file would cost it more. `-n` writes no name, for smaller files.
    let cores = cores();
    let line = format!(
        "find . -type f -print0 > ../list && \
         xargs -0 -P{cores} -n16 gzip -9 -k -n < ../list && xargs -0 -P{cores} -n16 brotli -q 11 -k < ../list"
    );
    let cost = process::run(Command::new("sh").args(["-c", &line]).current_dir(copy))?;
    let sizes = [variants(copy, ".gz")?, variants(copy, ".br")?];
    Ok((cost, sizes))
}

/// The files of OUT that have a gzip variant, without it.
fn copy_plain(out: &Path, copy: &Path) -> anyhow::Result<()> {
    for (path, _) in files(out, &|path| path.as_os_str().as_bytes().ends_with(b".gz"))? {
        let plain = path.with_extension("");
        let Ok(below) = plain.strip_prefix(out) else {
            continue;
        };
        if !plain.is_file() {
            continue;
        }
        let to = copy.join(below);
        fs::create_dir_all(to.parent().unwrap_or(copy))?;
        fs::copy(&plain, &to)?;
        // The script's gzip keeps what may be written only.
        let mut bits = fs::metadata(&to)?.permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut bits, 0o644);
        fs::set_permissions(&to, bits)?;
    }
    Ok(())
}

/// A copy of the site with a word more on one page, the one in the middle.
fn edited(site: &Path, copy: &Path) -> anyhow::Result<PathBuf> {
    let status = Command::new("cp")
        .args(["-a", "--reflink=auto"])
        .arg(site)
        .arg(copy)
        .status()?;
    ensure!(status.success(), "cannot copy {}", site.display());
    let pages = files(copy, &|path| path.extension().is_some_and(|e| e == "html"))?;
    let (page, _) = pages.get(pages.len() / 2).context("no page to edit")?;
    let mut bits = fs::metadata(page)?.permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut bits, 0o644);
    fs::set_permissions(page, bits)?;
    fs::File::options()
        .append(true)
        .open(page)?
        .write_all(b"<p>edited</p>\n")?;
    Ok(copy.to_path_buf())
}

/// Bytes of all files whose name ends so beside a file without that end.
fn variants(folder: &Path, end: &str) -> anyhow::Result<u64> {
    let is_variant = |path: &Path| {
        path.as_os_str().as_bytes().ends_with(end.as_bytes()) && path.with_extension("").is_file()
    };
    Ok(files(folder, &is_variant)?.iter().map(|(_, size)| size).sum())
}

/// Paths and sizes, sorted.
pub(super) fn files(folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> anyhow::Result<Vec<(PathBuf, u64)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let (path, metadata) = (entry.path(), entry.metadata()?);
            if metadata.is_dir() {
                folders.push(path);
            } else if metadata.is_file() && wanted(&path) {
                found.push((path, metadata.len()));
            }
        }
    }
    found.sort();
    Ok(found)
}
