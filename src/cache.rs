//! What former builds made, found again by the bytes that it was made of: variants, sizes that were measured, and what
//! was read in pages.
//!
//! A key is the hash of the content, of the coding, its level and the version of its encoder: nothing that is found
//! can be out of date, and a build with the cache writes the same bytes as one without. Every entry carries a checksum;
//! one that does not hold counts as missing and is made anew. Failing to write costs time only, so it is no error.
//!
//! `Store` is all that a place for entries has to do: give and take bytes by name, and keep to a size.

mod sizes;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::disk;
use crate::encode::Coding;
use crate::measure::{Levels, Sizes};
use sizes::Known;

/// The most megabytes that are kept where no other limit is set.
pub const LIMIT_MB: u64 = 2048;

/// The layout of entries; another one lives beside it.
const LAYOUT: &str = "v1";

const CHECK_BYTES: usize = 16;

/// The hash of some content.
pub type Hash = [u8; 32];

/// A handle to what former builds made; clones share it.
#[derive(Clone, Default)]
pub enum Cache {
    #[default]
    Off,
    On(Arc<Entries>),
}

/// Not what is in it: options are compared and printed.
impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cache::Off => f.write_str("Off"),
            Cache::On(entries) => write!(f, "{:?}", entries.store),
        }
    }
}

#[derive(Debug)]
pub struct Entries {
    store: Store,
    known: Known,
    /// Bytes to keep to.
    limit: u64,
    /// Something was added: the limit may be passed.
    grown: AtomicBool,
}

/// Where entries are: an object store becomes a second variant.
#[derive(Debug)]
enum Store {
    Folder(disk::Store),
    /// Nothing outlives the build.
    Nowhere,
}

impl Store {
    fn get(&self, name: &str) -> Option<Vec<u8>> {
        match self {
            Store::Folder(folder) => folder.read(name),
            Store::Nowhere => None,
        }
    }

    /// Whether it was kept.
    fn put(&self, name: &str, parts: &[&[u8]]) -> bool {
        match self {
            Store::Folder(folder) => folder.write(name, parts).is_ok(),
            Store::Nowhere => false,
        }
    }

    fn sweep(&self, limit: u64) {
        match self {
            Store::Folder(folder) => folder.sweep(limit),
            Store::Nowhere => {}
        }
    }
}

/// The user's cache folder: `XDG_CACHE_HOME`, else where the system keeps caches below `HOME`.
pub fn user_folder(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    // A relative path is to be ignored (XDG Base Directory Specification).
    let folder = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let caches = if cfg!(target_os = "macos") {
        "Library/Caches"
    } else {
        ".cache"
    };
    let below_home = || folder("HOME").map(|home| home.join(caches));
    Some(folder("XDG_CACHE_HOME").or_else(below_home)?.join("fewer"))
}

impl Cache {
    /// The cache in this folder, which must lie neither in SITE nor in OUT. `name` is how messages call it.
    pub fn open(folder: &Path, limit: u64, name: &str, apart: &[(&str, &Path)]) -> anyhow::Result<Cache> {
        let root = folder.join(LAYOUT);
        let remedy = || format!("{name} (--no-cache does without)");
        for (other, path) in apart {
            let inside = disk::is_inside(folder, path).with_context(remedy)? || disk::is_inside(path, &root)?;
            anyhow::ensure!(
                !inside,
                "{name} {} and {other} lie inside each other: choose a place outside",
                disk::shown(folder)
            );
        }
        let store = disk::Store::open(&root).with_context(remedy)?;
        Ok(Cache::with(Store::Folder(store), limit))
    }

    /// Remembers sizes for as long as it lives, and nothing else: no text is measured twice in a build without a cache.
    pub fn of_one_build() -> Cache {
        Cache::with(Store::Nowhere, 0)
    }

    fn with(store: Store, limit: u64) -> Cache {
        Cache::On(Arc::new(Entries {
            store,
            known: Known::default(),
            limit,
            grown: AtomicBool::new(false),
        }))
    }

    /// What keeps variants, if anything does.
    fn keeper(&self) -> Option<&Entries> {
        match self {
            Cache::Off => None,
            Cache::On(entries) => Some(&**entries).filter(|entries| !matches!(entries.store, Store::Nowhere)),
        }
    }

    /// The variant of the content with this hash: one that was kept, or what `make` makes.
    pub(crate) fn variant(
        &self,
        content: impl FnOnce() -> Hash,
        coding: Coding,
        level: u32,
        make: impl FnOnce() -> Vec<u8>,
    ) -> Vec<u8> {
        let Some(entries) = self.keeper() else {
            return make();
        };
        let key = key(
            &content(),
            format!("{coding:?} {level} {}", coding.encoder()).as_bytes(),
        );
        if let Some(found) = entries.get(&key) {
            return found;
        }
        let made = make();
        entries.put(&key, &made);
        made
    }

    /// The same for content that is too large to be held; the hash is asked for only if there is a cache.
    pub(crate) fn streamed(
        &self,
        content: impl FnOnce() -> anyhow::Result<Hash>,
        coding: Coding,
        level: u32,
    ) -> anyhow::Result<Streamed<'_>> {
        let Some(entries) = self.keeper() else {
            return Ok(Streamed::default());
        };
        let key = key(
            &content()?,
            format!("streamed {coding:?} {level} {}", coding.stream_encoder()).as_bytes(),
        );
        Ok(Streamed {
            bytes: entries.get(&key),
            place: Some((entries, key)),
        })
    }

    /// Something outlives the build.
    pub(crate) fn keeps(&self) -> bool {
        self.keeper().is_some()
    }

    /// What was kept of this content under this name.
    pub(crate) fn facts(&self, content: &Hash, name: &[u8]) -> Option<Vec<u8>> {
        self.keeper()?.get(&key(content, &[b"facts ", name].concat()))
    }

    pub(crate) fn keep_facts(&self, content: &Hash, name: &[u8], facts: &[u8]) {
        if let Some(entries) = self.keeper() {
            entries.put(&key(content, &[b"facts ", name].concat()), facts);
        }
    }

    /// The sizes of this content: known ones, or what `measure` measures.
    pub(crate) fn sizes(
        &self,
        bytes: &[u8],
        levels: Levels,
        min_size: u64,
        measure: impl FnOnce() -> Sizes,
    ) -> Sizes {
        let Cache::On(entries) = self else {
            return measure();
        };
        let (gzip, br) = (Coding::Gzip.encoder(), Coding::Brotli.encoder());
        let Levels { gzip: level, brotli } = levels;
        let key = key(
            &hash(bytes),
            format!(
                "sizes {level} {gzip} {brotli} {br} {min_size} {}",
                crate::variants::RULES
            )
            .as_bytes(),
        );
        let identity = bytes.len() as u64;
        if let Some((gzip, br)) = entries.known.get(&entries.store, &key) {
            return Sizes { identity, gzip, br };
        }
        let sizes = measure();
        entries.known.add(&key, (sizes.gzip, sizes.br));
        sizes
    }

    /// Writes down what was learned, and keeps to the limit. A build calls it once, when all else is done.
    pub fn finish(&self) {
        let Some(entries) = self.keeper() else { return };
        let grown = entries.known.save(&entries.store);
        if grown || entries.grown.load(Ordering::Relaxed) {
            entries.store.sweep(entries.limit);
        }
    }
}

/// What is known of a variant that is made in pieces, and where it is kept once it is made.
#[derive(Debug, Default)]
pub(crate) struct Streamed<'a> {
    pub(crate) bytes: Option<Vec<u8>>,
    place: Option<(&'a Entries, Hash)>,
}

impl Streamed<'_> {
    pub(crate) fn keep(&self, body: impl FnOnce() -> anyhow::Result<Vec<u8>>) -> anyhow::Result<()> {
        if let Some((entries, key)) = &self.place {
            entries.put(key, &body()?);
        }
        Ok(())
    }
}

impl Entries {
    fn get(&self, key: &Hash) -> Option<Vec<u8>> {
        let mut bytes = self.store.get(&name(key))?;
        let body = bytes.len().checked_sub(CHECK_BYTES)?;
        if check(key, &bytes[..body]) != bytes[body..] {
            return None;
        }
        bytes.truncate(body);
        Some(bytes)
    }

    fn put(&self, key: &Hash, body: &[u8]) {
        if self.store.put(&name(key), &[body, &check(key, body)]) {
            self.grown.store(true, Ordering::Relaxed);
        }
    }
}

pub(crate) fn hash(bytes: &[u8]) -> Hash {
    *blake3::hash(bytes).as_bytes()
}

fn key(content: &Hash, what: &[u8]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(content).update(what);
    *hasher.finalize().as_bytes()
}

/// Half of the key tells entries apart as well as the whole.
fn name(key: &Hash) -> String {
    blake3::Hash::from_bytes(*key).to_hex()[..32].to_owned()
}

/// What stands behind a body. It knows the key, so that an entry under another's name does not hold.
fn check(key: &Hash, body: &[u8]) -> [u8; CHECK_BYTES] {
    let full = *blake3::keyed_hash(key, body).as_bytes();
    *full.first_chunk().expect("16 of 32 bytes")
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;

    fn open(folder: &Path) -> Cache {
        Cache::open(folder, 1 << 30, "--cache", &[]).unwrap()
    }

    /// The variant, and how often it was made for that.
    fn variant(cache: &Cache, content: &[u8], level: u32) -> (Vec<u8>, u32) {
        let made = Cell::new(0);
        let bytes = cache.variant(
            || hash(content),
            Coding::Gzip,
            level,
            || {
                made.set(made.get() + 1);
                crate::encode::pack(Coding::Gzip, content, level)
            },
        );
        (bytes, made.get())
    }

    /// Files that hold an entry.
    pub(crate) fn entry_files(folder: &Path) -> Vec<PathBuf> {
        let list = |folder: &Path| disk::list(folder).unwrap();
        let shards = list(&folder.join(LAYOUT)).into_iter();
        let shards = shards.filter(|(_, stat)| stat.kind == disk::Kind::Folder);
        shards
            .flat_map(|(shard, _)| {
                let shard = folder.join(LAYOUT).join(shard);
                let files = list(&shard).into_iter().map(|(name, _)| shard.join(name));
                files.collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn made_once_for_each_content_and_level() {
        let dir = tempfile::tempdir().unwrap();
        let cache = open(dir.path());
        let (first, made) = variant(&cache, b"some text", 9);
        assert_eq!(made, 1);
        assert_eq!(variant(&cache, b"some text", 9), (first.clone(), 0));
        assert_eq!(variant(&cache, b"some text", 12).1, 1);
        assert_eq!(variant(&cache, b"some test", 9).1, 1);
        cache.finish();
        assert_eq!(variant(&open(dir.path()), b"some text", 9), (first.clone(), 0));
        for none in [Cache::Off, Cache::of_one_build()] {
            assert_eq!(variant(&none, b"some text", 9), (first.clone(), 1));
            assert_eq!(variant(&none, b"some text", 9), (first.clone(), 1));
        }
    }

    #[test]
    fn one_build_measures_once() {
        let cache = Cache::of_one_build();
        let mut measured = 0;
        for _ in 0..3 {
            let sizes = cache.sizes(b"text", crate::measure::FAST, 100, || {
                measured += 1;
                Sizes::plain(4)
            });
            assert_eq!(sizes, Sizes::plain(4));
        }
        assert_eq!(measured, 1);
        cache.finish();
    }

    #[test]
    fn broken_entries_are_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let cache = open(dir.path());
        let (right, _) = variant(&cache, b"some text", 9);
        let [file] = entry_files(dir.path()).try_into().unwrap();
        let whole = disk::read(&file).unwrap();
        let mut broken: Vec<Vec<u8>> = (0..whole.len())
            .map(|at| {
                let mut bytes = whole.clone();
                bytes[at] ^= 1;
                bytes
            })
            .collect();
        broken.extend((0..whole.len()).map(|end| whole[..end].to_vec()));
        broken.push([whole.as_slice(), b"x"].concat());
        for bytes in broken {
            disk::write_file(&file, &bytes).unwrap();
            assert_eq!(variant(&cache, b"some text", 9), (right.clone(), 1));
            assert_eq!(disk::read(&file).unwrap(), whole);
        }
        // A whole entry under the name of another.
        variant(&cache, b"another text", 9);
        let other = entry_files(dir.path()).into_iter().find(|f| *f != file).unwrap();
        disk::write_file(&other, &whole).unwrap();
        assert_eq!(variant(&cache, b"another text", 9).1, 1);
    }

    #[test]
    fn two_builds_at_once() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let cache = open(dir.path());
                    for nth in 0..50 {
                        let text = format!("text {nth}").repeat(20);
                        let (bytes, _) = variant(&cache, text.as_bytes(), 6);
                        assert_eq!(bytes, crate::encode::pack(Coding::Gzip, text.as_bytes(), 6));
                        if nth % 10 == 0 {
                            cache.finish();
                        }
                    }
                });
            }
        });
        assert_eq!(variant(&open(dir.path()), "text 7".repeat(20).as_bytes(), 6).1, 0);
    }

    #[test]
    fn keeps_to_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path(), 0, "--cache", &[]).unwrap();
        variant(&cache, b"some text", 9);
        cache.finish();
        assert_eq!(entry_files(dir.path()), Vec::<PathBuf>::new());
        assert_eq!(variant(&cache, b"some text", 9).1, 1);
    }

    #[test]
    fn stands_apart() {
        let dir = tempfile::tempdir().unwrap();
        let site = dir.path().join("site");
        disk::Store::open(&site).unwrap();
        let check = |folder: &str, apart: &str, is_good: bool| {
            let apart = dir.path().join(apart);
            let opened = Cache::open(&dir.path().join(folder), 0, "--cache", &[("SITE", &apart)]);
            assert_eq!(opened.is_ok(), is_good, "{folder} {apart:?}");
        };
        check("site", "site", false);
        check("site/cache", "site", false);
        check("site/../site/cache", "site", false);
        check("cache", "cache/v1/site", false);
        check(".", "site", true);
        check("cache", "site", true);
        assert_eq!(disk::list(&site).unwrap().len(), 1);
    }

    #[test]
    fn the_users_folder() {
        let check = |cache: Option<&str>, home: Option<&str>, expected: Option<&str>| {
            let found = user_folder(|name| match name {
                "XDG_CACHE_HOME" => cache.map(Into::into),
                "HOME" => home.map(Into::into),
                _ => None,
            });
            assert_eq!(found, expected.map(PathBuf::from), "{cache:?} {home:?}");
        };
        let below = if cfg!(target_os = "macos") {
            "/h/Library/Caches/fewer"
        } else {
            "/h/.cache/fewer"
        };
        check(Some("/c"), Some("/h"), Some("/c/fewer"));
        check(Some("c"), Some("/h"), Some(below));
        check(Some(""), Some("/h"), Some(below));
        check(None, Some("/h"), Some(below));
        check(None, Some(""), None);
        check(None, None, None);
    }

    /// Another encoder may make other bytes: what is kept is told apart by its version.
    #[test]
    fn encoders_are_those_of_the_lock_file() {
        let lock = include_str!("../Cargo.lock");
        for coding in Coding::ALL {
            let all = [coding.encoder(), coding.stream_encoder()].join(", ");
            for encoder in all.split(", ") {
                let (name, version) = encoder.split_once(' ').unwrap();
                let entry = format!("name = \"{name}\"\nversion = \"{version}\"\n");
                assert!(lock.contains(&entry), "{encoder} is not in Cargo.lock");
            }
        }
    }
}
