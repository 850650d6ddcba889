//! Whether several `url()` of one stylesheet may be replaced by `var()` of one custom property.
//!
//! `:root{--name:url(…)}` reaches every element by inheritance (CSS Custom Properties 1, section 2), and a declaration
//! with `var()` computes to what it would without, with one difference: a browser can no longer drop it when it is
//! parsed. So only declarations are accepted that every browser parses: a property that lightningcss knows by type,
//! and a value of URLs, keywords, numbers and plain colours. Rules for pseudo-elements that need not inherit from the
//! page's elements (`::selection`, scroll bars, cues) are refused, and so are `@font-face`, `@page`, `@keyframes`.

use std::ops::Range;

use lightningcss::properties::{Property, PropertyId};
use lightningcss::stylesheet::ParserOptions;

use super::token::{self, Kind, Tok};

/// An open block: what stands before its `{`.
struct Block {
    prelude: Range<usize>,
}

/// Whether each of `spans`, which are `url()` tokens of `text`, stands in such a declaration, and a rule may follow
/// at the end of `text`.
pub fn allows_custom_property(text: &str, spans: &[Range<usize>]) -> bool {
    if text.len() > u32::MAX as usize || !super::scan(text, false).closed {
        return false;
    }
    let toks = token::list(text);
    let mut blocks: Vec<Block> = Vec::new();
    let mut nested = 0_usize;
    let mut start = 0;
    // Found in the statement that is being read.
    let mut found = 0;
    let mut accepted = 0;
    for tok in &toks {
        if spans.iter().any(|span| span.start == tok.start as usize) {
            found += 1;
        }
        match tok.kind {
            Kind::OpenCurly if nested == 0 => {
                if found > 0 {
                    return false;
                }
                blocks.push(Block {
                    prelude: start..tok.start as usize,
                });
                start = tok.end as usize;
            }
            Kind::Semicolon | Kind::CloseCurly if nested == 0 => {
                if found > 0 {
                    if !is_plain(&text[start..tok.start as usize])
                        || !blocks.iter().all(|b| inherits(&text[b.prelude.clone()]))
                    {
                        return false;
                    }
                    accepted += found;
                    found = 0;
                }
                if tok.kind == Kind::CloseCurly {
                    blocks.pop();
                }
                start = tok.end as usize;
            }
            kind if kind.opens() => nested += 1,
            Kind::CloseParen | Kind::CloseSquare | Kind::CloseCurly => nested = nested.saturating_sub(1),
            _ => {}
        }
    }
    accepted == spans.len()
}

/// A declaration that every browser parses.
fn is_plain(declaration: &str) -> bool {
    let Some((name, value)) = declaration.split_once(':') else {
        return false;
    };
    let value = value.trim();
    let value = match value.rfind('!') {
        Some(at) if value[at + 1..].trim().eq_ignore_ascii_case("important") => &value[..at],
        _ => value,
    };
    let plain = |tok: &Tok| match tok.kind {
        Kind::Function => tok.is(value, "url"),
        Kind::Url
        | Kind::Ident
        | Kind::Number
        | Kind::Percentage
        | Kind::Dimension
        | Kind::Hash
        | Kind::Str => true,
        Kind::Space | Kind::Comment | Kind::Comma | Kind::CloseParen => true,
        Kind::Delim(c) => c == '/',
        _ => false,
    };
    let name = name.rsplit("*/").next().unwrap_or(name).trim();
    if !name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-') || !token::list(value).iter().all(plain) {
        return false;
    }
    let name = name.to_ascii_lowercase();
    if name == "content" {
        // lightningcss does not type it; images and strings in a row are as old as the property (CSS 2, 12.2).
        let is_simple = |tok: &Tok| {
            !matches!(
                tok.kind,
                Kind::Ident | Kind::Number | Kind::Comma | Kind::Delim(_)
            )
        };
        return token::list(value).iter().all(is_simple);
    }
    let id = PropertyId::from(name.as_str());
    let known = Property::parse_string(id, value, ParserOptions::default());
    known.is_ok_and(|p| !matches!(p, Property::Unparsed(_) | Property::Custom(_)))
}

/// A rule for elements, or a group of such rules.
fn inherits(prelude: &str) -> bool {
    let prelude = prelude
        .rsplit("*/")
        .next()
        .unwrap_or(prelude)
        .trim()
        .to_ascii_lowercase();
    if let Some(name) = prelude.strip_prefix('@') {
        return ["media", "supports", "layer"].iter().any(|group| {
            name.strip_prefix(group)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-'))
        });
    }
    let elements = prelude.replace("::before", "").replace("::after", "");
    !elements.contains("::") && !elements.contains(":first-l") && !elements.contains(":host")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_declarations_that_every_browser_parses_take_a_custom_property() {
        let check = |css: &str, expected: bool| {
            let spans: Vec<_> = super::super::scan(css, false)
                .urls
                .into_iter()
                .filter(|u| u.value == "i.png")
                .map(|u| u.span)
                .collect();
            assert_eq!(allows_custom_property(css, &spans), expected, "{css}");
        };
        check(
            "a{background:url(i.png)}b{background:url(i.png) no-repeat 0 50%}",
            true,
        );
        check(
            "a{color:red;background:url(\"i.png\") , #fff url( i.png )!important}",
            true,
        );
        check(
            "@media print{a:hover::before{content:url(i.png)}}li{list-style:square url(i.png)}",
            true,
        );
        check(
            "a::selection{background:url(i.png)}b{background:url(i.png)}",
            false,
        );
        check(
            "a{background:url(i.png) 0 0 nonsense}b{background:url(i.png)}",
            false,
        );
        check(
            "a{background:url(i.png),linear-gradient(red,blue)}b{background:url(i.png)}",
            false,
        );
        check(
            "@keyframes k{from{background:url(i.png)}to{background:url(i.png)}}",
            false,
        );
        check("@font-face{src:url(i.png)}b{background:url(i.png)}", false);
        check("a{-x-y:url(i.png)}b{background:url(i.png)}", false);
        check("a{*background:url(i.png)}b{background:url(i.png)}", false);
        check("a{background:url(i.png)}b{background:url(i.png)", false);
        check("a{--x:url(i.png)}b{background:url(i.png)}", false);
    }
}
