//! Everything that the command line and `fewer.toml` can both say: one struct, so that flag and key are the same.
//!
//! A field is read by clap as a flag and by serde as a key; `or` lets one source win over the next, `options` (in `meant.rs`) makes
//! of it what is meant, and `defaults` says those of `Options` in the same words. A new setting is a field here and
//! a line in each of these three functions; the compiler asks for all of them.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use encoding_rs::Encoding;
use globset::Glob;
use serde::{Deserialize, Serialize, Serializer};

use super::budget::BudgetSource;
use super::destination::{Destination, one_or_many};
use super::value::{Annotations, Bytes, Checked, Color, Csp, Measure, Number, Skip, Viewport};
use crate::cache;
use crate::css::Targets;
use crate::encode::Effort;
use crate::options::{Network, Options, Prefer};
use crate::report::Codes;
use crate::report::budget::{self};
use crate::url::{Mount, Root};

mod meant;

/// Headings of the help text. What stands under these two decides about changes and says nothing to a report.
pub(super) const CHANGES: &str = "What is changed";
pub(super) const PAYS: &str = "What pays";
pub(super) const NAMES: &str = "Names, hosts and seals";
pub(super) const VARIANTS: &str = "Variants (.gz, .br and .zst)";
const CACHE: &str = "Cache and memory";
const SITE: &str = "About the site";
const COUNTING: &str = "Counting";
const OUTPUT: &str = "Budgets and output";

/// The most megabytes that fit into 64 bits as bytes.
const MEGABYTES: u64 = i64::MAX as u64 >> 20;

/// `None` is what was not said.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// The most bytes a file may have to be put into another one; 0 turns that off [default: what pays, up to 16384]
    #[arg(long, value_name = "BYTES", help_heading = CHANGES)]
    pub inline_limit: Option<Bytes>,
    /// Turn a pass off; `all` copies and encodes only. Repeatable
    #[arg(long, value_name = "PASS", help_heading = CHANGES)]
    pub skip: Option<Vec<Skip>>,
    /// Let scripts of a page become one file
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        hide_possible_values = true, help_heading = CHANGES)]
    pub combine_scripts: Option<bool>,
    /// Print CSS for these browsers only (a browserslist query) [default: every browser]
    #[arg(long, value_name = "QUERY", help_heading = CHANGES)]
    pub targets: Option<Checked<Targets>>,

    /// What weighs more where requests and bytes disagree
    #[arg(long, value_name = "WHAT", help_heading = PAYS)]
    pub prefer: Option<Prefer>,
    /// The HTTP version of the server: how much a waiting request costs
    #[arg(long, value_name = "VERSION", help_heading = PAYS)]
    pub network: Option<Network>,
    /// Pages that a visitor looks at, the entry page among them
    #[arg(long, value_name = "N", help_heading = PAYS)]
    pub pages_per_visit: Option<Number<1, 1_000_000>>,
    /// What a byte that blocks rendering counts, in percent of one that does not
    #[arg(long, value_name = "PERCENT", help_heading = PAYS)]
    pub blocking_factor: Option<Number<100, 10_000>>,
    /// How often pages are viewed: `path count` lines, or an access log [default: all pages alike]
    #[arg(long, value_name = "FILE", help_heading = PAYS)]
    #[serde(serialize_with = "shown")]
    pub traffic: Option<PathBuf>,

    /// Give files names that are hashes of their bytes; every file keeps its old name too
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        hide_possible_values = true, help_heading = NAMES)]
    pub fingerprint: Option<bool>,
    /// Carry over from this earlier OUT, which may be OUT itself, every file that was named by its bytes
    #[arg(long, value_name = "OLD_OUT", help_heading = NAMES)]
    #[serde(serialize_with = "shown")]
    pub keep_previous: Option<PathBuf>,
    /// Another host that serves OUT, such as `https://cdn.example.com/`: pages ask for their files there
    #[arg(long, value_name = "URL", help_heading = NAMES)]
    pub cdn: Option<Checked<Root>>,
    /// The host of --cdn sends CORS headers: fonts, masks, modules and sealed files go there too
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        hide_possible_values = true, help_heading = NAMES)]
    pub cdn_cors: Option<bool>,
    /// Seal stylesheets and scripts with `integrity`
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        hide_possible_values = true, help_heading = NAMES)]
    pub sri: Option<bool>,
    /// Name in OUT's `_headers` the stylesheets that each page waits for
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        hide_possible_values = true, help_heading = NAMES)]
    pub link_headers: Option<bool>,
    /// Write the Content-Security-Policy that each page of OUT needs to this file, as `_headers` of static hosts say it
    #[arg(long, value_name = "FILE", help_heading = NAMES)]
    #[serde(serialize_with = "shown")]
    pub write_policy: Option<PathBuf>,

    /// How hard variants are packed: gzip 9, brotli 9, zstd 12 (fast); gzip 10 to 12, brotli 11, zstd 19 (default);
    /// zopfli, brotli 11 in each mode, zstd 22 (max)
    #[arg(long, value_name = "HOW", help_heading = VARIANTS)]
    pub effort: Option<Effort>,
    /// Level of the gzip variants, 1 to 12, in place of that of --effort
    #[arg(long, value_name = "N", help_heading = VARIANTS)]
    pub gzip_level: Option<Number<1, 12>>,
    /// Quality of the brotli variants, 0 to 11, in place of that of --effort
    #[arg(long, value_name = "N", help_heading = VARIANTS)]
    pub brotli_quality: Option<Number<0, 11>>,
    /// Write no gzip variants
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        hide_possible_values = true, help_heading = VARIANTS)]
    pub no_gzip: Option<bool>,
    /// Write no brotli variants
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        hide_possible_values = true, help_heading = VARIANTS)]
    pub no_brotli: Option<bool>,
    /// Write zstd variants as well
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        hide_possible_values = true, help_heading = VARIANTS)]
    pub zstd: Option<bool>,
    /// Level of the zstd variants, 1 to 22, in place of that of --effort
    #[arg(long, value_name = "N", help_heading = VARIANTS)]
    pub zstd_level: Option<Number<1, 22>>,
    /// Files smaller than this get no variants (bytes)
    #[arg(long, value_name = "BYTES", help_heading = VARIANTS)]
    pub min_size: Option<Bytes>,
    /// Extensions that get variants, separated by commas, in place of the list that is built in; `+ext` adds to it
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = VARIANTS)]
    pub encode_types: Option<Vec<String>>,
    /// Compare edited files at gzip 6 and brotli 5 (fast) or at the levels that are written (full)
    #[arg(long, value_name = "HOW", help_heading = VARIANTS)]
    pub measure: Option<Measure>,

    /// Where variants are kept for the next build [default: the user's cache folder]
    #[arg(long, value_name = "DIR", help_heading = CACHE)]
    #[serde(serialize_with = "shown")]
    pub cache: Option<PathBuf>,
    /// Keep nothing for the next build, and use nothing of the last one
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        hide_possible_values = true, help_heading = CACHE)]
    pub no_cache: Option<bool>,
    /// The most megabytes that the cache keeps; what was not used for the longest time goes first
    #[arg(long, value_name = "MB", help_heading = CACHE)]
    pub cache_limit: Option<Number<0, { MEGABYTES }>>,
    /// Megabytes that the encoders may hold at once; larger files are encoded in pieces
    #[arg(long, value_name = "MB", help_heading = CACHE)]
    pub memory: Option<Number<16, { MEGABYTES }>>,

    /// Only files that match are edited, inlined and encoded; the others are copied. Repeatable
    #[arg(long, value_name = "GLOB", help_heading = SITE)]
    pub include: Option<Vec<Checked<Glob>>>,
    /// Files that match are copied byte for byte. Repeatable
    #[arg(long, value_name = "GLOB", help_heading = SITE)]
    pub exclude: Option<Vec<Checked<Glob>>>,
    /// Where the site will live, such as `https://example.org/sub/`: absolute URLs below it are this site
    #[arg(long, value_name = "URL", help_heading = SITE)]
    pub base_url: Option<Checked<Mount>>,
    /// A Content-Security-Policy that the server sends with every page. Repeatable
    #[arg(long, value_name = "POLICY", help_heading = SITE)]
    pub csp: Option<Vec<Checked<Csp>>>,
    /// The page that a visit begins at [default: index.html, else the page most linked to]
    #[arg(long, value_name = "PAGE", help_heading = SITE)]
    pub entry: Option<String>,
    /// The encoding of pages that declare none [default: windows-1252, as browsers assume]
    #[arg(long, value_name = "LABEL", help_heading = SITE)]
    pub charset: Option<Checked<&'static Encoding>>,

    /// The window that media queries are evaluated for, in CSS pixels
    #[arg(long, value_name = "WxH", help_heading = COUNTING)]
    pub viewport: Option<Checked<Viewport>>,
    /// Bytes that a request costs beside its body
    #[arg(long, value_name = "BYTES", help_heading = COUNTING)]
    pub request_overhead: Option<Bytes>,

    /// Fail (exit status 1) when a page makes more requests than this on its first view
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub max_requests: Option<Number<0, { u32::MAX as u64 }>>,
    /// Fail (exit status 1) when there is a diagnostic of this code; `all` and `warnings` name many. Repeatable
    #[arg(long, value_name = "CODE", help_heading = OUTPUT)]
    pub deny: Option<Vec<Checked<Codes>>>,
    /// Say nothing of this code. Repeatable
    #[arg(long, value_name = "CODE", help_heading = OUTPUT)]
    pub allow: Option<Vec<Checked<Codes>>>,
    /// Limits on what pages request: a budget.json of Lighthouse. Repeatable [default: `[budget]` of fewer.toml]
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_parser = OsStringValueParser::new().map(BudgetSource::from))]
    #[serde(default, deserialize_with = "one_or_many")]
    pub budget: Option<Vec<BudgetSource>>,
    /// The content coding that budgets and the baseline count bytes in
    #[arg(long, value_name = "CODING", help_heading = OUTPUT)]
    pub budget_coding: Option<budget::Coding>,
    /// Fail (exit status 1) when a page makes more requests than in this earlier report (.json), or takes more bytes
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    #[serde(serialize_with = "shown")]
    pub baseline: Option<PathBuf>,
    /// Percent of bytes that a page may take more than in the baseline
    #[arg(long, value_name = "PERCENT", help_heading = OUTPUT)]
    pub max_growth: Option<Number<0, 1_000_000>>,
    /// Count a visit of these pages, separated by commas, with what each step leaves in the cache
    #[arg(long, value_name = "PAGES", value_delimiter = ',', help_heading = OUTPUT)]
    pub journey: Option<Vec<String>>,
    /// Write the report to this file: .json, .html, .md, .xml (JUnit), .sarif, .har or .csv, or FORMAT:FILE; `-` is
    /// standard output. Repeatable
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_parser = OsStringValueParser::new().map(Destination::from))]
    #[serde(default, deserialize_with = "one_or_many")]
    pub report: Option<Vec<Destination>>,
    /// Print what is wrong as lines that this CI shows beside the code
    #[arg(long, value_name = "CI", help_heading = OUTPUT)]
    pub annotations: Option<Annotations>,
    /// Threads, at most 256; 0 is one per core
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub threads: Option<Number<0, 256>>,
    /// Print every diagnostic, not five of a kind
    #[arg(short, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        hide_possible_values = true, help_heading = OUTPUT)]
    pub verbose: Option<bool>,
    /// Colour the terminal output
    #[arg(long, value_name = "WHEN", help_heading = OUTPUT)]
    pub color: Option<Color>,

    /// `[[rule]]`: what holds for some paths only; there is no flag for it.
    #[arg(skip)]
    pub rule: Option<Vec<RuleSettings>>,
}

/// One `[[rule]]` of `fewer.toml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RuleSettings {
    pub paths: Vec<Checked<Glob>>,
    pub keep: Option<bool>,
    pub skip: Option<Vec<Skip>>,
    pub inline_limit: Option<Bytes>,
}

/// A path as it can be written in TOML; one that is no UTF-8 only approximately, for `fewer config`.
fn shown<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref()
        .map(|path| path.to_string_lossy())
        .serialize(serializer)
}

impl Settings {
    /// What is said here, and where nothing is, what `other` says. Lists are not joined.
    pub fn or(self, mut other: Settings) -> Settings {
        // A code that is denied here is not allowed by what is said less loudly, and the other way round.
        let without = |named: &Option<Vec<Checked<Codes>>>, list: &mut Option<Vec<Checked<Codes>>>| {
            if let (Some(named), Some(list)) = (named, list) {
                list.retain(|code| !named.iter().any(|other| other.value == code.value));
            }
        };
        without(&self.deny, &mut other.allow);
        without(&self.allow, &mut other.deny);
        Settings {
            inline_limit: self.inline_limit.or(other.inline_limit),
            skip: self.skip.or(other.skip),
            combine_scripts: self.combine_scripts.or(other.combine_scripts),
            targets: self.targets.or(other.targets),
            prefer: self.prefer.or(other.prefer),
            network: self.network.or(other.network),
            pages_per_visit: self.pages_per_visit.or(other.pages_per_visit),
            blocking_factor: self.blocking_factor.or(other.blocking_factor),
            traffic: self.traffic.or(other.traffic),
            fingerprint: self.fingerprint.or(other.fingerprint),
            keep_previous: self.keep_previous.or(other.keep_previous),
            cdn: self.cdn.or(other.cdn),
            cdn_cors: self.cdn_cors.or(other.cdn_cors),
            sri: self.sri.or(other.sri),
            link_headers: self.link_headers.or(other.link_headers),
            write_policy: self.write_policy.or(other.write_policy),
            effort: self.effort.or(other.effort),
            zstd: self.zstd.or(other.zstd),
            zstd_level: self.zstd_level.or(other.zstd_level),
            cache: self.cache.or(other.cache),
            no_cache: self.no_cache.or(other.no_cache),
            cache_limit: self.cache_limit.or(other.cache_limit),
            memory: self.memory.or(other.memory),
            gzip_level: self.gzip_level.or(other.gzip_level),
            brotli_quality: self.brotli_quality.or(other.brotli_quality),
            no_gzip: self.no_gzip.or(other.no_gzip),
            no_brotli: self.no_brotli.or(other.no_brotli),
            min_size: self.min_size.or(other.min_size),
            encode_types: self.encode_types.or(other.encode_types),
            measure: self.measure.or(other.measure),
            include: self.include.or(other.include),
            exclude: self.exclude.or(other.exclude),
            base_url: self.base_url.or(other.base_url),
            csp: self.csp.or(other.csp),
            entry: self.entry.or(other.entry),
            charset: self.charset.or(other.charset),
            viewport: self.viewport.or(other.viewport),
            request_overhead: self.request_overhead.or(other.request_overhead),
            max_requests: self.max_requests.or(other.max_requests),
            deny: self.deny.or(other.deny),
            allow: self.allow.or(other.allow),
            budget: self.budget.or(other.budget),
            budget_coding: self.budget_coding.or(other.budget_coding),
            baseline: self.baseline.or(other.baseline),
            max_growth: self.max_growth.or(other.max_growth),
            journey: self.journey.or(other.journey),
            report: self.report.or(other.report),
            annotations: self.annotations.or(other.annotations),
            threads: self.threads.or(other.threads),
            verbose: self.verbose.or(other.verbose),
            color: self.color.or(other.color),
            rule: self.rule.or(other.rule),
        }
    }

    /// The defaults in the words of the settings; `None` where a default is not a value but the lack of one.
    pub fn defaults() -> Settings {
        let options = Options::defaults();
        let (width, height) = options.viewport;
        Settings {
            inline_limit: options.inline_limit.map(Number::near),
            skip: Some(options.skip.into_iter().map(Skip::Pass).collect()),
            combine_scripts: Some(options.combine_scripts),
            targets: None,
            prefer: Some(options.prefer),
            network: Some(options.network),
            pages_per_visit: Some(Number::near(options.pages_per_visit.into())),
            blocking_factor: Some(Number::near(options.blocking_factor.into())),
            traffic: None,
            fingerprint: Some(options.fingerprint),
            keep_previous: options.keep_previous,
            cdn: None,
            cdn_cors: Some(options.cdn_cors),
            sri: Some(options.sri),
            link_headers: Some(options.link_headers),
            write_policy: None,
            effort: Some(Effort::Default),
            // Where nothing is said, the effort says it.
            gzip_level: None,
            brotli_quality: None,
            zstd: Some(options.zstd_level.is_some()),
            zstd_level: None,
            cache: None,
            no_cache: Some(false),
            cache_limit: Some(Number::near(cache::LIMIT_MB)),
            memory: Some(Number::near(options.memory >> 20)),
            no_gzip: Some(options.gzip_level.is_none()),
            no_brotli: Some(options.brotli_quality.is_none()),
            min_size: Some(Number::near(options.min_size)),
            encode_types: Some(options.encode_types),
            measure: Some(if options.measure_full {
                Measure::Full
            } else {
                Measure::Fast
            }),
            include: None,
            exclude: Some(Vec::new()),
            base_url: None,
            csp: Some(Vec::new()),
            entry: options.entry,
            charset: None,
            viewport: Some(Checked {
                text: format!("{width}x{height}"),
                value: Viewport(width, height),
            }),
            request_overhead: Some(Number::near(options.request_overhead)),
            max_requests: None,
            deny: Some(Vec::new()),
            allow: Some(Vec::new()),
            budget: None,
            budget_coding: Some(budget::Coding::Br),
            baseline: None,
            max_growth: Some(Number::near(5)),
            journey: None,
            report: None,
            annotations: Some(Annotations::None),
            threads: Some(Number::near(options.threads as u64)),
            verbose: Some(false),
            color: Some(Color::Auto),
            rule: None,
        }
    }
}
