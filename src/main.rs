//! The `fewer` command: parse, run, print, map the result to an exit status.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use fewer::cli::{Cli, Color, Command, Common};
use fewer::report::{self, Report};
use fewer::{build, disk, parallel};

/// A budget failed.
const OVER_BUDGET: u8 = 1;
/// Bad use or input; nothing was written.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli.command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn run(command: &Command) -> anyhow::Result<ExitCode> {
    check_report_path(command)?;
    let (common, result) = match command {
        Command::Build(build) => (&build.common, {
            let options = build.options()?;
            let work = || {
                build::build(
                    &build.site,
                    &build.out,
                    &options,
                    build.dry_run,
                    &progress(&build.common),
                )
            };
            parallel::with_threads(options.threads, work)?.map(|built| (built.report, built.staging))
        }),
        Command::Report(report) => (&report.common, {
            let options = report.options()?;
            let work = || build::report(&report.site, &options, &progress(&report.common));
            parallel::with_threads(options.threads, work)?.map(|report| (report, None))
        }),
    };
    clear_progress(common);
    let (mut report, staging) = result?;
    report.max_requests = common.max_requests;
    let violations = common
        .max_requests
        .map(|max| report::over_budget(&report, max))
        .unwrap_or_default();
    if let Some(path) = &common.report {
        let mut json = Vec::new();
        report::write_json(&report, &mut json)?;
        disk::write_file(path, &json)?;
    }
    let failed = !violations.is_empty();
    if !failed && let Some(staging) = staging {
        staging.commit()?;
    }
    print(&report, common)?;
    for violation in &violations {
        eprintln!("error: {violation}");
    }
    Ok(if failed {
        ExitCode::from(OVER_BUDGET)
    } else {
        ExitCode::SUCCESS
    })
}

/// SITE is never written, and what stands in OUT is the site alone.
fn check_report_path(command: &Command) -> anyhow::Result<()> {
    let (common, folders) = match command {
        Command::Build(build) => (&build.common, vec![("SITE", &build.site), ("OUT", &build.out)]),
        Command::Report(report) => (&report.common, vec![("SITE", &report.site)]),
    };
    let Some(path) = &common.report else { return Ok(()) };
    if let Command::Build(build) = command {
        // What is wrong with OUT itself is the better message.
        disk::Staging::check(&build.site, &build.out, build.force)?;
    }
    let is_json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let is_device =
        disk::stat(path).is_ok_and(|stat| !matches!(stat.kind, disk::Kind::File | disk::Kind::Folder));
    anyhow::ensure!(
        is_json || is_device,
        "--report {}: expected a name that ends in .json",
        path.display()
    );
    for (name, folder) in folders {
        let inside = disk::is_inside(path, folder)?;
        anyhow::ensure!(
            !inside,
            "--report {} lies inside {name}: choose a place outside",
            path.display()
        );
    }
    Ok(())
}

/// The diagnostics on standard error, the summary on standard output.
fn print(report: &Report, common: &Common) -> anyhow::Result<()> {
    if common.quiet {
        return Ok(());
    }
    let wants = |is_terminal: bool| match common.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none(),
    };
    let diagnostics = report::diagnostics_text(
        &report.diagnostics,
        common.verbose,
        wants(std::io::stderr().is_terminal()),
    );
    std::io::stderr().write_all(diagnostics.as_bytes())?;
    let width = 80;
    let summary = report::summary(report, width, wants(std::io::stdout().is_terminal()));
    match std::io::stdout().write_all(summary.as_bytes()) {
        // A reader such as `head` that has seen enough is no failure of the build.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn shows_progress(common: &Common) -> bool {
    !common.quiet && std::io::stderr().is_terminal()
}

/// One line on a terminal that the next stage writes over; nothing elsewhere.
fn progress(common: &Common) -> impl Fn(&str) + Sync + use<> {
    let shown = shows_progress(common);
    move |stage| {
        if shown {
            eprint!("\r\x1b[Kfewer: {stage} …");
        }
    }
}

fn clear_progress(common: &Common) {
    if shows_progress(common) {
        eprint!("\r\x1b[K");
    }
}
