//! `var()`: a value with variables is put together from the winning custom properties and read again
//! (CSS Variables 1, section 3). Sizes are bounded, since each variable may repeat others.

use std::rc::Rc;

use cssparser::{ParseError, Parser, Token};

use super::cascade::{At, Found, Styles};
use super::selector::PseudoElement;
use super::value::{self, Property, Text, Value, Wide};

/// Longer results are given up; Chromium stops at 2 MB.
const MAX_TEXT: usize = 1 << 16;
const MAX_STEPS: u32 = 1_000;

pub(super) struct Resolved {
    pub(super) values: Vec<(Property, Value)>,
    /// The `nth` of the URLs in `values` counts these: where each was written.
    pub(super) origins: Vec<(Origin, u32)>,
}

/// The place of a declaration, or of a registered property's initial value (instance).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    At(At),
    Registered(u32),
    Here,
}

/// Reads `text`, the value of the property `name`, for an element. URLs of the text itself are `Origin::Here`.
pub(super) fn resolve(
    styles: &mut Styles<'_>,
    id: u32,
    pseudo: Option<PseudoElement>,
    name: &str,
    text: &Text,
) -> Option<Resolved> {
    let mut build = Build {
        id,
        pseudo,
        out: String::new(),
        urls: Vec::new(),
        steps: 0,
        stack: Vec::new(),
    };
    build.append(styles, text, Origin::Here)?;
    let urls = std::mem::take(&mut build.urls);
    let nth = |at: usize| {
        urls.binary_search_by_key(&at, |u| u.0)
            .map_or(u32::MAX, |i| i as u32)
    };
    let (values, _) = value::declaration(name, &mut Parser::new(&build.out), &nth).ok()?;
    if values.iter().any(|(_, v)| matches!(v, Value::Var { .. })) {
        return None;
    }
    Some(Resolved {
        values,
        origins: urls.into_iter().map(|u| u.1).collect(),
    })
}

struct Build {
    id: u32,
    pseudo: Option<PseudoElement>,
    out: String,
    /// Offset in `out` of each URL, and where it was written.
    urls: Vec<(usize, (Origin, u32))>,
    steps: u32,
    stack: Vec<Box<str>>,
}

/// A piece of a value: text to copy, or a variable with its fallback (as ranges of the text).
enum Piece {
    Copy(usize, usize),
    Variable(Box<str>, Option<(usize, usize)>),
}

impl Build {
    fn append(&mut self, styles: &mut Styles<'_>, text: &Text, origin: Origin) -> Option<()> {
        self.append_range(styles, text, origin, 0, text.text.len())
    }

    fn append_range(
        &mut self,
        styles: &mut Styles<'_>,
        text: &Text,
        origin: Origin,
        from: usize,
        to: usize,
    ) -> Option<()> {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.stack.len() > 32 {
            return None;
        }
        for piece in pieces(&text.text, from, to)? {
            match piece {
                Piece::Copy(from, to) => {
                    if self.out.len() + to - from > MAX_TEXT {
                        return None;
                    }
                    for (offset, nth) in &text.urls {
                        let offset = *offset as usize;
                        if (from..to).contains(&offset) {
                            self.urls.push((self.out.len() + offset - from, (origin, *nth)));
                        }
                    }
                    self.out.push_str(&text.text[from..to]);
                }
                Piece::Variable(name, fallback) => {
                    let before = (self.out.len(), self.urls.len());
                    let done = if self.stack.contains(&name) {
                        None
                    } else {
                        self.variable(styles, &name)
                    };
                    if done.is_none() {
                        self.out.truncate(before.0);
                        self.urls.truncate(before.1);
                        let (from, to) = fallback?;
                        self.append_range(styles, text, origin, from, to)?;
                    }
                    // Tokens of two pieces never join.
                    self.out.push_str("/**/");
                }
            }
        }
        Some(())
    }

    fn variable(&mut self, styles: &mut Styles<'_>, name: &str) -> Option<()> {
        let (at, text) = find(styles, self.id, self.pseudo, name)?;
        self.stack.push(name.into());
        let done = self.append(styles, &text, at);
        self.stack.pop();
        done
    }
}

/// The value of a custom property: from the element, else inherited, else registered.
fn find(
    styles: &mut Styles<'_>,
    id: u32,
    pseudo: Option<PseudoElement>,
    name: &str,
) -> Option<(Origin, Text)> {
    let property = Property::Custom(name.into());
    let mut at = Some(id);
    let mut pseudo = pseudo;
    while let Some(element) = at {
        let found = match pseudo {
            Some(_) => Rc::new(styles.declared(element, pseudo, &|p| matches!(p, Property::Custom(_)))),
            None => customs(styles, element),
        };
        if let Some(winner) = styles.winner(&found, &property)
            && let Some(declaration) = styles.declaration(winner.from)
        {
            match &declaration.value {
                Value::Custom(text) => return Some((Origin::At(winner.from), text.clone())),
                Value::Wide(Wide::Initial) => break,
                _ => {}
            }
        }
        // A pseudo-element inherits from its element.
        if pseudo.take().is_none() {
            at = styles.document.parent_element(element);
        }
    }
    for (index, instance) in styles.instances.iter().enumerate().rev() {
        if let Some((_, text)) = instance.sheet.registered.iter().rev().find(|(n, _)| **n == *name) {
            return Some((Origin::Registered(index as u32), text.clone()));
        }
    }
    None
}

fn customs(styles: &mut Styles<'_>, id: u32) -> Rc<Vec<Found>> {
    if let Some(known) = styles.customs.get(&id) {
        return known.clone();
    }
    let found = Rc::new(styles.declared(id, None, &|p| matches!(p, Property::Custom(_))));
    styles.customs.insert(id, found.clone());
    found
}

/// Cuts a value at its `var()`s, at whatever depth they stand.
fn pieces(text: &str, from: usize, to: usize) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut copied = from;
    let mut input = Parser::new(&text[from..to]);
    cut(&mut input, from, &mut copied, &mut pieces).ok()?;
    pieces.push(Piece::Copy(copied, to));
    Some(pieces)
}

fn cut(
    input: &mut Parser<'_>,
    base: usize,
    copied: &mut usize,
    pieces: &mut Vec<Piece>,
) -> Result<(), ParseError<()>> {
    loop {
        input.skip_whitespace();
        let at = base + input.position().byte_index();
        let Ok(token) = input.next() else { return Ok(()) };
        match token {
            Token::Function(name) if name.eq_ignore_ascii_case("var") => {
                let (name, fallback) = input.parse_nested_block(|i| {
                    let name = Box::from(i.expect_ident()?.strip_prefix("--").unwrap_or_default());
                    let mut fallback = None;
                    if i.try_parse(|i| i.expect_comma()).is_ok() {
                        let start = base + i.position().byte_index();
                        value::rest(i)?;
                        fallback = Some((start, base + i.position().byte_index()));
                    }
                    Ok::<_, ParseError<()>>((name, fallback))
                })?;
                pieces.push(Piece::Copy(*copied, at));
                pieces.push(Piece::Variable(name, fallback));
                *copied = base + input.position().byte_index();
            }
            Token::Function(_)
            | Token::ParenthesisBlock
            | Token::SquareBracketBlock
            | Token::CurlyBracketBlock => {
                input.parse_nested_block(|i| cut(i, base, copied, pieces))?;
            }
            _ => {}
        }
    }
}
