//! A stylesheet as rules and declarations, each already printed, in source order.
//!
//! Built from the token list by one recursive function whose depth the scanner has limited. What is neither a rule
//! nor a declaration (hacks, half declarations, rules after a stray `;`) becomes `Raw`: the text, white space
//! squeezed. Splitting into items follows CSS Syntax 3, section 5.4.4.

use super::piece;
use super::prelude;
use super::token::{Kind, Tok};
use super::value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// A rule with selectors that we understand.
    Style {
        selectors: Vec<String>,
        body: Vec<Node>,
    },
    /// An at-rule with a block, a keyframe, or a rule with a prelude that we do not understand: text up to the `{`.
    Block {
        head: String,
        kind: Block,
        body: Vec<Node>,
    },
    /// An at-rule that ends with `;`.
    Statement(String),
    Declaration(Declaration),
    /// An item that ends with `;` or with the block.
    Raw(String),
    /// A comment to keep, `/*! … */`.
    Comment(String),
    /// The rest of the text, in which something is not closed: nothing may be written after it.
    Tail(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Declaration {
    /// Lower case unless custom; a hack's prefix (`*zoom`) belongs to it.
    pub(super) name: String,
    pub(super) value: String,
    pub(super) important: bool,
}

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// Rules, as in the sheet itself.
    Rules,
    Keyframes,
    /// Declarations and nested rules.
    Style,
    /// The contents of an at-rule that is not known: not looked into.
    Unknown,
}

pub(super) fn sheet(text: &str, toks: &[Tok]) -> Vec<Node> {
    Parser { text, toks, at: 0 }.items(Block::Rules, true)
}

pub(super) fn declarations(text: &str, toks: &[Tok]) -> Vec<Node> {
    Parser { text, toks, at: 0 }.items(Block::Style, true)
}

struct Parser<'a> {
    text: &'a str,
    toks: &'a [Tok],
    at: usize,
}

/// How an item ends.
enum End {
    Semicolon,
    /// At this `{`.
    Open,
    /// With the block or the text.
    Block,
    /// The text ends within a bracket.
    Unclosed,
}

impl<'a> Parser<'a> {
    fn items(&mut self, block: Block, root: bool) -> Vec<Node> {
        let mut out = Vec::new();
        while let Some(&tok) = self.toks.get(self.at) {
            match tok.kind {
                Kind::Comment => {
                    if tok.text(self.text).starts_with("/*!") {
                        out.push(Node::Comment(tok.text(self.text).to_owned()));
                    }
                    self.at += 1;
                }
                Kind::Space => self.at += 1,
                Kind::Html if root && block == Block::Rules => self.at += 1,
                Kind::Semicolon if !root || block != Block::Rules => self.at += 1,
                Kind::CloseCurly if !root => {
                    self.at += 1;
                    break;
                }
                _ => out.push(self.item(block, root)),
            }
        }
        out
    }

    fn item(&mut self, block: Block, root: bool) -> Node {
        let start = self.at;
        let (mut end, how) = self.find_end(block, root);
        while end > start && self.toks[end - 1].kind.is_blank() {
            end -= 1;
        }
        let head = &self.toks[start..end];
        let at_rule = head.first().filter(|t| t.kind == Kind::AtKeyword).copied();
        match how {
            End::Unclosed => {
                self.at = self.toks.len();
                Node::Tail(self.text[self.toks[start].start as usize..].to_owned())
            }
            End::Open => {
                self.at += 1;
                self.block(block, head, at_rule)
            }
            End::Semicolon | End::Block => {
                if matches!(how, End::Semicolon) {
                    self.at += 1;
                }
                match at_rule {
                    Some(tok) => Node::Statement(self.at_head(tok, head)),
                    None if block == Block::Style => self.declaration(head),
                    None => Node::Raw(piece::squeeze(self.text, head)),
                }
            }
        }
    }

    /// Moves to the end of the item and returns where its tokens end.
    fn find_end(&mut self, block: Block, root: bool) -> (usize, End) {
        let start = self.at;
        let first = self.toks[start];
        let semicolon_ends = !root || block != Block::Rules || first.kind == Kind::AtKeyword;
        let custom = block == Block::Style && self.is_custom(start);
        let mut open: Vec<Kind> = Vec::new();
        while let Some(tok) = self.toks.get(self.at) {
            match (tok.kind, open.is_empty()) {
                (Kind::Semicolon, true) if semicolon_ends => return (self.at, End::Semicolon),
                (Kind::OpenCurly, true) if !custom => return (self.at, End::Open),
                (Kind::CloseCurly, true) if !root => return (self.at, End::Block),
                (kind, _) if open.last() == Some(&kind) => {
                    open.pop();
                }
                (kind, _) => open.extend(kind.closer()),
            }
            self.at += 1;
        }
        let unclosed = !open.is_empty()
            || self
                .toks
                .last()
                .is_some_and(|t| super::token::unfinished(*t, self.text));
        (self.at, if unclosed { End::Unclosed } else { End::Block })
    }

    fn is_custom(&self, start: usize) -> bool {
        let mut rest = self.toks[start..].iter().filter(|t| !t.kind.is_blank());
        rest.next()
            .is_some_and(|t| t.kind == Kind::Ident && t.value(self.text).starts_with("--"))
            && rest.next().is_some_and(|t| t.kind == Kind::Colon)
    }

    fn at_head(&self, tok: Tok, head: &[Tok]) -> String {
        let name = tok.text(self.text);
        let lower = name[1..].to_ascii_lowercase();
        if lower == "charset" {
            // `@charset` is bytes, not tokens: exactly one blank and a double quote.
            return piece::squeeze(self.text, head);
        }
        let rest = prelude::at_rule(&lower, self.text, &head[1..]);
        let gap = match head.get(1) {
            Some(next) if next.kind == Kind::Space || (next.kind == Kind::Comment && head.len() > 2) => " ",
            _ => "",
        };
        // A string needs nothing before it.
        let gap = if rest.starts_with('"') || rest.is_empty() {
            ""
        } else {
            gap
        };
        format!(
            "@{}{gap}{rest}",
            if name.contains('\\') { &name[1..] } else { &lower }
        )
    }

    fn block(&mut self, block: Block, head: &'a [Tok], at_rule: Option<Tok>) -> Node {
        if let Some(tok) = at_rule {
            let name = tok.value(self.text).to_ascii_lowercase();
            let kind = inside(&name, block);
            let head = self.at_head(tok, head);
            let body = self.body(kind);
            return Node::Block { head, kind, body };
        }
        if block == Block::Keyframes {
            let head = prelude::keyframe(self.text, head);
            let body = self.body(Block::Style);
            return Node::Block {
                head,
                kind: Block::Style,
                body,
            };
        }
        // `a:hover{…}` could have been meant as a declaration; a selector is what browsers read it as.
        match prelude::selectors(self.text, head) {
            Some(selectors) if block != Block::Unknown => {
                let body = self.body(Block::Style);
                Node::Style { selectors, body }
            }
            _ => {
                let head = piece::squeeze(self.text, head);
                let body = self.body(Block::Unknown);
                Node::Block {
                    head,
                    kind: Block::Unknown,
                    body,
                }
            }
        }
    }

    fn body(&mut self, kind: Block) -> Vec<Node> {
        if kind != Block::Unknown {
            return self.items(kind, false);
        }
        let start = self.at;
        let mut open = vec![Kind::CloseCurly];
        while let Some(tok) = self.toks.get(self.at) {
            if open.last() == Some(&tok.kind) {
                open.pop();
                if open.is_empty() {
                    break;
                }
            } else {
                open.extend(tok.kind.closer());
            }
            self.at += 1;
        }
        let inner = &self.toks[start..self.at];
        self.at += 1;
        let unclosed = open.len() > 1
            || (!open.is_empty()
                && inner
                    .last()
                    .is_some_and(|t| super::token::unfinished(*t, self.text)));
        if unclosed {
            return vec![Node::Tail(self.text[inner[0].start as usize..].to_owned())];
        }
        let text = piece::squeeze(self.text, inner);
        if text.is_empty() {
            Vec::new()
        } else {
            vec![Node::Raw(text)]
        }
    }

    fn declaration(&self, head: &[Tok]) -> Node {
        self.known_declaration(head)
            .map_or_else(|| Node::Raw(piece::squeeze(self.text, head)), Node::Declaration)
    }

    fn known_declaration(&self, head: &[Tok]) -> Option<Declaration> {
        // `*zoom:1`, `+top:0`: read as a declaration by old browsers only.
        let hack = usize::from(matches!(
            head.first()?.kind,
            Kind::Delim('*' | '+' | '&' | '$' | '!')
        ));
        let ident = *head.get(hack).filter(|t| t.kind == Kind::Ident)?;
        let colon = hack + 1 + head[hack + 1..].iter().position(|t| !t.kind.is_blank())?;
        if head[colon].kind != Kind::Colon {
            return None;
        }
        let name = ident.text(self.text);
        let custom = name.starts_with("--");
        let prefix = head[..hack].first().map_or("", |t| t.text(self.text));
        let mut value = &head[colon + 1..];
        while let [first, rest @ ..] = value
            && first.kind.is_blank()
        {
            value = rest;
        }
        if custom {
            let (Some(first), Some(last)) = (value.first(), value.last()) else {
                return Some(Declaration {
                    name: name.to_owned(),
                    value: " ".to_owned(),
                    important: false,
                });
            };
            let raw = &self.text[first.start as usize..last.end as usize];
            return Some(Declaration {
                name: name.to_owned(),
                value: raw.to_owned(),
                important: false,
            });
        }
        if value
            .iter()
            .any(|t| matches!(t.kind, Kind::BadStr | Kind::BadUrl | Kind::OpenCurly))
            || value.is_empty()
        {
            return None;
        }
        let (value, important) = split_important(self.text, value);
        let lower = name.to_ascii_lowercase();
        let value = value::print(&lower, self.text, value);
        let name = if name.contains('\\') {
            name.to_owned()
        } else {
            lower
        };
        Some(Declaration {
            name: format!("{prefix}{name}"),
            value,
            important,
        })
    }
}

/// Cuts `!important` off the end of a value.
fn split_important<'t>(text: &str, value: &'t [Tok]) -> (&'t [Tok], bool) {
    let trim = |mut toks: &'t [Tok]| {
        while let [rest @ .., last] = toks
            && last.kind.is_blank()
        {
            toks = rest;
        }
        toks
    };
    let toks = trim(value);
    if let [rest @ .., last] = toks
        && last.kind == Kind::Ident
        && last.text(text).eq_ignore_ascii_case("important")
        && let [rest @ .., bang] = trim(rest)
        && bang.kind == Kind::Delim('!')
        && !trim(rest).is_empty()
    {
        return (trim(rest), true);
    }
    (toks, false)
}

/// What the block of an at-rule holds that stands in `block`.
fn inside(name: &str, block: Block) -> Block {
    match name {
        "media" | "supports" | "layer" | "container" | "document" | "-moz-document" | "scope"
        | "starting-style" => block,
        "keyframes" | "-webkit-keyframes" | "-moz-keyframes" | "-o-keyframes" => Block::Keyframes,
        "font-face"
        | "counter-style"
        | "property"
        | "position-try"
        | "-ms-viewport"
        | "viewport"
        | "view-transition"
        | "font-palette-values" => Block::Style,
        "page" => Block::Style,
        _ => Block::Unknown,
    }
}
