//! Gives the names, from the leaves up: images, fonts and source maps, then scripts, then stylesheets in the order of
//! their imports. A name is the hash of the last bytes, with all new names in them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use super::pins::{self, Pins};
use super::{Ground, Named, Names, hash_in, hash_of, is_map, is_nameable, webmanifest, with_hash};
use crate::css;
use crate::edit::{self, Edit};
use crate::graph::{Destination, Text};
use crate::media::Media;
use crate::parallel;
use crate::relink;
use crate::site::FileId;
use crate::url::{self, Target};

pub(super) fn name(
    ground: Ground<'_>,
    made: &BTreeSet<FileId>,
    pins: &Pins,
    names: &mut Names,
) -> anyhow::Result<()> {
    let namer = Namer { ground, made, pins };
    let leaves = namer.leaves();
    let hashed = parallel::map(&leaves, |&file| anyhow::Ok(hash_of(&ground.site.read(file)?)));
    for (file, hash) in leaves.into_iter().zip(hashed) {
        namer.add(file, hash?, None, ground.site.file(file).modified, names);
    }
    for &manifest in &pins.manifests {
        namer.manifest(manifest, names)?;
    }
    for file in namer.scripts() {
        let bytes = ground.site.read(file)?;
        let (bytes, modified) = namer.with_map(file, bytes, ground.site.file(file).modified, names);
        namer.give(file, bytes, modified, names);
    }
    for key in namer.sheets() {
        namer.sheet(key, names)?;
    }
    Ok(())
}

struct Namer<'a> {
    ground: Ground<'a>,
    made: &'a BTreeSet<FileId>,
    pins: &'a Pins,
}

impl Namer<'_> {
    fn wants_name(&self, file: FileId) -> bool {
        let fixed = self.pins.fixed.contains_key(&file);
        let wanted = self.made.contains(&file) || self.ground.options.fingerprint;
        wanted && !fixed && is_nameable(self.ground, file)
    }

    /// Files that some page or stylesheet under a new name asks for.
    fn asked(&self) -> BTreeSet<FileId> {
        let mut asked = self.pins.anything.clone();
        for &key in &self.pins.loaded {
            let sheet = &self.ground.graph.sheets[key as usize];
            if !self.wants_name(sheet.file) {
                continue;
            }
            // What the plan put into the sheet is asked for no more.
            let printed = self.ground.plan.sheets.get(&key);
            let rest = printed.map(|change| css::scan(&String::from_utf8_lossy(&change.bytes), false));
            let urls = &rest.as_ref().unwrap_or(&sheet.scan).urls;
            for found in urls.iter().filter(|found| !relink::is_elsewhere(&found.place)) {
                let (site, mount) = (self.ground.site, &self.ground.graph.mount);
                if let Target::File { file, .. } = url::resolve(site, mount, &sheet.base, &found.value) {
                    asked.insert(file);
                }
            }
        }
        asked
    }

    /// What holds no name of another file.
    fn leaves(&self) -> Vec<FileId> {
        let mut asked = self.asked();
        let texts: Vec<FileId> = asked
            .iter()
            .copied()
            .filter(|&file| is_text(self.ground.site.file(file).media) && self.wants_name(file))
            .collect();
        if self.ground.options.fingerprint {
            let maps = parallel::map(&texts, |&file| {
                let bytes = self.ground.site.read(file).ok()?;
                Some(self.map(file, &bytes)?.0)
            });
            asked.extend(maps.into_iter().flatten());
        }
        let is_leaf = |file: &FileId| !is_text(self.ground.site.file(*file).media) && self.wants_name(*file);
        asked.into_iter().filter(is_leaf).collect()
    }

    /// A web app manifest names its pictures by their new names, and keeps its own.
    fn manifest(&self, file: FileId, names: &mut Names) -> anyhow::Result<()> {
        let ground = self.ground;
        let bytes = ground.site.read(file)?;
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Ok(());
        };
        let mut edits = Vec::new();
        for (span, raw) in webmanifest::pictures(text) {
            if let Some(named) = pins::in_manifest(ground, file, &raw).and_then(|to| names.of(to)) {
                let new = relink::renamed(&raw, &url::name(&named.path));
                let with = webmanifest::string(&new).into_bytes();
                edits.push(Edit { span, with });
            }
        }
        if !edits.is_empty() && ground.site.file(file).editable {
            names.in_place.insert(file, edit::splice(&bytes, &edits).into());
        }
        Ok(())
    }

    fn scripts(&self) -> Vec<FileId> {
        let is_script = |file: &FileId| self.ground.site.file(*file).media == Media::Script;
        let asked = self.pins.anything.iter().copied();
        asked
            .filter(|file| is_script(file) && self.wants_name(*file))
            .collect()
    }

    /// Loaded stylesheets, imported ones first; those on a circle come last and keep their names.
    fn sheets(&self) -> Vec<u32> {
        let graph = self.ground.graph;
        let all = &self.pins.loaded;
        let mut waits: BTreeMap<u32, usize> = BTreeMap::new();
        let mut importers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &key in all {
            let urls = graph.sheets[key as usize].scan.urls.iter().enumerate();
            let imports: BTreeSet<u32> = urls
                .filter(|(_, url)| url.place == css::Place::Import)
                .filter_map(|(nth, _)| graph.sheet_of(pins::target(self.ground, key, nth)?))
                .filter(|next| all.contains(next))
                .collect();
            waits.insert(key, imports.len());
            for next in imports {
                importers.entry(next).or_default().push(key);
            }
        }
        let mut order: Vec<u32> = all.iter().copied().filter(|key| waits[key] == 0).collect();
        let mut next = 0;
        while let Some(&key) = order.get(next) {
            next += 1;
            for importer in importers.get(&key).into_iter().flatten() {
                if let Some(count) = waits.get_mut(importer) {
                    *count -= 1;
                    if *count == 0 {
                        order.push(*importer);
                    }
                }
            }
        }
        let done: BTreeSet<u32> = order.iter().copied().collect();
        order.extend(all.iter().filter(|key| !done.contains(key)));
        order
    }

    fn sheet(&self, key: u32, names: &mut Names) -> anyhow::Result<()> {
        let ground = self.ground;
        let sheet = &ground.graph.sheets[key as usize];
        let file = sheet.file;
        let old = match ground.plan.sheets.get(&key) {
            Some(change) => change.bytes.to_vec(),
            None => ground.site.read(file)?,
        };
        let mut modified = self.time(key);
        let mut new = None;
        if sheet.text.is_some()
            && ground.site.file(file).editable
            && let Some(text) = Text::new(&old, None)
        {
            let scan = css::scan(&text.text, false);
            let exchanged = css::exchange(&text.text, &scan, &mut |_, found| {
                if scan.opaque.is_some() || relink::is_elsewhere(&found.place) {
                    return None;
                }
                let Target::File { file: to, .. } =
                    url::resolve(ground.site, &ground.graph.mount, &sheet.base, &found.value)
                else {
                    return None;
                };
                let new = self.reference(file, to, &found.value, names)?;
                if let Some(named) = names.of(to) {
                    modified = modified.max(named.modified);
                }
                Some(new)
            });
            new = exchanged.and_then(|exchanged| text.encode(&exchanged));
        }
        let bytes = new.unwrap_or_else(|| old.clone());
        if !self.wants_name(file) {
            if bytes != old {
                names.in_place.insert(file, bytes.into());
            }
            return Ok(());
        }
        let (bytes, modified) = self.with_map(file, bytes, modified, names);
        let changed = (bytes != old).then(|| Arc::from(bytes.as_slice()));
        self.add(file, hash_of(&bytes), changed, modified, names);
        Ok(())
    }

    /// What a stylesheet says in place of this address; `None` where it stays.
    fn reference(&self, from: FileId, to: FileId, raw: &str, names: &Names) -> Option<String> {
        let site = self.ground.site;
        // A sheet that keeps its name keeps those in it: only hosts change.
        let keeps_names = !self.wants_name(from);
        let path = match keeps_names {
            true if !names.away.contains(&to) => &site.file(to).path,
            _ => names.path(site, to),
        };
        let end = suffix(raw);
        match (&names.host, names.away.contains(&from), names.away.contains(&to)) {
            (Some(host), false, true) => Some(format!("{}{end}", url::on_host(host, path))),
            (Some(_), true, true) => Some(format!("{}{end}", url::relative(&site.file(from).path, path))),
            (Some(_), true, false) => {
                let whole = url::whole(&self.ground.graph.mount, path)?;
                Some(format!("{whole}{end}"))
            }
            _ if *path != site.file(to).path => Some(relink::renamed(raw, &url::name(path))),
            _ => None,
        }
    }

    /// The source map of a text, and where its name stands.
    fn map(&self, file: FileId, bytes: &[u8]) -> Option<(FileId, std::ops::Range<usize>)> {
        const MARK: &[u8] = b"# sourceMappingURL=";
        // It stands in the last line; a map inside the text may make that long.
        let tail = bytes.len().saturating_sub(2048);
        let at = bytes[tail..].windows(MARK.len()).rposition(|w| w == MARK)? + tail + MARK.len();
        let length = bytes[at..]
            .iter()
            .take_while(|b| b.is_ascii_graphic() && **b != b'*')
            .count();
        let raw = std::str::from_utf8(&bytes[at..at + length]).ok()?;
        let ground = self.ground;
        let base = url::base(&ground.graph.mount, &ground.site.file(file).path);
        match url::resolve(ground.site, &ground.graph.mount, &base, raw) {
            Target::File { file, .. } if is_map(&ground.site.file(file).path) => {
                Some((file, at..at + length))
            }
            _ => None,
        }
    }

    /// The text with the new name of its source map.
    fn with_map(
        &self,
        file: FileId,
        bytes: Vec<u8>,
        modified: SystemTime,
        names: &Names,
    ) -> (Vec<u8>, SystemTime) {
        if let Some((map, span)) = self.map(file, &bytes)
            && let Some(named) = names.of(map)
        {
            let raw = String::from_utf8_lossy(&bytes[span.clone()]).into_owned();
            let with = relink::renamed(&raw, &url::name(&named.path)).into_bytes();
            return (
                edit::splice(&bytes, &[Edit { span, with }]),
                modified.max(named.modified),
            );
        }
        (bytes, modified)
    }

    /// The newest time of a stylesheet and of the images that the plan put into it.
    fn time(&self, key: u32) -> SystemTime {
        let ground = self.ground;
        let own = ground.site.file(ground.graph.sheets[key as usize].file).modified;
        let inlined = ground
            .plan
            .sheets
            .get(&key)
            .into_iter()
            .flat_map(|change| &change.inlined);
        let times = inlined.filter_map(|&address| match ground.graph.addresses[address as usize].to {
            Destination::File(file) => Some(ground.site.file(file).modified),
            _ => None,
        });
        times.fold(own, SystemTime::max)
    }

    fn give(&self, file: FileId, bytes: Vec<u8>, modified: SystemTime, names: &mut Names) {
        let hash = hash_of(&bytes);
        let same = self.ground.site.read(file).is_ok_and(|old| old == bytes);
        self.add(file, hash, (!same).then(|| bytes.into()), modified, names);
    }

    fn add(
        &self,
        file: FileId,
        hash: String,
        bytes: Option<Arc<[u8]>>,
        modified: SystemTime,
        names: &mut Names,
    ) {
        let site = self.ground.site;
        let own = &site.file(file).path;
        if bytes.is_none() && hash_in(own).as_deref() == Some(hash.as_str()) {
            names.hashed.insert(own.clone());
            return;
        }
        let path = with_hash(own, &hash);
        let mut exists = names.origin.contains_key(&path);
        if let Some(taken) = site.find(path.as_bytes()) {
            // An earlier build may have written it; what else stands there is not ours to use.
            if !self.is_there(taken, &hash) {
                return;
            }
            exists = true;
        }
        if !exists {
            names.origin.insert(path.clone(), file);
        }
        let named = Named {
            path,
            bytes,
            alone: self.made.contains(&file),
            exists,
            modified,
        };
        names.named.insert(file, named);
    }

    /// The file at the new name has just these bytes, and will have them in OUT.
    fn is_there(&self, taken: FileId, hash: &str) -> bool {
        let ground = self.ground;
        let edited = ground
            .graph
            .sheet_of(taken)
            .is_some_and(|key| ground.plan.sheets.contains_key(&key));
        !edited && ground.site.read(taken).is_ok_and(|bytes| hash_of(&bytes) == hash)
    }
}

fn is_text(media: Media) -> bool {
    matches!(media, Media::Css | Media::Script)
}

/// The query and the fragment of an address.
pub(super) fn suffix(raw: &str) -> &str {
    let raw = raw.trim_matches(|c: char| c <= ' ');
    &raw[raw.find(['?', '#']).unwrap_or(raw.len())..]
}
