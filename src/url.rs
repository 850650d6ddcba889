//! The only place that turns a reference into a file and a file into a reference (WHATWG URL).
//!
//! In: a reference as the markup or the sheet spells it, and the base it stands in. Out: a `Target`; or, the other
//! way round, the spelling of a reference to a file. Parsing is left to the `url` crate, over an invented origin
//! when nobody says where the site lives. Path segments are decoded one at a time and never joined into something
//! that leads out of the site. Nothing here touches the file system: a file exists when `Site` lists it, and names
//! are compared byte for byte, never folded in case.

mod spell;

pub use spell::{
    absolute, address, at_home, encode_path, has_origin, name, on_host, opened, relative,
    relative_to_address, relative_to_base, whole,
};

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use ::url::{Position, Url};

use crate::site::{FileId, Site, SitePath};

/// Stands for the origin when `--base-url` is not given. `.invalid` never resolves (RFC 6761, section 6.4).
const INVENTED_HOST: &str = "fewer.invalid";

/// Index pages in the order in which servers look for them.
const INDEX_NAMES: [&str; 3] = ["index.html", "index.htm", "index.xhtml"];

/// What a relative reference resolves against.
#[derive(Debug, Clone)]
pub struct Base {
    url: Url,
    /// The URL of the document or the sheet itself, which a lone fragment is compared with.
    document: Url,
}

/// Where the site lives: an invented origin at `/`, or what `--base-url` says.
#[derive(Debug, Clone)]
pub struct Mount {
    /// The path ends in `/`; no query, no fragment, no credentials.
    root: Url,
    /// The origin is made up: an absolute URL never means this site.
    invented: bool,
    /// `root`'s path decoded, without its first `/`.
    folder: Vec<u8>,
    /// Another host that serves some of the files.
    mirror: Option<Mirror>,
}

/// Another host that serves these files of the site, at the same paths below its root. An address there means the
/// same as the one on the site's own host: pages ask for each such file there and nowhere else.
#[derive(Debug, Clone)]
pub struct Mirror {
    pub root: String,
    pub files: Arc<BTreeSet<SitePath>>,
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

impl Base {
    /// A `<base href>` made it another URL than the document's own: `relative` does not apply.
    pub fn is_moved(&self) -> bool {
        self.url[..Position::AfterQuery] != self.document[..Position::AfterQuery]
    }
}

/// `base_url` is where the site will be served, `https://example.org/sub/`; a missing last `/` is added.
pub fn mount(base_url: Option<&str>) -> anyhow::Result<Mount> {
    let (text, invented) = match base_url {
        Some(text) => (text.to_string(), false),
        None => (format!("http://{INVENTED_HOST}/"), true),
    };
    let mut root =
        Url::parse(&text).map_err(|error| anyhow::anyhow!("cannot read base URL {text:?}: {error}"))?;
    anyhow::ensure!(
        matches!(root.scheme(), "http" | "https"),
        "base URL {text:?} must begin with http:// or https://"
    );
    anyhow::ensure!(
        root.query().is_none() && root.fragment().is_none(),
        "base URL {text:?} must not have a query or a fragment"
    );
    anyhow::ensure!(
        root.username().is_empty() && root.password().is_none(),
        "base URL {text:?} must not have a user name or a password"
    );
    if !root.path().ends_with('/') {
        let path = format!("{}/", root.path());
        root.set_path(&path);
    }
    let Some(folder) = decoded_path(root.path()) else {
        anyhow::bail!("base URL {text:?} must not have %2F, %5C or %00 in its path");
    };
    Ok(Mount {
        root,
        invented,
        folder,
        mirror: None,
    })
}

/// The address that everything on another host stands below; it ends in `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(String);

impl Root {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reads the address of another host, `https://cdn.example.com/x/`; a missing last `/` is added.
pub fn root(text: &str) -> anyhow::Result<Root> {
    match mount(Some(text)) {
        Ok(mount) => Ok(Root(mount.root.into())),
        Err(error) => Err(anyhow::anyhow!(
            format!("{error:#}")
                .replace("base URL", "host")
                .replacen("cannot read", "cannot read the", 1)
        )),
    }
}

impl Mount {
    /// The same place, and another host beside it.
    pub fn with_mirror(mut self, mirror: Option<Mirror>) -> Mount {
        self.mirror = mirror;
        self
    }

    /// The whole URL of the site's root; on an invented host where nobody says another one.
    pub fn home(&self) -> String {
        self.root.to_string()
    }

    /// The path of the site's root on its server: `/`, or `/sub/`.
    pub fn path(&self) -> &str {
        self.root.path()
    }
}

/// The base of a file's own references, before any `<base href>`.
pub fn base(mount: &Mount, file: &SitePath) -> Base {
    let mut url = mount.root.clone();
    url.set_path(&absolute(mount, file));
    Base {
        document: url.clone(),
        url,
    }
}

/// The document base URL after the first `<base href>` of a page, as the HTML standard says (section 2.4.3):
/// resolved against the document's own URL; `data:`, `javascript:` and what does not parse change nothing.
pub fn with_base_element(base: &Base, href: &str) -> Base {
    let url = match join(&base.document, &cleaned(href)) {
        Ok(url) if !matches!(url.scheme(), "data" | "javascript") => url,
        Err(Unjoined::LocalFile) => Url::parse("about:invalid").unwrap_or_else(|_| base.document.clone()),
        _ => base.document.clone(),
    };
    Base {
        url,
        document: base.document.clone(),
    }
}

/// What `raw` means at `base`. Fragments are given percent-encoded, as the URL serializer writes them.
///
/// A `url(#x)` of CSS is always local (CSS Values 4, section 4.5.1), whatever `<base>` says; ask before calling.
/// An `http:` twin of an `https:` base URL is External: it is another origin, the browser blocks or upgrades it,
/// and nothing says that the same files answer there.
pub fn resolve(site: &Site, mount: &Mount, base: &Base, raw: &str) -> Target {
    // Chromium requests nothing for `src=" "`.
    let raw = cleaned(raw);
    let raw = raw.as_ref();
    if raw.is_empty() {
        return Target::Nothing;
    }
    // Data URLs can be megabytes: not worth a copy.
    if has_scheme(raw, "data:") {
        return Target::Inline;
    }
    let url = match join(&base.url, raw) {
        Ok(url) => url,
        Err(Unjoined::LocalFile) => return Target::Inline,
        Err(Unjoined::Unparsed) => return Target::Nothing,
    };
    if raw.starts_with('#') && url[..Position::AfterQuery] == base.document[..Position::AfterQuery] {
        return Target::Fragment(url.fragment().unwrap_or_default().to_string());
    }
    if let Some(found) = in_mirror(site, mount, &url) {
        return found;
    }
    let here = url[..Position::BeforePath] == mount.root[..Position::BeforePath];
    if !here || mount.invented && names_invented_host(raw) {
        return match url.scheme() {
            "http" | "https" | "ws" | "wss" | "ftp" => Target::External(url.into()),
            _ => Target::Inline,
        };
    }
    let Some(path) = decoded_path(url.path()) else {
        return Target::Refused;
    };
    let address = url[Position::BeforePath..Position::AfterQuery].to_string();
    let fragment = url.fragment().map(str::to_string);
    if let Some(inside) = path.strip_prefix(mount.folder.as_slice()) {
        return look_up(site, inside, address, fragment);
    }
    if mount.folder.strip_suffix(b"/") == Some(&path)
        && let Some(file) = index_of(site, b"")
    {
        return Target::Redirect {
            file,
            address,
            fragment,
        };
    }
    Target::External(url.into())
}

/// What an address on the other host means, if it is one of a file that is asked for there.
fn in_mirror(site: &Site, mount: &Mount, url: &Url) -> Option<Target> {
    let mirror = mount.mirror.as_ref()?;
    let rest = url[..Position::AfterQuery].strip_prefix(&mirror.root)?;
    let path = &rest[..rest.find('?').unwrap_or(rest.len())];
    let path = SitePath::new(decoded_path(&format!("/{path}"))?);
    let file = site
        .find(path.as_bytes())
        .filter(|_| mirror.files.contains(&path))?;
    Some(Target::File {
        file,
        address: format!("{}{rest}", mount.path()),
        fragment: url.fragment().map(str::to_string),
    })
}

/// How a reference leads out of the site, where `resolve` only tells what a browser makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// More `..` than folders: browsers stop at the root of the host.
    Climbs,
    /// A disk: `file:`, or a drive letter.
    Disk,
}

/// Whether `raw` at `base` leads above the root of the site, or to a disk.
pub fn outside(mount: &Mount, base: &Base, raw: &str) -> Option<Outside> {
    let raw = cleaned(raw);
    let is_drive = |b: &[u8]| matches!(b, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    if has_scheme(&raw, "file:") || is_drive(raw.as_bytes()) {
        return Some(Outside::Disk);
    }
    let path = &raw[..raw.find(['?', '#']).unwrap_or(raw.len())];
    let here = base.url[..Position::BeforePath] == mount.root[..Position::BeforePath];
    let relative = !path.starts_with(['/', '\\']) && !path.split(['/', '\\']).next()?.contains(':');
    let folders = base
        .url
        .path()
        .strip_prefix(mount.root.path())
        .filter(|_| here && relative)?;
    let mut depth = folders.matches('/').count();
    for segment in path.split(['/', '\\']) {
        match segment.to_ascii_lowercase().replace("%2e", ".").as_str() {
            ".." if depth == 0 => return Some(Outside::Climbs),
            ".." => depth -= 1,
            "." => {}
            _ => depth += 1,
        }
    }
    None
}

/// URL standard, section 4.4: C0 controls and spaces at the ends, tabs and line breaks anywhere are as if absent.
fn cleaned(raw: &str) -> Cow<'_, str> {
    let raw = raw.trim_matches(|c: char| c <= ' ');
    if has_scheme(raw, "data:") || !raw.contains(['\t', '\n', '\r']) {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(raw.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect())
}

fn has_scheme(raw: &str, scheme: &str) -> bool {
    raw.get(..scheme.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

enum Unjoined {
    Unparsed,
    /// `file:` leads nowhere on a server; url 2.5.8 has a debug assertion that some of its paths break.
    LocalFile,
}

/// `Url::join` as the standard has it. url 2.5.8 spares a segment like `c:` or `c|` from `..` under every scheme,
/// where the standard does so for `file:` alone; such segments are hidden from it.
fn join(base: &Url, raw: &str) -> Result<Url, Unjoined> {
    if has_scheme(raw, "file:") {
        return Err(Unjoined::LocalFile);
    }
    // More than two slashes in front of a host are as two (URL standard, "special authority ignore slashes state");
    // url 2.5.8 has no host then.
    let slashes = raw.bytes().take_while(|b| matches!(b, b'/' | b'\\')).count();
    let raw = if base.is_special() {
        &raw[slashes.saturating_sub(2)..]
    } else {
        raw
    };
    let url = base.join(raw).map_err(|_| Unjoined::Unparsed)?;
    if !matches!(url.scheme(), "http" | "https") || !url.path().split('/').any(is_drive) {
        return Ok(url);
    }
    let path_end = raw.find(['?', '#']).unwrap_or(raw.len());
    let mut hidden = base.clone();
    hidden.set_path(&hide_drives(base.path()));
    let raw = hide_drives(&raw[..path_end]) + &raw[path_end..];
    let mut url = hidden.join(&raw).map_err(|_| Unjoined::Unparsed)?;
    let path = show_drives(url.path());
    url.set_path(&path);
    Ok(url)
}

fn is_drive(segment: &str) -> bool {
    matches!(segment.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

fn hide_drives(path: &str) -> String {
    let hide = |(i, piece): (usize, &str)| {
        let segment = piece.trim_end_matches(['/', '\\']);
        // A reference that starts with `c:` has the scheme `c`.
        if is_drive(segment) && (i > 0 || segment.ends_with('|')) {
            let sign = if segment.ends_with(':') { "%3A" } else { "%7C" };
            format!("{}{sign}{}", &segment[..1], &piece[2..])
        } else {
            piece.to_string()
        }
    };
    path.split_inclusive(['/', '\\']).enumerate().map(hide).collect()
}

fn show_drives(path: &str) -> String {
    let show = |segment: &str| match segment.as_bytes() {
        [letter, b'%', b'3', b'A'] if letter.is_ascii_alphabetic() => format!("{}:", &segment[..1]),
        [letter, b'%', b'7', b'C'] if letter.is_ascii_alphabetic() => format!("{}|", &segment[..1]),
        _ => segment.to_string(),
    };
    path.split('/').map(show).collect::<Vec<_>>().join("/")
}

/// Finds the file at a decoded path below the root.
fn look_up(site: &Site, path: &[u8], address: String, fragment: Option<String>) -> Target {
    if path.is_empty() || path.ends_with(b"/") {
        return match index_of(site, path) {
            Some(file) => Target::File {
                file,
                address,
                fragment,
            },
            None => Target::Missing {
                path: SitePath::new(path),
                address,
            },
        };
    }
    if let Some(file) = site.find(path) {
        return Target::File {
            file,
            address,
            fragment,
        };
    }
    if let Some(file) = index_of(site, &[path, b"/"].concat()) {
        return Target::Redirect {
            file,
            address,
            fragment,
        };
    }
    // Clean URLs: nginx `try_files $uri.html`, Netlify, GitHub Pages and Cloudflare Pages all do it.
    match site.find(&[path, b".html"].concat()) {
        Some(file) => Target::File {
            file,
            address,
            fragment,
        },
        None => Target::Missing {
            path: SitePath::new(path),
            address,
        },
    }
}

/// The index page of a folder, given with its `/` at the end (empty is the root).
fn index_of(site: &Site, folder: &[u8]) -> Option<FileId> {
    INDEX_NAMES
        .iter()
        .find_map(|name| site.find(&[folder, name.as_bytes()].concat()))
}

/// A site that really says `//fewer.invalid/` means another host.
fn names_invented_host(raw: &str) -> bool {
    raw.to_ascii_lowercase().contains(INVENTED_HOST)
}

/// A serialized path (`/a/b%20c`) without its first `/`, each segment decoded by itself (URL standard, section 1.3: a
/// `%` without two hex digits stays). `None` where a segment, once decoded, would mean another path to the file
/// system than to the URL parser.
pub(crate) fn decoded_path(path: &str) -> Option<Vec<u8>> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let mut out = Vec::with_capacity(path.len());
    for (i, segment) in path.split('/').enumerate() {
        if i > 0 {
            out.push(b'/');
        }
        let start = out.len();
        let mut rest = segment.as_bytes();
        while let Some((&byte, tail)) = rest.split_first() {
            if let (b'%', [high, low, after @ ..]) = (byte, tail)
                && let (Some(high), Some(low)) = (hex_digit(*high), hex_digit(*low))
            {
                out.push(high << 4 | low);
                rest = after;
            } else {
                out.push(byte);
                rest = tail;
            }
        }
        let decoded = &out[start..];
        if matches!(decoded, b"." | b"..") || decoded.iter().any(|b| matches!(b, b'/' | b'\\' | 0)) {
            return None;
        }
    }
    Some(out)
}

/// Every `%` of an address stands before two hex digits. The URL standard lets others pass, but servers differ: some
/// refuse the request, some look for a file with that name.
pub fn is_unambiguous(address: &str) -> bool {
    address
        .split('%')
        .skip(1)
        .all(|rest| rest.len() >= 2 && rest.bytes().take(2).all(|b| b.is_ascii_hexdigit()))
}

fn hex_digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests;
