//! A folder of small files that builds share, told apart by their names: the cache on disk.
//!
//! Files appear whole, by a temporary file that is renamed, so that any number of builds may use the folder at once: a
//! reader finds all of a file or none. What was not used for the longest time goes first when the folder is too
//! large. A file's modification time is the time of its last use. Nothing but files of this folder's own layout is
//! ever removed: `ab/cdef...`, names in hexadecimal, and `.new-*`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Context;

use super::shown;

/// What tells tools for backups that the folder can be made again (<https://bford.info/cachedir/>).
const TAG: (&str, &[u8]) = (
    "CACHEDIR.TAG",
    b"Signature: 8a477f597d28d172789f06886806bc55\n# Variants that fewer made; may be removed at any time.\n",
);

/// What a killed build left is removed when it is older than any build takes.
const DEAD: Duration = Duration::from_secs(24 * 60 * 60);

/// When a file was used is written down no more often than this: on a site of many small files, changing the times of
/// all entries took as long as reading them.
const FRESH: Duration = Duration::from_secs(60 * 60);

const NEW: &str = ".new-";

#[derive(Debug)]
pub struct Store {
    root: PathBuf,
}

/// A file that may go.
struct Entry {
    used: SystemTime,
    size: u64,
    path: PathBuf,
}

impl Store {
    /// The folder is made where it is missing.
    pub fn open(root: &Path) -> anyhow::Result<Store> {
        let open = || -> io::Result<()> {
            fs::create_dir_all(root)?;
            let tag = root.join(TAG.0);
            if !tag.exists() {
                fs::write(tag, TAG.1)?;
            }
            Ok(())
        };
        open().with_context(|| format!("cannot use {} as a cache", shown(root)))?;
        Ok(Store {
            root: root.to_path_buf(),
        })
    }

    /// The file of that name, and that it was used.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut file = File::open(self.place(name)).ok()?;
        let metadata = file.metadata().ok()?;
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()?);
        file.read_to_end(&mut bytes).ok()?;
        let now = SystemTime::now();
        let fresh = |used: SystemTime| now.duration_since(used).is_ok_and(|age| age < FRESH);
        if !metadata.modified().is_ok_and(fresh) {
            // In a folder that may only be read, nothing is ever too old.
            let _ = file.set_modified(now);
        }
        Some(bytes)
    }

    /// Writes or replaces a file.
    pub fn write(&self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        let place = self.place(name);
        let folder = place.parent().unwrap_or(&self.root);
        let begin = || tempfile::Builder::new().prefix(NEW).tempfile_in(folder);
        let mut file = match begin() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(folder)?;
                begin()?
            }
            other => other?,
        };
        for part in parts {
            file.write_all(part)?;
        }
        file.persist(&place).map_err(|e| e.error)?;
        Ok(())
    }

    /// Removes what was not used for the longest time until no more than `limit` bytes are left.
    pub fn sweep(&self, limit: u64) {
        let now = SystemTime::now();
        let mut entries = Vec::new();
        for (folder, name) in names(&self.root) {
            if name.len() != 2 || !is_hex(&name) {
                continue;
            }
            for (path, name) in names(&folder) {
                let Ok(metadata) = fs::symlink_metadata(&path) else {
                    continue;
                };
                let used = metadata.modified().unwrap_or(now);
                if name.starts_with(NEW.as_bytes()) {
                    if now.duration_since(used).is_ok_and(|age| age > DEAD) {
                        let _ = fs::remove_file(&path);
                    }
                } else if is_hex(&name) && metadata.is_file() {
                    entries.push(Entry {
                        used,
                        size: metadata.len(),
                        path,
                    });
                }
            }
        }
        let mut total: u64 = entries.iter().map(|entry| entry.size).sum();
        if total <= limit {
            return;
        }
        entries.sort_unstable_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
        for entry in entries {
            if total <= limit {
                break;
            }
            // Another build may have been quicker.
            let _ = fs::remove_file(&entry.path);
            total -= entry.size;
        }
    }

    fn place(&self, name: &str) -> PathBuf {
        let (folder, rest) = name.split_at(name.len().min(2));
        self.root.join(folder).join(rest)
    }
}

/// Paths and names in a folder; nothing where it cannot be read.
fn names(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| (entry.path(), OsStr::as_bytes(&entry.file_name()).to_vec()))
        .collect()
}

fn is_hex(name: &[u8]) -> bool {
    name.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(nth: u8) -> String {
        format!("{nth:02x}{}", "0".repeat(30))
    }

    fn date(store: &Store, nth: u8, seconds: u64) {
        let file = File::options().write(true).open(store.place(&name(nth))).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
            .unwrap();
    }

    #[test]
    fn files_come_back_whole() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("a/b")).unwrap();
        assert_eq!(store.read(&name(1)), None);
        store.write(&name(1), &[b"one ", b"two"]).unwrap();
        assert_eq!(store.read(&name(1)).unwrap(), b"one two");
        store.write(&name(1), &[b"three"]).unwrap();
        assert_eq!(store.read(&name(1)).unwrap(), b"three");
        assert!(dir.path().join("a/b/CACHEDIR.TAG").exists());
        assert!(Store::open(&dir.path().join("a/b")).is_ok());
        fs::write(dir.path().join("file"), "").unwrap();
        let error = Store::open(&dir.path().join("file/cache")).unwrap_err();
        assert!(format!("{error:#}").starts_with("cannot use "), "{error:#}");
    }

    #[test]
    fn the_longest_unused_goes_first() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        for nth in 0..4 {
            store.write(&name(nth), &[&[nth; 10]]).unwrap();
            date(&store, nth, 1000 + u64::from(nth));
        }
        // Somebody's own file, wherever it stands, and a build under way.
        for other in ["notes.txt", "00/notes.txt", "00/.new-abc"] {
            fs::write(dir.path().join(other), "stays").unwrap();
        }
        assert!(store.read(&name(0)).is_some());
        store.sweep(40);
        assert!((0..4).all(|nth| store.place(&name(nth)).exists()));
        store.sweep(39);
        assert!(store.read(&name(1)).is_none());
        store.sweep(20);
        // The first was used since it was written.
        assert_eq!(
            [0, 2, 3].map(|nth| store.read(&name(nth)).is_some()),
            [true, false, true]
        );
        store.sweep(0);
        assert!((0..4).all(|nth| store.read(&name(nth)).is_none()));
        for other in ["notes.txt", "00/notes.txt", "00/.new-abc", "CACHEDIR.TAG"] {
            assert!(dir.path().join(other).exists(), "{other}");
        }
        let dead = File::options()
            .write(true)
            .open(dir.path().join("00/.new-abc"))
            .unwrap();
        dead.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        store.sweep(0);
        assert!(!dir.path().join("00/.new-abc").exists());
    }
}
