//! The outcome as one HTML file for people, with the pictures of the differences in it.
//!
//! It needs no network and no script. What came from pages is text, never markup.

use std::fmt::Write as _;

use base64::Engine as _;

use super::outcome::{Fault, Outcome, Page};
use super::pixels::Difference;
use crate::html::escape_attribute;

/// The most pictures of a page, and of the whole report: the first tell what the others would.
const PICTURES_OF_PAGE: usize = 4;
const PICTURES: usize = 60;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;\
color:#1b1b1b;background:#fff}h1{font-size:1.6rem}h2{font-size:1.15rem;margin:2.5rem 0 .5rem;\
overflow-wrap:anywhere}table{border-collapse:collapse}td,th{padding:.15rem .8rem .15rem 0;text-align:left}\
li{margin:.4rem 0;overflow-wrap:anywhere}b{font-weight:600}.bad{color:#a4001c}.good{color:#0a6b2d}\
.note{color:#5c5c5c}figure{display:inline-block;margin:.5rem 1rem .5rem 0;max-width:100%;vertical-align:top}\
img{max-width:100%;border:1px solid #bbb;background:#fff}figcaption{font-size:.85rem;color:#5c5c5c}";

/// The whole file.
pub fn html(outcome: &Outcome) -> String {
    let mut out = String::new();
    let same = outcome.is_same();
    let (class, verdict) = if same {
        ("good", "no difference")
    } else {
        ("bad", "there are differences")
    };
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<meta name=viewport content=\"width=device-width\">\n\
         <title>fewer verify: {verdict}</title>\n<style>{STYLE}</style>\n<h1>SITE and OUT: <span class={class}>{verdict}</span></h1>\n"
    );
    let states: Vec<String> = outcome.states.iter().map(ToString::to_string).collect();
    let mut row = |name: &str, value: String| {
        let _ = writeln!(out, "<tr><th>{name}<td>{}", escape(&value));
    };
    row("Browser", outcome.browser.clone());
    row(
        "Pages",
        format!("{} of {} looked at", outcome.looked_at.len(), outcome.pages),
    );
    row("States", states.join(", "));
    let rows = out.split_off(out.find("<tr>").unwrap_or(out.len()));
    let _ = writeln!(out, "<table>\n{rows}</table>");
    if outcome.left_out > 0 {
        let _ = writeln!(out, "<p>--max left out {} templates.", outcome.left_out);
    }
    for (paths, what) in [
        (&outcome.lost, "OUT has no such page"),
        (&outcome.extra, "SITE has no such page"),
    ] {
        for path in paths {
            let _ = writeln!(out, "<h2>{}</h2>\n<p class=bad>{what}", escape(&path.to_string()));
        }
    }
    let mut left = PICTURES;
    for page in &outcome.looked_at {
        if !page.faults.is_empty() || !page.notes.is_empty() {
            section(&mut out, page, &mut left);
        }
    }
    let good: Vec<&Page> = outcome
        .looked_at
        .iter()
        .filter(|page| page.faults.is_empty() && page.notes.is_empty())
        .collect();
    if !good.is_empty() {
        let _ = writeln!(out, "<h2>Without a difference</h2>\n<ul>");
        for page in good {
            let _ = writeln!(out, "<li>{}{}", escape(&page.path.to_string()), stands_for(page));
        }
        out.push_str("</ul>\n");
    }
    out
}

fn section(out: &mut String, page: &Page, left: &mut usize) {
    let _ = writeln!(
        out,
        "<h2>{}{}</h2>\n<ul>",
        escape(&page.path.to_string()),
        stands_for(page)
    );
    let mut shown = 0;
    let mut item = |out: &mut String, fault: &Fault, class: &str| {
        let state = fault.state.map_or(String::new(), |state| format!(" ({state})"));
        let _ = writeln!(
            out,
            "<li class={class}><b>{}</b>{state}: {}",
            fault.kind.name(),
            escape(&fault.text)
        );
        if let Some(difference) = &fault.difference
            && shown < PICTURES_OF_PAGE
            && *left > 0
        {
            shown += 1;
            *left -= 1;
            pictures(out, difference);
        }
    };
    page.faults.iter().for_each(|fault| item(out, fault, "bad"));
    page.notes.iter().for_each(|note| item(out, note, "note"));
    out.push_str("</ul>\n");
}

fn pictures(out: &mut String, difference: &Difference) {
    out.push_str("<div>");
    for (name, picture) in ["before", "after", "what differs"]
        .iter()
        .zip(&difference.pictures)
    {
        let data = base64::engine::general_purpose::STANDARD.encode(picture);
        let _ = write!(
            out,
            "<figure><img alt=\"{name}\" src=\"data:image/png;base64,{data}\"><figcaption>{name}</figcaption></figure>"
        );
    }
    out.push_str("</div>\n");
}

fn stands_for(page: &Page) -> String {
    match page.stands_for {
        0 | 1 => String::new(),
        n => format!(" <span class=note>(stands for {n} pages)</span>"),
    }
}

fn escape(text: &str) -> String {
    escape_attribute(text, b'"').replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::SitePath;
    use crate::verify::{Kind, Mode, State};

    #[test]
    fn what_comes_from_pages_is_text() {
        let state = State {
            width: 1280,
            height: 900,
            mode: Mode::Dark,
        };
        let mut fault = Fault::new(
            Kind::Pixels,
            Some(state),
            "<script>alert(1)</script> &amp;".into(),
        );
        fault.difference = Some(Difference {
            sizes: [(1, 1); 2],
            count: 1,
            area: (0, 0, 1, 1),
            pictures: [vec![1], vec![2], vec![3]],
        });
        let page = Page {
            path: SitePath::new(*b"a<b>.html"),
            stands_for: 3,
            requests: None,
            faults: vec![fault],
            notes: Vec::new(),
        };
        let outcome = Outcome {
            browser: "Browser 1".into(),
            states: vec![state],
            pages: 5,
            left_out: 1,
            looked_at: vec![page],
            lost: Vec::new(),
            extra: Vec::new(),
            strict: false,
        };
        let text = html(&outcome);
        assert!(!text.contains("<script"), "{text}");
        assert!(
            text.contains("<h2>a&lt;b>.html <span class=note>(stands for 3 pages)"),
            "{text}"
        );
        assert!(
            text.contains("&lt;script>alert(1)&lt;/script> &amp;amp;"),
            "{text}"
        );
        assert!(text.contains("data:image/png;base64,Ag=="), "{text}");
    }
}
