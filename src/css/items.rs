//! The items of a stylesheet at their places: preludes of blocks, declarations, statements.
//!
//! In: a text and its tokens. Out: one event after the other, with the tokens that belong to it. One loop with a stack
//! of open brackets, linear time; what nests deeper than any parser may go is left unread. Splitting follows CSS
//! Syntax 3, section 5.4.

use super::scan::DEPTH;
use super::token::{Kind, Tok};

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// Rules, as in the sheet itself.
    Rules,
    /// Declarations and nested rules.
    Style,
    Keyframes,
    /// Descriptors, or what nobody knows.
    Inert,
}

#[derive(Debug)]
pub(super) enum Event<'t> {
    /// A block opens behind these tokens, which have no blanks around them.
    Open {
        prelude: &'t [Tok],
        around: Block,
    },
    Close,
    /// A declaration, a statement, or something broken, without the `;` behind it.
    Item {
        toks: &'t [Tok],
        block: Block,
    },
}

struct Frame {
    closer: Kind,
    /// `None` inside of a prelude or a value.
    block: Option<Block>,
}

/// `declarations`: the text is that of a `style` attribute.
pub(super) fn walk<'t>(text: &str, toks: &'t [Tok], declarations: bool, mut each: impl FnMut(Event<'t>)) {
    let root = if declarations { Block::Style } else { Block::Rules };
    let mut open: Vec<Frame> = Vec::new();
    let mut start: Option<usize> = None;
    let mut custom = false;
    for (i, tok) in toks.iter().enumerate() {
        if tok.kind.is_blank() || tok.kind == Kind::Html && open.is_empty() && start.is_none() {
            continue;
        }
        if open.last().is_some_and(|frame| frame.closer == tok.kind) {
            let block = open.pop().and_then(|frame| frame.block);
            if let Some(block) = block {
                if let Some(start) = start.take() {
                    each(Event::Item {
                        toks: trimmed(&toks[start..i]),
                        block,
                    });
                }
                each(Event::Close);
            }
            continue;
        }
        let direct = open.last().map_or(Some(root), |frame| frame.block);
        if let Some(block) = direct {
            let is_at_rule = start.is_some_and(|start| toks[start].kind == Kind::AtKeyword);
            match tok.kind {
                Kind::Semicolon if block != Block::Rules || is_at_rule || !open.is_empty() => {
                    if let Some(start) = start.take() {
                        each(Event::Item {
                            toks: trimmed(&toks[start..i]),
                            block,
                        });
                    }
                    continue;
                }
                Kind::OpenCurly if !(custom && start.is_some()) => {
                    let prelude = trimmed(&toks[start.take().unwrap_or(i)..i]);
                    each(Event::Open {
                        prelude,
                        around: block,
                    });
                    open.push(Frame {
                        closer: Kind::CloseCurly,
                        block: Some(inner(text, prelude, block)),
                    });
                    if open.len() > DEPTH {
                        return;
                    }
                    continue;
                }
                _ if start.is_none() => {
                    start = Some(i);
                    custom = tok.kind == Kind::Ident && tok.value(text).starts_with("--");
                }
                _ => {}
            }
        }
        if let Some(closer) = tok.kind.closer() {
            open.push(Frame { closer, block: None });
            if open.len() > DEPTH {
                return;
            }
        }
    }
    // The last declaration of an attribute needs no `;`; a cut rule is no item.
    if let (Some(start), true) = (start, declarations && open.is_empty()) {
        each(Event::Item {
            toks: trimmed(&toks[start..]),
            block: root,
        });
    }
}

/// What the block behind this prelude holds.
fn inner(text: &str, prelude: &[Tok], around: Block) -> Block {
    let Some(at) = prelude.first().filter(|tok| tok.kind == Kind::AtKeyword) else {
        return if around == Block::Inert {
            Block::Inert
        } else {
            Block::Style
        };
    };
    let name = at.value(text).to_ascii_lowercase();
    match name.as_str() {
        // Nested in a style rule they hold what it holds.
        "media" | "supports" | "layer" | "container" | "scope" | "starting-style" => around,
        name if name.ends_with("document") => around,
        name if name.ends_with("keyframes") => Block::Keyframes,
        _ => Block::Inert,
    }
}

/// Without blanks at the ends.
pub(super) fn trimmed(mut toks: &[Tok]) -> &[Tok] {
    while let [rest @ .., last] = toks
        && last.kind.is_blank()
    {
        toks = rest;
    }
    while let [first, rest @ ..] = toks
        && first.kind.is_blank()
    {
        toks = rest;
    }
    toks
}

/// The text from the first of these tokens to the last.
pub(super) fn text_of<'a>(text: &'a str, toks: &[Tok]) -> &'a str {
    match (toks.first(), toks.last()) {
        (Some(first), Some(last)) => &text[first.start as usize..last.end as usize],
        _ => "",
    }
}

/// Name and value of a declaration; `None` for other items.
pub(super) fn declaration<'t>(text: &str, toks: &'t [Tok]) -> Option<(String, &'t [Tok])> {
    let name = toks.first().filter(|tok| tok.kind == Kind::Ident)?;
    let colon = toks.iter().skip(1).position(|tok| !tok.kind.is_blank())? + 1;
    let value = (toks[colon].kind == Kind::Colon).then(|| trimmed(&toks[colon + 1..]))?;
    let name = name.value(text);
    Some(match name.starts_with("--") {
        true => (name.into_owned(), value),
        false => (name.to_ascii_lowercase(), value),
    })
}

#[cfg(test)]
mod tests {
    use super::super::token;
    use super::*;

    #[track_caller]
    fn check(text: &str, declarations: bool, expected: &str) {
        let toks = token::list(text);
        let mut seen = Vec::new();
        walk(text, &toks, declarations, |event| {
            seen.push(match event {
                Event::Open { prelude, around } => format!("{around:?}>{}{{", text_of(text, prelude)),
                Event::Close => "}".to_owned(),
                Event::Item { toks, block } => format!("{block:?}:{}", text_of(text, toks)),
            })
        });
        assert_eq!(seen.join(" "), expected, "{text}");
    }

    #[test]
    fn items() {
        check("a{b:c;d:e}", false, "Rules>a{ Style:b:c Style:d:e }");
        check("@import 'x';a b /**/ {}", false, "Rules:@import 'x' Rules>a b{ }");
        check(
            "@media x{a{b:c}}",
            false,
            "Rules>@media x{ Rules>a{ Style:b:c } }",
        );
        check(
            "a{b:c;&:hover{d:e}@media x{f:g}}",
            false,
            "Rules>a{ Style:b:c Style>&:hover{ Style:d:e } Style>@media x{ Style:f:g } }",
        );
        check(
            "@keyframes k{from{a:b}}@font-face{src:url(x)}",
            false,
            "Rules>@keyframes k{ Keyframes>from{ Style:a:b } } Rules>@font-face{ Inert:src:url(x) }",
        );
        check(
            "a{--x:{b:c;d};e:f}",
            false,
            "Rules>a{ Style:--x:{b:c;d} Style:e:f }",
        );
        check("a:b;c:d(e;f)", true, "Style:a:b Style:c:d(e;f)");
        check("x;a{b:c}", false, "Rules>x;a{ Style:b:c }");
        check("<!-- a{*b:c} -->", false, "Rules>a{ Style:*b:c }");
        check("a{b:c", false, "Rules>a{");
        check(
            &"a{".repeat(1000),
            false,
            &["Rules>a{"]
                .into_iter()
                .chain([" Style>a{"; 64])
                .collect::<String>(),
        );
    }
}
