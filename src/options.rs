//! What is meant by the command line: plain values, no types of the argument parser.

use globset::GlobSet;

use crate::css::Targets;

/// Options of a build or a report. `cli.rs` makes it; every stage reads it.
#[derive(Debug, Clone)]
pub struct Options {
    /// The most bytes an image may have to be put into a stylesheet; 0 turns that off.
    pub inline_limit: u64,
    /// Bytes that a request costs beside its body (request line, headers of both directions).
    pub request_overhead: u64,
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
    /// `None` writes no gzip variants; 1 to 12 as libdeflate counts.
    pub gzip_level: Option<u32>,
    /// `None` writes no brotli variants; 0 to 11.
    pub brotli_quality: Option<u32>,
    /// Files smaller than this get no variants (bytes).
    pub min_size: u64,
    /// Extensions of the files that get variants, in lower case without the dot.
    pub encode_types: Vec<String>,
    /// Measure edited files with the final levels instead of the fast ones.
    pub measure_full: bool,
    /// Browsers to print CSS for (a browserslist query); `None` prints for every browser.
    pub targets: Option<Targets>,
    /// Replace an OUT that is not empty.
    pub force: bool,
    /// Threads; 0 is one per core.
    pub threads: usize,
}

/// The passes of the plan, in the order in which they claim references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pass {
    /// Images that CSS uses become data URLs.
    Inline,
    /// CSS is printed shorter.
    Minify,
}

impl Pass {
    pub const ALL: [Pass; 2] = [Pass::Inline, Pass::Minify];

    pub fn name(self) -> &'static str {
        match self {
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
    /// The documented defaults; the command line changes single fields.
    pub fn defaults() -> Options {
        Options {
            inline_limit: 4096,
            request_overhead: 200,
            skip: Vec::new(),
            base_url: None,
            csp: Vec::new(),
            entry: None,
            charset: None,
            include: None,
            exclude: None,
            viewport: (1280, 900),
            gzip_level: Some(12),
            brotli_quality: Some(11),
            min_size: 100,
            encode_types: ENCODE_TYPES.iter().map(|t| t.to_string()).collect(),
            measure_full: false,
            targets: None,
            force: false,
            threads: 0,
        }
    }

    /// What decides whether a file gets variants, and nothing else of `from`.
    pub(crate) fn sizes_only(from: &Options) -> Options {
        Options {
            min_size: from.min_size,
            encode_types: Vec::new(),
            ..Options::defaults()
        }
    }

    pub fn runs(&self, pass: Pass) -> bool {
        !self.skip.contains(&pass)
    }
}
