//! The syntax tree of a script, node by node: what it looks up, and what keeps it from standing beside others.
//!
//! The nodes come as one flat list with parents, so nothing here recurses. A lookup is a call by a name that looks
//! things up, or of a name of the script's own (a minifier renames `$`), with a selector in it; `words` knows names
//! and selectors.

mod place;

use super::fresh::{first, is_nothing, makes_element};
use super::words;
use oxc_ast::AstKind;
use oxc_ast::ast::{
    Argument, AssignmentExpression, BindingPattern, CallExpression, Expression, FunctionType,
    IdentifierReference, MemberExpression, ObjectPropertyKind, PropertyKey,
};
use oxc_semantic::{NodeId, ScopeFlags, ScopeId, Semantic, SymbolFlags, SymbolId};
use oxc_span::GetSpan;
use place::{PARENTS, Use};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Bytes between two things that belong together.
const NEAR: u32 = 2000;

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// It asks which script element it is.
    pub(super) identity: Option<&'static str>,
    /// It must be a program of its own.
    pub(super) alone: Option<&'static str>,
    pub(super) sheets: bool,
    /// Names of files that end in `.css`.
    pub(super) sheet_names: BTreeSet<String>,
    pub(super) images: bool,
    pub(super) scripts: bool,
    pub(super) globals: Vec<String>,
    pub(super) lexical: Vec<String>,
    /// Hashes of names from outside.
    pub(super) outer: HashSet<u64>,
}

pub(super) fn look(semantic: &Semantic) -> Seen {
    let mut look = Look {
        semantic,
        seen: Seen::default(),
        fresh: HashMap::new(),
        made: made(semantic),
        finders: HashMap::new(),
        taken: HashMap::new(),
        in_function: functions(semantic),
        finds: finds(semantic),
        stacks: Vec::new(),
        files: Vec::new(),
    };
    for node in semantic.nodes().iter() {
        look.node(node.id(), node.kind(), node.scope_id());
    }
    if near(&look.stacks, &look.files) {
        look.identity("it may read its own address from the stack of an error");
    }
    look.names();
    if look.seen.scripts {
        look.identity("it looks up script elements");
    }
    look.seen
}

struct Look<'s, 'a> {
    semantic: &'s Semantic<'a>,
    seen: Seen,
    /// Symbols that hold nothing but elements the script made itself.
    fresh: HashMap<SymbolId, bool>,
    /// Properties that the script sets: whether to nothing but elements that it made itself.
    made: HashMap<&'a str, bool>,
    /// Functions of the script: whether they find elements.
    finders: HashMap<SymbolId, Option<bool>>,
    /// Variables that a call takes as its selector.
    taken: HashMap<SymbolId, bool>,
    /// By scope: it lies inside a function.
    in_function: Vec<bool>,
    /// Where calls stand that find elements of the page, sorted.
    finds: Vec<u32>,
    /// Where it reads the stack of an error.
    stacks: Vec<u32>,
    /// Where it has a text with the ending of a script's file.
    files: Vec<u32>,
}

/// Properties that are set, in whatever object: whether only to elements that the script makes. Doxygen's menu keeps
/// its images so, as `plus_img`; a common name could be that of an object from another script.
fn made<'a>(semantic: &Semantic<'a>) -> HashMap<&'a str, bool> {
    let mut made = HashMap::new();
    for node in semantic.nodes().iter() {
        let (name, is_made) = match node.kind() {
            AstKind::AssignmentExpression(assignment) => match assignment.left.as_member_expression() {
                Some(MemberExpression::StaticMemberExpression(member)) => {
                    (member.property.name.as_str(), makes_element(&assignment.right))
                }
                _ => continue,
            },
            AstKind::ObjectProperty(property) => match &property.key {
                PropertyKey::StaticIdentifier(name) => (name.name.as_str(), makes_element(&property.value)),
                _ => continue,
            },
            _ => continue,
        };
        *made.entry(name).or_insert(true) &= is_made;
    }
    made
}

/// Places of the calls that find elements, whatever they look for.
fn finds(semantic: &Semantic) -> Vec<u32> {
    let calls = semantic.nodes().iter().filter_map(|node| match node.kind() {
        AstKind::CallExpression(call) if call.callee_name().is_some_and(words::is_lookup) => {
            Some(call.span.start)
        }
        _ => None,
    });
    let mut places: Vec<u32> = calls.collect();
    places.sort_unstable();
    places
}

/// Some place of `one` is near one of `other`.
fn near(one: &[u32], other: &[u32]) -> bool {
    let mut all: Vec<(u32, bool)> = one
        .iter()
        .map(|a| (*a, true))
        .chain(other.iter().map(|b| (*b, false)))
        .collect();
    all.sort_unstable();
    all.windows(2)
        .any(|pair| pair[0].1 != pair[1].1 && pair[1].0 - pair[0].0 < NEAR)
}

/// By scope: a function holds it, and its `var`s. Scopes are numbered from the outside in.
fn functions(semantic: &Semantic) -> Vec<bool> {
    let scoping = semantic.scoping();
    let mut inside = vec![false; scoping.scopes_len()];
    for id in scoping.scope_descendants_from_root() {
        let own = scoping
            .scope_flags(id)
            .intersects(ScopeFlags::Function | ScopeFlags::ClassStaticBlock);
        let outer = scoping.scope_parent_id(id).is_some_and(|p| inside[p.index()]);
        inside[id.index()] = own || outer;
    }
    inside
}

fn is_window(object: &Expression<'_>) -> bool {
    matches!(object, Expression::Identifier(name) if matches!(name.name.as_str(), "window" | "self" | "globalThis"))
}

/// The name of the variable or property that holds an object.
fn owner<'e>(object: &'e Expression<'_>) -> Option<&'e str> {
    match object {
        Expression::Identifier(name) => Some(name.name.as_str()),
        other => other
            .as_member_expression()
            .and_then(|m| m.static_property_name()),
    }
}

impl<'a> Look<'_, 'a> {
    fn identity(&mut self, why: &'static str) {
        self.seen.identity.get_or_insert(why);
    }

    fn alone(&mut self, why: &'static str) {
        self.seen.alone.get_or_insert(why);
    }

    fn node(&mut self, id: NodeId, kind: AstKind<'a>, scope: ScopeId) {
        match kind {
            AstKind::Program(program) if !program.directives.is_empty() => {
                self.alone("it begins with a directive such as \"use strict\"");
            }
            AstKind::Function(function) => {
                if function.r#type == FunctionType::FunctionDeclaration && !self.in_function[scope.index()] {
                    // In a block, too: the window's property of that name is reset when its script begins
                    // (ECMAScript, B.3.2.2), which would be earlier in a combined file.
                    self.alone("it declares a function outside of functions");
                    if let Some(name) = &function.id {
                        self.seen.globals.push(name.name.to_string());
                    }
                }
                if function.r#async {
                    self.alone(MICROTASK);
                }
            }
            AstKind::ArrowFunctionExpression(arrow) if arrow.r#async => self.alone(MICROTASK),
            AstKind::VariableDeclaration(declaration) if declaration.kind.is_using() => {
                self.alone(NEWER);
                self.identity(NEWER);
            }
            AstKind::AccessorProperty(_) | AstKind::Decorator(_) => {
                self.alone(NEWER);
                self.identity(NEWER);
            }
            AstKind::ImportExpression(_) | AstKind::ImportMeta(_) => self.identity("it imports modules"),
            AstKind::IdentifierReference(name) => {
                self.seen.scripts |= name.name == "onerror";
                self.name(name.name.as_str());
            }
            AstKind::StaticMemberExpression(member) => {
                let name = member.property.name.as_str();
                if name == "write" && super::frame::is_in_frame(self.semantic, id) {
                    return;
                }
                // Bootstrap asks whether there are shadow trees, and makes none.
                if name == "attachShadow" && self.is_only_tested(id) {
                    return;
                }
                self.member(&member.object, name, member.property.span.start);
            }
            AstKind::ComputedMemberExpression(member) => {
                if let Expression::StringLiteral(name) = &member.expression {
                    self.member(&member.object, name.value.as_str(), name.span.start);
                }
            }
            AstKind::BindingProperty(property) => {
                self.seen.images |= property
                    .key
                    .static_name()
                    .is_some_and(|name| words::is_source(&name));
                self.picked(&property.key);
            }
            AstKind::AssignmentTargetPropertyIdentifier(property) => {
                self.picked_name(property.binding.name.as_str(), property.span.start);
            }
            AstKind::AssignmentTargetPropertyProperty(property) => self.picked(&property.name),
            AstKind::StringLiteral(text) => self.text(id, text.value.as_str()),
            AstKind::TemplateElement(text) => {
                self.text(id, text.value.cooked.as_ref().unwrap_or(&text.value.raw).as_str());
            }
            AstKind::RegExpLiteral(expression) => {
                self.expression(expression.regex.pattern.text.as_str(), expression.span.start)
            }
            AstKind::CallExpression(call) => self.call(call),
            AstKind::AssignmentExpression(assignment) => self.assignment(assignment),
            _ => {}
        }
    }

    /// A variable that the script reads or sets.
    fn name(&mut self, name: &str) {
        match name {
            "importScripts" => self.identity("it imports scripts"),
            "currentScript" => self.identity(CURRENT),
            "Promise" | "queueMicrotask" | "MutationObserver" | "WebKitMutationObserver" => {
                self.alone(MICROTASK)
            }
            "reportError" => self.alone("it uses the name reportError"),
            "createImageBitmap" => self.seen.images = true,
            _ => {}
        }
    }

    fn member(&mut self, object: &Expression<'a>, name: &str, at: u32) {
        self.picked_name(name, at);
        match name {
            "write" if self.is_document(object) => self.alone("it writes to the document"),
            "images" if self.is_document(object) => self.seen.images = true,
            // It is told which file of which script failed, and in which line.
            "onerror" if is_window(object) => self.seen.scripts = true,
            // All children of the head, sheets among them; `head.firstChild` is where things are put.
            "children" | "childNodes" | "lastElementChild" | "lastChild" | "firstElementChild"
                if object.as_member_expression().is_some_and(|m| {
                    m.static_property_name() == Some("head") && self.is_document(m.object())
                }) =>
            {
                self.seen.sheets = true;
            }
            // In a handler, `this` is the element.
            "src" | "srcset" if matches!(object, Expression::ThisExpression(_)) => self.seen.images = true,
            "src" | "srcset" => {
                self.seen.images |=
                    owner(object).is_some_and(words::names_an_image) && !self.is_fresh(object);
            }
            _ => {}
        }
    }

    fn picked(&mut self, key: &PropertyKey<'a>) {
        if let Some(name) = key.static_name() {
            self.picked_name(&name, key.span().start);
        }
    }

    /// A property of whatever object.
    fn picked_name(&mut self, name: &str, at: u32) {
        self.name(name);
        self.outer(name);
        match name {
            "scripts" => self.seen.scripts = true,
            "styleSheets" => self.seen.sheets = true,
            "currentSrc" | "drawImage" | "createPattern" | "createImageBitmap" | "texImage2D" => {
                self.seen.images = true;
            }
            // In another tree the page's rules do not reach an image.
            "attachShadow" | "adoptNode" | "importNode" => self.seen.images = true,
            "writeln" => self.alone("it writes to the document"),
            "stack" => self.stacks.push(at),
            _ => {}
        }
    }

    fn call(&mut self, call: &CallExpression<'a>) {
        let Some(name) = call.callee_name() else { return };
        let object = call.callee.as_member_expression().map(|m| m.object());
        if name == "addEventListener" && object.is_none_or(is_window) {
            let event = call.arguments.first();
            let failure =
                |event: &Argument| matches!(event, Argument::StringLiteral(text) if text.value == "error");
            self.seen.scripts |= event.is_some_and(failure);
        }
        if !words::is_attribute_call(name) {
            return;
        }
        if object.is_some_and(|o| self.is_fresh(o)) {
            return;
        }
        let names_source = |argument: &Argument| match argument {
            Argument::StringLiteral(text) => words::is_source(&text.value),
            Argument::ObjectExpression(object) => object.properties.iter().any(|p| match p {
                ObjectPropertyKind::ObjectProperty(p) => {
                    p.key.static_name().is_some_and(|n| words::is_source(&n))
                }
                ObjectPropertyKind::SpreadProperty(_) => false,
            }),
            _ => false,
        };
        // With a namespace the name is the second argument.
        if call.arguments.iter().take(2).any(names_source) {
            self.seen.images = true;
        }
    }

    fn assignment(&mut self, assignment: &AssignmentExpression<'a>) {
        let Some(member) = assignment.left.as_member_expression() else {
            return;
        };
        let name = member.static_property_name();
        if name.is_some_and(words::is_source) && !self.is_fresh(member.object()) {
            self.seen.images = true;
        }
        // The class of a shared image is what shows it.
        if name == Some("className")
            && matches!(assignment.right, Expression::StringLiteral(_))
            && owner(member.object()).is_some_and(words::names_only_an_image)
            && !self.is_fresh(member.object())
        {
            self.seen.images = true;
        }
    }

    fn expression(&mut self, pattern: &str, at: u32) {
        if words::has_ending(pattern, ".js") {
            self.files.push(at);
        }
        self.seen.sheets |= words::has_ending(pattern, ".css");
        self.seen.images |= pattern.contains("src") && (pattern.contains("img") || pattern.contains("src="));
    }

    fn outer(&mut self, name: &str) {
        self.seen.outer.insert(crate::graph::hash(name.as_bytes()));
    }

    fn text(&mut self, id: NodeId, text: &str) {
        if text.len() < 64 && !text.contains(|c: char| c.is_ascii_whitespace()) {
            self.outer(text);
        }
        if words::has_ending(text, ".js") {
            self.files.push(self.semantic.nodes().kind(id).span().start);
        }
        if words::has_ending(text, ".css") {
            self.seen.sheet_names.extend(words::file_names(text, ".css"));
        }
        if text == "currentScript" {
            self.identity(CURRENT);
        }
        // Markup makes elements, it finds none.
        if text.contains('<') {
            return;
        }
        let script = words::has_word(text, "script") && !super::anchor::is_anchor(self.semantic, id)
            || words::selects_scripts_by_source(text);
        // Who finds an `img` but leaves its source alone sees no difference.
        let image = words::selects_by_source(text);
        let sheet = words::selects_by_link(text) && !(text.trim() == "[href]" && self.is_within(id))
            || words::has_word(text, "style")
            || (words::has_word(text, "link") && !words::is_other_link(text));
        let rel = words::has_word(text, "stylesheet") || text.contains("stylesheet") && text.contains("rel");
        if !(script || image || sheet || rel) {
            return;
        }
        let (script, image, sheet) = match self.place(id) {
            Use::Lookup => (script, image, sheet || rel),
            Use::Kept if words::is_selector(text) => (script, image, sheet || rel),
            Use::Compared => (false, false, rel),
            _ => (false, false, rel && text.contains("rel")),
        };
        self.seen.scripts |= script;
        self.seen.images |= image;
        self.seen.sheets |= sheet;
    }

    /// Nothing is done with the value but to see whether there is one.
    fn is_only_tested(&self, id: NodeId) -> bool {
        let nodes = self.semantic.nodes();
        let mut part = id;
        for _ in 0..PARENTS {
            let span = nodes.kind(part).span();
            let parent = nodes.parent_id(part);
            match nodes.kind(parent) {
                AstKind::UnaryExpression(unary) => {
                    return unary.operator.is_not() || unary.operator.is_typeof();
                }
                AstKind::IfStatement(statement) => return statement.test.span() == span,
                AstKind::ConditionalExpression(choice) => return choice.test.span() == span,
                AstKind::LogicalExpression(_) | AstKind::ParenthesizedExpression(_) => part = parent,
                _ => return false,
            }
        }
        false
    }

    /// The page's document or one that cannot be told from it.
    fn is_document(&self, object: &Expression<'a>) -> bool {
        if let Some(member) = object.as_member_expression() {
            return member.static_property_name().is_some_and(words::is_document);
        }
        match object {
            Expression::Identifier(name) => {
                words::is_document(&name.name)
                    || self
                        .symbol(name)
                        .is_some_and(|s| self.may_be_document(s, &name.name))
            }
            Expression::LogicalExpression(_)
            | Expression::ConditionalExpression(_)
            | Expression::CallExpression(_) => true,
            _ => false,
        }
    }

    /// A short name: a minifier's for a parameter or variable.
    fn may_be_document(&self, symbol: SymbolId, name: &str) -> bool {
        let flags = self.semantic.scoping().symbol_flags(symbol);
        name.len() <= 2 && flags.intersects(SymbolFlags::Variable)
    }

    fn symbol(&self, name: &IdentifierReference<'a>) -> Option<SymbolId> {
        let scoping = self.semantic.scoping();
        name.reference_id
            .get()
            .and_then(|r| scoping.get_reference(r).symbol_id())
    }

    /// An element that the script made itself, or the first of a chain of calls on one.
    fn is_fresh(&mut self, object: &Expression<'a>) -> bool {
        match object {
            Expression::Identifier(name) => self.symbol(name).is_some_and(|symbol| {
                if let Some(known) = self.fresh.get(&symbol) {
                    return *known;
                }
                let fresh = self.holds_fresh(symbol);
                self.fresh.insert(symbol, fresh);
                fresh
            }),
            Expression::CallExpression(_) => makes_element(first(object)),
            Expression::StaticMemberExpression(member) => {
                let name = member.property.name.as_str();
                !words::is_common(name) && self.made.get(name) == Some(&true)
            }
            other => makes_element(other),
        }
    }

    /// Everything that `symbol` is ever set to is fresh.
    fn holds_fresh(&self, symbol: SymbolId) -> bool {
        let nodes = self.semantic.nodes();
        let scoping = self.semantic.scoping();
        let mut made = false;
        for id in scoping.symbol_declarations(symbol) {
            let AstKind::VariableDeclarator(declarator) = nodes.kind(id) else {
                return false;
            };
            let list = nodes.parent_id(nodes.parent_id(id));
            if matches!(
                nodes.kind(list),
                AstKind::ForInStatement(_) | AstKind::ForOfStatement(_)
            ) || !matches!(declarator.id, BindingPattern::BindingIdentifier(_))
            {
                return false;
            }
            match &declarator.init {
                Some(init) if makes_element(init) => made = true,
                Some(init) if is_nothing(init) => {}
                Some(_) => return false,
                None => {}
            }
        }
        for reference in scoping.get_resolved_references(symbol).filter(|r| r.is_write()) {
            let name = nodes.kind(reference.node_id()).span();
            match nodes.parent_kind(reference.node_id()) {
                AstKind::AssignmentExpression(a) if a.left.span() == name && makes_element(&a.right) => {
                    made = true
                }
                AstKind::AssignmentExpression(a) if a.left.span() == name && is_nothing(&a.right) => {}
                _ => return false,
            }
        }
        made
    }

    fn names(&mut self) {
        let scoping = self.semantic.scoping();
        for name in scoping.root_unresolved_references().keys() {
            self.outer(name.as_str());
        }
        for symbol in scoping.get_bindings(scoping.root_scope_id()).values() {
            let flags = scoping.symbol_flags(*symbol);
            let name = scoping.symbol_name(*symbol).to_string();
            if flags.intersects(SymbolFlags::BlockScopedVariable | SymbolFlags::Class) {
                self.seen.lexical.push(name);
            } else {
                self.seen.globals.push(name);
            }
        }
        for list in [&mut self.seen.globals, &mut self.seen.lexical] {
            list.sort();
            list.dedup();
        }
        if !self.seen.lexical.is_empty() {
            self.alone("it declares let, const or class outside of functions");
        }
        if self.seen.globals.iter().any(|name| name == "reportError") {
            self.alone("it uses the name reportError");
        }
    }
}

const CURRENT: &str = "it asks for document.currentScript";
const NEWER: &str = "it uses syntax that not every browser knows";
const MICROTASK: &str = "it uses promises, whose callbacks run between scripts";
