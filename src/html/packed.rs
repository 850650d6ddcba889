//! A scan in few bytes, for the passes that read a page again: parsing it anew took a third of all but the encoding.
//!
//! Values that stand in the page as they are meant are not kept: they are taken from its bytes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Attribute, Scan, Tag, Within};

/// What `html::scan` found in a page, without its problems and ids.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Packed {
    /// Of tags and attributes, each once.
    names: Box<[Box<str>]>,
    tags: Box<[PackedTag]>,
    attributes: Box<[PackedAttribute]>,
    /// Of attributes whose value is not what their bytes say.
    values: Box<[Box<str>]>,
    /// Of no use to a later build: such a page is not edited.
    #[serde(skip)]
    opaque: Option<&'static str>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct PackedTag {
    span: [u32; 2],
    content: [u32; 2],
    attributes: u32,
    name: u16,
    within: Within,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct PackedAttribute {
    span: [u32; 2],
    name: u16,
    quote: u8,
    /// The value stands in `values`.
    apart: bool,
}

/// Stands for a span that is not there: no page has so many bytes.
const NONE: [u32; 2] = [u32::MAX; 2];

impl Packed {
    /// `None` for a page beyond 4 GiB, or one with more names than pages have.
    pub(crate) fn new(scan: &Scan, bytes: &[u8]) -> Option<Packed> {
        let mut names = Names::default();
        let mut tags = Vec::with_capacity(scan.tags.len());
        let mut attributes = Vec::with_capacity(scan.tags.iter().map(|tag| tag.attributes.len()).sum());
        let mut values = Vec::new();
        for tag in &scan.tags {
            for attribute in &tag.attributes {
                let written = attribute.span.clone().map_or(&b""[..], |span| &bytes[span]);
                let apart = written != attribute.value.as_bytes();
                if apart {
                    values.push(Box::from(attribute.value.as_str()));
                }
                attributes.push(PackedAttribute {
                    span: narrow(attribute.span.as_ref())?,
                    name: names.index(&attribute.name)?,
                    quote: attribute.quote.unwrap_or(0),
                    apart,
                });
            }
            tags.push(PackedTag {
                span: narrow(Some(&tag.span))?,
                content: narrow(tag.content.as_ref())?,
                attributes: u32::try_from(tag.attributes.len()).ok()?,
                name: names.index(&tag.name)?,
                within: tag.within,
            });
        }
        Some(Packed {
            names: names.0.into(),
            tags: tags.into(),
            attributes: attributes.into(),
            values: values.into(),
            opaque: scan.opaque,
        })
    }

    /// The scan of the same bytes.
    pub(crate) fn unpack(&self, bytes: &[u8]) -> Scan {
        let mut attributes = self.attributes.iter();
        let mut values = self.values.iter();
        let mut attribute = |packed: &PackedAttribute| {
            let span = wide(packed.span);
            let value = if packed.apart {
                values.next().map(|value| String::from(&**value))
            } else {
                span.clone()
                    .map(|span| String::from_utf8_lossy(&bytes[span]).into_owned())
            };
            Attribute {
                name: self.name(packed.name),
                quote: Some(packed.quote).filter(|quote| *quote != 0),
                value: value.unwrap_or_default(),
                span,
            }
        };
        let tags = self.tags.iter().map(|packed| Tag {
            name: self.name(packed.name),
            span: wide(packed.span).unwrap_or_default(),
            attributes: attributes
                .by_ref()
                .take(packed.attributes as usize)
                .map(&mut attribute)
                .collect(),
            content: wide(packed.content),
            within: packed.within,
        });
        Scan {
            tags: tags.collect(),
            opaque: self.opaque,
            ..Scan::default()
        }
    }

    /// Bytes that it takes in memory.
    pub(crate) fn size(&self) -> usize {
        let texts = self.names.iter().chain(&self.values);
        size_of::<Packed>()
            + size_of_val(&*self.tags)
            + size_of_val(&*self.attributes)
            + texts
                .map(|text| size_of::<Box<str>>() + text.len().next_multiple_of(16))
                .sum::<usize>()
    }

    fn name(&self, index: u16) -> String {
        String::from(&*self.names[usize::from(index)])
    }
}

/// Pages have few names, the same ones over and over: looking through them is faster than a hash.
#[derive(Default)]
struct Names(Vec<Box<str>>);

impl Names {
    const MOST: usize = 1000;

    fn index(&mut self, name: &str) -> Option<u16> {
        if let Some(at) = self.0.iter().position(|known| **known == *name) {
            return Some(at as u16);
        }
        self.0.push(Box::from(name));
        (self.0.len() <= Names::MOST).then_some(self.0.len() as u16 - 1)
    }
}

fn narrow(span: Option<&Range<usize>>) -> Option<[u32; 2]> {
    let Some(span) = span else { return Some(NONE) };
    let end = u32::try_from(span.end).ok().filter(|&end| end < u32::MAX)?;
    Some([u32::try_from(span.start).ok()?, end])
}

fn wide(span: [u32; 2]) -> Option<Range<usize>> {
    (span != NONE).then(|| span[0] as usize..span[1] as usize)
}

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;

    /// Everything but problems and ids.
    fn shown(scan: &Scan) -> String {
        format!("{:?} {:?}", scan.tags, scan.opaque)
    }

    #[test]
    fn what_comes_out_is_what_went_in() {
        let many: String = (0..2000).map(|n| format!("<img a{n}=1>")).collect();
        let pages = [
            "",
            "<p>no tag that counts",
            "<a href=x title='a &amp; b' href=y hidden alt=\"\">t</a><img src=\"a.png\"><img SRC = b.png>",
            "<style>a{b:c}</style><script src=a.js></script><script>x</script><svg><style>&lt;</style></svg>",
            "<noscript><img src=n.png></noscript><template><img src=t.png></template>",
            "<iframe srcdoc='<img src=&quot;i.png&quot;><p style=a:b>'></iframe>",
            "<select><textarea></select><img src=x>",
            "<svg><image href=a.png>",
            &many,
        ];
        for page in pages {
            let scan = scan(page.as_bytes(), encoding_rs::UTF_8);
            match Packed::new(&scan, page.as_bytes()) {
                Some(packed) => assert_eq!(shown(&packed.unpack(page.as_bytes())), shown(&scan), "{page}"),
                None => assert_eq!(page, many),
            }
        }
    }

    #[test]
    fn other_encodings() {
        for encoding in [
            encoding_rs::WINDOWS_1252,
            encoding_rs::SHIFT_JIS,
            encoding_rs::ISO_2022_JP,
        ] {
            let page = b"<a title='caf\xE9 \x1b$B' href=\xE9.html><img src=a.png>";
            let scan = scan(page, encoding);
            let packed = Packed::new(&scan, page).unwrap();
            assert_eq!(shown(&packed.unpack(page)), shown(&scan));
            assert!(packed.size() > 0);
        }
    }
}
