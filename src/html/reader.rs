//! Drives lol_html over a page and reads the gaps between the start tags that it reports.

use std::collections::HashSet;
use std::ops::Range;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use lol_html::html_content::Element;
use lol_html::{AsciiCompatibleEncoding, HtmlRewriter, Settings, element};

use super::nesting::Nesting;
use super::references::PAINT;
use super::space::{Space, Spaces, Start};
use super::tokens::{self, Content, Token};
use super::{Attribute, Id, Problem, Scan, Tag, Within, attribute};
use crate::diagnostic::Code;

const AMBIGUOUS: &str = "its markup can be read in two ways (raw text inside `select` or after `frameset`)";
const TWO_READINGS: &str = "its markup is broken so that two readings of it differ";
const FOREIGN: &str = "an `svg` or `math` element in it is not closed";
const ENCODING: &str = "its encoding is not compatible with ASCII";
const SHADOW: &str = "it holds a declarative shadow root";

/// `srcdoc` inside `srcdoc`: more levels than pages have.
const SRCDOC_DEPTH: usize = 3;

pub(super) fn read(bytes: &[u8], encoding: &'static Encoding, ids: bool) -> Scan {
    // A byte order mark outranks every other declaration (HTML standard, 13.2.3.2).
    let encoding = match Encoding::for_bom(bytes) {
        Some((marked, _)) if marked == UTF_16LE || marked == UTF_16BE => marked,
        _ => encoding,
    };
    let page = Page {
        bytes,
        encoding,
        within: Within::default(),
        srcdoc_depth: 0,
        ids,
    };
    let mut scan = if AsciiCompatibleEncoding::new(encoding).is_some() || is_plain(bytes, encoding) {
        page.scan()
    } else {
        let (text, _) = encoding.decode_with_bom_removal(bytes);
        let mut scan = Page {
            bytes: text.as_bytes(),
            encoding: UTF_8,
            ..page
        }
        .scan();
        detach(&mut scan.tags, 0..0);
        scan.problems.clear();
        scan.ids.clear();
        scan.opaque = Some(ENCODING);
        scan
    };
    scan.problems.sort_by_key(|problem| problem.at);
    scan
}

/// ISO-2022-JP without an escape is ASCII.
fn is_plain(bytes: &[u8], encoding: &'static Encoding) -> bool {
    encoding == encoding_rs::ISO_2022_JP && !bytes.iter().any(|b| matches!(b, 0x0e | 0x0f | 0x1b))
}

/// Takes all places from tags that do not stand in the page's own bytes.
fn detach(tags: &mut [Tag], span: Range<usize>) {
    for tag in tags {
        tag.span = span.clone();
        tag.content = None;
        for attribute in &mut tag.attributes {
            attribute.span = None;
        }
    }
}

/// Bytes to scan, and where they stand.
#[derive(Clone, Copy)]
struct Page<'b> {
    bytes: &'b [u8],
    encoding: &'static Encoding,
    within: Within,
    srcdoc_depth: usize,
    /// Ids are wanted.
    ids: bool,
}

impl<'b> Page<'b> {
    fn scan(self) -> Scan {
        self.run(true).or_else(|| self.run(false)).unwrap_or_default()
    }

    /// One run of lol_html; `None` if strict mode gives up.
    fn run(self, strict: bool) -> Option<Scan> {
        let mut reader = Reader::new(self);
        let encoding =
            AsciiCompatibleEncoding::new(self.encoding).unwrap_or_else(AsciiCompatibleEncoding::utf_8);
        let settings = Settings::new()
            .with_encoding(encoding)
            .with_strict(strict)
            .append_element_content_handler(element!("*", |element| {
                reader.start(element);
                Ok(())
            }));
        let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
        let result = rewriter.write(self.bytes).and_then(|()| rewriter.end());
        match result {
            Err(_) if strict => return None,
            Err(_) => reader.scan.opaque = Some(AMBIGUOUS),
            Ok(()) => reader.finish(),
        }
        if !strict {
            reader.scan.opaque = Some(AMBIGUOUS);
        }
        Some(reader.scan)
    }
}

struct Reader<'b> {
    page: Page<'b>,
    scan: Scan,
    /// Behind the last token that was read.
    at: usize,
    spaces: Spaces,
    /// Open `template` elements.
    templates: usize,
    nesting: Nesting,
}

impl<'b> Reader<'b> {
    fn new(page: Page<'b>) -> Reader<'b> {
        Reader {
            page,
            scan: Scan::default(),
            at: 0,
            spaces: Spaces::default(),
            templates: 0,
            nesting: Nesting::default(),
        }
    }

    fn start(&mut self, element: &Element<'_, '_>) {
        let bytes = self.page.bytes;
        let span = element.source_location().bytes();
        self.gap(span.start);
        if span.start < self.at {
            self.doubt(TWO_READINGS);
        }
        let name_end = bytes[span.start + 1..span.end]
            .iter()
            .position(|&b| tokens::is_space(b) || b == b'/' || b == b'>')
            .map_or(span.end, |n| span.start + 1 + n);
        let name = String::from_utf8_lossy(&bytes[span.start + 1..name_end]).to_ascii_lowercase();
        let bare = name_end + 1 == span.end;
        let has = |names: &[&str]| !bare && has_attribute(bytes, element, names);

        let space = self.spaces.start(
            &name,
            Start {
                self_closing: bytes[..span.end].ends_with(b"/>") && element.is_self_closing(),
                font: name == "font" && has(&["color", "face", "size"]),
                html: name == "annotation-xml" && is_html_annotation(element),
            },
        );
        let foreign = space != Space::Html;
        if !foreign || name == "svg" {
            self.nesting
                .start(&name, span.start, name == "a" && has(&["href"]));
        }
        let within = Within {
            template: self.page.within.template || self.templates > 0,
            foreign,
            ..self.page.within
        };
        self.at = self.at.max(span.end);
        if self.page.ids && !bare {
            self.id(element, span.start, within);
        }

        let wanted = if foreign {
            matches!(
                name.as_str(),
                "svg" | "style" | "script" | "image" | "feimage" | "use" | "a"
            ) || has(&["style", "href", "xlink:href"])
                || has(&PAINT)
        } else {
            HTML.contains(&name.as_str()) || has(&["style"])
        };
        let mut srcdoc = None;
        if wanted {
            let attributes = if bare {
                Vec::new()
            } else {
                attributes(bytes, element, self.page.encoding)
            };
            self.swallowed(&name, span.start, &attributes);
            if name == "template" && !foreign {
                let root = attributes.iter().find(|a| a.name == "shadowrootmode");
                if root.is_some_and(|a| {
                    ["open", "closed"]
                        .iter()
                        .any(|mode| a.value.eq_ignore_ascii_case(mode))
                }) {
                    self.doubt(SHADOW);
                }
            }
            if name == "iframe" && !foreign {
                srcdoc = attributes
                    .iter()
                    .find(|a| a.name == "srcdoc")
                    .map(|a| a.value.clone());
            }
            self.scan.tags.push(Tag {
                name: name.clone(),
                span: span.clone(),
                attributes,
                content: None,
                within,
            });
        }
        if let Some(text) = srcdoc {
            self.srcdoc(&text, span.clone(), within);
        }
        if !foreign && name == "template" {
            self.templates += 1;
        }
        self.content(&name, span, foreign, wanted && !element.is_self_closing());
    }

    fn id(&mut self, element: &Element<'_, '_>, at: usize, within: Within) {
        let bytes = self.page.bytes;
        // Of equal attributes the first counts.
        let id = element.attributes().iter().find(|attribute| {
            let name = attribute.name_source_location().map(|name| name.bytes());
            name.is_some_and(|name| bytes[name].eq_ignore_ascii_case(b"id"))
        });
        if let Some(value) = id.and_then(|id| id.value_source_location()) {
            self.scan.ids.push(Id {
                at,
                value: attribute::decode(&bytes[value.bytes()], self.page.encoding),
                within,
            });
        }
    }

    /// Skips raw text behind a start tag and gives it to the tag.
    fn content(&mut self, name: &str, span: Range<usize>, foreign: bool, closes_later: bool) {
        let bytes = self.page.bytes;
        let holds = matches!(name, "style" | "script");
        if foreign {
            if holds && closes_later {
                let end = foreign_end(bytes, span.end, name);
                self.give(span.end..end);
            }
            return;
        }
        if tokens::content(name) == Content::Markup || span.end < self.at {
            return;
        }
        let content = span.end..tokens::content_end(bytes, span.end, name);
        self.at = content.end;
        if holds {
            self.give(content);
        } else if name == "noscript" && !self.page.within.noscript {
            let within = Within {
                noscript: true,
                template: self.page.within.template || self.templates > 0,
                ..self.page.within
            };
            let mut inner = Page {
                bytes: &bytes[content.clone()],
                within,
                ..self.page
            }
            .scan();
            shift(&mut inner.tags, content.start);
            self.scan.tags.append(&mut inner.tags);
            for id in &mut inner.ids {
                id.at += content.start;
            }
            self.scan.ids.append(&mut inner.ids);
        }
    }

    fn give(&mut self, content: Range<usize>) {
        if let Some(tag) = self.scan.tags.last_mut() {
            tag.content = Some(content);
        }
    }

    fn srcdoc(&mut self, text: &str, span: Range<usize>, within: Within) {
        if self.page.srcdoc_depth >= SRCDOC_DEPTH {
            return;
        }
        let within = Within {
            srcdoc: true,
            foreign: false,
            ..within
        };
        let inner = Page {
            bytes: text.as_bytes(),
            encoding: UTF_8,
            within,
            srcdoc_depth: self.page.srcdoc_depth + 1,
            ids: false,
        };
        let mut inner = inner.scan();
        detach(&mut inner.tags, span);
        self.scan.tags.append(&mut inner.tags);
    }

    /// Reads what lies between the last token and `end`.
    fn gap(&mut self, end: usize) {
        let bytes = self.page.bytes;
        while self.at < end {
            let foreign = self.spaces.current() != Space::Html;
            let Some((span, token)) = tokens::next(bytes, self.at, end, foreign) else {
                self.at = end;
                return;
            };
            self.at = span.end;
            match token {
                Token::Start(_) => self.doubt(TWO_READINGS),
                Token::End(name) => self.end(&bytes[name]),
                Token::Other | Token::Cut => {}
            }
        }
    }

    fn end(&mut self, name: &[u8]) {
        if name.eq_ignore_ascii_case(b"template") {
            self.templates = self.templates.saturating_sub(1);
        }
        if self.spaces.current() == Space::Html {
            self.nesting.end(name);
        }
        self.spaces.end(name);
    }

    fn finish(&mut self) {
        self.gap(self.page.bytes.len());
        if self.spaces.open() || self.spaces.unsure {
            self.doubt(FOREIGN);
        }
        let nesting = std::mem::take(&mut self.nesting);
        self.scan.problems.append(&mut nesting.finish());
    }

    fn doubt(&mut self, why: &'static str) {
        self.scan.opaque.get_or_insert(why);
    }

    /// A quote or `>` that is missing makes a tag swallow the next one as an attribute.
    fn swallowed(&mut self, name: &str, at: usize, attributes: &[Attribute]) {
        if !matches!(name, "a" | "img" | "link" | "iframe" | "script" | "form" | "area") {
            return;
        }
        let broken = |a: &Attribute| {
            (a.name.starts_with('<') && a.name.len() > 1)
                || (matches!(a.name.as_str(), "href" | "src" | "class" | "id")
                    && a.value.contains('>')
                    && ["<img", "<a ", "</a>", "<div", "<link", "<p>", "<br"]
                        .iter()
                        .any(|tag| a.value.contains(tag)))
        };
        if attributes.iter().any(broken) {
            let message = format!("`<{name}` swallows the markup behind it, a quote or `>` is missing");
            self.scan.problems.push(Problem {
                at,
                code: Code::UnclosedElement,
                message,
            });
        }
    }
}

fn shift(tags: &mut [Tag], by: usize) {
    let shifted = |range: &Range<usize>| range.start + by..range.end + by;
    for tag in tags {
        tag.span = shifted(&tag.span);
        tag.content = tag.content.as_ref().map(shifted);
        for attribute in &mut tag.attributes {
            attribute.span = attribute.span.as_ref().map(shifted);
        }
    }
}

/// The end of a `style` or `script` of SVG: its next end tag, comments and CDATA sections skipped.
fn foreign_end(bytes: &[u8], from: usize, name: &str) -> usize {
    let mut at = from;
    while let Some((span, token)) = tokens::next(bytes, at, bytes.len(), true) {
        match token {
            Token::End(end) if bytes[end.clone()].eq_ignore_ascii_case(name.as_bytes()) => return span.start,
            Token::Start(_) | Token::End(_) => return span.start,
            Token::Other | Token::Cut => at = span.end,
        }
    }
    bytes.len()
}

fn has_attribute(bytes: &[u8], element: &Element<'_, '_>, names: &[&str]) -> bool {
    element
        .attributes()
        .iter()
        .filter_map(|attribute| attribute.name_source_location())
        .any(|name| {
            let written = &bytes[name.bytes()];
            names
                .iter()
                .any(|name| written.eq_ignore_ascii_case(name.as_bytes()))
        })
}

fn is_html_annotation(element: &Element<'_, '_>) -> bool {
    element.get_attribute("encoding").is_some_and(|encoding| {
        encoding.eq_ignore_ascii_case("text/html") || encoding.eq_ignore_ascii_case("application/xhtml+xml")
    })
}

/// The attributes of a tag; of equal names the first counts (HTML standard, 13.2.5.33).
fn attributes(bytes: &[u8], element: &Element<'_, '_>, encoding: &'static Encoding) -> Vec<Attribute> {
    let found = element.attributes();
    let mut attributes: Vec<Attribute> = Vec::with_capacity(found.len());
    // Looking back is faster for the few attributes of real tags, and quadratic for a hostile one.
    let mut seen = HashSet::new();
    for attribute in found {
        let Some(name) = attribute.name_source_location() else {
            continue;
        };
        let name = attribute::decode_name(&bytes[name.bytes()], encoding);
        let repeated = if found.len() > 16 {
            !seen.insert(name.clone())
        } else {
            attributes.iter().any(|earlier| earlier.name == name)
        };
        if repeated {
            continue;
        }
        let span = attribute.value_source_location().map(|span| span.bytes());
        let quote = span
            .as_ref()
            .and_then(|span| bytes.get(span.start.checked_sub(1)?).copied());
        attributes.push(Attribute {
            name,
            quote: quote.filter(|quote| matches!(quote, b'"' | b'\'')),
            value: span
                .clone()
                .map_or_else(String::new, |span| attribute::decode(&bytes[span], encoding)),
            span,
        });
    }
    attributes
}

/// The elements of HTML that are always reported.
const HTML: [&str; 33] = [
    "html", "head", "body", "base", "link", "script", "img", "image", "source", "picture", "video", "audio",
    "track", "iframe", "frame", "object", "embed", "input", "button", "table", "thead", "tbody", "tfoot",
    "tr", "td", "th", "a", "area", "form", "meta", "style", "noscript", "template",
];
