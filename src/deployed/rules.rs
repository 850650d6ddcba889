//! Every header that a `_headers` file asks for (the format of Netlify and Cloudflare Pages), for servers that do not
//! read the file themselves.
//!
//! In: its text. Out: rules in the file's order. A rule is about a file when its pattern matches any address that the
//! file is served at. What cannot be carried over is noted, never dropped in silence.

use std::collections::BTreeSet;

use crate::policy::headers::{Piece, matches, path_of, pattern};

/// The rules of one file.
#[derive(Debug, Clone, Default)]
pub struct Rules(pub Vec<Rule>);

/// Headers for the addresses that a pattern matches.
#[derive(Debug, Clone)]
pub struct Rule {
    /// As it was written, without control characters.
    pub shown: String,
    pub(crate) pattern: Vec<Piece>,
    /// `! Name`: what earlier rules set is taken back (Cloudflare).
    pub detached: Vec<String>,
    /// Name and value.
    pub headers: Vec<(String, String)>,
}

/// Lets pages of any host use what they asked for (Fetch standard, CORS check).
const CORS: &str = "Access-Control-Allow-Origin";

/// Headers that the server itself makes from the file that it sends.
const OWN: [&str; 14] = [
    "accept-ranges",
    "connection",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "date",
    "etag",
    "last-modified",
    "location",
    "server",
    "trailer",
    "transfer-encoding",
    "vary",
];

/// Reads the text of a `_headers` file.
pub fn parse(text: &str, notes: &mut Vec<String>) -> Rules {
    let mut rules: Vec<Rule> = Vec::new();
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        if let Some(path) = path_of(line) {
            rules.push(Rule {
                shown: path.chars().filter(|c| !c.is_control()).collect(),
                pattern: pattern(path),
                detached: Vec::new(),
                headers: Vec::new(),
            });
            continue;
        }
        let Some(rule) = rules.last_mut() else { continue };
        if let Some(name) = line.strip_prefix('!') {
            rule.detached.push(name.trim().to_string());
            continue;
        }
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        match refusal(name, value) {
            None => rule.headers.push((name.to_string(), value.to_string())),
            Some(why) => {
                let name: String = name.chars().filter(|c| !c.is_control()).collect();
                notes.push(format!(
                    "_headers, {}: {name} is not carried over, {why}",
                    rule.shown
                ));
            }
        }
    }
    rules.retain(|rule| !rule.detached.is_empty() || !rule.headers.is_empty());
    Rules(rules)
}

/// Why a header cannot be sent as it stands.
pub(super) fn refusal(name: &str, value: &str) -> Option<&'static str> {
    // RFC 9110, section 5.6.2: a token.
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty()
        || !name.bytes().all(is_token)
        || name.contains(['$', '`', '%', '\'', '^', '|', '#', '&'])
    {
        return Some("its name is not one of letters, digits and hyphens");
    }
    if OWN.contains(&name.to_ascii_lowercase().as_str()) {
        return Some("the server makes it from the file");
    }
    if value.is_empty() {
        return Some("it has no value");
    }
    if !value.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return Some("its value is not plain ASCII");
    }
    if value.contains(":splat") {
        return Some("a value with :splat is filled in by hosts only");
    }
    None
}

impl Rules {
    /// With the header that lets pages of other hosts use files with these extensions. What the site says
    /// itself of a file takes ours back: two of these headers in one answer are as good as none.
    pub(super) fn with_cors(mut self, extensions: &BTreeSet<String>) -> Rules {
        if extensions.is_empty() {
            return self;
        }
        for rule in &mut self.0 {
            if rule
                .headers
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case(CORS))
            {
                rule.detached.push(CORS.to_string());
            }
        }
        let ours = extensions.iter().map(|extension| {
            let shown = format!("/*.{extension}");
            Rule {
                pattern: pattern(&shown),
                shown,
                detached: Vec::new(),
                headers: vec![(CORS.to_string(), "*".to_string())],
            }
        });
        self.0.splice(..0, ours);
        self
    }

    /// The headers of a file that is asked for at `request` and stands at `file`, both with their first `/`. A repeated
    /// name stands twice, as in an answer.
    pub fn of(&self, request: &str, file: &str) -> Vec<(String, String)> {
        let served_at = [
            Some(request),
            Some(file),
            file.strip_suffix("index.html")
                .filter(|folder| folder.ends_with('/')),
            file.strip_suffix(".html"),
        ];
        let mut found: Vec<(String, String)> = Vec::new();
        for rule in &self.0 {
            if served_at
                .iter()
                .flatten()
                .any(|path| matches(&rule.pattern, path))
            {
                let is_detached = |name: &str| {
                    rule.detached
                        .iter()
                        .any(|detached| detached.eq_ignore_ascii_case(name))
                };
                found.retain(|(name, _)| !is_detached(name));
                found.extend(rule.headers.iter().cloned());
            }
        }
        found
    }
}

impl Rule {
    /// The value of `Cache-Control`, the last one if there are more.
    pub fn cache_control(&self) -> Option<&str> {
        let mut values = self.headers.iter().rev();
        let found = values.find(|(name, _)| name.eq_ignore_ascii_case("cache-control"));
        found.map(|(_, value)| value.as_str())
    }

    /// A regular expression over a whole path for the addresses `of` finds, from the part of the syntax that PCRE and
    /// RE2 share; nothing in it but letters, digits and `/_-.*+?()[]{}^|\`. `prefix` is where the site is mounted (`/`,
    /// `/docs/`); `tail` may stand behind a file's name.
    pub fn regex(&self, prefix: &str, tail: &str, dialect: Dialect) -> String {
        let mut pieces = self.pattern.clone();
        // Every spelling of the address of a page: `/a/`, `/a/index`, `/a/index.html`; `/a`, `/a.html`.
        let mut end = "";
        if let Some(Piece::Text(text)) = pieces.last_mut() {
            if let Some(folder) = ["index.html", "index"]
                .iter()
                .find_map(|name| text.strip_suffix(name))
                .filter(|folder| folder.ends_with('/'))
            {
                *text = folder.to_string();
                end = r"(index(\.html)?)?";
            } else if text.ends_with('/') {
                end = r"(index(\.html)?)?";
            } else if let Some(stem) = text.strip_suffix(".html") {
                *text = stem.to_string();
                end = r"(\.html)?";
            } else if !text.rsplit('/').next().unwrap_or_default().contains('.') {
                end = r"(\.html)?";
            }
        }
        let mut out = format!(
            "(?s)^{}",
            escape(prefix.strip_suffix('/').unwrap_or(prefix), dialect)
        );
        let count = pieces.len();
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                // `/docs/*.html` without its ending is an address of pages only.
                Piece::Splat if end == r"(\.html)?" && at + 2 == count && is_empty(pieces.get(at + 1)) => {
                    out.push_str(r"(.*\.html|(.*/)?[^/.]*)");
                    end = "";
                }
                Piece::Splat => out.push_str(".*"),
                Piece::Placeholder => out.push_str("[^/]+"),
                Piece::Text(text) => out.push_str(&escape(text, dialect)),
            }
        }
        format!(r"{out}{end}{tail}\z")
    }
}

fn is_empty(piece: Option<&Piece>) -> bool {
    matches!(piece, Some(Piece::Text(text)) if text.is_empty())
}

/// How a server's regular expressions see text beyond ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// PCRE without its UTF mode: nginx, Apache, Varnish.
    Bytes,
    /// RE2: Caddy.
    Characters,
}

/// Text as a regular expression that matches it, without any sign that a configuration gives a meaning.
pub fn escape(text: &str, dialect: Dialect) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '/' | '_' | '-' => out.push(c),
            '.' => out.push_str(r"\."),
            c if c.is_ascii() => out.push_str(&format!(r"\x{:02x}", c as u32)),
            c if dialect == Dialect::Characters => out.push_str(&format!(r"\x{{{:x}}}", c as u32)),
            c => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    out.push_str(&format!(r"\x{byte:02x}"));
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> (Rules, Vec<String>) {
        let mut notes = Vec::new();
        (parse(text, &mut notes), notes)
    }

    #[test]
    fn a_rule_holds_at_every_address_of_its_file() {
        let (rules, notes) = rules("/docs/\n  X-A: 1\n/about\n  X-B: 2\n/*\n  X-C: 3\n/secret/*\n  ! X-C\n");
        assert!(notes.is_empty());
        let of = |request, file| {
            let found = rules.of(request, file);
            found
                .iter()
                .map(|(name, _)| name.clone())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(of("/docs/", "/docs/index.html"), "X-A X-C");
        assert_eq!(of("/docs/index.html", "/docs/index.html"), "X-A X-C");
        assert_eq!(of("/about.html", "/about.html"), "X-B X-C");
        assert_eq!(of("/about", "/about.html"), "X-B X-C");
        assert_eq!(of("/secret/x.css", "/secret/x.css"), "");
    }

    #[test]
    fn what_cannot_be_carried_over_is_named() {
        let (rules, notes) =
            rules("/*\n  Content-Type: text/plain\n  X-\u{e9}: 1\n  X-A: \u{e9}\n  X-B: a$b\"c\n");
        assert_eq!(rules.0[0].headers, [("X-B".to_string(), "a$b\"c".to_string())]);
        assert_eq!(notes.len(), 3);
        assert_eq!(
            notes[0],
            "_headers, /*: Content-Type is not carried over, the server makes it from the file"
        );
    }

    #[test]
    fn patterns_as_regular_expressions() {
        let check = |pattern: &str, expected: &str| {
            let (rules, _) = rules(&format!("{pattern}\n  X-A: 1\n"));
            assert_eq!(rules.0[0].regex("/", "", Dialect::Bytes), expected, "{pattern}");
        };
        check("/*", r"(?s)^/.*\z");
        check("/docs/", r"(?s)^/docs/(index(\.html)?)?\z");
        check("/docs/index.html", r"(?s)^/docs/(index(\.html)?)?\z");
        check("/about", r"(?s)^/about(\.html)?\z");
        check("/about.html", r"(?s)^/about(\.html)?\z");
        check("/a b\"$.css", r"(?s)^/a\x20b\x22\x24\.css\z");
        check("/docs/*.html", r"(?s)^/docs/(.*\.html|(.*/)?[^/.]*)\z");
        check("/:lang/x", r"(?s)^/[^/]+/x(\.html)?\z");
        let (rules, _) = rules("/a.css\n X-A: 1\n");
        assert_eq!(
            rules.0[0].regex("/blog/", r"(\.br)?", Dialect::Bytes),
            r"(?s)^/blog/a\.css(\.br)?\z"
        );
    }
}
