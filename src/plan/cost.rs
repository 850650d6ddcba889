//! The cost model: what a visit costs, in bytes.
//!
//! A visit is the entry page's first view and `pages_per_visit - 1` follow-up views, of other pages drawn by their
//! traffic (all alike without `--traffic`). A resource that the entry page requests is fetched once a visit. Any other is
//! fetched when one of the pages asks for it for the first time: if a share `q` of the views has it, that happens in
//! `1 - (1 - q)^(n - 1)` of all visits. A page's own bytes travel with every view of it.
//!
//! ```text
//! cost of a fetch = body * blocking + overhead + waiting       (blocking: 2 for what rendering waits for, else 1)
//! cost of a visit = sum over resources: fetches * cost of a fetch
//!                 + sum over pages:     views * body * blocking  (2 for styles and scripts in it)
//! ```
//!
//! `overhead` is `--request-overhead`, `waiting` that of `--network` (see `options::Network`); `--prefer bytes` leaves
//! the waiting out, `--prefer requests` counts it as over HTTP/1.1. The promise that no page gets worse is another
//! thing: `account` sees to that. A change must keep the promise and pay by this model, under both codings.

use super::Context;
use crate::measure::Sizes;
use crate::options::{Network, Options, Prefer};

/// Constants of the model, and how often each page is seen.
#[derive(Debug)]
pub(super) struct Model {
    overhead: f64,
    waiting: f64,
    blocking: f64,
    /// Follow-up views of a visit.
    later: i32,
    /// By page: its share of all follow-up views.
    weights: Vec<f64>,
}

impl Model {
    /// `weights`: how often each page is seen, in any unit. A visitor goes on to other pages than the one he came to,
    /// and to no more than there are.
    pub(super) fn new(options: &Options, entry: Option<u32>, mut weights: Vec<f64>) -> Model {
        let others = weights.len().saturating_sub(1);
        if let Some(entry) = entry.filter(|_| others > 0) {
            weights[entry as usize] = 0.0;
        }
        let waiting = match options.prefer {
            Prefer::Bytes => 0,
            Prefer::Balanced => options.network.waiting_bytes(),
            Prefer::Requests => Network::H1.waiting_bytes(),
        };
        let sum: f64 = weights.iter().sum();
        let sum = if sum > 0.0 { sum } else { 1.0 };
        Model {
            overhead: options.request_overhead as f64,
            waiting: waiting as f64,
            blocking: f64::from(options.blocking_factor) / 100.0,
            later: (options.pages_per_visit.max(1) as usize - 1).min(others) as i32,
            weights: weights.into_iter().map(|weight| weight / sum).collect(),
        }
    }

    /// The model of this site.
    pub(super) fn of(context: &Context<'_>) -> Model {
        let weights = context.graph.pages.iter().map(|page| {
            let path = &context.site.file(page.file).path;
            match &context.options.traffic {
                Some(traffic) => traffic.weight(&String::from_utf8_lossy(path.as_bytes())) as f64,
                None => 1.0,
            }
        });
        Model::new(context.options, context.graph.entry, weights.collect())
    }

    /// What bytes of a body cost.
    pub(super) fn body(&self, bytes: i64, blocks: bool) -> f64 {
        bytes as f64 * if blocks { self.blocking } else { 1.0 }
    }

    /// What one fetch costs, as gzip and as brotli.
    pub(super) fn fetch(&self, sizes: Sizes, blocks: bool) -> [f64; 2] {
        [sizes.gzip, sizes.br].map(|body| self.body(body as i64, blocks) + self.overhead + self.waiting)
    }

    /// How often a resource is fetched in a visit that these pages request.
    pub(super) fn fetches(&self, pages: &[u32], entry: Option<u32>) -> f64 {
        if entry.is_some_and(|entry| pages.binary_search(&entry).is_ok()) {
            return 1.0;
        }
        let share: f64 = pages.iter().map(|&page| self.weights[page as usize]).sum();
        1.0 - (1.0 - share.min(1.0)).powi(self.later)
    }

    /// What a page's own bytes cost in a visit.
    pub(super) fn markup(&self, page: u32, entry: Option<u32>, grown: [i64; 2], blocks: bool) -> [f64; 2] {
        let views =
            f64::from(u8::from(entry == Some(page))) + f64::from(self.later) * self.weights[page as usize];
        grown.map(|bytes| self.body(bytes, blocks) * views)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(pages: usize, options: &Options) -> Model {
        Model::new(options, Some(0), vec![1.0; pages])
    }

    #[test]
    fn a_file_is_fetched_once_or_when_a_page_asks_for_it() {
        let check = |pages: usize, per_visit: u32, holders: &[u32], expected: f64| {
            let options = Options {
                pages_per_visit: per_visit,
                ..Options::defaults()
            };
            let fetches = model(pages, &options).fetches(holders, Some(0));
            assert!(
                (fetches - expected).abs() < 1e-9,
                "{fetches} {pages} {per_visit} {holders:?}"
            );
        };
        // The entry page has it: once a visit, whoever else does.
        check(5, 3, &[0], 1.0);
        check(5, 3, &[0, 1, 2, 3, 4], 1.0);
        // One of four other pages, two of which are seen: 1 - (3/4)^2.
        check(5, 3, &[2], 0.4375);
        check(5, 2, &[2], 0.25);
        check(5, 1, &[2], 0.0);
        check(5, 3, &[1, 2, 3, 4], 1.0);
        check(5, 3, &[], 0.0);
        // There are no more pages than there are.
        check(1, 3, &[0], 1.0);
        check(2, 9, &[1], 1.0);
    }

    #[test]
    fn what_blocks_counts_double_and_waiting_depends_on_the_network() {
        let sizes = Sizes {
            identity: 900,
            gzip: 300,
            br: 250,
        };
        let check = |prefer: Prefer, network: Network, blocks: bool, expected: [f64; 2]| {
            let options = Options {
                prefer,
                network,
                ..Options::defaults()
            };
            assert_eq!(model(3, &options).fetch(sizes, blocks), expected);
        };
        check(Prefer::Bytes, Network::H1, false, [500.0, 450.0]);
        check(Prefer::Bytes, Network::H1, true, [800.0, 700.0]);
        check(
            Prefer::Balanced,
            Network::H2,
            true,
            [800.0 + 5312.0, 700.0 + 5312.0],
        );
        check(
            Prefer::Balanced,
            Network::H1,
            false,
            [500.0 + 31_875.0, 450.0 + 31_875.0],
        );
        check(
            Prefer::Requests,
            Network::H3,
            false,
            [500.0 + 31_875.0, 450.0 + 31_875.0],
        );
    }

    #[test]
    fn a_page_travels_with_every_view_of_it() {
        let options = Options::defaults();
        let model = model(5, &options);
        assert_eq!(model.markup(0, Some(0), [10, 8], false), [10.0, 8.0]);
        assert_eq!(model.markup(1, Some(0), [10, 8], false), [5.0, 4.0]);
        assert_eq!(model.markup(1, Some(0), [10, 8], true), [10.0, 8.0]);
    }
}
