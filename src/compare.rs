//! Stage 5: counts what pages request and download, before and after, from two graphs made by the same scanner.

use std::collections::HashSet;

use crate::graph::{AddressId, Destination, Graph, Request};
use crate::measure::Sizes;
use crate::site::FileId;

/// Requests and bytes of one view. Bytes are bodies alone, without the overhead of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    pub requests: u64,
    pub bytes: Sizes,
}

/// The two views of one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Views {
    /// With an empty cache.
    pub first: Count,
    /// Coming from the entry page, everything that it loaded still cached; documents are always requested.
    pub follow_up: Count,
}

impl Count {
    fn add(&mut self, sizes: Sizes) {
        self.requests += 1;
        self.bytes.identity += sizes.identity;
        self.bytes.gzip += sizes.gzip;
        self.bytes.br += sizes.br;
    }

    /// Bytes with the overhead of every request: gzip, brotli.
    pub fn cost(&self, overhead: u64) -> [u64; 2] {
        [
            self.bytes.gzip + self.requests * overhead,
            self.bytes.br + self.requests * overhead,
        ]
    }
}

/// The views of every page of `graph`, when each of its files has the size that `sizes` says.
pub fn count(graph: &Graph, sizes: impl Fn(FileId) -> Sizes) -> Vec<Views> {
    let cached = cached(graph);
    let size = |address: AddressId| size(graph, address, &sizes);
    (0..graph.pages.len() as u32)
        .map(|page| {
            let mut views = Views::default();
            let mut seen = HashSet::new();
            for request in requests(graph, page) {
                if !seen.insert(request.address) {
                    continue;
                }
                let sizes = size(request.address);
                views.first.add(sizes);
                if !cached.contains(&request.address) {
                    views.follow_up.add(sizes);
                }
            }
            views
        })
        .collect()
}

/// What a visitor has in the cache who comes from the entry page.
pub fn cached(graph: &Graph) -> HashSet<AddressId> {
    match graph.entry {
        Some(entry) => requests(graph, entry)
            .map(|r| r.address)
            .filter(|&a| !graph.is_revalidated(a))
            .collect(),
        None => HashSet::new(),
    }
}

/// What the answer at an address weighs, without the overhead of the request.
pub fn size(graph: &Graph, address: AddressId, sizes: impl Fn(FileId) -> Sizes) -> Sizes {
    match graph.addresses[address as usize].to {
        Destination::File(file) => sizes(file),
        Destination::Redirect | Destination::Missing => Sizes::default(),
    }
}

/// The requests of a page's view with those of its frames; an address may come twice.
pub fn requests(graph: &Graph, page: u32) -> impl Iterator<Item = &Request> {
    graph
        .documents(page)
        .into_iter()
        .flat_map(|d| graph.pages[d as usize].requests.iter())
}

/// How a page got worse against promise 3, if it did.
pub fn worse(before: &Views, after: &Views, entry: (&Views, &Views), overhead: u64) -> Option<String> {
    let more = |what: &str, before: u64, after: u64| {
        (after > before).then(|| format!("{what}: {before} before, {after} after"))
    };
    let visit = |entry: &Views, page: &Views| {
        let (first, then) = (entry.first.cost(overhead), page.follow_up.cost(overhead));
        [first[0] + then[0], first[1] + then[1]]
    };
    let (first_before, first_after) = (before.first.cost(overhead), after.first.cost(overhead));
    let (visit_before, visit_after) = (visit(entry.0, before), visit(entry.1, after));
    more(
        "requests of the first view",
        before.first.requests,
        after.first.requests,
    )
    .or_else(|| {
        more(
            "requests of the follow-up view",
            before.follow_up.requests,
            after.follow_up.requests,
        )
    })
    .or_else(|| more("bytes of the first view (gzip)", first_before[0], first_after[0]))
    .or_else(|| {
        more(
            "bytes of the first view (brotli)",
            first_before[1],
            first_after[1],
        )
    })
    .or_else(|| more("bytes of a visit (gzip)", visit_before[0], visit_after[0]))
    .or_else(|| more("bytes of a visit (brotli)", visit_before[1], visit_after[1]))
}
