//! The `background` and `mask` shorthands and their image lists, with the grammar checked closely enough that
//! hacks for old browsers fall out as they do in Chromium.

use cssparser::color::parse_named_color;
use cssparser::{ParseError, Parser, Token};

use super::image::{Url, image};
use super::value::{Numbering, Result, rest};

pub(super) fn layers(name: &str, input: &mut Parser<'_>, nth: Numbering) -> Result<Vec<Url>> {
    let mut urls = Vec::new();
    loop {
        let coloured = if name.ends_with("-image") {
            if input.try_parse(|i| i.expect_ident_matching("none")).is_err() {
                urls.extend(image(input, nth)?);
            }
            false
        } else {
            layer(name == "background", input, nth, &mut urls)?
        };
        // Only the last layer of a background has a colour.
        if input.try_parse(|i| i.expect_comma()).is_err() {
            return Ok(urls);
        }
        if coloured {
            return Err(ParseError::unexpected_token());
        }
    }
}

/// CSS Backgrounds 3, section 2.10; tells whether there was a colour.
fn layer(background: bool, input: &mut Parser<'_>, nth: Numbering, urls: &mut Vec<Url>) -> Result<bool> {
    let (mut images, mut colours, mut repeats, mut boxes, mut attachments) = (0, 0, 0, 0, 0);
    let mut position = Position::default();
    let mut any = false;
    loop {
        if let Ok(found) = input.try_parse(|i| image(i, nth)) {
            urls.extend(found);
            images += 1;
            any = true;
            continue;
        }
        let state = input.state();
        let token = match input.next() {
            Ok(token) => token.clone(),
            Err(_) => break,
        };
        match &token {
            Token::Ident(word) => match word.to_ascii_lowercase().as_str() {
                "none" => images += 1,
                "repeat-x" | "repeat-y" => repeats += 2,
                "repeat" | "no-repeat" | "space" | "round" => repeats += 1,
                "left" | "right" => position.horizontal += 1,
                "top" | "bottom" => position.vertical += 1,
                "center" => position.centers += 1,
                "scroll" | "fixed" | "local" if background => attachments += 1,
                "border-box" | "padding-box" | "content-box" => boxes += 1,
                "text" | "border-area" if background => boxes += 1,
                "fill-box" | "stroke-box" | "view-box" | "no-clip" if !background => boxes += 1,
                "add" | "subtract" | "intersect" | "exclude" | "alpha" | "luminance" | "match-source"
                    if !background => {}
                word if background && is_colour_word(word) => colours += 1,
                _ => return Err(ParseError::unexpected_token()),
            },
            Token::Hash(hex) | Token::IDHash(hex) if background => {
                if !matches!(hex.len(), 3 | 4 | 6 | 8) || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return Err(ParseError::unexpected_token());
                }
                colours += 1;
            }
            Token::Function(name) if background && is_colour_function(name) => {
                input.parse_nested_block(rest)?;
                colours += 1;
            }
            Token::Delim('/') if position.count() > 0 => size(input)?,
            Token::Comma | Token::Delim('!') => {
                input.reset(&state);
                break;
            }
            _ => {
                input.reset(&state);
                length(input)?;
                position.lengths += 1;
            }
        }
        any = true;
    }
    let fits =
        images <= 1 && colours <= 1 && repeats <= 2 && position.is_valid() && boxes <= 2 && attachments <= 1;
    if any && fits {
        Ok(colours > 0)
    } else {
        Err(ParseError::unexpected_token())
    }
}

/// The parts of a `<position>`, wherever they stood.
#[derive(Default)]
struct Position {
    horizontal: u32,
    vertical: u32,
    centers: u32,
    lengths: u32,
}

impl Position {
    fn count(&self) -> u32 {
        self.horizontal + self.vertical + self.centers + self.lengths
    }

    /// CSS Backgrounds 3, section 2.6: lengths alone are two at most; beyond that each belongs to a side.
    fn is_valid(&self) -> bool {
        let words = self.horizontal + self.vertical + self.centers;
        self.horizontal <= 1
            && self.vertical <= 1
            && match self.count() {
                0..=2 => true,
                3 => words == 2 && self.lengths == 1,
                4 => words == 2 && self.lengths == 2 && self.centers == 0,
                _ => false,
            }
    }
}

fn size(input: &mut Parser<'_>) -> Result<()> {
    let one = |i: &mut Parser<'_>| match i.try_parse(|i| i.expect_ident_cloned()) {
        Ok(word) => {
            if matches!(word.to_ascii_lowercase().as_str(), "auto" | "cover" | "contain") {
                Ok(())
            } else {
                Err(ParseError::<()>::unexpected_token())
            }
        }
        Err(_) => length(i),
    };
    one(input)?;
    let _ = input.try_parse(one);
    Ok(())
}

/// A length or percentage. A number other than 0 is none, in quirks mode neither (inside a shorthand).
fn length(input: &mut Parser<'_>) -> Result<()> {
    match input.next()?.clone() {
        Token::Number { value: 0.0, .. } | Token::Percentage { .. } => Ok(()),
        Token::Dimension { unit, .. } if is_unit(&unit) => Ok(()),
        Token::Function(name)
            if matches!(
                name.to_ascii_lowercase().as_str(),
                "calc"
                    | "min"
                    | "max"
                    | "clamp"
                    | "-webkit-calc"
                    | "round"
                    | "mod"
                    | "rem"
                    | "abs"
                    | "anchor"
            ) =>
        {
            input.parse_nested_block(rest)
        }
        _ => Err(ParseError::unexpected_token()),
    }
}

pub(super) fn is_unit(unit: &str) -> bool {
    let unit = unit.to_ascii_lowercase();
    super::length::pixels(1.0, &unit, super::Window { width: 1, height: 1 }).is_some()
        || matches!(
            unit.as_str(),
            "cqw"
                | "cqh"
                | "cqi"
                | "cqb"
                | "cqmin"
                | "cqmax"
                | "deg"
                | "rad"
                | "grad"
                | "turn"
                | "s"
                | "ms"
                | "fr"
                | "rcap"
                | "x"
                | "dppx"
                | "dpi"
                | "dpcm"
        )
}

fn is_colour_word(word: &str) -> bool {
    parse_named_color(word).is_ok()
        || matches!(
            word,
            "transparent"
                | "currentcolor"
                | "accentcolor"
                | "accentcolortext"
                | "activetext"
                | "buttonborder"
                | "buttonface"
                | "buttontext"
                | "canvas"
                | "canvastext"
                | "field"
                | "fieldtext"
                | "graytext"
                | "highlight"
                | "highlighttext"
                | "linktext"
                | "mark"
                | "marktext"
                | "selecteditem"
                | "selecteditemtext"
                | "visitedtext"
                | "activeborder"
                | "activecaption"
                | "appworkspace"
                | "background"
                | "buttonhighlight"
                | "buttonshadow"
                | "captiontext"
                | "inactiveborder"
                | "inactivecaption"
                | "inactivecaptiontext"
                | "infobackground"
                | "infotext"
                | "menu"
                | "menutext"
                | "scrollbar"
                | "threeddarkshadow"
                | "threedface"
                | "threedhighlight"
                | "threedlightshadow"
                | "threedshadow"
                | "window"
                | "windowframe"
                | "windowtext"
                | "-webkit-link"
                | "-webkit-activelink"
                | "-webkit-focus-ring-color"
                | "-webkit-text"
        )
}

fn is_colour_function(name: &str) -> bool {
    matches!(
        name.to_ascii_lowercase().as_str(),
        "rgb"
            | "rgba"
            | "hsl"
            | "hsla"
            | "hwb"
            | "lab"
            | "lch"
            | "oklab"
            | "oklch"
            | "color"
            | "color-mix"
            | "light-dark"
            | "contrast-color"
            | "device-cmyk"
    )
}
