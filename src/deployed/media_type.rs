//! `Content-Type` by extension: one table for the preview and for every configuration.
//!
//! Servers' own tables differ and miss types (`avif`, `mjs`, `webmanifest`); with `nosniff` a wrong one is a broken page.

/// Extension and media type (IANA's registry; `text/javascript` by RFC 9239), sorted by extension.
pub const TYPES: &[(&str, &str)] = &[
    ("aac", "audio/aac"),
    ("apng", "image/apng"),
    ("appcache", "text/cache-manifest"),
    ("atom", "application/atom+xml"),
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("cjs", "text/javascript"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("cur", "image/x-icon"),
    ("dtd", "application/xml-dtd"),
    ("eot", "application/vnd.ms-fontobject"),
    ("epub", "application/epub+zip"),
    ("flac", "audio/flac"),
    ("geojson", "application/geo+json"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ico", "image/x-icon"),
    ("ics", "text/calendar"),
    ("jfif", "image/jpeg"),
    ("jpe", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("jsonld", "application/ld+json"),
    ("log", "text/plain"),
    ("m4a", "audio/mp4"),
    ("m4v", "video/mp4"),
    ("map", "application/json"),
    ("md", "text/markdown"),
    ("mjs", "text/javascript"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("oga", "audio/ogg"),
    ("ogg", "audio/ogg"),
    ("ogv", "video/ogg"),
    ("opus", "audio/ogg"),
    ("otf", "font/otf"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("rdf", "application/rdf+xml"),
    ("rss", "application/rss+xml"),
    ("shtml", "text/html"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("toml", "application/toml"),
    ("tsv", "text/tab-separated-values"),
    ("ttc", "font/collection"),
    ("ttf", "font/ttf"),
    ("txt", "text/plain"),
    ("vcf", "text/vcard"),
    ("vtt", "text/vtt"),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webmanifest", "application/manifest+json"),
    ("webp", "image/webp"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xht", "application/xhtml+xml"),
    ("xhtml", "application/xhtml+xml"),
    ("xml", "application/xml"),
    ("xsl", "application/xml"),
    ("xslt", "application/xslt+xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
];

/// What is sent for a name that the table does not know: browsers offer it as a download.
pub const UNKNOWN: &str = "application/octet-stream";

/// Extensions of pages, which are asked for anew on every view.
pub const PAGES: [&str; 5] = ["html", "htm", "shtml", "xhtml", "xht"];

pub fn of(extension: &str) -> &'static str {
    TYPES
        .binary_search_by(|(known, _)| (*known).cmp(extension))
        .map_or(UNKNOWN, |at| TYPES[at].1)
}

/// Whether a `Content-Type` is that of pages, which are asked for anew on every view.
pub fn is_page(content_type: &str) -> bool {
    ["text/html", "application/xhtml+xml"]
        .iter()
        .any(|page| content_type.starts_with(page))
}

/// Whether a charset parameter means anything to the type and browsers heed it. XML and JSON say theirs themselves.
pub fn takes_charset(extension: &str) -> bool {
    of(extension).starts_with("text/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_found_in() {
        assert!(TYPES.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(of("mjs"), "text/javascript");
        assert_eq!(of("avif"), "image/avif");
        assert_eq!(of("exe"), UNKNOWN);
        assert!(takes_charset("css") && !takes_charset("svg"));
    }
}
