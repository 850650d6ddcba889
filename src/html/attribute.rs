//! Attribute values: from the bytes of a page to text, and back.

use std::borrow::Cow;

use encoding_rs::Encoding;

/// The value that a browser sees for the bytes between the quotes: decoded, line ends normalised (HTML standard,
/// 13.2.3.5), NUL replaced, character references resolved by the rules of attributes.
pub(super) fn decode(raw: &[u8], encoding: &'static Encoding) -> String {
    let text = decode_text(raw, encoding);
    if text.contains('&') {
        htmlize::unescape_attribute(text).into_owned()
    } else {
        text.into_owned()
    }
}

fn decode_text<'b>(raw: &'b [u8], encoding: &'static Encoding) -> Cow<'b, str> {
    let (text, _) = encoding.decode_without_bom_handling(raw);
    if !text.contains(['\r', '\0']) {
        return text;
    }
    Cow::Owned(
        text.replace("\r\n", "\n")
            .replace('\r', "\n")
            .replace('\0', "\u{fffd}"),
    )
}

/// An attribute's name: only ASCII letters change their case (13.2.5.33).
pub(super) fn decode_name(raw: &[u8], encoding: &'static Encoding) -> String {
    let mut name = decode_text(raw, encoding).into_owned();
    name.make_ascii_lowercase();
    name
}

/// `value` as the bytes between `quote`s. `&` becomes a reference only where a browser could read one (before a
/// letter, a digit or `#`, 13.2.5.72), the quote always; `<` needs nothing in HTML.
pub fn escape_attribute(value: &str, quote: u8) -> String {
    let mut out = String::with_capacity(value.len() + 8);
    let mut rest = value.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '&' if rest
                .peek()
                .is_some_and(|&n| n == '#' || n.is_ascii_alphanumeric()) =>
            {
                out.push_str("&amp;")
            }
            '"' if quote == b'"' => out.push_str("&quot;"),
            '\'' if quote == b'\'' => out.push_str("&#39;"),
            // A raw carriage return would come back as a line feed.
            '\r' => out.push_str("&#13;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_KR, GB18030, SHIFT_JIS, UTF_8, WINDOWS_1251, WINDOWS_1252};

    #[test]
    fn values_are_decoded_as_in_browsers() {
        let check = |raw: &str, value: &str| assert_eq!(decode(raw.as_bytes(), UTF_8), value, "{raw}");
        check("a&amp;b", "a&b");
        check("a&ampb", "a&ampb");
        check("a&amp=b", "a&amp=b");
        check("a&amp;=b", "a&=b");
        check("?a=1&copy=2", "?a=1&copy=2");
        check("?a=1&copy", "?a=1\u{a9}");
        check("?a=1&copy;=2", "?a=1\u{a9}=2");
        check("&quot;&#39;&#x26;", "\"'&");
        check("&#x80;&#0;", "\u{20ac}\u{fffd}");
        check("&#13;&#10", "\r\n");
        check("a\r\nb\rc", "a\nb\nc");
        check("a\0b", "a\u{fffd}b");
        check("&nosuch;&", "&nosuch;&");
        check("&notit;", "&notit;");
    }

    #[test]
    fn values_in_other_encodings() {
        assert_eq!(decode(b"\xe9\x80", WINDOWS_1252), "\u{e9}\u{20ac}");
        assert_eq!(decode(b"\xef.png", WINDOWS_1251), "\u{43f}.png");
        assert_eq!(decode(b"\xb0\xa1", EUC_KR), "\u{ac00}");
        assert_eq!(decode(b"\x95\x5c", SHIFT_JIS), "\u{8868}");
        assert_eq!(decode(b"\x81\x30\x81\x30", GB18030), "\u{80}");
        assert_eq!(decode(b"\xff", UTF_8), "\u{fffd}");
        // A byte order mark inside a page is a character.
        assert_eq!(decode(b"\xef\xbb\xbfa", UTF_8), "\u{feff}a");
    }

    #[test]
    fn escaping_is_undone_by_decoding() {
        let check = |value: &str, quote: u8, raw: &str| {
            assert_eq!(escape_attribute(value, quote), raw);
            assert_eq!(decode(raw.as_bytes(), UTF_8), value);
        };
        check("a&b", b'"', "a&amp;b");
        check("a& b&&c&", b'"', "a& b&&amp;c&");
        check("&#39;", b'"', "&amp;#39;");
        check("say \"it's\"", b'"', "say &quot;it's&quot;");
        check("say \"it's\"", b'\'', "say \"it&#39;s\"");
        check("a\r\n", b'"', "a&#13;\n");
    }

    proptest::proptest! {
        #[test]
        fn any_value_survives(value in "[&#a-z0-9;\"'<>\r\n =\u{e9}]{0,40}", single: bool) {
            let quote = if single { b'\'' } else { b'"' };
            let raw = escape_attribute(&value, quote);
            proptest::prop_assert!(!raw.as_bytes().contains(&quote));
            proptest::prop_assert_eq!(decode(raw.as_bytes(), UTF_8), value);
        }
    }
}
