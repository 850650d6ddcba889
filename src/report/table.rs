//! Tables below the summary: the pages that changed most (or request most), with bars, and the steps of a visit.
//!
//! For a stated number of columns. A site of a few pages has no table of them: the summary names them all.

use super::ranking::{self, Basis};
use super::text::{Paint, change, clean, counted, grouped, shorten, size};
use super::{Report, View};

/// Pages shown; also the least number of pages worth a table.
const ROWS: usize = 6;
const FEW: usize = 3;
/// Steps of a visit shown.
const STEPS: usize = 20;
/// Columns of a bar.
const BAR: usize = 12;
/// Columns of a name at least.
const NAME: usize = 12;

/// One line of a table.
struct Line {
    name: String,
    before: Option<View>,
    now: View,
}

/// Empty, or ends in a line break.
pub fn tables(report: &Report, width: usize, color: bool) -> String {
    let paint = Paint(color);
    let mut out = String::new();
    if report.pages.len() > FEW {
        let (basis, title) = match (ranking::basis(report), &report.verdict.comparison) {
            (Basis::Build, _) => (Basis::Build, "pages that changed most"),
            (_, Some(_)) => (Basis::Baseline, "pages that changed most since the baseline"),
            _ => (Basis::Alone, "pages that request most"),
        };
        let rows = ranking::rows(report, basis, ROWS);
        let lines: Vec<Line> = rows
            .iter()
            .map(|row| Line {
                name: clean(&row.path.to_string()),
                before: row.before.map(|views| views.first),
                now: row.now.first,
            })
            .collect();
        table(title, &lines, width, &paint, &mut out);
    }
    if let Some(journey) = &report.journey {
        let line = |name: String, before: View, after: Option<View>| Line {
            name,
            before: after.map(|_| before),
            now: after.unwrap_or(before),
        };
        let steps = journey.steps.iter().enumerate().take(STEPS);
        let mut lines: Vec<Line> = steps
            .map(|(i, step)| {
                let name = format!("{}. {}", i + 1, clean(&step.page.to_string()));
                line(name, step.before, step.after)
            })
            .collect();
        let all = journey.steps.len();
        if all > STEPS {
            lines.truncate(STEPS);
        }
        let title = format!("a visit of {}", counted(all as u64, "page"));
        lines.push(line("all steps".to_owned(), journey.before, journey.after));
        table(&title, &lines, width, &paint, &mut out);
        if all > STEPS {
            out.push_str(&format!("{} more steps are only in the sum\n", all - STEPS));
        }
    }
    out
}

fn table(title: &str, lines: &[Line], width: usize, paint: &Paint, out: &mut String) {
    if lines.is_empty() {
        return;
    }
    let cells: Vec<[String; 3]> = lines.iter().map(cells).collect();
    let column = |i: usize| cells.iter().map(|c| c[i].chars().count()).max().unwrap_or(0);
    let (requests, bytes, delta) = (
        column(0).max("requests".len()),
        column(1).max("bytes".len()),
        column(2),
    );
    let taken = 2 + requests + 1 + BAR + 2 + bytes + if delta > 0 { 2 + delta } else { 0 };
    let longest = lines
        .iter()
        .map(|line| line.name.chars().count())
        .max()
        .unwrap_or(0);
    let room = width.saturating_sub(taken).max(NAME);
    let name = longest.max(title.len().min(room)).min(room);
    let scale = lines
        .iter()
        .map(|line| line.before.map_or(0, |view| view.requests).max(line.now.requests))
        .max()
        .unwrap_or(0);
    let head = format!(
        "\n{}  {:<used$}  bytes",
        paint.bold(&format!("{:<name$}", shorten(title, name))),
        "requests",
        used = requests + 1 + BAR
    );
    out.push_str(head.trim_end());
    out.push('\n');
    for (line, [asked, sent, percent]) in lines.iter().zip(&cells) {
        let label = format!("{:<name$}", shorten(&line.name, name));
        let percent = match percent.as_bytes() {
            [] => String::new(),
            [b'-', ..] => format!("  {}", paint.green(&format!("{percent:>delta$}"))),
            [b'+', ..] => format!("  {}", paint.red(&format!("{percent:>delta$}"))),
            _ => format!("  {percent:>delta$}"),
        };
        let bar = bar(line, scale, paint);
        out.push_str(&format!(
            "{label}  {asked:>requests$} {bar}  {sent:>bytes$}{percent}\n"
        ));
    }
}

fn cells(line: &Line) -> [String; 3] {
    let now = &line.now;
    match &line.before {
        Some(before) => [
            format!("{} -> {}", grouped(before.requests), grouped(now.requests)),
            format!("{} -> {}", size(before.bytes.br), size(now.bytes.br)),
            change(before.bytes.br, now.bytes.br),
        ],
        None => [grouped(now.requests), size(now.bytes.br), String::new()],
    }
}

/// What is requested now, then what no longer is.
fn bar(line: &Line, scale: u64, paint: &Paint) -> String {
    let length = |requests: u64| match requests {
        0 => 0,
        n => ((n as u128 * BAR as u128).div_ceil(scale.max(1) as u128) as usize).min(BAR),
    };
    let now = length(line.now.requests);
    let before = line.before.map_or(now, |view| length(view.requests));
    let kept = "█".repeat(now);
    match before > now {
        true => {
            let gone = paint.green(&"░".repeat(before - now));
            format!("{kept}{gone}{}", " ".repeat(BAR - before))
        }
        false => format!("{kept}{}", " ".repeat(BAR - now)),
    }
}
