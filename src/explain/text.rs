//! What a build does about one file, in lines of at most 80 columns.
//!
//! In: the report of a dry run, and the site and graph it was made of. Out: the numbers on both sides, the decisions
//! about the file, what was found wrong in it, and for a page what becomes of everything that it requests.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{Destination, Graph};
use crate::media::{self, Media};
use crate::report::text::{clean, counted, grouped};
use crate::report::{Cost, Decision, Page, Report, State, View, help};
use crate::site::{FileId, Site, SitePath};

/// Columns of the text.
const WIDTH: usize = 80;
/// The column at which reasons begin.
const INDENT: usize = 11;

/// Everything that is to say of one file.
pub(super) fn text(site: &Site, graph: &Graph, report: &Report, file: FileId) -> String {
    let entry = site.file(file);
    let page = graph.page_of(file).map(|page| &report.pages[page as usize]);
    let asks = asks(graph, report, file);
    let mut out = String::new();
    let views = match page {
        Some(_) => asks.before + 1,
        None => asks.before,
    };
    let bytes = counted(entry.size, "byte");
    let asked = match page {
        Some(_) if asks.before == 0 => String::new(),
        Some(_) => format!(", shown in frames of {}", counted(asks.before, "page")),
        None => format!(", {asks}"),
    };
    let head = format!("{}: {}, {bytes}{asked}", entry.path, media::mime(entry.media));
    wrap(&mut out, "", 0, &head);
    if let Some(page) = page {
        table(&mut out, report, page);
    }
    let mut decisions = decisions(report, &entry.path);
    if asks.before > 0 && asks.after == 0 {
        // Where it might have gone as well.
        decisions.retain(|decision| decision.action != "keep");
    }
    for decision in &decisions {
        wrap(&mut out, decision.action, INDENT, &decision.reason);
        for line in savings(decision.cost, views) {
            wrap(&mut out, "", INDENT, &line);
        }
    }
    if decisions.is_empty() {
        let (label, why) = undecided(site, graph, page, file);
        wrap(&mut out, label, INDENT, &why);
    }
    for diagnostic in report.diagnostics.iter().filter(|d| d.file == entry.path) {
        let place = diagnostic
            .position
            .map(|(line, column)| format!("{line}:{column}: "));
        let (code, place) = (diagnostic.code, place.unwrap_or_default());
        let note = format!("{}: {place}{}", code.name(), diagnostic.message);
        wrap(&mut out, "note", INDENT, &note);
        wrap(&mut out, "", INDENT, &format!("help: {}", help(code)));
    }
    if let Some(page) = page {
        list_requests(&mut out, site, graph, report, page);
    }
    out
}

/// Pages that request a file in their view, other than itself.
struct Asks {
    before: u64,
    after: u64,
}

impl std::fmt::Display for Asks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.before, self.after) {
            (0, _) => write!(f, "requested by no page"),
            (n, 0) => write!(f, "requested by {}, after a build by none", counted(n, "page")),
            (n, m) if n == m => write!(f, "requested by {}", counted(n, "page")),
            (n, m) => write!(
                f,
                "requested by {}, after a build by {}",
                counted(n, "page"),
                grouped(m)
            ),
        }
    }
}

fn asks(graph: &Graph, report: &Report, file: FileId) -> Asks {
    let addresses = graph.addresses.iter();
    let urls: BTreeSet<&str> = addresses
        .filter(|address| address.to == Destination::File(file))
        .map(|address| address.url.as_str())
        .collect();
    let mut asks = Asks { before: 0, after: 0 };
    for page in &report.pages {
        let states = page.requests.iter().filter(|r| urls.contains(&*r.url));
        let states: Vec<State> = states.map(|request| request.state).collect();
        let before = |state: &State| !matches!(state, State::Added | State::Icon | State::External);
        let after = |state: &State| before(state) && !has_moved(*state) || *state == State::Added;
        asks.before += u64::from(states.iter().any(before));
        asks.after += u64::from(states.iter().any(after));
    }
    asks
}

fn has_moved(state: State) -> bool {
    matches!(
        state,
        State::Inlined | State::Combined | State::Shared | State::Same
    )
}

/// The page's views on both sides.
fn table(out: &mut String, report: &Report, page: &Page) {
    let after = page.after.unwrap_or(page.before);
    let row = |name: &str, was: &View, is: &View| {
        let cell = |was: u64, is: u64| format!("{} -> {}", grouped(was), grouped(is));
        [
            name.to_owned(),
            cell(was.requests, is.requests),
            cell(was.bytes.gzip, is.bytes.gzip),
            cell(was.bytes.br, is.bytes.br),
        ]
    };
    let rows = [
        ["", "requests", "bytes (gzip)", "bytes (brotli)"].map(str::to_owned),
        row("first view", &page.before.first, &after.first),
        row("follow-up view", &page.before.follow_up, &after.follow_up),
    ];
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths = [0, 1, 2, 3].map(|column| width(column).unwrap_or_default());
    for row in &rows {
        let cells = row.iter().zip(widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match column {
            0 => format!("  {cell:width$}"),
            _ => format!("{cell:>width$}"),
        });
        out.push_str(cells.collect::<Vec<_>>().join("   ").trim_end());
        out.push('\n');
    }
    let overhead = report.measured.request_overhead;
    let note = format!(
        "Each request counts as its body and {}.",
        counted(overhead, "byte")
    );
    wrap(out, "", 2, &note);
}

/// The decisions about a file, each once, in an order that does not depend on that of the passes.
fn decisions<'a>(report: &'a Report, path: &SitePath) -> Vec<&'a Decision> {
    let mut found: Vec<&Decision> = report.decisions.iter().filter(|d| d.file == *path).collect();
    found.sort_by(|a, b| (a.action, &a.reason).cmp(&(b.action, &b.reason)));
    found.dedup_by(|a, b| (a.action, &a.reason) == (b.action, &b.reason));
    found
}

/// Why there was nothing to decide.
fn undecided(site: &Site, graph: &Graph, page: Option<&Page>, file: FileId) -> (&'static str, String) {
    let entry = site.file(file);
    if let Some(plain) = entry.variant_of {
        let plain = &site.file(plain).path;
        let why = format!("a variant of {plain}: made anew, or left out where that has none");
        return ("keep", why);
    }
    if !entry.editable {
        let why = "left out by --include or --exclude: copied byte for byte";
        return ("keep", why.to_owned());
    }
    let facts = graph.page_of(file).map(|page| &graph.pages[page as usize]);
    if facts.is_some_and(|page| page.encoding.is_none()) {
        let why = "in UTF-16, which is not edited: copied byte for byte";
        return ("keep", why.to_owned());
    }
    if let Some(why) = facts.and_then(|page| page.opaque.as_deref()) {
        return ("keep", format!("copied byte for byte: {why}"));
    }
    let moves = |page: &Page| {
        let mut states = page.requests.iter().map(|request| request.state);
        states.any(|state| has_moved(state) || state == State::Added)
    };
    if page.is_some_and(moves) {
        return ("edit", "its markup follows what is said below".to_owned());
    }
    let why = match entry.media {
        Media::Html | Media::Xhtml => "nothing in it could be made to ask for less or to be shorter",
        _ => "no pass had anything to decide about it",
    };
    ("keep", format!("{why}: copied byte for byte"))
}

/// What a decision does to an average first view, and to a follow-up view if it does anything there.
fn savings(cost: Cost, views: u64) -> Vec<String> {
    let line = |amounts: &[(i64, &str)], view: &str| {
        let side = |verb: &str, sign: i64| {
            let amounts: Vec<String> = amounts
                .iter()
                .filter(|(n, _)| n.signum() == sign)
                .map(|(n, unit)| average(n.unsigned_abs(), views, unit))
                .collect();
            (!amounts.is_empty()).then(|| format!("{verb} {}", amounts.join(", ")))
        };
        let sides: Vec<String> = [side("saves", -1), side("costs", 1)]
            .into_iter()
            .flatten()
            .collect();
        let of = match views {
            0 | 1 => view.to_owned(),
            n => format!("{view}, on average of {n} pages"),
        };
        (!sides.is_empty()).then(|| format!("{} on its {of}", sides.join(" and ")))
    };
    let first = [
        (cost.requests_first, "request"),
        (cost.bytes_gzip, "byte (gzip)"),
        (cost.bytes_br, "byte (brotli)"),
    ];
    let follow_up = [(cost.requests_follow_up, "request")];
    [line(&first, "first view"), line(&follow_up, "follow-up view")]
        .into_iter()
        .flatten()
        .collect()
}

/// `sum / count` with its unit, to one decimal where that is no whole number.
fn average(sum: u64, count: u64, unit: &str) -> String {
    let count = count.max(1);
    let plural = |one: bool| match unit.split_once(' ') {
        _ if one => unit.to_owned(),
        Some((noun, rest)) => format!("{noun}s {rest}"),
        None => format!("{unit}s"),
    };
    if sum.is_multiple_of(count) {
        return format!("{} {}", sum / count, plural(sum == count));
    }
    let tenths = (u128::from(sum) * 10 + u128::from(count) / 2) / u128::from(count);
    format!("{}.{} {}", tenths / 10, tenths % 10, plural(false))
}

/// What becomes of everything that a page requests, a line for each decision about it.
fn list_requests(out: &mut String, site: &Site, graph: &Graph, report: &Report, page: &Page) {
    let mut lines = Vec::new();
    let mut seen = BTreeSet::new();
    let files: BTreeMap<&str, FileId> = graph
        .addresses
        .iter()
        .filter_map(|address| match address.to {
            Destination::File(file) => Some((address.url.as_str(), file)),
            _ => None,
        })
        .collect();
    for request in &page.requests {
        let label = match request.state {
            State::Missing => "missing",
            State::Added => "add",
            State::External => "other",
            State::Icon => "icon",
            State::Combined => "combine",
            State::Shared => "share",
            State::Same => "same",
            State::Inlined => "inline",
            _ => "keep",
        };
        let file = files.get(&*request.url).filter(|_| request.state != State::Icon);
        let Some(&file) = file else {
            lines.push(format!("  {label:8} {}", clean(&request.url)));
            continue;
        };
        if !seen.insert(file) {
            continue;
        }
        let path = &site.file(file).path;
        let moved = has_moved(request.state);
        let told = decisions(report, path).into_iter();
        let told = told.filter(|d| moved != matches!(d.action, "keep" | "minify" | "flatten"));
        let before = lines.len();
        lines.extend(told.map(|d| format!("  {:8} {path}: {}", d.action, d.reason)));
        if lines.len() == before {
            lines.push(format!("  {label:8} {path}"));
        }
    }
    if lines.is_empty() {
        return;
    }
    out.push_str("\nwhat it requests:\n");
    for line in lines {
        match line.char_indices().nth(WIDTH) {
            // The place of the character that makes room for the dots.
            Some(_) => {
                let cut = line
                    .char_indices()
                    .nth(WIDTH - 3)
                    .map_or(line.len(), |(at, _)| at);
                out.push_str(&line[..cut]);
                out.push_str("...\n");
            }
            None => {
                out.push_str(&line);
                out.push('\n');
            }
        }
    }
}

/// Writes `text` in lines of at most `WIDTH` columns that begin at column `indent`; `label` stands before the first.
fn wrap(out: &mut String, label: &str, indent: usize, text: &str) {
    let mut line = match indent {
        0 => String::new(),
        _ => format!("{:indent$}", format!("  {label}")),
    };
    let mut columns = line.chars().count();
    let mut is_first = true;
    for word in text.split(' ') {
        let length = word.chars().count();
        if !is_first && columns + 1 + length > WIDTH {
            out.push_str(line.trim_end());
            out.push('\n');
            line = " ".repeat(indent.max(2));
            columns = line.len();
            is_first = true;
        }
        if !is_first {
            line.push(' ');
            columns += 1;
        }
        is_first = false;
        // A name longer than a line goes on in the next one.
        for c in word.chars() {
            if columns == WIDTH {
                out.push_str(&line);
                out.push('\n');
                line = " ".repeat(indent.max(2));
                columns = line.len();
            }
            line.push(c);
            columns += 1;
        }
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_eighty_columns() {
        let long = format!("{} {}", "word ".repeat(40), "x".repeat(200));
        for (label, indent) in [("", 0), ("inline", INDENT)] {
            let mut out = String::new();
            wrap(&mut out, label, indent, &long);
            assert!(out.lines().all(|line| line.chars().count() <= WIDTH), "{out}");
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(letters(&out), format!("{label}{}", letters(&long)));
        }
    }

    #[test]
    fn savings_in_words() {
        let cost = |requests_first, requests_follow_up, bytes_gzip, bytes_br| Cost {
            requests_first,
            requests_follow_up,
            bytes_gzip,
            bytes_br,
        };
        let check = |cost, views, expected: &[&str]| assert_eq!(savings(cost, views), expected);
        check(cost(0, 0, 0, 0), 5, &[]);
        check(
            cost(-1, 0, -12, 1),
            1,
            &["saves 1 request, 12 bytes (gzip) and costs 1 byte (brotli) on its first view"],
        );
        check(
            cost(-12, -3, -100, -98),
            12,
            &[
                "saves 1 request, 8.3 bytes (gzip), 8.2 bytes (brotli) on its first view, on average of 12 pages",
                "saves 0.3 requests on its follow-up view, on average of 12 pages",
            ],
        );
    }
}
