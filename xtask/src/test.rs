//! `cargo xtask test`: exactly what CI runs. Installs browsers and servers when it may; a missing one is a failure.

use std::path::Path;
use std::process::Command;

use anyhow::bail;

use crate::{Task, e2e, packages, report, servers, verify};

/// Names and arguments of the steps that cargo does.
const STEPS: &[(&str, &[&str])] = &[
    ("format", &["fmt", "--all", "--check"]),
    (
        "lints",
        &[
            "clippy",
            "--quiet",
            "--workspace",
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ],
    ),
    ("tests", &["test", "--workspace"]),
    (
        "documentation",
        &[
            "doc",
            "--quiet",
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ],
    ),
];

/// Tasks of this crate that run after them.
const TASKS: &[(&str, Task)] = &[
    ("e2e", e2e::run),
    ("report", report::run),
    ("servers", servers::run),
    ("verify", verify::run),
];

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if let Some(arg) = args.first() {
        bail!("takes no arguments, got {arg}");
    }
    // First, so that what takes long is not followed by a refusal.
    let mut failed = Vec::new();
    for provide in [packages::provide_browsers, packages::provide_servers] {
        if let Err(error) = provide() {
            eprintln!("test: {error:#}");
            failed.push("packages");
        }
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for &(name, step) in STEPS {
        println!("== {name}: cargo {}", step.join(" "));
        let mut command = Command::new(&cargo);
        command
            .args(step)
            .current_dir(root())
            .env("RUSTDOCFLAGS", "--deny warnings")
            .env("INSTA_UPDATE", "no");
        if !command.status()?.success() {
            failed.push(name);
        }
    }
    for (name, task) in TASKS {
        println!("== {name}: cargo xtask {name}");
        if let Err(error) = task(&[]) {
            eprintln!("{name}: {error:#}");
            failed.push(name);
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// The folder of the workspace, whatever folder the task was started in.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or_else(|| Path::new("."))
}
