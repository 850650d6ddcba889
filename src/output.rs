//! Stage 4: every file of SITE into OUT, edited where the plan says so, with its variants beside it.
//!
//! The longest work begins first, and no more begins at once than fits into the memory that the options give. What is
//! too large for it is streamed; equal bytes are encoded once.

mod once;
mod stream;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::SystemTime;

use crate::disk::{self, Staging};
use crate::encode::Coding;
use crate::graph::{self, AddressId, Destination, Graph};
use crate::measure::{self, Sizes};
use crate::names::{Named, Names};
use crate::options::Options;
use crate::parallel::{self, Budget};
use crate::plan::Plan;
use crate::rewrite::{PageEdits, Reader};
use crate::site::{Content, FileId, Site, SitePath};
use crate::variants::{self, Own};
use once::Once;

/// What became of one file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Written {
    /// The body, and the variants that a server can send.
    pub sizes: Sizes,
    /// Bytes of the variants beside it; 0 where there is none.
    pub gzip_file: u64,
    pub br_file: u64,
    pub zstd_file: u64,
    pub edited: bool,
    /// SITE brought a variant that did not fit.
    pub stale_variant: bool,
    /// What names, hosts and seals that were asked for add to `sizes`, where pages ask for the file: identity, gzip,
    /// brotli.
    pub apart: [i64; 3],
}

/// Writes all files below `staging`, in no particular order; the result is by `FileId`.
pub(crate) fn write(
    site: &Site,
    graph: &Graph,
    plan: &Plan,
    names: &Names,
    staging: &Staging,
    options: &Options,
) -> anyhow::Result<Vec<Written>> {
    let mut own_variants: Vec<Vec<FileId>> = vec![Vec::new(); site.files.len()];
    for id in (0..site.files.len() as u32).map(FileId) {
        if let Some(plain) = site.file(id).variant_of {
            own_variants[plain.0 as usize].push(id);
        }
    }
    let mut ids: Vec<FileId> = (0..site.files.len() as u32).map(FileId).collect();
    ids.retain(|&id| site.file(id).variant_of.is_none());
    let writer = Writer {
        site,
        graph,
        plan,
        names,
        staging,
        options,
        own_variants,
        once: Once::new(ids.iter().map(|&id| site.file(id).size)),
    };
    // The longest work first, so that no thread is left with it at the end. Copying is short whatever the size.
    let work = |id: FileId| Some(site.file(id).size).filter(|_| variants::wanted(site.file(id), options));
    ids.sort_by_cached_key(|&id| (Reverse(work(id)), id));
    // Of files of one size, which may be equal, all but the first come later: a thread would only wait for the other
    // that packs the same.
    let mut sizes = HashSet::new();
    let (first, more): (Vec<FileId>, Vec<FileId>) = ids
        .iter()
        .partition(|&&id| work(id).is_none_or(|size| sizes.insert(size)));
    let ids = [first, more].concat();
    let budget = Budget::new(options.memory);
    let write = |&id: &FileId| {
        let _share = budget.take(need(work(id).unwrap_or(0), options));
        writer.file(id)
    };
    let mut written = vec![Written::default(); site.files.len()];
    for (id, result) in ids.iter().zip(parallel::map_in_turn(&ids, write)) {
        written[id.0 as usize] = result?;
    }
    Ok(written)
}

/// Bytes that encoding a file of this size takes, at most: the file as it was read, edited and packed, and what the
/// encoders hold, of which brotli's tree of the window is the largest (8 bytes for each byte of it; the largest window
/// has 16 MiB). Measured with brotli 11: 216 MiB for a file of 20 MB.
fn need(size: u64, options: &Options) -> u64 {
    let encoders = 12 * size.min(1 << 24);
    if stream::is_large(size, options) {
        return encoders;
    }
    size.saturating_mul(3).saturating_add(encoders)
}

struct Writer<'a> {
    site: &'a Site,
    graph: &'a Graph,
    plan: &'a Plan,
    names: &'a Names,
    staging: &'a Staging,
    options: &'a Options,
    own_variants: Vec<Vec<FileId>>,
    once: Once,
}

impl Writer<'_> {
    fn file(&self, id: FileId) -> anyhow::Result<Written> {
        let file = self.site.file(id);
        let named = self.names.of(id);
        let alone = named.filter(|named| named.alone);
        if self.names.leaves_out(id) || alone.is_some_and(|named| named.exists) {
            return Ok(Written::default());
        }
        let wants_variants = variants::wanted(file, self.options);
        let edited = self.edited(id)?;
        let mut modified = if edited.is_some() {
            self.newest(id)
        } else {
            file.modified
        };
        let is_disk = matches!(file.content, Content::Disk);
        let stays = is_disk && edited.is_none() && !self.names.renew(self.graph, id);
        if stays && !wants_variants && self.own_variants[id.0 as usize].is_empty() {
            let place = self.site.place(id);
            let size = self.staging.copy(&place, &file.path, modified, file.mode)?;
            if let Some(named) = named.filter(|named| !named.exists) {
                self.staging
                    .copy(&place, &named.path, named.modified, file.mode)?;
            }
            return Ok(Written {
                sizes: Sizes::plain(size),
                ..Written::default()
            });
        }
        let is_other = self.graph.page_of(id).is_none() && self.graph.sheet_of(id).is_none();
        let has_own = !self.own_variants[id.0 as usize].is_empty();
        let is_plain = stays && is_other && !has_own && named.is_none();
        if is_plain && stream::is_large(file.size, self.options) {
            return self.stream(id);
        }
        let mut is_edited = edited.is_some() || !is_disk;
        let mut bytes = match edited {
            Some(bytes) => bytes,
            None => self.unchanged(id)?,
        };
        let mut apart = [0; 3];
        if let Some(renewed) = self.names.renewed(self.site, self.graph, id, &bytes) {
            apart = self.apart(&bytes, &renewed.bytes, wants_variants);
            bytes = renewed.bytes;
            modified = modified.max(renewed.modified);
            is_edited = true;
        }
        let path = alone.map_or(&file.path, |named| &named.path);
        self.staging.write(path, &bytes, modified, file.mode)?;
        if wants_variants && !has_own && named.is_none() {
            let mut written = Written {
                sizes: Sizes::plain(bytes.len() as u64),
                edited: is_edited,
                apart,
                ..Written::default()
            };
            self.variants(id, &bytes, modified, &mut written)?;
            // What was asked for by name counts apart.
            written.sizes = written.sizes.with(apart.map(|more| -more));
            return Ok(written);
        }
        let made = if wants_variants {
            variants::make(&bytes, self.options)
        } else {
            Vec::new()
        };
        let mut written = Written {
            sizes: Sizes::plain(bytes.len() as u64),
            edited: is_edited,
            apart,
            ..Written::default()
        };
        let mut done = Vec::new();
        for &own in &self.own_variants[id.0 as usize] {
            let path = &self.site.file(own).path;
            let packed = self.site.read(own)?;
            let linked = self.graph.referenced[own.0 as usize];
            let coding = variants::coding_of(path);
            let plain = if is_edited {
                disk::read(&self.site.place(id))?
            } else {
                bytes.clone()
            };
            written.stale_variant |= coding.is_some_and(|c| !variants::unpacks_to(c, &packed, &plain));
            let body =
                match variants::own_variant(self.site, own, &packed, &bytes, &made, linked, self.options) {
                    Own::Keep => packed,
                    Own::Rewrite(body) => body,
                    Own::Remove => continue,
                };
            self.staging.write(path, &body, modified, file.mode)?;
            written.count(coding, body.len());
            done.extend(coding);
        }
        for (coding, body) in &made {
            if done.contains(coding) {
                continue;
            }
            let path = SitePath::new([path.as_bytes(), coding.suffix().as_bytes()].concat());
            self.staging.write(&path, body, modified, file.mode)?;
            written.count(Some(*coding), body.len());
        }
        // What was asked for by name counts apart.
        written.sizes = written.sizes.with(apart.map(|more| -more));
        if let Some(named) = named.filter(|named| !named.alone && !named.exists) {
            self.copy(id, named, &bytes, &made, &mut written)?;
        }
        Ok(written)
    }

    /// The file once more, under its new name.
    fn copy(
        &self,
        id: FileId,
        named: &Named,
        bytes: &[u8],
        made: &[(Coding, Vec<u8>)],
        written: &mut Written,
    ) -> anyhow::Result<()> {
        let mode = self.site.file(id).mode;
        let (bytes, made) = match &named.bytes {
            None => (bytes, Cow::Borrowed(made)),
            Some(new) if variants::wanted(self.site.file(id), self.options) => {
                (&**new, Cow::Owned(variants::make(new, self.options)))
            }
            Some(new) => (&**new, Cow::Borrowed(&[][..])),
        };
        self.staging.write(&named.path, bytes, named.modified, mode)?;
        let mut sizes = Sizes::plain(bytes.len() as u64);
        for (coding, body) in &*made {
            let path = SitePath::new([named.path.as_bytes(), coding.suffix().as_bytes()].concat());
            self.staging.write(&path, body, named.modified, mode)?;
            match coding {
                Coding::Gzip => {
                    sizes.gzip = body.len() as u64;
                    written.gzip_file += sizes.gzip;
                }
                Coding::Brotli => {
                    sizes.br = body.len() as u64;
                    written.br_file += sizes.br;
                }
                Coding::Zstd => written.zstd_file += body.len() as u64,
            }
        }
        let was = written.sizes;
        written.apart = [
            sizes.identity as i64 - was.identity as i64,
            sizes.gzip as i64 - was.gzip as i64,
            sizes.br as i64 - was.br as i64,
        ];
        Ok(())
    }

    /// What the new bytes have more, at the fast levels; nothing where nobody asked for them.
    fn apart(&self, old: &[u8], new: &[u8], encoded: bool) -> [i64; 3] {
        if !self.options.asks_apart() {
            return [0; 3];
        }
        let measure = |bytes| measure::sizes(bytes, encoded, measure::levels(self.options), self.options);
        let (old, new) = (measure(old), measure(new));
        [
            new.identity as i64 - old.identity as i64,
            new.gzip as i64 - old.gzip as i64,
            new.br as i64 - old.br as i64,
        ]
    }

    fn variant_path(&self, id: FileId, coding: Coding) -> SitePath {
        SitePath::new([self.site.file(id).path.as_bytes(), coding.suffix().as_bytes()].concat())
    }

    /// The bytes that the plan gives this file, if it changes them.
    fn edited(&self, id: FileId) -> anyhow::Result<Option<Vec<u8>>> {
        if let Some(change) = self.graph.sheet_of(id).and_then(|key| self.plan.sheets.get(&key)) {
            return Ok(Some(change.bytes.to_vec()));
        }
        let Some(page) = self.graph.page_of(id) else {
            return Ok(None);
        };
        let Some(change) = self.plan.pages.get(&page) else {
            return Ok(None);
        };
        let bytes = self.unchanged(id)?;
        let images = change
            .inlined
            .iter()
            .filter_map(|address| Some((*address, self.plan.images.get(address)?.clone())))
            .collect();
        let reader = Reader::new(self.site, self.graph, self.options, page, &bytes);
        let edited = reader.rewrite(&PageEdits {
            minify: change.minify,
            images: &images,
            plan: self.plan,
            known: &self.plan.styles,
        });
        Ok(Some(edited).filter(|edited| *edited != bytes))
    }

    /// The file's bytes, which must be those that the plan was made from.
    fn unchanged(&self, id: FileId) -> anyhow::Result<Vec<u8>> {
        let bytes = self.site.read(id)?;
        let page = self
            .graph
            .page_of(id)
            .map(|page| self.graph.pages[page as usize].hash);
        let sheet = self
            .graph
            .sheet_of(id)
            .map(|key| self.graph.sheets[key as usize].hash);
        let expected = page.or(sheet).unwrap_or_else(|| graph::hash(&bytes));
        anyhow::ensure!(
            graph::hash(&bytes) == expected,
            "{} changed during the build",
            self.site.file(id).path
        );
        Ok(bytes)
    }

    /// The newest modification time of all files that the new bytes depend on: servers derive validators from it.
    fn newest(&self, id: FileId) -> SystemTime {
        let mut newest = self.site.file(id).modified;
        let mut count = |addresses: &mut dyn Iterator<Item = &AddressId>| {
            for address in addresses {
                if let Destination::File(file) = self.graph.addresses[*address as usize].to {
                    newest = newest.max(self.site.file(file).modified);
                }
            }
        };
        if let Some(change) = self.graph.sheet_of(id).and_then(|key| self.plan.sheets.get(&key)) {
            count(&mut change.inlined.iter());
        }
        if let Some(page) = self.graph.page_of(id) {
            if let Some(change) = self.plan.pages.get(&page) {
                count(&mut change.inlined.iter());
            }
            for (file, _) in &*self.graph.pages[page as usize].integrity {
                if self
                    .graph
                    .sheet_of(*file)
                    .is_some_and(|key| self.plan.sheets.contains_key(&key))
                {
                    newest = newest.max(self.newest(*file));
                }
            }
        }
        newest
    }
}

impl Written {
    fn count(&mut self, coding: Option<Coding>, bytes: usize) {
        match coding {
            Some(Coding::Gzip) => {
                self.gzip_file = bytes as u64;
                self.sizes.gzip = bytes as u64;
            }
            Some(Coding::Brotli) => {
                self.br_file = bytes as u64;
                self.sizes.br = bytes as u64;
            }
            Some(Coding::Zstd) => self.zstd_file = bytes as u64,
            None => {}
        }
    }
}
