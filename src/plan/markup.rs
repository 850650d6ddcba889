//! What the shape of the site means for the bytes of one page.

use std::collections::BTreeMap;

use super::ground::Doc;
use super::shape::{Fate, Item, Work};
use super::survey::{Image, Link, Script};
use crate::edit::Edit;
use crate::html;
use crate::site::SitePath;
use crate::url;

/// The edits of a page, sorted; `names`: the path of every made sheet, by unit.
pub(super) fn edits(
    work: &Work<'_>,
    names: &BTreeMap<usize, SitePath>,
    page: u32,
    bytes: &[u8],
) -> Vec<Edit> {
    let Some(doc) = &work.ground.docs[page as usize] else {
        return Vec::new();
    };
    let writer = Writer {
        work,
        names,
        page,
        doc,
        bytes,
    };
    let mut edits = Vec::new();
    for link in &doc.survey.links {
        edits.extend(writer.link(link));
    }
    for image in &doc.survey.images {
        edits.extend(writer.image(image));
    }
    for script in &doc.survey.scripts {
        if let Some((text, docs)) = work.scripts.get(&script.address)
            && docs.contains(&page)
        {
            edits.push(edit(&script.tag, "<script>".to_owned()));
            edits.push(edit(&script.content, text.to_string()));
        }
    }
    for script in &doc.survey.scripts {
        edits.extend(writer.joint(script));
    }
    for hint in &doc.survey.hints {
        // What is fetched for another page is in vain where no page asks for it any more.
        let in_vain = hint.prefetch && work.is_only_prefetched(hint.address);
        if in_vain || (!hint.prefetch && writer.is_gone(hint.address)) {
            edits.push(edit(&hint.tag, String::new()));
        }
    }
    edits.extend(writer.new_links());
    edits.extend(writer.new_style());
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    edits
}

struct Writer<'a> {
    work: &'a Work<'a>,
    names: &'a BTreeMap<usize, SitePath>,
    page: u32,
    doc: &'a Doc,
    bytes: &'a [u8],
}

impl Writer<'_> {
    fn path(&self) -> &SitePath {
        let file = self.work.ground.graph().pages[self.page as usize].file;
        &self.work.ground.context.site.file(file).path
    }

    fn reference(&self, to: &SitePath) -> String {
        if self.doc.survey.moved {
            return url::absolute(&self.work.ground.graph().mount, to);
        }
        url::relative(self.path(), to)
    }

    fn link(&self, link: &Link) -> Vec<Edit> {
        let item = Item::of(link);
        let Some(index) = self.work.unit(self.page, &item) else {
            return Vec::new();
        };
        let unit = &self.work.units[index];
        if unit.fate == Fate::Kept {
            return self
                .alias(link.address, &link.href, link.quote)
                .into_iter()
                .collect();
        }
        if unit.items.first() != Some(&item) {
            return vec![edit(&self.with_space_before(&link.tag), String::new())];
        }
        match (unit.fate, &unit.text) {
            (Fate::Embedded, Some(text)) => {
                let media = unit.items.first().filter(|_| unit.items.len() == 1);
                let media = match media.and_then(|item| item.media.as_ref()) {
                    Some(media) => format!(" media=\"{}\"", html::escape_attribute(media, b'"')),
                    None => String::new(),
                };
                let text = self.work.rebased(index, text, self.path());
                vec![edit(&link.tag, format!("<style{media}>{text}</style>"))]
            }
            (Fate::Renamed, _) => {
                let Some(name) = self.names.get(&index) else {
                    return Vec::new();
                };
                let mut edits = vec![value_edit(&link.href, link.quote, &self.reference(name))];
                // The media of a link that stood alone are those of the sheet; a group has them inside.
                if unit.items.len() > 1 && link.media.is_some() {
                    edits.extend(self.without_media(link));
                }
                edits
            }
            _ => Vec::new(),
        }
    }

    /// The first script of a joint asks for its file; the others ask for nothing. Their elements stay, empty, which
    /// run nothing (HTML standard, 4.12.1.1, "prepare the script element", step 6): selectors and scripts count the
    /// elements around them as before.
    fn joint(&self, script: &Script) -> Vec<Edit> {
        let Some(index) = self.work.joint(self.page, script.address) else {
            return Vec::new();
        };
        let joint = &self.work.joints[index];
        if joint.items.first() == Some(&script.address) {
            let reference = self.reference(&joint.name);
            return vec![value_edit(&script.src, script.quote, &reference)];
        }
        let element = script.element.iter();
        element
            .map(|element| edit(element, "<script></script>".to_owned()))
            .collect()
    }

    /// Takes the `media` attribute out of the tag.
    fn without_media(&self, link: &Link) -> Option<Edit> {
        let tag = link.tag.start as usize..link.tag.end as usize;
        let text = String::from_utf8_lossy(&self.bytes[tag.clone()]).into_owned();
        let encoding = self.work.ground.graph().pages[self.page as usize].encoding?;
        let scan = html::scan(&self.bytes[tag.clone()], encoding);
        let attribute = scan.tags.first()?.attributes.iter().find(|a| a.name == "media")?;
        let value = attribute.span.clone()?;
        let name = text[..value.start].to_ascii_lowercase().rfind("media")?;
        let end = value.end + usize::from(attribute.quote.is_some());
        Some(Edit {
            span: tag.start + name..tag.start + end,
            with: Vec::new(),
        })
    }

    /// The tag with the white space before it, up to the line's start.
    fn with_space_before(&self, tag: &std::ops::Range<u32>) -> std::ops::Range<u32> {
        let before = &self.bytes[..tag.start as usize];
        let space = before
            .iter()
            .rev()
            .take_while(|b| b.is_ascii_whitespace())
            .count();
        tag.start - space as u32..tag.end
    }

    fn image(&self, image: &Image) -> Vec<Edit> {
        let carried = self.work.carried.get(&image.address);
        let shared = self.work.shared.get(&image.address);
        let shared = shared
            .into_iter()
            .chain(carried.and_then(|carried| carried.styled.as_ref()));
        if let Some(shared) = shared.into_iter().find(|shared| shared.docs.contains(&self.page)) {
            let Some((span, quote, value)) = &image.class else {
                let end = image.src.end + u32::from(image.quote.is_some());
                return vec![
                    value_edit(&image.src, image.quote, &shared.placeholder),
                    edit(&(end..end), format!(" class=\"{}\"", shared.class)),
                ];
            };
            let value = format!("{value} {}", shared.class);
            return vec![
                value_edit(&image.src, image.quote, &shared.placeholder),
                value_edit(span, *quote, &value),
            ];
        }
        match carried {
            Some(carried) if carried.plain.contains(&self.page) => {
                vec![value_edit(&image.src, image.quote, &carried.url)]
            }
            _ => self
                .alias(image.address, &image.src, image.quote)
                .into_iter()
                .collect(),
        }
    }

    /// The URL of another file with the same bytes.
    fn alias(&self, address: u32, span: &std::ops::Range<u32>, quote: Option<u8>) -> Option<Edit> {
        let alias = self.work.aliases.get(&address)?;
        let graph = self.work.ground.graph();
        let to = &graph.addresses[alias.to as usize].url;
        let reference = match self.doc.survey.moved {
            true => to.clone(),
            false => url::relative_to_address(&graph.mount, self.path(), to),
        };
        let is_here = alias.docs.contains(&self.page);
        is_here.then(|| value_edit(span, quote, &reference))
    }

    /// Nothing on the page asks for the address any more.
    fn is_gone(&self, address: u32) -> bool {
        let work = self.work;
        let has = |docs: &std::collections::BTreeSet<u32>| docs.contains(&self.page);
        let sheet = self.doc.survey.links.iter().any(|link| {
            link.address == address
                && work
                    .unit(self.page, &Item::of(link))
                    .is_some_and(|index| work.units[index].fate != Fate::Kept)
        });
        sheet
            || work
                .carried
                .get(&address)
                .is_some_and(|carried| carried.is_on(self.page))
            || work.shared.get(&address).is_some_and(|shared| has(&shared.docs))
            || work.scripts.get(&address).is_some_and(|(_, docs)| has(docs))
            || work.joint(self.page, address).is_some()
    }

    /// Images that the page shows many times, once.
    fn new_style(&self) -> Option<Edit> {
        let anchor = self.doc.survey.anchor?;
        let images = &self.doc.survey.images;
        let mut addresses: Vec<u32> = images.iter().map(|image| image.address).collect();
        addresses.dedup();
        let styled = addresses
            .iter()
            .filter_map(|address| self.work.carried.get(address)?.styled.as_ref());
        let rules: String = styled
            .filter(|shared| shared.docs.contains(&self.page))
            .map(|shared| &*shared.rule)
            .collect();
        (!rules.is_empty()).then(|| edit(&(anchor..anchor), format!("<style>{rules}</style>")))
    }

    /// Links to sheets that the page did not have.
    fn new_links(&self) -> Vec<Edit> {
        let Some(anchor) = self.doc.survey.anchor else {
            return Vec::new();
        };
        let has = |index: &&usize| self.work.units[**index].docs.binary_search(&self.page).is_ok();
        let mine = self.work.new_units.iter().filter(has);
        let link = |index: &usize| {
            let href = html::escape_attribute(&self.reference(self.names.get(index)?), b'"');
            Some(edit(
                &(anchor..anchor),
                format!("<link rel=\"stylesheet\" href=\"{href}\">"),
            ))
        };
        mine.filter_map(link).collect()
    }
}

fn edit(span: &std::ops::Range<u32>, with: String) -> Edit {
    Edit {
        span: span.start as usize..span.end as usize,
        with: with.into_bytes(),
    }
}

/// Another value for an attribute, with the quotes that it needs.
fn value_edit(span: &std::ops::Range<u32>, quote: Option<u8>, value: &str) -> Edit {
    let escaped = html::escape_attribute(value, quote.unwrap_or(b'"'));
    let with = match quote {
        Some(_) => escaped,
        None => format!("\"{escaped}\""),
    };
    edit(span, with)
}
