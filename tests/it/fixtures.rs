//! Builds every fixture, holds every promise against it, and compares the outcome with `expected.snap` beside it
//! (`cargo insta review`, or `INSTA_UPDATE=always`, accepts a new one).

use std::fmt::Write;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::command::{Tree, build, differences, fixture, run, tree};
use crate::promises;

#[test]
fn every_fixture_keeps_the_promises() {
    let mut folders: Vec<PathBuf> = fs::read_dir(fixture(""))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    assert!(!folders.is_empty());
    let schema: Value = serde_json::from_str(fewer::report::JSON_SCHEMA).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let name = |folder: &Path| {
        folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    // One broken fixture should not hide the others.
    let failed: Vec<String> = folders
        .iter()
        .filter(|folder| panic::catch_unwind(AssertUnwindSafe(|| check(folder, &schema))).is_err())
        .map(|folder| name(folder))
        .collect();
    assert!(
        failed.is_empty(),
        "{} of {} fixtures failed: {}",
        failed.len(),
        folders.len(),
        failed.join(", ")
    );
}

fn check(folder: &Path, schema: &jsonschema::Validator) {
    eprintln!("fixture {}", folder.display());
    let site = folder.join("site");
    let args = fs::read_to_string(folder.join("args")).unwrap_or_default();
    let args: Vec<&str> = args.split_whitespace().collect();
    let with = |more: [&'static str; 2]| args.iter().copied().chain(more).collect::<Vec<_>>();
    let work = tempfile::tempdir().unwrap();
    let untouched = tree(&site, false);

    let out = work.path().join("out");
    let (output, report) = build(&site, &out, &with(["--threads", "1"]));
    let errors: Vec<String> = schema
        .iter_errors(&report)
        .map(|error| error.to_string())
        .collect();
    assert!(
        errors.is_empty(),
        "the report does not fit its schema: {errors:?}"
    );
    assert_eq!(
        differences(&untouched, &tree(&site, false)),
        Vec::<String>::new(),
        "SITE was touched"
    );

    let elsewhere = work.path().join("deeper/and elsewhere");
    let (again, second) = build(&site, &elsewhere, &with(["--threads", "8"]));
    let built = tree(&out, false);
    assert_eq!(
        differences(&built, &tree(&elsewhere, false)),
        Vec::<String>::new(),
        "8 threads build other bytes"
    );
    assert!(
        report == second && output.stdout == again.stdout,
        "8 threads report something else"
    );

    promises::no_more_requests(&report);
    promises::no_more_bytes(&report);
    promises::nothing_lost(&tree(&site, true), &built);
    promises::variants_fit(&built);

    let out_again = work.path().join("again");
    let (_, rebuilt) = build(&out, &out_again, &args);
    promises::no_new_holes(&report, &rebuilt);
    promises::no_more_requests(&rebuilt);
    promises::no_more_bytes(&rebuilt);
    let grown = grown(&built, &tree(&out_again, false));
    assert!(grown.is_empty(), "building OUT again makes it grow: {grown:?}");

    run(["report".as_ref(), out.as_os_str()], 0);
    assert_eq!(
        differences(&built, &tree(&out, false)),
        Vec::<String>::new(),
        "a report touched its site"
    );

    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let text = describe(&output, &report, &tree(&site, true), &built);
    settings.bind(|| insta::assert_snapshot!("expected", text));
}

/// Files that are larger after a second build, or new.
fn grown(first: &Tree, second: &Tree) -> Vec<String> {
    let larger = |path: &String, size: usize| first.get(path).is_none_or(|old| old.bytes.len() < size);
    second
        .iter()
        .filter(|(path, file)| larger(path, file.bytes.len()))
        .map(|(path, _)| path.clone())
        .collect()
}

/// What was printed, what the report decides and counts, and the new content of changed files.
fn describe(output: &Output, report: &Value, site: &Tree, out: &Tree) -> String {
    let mut text = format!("{}\n{}", printable(&output.stdout), printable(&output.stderr));
    let views = |page: &Value, side: &str| {
        let count = |view: &str| page[side][view]["requests"].to_string();
        format!("{} first, {} follow-up", count("first"), count("follow_up"))
    };
    writeln!(text, "== pages (entry {})", report["entry"]).unwrap();
    for page in promises::pages(report) {
        let path = page["path"].as_str().unwrap_or_default();
        writeln!(
            text,
            "{path}: {} -> {}",
            views(page, "before"),
            views(page, "after")
        )
        .unwrap();
    }
    writeln!(text, "== decisions").unwrap();
    for decision in report["decisions"].as_array().into_iter().flatten() {
        let field = |key: &str| decision[key].as_str().unwrap_or_default().to_string();
        writeln!(
            text,
            "{}: {}: {}",
            field("file"),
            field("action"),
            field("reason")
        )
        .unwrap();
    }
    let is_variant = |path: &str| promises::plain_name(path).is_some_and(|plain| out.contains_key(plain));
    let (mut same, mut variants, mut binary) = (0, 0, Vec::new());
    for (path, file) in out {
        if is_variant(path) {
            variants += 1;
        } else if site.get(path).is_some_and(|old| old.bytes == file.bytes) {
            same += 1;
        } else if file.bytes.contains(&0) {
            binary.push(path);
        } else {
            write!(
                text,
                "== {path}\n{}\n",
                printable(&file.bytes).trim_end_matches('\n')
            )
            .unwrap();
        }
    }
    writeln!(
        text,
        "== same: {same} files; variants: {variants}; changed binary files: {binary:?}"
    )
    .unwrap();
    text
}

/// Text of any encoding, with everything that is not plain ASCII or UTF-8 written out.
fn printable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.extend(
            chunk
                .valid()
                .chars()
                .map(|c| if c == '\r' { '\u{240d}' } else { c }),
        );
        chunk
            .invalid()
            .iter()
            .for_each(|byte| text.push_str(&format!("<{byte:02X}>")));
    }
    text
}
