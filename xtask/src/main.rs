//! `cargo xtask NAME`: everything that is done to this repository beside building it.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a tool for developers, not part of `fewer`"
)]

mod accuracy;
mod bench;
mod browser;
mod css_bench;
mod e2e;
mod expected;
mod gen_site;
mod load;
mod packages;
mod report;
mod servers;
mod test;
mod verify;
mod visit;

use std::process::ExitCode;

type Task = fn(&[String]) -> anyhow::Result<()>;

/// Name, purpose, function.
const TASKS: &[(&str, &str, Task)] = &[
    (
        "test",
        "everything that CI runs: format, lints, tests, documentation, e2e",
        test::run,
    ),
    (
        "e2e",
        "compare every fixture before and after a build in real Chromium; `--sites DIR...`: predicted and real requests",
        e2e::run,
    ),
    (
        "report",
        "work with the HTML report in real Chromium; --pictures DIR takes some",
        report::run,
    ),
    (
        "servers",
        "ask real servers with the configurations that fewer writes",
        servers::run,
    ),
    (
        "load",
        "what the blog costs nginx and Varnish before and after a build",
        load::run,
    ),
    (
        "verify",
        "plant faults and check that `fewer verify` finds each of them",
        verify::run,
    ),
    (
        "bench",
        "what builds cost against others; `bench sizes`, `bench scale`, `bench css`",
        bench::run,
    ),
    (
        "gen",
        "make a site of any size: `gen --pages N --out DIR`",
        gen_site::run,
    ),
    (
        "css-print",
        "print the stylesheet on standard input as a build would",
        |_| css_bench::print(),
    ),
    ("help", "list the tasks", help),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().map_or("help", String::as_str);
    let Some((_, _, task)) = TASKS.iter().find(|(known, _, _)| *known == name) else {
        eprintln!("no task {name}; `cargo xtask help` lists them");
        return ExitCode::from(2);
    };
    match task(args.get(1..).unwrap_or_default()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn help(_args: &[String]) -> anyhow::Result<()> {
    for (name, purpose, _) in TASKS {
        println!("cargo xtask {name:<9} {purpose}");
    }
    Ok(())
}
