//! `fewer check`: every fault of one site, levels of codes, and that nothing is changed.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::command::{Place, command, differences, fixture, run, tree};

#[test]
fn every_fault_is_found_and_nothing_is_changed() {
    let folder = fixture("every-fault");
    let site = folder.join("site");
    let before = tree(&site, false);
    let printed = |args: &[&str]| {
        let mut all = vec![OsStr::new("check"), site.as_os_str()];
        all.extend(args.iter().map(OsStr::new));
        let output = run(all, 0);
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        text.join("\n")
    };
    let text = printed(&["-v", "--threads", "1"]);
    assert_eq!(text, printed(&["-v", "--threads", "8"]));
    assert_eq!(differences(&before, &tree(&site, false)), Vec::<String>::new());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("check", text));
}

#[test]
fn denied_codes_fail_and_out_stays_as_it_was() {
    let place = Place::new();
    place.put("site/holes.html", b"<img src=gone.png width=1 height=1>");
    run(place.args("build @site --out @out"), 0);
    let out = tree(&place.at("out"), false);
    place.put("site/more.html", b"<img src=also-gone.png width=1 height=1>");
    for line in [
        "build @site --out @out --force --deny missing-file",
        "build @site --out @out --force --deny warnings",
        "report @site --deny all --allow unreferenced-file",
        "check @site --deny missing-file --allow all",
    ] {
        let output = run(place.args(&format!("{line} --report @report.json")), 1);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.contains("error: 2 missing-file, denied by --deny "),
            "{line}: {stderr}"
        );
        assert!(place.at("report.json").exists(), "{line}");
        fs::remove_file(place.at("report.json")).unwrap();
    }
    assert_eq!(
        differences(&out, &tree(&place.at("out"), false)),
        Vec::<String>::new()
    );
    run(place.args("check @site --deny warnings --allow missing-file"), 0);
    run(place.args("check @site --deny broken-image"), 0);
}

#[test]
fn allowed_codes_are_not_mentioned() {
    let place = Place::new();
    place.put("site/holes.html", b"<img src=gone.png width=1 height=1>");
    let line = "check @site --allow missing-file --report @report.json";
    let output = run(place.args(line), 0);
    let report: Value = serde_json::from_slice(&fs::read(place.at("report.json")).unwrap()).unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!text.contains("missing-file") && !report["diagnostics"].to_string().contains("missing-file"));
}

#[test]
fn levels_stand_in_the_file_too_and_a_flag_wins() {
    let place = Place::new();
    place.put("site/holes.html", b"<img src=gone.png width=1 height=1>");
    place.put("fewer.toml", b"deny = ['missing-file']\n");
    let check = |flags: &str, code: i32| {
        let line = format!("check site {flags}");
        let output = command(line.split_whitespace())
            .current_dir(place.folder.path())
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(code),
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    check("", 1);
    check("--allow missing-file", 0);
    place.put("fewer.toml", b"allow = ['missing-file']\n");
    check("--deny warnings", 0);
    check("--deny missing-file", 1);
    place.put("fewer.toml", b"deny = ['mising-file']\n");
    check("", 2);
}

#[test]
fn bad_use_is_refused_and_nothing_is_written() {
    let place = Place::new();
    for (line, said) in [
        ("check", "SITE"),
        ("check @nowhere", "nowhere"),
        ("check @site --deny mising-file", "did you mean `missing-file`?"),
        ("check @site --allow zebra", "fewer check --list"),
        ("check @site --deny all --allow all", "both denied and allowed"),
        (
            "check @site --max-requests 3",
            "--max-requests is about changes or numbers",
        ),
        ("check @site --skip all", "--skip is about changes or numbers"),
        ("build @site --out @out --deny nothing", "unknown code"),
    ] {
        place.refuses(line, said);
    }
}

#[test]
fn the_list_names_every_code_that_the_readme_names() {
    let list = String::from_utf8(run(["check", "--list"], 0).stdout).unwrap();
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let rows = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let mut codes = 0;
    for (code, rest) in rows {
        let Some((level, _)) = rest
            .split_once(" | ")
            .filter(|(level, _)| ["warning", "note"].contains(level))
        else {
            continue;
        };
        assert!(list.contains(&format!("{code} ({level})\n")), "{code}");
        codes += 1;
    }
    assert_eq!(codes, list.matches("\n  what  ").count());
}
