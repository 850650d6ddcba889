//! Conditional and range requests (RFC 9110, sections 13 and 14).
//!
//! In: the headers of a request, the tag, time and length of what would be sent. Out: whether it is sent, and which
//! part. A list of several ranges is answered with the whole, which every client must accept.

use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::header::{self, HeaderMap, HeaderName};

/// What becomes of an answer with a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Whole,
    Part(Range<u64>),
    /// 304
    Unchanged,
    /// 412
    Failed,
    /// 416
    Unsatisfiable,
}

/// Evaluates in the order of section 13.2.2.
pub(super) fn evaluate(
    headers: &HeaderMap,
    is_get: bool,
    tag: &str,
    modified: SystemTime,
    length: u64,
) -> Outcome {
    let modified = whole_seconds(modified);
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let time = |name: HeaderName| text(name).and_then(|value| httpdate::parse_http_date(value).ok());
    if let Some(tags) = text(header::IF_MATCH) {
        if !lists(tags, tag) {
            return Outcome::Failed;
        }
    } else if time(header::IF_UNMODIFIED_SINCE).is_some_and(|since| modified > since) {
        return Outcome::Failed;
    }
    if let Some(tags) = text(header::IF_NONE_MATCH) {
        if lists(tags, tag) {
            return Outcome::Unchanged;
        }
    } else if time(header::IF_MODIFIED_SINCE).is_some_and(|since| modified <= since) {
        return Outcome::Unchanged;
    }
    // A range means something to GET only (section 14.2).
    let Some(range) = text(header::RANGE).filter(|_| is_get) else {
        return Outcome::Whole;
    };
    let still_the_same = match text(header::IF_RANGE) {
        None => true,
        Some(known) if known.starts_with('"') => known == tag,
        Some(known) => httpdate::parse_http_date(known).is_ok_and(|since| modified == since),
    };
    if still_the_same {
        part(range, length)
    } else {
        Outcome::Whole
    }
}

/// HTTP dates have no fractions.
fn whole_seconds(time: SystemTime) -> SystemTime {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    UNIX_EPOCH + Duration::from_secs(since.as_secs())
}

/// Whether a list of tags has this one; weak tags compare as strong ones (section 8.8.3.2).
fn lists(tags: &str, tag: &str) -> bool {
    tags.trim() == "*"
        || tags
            .split(',')
            .map(str::trim)
            .any(|listed| listed.strip_prefix("W/").unwrap_or(listed) == tag)
}

/// The one range that is asked for. What is not understood is passed over (section 14.2).
fn part(range: &str, length: u64) -> Outcome {
    let Some((first, last)) = range
        .trim()
        .strip_prefix("bytes=")
        .filter(|ranges| !ranges.contains(','))
        .and_then(|range| range.trim().split_once('-'))
    else {
        return Outcome::Whole;
    };
    let number = |text: &str| -> Option<u64> {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        // So many digits mean more than any file has.
        digits.then(|| text.parse().unwrap_or(u64::MAX))
    };
    match (first, last) {
        ("", last) => match number(last) {
            Some(0) => Outcome::Unsatisfiable,
            Some(_) if length == 0 => Outcome::Unsatisfiable,
            Some(count) => Outcome::Part(length.saturating_sub(count)..length),
            None => Outcome::Whole,
        },
        (first, "") => match number(first) {
            Some(first) if first < length => Outcome::Part(first..length),
            Some(_) => Outcome::Unsatisfiable,
            None => Outcome::Whole,
        },
        (first, last) => match (number(first), number(last)) {
            (Some(first), Some(last)) if first > last => Outcome::Whole,
            (Some(first), Some(last)) if first < length => {
                Outcome::Part(first..last.saturating_add(1).min(length))
            }
            (Some(_), Some(_)) => Outcome::Unsatisfiable,
            _ => Outcome::Whole,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2015-10-21 07:28:00 and a half.
    const MODIFIED: Duration = Duration::from_millis(1_445_412_480_500);

    fn check(headers: &[(&'static str, &'static str)], expected: Outcome) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(HeaderName::from_static(name), value.parse().unwrap());
        }
        let outcome = evaluate(&map, true, "\"a-1\"", UNIX_EPOCH + MODIFIED, 10);
        assert_eq!(outcome, expected, "{headers:?}");
    }

    #[test]
    fn conditions() {
        const SAME: &str = "Wed, 21 Oct 2015 07:28:00 GMT";
        const BEFORE: &str = "Wed, 21 Oct 2015 07:27:59 GMT";
        check(&[("if-none-match", "\"a-1\"")], Outcome::Unchanged);
        check(&[("if-none-match", "\"x\", W/\"a-1\"")], Outcome::Unchanged);
        check(&[("if-none-match", "*")], Outcome::Unchanged);
        check(&[("if-none-match", "\"x\"")], Outcome::Whole);
        check(&[("if-modified-since", SAME)], Outcome::Unchanged);
        check(&[("if-modified-since", BEFORE)], Outcome::Whole);
        check(&[("if-modified-since", "yesterday")], Outcome::Whole);
        check(
            &[("if-none-match", "\"x\""), ("if-modified-since", SAME)],
            Outcome::Whole,
        );
        check(&[("if-match", "\"x\"")], Outcome::Failed);
        check(&[("if-match", "\"a-1\"")], Outcome::Whole);
        check(&[("if-unmodified-since", BEFORE)], Outcome::Failed);
        check(&[("if-unmodified-since", SAME)], Outcome::Whole);
        check(
            &[("range", "bytes=0-0"), ("if-range", "\"a-1\"")],
            Outcome::Part(0..1),
        );
        check(&[("range", "bytes=0-0"), ("if-range", "\"x\"")], Outcome::Whole);
        check(&[("range", "bytes=0-0"), ("if-range", SAME)], Outcome::Part(0..1));
        check(&[("range", "bytes=0-0"), ("if-range", BEFORE)], Outcome::Whole);
    }

    #[test]
    fn ranges() {
        let check = |range: &'static str, expected| check(&[("range", range)], expected);
        check("bytes=2-4", Outcome::Part(2..5));
        check("bytes=2-", Outcome::Part(2..10));
        check("bytes=-3", Outcome::Part(7..10));
        check("bytes=-99", Outcome::Part(0..10));
        check("bytes=9-99999999999999999999999", Outcome::Part(9..10));
        check("bytes=10-", Outcome::Unsatisfiable);
        check("bytes=-0", Outcome::Unsatisfiable);
        check("bytes=4-2", Outcome::Whole);
        check("bytes=0-1,4-5", Outcome::Whole);
        check("lines=0-1", Outcome::Whole);
        check("bytes=x-", Outcome::Whole);
    }
}
