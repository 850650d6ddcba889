//! The images and SVG files that winning declarations request.

use std::collections::BTreeSet;

use super::cascade::{At, Found, Styles};
use super::document::{ElementData, is_space};
use super::markup::is_fetched;
use super::selector::PseudoElement;
use super::sheet::{Key, key};
use super::value::{Display, FETCHING, Property, Value, Wide};
use super::variables::{Origin, resolve};
use super::{From, Request};
use crate::html::Kind;

/// Attributes of SVG that stand for properties (SVG 2, section 6.6) and can hold a URL.
const PRESENTATION: [(&str, Property); 10] = [
    ("filter", Property::Filter),
    ("clip-path", Property::ClipPath),
    ("mask", Property::MaskImage),
    ("fill", Property::Fill),
    ("stroke", Property::Stroke),
    ("cursor", Property::Cursor),
    ("marker", Property::MarkerStart),
    ("marker-start", Property::MarkerStart),
    ("marker-mid", Property::MarkerMid),
    ("marker-end", Property::MarkerEnd),
];

pub(super) fn images(styles: &mut Styles<'_>, requests: &mut Vec<Request>) {
    let animated = styles
        .instances
        .iter()
        .any(|i| i.sheet.keyframes.iter().any(|k| !k.declarations.is_empty()));
    for (id, pseudo) in candidates(styles, animated) {
        if !styles.rendered(id) {
            continue;
        }
        let wanted = |p: &Property| {
            FETCHING.contains(p)
                || matches!(p, Property::All | Property::Display)
                || animated && *p == Property::AnimationName
        };
        let found = styles.declared(id, pseudo, &wanted);
        if let Some(pseudo) = pseudo
            && !has_box(styles, id, pseudo, &found)
        {
            continue;
        }
        for property in &FETCHING {
            if pseudo == Some(PseudoElement::Marker) && *property != Property::Content {
                continue;
            }
            match styles.winner(&found, property) {
                Some(winner) => emit(styles, id, pseudo, property, winner.from, requests),
                None if pseudo.is_none() => hint(styles, id, property, requests),
                None => {}
            }
        }
        if animated && let Some(winner) = styles.winner(&found, &Property::AnimationName) {
            animation(styles, winner.from, requests);
        }
    }
}

/// Elements and pseudo-elements that some declaration with a URL applies to, winning or not, in tree order.
fn candidates(styles: &mut Styles<'_>, animated: bool) -> BTreeSet<(u32, Option<PseudoElement>)> {
    let document = styles.document;
    let mut found = BTreeSet::new();
    for instance in 0..styles.instances.len() {
        let sheet = styles.instances[instance].sheet;
        for rule in &sheet.fetching {
            let r = &sheet.rules[*rule as usize];
            let block = &sheet.blocks[r.block as usize];
            if !styles.conditions[instance][block.condition as usize]
                || !animated
                    && block
                        .declarations
                        .iter()
                        .all(|d| !d.fetches() || d.property == Property::AnimationName)
            {
                continue;
            }
            let elements = match key(&r.selector) {
                Key::Id(hash) => document.ids.get(&hash),
                Key::Class(hash) => document.classes.get(&hash),
                Key::Tag(hash) => document.tags.get(&hash),
                Key::Any => Some(&document.elements),
            };
            for id in elements.into_iter().flatten() {
                if !found.contains(&(*id, r.pseudo)) && styles.rule_matches(instance, *rule, *id) {
                    found.insert((*id, r.pseudo));
                }
            }
        }
    }
    for id in &document.elements {
        let Some(e) = document.element(*id) else { continue };
        if e.get("style").is_some_and(may_fetch)
            && styles.inline(*id).is_some_and(|d| d.iter().any(|d| d.fetches()))
            || has_hint(e)
        {
            found.insert((*id, None));
        }
    }
    found
}

/// Cheap test of a `style` attribute before it is parsed.
fn may_fetch(style: &str) -> bool {
    let bytes = style.as_bytes();
    let has = |needle: &[u8]| {
        bytes
            .windows(needle.len())
            .any(|w| w.eq_ignore_ascii_case(needle))
    };
    bytes.contains(&b'\\') || has(b"url(") || has(b"image-set") || has(b"var(") || has(b"animation")
}

fn has_hint(e: &ElementData) -> bool {
    if e.is_html() {
        return is_backed(e) && e.has("background");
    }
    PRESENTATION
        .iter()
        .any(|(name, _)| e.get(name).is_some_and(may_fetch))
}

fn is_backed(e: &ElementData) -> bool {
    matches!(
        &*e.name.local,
        "body" | "table" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th"
    )
}

/// As tried in Chromium 156: `::before` and `::after` are styled as soon as any rule gives them a `content`, be it
/// `none`, and on every element, replaced ones too; others need an element that has them.
fn has_box(styles: &mut Styles<'_>, id: u32, pseudo: PseudoElement, found: &[Found]) -> bool {
    let declares = |property: Property| {
        found
            .iter()
            .any(|f| styles.declaration(f.from).is_some_and(|d| d.property == property))
    };
    if matches!(pseudo, PseudoElement::Before | PseudoElement::After) && !declares(Property::Content) {
        return false;
    }
    if let Some(winner) = styles.winner(found, &Property::Display)
        && styles.display_value(winner.from, id, Display::Inline) == Display::None
    {
        return false;
    }
    let Some(e) = styles.document.element(id) else {
        return false;
    };
    let tag = if e.is_html() { &*e.name.local } else { "" };
    let input =
        |kind: &str| tag == "input" && e.get("type").is_some_and(|t| t.trim().eq_ignore_ascii_case(kind));
    match pseudo {
        PseudoElement::Before | PseudoElement::After => true,
        PseudoElement::Marker => matches!(tag, "li" | "summary"),
        PseudoElement::FirstLine | PseudoElement::FirstLetter => {
            matches!(styles.display(id), Display::Block | Display::InlineBlock)
                && !styles.document.child_text(id).trim_matches(is_space).is_empty()
        }
        PseudoElement::Placeholder => matches!(tag, "input" | "textarea") && e.has("placeholder"),
        PseudoElement::FileButton => input("file"),
        PseudoElement::SliderThumb => input("range"),
        PseudoElement::SearchCancel => input("search"),
        PseudoElement::DetailsContent => tag == "details",
        PseudoElement::Other => false,
    }
}

fn kind(property: &Property) -> Kind {
    match property {
        Property::Filter
        | Property::BackdropFilter
        | Property::ClipPath
        | Property::Fill
        | Property::Stroke
        | Property::MarkerStart
        | Property::MarkerMid
        | Property::MarkerEnd => Kind::SvgUse,
        _ => Kind::Image,
    }
}

/// A fragment alone means the document itself.
fn push(kind: Kind, raw: &str, from: From, base: Option<From>, requests: &mut Vec<Request>) {
    if is_fetched(raw) && !raw.trim_matches(is_space).starts_with('#') {
        requests.push(Request {
            kind,
            raw: raw.to_owned(),
            from,
            base,
            lazy: false,
        });
    }
}

impl Styles<'_> {
    /// Where the `nth` URL of a declaration's text stands.
    pub(super) fn place(&self, at: At, nth: u32) -> From {
        match at {
            At::Sheet { instance, .. } => self.instances[instance as usize].place.url(nth),
            At::Inline { element, .. } => From::StyleAttribute {
                text: self
                    .document
                    .element(element)
                    .and_then(|e| e.get("style"))
                    .unwrap_or("")
                    .to_owned(),
                nth,
            },
        }
    }
}

fn emit(
    styles: &mut Styles<'_>,
    id: u32,
    pseudo: Option<PseudoElement>,
    property: &Property,
    at: At,
    requests: &mut Vec<Request>,
) {
    let Some(declaration) = styles.declaration(at) else {
        return;
    };
    match &declaration.value {
        Value::Var { name, text } => {
            let (name, text) = (name.clone(), text.clone());
            let Some(resolved) = resolve(styles, id, pseudo, &name, &text) else {
                return;
            };
            let Some((_, value)) = resolved.values.iter().find(|(p, _)| p == property) else {
                return;
            };
            for url in shown(value) {
                let Some((origin, nth)) = resolved.origins.get(url.nth as usize) else {
                    continue;
                };
                let user = styles.place(at, *nth);
                let (from, base) = match origin {
                    Origin::Here => (user, None),
                    Origin::At(definition) => (styles.place(*definition, *nth), Some(user)),
                    Origin::Registered(instance) => {
                        (styles.instances[*instance as usize].place.url(*nth), Some(user))
                    }
                };
                push(kind(property), &url.raw, from, base, requests);
            }
        }
        // The parent's value has been requested for the parent.
        Value::Wide(Wide::Inherit) => {}
        value => {
            for url in shown(value) {
                push(
                    kind(property),
                    &url.raw,
                    styles.place(at, url.nth),
                    None,
                    requests,
                );
            }
        }
    }
}

/// The URLs of a value. An element's own `content` is fetched even where it is too much to replace the element.
fn shown(value: &Value) -> &[super::image::Url] {
    match value {
        Value::Urls(urls) | Value::Content { urls, .. } => urls,
        _ => &[],
    }
}

/// Attributes count as the weakest author declarations.
fn hint(styles: &Styles<'_>, id: u32, property: &Property, requests: &mut Vec<Request>) {
    let Some(e) = styles.document.element(id) else {
        return;
    };
    let from = |attribute: &str| From::Markup {
        element: e.name.local.to_string(),
        attribute: attribute.to_owned(),
    };
    if e.is_html() {
        if *property == Property::BackgroundImage
            && is_backed(e)
            && let Some(raw) = e.get("background")
        {
            push(Kind::Image, raw, from("background"), None, requests);
        }
        return;
    }
    for (name, p) in &PRESENTATION {
        if p == property
            && let Some(text) = e.get(name)
            && let Ok((values, _)) =
                super::value::declaration(name, &mut cssparser::Parser::new(text), &|_| 0)
            && let Some((_, value)) = values.first()
        {
            for url in shown(value) {
                push(kind(property), &url.raw, from(name), None, requests);
            }
        }
    }
}

/// The images of the frames that a running animation shows; the last `@keyframes` of a name counts.
fn animation(styles: &Styles<'_>, at: At, requests: &mut Vec<Request>) {
    let Some(Value::Names(names)) = styles.declaration(at).map(|d| &d.value) else {
        return;
    };
    for name in names {
        let frames = styles
            .instances
            .iter()
            .zip(&styles.conditions)
            .rev()
            .find_map(|(instance, holds)| {
                let mut all = instance.sheet.keyframes.iter().rev();
                all.find(|k| k.name == *name && holds[k.condition as usize])
                    .map(|k| (instance, k))
            });
        let Some((instance, frames)) = frames else {
            continue;
        };
        for d in &frames.declarations {
            for url in shown(&d.value) {
                push(
                    kind(&d.property),
                    &url.raw,
                    instance.place.url(url.nth),
                    None,
                    requests,
                );
            }
        }
    }
}
