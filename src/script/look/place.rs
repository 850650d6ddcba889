//! Where a text of a script ends up: in a call that looks things up, in a variable, in a comparison.

use oxc_ast::AstKind;
use oxc_ast::ast::{BindingPattern, CallExpression, Expression, VariableDeclarator};
use oxc_semantic::{NodeId, SymbolId};
use oxc_span::{GetSpan, Span};

use super::super::words;
use super::Look;

/// Parents that are followed from a text to the call it is part of.
pub(super) const PARENTS: usize = 64;

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// In a call that looks things up.
    Lookup,
    /// In a variable or property that a call may take its selector from.
    Kept,
    /// Compared with something.
    Compared,
    Other,
}

impl<'a> Look<'_, 'a> {
    /// Where the text of node `id` ends up.
    pub(super) fn place(&mut self, id: NodeId) -> Use {
        let nodes = self.semantic.nodes();
        let mut part = id;
        for _ in 0..PARENTS {
            let span = nodes.kind(part).span();
            let parent = nodes.parent_id(part);
            match nodes.kind(parent) {
                AstKind::BinaryExpression(b) if b.operator.is_equality() => return Use::Compared,
                AstKind::SwitchCase(_) => return Use::Compared,
                AstKind::BinaryExpression(b) if b.operator.is_compare() || b.operator.is_in() => {
                    return Use::Other;
                }
                AstKind::BinaryExpression(_)
                | AstKind::TemplateLiteral(_)
                | AstKind::ConditionalExpression(_)
                | AstKind::LogicalExpression(_)
                | AstKind::ArrayExpression(_)
                | AstKind::SequenceExpression(_)
                | AstKind::SpreadElement(_) => part = parent,
                AstKind::CallExpression(call) => {
                    let Some(index) = position(call, span) else {
                        // A method of the text or list: `["a", "b"].join(",")` is still a selector.
                        return Use::Other;
                    };
                    return self.argument(call, index);
                }
                AstKind::StaticMemberExpression(member)
                    if matches!(
                        member.property.name.as_str(),
                        "join" | "concat" | "replace" | "trim"
                    ) =>
                {
                    // The call of that method is the next text.
                    match nodes.kind(nodes.parent_id(parent)) {
                        AstKind::CallExpression(call) if call.callee.span() == member.span => {
                            part = nodes.parent_id(parent);
                        }
                        _ => return Use::Other,
                    }
                }
                AstKind::VariableDeclarator(declarator) => return self.variable(declarator),
                AstKind::AssignmentExpression(assignment) if assignment.right.span() == span => {
                    return Use::Kept;
                }
                AstKind::ObjectProperty(p) if p.value.span() == span => return Use::Kept,
                AstKind::AssignmentPattern(_)
                | AstKind::FormalParameter(_)
                | AstKind::PropertyDefinition(_) => {
                    return Use::Kept;
                }
                AstKind::ReturnStatement(_) | AstKind::ArrowFunctionExpression(_) => return Use::Kept,
                _ => return Use::Other,
            }
        }
        // Too far to tell.
        Use::Lookup
    }

    /// The text is only looked for in an element that a call is given behind it: not in the document, so not in its
    /// head. Bootstrap finds the anchors of a navigation by `[href]`; there a plain name is an element as well.
    pub(super) fn is_within(&mut self, id: NodeId) -> bool {
        let (nodes, scoping) = (self.semantic.nodes(), self.semantic.scoping());
        let AstKind::VariableDeclarator(declarator) = nodes.kind(nodes.parent_id(id)) else {
            return self.is_in_element(id);
        };
        let BindingPattern::BindingIdentifier(name) = &declarator.id else {
            return false;
        };
        let Some(symbol) = name.symbol_id.get() else {
            return false;
        };
        // Other scripts can read what is outermost.
        let is_own = scoping.symbol_scope_id(symbol) != scoping.root_scope_id();
        let semantic = self.semantic;
        let mut references = semantic.symbol_references(symbol);
        is_own
            && !scoping.symbol_is_mutated(symbol)
            && references.all(|reference| self.is_in_element(reference.node_id()))
    }

    fn is_in_element(&mut self, id: NodeId) -> bool {
        let nodes = self.semantic.nodes();
        let parent = nodes.parent_id(id);
        let id = match nodes.kind(parent) {
            AstKind::TemplateLiteral(_) => parent,
            _ => id,
        };
        let AstKind::CallExpression(call) = nodes.kind(nodes.parent_id(id)) else {
            return false;
        };
        let Some(index) = position(call, nodes.kind(id).span()) else {
            return false;
        };
        if index > 0 {
            // What is pressed there.
            return call.callee_name() == Some("on") || self.argument(call, index) != Use::Lookup;
        }
        let is_bootstrap = || self.semantic.source_text().contains("bs.scrollspy");
        match call
            .arguments
            .get(1)
            .and_then(|argument| argument.as_expression())
        {
            Some(Expression::Identifier(name)) => !words::is_document(&name.name) && is_bootstrap(),
            Some(place) => place.is_member_expression() && !self.is_document(place),
            None => false,
        }
    }

    fn argument(&mut self, call: &CallExpression<'a>, index: usize) -> Use {
        let Some(name) = call.callee_name() else {
            return Use::Other;
        };
        let looks_up = match &call.callee {
            Expression::Identifier(callee) => match self.symbol(callee).and_then(|s| self.finder(s)) {
                Some(finds) => finds && index == 0,
                // A parameter, or another name of something.
                None => words::is_lookup(name) || (index == 0 && !words::is_harmless(name)),
            },
            // In an element of its own it finds nothing of the page.
            other => {
                let object = other.as_member_expression().map(|m| m.object());
                words::is_lookup(name) && !object.is_some_and(|o| self.is_fresh(o))
            }
        };
        if looks_up { Use::Lookup } else { Use::Other }
    }

    /// For a function of the script: whether it finds elements. `None` for other values.
    fn finder(&mut self, symbol: SymbolId) -> Option<bool> {
        if let Some(known) = self.finders.get(&symbol) {
            return *known;
        }
        let finder = self.read_finder(symbol);
        self.finders.insert(symbol, finder);
        finder
    }

    fn read_finder(&self, symbol: SymbolId) -> Option<bool> {
        let nodes = self.semantic.nodes();
        let scoping = self.semantic.scoping();
        if scoping.symbol_is_mutated(symbol) || !scoping.symbol_redeclarations(symbol).is_empty() {
            return None;
        }
        let span = match nodes.kind(scoping.symbol_declaration(symbol)) {
            AstKind::Function(function) => function.span,
            AstKind::VariableDeclarator(declarator) => match &declarator.init {
                Some(Expression::FunctionExpression(function)) => function.span,
                Some(Expression::ArrowFunctionExpression(arrow)) => arrow.span,
                _ => return None,
            },
            _ => return None,
        };
        let next = self.finds.partition_point(|at| *at < span.start);
        Some(self.finds.get(next).is_some_and(|at| *at < span.end))
    }

    /// A text in a variable is a lookup if a call that looks things up takes the variable.
    fn variable(&mut self, declarator: &VariableDeclarator<'a>) -> Use {
        let BindingPattern::BindingIdentifier(name) = &declarator.id else {
            return Use::Kept;
        };
        let Some(symbol) = name.symbol_id.get() else {
            return Use::Kept;
        };
        let nodes = self.semantic.nodes();
        if let Some(taken) = self.taken.get(&symbol) {
            return if *taken { Use::Lookup } else { Use::Kept };
        }
        let semantic = self.semantic;
        let taken = semantic.symbol_references(symbol).any(|reference| {
            let id = reference.node_id();
            let span = nodes.kind(id).span();
            match nodes.kind(nodes.parent_id(id)) {
                AstKind::CallExpression(call) => {
                    position(call, span).is_some_and(|index| self.argument(call, index) == Use::Lookup)
                }
                _ => false,
            }
        });
        self.taken.insert(symbol, taken);
        if taken { Use::Lookup } else { Use::Kept }
    }
}

/// Which argument of `call` has this place; they are sorted by it.
fn position(call: &CallExpression, span: Span) -> Option<usize> {
    call.arguments
        .binary_search_by_key(&span.start, |a| a.span().start)
        .ok()
}
