//! One page: its references, images, styles and ids, read once more with an eye to what readers meet.
//!
//! In: a page and what is known of the whole site. Out: findings, and what other pages need to know: the places that
//! a link can lead to, and the places that its own links lead to.

use std::collections::{HashMap, HashSet};

use super::anchors::{self, Anchors, Wanted};
use super::boxes::{self, Boxes, Effect};
use super::pictures::Pixels;
use super::sheets::{Css, locate};
use crate::css;
use crate::diagnostic::{Code, Diagnostic};
use crate::graph::{Graph, document_base, is_live, style_tags};
use crate::html::{self, Kind, Reference, Scan, Tag};
use crate::site::Site;
use crate::url::{self, Base, Outside, Target};

/// Findings of one kind on one page: more are not read.
const MOST: usize = 100;
/// Images no taller than a line of text move nothing that a reader would notice.
const LINE_HEIGHT: u32 = 24;
/// An image of so many pixels for one of its box in CSS pixels is far too large: 2 device pixels per CSS pixel in both
/// directions are 4, and 4 times that is more than any screen shows.
const PIXELS: u64 = 16;
/// Smaller files are not worth another copy (bytes).
const SMALL_FILE: u64 = 10_000;

pub(super) struct Context<'a> {
    pub(super) site: &'a Site,
    pub(super) graph: &'a Graph,
    pub(super) pixels: &'a Pixels,
    /// By key of the sheet.
    pub(super) boxes: &'a [Boxes],
    /// `--base-url` says `https:`.
    pub(super) is_secure: bool,
}

pub(super) struct Seen {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) anchors: Anchors,
    pub(super) wanted: Box<[Wanted]>,
}

pub(super) fn look(context: &Context<'_>, page: u32) -> anyhow::Result<Seen> {
    let facts = &context.graph.pages[page as usize];
    let path = &context.site.file(facts.file).path;
    let Some(encoding) = facts.encoding else {
        return Ok(Seen {
            diagnostics: Vec::new(),
            anchors: Anchors::unknown(),
            wanted: Box::default(),
        });
    };
    let bytes = context.site.read(facts.file)?;
    let scan = html::scan_ids(&bytes, encoding);
    let base = document_base(&url::base(&context.graph.mount, path), &scan);
    let mut reader = Reader {
        context,
        page,
        base: &base,
        is_secure: context.is_secure || says_https(&scan),
        found: Vec::new(),
        counts: HashMap::new(),
        wanted: Vec::new(),
    };
    for tag in &scan.tags {
        for reference in html::references(tag) {
            reader.reference(tag, &reference);
        }
    }
    reader.images(&bytes, &scan, encoding);
    reader.ids(&bytes, &scan);
    let css = Css {
        site: context.site,
        graph: context.graph,
        path,
        bytes: &bytes,
        base: &base,
        is_secure: reader.is_secure,
    };
    let mut diagnostics = styles(&css, &scan);
    let Reader { found, wanted, .. } = reader;
    diagnostics.extend(locate(path, &bytes, found));
    Ok(Seen {
        diagnostics,
        anchors: Anchors::of(&scan),
        wanted: wanted.into(),
    })
}

/// A link that the browser follows itself: a script that takes it over leaves its marks on it.
fn is_followed(tag: &Tag) -> bool {
    let is_marked = tag.attributes.iter().any(|attribute| {
        let name = attribute.name.as_str();
        name.starts_with("data-")
            || matches!(
                name,
                "onclick" | "aria-controls" | "aria-expanded" | "v-on:click" | "@click"
            )
            || name == "role" && attribute.value != "link"
    });
    matches!(tag.name.as_str(), "a" | "area") && !is_marked
}

/// The page itself says that `https:` serves it.
fn says_https(scan: &Scan) -> bool {
    let is_secure = |url: Option<&str>| {
        url.is_some_and(|url| {
            url.trim()
                .get(..6)
                .is_some_and(|s| s.eq_ignore_ascii_case("https:"))
        })
    };
    scan.tags
        .iter()
        .filter(|tag| is_live(tag))
        .any(|tag| match tag.name.as_str() {
            "link" => {
                tag.get("rel")
                    .is_some_and(|rel| rel.eq_ignore_ascii_case("canonical"))
                    && is_secure(tag.get("href"))
            }
            "meta" => tag.get("property") == Some("og:url") && is_secure(tag.get("content")),
            _ => false,
        })
}

struct Reader<'a> {
    context: &'a Context<'a>,
    page: u32,

    base: &'a Base,
    is_secure: bool,
    found: Vec<(usize, Code, String)>,
    counts: HashMap<Code, usize>,
    wanted: Vec<Wanted>,
}

impl Reader<'_> {
    fn say(&mut self, at: usize, code: Code, message: String) {
        let count = self.counts.entry(code).or_default();
        *count += 1;
        if *count <= MOST {
            self.found.push((at, code, message));
        }
    }

    fn reference(&mut self, tag: &Tag, reference: &Reference) {
        let (site, mount) = (self.context.site, &self.context.graph.mount);
        let span = tag.attributes[reference.attribute].span.as_ref();
        let at = span.map_or(tag.span.start, |span| span.start);
        if let Some(message) = super::long_data(&reference.url) {
            self.say(at, Code::LargeDataUrl, message);
            return;
        }
        match url::outside(mount, self.base, &reference.url) {
            Some(Outside::Climbs) => {
                let message = format!(
                    "{} climbs above the root of the site",
                    super::quoted(&reference.url)
                );
                self.say(at, Code::OutsideRoot, message);
                return;
            }
            Some(Outside::Disk) => {
                let message = format!(
                    "{} names a disk of the author's computer",
                    super::quoted(&reference.url)
                );
                self.say(at, Code::OutsideRoot, message);
                return;
            }
            None => {}
        }
        let is_loaded = !matches!(
            reference.kind,
            Kind::Link | Kind::Meta | Kind::Refresh | Kind::Icon | Kind::Prefetch | Kind::Manifest
        );
        let is_link = reference.kind == Kind::Link && is_followed(tag);
        if !(is_link && reference.url.contains('#') || is_loaded && self.is_secure && is_live(tag)) {
            return;
        }
        match url::resolve(site, mount, self.base, &reference.url) {
            Target::External(whole) if is_loaded && whole.starts_with("http:") => {
                self.say(at, Code::MixedContent, super::mixed(&whole));
            }
            Target::Fragment(fragment) if is_link => self.want(self.page, &fragment, at),
            Target::File {
                file,
                fragment: Some(fragment),
                ..
            } if is_link => {
                if let Some(page) = self.context.graph.page_of(file) {
                    self.want(page, &fragment, at);
                }
            }
            _ => {}
        }
    }

    fn want(&mut self, page: u32, fragment: &str, at: usize) {
        self.wanted.extend(anchors::wanted(page, fragment, at));
    }

    fn images(&mut self, bytes: &[u8], scan: &Scan, encoding: &'static encoding_rs::Encoding) {
        let facts = &self.context.graph.pages[self.page as usize];
        let own: Vec<Boxes> = style_tags(scan)
            .filter_map(|tag| tag.content.clone())
            .map(|content| boxes::of(&encoding.decode_without_bom_handling(&bytes[content]).0))
            .collect();
        let sheets = facts.sheets.iter().map(|&key| &self.context.boxes[key as usize]);
        let sheets: Vec<&Boxes> = sheets.chain(&own).collect();
        // Most images of a page have the same few classes.
        let mut known: HashMap<&str, Effect> = HashMap::new();
        for tag in &scan.tags {
            // What `srcset` chooses has no size of its own; a template's images are for scripts.
            let is_image =
                matches!(tag.name.as_str(), "img" | "image") && !tag.within.foreign && is_live(tag);
            let Some(src) = tag.get("src").filter(|_| is_image && tag.get("srcset").is_none()) else {
                continue;
            };
            let class = tag.get("class").unwrap_or_default();
            let mut effect = *known.entry(class).or_insert_with(|| {
                let mut effect = Effect::default();
                sheets.iter().for_each(|sheet| effect.add(sheet.effect(class)));
                effect
            });
            if let Some(style) = tag.get("style") {
                let (reserves, changes) = css::attribute_sizes(style);
                effect.add(Effect { reserves, changes });
            }
            self.image(tag, src, effect);
        }
    }

    fn image(&mut self, tag: &Tag, src: &str, effect: Effect) {
        let context = self.context;
        let Target::File { file: id, .. } = url::resolve(context.site, &context.graph.mount, self.base, src)
        else {
            return;
        };
        let file = context.site.file(id);
        let pixels = context.pixels.get(&id).copied();
        let has = |name| tag.get(name).is_some_and(|value| !value.trim().is_empty());
        let is_tall = pixels.is_none_or(|(_, height)| height > LINE_HEIGHT);
        if !has("height") && !effect.reserves && is_tall {
            let missing = if has("width") {
                "height"
            } else {
                "width and height"
            };
            let message = format!("{} is shown without {missing}", file.path);
            self.say(tag.span.start, Code::MissingSize, message);
        }
        let (Some((wide, high)), false) = (pixels, effect.changes) else {
            return;
        };
        let (wide, high) = (u64::from(wide), u64::from(high));
        let said = |name: &str| pixels_of(tag.get(name)?);
        let shown = match (said("width"), said("height")) {
            (Some(width), Some(height)) => (width, height),
            (Some(width), None) if !has("height") => (width, (width * high).div_ceil(wide.max(1))),
            (None, Some(height)) if !has("width") => ((height * wide).div_ceil(high.max(1)), height),
            _ => return,
        };
        if file.size >= SMALL_FILE && shown.0 > 1 && shown.1 > 1 && wide * high > PIXELS * shown.0 * shown.1 {
            let message = format!(
                "{} has {wide}x{high} pixels for a box of {}x{}",
                file.path, shown.0, shown.1
            );
            self.say(tag.span.start, Code::OversizedImage, message);
        }
    }

    fn ids(&mut self, bytes: &[u8], scan: &Scan) {
        let mut first: HashMap<&str, usize> = HashMap::new();
        let mut said: HashSet<&str> = HashSet::new();
        for id in &scan.ids {
            let is_live = !id.within.noscript && !id.within.template && !id.within.srcdoc;
            if !is_live || id.value.is_empty() {
                continue;
            }
            match first.get(id.value.as_str()) {
                Some(&at) if said.len() < MOST && said.insert(&id.value) => {
                    let (line, _) = crate::diagnostic::position(bytes, at);
                    let message = format!(
                        "the id {} stands at line {line} already",
                        super::quoted(&id.value)
                    );
                    self.say(id.at, Code::DuplicateId, message);
                }
                Some(_) => {}
                None => {
                    first.insert(&id.value, id.at);
                }
            }
        }
    }
}

/// A whole number of CSS pixels, as the rules for parsing dimension values read it; `None` for percentages.
fn pixels_of(value: &str) -> Option<u64> {
    let value = value.trim_start();
    let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let rest = value[end..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number: u64 = value[..end].parse().ok()?;
    (!rest.starts_with('%') && number > 0 && number < 1 << 20).then_some(number)
}

/// `style` elements and attributes.
fn styles(css: &Css<'_>, scan: &Scan) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for content in style_tags(scan)
        .filter(|tag| !tag.within.foreign)
        .filter_map(|tag| tag.content.clone())
    {
        // Other encodings have other places.
        let Ok(text) = std::str::from_utf8(&css.bytes[content.clone()]) else {
            continue;
        };
        let read = css::scan(text, false);
        let place = |at: usize| content.start + at;
        let problems = read
            .problems
            .iter()
            .map(|(at, message)| (place(*at), Code::CssSyntax, message.clone()));
        diagnostics.extend(locate(css.path, css.bytes, problems.collect()));
        diagnostics.extend(css.look(text, false, &read, &place));
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for tag in scan.tags.iter().filter(|tag| is_live(tag)) {
        let Some(style) = tag
            .attributes
            .iter()
            .find(|a| a.name == "style" && a.span.is_some())
        else {
            continue;
        };
        if seen.len() < MOST && seen.insert(&style.value) {
            let read = css::scan(&style.value, true);
            let start = style.span.as_ref().map_or(tag.span.start, |span| span.start);
            let place = |_: usize| start;
            let problems = read
                .problems
                .iter()
                .map(|(_, message)| (start, Code::CssSyntax, message.clone()));
            diagnostics.extend(locate(css.path, css.bytes, problems.collect()));
            diagnostics.extend(css.look(&style.value, true, &read, &place));
        }
    }
    diagnostics
}
