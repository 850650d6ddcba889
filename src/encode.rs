//! Content codings (RFC 9110, section 8.4): gzip (RFC 1952) and brotli (RFC 7932).

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

/// Header without name and time, so that equal bytes give equal variants.
pub fn gzip(_bytes: &[u8], _level: u32) -> Vec<u8> {
    unimplemented!()
}

pub fn brotli(_bytes: &[u8], _quality: u32) -> Vec<u8> {
    unimplemented!()
}

/// The bytes that a variant unpacks to, if it is whole and no larger than `limit`.
pub fn unpack(_coding: Coding, _bytes: &[u8], _limit: u64) -> Option<Vec<u8>> {
    unimplemented!()
}
