//! The server as a client meets it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;

use super::*;
use crate::encode::{Coding, pack};

struct Site {
    // Removed when the test ends.
    _dir: tempfile::TempDir,
    server: Server,
    served: Arc<std::sync::Mutex<Vec<String>>>,
}

fn tree(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path: PathBuf = dir.path().join(name);
        #[expect(clippy::disallowed_methods, reason = "a tree for the test")]
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        crate::disk::write_file(&path, bytes).unwrap();
    }
    dir
}

fn site(files: &[(&str, &[u8])], wishes: &Wishes) -> Site {
    let dir = tree(files);
    let served = Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = Arc::clone(&served);
    let listing = move |served: &Served| heard.lock().unwrap().push(served.to_string());
    let server = Server::start_as(dir.path(), wishes, listing).unwrap();
    Site {
        _dir: dir,
        server,
        served,
    }
}

impl Site {
    /// Sends a request with these header lines; gives the head of the answer and its body.
    fn ask(&self, line: &str, headers: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.server.address).unwrap();
        write!(
            stream,
            "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let at = answer
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .unwrap();
        let body = answer.split_off(at + 4);
        (String::from_utf8(answer).unwrap().to_ascii_lowercase(), body)
    }

    fn header(&self, line: &str, headers: &str, name: &str) -> String {
        let (head, _) = self.ask(line, headers);
        let mut values = head
            .lines()
            .filter_map(|line| line.strip_prefix(&format!("{name}: ")));
        values.next().unwrap_or_default().to_string()
    }

    fn status(&self, line: &str, headers: &str) -> String {
        self.ask(line, headers).0[9..12].to_string()
    }
}

const PAGE: &[u8] = b"<!doctype html><meta charset=utf-8><title>x</title><p>hello hello hello hello";
const SHEET: &[u8] = b"p{color:red}p{color:red}p{color:red}";

fn blog() -> Site {
    let (br, gz) = (pack(Coding::Brotli, SHEET, 11), pack(Coding::Gzip, SHEET, 9));
    site(
        &[
            ("index.html", PAGE),
            ("about.html", PAGE),
            ("docs/index.html", PAGE),
            ("404.html", b"<!doctype html><meta charset=utf-8>gone"),
            ("a.css", SHEET),
            ("a.css.br", &br),
            ("a.css.gz", &gz),
            ("b.0123456789abcdef.css", SHEET),
            ("img/logo.png", b"0123456789"),
            (".git/config", b"secret"),
            (".well-known/security.txt", b"mailto"),
            ("fewer-manifest.json", br#"{"schema":1,"files":{},"immutable":["b.0123456789abcdef.css"]}"#),
            ("_headers", b"/*\n  X-Frame-Options: DENY\n/img/*\n  Cache-Control: max-age=5\n  Access-Control-Allow-Origin: *\n"),
        ],
        &Wishes::default(),
    )
}

#[test]
fn codings_are_negotiated() {
    let site = blog();
    let coding = |accept: &str| site.header("GET /a.css", accept, "content-encoding");
    assert_eq!(coding("Accept-Encoding: gzip, br\r\n"), "br");
    assert_eq!(coding("Accept-Encoding: gzip, br;q=0\r\n"), "gzip");
    assert_eq!(coding("Accept-Encoding: gzip\r\nAccept-Encoding: br\r\n"), "br");
    assert_eq!(coding("Accept-Encoding: identity\r\n"), "");
    assert_eq!(coding(""), "");
    for accept in ["Accept-Encoding: br\r\n", ""] {
        assert_eq!(site.header("GET /a.css", accept, "vary"), "accept-encoding");
        assert_eq!(
            site.header("GET /a.css", accept, "content-type"),
            "text/css; charset=utf-8"
        );
    }
    assert_eq!(
        site.header("GET /img/logo.png", "Accept-Encoding: br\r\n", "vary"),
        ""
    );
    let (_, body) = site.ask("GET /a.css", "Accept-Encoding: br\r\n");
    assert_eq!(body, pack(Coding::Brotli, SHEET, 11));
    // A variant by its own name is a file.
    assert_eq!(site.header("GET /a.css.gz", "", "content-encoding"), "");
    assert_eq!(
        site.header("GET /a.css.gz", "", "content-type"),
        "application/gzip"
    );
}

#[test]
fn tags_differ_by_coding_and_are_recognised() {
    let site = blog();
    let tag = |accept: &str| site.header("GET /a.css", accept, "etag");
    let (plain, br) = (tag(""), tag("Accept-Encoding: br\r\n"));
    assert_ne!(plain, br);
    let (head, body) = site.ask(
        "GET /a.css",
        &format!("Accept-Encoding: br\r\nIf-None-Match: {br}\r\n"),
    );
    assert!(head.starts_with("http/1.1 304") && body.is_empty(), "{head}");
    assert!(
        head.contains("\r\nvary: accept-encoding\r\n") && head.contains("\r\ncache-control: "),
        "{head}"
    );
    assert!(
        !head.contains("content-encoding") && !head.contains("content-type"),
        "{head}"
    );
    assert_eq!(
        site.status("GET /a.css", &format!("If-None-Match: {br}\r\n")),
        "200"
    );
}

#[test]
fn heads_and_ranges() {
    let site = blog();
    let (head, body) = site.ask("HEAD /img/logo.png", "Range: bytes=0-1\r\n");
    assert!(
        head.starts_with("http/1.1 200") && head.contains("\r\ncontent-length: 10\r\n"),
        "{head}"
    );
    assert!(body.is_empty());
    let (head, body) = site.ask("GET /img/logo.png", "Range: bytes=2-4\r\n");
    assert!(
        head.starts_with("http/1.1 206") && head.contains("\r\ncontent-range: bytes 2-4/10\r\n"),
        "{head}"
    );
    assert_eq!(body, b"234");
    let (head, _) = site.ask("GET /img/logo.png", "Range: bytes=10-\r\n");
    assert!(
        head.starts_with("http/1.1 416") && head.contains("\r\ncontent-range: bytes */10\r\n"),
        "{head}"
    );
}

#[test]
fn addresses() {
    let site = blog();
    for path in [
        "/",
        "/about",
        "/about.html",
        "/docs/",
        "/.well-known/security.txt",
        "/?q=/../x",
    ] {
        assert_eq!(site.status(&format!("GET {path}"), ""), "200", "{path}");
    }
    for path in [
        "/.git/config",
        "/%2egit/config",
        "/img/",
        "/gone",
        "/_headers",
        "/docs/x",
    ] {
        let (head, body) = site.ask(&format!("GET {path}"), "Range: bytes=0-1\r\nIf-None-Match: *\r\n");
        assert!(head.starts_with("http/1.1 404"), "{path}: {head}");
        assert!(body.ends_with(b"gone"), "{path}");
        assert!(head.contains("\r\ncache-control: no-cache\r\n"), "{path}: {head}");
    }
    for path in ["/../x", "/%2e%2e/x", "/docs/..%2f..%2fetc/passwd", "/%00", "/%"] {
        assert_eq!(site.status(&format!("GET {path}"), ""), "400", "{path}");
    }
    assert_eq!(site.header("GET /docs?a=b", "", "location"), "/docs/?a=b");
    assert_eq!(site.header("GET //docs", "", "location"), "/docs/");
    assert_eq!(site.status("POST /", "Content-Length: 0\r\n"), "405");
}

#[test]
fn headers_and_freshness() {
    let site = blog();
    let cache = |path: &str| site.header(&format!("GET {path}"), "", "cache-control");
    assert_eq!(cache("/"), "no-cache");
    assert_eq!(cache("/a.css"), "public, max-age=3600");
    assert_eq!(
        cache("/b.0123456789abcdef.css"),
        "public, max-age=31536000, immutable"
    );
    assert_eq!(cache("/img/logo.png"), "max-age=5");
    assert_eq!(
        site.header("GET /img/logo.png", "", "access-control-allow-origin"),
        "*"
    );
    assert_eq!(site.header("GET /about", "", "x-frame-options"), "deny");
    assert_eq!(
        site.header("GET /", "", "content-type"),
        "text/html; charset=utf-8"
    );
}

#[test]
fn below_a_prefix() {
    let wishes = Wishes {
        prefix: "/blog/".into(),
        ..Wishes::default()
    };
    let site = site(
        &[
            ("index.html", PAGE),
            ("docs/index.html", PAGE),
            ("_headers", b"/docs/\n  X-A: 1\n"),
        ],
        &wishes,
    );
    assert_eq!(site.header("GET /blog", "", "location"), "/blog/");
    assert_eq!(site.header("GET /blog/docs", "", "location"), "/blog/docs/");
    assert_eq!(site.header("GET /blog/docs/", "", "x-a"), "1");
    assert_eq!(site.status("GET /docs/", ""), "404");
    assert_eq!(
        *site.served.lock().unwrap().last().unwrap(),
        "404 GET /docs/ 10 bytes"
    );
}

#[test]
fn mounts() {
    assert_eq!(mount("/").as_deref(), Some("/"));
    assert_eq!(mount("").as_deref(), Some("/"));
    assert_eq!(mount("docs").as_deref(), Some("/docs/"));
    assert_eq!(mount("/a/b-c/").as_deref(), Some("/a/b-c/"));
    for bad in ["/a//b/", "/a b/", "/../", "/a;b/", "/\"/", "//"] {
        assert_eq!(mount(bad), None, "{bad}");
    }
}

#[test]
fn broken_requests_end_their_connection_only() {
    let site = blog();
    for bytes in [
        &b"\x16\x03\x01\x02"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(site.server.address).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
    }
    assert_eq!(site.status("GET /", ""), "200");
}

#[test]
fn dropping_the_server_ends_it() {
    let site = blog();
    let address = site.server.address;
    // An idle connection does not hold it up.
    let _idle = TcpStream::connect(address).unwrap();
    drop(site.server);
    assert!(TcpStream::connect(address).is_err());
}
