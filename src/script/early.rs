//! Early errors that the parser and its checker miss; tests pin them.
//!
//! `break` and `continue` that lead nowhere (ECMAScript, 14.8.1 and 14.9.1), in arrow functions whose parameters are
//! patterns or have a rest: `for(;;){(...a)=>{break}}`. `??` beside `||` or `&&` (13.13), where its own right side has
//! parentheses: `a??(b)||c`.

use oxc_ast::AstKind;
use oxc_ast::ast::{Expression, LogicalExpression, Statement};
use oxc_semantic::{NodeId, Semantic};
use oxc_span::GetSpan;

/// Neither of them is there.
pub(super) fn none(semantic: &Semantic) -> bool {
    semantic.nodes().iter().all(|node| match node.kind() {
        AstKind::BreakStatement(jump) => leads(
            semantic,
            node.id(),
            jump.label.as_ref().map(|l| l.name.as_str()),
            false,
        ),
        AstKind::ContinueStatement(jump) => leads(
            semantic,
            node.id(),
            jump.label.as_ref().map(|l| l.name.as_str()),
            true,
        ),
        AstKind::LogicalExpression(logical) => !mixes(logical),
        _ => true,
    })
}

/// A side without parentheses begins or ends where the whole does.
fn mixes(whole: &LogicalExpression) -> bool {
    let other = |side: &Expression| match side {
        Expression::LogicalExpression(part) => part.operator.is_coalesce() != whole.operator.is_coalesce(),
        _ => false,
    };
    (other(&whole.left) && whole.left.span().start == whole.span.start)
        || (other(&whole.right) && whole.right.span().end == whole.span.end)
}

/// The jump has a statement around it, in the same function, that it can jump to.
fn leads(semantic: &Semantic, jump: NodeId, label: Option<&str>, to_loop: bool) -> bool {
    for kind in semantic.nodes().ancestor_kinds(jump) {
        match kind {
            AstKind::Function(_) | AstKind::ArrowFunctionExpression(_) | AstKind::StaticBlock(_) => {
                return false;
            }
            AstKind::SwitchStatement(_) if label.is_none() && !to_loop => return true,
            AstKind::LabeledStatement(statement) if label == Some(statement.label.name.as_str()) => {
                let mut body = &statement.body;
                while let Statement::LabeledStatement(inner) = body {
                    body = &inner.body;
                }
                return !to_loop || body.is_iteration_statement();
            }
            AstKind::DoWhileStatement(_)
            | AstKind::WhileStatement(_)
            | AstKind::ForStatement(_)
            | AstKind::ForInStatement(_)
            | AstKind::ForOfStatement(_)
                if label.is_none() =>
            {
                return true;
            }
            _ => {}
        }
    }
    false
}
