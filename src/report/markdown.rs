//! A report as Markdown (GitHub's flavour) for a comment on a pull request or the summary of a CI job.
//!
//! Short enough for a comment, whatever the size of the site: lists are cut and say how much is left out. Names from
//! the site stand in code spans only, where they mean nothing but themselves.

use std::io::{self, Write};

use super::ranking::{self, Basis, Row};
use super::text::{average, change, clean, counted, grouped, shorten, size};
use super::{Report, View, Violation, severity};
use crate::diagnostic::Severity;

/// Rows of a table, items of a list.
const ROWS: usize = 15;
/// Characters of a name at most.
const NAME: usize = 100;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let totals = &report.totals;
    writeln!(out, "### {}\n", headline(report))?;
    violations(report, out)?;
    if totals.pages > 0 {
        views(report, out)?;
    }
    if let Some(comparison) = &report.verdict.comparison {
        let row = |label, before: &View, now: &View, out: &mut dyn Write| {
            let pages = comparison.common;
            writeln!(
                out,
                "| {label} | {} | {} |",
                requests(before, now, pages),
                bytes(before, now, pages)
            )
        };
        writeln!(
            out,
            "**Since the baseline**, {} on both sides\n",
            counted(comparison.common, "page")
        )?;
        writeln!(out, "| average page | requests | bytes |\n|---|---|---|")?;
        row("first view", &comparison.before.first, &comparison.now.first, out)?;
        if !comparison.entry_moved {
            row(
                "follow-up view",
                &comparison.before.follow_up,
                &comparison.now.follow_up,
                out,
            )?;
        }
        writeln!(out)?;
        names(out, "new", comparison.new.iter().map(ToString::to_string))?;
        names(out, "vanished", comparison.vanished.iter().cloned())?;
        table(
            report,
            Basis::Baseline,
            "Pages that changed most since the baseline",
            out,
        )?;
    }
    let title = match ranking::basis(report) {
        Basis::Alone => "Pages that request most",
        _ => "Pages that the build changed most",
    };
    table(report, ranking::basis(report), title, out)?;
    journey(report, out)?;
    footer(report, out)
}

fn headline(report: &Report) -> String {
    let totals = &report.totals;
    let pages = totals.pages;
    if pages == 0 {
        return "fewer: no pages".to_owned();
    }
    let before = &totals.before.first;
    match &totals.after {
        None => format!("fewer: {} requests a page", average(before.requests, pages)),
        Some(after) => format!(
            "fewer: {} → {} requests a page, {} → {}",
            average(before.requests, pages),
            average(after.first.requests, pages),
            size(before.bytes.br / pages),
            size(after.first.bytes.br / pages)
        ),
    }
}

fn violations(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let verdict = &report.verdict;
    if verdict.violations.is_empty() {
        if !verdict.judged.is_empty() {
            writeln!(out, "✅ within all limits\n")?;
        }
        return Ok(());
    }
    writeln!(
        out,
        "❌ **{} broken**\n",
        counted(verdict.violations.len() as u64, "limit")
    )?;
    for violation in verdict.violations.iter().take(ROWS) {
        writeln!(out, "- {}", broken(violation))?;
    }
    rest(out, verdict.violations.len(), "- ")?;
    writeln!(out)
}

fn broken(violation: &Violation) -> String {
    let subject = match violation.page() {
        Some(page) => code(&page.to_string()),
        None => violation.subject.to_string(),
    };
    // A limit's file name may hold anything; the rest of a reason is ours.
    let mut text = format!(
        "{subject}: {}",
        violation.reason().replace(['<', '`', '*', '@', '['], "?")
    );
    const URLS: usize = 5;
    for (i, url) in violation.urls.iter().take(URLS).enumerate() {
        let before = match (i, violation.are_new) {
            (0, true) => "; new: ",
            (0, false) => "; requests: ",
            _ => ", ",
        };
        text.push_str(&format!("{before}{}", code(url)));
    }
    if violation.urls.len() > URLS {
        text.push_str(&format!(
            " and {} more",
            grouped((violation.urls.len() - URLS) as u64)
        ));
    }
    text
}

fn views(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let totals = &report.totals;
    let coding = clean(&report.measured.brotli);
    writeln!(
        out,
        "| average page | requests | bytes (brotli {coding}) |\n|---|---|---|"
    )?;
    let after = totals.after.unwrap_or(totals.before);
    for (label, before, after) in [
        ("first view", &totals.before.first, &after.first),
        ("follow-up view", &totals.before.follow_up, &after.follow_up),
    ] {
        let pages = totals.pages;
        match totals.after {
            Some(_) => writeln!(
                out,
                "| {label} | {} | {} |",
                requests(before, after, pages),
                bytes(before, after, pages)
            )?,
            None => writeln!(
                out,
                "| {label} | {} | {} |",
                average(before.requests, pages),
                size(before.bytes.br / pages)
            )?,
        }
    }
    writeln!(out)
}

fn requests(before: &View, after: &View, pages: u64) -> String {
    let (b, a) = (average(before.requests, pages), average(after.requests, pages));
    format!("{b} → {a} ({})", change(before.requests, after.requests))
}

fn bytes(before: &View, after: &View, pages: u64) -> String {
    let pages = pages.max(1);
    format!(
        "{} → {} ({})",
        size(before.bytes.br / pages),
        size(after.bytes.br / pages),
        change(before.bytes.br, after.bytes.br)
    )
}

fn table(report: &Report, basis: Basis, title: &str, out: &mut dyn Write) -> io::Result<()> {
    let rows = ranking::rows(report, basis, ROWS);
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "<details><summary>{title}</summary>\n")?;
    writeln!(
        out,
        "| page | requests | bytes | follow-up requests | follow-up bytes |"
    )?;
    writeln!(out, "|---|--:|--:|--:|--:|")?;
    for Row { path, before, now } in &rows {
        write!(out, "| {} ", code(&path.to_string()))?;
        for (was, is) in [
            (before.map(|views| &views.first), &now.first),
            (before.map(|views| &views.follow_up), &now.follow_up),
        ] {
            match was {
                Some(was) => write!(out, "| {} | {} ", requests(was, is, 1), bytes(was, is, 1))?,
                None => write!(out, "| {} | {} ", grouped(is.requests), size(is.bytes.br))?,
            }
        }
        writeln!(out, "|")?;
    }
    writeln!(out, "\n</details>\n")
}

fn journey(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Some(journey) = &report.journey else {
        return Ok(());
    };
    writeln!(
        out,
        "**A visit of {}**\n",
        counted(journey.steps.len() as u64, "page")
    )?;
    writeln!(out, "| page | requests | bytes |\n|---|--:|--:|")?;
    let cells = |before: &View, after: &Option<View>| match after {
        Some(after) => format!("{} | {}", requests(before, after, 1), bytes(before, after, 1)),
        None => format!("{} | {}", grouped(before.requests), size(before.bytes.br)),
    };
    for step in journey.steps.iter().take(ROWS) {
        let name = code(&step.page.to_string());
        writeln!(out, "| {name} | {} |", cells(&step.before, &step.after))?;
    }
    if journey.steps.len() > ROWS {
        writeln!(out, "| {} more | | |", journey.steps.len() - ROWS)?;
    }
    writeln!(out, "| all | {} |\n", cells(&journey.before, &journey.after))
}

fn footer(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let of = |wanted| {
        let found = report
            .diagnostics
            .iter()
            .filter(|d| severity(d.code) == wanted)
            .count();
        found as u64
    };
    let totals = &report.totals;
    let mut parts = vec![counted(totals.pages, "page"), counted(totals.files, "file")];
    for (count, noun) in [(of(Severity::Warning), "warning"), (of(Severity::Note), "note")] {
        if count > 0 {
            parts.push(counted(count, noun));
        }
    }
    writeln!(
        out,
        "{}. Each request counts {} beside its body.",
        parts.join(", "),
        size(report.measured.request_overhead)
    )
}

fn names(out: &mut dyn Write, what: &str, names: impl ExactSizeIterator<Item = String>) -> io::Result<()> {
    let all = names.len();
    if all == 0 {
        return Ok(());
    }
    let shown: Vec<String> = names.take(ROWS).map(|name| code(&name)).collect();
    let more = match all > ROWS {
        true => format!(" and {} more", grouped((all - ROWS) as u64)),
        false => String::new(),
    };
    writeln!(
        out,
        "{} {what}: {}{more}\n",
        counted(all as u64, "page"),
        shown.join(", ")
    )
}

fn rest(out: &mut dyn Write, all: usize, before: &str) -> io::Result<()> {
    match all > ROWS {
        true => writeln!(out, "{before}and {} more", grouped((all - ROWS) as u64)),
        false => Ok(()),
    }
}

/// A code span, also in a cell of a table. The fence is longer than any run of backticks inside.
fn code(text: &str) -> String {
    let text = shorten(&clean(text), NAME).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    match longest {
        0 => format!("`{text}`"),
        n => {
            let fence = "`".repeat(n + 1);
            format!("{fence} {text} {fence}")
        }
    }
}
