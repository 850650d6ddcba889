//! The summary on standard output: four to ten lines for a person or a CI log, for a stated number of columns.
//!
//! Requests and bytes are averages over the pages, since a sum over all pages is a visit that nobody makes.

use std::cmp::Ordering;

use super::text::{Paint, average, change, clean, counted, grouped, shorten, size};
use super::{Page, Report, Rule, Subject, View, Violation, severity};
use crate::diagnostic::{Code, Severity};
use crate::site::SitePath;

/// Columns of the words at the start of each line.
const LABEL: usize = 16;
/// Pages named as the worst.
const WORST: usize = 3;
/// Columns of a page's name at most, where the line leaves so much.
const NAME: usize = 36;

/// Ends in a line break.
pub fn summary(report: &Report, width: usize, color: bool) -> String {
    let paint = Paint(color);
    let mut lines = vec![head(report)];
    if !report.pages.is_empty() {
        lines.extend(views(report, &paint));
        lines.push(list(
            "most requests",
            &worst(report, width),
            width,
            &paint,
            Paint::bold,
        ));
    }
    if report.totals.scripted > 0 {
        let of = match report.totals.scripted == report.totals.pages {
            true => "the pages".to_owned(),
            false => counted(report.totals.scripted, "page"),
        };
        let text = format!("what the scripts of {of} ask for is not counted");
        lines.push(list("unknown", &[text], width, &paint, Paint::bold));
    }
    if let Some(written) = &report.totals.written
        && (written.gzip > 0 || written.br > 0 || written.zstd > 0)
    {
        let mut sizes = vec![
            format!("{} gzip", size(written.gzip)),
            format!("{} brotli", size(written.br)),
        ];
        if written.zstd > 0 {
            sizes.push(format!("{} zstd", size(written.zstd)));
        }
        lines.push(list("variants", &sizes, width, &paint, Paint::bold));
    }
    if let Some(asked) = &report.totals.asked_for {
        let mean = |bytes: i64| {
            let bytes = bytes.div_euclid((report.totals.pages as i64).max(1));
            format!(
                "{}{}",
                if bytes < 0 { "-" } else { "+" },
                size(bytes.unsigned_abs())
            )
        };
        let items = [format!(
            "{} first view, {} follow-up view ({})",
            mean(asked.first.br),
            mean(asked.follow_up.br),
            asked.options.join(", ")
        )];
        lines.push(list("asked for", &items, width, &paint, Paint::bold));
    }
    // A line each: two of them would not fit into one.
    for (index, source) in report.totals.policy.iter().enumerate() {
        let source = clean(source);
        let (label, text) = match index {
            0 => (
                "policy",
                format!("OUT needs {source} where a server sends a policy"),
            ),
            _ => ("", format!("and {source}")),
        };
        lines.push(list(label, &[text], width, &paint, Paint::yellow));
    }
    for (label, wanted) in [("warnings", Severity::Warning), ("notes", Severity::Note)] {
        let kinds = kinds(report, wanted);
        if !kinds.is_empty() {
            let style = if wanted == Severity::Warning {
                Paint::yellow
            } else {
                Paint::cyan
            };
            lines.push(list(label, &kinds, width, &paint, style));
        }
    }
    lines.extend(against_baseline(report, width, &paint));
    lines.extend(over_budget(report, width, &paint));
    lines.join("\n") + "\n"
}

/// Pages that changed since the baseline; in a second line those that came or went.
fn against_baseline(report: &Report, width: usize, paint: &Paint) -> Vec<String> {
    let Some(comparison) = &report.verdict.comparison else {
        return Vec::new();
    };
    let (mut better, mut worse) = (0, 0);
    for (_, before, now) in &comparison.changed {
        match now.first.requests.cmp(&before.first.requests) {
            Ordering::Less => better += 1,
            Ordering::Greater => worse += 1,
            Ordering::Equal => {}
        }
    }
    let changed = format!(
        "{} with more requests, {} with fewer",
        counted(worse, "page"),
        grouped(better)
    );
    let mut lines = vec![list("baseline", &[changed], width, paint, Paint::bold)];
    let new = comparison
        .new
        .iter()
        .map(|path| clean(&path.to_string()))
        .collect();
    let gone: Vec<String> = comparison.vanished.iter().map(|path| clean(path)).collect();
    let lists: [(&str, Vec<String>); 2] = [("new", new), ("gone", gone)];
    // Two names and their numbers have to fit into the line.
    let room = match lists.iter().all(|(_, names)| !names.is_empty()) {
        true => 12,
        false => NAME,
    };
    let items: Vec<String> = lists
        .iter()
        .filter_map(|(what, names)| {
            let first = shorten(names.first()?, room);
            let rest = if names.len() > 1 { ", ..." } else { "" };
            Some(format!("{} {what} ({first}{rest})", grouped(names.len() as u64)))
        })
        .collect();
    if !items.is_empty() {
        lines.push(list("", &items, width, paint, Paint::bold));
    }
    lines
}

fn over_budget(report: &Report, width: usize, paint: &Paint) -> Option<String> {
    let violations = &report.verdict.violations;
    let first = violations.first()?;
    let is_simple = |violation: &Violation| matches!(violation.rule, Rule::Budget(None));
    let subject = |violation: &Violation| match &violation.subject {
        Subject::Page(page) if is_simple(violation) => name(page, width.saturating_sub(LABEL + 55)),
        Subject::Page(page) => name(page, width.saturating_sub(LABEL + 36)),
        other => other.to_string(),
    };
    let mut items: Vec<String>;
    if violations.iter().all(is_simple) {
        let show = |violation: &Violation| format!("{} {}", subject(violation), grouped(violation.value));
        items = violations.iter().map(show).collect();
        let verb = if violations.len() == 1 { "makes" } else { "make" };
        items[0] = format!(
            "{} {verb} more than {}: {}",
            counted(violations.len() as u64, "page"),
            counted(first.limit, "request"),
            items[0]
        );
    } else {
        items = Vec::new();
        for violation in violations {
            let subject = subject(violation);
            // Worst pages come in a row for each limit; a few names are enough.
            if !items.contains(&subject) && items.len() < WORST + 1 {
                items.push(subject);
            }
        }
        let mut subjects: Vec<&Subject> = violations.iter().map(|violation| &violation.subject).collect();
        subjects.sort_unstable();
        subjects.dedup();
        items.truncate(WORST);
        let rest = subjects.len() - items.len().min(subjects.len());
        items[0] = format!(
            "{} broken: {}",
            counted(violations.len() as u64, "limit"),
            items[0]
        );
        if rest > 0 {
            items.push(format!("{} more", grouped(rest as u64)));
        }
    }
    Some(list("over budget", &items, width, paint, Paint::red))
}

fn head(report: &Report) -> String {
    let totals = &report.totals;
    let sizes = format!(
        "{}, {}",
        counted(totals.pages, "page"),
        counted(totals.files, "file")
    );
    match &totals.written {
        None => sizes,
        Some(written) => format!(
            "{sizes}: {} copied, {} edited, {} excluded",
            grouped(written.copied),
            grouped(written.edited),
            grouped(written.excluded)
        ),
    }
}

/// A table of two rows: first and follow-up view, requests and bytes, before and after.
fn views(report: &Report, paint: &Paint) -> Vec<String> {
    let totals = &report.totals;
    let row = |before: &View, after: Option<&View>| {
        let mean = |bytes: u64| size(bytes.checked_div(totals.pages).unwrap_or(0));
        let mut cells = vec![average(before.requests, totals.pages), mean(before.bytes.br)];
        if let Some(after) = after {
            cells.extend([
                average(after.requests, totals.pages),
                change(before.requests, after.requests),
                mean(after.bytes.br),
                change(before.bytes.br, after.bytes.br),
            ]);
        }
        cells
    };
    let rows = [
        (
            "first view",
            row(
                &totals.before.first,
                totals.after.as_ref().map(|views| &views.first),
            ),
        ),
        (
            "follow-up view",
            row(
                &totals.before.follow_up,
                totals.after.as_ref().map(|views| &views.follow_up),
            ),
        ),
    ];
    let columns: Vec<usize> = (0..rows[0].1.len())
        .map(|i| rows.iter().map(|(_, cells)| cells[i].len()).max().unwrap_or(0))
        .collect();
    // What the cells about requests take, and the column after which those about bytes start.
    let used = if totals.after.is_some() {
        columns[0] + 4 + columns[2] + 2 + columns[3]
    } else {
        columns[0]
    };
    let requests = used.max("requests".len()) + 3;
    let gap = " ".repeat(requests - used);
    let about = if totals.pages == 1 { "" } else { "average page" };
    let coding = clean(&report.measured.brotli);
    let mut lines = vec![format!(
        "{about:LABEL$}{:requests$}bytes (brotli {coding})",
        "requests"
    )];
    for (label, cells) in &rows {
        let cell = |i: usize| format!("{:>width$}", cells[i], width = columns[i]);
        let delta = |i: usize| match cells[i].as_bytes() {
            [b'-', ..] => paint.green(&cell(i)),
            [b'+', ..] => paint.red(&cell(i)),
            _ => cell(i),
        };
        let label = paint.bold(&format!("{label:LABEL$}"));
        lines.push(match &totals.after {
            None => format!("{label}{}{gap}{}", cell(0), cell(1)),
            Some(_) => {
                let requests = format!("{} -> {}  {}", cell(0), cell(2), delta(3));
                format!("{label}{requests}{gap}{} -> {}  {}", cell(1), cell(4), delta(5))
            }
        });
    }
    lines
}

fn worst(report: &Report, width: usize) -> Vec<String> {
    let weight = |page: &Page| (page.latest().first.requests, page.latest().first.bytes.br);
    let mut pages: Vec<&Page> = report.pages.iter().collect();
    let order = |a: &&Page, b: &&Page| weight(b).cmp(&weight(a)).then_with(|| a.path.cmp(&b.path));
    if pages.len() > WORST {
        pages.select_nth_unstable_by(WORST, order);
        pages.truncate(WORST);
    }
    pages.sort_by(order);
    let show = |page: &&Page| {
        let before = page.before.first.requests;
        let after = page.latest().first.requests;
        // Room for both numbers and `, 2 more`.
        let name = name(&page.path, width.saturating_sub(LABEL + 24));
        if before == after {
            format!("{name} {}", grouped(after))
        } else {
            format!("{name} {} -> {}", grouped(before), grouped(after))
        }
    };
    pages.iter().map(show).collect()
}

/// How often each code of this severity occurs, the most frequent first.
fn kinds(report: &Report, wanted: Severity) -> Vec<String> {
    let mut counts: Vec<(Code, u64)> = Vec::new();
    for diagnostic in report
        .diagnostics
        .iter()
        .filter(|diagnostic| severity(diagnostic.code) == wanted)
    {
        match counts.iter_mut().find(|(code, _)| *code == diagnostic.code) {
            Some((_, count)) => *count += 1,
            None => counts.push((diagnostic.code, 1)),
        }
    }
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.name().cmp(b.0.name())));
    counts
        .iter()
        .map(|(code, count)| format!("{} {}", grouped(*count), code.name()))
        .collect()
}

fn name(path: &SitePath, room: usize) -> String {
    shorten(&clean(&path.to_string()), room.clamp(12, NAME))
}

/// As many items as fit after the label, at least one; then how many were left out.
fn list(
    label: &str,
    items: &[String],
    width: usize,
    paint: &Paint,
    style: fn(&Paint, &str) -> String,
) -> String {
    let mut text = String::new();
    let mut columns = LABEL;
    for (i, item) in items.iter().enumerate() {
        let rest = items.len() - i;
        let more = format!(", {} more", grouped(rest as u64));
        let length = item.chars().count() + if i == 0 { 0 } else { 2 };
        let after = if rest == 1 { 0 } else { more.len() };
        if i > 0 && columns + length + after > width {
            text.push_str(&more);
            break;
        }
        if i > 0 {
            text.push_str(", ");
        }
        text.push_str(item);
        columns += length;
    }
    format!("{}{text}", style(paint, &format!("{label:LABEL$}")))
}
