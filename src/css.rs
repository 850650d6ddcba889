//! Finds the URLs of a stylesheet by its tokens, and prints a stylesheet shorter.

use std::ops::Range;

/// What tokens tell about a stylesheet or a declaration list.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// In source order.
    pub urls: Vec<Url>,
    /// Why the text must stay as it is (nesting too deep for any parser), if so.
    pub opaque: Option<&'static str>,
    /// Every bracket, string, comment and the last rule is closed at the end: other text may follow.
    pub closed: bool,
    /// Some selector tests the `style` attribute.
    pub selects_style: bool,
    /// Problems for the reader: byte offset and message.
    pub problems: Vec<(usize, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// The whole token: `url(…)`, `src("…")`, or the string with its quotes. Byte offsets.
    pub span: Range<usize>,
    /// Without quotes and escapes.
    pub value: String,
    pub place: Place,
}

/// Where in a stylesheet a URL stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Import,
    FontFace,
    /// A declaration of this property (lower case).
    Property {
        name: String,
        image_set: bool,
    },
    /// A custom property: resolved where `var()` is used.
    Custom,
    /// `@namespace`, `@document`, `@supports` and everything else that is no request.
    Other,
}

/// `text` is a whole stylesheet (`declarations`: false) or the value of a `style` attribute (true).
pub fn scan(_text: &str, _declarations: bool) -> Scan {
    unimplemented!()
}

/// The same stylesheet in fewer bytes, or `None` where nothing was won. Never drops or reorders anything that a
/// browser's object model would show.
pub fn print(_text: &str, _targets: Option<&str>) -> Option<String> {
    unimplemented!()
}

/// The same for the value of a `style` attribute.
pub fn print_declarations(_text: &str, _targets: Option<&str>) -> Option<String> {
    unimplemented!()
}

/// `url(…)` holding `url` with as few bytes as are safe in a stylesheet, in a `style` element and in an attribute.
pub fn url_token(_url: &str) -> String {
    unimplemented!()
}
