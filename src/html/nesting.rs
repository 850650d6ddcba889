//! Finds elements around images that are never closed or closed in the wrong order: browsers repair them by
//! guessing, and a broken link above a logo spreads over half a page.
//!
//! Only elements whose end tag is required are followed, so that omitted `</p>` or `</li>` give no alarm.

use super::Problem;
use crate::diagnostic::Code;

/// More problems of one page than anyone reads.
const LIMIT: usize = 16;
/// Browsers flatten deeper trees (Chromium at 512 levels), so nothing true can be said about them.
const DEPTH: usize = 512;

const NAMES: [&str; 16] = [
    "a", "div", "section", "article", "aside", "header", "footer", "nav", "main", "figure", "table",
    "template", "ul", "ol", "dl", "object",
];
const LINK: usize = 0;
/// From here on: followed because they hold the others apart, not reported.
const TABLE: usize = 10;
/// An end tag inside these does not reach an element outside (HTML standard, 13.2.4.2, "scope").
const SCOPES: [usize; 3] = [10, 11, 15];

#[derive(Debug)]
struct Open {
    name: usize,
    at: usize,
    /// A link that leads somewhere.
    href: bool,
    /// Images seen in the page before it.
    images: usize,
}

#[derive(Debug, Default)]
pub(super) struct Nesting {
    open: Vec<Open>,
    counts: [usize; NAMES.len()],
    images: usize,
    given_up: bool,
    problems: Vec<Problem>,
}

impl Nesting {
    pub(super) fn start(&mut self, name: &str, at: usize, href: bool) {
        if matches!(name, "img" | "svg" | "image") {
            self.images += 1;
        }
        let Some(name) = NAMES.iter().position(|&n| n == name).filter(|_| !self.given_up) else {
            return;
        };
        if name == LINK
            && let Some(link) = self.find(LINK)
        {
            self.report(link, "before the next link begins");
            self.take(link);
        }
        self.counts[name] += 1;
        self.open.push(Open {
            name,
            at,
            href,
            images: self.images,
        });
        self.given_up |= self.open.len() > DEPTH;
    }

    pub(super) fn end(&mut self, name: &[u8]) {
        if self.given_up {
            return;
        }
        let Some(id) = NAMES.iter().position(|n| name.eq_ignore_ascii_case(n.as_bytes())) else {
            return;
        };
        let Some(found) = self.find(id) else { return };
        if id == LINK {
            // The link ends, what was opened inside it goes on.
            if self.open[found + 1..].iter().any(|open| open.name < TABLE) {
                self.report(found, "in the order it was opened");
            }
            self.take(found);
            return;
        }
        for unclosed in (found + 1..self.open.len()).rev() {
            self.report(unclosed, &format!("before `</{}>`", NAMES[id]));
            self.take(unclosed);
        }
        self.take(found);
    }

    pub(super) fn finish(mut self) -> Vec<Problem> {
        if !self.given_up {
            for unclosed in 0..self.open.len() {
                self.report(unclosed, "anywhere");
            }
        }
        self.problems.sort_by_key(|problem| problem.at);
        self.problems
    }

    /// The innermost open element of that name that an end tag reaches.
    fn find(&self, name: usize) -> Option<usize> {
        if self.counts[name] == 0 {
            return None;
        }
        let at = self
            .open
            .iter()
            .rposition(|open| open.name == name || SCOPES.contains(&open.name))?;
        (self.open[at].name == name).then_some(at)
    }

    fn take(&mut self, at: usize) {
        let open = self.open.remove(at);
        self.counts[open.name] -= 1;
    }

    fn report(&mut self, at: usize, when: &str) {
        let open = &self.open[at];
        let worth = open.images < self.images
            && if open.name == LINK {
                open.href
            } else {
                open.name < TABLE
            };
        if worth && self.problems.len() < LIMIT {
            let message = format!("`<{}>` around an image is not closed {when}", NAMES[open.name]);
            self.problems.push(Problem {
                at: open.at,
                code: Code::UnclosedElement,
                message,
            });
        }
    }
}
