//! The items of a stylesheet's top level: statements, rules, and what is neither, as ranges of tokens.
//!
//! Whoever combines sheets asks here what stands in one and whether it may stand elsewhere: behind another sheet,
//! or inside `@media`, `@supports` and `@layer`. Splitting follows CSS Syntax 3, section 5.5.1; blocks are skipped,
//! not read. One loop, linear time, no stack.

use std::ops::Range;

use super::scan::DEPTH;
use super::token::{self, Kind, Tok};

/// One rule or statement of the sheet itself.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Name of the at-rule, lower case.
    pub(super) at: Option<String>,
    /// Token indices: what stands before the `{`, the `;` or the end of the text, at-keyword included.
    pub(super) head: Range<usize>,
    /// Bytes, the `;` or the `}` included.
    pub(super) span: Range<usize>,
    pub(super) has_block: bool,
    /// A `;`, a bracket that closes nothing or a broken token stands in the head: what browsers make of it depends
    /// on where the item stands.
    pub(super) loose: bool,
}

#[derive(Debug)]
pub(super) struct Outline<'a> {
    pub(super) text: &'a str,
    pub(super) toks: Vec<Tok>,
    pub(super) items: Vec<Item>,
    /// `<!--` or `-->` stands outside all blocks.
    pub(super) html: bool,
    /// Most brackets open at once.
    pub(super) depth: usize,
    /// The last item, every bracket, string and comment is closed: other text may follow.
    pub(super) closed: bool,
}

/// `None` where offsets would not fit or the nesting is too deep for any parser (`Scan::opaque`).
pub(super) fn outline(text: &str) -> Option<Outline<'_>> {
    if u32::try_from(text.len()).is_err() {
        return None;
    }
    let toks = token::list(text);
    let mut items = Vec::new();
    let mut item: Option<Item> = None;
    let mut open: Vec<Kind> = Vec::new();
    let (mut html, mut depth) = (false, 0);
    for (i, tok) in toks.iter().enumerate() {
        if tok.kind.is_blank() {
            continue;
        }
        if open.is_empty() && tok.kind == Kind::Html {
            html = true;
            if item.is_none() {
                continue;
            }
        }
        let end = tok.end as usize;
        let now = item.get_or_insert_with(|| Item {
            at: (tok.kind == Kind::AtKeyword).then(|| tok.value(text).to_ascii_lowercase()),
            head: i..i,
            span: tok.start as usize..end,
            has_block: false,
            loose: false,
        });
        now.span.end = end;
        if !now.has_block {
            now.head.end = i + 1;
        }
        if open.last() == Some(&tok.kind) {
            open.pop();
            if now.has_block && open.is_empty() {
                items.extend(item.take());
            }
            continue;
        }
        match tok.kind {
            Kind::Semicolon if open.is_empty() && now.at.is_some() => {
                now.head.end = i;
                items.extend(item.take());
                continue;
            }
            Kind::OpenCurly if open.is_empty() => {
                now.head.end = i;
                now.has_block = true;
            }
            _ if now.has_block => {}
            Kind::Semicolon if open.is_empty() => now.loose = true,
            Kind::CloseParen
            | Kind::CloseSquare
            | Kind::CloseCurly
            | Kind::BadStr
            | Kind::BadUrl
            | Kind::Html => now.loose = true,
            _ => {}
        }
        open.extend(tok.kind.closer());
        depth = depth.max(open.len());
        if depth > DEPTH {
            return None;
        }
    }
    let closed = item.is_none() && toks.last().is_none_or(|t| !token::unfinished(*t, text));
    items.extend(item);
    Some(Outline {
        text,
        toks,
        items,
        html,
        depth,
        closed,
    })
}

impl Outline<'_> {
    pub(super) fn has(&self, at_rule: &str) -> bool {
        self.items.iter().any(|i| i.at.as_deref() == Some(at_rule))
    }

    /// Without its at-keyword, blanks and comments.
    pub(super) fn prelude(&self, item: &Item) -> impl Iterator<Item = &Tok> {
        let from = item.head.start + usize::from(item.at.is_some());
        self.toks[from..item.head.end]
            .iter()
            .filter(|t| !t.kind.is_blank())
    }

    /// The bytes of `@charset "…";` at the very beginning, which is read as bytes and is no rule (CSS Syntax 3,
    /// section 3.2).
    pub(super) fn charset(&self) -> usize {
        match self.items.first() {
            Some(first) if self.text.starts_with("@charset \"") && !first.has_block => first.span.end,
            _ => 0,
        }
    }

    /// Why the sheet may not follow, or be followed by, the text of another one.
    pub(super) fn refuses_company(&self) -> Result<(), &'static str> {
        if !self.closed {
            return Err("the end of the sheet leaves something open");
        }
        if self.text.starts_with('\u{feff}') {
            return Err("the text begins with a byte order mark");
        }
        if self.text.contains('\0') {
            return Err("the text holds a NUL");
        }
        if self.has("namespace") {
            return Err("@namespace means the whole sheet");
        }
        // Its root is the parent of the element that loads the sheet (CSS Cascade 6, section 2.5.2).
        let mut solid = self.toks.iter().filter(|t| !t.kind.is_blank()).peekable();
        while let Some(tok) = solid.next() {
            if tok.kind == Kind::AtKeyword
                && tok.is(self.text, "scope")
                && solid.peek().is_none_or(|next| next.kind != Kind::OpenParen)
            {
                return Err("@scope without a root means the element around the sheet's own");
            }
        }
        Ok(())
    }

    /// Why the rules may not stand in a block of `@media`, `@supports` or `@layer` instead (CSS Syntax 3, section
    /// 5.5.4: there `;` ends an item, a `}` the block, `name:` may begin a declaration).
    pub(super) fn refuses_block(&self) -> Result<(), &'static str> {
        if self.html {
            return Err("`<!--` and `-->` are skipped only outside blocks");
        }
        if self.depth >= DEPTH {
            return Err("nested too deep for one more block");
        }
        let charset = self.charset();
        for item in self.items.iter().filter(|i| i.span.end > charset) {
            if item.loose {
                return Err("a stray `;` or bracket between rules");
            }
            match item.at.as_deref() {
                Some("import") => return Err("@import may not stand in a block"),
                Some("charset") => return Err("a second @charset"),
                Some(name) if !KNOWN.contains(&name) => {
                    return Err("an at-rule that may mean something else in a block");
                }
                Some("layer") => {}
                Some(_) if !item.has_block => return Err("an at-rule without its block"),
                Some(_) => {}
                None => {
                    let mut prelude = self.prelude(item);
                    if let (Some(first), Some(second)) = (prelude.next(), prelude.next())
                        && (first.kind, second.kind) == (Kind::Ident, Kind::Colon)
                        && first.value(self.text).starts_with("--")
                    {
                        return Err("a rule that reads as a custom property in a block");
                    }
                }
            }
        }
        Ok(())
    }
}

/// At-rules that mean the same inside a conditional group or a layer (CSS Conditional 3, section 2, and the
/// standards of each), and those that no browser of today knows anywhere.
const KNOWN: [&str; 23] = [
    "media",
    "supports",
    "layer",
    "container",
    "scope",
    "starting-style",
    "font-face",
    "keyframes",
    "-webkit-keyframes",
    "-moz-keyframes",
    "-o-keyframes",
    "-ms-keyframes",
    "page",
    "counter-style",
    "property",
    "font-feature-values",
    "font-palette-values",
    "position-try",
    "view-transition",
    "viewport",
    "-ms-viewport",
    "-o-viewport",
    "-moz-document",
];
