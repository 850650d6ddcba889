//! From the text of a stylesheet to a `Sheet`: the rule structure (CSS Syntax 3, CSS Nesting 1, CSS Cascade 5).

use cssparser::{
    AtRuleParser, BasicParseErrorKind, CowRcStr, DeclarationParser, ParseError, Parser, ParserState,
    QualifiedRuleParser, RuleBodyItemParser, RuleBodyParser, StyleSheetParser, Token,
};
use selectors::parser::{Component, ParseRelative};

use super::media::MediaList;
use super::selector::{NamespaceUrl, Namespaces, Selector, SelectorList};
use super::sheet::{Block, Condition, Declaration, Import, Keyframes, Rule, Scope, Sheet, Test};
use super::value::{self, FETCHING, Text, Value};

/// Longer selectors are not written by people, and matching them takes a stack frame a compound.
const MAX_COMPONENTS: usize = 1_000;
/// How often nested rules may repeat their parents' selectors before they are given up.
const MAX_PARENTS: u32 = 256;

/// Compiles a sheet for matching.
pub fn compile(css: &str) -> Sheet {
    let offsets = super::locate::locate(css);
    let mut compiler = Compiler::new(&offsets);
    let mut input = Parser::new(css);
    for _ in StyleSheetParser::new(&mut input, &mut compiler) {}
    compiler.sheet.finish();
    compiler.sheet
}

/// The declarations of a `style` attribute.
pub(super) fn attribute(text: &str) -> Vec<Declaration> {
    let offsets = super::locate::locate(text);
    let mut compiler = Compiler::new(&offsets);
    compiler.parents = None;
    compiler.nested = false;
    let mut input = Parser::new(text);
    for _ in RuleBodyParser::new(&mut input, &mut compiler) {}
    compiler.pending
}

struct Compiler<'a> {
    sheet: Sheet,
    offsets: &'a [usize],
    namespaces: Namespaces,
    /// The rule around, for `&` and for declarations of their own.
    parents: Option<SelectorList>,
    /// How often a selector nested here repeats other selectors.
    weight: u32,
    pending: Vec<Declaration>,
    condition: u32,
    layer: u32,
    scope: u32,
    anonymous: u32,
    /// `@import` and `@namespace` are still allowed.
    imports: bool,
    names: bool,
    /// Rules may stand between declarations.
    nested: bool,
}

enum Prelude {
    Import(Box<Import>),
    Namespace(Option<String>, String),
    Media(MediaList),
    Supports(bool),
    Container(super::media::Condition),
    Scope(Option<SelectorList>, Option<SelectorList>),
    /// Names of layers; a block takes the only one or none.
    Layer(Vec<Vec<Box<str>>>),
    FontFace,
    Keyframes(Box<str>),
    Property(Box<str>),
    StartingStyle,
}

type Result<T> = std::result::Result<T, ParseError<()>>;

fn invalid<T>() -> Result<T> {
    Err(ParseError::from_basic_kind(BasicParseErrorKind::AtRuleInvalid))
}

impl<'a> Compiler<'a> {
    fn new(offsets: &'a [usize]) -> Self {
        let sheet = Sheet {
            conditions: vec![Condition {
                parent: 0,
                test: Test::Always,
            }],
            ..Sheet::default()
        };
        Compiler {
            sheet,
            offsets,
            namespaces: Namespaces::default(),
            parents: None,
            weight: 1,
            pending: Vec::new(),
            condition: 0,
            layer: 0,
            scope: 0,
            anonymous: 0,
            imports: true,
            names: true,
            nested: true,
        }
    }

    fn nth(&self, at: usize) -> u32 {
        // Every URL token of the text is in the list; one nested too deep to be listed has no number.
        self.offsets.binary_search(&at).map_or(u32::MAX, |i| i as u32)
    }

    /// Writes down the declarations collected so far as a block of the rule around.
    fn flush(&mut self) {
        let declarations = std::mem::take(&mut self.pending);
        let Some(parents) = &self.parents else { return };
        if declarations.is_empty() {
            return;
        }
        let block = self.sheet.blocks.len() as u32;
        for selector in parents.slice() {
            let pseudos = selector.pseudo_elements();
            if selector.len() > MAX_COMPONENTS || pseudos.len() > 1 {
                continue;
            }
            let pseudo = pseudos.first().map(|p| **p);
            if pseudo == Some(super::selector::PseudoElement::Other) {
                continue;
            }
            self.sheet.rules.push(Rule {
                selector: selector.clone(),
                pseudo,
                block,
            });
        }
        self.sheet.blocks.push(Block {
            declarations,
            condition: self.condition,
            layer: self.layer,
            scope: self.scope,
        });
    }

    /// The rules of a block, with the state that `change` makes.
    fn inside(&mut self, input: &mut Parser<'_>, change: impl FnOnce(&mut Self)) {
        self.flush();
        let before = (self.condition, self.layer, self.scope, self.weight);
        let parents = self.parents.clone();
        change(self);
        for _ in RuleBodyParser::new(input, self) {}
        self.flush();
        (self.condition, self.layer, self.scope, self.weight) = before;
        self.parents = parents;
    }

    fn add_condition(&mut self, test: Test) {
        self.sheet.conditions.push(Condition {
            parent: self.condition,
            test,
        });
        self.condition = self.sheet.conditions.len() as u32 - 1;
    }

    fn layer_path(&self) -> Vec<Box<str>> {
        match self.layer {
            0 => Vec::new(),
            n => self.sheet.layers[n as usize - 1].clone(),
        }
    }

    /// The index of a layer below the one around, plus one.
    fn layer(&mut self, name: &[Box<str>]) -> u32 {
        let mut path = self.layer_path();
        path.extend_from_slice(name);
        match self.sheet.layers.iter().position(|l| *l == path) {
            Some(i) => i as u32 + 1,
            None => {
                self.sheet.layers.push(path);
                self.sheet.layers.len() as u32
            }
        }
    }

    fn anonymous(&mut self) -> Vec<Box<str>> {
        self.anonymous += 1;
        vec![format!("\u{0}{}", self.anonymous).into()]
    }

    fn import(&mut self, input: &mut Parser<'_>) -> Result<Import> {
        input.skip_whitespace();
        let at = input.position().byte_index();
        let raw: Box<str> = match input.next()?.clone() {
            Token::QuotedString(raw) | Token::UnquotedUrl(raw) => Box::from(&*raw),
            Token::Function(name) if name.eq_ignore_ascii_case("url") => input.parse_nested_block(|i| {
                let raw = Box::from(&**i.expect_string()?);
                value::rest(i)?;
                Ok::<_, ParseError<()>>(raw)
            })?,
            _ => return invalid(),
        };
        let layer = if input.try_parse(|i| i.expect_ident_matching("layer")).is_ok() {
            Some(self.anonymous())
        } else {
            input
                .try_parse(|i| {
                    i.expect_function_matching("layer")?;
                    i.parse_nested_block(layer_name)
                })
                .ok()
        };
        let mut supported = true;
        if input
            .try_parse(|i| i.expect_function_matching("supports"))
            .is_ok()
        {
            supported = input.parse_nested_block(|i| {
                let start = i.position();
                value::rest(i)?;
                let text = i.slice_from(start);
                Ok::<_, ParseError<()>>(super::supports::import_condition(text, &self.namespaces))
            })?;
        }
        let media = MediaList::parse_from(input);
        value::rest(input)?;
        Ok(Import {
            raw,
            nth: self.nth(at),
            media,
            supported,
            layer,
        })
    }

    fn selectors(&self, input: &mut Parser<'_>) -> Result<(SelectorList, u32)> {
        let relative = match (&self.parents, self.scope) {
            (Some(_), _) => ParseRelative::ForNesting,
            (None, 0) => ParseRelative::No,
            (None, _) => ParseRelative::ForScope,
        };
        let list = SelectorList::parse(&self.namespaces, input, relative)
            .map_err(|_| ParseError::from_basic_kind(BasicParseErrorKind::QualifiedRuleInvalid))?;
        let Some(parents) = &self.parents else {
            return Ok((list, 1));
        };
        let ampersands = list.slice().iter().map(count_parents).max().unwrap_or(0);
        let weight = self.weight.saturating_mul(ampersands.max(1));
        if weight > MAX_PARENTS {
            return invalid();
        }
        Ok((list.replace_parent_selector(parents), weight))
    }

    fn declare(&mut self, name: &str, input: &mut Parser<'_>) -> Result<()> {
        let lower;
        let name = if name.starts_with("--") {
            name
        } else {
            lower = name.to_ascii_lowercase();
            &lower
        };
        self.sheet.containers |= matches!(name, "container" | "container-type" | "container-name");
        let start = input.state();
        let offsets = self.offsets;
        let nth = |at: usize| offsets.binary_search(&at).map_or(u32::MAX, |i| i as u32);
        match value::declaration(name, input, &nth) {
            Ok((values, important)) => {
                let more = values.into_iter().map(|(property, value)| Declaration {
                    property,
                    value,
                    important,
                });
                self.pending.extend(more);
                Ok(())
            }
            Err(_) => {
                // Dropped; but a block in the value says that this is a nested rule.
                input.reset(&start);
                while let Ok(token) = input.next() {
                    if matches!(token, Token::CurlyBracketBlock) {
                        return invalid();
                    }
                }
                Ok(())
            }
        }
    }
}

fn count_parents(selector: &Selector) -> u32 {
    let count = |list: &SelectorList| list.slice().iter().map(count_parents).sum::<u32>();
    selector
        .iter_raw_match_order()
        .map(|c| match c {
            Component::ParentSelector => 1,
            Component::Is(list) | Component::Where(list) | Component::Negation(list) => count(list),
            Component::Has(list) => list.iter().map(|r| count_parents(&r.selector)).sum(),
            _ => 0,
        })
        .sum()
}

fn layer_name(input: &mut Parser<'_>) -> Result<Vec<Box<str>>> {
    let mut path = vec![Box::from(&**input.expect_ident()?)];
    while input.try_parse(|i| i.expect_delim('.')).is_ok() {
        path.push(Box::from(&**input.expect_ident()?));
    }
    Ok(path)
}

impl<'i> AtRuleParser<'i> for Compiler<'_> {
    type Prelude = Prelude;
    type AtRule = ();
    type Error = ();

    fn parse_prelude(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>) -> Result<Prelude> {
        let name = name.to_ascii_lowercase();
        Ok(match name.as_str() {
            "import" if self.imports => Prelude::Import(Box::new(self.import(input)?)),
            "namespace" if self.names => {
                let prefix = input
                    .try_parse(|i| i.expect_ident_cloned())
                    .ok()
                    .map(|p| p.to_string());
                let url = input.expect_url_or_string()?.to_string();
                Prelude::Namespace(prefix, url)
            }
            "media" => Prelude::Media(MediaList::parse_from(input)),
            "supports" => {
                let start = input.position();
                value::rest(input)?;
                let text = input.slice_from(start);
                Prelude::Supports(super::supports::condition(text, &self.namespaces))
            }
            "container" => {
                let parsed = |i: &mut Parser<'i>| {
                    let condition = super::media::condition(i, true)?;
                    i.expect_exhausted()?;
                    Ok::<_, ParseError<()>>(condition)
                };
                let condition = input.try_parse(parsed).or_else(|_| {
                    input.expect_ident()?;
                    if input.is_exhausted() {
                        Ok(super::media::Condition::All(Vec::new()))
                    } else {
                        parsed(input)
                    }
                })?;
                Prelude::Container(condition)
            }
            "scope" => {
                let list = |compiler: &Self, i: &mut Parser<'i>| {
                    i.expect_parenthesis_block()?;
                    i.parse_nested_block(|i| {
                        SelectorList::parse(&compiler.namespaces, i, ParseRelative::No)
                            .map_err(|_| ParseError::<()>::unexpected_token())
                    })
                };
                let start = input.try_parse(|i| list(self, i)).ok();
                let end = match input.try_parse(|i| i.expect_ident_matching("to")) {
                    Ok(()) => Some(list(self, input)?),
                    Err(_) => None,
                };
                Prelude::Scope(start, end)
            }
            "layer" => {
                if input.is_exhausted() {
                    Prelude::Layer(Vec::new())
                } else {
                    Prelude::Layer(input.parse_comma_separated(layer_name)?)
                }
            }
            "font-face" => Prelude::FontFace,
            "keyframes" | "-webkit-keyframes" => {
                Prelude::Keyframes(Box::from(&**input.expect_ident_or_string()?))
            }
            "property" => {
                Prelude::Property(Box::from(input.expect_ident()?.strip_prefix("--").unwrap_or("")))
            }
            "starting-style" => Prelude::StartingStyle,
            _ => return invalid(),
        })
    }

    fn rule_without_block(&mut self, prelude: Prelude, _: &ParserState) -> std::result::Result<(), ()> {
        match prelude {
            Prelude::Import(import) => {
                if let Some(layer) = &import.layer {
                    self.layer(&layer.clone());
                }
                self.sheet.imports.push(*import);
            }
            Prelude::Namespace(prefix, url) => {
                self.imports = false;
                let url = NamespaceUrl::new(&url);
                match prefix {
                    Some(prefix) => self.namespaces.prefixes.push((prefix, url)),
                    None => self.namespaces.default = Some(url),
                }
            }
            Prelude::Layer(names) if !names.is_empty() => {
                for name in &names {
                    self.layer(name);
                }
            }
            _ => return Err(()),
        }
        Ok(())
    }

    fn parse_block(&mut self, prelude: Prelude, _: &ParserState, input: &mut Parser<'i>) -> Result<()> {
        match prelude {
            Prelude::Import(_) | Prelude::Namespace(..) => return invalid(),
            _ => (self.imports, self.names) = (false, false),
        }
        match prelude {
            Prelude::Import(_) | Prelude::Namespace(..) => {}
            Prelude::Media(media) => self.inside(input, |c| c.add_condition(Test::Media(media))),
            Prelude::Supports(true) | Prelude::StartingStyle => self.inside(input, |_| {}),
            Prelude::Supports(false) => value::rest(input)?,
            Prelude::Container(condition) => {
                self.inside(input, |c| c.add_condition(Test::Container(condition)))
            }
            Prelude::Scope(start, end) => self.inside(input, |c| {
                c.sheet.scopes.push(Scope { start, end });
                c.scope = c.sheet.scopes.len() as u32;
                c.parents = None;
            }),
            Prelude::Layer(names) => {
                let name = match <[_; 1]>::try_from(names) {
                    Ok([name]) => name,
                    Err(names) if names.is_empty() => self.anonymous(),
                    Err(_) => return invalid(),
                };
                self.inside(input, |c| c.layer = c.layer(&name));
            }
            Prelude::FontFace => {
                let nth = |at: usize| self.nth(at);
                if let Some(face) = super::face::parse(input, &nth, self.condition) {
                    self.sheet.faces.push(face);
                }
            }
            Prelude::Keyframes(name) => {
                let outer = std::mem::take(&mut self.pending);
                let parents = self.parents.take();
                let mut frames = Frames { compiler: self };
                for _ in RuleBodyParser::new(input, &mut frames) {}
                let mut declarations = std::mem::replace(&mut self.pending, outer);
                self.parents = parents;
                declarations.retain(|d| FETCHING.contains(&d.property) && d.fetches());
                self.sheet.keyframes.push(Keyframes {
                    name,
                    declarations,
                    condition: self.condition,
                });
            }
            Prelude::Property(name) => {
                let outer = std::mem::take(&mut self.pending);
                let mut registration = Registration { compiler: self };
                for _ in RuleBodyParser::new(input, &mut registration) {}
                let initial = std::mem::replace(&mut self.pending, outer);
                if let Some(Declaration {
                    value: Value::Custom(text),
                    ..
                }) = initial.into_iter().next_back()
                {
                    let text = Text {
                        text: text.text.trim().into(),
                        ..text
                    };
                    self.sheet.registered.push((name, text));
                }
            }
        }
        Ok(())
    }
}

impl<'i> QualifiedRuleParser<'i> for Compiler<'_> {
    type Prelude = (SelectorList, u32);
    type QualifiedRule = ();
    type Error = ();

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> Result<(SelectorList, u32)> {
        self.selectors(input)
    }

    fn parse_block(
        &mut self,
        (list, weight): (SelectorList, u32),
        _: &ParserState,
        input: &mut Parser<'i>,
    ) -> Result<()> {
        (self.imports, self.names) = (false, false);
        self.inside(input, |c| {
            c.parents = Some(list);
            c.weight = weight;
        });
        Ok(())
    }
}

impl<'i> DeclarationParser<'i> for Compiler<'_> {
    type Declaration = ();
    type Error = ();

    fn parse_value(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>, _: &ParserState) -> Result<()> {
        self.declare(&name, input)
    }
}

impl RuleBodyItemParser<'_, (), ()> for Compiler<'_> {
    fn parse_declarations(&self) -> bool {
        self.parents.is_some() || !self.nested
    }

    fn parse_qualified(&self) -> bool {
        self.nested
    }
}

/// The frames of `@keyframes`: all their declarations count.
struct Frames<'c, 'a> {
    compiler: &'c mut Compiler<'a>,
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
struct Registration<'c, 'a> {
    compiler: &'c mut Compiler<'a>,
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
