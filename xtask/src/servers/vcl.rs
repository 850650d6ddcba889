//! `varnish.vtc` with the program that Varnish tests itself with: what is fetched how often, who may purge,
//! and what is served while the server behind is slow, failing or down. Its own server stands behind the VCL
//! that `fewer` writes.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::daemon;

const TEST: &str = include_str!("varnish.vtc");

/// What does not hold, with what `varnishtest` says.
pub(super) fn run(fewer: &Path, out: &Path, work: &Path) -> anyhow::Result<Vec<String>> {
    let folder = work.join("vcl");
    fs::create_dir_all(&folder)?;
    let port = daemon::free_port()?;
    let upstream = format!("127.0.0.1:{port}");
    daemon::write(fewer, "varnish", out, &folder, &["--upstream", &upstream])?;
    let test = folder.join("varnish.vtc");
    fs::write(&test, TEST)?;
    let program = daemon::find("varnishtest").context("no varnishtest")?;
    let output = Command::new(program)
        // Its own log without that of varnishd is enough to find the line.
        .args(["-t", "60"])
        .arg(format!("-Dport={port}"))
        .arg(format!("-Dvcl={}", folder.join("default.vcl").display()))
        .arg(&test)
        .output()
        .context("cannot run varnishtest")?;
    if output.status.success() {
        return Ok(Vec::new());
    }
    let said = String::from_utf8_lossy(&output.stdout);
    // Four hyphens open the line of what failed; what was sent and received stands above it.
    let lines: Vec<&str> = said.lines().filter(|line| !line.contains("vsl|")).collect();
    let at = lines
        .iter()
        .position(|line| line.starts_with("----"))
        .unwrap_or(lines.len().saturating_sub(1));
    let shown = &lines[at.saturating_sub(12)..lines.len().min(at + 1)];
    Ok(vec![format!("varnishtest: {}", shown.join("\n          "))])
}
