//! Looks at one page in both folders, as often as it takes to tell a fault of OUT from chance.
//!
//! In: a page with what the report says of it. Out: faults and notes. A fault stands when it is seen twice and SITE
//! held still meanwhile; what SITE does not hold steady itself is a note. Whatever fails names the page.

use super::browser::Browser;
use super::outcome::{Fault, Kind, Page, Requests, Views};
use super::record::Traffic;
use super::state::State;
use super::visit::{self, Visit};
use super::{Job, Wishes, compare};

/// The browsers of one worker: of SITE and of OUT.
pub(super) struct Pair<'a> {
    browsers: [Option<Browser>; 2],
    ports: [u16; 2],
    states: &'a [State],
    entry: Option<&'a str>,
    wishes: &'a Wishes,
}

const SIDES: [&str; 2] = ["in SITE", "in OUT"];

impl<'a> Pair<'a> {
    pub(super) fn start(
        wishes: &'a Wishes,
        ports: [u16; 2],
        states: &'a [State],
        entry: Option<&'a str>,
    ) -> anyhow::Result<Pair<'a>> {
        let start = |port| Browser::start(&wishes.program, port).map(Some);
        Ok(Pair {
            browsers: [start(ports[0])?, start(ports[1])?],
            ports,
            states,
            entry,
            wishes,
        })
    }

    /// Does something in one of the browsers; once more in a new one if it fails, as a crash may be chance.
    fn attempt<T>(
        &mut self,
        side: usize,
        work: impl Fn(&mut Browser) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut tried = false;
        loop {
            let mut browser = match self.browsers[side].take() {
                Some(browser) => browser,
                None => Browser::start(&self.wishes.program, self.ports[side])?,
            };
            match work(&mut browser) {
                Ok(value) => {
                    self.browsers[side] = Some(browser);
                    return Ok(value);
                }
                Err(error) if tried => {
                    return Err(error.context(format!("it cannot be seen {}", SIDES[side])));
                }
                // The browser ends here: whatever state it is in, the next has none.
                Err(_) => tried = true,
            }
        }
    }

    fn first_views(&mut self, job: &Job, states: &[State]) -> anyhow::Result<[Visit; 2]> {
        let patience = self.wishes.patience;
        let mut view = |side| {
            self.attempt(side, |browser| {
                visit::first_view(browser, &job.address, states, patience)
            })
        };
        Ok([view(0)?, view(1)?])
    }

    fn follow_ups(&mut self, job: &Job, entry: &str) -> anyhow::Result<[Traffic; 2]> {
        let (state, patience) = (self.states[0], self.wishes.patience);
        let mut view = |side| {
            self.attempt(side, |browser| {
                visit::follow_up(browser, entry, &job.address, state, patience)
            })
        };
        Ok([view(0)?, view(1)?])
    }

    /// Looks at one page. What goes wrong is a fault of the page, which names it; the others are still looked at.
    pub(super) fn page(&mut self, job: &Job) -> Page {
        let mut page = Page {
            path: job.path.clone(),
            stands_for: job.sample.stands_for,
            requests: None,
            faults: Vec::new(),
            notes: Vec::new(),
        };
        if let Err(error) = self.look(job, &mut page) {
            page.faults
                .push(Fault::new(Kind::Unseen, None, format!("{error:#}")));
        }
        page
    }

    fn look(&mut self, job: &Job, page: &mut Page) -> anyhow::Result<()> {
        let mut first = self.first_views(job, self.states)?;
        if first.iter().any(|visit| visit.restless) {
            let text = "it never stops asking for something; it was looked at all the same".to_owned();
            page.notes.push(Fault::new(Kind::Requests, None, text));
        }
        let found = compare::differences(&first[0], &first[1])?;
        if !found.is_empty() {
            self.judge(job, &mut first, found, page)?;
        }
        self.count(job, &first, page)
    }

    /// Tells faults of OUT from what SITE does not hold steady itself: both are looked at again, in the states in
    /// question.
    fn judge(
        &mut self,
        job: &Job,
        first: &mut [Visit; 2],
        found: Vec<Fault>,
        page: &mut Page,
    ) -> anyhow::Result<()> {
        let in_question = |state: State| found.iter().any(|fault| fault.state == Some(state));
        let counted = self.states[0];
        let states = self.states.iter().copied();
        let states: Vec<State> = states
            .filter(|&state| state == counted || in_question(state))
            .collect();
        for visit in first.iter_mut() {
            visit.shots.retain(|shot| states.contains(&shot.state));
        }
        let second = self.first_views(job, &states)?;
        let unsteady = compare::differences(&first[0], &second[0])?;
        let again = compare::differences(&second[0], &second[1])?;
        let has =
            |faults: &[Fault], fault: &Fault| faults.iter().any(|other| other.aspect() == fault.aspect());
        let mut third = None;
        for mut fault in found {
            if has(&unsteady, &fault) {
                fault.text = format!("SITE itself is not the same twice ({})", fault.text);
                page.notes.push(fault);
                continue;
            }
            let seen_again = has(&again, &fault);
            // Where SITE is unsteady in one state, being the same twice in another may be luck.
            let suspect = unsteady.iter().any(|other| other.kind == fault.kind);
            if seen_again && !suspect {
                page.faults.push(fault);
                continue;
            }
            // A third look decides between a fault and a busy machine.
            if third.is_none() {
                let visits = self.first_views(job, &states)?;
                let moved = compare::differences(&first[0], &visits[0])?;
                third = Some((compare::differences(&visits[0], &visits[1])?, moved));
            }
            let (there, moved) = third.as_ref().map_or((false, false), |(found, moved)| {
                (has(found, &fault), has(moved, &fault))
            });
            if there && !moved && (seen_again || !suspect) {
                page.faults.push(fault);
                continue;
            }
            let why = match moved {
                true => "SITE itself is not the same three times",
                false => "seen, and not seen again",
            };
            fault.text = format!("{why} ({})", fault.text);
            page.notes.push(fault);
        }
        Ok(())
    }

    /// Compares the numbers of requests with the report's.
    ///
    /// A report cannot know what scripts ask for: where SITE itself makes more requests than it says, that is noted.
    /// That OUT makes no more than SITE was looked at before.
    fn count(&mut self, job: &Job, first: &[Visit; 2], page: &mut Page) -> anyhow::Result<()> {
        let Some(predicted) = job.predicted else {
            let text = "the report does not name this page".to_owned();
            page.faults.push(Fault::new(Kind::Count, None, text));
            return Ok(());
        };
        let entry = self.entry;
        let mut traffic = first.each_ref().map(|visit| visit.traffic.clone());
        if off(predicted.map(|views| views.first), &traffic).is_some_and(|off| !known_only_to_scripts(off)) {
            traffic = self
                .first_views(job, &self.states[..1])?
                .map(|visit| visit.traffic);
        }
        let mut later = None;
        if let Some(entry) = entry
            && let [Some(before), Some(after)] = predicted.map(|views| views.follow_up)
        {
            let mut seen = self.follow_ups(job, entry)?;
            if off([before, after], &seen).is_some_and(|off| !known_only_to_scripts(off)) {
                seen = self.follow_ups(job, entry)?;
            }
            later = Some(([before, after], seen));
        }
        let views = |side: usize| Views {
            first: traffic[side].count(),
            follow_up: later.as_ref().map(|(_, seen)| seen[side].count()),
        };
        page.requests = Some([0, 1].map(|side| Requests {
            predicted: predicted[side],
            seen: views(side),
        }));
        let first = ("first view", predicted.map(|views| views.first), traffic);
        let later = later.map(|(numbers, traffic)| ("follow-up view", numbers, traffic));
        for (view, numbers, traffic) in [Some(first), later].into_iter().flatten() {
            let Some(off) = off(numbers, &traffic) else {
                continue;
            };
            if known_only_to_scripts(off) {
                let text = format!(
                    "{view}: {} requests more than the report says before, and {} after: scripts make them",
                    off[0], off[1]
                );
                page.notes.push(Fault::new(Kind::Count, None, text));
                continue;
            }
            let side = usize::from(off[1] != 0);
            let text = format!(
                "{view}: the report says {} before and {} after, the browser asked for {} and {}; {}: {}",
                numbers[0],
                numbers[1],
                traffic[0].count(),
                traffic[1].count(),
                SIDES[side],
                traffic[side].requests.join(" ")
            );
            page.faults.push(Fault::new(Kind::Count, None, text));
        }
        Ok(())
    }
}

/// By how much the browser's numbers are not the report's, `None` where they are.
fn off(predicted: [u64; 2], seen: &[Traffic; 2]) -> Option<[i64; 2]> {
    let off = [0, 1].map(|side| seen[side].count() as i64 - predicted[side] as i64);
    (off != [0, 0]).then_some(off)
}

/// Whether SITE already makes requests that no report can know, and OUT none less than its report says.
fn known_only_to_scripts(off: [i64; 2]) -> bool {
    off[0] > 0 && off[1] >= 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_beyond_the_report_on_both_sides_are_left_to_scripts() {
        let traffic = |count: u64| Traffic {
            requests: (0..count).map(|n| format!("/{n}")).collect(),
            ..Traffic::default()
        };
        let check = |seen: [u64; 2], expected: Option<bool>| {
            let off = off([5, 3], &seen.map(traffic));
            assert_eq!(off.map(known_only_to_scripts), expected, "{seen:?}");
        };
        check([5, 3], None);
        check([7, 5], Some(true));
        check([7, 3], Some(true));
        check([5, 4], Some(false));
        check([5, 2], Some(false));
        check([4, 3], Some(false));
        check([7, 2], Some(false));
    }
}
