//! Stage 2: which page requests what, and why. Flat tables, filled in path order.
//!
//! A page's own requests come from its markup, its stylesheets, its `style` elements and attributes; the documents
//! of its frames add theirs. Requests are kept by address (path and query): that is what a browser's cache is keyed by.

mod kept;
mod markup;
mod page;
pub(crate) use markup::{document_base, is_css, is_live, names_stylesheet, style_tags};
mod sheet;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use encoding_rs::Encoding;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Code, Diagnostic};
use crate::html::{self, Kind, Packed, Scan};
use crate::integrity;
use crate::media::Media;
use crate::options::Options;
use crate::parallel;
use crate::policy::{self, Headers};
use crate::site::{FileId, Site, SitePath};
use crate::url::{self, Base, Mirror, Mount};
use crate::view::Window;

pub use sheet::{Sheet, Text};

/// The index of an address in `Graph::addresses`.
pub type AddressId = u32;

/// Something of this site that is requested.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Address {
    /// Path and query, as requested.
    pub url: String,
    pub to: Destination,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Destination {
    File(FileId),
    /// A folder without its `/`: the server answers with a redirect.
    Redirect,
    /// No file stands there.
    Missing,
}

#[derive(Debug, Clone)]
pub struct Graph {
    pub mount: Mount,
    /// All stylesheet files, in path order. The index is the key that `view` knows them by.
    pub sheets: Vec<Sheet>,
    pub pages: Vec<Page>,
    pub addresses: Vec<Address>,
    /// Index into `pages`; `None` on a site without pages.
    pub entry: Option<u32>,
    /// By file: whether anything of the site refers to it.
    pub referenced: Vec<bool>,
    /// Hashes that scripts hold: a file that has one of them may be checked against it.
    pub seals: BTreeSet<String>,
    /// Some script may register a service worker: no file gets a new name.
    pub has_worker: bool,
    sheet_of: HashMap<FileId, u32>,
    page_of: HashMap<FileId, u32>,
    index: HashMap<Address, AddressId>,
    /// By file: the addresses under which pages request it.
    addresses_of: HashMap<FileId, Vec<AddressId>>,
    /// By page: what was read there, of as many pages as `SCANS` has room for.
    scans: Arc<Scans>,
}

/// Scans of pages, as many as there is room for.
#[derive(Debug)]
struct Scans {
    /// By page.
    packed: Box<[OnceLock<Packed>]>,
    /// Bytes.
    room: AtomicUsize,
}

impl Scans {
    /// Bytes for one graph. Two are held at once, and a build is to take 300 MB.
    const ROOM: usize = 48 << 20;

    fn keep(&self, page: u32, packed: Packed) {
        let size = packed.size();
        let takes = |room: usize| room.checked_sub(size);
        if let Some(place) = self.packed.get(page as usize)
            && self
                .room
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, takes)
                .is_ok()
        {
            // Another thread may have been here: what it kept is the same.
            let _ = place.set(packed);
        }
    }

    fn of(&self, page: u32, bytes: &[u8], anew: impl FnOnce() -> Scan) -> Scan {
        if let Some(packed) = self.packed.get(page as usize).and_then(OnceLock::get) {
            return packed.unpack(bytes);
        }
        let scan = anew();
        if self.room.load(Ordering::Relaxed) > 0
            && let Some(packed) = Packed::new(&scan, bytes)
        {
            self.keep(page, packed);
        }
        scan
    }
}

/// What is known of a page. Requests and uses are those of the document itself; `Graph::documents` adds frames.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Page {
    pub file: FileId,
    /// `None` for UTF-16.
    pub encoding: Option<&'static Encoding>,
    /// Of the file's bytes, to notice a change during the build.
    pub hash: u64,
    /// In the order in which the view met them, each address once.
    pub requests: Box<[Request]>,
    /// Every URL of a stylesheet, `style` element or `style` attribute that is requested here.
    pub uses: Box<[Use]>,
    /// Stylesheet files that apply or are loaded here, by key, sorted.
    pub sheets: Box<[u32]>,
    /// Documents in frames, as page indexes.
    pub frames: Box<[u32]>,
    /// Other origins' resources, as whole URLs.
    pub external: Box<[String]>,
    pub icons: Box<[AddressId]>,
    /// Why the page's bytes may not change, if so.
    pub opaque: Option<Cow<'static, str>>,
    /// It has CSS of its own: `style` elements or attributes.
    pub styled: bool,
    /// Some stylesheet or `style` element of the page tests the `style` attribute.
    pub selects_style: bool,
    /// The `style` elements that the tree has are those that the scanner found, in the same order.
    pub aligned: bool,
    pub allows_data: bool,
    pub hashes_styles: bool,
    /// New `style` and `script` elements would be allowed.
    pub allows_inline_styles: bool,
    pub allows_inline_scripts: bool,
    /// Its policies let it load stylesheets and scripts of the site under any name.
    pub allows_own_names: bool,
    /// By kind of file (`policy::KINDS`): own ones under any name, and those of the host of `--cdn`.
    pub allows_own_files: [bool; 5],
    pub allows_cdn: [bool; 5],
    /// So many of the first stylesheet links stand in `head`, and the scanner found the same links as the tree has.
    pub head_links: u32,
    /// Files named with `integrity`, and whether that is the hash of the file's bytes.
    pub integrity: Box<[(FileId, bool)]>,
    /// Has inline scripts.
    pub runs_inline: bool,
    /// Has scripts that could request more: files or inline code.
    pub scripted: bool,
}

/// One address that a document requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub address: AddressId,
    pub kind: Kind,
    pub lazy: bool,
    /// Named by an element other than a preload link: it will be requested whatever happens to the CSS.
    pub markup: bool,
    /// Named by a `link rel=preload`.
    pub preload: bool,
    /// What asked first.
    pub initiator: Initiator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Initiator {
    Markup,
    Sheet(u32),
    StyleElement,
    StyleAttribute,
}

/// One URL in CSS that is requested by a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Use {
    pub place: Place,
    pub nth: u32,
    pub address: AddressId,
}

/// The CSS text that holds a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Place {
    /// A stylesheet file, by key.
    Sheet(u32),
    /// The page's `style` element with this index.
    Element(u32),
    /// A `style` attribute of the page, by the hash of its decoded text.
    Attribute(u64),
}

impl Graph {
    /// Scans a page again, for its edits; with the base that its references are relative to.
    pub(crate) fn rescan(&self, site: &Site, page: u32, bytes: &[u8]) -> (Scan, Base) {
        let facts = &self.pages[page as usize];
        let anew = || html::scan(bytes, facts.encoding.unwrap_or(encoding_rs::UTF_8));
        let scan = match hash(bytes) == facts.hash {
            true => self.scans.of(page, bytes, anew),
            false => anew(),
        };
        let own = url::base(&self.mount, &site.file(facts.file).path);
        let base = document_base(&own, &scan);
        (scan, base)
    }

    pub fn sheet_of(&self, file: FileId) -> Option<u32> {
        self.sheet_of.get(&file).copied()
    }

    /// The id of an address that some page requests.
    pub fn address(&self, address: &Address) -> Option<AddressId> {
        self.index.get(address).copied()
    }

    /// The addresses under which pages request a file: one, or several with different queries.
    pub fn addresses_of(&self, file: FileId) -> &[AddressId] {
        self.addresses_of.get(&file).map_or(&[], Vec::as_slice)
    }

    pub fn page_of(&self, file: FileId) -> Option<u32> {
        self.page_of.get(&file).copied()
    }

    /// A page and the documents of all its frames, each once.
    pub fn documents(&self, page: u32) -> Vec<u32> {
        let mut found = vec![page];
        let mut next = 0;
        while next < found.len() {
            for &frame in &*self.pages[found[next] as usize].frames {
                if !found.contains(&frame) {
                    found.push(frame);
                }
            }
            next += 1;
        }
        found
    }

    /// The address of a file that is always asked for again: documents, and what is missing.
    pub fn is_revalidated(&self, address: AddressId) -> bool {
        match self.addresses[address as usize].to {
            Destination::File(file) => self.page_of.contains_key(&file),
            Destination::Redirect => false,
            Destination::Missing => true,
        }
    }
}

/// 64 bits of a hash of the bytes.
pub fn hash(bytes: &[u8]) -> u64 {
    let full = blake3::hash(bytes);
    full.as_bytes()[..8]
        .iter()
        .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

/// Interns addresses in the order in which they are first met.
#[derive(Debug, Default)]
struct Interner {
    addresses: Vec<Address>,
    index: HashMap<Address, AddressId>,
}

impl Interner {
    fn intern(&mut self, address: Address) -> AddressId {
        if let Some(&id) = self.index.get(&address) {
            return id;
        }
        let id = self.addresses.len() as AddressId;
        self.addresses.push(address.clone());
        self.index.insert(address, id);
        id
    }
}

/// Pages are read in groups of this size, so that only one group's strings are in memory at a time.
const GROUP: usize = 256;

/// Reads every page and stylesheet of the site and resolves what they refer to.
pub fn link(site: &Site, options: &Options) -> anyhow::Result<(Graph, Vec<Diagnostic>)> {
    read_all(site, options, None, Scans::ROOM)
}

/// The same for OUT, which is not edited, and whose pages may ask for some of its files on another host.
pub(crate) fn link_with(
    site: &Site,
    options: &Options,
    mirror: Option<Mirror>,
) -> anyhow::Result<(Graph, Vec<Diagnostic>)> {
    read_all(site, options, mirror, 0)
}

/// Keeps the scans of its pages, in so many bytes.
fn read_all(
    site: &Site,
    options: &Options,
    mirror: Option<Mirror>,
    room: usize,
) -> anyhow::Result<(Graph, Vec<Diagnostic>)> {
    let mount = url::mount(options.base_url.as_deref())?.with_mirror(mirror);
    let fallback = page::fallback_encoding(options)?;
    let window = Window {
        width: options.viewport.0,
        height: options.viewport.1,
    };
    let mut diagnostics = Vec::new();
    let (sheets, found) = sheet::read_all(site, &mount, fallback)?;
    diagnostics.extend(found);
    let sheet_of: HashMap<FileId, u32> = sheets
        .iter()
        .enumerate()
        .map(|(i, s)| (s.file, i as u32))
        .collect();
    let headers = read_headers(site)?;

    let page_files: Vec<FileId> = (0..site.files.len() as u32)
        .map(FileId)
        .filter(|&id| matches!(site.file(id).media, Media::Html | Media::Xhtml))
        .collect();
    let page_of: HashMap<FileId, u32> = page_files
        .iter()
        .enumerate()
        .map(|(i, &f)| (f, i as u32))
        .collect();
    let context = page::Context {
        site,
        options,
        mount: &mount,
        sheets: &sheets,
        sheet_of: &sheet_of,
        page_of: &page_of,
        headers: &headers,
        fallback,
        window,
        keeps_scans: room > 0,
    };

    let mut interner = Interner::default();
    let mut pages = Vec::with_capacity(page_files.len());
    let mut referenced = vec![false; site.files.len()];
    let mut links_to = vec![0u32; page_files.len()];
    let mut goes_on_to: Vec<Option<u32>> = Vec::with_capacity(page_files.len());
    let (mut seals, mut workers) = read_scripts(site)?;
    let scans = Scans {
        packed: page_files
            .iter()
            .filter(|_| room > 0)
            .map(|_| OnceLock::new())
            .collect(),
        room: AtomicUsize::new(room),
    };
    let kept = kept::Kept::new(&context)?;
    for group in page_files.chunks(GROUP) {
        for facts in kept.read(&context, group)? {
            if let Some(scan) = facts.scan {
                scans.keep(pages.len() as u32, scan);
            }
            diagnostics.extend(facts.diagnostics);
            seals.extend(facts.seals);
            if facts.registers_worker {
                workers.push(facts.page.file());
            }
            for file in facts.refers_to {
                referenced[file.0 as usize] = true;
            }
            goes_on_to.push(facts.goes_on_to);
            for page in facts.links {
                links_to[page as usize] += 1;
            }
            pages.push(facts.page.intern(&mut interner));
        }
    }
    let mut sheets = sheets;
    for sheet in &mut sheets {
        for target in &sheet.targets {
            if let Some(Address {
                to: Destination::File(file),
                ..
            }) = target
            {
                referenced[file.0 as usize] = true;
            }
        }
        let targets = std::mem::take(&mut sheet.targets);
        sheet.addresses = targets
            .iter()
            .map(|t| t.as_ref().and_then(|t| interner.index.get(t).copied()))
            .collect();
        sheet.targets = targets;
    }
    let entry = choose_entry(site, options, &page_files, &links_to, &goes_on_to)?;
    if let Some(entry) = entry {
        referenced[page_files[entry as usize].0 as usize] = true;
    }
    diagnostics.extend(unreferenced(site, &page_files, &referenced));
    // One line is enough: it is about the whole site.
    diagnostics.extend(workers.first().map(|&file| {
        let message = "may register a service worker: no file gets a new name that its list would miss";
        Diagnostic::new(&site.file(file).path, None, Code::ServiceWorker, message)
    }));
    let Interner { addresses, index } = interner;
    let mut addresses_of: HashMap<FileId, Vec<AddressId>> = HashMap::new();
    for (id, address) in addresses.iter().enumerate() {
        if let Destination::File(file) = address.to {
            addresses_of.entry(file).or_default().push(id as AddressId);
        }
    }
    let graph = Graph {
        mount,
        sheets,
        pages,
        addresses,
        entry,
        referenced,
        seals,
        has_worker: !workers.is_empty(),
        sheet_of,
        page_of,
        index,
        addresses_of,
        scans: Arc::new(scans),
    };
    Ok((graph, diagnostics))
}

/// The policies that the host's `_headers` file adds.
fn read_headers(site: &Site) -> anyhow::Result<Headers> {
    match site.find(b"_headers") {
        Some(file) => Ok(policy::parse_headers(&String::from_utf8_lossy(&site.read(file)?))),
        None => Ok(Headers::default()),
    }
}

/// Hashes that script files hold, and the files that may register a service worker.
fn read_scripts(site: &Site) -> anyhow::Result<(BTreeSet<String>, Vec<FileId>)> {
    let scripts = site.files_of(Media::Script);
    let read = parallel::map(&scripts, |&id| {
        let bytes = site.read(id)?;
        anyhow::Ok((integrity::seals(&bytes), integrity::registers_worker(&bytes)))
    });
    let mut seals = BTreeSet::new();
    let mut workers = Vec::new();
    for (id, read) in scripts.into_iter().zip(read) {
        let (found, registers) = read?;
        seals.extend(found);
        workers.extend(registers.then_some(id));
    }
    Ok((seals, workers))
}

/// `--entry`, else the root's `index.html`, else the page that most pages link to, ties by path. A page that sends its
/// visitors on at once is none that they come from: what it sends them to is, unless `--entry` names it.
fn choose_entry(
    site: &Site,
    options: &Options,
    pages: &[FileId],
    links_to: &[u32],
    goes_on_to: &[Option<u32>],
) -> anyhow::Result<Option<u32>> {
    let index_of = |path: &[u8]| {
        pages
            .iter()
            .position(|&f| site.file(f).path.as_bytes() == path)
            .map(|i| i as u32)
    };
    if let Some(wanted) = &options.entry {
        let path = wanted.trim_start_matches("./").trim_start_matches('/');
        let path = if path.is_empty() || path.ends_with('/') {
            format!("{path}index.html")
        } else {
            path.into()
        };
        return match index_of(path.as_bytes()) {
            Some(page) => Ok(Some(page)),
            None => anyhow::bail!("--entry {wanted}: SITE has no such page"),
        };
    }
    let most = || (0..pages.len()).max_by(|&a, &b| links_to[a].cmp(&links_to[b]).then(b.cmp(&a)));
    let first = index_of(b"index.html").or_else(|| most().map(|i| i as u32));
    Ok(first.map(|page| arrival(page, goes_on_to)))
}

/// Where a visit that begins at a page comes to rest; the page itself if it never does.
fn arrival(page: u32, goes_on_to: &[Option<u32>]) -> u32 {
    // Browsers give up after some twenty; people after fewer.
    const HOPS: usize = 8;
    let mut at = page;
    for _ in 0..HOPS {
        match goes_on_to[at as usize] {
            Some(next) if next != at => at = next,
            _ => return at,
        }
    }
    page
}

/// Files that nothing refers to. Names that other programs ask for by convention are expected to be so.
fn unreferenced(site: &Site, pages: &[FileId], referenced: &[bool]) -> Vec<Diagnostic> {
    let is_page = |id: FileId| pages.binary_search(&id).is_ok();
    let by_convention = |path: &SitePath| {
        let name = path.name();
        name.starts_with(b".")
            || name.starts_with(b"_")
            || matches!(
                name,
                b"favicon.ico" | b"robots.txt" | b"sitemap.xml" | b"CNAME" | b"404.html" | b"humans.txt"
            )
            || path.as_bytes().starts_with(b".well-known/")
    };
    (0..site.files.len() as u32)
        .map(FileId)
        .filter(|&id| !referenced[id.0 as usize] && !is_page(id) && site.file(id).variant_of.is_none())
        .filter(|&id| site.file(id).media != Media::Other && !by_convention(&site.file(id).path))
        .map(|id| {
            let message = "no page or stylesheet refers to this file (a script may)";
            Diagnostic::new(&site.file(id).path, None, Code::UnreferencedFile, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_arrives_where_refreshes_end() {
        let check = |goes_on_to: &[Option<u32>], expected| {
            assert_eq!(arrival(0, goes_on_to), expected, "{goes_on_to:?}")
        };
        check(&[None], 0);
        check(&[Some(0)], 0);
        check(&[Some(1), Some(2), None], 2);
        check(&[Some(1), Some(1)], 1);
        check(&[Some(1), Some(0)], 0);
    }
}
