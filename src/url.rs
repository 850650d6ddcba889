//! The only place that turns a reference into a file and a file into a reference (WHATWG URL).

use crate::site::{FileId, Site, SitePath};

/// What a relative reference resolves against.
#[derive(Debug, Clone)]
pub struct Base {
    url: ::url::Url,
}

/// Where the site lives: an invented origin at `/`, or what `--base-url` says.
#[derive(Debug, Clone)]
pub struct Mount {
    root: ::url::Url,
}

/// What a reference leads to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A file of the site. `address` is the path and query as requested (no fragment): what a cache is keyed by.
    File {
        file: FileId,
        address: String,
        fragment: Option<String>,
    },
    /// A folder without the `/` at its end, which servers redirect to `FOLDER/` and then to this index page.
    Redirect {
        file: FileId,
        address: String,
        fragment: Option<String>,
    },
    /// An address of this site that no file stands at.
    Missing { path: SitePath, address: String },
    /// Another origin, with the whole URL.
    External(String),
    /// `data:`, `blob:`, `about:`, `javascript:`, `mailto:` and other schemes that lead to no server.
    Inline,
    /// Only a fragment: an element of the same document.
    Fragment(String),
    /// The empty string, or nothing that parses as a URL.
    Nothing,
    /// Refused: the decoded path would leave the root (`..%2f`), or holds NUL or a decoded `/` or `\`.
    Refused,
}

pub fn mount(_base_url: Option<&str>) -> anyhow::Result<Mount> {
    anyhow::bail!("not built yet")
}

/// The base of a file's own references, before any `<base href>`.
pub fn base(_mount: &Mount, _file: &SitePath) -> Base {
    unimplemented!()
}

/// The document base URL after the first `<base href>` of a page, as the HTML standard says.
pub fn with_base_element(_base: &Base, _href: &str) -> Base {
    unimplemented!()
}

pub fn resolve(_site: &Site, _mount: &Mount, _base: &Base, _raw: &str) -> Target {
    unimplemented!()
}

/// The shortest relative reference from one file of the site to another, percent-encoded, ASCII only.
pub fn relative(_from: &SitePath, _to: &SitePath) -> String {
    unimplemented!()
}
