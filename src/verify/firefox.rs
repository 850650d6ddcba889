//! Firefox through WebDriver BiDi. <https://w3c.github.io/webdriver-bidi/>
//!
//! BiDi cannot set media, colour schemes or forced colours yet (Firefox 153 knows no such command), so these are set
//! as Firefox's own developer tools set them: on the browsing context, by a script that runs among the browser's own
//! code.

use std::time::Instant;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::browser::{Event, Tab};
use super::program::{Program, Running};
use super::state::{Mode, State};
use super::wire::Wire;

#[derive(Debug)]
pub(super) struct Firefox {
    wire: Wire,
    /// The window of the browser itself, a page in which scripts may do anything.
    window: String,
    /// The load that the tab waits for.
    navigation: Value,
    // Events that came in one message.
    pending: Vec<Event>,
    _running: Running,
}

const EVENTS: [&str; 5] = [
    "network.beforeRequestSent",
    "network.responseCompleted",
    "network.fetchError",
    "log.entryAdded",
    "browsingContext.load",
];

impl Firefox {
    pub(super) fn start(program: &Program, port: u16) -> anyhow::Result<Firefox> {
        let running = Running::start(program, port)?;
        let mut firefox = Firefox {
            wire: Wire::connect(running.port, &running.socket)?,
            window: String::new(),
            navigation: Value::Null,
            pending: Vec::new(),
            _running: running,
        };
        // Nobody is there to answer a dialog, and the page waits.
        let wishes = json!({"alwaysMatch": {"unhandledPromptBehavior": {"default": "dismiss"}}});
        firefox.call("session.new", json!({"capabilities": wishes}))?;
        firefox.call("session.subscribe", json!({"events": EVENTS}))?;
        let tree = firefox.call("browsingContext.getTree", json!({"moz:scope": "chrome"}))?;
        firefox.window = text(&tree["contexts"][0], "context")?;
        Ok(firefox)
    }

    fn call(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.wire.call(json!({"method": method, "params": params}))
    }

    pub(super) fn open(&mut self) -> anyhow::Result<Tab> {
        let context = self.call("browser.createUserContext", json!({}))?;
        let context = text(&context, "userContext")?;
        let tab = self.call(
            "browsingContext.create",
            json!({"type": "tab", "userContext": context}),
        )?;
        Ok(Tab {
            id: text(&tab, "context")?,
            target: String::new(),
            context,
        })
    }

    pub(super) fn close(&mut self, tab: &Tab) -> anyhow::Result<()> {
        self.call("browsingContext.close", json!({"context": tab.id}))?;
        self.call("browser.removeUserContext", json!({"userContext": tab.context}))?;
        self.wire.forget_events();
        self.pending.clear();
        Ok(())
    }

    pub(super) fn show(&mut self, tab: &Tab, state: State) -> anyhow::Result<()> {
        let viewport = json!({"width": state.width, "height": state.height});
        self.call(
            "browsingContext.setViewport",
            json!({"context": tab.id, "viewport": viewport, "devicePixelRatio": 1}),
        )?;
        let medium = if state.mode == Mode::Print {
            "print"
        } else {
            "screen"
        };
        let scheme = if state.mode == Mode::Dark { "dark" } else { "light" };
        let forced = if state.mode == Mode::Forced {
            "active"
        } else {
            "none"
        };
        // The only tab with a user context of its own is the one that is looked at.
        let script = format!(
            "(() => {{
                let count = 0;
                for (const window of Services.wm.getEnumerator('navigator:browser')) {{
                    for (const tab of window.gBrowser.tabs) {{
                        if (!tab.userContextId) continue;
                        const context = tab.linkedBrowser.browsingContext;
                        context.mediumOverride = '{medium}';
                        context.prefersColorSchemeOverride = '{scheme}';
                        context.forcedColorsOverride = '{forced}';
                        count += 1;
                    }}
                }}
                return String(count);
            }})()"
        );
        let window = self.window.clone();
        let count = self.run(&window, &script)?;
        if count.as_deref() != Some("1") {
            bail!("this Firefox cannot show {state}: {count:?} tabs");
        }
        Ok(())
    }

    pub(super) fn navigate(&mut self, tab: &Tab, url: &str) -> anyhow::Result<()> {
        self.wire.forget_events();
        self.pending.clear();
        let params = json!({"context": tab.id, "url": url, "wait": "none"});
        let answer = self.call("browsingContext.navigate", params)?;
        self.navigation = answer["navigation"].clone();
        Ok(())
    }

    pub(super) fn evaluate(&mut self, tab: &Tab, script: &str) -> anyhow::Result<Option<String>> {
        self.run(&tab.id, script)
    }

    fn run(&mut self, context: &str, script: &str) -> anyhow::Result<Option<String>> {
        let params = json!({
            "expression": script, "target": {"context": context}, "awaitPromise": true,
        });
        let answer = self.call("script.evaluate", params)?;
        if answer["type"] == "exception" {
            bail!("the page cannot be read: {}", answer["exceptionDetails"]["text"]);
        }
        Ok(answer["result"]["value"].as_str().map(str::to_owned))
    }

    pub(super) fn picture(&mut self, tab: &Tab, width: u32, height: u32) -> anyhow::Result<Value> {
        let params = json!({
            "context": tab.id, "origin": "document",
            "clip": {"type": "box", "x": 0, "y": 0, "width": width, "height": height},
        });
        self.call("browsingContext.captureScreenshot", params)
    }

    pub(super) fn next_event(&mut self, tab: &Tab, deadline: Instant) -> anyhow::Result<Option<Event>> {
        loop {
            if let Some(event) = self.pending.pop() {
                return Ok(Some(event));
            }
            let Some(message) = self.wire.next_event(deadline)? else {
                return Ok(None);
            };
            self.pending = translate(&message, tab, &self.navigation);
            self.pending.reverse();
        }
    }
}

/// What a BiDi event says in the words of both browsers. Requests of frames have a context of their own; one tab is
/// open at a time, so they are the tab's too.
fn translate(message: &Value, tab: &Tab, navigation: &Value) -> Vec<Event> {
    let params = &message["params"];
    // Every hop of a redirect has the same id, and a report of its own.
    let id = || {
        let request = params["request"]["request"].as_str().unwrap_or_default();
        format!("{request}#{}", params["redirectCount"])
    };
    match message["method"].as_str().unwrap_or_default() {
        "browsingContext.load" if params["context"] == tab.id && params["navigation"] == *navigation => {
            vec![Event::Loaded]
        }
        "network.beforeRequestSent" => vec![Event::Asked {
            id: id(),
            url: params["request"]["url"].as_str().unwrap_or_default().to_owned(),
            // Icons are turned off by preference.
            icon: false,
        }],
        "network.responseCompleted" => {
            let response = &params["response"];
            let status = response["status"].as_u64().unwrap_or(0);
            let mut events = vec![Event::Answered {
                id: id(),
                status,
                cached: response["fromCache"] == true,
            }];
            if status == 304 {
                events.push(Event::Revalidated { id: id() });
            }
            events.push(Event::Finished { id: id() });
            events
        }
        "network.fetchError" => vec![Event::Failed {
            id: id(),
            why: params["errorText"].as_str().unwrap_or("failed").to_owned(),
        }],
        "log.entryAdded" if params["level"] == "error" => {
            let text = params["text"].as_str().unwrap_or_default();
            // Failed loads are requests; the console only repeats them.
            if text.starts_with("Cross-Origin Request Blocked:") {
                return Vec::new();
            }
            let uncaught = if params["type"] == "javascript" {
                "uncaught "
            } else {
                ""
            };
            vec![Event::Error(format!("{uncaught}{text}"))]
        }
        _ => Vec::new(),
    }
}

fn text(answer: &Value, key: &str) -> anyhow::Result<String> {
    let text = answer[key].as_str();
    Ok(text
        .with_context(|| format!("the browser's answer has no {key}"))?
        .to_owned())
}
