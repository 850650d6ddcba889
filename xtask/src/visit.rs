//! One page as its readers meet it: a first view with an empty cache, and a follow-up view with a warm one.
//!
//! A request counts when it leaves the page for the network, the page itself and 304 answers included. Cache
//! hits, `data:` URLs, favicons (the browser remembers a missing one, so which page pays for it is chance) and
//! other origins do not count. Lazy images do: the page is scrolled to its end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use crate::browser::{Browser, Event, Tab};

/// Widths of the windows that a page is looked at in (CSS pixels); requests are counted in the first.
pub(crate) const WIDTHS: [u32; 3] = [1280, 768, 390];
const HEIGHT: u32 = 900;
/// Taller pages are cut off in the picture.
const MAX_HEIGHT: u64 = 6000;
/// The network is silent after this long without traffic.
const SILENCE: Duration = Duration::from_millis(200);
/// A page gets this long to load and fall silent.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a page looked like and asked for on its first view.
#[derive(Debug)]
pub(crate) struct Visit {
    /// One PNG for each of `WIDTHS`, in base64 as the browser hands it out.
    pub(crate) pictures: Vec<String>,
    /// Title, visible text, links and the number of broken images, with the origin taken out.
    pub(crate) seen: Value,
    pub(crate) traffic: Traffic,
    pub(crate) errors: Vec<String>,
}

/// The requests of one view.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Paths of requests to the site that went to the network, in the order of asking.
    pub(crate) requests: Vec<String>,
    /// Requests that failed, with the reason.
    pub(crate) failed: Vec<String>,
    /// Requests to anywhere else.
    pub(crate) elsewhere: Vec<String>,
}

/// Opens a page with an empty cache and looks at it in all three windows.
pub(crate) fn first_view(browser: &mut Browser, origin: &str, path: &str) -> anyhow::Result<Visit> {
    let tab = browser.open_tab()?;
    resize(browser, &tab, WIDTHS[0])?;
    let mut recorder = Recorder::default();
    load(browser, &tab, &mut recorder, &format!("{origin}{path}"))?;
    let traffic = recorder.traffic(origin);
    let mut pictures = Vec::new();
    for width in WIDTHS {
        if width != WIDTHS[0] {
            resize(browser, &tab, width)?;
        }
        browser.evaluate(&tab, HOLD_STILL)?;
        if width != WIDTHS[0] {
            // A narrower window may ask for other images; it asks at once.
            recorder.silence(browser, &tab, Duration::from_millis(50))?;
        }
        pictures.push(picture(browser, &tab, width)?);
    }
    resize(browser, &tab, WIDTHS[0])?;
    let seen = browser.evaluate(&tab, READ)?.to_string().replace(origin, "");
    let seen = serde_json::from_str(&seen)?;
    let errors = recorder
        .errors
        .iter()
        .map(|error| error.replace(origin, ""))
        .collect();
    browser.close_tab(tab)?;
    Ok(Visit {
        pictures,
        seen,
        traffic,
        errors,
    })
}

/// What a reader's browser asks for who comes to `path` from the page `entry` (a reload if they are the same).
pub(crate) fn follow_up(
    browser: &mut Browser,
    origin: &str,
    entry: &str,
    path: &str,
) -> anyhow::Result<Traffic> {
    let tab = browser.open_tab()?;
    resize(browser, &tab, WIDTHS[0])?;
    load(
        browser,
        &tab,
        &mut Recorder::default(),
        &format!("{origin}{entry}"),
    )?;
    let mut recorder = Recorder::default();
    load(browser, &tab, &mut recorder, &format!("{origin}{path}"))?;
    browser.close_tab(tab)?;
    Ok(recorder.traffic(origin))
}

/// What a page asks for, with an empty cache or coming from the page `entry`; `scripts`: they run.
pub(crate) fn traffic(
    browser: &mut Browser,
    origin: &str,
    entry: Option<&str>,
    path: &str,
    scripts: bool,
) -> anyhow::Result<Traffic> {
    if scripts && let Some(entry) = entry {
        return follow_up(browser, origin, entry, path);
    }
    let tab = browser.open_tab()?;
    resize(browser, &tab, WIDTHS[0])?;
    let params = json!({"value": !scripts});
    browser.call(&tab.session, "Emulation.setScriptExecutionDisabled", params)?;
    let mut recorder = Recorder::default();
    for path in entry.into_iter().chain([path]) {
        recorder = Recorder::default();
        let url = format!("{origin}{path}");
        if scripts {
            load(browser, &tab, &mut recorder, &url)?;
        } else {
            load_still(browser, &tab, &mut recorder, &url)?;
        }
    }
    browser.close_tab(tab)?;
    Ok(recorder.traffic(origin))
}

/// The same as `load` where no timer runs: scrolls step by step.
fn load_still(browser: &mut Browser, tab: &Tab, recorder: &mut Recorder, url: &str) -> anyhow::Result<()> {
    navigate(browser, tab, recorder, url)?;
    let height = browser.evaluate(tab, FULL_HEIGHT)?.as_u64().unwrap_or(0);
    for step in (0..50)
        .map(|step| step * u64::from(HEIGHT) * 4 / 5)
        .take_while(|top| *top < height)
    {
        browser.evaluate(tab, &format!("scrollTo(0, {step})"))?;
        recorder.silence(browser, tab, Duration::from_millis(50))?;
    }
    recorder.silence(browser, tab, SILENCE)
}

/// Navigates, waits for the load event, scrolls to the end, waits for silence.
fn load(browser: &mut Browser, tab: &Tab, recorder: &mut Recorder, url: &str) -> anyhow::Result<()> {
    navigate(browser, tab, recorder, url)?;
    browser.evaluate(tab, SCROLL_THROUGH)?;
    recorder
        .silence(browser, tab, SILENCE)
        .with_context(|| format!("{url} is never silent"))
}

fn navigate(browser: &mut Browser, tab: &Tab, recorder: &mut Recorder, url: &str) -> anyhow::Result<()> {
    browser.forget_events(tab);
    let answer = browser.call(&tab.session, "Page.navigate", json!({"url": url}))?;
    if let Some(error) = answer["errorText"].as_str() {
        anyhow::bail!("{url} cannot be opened: {error}");
    }
    recorder.loader = answer["loaderId"].as_str().unwrap_or_default().to_string();
    recorder
        .silence(browser, tab, Duration::ZERO)
        .with_context(|| format!("{url} does not load"))
}

fn resize(browser: &mut Browser, tab: &Tab, width: u32) -> anyhow::Result<()> {
    let params = json!({"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": false});
    browser.call(&tab.session, "Emulation.setDeviceMetricsOverride", params)?;
    Ok(())
}

pub(crate) fn picture(browser: &mut Browser, tab: &Tab, width: u32) -> anyhow::Result<String> {
    let height = browser
        .evaluate(tab, FULL_HEIGHT)?
        .as_u64()
        .unwrap_or(0)
        .clamp(u64::from(HEIGHT), MAX_HEIGHT);
    let params = json!({
        "format": "png", "captureBeyondViewport": true, "optimizeForSpeed": true,
        "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1},
    });
    let answer = browser.call(&tab.session, "Page.captureScreenshot", params)?;
    Ok(answer["data"]
        .as_str()
        .context("the browser took no picture")?
        .to_string())
}

/// How two pictures differ, `None` if they do not. Equal files are equal pictures, as one encoder wrote both;
/// the browser decodes the others.
pub(crate) fn difference(browser: &mut Browser, old: &str, new: &str) -> anyhow::Result<Option<String>> {
    if old == new {
        return Ok(None);
    }
    let tab = browser.open_tab()?;
    let script = format!("({COMPARE})({}, {})", json!(old), json!(new));
    let difference = browser.evaluate(&tab, &script)?;
    browser.close_tab(tab)?;
    Ok(difference.as_str().map(str::to_string))
}

/// Collects what the network reports about one view.
#[derive(Debug, Default)]
struct Recorder {
    /// The document whose load event the view waits for.
    loader: String,
    loaded: bool,
    entries: Vec<Entry>,
    /// Request id to the index of its last hop.
    open: BTreeMap<String, usize>,
    errors: Vec<String>,
}

#[derive(Debug, Default)]
struct Entry {
    url: String,
    favicon: bool,
    cached: bool,
    done: bool,
    status: u64,
    error: Option<String>,
}

impl Recorder {
    /// Takes in events until the page has loaded and nothing has been under way for `moment`.
    fn silence(&mut self, browser: &mut Browser, tab: &Tab, moment: Duration) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let busy = !self.loaded || self.entries.iter().any(|entry| !entry.done);
            let until = if busy {
                deadline
            } else {
                deadline.min(Instant::now() + moment)
            };
            match browser.next_event(until)? {
                Some(event) if event.session == tab.session => self.take(event),
                Some(_) => {}
                None if busy => {
                    let waiting = self
                        .entries
                        .iter()
                        .filter(|entry| !entry.done)
                        .map(|entry| entry.url.as_str());
                    anyhow::bail!(
                        "waited {PATIENCE:?} for {}",
                        waiting.collect::<Vec<_>>().join(", ")
                    );
                }
                None => return Ok(()),
            }
        }
    }

    fn take(&mut self, Event { method, params, .. }: Event) {
        match method.as_str() {
            // Frames and the empty page before report theirs too.
            "Page.lifecycleEvent" => {
                self.loaded |= params["name"] == json!("load") && params["loaderId"] == json!(self.loader);
            }
            "Network.requestWillBeSent" => self.start(&params),
            "Network.requestServedFromCache" => self.change(&params, |entry| entry.cached = true),
            "Network.responseReceived" => self.change(&params, |entry| {
                let response = &params["response"];
                if entry.status != 304 {
                    entry.status = response["status"].as_u64().unwrap_or(0);
                    entry.cached |= response["fromDiskCache"] == json!(true);
                }
                entry.cached |= response["fromPrefetchCache"] == json!(true);
            }),
            // Only this event shows a 304; the page itself sees the cached 200.
            "Network.responseReceivedExtraInfo" if params["statusCode"] == json!(304) => {
                self.change(&params, |entry| {
                    entry.status = 304;
                    entry.cached = false;
                });
            }
            "Network.loadingFinished" => self.change(&params, |entry| entry.done = true),
            "Network.loadingFailed" => self.change(&params, |entry| {
                entry.error = Some(params["errorText"].as_str().unwrap_or("failed").to_string());
                entry.done = true;
            }),
            "Runtime.exceptionThrown" => {
                self.errors.push(format!(
                    "uncaught {}",
                    params["exceptionDetails"]["exception"]["description"]
                ));
            }
            "Runtime.consoleAPICalled" if params["type"] == json!("error") => {
                self.errors.push(params["args"].to_string());
            }
            // Failed loads are counted as requests; the console only repeats them.
            "Log.entryAdded" if params["entry"]["level"] == json!("error") => {
                let text = params["entry"]["text"].as_str().unwrap_or_default();
                if !text.starts_with("Failed to load resource") {
                    self.errors.push(text.to_string());
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, params: &Value) {
        let id = params["requestId"].as_str().unwrap_or_default();
        if params.get("redirectResponse").is_some() {
            let response = &params["redirectResponse"];
            self.change(params, |entry| {
                entry.status = response["status"].as_u64().unwrap_or(0);
                entry.cached |= response["fromDiskCache"] == json!(true);
                entry.done = true;
            });
        }
        let url = params["request"]["url"].as_str().unwrap_or_default();
        if !url.starts_with("http:") && !url.starts_with("https:") {
            return;
        }
        let kind = params["type"].as_str().unwrap_or("Other");
        // Nothing in the page asked for it.
        let favicon = kind == "Other" && params["initiator"]["type"] == json!("other");
        self.open.insert(id.to_string(), self.entries.len());
        self.entries.push(Entry {
            url: url.to_string(),
            favicon,
            ..Entry::default()
        });
    }

    fn change(&mut self, params: &Value, change: impl FnOnce(&mut Entry)) {
        let at = params["requestId"].as_str().and_then(|id| self.open.get(id));
        if let Some(entry) = at.and_then(|&at| self.entries.get_mut(at)) {
            change(entry);
        }
    }

    fn traffic(&self, origin: &str) -> Traffic {
        let mut traffic = Traffic::default();
        for entry in self.entries.iter().filter(|entry| !entry.favicon) {
            let Some(path) = entry.url.strip_prefix(origin) else {
                traffic.elsewhere.push(entry.url.clone());
                continue;
            };
            if !entry.cached {
                traffic.requests.push(path.to_string());
            }
            match &entry.error {
                _ if entry.status >= 400 => traffic.failed.push(format!("{path} ({})", entry.status)),
                Some(error) => traffic.failed.push(format!("{path} ({error})")),
                None => {}
            }
        }
        traffic.failed.sort();
        traffic.elsewhere.sort();
        traffic
    }
}

/// To the end and back, so that lazy images load.
const SCROLL_THROUGH: &str = r"(async () => {
    const frame = () => new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(done));
        setTimeout(done, 150);
    });
    const step = Math.max(200, innerHeight * 0.8);
    for (let y = step, n = 0; y < document.documentElement.scrollHeight && n < 50; y += step, n += 1) {
        scrollTo({ top: y, behavior: 'instant' });
        await frame();
    }
    scrollTo({ top: 0, behavior: 'instant' });
    await frame();
})()";

/// Stops what moves, and waits until fonts and images can be painted.
const HOLD_STILL: &str = r"(async () => {
    document.activeElement?.blur?.();
    for (const animation of document.getAnimations()) {
        try { animation.finish(); } catch { animation.cancel(); }
    }
    for (const media of document.querySelectorAll('video, audio')) media.pause();
    for (const svg of document.querySelectorAll('svg')) {
        svg.pauseAnimations?.();
        svg.setCurrentTime?.(0);
    }
    const images = [...document.images].filter((image) => image.complete && image.naturalWidth);
    const frames = new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const ready = Promise.allSettled([document.fonts.ready, frames, ...images.map((image) => image.decode())]);
    await Promise.race([ready, new Promise((done) => setTimeout(done, 2000))]);
})()";

const FULL_HEIGHT: &str = "Math.max(document.documentElement.scrollHeight, document.body?.scrollHeight ?? 0)";

const READ: &str = r"({
    title: document.title,
    text: document.body?.innerText ?? '',
    links: [...document.links].map((link) => String(link.href)),
    broken: [...document.images].filter((image) => image.complete && image.naturalWidth === 0).length,
    mode: document.compatMode,
})";

const COMPARE: &str = r"async (...pictures) => {
    const [old, now] = await Promise.all(pictures.map(async (picture) => {
        const image = new Image();
        image.src = `data:image/png;base64,${picture}`;
        await image.decode();
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, canvas.width, canvas.height);
    }));
    if (old.width !== now.width || old.height !== now.height) {
        return `${old.width}x${old.height} became ${now.width}x${now.height}`;
    }
    let [count, first, last] = [0, 0, 0];
    for (let at = 0; at < old.data.length; at += 4) {
        if ([0, 1, 2, 3].every((channel) => old.data[at + channel] === now.data[at + channel])) continue;
        last = Math.floor(at / 4 / old.width);
        if (count === 0) first = last;
        count += 1;
    }
    return count === 0 ? null : `${count} pixels differ, in rows ${first} to ${last}`;
}";
