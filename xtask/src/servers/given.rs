//! Any site through a server: `--site DIR`. What is asked of it must hold for every site; what only the site
//! of `site` has is asked in `checks`.
//!
//! A sample of the files of its build is asked for in every coding and compared with the bytes that lie
//! there, and, for the headers, with what the preview answers. Pages are opened in Chromium, and must ask for
//! what the report says.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use fewer::deployed::{self, Coded, Deployed};
use fewer::site::SitePath;
use fewer::url::encode_path;
use serde_json::Value;

use super::ask::{Answer, ask};
use super::daemon::Daemon;
use crate::accuracy::{self, Job};
use crate::browser::Browser;
use crate::expected::{self, Side};

/// Files that are asked for, beside one of every extension.
const FILES: usize = 40;
const PAGES: usize = 12;
/// What every answer of a server must have as the preview has it; `Link` and CORS stand for what `_headers`
/// ask for.
const HEADERS: [&str; 6] = [
    "content-type",
    "cache-control",
    "vary",
    "link",
    "access-control-allow-origin",
    "content-security-policy",
];

/// A site, built.
#[derive(Debug)]
pub(super) struct Given {
    out: PathBuf,
    report: Value,
    deployed: Deployed,
}

impl Given {
    pub(super) fn build(program: &Path, site: &Path, work: &Path) -> anyhow::Result<Given> {
        let (out, report) = (work.join("out"), work.join("report.json"));
        let status = Command::new(program)
            .arg("build")
            .arg(site)
            .arg("--out")
            .arg(&out)
            .arg("--report")
            .arg(&report)
            .args(["-q", "--fingerprint", "--link-headers"])
            .status()?;
        if !status.success() {
            bail!("{} does not build", site.display());
        }
        let mut report = serde_json::from_slice(&fs::read(&report)?)?;
        expected::name_as_out(&mut report, &out)?;
        Ok(Given {
            deployed: deployed::read(&out)?,
            report,
            out,
        })
    }

    /// What is wrong with a server's answers, and what was looked at.
    pub(super) fn run(
        &self,
        program: &Path,
        kind: &str,
        browser: &mut Browser,
        work: &Path,
    ) -> anyhow::Result<(Vec<String>, String)> {
        let mut faults = Vec::new();
        let files = self.sample();
        // A site with a file of that name brings one of its own; it is no part of what is asked here.
        let own = self.out.join(".htaccess");
        let kept = fs::read(&own).ok();
        for prefix in ["/", "/sub/path/"] {
            let daemon = Daemon::start(program, kind, &self.out, prefix, work)?;
            let preview = Daemon::start(program, "serve", &self.out, prefix, work)?;
            for path in &files {
                let found = self.file(kind, [&daemon.origin, &preview.origin], prefix, path)?;
                faults.extend(
                    found
                        .into_iter()
                        .map(|fault| format!("at {prefix}: {path}, {fault}")),
                );
            }
            if prefix == "/" {
                faults.extend(self.views(browser, &daemon.origin));
            }
        }
        match kept {
            Some(bytes) => fs::write(own, bytes)?,
            None => {
                let _ = fs::remove_file(own);
            }
        }
        let looked = format!("{} files, {} pages", files.len(), self.pages().len());
        Ok((faults, looked))
    }

    /// Files for visitors: some at equal distances, and the first of every extension.
    fn sample(&self) -> Vec<&SitePath> {
        let visible: Vec<&SitePath> = self
            .deployed
            .files
            .iter()
            .filter(|path| !self.deployed.is_variant(path) && is_visible(path))
            .collect();
        let step = visible.len().div_ceil(FILES).max(1);
        let mut extensions = BTreeSet::new();
        let taken = visible.iter().enumerate().filter(|(at, path)| {
            let is_new = extensions.insert(path.extension());
            is_new || at % step == 0
        });
        taken.map(|(_, path)| *path).collect()
    }

    fn pages(&self) -> Vec<&Value> {
        let pages = self.report["pages"].as_array().map_or(&[][..], Vec::as_slice);
        accuracy::evenly(pages, PAGES)
    }

    fn views(&self, browser: &mut Browser, origin: &str) -> Vec<String> {
        let mut faults = Vec::new();
        for path in self.pages().into_iter().filter_map(|page| page["path"].as_str()) {
            let job = Job {
                site: "",
                report: &self.report,
                side: Side::After,
                origin: origin.to_string(),
                path,
            };
            let seen = accuracy::open(browser, &job);
            for (view, seen) in ["first view", "follow-up view"].iter().zip(seen) {
                // What its scripts ask for, no report tells.
                if let Some((what, false)) = seen {
                    faults.push(format!("{path}, {view}: {what}"));
                }
            }
        }
        faults
    }

    /// Asks for a file in every coding.
    fn file(
        &self,
        kind: &str,
        origins: [&str; 2],
        prefix: &str,
        path: &SitePath,
    ) -> anyhow::Result<Vec<String>> {
        let mut faults = Vec::new();
        let target = format!("{prefix}{}", encode_path(path.as_bytes()));
        let plain = fs::read(place(&self.out, path, ""))?;
        for accept in [
            None,
            Some("identity"),
            Some("br"),
            Some("gzip"),
            Some("zstd"),
            Some("gzip, deflate, br"),
            Some("br;q=0, gzip"),
        ] {
            let header = accept.map_or(String::new(), |accept| format!("Accept-Encoding: {accept}\r\n"));
            let [found, said] = origins.map(|origin| ask(origin, "GET", &target, &header));
            let (found, said) = (found?, said?);
            let mut wrong = |what: &str| faults.push(format!("{accept:?}: {what}: {found:?}"));
            if found.status != 200 {
                wrong("no 200");
                continue;
            }
            let token = found.get("content-encoding");
            let coding = Coded::ALL.into_iter().find(|coding| coding.token() == token);
            let expected = self.coding(kind, path, accept);
            let right = match (coding, expected) {
                (Some(Coded::Gzip), None) if packs(kind) && takes_gzip(accept) => {
                    gunzip(&found.body)? == plain
                }
                (coding, expected) if coding == expected => match coding {
                    Some(coding) => found.body == fs::read(place(&self.out, path, coding.suffix()))?,
                    None => token.is_empty() && found.body == plain,
                },
                _ => false,
            };
            if !right {
                wrong(&format!(
                    "not the file in {:?}",
                    expected.map_or("no coding", Coded::token)
                ));
            }
            for name in HEADERS {
                let (value, other) = (found.get(name), said.get(name));
                let is_same = value.eq_ignore_ascii_case(&other);
                if !is_same && (name != "vary" || !may_vary(kind, &found, &other)) {
                    wrong(&format!("{name} is {other:?} in the preview"));
                }
            }
            let on_the_way = coding.is_some() && expected.is_none();
            faults.extend(again(kind, origins[0], &target, &header, &found, on_the_way)?);
            // What is wrong with a file is wrong in most codings.
            if !faults.is_empty() {
                break;
            }
        }
        Ok(faults)
    }

    /// The coding that the server sends a file in.
    fn coding(&self, kind: &str, path: &SitePath, accept: Option<&str>) -> Option<Coded> {
        let accept = accept?;
        // Apache would decode such a name twice.
        let is_odd = path.as_bytes().iter().any(|b| b"%?".contains(b));
        if self.deployed.foreign.contains(path) || is_odd && matches!(kind, "apache" | "htaccess") {
            return None;
        }
        Coded::ALL.into_iter().find(|coding| {
            let mut words = accept.split(", ");
            // Debian's nginx has no module for zstd.
            words.any(|word| word == coding.token())
                && !(*coding == Coded::Zstd && matches!(kind, "nginx" | "varnish"))
                && place(&self.out, path, coding.suffix()).is_file()
        })
    }
}

fn place(out: &Path, path: &SitePath, suffix: &str) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    let name = [path.as_bytes(), suffix.as_bytes()].concat();
    out.join(std::ffi::OsStr::from_bytes(&name))
}

fn is_visible(path: &SitePath) -> bool {
    let text = String::from_utf8_lossy(path.as_bytes());
    !text.split('/').any(|segment| segment.starts_with('.')) && !deployed::PRIVATE.contains(&text.as_ref())
}

/// Whether the server packs what has no variant.
fn packs(kind: &str) -> bool {
    matches!(kind, "nginx" | "apache" | "htaccess" | "caddy" | "varnish")
}

fn takes_gzip(accept: Option<&str>) -> bool {
    accept.is_some_and(|accept| accept.contains("gzip"))
}

/// A server that may pack a file says so of the file as it is as well.
fn may_vary(kind: &str, found: &Answer, other: &str) -> bool {
    packs(kind) && other.is_empty() && found.get("vary").eq_ignore_ascii_case("accept-encoding")
}

/// The same without a body, and under the condition that it changed.
fn again(
    kind: &str,
    origin: &str,
    target: &str,
    header: &str,
    found: &Answer,
    on_the_way: bool,
) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    let head = ask(origin, "HEAD", target, header)?;
    // Caddy packs only what has a body.
    let is_same =
        head.get("content-encoding") == found.get("content-encoding") || on_the_way && kind == "caddy";
    if head.status != 200 || !head.body.is_empty() || !is_same {
        faults.push(format!("HEAD with {header:?}: {head:?}"));
    }
    let tag = found.get("etag");
    let same = ask(
        origin,
        "GET",
        target,
        &format!("{header}If-None-Match: {tag}\r\n"),
    )?;
    if tag.is_empty() || same.status != 304 || same.get("cache-control") != found.get("cache-control") {
        faults.push(format!("unchanged, with {header:?} and {tag}: {same:?}"));
    }
    Ok(faults)
}

fn gunzip(packed: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut child = Command::new("gzip")
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run gzip")?;
    let mut stdin = child.stdin.take().context("gzip reads nothing")?;
    let packed = packed.to_vec();
    // Both ends of a pipe are full before a large file has gone through.
    let writer = std::thread::spawn(move || stdin.write_all(&packed));
    let output = child.wait_with_output()?;
    let _ = writer.join();
    Ok(output.stdout)
}
