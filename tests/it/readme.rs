//! The README says what the program does: its capture, its options, its codes.

use std::collections::BTreeSet;

use crate::command::{build, fixture, run};

const README: &str = include_str!("../../README.md");

#[test]
fn the_capture_is_what_the_example_prints() {
    let out = tempfile::tempdir().unwrap();
    let (output, _) = build(&fixture("blog/site"), &out.path().join("out"), &[]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let capture = README
        .split("```text\n")
        .nth(1)
        .and_then(|rest| rest.split("\n```").next())
        .unwrap_or_default();
    assert_eq!(
        capture.trim_end(),
        printed.trim_end(),
        "paste the new output into README.md"
    );
}

#[test]
fn every_option_is_explained() {
    let help = String::from_utf8(run(["build", "--help"], 0).stdout).unwrap();
    let options: BTreeSet<&str> = help
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| word.starts_with("--"))
        // `--no-gzip[=<BOOL>]`
        .map(|word| word.split('[').next().unwrap_or(word))
        .collect();
    let silent = ["--help", "--out"];
    let missing: Vec<_> = options
        .iter()
        .filter(|o| !silent.contains(*o) && !README.contains(**o))
        .collect();
    assert!(
        options.len() > 10 && missing.is_empty(),
        "not in the README: {missing:?}"
    );
}

#[test]
fn every_diagnostic_is_explained() {
    let source = include_str!("../../src/diagnostic.rs");
    let arms = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Code::")?.split_once("=> \""));
    let codes: Vec<&str> = arms.filter_map(|(_, rest)| rest.split('"').next()).collect();
    let missing: Vec<_> = codes
        .iter()
        .filter(|code| !README.contains(&format!("| `{code}` |")))
        .collect();
    assert!(
        codes.len() > 10 && missing.is_empty(),
        "not in the README: {missing:?}"
    );
}
