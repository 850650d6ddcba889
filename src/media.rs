//! The type of a file: from its name, and for raster images from its first bytes, as browsers sniff them.

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
