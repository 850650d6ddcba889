//! What earlier builds read in pages: the same bytes in the same circumstances say the same.
//!
//! The facts of a page rest on its bytes and on everything that `page::read` is given besides: the list of files, the
//! stylesheets, the headers that the host adds, some of the options, and this program. All of that is in the name
//! under which they are kept. Pages for which other files were read too are read anew each time.

use std::sync::OnceLock;

use super::page::{self, Context, Facts};
use crate::cache::{self, Cache};
use crate::site::FileId;
use crate::{disk, parallel};

/// Finds facts that were kept, and keeps those that are read.
pub(super) struct Kept<'a> {
    cache: &'a Cache,
    /// `None` where nothing is kept.
    circumstances: Option<cache::Hash>,
}

/// What is kept of a page: the hash of its bytes, and its facts; none of a page that rests on more than that.
type Entry<'a> = (cache::Hash, &'a [u8]);
type New = Option<(cache::Hash, Vec<u8>)>;

impl<'a> Kept<'a> {
    pub(super) fn new(context: &Context<'a>) -> anyhow::Result<Kept<'a>> {
        let cache = &context.options.cache;
        let program = if cache.keeps() { program() } else { None };
        Ok(Kept {
            cache,
            circumstances: match program {
                Some(program) => Some(circumstances(context, program)?),
                None => None,
            },
        })
    }

    /// The facts of some neighbouring pages. They are kept together: a file for each page would take longer to open
    /// than small pages to read.
    pub(super) fn read(&self, context: &Context<'_>, group: &[FileId]) -> anyhow::Result<Vec<Facts>> {
        let (Some(circumstances), Some(first)) = (&self.circumstances, group.first()) else {
            let read = |&file: &FileId| Ok(page::read(context, file, &context.site.read(file)?));
            return parallel::map(group, read).into_iter().collect();
        };
        let name = first.0.to_le_bytes();
        let kept = self.cache.facts(circumstances, &name).unwrap_or_default();
        let known: Vec<Entry<'_>> = postcard::from_bytes(&kept).unwrap_or_default();
        let places: Vec<(usize, FileId)> = group.iter().copied().enumerate().collect();
        let read = parallel::map(&places, |&(at, file)| {
            let bytes = context.site.read(file)?;
            let content = cache::hash(&bytes);
            let known = known.get(at).filter(|(hash, _)| *hash == content);
            if let Some(facts) = known.and_then(|(_, kept)| postcard::from_bytes(kept).ok()) {
                return Ok((facts, None));
            }
            let facts = page::read(context, file, &bytes);
            let kept = facts.can_be_kept().then(|| postcard::to_allocvec(&facts));
            let kept = kept.and_then(Result::ok).unwrap_or_default();
            anyhow::Ok((facts, Some((content, kept))))
        });
        let read: Vec<_> = read.into_iter().collect::<anyhow::Result<_>>()?;
        let is_new = |(_, new): &(Facts, New)| new.as_ref().is_some_and(|(_, kept)| !kept.is_empty());
        if read.iter().any(is_new) {
            let entries: Vec<Entry<'_>> = read
                .iter()
                .enumerate()
                .map(|(at, (_, new))| match new {
                    Some((content, kept)) => (*content, kept.as_slice()),
                    None => known[at],
                })
                .collect();
            if let Ok(all) = postcard::to_allocvec(&entries) {
                self.cache.keep_facts(circumstances, &name, &all);
            }
        }
        Ok(read.into_iter().map(|(facts, _)| facts).collect())
    }
}

/// Another build of this program may read pages in another way.
fn program() -> Option<&'static cache::Hash> {
    static PROGRAM: OnceLock<Option<cache::Hash>> = OnceLock::new();
    let own = || disk::read(&std::env::current_exe().ok()?).ok();
    PROGRAM
        .get_or_init(|| own().map(|bytes| cache::hash(&bytes)))
        .as_ref()
}

/// Everything besides its own bytes that the facts of a page rest on.
fn circumstances(context: &Context<'_>, program: &cache::Hash) -> anyhow::Result<cache::Hash> {
    let site = context.site;
    let mut all = program.to_vec();
    let mut add = |part: &[u8]| {
        all.extend((part.len() as u64).to_le_bytes());
        all.extend(part);
    };
    let options = (&context.options.csp, &context.options.cdn);
    let around = (context.mount, context.fallback.name(), context.window);
    add(format!("{options:?} {around:?}").as_bytes());
    for file in &site.files {
        add(file.path.as_bytes());
        add(format!("{:?} {} {:?}", file.media, file.editable, file.variant_of).as_bytes());
    }
    for sheet in context.sheets {
        add(&sheet.hash.to_le_bytes());
    }
    if let Some(file) = site.find(b"_headers") {
        add(&site.read(file)?);
    }
    Ok(cache::hash(&all))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "trees for the tests")]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::super::{Graph, link};
    use super::*;
    use crate::cache::tests::entry_files;
    use crate::diagnostic::Diagnostic;
    use crate::options::Options;
    use crate::site;

    /// All that the other stages see of it.
    fn shown(graph: &Graph, site: &site::Site, found: &[Diagnostic]) -> String {
        let scans = (0..graph.pages.len() as u32).map(|page| {
            let bytes = site.read(graph.pages[page as usize].file).unwrap();
            let (scan, base) = graph.rescan(site, page, &bytes);
            format!("{:?} {:?} {base:?}", scan.tags, scan.opaque)
        });
        let scans: Vec<String> = scans.collect();
        let rest = (&graph.pages, &graph.addresses, &graph.referenced, &graph.seals);
        format!(
            "{rest:?} {:?} {:?} {found:?} {scans:?}",
            graph.entry, graph.has_worker
        )
    }

    fn read(root: &Path, options: &Options) -> String {
        let (site, _) = site::read(root, options).unwrap();
        let (graph, found) = link(&site, options).unwrap();
        shown(&graph, &site, &found)
    }

    /// Reads a site without a cache, and twice with one.
    fn check(root: &Path, options: &Options, cache: &Cache) {
        let anew = read(root, options);
        let cached = Options {
            cache: cache.clone(),
            ..options.clone()
        };
        for _ in 0..2 {
            assert!(read(root, &cached) == anew, "{}", root.display());
        }
    }

    #[test]
    fn what_was_kept_is_what_would_be_read() {
        let kept = tempfile::tempdir().unwrap();
        let cache = Cache::open(kept.path(), 1 << 30, "--cache", &[]).unwrap();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        for fixture in fs::read_dir(fixtures).unwrap() {
            let path = fixture.unwrap().path();
            if path.is_dir() {
                check(&path, &Options::defaults(), &cache);
            }
        }
    }

    #[test]
    fn other_circumstances_are_read_anew() {
        let dir = tempfile::tempdir().unwrap();
        let kept = tempfile::tempdir().unwrap();
        let cache = Cache::open(kept.path(), 1 << 30, "--cache", &[]).unwrap();
        let put = |name: &str, text: &[u8]| fs::write(dir.path().join(name), text).unwrap();
        let check = |options: &Options, grows: bool| {
            let before = entry_files(kept.path()).len();
            check(dir.path(), options, &cache);
            assert_eq!(entry_files(kept.path()).len() > before, grows);
        };
        let plain = Options::defaults();
        put("a.png", b"\x89PNG\r\n\x1a\n");
        put(
            "a.css",
            b"p { background: url(a.png) } @media (max-width: 500px) { b { background: url(b.png) } }",
        );
        put(
            "index.html",
            b"<!DOCTYPE html><link rel=stylesheet href=a.css><p>caf\xE9<b>b</b><a href=gone.html>x</a>",
        );
        put(
            "seal.html",
            b"<!DOCTYPE html><script src=a.js integrity=sha256-x></script>",
        );
        check(&plain, true);
        check(&plain, false);
        // The same pages, and something else each time.
        put("a.css", b"b { background: url(a.png) }");
        check(&plain, true);
        put("b.png", b"\x89PNG\r\n\x1a\n");
        check(&plain, true);
        put("gone.html", b"<p>here");
        check(&plain, true);
        put("_headers", b"/*\n  Content-Security-Policy: img-src 'self'\n");
        check(&plain, true);
        put(
            "a.css",
            b"@media (max-width: 500px) { b { background: url(b.png) } }",
        );
        check(&plain, true);
        let narrow = (390, 844);
        let glob = globset::Glob::new("index.html").unwrap();
        let only_the_index = globset::GlobSet::builder().add(glob).build().unwrap();
        let others = [
            Options {
                viewport: narrow,
                ..plain.clone()
            },
            Options {
                csp: vec!["img-src 'none'".into()],
                ..plain.clone()
            },
            Options {
                base_url: Some("https://example.org/sub/".into()),
                ..plain.clone()
            },
            Options {
                charset: Some("shift_jis".into()),
                ..plain.clone()
            },
            Options {
                exclude: Some(only_the_index),
                ..plain.clone()
            },
        ];
        for options in &others {
            check(options, true);
        }
        // A page that is read anew each time, as it rests on the bytes of another file.
        put("a.js", b"x");
        check(&plain, true);
        put("a.js", b"y");
        check(&plain, false);
        // One edited page: its neighbours are found. The group is written again in its place.
        put("gone.html", b"<p>there");
        check(&plain, false);
    }
}
