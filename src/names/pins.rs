//! Which files must keep their names, and which must stay on the pages' own host: all pages and sheets together.
//!
//! A file has one name for all: were it asked for by two, a page could make one request more.

use std::collections::{BTreeMap, BTreeSet};

use super::looks::{self, Imports};
use super::page::{self, Seen, Tests, Why};
use super::{Ground, is_nameable, webmanifest};
use crate::graph::Destination;
use crate::media::Media;
use crate::relink;
use crate::site::FileId;
use crate::url::{self, Target};
use crate::{css, integrity, parallel};

/// What was found, by file: the first reason counts.
#[derive(Debug, Default)]
pub(super) struct Pins {
    /// Keep their names.
    pub(super) fixed: BTreeMap<FileId, Why>,
    /// Stay on the pages' own host.
    pub(super) stays: BTreeMap<FileId, Why>,
    /// By page: files that it asks for, hints included, in a way that can change; sorted.
    pub(super) used: Vec<Vec<FileId>>,
    pub(super) unsealed: BTreeSet<FileId>,
    pub(super) critical: BTreeMap<u32, Vec<(FileId, String)>>,
    /// By key: stylesheets that some page loads.
    pub(super) loaded: BTreeSet<u32>,
    /// By key: stylesheets that import themselves through others.
    pub(super) circles: BTreeSet<u32>,
    /// Web app manifests that pages link.
    pub(super) manifests: BTreeSet<FileId>,
    /// Files that some page asks for in a way that can change.
    pub(super) anything: BTreeSet<FileId>,
}

pub(super) fn read(ground: Ground<'_>, made: &BTreeSet<FileId>) -> anyhow::Result<Pins> {
    let (site, graph, options) = (ground.site, ground.graph, ground.options);
    let whole = options.names_files() || options.sri;
    let looks = if whole { Some(looks::read(ground)?) } else { None };
    let keys: Vec<u32> = (0..graph.sheets.len() as u32).collect();
    let sheets: Vec<Tests> = if whole {
        parallel::map(&keys, |&key| match &graph.sheets[key as usize].text {
            Some(text) => Tests::of(&text.text),
            None => Tests {
                unreadable: true,
                ..Tests::default()
            },
        })
    } else {
        Vec::new()
    };
    let asks_for_made = |page: &u32| {
        graph.pages[*page as usize].requests.iter().any(|request| {
            matches!(graph.addresses[request.address as usize].to, Destination::File(file) if made.contains(&file))
        })
    };
    let all = whole || options.link_headers;
    let pages: Vec<u32> = (0..graph.pages.len() as u32)
        .filter(|page| all || asks_for_made(page))
        .collect();
    let seen = parallel::map(&pages, |&page| page::read(ground, page, looks.as_ref(), &sheets));

    let mut pins = Pins {
        used: vec![Vec::new(); graph.pages.len()],
        ..Pins::default()
    };
    if graph.has_worker {
        for file in super::ids(site).filter(|file| !made.contains(file)) {
            pins.fix(file, "a service worker may have a list with its name");
            pins.stay(file, "a service worker may have a list with its name");
        }
    }
    for page in &graph.pages {
        pins.loaded.extend(&*page.sheets);
        for (file, _) in page.integrity.iter().filter(|(_, fits)| !fits) {
            pins.fix(*file, "an integrity of it does not fit its bytes");
            pins.stay(*file, "an integrity of it does not fit its bytes");
            pins.unsealed.insert(*file);
        }
        for external in &*page.external {
            if let Some(file) = on_the_host(ground, external) {
                pins.stay(file, "a page asks for it on the other host already");
            }
        }
    }
    let mut imports = looks.as_ref().map(Imports::of_files).unwrap_or_default();
    let mut modules = BTreeSet::new();
    for (page, seen) in pages.iter().zip(seen) {
        pins.take(*page, seen?, &mut imports, &mut modules);
    }
    for file in modules {
        if imports.may_import(&site.file(file).path) {
            pins.fix(file, "a script may import it by its name");
            pins.stay(file, "a script may import it by its name");
        }
    }
    if whole {
        pins.pictures_of_manifests(ground)?;
    }
    if !graph.seals.is_empty() {
        seals(ground, &mut pins)?;
    }
    pins.sheets(ground);
    Ok(pins)
}

/// The file that an address on the other host would be.
fn on_the_host(ground: Ground<'_>, external: &str) -> Option<FileId> {
    let rest = external.strip_prefix(ground.options.cdn.as_deref()?)?;
    let address = format!("{}{rest}", ground.graph.mount.path());
    let root = url::base(&ground.graph.mount, &crate::site::SitePath::new("index.html"));
    match url::resolve(ground.site, &ground.graph.mount, &root, &address) {
        Target::File { file, .. } => Some(file),
        _ => None,
    }
}

/// A script may check a file against a hash that it holds.
fn seals(ground: Ground<'_>, pins: &mut Pins) -> anyhow::Result<()> {
    let files: Vec<FileId> = super::ids(ground.site)
        .filter(|&file| is_nameable(ground, file))
        .collect();
    let sealed = parallel::map(&files, |&file| {
        anyhow::Ok(integrity::is_sealed(
            &ground.site.read(file)?,
            &ground.graph.seals,
        ))
    });
    for (file, sealed) in files.into_iter().zip(sealed) {
        if sealed? {
            pins.fix(file, "a script holds a hash of its bytes");
        }
    }
    Ok(())
}

impl Pins {
    fn fix(&mut self, file: FileId, why: Why) {
        self.fixed.entry(file).or_insert(why);
    }

    fn stay(&mut self, file: FileId, why: Why) {
        self.stays.entry(file).or_insert(why);
    }

    fn take(&mut self, page: u32, seen: Seen, imports: &mut Imports, modules: &mut BTreeSet<FileId>) {
        for (file, why) in seen.fixed {
            self.fix(file, why);
        }
        for (file, why) in seen.stays {
            self.stay(file, why);
        }
        imports.add(&seen.inline);
        modules.extend(seen.modules);
        self.manifests.extend(seen.manifests);
        self.unsealed.extend(seen.unsealed);
        if !seen.critical.is_empty() {
            self.critical.insert(page, seen.critical);
        }
        self.anything.extend(&seen.used);
        let mut used = seen.used;
        used.extend(seen.hinted);
        used.sort_unstable();
        used.dedup();
        self.used[page as usize] = used;
    }

    /// Pictures that only the browser itself asks for.
    fn pictures_of_manifests(&mut self, ground: Ground<'_>) -> anyhow::Result<()> {
        for manifest in self.manifests.clone() {
            let bytes = ground.site.read(manifest)?;
            let Ok(text) = std::str::from_utf8(&bytes) else {
                continue;
            };
            let editable = ground.site.file(manifest).editable;
            for (_, raw) in webmanifest::pictures(text) {
                if let Some(file) = in_manifest(ground, manifest, &raw) {
                    self.stay(file, "a web app manifest names it");
                    if editable {
                        self.anything.insert(file);
                    } else {
                        self.fix(file, "a web app manifest names it that is not edited");
                    }
                }
            }
        }
        Ok(())
    }

    /// What sheets say of other files, and what follows from the sheets that keep their names.
    fn sheets(&mut self, ground: Ground<'_>) {
        let graph = ground.graph;
        self.circles = circles(ground);
        for &key in &self.circles.clone() {
            self.fix(
                graph.sheets[key as usize].file,
                "it imports itself through other stylesheets",
            );
        }
        let loaded: Vec<u32> = self.loaded.iter().copied().collect();
        for &key in &loaded {
            let sheet = &graph.sheets[key as usize];
            for (nth, url) in sheet.scan.urls.iter().enumerate() {
                let Some(file) = target(ground, key, nth) else {
                    continue;
                };
                let text = sheet.text.as_ref().filter(|_| sheet.scan.opaque.is_none());
                if url.place == css::Place::Custom {
                    self.fix(file, "a custom property names it");
                } else if !relink::is_elsewhere(&url.place)
                    && !text.is_some_and(|text| css::is_exchangeable(&text.text, url))
                {
                    self.fix(file, "an address of it stands where nothing is edited");
                }
                if let Some(why) = page::in_css(&url.place, ground.options.cdn_cors) {
                    self.stay(file, why);
                }
                let is_property = matches!(url.place, css::Place::Property { .. });
                if is_property && url.value.contains('#') && ground.site.file(file).media == Media::Svg {
                    self.stay(
                        file,
                        "a part of it is used, which browsers take from the same host only",
                    );
                }
            }
        }
        // What is fixed up to here stays on its host as well.
        for (&file, &why) in &self.fixed.clone() {
            self.stay(file, why);
        }
        let keeps = |pins: &Pins, key: &u32| {
            let file = graph.sheets[*key as usize].file;
            pins.fixed.contains_key(&file) || !is_nameable(ground, file)
        };
        let mut todo: Vec<u32> = loaded.into_iter().filter(|key| keeps(self, key)).collect();
        let mut done: BTreeSet<u32> = todo.iter().copied().collect();
        while let Some(key) = todo.pop() {
            for nth in 0..graph.sheets[key as usize].scan.urls.len() {
                let Some(file) = target(ground, key, nth) else {
                    continue;
                };
                self.fix(file, "a stylesheet that keeps its name asks for it");
                if let Some(next) = graph.sheet_of(file)
                    && done.insert(next)
                {
                    todo.push(next);
                }
            }
        }
    }
}

/// The file that an address of a web app manifest leads to.
pub(super) fn in_manifest(ground: Ground<'_>, manifest: FileId, raw: &str) -> Option<FileId> {
    let mount = &ground.graph.mount;
    match url::resolve(
        ground.site,
        mount,
        &url::base(mount, &ground.site.file(manifest).path),
        raw,
    ) {
        Target::File { file, .. } => Some(file),
        _ => None,
    }
}

/// The file that an address of a stylesheet leads to, whatever it means there.
pub(super) fn target(ground: Ground<'_>, key: u32, nth: usize) -> Option<FileId> {
    let sheet = &ground.graph.sheets[key as usize];
    let url = &sheet.scan.urls[nth];
    match url::resolve(ground.site, &ground.graph.mount, &sheet.base, &url.value) {
        Target::File { file, .. } if file != sheet.file || url.place != css::Place::Custom => Some(file),
        _ => None,
    }
}

/// Stylesheets on a circle of imports, or between two circles: peeled from both ends until nothing more comes off.
fn circles(ground: Ground<'_>) -> BTreeSet<u32> {
    let graph = ground.graph;
    let imports = |key: u32| {
        let urls = graph.sheets[key as usize].scan.urls.iter().enumerate();
        urls.filter(|(_, url)| url.place == css::Place::Import)
            .filter_map(move |(nth, _)| graph.sheet_of(target(ground, key, nth)?))
            .collect::<BTreeSet<u32>>()
    };
    let down: Vec<BTreeSet<u32>> = (0..graph.sheets.len() as u32).map(imports).collect();
    let mut up: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); down.len()];
    for (key, imported) in down.iter().enumerate() {
        for &next in imported {
            up[next as usize].insert(key as u32);
        }
    }
    let left = peel(&down, &up, (0..down.len() as u32).collect());
    peel(&up, &down, left)
}

/// Takes away, again and again, what leads nowhere.
fn peel(next: &[BTreeSet<u32>], back: &[BTreeSet<u32>], mut left: BTreeSet<u32>) -> BTreeSet<u32> {
    let mut counts: Vec<usize> = next
        .iter()
        .map(|all| all.iter().filter(|key| left.contains(key)).count())
        .collect();
    let mut todo: Vec<u32> = left
        .iter()
        .copied()
        .filter(|&key| counts[key as usize] == 0)
        .collect();
    while let Some(key) = todo.pop() {
        left.remove(&key);
        for &before in back[key as usize].iter().filter(|before| left.contains(before)) {
            counts[before as usize] -= 1;
            if counts[before as usize] == 0 {
                todo.push(before);
            }
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_circles_are_left() {
        let check = |edges: &[(u32, u32)], expected: &[u32]| {
            let mut down = vec![BTreeSet::new(); 6];
            let mut up = vec![BTreeSet::new(); 6];
            for &(from, to) in edges {
                down[from as usize].insert(to);
                up[to as usize].insert(from);
            }
            let left = peel(&up, &down, peel(&down, &up, (0..6).collect()));
            assert_eq!(left.into_iter().collect::<Vec<_>>(), expected, "{edges:?}");
        };
        check(&[(0, 1), (1, 2)], &[]);
        check(&[(0, 1), (1, 0), (2, 0), (1, 3)], &[0, 1]);
        check(&[(4, 4)], &[4]);
    }
}
