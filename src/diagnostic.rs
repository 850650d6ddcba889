//! The one diagnostic type: what was found wrong or left alone, where, and what to do about it.

use std::cell::{Cell, OnceCell};

use serde::{Deserialize, Serialize};

use crate::site::SitePath;

/// One finding. Line and column are computed from `at` only when the diagnostic is printed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Diagnostic {
    pub file: SitePath,
    /// Byte offset in the file, if the finding has a place in it.
    pub at: Option<u32>,
    pub code: Code,
    /// A lower-case fragment without a full stop.
    pub message: String,
    /// Line and column (1-based, column in characters), filled in where the file's bytes were at hand.
    pub position: Option<(u32, u32)>,
    /// The path that a reference leads to, where no file stands.
    pub missing: Option<SitePath>,
}

/// Stable names of the findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Code {
    MissingFile,
    OutsideRoot,
    LinkOutside,
    LinkDangling,
    LinkLoop,
    NotAFile,
    UnreferencedFile,
    UnclosedElement,
    HtmlOpaque,
    Utf16Page,
    CssSyntax,
    CssOpaque,
    IntegrityMismatch,
    TypeMismatch,
    PolicyForbids,
    StaleVariant,
    ServiceWorker,
    NotCarried,
    ManifestTaken,
    WrongCase,
    MissingAnchor,
    DuplicateId,
    CssDropped,
    CssHack,
    BrokenImage,
    OversizedImage,
    MissingSize,
    LargeDataUrl,
    DuplicateFile,
    MixedContent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Warning,
    Note,
}

impl Code {
    pub const ALL: [Code; 30] = [
        Code::MissingFile,
        Code::WrongCase,
        Code::OutsideRoot,
        Code::MissingAnchor,
        Code::LinkOutside,
        Code::LinkDangling,
        Code::LinkLoop,
        Code::NotAFile,
        Code::UnclosedElement,
        Code::CssSyntax,
        Code::CssDropped,
        Code::IntegrityMismatch,
        Code::TypeMismatch,
        Code::BrokenImage,
        Code::OversizedImage,
        Code::LargeDataUrl,
        Code::DuplicateFile,
        Code::MixedContent,
        Code::StaleVariant,
        Code::NotCarried,
        Code::ManifestTaken,
        Code::UnreferencedFile,
        Code::MissingSize,
        Code::DuplicateId,
        Code::CssHack,
        Code::HtmlOpaque,
        Code::Utf16Page,
        Code::CssOpaque,
        Code::PolicyForbids,
        Code::ServiceWorker,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Code::MissingFile => "missing-file",
            Code::OutsideRoot => "outside-root",
            Code::LinkOutside => "link-outside",
            Code::LinkDangling => "link-dangling",
            Code::LinkLoop => "link-loop",
            Code::NotAFile => "not-a-file",
            Code::UnreferencedFile => "unreferenced-file",
            Code::UnclosedElement => "unclosed-element",
            Code::HtmlOpaque => "html-opaque",
            Code::Utf16Page => "utf16-page",
            Code::CssSyntax => "css-syntax",
            Code::CssOpaque => "css-opaque",
            Code::IntegrityMismatch => "integrity-mismatch",
            Code::TypeMismatch => "type-mismatch",
            Code::PolicyForbids => "policy-forbids",
            Code::StaleVariant => "stale-variant",
            Code::ServiceWorker => "service-worker",
            Code::NotCarried => "not-carried",
            Code::ManifestTaken => "manifest-taken",
            Code::WrongCase => "wrong-case",
            Code::MissingAnchor => "missing-anchor",
            Code::DuplicateId => "duplicate-id",
            Code::CssDropped => "css-dropped",
            Code::CssHack => "css-hack",
            Code::BrokenImage => "broken-image",
            Code::OversizedImage => "oversized-image",
            Code::MissingSize => "missing-size",
            Code::LargeDataUrl => "large-data-url",
            Code::DuplicateFile => "duplicate-file",
            Code::MixedContent => "mixed-content",
        }
    }
}

impl Diagnostic {
    pub fn new(file: &SitePath, at: Option<usize>, code: Code, message: impl Into<String>) -> Diagnostic {
        let at = at.and_then(|at| u32::try_from(at).ok());
        Diagnostic {
            file: file.clone(),
            at,
            code,
            message: message.into(),
            position: None,
            missing: None,
        }
    }

    /// The same finding about a path where no file stands.
    pub fn leading_to(mut self, missing: &SitePath) -> Diagnostic {
        self.missing = Some(missing.clone());
        self
    }

    /// The same finding with its line and column, counted in the whole file.
    pub fn located(mut self, lines: &Lines<'_>) -> Diagnostic {
        self.position = self.at.map(|at| lines.position(at as usize));
        self
    }
}

/// Line and column of a byte offset, both from 1; the column counts characters if the line is UTF-8, else bytes.
pub fn position(bytes: &[u8], at: usize) -> (u32, u32) {
    Lines::new(bytes).position(at)
}

/// The lines of a file, for many positions: a page of 100,000 missing images is read once, not once for each.
#[derive(Debug)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    /// Where each line begins.
    starts: OnceCell<Vec<usize>>,
    /// The last position that was asked for on a line of UTF-8: its line, its offset, its column.
    last: Cell<(usize, usize, usize)>,
}

impl<'a> Lines<'a> {
    pub fn new(bytes: &'a [u8]) -> Lines<'a> {
        Lines {
            bytes,
            starts: OnceCell::new(),
            last: Cell::default(),
        }
    }

    /// As `position` tells it.
    pub fn position(&self, at: usize) -> (u32, u32) {
        let at = at.min(self.bytes.len());
        let starts = self.starts.get_or_init(|| {
            let ends = self.bytes.iter().enumerate().filter(|(_, b)| **b == b'\n');
            std::iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect()
        });
        let line = starts.partition_point(|&start| start <= at);
        let start = starts[line - 1];
        let (from, column) = match self.last.get() {
            (known, from, column) if known == line && from <= at => (from, column),
            _ => (start, 1),
        };
        let column = match std::str::from_utf8(&self.bytes[from..at]) {
            Ok(text) => {
                let column = column + text.chars().count();
                self.last.set((line, at, column));
                column
            }
            Err(_) => at - start + 1,
        };
        (line as u32, column as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_where_they_can() {
        let text = "ab\n\u{e9}\u{e9}x\n\nend".as_bytes();
        let lines = Lines::new(text);
        // In any order, behind the end too.
        for (at, place) in [
            (0, (1, 1)),
            (2, (1, 3)),
            (3, (2, 1)),
            (7, (2, 3)),
            (5, (2, 2)),
            (8, (2, 4)),
            (9, (3, 1)),
            (10, (4, 1)),
            (13, (4, 4)),
            (99, (4, 4)),
        ] {
            assert_eq!(lines.position(at), place, "{at}");
            assert_eq!(position(text, at), place, "{at}");
        }
        let latin = b"\xE9\xE9x\ny";
        let lines = Lines::new(latin);
        assert_eq!(lines.position(2), (1, 3));
        assert_eq!(lines.position(3), (1, 4));
        assert_eq!(lines.position(4), (2, 1));
        assert_eq!(Lines::new(b"").position(0), (1, 1));
    }
}
