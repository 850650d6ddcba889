//! Which encoding a page or a stylesheet is in (HTML standard, "determining the character encoding";
//! CSS Syntax, "the input byte stream").

use encoding_rs::Encoding;

/// The encoding of a page: BOM, then `meta` in the first 1,024 bytes (an XML declaration for XHTML), then `fallback`.
/// `None` for UTF-16, which is copied untouched.
pub fn of_page(_bytes: &[u8], _fallback: &'static Encoding) -> Option<&'static Encoding> {
    unimplemented!()
}

/// The encoding of a stylesheet: BOM, then `@charset` as the very first bytes, then that of the page that uses it.
/// `None` for UTF-16.
pub fn of_sheet(_bytes: &[u8], _environment: &'static Encoding) -> Option<&'static Encoding> {
    unimplemented!()
}
