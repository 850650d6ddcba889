//! Findings for the places where CI servers show them: GitHub's workflow commands on standard error, GitLab's code
//! quality report. SARIF (`sarif.rs`) draws on the same list.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::json;

use super::diagnostics::{severity, sorted};
use super::text::clean;
use super::{Report, Subject, Violation};
use crate::diagnostic::{Diagnostic, Severity};

/// GitHub shows so many annotations of each level for a step and drops the others.
const SHOWN: usize = 10;

/// A broken limit or a diagnostic.
pub(super) enum Finding<'a> {
    Violation(&'a Violation),
    Diagnostic(&'a Diagnostic),
}

/// Broken limits first, then diagnostics in the order of the files.
pub(super) fn findings(report: &Report) -> impl Iterator<Item = Finding<'_>> {
    let violations = report.verdict.violations.iter().map(Finding::Violation);
    violations.chain(sorted(&report.diagnostics).into_iter().map(Finding::Diagnostic))
}

impl Finding<'_> {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Finding::Violation(violation) => violation.code(),
            Finding::Diagnostic(diagnostic) => diagnostic.code.name(),
        }
    }

    pub(super) fn message(&self) -> Cow<'_, str> {
        match self {
            Finding::Violation(violation) => Cow::Owned(violation.to_string()),
            Finding::Diagnostic(diagnostic) => Cow::Borrowed(&diagnostic.message),
        }
    }

    pub(super) fn position(&self) -> Option<(u32, u32)> {
        match self {
            Finding::Violation(_) => None,
            Finding::Diagnostic(diagnostic) => diagnostic.position,
        }
    }

    /// The path of the file below SITE as it was typed; SITE itself for what is about several pages.
    pub(super) fn place(&self, site: &str) -> String {
        let site = site.trim_end_matches('/');
        let file = match self {
            Finding::Violation(violation) => match &violation.subject {
                Subject::Page(page) => page,
                Subject::Average(_) | Subject::Site(_) => return site.to_owned(),
            },
            Finding::Diagnostic(diagnostic) => &diagnostic.file,
        };
        match site.strip_prefix("./").unwrap_or(site) {
            "." => file.to_string(),
            site => format!("{site}/{file}"),
        }
    }
}

/// One workflow command a line, as many of each level as GitHub shows, then one that counts the rest.
pub fn github(report: &Report, site: &str) -> String {
    let mut out = String::new();
    let mut counts = [0_usize; 3];
    let levels = ["error", "warning", "notice"];
    for finding in findings(report) {
        let level = match &finding {
            Finding::Violation(_) => 0,
            Finding::Diagnostic(diagnostic) => match severity(diagnostic.code) {
                Severity::Warning => 1,
                Severity::Note => 2,
            },
        };
        counts[level] += 1;
        if counts[level] > SHOWN {
            continue;
        }
        let mut properties = format!("file={}", property(&finding.place(site)));
        if let Some((line, column)) = finding.position() {
            let _ = write!(properties, ",line={line},col={column}");
        }
        let _ = writeln!(
            out,
            "::{} {properties},title={}::{}",
            levels[level],
            property(finding.code()),
            message(&finding.message())
        );
    }
    for (level, count) in levels.iter().zip(counts) {
        if count > SHOWN {
            let _ = writeln!(
                out,
                "{} more of the level {level} are not annotated",
                count - SHOWN
            );
        }
    }
    out
}

/// Without what the runner takes for the end of a message, or for an escape.
fn message(text: &str) -> String {
    // Nothing that ends a line is left by `clean`.
    clean(text).replace('%', "%25")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

/// GitLab's subset of the Code Climate format. The fingerprint knows a finding again on another commit, so it does
/// not depend on the line.
pub(super) fn write_gitlab(report: &Report, site: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut seen = std::collections::HashMap::new();
    out.write_all(b"[")?;
    for (i, finding) in findings(report).enumerate() {
        let severity = match &finding {
            Finding::Violation(_) => "major",
            Finding::Diagnostic(diagnostic) => match severity(diagnostic.code) {
                Severity::Warning => "minor",
                Severity::Note => "info",
            },
        };
        let path = finding.place(site);
        let subject = match &finding {
            // Its numbers change, the limit stays.
            Finding::Violation(v) => format!("{:?} {}", v.metric, v.limit),
            Finding::Diagnostic(d) => d.message.clone(),
        };
        let identity = format!("{} {path} {subject}", finding.code());
        let nth = seen.entry(identity.clone()).or_insert(0_u32);
        *nth += 1;
        let hash = blake3::hash(format!("{identity} {nth}").as_bytes()).to_hex();
        let line = finding.position().map_or(1, |(line, _)| line);
        let item = json!({
            "description": finding.message(),
            "check_name": finding.code(),
            "fingerprint": &hash[..32],
            "severity": severity,
            "location": {"path": path, "lines": {"begin": line}},
        });
        out.write_all(if i == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &item)?;
    }
    out.write_all(b"\n]\n")
}
