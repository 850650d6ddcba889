//! OUT appears as a whole or not at all, and nothing stays beside it.

use std::os::unix::fs::symlink;
use std::time::Duration;

use super::super::{list, read, stat};
use super::*;

const TIME: SystemTime = SystemTime::UNIX_EPOCH;

/// A folder with a `site` in it that holds one file.
fn workplace() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    fs::create_dir(root.join("site")).unwrap();
    fs::write(root.join("site/a"), "site").unwrap();
    (dir, root)
}

fn begin(root: &Path, out: &str, force: bool) -> anyhow::Result<Staging> {
    Staging::begin(&root.join("site"), &root.join(out), force)
}

fn names(folder: &Path) -> Vec<String> {
    list(folder)
        .unwrap()
        .into_iter()
        .map(|(name, _)| name.into_string().unwrap())
        .collect()
}

#[test]
fn builds_and_replaces() {
    let (_dir, root) = workplace();
    let staging = begin(&root, "out", false).unwrap();
    let time = TIME + Duration::from_nanos(1_234_567_890_123_456_789);
    std::thread::scope(|scope| {
        for i in 0..8 {
            let staging = &staging;
            scope.spawn(move || {
                staging
                    .write(&SitePath::new(format!("deep/er/{i}")), b"x", time, 0o444)
                    .unwrap()
            });
        }
    });
    assert_eq!(
        staging
            .copy(&root.join("site/a"), &SitePath::new("copy"), time, 0o600)
            .unwrap(),
        4
    );
    assert!(!root.join("out").exists());
    staging.commit().unwrap();
    assert_eq!(names(&root), ["out", "site"]);
    // As any folder made under this umask, not closed to others as temporary folders are.
    assert_eq!(
        stat(&root.join("out")).unwrap().mode,
        stat(&root.join("site")).unwrap().mode
    );
    assert_eq!(names(&root.join("out/deep/er")).len(), 8);
    let copied = stat(&root.join("out/copy")).unwrap();
    assert_eq!((copied.size, copied.modified, copied.mode), (4, time, 0o600));
    let written = stat(&root.join("out/deep/er/0")).unwrap();
    assert_eq!((written.size, written.modified, written.mode), (1, time, 0o444));

    let error = begin(&root, "out", false).unwrap_err().to_string();
    assert!(error.contains("is not empty: --force"), "{error}");
    fs::set_permissions(root.join("out"), Permissions::from_mode(0o750)).unwrap();
    let staging = begin(&root, "out", true).unwrap();
    staging.write(&SitePath::new("new"), b"new", TIME, 0o644).unwrap();
    staging.commit().unwrap();
    assert_eq!(names(&root), ["out", "site"]);
    assert_eq!(names(&root.join("out")), ["new"]);
    assert_eq!(stat(&root.join("out")).unwrap().mode, 0o750);
}

#[test]
fn failed_build_leaves_nothing() {
    let (_dir, root) = workplace();
    fs::create_dir(root.join("out")).unwrap();
    fs::write(root.join("out/old"), "old").unwrap();
    let staging = begin(&root, "out", true).unwrap();
    staging.write(&SitePath::new("new"), b"new", TIME, 0o644).unwrap();
    drop(staging);
    assert_eq!(names(&root), ["out", "site"]);
    assert_eq!(read(&root.join("out/old")).unwrap(), b"old");
    // Parents that were made for OUT go again, those that hold something else stay.
    drop(begin(&root, "p/q/out", false).unwrap());
    assert_eq!(names(&root), ["out", "site"]);
    let staging = begin(&root, "p/q/out", false).unwrap();
    fs::write(root.join("p/mine"), "").unwrap();
    drop(staging);
    assert_eq!(names(&root.join("p")), ["mine"]);
    begin(&root, "p/q/out", false).unwrap().commit().unwrap();
    assert_eq!(names(&root.join("p/q")), ["out"]);
}

#[test]
fn out_filled_during_the_build_is_kept() {
    let (_dir, root) = workplace();
    let staging = begin(&root, "out", false).unwrap();
    fs::create_dir(root.join("out")).unwrap();
    fs::write(root.join("out/theirs"), "").unwrap();
    assert!(staging.commit().is_err());
    assert_eq!(names(&root), ["out", "site"]);
    assert_eq!(names(&root.join("out")), ["theirs"]);
}

#[test]
fn refused_places() {
    let (_dir, root) = workplace();
    fs::create_dir_all(root.join("site/sub")).unwrap();
    fs::write(root.join("file"), "").unwrap();
    symlink("site/sub", root.join("link")).unwrap();
    symlink("site", root.join("alias")).unwrap();
    symlink(".", root.join("here")).unwrap();
    symlink("gone", root.join("dangling")).unwrap();
    for (out, expected) in [
        ("site", "is SITE itself"),
        ("alias", "is SITE itself"),
        ("site/.", "is SITE itself"),
        ("here/site", "is SITE itself"),
        ("site/sub/..", "is SITE itself"),
        ("site/out", "inside SITE"),
        ("site/new/deep/out", "inside SITE"),
        ("link/out", "inside SITE"),
        ("link", "inside SITE"),
        ("new/../site/out", "inside SITE"),
        (".", "inside OUT"),
        ("here", "inside OUT"),
        ("site/..", "inside OUT"),
        ("file", "is not a folder"),
        ("file/out", "cannot resolve"),
        ("dangling", "is a link to nothing"),
        ("dangling/out", "is a link to nothing"),
    ] {
        let error = begin(&root, out, true).unwrap_err().to_string();
        assert!(error.contains(expected), "{out}: {error}");
    }
    let error = Staging::begin(&root.join("site"), Path::new("/"), true)
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot be replaced"), "{error}");
    assert!(Staging::begin(&root.join("no-site"), &root.join("out"), true).is_err());
    assert_eq!(
        names(&root),
        ["alias", "dangling", "file", "here", "link", "site"]
    );
    assert_eq!(names(&root.join("site")), ["a", "sub"]);
}

#[test]
fn link_to_out_stays_a_link() {
    let (_dir, root) = workplace();
    fs::create_dir_all(root.join("releases/5")).unwrap();
    symlink("releases/5", root.join("current")).unwrap();
    let staging = begin(&root, "current", false).unwrap();
    staging.write(&SitePath::new("x"), b"", TIME, 0o644).unwrap();
    staging.commit().unwrap();
    assert_eq!(
        fs::read_link(root.join("current")).unwrap(),
        Path::new("releases/5")
    );
    assert_eq!(names(&root.join("releases/5")), ["x"]);
    assert_eq!(names(&root.join("releases")), ["5"]);
}

#[test]
fn litter_of_killed_runs() {
    let (_dir, root) = workplace();
    // Killed between the renames: no OUT, but the old one aside.
    fs::create_dir_all(root.join(".out.fewer-AAAAAA/old")).unwrap();
    fs::write(root.join(".out.fewer-AAAAAA/old/page"), "old").unwrap();
    fs::create_dir_all(root.join(".out.fewer-AAAAAA/new")).unwrap();
    fs::create_dir_all(root.join(".out.fewer-BBBBBB/new/deep")).unwrap();
    fs::create_dir_all(root.join(".out.fewer-CCCCCC/dead")).unwrap();
    // Not ours: another OUT's, a folder with other things, another name, a link.
    fs::create_dir_all(root.join(".other.fewer-AAAAAA/new")).unwrap();
    fs::create_dir_all(root.join(".out.fewer-DDDDDD/mine")).unwrap();
    fs::create_dir_all(root.join(".out.fewer-notes")).unwrap();
    symlink("site", root.join(".out.fewer-EEEEEE")).unwrap();
    let alive = begin(&root, "out", true).unwrap();
    assert_eq!(read(&root.join("out/page")).unwrap(), b"old");
    let second = begin(&root, "out", true).unwrap();
    assert!(alive.path().exists());
    drop((alive, second));
    let expected = [
        ".other.fewer-AAAAAA",
        ".out.fewer-DDDDDD",
        ".out.fewer-EEEEEE",
        ".out.fewer-notes",
        "out",
        "site",
    ];
    assert_eq!(names(&root), expected);
    assert_eq!(names(&root.join("site")), ["a"]);
}

#[test]
fn clashes_and_foreign_paths() {
    let (_dir, root) = workplace();
    let staging = begin(&root, "out", false).unwrap();
    let write = |path: &str| staging.write(&SitePath::new(path), b"x", TIME, 0o644);
    write("a.gz").unwrap();
    assert_eq!(
        format!("{:#}", write("a.gz").unwrap_err()),
        "cannot write a.gz: File exists (os error 17)"
    );
    assert!(write("a.gz/b").is_err());
    for path in ["", "../x", "a/../../x", "/x", "./x", "a//b", "a/"] {
        assert!(write(path).is_err(), "{path}");
    }
    assert!(
        staging
            .copy(&root.join("missing"), &SitePath::new("m"), TIME, 0o644)
            .is_err()
    );
    drop(staging);
    assert_eq!(names(&root), ["site"]);
}

#[test]
fn long_names() {
    let (_dir, root) = workplace();
    let name = "n".repeat(255);
    begin(&root, &name, false).unwrap().commit().unwrap();
    assert_eq!(names(&root), [name.as_str(), "site"]);
    assert_ne!(litter_prefix(&[b'n'; 254]), litter_prefix(&[b'n'; 255]));
}
