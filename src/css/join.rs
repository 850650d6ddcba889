//! Writes several stylesheets as one that means what they mean one after the other in `link` elements.
//!
//! The result is their texts side by side; a sheet for some media only is put into `@media`. Everything that depends
//! on where a sheet begins or ends (CSS Syntax 3, CSS Cascade 5, CSS Namespaces 3) is a reason to refuse. Encodings,
//! addresses and what stands between the elements are the caller's affair.

use super::condition::{self, Media};
use super::outline::{Outline, outline};

/// A sheet to join.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    pub text: &'a str,
    /// The element's `media` attribute.
    pub media: Option<&'a str>,
}

/// The sheets as one text, to which other rules may be appended; or why that is impossible.
pub fn join(parts: &[Part<'_>]) -> Result<String, &'static str> {
    let mut out = String::with_capacity(parts.iter().map(|p| p.text.len() + 8).sum());
    for (index, part) in parts.iter().enumerate() {
        let sheet = outline(part.text).ok_or(TOO_DEEP)?;
        match condition::media(part.media.unwrap_or("")) {
            Media::All => {
                check(&sheet, parts.len(), index)?;
                out.push_str(&part.text[sheet.charset()..]);
            }
            Media::Some(media) => {
                check(&sheet, parts.len(), index)?;
                sheet.refuses_block()?;
                out.push_str("@media ");
                out.push_str(media);
                out.push('{');
                out.push_str(&part.text[sheet.charset()..]);
                out.push('}');
            }
            Media::Unclear => return Err("a media attribute that is not understood"),
        }
        // A closed sheet ends in `}`, `;`, `-->`, a comment or white space: no token goes on behind it.
    }
    Ok(out)
}

pub(super) const TOO_DEEP: &str = "nested more than 64 levels deep";

fn check(sheet: &Outline<'_>, parts: usize, index: usize) -> Result<(), &'static str> {
    if parts > 1 {
        sheet.refuses_company()?;
    } else if !sheet.closed {
        return Err("the end of the sheet leaves something open");
    }
    if index > 0 && sheet.has("import") {
        return Err("@import must stand before all rules");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
