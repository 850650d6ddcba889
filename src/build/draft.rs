//! What was decided, and the site that is written: SITE, or SITE in another shape, with the plan for its files.

use std::collections::BTreeMap;

use crate::compare;
use crate::graph::{self, Graph};
use crate::measure::Sizes;
use crate::options::Options;
use crate::plan::{self, Bans, Decision, Plan, Shape, Slack};
use crate::site::{FileId, Site, SitePath};

/// Everything that a build decides before it writes.
#[derive(Debug, Default)]
pub(super) struct Decided {
    shape: Option<Shape>,
    /// Of the shape's site, if that is not SITE as it was.
    linked: Option<Graph>,
    plan: Plan,
}

/// The site that is written. Pages have the same indexes in it as in SITE.
#[derive(Clone, Copy)]
pub(super) struct Draft<'a> {
    pub(super) site: &'a Site,
    pub(super) graph: &'a Graph,
    pub(super) shape: Option<&'a Shape>,
    pub(super) plan: &'a Plan,
}

impl Decided {
    /// Decides the shape, unless it is banned, then what stands in the files.
    pub(super) fn new(site: &Site, graph: &Graph, options: &Options, bans: &Bans) -> anyhow::Result<Decided> {
        if !bans.shape {
            let avoid: Vec<u32> = bans.pages.iter().copied().collect();
            let shape = plan::shape(site, graph, options, &avoid)?;
            // Without the new shape there is always a plan.
            if let Ok(decided) = Decided::with(shape, site, graph, options, bans) {
                return Ok(decided);
            }
        }
        Decided::with(None, site, graph, options, bans)
    }

    fn with(
        shape: Option<Shape>,
        site: &Site,
        graph: &Graph,
        options: &Options,
        bans: &Bans,
    ) -> anyhow::Result<Decided> {
        let linked = match &shape {
            Some(shape) if shape.changed => Some(graph::link(&shape.site, options)?.0),
            _ => None,
        };
        let mut decided = Decided {
            shape,
            linked,
            plan: Plan::default(),
        };
        let draft = decided.draft(site, graph);
        let slack = draft.slack(site, graph, options);
        let shaped = draft.shape.map(|shape| (shape, slack.as_slice()));
        decided.plan = plan::decide(draft.site, draft.graph, shaped, options, bans)?;
        Ok(decided)
    }

    pub(super) fn draft<'a>(&'a self, site: &'a Site, graph: &'a Graph) -> Draft<'a> {
        let shape = self.shape.as_ref();
        Draft {
            site: shape
                .filter(|shape| shape.changed)
                .map_or(site, |shape| &shape.site),
            graph: self.linked.as_ref().unwrap_or(graph),
            shape,
            plan: &self.plan,
        }
    }
}

impl<'a> Draft<'a> {
    /// Those about the shape, then those about what stands in the files.
    pub(super) fn decisions(self) -> impl Iterator<Item = (&'a SitePath, &'a Decision)> {
        let shaped = self.shape.into_iter().flat_map(|shape| &shape.decisions);
        let planned = self.plan.decisions.iter();
        shaped
            .map(|(path, decision)| (path, decision))
            .chain(planned.map(move |d| (&self.site.file(d.file).path, d)))
    }

    /// What every page won by the new shape. Files that did not change weigh the same on both sides.
    fn slack(&self, site: &Site, graph: &Graph, options: &Options) -> Vec<Slack> {
        let Some(shape) = self.shape.filter(|shape| shape.changed) else {
            return Vec::new();
        };
        let weigh = |site: &Site, known: &BTreeMap<SitePath, Sizes>, file: FileId| {
            let file = site.file(file);
            known.get(&file.path).copied().unwrap_or(Sizes::plain(file.size))
        };
        let before = compare::count(graph, |file| weigh(site, &shape.before, file));
        let after = compare::count(self.graph, |file| weigh(self.site, &shape.after, file));
        let overhead = options.request_overhead;
        let difference = |was: &compare::Count, is: &compare::Count| {
            let (was, is) = (was.cost(overhead), is.cost(overhead));
            [is[0] as i64 - was[0] as i64, is[1] as i64 - was[1] as i64]
        };
        let pages = before.iter().zip(&after);
        pages
            .map(|(was, is)| Slack {
                first: difference(&was.first, &is.first),
                follow_up: difference(&was.follow_up, &is.follow_up),
            })
            .collect()
    }
}
