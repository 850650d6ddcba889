//! One hash for ids, classes and names, case-folded (ASCII) so that quirks mode can use the same tables.

/// FNV-1a over the bytes in ASCII lower case; never 0, which stands for "no name".
pub(super) fn hash_name(name: &str) -> u32 {
    let mut hash: u32 = 0x811c_9dc5;
    for byte in name.bytes() {
        hash = (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193);
    }
    hash.max(1)
}
