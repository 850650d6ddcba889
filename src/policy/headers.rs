//! `_headers` of SITE, the format of Netlify and Cloudflare Pages: path patterns, each with header lines below it.
//!
//! Only `Content-Security-Policy` is kept. A rule applies to a page when its pattern matches any URL path that the
//! page is served at; when hosts read a line differently, the reading with more policies is taken.

/// `_headers` of SITE, as static hosts read it: path patterns, each with header lines below it.
#[derive(Debug, Clone, Default)]
pub struct Headers {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    pattern: Vec<Piece>,
    /// `! Content-Security-Policy`: what earlier rules said is taken back (Cloudflare).
    detach: bool,
    policies: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// `*`: any characters, also none.
    Splat,
    /// `:name`: one or more characters other than `/`.
    Placeholder,
}

/// Comments (`#`) and lines that are neither a path nor a header are passed over, as hosts do.
pub fn parse_headers(text: &str) -> Headers {
    let mut rules: Vec<Rule> = Vec::new();
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if line.starts_with('#') {
            continue;
        }
        if let Some(path) = path_of(line) {
            rules.push(Rule {
                pattern: pattern(path),
                detach: false,
                policies: Vec::new(),
            });
        } else if let Some(rule) = rules.last_mut() {
            if let Some(name) = line.strip_prefix('!') {
                rule.detach |= is_policy(name);
            } else if let Some((name, value)) = line.split_once(':')
                && is_policy(name)
                && !value.trim().is_empty()
            {
                rule.policies.push(value.trim().to_string());
            }
        }
    }
    rules.retain(|rule| rule.detach || !rule.policies.is_empty());
    Headers { rules }
}

impl Headers {
    /// The values of `Content-Security-Policy` for this URL path (`/docs/a.html`).
    pub fn policies(&self, path: &str) -> Vec<String> {
        let served_at = [
            Some(path),
            // Static hosts serve `/docs/index.html` at `/docs/` and `/docs/a.html` at `/docs/a`.
            path.strip_suffix("index.html")
                .filter(|folder| folder.ends_with('/')),
            path.strip_suffix(".html"),
        ];
        let mut found: Vec<&String> = Vec::new();
        for rule in &self.rules {
            if served_at
                .iter()
                .flatten()
                .any(|path| matches(&rule.pattern, path))
            {
                if rule.detach {
                    found.clear();
                }
                found.extend(&rule.policies);
            }
        }
        found.into_iter().cloned().collect()
    }
}

fn is_policy(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("content-security-policy")
}

/// The path of a line that opens a rule. The host of an absolute pattern may be ours.
pub(crate) fn path_of(line: &str) -> Option<&str> {
    if line.starts_with('/') {
        return Some(line);
    }
    let rest = line
        .strip_prefix("https://")
        .or_else(|| line.strip_prefix("http://"))?;
    Some(rest.find('/').map_or("/", |at| &rest[at..]))
}

pub(crate) fn pattern(path: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = path;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let piece = match c {
            '*' => Piece::Splat,
            ':' if rest.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                rest = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
                Piece::Placeholder
            }
            _ => {
                text.push(c);
                continue;
            }
        };
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        // `**` is `*`.
        if piece != Piece::Splat || pieces.last() != Some(&Piece::Splat) {
            pieces.push(piece);
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// Follows all ways to match at once: time is pattern times path at worst, whatever both hold.
pub(crate) fn matches(pattern: &[Piece], path: &str) -> bool {
    let path = path.as_bytes();
    // The positions in `path` that the pieces so far can end at.
    let mut ends = vec![false; path.len() + 1];
    ends[0] = true;
    for piece in pattern {
        let mut next = vec![false; path.len() + 1];
        match piece {
            Piece::Text(text) => {
                for at in (0..ends.len()).filter(|&at| ends[at]) {
                    if path[at..].starts_with(text.as_bytes()) {
                        next[at + text.len()] = true;
                    }
                }
            }
            Piece::Splat => {
                let first = ends.iter().position(|&end| end).unwrap_or(ends.len());
                next[first..].fill(true);
            }
            Piece::Placeholder => {
                for at in 1..ends.len() {
                    next[at] = (ends[at - 1] || next[at - 1]) && path[at - 1] != b'/';
                }
            }
        }
        ends = next;
    }
    ends[path.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, path: &str, expected: &[&str]) {
        assert_eq!(
            parse_headers(text).policies(path),
            expected,
            "{path} under {text:?}"
        );
    }

    #[track_caller]
    fn check_match(pattern: &str, path: &str, expected: bool) {
        let text = format!("{pattern}\n  Content-Security-Policy: p");
        assert_eq!(
            !parse_headers(&text).policies(path).is_empty(),
            expected,
            "{path} under {pattern}"
        );
    }

    #[test]
    fn patterns() {
        check_match("/a.html", "/a.html", true);
        check_match("/a.html", "/A.html", false);
        check_match("/a.html", "/b/a.html", false);
        check_match("/*", "/", true);
        check_match("/*", "/docs/a.html", true);
        check_match("/docs/*", "/docs/", true);
        check_match("/docs/*", "/docs", false);
        check_match("/docs/*", "/doc/a.html", false);
        check_match("/*.html", "/docs/a.html", true);
        check_match("/*/a.html", "/x/y/a.html", true);
        check_match("/:lang/a.html", "/en/a.html", true);
        check_match("/:lang/a.html", "/en/us/a.html", false);
        check_match("/:lang/a.html", "//a.html", false);
        check_match("/v:version_2/*", "/v17/x", true);
        check_match("/a:1", "/a:1", true);
        check_match("https://me.test/docs/*", "/docs/a.html", true);
        check_match("https://:project.pages.test/*", "/a.html", true);
        check_match("https://me.test", "/", true);
    }

    #[test]
    fn pages_are_served_at_several_paths() {
        check_match("/", "/index.html", true);
        check_match("/docs/", "/docs/index.html", true);
        check_match("/docs/a", "/docs/a.html", true);
        check_match("/docs", "/docs/index.html", false);
    }

    #[test]
    fn files() {
        let text = "\
# for all
/*
  X-Frame-Options: DENY
  Content-Security-Policy: default-src 'self'; img-src 'self' https://x.test/#a
\tcontent-security-policy :   base-uri 'none'
  Content-Security-Policy-Report-Only: img-src 'none'

/open/*
  # nothing here
  ! Content-Security-Policy

/open/less.html
  Content-Security-Policy: img-src data:
  nonsense
";
        let all = [
            "default-src 'self'; img-src 'self' https://x.test/#a",
            "base-uri 'none'",
        ];
        check(text, "/a.html", &all);
        check(text, "/open/a.html", &[]);
        check(text, "/open/less.html", &["img-src data:"]);
        check(&text.replace('\n', "\r\n"), "/a.html", &all);
        check("", "/", &[]);
        check("Content-Security-Policy: x", "/", &[]);
        check("/*\n  Content-Security-Policy:  ", "/", &[]);
        check(
            "\u{feff}/a\n  Content-Security-Policy: x\n/*\n  Content-Security-Policy: y",
            "/a",
            &["x", "y"],
        );
    }

    #[test]
    fn hostile_patterns_end_soon() {
        let pattern = "/".to_string() + &"*:a".repeat(500) + "!";
        check_match(&pattern, &format!("/{}", "a".repeat(2000)), false);
        check_match("/\u{e9}*", "/\u{e9}\u{e9}", true);
    }
}
