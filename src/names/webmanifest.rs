//! The web app manifest (W3C, "Web Application Manifest"): the pictures that it names, by byte spans.
//!
//! Only `src` of icons and screenshots is looked at; where the app starts and what it is called is not ours to change.
//! The file itself keeps its name, which browsers know an installed app by.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Manifest<'a> {
    #[serde(borrow, default)]
    icons: Vec<Picture<'a>>,
    #[serde(borrow, default)]
    screenshots: Vec<Picture<'a>>,
    #[serde(borrow, default)]
    shortcuts: Vec<Shortcut<'a>>,
}

#[derive(Deserialize)]
struct Shortcut<'a> {
    #[serde(borrow, default)]
    icons: Vec<Picture<'a>>,
}

#[derive(Deserialize)]
struct Picture<'a> {
    #[serde(borrow)]
    src: Option<&'a RawValue>,
}

/// Every address with the span of its string, quotes included, in order; nothing for what is no such JSON.
pub(super) fn pictures(text: &str) -> Vec<(Range<usize>, String)> {
    let Ok(manifest) = serde_json::from_str::<Manifest<'_>>(text) else {
        return Vec::new();
    };
    let shortcuts = manifest.shortcuts.into_iter().flat_map(|shortcut| shortcut.icons);
    let all = manifest
        .icons
        .into_iter()
        .chain(manifest.screenshots)
        .chain(shortcuts);
    let mut found: Vec<(Range<usize>, String)> = all
        .filter_map(|picture| {
            let raw = picture.src?.get();
            // The raw value is a piece of `text`.
            let start = (raw.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
            let span = start..start + raw.len();
            (text.get(span.clone()) == Some(raw)).then_some(())?;
            Some((span, serde_json::from_str(raw).ok()?))
        })
        .collect();
    found.sort_by_key(|(span, _)| span.start);
    found
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
        for text in ["", "[]", "{", r#"{"icons":3}"#, r#"{"icons":[{"src":1}]}"#] {
            assert_eq!(pictures(text), [], "{text}");
        }
    }
}
