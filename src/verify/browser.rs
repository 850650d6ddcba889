//! One browser that sees one folder, whichever family it is of: what both protocols can do, in one set of words.
//!
//! In: commands of a visit. Out: values, pictures (PNG), and events in the order in which the browser reports them.

use std::time::Instant;

use anyhow::Context as _;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;

use super::chromium::Chromium;
use super::firefox::Firefox;
use super::program::{Family, Program};
use super::state::State;

/// A running browser.
#[derive(Debug)]
pub(super) enum Browser {
    Chromium(Chromium),
    Firefox(Firefox),
}

/// One tab with a cache and cookies of its own, both empty when it opens.
#[derive(Debug)]
pub(super) struct Tab {
    /// What its messages carry: a DevTools session, a BiDi browsing context.
    pub(super) id: String,
    /// A DevTools target, or nothing.
    pub(super) target: String,
    /// What holds its cache: a browser context, a user context.
    pub(super) context: String,
}

/// What a browser reports without being asked. A request keeps its id over redirects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// A request is about to leave, or to be served from the cache.
    Asked {
        id: String,
        url: String,
        /// The browser itself wants an icon.
        icon: bool,
    },
    Answered {
        id: String,
        status: u64,
        cached: bool,
    },
    /// A status that only the network saw: the page gets the cached answer.
    Revalidated {
        id: String,
    },
    Cached {
        id: String,
    },
    Finished {
        id: String,
    },
    Failed {
        id: String,
        why: String,
    },
    /// An error in the console: uncaught, or printed.
    Error(String),
    /// The document of the last navigation and all it waits for.
    Loaded,
}

impl Browser {
    /// Starts a browser to which the site's origin is the server on `port`.
    pub(super) fn start(program: &Program, port: u16) -> anyhow::Result<Browser> {
        Ok(match program.family {
            Family::Chromium => Browser::Chromium(Chromium::start(program, port)?),
            Family::Firefox => Browser::Firefox(Firefox::start(program, port)?),
        })
    }

    pub(super) fn open(&mut self) -> anyhow::Result<Tab> {
        match self {
            Browser::Chromium(chromium) => chromium.open(),
            Browser::Firefox(firefox) => firefox.open(),
        }
    }

    pub(super) fn close(&mut self, tab: Tab) -> anyhow::Result<()> {
        match self {
            Browser::Chromium(chromium) => chromium.close(&tab),
            Browser::Firefox(firefox) => firefox.close(&tab),
        }
    }

    /// Window and media.
    pub(super) fn show(&mut self, tab: &Tab, state: State) -> anyhow::Result<()> {
        match self {
            Browser::Chromium(chromium) => chromium.show(tab, state),
            Browser::Firefox(firefox) => firefox.show(tab, state),
        }
    }

    /// Begins to load an address; `Event::Loaded` tells the end.
    pub(super) fn navigate(&mut self, tab: &Tab, url: &str) -> anyhow::Result<()> {
        match self {
            Browser::Chromium(chromium) => chromium.navigate(tab, url),
            Browser::Firefox(firefox) => firefox.navigate(tab, url),
        }
    }

    /// The value of a script, which may be a promise of it. The script gives a text, so that both protocols agree.
    pub(super) fn evaluate(&mut self, tab: &Tab, script: &str) -> anyhow::Result<Value> {
        let script = format!("(async () => JSON.stringify(await ({script})))()");
        let text = match self {
            Browser::Chromium(chromium) => chromium.evaluate(tab, &script)?,
            Browser::Firefox(firefox) => firefox.evaluate(tab, &script)?,
        };
        Ok(text.map_or(Ok(Value::Null), |text| serde_json::from_str(&text))?)
    }

    /// A PNG of the page from its top, `width` by `height` CSS pixels.
    pub(super) fn picture(&mut self, tab: &Tab, width: u32, height: u32) -> anyhow::Result<Vec<u8>> {
        let answer = match self {
            Browser::Chromium(chromium) => chromium.picture(tab, width, height)?,
            Browser::Firefox(firefox) => firefox.picture(tab, width, height)?,
        };
        let data = answer["data"].as_str().context("the browser took no picture")?;
        Ok(BASE64_STANDARD.decode(data)?)
    }

    /// The next report about the tab, `None` when there is none until `deadline`.
    pub(super) fn next_event(&mut self, tab: &Tab, deadline: Instant) -> anyhow::Result<Option<Event>> {
        match self {
            Browser::Chromium(chromium) => chromium.next_event(tab, deadline),
            Browser::Firefox(firefox) => firefox.next_event(tab, deadline),
        }
    }
}
