//! The font files that the text of a page requests: families are inherited, faces chosen (CSS Fonts 4, section 5),
//! and a face is asked for when a character of the text lies in its range.
//!
//! Found by trying in Chromium 156: a line without text asks for its block's first font too (an image in a `div`,
//! an empty `span`), a block without lines does not, and neither does white space that collapses away. Named
//! families that no `@font-face` declares count as not installed; generic ones have every ordinary character.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::cascade::{At, Found, Styles};
use super::document::{Data, ElementData, is_space};
use super::face::Face;
use super::selector::PseudoElement;
use super::sheet::Declaration;
use super::value::{Display, Family, Property, Value, Weight, Wide};
use super::{Request, defaults};
use crate::html::Kind;

/// The font of an element, as inherited.
#[derive(Debug, Clone)]
struct Font {
    families: Rc<[Family]>,
    weight: f32,
    italic: bool,
}

const PSEUDOS: [PseudoElement; 6] = [
    PseudoElement::Before,
    PseudoElement::After,
    PseudoElement::FirstLine,
    PseudoElement::FirstLetter,
    PseudoElement::Marker,
    PseudoElement::Placeholder,
];

pub(super) fn fonts(styles: &mut Styles<'_>, requests: &mut Vec<Request>) {
    let faces = Faces::new(styles);
    if faces.families.is_empty() {
        return;
    }
    let document = styles.document;
    let pseudos: Vec<PseudoElement> = PSEUDOS.into_iter().filter(|p| is_styled(styles, *p)).collect();
    let mut known: HashMap<u32, Font> = HashMap::new();
    let mut asked = Asked::default();
    for id in &document.elements {
        let Some(e) = document.element(*id) else { continue };
        if !styles.rendered(*id) {
            continue;
        }
        let parent = known.get(&document.nodes[*id as usize].parent);
        let font = own_font(styles, *id, e, parent);
        let mut boxes = false;
        for pseudo in &pseudos {
            let found = styles.declared(*id, Some(*pseudo), &|p| is_font(p) || *p == Property::Content);
            if found.is_empty() {
                continue;
            }
            let text = match pseudo {
                PseudoElement::Before | PseudoElement::After => match content(styles, &found) {
                    Some(text) => {
                        boxes = true;
                        text
                    }
                    None => continue,
                },
                PseudoElement::Placeholder if e.has("placeholder") => {
                    e.get("placeholder").unwrap_or("").to_owned()
                }
                PseudoElement::Placeholder => continue,
                PseudoElement::Marker if &*e.name.local != "li" => continue,
                PseudoElement::Marker => "1".to_owned(),
                _ => document.child_text(*id),
            };
            if !matches!(pseudo, PseudoElement::Before | PseudoElement::After)
                && text.trim_matches(is_space).is_empty()
            {
                continue;
            }
            let font = apply(styles, *id, Some(*pseudo), &found, font.clone());
            faces.ask(&font, &text, &mut asked);
        }
        if let Some(text) = line_text(styles, *id, e, boxes) {
            faces.ask(&font, &text, &mut asked);
        }
        known.insert(*id, font);
    }
    for (instance, index) in asked.faces {
        let i = &styles.instances[instance];
        if let Some(source) = i.sheet.faces[index].sources.first()
            && super::markup::is_fetched(&source.raw)
        {
            let from = i.place.url(source.nth);
            requests.push(Request {
                kind: Kind::Font,
                raw: source.raw.to_string(),
                from,
                base: None,
                lazy: false,
            });
        }
    }
}

fn is_font(p: &Property) -> bool {
    matches!(
        p,
        Property::FontFamily | Property::FontWeight | Property::FontStyle | Property::All
    )
}

/// Whether any rule for this pseudo-element could ask for a font.
fn is_styled(styles: &Styles<'_>, pseudo: PseudoElement) -> bool {
    styles.instances.iter().any(|i| {
        i.sheet.rules.iter().any(|r| {
            r.pseudo == Some(pseudo)
                && i.sheet.blocks[r.block as usize]
                    .declarations
                    .iter()
                    .any(|d| is_font(&d.property) || d.property == Property::Content)
        })
    })
}

/// The text of generated content; `None` where there is no box.
fn content(styles: &Styles<'_>, found: &[Found]) -> Option<String> {
    let winner = styles.winner(found, &Property::Content)?;
    match &styles.declaration(winner.from)?.value {
        Value::Content {
            text, boxed: true, ..
        } => Some(text.to_string()),
        Value::Var { .. } => Some(String::new()),
        _ => None,
    }
}

fn own_font(styles: &mut Styles<'_>, id: u32, e: &ElementData, parent: Option<&Font>) -> Font {
    let initial = || Font {
        families: Rc::from([]),
        weight: 400.0,
        italic: false,
    };
    let mut font = parent.cloned().unwrap_or_else(initial);
    if e.is_html() {
        let tag = &*e.name.local;
        match tag {
            "button" | "input" | "select" | "textarea" => font = initial(),
            "code" | "kbd" | "samp" | "tt" | "pre" | "listing" | "xmp" | "plaintext" => {
                font.families = Rc::from([Family {
                    name: "monospace".into(),
                    generic: true,
                }]);
            }
            _ => {}
        }
        match tag {
            "b" | "strong" => font.weight = bolder(font.weight),
            _ if defaults::is_bold(tag) => font.weight = 700.0,
            _ => {}
        }
        font.italic |= defaults::is_italic(tag);
    }
    let parent = parent.cloned().unwrap_or_else(initial);
    let found = styles.declared(id, None, &is_font);
    if found.is_empty() {
        font
    } else {
        apply_over(styles, id, None, &found, font, &parent)
    }
}

fn bolder(weight: f32) -> f32 {
    match weight {
        w if w < 350.0 => 400.0,
        w if w < 550.0 => 700.0,
        w => w.max(900.0),
    }
}

fn lighter(weight: f32) -> f32 {
    match weight {
        w if w < 550.0 => w.min(100.0),
        w if w < 750.0 => 400.0,
        _ => 700.0,
    }
}

/// A pseudo-element inherits everything from its element.
fn apply(
    styles: &mut Styles<'_>,
    id: u32,
    pseudo: Option<PseudoElement>,
    found: &[Found],
    font: Font,
) -> Font {
    let parent = font.clone();
    apply_over(styles, id, pseudo, found, font, &parent)
}

fn apply_over(
    styles: &mut Styles<'_>,
    id: u32,
    pseudo: Option<PseudoElement>,
    found: &[Found],
    mut font: Font,
    parent: &Font,
) -> Font {
    for property in [Property::FontFamily, Property::FontWeight, Property::FontStyle] {
        let Some(winner) = styles.winner(found, &property) else {
            continue;
        };
        let Some(value) = value(styles, id, pseudo, winner.from, &property) else {
            continue;
        };
        match (&property, value) {
            (_, Value::Families(families)) => font.families = families.into(),
            (_, Value::Weight(Weight::Number(n))) => font.weight = n,
            (_, Value::Weight(Weight::Bolder)) => font.weight = bolder(parent.weight),
            (_, Value::Weight(Weight::Lighter)) => font.weight = lighter(parent.weight),
            (_, Value::Italic(italic)) => font.italic = italic,
            (Property::FontFamily, Value::Wide(Wide::Initial)) => font.families = Rc::from([]),
            (Property::FontWeight, Value::Wide(Wide::Initial)) => font.weight = 400.0,
            (Property::FontStyle, Value::Wide(Wide::Initial)) => font.italic = false,
            (Property::FontFamily, Value::Wide(_)) => font.families = parent.families.clone(),
            (Property::FontWeight, Value::Wide(_)) => font.weight = parent.weight,
            (Property::FontStyle, Value::Wide(_)) => font.italic = parent.italic,
            _ => {}
        }
    }
    font
}

fn value(
    styles: &mut Styles<'_>,
    id: u32,
    pseudo: Option<PseudoElement>,
    at: At,
    property: &Property,
) -> Option<Value> {
    let Declaration { value, .. } = styles.declaration(at)?;
    let (name, text) = match value {
        Value::Var { name, text } => (name.clone(), text.clone()),
        other => return Some(other.clone()),
    };
    let resolved = super::variables::resolve(styles, id, pseudo, &name, &text);
    let found = resolved.and_then(|r| r.values.into_iter().find(|(p, _)| p == property));
    // Invalid once the variable is known: as if unset, which is inherited.
    Some(found.map_or(Value::Wide(Wide::Unset), |(_, v)| v))
}

/// The text in the element's own lines; `None` where it has no line. `boxes`: it has generated content.
fn line_text(styles: &mut Styles<'_>, id: u32, e: &ElementData, boxes: bool) -> Option<String> {
    let document = styles.document;
    let text = document.child_text(id);
    let blank = text.trim_matches(is_space).is_empty();
    if !e.is_html() {
        return (!blank).then_some(text);
    }
    match &*e.name.local {
        "input" => {
            let kind = e.get("type").unwrap_or("").trim().to_ascii_lowercase();
            if matches!(
                kind.as_str(),
                "checkbox" | "radio" | "hidden" | "image" | "range" | "color"
            ) {
                return None;
            }
            return Some(format!(
                "{}{}",
                e.get("value").unwrap_or(""),
                e.get("placeholder").unwrap_or("")
            ));
        }
        "textarea" => return Some(format!("{text}{}", e.get("placeholder").unwrap_or(""))),
        "select" => {
            let options = document.children(id).map(|c| document.child_text(c)).collect();
            return Some(options);
        }
        "option" | "optgroup" | "iframe" | "img" | "video" | "audio" | "canvas" | "embed" | "br" | "wbr"
        | "svg" | "progress" | "meter" | "source" | "track" => return None,
        "pre" | "listing" | "plaintext" if !text.is_empty() => return Some(text),
        "object" if e.has("data") => return None,
        "li" => return Some(text),
        _ => {}
    }
    let display = styles.display(id);
    if !blank || display == Display::Inline && !styles.out_of_flow(id) {
        return Some(text);
    }
    if matches!(display, Display::Flex | Display::InlineFlex | Display::Contents) {
        return None;
    }
    let mut inline = boxes && display == Display::Inline;
    for child in document.children(id) {
        if inline {
            break;
        }
        inline = matches!(&document.nodes[child as usize].data, Data::Element(_))
            && matches!(
                styles.display(child),
                Display::Inline | Display::InlineBlock | Display::InlineFlex
            )
            && styles.rendered(child)
            && !styles.out_of_flow(child);
    }
    inline.then_some(text)
}

/// The active faces of a page by family.
struct Faces<'a> {
    families: HashMap<Box<str>, Vec<(usize, usize, &'a Face)>>,
}

/// Faces asked for so far, and the texts already looked at for each font.
#[derive(Default)]
struct Asked {
    faces: BTreeSet<(usize, usize)>,
}

impl<'a> Faces<'a> {
    fn new(styles: &Styles<'a>) -> Self {
        let mut families: HashMap<Box<str>, Vec<(usize, usize, &'a Face)>> = HashMap::new();
        for (index, instance) in styles.instances.iter().enumerate() {
            let sheet = instance.sheet;
            for (nth, face) in sheet.faces.iter().enumerate() {
                if styles.conditions[index][face.condition as usize] {
                    families
                        .entry(face.family.clone())
                        .or_default()
                        .push((index, nth, face));
                }
            }
        }
        Faces { families }
    }

    fn ask(&self, font: &Font, text: &str, asked: &mut Asked) {
        if !font
            .families
            .iter()
            .any(|f| !f.generic && self.families.contains_key(&f.name))
        {
            return;
        }
        let sets: Vec<Option<Vec<(usize, usize, &Face)>>> = font
            .families
            .iter()
            .map(|f| {
                if f.generic {
                    None
                } else {
                    Some(self.matching(&f.name, font))
                }
            })
            .collect();
        let mut used = vec![false; sets.len()];
        let mut seen = [0u64; 1024];
        for c in text.chars() {
            let slot = u32::from(c) as usize;
            if slot < 65_536 {
                let bit = 1 << (slot % 64);
                if seen[slot / 64] & bit != 0 {
                    continue;
                }
                seen[slot / 64] |= bit;
            }
            if c.is_whitespace() || c.is_control() {
                continue;
            }
            let private = matches!(u32::from(c), 0xe000..=0xf8ff | 0xf_0000..=0x10_ffff);
            for (index, set) in sets.iter().enumerate() {
                match set {
                    // What a system's usual fonts hold.
                    None if !private && u32::from(c) < 0x2e80 => break,
                    None => {}
                    Some(set) => {
                        if let Some((instance, nth, _)) = set.iter().rev().find(|(_, _, face)| face.covers(c))
                        {
                            asked.faces.insert((*instance, *nth));
                            used[index] = true;
                            break;
                        }
                    }
                }
            }
        }
        // The first font that has a space gives the line its height.
        for (index, set) in sets.iter().enumerate() {
            let Some(set) = set else { break };
            if let Some((instance, nth, _)) = set.iter().rev().find(|(_, _, face)| face.covers(' ')) {
                if !used[index] {
                    asked.faces.insert((*instance, *nth));
                }
                break;
            }
        }
    }

    /// The faces of a family that fit best: slant first, then weight (CSS Fonts 4, section 5.2).
    fn matching(&self, family: &str, font: &Font) -> Vec<(usize, usize, &'a Face)> {
        let Some(all) = self.families.get(family) else {
            return Vec::new();
        };
        let slanted = if all.iter().any(|f| f.2.italic == font.italic) {
            font.italic
        } else {
            !font.italic
        };
        let all: Vec<_> = all.iter().filter(|f| f.2.italic == slanted).copied().collect();
        let wanted = font.weight;
        let distance = |(low, high): (f32, f32)| -> (u8, f32) {
            if (low..=high).contains(&wanted) {
                (0, 0.0)
            } else if (400.0..=500.0).contains(&wanted) {
                match low {
                    l if l > wanted && l <= 500.0 => (1, l - wanted),
                    l if l < wanted => (2, wanted - high),
                    l => (3, l - wanted),
                }
            } else if wanted < 400.0 {
                if high < wanted {
                    (1, wanted - high)
                } else {
                    (2, low - wanted)
                }
            } else if low > wanted {
                (1, low - wanted)
            } else {
                (2, wanted - high)
            }
        };
        let best = all
            .iter()
            .map(|f| distance(f.2.weight))
            .min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        all.into_iter()
            .filter(|f| Some(distance(f.2.weight)) == best)
            .collect()
    }
}
