//! Lighthouse's `budget.json` (Lighthouse up to version 11; 12 dropped budgets).
//!
//! In: an array of budgets, each with an optional `path`, `resourceSizes` (KiB, transferred), `resourceCounts` and
//! `timings`. Out: `Budget`s about first views, as Lighthouse loads pages with an empty cache. The rules are those of
//! Lighthouse's own `config/budget.js`: nothing unknown is accepted, and of several budgets that match a page the
//! last one holds. What cannot be known without a browser or the network (timings, sizes of third parties) is left
//! out, and the second part of the answer says so.

use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use super::Content;
use super::budget::{Budget, Coding, Limit, Metric, Part, Per, Scope, Unit, Which};
use crate::disk;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    path: Option<String>,
    /// Checked, but without effect: this site is the first party.
    options: Option<EntryOptions>,
    #[serde(default)]
    resource_sizes: Vec<Resource>,
    #[serde(default)]
    resource_counts: Vec<Resource>,
    #[serde(default)]
    timings: Vec<Timing>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EntryOptions {
    #[serde(rename = "firstPartyHostnames")]
    _first_party_hostnames: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Resource {
    resource_type: Type,
    budget: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Type {
    Total,
    Document,
    Script,
    Stylesheet,
    Image,
    Media,
    Font,
    Other,
    ThirdParty,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Timing {
    #[serde(rename = "metric")]
    _metric: Metrics,
    #[serde(rename = "budget")]
    _budget: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Metrics {
    FirstContentfulPaint,
    Interactive,
    FirstMeaningfulPaint,
    MaxPotentialFid,
    TotalBlockingTime,
    SpeedIndex,
    LargestContentfulPaint,
    CumulativeLayoutShift,
}

/// The budgets of a file, and what of it cannot be checked.
pub fn read(path: &Path, coding: Coding) -> anyhow::Result<(Vec<Budget>, Vec<String>)> {
    let bytes = disk::read(path)?;
    let shown = disk::shown(path);
    parse(&bytes, &shown, coding).with_context(|| format!("cannot read the budget {shown}"))
}

pub(super) fn parse(
    bytes: &[u8],
    source: &str,
    coding: Coding,
) -> anyhow::Result<(Vec<Budget>, Vec<String>)> {
    let entries: Vec<Entry> = serde_json::from_slice(bytes).map_err(readable)?;
    let patterns: Vec<String> = entries
        .iter()
        .map(|entry| entry.path.clone().unwrap_or_else(|| "/".to_owned()))
        .collect();
    let mut budgets = Vec::new();
    let mut notes = Vec::new();
    let mut note = |text: String| {
        if !notes.contains(&text) {
            notes.push(text);
        }
    };
    for (nth, entry) in entries.iter().enumerate() {
        if let Some(path) = &entry.path {
            check_pattern(path)?;
        }
        let _ = &entry.options;
        if !entry.timings.is_empty() {
            note(format!("{source}: timings are not checked, nothing is loaded"));
        }
        let mut limits = Vec::new();
        let lists = [
            ("resourceCounts", &entry.resource_counts, Unit::Requests),
            ("resourceSizes", &entry.resource_sizes, Unit::Bytes(coding)),
        ];
        for (name, list, unit) in lists {
            for (i, resource) in list.iter().enumerate() {
                let kind = resource.resource_type;
                anyhow::ensure!(
                    list[..i].iter().all(|r| r.resource_type != kind),
                    "{name} of the {} budget has two entries of one resource type",
                    ordinal(nth)
                );
                if kind == Type::ThirdParty && unit != Unit::Requests {
                    note(format!(
                        "{source}: sizes of third parties are not known and not checked"
                    ));
                    continue;
                }
                limits.push(Limit {
                    metric: Metric {
                        view: Which::First,
                        part: kind.part(),
                        unit,
                    },
                    most: most(resource.budget, unit),
                });
            }
        }
        budgets.push(Budget {
            source: source.into(),
            scope: Scope::Robots {
                wanted: patterns[nth].clone(),
                unless: patterns[nth + 1..].to_vec(),
            },
            per: Per::Page,
            coding,
            limits,
        });
    }
    Ok((budgets, notes))
}

/// A whole number of requests or bytes; Lighthouse compares numbers with a fraction as they are.
fn most(budget: f64, unit: Unit) -> u64 {
    let scale = match unit {
        Unit::Requests => 1.0,
        Unit::Bytes(_) => 1024.0,
    };
    // The conversion is defined for every value: negative ones are 0, too large ones the largest.
    (budget * scale).floor() as u64
}

fn ordinal(nth: usize) -> String {
    match nth {
        0 => "first".to_owned(),
        1 => "second".to_owned(),
        2 => "third".to_owned(),
        n => format!("{}th", n + 1),
    }
}

fn readable(error: serde_json::Error) -> anyhow::Error {
    let text = error.to_string();
    match text.strip_prefix("invalid type: map, expected a sequence") {
        Some(place) => anyhow::anyhow!("expected an array of budgets{place}"),
        None => anyhow::anyhow!(text),
    }
}

impl Type {
    fn part(self) -> Part {
        match self {
            Type::Total => Part::All,
            Type::Document => Part::One(Content::Html),
            Type::Script => Part::One(Content::Js),
            Type::Stylesheet => Part::One(Content::Css),
            Type::Image => Part::One(Content::Image),
            Type::Media => Part::One(Content::Media),
            Type::Font => Part::One(Content::Font),
            Type::Other => Part::One(Content::Other),
            Type::ThirdParty => Part::ThirdParty,
        }
    }
}

fn check_pattern(path: &str) -> anyhow::Result<()> {
    let wrong = match path {
        _ if !path.starts_with('/') => "it must begin with /",
        _ if path.matches('*').count() > 1 => "it may have one *",
        _ if path.matches('$').count() > 1 => "it may have one $",
        _ if path.contains('$') && !path.ends_with('$') => "its $ must be the end",
        _ => return Ok(()),
    };
    anyhow::bail!("the path `{}` is wrong: {wrong}", path.escape_debug())
}

/// Whether a page's path, with its first `/`, matches; an index page also matches by its folder.
pub(super) fn matches(path: &str, pattern: &str) -> bool {
    let folder = path
        .strip_suffix("index.html")
        .or_else(|| path.strip_suffix("index.htm"));
    let folder = folder.filter(|folder| folder.ends_with('/'));
    [Some(path), folder]
        .into_iter()
        .flatten()
        .any(|path| one_matches(path, pattern))
}

fn one_matches(path: &str, pattern: &str) -> bool {
    let (pattern, to_the_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    match pattern.split_once('*') {
        None if to_the_end => path == pattern,
        None => path.starts_with(pattern),
        Some((start, end)) => path.strip_prefix(start).is_some_and(|rest| {
            if to_the_end {
                rest.ends_with(end)
            } else {
                rest.contains(end)
            }
        }),
    }
}
