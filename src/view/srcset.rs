//! Which candidate of `srcset` Chromium takes (HTML standard, "selecting an image source"), on a 1x screen.

use cssparser::{ParseError, Parser, Token};

use super::Window;
use super::document::is_space;
use super::media::MediaList;

/// One image candidate string: URL and density.
#[derive(Debug, Clone, PartialEq)]
struct Candidate<'a> {
    url: &'a str,
    density: f64,
}

/// What is needed to turn `w` descriptors into densities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes<'a> {
    pub(super) sizes: Option<&'a str>,
    /// The width of a lazy image with `sizes=auto`, where the markup tells it.
    pub(super) auto: Option<f64>,
    pub(super) window: Window,
}

/// The chosen URL. `src` is the 1x candidate unless there is one, or a `w` descriptor.
pub(super) fn select<'a>(srcset: &'a str, src: Option<&'a str>, sizes: Sizes<'_>) -> Option<&'a str> {
    let mut candidates = candidates(srcset, sizes);
    let widths = candidates.iter().any(|c| c.1);
    if let Some(src) = src
        && !src.trim_matches(is_space).is_empty()
        && !widths
        && !candidates.iter().any(|c| c.0.density == 1.0)
    {
        candidates.push((
            Candidate {
                url: src,
                density: 1.0,
            },
            false,
        ));
    }
    // Chromium sorts by density, drops later equals, and takes the first that is not below the screen's density.
    candidates.sort_by(|a, b| a.0.density.total_cmp(&b.0.density));
    candidates.dedup_by(|later, earlier| later.0.density == earlier.0.density);
    let best = candidates
        .iter()
        .find(|c| c.0.density >= 1.0)
        .or(candidates.last());
    best.map(|c| c.0.url)
}

/// HTML standard, "parse a srcset attribute"; the flag tells a `w` descriptor.
fn candidates<'a>(srcset: &'a str, sizes: Sizes<'_>) -> Vec<(Candidate<'a>, bool)> {
    let mut found = Vec::new();
    let mut size = None;
    let mut rest = srcset;
    loop {
        rest = rest.trim_start_matches(|c| is_space(c) || c == ',');
        if rest.is_empty() {
            return found;
        }
        let end = rest.find(is_space).unwrap_or(rest.len());
        let mut url = &rest[..end];
        rest = &rest[end..];
        let mut descriptors = "";
        if url.ends_with(',') {
            url = url.trim_end_matches(',');
        } else {
            // Up to a comma that is not in parentheses.
            let mut open = false;
            let end = rest
                .bytes()
                .position(|b| {
                    open = (open || b == b'(') && b != b')';
                    b == b',' && !open
                })
                .unwrap_or(rest.len());
            descriptors = &rest[..end];
            rest = &rest[end..];
        }
        let (mut width, mut density, mut height, mut valid) = (None, None, false, true);
        for descriptor in descriptors.split(is_space).filter(|d| !d.is_empty()) {
            let number =
                &descriptor[..descriptor.len() - descriptor.chars().next_back().map_or(0, char::len_utf8)];
            match descriptor.as_bytes().last() {
                Some(b'w') if width.is_none() && density.is_none() => match number.parse::<u32>() {
                    Ok(w) if w > 0 && number.bytes().all(|b| b.is_ascii_digit()) => {
                        width = Some(f64::from(w))
                    }
                    _ => valid = false,
                },
                Some(b'x') if width.is_none() && density.is_none() && !height => {
                    match number.parse::<f64>() {
                        Ok(d) if d >= 0.0 && d.is_finite() && !number.starts_with('+') => density = Some(d),
                        _ => valid = false,
                    }
                }
                Some(b'h') if !height && density.is_none() => match number.parse::<u32>() {
                    Ok(h) if h > 0 => height = true,
                    _ => valid = false,
                },
                _ => valid = false,
            }
        }
        if !valid || height && width.is_none() || url.is_empty() {
            continue;
        }
        let density = match width {
            Some(width) => width / *size.get_or_insert_with(|| source_size(sizes)),
            None => density.unwrap_or(1.0),
        };
        found.push((Candidate { url, density }, width.is_some()));
    }
}

/// HTML standard, "parse a sizes attribute"; `100vw` where nothing fits.
fn source_size(sizes: Sizes<'_>) -> f64 {
    let window = sizes.window;
    let text = sizes.sizes.unwrap_or("");
    if text
        .trim_matches(is_space)
        .get(..4)
        .is_some_and(|s| s.eq_ignore_ascii_case("auto"))
    {
        if let Some(width) = sizes.auto {
            return width;
        }
    }
    let mut input = Parser::new(text);
    let found = input.parse_comma_separated(|input| {
        let start = input.position();
        let mut last = start;
        loop {
            input.skip_whitespace();
            let at = input.position();
            if input.next().is_err() {
                break;
            }
            last = at;
        }
        let condition = input.slice(start..last).trim();
        let length = length(&mut Parser::new(input.slice_from(last)), window);
        Ok::<_, ParseError<()>>(
            length.filter(|_| condition.is_empty() || MediaList::parse(condition).matches(window)),
        )
    });
    let size = found.unwrap_or_default().into_iter().flatten().next();
    size.unwrap_or(f64::from(window.width)).max(0.0)
}

fn length(input: &mut Parser<'_>, window: Window) -> Option<f64> {
    let unit = |value: f64, unit: &str| super::length::pixels(value, unit, window);
    match input.next().ok()?.clone() {
        Token::Dimension {
            value, unit: name, ..
        } => unit(f64::from(value), &name).filter(|v| *v >= 0.0),
        Token::Number { value: 0.0, .. } => Some(0.0),
        Token::Function(name) => {
            let text = input
                .parse_nested_block(|i| {
                    let start = i.position();
                    while i.next().is_ok() {}
                    Ok::<_, ParseError<()>>(i.slice_from(start))
                })
                .ok()?;
            super::length::calculate(&name, text, &unit)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_chromium_does() {
        let check = |srcset: &str, sizes: Option<&str>, src: Option<&str>, expected: Option<&str>| {
            let sizes = Sizes {
                sizes,
                auto: None,
                window: Window {
                    width: 1280,
                    height: 900,
                },
            };
            assert_eq!(select(srcset, src, sizes), expected, "{srcset} {sizes:?}");
        };
        check("l1 300w,l2 1280w,l3 2000w", Some("100vw"), Some("l"), Some("l2"));
        check(
            "m1 300w,m2 600w",
            Some("(max-width:500px) 100vw, 300px"),
            Some("m"),
            Some("m1"),
        );
        check("n 2x", None, Some("n1"), Some("n1"));
        check("o1 1x,o2 2x", None, None, Some("o1,o2"));
        check("o1 1x, o2 2x", None, None, Some("o1"));
        check("p1 100w, p2 1300w", None, None, Some("p2"));
        check("u 1x, v 1x", None, Some("u1"), Some("u"));
        check(
            "y1 500w, y2 1000w, y3 1500w",
            Some("calc(50vw - 100px)"),
            None,
            Some("y2"),
        );
        check("a1 1279w,a2 1281w", None, None, Some("a2"));
        check("b1 1200w,b2 2600w", None, None, Some("b2"));
        check("d1 .9x,d2 3x", None, None, Some("d2"));
        check("e1 .5x", None, Some("e"), Some("e"));
        check("f1 640w,f2 1000w", Some("50em"), None, Some("f2"));
        check("g1 10h", None, None, None);
        check("h1 1x 2w, h2", None, None, Some("h2"));
        check("i1, i2 2x", None, None, Some("i1"));
        check(
            "data:image/png;base64,AAA 1x, j2 2x",
            None,
            None,
            Some("data:image/png;base64,AAA"),
        );
        check(",, a 1x", None, None, Some("a"));
        check("", None, Some("s"), Some("s"));
        check("a 100w", Some(""), Some("s"), Some("a"));
        check("a 1x (b, c), d 2x", None, None, Some("d"));
    }
}
