//! What was typed, turned once into `Options`. No type of the argument parser travels further.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand, ValueEnum};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::css::Targets;
use crate::options::{Options, Pass};

/// Makes a built static site load with fewer requests and fewer bytes, without changing a pixel.
#[derive(Debug, Parser)]
#[command(name = "fewer", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write an optimised copy of SITE to OUT, with gzip and brotli variants and a report.
    ///
    /// SITE is never written. OUT appears whole or not at all. Exit status: 0 good, 1 a budget failed (reports are
    /// written, OUT stays as it was), 2 bad use or input (nothing is written).
    Build(Build),
    /// Count the requests and bytes of every page of SITE; write nothing but the report.
    Report(Report),
}

#[derive(Debug, Args)]
pub struct Build {
    /// The folder that the site generator wrote.
    pub site: PathBuf,
    /// The folder to write; must not exist, or be empty, or --force.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace OUT if it is not empty.
    #[arg(long)]
    pub force: bool,
    /// Decide and report, but write no OUT.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub passes: Passes,
    #[command(flatten)]
    pub encoding: Encoding,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
pub struct Report {
    /// The folder that holds the site.
    pub site: PathBuf,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
pub struct Passes {
    /// The most bytes an image in CSS may have to become a data URL; 0 turns that off.
    #[arg(long, value_name = "BYTES", default_value_t = 4096)]
    pub inline_limit: u64,
    /// Turn a pass off: inline, minify; `all` copies and encodes only. Repeatable.
    #[arg(long, value_name = "PASS")]
    pub skip: Vec<Skip>,
    /// Print CSS for these browsers only (a browserslist query); without it for every browser.
    #[arg(long, value_name = "QUERY")]
    pub targets: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Skip {
    Inline,
    Minify,
    All,
}

#[derive(Debug, Args)]
pub struct Encoding {
    /// Level of the gzip variants, 1 to 12.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=12))]
    pub gzip_level: u32,
    /// Quality of the brotli variants, 0 to 11.
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u32).range(0..=11))]
    pub brotli_quality: u32,
    /// Write no gzip variants.
    #[arg(long)]
    pub no_gzip: bool,
    /// Write no brotli variants.
    #[arg(long)]
    pub no_brotli: bool,
    /// Files smaller than this get no variants (bytes).
    #[arg(long, value_name = "BYTES", default_value_t = 100)]
    pub min_size: u64,
    /// Extensions that get variants, separated by commas, in place of the list that is built in; `+ext` adds to it.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub encode_types: Vec<String>,
    /// Compare edited files at the levels that are written; `fast` is gzip 6 and brotli 5.
    #[arg(long, value_name = "HOW", default_value = "fast")]
    pub measure: Measure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Measure {
    Fast,
    Full,
}

#[derive(Debug, Args)]
pub struct Common {
    /// Only files that match are edited, inlined and encoded; the others are copied. Repeatable.
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Files that match are copied byte for byte. Repeatable.
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Where the site will live, such as `https://example.org/sub/`: absolute URLs below it are this site.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// A Content-Security-Policy that the server sends with every page. Repeatable.
    #[arg(long, value_name = "POLICY")]
    pub csp: Vec<String>,
    /// The page that a reader comes from on a follow-up view [default: index.html, else the page most linked to].
    #[arg(long, value_name = "PAGE")]
    pub entry: Option<String>,
    /// The encoding of pages that declare none [default: windows-1252, as browsers assume].
    #[arg(long, value_name = "LABEL")]
    pub charset: Option<String>,
    /// The window that media queries are evaluated for, in CSS pixels.
    #[arg(long, value_name = "WxH", default_value = "1280x900", value_parser = viewport)]
    pub viewport: (u32, u32),
    /// Bytes that a request costs beside its body.
    #[arg(long, value_name = "BYTES", default_value_t = 200)]
    pub request_overhead: u64,
    /// Fail (exit status 1) when a page makes more requests than this on its first view.
    #[arg(long, value_name = "N")]
    pub max_requests: Option<u32>,
    /// Write the whole report to this file (.json).
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Threads, at most 256; 0 is one per core.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=256))]
    pub threads: u16,
    /// Print nothing but errors.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print every diagnostic, not five of a kind.
    #[arg(short, long)]
    pub verbose: bool,
    /// Colour the terminal output.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

fn viewport(text: &str) -> Result<(u32, u32), String> {
    let parse = |part: &str| part.parse::<u32>().ok().filter(|&n| n > 0 && n <= 100_000);
    text.split_once('x')
        .and_then(|(w, h)| Some((parse(w)?, parse(h)?)))
        .ok_or_else(|| "expected WIDTHxHEIGHT in CSS pixels, such as 1280x900".to_owned())
}

fn globs(patterns: &[String], flag: &str) -> anyhow::Result<Option<GlobSet>> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern.trim_start_matches('/'))
            .literal_separator(true)
            .build();
        set.add(glob.with_context(|| format!("{flag} {pattern}"))?);
    }
    Ok(Some(set.build().with_context(|| flag.to_owned())?))
}

impl Common {
    fn options(&self) -> anyhow::Result<Options> {
        Ok(Options {
            request_overhead: self.request_overhead,
            base_url: self.base_url.clone(),
            csp: self.csp.clone(),
            entry: self.entry.clone(),
            charset: self.charset.clone(),
            include: globs(&self.include, "--include")?,
            exclude: globs(&self.exclude, "--exclude")?,
            viewport: self.viewport,
            threads: usize::from(self.threads),
            ..Options::defaults()
        })
    }
}

impl Build {
    pub fn options(&self) -> anyhow::Result<Options> {
        let skip = if self.passes.skip.contains(&Skip::All) {
            Pass::ALL.to_vec()
        } else {
            let skips = |pass: &Pass| match pass {
                Pass::Inline => self.passes.skip.contains(&Skip::Inline),
                Pass::Minify => self.passes.skip.contains(&Skip::Minify),
            };
            Pass::ALL.into_iter().filter(skips).collect()
        };
        let (added, listed): (Vec<&String>, Vec<&String>) = self
            .encoding
            .encode_types
            .iter()
            .partition(|t| t.starts_with('+'));
        let mut options = self.common.options()?;
        if !listed.is_empty() {
            options.encode_types = listed.into_iter().map(|t| extension(t)).collect();
        }
        options
            .encode_types
            .extend(added.into_iter().map(|t| extension(t)));
        Ok(Options {
            inline_limit: self.passes.inline_limit,
            skip,
            targets: self.passes.targets.as_deref().map(Targets::parse).transpose()?,
            gzip_level: (!self.encoding.no_gzip).then_some(self.encoding.gzip_level),
            brotli_quality: (!self.encoding.no_brotli).then_some(self.encoding.brotli_quality),
            min_size: self.encoding.min_size,
            measure_full: self.encoding.measure == Measure::Full,
            force: self.force,
            ..options
        })
    }
}

impl Report {
    pub fn options(&self) -> anyhow::Result<Options> {
        self.common.options()
    }
}

fn extension(text: &str) -> String {
    text.trim_start_matches(['+', '.']).to_ascii_lowercase()
}
