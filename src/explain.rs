//! `fewer explain SITE PATH`: what a build decides about one file, and why, in words for a terminal of 80 columns.
//!
//! Reads, links and decides as a dry run does; prints the decisions whose file it is. For a page the decisions about
//! the sheets and images that it requests follow, a line each. Nothing is written.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::build::{self, Progress};
use crate::diagnostic::Diagnostic;
use crate::graph::{self, Destination, Graph};
use crate::media::{self, Media};
use crate::nearest::nearest;
use crate::options::Options;
use crate::plan::{Cost, Decision, Plan};
use crate::site::{self, FileId, Site};
use crate::{disk, traffic, url};

/// Columns of the text.
const WIDTH: usize = 80;
/// The column at which reasons begin.
const INDENT: usize = 11;

/// `path`: in SITE, from the current folder (`SITE/img/logo.png`), or as a URL path (`/img/logo.png`).
pub fn explain(
    root: &Path,
    options: &Options,
    path: &Path,
    progress: Progress<'_>,
) -> anyhow::Result<String> {
    progress("reading");
    let (site, mut diagnostics) = site::read(root, options)?;
    let file = find(&site, root, options, path)?;
    progress("linking");
    let (graph, found) = graph::link(&site, options)?;
    diagnostics.extend(found);
    progress("deciding");
    let plan = Plan {
        decisions: build::decisions(&site, &graph, options)?,
        ..Plan::default()
    };
    Ok(text(&site, &graph, &plan, &diagnostics, file))
}

/// The file that is meant.
fn find(site: &Site, root: &Path, options: &Options, path: &Path) -> anyhow::Result<FileId> {
    let names = names(site, root, options, path)?;
    let find = |name: &Vec<u8>| {
        let index = || site.find(&[name.as_slice(), b"index.html"].concat());
        let in_folder = || site.find(&[name.as_slice(), b"/index.html"].concat());
        match name.as_slice() {
            [] | [.., b'/'] => index(),
            _ => site.find(name).or_else(in_folder),
        }
    };
    if let Some(file) = names.iter().find_map(find) {
        return Ok(file);
    }
    let shown = disk::shown(path);
    let bare = |name: &Vec<u8>| name.strip_suffix(b"/").unwrap_or(name).to_vec();
    anyhow::ensure!(
        !names.iter().any(|name| site.has_folder(&bare(name))),
        "{shown} is a folder without index.html: name a file in it"
    );
    let all: Vec<String> = site.files.iter().map(|file| file.path.to_string()).collect();
    match like(&names, &all).as_slice() {
        [] => anyhow::bail!("{shown}: SITE has no such file"),
        near => anyhow::bail!(
            "{shown}: SITE has no such file; did you mean {}?",
            near.join(", ")
        ),
    }
}

/// Up to three paths that look like one of the names, or have it in some folder.
fn like<'a>(names: &[Vec<u8>], all: &'a [String]) -> Vec<&'a str> {
    let names: Vec<_> = names.iter().map(|name| String::from_utf8_lossy(name)).collect();
    let near = |name: &str| nearest(name, all.iter().map(String::as_str), 3);
    let in_folder = |name: &str| -> Vec<&str> {
        let is_end = |path: &&str| path.strip_suffix(name).is_some_and(|rest| rest.ends_with('/'));
        let all = all.iter().map(String::as_str);
        all.filter(is_end).take(3).collect()
    };
    let found = names.iter().map(|name| near(name));
    let found = found.chain(names.iter().map(|name| in_folder(name)));
    found
        .into_iter()
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// The paths in SITE that may be meant, most literal first; the last one is that of a URL.
fn names(site: &Site, root: &Path, options: &Options, path: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    let mut names = Vec::new();
    if !path.is_absolute() {
        names.push(bytes(path.strip_prefix(".").unwrap_or(path)));
    }
    names.extend(path.strip_prefix(root).ok().map(bytes));
    if let Ok(real) = disk::real(path)
        && let Ok(below) = real.strip_prefix(&site.root)
    {
        names.push(bytes(below));
    }
    let mount = url::mount(options.base_url.as_deref())?;
    let mut text = path.as_os_str().as_bytes();
    if let Some(at) = text.iter().position(|b| matches!(b, b'?' | b'#')) {
        text = &text[..at];
    }
    let decoded = traffic::percent_decoded(text);
    let below = decoded.strip_prefix(mount.path().as_bytes());
    names.extend(below.map(<[u8]>::to_vec));
    let plain = decoded.strip_prefix(b"/").unwrap_or(&decoded);
    names.push(plain.strip_prefix(b"./").unwrap_or(plain).to_vec());
    Ok(names)
}

/// Everything that is to say of one file.
fn text(site: &Site, graph: &Graph, plan: &Plan, diagnostics: &[Diagnostic], file: FileId) -> String {
    let entry = site.file(file);
    let views = views(graph, file);
    let mut out = String::new();
    let is_page = graph.page_of(file).is_some();
    let asked = match (is_page, views) {
        (true, 0 | 1) => String::new(),
        (true, n) => format!(", shown in frames of {}", counted(n as u64 - 1, "page")),
        (false, 0) => ", requested by no page".to_owned(),
        (false, n) => format!(", requested by {}", counted(n as u64, "page")),
    };
    let bytes = counted(entry.size, "byte");
    let head = format!("{}: {}, {bytes}{asked}", entry.path, media::mime(entry.media));
    wrap(&mut out, "", 0, &head);
    let decisions = decisions(plan, file);
    for decision in &decisions {
        wrap(&mut out, decision.action.name(), INDENT, &decision.reason);
        for line in savings(decision.cost, views as u64) {
            wrap(&mut out, "", INDENT, &line);
        }
    }
    if decisions.is_empty() {
        wrap(&mut out, "keep", INDENT, &undecided(site, graph, file));
    }
    for diagnostic in diagnostics.iter().filter(|d| d.file == entry.path) {
        let note = format!("{}: {}", diagnostic.code.name(), diagnostic.message);
        wrap(&mut out, "note", INDENT, &note);
    }
    if let Some(page) = graph.page_of(file) {
        list_requests(&mut out, site, graph, plan, page);
    }
    out
}

/// The decisions about a file, each once, in an order that does not depend on that of the passes.
fn decisions(plan: &Plan, file: FileId) -> Vec<&Decision> {
    let mut found: Vec<&Decision> = plan.decisions.iter().filter(|d| d.file == file).collect();
    found.sort_by(|a, b| (a.action, &a.reason).cmp(&(b.action, &b.reason)));
    found.dedup();
    found
}

/// Pages whose view, with its frames, requests or is the file.
fn views(graph: &Graph, file: FileId) -> usize {
    let is_file = |to: Destination| matches!(to, Destination::File(found) if found == file);
    let asks = |document: &u32| {
        let page = &graph.pages[*document as usize];
        let mut addresses = page.requests.iter().map(|r| r.address as usize);
        page.file == file || addresses.any(|address| is_file(graph.addresses[address].to))
    };
    let pages = 0..graph.pages.len() as u32;
    pages
        .filter(|&page| graph.documents(page).iter().any(asks))
        .count()
}

/// Why there was nothing to decide.
fn undecided(site: &Site, graph: &Graph, file: FileId) -> String {
    let entry = site.file(file);
    if let Some(plain) = entry.variant_of {
        let plain = &site.file(plain).path;
        return format!("a variant of {plain}: made anew, or left out where that has none");
    }
    if !entry.editable {
        return "left out by --include or --exclude: copied byte for byte".to_owned();
    }
    let page = graph.page_of(file).map(|page| &graph.pages[page as usize]);
    if page.is_some_and(|page| page.encoding.is_none()) {
        return "in UTF-16, which is not edited: copied byte for byte".to_owned();
    }
    if let Some(why) = page.and_then(|page| page.opaque) {
        return format!("copied byte for byte: {why}");
    }
    let why = match entry.media {
        Media::Html | Media::Xhtml => "nothing in it could be made to ask for less or to be shorter",
        _ => "no pass had anything to decide about it",
    };
    format!("{why}: copied byte for byte")
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

fn counted(number: u64, noun: &str) -> String {
    average(number, 1, noun)
}

/// The sheets and images of a page about which something was decided, a line for each decision.
fn list_requests(out: &mut String, site: &Site, graph: &Graph, plan: &Plan, page: u32) {
    let mut seen = BTreeSet::new();
    let mut lines = Vec::new();
    for document in graph.documents(page) {
        for request in &*graph.pages[document as usize].requests {
            let Destination::File(file) = graph.addresses[request.address as usize].to else {
                continue;
            };
            if graph.page_of(file).is_some() || !seen.insert(file) {
                continue;
            }
            for decision in decisions(plan, file) {
                let action = decision.action.name();
                lines.push(format!(
                    "  {action:8} {}: {}",
                    site.file(file).path,
                    decision.reason
                ));
            }
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
