//! The stylesheets of a page in cascade order, with everything they import, and the requests for them.
//!
//! Found by trying in Chromium 156: every linked sheet is fetched whatever its media, alternate ones too, and so is
//! what they import; a sheet that does not apply requests nothing beyond that.

use html5ever::ns;

use super::cascade::{Instance, Place};
use super::document::{Document, ElementData, is_space};
use super::markup::is_fetched;
use super::media::MediaList;
use super::sheet::Sheet;
use super::{From, Library, Request, Window};
use crate::html::Kind;

/// Imports nested deeper than this are left out.
const MAX_DEPTH: usize = 64;
/// Sheets of one page, each import counted: two sheets that import the next two twice would double for ever.
const MAX_SHEETS: usize = 4_096;
/// Names of layers on one page; later ones count as the weakest.
const MAX_LAYERS: usize = 100_000;

/// A `style` element of CSS type, as counted by `From::StyleElement`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StyleElement {
    pub text: String,
    pub media: String,
    /// Inside `svg`: written with other rules for character references.
    pub foreign: bool,
}

/// All `style` elements that `From::StyleElement` counts, in tree order.
pub fn style_elements(document: &Document) -> Vec<StyleElement> {
    let styles = document
        .elements
        .iter()
        .filter_map(|id| Some((*id, document.element(*id).filter(|e| is_style(e))?)));
    styles
        .map(|(id, e)| StyleElement {
            text: document.child_text(id),
            media: e.get("media").unwrap_or("").to_owned(),
            foreign: !e.is_html(),
        })
        .collect()
}

/// How many `link` elements that name a stylesheet stand in `head`, and how many there are; `None` where one in `head`
/// follows one elsewhere in tree order.
pub fn stylesheet_links(document: &Document) -> Option<(u32, u32)> {
    let is_link = |id: &u32| {
        document.element(*id).is_some_and(|e| {
            e.is_html()
                && &*e.name.local == "link"
                && e.get("rel").is_some_and(|rel| {
                    rel.split_ascii_whitespace()
                        .any(|word| word.eq_ignore_ascii_case("stylesheet"))
                })
        })
    };
    let in_head = |id: u32| {
        let parent = document
            .parent_element(id)
            .and_then(|parent| document.element(parent));
        parent.is_some_and(|e| &*e.name.local == "head")
    };
    let (mut head, mut all) = (0, 0);
    for id in document.elements.iter().copied().filter(|id| is_link(id)) {
        if in_head(id) {
            if head < all {
                return None;
            }
            head += 1;
        }
        all += 1;
    }
    Some((head, all))
}

/// The decoded values of all `style` attributes, in tree order.
pub fn style_attributes(document: &Document) -> Vec<String> {
    let elements = document.elements.iter().filter_map(|id| document.element(*id));
    elements
        .filter_map(|e| e.get("style"))
        .map(str::to_owned)
        .collect()
}

/// HTML standard, "update a style block": no type, an empty one, or exactly `text/css`.
fn is_style(e: &ElementData) -> bool {
    &*e.name.local == "style"
        && (e.is_html() || e.name.ns == ns!(svg))
        && e.get("type")
            .is_none_or(|t| t.is_empty() || t.eq_ignore_ascii_case("text/css"))
}

/// A sheet that the markup names.
pub(super) struct Own<'a> {
    element: &'a ElementData,
    /// Of a `style` element; a link's is found in the library.
    sheet: Option<Sheet>,
    alternate: bool,
}

pub(super) fn own_sheets(document: &Document) -> Vec<Own<'_>> {
    let mut found = Vec::new();
    for id in &document.elements {
        let Some(element) = document.element(*id) else {
            continue;
        };
        if is_style(element) {
            let sheet = Some(super::compile(&document.child_text(*id)));
            found.push(Own {
                element,
                sheet,
                alternate: false,
            });
        } else if element.is_html()
            && &*element.name.local == "link"
            && super::markup::is_stylesheet_link(element)
        {
            let rel = element.get("rel").unwrap_or("");
            let alternate = rel.split(is_space).any(|r| r.eq_ignore_ascii_case("alternate"));
            found.push(Own {
                element,
                sheet: None,
                alternate,
            });
        }
    }
    found
}

/// The sheets that apply, weakest first, and the requests of all imports.
pub(super) fn collect<'a>(
    document: &Document,
    own: &'a [Own<'_>],
    library: &'a dyn Library,
    window: Window,
) -> (Vec<Instance<'a>>, Vec<Vec<Box<str>>>, Vec<Request>) {
    let mut walk = Walk {
        shelf: library,
        window,
        instances: Vec::new(),
        layers: Vec::new(),
        requests: Vec::new(),
        visited: 0,
    };
    let preferred = preferred_set(document, own);
    let mut index = 0;
    for sheet in own {
        let title = sheet.element.get("title").unwrap_or("");
        let applies = MediaList::parse(sheet.element.get("media").unwrap_or("")).matches(window)
            && if title.is_empty() {
                !sheet.alternate
            } else {
                title == preferred
            };
        match &sheet.sheet {
            Some(style) => {
                walk.enter(style, Place::Element(index), applies, Vec::new(), &mut Vec::new());
                index += 1;
            }
            None => {
                let href = sheet.element.get("href").unwrap_or("");
                if let Some((key, linked)) = library.find(None, href) {
                    walk.enter(linked, Place::Library(key), applies, Vec::new(), &mut vec![key]);
                }
            }
        }
    }
    (walk.instances, walk.layers, walk.requests)
}

/// CSSOM, "preferred CSS style sheet set name": `default-style`, else the first title that is no alternate.
fn preferred_set(document: &Document, own: &[Own<'_>]) -> String {
    for id in &document.elements {
        if let Some(e) = document.element(*id)
            && e.is_html()
            && &*e.name.local == "meta"
            && e.get("http-equiv")
                .is_some_and(|h| h.eq_ignore_ascii_case("default-style"))
            && let Some(content) = e.get("content").filter(|c| !c.is_empty())
        {
            return content.to_owned();
        }
    }
    let titles = own
        .iter()
        .filter(|s| !s.alternate)
        .filter_map(|s| s.element.get("title"));
    titles
        .filter(|t| !t.is_empty())
        .map(str::to_owned)
        .next()
        .unwrap_or_default()
}

struct Walk<'a> {
    shelf: &'a dyn Library,
    window: Window,
    instances: Vec<Instance<'a>>,
    layers: Vec<Vec<Box<str>>>,
    requests: Vec<Request>,
    visited: usize,
}

impl<'a> Walk<'a> {
    /// `chain` holds the keys of the sheets around: Chromium does not load a sheet that imports itself again.
    fn enter(
        &mut self,
        sheet: &'a Sheet,
        place: Place,
        applies: bool,
        layer: Vec<Box<str>>,
        chain: &mut Vec<u32>,
    ) {
        self.visited += 1;
        let visit = self.visited;
        let mut named = 0;
        for import in &sheet.imports {
            if applies {
                self.name_layers(&layer, &sheet.layers[named..import.layers_before], visit);
                named = import.layers_before;
            }
            if !import.supported
                || !is_fetched(&import.raw)
                || chain.len() > MAX_DEPTH
                || self.visited > MAX_SHEETS
            {
                continue;
            }
            let from = match place {
                Place::Library(key) => Some(key),
                Place::Element(_) => None,
            };
            let found = self.shelf.find(from, &import.raw);
            if found.is_some_and(|(key, _)| chain.contains(&key)) {
                continue;
            }
            self.requests.push(Request {
                kind: Kind::Stylesheet,
                raw: import.raw.to_string(),
                from: place.url(import.nth),
                base: None,
                lazy: false,
            });
            if let Some((key, imported)) = found {
                let mut inner = layer.clone();
                inner.extend(import.layer.iter().flatten().map(|name| unique(name, visit)));
                chain.push(key);
                let applies = applies && import.media.matches(self.window);
                self.enter(imported, Place::Library(key), applies, inner, chain);
                chain.pop();
            }
        }
        if applies {
            self.name_layers(&layer, &sheet.layers[named..], visit);
            self.instances.push(Instance {
                sheet,
                place,
                layer,
                visit,
            });
        }
    }

    /// In the order in which a reader of all sheets comes across them (CSS Cascade 5, section 6.4.3).
    fn name_layers(&mut self, base: &[Box<str>], layers: &[Vec<Box<str>>], visit: usize) {
        for layer in layers {
            if self.layers.len() >= MAX_LAYERS {
                return;
            }
            self.layers.push(full_path(base, layer, visit));
        }
    }
}

/// Anonymous layers of two sheets, or of one sheet imported twice, are two layers.
fn unique(name: &str, visit: usize) -> Box<str> {
    if name.starts_with('\0') {
        format!("{name}\0{visit}").into()
    } else {
        name.into()
    }
}

pub(super) fn full_path(base: &[Box<str>], layer: &[Box<str>], visit: usize) -> Vec<Box<str>> {
    base.iter()
        .cloned()
        .chain(layer.iter().map(|name| unique(name, visit)))
        .collect()
}

impl Place {
    pub(super) fn url(self, nth: u32) -> From {
        match self {
            Place::Library(key) => From::Sheet { key, nth },
            Place::Element(index) => From::StyleElement { index, nth },
        }
    }
}
