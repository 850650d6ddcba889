//! The browser of this machine: where it is, how it is started, and how it ends.
//!
//! A shell stands between: it kills the browser when its standard input closes, so that no browser outlives this
//! process, however this process ends. Browsers are started with an empty profile, without network beside the one
//! folder that they are to see, and without anything that moves by itself.

use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use tempfile::TempDir;

use crate::disk;

/// What a visitor's address bar shows in place of a port: both folders are the same site to their scripts, and a
/// secure context, as deployed sites are.
pub(super) const ORIGIN: &str = "http://site.localhost";

/// The two families, which speak different protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Chromium, Chrome, Edge: DevTools protocol.
    Chromium,
    /// Firefox: WebDriver BiDi.
    Firefox,
}

/// A browser that can be started.
#[derive(Debug, Clone)]
pub struct Program {
    pub family: Family,
    pub path: PathBuf,
    /// What it calls itself: `Chromium 140.0.7339.80`.
    pub version: String,
}

/// A started browser.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) port: u16,
    /// Path of the WebSocket.
    pub(super) socket: String,
    shell: Child,
    // Closing it ends the browser.
    stdin: Option<ChildStdin>,
    profile: TempDir,
}

/// Names under which systems install the browsers, and places outside `PATH`.
const CHROMIUM: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const FIREFOX: &[&str] = &[
    "firefox",
    "firefox-esr",
    "/Applications/Firefox.app/Contents/MacOS/firefox",
];

/// What to say when there is none.
const MISSING: &str = "install one: `apt-get install chromium` (Debian), `apt-get install firefox-esr`, `dnf install \
                       chromium` (Fedora), `brew install --cask chromium` (macOS), or name one with --browser PATH";

const CHROMIUM_FLAGS: &[&str] = &[
    "--headless",
    "--remote-debugging-port=0",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    // A window that nobody sees is still painted.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    // Animated images stay on their first frame, and none is painted half decoded.
    "--blink-settings=imageAnimationPolicy=2",
    "--disable-checker-imaging",
];

/// Preferences of a Firefox that does nothing but what it is told.
const FIREFOX_PREFERENCES: &str = r#"
user_pref("app.normandy.enabled", false);
user_pref("app.update.disabledForTesting", true);
user_pref("browser.chrome.favicons", false);
user_pref("browser.chrome.site_icons", false);
user_pref("browser.newtabpage.enabled", false);
user_pref("browser.safebrowsing.malware.enabled", false);
user_pref("browser.safebrowsing.phishing.enabled", false);
user_pref("browser.sessionstore.resume_from_crash", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.page", 0);
user_pref("browser.tabs.warnOnClose", false);
user_pref("browser.translations.enable", false);
user_pref("captivedetect.canonicalURL", "");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("dom.disable_open_during_load", false);
user_pref("dom.image-lazy-loading.enabled", true);
user_pref("extensions.enabledScopes", 0);
user_pref("extensions.systemAddon.update.enabled", false);
user_pref("image.animation_mode", "none");
user_pref("layout.css.visited_links_enabled", false);
user_pref("media.autoplay.default", 5);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("network.dns.disablePrefetch", true);
user_pref("network.prefetch-next", false);
user_pref("network.proxy.http", "127.0.0.1");
user_pref("network.proxy.http_port", 1);
user_pref("network.proxy.ssl", "127.0.0.1");
user_pref("network.proxy.ssl_port", 1);
user_pref("network.proxy.type", 1);
user_pref("remote.active-protocols", 1);
user_pref("services.settings.server", "data:,");
user_pref("toolkit.cosmeticAnimations.enabled", false);
user_pref("toolkit.telemetry.enabled", false);
user_pref("ui.caretBlinkTime", 0);
"#;

/// Runs a browser in the background until standard input closes, and removes its profile. Signals that a terminal sends
/// to all of its processes are left to the one that holds the other end. A browser that hangs is killed.
const KEEPER: &str = r#"
profile=$0
trap '' INT HUP
"$@" </dev/null >&2 &
browser=$!
( while kill -0 "$browser" 2>/dev/null; do sleep 0.2; done; echo "the browser has ended" >&2 ) &
cat >/dev/null
kill "$browser" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
    kill -0 "$browser" 2>/dev/null || break
    sleep 0.2
done
kill -9 "$browser" 2>/dev/null
rm -rf -- "$profile"
"#;

/// How long a browser may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// The browser that is meant: `chromium`, `firefox` or a path; the first that is there without a name.
pub fn find(wanted: Option<&str>) -> anyhow::Result<Program> {
    let found = match wanted {
        None => first(CHROMIUM)
            .or_else(|| first(FIREFOX))
            .with_context(|| format!("there is no browser: {MISSING}"))?,
        Some("chromium") => first(CHROMIUM).with_context(|| format!("there is no Chromium: {MISSING}"))?,
        Some("firefox") => first(FIREFOX).with_context(|| format!("there is no Firefox: {MISSING}"))?,
        Some(path) => {
            let found = first(&[path]);
            found.with_context(|| {
                format!("--browser {path}: expected chromium, firefox or the path of a browser")
            })?
        }
    };
    let output = Command::new(&found)
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", disk::shown(&found)))?;
    let version = String::from_utf8_lossy(&output.stdout);
    let version = version.lines().last().unwrap_or_default().trim().to_owned();
    let family = if version.contains("Firefox") {
        Family::Firefox
    } else if ["Chrom", "Edge", "Brave", "Opera", "Vivaldi"]
        .iter()
        .any(|name| version.contains(name))
    {
        Family::Chromium
    } else {
        bail!(
            "{} is neither Chromium nor Firefox (`--version` says {version:?}): {MISSING}",
            disk::shown(&found)
        );
    };
    Ok(Program {
        family,
        path: found,
        version,
    })
}

/// The first of the names that is a file: a path as it stands, a name in the folders of `PATH`.
fn first(names: &[&str]) -> Option<PathBuf> {
    let is_file = |path: &PathBuf| disk::stat(path).is_ok_and(|stat| stat.kind == disk::Kind::File);
    let path = std::env::var_os("PATH").unwrap_or_default();
    names.iter().find_map(|name| {
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(is_file);
        }
        std::env::split_paths(&path)
            .map(|folder| folder.join(name))
            .find(is_file)
    })
}

impl Running {
    /// Starts a browser to which `ORIGIN` is the server on a port of this machine, and no other host exists.
    pub(super) fn start(program: &Program, server: u16) -> anyhow::Result<Running> {
        match Running::attempt(program, server, false) {
            // Containers often have no name spaces for a sandbox.
            Err(error) if program.family == Family::Chromium && format!("{error:#}").contains("andbox") => {
                Running::attempt(program, server, true)
            }
            other => other,
        }
    }

    fn attempt(program: &Program, server: u16, unboxed: bool) -> anyhow::Result<Running> {
        let profile = tempfile::Builder::new().prefix("fewer-verify-").tempdir()?;
        let folder = profile.path();
        let mut arguments: Vec<String> = Vec::new();
        match program.family {
            Family::Chromium => {
                arguments.extend(CHROMIUM_FLAGS.iter().map(|flag| (*flag).to_owned()));
                arguments.push(format!("--user-data-dir={}", folder.display()));
                let host = ORIGIN.trim_start_matches("http://");
                arguments.push(format!(
                    "--host-resolver-rules=MAP {host}:80 127.0.0.1:{server}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
                ));
                // Chromium refuses its sandbox to root.
                if unboxed || disk::belongs_to_root(folder) {
                    arguments.push("--no-sandbox".into());
                }
                arguments.push("about:blank".into());
            }
            Family::Firefox => {
                let preferences = format!(
                    "{FIREFOX_PREFERENCES}user_pref(\"network.socket.forcePort\", \"80={server}\");\n"
                );
                disk::write_file(&folder.join("user.js"), preferences.as_bytes())?;
                let fixed = ["--headless", "--no-remote", "--remote-debugging-port", "0"];
                arguments.extend(fixed.map(str::to_owned));
                // Print media, colour schemes and forced colours are set where only the browser's own code may.
                arguments.push("--remote-allow-system-access".into());
                arguments.extend([
                    "--profile".into(),
                    folder.display().to_string(),
                    "about:blank".into(),
                ]);
            }
        }
        let log = tempfile::NamedTempFile::new_in(folder)?;
        let mut shell = Command::new("sh")
            .args(["-c", KEEPER])
            .arg(folder)
            .arg(&program.path)
            .args(&arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log.reopen()?)
            .spawn()
            .with_context(|| format!("cannot start {}", disk::shown(&program.path)))?;
        let stdin = shell.stdin.take();
        let mut running = Running {
            port: 0,
            socket: String::new(),
            shell,
            stdin,
            profile,
        };
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some((port, socket)) = running.address(program.family) {
                (running.port, running.socket) = (port, socket);
                return Ok(running);
            }
            let said = || {
                let log = disk::read(log.path()).unwrap_or_default();
                let log = String::from_utf8_lossy(&log);
                let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
                lines[lines.len().saturating_sub(5)..].join("\n")
            };
            ensure!(
                Instant::now() < deadline && !has_given_up(&said()),
                "{} does not start: {}",
                disk::shown(&program.path),
                said()
            );
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Where the browser listens, as soon as it has written that into its profile.
    fn address(&self, family: Family) -> Option<(u16, String)> {
        let read = |name: &str| {
            let bytes = disk::read(&self.profile.path().join(name)).ok()?;
            String::from_utf8(bytes).ok()
        };
        match family {
            Family::Chromium => {
                let text = read("DevToolsActivePort")?;
                let (port, socket) = text.split_once('\n')?;
                let socket = socket.trim();
                (socket.starts_with('/')).then_some((port.trim().parse().ok()?, socket.to_owned()))
            }
            Family::Firefox => {
                let text = read("WebDriverBiDiServer.json")?;
                let value: serde_json::Value = serde_json::from_str(&text).ok()?;
                let port = u16::try_from(value["ws_port"].as_u64()?).ok()?;
                Some((port, "/session".to_owned()))
            }
        }
    }
}

/// Last words of a browser that will not listen any more.
fn has_given_up(log: &str) -> bool {
    log.contains("the browser has ended")
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.shell.wait();
    }
}

/// The path of a program as it is shown to users.
impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = !self.version.is_empty();
        f.write_str(if known { &self.version } else { name(&self.path) })
    }
}

fn name(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("browser")
}
