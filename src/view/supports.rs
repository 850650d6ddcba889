//! `@supports` conditions (CSS Conditional 3 and 4), as a current Chromium answers them.
//!
//! lightningcss's property parser is the list of what exists. A property it does not know counts as supported
//! unless it carries another browser's prefix.

use cssparser::{ParseError, Parser, Token};
use lightningcss::properties::{Property, PropertyId};
use lightningcss::stylesheet::ParserOptions;
use selectors::parser::ParseRelative;

use super::selector::{Namespaces, SelectorList};
use super::value::rest;

type Result<T> = std::result::Result<T, ParseError<()>>;

pub(super) fn condition(text: &str, namespaces: &Namespaces) -> bool {
    let mut input = Parser::new(text);
    either(&mut input, namespaces).unwrap_or(false) && input.is_exhausted()
}

/// `supports()` of an `@import` also takes a bare declaration.
pub(super) fn import_condition(text: &str, namespaces: &Namespaces) -> bool {
    let mut input = Parser::new(text);
    match input.try_parse(declaration) {
        Ok(holds) => holds,
        Err(_) => condition(text, namespaces),
    }
}

fn either(input: &mut Parser<'_>, namespaces: &Namespaces) -> Result<bool> {
    if input.try_parse(|i| i.expect_ident_matching("not")).is_ok() {
        return Ok(!term(input, namespaces)?);
    }
    let mut holds = term(input, namespaces)?;
    let mut joint: Option<String> = None;
    while let Ok(word) = input.try_parse(|i| i.expect_ident_cloned()) {
        let word = word.to_ascii_lowercase();
        if joint.as_ref().is_some_and(|j| *j != word) {
            return Err(ParseError::unexpected_token());
        }
        let next = term(input, namespaces)?;
        match word.as_str() {
            "and" => holds &= next,
            "or" => holds |= next,
            _ => return Err(ParseError::unexpected_token()),
        }
        joint = Some(word);
    }
    Ok(holds)
}

fn term(input: &mut Parser<'_>, namespaces: &Namespaces) -> Result<bool> {
    match input.next()?.clone() {
        Token::ParenthesisBlock => input.parse_nested_block(|i| {
            if let Ok(holds) = i.try_parse(declaration) {
                return Ok(holds);
            }
            let holds = i.try_parse(|i| {
                let holds = either(i, namespaces)?;
                i.expect_exhausted()?;
                Ok::<_, ParseError<()>>(holds)
            });
            match holds {
                Ok(holds) => Ok(holds),
                Err(_) => {
                    rest(i)?;
                    Ok(false)
                }
            }
        }),
        Token::Function(name) => {
            let name = name.to_ascii_lowercase();
            input.parse_nested_block(|i| {
                let holds = match name.as_str() {
                    "selector" => i
                        .try_parse(|i| {
                            let list = SelectorList::parse(namespaces, i, ParseRelative::No);
                            list.map(|_| ()).map_err(|_| ParseError::<()>::unexpected_token())
                        })
                        .is_ok(),
                    "font-format" => i.expect_ident().is_ok_and(|f| super::face::is_format(f)),
                    "font-tech" => i.expect_ident().is_ok_and(|t| super::face::is_tech(t)),
                    _ => false,
                };
                rest(i)?;
                Ok(holds)
            })
        }
        _ => Err(ParseError::unexpected_token()),
    }
}

fn declaration(input: &mut Parser<'_>) -> Result<bool> {
    let name = input.expect_ident_cloned()?;
    input.expect_colon()?;
    let start = input.position();
    rest(input)?;
    let value = input.slice_from(start).trim();
    Ok(knows(&name, value))
}

fn knows(name: &str, value: &str) -> bool {
    if name.starts_with("--") {
        return true;
    }
    let lower = name.to_ascii_lowercase();
    if value.is_empty()
        || ["-moz-", "-ms-", "-o-", "-khtml-", "-apple-"]
            .iter()
            .any(|p| lower.starts_with(p))
    {
        return false;
    }
    let foreign = ["-moz-", "-ms-", "-o-", "-apple-"]
        .iter()
        .any(|p| value.starts_with(p));
    if foreign {
        return false;
    }
    // Its parser takes exponential time over nested unclosed functions.
    if value.len() > 300 || value.matches('(').count() > 8 || value.contains("var(") {
        return true;
    }
    if matches!(
        lower.as_str(),
        "-webkit-overflow-scrolling" | "-webkit-touch-callout" | "-webkit-marquee"
    ) {
        return false;
    }
    let value = value.strip_suffix("!important").unwrap_or(value);
    match Property::parse_string(PropertyId::from(lower.as_str()), value, ParserOptions::default()) {
        Ok(Property::Unparsed(_)) | Err(_) => false,
        Ok(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions() {
        let check = |text: &str, expected: bool| {
            assert_eq!(condition(text, &Namespaces::default()), expected, "{text}")
        };
        check("(display: grid)", true);
        check("(display: nope)", false);
        check("not (display: grid)", false);
        check("(display: grid) and (not (display: inline-grid))", false);
        check("(display: nope) or (color: red)", true);
        check("(-moz-appearance: none)", false);
        check("(-ms-ime-align: auto)", false);
        check("(--css: variables)", true);
        check("((position: -webkit-sticky) or (position: sticky))", true);
        check("selector(:focus-visible)", true);
        check("selector(:nope)", false);
        check("selector(:has(a))", true);
        check("(a)", false);
        check("", false);
        check("(color: red", true);
        assert!(!import_condition("display: nope", &Namespaces::default()));
        assert!(import_condition("display: grid", &Namespaces::default()));
    }
}
