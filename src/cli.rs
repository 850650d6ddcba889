//! What was typed: commands and their arguments. No type of the argument parser travels further.
//!
//! Flags that `fewer.toml` knows too stand in `settings`; the others, which belong to one run only, stand here.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::deployed::{self, Coded};
use crate::{serve, server_config};

mod budget;
mod destination;
mod effective;
mod settings;
mod value;
mod verify;

pub use budget::{BudgetSettings, BudgetSource, PartSettings, ViewSettings};
pub use destination::Destination;
pub use effective::Effective;
pub use settings::{RuleSettings, Settings};
pub use value::{Annotations, Bytes, Checked, Color, Measure, Number, Parse, Skip, Viewport};
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
    /// List everything wrong that a reader of SITE would meet; count and change nothing.
    ///
    /// Exit status: 0 whatever was found, 1 if a code of --deny was found, 2 bad use or input.
    Check(Check),
    /// Say what a build would do about one file of SITE, and why; write nothing.
    Explain(Explain),
    /// Preview OUT on this machine, answered as the configurations of `server-config` make real servers answer.
    Serve(Serve),
    /// Print the configuration of a server, written for OUT as it is.
    ///
    /// SERVER is nginx, apache, caddy, lighttpd (two files: use --write), varnish (VCL for a cache in front of another
    /// server) or headers (the `_headers` file of static hosts).
    ServerConfig(ServerConfig),
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
    /// The browser that --verify uses: chromium, firefox or a path.
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
pub struct Check {
    /// The folder that holds the site.
    #[arg(required_unless_present = "list")]
    pub site: Option<PathBuf>,
    /// Print every code with what it means, why it matters and what to do about it.
    #[arg(long)]
    pub list: bool,
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
pub struct Serve {
    /// The folder that a build wrote, or any other site.
    pub out: PathBuf,
    /// The port of 127.0.0.1 to listen on; 0 is any free one.
    #[arg(long, value_name = "N", default_value_t = 8000)]
    pub port: u16,
    /// Show the start page in the browser.
    #[arg(long)]
    pub open: bool,
    /// Do not list what was served.
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub site: Served,
}

#[derive(Debug, Args)]
pub struct ServerConfig {
    /// nginx, apache, caddy, lighttpd, varnish or headers.
    #[arg(value_parser = server)]
    pub server: server_config::Server,
    /// The folder that a build wrote.
    pub out: PathBuf,
    /// Write the files into this folder in place of printing the first.
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,
    /// The name that the server answers to; every one if it is not said.
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// PORT or ADDRESS:PORT.
    #[arg(long, value_name = "WHERE")]
    pub listen: Option<String>,
    /// Where OUT will stand on the server.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// The codings that the server can send, of br, zstd and gzip [default: those in OUT that its packages can].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = coded)]
    pub codings: Option<Vec<Coded>>,
    /// The version of the server, as 2.9: what only newer ones know is left out (Caddy).
    #[arg(long, value_name = "VERSION", value_parser = version)]
    pub server_version: Option<(u32, u32)>,
    /// A `.htaccess` in place of a virtual host (Apache).
    #[arg(long)]
    pub htaccess: bool,
    /// The server behind the cache, as HOST:PORT (Varnish).
    #[arg(long, value_name = "WHERE", default_value = "127.0.0.1:8080")]
    pub upstream: String,
    #[command(flatten)]
    pub site: Served,
}

/// How a site stands on its server.
#[derive(Debug, Args)]
pub struct Served {
    /// The URL path that the site stands at, as /docs/.
    #[arg(long, value_name = "PATH", default_value = "/", value_parser = mount)]
    pub prefix: String,
    /// How long a plain file is fresh; fingerprinted ones are for ever, pages never.
    #[arg(long, value_name = "SECONDS", default_value_t = deployed::MAX_AGE)]
    pub max_age: u32,
}

fn mount(text: &str) -> Result<String, String> {
    serve::mount(text).ok_or_else(|| "expected a path such as /docs/".to_string())
}

fn server(text: &str) -> Result<server_config::Server, String> {
    let mut all = server_config::Server::ALL.into_iter();
    all.find(|server| server.name() == text)
        .ok_or_else(|| "expected nginx, apache, caddy, lighttpd, varnish or headers".to_string())
}

fn coded(text: &str) -> Result<Coded, String> {
    let found = Coded::ALL.into_iter().find(|coding| coding.token() == text);
    found.ok_or_else(|| "expected br, zstd or gzip".to_string())
}

fn version(text: &str) -> Result<(u32, u32), String> {
    let mut numbers = text.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next().unwrap_or(Ok(0))) {
        (Some(Ok(major)), Ok(minor)) => Ok((major, minor)),
        _ => Err("expected a version such as 2.9".to_string()),
    }
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
    if let Some(("check", check)) = matches.subcommand() {
        let typed = |arg: &&Arg| check.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        let arguments = <Settings as Args>::augment_args(clap::Command::new("check"));
        if let Some(name) = arguments.get_arguments().filter(|arg| counts(arg)).find(typed) {
            let name = name.get_long().unwrap_or_default();
            let message =
                format!("--{name} is about changes or numbers, and a check has none: use it with build");
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
    // The message then names the flag.
    let signed = |arg: Arg| match arg.get_action() {
        ArgAction::Set | ArgAction::Append if !arg.is_positional() => arg.allow_negative_numbers(true),
        _ => arg,
    };
    let hidden = |arg: Arg| if decides(&arg) { arg.hide(true) } else { arg };
    let uncounted = |arg: Arg| if counts(&arg) { arg.hide(true) } else { arg };
    Cli::command()
        .mut_subcommands(|command| match command.get_name() {
            // Its windows are a list, and its help says so.
            "verify" => command,
            _ => command.mut_args(with_default),
        })
        .mut_subcommands(|command| command.mut_args(signed))
        .mut_subcommand("report", |report| report.mut_args(hidden))
        .mut_subcommand("check", |check| check.mut_args(uncounted))
}

/// Whether a flag is about what is changed.
fn decides(arg: &Arg) -> bool {
    matches!(
        arg.get_help_heading(),
        Some(settings::CHANGES | settings::PAYS | settings::NAMES)
    )
}

/// Whether a flag is about what is changed or counted, or about variants that are written.
fn counts(arg: &Arg) -> bool {
    let name = arg.get_long().unwrap_or_default();
    decides(arg)
        || matches!(name, "request-overhead" | "max-requests")
        || arg.get_help_heading() == Some(settings::VARIANTS) && name != "encode-types"
}
