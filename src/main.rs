//! The `fewer` command: parse, run, print, map the result to an exit status.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fewer::cli::{self, Color, Command, Effective, Run, Settings};
use fewer::report::{self, Report};
use fewer::verify::{self, Outcome, Predicted, Wishes};
use fewer::{build, config, disk, explain, parallel};

/// A budget failed, or OUT is not what SITE was.
const OVER_BUDGET: u8 = 1;
/// Bad use or input; nothing was written.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let cli = cli::parse();
    match run(&cli.command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn run(command: &Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Build(build) => run_build(build),
        Command::Report(report) => run_report(report),
        Command::Explain(explain) => run_explain(explain),
        Command::Verify(verify) => run_verify(verify),
        Command::Config(config) => {
            let (file, _) = config::find(config.config.as_deref(), None)?;
            let effective = Effective::new(&config.settings, file)?;
            // What would be refused is said here too.
            effective.settings.options()?;
            write_out(&effective.print()?)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn run_build(build: &cli::Build) -> anyhow::Result<ExitCode> {
    let effective = effective(&build.settings, &build.run, &build.site)?;
    if effective.settings.report.is_some() {
        // What is wrong with OUT itself is the better message.
        disk::Staging::check(&build.site, &build.out, build.force)?;
    }
    check_report_path(&effective, &[("SITE", &build.site), ("OUT", &build.out)])?;
    let mut options = effective.settings.options()?;
    options.force = build.force;
    // A browser that is missing is said before the work.
    let mut wishes = None;
    if build.verify {
        check_verify_report(build.verify_report.as_deref(), &build.site, &build.out)?;
        let other = effective.settings.report.as_ref();
        let apart = build.verify_report.is_none() || build.verify_report.as_ref() != other;
        anyhow::ensure!(apart, "--report and --verify-report name the same file");
        wishes = Some(cli::wishes(verify::find(build.browser.as_deref())?, &options));
    }
    let progress = progress(&build.run);
    let work = || {
        let built = build::build(&build.site, &build.out, &options, build.dry_run, &progress)?;
        let outcome = match (&wishes, &built.staging) {
            (Some(wishes), Some(staging)) => {
                let predicted = Some(Predicted::of_report(&built.report));
                let (site, out) = (&build.site, staging.path());
                Some(verify::verify(site, out, &options, wishes, predicted, &progress)?)
            }
            _ => None,
        };
        anyhow::Ok((built, outcome))
    };
    let done = parallel::with_threads(options.threads, work)?;
    clear_progress(&build.run);
    let (mut built, outcome) = done?;
    let Some(outcome) = outcome else {
        return finish(built.report, built.staging, &effective, &build.run);
    };
    write_verify_report(build.verify_report.as_deref(), &outcome)?;
    if !outcome.is_same() {
        // OUT stays as it was.
        built.staging = None;
    }
    let budget = finish(built.report, built.staging, &effective, &build.run)?;
    let verdict = show_outcome(&outcome, &build.run)?;
    Ok(if outcome.is_same() { budget } else { verdict })
}

fn run_verify(verify: &cli::Verify) -> anyhow::Result<ExitCode> {
    let run = verify.run();
    let effective = effective(&verify.settings(), &run, &verify.site)?;
    check_verify_report(verify.report.as_deref(), &verify.site, &verify.out)?;
    let options = effective.settings.options()?;
    let wishes: Wishes = verify.wishes(verify::find(verify.browser.as_deref())?, &options)?;
    let predicted = verify.counts.as_deref().map(Predicted::read).transpose()?;
    let progress = progress(&run);
    let work = || verify::verify(&verify.site, &verify.out, &options, &wishes, predicted, &progress);
    let outcome = parallel::with_threads(options.threads, work)?;
    clear_progress(&run);
    let outcome = outcome?;
    write_verify_report(verify.report.as_deref(), &outcome)?;
    show_outcome(&outcome, &run)
}

fn show_outcome(outcome: &Outcome, run: &Run) -> anyhow::Result<ExitCode> {
    if !run.quiet {
        write_out(&verify::summary(outcome))?;
    }
    Ok(if outcome.is_same() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(OVER_BUDGET)
    })
}

fn is_named(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

fn check_verify_report(path: Option<&Path>, site: &Path, out: &Path) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    let fits = is_named(path, "html") || is_named(path, "json");
    anyhow::ensure!(
        fits,
        "{}: expected a name that ends in .html or .json",
        path.display()
    );
    for (name, folder) in [("SITE", site), ("OUT", out)] {
        let inside = disk::is_inside(path, folder)?;
        anyhow::ensure!(
            !inside,
            "{} lies inside {name}: choose a place outside",
            path.display()
        );
    }
    Ok(())
}

fn write_verify_report(path: Option<&Path>, outcome: &Outcome) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    let text = if is_named(path, "html") {
        verify::html(outcome)
    } else {
        verify::json(outcome)
    };
    disk::write_file(path, text.as_bytes())
}

fn run_report(report: &cli::Report) -> anyhow::Result<ExitCode> {
    let effective = effective(&report.settings, &report.run, &report.site)?;
    check_report_path(&effective, &[("SITE", &report.site)])?;
    let options = effective.settings.options()?;
    let progress = progress(&report.run);
    let work = || build::report(&report.site, &options, &progress);
    let measured = parallel::with_threads(options.threads, work)?;
    clear_progress(&report.run);
    finish(measured?, None, &effective, &report.run)
}

fn run_explain(explain: &cli::Explain) -> anyhow::Result<ExitCode> {
    let effective = effective(&explain.settings, &explain.run, &explain.site)?;
    let options = effective.settings.options()?;
    let progress = progress(&explain.run);
    let work = || explain::explain(&explain.site, &options, &explain.path, &progress);
    let text = parallel::with_threads(options.threads, work)?;
    clear_progress(&explain.run);
    write_out(&text?)?;
    Ok(ExitCode::SUCCESS)
}

/// The flags, the file and the defaults in one.
fn effective(typed: &Settings, run: &Run, site: &Path) -> anyhow::Result<Effective> {
    let (file, note) = config::find(run.config.as_deref(), Some(site))?;
    if let Some(note) = note.filter(|_| !run.quiet) {
        eprintln!("note: {note}");
    }
    Effective::new(typed, file)
}

/// Writes what is asked for; OUT appears only if the budget holds.
fn finish(
    mut report: Report,
    staging: Option<disk::Staging>,
    effective: &Effective,
    run: &Run,
) -> anyhow::Result<ExitCode> {
    let settings = &effective.settings;
    report.max_requests = settings.max_requests.map(cli::Number::small);
    let violations = report
        .max_requests
        .map(|max| report::over_budget(&report, max))
        .unwrap_or_default();
    if let Some(path) = &settings.report {
        let mut json = Vec::new();
        report::write_json(&report, &mut json)?;
        disk::write_file(path, &json)?;
    }
    let failed = !violations.is_empty();
    if !failed && let Some(staging) = staging {
        staging.commit()?;
    }
    print(&report, settings, run)?;
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
fn check_report_path(effective: &Effective, folders: &[(&str, &PathBuf)]) -> anyhow::Result<()> {
    let Some(path) = &effective.settings.report else {
        return Ok(());
    };
    let name = effective.name("report");
    let is_json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let is_device =
        disk::stat(path).is_ok_and(|stat| !matches!(stat.kind, disk::Kind::File | disk::Kind::Folder));
    anyhow::ensure!(
        is_json || is_device,
        "{name} {}: expected a name that ends in .json",
        path.display()
    );
    for (folder_name, folder) in folders {
        let inside = disk::is_inside(path, folder)?;
        anyhow::ensure!(
            !inside,
            "{name} {} lies inside {folder_name}: choose a place outside",
            path.display()
        );
    }
    Ok(())
}

/// The diagnostics on standard error, the summary on standard output.
fn print(report: &Report, settings: &Settings, run: &Run) -> anyhow::Result<()> {
    if run.quiet {
        return Ok(());
    }
    let wants = |is_terminal: bool| match settings.color {
        Some(Color::Always) => true,
        Some(Color::Never) => false,
        Some(Color::Auto) | None => is_terminal && std::env::var_os("NO_COLOR").is_none(),
    };
    let diagnostics = report::diagnostics_text(
        &report.diagnostics,
        settings.verbose == Some(true),
        wants(std::io::stderr().is_terminal()),
    );
    std::io::stderr().write_all(diagnostics.as_bytes())?;
    let width = 80;
    let summary = report::summary(report, width, wants(std::io::stdout().is_terminal()));
    write_out(&summary)
}

fn write_out(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // A reader such as `head` that has seen enough is no failure of the build.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn shows_progress(run: &Run) -> bool {
    !run.quiet && std::io::stderr().is_terminal()
}

/// One line on a terminal that the next stage writes over; nothing elsewhere.
fn progress(run: &Run) -> impl Fn(&str) + Sync + use<> {
    let shown = shows_progress(run);
    move |stage| {
        if shown {
            eprint!("\r\x1b[Kfewer: {stage} …");
        }
    }
}

fn clear_progress(run: &Run) {
    if shows_progress(run) {
        eprint!("\r\x1b[K");
    }
}
