//! `fewer-manifest.json` in OUT: which file of SITE pages ask for under which name, and which names are hashes of what
//! stands there, so that a server may let them be kept for ever.
//!
//! Written whenever a file has such a name; read again by the next build (`--keep-previous`, or OUT as SITE). No page
//! asks for it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::site::{Site, SitePath};

/// Its place in OUT.
pub(crate) const NAME: &str = "fewer-manifest.json";

/// The number of the format; it changes when a reader of the old one would break.
const SCHEMA: u32 = 1;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// Old name to new name.
    pub(crate) files: BTreeMap<SitePath, SitePath>,
    /// Paths whose name holds the hash of the bytes.
    pub(crate) immutable: BTreeSet<SitePath>,
    /// By page: values of `Link` headers.
    pub(crate) link_headers: BTreeMap<SitePath, Vec<String>>,
    /// `--cdn-cors`: extensions of the files that pages ask for on the other host.
    pub(crate) cors: BTreeSet<String>,
}

#[derive(Serialize, Deserialize)]
struct Json {
    schema: u32,
    files: BTreeMap<String, String>,
    immutable: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    link_headers: BTreeMap<String, Vec<String>>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    cors: BTreeSet<String>,
}

impl Manifest {
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
            && self.immutable.is_empty()
            && self.link_headers.is_empty()
            && self.cors.is_empty()
    }

    /// Names that are no UTF-8 cannot stand in JSON; they are left out.
    pub(crate) fn print(&self) -> anyhow::Result<Vec<u8>> {
        let text = |path: &SitePath| String::from_utf8(path.as_bytes().to_vec()).ok();
        let pair = |(old, new): (&SitePath, &SitePath)| Some((text(old)?, text(new)?));
        let json = Json {
            schema: SCHEMA,
            files: self.files.iter().filter_map(pair).collect(),
            immutable: self.immutable.iter().filter_map(text).collect(),
            link_headers: self
                .link_headers
                .iter()
                .filter_map(|(page, links)| Some((text(page)?, links.clone())))
                .collect(),
            cors: self.cors.clone(),
        };
        let mut bytes = serde_json::to_vec_pretty(&json)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// `None` for what is no manifest of ours. Paths that lead elsewhere are left out: the file may come from anywhere.
pub(crate) fn read(bytes: &[u8]) -> Option<Manifest> {
    let json: Json = serde_json::from_slice(bytes).ok()?;
    let path = |text: String| is_plain(&text).then(|| SitePath::new(text));
    (json.schema == SCHEMA).then(|| Manifest {
        files: json
            .files
            .into_iter()
            .filter_map(|(old, new)| Some((path(old)?, path(new)?)))
            .collect(),
        immutable: json.immutable.into_iter().filter_map(path).collect(),
        link_headers: BTreeMap::new(),
        cors: json.cors,
    })
}

/// That of a SITE which is an earlier OUT.
pub(crate) fn of_site(site: &Site) -> anyhow::Result<Option<Manifest>> {
    match site.find(NAME.as_bytes()) {
        Some(file) => Ok(read(&site.read(file)?)),
        None => Ok(None),
    }
}

/// A path below a root, with nothing in it that a file system reads otherwise.
fn is_plain(path: &str) -> bool {
    path.split('/')
        .all(|segment| !matches!(segment, "" | "." | "..") && !segment.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let path = |text: &str| SitePath::new(text);
        let manifest = Manifest {
            files: BTreeMap::from([(path("a.css"), path("a.0123456789abcdef.css"))]),
            immutable: BTreeSet::from([
                path("a.0123456789abcdef.css"),
                path("x y/\u{e9}.ffffffffffffffff.png"),
            ]),
            link_headers: BTreeMap::new(),
            cors: BTreeSet::from(["woff2".to_string()]),
        };
        assert_eq!(read(&manifest.print().unwrap()), Some(manifest));
    }

    #[test]
    fn paths_that_lead_elsewhere_are_left_out() {
        let text = br#"{"schema":1,"files":{"../a":"b","c":"/d"},"immutable":["../../etc/passwd","/etc/passwd","a//b","./a",".","a/../b","ok/a.css"]}"#;
        let read = read(text).unwrap();
        assert!(read.files.is_empty());
        assert_eq!(read.immutable, BTreeSet::from([SitePath::new("ok/a.css")]));
    }

    #[test]
    fn other_json_is_no_manifest() {
        for text in ["", "{}", "[]", r#"{"schema":2,"files":{},"immutable":[]}"#] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }
}
