//! The long lists of the HTML report as compact JSON, within a fixed number of bytes.
//!
//! Pages are rows of numbers whose paths say only what differs from the row before; requests point into tables of
//! URLs and initiators. What does not fit is left out by rank, the pages that changed least first, and the notes say
//! so: of a hundred thousand pages usually all have their row, and those that changed most also their requests.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use serde_json::{Value, json};

use super::super::diagnostics::{severity_name, sorted};
use super::super::text::{clean, grouped, shorten};
use super::super::{Page, Report, Request, Side, State, View, ranking};

/// Bytes of the parts. With the markup, whose lists have limits of their own, the whole page is less than 10 MB.
const ROWS: usize = 6_000_000;
const REQUESTS: usize = 2_200_000;
const DECISIONS: usize = 700_000;
const DIAGNOSTICS: usize = 400_000;
/// Characters of a URL at most.
const URL: usize = 1_000;
/// Rows of the table of folders.
const FOLDERS: usize = 100;

pub(super) struct Data {
    built: bool,
    rows: Vec<String>,
    /// By index into `rows`.
    requests: BTreeMap<usize, String>,
    resources: Vec<String>,
    initiators: Vec<String>,
    decisions: Vec<String>,
    reasons: Vec<String>,
    diagnostics: Vec<String>,
    /// What is not in it, for the reader.
    pub(super) notes: Vec<String>,
    /// Only where pages were left out.
    pub(super) folders: Vec<Folder>,
}

/// All pages below a folder of the root.
pub(super) struct Folder {
    pub(super) name: String,
    pub(super) pages: u64,
    pub(super) before: View,
    pub(super) after: View,
}

impl Data {
    pub(super) fn new(report: &Report) -> Data {
        let mut data = Data {
            built: report.totals.after.is_some(),
            rows: Vec::new(),
            requests: BTreeMap::new(),
            resources: Vec::new(),
            initiators: Vec::new(),
            decisions: Vec::new(),
            reasons: Vec::new(),
            diagnostics: Vec::new(),
            notes: Vec::new(),
            folders: Vec::new(),
        };
        let order = ranking::order(report);
        let shown = data.add_rows(report, &order);
        data.add_requests(report, &order, &shown);
        data.add_decisions(report);
        data.add_diagnostics(report);
        data
    }

    /// Returns the pages that have a row, in its order.
    fn add_rows(&mut self, report: &Report, order: &[u32]) -> Vec<u32> {
        let mut over: HashMap<&crate::site::SitePath, u32> = HashMap::new();
        for page in report.verdict.violations.iter().filter_map(|v| v.page()) {
            *over.entry(page).or_default() += 1;
        }
        let mut keep = order.len();
        loop {
            let mut shown = order[..keep].to_vec();
            shown.sort_unstable();
            let mut last = String::new();
            let mut bytes = 0;
            let mut rows = Vec::with_capacity(shown.len());
            for &index in &shown {
                let page = &report.pages[index as usize];
                let path = clean(&page.path.to_string());
                let broken = over.get(&page.path).copied().unwrap_or(0);
                let row = row(page, &last, &path, broken);
                bytes += row.len() + 2;
                rows.push(row);
                last = path;
            }
            if bytes <= ROWS {
                self.rows = rows;
                if keep < order.len() {
                    self.notes.push(format!(
                        "The list has {} of {} pages, those with the greatest changes; a report as CSV or JSON has all.",
                        grouped(keep as u64),
                        grouped(order.len() as u64)
                    ));
                    self.folders = folders(report);
                }
                return shown;
            }
            // Paths that are far apart share less, so a proportional cut may need another.
            keep = (keep as u128 * ROWS as u128 / bytes as u128 * 95 / 100) as usize;
        }
    }

    fn add_requests(&mut self, report: &Report, order: &[u32], shown: &[u32]) {
        let mut tables = Tables::default();
        let mut left = REQUESTS;
        let mut missing = 0;
        for &index in order {
            let Ok(row) = shown.binary_search(&index) else {
                continue;
            };
            let page = &report.pages[index as usize];
            match tables.add(page, left) {
                Some((text, cost)) => {
                    left -= cost;
                    self.requests.insert(row, text);
                }
                None => missing += 1,
            }
        }
        self.resources = tables.resources;
        self.initiators = tables.initiators;
        if missing > 0 {
            self.notes.push(format!(
                "The requests of {} pages are left out, those with the smallest changes; a report as JSON has all.",
                grouped(missing)
            ));
        }
    }

    fn add_decisions(&mut self, report: &Report) {
        let mut reasons: HashMap<&str, usize> = HashMap::new();
        let mut left = DECISIONS;
        let mut order: Vec<usize> = (0..report.decisions.len()).collect();
        // What saves or costs most first, so that this is what is left if there are too many.
        order.sort_by_key(|&i| {
            let cost = &report.decisions[i].cost;
            std::cmp::Reverse((cost.requests_first.unsigned_abs(), cost.bytes_br.unsigned_abs()))
        });
        let mut kept = Vec::new();
        for i in order {
            let decision = &report.decisions[i];
            let next = reasons.len();
            let known = reasons.get(&*decision.reason).copied();
            let row = json!([
                clean(&decision.file.to_string()),
                decision.action,
                known.unwrap_or(next),
                decision.cost.requests_first,
                decision.cost.bytes_br,
            ])
            .to_string()
            .replace('<', LESS);
            let reason = match known {
                Some(_) => String::new(),
                None => quoted(&decision.reason),
            };
            let cost = row.len() + reason.len() + 4;
            if cost > left {
                continue;
            }
            left -= cost;
            if known.is_none() {
                reasons.insert(&decision.reason, next);
                self.reasons.push(reason);
            }
            kept.push((i, row));
        }
        kept.sort_unstable_by_key(|(i, _)| *i);
        self.decisions = kept.into_iter().map(|(_, row)| row).collect();
        self.note_cut("decisions", self.decisions.len(), report.decisions.len());
    }

    fn add_diagnostics(&mut self, report: &Report) {
        let mut left = DIAGNOSTICS;
        for diagnostic in sorted(&report.diagnostics) {
            let place = diagnostic
                .position
                .map(|(line, column)| format!("{line}:{column}"));
            let row = json!([
                clean(&diagnostic.file.to_string()),
                place,
                diagnostic.code.name(),
                severity_name(diagnostic.code),
                clean(&diagnostic.message),
            ])
            .to_string()
            .replace('<', LESS);
            if row.len() + 2 > left {
                continue;
            }
            left -= row.len() + 2;
            self.diagnostics.push(row);
        }
        self.note_cut("diagnostics", self.diagnostics.len(), report.diagnostics.len());
    }

    fn note_cut(&mut self, what: &str, kept: usize, all: usize) {
        if kept < all {
            self.notes.push(format!(
                "Of the {what}, {} of {} are listed; a report as JSON has all.",
                grouped(kept as u64),
                grouped(all as u64)
            ));
        }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let states: Vec<Value> = State::ALL
            .iter()
            .map(|s| json!([s.name(), u8::from(s.counts_before()), u8::from(s.counts_after())]))
            .collect();
        write!(out, "{{\"built\":{},\"states\":{}", self.built, json!(states))?;
        for (name, list) in [
            ("pages", &self.rows),
            ("resources", &self.resources),
            ("initiators", &self.initiators),
            ("decisions", &self.decisions),
            ("reasons", &self.reasons),
            ("diagnostics", &self.diagnostics),
        ] {
            write!(out, ",\n\"{name}\":[")?;
            for (i, item) in list.iter().enumerate() {
                write!(out, "{}{item}", if i == 0 { "\n" } else { ",\n" })?;
            }
            out.write_all(b"]")?;
        }
        out.write_all(b",\n\"requests\":{")?;
        for (i, (row, text)) in self.requests.iter().enumerate() {
            write!(out, "{}\"{row}\":{text}", if i == 0 { "\n" } else { ",\n" })?;
        }
        out.write_all(b"}}")
    }
}

/// `<` in JSON, where it cannot end a script element.
const LESS: &str = "\\u003c";

/// As it will stand in the page, so that its length is the right one.
fn quoted(text: &str) -> String {
    json!(clean(text)).to_string().replace('<', LESS)
}

/// `[shared, rest, requests, bytes, follow-up requests, follow-up bytes, (what OUT saves of each), limits broken and scripts]`.
/// The last is twice the number of limits, and one more where scripts run.
fn row(page: &Page, last: &str, path: &str, broken: u32) -> String {
    // Counted as the script counts: in UTF-16 units, at the boundary of a character.
    let mut shared = 0;
    let mut at = 0;
    for (a, b) in last.chars().zip(path.chars()) {
        if a != b {
            break;
        }
        shared += a.len_utf16();
        at += a.len_utf8();
    }
    let mut text = format!("[{shared},{}", quoted(&path[at..]));
    let numbers = |views: &super::super::Views| {
        [
            views.first.requests,
            views.first.bytes.br,
            views.follow_up.requests,
            views.follow_up.bytes.br,
        ]
    };
    let last_number = 2 * broken + u32::from(page.scripts);
    let before = numbers(&page.before);
    before.iter().for_each(|n| text.push_str(&format!(",{n}")));
    if let Some(after) = &page.after {
        for (was, is) in before.iter().zip(numbers(after)) {
            text.push_str(&format!(",{}", i128::from(*was) - i128::from(is)));
        }
    } else if last_number > 0 {
        text.push_str(",0,0,0,0");
    }
    if last_number > 0 {
        text.push_str(&format!(",{last_number}"));
    }
    text.push(']');
    text
}

/// URLs and initiators, each once.
#[derive(Default)]
struct Tables<'a> {
    resources: Vec<String>,
    initiators: Vec<String>,
    resource_of: HashMap<&'a str, usize>,
    initiator_of: HashMap<&'a str, usize>,
}

impl<'a> Tables<'a> {
    /// The requests of a page and what they add to the size, unless that is more than `most`.
    fn add(&mut self, page: &'a Page, most: usize) -> Option<(String, usize)> {
        let (resources, initiators) = (self.resources.len(), self.initiators.len());
        let document = page.document.bytes;
        let br = |side| document.of(side).map_or(0, |bytes| bytes.br);
        let mut text = format!("[{},{}", br(Side::Before), br(Side::After));
        for request in &page.requests {
            let resource = self.resource(request);
            let initiator = self.initiator(&request.initiator);
            let state = State::ALL
                .iter()
                .position(|state| *state == request.state)
                .unwrap_or(0);
            text.push_str(&format!(",{resource},{initiator},{state}"));
        }
        text.push(']');
        let added = self.resources[resources..]
            .iter()
            .chain(&self.initiators[initiators..]);
        let cost = text.len() + 12 + added.map(|item| item.len() + 2).sum::<usize>();
        if cost > most {
            // Taken back, so that a smaller page may still fit.
            self.resources.truncate(resources);
            self.initiators.truncate(initiators);
            for request in &page.requests {
                if self
                    .resource_of
                    .get(&*request.url)
                    .is_some_and(|&i| i >= resources)
                {
                    self.resource_of.remove(&*request.url);
                }
                if self
                    .initiator_of
                    .get(&*request.initiator)
                    .is_some_and(|&i| i >= initiators)
                {
                    self.initiator_of.remove(&*request.initiator);
                }
            }
            return None;
        }
        Some((text, cost))
    }

    fn resource(&mut self, request: &'a Request) -> usize {
        let next = self.resources.len();
        let index = *self.resource_of.entry(&request.url).or_insert(next);
        if index == next {
            let br = |side| request.weight.bytes.of(side).map(|bytes| bytes.br);
            let (before, after) = (json!(br(Side::Before)), json!(br(Side::After)));
            let content = request.weight.content as usize;
            let url = quoted(&shorten(&request.url, URL));
            self.resources.push(format!("[{url},{content},{before},{after}]"));
        }
        index
    }

    fn initiator(&mut self, name: &'a str) -> usize {
        let next = self.initiators.len();
        let index = *self.initiator_of.entry(name).or_insert(next);
        if index == next {
            self.initiators.push(quoted(name));
        }
        index
    }
}

/// By the first part of the path; the folders with most pages, the others together.
fn folders(report: &Report) -> Vec<Folder> {
    let mut folders: BTreeMap<String, Folder> = BTreeMap::new();
    let mut add = |name: String, pages: u64, before: &View, after: &View| {
        let folder = folders.entry(name.clone()).or_insert(Folder {
            name,
            pages: 0,
            before: View::default(),
            after: View::default(),
        });
        folder.pages += pages;
        folder.before.add(before);
        folder.after.add(after);
    };
    for page in &report.pages {
        let path = page.path.to_string();
        let name = path.split_once('/').map_or("/", |(folder, _)| folder).to_owned();
        add(name, 1, &page.before.first, &page.latest().first);
    }
    let mut list: Vec<Folder> = folders.into_values().collect();
    list.sort_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.name.cmp(&b.name)));
    if list.len() > FOLDERS {
        let mut rest = Folder {
            name: format!("{} other folders", grouped((list.len() - FOLDERS) as u64)),
            pages: 0,
            before: View::default(),
            after: View::default(),
        };
        for folder in list.drain(FOLDERS..) {
            rest.pages += folder.pages;
            rest.before.add(&folder.before);
            rest.after.add(&folder.after);
        }
        list.push(rest);
    }
    list
}
