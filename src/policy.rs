//! Content Security Policy (CSP Level 3), as far as it decides what may be inlined.
//!
//! In: the values of `Content-Security-Policy` from `meta`, from SITE's `_headers` (`policy/headers.rs`) and from
//! the command line. Out: yes or no. A report-only policy forbids nothing and must not be passed in. In doubt the
//! answer is the one that leaves a page as it is.

pub(crate) mod headers;
mod needed;

pub use headers::{Headers, parse_headers};
pub(crate) use needed::needed;

use crate::nearest::nearest;

/// What the policies of one page allow. Several policies apply together: each must allow a thing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Names in lower case, the first of equal names only.
    directives: Vec<Vec<(String, Vec<String>)>>,
}

/// What OUT holds that SITE did not and that a policy can forbid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Uses {
    pub data_images: bool,
    /// `style` elements.
    pub inline_styles: bool,
    /// `script` elements.
    pub inline_scripts: bool,
}

/// Where the fetch directives fall back to (CSP3, section 6.8.3).
const IMAGES: [&str; 2] = ["img-src", "default-src"];
const STYLE_ELEMENTS: [&str; 3] = ["style-src-elem", "style-src", "default-src"];
const SCRIPT_ELEMENTS: [&str; 3] = ["script-src-elem", "script-src", "default-src"];
const STYLE_ATTRIBUTES: [&str; 3] = ["style-src-attr", "style-src", "default-src"];

/// Directives of stylesheets, scripts, images, fonts, and media, with what they fall back to.
pub const KINDS: [&[&str]; 5] = [
    &STYLE_ELEMENTS,
    &SCRIPT_ELEMENTS,
    &IMAGES,
    &["font-src", "default-src"],
    &["media-src", "default-src"],
];

impl Policy {
    /// From the values of header or `meta` (each may hold several policies, separated by commas).
    pub fn new(values: &[String]) -> Policy {
        let directives = values.iter().flat_map(|value| value.split(',')).map(parse);
        Policy {
            directives: directives.filter(|policy| !policy.is_empty()).collect(),
        }
    }

    /// No policy says anything.
    pub fn is_empty(&self) -> bool {
        self.directives.is_empty()
    }

    /// Images from `data:` URLs are allowed (`img-src`, else `default-src`).
    pub fn allows_data_images(&self) -> bool {
        // `*` stands for network schemes only (CSP3, section 6.7.2.8).
        self.sources(&IMAGES)
            .all(|list| list.iter().any(|source| source.eq_ignore_ascii_case("data:")))
    }

    /// Some `style-src`, `style-src-elem` or `style-src-attr` source is a hash: inline styles keep their bytes.
    pub fn hashes_styles(&self) -> bool {
        self.sources(&STYLE_ELEMENTS)
            .chain(self.sources(&STYLE_ATTRIBUTES))
            .any(|list| list.iter().any(|source| is_hash(source)))
    }

    /// Inline `style` elements may be added without nonce or hash.
    pub fn allows_inline_styles(&self) -> bool {
        self.sources(&STYLE_ELEMENTS).all(allows_all_inline)
    }

    /// Stylesheets and scripts of the site itself may be loaded under any name: every source list that governs them has
    /// `'self'` or `*`.
    pub fn allows_own_names(&self) -> bool {
        let is_own = |source: &String| source.eq_ignore_ascii_case("'self'") || source == "*";
        self.sources(&STYLE_ELEMENTS)
            .chain(self.sources(&SCRIPT_ELEMENTS))
            .all(|list| list.iter().any(is_own))
    }

    /// By kind of file, as in [`KINDS`]: own files may be loaded under any name.
    pub fn allows_own_files(&self) -> [bool; 5] {
        let is_own = |source: &String| source.eq_ignore_ascii_case("'self'") || source == "*";
        KINDS.map(|kind| self.sources(kind).all(|list| list.iter().any(is_own)))
    }

    /// By kind of file: files of the host of `root`, which ends in `/`, may be loaded, whatever their names.
    pub fn allows_host(&self, root: &str) -> [bool; 5] {
        KINDS.map(|kind| {
            self.sources(kind)
                .all(|list| list.iter().any(|source| names_host(source, root)))
        })
    }

    /// Inline `script` elements may be added without nonce or hash.
    pub fn allows_inline_scripts(&self) -> bool {
        self.sources(&SCRIPT_ELEMENTS).all(allows_all_inline)
    }

    /// `style` attributes may be added without hash.
    pub fn allows_style_attributes(&self) -> bool {
        self.sources(&STYLE_ATTRIBUTES).all(allows_all_inline)
    }

    /// For each policy that governs a thing the source list of the first directive present.
    fn sources(&self, fallback: &[&str]) -> impl Iterator<Item = &[String]> {
        self.directives
            .iter()
            .filter_map(move |policy| {
                fallback
                    .iter()
                    .find_map(|wanted| policy.iter().find(|(name, _)| name == wanted))
            })
            .map(|(_, list)| list.as_slice())
    }
}

/// What a policy must say for OUT and did not have to say for SITE: sources named with their directive, one each.
/// `seen` are the policies of the pages that use them; only those outside `fewer`'s sight are left to ask for.
pub fn needs<'a>(uses: Uses, seen: impl IntoIterator<Item = &'a Policy>) -> Vec<&'static str> {
    // A page whose own policies already speak of the thing was asked before anything was inlined; a header that
    // nobody told us of may still forbid it.
    let mut data_images = false;
    let mut inline_styles = false;
    let mut inline_scripts = false;
    for policy in seen {
        inline_scripts |= policy.sources(&SCRIPT_ELEMENTS).next().is_none();
        data_images |= policy.sources(&IMAGES).next().is_none();
        inline_styles |= policy.sources(&STYLE_ELEMENTS).next().is_none();
    }
    let mut needs = Vec::new();
    if uses.data_images && data_images {
        needs.push("img-src data:");
    }
    if uses.inline_styles && inline_styles {
        needs.push("style-src 'unsafe-inline'");
    }
    if uses.inline_scripts && inline_scripts {
        needs.push("script-src 'unsafe-inline'");
    }
    needs
}

/// Directives of CSP3 and of the specifications that extend it, and those of CSP2 that browsers still know.
const DIRECTIVES: [&str; 33] = [
    "base-uri",
    "block-all-mixed-content",
    "child-src",
    "connect-src",
    "default-src",
    "fenced-frame-src",
    "font-src",
    "form-action",
    "frame-ancestors",
    "frame-src",
    "img-src",
    "manifest-src",
    "media-src",
    "navigate-to",
    "object-src",
    "plugin-types",
    "prefetch-src",
    "referrer",
    "reflected-xss",
    "report-to",
    "report-uri",
    "require-sri-for",
    "require-trusted-types-for",
    "sandbox",
    "script-src",
    "script-src-attr",
    "script-src-elem",
    "style-src",
    "style-src-attr",
    "style-src-elem",
    "trusted-types",
    "upgrade-insecure-requests",
    "worker-src",
];

/// What a browser would pass over in a policy that somebody typed: a directive that it does not know, or a policy
/// that says nothing.
pub fn check(policy: &str) -> Result<(), String> {
    let mut says_nothing = true;
    for directive in policy.split(';') {
        let Some(name) = directive.split_ascii_whitespace().next() else {
            continue;
        };
        says_nothing = false;
        let name = name.to_ascii_lowercase();
        if !DIRECTIVES.contains(&name.as_str()) {
            let hint = match nearest(&name, DIRECTIVES, 1).first() {
                Some(other) => format!(", did you mean `{other}`?"),
                None => String::new(),
            };
            return Err(format!("browsers know no directive `{name}`{hint}"));
        }
    }
    match says_nothing {
        true => Err("the policy is empty".to_owned()),
        false => Ok(()),
    }
}

/// CSP3, section 2.2.1, "parse a serialized CSP".
fn parse(policy: &str) -> Vec<(String, Vec<String>)> {
    let mut directives: Vec<(String, Vec<String>)> = Vec::new();
    for directive in policy.split(';') {
        let mut words = directive.split_ascii_whitespace();
        let Some(name) = words.next().map(str::to_ascii_lowercase) else {
            continue;
        };
        // There are some thirty names; a policy with many more repeats them or says nothing to a browser.
        let known = IMAGES
            .iter()
            .chain(&STYLE_ELEMENTS)
            .chain(&STYLE_ATTRIBUTES)
            .chain(&SCRIPT_ELEMENTS)
            .chain(&["font-src", "media-src"])
            .any(|known| *known == name);
        if !known && directives.len() >= 64 || directives.iter().any(|(seen, _)| *seen == name) {
            continue;
        }
        directives.push((name, words.map(str::to_string).collect()));
    }
    directives
}

/// A source that covers everything below `root` (CSP3, section 6.7.2.8): its host, its scheme, or all.
fn names_host(source: &str, root: &str) -> bool {
    let source = source.to_ascii_lowercase();
    let (scheme, rest) = root.split_once("://").unwrap_or(("https", root));
    let host = rest.split('/').next().unwrap_or(rest);
    if source == "*" || source.strip_suffix(':') == Some(scheme) {
        return true;
    }
    let source = match source.split_once("://") {
        Some((given, rest)) if given == scheme => rest,
        Some(_) => return false,
        None => &source,
    };
    let source = source.strip_suffix('/').unwrap_or(source);
    match source.strip_prefix('*') {
        Some(domain) => domain.starts_with('.') && host.ends_with(domain),
        None => source == host,
    }
}

/// `'sha256-...'` and its sisters.
fn is_hash(source: &str) -> bool {
    source.get(..8).is_some_and(|start| {
        ["'sha256-", "'sha384-", "'sha512-"]
            .iter()
            .any(|hash| start.eq_ignore_ascii_case(hash))
    })
}

fn is_nonce(source: &str) -> bool {
    source
        .get(..7)
        .is_some_and(|start| start.eq_ignore_ascii_case("'nonce-"))
}

/// CSP3, section 6.7.3.2: a nonce or a hash in the list turns `'unsafe-inline'` off.
fn allows_all_inline(list: &[String]) -> bool {
    list.iter()
        .any(|source| source.eq_ignore_ascii_case("'unsafe-inline'"))
        && !list.iter().any(|source| is_hash(source) || is_nonce(source))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data images, inline style elements, hashed styles, as one letter each.
    #[track_caller]
    fn check(values: &[&str], expected: &str) {
        let policy = Policy::new(&values.iter().map(|value| value.to_string()).collect::<Vec<_>>());
        let letters = [
            (policy.allows_data_images(), 'd'),
            (policy.allows_inline_styles(), 's'),
            (policy.allows_style_attributes(), 'a'),
            (policy.hashes_styles(), 'h'),
        ];
        let found: String = letters
            .iter()
            .filter(|(yes, _)| *yes)
            .map(|(_, letter)| letter)
            .collect();
        assert_eq!(found, expected, "{values:?}");
    }

    #[test]
    fn what_browsers_would_pass_over_is_told() {
        let refused = |policy: &str, said: &str| assert_eq!(super::check(policy), Err(said.to_owned()));
        refused(" ; ", "the policy is empty");
        refused(
            "default-src 'self'; img-scr *",
            "browsers know no directive `img-scr`, did you mean `img-src`?",
        );
        refused("'self'", "browsers know no directive `'self'`");
        for good in [
            "img-src",
            "Default-Src 'none'; upgrade-insecure-requests;",
            "sandbox",
        ] {
            assert_eq!(super::check(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn nothing_said_allows_all() {
        check(&[], "dsa");
        check(&[""], "dsa");
        check(&[" ; ;, "], "dsa");
        check(&["script-src 'none'"], "dsa");
        assert!(Policy::new(&[" ; , ;".to_string()]).is_empty());
    }

    #[test]
    fn data_images() {
        check(&["img-src 'self'"], "sa");
        check(&["img-src 'self' data:"], "dsa");
        check(&["IMG-SRC DATA:"], "dsa");
        check(&["img-src *"], "sa");
        check(&["img-src * blob: https:"], "sa");
        check(&["img-src"], "sa");
        check(&["img-src 'none'"], "sa");
        check(&["img-src data:; default-src 'none'"], "d");
        check(&["default-src data: 'unsafe-inline'"], "dsa");
        check(&["default-src data:; img-src 'self'"], "");
        check(&["img-src data"], "sa");
        check(&["img-src\n\tdata:"], "dsa");
        // The first of equal names wins.
        check(&["img-src 'self'; img-src data:"], "sa");
        check(&["img-src data:; IMG-SRC 'self'"], "dsa");
    }

    #[test]
    fn every_policy_must_allow() {
        check(&["img-src data:", "img-src 'self'"], "sa");
        check(&["img-src data:, img-src 'self'"], "sa");
        check(&["img-src data:, script-src 'self'"], "dsa");
    }

    #[test]
    fn inline_styles() {
        check(&["style-src 'self'"], "d");
        check(&["style-src 'unsafe-inline'"], "dsa");
        check(&["style-src 'UNSAFE-INLINE'"], "dsa");
        check(&["style-src 'unsafe-inline' 'nonce-q7'"], "d");
        check(&["style-src 'unsafe-inline' 'sha256-AAAA='"], "dh");
        check(&["style-src-attr 'none'"], "ds");
        check(&["style-src-elem 'none'"], "da");
        check(&["style-src 'none'; style-src-elem 'unsafe-inline'"], "ds");
        check(&["style-src 'unsafe-inline'; style-src-elem 'SHA512-x'"], "dah");
        check(
            &["style-src-elem 'self'; style-src-attr 'self'; style-src 'sha384-x'"],
            "d",
        );
        check(&["default-src 'sha384-x'"], "h");
        check(&["default-src 'self' 'nonce-q7'"], "");
        check(&["default-src 'self'; style-src 'self' 'nonce-q7'"], "");
        check(&["script-src 'sha256-x'"], "dsa");
    }

    #[test]
    fn own_files_under_new_names() {
        let check = |text: &str, expected: bool| {
            assert_eq!(
                Policy::new(&[text.to_string()]).allows_own_names(),
                expected,
                "{text}"
            )
        };
        check("", true);
        check("img-src 'none'", true);
        check("style-src 'self'", true);
        check("default-src 'SELF'", true);
        check("default-src *", true);
        check("style-src https://example.org/css/site.css", false);
        check("style-src 'self'; script-src /js/", false);
        check("default-src 'none'; style-src 'self'", false);
        check("style-src 'none', style-src 'self'", false);
    }

    #[test]
    fn files_of_another_host() {
        let check = |text: &str, expected: &str| {
            let allowed = Policy::new(&[text.to_string()]).allows_host("https://cdn.example.com/x/");
            let letters: String = allowed
                .iter()
                .zip("csifm".chars())
                .filter(|(yes, _)| **yes)
                .map(|(_, letter)| letter)
                .collect();
            assert_eq!(letters, expected, "{text}");
        };
        check("", "csifm");
        check("img-src 'self'", "csfm");
        check("img-src https://cdn.example.com", "csifm");
        check("img-src cdn.example.com/", "csifm");
        check("img-src *.example.com", "csifm");
        check("img-src https:", "csifm");
        check("img-src http://cdn.example.com", "csfm");
        check("img-src https://cdn.example.com/y/", "csfm");
        check("default-src 'self'; font-src https:", "f");
        check("default-src *, script-src 'self'", "cifm");
    }

    #[test]
    fn own_files_by_kind() {
        let own = |text: &str| Policy::new(&[text.to_string()]).allows_own_files();
        assert_eq!(own("img-src /a.png"), [true, true, false, true, true]);
        assert_eq!(
            own("default-src 'none'; img-src 'self'"),
            [false, false, true, false, false]
        );
    }

    #[test]
    fn what_a_policy_must_gain() {
        let policy = |text: &str| Policy::new(&[text.to_string()]);
        let both = Uses {
            data_images: true,
            inline_styles: true,
            inline_scripts: false,
        };
        let images = Uses {
            data_images: true,
            inline_styles: false,
            inline_scripts: false,
        };
        assert_eq!(
            needs(both, [&Policy::default()]),
            ["img-src data:", "style-src 'unsafe-inline'"]
        );
        assert_eq!(needs(images, [&Policy::default()]), ["img-src data:"]);
        assert_eq!(needs(Uses::default(), [&Policy::default()]), [""; 0]);
        assert_eq!(needs(images, [&policy("img-src data:")]), [""; 0]);
        assert_eq!(
            needs(images, [&policy("img-src data:"), &policy("script-src 'self'")]),
            ["img-src data:"]
        );
    }

    #[test]
    fn hostile_policies_take_linear_time() {
        let many: String = (0..200_000).map(|i| format!("x{i} a;")).collect();
        check(&[&format!("{many}img-src 'self'")], "sa");
        check(&[&"img-src 'self';".repeat(200_000)], "sa");
        check(
            &["d\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}; style-src '\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"],
            "d",
        );
    }
}
