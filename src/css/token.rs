//! The flat list of a stylesheet's tokens, brackets included, with byte offsets.
//!
//! cssparser does the tokenizing (CSS Syntax 3, section 4). Its `Parser` insists on entering blocks by recursion, so
//! a fresh one is started behind every opening bracket: closing brackets then arrive as ordinary tokens and the
//! whole text is read by one loop, whatever its depth. Starting one costs nothing that grows with the text.

use std::borrow::Cow;

use cssparser::{Parser, Token};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ident,
    AtKeyword,
    /// `#name`, whether or not it could be an id.
    Hash,
    Str,
    /// `url(` without quotes up to its `)`.
    Url,
    Delim(char),
    Number,
    Percentage,
    Dimension,
    Space,
    Comment,
    Colon,
    Semicolon,
    Comma,
    /// `~=`, `|=`, `^=`, `$=`, `*=`.
    Match,
    /// `<!--` and `-->`.
    Html,
    /// The name and its `(`.
    Function,
    OpenParen,
    OpenSquare,
    OpenCurly,
    CloseParen,
    CloseSquare,
    CloseCurly,
    BadUrl,
    BadStr,
}

impl Kind {
    pub(super) fn is_blank(self) -> bool {
        matches!(self, Kind::Space | Kind::Comment)
    }

    pub(super) fn opens(self) -> bool {
        matches!(
            self,
            Kind::Function | Kind::OpenParen | Kind::OpenSquare | Kind::OpenCurly
        )
    }

    /// The bracket that ends what this one opens.
    pub(super) fn closer(self) -> Option<Kind> {
        match self {
            Kind::Function | Kind::OpenParen => Some(Kind::CloseParen),
            Kind::OpenSquare => Some(Kind::CloseSquare),
            Kind::OpenCurly => Some(Kind::CloseCurly),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tok {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Tok {
    pub(super) fn text<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start as usize..self.end as usize]
    }

    /// The value of a name, string or URL without quotes and escapes; names keep their case.
    pub(super) fn value<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let raw = self.text(text);
        if !raw.bytes().any(|b| b == b'\\' || b == 0) {
            let plain = match self.kind {
                Kind::Ident => Some(raw),
                Kind::AtKeyword | Kind::Hash => Some(&raw[1..]),
                Kind::Function => Some(&raw[..raw.len() - 1]),
                _ => None,
            };
            if let Some(plain) = plain {
                return Cow::Borrowed(plain);
            }
        }

        let mut parser = Parser::new(raw);
        let value = match parser.next_including_whitespace_and_comments() {
            Ok(
                Token::Ident(v)
                | Token::AtKeyword(v)
                | Token::Hash(v)
                | Token::IDHash(v)
                | Token::QuotedString(v)
                | Token::UnquotedUrl(v)
                | Token::Function(v),
            ) => v.to_string(),
            _ => raw.to_owned(),
        };
        Cow::Owned(value)
    }

    /// Is this name `name`, by the rules of ASCII case and escapes?
    pub(super) fn is(&self, text: &str, name: &str) -> bool {
        self.value(text).eq_ignore_ascii_case(name)
    }
}

/// Calls `each` with every token of `text`, in order and without gaps. Stops when it answers `false`.
pub(super) fn each(text: &str, mut each: impl FnMut(Tok) -> bool) {
    let mut from = 0;
    while from < text.len() {
        let mut parser = Parser::new(&text[from..]);
        let mut start = from;
        loop {
            let Ok(token) = parser.next_including_whitespace_and_comments() else {
                return;
            };
            let kind = kind(token);
            let end = from + parser.position().byte_index();
            if !each(Tok {
                kind,
                start: start as u32,
                end: end as u32,
            }) {
                return;
            }
            start = end;
            if kind.opens() {
                break;
            }
        }
        from = start;
    }
}

/// All tokens of a text that is small enough for offsets of 32 bits.
pub(super) fn list(text: &str) -> Vec<Tok> {
    let mut toks = Vec::with_capacity(text.len() / 4);
    each(text, |tok| {
        toks.push(tok);
        true
    });
    toks
}

fn kind(token: &Token) -> Kind {
    match token {
        Token::Ident(_) => Kind::Ident,
        Token::AtKeyword(_) => Kind::AtKeyword,
        Token::Hash(_) | Token::IDHash(_) => Kind::Hash,
        Token::QuotedString(_) => Kind::Str,
        Token::UnquotedUrl(_) => Kind::Url,
        Token::Delim(c) => Kind::Delim(*c),
        Token::Number { .. } => Kind::Number,
        Token::Percentage { .. } => Kind::Percentage,
        Token::Dimension { .. } => Kind::Dimension,
        Token::WhiteSpace(_) => Kind::Space,
        Token::Comment(_) => Kind::Comment,
        Token::Colon => Kind::Colon,
        Token::Semicolon => Kind::Semicolon,
        Token::Comma => Kind::Comma,
        Token::IncludeMatch
        | Token::DashMatch
        | Token::PrefixMatch
        | Token::SuffixMatch
        | Token::SubstringMatch => Kind::Match,
        Token::CDO | Token::CDC => Kind::Html,
        Token::Function(_) => Kind::Function,
        Token::ParenthesisBlock => Kind::OpenParen,
        Token::SquareBracketBlock => Kind::OpenSquare,
        Token::CurlyBracketBlock => Kind::OpenCurly,
        Token::BadUrl(_) => Kind::BadUrl,
        Token::BadString(_) => Kind::BadStr,
        Token::CloseParenthesis => Kind::CloseParen,
        Token::CloseSquareBracket => Kind::CloseSquare,
        Token::CloseCurlyBracket => Kind::CloseCurly,
    }
}

/// Would text written behind this last token of a file become part of it?
pub(super) fn unfinished(tok: Tok, text: &str) -> bool {
    let raw = tok.text(text);
    match tok.kind {
        Kind::Comment => raw.len() < 4 || !raw.ends_with("*/"),
        Kind::Str => {
            let quote = raw.as_bytes()[0];
            raw.len() < 2 || raw.as_bytes()[raw.len() - 1] != quote || escaped_end(raw)
        }
        Kind::Url | Kind::BadUrl => !raw.ends_with(')') || escaped_end(raw),
        _ => raw.ends_with('\\'),
    }
}

/// Does an odd run of backslashes stand before the last byte?
fn escaped_end(raw: &str) -> bool {
    let before = &raw.as_bytes()[..raw.len() - 1];
    before.iter().rev().take_while(|&&b| b == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_cover_the_text_without_gaps() {
        for text in [
            "a{b:c(d[e]f)g}",
            ")]}a{{{(((",
            "url( x )url('y')url(a\"b)",
            "/* open",
            "'open",
            "a\\",
            "\u{feff}a\0b",
            "@a #b -1.5e3px 5% <!-- --> ~= \\{",
        ] {
            let mut at = 0;
            each(text, |tok| {
                assert_eq!(tok.start, at, "{text}");
                at = tok.end;
                true
            });
            assert_eq!(at as usize, text.len(), "{text}");
        }
    }

    #[test]
    fn ends_that_would_swallow_more_text_are_seen() {
        let check = |text: &str, expected: bool| {
            let last = list(text).pop().expect("no table entry is empty");
            assert_eq!(unfinished(last, text), expected, "{text}");
        };
        check("/**/", false);
        check("/*/", true);
        check("/* a", true);
        check("'a'", false);
        check("'a", true);
        check("'a\\'", true);
        check("'a\\\\'", false);
        check("'", true);
        check("url(a)", false);
        check("url(a", true);
        check("url(a\\)", true);
        check("a\\", true);
        check("a", false);
    }
}
