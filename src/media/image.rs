//! Raster images by their bytes.
//!
//! Signatures are those of the MIME Sniffing standard, section 6.1, and for AVIF the file type box of ISO/IEC 14496-12,
//! section 4.3, as Chromium and Firefox read it. A signature is no promise that the picture decodes.

use super::Media;

/// The type of a raster image; `None` for everything else, SVG among it.
pub fn sniff(bytes: &[u8]) -> Option<Media> {
    const PREFIXES: [(&[u8], Media); 7] = [
        (b"\x00\x00\x01\x00", Media::Ico),
        (b"\x00\x00\x02\x00", Media::Ico),
        (b"BM", Media::Bmp),
        (b"GIF87a", Media::Gif),
        (b"GIF89a", Media::Gif),
        (b"\x89PNG\r\n\x1A\n", Media::Png),
        (b"\xFF\xD8\xFF", Media::Jpeg),
    ];
    if let Some(&(_, media)) = PREFIXES.iter().find(|(prefix, _)| bytes.starts_with(prefix)) {
        return Some(media);
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..14) == Some(b"WEBPVP") {
        return Some(Media::Webp);
    }
    has_brand(bytes, &[b"avif", b"avis"]).then_some(Media::Avif)
}

/// Whether the image may move: a GIF of more than one image, a PNG with `acTL` before its `IDAT`, a WebP with the
/// animation flag, an AVIF of the brand `avis`.
pub fn is_animated(bytes: &[u8]) -> bool {
    match sniff(bytes) {
        Some(Media::Gif) => gif_images(bytes) > 1,
        Some(Media::Png) => png_has_control(bytes),
        // `VP8X`, its size, then the flags: bit 1 is ANIM (WebP container specification, extended file format).
        Some(Media::Webp) => bytes.get(12..16) == Some(b"VP8X") && bytes.get(20).is_some_and(|f| f & 2 != 0),
        Some(Media::Avif) => has_brand(bytes, &[b"avis"]),
        _ => false,
    }
}

/// Whether the file type box names one of the brands, as the major or as a compatible one.
fn has_brand(bytes: &[u8], brands: &[&[u8; 4]]) -> bool {
    if bytes.get(4..8) != Some(b"ftyp") {
        return false;
    }
    let Some(size) = be32(bytes, 0) else { return false };
    // The minor version stands between the major brand and the compatible ones.
    let Some(content) = bytes.get(8..size) else {
        return false;
    };
    let named = |brand: &[u8]| brands.iter().any(|b| b.as_slice() == brand);
    content
        .chunks_exact(4)
        .enumerate()
        .any(|(i, brand)| i != 1 && named(brand))
}

/// Image blocks of a GIF (GIF89a specification, appendix A); counts no further than two.
fn gif_images(bytes: &[u8]) -> usize {
    let table = |flags: u8| {
        if flags & 0x80 != 0 {
            3usize << ((flags & 7) + 1)
        } else {
            0
        }
    };
    let Some(&flags) = bytes.get(10) else { return 0 };
    let mut at = 13 + table(flags);
    let mut images = 0;
    loop {
        match bytes.get(at) {
            Some(0x2C) => {
                images += 1;
                let Some(&flags) = bytes.get(at + 9) else {
                    return images;
                };
                if images == 2 {
                    return images;
                }
                // Descriptor, local colour table, code size.
                at += 10 + table(flags) + 1;
            }
            // Introducer and label.
            Some(0x21) => at += 2,
            _ => return images,
        }
        loop {
            let Some(&length) = bytes.get(at) else {
                return images;
            };
            at += 1 + usize::from(length);
            if length == 0 {
                break;
            }
        }
    }
}

/// `acTL` makes a PNG animated if it precedes `IDAT` (PNG specification, third edition, section 11.3.6.1).
fn png_has_control(bytes: &[u8]) -> bool {
    let mut at = 8usize;
    while let Some(length) = be32(bytes, at) {
        match bytes.get(at + 4..at + 8) {
            Some(b"acTL") => return true,
            Some(b"IDAT") | None => return false,
            // Length, type, data, checksum.
            Some(_) => at = at.saturating_add(length).saturating_add(12),
        }
    }
    false
}

fn be32(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(four.iter().fold(0, |n, &b| n << 8 | usize::from(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures() {
        let check = |bytes: &[u8], expected| assert_eq!(sniff(bytes), expected, "{bytes:02X?}");
        check(b"", None);
        check(b"not a picture\n", None);
        check(b"<svg xmlns='http://www.w3.org/2000/svg'/>", None);
        check(b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", Some(Media::Png));
        check(b"\x89PNG\r\n\x1A", None);
        check(b"GIF87a", Some(Media::Gif));
        check(b"GIF88a", None);
        check(b"\xFF\xD8\xFF\xE0", Some(Media::Jpeg));
        check(b"\xFF\xD8", None);
        check(b"RIFF\x10\0\0\0WEBPVP8 ", Some(Media::Webp));
        check(b"RIFF\x10\0\0\0WAVEfmt ", None);
        check(b"BM", Some(Media::Bmp));
        check(b"\0\0\x01\0\x01\0", Some(Media::Ico));
        check(b"\0\0\x02\0\x01\0", Some(Media::Ico));
        check(b"\0\0\0\x14ftypavif\0\0\0\0mif1", Some(Media::Avif));
        check(b"\0\0\0\x18ftypmif1\0\0\0\0miafavif", Some(Media::Avif));
        // A video, a brand where the minor version stands, a box longer than the file.
        check(b"\0\0\0\x14ftypisom\0\0\0\0mp42", None);
        check(b"\0\0\0\x14ftypmif1avifmiaf", None);
        check(b"\0\0\0\xFFftypavif\0\0\0\0", None);
        check(b"\0\0\0\x02ftypavif", None);
    }

    fn gif(images: usize) -> Vec<u8> {
        // One pixel, a global table of two colours, a comment, then the images.
        let mut bytes = b"GIF89a\x01\0\x01\0\x80\0\0".to_vec();
        bytes.extend([0; 6]);
        bytes.extend(b"\x21\xFE\x02\x2C\x2C\0");
        for _ in 0..images {
            bytes.extend(b"\x21\xF9\x04\0\0\0\0\0\x2C\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0");
        }
        bytes.push(0x3B);
        bytes
    }

    #[test]
    fn animated_gif() {
        assert!(!is_animated(&gif(0)));
        assert!(!is_animated(&gif(1)));
        assert!(is_animated(&gif(2)));
        let two = gif(2);
        for end in 0..two.len() {
            is_animated(&two[..end]);
        }
        // Image blocks behind the trailer are not shown.
        let mut tail = gif(1);
        tail.extend(&gif(1)[19..]);
        assert!(!is_animated(&tail));
    }

    #[test]
    fn animated_others() {
        let check = |bytes: &[u8], expected| assert_eq!(is_animated(bytes), expected, "{bytes:02X?}");
        let png = b"\x89PNG\r\n\x1A\n\0\0\0\0IHDRcrc0";
        check(&[png.as_slice(), b"\0\0\0\x08acTL"].concat(), true);
        check(
            &[png.as_slice(), b"\0\0\0\0IDATcrc0\0\0\0\x08acTL"].concat(),
            false,
        );
        check(&[png.as_slice(), b"\xFF\xFF\xFF\xFFtEXt"].concat(), false);
        check(png, false);
        check(b"RIFF\x10\0\0\0WEBPVP8X\x0A\0\0\0\x02\0\0\0", true);
        check(b"RIFF\x10\0\0\0WEBPVP8X\x0A\0\0\0\x10\0\0\0", false);
        check(b"RIFF\x10\0\0\0WEBPVP8L\x0A\0\0\0\x02\0\0\0", false);
        check(b"\0\0\0\x18ftypavif\0\0\0\0mif1avis", true);
        check(b"\0\0\0\x14ftypavif\0\0\0\0mif1", false);
        check(b"", false);
    }
}
