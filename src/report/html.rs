//! A report as one HTML page that needs nothing else: no request, no network, no installation.
//!
//! In: a report. Out: totals, a chart, broken limits and a visit as plain markup, and the long lists (pages with their
//! requests, decisions, diagnostics) as data (`html/data.rs`) that a script shows a screen at a time. A policy in the
//! page lets only that script and that style work; text from the site is escaped here and set as text there. The page
//! stays under `data::WHOLE` bytes whatever the size of the site, and says what it leaves out.

mod data;

use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::text::{average, change, clean, counted, grouped, shorten, size};
use super::{Content, Report, Side, View, severity};
use crate::diagnostic::Severity;

const STYLE: &str = include_str!("html/report.css");
const SCRIPT: &str = include_str!("html/report.js");

/// Items of the lists that are plain markup.
const LISTED: usize = 200;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut page = String::new();
    head(&mut page);
    page.push_str("<body>\n<a class=\"skip\" href=\"#pages\">Skip to the list of pages</a>\n");
    intro(report, &mut page);
    page.push_str("<main>\n");
    if report.totals.pages > 0 {
        cards(report, &mut page);
        chart(report, &mut page);
    }
    limits(report, &mut page);
    baseline(report, &mut page);
    journey(report, &mut page);
    let data = data::Data::new(report);
    lists(report, &data, &mut page);
    page.push_str("</main>\n");
    footer(report, &mut page);
    out.write_all(page.as_bytes())?;
    out.write_all(b"<script type=\"application/json\" id=\"data\">")?;
    data.write(out)?;
    writeln!(out, "</script>\n<script>{SCRIPT}</script>\n</body>\n</html>")
}

fn head(page: &mut String) {
    let seal = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"content-security-policy\" content=\"default-src 'none'; img-src data:; \
         style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"robots\" content=\"noindex\">\n\
         <title>Report of fewer</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{STYLE}</style>\n</head>\n",
        seal(STYLE),
        seal(SCRIPT)
    );
}

fn intro(report: &Report, page: &mut String) {
    let totals = &report.totals;
    let what = match totals.after {
        Some(_) => "What the build changed",
        None => "What the pages request",
    };
    let _ = write!(page, "<header>\n<h1>{what}</h1>\n<p>");
    let sizes = (counted(totals.pages, "page"), counted(totals.files, "file"));
    let _ = write!(page, "{}, {}", sizes.0, sizes.1);
    if let Some(written) = &totals.written {
        let _ = write!(
            page,
            ": {} copied, {} edited, {} excluded",
            grouped(written.copied),
            grouped(written.edited),
            grouped(written.excluded)
        );
    }
    page.push_str(". ");
    if let Some(entry) = &report.entry {
        let _ = write!(
            page,
            "A visit begins at <code>{}</code>.",
            escape(&entry.to_string())
        );
    }
    page.push_str("</p>\n");
    for source in &totals.policy {
        let _ = writeln!(
            page,
            "<p>OUT needs <code>{}</code> where a server sends a content security policy.</p>",
            escape(source)
        );
    }
    page.push_str("</header>\n");
}

/// The two views of the average page.
fn cards(report: &Report, page: &mut String) {
    let totals = &report.totals;
    let pages = totals.pages;
    page.push_str("<h2>The average page</h2>\n<ul class=\"cards\">\n");
    let after = totals.after.as_ref();
    for (name, before, after) in [
        (
            "first view",
            &totals.before.first,
            after.map(|views| &views.first),
        ),
        (
            "follow-up view",
            &totals.before.follow_up,
            after.map(|views| &views.follow_up),
        ),
    ] {
        let requests = |view: &View| average(view.requests, pages);
        let bytes = |view: &View| size(view.bytes.br / pages);
        let of_requests = |view: &View| view.requests;
        let of_bytes = |view: &View| view.bytes.br;
        card(page, "Requests", name, before, after, &requests, &of_requests);
        card(page, "Bytes", name, before, after, &bytes, &of_bytes);
    }
    page.push_str("</ul>\n");
}

fn card(
    page: &mut String,
    what: &str,
    view: &str,
    before: &View,
    after: Option<&View>,
    show: &dyn Fn(&View) -> String,
    number: &dyn Fn(&View) -> u64,
) {
    let _ = write!(page, "<li>{what}, {view}<strong>{}", show(before));
    if let Some(after) = after {
        let _ = write!(
            page,
            " → {}</strong> {}",
            show(after),
            delta(number(before), number(after))
        );
    } else {
        page.push_str("</strong>");
    }
    page.push_str("</li>\n");
}

fn delta(before: u64, after: u64) -> String {
    let kind = match after.cmp(&before) {
        std::cmp::Ordering::Less => "good",
        std::cmp::Ordering::Equal => "soft",
        std::cmp::Ordering::Greater => "bad",
    };
    format!("<span class=\"{kind}\">{}</span>", change(before, after))
}

/// Requests and bytes of first views by type: stacked bars, and the same numbers as a table.
fn chart(report: &Report, page: &mut String) {
    let pages = report.totals.pages;
    let sides: &[(Side, &str)] = match report.totals.after {
        Some(_) => &[(Side::Before, "before"), (Side::After, "after")],
        None => &[(Side::Before, "now")],
    };
    let sums: Vec<Vec<View>> = sides.iter().map(|(side, _)| by_content(report, *side)).collect();
    let number: [fn(&View) -> u64; 2] = [|view| view.requests, |view| view.bytes.br];
    let show: [fn(u64, u64) -> String; 2] = [average, |sum, pages| size(sum / pages)];
    page.push_str("<h2>First views by type</h2>\n<div class=\"chart\">\n");
    for (what, number, show) in [("Requests", number[0], show[0]), ("Bytes", number[1], show[1])] {
        let all = |views: &Vec<View>| views.iter().map(number).sum::<u64>();
        let scale = sums.iter().map(all).max().unwrap_or(0).max(1);
        let _ = writeln!(page, "<h3>{what}</h3>");
        for (views, (_, label)) in sums.iter().zip(sides) {
            let _ = write!(
                page,
                "<span>{label}</span><svg viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
            );
            let mut x = 0.0;
            for (view, content) in views.iter().zip(Content::ALL) {
                let width = number(view) as f64 * 1000.0 / scale as f64;
                if width > 0.0 {
                    let name = content.name();
                    let _ = write!(
                        page,
                        "<rect class=\"{name}\" x=\"{x:.2}\" width=\"{width:.2}\" height=\"20\"/>"
                    );
                }
                x += width;
            }
            let _ = writeln!(
                page,
                "</svg><span class=\"number\">{}</span>",
                show(all(views), pages)
            );
        }
    }
    page.push_str("</div>\n<div class=\"scroll\"><table>\n<caption>Of the average page, as brotli</caption>\n<thead><tr><th scope=\"col\">Type</th>");
    for (_, label) in sides {
        let _ = write!(page, "<th scope=\"col\" class=\"n\">Requests {label}</th>");
    }
    for (_, label) in sides {
        let _ = write!(page, "<th scope=\"col\" class=\"n\">Bytes {label}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for (i, content) in Content::ALL.iter().enumerate() {
        if sums.iter().all(|views| views[i].requests == 0) {
            continue;
        }
        let name = content.name();
        let _ = write!(
            page,
            "<tr><th scope=\"row\" class=\"type {name}\"><i></i>{name}</th>"
        );
        for (number, show) in number.iter().zip(show) {
            for views in &sums {
                let _ = write!(page, "<td class=\"n\">{}</td>", show(number(&views[i]), pages));
            }
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
}

/// Sums over the first views of all pages, in the order of `Content::ALL`.
fn by_content(report: &Report, side: Side) -> Vec<View> {
    let mut sums = vec![View::default(); Content::ALL.len()];
    for page in &report.pages {
        let document = page.document.bytes.of(side).unwrap_or_default();
        sums[Content::Html as usize].add(&View::one(document));
        for (request, view) in page.loads(side, &report.measured) {
            sums[request.weight.content as usize].add(&view);
        }
    }
    sums
}

fn limits(report: &Report, page: &mut String) {
    let verdict = &report.verdict;
    if verdict.judged.is_empty() {
        return;
    }
    page.push_str("<h2>Limits</h2>\n");
    if verdict.violations.is_empty() {
        page.push_str("<p class=\"good\">Every page is within its limits.</p>\n");
        return;
    }
    let count = verdict.violations.len();
    let _ = writeln!(
        page,
        "<p class=\"bad\">{} broken.</p>\n<ul class=\"plain\">",
        counted(count as u64, "limit")
    );
    for violation in verdict.violations.iter().take(LISTED) {
        let _ = writeln!(page, "<li>{}</li>", escape(&shorten(&violation.to_string(), 600)));
    }
    page.push_str("</ul>\n");
    left_out(page, count);
}

fn left_out(page: &mut String, count: usize) {
    if count > LISTED {
        let _ = writeln!(page, "<p>And {} more.</p>", grouped((count - LISTED) as u64));
    }
}

fn baseline(report: &Report, page: &mut String) {
    let Some(comparison) = &report.verdict.comparison else {
        return;
    };
    let pages = comparison.common;
    page.push_str("<h2>Since the baseline</h2>\n");
    if comparison.entry_moved {
        page.push_str("<p>Visits begin at another page now: follow-up views are not compared.</p>\n");
    }
    if pages > 0 {
        let (before, now) = (&comparison.before.first, &comparison.now.first);
        let _ = writeln!(
            page,
            "<p>{} on both sides, first view of the average one: {} → {} requests {}, {} → {} {}. \
             {} changed.</p>",
            counted(pages, "page"),
            average(before.requests, pages),
            average(now.requests, pages),
            delta(before.requests, now.requests),
            size(before.bytes.br / pages),
            size(now.bytes.br / pages),
            delta(before.bytes.br, now.bytes.br),
            counted(comparison.changed.len() as u64, "page")
        );
    }
    let new = comparison.new.iter().map(ToString::to_string).collect();
    for (what, names) in [
        ("New pages", new),
        ("Vanished pages", comparison.vanished.clone()),
    ] {
        let names: Vec<String> = names;
        if names.is_empty() {
            continue;
        }
        let _ = writeln!(
            page,
            "<details><summary>{what}: {}</summary>\n<ul class=\"plain\">",
            grouped(names.len() as u64)
        );
        for name in names.iter().take(LISTED) {
            let _ = writeln!(page, "<li class=\"path\">{}</li>", escape(&shorten(name, 300)));
        }
        page.push_str("</ul>\n");
        left_out(page, names.len());
        page.push_str("</details>\n");
    }
}

fn journey(report: &Report, page: &mut String) {
    let Some(journey) = &report.journey else {
        return;
    };
    page.push_str(
        "<h2>A visit</h2>\n<div class=\"scroll\"><table>\n<caption>What each step requests while the cache keeps what \
         came before</caption>\n<thead><tr><th scope=\"col\">Page</th><th scope=\"col\" class=\"n\">Requests</th>\
         <th scope=\"col\" class=\"n\">Bytes</th></tr></thead>\n<tbody>\n",
    );
    let cells = |before: &View, after: &Option<View>| match after {
        Some(after) => format!(
            "<td class=\"n\"><span>{} → {}</span> {}</td><td class=\"n\"><span>{} → {}</span> {}</td>",
            grouped(before.requests),
            grouped(after.requests),
            delta(before.requests, after.requests),
            size(before.bytes.br),
            size(after.bytes.br),
            delta(before.bytes.br, after.bytes.br)
        ),
        None => format!(
            "<td class=\"n\">{}</td><td class=\"n\">{}</td>",
            grouped(before.requests),
            size(before.bytes.br)
        ),
    };
    for step in journey.steps.iter().take(LISTED) {
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\" class=\"path\">{}</th>{}</tr>",
            escape(&step.page.to_string()),
            cells(&step.before, &step.after)
        );
    }
    let _ = writeln!(
        page,
        "</tbody>\n<tfoot><tr><th scope=\"row\">All {} steps</th>{}</tr></tfoot>\n</table></div>",
        journey.steps.len(),
        cells(&journey.before, &journey.after)
    );
}

/// A list that the script fills. `heads`: name, class; the words of an empty one stand in for a list.
struct List<'a> {
    id: &'a str,
    title: &'a str,
    caption: &'a str,
    heads: &'a [(&'a str, &'a str)],
    /// Value and name.
    choices: &'a [(&'a str, &'a str)],
}

fn lists(report: &Report, data: &data::Data, page: &mut String) {
    let built = report.totals.after.is_some();
    let mut choices = vec![("", "all")];
    if built {
        choices.extend([
            ("fewer", "with fewer requests"),
            ("same", "with as many as before"),
        ]);
    }
    if !report.verdict.violations.is_empty() {
        choices.push(("over", "over budget"));
    }
    list(
        page,
        &List {
            id: "pages",
            title: "Pages",
            caption: "A page's name opens the list of its requests",
            heads: &[
                ("Page", ""),
                ("Requests", "n"),
                ("Bytes", "n"),
                ("Follow-up requests", "n wide"),
                ("Follow-up bytes", "n wide"),
            ],
            choices: &choices,
        },
    );
    for note in &data.notes {
        let _ = writeln!(page, "<p class=\"soft\">{note}</p>");
    }
    folders(report, data, page);
    if !report.decisions.is_empty() {
        let mut actions: Vec<&str> = report.decisions.iter().map(|d| d.action).collect();
        actions.sort_unstable();
        actions.dedup();
        let mut choices = vec![("", "all")];
        choices.extend(actions.iter().map(|action| (*action, *action)));
        list(
            page,
            &List {
                id: "decisions",
                title: "Decisions",
                caption: "What was done with a file, or why not; sums over all first views, negative numbers save",
                heads: &[
                    ("File", ""),
                    ("Action", ""),
                    ("Reason", ""),
                    ("Requests", "n"),
                    ("Bytes", "n wide"),
                ],
                choices: &choices,
            },
        );
    }
    if !report.diagnostics.is_empty() {
        list(
            page,
            &List {
                id: "diagnostics",
                title: "Diagnostics",
                caption: "Faults of the site, and what was left alone",
                heads: &[("Place", ""), ("Kind", ""), ("Message", "")],
                choices: &[("", "all"), ("warning", "warnings"), ("note", "notes")],
            },
        );
    }
}

fn list(page: &mut String, list: &List<'_>) {
    let List {
        id, title, caption, ..
    } = list;
    let _ = write!(
        page,
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n<div class=\"tools\">\n\
         <label>Find <input type=\"search\" autocomplete=\"off\" spellcheck=\"false\"></label>\n<label>Show <select>"
    );
    for (value, name) in list.choices {
        let _ = write!(page, "<option value=\"{value}\">{name}</option>");
    }
    let _ = write!(
        page,
        "</select></label>\n<span role=\"status\"></span>\n</div>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-labelledby=\"{id}-title\"><table>\n<caption>{caption}</caption>\n<thead><tr>"
    );
    for (name, class) in list.heads {
        let _ = write!(
            page,
            "<th scope=\"col\" class=\"{class}\"><button type=\"button\">{name}</button></th>"
        );
    }
    page.push_str(
        "</tr></thead>\n<tbody></tbody></table></div>\n<div class=\"tools pager\"><button type=\"button\">Back</button>\
         <button type=\"button\">Next</button></div>\n",
    );
    let _ = writeln!(
        page,
        "<noscript><p>This list needs JavaScript; a report as CSV or JSON does not.</p></noscript>\n</section>"
    );
}

/// Where the list leaves pages out, the folders still tell of all of them.
fn folders(report: &Report, data: &data::Data, page: &mut String) {
    if data.folders.is_empty() {
        return;
    }
    let built = report.totals.after.is_some();
    page.push_str(
        "<h3>Folders</h3>\n<div class=\"scroll\"><table>\n<caption>Average first views</caption>\n<thead><tr>\
         <th scope=\"col\">Folder</th><th scope=\"col\" class=\"n\">Pages</th><th scope=\"col\" class=\"n\">Requests</th>\
         <th scope=\"col\" class=\"n\">Bytes</th></tr></thead>\n<tbody>\n",
    );
    for folder in &data.folders {
        let (before, after, pages) = (&folder.before, &folder.after, folder.pages);
        let cell = |was: String, is: String, b: u64, a: u64| match built {
            true => format!("{was} → {is} {}", delta(b, a)),
            false => was,
        };
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\" class=\"path\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td></tr>",
            escape(&folder.name),
            grouped(pages),
            cell(
                average(before.requests, pages),
                average(after.requests, pages),
                before.requests,
                after.requests
            ),
            cell(
                size(before.bytes.br / pages),
                size(after.bytes.br / pages),
                before.bytes.br,
                after.bytes.br
            )
        );
    }
    page.push_str("</tbody></table></div>\n");
}

fn footer(report: &Report, page: &mut String) {
    let measured = &report.measured;
    let warnings = report
        .diagnostics
        .iter()
        .filter(|d| severity(d.code) == Severity::Warning)
        .count();
    let _ = writeln!(
        page,
        "<footer>\n<p>Bytes are bodies as brotli {} and {} for each request. A window of {} by {} pixels. {}.</p>\n\
         <p>A first view has an empty cache; a follow-up view comes from the entry page, and is a reload for that page \
         itself. Made by fewer {}.</p>\n</footer>",
        escape(&measured.brotli),
        size(measured.request_overhead),
        measured.viewport.width,
        measured.viewport.height,
        counted(warnings as u64, "warning"),
        env!("CARGO_PKG_VERSION")
    );
}

/// For text and for attributes in double quotes; nothing of it turns the direction of writing.
fn escape(text: &str) -> String {
    clean(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
