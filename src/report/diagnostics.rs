//! Diagnostics for a terminal: one line each in the order of the files, the remedy below the first of its code.
//!
//! A code that occurs often is cut off after a few lines, with the number of the rest at the end.

use std::fmt::Write;

use super::text::{Paint, clean, grouped};
use crate::diagnostic::{Code, Diagnostic, Severity};

/// Lines shown for one code, unless all are asked for.
const SHOWN: usize = 5;

/// `css/site.css:12:7: warning[css-syntax]: unclosed string`, then `  help: ...`. Ends in a line break unless empty.
///
/// Without `all`, five lines of a code, and no notes: they are counted in the summary.
pub fn diagnostics_text(diagnostics: &[Diagnostic], all: bool, color: bool) -> String {
    let paint = Paint(color);
    let shown = if all { usize::MAX } else { SHOWN };
    let mut out = String::new();
    // In order of first appearance; there are few codes.
    let mut counts: Vec<(Code, usize)> = Vec::new();
    for diagnostic in sorted(diagnostics) {
        let code = diagnostic.code;
        if !all && severity(code) == Severity::Note {
            continue;
        }
        let at = counts
            .iter()
            .position(|(seen, _)| *seen == code)
            .unwrap_or_else(|| {
                counts.push((code, 0));
                counts.len() - 1
            });
        counts[at].1 += 1;
        let count = counts[at].1;
        if count > shown {
            continue;
        }
        let place = match diagnostic.position {
            Some((line, column)) => format!("{}:{line}:{column}", clean(&diagnostic.file.to_string())),
            None => clean(&diagnostic.file.to_string()),
        };
        let message = clean(&diagnostic.message);
        let _ = writeln!(out, "{}: {}: {message}", paint.bold(&place), label(code, &paint));
        if count == 1 {
            let _ = writeln!(out, "  help: {}", help(code));
        }
    }
    for (code, count) in counts.into_iter().filter(|(_, count)| *count > shown) {
        let _ = writeln!(
            out,
            "{}: {} more like these",
            label(code, &paint),
            grouped((count - shown) as u64)
        );
    }
    out
}

/// By file, offset and code; equal ones by their message.
pub(super) fn sorted(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
    sorted.sort();
    sorted
}

pub(super) fn label(code: Code, paint: &Paint) -> String {
    let label = format!("{}[{}]", severity_name(code), code.name());
    match severity(code) {
        Severity::Warning => paint.yellow(&label),
        Severity::Note => paint.cyan(&label),
    }
}

pub(super) fn severity_name(code: Code) -> &'static str {
    match severity(code) {
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A warning is a fault of SITE that its readers may notice; a note explains what was left alone.
pub fn severity(code: Code) -> Severity {
    match code {
        Code::MissingFile
        | Code::OutsideRoot
        | Code::LinkOutside
        | Code::LinkDangling
        | Code::LinkLoop
        | Code::NotAFile
        | Code::UnclosedElement
        | Code::CssSyntax
        | Code::IntegrityMismatch
        | Code::TypeMismatch
        | Code::StaleVariant
        | Code::NotCarried
        | Code::ManifestTaken
        | Code::WrongCase
        | Code::MissingAnchor
        | Code::CssDropped
        | Code::BrokenImage
        | Code::OversizedImage
        | Code::LargeDataUrl
        | Code::MixedContent => Severity::Warning,
        Code::UnreferencedFile
        | Code::HtmlOpaque
        | Code::Utf16Page
        | Code::CssOpaque
        | Code::PolicyForbids
        | Code::ServiceWorker
        | Code::DuplicateFile
        | Code::DuplicateId
        | Code::CssHack
        | Code::MissingSize => Severity::Note,
    }
}

/// What to do about it.
pub fn help(code: Code) -> &'static str {
    match code {
        Code::MissingFile => {
            "add the file or correct the reference; each view pays a request for the error page"
        }
        Code::OutsideRoot => "write an address inside the site; where this one leads depends on the server",
        Code::LinkOutside => "copy what the link points to into SITE; nothing outside SITE is read",
        Code::LinkDangling => "remove the link or make what it points to",
        Code::LinkLoop => "remove the link; it points to a folder that contains it",
        Code::NotAFile => "remove it from SITE; only files, folders and links can be served",
        Code::UnreferencedFile => {
            "nothing found refers to it; delete it if no script, feed or other site does either"
        }
        Code::UnclosedElement => "close the element; until its end tag browsers read markup as text",
        Code::HtmlOpaque => "the page was copied as it is; correct the markup to have it improved",
        Code::Utf16Page => "the page was copied as it is; save it as UTF-8 to have it improved",
        Code::CssSyntax => "browsers drop the rule or declaration; correct it",
        Code::CssOpaque => "the stylesheet was copied as it is; simplify its nesting to have it improved",
        Code::IntegrityMismatch => {
            "browsers refuse the file; compute the integrity attribute from the file as it is now"
        }
        Code::TypeMismatch => "name the file by its real type, or browsers and servers may disagree about it",
        Code::PolicyForbids => {
            "images stay files here; add data: to img-src in the policy if inlined images are welcome"
        }
        Code::ServiceWorker => {
            "stylesheets are not combined and carry no images of pages; everything else is done as without it"
        }
        Code::NotCarried => {
            "pages of earlier deploys may ask for it; restore it in the old OUT, or delete it there if it is not wanted"
        }
        Code::ManifestTaken => {
            "rename the file in SITE; without a manifest no later build knows which names are hashes"
        }
        Code::WrongCase => "write the name as the file has it; only some file systems ignore the case",
        Code::MissingAnchor => "correct what stands behind the #, or give the element this id",
        Code::DuplicateId => "give one of them another id; links, labels and scripts find the first only",
        Code::CssDropped => "correct it, or remove it: browsers read on as if it were not there",
        Code::CssHack => "nothing, while the browsers that it is written for are wanted",
        Code::BrokenImage => "copy or export the image again",
        Code::OversizedImage => "save it at twice the size of its box; screens show no more",
        Code::MissingSize => "add width and height as the image has them, so that the text does not jump",
        Code::LargeDataUrl => "make it a file of its own: that is cached, and does not hold up the page",
        Code::DuplicateFile => "keep one of them and refer to that one; a browser's cache has them twice",
        Code::MixedContent => "write https:, or bring the file into the site",
        Code::StaleVariant => {
            "make it anew after each change of the file, or remove it; a build makes its own"
        }
    }
}
