//! Trees on disk and what `site::read` makes of them.

#![expect(clippy::disallowed_methods, reason = "the tests build trees on disk")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::super::{FileId, Site, read};
use super::*;

/// Builds a tree: `name` is an empty file, `name/` a folder, `name -> target` a link.
fn tree(entries: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("site");
    fs::create_dir(&root).unwrap();
    for entry in entries {
        let (name, target) = entry
            .split_once(" -> ")
            .map_or((*entry, None), |(name, target)| (name, Some(target)));
        let place = root.join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        match target {
            Some(target) => symlink(target, place).unwrap(),
            None if name.ends_with('/') => fs::create_dir_all(place).unwrap(),
            None => fs::write(place, name).unwrap(),
        }
    }
    dir
}

fn read_tree(dir: &Path, options: &Options) -> (Site, Vec<Diagnostic>) {
    read(&dir.join("site"), options).unwrap()
}

fn check(entries: &[&str], files: &[&str], findings: &[(&str, Code)]) {
    let dir = tree(entries);
    fs::write(dir.path().join("outside"), "x").unwrap();
    let (site, diagnostics) = read_tree(dir.path(), &Options::defaults());
    let names: Vec<String> = site.files.iter().map(|file| file.path.to_string()).collect();
    assert_eq!(names, files, "{entries:?}");
    let found: Vec<(String, Code)> = diagnostics.iter().map(|d| (d.file.to_string(), d.code)).collect();
    let findings: Vec<(String, Code)> = findings
        .iter()
        .map(|(file, code)| (file.to_string(), *code))
        .collect();
    assert_eq!(found, findings, "{entries:?}");
    for id in 0..site.files.len() {
        site.read(FileId(id as u32)).unwrap();
    }
}

#[test]
fn path_order_is_the_order_of_bytes() {
    check(&[], &[], &[]);
    check(&["empty/"], &[], &[]);
    check(
        &["a/b", "a.x", "a-x", "B", "a0", ".h/x"],
        &[".h/x", "B", "a-x", "a.x", "a/b", "a0"],
        &[],
    );
}

#[test]
fn links_inside_are_followed() {
    check(&["v1/a", "latest -> v1"], &["latest/a", "v1/a"], &[]);
    check(&["v1/a", "v1/b -> a", "x -> v1/b"], &["v1/a", "v1/b", "x"], &[]);
    check(
        &["v1/a", "doc/v -> ../v1", "l -> doc/v"],
        &["doc/v/a", "l/a", "v1/a"],
        &[],
    );
    // Out and in again is in.
    check(&["a", "b -> ../site/a"], &["a", "b"], &[]);
    // A sibling's link to a sibling is walked once on each way.
    check(
        &["a/x", "a/b -> ../b", "b/y", "b/a -> ../a"],
        &["a/b/y", "a/x", "b/a/x", "b/y"],
        &[("a/b/a", Code::LinkLoop), ("b/a/b", Code::LinkLoop)],
    );
}

#[test]
fn loops_end() {
    check(
        &[
            "x",
            "loop -> .",
            "sub/again -> ../sub",
            "dangling.png -> nowhere",
            "sub/up -> ..",
        ],
        &["x"],
        &[
            ("dangling.png", Code::LinkDangling),
            ("loop", Code::LinkLoop),
            ("sub/again", Code::LinkLoop),
            ("sub/up", Code::LinkLoop),
        ],
    );
    check(&["self -> self", "x"], &["x"], &[("self", Code::LinkLoop)]);
    check(&["x/y", "bad -> x/y/z"], &["x/y"], &[("bad", Code::LinkDangling)]);
    // Reached through a link, the folder that the inner link stands in is still a loop.
    check(
        &["c/d/f", "c/d/up -> ../../c", "l -> c/d"],
        &["c/d/f", "l/f"],
        &[("c/d/up", Code::LinkLoop), ("l/up", Code::LinkLoop)],
    );
}

#[test]
fn links_out_have_no_file() {
    check(
        &["a", "o -> ../outside", "etc -> /etc", "p -> o", "d -> .."],
        &["a"],
        &[
            ("d", Code::LinkOutside),
            ("etc", Code::LinkOutside),
            ("o", Code::LinkOutside),
            ("p", Code::LinkOutside),
        ],
    );
}

#[test]
fn pipes_and_sockets_are_never_opened() {
    let dir = tree(&["a", "l -> p"]);
    let root = dir.path().join("site");
    let made = std::process::Command::new("mkfifo")
        .arg(root.join("p"))
        .status()
        .unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(root.join("s")).unwrap();
    let (site, diagnostics) = read_tree(dir.path(), &Options::defaults());
    assert_eq!(site.files.len(), 1);
    let found: Vec<String> = diagnostics
        .iter()
        .map(|d| format!("{}: {}", d.file, d.message))
        .collect();
    assert_eq!(
        found,
        [
            "l: a named pipe, not a file: it has no file in OUT",
            "p: a named pipe, not a file: it has no file in OUT",
            "s: a socket, not a file: it has no file in OUT"
        ]
    );
}

#[test]
fn link_farms_do_not_explode() {
    // 12 folders with links to all others: 12! paths.
    let mut entries = Vec::new();
    for a in 0..12 {
        entries.push(format!("d{a}/file"));
        entries.extend(
            (0..12)
                .filter(|b| *b != a)
                .map(|b| format!("d{a}/to{b} -> ../d{b}")),
        );
    }
    let dir = tree(&entries.iter().map(String::as_str).collect::<Vec<_>>());
    let error = read(&dir.path().join("site"), &Options::defaults())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("too many files behind symbolic links: "),
        "{error}"
    );
}

#[test]
fn long_ways_through_links() {
    // The system follows 40 links in a path.
    let mut entries: Vec<String> = (0..50).map(|i| format!("d{i}/next -> ../d{}", i + 1)).collect();
    entries.push("d50/file".to_string());
    let dir = tree(&entries.iter().map(String::as_str).collect::<Vec<_>>());
    let (site, diagnostics) = read_tree(dir.path(), &Options::defaults());
    assert_eq!(site.files.len(), 41);
    assert_eq!(diagnostics.len(), 10);
    for id in 0..41 {
        assert_eq!(site.read(FileId(id)).unwrap(), b"d50/file");
    }
    // Folders with long names: the path grows out of bounds before the links run out.
    let long = |i: usize| format!("{i:0>250}");
    let mut entries: Vec<String> = (0..20)
        .map(|i| format!("{}/{} -> ../{}", long(i), long(0), long(i + 1)))
        .collect();
    entries.push(format!("{}/file", long(20)));
    let dir = tree(&entries.iter().map(String::as_str).collect::<Vec<_>>());
    let (site, diagnostics) = read_tree(dir.path(), &Options::defaults());
    assert!(!diagnostics.is_empty() && diagnostics.iter().all(|d| d.code == Code::LinkLoop));
    for id in 0..site.files.len() {
        site.read(FileId(id as u32)).unwrap();
    }
}

#[test]
fn a_file_is_small() {
    // A million of them, with paths of 50 bytes, take 130 MB of the 200 MB that a site may.
    assert_eq!(size_of::<File>(), 64);
}

#[test]
fn names_are_bytes() {
    let dir = tree(&["-o.txt", "*.txt", "a b\tc.txt"]);
    for name in [
        b"caf\xE9.txt".as_slice(),
        b"caf\xE8.txt",
        b"z\xFF.css",
        b"new\nline",
    ] {
        fs::write(dir.path().join("site").join(OsStr::from_bytes(name)), name).unwrap();
    }
    let (site, _) = read_tree(dir.path(), &Options::defaults());
    assert_eq!(site.files.len(), 7);
    let id = site.find(b"caf\xE9.txt").unwrap();
    assert_eq!(site.read(id).unwrap(), b"caf\xE9.txt");
    assert_eq!(
        site.file(site.find(b"z\xFF.css").unwrap()).media,
        crate::media::Media::Css
    );
}

#[test]
fn editable_and_variants() {
    let set = |glob| {
        globset::GlobSetBuilder::new()
            .add(globset::Glob::new(glob).unwrap())
            .build()
            .unwrap()
    };
    let names = [
        "a.css",
        "a.css.br",
        "a.css.gz",
        "b.txt.gz",
        "c.png",
        "c.png.gz",
        "i.html.en",
        "i.html.en.gz",
        "raw/x.js",
        "raw/x.js.gz",
        "t.css.gz.gz",
    ];
    let dir = tree(&names);
    let options = Options {
        exclude: Some(set("raw/**")),
        ..Options::defaults()
    };
    let (site, _) = read_tree(dir.path(), &options);
    let variants: Vec<(String, String)> = site
        .files
        .iter()
        .filter_map(|file| {
            Some((
                file.path.to_string(),
                site.file(file.variant_of?).path.to_string(),
            ))
        })
        .collect();
    let expected = [
        ("a.css.br", "a.css"),
        ("a.css.gz", "a.css"),
        ("i.html.en.gz", "i.html.en"),
    ];
    assert_eq!(variants, expected.map(|(a, b)| (a.to_string(), b.to_string())));
    let untouched: Vec<String> = site
        .files
        .iter()
        .filter(|f| !f.editable)
        .map(|f| f.path.to_string())
        .collect();
    assert_eq!(untouched, ["raw/x.js", "raw/x.js.gz"]);
    let options = Options {
        include: Some(set("*.css")),
        ..Options::defaults()
    };
    let (site, _) = read_tree(dir.path(), &options);
    assert_eq!(site.files.iter().filter(|f| f.editable).count(), 1);
}

#[test]
fn bad_sites() {
    let dir = tree(&["file"]);
    let message = |name: &str| {
        format!(
            "{:#}",
            read(&dir.path().join(name), &Options::defaults()).unwrap_err()
        )
    };
    assert!(message("missing").ends_with("missing): No such file or directory (os error 2)"));
    assert!(message("site/file").ends_with("site/file) is not a folder"));
}
