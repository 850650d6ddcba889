//! Limits as JUnit XML, which every CI shows: one test case a page, with a failure for each limit that it breaks.
//!
//! The form is the one that CI servers read (`testsuites`, `testsuite`, `testcase`, `failure`). A page that no limit
//! is about is skipped, so that a run without limits is not taken for one that passed.

use std::collections::HashMap;
use std::io::{self, Write};

use super::text::counted;
use super::{Report, Subject, Violation};
use crate::site::SitePath;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let verdict = &report.verdict;
    let mut of_page: HashMap<&SitePath, Vec<&Violation>> = HashMap::new();
    let mut of_site: Vec<(&Subject, &Violation)> = Vec::new();
    for violation in &verdict.violations {
        match violation.page() {
            Some(page) => of_page.entry(page).or_default().push(violation),
            None => of_site.push((&violation.subject, violation)),
        }
    }
    let judged = |i: usize| verdict.judged.get(i) == Some(&true);
    let skipped = (0..report.pages.len()).filter(|&i| !judged(i)).count();
    let totals = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{skipped}\" time=\"0\"",
        report.pages.len() + of_site.len(),
        of_page.len() + of_site.len()
    );
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"fewer\" {totals}>")?;
    writeln!(out, "<testsuite name=\"pages\" {totals}>")?;
    for (i, page) in report.pages.iter().enumerate() {
        let name = escape(&page.path.to_string());
        let start = format!("<testcase classname=\"fewer.pages\" name=\"{name}\" time=\"0\"");
        match of_page.get(&page.path) {
            Some(violations) => {
                writeln!(out, "{start}>")?;
                for violation in violations {
                    failure(violation, out)?;
                }
                writeln!(out, "</testcase>")?;
            }
            None if judged(i) => writeln!(out, "{start}/>")?,
            None => writeln!(
                out,
                "{start}><skipped message=\"no limit is about it\"/></testcase>"
            )?,
        }
    }
    for (subject, violation) in of_site {
        let name = escape(&subject.to_string());
        writeln!(
            out,
            "<testcase classname=\"fewer.site\" name=\"{name}\" time=\"0\">"
        )?;
        failure(violation, out)?;
        writeln!(out, "</testcase>")?;
    }
    if let Some(comparison) = &verdict.comparison {
        let mut text = String::new();
        for (what, names) in [
            ("new", comparison.new.iter().map(ToString::to_string).collect()),
            ("vanished", comparison.vanished.clone()),
        ] {
            text.push_str(&format!("{what}: {}\n", counted(names.len() as u64, "page")));
            for name in names {
                text.push_str(&format!("  {name}\n"));
            }
        }
        writeln!(out, "<system-out>{}</system-out>", escape(&text))?;
    }
    writeln!(out, "</testsuite>\n</testsuites>")
}

fn failure(violation: &Violation, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<failure type=\"{}\" message=\"{}\">{}</failure>",
        violation.code(),
        escape(&violation.reason()),
        escape(&violation.to_string())
    )
}

/// For text and for attributes in double quotes; what XML 1.0 cannot hold (section 2.2) is written as U+FFFD.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(c),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}
