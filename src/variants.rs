//! Which files get variants (`X.gz`, `X.br`, `X.zst`), and what becomes of those that SITE brought along.
//!
//! Pure decisions over bytes; nothing is read or written here. A server that finds `X.gz` sends it in place of `X`,
//! so a variant must unpack to OUT's `X` exactly, and one that saves nothing only costs.

use std::cell::OnceCell;

use crate::cache;
use crate::encode::{self, Coding};
use crate::media::type_extension;
use crate::options::Options;
use crate::site::{File, FileId, Site, SitePath};

/// Names the rules of this file in the keys of a cache: other rules for what pays give other sizes.
pub(crate) const RULES: &str = "pays above 40";

/// What a coded answer has more in its header: `content-encoding: gzip` and `vary: accept-encoding` with their line
/// ends are 47 bytes in HTTP/1.1 (RFC 9112, section 5), about 40 when the value is `br` and the names are short.
const HEADER_BYTES: usize = 40;

/// Whether the file is of a type that gets variants: by its extension, never for what is packed by its name.
pub fn wanted(file: &File, options: &Options) -> bool {
    let coded = options.codings().next().is_some();
    coded && file.editable && file.variant_of.is_none() && is_compressible(&file.path, options)
}

/// Whether the name is one of a compressible type.
pub(crate) fn is_compressible(path: &SitePath, options: &Options) -> bool {
    const PACKED: [&str; 13] = [
        "gz", "br", "zst", "svgz", "tgz", "zip", "bz2", "xz", "7z", "lz4", "jsgz", "woff", "woff2",
    ];
    let last = path.extension();
    if PACKED.contains(&last.as_str()) {
        return false;
    }
    let kind = type_extension(path);
    options
        .encode_types
        .iter()
        .any(|listed| *listed == last || *listed == kind)
}

/// The variants of an output file: one for every enabled coding or none at all. A client that accepts one coding only
/// would otherwise be answered from a variant of another age than the rest.
pub fn make(bytes: &[u8], options: &Options) -> Vec<(Coding, Vec<u8>)> {
    if (bytes.len() as u64) < options.min_size || is_packed(bytes) {
        return Vec::new();
    }
    let mut made = Vec::new();
    let content = OnceCell::new();
    let hash = || *content.get_or_init(|| cache::hash(bytes));
    // The cheap coding first: what gzip cannot shrink is not given to brotli.
    for (coding, level) in options.codings() {
        let pack = || encode::pack(coding, bytes, level);
        let variant = options.cache.variant(hash, coding, level, pack);
        if !pays(variant.len(), bytes.len()) {
            return Vec::new();
        }
        made.push((coding, variant));
    }
    made
}

/// What becomes of a variant that SITE brought along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Own {
    /// It stays as it is.
    Keep,
    /// It is written with these bytes.
    Rewrite(Vec<u8>),
    /// It has no file in OUT.
    Remove,
}

/// Decides about `id`, a variant of a file that is `plain` in OUT and for which `make` gave `made`. `packed` are its
/// bytes in SITE; `linked` is whether a page names it, as a download.
pub fn own_variant(
    site: &Site,
    id: FileId,
    packed: &[u8],
    plain: &[u8],
    made: &[(Coding, Vec<u8>)],
    linked: bool,
    options: &Options,
) -> Own {
    let Some(coding) = coding_of(&site.file(id).path) else {
        return Own::Keep;
    };
    let made = made
        .iter()
        .find(|(c, _)| *c == coding)
        .map(|(_, bytes)| bytes.as_slice());
    let fits = || unpacks_to(coding, packed, plain);
    if linked {
        // A file at this address must remain, whether it pays as a variant or not.
        return match made {
            _ if fits() => Own::Keep,
            Some(made) => Own::Rewrite(made.to_vec()),
            None => Own::Rewrite(pack_anyway(coding, plain, options)),
        };
    }
    match made {
        // Somebody may have packed harder than we do.
        Some(made) if packed.len() <= made.len() && fits() => Own::Keep,
        Some(made) => Own::Rewrite(made.to_vec()),
        // We make none, by option or because it does not pay; a right one that pays must not be lost.
        None if pays(packed.len(), plain.len()) && fits() => Own::Keep,
        None => Own::Remove,
    }
}

/// Whether a variant is right for a file of these bytes; if not, it is stale or broken.
pub fn unpacks_to(coding: Coding, packed: &[u8], plain: &[u8]) -> bool {
    encode::unpack(coding, packed, plain.len() as u64).is_some_and(|bytes| bytes == plain)
}

/// The coding that the end of the name stands for.
pub fn coding_of(path: &SitePath) -> Option<Coding> {
    Coding::ALL
        .into_iter()
        .find(|coding| path.name().ends_with(coding.suffix().as_bytes()))
}

pub(crate) fn pays(variant: usize, plain: usize) -> bool {
    variant + HEADER_BYTES < plain
}

fn pack_anyway(coding: Coding, bytes: &[u8], options: &Options) -> Vec<u8> {
    match options.codings().find(|(enabled, _)| *enabled == coding) {
        Some((_, level)) => encode::pack(coding, bytes, level),
        None => encode::pack_fast(coding, bytes),
    }
}

/// Whether the bytes are compressed already, whatever the name says: containers by their magic numbers. Brotli has
/// none; such a file does not shrink and falls to `pays`.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    const MAGIC: &[&[u8]] = &[
        b"\x1F\x8B",           // gzip
        b"PK\x03\x04",         // zip, and what is one: epub, docx, jar
        b"\x28\xB5\x2F\xFD",   // zstd
        b"\xFD7zXZ\0",         // xz
        b"BZh",                // bzip2
        b"7z\xBC\xAF\x27\x1C", // 7z
        b"\x89PNG\r\n\x1A\n",  // png
        b"\xFF\xD8\xFF",       // jpeg
        b"GIF8",               // gif
        b"wOFF",               // woff
        b"wOF2",               // woff2
        b"%PDF-",              // pdf
        b"\x1A\x45\xDF\xA3",   // webm, mkv
        b"OggS",               // ogg
        b"fLaC",               // flac
        b"ID3",                // mp3
    ];
    let webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    // mp4, mov, avif and heic begin with a file type box behind its length.
    let mp4 = bytes.get(4..8) == Some(b"ftyp");
    webp || mp4 || MAGIC.iter().any(|magic| bytes.starts_with(magic))
}

#[cfg(test)]
#[path = "variants_tests.rs"]
mod tests;
