//! The `fewer` command: parse, run, print, map the result to an exit status.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use fewer::cache::{self, Cache};
use fewer::cli::{self, Annotations, Color, Command, Destination, Effective, Run, Settings};
use fewer::options::Options;
use fewer::report::{self, Budgets, Format, Report};
use fewer::verify::{self, Outcome, Predicted, Wishes};
use fewer::{build, check, config, deployed, disk, explain, parallel, serve, server_config};

/// Scanning a site makes many small strings, and brotli asks for megabytes for each file: the system's allocator took a
/// fifth of the time (measured on a manual of 1,487 pages).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A budget failed, a diagnostic is denied, or OUT is not what SITE was.
const OVER_BUDGET: u8 = 1;
/// Broken limits that are printed, unless all are asked for.
const VIOLATIONS: usize = 20;
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
        Command::Check(check) => run_check(check),
        Command::Explain(explain) => run_explain(explain),
        Command::Serve(serve) => run_serve(serve),
        Command::ServerConfig(config) => run_server_config(config),
        Command::Verify(verify) => run_verify(verify),
        Command::Config(config) => {
            let (file, _) = config::find(config.config.as_deref(), None)?;
            let effective = Effective::new(&config.settings, file)?;
            // What would be refused is said here too.
            effective.settings.options()?;
            effective.settings.levels()?;
            effective.budgets()?;
            write_out(effective.print()?.as_bytes())?;
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
    check_reports(&effective, &[("SITE", &build.site), ("OUT", &build.out)])?;
    check_policy_path(&effective, &[("SITE", &build.site), ("OUT", &build.out)])?;
    effective.settings.levels()?;
    let mut options = effective.settings.options()?;
    options.force = build.force;
    options.cache = open_cache(build, &effective)?;
    let budgets = budgets(&effective, &options, &build.run)?;
    // A browser that is missing is said before the work.
    let mut wishes = None;
    if build.verify {
        let path = build.verify_report.as_deref();
        check_verify_report(path, &build.site, &build.out)?;
        let others = effective.settings.report.iter().flatten();
        let apart = path.is_none_or(|path| others.map(|to| &*to.path).all(|other| other != path));
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
    if let (Some(path), Some(policy)) = (&effective.settings.write_policy, &built.policy) {
        disk::write_file(path, policy.as_bytes())?;
    }
    if let Some(outcome) = &outcome {
        write_verify_report(build.verify_report.as_deref(), outcome)?;
        if !outcome.is_same() {
            // OUT stays as it was.
            built.staging = None;
        }
    }
    let finished = finish(
        built.report,
        built.staging,
        budgets,
        &effective,
        &build.run,
        &build.site,
    )?;
    match outcome {
        Some(outcome) if outcome.is_same() => {
            show_outcome(&outcome, &build.run)?;
            Ok(finished)
        }
        Some(outcome) => show_outcome(&outcome, &build.run),
        None => Ok(finished),
    }
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
        write_out(verify::summary(outcome).as_bytes())?;
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
    check_reports(&effective, &[("SITE", &report.site)])?;
    effective.settings.levels()?;
    let options = effective.settings.options()?;
    let budgets = budgets(&effective, &options, &report.run)?;
    let progress = progress(&report.run);
    let work = || build::report(&report.site, &options, &progress);
    let measured = parallel::with_threads(options.threads, work)?;
    clear_progress(&report.run);
    finish(measured?, None, budgets, &effective, &report.run, &report.site)
}

fn run_check(check: &cli::Check) -> anyhow::Result<ExitCode> {
    let Some(site) = check.site.as_ref().filter(|_| !check.list) else {
        write_out(report::list_codes(80).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let effective = effective(&check.settings, &check.run, site)?;
    check_reports(&effective, &[("SITE", site)])?;
    effective.settings.levels()?;
    let options = effective.settings.options()?;
    let progress = progress(&check.run);
    let work = || check::check(site, &options, &progress);
    let checked = parallel::with_threads(options.threads, work)?;
    clear_progress(&check.run);
    finish(checked?, None, Budgets::default(), &effective, &check.run, site)
}

fn run_explain(explain: &cli::Explain) -> anyhow::Result<ExitCode> {
    let effective = effective(&explain.settings, &explain.run, &explain.site)?;
    let options = effective.settings.options()?;
    let progress = progress(&explain.run);
    let work = || explain::explain(&explain.site, &options, &explain.path, &progress);
    let text = parallel::with_threads(options.threads, work)?;
    clear_progress(&explain.run);
    write_out(text?.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// A dry run writes nothing, so it uses none that outlives it.
fn open_cache(build: &cli::Build, effective: &Effective) -> anyhow::Result<Cache> {
    let settings = &effective.settings;
    if settings.no_cache == Some(true) || build.dry_run {
        return Ok(Cache::of_one_build());
    }
    let limit = settings.cache_limit.map_or(cache::LIMIT_MB, cli::Number::get) << 20;
    let apart = [("SITE", build.site.as_path()), ("OUT", build.out.as_path())];
    match &settings.cache {
        Some(folder) => Cache::open(folder, limit, &effective.name("cache"), &apart),
        // Nobody asked for it: where it cannot be, the build goes on without.
        None => Ok(cache::user_folder(|name| std::env::var_os(name))
            .and_then(|folder| Cache::open(&folder, limit, "cache", &apart).ok())
            .unwrap_or_else(Cache::of_one_build)),
    }
}

/// Serves until the process is ended.
fn run_serve(serve: &cli::Serve) -> anyhow::Result<ExitCode> {
    let wishes = serve::Wishes {
        port: serve.port,
        prefix: serve.site.prefix.clone(),
        max_age: serve.site.max_age,
        variants: true,
    };
    let quiet = serve.quiet;
    let server = serve::Server::start_as(&serve.out, &wishes, move |served| {
        if !quiet {
            // Nobody reads the listing any more: the preview goes on.
            let _ = write_out(format!("{served}\n").as_bytes());
        }
    })?;
    let url = format!("{}{}", server.origin(), wishes.prefix);
    write_out(format!("{url}\n").as_bytes())?;
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
        (None, [file]) => write_out(file.text.as_bytes())?,
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

/// The limits, read before anything is built.
fn budgets(effective: &Effective, options: &Options, run: &Run) -> anyhow::Result<Budgets> {
    let (budgets, notes) = effective.budgets()?;
    for note in notes.iter().filter(|_| !run.quiet) {
        eprintln!("note: {note}");
    }
    if let Some(allowance) = &budgets.baseline {
        allowance
            .baseline
            .ensure_comparable(&build::measured(options))
            .with_context(|| effective.name("baseline"))?;
    }
    Ok(budgets)
}

/// Writes what is asked for; OUT appears only if the budget holds.
fn finish(
    mut report: Report,
    staging: Option<disk::Staging>,
    budgets: Budgets,
    effective: &Effective,
    run: &Run,
    site: &Path,
) -> anyhow::Result<ExitCode> {
    let settings = &effective.settings;
    let denied = settings.levels()?.apply(&mut report);
    if let Some(pages) = settings.journey.as_ref().filter(|_| !report.is_check) {
        report.journey = Some(report::walk(&report, pages)?);
    }
    report.judge(&budgets);
    let site = site.to_string_lossy();
    for destination in settings.report.iter().flatten() {
        let format = destination.format.unwrap_or(Format::Json);
        if destination.is_stdout() {
            let mut text = Vec::new();
            report::write(&report, format, &site, &mut text)?;
            write_out(&text)?;
        } else {
            let path = &destination.path;
            disk::write_file_by(path, |out| report::write(&report, format, &site, out))?;
        }
    }
    let failed = !report.verdict.violations.is_empty() || !denied.is_empty();
    if !failed && let Some(staging) = staging {
        staging.commit()?;
    }
    print(&report, settings, run)?;
    if settings.annotations == Some(Annotations::Github) {
        std::io::stderr().write_all(report::github(&report, &site).as_bytes())?;
    }
    let shown = match settings.verbose {
        Some(true) => usize::MAX,
        _ => VIOLATIONS,
    };
    let violations = &report.verdict.violations;
    for violation in violations.iter().take(shown) {
        eprintln!("error: {violation}");
    }
    if violations.len() > shown {
        eprintln!("error: {} more broken limits", violations.len() - shown);
    }
    for denied in &denied {
        eprintln!("error: {denied}");
    }
    Ok(if failed {
        ExitCode::from(OVER_BUDGET)
    } else {
        ExitCode::SUCCESS
    })
}

/// SITE is never written, and what stands in OUT is the site alone.
fn check_reports(effective: &Effective, folders: &[(&str, &PathBuf)]) -> anyhow::Result<()> {
    let name = effective.name("report");
    let mut paths: Vec<&Path> = Vec::new();
    for destination in effective.settings.report.iter().flatten() {
        let path = destination.path.as_path();
        let is_device =
            disk::stat(path).is_ok_and(|stat| !matches!(stat.kind, disk::Kind::File | disk::Kind::Folder));
        anyhow::ensure!(
            destination.format.is_some() || is_device || destination.is_stdout(),
            "{name} {}: {}",
            path.display(),
            destination.hint()
        );
        anyhow::ensure!(
            !paths.contains(&path),
            "{name} {} is there twice: give each report a place of its own",
            path.display()
        );
        paths.push(path);
        if destination.is_stdout() {
            continue;
        }
        for (folder_name, folder) in folders {
            let inside = disk::is_inside(path, folder)?;
            anyhow::ensure!(
                !inside,
                "{name} {} lies inside {folder_name}: choose a place outside",
                path.display()
            );
        }
    }
    Ok(())
}

/// The same for the file of the policy, which has no ending that everybody knows.
fn check_policy_path(effective: &Effective, folders: &[(&str, &PathBuf)]) -> anyhow::Result<()> {
    let Some(path) = &effective.settings.write_policy else {
        return Ok(());
    };
    let name = effective.name("write-policy");
    let is_folder = disk::stat(path).is_ok_and(|stat| stat.kind == disk::Kind::Folder);
    anyhow::ensure!(!is_folder, "{name} {}: a folder; name a file", path.display());
    for (folder_name, folder) in folders {
        anyhow::ensure!(
            !disk::is_inside(path, folder)?,
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
    let (all, color) = (
        settings.verbose == Some(true),
        wants(std::io::stderr().is_terminal()),
    );
    let width = 80;
    let text = |is_terminal: bool| {
        let color = wants(is_terminal);
        match report.is_check {
            // A check counts nothing, its findings are all it has to say.
            true => report::findings(report, color),
            false => report::summary(report, width, color) + &report::tables(report, width, color),
        }
    };
    let diagnostics = match report.is_check {
        true => report::findings_text(&report.diagnostics, all, color),
        false => report::diagnostics_text(&report.diagnostics, all, color),
    };
    std::io::stderr().write_all(diagnostics.as_bytes())?;
    if settings.report.iter().flatten().any(Destination::is_stdout) {
        // Standard output is taken.
        std::io::stderr().write_all(text(std::io::stderr().is_terminal()).as_bytes())?;
        return Ok(());
    }
    write_out(text(std::io::stdout().is_terminal()).as_bytes())
}

fn write_out(bytes: &[u8]) -> anyhow::Result<()> {
    match std::io::stdout().write_all(bytes) {
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
