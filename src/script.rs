//! What may be done with a classic script: stand inside the page, stand in one file with others, and whether it
//! looks at what else changes on a page (sheets, images, scripts).
//!
//! Text in, [`Facts`] out; nothing here rewrites a script. A parser of the whole language decides what the text
//! means, with its checker for the errors that the grammar leaves to later ("early errors"): in a combined file one
//! of them silences every part. What is not understood is kept apart: `Err` with a reason for people.
//!
//! A page can hide what it does behind computed names; nobody can see that. Everything written out is seen.

mod anchor;
mod early;
mod element;
mod frame;
mod fresh;
mod look;
mod nesting;
mod words;

use std::collections::{BTreeSet, HashSet};

use oxc_allocator::Allocator;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;

/// What a script asks for, as far as its text tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// It may be the text of a `script` element in place of its file.
    pub inline: Result<(), &'static str>,
    /// It may be one of several scripts in one file, each in a block of its own (see [`combine`]).
    pub combine: Result<(), &'static str>,
    /// It may look up sheets or the elements that load them, other than by a name of `sheet_names`.
    pub reads_sheets: bool,
    /// Files ending in `.css` that its texts name, without their folders; an empty name stands for any.
    pub sheet_names: BTreeSet<String>,
    /// It may read or set where images of the page come from, or paint them elsewhere.
    pub reads_images: bool,
    /// It may look up script elements, or is told in which file and line a script failed.
    pub reads_scripts: bool,
    /// It holds ASCII only: no encoding changes it.
    pub ascii: bool,
    /// Names of its `var`s and functions that become properties of the window, sorted.
    pub globals: Vec<String>,
    /// Names of its outermost `let`, `const` and `class`, sorted: no other script of the page may declare them.
    pub lexical: Vec<String>,
    /// Hashes of the names that it may take from outside: variables that it does not declare, properties of whatever
    /// object, and texts that could be such names.
    pub outer: HashSet<u64>,
    /// It could not be read: its names are not known.
    pub unread: bool,
}

impl Facts {
    /// Nothing is known but that it must be kept apart.
    fn unknown(source: &str, why: &'static str) -> Facts {
        Facts {
            inline: Err(why),
            combine: Err(why),
            reads_sheets: true,
            sheet_names: BTreeSet::from([String::new()]),
            reads_images: true,
            reads_scripts: true,
            ascii: source.is_ascii(),
            globals: Vec::new(),
            lexical: Vec::new(),
            outer: HashSet::new(),
            unread: true,
        }
    }
}

/// Reads a classic script: sloppy unless it says otherwise, never a module.
pub fn read(source: &str) -> Facts {
    read_as(source, SourceType::script())
}

/// Reads a module, for what it looks at; it can neither stand inside a page nor beside others.
pub fn read_module(source: &str) -> Facts {
    read_as(source, SourceType::mjs())
}

fn read_as(source: &str, kind: SourceType) -> Facts {
    if source.starts_with("#!") {
        return Facts::unknown(source, "it begins with a hashbang");
    }
    if let Err(why) = nesting::check(source) {
        return Facts::unknown(source, why);
    }
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, kind)
        .with_options(ParseOptions {
            parse_regular_expression: true,
            preserve_parens: false,
            ..ParseOptions::default()
        })
        .parse();
    if parsed.panicked || !parsed.diagnostics.is_empty() {
        return Facts::unknown(source, SYNTAX);
    }
    let checked = SemanticBuilder::new()
        .with_check_syntax_error(true)
        .with_build_nodes(true)
        .build(&parsed.program);
    if !checked.diagnostics.is_empty() || !early::none(&checked.semantic) {
        return Facts::unknown(source, SYNTAX);
    }
    let seen = look::look(&checked.semantic);
    let apart = seen.identity.map_or(Ok(()), Err);
    Facts {
        inline: apart.and_then(|()| element::fits(source)),
        combine: apart.and(seen.alone.map_or(Ok(()), Err)),
        reads_sheets: seen.sheets,
        sheet_names: seen.sheet_names,
        reads_images: seen.images,
        reads_scripts: seen.scripts,
        ascii: source.is_ascii(),
        globals: seen.globals,
        lexical: seen.lexical,
        outer: seen.outer,
        unread: false,
    }
}

const SYNTAX: &str = "it is not a valid classic script";

/// One program that does what `parts` did as scripts of their own, one after the other.
///
/// An error ends the part it happens in and is reported as an uncaught one, at once; where the browser has no
/// `reportError` (Chromium before 95, Firefox before 93), a moment later. The name of the error is seen by the handler only.
/// A part may end with a line comment, so its block ends on a line of its own.
pub fn combine(parts: &[&str]) -> String {
    const BEFORE: &str = "try{\n";
    const AFTER: &str = "\n}catch(e){self.reportError?reportError(e):setTimeout(function(){throw e})}\n";
    let mut out = String::with_capacity(parts.iter().map(|p| p.len() + BEFORE.len() + AFTER.len()).sum());
    for part in parts {
        out.push_str(BEFORE);
        out.push_str(part);
        out.push_str(AFTER);
    }
    out
}

#[cfg(test)]
mod tests;
