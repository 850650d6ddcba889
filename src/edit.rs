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
