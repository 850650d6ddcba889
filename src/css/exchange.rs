//! Writes other addresses into a stylesheet or a declaration list; everything else stays byte for byte.
//!
//! Unlike `rebase` the text stays where it is, so an address that is not understood is simply left alone.

use super::rebase::spell;
use super::{Scan, Url};

/// Whether another address can be written in place of this one.
pub fn is_exchangeable(text: &str, url: &Url) -> bool {
    spell(&text[url.span.clone()], &url.place, "a").is_some()
}

/// `text` with what `with` gives for the addresses of its scan; `None` where nothing changes.
pub fn exchange(
    text: &str,
    scan: &Scan,
    with: &mut dyn FnMut(usize, &Url) -> Option<String>,
) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (nth, url) in scan.urls.iter().enumerate() {
        let Some(new) = with(nth, url).filter(|new| *new != url.value) else {
            continue;
        };
        let Some(token) = spell(&text[url.span.clone()], &url.place, &new) else {
            continue;
        };
        out.push_str(&text[done..url.span.start]);
        out.push_str(&token);
        done = url.span.end;
    }
    if done == 0 {
        return None;
    }
    out.push_str(&text[done..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;

    #[test]
    fn only_the_addresses_change() {
        let check = |text: &str, expected: Option<&str>| {
            let found = exchange(text, &scan(text, false), &mut |_, url| {
                (!url.value.starts_with("data:")).then(|| format!("n/{}", url.value))
            });
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("a{color:red}", None);
        check("a{background:url(data:,x)}", None);
        check(
            "/* k */ a { background : url( 'x.png' ) }",
            Some("/* k */ a { background : url(n/x.png) }"),
        );
        check("@import \"a.css\" print;", Some("@import \"n/a.css\" print;"));
        check(
            "a{background:image-set('b.png' 1x,url(c.png) 2x)}",
            Some("a{background:image-set(\"n/b.png\" 1x,url(n/c.png) 2x)}"),
        );
        // Cut off by the end of the file: what would follow is not known.
        check("a{background:url(x.png", None);
    }

    #[test]
    fn what_cannot_be_written_anew_is_said() {
        let check = |text: &str, expected: bool| {
            let scan = scan(text, false);
            assert_eq!(is_exchangeable(text, &scan.urls[0]), expected, "{text}");
        };
        check("a{background:url(x.png)}", true);
        check("a{background:url(x.png", false);
    }
}
