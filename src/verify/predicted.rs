//! How many requests a report promises for every page, before and after.
//!
//! From the two folders, read as a build reads them, or from the JSON report of a build. Pages are named as reports
//! print them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use super::outcome::Views;
use crate::graph::Graph;
use crate::measure::Sizes;
use crate::report::{Report, SCHEMA};
use crate::site::Site;
use crate::{compare, disk};

/// Promised requests by page, of SITE and of OUT.
#[derive(Debug, Clone, Default)]
pub struct Predicted {
    pages: BTreeMap<String, [Option<Views>; 2]>,
    /// The page that a follow-up view comes from.
    pub(super) entry: Option<String>,
}

impl Predicted {
    pub(super) fn of_folders(folders: [(&Site, &Graph); 2]) -> Predicted {
        let mut predicted = Predicted::default();
        for (side, (site, graph)) in folders.into_iter().enumerate() {
            let views = compare::count(graph, |_| Sizes::plain(0));
            let has_entry = graph.entry.is_some();
            for (page, views) in graph.pages.iter().zip(views) {
                let path = site.file(page.file).path.to_string();
                predicted.pages.entry(path).or_default()[side] = Some(Views {
                    first: views.first.requests,
                    follow_up: has_entry.then_some(views.follow_up.requests),
                });
            }
        }
        let (site, graph) = folders[0];
        let entry = graph.entry.map(|entry| graph.pages[entry as usize].file);
        predicted.entry = entry.map(|file| site.file(file).path.to_string());
        predicted
    }

    /// What a build reports.
    pub fn of_report(report: &Report) -> Predicted {
        let has_entry = report.entry.is_some();
        let views = |views: &crate::report::Views| Views {
            first: views.first.requests,
            follow_up: has_entry.then_some(views.follow_up.requests),
        };
        let pages = report.pages.iter().map(|page| {
            let both = [Some(views(&page.before)), page.after.as_ref().map(views)];
            (page.path.to_string(), both)
        });
        Predicted {
            pages: pages.collect(),
            entry: report.entry.as_ref().map(ToString::to_string),
        }
    }

    /// The JSON report of a build.
    pub fn read(path: &Path) -> anyhow::Result<Predicted> {
        let read = || {
            let report: Value = serde_json::from_slice(&disk::read(path)?)?;
            anyhow::ensure!(
                report["schema"] == SCHEMA,
                "it is not a report of format {SCHEMA}"
            );
            let has_entry = report["entry"].is_string();
            let views = |views: &Value| {
                Some(Views {
                    first: views["first"]["requests"].as_u64()?,
                    follow_up: has_entry.then_some(views["follow_up"]["requests"].as_u64()?),
                })
            };
            let pages = report["pages"].as_array().context("it has no pages")?;
            let mut predicted = Predicted {
                pages: BTreeMap::new(),
                entry: report["entry"].as_str().map(str::to_owned),
            };
            for page in pages {
                let path = page["path"].as_str().context("it has a page without a path")?;
                let after = views(&page["after"]);
                after.with_context(|| {
                    format!("it has no numbers of {path} in OUT: it is no report of a build")
                })?;
                predicted
                    .pages
                    .insert(path.to_owned(), [views(&page["before"]), after]);
            }
            Ok(predicted)
        };
        read().with_context(|| format!("cannot use the report {}", disk::shown(path)))
    }

    pub(super) fn of(&self, path: &str) -> Option<[Views; 2]> {
        match self.pages.get(path)? {
            [Some(before), Some(after)] => Some([*before, *after]),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Predicted, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        disk::write_file(&path, text.as_bytes()).unwrap();
        Predicted::read(&path)
            .map_err(|error| format!("{error:#}").replace(&path.display().to_string(), "FILE"))
    }

    #[test]
    fn a_build_report_is_read_and_anything_else_refused() {
        let view = |n| format!(r#"{{"first":{{"requests":{n}}},"follow_up":{{"requests":1}}}}"#);
        let page = |after: &str| {
            format!(
                r#"{{"schema":1,"entry":"a.html","pages":[{{"path":"a.html","before":{},"after":{after}}}]}}"#,
                view(3)
            )
        };
        let predicted = read(&page(&view(2))).unwrap();
        let [before, after] = predicted.of("a.html").unwrap();
        assert_eq!((before.first, after.first, after.follow_up), (3, 2, Some(1)));
        assert!(predicted.of("b.html").is_none());
        assert_eq!(
            read(&page("null")).unwrap_err(),
            "cannot use the report FILE: it has no numbers of a.html in OUT: it is no report of a build"
        );
        assert_eq!(
            read("{}").unwrap_err(),
            "cannot use the report FILE: it is not a report of format 1"
        );
        assert!(
            read("no")
                .unwrap_err()
                .starts_with("cannot use the report FILE: ")
        );
    }
}
