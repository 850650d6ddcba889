//! Headers that a build asks its server for: `Link` with the stylesheets of a page (`--link-headers`), and
//! CORS for what pages of another host may only use with it (`--cdn-cors`). What is expected is read from OUT
//! itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use fewer::url::encode_path;
use serde_json::Value;

use super::ask::ask;
use super::daemon::Daemon;

const CDN: &str = "https://cdn.example.com/";
/// Names that stand for themselves in no syntax alone.
const PAGES: [(&str, &str); 7] = [
    ("index.html", "<link rel=stylesheet href=css/a.css>"),
    ("about.html", "<link rel=stylesheet href=css/a.css>"),
    ("docs/index.html", "<link rel=stylesheet href=../css/a.css>"),
    (
        "a b (1).html",
        "<link rel=stylesheet href=css/a.css><link rel=stylesheet href=\"css/b c.css?v=$1\">",
    ),
    ("\u{e9}'$x.html", "<link rel=stylesheet href=\"css/b c.css\">"),
    (
        "plain.html",
        "<script type=module src=js/m.mjs></script><script src=js/s.js></script>",
    ),
    ("404.html", "<link rel=stylesheet href=css/a.css>"),
];

pub(super) fn run(fewer: &Path, kind: &str, work: &Path) -> anyhow::Result<Vec<String>> {
    let site = write(work)?;
    let mut faults = Vec::new();
    let out = build(
        fewer,
        &site,
        &work.join("linked"),
        &["--base-url", "https://example.org/"],
    )?;
    let daemon = Daemon::start(fewer, kind, &out, "/", work)?;
    faults.extend(links(&daemon, &out, true)?);
    drop(daemon);
    // The addresses of the headers are those of a site at the root.
    let daemon = Daemon::start(fewer, kind, &out, "/sub/path/", work)?;
    let found = links(&daemon, &out, false)?;
    faults.extend(found.into_iter().map(|fault| format!("where it is not: {fault}")));
    drop(daemon);

    let below = [
        "--base-url",
        "https://example.org/sub/path/",
        "--cdn",
        CDN,
        "--cdn-cors",
        "--sri",
    ];
    let out = build(fewer, &site, &work.join("cors"), &below)?;
    let daemon = Daemon::start(fewer, kind, &out, "/sub/path/", work)?;
    faults.extend(links(&daemon, &out, true)?);
    faults.extend(cors(&daemon, &out)?);
    Ok(faults)
}

fn write(work: &Path) -> anyhow::Result<PathBuf> {
    let site = work.join("asked");
    let text = |path: &str, text: &str| -> anyhow::Result<()> {
        let path = site.join(path);
        fs::create_dir_all(path.parent().unwrap_or(work))?;
        Ok(fs::write(path, text)?)
    };
    for (page, head) in PAGES {
        text(
            page,
            &format!("<!doctype html><meta charset=utf-8><title>{page}</title>{head}<p>{page}"),
        )?;
    }
    text(
        "css/a.css",
        "@font-face { font-family: f; src: url(../f.woff2) }\np { color: red; mask: url(../i/mask.svg) }\n",
    )?;
    text("css/b c.css", "p { background: url(../own/b.png) }\n")?;
    text("js/m.mjs", "console.log(1)\n")?;
    text("js/s.js", "console.log(2)\n")?;
    text("i/mask.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n")?;
    text("f.woff2", "wOF2")?;
    text("own/b.png", "png")?;
    text("notes.txt", "Nothing for other hosts.\n")?;
    // What the site says itself is said once, not beside ours.
    text(
        "_headers",
        "/own/*\n  Access-Control-Allow-Origin: https://example.org\n/docs/\n  Link: <https://example.net/>; rel=author\n",
    )?;
    Ok(site)
}

fn build(fewer: &Path, site: &Path, out: &Path, flags: &[&str]) -> anyhow::Result<PathBuf> {
    let status = Command::new(fewer)
        .arg("build")
        .arg(site)
        .arg("--out")
        .arg(out)
        .args(["-q", "--skip", "all", "--fingerprint", "--link-headers"])
        .args(flags)
        .status()?;
    if !status.success() {
        bail!("the site does not build with {flags:?}");
    }
    Ok(out.to_path_buf())
}

fn manifest(out: &Path) -> anyhow::Result<Value> {
    Ok(serde_json::from_slice(&fs::read(
        out.join("fewer-manifest.json"),
    )?)?)
}

/// Every page with its headers; without any if they are not for this place.
fn links(daemon: &Daemon, out: &Path, here: bool) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    let listed = manifest(out)?;
    let listed = listed["link_headers"].as_object().context("no Link headers")?;
    if listed.len() != PAGES.len() - 1 {
        bail!("{} pages have Link headers", listed.len());
    }
    for (page, _) in PAGES {
        let mut expected: Vec<&str> = Vec::new();
        if page == "docs/index.html" {
            expected.push("<https://example.net/>; rel=author");
        }
        let values = listed.get(page).and_then(Value::as_array).into_iter().flatten();
        expected.extend(values.filter_map(Value::as_str).filter(|_| here));
        let (path, status) = match page {
            "404.html" => ("gone".to_string(), 404),
            page => (encode_path(page.as_bytes()), 200),
        };
        // A page by its clean address too.
        let clean = path.trim_end_matches("index.html").trim_end_matches(".html");
        for path in [path.as_str(), clean] {
            for header in ["", "Accept-Encoding: br\r\n"] {
                let answer = ask(&daemon.origin, "GET", &format!("{}{path}", daemon.prefix), header)?;
                let found = answer.get("link");
                if answer.status != status || !same(&found, &expected) {
                    faults.push(format!(
                        "{path:?} {header:?}: Link {found:?} in place of {expected:?}"
                    ));
                }
            }
        }
    }
    let sheet = ask(&daemon.origin, "GET", &format!("{}css/a.css", daemon.prefix), "")?;
    if sheet.status != 200 || !sheet.get("link").is_empty() {
        faults.push(format!("a sheet with Link: {sheet:?}"));
    }
    Ok(faults)
}

/// The same values; their order means nothing.
fn same(found: &str, expected: &[&str]) -> bool {
    let mut found: Vec<&str> = found.split(", ").filter(|value| !value.is_empty()).collect();
    let mut expected = expected.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    found == expected
}

/// What pages and sheets ask for on the other host, and what nobody asks for there.
fn cors(daemon: &Daemon, out: &Path) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    let files = manifest(out)?;
    let new = |old: &str| {
        let new = files["files"][old].as_str();
        new.map(str::to_string)
            .with_context(|| format!("{old} has no new name"))
    };
    let mut asked = vec![("notes.txt".to_string(), ""), ("about".to_string(), "")];
    asked.push((new("own/b.png")?, "https://example.org"));
    for old in ["css/a.css", "f.woff2", "i/mask.svg", "js/m.mjs", "js/s.js"] {
        asked.push((new(old)?, "*"));
        // Pages that some cache has kept ask by the old name.
        asked.push((old.to_string(), "*"));
    }
    let pages = PAGES.iter().map(|(page, _)| fs::read_to_string(out.join(page)));
    let text = pages.collect::<std::io::Result<Vec<_>>>()?.concat();
    for old in ["css/a.css", "js/m.mjs", "js/s.js"] {
        if !text.contains(&format!("{CDN}{}", new(old)?)) {
            faults.push(format!("no page asks for {old} on the other host"));
        }
    }
    for (path, expected) in asked {
        for header in [
            "Origin: https://example.org\r\n",
            "Origin: https://example.org\r\nAccept-Encoding: br, gzip\r\n",
        ] {
            let target = format!("{}{path}", daemon.prefix);
            let answer = ask(&daemon.origin, "GET", &target, header)?;
            let found = answer.get("access-control-allow-origin");
            if answer.status != 200 || found != expected {
                faults.push(format!(
                    "{path}: Access-Control-Allow-Origin {found:?} in place of {expected:?}"
                ));
            }
        }
    }
    Ok(faults)
}
