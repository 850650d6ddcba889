//! Stage 1: the files of SITE, in path order.
//!
//! `read` walks SITE and knows of each file its path, kind by name, size, time and mode; no file is opened. Contents
//! are read one at a time, by `Site::read`, where a stage works on them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::disk;
use crate::edit::{self, Edit};
use crate::media::Media;
use crate::options::Options;

mod walk;

/// The files of SITE, and what in it is none: links out of it, links to nothing, loops, pipes.
pub fn read(root: &Path, options: &Options) -> anyhow::Result<(Site, Vec<Diagnostic>)> {
    let cannot = || format!("cannot read SITE ({})", disk::shown(root));
    let real = disk::real(root).with_context(cannot)?;
    anyhow::ensure!(
        disk::stat(&real).with_context(cannot)?.kind == disk::Kind::Folder,
        "SITE ({}) is not a folder",
        disk::shown(root)
    );
    let (mut files, diagnostics) = walk::walk(&real, options)?;
    mark_variants(&mut files, options);
    Ok((Site { root: real, files }, diagnostics))
}

/// `X.gz` and `X.br` beside a compressible, editable `X` are variants of it; alone they are ordinary files. Only
/// `X` must be editable: where it changes, its variants do, whatever `--include` says of them.
fn mark_variants(files: &mut [File], options: &Options) {
    for i in 0..files.len() {
        let path = &files[i].path;
        let Some(coding) = crate::variants::coding_of(path) else {
            continue;
        };
        let bytes = path.as_bytes();
        let plain = &bytes[..bytes.len() - coding.suffix().len()];
        // `X` sorts before what begins with it.
        let Ok(found) = files[..i].binary_search_by(|file| file.path.as_bytes().cmp(plain)) else {
            continue;
        };
        if files[found].editable && crate::variants::is_compressible(&files[found].path, options) {
            files[i].variant_of = Some(FileId(found as u32));
        }
    }
}

/// A path below the root of a site: bytes, `/` between segments, no leading `/`, no `.` or `..` segment.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SitePath(Box<[u8]>);

impl SitePath {
    pub fn new(bytes: impl Into<Vec<u8>>) -> SitePath {
        SitePath(bytes.into().into_boxed_slice())
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The folder, with its `/` at the end; empty at the root.
    pub fn folder(&self) -> &[u8] {
        &self.0[..self.0.iter().rposition(|&b| b == b'/').map_or(0, |i| i + 1)]
    }

    /// What stands behind the last `/`.
    pub fn name(&self) -> &[u8] {
        &self.0[self.folder().len()..]
    }

    /// What stands behind the last `.` of the name, in lower case; empty without one.
    pub fn extension(&self) -> String {
        let name = self.name();
        let Some(dot) = name.iter().rposition(|&b| b == b'.') else {
            return String::new();
        };
        String::from_utf8_lossy(&name[dot + 1..]).to_ascii_lowercase()
    }
}

/// Control characters are escaped, bytes that are no UTF-8 shown as `\xE9`: safe to print on a terminal.
impl fmt::Display for SitePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                if c.is_control() {
                    write!(f, "{}", c.escape_default())?
                } else {
                    write!(f, "{c}")?
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02X}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for SitePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// The rank of a file in path order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileId(pub u32);

#[derive(Debug, Clone)]
pub struct File {
    pub path: SitePath,
    pub media: Media,
    /// Bytes.
    pub size: u64,
    pub modified: SystemTime,
    /// Permission bits.
    pub mode: u32,
    /// False for files that `--include` or `--exclude` leaves out: copied, never edited, inlined or encoded.
    pub editable: bool,
    /// For `X.gz` and `X.br` beside a compressible `X`: that file. A variant is made anew or left out.
    pub variant_of: Option<FileId>,
    pub content: Content,
}

/// Where the bytes of a file come from. In SITE itself always from disk. One pointer wide: there are many files.
#[derive(Debug, Clone, Default)]
pub enum Content {
    #[default]
    Disk,
    Changed(Box<Changed>),
}

#[derive(Debug, Clone)]
pub enum Changed {
    /// What is on disk with these edits, if it still is what the edits were made for.
    Edited { hash: u64, edits: Arc<[Edit]> },
    /// A file that is not on disk, or no longer what is there.
    Made(Arc<[u8]>),
}

impl Content {
    pub(crate) fn edited(hash: u64, edits: Arc<[Edit]>) -> Content {
        Content::Changed(Box::new(Changed::Edited { hash, edits }))
    }

    pub(crate) fn made(bytes: impl Into<Arc<[u8]>>) -> Content {
        Content::Changed(Box::new(Changed::Made(bytes.into())))
    }

    pub(crate) fn is_made(&self) -> bool {
        matches!(self, Content::Changed(changed) if matches!(**changed, Changed::Made(_)))
    }

    /// Bytes of the whole, where the file on disk has `disk` bytes.
    fn size(&self, disk: u64) -> u64 {
        let Content::Changed(changed) = self else {
            return disk;
        };
        match &**changed {
            Changed::Edited { edits, .. } => {
                let (gone, come) = edits.iter().fold((0, 0), |(gone, come), edit| {
                    (gone + edit.span.len() as u64, come + edit.with.len() as u64)
                });
                disk + come - gone
            }
            Changed::Made(bytes) => bytes.len() as u64,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Site {
    pub root: PathBuf,
    /// Sorted by the bytes of the path.
    pub files: Vec<File>,
}

impl Site {
    /// All files of this kind that are no variants, in path order.
    pub fn files_of(&self, media: Media) -> Vec<FileId> {
        let is_one = |file: &File| file.media == media && file.variant_of.is_none();
        let files = self.files.iter().enumerate().filter(|(_, file)| is_one(file));
        files.map(|(id, _)| FileId(id as u32)).collect()
    }

    /// All bytes of a file.
    pub fn read(&self, id: FileId) -> anyhow::Result<Vec<u8>> {
        let Content::Changed(changed) = &self.file(id).content else {
            return disk::read(&self.place(id));
        };
        match &**changed {
            Changed::Edited { hash, edits } => {
                let bytes = disk::read(&self.place(id))?;
                anyhow::ensure!(
                    crate::graph::hash(&bytes) == *hash,
                    "{} changed during the build",
                    self.file(id).path
                );
                Ok(edit::splice(&bytes, edits))
            }
            Changed::Made(bytes) => Ok(bytes.to_vec()),
        }
    }

    /// The same site with other contents for some of its files, and with more files.
    pub(crate) fn with(&self, changed: BTreeMap<FileId, (Content, SystemTime)>, added: Vec<File>) -> Site {
        let mut old: Vec<(Option<FileId>, File)> = Vec::with_capacity(self.files.len() + added.len());
        for (index, file) in self.files.iter().enumerate() {
            let mut file = file.clone();
            let id = FileId(index as u32);
            if let Some((content, modified)) = changed.get(&id) {
                file.size = content.size(file.size);
                file.content = content.clone();
                file.modified = *modified;
            }
            old.push((Some(id), file));
        }
        old.extend(added.into_iter().map(|file| (None, file)));
        old.sort_by(|(_, a), (_, b)| a.path.cmp(&b.path));
        let mut moved = vec![FileId(0); self.files.len()];
        for (index, (id, _)) in old.iter().enumerate() {
            if let Some(id) = id {
                moved[id.0 as usize] = FileId(index as u32);
            }
        }
        let files = old.into_iter().map(|(_, mut file)| {
            file.variant_of = file.variant_of.map(|id| moved[id.0 as usize]);
            file
        });
        Site {
            root: self.root.clone(),
            files: files.collect(),
        }
    }

    /// Where the file stands on disk.
    pub fn place(&self, id: FileId) -> PathBuf {
        disk::join(&self.root, self.file(id).path.as_bytes())
    }

    pub fn file(&self, id: FileId) -> &File {
        &self.files[id.0 as usize]
    }

    /// The file at exactly this path.
    pub fn find(&self, path: &[u8]) -> Option<FileId> {
        self.files
            .binary_search_by(|file| file.path.as_bytes().cmp(path))
            .ok()
            .map(|i| FileId(i as u32))
    }

    /// Whether some file lies below this folder (no `/` at its end; empty is the root).
    pub fn has_folder(&self, path: &[u8]) -> bool {
        if path.is_empty() {
            return true;
        }
        let prefix = [path, b"/"].concat();
        let at = self
            .files
            .partition_point(|file| file.path.as_bytes() < prefix.as_slice());
        self.files
            .get(at)
            .is_some_and(|file| file.path.as_bytes().starts_with(&prefix))
    }
}
