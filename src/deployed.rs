//! OUT as a server meets it: which codings lie beside the files, which names are immutable, what types and charsets
//! are told, what `_headers` asks for.
//!
//! In: the folder. Out: `Deployed`, from which `serve` answers and `server_config` writes configurations, so that the
//! preview and the real server cannot disagree. Nothing is written here, and nothing outside the folder is read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::disk;
use crate::options::Options;
use crate::site::{self, Site, SitePath};

mod charset;
mod manifest;
pub mod media_type;
pub mod rules;

pub use rules::Rules;

/// Names of the manifest that a build writes.
pub const MANIFEST: &str = "fewer-manifest.json";
/// The page for addresses that nothing stands at.
pub const ERROR_PAGE: &str = "404.html";
/// Files for hosts and servers, which no host sends to a visitor.
pub const PRIVATE: [&str; 3] = ["_headers", "_redirects", ".htaccess"];
/// Pages that stand for their folder, the first that exists counts (as in `url`).
pub const INDEXES: [&str; 3] = ["index.html", "index.htm", "index.xhtml"];
/// Seconds that a plain file is fresh without being asked for again, unless told otherwise. `fewer` changes such a
/// file only where old and new pages render alike with either.
pub const MAX_AGE: u32 = 3600;
/// Seconds in 365 days: what "for ever" is (RFC 9111 sets no limit, RFC 2616 recommended one year).
pub const FOR_EVER: u32 = 31_536_000;
/// Hex digits of a content hash in a name that may be immutable.
const HASH_DIGITS: usize = 16;

/// A coding that a file may lie in beside itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coded {
    Brotli,
    Zstd,
    Gzip,
}

impl Coded {
    /// In the order of preference where a client likes them alike: brotli 11 is the smallest.
    pub const ALL: [Coded; 3] = [Coded::Brotli, Coded::Zstd, Coded::Gzip];

    /// The token of `Content-Encoding` (IANA's registry of content codings).
    pub fn token(self) -> &'static str {
        match self {
            Coded::Brotli => "br",
            Coded::Zstd => "zstd",
            Coded::Gzip => "gzip",
        }
    }

    /// What stands behind the file's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Coded::Brotli => ".br",
            Coded::Zstd => ".zst",
            Coded::Gzip => ".gz",
        }
    }
}

/// What is known of a folder that is to be served.
#[derive(Debug, Clone)]
pub struct Deployed {
    /// Absolute, without links.
    pub root: PathBuf,
    /// Codings that at least one file lies in, in the order of preference.
    pub codings: Vec<Coded>,
    /// Names that stand for their content, of files that are there.
    pub immutable: BTreeSet<SitePath>,
    /// Whether some file that is not immutable has a name like one that is.
    pub lookalikes: bool,
    /// Extensions of compressible files (lower case), sorted.
    pub compressible: Vec<String>,
    /// Extensions of text types (lower case) that are sent with `charset=utf-8`.
    pub utf8: BTreeSet<String>,
    /// Whether there is a page for what is missing.
    pub error_page: bool,
    /// Names of index pages that occur, in the order of preference.
    pub indexes: Vec<&'static str>,
    /// The text of `_headers`.
    pub own_headers: String,
    /// What `_headers` asks for beside the `links`, and CORS headers for the types in `cors`.
    pub rules: Rules,
    /// By page: values of `Link` headers, which name the stylesheets that it waits for.
    pub links: BTreeMap<SitePath, Vec<String>>,
    /// Extensions of files that pages of another host ask for: they need a CORS header to use them.
    pub cors: BTreeSet<String>,
    /// `Content-Type` by extension (lower case), for every known one and those that stand behind a page's in OUT.
    pub types: BTreeMap<String, String>,
    /// Files beside which another one has the name of a variant without being of a type that gets any.
    pub foreign: Vec<SitePath>,
    /// Paths of all files.
    pub files: BTreeSet<SitePath>,
    /// What was left out, one sentence each.
    pub notes: Vec<String>,
}

/// Reads the folder. Fails only if it cannot be read.
pub fn read(folder: &Path) -> anyhow::Result<Deployed> {
    let options = Options::defaults();
    let cannot = || format!("cannot serve {}", disk::shown(folder));
    let kind = disk::stat(folder).with_context(cannot)?.kind;
    anyhow::ensure!(kind == disk::Kind::Folder, "{}: not a folder", cannot());
    let (site, _) = site::read(folder, &options).with_context(cannot)?;
    let mut notes = Vec::new();
    let codings = Coded::ALL
        .into_iter()
        .filter(|coding| occurs(&site, *coding))
        .collect();
    let manifest::Manifest {
        immutable,
        links,
        cors,
    } = manifest::read(&site, &mut notes);
    let lookalikes = site
        .files
        .iter()
        .any(|file| carries_hash(&file.path) && !immutable.contains(strip_coding(&site, &file.path)));
    let mut compressible: Vec<String> = options.encode_types.clone();
    compressible.sort();
    let read = |name: &str| site.find(name.as_bytes()).and_then(|id| site.read(id).ok());
    let own_headers = read("_headers").unwrap_or_default();
    let own_headers = String::from_utf8_lossy(&own_headers).into_owned();
    // The manifest says it page by page, for servers that would try a rule for each of them.
    let other_headers = match links.is_empty() {
        true => own_headers.clone(),
        false => crate::headers::without_links(&own_headers),
    };
    let rules = rules::parse(&other_headers, &mut notes).with_cors(&cors);
    let indexes = INDEXES
        .into_iter()
        .filter(|name| site.files.iter().any(|file| file.path.name() == name.as_bytes()))
        .collect();
    let utf8 = charset::utf8(&site);
    Ok(Deployed {
        codings,
        types: types(&site, &utf8),
        foreign: foreign(&site, &options),
        lookalikes,
        immutable,
        compressible,
        utf8,
        error_page: site.find(ERROR_PAGE.as_bytes()).is_some(),
        indexes,
        links,
        cors,
        rules,
        own_headers,
        files: site.files.iter().map(|file| file.path.clone()).collect(),
        root: site.root,
        notes,
    })
}

impl Deployed {
    /// Whether the file is another one in a coding.
    pub fn is_variant(&self, path: &SitePath) -> bool {
        Coded::ALL.into_iter().any(|coding| {
            let plain = path.as_bytes().strip_suffix(coding.suffix().as_bytes());
            plain.is_some_and(|plain| self.files.contains(&SitePath::new(plain)))
        })
    }

    /// The `Link` headers of a page of the site that is mounted at `prefix`: none if they were made for
    /// another place, as a browser would load what is not there.
    pub fn links_of(&self, page: &SitePath, prefix: &str) -> &[String] {
        let is_there = |value: &String| {
            let target = manifest::target(value).unwrap_or_default();
            let elsewhere = target.starts_with("http:") || target.starts_with("https:");
            elsewhere
                || target
                    .strip_prefix(prefix)
                    .and_then(|path| crate::url::decoded_path(path.split('?').next().unwrap_or_default()))
                    .is_some_and(|path| self.files.contains(&SitePath::new(path)))
        };
        match self.links.get(page) {
            Some(values) if values.iter().all(is_there) => values,
            _ => &[],
        }
    }

    /// `Content-Type` of a file.
    pub fn content_type(&self, path: &SitePath) -> String {
        let known = self.types.get(&path.extension());
        known.map_or_else(|| media_type::UNKNOWN.to_string(), String::clone)
    }
}

/// Whether a site's own `Cache-Control` outweighs that a name is immutable: what shared caches or any must not keep.
pub fn keeps_away(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    value.contains("no-store") || value.contains("private")
}

/// What is sent for each extension. Behind that of a page may stand a language, as in `index.html.en`.
fn types(site: &Site, utf8: &BTreeSet<String>) -> BTreeMap<String, String> {
    let told = |extension: &str| match utf8.contains(extension) {
        true => format!("{}; charset=utf-8", media_type::of(extension)),
        false => media_type::of(extension).to_string(),
    };
    let mut types: BTreeMap<String, String> = media_type::TYPES
        .iter()
        .map(|(extension, _)| (extension.to_string(), told(extension)))
        .collect();
    for file in &site.files {
        let (last, kind) = (file.path.extension(), crate::media::type_extension(&file.path));
        // Only what every syntax takes as a word.
        if last != kind && last.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            types.entry(last).or_insert_with(|| told(&kind));
        }
    }
    types
}

/// Files with a neighbour `X.gz` that is none of their variants.
fn foreign(site: &Site, options: &Options) -> Vec<SitePath> {
    site.files
        .iter()
        .map(|file| &file.path)
        .filter(|path| !crate::variants::is_compressible(path, options))
        .filter(|path| {
            let mut variants = Coded::ALL
                .iter()
                .map(|c| [path.as_bytes(), c.suffix().as_bytes()].concat());
            variants.any(|variant| site.find(&variant).is_some())
        })
        .cloned()
        .collect()
}

/// Whether some file lies beside itself in this coding.
fn occurs(site: &Site, coding: Coded) -> bool {
    site.files
        .iter()
        .filter_map(|file| file.path.as_bytes().strip_suffix(coding.suffix().as_bytes()))
        .any(|plain| site.find(plain).is_some())
}

/// The path without the suffix of a coding, where the file in that coding is a variant.
fn strip_coding<'a>(site: &'a Site, path: &'a SitePath) -> &'a SitePath {
    Coded::ALL
        .into_iter()
        .filter_map(|coding| path.as_bytes().strip_suffix(coding.suffix().as_bytes()))
        .find_map(|plain| site.find(plain))
        .map_or(path, |id| &site.file(id).path)
}

/// Whether 16 hex digits in lower case stand between a `.` or `-` and a `.` that opens the extension: what
/// `IMMUTABLE_PATTERN` matches.
pub fn carries_hash(path: &SitePath) -> bool {
    let name = path.name();
    let Some(dot) = name.iter().rposition(|&b| b == b'.') else {
        return false;
    };
    let stem = &name[..dot];
    let Some(from) = stem.len().checked_sub(HASH_DIGITS) else {
        return false;
    };
    let hex = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    dot + 1 < name.len() && from > 0 && matches!(stem[from - 1], b'.' | b'-') && stem[from..].iter().all(hex)
}

/// `carries_hash` as a regular expression over the end of a path, in the part of the syntax that PCRE, RE2 and Lua's
/// authors would all read alike.
pub const IMMUTABLE_PATTERN: &str = r"[.-][0-9a-f]{16}\.[^/.]+$";

#[cfg(test)]
mod tests;
