//! Which coding of a file a client gets (RFC 9110, section 12.5.3).
//!
//! In: the value of `Accept-Encoding` and the codings that lie beside the file. Out: one of them, or none for the file
//! as it is, which is always sent rather than a 406.

use crate::deployed::Coded;

/// The coding that the client likes best; among equals the first of `available`.
pub(super) fn choose(accept: Option<&str>, available: &[Coded]) -> Option<Coded> {
    let accept = accept?;
    let mut best: Option<(Coded, u16)> = None;
    for &coding in available {
        let weight = weight(accept, coding.token());
        if weight > best.map_or(0, |(_, weight)| weight) {
            best = Some((coding, weight));
        }
    }
    let (coding, weight) = best?;
    // A client that names the file as it is and likes it better means it.
    (weight >= stated(accept, "identity").unwrap_or(0)).then_some(coding)
}

/// In thousandths, 0 for what is not accepted.
fn weight(accept: &str, token: &str) -> u16 {
    stated(accept, token).or_else(|| stated(accept, "*")).unwrap_or(0)
}

/// The weight that the list gives a token, if it names it.
fn stated(accept: &str, token: &str) -> Option<u16> {
    accept.split(',').find_map(|part| {
        let mut pieces = part.split(';').map(str::trim);
        let name = pieces.next()?.to_ascii_lowercase();
        // RFC 9110, section 8.4.1.3: `x-gzip` is `gzip`.
        let name = name
            .strip_prefix("x-")
            .filter(|rest| *rest == "gzip")
            .unwrap_or(&name);
        if name != token {
            return None;
        }
        let q = pieces.find_map(|piece| piece.strip_prefix("q=").or_else(|| piece.strip_prefix("Q=")));
        Some(q.map_or(1000, thousandths))
    })
}

/// `0`, `0.5`, `1.000`; what is not of that form is no acceptance.
fn thousandths(q: &str) -> u16 {
    let (whole, part) = q.split_once('.').unwrap_or((q, ""));
    if part.len() > 3 || !part.bytes().all(|b| b.is_ascii_digit()) {
        return 0;
    }
    let part: u16 = format!("{part:0<3}").parse().unwrap_or(0);
    match whole {
        "0" => part,
        "1" => 1000,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codings_by_weight() {
        let check = |accept: &str, expected: &str| {
            let chosen = choose(Some(accept), &Coded::ALL).map_or("", Coded::token);
            assert_eq!(chosen, expected, "{accept}");
        };
        check("gzip, deflate, br, zstd", "br");
        check("gzip, deflate, zstd", "zstd");
        check("gzip", "gzip");
        check("X-GZIP", "gzip");
        check("br;q=0, gzip", "gzip");
        check("br;q=0.000, gzip;q=0.001", "gzip");
        check("br;q=0.1, gzip;q=0.5", "gzip");
        check("br ; q=0.5 , gzip;q=0.5", "br");
        check("*", "br");
        check("*;q=0", "");
        check("br;q=0, *", "zstd");
        check("identity", "");
        check("identity;q=1, gzip;q=0.5", "");
        check("identity;q=0.5, gzip;q=1.0", "gzip");
        check("identity;q=0", "");
        check("", "");
        check("brotli, xbr", "");
        check("br;q=2", "");
        check("br;q=0.5555", "");
        assert_eq!(choose(None, &Coded::ALL), None);
        assert_eq!(choose(Some("br, gzip"), &[Coded::Gzip]), Some(Coded::Gzip));
    }
}
