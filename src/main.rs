//! The `fewer` command: parse, run, print, map the result to an exit status.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fewer::cli::{self, Color, Command, Effective, Run, Settings};
use fewer::report::{self, Report};
use fewer::{build, config, deployed, disk, explain, parallel, serve, server_config};

/// A budget failed.
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
        Command::Serve(serve) => run_serve(serve),
        Command::ServerConfig(config) => run_server_config(config),
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
    let progress = progress(&build.run);
    let work = || build::build(&build.site, &build.out, &options, build.dry_run, &progress);
    let built = parallel::with_threads(options.threads, work)?;
    clear_progress(&build.run);
    let built = built?;
    finish(built.report, built.staging, &effective, &build.run)
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

/// Serves until the process is ended.
fn run_serve(serve: &cli::Serve) -> anyhow::Result<ExitCode> {
    let wishes = serve::Wishes {
        port: serve.port,
        prefix: serve.site.prefix.clone(),
        max_age: serve.site.max_age,
    };
    let quiet = serve.quiet;
    let server = serve::Server::start_as(&serve.out, &wishes, move |served| {
        if !quiet {
            // Nobody reads the listing any more: the preview goes on.
            let _ = write_out(&format!("{served}\n"));
        }
    })?;
    let url = format!("{}{}", server.origin(), wishes.prefix);
    write_out(&format!("{url}\n"))?;
    if serve.open
        && let Err(error) = open::that_detached(&url)
    {
        eprintln!("note: no browser could be started: {error}: open {url}");
    }
    server.wait();
    Ok(ExitCode::SUCCESS)
}

fn run_server_config(config: &cli::ServerConfig) -> anyhow::Result<ExitCode> {
    let deployed = deployed::read(&config.out)?;
    let wishes = server_config::Wishes {
        prefix: config.site.prefix.clone(),
        host: config.host.clone(),
        listen: config.listen.clone(),
        root: config.root.clone(),
        max_age: config.site.max_age,
        codings: config.codings.clone(),
        version: config.server_version,
        htaccess: config.htaccess,
        upstream: config.upstream.clone(),
        folder: config.write.clone(),
    };
    let written = server_config::write(config.server, &deployed, &wishes)?;
    match (&config.write, written.as_slice()) {
        (Some(folder), _) => {
            for file in &written {
                disk::write_file(&folder.join(file.name), file.text.as_bytes())?;
            }
        }
        (None, [file]) => write_out(&file.text)?,
        (None, _) => anyhow::bail!(
            "{} needs {} files: name a folder for them with --write",
            config.server.name(),
            written.len()
        ),
    }
    for note in &deployed.notes {
        eprintln!("note: {note}");
    }
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
