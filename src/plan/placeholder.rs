//! An `img` whose picture a class shows: the class, its rule, and the empty picture that takes its place in `src`.
//!
//! The element and all its attributes stay; `src` becomes an empty SVG of the image's own size, and one class more
//! has the rule `content:url(data:...)`. A valid `src` is needed: without one Chromium shows the alternative text and
//! ignores the size that CSS gives (measured in Chromium 156 and Firefox 153). The rule stands in a stylesheet that
//! pages share (`share`), or in a `style` element of a page that shows the image many times (`embed`).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ground::{Doc, Ground};
use super::shape::Work;
use super::survey::Image;
use crate::css::{self, AttributeTest};
use crate::graph::{self, AddressId, Page};
use crate::image;

/// An image that a class shows.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub(super) class: String,
    /// The data URL that takes its place in `src`.
    pub(super) placeholder: Arc<str>,
    pub(super) rule: Arc<str>,
    pub(super) docs: BTreeSet<u32>,
}

/// What a page grows by for its first placeholder, for every image that gets one, and for every further element of the
/// same image (bytes; near the larger values seen on four manuals; corrected when whole pages are encoded).
pub(super) const FIRST: i64 = 64;
const IMAGE: i64 = 20;
const FURTHER: i64 = 4;

impl Shared {
    /// `None` where the size of the picture on a page is not certain.
    pub(super) fn new(ground: &Ground<'_>, url: &str, bytes: &[u8]) -> Option<Shared> {
        let placeholder = image::placeholder(bytes)?;
        let class = class_of(url, ground);
        let rule = format!(".{class}{{content:{}}}", css::url_token(url));
        Some(Shared {
            class,
            placeholder: placeholder.into(),
            rule: rule.into(),
            docs: BTreeSet::new(),
        })
    }

    /// Whether the page's elements for this image may get the class and the placeholder. `anew`: the page needs a
    /// stylesheet more for it.
    pub(super) fn suits(&self, work: &Work<'_>, page: u32, address: AddressId, anew: bool) -> bool {
        let ground = work.ground;
        let Some(doc) = &ground.docs[page as usize] else {
            return false;
        };
        let images = ground.images(page, address);
        let is_banned = work.bans.pages.contains(&page) || work.bans.images.contains(&(page, address));
        if !doc.alone || is_banned || images.iter().any(|image| !image.is_img) {
            return false;
        }
        if anew && (doc.survey.anchor.is_none() || doc.fixed_sheets.is_some()) {
            return false;
        }
        let facts = &ground.graph().pages[page as usize];
        let sheets = facts.sheets.iter();
        let sheets = sheets.flat_map(|&key| &ground.selectors[key as usize].replaced);
        let replaced: Vec<_> = sheets.chain(&doc.replaced).collect();
        let tests = tests(ground, facts, doc);
        images.iter().all(|image| {
            let old = image.class.as_ref().map(|(_, _, value)| &**value);
            let is_replaced = replaced
                .iter()
                .any(|subject| subject.could_match("img", old.unwrap_or("")));
            let new = match old {
                Some(old) => format!("{old} {}", self.class),
                None => self.class.clone(),
            };
            let same = |test: &&AttributeTest| test.matches(old) == test.matches(Some(&new));
            !is_replaced
                && tests.iter().filter(|test| test.name == "class").all(same)
                && is_unseen(&tests, image, &self.placeholder)
        })
    }
}

/// Whether no selector of the page tells the addresses of this picture from the new one.
pub(super) fn may_rewrite(ground: &Ground<'_>, page: u32, address: AddressId, new: &str) -> bool {
    let Some(doc) = &ground.docs[page as usize] else {
        return false;
    };
    let tests = tests(ground, &ground.graph().pages[page as usize], doc);
    let images = ground.images(page, address);
    images.iter().all(|image| is_unseen(&tests, image, new))
}

fn is_unseen(tests: &[&AttributeTest], image: &Image, new: &str) -> bool {
    let of_address = tests.iter().filter(|test| test.name != "class");
    of_address
        .into_iter()
        .all(|test| test.matches(Some(&image.written)) == test.matches(Some(new)))
}

/// The attribute selectors of a page that could see another class or address of its pictures.
fn tests<'a>(ground: &'a Ground<'_>, facts: &Page, doc: &'a Doc) -> Vec<&'a AttributeTest> {
    let sheets = facts.sheets.iter();
    sheets
        .flat_map(|&key| &ground.tests[key as usize])
        .chain(&doc.tests)
        .collect()
}

/// What a page grows by for the placeholders of one image.
pub(super) fn growth(work: &Work<'_>, page: u32, near: i64, far: i64) -> [i64; 2] {
    let first = if work.placed.contains(&page) { 0 } else { FIRST };
    [
        first + IMAGE + FURTHER * near + FIRST * far,
        first + IMAGE + FURTHER * (near + far),
    ]
}

/// Whether the page may have a `style` element more.
pub(super) fn may_style(work: &Work<'_>, page: u32) -> bool {
    let ground = work.ground;
    let facts = &ground.graph().pages[page as usize];
    let has_place = ground.docs[page as usize]
        .as_ref()
        .is_some_and(|doc| doc.survey.anchor.is_some() && doc.fixed_sheets.is_none());
    has_place && facts.allows_inline_styles && !facts.hashes_styles
}

/// A class that no page has.
fn class_of(url: &str, ground: &Ground<'_>) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bits = graph::hash(url.as_bytes());
    let mut class = String::from("fw-");
    loop {
        class.push(char::from(DIGITS[(bits % 32) as usize]));
        bits /= 32;
        let taken = ground.selectors.iter().any(|s| s.classes.contains(&class));
        if (class.len() >= 8 && !taken) || bits == 0 {
            return class;
        }
    }
}

impl Work<'_> {
    /// What an earlier round showed of this page, for so many of its images.
    pub(super) fn bias(&self, page: u32, times: i64) -> [i64; 2] {
        let (Some(more), Some(doc)) = (self.bans.corrections.get(&page), &self.ground.docs[page as usize])
        else {
            return [0; 2];
        };
        let all = doc.survey.images.len().max(1) as i64;
        more.map(|bytes| bytes * times / all)
    }
}
