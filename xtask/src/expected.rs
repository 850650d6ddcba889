//! What the JSON report of a site says that a browser will ask for: the addresses of each view of a page.
//!
//! In: the report. Out: two sets of addresses, of SITE or of OUT. A follow-up view asks for everything that the entry
//! page did not bring into the cache; documents and what is missing are asked for each time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fewer::deployed;
use fewer::serve::page_url;
use fewer::url::encode_path;
use serde_json::Value;

/// Of SITE or of OUT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// The addresses of both views of one page.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) first: BTreeSet<String>,
    pub(crate) follow_up: BTreeSet<String>,
}

/// `None` for a page that the report does not have.
pub(crate) fn of(report: &Value, path: &str, side: Side) -> Option<Expected> {
    let pages = report["pages"].as_array()?;
    let find = |path: &str| pages.iter().find(|page| page["path"] == path);
    let page = find(path)?;
    let cached: BTreeSet<String> = match report["entry"].as_str().and_then(find) {
        Some(entry) => {
            let documents: BTreeSet<String> = pages
                .iter()
                .filter_map(|page| page["path"].as_str())
                .flat_map(|path| [page_url(path), format!("/{path}")])
                .collect();
            requests(entry, side)
                .filter(|(url, state)| *state != "missing" && !documents.contains(without_query(url)))
                .map(|(url, _)| url.to_owned())
                .collect()
        }
        None => BTreeSet::new(),
    };
    let own = std::iter::once(page_url(path));
    let first: BTreeSet<String> = own
        .chain(requests(page, side).map(|(url, _)| url.to_owned()))
        .collect();
    let follow_up = first.difference(&cached).cloned().collect();
    Some(Expected { first, follow_up })
}

/// Addresses with what became of them, as far as they count on this side.
fn requests(page: &Value, side: Side) -> impl Iterator<Item = (&str, &str)> {
    let all = page["requests"].as_array().into_iter().flatten();
    let pairs = all.filter_map(|request| Some((request["url"].as_str()?, request["state"].as_str()?)));
    pairs.filter(move |(_, state)| {
        !matches!(
            (*state, side),
            ("external" | "icon", _)
                | ("added", Side::Before)
                | ("inlined" | "combined" | "shared" | "same", Side::After)
        )
    })
}

/// Gives the addresses of the report, which are those of SITE, the names that OUT's pages ask by.
pub(crate) fn name_as_out(report: &mut Value, out: &Path) -> anyhow::Result<()> {
    let Ok(manifest) = fs::read(out.join(deployed::MANIFEST)) else {
        return Ok(());
    };
    let manifest: Value = serde_json::from_slice(&manifest)?;
    let names: BTreeMap<String, String> = manifest["files"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(old, new)| {
            let address = |path: &str| format!("/{}", encode_path(path.as_bytes()));
            Some((address(old), address(new.as_str()?)))
        })
        .collect();
    for page in report["pages"].as_array_mut().into_iter().flatten() {
        for request in page["requests"].as_array_mut().into_iter().flatten() {
            let url = request["url"].as_str().unwrap_or_default();
            let (path, query) = url.split_at(url.find('?').unwrap_or(url.len()));
            if let Some(new) = names.get(path) {
                request["url"] = format!("{new}{query}").into();
            }
        }
    }
    Ok(())
}

fn without_query(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

/// How what was asked for differs from what was expected, one line; `None` if it does not.
pub(crate) fn difference(expected: &BTreeSet<String>, asked: &BTreeSet<String>) -> Option<String> {
    let list = |some: &BTreeSet<String>, others: &BTreeSet<String>| {
        let only: Vec<&str> = some.difference(others).map(String::as_str).collect();
        only.join(" ")
    };
    let (silent, surprising) = (list(expected, asked), list(asked, expected));
    match (silent.as_str(), surprising.as_str()) {
        ("", "") => None,
        ("", more) => Some(format!("the browser also asks for {more}")),
        (less, "") => Some(format!("the browser does not ask for {less}")),
        (less, more) => Some(format!("the browser asks for {more}, not for {less}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn views_of_both_sides() {
        let request = |url: &str, state: &str| json!({"url": url, "state": state});
        let report = json!({
            "entry": "index.html",
            "pages": [
                {"path": "a b.html", "requests": [
                    request("/x.css", "combined"), request("/y.css", "added"), request("/z.png", "lazy"),
                    request("/gone.png", "missing"), request("http://e/x", "external"), request("/i.ico", "icon"),
                ]},
                {"path": "index.html", "requests": [
                    request("/x.css", "kept"), request("/gone.png", "missing"), request("/a%20b.html", "kept"),
                ]},
            ],
        });
        let check = |path: &str, side: Side, first: &[&str], follow_up: &[&str]| {
            let expected = of(&report, path, side).unwrap();
            assert_eq!(expected.first.iter().collect::<Vec<_>>(), first);
            assert_eq!(expected.follow_up.iter().collect::<Vec<_>>(), follow_up);
        };
        check(
            "a b.html",
            Side::Before,
            &["/a%20b.html", "/gone.png", "/x.css", "/z.png"],
            &["/a%20b.html", "/gone.png", "/z.png"],
        );
        let after = ["/a%20b.html", "/gone.png", "/y.css", "/z.png"];
        check("a b.html", Side::After, &after, &after);
        check(
            "index.html",
            Side::Before,
            &["/", "/a%20b.html", "/gone.png", "/x.css"],
            &["/", "/a%20b.html", "/gone.png"],
        );
    }
}
