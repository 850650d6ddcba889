//! One request, one answer: the rules that the configurations of `server_config` state for real servers.
//!
//! In: the folder as it was read and the head of a request. Out: status, headers and content. The one access to the
//! disk is the file that is sent.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::body::Content;
use super::conditions::{self, Outcome};
use super::place::{self, Place};
use super::{Wishes, negotiate};
use crate::deployed::{self, Coded, Deployed, ERROR_PAGE, FOR_EVER, media_type};
use crate::disk;
use crate::site::SitePath;

/// A folder and how it is served.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    prefix: String,
    max_age: u32,
    variants: bool,
    /// What was found when the folder itself had this time: a build in the meantime puts another one in its place.
    known: Mutex<(SystemTime, Arc<Deployed>)>,
}

impl Folder {
    pub(super) fn read(path: &Path, wishes: &Wishes) -> anyhow::Result<Folder> {
        let known = deployed::read(path)?;
        let modified = disk::stat(path)?.modified;
        Ok(Folder {
            path: path.to_path_buf(),
            prefix: wishes.prefix.clone(),
            max_age: wishes.max_age,
            variants: wishes.variants,
            known: Mutex::new((modified, Arc::new(known))),
        })
    }

    /// The folder as it is now.
    fn now(&self) -> Arc<Deployed> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(stat) = disk::stat(&self.path)
            && stat.modified != known.0
            && let Ok(read) = deployed::read(&self.path)
        {
            *known = (stat.modified, Arc::new(read));
        }
        Arc::clone(&known.1)
    }
}

/// What is sent back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) coding: Option<Coded>,
    headers: Vec<(String, String)>,
    content: Content,
}

impl Answer {
    fn text(status: StatusCode, text: &'static str) -> Answer {
        Answer {
            status: status.as_u16(),
            coding: None,
            headers: vec![
                ("content-type".into(), "text/plain".into()),
                ("cache-control".into(), "no-cache".into()),
            ],
            content: Content::Text(text.into()),
        }
    }

    /// Bytes of the content.
    pub(super) fn length(&self) -> u64 {
        self.content.length()
    }

    pub(super) fn respond(self) -> Response<Content> {
        let mut response = Response::new(self.content);
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in self.headers {
            // Names and values are ours, or were checked when `_headers` was read.
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(&value)) {
                response.headers_mut().append(name, value);
            }
        }
        response
    }
}

/// Answers a request. The body of a `HEAD` answer is left out by hyper, its length is told.
pub(super) fn answer<B>(folder: &Folder, request: &Request<B>) -> Answer {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut refused = Answer::text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
        refused.headers.push(("allow".into(), "GET, HEAD".into()));
        return refused;
    }
    let deployed = folder.now();
    let address = request.uri().path();
    match place::locate(&deployed.root, &folder.prefix, address) {
        Place::File { path, real } => send(folder, &deployed, request, &path, &real)
            .unwrap_or_else(|| missing(folder, &deployed, request)),
        Place::Folder(to) => {
            let mut moved = Answer::text(StatusCode::MOVED_PERMANENTLY, "");
            let query = request.uri().query().map(|query| format!("?{query}"));
            moved.headers = vec![
                ("location".into(), to + &query.unwrap_or_default()),
                ("cache-control".into(), fresh(folder.max_age)),
            ];
            moved
        }
        Place::Nothing => missing(folder, &deployed, request),
        Place::Refused => Answer::text(StatusCode::BAD_REQUEST, "bad request\n"),
    }
}

/// The site's own page for what is missing, or a line of text.
fn missing<B>(folder: &Folder, deployed: &Deployed, request: &Request<B>) -> Answer {
    let page = place::find(&deployed.root, ERROR_PAGE.as_bytes()).and_then(|(path, real)| {
        // A condition is about what was asked for, and a range is one of it.
        let mut plain = Request::new(());
        *plain.uri_mut() = request.uri().clone();
        if let Some(accept) = request.headers().get(header::ACCEPT_ENCODING) {
            plain
                .headers_mut()
                .insert(header::ACCEPT_ENCODING, accept.clone());
        }
        send(folder, deployed, &plain, &path, &real)
    });
    let Some(mut page) = page else {
        return Answer::text(StatusCode::NOT_FOUND, "not found\n");
    };
    page.status = StatusCode::NOT_FOUND.as_u16();
    // What rules say of this address is meant for the file that is not there.
    page.headers.retain(|(name, _)| {
        !matches!(
            name.as_str(),
            "etag" | "last-modified" | "accept-ranges" | "cache-control"
        )
    });
    page.headers.push(("cache-control".into(), "no-cache".into()));
    page
}

/// The file in the coding that the client likes best; `None` if it cannot be read.
fn send<B>(
    folder: &Folder,
    deployed: &Deployed,
    request: &Request<B>,
    path: &SitePath,
    real: &Path,
) -> Option<Answer> {
    let variant = |coding: Coded| {
        place::find(
            &deployed.root,
            &[path.as_bytes(), coding.suffix().as_bytes()].concat(),
        )
    };
    let is_variant =
        |coding: &Coded| deployed.codings.contains(coding) && deployed.foreign.binary_search(path).is_err();
    let variants: Vec<(Coded, PathBuf)> = Coded::ALL
        .into_iter()
        .filter(|coding| folder.variants && is_variant(coding))
        .filter_map(|coding| Some((coding, variant(coding)?.1)))
        .collect();
    let available: Vec<Coded> = variants.iter().map(|(coding, _)| *coding).collect();
    let accept: Vec<&str> = request
        .headers()
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    let accept = (!accept.is_empty()).then(|| accept.join(","));
    let coding = negotiate::choose(accept.as_deref(), &available);
    let sent = variants
        .iter()
        .find(|(variant, _)| Some(*variant) == coding)
        .map_or(real, |(_, place)| place.as_path());
    let (file, stat) = disk::open(sent).ok()?;

    let tag = tag(stat.modified, stat.size);
    let mut headers = vec![
        ("etag".to_string(), tag.clone()),
        (
            "last-modified".to_string(),
            httpdate::fmt_http_date(stat.modified),
        ),
    ];
    if !available.is_empty() {
        headers.push(("vary".into(), "Accept-Encoding".into()));
    }
    headers.extend(policy(folder, deployed, request.uri().path(), path));
    let is_get = request.method() == Method::GET;
    let outcome = conditions::evaluate(request.headers(), is_get, &tag, stat.modified, stat.size);
    let (status, part) = match outcome {
        Outcome::Whole => (StatusCode::OK, 0..stat.size),
        Outcome::Part(part) => (StatusCode::PARTIAL_CONTENT, part),
        Outcome::Unchanged => (StatusCode::NOT_MODIFIED, 0..0),
        Outcome::Failed => {
            return Some(Answer::text(
                StatusCode::PRECONDITION_FAILED,
                "precondition failed\n",
            ));
        }
        Outcome::Unsatisfiable => {
            let mut refused = Answer::text(StatusCode::RANGE_NOT_SATISFIABLE, "");
            refused.headers = vec![("content-range".into(), format!("bytes */{}", stat.size))];
            return Some(refused);
        }
    };
    if status != StatusCode::NOT_MODIFIED {
        headers.push(("content-type".into(), deployed.content_type(path)));
        headers.push(("accept-ranges".into(), "bytes".into()));
        if let Some(coding) = coding {
            headers.push(("content-encoding".into(), coding.token().into()));
        }
    }
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {}-{}/{}", part.start, part.end - 1, stat.size);
        headers.push(("content-range".into(), range));
    }
    Some(Answer {
        status: status.as_u16(),
        coding,
        headers,
        content: Content::part(file, &part).ok()?,
    })
}

/// Time and size, as nginx makes its tags: two codings of a file differ in size.
fn tag(modified: SystemTime, size: u64) -> String {
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("\"{:x}-{size:x}\"", since.as_nanos())
}

fn fresh(seconds: u32) -> String {
    format!("public, max-age={seconds}")
}

/// What `_headers` asks for, and how long the file is fresh.
fn policy(folder: &Folder, deployed: &Deployed, address: &str, path: &SitePath) -> Vec<(String, String)> {
    let file = format!("/{path}");
    // Patterns are about the site, wherever it is mounted.
    let request = address
        .strip_prefix(&folder.prefix)
        .map_or_else(|| file.clone(), |rest| format!("/{rest}"));
    let mut headers = deployed.rules.of(&request, &file);
    let is_cache = |(name, _): &(String, String)| name.eq_ignore_ascii_case("cache-control");
    // The last rule counts: two values of it in one answer would contradict each other.
    let own = headers
        .iter()
        .rfind(|header| is_cache(header))
        .map(|(_, value)| value.clone());
    let keeps_away = own.as_deref().is_some_and(deployed::keeps_away);
    let ours = if deployed.immutable.contains(path) && !keeps_away {
        format!("public, max-age={FOR_EVER}, immutable")
    } else if let Some(own) = own {
        own
    } else if media_type::is_page(&deployed.content_type(path)) {
        "no-cache".to_string()
    } else {
        fresh(folder.max_age)
    };
    headers.retain(|header| !is_cache(header));
    headers.push(("cache-control".into(), ours));
    let links = deployed.links_of(path, &folder.prefix).iter();
    headers.extend(links.map(|value| ("link".to_string(), value.clone())));
    headers
}
