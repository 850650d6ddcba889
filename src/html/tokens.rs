//! The little of the HTML tokenizer (standard, section 13.2.5) that must be known beside lol_html: where raw text
//! ends, and which end tags and comments lie between two start tags.
//!
//! It is also the second reading of every page: what lol_html reports and what is found here must agree, or the
//! page is not edited.

use std::ops::Range;

/// A token other than text, at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A start tag, its name as written.
    Start(Range<usize>),
    /// An end tag, its name as written.
    End(Range<usize>),
    /// Comment, doctype, CDATA section or what the standard calls a bogus comment.
    Other,
    /// A tag that the end of the file cuts off; browsers drop it.
    Cut,
}

/// What the tokenizer does with the content of an element in the HTML namespace, with scripting on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Markup,
    /// RAWTEXT and RCDATA: up to the next end tag of that name.
    Text,
    Script,
    /// `plaintext`: up to the end of the file.
    Rest,
}

pub(super) fn content(name: &str) -> Content {
    match name {
        "script" => Content::Script,
        "style" | "xmp" | "iframe" | "noembed" | "noframes" | "noscript" | "textarea" | "title" => {
            Content::Text
        }
        "plaintext" => Content::Rest,
        _ => Content::Markup,
    }
}

/// Where the content that starts at `from` ends: at the `<` of the end tag, or at the end of the file.
pub(super) fn content_end(bytes: &[u8], from: usize, name: &str) -> usize {
    match content(name) {
        Content::Markup => from,
        Content::Text => text_end(bytes, from, name),
        Content::Script => script_end(bytes, from),
        Content::Rest => bytes.len(),
    }
}

fn text_end(bytes: &[u8], from: usize, name: &str) -> usize {
    let mut at = from;
    while let Some(open) = find(bytes, at, b'<') {
        if is_end_tag(bytes, open, name) {
            return open;
        }
        at = open + 1;
    }
    bytes.len()
}

/// Script data with its escaped and double escaped states: `<!--<script>` hides the next `</script>`.
fn script_end(bytes: &[u8], from: usize) -> usize {
    #[derive(PartialEq)]
    enum State {
        Data,
        Escaped,
        Double,
    }
    let (mut state, mut dashes, mut at) = (State::Data, 0, from);
    while at < bytes.len() {
        if state == State::Data {
            let Some(open) = find(bytes, at, b'<') else { break };
            if is_end_tag(bytes, open, "script") {
                return open;
            }
            at = open + 1;
            if bytes[open..].starts_with(b"<!--") {
                (state, dashes, at) = (State::Escaped, 2, open + 4);
            }
            continue;
        }
        match bytes[at] {
            b'-' => dashes += 1,
            b'>' if dashes >= 2 => state = State::Data,
            b'<' => {
                dashes = 0;
                if state == State::Escaped && is_end_tag(bytes, at, "script") {
                    return at;
                }
                let inner = if state == State::Escaped { at + 1 } else { at + 2 };
                let opens = state == State::Escaped || bytes.get(at + 1) == Some(&b'/');
                if opens && names(bytes, inner, "script") {
                    state = if state == State::Escaped {
                        State::Double
                    } else {
                        State::Escaped
                    };
                    at = inner + "script".len();
                }
            }
            _ => dashes = 0,
        }
        at += 1;
    }
    bytes.len()
}

/// `</name` and then white space, `/` or `>`.
fn is_end_tag(bytes: &[u8], at: usize, name: &str) -> bool {
    bytes.get(at + 1) == Some(&b'/') && names(bytes, at + 2, name)
}

fn names(bytes: &[u8], at: usize, name: &str) -> bool {
    let end = at + name.len();
    bytes
        .get(at..end)
        .is_some_and(|written| written.eq_ignore_ascii_case(name.as_bytes()))
        && bytes
            .get(end)
            .is_some_and(|&b| is_space(b) || b == b'/' || b == b'>')
}

/// The first token at or after `at` that starts before `end`, and the offset behind it. In a foreign element
/// `<![CDATA[` opens a section, elsewhere a bogus comment.
pub(super) fn next(bytes: &[u8], at: usize, end: usize, foreign: bool) -> Option<(Range<usize>, Token)> {
    let mut at = at;
    loop {
        let open = find(&bytes[..end], at, b'<')?;
        let (token, past) = match bytes.get(open + 1) {
            Some(b) if b.is_ascii_alphabetic() => tag(bytes, open + 1, Token::Start),
            Some(b'/') => match bytes.get(open + 2) {
                Some(b) if b.is_ascii_alphabetic() => tag(bytes, open + 2, Token::End),
                Some(b'>') => (Token::Other, open + 3),
                Some(_) => (Token::Other, past(bytes, open + 2, b">")),
                None => return None,
            },
            Some(b'!') if bytes[open..].starts_with(b"<!--") => (Token::Other, comment_end(bytes, open + 4)),
            Some(b'!') if foreign && bytes[open..].starts_with(b"<![CDATA[") => {
                (Token::Other, past(bytes, open + 9, b"]]>"))
            }
            Some(b'!' | b'?') => (Token::Other, past(bytes, open + 2, b">")),
            _ => {
                at = open + 1;
                continue;
            }
        };
        return Some((open..past, token));
    }
}

fn tag(bytes: &[u8], name: usize, token: fn(Range<usize>) -> Token) -> (Token, usize) {
    let rest = &bytes[name..];
    let end = rest
        .iter()
        .position(|&b| is_space(b) || b == b'/' || b == b'>')
        .map_or(bytes.len(), |n| name + n);
    match tag_end(bytes, end) {
        Some(past) => (token(name..end), past),
        None => (Token::Cut, bytes.len()),
    }
}

/// Behind the `>` of a tag whose name ends at `at`: the attribute states of the tokenizer.
fn tag_end(bytes: &[u8], at: usize) -> Option<usize> {
    let skip = |mut at: usize| {
        while bytes.get(at).is_some_and(|&b| is_space(b)) {
            at += 1;
        }
        at
    };
    let mut at = at;
    loop {
        match *bytes.get(at)? {
            b'>' => return Some(at + 1),
            b if is_space(b) || b == b'/' => at += 1,
            _ => {
                // The first character belongs to the name even if it is "=".
                at += 1;
                while bytes
                    .get(at)
                    .is_some_and(|&b| !is_space(b) && !matches!(b, b'/' | b'>' | b'='))
                {
                    at += 1;
                }
                let equals = skip(at);
                if bytes.get(equals) != Some(&b'=') {
                    continue;
                }
                at = skip(equals + 1);
                match *bytes.get(at)? {
                    quote @ (b'"' | b'\'') => at = find(bytes, at + 1, quote)? + 1,
                    b'>' => {}
                    _ => {
                        while bytes.get(at).is_some_and(|&b| !is_space(b) && b != b'>') {
                            at += 1;
                        }
                    }
                }
            }
        }
    }
}

/// Behind the end of a comment whose text starts at `at`: `-->` or `--!>`, at once `>` or `->`.
fn comment_end(bytes: &[u8], at: usize) -> usize {
    let text = &bytes[at..];
    if text.starts_with(b">") {
        return at + 1;
    }
    if text.starts_with(b"->") {
        return at + 2;
    }
    let mut from = at;
    while let Some(dash) = find(bytes, from, b'-') {
        let rest = &bytes[dash..];
        if rest.starts_with(b"-->") {
            return dash + 3;
        }
        if rest.starts_with(b"--!>") {
            return dash + 4;
        }
        from = dash + 1;
    }
    bytes.len()
}

fn past(bytes: &[u8], at: usize, end: &[u8]) -> usize {
    let mut at = at;
    while let Some(found) = find(bytes, at, end[0]) {
        if bytes[found..].starts_with(end) {
            return found + end.len();
        }
        at = found + 1;
    }
    bytes.len()
}

fn find(bytes: &[u8], at: usize, byte: u8) -> Option<usize> {
    bytes.get(at..)?.iter().position(|&b| b == byte).map(|n| at + n)
}

/// ASCII white space of the HTML standard; a carriage return is a line feed to the tokenizer.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_text_ends_at_its_own_end_tag() {
        let check = |name: &str, text: &str, content: &str| {
            assert_eq!(
                &text[..content_end(text.as_bytes(), 0, name)],
                content,
                "{name}: {text}"
            );
        };
        check("style", "a{}</style>x", "a{}");
        check("style", "a{}</STYLE\n>x", "a{}");
        check("style", "a{}</style/>x", "a{}");
        check("style", "</styles></style x=1>", "</styles>");
        check("style", "</style", "</style");
        check("style", "</ style></sty</style>", "</ style></sty");
        check("style", "<!-- </style> -->", "<!-- ");
        check("title", "<b></b></title>", "<b></b>");
        check("plaintext", "</plaintext>", "</plaintext>");
        check("script", "<!-- x </script> -->", "<!-- x ");
        check(
            "script",
            "<!-- <script> </script> --></script>",
            "<!-- <script> </script> -->",
        );
        check(
            "script",
            "<!-- <script> </script> </script>",
            "<!-- <script> </script> ",
        );
        check("script", "<!-- <script> --> </script>", "<!-- <script> --> ");
        check("script", "<!-- <scripts> </script>", "<!-- <scripts> ");
        check("script", "<!-- <script</script>", "<!-- <script");
        check("script", "<!--><script></script>", "<!--><script>");
        check("script", "<!---><script></script>", "<!---><script>");
        check("script", "<!-<script></script>", "<!-<script>");
        check(
            "script",
            "<!--<script></script></script/>",
            "<!--<script></script>",
        );
        check("script", "<!--<script>", "<!--<script>");
        check(
            "script",
            "<!--<script/<script></script><script </script>",
            "<!--<script/<script></script><script </script>",
        );
        check("script", "a<b;'</scr'+'ipt>'</script >", "a<b;'</scr'+'ipt>'");
    }

    #[test]
    fn tokens_between_tags() {
        let check = |text: &str, foreign: bool, expected: &[&str]| {
            let (mut at, mut found) = (0, Vec::new());
            while let Some((span, token)) = next(text.as_bytes(), at, text.len(), foreign) {
                at = span.end;
                found.push(match token {
                    Token::Start(name) => format!("<{}", &text[name]),
                    Token::End(name) => format!("</{}", &text[name]),
                    Token::Other => format!("!{}", &text[span]),
                    Token::Cut => "cut".to_owned(),
                });
            }
            assert_eq!(found, expected, "{text}");
        };
        check("a < b </p ></ x></><x>", false, &["</p", "!</ x>", "!</>", "<x"]);
        check(
            "<!-- <b> --><!--><b><!---><i>",
            false,
            &["!<!-- <b> -->", "!<!-->", "<b", "!<!--->", "<i"],
        );
        check("<!-- <b> --!><b>", false, &["!<!-- <b> --!>", "<b"]);
        check("<![CDATA[ <b> ]]><i>", false, &["!<![CDATA[ <b>", "<i"]);
        check("<![CDATA[ <b> ]]><i>", true, &["!<![CDATA[ <b> ]]>", "<i"]);
        check(
            "<!doctype a \">\"><?php >",
            false,
            &["!<!doctype a \">", "!<?php >"],
        );
        check("</a title='>' x=\">\"></b title=a'>", false, &["</a", "</b"]);
        check("<a =\">\"></a", false, &["<a", "cut"]);
        check("<a b= ></a b = '>", false, &["<a", "cut"]);
        check("<!--", false, &["!<!--"]);
        check("</", false, &[]);
    }
}
