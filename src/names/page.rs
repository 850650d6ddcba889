//! One page, before anything is named: which files it asks for in a way that can change, and which must keep their
//! names or stay on the pages' own host, with the reason.

use std::collections::BTreeSet;

use super::looks::{self, Inline, Look, Looks};
use super::{DIGITS, Ground, with_hash};
use crate::css::{self, AttributeTest, Operator};
use crate::graph::{self, Destination, Initiator};
use crate::html::{self, Kind, Tag};
use crate::media::{self, Media};
use crate::relink::{self, Found, Reader};
use crate::site::FileId;
use crate::url;

pub(super) type Why = &'static str;

/// What one page says of files.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Asked for in a way that can change.
    pub(super) used: Vec<FileId>,
    /// Of those, what the markup names itself.
    in_markup: BTreeSet<FileId>,
    /// The same in a hint: loaded for something else.
    pub(super) hinted: Vec<FileId>,
    pub(super) fixed: Vec<(FileId, Why)>,
    pub(super) stays: Vec<(FileId, Why)>,
    /// Web app manifests that it links.
    pub(super) manifests: Vec<FileId>,
    /// Scripts that it loads as modules.
    pub(super) modules: Vec<FileId>,
    pub(super) inline: Inline,
    /// Sheets and scripts that a script may take from elsewhere: a seal would not fit.
    pub(super) unsealed: Vec<FileId>,
    /// Stylesheet links in head that rendering waits for: the file, and its address as written.
    pub(super) critical: Vec<(FileId, String)>,
}

/// What selectors of a sheet ask of attributes.
#[derive(Debug, Default)]
pub(super) struct Tests {
    pub(super) tests: Vec<AttributeTest>,
    pub(super) unreadable: bool,
}

impl Tests {
    pub(super) fn of(text: &str) -> Tests {
        let facts = css::selector_facts(text);
        // `attr()` shows an attribute as text; the one that elements with a box of their own have is `background`.
        let shows = text.to_ascii_lowercase().contains("attr(background");
        Tests {
            tests: facts.attribute_tests,
            unreadable: facts.unreadable || shows,
        }
    }
}

/// `careful`: files of SITE get new names or hosts; otherwise only those that the shape made, which no script knows.
pub(super) fn read(
    ground: Ground<'_>,
    page: u32,
    looks: Option<&Looks>,
    sheets: &[Tests],
) -> anyhow::Result<Seen> {
    let graph = ground.graph;
    let facts = &graph.pages[page as usize];
    let requested: Vec<FileId> = facts
        .requests
        .iter()
        .filter_map(|request| file_at(ground, request.address))
        .collect();
    let mut seen = Seen::default();
    if facts.opaque.is_some() || facts.encoding.is_none() {
        seen.fix(&requested, "a page that is not edited asks for it");
        return Ok(seen);
    }
    if ground.banned.contains(&page) {
        seen.fix(&requested, "a page would make more requests");
        return Ok(seen);
    }
    let bytes = ground.site.read(facts.file)?;
    let reader = Reader::new(ground.site, graph, page, &bytes);
    let encoding = facts.encoding.unwrap_or(encoding_rs::UTF_8);
    let decoded = |tag: &Tag| -> Option<String> {
        let content = tag.content.clone()?;
        Some(
            encoding
                .decode_without_bom_handling(&bytes[content])
                .0
                .into_owned(),
        )
    };
    seen.critical = critical(&reader, facts.head_links);

    let mut preloads: Vec<FileId> = Vec::new();
    let mut spotted: BTreeSet<FileId> = BTreeSet::new();
    let changes = reader.changes(&mut |found| {
        let new = seen.ask(ground, found, &mut preloads)?;
        spotted.insert(found.file);
        Some(new)
    });
    // What the plan puts into the page's own CSS is asked for no more.
    let inlined = ground
        .plan
        .pages
        .get(&page)
        .into_iter()
        .flat_map(|change| &change.inlined);
    let inlined: BTreeSet<FileId> = inlined.filter_map(|&address| file_at(ground, address)).collect();
    let stays = |file: &FileId| !inlined.contains(file) || seen.in_markup.contains(file);
    let used: Vec<FileId> = seen.used.iter().copied().filter(stays).collect();
    seen.used = used;
    // What no rule shows now may be shown a moment later.
    let of_sheets = facts.sheets.iter().flat_map(|&key| {
        let targets = graph.sheets[key as usize].targets.iter().flatten();
        targets.filter_map(|target| match target.to {
            Destination::File(file) => Some(file),
            _ => None,
        })
    });
    let in_css: BTreeSet<FileId> = of_sheets
        .chain(facts.uses.iter().filter_map(|used| file_at(ground, used.address)))
        .collect();
    let used: BTreeSet<FileId> = seen.used.iter().copied().collect();
    for file in preloads {
        if !used.contains(&file) && !in_css.contains(&file) {
            seen.fixed
                .push((file, "a page loads it for something else than its markup"));
        }
    }
    for request in &*facts.requests {
        if let Some(file) = file_at(ground, request.address)
            && !matches!(request.initiator, Initiator::Sheet(_))
            && !spotted.contains(&file)
        {
            seen.fixed.push((file, "a page asks for it in a way that stays"));
        }
    }
    let Some(looks) = looks else { return Ok(seen) };

    let own: Vec<Tests> = graph::style_tags(&reader.scan)
        .filter_map(&decoded)
        .map(|text| Tests::of(&text))
        .collect();
    let all = || facts.sheets.iter().map(|&key| &sheets[key as usize]).chain(&own);
    if all().any(|tests| tests.unreadable) {
        seen.fix(&requested, "a selector of a page could not be read");
    }
    for change in &changes {
        let Some((name, old, new)) = &change.attribute else {
            continue;
        };
        let tells = |test: &AttributeTest| {
            test.name == *name && (test.matches(Some(old)) != test.matches(Some(new)) || may_hit(test))
        };
        if all().any(|tests| tests.tests.iter().any(tells)) {
            for &file in &change.files {
                seen.fixed.push((file, "a selector asks for its address"));
            }
        }
    }
    if all().any(|tests| tests.tests.iter().any(|test| test.name == "integrity")) {
        seen.unsealed.extend(&requested);
    }
    // Of other windows and states too: their candidates are not requested here.
    let asked: BTreeSet<FileId> = requested.iter().chain(&spotted).chain(&in_css).copied().collect();
    for file in asked {
        let Some(kind) = kind(ground.site.file(file).media) else {
            continue;
        };
        if !facts.allows_own_files[kind] {
            seen.fixed
                .push((file, "a policy names the files that a page may load"));
        }
        if !facts.allows_cdn[kind] {
            seen.stays
                .push((file, "a policy of a page does not allow the other host"));
        }
    }
    seen.scripts(ground, looks, &reader, &requested, &decoded);
    Ok(seen)
}

fn file_at(ground: Ground<'_>, address: graph::AddressId) -> Option<FileId> {
    match ground.graph.addresses[address as usize].to {
        Destination::File(file) => Some(file),
        _ => None,
    }
}

impl Seen {
    fn fix(&mut self, files: &[FileId], why: Why) {
        self.fixed.extend(files.iter().map(|&file| (file, why)));
    }

    /// Notes one reference; answers with a name of the right length, so that selectors can be asked about it.
    fn ask(&mut self, ground: Ground<'_>, found: &Found<'_>, preloads: &mut Vec<FileId>) -> Option<String> {
        let file = found.file;
        if !follows(found) {
            match found.kind {
                Kind::Manifest => self.manifests.push(file),
                Kind::Document => self.fixed.push((file, "it is shown as a document")),
                Kind::Preload => self.fixed.push((file, "a script may fetch it")),
                _ if found.place == Some(&css::Place::Custom) => {
                    self.fixed.push((file, "a custom property names it"));
                }
                _ => {}
            }
            return None;
        }
        if !found.editable {
            self.fixed
                .push((file, "an address of it stands where nothing is edited"));
            return None;
        }
        let tag = found.tag;
        if let Some(why) = stays(ground, found) {
            self.stays.push((file, why));
        }
        if loads_module(tag) {
            self.modules.push(file);
        }
        match found.kind {
            Kind::Prefetch => self.hinted.push(file),
            Kind::Preload if !rel(tag, "stylesheet") => {
                self.hinted.push(file);
                if !loads_module(tag) {
                    preloads.push(file);
                }
            }
            _ => {
                self.used.push(file);
                if found.place.is_none() {
                    self.in_markup.insert(file);
                }
            }
        }
        let dummy = with_hash(&ground.site.file(file).path, &"0".repeat(DIGITS));
        Some(relink::renamed(found.raw, &url::name(&dummy)))
    }

    /// What the scripts of the page could notice.
    fn scripts(
        &mut self,
        ground: Ground<'_>,
        looks: &Looks,
        reader: &Reader<'_>,
        requested: &[FileId],
        decoded: &dyn Fn(&Tag) -> Option<String>,
    ) {
        let mut look = Look::default();
        let mut has_module = false;
        for file in requested {
            if let Some(code) = looks.codes.get(file) {
                look.add(&code.look);
                if code.asks_itself {
                    self.fixed.push((*file, "it may ask for its own address"));
                    self.stays.push((*file, "it may ask for its own address"));
                }
            }
        }
        for tag in reader.scan.tags.iter().filter(|tag| tag.name == "script") {
            let Some(text) = decoded(tag) else { continue };
            self.inline.add(&text);
            if html::script_kind(tag) == Some(Kind::Script) {
                has_module |= is_module(tag);
                if tag.get("src").is_none() {
                    look.add(&looks::inline(&text, is_module(tag)));
                }
            }
        }
        if has_module {
            look.add(&looks.modules);
        }
        look.images |= swaps_images(reader);
        let site = ground.site;
        for &file in requested {
            let entry = site.file(file);
            let named = || {
                let name = String::from_utf8_lossy(entry.path.name());
                look.sheet_names.contains("") || look.sheet_names.contains(&*name)
            };
            match entry.media {
                Media::Css => {
                    if named() {
                        self.fixed
                            .push((file, "a script of a page names a stylesheet of it"));
                        self.unsealed.push(file);
                    }
                    if look.sheets {
                        self.stays.push((file, "a script of a page may read its rules"));
                        self.unsealed.push(file);
                    }
                }
                Media::Script if look.scripts => {
                    self.fixed
                        .push((file, "a script of a page may look up script elements"));
                    self.stays
                        .push((file, "a script of a page may look up script elements"));
                }
                kind if look.images
                    && (media::is_image(kind) || matches!(kind, Media::Video | Media::Audio)) =>
                {
                    self.fixed
                        .push((file, "a script of a page may look up images or set their src"));
                }
                _ => {}
            }
        }
    }
}

/// References that get the new name of their file; a reader's link, another program's address and a document do not.
pub(super) fn follows(found: &Found<'_>) -> bool {
    if found.place.is_some_and(relink::is_elsewhere) {
        return false;
    }
    match found.kind {
        Kind::Link | Kind::Meta | Kind::Refresh | Kind::Manifest | Kind::Document => false,
        Kind::Preload => {
            let purpose = found
                .tag
                .get("as")
                .unwrap_or_default()
                .trim()
                .to_ascii_lowercase();
            let known = ["style", "script", "font", "image"].contains(&purpose.as_str());
            known || rel(found.tag, "stylesheet") || loads_module(found.tag)
        }
        _ => true,
    }
}

/// The place in `policy::KINDS`.
pub(super) fn kind(media: Media) -> Option<usize> {
    match media {
        Media::Css => Some(0),
        Media::Script => Some(1),
        media if media::is_image(media) => Some(2),
        Media::Font => Some(3),
        Media::Video | Media::Audio => Some(4),
        _ => None,
    }
}

/// A value of letters that a hash can have: nobody knows whether it will.
fn may_hit(test: &AttributeTest) -> bool {
    let in_part = matches!(
        test.operator,
        Operator::Prefix | Operator::Suffix | Operator::Substring
    );
    in_part
        && !test.value.is_empty()
        && test.value.len() <= DIGITS
        && test.value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'.')
        // `.png` at the end is the ending that stays.
        && !(test.operator == Operator::Suffix && test.value.starts_with('.'))
}

/// Why a reference must stay on the pages' own host, if it must.
fn stays(ground: Ground<'_>, found: &Found<'_>) -> Option<Why> {
    ground.options.cdn.as_ref()?;
    let tag = found.tag;
    let cors = ground.options.cdn_cors;
    let is_svg = ground.site.file(found.file).media == Media::Svg;
    if found.has_fragment && is_svg || found.kind == Kind::SvgUse {
        return Some("a part of it is used, which browsers take from the same host only");
    }
    if let Some(place) = found.place {
        return in_css(place, cors);
    }
    match tag.name.as_str() {
        "track" => return Some("browsers take subtitles from the same host only"),
        "feimage" => return Some("a filter takes it from the same host only"),
        _ => {}
    }
    let crossorigin = tag
        .get("crossorigin")
        .map(|value| value.trim().to_ascii_lowercase());
    if crossorigin.as_deref() == Some("use-credentials") {
        return Some("it is asked for with credentials");
    }
    if cors {
        return None;
    }
    let is_font = tag
        .get("as")
        .is_some_and(|value| value.trim().eq_ignore_ascii_case("font"));
    match () {
        () if loads_module(tag) => Some("modules need CORS headers: --cdn-cors says that there are some"),
        () if is_font => Some("fonts need CORS headers: --cdn-cors says that there are some"),
        () if crossorigin.is_some() => {
            Some("crossorigin needs CORS headers: --cdn-cors says that there are some")
        }
        () if tag.get("integrity").is_some() => {
            Some("integrity needs CORS headers: --cdn-cors says that there are some")
        }
        () => None,
    }
}

/// The same for an address in CSS.
pub(super) fn in_css(place: &css::Place, cors: bool) -> Option<Why> {
    match place {
        css::Place::FontFace if !cors => Some("fonts need CORS headers: --cdn-cors says that there are some"),
        css::Place::Property { name, .. } if !cors => {
            let name = name.as_str();
            let is_mask = name.contains("mask") || name == "shape-outside";
            is_mask.then_some("masks need CORS headers: --cdn-cors says that there are some")
        }
        css::Place::Custom | css::Place::Other => Some("an address of it is resolved elsewhere"),
        _ => None,
    }
}

pub(super) fn is_module(tag: &Tag) -> bool {
    tag.get("type")
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("module"))
}

/// A `script type=module`, or a `link rel=modulepreload`.
pub(super) fn loads_module(tag: &Tag) -> bool {
    tag.name == "script" && is_module(tag) || tag.name == "link" && rel(tag, "modulepreload")
}

pub(super) fn rel(tag: &Tag, wanted: &str) -> bool {
    let has = |rel: &str| {
        rel.split_ascii_whitespace()
            .any(|word| word.eq_ignore_ascii_case(wanted))
    };
    tag.get("rel").is_some_and(has)
}

/// Stylesheets that rendering waits for, in order: no alternate or disabled ones, none for print, and none whose
/// attributes a preload would have to repeat.
fn critical(reader: &Reader<'_>, head_links: u32) -> Vec<(FileId, String)> {
    let links = reader
        .scan
        .tags
        .iter()
        .filter(|tag| graph::is_live(tag) && graph::names_stylesheet(tag))
        .take(head_links as usize);
    let waits = |tag: &&Tag| {
        let media = tag.get("media").unwrap_or_default().trim().to_ascii_lowercase();
        let plain = media.is_empty() || media == "all" || media == "screen";
        let bare = ["disabled", "crossorigin", "integrity"]
            .iter()
            .all(|name| tag.get(name).is_none());
        plain && bare && !rel(tag, "alternate")
    };
    links
        .filter(waits)
        .filter_map(|tag| {
            let href = tag.get("href")?;
            Some((reader.file(href)?.0, href.to_owned()))
        })
        .collect()
}

/// Some event handler speaks of images.
fn swaps_images(reader: &Reader<'_>) -> bool {
    reader
        .scan
        .tags
        .iter()
        .flat_map(|tag| &tag.attributes)
        .any(|attribute| {
            let value = attribute.value.to_ascii_lowercase();
            attribute.name.starts_with("on")
                && (value.contains(".src") || value.contains("images") || value.contains("img"))
        })
}
