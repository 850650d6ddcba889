//! What every server must answer on the site of `site`, and what some of them answer otherwise: that is asserted too, so
//! that the comments in their configurations stay true.

use std::fs;
use std::path::Path;

use super::ask::{Answer, ask};
use super::daemon::Daemon;
use super::site::IMMUTABLE;

struct Checks<'a> {
    origin: &'a str,
    prefix: &'a str,
    faults: Vec<String>,
}

impl Checks<'_> {
    fn ask(&self, method: &str, path: &str, headers: &str) -> anyhow::Result<Answer> {
        ask(self.origin, method, &format!("{}{path}", self.prefix), headers)
    }

    fn same(&mut self, what: &str, found: impl PartialEq<str> + std::fmt::Display, expected: &str) {
        if found != *expected {
            self.faults.push(format!(
                "{what}: {found:?} in place of {expected:?}",
                found = found.to_string()
            ));
        }
    }

    fn holds(&mut self, what: &str, holds: bool, answer: &Answer) {
        if !holds {
            self.faults.push(format!("{what}: {answer:?}"));
        }
    }
}

pub(super) fn run(daemon: &Daemon, kind: &str, prefix: &str, out: &Path) -> anyhow::Result<Vec<String>> {
    let mut checks = Checks {
        origin: &daemon.origin,
        prefix,
        faults: Vec::new(),
    };
    codings(&mut checks, kind, out)?;
    conditions(&mut checks)?;
    types(&mut checks)?;
    freshness(&mut checks, kind)?;
    addresses(&mut checks, kind)?;
    if kind == "varnish" {
        let purged = checks.ask("PURGE", "css/a.css", "")?;
        checks.holds("a purge from this machine", purged.status == 200, &purged);
    }
    Ok(checks.faults)
}

fn codings(checks: &mut Checks<'_>, kind: &str, out: &Path) -> anyhow::Result<()> {
    // Servers that weigh codings; the others take the first of theirs that is not refused.
    let weighs = matches!(kind, "serve" | "caddy" | "lighttpd");
    let zstd = !matches!(kind, "nginx" | "varnish") && out.join("css/a.css.zst").is_file();
    let identity = "";
    for (accept, expected) in [
        (None, identity),
        (Some("br"), "br"),
        (Some("gzip"), "gzip"),
        (Some("zstd"), if zstd { "zstd" } else { identity }),
        (Some("gzip, deflate, br"), "br"),
        // A server without zstd has gzip, behind a cache too.
        (Some("zstd, gzip"), if zstd { "zstd" } else { "gzip" }),
        (Some("identity"), identity),
        (Some("br;q=0, gzip"), "gzip"),
        (Some("br;q=0, gzip;q=0"), identity),
        (Some("br;q=0.1, gzip;q=0.9"), if weighs { "gzip" } else { "br" }),
    ] {
        let header = accept.map_or(String::new(), |accept| format!("Accept-Encoding: {accept}\r\n"));
        let what = format!("css/a.css for {accept:?}");
        let answer = checks.ask("GET", "css/a.css", &header)?;
        let coding = answer.get("content-encoding");
        checks.same(&what, coding, expected);
        let suffix = match expected {
            "br" => ".br",
            "gzip" => ".gz",
            "zstd" => ".zst",
            _ => "",
        };
        let file = fs::read(out.join(format!("css/a.css{suffix}")))?;
        checks.holds(
            &format!("{what}: the file's own bytes"),
            answer.body == file,
            &answer,
        );
        let varies = answer.get("vary").eq_ignore_ascii_case("accept-encoding");
        checks.holds(&format!("{what}: Vary"), varies, &answer);
        let content_type = answer.get("content-type");
        checks.same(&what, content_type, "text/css; charset=utf-8");
        let head = checks.ask("HEAD", "css/a.css", &header)?;
        // Caddy tells no length of a file in a coding.
        let unsaid = kind == "caddy" && !expected.is_empty() && head.get("content-length").is_empty();
        let told = unsaid || head.get("content-length") == file.len().to_string();
        checks.holds(
            &format!("HEAD {what}"),
            head.status == 200 && head.body.is_empty() && told,
            &head,
        );
    }
    let foreign = checks.ask("GET", "data.tar", "Accept-Encoding: gzip\r\n")?;
    checks.holds(
        "a file whose neighbour is no variant",
        foreign.body.len() == 3000,
        &foreign,
    );
    let named = checks.ask("GET", "css/a.css.gz", "Accept-Encoding: gzip\r\n")?;
    let plain =
        named.get("content-encoding").is_empty() && named.get("content-type").starts_with("application/");
    checks.holds("a variant by its own name", plain, &named);
    Ok(())
}

fn conditions(checks: &mut Checks<'_>) -> anyhow::Result<()> {
    let mut tags = Vec::new();
    for accept in ["br", "gzip", "identity"] {
        let header = format!("Accept-Encoding: {accept}\r\n");
        let answer = checks.ask("GET", "css/a.css", &header)?;
        let (tag, time) = (answer.get("etag"), answer.get("last-modified"));
        checks.holds(
            &format!("ETag and Last-Modified for {accept}"),
            !tag.is_empty() && !time.is_empty(),
            &answer,
        );
        for condition in [
            format!("If-None-Match: {tag}\r\n"),
            format!("If-Modified-Since: {time}\r\n"),
        ] {
            let again = checks.ask("GET", "css/a.css", &format!("{header}{condition}"))?;
            checks.holds(
                &format!("{accept}, {condition:?}"),
                again.status == 304 && again.body.is_empty(),
                &again,
            );
        }
        let other = checks.ask(
            "GET",
            "css/a.css",
            &format!("{header}If-None-Match: \"other\"\r\n"),
        )?;
        checks.holds("another tag", other.status == 200, &other);
        tags.push(tag);
    }
    tags.dedup();
    checks.same("tags of three codings", tags.len().to_string(), "3");
    let part = checks.ask("GET", "img/logo.png", "Range: bytes=2-4\r\n")?;
    let right = part.status == 206 && part.body == b"234" && part.get("content-range") == "bytes 2-4/10";
    checks.holds("a range", right, &part);
    let none = checks.ask("GET", "img/logo.png", "Range: bytes=20-30\r\n")?;
    checks.holds("a range behind the end", none.status == 416, &none);
    Ok(())
}

fn types(checks: &mut Checks<'_>) -> anyhow::Result<()> {
    for (path, expected) in [
        ("", "text/html; charset=utf-8"),
        ("about", "text/html; charset=utf-8"),
        ("js/a.mjs", "text/javascript; charset=utf-8"),
        ("feed.xml", "application/xml"),
        ("notes.txt", "text/plain; charset=utf-8"),
        ("img/logo.png", "image/png"),
        ("x.avif", "image/avif"),
    ] {
        for accept in ["", "Accept-Encoding: br\r\n"] {
            let content_type = checks.ask("GET", path, accept)?.get("content-type");
            checks.same(&format!("type of {path:?} {accept:?}"), content_type, expected);
        }
    }
    Ok(())
}

fn freshness(checks: &mut Checks<'_>, kind: &str) -> anyhow::Result<()> {
    for (path, expected) in [
        ("", "no-cache"),
        ("about", "no-cache"),
        ("css/a.css", "public, max-age=3600"),
        (IMMUTABLE, "public, max-age=31536000, immutable"),
        ("img/logo.png", "max-age=5"),
        ("css/gone.0123456789abcdef.css", "no-cache"),
    ] {
        for accept in ["", "Accept-Encoding: br\r\n"] {
            let cache = checks.ask("GET", path, accept)?.get("cache-control");
            checks.same(&format!("Cache-Control of {path:?} {accept:?}"), cache, expected);
        }
    }
    let tag = checks.ask("GET", "about.html", "")?.get("etag");
    let again = checks.ask("GET", "about.html", &format!("If-None-Match: {tag}\r\n"))?;
    checks.same("Cache-Control of a 304", again.get("cache-control"), "no-cache");
    let logo = checks.ask("GET", "img/logo.png", "")?;
    checks.same("a CORS rule", logo.get("access-control-allow-origin"), "*");
    for path in ["docs/", "docs/index.html"] {
        let docs = checks.ask("GET", path, "Accept-Encoding: br\r\n")?;
        checks.same("a value with signs", docs.get("x-quoted"), "say \"$x\" %y ' \\");
        checks.same("a rule for all", docs.get("x-frame-options"), "DENY");
    }
    let about = checks.ask("GET", "about", "")?;
    checks.same("a rule for others", about.get("x-quoted"), "");
    if kind == "varnish" {
        let cookie = checks.ask("GET", "about", "Cookie: a=b\r\n")?;
        checks.holds(
            "cookies do not matter",
            cookie.status == 200 && cookie.get("age").is_empty(),
            &cookie,
        );
    }
    Ok(())
}

fn addresses(checks: &mut Checks<'_>, kind: &str) -> anyhow::Result<()> {
    for (path, title) in [
        ("", "index.html"),
        ("?a=/../b", "index.html"),
        ("docs/", "docs/index.html"),
        ("docs.html", "docs.html"),
        ("posts", "posts.html"),
        ("posts/a", "posts/a.html"),
        ("about", "about.html"),
        ("about.html", "about.html"),
        ("a%20b", "a b.html"),
        ("a%20b.html", "a b.html"),
        ("%C3%A9", "\u{e9}.html"),
        ("it's%20%22$uri%22.html", "it's \"$uri\".html"),
    ] {
        let answer = checks.ask("GET", path, "")?;
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        let right = answer.status == 200 && body.contains(&format!("<title>{title}</title>"));
        checks.holds(&format!("GET {path:?}"), right, &answer);
    }
    for (path, query) in [("docs", ""), ("docs", "?a=b")] {
        let moved = checks.ask("GET", &format!("{path}{query}"), "")?;
        let to = moved.get("location");
        let target = to.strip_prefix(checks.origin).unwrap_or(&to);
        // Caddy loses the query.
        let query = if kind == "caddy" { "" } else { query };
        let right = matches!(moved.status, 301 | 308) && target == format!("{}docs/{query}", checks.prefix);
        checks.holds("a folder without its slash", right, &moved);
    }
    let private = [
        ".git/config",
        "%2egit/config",
        ".htaccess",
        "_headers",
        "img/",
        "gone",
        "docs/gone.css",
        "about.html/x",
        "about/x",
    ];
    for path in private {
        let answer = checks.ask("GET", path, "Accept-Encoding: identity\r\n")?;
        checks.holds(
            &format!("GET {path:?}"),
            matches!(answer.status, 403 | 404),
            &answer,
        );
        let page = String::from_utf8_lossy(&answer.body).contains("<title>404.html</title>");
        checks.holds(&format!("GET {path:?}: the site's own page"), page, &answer);
        checks.same(
            &format!("GET {path:?}"),
            answer.get("content-type"),
            "text/html; charset=utf-8",
        );
    }
    let known = checks.ask("GET", ".well-known/security.txt", "")?;
    checks.holds(
        "/.well-known/",
        known.status == 200 && known.body.starts_with(b"Contact"),
        &known,
    );
    for path in [
        "../secret",
        "%2e%2e/secret",
        "..%2fsecret",
        "docs/..%2f..%2f..%2fetc/passwd",
        "css/../../../../../etc/passwd",
        "%00",
        "a%0d%0aX-Injected:%20b",
    ] {
        let answer = checks.ask("GET", path, "")?;
        // Caddy 2.6 answers a NUL with 500.
        let most = if kind == "caddy" { 501 } else { 500 };
        let harmless = (400..most).contains(&answer.status) && answer.get("x-injected").is_empty();
        checks.holds(&format!("GET {path:?}"), harmless, &answer);
    }
    if checks.prefix != "/" {
        let outside = ask(checks.origin, "GET", "/css/a.css", "")?;
        checks.holds("outside the mount", outside.status == 404, &outside);
        let mount = checks.prefix.trim_end_matches('/');
        let moved = ask(checks.origin, "GET", mount, "")?;
        checks.holds(
            "the mount without its slash",
            matches!(moved.status, 301 | 308),
            &moved,
        );
    }
    if kind == "serve" {
        let refused = checks.ask("POST", "", "Content-Length: 0\r\n")?;
        checks.holds("POST", refused.status == 405, &refused);
    }
    Ok(())
}
