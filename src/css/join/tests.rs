use cssparser::{
    AtRuleParser, CowRcStr, DeclarationParser, ParseError, Parser, ParserState, QualifiedRuleParser,
    RuleBodyItemParser, RuleBodyParser, StyleSheetParser,
};

use super::*;

fn parts<'a>(list: &[(&'a str, Option<&'a str>)]) -> Vec<Part<'a>> {
    list.iter().map(|&(text, media)| Part { text, media }).collect()
}

fn check(list: &[(&str, Option<&str>)], expected: &str) {
    assert_eq!(join(&parts(list)).as_deref(), Ok(expected), "{list:?}");
}

fn refuse(list: &[(&str, Option<&str>)]) {
    assert!(join(&parts(list)).is_err(), "{list:?}");
}

#[test]
fn sheets_stand_side_by_side() {
    check(&[], "");
    check(&[("a{b:c}", None)], "a{b:c}");
    check(&[("a{b:c}", None), ("d{e:f}", Some(""))], "a{b:c}d{e:f}");
    check(
        &[("a{}\n/* x */", Some("all")), (" b{}", Some("ALL "))],
        "a{}\n/* x */ b{}",
    );
    check(&[("", None), ("a{}", None), ("/**/", None)], "a{}/**/");
    check(
        &[("<!-- a{} -->", None), ("<!--b{}-->", None)],
        "<!-- a{} --><!--b{}-->",
    );
    check(&[("@import 'x';a{}", None), ("b{}", None)], "@import 'x';a{}b{}");
    check(
        &[("@layer a;@import 'x';", None), ("@layer b{}", None)],
        "@layer a;@import 'x';@layer b{}",
    );
    check(
        &[("@charset \"utf-8\";a{}", None), ("@charset \"x\";b{}", None)],
        "a{}b{}",
    );
    check(&[("@namespace 'x';a{}", None)], "@namespace 'x';a{}");
    // Junk that the next block ends stays junk.
    check(&[(";a{} }b{} c)d{}", None), ("e{}", None)], ";a{} }b{} c)d{}e{}");
    check(&[("@scope (a){b{}}", None), ("c{}", None)], "@scope (a){b{}}c{}");
}

#[test]
fn media_become_rules() {
    check(
        &[
            ("a{}", Some("print")),
            ("b{}", Some(" screen and (min-width:1px) ")),
        ],
        "@media print{a{}}@media screen and (min-width:1px){b{}}",
    );
    check(
        &[("@charset \"x\";a:hover{}", Some("print"))],
        "@media print{a:hover{}}",
    );
    check(
        &[
            (
                "@layer a;@font-face{src:url(a)}@keyframes k{from{b:c}}",
                Some("print"),
            ),
            ("/*;}*/", None),
        ],
        "@media print{@layer a;@font-face{src:url(a)}@keyframes k{from{b:c}}}/*;}*/",
    );
    check(&[("", Some("print"))], "@media print{}");
    refuse(&[("a{}", Some("print{}"))]);
    refuse(&[("a{}", Some("print;"))]);
    refuse(&[("a{}", Some("nonsense and"))]);
    refuse(&[("a{}", Some("/*"))]);
    for text in [
        "@import 'x';",
        "@import 'x' print;a{}",
        "@namespace 'x';",
        "@charset 'x';",
        "a{}@charset \"x\";",
        "<!-- a{} -->",
        "a{}-->",
        "a -->{}",
        "}a{}",
        "a{}}b{}",
        ";a{}",
        "a:b;c{}",
        "a){}",
        "a(}){}",
        "--x:hover{}",
        "@media;",
        "@unknown{}",
        "@unknown;",
    ] {
        refuse(&[(text, Some("print"))]);
    }
}

#[test]
fn what_reaches_over_the_end_is_refused() {
    for text in [
        "a{",
        "a{b:c",
        "a",
        "a,",
        "@media print",
        "@import 'x'",
        "/*",
        "a{b:'c}",
        "a{b:url(c}",
        "a{}\\",
        "a{}b",
        "@font-face",
        "a{b:c}}",
        ";",
        "}",
        "@media print{a{}",
        "a{(}",
        "@layer x",
        "'",
        "a{}\"",
    ] {
        refuse(&[(text, None), ("b{}", None)]);
        refuse(&[("b{}", None), (text, None)]);
        refuse(&[(text, None)]);
    }
    refuse(&[("a{}", None), ("@import 'x';", None)]);
    refuse(&[("a{}", None), ("@layer a;@IMPORT url(x);", None)]);
    refuse(&[("", None), ("@\\69mport 'x';", None)]);
    refuse(&[("a{}", None), ("@namespace 'x';b{}", None)]);
    refuse(&[("@namespace 'x';a{}", None), ("b{}", None)]);
    refuse(&[("a{}", None), ("\u{feff}b{}", None)]);
    refuse(&[("a{}", None), ("b\0{}", None)]);
    refuse(&[("a{}", None), ("@media print{@scope{b{}}}", None)]);
    refuse(&[("a{}", None), ("@scope to (x){b{}}", None)]);
    refuse(&[("a{}", None), (&"a{".repeat(80), None)]);
    let deep = format!("{}{}", "a{".repeat(64), "}".repeat(64));
    assert!(join(&parts(&[(&deep, None)])).is_ok());
    refuse(&[(&deep, Some("print"))]);
}

/// The rules of a sheet as cssparser's own rule parser finds them: a second reading.
#[derive(Default)]
struct Reading(Vec<String>);

type Read<T> = Result<T, ParseError<()>>;

fn slice<'i>(input: &mut Parser<'i>) -> &'i str {
    let start = input.position();
    while input.next_including_whitespace_and_comments().is_ok() {}
    input.slice_from(start)
}

impl<'i> AtRuleParser<'i> for Reading {
    type Prelude = String;
    type AtRule = ();
    type Error = ();

    fn parse_prelude(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>) -> Read<String> {
        let name = name.to_ascii_lowercase();
        if name == "charset" {
            // It is no rule anywhere; the parser knows only at the very start.
            return Err(ParseError::unexpected_token());
        }
        Ok(format!("@{name} {}", slice(input)))
    }

    fn rule_without_block(&mut self, prelude: String, _: &ParserState) -> Result<(), ()> {
        self.0.push(prelude);
        Ok(())
    }

    fn parse_block(&mut self, prelude: String, _: &ParserState, input: &mut Parser<'i>) -> Read<()> {
        self.0.push(format!("{prelude}{{{}}}", slice(input)));
        Ok(())
    }
}

impl<'i> QualifiedRuleParser<'i> for Reading {
    type Prelude = String;
    type QualifiedRule = ();
    type Error = ();

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> Read<String> {
        Ok(slice(input).to_owned())
    }

    fn parse_block(&mut self, prelude: String, _: &ParserState, input: &mut Parser<'i>) -> Read<()> {
        self.0.push(format!("{prelude}{{{}}}", slice(input)));
        Ok(())
    }
}

impl DeclarationParser<'_> for Reading {
    type Declaration = ();
    type Error = ();
}

impl RuleBodyItemParser<'_, (), ()> for Reading {
    fn parse_declarations(&self) -> bool {
        false
    }

    fn parse_qualified(&self) -> bool {
        true
    }
}

fn rules(text: &str) -> Vec<String> {
    let mut reading = Reading::default();
    for _ in StyleSheetParser::new(&mut Parser::new(text), &mut reading) {}
    reading.0
}

/// Of a sheet that is one block.
fn rules_inside(text: &str) -> Vec<String> {
    let open = text.find('{').expect("it begins with the rule around");
    let mut input = Parser::new(&text[open..]);
    input.expect_curly_bracket_block().expect("the block");
    let mut reading = Reading::default();
    let whole = input.parse_nested_block(|i| {
        for _ in RuleBodyParser::new(i, &mut reading) {}
        Ok::<_, ParseError<()>>(())
    });
    assert!(whole.is_ok() && input.is_exhausted(), "{text}");
    reading.0
}

const SHEET: &str = "(a|b|[.]c|\\{|\\}|\\{a:b\\}|\\{\\}|;|:|'|\"|\\(|\\)|\\[|/\\*|\\*/|@media|@layer|@x| |,|<!--|-->|\\\\|--d:|url\\(e|\n|@charset \"x\";){0,10}(\\{\\})?";

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]

    #[test]
    fn a_joined_sheet_holds_the_rules_of_its_parts(a in SHEET, b in SHEET) {
        if let Ok(out) = join(&parts(&[(&a, None), (&b, None)])) {
            proptest::prop_assert_eq!([rules(&a), rules(&b)].concat(), rules(&out));
            proptest::prop_assert!(crate::css::scan(&out, false).closed);
        }
    }

    #[test]
    fn a_sheet_in_a_block_keeps_its_rules(a in SHEET) {
        if let Ok(out) = join(&parts(&[(&a, Some("print"))])) {
            proptest::prop_assert_eq!(rules(&a), rules_inside(&out));
            proptest::prop_assert_eq!(rules(&out).len(), 1);
        }
    }

    #[test]
    fn the_scan_agrees_about_the_end(a in SHEET) {
        let sheet = outline(&a).expect("it is not deep");
        proptest::prop_assert_eq!(sheet.closed, crate::css::scan(&a, false).closed);
    }
}
