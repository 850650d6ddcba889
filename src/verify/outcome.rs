//! What a verification found, as data.

use std::fmt;

use super::pixels::Difference;
use super::state::State;
use crate::site::SitePath;

/// The whole of it.
#[derive(Debug)]
pub struct Outcome {
    /// What the browser calls itself.
    pub browser: String,
    pub states: Vec<State>,
    /// Pages of SITE.
    pub pages: usize,
    /// Pages that were chosen and left out by `--max`.
    pub left_out: usize,
    /// In path order.
    pub looked_at: Vec<Page>,
    /// Pages that only one of the folders has.
    pub lost: Vec<SitePath>,
    pub extra: Vec<SitePath>,
    /// Whether notes count as differences.
    pub strict: bool,
}

/// One page that was looked at.
#[derive(Debug)]
pub struct Page {
    pub path: SitePath,
    /// Pages of its template, itself among them.
    pub stands_for: usize,
    /// Requests as the browser counted them, `None` where the page could not be seen.
    pub requests: Option<[Requests; 2]>,
    pub faults: Vec<Fault>,
    /// What could not be compared, and why that is not OUT's fault.
    pub notes: Vec<Fault>,
}

/// Requests of the two views of a page: what the report says, and what the browser asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Requests {
    pub predicted: Views,
    pub seen: Views,
}

/// First view and follow-up view; the second only where the site has an entry page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Views {
    pub first: u64,
    pub follow_up: Option<u64>,
}

/// One thing that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub kind: Kind,
    /// `None`: in every state.
    pub state: Option<State>,
    pub text: String,
    pub difference: Option<Difference>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The page does not load, or the browser crashed.
    Unseen,
    Quirks,
    Text,
    Links,
    Images,
    Failed,
    Console,
    External,
    Requests,
    /// The browser asked for another number of requests than the report says.
    Count,
    Pixels,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Unseen => "unseen",
            Kind::Quirks => "quirks-mode",
            Kind::Text => "text",
            Kind::Links => "links",
            Kind::Images => "images",
            Kind::Failed => "failed-request",
            Kind::Console => "console",
            Kind::External => "external",
            Kind::Requests => "requests",
            Kind::Count => "count",
            Kind::Pixels => "pixels",
        }
    }
}

impl Fault {
    pub fn new(kind: Kind, state: Option<State>, text: String) -> Fault {
        Fault {
            kind,
            state,
            text,
            difference: None,
        }
    }

    /// What stays the same when the same thing is looked at again.
    pub(super) fn aspect(&self) -> (Kind, Option<State>) {
        (self.kind, self.state)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.name())?;
        if let Some(state) = self.state {
            write!(f, " ({state})")?;
        }
        write!(f, ": {}", crate::site::SitePath::new(self.text.as_bytes()))
    }
}

impl Outcome {
    /// Whether OUT is what SITE was, as far as was looked.
    pub fn is_same(&self) -> bool {
        let fine = |page: &Page| page.faults.is_empty() && (!self.strict || page.notes.is_empty());
        self.lost.is_empty() && self.extra.is_empty() && self.looked_at.iter().all(fine)
    }
}
