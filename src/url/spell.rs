//! From a file to a reference: how it is spelled where it stands.
//!
//! In: files of the site and where a reference will stand. Out: text that the URL parser reads as that file again
//! (`a_reference_leads_to_the_file_it_was_made_for` holds both directions against each other).

use ::url::Position;

use super::{Base, Mount, decoded_path};
use crate::site::SitePath;

/// The shortest relative reference from one file of the site to another, percent-encoded, ASCII only. It needs no
/// quotes in CSS; in an attribute it needs quotes at most.
pub fn relative(from: &SitePath, to: &SitePath) -> String {
    let folders = from.folder();
    let to = to.as_bytes();
    // The longest common run of whole folders.
    let mut common = 0;
    for (i, (a, b)) in folders.iter().zip(to).enumerate() {
        if a != b {
            break;
        }
        if *a == b'/' {
            common = i + 1;
        }
    }
    let ups = folders[common..].iter().filter(|&&b| b == b'/').count();
    let mut out = "../".repeat(ups);
    let rest = encode_path(&to[common..]);
    // `a:b` would be a scheme, a leading `/` the root.
    if ups == 0
        && (rest
            .split('/')
            .next()
            .is_some_and(|first| first.is_empty() || first.contains(':')))
    {
        out.push_str("./");
    }
    out.push_str(&rest);
    out
}

/// The root-relative reference to a file: `/sub/img/a.png`. Also the `address` at which it is requested by name.
pub fn absolute(mount: &Mount, to: &SitePath) -> String {
    format!("{}{}", mount.path(), encode_path(to.as_bytes()))
}

/// The last segment of a path, as a reference spells it.
pub fn name(to: &SitePath) -> String {
    encode_path(to.name())
}

/// The address of a file on another host that serves the whole site below `root`, which ends in `/`.
pub fn on_host(root: &str, to: &SitePath) -> String {
    format!("{root}{}", encode_path(to.as_bytes()))
}

/// `--base-url` says where the site is served.
pub fn has_origin(mount: &Mount) -> bool {
    !mount.invented
}

/// The whole address of a file, where `--base-url` says what that is.
pub fn whole(mount: &Mount, to: &SitePath) -> Option<String> {
    (!mount.invented).then(|| on_host(mount.root.as_str(), to))
}

/// The address that a browser asks for when it opens this page: that of the folder for its `index.html`.
pub fn address(mount: &Mount, page: &SitePath) -> String {
    let mut address = absolute(mount, page);
    if page.name() == b"index.html" {
        address.truncate(address.len() - "index.html".len());
    }
    address
}

/// The whole URL at which a browser opens a page of the site that lives at `home` (`Mount::home`).
pub fn opened(home: &str, page: &SitePath) -> String {
    let path = encode_path(page.as_bytes());
    let path = match page.name() {
        b"index.html" => &path[..path.len() - "index.html".len()],
        _ => &path,
    };
    format!("{home}{path}")
}

/// The whole URL of an address (path and query) of the site that lives at `home`.
pub fn at_home(home: &str, address: &str) -> String {
    let origin = home.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    format!("{origin}{address}")
}

/// A reference to a file that is right at `base`, which a `<base href>` may have moved; `None` where the base is on
/// another origin or outside the site.
pub fn relative_to_base(mount: &Mount, base: &Base, to: &SitePath) -> Option<String> {
    if base.url[..Position::BeforePath] != mount.root[..Position::BeforePath] {
        return None;
    }
    let path = decoded_path(base.url.path())?;
    let from = path.strip_prefix(mount.folder.as_slice())?;
    // A second slash in a row makes a folder without a name, which the reference cannot climb over by names.
    if from.starts_with(b"/") || from.windows(2).any(|pair| pair == b"//") {
        return Some(absolute(mount, to));
    }
    Some(relative(&SitePath::new(from), to))
}

/// The shortest relative reference from a file to an `address` of `Target` (path and query), spelled as the address
/// is, so that a browser's cache sees one request and not two. ASCII; may hold `'`, `(`, `)` and `&`.
pub fn relative_to_address(mount: &Mount, from: &SitePath, address: &str) -> String {
    let from = absolute(mount, from);
    let folders = &from[..from.rfind('/').map_or(0, |i| i + 1)];
    let path = &address[..address.find('?').unwrap_or(address.len())];
    let common = folders
        .bytes()
        .zip(path.bytes())
        .take_while(|(a, b)| a == b)
        .enumerate()
        .filter(|(_, (a, _))| *a == b'/')
        .last()
        .map_or(0, |(i, _)| i + 1);
    let ups = folders[common..].matches('/').count();
    let rest = &address[common..];
    let first = &rest[..rest.find(['/', '?']).unwrap_or(rest.len())];
    let dot = if ups == 0 && (first.is_empty() || first.contains(':')) {
        "./"
    } else {
        ""
    };
    format!("{}{dot}{rest}", "../".repeat(ups))
}

/// Encodes what the URL parser would change and what is special in attributes or CSS; `/` stays. A comma is special
/// in `srcset` only at the ends of a URL.
pub fn encode_path(path: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(path.len());
    for (i, &byte) in path.iter().enumerate() {
        let at_edge = i == 0 || path[i - 1] == b'/' || path.get(i + 1).is_none_or(|&next| next == b'/');
        let keep =
            byte.is_ascii_alphanumeric() || b"-._~!$+;=:@/".contains(&byte) || byte == b',' && !at_edge;
        if keep {
            out.push(byte as char);
        } else {
            out.push('%');
            out.push(HEX[usize::from(byte >> 4)] as char);
            out.push(HEX[usize::from(byte & 15)] as char);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::path;
    use super::super::{base, mount, with_base_element};
    use super::*;

    #[test]
    fn shortest_relative_references() {
        #[track_caller]
        fn check(from: &str, to: &str, expected: &str) {
            assert_eq!(relative(&path(from), &path(to)), expected, "{from} to {to}");
        }
        check("index.html", "dot.png", "dot.png");
        check("index.html", "img/dot.png", "img/dot.png");
        check("css/site.css", "img/dot.png", "../img/dot.png");
        check("css/site.css", "css/dot.png", "dot.png");
        check("css/site.css", "css/a/dot.png", "a/dot.png");
        check("a/b/c.css", "a/bc/d.png", "../bc/d.png");
        check("a/b/c.css", "d.png", "../../d.png");
        check("a/b.css", "a/b.css", "b.css");
        check("index.html", "a:b.png", "./a:b.png");
        check("x/y.css", "a:b.png", "../a:b.png");
        check("index.html", "a/b:c.png", "a/b:c.png");
        check("index.html", "a b'c\"d(e)f.png", "a%20b%27c%22d%28e%29f.png");
        check("index.html", "100%#?.png", "100%25%23%3F.png");
        check(
            "index.html",
            "\u{e9}\u{7f}\n<>`{}|^[]&*.png",
            "%C3%A9%7F%0A%3C%3E%60%7B%7D%7C%5E%5B%5D%26%2A.png",
        );
        check("index.html", "a,b/,c,", "a,b/%2Cc%2C");
        let mount = mount(Some("https://me.test/sub/")).unwrap();
        assert_eq!(absolute(&mount, &path("img/a b.png")), "/sub/img/a%20b.png");
    }

    #[test]
    fn relative_references_under_a_base_element() {
        #[track_caller]
        fn check(href: &str, to: &str, expected: Option<&str>) {
            let mount = mount(Some("https://me.test/sub/")).unwrap();
            let moved = with_base_element(&base(&mount, &path("docs/a.html")), href);
            assert_eq!(
                relative_to_base(&mount, &moved, &path(to)).as_deref(),
                expected,
                "{href:?}"
            );
        }
        check("", "docs/x.css", Some("x.css"));
        check("../img/", "docs/x.css", Some("../docs/x.css"));
        check("/sub/", "x.css", Some("x.css"));
        check("/", "x.css", None);
        check("https://cdn.test/", "x.css", None);
        check("a//b/", "x.css", Some("/sub/x.css"));
    }

    #[test]
    fn addresses_keep_their_spelling() {
        #[track_caller]
        fn check(from: &str, address: &str, expected: &str) {
            let mount = mount(Some("https://me.test/sub/")).unwrap();
            assert_eq!(
                relative_to_address(&mount, &path(from), address),
                expected,
                "{address} from {from}"
            );
            let url = base(&mount, &path(from)).url.join(expected).unwrap();
            assert_eq!(&url[Position::BeforePath..], address);
        }
        check("css/site.css", "/sub/img/a.svg?v=1/2", "../img/a.svg?v=1/2");
        check("css/site.css", "/sub/css/a%2Cb.png", "a%2Cb.png");
        check("css/site.css", "/sub/css/", "./");
        check("css/site.css", "/sub/css/?q", "./?q");
        check("css/site.css", "/sub/css", "../css");
        check("css/site.css", "/sub/css/a:b", "./a:b");
        check("css/site.css", "/sub/css//b", ".//b");
        check("a/b/c.css", "/sub/", "../../");
    }
}
