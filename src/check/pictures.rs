//! Image files: what their bytes are, whether they are whole, how many pixels they have.
//!
//! In: every image file of the site. Out: findings about names that lie and files that are cut off or do not decode,
//! and the size in pixels of the others. Whole pictures are decoded, within limits; nothing is kept of them.

use std::collections::HashMap;
use std::io::Cursor;

use image::{ImageError, ImageReader, Limits};

use crate::diagnostic::{Code, Diagnostic};
use crate::media::{self, Media};
use crate::parallel;
use crate::site::{FileId, Site};

/// Larger files and pictures are not decoded: bytes, and bytes of the decoded picture.
const DECODED_FILE: u64 = 32 << 20;
const DECODED: u64 = 256 << 20;

/// Width and height in pixels of the raster images that decode.
pub(super) type Pixels = HashMap<FileId, (u32, u32)>;

pub(super) fn look(site: &Site) -> anyhow::Result<(Pixels, Vec<Diagnostic>)> {
    let is_image = |id: &FileId| media::is_image(site.file(*id).media) && site.file(*id).variant_of.is_none();
    let files: Vec<FileId> = (0..site.files.len() as u32)
        .map(FileId)
        .filter(is_image)
        .collect();
    let looked = parallel::map(&files, |&id| {
        let file = site.file(id);
        anyhow::Ok(examine(file.media, &site.read(id)?))
    });
    let mut pixels = Pixels::new();
    let mut diagnostics = Vec::new();
    for (&id, seen) in files.iter().zip(looked) {
        let seen = seen?;
        if let Some(size) = seen.pixels {
            pixels.insert(id, size);
        }
        if let Some((code, message)) = seen.fault {
            diagnostics.push(Diagnostic::new(&site.file(id).path, None, code, message));
        }
    }
    Ok((pixels, diagnostics))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    pixels: Option<(u32, u32)>,
    fault: Option<(Code, String)>,
}

fn examine(named: Media, bytes: &[u8]) -> Seen {
    let fault = |code, message: String| Seen {
        pixels: None,
        fault: Some((code, message)),
    };
    if bytes.is_empty() {
        return fault(Code::BrokenImage, "the file is empty".to_owned());
    }
    let Some(is) = media::sniff(bytes) else {
        return match named == Media::Svg {
            // Compressed and UTF-16 pictures are not read here.
            true if media::svg_root(bytes) || is_no_picture(bytes) => Seen::default(),
            true if bytes.starts_with(LFS) => fault(Code::BrokenImage, LFS_SAYS.to_owned()),
            true => fault(
                Code::BrokenImage,
                "no svg element in the SVG namespace begins it: browsers draw nothing".to_owned(),
            ),
            false if bytes.starts_with(LFS) => fault(Code::BrokenImage, LFS_SAYS.to_owned()),
            false if media::svg_root(bytes) => fault(
                Code::TypeMismatch,
                format!("named as {}, but it is SVG: browsers draw nothing", name(named)),
            ),
            false => fault(
                Code::BrokenImage,
                "its bytes are no image that browsers know".to_owned(),
            ),
        };
    };
    if let Some(what) = cut_off(is, bytes) {
        return fault(Code::BrokenImage, format!("cut off: {what}"));
    }
    let pixels = match decode(bytes) {
        Ok(pixels) => pixels,
        Err(why) => return fault(Code::BrokenImage, format!("does not decode: {why}")),
    };
    let lies = named != is;
    Seen {
        pixels,
        fault: lies.then(|| {
            let message = format!("named as {}, but it is {}", name(named), name(is));
            (Code::TypeMismatch, message)
        }),
    }
}

/// Fonts are no pictures; what is compressed or UTF-16 is not read here.
fn is_no_picture(svg: &[u8]) -> bool {
    svg.starts_with(b"\x1f\x8b") || svg.contains(&0) || svg.windows(6).any(|bytes| bytes == b"<font ")
}

/// What Git leaves in place of a large file that was not fetched.
const LFS: &[u8] = b"version https://git-lfs.github.com/";
const LFS_SAYS: &str = "a pointer of Git LFS, not an image: fetch the files before the site is built";

fn name(media: Media) -> &'static str {
    match media {
        Media::Svg => "SVG",
        Media::Png => "PNG",
        Media::Gif => "GIF",
        Media::Jpeg => "JPEG",
        Media::Webp => "WebP",
        Media::Avif => "AVIF",
        Media::Bmp => "BMP",
        Media::Ico => "an icon (ICO)",
        _ => "another type",
    }
}

/// What is missing at the end of the file; `None` where it is whole as far as its structure tells.
fn cut_off(media: Media, bytes: &[u8]) -> Option<&'static str> {
    match media {
        Media::Png => png(bytes),
        Media::Jpeg => jpeg(bytes),
        Media::Gif => gif(bytes),
        Media::Webp => {
            let size = bytes.get(4..8)?;
            let size = size.iter().rev().fold(0usize, |n, &b| n << 8 | usize::from(b));
            (size + 8 > bytes.len()).then_some("it is shorter than it says")
        }
        _ => None,
    }
}

/// Chunks up to `IEND` (PNG specification, section 5).
fn png(bytes: &[u8]) -> Option<&'static str> {
    let mut at = 8usize;
    loop {
        let Some(head) = bytes.get(at..at.saturating_add(8)) else {
            return Some("there is no IEND chunk");
        };
        let length = head[..4].iter().fold(0usize, |n, &b| n << 8 | usize::from(b));
        at = at.saturating_add(length).saturating_add(12);
        if at > bytes.len() {
            return Some("a chunk is longer than the rest of the file");
        }
        if &head[4..] == b"IEND" {
            return None;
        }
    }
}

/// The end marker behind the first scan (ITU T.81, section B.1.1.3). A thumbnail inside a segment has markers of its
/// own, so segments are stepped over.
fn jpeg(bytes: &[u8]) -> Option<&'static str> {
    let mut at = 2usize;
    loop {
        let [0xFF, marker] = *bytes.get(at..at + 2)? else {
            // Not where a marker should be: decoding tells.
            return None;
        };
        if marker == 0xFF {
            at += 1;
            continue;
        }
        if marker == 0xDA {
            break;
        }
        if marker == 0xD9 {
            return None;
        }
        let Some(&[high, low]) = bytes.get(at + 2..at + 4).and_then(|b| b.first_chunk::<2>()) else {
            return Some("a segment is longer than the rest of the file");
        };
        at += 2 + usize::from(high) * 256 + usize::from(low);
    }
    let ends = bytes[at..].windows(2).any(|pair| pair == [0xFF, 0xD9]);
    (!ends).then_some("there is no end marker")
}

/// Blocks up to the trailer (GIF89a specification, appendix A). A missing trailer alone hides nothing.
fn gif(bytes: &[u8]) -> Option<&'static str> {
    const CUT: Option<&str> = Some("a block is longer than the rest of the file");
    let table = |flags: u8| {
        if flags & 0x80 != 0 {
            3usize << ((flags & 7) + 1)
        } else {
            0
        }
    };
    let Some(&flags) = bytes.get(10) else { return CUT };
    let mut at = 13 + table(flags);
    loop {
        match bytes.get(at) {
            Some(0x2C) => {
                let Some(&flags) = bytes.get(at + 9) else {
                    return CUT;
                };
                at += 11 + table(flags);
            }
            Some(0x21) => at += 2,
            Some(_) => return None,
            None => return (at > bytes.len()).then_some("a block is longer than the rest of the file"),
        }
        loop {
            let Some(&length) = bytes.get(at) else { return CUT };
            at += 1 + usize::from(length);
            if length == 0 {
                break;
            }
        }
    }
}

/// The size of a picture that decodes; `Ok(None)` for formats that are not decoded here, and for what is too large.
fn decode(bytes: &[u8]) -> Result<Option<(u32, u32)>, String> {
    let reader = || ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok();
    let Some(size) = reader().and_then(|reader| reader.into_dimensions().ok()) else {
        // Formats without a decoder end here too; a header that cannot be read is told below.
        return match reader().map(|mut reader| {
            reader.limits(limits());
            reader.decode()
        }) {
            Some(Err(error)) if !is_unknown(&error) => Err(said(&error)),
            _ => Ok(None),
        };
    };
    if bytes.len() as u64 > DECODED_FILE {
        return Ok(Some(size));
    }
    let Some(mut reader) = reader() else {
        return Ok(Some(size));
    };
    reader.limits(limits());
    match reader.decode() {
        Err(error) if !is_unknown(&error) => Err(said(&error)),
        _ => Ok(Some(size)),
    }
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODED);
    limits
}

/// It says nothing about the picture.
fn is_unknown(error: &ImageError) -> bool {
    matches!(
        error,
        ImageError::Unsupported(_) | ImageError::Limits(_) | ImageError::IoError(_)
    ) && !matches!(error, ImageError::IoError(io) if io.kind() == std::io::ErrorKind::UnexpectedEof)
}

/// In one line, without the words that every message of the decoders begins with.
fn said(error: &ImageError) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("Format error decoding ").unwrap_or(&text);
    text.lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(format: image::ImageFormat) -> Vec<u8> {
        let noise = |x: u32, y: u32| image::Rgb([(x * 7 + y * 13) as u8, (x * y) as u8, (x ^ y) as u8]);
        let picture = image::DynamicImage::ImageRgb8(image::RgbImage::from_fn(40, 30, noise));
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn whole_pictures_and_their_parts() {
        use image::ImageFormat::*;
        for (format, media) in [
            (Png, Media::Png),
            (Jpeg, Media::Jpeg),
            (Gif, Media::Gif),
            (WebP, Media::Webp),
        ] {
            let whole = encoded(format);
            let fine = Seen {
                pixels: Some((40, 30)),
                fault: None,
            };
            assert_eq!(examine(media, &whole), fine, "{media:?}");
            // Bytes behind the end do no harm.
            assert_eq!(examine(media, &[&whole[..], b"more"].concat()), fine, "{media:?}");
            for part in 1..8 {
                let cut = examine(media, &whole[..whole.len() * part / 8]).fault;
                assert_eq!(
                    cut.map(|(code, _)| code),
                    Some(Code::BrokenImage),
                    "{media:?} {part}/8"
                );
            }
        }
    }

    #[test]
    fn names_that_lie() {
        let png = encoded(image::ImageFormat::Png);
        let check = |named, bytes: &[u8], expected: Option<(Code, &str)>| {
            let fault = examine(named, bytes).fault;
            assert_eq!(fault, expected.map(|(code, message)| (code, message.to_owned())));
        };
        check(
            Media::Jpeg,
            &png,
            Some((Code::TypeMismatch, "named as JPEG, but it is PNG")),
        );
        check(
            Media::Svg,
            &png,
            Some((Code::TypeMismatch, "named as SVG, but it is PNG")),
        );
        let svg = b"<svg xmlns='http://www.w3.org/2000/svg'/>";
        check(Media::Svg, svg, None);
        check(
            Media::Png,
            svg,
            Some((
                Code::TypeMismatch,
                "named as PNG, but it is SVG: browsers draw nothing",
            )),
        );
        check(
            Media::Png,
            b"<!doctype html>",
            Some((Code::BrokenImage, "its bytes are no image that browsers know")),
        );
        check(
            Media::Png,
            b"version https://git-lfs.github.com/spec/v1\n",
            Some((Code::BrokenImage, LFS_SAYS)),
        );
        check(Media::Gif, b"", Some((Code::BrokenImage, "the file is empty")));
    }
}
