//! The walk over SITE: real folders first, then what links add to them.
//!
//! A link to a file or folder inside SITE is followed wherever it stands, so both sets of addresses exist in OUT as they
//! do on a server. Only a link to a folder that it stands in is a loop. Links between folders can multiply without end
//! that way (n folders with links to each other have n! paths): what links add is bounded by the size of the rest.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, bail};

use super::{Content, File, SitePath};
use crate::diagnostic::{Code, Diagnostic};
use crate::disk::{self, Kind, Stat};
use crate::media;
use crate::options::Options;

/// Names that links may add: so many, and so many for each real one (a `latest` in each of 16 versions and more).
const LINKED: usize = 100_000;
const LINKED_PER_REAL: usize = 16;

/// What a path may have on the systems we know (Linux's PATH_MAX without the NUL at the end).
const PATH_BYTES: usize = 4095;

/// Every file in path order, and a diagnostic for every name that is none.
pub(super) fn walk(root: &Path, options: &Options) -> anyhow::Result<(Vec<File>, Vec<Diagnostic>)> {
    let mut walk = Walk {
        root,
        options,
        files: Vec::new(),
        diagnostics: Vec::new(),
        folders: Vec::new(),
        links: VecDeque::new(),
        seen: 0,
    };
    let top = Rc::new(Chain {
        real: root.to_path_buf(),
        outer: None,
    });
    walk.folders.push(Folder {
        path: Vec::new(),
        chain: top,
    });
    walk.folders(usize::MAX)?;
    let most = LINKED + LINKED_PER_REAL * walk.seen;
    walk.seen = 0;
    while let Some(link) = walk.links.pop_front() {
        walk.follow(link)?;
        walk.folders(most)?;
    }
    let Walk {
        mut files,
        mut diagnostics,
        ..
    } = walk;
    anyhow::ensure!(
        u32::try_from(files.len()).is_ok(),
        "SITE has {} files, more than fewer can count",
        files.len()
    );
    files.shrink_to_fit();
    // A folder's path sorts with its `/`, among names with lower bytes: only the whole paths can be sorted.
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    diagnostics.sort_unstable();
    Ok((files, diagnostics))
}

struct Walk<'a> {
    root: &'a Path,
    options: &'a Options,
    files: Vec<File>,
    diagnostics: Vec<Diagnostic>,
    folders: Vec<Folder>,
    links: VecDeque<Folder>,
    /// Names met so far: in real folders first, then behind links.
    seen: usize,
}

/// A folder to list; of a link to follow, the path of the link and the folders around it.
struct Folder {
    /// Below the root, without a `/` at its end.
    path: Vec<u8>,
    chain: Rc<Chain>,
}

/// The folder and those around it, as they were walked to.
struct Chain {
    real: PathBuf,
    outer: Option<Rc<Chain>>,
}

impl Walk<'_> {
    fn folders(&mut self, most: usize) -> anyhow::Result<()> {
        while let Some(folder) = self.folders.pop() {
            let place = disk::join(self.root, &folder.path);
            let entries = match disk::list(&place) {
                Ok(entries) => entries,
                Err(e) if folder.path.is_empty() => return Err(e).context("cannot read SITE"),
                Err(e) => {
                    return Err(e).with_context(|| format!("cannot read {}", SitePath::new(folder.path)));
                }
            };
            self.seen += entries.len();
            if self.seen > most {
                bail!(
                    "too many files behind symbolic links: {} is one of more than {most}; do folders link to each other?",
                    SitePath::new(folder.path)
                );
            }
            for (name, stat) in entries {
                let path = child(&folder.path, &name);
                if self.root.as_os_str().len() + 1 + path.len() > PATH_BYTES {
                    // A real file must not be lost; one behind links no server could open either.
                    let path = SitePath::new(path);
                    anyhow::ensure!(
                        most < usize::MAX,
                        "the path of {path} is longer than {PATH_BYTES} bytes"
                    );
                    let message = format!(
                        "a path of more than {PATH_BYTES} bytes through links: it has no file in OUT"
                    );
                    self.diagnostics
                        .push(Diagnostic::new(&path, None, Code::LinkLoop, message));
                    continue;
                }
                match stat.kind {
                    Kind::Folder => {
                        let real = folder.chain.real.join(&name);
                        let chain = Rc::new(Chain {
                            real,
                            outer: Some(Rc::clone(&folder.chain)),
                        });
                        self.folders.push(Folder { path, chain });
                    }
                    Kind::Link => self.links.push_back(Folder {
                        path,
                        chain: Rc::clone(&folder.chain),
                    }),
                    _ => self.add(path, stat),
                }
            }
        }
        Ok(())
    }

    fn follow(&mut self, link: Folder) -> anyhow::Result<()> {
        let place = disk::join(self.root, &link.path);
        let real = match disk::real(&place) {
            Ok(real) => real,
            Err(e) => {
                let (code, what) = match e.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory => {
                        (Code::LinkDangling, "which does not exist")
                    }
                    ErrorKind::PermissionDenied => (Code::LinkDangling, "which may not be read"),
                    // Links that only lead to links, or more of them in a row than the system follows.
                    _ => (Code::LinkLoop, "which leads nowhere"),
                };
                self.report_link(&link, &place, code, what);
                return Ok(());
            }
        };
        if !real.starts_with(self.root) {
            self.report_link(&link, &place, Code::LinkOutside, "which is outside of SITE");
            return Ok(());
        }
        let stat = disk::stat(&real).with_context(|| format!("cannot read {}", disk::shown(&place)))?;
        if stat.kind != Kind::Folder {
            self.add(link.path, stat);
            return Ok(());
        }
        // The folders around the link, where it really stands and as it was walked to.
        let mut around = std::iter::successors(Some(&link.chain), |chain| chain.outer.as_ref());
        if link.chain.real.starts_with(&real) || around.any(|chain| chain.real == real) {
            self.report_link(&link, &place, Code::LinkLoop, "a folder that it stands in");
            return Ok(());
        }
        let chain = Rc::new(Chain {
            real,
            outer: Some(link.chain),
        });
        self.folders.push(Folder {
            path: link.path,
            chain,
        });
        Ok(())
    }

    fn add(&mut self, path: Vec<u8>, stat: Stat) {
        let path = SitePath::new(path);
        let what = match stat.kind {
            Kind::Pipe => "a named pipe",
            Kind::Socket => "a socket",
            Kind::Device => "a device",
            Kind::File | Kind::Folder | Kind::Link => {
                let editable = is_editable(&path, self.options);
                let media = media::by_name(&path);
                let Stat {
                    size, modified, mode, ..
                } = stat;
                self.files.push(File {
                    path,
                    media,
                    size,
                    modified,
                    mode,
                    editable,
                    variant_of: None,
                    content: Content::Disk,
                });
                return;
            }
        };
        let message = format!("{what}, not a file: it has no file in OUT");
        self.diagnostics
            .push(Diagnostic::new(&path, None, Code::NotAFile, message));
    }

    fn report_link(&mut self, link: &Folder, place: &Path, code: Code, what: &str) {
        let text = disk::link_text(place).unwrap_or_default();
        let message = format!("a link to {}, {what}: it has no file in OUT", disk::shown(&text));
        self.diagnostics.push(Diagnostic::new(
            &SitePath::new(link.path.clone()),
            None,
            code,
            message,
        ));
    }
}

fn child(folder: &[u8], name: &OsStr) -> Vec<u8> {
    let separator: &[u8] = if folder.is_empty() { b"" } else { b"/" };
    [folder, separator, name.as_bytes()].concat()
}

fn is_editable(path: &SitePath, options: &Options) -> bool {
    if options.keeps(path) {
        return false;
    }
    let path = Path::new(OsStr::from_bytes(path.as_bytes()));
    options
        .include
        .as_ref()
        .is_none_or(|include| include.is_match(path))
        && options
            .exclude
            .as_ref()
            .is_none_or(|exclude| !exclude.is_match(path))
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
