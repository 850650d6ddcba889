//! Stage 3b: the names and hosts under which pages ask for files, and the bytes that say so.
//!
//! In: the draft of a build (`site`, `graph`, `plan`). Out: [`Names`]: which file gets which name, hashed from its last
//! bytes, which file is asked for on another host, and what sheets and scripts say then. Names are given from the
//! leaves up: a sheet that shows an image is hashed with the image's new name in it. Pages are written by `write`.
//!
//! The old name of a file of SITE always stays, with the bytes that it has without any new name. A file that the shape
//! made has its name from here alone.

mod host;
mod looks;
mod order;
mod page;
mod pins;
mod webmanifest;
mod write;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::SystemTime;

use crate::diagnostic::Diagnostic;
use crate::graph::Graph;
use crate::media::{self, Media};
use crate::options::Options;
use crate::plan::{Action, Cost, Decision, Plan};
use crate::site::{FileId, Site, SitePath};
use crate::url::{self, Mount};

pub(crate) use write::Written;

/// Hexadecimal digits of a hash in a name: 64 bits of BLAKE3.
pub(crate) const DIGITS: usize = 16;

/// What the names are decided from.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    /// SITE as it was read.
    pub(crate) source: &'a Site,
    /// The site that is written, in which all ids are.
    pub(crate) site: &'a Site,
    pub(crate) graph: &'a Graph,
    pub(crate) plan: &'a Plan,
    pub(crate) options: &'a Options,
    /// Pages whose files keep their names: an earlier round showed them to get worse.
    pub(crate) banned: &'a BTreeSet<u32>,
}

/// A file under its new name.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) path: SitePath,
    /// What stands there; `None` where that is what stands under the old name.
    pub(crate) bytes: Option<Arc<[u8]>>,
    /// There is no old name: the file was made by this build.
    pub(crate) alone: bool,
    /// These bytes stand there anyway.
    pub(crate) exists: bool,
    /// The newest time of the file and of everything that a name in it stands for.
    pub(crate) modified: SystemTime,
}

/// All names of a build.
#[derive(Debug, Default)]
pub(crate) struct Names {
    named: BTreeMap<FileId, Named>,
    /// Files whose own name is the hash of their bytes already.
    hashed: BTreeSet<SitePath>,
    /// Files that keep their name and say something else.
    in_place: BTreeMap<FileId, Arc<[u8]>>,
    /// Files that pages ask for on the other host.
    away: BTreeSet<FileId>,
    host: Option<String>,
    /// By file: the value of `integrity`.
    seals: BTreeMap<FileId, String>,
    /// Pages that are written anew.
    pages: BTreeSet<u32>,
    /// By page: the values of its `Link` headers.
    pub(crate) links: BTreeMap<SitePath, Vec<String>>,
    /// By new path, for those who read OUT.
    origin: HashMap<SitePath, FileId>,
    pub(crate) decisions: Vec<(SitePath, Decision)>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// A manifest of an earlier build in SITE: written anew.
    left_out: BTreeSet<FileId>,
    /// SITE has a file of its own in the place of the manifest.
    pub(crate) no_manifest: bool,
    /// `_headers`, where SITE has none.
    pub(crate) headers: Option<Vec<u8>>,
    cors: bool,
}

/// Decides every name.
pub(crate) fn decide(ground: Ground<'_>) -> anyhow::Result<Names> {
    let options = ground.options;
    let is_made = |file: &FileId| {
        ground
            .source
            .find(ground.site.file(*file).path.as_bytes())
            .is_none()
    };
    let made: BTreeSet<FileId> = ids(ground.site).filter(is_made).collect();
    let whole = options.names_files();
    let mut names = Names {
        host: options.cdn.clone(),
        cors: options.cdn_cors,
        ..Names::default()
    };
    names.look_for_manifest(ground)?;
    if made.is_empty() && !whole && !options.sri && !options.link_headers {
        names.hashed = already_hashed(ground)?;
        return Ok(names);
    }
    let mut pins = pins::read(ground, &made)?;
    if options.cdn.is_some() {
        names.away = host::away(ground, &mut pins);
    }
    order::name(ground, &made, &pins, &mut names)?;
    names.hashed.extend(already_hashed(ground)?);
    if options.sri {
        names.seals = write::seals(ground, &pins, &names)?;
    }
    names.pages = pages(ground, &pins, &names);
    if options.link_headers {
        names.links = write::link_headers(ground, &pins, &names);
        names.write_headers(ground)?;
    }
    names.say(ground, &pins);
    Ok(names)
}

/// Pages that ask for something under a new name or on another host, or get a seal.
fn pages(ground: Ground<'_>, pins: &pins::Pins, names: &Names) -> BTreeSet<u32> {
    let changes = |file: &FileId| {
        names.named.contains_key(file)
            || names.away.contains(file)
            || names.in_place.contains_key(file)
            || names.seals.contains_key(file)
    };
    let editable = |page: &u32| ground.graph.pages[*page as usize].opaque.is_none();
    (0..ground.graph.pages.len() as u32)
        .filter(editable)
        .filter(|page| pins.used[*page as usize].iter().any(changes))
        .collect()
}

/// Files that came into SITE under the hash of their bytes: an earlier build named them.
fn already_hashed(ground: Ground<'_>) -> anyhow::Result<BTreeSet<SitePath>> {
    let Some(before) = crate::manifest::of_site(ground.source)? else {
        return Ok(BTreeSet::new());
    };
    let mut found = BTreeSet::new();
    for path in before.immutable {
        let Some(id) = ground.site.find(path.as_bytes()) else {
            continue;
        };
        let stays = ground
            .graph
            .sheet_of(id)
            .is_none_or(|key| !ground.plan.sheets.contains_key(&key));
        if stays && hash_in(&path).is_some_and(|hash| ground.site.read(id).is_ok_and(|b| hash_of(&b) == hash))
        {
            found.insert(path);
        }
    }
    Ok(found)
}

fn ids(site: &Site) -> impl Iterator<Item = FileId> {
    (0..site.files.len() as u32).map(FileId)
}

/// Types of files that may get a new name: what pages are made of, never what has a well-known place.
fn is_nameable(ground: Ground<'_>, file: FileId) -> bool {
    let entry = ground.site.file(file);
    let kind = matches!(
        entry.media,
        Media::Css | Media::Script | Media::Font | Media::Video | Media::Audio
    ) || media::is_image(entry.media)
        || is_map(&entry.path);
    let path = entry.path.as_bytes();
    let apart = path.starts_with(b".well-known/")
        || entry.path.name() == b"favicon.ico"
        || entry.path.name().starts_with(b".");
    kind && !apart
        && entry.editable
        && entry.variant_of.is_none()
        && !ground.options.keeps(&entry.path)
        // A file system takes 255 bytes, and a variant wants three of them.
        && entry.path.name().len() + DIGITS + 1 + 3 <= 255
}

pub(crate) fn is_map(path: &SitePath) -> bool {
    path.extension() == "map"
}

/// The digits that a name of these bytes has.
pub(crate) fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..DIGITS].to_owned()
}

/// The hash in a name: sixteen digits between two points, or behind the last one.
pub(crate) fn hash_in(path: &SitePath) -> Option<String> {
    let name = path.name();
    let parts: Vec<&[u8]> = name.split(|&b| b == b'.').collect();
    let is_hash = |part: &&&[u8]| {
        part.len() == DIGITS
            && part
                .iter()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b))
    };
    let ends = parts.iter().skip(1).rev().take(2);
    ends.clone()
        .find(is_hash)
        .map(|part| String::from_utf8_lossy(part).into_owned())
}

/// The name of the file has the hash of these bytes, its own: an earlier build named it.
pub(crate) fn is_named_by(path: &SitePath, bytes: &[u8]) -> bool {
    hash_in(path).is_some_and(|hash| hash == hash_of(bytes))
}

/// `css/site.css` with this hash: `css/site.1a2b3c4d5e6f7a8b.css`. A hash that it has already is exchanged.
pub(crate) fn with_hash(path: &SitePath, hash: &str) -> SitePath {
    let name = path.name();
    let (stem, ending) = match name.iter().rposition(|&b| b == b'.') {
        Some(dot) if dot > 0 => name.split_at(dot),
        _ => (name, &[][..]),
    };
    let stem = match stem.iter().rposition(|&b| b == b'.') {
        Some(dot)
            if dot > 0
                && stem.len() - dot == DIGITS + 1
                && stem[dot + 1..]
                    .iter()
                    .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b)) =>
        {
            &stem[..dot]
        }
        _ => stem,
    };
    SitePath::new([path.folder(), stem, b".", hash.as_bytes(), ending].concat())
}

impl Names {
    pub(crate) fn of(&self, file: FileId) -> Option<&Named> {
        self.named.get(&file)
    }

    /// This page, or this file that keeps its name, may say something new.
    pub(crate) fn renew(&self, graph: &Graph, file: FileId) -> bool {
        self.in_place.contains_key(&file)
            || graph.page_of(file).is_some_and(|page| self.pages.contains(&page))
    }

    /// What it says, where its bytes were `bytes`.
    pub(crate) fn renewed(&self, site: &Site, graph: &Graph, file: FileId, bytes: &[u8]) -> Option<Written> {
        if let Some(page) = graph.page_of(file) {
            return self.page(site, graph, page, bytes);
        }
        let alone = self.named.get(&file).filter(|named| named.alone);
        let new = alone
            .and_then(|named| named.bytes.as_ref())
            .or_else(|| self.in_place.get(&file))?;
        Some(Written {
            bytes: new.to_vec(),
            modified: alone.map_or(SystemTime::UNIX_EPOCH, |named| named.modified),
        })
    }

    /// SITE's copy of what is written anew at the end.
    pub(crate) fn leaves_out(&self, file: FileId) -> bool {
        self.left_out.contains(&file)
    }

    /// Where a file is found in OUT.
    pub(crate) fn path<'a>(&'a self, site: &'a Site, file: FileId) -> &'a SitePath {
        self.named
            .get(&file)
            .map_or(&site.file(file).path, |named| &named.path)
    }

    /// The path that people know: a file that was made has only its last one.
    pub(crate) fn shown<'a>(&'a self, site: &Site, path: &'a SitePath) -> &'a SitePath {
        let named = site.find(path.as_bytes()).and_then(|file| self.named.get(&file));
        named
            .filter(|named| named.alone)
            .map_or(path, |named| &named.path)
    }

    /// The file of the draft that stands at this path of OUT.
    pub(crate) fn origin(&self, site: &Site, path: &SitePath) -> Option<FileId> {
        self.origin
            .get(path)
            .copied()
            .or_else(|| site.find(path.as_bytes()))
    }

    /// By the address of each new name: the old one.
    pub(crate) fn addresses(&self, site: &Site, mount: &Mount) -> HashMap<String, String> {
        let pairs = self.named.iter().filter(|(_, named)| !named.alone);
        pairs
            .map(|(&file, named)| {
                let old = url::absolute(mount, &site.file(file).path);
                (url::absolute(mount, &named.path), old)
            })
            .collect()
    }

    /// Whether a round without names could be better for these pages.
    pub(crate) fn touch(&self, pages: &[u32]) -> bool {
        let renames = self.named.values().any(|named| !named.alone) || !self.away.is_empty();
        renames && pages.iter().any(|page| self.pages.contains(page))
    }

    /// Paths of OUT that are asked for on the other host.
    pub(crate) fn away(&self, site: &Site) -> BTreeSet<SitePath> {
        self.away
            .iter()
            .map(|&file| self.path(site, file).clone())
            .collect()
    }

    /// Old and new names of files of SITE, and every path that is the hash of its bytes.
    pub(crate) fn manifest(&self, site: &Site) -> crate::manifest::Manifest {
        let pairs = self.named.iter().filter(|(_, named)| !named.alone);
        let files = pairs.map(|(&file, named)| (site.file(file).path.clone(), named.path.clone()));
        let made = self.named.values().map(|named| named.path.clone());
        let extension = |file: &FileId| {
            let name = String::from_utf8_lossy(site.file(*file).path.name()).into_owned();
            name.rsplit_once('.').map(|(_, extension)| extension.to_string())
        };
        crate::manifest::Manifest {
            files: files.collect(),
            immutable: made.chain(self.hashed.iter().cloned()).collect(),
            link_headers: self.links.clone(),
            cors: self
                .away
                .iter()
                .filter(|_| self.cors)
                .filter_map(extension)
                .collect(),
        }
    }

    /// What a policy has to say because files are asked for on another host: one source for each kind of file.
    /// Nothing where the server's policy is known: then nothing was moved against it.
    pub(crate) fn policy_needs(&self, site: &Site, options: &Options) -> Vec<String> {
        let Some(host) = self.host.as_ref().filter(|_| options.csp.is_empty()) else {
            return Vec::new();
        };
        let kinds: BTreeSet<usize> = self
            .away
            .iter()
            .filter_map(|&file| page::kind(site.file(file).media))
            .collect();
        let directive = |kind: usize| ["style-src", "script-src", "img-src", "font-src", "media-src"][kind];
        kinds
            .into_iter()
            .map(|kind| format!("{} {host}", directive(kind)))
            .collect()
    }

    /// A file of that name in SITE is ours, and written anew, or not, and stays.
    fn look_for_manifest(&mut self, ground: Ground<'_>) -> anyhow::Result<()> {
        let name = crate::manifest::NAME;
        let (Some(file), Some(in_site)) = (
            ground.site.find(name.as_bytes()),
            ground.source.find(name.as_bytes()),
        ) else {
            return Ok(());
        };
        if crate::manifest::of_site(ground.source)?.is_some() {
            self.left_out.insert(file);
            return Ok(());
        }
        let options = ground.options;
        anyhow::ensure!(
            !options.fingerprint && options.keep_previous.is_none(),
            "SITE has a {name} of its own, where the manifest belongs that --fingerprint and --keep-previous write: \
             rename it"
        );
        self.no_manifest = true;
        let path = &ground.source.file(in_site).path;
        let message = "SITE has a file of its own where the list of hashed names belongs: none is written";
        self.diagnostics.push(Diagnostic::new(
            path,
            None,
            crate::diagnostic::Code::ManifestTaken,
            message,
        ));
        Ok(())
    }

    /// The `Link` headers as `_headers` says them, behind what SITE says there.
    fn write_headers(&mut self, ground: Ground<'_>) -> anyhow::Result<()> {
        let file = ground.site.find(b"_headers");
        let old = file.map(|file| ground.site.read(file)).transpose()?;
        let new = crate::headers::with_links(old.as_deref(), &self.links, &ground.graph.mount);
        match file {
            Some(file) if old.as_ref() != Some(&new) => {
                anyhow::ensure!(
                    ground.site.file(file).editable,
                    "--link-headers adds to _headers, which --include or --exclude leaves as it is"
                );
                self.in_place.insert(file, new.into());
            }
            None if !new.is_empty() => self.headers = Some(new),
            _ => {}
        }
        Ok(())
    }

    fn say(&mut self, ground: Ground<'_>, pins: &pins::Pins) {
        let path = |file: FileId| ground.site.file(file).path.clone();
        let decision = |file: FileId, action: Action, reason: String| Decision {
            file,
            action,
            reason,
            cost: Cost::default(),
        };
        let mut decisions = Vec::new();
        for (&file, named) in self.named.iter().filter(|(_, named)| !named.alone) {
            let reason = format!("pages ask for {}", named.path);
            decisions.push((path(file), decision(file, Action::Name, reason)));
        }
        if ground.options.fingerprint {
            for (&file, why) in pins.fixed.iter().filter(|(file, _)| is_nameable(ground, **file)) {
                let reason = format!("its name: {why}");
                decisions.push((path(file), decision(file, Action::Keep, reason)));
            }
        }
        if let Some(host) = &self.host {
            for &file in &self.away {
                let reason = format!("pages ask for it at {host}");
                decisions.push((path(file), decision(file, Action::Host, reason)));
            }
            for (&file, why) in pins.stays.iter().filter(|(file, _)| !self.away.contains(file)) {
                if is_nameable(ground, file) {
                    let reason = format!("on the pages' own host: {why}");
                    decisions.push((path(file), decision(file, Action::Keep, reason)));
                }
            }
        }
        self.decisions = decisions;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_stands_before_the_ending() {
        let check = |path: &str, expected: &str| {
            let named = with_hash(&SitePath::new(path), "0123456789abcdef");
            assert_eq!(named, SitePath::new(expected), "{path}");
            assert_eq!(hash_in(&named).as_deref(), Some("0123456789abcdef"));
        };
        check("css/site.css", "css/site.0123456789abcdef.css");
        check("a.min.js", "a.min.0123456789abcdef.js");
        check("a.js.map", "a.js.0123456789abcdef.map");
        check("LICENSE", "LICENSE.0123456789abcdef");
        check("a.ffffffffffffffff.css", "a.0123456789abcdef.css");
        check("ffffffffffffffff.css", "ffffffffffffffff.0123456789abcdef.css");
        check("a.fffffffffffffff.css", "a.fffffffffffffff.0123456789abcdef.css");
    }

    #[test]
    fn what_looks_like_a_hash() {
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(hash_in(&SitePath::new(path)).as_deref(), expected, "{path}")
        };
        check("a.css", None);
        check("0123456789abcdef.css", None);
        check("a.0123456789ABCDEF.css", None);
        check("x/a.0123456789abcdef.css", Some("0123456789abcdef"));
        check("0123456789abcdef/a.css", None);
    }
}
