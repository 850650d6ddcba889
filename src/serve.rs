//! A loopback server for a folder that answers as the configurations of `server_config` make real servers answer.
//!
//! In: a folder. Out: an origin (`http://127.0.0.1:PORT`) that lives as long as the `Server`. HTTP/1.1 is spoken by
//! hyper on one thread of its own; the asynchronous runtime does not leave this module. Nothing outside the folder is
//! read, nothing is written, and nobody but this machine can connect.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, oneshot};

use crate::{deployed, parallel};

mod answer;
mod body;
mod conditions;
mod negotiate;
mod patience;
mod place;

use answer::Folder;
pub use place::page_url;

/// A client gets this long to send the head of a request, waiting for its first byte included.
const HEAD_PATIENCE: Duration = Duration::from_secs(30);
/// A client gets this long to take the next piece of an answer.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);
/// More than any browser opens, and few enough to leave the process its file descriptors.
const MAX_CONNECTIONS: usize = 256;
/// More than any honest request line and headers (bytes).
const MAX_HEAD: usize = 64 * 1024;

/// How to serve.
#[derive(Debug, Clone)]
pub struct Wishes {
    /// 0: any free port.
    pub port: u16,
    /// The URL path that the site is mounted at; begins and ends with `/`.
    pub prefix: String,
    /// Seconds that plain files are fresh.
    pub max_age: u32,
    /// Send what lies beside a file in a coding. Of a folder that `fewer` did not write it may be something else.
    pub variants: bool,
}

impl Default for Wishes {
    fn default() -> Wishes {
        Wishes {
            port: 0,
            prefix: "/".to_string(),
            max_age: deployed::MAX_AGE,
            variants: true,
        }
    }
}

/// One answered request, for a live listing.
#[derive(Debug, Clone)]
pub struct Served {
    pub method: String,
    /// As it was asked for, percent-encoded: safe to print.
    pub target: String,
    pub status: u16,
    /// The token of the coding; empty for the file as it is.
    pub coding: &'static str,
    /// Bytes of the body.
    pub bytes: u64,
}

/// A folder being served until this is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves a folder at the root of a free port of 127.0.0.1.
    ///
    /// Fails if the folder cannot be read or no port is free.
    pub fn start(folder: &Path) -> anyhow::Result<Server> {
        Server::start_as(folder, &Wishes::default(), |_| ())
    }

    /// Serves SITE in the same way, without the variants that it may have.
    pub fn start_site(folder: &Path) -> anyhow::Result<Server> {
        let wishes = Wishes {
            variants: false,
            ..Wishes::default()
        };
        Server::start_as(folder, &wishes, |_| ())
    }

    /// Serves a folder as wished; `listing` hears of every answer when its head is sent.
    pub fn start_as(
        folder: &Path,
        wishes: &Wishes,
        listing: impl Fn(&Served) + Send + Sync + 'static,
    ) -> anyhow::Result<Server> {
        let folder = Arc::new(Folder::read(folder, wishes)?);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, wishes.port)).with_context(|| {
            format!(
                "cannot listen on port {}: choose another with --port",
                wishes.port
            )
        })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listing = Arc::new(listing);
        let thread = parallel::beside(move || {
            // Open connections end with the runtime.
            runtime.spawn(accept(listener, folder, listing));
            // An error is a sender that is gone, which means the same.
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Server {
            address,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// `http://127.0.0.1:PORT`, without a `/` at its end.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until the server ends, which it does not by itself.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Takes connections until the runtime ends.
async fn accept(
    listener: TcpListener,
    folder: Arc<Folder>,
    listing: Arc<impl Fn(&Served) + Send + Sync + 'static>,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            return Ok(());
        };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // Out of file descriptors, or a client that is gone already.
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let (folder, listing) = (Arc::clone(&folder), Arc::clone(&listing));
        tokio::spawn(async move {
            let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let (folder, listing) = (Arc::clone(&folder), Arc::clone(&listing));
                async move {
                    let answer = answer::answer(&folder, &request);
                    listing(&Served {
                        method: request.method().to_string(),
                        target: request.uri().to_string(),
                        status: answer.status,
                        coding: answer.coding.map_or("", |coding| coding.token()),
                        bytes: answer.length(),
                    });
                    Ok::<_, Infallible>(answer.respond())
                }
            });
            let stream = patience::Patient::new(stream, WRITE_PATIENCE);
            // A client that goes away is its own business.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_PATIENCE)
                .max_buf_size(MAX_HEAD)
                .serve_connection(TokioIo::new(stream), service)
                .await;
            drop(slot);
        });
    }
}

/// What the listing prints of an answer.
impl std::fmt::Display for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Served {
            method,
            target,
            status,
            coding,
            bytes,
        } = self;
        write!(f, "{status} {method} {target} {bytes} bytes")?;
        if !coding.is_empty() {
            write!(f, " {coding}")?;
        }
        Ok(())
    }
}

/// `/docs`, `docs/` and `/docs/` as the mount `/docs/`; `None` for what is no plain path.
pub fn mount(text: &str) -> Option<String> {
    let inner = text.trim_matches('/');
    let plain = |segment: &str| {
        !segment.is_empty()
            && !segment.starts_with('.')
            && segment
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.~".contains(&b))
    };
    if inner.is_empty() {
        return (text.len() <= 1).then(|| "/".to_string());
    }
    inner.split('/').all(plain).then(|| format!("/{inner}/"))
}

#[cfg(test)]
mod tests;
