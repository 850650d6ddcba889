//! Structural rewrites that the cascade provably cannot notice.
//!
//! - A declaration goes when the same selectors repeat it, equal in text, later in the same block: the later one wins
//!   wherever the earlier one would, in every browser, whatever stands between.
//! - A rule moves up or down to one with the same selectors or the same body when no rule that it passes sets
//!   anything it sets (`compete`), or sets it to the same text.
//! - Declarations of a rule are sorted by name where they do not compete: equal runs compress better.
//!
//! Selectors join one list only when every browser knows all of them: one unknown member kills a list.

use std::collections::HashMap;

use super::compete::{compete, mask};
use super::fold;
use super::known;
use super::tree::{Block, Declaration, Node};
use super::weight::weight;
use rank::key;

mod rank;

/// Which of the free choices to make. None of them shows; which one compresses best differs from sheet to sheet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) order: Order,
    /// How many rules a rule may pass. Bounded, to keep the time linear.
    pub(super) reach: usize,
    /// Sort the members of selector lists.
    pub(super) lists: bool,
    /// Fold the four sides of a box into one shorthand.
    pub(super) fold: bool,
}

/// The order of declarations that do not compete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Source,
    Name,
    Ranked,
}

pub(super) fn rules(nodes: &mut Vec<Node>, shape: Shape) {
    for node in nodes.iter_mut() {
        match node {
            Node::Style { body, .. } => declarations(body, shape),
            Node::Block {
                kind: Block::Style,
                body,
                ..
            } => declarations(body, shape),
            Node::Block {
                kind: Block::Rules,
                body,
                ..
            } => rules(body, shape),
            Node::Block {
                kind: Block::Keyframes,
                body,
                ..
            } => frames(body, shape),
            _ => {}
        }
    }
    if shape.lists {
        for node in nodes.iter_mut() {
            if let Node::Style { selectors, .. } = node {
                selectors.sort();
            }
        }
    }
    let mut free = nodes.split_off(pinned(nodes));
    free.retain(|node| !is_void(node));
    drop_repeated(&mut free);
    // What came together may let others pass.
    for _ in 0..ROUNDS {
        let before = free.len();
        gather(&mut free, shape);
        if free.len() == before {
            break;
        }
    }
    nodes.append(&mut free);
}

/// How many nodes at the start stay where they are: all up to the last `@import`, `@namespace` or unknown statement.
///
/// Such a rule counts only where no other rule precedes it (CSS Cascade 5, section 2; CSS Namespaces 3, section 3):
/// were an empty rule before it dropped, a dead import would be fetched.
fn pinned(nodes: &[Node]) -> usize {
    let last = nodes
        .iter()
        .rposition(|node| matches!(node, Node::Statement(text) if !text.starts_with("@layer")));
    last.map_or(0, |at| at + 1)
}

const ROUNDS: usize = 3;

/// Keyframes with equal bodies become one, where no two frames stand at the same place.
fn frames(nodes: &mut Vec<Node>, shape: Shape) {
    let mut places = std::collections::HashSet::new();
    let mut plain = true;
    for node in nodes.iter_mut() {
        match node {
            Node::Block { head, body, .. } => {
                plain &= is_plain(body) && head.split(',').all(|place| places.insert(place.to_owned()));
                sort(body, shape.order);
            }
            _ => plain = false,
        }
    }
    // `0%` and `0.0%` would pass for two places.
    if !plain || places.iter().any(|p| p != "to" && !is_percentage(p)) {
        return;
    }
    let mut at: HashMap<Vec<Declaration>, usize> = HashMap::new();
    let mut out: Vec<Node> = Vec::with_capacity(nodes.len());
    for node in std::mem::take(nodes) {
        if let Node::Block { head, body, .. } = &node {
            let body: Vec<Declaration> = body.iter().filter_map(declaration).cloned().collect();
            if let Some(Node::Block { head: first, .. }) = at.get(&body).and_then(|&i| out.get_mut(i)) {
                first.push(',');
                first.push_str(head);
                continue;
            }
            at.insert(body, out.len());
        }
        out.push(node);
    }
    *nodes = out;
}

/// A whole number below 100, written in one way only.
fn is_percentage(place: &str) -> bool {
    place.strip_suffix('%').is_some_and(|n| {
        n == "0" || n.len() < 3 && !n.starts_with('0') && n.bytes().all(|b| b.is_ascii_digit())
    })
}

pub(super) fn declarations(nodes: &mut Vec<Node>, shape: Shape) {
    if nodes
        .iter()
        .any(|n| matches!(n, Node::Style { .. } | Node::Block { .. }))
    {
        rules_inside(nodes, shape);
        return;
    }
    drop_duplicates(nodes);
    if shape.fold {
        fold::sides(nodes);
    }
    sort(nodes, shape.order);
}

/// Nested rules are minified one by one and stay where they are.
fn rules_inside(nodes: &mut [Node], shape: Shape) {
    for node in nodes {
        match node {
            Node::Style { body, .. }
            | Node::Block {
                kind: Block::Style,
                body,
                ..
            } => declarations(body, shape),
            _ => {}
        }
    }
}

/// Rules that do nothing. (An empty `@layer`, `@keyframes` or `@font-face` does something.)
fn is_void(node: &Node) -> bool {
    match node {
        Node::Style { body, .. } => body.is_empty(),
        Node::Block {
            head,
            body,
            kind: Block::Rules,
        } => body.is_empty() && (head.starts_with("@media") || head.starts_with("@supports")),
        _ => false,
    }
}

fn drop_duplicates(nodes: &mut Vec<Node>) {
    if nodes.len() < 2 {
        return;
    }
    let mut seen: std::collections::HashSet<Declaration> = std::collections::HashSet::new();
    let mut keep: Vec<bool> = nodes
        .iter()
        .rev()
        .map(|node| match node {
            Node::Declaration(d) => seen.insert(d.clone()),
            _ => true,
        })
        .collect();
    keep.reverse();
    let mut keep = keep.into_iter();
    nodes.retain(|_| keep.next().unwrap_or(true));
}

/// Sorts runs of declarations by name as far as they do not compete.
fn sort(nodes: &mut [Node], order: Order) {
    if order == Order::Source || nodes.len() > 100 {
        return;
    }
    for i in 1..nodes.len() {
        let mut k = i;
        while k > 0 {
            let (Node::Declaration(a), Node::Declaration(b)) = (&nodes[k - 1], &nodes[k]) else {
                break;
            };
            if key(a, order) <= key(b, order) || compete(&a.name, &b.name) {
                break;
            }
            nodes.swap(k - 1, k);
            k -= 1;
        }
    }
}

/// Drops declarations that the same selectors repeat later.
fn drop_repeated(nodes: &mut Vec<Node>) {
    let mut later: HashMap<String, std::collections::HashSet<Declaration>> = HashMap::new();
    for node in nodes.iter_mut().rev() {
        let Node::Style { selectors, body } = node else {
            continue;
        };
        let list = selectors.join(",");
        let seen = later.entry(list).or_default();
        let shown = shown(body);
        if is_plain(body) {
            // What hides a fallback stays with it: without it the fallback would show.
            let all: Vec<Declaration> = body.iter().filter_map(declaration).cloned().collect();
            let hides = |d: &Declaration| {
                all.len() > 100
                    || all
                        .iter()
                        .any(|other| other != d && compete(&other.name, &d.name))
            };
            body.retain(|node| declaration(node).is_none_or(|d| !seen.contains(d) || hides(d)));
        }
        seen.extend(shown);
    }
    nodes.retain(|node| !is_void(node));
}

/// Declarations that nothing later in the same body overrides.
fn shown(body: &[Node]) -> Vec<Declaration> {
    let all: Vec<&Declaration> = body.iter().filter_map(declaration).collect();
    // Long bodies are rare, pairs of their declarations many.
    if all.len() > 100 {
        return Vec::new();
    }
    let hidden = |i: usize| {
        all[i + 1..]
            .iter()
            .any(|later| *later != all[i] && compete(&later.name, &all[i].name))
    };
    (0..all.len())
        .filter(|&i| !hidden(i))
        .map(|i| all[i].clone())
        .collect()
}

fn declaration(node: &Node) -> Option<&Declaration> {
    match node {
        Node::Declaration(d) => Some(d),
        _ => None,
    }
}

fn is_plain(body: &[Node]) -> bool {
    body.iter().all(|n| matches!(n, Node::Declaration(_)))
}

/// What a rule sets, for the question whether another rule may pass it.
struct Touch {
    mask: u64,
    /// Nothing may pass.
    wall: bool,
    /// The specificities of its selectors; `None` where one is not certain.
    weights: Option<Vec<u32>>,
}

fn touch(node: &Node) -> Touch {
    let mut out = Touch {
        mask: 0,
        wall: false,
        weights: Some(Vec::new()),
    };
    collect(node, &mut out);
    if let Some(weights) = &mut out.weights {
        weights.sort_unstable();
        weights.dedup();
    }
    out
}

fn collect(node: &Node, out: &mut Touch) {
    match node {
        Node::Declaration(d) => out.mask |= mask(&d.name),
        Node::Style { selectors, body } => {
            if let Some(weights) = &mut out.weights {
                let more: Option<Vec<u32>> = selectors.iter().map(|s| weight(s)).collect();
                match more {
                    Some(more) if is_plain(body) => weights.extend(more),
                    _ => out.weights = None,
                }
            }
            body.iter().for_each(|n| collect(n, out));
        }
        Node::Block {
            head,
            kind: Block::Rules,
            body,
        } if head.starts_with("@media") || head.starts_with("@supports") => {
            body.iter().for_each(|n| collect(n, out));
        }
        Node::Block {
            kind: Block::Keyframes,
            ..
        } => {}
        Node::Block {
            head,
            kind: Block::Style,
            ..
        } if head == "@font-face" => {}
        Node::Comment(_) => {}
        _ => out.wall = true,
    }
}

/// May `a` and `b` change places?
fn commute(a: (&Node, &Touch), b: (&Node, &Touch)) -> bool {
    if a.1.wall || b.1.wall {
        return false;
    }
    if a.1.mask & b.1.mask == 0 {
        return true;
    }
    if let (Some(a), Some(b)) = (&a.1.weights, &b.1.weights)
        && a.iter().all(|w| b.binary_search(w).is_err())
    {
        return true;
    }
    let mut all_a = Vec::new();
    let mut all_b = Vec::new();
    leaves(a.0, &mut all_a);
    leaves(b.0, &mut all_b);
    if all_a.len() * all_b.len() > 2000 {
        return false;
    }
    all_a.iter().all(|a| {
        all_b
            .iter()
            .all(|b| a == b || a.important != b.important || !compete(&a.name, &b.name))
    })
}

fn leaves<'n>(node: &'n Node, out: &mut Vec<&'n Declaration>) {
    match node {
        Node::Declaration(d) => out.push(d),
        Node::Style { body, .. } | Node::Block { body, .. } => body.iter().for_each(|n| leaves(n, out)),
        _ => {}
    }
}

/// Brings rules with equal selectors or equal bodies together.
fn gather(nodes: &mut Vec<Node>, shape: Shape) {
    let mut out: Vec<Option<(Node, Touch)>> = Vec::with_capacity(nodes.len());
    for node in std::mem::take(nodes) {
        let this = touch(&node);
        let mut at = None;
        if !this.wall {
            for k in (out.len().saturating_sub(shape.reach)..out.len()).rev() {
                let Some((other, touched)) = &out[k] else { continue };
                if fits(other, &node) {
                    at = Some(k);
                    break;
                }
                if !commute((other, touched), (&node, &this)) {
                    break;
                }
            }
        }
        match at {
            Some(k) => {
                if let Some((other, touched)) = &mut out[k] {
                    join(other, node, shape);
                    *touched = touch(other);
                }
            }
            None => out.push(Some((node, this))),
        }
    }
    *nodes = out.into_iter().flatten().map(|(node, _)| node).collect();
}

/// Do two bodies set nothing differently? One rule that sets something twice shows the later value only.
fn agree(a: &[Node], b: &[Node]) -> bool {
    let all = || b.iter().filter_map(declaration);
    a.iter()
        .filter_map(declaration)
        .all(|a| all().all(|b| a == b || !compete(&a.name, &b.name)))
}

/// Can `b`, brought next to `a`, become a part of it?
fn fits(a: &Node, b: &Node) -> bool {
    match (a, b) {
        (
            Node::Style {
                selectors: sa,
                body: ba,
            },
            Node::Style {
                selectors: sb,
                body: bb,
            },
        ) => {
            is_plain(ba)
                && is_plain(bb)
                && (sa == sb && agree(ba, bb)
                    || ba == bb
                        && sa.len() + sb.len() < 400
                        && sa.iter().chain(sb).all(|s| known::is_known(s)))
        }
        (
            Node::Block {
                head: ha,
                kind: Block::Rules,
                ..
            },
            Node::Block {
                head: hb,
                kind: Block::Rules,
                ..
            },
        ) => ha == hb && ha.starts_with("@media"),
        _ => false,
    }
}

fn join(a: &mut Node, b: Node, shape: Shape) {
    match (a, b) {
        (
            Node::Style {
                selectors: sa,
                body: ba,
            },
            Node::Style {
                selectors: sb,
                body: bb,
            },
        ) => {
            if *sa == sb {
                ba.extend(bb);
                declarations(ba, shape);
            } else {
                for selector in sb {
                    if !sa.contains(&selector) {
                        sa.push(selector);
                    }
                }
                if shape.lists {
                    sa.sort();
                }
            }
        }
        (Node::Block { body: ba, .. }, Node::Block { body: bb, .. }) => {
            ba.extend(bb);
            rules(ba, shape);
        }
        _ => {}
    }
}
