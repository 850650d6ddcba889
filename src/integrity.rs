//! Subresource Integrity: hashes of a file's bytes in an attribute (SRI, section 3).

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// The hash functions that browsers know, weakest first.
const ALGORITHMS: [&str; 3] = ["sha256", "sha384", "sha512"];

fn digest(algorithm: &str, bytes: &[u8]) -> Option<String> {
    Some(match algorithm {
        "sha256" => STANDARD.encode(Sha256::digest(bytes)),
        "sha384" => STANDARD.encode(Sha384::digest(bytes)),
        "sha512" => STANDARD.encode(Sha512::digest(bytes)),
        _ => return None,
    })
}

/// The algorithm and hash of each item that a browser would understand; options behind `?` are dropped.
fn items(value: &str) -> impl Iterator<Item = (&str, &str)> {
    value.split_ascii_whitespace().filter_map(|item| {
        let (algorithm, rest) = item.split_once('-')?;
        ALGORITHMS
            .contains(&algorithm)
            .then(|| (algorithm, rest.split('?').next().unwrap_or(rest)))
    })
}

/// Whether a browser accepts `bytes` under this value: one hash of the strongest algorithm named must fit.
/// A value that names no known algorithm accepts everything.
pub fn matches(value: &str, bytes: &[u8]) -> bool {
    let Some(strongest) = items(value)
        .filter_map(|(a, _)| ALGORITHMS.iter().position(|&known| known == a))
        .max()
    else {
        return true;
    };
    let expected = digest(ALGORITHMS[strongest], bytes);
    items(value).any(|(a, hash)| a == ALGORITHMS[strongest] && same_hash(hash, expected.as_deref()))
}

/// Base64url letters and missing padding are accepted, as browsers do.
fn same_hash(given: &str, expected: Option<&str>) -> bool {
    let plain: String = given
        .chars()
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            c => c,
        })
        .collect();
    expected.is_some_and(|e| e.trim_end_matches('=') == plain.trim_end_matches('='))
}

/// The value for new bytes: the strongest algorithm of the old one. `None` if the old one named none.
pub fn renew(value: &str, bytes: &[u8]) -> Option<String> {
    let strongest = items(value)
        .filter_map(|(a, _)| ALGORITHMS.iter().position(|&known| known == a))
        .max()?;
    Some(format!(
        "{}-{}",
        ALGORITHMS[strongest],
        digest(ALGORITHMS[strongest], bytes)?
    ))
}

/// The value of `integrity` for these bytes: SHA-384, which the standard recommends.
pub fn seal(bytes: &[u8]) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(bytes)))
}

/// Hashes in the text of a script, which may set `integrity` with them: `sha256-…` as written.
pub fn seals(script: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(script);
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_');
    let mut found = Vec::new();
    for algorithm in ALGORITHMS {
        for (at, _) in text.match_indices(algorithm) {
            let Some(rest) = text[at + algorithm.len()..].strip_prefix('-') else {
                continue;
            };
            let hash = &rest[..rest.find(|c| !is_base64(c)).unwrap_or(rest.len())];
            // 32 bytes are 43 letters without their padding.
            if hash.len() >= 43 {
                found.push(format!("{algorithm}-{hash}"));
            }
        }
    }
    found
}

/// The script may register a service worker, whose list of files nobody here reads.
pub fn registers_worker(script: &[u8]) -> bool {
    memchr::memmem::find(script, b"serviceWorker").is_some()
}

/// Whether one of these hashes is that of `bytes`.
pub fn is_sealed(bytes: &[u8], seals: &BTreeSet<String>) -> bool {
    seals.iter().any(|seal| matches(seal, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    // FIPS 180-4: the digest of no bytes.
    const EMPTY_256: &str = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

    #[test]
    fn a_value_fits_or_not() {
        let check = |value: &str, bytes: &[u8], expected: bool| {
            assert_eq!(matches(value, bytes), expected, "{value}")
        };
        check(EMPTY_256, b"", true);
        check(EMPTY_256, b"x", false);
        check("sha256-47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU", b"", true);
        check("sha256-wrong", b"", false);
        check("md5-anything", b"", true);
        check("", b"", true);
        // The strongest algorithm decides alone.
        check(&format!("{EMPTY_256} sha512-wrong"), b"", false);
        check(&format!("sha256-wrong {EMPTY_256}?ct=text/css"), b"", true);
    }

    #[test]
    fn a_script_may_hold_the_hash_of_a_file() {
        let script = format!("l.integrity = '{EMPTY_256}'; x = 'sha256-short'; y = 'sha1-abc'");
        let found: BTreeSet<String> = seals(script.as_bytes()).into_iter().collect();
        assert_eq!(found, BTreeSet::from([EMPTY_256.to_owned()]));
        assert!(is_sealed(b"", &found) && !is_sealed(b"x", &found));
    }

    #[test]
    fn a_renewed_value_fits_the_new_bytes() {
        let renewed = renew(EMPTY_256, b"new").expect("a known algorithm");
        assert!(renewed.starts_with("sha256-") && matches(&renewed, b"new") && !matches(&renewed, b""));
        assert_eq!(renew("md5-x", b""), None);
    }
}
