//! The same input gives the same bytes, wherever and however the command is started.

use std::fs;
use std::path::Path;

use crate::command::{Tree, build, command, differences, fixture, tree};

/// A copy with the same bytes and times, made in another order.
fn copy(from: &Tree, to: &Path) {
    for (path, file) in from.iter().rev() {
        let place = to.join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, &file.bytes).unwrap();
        fs::File::options()
            .write(true)
            .open(&place)
            .unwrap()
            .set_modified(file.modified)
            .unwrap();
    }
}

#[test]
fn place_order_and_environment_do_not_show() {
    let work = tempfile::tempdir().unwrap();
    let site = fixture("blog/site");
    let moved = work.path().join("a longer name with spaces/site");
    copy(&tree(&site, false), &moved);
    let (first, first_report) = build(&site, &work.path().join("out"), &[]);
    let (second, second_report) = build(&moved, &work.path().join("other/out"), &[]);
    let outs = ["out", "other/out"].map(|out| tree(&work.path().join(out), false));
    assert_eq!(differences(&outs[0], &outs[1]), Vec::<String>::new());
    assert_eq!(first_report, second_report);
    assert_eq!((first.stdout, first.stderr), (second.stdout, second.stderr));

    let third = command(["build", "site", "--out", "../third", "--quiet"])
        .current_dir(moved.parent().unwrap())
        .envs([
            ("TZ", "Asia/Tokyo"),
            ("LANG", "tr_TR.UTF-8"),
            ("LC_ALL", "tr_TR.UTF-8"),
            ("COLUMNS", "40"),
        ])
        .status()
        .unwrap();
    assert!(third.success());
    assert_eq!(
        differences(&outs[0], &tree(&work.path().join("third"), false)),
        Vec::<String>::new()
    );
}

#[test]
fn unchanged_files_keep_their_time_and_changed_ones_take_the_newest_of_their_sources() {
    let work = tempfile::tempdir().unwrap();
    let site = work.path().join("site");
    copy(&tree(&fixture("css-images/site"), false), &site);
    let time = |seconds| std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    let set = |name: &str, seconds| {
        fs::File::options()
            .write(true)
            .open(site.join(name))
            .unwrap()
            .set_modified(time(seconds))
            .unwrap();
    };
    let times = [
        ("index.html", 1_000_000_000),
        ("site.css", 1_100_000_000),
        ("disc.png", 1_300_000_000),
    ];
    let rest = [("sail.gif", 1_200_000_000), ("crate.jpg", 900_000_000)];
    times
        .iter()
        .chain(&rest)
        .for_each(|&(name, seconds)| set(name, seconds));
    build(&site, &work.path().join("out"), &["--skip", "embed"]);
    let out = tree(&work.path().join("out"), false);
    let sheet = String::from_utf8_lossy(&out["site.css"].bytes).into_owned();
    assert!(sheet.contains("data:image/png"), "{sheet}");
    assert_eq!(out["site.css"].modified, time(1_300_000_000), "the disc came in");
    assert_eq!(out["index.html"].modified, time(1_000_000_000));
    assert_eq!(out["crate.jpg"].modified, time(900_000_000));
}
