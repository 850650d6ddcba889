//! What the selectors of a stylesheet can see of a page: attributes, classes, the elements of `head`.
//!
//! Whoever changes markup asks here whether a rule could notice. All answers are on the safe side: what may be a
//! selector is read as one, what cannot be read is said to be unreadable. One loop over the tokens with a stack of
//! open brackets, linear time.

mod compound;

use std::collections::BTreeSet;

use super::attribute::{self, AttributeTest};
use super::scan::DEPTH;
use super::token::{self, Kind, Tok};
use compound::Compound;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectorFacts {
    /// Every `[…]`, each once, sorted.
    pub attribute_tests: Vec<AttributeTest>,
    /// Those of them that an `img` element could be asked: not behind the name of another element.
    pub tests_of_images: Vec<AttributeTest>,
    /// Some `[…]` is not in the first list, since it cannot be read.
    pub unreadable: bool,
    /// Every `.name`, without escapes.
    pub classes: BTreeSet<String>,
    /// What the elements look like for which a rule may set `content` or `all` (not only for `::before` and the
    /// like): the last compound selector of each such rule.
    pub replaced: BTreeSet<Subject>,
    /// A rule may match otherwise when an element of `head` (`link`, `style`, `script`, `title`, `meta`) is removed
    /// or another takes its place.
    pub sees_links: bool,
    /// A rule may match otherwise when a `script` has text in place of its `src`, or may show that text.
    pub sees_scripts: bool,
}

/// What a compound selector asks of an element, as far as it is easily told; other conditions are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// Local name in lower case; `None` is any.
    pub name: Option<String>,
    pub classes: BTreeSet<String>,
}

impl Subject {
    /// Whether an element with this name and this `class` attribute could match. Classes are compared without
    /// regard to case, as in quirks mode.
    pub fn could_match(&self, name: &str, class: &str) -> bool {
        let has = |wanted: &String| {
            class
                .split_ascii_whitespace()
                .any(|class| class.eq_ignore_ascii_case(wanted))
        };
        self.name.as_ref().is_none_or(|wanted| wanted == name) && self.classes.iter().all(has)
    }
}

/// Reads all selectors of a stylesheet, nested rules and `@scope` included.
pub fn selector_facts(text: &str) -> SelectorFacts {
    let unknown = SelectorFacts {
        unreadable: true,
        replaced: BTreeSet::from([Subject::default()]),
        sees_links: true,
        sees_scripts: true,
        ..SelectorFacts::default()
    };
    if u32::try_from(text.len()).is_err() {
        return unknown;
    }
    let toks = token::list(text);
    let mut reader = Reader {
        text,
        tests: BTreeSet::new(),
        tests_of_images: BTreeSet::new(),
        subjects: vec![vec![Subject::default()]],
        facts: SelectorFacts::default(),
    };
    let mut open: Vec<Frame> = Vec::new();
    let mut item = Item::default();
    for (i, tok) in toks.iter().enumerate() {
        if tok.kind.is_blank() {
            continue;
        }
        let root = open.is_empty();
        if root && tok.kind == Kind::Html && item.first.is_none() {
            continue;
        }
        if open.last().is_some_and(|f| f.closer == tok.kind) {
            if let Some(rules) = open.pop().and_then(|f| f.rules) {
                reader.declaration(&item, rules);
                item = Item::default();
            }
            continue;
        }
        let direct = open.last().map_or(Some(ROOT), |f| f.rules);
        if let Some(rules) = direct {
            match tok.kind {
                Kind::Semicolon if !root || item.is_at_rule(&toks) => {
                    if !root {
                        reader.declaration(&item, rules);
                    }
                    item = Item::default();
                    continue;
                }
                Kind::OpenCurly if !(rules.nests && item.custom) => {
                    let start = item.first.unwrap_or(i);
                    let inner = reader.prelude(&toks[start..i], rules);
                    item = Item::default();
                    open.push(Frame {
                        closer: Kind::CloseCurly,
                        rules: Some(inner),
                    });
                    if open.len() > DEPTH {
                        return unknown;
                    }
                    continue;
                }
                _ => item.go_on(text, &toks, i),
            }
        }
        if let Some(closer) = tok.kind.closer() {
            open.push(Frame { closer, rules: None });
            if open.len() > DEPTH {
                return unknown;
            }
        }
    }
    // A declaration counts though the text ends in it.
    if let Some(rules) = open.iter().rev().find_map(|f| f.rules) {
        reader.declaration(&item, rules);
    }
    SelectorFacts {
        attribute_tests: reader.tests.into_iter().collect(),
        tests_of_images: reader.tests_of_images.into_iter().collect(),
        ..reader.facts
    }
}

struct Frame {
    closer: Kind,
    /// `None` if it is no block of rules or declarations.
    rules: Option<Rules>,
}

/// What counts inside a block.
#[derive(Debug, Clone, Copy)]
struct Rules {
    /// Inside a style rule or `@scope`: a rule here has a selector around it.
    nests: bool,
    /// Declarations here are for these elements: an index into the reader's lists.
    subjects: usize,
    /// A selector around names an element of `head`.
    links: bool,
    /// Declarations here may be for a `link`, `style` or `script` element.
    unnamed: bool,
    /// Declarations here are descriptors.
    inert: bool,
    /// Rules here are named by moments, not by elements.
    frames: bool,
}

/// The list of which every element is a subject.
const ANY: usize = 0;

const ROOT: Rules = Rules {
    nests: false,
    subjects: ANY,
    links: false,
    unnamed: false,
    inert: false,
    frames: false,
};

/// The rule or declaration that is being read.
#[derive(Debug, Default)]
struct Item {
    /// Index of its first token.
    first: Option<usize>,
    /// Tokens of the item outside brackets, at most two.
    tokens: u8,
    /// It begins `--name:`.
    custom: bool,
    /// It begins `content:` or `all:`.
    replaces: bool,
    /// It begins `display:` or `all:`, and not `display: none`.
    shows: bool,
    /// The first token of its value was met.
    valued: bool,
}

impl Item {
    fn go_on(&mut self, text: &str, toks: &[Tok], i: usize) {
        let first = &toks[*self.first.get_or_insert(i)];
        if self.tokens == 1 && toks[i].kind == Kind::Colon && first.kind == Kind::Ident {
            self.custom = first.value(text).starts_with("--");
            self.replaces = first.is(text, "content") || first.is(text, "all");
            self.shows = first.is(text, "display") || first.is(text, "all");
        } else if self.tokens == 2 && !self.valued {
            self.valued = true;
            self.shows &= !toks[i].is(text, "none");
        }
        self.tokens = (self.tokens + 1).min(2);
    }

    fn is_at_rule(&self, toks: &[Tok]) -> bool {
        self.first.is_some_and(|i| toks[i].kind == Kind::AtKeyword)
    }
}

struct Reader<'a> {
    text: &'a str,
    tests: BTreeSet<AttributeTest>,
    tests_of_images: BTreeSet<AttributeTest>,
    /// What the rules around declarations are for.
    subjects: Vec<Vec<Subject>>,
    facts: SelectorFacts,
}

impl Reader<'_> {
    fn declaration(&mut self, item: &Item, rules: Rules) {
        if item.replaces && !rules.inert {
            let subjects = &self.subjects[rules.subjects];
            self.facts.replaced.extend(subjects.iter().cloned());
        }
        if item.shows && rules.unnamed && !rules.inert {
            self.facts.sees_links = true;
            self.facts.sees_scripts = true;
        }
    }

    /// Reads what stands before a `{`; returns what counts behind it.
    fn prelude(&mut self, toks: &[Tok], around: Rules) -> Rules {
        let at = toks.first().filter(|t| t.kind == Kind::AtKeyword);
        let name = at.map(|t| t.value(self.text).to_ascii_lowercase());
        match name.as_deref() {
            // What an animation sets, it sets on whatever element uses it.
            None if around.frames => Rules {
                nests: true,
                subjects: ANY,
                frames: false,
                ..around
            },
            None => {
                let mut inner = Rules {
                    nests: true,
                    subjects: self.subjects.len(),
                    unnamed: false,
                    ..around
                };
                self.subjects.push(Vec::new());
                for selector in split(toks) {
                    let seen = self.selector(selector);
                    let hidden = |name: &String| matches!(name.as_str(), "link" | "style" | "script");
                    inner.unnamed |= !seen.pseudo_element
                        && (seen.unnamed || seen.subject.name.as_ref().is_some_and(hidden));
                    if !seen.pseudo_element {
                        self.subjects[inner.subjects].push(seen.subject);
                    }
                    inner.links |= seen.link;
                    self.facts.sees_links |= seen.link && seen.related;
                }
                // Nested, a selector is a part of a longer one.
                self.facts.sees_links |= around.nests && inner.links;
                inner
            }
            Some("scope") => {
                self.facts.sees_links |= self.selector(&toks[1..]).link;
                Rules {
                    nests: true,
                    subjects: ANY,
                    ..around
                }
            }
            Some("supports") => {
                self.selector(&toks[1..]);
                around
            }
            Some(
                "font-face"
                | "page"
                | "counter-style"
                | "property"
                | "font-palette-values"
                | "font-feature-values",
            ) => Rules {
                inert: true,
                ..around
            },
            Some(name) => Rules {
                frames: name.ends_with("keyframes"),
                ..around
            },
        }
    }

    /// Reads one selector, or any text that may hold selectors.
    fn selector(&mut self, toks: &[Tok]) -> Seen {
        let text = self.text;
        let mut seen = Seen::default();
        let mut depth = 0usize;
        // By open bracket: what is in it is asked of the element itself.
        let mut brackets: Vec<bool> = Vec::new();
        // By open bracket and outside: the compound selector that is being read.
        let mut compounds = vec![Compound::default()];
        // The tokens before, white space included, comments not.
        let (mut before, mut earlier) = (Kind::Comma, Kind::Comma);
        let mut i = 0;
        while let Some(tok) = toks.get(i) {
            i += 1;
            let ends = matches!(
                tok.kind,
                Kind::Space | Kind::Comma | Kind::CloseParen | Kind::Delim('>' | '+' | '~')
            );
            if ends {
                self.compound(&mut compounds, &brackets, &mut seen);
            } else if let Some(compound) = compounds.last_mut() {
                compound.token(text, tok, before);
            }
            match tok.kind {
                Kind::Comment => continue,
                Kind::OpenSquare => match attribute::read(text, &toks[i..]) {
                    Some((test, used)) => {
                        let other = seen.subject.name.as_ref().is_some_and(|name| name != "img");
                        // `a:not([class])` asks the `a`; inside brackets a combinator leads to other elements.
                        if !(other && brackets.iter().all(|same| *same)) {
                            self.tests_of_images.insert(test.clone());
                        }
                        if let Some(compound) = compounds.last_mut() {
                            compound.attribute(&test.name);
                        }
                        self.tests.insert(test);
                        i += used;
                        (earlier, before) = (before, Kind::CloseSquare);
                        continue;
                    }
                    None => self.facts.unreadable = true,
                },
                Kind::Ident if before == Kind::Delim('.') => {
                    let class = tok.value(text).into_owned();
                    if depth == 0 {
                        seen.subject.classes.insert(class.clone());
                    }
                    self.facts.classes.insert(class);
                }
                Kind::Ident | Kind::Function if before == Kind::Colon => {
                    let name = tok.value(text).to_ascii_lowercase();
                    seen.related |= tok.kind == Kind::Function || STRUCTURAL.contains(&name.as_str());
                    seen.pseudo_element |= depth == 0 && is_pseudo_element(&name, earlier == Kind::Colon);
                }
                Kind::Ident if depth == 0 && !matches!(before, Kind::Delim('#')) => {
                    seen.link |= LINKS.iter().any(|name| tok.is(text, name));
                    seen.subject.name = Some(tok.value(text).to_ascii_lowercase());
                }
                Kind::Ident => seen.link |= LINKS.iter().any(|name| tok.is(text, name)),
                Kind::Function => seen.related = true,
                Kind::Space | Kind::Delim('>' | '+' | '~') => {
                    // Not for blanks at the end, of which there are none.
                    seen.related = true;
                    seen.pseudo_element &= depth > 0;
                    if depth == 0 {
                        seen.subject = Subject::default();
                    }
                }
                Kind::CloseParen | Kind::CloseSquare | Kind::CloseCurly => {
                    depth = depth.saturating_sub(1);
                    brackets.pop();
                    let inner = compounds.pop().unwrap_or_default();
                    match compounds.last_mut() {
                        // `:is(h1, h2)` is a name.
                        Some(outer) => outer.named |= inner.is_list && !inner.has_unnamed,
                        None => compounds.push(Compound::default()),
                    }
                }
                _ => {}
            }
            if matches!(tok.kind, Kind::Space | Kind::Delim('>' | '+' | '~'))
                && let Some(same) = brackets.last_mut()
            {
                *same = false;
            }
            if tok.kind.opens() {
                depth += 1;
                let same = ["not", "is", "where"].iter().any(|name| tok.is(text, name));
                brackets.push(same && tok.kind == Kind::Function);
                compounds.push(Compound {
                    is_list: ["is", "where", "matches"].iter().any(|name| tok.is(text, name)),
                    ..Compound::default()
                });
            }
            (earlier, before) = (before, tok.kind);
        }
        self.compound(&mut compounds, &brackets, &mut seen);
        seen
    }

    /// At the end of a compound selector.
    fn compound(&mut self, compounds: &mut [Compound], brackets: &[bool], seen: &mut Seen) {
        let Some((compound, outer)) = compounds.split_last_mut() else {
            return;
        };
        // What is asked of the element itself: it has a name if the compound around has one.
        let around = outer
            .iter()
            .rev()
            .zip(brackets.iter().rev())
            .take_while(|(_, same)| **same)
            .any(|(outer, _)| outer.named);
        let is_named = compound.named || around;
        if compound.begun && !is_named {
            compound.has_unnamed = true;
            self.facts.sees_scripts |= compound.source;
            if compound.meta && brackets.iter().any(|same| !same) {
                self.facts.sees_links = true;
            }
        }
        if outer.is_empty() {
            seen.unnamed = compound.begun && !is_named;
        }
        *compound = Compound {
            is_list: compound.is_list,
            has_unnamed: compound.has_unnamed,
            ..Compound::default()
        };
    }
}

/// What one selector holds.
#[derive(Debug, Default)]
struct Seen {
    /// The name of an element of `head`, or `head` itself.
    link: bool,
    /// A combinator, a function or a pseudo-class that depends on other elements.
    related: bool,
    /// It ends with a pseudo-element.
    pseudo_element: bool,
    /// Its last compound selector.
    subject: Subject,
    /// That names no element, class or id: a `link`, `style` or `script` may match.
    unnamed: bool,
}

const LINKS: [&str; 6] = ["link", "style", "script", "title", "meta", "head"];

const STRUCTURAL: [&str; 7] = [
    "first-child",
    "last-child",
    "only-child",
    "first-of-type",
    "last-of-type",
    "only-of-type",
    "empty",
];

/// Is `:name` or, with two colons, `::name` a box that is no element of the page? `::slotted()` and `::part()` are.
fn is_pseudo_element(name: &str, two: bool) -> bool {
    match name {
        "before" | "after" | "first-line" | "first-letter" => true,
        "marker" | "selection" | "placeholder" | "backdrop" | "file-selector-button" => two,
        _ => two && (name.starts_with("-webkit-") || name.starts_with("-moz-")),
    }
}

/// The members of a selector list without blanks around them.
fn split(toks: &[Tok]) -> impl Iterator<Item = &[Tok]> {
    let mut depth = 0usize;
    let list = toks.split(move |tok| {
        match tok.kind {
            kind if kind.opens() => depth += 1,
            Kind::CloseParen | Kind::CloseSquare | Kind::CloseCurly => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && tok.kind == Kind::Comma
    });
    list.map(|mut toks| {
        while let [first, rest @ ..] = toks
            && first.kind.is_blank()
        {
            toks = rest;
        }
        while let [rest @ .., last] = toks
            && last.kind.is_blank()
        {
            toks = rest;
        }
        toks
    })
}

#[cfg(test)]
mod tests;
