//! `_headers` of OUT, the format of Netlify and Cloudflare Pages: SITE's lines as they are, and behind them one block
//! with the `Link` headers of pages (RFC 8288), which such hosts also send early (RFC 8297).
//!
//! The block stands between two comments, so that the next build of the same folder finds and replaces it.

use std::collections::BTreeMap;

use crate::site::SitePath;
use crate::url::{self, Mount};

const BEGIN: &str = "# fewer: link headers begin\n";
const END: &str = "# fewer: link headers end\n";

/// The whole file. An `index.html` is asked for by its folder; other pages by their name.
pub(crate) fn with_links(
    old: Option<&[u8]>,
    links: &BTreeMap<SitePath, Vec<String>>,
    mount: &Mount,
) -> Vec<u8> {
    let mut out = without_block(old.unwrap_or_default());
    if links.values().all(Vec::is_empty) {
        return out;
    }
    if !out.is_empty() && !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    out.extend_from_slice(BEGIN.as_bytes());
    for (page, values) in links.iter().filter(|(_, values)| !values.is_empty()) {
        out.extend_from_slice(url::address(mount, page).as_bytes());
        out.push(b'\n');
        for value in values {
            out.extend_from_slice(format!("  Link: {value}\n").as_bytes());
        }
    }
    out.extend_from_slice(END.as_bytes());
    out
}

/// What SITE says in a file that a build added to.
pub(crate) fn without_links(text: &str) -> String {
    String::from_utf8_lossy(&without_block(text.as_bytes())).into_owned()
}

/// What an earlier build added is taken out.
fn without_block(old: &[u8]) -> Vec<u8> {
    let find = |what: &str, from: usize| {
        let at = old[from..].windows(what.len()).position(|w| w == what.as_bytes());
        at.map(|at| from + at)
    };
    match find(BEGIN, 0).and_then(|begin| Some((begin, find(END, begin)? + END.len()))) {
        Some((begin, end)) => [&old[..begin], &old[end..]].concat(),
        None => old.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_behind_the_lines_of_site() {
        let mount = url::mount(None).unwrap();
        let links = BTreeMap::from([
            (
                SitePath::new("a b/index.html"),
                vec!["</x.css>; rel=preload; as=style".to_owned()],
            ),
            (SitePath::new("c.html"), vec![]),
        ]);
        let once = with_links(Some(b"/*\n  X-A: b"), &links, &mount);
        let expected = "/*\n  X-A: b\n# fewer: link headers begin\n/a%20b/\n  Link: </x.css>; rel=preload; as=style\n# fewer: link headers end\n";
        assert_eq!(String::from_utf8(once.clone()).unwrap(), expected);
        assert_eq!(with_links(Some(&once), &links, &mount), once);
        assert_eq!(
            with_links(Some(&once), &BTreeMap::new(), &mount),
            b"/*\n  X-A: b\n"
        );
        assert_eq!(with_links(None, &BTreeMap::new(), &mount), b"");
    }
}
