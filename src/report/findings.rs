//! What a check found, for a terminal: equal findings on one line, and a table of how often each code was found.
//!
//! In: the diagnostics of a report. Out: text. A check is asked for all of them, so notes are shown as well.

use std::collections::HashMap;
use std::fmt::Write;

use super::Report;
use super::diagnostics::{help, label, severity, sorted};
use super::text::{Paint, clean, counted, grouped};
use crate::diagnostic::{Code, Diagnostic, Severity};

/// Different findings of one code that are shown, unless all are asked for.
const SHOWN: usize = 5;

/// `a.html:12:7: warning[missing-file]: b.png does not exist (and 3 more places)`, with help below the first of a code.
///
/// Warnings first, codes in the order of the list of codes, files in path order within one. With `all`, every place
/// on a line of its own.
pub fn findings_text(diagnostics: &[Diagnostic], all: bool, color: bool) -> String {
    let paint = Paint(color);
    let mut by_code: HashMap<Code, Vec<&Diagnostic>> = HashMap::new();
    for diagnostic in sorted(diagnostics) {
        by_code.entry(diagnostic.code).or_default().push(diagnostic);
    }
    let mut out = String::new();
    for code in Code::ALL {
        let Some(found) = by_code.get(&code) else { continue };
        let groups = if all {
            found.iter().map(|d| (*d, 1)).collect()
        } else {
            grouped_by_message(found)
        };
        let shown = if all { usize::MAX } else { SHOWN };
        for (nth, (first, places)) in groups.iter().take(shown).enumerate() {
            let place = match first.position {
                Some((line, column)) => format!("{}:{line}:{column}", clean(&first.file.to_string())),
                None => clean(&first.file.to_string()),
            };
            let more = match places - 1 {
                0 => String::new(),
                more => format!(" (and {})", counted(more, "more place")),
            };
            let message = clean(&first.message);
            let _ = writeln!(
                out,
                "{}: {}: {message}{more}",
                paint.bold(&place),
                label(code, &paint)
            );
            if nth == 0 {
                let _ = writeln!(out, "  help: {}", help(code));
            }
        }
        let rest = groups.len().saturating_sub(shown) as u64;
        if rest > 0 {
            let _ = writeln!(out, "{}: {} more like these", label(code, &paint), grouped(rest));
        }
    }
    out
}

/// The first of each message, in order, and how many there are.
fn grouped_by_message<'a>(found: &[&'a Diagnostic]) -> Vec<(&'a Diagnostic, u64)> {
    let mut groups: Vec<(&Diagnostic, u64)> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    for diagnostic in found {
        let at = *index.entry(&diagnostic.message).or_insert_with(|| {
            groups.push((diagnostic, 0));
            groups.len() - 1
        });
        groups[at].1 += 1;
    }
    groups
}

/// The number of pages and files, and of what was found in them. Ends in a line break.
pub fn findings(report: &Report, color: bool) -> String {
    let paint = Paint(color);
    let totals = &report.totals;
    let found = |wanted: Severity| {
        let of = report.diagnostics.iter().filter(|d| severity(d.code) == wanted);
        of.count() as u64
    };
    let (warnings, notes) = (found(Severity::Warning), found(Severity::Note));
    let mut out = format!(
        "{}, {}: {}, {}\n",
        counted(totals.pages, "page"),
        counted(totals.files, "file"),
        counted(warnings, "warning"),
        counted(notes, "note"),
    );
    let mut counts: HashMap<Code, u64> = HashMap::new();
    for diagnostic in &report.diagnostics {
        *counts.entry(diagnostic.code).or_default() += 1;
    }
    for code in Code::ALL {
        if let Some(&count) = counts.get(&code) {
            let _ = writeln!(out, "{:>8}  {}", grouped(count), label(code, &paint));
        }
    }
    out
}
