//! What a build costs, against the classic script and against itself: `cargo xtask bench [FOLDER...]`.
//!
//! Every row is a ratio of two runs of the same session on the same files; seconds alone say little on a machine that
//! others use too, so CPU seconds (user and system, of all processes of a row) stand beside the wall's. The rows are
//! told in `table`. Without a folder a site of 1,000 pages is made (`gen`). Further:
//!
//! - `bench sizes FOLDER... [--every N]`: each file at the default effort against `gzip -9` and `brotli -q 11`;
//! - `bench scale [PAGES...]`: time and memory of growing sites and of huge files;
//! - `bench css DIR...`: stylesheets against other printers.

mod process;
mod scale;
mod sizes;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use crate::css_bench;

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let rest = args.get(1..).unwrap_or_default();
    match args.first().map(String::as_str) {
        Some("css") => css_bench::run(rest),
        Some("sizes") => sizes::run(rest),
        Some("scale") => scale::run(&program()?, rest),
        _ => table::run(&program()?, args),
    }
}

/// The release build of `fewer`, or what `FEWER` names.
fn program() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("FEWER") {
        return Ok(PathBuf::from(path));
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let built = Command::new(cargo)
        .args(["build", "--release", "--package", "fewer", "--manifest-path"])
        .arg(manifest)
        .status()?;
    if !built.success() {
        bail!("fewer does not build");
    }
    Ok(std::env::current_exe()?.with_file_name("../release/fewer"))
}
