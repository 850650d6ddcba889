//! Configurations for real servers, written for OUT as it is: the codings that lie there, the names that are immutable,
//! the charsets that change nothing, the headers that SITE asked for.
//!
//! In: what `deployed` found, and where the site will stand. Out: the text of one or two files. A name or value from OUT
//! enters a configuration only as an escaped pattern or a checked value, so that none can end a line or a string.

use std::path::PathBuf;

use anyhow::ensure;

use crate::deployed::rules::{Dialect, escape};
use crate::deployed::{Coded, Deployed, FOR_EVER, IMMUTABLE_PATTERN, MAX_AGE, media_type};

mod apache;
mod caddy;
mod headers;
mod lighttpd;
mod links;
mod nginx;
mod varnish;

/// What a configuration is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    Nginx,
    Apache,
    Caddy,
    Lighttpd,
    /// A cache in front of another server.
    Varnish,
    /// The `_headers` file of static hosts.
    Headers,
}

impl Server {
    pub const ALL: [Server; 6] = [
        Server::Nginx,
        Server::Apache,
        Server::Caddy,
        Server::Lighttpd,
        Server::Varnish,
        Server::Headers,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Server::Nginx => "nginx",
            Server::Apache => "apache",
            Server::Caddy => "caddy",
            Server::Lighttpd => "lighttpd",
            Server::Varnish => "varnish",
            Server::Headers => "headers",
        }
    }

    /// Codings that a usual installation sends from files. nginx needs a module for zstd that Debian does not have.
    fn usual(self, coding: Coded) -> bool {
        !(self == Server::Nginx && coding == Coded::Zstd)
    }
}

/// Where and how the site will be served.
#[derive(Debug, Clone)]
pub struct Wishes {
    /// The URL path that the site is mounted at; begins and ends with `/`.
    pub prefix: String,
    /// The name that the server answers to; every one if there is none.
    pub host: Option<String>,
    /// `80`, `127.0.0.1:8080`.
    pub listen: Option<String>,
    /// Where OUT stands on the server; where it stands here if it is not said.
    pub root: Option<PathBuf>,
    /// Seconds that plain files are fresh.
    pub max_age: u32,
    /// Codings that the server can send; the usual ones of OUT if it is not said.
    pub codings: Option<Vec<Coded>>,
    /// Major and minor version of the server.
    pub version: Option<(u32, u32)>,
    /// For Apache: a `.htaccess` in place of a virtual host.
    pub htaccess: bool,
    /// For Varnish: host and port of the server behind it.
    pub upstream: String,
    /// Where the files of the configuration will stand, for those that name each other.
    pub folder: Option<PathBuf>,
}

impl Default for Wishes {
    fn default() -> Wishes {
        Wishes {
            prefix: "/".to_string(),
            host: None,
            listen: None,
            root: None,
            max_age: MAX_AGE,
            codings: None,
            version: None,
            htaccess: false,
            upstream: "127.0.0.1:8080".to_string(),
            folder: None,
        }
    }
}

/// One file of a configuration.
#[derive(Debug, Clone)]
pub struct Written {
    /// What it is usually called.
    pub name: &'static str,
    pub text: String,
}

/// Writes the configuration; the first file is the main one.
///
/// Fails if a wish cannot be written down for the server.
pub fn write(server: Server, deployed: &Deployed, wishes: &Wishes) -> anyhow::Result<Vec<Written>> {
    let context = Context::new(server, deployed, wishes)?;
    match server {
        Server::Nginx => Ok(nginx::write(&context)),
        Server::Apache => Ok(apache::write(&context)),
        Server::Caddy => Ok(caddy::write(&context)),
        Server::Lighttpd => Ok(lighttpd::write(&context)),
        Server::Varnish => Ok(varnish::write(&context)),
        Server::Headers => headers::write(&context),
    }
}

/// Everything that a configuration is made of, checked.
#[derive(Debug)]
struct Context<'a> {
    deployed: &'a Deployed,
    wishes: &'a Wishes,
    /// Where OUT stands on the server: safe in quotes of every syntax.
    root: String,
    /// In the order of preference.
    codings: Vec<Coded>,
    /// Eight hex digits that tell this site's names from another's in one server.
    id: String,
    address: Option<String>,
    port: Option<u16>,
    /// Where the files of the configuration stand.
    folder: String,
}

impl<'a> Context<'a> {
    fn new(server: Server, deployed: &'a Deployed, wishes: &'a Wishes) -> anyhow::Result<Context<'a>> {
        let root = wishes.root.as_deref().unwrap_or(&deployed.root);
        let shown = crate::disk::shown(root);
        let root = root.to_str().unwrap_or("\n");
        ensure!(
            is_plain(root),
            "{shown} has characters that mean something in configurations: say with --root where OUT will stand"
        );
        ensure!(root.starts_with('/'), "--root {shown}: expected an absolute path");
        let root = root.trim_end_matches('/').to_string();
        ensure!(
            !root.is_empty(),
            "--root {shown}: the root of the file system is no site"
        );
        let plain_host = |host: &str| {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b))
        };
        if let Some(host) = &wishes.host {
            ensure!(
                plain_host(host),
                "--host {host:?}: expected a name such as www.example.org"
            );
        }
        let (address, port) = match &wishes.listen {
            None => (None, None),
            Some(listen) => {
                let (address, port) = match listen.rsplit_once(':') {
                    Some((address, port)) => (Some(address.to_string()), port),
                    None => (None, listen.as_str()),
                };
                let port = port.parse::<u16>().ok().filter(|port| *port > 0);
                ensure!(
                    port.is_some() && address.as_deref().is_none_or(plain_host),
                    "--listen {listen:?}: expected a port or ADDRESS:PORT"
                );
                (address, port)
            }
        };
        let upstream = wishes.upstream.rsplit_once(':');
        ensure!(
            upstream.is_some_and(|(host, port)| plain_host(host) && port.parse::<u16>().is_ok()),
            "--upstream {:?}: expected HOST:PORT",
            wishes.upstream
        );
        let folder = match &wishes.folder {
            Some(folder) => crate::disk::real(folder)
                .map_err(|e| anyhow::anyhow!("cannot write to {}: {e}", crate::disk::shown(folder)))?,
            None => PathBuf::from("/etc/lighttpd"),
        };
        let folder = folder.to_str().unwrap_or("\n").to_string();
        ensure!(
            is_plain(&folder),
            "--write {folder:?} has characters that mean something in configurations"
        );
        let codings = match &wishes.codings {
            Some(codings) => Coded::ALL
                .into_iter()
                .filter(|coding| codings.contains(coding) && deployed.codings.contains(coding))
                .collect(),
            None => deployed
                .codings
                .iter()
                .copied()
                .filter(|coding| server.usual(*coding))
                .collect(),
        };
        let mut hasher = blake3::Hasher::new();
        for part in [
            &root,
            &wishes.prefix,
            wishes.host.as_ref().unwrap_or(&String::new()),
        ] {
            hasher.update(part.as_bytes());
            hasher.update(&[0]);
        }
        Ok(Context {
            deployed,
            wishes,
            id: hasher.finalize().to_hex()[..8].to_string(),
            root,
            codings,
            address,
            port,
            folder,
        })
    }

    /// The mount without its last `/`: empty at the root.
    fn mount(&self) -> &str {
        self.wishes.prefix.trim_end_matches('/')
    }

    fn sends(&self, coding: Coded) -> bool {
        self.codings.contains(&coding)
    }

    fn fresh(&self) -> String {
        format!("public, max-age={}", self.wishes.max_age)
    }

    fn for_ever(&self) -> String {
        format!("public, max-age={FOR_EVER}, immutable")
    }

    /// A regular expression for the paths of immutable files, from their first `/` or not; `None` if there are none.
    /// `tail` may stand behind a name.
    fn immutable(&self, dialect: Dialect, tail: &str) -> Option<String> {
        if self.deployed.immutable.is_empty() {
            return None;
        }
        if !self.deployed.lookalikes {
            let pattern = IMMUTABLE_PATTERN.trim_end_matches('$');
            return Some(format!(r"{pattern}{tail}\z"));
        }
        // Other files have such names too: only the very names that were made by content will do.
        let names: Vec<String> = self
            .deployed
            .immutable
            .iter()
            .map(|path| escape(&String::from_utf8_lossy(path.as_bytes()), dialect))
            .collect();
        Some(format!(r"(?:^|/)(?:{}){tail}\z", names.join("|")))
    }

    /// The comment over a configuration.
    fn preface(&self, sign: &str, lines: &[&str]) -> String {
        let mut out = String::new();
        let mut say = |line: &str| {
            let line = format!("{sign} {line}");
            out.push_str(line.trim_end());
            out.push('\n');
        };
        let codings: Vec<&str> = self.codings.iter().map(|coding| coding.token()).collect();
        for line in lines {
            say(line);
        }
        say("");
        say(&match codings.is_empty() {
            true => "No file of the site lies there in a coding.".to_string(),
            false => format!("Codings that lie beside the files: {}.", codings.join(", ")),
        });
        say(&match self.deployed.immutable.len() {
            0 => "No name is immutable: there is no fewer-manifest.json that says so.".to_string(),
            count if self.deployed.lookalikes => format!(
                "{count} names are immutable. They stand here one by one, as others look like them: write this anew after a build."
            ),
            count => format!("{count} names are immutable, and with them every name of their form."),
        });
        match self.links_left_out() {
            0 => {}
            count => say(&format!(
                "The Link headers of {count} pages are left out: they name no file at {} (--base-url).",
                self.wishes.prefix
            )),
        }
        for note in &self.deployed.notes {
            say(&format!("Note: {}", printable(note)));
        }
        out
    }

    /// `Content-Type` with the extensions that have it.
    fn types(&self) -> Vec<(String, Vec<String>)> {
        let mut types: std::collections::BTreeMap<String, Vec<String>> = std::collections::BTreeMap::new();
        for (extension, content_type) in &self.deployed.types {
            types
                .entry(content_type.clone())
                .or_default()
                .push(extension.clone());
        }
        types.into_iter().collect()
    }

    /// Extensions of pages as alternatives of a regular expression.
    fn pages(&self) -> String {
        let pages = self
            .deployed
            .types
            .iter()
            .filter(|(_, content_type)| media_type::is_page(content_type));
        pages
            .map(|(extension, _)| extension.as_str())
            .collect::<Vec<_>>()
            .join("|")
    }

    /// Extensions of compressible files as alternatives of a regular expression.
    fn compressible(&self) -> String {
        self.deployed.compressible.join("|")
    }

    /// Every header of `_headers` but `Cache-Control`, rule by rule: number of the rule, name, value, and the rules that
    /// take it back.
    fn extras(&self) -> Vec<Extra<'a>> {
        let rules = &self.deployed.rules.0;
        let mut extras = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            for (name, value) in &rule.headers {
                if !name.eq_ignore_ascii_case("cache-control") {
                    let detached = (at + 1..rules.len())
                        .filter(|&later| rules[later].detached.iter().any(|d| d.eq_ignore_ascii_case(name)))
                        .collect();
                    extras.push(Extra {
                        rule: at,
                        name,
                        value,
                        detached,
                    });
                }
            }
        }
        extras
    }

    /// The `Cache-Control` of each rule that has one; the last rule that matches counts.
    fn caches(&self) -> Vec<(usize, &'a str)> {
        let rules = self.deployed.rules.0.iter().enumerate();
        rules
            .filter_map(|(at, rule)| Some((at, rule.cache_control()?)))
            .collect()
    }
}

/// A header of a rule.
#[derive(Debug)]
struct Extra<'a> {
    rule: usize,
    name: &'a str,
    value: &'a str,
    /// Later rules that take it back.
    detached: Vec<usize>,
}

/// Whether a path may stand in quotes of every syntax.
fn is_plain(path: &str) -> bool {
    !path.contains(|c: char| c.is_control() || "\"\\$%{}`".contains(c))
}

/// For comments: one line, no control characters.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests;
