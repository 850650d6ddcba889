//! Values that are checked where they are read, on the command line (`FromStr`) and in `fewer.toml` (serde) alike.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use encoding_rs::Encoding;
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};

use crate::css::Targets;
use crate::encode::Effort;
use crate::options::{Network, Pass, Prefer};
use crate::policy;
use crate::report::Codes;
use crate::url::{self, Mount, Root};

/// A whole number within limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Number<const MIN: u64, const MAX: u64>(u64);

/// What TOML can write.
const MOST: u64 = i64::MAX as u64;

/// Any size.
pub type Bytes = Number<0, MOST>;

impl<const MIN: u64, const MAX: u64> Number<MIN, MAX> {
    /// The nearest number within the limits.
    pub fn near(number: u64) -> Self {
        Number(number.clamp(MIN, MAX))
    }

    pub fn get(self) -> u64 {
        self.0
    }

    /// For limits that fit.
    pub fn small(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }

    fn checked(number: Option<u64>) -> Result<Self, String> {
        match number {
            Some(number) if (MIN..=MAX).contains(&number) => Ok(Number(number)),
            _ if MAX == MOST => Err(format!("expected a whole number, at least {MIN}")),
            _ => Err(format!("expected a whole number from {MIN} to {MAX}")),
        }
    }
}

impl<const MIN: u64, const MAX: u64> FromStr for Number<MIN, MAX> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Number::checked(text.parse().ok())
    }
}

impl<const MIN: u64, const MAX: u64> TryFrom<i64> for Number<MIN, MAX> {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        Number::checked(u64::try_from(number).ok())
    }
}

impl<const MIN: u64, const MAX: u64> From<Number<MIN, MAX>> for i64 {
    fn from(number: Number<MIN, MAX>) -> i64 {
        i64::try_from(number.0).unwrap_or(i64::MAX)
    }
}

/// A text that was parsed once, so that a wrong one is refused where it stands.
#[derive(Debug, Clone, Serialize)]
#[serde(into = "String", bound(serialize = "T: Clone"))]
pub struct Checked<T> {
    pub text: String,
    pub value: T,
}

/// What a text stands for, or what is wrong with it.
pub trait Parse: Sized {
    fn parse(text: &str) -> Result<Self, String>;
}

impl<T: Parse> FromStr for Checked<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value = T::parse(text)?;
        Ok(Checked {
            text: text.to_owned(),
            value,
        })
    }
}

impl<'de, T: Parse> Deserialize<'de> for Checked<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer)
    }
}

/// Parses inside of the visitor: the TOML reader knows the place of what is wrong only there, not of an item of a list
/// that is refused later (as `try_from` does).
pub(super) fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err = String>>(
    deserializer: D,
) -> Result<T, D::Error> {
    struct Text<T>(PhantomData<T>);

    impl<T: FromStr<Err = String>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }

    deserializer.deserialize_str(Text(PhantomData))
}

impl<T> From<Checked<T>> for String {
    fn from(checked: Checked<T>) -> String {
        checked.text
    }
}

impl Parse for Glob {
    fn parse(text: &str) -> Result<Glob, String> {
        GlobBuilder::new(text.trim_start_matches('/'))
            .literal_separator(true)
            .build()
            .map_err(|error| error.kind().to_string())
    }
}

/// `None` for no globs at all.
pub(super) fn set(globs: &[Checked<Glob>]) -> anyhow::Result<Option<GlobSet>> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(glob.value.clone());
    }
    Ok(Some(set.build()?))
}

impl Parse for Targets {
    fn parse(text: &str) -> Result<Targets, String> {
        // The name of the option is said by whoever shows the message.
        let without = |message: String| match message.strip_prefix(&format!("--targets {text}: ")) {
            Some(rest) => rest.to_owned(),
            None => message,
        };
        Targets::parse(text).map_err(|error| without(format!("{error:#}")))
    }
}

impl Parse for Mount {
    fn parse(text: &str) -> Result<Mount, String> {
        url::mount(Some(text)).map_err(|error| format!("{error:#}"))
    }
}

impl Parse for Root {
    fn parse(text: &str) -> Result<Root, String> {
        url::root(text).map_err(|error| format!("{error:#}"))
    }
}

impl Parse for &'static Encoding {
    fn parse(text: &str) -> Result<&'static Encoding, String> {
        Encoding::for_label(text.as_bytes())
            .ok_or_else(|| "no such encoding (https://encoding.spec.whatwg.org/#names-and-labels)".to_owned())
    }
}

/// A Content-Security-Policy: its text is what counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Csp;

impl Parse for Csp {
    fn parse(text: &str) -> Result<Csp, String> {
        policy::check(text).map(|()| Csp)
    }
}

impl Parse for Codes {
    fn parse(text: &str) -> Result<Codes, String> {
        text.parse()
    }
}

/// Width and height in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewport(pub u32, pub u32);

impl Parse for Viewport {
    fn parse(text: &str) -> Result<Viewport, String> {
        let parse = |part: &str| part.parse::<u32>().ok().filter(|&n| n > 0 && n <= 100_000);
        text.split_once('x')
            .and_then(|(w, h)| Some(Viewport(parse(w)?, parse(h)?)))
            .ok_or_else(|| "expected WIDTHxHEIGHT in CSS pixels, such as 1280x900".to_owned())
    }
}

/// A pass to turn off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub enum Skip {
    Pass(Pass),
    All,
}

impl Skip {
    fn name(self) -> &'static str {
        match self {
            Skip::Pass(pass) => pass.name(),
            Skip::All => "all",
        }
    }

    /// The passes that are named, in their own order.
    pub fn passes(skips: &[Skip]) -> Vec<Pass> {
        let skipped = |pass: &Pass| skips.contains(&Skip::All) || skips.contains(&Skip::Pass(*pass));
        Pass::ALL.into_iter().filter(skipped).collect()
    }
}

impl FromStr for Skip {
    type Err = String;

    fn from_str(text: &str) -> Result<Skip, String> {
        let known = Skip::value_variants();
        known
            .iter()
            .copied()
            .find(|skip| skip.name() == text)
            .ok_or_else(|| {
                let names: Vec<String> = known.iter().map(|skip| format!("`{}`", skip.name())).collect();
                // In the words of serde, which `config` makes readable.
                format!("unknown variant `{text}`, expected one of {}", names.join(", "))
            })
    }
}

impl<'de> Deserialize<'de> for Skip {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Skip, D::Error> {
        parsed(deserializer)
    }
}

impl From<Skip> for String {
    fn from(skip: Skip) -> String {
        skip.name().to_owned()
    }
}

impl ValueEnum for Skip {
    fn value_variants<'a>() -> &'a [Skip] {
        const SKIPS: [Skip; Pass::ALL.len() + 1] = {
            let mut skips = [Skip::All; Pass::ALL.len() + 1];
            let mut i = 0;
            while i < Pass::ALL.len() {
                skips[i] = Skip::Pass(Pass::ALL[i]);
                i += 1;
            }
            skips
        };
        &SKIPS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

impl ValueEnum for Network {
    fn value_variants<'a>() -> &'a [Network] {
        &Network::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

impl ValueEnum for Effort {
    fn value_variants<'a>() -> &'a [Effort] {
        &Effort::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

impl ValueEnum for Prefer {
    fn value_variants<'a>() -> &'a [Prefer] {
        &Prefer::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    Fast,
    Full,
}

/// Whose lines in a log become annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Annotations {
    None,
    Github,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_limits() {
        let check = |text: &str, expected: Result<u64, &str>| {
            let number = text.parse::<Number<1, 12>>().map(Number::get);
            assert_eq!(number, expected.map_err(str::to_owned), "{text}");
        };
        let wrong = Err("expected a whole number from 1 to 12");
        check("1", Ok(1));
        check("12", Ok(12));
        for text in ["0", "13", "-1", "", "many", "1.5", "99999999999999999999"] {
            check(text, wrong);
        }
        assert_eq!(
            "-1".parse::<Bytes>(),
            Err("expected a whole number, at least 0".to_owned())
        );
        assert_eq!(Number::<1, 12>::near(99).get(), 12);
    }

    #[test]
    fn skips_name_passes_in_their_order() {
        let read = |text: &str| text.parse::<Skip>();
        for pass in Pass::ALL {
            assert_eq!(read(pass.name()), Ok(Skip::Pass(pass)));
            assert!(<Skip as ValueEnum>::from_str(pass.name(), false).is_ok());
        }
        assert!(
            read("everything")
                .unwrap_err()
                .ends_with("`inline`, `minify`, `all`")
        );
        let skips = [Skip::Pass(Pass::Minify), Skip::Pass(Pass::Same)];
        assert_eq!(Skip::passes(&skips), [Pass::Same, Pass::Minify]);
        assert_eq!(Skip::passes(&[Skip::All]), Pass::ALL);
    }
}
