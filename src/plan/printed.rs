//! Stylesheet files ready to take images: printed once, with the places where they name an image.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::Context;
use crate::css;
use crate::edit::{self, Edit};
use crate::graph::{Address, AddressId, Destination, Sheet, Text};
use crate::image;
use crate::integrity;
use crate::measure::{self, Sizes};
use crate::options::Pass;
use crate::site::FileId;
use crate::url::{self, Target};
use crate::{parallel, variants};

/// A stylesheet ready to take images: printed, if that made it smaller.
#[derive(Debug)]
pub(super) struct Printed {
    pub(super) source: Text,
    pub(super) text: String,
    /// Where `text` names which address: byte span and address, in order.
    pub(super) places: Vec<(std::ops::Range<usize>, AddressId)>,
    pub(super) before: Sizes,
    /// The sizes of `text`.
    pub(super) sizes: Sizes,
    pub(super) minified: bool,
}

/// Printed texts by the hash of the sheet's bytes; `None` where printing won nothing.
pub(crate) type Known = HashMap<u64, Option<Arc<str>>>;

/// Why a stylesheet keeps its bytes, or its printed form.
pub(super) type Prints = Vec<Result<Printed, &'static str>>;

/// Prints every stylesheet once; the rounds of `decide` start from here.
pub(super) fn print_all(context: &Context<'_>) -> anyhow::Result<Prints> {
    let keys: Vec<u32> = (0..context.graph.sheets.len() as u32).collect();
    parallel::map(&keys, |&key| print(context, key))
        .into_iter()
        .collect()
}

fn print(context: &Context<'_>, key: u32) -> anyhow::Result<Result<Printed, &'static str>> {
    let sheet = &context.graph.sheets[key as usize];
    if let Some(why) = frozen(context, key) {
        return Ok(Err(why));
    }
    let Some(source) = sheet.text.clone() else {
        return Ok(Err("it cannot be edited safely as text"));
    };
    let encoded = variants::wanted(context.site.file(sheet.file), context.options);
    let bytes = context.site.read(sheet.file)?;
    anyhow::ensure!(
        crate::graph::hash(&bytes) == sheet.hash,
        "{} changed during the build",
        context.site.file(sheet.file).path
    );
    if integrity::is_sealed(&bytes, &context.graph.seals) {
        return Ok(Err("a script holds the hash of its bytes"));
    }
    let measure =
        |bytes: &[u8]| measure::sizes(bytes, encoded, measure::levels(context.options), context.options);
    let before = measure(&bytes);
    // What the shape made is made of printed text, in this build or, if its name is the hash of its bytes, in an earlier
    // one: printed again it would lose that name.
    let file = context.site.file(sheet.file);
    let is_made = file.content.is_made() || crate::names::is_named_by(&file.path, &bytes);
    if context.runs(Pass::Minify)
        && !is_made
        && let Some(text) = shorter(context, sheet.hash, &source.text)
        && let Some(bytes) = source.encode(&text)
    {
        let sizes = measure(&bytes);
        if sizes.is_better_than(&before) {
            let places = places(context, sheet, &text);
            return Ok(Ok(Printed {
                source,
                text,
                places,
                before,
                sizes,
                minified: true,
            }));
        }
    }
    let text = source.text.clone();
    let places = places(context, sheet, &text);
    Ok(Ok(Printed {
        source,
        text,
        places,
        before,
        sizes: before,
        minified: false,
    }))
}

/// The printed text, from an earlier pass over the same bytes if there was one.
fn shorter(context: &Context<'_>, hash: u64, text: &str) -> Option<String> {
    match context.known.and_then(|known| known.get(&hash)) {
        Some(known) => known.as_ref().map(|text| text.to_string()),
        None => css::print(text, context.options.targets),
    }
}

/// What was printed of each sheet, by the hash of its bytes.
pub(super) fn known(context: &Context<'_>, prints: &Prints) -> Known {
    let sheets = context.graph.sheets.iter().zip(prints);
    let printed = |printed: &Printed| printed.minified.then(|| Arc::from(printed.text.as_str()));
    sheets
        .filter_map(|(sheet, result)| Some((sheet.hash, printed(result.as_ref().ok()?))))
        .collect()
}

/// Why no byte of this stylesheet may change, if so.
fn frozen(context: &Context<'_>, key: u32) -> Option<&'static str> {
    let sheet = &context.graph.sheets[key as usize];
    if !context.site.file(sheet.file).editable {
        return Some("left out by --include or --exclude");
    }
    let ascii = sheet.text.as_ref().is_some_and(|t| t.text.is_ascii());
    for page in &context.graph.pages {
        for (file, matches) in &*page.integrity {
            if *file == sheet.file && !*matches {
                return Some("an integrity attribute does not fit its bytes");
            }
            if *file == sheet.file && page.opaque.is_some() {
                return Some("a page that cannot be edited names it with an integrity attribute");
            }
        }
    }
    let multi_byte = |p: &u32| {
        context.relations.documents[*p as usize].iter().any(|&d| {
            let encoding = context.graph.pages[d as usize].encoding;
            encoding.is_some_and(|e| e != encoding_rs::UTF_8 && !e.is_single_byte())
        })
    };
    if !ascii && context.relations.loads[key as usize].iter().any(multi_byte) {
        return Some("a page in a multi-byte encoding reads its bytes in another way");
    }
    None
}

/// The images that `text`, which is the sheet or its printed form, names in declarations.
fn places(context: &Context<'_>, sheet: &Sheet, text: &str) -> Vec<(std::ops::Range<usize>, AddressId)> {
    let resolve = |found: &css::Url| {
        if !image::takes_images(&found.place) {
            return None;
        }
        match url::resolve(context.site, &context.graph.mount, &sheet.base, &found.value) {
            Target::File {
                file,
                address,
                fragment,
            } if url::is_unambiguous(&address) && (fragment.is_none() || !is_svg(context, file)) => {
                context.graph.address(&Address {
                    url: address,
                    to: Destination::File(file),
                })
            }
            _ => None,
        }
    };
    css::scan(text, false)
        .urls
        .iter()
        .filter_map(|found| Some((found.span.clone(), resolve(found)?)))
        .collect()
}

fn is_svg(context: &Context<'_>, file: FileId) -> bool {
    context.site.file(file).media == crate::media::Media::Svg
}

/// The text with these images: each stands once, as a custom property where the sheet names it several times.
pub(super) fn with_images(
    printed: &Printed,
    inlined: &BTreeSet<AddressId>,
    images: &BTreeMap<AddressId, Arc<str>>,
) -> String {
    let mut edits = Vec::new();
    let mut definitions = String::new();
    for (span, address) in printed
        .places
        .iter()
        .filter(|(_, address)| inlined.contains(address))
    {
        let Some(image) = images.get(address) else {
            continue;
        };
        let with = if printed.times(*address) == 1 {
            css::url_token(image)
        } else {
            let name = format!("--fewer-{:08x}", crate::graph::hash(image.as_bytes()) as u32);
            if !definitions.contains(&name) {
                definitions.push_str(&format!("{name}:{};", css::url_token(image)));
            }
            format!("var({name})")
        };
        edits.push(Edit {
            span: span.clone(),
            with: with.into_bytes(),
        });
    }
    let bytes = edit::splice(printed.text.as_bytes(), &edits);
    let mut text = String::from_utf8(bytes).unwrap_or_else(|_| printed.text.clone());
    if !definitions.is_empty() {
        definitions.pop();
        text.push_str(&format!(":root{{{definitions}}}"));
    }
    text
}

impl Printed {
    /// How often the sheet names this image.
    pub(super) fn times(&self, address: AddressId) -> usize {
        self.places.iter().filter(|(_, a)| *a == address).count()
    }

    /// Whether the image can stand here once.
    pub(super) fn takes(&self, address: AddressId) -> bool {
        let spans: Vec<_> = self
            .places
            .iter()
            .filter(|(_, a)| *a == address)
            .map(|(span, _)| span.clone())
            .collect();
        spans.len() == 1 || css::allows_custom_property(&self.text, &spans)
    }
}
