//! Finds the URLs of a stylesheet by its tokens, and prints a stylesheet shorter.
//!
//! `scan` only reads tokens: it works on every text, broken or not, in one loop that takes linear time and no stack.
//! `print` builds on the same tokens. Neither knows of files: a URL is text, a place is a byte range.

mod attribute;
mod choose;
mod compete;
mod condition;
mod data;
mod exchange;
mod dropped;
mod once;
mod facts;
mod fold;
mod import;
mod items;
mod join;
mod known;
mod merge;
mod order;
mod outline;
mod piece;
mod prelude;
mod print;
mod rebase;
mod scan;
mod sizes;
mod targets;
mod token;
mod tree;
mod value;
mod weight;

use std::ops::Range;

pub use attribute::{AttributeTest, Operator};
pub use data::{data_url, url_token};
pub use dropped::{Dropped, dropped};
pub use exchange::{exchange, is_exchangeable};
pub use facts::{SelectorFacts, Subject, selector_facts};
pub use import::{Import, flatten, imports};
pub use join::{Part, join};
pub use once::allows_custom_property;
pub use print::print_declarations;
pub use rebase::{reads_variables, rebase};
pub use scan::scan;
pub use sizes::{Sizes, attribute_sizes, sizes};
pub use targets::Targets;

/// What tokens tell about a stylesheet or a declaration list.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// In source order.
    pub urls: Vec<Url>,
    /// Why the text must stay as it is (nesting too deep for any parser), if so.
    pub opaque: Option<&'static str>,
    /// Every bracket, string, comment and the last rule is closed at the end: other text may follow. (A declaration
    /// list needs a `;` in between.)
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

/// The same stylesheet in fewer bytes, or `None` where nothing was won. Never drops or reorders anything that a
/// browser's object model would show, unless `targets` says which browsers count.
pub fn print(text: &str, targets: Option<Targets>) -> Option<String> {
    let printed = print::print(text);
    let narrowed = targets.and_then(|t| targets::print(printed.as_deref().unwrap_or(text), t));
    narrowed.or(printed)
}

/// The text without the `@charset` at its start, which is no rule but a mark for readers of bytes (CSS Syntax 3,
/// section 3.2).
pub fn without_charset(text: &str) -> &str {
    const START: &str = "@charset \"";
    let rest = text.strip_prefix(START);
    match rest.and_then(|rest| Some(&rest[rest.find("\";")? + 2..])) {
        Some(rest) => rest,
        None => text,
    }
}

/// Whether the text begins with `@charset "utf-8"`.
pub fn declares_utf_8(text: &str) -> bool {
    const MARK: &str = "@charset \"utf-8\";";
    text.get(..MARK.len())
        .is_some_and(|start| start.starts_with("@charset \"") && start.eq_ignore_ascii_case(MARK))
}
