//! One broken limit; as text it says which page, which limit, by how much and which requests.

use std::fmt;
use std::sync::Arc;

use super::budget::{Metric, Part, Unit};
use super::text::{clean, counted, grouped, size};
use crate::site::SitePath;

/// Requests named in a message.
const NAMED: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub subject: Subject,
    pub metric: Metric,
    pub value: u64,
    pub limit: u64,
    pub rule: Rule,
    /// What the page requests beside itself, as far as the limit is about it.
    pub urls: Vec<Arc<str>>,
    /// `urls` are those that the page did not request in the baseline.
    pub are_new: bool,
}

/// What broke the limit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    Page(SitePath),
    /// The mean of so many pages.
    Average(u64),
    /// The sum over so many pages.
    Site(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// Where the limit was said; `None` for `--max-requests`.
    Budget(Option<Arc<str>>),
    /// More than in the baseline, of which so many percent are allowed.
    Baseline { before: u64, growth: u64 },
}

impl Violation {
    /// The page, if it is about one.
    pub fn page(&self) -> Option<&SitePath> {
        match &self.subject {
            Subject::Page(page) => Some(page),
            Subject::Average(_) | Subject::Site(_) => None,
        }
    }

    /// A short name of the kind of limit, for readers that group findings.
    pub fn code(&self) -> &'static str {
        match self.rule {
            Rule::Budget(_) => "budget",
            Rule::Baseline { .. } => "baseline",
        }
    }

    /// Without the subject: `9 requests on the first view, 4 over the limit of 5`.
    pub fn reason(&self) -> String {
        let view = self.metric.view.name();
        let part = self.metric.part.name();
        let amount = |value: u64| match self.metric.unit {
            Unit::Requests => grouped(value),
            Unit::Bytes(_) => size(value),
        };
        let value = match self.metric.unit {
            Unit::Requests if self.metric.part == Part::All => counted(self.value, "request"),
            Unit::Requests => counted(self.value, &format!("{part} request")),
            Unit::Bytes(coding) if self.metric.part == Part::All => {
                format!("{} ({})", size(self.value), coding.name())
            }
            Unit::Bytes(coding) => format!("{} of {part} ({})", size(self.value), coding.name()),
        };
        let over = self.value.saturating_sub(self.limit);
        match &self.rule {
            Rule::Budget(source) => {
                let source = source
                    .as_ref()
                    .map_or(String::new(), |s| format!(" ({})", clean(s)));
                let limit = amount(self.limit);
                format!(
                    "{value} on the {view}, {} over the limit of {limit}{source}",
                    amount(over)
                )
            }
            Rule::Baseline { before, growth } => {
                let more = self.value.saturating_sub(*before);
                let allowed = match self.metric.unit {
                    Unit::Requests => String::new(),
                    Unit::Bytes(_) => format!(", {growth} % more are allowed"),
                };
                format!(
                    "{value} on the {view}, {} more than the {} of the baseline{allowed}",
                    amount(more),
                    amount(*before)
                )
            }
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Page(page) => f.write_str(&clean(&page.to_string())),
            Subject::Average(pages) => write!(f, "the average of {}", counted(*pages, "page")),
            Subject::Site(pages) => write!(f, "all {} together", counted(*pages, "page")),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.reason())?;
        let all = self.metric.part == Part::All;
        for (i, url) in self.urls.iter().take(NAMED).enumerate() {
            let before = match (i, self.are_new) {
                (0, true) => "; new: ",
                (0, false) if all => ": the page itself, ",
                (0, false) => ": ",
                _ => ", ",
            };
            write!(f, "{before}{}", clean(url))?;
        }
        match self.urls.len().checked_sub(NAMED) {
            Some(more) if more > 0 => write!(f, " and {} more", grouped(more as u64)),
            _ => Ok(()),
        }
    }
}
