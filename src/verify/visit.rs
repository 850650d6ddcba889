//! One page as its readers meet it: a first view with an empty cache, and a follow-up view with a warm one.
//!
//! The page is scrolled to its end so that lazy images load, then held still (animations at their end, media paused,
//! fonts and images decoded) and looked at in every state. Scripts of the page run; nothing it does is trusted.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::Value;

use super::browser::{Browser, Tab};
use super::program::ORIGIN;
use super::record::{Recorder, Traffic};
use super::state::State;

/// Taller pages are cut off in the picture (CSS pixels).
const MAX_HEIGHT: u64 = 6000;
/// The network is silent after this long without traffic.
const SILENCE: Duration = Duration::from_millis(200);

/// What a page looked like and asked for on its first view.
#[derive(Debug)]
pub(super) struct Visit {
    pub(super) title: String,
    /// `BackCompat` where the page is in quirks mode.
    pub(super) mode: String,
    pub(super) links: Vec<String>,
    /// Addresses of images that could not be shown.
    pub(super) broken: Vec<String>,
    /// In the order of the states.
    pub(super) shots: Vec<Shot>,
    /// In the first state only; the others may ask for images of their own.
    pub(super) traffic: Traffic,
    /// What failed or went elsewhere in any state.
    pub(super) all: Traffic,
    /// Errors of scripts, by what they say and not where: a script that moved into another file has another place.
    pub(super) errors: Vec<String>,
    /// It asked on and on.
    pub(super) restless: bool,
}

/// A page in one state.
#[derive(Debug)]
pub(super) struct Shot {
    pub(super) state: State,
    /// A PNG.
    pub(super) picture: Vec<u8>,
    pub(super) text: String,
}

/// Opens a page with an empty cache and looks at it in all states; requests are counted in the first.
pub(super) fn first_view(
    browser: &mut Browser,
    path: &str,
    states: &[State],
    patience: Duration,
) -> anyhow::Result<Visit> {
    let tab = browser.open()?;
    let mut recorder = Recorder::default();
    browser.show(&tab, states[0])?;
    let mut restless = !load(browser, &tab, &mut recorder, path, patience)?;
    let traffic = recorder.traffic();
    let mut shots = Vec::new();
    for (nth, &state) in states.iter().enumerate() {
        if nth > 0 {
            read(browser, &tab, LET_GO)?;
            browser.show(&tab, state)?;
            // Another state may ask for other images; it asks at once, but only when it is painted.
            read(browser, &tab, PAINT)?;
            let quick = Duration::from_millis(30);
            restless |= !recorder.silence(browser, &tab, quick, patience.min(Duration::from_secs(10)))?;
        }
        read(browser, &tab, HOLD_STILL)?;
        let seen = read(browser, &tab, READ_STATE)?;
        let height = seen["height"].as_u64().unwrap_or(0);
        let height = height.clamp(u64::from(state.height), MAX_HEIGHT.max(u64::from(state.height)));
        shots.push(Shot {
            state,
            picture: browser.picture(&tab, state.width, u32::try_from(height).unwrap_or(state.height))?,
            text: text(&seen["text"]),
        });
    }
    browser.show(&tab, states[0])?;
    let seen = read(browser, &tab, READ)?;
    let list = |value: &Value| value.as_array().into_iter().flatten().map(text).collect();
    browser.close(tab)?;
    Ok(Visit {
        title: text(&seen["title"]),
        mode: text(&seen["mode"]),
        links: list(&seen["links"]),
        broken: list(&seen["broken"]),
        shots,
        traffic,
        all: recorder.traffic(),
        errors: recorder.errors.iter().map(|error| message(error)).collect(),
        restless,
    })
}

/// What a reader's browser asks for who comes to `path` from the page `entry` (a reload if they are the same).
pub(super) fn follow_up(
    browser: &mut Browser,
    entry: &str,
    path: &str,
    state: State,
    patience: Duration,
) -> anyhow::Result<Traffic> {
    let tab = browser.open()?;
    browser.show(&tab, state)?;
    load(browser, &tab, &mut Recorder::default(), entry, patience)?;
    let mut recorder = Recorder::default();
    load(browser, &tab, &mut recorder, path, patience)?;
    browser.close(tab)?;
    Ok(recorder.traffic())
}

/// Navigates, waits for the load event, scrolls to the end, waits for silence; whether there was any.
fn load(
    browser: &mut Browser,
    tab: &Tab,
    recorder: &mut Recorder,
    path: &str,
    patience: Duration,
) -> anyhow::Result<bool> {
    browser.navigate(tab, &format!("{ORIGIN}{path}"))?;
    let quiet = recorder.silence(browser, tab, Duration::ZERO, patience)?;
    read(browser, tab, SCROLL_THROUGH).context("it cannot be scrolled")?;
    // One that was restless so far is not waited for again.
    let patience = if quiet { patience } else { Duration::from_secs(1) };
    Ok(quiet && recorder.silence(browser, tab, SILENCE, patience)?)
}

/// Runs a script, again when the page went on to another one meanwhile (`meta refresh`), which fails at once. A page
/// that does not answer is not asked again.
fn read(browser: &mut Browser, tab: &Tab, script: &str) -> anyhow::Result<Value> {
    let begin = Instant::now();
    loop {
        match browser.evaluate(tab, script) {
            Err(_) if begin.elapsed() < Duration::from_secs(3) => {}
            other => return other,
        }
        std::thread::sleep(Duration::from_millis(300));
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// An error without the places that browsers add.
fn message(error: &str) -> String {
    let end = error
        .find("\n    at ")
        .or(error.find("\n@"))
        .unwrap_or(error.len());
    error[..end].to_owned()
}

/// To the end and back, so that lazy images load.
const SCROLL_THROUGH: &str = r"(async () => {
    const frame = () => new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(done));
        // Frames are late on a busy machine.
        setTimeout(done, 2000);
    });
    const step = Math.max(200, innerHeight * 0.8);
    for (let y = step, n = 0; y < document.documentElement.scrollHeight && n < 50; y += step, n += 1) {
        scrollTo({ top: y, behavior: 'instant' });
        await frame();
    }
    scrollTo({ top: 0, behavior: 'instant' });
    await frame();
})()";

/// Stops what moves, until nothing does: what a script starts in answer to the scrolling or to another state begins
/// only with the next frames. Then waits until fonts and images can be painted.
///
/// To take a picture that is longer than the window Chromium makes the page 1 px wide and high for a moment (seen in
/// version 156). Transitions that this starts would be caught half way, so there are none any more, and scripts do
/// not hear of it.
const HOLD_STILL: &str = r"(async () => {
    const frames = () => new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(done));
        setTimeout(done, 5000);
    });
    const stop = () => {
        let moved = false;
        for (const animation of document.getAnimations()) {
            if (animation.playState !== 'running' && !animation.pending) continue;
            moved = true;
            try { animation.finish(); } catch { animation.cancel(); }
        }
        return moved;
    };
    if (globalThis.heldByFewer === undefined) {
        const style = new CSSStyleSheet();
        style.replaceSync('*, *::before, *::after { transition: none !important }');
        document.adoptedStyleSheets = [...document.adoptedStyleSheets, style];
        addEventListener('resize', (event) => heldByFewer && event.stopImmediatePropagation(), true);
    }
    globalThis.heldByFewer = true;
    document.activeElement?.blur?.();
    scrollTo({ top: 0, behavior: 'instant' });
    for (const media of document.querySelectorAll('video, audio')) media.pause?.();
    for (const svg of document.querySelectorAll('svg')) {
        svg.pauseAnimations?.();
        svg.setCurrentTime?.(0);
    }
    for (let round = 0, quiet = 0; round < 30 && quiet < 2; round += 1) {
        quiet = stop() ? 0 : quiet + 1;
        await frames();
    }
    const images = [...document.images].filter((image) => image.complete && image.naturalWidth);
    const ready = Promise.allSettled([document.fonts.ready, ...images.map((image) => image.decode())]);
    await Promise.race([ready, new Promise((done) => setTimeout(done, 5000))]);
    stop();
    await frames();
})()";

/// Scripts may hear of the next window.
const LET_GO: &str = "globalThis.heldByFewer &&= false";

/// Until the page was painted in its new state.
const PAINT: &str = "new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => done(0)));
    setTimeout(() => done(0), 5000);
})";

const READ_STATE: &str = r"({
    height: Math.max(document.documentElement?.scrollHeight ?? 0, document.body?.scrollHeight ?? 0),
    text: document.body?.innerText ?? document.documentElement?.textContent ?? '',
})";

const READ: &str = r"({
    title: String(document.title),
    mode: document.compatMode,
    links: [...document.links].map((link) => String(link.href?.baseVal ?? link.href)),
    broken: [...document.images].filter((image) => image.complete && image.naturalWidth === 0)
        .map((image) => image.currentSrc.slice(0, 200)),
})";

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn errors_lose_their_places_and_keep_their_words() {
        let check = |error: &str, expected: &str| assert_eq!(message(error), expected);
        check(
            "uncaught Error: no\n    at f (http://site.localhost/a.js:1:2)\n    at g",
            "uncaught Error: no",
        );
        check("two\nlines", "two\nlines");
        check("", "");
    }
}
