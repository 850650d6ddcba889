//! OUT, built beside itself and renamed into place.
//!
//! Beside OUT stands a folder `.OUT.fewer-XXXXXX` while a build runs: `new` in it grows into the new OUT, `old` takes
//! the old one for the moment between two renames. The folder is locked while its run lives, so that the next run can
//! tell the litter of a killed one (which it removes) from a build that is under way (which it leaves). A run killed
//! between the two renames leaves no OUT but an `old`: the next run puts that back first.

use std::ffi::OsString;
use std::fs::{self, File, FileTimes, Permissions, TryLockError};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, bail, ensure};

use super::{identity, join, real_or_planned, shown};
use crate::site::SitePath;

/// A new OUT under construction. Dropped without `commit`, it leaves everything as it was.
#[derive(Debug)]
pub struct Staging {
    /// OUT without links: what a link named OUT points to is replaced, the link stays.
    out: PathBuf,
    /// The content root of the new OUT.
    new: PathBuf,
    force: bool,
    // Dropped in this order: the folder while it is still locked, then the parents made for it.
    folder: tempfile::TempDir,
    _lock: File,
    parents: Parents,
}

/// Folders made for OUT to stand in, outermost first; removed again unless the build succeeds.
#[derive(Debug)]
struct Parents(Vec<PathBuf>);

impl Drop for Parents {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            // One that somebody else put something into stays.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Gives every folder the newest time of what is in it, so that two builds make the same tree.
fn date_folders(folder: &Path) -> io::Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        let time = if metadata.is_dir() {
            date_folders(&entry.path())?
        } else {
            metadata.modified()?
        };
        newest = newest.max(time);
    }
    File::open(folder)?.set_modified(newest)?;
    Ok(newest)
}

impl Staging {
    /// The checks of `begin` alone: nothing is written or removed.
    pub fn check(site: &Path, out: &Path, force: bool) -> anyhow::Result<()> {
        let (real, _) = real_or_planned(out)?;
        refuse_overlap(site, out, &real)?;
        refuse_content(out, &real, force)
    }

    /// Checks that OUT may be written, clears up after killed runs, and starts a new OUT.
    pub fn begin(site: &Path, out: &Path, force: bool) -> anyhow::Result<Staging> {
        let (real, missing) = real_or_planned(out)?;
        let name = real
            .file_name()
            .with_context(|| format!("{} cannot be replaced", shown(out)))?;
        let parent = real
            .parent()
            .with_context(|| format!("{} cannot be replaced", shown(out)))?;
        refuse_overlap(site, out, &real)?;
        let prefix = litter_prefix(name.as_bytes());
        if missing < 2 {
            remove_litter(parent, &prefix, &real)?;
        }
        refuse_content(out, &real, force)?;
        // Said before the work rather than after it.
        if let (Ok(out_id), Ok(parent_id)) = (identity(&real), identity(parent))
            && out_id.0 != parent_id.0
        {
            bail!(
                "OUT ({}) is a file system of its own, which cannot be replaced: name a folder in it",
                shown(out)
            );
        }

        let parents = make_parents(parent).with_context(|| format!("cannot create {}", shown(parent)))?;
        let (folder, lock) =
            make_locked(parent, &prefix).with_context(|| format!("cannot write beside {}", shown(out)))?;
        let new = folder.path().join("new");
        fs::create_dir(&new).with_context(|| format!("cannot write beside {}", shown(out)))?;
        Ok(Staging {
            out: real,
            new,
            force,
            folder,
            _lock: lock,
            parents,
        })
    }

    /// Where the new OUT stands until `commit`.
    pub fn path(&self) -> &Path {
        &self.new
    }

    /// Writes a file that does not exist yet. Threads may call this at once.
    pub fn write(
        &self,
        path: &SitePath,
        bytes: &[u8],
        modified: SystemTime,
        mode: u32,
    ) -> anyhow::Result<()> {
        let write = || -> io::Result<()> {
            let mut file = self.create(path)?;
            file.write_all(bytes)?;
            finish(&file, modified, mode)
        };
        write().with_context(|| format!("cannot write {path}"))
    }

    /// Copies a file byte for byte (a reflink where the file system can) and tells how many bytes those were. Whether
    /// the source is still what it was when it was listed is the caller's to check.
    pub fn copy(&self, from: &Path, path: &SitePath, modified: SystemTime, mode: u32) -> anyhow::Result<u64> {
        let mut source = File::open(from).with_context(|| format!("cannot read {}", shown(from)))?;
        let mut copy = || -> io::Result<u64> {
            let mut file = self.create(path)?;
            // From file to file this is copy_file_range. Not fs::copy, which cannot refuse to overwrite.
            let length = io::copy(&mut source, &mut file)?;
            finish(&file, modified, mode)?;
            Ok(length)
        };
        copy().with_context(|| format!("cannot copy {path}"))
    }

    /// Writes a file that is made of one that was written, piece by piece; tells how many bytes it has.
    pub fn convert(
        &self,
        from: &SitePath,
        path: &SitePath,
        modified: SystemTime,
        mode: u32,
        work: impl FnOnce(&mut dyn Read, &mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<u64> {
        let convert = || -> io::Result<u64> {
            let mut source = self.open(from)?;
            let mut file = self.create(path)?;
            let mut buffered = BufWriter::with_capacity(1 << 16, &mut file);
            work(&mut source, &mut buffered)?;
            buffered.flush()?;
            drop(buffered);
            finish(&file, modified, mode)?;
            Ok(file.metadata()?.len())
        };
        convert().with_context(|| format!("cannot write {path}"))
    }

    /// The first bytes of a file that was written, as many as tell its type.
    pub fn start(&self, path: &SitePath) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self
            .open(path)
            .and_then(|file| file.take(64).read_to_end(&mut bytes));
        read.with_context(|| format!("cannot read {path}"))?;
        Ok(bytes)
    }

    /// All bytes of a file that was written.
    pub fn whole(&self, path: &SitePath) -> anyhow::Result<Vec<u8>> {
        super::read(&join(&self.new, path.as_bytes()))
    }

    /// The hash of a file that was written, without holding it.
    pub fn hash(&self, path: &SitePath) -> anyhow::Result<[u8; 32]> {
        let mut hasher = blake3::Hasher::new();
        let read = self
            .open(path)
            .and_then(|mut file| io::copy(&mut file, &mut hasher));
        read.with_context(|| format!("cannot read {path}"))?;
        Ok(*hasher.finalize().as_bytes())
    }

    /// Takes back a file that was written.
    pub fn remove(&self, path: &SitePath) -> anyhow::Result<()> {
        fs::remove_file(join(&self.new, path.as_bytes())).with_context(|| format!("cannot remove {path}"))
    }

    /// Puts the new OUT in the place of the old one, which is removed.
    pub fn commit(mut self) -> anyhow::Result<()> {
        let out = shown(&self.out);
        // It may have come into being, or been filled, during the build.
        refuse_content(&self.out, &self.out, self.force)?;
        date_folders(&self.new).with_context(|| format!("cannot write {out}"))?;
        let old = self.folder.path().join("old");
        let replaced = match fs::metadata(&self.out) {
            Ok(metadata) => {
                // Who may enter the folder is a decision of its owner, not of this build.
                let bits = Permissions::from_mode(metadata.permissions().mode() & 0o7777);
                fs::set_permissions(&self.new, bits).with_context(|| format!("cannot write {out}"))?;
                fs::rename(&self.out, &old).with_context(|| {
                    format!("cannot move the old {out} aside (it must be writable and no mount point)")
                })?;
                true
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => false,
            Err(e) => return Err(e).with_context(|| format!("cannot read {out}")),
        };
        if let Err(e) = fs::rename(&self.new, &self.out) {
            if replaced && let Err(second) = fs::rename(&old, &self.out) {
                // Better litter than a lost OUT; the next run puts it back.
                self.folder.disable_cleanup(true);
                bail!(
                    "cannot move {} to {out}: {e}; the old one is in {}: {second}",
                    shown(&self.new),
                    shown(&old)
                );
            }
            return Err(e).with_context(|| format!("cannot move the new {out} into place"));
        }
        self.parents.0.clear();
        if replaced {
            // A kill in the middle of removing it must not leave a piece that looks like an OUT to put back.
            let _ = fs::rename(&old, self.folder.path().join("dead"));
        }
        let folder = self.folder.path().to_path_buf();
        self.folder.close().with_context(|| {
            format!(
                "{out} is complete, but the old one in {} cannot be removed",
                shown(&folder)
            )
        })
    }

    fn open(&self, path: &SitePath) -> io::Result<File> {
        File::open(join(&self.new, path.as_bytes()))
    }

    fn create(&self, path: &SitePath) -> io::Result<File> {
        let mut segments = path.as_bytes().split(|&b| b == b'/');
        if segments.any(|segment| matches!(segment, b"" | b"." | b"..")) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a path in a site",
            ));
        }
        let place = join(&self.new, path.as_bytes());
        match File::create_new(&place) {
            // Most files meet their folder: it is made when one does not.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                if let Some(folder) = place.parent() {
                    fs::create_dir_all(folder)?;
                }
                File::create_new(&place)
            }
            result => result,
        }
    }
}

/// Time and mode through the open file: a mode without write permission would close the way to set the time.
fn finish(file: &File, modified: SystemTime, mode: u32) -> io::Result<()> {
    file.set_times(FileTimes::new().set_modified(modified))?;
    file.set_permissions(Permissions::from_mode(mode & 0o777))
}

/// OUT in SITE would be read by the next build, SITE in OUT would be deleted by this one. Compared by identity, so
/// that a file system without case or a bind mount of either hides nothing (one of a folder within them does).
fn refuse_overlap(site: &Path, out: &Path, real: &Path) -> anyhow::Result<()> {
    let cannot = || format!("cannot read {}", shown(site));
    let site_real = fs::canonicalize(site).with_context(cannot)?;
    let site_id = identity(&site_real).with_context(cannot)?;
    let out_id = identity(real).ok();
    ensure!(out_id != Some(site_id), "OUT ({}) is SITE itself", shown(out));
    for folder in real.ancestors().skip(1) {
        if identity(folder).is_ok_and(|id| id == site_id) {
            bail!("OUT ({}) lies inside SITE ({})", shown(out), shown(site));
        }
    }
    for folder in site_real.ancestors().skip(1) {
        if out_id.is_some() && identity(folder).ok() == out_id {
            bail!("SITE ({}) lies inside OUT ({})", shown(site), shown(out));
        }
    }
    Ok(())
}

fn refuse_content(out: &Path, real: &Path, force: bool) -> anyhow::Result<()> {
    match fs::symlink_metadata(real) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e).with_context(|| format!("cannot read {}", shown(out))),
        Ok(metadata) => ensure!(metadata.is_dir(), "OUT ({}) is not a folder", shown(out)),
    }
    let mut entries = fs::read_dir(real).with_context(|| format!("cannot read {}", shown(out)))?;
    if !force && entries.next().is_some() {
        bail!(
            "OUT ({}) is not empty: --force replaces it with everything in it",
            shown(out)
        );
    }
    Ok(())
}

fn make_parents(parent: &Path) -> io::Result<Parents> {
    let missing: Vec<&Path> = parent.ancestors().take_while(|folder| !folder.exists()).collect();
    let mut made = Parents(Vec::new());
    for folder in missing.iter().rev() {
        match fs::create_dir(folder) {
            Ok(()) => made.0.push(folder.to_path_buf()),
            // Another run was quicker.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Ok(made)
}

/// `.OUT.fewer-`; a long name is cut and told apart by its hash, as a name has at most 255 bytes.
fn litter_prefix(name: &[u8]) -> Vec<u8> {
    let name = match name.get(..180) {
        Some(start) => [start, blake3::hash(name).to_hex()[..16].as_bytes()].concat(),
        None => name.to_vec(),
    };
    [b".", name.as_slice(), b".fewer-"].concat()
}

/// A folder of this run, locked. Between its making and its locking another run may take it for litter and remove it,
/// so look again once it is locked.
fn make_locked(parent: &Path, prefix: &[u8]) -> io::Result<(tempfile::TempDir, File)> {
    let prefix = OsString::from_vec(prefix.to_vec());
    for _ in 0..100 {
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent)?;
        let Ok(lock) = File::open(folder.path()) else {
            continue;
        };
        // A file system without locks: nobody can lock, so nobody removes what looks alive either.
        if lock.lock().is_err() || folder.path().exists() {
            return Ok((folder, lock));
        }
    }
    Err(io::Error::other("other runs keep removing our folder"))
}

/// Removes what killed runs for the same OUT left, and puts back an OUT that one of them had moved aside.
fn remove_litter(parent: &Path, prefix: &[u8], real: &Path) -> anyhow::Result<()> {
    let Ok(entries) = fs::read_dir(parent) else {
        return Ok(());
    };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| {
            entry
                .file_name()
                .as_bytes()
                .strip_prefix(prefix)
                .is_some_and(is_random)
        })
        .map(|entry| entry.path())
        .collect();
    found.sort_unstable();
    for folder in found {
        // Ours are folders that hold nothing but these.
        if !fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir()) {
            continue;
        }
        let Ok(mut names) = fs::read_dir(&folder) else {
            continue;
        };
        if !names.all(|entry| entry.is_ok_and(|e| ["new", "old", "dead"].iter().any(|n| e.file_name() == *n)))
        {
            continue;
        }
        let Ok(lock) = File::open(&folder) else { continue };
        match lock.try_lock() {
            Ok(()) => {}
            // It lives, or nobody can tell.
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => continue,
        }
        let old = folder.join("old");
        if old.exists() && fs::symlink_metadata(real).is_err() {
            fs::rename(&old, real).with_context(|| {
                format!(
                    "cannot put back {}, which a killed run left in {}",
                    shown(real),
                    shown(&old)
                )
            })?;
        }
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}, which a killed run left", shown(&folder)))?;
    }
    Ok(())
}

/// What tempfile puts behind a prefix.
fn is_random(suffix: &[u8]) -> bool {
    suffix.len() == 6 && suffix.iter().all(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
#[path = "staging_tests.rs"]
mod tests;
