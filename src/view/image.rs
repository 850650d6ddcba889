//! `<image>` values (CSS Images 4) and the URL that a 1x screen takes from them.

use cssparser::{ParseError, Parser, Token};

use super::value::{Numbering, Result, rest};

/// A URL of a sheet as written, with its number among all URLs of the sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) raw: Box<str>,
    pub(super) nth: u32,
}

/// What the image requests. Tried in Chromium 156: `cross-fade()`, `image()` and `src()` are not supported,
/// `-webkit-cross-fade()` fetches both sides.
pub(super) fn image(input: &mut Parser<'_>, nth: Numbering) -> Result<Vec<Url>> {
    if let Ok(url) = input.try_parse(|i| url(i, nth)) {
        return Ok(vec![url]);
    }
    let Token::Function(name) = input.next()?.clone() else {
        return Err(ParseError::unexpected_token());
    };
    if is_gradient(&name) {
        input.parse_nested_block(rest)?;
        return Ok(Vec::new());
    }
    match name.to_ascii_lowercase().as_str() {
        "image-set" | "-webkit-image-set" => input.parse_nested_block(|i| image_set(i, nth)),
        "-webkit-cross-fade" => input.parse_nested_block(|i| {
            let mut urls = Vec::new();
            for _ in 0..2 {
                if i.try_parse(|i| i.expect_ident_matching("none")).is_err() {
                    urls.extend(image(i, nth)?);
                }
                i.expect_comma()?;
            }
            rest(i)?;
            Ok(urls)
        }),
        _ => Err(ParseError::unexpected_token()),
    }
}

fn url(input: &mut Parser<'_>, nth: Numbering) -> Result<Url> {
    input.skip_whitespace();
    let at = input.position().byte_index();
    match input.next()?.clone() {
        Token::UnquotedUrl(raw) => Ok(Url {
            raw: Box::from(&*raw),
            nth: nth(at),
        }),
        Token::Function(name) if name.eq_ignore_ascii_case("url") => {
            let raw = input.parse_nested_block(|i| {
                let raw = Box::from(&**i.expect_string()?);
                rest(i)?;
                Ok::<_, ParseError<()>>(raw)
            })?;
            Ok(Url { raw, nth: nth(at) })
        }
        _ => Err(ParseError::unexpected_token()),
    }
}

pub(super) fn is_gradient(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let plain = name.strip_prefix("-webkit-").unwrap_or(&name);
    match plain.strip_prefix("repeating-").unwrap_or(plain) {
        "linear-gradient" | "radial-gradient" => true,
        "conic-gradient" => plain == name,
        "gradient" => plain != name,
        _ => false,
    }
}

/// CSS Images 4, section 2.4: options of an unknown type are skipped; of the rest Chromium takes the smallest
/// resolution that is not below the screen's, or else the largest; the first of equals.
fn image_set(input: &mut Parser<'_>, nth: Numbering) -> Result<Vec<Url>> {
    let options = input.parse_comma_separated(|input| {
        input.skip_whitespace();
        let at = input.position().byte_index();
        let urls = match input.try_parse(|i| i.expect_string_cloned()) {
            Ok(raw) => vec![Url {
                raw: Box::from(&*raw),
                nth: nth(at),
            }],
            Err(_) => image(input, nth)?,
        };
        let (mut density, mut known) = (1.0, true);
        while !input.is_exhausted() {
            match input.next()?.clone() {
                Token::Dimension { value, unit, .. } => {
                    density = match unit.to_ascii_lowercase().as_str() {
                        "x" | "dppx" => value,
                        "dpi" => value / 96.0,
                        "dpcm" => value * 2.54 / 96.0,
                        _ => return Err(ParseError::unexpected_token()),
                    };
                }
                Token::Function(name) if name.eq_ignore_ascii_case("type") => {
                    let media =
                        input.parse_nested_block(|i| Ok::<_, ParseError<()>>(i.expect_string_cloned()?))?;
                    known = is_image_type(&media);
                }
                Token::Function(_) => input.parse_nested_block(rest)?,
                _ => return Err(ParseError::unexpected_token()),
            }
        }
        Ok((density, known, urls))
    })?;
    let mut best: Option<(f32, Vec<Url>)> = None;
    for (density, known, urls) in options {
        let better = known
            && match &best {
                None => true,
                Some((so_far, _)) if *so_far < 1.0 => density > *so_far,
                Some((so_far, _)) => density >= 1.0 && density < *so_far,
            };
        if better {
            best = Some((density, urls));
        }
    }
    Ok(best.map(|(_, urls)| urls).unwrap_or_default())
}

/// Image types that Chromium 156 shows.
pub(super) fn is_image_type(media: &str) -> bool {
    let media = media.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    matches!(
        media.as_str(),
        "image/png"
            | "image/apng"
            | "image/jpeg"
            | "image/jpg"
            | "image/pjpeg"
            | "image/gif"
            | "image/webp"
            | "image/avif"
            | "image/jxl"
            | "image/svg+xml"
            | "image/bmp"
            | "image/x-ms-bmp"
            | "image/x-icon"
            | "image/vnd.microsoft.icon"
            | "image/x-png"
            | "image/x-xbitmap"
            | "image/x-bmp"
    )
}
