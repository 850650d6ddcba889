//! Compiles a stylesheet, once for all pages: imports, font faces, keyframes, and of the style rules only those
//! that hold a URL or can decide about one, indexed by what their subject has to have.
//!
//! Everything that depends on the page or the window (media, layers of importing sheets, scopes) stays a condition.

use std::collections::HashMap;

use selectors::parser::{Combinator, Component};

use super::face::Face;
use super::hash::hash_name;
use super::media::MediaList;
use super::selector::{PseudoElement, Selector, SelectorList};
use super::value::{Property, Text, Value};

/// A stylesheet compiled for matching: only rules that can request something, and those that can override them.
#[derive(Debug, Default)]
pub struct Sheet {
    pub(super) imports: Vec<Import>,
    pub(super) rules: Vec<Rule>,
    pub(super) blocks: Vec<Block>,
    /// Index 0 is "always".
    pub(super) conditions: Vec<Condition>,
    /// Paths of the named layers in the order in which they appear; a rule's `layer` is an index plus one.
    pub(super) layers: Vec<Vec<Box<str>>>,
    pub(super) faces: Vec<Face>,
    pub(super) keyframes: Vec<Keyframes>,
    /// Initial values that `@property` registers.
    pub(super) registered: Vec<(Box<str>, Text)>,
    pub(super) scopes: Vec<Scope>,
    pub(super) table: Table,
    /// Rules that can request something.
    pub(super) fetching: Vec<u32>,
    /// Some rule makes a container: otherwise no `@container` matches.
    pub(super) containers: bool,
}

#[derive(Debug)]
pub(super) struct Import {
    pub(super) raw: Box<str>,
    pub(super) nth: u32,
    pub(super) media: MediaList,
    /// Chromium fetches whatever the media say, but not what `supports()` refuses.
    pub(super) supported: bool,
    pub(super) layer: Option<Vec<Box<str>>>,
}

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) selector: Selector,
    pub(super) pseudo: Option<PseudoElement>,
    pub(super) block: u32,
}

/// Declarations with one place in the cascade.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) declarations: Vec<Declaration>,
    pub(super) condition: u32,
    pub(super) layer: u32,
    /// Index plus one.
    pub(super) scope: u32,
}

#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) property: Property,
    pub(super) value: Value,
    pub(super) important: bool,
}

#[derive(Debug)]
pub(super) struct Condition {
    pub(super) parent: u32,
    pub(super) test: Test,
}

#[derive(Debug)]
pub(super) enum Test {
    Always,
    Media(MediaList),
    /// Asked of the window, since sizes of boxes are unknown here.
    Container(super::media::Condition),
}

#[derive(Debug)]
pub(super) struct Keyframes {
    pub(super) name: Box<str>,
    pub(super) declarations: Vec<Declaration>,
    pub(super) condition: u32,
}

#[derive(Debug)]
pub(super) struct Scope {
    pub(super) start: Option<SelectorList>,
    pub(super) end: Option<SelectorList>,
}

/// Rules by what their subject has to have: its id, else one of its classes, else its tag.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) ids: HashMap<u32, Vec<u32>>,
    pub(super) classes: HashMap<u32, Vec<u32>>,
    pub(super) tags: HashMap<u32, Vec<u32>>,
    pub(super) any: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Id(u32),
    Class(u32),
    Tag(u32),
    Any,
}

impl Sheet {
    /// Fills the tables; called once when all rules are there.
    pub(super) fn finish(&mut self) {
        for (index, rule) in self.rules.iter().enumerate() {
            let index = index as u32;
            let list = match key(&rule.selector) {
                Key::Id(hash) => self.table.ids.entry(hash).or_default(),
                Key::Class(hash) => self.table.classes.entry(hash).or_default(),
                Key::Tag(hash) => self.table.tags.entry(hash).or_default(),
                Key::Any => &mut self.table.any,
            };
            list.push(index);
            if self.blocks[rule.block as usize]
                .declarations
                .iter()
                .any(Declaration::fetches)
            {
                self.fetching.push(index);
            }
        }
    }
}

impl Declaration {
    /// Whether this can request something by itself.
    pub(super) fn fetches(&self) -> bool {
        match &self.value {
            Value::Urls(urls) => !urls.is_empty(),
            Value::Content { urls, .. } => !urls.is_empty(),
            Value::Var { .. } => !matches!(
                self.property,
                Property::Display
                    | Property::Position
                    | Property::Float
                    | Property::FontFamily
                    | Property::FontStyle
                    | Property::FontWeight
            ),
            Value::Names(names) => !names.is_empty(),
            _ => false,
        }
    }
}

/// What an element surely has if the selector matches it.
pub(super) fn key(selector: &Selector) -> Key {
    let mut iter = selector.iter();
    loop {
        let mut best = Key::Any;
        for component in iter.by_ref() {
            let found = match component {
                Component::ID(id) => Key::Id(id.hash),
                Component::Class(class) => Key::Class(class.hash),
                Component::LocalName(name) => Key::Tag(hash_name(&name.lower_name.0)),
                Component::Is(list) | Component::Where(list) if list.len() == 1 => key(&list.slice()[0]),
                _ => continue,
            };
            best = match (best, found) {
                (Key::Id(_), _) => best,
                (_, Key::Id(_)) => found,
                (Key::Class(_), _) => best,
                (_, Key::Class(_)) => found,
                (Key::Tag(_), _) => best,
                _ => found,
            };
        }
        match iter.next_sequence() {
            // The subject stands before its pseudo-element.
            Some(Combinator::PseudoElement) => {}
            _ => return best,
        }
    }
}
