//! Scripts in attributes: event handlers and addresses that begin with `javascript:`.

use memchr::{memchr, memchr_iter};

/// Some attribute that looks like an event handler speaks of images or of `src`. Elements that the scan leaves out
/// have handlers too, so the bytes are asked.
pub(super) fn swap_images(bytes: &[u8]) -> bool {
    memchr_iter(b'=', bytes).any(|at| is_handler(&bytes[..at]) && speaks_of_images(value(&bytes[at + 1..])))
        || memchr_iter(b':', bytes).any(|at| is_script(&bytes[..at]) && speaks_of_images(address(bytes, at)))
}

/// Whether text up to an equals sign ends in the name of a handler.
fn is_handler(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    let letters = text.iter().rev().take_while(|b| b.is_ascii_alphabetic()).count();
    let (before, name) = text.split_at(text.len() - letters);
    let begins = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'');
    name.len() > 4 && name[..2].eq_ignore_ascii_case(b"on") && before.last().is_some_and(begins)
}

/// The value that stands behind an equals sign.
fn value(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_start();
    let value = match text.first() {
        Some(quote @ (b'"' | b'\'')) => text[1..].split(|b| b == quote).next(),
        _ => text.split(|b| b.is_ascii_whitespace() || *b == b'>').next(),
    };
    value.unwrap_or_default()
}

const SCHEME: &[u8] = b"javascript";

fn is_script(text: &[u8]) -> bool {
    let start = text.len().checked_sub(SCHEME.len());
    start.is_some_and(|start| text[start..].eq_ignore_ascii_case(SCHEME))
}

/// The script of an address, as the link that it stands in goes on.
fn address(bytes: &[u8], colon: usize) -> &[u8] {
    let opener = colon.checked_sub(SCHEME.len() + 1).map(|before| bytes[before]);
    let rest = &bytes[colon + 1..];
    let end = match opener {
        Some(quote @ (b'"' | b'\'')) => memchr(quote, rest),
        _ => memchr(b'>', rest),
    };
    &rest[..end.unwrap_or(rest.len())]
}

fn speaks_of_images(script: &[u8]) -> bool {
    let holds = |what: &[u8]| script.windows(what.len()).any(|w| w.eq_ignore_ascii_case(what));
    let word = script.windows(3).enumerate().any(|(at, w)| {
        let beside = |at: Option<usize>| {
            at.and_then(|at| script.get(at))
                .is_some_and(u8::is_ascii_alphanumeric)
        };
        w.eq_ignore_ascii_case(b"src") && !beside(at.checked_sub(1)) && !beside(Some(at + 3))
    });
    word || holds(b"srcset") || holds(b"images") || holds(b"img")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_that_swap_images_are_seen() {
        for page in [
            "<a onclick=\"this.src='b.png'\">",
            "<a onclick=\"f('big').setAttribute('src','b.png')\">",
            "<a href='#x'onclick=\"big.src='b.png'\">",
            "<img/onmouseover=this.src=a>",
            "<a href=\"javascript:void(big.src='b.png')\">",
            "<a href='JavaScript:swap(document.images[0])'>",
            "<a onclick=f(img)>",
        ] {
            assert!(swap_images(page.as_bytes()), "{page}");
        }
        for page in [
            "<a onclick=\"f('srcery')\">",
            "<a href=\"javascript:void(0)\"><img src=a.png>",
            "<p>once on src=a</p><img src=a.png>",
        ] {
            assert!(!swap_images(page.as_bytes()), "{page}");
        }
    }
}
