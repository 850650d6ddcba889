//! The scripts of a site, read once: what each looks at that passes change, and which of them a page may run.
//!
//! A page runs what it asks for, what stands in it, and what these load under a name that they put together. A
//! document in a frame may reach for the page that holds it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::BitOrAssign;
use std::sync::Arc;

use super::Context;
use super::survey::Found;
use crate::graph::{self, Destination};
use crate::media::Media;
use crate::parallel;
use crate::script;
use crate::site::{FileId, Site};

/// A script file.
#[derive(Debug)]
pub(super) struct Code {
    /// `None` if it is no UTF-8.
    pub(super) text: Option<Arc<str>>,
    pub(super) facts: script::Facts,
    /// Hashes of all words in it: names that it may look for.
    words: HashSet<u64>,
    sets_urls: bool,
    reaches_out: bool,
    loads: bool,
}

/// What is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Looks {
    pub(super) sheets: bool,
    pub(super) images: bool,
    pub(super) scripts: bool,
}

impl Looks {
    const ALL: Looks = Looks {
        sheets: true,
        images: true,
        scripts: true,
    };

    fn of(facts: &script::Facts) -> Looks {
        Looks {
            sheets: facts.reads_sheets,
            images: facts.reads_images,
            scripts: facts.reads_scripts,
        }
    }
}

impl BitOrAssign for Looks {
    fn bitor_assign(&mut self, more: Looks) {
        self.sheets |= more.sheets;
        self.images |= more.images;
        self.scripts |= more.scripts;
    }
}

/// Everything that is known of a site's scripts.
#[derive(Debug)]
pub(super) struct Codes {
    files: BTreeMap<FileId, Code>,
    /// Scripts that no page asks for: the words of their names, as hashes, and what they look at.
    loose: Vec<(Vec<u64>, Looks)>,
    /// Documents in frames that may look at the page which holds them.
    reaching: BTreeSet<u32>,
}

/// What the scripts of one page do.
#[derive(Debug, Default)]
pub(super) struct Page<'a> {
    /// Those that it asks for.
    files: Vec<&'a Code>,
    pub(super) looks: Looks,
    /// Names of stylesheets in their texts; an empty one stands for any.
    pub(super) sheet_names: BTreeSet<String>,
    /// Names that they declare by `let`, `const` and `class`.
    pub(super) lexical: BTreeSet<String>,
    /// The names of some script are not known.
    pub(super) unread: bool,
    /// With `--combine-scripts`: names that inline scripts take from outside, with the place of each.
    pub(super) outer: Vec<(u32, HashSet<u64>)>,
    pub(super) sets_urls: bool,
}

impl Codes {
    pub(super) fn read(context: &Context<'_>) -> anyhow::Result<Codes> {
        let files = read_files(context.site)?;
        let mut codes = Codes {
            loose: loose(context, &files),
            files,
            reaching: BTreeSet::new(),
        };
        let framed: Vec<u32> = context.relations.framed.iter().copied().collect();
        let reaches = parallel::map(&framed, |&page| {
            let file = context.graph.pages[page as usize].file;
            let own = reaches_out(&context.site.read(file)?);
            anyhow::Ok(own || codes.asked_for(context, page).any(|code| code.reaches_out))
        });
        let mut reaching = BTreeSet::new();
        for (page, reaches) in framed.into_iter().zip(reaches) {
            if reaches? {
                reaching.insert(page);
            }
        }
        codes.reaching = reaching;
        Ok(codes)
    }

    pub(super) fn get(&self, file: FileId) -> Option<&Code> {
        self.files.get(&file)
    }

    /// The scripts that a page asks for.
    fn asked_for(&self, context: &Context<'_>, page: u32) -> impl Iterator<Item = &Code> {
        let graph = context.graph;
        let requests = graph.pages[page as usize].requests.iter();
        requests.filter_map(|request| match graph.addresses[request.address as usize].to {
            Destination::File(file) => self.files.get(&file),
            _ => None,
        })
    }

    pub(super) fn of_page(&self, context: &Context<'_>, page: u32, found: &Found) -> Page<'_> {
        let mut all = Page {
            files: self.asked_for(context, page).collect(),
            ..Page::default()
        };
        let mut loaders: Vec<&HashSet<u64>> = Vec::new();
        for code in &all.files {
            all.looks |= Looks::of(&code.facts);
            all.sheet_names.extend(code.facts.sheet_names.iter().cloned());
            all.lexical.extend(code.facts.lexical.iter().cloned());
            all.unread |= code.facts.unread;
            all.sets_urls |= code.sets_urls;
            if code.loads {
                loaders.push(&code.words);
            }
        }
        let mut own_words = HashSet::new();
        for (text, &at) in found.inline.iter().zip(&found.inline_at) {
            let facts = script::read(&without_html_comments(text));
            all.looks |= Looks::of(&facts);
            all.sheet_names.extend(facts.sheet_names);
            all.lexical.extend(facts.lexical);
            all.unread |= facts.unread;
            all.sets_urls |= sets_urls(text);
            if context.options.combine_scripts {
                all.outer.push((at, facts.outer));
            }
            if !self.loose.is_empty() && loads(text) {
                own_words.extend(hashes(text));
            }
        }
        loaders.push(&own_words);
        for (name, looks) in &self.loose {
            let knows = |words: &&HashSet<u64>| name.iter().all(|word| words.contains(word));
            if loaders.iter().any(knows) {
                all.looks |= *looks;
            }
        }
        let mut framed = context.relations.documents[page as usize].iter();
        if framed.any(|document| *document != page && self.reaching.contains(document)) {
            all.looks |= Looks::ALL;
        }
        all
    }
}

impl Page<'_> {
    /// A script may look for this name.
    pub(super) fn know(&self, name: &str, found: &Found) -> bool {
        let is_word = |code: &&Code| words(name).any(|word| code.words.contains(&hash(word)));
        self.files.iter().any(is_word) || found.inline.iter().any(|text| text.contains(name))
    }
}

fn read_files(site: &Site) -> anyhow::Result<BTreeMap<FileId, Code>> {
    let ids = site.files_of(Media::Script);
    let read = parallel::map(&ids, |&id| {
        let bytes = site.read(id)?;
        let text = std::str::from_utf8(&bytes).ok();
        // In other encodings all that is syntax reads the same.
        let readable = text.map_or_else(
            || encoding_rs::WINDOWS_1252.decode_without_bom_handling(&bytes).0,
            Into::into,
        );
        anyhow::Ok(Code {
            words: hashes(&readable).collect(),
            sets_urls: sets_urls(&readable),
            reaches_out: reaches_out(&bytes),
            loads: loads(&readable),
            text: text.map(Arc::from),
            facts: script::read(&readable),
        })
    });
    ids.into_iter()
        .zip(read)
        .map(|(id, code)| Ok((id, code?)))
        .collect()
}

/// Those that look at something. A module is read as one.
fn loose(context: &Context<'_>, files: &BTreeMap<FileId, Code>) -> Vec<(Vec<u64>, Looks)> {
    let graph = context.graph;
    let loose: Vec<(FileId, &Code)> = files
        .iter()
        .filter(|(file, _)| graph.addresses_of(**file).is_empty())
        .map(|(file, code)| (*file, code))
        .collect();
    let read = parallel::map(&loose, |(file, code)| {
        let module = code.text.as_deref().filter(|_| code.facts.unread);
        let module = module.map(script::read_module);
        let name = String::from_utf8_lossy(context.site.file(*file).path.name()).into_owned();
        let said = words(&name).filter(|word| !matches!(*word, "js" | "mjs" | "min"));
        let said: Vec<u64> = said.map(hash).collect();
        (said, Looks::of(module.as_ref().unwrap_or(&code.facts)))
    });
    // A name without words of its own tells nothing.
    let tells = |(name, looks): &(Vec<u64>, Looks)| !name.is_empty() && *looks != Looks::default();
    read.into_iter().filter(tells).collect()
}

/// Letters, digits, `-` and `_` in a row.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))
        .filter(|word| !word.is_empty())
}

fn hash(word: &str) -> u64 {
    graph::hash(word.as_bytes())
}

fn hashes(text: &str) -> impl Iterator<Item = u64> {
    words(text).map(hash)
}

/// A script that may load others. What jQuery makes itself, it is told by those that use it.
fn loads(script: &str) -> bool {
    let makes = script.contains("createElement") && script.contains("script");
    let library = script.contains("jQuery.fn") || script.contains("jQuery v");
    (makes && !library) || script.contains("getScript(") || script.contains("import(")
}

/// A document or script that may look at the page which holds it in a frame.
fn reaches_out(text: &[u8]) -> bool {
    let ways: [&[u8]; 5] = [b"parent.", b"parent[", b"top.", b"top[", b"frameElement"];
    ways.iter().any(|way| memchr::memmem::find(text, way).is_some())
}

/// A script that may give a custom property an address.
fn sets_urls(script: &str) -> bool {
    script.contains("url(") && (script.contains("--") || script.contains("setProperty"))
}

/// The script without the lines that begin like a comment of HTML, which are comments of JavaScript too
/// (ECMAScript, B.1.1): `<!--` around inline scripts is as old as they are.
fn without_html_comments(script: &str) -> String {
    let is_code = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with("<!--") && !line.starts_with("-->")
    };
    let lines: Vec<&str> = script.lines().filter(is_code).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaders_are_told_from_libraries() {
        let own = "var s=document.createElement('script');s.src='/js/'+name;head.appendChild(s)";
        assert!(loads(own));
        assert!(loads("$.getScript('a')"));
        assert!(loads("import('./'+name).then(f)"));
        assert!(!loads(&format!("/*! jQuery v3.1.1 */{own}")));
        assert!(!loads("document.createElement('p')"));
    }

    #[test]
    fn ways_out_of_a_frame() {
        for text in [
            "parent.document",
            "top['a']",
            "if(window.frameElement)f()",
            "window.top.x",
        ] {
            assert!(reaches_out(text.as_bytes()), "{text}");
        }
        for text in ["parents", "a.parentNode", "topmost"] {
            assert!(!reaches_out(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn words_of_names() {
        assert_eq!(
            words("theme-a.min.js").collect::<Vec<_>>(),
            ["theme-a", "min", "js"]
        );
    }
}
