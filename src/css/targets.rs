//! `--targets`: printing for named browsers only, by lightningcss.
//!
//! This gives up what older browsers would need: fallbacks, prefixes and syntax that no named browser lacks. Only
//! whoever states the browsers can allow that, so nothing here runs without the option. A stylesheet that lightningcss
//! does not parse strictly, whose numbers have more digits than it keeps (six), or whose URLs it would change stays as
//! the ordinary printer left it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::Context as _;
use lightningcss::stylesheet::{MinifyOptions, ParserOptions, PrinterOptions, StyleSheet};
use lightningcss::targets::Browsers;

use super::token::{self, Kind};

/// The browsers of a browserslist query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Targets(Browsers);

impl Targets {
    /// An error for a query that is none, or whose answer would change with the date.
    pub fn parse(query: &str) -> anyhow::Result<Targets> {
        let words = query.to_ascii_lowercase();
        anyhow::ensure!(
            !words.contains("year"),
            "--targets {query}: the answer would change with the date; name versions instead"
        );
        let browsers = Browsers::from_browserslist([query]).with_context(|| format!("--targets {query}"))?;
        browsers
            .map(Targets)
            .with_context(|| format!("--targets {query}: no browser fits"))
    }
}

/// The stylesheet as these browsers need it; `None` where that is not surely right or not shorter.
pub(super) fn print(text: &str, targets: Targets) -> Option<String> {
    if super::scan(text, false).opaque.is_some() || has_long_numbers(text) {
        return None;
    }
    let print = || {
        let mut sheet = StyleSheet::parse(text, ParserOptions::default()).ok()?;
        sheet
            .minify(MinifyOptions {
                targets: targets.0.into(),
                ..MinifyOptions::default()
            })
            .ok()?;
        let options = PrinterOptions {
            minify: true,
            targets: targets.0.into(),
            ..PrinterOptions::default()
        };
        Some(sheet.to_css(options).ok()?.code)
    };
    // A panic of the printer on a strange sheet must not end the build.
    let printed = catch_unwind(AssertUnwindSafe(print)).ok()??;
    let printed = if printed.is_ascii() {
        printed
    } else {
        format!("@charset \"utf-8\";{printed}")
    };
    let holds = printed.len() < text.len()
        && !printed.is_empty()
        && StyleSheet::parse(&printed, ParserOptions::default()).is_ok()
        && urls(&printed) == urls(text);
    holds.then_some(printed)
}

/// The distinct URLs: equal rules may be merged, but none may get lost or change.
fn urls(text: &str) -> std::collections::BTreeSet<String> {
    super::scan(text, false)
        .urls
        .into_iter()
        .map(|u| u.value)
        .collect()
}

/// lightningcss keeps numbers as `f32` and prints six significant digits.
fn has_long_numbers(text: &str) -> bool {
    let mut found = false;
    token::each(text, |tok| {
        let is_number = matches!(tok.kind, Kind::Number | Kind::Percentage | Kind::Dimension);
        let digits = tok
            .text(text)
            .bytes()
            .take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b'+' | b'-'));
        found |= is_number && digits.filter(u8::is_ascii_digit).count() > 6;
        !found
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_browsers_need_no_fallbacks() {
        let check = |css: &str, expected: Option<&str>| {
            let targets = Targets::parse("chrome 120").unwrap();
            assert_eq!(print(css, targets).as_deref(), expected, "{css}");
        };
        check(
            "a { display: -webkit-box; display: flex }",
            Some("a{display:flex}"),
        );
        check("a { width: 66.66666667% }", None);
        check("a { color: red; *zoom: 1 }", None);
        check("a{b:c}", None);
    }

    #[test]
    fn a_query_must_have_one_answer() {
        assert!(Targets::parse("firefox 115, chrome 110").is_ok());
        assert!(Targets::parse("last 2 years").is_err());
        assert!(Targets::parse("no such browser").is_err());
    }
}
