//! The stylesheet files of a site: decoded so that edits keep every byte that they do not touch.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::{Address, AddressId, Destination};
use crate::css::{self, Place};
use crate::diagnostic::{Code, Diagnostic, Lines};
use crate::media::Media;
use crate::site::{FileId, Site};
use crate::url::{self, Base, Mount, Target};
use crate::{charset, parallel, view};

#[derive(Debug, Clone)]
pub struct Sheet {
    pub file: FileId,
    pub hash: u64,
    /// `None` where the bytes cannot be edited safely as text.
    pub text: Option<Text>,
    pub scan: std::sync::Arc<css::Scan>,
    pub compiled: std::sync::Arc<view::Sheet>,
    pub base: Base,
    /// By a byte order mark or `@charset`.
    pub declares_encoding: bool,
    /// By URL of the scan: what it leads to, where that is of this site.
    pub targets: Vec<Option<Address>>,
    /// The same as addresses; `None` where no page requests it.
    pub addresses: Vec<Option<AddressId>>,
}

/// Text that becomes the same bytes again: UTF-8, or a single-byte encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    encoding: &'static Encoding,
    bom: bool,
}

impl Text {
    /// `None` for bytes whose ASCII-looking parts may belong to other characters, and for UTF-16.
    ///
    /// Without a declaration the encoding is that of the page, which differs from page to page. UTF-8 and the
    /// single-byte encodings agree on everything that is syntax, so such bytes can be carried through unread.
    pub fn new(bytes: &[u8], declared: Option<&'static Encoding>) -> Option<Text> {
        let (body, bom) = match bytes.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) => (rest, true),
            None => (bytes, false),
        };
        if let Ok(text) = std::str::from_utf8(body)
            && (declared.is_none_or(|e| e == UTF_8 || e.is_single_byte()) || text.is_ascii())
        {
            return Some(Text {
                text: text.to_owned(),
                encoding: UTF_8,
                bom,
            });
        }
        if bom || declared.is_some_and(|e| !e.is_single_byte()) {
            return None;
        }
        // windows-1252 maps all 256 bytes to different characters and back.
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(body);
        Some(Text {
            text: text.into_owned(),
            encoding: WINDOWS_1252,
            bom,
        })
    }

    /// It begins with a byte order mark.
    pub fn has_mark(&self) -> bool {
        self.bom
    }

    /// The bytes are UTF-8.
    pub fn is_utf_8(&self) -> bool {
        self.encoding == UTF_8
    }

    /// `text` as the bytes of the same encoding; `None` where a character of it has none.
    pub fn encode(&self, text: &str) -> Option<Vec<u8>> {
        let mut out = if self.bom {
            b"\xEF\xBB\xBF".to_vec()
        } else {
            Vec::new()
        };
        let (bytes, _, unmappable) = self.encoding.encode(text);
        out.extend_from_slice(&bytes);
        (!unmappable).then_some(out)
    }
}

/// Reads, scans and compiles every stylesheet file.
pub(super) fn read_all(
    site: &Site,
    mount: &Mount,
    environment: &'static Encoding,
) -> anyhow::Result<(Vec<Sheet>, Vec<Diagnostic>)> {
    let files = site.files_of(Media::Css);
    let mut sheets = Vec::with_capacity(files.len());
    let mut diagnostics = Vec::new();
    for read in parallel::map(&files, |&file| read(site, mount, environment, file)) {
        let (sheet, found) = read?;
        sheets.push(sheet);
        diagnostics.extend(found);
    }
    Ok((sheets, diagnostics))
}

fn read(
    site: &Site,
    mount: &Mount,
    environment: &'static Encoding,
    file: FileId,
) -> anyhow::Result<(Sheet, Vec<Diagnostic>)> {
    let bytes = site.read(file)?;
    let lines = Lines::new(&bytes);
    let path = &site.file(file).path;
    let mut diagnostics = Vec::new();
    let declared = charset::of_sheet(&bytes, environment);
    // Another environment gives another answer only where the sheet itself declares nothing.
    let declares_encoding = declared == charset::of_sheet(&bytes, encoding_rs::EUC_KR);
    let own = declared.filter(|_| declares_encoding);
    let text = declared.and_then(|_| Text::new(&bytes, own));
    if text.is_none() {
        diagnostics.push(Diagnostic::new(
            path,
            None,
            Code::CssOpaque,
            "an encoding whose bytes cannot be edited safely",
        ));
    }
    let readable = match &text {
        Some(text) => text.text.clone(),
        None => declared
            .unwrap_or(encoding_rs::UTF_16LE)
            .decode(&bytes)
            .0
            .into_owned(),
    };
    let mut scan = css::scan(&readable, false);
    scan.selects_style |= prints_style(&readable);
    let offset = if text.as_ref().is_some_and(|t| t.bom) {
        3
    } else {
        0
    };
    for (at, message) in &scan.problems {
        diagnostics
            .push(Diagnostic::new(path, Some(at + offset), Code::CssSyntax, message.clone()).located(&lines));
    }
    if let Some(why) = scan.opaque {
        diagnostics.push(Diagnostic::new(path, None, Code::CssOpaque, why));
    }
    let base = url::base(mount, path);
    let mut targets = Vec::with_capacity(scan.urls.len());
    for found in &scan.urls {
        let target = match found.place {
            Place::Other | Place::Custom => None,
            _ => match url::resolve(site, mount, &base, &found.value) {
                Target::File { file, address, .. } => Some(Address {
                    url: address,
                    to: Destination::File(file),
                }),
                Target::Missing {
                    path: missing,
                    address,
                } => {
                    let message = format!("{missing} does not exist");
                    let at = Some(found.span.start + offset);
                    diagnostics.push(
                        Diagnostic::new(path, at, Code::MissingFile, message)
                            .leading_to(&missing)
                            .located(&lines),
                    );
                    Some(Address {
                        url: address,
                        to: Destination::Missing,
                    })
                }
                Target::Refused => {
                    let message = "an address that leads out of the site";
                    let at = Some(found.span.start + offset);
                    diagnostics.push(Diagnostic::new(path, at, Code::OutsideRoot, message).located(&lines));
                    None
                }
                _ => None,
            },
        };
        targets.push(target);
    }
    let compiled = view::compile(if scan.opaque.is_some() { "" } else { &readable });
    let sheet = Sheet {
        file,
        hash: super::hash(&bytes),
        text: text.filter(|_| scan.opaque.is_none()),
        scan: scan.into(),
        compiled: compiled.into(),
        base,
        declares_encoding,
        targets,
        addresses: Vec::new(),
    };
    Ok((sheet, diagnostics))
}

/// Some `content` may show the `style` attribute as text: `attr(style)`.
pub(super) fn prints_style(css: &str) -> bool {
    let lower = css.to_ascii_lowercase();
    lower
        .match_indices("attr(")
        .any(|(at, name)| lower[at + name.len()..].trim_start().starts_with("style"))
}
