//! `cargo xtask load [--bin PROGRAM]`: what the blog costs a server before and after a build, as ratios.
//!
//! The same nginx, with and without Varnish in front, HTTP/1.1 and HTTP/2; h2load asks for what a browser asked for on a
//! page (its own and all that it needs), page after page, on first views and on follow-up views apart. Loopback only, 8
//! connections, a few seconds each. Not a part of CI: what it measures is the machine as well.
//!
//! On two cores that others used as well, the load generator among them (nginx 1.22, Varnish 7.1, one run):
//!
//! | server | HTTP | view | hits a page | bytes a page | CPU a page | pages a second |
//! |---|---|---|---|---|---|---|
//! | nginx | 1.1 | first | 14.7 -> 2.2 | x 0.77 | x 0.08 | x 12.2 |
//! | nginx | 1.1 | follow-up | 3.8 -> 1.0 | x 0.84 | x 0.14 | x 6.9 |
//! | nginx | 2 | first | 14.7 -> 2.2 | x 0.83 | x 0.09 | x 6.8 |
//! | nginx | 2 | follow-up | 3.8 -> 1.0 | x 0.87 | x 0.11 | x 3.8 |
//! | Varnish | 1.1 | first | 14.7 -> 2.2 | x 0.60 | x 0.15 | x 6.4 |
//! | Varnish | 1.1 | follow-up | 3.8 -> 1.0 | x 0.68 | x 0.23 | x 4.5 |
//!
//! First views are served more than twice as often everywhere. A part of nginx's gain is not the number of requests:
//! of the untouched blog it packs pages and sheets anew for every request, of the built one it sends what lies there.
//! Varnish keeps what was packed, so its ratios are mostly those of the requests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::browser::{self, Browser};
use crate::packages;
use crate::servers::daemon;
use crate::visit;

/// Seconds of one measurement.
const SECONDS: u32 = 4;
const CONNECTIONS: u32 = 8;
/// Ticks of the clock that `/proc` counts processor time in (Linux on every architecture: USER_HZ).
const TICKS: f64 = 100.0;

/// One measurement.
#[derive(Debug, Clone, Copy)]
struct Load {
    pages: f64,
    hits: f64,
    bytes: f64,
    /// Milliseconds of processor time of the server a page.
    cpu: f64,
}

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let program = match args {
        [] => crate::e2e::build_program()?,
        [flag, program] if flag == "--bin" => PathBuf::from(program),
        _ => bail!("takes --bin PROGRAM only"),
    };
    packages::provide_servers()?;
    let h2load = daemon::find("h2load").context("no h2load: install nghttp2-client")?;
    let chromium = browser::find()?;
    let blog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/blog/site");
    println!("| server | HTTP | view | hits a page | bytes a page | CPU a page | pages a second |");
    println!("|---|---|---|---|---|---|---|");
    for kind in ["nginx", "varnish"] {
        let mut sides = Vec::new();
        for before in [true, false] {
            let work = daemon::folder()?;
            let out = work.path().join("out");
            let mut build = Command::new(&program);
            build.arg("build").arg(&blog).arg("--out").arg(&out).arg("-q");
            if before {
                // Files as SITE has them, packed on the way: nginx does that for the untouched site too.
                build.args(["--skip", "all", "--no-gzip", "--no-brotli"]);
            }
            if !build.status()?.success() {
                bail!("the blog does not build");
            }
            if before {
                // The untouched site itself: a build prints CSS even with every pass off.
                copy(&blog, &out)?;
            }
            let server = daemon::Daemon::start(&program, kind, &out, "/", work.path())?;
            let mut browser = Browser::start(&chromium)?;
            let views = views(&mut browser, &server.origin, &out)?;
            drop(browser);
            let mut loads = Vec::new();
            for protocol in ["1.1", "2"] {
                // Varnish speaks HTTP/2 when it is told to; it is not here.
                if protocol == "2" && kind == "varnish" {
                    continue;
                }
                let other = match protocol {
                    "2" => Some(daemon::Daemon::start(
                        &program,
                        daemon::H2,
                        &out,
                        "/",
                        work.path(),
                    )?),
                    _ => None,
                };
                let server = other.as_ref().unwrap_or(&server);
                for (view, (pages, urls)) in ["first", "follow-up"].iter().zip(&views) {
                    let load = measure(&h2load, server, protocol, *pages, urls, work.path())?;
                    loads.push((protocol, *view, load));
                }
            }
            sides.push(loads);
        }
        let [before, after] = sides.as_slice() else {
            bail!("two sides were measured");
        };
        for ((protocol, view, old), (_, _, new)) in before.iter().zip(after) {
            println!(
                "| {kind} | {protocol} | {view} | {:.1} -> {:.1} | x {:.2} | x {:.2} | x {:.1} |",
                old.hits,
                new.hits,
                new.bytes / old.bytes,
                new.cpu / old.cpu,
                new.pages / old.pages
            );
        }
    }
    Ok(())
}

/// Puts the files of `from` over those of `to`.
pub(crate) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// The number of pages and what a browser asks for on all of them: on first views, and coming from the start page.
fn views(browser: &mut Browser, origin: &str, out: &Path) -> anyhow::Result<[(usize, Vec<String>); 2]> {
    let mut pages = vec!["/".to_string(), "/about.html".into(), "/archive.html".into()];
    let mut posts: Vec<PathBuf> = fs::read_dir(out.join("posts"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<anyhow::Result<_>>()?;
    posts.retain(|path| path.extension().is_some_and(|extension| extension == "html"));
    posts.sort();
    for post in posts.iter().take(3) {
        let name = post.file_name().unwrap_or_default().to_string_lossy();
        pages.push(format!("/posts/{name}"));
    }
    let (mut first, mut again) = (Vec::new(), Vec::new());
    for page in &pages {
        first.extend(visit::first_view(browser, origin, page)?.traffic.requests);
        again.extend(visit::follow_up(browser, origin, "/", page)?.requests);
    }
    Ok([(pages.len(), first), (pages.len(), again)])
}

/// Asks for the list over and over.
fn measure(
    h2load: &Path,
    server: &daemon::Daemon,
    protocol: &str,
    pages: usize,
    urls: &[String],
    work: &Path,
) -> anyhow::Result<Load> {
    let list = work.join("urls");
    let text: String = urls
        .iter()
        .map(|url| format!("{}{url}\n", server.origin))
        .collect();
    fs::write(&list, text)?;
    let ask = |seconds: u32| -> anyhow::Result<String> {
        let mut command = Command::new(h2load);
        command
            .arg("-i")
            .arg(&list)
            .args([
                "-c",
                &CONNECTIONS.to_string(),
                "-D",
                &seconds.to_string(),
                "-t",
                "1",
            ])
            .args(["-m", if protocol == "2" { "20" } else { "1" }])
            .args(["-H", "accept-encoding: gzip, deflate, br, zstd"]);
        if protocol == "1.1" {
            command.arg("--h1");
        }
        let output = command.output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // Caches fill, workers start.
    ask(1)?;
    let before = cpu(server)?;
    let said = ask(SECONDS)?;
    let used = cpu(server)? - before;
    let word = |after: &str| -> anyhow::Result<String> {
        let at = said
            .find(after)
            .with_context(|| format!("h2load says no {after:?}: {said}"))?;
        Ok(said[at + after.len()..]
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_string())
    };
    let requests: f64 = word("status codes: ")?
        .parse()
        .context("h2load counts no answers")?;
    if requests < 1.0 || !said.contains(" 0 4xx, 0 5xx") {
        bail!("h2load was refused: {said}");
    }
    let bytes: f64 = said
        .lines()
        .find(|line| line.starts_with("traffic:"))
        .and_then(|line| line.split('(').nth(1)?.split(')').next()?.parse().ok())
        .with_context(|| format!("h2load counts no bytes: {said}"))?;
    let hits = urls.len() as f64 / pages as f64;
    let viewed = requests / hits;
    Ok(Load {
        pages: viewed / f64::from(SECONDS),
        hits,
        bytes: bytes / viewed,
        cpu: used * 1000.0 / viewed,
    })
}

/// Seconds of processor time that the server and its children have used.
fn cpu(server: &daemon::Daemon) -> anyhow::Result<f64> {
    let mut ticks = 0.0;
    let listed: Vec<u32> = server.processes();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(format!("/proc/{id}/stat")) else {
            continue;
        };
        // The name in brackets may hold anything; the fields behind it do not.
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        let number = |at: usize| {
            fields
                .get(at)
                .and_then(|field| field.parse::<f64>().ok())
                .unwrap_or(0.0)
        };
        if listed.contains(&id) || listed.contains(&(number(1) as u32)) {
            ticks += number(11) + number(12);
        }
    }
    Ok(ticks / TICKS)
}
