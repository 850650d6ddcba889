//! The only door to the file system: listing and reading SITE, writing OUT, reports and the cache.
//!
//! Names are bytes; this module is for systems where paths are (Unix). OUT is written by `Staging` beside itself and
//! renamed into place. Nothing here is ever written to SITE, and nothing but regular files is opened for reading.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the one module that touches the file system"
)]

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, bail};

mod staging;
mod store;

pub use staging::Staging;
pub use store::Store;

/// What a name in a folder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    Link,
    Pipe,
    Socket,
    Device,
}

/// What the file system knows of a file without opening it.
#[derive(Debug, Clone)]
pub struct Stat {
    pub kind: Kind,
    /// Bytes.
    pub size: u64,
    pub modified: SystemTime,
    /// Permission bits.
    pub mode: u32,
}

impl Stat {
    fn of(metadata: &Metadata) -> io::Result<Stat> {
        let kind = metadata.file_type();
        let kind = if kind.is_symlink() {
            Kind::Link
        } else if kind.is_dir() {
            Kind::Folder
        } else if kind.is_file() {
            Kind::File
        } else if kind.is_fifo() {
            Kind::Pipe
        } else if kind.is_socket() {
            Kind::Socket
        } else {
            Kind::Device
        };
        let mode = metadata.permissions().mode() & 0o777;
        Ok(Stat {
            kind,
            size: metadata.len(),
            modified: metadata.modified()?,
            mode,
        })
    }
}

/// The names in a folder, sorted by their bytes; links are not followed.
pub fn list(folder: &Path) -> io::Result<Vec<(OsString, Stat)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        entries.push((entry.file_name(), Stat::of(&entry.metadata()?)?));
    }
    entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(entries)
}

/// What the path stands for once every link is followed.
pub fn stat(path: &Path) -> io::Result<Stat> {
    Stat::of(&fs::metadata(path)?)
}

/// The absolute path without links, `.` and `..`.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Whether the file belongs to root: whether this process, which has just made it, runs as root.
pub(crate) fn belongs_to_root(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.uid() == 0)
}

/// What a link says, unresolved.
pub fn link_text(path: &Path) -> io::Result<PathBuf> {
    fs::read_link(path)
}

/// The path of a name below a folder.
pub fn join(root: &Path, path: &[u8]) -> PathBuf {
    if path.is_empty() {
        root.to_path_buf()
    } else {
        root.join(OsStr::from_bytes(path))
    }
}

/// All bytes of a regular file.
pub fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let read = || {
        // Opening a pipe waits for a writer, so look first.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("not a file"));
        }
        fs::read(path)
    };
    read().with_context(|| format!("cannot read {}", shown(path)))
}

/// What stands at a path of a folder that may be anybody's work.
#[derive(Debug)]
pub enum Below {
    File(Vec<u8>),
    Missing,
    /// Something else, or reached through a link.
    Elsewhere,
}

/// Reads a file below `root`, which may be a link itself, following no link on the way.
pub fn read_below(root: &Path, path: &crate::site::SitePath) -> anyhow::Result<Below> {
    let mut place = root.to_path_buf();
    let mut segments = path.as_bytes().split(|&b| b == b'/').peekable();
    while let Some(segment) = segments.next() {
        if matches!(segment, b"" | b"." | b"..") || segment.contains(&0) {
            return Ok(Below::Elsewhere);
        }
        place.push(OsStr::from_bytes(segment));
        let metadata = match fs::symlink_metadata(&place) {
            Ok(metadata) => metadata,
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Below::Missing);
            }
            Err(e) => return Err(e).with_context(|| format!("cannot read {}", shown(&place))),
        };
        let fits = match segments.peek() {
            Some(_) => metadata.is_dir(),
            None => metadata.is_file(),
        };
        if !fits {
            return Ok(Below::Elsewhere);
        }
    }
    read(&place).map(Below::File)
}

/// A regular file to read in pieces, with what is known of it.
pub fn open(path: &Path) -> io::Result<(fs::File, Stat)> {
    // Opening a pipe waits for a writer, so look first.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let file = fs::File::open(path)?;
    let stat = Stat::of(&file.metadata()?)?;
    Ok((file, stat))
}

/// Writes a report: whole or not at all, by a temporary file that is renamed. What is no regular file (`/dev/stdout`)
/// is written to as it stands.
pub fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    write_file_by(path, |out| out.write_all(bytes))
}

/// The same for what is written piece by piece, as a big report is.
pub fn write_file_by(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let write = || -> io::Result<()> {
        let old = match fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => {
                let mut device = io::BufWriter::new(fs::File::options().write(true).open(path)?);
                content(&mut device)?;
                return device.flush();
            }
            Ok(metadata) => Some(metadata.permissions()),
            Err(_) => None,
        };
        // Through a link to a file, that file is replaced and the link stays.
        let path = if old.is_some() {
            fs::canonicalize(path)?
        } else {
            path.to_path_buf()
        };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        // Bits that the umask may take away, as for any new file.
        let mode = Permissions::from_mode(0o666);
        let mut file = tempfile::Builder::new()
            .prefix(".fewer-")
            .permissions(mode)
            .tempfile_in(folder)?;
        let mut buffered = io::BufWriter::with_capacity(1 << 16, file.as_file_mut());
        content(&mut buffered)?;
        buffered.flush()?;
        drop(buffered);
        if let Some(old) = old {
            file.as_file().set_permissions(old)?;
        }
        file.persist(&path).map_err(|e| e.error)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", shown(path)))
}

/// Whether `path` lies, or once written would lie, in `folder`; links and missing folders are followed as far as known.
pub fn is_inside(path: &Path, folder: &Path) -> anyhow::Result<bool> {
    Ok(real_or_planned(path)?.0.starts_with(real_or_planned(folder)?.0))
}

/// A path as it may be printed: control characters escaped.
pub(crate) fn shown(path: &Path) -> String {
    crate::site::SitePath::new(path.as_os_str().as_bytes()).to_string()
}

/// Which file or folder this is, whatever its path.
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}

/// The real path that `path` has or will have once the folders that are missing are made. The second part is how
/// many folders, the last one among them, are missing.
fn real_or_planned(path: &Path) -> anyhow::Result<(PathBuf, usize)> {
    use std::path::Component;
    let absolute = std::path::absolute(path).with_context(|| format!("cannot resolve {}", shown(path)))?;
    let mut real = PathBuf::from("/");
    let mut missing = 0;
    for component in absolute.components() {
        match component {
            Component::Normal(name) if missing > 0 => {
                real.push(name);
                missing += 1;
            }
            Component::Normal(name) => {
                let next = real.join(name);
                match fs::canonicalize(&next) {
                    Ok(found) => real = found,
                    Err(e) if e.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(&next).is_err() => {
                        real = next;
                        missing = 1;
                    }
                    Err(e) if e.kind() == io::ErrorKind::NotFound => {
                        bail!(
                            "cannot resolve {}: {} is a link to nothing",
                            shown(path),
                            shown(&next)
                        )
                    }
                    Err(e) => return Err(e).with_context(|| format!("cannot resolve {}", shown(path))),
                }
            }
            Component::ParentDir => {
                real.pop();
                missing = usize::saturating_sub(missing, 1);
            }
            _ => {}
        }
    }
    Ok((real, missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_file_replaces_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.json");
        write_file(&path, b"one").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write_file(&path, b"two").unwrap();
        assert_eq!(read(&path).unwrap(), b"two");
        assert_eq!(stat(&path).unwrap().mode, 0o640);
        let link = dir.path().join("link.json");
        std::os::unix::fs::symlink("report.json", &link).unwrap();
        write_file(&link, b"three").unwrap();
        assert_eq!(read(&path).unwrap(), b"three");
        assert_eq!(list(dir.path()).unwrap().len(), 2);
        write_file(Path::new("/dev/null"), b"four").unwrap();
        assert_eq!(stat(Path::new("/dev/null")).unwrap().kind, Kind::Device);
        assert!(write_file(&dir.path().join("no/folder"), b"").is_err());
    }

    #[test]
    fn read_opens_files_only() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(
            format!("{:#}", read(dir.path()).unwrap_err()),
            format!("cannot read {}: not a file", dir.path().display())
        );
        assert!(read(Path::new("/dev/zero")).is_err());
    }

    #[test]
    fn planned_paths() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        std::os::unix::fs::symlink("a/b", root.join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("dangling")).unwrap();
        let check = |path: &str, expected: &str, missing| {
            assert_eq!(
                real_or_planned(&root.join(path)).unwrap(),
                (root.join(expected), missing),
                "{path}"
            );
        };
        check("a", "a", 0);
        check("link/../c", "a/c", 1);
        check("link/x/y/../z", "a/b/x/z", 2);
        check("new/../a", "a", 0);
        check("new/out", "new/out", 2);
        assert!(real_or_planned(&root.join("dangling/out")).is_err());
    }
}
