//! What is different between two visits, of SITE and of OUT, or of SITE twice.
//!
//! In: two visits. Out: faults, in the order of importance, each of a kind and, where it has one, of a state. A list
//! that grew or shrank is told by what is new or gone. Nothing here decides whether a fault is chance.

use super::outcome::{Fault, Kind};
use super::pixels;
use super::visit::Visit;

/// The most words that a message quotes of a page.
const QUOTE: usize = 70;

/// Everything that a reader, or a log of the server, could tell the two by.
pub(super) fn differences(before: &Visit, after: &Visit) -> anyhow::Result<Vec<Fault>> {
    let mut faults = Vec::new();
    let mut add = |kind, text: String| faults.push(Fault::new(kind, None, text));
    if before.mode != after.mode {
        add(
            Kind::Quirks,
            format!("the rendering mode {} became {}", before.mode, after.mode),
        );
    }
    if before.title != after.title {
        add(
            Kind::Text,
            format!(
                "the title {:?} became {:?}",
                quote(&before.title, 0),
                quote(&after.title, 0)
            ),
        );
    }
    if before.links != after.links {
        add(Kind::Links, changed("links", &before.links, &after.links));
    }
    if before.broken.len() != after.broken.len() {
        let shown = changed("broken images", &before.broken, &after.broken);
        add(
            Kind::Images,
            format!(
                "{} images were broken, {} are; {shown}",
                before.broken.len(),
                after.broken.len()
            ),
        );
    }
    for (kind, what, old, new) in [
        (
            Kind::Failed,
            "new failed requests",
            &before.all.failed,
            &after.all.failed,
        ),
        (
            Kind::Console,
            "new errors in the console",
            &before.errors,
            &after.errors,
        ),
        (
            Kind::External,
            "new requests to other hosts",
            &before.all.elsewhere,
            &after.all.elsewhere,
        ),
        (
            Kind::External,
            "lost requests to other hosts",
            &after.all.elsewhere,
            &before.all.elsewhere,
        ),
    ] {
        let new = missing(new, old);
        if !new.is_empty() {
            add(kind, format!("{what}: {}", listed(&new)));
        }
    }
    if after.traffic.count() > before.traffic.count() {
        let new = missing(&after.traffic.requests, &before.traffic.requests);
        add(
            Kind::Requests,
            format!(
                "{} requests became {}: {}",
                before.traffic.count(),
                after.traffic.count(),
                listed(&new)
            ),
        );
    }
    for (old, new) in before.shots.iter().zip(&after.shots) {
        if old.text != new.text {
            faults.push(Fault::new(
                Kind::Text,
                Some(old.state),
                text_change(&old.text, &new.text),
            ));
        }
        if let Some(difference) = pixels::compare(&old.picture, &new.picture)? {
            let mut fault = Fault::new(Kind::Pixels, Some(old.state), difference.to_string());
            fault.difference = Some(difference);
            faults.push(fault);
        }
    }
    Ok(faults)
}

/// What `list` has and `other` has not.
fn missing<'a>(list: &'a [String], other: &[String]) -> Vec<&'a String> {
    let mut gone: Vec<&String> = list.iter().filter(|item| !other.contains(item)).collect();
    gone.dedup();
    gone
}

fn changed(what: &str, before: &[String], after: &[String]) -> String {
    let (gone, new) = (missing(before, after), missing(after, before));
    match (gone.is_empty(), new.is_empty()) {
        (true, true) => format!(
            "{what} in another order or number: {} before, {} after",
            before.len(),
            after.len()
        ),
        (false, true) => format!("lost {what}: {}", listed(&gone)),
        (true, false) => format!("new {what}: {}", listed(&new)),
        (false, false) => format!("{what}: {} became {}", listed(&gone), listed(&new)),
    }
}

fn listed(items: &[&String]) -> String {
    let shown: Vec<String> = items.iter().take(3).map(|item| quote(item, 0)).collect();
    let more = items.len().saturating_sub(shown.len());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{more}", shown.join(", "))
}

/// The first place where two texts differ, with what stands around it.
fn text_change(before: &str, after: &str) -> String {
    let same = before
        .chars()
        .zip(after.chars())
        .take_while(|(a, b)| a == b)
        .count();
    format!("{:?} became {:?}", quote(before, same), quote(after, same))
}

/// A piece of a text, from a little before the character `at`.
fn quote(text: &str, at: usize) -> String {
    let from = at.saturating_sub(QUOTE / 3);
    let mut piece: String = text.chars().skip(from).take(QUOTE).collect();
    if from > 0 {
        piece.insert_str(0, "...");
    }
    if text.chars().nth(from + QUOTE).is_some() {
        piece.push_str("...");
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_the_place_and_not_the_page() {
        assert_eq!(
            text_change("one two", "one too"),
            "\"one two\" became \"one too\""
        );
        let long = "x".repeat(200);
        let message = text_change(&format!("{long}a{long}"), &format!("{long}b{long}"));
        assert!(
            message.contains("xa") && message.contains("xb") && message.len() < 200,
            "{message}"
        );
    }

    #[test]
    fn lists_tell_what_is_new_and_what_is_gone() {
        let list = |items: &[&str]| -> Vec<String> { items.iter().map(|item| (*item).to_owned()).collect() };
        let check = |before: &[&str], after: &[&str], expected: &str| {
            assert_eq!(changed("links", &list(before), &list(after)), expected);
        };
        check(&["a", "b"], &["a"], "lost links: b");
        check(&["a"], &["a", "b"], "new links: b");
        check(&["a"], &["b"], "links: a became b");
        check(
            &["a", "b"],
            &["b", "a"],
            "links in another order or number: 2 before, 2 after",
        );
        check(&[], &["a", "b", "c", "d", "e"], "new links: a, b, c and 2 more");
    }
}
