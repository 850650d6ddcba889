//! `fewer check`: everything wrong that a reader of the site would meet, found without changing anything.
//!
//! In: SITE and the options. Out: a report without numbers, whose diagnostics are those of the stages that a build
//! begins with, and those of the modules below, one for each kind of fault. Each of them reads a file at most once
//! and takes time linear in the site.

use std::collections::HashSet;
use std::path::Path;

use crate::build::Progress;
use crate::diagnostic::{Code, Diagnostic};
use crate::graph;
use crate::options::Options;
use crate::report::{Measured, Report, Totals, Viewport};
use crate::{parallel, site};

mod anchors;
mod boxes;
mod files;
mod pages;
mod pictures;
mod sheets;
pub(crate) mod suggest;

/// Longer data URLs are told of (bytes). A build makes some of up to 22 kB: 16 KiB of a file in base64.
const DATA_URL: usize = 32_768;

/// Looks at SITE and writes nothing.
pub fn check(root: &Path, options: &Options, progress: Progress<'_>) -> anyhow::Result<Report> {
    progress("reading");
    let (site, mut diagnostics) = site::read(root, options)?;
    progress("linking");
    let (graph, found) = graph::link(&site, options)?;
    diagnostics.extend(found);
    progress("looking at images");
    let (pixels, found) = pictures::look(&site)?;
    diagnostics.extend(found);
    progress("looking at files");
    diagnostics.extend(files::duplicates(&site, &graph)?);
    diagnostics.extend(files::stale_variants(&site)?);
    let is_secure = options
        .base_url
        .as_ref()
        .is_some_and(|url| url.starts_with("https:"));
    diagnostics.extend(sheets::look(&site, &graph, is_secure)?);
    progress("looking at pages");
    let context = pages::Context {
        site: &site,
        graph: &graph,
        pixels: &pixels,
        boxes: &boxes::of_sheets(&graph),
        is_secure,
    };
    let numbers: Vec<u32> = (0..graph.pages.len() as u32).collect();
    let (mut places, mut wanted) = (Vec::new(), Vec::new());
    for seen in parallel::map(&numbers, |&page| pages::look(&context, page)) {
        let seen = seen?;
        diagnostics.extend(seen.diagnostics);
        places.push(seen.anchors);
        wanted.push(seen.wanted);
    }
    diagnostics.extend(anchors::missing(&site, &graph, &places, &wanted)?);
    suggest::names(&site, &mut diagnostics);
    once(&mut diagnostics);
    diagnostics.sort();
    diagnostics.dedup();
    let mut totals = Totals::of(&[], site.files.len() as u64);
    totals.pages = graph.pages.len() as u64;
    Ok(Report {
        entry: graph
            .entry
            .map(|entry| site.file(graph.pages[entry as usize].file).path.clone()),
        measured: Measured {
            gzip: String::new(),
            brotli: String::new(),
            viewport: Viewport {
                width: options.viewport.0,
                height: options.viewport.1,
            },
            request_overhead: options.request_overhead,
        },
        pages: Vec::new(),
        totals,
        decisions: Vec::new(),
        diagnostics,
        is_check: true,
        home: graph.mount.home(),
        verdict: crate::report::Verdict::default(),
        journey: None,
    })
}

/// A reference that climbs out of the site also leads to no file: that is one fault.
fn once(diagnostics: &mut Vec<Diagnostic>) {
    let place = |d: &Diagnostic| (d.file.clone(), d.at);
    let outside: HashSet<_> = diagnostics
        .iter()
        .filter(|d| d.code == Code::OutsideRoot)
        .map(place)
        .collect();
    let follows = |d: &Diagnostic| matches!(d.code, Code::MissingFile | Code::WrongCase);
    diagnostics.retain(|d| !(follows(d) && outside.contains(&place(d))));
}

/// A message about a data URL, if it is a long one.
fn long_data(url: &str) -> Option<String> {
    let url = url.trim_start();
    let is_data = url
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case("data:"));
    if !is_data || url.len() <= DATA_URL {
        return None;
    }
    let kind = url[5..].split([';', ',']).next().unwrap_or_default();
    Some(format!(
        "a data: URL of {} bytes ({})",
        url.len(),
        shortened(kind)
    ))
}

fn mixed(url: &str) -> String {
    format!("{} is loaded without encryption", quoted(url))
}

/// Text of a page for a message.
fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text.trim()))
}

/// At most 60 characters, on one line.
fn shortened(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}
