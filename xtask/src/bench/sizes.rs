//! `bench sizes FOLDER... [--every N]`: no variant of the default effort may be larger than what `gzip -9 -n` and
//! `brotli -q 11` make of the same file. Every N-th file, where all would take too long.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use fewer::encode::{self, Coding, Effort};
use fewer::options::ENCODE_TYPES;
use fewer::parallel;

use super::process::is_there;
use super::table::files;

const PEERS: [(Coding, &[&str]); 2] = [
    (Coding::Gzip, &["gzip", "-9", "-n", "-c"]),
    (Coding::Brotli, &["brotli", "-q", "11", "-c"]),
];

pub(super) fn run(args: &[String]) -> anyhow::Result<()> {
    let (mut every, mut folders) = (1, Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--every" {
            let value = args.next().context("--every needs a number")?;
            every = value.parse::<usize>().context("--every needs a number")?.max(1);
        } else {
            folders.push(PathBuf::from(arg));
        }
    }
    ensure!(
        !folders.is_empty(),
        "which folders? bench sizes FOLDER... [--every N]"
    );
    ensure!(
        is_there("brotli"),
        "brotli is missing: install the package brotli"
    );
    let mut all = Vec::new();
    for folder in &folders {
        let is_text = |path: &Path| {
            let extension = path
                .extension()
                .unwrap_or_default()
                .to_string_lossy()
                .to_ascii_lowercase();
            ENCODE_TYPES.contains(&extension.as_str())
        };
        all.extend(
            files(folder, &is_text)?
                .into_iter()
                .filter(|(_, size)| *size >= 100),
        );
    }
    let chosen: Vec<PathBuf> = all.into_iter().step_by(every).map(|(path, _)| path).collect();
    let measured = parallel::map_in_turn(&chosen, |path| {
        let bytes = std::fs::read(path)?;
        let mut sizes = [[0; 2]; 2];
        for (nth, (coding, words)) in PEERS.iter().enumerate() {
            let ours = encode::pack(*coding, &bytes, Effort::Default.level(*coding));
            let back = encode::unpack(*coding, &ours, bytes.len() as u64);
            ensure!(
                back.as_ref() == Some(&bytes),
                "{} does not come back from {coding:?}",
                path.display()
            );
            sizes[nth] = [ours.len(), theirs(words, &bytes)?];
        }
        Ok((bytes.len(), sizes))
    });
    let (mut plain, mut sums, mut larger) = (0, [[0; 2]; 2], 0);
    for (path, result) in chosen.iter().zip(measured) {
        let (bytes, sizes) = result?;
        plain += bytes;
        for (nth, [ours, theirs]) in sizes.into_iter().enumerate() {
            sums[nth][0] += ours;
            sums[nth][1] += theirs;
            if ours > theirs {
                larger += 1;
                println!(
                    "{:?}: {ours} bytes, {theirs} by {}: {}",
                    PEERS[nth].0,
                    PEERS[nth].1[0],
                    path.display()
                );
            }
        }
    }
    println!("{} files, {plain} bytes", chosen.len());
    for ((coding, words), [ours, theirs]) in PEERS.iter().zip(sums) {
        println!("{coding:?}: {ours} bytes, {theirs} by `{}`", words.join(" "));
    }
    ensure!(larger == 0, "{larger} variants are larger");
    Ok(())
}

/// Bytes that a program makes of these.
fn theirs(words: &[&str], bytes: &[u8]) -> anyhow::Result<usize> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(bytes)?;
    let output = Command::new(words[0])
        .args(&words[1..])
        .arg(file.path())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {}", words[0]))?;
    ensure!(output.status.success(), "{} failed", words[0]);
    Ok(output.stdout.len())
}
