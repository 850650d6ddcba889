//! Blocks that hold no style rules: the frames of `@keyframes` and the descriptors of `@property`.

use cssparser::{
    AtRuleParser, CowRcStr, DeclarationParser, Parser, ParserState, QualifiedRuleParser, RuleBodyItemParser,
    RuleBodyParser,
};

use super::compile::{Compiler, Result};
use super::value;

/// The frames of `@keyframes`: all their declarations count.
pub(super) struct Frames<'c, 'a> {
    pub(super) compiler: &'c mut Compiler<'a>,
}

impl AtRuleParser<'_> for Frames<'_, '_> {
    type Prelude = ();
    type AtRule = ();
    type Error = ();
}

impl<'i> QualifiedRuleParser<'i> for Frames<'_, '_> {
    type Prelude = ();
    type QualifiedRule = ();
    type Error = ();

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> Result<()> {
        value::rest(input)
    }

    fn parse_block(&mut self, (): (), _: &ParserState, input: &mut Parser<'i>) -> Result<()> {
        let mut frame = Registration {
            compiler: self.compiler,
        };
        for _ in RuleBodyParser::new(input, &mut frame) {}
        Ok(())
    }
}

impl DeclarationParser<'_> for Frames<'_, '_> {
    type Declaration = ();
    type Error = ();
}

impl RuleBodyItemParser<'_, (), ()> for Frames<'_, '_> {
    fn parse_declarations(&self) -> bool {
        false
    }

    fn parse_qualified(&self) -> bool {
        true
    }
}

/// A list of declarations without rules in it; of `@property`, the initial value counts as a custom property.
pub(super) struct Registration<'c, 'a> {
    pub(super) compiler: &'c mut Compiler<'a>,
}

impl AtRuleParser<'_> for Registration<'_, '_> {
    type Prelude = ();
    type AtRule = ();
    type Error = ();
}

impl QualifiedRuleParser<'_> for Registration<'_, '_> {
    type Prelude = ();
    type QualifiedRule = ();
    type Error = ();
}

impl<'i> DeclarationParser<'i> for Registration<'_, '_> {
    type Declaration = ();
    type Error = ();

    fn parse_value(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>, _: &ParserState) -> Result<()> {
        let name = if name.eq_ignore_ascii_case("initial-value") {
            "--initial"
        } else {
            &name
        };
        self.compiler.declare(name, input)
    }
}

impl RuleBodyItemParser<'_, (), ()> for Registration<'_, '_> {
    fn parse_declarations(&self) -> bool {
        true
    }

    fn parse_qualified(&self) -> bool {
        false
    }
}
