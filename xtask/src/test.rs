//! `cargo xtask test`: exactly what CI runs. Installs Chromium when it may; a missing browser is a failure.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::bail;

use crate::{browser, e2e, report, servers};

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

/// Package managers with the commands that install Chromium, the first that is there counts.
const INSTALLERS: &[(&str, &[&[&str]])] = &[
    (
        "apt-get",
        &[
            &["apt-get", "update", "-qq"],
            &[
                "apt-get",
                "install",
                "-y",
                "-qq",
                "--no-install-recommends",
                "chromium",
                "fonts-dejavu-core",
            ],
        ],
    ),
    ("dnf", &[&["dnf", "install", "-y", "-q", "chromium"]]),
    ("pacman", &[&["pacman", "-Sy", "--noconfirm", "chromium"]]),
    ("apk", &[&["apk", "add", "chromium"]]),
    (
        "zypper",
        &[&["zypper", "--non-interactive", "install", "chromium"]],
    ),
    ("brew", &[&["brew", "install", "--cask", "chromium"]]),
];

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if let Some(arg) = args.first() {
        bail!("takes no arguments, got {arg}");
    }
    // First, so that half an hour of compiling is not followed by a refusal.
    let mut failed = Vec::new();
    if let Err(error) = provide_browser() {
        eprintln!("test: {error:#}");
        failed.push("browser");
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
    println!("== e2e: cargo xtask e2e");
    if let Err(error) = e2e::run(&[]) {
        eprintln!("e2e: {error:#}");
        failed.push("e2e");
    }
    println!("== report: cargo xtask report");
    if let Err(error) = report::run(&[]) {
        eprintln!("report: {error:#}");
        failed.push("report");
    }
    println!("== servers: cargo xtask servers");
    if let Err(error) = servers::run(&[]) {
        eprintln!("servers: {error:#}");
        failed.push("servers");
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

/// Installs Chromium if there is none and the machine allows it.
fn provide_browser() -> anyhow::Result<()> {
    if browser::find().is_some() {
        return Ok(());
    }
    let Some((manager, commands)) = INSTALLERS.iter().find(|(name, _)| answers(name, "--version")) else {
        bail!(
            "{}, and no package manager known here can bring it",
            browser::MISSING
        );
    };
    // Homebrew refuses to run as root; the others need it.
    let sudo = match *manager {
        "brew" => false,
        _ if is_root() => false,
        _ if succeeds(Command::new("sudo").args(["-n", "true"])) => true,
        _ => bail!(
            "{}; it may not be installed here without a password",
            browser::MISSING
        ),
    };
    for words in *commands {
        println!("== browser: {}", words.join(" "));
        let words = if sudo {
            [&["sudo", "-n"], *words].concat()
        } else {
            words.to_vec()
        };
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env("DEBIAN_FRONTEND", "noninteractive");
        // A failed update of the lists does not decide; what matters is whether the browser is there.
        if !command.status()?.success() {
            eprintln!("test: `{}` failed", words.join(" "));
        }
    }
    match browser::find() {
        Some(_) => Ok(()),
        None => bail!("{}; {manager} did not bring it", browser::MISSING),
    }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn answers(program: &str, arg: &str) -> bool {
    succeeds(Command::new(program).arg(arg))
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
