//! Structural rewrites that the cascade provably cannot notice.

use super::tree::Node;

pub(super) fn rules(_nodes: &mut Vec<Node>) {}

pub(super) fn declarations(_nodes: &mut Vec<Node>) {}
