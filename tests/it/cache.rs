//! What a second build finds again: never anything but what it would have made; and files that are too large to hold.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Place, Tree, command, differences, tree};
use crate::promises;

/// Builds the place's site to `out` and returns the folder.
fn build(place: &Place, out: &str, line: &str) -> Tree {
    let line = format!("build @site --out @{out} --quiet {line}");
    let output = command(place.args(&line)).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{line}: {stderr}");
    let out = tree(&place.at(out), false);
    promises::variants_fit(&out);
    out
}

fn same(one: &Tree, other: &Tree) {
    assert_eq!(differences(one, other), Vec::<String>::new());
}

/// Files below a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(entries(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn the_same_bytes_with_and_without() {
    let place = Place::new();
    let without = build(&place, "without", "--no-cache --zstd");
    assert!(without.keys().any(|path| path.ends_with(".zst")));
    let cold = build(&place, "cold", "--cache @kept --zstd --threads 3");
    let kept = entries(&place.at("kept"));
    let warm = build(&place, "warm", "--cache @kept --zstd");
    assert_eq!(entries(&place.at("kept")), kept);
    same(&without, &cold);
    same(&without, &warm);

    // Every entry broken in another way: they are made anew.
    for (nth, path) in kept
        .iter()
        .enumerate()
        .filter(|(_, path)| !path.ends_with("CACHEDIR.TAG"))
    {
        let mut bytes = fs::read(path).unwrap();
        match nth % 3 {
            0 => bytes.truncate(bytes.len() / 2),
            1 => bytes[0] ^= 1,
            _ => bytes.clear(),
        }
        fs::write(path, bytes).unwrap();
    }
    same(&without, &build(&place, "mended", "--cache @kept --zstd"));
    same(&without, &build(&place, "again", "--cache @kept --zstd"));

    // A page more, and other levels: nothing of the other levels is found.
    place.put("site/new.html", &"<p>new</p>\n".repeat(99).into_bytes());
    let line = "--effort fast --brotli-quality 4";
    same(
        &build(&place, "fast", &format!("{line} --no-cache")),
        &build(&place, "fast-kept", &format!("{line} --cache @kept")),
    );
    build(&place, "small", "--cache @kept --cache-limit 0");
    let left = entries(&place.at("kept"));
    assert_eq!(left, [place.at("kept/v1/CACHEDIR.TAG")]);
}

#[test]
fn a_cache_stands_apart() {
    let place = Place::new();
    place.refuses("build @site --out @out --cache @site/kept", "--cache ");
    place.refuses(
        "build @site --out @out --cache @out",
        "and OUT lie inside each other",
    );
    place.put("file", b"x");
    place.refuses(
        "build @site --out @out --cache @file/kept",
        "--no-cache does without",
    );
    place.refuses(
        "build @site --out @out --memory 0",
        "expected a whole number from 16",
    );
    place.refuses(
        "build @site --out @out --effort some",
        "possible values: fast, default, max",
    );
}

#[test]
fn the_users_folder_is_used_where_there_is_one() {
    let place = Place::new();
    let run = |out: &str, line: &str, home: &str| {
        let line = format!("build @site --out @{out} --quiet {line}");
        let mut command = command(place.args(&line));
        let output = command.env("HOME", place.at(home)).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    run("one", "--no-cache", "home");
    run("dry", "--dry-run", "home-too");
    assert!(!place.at("home").exists() && !place.at("home-too").exists());
    run("two", "", "home");
    assert!(!entries(&place.at("home")).is_empty());
    // Where it cannot be, nobody is bothered.
    place.put("file", b"x");
    run("three", "", "file");
    run("four", "", "site");
    assert!(!place.at("site/.cache").exists() && !place.at("site/Library").exists());
}

#[test]
fn large_files_are_packed_in_pieces() {
    let place = Place::new();
    // Above a sixteenth of 16 MB; the second is what no coding makes smaller.
    let text: String = (0..60_000)
        .map(|n| format!("{},{},{}\n", n, n * 31 % 7919, n % 13))
        .collect();
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..1_200_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    place.put("site/data.csv", text.as_bytes());
    place.put("site/noise.bmp", &noise);
    place.put("site/packed.bmp", &[b"PK\x03\x04", noise.as_slice()].concat());
    let line = "--memory 16 --brotli-quality 5 --zstd --zstd-level 3";
    let out = build(&place, "out", &format!("{line} --cache @kept"));
    for suffix in ["gz", "br", "zst"] {
        assert!(out.contains_key(&format!("data.csv.{suffix}")), "{suffix}");
        assert!(!out.contains_key(&format!("noise.bmp.{suffix}")), "{suffix}");
        assert!(!out.contains_key(&format!("packed.bmp.{suffix}")), "{suffix}");
    }
    assert!(out["data.csv"].bytes == text.as_bytes() && out["noise.bmp"].bytes == noise);
    same(&out, &build(&place, "warm", &format!("{line} --cache @kept")));
    same(
        &out,
        &build(&place, "without", &format!("{line} --no-cache --threads 1")),
    );
}

#[test]
fn equal_files_get_equal_variants() {
    let place = Place::new();
    let text = "<p>the same on each page</p>\n".repeat(50);
    for nth in 0..20 {
        place.put(&format!("site/{nth}/index.html"), text.as_bytes());
    }
    // One of them brings a variant of its own, which is better than ours would be or not; the others do not see it.
    place.put("site/7/index.html.gz", b"stale");
    let out = build(&place, "out", "--threads 4");
    for nth in 1..20 {
        for suffix in ["", ".gz", ".br"] {
            let [one, other] = [0, nth].map(|nth| &out[&format!("{nth}/index.html{suffix}")].bytes);
            assert!(one == other, "{nth} {suffix}");
        }
    }
}

#[test]
fn a_stale_zst_goes_like_the_others() {
    let place = Place::new();
    let text = "p { color: red }\n".repeat(40);
    place.put("site/own.css", text.as_bytes());
    place.put("site/own.css.zst", b"\x28\xB5\x2F\xFD stale");
    place.put("site/good.css", text.as_bytes());
    place.put(
        "site/good.css.zst",
        &zstd::bulk::compress(text.as_bytes(), 19).unwrap(),
    );
    // Nothing is known of what stands alone.
    place.put("site/alone.tar.zst", b"\x28\xB5\x2F\xFD alone");
    let out = build(&place, "out", "--skip all");
    assert!(!out.contains_key("own.css.zst") && out.contains_key("good.css.zst"));
    assert!(out.contains_key("alone.tar.zst"));
    let out = build(&place, "with", "--skip all --zstd");
    assert!(out.contains_key("own.css.zst") && out.contains_key("good.css.zst"));
}
