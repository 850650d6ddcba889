//! `fewer verify` against faults of every kind, planted one a page: each is found on its page, as what it is, and
//! nothing is found on pages without one.
//!
//! `cargo xtask verify [--bin PROGRAM] [chromium] [firefox]`; without a name both, Firefox where there is one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use serde_json::Value;

/// A page of the site, what is done to it in OUT, and what has to be found.
struct Case {
    name: &'static str,
    /// In the head of the page, in SITE.
    head: &'static str,
    body: &'static str,
    plant: Plant,
    /// Kinds of faults, no more and no fewer.
    faults: &'static [&'static str],
    /// The only mode that shows it; empty for one that all show.
    mode: &'static str,
}

enum Plant {
    Nothing,
    /// Text of the page becomes another one.
    Replace(&'static str, &'static str),
    /// The file named like the page is removed.
    Remove(&'static str),
    /// One pixel of the picture named like the page gets another colour.
    Pixel,
    /// The report of the build promises one request less.
    Count,
}

const CASES: &[Case] = &[
    Case {
        name: "lost-image",
        head: "",
        body: "<img src=lost-image.bmp alt=dot>",
        plant: Plant::Remove("bmp"),
        faults: &["failed-request", "images", "pixels"],
        mode: "",
    },
    Case {
        name: "one-pixel",
        head: "",
        body: "<img src=one-pixel.bmp alt=''>",
        plant: Plant::Pixel,
        faults: &["pixels"],
        mode: "",
    },
    Case {
        name: "lost-rule",
        head: "<style>p { margin-left: 3em }</style>",
        body: "<p>Indented",
        plant: Plant::Replace("p { margin-left: 3em }", ""),
        faults: &["pixels"],
        mode: "",
    },
    Case {
        name: "wrong-font",
        head: "<style>p { font-family: serif }</style>",
        body: "<p>Letters",
        plant: Plant::Replace("font-family: serif", "font-family: monospace"),
        faults: &["pixels"],
        mode: "",
    },
    Case {
        name: "changed-text",
        head: "",
        body: "<p>one two",
        plant: Plant::Replace("one two", "one too"),
        faults: &["pixels", "text"],
        mode: "",
    },
    Case {
        name: "not-found",
        head: "<script src=not-found.js></script>",
        body: "<p>Text",
        plant: Plant::Remove("js"),
        faults: &["failed-request"],
        mode: "",
    },
    Case {
        name: "console",
        head: "<script>void 0</script>",
        body: "<p>Text",
        plant: Plant::Replace("void 0", "console.error('planted')"),
        faults: &["console"],
        mode: "",
    },
    Case {
        name: "thrown",
        head: "<script>void 0</script>",
        body: "<p>Text",
        plant: Plant::Replace("void 0", "planted.wrong()"),
        faults: &["console"],
        mode: "",
    },
    Case {
        name: "print-only",
        head: "<style>@media print { p { border: 3px solid } }</style>",
        body: "<p>Paper",
        plant: Plant::Replace("border: 3px solid", ""),
        faults: &["pixels"],
        mode: "print",
    },
    Case {
        name: "dark-only",
        head: "<style>@media (prefers-color-scheme: dark) { body { background: #123456 } }</style>",
        body: "<p>Night",
        plant: Plant::Replace("#123456", "#123457"),
        faults: &["pixels"],
        mode: "dark",
    },
    Case {
        name: "forced-only",
        head: "<style>@media (forced-colors: active) { p { border: 3px solid } }</style>",
        body: "<p>Contrast",
        plant: Plant::Replace("border: 3px solid", ""),
        faults: &["pixels"],
        mode: "forced-colors",
    },
    Case {
        name: "wrong-count",
        head: "",
        body: "<img src=wrong-count.bmp alt=''>",
        plant: Plant::Count,
        faults: &["count"],
        mode: "",
    },
    Case {
        name: "more-requests",
        head: "<link rel=icon href=data:,>",
        body: "<p>Text<script>void 0</script>",
        plant: Plant::Replace("void 0", "new Image().src = 'one-pixel.bmp'"),
        faults: &["count", "requests"],
        mode: "",
    },
    Case {
        name: "other-link",
        head: "",
        body: "<a href=console.html>elsewhere</a>",
        plant: Plant::Replace("console.html", "thrown.html"),
        faults: &["links"],
        mode: "",
    },
    Case {
        name: "other-host",
        head: "",
        body: "<p>Text<script>void 0</script>",
        plant: Plant::Replace("void 0", "fetch('https://example.org/').catch(() => 0)"),
        faults: &["external"],
        mode: "",
    },
    // What must not be found.
    Case {
        name: "address",
        head: "",
        body: "<p><script>document.write(location.href, ' ', location.port, isSecureContext)</script>",
        plant: Plant::Nothing,
        faults: &[],
        mode: "",
    },
    Case {
        name: "moving",
        head: "<style>p { animation: 3s linear infinite both a } @keyframes a { to { margin-left: 50% } }</style>",
        body: "<p>Text",
        plant: Plant::Nothing,
        faults: &[],
        mode: "",
    },
    Case {
        name: UNSTEADY,
        head: "",
        body: "<p><script>document.write(crypto.randomUUID())</script>",
        plant: Plant::Nothing,
        faults: &[],
        mode: "",
    },
];

/// The page that is another one each time it is loaded: to be named, neither failed nor passed over.
const UNSTEADY: &str = "unsteady";

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let mut program = None;
    let mut browsers = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--bin" => program = Some(PathBuf::from(args.next().context("--bin needs a program")?)),
            name @ ("chromium" | "firefox") => browsers.push(name),
            other => bail!("unknown argument {other}"),
        }
    }
    let program = match program {
        Some(program) => program,
        None => crate::e2e::build_program()?,
    };
    if browsers.is_empty() {
        browsers.push("chromium");
        match fewer::verify::find(Some("firefox")) {
            Ok(_) => browsers.push("firefox"),
            Err(error) => println!("verify: without Firefox: {error:#}"),
        }
    }
    let work = tempfile::tempdir()?;
    let (site, out) = (work.path().join("site"), work.path().join("out"));
    let report = work.path().join("report.json");
    plant(&program, &site, &out, &report)?;
    let mut failed = 0;
    for browser in browsers {
        let started = Instant::now();
        let wrong = check(&program, browser, [&site, &out, &report], work.path())?;
        failed += wrong.len();
        for line in &wrong {
            println!("     {line}");
        }
        println!(
            "{} verify with {browser}: {} pages, {:.0} s",
            if wrong.is_empty() { "ok  " } else { "FAIL" },
            CASES.len(),
            started.elapsed().as_secs_f64()
        );
    }
    ensure!(failed == 0, "{failed} pages are not judged as they are");
    Ok(())
}

/// Writes the site, builds it without changing anything, and breaks OUT.
fn plant(program: &Path, site: &Path, out: &Path, report: &Path) -> anyhow::Result<()> {
    fs::create_dir(site)?;
    let mut index = String::from("<!doctype html>\n<title>Index</title>\n");
    for case in CASES {
        let name = case.name;
        let page = format!(
            "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<title>{name}</title>\n{}\n{}\n",
            case.head, case.body
        );
        fs::write(site.join(format!("{name}.html")), page)?;
        if case.body.contains(".bmp") {
            fs::write(site.join(format!("{name}.bmp")), bitmap())?;
        }
        if matches!(case.plant, Plant::Remove("js")) {
            fs::write(site.join(format!("{name}.js")), "'use strict'\n")?;
        }
        index.push_str(&format!("<p><a href={name}.html>{name}</a>\n"));
    }
    // For `more-requests`, whether or not that page is built.
    fs::write(site.join("one-pixel.bmp"), bitmap())?;
    fs::write(site.join("index.html"), index)?;
    let built = Command::new(program)
        .arg("build")
        .arg(site)
        .arg("--out")
        .arg(out)
        .arg("--report")
        .arg(report)
        .args(["--skip", "all", "--no-gzip", "--no-brotli", "--quiet"])
        .status()?;
    ensure!(built.success(), "the site with the faults does not build");
    for case in CASES {
        let name = case.name;
        let page = out.join(format!("{name}.html"));
        match case.plant {
            Plant::Nothing => {}
            Plant::Replace(old, new) => {
                let text = fs::read_to_string(&page)?;
                ensure!(
                    text.matches(old).count() == 1,
                    "{name} has no place for its fault"
                );
                fs::write(&page, text.replace(old, new))?;
            }
            Plant::Remove(extension) => fs::remove_file(page.with_extension(extension))?,
            Plant::Pixel => {
                let mut picture = bitmap();
                *picture.last_mut().context("the picture is empty")? ^= 1;
                fs::write(page.with_extension("bmp"), picture)?;
            }
            Plant::Count => {
                let mut value: Value = serde_json::from_slice(&fs::read(report)?)?;
                let pages = value["pages"].as_array_mut().context("the report has no pages")?;
                let path = format!("{name}.html");
                let page = pages.iter_mut().find(|page| page["path"] == path.as_str());
                let page = page.context("the report lacks a page")?;
                let count = page["after"]["first"]["requests"].as_u64().context("no count")?;
                page["after"]["first"]["requests"] = (count - 1).into();
                fs::write(report, value.to_string())?;
            }
        }
    }
    Ok(())
}

/// Eight by eight pixels of one colour (a BMP of 24 bits a pixel).
fn bitmap() -> Vec<u8> {
    let mut file = Vec::new();
    let pixels = [0x40, 0x80, 0xc0].repeat(64);
    file.extend(b"BM");
    for number in [
        54 + pixels.len() as u32,
        0,
        54,
        40,
        8,
        8,
        1 | 24 << 16,
        0,
        pixels.len() as u32,
        2835,
        2835,
        0,
        0,
    ] {
        file.extend(number.to_le_bytes());
    }
    file.extend(pixels);
    file
}

/// Runs the program and says which pages it judged wrongly.
fn check(
    program: &Path,
    browser: &str,
    [site, out, report]: [&Path; 3],
    work: &Path,
) -> anyhow::Result<Vec<String>> {
    let found = work.join(format!("{browser}.json"));
    let output = Command::new(program)
        .arg("verify")
        .args([site, out])
        .arg("--counts")
        .arg(report)
        .arg("--report")
        .arg(&found)
        .args(["--all", "--browser", browser, "--viewport", "640x400"])
        .output()?;
    ensure!(
        output.status.code() == Some(1),
        "expected exit status 1, got {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    let found: Value = serde_json::from_slice(&fs::read(found)?)?;
    let pages = found["pages"].as_array().context("the report has no pages")?;
    let mut wrong = Vec::new();
    for case in CASES {
        let path = format!("{}.html", case.name);
        let page = pages.iter().find(|page| page["path"] == path.as_str());
        let page = page.with_context(|| format!("{path} was not looked at"))?;
        let list = |key: &str| page[key].as_array().cloned().unwrap_or_default();
        let faults = list("faults");
        let kinds: BTreeSet<&str> = faults.iter().filter_map(|fault| fault["kind"].as_str()).collect();
        if kinds != case.faults.iter().copied().collect() {
            wrong.push(format!("{path}: expected {:?}, found {faults:?}", case.faults));
        }
        let state = |fault: &&Value| {
            fault["state"]
                .as_str()
                .is_some_and(|state| !state.ends_with(case.mode))
        };
        if let Some(fault) = faults.iter().find(state) {
            wrong.push(format!(
                "{path}: expected it in {} only, found {fault}",
                case.mode
            ));
        }
        let notes = list("notes");
        if notes.is_empty() == (case.name == UNSTEADY) {
            wrong.push(format!("{path}: notes {notes:?}"));
        }
    }
    let index = pages.iter().find(|page| page["path"] == "index.html");
    if index.is_none_or(|page| page["faults"] != serde_json::json!([])) {
        wrong.push(format!("index.html: expected nothing, found {index:?}"));
    }
    Ok(wrong)
}
