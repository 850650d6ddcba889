//! Measures the CSS printer: `bench css DIR…` collects the distinct stylesheets under the folders, prints each one
//! and has `xtask/bench-css/bench.mjs` compare sizes with rivals and object models with Chromium.
//! `css-print` prints standard input.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

/// `args`: folders, and options for the script from the first one that begins with `--` on.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let split = args
        .iter()
        .position(|a| a.starts_with("--"))
        .unwrap_or(args.len());
    let (folders, options) = args.split_at(split);
    anyhow::ensure!(
        !folders.is_empty(),
        "which folders? bench css DIR… [--no-model] [--all-models]"
    );
    let out = PathBuf::from("target/bench-css");
    let mut sheets = BTreeMap::new();
    for folder in folders {
        collect(Path::new(folder), &mut sheets).with_context(|| format!("cannot read {folder}"))?;
    }
    for name in ["source", "fewer"] {
        let dir = out.join(name);
        if dir.exists() {
            std::fs::remove_dir_all(&dir)?;
        }
        std::fs::create_dir_all(&dir)?;
    }
    let start = std::time::Instant::now();
    let mut printing = std::time::Duration::ZERO;
    for (text, name) in &sheets {
        std::fs::write(out.join("source").join(name), text)?;
        let before = start.elapsed();
        let printed = fewer::css::print(text, None);
        printing += start.elapsed() - before;
        std::fs::write(out.join("fewer").join(name), printed.as_deref().unwrap_or(text))?;
    }
    eprintln!("printed {} sheets in {printing:?}", sheets.len());
    let status = Command::new("node")
        .arg("xtask/bench-css/bench.mjs")
        .arg(&out)
        .args(options)
        .status()
        .context("cannot run node")?;
    anyhow::ensure!(
        status.success(),
        "the comparison failed: is `npm ci` done in xtask/bench-css?"
    );
    Ok(())
}

/// Prints standard input to standard output.
pub(crate) fn print() -> anyhow::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let printed = fewer::css::print(&text, None).unwrap_or(text);
    std::io::stdout().write_all(printed.as_bytes())?;
    Ok(())
}

/// Distinct texts and a file name for each. Sheets in other encodings are left out: the rivals read UTF-8 only.
fn collect(dir: &Path, sheets: &mut BTreeMap<String, String>) -> anyhow::Result<()> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir)?
        .map(|e| e.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(&path, sheets)?;
        } else if path.extension().is_some_and(|e| e == "css")
            && let Ok(text) = String::from_utf8(std::fs::read(&path)?)
        {
            let text = text.trim_start_matches('\u{feff}').to_owned();
            let stem: String = path.to_string_lossy().chars().rev().take(60).collect();
            let stem: String = stem
                .chars()
                .rev()
                .map(|c| {
                    if c.is_ascii_alphanumeric() || c == '.' {
                        c
                    } else {
                        '_'
                    }
                })
                .collect();
            let name = format!("{:04}-{stem}", sheets.len());
            sheets.entry(text).or_insert(name);
        }
    }
    Ok(())
}
