//! Zstandard (RFC 8878) as a content coding (RFC 9659), by the C library.

use std::io::{self, BufRead, Read, Write};

use zstd::bulk::Compressor;
use zstd::stream::raw::{CParameter, DParameter};

/// The largest window as a power of two: RFC 9659, section 3, forbids more than 8 MB, and browsers refuse it.
const WINDOW: u32 = 23;

/// What is tried beside the levels above it: their estimates cost a short text of many repetitions more than matching
/// greedily does (2 % of 13 kB of list items), in a tenth of their time.
const LAZY: u32 = 12;

/// Level 1 to 22.
pub(super) fn pack(bytes: &[u8], level: u32) -> Vec<u8> {
    let packed = pack_at(bytes, level);
    if level <= LAZY {
        return packed;
    }
    let other = pack_at(bytes, LAZY);
    if other.len() < packed.len() { other } else { packed }
}

fn pack_at(bytes: &[u8], level: u32) -> Vec<u8> {
    let mut compressor = Compressor::new(level.clamp(1, 22) as i32).expect("a level in its range");
    if let Some(bits) = window(bytes.len() as u64, level) {
        compressor
            .set_parameter(CParameter::WindowLog(bits))
            .expect("a window in its range");
    }
    compressor
        .compress(bytes)
        .expect("compressing fails only without memory")
}

pub(super) fn pack_stream(
    from: &mut dyn Read,
    length: u64,
    level: u32,
    to: &mut dyn Write,
) -> io::Result<()> {
    let mut encoder = zstd::stream::write::Encoder::new(to, level.clamp(1, 22) as i32)?;
    encoder.set_pledged_src_size(Some(length))?;
    if let Some(bits) = window(length, level) {
        encoder.window_log(bits)?;
    }
    io::copy(from, &mut encoder)?;
    encoder.finish()?;
    Ok(())
}

/// Only what would choose a larger window is told: the library fits it to small files by itself.
fn window(length: u64, level: u32) -> Option<u32> {
    (level > 19 && length > 1 << WINDOW).then_some(WINDOW)
}

pub(super) fn unpack(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)
        .ok()?
        .single_frame();
    decoder.set_parameter(DParameter::WindowLogMax(WINDOW)).ok()?;
    let mut out = Vec::new();
    // One byte more tells what is too long.
    decoder
        .by_ref()
        .take((limit as u64).saturating_add(1))
        .read_to_end(&mut out)
        .ok()?;
    let mut rest = decoder.finish();
    let ended = rest.fill_buf().ok()?.is_empty();
    (ended && out.len() <= limit).then_some(out)
}
