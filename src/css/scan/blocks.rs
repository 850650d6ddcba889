//! Where blocks, brackets and items begin and end, and what they are made of.

use super::super::token::{Kind, Tok};
use super::*;

impl Reader<'_> {
    pub(super) fn open(&mut self, tok: Tok) {
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

    pub(super) fn push(&mut self, tok: Tok, what: What, outer: Option<Item>) {
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
    pub(super) fn open_block(&mut self, tok: Tok, block: Block) {
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
            // A prefix is written for some browsers on purpose.
            if !name.starts_with('-') {
                self.problem(at, &format!("browsers do not know @{name}"));
            }
        }
        self.push(tok, What::Block(inner), Some(item));
    }

    pub(super) fn close(&mut self, tok: Tok) {
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
    pub(super) fn end_item(&mut self) {
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
            (Block::Style | Block::FontFace, None) if is_hack(&self.text[start as usize..]) => {}
            (Block::Style | Block::FontFace, None) => self.problem(start, "no declaration: browsers drop it"),
            (Block::Style | Block::FontFace, Some(name)) if item.tokens == 2 && !name.starts_with("--") => {
                self.problem(start, "a declaration without a value");
            }
            _ => {}
        }
    }

    /// A rule of the sheet itself ends: may an `@import` still come?
    pub(super) fn end_rule(&mut self, item: &Item, has_block: bool) {
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
    pub(super) fn end_open(&mut self, frame: &Frame) {
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

    pub(super) fn finish(&mut self, declarations: bool) {
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

/// `*zoom: 1`: a character in front hides a declaration from all but Internet Explorer 7, by intention.
fn is_hack(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(['*', '+', '#', '!', '$', '&', '.', '/', '|', '?', '=', '%', '~'])
    else {
        return false;
    };
    let name = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
    name.len() < rest.len() && name.trim_start().starts_with(':')
}
