//! From a URL path to the file that answers it, in the order that `url` finds the targets of references by.
//!
//! In: the path of a request, as it was sent. Out: a file below the root, a redirect or nothing. No path leads out of
//! the root, through a link or otherwise.

use std::path::{Path, PathBuf};

use crate::deployed::{INDEXES, PRIVATE};
use crate::disk::{self, Kind};
use crate::site::SitePath;
use crate::url::encode_path;

/// What stands at an address.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    File {
        path: SitePath,
        real: PathBuf,
    },
    /// A folder with an index page, asked for without its slash: where it is.
    Folder(String),
    Nothing,
    /// A path that no honest client sends.
    Refused,
}

/// The URL path of a page: that of the folder for its `index.html`, percent-encoded where a URL needs it.
pub fn page_url(page: &str) -> String {
    let page = match page.strip_suffix("index.html") {
        Some(folder) if folder.is_empty() || folder.ends_with('/') => folder,
        _ => page,
    };
    format!("/{}", encode_path(page.as_bytes()))
}

/// Finds what stands at `address`, a URL path without query; `prefix` is where the site is mounted.
pub(super) fn locate(root: &Path, prefix: &str, address: &str) -> Place {
    let Some(path) = decode(address) else {
        return Place::Refused;
    };
    let mount = prefix.as_bytes();
    if path.as_slice() == mount.strip_suffix(b"/").unwrap_or(mount) && mount != b"/" {
        return Place::Folder(prefix.to_string());
    }
    let Some(path) = path.strip_prefix(mount) else {
        return Place::Nothing;
    };
    if is_hidden(path) {
        return Place::Nothing;
    }
    if path.is_empty() || path.ends_with(b"/") {
        let folder = path.strip_suffix(b"/").unwrap_or(path);
        return index_of(root, folder).map_or(Place::Nothing, file);
    }
    if let Some(found) = find(root, path) {
        return file(found);
    }
    if index_of(root, path).is_some() {
        return Place::Folder(format!("{prefix}{}/", encode_path(path)));
    }
    match find(root, &[path, b".html"].concat()) {
        Some(found) => file(found),
        None => Place::Nothing,
    }
}

fn file((path, real): (SitePath, PathBuf)) -> Place {
    Place::File { path, real }
}

/// The index page of a folder, given without its `/`.
fn index_of(root: &Path, folder: &[u8]) -> Option<(SitePath, PathBuf)> {
    INDEXES.iter().find_map(|name| {
        let separator: &[u8] = if folder.is_empty() { b"" } else { b"/" };
        find(root, &[folder, separator, name.as_bytes()].concat())
    })
}

/// The file at exactly this path, if it is one and lies below the root.
pub(super) fn find(root: &Path, path: &[u8]) -> Option<(SitePath, PathBuf)> {
    let real = disk::real(&disk::join(root, path)).ok()?;
    let is_file = real.starts_with(root) && disk::stat(&real).is_ok_and(|stat| stat.kind == Kind::File);
    is_file.then(|| (SitePath::new(path), real))
}

/// Names that are not for visitors: dot files, but for `/.well-known/` (RFC 8615), and what hosts read themselves.
fn is_hidden(path: &[u8]) -> bool {
    let rest = path.strip_prefix(b".well-known/").unwrap_or(path);
    rest.split(|&b| b == b'/')
        .any(|segment| segment.starts_with(b"."))
        || PRIVATE.iter().any(|name| name.as_bytes() == path)
}

/// The path that a URL path names, with slashes in a row as one (as servers merge them), or `None` if it is no honest
/// one.
pub(super) fn decode(address: &str) -> Option<Vec<u8>> {
    if !address.starts_with('/') {
        return None;
    }
    let mut out = Vec::with_capacity(address.len());
    let mut rest = address.bytes();
    while let Some(byte) = rest.next() {
        let byte = match byte {
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                (high * 16 + low) as u8
            }
            _ => byte,
        };
        if byte == 0 {
            return None;
        }
        if byte != b'/' || out.last() != Some(&b'/') {
            out.push(byte);
        }
    }
    let is_step = |segment: &[u8]| segment == b"." || segment == b"..";
    (!out.split(|&b| b == b'/').any(is_step)).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_files_below_the_root_only() {
        assert_eq!(decode("/a%20b/c.png").unwrap(), b"/a b/c.png");
        assert_eq!(decode("/%C3%A9.html").unwrap(), "/\u{e9}.html".as_bytes());
        assert_eq!(decode("//a///%2Fb").unwrap(), b"/a/b");
        for dishonest in [
            "/../x",
            "/a/%2e%2e/x",
            "/a%00b",
            "/%zz",
            "/%4",
            "x",
            "/a/.%2E/",
            "/%2e",
            "",
        ] {
            assert_eq!(decode(dishonest), None, "{dishonest}");
        }
    }

    #[test]
    fn pages_have_clean_urls() {
        assert_eq!(page_url("index.html"), "/");
        assert_eq!(page_url("a b/index.html"), "/a%20b/");
        assert_eq!(page_url("my-index.html"), "/my-index.html");
        assert_eq!(page_url("100%.html"), "/100%25.html");
    }

    #[test]
    fn what_stands_at_an_address() {
        let dir = tempfile::tempdir().unwrap();
        let root = disk::real(dir.path()).unwrap();
        let site = root.join("site");
        for name in [
            "site/index.html",
            "site/docs/index.html",
            "site/docs.html",
            "site/posts.html",
            "site/posts/a.html",
            "site/.well-known/x",
            "site/.well-known/.y",
            "site/.git/config",
            "site/_headers",
            "secret.html",
        ] {
            let path = root.join(name);
            #[expect(clippy::disallowed_methods, reason = "a tree for the test")]
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            disk::write_file(&path, b"x").unwrap();
        }
        std::os::unix::fs::symlink("../secret.html", site.join("out.html")).unwrap();
        let check = |prefix: &str, address: &str, expected: &str| {
            let found = match locate(&site, prefix, address) {
                Place::File { path, .. } => path.to_string(),
                Place::Folder(to) => format!("-> {to}"),
                other => format!("{other:?}"),
            };
            assert_eq!(found, expected, "{address}");
        };
        check("/", "/", "index.html");
        check("/", "/docs/", "docs/index.html");
        check("/", "/docs", "-> /docs/");
        check("/", "//docs", "-> /docs/");
        check("/", "/posts", "posts.html");
        check("/", "/posts/", "Nothing");
        check("/", "/posts/a", "posts/a.html");
        check("/", "/posts/a.html/", "Nothing");
        check("/", "/.well-known/x", ".well-known/x");
        check("/", "/.well-known/.y", "Nothing");
        check("/", "/.git/config", "Nothing");
        check("/", "/_headers", "Nothing");
        check("/", "/out.html", "Nothing");
        check("/", "/../secret.html", "Refused");
        check("/b/", "/b", "-> /b/");
        check("/b/", "/b/docs", "-> /b/docs/");
        check("/b/", "/docs/", "Nothing");
    }
}
