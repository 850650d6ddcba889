//! Which declaration wins on an element (CSS Cascade 5), for the few properties that matter here, and whether the
//! element has a style at all.
//!
//! Rules are looked up by what their subject must have; a full cascade is made only for elements that matched a
//! rule with a URL, and for their ancestors' `display`.

use std::collections::HashMap;
use std::rc::Rc;

use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode, SelectorCaches,
};
use selectors::matching::{matches_selector, matches_selector_list};

use super::Window;
use super::document::{Document, NONE};
use super::selector::{Element, PseudoElement, Selector};
use super::sheet::{Block, Declaration, Sheet, Test};
use super::value::{Display, Property, Value, Wide};

/// A sheet in its place on a page.
#[derive(Debug)]
pub(super) struct Instance<'a> {
    pub(super) sheet: &'a Sheet,
    pub(super) place: Place,
    /// Of the layer that the sheet was imported into.
    pub(super) layer: Vec<Box<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Library(u32),
    Element(u32),
}

pub(super) struct Styles<'a> {
    pub(super) document: &'a Document,
    pub(super) instances: Vec<Instance<'a>>,
    /// For each instance, which conditions hold.
    pub(super) conditions: Vec<Vec<bool>>,
    /// For each instance, the rank of each of its layers; unlayered is the highest.
    ranks: Vec<Vec<u32>>,
    /// Declarations of `style` attributes.
    inline: HashMap<u32, Rc<Vec<Declaration>>>,
    caches: SelectorCaches,
    displays: HashMap<u32, Display>,
    rendered: HashMap<u32, bool>,
    pub(super) customs: HashMap<u32, Rc<Vec<Found>>>,
}

/// A declaration that applies to an element, strongest first when sorted in reverse.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) key: Key,
    pub(super) from: At,
}

/// Section 6.1 of CSS Cascade 5: importance, element-attached, layer, specificity, order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    important: bool,
    inline: bool,
    layer: u32,
    specificity: u32,
    order: (u32, u32, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Sheet { instance: u32, block: u32, index: u32 },
    Inline { element: u32, index: u32 },
}

impl<'a> Styles<'a> {
    pub(super) fn new(document: &'a Document, instances: Vec<Instance<'a>>, window: Window) -> Self {
        let containers = instances.iter().any(|i| i.sheet.containers);
        let conditions = instances
            .iter()
            .map(|instance| {
                let mut holds: Vec<bool> = Vec::with_capacity(instance.sheet.conditions.len());
                for (index, condition) in instance.sheet.conditions.iter().enumerate() {
                    let test = match &condition.test {
                        Test::Always => true,
                        Test::Media(media) => media.matches(window),
                        // Without any container the query is false.
                        Test::Container(condition) => containers && condition.holds(window) == Some(true),
                    };
                    let around = index == 0 || holds.get(condition.parent as usize).copied().unwrap_or(true);
                    holds.push(test && around);
                }
                holds
            })
            .collect();
        let ranks = ranks(&instances);
        Styles {
            document,
            instances,
            conditions,
            ranks,
            inline: HashMap::new(),
            caches: SelectorCaches::default(),
            displays: HashMap::new(),
            rendered: HashMap::new(),
            customs: HashMap::new(),
        }
    }

    pub(super) fn declaration(&self, at: At) -> Option<&Declaration> {
        match at {
            At::Sheet {
                instance,
                block,
                index,
            } => self.instances[instance as usize].sheet.blocks[block as usize]
                .declarations
                .get(index as usize),
            At::Inline { element, index } => self.inline.get(&element)?.get(index as usize),
        }
    }

    pub(super) fn inline(&mut self, id: u32) -> Option<Rc<Vec<Declaration>>> {
        let text = self.document.element(id)?.get("style")?;
        Some(
            self.inline
                .entry(id)
                .or_insert_with(|| Rc::new(super::compile::attribute(text)))
                .clone(),
        )
    }

    pub(super) fn matches(&mut self, selector: &Selector, id: u32, scope: Option<Element<'a>>) -> bool {
        let Some(element) = Element::new(self.document, id) else {
            return false;
        };
        let mode = match selector.has_pseudo_element() {
            true => MatchingMode::ForStatelessPseudoElement,
            false => MatchingMode::Normal,
        };
        let mut context = context(self.document, &mut self.caches, mode);
        context.scope_element = scope.map(|s| selectors::Element::opaque(&s));
        matches_selector(selector, 0, None, element, &mut context)
    }

    /// The nearest element around `id` that a `@scope` starts from, if the element is in that scope.
    fn scope_root(&mut self, instance: usize, scope: u32, id: u32) -> Option<Element<'a>> {
        let sheet = self.instances[instance].sheet;
        let scope = sheet.scopes.get(scope as usize - 1)?;
        let mut at = Element::new(self.document, id);
        while let Some(element) = at {
            let mut context = context(self.document, &mut self.caches, MatchingMode::Normal);
            if scope
                .end
                .as_ref()
                .is_some_and(|end| matches_selector_list(end, element, &mut context))
            {
                return None;
            }
            let starts = match &scope.start {
                Some(start) => matches_selector_list(start, element, &mut context),
                None => selectors::Element::is_root(&element),
            };
            if starts {
                return Some(element);
            }
            at = selectors::Element::parent_element(&element);
        }
        None
    }

    pub(super) fn rule_matches(&mut self, instance: usize, rule: u32, id: u32) -> bool {
        let sheet = self.instances[instance].sheet;
        let rule = &sheet.rules[rule as usize];
        let block: &Block = &sheet.blocks[rule.block as usize];
        if !self.conditions[instance][block.condition as usize] {
            return false;
        }
        let mut scope = None;
        if block.scope != 0 {
            scope = self.scope_root(instance, block.scope, id);
            if scope.is_none() {
                return false;
            }
        }
        self.matches(&rule.selector, id, scope)
    }

    /// All declarations for an element or its pseudo-element that `wanted` takes, the strongest first.
    pub(super) fn declared(
        &mut self,
        id: u32,
        pseudo: Option<PseudoElement>,
        wanted: &dyn Fn(&Property) -> bool,
    ) -> Vec<Found> {
        let mut found = Vec::new();
        let Some(element) = self.document.element(id) else {
            return found;
        };
        let tag = super::hash::hash_name(&element.name.local);
        for instance in 0..self.instances.len() {
            let sheet = self.instances[instance].sheet;
            let table = &sheet.table;
            let lists = [table.ids.get(&element.id), table.tags.get(&tag), Some(&table.any)];
            let classes = element.classes.iter().map(|c| table.classes.get(c));
            for rule in lists.into_iter().chain(classes).flatten().flatten() {
                let r = &sheet.rules[*rule as usize];
                let block = &sheet.blocks[r.block as usize];
                if r.pseudo != pseudo || !block.declarations.iter().any(|d| wanted(&d.property)) {
                    continue;
                }
                if !self.rule_matches(instance, *rule, id) {
                    continue;
                }
                let rank = self.ranks[instance][block.layer as usize];
                for (index, d) in block.declarations.iter().enumerate() {
                    if wanted(&d.property) {
                        let key = Key {
                            important: d.important,
                            inline: false,
                            // Important declarations turn the order of layers around.
                            layer: if d.important { u32::MAX - rank } else { rank },
                            specificity: r.selector.specificity(),
                            order: (instance as u32, r.block, index as u32),
                        };
                        let at = At::Sheet {
                            instance: instance as u32,
                            block: r.block,
                            index: index as u32,
                        };
                        found.push(Found { key, from: at });
                    }
                }
            }
        }
        if pseudo.is_none()
            && let Some(inline) = self.inline(id)
        {
            for (index, d) in inline.iter().enumerate().filter(|(_, d)| wanted(&d.property)) {
                let order = (u32::MAX, 0, index as u32);
                let key = Key {
                    important: d.important,
                    inline: true,
                    layer: 0,
                    specificity: 0,
                    order,
                };
                found.push(Found {
                    key,
                    from: At::Inline {
                        element: id,
                        index: index as u32,
                    },
                });
            }
        }
        found.sort_by(|a, b| b.key.cmp(&a.key));
        found
    }

    /// The winning declaration of a property among `found`, `None` where the browser's own style stands.
    pub(super) fn winner(&self, found: &[Found], property: &Property) -> Option<Found> {
        let mut skip: Option<Key> = None;
        for f in found {
            let d = self.declaration(f.from)?;
            let all = d.property == Property::All && !matches!(property, Property::Custom(_));
            if d.property != *property && !all {
                continue;
            }
            if let Some(s) = skip
                && (s.important, s.inline, s.layer) == (f.key.important, f.key.inline, f.key.layer)
            {
                continue;
            }
            match d.value {
                Value::Wide(Wide::RevertLayer) => skip = Some(f.key),
                Value::Wide(Wide::Revert) => return None,
                _ => return Some(*f),
            }
        }
        None
    }

    /// Whether the browser works out a style for the element. Tried in Chromium 156: an element with
    /// `display: none` fetches nothing, nor does anything in it; `display: contents` does.
    pub(super) fn rendered(&mut self, id: u32) -> bool {
        let mut chain = Vec::new();
        let mut at = id;
        let mut result = true;
        while at != NONE && self.document.element(at).is_some() {
            if let Some(known) = self.rendered.get(&at) {
                result = *known;
                break;
            }
            chain.push(at);
            at = self.document.nodes[at as usize].parent;
        }
        while let Some(at) = chain.pop() {
            result = result && !self.is_closed_content(at) && self.display(at) != Display::None;
            self.rendered.insert(at, result);
        }
        result
    }

    /// In a closed `details`, all but the first `summary` waits; `video` and `audio` show nothing of their content.
    fn is_closed_content(&self, id: u32) -> bool {
        let Some(parent) = self.document.parent_element(id) else {
            return false;
        };
        let Some(details) = self.document.element(parent) else {
            return false;
        };
        // What stands in them for browsers that cannot play has no style.
        if details.is_html() && matches!(&*details.name.local, "video" | "audio") {
            return true;
        }
        if !details.is_html() || &*details.name.local != "details" || details.has("open") {
            return false;
        }
        let summary = self.document.children(parent).find(|c| {
            self.document
                .element(*c)
                .is_some_and(|e| e.is_html() && &*e.name.local == "summary")
        });
        summary != Some(id)
    }

    pub(super) fn display(&mut self, id: u32) -> Display {
        if let Some(known) = self.displays.get(&id) {
            return *known;
        }
        let (own, fixed) = super::defaults::display(self.document, id);
        let mut display = own;
        if !fixed {
            let found = self.declared(id, None, &|p| matches!(p, Property::Display | Property::All));
            if let Some(winner) = self.winner(&found, &Property::Display) {
                display = self.display_value(winner.from, id, own);
            } else if let Some(hint) = super::defaults::svg_display(self.document, id) {
                display = hint;
            }
        }
        self.displays.insert(id, display);
        display
    }

    /// Absolutely positioned or floating.
    pub(super) fn out_of_flow(&mut self, id: u32) -> bool {
        let found = self.declared(id, None, &|p| {
            matches!(p, Property::Position | Property::Float | Property::All)
        });
        [Property::Position, Property::Float].iter().any(|property| {
            let winner = self
                .winner(&found, property)
                .and_then(|w| self.declaration(w.from));
            winner.is_some_and(|d| d.value == Value::OutOfFlow(true))
        })
    }

    pub(super) fn display_value(&mut self, at: At, id: u32, own: Display) -> Display {
        let declaration = match self.declaration(at) {
            Some(d) => d,
            None => return own,
        };
        match &declaration.value {
            Value::Display(display) => *display,
            Value::Wide(Wide::Inherit) => {
                // Rare: the parent's own value, without going up a long chain.
                let parent = self.document.parent_element(id);
                parent
                    .and_then(|p| self.displays.get(&p).copied())
                    .unwrap_or(Display::Inline)
            }
            Value::Wide(Wide::Initial | Wide::Unset) => Display::Inline,
            Value::Var { text, .. } => {
                let text = text.clone();
                match super::variables::resolve(self, id, None, "display", &text) {
                    Some(parsed) => match parsed.values.first() {
                        Some((_, Value::Display(display))) => *display,
                        _ => Display::Inline,
                    },
                    None => Display::Inline,
                }
            }
            _ => own,
        }
    }
}

fn context<'c>(
    document: &Document,
    caches: &'c mut SelectorCaches,
    mode: MatchingMode,
) -> MatchingContext<'c, super::selector::Impl> {
    let quirks = if document.quirks {
        QuirksMode::Quirks
    } else {
        QuirksMode::NoQuirks
    };
    MatchingContext::new(
        mode,
        None,
        caches,
        quirks,
        NeedsSelectorFlags::No,
        MatchingForInvalidation::No,
    )
}

/// Layers are ordered by first appearance, a layer's own rules after those of its sublayers (section 6.4.3).
fn ranks(instances: &[Instance<'_>]) -> Vec<Vec<u32>> {
    // Each layer by its parent and name; the number is the order of appearance.
    let mut tree: HashMap<(u32, Box<str>), u32> = HashMap::new();
    let mut paths: Vec<Vec<Vec<u32>>> = Vec::new();
    let mut enter = |path: &mut Vec<u32>, name: &str, unique: usize| {
        let parent = path.last().copied().unwrap_or(0);
        // Anonymous layers of two sheets are two layers.
        let name = if name.starts_with('\0') {
            format!("{name}\0{unique}")
        } else {
            name.to_owned()
        };
        let next = tree.len() as u32 + 1;
        path.push(*tree.entry((parent, name.into())).or_insert(next));
    };
    for (index, instance) in instances.iter().enumerate() {
        let mut base = Vec::new();
        for name in &instance.layer {
            enter(&mut base, name, index);
        }
        let mut own = vec![base.clone()];
        for layer in &instance.sheet.layers {
            let mut path = base.clone();
            for name in layer {
                enter(&mut path, name, index);
            }
            own.push(path);
        }
        paths.push(own);
    }
    let close = |path: &Vec<u32>| -> Vec<u32> { path.iter().copied().chain([u32::MAX]).collect() };
    let mut all: Vec<Vec<u32>> = paths.iter().flatten().map(close).collect();
    all.sort();
    all.dedup();
    paths
        .iter()
        .map(|own| {
            own.iter()
                .map(|p| all.binary_search(&close(p)).map_or(0, |i| i as u32))
                .collect()
        })
        .collect()
}
