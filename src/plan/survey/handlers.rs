//! Scripts in attributes: event handlers and addresses that begin with `javascript:`.

/// Some attribute that looks like an event handler speaks of images or of `src`. Elements that the scan leaves out
/// have handlers too, so the bytes are asked.
pub(super) fn swap_images(bytes: &[u8]) -> bool {
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(3).position(|w| {
        (w[0].is_ascii_whitespace() || matches!(w[0], b'/' | b'"' | b'\''))
            && w[1].eq_ignore_ascii_case(&b'o')
            && w[2].eq_ignore_ascii_case(&b'n')
    }) {
        at += found + 3;
        let name = bytes[at..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
        let rest = bytes[at + name..].trim_ascii_start();
        let Some(value) = rest.strip_prefix(b"=").map(<[u8]>::trim_ascii_start) else {
            continue;
        };
        let value = match value.first() {
            Some(quote @ (b'"' | b'\'')) => value[1..].split(|b| b == quote).next(),
            _ => value.split(|b| b.is_ascii_whitespace() || *b == b'>').next(),
        };
        let value = value.unwrap_or_default();
        if name > 2 && speaks_of_images(value) {
            return true;
        }
    }
    // A script as the address of a link.
    const SCHEME: &[u8] = b"javascript:";
    bytes
        .windows(SCHEME.len())
        .enumerate()
        .filter(|(_, w)| w.eq_ignore_ascii_case(SCHEME))
        .any(|(at, _)| {
            let rest = &bytes[at + SCHEME.len()..];
            let opener = at.checked_sub(1).map(|before| bytes[before]);
            let end = rest.iter().position(|b| match opener {
                Some(quote @ (b'"' | b'\'')) => *b == quote,
                _ => *b == b'>',
            });
            speaks_of_images(&rest[..end.unwrap_or(rest.len())])
        })
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
