//! Media queries (Media Queries 4) for a stated window: a screen, 1 dppx, light, a mouse, no preferences set.
//!
//! What cannot be parsed is `not all`; a feature that Chromium does not know is "unknown", which is false at the
//! top level whichever way it is negated (section 3.2 of the standard).

use cssparser::{Delimiter, ParseError, Parser, Token, parse_important};

use super::Window;

type Result<T> = std::result::Result<T, ParseError<()>>;

/// A comma-separated list; an empty one always matches.
#[derive(Debug, Clone, Default)]
pub(super) struct MediaList(Vec<Query>);

#[derive(Debug, Clone)]
struct Query {
    negated: bool,
    /// A type other than `all` and `screen` never matches here.
    screen: bool,
    condition: Option<Condition>,
}

#[derive(Debug, Clone)]
pub(super) enum Condition {
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Feature(Feature),
    Unknown,
}

#[derive(Debug, Clone)]
pub(super) struct Feature {
    name: Box<str>,
    /// `name OP value`; several for `a < name < b`, none for `(name)`.
    tests: Vec<(Operator, FeatureValue)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operator {
    Less,
    LessEqual,
    Equal,
    GreaterEqual,
    Greater,
}

#[derive(Debug, Clone, PartialEq)]
enum FeatureValue {
    /// Pixels, dots per pixel, a plain number or a ratio.
    Number(f64),
    Word(Box<str>),
    Bad,
}

impl MediaList {
    pub(super) fn parse(text: &str) -> MediaList {
        MediaList::parse_from(&mut Parser::new(text))
    }

    /// All that is left of `input`.
    pub(super) fn parse_from(input: &mut Parser<'_>) -> MediaList {
        let mut queries = Vec::new();
        if input.is_exhausted() {
            return MediaList(queries);
        }
        loop {
            let query = input.parse_until_before(Delimiter::Comma, query);
            queries.push(query.unwrap_or(Query {
                negated: false,
                screen: false,
                condition: None,
            }));
            if input.expect_comma().is_err() {
                break;
            }
        }
        MediaList(queries)
    }

    pub(super) fn matches(&self, window: Window) -> bool {
        self.0.is_empty()
            || self.0.iter().any(|q| {
                let inner = match &q.condition {
                    _ if !q.screen => Some(false),
                    Some(condition) => condition.holds(window),
                    None => Some(true),
                };
                inner.map(|i| i != q.negated).unwrap_or(false)
            })
    }
}

fn query(input: &mut Parser<'_>) -> Result<Query> {
    if let Ok(condition) = input.try_parse(|i| {
        let c = condition(i, true)?;
        i.expect_exhausted()?;
        Ok::<_, ParseError<()>>(c)
    }) {
        return Ok(Query {
            negated: false,
            screen: true,
            condition: Some(condition),
        });
    }
    let mut word = input.expect_ident()?.to_ascii_lowercase();
    let mut negated = false;
    if word == "not" || word == "only" {
        negated = word == "not";
        word = input.expect_ident()?.to_ascii_lowercase();
    }
    if matches!(word.as_str(), "and" | "or" | "not" | "only" | "layer") {
        return Err(ParseError::unexpected_token());
    }
    let condition = if input.is_exhausted() {
        None
    } else {
        input.expect_ident_matching("and")?;
        Some(condition(input, false)?)
    };
    input.expect_exhausted()?;
    Ok(Query {
        negated,
        screen: word == "screen" || word == "all",
        condition,
    })
}

/// `or` is not allowed behind a media type.
pub(super) fn condition(input: &mut Parser<'_>, or: bool) -> Result<Condition> {
    if input.try_parse(|i| i.expect_ident_matching("not")).is_ok() {
        return Ok(Condition::Not(Box::new(in_parentheses(input)?)));
    }
    let first = in_parentheses(input)?;
    let mut all = vec![first];
    let mut joint = None;
    while !input.is_exhausted() {
        let word = input.expect_ident()?.to_ascii_lowercase();
        if word != "and" && (word != "or" || !or) || joint.as_ref().is_some_and(|j| *j != word) {
            return Err(ParseError::unexpected_token());
        }
        joint = Some(word);
        all.push(in_parentheses(input)?);
    }
    Ok(if joint.as_deref() == Some("or") {
        Condition::Any(all)
    } else {
        Condition::All(all)
    })
}

fn in_parentheses(input: &mut Parser<'_>) -> Result<Condition> {
    match input.next()? {
        Token::ParenthesisBlock => {}
        Token::Function(_) => {
            // <general-enclosed>: valid and unknown.
            input.parse_nested_block(skip)?;
            return Ok(Condition::Unknown);
        }
        _ => return Err(ParseError::unexpected_token()),
    }
    input.parse_nested_block(|input| {
        let inner = input.try_parse(|i| {
            let c = condition(i, true)?;
            i.expect_exhausted()?;
            Ok::<_, ParseError<()>>(c)
        });
        if let Ok(inner) = inner {
            return Ok(inner);
        }
        let known = input.try_parse(|i| {
            let f = feature(i)?;
            i.expect_exhausted()?;
            Ok::<_, ParseError<()>>(f)
        });
        match known {
            Ok(feature) => Ok(Condition::Feature(feature)),
            Err(_) => {
                skip(input)?;
                Ok(Condition::Unknown)
            }
        }
    })
}

fn skip(input: &mut Parser<'_>) -> Result<()> {
    while input.next().is_ok() {}
    Ok(())
}

fn feature(input: &mut Parser<'_>) -> Result<Feature> {
    if let Ok(name) = input.try_parse(|i| i.expect_ident_cloned()) {
        let name = name.to_ascii_lowercase();
        if input.is_exhausted() {
            return Ok(Feature {
                name: name.into(),
                tests: Vec::new(),
            });
        }
        if input.try_parse(|i| i.expect_colon()).is_ok() {
            let value = value(input)?;
            let _ = input.try_parse(parse_important);
            let (name, operator) = match (name.strip_prefix("min-"), name.strip_prefix("max-")) {
                (Some(rest), _) => (rest.to_owned(), Operator::GreaterEqual),
                (_, Some(rest)) => (rest.to_owned(), Operator::LessEqual),
                _ => match name.as_str() {
                    "-webkit-min-device-pixel-ratio" => (name.replace("min-", ""), Operator::GreaterEqual),
                    "-webkit-max-device-pixel-ratio" => (name.replace("max-", ""), Operator::LessEqual),
                    _ => (name, Operator::Equal),
                },
            };
            return Ok(Feature {
                name: name.into(),
                tests: vec![(operator, value)],
            });
        }
        let operator = operator(input)?;
        let value = value(input)?;
        return Ok(Feature {
            name: name.into(),
            tests: vec![(operator, value)],
        });
    }
    let left = value(input)?;
    let first = operator(input)?;
    let name = input.expect_ident()?.to_ascii_lowercase();
    let flipped = match first {
        Operator::Less => Operator::Greater,
        Operator::LessEqual => Operator::GreaterEqual,
        Operator::Equal => Operator::Equal,
        Operator::GreaterEqual => Operator::LessEqual,
        Operator::Greater => Operator::Less,
    };
    let mut tests = vec![(flipped, left)];
    if !input.is_exhausted() {
        let second = operator(input)?;
        tests.push((second, value(input)?));
    }
    Ok(Feature {
        name: name.into(),
        tests,
    })
}

fn operator(input: &mut Parser<'_>) -> Result<Operator> {
    let first = match input.next()? {
        Token::Delim('<') => Operator::Less,
        Token::Delim('>') => Operator::Greater,
        Token::Delim('=') => return Ok(Operator::Equal),
        _ => return Err(ParseError::unexpected_token()),
    };
    let equal = input
        .try_parse(|i| match i.next_including_whitespace() {
            Ok(Token::Delim('=')) => Ok(()),
            _ => Err(()),
        })
        .is_ok();
    Ok(match (first, equal) {
        (Operator::Less, true) => Operator::LessEqual,
        (Operator::Greater, true) => Operator::GreaterEqual,
        (other, _) => other,
    })
}

fn value(input: &mut Parser<'_>) -> Result<FeatureValue> {
    let token = input.next()?.clone();
    Ok(match &token {
        Token::Number { value, .. } => {
            let value = f64::from(*value);
            let ratio = input.try_parse(|i| {
                i.expect_delim('/')?;
                i.expect_number()
            });
            match ratio {
                Ok(below) => FeatureValue::Number(value / f64::from(below)),
                Err(_) => FeatureValue::Number(value),
            }
        }
        Token::Dimension { value, unit, .. } => match pixels(f64::from(*value), unit) {
            Some(pixels) => FeatureValue::Number(pixels),
            None => match unit.to_ascii_lowercase().as_str() {
                "dppx" | "x" => FeatureValue::Number(f64::from(*value)),
                "dpi" => FeatureValue::Number(f64::from(*value) / 96.0),
                "dpcm" => FeatureValue::Number(f64::from(*value) * 2.54 / 96.0),
                _ => FeatureValue::Bad,
            },
        },
        Token::Ident(word) => FeatureValue::Word(word.to_ascii_lowercase().into()),
        Token::Function(_) => {
            let text = input.parse_nested_block(|i| {
                let start = i.position();
                skip(i)?;
                Ok::<_, ParseError<()>>(i.slice_from(start))
            })?;
            let Token::Function(name) = &token else {
                return Err(ParseError::unexpected_token());
            };
            match super::length::calculate(name, text, &|v, unit| pixels(v, unit)) {
                Some(v) => FeatureValue::Number(v),
                None => FeatureValue::Bad,
            }
        }
        _ => return Err(ParseError::unexpected_token()),
    })
}

/// A length of a media query: relative to the initial font, 16 px (Media Queries 4, section 1.3).
fn pixels(value: f64, unit: &str) -> Option<f64> {
    super::length::pixels(value, unit, Window { width: 0, height: 0 })
}

impl Condition {
    pub(super) fn holds(&self, window: Window) -> Option<bool> {
        match self {
            Condition::Not(inner) => inner.holds(window).map(|v| !v),
            Condition::All(all) => all
                .iter()
                .fold(Some(true), |so_far, c| match (so_far, c.holds(window)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                }),
            Condition::Any(any) => {
                any.iter()
                    .fold(Some(false), |so_far, c| match (so_far, c.holds(window)) {
                        (Some(true), _) | (_, Some(true)) => Some(true),
                        (Some(false), Some(false)) => Some(false),
                        _ => None,
                    })
            }
            Condition::Feature(feature) => feature.holds(window),
            Condition::Unknown => None,
        }
    }
}

impl Feature {
    fn holds(&self, window: Window) -> Option<bool> {
        let (width, height) = (f64::from(window.width), f64::from(window.height));
        let number = match &*self.name {
            "width" | "device-width" | "inline-size" => width,
            "height" | "device-height" | "block-size" => height,
            "aspect-ratio" | "device-aspect-ratio" => width / height,
            "resolution" | "-webkit-device-pixel-ratio" => 1.0,
            "color" => 8.0,
            "color-index" | "monochrome" | "grid" => 0.0,
            "-webkit-transform-3d" | "horizontal-viewport-segments" | "vertical-viewport-segments" => 1.0,
            _ => return self.word(window),
        };
        if self.tests.is_empty() {
            return Some(number != 0.0);
        }
        let mut holds = true;
        for (operator, value) in &self.tests {
            let FeatureValue::Number(value) = value else {
                return None;
            };
            holds &= match operator {
                Operator::Less => number < *value,
                Operator::LessEqual => number <= *value,
                Operator::Equal => (number - *value).abs() < 1e-4,
                Operator::GreaterEqual => number >= *value,
                Operator::Greater => number > *value,
            };
        }
        Some(holds)
    }

    fn word(&self, window: Window) -> Option<bool> {
        // The state of a desktop browser that nobody has set up, and the values that are known beside it.
        let (state, others): (&str, &[&str]) = match &*self.name {
            "orientation" if window.width > window.height => ("landscape", &["portrait"]),
            "orientation" => ("portrait", &["landscape"]),
            "hover" | "any-hover" => ("hover", &["none"]),
            "pointer" | "any-pointer" => ("fine", &["none", "coarse"]),
            "prefers-color-scheme" => ("light", &["dark"]),
            "prefers-reduced-motion" => ("no-preference", &["reduce"]),
            "prefers-reduced-transparency" => ("no-preference", &["reduce"]),
            "prefers-contrast" => ("no-preference", &["more", "less", "custom"]),
            "forced-colors" => ("none", &["active"]),
            "update" => ("fast", &["slow", "none"]),
            "overflow-block" => ("scroll", &["none", "paged"]),
            "overflow-inline" => ("scroll", &["none"]),
            "dynamic-range" | "video-dynamic-range" => ("standard", &["high"]),
            "color-gamut" => ("srgb", &["p3", "rec2020"]),
            "display-mode" => (
                "browser",
                &["standalone", "fullscreen", "minimal-ui", "picture-in-picture"],
            ),
            "scripting" => ("enabled", &["none", "initial-only"]),
            _ => return None,
        };
        match self.tests.as_slice() {
            [] => Some(!matches!(state, "none" | "no-preference" | "standard")),
            [(Operator::Equal, FeatureValue::Word(word))] => {
                (**word == *state || others.contains(&&**word)).then(|| **word == *state)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries() {
        let check = |query: &str, expected: bool| {
            let window = Window {
                width: 1280,
                height: 900,
            };
            assert_eq!(MediaList::parse(query).matches(window), expected, "{query}");
        };
        check("", true);
        check("all", true);
        check("SCREEN", true);
        check("print", false);
        check("print, screen", true);
        check("not print", true);
        check("not screen", false);
        check("only screen and (min-width: 768px)", true);
        check("only screen and (max-width: 48em)", false);
        check("(min-width: 80em)", true);
        check("(min-width: 80.1em)", false);
        check("(width >= 1280px)", true);
        check("(400px < width <= 1279px)", false);
        check("(400px <= width < 1281px)", true);
        check("(orientation: landscape)", true);
        check("(orientation: portrait), (hover)", true);
        check("not all and (monochrome)", true);
        check("not (monochrome)", true);
        check("(min-resolution: 2dppx)", false);
        check(
            "(-webkit-min-device-pixel-ratio: 1.5), (min-resolution: 144dpi)",
            false,
        );
        check("(max-resolution: 96dpi)", true);
        check("(prefers-color-scheme: dark)", false);
        check("(prefers-reduced-motion)", false);
        check("(prefers-reduced-motion: no-preference)", true);
        check("(aspect-ratio: 64/45)", true);
        check("(min-aspect-ratio: 3/2)", false);
        check("(color)", true);
        check("(unknown)", false);
        check("not (unknown)", false);
        check("(unknown) or (color)", true);
        check("screen and (color) or (hover)", false);
        check("(color) and (hover) or (grid)", false);
        check("((color) and (hover)) or (grid)", true);
        check("screen and", false);
        check("screen foo", false);
        check("&test, print", false);
        check("handheld, tv", false);
        check("(width: calc(600px + 680px))", true);
        check("screen\\0", false);
        check("(min-width:0\\0)", false);
        check("all and (-webkit-transform-3d)", true);
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = "(".repeat(100_000);
        assert!(!MediaList::parse(&deep).matches(Window { width: 1, height: 1 }));
        let deep = format!("{}color{}", "not (".repeat(40), ")".repeat(40));
        let _ = MediaList::parse(&deep);
    }
}
