//! The `Link` headers of pages as few patterns: most pages of a site wait for the same stylesheets.
//!
//! Hosts and servers that can do it send them early (RFC 8297, status 103); for all others they are a
//! preload.

use std::collections::BTreeMap;

use super::Context;
use crate::deployed::media_type;
use crate::deployed::rules::{Dialect, escape};
use crate::site::SitePath;

/// Bytes of a pattern: PCRE compiles no expression of more than 64 kB.
const LONGEST: usize = 8192;

/// The first pattern that matches counts.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Pattern and value, which is empty for pages that have none where `most` has one.
    pub(super) some: Vec<(String, String)>,
    /// What all other pages have.
    pub(super) most: Option<String>,
}

impl Links {
    pub(super) fn is_empty(&self) -> bool {
        self.some.is_empty() && self.most.is_none()
    }

    pub(super) fn has(&self, sign: char) -> bool {
        let values = self.some.iter().map(|(_, value)| value);
        values.chain(&self.most).any(|value| value.contains(sign))
    }
}

impl Context<'_> {
    /// `before` stands before the path of a page, `tail` behind it.
    pub(super) fn links(&self, dialect: Dialect, before: &str, tail: &str) -> Links {
        let deployed = self.deployed;
        let mut groups: BTreeMap<String, Vec<&SitePath>> = BTreeMap::new();
        let is_page = |path: &&SitePath| media_type::is_page(&deployed.content_type(path));
        let pages: Vec<&SitePath> = deployed.files.iter().filter(is_page).collect();
        for page in &pages {
            groups.entry(self.link_of(page)).or_default().push(page);
        }
        let most = groups
            .iter()
            .max_by_key(|(_, members)| members.len())
            .filter(|(value, members)| !value.is_empty() && members.len() * 2 > pages.len())
            .map(|(value, _)| value.clone());
        if let Some(value) = &most {
            groups.remove(value);
        } else {
            groups.remove("");
        }
        let mut some = Vec::new();
        for (value, members) in groups {
            let mut names = String::new();
            for (at, page) in members.iter().enumerate() {
                if !names.is_empty() {
                    names.push('|');
                }
                names.push_str(&escape(&String::from_utf8_lossy(page.as_bytes()), dialect));
                if names.len() > LONGEST || at + 1 == members.len() {
                    let pattern = format!(r"^{before}(?:{}){tail}\z", std::mem::take(&mut names));
                    some.push((pattern, value.clone()));
                }
            }
        }
        Links { some, most }
    }

    /// The header of a page, empty if it has none.
    pub(super) fn link_of(&self, page: &SitePath) -> String {
        self.deployed.links_of(page, &self.wishes.prefix).join(", ")
    }

    /// How many pages have headers that are left out here.
    pub(super) fn links_left_out(&self) -> usize {
        let pages = self.deployed.links.keys();
        pages.filter(|page| self.link_of(page).is_empty()).count()
    }
}
