//! What no configuration may do, whatever OUT holds; what the servers make of them is tried by `cargo xtask servers`.

use super::*;
use crate::{deployed, disk};

fn deployed(files: &[(&str, &str)]) -> Deployed {
    let dir = tempfile::Builder::new()
        .prefix("fewer it's a \u{e9} ")
        .tempdir()
        .unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        #[expect(clippy::disallowed_methods, reason = "a tree for the test")]
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        disk::write_file(&path, text.as_bytes()).unwrap();
    }
    deployed::read(dir.path()).unwrap()
}

fn all(deployed: &Deployed, wishes: &Wishes) -> String {
    let written = Server::ALL
        .into_iter()
        .map(|server| write(server, deployed, wishes).unwrap());
    written.flatten().map(|file| file.text).collect()
}

#[test]
fn names_cannot_inject() {
    // Each would close a string, end a line, open a block or name a variable.
    let hostile = "a\"; } evil $uri %{X} `b`\n#\u{e9}'.0123456789abcdef.css";
    let manifest = serde_json::json!({"schema": 1, "immutable": [hostile]}).to_string();
    let found = deployed(&[
        (hostile, ""),
        ("x.0123456789abcdef.css", ""),
        ("p\"};\n$.tar", ""),
        ("p\"};\n$.tar.gz", ""),
        ("fewer-manifest.json", &manifest),
    ]);
    assert!(found.lookalikes && found.immutable.len() == 1 && found.foreign.len() == 1);
    for server in Server::ALL {
        for file in write(server, &found, &Wishes::default()).unwrap() {
            // Inside a string of Lua only its end and a line break mean something.
            let injected = match server {
                Server::Lighttpd => "a\"; } evil",
                _ => "evil $uri",
            };
            assert!(!file.text.contains(injected), "{}: {}", file.name, file.text);
            assert!(!file.text.contains("`\n#\u{e9}"), "{}: {}", file.name, file.text);
            assert!(!file.text.contains("p\"}"), "{}: {}", file.name, file.text);
        }
    }
}

#[test]
fn values_of_headers_are_quoted() {
    let found = deployed(&[("_headers", "/*\n  X-A: say \"$x\" %{y}e \\\n")]);
    let text = |server| write(server, &found, &Wishes::default()).unwrap()[0].text.clone();
    let nginx = text(Server::Nginx);
    let id = Context::new(Server::Nginx, &found, &Wishes::default())
        .unwrap()
        .id;
    assert!(
        nginx.contains(&format!(r#""say \"${{fewer_{id}_dollar}}x\" %{{y}}e \\";"#)),
        "{nginx}"
    );
    let apache = text(Server::Apache);
    assert!(apache.contains(r#"X-A "say \"$x\" %%{y}e \\" "#), "{apache}");
    assert!(text(Server::Caddy).contains("# Not carried over, as its value holds a brace: X-A of /*"));
}

#[test]
fn bad_wishes_are_refused() {
    let found = deployed(&[("index.html", "")]);
    let check = |wishes: Wishes, expected: &str| {
        let error = write(Server::Nginx, &found, &wishes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let defaults = Wishes::default;
    check(
        Wishes {
            root: Some("/srv/a\"b".into()),
            ..defaults()
        },
        "--root",
    );
    check(
        Wishes {
            root: Some("srv".into()),
            ..defaults()
        },
        "absolute",
    );
    check(
        Wishes {
            root: Some("/".into()),
            ..defaults()
        },
        "no site",
    );
    check(
        Wishes {
            host: Some("a b".into()),
            ..defaults()
        },
        "--host",
    );
    check(
        Wishes {
            listen: Some("x".into()),
            ..defaults()
        },
        "--listen",
    );
    check(
        Wishes {
            listen: Some("0".into()),
            ..defaults()
        },
        "--listen",
    );
}

#[test]
fn the_same_twice_and_only_what_lies_there() {
    let found = deployed(&[("index.html", ""), ("a.css", ""), ("a.css.gz", "")]);
    let wishes = Wishes {
        root: Some("/srv/x".into()),
        ..Wishes::default()
    };
    let text = all(&found, &wishes);
    assert_eq!(text, all(&found, &wishes));
    assert!(
        text.contains("gzip_static on;") && !text.contains("brotli_static on;"),
        "{text}"
    );
    // The program for lighttpd has the words for such names in any case, and a list of them.
    assert!(text.contains("local immutable = {  }"), "{text}");
    assert_eq!(text.matches(", immutable").count(), 1, "{text}");
}

#[test]
fn hosts_get_no_two_rules_about_one_file() {
    let found = deployed(&[
        (
            "fewer-manifest.json",
            r#"{"schema":1,"immutable":["a.0123456789abcdef.css"]}"#,
        ),
        ("a.0123456789abcdef.css", ""),
        ("b.css", ""),
        ("c.png", ""),
        ("d.png", ""),
        ("index.html", ""),
        ("_headers", "/d.png\n  Cache-Control: no-store\n"),
    ]);
    let text = &write(Server::Headers, &found, &Wishes::default()).unwrap()[0].text;
    let rules: Vec<&str> = text.lines().filter(|line| line.starts_with('/')).collect();
    let expected = [
        "/d.png",
        "/a.0123456789abcdef.css",
        "/b.css",
        "/fewer-manifest.json",
        "/c.png",
    ];
    let (mut rules, mut expected) = (rules, expected.to_vec());
    rules.sort_unstable();
    expected.sort_unstable();
    assert_eq!(rules, expected);
}

#[test]
fn most_pages_share_one_line_about_their_sheets() {
    let link = |sheet: &str| format!("</{sheet}>; rel=preload; as=style");
    let names: Vec<String> = (0..3000)
        .map(|nth| format!("a/long/folder/page-{nth:05}.html"))
        .collect();
    let value = |nth: usize| link(if nth.is_multiple_of(3) { "b.css" } else { "a.css" });
    let links: std::collections::BTreeMap<&str, Vec<String>> = names
        .iter()
        .enumerate()
        .filter(|(nth, _)| *nth != 1)
        .map(|(nth, name)| (name.as_str(), vec![value(nth)]))
        .collect();
    let manifest = serde_json::json!({"schema": 1, "immutable": [], "link_headers": links}).to_string();
    let mut files = vec![
        ("fewer-manifest.json", manifest.as_str()),
        ("a.css", ""),
        ("b.css", ""),
    ];
    files.extend(names.iter().map(|name| (name.as_str(), "")));
    let found = deployed(&files);
    let wishes = Wishes::default();
    let links = Context::new(Server::Nginx, &found, &wishes)
        .unwrap()
        .links(Dialect::Bytes, "/", "");
    assert_eq!(links.most, Some(link("a.css")));
    // The page without any, then those with the other sheet, in patterns that PCRE compiles.
    assert_eq!(links.some[0].1, "");
    assert_eq!(links.some[0].0, r"^/(?:a/long/folder/page-00001\.html)\z");
    assert!(links.some.len() < 8 && links.some.iter().all(|(pattern, _)| pattern.len() < 9000));
    let listed: usize = links
        .some
        .iter()
        .map(|(pattern, _)| pattern.matches("page-").count())
        .sum();
    assert_eq!(listed, 1001);
    let text = &write(Server::Nginx, &found, &wishes).unwrap()[0].text;
    assert_eq!(text.matches("add_header Link").count(), 1);
    // Made for the root, they would lead nowhere from below.
    let wishes = Wishes {
        prefix: "/docs/".to_string(),
        ..wishes
    };
    for server in Server::ALL
        .into_iter()
        .filter(|server| *server != Server::Headers)
    {
        let written = write(server, &found, &wishes).unwrap();
        assert!(
            written[0]
                .text
                .contains("The Link headers of 2999 pages are left out")
        );
        assert!(written.iter().all(|file| !file.text.contains("rel=preload")));
    }
}

#[test]
fn hosts_are_told_of_cors_once() {
    let found = deployed(&[
        (
            "fewer-manifest.json",
            r#"{"schema":1,"immutable":[],"cors":["svg","woff2"]}"#,
        ),
        (
            "_headers",
            "/own/*\n  Access-Control-Allow-Origin: https://example.org\n",
        ),
        ("own/m.svg", ""),
        ("f.woff2", ""),
    ]);
    let text = &write(Server::Headers, &found, &Wishes::default()).unwrap()[0].text;
    assert!(
        text.contains("\n/*.woff2\n  Access-Control-Allow-Origin: *\n"),
        "{text}"
    );
    assert!(
        text.contains("\n# Not said of /*.svg") && !text.contains("\n/*.svg"),
        "{text}"
    );
}
