//! The tree of a page as the HTML standard's parser builds it, scripting on, in one flat arena.
//!
//! Input: the bytes of a page. Output: nodes linked by index, with the ids, classes and tag names of all elements
//! indexed by hash. `template` contents stay outside the tree and `noscript` holds text. Nothing here recurses, and
//! a guard before the tree builder keeps broken or hostile markup from taking quadratic time.

use std::cell::{Cell, Ref, RefCell};
use std::collections::HashMap;

use encoding_rs::Encoding;
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{self, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, QualName, TokenizerResult, local_name, ns};

use super::hash::hash_name;

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// Chromium does not nest deeper: what would be deeper becomes a sibling.
const MAX_DEPTH: u32 = 512;

/// The tree of a page, with scripting on.
#[derive(Debug)]
pub struct Document {
    pub(super) nodes: Vec<Node>,
    pub(super) quirks: bool,
    /// Elements by the hash of their id, of each class, and of their local name; each list in tree order.
    pub(super) ids: HashMap<u32, Vec<u32>>,
    pub(super) classes: HashMap<u32, Vec<u32>>,
    pub(super) tags: HashMap<u32, Vec<u32>>,
    /// All elements of the tree, in tree order.
    pub(super) elements: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: u32,
    pub(super) previous: u32,
    pub(super) next: u32,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) data: Data,
}

#[derive(Debug)]
pub(super) enum Data {
    /// The document, or the contents of a `template`.
    Root,
    Element(Box<ElementData>),
    Text(String),
    Other,
}

#[derive(Debug)]
pub(super) struct ElementData {
    pub(super) name: QualName,
    pub(super) attributes: Vec<Attribute>,
    /// Hash (ASCII lower case) of the id; 0 without one.
    pub(super) id: u32,
    /// Hashes (ASCII lower case) of the classes.
    pub(super) classes: Vec<u32>,
    /// Of a `template`: the node that holds its contents.
    contents: u32,
}

#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: QualName,
    pub(super) value: Box<str>,
}

impl ElementData {
    pub(super) fn is_html(&self) -> bool {
        self.name.ns == ns!(html)
    }

    /// An attribute without a namespace.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|a| a.name.ns == ns!() && &*a.name.local == name)
            .map(|a| &*a.value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

impl Document {
    pub(super) fn element(&self, id: u32) -> Option<&ElementData> {
        match self.nodes.get(id as usize).map(|n| &n.data) {
            Some(Data::Element(e)) => Some(e),
            _ => None,
        }
    }

    pub(super) fn parent_element(&self, id: u32) -> Option<u32> {
        let parent = self.nodes.get(id as usize)?.parent;
        self.element(parent).map(|_| parent)
    }

    pub(super) fn children(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.nodes.get(id as usize).map_or(NONE, |n| n.first);
        let some = |n: u32| (n != NONE).then_some(n);
        std::iter::successors(some(first), move |&c| some(self.nodes[c as usize].next))
    }

    pub(super) fn root_element(&self) -> Option<u32> {
        self.elements.first().copied()
    }

    /// The text nodes right inside an element, joined (what a `style` element means).
    pub(super) fn child_text(&self, id: u32) -> String {
        let mut text = String::new();
        for child in self.children(id) {
            if let Data::Text(t) = &self.nodes[child as usize].data {
                text.push_str(t);
            }
        }
        text
    }
}

/// Parses a page. `encoding` yields to a byte order mark.
pub fn parse(bytes: &[u8], encoding: &'static Encoding) -> Document {
    let (text, _, _) = encoding.decode(bytes);
    parse_text(&text, false)
}

/// Parses a page in XML syntax, which is served as `application/xhtml+xml`.
pub fn parse_xml(bytes: &[u8], encoding: &'static Encoding) -> Document {
    use xml5ever::tendril::TendrilSink as _;
    let (text, _, _) = encoding.decode(bytes);
    xml5ever::driver::parse_document(Sink::new(), xml5ever::driver::XmlParseOpts::default()).one(&*text)
}

pub(super) fn parse_text(text: &str, srcdoc: bool) -> Document {
    let sink = Sink::new();
    let options = TreeBuilderOpts {
        iframe_srcdoc: srcdoc,
        drop_doctype: true,
        ..TreeBuilderOpts::default()
    };
    let guard = Guard {
        builder: TreeBuilder::new(sink, options),
        limit: text.len() + 10_000,
        full: Cell::new(false),
    };
    let tokenizer = Tokenizer::new(guard, TokenizerOpts::default());
    let input = BufferQueue::default();
    // A tendril holds less than 4 GB, and short ones are kept inline: large pieces share one buffer.
    let mut rest = text;
    while !rest.is_empty() {
        let mut cut = rest.len().min(1 << 28);
        while !rest.is_char_boundary(cut) {
            cut -= 1;
        }
        input.push_back(StrTendril::from(&rest[..cut]));
        rest = &rest[cut..];
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    }
    tokenizer.end();
    tokenizer.sink.builder.sink.finish()
}

impl Node {
    fn new(data: Data) -> Node {
        Node {
            parent: NONE,
            previous: NONE,
            next: NONE,
            first: NONE,
            last: NONE,
            data,
        }
    }
}

/// Stands before the tree builder. Its stack of open elements has no limit, and most start tags walk it.
struct Guard {
    builder: TreeBuilder<u32, Sink>,
    /// Formatting elements that are reopened again and again can make far more nodes than the page has bytes.
    limit: usize,
    full: Cell<bool>,
}

impl TokenSink for Guard {
    type Handle = u32;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<u32> {
        if matches!(token, Token::TagToken(_) | Token::CharacterTokens(_)) {
            let sink = &self.builder.sink;
            if self.full.get() || sink.nodes.borrow().len() > self.limit {
                self.full.set(true);
                return TokenSinkResult::Continue;
            }
        }
        if let Token::TagToken(tag) = &token
            && tag.kind == TagKind::StartTag
            && let Some(name) = self.builder.sink.too_deep()
        {
            let end = tokenizer::Tag {
                kind: TagKind::EndTag,
                name,
                self_closing: false,
                attrs: Vec::new(),
                had_duplicate_attributes: false,
            };
            let _ = self.builder.process_token(Token::TagToken(end), line);
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder
            .adjusted_current_node_present_but_not_in_html_namespace()
    }
}

struct Sink {
    nodes: RefCell<Vec<Node>>,
    quirks: Cell<bool>,
    /// The element that was put into the tree last.
    latest: Cell<u32>,
}

impl Sink {
    fn too_deep(&self) -> Option<LocalName> {
        let nodes = self.nodes.borrow();
        let latest = self.latest.get();
        let mut depth = 0;
        let mut at = latest;
        while let Some(node) = nodes.get(at as usize) {
            depth += 1;
            if depth > MAX_DEPTH {
                return match &nodes[latest as usize].data {
                    Data::Element(e) => Some(e.name.local.clone()),
                    _ => None,
                };
            }
            at = node.parent;
        }
        None
    }
}

impl Sink {
    fn new() -> Sink {
        Sink {
            nodes: RefCell::new(vec![Node::new(Data::Root)]),
            quirks: Cell::new(false),
            latest: Cell::new(NONE),
        }
    }
}

impl TreeSink for Sink {
    type Handle = u32;
    type Output = Document;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Document {
        index(self.nodes.into_inner(), self.quirks.get())
    }

    fn parse_error(&self, _: std::borrow::Cow<'static, str>) {}

    fn get_document(&self) -> u32 {
        0
    }

    fn elem_name<'a>(&'a self, target: &'a u32) -> Ref<'a, QualName> {
        Ref::map(self.nodes.borrow(), |nodes| match &nodes[*target as usize].data {
            Data::Element(e) => &e.name,
            // The tree builder asks for the names of elements only.
            _ => unreachable!("the name of a node that is no element"),
        })
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<html5ever::Attribute>,
        flags: ElementFlags,
    ) -> u32 {
        let contents = if flags.template {
            self.add(Data::Root)
        } else {
            NONE
        };
        let attributes = attributes
            .into_iter()
            .map(|a| Attribute {
                name: a.name,
                value: Box::from(&*a.value),
            })
            .collect();
        self.add(Data::Element(Box::new(ElementData {
            name,
            attributes,
            id: 0,
            classes: Vec::new(),
            contents,
        })))
    }

    fn create_comment(&self, _: StrTendril) -> u32 {
        self.add(Data::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> u32 {
        self.add(Data::Other)
    }

    fn append(&self, parent: &u32, child: NodeOrText<u32>) {
        match child {
            NodeOrText::AppendNode(node) => self.insert(*parent, NONE, node),
            NodeOrText::AppendText(text) => self.insert_text(*parent, NONE, &text),
        }
    }

    fn append_based_on_parent_node(&self, element: &u32, previous: &u32, child: NodeOrText<u32>) {
        let has_parent = self.nodes.borrow()[*element as usize].parent != NONE;
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn pop(&self, node: &u32) {
        self.latest.set(self.nodes.borrow()[*node as usize].parent);
    }

    fn get_template_contents(&self, target: &u32) -> u32 {
        match &self.nodes.borrow()[*target as usize].data {
            Data::Element(e) if e.contents != NONE => e.contents,
            _ => *target,
        }
    }

    fn same_node(&self, x: &u32, y: &u32) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.quirks.set(mode == QuirksMode::Quirks);
    }

    fn append_before_sibling(&self, sibling: &u32, new: NodeOrText<u32>) {
        let parent = self.nodes.borrow()[*sibling as usize].parent;
        match new {
            NodeOrText::AppendNode(node) => self.insert(parent, *sibling, node),
            NodeOrText::AppendText(text) => self.insert_text(parent, *sibling, &text),
        }
    }

    fn add_attrs_if_missing(&self, target: &u32, attributes: Vec<html5ever::Attribute>) {
        if let Data::Element(element) = &mut self.nodes.borrow_mut()[*target as usize].data {
            for a in attributes {
                if !element.attributes.iter().any(|old| old.name == a.name) {
                    element.attributes.push(Attribute {
                        name: a.name,
                        value: Box::from(&*a.value),
                    });
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &u32) {
        self.unlink(*target);
    }

    fn reparent_children(&self, node: &u32, parent: &u32) {
        loop {
            let child = self.nodes.borrow()[*node as usize].first;
            if child == NONE {
                break;
            }
            self.insert(*parent, NONE, child);
        }
    }
}

impl Sink {
    fn add(&self, data: Data) -> u32 {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node::new(data));
        // More than 2^32 nodes would need more memory than a page is allowed to take.
        u32::try_from(nodes.len() - 1).unwrap_or(NONE)
    }

    fn unlink(&self, node: u32) {
        let nodes = &mut *self.nodes.borrow_mut();
        let Node {
            parent,
            previous,
            next,
            ..
        } = nodes[node as usize];
        if parent == NONE {
            return;
        }
        match nodes.get_mut(previous as usize) {
            Some(n) => n.next = next,
            None => nodes[parent as usize].first = next,
        }
        match nodes.get_mut(next as usize) {
            Some(n) => n.previous = previous,
            None => nodes[parent as usize].last = previous,
        }
        let node = &mut nodes[node as usize];
        (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
    }

    /// Puts `node` into `parent`, before `before` or at the end.
    fn insert(&self, parent: u32, before: u32, node: u32) {
        self.unlink(node);
        if parent == NONE {
            return;
        }
        let nodes = &mut *self.nodes.borrow_mut();
        let previous = match nodes.get(before as usize) {
            Some(n) => n.previous,
            None => nodes[parent as usize].last,
        };
        let new = &mut nodes[node as usize];
        (new.parent, new.previous, new.next) = (parent, previous, before);
        if matches!(new.data, Data::Element(_)) {
            self.latest.set(node);
        }
        match nodes.get_mut(previous as usize) {
            Some(n) => n.next = node,
            None => nodes[parent as usize].first = node,
        }
        match nodes.get_mut(before as usize) {
            Some(n) => n.previous = node,
            None => nodes[parent as usize].last = node,
        }
    }

    fn insert_text(&self, parent: u32, before: u32, text: &str) {
        if parent == NONE {
            return;
        }
        let previous = {
            let nodes = self.nodes.borrow();
            // A script's text is of no use to anybody here; a trace of it is enough for `:empty`.
            if let Data::Element(e) = &nodes[parent as usize].data
                && e.name.local == local_name!("script")
                && nodes[parent as usize].first != NONE
            {
                return;
            }
            match nodes.get(before as usize) {
                Some(n) => n.previous,
                None => nodes[parent as usize].last,
            }
        };
        if let Some(Node {
            data: Data::Text(old),
            ..
        }) = self.nodes.borrow_mut().get_mut(previous as usize)
        {
            old.push_str(text);
            return;
        }
        let node = self.add(Data::Text(text.to_owned()));
        self.insert(parent, before, node);
    }
}

/// Walks the finished tree once, without recursion, and fills the tables.
fn index(nodes: Vec<Node>, quirks: bool) -> Document {
    let mut document = Document {
        nodes,
        quirks,
        ids: HashMap::new(),
        classes: HashMap::new(),
        tags: HashMap::new(),
        elements: Vec::new(),
    };
    let mut at = document.nodes[0].first;
    while at != NONE {
        let node = &mut document.nodes[at as usize];
        let (first, mut next, mut parent) = (node.first, node.next, node.parent);
        if let Data::Element(element) = &mut node.data {
            document.elements.push(at);
            document
                .tags
                .entry(hash_name(&element.name.local))
                .or_default()
                .push(at);
            let mut id = 0;
            let mut classes = Vec::new();
            for a in &element.attributes {
                if a.name.ns != ns!() {
                    continue;
                }
                if a.name.local == local_name!("id") && !a.value.is_empty() {
                    id = hash_name(&a.value);
                } else if a.name.local == local_name!("class") {
                    for class in a.value.split(is_space).filter(|c| !c.is_empty()) {
                        let hash = hash_name(class);
                        if !classes.contains(&hash) || classes.len() > 64 {
                            classes.push(hash);
                        }
                    }
                }
            }
            if id != 0 {
                document.ids.entry(id).or_default().push(at);
            }
            for class in &classes {
                let list = document.classes.entry(*class).or_default();
                if list.last() != Some(&at) {
                    list.push(at);
                }
            }
            element.id = id;
            element.classes = classes;
        }
        if first != NONE {
            at = first;
            continue;
        }
        // Up until something follows.
        while next == NONE && parent != NONE {
            (next, parent) = (
                document.nodes[parent as usize].next,
                document.nodes[parent as usize].parent,
            );
        }
        at = next;
    }
    document
}

/// ASCII whitespace of the HTML standard.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r')
}
