//! The outcome in words, for a terminal or a log: a line for every page that is not what it was, then one for all.

use std::fmt::Write as _;

use super::outcome::{Outcome, Page};

/// Ends in a line break.
pub fn summary(outcome: &Outcome) -> String {
    let mut out = String::new();
    let say = |out: &mut String, line: String| {
        out.push_str(&line);
        out.push('\n');
    };
    for (paths, what) in [
        (&outcome.lost, "OUT has no such page"),
        (&outcome.extra, "SITE has no such page"),
    ] {
        for path in paths {
            say(&mut out, format!("{path}: {what}"));
        }
    }
    for page in &outcome.looked_at {
        for fault in &page.faults {
            say(&mut out, format!("{}: {fault}", page.path));
        }
        for note in &page.notes {
            let word = if outcome.strict {
                "cannot be compared"
            } else {
                "note"
            };
            say(&mut out, format!("{}: {word}: {note}", page.path));
        }
    }
    let looked = outcome.looked_at.len();
    let stood: usize = outcome.looked_at.iter().map(|page| page.stands_for).sum();
    let _ = write!(
        out,
        "verify: {looked} of {} pages looked at in {} states with {}",
        outcome.pages,
        outcome.states.len(),
        outcome.browser
    );
    if stood > looked {
        let _ = write!(out, "; by template they stand for {stood}");
    }
    if outcome.left_out > 0 {
        let _ = write!(out, "; --max left out {} templates", outcome.left_out);
    }
    out.push('\n');
    let different = |page: &&Page| !page.faults.is_empty();
    let bad = outcome.looked_at.iter().filter(different).count() + outcome.lost.len() + outcome.extra.len();
    let noted = outcome
        .looked_at
        .iter()
        .filter(|page| page.faults.is_empty() && !page.notes.is_empty())
        .count();
    let unsure = match noted {
        0 => String::new(),
        1 => "; 1 page with notes could not be compared in full".to_owned(),
        n => format!("; {n} pages with notes could not be compared in full"),
    };
    let verdict = match (bad, outcome.is_same()) {
        (0, true) => format!("verify: no difference{unsure}"),
        (0, false) => format!("verify: no difference{unsure}, which --strict does not accept"),
        (1, _) => format!("verify: 1 page differs{unsure}"),
        (n, _) => format!("verify: {n} pages differ{unsure}"),
    };
    say(&mut out, verdict);
    out
}
