//! A static server on 127.0.0.1 that behaves like a common deployment: clean URLs, folder redirects, `.br` and
//! `.gz` variants by `Accept-Encoding`, an hour of caching for assets, revalidation for pages.
//!
//! One thread a connection, keep-alive, `GET` and `HEAD`. Nothing outside the root is served. Of a `_headers`
//! file at the root only `Content-Security-Policy` is understood.

#![expect(
    clippy::disallowed_methods,
    reason = "a server of its own, until serving is a command"
)]

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context;

/// No charset for HTML: the page's own declaration decides.
const TYPES: &[(&str, &str)] = &[
    ("html", "text/html"),
    ("htm", "text/html"),
    ("xhtml", "application/xhtml+xml"),
    ("css", "text/css"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("json", "application/json"),
    ("webmanifest", "application/manifest+json"),
    ("xml", "application/xml"),
    ("rss", "application/rss+xml"),
    ("atom", "application/atom+xml"),
    ("txt", "text/plain"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("avif", "image/avif"),
    ("ico", "image/x-icon"),
    ("cur", "image/x-icon"),
    ("bmp", "image/bmp"),
    ("woff2", "font/woff2"),
    ("woff", "font/woff"),
    ("ttf", "font/ttf"),
    ("otf", "font/otf"),
    ("mp4", "video/mp4"),
    ("webm", "video/webm"),
    ("pdf", "application/pdf"),
    ("gz", "application/gzip"),
];

/// Codings in the order of preference, with the extension of their variants.
const CODINGS: [(&str, &str); 2] = [("br", "br"), ("gzip", "gz")];

/// More than any honest request line and headers.
const MAX_HEAD: u64 = 64 * 1024;

/// A folder being served until this is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
}

impl Server {
    pub fn start(folder: &Path) -> anyhow::Result<Server> {
        let root = fs::canonicalize(folder).with_context(|| format!("cannot serve {}", folder.display()))?;
        let policies = Policies::read(&root);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopped);
        let site = Arc::new((root, policies));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let site = Arc::clone(&site);
                // A client that goes away is its own business.
                thread::spawn(move || converse(&site.0, &site.1, stream).ok());
            }
        });
        Ok(Server { address, stopped })
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the listener so that it sees the flag.
        let _ = TcpStream::connect(self.address);
    }
}

/// The URL path of a page: a folder for its `index.html`, percent-encoded where a URL needs it.
pub fn page_url(page: &str) -> String {
    let page = match page.strip_suffix("index.html") {
        Some(folder) if folder.is_empty() || folder.ends_with('/') => folder,
        _ => page,
    };
    let mut url = String::from("/");
    for &byte in page.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

/// Answers the requests of one connection, one after the other.
fn converse(root: &Path, policies: &Policies, stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    while let Some(request) = Request::read(&mut reader)? {
        let (status, headers, body) = answer(root, policies, &request);
        let mut head = format!("HTTP/1.1 {status}\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !status.starts_with("304") {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut message = head.into_bytes();
        if request.method != "HEAD" && !status.starts_with("304") {
            message.extend(body);
        }
        writer.write_all(&message)?;
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Request {
    method: String,
    /// Without query.
    path: String,
    accept_encoding: String,
    if_none_match: String,
}

impl Request {
    /// `None` when the client has closed the connection.
    fn read(reader: &mut impl BufRead) -> std::io::Result<Option<Request>> {
        let mut request = Request::default();
        let mut head = reader.take(MAX_HEAD);
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split(' ');
        request.method = words.next().unwrap_or_default().to_string();
        let target = words.next().unwrap_or_default();
        request.path = target.split(['?', '#']).next().unwrap_or_default().to_string();
        loop {
            line.clear();
            if head.read_line(&mut line)? == 0 || line.trim_end().is_empty() {
                return Ok(Some(request));
            }
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            match name.to_ascii_lowercase().as_str() {
                "accept-encoding" => request.accept_encoding = value.trim().to_ascii_lowercase(),
                "if-none-match" => request.if_none_match = value.trim().to_string(),
                _ => {}
            }
        }
    }

    fn accepts(&self, coding: &str) -> bool {
        self.accept_encoding.split(',').any(|part| {
            let mut pieces = part.split(';').map(str::trim);
            pieces.next() == Some(coding) && !pieces.any(|weight| weight == "q=0" || weight == "q=0.0")
        })
    }
}

type Answer = (&'static str, Vec<(&'static str, String)>, Vec<u8>);

fn answer(root: &Path, policies: &Policies, request: &Request) -> Answer {
    let plain = |status, text: &str| {
        let headers = vec![
            ("Content-Type", "text/plain".into()),
            ("Cache-Control", "no-store".into()),
        ];
        (status, headers, text.as_bytes().to_vec())
    };
    if request.method != "GET" && request.method != "HEAD" {
        return plain("405 Method Not Allowed", "method not allowed\n");
    }
    let file = match locate(root, &request.path) {
        Located::File(file) => file,
        Located::Folder => {
            let headers = vec![
                ("Location", format!("{}/", request.path)),
                ("Cache-Control", "max-age=3600".into()),
            ];
            return ("301 Moved Permanently", headers, Vec::new());
        }
        Located::Nothing => return plain("404 Not Found", "not found\n"),
    };
    let Ok(mut body) = fs::read(&file) else {
        return plain("404 Not Found", "not found\n");
    };
    let extension = file
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    let media = TYPES
        .iter()
        .find(|(known, _)| *known == extension)
        .map_or("application/octet-stream", |t| t.1);
    let mut headers = vec![("Content-Type", media.to_string())];
    let mut chosen = None;
    for (coding, suffix) in CODINGS {
        let mut name = file.clone().into_os_string();
        name.push(format!(".{suffix}"));
        let Ok(variant) = fs::read(name) else { continue };
        headers.retain(|(name, _)| *name != "Vary");
        headers.push(("Vary", "Accept-Encoding".into()));
        if chosen.is_none() && request.accepts(coding) {
            chosen = Some(coding);
            body = variant;
        }
    }
    if let Some(coding) = chosen {
        headers.push(("Content-Encoding", coding.into()));
    }
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    let page = media == "text/html" || media == "application/xhtml+xml";
    headers.push((
        "Cache-Control",
        if page {
            "no-cache".into()
        } else {
            "max-age=3600".into()
        },
    ));
    headers.extend(
        policies
            .of(&request.path)
            .map(|policy| ("Content-Security-Policy", policy.to_string())),
    );
    let unchanged = request.if_none_match == tag;
    headers.push(("ETag", tag));
    if unchanged {
        headers.retain(|(name, _)| !matches!(*name, "Content-Type" | "Content-Encoding"));
        return ("304 Not Modified", headers, Vec::new());
    }
    ("200 OK", headers, body)
}

enum Located {
    File(PathBuf),
    /// Asked for without its slash.
    Folder,
    Nothing,
}

fn locate(root: &Path, url: &str) -> Located {
    let Some(path) = decode(url) else {
        return Located::Nothing;
    };
    let relative = path.trim_start_matches('/');
    let mut file = root.join(relative);
    if file.is_dir() {
        if !url.ends_with('/') {
            return Located::Folder;
        }
        file.push("index.html");
    } else if !file.exists() && !path.ends_with('/') {
        file = root.join(format!("{relative}.html"));
    }
    match fs::canonicalize(&file) {
        Ok(real) if real.is_file() && real.starts_with(root) => Located::File(real),
        _ => Located::Nothing,
    }
}

/// The path that a URL path names, or `None` if it is no honest one.
fn decode(url: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(url.len());
    let mut rest = url.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    let path = String::from_utf8(bytes).ok()?;
    let honest = path.starts_with('/')
        && !path.contains(['\0', '\\'])
        && !path.split('/').any(|segment| segment == "." || segment == "..");
    honest.then_some(path)
}

/// Policies of a `_headers` file: a path pattern that may end in `*`, then indented headers.
#[derive(Debug, Default)]
struct Policies(Vec<(String, String)>);

impl Policies {
    fn read(root: &Path) -> Policies {
        let text = fs::read_to_string(root.join("_headers")).unwrap_or_default();
        let mut policies = Vec::new();
        let mut pattern = "";
        for line in text.lines() {
            match line.split_once(':') {
                Some((name, value)) if line.starts_with([' ', '\t']) => {
                    if name.trim().eq_ignore_ascii_case("content-security-policy") {
                        policies.push((pattern.to_string(), value.trim().to_string()));
                    }
                }
                _ => pattern = line.trim(),
            }
        }
        Policies(policies)
    }

    fn of<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter_map(move |(pattern, policy)| {
            let matches = match pattern.strip_suffix('*') {
                Some(prefix) => path.starts_with(prefix),
                None => path == pattern,
            };
            matches.then_some(policy.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_files_below_the_root_only() {
        assert_eq!(decode("/a%20b/c.png"), Some("/a b/c.png".into()));
        assert_eq!(decode("/%C3%A9.html"), Some("/\u{e9}.html".into()));
        for dishonest in [
            "/../x",
            "/a/%2e%2e/x",
            "/a%00b",
            "/a%5Cb",
            "/%zz",
            "/%4",
            "x",
            "/%ff",
        ] {
            assert_eq!(decode(dishonest), None, "{dishonest}");
        }
    }

    #[test]
    fn pages_have_clean_urls() {
        assert_eq!(page_url("index.html"), "/");
        assert_eq!(page_url("a b/index.html"), "/a%20b/");
        assert_eq!(page_url("my-index.html"), "/my-index.html");
        assert_eq!(page_url("100%.html"), "/100%25.html");
    }

    #[test]
    fn a_weight_of_zero_refuses_a_coding() {
        let request = Request {
            accept_encoding: "gzip, br;q=0".into(),
            ..Request::default()
        };
        assert!(request.accepts("gzip"));
        assert!(!request.accepts("br"));
        assert!(!request.accepts("zip"));
    }
}
