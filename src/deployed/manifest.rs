//! `fewer-manifest.json` of the folder, as far as servers act on it: names that stand for their content, the
//! `Link` headers of pages, and types of files that pages of another host ask for.
//!
//! The folder may come from anywhere: what cannot be right, or could not be sent, is left out with a note.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{MANIFEST, carries_hash, rules};
use crate::site::{Site, SitePath};

/// What it says, checked.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) immutable: BTreeSet<SitePath>,
    pub(super) links: BTreeMap<SitePath, Vec<String>>,
    pub(super) cors: BTreeSet<String>,
}

/// Nothing is in it where there is none.
pub(super) fn read(site: &Site, notes: &mut Vec<String>) -> Manifest {
    let Some(id) = site.find(MANIFEST.as_bytes()) else {
        return Manifest::default();
    };
    let manifest = site
        .read(id)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .filter(|manifest| manifest["schema"] == 1 && manifest["immutable"].is_array());
    let Some(manifest) = manifest else {
        notes.push(format!(
            "{MANIFEST} is not a manifest of schema 1: no name is taken for immutable"
        ));
        return Manifest::default();
    };
    Manifest {
        immutable: immutable(site, &manifest, notes),
        links: links(site, &manifest, notes),
        cors: cors(&manifest),
    }
}

/// The names that are worth it: a wrong one would stay in caches for a year.
fn immutable(site: &Site, manifest: &Value, notes: &mut Vec<String>) -> BTreeSet<SitePath> {
    let mut names = BTreeSet::new();
    let mut refused = 0;
    for name in manifest["immutable"].as_array().into_iter().flatten() {
        match name.as_str().map(SitePath::new) {
            Some(path) if carries_hash(&path) && site.find(path.as_bytes()).is_some() => {
                names.insert(path);
            }
            _ => {
                refused += 1;
                if refused <= 5 {
                    let shown = SitePath::new(name.as_str().unwrap_or("a value that is no string"));
                    notes.push(format!(
                        "{MANIFEST} lists {shown}, which is missing or carries no hash: ignored"
                    ));
                }
            }
        }
    }
    if refused > 5 {
        notes.push(format!("{MANIFEST} lists {} more such names", refused - 5));
    }
    names
}

/// Values of `Link` by page. One that cannot be sent takes the page's others with it.
fn links(site: &Site, manifest: &Value, notes: &mut Vec<String>) -> BTreeMap<SitePath, Vec<String>> {
    let mut links = BTreeMap::new();
    let mut refused = 0;
    for (page, values) in manifest["link_headers"].as_object().into_iter().flatten() {
        let page = SitePath::new(page.as_str());
        let values: Option<Vec<String>> = values.as_array().and_then(|values| {
            let plain = |value: &Value| {
                let value = value.as_str()?;
                (target(value).is_some() && rules::refusal("Link", value).is_none())
                    .then(|| value.to_string())
            };
            values.iter().map(plain).collect()
        });
        match values {
            Some(values) if site.find(page.as_bytes()).is_some() => {
                if !values.is_empty() {
                    links.insert(page, values);
                }
            }
            _ => refused += 1,
        }
    }
    if refused > 0 {
        notes.push(format!(
            "{MANIFEST} has Link headers of {refused} pages that are missing or cannot be sent: ignored"
        ));
    }
    links
}

/// The address in a value: `/a.css` in `</a.css>; rel=preload`.
pub(super) fn target(value: &str) -> Option<&str> {
    value.strip_prefix('<')?.split_once('>').map(|(target, _)| target)
}

/// Extensions, as they are spelled.
fn cors(manifest: &Value) -> BTreeSet<String> {
    let is_word =
        |extension: &&str| !extension.is_empty() && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    let listed = manifest["cors"].as_array().into_iter().flatten();
    listed
        .filter_map(Value::as_str)
        .filter(is_word)
        .map(str::to_string)
        .collect()
}
