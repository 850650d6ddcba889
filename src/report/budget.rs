//! The pages that make more requests on their first view than `--max-requests` allows.

use std::fmt;
use std::sync::Arc;

use super::text::{clean, counted, grouped};
use super::{Page, Report};
use crate::site::SitePath;

/// Requests named in a message.
const NAMED: usize = 5;

/// One page over its budget; as text it says which page, which limit, by how much and which requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub page: SitePath,
    /// Of the first view, the page itself included.
    pub requests: u64,
    pub limit: u32,
    /// What the page requests beside itself.
    pub urls: Vec<Arc<str>>,
}

/// The worst first. Counts OUT, or SITE where nothing was built.
pub fn over_budget(report: &Report, max_requests: u32) -> Vec<Violation> {
    let violation = |page: &Page| Violation {
        page: page.path.clone(),
        requests: page.latest().first.requests,
        limit: max_requests,
        urls: page
            .requests
            .iter()
            .filter(|request| match page.after {
                Some(_) => request.state.counts_after(),
                None => request.state.counts_before(),
            })
            .map(|request| request.url.clone())
            .collect(),
    };
    let mut violations: Vec<Violation> = report
        .pages
        .iter()
        .filter(|page| page.latest().first.requests > u64::from(max_requests))
        .map(violation)
        .collect();
    violations.sort_by(|a, b| b.requests.cmp(&a.requests).then_with(|| a.page.cmp(&b.page)));
    violations
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} on the first view, {} over the limit of {}",
            clean(&self.page.to_string()),
            counted(self.requests, "request"),
            grouped(self.requests.saturating_sub(u64::from(self.limit))),
            grouped(self.limit.into())
        )?;
        for (i, url) in self.urls.iter().take(NAMED).enumerate() {
            write!(
                f,
                "{}{}",
                if i == 0 { ": the page itself, " } else { ", " },
                clean(url)
            )?;
        }
        match self.urls.len().checked_sub(NAMED) {
            Some(more) if more > 0 => write!(f, " and {} more", grouped(more as u64)),
            _ => Ok(()),
        }
    }
}
