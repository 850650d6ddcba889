//! gzip (RFC 1952): libdeflate, zopfli where every byte counts, and zlib in Rust for what does not fit into memory.
//!
//! Bytes in, one member without name and time out, so that equal bytes give equal variants.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use libdeflater::{CompressionLvl, Compressor, Decompressor};

/// Levels above those of libdeflate. This one is its level 10, and more where that shows no gain.
pub(super) const BALANCED: u32 = 13;
/// The smaller of libdeflate's highest level and zopfli with 15 iterations.
pub(super) const ZOPFLI: u32 = 14;

/// A file up to this size is packed by zlib's algorithm as well: by a byte or two it can be the smallest.
const TINY: usize = 4096;

/// Level 1 to 12, `BALANCED` or `ZOPFLI`. The header has no name and no time, so that equal bytes give equal variants.
pub(super) fn pack(bytes: &[u8], level: u32) -> Vec<u8> {
    match level {
        0..BALANCED => deflate(bytes, level),
        BALANCED => balanced(bytes),
        _ => smallest(bytes),
    }
}

/// libdeflate looks for the shortest parse from level 10 on, and takes 5 times as long for 1.6 % less than level 9; 12
/// takes 14 times as long for 2.1 %. Where 10 wins next to nothing over 9 (very repetitive files, on which its
/// estimate goes wrong: up to 6 % larger than gzip's), 12 does. Those are a tenth of all bytes.
fn balanced(bytes: &[u8]) -> Vec<u8> {
    let (lazy, near) = (deflate(bytes, 9), deflate(bytes, 10));
    let gains = near.len() + near.len() / 200 < lazy.len();
    let mut best = if near.len() < lazy.len() { near } else { lazy };
    if !gains {
        best = smaller(best, deflate(bytes, 12));
    }
    if bytes.len() <= TINY {
        best = smaller(best, zlib(bytes));
    }
    best
}

fn smallest(bytes: &[u8]) -> Vec<u8> {
    let mut small = Vec::new();
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
    let other = smaller(balanced(bytes), deflate(bytes, 12));
    match packed {
        Ok(()) => smaller(other, small),
        Err(_) => other,
    }
}

fn smaller(one: Vec<u8>, other: Vec<u8>) -> Vec<u8> {
    if other.len() < one.len() { other } else { one }
}

/// zlib's highest level.
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match pack_stream(&mut &*bytes, 9, &mut out) {
        Ok(()) => out,
        Err(_) => deflate(bytes, 9),
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
