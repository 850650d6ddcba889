//! Names that are hashes of bytes: two deploys, other hosts, seals, headers; and what must not change.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::command::{Place, Tree, build, command, differences, fixture, run, tree};
use crate::promises;

const FAST: [&str; 4] = ["--gzip-level", "1", "--brotli-quality", "1"];

fn manifest(out: &Tree) -> Value {
    serde_json::from_slice(&out["fewer-manifest.json"].bytes).unwrap()
}

fn immutable(out: &Tree) -> Vec<String> {
    let list = manifest(out)["immutable"].as_array().cloned().unwrap_or_default();
    list.iter()
        .map(|path| path.as_str().unwrap().to_owned())
        .collect()
}

/// What an old name became.
fn renamed(out: &Tree, old: &str) -> Option<String> {
    manifest(out)["files"][old].as_str().map(str::to_owned)
}

fn text(out: &Tree, path: &str) -> String {
    String::from_utf8_lossy(&out[path].bytes).into_owned()
}

/// Every listed name is the hash of what stands there (BLAKE3, sixteen digits).
fn names_fit(out: &Tree) {
    for path in immutable(out) {
        let hash = blake3::hash(&out[&path].bytes).to_hex()[..16].to_owned();
        assert!(
            path.contains(&format!(".{hash}")),
            "{path} should have {hash} in it"
        );
    }
}

/// Addresses in pages and stylesheets, as paths of the folder; coarse, but independent of the program.
fn references(out: &Tree) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (path, file) in out {
        if !(path.ends_with(".html") || path.ends_with(".css")) {
            continue;
        }
        let text = String::from_utf8_lossy(&file.bytes);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for marks in [("src=\"", "\""), ("href=\"", "\""), ("url(", ")")] {
            for piece in text.split(marks.0).skip(1) {
                let address = piece.split(marks.1).next().unwrap().trim_matches(['"', '\'']);
                let address = address.split(['?', '#']).next().unwrap();
                if address.is_empty() || address.contains(':') || address.starts_with('/') {
                    continue;
                }
                let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
                for part in address.split('/') {
                    match part {
                        ".." => drop(parts.pop()),
                        "." | "" => {}
                        part => parts.push(part),
                    }
                }
                found.insert(parts.join("/"));
            }
        }
    }
    found
}

fn copy_blog(place: &Place) {
    for (path, file) in tree(&fixture("blog/site"), false) {
        place.put(&format!("blog/{path}"), &file.bytes);
    }
}

#[test]
fn two_deploys_lose_nothing() {
    let passes = ["--skip", "embed", "--skip", "share"];
    for more in [
        &[][..],
        &["--fingerprint"],
        &passes[..],
        &["--fingerprint", "--skip", "embed", "--skip", "share"],
    ] {
        let place = Place::new();
        copy_blog(&place);
        let args = fast(more);
        let (first, second) = (place.at("first"), place.at("second"));
        build(&place.at("blog"), &first, &args);
        let css = fs::read_to_string(place.at("blog/css/style.css")).unwrap();
        place.put(
            "blog/css/style.css",
            format!("{css}\n#page{{outline:0 solid red}}").as_bytes(),
        );
        place.put(
            "blog/img/logo.png",
            &fs::read(place.at("blog/img/header.png")).unwrap(),
        );
        let page = fs::read_to_string(place.at("blog/index.html")).unwrap();
        place.put(
            "blog/index.html",
            page.replace("</body>", "<p>New.</p></body>").as_bytes(),
        );

        let keep = first.to_str().unwrap();
        let with: Vec<&str> = args.iter().copied().chain(["--keep-previous", keep]).collect();
        build(&place.at("blog"), &second, &with);
        let (before, after) = (tree(&first, false), tree(&second, false));
        names_fit(&before);
        names_fit(&after);
        promises::variants_fit(&after);
        let asked = references(&before);
        assert!(asked.len() > 15, "{asked:?}");
        for path in asked.iter().filter(|path| before.contains_key(*path)) {
            assert!(after.contains_key(path), "{more:?}: {path} is gone");
        }
        let hashed = immutable(&before);
        assert!(!hashed.is_empty());
        let known: BTreeSet<String> = immutable(&after).into_iter().collect();
        for path in hashed {
            assert!(
                after[&path].bytes == before[&path].bytes,
                "{more:?}: {path} changed"
            );
            assert!(known.contains(&path), "{more:?}: {path} is not listed");
            for ending in [".gz", ".br"] {
                let variant = format!("{path}{ending}");
                assert_eq!(
                    before.contains_key(&variant),
                    after.contains_key(&variant),
                    "{variant}"
                );
            }
        }

        // A third deploy still has what the first one named, also when OUT takes its own place.
        let itself: Vec<&str> = args
            .iter()
            .copied()
            .chain(["--force", "--keep-previous", second.to_str().unwrap()])
            .collect();
        build(&place.at("blog"), &second, &itself);
        assert_eq!(differences(&after, &tree(&second, false)), Vec::<String>::new());
    }
}

/// Every fixture under new names keeps the promises, and a build of the result has nothing left to name.
#[test]
fn every_fixture_under_new_names() {
    let flags = ["--fingerprint", "--sri"];
    for entry in fs::read_dir(fixture("")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        eprintln!("fixture {name}");
        let own = fs::read_to_string(folder.join("args")).unwrap_or_default();
        let plain: Vec<&str> = own
            .split_whitespace()
            .filter(|word| !flags.contains(word))
            .collect();
        let args: Vec<&str> = plain.iter().copied().chain(flags).chain(FAST).collect();
        let work = tempfile::tempdir().unwrap();
        let out = work.path().join("out");
        let (_, report) = build(&folder.join("site"), &out, &args);
        let built = tree(&out, false);
        promises::no_more_requests(&report);
        promises::no_more_bytes(&report);
        promises::nothing_lost(&tree(&folder.join("site"), true), &built);
        promises::variants_fit(&built);
        if built.contains_key("fewer-manifest.json") {
            names_fit(&built);
        }
        let again = work.path().join("again");
        let (_, rebuilt) = build(&out, &again, &args);
        // A copy of a sheet has the holes of the sheet.
        let holes = |report: &Value| -> BTreeSet<String> {
            let all = report["diagnostics"].as_array().unwrap().iter();
            let missing = all.filter(|found| found["code"] == "missing-file");
            missing.map(|found| found["message"].to_string()).collect()
        };
        let new: Vec<String> = holes(&rebuilt).difference(&holes(&report)).cloned().collect();
        assert!(new.is_empty(), "{name}: {new:?}");
        promises::no_more_requests(&rebuilt);
    }
}

const PAGE: &str = r#"<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T</title>
<link rel="preload" href="f/a.woff2" as="font" crossorigin>
<link rel="stylesheet" href="css/plain.css?v=1">
<link rel="stylesheet" href="css/fonts.css">
<link rel="manifest" href="app.webmanifest">
<script src="js/classic.js"></script>
<script type="module" src="js/entry.js"></script>
</head><body>
<img src="i/a.png" alt="" srcset="i/a.png 1x, i/b.png 2x"><a href="i/a.png">a</a>
<svg><use href="i/s.svg#x"/></svg>
<img src="i/m.png" alt=""><div style="background:url(i/c.png)">x</div>
<video src="v/a.mp4" poster="i/p.png"><track src="v/t.vtt"></video>
<template><img src="i/t.png"></template><noscript><img src="i/a.png"></noscript>
</body></html>
"#;

/// A page of everything; no bytes of it are real pictures.
/// The flags of a quick build, and more.
fn fast<'a>(more: &[&'a str]) -> Vec<&'a str> {
    FAST.iter().chain(more).copied().collect()
}

fn everything() -> Place {
    let place = Place::new();
    let put = |path: &str, text: &str| place.put(&format!("all/{path}"), text.as_bytes());
    put("index.html", PAGE);
    put(
        "css/plain.css",
        "@import \"part.css\";a{background:url(../i/bg.png)}",
    );
    put("css/part.css", "b{background:url(\"../i/part.png?x#y\")}");
    put(
        "css/fonts.css",
        "@font-face{font-family:F;src:url(../f/a.woff2)}p{font-family:F;mask-image:url(../i/m.png)}",
    );
    put("js/classic.js", "var a=1;\n//# sourceMappingURL=classic.js.map\n");
    put("js/classic.js.map", "{\"version\":3}");
    put("js/entry.js", "import {b} from './lib.js';b();");
    put("js/lib.js", "export function b(){}");
    put(
        "app.webmanifest",
        "{\"icons\":[{\"src\":\"i/icon.png\",\"sizes\":\"1x1\"}],\"start_url\":\"i/icon.png\"}",
    );
    put("f/a.woff2", "font");
    put("v/a.mp4", "video");
    put("v/t.vtt", "WEBVTT");
    put(
        "i/s.svg",
        "<svg xmlns=\"http://www.w3.org/2000/svg\"><g id=\"x\"/></svg>",
    );
    for name in ["a", "b", "c", "m", "p", "t", "bg", "part", "icon"] {
        put(&format!("i/{name}.png"), name);
    }
    place
}

#[test]
fn references_of_every_kind_follow() {
    let place = everything();
    let args = fast(&["--skip", "all", "--fingerprint"]);
    build(&place.at("all"), &place.at("out"), &args);
    let out = tree(&place.at("out"), false);
    names_fit(&out);
    let new = |old: &str| renamed(&out, old).unwrap_or_else(|| panic!("{old} has no new name"));
    let page = text(&out, "index.html");
    let has = |wanted: String| assert!(page.contains(&wanted), "{wanted} is not in\n{page}");
    has(format!("href=\"{}\" as=\"font\" crossorigin", new("f/a.woff2")));
    has(format!("href=\"{}?v=1\"", new("css/plain.css")));
    has(format!(
        "src=\"{}\" alt=\"\" srcset=\"{} 1x, {} 2x\"",
        new("i/a.png"),
        new("i/a.png"),
        new("i/b.png")
    ));
    has(format!("<use href=\"{}#x\"/>", new("i/s.svg")));
    has(format!("style=\"background:url({})\"", new("i/c.png")));
    has(format!(
        "<video src=\"{}\" poster=\"{}\">",
        new("v/a.mp4"),
        new("i/p.png")
    ));
    has(format!("type=\"module\" src=\"{}\"", new("js/entry.js")));
    // A reader's link, a template and a page without scripts keep the old names.
    has("<a href=\"i/a.png\">".into());
    has("<template><img src=\"i/t.png\"></template><noscript><img src=\"i/a.png\"></noscript>".into());
    has("href=\"app.webmanifest\"".into());
    for old in ["js/lib.js", "i/t.png", "v/t.vtt", "app.webmanifest", "index.html"] {
        assert_eq!(renamed(&out, old), None, "{old}");
    }
    let name = |old: &str| new(old).rsplit('/').next().unwrap().to_owned();
    let sheet = text(&out, &new("css/plain.css"));
    assert_eq!(
        sheet,
        format!(
            "@import \"{}\";a{{background:url(../i/{})}}",
            name("css/part.css"),
            name("i/bg.png")
        )
    );
    let part = text(&out, &new("css/part.css"));
    assert_eq!(
        part,
        format!("b{{background:url(../i/{}?x#y)}}", name("i/part.png"))
    );
    let script = text(&out, &new("js/classic.js"));
    assert_eq!(
        script,
        format!("var a=1;\n//# sourceMappingURL={}\n", name("js/classic.js.map"))
    );
    let app = text(&out, "app.webmanifest");
    assert_eq!(
        app,
        format!(
            "{{\"icons\":[{{\"src\":\"{}\",\"sizes\":\"1x1\"}}],\"start_url\":\"i/icon.png\"}}",
            new("i/icon.png")
        )
    );
    // The old names have the old bytes.
    let site = tree(&place.at("all"), false);
    for (path, file) in &site {
        if !matches!(path.as_str(), "index.html" | "app.webmanifest") {
            assert!(out[path].bytes == file.bytes, "{path} changed");
        }
    }
}

#[test]
fn what_scripts_and_selectors_know_keeps_its_name() {
    let check = |name: &str, html: &str, files: &[(&str, &str)], fixed: &[&str], free: &[&str]| {
        let place = Place::new();
        let page =
            format!("<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>T</title>{html}</html>");
        place.put("s/index.html", page.as_bytes());
        for (path, text) in files {
            place.put(&format!("s/{path}"), text.as_bytes());
        }
        let args = fast(&["--skip", "all", "--fingerprint"]);
        build(&place.at("s"), &place.at("out"), &args);
        let out = tree(&place.at("out"), false);
        let get = |path: &str| {
            out.contains_key("fewer-manifest.json")
                .then(|| renamed(&out, path))
                .flatten()
        };
        for path in fixed {
            assert_eq!(get(path), None, "{name}: {path}");
        }
        for path in free {
            assert!(get(path).is_some(), "{name}: {path} should have a new name");
        }
    };
    let image = [("a.png", "a"), ("b.png", "b")];
    check("control", "<img src=a.png>", &image, &["b.png"], &["a.png"]);
    check(
        "a script swaps images",
        "<img src=a.png><script>var i=document.images[0];i.src=i.src.replace('a.png','b.png')</script>",
        &image,
        &["a.png"],
        &[],
    );
    check(
        "a selector asks for the name",
        "<style>[src='a.png']{color:red}</style><img src=a.png>",
        &image,
        &["a.png"],
        &[],
    );
    check(
        "the ending stays",
        "<style>[src$='.png']{color:red}</style><img src=a.png>",
        &image,
        &[],
        &["a.png"],
    );
    check(
        "a hash could have it",
        "<style>[src*='e5']{color:red}</style><img src=a.png>",
        &image,
        &["a.png"],
        &[],
    );
    check(
        "a frame shows it",
        "<img src=a.png><iframe src=a.png></iframe>",
        &image,
        &["a.png"],
        &[],
    );
    check(
        "srcdoc",
        "<img src=a.png><iframe srcdoc='<img src=a.png>'></iframe>",
        &image,
        &["a.png"],
        &[],
    );
    check(
        "a policy names files",
        "<meta http-equiv=content-security-policy content='img-src /a.png'><img src=a.png>",
        &image,
        &["a.png"],
        &[],
    );
    check(
        "a custom property",
        "<style>b{--x:url(a.png);background:var(--x)}</style><b>x</b><img src=a.png>",
        &image,
        &["a.png"],
        &[],
    );
    let modules = [
        ("m.js", "import './n.js'"),
        ("n.js", "import './m.js'"),
        ("o.js", "1"),
    ];
    let tags = "<script type=module src=m.js></script><link rel=modulepreload href=n.js><script type=module src=o.js></script>";
    check("modules", tags, &modules, &["m.js", "n.js"], &["o.js"]);
    check(
        "an import of anything",
        &format!("{tags}<script type=module>import(location.hash)</script>"),
        &modules,
        &["m.js", "n.js", "o.js"],
        &[],
    );
    let sheets = [
        ("a.css", "@import 'b.css';"),
        ("b.css", "@import 'a.css';b{background:url(a.png)}"),
        ("c.css", "@import 'a.css';c{color:red}"),
        ("a.png", "a"),
    ];
    let links = "<link rel=stylesheet href=a.css><link rel=stylesheet href=c.css><b>x</b>";
    check(
        "sheets in a circle",
        links,
        &sheets,
        &["a.css", "b.css", "a.png"],
        &["c.css"],
    );
    check(
        "a service worker",
        "<img src=a.png><script>navigator.serviceWorker.register('w.js')</script>",
        &[("a.png", "a"), ("w.js", "")],
        &["a.png", "w.js"],
        &[],
    );
    check(
        "places that are known",
        "<link rel=icon href=favicon.ico><img src=.well-known/a.png>",
        &[("favicon.ico", "i"), (".well-known/a.png", "a")],
        &["favicon.ico", ".well-known/a.png"],
        &[],
    );
}

#[test]
fn files_go_to_the_other_host() {
    let check = |more: &[&str], away: &[&str], here: &[&str], policy: &[&str]| {
        let place = everything();
        let args: Vec<&str> = FAST
            .iter()
            .chain(&["--skip", "all", "--cdn", "https://cdn.example.com/x"])
            .chain(more)
            .copied()
            .collect();
        let (_, report) = build(&place.at("all"), &place.at("out"), &args);
        promises::no_more_requests(&report);
        let out = tree(&place.at("out"), false);
        let page = text(&out, "index.html");
        for path in away {
            let address = format!("https://cdn.example.com/x/{path}");
            assert!(page.contains(&address), "{more:?}: {path}\n{page}");
        }
        for path in here {
            assert!(
                !page.contains(&format!("cdn.example.com/x/{path}")),
                "{more:?}: {path}\n{page}"
            );
        }
        let said: Vec<&str> = report["totals"]["policy"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p.as_str().unwrap())
            .collect();
        assert_eq!(said, policy, "{more:?}");
        let states: BTreeSet<&str> = report["pages"][0]["requests"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["state"].as_str().unwrap())
            .collect();
        assert!(
            !states.contains("added") && !states.contains("external"),
            "{more:?}: {states:?}"
        );
        (out, page)
    };
    let host = |kinds: &[&str]| {
        kinds
            .iter()
            .map(|kind| format!("{kind} https://cdn.example.com/x/"))
            .collect::<Vec<_>>()
    };
    let some = host(&["style-src", "script-src", "img-src", "media-src"]);
    let some: Vec<&str> = some.iter().map(String::as_str).collect();
    let all = host(&["style-src", "script-src", "img-src", "font-src", "media-src"]);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (out, page) = check(
        &[],
        &[
            "css/plain.css?v=1",
            "js/classic.js",
            "i/a.png",
            "i/b.png",
            "i/c.png",
            "i/p.png",
            "v/a.mp4",
        ],
        &[
            "f/a.woff2",
            "css/fonts.css",
            "js/entry.js",
            "i/m.png",
            "i/s.svg",
            "v/t.vtt",
            "app.webmanifest",
        ],
        &some,
    );
    assert!(page.contains("<a href=\"i/a.png\">"), "{page}");
    // What such a sheet asks for it asks for on its own host.
    assert_eq!(
        text(&out, "css/plain.css"),
        "@import \"part.css\";a{background:url(../i/bg.png)}"
    );
    check(
        &["--cdn-cors", "--sri"],
        &[
            "css/plain.css?v=1",
            "css/fonts.css",
            "f/a.woff2",
            "js/entry.js",
            "i/m.png",
        ],
        &["i/s.svg", "v/t.vtt", "app.webmanifest"],
        &all,
    );
    let (out, _) = check(
        &["--base-url", "https://example.org/"],
        &["css/plain.css?v=1", "css/fonts.css"],
        &["f/a.woff2", "i/m.png"],
        &some,
    );
    assert!(text(&out, "css/fonts.css").contains("url(https://example.org/f/a.woff2)"));
    assert!(text(&out, "css/fonts.css").contains("url(https://example.org/i/m.png)"));
    let policy = [
        "--csp",
        "img-src 'self'; style-src 'self' https://cdn.example.com",
    ];
    // Where the server's policy is known, nothing is moved against it and nothing is left to ask for.
    check(&policy, &["js/classic.js"], &["i/", "css/plain.css"], &[]);
}

#[test]
fn sealed_files_cross_hosts_with_cors() {
    let place = everything();
    let args = fast(&[
        "--skip",
        "all",
        "--fingerprint",
        "--sri",
        "--cdn",
        "https://cdn.example.com/",
        "--cdn-cors",
    ]);
    let (_, report) = build(&place.at("all"), &place.at("out"), &args);
    let out = tree(&place.at("out"), false);
    // Servers read from here which types need CORS headers.
    let cors = &manifest(&out)["cors"];
    for extension in ["css", "js", "woff2"] {
        let listed = cors.as_array().unwrap().iter().any(|listed| listed == extension);
        assert!(listed, "{extension} is not in {cors}");
    }
    let page = text(&out, "index.html");
    let seal = |path: &str| {
        use base64::Engine as _;
        use sha2::Digest as _;
        let digest = sha2::Sha384::digest(&out[path].bytes);
        format!(
            "sha384-{}",
            base64::engine::general_purpose::STANDARD.encode(digest)
        )
    };
    for (old, attributes) in [
        ("css/plain.css", " crossorigin=\"anonymous\""),
        ("js/classic.js", " crossorigin=\"anonymous\""),
        ("js/entry.js", ""),
    ] {
        let new = renamed(&out, old).unwrap();
        let query = if old == "css/plain.css" { "?v=1" } else { "" };
        let wanted = format!(
            "https://cdn.example.com/{new}{query}\" integrity=\"{}\"{attributes}>",
            seal(&new)
        );
        assert!(page.contains(&wanted), "{wanted} is not in\n{page}");
    }
    let asked = &report["totals"]["asked_for"];
    assert_eq!(
        asked["options"],
        serde_json::json!(["--fingerprint", "--cdn", "--sri"])
    );
    assert!(asked["first"]["br"].as_i64().unwrap() > 100, "{asked}");
}

#[test]
fn an_integrity_of_site_follows() {
    let place = everything();
    let sheet = fs::read(place.at("all/css/plain.css")).unwrap();
    let hash = {
        use base64::Engine as _;
        use sha2::Digest as _;
        base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(sheet))
    };
    let page = PAGE.replace("?v=1\">", &format!("\" integrity=\"sha256-{hash}\">"));
    place.put("all/index.html", page.as_bytes());
    let args = fast(&["--skip", "all", "--fingerprint"]);
    build(&place.at("all"), &place.at("out"), &args);
    let (out, _) = (tree(&place.at("out"), false), ());
    let new = renamed(&out, "css/plain.css").unwrap();
    let output = run([Path::new("report"), &place.at("out")], 0);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("integrity-mismatch"), "{said}");
    assert!(text(&out, "index.html").contains(&format!("href=\"{new}\" integrity=\"sha256-")));
    assert!(!text(&out, "index.html").contains(&hash));
}

#[test]
fn link_headers_stand_behind_those_of_site() {
    let place = everything();
    place.put("all/_headers", b"/*\n  X-Frame-Options: DENY\n");
    place.put("all/sub/index.html", b"<!DOCTYPE html><title>S</title><link rel=stylesheet href=../css/fonts.css><link rel=stylesheet href=../css/part.css media=print><p>x");
    let args = fast(&["--skip", "all", "--fingerprint", "--link-headers"]);
    build(&place.at("all"), &place.at("out"), &args);
    let out = tree(&place.at("out"), false);
    let new = |old: &str| renamed(&out, old).unwrap();
    let link = |old: &str, query: &str| format!("  Link: </{}{query}>; rel=preload; as=style\n", new(old));
    let expected = format!(
        "/*\n  X-Frame-Options: DENY\n# fewer: link headers begin\n/\n{}{}/sub/\n{}# fewer: link headers end\n",
        link("css/plain.css", "?v=1"),
        link("css/fonts.css", ""),
        link("css/fonts.css", ""),
    );
    assert_eq!(text(&out, "_headers"), expected);
    let listed = &manifest(&out)["link_headers"]["sub/index.html"][0];
    assert_eq!(
        listed,
        &format!("</{}>; rel=preload; as=style", new("css/fonts.css"))
    );
    // The next build of that folder replaces the block.
    build(&place.at("out"), &place.at("again"), &args);
    assert_eq!(text(&tree(&place.at("again"), false), "_headers"), expected);
}

#[test]
fn a_hostile_old_out_gives_nothing_away() {
    let place = everything();
    place.put("secret.txt", b"secret");
    let hash = blake3::hash(b"secret").to_hex()[..16].to_owned();
    let name = |folder: &str| format!("{folder}a.{hash}.txt");
    place.put("old/ok/keep.me", b"");
    place.put(&format!("old/{}", name("ok/")), b"secret");
    place.put(&format!("old/{}", name("broken/")), b"other bytes");
    fs::create_dir_all(place.at("old/linked")).unwrap();
    symlink(
        place.at("secret.txt"),
        place.at(&format!("old/{}", name("linked/"))),
    )
    .unwrap();
    place.put(&format!("elsewhere/{}", name("")), b"secret");
    symlink(place.at("elsewhere"), place.at("old/folder")).unwrap();
    place.put(&name(""), b"secret");
    let list: Vec<String> = ["ok/", "broken/", "linked/", "folder/", "../", "gone/"]
        .iter()
        .map(|folder| name(folder))
        .collect();
    let list = serde_json::json!({"schema": 1, "files": {}, "immutable": list});
    place.put("old/fewer-manifest.json", list.to_string().as_bytes());
    let old = place.at("old");
    let args = fast(&["--skip", "all", "--keep-previous", old.to_str().unwrap()]);
    let (output, _) = build(&place.at("all"), &place.at("out"), &args);
    let out = tree(&place.at("out"), false);
    let carried: Vec<&String> = out.keys().filter(|path| path.contains(&hash)).collect();
    assert_eq!(carried, [&name("ok/")]);
    assert_eq!(immutable(&out), [name("ok/")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.matches("[not-carried]").count(), 3, "{said}");
}

#[test]
fn the_policy_that_out_needs() {
    use base64::Engine as _;
    use sha2::Digest as _;
    let hash = |text: &str| {
        let digest = sha2::Sha256::digest(text);
        format!(
            "'sha256-{}'",
            base64::engine::general_purpose::STANDARD.encode(digest)
        )
    };
    let place = Place::new();
    let head = "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>T</title>";
    let style = "p{color:red;background:url(https://img.example.net/a.png)}";
    let page = format!("{head}<style>{style}</style><p onclick=\"go('x')\">x<script>var a = 1;</script>");
    place.put("s/index.html", page.as_bytes());
    place.put(
        "s/plain.html",
        format!("{head}<p style=\"color:red\">x<script type=application/ld+json>{{}}</script>").as_bytes(),
    );
    run(
        place.args("build @s --out @out --skip all --write-policy @policy -q"),
        0,
    );
    let written = fs::read_to_string(place.at("policy")).unwrap();
    let first = format!(
        "style-src 'self' {}; script-src 'self' {}; img-src 'self' https://img.example.net; font-src 'self'; media-src 'self'; script-src-attr 'unsafe-hashes' {}",
        hash(style),
        hash("var a = 1;"),
        hash("go('x')")
    );
    let second = "style-src 'self'; script-src 'none'; img-src 'self'; font-src 'self'; media-src 'self'; style-src-attr 'unsafe-inline'";
    let rule = |path: &str, policy: &str| format!("{path}\n  Content-Security-Policy: {policy}\n");
    let expected = [
        rule("/", &first),
        rule("/index.html", &first),
        rule("/plain.html", second),
    ]
    .concat();
    assert_eq!(written, expected);

    // Every page needs the same: one rule. Hashes are those of OUT, not of SITE.
    fs::remove_file(place.at("s/index.html")).unwrap();
    place.put(
        "s/other.html",
        format!("{head}<p style=\"color:red\">y").as_bytes(),
    );
    run(
        place.args("build @s --out @out --force --write-policy @policy -q"),
        0,
    );
    assert_eq!(
        fs::read_to_string(place.at("policy")).unwrap(),
        rule("/*", second)
    );
    place.refuses(
        "build @s --out @more --write-policy @s/policy",
        "lies inside SITE",
    );
    place.refuses("build @s --out @more --write-policy @s", "a folder");
}

#[test]
fn explain_says_why_a_name_stays() {
    let place = everything();
    let said = |file: &str, flags: &str| {
        let output = run(place.args(&format!("explain @all {file} --skip all {flags}")), 0);
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(said("i/a.png", "--fingerprint").contains("pages ask for i/a."));
    assert!(
        said("css/fonts.css", "--cdn https://cdn.example.com/").contains("it asks for files that stay there")
    );
}

#[test]
fn bad_use_is_refused() {
    let place = Place::new();
    place.put("file", b"x");
    place.put("taken/index.html", b"<!DOCTYPE html><title>T</title>");
    place.put("taken/fewer-manifest.json", b"{\"mine\":1}");
    let refuses = |line: &str, said: &str| place.refuses(line, said);
    refuses("build @site --out @out --cdn cdn.example.com", "--cdn");
    refuses(
        "build @site --out @out --cdn ftp://cdn.example.com/",
        "must begin with http",
    );
    refuses(
        "build @site --out @out --cdn https://cdn.example.com/?a",
        "must not have a query",
    );
    refuses(
        "build @site --out @out --keep-previous @nowhere",
        "--keep-previous",
    );
    refuses("build @site --out @out --keep-previous @file", "not a folder");
    refuses(
        "build @taken --out @out --fingerprint",
        "fewer-manifest.json of its own",
    );
    refuses("report @site --fingerprint", "--fingerprint is about changes");
    // The first build of a folder that is to keep itself.
    let output = command(place.args("build @site --out @out --force --keep-previous @out -q"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // Without a wish for it, a foreign file of that name only stays.
    run(place.args("build @taken --out @kept -q"), 0);
    assert_eq!(
        fs::read(place.at("kept/fewer-manifest.json")).unwrap(),
        b"{\"mine\":1}"
    );
}
