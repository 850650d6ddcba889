//! Documents of frames that a script made: `a = (b.contentWindow || b.contentDocument).document; a.write(...)`, where
//! the assignment stands right before the call. jQuery before 2.2 asks an empty frame for the defaults of elements so.

use oxc_ast::AstKind;
use oxc_ast::ast::{AssignmentTarget, Expression, Statement};
use oxc_semantic::{NodeId, Semantic};
use oxc_span::GetSpan;

/// The member expression of node `id` is the callee of a call on a variable that was just set to a frame's document.
pub(super) fn is_in_frame(semantic: &Semantic, id: NodeId) -> bool {
    let nodes = semantic.nodes();
    let AstKind::StaticMemberExpression(member) = nodes.kind(id) else {
        return false;
    };
    let Expression::Identifier(owner) = &member.object else {
        return false;
    };
    let call = nodes.parent_id(id);
    let AstKind::CallExpression(written) = nodes.kind(call) else {
        return false;
    };
    if written.callee.span() != member.span {
        return false;
    }
    let holder = nodes.parent_id(call);
    let before = match nodes.kind(holder) {
        AstKind::SequenceExpression(list) => {
            let at = list.expressions.iter().position(|e| e.span() == written.span);
            at.and_then(|at| list.expressions.get(at.checked_sub(1)?))
        }
        AstKind::ExpressionStatement(statement) => {
            let body = match nodes.parent_kind(holder) {
                AstKind::BlockStatement(block) => &block.body,
                AstKind::FunctionBody(body) => &body.statements,
                _ => return false,
            };
            let at = body.binary_search_by_key(&statement.span.start, |s| s.span().start);
            match at.ok().and_then(|at| body.get(at.checked_sub(1)?)) {
                Some(Statement::ExpressionStatement(before)) => Some(&before.expression),
                _ => None,
            }
        }
        _ => None,
    };
    let Some(Expression::AssignmentExpression(assignment)) = before else {
        return false;
    };
    matches!(&assignment.left, AssignmentTarget::AssignmentTargetIdentifier(name) if name.name == owner.name)
        && assignment.operator.is_assign()
        && is_document(&assignment.right)
}

/// `(a.contentWindow || a.contentDocument).document`, or one of them alone.
fn is_document(value: &Expression) -> bool {
    let frame = |value: &Expression| {
        let name = value
            .as_member_expression()
            .and_then(|m| m.static_property_name());
        matches!(name, Some("contentWindow" | "contentDocument"))
    };
    let Some(member) = value.as_member_expression() else {
        return false;
    };
    let of = match member.object() {
        Expression::LogicalExpression(either) => frame(&either.left) && frame(&either.right),
        other => frame(other),
    };
    of && member.static_property_name() == Some("document")
}
