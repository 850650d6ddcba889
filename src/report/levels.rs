//! Which diagnostics make a run fail, and which are not wanted: `--deny` and `--allow`.
//!
//! In: what was said, each code or a word for many of them. Out: a report without what is allowed, and what of it is
//! denied. A code that is named itself counts more than `all` and `warnings`, whatever was said about those.

use std::fmt;
use std::str::FromStr;

use super::text::grouped;
use super::{Report, severity};
use crate::diagnostic::{Code, Severity};
use crate::nearest::nearest;

/// What `--deny` and `--allow` take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codes {
    All,
    Warnings,
    One(Code),
}

/// What was said of codes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels {
    deny: Vec<Codes>,
    allow: Vec<Codes>,
}

/// A code that must not occur, and does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    pub code: Code,
    pub count: u64,
    said: &'static str,
}

impl Codes {
    pub fn name(self) -> &'static str {
        match self {
            Codes::All => "all",
            Codes::Warnings => "warnings",
            Codes::One(code) => code.name(),
        }
    }

    fn holds(self, code: Code) -> bool {
        match self {
            Codes::All => true,
            Codes::Warnings => severity(code) == Severity::Warning,
            Codes::One(one) => one == code,
        }
    }
}

impl FromStr for Codes {
    type Err = String;

    fn from_str(text: &str) -> Result<Codes, String> {
        let known = || {
            let groups = [Codes::All, Codes::Warnings];
            groups.into_iter().chain(Code::ALL.into_iter().map(Codes::One))
        };
        if let Some(found) = known().find(|codes| codes.name() == text) {
            return Ok(found);
        }
        Err(match nearest(text, known().map(Codes::name), 1).first() {
            Some(near) => format!("unknown code `{text}`, did you mean `{near}`?"),
            None => format!("unknown code `{text}`; `fewer check --list` lists all codes"),
        })
    }
}

impl Levels {
    /// Refuses to deny and to allow the same.
    pub fn new(deny: Vec<Codes>, allow: Vec<Codes>) -> anyhow::Result<Levels> {
        if let Some(both) = deny.iter().find(|codes| allow.contains(codes)) {
            anyhow::bail!("`{}` is both denied and allowed: say one of them", both.name());
        }
        Ok(Levels { deny, allow })
    }

    /// Takes what is allowed out of the report, and says what is left that is denied, in the order of the list of codes.
    pub fn apply(&self, report: &mut Report) -> Vec<Denied> {
        report
            .diagnostics
            .retain(|diagnostic| !self.is_allowed(diagnostic.code));
        let denied = Code::ALL.into_iter().filter_map(|code| {
            let said = self.denied_by(code)?.name();
            let found = report.diagnostics.iter().filter(|d| d.code == code);
            let count = found.count() as u64;
            (count > 0).then_some(Denied { code, count, said })
        });
        denied.collect()
    }

    fn is_allowed(&self, code: Code) -> bool {
        let named = |list: &[Codes]| list.contains(&Codes::One(code));
        !named(&self.deny) && (named(&self.allow) || self.allow.iter().any(|codes| codes.holds(code)))
    }

    fn denied_by(&self, code: Code) -> Option<Codes> {
        let one = Codes::One(code);
        if self.deny.contains(&one) {
            return Some(one);
        }
        self.deny.iter().copied().find(|codes| codes.holds(code))
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Denied { code, count, said } = self;
        write!(f, "{} {}, denied by --deny {said}", grouped(*count), code.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for code in Code::ALL {
            assert_eq!(code.name().parse(), Ok(Codes::One(code)));
        }
        assert_eq!("all".parse(), Ok(Codes::All));
        let check = |text: &str, said: &str| assert_eq!(text.parse::<Codes>(), Err(said.to_owned()));
        check(
            "mising-file",
            "unknown code `mising-file`, did you mean `missing-file`?",
        );
        check("warning", "unknown code `warning`, did you mean `warnings`?");
        check(
            "zebra",
            "unknown code `zebra`; `fewer check --list` lists all codes",
        );
        check("", "unknown code ``; `fewer check --list` lists all codes");
    }

    #[test]
    fn a_code_counts_more_than_a_word_for_many() {
        let levels = |deny: &[Codes], allow: &[Codes]| Levels::new(deny.to_vec(), allow.to_vec()).unwrap();
        let (missing, unused) = (Code::MissingFile, Code::UnreferencedFile);
        let check = |levels: Levels, code: Code, denied: bool, allowed: bool| {
            let is = (
                levels.denied_by(code).is_some() && !levels.is_allowed(code),
                levels.is_allowed(code),
            );
            assert_eq!(is, (denied, allowed), "{levels:?} {code:?}");
        };
        check(levels(&[], &[]), missing, false, false);
        check(levels(&[Codes::All], &[]), unused, true, false);
        check(levels(&[Codes::Warnings], &[]), unused, false, false);
        check(levels(&[Codes::Warnings], &[]), missing, true, false);
        check(levels(&[Codes::All], &[Codes::One(unused)]), unused, false, true);
        check(levels(&[Codes::One(unused)], &[Codes::All]), unused, true, false);
        check(levels(&[Codes::One(unused)], &[Codes::All]), missing, false, true);
        check(levels(&[Codes::All], &[Codes::Warnings]), missing, false, true);
        check(levels(&[Codes::All], &[Codes::Warnings]), unused, true, false);
        let both = Levels::new(vec![Codes::One(missing)], vec![Codes::One(missing)]).unwrap_err();
        assert_eq!(
            both.to_string(),
            "`missing-file` is both denied and allowed: say one of them"
        );
    }
}
