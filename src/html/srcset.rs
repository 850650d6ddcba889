//! The `srcset` attribute, by the parser of the HTML standard (4.8.4.3.10).

use std::ops::Range;

use super::tokens::is_space;

/// One image candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub url: String,
    /// Where `url` stands in the attribute's decoded value, in bytes.
    pub span: Range<usize>,
    /// The `w` descriptor, in pixels.
    pub width: Option<u32>,
    /// The `x` descriptor; a candidate without any descriptor counts as `1x`.
    pub density: Option<f64>,
}

/// The candidates of `value` in order; those with wrong descriptors are left out, as browsers do.
pub fn srcset(value: &str) -> Vec<Candidate> {
    let bytes = value.as_bytes();
    let mut candidates = Vec::new();
    let mut at = 0;
    loop {
        at += run(&bytes[at..], |b| is_space(b) || b == b',');
        if at == bytes.len() {
            return candidates;
        }
        let start = at;
        at += run(&bytes[at..], |b| !is_space(b));
        let url = value[start..at].trim_end_matches(',');
        let span = start..start + url.len();
        let descriptors = if span.end < at {
            Vec::new()
        } else {
            let (found, past) = descriptors(value, at);
            at = past;
            found
        };
        if let Some((width, density)) = read(&descriptors) {
            candidates.push(Candidate {
                url: url.to_owned(),
                span,
                width,
                density,
            });
        }
    }
}

/// The descriptor tokenizer: white space separates, a comma ends, parentheses (not nested) protect both.
fn descriptors(value: &str, from: usize) -> (Vec<&str>, usize) {
    let bytes = value.as_bytes();
    let (mut found, mut start, mut in_parentheses) = (Vec::new(), from, false);
    let mut end = bytes.len();
    for (at, &b) in bytes.iter().enumerate().skip(from) {
        match b {
            b'(' => in_parentheses = true,
            b')' => in_parentheses = false,
            _ if in_parentheses => {}
            b',' => {
                end = at;
                break;
            }
            b if is_space(b) => {
                found.push(&value[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&value[start.min(end)..end]);
    found.retain(|descriptor| !descriptor.is_empty());
    (found, (end + 1).min(bytes.len()))
}

/// Width and density, or nothing if the standard's "error" flag would be set.
fn read(descriptors: &[&str]) -> Option<(Option<u32>, Option<f64>)> {
    let (mut width, mut density, mut height) = (None, None, false);
    for descriptor in descriptors {
        let (number, unit) = descriptor.split_at_checked(descriptor.len() - 1)?;
        match unit {
            "w" if width.is_none() && density.is_none() => width = Some(integer(number)?),
            "x" if width.is_none() && density.is_none() && !height => density = Some(float(number)?),
            "h" if !height && density.is_none() => {
                integer(number)?;
                height = true;
            }
            _ => return None,
        }
    }
    if height && width.is_none() {
        None
    } else {
        Some((width, density))
    }
}

/// A valid non-negative integer that is not zero.
fn integer(text: &str) -> Option<u32> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) || text.bytes().all(|b| b == b'0') {
        return None;
    }
    Some(text.parse().unwrap_or(u32::MAX))
}

/// A valid floating-point number (2.3.4.3) that is not negative. Rust reads more (`inf`, `1.`, `+1`).
fn float(text: &str) -> Option<f64> {
    let mantissa = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match mantissa.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.strip_prefix(['-', '+']).unwrap_or(exponent)),
        None => (mantissa, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let valid =
        digits(whole) && digits(fraction) && digits(exponent) && !fraction.is_empty() && !exponent.is_empty();
    if !valid || (whole.is_empty() && !mantissa.starts_with('.')) {
        return None;
    }
    text.parse()
        .ok()
        .filter(|&number: &f64| number >= 0.0 && number.is_finite())
}

fn run(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&b| !is(b)).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: &[(&str, Option<u32>, Option<f64>)]) {
        let found = srcset(value);
        for candidate in &found {
            assert_eq!(&value[candidate.span.clone()], candidate.url);
        }
        let found: Vec<_> = found
            .iter()
            .map(|c| (c.url.as_str(), c.width, c.density))
            .collect();
        assert_eq!(found, expected, "{value:?}");
    }

    #[test]
    fn urls_run_to_white_space() {
        check("", &[]);
        check(" , ,", &[]);
        check("a.png", &[("a.png", None, None)]);
        check("a.png,", &[("a.png", None, None)]);
        check("a.png,,,", &[("a.png", None, None)]);
        check(
            "a.png, b.png 2x",
            &[("a.png", None, None), ("b.png", None, Some(2.0))],
        );
        check("a.png,b.png 2x", &[("a.png,b.png", None, Some(2.0))]);
        check(
            "data:image/gif;base64,R0== 1x,b 2x",
            &[
                ("data:image/gif;base64,R0==", None, Some(1.0)),
                ("b", None, Some(2.0)),
            ],
        );
        check(
            "\n a 1x\t,\r\n b\x0c100w",
            &[("a", None, Some(1.0)), ("b", Some(100), None)],
        );
        check("\u{e9}.png 1x", &[("\u{e9}.png", None, Some(1.0))]);
        check("a\u{a0}1x", &[("a\u{a0}1x", None, None)]);
    }

    #[test]
    fn descriptors_that_count() {
        check("a 100w 50h", &[("a", Some(100), None)]);
        check("a 50h 100w", &[("a", Some(100), None)]);
        check("a 0x", &[("a", None, Some(0.0))]);
        check("a .5x", &[("a", None, Some(0.5))]);
        check("a 1e1x", &[("a", None, Some(10.0))]);
        check("a -0x", &[("a", None, Some(-0.0))]);
    }

    #[test]
    fn candidates_with_wrong_descriptors_are_dropped() {
        for wrong in [
            "a 0w",
            "a 1.5w",
            "a -1w",
            "a +1w",
            "a 1w 2w",
            "a 1x 2x",
            "a 1w 1x",
            "a 1x 1w",
            "a 50h",
            "a 1x 50h",
            "a 50h 1x",
            "a w",
            "a x",
            "a 1.x",
            "a +1x",
            "a infx",
            "a nanx",
            "a -1x",
            "a 1",
            "a 1X",
            "a (1x, b 2x)",
            "a 1x(",
            "a \u{e9}",
        ] {
            check(wrong, &[]);
        }
        check("a (x, y) , b 2x", &[("b", None, Some(2.0))]);
        check("a 0w, b 1x", &[("b", None, Some(1.0))]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(value in "[a-z0-9 ,.()xwhe\u{e9}-]{0,60}") {
            for candidate in srcset(&value) {
                proptest::prop_assert_eq!(&value[candidate.span.clone()], candidate.url);
            }
        }
    }
}
