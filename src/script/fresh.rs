//! Expressions that make an element: what a script does to it, it does not do to the page's own.

use super::words;
use oxc_ast::ast::{Argument, CallExpression, Expression};

/// What the calls of a chain are called on: `a` in `a.attr(b).css(c)`.
pub(super) fn first<'e, 'a>(mut object: &'e Expression<'a>) -> &'e Expression<'a> {
    while let Expression::CallExpression(call) = object
        && let Some(member) = call.callee.as_member_expression()
        && member.static_property_name().is_some_and(words::is_chained)
    {
        object = member.object();
    }
    object
}

/// A variable is emptied by it.
pub(super) fn is_nothing(mut value: &Expression) -> bool {
    while let Expression::AssignmentExpression(assignment) = value {
        value = &assignment.right;
    }
    value.is_null_or_undefined()
}

/// `new Image`, `createElement(...)` or `$("<...>")`, maybe set in passing or changed in a chain.
pub(super) fn makes_element(mut value: &Expression) -> bool {
    while let Expression::AssignmentExpression(assignment) = value {
        value = &assignment.right;
    }
    // These return the element that they put into the page.
    if let Expression::CallExpression(call) = value
        && matches!(call.callee_name(), Some("appendChild" | "insertBefore"))
        && let Some(Argument::CallExpression(made)) = call.arguments.first()
    {
        return makes_named(made);
    }
    match value {
        Expression::NewExpression(new) => {
            matches!(&new.callee, Expression::Identifier(name) if name.name == "Image" || name.name == "Audio")
                || matches!(
                    new.callee
                        .as_member_expression()
                        .and_then(|m| m.static_property_name()),
                    Some("Image")
                )
        }
        Expression::CallExpression(call) => makes_named(call),
        _ => false,
    }
}

fn makes_named(call: &CallExpression) -> bool {
    match (call.callee_name(), &call.callee) {
        (Some("createElement" | "createElementNS"), _) => {
            matches!(call.arguments.last(), Some(Argument::StringLiteral(_)))
        }
        (_, Expression::Identifier(_)) => match call.arguments.first() {
            Some(Argument::StringLiteral(text)) => text.value.trim_start().starts_with('<'),
            _ => false,
        },
        _ => false,
    }
}
