//! The arguments of `fewer verify`, and what they mean. Of `fewer.toml` only what tells a site's pages is used.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use encoding_rs::Encoding;
use globset::Glob;

use super::Run;
use super::settings::Settings;
use super::value::{self, Checked, Number, Viewport};
use crate::options::Options;
use crate::url::Mount;
use crate::verify::{self, Mode, Program, Wishes};

/// Seconds that a page may take to load.
const TIMEOUT: u64 = 30;

#[derive(Debug, Args)]
pub struct Verify {
    /// The folder that the site generator wrote.
    pub site: PathBuf,
    /// The folder that a build wrote from it.
    pub out: PathBuf,
    /// chromium, firefox or the path of a browser [default: the first that is installed]
    #[arg(long, value_name = "BROWSER")]
    pub browser: Option<String>,
    /// Windows to look at pages in, in CSS pixels; requests are counted in the first [default: 1280x900,390x844]
    #[arg(long, value_name = "WxH", value_delimiter = ',')]
    pub viewport: Vec<Checked<Viewport>>,
    /// What to look at in each window [default: all of them]
    #[arg(long, value_name = "MODE", value_delimiter = ',')]
    pub modes: Vec<Mode>,
    /// Look at every page, not at one of each template
    #[arg(long)]
    pub all: bool,
    /// Only pages that match, as paths in SITE. Repeatable
    #[arg(long, value_name = "GLOB")]
    pub pages: Vec<Checked<Glob>>,
    /// Look at no more pages than this: those of the templates that most pages have
    #[arg(long, value_name = "N")]
    pub max: Option<Number<1, 1_000_000>>,
    /// Fail also for pages that cannot be compared in full
    #[arg(long)]
    pub strict: bool,
    /// Seconds that a page may take to load [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<Number<1, 3600>>,
    /// Write what was found to this file: .html with pictures of the differences, or .json
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// The JSON report of the build, whose numbers of requests are checked [default: both folders are counted anew]
    #[arg(long, value_name = "FILE")]
    pub counts: Option<PathBuf>,
    /// Where the site will live, as in build
    #[arg(long, value_name = "URL")]
    pub base_url: Option<Checked<Mount>>,
    /// The page that a visit begins at, as in build
    #[arg(long, value_name = "PAGE")]
    pub entry: Option<String>,
    /// The encoding of pages that declare none, as in build
    #[arg(long, value_name = "LABEL")]
    pub charset: Option<Checked<&'static Encoding>>,
    /// Read this file in place of `fewer.toml` in the current folder
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

impl ValueEnum for Mode {
    fn value_variants<'a>() -> &'a [Mode] {
        &Mode::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.name()))
    }
}

impl Verify {
    /// How the run behaves. Not flattened: there is no `--verbose` here that `--quiet` could conflict with.
    pub fn run(&self) -> Run {
        Run {
            config: self.config.clone(),
            quiet: self.quiet,
        }
    }

    /// What was typed of that which `fewer.toml` can say too.
    pub fn settings(&self) -> Settings {
        Settings {
            base_url: self.base_url.clone(),
            entry: self.entry.clone(),
            charset: self.charset.clone(),
            viewport: self.viewport.first().cloned(),
            ..Settings::default()
        }
    }

    /// What is meant, with a browser that was found.
    pub fn wishes(&self, program: Program, options: &Options) -> anyhow::Result<Wishes> {
        let mut wishes = wishes(program, options);
        if !self.viewport.is_empty() {
            let windows = self
                .viewport
                .iter()
                .map(|window| (window.value.0, window.value.1));
            wishes.viewports = distinct(windows);
        }
        if !self.modes.is_empty() {
            wishes.modes = distinct(self.modes.iter().copied());
        }
        wishes.all = self.all;
        wishes.pages = value::set(&self.pages)?;
        wishes.max = self.max.map(|max| max.small() as usize);
        wishes.strict = self.strict;
        wishes.patience = Duration::from_secs(self.timeout.map_or(TIMEOUT, Number::get));
        Ok(wishes)
    }
}

/// The defaults, which `build --verify` has too: one page of each template, the window of the counts and that of a
/// telephone, all modes.
pub fn wishes(program: Program, options: &Options) -> Wishes {
    Wishes {
        program,
        viewports: distinct([options.viewport, verify::NARROW].into_iter()),
        modes: Mode::ALL.to_vec(),
        all: false,
        pages: None,
        max: None,
        strict: false,
        patience: Duration::from_secs(TIMEOUT),
    }
}

/// Every item once, in the order in which they came.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Command, parse_from};
    use crate::verify::Family;

    fn parse(flags: &[&str]) -> Result<Verify, String> {
        let words = ["fewer", "verify", "a", "b"].iter().chain(flags);
        match parse_from(words.map(|word| (*word).into())) {
            Ok(cli) => match cli.command {
                Command::Verify(verify) => Ok(verify),
                other => Err(format!("{other:?}")),
            },
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn flags_say_what_is_looked_at() {
        let check = |flags: &[&str], windows: &[(u32, u32)], modes: &[Mode]| {
            let verify = parse(flags).unwrap();
            let options = verify.settings().options().unwrap();
            let program = Program {
                family: Family::Chromium,
                path: PathBuf::new(),
                version: String::new(),
            };
            let wishes = verify.wishes(program, &options).unwrap();
            assert_eq!(
                (&*wishes.viewports, &*wishes.modes),
                (windows, modes),
                "{flags:?}"
            );
            // The report counts what the first window asks for.
            assert_eq!(options.viewport, windows[0]);
        };
        check(&[], &[(1280, 900), (390, 844)], &Mode::ALL);
        check(
            &["--viewport", "800x600,390x844,800x600", "--modes", "light,print"],
            &[(800, 600), (390, 844)],
            &[Mode::Light, Mode::Print],
        );
        for wrong in [
            &["--viewport", "800"][..],
            &["--modes", "bright"],
            &["--max", "0"],
            &["--pages", "[a"],
            &["--timeout", "0"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
