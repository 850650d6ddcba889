//! The outcome as JSON, for programs. The same outcome gives the same text. Pictures are left to the HTML.

use serde_json::{Value, json};

use super::outcome::{Fault, Outcome, Page, Views};

/// The number of the format; it changes when a reader of the old one would break.
const SCHEMA: u32 = 1;

/// Ends in a line break.
pub fn json(outcome: &Outcome) -> String {
    let paths =
        |paths: &[crate::site::SitePath]| -> Vec<String> { paths.iter().map(ToString::to_string).collect() };
    let states: Vec<String> = outcome.states.iter().map(ToString::to_string).collect();
    let value = json!({
        "schema": SCHEMA,
        "same": outcome.is_same(),
        "strict": outcome.strict,
        "browser": outcome.browser,
        "states": states,
        "pages_of_site": outcome.pages,
        "templates_left_out": outcome.left_out,
        "lost_pages": paths(&outcome.lost),
        "extra_pages": paths(&outcome.extra),
        "pages": outcome.looked_at.iter().map(page).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

fn page(page: &Page) -> Value {
    let views = |views: &Views| json!({"first": views.first, "follow_up": views.follow_up});
    let requests = page.requests.map(|[before, after]| {
        json!({
            "before": {"report": views(&before.predicted), "browser": views(&before.seen)},
            "after": {"report": views(&after.predicted), "browser": views(&after.seen)},
        })
    });
    json!({
        "path": page.path.to_string(),
        "stands_for": page.stands_for,
        "requests": requests,
        "faults": page.faults.iter().map(fault).collect::<Vec<_>>(),
        "notes": page.notes.iter().map(fault).collect::<Vec<_>>(),
    })
}

fn fault(fault: &Fault) -> Value {
    let pixels = fault.difference.as_ref().map(|difference| {
        let (left, top, right, bottom) = difference.area;
        json!({"count": difference.count, "left": left, "top": top, "right": right, "bottom": bottom})
    });
    json!({
        "kind": fault.kind.name(),
        "state": fault.state.map(|state| state.to_string()),
        "text": fault.text,
        "pixels": pixels,
    })
}
