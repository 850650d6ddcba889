//! For which elements a stylesheet decides the size of a box, as far as it is easily told.
//!
//! In: the text of a sheet, or of a `style` attribute. Out: what the elements look like. On the safe side: what may
//! match is said to match, and media queries are taken to hold.

use std::collections::BTreeSet;

use super::Subject;
use super::items::{self, Event};
use super::prelude;
use super::token::{self, Kind};

/// Elements whose size the markup alone does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sizes {
    /// A rule may make room for the element before its content is there: a height, an aspect ratio, a place out of
    /// the flow.
    pub reserved: BTreeSet<Subject>,
    /// A rule may give it another size than its attributes.
    pub changed: BTreeSet<Subject>,
}

/// Reads a whole stylesheet.
pub fn sizes(text: &str) -> Sizes {
    let mut sizes = Sizes::default();
    if u32::try_from(text.len()).is_err() {
        sizes.reserved.insert(Subject::default());
        sizes.changed.insert(Subject::default());
        return sizes;
    }
    let toks = token::list(text);
    // Of each open block: what its declarations are for.
    let mut open: Vec<Vec<Subject>> = Vec::new();
    items::walk(text, &toks, false, |event| match event {
        Event::Open { prelude, .. } => {
            let subjects = match prelude.first() {
                Some(tok) if tok.kind == Kind::AtKeyword => open.last().cloned().unwrap_or_default(),
                _ => subjects(text, prelude),
            };
            open.push(subjects);
        }
        Event::Close => {
            open.pop();
        }
        Event::Item { toks, .. } => {
            if let (Some(subjects), Some((name, value))) = (open.last(), items::declaration(text, toks)) {
                let effect = effect(&name, items::text_of(text, value));
                if effect.reserves {
                    sizes.reserved.extend(subjects.iter().cloned());
                }
                if effect.changes {
                    sizes.changed.extend(subjects.iter().cloned());
                }
            }
        }
    });
    sizes
}

/// What the declarations of a `style` attribute do: make room, give another size.
pub fn attribute_sizes(text: &str) -> (bool, bool) {
    let toks = token::list(text);
    let mut all = Effect::default();
    items::walk(text, &toks, true, |event| {
        if let Event::Item { toks, .. } = event
            && let Some((name, value)) = items::declaration(text, toks)
        {
            let effect = effect(&name, items::text_of(text, value));
            all.reserves |= effect.reserves;
            all.changes |= effect.changes;
        }
    });
    (all.reserves, all.changes)
}

#[derive(Debug, Default)]
struct Effect {
    reserves: bool,
    changes: bool,
}

fn effect(name: &str, value: &str) -> Effect {
    let lower = value.to_ascii_lowercase();
    let is_auto = matches!(
        lower.split('!').next().unwrap_or_default().trim(),
        "auto" | "initial" | "unset"
    );
    let (reserves, changes) = match name {
        "height" | "block-size" | "min-height" => (!is_auto, !is_auto),
        "width" | "inline-size" | "min-width" | "zoom" | "all" | "object-fit" => (false, true),
        "aspect-ratio" => (!is_auto, false),
        "position" => (lower.starts_with("absolute") || lower.starts_with("fixed"), false),
        "display" => (lower.starts_with("none"), lower.starts_with("none")),
        "content" => (true, true),
        _ => (false, false),
    };
    Effect { reserves, changes }
}

/// The last compound selector of each member.
fn subjects(text: &str, toks: &[token::Tok]) -> Vec<Subject> {
    let Some(members) = prelude::selectors(text, toks) else {
        return vec![Subject::default()];
    };
    let mut subjects = Vec::new();
    for member in members {
        let toks = token::list(&member);
        let mut subject = Subject::default();
        let (mut depth, mut before, mut generated) = (0usize, Kind::Comma, false);
        for tok in &toks {
            match tok.kind {
                Kind::CloseParen | Kind::CloseSquare => depth = depth.saturating_sub(1),
                Kind::Space | Kind::Delim('>' | '+' | '~') if depth == 0 => subject = Subject::default(),
                Kind::Ident if depth == 0 && before == Kind::Delim('.') => {
                    subject.classes.insert(tok.value(&member).into_owned());
                }
                Kind::Ident if depth == 0 && before == Kind::Colon => {
                    generated |= matches!(&*tok.value(&member), "before" | "after");
                }
                Kind::Ident if depth == 0 => subject.name = Some(tok.value(&member).to_ascii_lowercase()),
                _ => {}
            }
            depth += usize::from(tok.kind.opens());
            before = tok.kind;
        }
        if !generated {
            subjects.push(subject);
        }
    }
    subjects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gives_images_a_size() {
        let check = |css: &str, class: &str, expected: (bool, bool)| {
            let sizes = sizes(css);
            let has = |set: &BTreeSet<Subject>| set.iter().any(|s| s.could_match("img", class));
            assert_eq!((has(&sizes.reserved), has(&sizes.changed)), expected, "{css}");
        };
        check("img{height:20px}", "", (true, true));
        check("img{height:auto;max-width:100%}", "", (false, false));
        check("img{width:100%}", "", (false, true));
        check("img{aspect-ratio:1}", "", (true, false));
        check(".a .b{height:2em}", "", (false, false));
        check(".a .b{height:2em}", "x b", (true, true));
        check("img.b>i{height:2em}", "b", (false, false));
        check("*{height:2em}", "", (true, true));
        check("@media print{.b,p{height:2em}}", "b", (true, true));
        check(".b::before{height:2em}", "b", (false, false));
        check(".b{&:hover{height:2em}}", "", (true, true));
        check("#b{position:absolute}", "", (true, false));
        check("p{height:1em}", "", (false, false));
    }

    #[test]
    fn attributes() {
        assert_eq!(attribute_sizes("height: 3em"), (true, true));
        assert_eq!(attribute_sizes("width:50%; height:auto"), (false, true));
        assert_eq!(attribute_sizes("border:0"), (false, false));
    }
}
