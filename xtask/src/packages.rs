//! The browsers and servers that tasks need, brought by the system's package manager where that is allowed.
//!
//! What decides is whether the programs are there afterwards, not what the package manager says.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::browser;
use crate::servers::daemon;

/// A package manager and what it calls things.
struct Manager {
    program: &'static str,
    /// Refreshes its lists, if it does not do so by itself.
    update: Option<&'static [&'static str]>,
    install: &'static [&'static str],
    browsers: &'static [&'static str],
    /// Where the tests know the servers' places and modules.
    servers: &'static [&'static str],
    /// Homebrew refuses to run as root; the others need it.
    as_root: bool,
}

/// The first that is there counts.
const MANAGERS: [Manager; 6] = [
    Manager {
        program: "apt-get",
        update: Some(&["update", "-qq"]),
        install: &["install", "-y", "-qq", "--no-install-recommends"],
        browsers: &["chromium", "firefox-esr", "fonts-dejavu-core"],
        servers: &[
            "nginx",
            "libnginx-mod-http-brotli-static",
            "apache2",
            "caddy",
            "lighttpd",
            "lighttpd-modules-lua",
            "varnish",
            "nghttp2-client",
        ],
        as_root: true,
    },
    Manager {
        program: "dnf",
        update: None,
        install: &["install", "-y", "-q"],
        browsers: &["chromium", "firefox"],
        servers: &[],
        as_root: true,
    },
    Manager {
        program: "pacman",
        update: None,
        install: &["-Sy", "--noconfirm"],
        browsers: &["chromium", "firefox"],
        servers: &[],
        as_root: true,
    },
    Manager {
        program: "apk",
        update: None,
        install: &["add"],
        browsers: &["chromium", "firefox"],
        servers: &[],
        as_root: true,
    },
    Manager {
        program: "zypper",
        update: None,
        install: &["--non-interactive", "install"],
        browsers: &["chromium", "MozillaFirefox"],
        servers: &[],
        as_root: true,
    },
    Manager {
        program: "brew",
        update: None,
        install: &["install", "--cask"],
        browsers: &["chromium", "firefox"],
        servers: &[],
        as_root: false,
    },
];

/// What the servers need beside themselves, where Debian puts it.
const MODULES: [&str; 2] = [
    "/usr/lib/lighttpd/mod_magnet.so",
    "/usr/lib/nginx/modules/ngx_http_brotli_static_module.so",
];

/// Installs the browsers that are missing. Without Firefox the tests are said to be without it; without Chromium this
/// fails.
pub(crate) fn provide_browsers() -> anyhow::Result<()> {
    let firefox = || fewer::verify::find(Some("firefox")).map(|_| ());
    if browser::find().is_ok() && firefox().is_ok() {
        return Ok(());
    }
    let installed = install(|manager| manager.browsers);
    browser::find().with_context(|| why(&installed))?;
    if let Err(error) = firefox() {
        println!("== packages: without Firefox: {}: {error:#}", why(&installed));
    }
    Ok(())
}

/// Installs the servers that are missing; fails if one of them still is.
pub(crate) fn provide_servers() -> anyhow::Result<()> {
    let missing = || -> Vec<&str> {
        let programs = daemon::PROGRAMS.into_iter();
        let modules = MODULES.into_iter().filter(|module| !Path::new(module).is_file());
        programs
            .filter(|program| daemon::find(program).is_none())
            .chain(modules)
            .collect()
    };
    if missing().is_empty() {
        return Ok(());
    }
    let installed = install(|manager| manager.servers);
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    bail!(
        "no {} ({}): install the Debian packages {}",
        missing.join(", "),
        why(&installed),
        MANAGERS[0].servers.join(" ")
    )
}

fn why(installed: &anyhow::Result<&'static str>) -> String {
    match installed {
        Ok(program) => format!("{program} did not bring it"),
        Err(error) => format!("{error:#}"),
    }
}

/// Installs packages with the manager of this machine, whose name is returned.
fn install(packages: impl Fn(&Manager) -> &'static [&'static str]) -> anyhow::Result<&'static str> {
    let manager = MANAGERS
        .iter()
        .find(|manager| answers(manager.program, "--version"));
    let manager = manager.context("no package manager known here can bring it")?;
    let packages = packages(manager);
    if packages.is_empty() {
        bail!("how {} calls it is not known here", manager.program);
    }
    let sudo = manager.as_root && !is_root();
    if sudo && !succeeds(Command::new("sudo").args(["-n", "true"])) {
        bail!("it may not be installed here without a password");
    }
    let commands = manager
        .update
        .map(<[_]>::to_vec)
        .into_iter()
        .chain([[manager.install, packages].concat()]);
    for words in commands {
        let mut command = match sudo {
            true => Command::new("sudo"),
            false => Command::new(manager.program),
        };
        if sudo {
            command
                .args(["-n", "env"])
                .args(ENVIRONMENT.map(|(name, value)| format!("{name}={value}")));
            command.arg(manager.program);
        }
        command.args(&words).envs(ENVIRONMENT);
        println!("== packages: {} {}", manager.program, words.join(" "));
        if !command.status()?.success() {
            eprintln!("test: `{} {}` failed", manager.program, words.join(" "));
        }
    }
    Ok(manager.program)
}

/// Debian asks nothing, and starts no server as it is installed: a second one would find its port taken.
const ENVIRONMENT: [(&str, &str); 2] = [("DEBIAN_FRONTEND", "noninteractive"), ("RUNLEVEL", "1")];

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
