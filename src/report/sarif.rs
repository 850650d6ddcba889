//! Diagnostics and broken limits as SARIF 2.1.0 (OASIS standard), for code scanning.
//!
//! A rule for each code that occurs, a result for each finding. Paths are SITE's, as it was typed, so that they lead
//! to the files from where the tool was started. Line and column are left out where they are not known.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::annotations::{Finding, findings};
use super::{Report, diagnostics, violation::Violation};
use crate::diagnostic::{Code, Severity};
use crate::url;

/// Results at most, as code scanning takes no more.
const MOST: usize = 25_000;

pub(super) fn write(report: &Report, site: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut rules: Vec<Value> = Vec::new();
    let mut known: Vec<&str> = Vec::new();
    let mut results = Vec::new();
    for finding in findings(report).take(MOST) {
        let code = finding.code();
        let index = known.iter().position(|name| *name == code).unwrap_or_else(|| {
            known.push(code);
            rules.push(rule(&finding));
            known.len() - 1
        });
        results.push(result(&finding, index, site));
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "fewer",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_writer(&mut *out, &log)?;
    out.write_all(b"\n")
}

fn rule(finding: &Finding<'_>) -> Value {
    let (short, help) = match finding {
        Finding::Diagnostic(d) => (
            d.code.name().replace('-', " "),
            diagnostics::help(d.code).to_owned(),
        ),
        Finding::Violation(Violation { .. }) => match finding.code() {
            "baseline" => (
                "worse than the baseline".to_owned(),
                "take back what came in, or make a new baseline".to_owned(),
            ),
            _ => (
                "over budget".to_owned(),
                "request less on this page, or raise its limit".to_owned(),
            ),
        },
    };
    json!({
        "id": finding.code(),
        "shortDescription": {"text": short},
        "help": {"text": help},
        "defaultConfiguration": {"level": finding.level()},
    })
}

fn result(finding: &Finding<'_>, rule: usize, site: &str) -> Value {
    let mut location = json!({"artifactLocation": {"uri": uri(site, finding)}});
    if let Some((line, column)) = finding.position() {
        location["region"] = json!({"startLine": line, "startColumn": column});
    }
    json!({
        "ruleId": finding.code(),
        "ruleIndex": rule,
        "level": finding.level(),
        "message": {"text": finding.message()},
        "locations": [{"physicalLocation": location}],
    })
}

/// A URI reference to the file: relative where SITE is.
fn uri(site: &str, finding: &Finding<'_>) -> String {
    let path = finding.place(site);
    let encoded = url::encode_path(path.as_bytes());
    match encoded.strip_prefix('/') {
        Some(_) => format!("file://{encoded}"),
        // A colon in the first part would be read as the end of a scheme.
        None if encoded.split('/').next().is_some_and(|part| part.contains(':')) => format!("./{encoded}"),
        None => encoded,
    }
}

impl Finding<'_> {
    fn level(&self) -> &'static str {
        match self {
            Finding::Violation(_) => "error",
            Finding::Diagnostic(d) => level(d.code),
        }
    }
}

fn level(code: Code) -> &'static str {
    match diagnostics::severity(code) {
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}
