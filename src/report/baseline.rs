//! An earlier report, and what got worse since.
//!
//! In: the JSON of `write_json`, of this or an earlier version of the tool (only what every `schema: 1` has is
//! needed). What counts on both sides is the latest: of OUT, or of SITE where nothing was built. A page makes no more
//! requests than before and takes at most so many percent more bytes, on each of its views; new and vanished pages
//! break no limit and are listed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::budget::{Coding, Metric, Part, Unit, Which};
use super::{Measured, Page, Report, Rule, SCHEMA, State, Subject, Views, Violation};
use crate::site::SitePath;
use crate::{disk, graph};

/// A baseline and how much more than it is allowed.
#[derive(Debug, Clone)]
pub struct Allowance {
    pub baseline: Baseline,
    /// Percent of bytes.
    pub growth: u64,
    pub coding: Coding,
}

#[derive(Debug, Clone)]
pub struct Baseline {
    pub measured: Measured,
    pub entry: Option<String>,
    pages: BTreeMap<String, Was>,
}

/// A page as it was.
#[derive(Debug, Clone)]
pub struct Was {
    pub views: Views,
    /// Hashes of the URLs that it requested, sorted: enough to know what is new, in a fraction of the memory.
    urls: Box<[u64]>,
}

/// How a site differs from its baseline.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    pub new: Vec<SitePath>,
    /// As the baseline writes them.
    pub vanished: Vec<String>,
    /// Pages on both sides whose views differ, in path order.
    pub changed: Vec<(SitePath, Views, Views)>,
    /// Pages on both sides.
    pub common: u64,
    /// Sums over those.
    pub before: Views,
    pub now: Views,
    /// Another entry page: follow-up views mean something else and are not compared.
    pub entry_moved: bool,
}

#[derive(Deserialize)]
struct File {
    schema: u32,
    entry: Option<String>,
    measured: Measured,
    pages: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    path: String,
    before: Views,
    after: Option<Views>,
    #[serde(deserialize_with = "hashes")]
    requests: Vec<(u64, State)>,
}

pub fn read(path: &Path) -> anyhow::Result<Baseline> {
    let bytes = disk::read(path)?;
    parse(&bytes).with_context(|| format!("cannot read the baseline {}", disk::shown(path)))
}

pub(super) fn parse(bytes: &[u8]) -> anyhow::Result<Baseline> {
    let file: File = serde_json::from_slice(bytes)
        .context("it is no report of fewer; make one with --report FILE.json")?;
    anyhow::ensure!(
        file.schema == SCHEMA,
        "it has the format {}, this version knows {SCHEMA}; make a new one",
        file.schema
    );
    let pages = file.pages.into_iter().map(|page| {
        let counts = |state: State| match page.after {
            Some(_) => state.counts_after(),
            None => state.counts_before(),
        };
        let requests = page.requests.iter().filter(|(_, state)| counts(*state));
        let mut urls: Vec<u64> = requests.map(|(url, _)| *url).collect();
        urls.sort_unstable();
        let was = Was {
            views: page.after.unwrap_or(page.before),
            urls: urls.into(),
        };
        (page.path, was)
    });
    Ok(Baseline {
        pages: pages.collect(),
        measured: file.measured,
        entry: file.entry,
    })
}

/// The URLs of a page, hashed as they are read: a big report would not fit into memory otherwise.
fn hashes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(u64, State)>, D::Error> {
    #[derive(Deserialize)]
    struct Asked {
        url: String,
        state: State,
    }
    struct List;
    impl<'de> Visitor<'de> for List {
        type Value = Vec<(u64, State)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of requests")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut list = Vec::new();
            while let Some(asked) = seq.next_element::<Asked>()? {
                list.push((graph::hash(asked.url.as_bytes()), asked.state));
            }
            Ok(list)
        }
    }
    deserializer.deserialize_seq(List)
}

impl Baseline {
    pub fn page(&self, path: &SitePath) -> Option<&Was> {
        self.pages.get(&path.to_string())
    }

    /// Refuses numbers that were taken otherwise: they say nothing about what changed.
    pub fn ensure_comparable(&self, now: &Measured) -> anyhow::Result<()> {
        let was = &self.measured;
        let window = |m: &Measured| format!("{}x{}", m.viewport.width, m.viewport.height);
        for (what, was, now) in [
            ("gzip level", was.gzip.clone(), now.gzip.clone()),
            ("brotli quality", was.brotli.clone(), now.brotli.clone()),
            ("viewport", window(was), window(now)),
            (
                "request overhead",
                was.request_overhead.to_string(),
                now.request_overhead.to_string(),
            ),
        ] {
            anyhow::ensure!(
                was == now,
                "the baseline was measured with {what} {was}, this run measures with {now}; \
                 use the same options or make a new baseline"
            );
        }
        Ok(())
    }

    /// Lets a broken limit name the new requests, where the page has some.
    pub(super) fn name_new(&self, report: &Report, violation: &mut Violation) {
        let page = violation.page().and_then(|path| report.page(path));
        let was = page.and_then(|page| self.page(&page.path));
        if let Some(was) = was {
            let new: Vec<Arc<str>> = violation
                .urls
                .iter()
                .filter(|url| !was.requested(url))
                .cloned()
                .collect();
            if !new.is_empty() {
                violation.urls = new;
                violation.are_new = true;
            }
        }
    }
}

impl Was {
    fn requested(&self, url: &str) -> bool {
        self.urls.binary_search(&graph::hash(url.as_bytes())).is_ok()
    }
}

fn entry_moved(report: &Report, baseline: &Baseline) -> bool {
    report.entry.as_ref().map(ToString::to_string) != baseline.entry
}

/// Pages that are worse than they were: more requests first, then more bytes; the worst page first.
pub(super) fn worse(report: &Report, allowance: &Allowance) -> Vec<Violation> {
    let views: &[Which] = match entry_moved(report, &allowance.baseline) {
        true => &[Which::First],
        false => &Which::ALL,
    };
    let mut found = Vec::new();
    for unit in [Unit::Requests, Unit::Bytes(allowance.coding)] {
        for &view in views {
            let metric = Metric {
                view,
                part: Part::All,
                unit,
            };
            let mut over: Vec<Violation> = report
                .pages
                .iter()
                .filter_map(|page| worse_page(page, metric, allowance))
                .collect();
            over.sort_by(|a, b| {
                let more = |v: &Violation| v.value - v.limit;
                more(b).cmp(&more(a)).then_with(|| a.subject.cmp(&b.subject))
            });
            found.extend(over);
        }
    }
    found
}

fn worse_page(page: &Page, metric: Metric, allowance: &Allowance) -> Option<Violation> {
    let was = allowance.baseline.page(&page.path)?;
    let number = |views: &Views| {
        let view = metric.view.of(views);
        match metric.unit {
            Unit::Requests => view.requests,
            Unit::Bytes(coding) => coding.of(&view.bytes),
        }
    };
    let (before, value) = (number(&was.views), number(page.latest()));
    let limit = match metric.unit {
        Unit::Requests => before,
        Unit::Bytes(_) => {
            let limit = u128::from(before) * u128::from(100 + allowance.growth) / 100;
            u64::try_from(limit).unwrap_or(u64::MAX)
        }
    };
    let side = page.latest_side();
    let made = |r: &&super::Request| {
        r.counts(side) && (metric.view == Which::First || r.follow_up.of(side)) && !was.requested(&r.url)
    };
    (value > limit).then(|| Violation {
        subject: Subject::Page(page.path.clone()),
        metric,
        value,
        limit,
        rule: Rule::Baseline {
            before,
            growth: allowance.growth,
        },
        urls: page.requests.iter().filter(made).map(|r| r.url.clone()).collect(),
        are_new: true,
    })
}

pub(super) fn compare(report: &Report, baseline: &Baseline) -> Comparison {
    let mut comparison = Comparison {
        entry_moved: entry_moved(report, baseline),
        ..Comparison::default()
    };
    let mut known: BTreeMap<String, ()> = BTreeMap::new();
    for page in &report.pages {
        known.insert(page.path.to_string(), ());
        match baseline.page(&page.path) {
            None => comparison.new.push(page.path.clone()),
            Some(was) => {
                let now = *page.latest();
                comparison.common += 1;
                comparison.before.add(&was.views);
                comparison.now.add(&now);
                if was.views != now {
                    comparison.changed.push((page.path.clone(), was.views, now));
                }
            }
        }
    }
    let gone = baseline.pages.keys().filter(|path| !known.contains_key(*path));
    comparison.vanished = gone.cloned().collect();
    comparison
}
