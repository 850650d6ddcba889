//! Content codings (RFC 9110, section 8.4): gzip (RFC 1952), brotli (RFC 7932), zstd (RFC 8878 and 9659).
//!
//! Bytes in, bytes out; equal input gives equal output. Whether a variant is worth having is decided elsewhere, and so
//! is whether it is known already.
//!
//! One file a coding: `gzip`, `brotli`, `zstd`. Which library and which level is chosen by measurement: the tables
//! stand at `Effort`, and `cargo xtask bench sizes` checks the choice against `gzip -9` and `brotli -q 11`.

mod brotli;
mod gzip;
mod zstd;

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

/// A coding of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Coding {
    Gzip,
    Brotli,
    Zstd,
}

impl Coding {
    /// In the order in which they are made.
    pub const ALL: [Coding; 3] = [Coding::Gzip, Coding::Brotli, Coding::Zstd];

    /// What is put behind the file's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Coding::Gzip => ".gz",
            Coding::Brotli => ".br",
            Coding::Zstd => ".zst",
        }
    }

    /// The library that makes these variants. Other bytes may come from another version: the name is part of what a
    /// cache remembers them by.
    pub(crate) fn encoder(self) -> &'static str {
        match self {
            Coding::Gzip => "libdeflate-sys 1.26.1, zlib-rs 0.6.8, zopfli 0.8.4",
            Coding::Brotli => "brotlic-sys 0.2.2",
            Coding::Zstd => "zstd-sys 2.1.3+zstd.1.5.7",
        }
    }

    /// The same for `pack_stream`.
    pub(crate) fn stream_encoder(self) -> &'static str {
        match self {
            Coding::Gzip => "flate2 1.1.11, zlib-rs 0.6.8",
            Coding::Brotli | Coding::Zstd => self.encoder(),
        }
    }
}

/// The levels that candidates are compared with.
pub const FAST_GZIP: u32 = 6;
pub const FAST_BROTLI: u32 = 5;
const FAST_ZSTD: u32 = 3;

/// How hard the variants are packed.
///
/// Measured on every 25th text file of three manuals (350 files, 6,715,980 bytes; CPU seconds of one core, release
/// build). `gzip -9` makes 1,328,720 bytes of them in 0.26 s, `brotli -q 11` 1,016,091 in 8.65 s.
///
/// | gzip          |     s |     bytes |  | brotli           |    s |     bytes |  | zstd |    s |     bytes |
/// |---------------|-------|-----------|--|------------------|------|-----------|--|------|------|-----------|
/// | libdeflate 6  |  0.06 | 1,332,718 |  | C 5              | 0.12 | 1,165,158 |  | 12   | 0.37 | 1,271,160 |
/// | libdeflate 9  |  0.13 | 1,313,956 |  | C 9              | 0.45 | 1,148,046 |
/// | libdeflate 10 |  0.67 | 1,292,724 |  | C 10             | 2.96 | 1,045,658 |
/// | libdeflate 11 |  1.10 | 1,287,815 |  | C 11             | 8.12 | 1,015,972 |
/// | libdeflate 12 |  1.81 | 1,286,638 |  | C 11, font mode  | 8.76 | 1,015,713 |
/// | `BALANCED`    |  1.02 | 1,290,923 |  | C 11, 4 MB window| 8.04 | 1,015,868 |
/// | zlib-rs 9     |  0.12 | 1,334,209 |
/// | zopfli        | 40.48 | 1,281,619 |
///
/// Larger than by `gzip -9`: 5 of the files by libdeflate 10, 1 by libdeflate 12, none by `BALANCED`. Brotli's text mode
/// and size hint change nothing at quality 11. The window that just fits gives what `brotli -q 11` gives, byte for
/// byte; a larger one gives 104 bytes less in all, but one byte more on 9 files, so it is not taken. The `brotli`
/// crate writes the same sizes as the C library in 1.15 (quality 11) to 2.5 (5) times its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// While a site is being worked on.
    Fast,
    /// Never larger than what `gzip -9` and `brotli -q 11` make.
    Default,
    /// The smallest that is known, whatever it takes.
    Max,
}

impl Effort {
    pub const ALL: [Effort; 3] = [Effort::Fast, Effort::Default, Effort::Max];

    pub fn name(self) -> &'static str {
        match self {
            Effort::Fast => "fast",
            Effort::Default => "default",
            Effort::Max => "max",
        }
    }

    /// The level that a coding is written with.
    pub fn level(self, coding: Coding) -> u32 {
        match (self, coding) {
            (Effort::Fast, Coding::Gzip) => 9,
            (Effort::Fast, Coding::Brotli) => 9,
            (Effort::Fast, Coding::Zstd) => 12,
            (Effort::Default, Coding::Gzip) => gzip::BALANCED,
            (Effort::Default, Coding::Brotli) => 11,
            (Effort::Default, Coding::Zstd) => 19,
            (Effort::Max, Coding::Gzip) => gzip::ZOPFLI,
            (Effort::Max, Coding::Brotli) => brotli::EVERY_MODE,
            (Effort::Max, Coding::Zstd) => 22,
        }
    }
}

/// How a report names a level.
pub fn level_name(coding: Coding, level: u32) -> String {
    match (coding, level) {
        (Coding::Gzip, gzip::BALANCED) => "10 to 12".to_owned(),
        (Coding::Gzip, gzip::ZOPFLI) => "zopfli".to_owned(),
        (Coding::Brotli, brotli::EVERY_MODE) => "11 in each mode".to_owned(),
        _ => level.to_string(),
    }
}

/// The bytes as a variant; a level out of range is the nearest one within.
pub fn pack(coding: Coding, bytes: &[u8], level: u32) -> Vec<u8> {
    match coding {
        Coding::Gzip => gzip::pack(bytes, level),
        Coding::Brotli => brotli::pack(bytes, level),
        Coding::Zstd => zstd::pack(bytes, level),
    }
}

/// The bytes as a variant for measuring only, or where nobody asked for one.
pub(crate) fn pack_fast(coding: Coding, bytes: &[u8]) -> Vec<u8> {
    let level = match coding {
        Coding::Gzip => FAST_GZIP,
        Coding::Brotli => FAST_BROTLI,
        Coding::Zstd => FAST_ZSTD,
    };
    pack(coding, bytes, level)
}

/// Packs what does not fit into memory. `length` is how many bytes there are. The result is the same at any size of
/// the pieces that `from` gives, but not the same as that of `pack`.
pub fn pack_stream(
    coding: Coding,
    from: &mut dyn Read,
    length: u64,
    level: u32,
    to: &mut dyn Write,
) -> io::Result<()> {
    match coding {
        Coding::Gzip => gzip::pack_stream(from, level, to),
        Coding::Brotli => brotli::pack_stream(from, length, level, to),
        Coding::Zstd => zstd::pack_stream(from, length, level, to),
    }
}

/// The bytes that a variant unpacks to, if it is whole and no larger than `limit`.
///
/// A variant with anything behind its end is not whole. Nor is a gzip file of several members or a zstd file of several
/// frames: legal, but not every client reads more than the first.
pub fn unpack(coding: Coding, bytes: &[u8], limit: u64) -> Option<Vec<u8>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    match coding {
        Coding::Gzip => gzip::unpack(bytes, limit),
        Coding::Brotli => brotli::unpack(bytes, limit),
        Coding::Zstd => zstd::unpack(bytes, limit),
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

    #[test]
    fn there_and_back() {
        for bytes in samples() {
            for coding in Coding::ALL {
                // The highest levels take their time: for the shorter ones.
                let levels = if bytes.len() < 1000 { 15 } else { 13 };
                for level in [0, 5, 11, 12, 13, 14].into_iter().filter(|&level| level < levels) {
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
        for level in [12, 13, 14] {
            let packed = pack(Coding::Gzip, &b"text".repeat(99), level);
            assert_eq!(packed[..10], *b"\x1F\x8B\x08\0\0\0\0\0\x02\xFF");
        }
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
        let mut lie = pack(Coding::Gzip, b"", 9);
        let at = lie.len() - 4;
        lie[at..].copy_from_slice(&[0xFF; 4]);
        assert_eq!(unpack(Coding::Gzip, &lie, u64::MAX), None);
    }

    #[test]
    fn pieces_make_the_same() {
        // Hands out its bytes in pieces of odd sizes.
        struct Pieces<'a>(&'a [u8], usize);
        impl Read for Pieces<'_> {
            fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
                self.1 = self.1 * 7 % 1001 + 1;
                let length = self.1.min(to.len()).min(self.0.len());
                to[..length].copy_from_slice(&self.0[..length]);
                self.0 = &self.0[length..];
                Ok(length)
            }
        }
        for bytes in samples() {
            for coding in Coding::ALL {
                let stream = |mut from: &mut dyn Read| {
                    let mut out = Vec::new();
                    pack_stream(coding, &mut from, bytes.len() as u64, 9, &mut out).unwrap();
                    out
                };
                let whole = stream(&mut bytes.as_slice());
                assert!(
                    whole == stream(&mut Pieces(&bytes, 3)),
                    "{coding:?} {}",
                    bytes.len()
                );
                let back = unpack(coding, &whole, bytes.len() as u64);
                assert!(back.as_ref() == Some(&bytes), "{coding:?} {}", bytes.len());
            }
        }
    }

    #[test]
    fn more_effort_is_never_larger() {
        let text: String = (0..1000)
            .map(|n| format!("<li id=\"n{}\">{} steps</li>\n", n * n % 977, n * 31 % 449))
            .collect();
        for coding in Coding::ALL {
            let sizes = Effort::ALL.map(|effort| pack(coding, text.as_bytes(), effort.level(coding)).len());
            assert!(
                sizes[0] >= sizes[1] && sizes[1] >= sizes[2],
                "{coding:?} {sizes:?}"
            );
            assert!(pack_fast(coding, text.as_bytes()).len() >= sizes[0], "{coding:?}");
        }
    }

    #[test]
    fn zstd_windows_are_those_that_browsers_take() {
        // 9 MB, so that a window of the size of the content would be too large.
        let text = "some text, and more of it; ".repeat(320_000).into_bytes();
        for level in [19, 22] {
            let packed = pack(Coding::Zstd, &text, level);
            // RFC 8878, section 3.1.1.1: no single segment, and 8 MB as 2^(10 + 13).
            assert_eq!(packed[4] & 0x20, 0);
            assert!(packed[5] >> 3 <= 13, "{:#x}", packed[5]);
            assert!(unpack(Coding::Zstd, &packed, text.len() as u64).as_ref() == Some(&text));
        }
        // A window of 128 MB, as `zstd --ultra -22 --long=27` makes it: nothing that a browser reads.
        let mut large = zstd_with_window(&text, 27);
        assert_eq!(unpack(Coding::Zstd, &large, text.len() as u64), None);
        large = zstd_with_window(&text, 23);
        assert!(unpack(Coding::Zstd, &large, text.len() as u64).as_ref() == Some(&text));
    }

    fn zstd_with_window(bytes: &[u8], bits: u32) -> Vec<u8> {
        let mut encoder = ::zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(bits).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }
}
