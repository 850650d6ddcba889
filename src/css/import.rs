//! Lists the imports of a stylesheet, and puts the imported sheets in their places.
//!
//! An `@import` counts while only other imports and, before the first of them, `@layer` statements stand before it
//! (CSS Cascade 5, section 2). Its rules then stand where the statement stood, in the blocks that its conditions
//! say. What browsers may read differently (an invalid rule between imports) is refused, not guessed.

use std::ops::Range;

use super::condition::{self, Media};
use super::join::TOO_DEEP;
use super::outline::{Item, Outline, outline};
use super::token::{Kind, Tok};

/// A valid `@import`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Bytes of the whole statement, its `;` included.
    pub span: Range<usize>,
    /// Without quotes and escapes.
    pub url: String,
    /// The layer's name as it is written; `Some(None)` for an anonymous layer.
    pub layer: Option<Option<String>>,
    /// What stands in `supports()`, as it is written.
    pub supports: Option<String>,
    /// The media queries as they are written, if there are any; also what is not understood.
    pub media: Option<String>,
}

/// The imports that count in every browser, in order; what stands behind a doubtful rule is not among them.
pub fn imports(text: &str) -> Vec<Import> {
    outline(text).map_or_else(Vec::new, |sheet| head(&sheet).0)
}

/// `text` with the text of each imported sheet in place of its `@import`, where there is one; those texts must be
/// rebased and hold no imports that could be flattened themselves. An import without a text stays.
pub fn flatten(text: &str, imports: &[(Import, Option<&str>)]) -> Result<String, &'static str> {
    let sheet = outline(text).ok_or(TOO_DEEP)?;
    let (known, certain) = head(&sheet);
    if !imports.iter().map(|i| &i.0).eq(&known) {
        return Err("not the imports of this sheet");
    }
    if imports.iter().all(|i| i.1.is_none()) {
        return Ok(text.to_owned());
    }
    if !certain {
        return Err("browsers may disagree about which imports count");
    }
    if sheet.has("namespace") {
        return Err("@namespace means the whole sheet");
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    // What must count in the result.
    let mut kept = Vec::new();
    for (import, imported) in imports {
        let Some(imported) = imported else {
            kept.push(import.url.clone());
            continue;
        };
        let inner = outline(imported).ok_or(TOO_DEEP)?;
        inner.refuses_company()?;
        let (inner_imports, certain) = head(&inner);
        if !certain {
            return Err("browsers may disagree about which imports count");
        }
        kept.extend(inner_imports.into_iter().map(|i| i.url));
        let blocks = blocks(import)?;
        if !blocks.is_empty() {
            inner.refuses_block()?;
        }
        out.push_str(&text[done..import.span.start]);
        for block in &blocks {
            out.push_str(block);
            out.push('{');
        }
        out.push_str(&imported[inner.charset()..]);
        out.extend(blocks.iter().map(|_| '}'));
        done = import.span.end;
    }
    out.push_str(&text[done..]);
    let result = outline(&out).ok_or(TOO_DEEP)?;
    if !head(&result).0.iter().map(|i| &i.url).eq(&kept) {
        return Err("an import that stays would stand behind rules");
    }
    Ok(out)
}

/// The imports that count, and whether every browser agrees: no `@import` stands behind something that is a rule to
/// some and nothing to others.
fn head(sheet: &Outline<'_>) -> (Vec<Import>, bool) {
    let mut imports: Vec<Import> = Vec::new();
    let mut certain = true;
    // A rule, or something that may be one, was there; surely a rule was.
    let (mut maybe_over, mut over) = (false, false);
    for item in &sheet.items {
        match item.at.as_deref() {
            Some("import") if over => {}
            Some("import") if maybe_over => certain = false,
            // Valid or not, it ends nothing.
            Some("import") => match import(sheet, item) {
                Some(found) => imports.push(found),
                None => certain = false,
            },
            // No rule at all (CSS Syntax 3, "The @charset Rule").
            Some("charset") if !item.has_block => {}
            Some("layer") if !item.has_block => {
                // An import whose `supports()` fails is no rule to Chromium.
                over |= imports.iter().any(|i| i.supports.is_none()) && is_layer_list(sheet, item);
                maybe_over |= !imports.is_empty() || !certain;
            }
            _ => {
                maybe_over = true;
                over |= is_surely_a_rule(sheet, item);
            }
        }
    }
    (imports, certain)
}

/// Does every browser accept this rule?
fn is_surely_a_rule(sheet: &Outline<'_>, item: &Item) -> bool {
    if item.loose || !item.has_block {
        return false;
    }
    match item.at.as_deref() {
        Some("font-face" | "media") => true,
        Some(_) => false,
        // Names, classes, ids, descendants and children: valid since CSS 2.
        None => {
            let text = sheet.text;
            let mut compound = false;
            let mut toks = sheet.prelude(item).peekable();
            while let Some(tok) = toks.next() {
                match tok.kind {
                    Kind::Delim('.')
                        if toks
                            .peek()
                            .is_some_and(|t| t.kind == Kind::Ident && t.start == tok.end) =>
                    {
                        toks.next();
                        compound = true;
                    }
                    Kind::Ident | Kind::Delim('*') => {
                        // `.a*` and `a*` are none.
                        let before = text[..tok.start as usize].chars().next_back();
                        if compound && !before.is_some_and(|c| c.is_ascii_whitespace()) {
                            return false;
                        }
                        compound = true;
                    }
                    Kind::Comma | Kind::Delim('>') if compound => compound = false,
                    _ => return false,
                }
            }
            compound
        }
    }
}

/// One or more names of layers.
fn is_layer_list(sheet: &Outline<'_>, item: &Item) -> bool {
    let toks = &sheet.toks[item.head.start + 1..item.head.end];
    !toks.is_empty()
        && toks
            .split(|t| t.kind == Kind::Comma)
            .all(|name| is_layer_name(sheet.text, name))
}

/// Names with `.` and nothing else between them (CSS Cascade 5, section 6.4.1), no blanks but around them.
fn is_layer_name(text: &str, toks: &[Tok]) -> bool {
    const WIDE: [&str; 6] = ["initial", "inherit", "unset", "revert", "revert-layer", "default"];
    let from = toks.iter().position(|t| !t.kind.is_blank()).unwrap_or(0);
    let to = toks.iter().rposition(|t| !t.kind.is_blank()).map_or(0, |i| i + 1);
    let name = &toks[from.min(to)..to];
    name.len() % 2 == 1
        && name.iter().enumerate().all(|(i, t)| match i % 2 {
            0 => t.kind == Kind::Ident && !WIDE.iter().any(|w| t.is(text, w)),
            _ => t.kind == Kind::Delim('.'),
        })
}

/// Reads the statement, whose place is right; `None` if it is none.
fn import(sheet: &Outline<'_>, item: &Item) -> Option<Import> {
    let text = sheet.text;
    if item.loose || item.has_block {
        return None;
    }
    let toks = &sheet.toks[item.head.start + 1..item.head.end];
    let mut at = 0;
    skip_blanks(toks, &mut at);
    let url = match toks.get(at)?.kind {
        Kind::Str | Kind::Url => {
            at += 1;
            toks[at - 1].value(text).into_owned()
        }
        Kind::Function if toks[at].is(text, "url") => {
            let inner = group(toks, &mut at)?;
            let mut solid = inner.iter().filter(|t| !t.kind.is_blank());
            let value = solid.next().filter(|t| t.kind == Kind::Str)?;
            if solid.next().is_some() {
                return None;
            }
            value.value(text).into_owned()
        }
        _ => return None,
    };
    skip_blanks(toks, &mut at);
    let mut layer = None;
    match toks.get(at) {
        Some(tok) if tok.kind == Kind::Ident && tok.is(text, "layer") => {
            at += 1;
            layer = Some(None);
        }
        Some(tok) if tok.kind == Kind::Function && tok.is(text, "layer") => {
            let mut behind = at;
            let inner = group(toks, &mut behind)?;
            if is_layer_name(text, inner) {
                at = behind;
                layer = Some(Some(written(text, inner)));
            }
        }
        _ => {}
    }
    skip_blanks(toks, &mut at);
    let mut supports = None;
    if let Some(tok) = toks.get(at)
        && tok.kind == Kind::Function
        && tok.is(text, "supports")
    {
        let inside = written(text, group(toks, &mut at)?);
        // Chromium drops the import when it cannot read this.
        condition::supports(&inside)?;
        supports = Some(inside);
    }
    skip_blanks(toks, &mut at);
    let media = Some(written(text, &toks[at..])).filter(|m| !m.is_empty());
    Some(Import {
        span: item.span.clone(),
        url,
        layer,
        supports,
        media,
    })
}

fn skip_blanks(toks: &[Tok], at: &mut usize) {
    while toks.get(*at).is_some_and(|t| t.kind.is_blank()) {
        *at += 1;
    }
}

/// The tokens inside the bracket that opens at `at`, which moves behind it.
fn group<'t>(toks: &'t [Tok], at: &mut usize) -> Option<&'t [Tok]> {
    let from = *at + 1;
    let mut open = Vec::new();
    for (i, tok) in toks.iter().enumerate().skip(*at) {
        if open.last() == Some(&tok.kind) {
            open.pop();
            if open.is_empty() {
                *at = i + 1;
                return Some(&toks[from..i]);
            }
        } else {
            open.extend(tok.kind.closer());
        }
    }
    None
}

/// The text of these tokens without blanks and comments at its ends.
fn written(text: &str, toks: &[Tok]) -> String {
    let solid = |t: &&Tok| !t.kind.is_blank();
    match (toks.iter().find(solid), toks.iter().rfind(solid)) {
        (Some(first), Some(last)) => text[first.start as usize..last.end as usize].to_owned(),
        _ => String::new(),
    }
}

/// What is written before each `{` around the imported rules, outermost first (CSS Cascade 5, section 2.1: a layer
/// that the conditions refuse is not even named, so it stands inside them).
fn blocks(import: &Import) -> Result<Vec<String>, &'static str> {
    let mut blocks = Vec::new();
    match condition::media(import.media.as_deref().unwrap_or("")) {
        Media::All => {}
        Media::Some(media) => blocks.push(format!("@media {media}")),
        Media::Unclear => return Err("conditions of an import that are not understood"),
    }
    if let Some(supports) = &import.supports {
        let condition = condition::supports(supports).ok_or("a supports() that is not understood")?;
        blocks.push(format!("@supports {condition}"));
    }
    match &import.layer {
        None => {}
        Some(None) => blocks.push("@layer".to_owned()),
        Some(Some(name)) if name.contains(['\\', '/']) => return Err("a layer's name with escapes"),
        Some(Some(name)) => blocks.push(format!("@layer {name}")),
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests;
