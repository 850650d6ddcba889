//! `--keep-previous`: what an earlier build named by its content, carried into the new OUT, so that a page which a
//! visitor or a cache still has never asks for a file that is gone.
//!
//! In: the old OUT and its manifest. Only files whose bytes still have the hash in their name are taken, through no
//! symbolic link. A file leaves for good by being deleted from the old OUT.

use std::collections::BTreeSet;
use std::path::Path;

use crate::diagnostic::{Code, Diagnostic};
use crate::disk::{self, Staging};
use crate::encode::Coding;
use crate::manifest::{self, Manifest};
use crate::names::{hash_in, hash_of};
use crate::options::Options;
use crate::site::SitePath;
use crate::variants;

/// What was found in the old OUT.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// Everything that stands in the new OUT under the hash of its bytes because of the old one.
    pub(crate) paths: Vec<SitePath>,
    /// Extensions that pages of the old OUT ask for on another host.
    pub(crate) cors: BTreeSet<String>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// The folder must be there, unless it is OUT itself and this is the first build.
pub(crate) fn check(old: &Path, out: &Path) -> anyhow::Result<()> {
    match disk::stat(old) {
        Ok(stat) if stat.kind == disk::Kind::Folder => Ok(()),
        Ok(_) => anyhow::bail!("--keep-previous {}: not a folder", disk::shown(old)),
        Err(_) if disk::is_inside(old, out)? && disk::is_inside(out, old)? => Ok(()),
        Err(error) => anyhow::bail!(
            "--keep-previous {}: {error}; name the OUT of an earlier build, or leave the option out for the first one",
            disk::shown(old)
        ),
    }
}

/// Copies what is missing in the new OUT. `manifest` is that of the new OUT.
pub(crate) fn carry(
    old: &Path,
    manifest: &Manifest,
    staging: &Staging,
    options: &Options,
) -> anyhow::Result<Carried> {
    let mut carried = Carried::default();
    let Some(before) = read_manifest(old)? else {
        return Ok(carried);
    };
    carried.cors = before.cors;
    for path in before.immutable {
        let Some(hash) = hash_in(&path) else { continue };
        if manifest.immutable.contains(&path) {
            continue;
        }
        let bytes = match disk::read_below(old, &path)? {
            disk::Below::File(bytes) => bytes,
            // Deleted: that is how a file leaves.
            disk::Below::Missing => continue,
            disk::Below::Elsewhere => {
                carried.say(
                    &path,
                    "it is no file of the old OUT itself, but reached through a link",
                );
                continue;
            }
        };
        if hash_of(&bytes) != hash {
            carried.say(
                &path,
                "its bytes are no longer those that its name is the hash of",
            );
            continue;
        }
        match disk::read_below(staging.path(), &path)? {
            disk::Below::Missing => {
                write(old, &path, &bytes, staging, options)?;
                carried.paths.push(path);
            }
            disk::Below::File(now) if now == bytes => carried.paths.push(path),
            _ => carried.say(&path, "SITE has another file of this name"),
        }
    }
    Ok(carried)
}

/// The file with the variants that the old OUT has of it.
fn write(
    old: &Path,
    path: &SitePath,
    bytes: &[u8],
    staging: &Staging,
    options: &Options,
) -> anyhow::Result<()> {
    let stat = disk::stat(&disk::join(old, path.as_bytes()))?;
    staging.write(path, bytes, stat.modified, stat.mode)?;
    let mut bodies = Vec::new();
    for coding in Coding::ALL {
        let beside = SitePath::new([path.as_bytes(), coding.suffix().as_bytes()].concat());
        if let disk::Below::File(body) = disk::read_below(old, &beside)?
            && variants::unpacks_to(coding, &body, bytes)
        {
            bodies.push((coding, body));
        }
    }
    // All or none, as for every other file; what is gone or stale is made anew.
    if bodies.len() != Coding::ALL.len() && variants::is_compressible(path, options) {
        let made = variants::make(bytes, options);
        if !made.is_empty() {
            bodies = made;
        }
    }
    for (coding, body) in bodies {
        let beside = SitePath::new([path.as_bytes(), coding.suffix().as_bytes()].concat());
        if let disk::Below::Missing = disk::read_below(staging.path(), &beside)? {
            staging.write(&beside, &body, stat.modified, stat.mode)?;
        }
    }
    Ok(())
}

fn read_manifest(old: &Path) -> anyhow::Result<Option<Manifest>> {
    match disk::read_below(old, &SitePath::new(manifest::NAME))? {
        disk::Below::File(bytes) => Ok(manifest::read(&bytes)),
        _ => Ok(None),
    }
}

impl Carried {
    fn say(&mut self, path: &SitePath, message: &str) {
        self.diagnostics
            .push(Diagnostic::new(path, None, Code::NotCarried, message));
    }
}
