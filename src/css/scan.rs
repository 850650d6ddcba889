//! One pass over the tokens of a stylesheet or declaration list: URLs and their places, and what may be done with
//! the text as a whole.
//!
//! A stack of frames says which bracket is open and what kind of block it is; the item (rule or declaration) that
//! is being read says what a URL in it means. Error recovery follows CSS Syntax 3, section 5: a closing bracket that
//! does not match the innermost open one is an ordinary token, `;` ends an item only directly inside a block.

mod blocks;

use super::token::{self, Kind, Tok};
use super::{Place, Scan, Url};

/// Brackets, functions and blocks inside one another that a parser may be given.
pub(super) const DEPTH: usize = 64;

/// Nobody reads more of them.
const PROBLEMS: usize = 1000;

/// `text` is a whole stylesheet (`declarations`: false) or the value of a `style` attribute (true).
pub fn scan(text: &str, declarations: bool) -> Scan {
    let mut reader = Reader {
        text,
        frames: Vec::new(),
        item: Item::default(),
        root: if declarations { Block::Style } else { Block::Rules },
        imports: Imports::Open,
        last: None,
        out: Scan::default(),
    };
    if u32::try_from(text.len()).is_err() {
        reader.out.opaque = Some("larger than 4 GiB");
        return reader.out;
    }
    token::each(text, |tok| {
        reader.read(tok);
        true
    });
    reader.finish(declarations);
    reader.out
}

/// What the content of a `{}` block is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Rules: the sheet itself, `@media` and the like outside a style rule.
    Rules,
    /// Declarations and nested rules.
    Style,
    FontFace,
    /// `@function`: what it returns is resolved where it is used.
    Custom,
    /// Descriptors that fetch nothing.
    Inert,
    /// Nothing that a browser would read.
    Dead,
    /// A `{}` that is part of a value or prelude.
    Group,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Url,
    ImageSet,
    Other,
}

#[derive(Debug)]
enum What {
    Block(Block),
    Function {
        kind: Function,
        /// Nothing but white space was read in it so far.
        empty: bool,
        /// It holds this URL, which ends with it.
        url: Option<usize>,
    },
    Square {
        name: bool,
    },
    Paren,
}

#[derive(Debug)]
struct Frame {
    closer: Kind,
    start: u32,
    what: What,
    /// The item outside, to go on with after a `{}` inside a value.
    outer: Option<Item>,
}

/// The rule or declaration that is being read.
#[derive(Debug, Default)]
struct Item {
    start: Option<u32>,
    /// Tokens other than white space directly in the item, at most 255.
    tokens: u8,
    /// Name of the at-rule, lower case.
    at: Option<String>,
    /// An identifier came first.
    ident: Option<Tok>,
    /// Name of the property, lower case unless custom: an identifier and a colon came first.
    property: Option<String>,
    /// Tokens that no selector and no value can hold.
    bad: bool,
    selects_style: bool,
    /// The URL that an `@import` begins with.
    import: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Imports {
    Open,
    /// A `@layer` statement ends them now (CSS Cascade 5, section 2).
    Begun,
    Over,
}

struct Reader<'a> {
    text: &'a str,
    frames: Vec<Frame>,
    item: Item,
    root: Block,
    imports: Imports,
    last: Option<Tok>,
    out: Scan,
}

impl Reader<'_> {
    /// The block whose items are being read, if no other bracket is open in it.
    fn block(&self) -> Option<Block> {
        match self.frames.last() {
            None => Some(self.root),
            Some(Frame {
                what: What::Block(Block::Group),
                ..
            }) => None,
            Some(Frame {
                what: What::Block(block),
                ..
            }) => Some(*block),
            _ => None,
        }
    }

    /// The innermost block that holds items.
    fn around(&self) -> Block {
        let blocks = self.frames.iter().rev().take(DEPTH);
        for frame in blocks {
            if let What::Block(block) = frame.what
                && block != Block::Group
            {
                return block;
            }
        }
        if self.frames.len() > DEPTH {
            Block::Dead
        } else {
            self.root
        }
    }

    fn problem(&mut self, at: u32, message: &str) {
        if self.out.problems.len() < PROBLEMS && self.around() != Block::Dead {
            self.out.problems.push((at as usize, message.to_owned()));
        }
    }

    fn read(&mut self, tok: Tok) {
        if tok.end as usize == self.text.len() {
            self.last = Some(tok);
        }
        if tok.kind.is_blank() {
            return;
        }
        let direct = self.block();
        // Between rules of the sheet itself these are white space (CSS Syntax 3, section 5.4.1).
        if tok.kind == Kind::Html
            && self.frames.is_empty()
            && self.item.start.is_none()
            && self.root == Block::Rules
        {
            return;
        }
        match (tok.kind, direct) {
            (Kind::Semicolon, Some(block)) if self.ends_item(block) => {
                self.end_item();
                return;
            }
            (Kind::OpenCurly, Some(block)) if !self.is_custom(block) => {
                self.open_block(tok, block);
                return;
            }
            _ => {}
        }
        if let Some(frame) = self.frames.last()
            && frame.closer == tok.kind
        {
            self.close(tok);
            return;
        }
        self.begin_or_go_on(tok, direct);
        match tok.kind {
            Kind::Str => self.string(tok),
            Kind::Url => self.url(tok.start, tok),
            Kind::BadUrl | Kind::BadStr => {
                let what = if tok.kind == Kind::BadUrl {
                    "a url() with quotes, brackets or blanks in it"
                } else {
                    "a string is cut by a line end"
                };
                self.problem(tok.start, what);
                self.item.bad = true;
            }
            Kind::CloseParen | Kind::CloseSquare | Kind::CloseCurly => {
                let message = format!("stray `{}`", tok.text(self.text));
                self.problem(tok.start, &message);
                self.item.bad = true;
            }
            Kind::Semicolon if direct.is_some() => {
                self.problem(tok.start, "stray `;` before a rule: browsers drop the rule");
                self.item.bad = true;
            }
            Kind::Ident | Kind::Delim('|' | '*') => self.attribute_name(tok),
            _ => {}
        }
        match self.frames.last_mut() {
            Some(Frame {
                what: What::Function { empty, .. },
                ..
            }) => *empty = false,
            Some(Frame {
                what: What::Square { name },
                ..
            }) if !matches!(tok.kind, Kind::Ident | Kind::Delim('|' | '*')) => *name = false,
            _ => {}
        }
        if tok.kind.opens() {
            self.open(tok);
        }
    }

    /// Does `;` end the item? Outside style rules it is a part of the selector it was written before.
    fn ends_item(&self, block: Block) -> bool {
        block != Block::Rules || self.item.at.is_some() || !self.frames.is_empty()
    }

    /// Is the item a custom property, so that a `{}` is a part of its value?
    fn is_custom(&self, block: Block) -> bool {
        matches!(block, Block::Style | Block::Custom)
            && self.item.property.as_ref().is_some_and(|p| p.starts_with("--"))
    }

    fn begin_or_go_on(&mut self, tok: Tok, direct: Option<Block>) {
        let item = &mut self.item;
        if direct.is_none() {
            return;
        }
        if item.start.is_none() {
            item.start = Some(tok.start);
            match tok.kind {
                Kind::AtKeyword => item.at = Some(tok.value(self.text).to_ascii_lowercase()),
                Kind::Ident => item.ident = Some(tok),
                _ => {}
            }
        } else if let (1, Some(ident), Kind::Colon) = (item.tokens, item.ident, tok.kind) {
            let name = ident.value(self.text);
            item.property = Some(if name.starts_with("--") {
                name.into_owned()
            } else {
                name.to_ascii_lowercase()
            });
        }
        item.tokens = item.tokens.saturating_add(1);
    }

    /// `style` in `[style]`, `[ns|style=x]`, `[*|style]`.
    fn attribute_name(&mut self, tok: Tok) {
        if let Some(Frame {
            what: What::Square { name },
            ..
        }) = self.frames.last()
            && *name
            && tok.kind == Kind::Ident
            && tok.is(self.text, "style")
        {
            self.item.selects_style = true;
        }
    }

    fn string(&mut self, tok: Tok) {
        let value = |text| tok.value(text).into_owned();
        match self.frames.last() {
            Some(Frame {
                start,
                what:
                    What::Function {
                        kind: Function::Url,
                        empty: true,
                        ..
                    },
                ..
            }) => {
                let (start, index) = (*start, self.out.urls.len());
                self.push_url(start, tok.end, value(self.text));
                if let Some(Frame {
                    what: What::Function { url, .. },
                    ..
                }) = self.frames.last_mut()
                {
                    *url = Some(index);
                }
            }
            Some(Frame {
                what:
                    What::Function {
                        kind: Function::ImageSet,
                        ..
                    },
                ..
            }) => {
                self.push_url(tok.start, tok.end, value(self.text));
            }
            _ if self.begins_import() => {
                self.push_url(tok.start, tok.end, value(self.text));
            }
            _ => {}
        }
    }

    fn url(&mut self, start: u32, tok: Tok) {
        let value = tok.value(self.text).into_owned();
        self.push_url(start, tok.end, value);
    }

    /// Is the token being read, or the function around it, the first one of an `@import`?
    fn begins_import(&self) -> bool {
        let around = match self.frames.split_last() {
            Some((top, rest))
                if matches!(
                    top.what,
                    What::Function {
                        kind: Function::Url,
                        ..
                    }
                ) =>
            {
                rest.last()
            }
            _ => self.frames.last(),
        };
        let first = around.is_none_or(|f| matches!(f.what, What::Block(b) if b != Block::Group));
        first
            && self.item.tokens == 2
            && self.item.at.as_deref() == Some("import")
            && self.item.import.is_none()
    }

    fn push_url(&mut self, start: u32, end: u32, value: String) {
        let place = self.place();
        if place == Place::Other && self.begins_import() && self.root == Block::Rules {
            self.item.import = Some(self.out.urls.len());
        }
        self.out.urls.push(Url {
            span: start as usize..end as usize,
            value,
            place,
        });
    }

    fn place(&self) -> Place {
        let Some(property) = &self.item.property else {
            return Place::Other;
        };
        match self.around() {
            Block::Style if property.starts_with("--") => Place::Custom,
            Block::Style => {
                let image_set = self.frames.iter().rev().take(DEPTH).any(|f| {
                    matches!(
                        f.what,
                        What::Function {
                            kind: Function::ImageSet,
                            ..
                        }
                    )
                });
                Place::Property {
                    name: property.clone(),
                    image_set,
                }
            }
            Block::FontFace if property == "src" => Place::FontFace,
            Block::Custom => Place::Custom,
            _ => Place::Other,
        }
    }
}

#[cfg(test)]
mod tests;
