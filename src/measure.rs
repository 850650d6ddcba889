//! How many bytes a file is on the wire.

use crate::encode::{self, Coding};
use crate::options::Options;
use crate::variants;

/// Bytes of one body: as it is, and as the gzip and the brotli variant (the body itself where there is none).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    pub identity: u64,
    pub gzip: u64,
    pub br: u64,
}

impl Sizes {
    /// A body that travels as it is whatever the client accepts.
    pub fn plain(bytes: u64) -> Sizes {
        Sizes {
            identity: bytes,
            gzip: bytes,
            br: bytes,
        }
    }

    /// So much more or less: identity, gzip, brotli.
    pub fn with(self, more: [i64; 3]) -> Sizes {
        Sizes {
            identity: self.identity.saturating_add_signed(more[0]),
            gzip: self.gzip.saturating_add_signed(more[1]),
            br: self.br.saturating_add_signed(more[2]),
        }
    }

    /// No coding got larger and one got smaller.
    pub fn is_better_than(&self, other: &Sizes) -> bool {
        self.gzip <= other.gzip && self.br <= other.br && (self.gzip < other.gzip || self.br < other.br)
    }
}

/// How hard to encode when measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    pub gzip: u32,
    pub brotli: u32,
}

/// The levels that candidates are compared with.
pub const FAST: Levels = Levels {
    gzip: encode::FAST_GZIP,
    brotli: encode::FAST_BROTLI,
};

/// The levels that variants are written with; with the fast ones where a coding is turned off.
pub fn final_levels(options: &Options) -> Levels {
    Levels {
        gzip: options.gzip_level.unwrap_or(FAST.gzip),
        brotli: options.brotli_quality.unwrap_or(FAST.brotli),
    }
}

/// The levels that this build compares with.
pub fn levels(options: &Options) -> Levels {
    if options.measure_full {
        final_levels(options)
    } else {
        FAST
    }
}

/// The sizes of `bytes`. `encoded`: whether files of this kind get variants.
pub fn sizes(bytes: &[u8], encoded: bool, levels: Levels, options: &Options) -> Sizes {
    if !encoded {
        return Sizes::plain(bytes.len() as u64);
    }
    let both = Options {
        gzip_level: Some(levels.gzip),
        brotli_quality: Some(levels.brotli),
        ..Options::sizes_only(options)
    };
    options.cache.sizes(bytes, levels, options.min_size, || {
        let mut sizes = Sizes::plain(bytes.len() as u64);
        for (coding, variant) in variants::make(bytes, &both) {
            match coding {
                Coding::Gzip => sizes.gzip = variant.len() as u64,
                Coding::Brotli => sizes.br = variant.len() as u64,
                // Nothing is decided by it: who takes zstd takes brotli.
                Coding::Zstd => {}
            }
        }
        sizes
    })
}
