//! What a browser requests when it opens a page: the document's tree, its stylesheets, the window.
//!
//! A model of Chromium 156 with scripts left out, found by trying: `document` is the tree, `compile` turns a sheet
//! into the rules that matter, `cascade` finds the winning declarations, `markup` and `paint` list the requests.
//! Nothing is resolved here: URLs are reported as written, with the place they come from.

mod cascade;
mod compile;
mod defaults;
mod document;
mod element;
mod face;
mod family;
mod fonts;
mod frames;
mod grammar;
mod hash;
mod image;
mod inline;
mod layer;
mod length;
mod locate;
mod markup;
mod media;
mod paint;
mod selector;
mod sheet;
mod sheets;
mod srcset;
mod supports;
mod value;
mod variables;

pub use compile::compile;
pub use document::{Document, parse, parse_xml};
pub use inline::{Inline, inline};
pub use selector::accepts_selectors;
pub use sheet::Sheet;
pub use sheets::{StyleElement, style_attributes, style_elements, stylesheet_links};

#[cfg(test)]
mod tests;

use crate::html::Kind;

/// A window to lay the page out in.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub width: u32,
    pub height: u32,
}

/// One request that a page makes for a reference of its own or of its stylesheets. Not deduplicated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub kind: Kind,
    /// The URL as written (decoded, whitespace kept); resolve it against `from`, or against `base` if there is one.
    pub raw: String,
    pub from: From,
    /// For a URL in a custom property: the declaration that uses it, whose sheet it is relative to.
    pub base: Option<From>,
    /// `loading=lazy`: fetched when scrolled near.
    pub lazy: bool,
}

/// Where a request comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum From {
    /// An attribute of the markup, relative to the document base.
    Markup { element: String, attribute: String },
    /// The `nth` URL (as counted by `css::scan`) of a sheet of the `Library`, relative to that sheet.
    Sheet { key: u32, nth: u32 },
    /// The `nth` URL of the `index`th `style` element, relative to the document base. Counted in tree order are all
    /// `style` elements of CSS type, whatever their media, those inside `svg` too; not those in `template`.
    StyleElement { index: u32, nth: u32 },
    /// The `nth` URL of a `style` attribute with this decoded text, relative to the document base.
    StyleAttribute { text: String, nth: u32 },
}

/// Finds compiled stylesheets for a page. `from` is the key of the importing sheet, `None` for the page itself.
pub trait Library {
    fn find(&self, from: Option<u32>, raw: &str) -> Option<(u32, &Sheet)>;
}

/// Everything the page requests, in the order of the markup, then of the sheets.
pub fn requests(document: &Document, library: &dyn Library, window: Window) -> Vec<Request> {
    let own = sheets::own_sheets(document);
    let (instances, layers, mut imports) = sheets::collect(document, &own, library, window);
    let mut styles = cascade::Styles::new(document, instances, &layers, window);
    let mut markup = markup::Markup {
        document,
        window,
        requests: Vec::new(),
    };
    for id in &document.elements {
        markup.element(*id, &mut |id| styles.rendered(id));
    }
    let mut requests = markup.requests;
    requests.append(&mut imports);
    paint::images(&mut styles, &mut requests);
    fonts::fonts(&mut styles, &mut requests);
    requests
}
