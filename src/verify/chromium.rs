//! Chromium and its relatives through the DevTools protocol.
//! <https://chromedevtools.github.io/devtools-protocol/tot/>

use std::time::Instant;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::browser::{Event, Tab};
use super::program::{Program, Running};
use super::state::{Mode, State};
use super::wire::Wire;

#[derive(Debug)]
pub(super) struct Chromium {
    wire: Wire,
    /// The document that the tab is loading.
    loader: String,
    // Events that came in one message.
    pending: Vec<Event>,
    _running: Running,
}

impl Chromium {
    pub(super) fn start(program: &Program, port: u16) -> anyhow::Result<Chromium> {
        let running = Running::start(program, port)?;
        Ok(Chromium {
            wire: Wire::connect(running.port, &running.socket)?,
            loader: String::new(),
            pending: Vec::new(),
            _running: running,
        })
    }

    fn call(&mut self, tab: &Tab, method: &str, params: Value) -> anyhow::Result<Value> {
        self.wire
            .call(json!({"method": method, "params": params, "sessionId": tab.id}))
    }

    fn call_browser(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.wire.call(json!({"method": method, "params": params}))
    }

    pub(super) fn open(&mut self) -> anyhow::Result<Tab> {
        let context = self.call_browser("Target.createBrowserContext", json!({"disposeOnDetach": true}))?;
        let context = text(&context, "browserContextId")?;
        let target = self.call_browser(
            "Target.createTarget",
            json!({"url": "about:blank", "browserContextId": context}),
        )?;
        let target = text(&target, "targetId")?;
        let attached = self.call_browser(
            "Target.attachToTarget",
            json!({"targetId": target, "flatten": true}),
        )?;
        let tab = Tab {
            id: text(&attached, "sessionId")?,
            target,
            context,
        };
        for domain in ["Page", "Runtime", "Log", "Network", "Inspector"] {
            self.call(&tab, &format!("{domain}.enable"), json!({}))?;
        }
        self.call(&tab, "Page.setLifecycleEventsEnabled", json!({"enabled": true}))?;
        Ok(tab)
    }

    pub(super) fn close(&mut self, tab: &Tab) -> anyhow::Result<()> {
        self.call_browser("Target.closeTarget", json!({"targetId": tab.target}))?;
        self.call_browser(
            "Target.disposeBrowserContext",
            json!({"browserContextId": tab.context}),
        )?;
        self.wire.forget_events();
        self.pending.clear();
        Ok(())
    }

    pub(super) fn show(&mut self, tab: &Tab, state: State) -> anyhow::Result<()> {
        let window = json!({
            "width": state.width, "height": state.height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.call(tab, "Emulation.setDeviceMetricsOverride", window)?;
        let scheme = if state.mode == Mode::Dark { "dark" } else { "light" };
        let forced = if state.mode == Mode::Forced {
            "active"
        } else {
            "none"
        };
        let media = json!({
            "media": if state.mode == Mode::Print { "print" } else { "screen" },
            "features": [
                {"name": "prefers-color-scheme", "value": scheme},
                {"name": "forced-colors", "value": forced},
            ],
        });
        self.call(tab, "Emulation.setEmulatedMedia", media)?;
        Ok(())
    }

    pub(super) fn navigate(&mut self, tab: &Tab, url: &str) -> anyhow::Result<()> {
        self.wire.forget_events();
        self.pending.clear();
        let answer = self.call(tab, "Page.navigate", json!({"url": url}))?;
        if let Some(error) = answer["errorText"].as_str() {
            bail!("it cannot be opened: {error}");
        }
        self.loader = answer["loaderId"].as_str().unwrap_or_default().to_owned();
        Ok(())
    }

    pub(super) fn evaluate(&mut self, tab: &Tab, script: &str) -> anyhow::Result<Option<String>> {
        let params = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
        let answer = self.call(tab, "Runtime.evaluate", params)?;
        if let Some(thrown) = answer.get("exceptionDetails") {
            bail!("the page cannot be read: {thrown}");
        }
        Ok(answer["result"]["value"].as_str().map(str::to_owned))
    }

    pub(super) fn picture(&mut self, tab: &Tab, width: u32, height: u32) -> anyhow::Result<Value> {
        let params = json!({
            "format": "png", "captureBeyondViewport": true, "optimizeForSpeed": true,
            "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1},
        });
        self.call(tab, "Page.captureScreenshot", params)
    }

    pub(super) fn next_event(&mut self, tab: &Tab, deadline: Instant) -> anyhow::Result<Option<Event>> {
        loop {
            if let Some(event) = self.pending.pop() {
                return Ok(Some(event));
            }
            let Some(message) = self.wire.next_event(deadline)? else {
                return Ok(None);
            };
            if message["method"] == "Inspector.targetCrashed" {
                bail!("the page crashed the browser");
            }
            if message["method"] == "Page.javascriptDialogOpening" {
                // Nobody is there to answer, and the page waits.
                self.call(tab, "Page.handleJavaScriptDialog", json!({"accept": false}))?;
            }
            if message["sessionId"].as_str() == Some(&tab.id) {
                self.pending = translate(&message, &self.loader);
                self.pending.reverse();
            }
        }
    }
}

/// What a DevTools event says in the words of both browsers; the second answer of a redirect is its next request.
fn translate(message: &Value, loader: &str) -> Vec<Event> {
    let params = &message["params"];
    let id = || params["requestId"].as_str().unwrap_or_default().to_owned();
    let status = |response: &Value| response["status"].as_u64().unwrap_or(0);
    let from_disk = |response: &Value| response["fromDiskCache"] == true;
    match message["method"].as_str().unwrap_or_default() {
        // Frames, and the empty page before, report theirs too.
        "Page.lifecycleEvent" if params["name"] == "load" && params["loaderId"] == loader => {
            vec![Event::Loaded]
        }
        "Network.requestWillBeSent" => {
            let mut events = Vec::new();
            if let Some(response) = params.get("redirectResponse") {
                events.push(Event::Answered {
                    id: id(),
                    status: status(response),
                    cached: from_disk(response),
                });
                events.push(Event::Finished { id: id() });
            }
            let kind = params["type"].as_str().unwrap_or("Other");
            events.push(Event::Asked {
                id: id(),
                url: params["request"]["url"].as_str().unwrap_or_default().to_owned(),
                // Nothing in the page asked for it.
                icon: kind == "Other" && params["initiator"]["type"] == "other",
            });
            events
        }
        "Network.requestServedFromCache" => vec![Event::Cached { id: id() }],
        "Network.responseReceived" => {
            let response = &params["response"];
            vec![Event::Answered {
                id: id(),
                status: status(response),
                cached: from_disk(response) || response["fromPrefetchCache"] == true,
            }]
        }
        // Only this event shows a 304; the page itself sees the cached 200.
        "Network.responseReceivedExtraInfo" if params["statusCode"] == 304 => {
            vec![Event::Revalidated { id: id() }]
        }
        "Network.loadingFinished" => vec![Event::Finished { id: id() }],
        "Network.loadingFailed" => vec![Event::Failed {
            id: id(),
            why: params["errorText"].as_str().unwrap_or("failed").to_owned(),
        }],
        "Runtime.exceptionThrown" => {
            let details = &params["exceptionDetails"];
            let description = details["exception"]["description"].as_str();
            let what = description.or(details["exception"]["value"].as_str());
            vec![Event::Error(format!(
                "uncaught {}",
                what.or(details["text"].as_str()).unwrap_or("exception")
            ))]
        }
        "Runtime.consoleAPICalled" if matches!(params["type"].as_str(), Some("error" | "assert")) => {
            let words = params["args"].as_array().into_iter().flatten().map(|argument| {
                let text = argument["value"].as_str().or(argument["description"].as_str());
                text.map_or_else(|| argument["value"].to_string(), str::to_owned)
            });
            vec![Event::Error(words.collect::<Vec<_>>().join(" "))]
        }
        "Log.entryAdded" if params["entry"]["level"] == "error" => {
            let text = params["entry"]["text"].as_str().unwrap_or_default();
            // Failed loads are requests; the console only repeats them.
            if text.starts_with("Failed to load resource") {
                Vec::new()
            } else {
                vec![Event::Error(text.to_owned())]
            }
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
