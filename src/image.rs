//! Which images may become data URLs, and as what.

use crate::css::{self, Place};
use crate::media::{self, Media};
use crate::site::File;

/// Why an image stays a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    NotAnImage,
    TooLarge,
    /// It is called `.svg` or holds SVG, but not both.
    SvgNameOrBytes,
    /// SVG that refers to other files, holds script, or is not well known to be harmless.
    SvgNotSelfContained,
    LeftOut,
}

impl Refusal {
    pub fn reason(self) -> &'static str {
        match self {
            Refusal::NotAnImage => "its bytes are no image that browsers know",
            Refusal::TooLarge => "larger than --inline-limit",
            Refusal::SvgNameOrBytes => "SVG by name or by content, but not by both",
            Refusal::SvgNotSelfContained => "SVG with references or script",
            Refusal::LeftOut => "left out by --include or --exclude",
        }
    }
}

/// Properties whose `url()` is a picture, not a filter, a clip path or a font.
const IMAGE_PROPERTIES: &[&str] = &[
    "background",
    "background-image",
    "border-image",
    "border-image-source",
    "content",
    "cursor",
    "list-style",
    "list-style-image",
    "mask",
    "mask-image",
    "mask-border",
    "mask-border-source",
    "shape-outside",
    "-webkit-border-image",
    "-webkit-mask",
    "-webkit-mask-image",
    "-webkit-mask-box-image",
    "-webkit-mask-box-image-source",
];

/// Whether a URL at this place of a stylesheet is a picture.
pub fn takes_images(place: &Place) -> bool {
    matches!(place, Place::Property { name, .. } if IMAGE_PROPERTIES.contains(&name.as_str()))
}

/// The image as a data URL, if it may be one.
pub fn data_url(file: &File, bytes: &[u8], limit: u64) -> Result<String, Refusal> {
    if !file.editable {
        return Err(Refusal::LeftOut);
    }
    if bytes.len() as u64 > limit {
        return Err(Refusal::TooLarge);
    }
    if let Some(raster) = media::sniff(bytes) {
        if file.media == Media::Svg {
            return Err(Refusal::SvgNameOrBytes);
        }
        return Ok(css::data_url(media::mime(raster), bytes, false));
    }
    match (file.media == Media::Svg, media::svg_root(bytes)) {
        (true, true) if is_self_contained(bytes) => Ok(css::data_url("image/svg+xml", bytes, true)),
        (true, true) => Err(Refusal::SvgNotSelfContained),
        (true, false) | (false, true) => Err(Refusal::SvgNameOrBytes),
        (false, false) => Err(Refusal::NotAnImage),
    }
}

/// A data URL of an empty picture of the same size, for the `src` of an `img` whose picture stands elsewhere. `None`
/// where the size on a page is not certain: broken or animated pictures, such with Exif data (which may turn them or
/// change their resolution), SVG whose size attributes are not plain.
pub fn placeholder(bytes: &[u8]) -> Option<String> {
    let size = if media::sniff(bytes).is_some() {
        let marks: [&[u8]; 3] = [b"Exif\0", b"eXIf", b"EXIF"];
        let has_exif = marks
            .iter()
            .any(|mark| memchr::memmem::find(bytes, mark).is_some());
        if has_exif || media::is_animated(bytes) {
            return None;
        }
        let picture = ::image::load_from_memory(bytes).ok()?;
        format!(" width='{}' height='{}'", picture.width(), picture.height())
    } else {
        svg_size(std::str::from_utf8(bytes).ok()?)?
    };
    Some(format!(
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'{size}/%3E"
    ))
}

/// The attributes of the root element that its size as an image comes from (SVG 2, section 8.2 and CSS Images 3,
/// section 5.1), as written.
fn svg_size(text: &str) -> Option<String> {
    let root = &text[text.find("<svg")? + 4..];
    let mut size = String::new();
    let mut rest = root;
    loop {
        rest = rest.trim_start();
        if rest.starts_with('>') || rest.starts_with("/>") {
            return (!size.is_empty()).then_some(size);
        }
        let name = &rest[..rest.find(|c: char| c == '=' || c.is_ascii_whitespace())?];
        rest = rest[name.len()..].trim_start().strip_prefix('=')?.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let value = &rest[1..];
        let value = &value[..value.find(quote)?];
        rest = &rest[value.len() + 2..];
        match name {
            "width" | "height" | "viewBox" | "preserveAspectRatio" => {
                let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | ',' | '-');
                if value.is_empty() || !value.chars().all(plain) {
                    return None;
                }
                size.push_str(&format!(" {name}='{value}'"));
            }
            // A style may say another size, and so may a class with a style element inside.
            "style" if !says_no_size(value) => return None,
            "class" if text.contains("<style") => return None,
            _ => {}
        }
    }
}

/// Every declaration of the `style` attribute is one that drawing programs write and that has to do with paint alone.
fn says_no_size(style: &str) -> bool {
    const PAINT: [&str; 9] = [
        "enable-background",
        "fill",
        "stroke",
        "fill-rule",
        "clip-rule",
        "shape-rendering",
        "text-rendering",
        "image-rendering",
        "color",
    ];
    style
        .split(';')
        .filter(|part| !part.trim().is_empty())
        .all(|part| {
            let name = part.split(':').next().unwrap_or_default().trim();
            PAINT.contains(&name)
        })
}

/// No script, no entity definitions, and every reference is a fragment of the image itself.
fn is_self_contained(svg: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(svg) else {
        return false;
    };
    let lower = text.to_ascii_lowercase();
    let forbidden = [
        "<script",
        "<!entity",
        "<?xml-stylesheet",
        "<foreignobject",
        "@import",
        "<a ",
        "<a\n",
        "<animate",
        "<set",
    ];
    if forbidden.iter().any(|part| lower.contains(part)) || has_event_handler(&lower) {
        return false;
    }
    let after = |mark: &'static str| lower.match_indices(mark).map(move |(at, mark)| at + mark.len());
    let local_url = after("url(").all(|at| {
        lower[at..]
            .trim_start_matches([' ', '"', '\'', '&'])
            .trim_start_matches("quot;")
            .starts_with('#')
    });
    let local_href = after("href").chain(after("src")).all(|at| {
        let rest = lower[at..].trim_start();
        match rest.strip_prefix('=') {
            Some(value) => {
                let value = value.trim_start().trim_start_matches(['"', '\'']);
                value.starts_with('#') || value.starts_with("data:")
            }
            None => true,
        }
    });
    local_url && local_href
}

/// An attribute such as `onload=`.
fn has_event_handler(lower: &str) -> bool {
    lower.match_indices("on").any(|(at, _)| {
        let before = lower[..at].chars().next_back();
        let name: usize = lower[at + 2..].bytes().take_while(u8::is_ascii_lowercase).count();
        before.is_some_and(|c| c.is_ascii_whitespace() || c == '"' || c == '\'')
            && name > 0
            && lower[at + 2 + name..].trim_start().starts_with('=')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn svg_is_checked_for_references() {
        let check = |inner: &str, expected: bool| {
            let svg = format!(
                "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'>{inner}</svg>"
            );
            assert_eq!(is_self_contained(svg.as_bytes()), expected, "{inner}");
        };
        check("<rect fill='#c00'/>", true);
        check("<rect fill='url(#g)'/>", true);
        check("<rect style=\"fill:url('#g')\"/>", true);
        check("<use xlink:href='#a'/>", true);
        check("<image href='data:image/png;base64,AAAA'/>", true);
        check("<image xlink:href='inner.png'/>", false);
        check("<image href = \"inner.png\"/>", false);
        check("<rect style='fill:url(other.svg#g)'/>", false);
        check("<script>1</script>", false);
        check("<rect onclick='x()'/>", false);
        check("<style>@import 'x.css';</style>", false);
        check("<text>src and href in words, on call = yes</text>", true);
    }
}
