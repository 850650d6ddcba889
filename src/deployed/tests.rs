//! What a folder is known by.

use super::*;

fn deployed(files: &[(&str, &str)]) -> Deployed {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        disk::write_file(&dir.path().join(name), text.as_bytes()).unwrap();
    }
    read(dir.path()).unwrap()
}

#[test]
fn names_that_carry_a_hash() {
    let check = |name: &str, expected| assert_eq!(carries_hash(&SitePath::new(name)), expected, "{name}");
    check("css/site.3f2a9c1b04de5678.css", true);
    check("css/site-3f2a9c1b04de5678.css", true);
    check("css/site.3f2a9c1b04de567.css", false);
    check("css/site.3F2A9C1B04DE5678.css", false);
    check("css/site3f2a9c1b04de5678.css", false);
    check("3f2a9c1b04de5678.css", false);
    check("site.3f2a9c1b04de5678", false);
    check("site.3f2a9c1b04de5678.", false);
}

#[test]
fn a_manifest_is_believed_only_where_it_can_be_right() {
    let manifest = r#"{"schema":1,"files":{},"immutable":
        ["a.0123456789abcdef.css","gone.0123456789abcdef.css","b.css","../x.0123456789abcdef.css",7]}"#;
    let found = deployed(&[
        ("fewer-manifest.json", manifest),
        ("a.0123456789abcdef.css", ""),
        ("a.0123456789abcdef.css.gz", ""),
        ("b.css", ""),
    ]);
    assert_eq!(found.immutable.len(), 1);
    assert_eq!(found.notes.len(), 4);
    assert!(!found.lookalikes);
    assert_eq!(found.codings, [Coded::Gzip]);
    let foreign = deployed(&[("a.0123456789abcdef.css", "")]);
    assert!(foreign.immutable.is_empty() && foreign.lookalikes && foreign.notes.is_empty());
    let broken = deployed(&[("fewer-manifest.json", "{"), ("a.0123456789abcdef.css", "")]);
    assert!(broken.immutable.is_empty() && broken.notes.len() == 1);
}
