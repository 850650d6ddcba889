//! `cargo xtask test`: exactly what CI runs. Installs Chromium when it may; a missing browser is a failure.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::bail;

use crate::{browser, e2e, report, servers, verify};

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

/// Package managers with the commands that install Chromium and Firefox, the first that is there counts.
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
                "firefox-esr",
                "fonts-dejavu-core",
            ],
        ],
    ),
    ("dnf", &[&["dnf", "install", "-y", "-q", "chromium", "firefox"]]),
    (
        "pacman",
        &[&["pacman", "-Sy", "--noconfirm", "chromium", "firefox"]],
    ),
    ("apk", &[&["apk", "add", "chromium", "firefox"]]),
    (
        "zypper",
        &[&[
            "zypper",
            "--non-interactive",
            "install",
            "chromium",
            "MozillaFirefox",
        ]],
    ),
    ("brew", &[&["brew", "install", "--cask", "chromium", "firefox"]]),
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
    println!("== verify: cargo xtask verify");
    if let Err(error) = verify::run(&[]) {
        eprintln!("verify: {error:#}");
        failed.push("verify");
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

/// Installs the browsers that are missing if the machine allows it. Without Firefox the tests are said to be without
/// it; without Chromium they fail.
fn provide_browser() -> anyhow::Result<()> {
    if browser::find().is_some() && fewer::verify::find(Some("firefox")).is_ok() {
        return Ok(());
    }
    install().or_else(|error| match browser::find() {
        Some(_) => {
            println!("== browser: without Firefox: {error:#}");
            Ok(())
        }
        None => Err(error),
    })
}

fn install() -> anyhow::Result<()> {
    let missing = match browser::find() {
        Some(_) => "no Firefox found: install it (`apt-get install firefox-esr`)",
        None => browser::MISSING,
    };
    let Some((manager, commands)) = INSTALLERS.iter().find(|(name, _)| answers(name, "--version")) else {
        bail!("{missing}, and no package manager known here can bring it");
    };
    // Homebrew refuses to run as root; the others need it.
    let sudo = match *manager {
        "brew" => false,
        _ if is_root() => false,
        _ if succeeds(Command::new("sudo").args(["-n", "true"])) => true,
        _ => bail!("{missing}; it may not be installed here without a password"),
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
        None => bail!("{missing}; {manager} did not bring it"),
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
