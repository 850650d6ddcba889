//! What was typed: commands and their arguments. No type of the argument parser travels further.
//!
//! Flags that `fewer.toml` knows too stand in `settings`; the others, which belong to one run only, stand here.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

mod effective;
mod settings;
mod value;
mod verify;

pub use effective::Effective;
pub use settings::{RuleSettings, Settings};
pub use value::{Bytes, Checked, Color, Measure, Number, Parse, Skip, Viewport};
pub use verify::{Verify, wishes};

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
    /// SITE is never written. OUT appears whole or not at all. Exit status: 0 good, 1 a budget or --verify failed
    /// (reports are written, OUT stays as it was), 2 bad use or input (nothing is written).
    ///
    /// Flags that stand under a heading can be keys of `fewer.toml` in the current folder; a flag wins over the file.
    Build(Build),
    /// Count the requests and bytes of every page of SITE; write nothing but the report.
    Report(Report),
    /// Say what a build would do about one file of SITE, and why; write nothing.
    Explain(Explain),
    /// Open the pages of SITE and OUT in a real browser and tell every difference: pixels, text, links, errors, requests.
    ///
    /// Looks at one page of each template, in two windows, each light, dark, printed and in forced colours. No other host
    /// is reached. What two loads of SITE do not agree on is named, not failed. Exit status: 0 no difference, 1
    /// differences, 2 bad use or no browser.
    Verify(Verify),
    /// Print the values that are in effect, each with its source, as a `fewer.toml`.
    Config(Config),
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
    /// Compare SITE and the new OUT in a browser, as `fewer verify` does, before OUT appears; a difference is exit
    /// status 1.
    #[arg(long, conflicts_with = "dry_run")]
    pub verify: bool,
    /// The browser of --verify: chromium, firefox or a path.
    #[arg(long, value_name = "BROWSER", requires = "verify")]
    pub browser: Option<String>,
    /// Write what --verify found to this file, .html or .json.
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub verify_report: Option<PathBuf>,
    #[command(flatten)]
    pub run: Run,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Report {
    /// The folder that holds the site.
    pub site: PathBuf,
    #[command(flatten)]
    pub run: Run,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// The folder that the site generator wrote.
    pub site: PathBuf,
    /// An image, stylesheet, script or page: `img/logo.png`, `SITE/img/logo.png` or `/img/logo.png`.
    pub path: PathBuf,
    #[command(flatten)]
    pub run: Run,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Config {
    /// Read this file in place of `fewer.toml` in the current folder.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub settings: Settings,
}

/// How one run behaves.
#[derive(Debug, Args)]
pub struct Run {
    /// Read this file in place of `fewer.toml` in the current folder.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print nothing but errors.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
}

/// Reads the arguments of the process; ends it for `--help`, `--version` and bad use.
pub fn parse() -> Cli {
    parse_from(std::env::args_os()).unwrap_or_else(|error| error.exit())
}

/// Reads arguments, the name of the program first.
pub fn parse_from(args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(args)?;
    if let Some(("report", report)) = matches.subcommand() {
        let typed = |arg: &&Arg| report.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        let arguments = <Settings as Args>::augment_args(clap::Command::new("report"));
        if let Some(name) = arguments.get_arguments().filter(|arg| decides(arg)).find(typed) {
            let name = name.get_long().unwrap_or_default();
            let message =
                format!("--{name} is about changes, and a report changes nothing: use it with build");
            return Err(command.error(ErrorKind::UnknownArgument, message));
        }
    }
    Cli::from_arg_matches(&matches)
}

/// The parser, whose help names the defaults that `Options` has.
fn command() -> clap::Command {
    let defaults = effective::table(&Settings::defaults()).unwrap_or_default();
    let with_default = |arg: Arg| {
        let value = match arg.get_long().and_then(|key| defaults.get(key)) {
            Some(toml::Value::String(text)) => text.clone(),
            Some(toml::Value::Integer(number)) => number.to_string(),
            _ => return arg,
        };
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        arg.help(format!("{help} [default: {value}]"))
    };
    let hidden = |arg: Arg| if decides(&arg) { arg.hide(true) } else { arg };
    Cli::command()
        .mut_subcommands(|command| match command.get_name() {
            // Its windows are a list, and its help says so.
            "verify" => command,
            _ => command.mut_args(with_default),
        })
        .mut_subcommand("report", |report| report.mut_args(hidden))
}

/// Whether a flag is about what is changed.
fn decides(arg: &Arg) -> bool {
    matches!(arg.get_help_heading(), Some(settings::CHANGES | settings::PAYS))
}
