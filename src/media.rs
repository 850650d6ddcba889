//! The type of a file: from its name, and for raster images from its first bytes, as browsers sniff them.
//!
//! Names decide what is parsed (`by_name`), bytes decide what an image is (`sniff`, `svg_root`, `is_animated`).
//! Nothing here reads a file or decodes a picture; cut-off input is answered with what its bytes say so far.

use crate::site::SitePath;

mod image;
mod svg;

pub use image::{is_animated, sniff};
pub use svg::svg_root;

/// What a file is, as far as `fewer` treats it differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Media {
    Html,
    Xhtml,
    Css,
    Script,
    Svg,
    Png,
    Gif,
    Jpeg,
    Webp,
    Avif,
    Bmp,
    Ico,
    Font,
    Video,
    Audio,
    Json,
    Xml,
    Text,
    Manifest,
    Other,
}

/// The type that the name says. Language and charset suffixes behind a page's extension are looked through.
pub fn by_name(path: &SitePath) -> Media {
    match type_extension(path).as_str() {
        "html" | "htm" | "shtml" => Media::Html,
        "xhtml" | "xht" => Media::Xhtml,
        "css" => Media::Css,
        "js" | "mjs" | "cjs" => Media::Script,
        "svg" => Media::Svg,
        "png" | "apng" => Media::Png,
        "gif" => Media::Gif,
        "jpg" | "jpeg" | "jpe" | "jfif" | "pjpeg" | "pjp" => Media::Jpeg,
        "webp" => Media::Webp,
        "avif" => Media::Avif,
        "bmp" => Media::Bmp,
        "ico" | "cur" => Media::Ico,
        "woff" | "woff2" | "ttf" | "otf" | "ttc" | "eot" => Media::Font,
        "mp4" | "m4v" | "webm" | "ogv" | "mov" | "avi" | "mkv" | "mpg" | "mpeg" => Media::Video,
        "mp3" | "m4a" | "ogg" | "oga" | "opus" | "wav" | "flac" | "aac" | "mid" => Media::Audio,
        "json" | "jsonld" | "geojson" | "map" => Media::Json,
        "xml" | "xsl" | "xslt" | "rss" | "atom" | "rdf" | "dtd" => Media::Xml,
        "txt" | "md" | "csv" | "tsv" | "log" | "vtt" | "appcache" => Media::Text,
        "webmanifest" => Media::Manifest,
        _ => Media::Other,
    }
}

/// The extension that says the type, in lower case: `html` of `index.html.en` and `page.html.zh-cn.utf-8`, otherwise
/// the last one. Content negotiation puts a language and a charset behind the type (Apache's `AddLanguage` and
/// `AddCharset`).
pub fn type_extension(path: &SitePath) -> String {
    let name = path.name();
    let mut parts = name.rsplit(|&b| b == b'.');
    // More than four suffixes (type, language, charset, and one to spare) is no negotiated page.
    for _ in 0..4 {
        let Some(part) = parts.next() else { break };
        let Ok(part) = std::str::from_utf8(part) else {
            break;
        };
        let part = part.to_ascii_lowercase();
        if matches!(part.as_str(), "html" | "htm" | "shtml" | "xhtml") {
            // What stands before it must be a name: `html.en` has none.
            return if parts.next().is_some() {
                part
            } else {
                path.extension()
            };
        }
        if !is_language(&part) && !is_charset(&part) {
            break;
        }
    }
    path.extension()
}

/// The MIME type of the kind. Fonts, video and audio name a family of formats only and get no more than "bytes".
pub fn mime(media: Media) -> &'static str {
    match media {
        Media::Html => "text/html",
        Media::Xhtml => "application/xhtml+xml",
        Media::Css => "text/css",
        Media::Script => "text/javascript",
        Media::Svg => "image/svg+xml",
        Media::Png => "image/png",
        Media::Gif => "image/gif",
        Media::Jpeg => "image/jpeg",
        Media::Webp => "image/webp",
        Media::Avif => "image/avif",
        Media::Bmp => "image/bmp",
        Media::Ico => "image/x-icon",
        Media::Json => "application/json",
        Media::Xml => "application/xml",
        Media::Text => "text/plain",
        Media::Manifest => "application/manifest+json",
        Media::Font | Media::Video | Media::Audio | Media::Other => "application/octet-stream",
    }
}

pub fn is_image(media: Media) -> bool {
    use Media::*;
    matches!(media, Svg | Png | Gif | Jpeg | Webp | Avif | Bmp | Ico)
}

/// ISO 639-1, without `br` (Breton), which behind a file name is brotli.
const LANGUAGES: &str = "\
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo \
    es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv \
    ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd \
    ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr \
    ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu";

/// A language tag (RFC 5646): a two-letter language, then subtags of letters and digits.
fn is_language(part: &str) -> bool {
    let mut subtags = part.split(['-', '_']);
    let primary = subtags.next().unwrap_or_default();
    primary.len() == 2
        && LANGUAGES.split(' ').any(|language| language == primary)
        && subtags.all(|tag| (2..=8).contains(&tag.len()) && tag.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// A label of the Encoding standard.
fn is_charset(part: &str) -> bool {
    encoding_rs::Encoding::for_label(part.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |name: &str, expected| assert_eq!(by_name(&SitePath::new(name)), expected, "{name}");
        check("index.html", Media::Html);
        check("a/b.HTM", Media::Html);
        check("x.shtml", Media::Html);
        check("x.xhtml", Media::Xhtml);
        check("ch01.ja.html", Media::Html);
        check("index.html.en", Media::Html);
        check("index.html.pt-br", Media::Html);
        check("page.html.zh-cn.utf-8", Media::Html);
        check("page.html.ko.euc-kr", Media::Html);
        check("page.html.ja.utf8", Media::Html);
        check("page.xhtml.de", Media::Xhtml);
        // Variants, backups and other files with a page's name in theirs are no pages.
        check("index.html.gz", Media::Other);
        check("index.html.br", Media::Other);
        check("index.html.bak", Media::Other);
        check("index.html.css", Media::Css);
        check("index.html.txt", Media::Text);
        check("notes.en", Media::Other);
        check("style.css.en", Media::Other);
        check("html", Media::Other);
        check("html.en", Media::Other);
        check("a.html/b", Media::Other);
        check("a.html/b.css", Media::Css);
        check("", Media::Other);
        check("DOT.PNG", Media::Png);
        check(".htaccess", Media::Other);
        assert_eq!(by_name(&SitePath::new(b"z\xFF.css".to_vec())), Media::Css);
        assert_eq!(by_name(&SitePath::new(b"a.html.\xE9n".to_vec())), Media::Other);
    }

    #[test]
    fn mimes_of_images() {
        assert_eq!(mime(Media::Svg), "image/svg+xml");
        assert!(is_image(Media::Ico) && is_image(Media::Svg) && !is_image(Media::Video));
    }
}
