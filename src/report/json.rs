//! A report as JSON: written piece by piece, one page, decision or diagnostic a line, so that a big site needs no
//! second copy in memory and two reports can be compared with a line-based diff. `report.schema.json` describes it.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::budget::{Part, Unit, Which};
use super::diagnostics::{help, severity_name, sorted};
use super::{Comparison, Journey, Report, Request, SCHEMA, Side, Subject, View, Views, Violation, Weight};
use crate::diagnostic::Diagnostic;

pub fn write_json(report: &Report, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    write!(out, "{{\"schema\":{SCHEMA},\n\"entry\":")?;
    serde_json::to_writer(&mut out, &report.entry.as_ref().map(ToString::to_string))?;
    out.write_all(b",\n\"measured\":")?;
    serde_json::to_writer(&mut out, &report.measured)?;
    array(&mut out, "pages", report.pages.iter())?;
    array(&mut out, "resources", resources(report))?;
    out.write_all(b",\n\"totals\":")?;
    serde_json::to_writer(&mut out, &report.totals)?;
    array(&mut out, "decisions", report.decisions.iter())?;
    array(
        &mut out,
        "diagnostics",
        sorted(&report.diagnostics).into_iter().map(Finding::of),
    )?;
    let verdict = &report.verdict;
    array(&mut out, "violations", verdict.violations.iter().map(Broken::of))?;
    out.write_all(b",\n\"baseline\":")?;
    serde_json::to_writer(&mut out, &verdict.comparison.as_ref().map(Compared::of))?;
    out.write_all(b",\n\"journey\":")?;
    serde_json::to_writer(&mut out, &report.journey.as_ref().map(Visit::of))?;
    out.write_all(b"}\n")?;
    out.flush()
}

fn array<T: Serialize>(out: &mut impl Write, name: &str, items: impl Iterator<Item = T>) -> io::Result<()> {
    write!(out, ",\n\"{name}\":[")?;
    // The serializer writes a few bytes at a time; a line is put together in memory first.
    let mut line = Vec::new();
    for (i, item) in items.enumerate() {
        line.clear();
        line.extend_from_slice(if i == 0 { b"\n" } else { b",\n" });
        serde_json::to_writer(&mut line, &item)?;
        out.write_all(&line)?;
    }
    out.write_all(b"]")
}

/// What the pages request, each URL once.
#[derive(Serialize)]
struct Resource<'a> {
    url: &'a str,
    #[serde(flatten)]
    weight: &'a Weight,
}

/// By URL; what does not count has no size to tell.
fn resources(report: &Report) -> impl Iterator<Item = Resource<'_>> {
    let requests = report.pages.iter().flat_map(|page| &page.requests);
    let counts = |r: &&Request| r.counts(Side::Before) || r.counts(Side::After);
    let urls: BTreeMap<&str, &Weight> = requests.filter(counts).map(|r| (&*r.url, &*r.weight)).collect();
    urls.into_iter().map(|(url, weight)| Resource { url, weight })
}

/// A broken limit.
#[derive(Serialize)]
struct Broken<'a> {
    /// `None` where it is about several pages together.
    page: Option<String>,
    per: &'static str,
    rule: &'static str,
    view: &'static str,
    /// Empty for all requests.
    r#type: &'static str,
    unit: &'static str,
    coding: Option<&'static str>,
    value: u64,
    limit: u64,
    new_requests: Vec<&'a str>,
    message: String,
}

impl Broken<'_> {
    fn of(violation: &Violation) -> Broken<'_> {
        let (unit, coding) = match violation.metric.unit {
            Unit::Requests => ("requests", None),
            Unit::Bytes(coding) => ("bytes", Some(coding.name())),
        };
        Broken {
            page: violation.page().map(ToString::to_string),
            per: match violation.subject {
                Subject::Page(_) => "page",
                Subject::Average(_) => "average",
                Subject::Site(_) => "site",
            },
            rule: violation.code(),
            view: match violation.metric.view {
                Which::First => "first",
                Which::FollowUp => "follow_up",
            },
            r#type: match violation.metric.part {
                Part::All => "all",
                part => part.name(),
            },
            unit,
            coding,
            value: violation.value,
            limit: violation.limit,
            new_requests: match violation.are_new {
                true => violation.urls.iter().map(|url| &**url).collect(),
                false => Vec::new(),
            },
            message: violation.to_string(),
        }
    }
}

/// What changed since the baseline.
#[derive(Serialize)]
struct Compared<'a> {
    new: Vec<String>,
    vanished: &'a [String],
    common: u64,
    changed: u64,
    before: &'a Views,
    now: &'a Views,
}

impl Compared<'_> {
    fn of(comparison: &Comparison) -> Compared<'_> {
        Compared {
            new: comparison.new.iter().map(ToString::to_string).collect(),
            vanished: &comparison.vanished,
            common: comparison.common,
            changed: comparison.changed.len() as u64,
            before: &comparison.before,
            now: &comparison.now,
        }
    }
}

#[derive(Serialize)]
struct Visit {
    steps: Vec<VisitStep>,
    before: View,
    after: Option<View>,
}

#[derive(Serialize)]
struct VisitStep {
    page: String,
    before: View,
    after: Option<View>,
}

impl Visit {
    fn of(journey: &Journey) -> Visit {
        let steps = journey.steps.iter().map(|step| VisitStep {
            page: step.page.to_string(),
            before: step.before,
            after: step.after,
        });
        Visit {
            steps: steps.collect(),
            before: journey.before,
            after: journey.after,
        }
    }
}

/// A diagnostic as readers of the JSON see it.
#[derive(Serialize)]
struct Finding<'a> {
    file: String,
    /// Bytes from the start of the file.
    offset: Option<u32>,
    line: Option<u32>,
    column: Option<u32>,
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    help: &'static str,
}

impl Finding<'_> {
    fn of(diagnostic: &Diagnostic) -> Finding<'_> {
        Finding {
            file: diagnostic.file.to_string(),
            offset: diagnostic.at,
            line: diagnostic.position.map(|(line, _)| line),
            column: diagnostic.position.map(|(_, column)| column),
            code: diagnostic.code.name(),
            severity: severity_name(diagnostic.code),
            message: &diagnostic.message,
            help: help(diagnostic.code),
        }
    }
}
