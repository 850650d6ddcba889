//! `font-family`, `font-weight`, `font-style` and the `font` shorthand (CSS Fonts 4).

use cssparser::{ParseError, Parser, Token};

use super::value::{Family, Property, Result, Value, Weight, rest};

/// Names that stand for a font of the system, whatever is installed.
const GENERIC: [&str; 14] = [
    "serif",
    "sans-serif",
    "monospace",
    "cursive",
    "fantasy",
    "system-ui",
    "ui-serif",
    "ui-sans-serif",
    "ui-monospace",
    "ui-rounded",
    "math",
    "emoji",
    "fangsong",
    "-webkit-body",
];

pub(super) fn families(input: &mut Parser<'_>) -> Result<Vec<Family>> {
    let mut families = Vec::new();
    loop {
        if let Ok(name) = input.try_parse(|i| i.expect_string_cloned()) {
            families.push(Family {
                name: name.to_lowercase().into(),
                generic: false,
            });
        } else if input.try_parse(|i| i.expect_function_matching("generic")).is_ok() {
            input.parse_nested_block(rest)?;
            families.push(Family {
                name: "".into(),
                generic: true,
            });
        } else {
            let mut name = input.expect_ident_cloned()?.to_lowercase();
            let mut words = 1;
            while let Ok(word) = input.try_parse(|i| i.expect_ident_cloned()) {
                name.push(' ');
                name.push_str(&word.to_lowercase());
                words += 1;
            }
            let generic = words == 1 && GENERIC.contains(&name.as_str());
            families.push(Family {
                name: name.into(),
                generic,
            });
        }
        if input.try_parse(|i| i.expect_comma()).is_err() {
            return Ok(families);
        }
    }
}

pub(super) fn weight(input: &mut Parser<'_>) -> Result<Weight> {
    match input.next()? {
        Token::Number { value, .. } if (1.0..=1000.0).contains(value) => Ok(Weight::Number(*value)),
        Token::Ident(word) => Ok(match word.to_ascii_lowercase().as_str() {
            "normal" => Weight::Number(400.0),
            "bold" => Weight::Number(700.0),
            "bolder" => Weight::Bolder,
            "lighter" => Weight::Lighter,
            _ => return Err(ParseError::unexpected_token()),
        }),
        _ => Err(ParseError::unexpected_token()),
    }
}

/// Whether the style is italic or oblique.
pub(super) fn italic(input: &mut Parser<'_>) -> Result<bool> {
    let word = input.expect_ident()?.to_ascii_lowercase();
    match word.as_str() {
        "normal" => Ok(false),
        "italic" => Ok(true),
        "oblique" => {
            while input
                .try_parse(|i| match i.next()? {
                    Token::Dimension { .. } | Token::Number { .. } => Ok(()),
                    _ => Err(ParseError::<()>::unexpected_token()),
                })
                .is_ok()
            {}
            Ok(true)
        }
        _ => Err(ParseError::unexpected_token()),
    }
}

/// `font: [style || variant || weight || stretch]? size [/ line-height]? families`, or a system font.
pub(super) fn shorthand(input: &mut Parser<'_>) -> Result<Vec<(Property, Value)>> {
    let (mut slanted, mut heavy) = (false, Weight::Number(400.0));
    let done = |families: Vec<Family>, heavy, slanted| {
        vec![
            (Property::FontFamily, Value::Families(families.into())),
            (Property::FontWeight, Value::Weight(heavy)),
            (Property::FontStyle, Value::Italic(slanted)),
        ]
    };
    loop {
        match input.next()?.clone() {
            Token::Ident(word) => match word.to_ascii_lowercase().as_str() {
                "caption" | "icon" | "menu" | "message-box" | "small-caption" | "status-bar" => {
                    return Ok(done(Vec::new(), heavy, slanted));
                }
                "italic" | "oblique" => slanted = true,
                "bold" => heavy = Weight::Number(700.0),
                "bolder" => heavy = Weight::Bolder,
                "lighter" => heavy = Weight::Lighter,
                "normal" | "small-caps" | "ultra-condensed" | "extra-condensed" | "condensed"
                | "semi-condensed" | "semi-expanded" | "expanded" | "extra-expanded" | "ultra-expanded" => {}
                "xx-small" | "x-small" | "small" | "medium" | "large" | "x-large" | "xx-large"
                | "xxx-large" | "larger" | "smaller" | "math" => break,
                _ => return Err(ParseError::unexpected_token()),
            },
            Token::Number { value: 0.0, .. } | Token::Percentage { .. } => break,
            Token::Number { value, .. } if (1.0..=1000.0).contains(&value) => heavy = Weight::Number(value),
            Token::Dimension { unit, .. } if super::layer::is_unit(&unit) => break,
            Token::Function(_) => {
                input.parse_nested_block(rest)?;
                break;
            }
            _ => return Err(ParseError::unexpected_token()),
        }
    }
    if input.try_parse(|i| i.expect_delim('/')).is_ok() {
        match input.next()?.clone() {
            Token::Function(_) => input.parse_nested_block(rest)?,
            Token::Number { .. } | Token::Percentage { .. } | Token::Ident(_) => {}
            Token::Dimension { unit, .. } if super::layer::is_unit(&unit) => {}
            _ => return Err(ParseError::unexpected_token()),
        }
    }
    Ok(done(families(input)?, heavy, slanted))
}
