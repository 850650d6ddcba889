//! The one diagnostic type: what was found wrong or left alone, where, and what to do about it.

use crate::site::SitePath;

/// One finding. Line and column are computed from `at` only when the diagnostic is printed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

    /// The same finding with its line and column, counted in `bytes` (the whole file).
    pub fn located(mut self, bytes: &[u8]) -> Diagnostic {
        self.position = self.at.map(|at| position(bytes, at as usize));
        self
    }
}

/// Line and column of a byte offset, both from 1; the column counts characters if the line is UTF-8, else bytes.
pub fn position(bytes: &[u8], at: usize) -> (u32, u32) {
    let before = &bytes[..at.min(bytes.len())];
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let column = match std::str::from_utf8(&before[start..]) {
        Ok(text) => text.chars().count(),
        Err(_) => before.len() - start,
    } + 1;
    (line as u32, column as u32)
}
