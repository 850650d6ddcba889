//! What a folder is known by.

use super::*;

fn deployed(files: &[(&str, &str)]) -> Deployed {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        #[expect(clippy::disallowed_methods, reason = "a tree for the test")]
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        disk::write_file(&path, text.as_bytes()).unwrap();
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

#[test]
fn link_headers_are_for_pages_that_are_there_and_the_place_they_name() {
    let manifest = r#"{"schema":1,"files":{},"immutable":[],"link_headers":{
        "index.html":["</css/a.css?v=1>; rel=preload; as=style"],
        "a b.html":["</css/b%20c.css>; rel=preload; as=style","<https://cdn.example.com/x.css>; rel=preload; as=style"],
        "stale.html":["</css/gone.css>; rel=preload; as=style"],
        "gone.html":["</css/a.css>; rel=preload; as=style"],
        "bad.html":["</css/a.css>; rel=preload\r\nX-Injected: 1"],
        "no.html":["no address"]}}"#;
    let block = "# fewer: link headers begin\n/\n  Link: </css/a.css?v=1>\n# fewer: link headers end\n";
    let found = deployed(&[
        ("fewer-manifest.json", manifest),
        ("_headers", &format!("/*\n  X-A: b\n{block}")),
        ("css/a.css", ""),
        ("css/b c.css", ""),
        ("index.html", ""),
        ("a b.html", ""),
        ("stale.html", ""),
        ("bad.html", ""),
        ("no.html", ""),
    ]);
    let count = |page: &str, prefix: &str| found.links_of(&SitePath::new(page), prefix).len();
    assert_eq!((count("index.html", "/"), count("a b.html", "/")), (1, 2));
    assert_eq!((count("stale.html", "/"), count("gone.html", "/")), (0, 0));
    assert_eq!((count("bad.html", "/"), count("no.html", "/")), (0, 0));
    assert_eq!(count("index.html", "/docs/"), 0);
    assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
    // Once, not as a rule as well.
    assert_eq!(found.rules.0.len(), 1);
    let without = deployed(&[("_headers", block), ("index.html", "")]);
    assert_eq!(without.rules.0.len(), 1);
}

#[test]
fn other_hosts_may_use_what_they_ask_for_unless_the_site_says_who() {
    let manifest = r#"{"schema":1,"files":{},"immutable":[],"cors":["woff2","SVG","a/b",7,""]}"#;
    let own = "/own/*\n  access-control-allow-origin: https://example.org\n";
    let found = deployed(&[
        ("fewer-manifest.json", manifest),
        ("_headers", own),
        ("f.woff2", ""),
    ]);
    let values = |path: &str| {
        let found = found.rules.of(path, path);
        found.into_iter().map(|(_, value)| value).collect::<Vec<_>>()
    };
    assert_eq!(values("/f.woff2"), ["*"]);
    assert_eq!(values("/i/m.SVG"), ["*"]);
    assert_eq!(values("/i/m.svg"), Vec::<String>::new());
    assert_eq!(values("/own/f.woff2"), ["https://example.org"]);
    assert_eq!(values("/index.html"), Vec::<String>::new());
}
