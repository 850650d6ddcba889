//! Lengths of media queries and of `sizes`: units and `calc()`, in CSS pixels.
//!
//! Fonts are at their initial size (16 px), since neither place sees the page's own.

use cssparser::{ParseError, Parser, Token};

use super::Window;

type Result<T> = std::result::Result<T, ParseError<()>>;

/// `None` for a unit that is no length.
pub(super) fn pixels(value: f64, unit: &str, window: Window) -> Option<f64> {
    let (width, height) = (f64::from(window.width), f64::from(window.height));
    Some(
        value
            * match unit.to_ascii_lowercase().as_str() {
                "px" => 1.0,
                "em" | "rem" | "ic" | "ric" => 16.0,
                "ex" | "ch" | "rex" | "rch" => 8.0,
                "cap" | "rcap" => 11.0,
                "lh" | "rlh" => 18.0,
                "in" => 96.0,
                "cm" => 96.0 / 2.54,
                "mm" => 96.0 / 25.4,
                "q" => 96.0 / 101.6,
                "pt" => 96.0 / 72.0,
                "pc" => 16.0,
                "vw" | "svw" | "lvw" | "dvw" | "vi" | "svi" | "lvi" | "dvi" => width / 100.0,
                "vh" | "svh" | "lvh" | "dvh" | "vb" | "svb" | "lvb" | "dvb" => height / 100.0,
                "vmin" | "svmin" | "lvmin" | "dvmin" => width.min(height) / 100.0,
                "vmax" | "svmax" | "lvmax" | "dvmax" => width.max(height) / 100.0,
                _ => return None,
            },
    )
}

/// A math function with these arguments (CSS Values 4, section 10); `unit` turns a dimension into a number.
pub(super) fn calculate(name: &str, arguments: &str, unit: &dyn Fn(f64, &str) -> Option<f64>) -> Option<f64> {
    let mut input = Parser::new(arguments);
    let value = function(&name.to_ascii_lowercase(), &mut input, unit).ok()?;
    (value.is_finite() && input.is_exhausted()).then_some(value)
}

fn function(name: &str, input: &mut Parser<'_>, unit: &dyn Fn(f64, &str) -> Option<f64>) -> Result<f64> {
    let values = input.parse_comma_separated(|input| sum(input, unit))?;
    match (name, values.as_slice()) {
        ("calc" | "-webkit-calc", [value]) => Ok(*value),
        ("min", all) => Ok(all.iter().copied().fold(f64::INFINITY, f64::min)),
        ("max", all) => Ok(all.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        ("clamp", [low, value, high]) => Ok(low.max(value.min(*high))),
        _ => Err(ParseError::unexpected_token()),
    }
}

fn sum(input: &mut Parser<'_>, unit: &dyn Fn(f64, &str) -> Option<f64>) -> Result<f64> {
    let mut total = product(input, unit)?;
    loop {
        let sign = input.try_parse(|i| match i.next() {
            Ok(Token::Delim('+')) => Ok(1.0),
            Ok(Token::Delim('-')) => Ok(-1.0),
            _ => Err(()),
        });
        match sign {
            Ok(sign) => total += sign * product(input, unit)?,
            Err(()) => return Ok(total),
        }
    }
}

fn product(input: &mut Parser<'_>, unit: &dyn Fn(f64, &str) -> Option<f64>) -> Result<f64> {
    let mut total = factor(input, unit)?;
    loop {
        let divide = input.try_parse(|i| match i.next() {
            Ok(Token::Delim('*')) => Ok(false),
            Ok(Token::Delim('/')) => Ok(true),
            _ => Err(()),
        });
        match divide {
            Ok(false) => total *= factor(input, unit)?,
            Ok(true) => total /= factor(input, unit)?,
            Err(()) => return Ok(total),
        }
    }
}

fn factor(input: &mut Parser<'_>, unit: &dyn Fn(f64, &str) -> Option<f64>) -> Result<f64> {
    match input.next()?.clone() {
        Token::Number { value, .. } => Ok(f64::from(value)),
        Token::Dimension {
            value, unit: name, ..
        } => unit(f64::from(value), &name).ok_or_else(ParseError::unexpected_token),
        Token::ParenthesisBlock => input.parse_nested_block(|i| sum(i, unit)),
        Token::Function(name) => {
            let name = name.to_ascii_lowercase();
            input.parse_nested_block(|i| function(&name, i, unit))
        }
        _ => Err(ParseError::unexpected_token()),
    }
}
