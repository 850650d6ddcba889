//! How often each page is viewed, from a list or from an access log.
//!
//! A list has `path count` or `count path` on each line (as `sort | uniq -c` writes it); blank lines and lines that
//! begin with `#` say nothing. A log has lines of the NCSA common or combined format; of it count `GET` requests
//! that were answered with 2xx or 304. A list is read strictly, because someone wrote it; a log is not, because
//! anyone who sends a request writes in it. Requests for something other than a page are ignored.

use std::collections::BTreeMap;
use std::path::Path;

use crate::disk;
use crate::media::{self, Media};
use crate::site::SitePath;

/// Views of pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Traffic {
    /// By path in SITE, as it was asked for: a folder is its `index.html`, but a page that the server shows under a
    /// name without `.html` has that name. `weight` knows of both.
    pub weights: BTreeMap<String, u64>,
}

impl Traffic {
    /// Views of the page at this path in SITE, under each of the URLs that servers commonly give it: `a/b.html` is
    /// also `a/b`, and `a/index.html` is also `a`.
    pub fn weight(&self, page: &str) -> u64 {
        let bare = page.strip_suffix(".html").or_else(|| page.strip_suffix(".htm"));
        let folder = bare.and_then(|bare| bare.strip_suffix("/index"));
        let of = |name: &str| self.weights.get(name).copied();
        [Some(page), bare, folder]
            .into_iter()
            .flatten()
            .filter_map(of)
            .fold(0, u64::saturating_add)
    }
}

/// Reads a list or log of a site that lives at the root of its server.
pub fn read(path: &Path) -> anyhow::Result<Traffic> {
    read_below(path, "/")
}

/// Reads a list or log of a site that lives below `root` (`/`, or `/sub/`): only URL paths below it are of the site,
/// and they are counted without it. Paths without a leading `/` are paths in SITE already.
pub fn read_below(path: &Path, root: &str) -> anyhow::Result<Traffic> {
    let bytes = disk::read(path)?;
    parse(&bytes, root).map_err(|Problem { line, message }| match line {
        Some(line) => anyhow::anyhow!("{}:{line}: {message}", disk::shown(path)),
        None => anyhow::anyhow!("{}: {message}", disk::shown(path)),
    })
}

/// What is wrong with a file, and in which line (from 1).
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    line: Option<usize>,
    message: String,
}

fn parse(bytes: &[u8], root: &str) -> Result<Traffic, Problem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_log = lines(bytes).any(|(_, line)| Hit::parse(line).is_some());
    let mut traffic = Traffic::default();
    let mut empty = true;
    for (number, line) in lines(bytes) {
        empty = false;
        let (target, count) = if is_log {
            match Hit::parse(line) {
                Some(hit) if hit.counts() => (hit.target, 1),
                _ => continue,
            }
        } else {
            entry(line).map_err(|message| Problem {
                line: Some(number),
                message,
            })?
        };
        if let Some(page) = page(target, root) {
            let weight = traffic.weights.entry(page).or_default();
            *weight = weight.saturating_add(count);
        }
    }
    if !traffic.weights.is_empty() {
        return Ok(traffic);
    }
    let message = match (empty, is_log) {
        (true, _) => "is empty: expected `path count` lines or an access log".to_owned(),
        (_, true) => "no line is a GET of a page that was answered with 2xx or 304".to_owned(),
        _ if root == "/" => "no line names a page".to_owned(),
        _ => format!("no line names a page below {root}"),
    };
    Err(Problem { line: None, message })
}

/// Lines that say something, with their numbers.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    bytes
        .split(|&b| b == b'\n')
        .map(<[u8]>::trim_ascii)
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"))
        .map(|(i, line)| (i + 1, line))
}

/// `path count` or `count path`. Where both are numbers, the first one is the path.
fn entry(line: &[u8]) -> Result<(&[u8], u64), String> {
    let is_space = |b: &u8| b.is_ascii_whitespace();
    let first = line.iter().position(is_space);
    let last = line.iter().rposition(is_space);
    let (Some(first), Some(last)) = (first, last) else {
        return Err(format!("expected `path count`, found {}", quoted(line)));
    };
    let (front, back) = (&line[..first], &line[last + 1..]);
    for (count, path) in [(back, &line[..last]), (front, &line[first + 1..])] {
        if count.iter().all(u8::is_ascii_digit) {
            // Digits are UTF-8; what does not fit is more views than there can be.
            let count = std::str::from_utf8(count)
                .ok()
                .and_then(|digits| digits.parse().ok());
            let count = count.ok_or_else(|| format!("a count too large in {}", quoted(line)))?;
            return Ok((path.trim_ascii(), count));
        }
    }
    Err(format!(
        "expected `path count` with a whole number as the count, found {}",
        quoted(line)
    ))
}

/// One line of a log: `host ident user [date] "method target version" status ...`.
#[derive(Debug, PartialEq, Eq)]
struct Hit<'a> {
    method: &'a [u8],
    target: &'a [u8],
    status: u16,
}

impl Hit<'_> {
    fn parse(line: &[u8]) -> Option<Hit<'_>> {
        // The date has a fixed form, so the first `] "` after a `[` ends it, whatever the user is called.
        let date = line.iter().position(|&b| b == b'[')?;
        let start = date + line[date..].windows(3).position(|w| w == b"] \"")? + 3;
        let request = &line[start..];
        let mut escaped = false;
        let end = request.iter().position(|&b| {
            let ends = b == b'"' && !escaped;
            escaped = b == b'\\' && !escaped;
            ends
        })?;
        let (request, rest) = (&request[..end], &request[end + 1..]);
        let status = rest.strip_prefix(b" ")?.split(|&b| b == b' ').next()?;
        let status = std::str::from_utf8(status).ok().filter(|s| s.len() == 3)?;
        let mut parts = request.split(|&b| b == b' ');
        Some(Hit {
            method: parts.next().unwrap_or_default(),
            target: parts.next().unwrap_or_default(),
            status: status.parse().ok()?,
        })
    }

    fn counts(&self) -> bool {
        self.method == b"GET" && matches!(self.status, 200..=299 | 304)
    }
}

/// The path in SITE of the page that a URL path, a whole URL or a path in SITE names; `None` for what is no page.
fn page(target: &[u8], root: &str) -> Option<String> {
    let target = std::str::from_utf8(target).ok()?;
    let target = target.split(['?', '#']).next()?;
    let path = match target.split_once("://") {
        Some(("http" | "https", rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        _ => target,
    };
    let path = decoded(path)?;
    let path = match path.strip_prefix('/') {
        // `root` begins and ends with a slash; its own URL may come without the last one.
        Some(_) if path.len() + 1 == root.len() && root.starts_with(&path) => "",
        Some(_) => path.strip_prefix(root)?,
        None => path.strip_prefix("./").unwrap_or(&path),
    };
    if path.split('/').rev().skip(1).any(str::is_empty) || path.split('/').any(|s| s == "." || s == "..") {
        return None;
    }
    if path.is_empty() || path.ends_with('/') {
        return Some(format!("{path}index.html"));
    }
    // A name of no known type may be a page's name without its extension.
    let media = media::by_name(&SitePath::new(path));
    matches!(media, Media::Html | Media::Xhtml | Media::Other).then(|| path.to_owned())
}

/// `None` for what is no UTF-8 or holds a control character.
fn decoded(text: &str) -> Option<String> {
    let text = String::from_utf8(percent_decoded(text.as_bytes())).ok()?;
    (!text.chars().any(char::is_control)).then_some(text)
}

/// A `%` without two hex digits stays (URL standard, section 1.3).
pub(crate) fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let hex = |b: u8| char::from(b).to_digit(16);
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        let pair = tail.first_chunk::<2>().filter(|_| *first == b'%');
        if let Some(byte) = pair.and_then(|pair| Some(hex(pair[0])? << 4 | hex(pair[1])?)) {
            out.push(byte as u8);
            rest = &tail[2..];
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    out
}

/// The start of a line, safe to print.
fn quoted(line: &[u8]) -> String {
    const MOST: usize = 60;
    let text = SitePath::new(line).to_string();
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("`{}...`", &text[..at]),
        None => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(text: &str, root: &str) -> Result<Vec<(String, u64)>, Problem> {
        parse(text.as_bytes(), root).map(|traffic| traffic.weights.into_iter().collect())
    }

    #[track_caller]
    fn check(text: &str, root: &str, expected: &[(&str, u64)]) {
        let expected: Vec<(String, u64)> = expected.iter().map(|(p, n)| ((*p).to_owned(), *n)).collect();
        assert_eq!(weights(text, root).expect(text), expected, "{text}");
    }

    #[track_caller]
    fn refuses(text: &str, line: Option<usize>, said: &str) {
        let problem = weights(text, "/").expect_err(text);
        assert_eq!(problem.line, line, "{text}: {}", problem.message);
        assert!(problem.message.contains(said), "{text}: {}", problem.message);
    }

    #[test]
    fn lists() {
        check(
            "index.html 30\n/a/ 2\n",
            "/",
            &[("a/index.html", 2), ("index.html", 30)],
        );
        check("  12 /a.html\n\t3\t/b\n", "/", &[("a.html", 12), ("b", 3)]);
        check(
            "\u{feff}# views\r\n\r\n/ 1\r\n/?q=1 2\r\n/index.html#x 4\r\n",
            "/",
            &[("index.html", 7)],
        );
        check(
            "/two words.html 5\n7 /two%20words.html",
            "/",
            &[("two words.html", 12)],
        );
        check("/2024 15", "/", &[("2024", 15)]);
        check("https://example.org/a/ 3", "/", &[("a/index.html", 3)]);
        check(
            "/a.html 18446744073709551615\n/a.html 1",
            "/",
            &[("a.html", u64::MAX)],
        );
        check("/a.html 0", "/", &[("a.html", 0)]);
        // What is no page, or not of this site.
        check(
            "/a.css 9\n/b.png 9\n/../c.html 9\n//d.html 9\n/e%ff 9\n/ 1",
            "/",
            &[("index.html", 1)],
        );
        check(
            "/sub/ 1\n/sub 1\n/sub/a.html 2\n/other/ 9\nb.html 3",
            "/sub/",
            &[("a.html", 2), ("b.html", 3), ("index.html", 2)],
        );
    }

    #[test]
    fn faults_of_lists() {
        refuses("/a.html 3\n/b.html many\n", Some(2), "/b.html many");
        refuses("/a.html\n", Some(1), "`path count`");
        refuses("\n\n/a.html -3", Some(3), "whole number");
        refuses("/a.html 1.5", Some(1), "whole number");
        refuses("/a.html 18446744073709551616", Some(1), "too large");
        refuses(&"x".repeat(1000), Some(1), "xxx...`");
        refuses("\x1b[31m", Some(1), "\\u{1b}");
        refuses("", None, "empty");
        refuses("# only a remark\n", None, "empty");
        refuses("/a.css 3\n", None, "no line names a page");
    }

    #[test]
    fn logs() {
        let line = |request: &str, status: &str| {
            format!("192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"{request}\" {status} 2326\n")
        };
        let log = [
            line("GET /a.html HTTP/1.1", "200"),
            line("GET /a.html?ref=1 HTTP/1.1", "304"),
            line("GET / HTTP/2.0", "206"),
            line("GET http://example.org/a/ HTTP/1.1", "200"),
            line("GET /gone.html HTTP/1.1", "404"),
            line("GET /moved HTTP/1.1", "301"),
            line("HEAD /a.html HTTP/1.1", "200"),
            line("POST /a.html HTTP/1.1", "200"),
            line("GET /a.css HTTP/1.1", "200"),
            line("-", "408"),
            line("\\x16\\x03\\\"] \\\"GET /b.html", "400"),
            "a line cut o\n".to_owned(),
            "x [y] \"GET /b.html".to_owned(),
        ]
        .concat();
        check(
            &log,
            "/",
            &[("a.html", 2), ("a/index.html", 1), ("index.html", 1)],
        );
        // Combined, with a virtual host in front and a user with a space.
        let combined = "example.org:443 192.0.2.1 - a b [10/Oct/2000:13:55:36 -0700] \"GET /a\\\"b HTTP/1.1\" \
            200 - \"https://example.org/\" \"Mozilla/5.0 [en] \\\"GET /c\\\" 200\"";
        check(combined, "/", &[("a\\\"b", 1)]);
        refuses(
            &line("GET /a.css HTTP/1.1", "200"),
            None,
            "no line is a GET of a page",
        );
        refuses(
            &line("POST / HTTP/1.1", "200"),
            None,
            "no line is a GET of a page",
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let _ = parse(&bytes, "/sub/");
        }

        #[test]
        fn anything_like_a_log_is_answered(text in "([ a/\\[\\]\"\\\\%2.#?GET0-9-]{0,40}\n){0,4}") {
            for path in parse(text.as_bytes(), "/").iter().flat_map(|traffic| traffic.weights.keys()) {
                proptest::prop_assert!(!path.starts_with('/') && !path.is_empty());
            }
        }
    }

    #[test]
    fn a_page_counts_under_all_its_names() {
        let traffic = Traffic {
            weights: [("a", 1), ("a.html", 2), ("a/index.html", 4), ("index.html", 8)]
                .map(|(path, n)| (path.to_owned(), n))
                .into(),
        };
        let check = |page: &str, views| assert_eq!(traffic.weight(page), views, "{page}");
        check("a.html", 3);
        check("a/index.html", 5);
        check("index.html", 8);
        check("b.html", 0);
        check("a.htm", 1);
    }
}
