//! Declarations that can request something, or that decide whether it is requested: which properties they set and
//! which URLs they hold.
//!
//! A declaration that Chromium would drop has to be dropped here too (`url(a.png) no-repeat 0 0\9`), since an
//! earlier one then stands; so every value is checked against its grammar, more strictly where hacks are common.

use cssparser::{ParseError, Parser, Token, parse_important};

use super::image::{Url, image, is_gradient};

pub(super) type Result<T> = std::result::Result<T, ParseError<()>>;

/// The longhands that are followed through the cascade.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Property {
    BackgroundImage,
    ListStyleImage,
    BorderImage,
    MaskImage,
    MaskBoxImage,
    Cursor,
    Content,
    Filter,
    BackdropFilter,
    ClipPath,
    ShapeOutside,
    BoxReflect,
    Fill,
    Stroke,
    MarkerStart,
    MarkerMid,
    MarkerEnd,
    Display,
    Position,
    Float,
    AnimationName,
    FontFamily,
    FontWeight,
    FontStyle,
    Custom(Box<str>),
    /// `all`: every longhand above but the custom ones.
    All,
}

use Property as P;

/// Those whose value can be a URL, in the order their requests are listed.
pub(super) const FETCHING: [Property; 17] = [
    P::BackgroundImage,
    P::ListStyleImage,
    P::BorderImage,
    P::MaskImage,
    P::MaskBoxImage,
    P::Cursor,
    P::Content,
    P::Filter,
    P::BackdropFilter,
    P::ClipPath,
    P::ShapeOutside,
    P::BoxReflect,
    P::Fill,
    P::Stroke,
    P::MarkerStart,
    P::MarkerMid,
    P::MarkerEnd,
];

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// The URLs of the value, none for a gradient or a keyword.
    Urls(Box<[Url]>),
    /// Of `content`: what it writes as text.
    Content {
        urls: Box<[Url]>,
        text: Box<str>,
        boxed: bool,
    },
    Display(Display),
    /// Of `position` and `float`: whether the box leaves the line.
    OutOfFlow(bool),
    Names(Box<[Box<str>]>),
    Families(Box<[Family]>),
    Weight(Weight),
    Italic(bool),
    Custom(Text),
    Wide(Wide),
    /// A value with `var()`: `name` is the property as written, which may be a shorthand.
    Var {
        name: Box<str>,
        text: Text,
    },
}

/// A piece of a sheet that is read again once its variables are known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    pub(super) text: Box<str>,
    /// Offset in `text` and number of each URL.
    pub(super) urls: Box<[(u32, u32)]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wide {
    Inherit,
    Initial,
    Unset,
    Revert,
    RevertLayer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Display {
    None,
    Contents,
    Inline,
    /// Inside a line, with lines of its own.
    InlineBlock,
    Block,
    /// A flex or grid container: its children are no part of a line.
    Flex,
    InlineFlex,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Family {
    /// In lower case.
    pub(super) name: Box<str>,
    pub(super) generic: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Weight {
    Number(f32),
    Bolder,
    Lighter,
}

/// Numbers the URL at a byte offset of the text that is being parsed.
pub(super) type Numbering<'a> = &'a dyn Fn(usize) -> u32;

/// The longhands that a property sets; empty for one that is of no interest.
pub(super) fn longhands(name: &str) -> Vec<Property> {
    match name {
        "background" | "background-image" => vec![P::BackgroundImage],
        "list-style" | "list-style-image" => vec![P::ListStyleImage],
        "border" | "border-image" | "border-image-source" | "-webkit-border-image" => vec![P::BorderImage],
        "mask" | "mask-image" | "-webkit-mask" | "-webkit-mask-image" => vec![P::MaskImage],
        "-webkit-mask-box-image" | "-webkit-mask-box-image-source" => vec![P::MaskBoxImage],
        "cursor" => vec![P::Cursor],
        "content" => vec![P::Content],
        "filter" | "-webkit-filter" => vec![P::Filter],
        "backdrop-filter" => vec![P::BackdropFilter],
        "clip-path" | "-webkit-clip-path" => vec![P::ClipPath],
        "shape-outside" | "-webkit-shape-outside" => vec![P::ShapeOutside],
        "-webkit-box-reflect" => vec![P::BoxReflect],
        "fill" => vec![P::Fill],
        "stroke" => vec![P::Stroke],
        "marker" => vec![P::MarkerStart, P::MarkerMid, P::MarkerEnd],
        "marker-start" => vec![P::MarkerStart],
        "marker-mid" => vec![P::MarkerMid],
        "marker-end" => vec![P::MarkerEnd],
        "display" => vec![P::Display],
        "position" => vec![P::Position],
        "float" => vec![P::Float],
        "animation" | "animation-name" | "-webkit-animation" | "-webkit-animation-name" => {
            vec![P::AnimationName]
        }
        "font" => vec![P::FontFamily, P::FontWeight, P::FontStyle],
        "font-family" => vec![P::FontFamily],
        "font-weight" => vec![P::FontWeight],
        "font-style" => vec![P::FontStyle],
        "all" => vec![P::All],
        _ => Vec::new(),
    }
}

/// The longhands and values of one declaration; an error where Chromium drops it. `name` is in lower case but for
/// custom properties. The flag tells `!important`.
pub(super) fn declaration(
    name: &str,
    input: &mut Parser<'_>,
    nth: Numbering,
) -> Result<(Vec<(Property, Value)>, bool)> {
    input.skip_whitespace();
    let start = input.state();
    let at = input.position();
    if let Some(custom) = name.strip_prefix("--") {
        let (_, end, important, urls) = survey(input, nth)?;
        let text = input.slice(at..end);
        let urls = urls
            .iter()
            .map(|(offset, nth)| ((offset - at.byte_index()) as u32, *nth))
            .collect();
        let value = match wide(text.trim()) {
            Some(wide) => Value::Wide(wide),
            None => Value::Custom(Text {
                text: text.into(),
                urls,
            }),
        };
        return Ok((vec![(P::Custom(custom.into()), value)], important));
    }
    let properties = longhands(name);
    if properties.is_empty() {
        return Err(ParseError::unexpected_token());
    }
    if let Ok(wide) = input.try_parse(|i| {
        let word = wide(&i.expect_ident_cloned()?).ok_or_else(ParseError::<()>::unexpected_token)?;
        let important = i.try_parse(parse_important).is_ok();
        i.expect_exhausted()?;
        Ok::<_, ParseError<()>>((word, important))
    }) {
        return Ok((
            properties.into_iter().map(|p| (p, Value::Wide(wide.0))).collect(),
            wide.1,
        ));
    }
    let parsed = input.try_parse(|i| {
        let values = parse(name, &properties, i, nth)?;
        let important = i.try_parse(parse_important).is_ok();
        i.expect_exhausted()?;
        Ok::<_, ParseError<()>>((values, important))
    });
    if let Ok(done) = parsed {
        return Ok(done);
    }
    // A value with a variable is valid whatever stands beside it (CSS Variables 1, section 3).
    input.reset(&start);
    let (variable, end, important, urls) = survey(input, nth)?;
    if !variable {
        return Err(ParseError::unexpected_token());
    }
    let text = Text {
        text: input.slice(at..end).into(),
        urls: urls
            .iter()
            .map(|(offset, nth)| ((offset - at.byte_index()) as u32, *nth))
            .collect(),
    };
    let value = |p| {
        (
            p,
            Value::Var {
                name: name.into(),
                text: text.clone(),
            },
        )
    };
    Ok((properties.into_iter().map(value).collect(), important))
}

fn wide(word: &str) -> Option<Wide> {
    Some(match word.to_ascii_lowercase().as_str() {
        "inherit" => Wide::Inherit,
        "initial" => Wide::Initial,
        "unset" => Wide::Unset,
        "revert" => Wide::Revert,
        "revert-layer" => Wide::RevertLayer,
        _ => return None,
    })
}

type Survey = (bool, cssparser::SourcePosition, bool, Vec<(usize, u32)>);

/// Runs over a value without understanding it: is there a `var()`, where does it end before `!important`, which
/// URLs does it hold.
fn survey(input: &mut Parser<'_>, nth: Numbering) -> Result<Survey> {
    let mut variable = false;
    let mut urls = Vec::new();
    let mut end = input.position();
    loop {
        if input
            .try_parse(|i| {
                parse_important(i)?;
                i.expect_exhausted()
            })
            .is_ok()
        {
            return Ok((variable, end, true, urls));
        }
        if !walk(input, nth, false, &mut variable, &mut urls)? {
            return Ok((variable, end, false, urls));
        }
        end = input.position();
    }
}

/// One token and what is nested in it; false at the end.
fn walk(
    input: &mut Parser<'_>,
    nth: Numbering,
    set: bool,
    variable: &mut bool,
    urls: &mut Vec<(usize, u32)>,
) -> Result<bool> {
    input.skip_whitespace();
    let at = input.position().byte_index();
    let Ok(token) = input.next() else { return Ok(false) };
    let nested_set = match token {
        Token::UnquotedUrl(_) => {
            urls.push((at, nth(at)));
            return Ok(true);
        }
        Token::QuotedString(_) => {
            if set {
                urls.push((at, nth(at)));
            }
            return Ok(true);
        }
        Token::BadUrl(_)
        | Token::BadString(_)
        | Token::CloseParenthesis
        | Token::CloseSquareBracket
        | Token::CloseCurlyBracket
        | Token::Delim('!')
        | Token::Semicolon => return Err(ParseError::unexpected_token()),
        Token::Function(name) => {
            if name.eq_ignore_ascii_case("url") || name.eq_ignore_ascii_case("src") {
                urls.push((at, nth(at)));
            }
            *variable |= name.eq_ignore_ascii_case("var")
                || name.eq_ignore_ascii_case("env")
                || name.eq_ignore_ascii_case("attr");
            name.eq_ignore_ascii_case("image-set") || name.eq_ignore_ascii_case("-webkit-image-set")
        }
        Token::ParenthesisBlock | Token::SquareBracketBlock | Token::CurlyBracketBlock => false,
        _ => return Ok(true),
    };
    input.parse_nested_block(|i| {
        while walk(i, nth, nested_set, variable, urls)? {}
        Ok(())
    })?;
    Ok(true)
}

fn parse(
    name: &str,
    properties: &[Property],
    input: &mut Parser<'_>,
    nth: Numbering,
) -> Result<Vec<(Property, Value)>> {
    let value = match name {
        "background" | "background-image" | "mask" | "mask-image" | "-webkit-mask" | "-webkit-mask-image" => {
            Value::Urls(super::layer::layers(name, input, nth)?.into())
        }
        "display" => Value::Display(display(input)?),
        "position" | "float" => {
            let word = input.expect_ident()?.to_ascii_lowercase();
            Value::OutOfFlow(match word.as_str() {
                "absolute" | "fixed" if name == "position" => true,
                "static" | "relative" | "sticky" | "-webkit-sticky" if name == "position" => false,
                "left" | "right" | "inline-start" | "inline-end" if name == "float" => true,
                "none" if name == "float" => false,
                _ => return Err(ParseError::unexpected_token()),
            })
        }
        "content" => return Ok(vec![(P::Content, content(input, nth)?)]),
        "font" => return super::family::shorthand(input),
        "font-family" => Value::Families(super::family::families(input)?.into()),
        "font-weight" => Value::Weight(super::family::weight(input)?),
        "font-style" => Value::Italic(super::family::italic(input)?),
        "animation" | "animation-name" | "-webkit-animation" | "-webkit-animation-name" => {
            Value::Names(names(input)?.into())
        }
        "all" => return Err(ParseError::unexpected_token()),
        "cursor" => Value::Urls(cursor(input, nth)?.into()),
        "filter" | "-webkit-filter" | "backdrop-filter" => Value::Urls(filter(input, nth)?.into()),
        "list-style-image" | "border-image-source" | "-webkit-mask-box-image-source" => {
            match input.try_parse(|i| i.expect_ident_matching("none")) {
                Ok(()) => Value::Urls(Box::from([])),
                Err(_) => Value::Urls(image(input, nth)?.into()),
            }
        }
        "border-image" | "-webkit-border-image" | "-webkit-mask-box-image" => {
            // Slices are numbers or percentages; lengths come behind a slash.
            let start = input.state();
            let urls = components(input, nth)?;
            let end = input.position();
            input.reset(&start);
            while input.position() < end {
                match input.next()? {
                    Token::Delim('/') => break,
                    Token::Dimension { .. } => return Err(ParseError::unexpected_token()),
                    _ => {}
                }
            }
            while input.position() < end {
                input.next()?;
            }
            Value::Urls(urls.into())
        }
        _ => Value::Urls(components(input, nth)?.into()),
    };
    Ok(properties.iter().map(|p| (p.clone(), value.clone())).collect())
}

/// CSS Display 3, section 2; only what decides about boxes is kept.
fn display(input: &mut Parser<'_>) -> Result<Display> {
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

fn content(input: &mut Parser<'_>, nth: Numbering) -> Result<Value> {
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
fn names(input: &mut Parser<'_>) -> Result<Vec<Box<str>>> {
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
fn cursor(input: &mut Parser<'_>, nth: Numbering) -> Result<Vec<Url>> {
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

fn filter(input: &mut Parser<'_>, nth: Numbering) -> Result<Vec<Url>> {
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
fn components(input: &mut Parser<'_>, nth: Numbering) -> Result<Vec<Url>> {
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

pub(super) fn rest(input: &mut Parser<'_>) -> Result<()> {
    while input.next().is_ok() {}
    Ok(())
}
