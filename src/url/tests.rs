//! Tables of references and what they mean, from the URL standard and from what static servers do.

use std::path::PathBuf;
use std::time::SystemTime;

use proptest::prelude::*;

use super::*;
use crate::media::Media;
use crate::site::{Content, File};

fn site(paths: &[&[u8]]) -> Site {
    let mut paths: Vec<&[u8]> = paths.to_vec();
    paths.sort();
    let file = |path: &&[u8]| File {
        path: SitePath::new(*path),
        media: Media::Other,
        size: 0,
        modified: SystemTime::UNIX_EPOCH,
        mode: 0o644,
        editable: true,
        variant_of: None,
        content: Content::Disk,
    };
    Site {
        root: PathBuf::new(),
        files: paths.iter().map(file).collect(),
    }
}

pub(super) fn path(text: &str) -> SitePath {
    SitePath::new(text.as_bytes())
}

fn show(site: &Site, target: Target) -> String {
    let tail = |fragment: Option<String>| fragment.map_or(String::new(), |f| format!(" #{f}"));
    match target {
        Target::File {
            file,
            address,
            fragment,
        } => {
            format!("file {} at {address}{}", site.file(file).path, tail(fragment))
        }
        Target::Redirect {
            file,
            address,
            fragment,
        } => {
            format!("redirect {} at {address}{}", site.file(file).path, tail(fragment))
        }
        Target::Missing { path, address } => format!("missing {path} at {address}"),
        Target::External(url) => format!("external {url}"),
        Target::Inline => "inline".into(),
        Target::Fragment(fragment) => format!("fragment {fragment}"),
        Target::Nothing => "nothing".into(),
        Target::Refused => "refused".into(),
    }
}

const FILES: &[&[u8]] = &[
    b"index.html",
    b"dot.png",
    b"Dot.png",
    b"x.png",
    b"about.html",
    b"docs/index.html",
    b"docs/a.html",
    b"docs/dot.png",
    b"docs/old/index.htm",
    b"docs/xml/index.xhtml",
    b"both.html",
    b"both/index.html",
    b"noindex/a.txt",
    b"data.html/index.html",
    b"img/tile.png",
    b"img/tile.png?v=42",
    b"img/a#b.png",
    b"img/a",
    b"img/a%23b.png",
    b"img/foto uno.png",
    b"img/foto%20uno.png",
    "img/\u{e1}.png".as_bytes(),
    b"img/caf\xE9.txt",
    b"img/a:b.png",
    b"img/100%.png",
    b"cdn.test/x.png",
    b"etc/passwd.txt",
];

#[track_caller]
fn check_at(base_url: Option<&str>, from: &str, raw: &str, expected: &str) {
    let site = site(FILES);
    let mount = mount(base_url).unwrap();
    assert_eq!(
        show(&site, resolve(&site, &mount, &base(&mount, &path(from)), raw)),
        expected,
        "{raw:?} in {from}"
    );
}

#[track_caller]
fn check(raw: &str, expected: &str) {
    check_at(None, "docs/a.html", raw, expected);
}

#[test]
fn names_of_files() {
    check("dot.png", "file docs/dot.png at /docs/dot.png");
    check("./dot.png", "file docs/dot.png at /docs/dot.png");
    check("../dot.png", "file dot.png at /dot.png");
    check("/dot.png", "file dot.png at /dot.png");
    check("/Dot.png", "file Dot.png at /Dot.png");
    check("/DOT.png", "missing DOT.png at /DOT.png");
    check("old/../dot.png", "file docs/dot.png at /docs/dot.png");
    check("gone.png", "missing docs/gone.png at /docs/gone.png");
    check("/index.html/", "missing index.html/ at /index.html/");
}

#[test]
fn dots_stop_at_the_root() {
    check("../../../../dot.png", "file dot.png at /dot.png");
    check("/../../../etc/passwd", "missing etc/passwd at /etc/passwd");
    check("/etc/passwd/../../dot.png", "file dot.png at /dot.png");
    // Encoded dots are dots to the parser (URL standard, "double-dot path segment").
    check("%2e%2E/dot.png", "file dot.png at /dot.png");
    check(".%2e/dot.png", "file dot.png at /dot.png");
    check("%2e/dot.png", "file docs/dot.png at /docs/dot.png");
    check("..", "file index.html at /");
    check(".", "file docs/index.html at /docs/");
}

#[test]
fn what_would_leave_the_root_is_refused() {
    for raw in [
        "..%2fdot.png",
        "..%2Fdot.png",
        "a%2fb.png",
        "..%5cdot.png",
        "a%5Cb",
        "dot.png%00",
        "x/%00/../..%2f",
    ] {
        check(raw, "refused");
    }
    // Decoding happens once: `%252e` names the three characters `%2e`.
    check(
        "%252e%252e/dot.png",
        "missing docs/%2e%2e/dot.png at /docs/%252e%252e/dot.png",
    );
    check(
        "..%252fdot.png",
        "missing docs/..%2fdot.png at /docs/..%252fdot.png",
    );
    // Control characters other than NUL are only strange names.
    check("%01", "missing docs/\\u{1} at /docs/%01");
}

#[test]
fn spellings_the_parser_repairs() {
    check(" dot.png ", "file docs/dot.png at /docs/dot.png");
    check("\n\tdot.png\r\n", "file docs/dot.png at /docs/dot.png");
    check("do\nt.\tp\rng", "file docs/dot.png at /docs/dot.png");
    check("..\\dot.png", "file dot.png at /dot.png");
    check("\\dot.png", "file dot.png at /dot.png");
    check("/img\\tile.png", "file img/tile.png at /img/tile.png");
    check("\u{1}dot.png\u{1f}", "file docs/dot.png at /docs/dot.png");
    check(
        "/img/foto uno.png",
        "file img/foto uno.png at /img/foto%20uno.png",
    );
    // A no-break space is not stripped.
    check(
        "\u{a0}dot.png",
        "missing docs/\u{a0}dot.png at /docs/%C2%A0dot.png",
    );
}

#[test]
fn schemes_without_slashes() {
    check("http:dot.png", "file docs/dot.png at /docs/dot.png");
    check("HTTP:/dot.png", "file dot.png at /dot.png");
    check("https:dot.png", "external https://dot.png/");
    check("http:///cdn.test/x.png", "external http://cdn.test/x.png");
    check_at(
        Some("https://me.test/"),
        "docs/a.html",
        "https:dot.png",
        "file docs/dot.png at /docs/dot.png",
    );
    check_at(
        Some("https://me.test/"),
        "docs/a.html",
        "http:dot.png",
        "external http://dot.png/",
    );
}

#[test]
fn other_places() {
    check("//cdn.test/x.png", "external http://cdn.test/x.png");
    check("\\\\cdn.test\\x.png", "external http://cdn.test/x.png");
    check("/\\cdn.test/x.png", "external http://cdn.test/x.png");
    check(
        "https://cdn.test/x.png?a#b",
        "external https://cdn.test/x.png?a#b",
    );
    check(
        "cdn.test/x.png",
        "missing docs/cdn.test/x.png at /docs/cdn.test/x.png",
    );
    check("/cdn.test/x.png", "file cdn.test/x.png at /cdn.test/x.png");
    check(
        "http://fewer.invalid/dot.png",
        "external http://fewer.invalid/dot.png",
    );
    check("//user@cdn.test/x.png", "external http://user@cdn.test/x.png");
    for raw in [
        "data:image/gif;base64,R0lG",
        "DATA:,x",
        "da\nta:,x",
        "about:blank",
        "about:invalid",
        "javascript:void 0",
        "mailto:a@b.test",
        "tel:+1",
        "blob:http://fewer.invalid/1",
        "file:///etc/passwd",
        "chrome-extension://a/b",
        "c:/windows/x.png",
    ] {
        check(raw, "inline");
    }
    for raw in [
        "",
        " ",
        "\n",
        "http://",
        "http://[",
        "http://a b/",
        "//",
        "http://x:99999/",
    ] {
        check(raw, "nothing");
    }
}

/// url 2.5.8 treats these segments as drives under `http:` too (servo/rust-url#1113).
#[test]
fn drive_letters_are_ordinary_names() {
    check("/a/c:/../dot.png", "missing a/dot.png at /a/dot.png");
    check("/c:/../dot.png", "file dot.png at /dot.png");
    check("/c|/../dot.png", "file dot.png at /dot.png");
    check(
        "c|/../dot.png?c:/../#c:",
        "file docs/dot.png at /docs/dot.png?c:/../ #c:",
    );
    check("/c:\\..\\dot.png", "file dot.png at /dot.png");
    check("/c:/./dot.png", "missing c:/dot.png at /c:/dot.png");
    check("/c|/dot.png", "missing c|/dot.png at /c|/dot.png");
    check_at(None, "c:/d:/a.css", "../../dot.png", "file dot.png at /dot.png");
    check_at(
        None,
        "c:/d:/a.css",
        "../dot.png",
        "missing c:/dot.png at /c:/dot.png",
    );
    // These break a debug assertion of the crate.
    for raw in ["file:///w:/a:/../x", "FILE:///a/c:/..", "fi\nle:///a/c:/.."] {
        check(raw, "inline");
    }
}

#[test]
fn queries_and_fragments() {
    check("/img/tile.png?v=42", "file img/tile.png at /img/tile.png?v=42");
    check(
        "/img/tile.png%3Fv=42",
        "file img/tile.png?v=42 at /img/tile.png%3Fv=42",
    );
    check("/img/tile.png?", "file img/tile.png at /img/tile.png?");
    check("/img/tile.png#top", "file img/tile.png at /img/tile.png #top");
    check(
        "/img/tile.png?a/../b#c?d",
        "file img/tile.png at /img/tile.png?a/../b #c?d",
    );
    check("/img/a%23b.png", "file img/a#b.png at /img/a%23b.png");
    check("/img/a%2523b.png", "file img/a%23b.png at /img/a%2523b.png");
    check("/img/a#b.png", "file img/a at /img/a #b.png");
    check("#top", "fragment top");
    check("#", "fragment ");
    check("# a", "fragment %20a");
    check("?q", "file docs/a.html at /docs/a.html?q");
    // Not only a fragment: an image of this address is a request of its own.
    check("a.html#top", "file docs/a.html at /docs/a.html #top");
}

#[test]
fn names_are_bytes() {
    check("/img/caf%E9.txt", "file img/caf\\xE9.txt at /img/caf%E9.txt");
    check(
        "/img/caf\u{e9}.txt",
        "missing img/caf\u{e9}.txt at /img/caf%C3%A9.txt",
    );
    check("/img/\u{e1}.png", "file img/\u{e1}.png at /img/%C3%A1.png");
    check("/img/%C3%A1.png", "file img/\u{e1}.png at /img/%C3%A1.png");
    check("/img/%c3%a1.png", "file img/\u{e1}.png at /img/%c3%a1.png");
    check(
        "/img/foto%20uno.png",
        "file img/foto uno.png at /img/foto%20uno.png",
    );
    check(
        "/img/foto%2520uno.png",
        "file img/foto%20uno.png at /img/foto%2520uno.png",
    );
    check(
        "/img/foto+uno.png",
        "missing img/foto+uno.png at /img/foto+uno.png",
    );
    check("/img/a:b.png", "file img/a:b.png at /img/a:b.png");
    check("/img/100%.png", "file img/100%.png at /img/100%.png");
    check("/img/100%25.png", "file img/100%.png at /img/100%25.png");
    check("/d%6ft.png", "file dot.png at /d%6ft.png");
}

/// A page in a folder whose own name needs encoding; decoys carry the encoded names.
#[test]
fn folders_are_bytes_too() {
    let at = |raw, expected| check_at(None, "\u{ed}ndice dos/index.html", raw, expected);
    at("../img/\u{e1}.png", "file img/\u{e1}.png at /img/%C3%A1.png");
    at(
        "../img/foto uno.png",
        "file img/foto uno.png at /img/foto%20uno.png",
    );
    at("x", "missing \u{ed}ndice dos/x at /%C3%ADndice%20dos/x");
    at(
        "../%C3%ADndice%20dos/#x",
        "missing \u{ed}ndice dos/ at /%C3%ADndice%20dos/",
    );
    at("#x", "fragment x");
}

#[test]
fn folders_and_clean_urls() {
    check("/", "file index.html at /");
    check("/docs/", "file docs/index.html at /docs/");
    check("/docs", "redirect docs/index.html at /docs");
    check("/docs?a#b", "redirect docs/index.html at /docs?a #b");
    check("/docs/old/", "file docs/old/index.htm at /docs/old/");
    check("/docs/xml", "redirect docs/xml/index.xhtml at /docs/xml");
    check("/about", "file about.html at /about");
    check("/about/", "missing about/ at /about/");
    check("/both", "redirect both/index.html at /both");
    check("/noindex", "missing noindex at /noindex");
    check("/noindex/", "missing noindex/ at /noindex/");
    check("/data.html", "redirect data.html/index.html at /data.html");
    check("/data", "missing data at /data");
    // Servers disagree about empty segments, and what the file refers to would resolve otherwise.
    check("//", "nothing");
    check("/docs//a.html", "missing docs//a.html at /docs//a.html");
}

#[test]
fn a_site_below_a_path() {
    let at = |raw, expected| check_at(Some("https://me.test/sub"), "docs/a.html", raw, expected);
    at("dot.png", "file docs/dot.png at /sub/docs/dot.png");
    at("../dot.png", "file dot.png at /sub/dot.png");
    at("../../dot.png", "external https://me.test/dot.png");
    at("/sub/dot.png", "file dot.png at /sub/dot.png");
    at("/s%75b/dot.png", "file dot.png at /s%75b/dot.png");
    at("/dot.png", "external https://me.test/dot.png");
    at("/subway/dot.png", "external https://me.test/subway/dot.png");
    at("/Sub/dot.png", "external https://me.test/Sub/dot.png");
    at("/sub/", "file index.html at /sub/");
    at("/sub", "redirect index.html at /sub");
    at("https://me.test/sub/dot.png", "file dot.png at /sub/dot.png");
    at("https://ME.test:443/sub/dot.png", "file dot.png at /sub/dot.png");
    at("//me.test/sub/dot.png", "file dot.png at /sub/dot.png");
    at(
        "http://me.test/sub/dot.png",
        "external http://me.test/sub/dot.png",
    );
    at(
        "https://me.test:8443/sub/dot.png",
        "external https://me.test:8443/sub/dot.png",
    );
    at(
        "https://u@me.test/sub/dot.png",
        "external https://u@me.test/sub/dot.png",
    );
    at(
        "https://www.me.test/sub/dot.png",
        "external https://www.me.test/sub/dot.png",
    );
}

#[test]
fn base_urls() {
    let path_of = |text| mount(Some(text)).map(|mount| mount.path().to_string()).ok();
    assert_eq!(path_of("https://me.test").as_deref(), Some("/"));
    assert_eq!(path_of("https://me.test/a b/c").as_deref(), Some("/a%20b/c/"));
    for bad in [
        "",
        "me.test",
        "/sub/",
        "ftp://me.test/",
        "https://me.test/?q",
        "https://me.test/#f",
        "https://u@me.test/",
    ] {
        assert_eq!(path_of(bad), None, "{bad:?}");
    }
    assert_eq!(path_of("https://me.test/a%2fb/"), None);
}

#[test]
fn base_elements() {
    let site = site(FILES);
    #[track_caller]
    fn check(site: &Site, href: &str, raw: &str, expected: &str) {
        let mount = mount(None).unwrap();
        let moved = with_base_element(&base(&mount, &path("docs/a.html")), href);
        assert_eq!(
            show(site, resolve(site, &mount, &moved, raw)),
            expected,
            "{raw:?} at {href:?}"
        );
    }
    check(&site, "/img/", "tile.png", "file img/tile.png at /img/tile.png");
    check(
        &site,
        "/img/x.html",
        "tile.png",
        "file img/tile.png at /img/tile.png",
    );
    check(&site, "../img/", "tile.png", "file img/tile.png at /img/tile.png");
    check(
        &site,
        "https://cdn.test/x/",
        "tile.png",
        "external https://cdn.test/x/tile.png",
    );
    check(
        &site,
        "https://cdn.test/x/",
        "/dot.png",
        "external https://cdn.test/dot.png",
    );
    // What does not parse, data: and javascript: change nothing; neither does the empty string.
    for href in ["", "http://[", "data:text/html,x", "javascript:1"] {
        check(&site, href, "dot.png", "file docs/dot.png at /docs/dot.png");
    }
    check(&site, "file:///w:/a:", "..", "nothing");
    // A scheme without a hierarchy is a base against which nothing relative parses.
    check(&site, "mailto:a@b.test", "dot.png", "nothing");
    check(&site, "mailto:a@b.test", "#x", "inline");
    // A lone fragment is one of the document only while the base is the document.
    check(&site, "/", "#x", "file index.html at / #x");
    check(&site, "a.html", "#x", "fragment x");
    check(&site, "a.html#y", "#x", "fragment x");
    check(&site, "a.html?q", "#x", "file docs/a.html at /docs/a.html?q #x");
    check(&site, "https://cdn.test/", "#x", "external https://cdn.test/#x");
}

#[test]
fn hostile_references_take_linear_time() {
    let long = 1 << 20;
    check_at(None, "index.html", &"a/../".repeat(long), "file index.html at /");
    check_at(None, "index.html", &"../".repeat(long), "file index.html at /");
    check_at(
        None,
        "index.html",
        &format!("{}dot.png", "./".repeat(long)),
        "file dot.png at /dot.png",
    );
    check_at(None, "index.html", &"%2e%2e%2f".repeat(long), "refused");
    check_at(
        None,
        "index.html",
        &format!("dot.png#{}", "\u{e9}#".repeat(3)),
        "file dot.png at /dot.png #%C3%A9#%C3%A9#%C3%A9#",
    );
}

/// Any name that a reference can mean: not `.` or `..`, without `/`, `\` and NUL.
fn segment() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![any::<u8>(), prop::sample::select(b"a:.%2F #?&,'\"()".to_vec())];
    prop::collection::vec(byte, 1..6).prop_filter("no name of a file in a site", |name| {
        !matches!(name.as_slice(), b"." | b"..") && !name.iter().any(|b| matches!(b, b'/' | b'\\' | 0))
    })
}

fn any_path() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(
        prop_oneof![Just(b"a".to_vec()), Just(b"b".to_vec()), segment()],
        1..5,
    )
    .prop_map(|segments| segments.join(&b'/'))
}

proptest! {
    #[test]
    fn a_reference_leads_to_the_file_it_was_made_for(from in any_path(), to in any_path()) {
        let (from, to) = (SitePath::new(from), SitePath::new(to));
        let site = site(&[to.as_bytes()]);
        for base_url in [None, Some("https://me.test/s%20b/")] {
            let mount = mount(base_url).unwrap();
            let base = base(&mount, &from);
            let expected = Target::File { file: FileId(0), address: absolute(&mount, &to), fragment: None };
            let reference = relative(&from, &to);
            let plain = reference.bytes().all(|b| b.is_ascii_graphic() && !b"\"'()\\#?<>&`{}".contains(&b));
            prop_assert!(plain, "{}", &reference);
            prop_assert_eq!(resolve(&site, &mount, &base, &reference), expected.clone(), "{}", &reference);
            prop_assert_eq!(resolve(&site, &mount, &base, &absolute(&mount, &to)), expected.clone());
            prop_assert_eq!(relative_to_base(&mount, &base, &to), Some(reference.clone()));
            let again = relative_to_address(&mount, &from, &absolute(&mount, &to));
            prop_assert_eq!(resolve(&site, &mount, &base, &again), expected, "{}", &again);
        }
    }

    #[test]
    fn nothing_panics(raw in ".*", href in ".*") {
        let site = site(FILES);
        let mount = mount(None).unwrap();
        let base = base(&mount, &path("docs/a.html"));
        resolve(&site, &mount, &base, &raw);
        resolve(&site, &mount, &with_base_element(&base, &href), &raw);
    }
}

#[test]
fn references_that_lead_out() {
    let check = |mount_at: Option<&str>, file: &str, raw: &str, expected: Option<Outside>| {
        let mount = mount(mount_at).unwrap();
        let base = base(&mount, &path(file));
        assert_eq!(outside(&mount, &base, raw), expected, "{file} {raw}");
    };
    let climbs = Some(Outside::Climbs);
    check(None, "index.html", "../a.png", climbs);
    check(None, "a/index.html", "../a.png", None);
    check(None, "a/b/c.html", "../../../d.png", climbs);
    check(None, "a/b.html", "x/../../../d.png", climbs);
    check(None, "a/b.html", "./x/.././../d.png", None);
    check(None, "a.html", "%2e%2E/d.png", climbs);
    check(None, "a.html", "..\\d.png", climbs);
    check(None, "a.html", "a/b?../../..", None);
    check(None, "a.html", "/../d.png", None);
    check(None, "a.html", "https://example.org/../../x", None);
    check(None, "a.html", "//host/../../x", None);
    check(None, "a.html", "", None);
    check(None, "a.html", "#../..", None);
    check(Some("https://example.org/sub/"), "a.html", "../x", climbs);
    check(Some("https://example.org/sub/"), "b/a.html", "../x", None);
    let disk = Some(Outside::Disk);
    check(None, "a.html", "file:///home/me/x.png", disk);
    check(None, "a.html", "FILE:x.png", disk);
    check(None, "a.html", "C:\\pictures\\x.png", disk);
    check(None, "a.html", "c:/pictures/x.png", disk);
    check(None, "a.html", "mailto:a@b", None);
    check(None, "a.html", "x:y", None);
}
