//! Brotli (RFC 7932), by the C library.

use std::io::{self, Read, Write};
use std::ops::RangeInclusive;

use brotlic::decode::DecoderInfo;
use brotlic::encode::BrotliOperation;
use brotlic::{
    BrotliDecoder, BrotliEncoder, BrotliEncoderOptions, CompressionMode, CompressorWriter, Quality,
    WindowSize,
};

/// The quality above those of the library: its highest in each of its modes, of which the smallest result wins.
pub(super) const EVERY_MODE: u32 = 12;

/// Window sizes as powers of two: RFC 7932 ends at 24. One larger than the file costs the reader memory and the writer
/// time, and saves nothing.
const WINDOW: RangeInclusive<u8> = 10..=24;

/// Quality 0 to 11, or `EVERY_MODE`.
pub(super) fn pack(bytes: &[u8], quality: u32) -> Vec<u8> {
    if quality < EVERY_MODE {
        return pack_as(mode_of(bytes), bytes, quality);
    }
    let modes = [
        CompressionMode::Generic,
        CompressionMode::Text,
        CompressionMode::Font,
    ];
    let all = modes.into_iter().map(|mode| pack_as(mode, bytes, quality));
    all.min_by_key(Vec::len).unwrap_or_default()
}

/// The text mode is for UTF-8, the font mode for WOFF 2 and what would be in it.
fn mode_of(bytes: &[u8]) -> CompressionMode {
    const FONTS: [&[u8]; 3] = [b"\0\x01\0\0", b"OTTO", b"true"];
    if FONTS.iter().any(|magic| bytes.starts_with(magic)) {
        return CompressionMode::Font;
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => CompressionMode::Text,
        Err(_) => CompressionMode::Generic,
    }
}

fn pack_as(mode: CompressionMode, bytes: &[u8], quality: u32) -> Vec<u8> {
    let mut encoder = encoder(mode, bytes.len() as u64, quality);
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

fn encoder(mode: CompressionMode, length: u64, quality: u32) -> BrotliEncoder {
    let window = WINDOW
        .clone()
        .find(|&bits| length <= (1 << bits) - 16)
        .unwrap_or(*WINDOW.end());
    BrotliEncoderOptions::new()
        .quality(Quality::new(quality.min(11) as u8).unwrap_or_default())
        .window_size(WindowSize::new(window).unwrap_or_default())
        .mode(mode)
        .size_hint(u32::try_from(length).unwrap_or(u32::MAX))
        .build()
        .expect("every option is in its range")
}

/// What is too large to be looked at twice counts as generic.
pub(super) fn pack_stream(
    from: &mut dyn Read,
    length: u64,
    quality: u32,
    to: &mut dyn Write,
) -> io::Result<()> {
    let encoder = encoder(CompressionMode::Generic, length, quality);
    let mut writer = CompressorWriter::with_encoder(encoder, to);
    io::copy(from, &mut writer)?;
    writer.into_inner().map_err(|e| io::Error::other(e.to_string()))?;
    Ok(())
}

pub(super) fn unpack(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
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
