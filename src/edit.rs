//! The one way to change bytes: a sorted list of edits, applied to a copy.

use std::ops::Range;

/// Replaces the bytes of `span` by `with`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub span: Range<usize>,
    pub with: Vec<u8>,
}

/// `bytes` with all `edits` applied. The edits must be sorted and must not overlap.
pub fn splice(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + edits.iter().map(|e| e.with.len()).sum::<usize>());
    let mut done = 0;
    for edit in edits {
        assert!(
            done <= edit.span.start && edit.span.start <= edit.span.end,
            "edits overlap or are not sorted"
        );
        out.extend_from_slice(&bytes[done..edit.span.start]);
        out.extend_from_slice(&edit.with);
        done = edit.span.end;
    }
    out.extend_from_slice(&bytes[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::{escape_attribute, scan};
    use encoding_rs::UTF_8;
    use proptest::prelude::*;

    fn check(text: &str, edits: &[(Range<usize>, &str)], expected: &str) {
        let edits: Vec<Edit> = edits
            .iter()
            .map(|(span, with)| Edit {
                span: span.clone(),
                with: with.as_bytes().to_vec(),
            })
            .collect();
        assert_eq!(splice(text.as_bytes(), &edits), expected.as_bytes());
    }

    #[test]
    fn edits_replace_insert_and_delete() {
        check("abc", &[], "abc");
        check("abc", &[(1..2, "X")], "aXc");
        check("abc", &[(0..0, "<"), (3..3, ">")], "<abc>");
        check("abc", &[(0..1, ""), (1..1, "x"), (1..1, "y"), (1..3, "")], "xy");
    }

    #[test]
    #[should_panic(expected = "overlap")]
    fn overlapping_edits_are_refused() {
        check("abc", &[(0..2, ""), (1..3, "")], "");
    }

    proptest! {
        #[test]
        fn no_edits_change_nothing(bytes: Vec<u8>) {
            prop_assert_eq!(splice(&bytes, &[]), bytes);
        }

        #[test]
        fn a_scan_sees_the_spliced_values(
            old in proptest::collection::vec(("[a-z]{0,4}", 0..3usize), 1..6),
            new in proptest::collection::vec("[a-z&;\"'<> =]{0,8}", 6),
        ) {
            let page: String = old
                .iter()
                .map(|(value, quote)| match (quote, value.is_empty()) {
                    (0, _) => format!("<p>text<img alt=x src=\"{value}\">"),
                    (2, false) => format!("<img src={value} alt=x>"),
                    _ => format!("<!-- c --><img src='{value}'/>"),
                })
                .collect();
            let sources: Vec<_> = scan(page.as_bytes(), UTF_8).tags;
            prop_assert_eq!(sources.len(), old.len());
            let mut edits = Vec::new();
            for (tag, value) in sources.iter().zip(&new) {
                let source = tag.attributes.iter().find(|a| a.name == "src").expect("every image has a source");
                let with = match source.quote {
                    Some(quote) => escape_attribute(value, quote),
                    None => format!("\"{}\"", escape_attribute(value, b'"')),
                };
                edits.push(Edit { span: source.span.clone().expect("and it has a value"), with: with.into_bytes() });
            }
            let spliced = scan(&splice(page.as_bytes(), &edits), UTF_8).tags;
            let found: Vec<_> = spliced.iter().filter_map(|tag| tag.get("src")).collect();
            let expected: Vec<_> = new.iter().take(old.len()).map(String::as_str).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
