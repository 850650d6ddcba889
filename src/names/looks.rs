//! What the scripts of a site could notice of new names: which they look at, and which modules they may import.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::Ground;
use crate::graph;
use crate::media::Media;
use crate::parallel;
use crate::script;
use crate::site::{FileId, SitePath};

/// What one script or several look at.
#[derive(Debug, Clone, Default)]
pub(super) struct Look {
    pub(super) images: bool,
    pub(super) sheets: bool,
    pub(super) scripts: bool,
    /// Names of sheets, without folders; an empty one stands for any.
    pub(super) sheet_names: BTreeSet<String>,
}

impl Look {
    pub(super) fn add(&mut self, other: &Look) {
        self.images |= other.images;
        self.sheets |= other.sheets;
        self.scripts |= other.scripts;
        self.sheet_names.extend(other.sheet_names.iter().cloned());
    }
}

/// A script file.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) look: Look,
    /// It asks for its own address.
    pub(super) asks_itself: bool,
    /// Nothing but a module can be written so.
    is_module: bool,
    words: HashSet<u64>,
    imports_any: bool,
}

/// All scripts of the site.
#[derive(Debug, Default)]
pub(super) struct Looks {
    pub(super) codes: BTreeMap<FileId, Code>,
    /// What modules look at, wherever they are: a page names only the first of those it loads.
    pub(super) modules: Look,
}

/// Words of script texts, by hash.
#[derive(Debug, Default)]
pub(super) struct Imports {
    words: HashSet<u64>,
    any: bool,
}

pub(super) fn read(ground: Ground<'_>) -> anyhow::Result<Looks> {
    let site = ground.site;
    let files = site.files_of(Media::Script);
    let codes = parallel::map(&files, |&file| {
        let bytes = site.read(file)?;
        anyhow::Ok(code(&String::from_utf8_lossy(&bytes)))
    });
    let mut looks = Looks::default();
    for (file, code) in files.into_iter().zip(codes) {
        let code = code?;
        if code.is_module {
            looks.modules.add(&code.look);
        }
        looks.codes.insert(file, code);
    }
    Ok(looks)
}

fn code(text: &str) -> Code {
    let classic = script::read(text);
    let is_module = classic.unread;
    let facts = if is_module {
        script::read_module(text)
    } else {
        classic
    };
    Code {
        asks_itself: facts.inline.is_err(),
        look: look(facts),
        is_module,
        words: names(text).collect(),
        imports_any: imports_any(text),
    }
}

fn look(facts: script::Facts) -> Look {
    Look {
        images: facts.reads_images,
        sheets: facts.reads_sheets,
        scripts: facts.reads_scripts,
        sheet_names: facts.sheet_names,
    }
}

/// An inline script.
pub(super) fn inline(text: &str, is_module: bool) -> Look {
    look(if is_module {
        script::read_module(text)
    } else {
        script::read(&without_html_comments(text))
    })
}

/// The script without the lines that begin like a comment of HTML (ECMAScript, B.1.1).
fn without_html_comments(text: &str) -> String {
    let is_code = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with("<!--") && !line.starts_with("-->")
    };
    text.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

impl Imports {
    pub(super) fn of_files(looks: &Looks) -> Imports {
        let mut imports = Imports::default();
        for code in looks.codes.values() {
            imports.words.extend(code.words.iter());
            imports.any |= code.imports_any;
        }
        imports
    }

    /// Adds what an inline script or an import map says.
    pub(super) fn add(&mut self, other: &Inline) {
        self.words.extend(&other.words);
        self.any |= other.imports_any;
    }

    /// Some script may import this file.
    pub(super) fn may_import(&self, path: &SitePath) -> bool {
        let Ok(name) = std::str::from_utf8(path.name()) else {
            return true;
        };
        self.any || !name.chars().all(is_name) || self.words.contains(&graph::hash(name.as_bytes()))
    }
}

/// What the inline scripts of a page could import.
#[derive(Debug, Default)]
pub(super) struct Inline {
    words: Vec<u64>,
    imports_any: bool,
}

impl Inline {
    pub(super) fn add(&mut self, text: &str) {
        self.words.extend(names(text));
        self.imports_any |= imports_any(text);
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | '$' | '@')
}

/// Hashes of what could be the name of a file.
fn names(text: &str) -> impl Iterator<Item = u64> {
    text.split(|c: char| !is_name(c))
        .filter(|word| word.len() > 2 && word.contains('.'))
        .map(|word| graph::hash(word.as_bytes()))
}

/// Some `import()` takes its address from elsewhere.
fn imports_any(text: &str) -> bool {
    text.match_indices("import").any(|(at, word)| {
        let rest = text[at + word.len()..].trim_start();
        let inner = rest.strip_prefix('(').map(str::trim_start);
        inner.is_some_and(|inner| !inner.starts_with(['"', '\'']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_of_anything() {
        let check = |text: &str, expected: bool| assert_eq!(imports_any(text), expected, "{text}");
        check("import a from './a.js'", false);
        check("import('./a.js')", false);
        check("import ( \"./a.js\" )", false);
        check("import(name)", true);
        check("import(`./${x}.js`)", true);
    }

    #[test]
    fn a_module_may_be_imported_by_its_name() {
        let mut imports = Imports::default();
        let mut inline = Inline::default();
        inline.add("import {a} from \"/js/lib.min.js\"");
        imports.add(&inline);
        assert!(imports.may_import(&SitePath::new("js/lib.min.js")));
        assert!(!imports.may_import(&SitePath::new("js/other.js")));
    }
}
