//! gzip (RFC 1952): libdeflate, zopfli where every byte counts, and zlib in Rust for what does not fit into memory.
//!
//! Bytes in, one member without name and time out, so that equal bytes give equal variants.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use libdeflater::{CompressionLvl, Compressor, Decompressor};

/// The level above those of libdeflate: the smaller of its highest and zopfli with 15 iterations.
pub(super) const ZOPFLI: u32 = 13;

/// Level 1 to 12, or `ZOPFLI`. The header has no name and no time, so that equal bytes give equal variants.
pub(super) fn pack(bytes: &[u8], level: u32) -> Vec<u8> {
    let out = deflate(bytes, level);
    if level < ZOPFLI {
        return out;
    }
    let mut small = Vec::with_capacity(out.len());
    let packed = zopfli::compress(
        zopfli::Options::default(),
        zopfli::Format::Gzip,
        bytes,
        &mut small,
    );
    // zopfli names Unix as the system; what the system was is nobody's business, and the same for all levels.
    if let Some(system) = small.get_mut(9) {
        *system = 0xFF;
    }
    match packed {
        Ok(()) if small.len() < out.len() => small,
        _ => out,
    }
}

fn deflate(bytes: &[u8], level: u32) -> Vec<u8> {
    let level = CompressionLvl::new(level.clamp(1, 12) as i32).unwrap_or_default();
    let mut compressor = Compressor::new(level);
    let mut out = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let length = compressor
        .gzip_compress(bytes, &mut out)
        .expect("the bound holds for any input");
    out.truncate(length);
    out.shrink_to_fit();
    out
}

/// zlib has nine levels; what libdeflate and zopfli do beyond them needs the whole file at once.
pub(super) fn pack_stream(from: &mut dyn Read, level: u32, to: &mut dyn Write) -> io::Result<()> {
    let mut encoder = GzEncoder::new(to, Compression::new(level.clamp(1, 9)));
    io::copy(from, &mut encoder)?;
    encoder.finish()?;
    Ok(())
}

pub(super) fn unpack(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
    // Deflate packs at most 1032 bytes into one: a length beyond that is a lie that only asks for memory.
    let length = u32::from_le_bytes(*bytes.last_chunk()?) as usize;
    if length > limit || length > bytes.len().saturating_mul(1032) {
        return None;
    }
    let mut out = vec![0; length];
    let mut decompressor = Decompressor::new();
    // libdeflate does not look behind the first member and does not tell where it ends: if one byte less is
    // enough too, something stands behind it. This run comes first, as a failed one leaves wrong bytes in `out`.
    if decompressor
        .gzip_decompress(&bytes[..bytes.len() - 1], &mut out)
        .is_ok()
    {
        return None;
    }
    (decompressor.gzip_decompress(bytes, &mut out) == Ok(length)).then_some(out)
}
