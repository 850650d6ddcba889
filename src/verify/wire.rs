//! Commands, answers and events of a browser: JSON texts over one WebSocket.
//!
//! DevTools (Chromium) and WebDriver BiDi (Firefox) frame their messages alike: a command has an `id`, its answer the
//! same one, an event a `method` and no `id`. Messages stay JSON values: typed bindings drop every event that a newer
//! browser extends, and a lost event is a wrong count of requests. Knows nothing of what the messages mean.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

/// How long one command may take: a picture of a long page on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to a running browser.
#[derive(Debug)]
pub(super) struct Wire {
    socket: WebSocket<TcpStream>,
    last_id: u64,
    events: VecDeque<Value>,
}

impl Wire {
    /// Connects to a port of this machine; `path` begins with a slash.
    pub(super) fn connect(port: u16, path: &str) -> anyhow::Result<Wire> {
        let stream = TcpStream::connect(("127.0.0.1", port)).context("cannot connect to the browser")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        // A picture is one message of several megabytes.
        let config = WebSocketConfig::default()
            .max_message_size(None)
            .max_frame_size(None);
        let url = format!("ws://127.0.0.1:{port}{path}");
        let (socket, _) = match tungstenite::client::client_with_config(url, stream, Some(config)) {
            Ok(done) => done,
            Err(error) => bail!("cannot talk to the browser: {error}"),
        };
        Ok(Wire {
            socket,
            last_id: 0,
            events: VecDeque::new(),
        })
    }

    /// Sends a command, an object without its `id`, and waits for the answer: its `result`. What the browser reports
    /// meanwhile is kept for `next_event`.
    pub(super) fn call(&mut self, mut command: Value) -> anyhow::Result<Value> {
        self.last_id += 1;
        command["id"] = json!(self.last_id);
        let name = command["method"].as_str().unwrap_or_default().to_owned();
        self.socket
            .send(Message::text(command.to_string()))
            .with_context(|| gone(&name))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let Some(mut message) = self.receive(deadline)? else {
                bail!("the browser does not answer to {name}")
            };
            if message["id"].as_u64() != Some(self.last_id) {
                self.keep(message);
                continue;
            }
            return match message.get("error") {
                None => Ok(message["result"].take()),
                Some(error) => bail!("{name} failed: {}", complaint(error, &message)),
            };
        }
    }

    /// The next report of the browser, `None` when there is none until `deadline`.
    pub(super) fn next_event(&mut self, deadline: Instant) -> anyhow::Result<Option<Value>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            match self.receive(deadline)? {
                Some(message) => self.keep(message),
                None => return Ok(None),
            }
        }
    }

    /// Drops what was reported so far.
    pub(super) fn forget_events(&mut self) {
        self.events.clear();
    }

    /// A late answer to a command that was given up is no event.
    fn keep(&mut self, message: Value) {
        if message.get("method").is_some() {
            self.events.push_back(message);
        }
    }

    fn receive(&mut self, deadline: Instant) -> anyhow::Result<Option<Value>> {
        loop {
            let wait = deadline.saturating_duration_since(Instant::now());
            // A socket takes no timeout of zero. What has arrived already is read even when the time is over.
            let wait = wait.max(Duration::from_millis(1));
            self.socket.get_mut().set_read_timeout(Some(wait))?;
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    // What is no JSON is no message of these protocols.
                    if let Ok(message) = serde_json::from_str(text.as_str()) {
                        return Ok(Some(message));
                    }
                }
                Ok(Message::Close(_)) => bail!(gone("waiting")),
                Ok(_) => {}
                Err(tungstenite::Error::Io(error))
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return Ok(None);
                }
                Err(error) => return Err(error).context(gone("waiting")),
            }
        }
    }
}

fn gone(during: &str) -> String {
    format!("the browser ended by itself ({during})")
}

/// The words of a refusal: DevTools has an object for them, BiDi a code with a message beside it.
fn complaint(error: &Value, message: &Value) -> String {
    let words = error["message"].as_str().or(message["message"].as_str());
    match (words, error.as_str()) {
        (Some(words), Some(code)) => format!("{code}: {words}"),
        (Some(words), None) => words.to_owned(),
        (None, _) => error.to_string(),
    }
}
