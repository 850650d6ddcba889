//! The first script element of a page as the place for a new one, as services tell people to write it:
//! `s = document.getElementsByTagName("script")[0]; s.parentNode.insertBefore(made, s)`.
//!
//! Whatever becomes of the scripts of a page, the first one has an element at its old place. Who asks for nothing
//! but the place sees no difference.

use oxc_ast::AstKind;
use oxc_ast::ast::{AssignmentTarget, BindingPattern, Expression};
use oxc_semantic::{NodeId, Semantic, SymbolId};
use oxc_span::GetSpan;

/// The text of node `id` selects the first script, which serves as a place only.
pub(super) fn is_anchor(semantic: &Semantic, id: NodeId) -> bool {
    let nodes = semantic.nodes();
    let call = nodes.parent_id(id);
    let AstKind::CallExpression(lookup) = nodes.kind(call) else {
        return false;
    };
    let element = nodes.parent_id(call);
    let AstKind::ComputedMemberExpression(first) = nodes.kind(element) else {
        return false;
    };
    let is_first = matches!(&first.expression, Expression::NumericLiteral(index) if index.value == 0.0)
        && first.object.span() == lookup.span
        && lookup.arguments.len() == 1
        && lookup.arguments[0].span() == nodes.kind(id).span()
        && lookup.callee_name() == Some("getElementsByTagName");
    is_first && (is_place(semantic, element) || is_kept(semantic, element))
}

/// The value goes into a variable that is set nowhere else and used as a place.
fn is_kept(semantic: &Semantic, element: NodeId) -> bool {
    let nodes = semantic.nodes();
    let scoping = semantic.scoping();
    let span = nodes.kind(element).span();
    let (symbol, sets): (Option<SymbolId>, usize) = match nodes.parent_kind(element) {
        AstKind::VariableDeclarator(declarator) => match &declarator.id {
            BindingPattern::BindingIdentifier(name) => (name.symbol_id.get(), 0),
            _ => (None, 0),
        },
        AstKind::AssignmentExpression(assignment)
            if assignment.right.span() == span && assignment.operator.is_assign() =>
        {
            // Where the assignment is a value itself, that goes elsewhere.
            let whole = nodes.parent_id(element);
            let is_statement = matches!(
                nodes.parent_kind(whole),
                AstKind::ExpressionStatement(_) | AstKind::SequenceExpression(_)
            );
            match &assignment.left {
                AssignmentTarget::AssignmentTargetIdentifier(name) if is_statement => (
                    name.reference_id
                        .get()
                        .and_then(|r| scoping.get_reference(r).symbol_id()),
                    1,
                ),
                _ => (None, 0),
            }
        }
        _ => (None, 0),
    };
    let Some(symbol) = symbol else { return false };
    // A property of the window can be read from anywhere.
    let is_local = scoping.symbol_scope_id(symbol) != scoping.root_scope_id();
    let (writes, reads): (Vec<_>, Vec<_>) = scoping
        .get_resolved_references(symbol)
        .partition(|r| r.is_write());
    is_local
        && writes.len() == sets
        && scoping.symbol_redeclarations(symbol).is_empty()
        && writes.iter().all(|r| !r.is_read())
        && reads.iter().all(|r| is_place(semantic, r.node_id()))
}

/// `PLACE.parentNode.insertBefore` or `insertBefore(made, PLACE)`.
fn is_place(semantic: &Semantic, place: NodeId) -> bool {
    let nodes = semantic.nodes();
    let span = nodes.kind(place).span();
    let parent = nodes.parent_id(place);
    match nodes.kind(parent) {
        AstKind::StaticMemberExpression(member) if member.property.name == "parentNode" => {
            let is_insert = |id: NodeId| matches!(nodes.kind(id), AstKind::StaticMemberExpression(insert) if insert.property.name == "insertBefore");
            let insert = nodes.parent_id(parent);
            is_insert(insert)
                && matches!(nodes.parent_kind(insert), AstKind::CallExpression(call) if call.callee.span() == nodes.kind(insert).span())
        }
        // An element behind a call's dot would be its callee.
        AstKind::CallExpression(call) => {
            call.callee_name() == Some("insertBefore")
                && call.callee.as_member_expression().is_some()
                && call.arguments.len() == 2
                && call.arguments[1].span() == span
        }
        _ => false,
    }
}
