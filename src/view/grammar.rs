//! The grammars of single properties, as far as they decide whether Chromium keeps a declaration.

use cssparser::{ParseError, Parser, Token};

use super::image::{Url, image, is_gradient};
use super::value::{Display, Numbering, Result, Value, rest};

/// CSS Display 3, section 2; only what decides about boxes is kept.
pub(super) fn display(input: &mut Parser<'_>) -> Result<Display> {
    let mut words = Vec::new();
    while let Ok(word) = input.try_parse(|i| i.expect_ident_cloned()) {
        words.push(word.to_ascii_lowercase());
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(match words.as_slice() {
        ["none"] => Display::None,
        ["contents"] => Display::Contents,
        ["inline"] | ["ruby"] | ["inline", "flow"] => Display::Inline,
        ["inline-block" | "inline-table" | "math"] => Display::InlineBlock,
        ["inline-flex" | "inline-grid" | "-webkit-inline-flex" | "-webkit-inline-box"] => Display::InlineFlex,
        ["block" | "list-item" | "table" | "flow-root" | "flow"] => Display::Block,
        ["flex" | "grid" | "-webkit-flex" | "-webkit-box" | "grid-lanes"] => Display::Flex,
        [word] if word.starts_with("table-") => Display::Block,
        [word] if word.starts_with("ruby-") => Display::Inline,
        [_] | [] => return Err(ParseError::unexpected_token()),
        many if many.iter().all(|w| {
            matches!(
                *w,
                "block"
                    | "inline"
                    | "flow"
                    | "flow-root"
                    | "table"
                    | "flex"
                    | "grid"
                    | "ruby"
                    | "list-item"
                    | "math"
            )
        }) =>
        {
            match (
                many.contains(&"inline"),
                many.contains(&"flex") || many.contains(&"grid"),
            ) {
                (true, true) => Display::InlineFlex,
                (true, false) => Display::InlineBlock,
                (false, true) => Display::Flex,
                (false, false) => Display::Block,
            }
        }
        _ => return Err(ParseError::unexpected_token()),
    })
}

pub(super) fn content(input: &mut Parser<'_>, nth: Numbering) -> Result<Value> {
    let mut urls = Vec::new();
    let mut text = String::new();
    let mut boxed = true;
    let mut any = false;
    loop {
        if input
            .try_parse(|i| image(i, nth).map(|found| urls.extend(found)))
            .is_ok()
        {
            any = true;
            continue;
        }
        let state = input.state();
        match input.next() {
            Ok(Token::QuotedString(s)) => text.push_str(s),
            Ok(Token::Ident(word)) => match word.to_ascii_lowercase().as_str() {
                "none" | "normal" if !any => boxed = false,
                "open-quote" | "close-quote" => text.push('\u{201c}'),
                "no-open-quote" | "no-close-quote" => {}
                _ => return Err(ParseError::unexpected_token()),
            },
            Ok(Token::Function(name)) => {
                match name.to_ascii_lowercase().as_str() {
                    "counter" | "counters" | "attr" => text.push('0'),
                    _ => return Err(ParseError::unexpected_token()),
                }
                input.parse_nested_block(rest)?;
            }
            Ok(Token::Delim('/')) if any => {
                while !matches!(input.next(), Err(_) | Ok(Token::Delim('!'))) {}
                return Ok(Value::Content {
                    urls: urls.into(),
                    text: text.into(),
                    boxed,
                });
            }
            _ => {
                input.reset(&state);
                break;
            }
        }
        any = true;
    }
    if !any {
        return Err(ParseError::unexpected_token());
    }
    Ok(Value::Content {
        urls: urls.into(),
        text: text.into(),
        boxed,
    })
}

/// Names of keyframes: every identifier or string of an `animation` could be one.
pub(super) fn names(input: &mut Parser<'_>) -> Result<Vec<Box<str>>> {
    let mut names = Vec::new();
    loop {
        let state = input.state();
        match input.next() {
            Ok(Token::Ident(name) | Token::QuotedString(name)) => names.push(Box::from(&**name)),
            Ok(Token::Function(_)) => input.parse_nested_block(rest)?,
            Ok(Token::Number { .. } | Token::Dimension { .. } | Token::Comma) => {}
            _ => {
                input.reset(&state);
                return Ok(names);
            }
        }
    }
}

/// `[ <image> [x y]? , ]* keyword` (CSS Basic User Interface 4, section 4.1).
pub(super) fn cursor(input: &mut Parser<'_>, nth: Numbering) -> Result<Vec<Url>> {
    let mut urls = Vec::new();
    while input
        .try_parse(|i| image(i, nth).map(|found| urls.extend(found)))
        .is_ok()
    {
        if input.try_parse(|i| i.expect_number()).is_ok() {
            input.expect_number()?;
        }
        input.expect_comma()?;
    }
    let word = input.expect_ident()?.to_ascii_lowercase();
    if word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') {
        Ok(urls)
    } else {
        Err(ParseError::unexpected_token())
    }
}

pub(super) fn filter(input: &mut Parser<'_>, nth: Numbering) -> Result<Vec<Url>> {
    let mut urls = Vec::new();
    if input.try_parse(|i| i.expect_ident_matching("none")).is_ok() {
        return Ok(urls);
    }
    loop {
        if input
            .try_parse(|i| image(i, nth).map(|found| urls.extend(found)))
            .is_ok()
        {
            continue;
        }
        let state = input.state();
        match input.next() {
            Ok(Token::Function(name))
                if matches!(
                    name.to_ascii_lowercase().as_str(),
                    "blur"
                        | "brightness"
                        | "contrast"
                        | "drop-shadow"
                        | "grayscale"
                        | "hue-rotate"
                        | "invert"
                        | "opacity"
                        | "saturate"
                        | "sepia"
                ) =>
            {
                input.parse_nested_block(rest)?;
            }
            _ => {
                input.reset(&state);
                return Ok(urls);
            }
        }
    }
}

/// A value of images, words, numbers and functions, not checked further.
pub(super) fn components(input: &mut Parser<'_>, nth: Numbering) -> Result<Vec<Url>> {
    let mut urls = Vec::new();
    let mut any = false;
    loop {
        if input
            .try_parse(|i| image(i, nth).map(|found| urls.extend(found)))
            .is_ok()
        {
            any = true;
            continue;
        }
        let state = input.state();
        match input.next() {
            Ok(Token::Ident(word))
                if word
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') => {}
            Ok(Token::Function(name))
                if !is_gradient(name) && !name.starts_with("-m") && !name.starts_with("-o") =>
            {
                input.parse_nested_block(rest)?;
            }
            Ok(Token::Dimension { unit, .. }) if super::layer::is_unit(unit) => {}
            Ok(
                Token::Number { .. }
                | Token::Percentage { .. }
                | Token::Delim('/')
                | Token::Comma
                | Token::Hash(_)
                | Token::IDHash(_)
                | Token::QuotedString(_),
            ) => {}
            _ => {
                input.reset(&state);
                return if any {
                    Ok(urls)
                } else {
                    Err(ParseError::unexpected_token())
                };
            }
        }
        any = true;
    }
}
