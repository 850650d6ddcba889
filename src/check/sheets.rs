//! Stylesheets, `style` elements and attributes: what browsers drop of them, data URLs that are too long, addresses
//! that a secure page may not use.
//!
//! In: CSS text and where it stands in its file. Out: findings at their places.

use std::ops::Range;

use crate::css;
use crate::diagnostic::{Code, Diagnostic};
use crate::graph::{Graph, Sheet};
use crate::parallel;
use crate::site::{Site, SitePath};
use crate::url::{self, Base, Target};
use crate::view;

pub(super) fn look(site: &Site, graph: &Graph, is_secure: bool) -> anyhow::Result<Vec<Diagnostic>> {
    let found = parallel::map(&graph.sheets, |sheet| read(site, graph, sheet, is_secure));
    Ok(found.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat())
}

fn read(site: &Site, graph: &Graph, sheet: &Sheet, is_secure: bool) -> anyhow::Result<Vec<Diagnostic>> {
    let Some(text) = &sheet.text else {
        return Ok(Vec::new());
    };
    let bytes = site.read(sheet.file)?;
    let css = Css {
        site,
        graph,
        path: &site.file(sheet.file).path,
        bytes: &bytes,
        base: &sheet.base,
        is_secure,
    };
    let mark = if text.has_mark() { 3 } else { 0 };
    // Every character of the other encodings is one byte.
    let place = |at: usize| match text.is_utf_8() {
        true => at + mark,
        false => text.text[..at].chars().count(),
    };
    Ok(css.look(&text.text, false, &sheet.scan, &place))
}

/// CSS of one file.
pub(super) struct Css<'a> {
    pub(super) site: &'a Site,
    pub(super) graph: &'a Graph,
    pub(super) path: &'a SitePath,
    /// Of the whole file.
    pub(super) bytes: &'a [u8],
    pub(super) base: &'a Base,
    /// It is loaded by pages that https: serves.
    pub(super) is_secure: bool,
}

impl Css<'_> {
    /// `place` turns an offset in `text` into one in the file.
    pub(super) fn look(
        &self,
        text: &str,
        declarations: bool,
        scan: &css::Scan,
        place: &dyn Fn(usize) -> usize,
    ) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut say = |at: usize, code, message: String| {
            found.push((place(at), code, message));
        };
        // What breaks the grammar was told before.
        let is_told = |span: &Range<usize>| scan.problems.iter().any(|(at, _)| span.contains(at));
        if scan.opaque.is_none() {
            for dropped in css::dropped(text, declarations, &view::accepts_selectors) {
                if !is_told(&dropped.span) {
                    let code = if dropped.hack {
                        Code::CssHack
                    } else {
                        Code::CssDropped
                    };
                    say(dropped.span.start, code, dropped.message);
                }
            }
        }
        for reference in &scan.urls {
            if let Some(message) = super::long_data(&reference.value) {
                say(reference.span.start, Code::LargeDataUrl, message);
            } else if self.is_secure
                && reference.place != css::Place::Other
                && let Target::External(whole) =
                    url::resolve(self.site, &self.graph.mount, self.base, &reference.value)
                && whole.starts_with("http:")
            {
                say(reference.span.start, Code::MixedContent, super::mixed(&whole));
            }
        }
        locate(self.path, self.bytes, found)
    }
}

/// Diagnostics with line and column, counted in one pass over the file.
pub(super) fn locate(
    path: &SitePath,
    bytes: &[u8],
    mut found: Vec<(usize, Code, String)>,
) -> Vec<Diagnostic> {
    found.sort_by_key(|(at, ..)| *at);
    let (mut line, mut start, mut read) = (1u32, 0usize, 0usize);
    let mut diagnostics = Vec::with_capacity(found.len());
    for (at, code, message) in found {
        let at = at.min(bytes.len());
        for (i, _) in bytes[read..at].iter().enumerate().filter(|(_, b)| **b == b'\n') {
            line += 1;
            start = read + i + 1;
        }
        read = at;
        let mut diagnostic = Diagnostic::new(path, Some(at), code, message);
        // On one line of many megabytes counting characters from its start each time would be quadratic.
        let column = match bytes.get(start..at).filter(|text| text.len() < LINE) {
            Some(text) => std::str::from_utf8(text).map_or(text.len(), |text| text.chars().count()),
            None => at - start,
        };
        diagnostic.position = Some((line, column as u32 + 1));
        diagnostics.push(diagnostic);
    }
    diagnostics
}

/// Columns of longer lines are counted in bytes.
const LINE: usize = 100_000;
