//! One pass over the tokens of a stylesheet or declaration list: URLs and their places, and what may be done with
//! the text as a whole.
//!
//! A stack of frames says which bracket is open and what kind of block it is; the item (rule or declaration) that
//! is being read says what a URL in it means. Error recovery follows CSS Syntax 3, section 5: a closing bracket that
//! does not match the innermost open one is an ordinary token, `;` ends an item only directly inside a block.

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

    fn open(&mut self, tok: Tok) {
        let what = match tok.kind {
            Kind::Function => {
                let name = tok.value(self.text).to_ascii_lowercase();
                let kind = match name.as_str() {
                    "url" | "src" => Function::Url,
                    "image-set" | "-webkit-image-set" => Function::ImageSet,
                    _ => Function::Other,
                };
                What::Function {
                    kind,
                    empty: true,
                    url: None,
                }
            }
            Kind::OpenSquare => What::Square { name: true },
            Kind::OpenCurly => What::Block(Block::Group),
            _ => What::Paren,
        };
        self.push(tok, what, None);
    }

    fn push(&mut self, tok: Tok, what: What, outer: Option<Item>) {
        let Some(closer) = tok.kind.closer() else { return };
        self.frames.push(Frame {
            closer,
            start: tok.start,
            what,
            outer,
        });
        if self.frames.len() > DEPTH {
            self.out.opaque = Some("nested more than 64 levels deep");
        }
    }

    /// `{` directly in a block: the rule's own block begins.
    fn open_block(&mut self, tok: Tok, block: Block) {
        let item = std::mem::take(&mut self.item);
        if item.at.is_none() {
            if item.tokens == 0 {
                self.problem(tok.start, "a block without a selector");
            }
            self.out.selects_style |= item.selects_style && !item.bad;
        } else if item.at.as_deref() == Some("scope") {
            self.out.selects_style |= item.selects_style;
        }
        // A style attribute holds no rules.
        let inner = if self.frames.is_empty() && self.root == Block::Style {
            Block::Dead
        } else {
            inside(&item, block)
        };
        if item.at.is_some() && inner == Block::Dead && block != Block::Dead {
            let at = item.start.unwrap_or(tok.start);
            let name = item.at.clone().unwrap_or_default();
            self.problem(at, &format!("browsers do not know @{name}"));
        }
        self.push(tok, What::Block(inner), Some(item));
    }

    fn close(&mut self, tok: Tok) {
        // A declaration without `;` ends with its block.
        if self.block().is_some() {
            self.end_item();
        }
        let Some(frame) = self.frames.pop() else { return };
        if let What::Function { url: Some(index), .. } = frame.what
            && let Some(url) = self.out.urls.get_mut(index)
        {
            url.span.end = tok.end as usize;
        }
        if let What::Block(block) = frame.what
            && block != Block::Group
        {
            let item = frame.outer.unwrap_or_default();
            if self.frames.is_empty() {
                self.end_rule(&item, true);
            }
            self.item = Item::default();
        }
    }

    /// An at-statement or a declaration ends.
    fn end_item(&mut self) {
        let item = std::mem::take(&mut self.item);
        let Some(start) = item.start else { return };
        let block = self.around();
        if self.frames.is_empty() && self.root == Block::Rules {
            self.end_rule(&item, false);
        }
        if item.at.is_some() {
            return;
        }
        match (block, &item.property) {
            (Block::Rules, _) => self.problem(start, "a rule without a block"),
            (Block::Style | Block::FontFace, None) => self.problem(start, "no declaration: browsers drop it"),
            (Block::Style | Block::FontFace, Some(name)) if item.tokens == 2 && !name.starts_with("--") => {
                self.problem(start, "a declaration without a value");
            }
            _ => {}
        }
    }

    /// A rule of the sheet itself ends: may an `@import` still come?
    fn end_rule(&mut self, item: &Item, has_block: bool) {
        if self.root != Block::Rules {
            return;
        }
        let Some(name) = item.at.as_deref() else {
            // An invalid rule is no rule: imports may come after it.
            if has_block && !item.bad && item.tokens > 0 {
                self.imports = Imports::Over;
            }
            return;
        };
        match name {
            "import" if !has_block && self.imports != Imports::Over => {
                if let Some(url) = item.import.and_then(|index| self.out.urls.get_mut(index)) {
                    url.place = Place::Import;
                    self.imports = Imports::Begun;
                }
            }
            "import" => {
                let at = item.start.unwrap_or(0);
                self.problem(at, "an @import after other rules is ignored");
            }
            "layer" if !has_block && self.imports == Imports::Begun => self.imports = Imports::Over,
            "layer" if !has_block => {}
            "namespace" if !has_block => self.imports = Imports::Over,
            _ if has_block && inside(item, Block::Rules) != Block::Dead => self.imports = Imports::Over,
            _ => {}
        }
    }

    /// The text ends while this is open.
    fn end_open(&mut self, frame: &Frame) {
        let what = match frame.closer {
            Kind::CloseCurly => "a block is not closed",
            Kind::CloseSquare => "a `[` is not closed",
            _ => "a `(` is not closed",
        };
        self.problem(frame.start, what);
        if let What::Function { url: Some(index), .. } = frame.what
            && let Some(url) = self.out.urls.get_mut(index)
        {
            url.span.end = self.text.len();
        }
    }

    fn finish(&mut self, declarations: bool) {
        let unfinished = self.last.is_some_and(|tok| token::unfinished(tok, self.text));
        if unfinished && let Some(tok) = self.last {
            let what = match tok.kind {
                Kind::Comment => "a comment is not closed",
                Kind::Str => "a string is not closed",
                Kind::Url | Kind::BadUrl => "a url() is not closed",
                _ => "a backslash ends the text",
            };
            self.problem(tok.start, what);
        }
        self.out.closed =
            !unfinished && self.frames.is_empty() && (declarations || self.item.start.is_none());
        // Everything open ends here (CSS Syntax 3, section 5.4); what is open inside an item ends with the item.
        while let Some(frame) = self
            .frames
            .pop_if(|f| !matches!(f.what, What::Block(b) if b != Block::Group))
        {
            self.end_open(&frame);
        }
        self.end_item();
        while let Some(frame) = self.frames.pop() {
            self.end_open(&frame);
        }
        self.out.problems.sort_by_key(|p| p.0);
    }
}

/// What the block of this rule holds, when the rule stands in `block`.
fn inside(item: &Item, block: Block) -> Block {
    if block == Block::Dead || item.bad {
        return Block::Dead;
    }
    let Some(name) = item.at.as_deref() else {
        return if matches!(block, Block::FontFace | Block::Custom | Block::Inert) {
            Block::Dead
        } else {
            Block::Style
        };
    };
    match name {
        "media" | "supports" | "layer" | "container" | "document" | "-moz-document" | "scope"
        | "starting-style" | "when" | "else" => block,
        "keyframes" | "-webkit-keyframes" | "-moz-keyframes" | "-o-keyframes" => Block::Rules,
        "font-face" => Block::FontFace,
        "function" => Block::Custom,
        "page"
        | "counter-style"
        | "position-try"
        | "-ms-viewport"
        | "viewport"
        | "view-transition"
        | "font-palette-values" => Block::Style,
        "property" | "font-feature-values" => Block::Inert,
        name if block == Block::Style
            && (name.starts_with("top-")
                || name.starts_with("bottom-")
                || name.starts_with("left-")
                || name.starts_with("right-")) =>
        {
            Block::Style
        }
        _ => Block::Dead,
    }
}

#[cfg(test)]
mod tests;
