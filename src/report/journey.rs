//! A visit along several pages: what each step requests while the cache keeps what the steps before it loaded.
//!
//! In: a report and the pages of the visit in their order. Out: requests and bytes of each step, of SITE and, where
//! something was built, of OUT. The rules are those of the views: documents and missing files are asked for on every
//! step, everything else once. A journey of the entry page and another one is that page's follow-up view.

use std::collections::HashSet;

use super::{Page, Report, Side, Sides, View};
use crate::nearest::nearest;
use crate::site::SitePath;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journey {
    pub steps: Vec<Step>,
    /// Sums over the steps.
    pub before: View,
    /// `None` where nothing was built.
    pub after: Option<View>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub page: SitePath,
    pub before: View,
    pub after: Option<View>,
    /// What is requested beside the page itself, as indexes into the page's requests.
    pub made: Sides<Vec<u32>>,
}

/// Refuses a name that no page has. `docs/` is `docs/index.html`, and a leading `/` or `./` says nothing.
pub fn walk(report: &Report, names: &[String]) -> anyhow::Result<Journey> {
    let pages: Vec<&Page> = names
        .iter()
        .map(|name| find(report, name))
        .collect::<anyhow::Result<_>>()?;
    let before = side(report, &pages, Side::Before);
    let after = report.totals.after.map(|_| side(report, &pages, Side::After));
    let sum = |steps: &[(View, Vec<u32>)]| {
        let mut sum = View::default();
        steps.iter().for_each(|(view, _)| sum.add(view));
        sum
    };
    let steps = pages.iter().enumerate().map(|(i, page)| Step {
        page: page.path.clone(),
        before: before[i].0,
        after: after.as_ref().map(|steps| steps[i].0),
        made: Sides {
            before: before[i].1.clone(),
            after: after.as_ref().map_or_else(Vec::new, |steps| steps[i].1.clone()),
        },
    });
    Ok(Journey {
        steps: steps.collect(),
        before: sum(&before),
        after: after.as_deref().map(sum),
    })
}

fn side(report: &Report, pages: &[&Page], side: Side) -> Vec<(View, Vec<u32>)> {
    let mut cached: HashSet<&str> = HashSet::new();
    let overhead = report.measured.request_overhead;
    let mut steps = Vec::new();
    for page in pages {
        let mut view = View::one(page.document.bytes.of(side).unwrap_or_default());
        let mut made = Vec::new();
        let mut loaded = Vec::new();
        for (index, request) in page.requests.iter().enumerate() {
            let Some(load) = request.load(side, overhead) else {
                continue;
            };
            if cached.contains(&*request.url) {
                continue;
            }
            view.add(&load);
            made.push(index as u32);
            if !request.weight.revalidated {
                loaded.push(&*request.url);
            }
        }
        cached.extend(loaded);
        steps.push((view, made));
    }
    steps
}

fn find<'a>(report: &'a Report, name: &str) -> anyhow::Result<&'a Page> {
    let bare = name.trim_start_matches("./").trim_start_matches('/');
    let mut spellings = vec![bare.to_owned()];
    if bare.is_empty() || bare.ends_with('/') {
        spellings.extend(["index.html", "index.htm", "index.xhtml"].map(|index| format!("{bare}{index}")));
    } else {
        spellings.extend([".html", "/index.html"].map(|end| format!("{bare}{end}")));
    }
    let paths = spellings.iter().map(|text| SitePath::new(text.as_bytes()));
    if let Some(page) = paths.filter_map(|path| report.page(&path)).next() {
        return Ok(page);
    }
    let known: Vec<String> = report.pages.iter().map(|page| page.path.to_string()).collect();
    let near = nearest(bare, known.iter().map(String::as_str), 1);
    let hint = match near.first() {
        Some(near) => format!("did you mean {near}?"),
        None => "give pages by their paths in SITE, separated by commas".to_owned(),
    };
    anyhow::bail!(
        "--journey: no page of SITE is {}; {hint}",
        super::text::clean(name)
    )
}
