//! Tokens without comments and white space, each knowing what stood before it, and the way back to text.
//!
//! Whoever squeezes a list of tokens says where white space means nothing; this file makes sure that two tokens
//! which only a comment or white space kept apart stay apart (the table of CSS Syntax 3, section 9).

use std::borrow::Cow;

use super::token::{Kind, Tok};

/// What stood between two tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    None,
    /// Comments only: they separate tokens and are no white space.
    Comment,
    Space,
}

#[derive(Debug, Clone)]
pub(super) struct Piece<'a> {
    pub(super) kind: Kind,
    pub(super) text: Cow<'a, str>,
    /// Before this token.
    pub(super) gap: Gap,
}

impl Piece<'_> {
    pub(super) fn is_delim(&self, c: char) -> bool {
        self.kind == Kind::Delim(c)
    }

    /// Is it this keyword? Escaped spellings are not recognised, which is the safe side.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Ident && self.text.eq_ignore_ascii_case(word)
    }

    /// Is it the beginning of this function?
    pub(super) fn is_function(&self, name: &str) -> bool {
        self.kind == Kind::Function && self.text[..self.text.len() - 1].eq_ignore_ascii_case(name)
    }
}

pub(super) fn pieces<'a>(text: &'a str, toks: &[Tok]) -> Vec<Piece<'a>> {
    let mut out = Vec::with_capacity(toks.len());
    let mut gap = Gap::None;
    for tok in toks {
        match tok.kind {
            Kind::Space => gap = Gap::Space,
            Kind::Comment if gap == Gap::None => gap = Gap::Comment,
            Kind::Comment => {}
            kind => {
                out.push(Piece {
                    kind,
                    text: Cow::Borrowed(tok.text(text)),
                    gap,
                });
                gap = Gap::None;
            }
        }
    }
    out
}

/// Writes the tokens again. `tight` says whether the white space before the token of this index means nothing.
pub(super) fn join(pieces: &[Piece], tight: impl Fn(usize) -> bool) -> String {
    let mut out = String::with_capacity(pieces.iter().map(|p| p.text.len() + 1).sum());
    for (i, piece) in pieces.iter().enumerate() {
        if i > 0 {
            let apart = merges(&pieces[i - 1], piece);
            match piece.gap {
                Gap::Space if apart || !tight(i) => out.push(' '),
                Gap::Comment if apart => out.push_str("/**/"),
                _ => {}
            }
        }
        out.push_str(&piece.text);
    }
    out
}

/// Would these two, written side by side, be read as something else?
fn merges(a: &Piece, b: &Piece) -> bool {
    let word = matches!(
        b.kind,
        Kind::Ident
            | Kind::Function
            | Kind::Url
            | Kind::BadUrl
            | Kind::Number
            | Kind::Percentage
            | Kind::Dimension
            | Kind::Html
            | Kind::Delim('-' | '\\')
    );
    match a.kind {
        Kind::Ident => word || b.kind == Kind::OpenParen,
        Kind::AtKeyword | Kind::Hash | Kind::Dimension => word,
        Kind::Number => word && b.kind != Kind::Html || b.is_delim('%') || b.is_delim('.'),
        Kind::Delim('#' | '-' | '@') => word,
        Kind::Delim('.' | '+') => {
            matches!(b.kind, Kind::Number | Kind::Percentage | Kind::Dimension) || b.is_delim('.')
        }
        Kind::Delim('/') => b.is_delim('*') || b.kind == Kind::Match,
        Kind::Delim('|' | '~' | '^' | '$' | '*') => b.is_delim('=') || b.is_delim('|'),
        // `> =` is not `>=` (Media Queries 4, section 2.4.3), nor is `> >` the `>>` of some drafts.
        Kind::Delim('<') => b.is_delim('!') || b.is_delim('='),
        Kind::Delim('>') => b.is_delim('=') || b.is_delim('>'),
        Kind::Delim('\\') => true,
        _ => false,
    }
}

/// Only runs of white space shrink: for what is not understood.
pub(super) fn squeeze(text: &str, toks: &[Tok]) -> String {
    join(&pieces(text, toks), |_| false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::css::token;

    #[test]
    fn tokens_stay_apart() {
        let check = |text: &str, expected: &str| {
            let toks = token::list(text);
            let all = pieces(text, &toks);
            let out = join(&all, |_| true);
            assert_eq!(out, expected);
            let kinds = |list: &[token::Tok]| {
                list.iter()
                    .map(|t| t.kind)
                    .filter(|k| !k.is_blank())
                    .collect::<Vec<_>>()
            };
            assert_eq!(kinds(&token::list(&out)), kinds(&toks), "{text}");
        };
        check("a/**/b", "a/**/b");
        check("a b", "a b");
        check("a/**/:b", "a:b");
        check("1 2", "1 2");
        check("1 %", "1 %");
        check("a (b)", "a (b)");
        check("1px -1px", "1px -1px");
        check("#/**/a", "#/**/a");
        check("+ 1", "+ 1");
        check(". 5", ". 5");
        check("a , b", "a,b");
        check("/ *", "/ *");
        check("~ =", "~ =");
        check("> =", "> =");
        check("<  =", "< =");
        check("@a b", "@a b");
        check("a \"b\" c", "a\"b\"c");
        check("1px/**/\\69n", "1px/**/\\69n");
    }
}
