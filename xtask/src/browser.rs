//! Real Chromium, driven through the DevTools protocol over a pipe.
//!
//! Chromium reads commands from file descriptor 3 and answers on 4 (`--remote-debugging-pipe`), one JSON text
//! before each NUL byte. A shell moves the child's standard input and output there, so neither a WebSocket nor
//! a free port is needed, and the browser ends by itself when the pipe closes. Messages stay JSON values:
//! typed bindings drop every event that a newer browser extends, and a lost event is a wrong count.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

const FLAGS: &[&str] = &[
    "--remote-debugging-pipe",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    // Other origins fail at once.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    // Animated images stay on their first frame, and none is painted half decoded.
    "--blink-settings=imageAnimationPolicy=2",
    "--disable-checker-imaging",
];

/// How long one command may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running browser.
#[derive(Debug)]
pub(crate) struct Browser {
    child: Child,
    commands: Option<ChildStdin>,
    messages: Receiver<Value>,
    last_id: u64,
    events: VecDeque<Event>,
    // Removed after the browser has ended.
    _profile: TempDir,
}

/// Something that the browser reports without being asked.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) session: String,
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// One tab in a browsing context of its own: nothing cached, no cookies.
#[derive(Debug)]
pub(crate) struct Tab {
    pub(crate) session: String,
    target: String,
    context: String,
}

/// The program to start: the Chromium that `fewer verify` would start, or the one that `FEWER_CHROMIUM` names.
pub(crate) fn find() -> anyhow::Result<PathBuf> {
    match std::env::var_os("FEWER_CHROMIUM") {
        Some(named) => Ok(PathBuf::from(named)),
        None => Ok(fewer::verify::find(Some("chromium"))?.path),
    }
}

impl Browser {
    pub(crate) fn start(program: &Path) -> anyhow::Result<Browser> {
        let profile = tempfile::tempdir()?;
        let log = std::fs::File::create(profile.path().join("stderr.log"))?;
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >&2"#])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let commands = child.stdin.take();
        let answers = child
            .stdout
            .take()
            .context("the browser has no pipe to answer on")?;
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            let mut answers = BufReader::new(answers);
            loop {
                let mut text = Vec::new();
                if answers.read_until(0, &mut text).unwrap_or(0) == 0 {
                    return;
                }
                text.pop();
                let Ok(message) = serde_json::from_slice(&text) else {
                    continue;
                };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Browser {
            child,
            commands,
            messages,
            last_id: 0,
            events: VecDeque::new(),
            _profile: profile,
        };
        if let Err(error) = browser.call("", "Browser.getVersion", json!({})) {
            let log = std::fs::read_to_string(browser._profile.path().join("stderr.log")).unwrap_or_default();
            bail!("{} does not answer: {error}\n{log}", program.display());
        }
        Ok(browser)
    }

    /// Sends a command (to the browser itself with an empty session) and waits for its answer. What the
    /// browser reports meanwhile is kept for `next_event`.
    pub(crate) fn call(&mut self, session: &str, method: &str, params: Value) -> anyhow::Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        let mut text = message.to_string();
        text.push('\0');
        let commands = self.commands.as_mut().context("the browser is closed")?;
        commands
            .write_all(text.as_bytes())
            .and_then(|()| commands.flush())
            .context("the browser is gone")?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let Some(mut message) = self.receive(deadline)? else {
                bail!("{method} got no answer")
            };
            if message["id"] != json!(id) {
                self.keep(message);
            } else if let Some(error) = message.get("error") {
                bail!(
                    "{method} failed: {}",
                    error["message"].as_str().unwrap_or("no reason given")
                );
            } else {
                return Ok(message["result"].take());
            }
        }
    }

    /// The next report of the browser, or `None` when there is none until `deadline`.
    pub(crate) fn next_event(&mut self, deadline: Instant) -> anyhow::Result<Option<Event>> {
        while self.events.is_empty() {
            let Some(message) = self.receive(deadline)? else {
                return Ok(None);
            };
            self.keep(message);
        }
        Ok(self.events.pop_front())
    }

    /// Opens an empty tab in a fresh context.
    pub(crate) fn open_tab(&mut self) -> anyhow::Result<Tab> {
        let context = self.call(
            "",
            "Target.createBrowserContext",
            json!({"disposeOnDetach": true}),
        )?;
        let context = text(&context, "browserContextId")?;
        let target = self.call(
            "",
            "Target.createTarget",
            json!({"url": "about:blank", "browserContextId": context, "width": 1280, "height": 900}),
        )?;
        let target = text(&target, "targetId")?;
        let attached = self.call(
            "",
            "Target.attachToTarget",
            json!({"targetId": target, "flatten": true}),
        )?;
        let tab = Tab {
            session: text(&attached, "sessionId")?,
            target,
            context,
        };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&tab.session, &format!("{domain}.enable"), json!({}))?;
        }
        self.call(
            &tab.session,
            "Page.setLifecycleEventsEnabled",
            json!({"enabled": true}),
        )?;
        Ok(tab)
    }

    /// Drops what the tab has reported so far.
    pub(crate) fn forget_events(&mut self, tab: &Tab) {
        self.events.retain(|event| event.session != tab.session);
    }

    pub(crate) fn close_tab(&mut self, tab: Tab) -> anyhow::Result<()> {
        self.call("", "Target.closeTarget", json!({"targetId": tab.target}))?;
        self.call(
            "",
            "Target.disposeBrowserContext",
            json!({"browserContextId": tab.context}),
        )?;
        self.forget_events(&tab);
        Ok(())
    }

    /// Runs a script in the page and waits for its value.
    pub(crate) fn evaluate(&mut self, tab: &Tab, script: &str) -> anyhow::Result<Value> {
        let params = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
        let mut answer = self.call(&tab.session, "Runtime.evaluate", params)?;
        if let Some(thrown) = answer.get("exceptionDetails") {
            bail!("a script of the test failed in the page: {thrown}");
        }
        Ok(answer["result"]["value"].take())
    }

    fn receive(&mut self, deadline: Instant) -> anyhow::Result<Option<Value>> {
        let wait = deadline.saturating_duration_since(Instant::now());
        match self.messages.recv_timeout(wait) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => bail!("the browser ended by itself"),
        }
    }

    fn keep(&mut self, mut message: Value) {
        let Some(method) = message["method"].as_str().map(str::to_string) else {
            return;
        };
        let session = message["sessionId"].as_str().unwrap_or_default().to_string();
        self.events.push_back(Event {
            session,
            method,
            params: message["params"].take(),
        });
    }
}

impl Drop for Browser {
    /// Closing the pipe ends the browser; one that does not follow within two seconds is killed.
    fn drop(&mut self) {
        self.commands = None;
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(answer: &Value, key: &str) -> anyhow::Result<String> {
    Ok(answer[key]
        .as_str()
        .with_context(|| format!("the browser's answer has no {key}"))?
        .to_string())
}
