//! The name that was most likely meant where a reference leads to no file.
//!
//! In: the diagnostics about missing files. Out: the same with the nearest existing name in their message, and with
//! another code where a file differs in the case of letters alone. Nothing is read. An index answers most questions;
//! names are compared letter by letter only within one folder, and so many times in all.

use std::collections::HashMap;

use crate::diagnostic::{Code, Diagnostic};
use crate::nearest::nearest;
use crate::site::{FileId, Site, SitePath};

/// Names that are compared letter by letter for a whole site: a second's work.
const COMPARISONS: usize = 1_000_000;
/// Folders with more names are not looked through.
const FOLDER: usize = 5_000;

pub(crate) fn names(site: &Site, diagnostics: &mut [Diagnostic]) {
    let is_about_names = |d: &&mut Diagnostic| d.code == Code::MissingFile && d.missing.is_some();
    let mut index: Option<Index<'_>> = None;
    let mut known: HashMap<SitePath, Option<Near>> = HashMap::new();
    for diagnostic in diagnostics.iter_mut().filter(is_about_names) {
        let Some(missing) = diagnostic.missing.clone() else {
            continue;
        };
        let index = index.get_or_insert_with(|| Index::new(site));
        let near = known
            .entry(missing)
            .or_insert_with_key(|missing| index.near(site, missing));
        match near {
            Some(Near::Case(path)) => {
                diagnostic.code = Code::WrongCase;
                diagnostic.message.push_str(&format!(", {path} does"));
            }
            Some(Near::Name(path)) => diagnostic.message.push_str(&format!(", the nearest is {path}")),
            None => {}
        }
    }
}

enum Near {
    /// The same but for the case of letters.
    Case(SitePath),
    Name(SitePath),
}

struct Index<'a> {
    /// By path in lower case.
    paths: HashMap<String, FileId>,
    /// By name in lower case: the only file of that name, or `None` for several.
    names: HashMap<String, Option<FileId>>,
    /// By folder: the names in it.
    folders: HashMap<&'a [u8], Vec<&'a str>>,
    comparisons: usize,
}

impl<'a> Index<'a> {
    fn new(site: &'a Site) -> Index<'a> {
        let mut index = Index {
            paths: HashMap::new(),
            names: HashMap::new(),
            folders: HashMap::new(),
            comparisons: 0,
        };
        for (id, file) in site.files.iter().enumerate() {
            let id = FileId(id as u32);
            if file.variant_of.is_some() {
                continue;
            }
            index.paths.entry(lower(file.path.as_bytes())).or_insert(id);
            let only = index.names.entry(lower(file.path.name())).or_insert(Some(id));
            *only = only.filter(|other| *other == id);
            if let Ok(name) = std::str::from_utf8(file.path.name()) {
                index.folders.entry(file.path.folder()).or_default().push(name);
            }
        }
        index
    }

    fn near(&mut self, site: &Site, missing: &SitePath) -> Option<Near> {
        let path = |id: FileId| site.file(id).path.clone();
        let folded = lower(missing.as_bytes());
        let folder = folded.trim_end_matches('/');
        let same = [
            folded.clone(),
            format!("{folder}/index.html"),
            format!("{folder}/index.htm"),
        ];
        if let Some(&id) = same.iter().find_map(|name| self.paths.get(name)) {
            let found = path(id);
            // The folder itself may be right and only its index page be missing under that very name.
            if found.as_bytes() != missing.as_bytes() {
                return Some(Near::Case(found));
            }
        }
        let name = String::from_utf8_lossy(missing.name()).into_owned();
        if let Some(names) = self.folders.get(missing.folder())
            && names.len() <= FOLDER
            && self.comparisons + names.len() <= COMPARISONS
        {
            self.comparisons += names.len();
            if let Some(near) = nearest(&name, names.iter().copied(), 1).first() {
                return Some(Near::Name(SitePath::new(
                    [missing.folder(), near.as_bytes()].concat(),
                )));
            }
        }
        // The same name elsewhere, unless every folder has one.
        match self.names.get(&name.to_lowercase()) {
            Some(&Some(id)) if !name.is_empty() => Some(Near::Name(path(id))),
            _ => None,
        }
    }
}

/// Letters outside ASCII too: file systems that ignore case ignore theirs.
fn lower(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).to_lowercase()
}
