//! Content codings (RFC 9110, section 8.4): gzip (RFC 1952) and brotli (RFC 7932).
//!
//! Bytes in, bytes out; equal input gives equal output. Whether a variant is worth having is decided elsewhere.
//!
//! Measured on 60 pages of the Boost documentation (1,973,935 bytes; CPU seconds of one core, release build):
//!
//! | encoder       |    s | ratio  |  | encoder          |    s | ratio  |
//! |---------------|------|--------|--|------------------|------|--------|
//! | libdeflate 6  | 0.01 | 0.1092 |  | C brotli 9       | 0.24 | 0.0897 |
//! | libdeflate 9  | 0.03 | 0.1055 |  | C brotli 10      | 0.71 | 0.0822 |
//! | libdeflate 12 | 0.64 | 0.1032 |  | C brotli 11      | 2.97 | 0.0798 |
//! | C brotli 5    | 0.02 | 0.0923 |  | brotli crate 11  | 3.43 | 0.0798 |
//!
//! The `brotli` crate writes the same sizes as the C library in 1.15 (quality 11) to 2.5 (5) times its time; mode, size
//! hint and a window between 16 and 24 bits change nothing at this size of file.

use brotlic::decode::DecoderInfo;
use brotlic::encode::BrotliOperation;
use brotlic::{BrotliDecoder, BrotliEncoderOptions, CompressionMode, Quality, WindowSize};
use libdeflater::{CompressionLvl, Compressor, Decompressor};

/// A coding of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Coding {
    Gzip,
    Brotli,
}

impl Coding {
    pub const ALL: [Coding; 2] = [Coding::Gzip, Coding::Brotli];

    /// What is put behind the file's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Coding::Gzip => ".gz",
            Coding::Brotli => ".br",
        }
    }
}

/// The levels that candidates are compared with.
pub const FAST_GZIP: u32 = 6;
pub const FAST_BROTLI: u32 = 5;

/// Window sizes as powers of two: RFC 7932 ends at 24, and a window larger than the file only costs the reader memory.
const WINDOW: std::ops::RangeInclusive<u8> = 22..=24;

/// Level 1 to 12. The header has no name and no time, so that equal bytes give equal variants.
pub fn gzip(bytes: &[u8], level: u32) -> Vec<u8> {
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

/// Quality 0 to 11.
pub fn brotli(bytes: &[u8], quality: u32) -> Vec<u8> {
    let window = WINDOW
        .clone()
        .find(|&bits| bytes.len() <= (1 << bits) - 16)
        .unwrap_or(*WINDOW.end());
    // The text mode only chooses how literals are modelled; it is for UTF-8.
    let mode = match std::str::from_utf8(bytes) {
        Ok(_) => CompressionMode::Text,
        Err(_) => CompressionMode::Generic,
    };
    let mut encoder = BrotliEncoderOptions::new()
        .quality(Quality::new(quality.min(11) as u8).unwrap_or_default())
        .window_size(WindowSize::new(window).unwrap_or_default())
        .mode(mode)
        .size_hint(u32::try_from(bytes.len()).unwrap_or(u32::MAX))
        .build()
        .expect("every option is in its range");
    let mut out = Vec::with_capacity(bytes.len() / 4 + 64);
    let mut buffer = vec![0; 1 << 16];
    let mut rest = bytes;
    while !encoder.is_finished() {
        let step = encoder.compress(rest, &mut buffer, BrotliOperation::Finish);
        let step = step.expect("compressing fails only without memory");
        rest = &rest[step.bytes_read..];
        out.extend(&buffer[..step.bytes_written]);
    }
    out.shrink_to_fit();
    out
}

/// The bytes that a variant unpacks to, if it is whole and no larger than `limit`.
///
/// A variant with anything behind its end is not whole. Nor is a gzip file of several members: legal, but not every
/// client reads more than the first.
pub fn unpack(coding: Coding, bytes: &[u8], limit: u64) -> Option<Vec<u8>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    match coding {
        Coding::Gzip => unpack_gzip(bytes, limit),
        Coding::Brotli => unpack_brotli(bytes, limit),
    }
}

fn unpack_gzip(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
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

fn unpack_brotli(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut decoder = BrotliDecoder::new();
    let mut out: Vec<u8> = Vec::new();
    let mut written = 0;
    let mut rest = bytes;
    loop {
        if written == out.len() && out.len() < limit {
            out.resize(limit.min((out.len() * 2).max(1 << 16)), 0);
        }
        let step = decoder.decompress(rest, &mut out[written..]).ok()?;
        rest = &rest[step.bytes_read..];
        written += step.bytes_written;
        match step.info {
            DecoderInfo::Finished => {
                out.truncate(written);
                return rest.is_empty().then_some(out);
            }
            DecoderInfo::NeedsMoreInput => return None,
            // No room left, or room that it does not use.
            DecoderInfo::NeedsMoreOutput if written == limit || written < out.len() => return None,
            DecoderInfo::NeedsMoreOutput => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Vec<u8>> {
        let mut state = 1u32;
        let mut noise = |n: usize| -> Vec<u8> {
            let next = |_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            };
            (0..n).map(next).collect()
        };
        vec![
            Vec::new(),
            b"a".to_vec(),
            b"<p>caf\xE9</p>".to_vec(),
            "<p>one</p>\n".repeat(10_000).into_bytes(),
            vec![0; 3 << 16],
            noise(70_000),
            noise(1 << 16),
        ]
    }

    fn pack(coding: Coding, bytes: &[u8], level: u32) -> Vec<u8> {
        match coding {
            Coding::Gzip => gzip(bytes, level),
            Coding::Brotli => brotli(bytes, level),
        }
    }

    #[test]
    fn there_and_back() {
        for bytes in samples() {
            for coding in Coding::ALL {
                for level in [0, 5, 12] {
                    let packed = pack(coding, &bytes, level);
                    assert_eq!(packed, pack(coding, &bytes, level));
                    let limit = bytes.len() as u64;
                    let back = unpack(coding, &packed, limit);
                    assert!(
                        back.as_ref() == Some(&bytes),
                        "{coding:?} {level} {}",
                        bytes.len()
                    );
                    assert!(unpack(coding, &packed, limit + 1) == Some(bytes.clone()));
                    if limit > 0 {
                        assert_eq!(unpack(coding, &packed, limit - 1), None);
                    }
                }
            }
        }
    }

    #[test]
    fn gzip_header_is_constant() {
        // Method deflate, no flags, no time, slowest compression, system unknown (RFC 1952, section 2.3.1).
        assert_eq!(gzip(b"text", 12)[..10], *b"\x1F\x8B\x08\0\0\0\0\0\x02\xFF");
    }

    #[test]
    fn broken_variants() {
        for coding in Coding::ALL {
            let packed = pack(coding, &b"some text, some more text".repeat(9), 9);
            for end in 0..packed.len() {
                assert_eq!(unpack(coding, &packed[..end], 1000), None, "{coding:?} {end}");
            }
            for tail in [b"\0".as_slice(), &packed] {
                assert_eq!(
                    unpack(coding, &[&packed, tail].concat(), 1000),
                    None,
                    "{coding:?}"
                );
            }
            assert_eq!(unpack(coding, b"\x0B\x02 STALE-COPY \x03", 1000), None);
            assert_eq!(unpack(coding, b"", 1000), None);
        }
        // A length of 4 GiB in a file of 20 bytes.
        let mut lie = gzip(b"", 9);
        let at = lie.len() - 4;
        lie[at..].copy_from_slice(&[0xFF; 4]);
        assert_eq!(unpack(Coding::Gzip, &lie, u64::MAX), None);
    }
}
