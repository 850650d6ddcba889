//! The predicted views as an HTTP Archive (HAR 1.2), for viewers and budget tools that read one.
//!
//! Each page is there twice, with an empty cache and as a follow-up view; with a journey, its steps are there instead.
//! Of OUT, or of SITE where nothing was built; only what counts is an entry. Nothing was loaded, so times are zero
//! and the clock starts in 1970; sizes are those of the report, bodies encoded with brotli. Sites are of any size
//! and viewers are not, so of a big one the heaviest pages are in.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Bytes, Content, Page, Report, Request, Side, State, ranking};
use crate::url;

/// Pages at most.
const MOST: usize = 500;

/// Milliseconds since 1970 as HAR wants them.
fn moment(milliseconds: usize) -> String {
    let seconds = milliseconds / 1000;
    format!(
        "1970-01-01T{:02}:{:02}:{:02}.{:03}Z",
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
        milliseconds % 1000
    )
}

/// One page of the archive.
struct Visit<'a> {
    id: String,
    title: String,
    page: &'a Page,
    requests: Vec<&'a Request>,
}

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let side = match report.totals.after {
        Some(_) => Side::After,
        None => Side::Before,
    };
    let visits = match &report.journey {
        Some(_) => steps(report, side),
        None => views(report, side),
    };
    let all = report.pages.len();
    let left_out = report.journey.is_none() && all > MOST;
    let comment = match left_out {
        true => format!("predicted by fewer, nothing was loaded; {MOST} of {all} pages, the heaviest"),
        false => "predicted by fewer, nothing was loaded".to_owned(),
    };
    let creator = json!({"name": "fewer", "version": env!("CARGO_PKG_VERSION")});
    write!(
        out,
        "{{\"log\":{{\"version\":\"1.2\",\n\"creator\":{creator},\n\"comment\":{},\n\"pages\":[",
        json!(comment)
    )?;
    for (i, visit) in visits.iter().enumerate() {
        let page = json!({
            "startedDateTime": moment(0),
            "id": visit.id,
            "title": visit.title,
            "pageTimings": {"onContentLoad": -1, "onLoad": -1},
        });
        write!(out, "{}{page}", if i == 0 { "\n" } else { ",\n" })?;
    }
    out.write_all(b"],\n\"entries\":[")?;
    let mut first = true;
    for visit in &visits {
        for (i, mut entry) in entries(report, visit, side).into_iter().enumerate() {
            entry["pageref"] = json!(visit.id);
            entry["startedDateTime"] = json!(moment(i));
            write!(out, "{}{entry}", if first { "\n" } else { ",\n" })?;
            first = false;
        }
    }
    out.write_all(b"]}}\n")
}

fn views(report: &Report, side: Side) -> Vec<Visit<'_>> {
    let mut shown = ranking::rows(report, ranking::Basis::Alone, MOST);
    shown.sort_by(|a, b| a.path.cmp(b.path));
    let pages = shown.iter().filter_map(|row| report.page(row.path));
    pages.flat_map(|page| both(page, side)).collect()
}

fn both(page: &Page, side: Side) -> [Visit<'_>; 2] {
    let path = &page.path;
    [
        ("first", "first view", false),
        ("follow-up", "follow-up view", true),
    ]
    .map(|(id, title, follow_up)| {
        let counts = |r: &&Request| r.counts(side) && (!follow_up || r.follow_up.of(side));
        Visit {
            id: format!("{path}#{id}"),
            title: format!("{path}: {title}"),
            page,
            requests: page.requests.iter().filter(counts).collect(),
        }
    })
}

fn steps(report: &Report, side: Side) -> Vec<Visit<'_>> {
    let steps = report
        .journey
        .iter()
        .flat_map(|journey| &journey.steps)
        .enumerate();
    let visit = |(i, step): (usize, &super::Step)| {
        let page = report.page(&step.page)?;
        let made = match side {
            Side::Before => &step.made.before,
            Side::After => &step.made.after,
        };
        let requests = made.iter().filter_map(|&index| page.requests.get(index as usize));
        Some(Visit {
            id: format!("step-{}", i + 1),
            title: format!("step {}: {}", i + 1, step.page),
            page,
            requests: requests.collect(),
        })
    };
    steps.filter_map(visit).collect()
}

fn entries(report: &Report, visit: &Visit<'_>, side: Side) -> Vec<Value> {
    let overhead = report.measured.request_overhead;
    let address = url::opened(&report.home, &visit.page.path);
    let own = visit.page.document.bytes.of(side).unwrap_or_default();
    let mut list = vec![entry(&address, 200, Content::Html, own, overhead, None)];
    for request in &visit.requests {
        let address = url::at_home(&report.home, &request.url);
        let content = request.weight.content;
        if request.state == State::Redirect {
            let bare = address
                .split('?')
                .next()
                .unwrap_or(&address)
                .trim_end_matches('/');
            let empty = Bytes {
                identity: overhead,
                gzip: overhead,
                br: overhead,
            };
            list.push(entry(bare, 301, Content::Other, empty, overhead, Some(&address)));
        }
        let status = if request.state == State::Missing { 404 } else { 200 };
        let bytes = request.weight.bytes.of(side).unwrap_or_default();
        let mut entry = entry(&address, status, content, bytes, overhead, None);
        entry["_initiator"] = json!(&*request.initiator);
        list.push(entry);
    }
    list
}

fn entry(
    address: &str,
    status: u16,
    content: Content,
    bytes: Bytes,
    overhead: u64,
    redirect: Option<&str>,
) -> Value {
    let body = |bytes: u64| bytes.saturating_sub(overhead);
    let (size, sent) = (body(bytes.identity), body(bytes.br));
    let mime = mime(content, address);
    let mut headers = vec![json!({"name": "content-type", "value": mime})];
    if sent < size {
        headers.push(json!({"name": "content-encoding", "value": "br"}));
    }
    if let Some(to) = redirect {
        headers.push(json!({"name": "location", "value": to}));
    }
    let status_text = match status {
        301 => "Moved Permanently",
        404 => "Not Found",
        _ => "OK",
    };
    let query: Vec<Value> = match address.split_once('?') {
        Some((_, query)) => query
            .split('&')
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                json!({"name": name, "value": value})
            })
            .collect(),
        None => Vec::new(),
    };
    json!({
        "pageref": "",
        "startedDateTime": "",
        "time": 0,
        "request": {
            "method": "GET",
            "url": address,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": [{"name": "accept-encoding", "value": "gzip, br"}],
            "queryString": query,
            "headersSize": -1,
            "bodySize": 0,
        },
        "response": {
            "status": status,
            "statusText": status_text,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": headers,
            "content": {
                "size": size,
                "compression": i64::try_from(size).unwrap_or(i64::MAX) - i64::try_from(sent).unwrap_or(i64::MAX),
                "mimeType": mime,
            },
            "redirectURL": redirect.unwrap_or(""),
            "headersSize": -1,
            "bodySize": sent,
            "_transferSize": bytes.br,
        },
        "cache": {},
        "timings": {"blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 0, "receive": 0},
    })
}

/// The type that a server would send.
fn mime(content: Content, address: &str) -> &'static str {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let extension = path.rsplit(['.', '/']).next().unwrap_or("").to_ascii_lowercase();
    match (content, extension.as_str()) {
        (Content::Html, _) => "text/html",
        (Content::Css, _) => "text/css",
        (Content::Js, _) => "text/javascript",
        (Content::Image, "svg") => "image/svg+xml",
        (Content::Image, "jpg" | "jpeg") => "image/jpeg",
        (Content::Image, "gif") => "image/gif",
        (Content::Image, "webp") => "image/webp",
        (Content::Image, "avif") => "image/avif",
        (Content::Image, "ico") => "image/x-icon",
        (Content::Image, _) => "image/png",
        (Content::Font, "woff") => "font/woff",
        (Content::Font, "ttf") => "font/ttf",
        (Content::Font, "otf") => "font/otf",
        (Content::Font, _) => "font/woff2",
        (Content::Media, "mp3") => "audio/mpeg",
        (Content::Media, "webm") => "video/webm",
        (Content::Media, _) => "video/mp4",
        (Content::Other, "json") => "application/json",
        (Content::Other, "webmanifest") => "application/manifest+json",
        (Content::Other, "xml") => "application/xml",
        (Content::Other, _) => "application/octet-stream",
    }
}
