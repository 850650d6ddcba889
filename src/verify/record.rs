//! Collects what the browser reports of one view, and waits until the network is silent.
//!
//! A request counts when it leaves the page for the network, the page itself and 304 answers included. Cache hits,
//! `data:` URLs, the browser's own icon request and other origins do not count.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::bail;

use super::browser::{Browser, Event, Tab};
use super::program::ORIGIN;

/// The requests of one view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    /// Paths of requests to the site that went to the network, in the order of asking.
    pub(super) requests: Vec<String>,
    /// Requests that failed, with the reason, sorted.
    pub(super) failed: Vec<String>,
    /// Requests to anywhere else, which were blocked; sorted.
    pub(super) elsewhere: Vec<String>,
}

impl Traffic {
    /// How many requests a report would count. An address counts once a view: two frames that start at the same
    /// moment may both ask for one sheet before the cache has it, which is chance.
    pub(super) fn count(&self) -> u64 {
        let mut paths: Vec<&String> = self.requests.iter().collect();
        paths.sort_unstable();
        paths.dedup();
        paths.len() as u64
    }
}

#[derive(Debug, Default)]
pub(super) struct Recorder {
    loaded: bool,
    entries: Vec<Entry>,
    /// Request id to the index of its last hop.
    open: BTreeMap<String, usize>,
    /// Errors of the console, as they came.
    pub(super) errors: Vec<String>,
}

#[derive(Debug, Default)]
struct Entry {
    url: String,
    icon: bool,
    cached: bool,
    done: bool,
    status: u64,
    error: Option<String>,
}

impl Recorder {
    /// Takes in events until the page has loaded and nothing has been under way for `moment`. `false`: it had loaded
    /// when the patience ended, but was never silent.
    pub(super) fn silence(
        &mut self,
        browser: &mut Browser,
        tab: &Tab,
        moment: Duration,
        patience: Duration,
    ) -> anyhow::Result<bool> {
        let deadline = Instant::now() + patience;
        loop {
            let busy = !self.loaded || self.entries.iter().any(|entry| !entry.done);
            let until = if busy {
                deadline
            } else {
                deadline.min(Instant::now() + moment)
            };
            match browser.next_event(tab, until)? {
                Some(event) => self.take(event),
                None if !self.loaded => {
                    let waiting = self.entries.iter().filter(|entry| !entry.done);
                    let waiting: Vec<&str> = waiting.map(|entry| entry.url.as_str()).take(3).collect();
                    bail!(
                        "it has not loaded after {} s; it waits for {}",
                        patience.as_secs(),
                        waiting.join(", ")
                    );
                }
                None => return Ok(!busy),
            }
            // A page that never stops asking must not be watched for ever.
            if Instant::now() >= deadline && self.loaded {
                return Ok(false);
            }
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Loaded => self.loaded = true,
            Event::Asked { id, url, icon } => {
                if url.starts_with("http:") || url.starts_with("https:") {
                    self.open.insert(id, self.entries.len());
                    self.entries.push(Entry {
                        url,
                        icon,
                        ..Entry::default()
                    });
                }
            }
            Event::Answered { id, status, cached } => self.change(&id, |entry| {
                if entry.status != 304 {
                    entry.status = status;
                    entry.cached |= cached;
                }
            }),
            Event::Revalidated { id } => self.change(&id, |entry| {
                entry.status = 304;
                entry.cached = false;
            }),
            Event::Cached { id } => self.change(&id, |entry| entry.cached = true),
            Event::Finished { id } => self.change(&id, |entry| entry.done = true),
            Event::Failed { id, why } => self.change(&id, |entry| {
                entry.error = Some(why);
                entry.done = true;
            }),
            Event::Error(text) => self.errors.push(text),
        }
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut Entry)) {
        let entry = self.open.get(id).and_then(|&at| self.entries.get_mut(at));
        if let Some(entry) = entry {
            change(entry);
        }
    }

    pub(super) fn traffic(&self) -> Traffic {
        let mut traffic = Traffic::default();
        for entry in self.entries.iter().filter(|entry| !entry.icon) {
            let Some(path) = entry
                .url
                .strip_prefix(ORIGIN)
                .filter(|path| path.starts_with('/'))
            else {
                traffic.elsewhere.push(entry.url.clone());
                continue;
            };
            if !entry.cached {
                traffic.requests.push(path.to_owned());
            }
            match &entry.error {
                _ if entry.status >= 400 => traffic.failed.push(format!("{path} ({})", entry.status)),
                Some(error) => traffic.failed.push(format!("{path} ({error})")),
                None => {}
            }
        }
        for list in [&mut traffic.failed, &mut traffic.elsewhere] {
            list.sort();
            list.dedup();
        }
        traffic
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(events: Vec<Event>) -> Traffic {
        let mut recorder = Recorder::default();
        events.into_iter().for_each(|event| recorder.take(event));
        recorder.traffic()
    }

    fn asked(id: &str, url: &str) -> Event {
        Event::Asked {
            id: id.into(),
            url: url.into(),
            icon: false,
        }
    }

    #[test]
    fn a_revalidation_counts_and_a_cache_hit_does_not() {
        let id = |id: &str| id.to_owned();
        let answered = |at: &str, cached| Event::Answered {
            id: id(at),
            status: 200,
            cached,
        };
        let traffic = record(vec![
            asked("1", "http://site.localhost/"),
            Event::Revalidated { id: id("1") },
            answered("1", true),
            asked("2", "http://site.localhost/a.css"),
            answered("2", true),
            asked("3", "http://site.localhost/b.css"),
            Event::Cached { id: id("3") },
            asked("4", "data:image/gif;base64,AAAA"),
        ]);
        assert_eq!(traffic.requests, ["/"]);
    }

    #[test]
    fn failures_and_other_origins_are_told_apart() {
        let traffic = record(vec![
            asked("1", "http://site.localhost/gone.png"),
            Event::Answered {
                id: "1".into(),
                status: 404,
                cached: false,
            },
            asked("2", "https://example.org/x.png"),
            Event::Failed {
                id: "2".into(),
                why: "net::ERR_NAME_NOT_RESOLVED".into(),
            },
            asked("3", "http://site.localhost.example.org/"),
            asked("4", "http://site.localhost/a"),
            asked("5", "http://site.localhost/a"),
        ]);
        assert_eq!(traffic.failed, ["/gone.png (404)"]);
        assert_eq!(
            traffic.elsewhere,
            ["http://site.localhost.example.org/", "https://example.org/x.png"]
        );
        assert_eq!((traffic.requests.len(), traffic.count()), (3, 2));
    }
}
