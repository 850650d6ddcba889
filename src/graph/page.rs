//! The facts of one page, still with strings; `Raw::intern` makes them compact.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};
use serde::{Deserialize, Serialize};

use super::markup::{Bases, is_live, names_stylesheet, style_tags};
use super::sheet::prints_style;
use super::{Address, Destination, Initiator, Interner, Page, Place, Request, Sheet, Use};
use crate::diagnostic::{Code, Diagnostic, Lines};
use crate::html::{self, Kind, Packed, Scan};
use crate::media::Media;
use crate::options::Options;
use crate::policy::{Headers, Policy};
use crate::site::{FileId, Site};
use crate::url::{self, Mount, Target};
use crate::view::{self, From, Library, Window};
use crate::{charset, css, integrity};

pub(super) struct Context<'a> {
    pub(super) site: &'a Site,
    pub(super) options: &'a Options,
    pub(super) mount: &'a Mount,
    pub(super) sheets: &'a [Sheet],
    pub(super) sheet_of: &'a HashMap<FileId, u32>,
    pub(super) page_of: &'a HashMap<FileId, u32>,
    pub(super) headers: &'a Headers,
    pub(super) fallback: &'static Encoding,
    pub(super) window: Window,
    pub(super) keeps_scans: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Facts {
    pub(super) page: Raw,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Files that the page names in any way.
    pub(super) refers_to: BTreeSet<FileId>,
    /// Pages that its links lead to, each once.
    pub(super) links: BTreeSet<u32>,
    /// The page that a browser goes on to by itself, without being asked.
    pub(super) goes_on_to: Option<u32>,
    /// Hashes in its inline scripts.
    pub(super) seals: Vec<String>,
    /// One of them may register a service worker.
    pub(super) registers_worker: bool,
    pub(super) scan: Option<Packed>,
}

impl Facts {
    /// All that was read of the page came from its own bytes, the stylesheets and the list of files.
    pub(super) fn can_be_kept(&self) -> bool {
        self.page.page.integrity.is_empty()
    }
}

/// A page whose addresses are not interned yet.
#[derive(Serialize, Deserialize)]
pub(super) struct Raw {
    page: Page,
    requests: Vec<(Address, Request)>,
    uses: Vec<(Address, Use)>,
    icons: Vec<Address>,
}

impl Raw {
    pub(super) fn file(&self) -> FileId {
        self.page.file
    }

    pub(super) fn intern(self, interner: &mut Interner) -> Page {
        let mut page = self.page;
        page.requests = self
            .requests
            .into_iter()
            .map(|(address, request)| Request {
                address: interner.intern(address),
                ..request
            })
            .collect();
        page.uses = self
            .uses
            .into_iter()
            .map(|(address, found)| Use {
                address: interner.intern(address),
                ..found
            })
            .collect();
        page.icons = self
            .icons
            .into_iter()
            .map(|address| interner.intern(address))
            .collect();
        page
    }
}

/// The encoding of pages that declare none.
pub(super) fn fallback_encoding(options: &Options) -> anyhow::Result<&'static Encoding> {
    match &options.charset {
        None => Ok(WINDOWS_1252),
        Some(label) => Encoding::for_label(label.as_bytes()).ok_or_else(|| {
            anyhow::anyhow!(
                "--charset {label}: no such encoding (https://encoding.spec.whatwg.org/#names-and-labels)"
            )
        }),
    }
}

/// The library that a page's view looks stylesheets up in.
struct Shelf<'a> {
    context: &'a Context<'a>,
    bases: &'a Bases,
    /// Files whose bytes do not fit their `integrity`: browsers refuse them.
    blocked: HashSet<FileId>,
    is_utf_16: bool,
}

impl Library for Shelf<'_> {
    fn find(&self, from: Option<u32>, raw: &str) -> Option<(u32, &view::Sheet)> {
        let base = from.map_or(self.bases.of(raw), |key| &self.context.sheets[key as usize].base);
        let Target::File { file, .. } = url::resolve(self.context.site, self.context.mount, base, raw) else {
            return None;
        };
        let key = *self.context.sheet_of.get(&file)?;
        let sheet = &self.context.sheets[key as usize];
        // A sheet that declares no encoding is read in that of the page: as UTF-16 it is no sheet any more.
        if self.blocked.contains(&file) || (self.is_utf_16 && !sheet.declares_encoding) {
            return None;
        }
        Some((key, &*sheet.compiled))
    }
}

/// Carriage returns become newlines, as the HTML standard's input stream does.
pub(crate) fn normalise_newlines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Reads `bytes`, those of `file`.
pub(super) fn read(context: &Context<'_>, file: FileId, bytes: &[u8]) -> Facts {
    let path = &context.site.file(file).path;
    let encoding = charset::of_page(bytes, context.fallback);
    let read_as = encoding.unwrap_or(if bytes.starts_with(b"\xFE\xFF") {
        UTF_16BE
    } else {
        UTF_16LE
    });
    let scan = match encoding {
        Some(encoding) => html::scan(bytes, encoding),
        None => html::scan(UTF_16_PAGE, encoding_rs::UTF_8),
    };
    let document = match context.site.file(file).media {
        Media::Xhtml => view::parse_xml(bytes, charset::of_xml(bytes).unwrap_or(encoding_rs::UTF_8)),
        _ => view::parse(bytes, read_as),
    };
    let bases = Bases::new(url::base(context.mount, path), &scan);
    let lines = Lines::new(bytes);
    let (integrity, found) = check_integrity(context, file, &lines, &bases, &scan);
    let blocked = integrity
        .iter()
        .filter(|(_, fits)| !fits)
        .map(|(file, _)| *file)
        .collect();
    let shelf = Shelf {
        context,
        bases: &bases,
        blocked,
        is_utf_16: encoding.is_none(),
    };
    let mut facts = Facts {
        page: Raw {
            page: blank(file, encoding, super::hash(bytes)),
            requests: vec![],
            uses: vec![],
            icons: vec![],
        },
        diagnostics: [problems(context, file, &lines, &scan, encoding), found].concat(),
        refers_to: BTreeSet::new(),
        links: BTreeSet::new(),
        goes_on_to: None,
        seals: inline_seals(bytes, &scan),
        registers_worker: inline_scripts(&scan).any(|script| integrity::registers_worker(&bytes[script])),
        scan: Some(&scan)
            .filter(|scan| context.keeps_scans && scan.opaque.is_none())
            .and_then(|scan| Packed::new(scan, bytes)),
    };
    let requests = view::requests(&document, &shelf, context.window);
    gather(context, &bases, requests, &mut facts);
    facts.page.page.integrity = integrity.into();
    mark(context, file, bytes, &scan, &document, &mut facts.page.page);
    if facts.page.page.opaque.is_none() && !bases.early.is_empty() {
        facts.page.page.opaque = Some("references stand before its base element".into());
    }
    follow(context, file, &lines, &bases, &scan, &mut facts);
    facts
}

fn inline_scripts(scan: &Scan) -> impl Iterator<Item = std::ops::Range<usize>> {
    let scripts = scan.tags.iter().filter(|t| t.name == "script");
    scripts.filter_map(|t| t.content.clone())
}

fn inline_seals(bytes: &[u8], scan: &Scan) -> Vec<String> {
    inline_scripts(scan)
        .flat_map(|content| integrity::seals(&bytes[content]))
        .collect()
}

/// Stands in for the scan of a page that the byte scanner cannot read.
const UTF_16_PAGE: &[u8] = b"";

fn blank(file: FileId, encoding: Option<&'static Encoding>, hash: u64) -> Page {
    Page {
        file,
        encoding,
        hash,
        requests: Box::default(),
        uses: Box::default(),
        sheets: Box::default(),
        frames: Box::default(),
        external: Box::default(),
        icons: Box::default(),
        opaque: None,
        styled: false,
        selects_style: false,
        aligned: false,
        allows_data: true,
        hashes_styles: false,
        allows_inline_styles: false,
        allows_inline_scripts: false,
        allows_own_names: false,
        allows_own_files: [false; 5],
        allows_cdn: [false; 5],
        head_links: 0,
        integrity: Box::default(),
        runs_inline: false,
        scripted: false,
    }
}

fn problems(
    context: &Context<'_>,
    file: FileId,
    lines: &Lines<'_>,
    scan: &Scan,
    encoding: Option<&'static Encoding>,
) -> Vec<Diagnostic> {
    let path = &context.site.file(file).path;
    let mut found: Vec<Diagnostic> = scan
        .problems
        .iter()
        .map(|p| Diagnostic::new(path, Some(p.at), p.code, p.message.clone()).located(lines))
        .collect();
    if let Some(why) = scan.opaque {
        found.push(Diagnostic::new(path, None, Code::HtmlOpaque, why));
    }
    if encoding.is_none() {
        found.push(Diagnostic::new(
            path,
            None,
            Code::Utf16Page,
            "a page in UTF-16 or ISO-2022-JP is copied as it is",
        ));
    }
    found
}

/// Sorts what the view requests into this site's addresses and other origins.
fn gather(context: &Context<'_>, bases: &Bases, found: Vec<view::Request>, facts: &mut Facts) {
    let own_file = facts.page.page.file;
    let mut index: HashMap<Address, usize> = HashMap::new();
    let mut external = Vec::new();
    let mut sheets = BTreeSet::new();
    let mut frames = Vec::new();
    let page_path = &context.site.file(own_file).path;
    let own = Address {
        url: url::address(context.mount, page_path),
        to: Destination::File(own_file),
    };
    index.insert(own.clone(), 0);
    facts
        .page
        .requests
        .push((own, request(Kind::Document, false, Initiator::Markup, true)));
    for found in found {
        // A URL that came through a custom property is relative to where `var()` stands.
        let from = match found.base.as_ref().unwrap_or(&found.from) {
            From::Sheet { key, .. } => &context.sheets[*key as usize].base,
            From::Markup { .. } => bases.of(&found.raw),
            _ => &bases.document,
        };
        let target = url::resolve(context.site, context.mount, from, &found.raw);
        // Fetched by the browser itself or not at all on a view, and never by every browser.
        let is_apart = matches!(found.kind, Kind::Icon | Kind::Manifest);
        let addresses = match target {
            Target::File { file, address, .. } => vec![Address {
                url: address,
                to: Destination::File(file),
            }],
            Target::Redirect { file, address, .. } => {
                let (path, query) = address.split_at(address.find('?').unwrap_or(address.len()));
                let landing = format!("{path}/{query}");
                vec![
                    Address {
                        url: address.clone(),
                        to: Destination::Redirect,
                    },
                    Address {
                        url: landing,
                        to: Destination::File(file),
                    },
                ]
            }
            Target::Missing { address, .. } => vec![Address {
                url: address,
                to: Destination::Missing,
            }],
            Target::External(whole) => {
                if !external.contains(&whole) {
                    external.push(whole);
                }
                continue;
            }
            _ => continue,
        };
        for address in addresses {
            if is_apart {
                facts.page.icons.push(address);
                continue;
            }
            if let Destination::File(file) = address.to {
                if let Some(&key) = context.sheet_of.get(&file) {
                    sheets.insert(key);
                }
                if found.kind == Kind::Document
                    && let Some(&page) = context.page_of.get(&file)
                    && !frames.contains(&page)
                {
                    frames.push(page);
                }
            }
            let (initiator, place) = match &found.from {
                From::Markup { .. } => (Initiator::Markup, None),
                From::Sheet { key, nth } => (Initiator::Sheet(*key), Some((Place::Sheet(*key), *nth))),
                From::StyleElement { index, nth } => {
                    (Initiator::StyleElement, Some((Place::Element(*index), *nth)))
                }
                From::StyleAttribute { text, nth } => (
                    Initiator::StyleAttribute,
                    Some((Place::Attribute(super::hash(text.as_bytes())), *nth)),
                ),
            };
            if let Some((place, nth)) = place {
                facts.page.uses.push((
                    address.clone(),
                    Use {
                        place,
                        nth,
                        address: 0,
                    },
                ));
            }
            // Only a preload that can be taken out whole does not count as the element's own wish.
            let preload = found.kind == Kind::Preload
                && matches!(&found.from, From::Markup { element, attribute } if element == "link" && attribute == "href");
            let markup = initiator == Initiator::Markup && !preload;
            let at = *index.entry(address.clone()).or_insert_with(|| {
                facts
                    .page
                    .requests
                    .push((address, request(found.kind, found.lazy, initiator, false)));
                facts.page.requests.len() - 1
            });
            let entry = &mut facts.page.requests[at].1;
            entry.markup |= markup;
            entry.preload |= preload;
            entry.lazy &= found.lazy;
            if entry.kind == Kind::Preload {
                entry.kind = found.kind;
            }
        }
    }
    facts.page.uses.sort_by_key(|(_, found)| (found.place, found.nth));
    facts.page.uses.dedup();
    let page = &mut facts.page.page;
    page.external = external.into();
    page.sheets = sheets.into_iter().collect();
    page.frames = frames.into();
}

fn request(kind: Kind, lazy: bool, initiator: Initiator, markup: bool) -> Request {
    Request {
        address: 0,
        kind,
        lazy,
        markup,
        preload: false,
        initiator,
    }
}

/// What decides whether the page's own bytes may change.
fn mark(
    context: &Context<'_>,
    file: FileId,
    bytes: &[u8],
    scan: &Scan,
    document: &view::Document,
    page: &mut Page,
) {
    let path = &context.site.file(file).path;
    page.opaque = if page.encoding.is_none() {
        Some("a page in UTF-16 or ISO-2022-JP".into())
    } else if context.site.file(file).media == Media::Xhtml {
        Some("XHTML is parsed by other rules".into())
    } else if !context.site.file(file).editable {
        Some("left out by --include or --exclude".into())
    } else {
        scan.opaque.map(Cow::Borrowed)
    };
    let encoding = page.encoding.unwrap_or(encoding_rs::UTF_8);
    let texts: Vec<String> = style_tags(scan)
        .map(|t| {
            let content = t.content.clone().unwrap_or_default();
            normalise_newlines(&encoding.decode_without_bom_handling(&bytes[content]).0)
        })
        .collect();
    let seen = view::style_elements(document);
    page.aligned =
        seen.len() == texts.len() && seen.iter().zip(&texts).all(|(a, b)| a.foreign || a.text == *b);
    let has_attribute = scan.tags.iter().any(|t| is_live(t) && t.get("style").is_some());
    page.styled = !texts.is_empty() || has_attribute;
    page.selects_style = page
        .sheets
        .iter()
        .any(|&key| context.sheets[key as usize].scan.selects_style)
        || texts.iter().any(|text| {
            text.contains("style") && (css::scan(text, false).selects_style || prints_style(text))
        });
    page.runs_inline = scan
        .tags
        .iter()
        .any(|t| t.name == "script" && is_live(t) && t.get("src").is_none());
    page.scripted = scan
        .tags
        .iter()
        .any(|t| t.name == "script" && is_live(t) && html::script_kind(t).is_some());

    let url_path = url::address(context.mount, path);
    let mut policies = context.headers.policies(&url_path);
    policies.extend(context.options.csp.iter().cloned());
    policies.extend(
        scan.tags
            .iter()
            .filter(|t| t.name == "meta" && is_live(t))
            .filter(|t| {
                t.get("http-equiv")
                    .is_some_and(|v| v.trim().eq_ignore_ascii_case("content-security-policy"))
            })
            .filter_map(|t| t.get("content").map(str::to_owned)),
    );
    let policy = Policy::new(&policies);
    page.allows_data = policy.allows_data_images();
    page.hashes_styles = policy.hashes_styles();
    page.allows_inline_styles = policy.allows_inline_styles();
    page.allows_inline_scripts = policy.allows_inline_scripts();
    page.allows_own_names = policy.allows_own_names();
    page.allows_own_files = policy.allows_own_files();
    page.allows_cdn = match &context.options.cdn {
        Some(root) => policy.allows_host(root),
        None => [true; 5],
    };
    let scanned = scan
        .tags
        .iter()
        .filter(|t| is_live(t) && names_stylesheet(t))
        .count();
    page.head_links = match view::stylesheet_links(document) {
        Some((head, all)) if all as usize == scanned => head,
        _ => 0,
    };
}

/// Files that the page names with an `integrity` attribute, and whether it fits their bytes.
fn check_integrity(
    context: &Context<'_>,
    file: FileId,
    lines: &Lines<'_>,
    bases: &Bases,
    scan: &Scan,
) -> (Vec<(FileId, bool)>, Vec<Diagnostic>) {
    let path = &context.site.file(file).path;
    let mut checked = Vec::new();
    let mut diagnostics = Vec::new();
    for tag in &scan.tags {
        let Some(value) = tag.get("integrity").filter(|v| !v.trim().is_empty()) else {
            continue;
        };
        for reference in html::references(tag) {
            let base = bases.of(&reference.url);
            let Target::File { file: target, .. } =
                url::resolve(context.site, context.mount, base, &reference.url)
            else {
                continue;
            };
            let fits = context
                .site
                .read(target)
                .is_ok_and(|bytes| integrity::matches(value, &bytes));
            if !fits {
                let message = format!(
                    "the integrity of {} does not fit its bytes",
                    context.site.file(target).path
                );
                let at = Some(tag.span.start).filter(|_| !tag.within.srcdoc);
                diagnostics.push(Diagnostic::new(path, at, Code::IntegrityMismatch, message).located(lines));
            }
            checked.push((target, fits));
        }
    }
    (checked, diagnostics)
}

/// A refresh that a reader hardly has the time to stop (seconds in the standard's words: 4.2.5.3).
fn is_soon(tag: &html::Tag) -> bool {
    const SECONDS: u32 = 5;
    let content = tag.get("content").unwrap_or_default().trim_start();
    let digits = content.len() - content.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    content[..digits]
        .parse()
        .unwrap_or(if digits == 0 { 0 } else { u32::MAX })
        <= SECONDS
}

/// Resolves every reference of the markup for diagnostics and for the choice of the entry page.
fn follow(
    context: &Context<'_>,
    file: FileId,
    lines: &Lines<'_>,
    bases: &Bases,
    scan: &Scan,
    facts: &mut Facts,
) {
    let path = &context.site.file(file).path;
    for tag in &scan.tags {
        for reference in html::references(tag) {
            let at = tag.attributes[reference.attribute]
                .span
                .as_ref()
                .map(|span| span.start);
            let at = at.or(Some(tag.span.start)).filter(|_| !tag.within.srcdoc);
            match url::resolve(
                context.site,
                context.mount,
                bases.of(&reference.url),
                &reference.url,
            ) {
                Target::File { file, .. } | Target::Redirect { file, .. } => {
                    facts.refers_to.insert(file);
                    if matches!(reference.kind, Kind::Link | Kind::Document | Kind::Refresh)
                        && let Some(&page) = context.page_of.get(&file)
                    {
                        facts.links.insert(page);
                        let is_soon = reference.kind == Kind::Refresh && is_live(tag) && is_soon(tag);
                        if is_soon && facts.goes_on_to.is_none() {
                            facts.goes_on_to = Some(page);
                        }
                    }
                }
                Target::Missing { path: missing, .. } if reference.kind != Kind::Meta => {
                    let message = format!("{missing} does not exist");
                    facts.diagnostics.push(
                        Diagnostic::new(path, at, Code::MissingFile, message)
                            .leading_to(&missing)
                            .located(lines),
                    );
                }
                Target::Refused => {
                    let message = "an address that leads out of the site";
                    facts
                        .diagnostics
                        .push(Diagnostic::new(path, at, Code::OutsideRoot, message).located(lines));
                }
                _ => {}
            }
        }
    }
    for (address, _) in &facts.page.requests {
        if let Destination::File(file) = address.to {
            facts.refers_to.insert(file);
        }
    }
    // A page does not count as referred to because it is a page.
    facts.refers_to.remove(&file);
}
