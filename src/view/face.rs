//! `@font-face` (CSS Fonts 4, section 4): what a face covers and which file Chromium asks for.

use cssparser::{
    AtRuleParser, CowRcStr, DeclarationParser, ParseError, Parser, ParserState, QualifiedRuleParser,
    RuleBodyItemParser, RuleBodyParser, Token, UnicodeRange,
};

use super::image::Url;
use super::value::{Numbering, Result, rest};

#[derive(Debug, Default)]
pub(super) struct Face {
    /// In lower case.
    pub(super) family: Box<str>,
    /// Of a supported format, in order of preference: Chromium asks for the first, and for the next when it fails.
    pub(super) sources: Vec<Url>,
    pub(super) weight: (f32, f32),
    pub(super) italic: bool,
    pub(super) ranges: Vec<(u32, u32)>,
    pub(super) condition: u32,
}

impl Face {
    pub(super) fn covers(&self, c: char) -> bool {
        let c = u32::from(c);
        self.ranges.is_empty() || self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c))
    }
}

pub(super) fn parse(input: &mut Parser<'_>, nth: Numbering, condition: u32) -> Option<Face> {
    let mut reader = Reader {
        nth,
        face: Face {
            weight: (400.0, 400.0),
            condition,
            ..Face::default()
        },
    };
    for _ in RuleBodyParser::new(input, &mut reader) {}
    (!reader.face.family.is_empty() && !reader.face.sources.is_empty()).then_some(reader.face)
}

struct Reader<'a> {
    nth: Numbering<'a>,
    face: Face,
}

impl<'i> DeclarationParser<'i> for Reader<'_> {
    type Declaration = ();
    type Error = ();

    fn parse_value(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>, _: &ParserState) -> Result<()> {
        match name.to_ascii_lowercase().as_str() {
            "font-family" => {
                if let [family] = super::family::families(input)?.as_slice() {
                    self.face.family = family.name.clone();
                }
            }
            "src" => {
                let nth = self.nth;
                let sources = input.parse_comma_separated(|i| Ok::<_, ParseError<()>>(source(i, nth)))?;
                // A list in which everything is unknown is no declaration at all: an earlier one stands.
                if sources.iter().any(Option::is_some) {
                    self.face.sources = sources.into_iter().flatten().flatten().collect();
                }
            }
            "font-weight" => {
                let one = |i: &mut Parser<'_>| match super::family::weight(i)? {
                    super::value::Weight::Number(n) => Ok(n),
                    _ => Err(ParseError::<()>::unexpected_token()),
                };
                if input.try_parse(|i| i.expect_ident_matching("auto")).is_ok() {
                    return Ok(());
                }
                let low = one(input)?;
                let high = input.try_parse(one).unwrap_or(low);
                self.face.weight = (low.min(high), low.max(high));
            }
            "font-style" => self.face.italic = super::family::italic(input)?,
            "unicode-range" => {
                let ranges =
                    input.parse_comma_separated(|i| Ok::<_, ParseError<()>>(UnicodeRange::parse(i)?))?;
                self.face.ranges = ranges.iter().map(|r| (r.start, r.end)).collect();
            }
            _ => rest(input)?,
        }
        Ok(())
    }
}

/// One entry of `src`: `None` where it is not understood, an empty `Some` for `local()` and unsupported formats.
fn source(input: &mut Parser<'_>, nth: Numbering) -> Option<Option<Url>> {
    let parsed = (|| {
        if input.try_parse(|i| i.expect_function_matching("local")).is_ok() {
            input.parse_nested_block(rest)?;
            // No font of the reader's machine is counted on.
            return Ok(None);
        }
        let url = super::image::image(input, nth)?;
        let mut supported = true;
        while !input.is_exhausted() {
            let Token::Function(name) = input.next()?.clone() else {
                return Err(ParseError::<()>::unexpected_token());
            };
            input.parse_nested_block(|i| {
                let known = match name.to_ascii_lowercase().as_str() {
                    "format" => i.try_parse(|i| i.expect_ident_or_string().map(|f| is_format(f)))?,
                    "tech" => {
                        let techs =
                            i.parse_comma_separated(|i| Ok::<_, ParseError<()>>(i.expect_ident_cloned()?))?;
                        techs.iter().all(|t| is_tech(t))
                    }
                    _ => false,
                };
                supported &= known;
                rest(i)
            })?;
        }
        Ok(url.into_iter().next().filter(|_| supported))
    })();
    let _ = rest(input);
    parsed.ok()
}

/// `svg` and `embedded-opentype` are not among them.
pub(super) fn is_format(format: &str) -> bool {
    matches!(
        format.to_ascii_lowercase().as_str(),
        "woff2"
            | "woff"
            | "truetype"
            | "opentype"
            | "collection"
            | "woff2-variations"
            | "woff-variations"
            | "truetype-variations"
            | "opentype-variations"
    )
}

pub(super) fn is_tech(tech: &str) -> bool {
    matches!(
        tech.to_ascii_lowercase().as_str(),
        "variations"
            | "palettes"
            | "features-opentype"
            | "features-aat"
            | "color-colrv0"
            | "color-colrv1"
            | "color-sbix"
            | "color-cbdt"
    )
}

impl AtRuleParser<'_> for Reader<'_> {
    type Prelude = ();
    type AtRule = ();
    type Error = ();
}

impl QualifiedRuleParser<'_> for Reader<'_> {
    type Prelude = ();
    type QualifiedRule = ();
    type Error = ();
}

impl RuleBodyItemParser<'_, (), ()> for Reader<'_> {
    fn parse_declarations(&self) -> bool {
        true
    }

    fn parse_qualified(&self) -> bool {
        false
    }
}
