//! Which of several texts that mean the same is the smallest on the wire.
//!
//! Servers send gzip or brotli, so the sum of both counts. Brotli at the quality that static files are stored with is
//! slow, a few microseconds for a byte: fast passes rank the candidates, and as many of the best as a fixed number of
//! bytes allows are measured exactly.

use brotlic::{CompressionMode, Quality, WindowSize};
use libdeflater::{CompressionLvl, Compressor};

/// Bytes that may be compressed at the slow quality, over all candidates.
const BUDGET: usize = 100_000;

/// Candidates that may.
const FINALISTS: usize = 3;

/// From this many bytes on, only the best few by a quick deflate are measured at all.
const LONG: usize = 30_000;

/// The place of the smallest; the first of equals.
pub(super) fn smallest(texts: &[String]) -> usize {
    let longest = texts.iter().map(String::len).max().unwrap_or(0);
    let mut places: Vec<usize> = (0..texts.len()).collect();
    if longest >= LONG {
        places.sort_by_cached_key(|&i| (deflate(&texts[i], 6), i));
        places.truncate(FINALISTS);
    }
    let mut costs: Vec<(usize, usize, usize)> = places
        .into_iter()
        .map(|i| {
            let deflated = deflate(&texts[i], 9);
            (deflated + brotli(&texts[i], 5), deflated, i)
        })
        .collect();
    costs.sort_unstable();
    let exact = (BUDGET / longest.max(1)).min(FINALISTS);
    if exact > 1 {
        costs.truncate(exact);
        for cost in &mut costs {
            cost.0 = cost.1 + brotli(&texts[cost.2], 11);
        }
        costs.sort_unstable();
    }
    costs.first().map_or(0, |cost| cost.2)
}

fn deflate(text: &str, level: i32) -> usize {
    let level = CompressionLvl::new(level).unwrap_or_default();
    let mut compressor = Compressor::new(level);
    let mut buffer = vec![0; compressor.deflate_compress_bound(text.len())];
    compressor
        .deflate_compress(text.as_bytes(), &mut buffer)
        .unwrap_or(text.len())
}

fn brotli(text: &str, quality: u8) -> usize {
    let quality = Quality::new(quality).unwrap_or_default();
    let bound = brotlic::compress_bound(text.len(), quality).unwrap_or(text.len() * 2 + 1000);
    let mut buffer = vec![0; bound];
    let window = WindowSize::default();
    brotlic::compress(
        text.as_bytes(),
        &mut buffer,
        quality,
        window,
        CompressionMode::Generic,
    )
    .unwrap_or(text.len())
}
