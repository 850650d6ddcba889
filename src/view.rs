//! What a browser requests when it opens a page: the document's tree, its stylesheets, the window.

use encoding_rs::Encoding;

use crate::html::Kind;

/// The tree of a page, with scripting on.
#[derive(Debug)]
pub struct Document {}

/// A stylesheet compiled for matching: only rules that can request something, and those that can override them.
#[derive(Debug)]
pub struct Sheet {}

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
    /// The URL as written (decoded, whitespace kept); resolve it against `from`.
    pub raw: String,
    pub from: From,
    /// `loading=lazy`, outside the first window as far as known.
    pub lazy: bool,
}

/// Where a request comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum From {
    /// An attribute of the markup, relative to the document base.
    Markup { element: String, attribute: String },
    /// The `nth` URL (as counted by `css::scan`) of a sheet of the `Library`, relative to that sheet.
    Sheet { key: u32, nth: u32 },
    /// The `nth` URL of the `index`th applicable `style` element (in tree order), relative to the document base.
    StyleElement { index: u32, nth: u32 },
    /// The `nth` URL of a `style` attribute with this decoded text, relative to the document base.
    StyleAttribute { text: String, nth: u32 },
}

/// Finds compiled stylesheets for a page. `from` is the key of the importing sheet, `None` for the page itself.
pub trait Library {
    fn find(&self, from: Option<u32>, raw: &str) -> Option<(u32, &Sheet)>;
}

pub fn parse(_bytes: &[u8], _encoding: &'static Encoding) -> Document {
    unimplemented!()
}

pub fn compile(_css: &str) -> Sheet {
    unimplemented!()
}

pub fn requests(_document: &Document, _library: &dyn Library, _window: Window) -> Vec<Request> {
    unimplemented!()
}

#[derive(Debug)]
pub struct StyleElement { pub text: String, pub foreign: bool }
pub fn style_elements(_d: &Document) -> Vec<StyleElement> { unimplemented!() }
