//! Exit codes, and what is written and printed when.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::command::{Place, build, command, differences, run, tree};

#[test]
fn bad_use_and_bad_input_write_nothing() {
    let place = Place::new();
    place.put("full/precious.txt", b"keep");
    place.put("file", b"no folder");
    for (line, said) in [
        ("build @nowhere --out @out", "nowhere"),
        ("build @file --out @out", "file"),
        ("build @site --out @site/out", "SITE"),
        ("build @site --out @site", "SITE"),
        ("build @site --out @site/../site/deep/out", "SITE"),
        ("build @site --out @", "SITE"),
        ("build @site --out @full", "--force"),
        ("build @site --out @file", "file"),
        ("build @site --out @out --exclude a[", "a["),
        ("build @site --out @out --skip everything", "everything"),
        ("build @site --out @out --gzip-level 13", "13"),
        ("build @site --out @out --brotli-quality 12", "12"),
        ("build @site --out @out --inline-limit many", "many"),
        ("build @site --out @out --entry gone.html", "gone.html"),
        ("build @site --out @out --base-url nonsense", "nonsense"),
        ("build @site --out @out --charset klingon", "klingon"),
        ("build @site", "--out"),
        ("report @nowhere", "nowhere"),
        ("report", "SITE"),
        ("build @site --out @out --verify --browser @nowhere", "nowhere"),
        ("build @site --out @out --browser chromium", "--verify"),
        ("verify @site", "OUT"),
        ("verify @site @site --browser @nowhere", "nowhere"),
        ("verify @site @site --report @found.txt", ".html"),
        ("verify @site @site --report @site/found.html", "SITE"),
        ("verify @site @site --modes bright", "bright"),
        ("dance", "dance"),
    ] {
        let report = if line.contains("--out") {
            " --report @report.json"
        } else {
            ""
        };
        place.refuses(&format!("{line}{report}"), said);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_browser_it_says_how_to_get_one() {
    let place = Place::new();
    let output = command(place.args("verify @site @site"))
        .env("PATH", place.at("nowhere"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    for word in [
        "no browser",
        "apt-get install",
        "dnf install",
        "brew install",
        "--browser",
    ] {
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn out_is_replaced_only_by_force() {
    let place = Place::new();
    run(place.args("build @site --out @out"), 0);
    let first = tree(&place.at("out"), false);
    place.put("out/left-over.txt", b"from another time");
    place.refuses("build @site --out @out", "--force");
    run(place.args("build @site --out @out --force"), 0);
    assert_eq!(
        differences(&first, &tree(&place.at("out"), false)),
        Vec::<String>::new()
    );
    assert_eq!(place.names(), ["out", "site"]);
    // An empty folder is as good as none.
    fs::create_dir(place.at("empty")).unwrap();
    run(place.args("build @site --out @empty"), 0);
    assert_eq!(
        differences(&first, &tree(&place.at("empty"), false)),
        Vec::<String>::new()
    );
}

#[test]
fn a_budget_that_fails_writes_reports_and_leaves_out_alone() {
    let place = Place::new();
    place.put("out/old.html", b"the build before");
    let old = tree(&place.at("out"), false);
    let output = run(
        place.args("build @site --out @out --force --skip embed --max-requests 1 --report @report.json"),
        1,
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("index.html"));
    assert_eq!(
        differences(&old, &tree(&place.at("out"), false)),
        Vec::<String>::new()
    );
    let report: Value = serde_json::from_slice(&fs::read(place.at("report.json")).unwrap()).unwrap();
    assert_eq!(report["schema"], 1);
    assert_eq!(place.names(), ["out", "report.json", "site"]);
    // The page itself, its sheet and the three pictures.
    run(place.args("report @site --max-requests 4"), 1);
    run(place.args("report @site --max-requests 5"), 0);
    run(place.args("build @site --out @out --force --max-requests 2"), 0);
}

#[test]
fn a_dry_run_reports_and_writes_nothing_else() {
    let place = Place::new();
    let site = tree(&place.at("site"), false);
    let dry = run(
        place.args("build @site --out @out --dry-run --report @dry.json"),
        0,
    );
    assert_eq!(place.names(), ["dry.json", "site"]);
    let real = run(place.args("build @site --out @out --report @real.json"), 0);
    assert_eq!(
        differences(&site, &tree(&place.at("site"), false)),
        Vec::<String>::new()
    );
    // Bytes may differ: a dry run does not make the variants that a build measures unedited files by.
    let counts = |name: &str| -> Vec<[Value; 4]> {
        let report: Value = serde_json::from_slice(&fs::read(place.at(name)).unwrap()).unwrap();
        let views = [
            ("before", "first"),
            ("before", "follow_up"),
            ("after", "first"),
            ("after", "follow_up"),
        ];
        let count = |page: &Value| views.map(|(side, view)| page[side][view]["requests"].clone());
        report["pages"].as_array().unwrap().iter().map(count).collect()
    };
    assert_eq!(counts("dry.json"), counts("real.json"));
    assert_eq!(counts("dry.json"), [[5, 1, 1, 1].map(Value::from)]);
    assert_eq!(dry.stderr, real.stderr);
}

#[test]
fn quiet_is_quiet_and_the_summary_is_short() {
    let place = Place::new();
    let quiet = run(place.args("build @site --out @quiet -q"), 0);
    assert_eq!((quiet.stdout, quiet.stderr), (Vec::new(), Vec::new()));
    for line in ["build @site --out @loud", "report @site"] {
        let output = run(place.args(line), 0);
        let lines = String::from_utf8(output.stdout).unwrap().lines().count();
        assert!((4..=10).contains(&lines), "{line}: {lines} lines");
        assert!(
            !output.stderr.contains(&0x1b),
            "no escape sequences but on a terminal"
        );
    }
    run(place.args("build @site --out @both -q -v"), 2);
}

#[test]
fn a_report_writes_its_file_and_nothing_else() {
    let place = Place::new();
    let site = tree(&place.at("site"), false);
    run(place.args("report @site --report @deep/report.json"), 2);
    run(place.args("report @site --report @report.json"), 0);
    assert_eq!(place.names(), ["report.json", "site"]);
    assert_eq!(
        differences(&site, &tree(&place.at("site"), false)),
        Vec::<String>::new()
    );
    let report: Value = serde_json::from_slice(&fs::read(place.at("report.json")).unwrap()).unwrap();
    assert_eq!(report["pages"][0]["before"]["first"]["requests"], 5);
    assert_eq!(
        report["pages"][0]["before"]["follow_up"]["requests"], 1,
        "a reload of the entry page"
    );
}

#[test]
fn passes_can_be_turned_off() {
    let place = Place::new();
    let site = tree(&place.at("site"), false);
    let sheet = |args: &[&str]| {
        let out = tempfile::tempdir().unwrap();
        build(&place.at("site"), &out.path().join("out"), args);
        let out = tree(&out.path().join("out"), false);
        String::from_utf8(out["site.css"].bytes.clone()).unwrap()
    };
    let original = String::from_utf8(site["site.css"].bytes.clone()).unwrap();
    assert_eq!(sheet(&["--skip", "all"]), original);
    assert_eq!(sheet(&["--skip", "inline", "--skip", "minify"]), original);
    for args in [["--skip", "inline"], ["--inline-limit", "0"]] {
        let printed = sheet(&args);
        assert!(
            !printed.contains("data:") && !printed.contains("/*") && printed.contains("disc.png"),
            "{printed}"
        );
    }
    let inlined = sheet(&["--skip", "minify"]);
    assert!(
        inlined.contains("data:image/png;base64,") && inlined.starts_with("/*"),
        "{inlined}"
    );
}

#[test]
fn variants_can_be_turned_off() {
    let place = Place::new();
    let suffixes = |args: &[&str]| {
        let out = tempfile::tempdir().unwrap();
        build(&place.at("site"), &out.path().join("out"), args);
        let out = tree(&out.path().join("out"), false);
        [".gz", ".br"].map(|suffix| out.keys().any(|path| path.ends_with(suffix)))
    };
    assert_eq!(suffixes(&[]), [true, true]);
    assert_eq!(suffixes(&["--no-gzip"]), [false, true]);
    assert_eq!(suffixes(&["--no-brotli"]), [true, false]);
    assert_eq!(suffixes(&["--no-gzip", "--no-brotli"]), [false, false]);
    assert_eq!(suffixes(&["--min-size", "1000000"]), [false, false]);
    assert_eq!(suffixes(&["--encode-types", "foo"]), [false, false]);
}

#[test]
fn a_stale_variant_does_not_survive() {
    let place = Place::new();
    let pack = |text: &[u8]| {
        let mut packer = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
        let mut packed = vec![0; packer.gzip_compress_bound(text.len())];
        let length = packer.gzip_compress(text, &mut packed).unwrap();
        packed.truncate(length);
        packed
    };
    place.put("site/site.css.gz", &pack(b"p { color: red } /* of last year */"));
    place.put("site/index.html.br", b"no brotli at all");
    let (output, _) = build(&place.at("site"), &place.at("out"), &[]);
    crate::promises::variants_fit(&tree(&place.at("out"), false));
    assert!(String::from_utf8_lossy(&output.stderr).contains("stale-variant"));
    build(
        &place.at("site"),
        &place.at("none"),
        &["--no-gzip", "--no-brotli"],
    );
    let out = tree(&place.at("none"), false);
    assert!(!out.contains_key("site.css.gz") && !out.contains_key("index.html.br"));
}

/// A run that was killed leaves the old OUT or none; what it leaves beside OUT goes with the next run.
#[test]
#[cfg(unix)]
fn a_killed_run_leaves_no_litter_for_long() {
    let place = Place::new();
    for n in 0..200 {
        place.put(
            &format!("site/{n}.html"),
            format!("<p>{}</p>", format!("{n} boats ").repeat(2000)).as_bytes(),
        );
    }
    for pause in [5, 30, 80, 150] {
        let mut child = command(place.args("build @site --out @out -q")).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(pause));
        child.kill().unwrap();
        child.wait().unwrap();
        if place.at("out").exists() {
            break; // faster than the kill
        }
    }
    run(place.args("build @site --out @out --force -q"), 0);
    assert_eq!(place.names(), ["out", "site"]);
}

/// `fewer report SITE | head -1` is no failure.
#[test]
#[cfg(unix)]
fn a_reader_may_leave_early() {
    let place = Place::new();
    let mut child = command(place.args("report @site"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn help_names_commands_and_exit_codes() {
    let text = |args: &[&str]| String::from_utf8(run(args, 0).stdout).unwrap();
    assert!(text(&["--help"]).contains("build") && text(&["--help"]).contains("report"));
    let build = text(&["build", "--help"]);
    for word in [
        "--inline-limit",
        "--skip",
        "--max-requests",
        "--dry-run",
        "--exclude",
        "Exit status",
    ] {
        assert!(build.contains(word), "{word}");
    }
    assert!(text(&["--version"]).starts_with("fewer "));
}

/// Names that no one expects reach neither the terminal nor the JSON as control characters.
#[test]
#[cfg(target_os = "linux")]
fn odd_file_names_are_shown_escaped() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let odd: &Path = Path::new(std::ffi::OsStr::from_bytes(b"red\x1b[31m\xff.html"));
    let mut file = fs::File::create(place.at("site").join(odd)).unwrap();
    file.write_all(b"<img src=nowhere.png>").unwrap();
    let output = run(place.args("build @site --out @out --report @report.json -v"), 0);
    let report = fs::read(place.at("report.json")).unwrap();
    for printed in [&output.stdout, &output.stderr, &report] {
        assert!(!printed.contains(&0x1b) && std::str::from_utf8(printed).is_ok());
    }
    assert!(place.at("out").join(odd).exists());
}
