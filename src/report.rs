//! Stage 5: what a build or a report found, as data and in its formats.
//!
//! In: numbers that other stages measured. Out: the files of `--report` in their formats (`report/format.rs` lists
//! them, each has a file of its own), a summary for people (`report/summary.rs`), diagnostics as text
//! (`report/diagnostics.rs`) and the limits that are broken (`report/budget.rs`, `report/baseline.rs`). Nothing here
//! measures or decides. Equal reports give equal bytes: no time, no place, no number of threads.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::diagnostic::Diagnostic;
use crate::html::Kind;
use crate::media::Media;
use crate::site::SitePath;

mod annotations;
pub mod baseline;
pub mod budget;
mod codes;
mod csv;
mod diagnostics;
mod findings;
mod format;
mod har;
mod html;
mod journey;
mod json;
mod junit;
mod levels;
pub mod lighthouse;
mod markdown;
mod ranking;
mod sarif;
mod summary;
mod table;
pub(crate) mod text;
mod violation;

pub use annotations::github;
pub use baseline::Comparison;
pub use budget::{Budgets, check};
pub use codes::list_codes;
pub use diagnostics::{diagnostics_text, help, severity};
pub use findings::{findings, findings_text};
pub use format::{Format, write};
pub use journey::{Journey, Step, walk};
pub use json::write_json;
pub use levels::{Codes, Denied, Levels};
pub use summary::summary;
pub use table::tables;
pub use violation::{Rule, Subject, Violation};

/// The number of the JSON format; it changes when a reader of the old one would break.
pub const SCHEMA: u32 = 1;

/// The JSON Schema (draft 2020-12) of what `write_json` writes.
pub const JSON_SCHEMA: &str = include_str!("report/report.schema.json");

#[derive(Debug, Clone)]
pub struct Report {
    /// The page a reader comes from on a follow-up view.
    pub entry: Option<SitePath>,
    pub measured: Measured,
    /// In path order.
    pub pages: Vec<Page>,
    pub totals: Totals,
    pub decisions: Vec<Decision>,
    pub diagnostics: Vec<Diagnostic>,
    /// Nothing was counted; the diagnostics are all there is. No part of the JSON.
    pub is_check: bool,
    /// Where the site lives: `https://example.org/sub/`, or an invented host.
    pub home: String,
    pub verdict: Verdict,
    /// `--journey`.
    pub journey: Option<Journey>,
}

/// What was found against the limits of the run.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// By page: whether some limit is about it. Empty without limits.
    pub judged: Vec<bool>,
    pub violations: Vec<Violation>,
    /// With the baseline.
    pub comparison: Option<Comparison>,
}

/// How the numbers were taken.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Measured {
    /// The level of the gzip sizes.
    pub gzip: String,
    /// The quality of the brotli sizes.
    pub brotli: String,
    pub viewport: Viewport,
    /// Bytes that each request costs beside its body; part of every number of bytes of a view.
    pub request_overhead: u64,
}

/// CSS pixels.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Viewport {
    pub width: u32,
    pub height: u32,
}

#[derive(Debug, Clone, Serialize)]
pub struct Page {
    #[serde(serialize_with = "path")]
    pub path: SitePath,
    pub before: Views,
    /// `None` where nothing was built.
    pub after: Option<Views>,
    /// The page itself; counted in the views, not listed among the requests.
    #[serde(serialize_with = "document")]
    pub document: Weight,
    /// It runs scripts: what these ask for is unknown to a static reader and not counted.
    pub scripts: bool,
    /// What the page refers to, of SITE and of OUT.
    pub requests: Vec<Request>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Views {
    /// With an empty cache.
    pub first: View,
    /// Coming from the entry page; for the entry page itself a reload.
    pub follow_up: View,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct View {
    pub requests: u64,
    pub bytes: Bytes,
}

/// Bodies as a client receives them under each content coding, with `request_overhead` for each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bytes {
    pub identity: u64,
    pub gzip: u64,
    pub br: u64,
}

/// Text is shared: most pages of a site request the same few files from the same places.
#[derive(Debug, Clone, Serialize)]
pub struct Request {
    #[serde(serialize_with = "shared")]
    pub url: Arc<str>,
    #[serde(serialize_with = "kind")]
    pub kind: Kind,
    /// What asks for it: an element and attribute (`img[src]`) or the path of a stylesheet.
    #[serde(serialize_with = "shared")]
    pub initiator: Arc<str>,
    pub state: State,
    /// Written once for each URL, among the `resources`.
    #[serde(skip)]
    pub weight: Arc<Weight>,
    /// Whether the follow-up view makes it.
    pub follow_up: Sides<bool>,
}

/// One thing for SITE and one for OUT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Sides<T> {
    pub before: T,
    pub after: T,
}

/// Of which of the two sites a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Before,
    After,
}

/// What one request for a URL takes; bytes as in a view, the overhead of the request among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Weight {
    #[serde(rename = "type")]
    pub content: Content,
    /// Whether every view asks for it again: documents, and what is missing.
    pub revalidated: bool,
    /// `None` where no page of that site requests it.
    #[serde(flatten)]
    pub bytes: Sides<Option<Bytes>>,
}

/// What is sent, in the few types that budgets speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    Html,
    Css,
    Js,
    Image,
    Font,
    Media,
    Other,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Kept,
    /// Its bytes came into a file that is requested anyway.
    Inlined,
    /// Its stylesheet became part of another one, which is requested in its place.
    Combined,
    /// The image stands in the stylesheet that its pages share.
    Shared,
    /// Another file with the same bytes is requested in its place.
    Same,
    /// Only OUT makes it.
    Added,
    /// Made when the reader scrolls there; counted.
    Lazy,
    /// A request that answers 404, in OUT as in SITE; counted.
    Missing,
    /// Two requests: the folder without its `/`, then its index page.
    Redirect,
    /// Another origin; not counted.
    External,
    /// The browser's own icon request; not counted.
    Icon,
}

#[derive(Debug, Clone, Serialize)]
pub struct Totals {
    pub pages: u64,
    /// Pages that run scripts.
    pub scripted: u64,
    /// Files of SITE.
    pub files: u64,
    /// Sums over all pages.
    pub before: Views,
    pub after: Option<Views>,
    /// `None` where nothing was built.
    pub written: Option<Written>,
    /// What OUT needs of a content security policy and SITE did not: `img-src data:`.
    pub policy: Vec<String>,
    /// What options cost that were asked for by name; no part of `after`. `None` where they cost nothing.
    pub asked_for: Option<AskedFor>,
}

/// Bytes that options add which are asked for by name: sums over all pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskedFor {
    pub options: Vec<&'static str>,
    pub first: More,
    pub follow_up: More,
}

/// So many bytes more under each content coding; a name can also compress better than the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct More {
    pub identity: i64,
    pub gzip: i64,
    pub br: i64,
}

/// What OUT consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Written {
    /// Files that are as they were in SITE.
    pub copied: u64,
    pub edited: u64,
    /// Files that the options leave out of editing; copied too, and not among `copied`.
    pub excluded: u64,
    /// Bytes of all variants written.
    pub gzip: u64,
    pub br: u64,
    pub zstd: u64,
}

/// Why a file was changed or left.
#[derive(Debug, Clone, Serialize)]
pub struct Decision {
    #[serde(serialize_with = "path")]
    pub file: SitePath,
    pub action: &'static str,
    pub reason: String,
    pub cost: Cost,
}

/// What a decision adds; negative numbers save. Sums over all pages it touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Cost {
    pub requests_first: i64,
    pub requests_follow_up: i64,
    pub bytes_gzip: i64,
    pub bytes_br: i64,
}

impl Totals {
    /// The sums over `pages`; what was written and what a policy needs is for the caller to add.
    pub fn of(pages: &[Page], files: u64) -> Totals {
        let mut before = Views::default();
        let mut after = None;
        for page in pages {
            before.add(&page.before);
            if let Some(views) = &page.after {
                after.get_or_insert_with(Views::default).add(views);
            }
        }
        Totals {
            pages: pages.len() as u64,
            scripted: pages.iter().filter(|page| page.scripts).count() as u64,
            files,
            before,
            after,
            written: None,
            policy: Vec::new(),
            asked_for: None,
        }
    }
}

impl Views {
    fn add(&mut self, other: &Views) {
        self.first.add(&other.first);
        self.follow_up.add(&other.follow_up);
    }
}

impl View {
    /// One request that takes these bytes.
    pub fn one(bytes: Bytes) -> View {
        View { requests: 1, bytes }
    }

    pub fn add(&mut self, other: &View) {
        self.requests += other.requests;
        self.bytes.identity += other.bytes.identity;
        self.bytes.gzip += other.bytes.gzip;
        self.bytes.br += other.bytes.br;
    }
}

impl Page {
    /// The views that count now: of OUT, or of SITE where nothing was built.
    pub fn latest(&self) -> &Views {
        self.after.as_ref().unwrap_or(&self.before)
    }

    /// The side that `latest` is of.
    pub fn latest_side(&self) -> Side {
        match self.after {
            Some(_) => Side::After,
            None => Side::Before,
        }
    }

    /// What the first view requests on one side, the page itself left out, with what each takes.
    pub fn loads(&self, side: Side, measured: &Measured) -> impl Iterator<Item = (&Request, View)> {
        let overhead = measured.request_overhead;
        self.requests
            .iter()
            .filter_map(move |request| Some((request, request.load(side, overhead)?)))
    }
}

impl Report {
    pub fn page(&self, path: &SitePath) -> Option<&Page> {
        let at = self.pages.binary_search_by(|page| page.path.cmp(path));
        at.ok().map(|at| &self.pages[at])
    }

    /// Compares with the limits and keeps what was found.
    pub fn judge(&mut self, budgets: &Budgets) {
        let (violations, comparison) = check(self, budgets);
        let judged = match budgets.is_empty() {
            true => Vec::new(),
            false => self.pages.iter().map(|page| budgets.holds_for(page)).collect(),
        };
        self.verdict = Verdict {
            judged,
            violations,
            comparison,
        };
    }
}

impl<T: Copy> Sides<T> {
    pub fn of(&self, side: Side) -> T {
        match side {
            Side::Before => self.before,
            Side::After => self.after,
        }
    }
}

impl Request {
    /// Whether that site makes it and it counts.
    pub fn counts(&self, side: Side) -> bool {
        match side {
            Side::Before => self.state.counts_before(),
            Side::After => self.state.counts_after(),
        }
    }

    /// What it takes on a first view, if it is made. A redirect is two requests.
    pub fn load(&self, side: Side, overhead: u64) -> Option<View> {
        if !self.counts(side) {
            return None;
        }
        let mut view = View::one(self.weight.bytes.of(side).unwrap_or_default());
        if self.state == State::Redirect {
            let empty = Bytes {
                identity: overhead,
                gzip: overhead,
                br: overhead,
            };
            view.add(&View::one(empty));
        }
        Some(view)
    }
}

impl Content {
    pub const ALL: [Content; 7] = [
        Content::Html,
        Content::Css,
        Content::Js,
        Content::Image,
        Content::Font,
        Content::Media,
        Content::Other,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Content::Html => "html",
            Content::Css => "css",
            Content::Js => "js",
            Content::Image => "image",
            Content::Font => "font",
            Content::Media => "media",
            Content::Other => "other",
        }
    }

    /// By what the answer is used for, where that says it, else by the type of the file.
    pub fn of(kind: Kind, media: Media) -> Content {
        match kind {
            Kind::Stylesheet => Content::Css,
            Kind::Script => Content::Js,
            Kind::Image | Kind::Icon | Kind::SvgImage | Kind::SvgUse => Content::Image,
            Kind::Font => Content::Font,
            Kind::Media => Content::Media,
            Kind::Document | Kind::Refresh => Content::Html,
            Kind::Manifest | Kind::Preload | Kind::Prefetch | Kind::Meta | Kind::Link => match media {
                Media::Html | Media::Xhtml => Content::Html,
                Media::Css => Content::Css,
                Media::Script => Content::Js,
                Media::Svg
                | Media::Png
                | Media::Gif
                | Media::Jpeg
                | Media::Webp
                | Media::Avif
                | Media::Bmp
                | Media::Ico => Content::Image,
                Media::Font => Content::Font,
                Media::Video | Media::Audio => Content::Media,
                Media::Json | Media::Xml | Media::Text | Media::Manifest | Media::Other => Content::Other,
            },
        }
    }
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Kept => "kept",
            State::Inlined => "inlined",
            State::Combined => "combined",
            State::Shared => "shared",
            State::Same => "same",
            State::Added => "added",
            State::Lazy => "lazy",
            State::Missing => "missing",
            State::Redirect => "redirect",
            State::External => "external",
            State::Icon => "icon",
        }
    }

    pub const ALL: [State; 11] = [
        State::Kept,
        State::Inlined,
        State::Combined,
        State::Shared,
        State::Same,
        State::Added,
        State::Lazy,
        State::Missing,
        State::Redirect,
        State::External,
        State::Icon,
    ];

    /// SITE makes such a request and it counts.
    pub fn counts_before(self) -> bool {
        !matches!(self, State::Added | State::External | State::Icon)
    }

    /// OUT makes such a request and it counts.
    pub fn counts_after(self) -> bool {
        !matches!(
            self,
            State::Inlined | State::Combined | State::Shared | State::Same | State::External | State::Icon
        )
    }
}

/// The stable name of a kind of request.
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Stylesheet => "stylesheet",
        Kind::Script => "script",
        Kind::Image => "image",
        Kind::Icon => "icon",
        Kind::Font => "font",
        Kind::Media => "media",
        Kind::Document => "document",
        Kind::Manifest => "manifest",
        Kind::Preload => "preload",
        Kind::Prefetch => "prefetch",
        Kind::Meta => "meta",
        Kind::Link => "link",
        Kind::Refresh => "refresh",
        Kind::SvgImage => "svg-image",
        Kind::SvgUse => "svg-use",
    }
}

fn path<S: Serializer>(path: &SitePath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(path)
}

/// Type and repetition of a page's own request need no words.
fn document<S: Serializer>(weight: &Weight, serializer: S) -> Result<S::Ok, S::Error> {
    weight.bytes.serialize(serializer)
}

fn shared<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

fn kind<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind_name(*kind))
}

#[cfg(test)]
mod formats_tests;
#[cfg(test)]
mod limits_tests;
#[cfg(test)]
mod tests;
