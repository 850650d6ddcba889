//! Applies a plan to the bytes of one page: edits of its CSS, of `integrity`, and of preload links.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::css;
use crate::edit::{self, Edit};
use crate::graph::{self, Address, AddressId, Destination, Graph, Page, Place, Text};
use crate::html::{self, Kind, Scan, Tag};
use crate::image;
use crate::integrity;
use crate::options::Options;
use crate::plan::{Known, Plan};
use crate::site::{FileId, Site};
use crate::url::{self, Base, Target};

/// What to do to a page.
pub(crate) struct PageEdits<'a> {
    pub(crate) minify: bool,
    /// Images that the page's own CSS is to carry.
    pub(crate) images: &'a BTreeMap<AddressId, Arc<str>>,
    /// What happened to the stylesheets.
    pub(crate) plan: &'a Plan,
    /// Printed texts of `style` elements that many pages have.
    pub(crate) known: &'a Known,
}

/// A page scanned once, to be rewritten in several ways.
pub(crate) struct Reader<'a> {
    site: &'a Site,
    graph: &'a Graph,
    options: &'a Options,
    page: u32,
    pub(crate) bytes: &'a [u8],
    scan: Scan,
    base: Base,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        site: &'a Site,
        graph: &'a Graph,
        options: &'a Options,
        page: u32,
        bytes: &'a [u8],
    ) -> Reader<'a> {
        let (scan, base) = graph.rescan(site, page, bytes);
        Reader {
            site,
            graph,
            options,
            page,
            bytes,
            scan,
            base,
        }
    }

    fn facts(&self) -> &Page {
        &self.graph.pages[self.page as usize]
    }

    /// The page's bytes with all edits applied.
    pub(crate) fn rewrite(&self, edits: &PageEdits<'_>) -> Vec<u8> {
        let mut list = Vec::new();
        let mut style_index = 0;
        for tag in &self.scan.tags {
            if !graph::is_live(tag) {
                continue;
            }
            if graph::is_css(tag) && tag.content.is_some() {
                list.extend(self.style_element(tag, style_index, edits));
                style_index += 1;
            }
            list.extend(self.style_attribute(tag, edits));
            list.extend(self.integrity(tag, edits));
            list.extend(self.preload(tag, edits));
        }
        list.sort_by_key(|edit: &Edit| (edit.span.start, edit.span.end));
        // A removed tag swallows the edits inside it.
        let mut end = 0;
        list.retain(|edit| {
            let apart = edit.span.start >= end;
            end = end.max(edit.span.end);
            apart
        });
        edit::splice(self.bytes, &list)
    }

    fn style_element(&self, tag: &Tag, index: u32, edits: &PageEdits<'_>) -> Option<Edit> {
        let facts = self.facts();
        let is_fixed = tag.within.foreign
            || facts.hashes_styles
            || !facts.aligned
            || tag.get("data-fewer").is_some()
            || tag
                .attributes
                .iter()
                .any(|a| a.name.starts_with("amp-boilerplate"));
        if is_fixed {
            return None;
        }
        let content = tag.content.clone()?;
        let source = Text::new(&self.bytes[content.clone()], facts.encoding)?;
        let scan = css::scan(&source.text, false);
        if scan.opaque.is_some() {
            return None;
        }
        let place = Place::Element(index);
        let inlined = self.with_images(&source.text, &scan, place, edits);
        let known = edits.known.get(&graph::hash(source.text.as_bytes()));
        let print = |text: &str| match known {
            Some(known) if inlined.is_none() => known.as_ref().map(|text| text.to_string()),
            // The printed text takes the images as the source does, where it names each just as often.
            Some(known) => {
                let printed = known.as_deref().unwrap_or(&source.text);
                let scan = css::scan(printed, false);
                self.with_images_anywhere(printed, &scan, place, edits)
                    .or_else(|| css::print(text, self.options.targets))
            }
            None => css::print(text, self.options.targets),
        };
        let text = self.shortest(&source.text, inlined.clone(), edits.minify, print)?;
        if text.to_ascii_lowercase().contains("</style") {
            return None;
        }
        Some(Edit {
            span: content,
            with: source.encode(&text)?,
        })
    }

    fn style_attribute(&self, tag: &Tag, edits: &PageEdits<'_>) -> Option<Edit> {
        let facts = self.facts();
        let attribute = tag.attributes.iter().find(|a| a.name == "style")?;
        let is_fixed = tag.within.foreign
            || facts.selects_style
            || facts.hashes_styles
            || tag.get("data-fewer").is_some();
        if is_fixed {
            return None;
        }
        let span = attribute.span.clone()?;
        let encoding = facts.encoding?;
        if !(attribute.value.is_ascii() || encoding == encoding_rs::UTF_8 || encoding.is_single_byte()) {
            return None;
        }
        let scan = css::scan(&attribute.value, true);
        if scan.opaque.is_some() {
            return None;
        }
        let place = Place::Attribute(graph::hash(attribute.value.as_bytes()));
        let inlined = self.with_images(&attribute.value, &scan, place, edits);
        let print = |text: &str| css::print_declarations(text);
        let text = self.shortest(&attribute.value, inlined.clone(), edits.minify, print)?;
        let quote = attribute.quote.unwrap_or(b'"');
        let escaped = html::escape_attribute(&text, quote);
        let value = if attribute.quote.is_some() {
            escaped
        } else {
            format!("\"{escaped}\"")
        };
        let (with, _, unmappable) = encoding.encode(&value);
        if unmappable || (inlined.is_none() && with.len() >= span.len()) {
            return None;
        }
        Some(Edit {
            span,
            with: with.into_owned(),
        })
    }

    /// The text with images and, if wanted and shorter, printed; `None` if nothing changes.
    fn shortest(
        &self,
        source: &str,
        inlined: Option<String>,
        minify: bool,
        print: impl Fn(&str) -> Option<String>,
    ) -> Option<String> {
        let printed = if minify {
            print(inlined.as_deref().unwrap_or(source))
        } else {
            None
        };
        printed.or(inlined)
    }

    /// `text` with the images of the plan at `place`; `None` if it names none of them.
    fn with_images(
        &self,
        text: &str,
        scan: &css::Scan,
        place: Place,
        edits: &PageEdits<'_>,
    ) -> Option<String> {
        if edits.images.is_empty() {
            return None;
        }
        let used = |nth: usize, address: AddressId| {
            self.facts()
                .uses
                .iter()
                .any(|u| u.place == place && u.nth as usize == nth && u.address == address)
        };
        let mut list = Vec::new();
        for (nth, found) in scan.urls.iter().enumerate() {
            if !image::takes_images(&found.place) {
                continue;
            }
            let Some(address) = self.address(&found.value) else {
                continue;
            };
            let Some(image) = edits.images.get(&address) else {
                continue;
            };
            if used(nth, address) {
                list.push(Edit {
                    span: found.span.clone(),
                    with: css::url_token(image).into_bytes(),
                });
            }
        }
        if list.is_empty() {
            return None;
        }
        String::from_utf8(edit::splice(text.as_bytes(), &list)).ok()
    }

    /// The images at whatever place of a printed text; `None` where some URL of the source is not requested, and so
    /// must stay.
    fn with_images_anywhere(
        &self,
        text: &str,
        scan: &css::Scan,
        place: Place,
        edits: &PageEdits<'_>,
    ) -> Option<String> {
        let facts = self.facts();
        let times = |address: AddressId| {
            facts
                .uses
                .iter()
                .filter(|u| u.place == place && u.address == address)
                .count()
        };
        let mut list = Vec::new();
        let mut counts: BTreeMap<AddressId, usize> = BTreeMap::new();
        for found in scan.urls.iter().filter(|found| image::takes_images(&found.place)) {
            let Some(address) = self.address(&found.value) else {
                continue;
            };
            let Some(image) = edits.images.get(&address) else {
                continue;
            };
            *counts.entry(address).or_default() += 1;
            list.push(Edit {
                span: found.span.clone(),
                with: css::url_token(image).into_bytes(),
            });
        }
        let all_used = counts.iter().all(|(&address, &count)| count == times(address));
        (all_used && !list.is_empty())
            .then(|| String::from_utf8(edit::splice(text.as_bytes(), &list)).ok())
            .flatten()
    }

    /// The texts of the page's `style` elements that may be printed.
    pub(crate) fn style_texts(&self) -> Vec<String> {
        let facts = self.facts();
        let tags = self
            .scan
            .tags
            .iter()
            .filter(|tag| graph::is_live(tag) && graph::is_css(tag));
        tags.filter_map(|tag| Some(Text::new(&self.bytes[tag.content.clone()?], facts.encoding)?.text))
            .collect()
    }

    fn file(&self, raw: &str) -> Option<(FileId, String)> {
        match url::resolve(self.site, &self.graph.mount, &self.base, raw) {
            Target::File { file, address, .. } => Some((file, address)),
            _ => None,
        }
    }

    fn address(&self, raw: &str) -> Option<AddressId> {
        let (file, url) = self.file(raw).filter(|(_, url)| url::is_unambiguous(url))?;
        self.graph.address(&Address {
            url,
            to: Destination::File(file),
        })
    }

    /// A hash of the bytes that the stylesheet has now.
    fn integrity(&self, tag: &Tag, edits: &PageEdits<'_>) -> Option<Edit> {
        let attribute = tag.attributes.iter().find(|a| a.name == "integrity")?;
        let span = attribute.span.clone()?;
        let (file, _) = self.file(tag.get("href").or_else(|| tag.get("src"))?)?;
        let change = edits.plan.sheets.get(&self.graph.sheet_of(file)?)?;
        let value = integrity::renew(&attribute.value, &change.bytes)?;
        let value = if attribute.quote.is_some() {
            value
        } else {
            format!("\"{value}\"")
        };
        Some(Edit {
            span,
            with: value.into_bytes(),
        })
    }

    /// A preload of an image that the page's CSS carries now would be a request for nothing.
    fn preload(&self, tag: &Tag, edits: &PageEdits<'_>) -> Option<Edit> {
        if tag.name != "link" {
            return None;
        }
        let references = html::references(tag);
        let reference = references.iter().find(|r| r.kind == Kind::Preload)?;
        if tag.get("imagesrcset").is_some() {
            return None;
        }
        let address = self.address(&reference.url)?;
        let facts = self.facts();
        let request = facts.requests.iter().find(|r| r.address == address)?;
        let mut uses = facts.uses.iter().filter(|u| u.address == address).peekable();
        uses.peek()?;
        let carried = |found: &graph::Use| match found.place {
            Place::Sheet(key) => edits
                .plan
                .sheets
                .get(&key)
                .is_some_and(|c| c.inlined.contains(&address)),
            _ => edits.images.contains_key(&address),
        };
        if request.markup || !uses.all(carried) {
            return None;
        }
        Some(Edit {
            span: tag.span.clone(),
            with: Vec::new(),
        })
    }
}
