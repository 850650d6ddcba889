//! The HTML report in a real browser: it asks for nothing, says no error, and can be sorted, filtered and opened by
//! keyboard; its colours can be read in both themes; nothing sticks out of a phone; it holds 100,000 pages.
//!
//! `cargo xtask report [--bin PROGRAM] [--pictures DIR]`; the pictures are for people to look at.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use base64::Engine as _;
use fewer::html::Kind;
use fewer::report::{
    self, Bytes, Content, Format, Measured, Page, Report, Request, Sides, State, Totals, Verdict, View,
    Viewport, Views, Weight,
};
use fewer::site::SitePath;
use serde_json::{Value, json};

use crate::browser::{self, Browser, Tab};
use crate::e2e;

/// Pages of the big report, and the bytes that it may have.
const MANY: usize = 100_000;
const BYTES: u64 = 10_000_000;
/// Sorting or filtering those may take this long on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let (mut program, mut pictures) = (None, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || {
            args.next()
                .map(PathBuf::from)
                .with_context(|| format!("{arg} needs a value"))
        };
        match arg.as_str() {
            "--bin" => program = Some(value()?),
            "--pictures" => pictures = Some(value()?),
            other => bail!("unknown argument {other}"),
        }
    }
    let program = match program {
        Some(program) => program,
        None => e2e::build_program()?,
    };
    let chromium = browser::find()?;
    let work = tempfile::tempdir()?;
    let small = work.path().join("small.html");
    build(&program, work.path(), &small)?;
    let big = work.path().join("big.html");
    let mut file = std::io::BufWriter::new(fs::File::create(&big)?);
    report::write(&many_pages(), Format::Html, "site", &mut file)?;
    drop(file);
    let size = fs::metadata(&big)?.len();
    ensure!(size < BYTES, "a report of {MANY} pages has {size} bytes");

    let started = Instant::now();
    let mut browser = Browser::start(&chromium)?;
    check_small(&mut browser, &small, pictures.as_deref()).context("the report of the example")?;
    check_big(&mut browser, &big).context("the report of many pages")?;
    println!(
        "report: passed in {:.0} s; {MANY} pages have {:.1} MB",
        started.elapsed().as_secs_f64(),
        size as f64 / 1e6
    );
    Ok(())
}

/// The example, with a limit that it breaks, a baseline and a visit, so that every section is there.
fn build(program: &Path, work: &Path, report: &Path) -> anyhow::Result<()> {
    let site = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/blog/site");
    let baseline = work.join("baseline.json");
    let status = Command::new(program)
        .arg("report")
        .arg(&site)
        .args(["--quiet", "--report"])
        .arg(&baseline)
        .status()?;
    ensure!(status.success(), "no baseline could be made");
    let status = Command::new(program)
        .arg("build")
        .arg(&site)
        .arg("--out")
        .arg(work.join("out"))
        .args([
            "--quiet",
            "--max-requests",
            "2",
            "--journey",
            "index.html,about.html",
            "--baseline",
        ])
        .arg(&baseline)
        .arg("--report")
        .arg(report)
        .stderr(std::process::Stdio::null())
        .status()?;
    ensure!(status.code() == Some(1), "the example breaks no limit: {status}");
    Ok(())
}

fn check_small(browser: &mut Browser, file: &Path, pictures: Option<&Path>) -> anyhow::Result<()> {
    let tab = open(browser, file)?;
    let pages = number(
        browser,
        &tab,
        "document.querySelectorAll('#pages tbody tr').length",
    )?;
    ensure!(pages == 13, "{pages} rows in the list of pages");
    names(browser, &tab)?;

    // By keyboard alone: to the column of bytes, sort; back by Tab to a page, open it.
    let sorted = "[...document.querySelectorAll('#pages tbody tr')].map(r => r.cells[2].textContent)";
    tab_to(
        browser,
        &tab,
        "document.activeElement.closest('#pages thead th')?.cellIndex === 2",
    )?;
    key(browser, &tab, "Enter")?;
    let sort = text(
        browser,
        &tab,
        "document.querySelectorAll('#pages thead th')[2].ariaSort",
    )?;
    ensure!(sort == "descending", "the column of bytes is sorted {sort}");
    let first = text(browser, &tab, &format!("{sorted}[0]"))?;
    key(browser, &tab, "Enter")?;
    let last = text(browser, &tab, &format!("{sorted}.at(-1)"))?;
    ensure!(first == last, "sorting the other way moves {first} to {last}");
    tab_to(
        browser,
        &tab,
        "document.activeElement.matches('#pages tbody .open')",
    )?;
    key(browser, &tab, "Enter")?;
    let opened = "document.activeElement.getAttribute('aria-expanded') + ' ' + \
        document.getElementById(document.activeElement.getAttribute('aria-controls')).querySelectorAll('tbody tr').length";
    let opened = text(browser, &tab, opened)?;
    let requests = opened.strip_prefix("true ").and_then(|n| n.parse::<u32>().ok());
    ensure!(
        requests.is_some_and(|n| n > 10),
        "a page opened by keyboard shows {opened}"
    );
    if let Some(folder) = pictures {
        fs::create_dir_all(folder)?;
        for (theme, width) in [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)] {
            emulate(browser, &tab, theme, width)?;
            let picture = crate::visit::picture(browser, &tab, width)?;
            let bytes = base64::engine::general_purpose::STANDARD.decode(picture)?;
            fs::write(folder.join(format!("{theme}-{width}.png")), bytes)?;
        }
    }
    key(browser, &tab, "Enter")?;
    let open = number(
        browser,
        &tab,
        "document.querySelectorAll('#pages .detail').length",
    )?;
    ensure!(open == 0, "a second press leaves {open} lists open");

    // Words and choices.
    browser.evaluate(&tab, "document.querySelector('#pages input').focus()")?;
    browser.call(&tab.session, "Input.insertText", json!({"text": "tide POSTS"}))?;
    wait(
        browser,
        &tab,
        "document.querySelectorAll('#pages tbody tr').length === 2",
    )?;
    let status = text(
        browser,
        &tab,
        "document.querySelector('#pages [role=status]').textContent",
    )?;
    ensure!(status == "2 pages of 13", "the status says {status}");
    browser.evaluate(
        &tab,
        "{ const i = document.querySelector('#pages input'), s = document.querySelector('#pages select');
           i.value = ''; s.value = 'over'; i.dispatchEvent(new Event('input')); s.dispatchEvent(new Event('change')) }",
    )?;
    let over = "[...document.querySelectorAll('#pages .open')].map(b => b.textContent).join()";
    wait(browser, &tab, &format!("{over} === 'index.html'"))?;

    for (theme, width) in [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)] {
        emulate(browser, &tab, theme, width)?;
        let faint = browser.evaluate(&tab, FAINT)?;
        ensure!(faint == json!([]), "hard to read in the {theme} theme: {faint}");
        let wide = number(browser, &tab, "document.documentElement.scrollWidth")?;
        ensure!(
            wide <= u64::from(width),
            "{wide} px wide in a window of {width} px"
        );
    }
    silent(browser, &tab, file)?;
    browser.close_tab(tab)
}

fn check_big(browser: &mut Browser, file: &Path) -> anyhow::Result<()> {
    let tab = open(browser, file)?;
    let rows = "document.querySelectorAll('#pages tbody tr').length";
    ensure!(number(browser, &tab, rows)? == 50, "not one screen of pages");
    let status = text(
        browser,
        &tab,
        "document.querySelector('#pages [role=status]').textContent",
    )?;
    ensure!(status == "1 to 50 of 100,000 pages", "the status says {status}");
    for action in [
        "document.querySelector('#pages thead button').click()",
        "document.querySelectorAll('#pages thead button')[3].click()",
        "{ const i = document.querySelector('#pages input'); i.value = '99999'; i.dispatchEvent(new Event('input')) }",
    ] {
        let started = Instant::now();
        browser.evaluate(&tab, action)?;
        ensure!(
            started.elapsed() < PATIENCE,
            "{action} takes {:?}",
            started.elapsed()
        );
    }
    wait(browser, &tab, &format!("{rows} === 1"))?;
    silent(browser, &tab, file)?;
    browser.close_tab(tab)
}

/// Text whose contrast with what is behind it is below 4.5 (WCAG 2.2, 1.4.3).
const FAINT: &str = r"(() => {
    const light = (color) => {
        const parts = color.match(/[\d.]+/g).slice(0, 3).map((n) => n / 255)
            .map((n) => n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const behind = (element) => {
        for (let e = element; e; e = e.parentElement) {
            const color = getComputedStyle(e).backgroundColor;
            if (color !== 'rgba(0, 0, 0, 0)') return color;
        }
        return 'rgb(255, 255, 255)';
    };
    const found = new Set();
    for (const element of document.querySelectorAll('body *')) {
        const says = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
        if (!says || element.disabled || !element.getClientRects().length || element.closest('script')) continue;
        const [a, b] = [light(getComputedStyle(element).color), light(behind(element))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) found.add(element.tagName + '.' + element.className + ' ' + ratio.toFixed(1));
    }
    return [...found];
})()";

fn open(browser: &mut Browser, file: &Path) -> anyhow::Result<Tab> {
    let tab = browser.open_tab()?;
    emulate(browser, &tab, "light", 1280)?;
    let url = format!("file://{}", file.display());
    let answer = browser.call(&tab.session, "Page.navigate", json!({"url": url}))?;
    ensure!(answer.get("errorText").is_none(), "cannot be opened: {answer}");
    wait(
        browser,
        &tab,
        "document.readyState === 'complete' && location.protocol === 'file:'",
    )?;
    Ok(tab)
}

fn emulate(browser: &mut Browser, tab: &Tab, theme: &str, width: u32) -> anyhow::Result<()> {
    let media = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
    browser.call(&tab.session, "Emulation.setEmulatedMedia", media)?;
    let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
    browser.call(&tab.session, "Emulation.setDeviceMetricsOverride", size)?;
    Ok(())
}

/// Whatever the page asked for or complained about since it was opened, itself left out.
fn silent(browser: &mut Browser, tab: &Tab, file: &Path) -> anyhow::Result<()> {
    let own = format!("file://{}", file.display());
    let mut loud = Vec::new();
    while let Some(event) = browser.next_event(Instant::now() + Duration::from_millis(200))? {
        if event.session != tab.session {
            continue;
        }
        let params = &event.params;
        match event.method.as_str() {
            "Network.requestWillBeSent" => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                if url != own && !url.starts_with("data:") {
                    loud.push(format!("asks for {url}"));
                }
            }
            "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded" => {
                loud.push(format!("{}: {params}", event.method));
            }
            _ => {}
        }
    }
    ensure!(loud.is_empty(), "{}", loud.join("\n"));
    Ok(())
}

/// Everything that can be worked with has a name for people who hear the page.
fn names(browser: &mut Browser, tab: &Tab) -> anyhow::Result<()> {
    let tree = browser.call(&tab.session, "Accessibility.getFullAXTree", json!({}))?;
    let mut seen = 0;
    for node in tree["nodes"].as_array().into_iter().flatten() {
        let role = node["role"]["value"].as_str().unwrap_or_default();
        let named = node["name"]["value"]
            .as_str()
            .is_some_and(|name| !name.trim().is_empty());
        let ignored = node["ignored"] == json!(true);
        if !ignored && ["button", "searchbox", "combobox", "link", "region", "table"].contains(&role) {
            seen += 1;
            ensure!(named, "a {role} has no name: {node}");
        }
    }
    ensure!(seen > 20, "only {seen} things to work with");
    Ok(())
}

/// Presses Tab until `reached` holds.
fn tab_to(browser: &mut Browser, tab: &Tab, reached: &str) -> anyhow::Result<()> {
    for _ in 0..40 {
        key(browser, tab, "Tab")?;
        if browser.evaluate(tab, reached)? == json!(true) {
            return Ok(());
        }
    }
    bail!("no Tab leads to where {reached}")
}

fn key(browser: &mut Browser, tab: &Tab, name: &str) -> anyhow::Result<()> {
    let (code, text) = match name {
        "Enter" => (13, "\r"),
        _ => (9, ""),
    };
    let mut params = json!({"type": "keyDown", "key": name, "code": name, "windowsVirtualKeyCode": code});
    if !text.is_empty() {
        params["text"] = json!(text);
    }
    browser.call(&tab.session, "Input.dispatchKeyEvent", params.clone())?;
    params["type"] = json!("keyUp");
    browser.call(&tab.session, "Input.dispatchKeyEvent", params)?;
    Ok(())
}

fn wait(browser: &mut Browser, tab: &Tab, condition: &str) -> anyhow::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while browser.evaluate(tab, condition)? != json!(true) {
        ensure!(Instant::now() < deadline, "never: {condition}");
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn number(browser: &mut Browser, tab: &Tab, script: &str) -> anyhow::Result<u64> {
    let value = browser.evaluate(tab, script)?;
    value.as_u64().with_context(|| format!("{script} is {value}"))
}

fn text(browser: &mut Browser, tab: &Tab, script: &str) -> anyhow::Result<String> {
    match browser.evaluate(tab, script)? {
        Value::String(text) => Ok(text),
        other => bail!("{script} is {other}"),
    }
}

/// A built site with so many pages, long paths, 30 requests a page and images of its own on each.
fn many_pages() -> Report {
    let size = |br: u64| Bytes {
        identity: br * 4,
        gzip: br + br / 9,
        br,
    };
    let weight = |content, before: u64, after: u64| {
        std::sync::Arc::new(Weight {
            content,
            revalidated: false,
            bytes: Sides {
                before: Some(size(before)),
                after: Some(size(after)),
            },
        })
    };
    let request = |url: String, kind, state: State, weight: &std::sync::Arc<Weight>| Request {
        url: url.into(),
        kind,
        initiator: "markup".into(),
        state,
        weight: weight.clone(),
        follow_up: Sides {
            before: true,
            after: state.counts_after(),
        },
    };
    let image = weight(Content::Image, 2_400, 2_400);
    let sheet = weight(Content::Css, 14_200, 12_900);
    let common: Vec<Request> = (0..29)
        .map(|i| match i % 3 {
            0 => request(
                format!("/assets/css/part-{i}.css"),
                Kind::Stylesheet,
                State::Combined,
                &sheet,
            ),
            _ => request(
                format!("/assets/img/icon-{i}.svg"),
                Kind::Image,
                State::Inlined,
                &image,
            ),
        })
        .collect();
    let pages: Vec<Page> = (0..MANY)
        .map(|i| {
            let mut requests = common.clone();
            requests.push(request(
                format!("/photos/{i:06}.jpg"),
                Kind::Image,
                State::Kept,
                &image,
            ));
            let view = |requests: u64, br: u64| View {
                requests,
                bytes: size(br),
            };
            let i = i as u64;
            let views = |requests: u64, br: u64| Views {
                first: view(requests, br),
                follow_up: view(requests / 3, br / 4),
            };
            Page {
                path: SitePath::new(format!(
                    "library/section-{:03}/a-chapter-with-a-long-name/page-{i:06}.html",
                    i / 400
                )),
                before: views(31 + i % 9, 180_000 + i * 7 % 90_000),
                after: Some(views(2 + i % 3, 150_000 + i * 11 % 70_000)),
                document: Weight {
                    content: Content::Html,
                    revalidated: true,
                    bytes: Sides {
                        before: Some(size(9_000)),
                        after: Some(size(11_000)),
                    },
                },
                scripts: false,
                requests,
            }
        })
        .collect();
    Report {
        entry: Some(pages[0].path.clone()),
        measured: Measured {
            gzip: "6".into(),
            brotli: "5".into(),
            viewport: Viewport {
                width: 1280,
                height: 900,
            },
            request_overhead: 200,
        },
        totals: Totals::of(&pages, 2 * MANY as u64),
        pages,
        decisions: Vec::new(),
        diagnostics: Vec::new(),
        home: "http://fewer.invalid/".into(),
        verdict: Verdict::default(),
        journey: None,
        is_check: false,
    }
}
