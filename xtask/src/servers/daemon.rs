//! One server on a free port of 127.0.0.1, with the configuration that `fewer` writes; ended when it is dropped.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tempfile::TempDir;

/// Everything that can be started.
pub(crate) const KINDS: [&str; 7] = [
    "serve", "nginx", "apache", "htaccess", "caddy", "lighttpd", "varnish",
];

/// nginx for those who begin with HTTP/2 and nothing else (RFC 9113, section 3.3): on one port 1.22 speaks either.
pub(crate) const H2: &str = "nginx-h2";

/// What must be there for it.
pub(crate) const PROGRAMS: [&str; 6] = ["nginx", "apache2", "caddy", "lighttpd", "varnishd", "varnishtest"];

#[derive(Debug)]
pub(crate) struct Daemon {
    pub(crate) origin: String,
    /// Where the site stands on it.
    pub(crate) prefix: String,
    children: Vec<Child>,
    log: PathBuf,
}

/// A folder that servers can read which give up their rights.
pub(crate) fn folder() -> anyhow::Result<TempDir> {
    let folder = tempfile::Builder::new()
        .prefix("fewer it's a \u{e9} ")
        .tempdir()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}

/// A program in `PATH`, or where Debian has those that only root needs.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

pub(super) fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Runs a command that must succeed, and says what it said if it does not.
fn check(command: &mut Command) -> anyhow::Result<()> {
    let output = command
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!(
            "{command:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

impl Daemon {
    /// Writes the configuration, lets the server check it, starts the server and waits until it answers.
    pub(crate) fn start(
        fewer: &Path,
        kind: &str,
        out: &Path,
        prefix: &str,
        work: &Path,
    ) -> anyhow::Result<Daemon> {
        let port = free_port()?;
        let folder = work.join(kind);
        fs::create_dir_all(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777))?;
        let log = folder.join("log");
        if kind == "serve" {
            let mut command = Command::new(fewer);
            command
                .arg("serve")
                .arg(out)
                .args(["--port", &port.to_string(), "--prefix", prefix]);
            return Daemon::run(vec![command], port, prefix, log);
        }
        if kind == "varnish" {
            let upstream = Daemon::start(fewer, "nginx", out, prefix, work)?;
            let behind = upstream.origin.replace("http://", "");
            write(
                fewer,
                kind,
                out,
                &folder,
                &["--prefix", prefix, "--upstream", &behind],
            )?;
            let vcl = folder.join("default.vcl");
            // The folder's name has spaces, which varnishd's own compiler does not take.
            let state = tempfile::tempdir()?.keep();
            fs::set_permissions(&state, fs::Permissions::from_mode(0o755))?;
            let mut command = Command::new(find("varnishd").context("no varnishd")?);
            command
                .args([
                    "-F",
                    "-j",
                    "none",
                    "-s",
                    "malloc,64m",
                    "-a",
                    &format!("127.0.0.1:{port}"),
                    "-f",
                ])
                .arg(&vcl)
                .arg("-n")
                .arg(&state);
            let mut daemon = Daemon::run(vec![command], port, prefix, log)?;
            daemon.adopt(upstream);
            return Ok(daemon);
        }
        let listen = format!("127.0.0.1:{port}");
        let server = match kind {
            "htaccess" => "apache",
            H2 => "nginx",
            kind => kind,
        };
        let mut options = vec!["--prefix", prefix, "--listen", &listen];
        if kind == "htaccess" {
            options.push("--htaccess");
        }
        write(fewer, server, out, &folder, &options)?;
        let name = |name: &str| folder.join(name);
        let command = match kind {
            "nginx" | H2 => {
                if kind == H2 {
                    let text = fs::read_to_string(name("nginx.conf"))?;
                    let plain = format!("listen {listen};");
                    fs::write(
                        name("nginx.conf"),
                        text.replace(&plain, &format!("listen {listen} http2;")),
                    )?;
                }
                let main = format!(
                    "include /etc/nginx/modules-enabled/*.conf;\ndaemon off;\nmaster_process off;\npid \"{0}/pid\";\nerror_log stderr;\nevents {{ worker_connections 512; }}\nhttp {{\n    access_log off;\n    client_body_temp_path \"{0}/body\";\n    include \"{0}/nginx.conf\";\n}}\n",
                    folder.display()
                );
                fs::write(name("main.conf"), main)?;
                let program = find("nginx").context("no nginx")?;
                check(
                    Command::new(&program)
                        .args(["-q", "-t", "-c"])
                        .arg(name("main.conf")),
                )?;
                let mut command = Command::new(program);
                command.arg("-c").arg(name("main.conf"));
                command
            }
            "apache" | "htaccess" => {
                let mut main = String::new();
                for module in [
                    "mpm_event",
                    "authz_core",
                    "mime",
                    "dir",
                    "alias",
                    "rewrite",
                    "headers",
                    "deflate",
                    "filter",
                    "setenvif",
                    "negotiation",
                ] {
                    main.push_str(&format!(
                        "LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so\n"
                    ));
                }
                main.push_str(&format!(
                    "ServerRoot \"{0}\"\nServerName localhost\nPidFile \"{0}/pid\"\nDefaultRuntimeDir \"{0}\"\nErrorLog \"{0}/error\"\nUser nobody\nGroup nogroup\nTypesConfig /etc/mime.types\n<Directory />\nRequire all denied\n</Directory>\n",
                    folder.display()
                ));
                if kind == "apache" {
                    main.push_str(&format!("Include \"{}/apache.conf\"\n", folder.display()));
                } else {
                    fs::rename(name(".htaccess"), out.join(".htaccess"))?;
                    let mount = prefix.trim_end_matches('/');
                    let root = match mount {
                        "" => out.to_path_buf(),
                        _ => {
                            let below = folder.join("root");
                            let parent = below.join(mount.trim_start_matches('/'));
                            fs::create_dir_all(parent.parent().unwrap_or(&below))?;
                            // Of another site that was served from this folder.
                            let _ = fs::remove_file(&parent);
                            std::os::unix::fs::symlink(out, &parent)?;
                            below
                        }
                    };
                    main.push_str(&format!(
                        "Listen {listen}\nDocumentRoot \"{0}\"\n<Directory \"{0}\">\nOptions FollowSymLinks\nAllowOverride FileInfo Indexes Options=FollowSymLinks\nRequire all granted\n</Directory>\n<Directory \"{1}\">\nAllowOverride FileInfo Indexes Options=FollowSymLinks\nRequire all granted\n</Directory>\n",
                        root.display(),
                        out.display()
                    ));
                }
                fs::write(name("main.conf"), main)?;
                let program = find("apache2").context("no apache2")?;
                check(Command::new(&program).arg("-t").arg("-f").arg(name("main.conf")))?;
                let mut command = Command::new(program);
                command.args(["-DFOREGROUND", "-f"]).arg(name("main.conf"));
                command
            }
            "caddy" => {
                let text = fs::read_to_string(name("Caddyfile"))?;
                fs::write(
                    name("Caddyfile"),
                    format!("{{\n\tadmin off\n\tauto_https off\n}}\n{text}"),
                )?;
                let program = find("caddy").context("no caddy")?;
                let with = ["--adapter", "caddyfile", "--config"];
                check(
                    Command::new(&program)
                        .arg("validate")
                        .args(with)
                        .arg(name("Caddyfile"))
                        .env("HOME", &folder),
                )?;
                let mut command = Command::new(program);
                command
                    .arg("run")
                    .args(with)
                    .arg(name("Caddyfile"))
                    .env("HOME", &folder);
                command
            }
            _ => {
                let program = find("lighttpd").context("no lighttpd")?;
                check(
                    Command::new(&program)
                        .arg("-tt")
                        .arg("-f")
                        .arg(name("lighttpd.conf")),
                )?;
                let mut command = Command::new(program);
                command.arg("-D").arg("-f").arg(name("lighttpd.conf"));
                command
            }
        };
        Daemon::run(vec![command], port, prefix, log)
    }

    fn run(commands: Vec<Command>, port: u16, prefix: &str, log: PathBuf) -> anyhow::Result<Daemon> {
        let mut daemon = Daemon {
            origin: format!("http://127.0.0.1:{port}"),
            prefix: prefix.to_string(),
            children: Vec::new(),
            log,
        };
        for mut command in commands {
            let file = fs::File::create(&daemon.log)?;
            command
                .stdin(Stdio::null())
                .stdout(file.try_clone()?)
                .stderr(file);
            let child = command
                .spawn()
                .with_context(|| format!("cannot start {command:?}"))?;
            daemon.children.push(child);
        }
        let deadline = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            let ended = daemon
                .children
                .iter_mut()
                .any(|child| !matches!(child.try_wait(), Ok(None)));
            if ended || Instant::now() > deadline {
                bail!("the server does not start: {}", daemon.log());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(daemon)
    }

    /// Takes over what the other one runs.
    fn adopt(&mut self, mut other: Daemon) {
        self.children.append(&mut other.children);
    }

    /// Process ids.
    pub(crate) fn processes(&self) -> Vec<u32> {
        self.children.iter().map(Child::id).collect()
    }

    /// The end of what the server wrote.
    pub(crate) fn log(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().rev().take(8).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        for child in &mut self.children {
            // By the signal that lets a server end its own children.
            let _ = Command::new("kill").arg(child.id().to_string()).status();
            let deadline = Instant::now() + Duration::from_secs(5);
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(20));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Lets `fewer` write the configuration of a server.
pub(super) fn write(
    fewer: &Path,
    server: &str,
    out: &Path,
    folder: &Path,
    options: &[&str],
) -> anyhow::Result<()> {
    check(
        Command::new(fewer)
            .args(["server-config", server])
            .arg(out)
            .arg("--write")
            .arg(folder)
            .args(options),
    )
}
