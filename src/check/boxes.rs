//! Which images a page's stylesheets give a size, so that the attributes say nothing or need not say it.
//!
//! In: the sheets of the site, each read once. Out: an answer for an `img` with its classes. On the safe side: what a
//! rule may match, it is taken to match.

use std::collections::HashMap;

use crate::css::{self, Subject};
use crate::graph::Graph;
use crate::parallel;

/// What one sheet does to images.
#[derive(Debug, Default)]
pub(super) struct Boxes {
    /// To every image.
    any: Effect,
    /// To images with a class, by one of the classes in lower case.
    by_class: HashMap<String, Vec<(Subject, Effect)>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Effect {
    /// Makes room before the image is there.
    pub(super) reserves: bool,
    /// Gives it another size than its attributes.
    pub(super) changes: bool,
}

impl Effect {
    pub(super) fn add(&mut self, other: Effect) {
        self.reserves |= other.reserves;
        self.changes |= other.changes;
    }
}

/// By key of the sheet.
pub(super) fn of_sheets(graph: &Graph) -> Vec<Boxes> {
    parallel::map(&graph.sheets, |sheet| match &sheet.text {
        Some(text) => of(&text.text),
        // What cannot be read may do anything.
        None => Boxes {
            any: Effect {
                reserves: true,
                changes: true,
            },
            by_class: HashMap::new(),
        },
    })
}

pub(super) fn of(text: &str) -> Boxes {
    let sizes = css::sizes(text);
    let mut boxes = Boxes::default();
    let reserved = sizes.reserved.into_iter().map(|subject| (subject, true));
    let changed = sizes.changed.into_iter().map(|subject| (subject, false));
    for (subject, reserves) in reserved.chain(changed) {
        if subject
            .name
            .as_ref()
            .is_some_and(|name| name != "img" && name != "image")
        {
            continue;
        }
        let effect = Effect {
            reserves,
            changes: !reserves,
        };
        match subject.classes.first() {
            None => boxes.any.add(effect),
            Some(class) => {
                let class = class.to_ascii_lowercase();
                boxes.by_class.entry(class).or_default().push((subject, effect));
            }
        }
    }
    boxes
}

impl Boxes {
    /// `class`: the attribute of the image.
    pub(super) fn effect(&self, class: &str) -> Effect {
        let mut effect = self.any;
        for name in class.split_ascii_whitespace() {
            for (subject, more) in self
                .by_class
                .get(&name.to_ascii_lowercase())
                .into_iter()
                .flatten()
            {
                if subject.could_match("img", class) {
                    effect.add(*more);
                }
            }
        }
        effect
    }
}
