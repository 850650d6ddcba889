//! What is meant by the command line and by `fewer.toml`: plain values, no types of the argument parser.
//!
//! The defaults stand here and nowhere else (`Options::defaults`); help texts and `fewer config` ask for them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use globset::GlobSet;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::css::Targets;
use crate::encode::{Coding, Effort};
use crate::site::SitePath;
use crate::traffic::Traffic;

/// The most bytes that an image or a sheet may have to move into another file where no limit is set. The cost model
/// refuses most of that size anyway; the cap keeps what is measured small.
const INLINE_CAP: u64 = 16 * 1024;

/// Options of a build or a report. `cli.rs` makes it; every stage reads it.
#[derive(Debug, Clone)]
pub struct Options {
    /// The most bytes a file may have to be put into another one. `None`: the cost model decides, up to
    /// `inline_cap`; a number is a hard cap; 0 turns that off. Default `None`.
    pub inline_limit: Option<u64>,
    /// Bytes that a request costs beside its body (request line, headers of both directions). Default 200: headers
    /// of a plain static server's answer, measured.
    pub request_overhead: u64,
    /// Pages that a visitor looks at, the entry page among them; at least 1. Default 3. What many pages share is
    /// paid once a visit.
    pub pages_per_visit: u32,
    /// The version of HTTP that the server speaks: how much a waiting request costs. Default HTTP/2.
    pub network: Network,
    /// Which of two ways to choose where one saves requests and the other bytes. Default `Balanced`.
    pub prefer: Prefer,
    /// Percent: what a byte counts that blocks rendering (stylesheets, scripts in the head), compared with one that
    /// does not. Default 200, until it is measured.
    pub blocking_factor: u32,
    /// Scripts of a page may become one file. Default off: an error in one script must not stop the next.
    pub combine_scripts: bool,
    /// How often each page is viewed; `None`: all alike.
    pub traffic: Option<Traffic>,
    /// What `[[rule]]` of the configuration says of some paths, in the order of the file.
    pub rules: Vec<Rule>,
    /// Passes turned off by name.
    pub skip: Vec<Pass>,
    /// Where the site will live, when it knows itself by absolute URLs: `https://example.org/sub/`.
    pub base_url: Option<String>,
    /// Policies that the server sends with every page (`Content-Security-Policy` header values).
    pub csp: Vec<String>,
    /// The page a reader comes from on a follow-up view, as a path in SITE; `None` chooses one.
    pub entry: Option<String>,
    /// Encoding of pages that declare none (a WHATWG label); `None` is windows-1252, as in browsers.
    pub charset: Option<String>,
    /// Only files that match are edited, inlined or encoded; `None` is every file.
    pub include: Option<GlobSet>,
    /// Files that match are copied byte for byte.
    pub exclude: Option<GlobSet>,
    /// Window in CSS pixels that media queries and `sizes` are evaluated for.
    pub viewport: (u32, u32),
    /// `None` writes no gzip variants; 1 to 12 as libdeflate counts, and what `Effort` knows above it.
    pub gzip_level: Option<u32>,
    /// `None` writes no brotli variants; 0 to 11, and what `Effort` knows above it.
    pub brotli_quality: Option<u32>,
    /// `None` writes no zstd variants; 1 to 22. Default `None`.
    pub zstd_level: Option<u32>,
    /// Where variants and sizes of former builds are found. Default off.
    pub cache: Cache,
    /// Bytes that the encoders may hold at once; files that do not fit are encoded in pieces. Default 1 GiB.
    pub memory: u64,
    /// Files smaller than this get no variants (bytes).
    pub min_size: u64,
    /// Extensions of the files that get variants, in lower case without the dot.
    pub encode_types: Vec<String>,
    /// Measure edited files with the final levels instead of the fast ones.
    pub measure_full: bool,
    /// Browsers to print CSS for (a browserslist query); `None` prints for every browser.
    pub targets: Option<Targets>,
    /// Files get names that are the hashes of their bytes, and references follow.
    pub fingerprint: bool,
    /// Another host that serves OUT, with a `/` at the end: pages ask for their files there.
    pub cdn: Option<String>,
    /// That host sends CORS headers: fonts, masks, module scripts and sealed files may be asked for there as well.
    pub cdn_cors: bool,
    /// Stylesheets and scripts get an `integrity`.
    pub sri: bool,
    /// OUT's `_headers` name the stylesheets that each page waits for.
    pub link_headers: bool,
    /// The policy that OUT needs is worked out.
    pub writes_policy: bool,
    /// An earlier OUT, whose files with hashed names are carried over.
    pub keep_previous: Option<PathBuf>,
    /// Replace an OUT that is not empty.
    pub force: bool,
    /// Threads; 0 is one per core.
    pub threads: usize,
}

/// The version of HTTP between server and visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// HTTP/1.1.
    H1,
    /// HTTP/2.
    H2,
    /// HTTP/3.
    H3,
}

impl Network {
    pub const ALL: [Network; 3] = [Network::H1, Network::H2, Network::H3];

    pub fn name(self) -> &'static str {
        match self {
            Network::H1 => "h1",
            Network::H2 => "h2",
            Network::H3 => "h3",
        }
    }

    /// Bytes that the line could have carried while a request waits: bandwidth times round trip, divided by the
    /// requests that wait together.
    ///
    /// Those are 6 for HTTP/1.1 (connections that browsers open to a host). HTTP/2 carries as many streams as a page
    /// needs (RFC 9113, section 6.5.2, recommends to allow 100): the median page makes 71 requests (Web Almanac 2024,
    /// page weight), in two waves at least, what the markup names and what that names in turn, so 36 wait together.
    /// HTTP/3 has as many streams (RFC 9114, section 6.1) and saves nothing here.
    pub fn waiting_bytes(self) -> u64 {
        const BITS_PER_SECOND: u64 = 9_000_000;
        const ROUND_TRIP_MS: u64 = 170;
        const LINE: u64 = BITS_PER_SECOND / 8 * ROUND_TRIP_MS / 1000;
        match self {
            Network::H1 => LINE / 6,
            Network::H2 | Network::H3 => LINE / 36,
        }
    }
}

/// What weighs more where requests and bytes disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prefer {
    Balanced,
    Requests,
    Bytes,
}

impl Prefer {
    pub const ALL: [Prefer; 3] = [Prefer::Balanced, Prefer::Requests, Prefer::Bytes];

    pub fn name(self) -> &'static str {
        match self {
            Prefer::Balanced => "balanced",
            Prefer::Requests => "requests",
            Prefer::Bytes => "bytes",
        }
    }
}

/// What is said of some paths only.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Paths in SITE, without a leading `/`.
    pub paths: GlobSet,
    /// The file stays as it is, byte for byte.
    pub keep: bool,
    /// Passes that do not touch the file.
    pub skip: Vec<Pass>,
    /// In place of `Options::inline_limit` for the file.
    pub inline_limit: Option<u64>,
}

/// The passes of the plan, in the order in which they claim references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pass {
    /// Equal files are requested under one URL.
    Same,
    /// An `@import` moves into the sheet that imports it.
    Flatten,
    /// Neighbouring stylesheets become one.
    Combine,
    /// Images of `img` elements move into the sheet that the pages share.
    Share,
    /// Small sheets and images move into the page.
    Embed,
    /// Small scripts move into the page.
    Scripts,
    /// Images that CSS uses become data URLs.
    Inline,
    /// CSS is printed shorter.
    Minify,
}

impl Pass {
    pub const ALL: [Pass; 8] = [
        Pass::Same,
        Pass::Flatten,
        Pass::Combine,
        Pass::Share,
        Pass::Embed,
        Pass::Scripts,
        Pass::Inline,
        Pass::Minify,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Pass::Same => "same",
            Pass::Flatten => "flatten",
            Pass::Combine => "combine",
            Pass::Share => "share",
            Pass::Embed => "embed",
            Pass::Scripts => "scripts",
            Pass::Inline => "inline",
            Pass::Minify => "minify",
        }
    }
}

/// Types that pay to be encoded: text, and binary formats without compression of their own.
pub const ENCODE_TYPES: &[&str] = &[
    "html",
    "htm",
    "xhtml",
    "shtml",
    "css",
    "js",
    "mjs",
    "cjs",
    "svg",
    "xml",
    "xsl",
    "xslt",
    "json",
    "jsonld",
    "geojson",
    "txt",
    "md",
    "csv",
    "tsv",
    "webmanifest",
    "map",
    "rss",
    "atom",
    "rdf",
    "ico",
    "cur",
    "bmp",
    "wasm",
    "ttf",
    "otf",
    "eot",
    "vtt",
    "ics",
    "vcf",
    "appcache",
    "yaml",
    "yml",
    "toml",
    "tex",
    "log",
    "hhc",
    "hhk",
    "dtd",
];

impl Options {
    /// The documented defaults; the command line and `fewer.toml` change single fields.
    pub fn defaults() -> Options {
        Options {
            inline_limit: None,
            request_overhead: 200,
            pages_per_visit: 3,
            network: Network::H2,
            prefer: Prefer::Balanced,
            blocking_factor: 200,
            combine_scripts: false,
            traffic: None,
            rules: Vec::new(),
            skip: Vec::new(),
            base_url: None,
            csp: Vec::new(),
            entry: None,
            charset: None,
            include: None,
            exclude: None,
            viewport: (1280, 900),
            gzip_level: Some(Effort::Default.level(Coding::Gzip)),
            brotli_quality: Some(Effort::Default.level(Coding::Brotli)),
            zstd_level: None,
            cache: Cache::Off,
            memory: 1 << 30,
            min_size: 100,
            encode_types: ENCODE_TYPES.iter().map(|t| t.to_string()).collect(),
            measure_full: false,
            targets: None,
            fingerprint: false,
            cdn: None,
            cdn_cors: false,
            sri: false,
            link_headers: false,
            writes_policy: false,
            keep_previous: None,
            force: false,
            threads: 0,
        }
    }

    /// The level of each coding that variants are written with, in the order in which they are made.
    pub fn codings(&self) -> impl Iterator<Item = (Coding, u32)> + use<> {
        let levels = [self.gzip_level, self.brotli_quality, self.zstd_level];
        let all = Coding::ALL.into_iter().zip(levels);
        all.filter_map(|(coding, level)| Some((coding, level?)))
    }

    /// What decides whether a file gets variants, and nothing else of `from`.
    pub(crate) fn sizes_only(from: &Options) -> Options {
        Options {
            min_size: from.min_size,
            encode_types: Vec::new(),
            ..Options::defaults()
        }
    }

    /// Something is asked for by name that costs bytes: they are reported apart.
    pub fn asks_apart(&self) -> bool {
        self.names_files() || self.sri
    }

    /// Files of SITE are asked for under other names or on another host.
    pub fn names_files(&self) -> bool {
        self.fingerprint || self.cdn.is_some()
    }

    pub fn runs(&self, pass: Pass) -> bool {
        !self.skip.contains(&pass)
    }

    /// The most bytes that a file may have to be put into another one.
    pub fn inline_cap(&self) -> u64 {
        self.inline_limit.unwrap_or(INLINE_CAP)
    }

    /// Whether a rule keeps this file as it is.
    pub fn keeps(&self, path: &SitePath) -> bool {
        self.rules_of(path).any(|rule| rule.keep)
    }

    /// Whether the pass runs, and no rule turns it off for this file.
    pub fn runs_on(&self, pass: Pass, path: &SitePath) -> bool {
        self.runs(pass)
            && !self
                .rules_of(path)
                .any(|rule| rule.keep || rule.skip.contains(&pass))
    }

    /// `inline_cap` of this file: the last rule that fits and names a limit wins.
    pub fn inline_cap_of(&self, path: &SitePath) -> u64 {
        let limit = self.rules_of(path).filter_map(|rule| rule.inline_limit).last();
        limit.unwrap_or_else(|| self.inline_cap())
    }

    fn rules_of(&self, path: &SitePath) -> impl Iterator<Item = &Rule> {
        let path = Path::new(OsStr::from_bytes(path.as_bytes()));
        self.rules.iter().filter(move |rule| rule.paths.is_match(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_costs_what_the_line_could_have_carried() {
        let check = |network: Network, bytes| assert_eq!(network.waiting_bytes(), bytes, "{network:?}");
        check(Network::H1, 31_875);
        check(Network::H2, 5_312);
        check(Network::H3, 5_312);
    }

    #[test]
    fn names_are_those_that_serde_reads() {
        let json = |name: &str| format!("\"{name}\"");
        for network in Network::ALL {
            assert_eq!(serde_json::to_string(&network).unwrap(), json(network.name()));
        }
        for prefer in Prefer::ALL {
            assert_eq!(serde_json::to_string(&prefer).unwrap(), json(prefer.name()));
        }
    }

    #[test]
    fn rules_speak_of_their_paths_only() {
        let rule = |glob: &str, keep, skip: &[Pass], inline_limit| Rule {
            paths: globset::GlobSet::builder()
                .add(globset::Glob::new(glob).unwrap())
                .build()
                .unwrap(),
            keep,
            skip: skip.to_vec(),
            inline_limit,
        };
        let options = Options {
            skip: vec![Pass::Scripts],
            rules: vec![
                rule("manual/**", true, &[], None),
                rule("blog/**", false, &[Pass::Combine], Some(10)),
                rule("blog/new/**", false, &[Pass::Share], Some(20)),
            ],
            ..Options::defaults()
        };
        let path = |text: &str| SitePath::new(text);
        assert!(options.keeps(&path("manual/a/b.html")) && !options.keeps(&path("blog/a.html")));
        let check = |text: &str, runs: [bool; 4], cap| {
            let passes = [Pass::Combine, Pass::Share, Pass::Scripts, Pass::Minify];
            assert_eq!(passes.map(|p| options.runs_on(p, &path(text))), runs, "{text}");
            assert_eq!(options.inline_cap_of(&path(text)), cap, "{text}");
        };
        check("index.html", [true, true, false, true], 16_384);
        check("manual/a.html", [false, false, false, false], 16_384);
        check("blog/a.html", [false, true, false, true], 10);
        check("blog/new/a.html", [false, false, false, true], 20);
        check("a/blog/a.html", [true, true, false, true], 16_384);
    }
}
