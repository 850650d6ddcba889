//! Limits on what pages may request, and which of them a report breaks.
//!
//! In: a report and the limits (`--max-requests`, the tables of `fewer.toml`, a budget file, a baseline). Out: every
//! limit that is broken, with the page, the amount and the requests to look at. Bytes are counted as everywhere in a
//! report: with the overhead of each request. Other origins are not counted, except by the limits on third parties.

use std::sync::Arc;

use globset::GlobSet;
use serde::{Deserialize, Serialize};

use super::baseline::{self, Allowance};
use super::{Bytes, Comparison, Content, Page, Report, Request, Rule, State, Subject, View, Violation};

/// All limits of a run.
#[derive(Debug, Clone, Default)]
pub struct Budgets {
    /// Of every page's first view.
    pub max_requests: Option<u32>,
    pub tables: Vec<Budget>,
    pub baseline: Option<Allowance>,
}

/// Some limits that hold for the same pages.
#[derive(Debug, Clone)]
pub struct Budget {
    /// Where it was said, for messages: `fewer.toml:3`.
    pub source: Arc<str>,
    pub scope: Scope,
    pub per: Per,
    pub coding: Coding,
    pub limits: Vec<Limit>,
}

/// Which pages a budget is about.
#[derive(Debug, Clone)]
pub enum Scope {
    All,
    /// Paths in SITE.
    Globs(GlobSet),
    /// URL paths as in `robots.txt`, unless a later pattern is meant for the page as well.
    Robots {
        wanted: String,
        unless: Vec<String>,
    },
}

/// What a limit is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// Each page.
    Page,
    /// The mean of the pages.
    Average,
    /// The sum over the pages.
    Site,
}

/// The content coding that bytes are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Coding {
    Br,
    Gzip,
    Identity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub metric: Metric,
    pub most: u64,
}

/// A number of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    pub view: Which,
    pub part: Part,
    pub unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    First,
    FollowUp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Requests,
    Bytes(Coding),
}

/// Some of the requests of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    All,
    One(Content),
    /// Everything that is neither markup, style, script, image nor font.
    Rest,
    /// Requests to other origins; only their number is known.
    ThirdParty,
}

impl Coding {
    pub fn name(self) -> &'static str {
        match self {
            Coding::Br => "br",
            Coding::Gzip => "gzip",
            Coding::Identity => "identity",
        }
    }

    pub fn of(self, bytes: &Bytes) -> u64 {
        match self {
            Coding::Br => bytes.br,
            Coding::Gzip => bytes.gzip,
            Coding::Identity => bytes.identity,
        }
    }
}

impl Which {
    pub const ALL: [Which; 2] = [Which::First, Which::FollowUp];

    pub fn name(self) -> &'static str {
        match self {
            Which::First => "first view",
            Which::FollowUp => "follow-up view",
        }
    }
}

impl Part {
    /// As an adjective; empty for all.
    pub fn name(self) -> &'static str {
        match self {
            Part::All => "",
            Part::One(content) => content.name(),
            Part::Rest => "other",
            Part::ThirdParty => "third-party",
        }
    }

    fn holds(self, request: &Request) -> bool {
        let content = request.weight.content;
        match self {
            Part::All => true,
            Part::One(wanted) => content == wanted,
            Part::Rest => matches!(content, Content::Media | Content::Other),
            Part::ThirdParty => request.state == State::External,
        }
    }
}

impl Budgets {
    pub fn is_empty(&self) -> bool {
        self.max_requests.is_none() && self.tables.is_empty() && self.baseline.is_none()
    }

    /// Whether some limit may be about this page.
    pub fn holds_for(&self, page: &Page) -> bool {
        let baseline = self.baseline.as_ref();
        self.max_requests.is_some()
            || baseline.is_some_and(|allowance| allowance.baseline.page(&page.path).is_some())
            || self.tables.iter().any(|budget| budget.scope.holds(page))
    }
}

impl Scope {
    fn holds(&self, page: &Page) -> bool {
        let path = page.path.to_string();
        match self {
            Scope::All => true,
            Scope::Globs(globs) => globs.is_match(&path),
            Scope::Robots { wanted, unless } => {
                let matches = |pattern: &str| super::lighthouse::matches(&format!("/{path}"), pattern);
                matches(wanted) && !unless.iter().any(|pattern| matches(pattern))
            }
        }
    }
}

impl Metric {
    /// The number of one page as it is now: of OUT, or of SITE where nothing was built.
    fn of(self, page: &Page, report: &Report) -> u64 {
        let view = match self.part {
            Part::All => *self.view.of(page.latest()),
            Part::ThirdParty => View {
                requests: page.requests.iter().filter(|r| self.part.holds(r)).count() as u64,
                bytes: Bytes::default(),
            },
            part => {
                let mut sum = View::default();
                if part == Part::One(Content::Html) {
                    let bytes = page.document.bytes.of(page.latest_side());
                    sum.add(&View::one(bytes.unwrap_or_default()));
                }
                for (_, load) in self.loads(page, report) {
                    sum.add(&load);
                }
                sum
            }
        };
        match self.unit {
            Unit::Requests => view.requests,
            Unit::Bytes(coding) => coding.of(&view.bytes),
        }
    }

    /// The requests that it counts, the page's own left out.
    fn loads<'a>(self, page: &'a Page, report: &'a Report) -> impl Iterator<Item = (&'a Request, View)> {
        let side = page.latest_side();
        page.loads(side, &report.measured).filter(move |(request, _)| {
            let made = self.view == Which::First || request.follow_up.of(side);
            made && self.part.holds(request)
        })
    }

    /// Their URLs; the heaviest first where bytes are counted.
    fn urls(self, page: &Page, report: &Report) -> Vec<Arc<str>> {
        if self.part == Part::ThirdParty {
            let requests = page.requests.iter().filter(|r| self.part.holds(r));
            return requests.map(|r| r.url.clone()).collect();
        }
        let mut loads: Vec<(&Request, View)> = self.loads(page, report).collect();
        if let Unit::Bytes(coding) = self.unit {
            loads.sort_by_key(|(_, view)| std::cmp::Reverse(coding.of(&view.bytes)));
        }
        loads.iter().map(|(request, _)| request.url.clone()).collect()
    }
}

impl Which {
    pub fn of(self, views: &super::Views) -> &View {
        match self {
            Which::First => &views.first,
            Which::FollowUp => &views.follow_up,
        }
    }
}

/// Every limit that `report` breaks: by limit in the order given, the worst page first; and how the site compares
/// with the baseline.
pub fn check(report: &Report, budgets: &Budgets) -> (Vec<Violation>, Option<Comparison>) {
    let mut violations = Vec::new();
    if let Some(most) = budgets.max_requests {
        let limit = Limit {
            metric: Metric {
                view: Which::First,
                part: Part::All,
                unit: Unit::Requests,
            },
            most: most.into(),
        };
        pages_over(report, &Scope::All, limit, None, &mut violations);
    }
    for budget in &budgets.tables {
        for &limit in &budget.limits {
            match budget.per {
                Per::Page => {
                    pages_over(
                        report,
                        &budget.scope,
                        limit,
                        Some(&budget.source),
                        &mut violations,
                    );
                }
                Per::Average | Per::Site => violations.extend(sum_over(report, budget, limit)),
            }
        }
    }
    let comparison = budgets.baseline.as_ref().map(|allowance| {
        for violation in &mut violations {
            allowance.baseline.name_new(report, violation);
        }
        violations.extend(baseline::worse(report, allowance));
        baseline::compare(report, &allowance.baseline)
    });
    (violations, comparison)
}

fn pages_over(
    report: &Report,
    scope: &Scope,
    limit: Limit,
    source: Option<&Arc<str>>,
    violations: &mut Vec<Violation>,
) {
    let over = |page: &Page| {
        let value = limit.metric.of(page, report);
        (value > limit.most && scope.holds(page)).then(|| Violation {
            subject: Subject::Page(page.path.clone()),
            metric: limit.metric,
            value,
            limit: limit.most,
            rule: Rule::Budget(source.cloned()),
            urls: limit.metric.urls(page, report),
            are_new: false,
        })
    };
    let mut found: Vec<Violation> = report.pages.iter().filter_map(over).collect();
    found.sort_by(|a, b| b.value.cmp(&a.value).then_with(|| a.subject.cmp(&b.subject)));
    violations.extend(found);
}

fn sum_over(report: &Report, budget: &Budget, limit: Limit) -> Option<Violation> {
    let mut sum: u64 = 0;
    let mut pages: u64 = 0;
    for page in report.pages.iter().filter(|page| budget.scope.holds(page)) {
        sum = sum.saturating_add(limit.metric.of(page, report));
        pages += 1;
    }
    // Rounded up, so that what is over shows as more than the limit.
    let (value, subject) = match budget.per {
        Per::Average => (sum.div_ceil(pages.max(1)), Subject::Average(pages)),
        Per::Page | Per::Site => (sum, Subject::Site(pages)),
    };
    (value > limit.most).then(|| Violation {
        subject,
        metric: limit.metric,
        value,
        limit: limit.most,
        rule: Rule::Budget(Some(budget.source.clone())),
        urls: Vec::new(),
        are_new: false,
    })
}
