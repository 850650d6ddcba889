//! Prints a stylesheet in fewer bytes.
//!
//! From tokens, with a table of rewrites that are known to be invisible, and not through a CSS parser that knows
//! values: such a parser drops what it does not know and rounds what it does, and proving for each declaration that
//! it did neither costs more code than the few rewrites that save bytes.

use super::token;
use super::tree::{self, Node};
use super::{merge, scan};

/// The same stylesheet in fewer bytes, or `None` where nothing was won. Never drops or reorders anything that a
/// browser's object model would show.
pub fn print(text: &str, targets: Option<&str>) -> Option<String> {
    let _ = targets;
    let found = scan(text, false);
    if found.opaque.is_some() {
        return None;
    }
    let toks = token::list(text);
    let mut nodes = tree::sheet(text, &toks);
    merge::rules(&mut nodes);
    let mut out = String::with_capacity(text.len());
    write_all(&mut out, &nodes, true);
    if text.starts_with("@charset \"") && out.is_ascii() {
        if let Some((_, rest)) = out.split_once(';') {
            out = rest.to_owned();
        }
    }
    (out.len() < text.len()).then_some(out)
}

/// The same for the value of a `style` attribute.
pub fn print_declarations(text: &str, targets: Option<&str>) -> Option<String> {
    let _ = targets;
    if scan(text, true).opaque.is_some() {
        return None;
    }
    let toks = token::list(text);
    let mut nodes = tree::declarations(text, &toks);
    merge::declarations(&mut nodes);
    let mut out = String::with_capacity(text.len());
    write_all(&mut out, &nodes, false);
    (out.len() < text.len()).then_some(out)
}

/// Writes items. Answers whether more may follow.
fn write_all(out: &mut String, nodes: &[Node], root: bool) -> bool {
    for (i, node) in nodes.iter().enumerate() {
        let last = nodes[i + 1..].iter().all(|n| matches!(n, Node::Comment(_)));
        match node {
            Node::Style { selectors, body } => {
                for (k, selector) in selectors.iter().enumerate() {
                    if k > 0 {
                        out.push(',');
                    }
                    out.push_str(selector);
                }
                if !write_block(out, body) {
                    return false;
                }
            }
            Node::Block { head, body, .. } => {
                out.push_str(head);
                if !write_block(out, body) {
                    return false;
                }
            }
            Node::Statement(text) => {
                out.push_str(text);
                if root || !last {
                    out.push(';');
                }
            }
            Node::Declaration(d) => {
                out.push_str(&d.name);
                out.push(':');
                out.push_str(&d.value);
                if d.important {
                    out.push_str("!important");
                }
                if !last {
                    out.push(';');
                }
            }
            Node::Raw(text) => {
                out.push_str(text);
                if !last {
                    out.push(';');
                }
            }
            Node::Comment(text) => out.push_str(text),
            Node::Tail(text) => {
                out.push_str(text);
                return false;
            }
        }
    }
    true
}

fn write_block(out: &mut String, body: &[Node]) -> bool {
    out.push('{');
    let more = write_all(out, body, false);
    if more {
        out.push('}');
    }
    more
}
