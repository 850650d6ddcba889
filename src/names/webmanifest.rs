//! The web app manifest (W3C, "Web Application Manifest"): the pictures that it names, by byte spans.
//!
//! Only `src` of icons and screenshots is looked at; where the app starts and what it is called is not ours to change.
//! The file itself keeps its name, which browsers know an installed app by.

use std::ops::Range;

use serde::de::IgnoredAny;

/// Every address with the span of its string, quotes included, in order; nothing for what is no JSON. Pictures are
/// all that has a `src` in such a file, and a picture has no other address.
pub(super) fn pictures(text: &str) -> Vec<(Range<usize>, String)> {
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Vec::new();
    }
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    let mut is_source = false;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = string_end(bytes, at);
                let string: Option<String> = text.get(at..end).and_then(|raw| serde_json::from_str(raw).ok());
                let is_key = bytes[end..].iter().find(|b| !b.is_ascii_whitespace()) == Some(&b':');
                match string {
                    Some(string) if is_key => is_source = string == "src",
                    Some(string) if is_source => {
                        found.push((at..end, string));
                        is_source = false;
                    }
                    _ => {}
                }
                at = end;
            }
            // Behind a `src` stood something else than a string.
            b'{' | b'[' | b',' | b'}' => {
                is_source = false;
                at += 1;
            }
            _ => at += 1,
        }
    }
    found
}

/// Behind the closing quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// An address as the string that JSON has for it.
pub(super) fn string(address: &str) -> String {
    serde_json::Value::from(address).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_found_where_they_stand() {
        let text = r#"{"name":"a.png", "icons":[{"src":"i\/a.png","sizes":"1x1"},{}],
            "shortcuts":[{"icons":[{"src":"b.png"}],"url":"/"}],"start_url":"/a.png"}"#;
        let found = pictures(text);
        let shown: Vec<_> = found
            .iter()
            .map(|(span, url)| (&text[span.clone()], url.as_str()))
            .collect();
        assert_eq!(shown, [("\"i\\/a.png\"", "i/a.png"), ("\"b.png\"", "b.png")]);
        for text in [
            "",
            "[]",
            "{",
            r#"{"icons":3,"name":"src"}"#,
            r#"{"icons":[{"src":1}]}"#,
            r#"{"src":["a.png"]}"#,
            r#"{"src":null,"a":"b"}"#,
        ] {
            assert_eq!(pictures(text), [], "{text}");
        }
    }
}
