//! Finds what a page refers to and where it says so: byte spans, nothing else.
//!
//! The scan reports; it never rewrites. Every tag that can refer to something is returned with all its
//! attributes, their byte spans and their decoded values. lol_html finds the start tags; the bytes between them
//! are read a second time (`tokens`) for what it does not report: end tags, the ends of raw text. Where the two
//! readings differ the page is opaque. A file in XML syntax (XHTML) must not come here: other rules end its elements.

use std::ops::Range;

use encoding_rs::Encoding;
use serde::{Deserialize, Serialize};

mod attribute;
mod nesting;
mod packed;
mod reader;
mod references;
mod space;
mod srcset;
mod tokens;

pub use attribute::escape_attribute;
pub(crate) use packed::Packed;
pub use references::{references, script_kind};
pub use srcset::{Candidate, srcset};

/// The interesting tags of a page in document order.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    pub tags: Vec<Tag>,
    /// Ids of problems: message and byte offset, as diagnostics of the page.
    pub problems: Vec<Problem>,
    /// Why the page must not be edited at all, if so (the parser gave up, or markup it cannot be sure of).
    pub opaque: Option<&'static str>,
    /// Every `id`, in document order; filled by `scan_ids` alone.
    pub ids: Vec<Id>,
}

/// The `id` of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Id {
    /// Of its tag.
    pub at: usize,
    pub value: String,
    pub within: Within,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub at: usize,
    pub code: crate::diagnostic::Code,
    pub message: String,
}

#[derive(Debug, Clone)]
pub struct Tag {
    /// In lower case.
    pub name: String,
    /// From `<` to behind `>`. Inside `srcdoc`: that of the `iframe`, and no attribute has a span.
    pub span: Range<usize>,
    pub attributes: Vec<Attribute>,
    /// `style` and `script`: the raw text between the tags. In foreign content it is markup (character references,
    /// CDATA sections, comments).
    pub content: Option<Range<usize>>,
    pub within: Within,
}

/// What surrounds a tag and changes what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Within {
    /// With scripting on, the content of `noscript` is text: no request, and not edited.
    pub noscript: bool,
    /// The content of `template` is inert: no request, and not edited.
    pub template: bool,
    /// Inside `svg` or `math`: other rules for `style` (character references, CDATA).
    pub foreign: bool,
    /// Inside the `srcdoc` of an `iframe`.
    pub srcdoc: bool,
}

#[derive(Debug, Clone)]
pub struct Attribute {
    /// In lower case, with its prefix (`xlink:href`).
    pub name: String,
    /// The bytes between the quotes; `None` for an attribute without a value.
    pub span: Option<Range<usize>>,
    /// The quote around the value, `None` when unquoted.
    pub quote: Option<u8>,
    /// Decoded from the page's encoding and from character references.
    pub value: String,
}

/// What a reference is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    Stylesheet,
    Script,
    Image,
    /// Icons of `link`; fetched by the browser itself, listed apart.
    Icon,
    Font,
    Media,
    /// `iframe`, `frame`, `object`, `embed` documents.
    Document,
    Manifest,
    Preload,
    Prefetch,
    /// `alternate`, `canonical`, `next`…, `og:image`: fetched by other programs.
    Meta,
    /// `a`, `area`, `form`: followed by readers.
    Link,
    /// `meta http-equiv=refresh`.
    Refresh,
    /// SVG `use`, `image`, `feImage` and the like.
    SvgImage,
    SvgUse,
}

/// One reference of a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub kind: Kind,
    /// Index into the tag's attributes.
    pub attribute: usize,
    /// The URL as the attribute's decoded value gives it.
    pub url: String,
}

/// Reads a page. `encoding` is ignored where the bytes begin with the mark of UTF-16.
pub fn scan(bytes: &[u8], encoding: &'static Encoding) -> Scan {
    reader::read(bytes, encoding, false)
}

/// The same, with the ids of all elements.
pub fn scan_ids(bytes: &[u8], encoding: &'static Encoding) -> Scan {
    reader::read(bytes, encoding, true)
}

impl Tag {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|a| a.name == name)
            .map(|a| a.value.as_str())
    }
}

#[cfg(test)]
mod tests;
