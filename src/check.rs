//! `fewer check`: everything wrong that a reader of the site would meet, found without changing anything.
//!
//! In: SITE and the options. Out: a report without numbers, whose diagnostics are those of the stages that a build
//! begins with, and those of the modules below, one for each kind of fault. Each of them reads a file at most once
//! and takes time linear in the site.

use std::path::Path;

use crate::build::Progress;
use crate::graph;
use crate::options::Options;
use crate::report::{Measured, Report, Totals, Viewport};
use crate::site;

pub(crate) mod suggest;

/// Looks at SITE and writes nothing.
pub fn check(root: &Path, options: &Options, progress: Progress<'_>) -> anyhow::Result<Report> {
    progress("reading");
    let (site, mut diagnostics) = site::read(root, options)?;
    progress("linking");
    let (graph, found) = graph::link(&site, options)?;
    diagnostics.extend(found);
    suggest::names(&site, &mut diagnostics);
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
        max_requests: None,
        is_check: true,
    })
}
