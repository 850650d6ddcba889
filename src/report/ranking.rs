//! Which pages to show first: those that a build or the time since the baseline changed most, else the heaviest.

use super::{Page, Report, View, Views};
use crate::site::SitePath;

/// What the pages are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// With SITE.
    Build,
    Baseline,
    /// With nothing.
    Alone,
}

/// One page to show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) path: &'a SitePath,
    pub(super) before: Option<&'a Views>,
    pub(super) now: &'a Views,
}

/// What a report is about in the first place.
pub(super) fn basis(report: &Report) -> Basis {
    match report.totals.after {
        Some(_) => Basis::Build,
        None => Basis::Alone,
    }
}

/// At most so many pages, in order. Pages that did not change are none to show.
pub(super) fn rows(report: &Report, basis: Basis, most: usize) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = match basis {
        Basis::Build => report
            .pages
            .iter()
            .map(|page| Row {
                path: &page.path,
                before: Some(&page.before),
                now: page.latest(),
            })
            .filter(Row::changed)
            .collect(),
        Basis::Baseline => {
            let changed = report.verdict.comparison.iter().flat_map(|c| &c.changed);
            changed
                .map(|(path, before, now)| Row {
                    path,
                    before: Some(before),
                    now,
                })
                .collect()
        }
        Basis::Alone => report
            .pages
            .iter()
            .map(|page| Row {
                path: &page.path,
                before: None,
                now: page.latest(),
            })
            .collect(),
    };
    let order = |a: &Row<'_>, b: &Row<'_>| b.weight().cmp(&a.weight()).then_with(|| a.path.cmp(b.path));
    if rows.len() > most && most > 0 {
        rows.select_nth_unstable_by(most - 1, order);
    }
    rows.truncate(most);
    rows.sort_by(order);
    rows
}

/// All pages, by index, those to show first in front.
pub(super) fn order(report: &Report) -> Vec<u32> {
    let weight = |page: &Page| {
        Row {
            path: &page.path,
            before: page.after.as_ref().map(|_| &page.before),
            now: page.latest(),
        }
        .weight()
    };
    let mut pages: Vec<u32> = (0..report.pages.len() as u32).collect();
    pages.sort_by_cached_key(|&i| std::cmp::Reverse(weight(&report.pages[i as usize])));
    pages
}

impl Row<'_> {
    fn changed(&self) -> bool {
        self.before.is_some_and(|before| before != self.now)
    }

    /// Requests first, of the first view before the follow-up view, then bytes.
    fn weight(&self) -> [u64; 4] {
        let Some(before) = self.before else {
            return [self.now.first.requests, self.now.first.bytes.br, 0, 0];
        };
        let requests = |a: &View, b: &View| a.requests.abs_diff(b.requests);
        let bytes = |a: &View, b: &View| a.bytes.br.abs_diff(b.bytes.br);
        let now = self.now;
        [
            requests(&before.first, &now.first),
            requests(&before.follow_up, &now.follow_up),
            bytes(&before.first, &now.first),
            bytes(&before.follow_up, &now.follow_up),
        ]
    }
}
