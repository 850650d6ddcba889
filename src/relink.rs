//! Writes other addresses into a page: its markup, its `style` elements, its `style` attributes.
//!
//! In: a page's bytes, and a function that is asked for each address of a file of the site what to say in its place.
//! Out: the edits, one for each attribute or `style` element that changes. Nothing here decides which address changes;
//! what cannot be written anew is shown to the function all the same, as not editable.

use crate::css;
use crate::edit::Edit;
use crate::graph::{self, Graph, Page, Text};
use crate::html::{self, Kind, Scan, Tag};
use crate::site::{FileId, Site};
use crate::url::{self, Base, Target};

/// One address of a file of the site.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) kind: Kind,
    /// As written, decoded.
    pub(crate) raw: &'a str,
    pub(crate) file: FileId,
    /// It names a part of the file: `x.svg#icon`.
    pub(crate) has_fragment: bool,
    /// The element that says it.
    pub(crate) tag: &'a Tag,
    /// Where in CSS it stands.
    pub(crate) place: Option<&'a css::Place>,
    pub(crate) editable: bool,
}

/// The new text of an attribute or of a `style` element.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) edit: Edit,
    /// The name of the attribute, its value before and now.
    pub(crate) attribute: Option<(String, String, String)>,
    pub(crate) files: Vec<FileId>,
}

/// What is asked for each address: what to say in its place, `None` to leave it.
pub(crate) type Ask<'a> = &'a mut dyn FnMut(&Found<'_>) -> Option<String>;

/// A page scanned once.
pub(crate) struct Reader<'a> {
    site: &'a Site,
    graph: &'a Graph,
    facts: &'a Page,
    bytes: &'a [u8],
    pub(crate) scan: Scan,
    base: Base,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(site: &'a Site, graph: &'a Graph, page: u32, bytes: &'a [u8]) -> Reader<'a> {
        let (scan, base) = graph.rescan(site, page, bytes);
        Reader {
            site,
            graph,
            facts: &graph.pages[page as usize],
            bytes,
            scan,
            base,
        }
    }

    /// The file that an address leads to, and whether to a part of it.
    pub(crate) fn file(&self, raw: &str) -> Option<(FileId, bool)> {
        match url::resolve(self.site, &self.graph.mount, &self.base, raw) {
            Target::File {
                file,
                address,
                fragment,
            } if url::is_unambiguous(&address) => Some((file, fragment.is_some())),
            _ => None,
        }
    }

    /// Asks for every address that a browser with scripting would read.
    pub(crate) fn changes(&self, ask: Ask<'_>) -> Vec<Change> {
        let mut changes = Vec::new();
        for tag in &self.scan.tags {
            if tag.within.noscript || tag.within.template {
                continue;
            }
            if graph::is_css(tag) && tag.content.is_some() && !tag.within.srcdoc {
                changes.extend(self.style_element(tag, ask));
            }
            changes.extend(self.style_attribute(tag, ask));
            self.attributes(tag, ask, &mut changes);
        }
        changes.sort_by_key(|change| (change.edit.span.start, change.edit.span.end));
        changes
    }

    fn style_element(&self, tag: &Tag, ask: Ask<'_>) -> Option<Change> {
        let editable = graph::is_live(tag)
            && !tag.within.foreign
            && !self.facts.hashes_styles
            && self.facts.aligned
            && tag.get("data-fewer").is_none();
        let content = tag.content.clone()?;
        let source = Text::new(&self.bytes[content.clone()], self.facts.encoding)?;
        let scan = css::scan(&source.text, false);
        let mut files = Vec::new();
        let text = self.css(tag, &source.text, &scan, editable, ask, &mut files)?;
        if text.to_ascii_lowercase().contains("</style") {
            return None;
        }
        let edit = Edit {
            span: content,
            with: source.encode(&text)?,
        };
        Some(Change {
            edit,
            attribute: None,
            files,
        })
    }

    fn style_attribute(&self, tag: &Tag, ask: Ask<'_>) -> Option<Change> {
        let attribute = tag.attributes.iter().find(|a| a.name == "style")?;
        let editable = self.is_editable(tag, attribute)
            && !tag.within.foreign
            && !self.facts.selects_style
            && !self.facts.hashes_styles;
        let scan = css::scan(&attribute.value, true);
        let mut files = Vec::new();
        let text = self.css(tag, &attribute.value, &scan, editable, ask, &mut files)?;
        self.change(attribute, text, files)
    }

    fn css(
        &self,
        tag: &Tag,
        text: &str,
        scan: &css::Scan,
        editable: bool,
        ask: Ask<'_>,
        files: &mut Vec<FileId>,
    ) -> Option<String> {
        css::exchange(text, scan, &mut |_, url| {
            let (file, has_fragment) = self.file(&url.value)?;
            let fixed = scan.opaque.is_some() || is_elsewhere(&url.place) || !css::is_exchangeable(text, url);
            let found = Found {
                kind: kind_of(&url.place),
                raw: &url.value,
                file,
                has_fragment,
                tag,
                place: Some(&url.place),
                editable: editable && !fixed,
            };
            let new = ask(&found).filter(|_| found.editable)?;
            files.push(file);
            Some(new)
        })
    }

    fn attributes(&self, tag: &Tag, ask: Ask<'_>, changes: &mut Vec<Change>) {
        let references = html::references(tag);
        for (index, attribute) in tag.attributes.iter().enumerate() {
            let mut here = references.iter().filter(|r| r.attribute == index).peekable();
            if here.peek().is_none() {
                continue;
            }
            // One address may be asked for in two ways (`preload stylesheet`): the first kind speaks for both.
            let spans = match attribute.name.as_str() {
                "srcset" | "imagesrcset" => html::srcset(&attribute.value)
                    .into_iter()
                    .map(|candidate| candidate.span)
                    .collect(),
                _ => here
                    .clone()
                    .filter_map(|r| attribute.value.find(&r.url).map(|at| at..at + r.url.len()))
                    .take(1)
                    .collect::<Vec<_>>(),
            };
            let editable = self.is_editable(tag, attribute);
            let mut value = String::new();
            let mut files = Vec::new();
            let mut done = 0;
            for (reference, span) in here.zip(spans) {
                let Some((file, has_fragment)) = self.file(&reference.url) else {
                    continue;
                };
                let found = Found {
                    kind: reference.kind,
                    raw: &reference.url,
                    file,
                    has_fragment,
                    tag,
                    place: None,
                    editable,
                };
                if let Some(new) = ask(&found).filter(|new| editable && *new != reference.url) {
                    value.push_str(&attribute.value[done..span.start]);
                    value.push_str(&new);
                    done = span.end;
                    files.push(file);
                }
            }
            if !files.is_empty() {
                value.push_str(&attribute.value[done..]);
                changes.extend(self.change(attribute, value, files));
            }
        }
    }

    /// The value can be written anew without a loss.
    fn is_editable(&self, tag: &Tag, attribute: &html::Attribute) -> bool {
        let Some(encoding) = self.facts.encoding else {
            return false;
        };
        let kept = attribute.value.is_ascii()
            || (encoding == encoding_rs::UTF_8 || encoding.is_single_byte())
                && !encoding.encode(&attribute.value).2;
        kept && attribute.span.is_some() && graph::is_live(tag) && tag.get("data-fewer").is_none()
    }

    fn change(&self, attribute: &html::Attribute, value: String, files: Vec<FileId>) -> Option<Change> {
        let with = html::escape_attribute(&value, attribute.quote.unwrap_or(b'"'));
        let with = match attribute.quote {
            Some(_) => with,
            None => format!("\"{with}\""),
        };
        let (with, _, unmappable) = self.facts.encoding?.encode(&with);
        (!unmappable).then_some(Change {
            edit: Edit {
                span: attribute.span.clone()?,
                with: with.into_owned(),
            },
            attribute: Some((attribute.name.clone(), attribute.value.clone(), value)),
            files,
        })
    }
}

/// An address that is resolved against another place than where it stands, or asks for nothing.
pub(crate) fn is_elsewhere(place: &css::Place) -> bool {
    matches!(place, css::Place::Custom | css::Place::Other)
}

/// What an address in CSS asks for.
pub(crate) fn kind_of(place: &css::Place) -> Kind {
    match place {
        css::Place::Import => Kind::Stylesheet,
        css::Place::FontFace => Kind::Font,
        _ => Kind::Image,
    }
}

/// `raw` with another name for the file: folder, query and fragment stay as they are written.
pub(crate) fn renamed(raw: &str, name: &str) -> String {
    let raw = raw.trim_matches(|c: char| c <= ' ');
    let end = raw.find(['?', '#']).unwrap_or(raw.len());
    let start = raw[..end].rfind(['/', '\\']).map_or(0, |at| at + 1);
    format!("{}{name}{}", &raw[..start], &raw[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_of_an_address_changes() {
        let check = |raw: &str, expected: &str| assert_eq!(renamed(raw, "N"), expected, "{raw}");
        check("a.png", "N");
        check(" ../img/a.png ", "../img/N");
        check("/img/a.png?v=1/2#x", "/img/N?v=1/2#x");
        check("img\\a.png", "img\\N");
        check("https://example.org/a%20b.png", "https://example.org/N");
    }
}
