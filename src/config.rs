//! `fewer.toml`: the settings of a site, read with the place of every key.
//!
//! The keys are the fields of `Settings`, which are the flags. What is wrong is said with file, line and column, in
//! the words of the one who wrote the file, not in those of the TOML reader.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::cli::Settings;
use crate::nearest::nearest;
use crate::{diagnostic, disk};

pub const NAME: &str = "fewer.toml";

/// A file that was read.
#[derive(Debug, Clone)]
pub struct File {
    /// Its paths are meant from the current folder.
    pub settings: Settings,
    path: PathBuf,
    lines: Lines,
}

/// The line of every key, of every `[[rule]]` and of every `[budget]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Lines {
    keys: BTreeMap<String, u32>,
    rules: Vec<u32>,
    budgets: Vec<u32>,
}

impl File {
    /// `fewer.toml:3`, where the key stands; `None` if the file does not have it.
    pub fn place(&self, key: &str) -> Option<String> {
        self.lines.keys.get(key).map(|line| self.at(*line))
    }

    /// Where a `[[rule]]` begins.
    pub fn rule(&self, nth: usize) -> Option<String> {
        self.lines.rules.get(nth).map(|line| self.at(*line))
    }

    /// Where a budget begins.
    pub fn budget(&self, nth: usize) -> Option<String> {
        self.lines.budgets.get(nth).map(|line| self.at(*line))
    }

    fn at(&self, line: u32) -> String {
        format!("{}:{line}", disk::shown(&self.path))
    }
}

/// The file to read, if there is one: `chosen`, or `fewer.toml` of the current folder. Never one that lies in SITE,
/// which may have come from anywhere; the second part says so where that leaves one out.
pub fn find(chosen: Option<&Path>, site: Option<&Path>) -> anyhow::Result<(Option<File>, Option<String>)> {
    let path = chosen.unwrap_or(Path::new(NAME));
    if chosen.is_none() && disk::stat(path).is_err() {
        return Ok((None, None));
    }
    let inside = match site {
        Some(site) => disk::is_inside(path, site)?,
        None => false,
    };
    if inside && chosen.is_none() {
        let note = format!("{} is part of SITE and not read: move it out of SITE", NAME);
        return Ok((None, Some(note)));
    }
    anyhow::ensure!(
        !inside,
        "--config {} lies inside SITE: choose a place outside",
        disk::shown(path)
    );
    Ok((Some(read(path)?), None))
}

pub fn read(path: &Path) -> anyhow::Result<File> {
    let bytes = disk::read(path)?;
    let (settings, lines) = parse(&bytes).map_err(|Fault { at, message }| {
        let (line, column) = diagnostic::position(&bytes, at);
        anyhow::anyhow!("{}:{line}:{column}: {message}", disk::shown(path))
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(File {
        settings: settings.from_folder(folder),
        path: path.to_owned(),
        lines,
    })
}

/// What is wrong, and at which byte.
#[derive(Debug)]
struct Fault {
    at: usize,
    message: String,
}

fn parse(bytes: &[u8]) -> Result<(Settings, Lines), Fault> {
    let text = std::str::from_utf8(bytes).map_err(|error| Fault {
        at: error.valid_up_to(),
        message: "not UTF-8, as TOML is".to_owned(),
    })?;
    let whole = DeTable::parse(text).map_err(|error| fault(&error, None))?;
    let table = whole.get_ref();
    let settings: Settings = toml::from_str(text).map_err(|error| fault(&error, Some(table)))?;
    let line = |span: Range<usize>| diagnostic::position(bytes, span.start).0;
    let rules: &[Spanned<DeValue<'_>>] = match table.get("rule").map(Spanned::get_ref) {
        Some(DeValue::Array(rules)) => rules,
        _ => &[],
    };
    let pairs = settings.rule.iter().flatten().zip(rules);
    for (rule, place) in pairs {
        if rule.paths.is_empty() {
            return Err(Fault {
                at: place.span().start,
                message: "this rule has no `paths` to hold for".to_owned(),
            });
        }
    }
    let keys = table
        .iter()
        .map(|(key, _)| (key.get_ref().to_string(), line(key.span())));
    let lines = Lines {
        keys: keys.collect(),
        rules: rules.iter().map(|rule| line(rule.span())).collect(),
        budgets: match table.get_key_value("budget") {
            Some((_, value)) => match value.get_ref() {
                DeValue::Array(items) => items.iter().map(|item| line(item.span())).collect(),
                _ => vec![line(value.span())],
            },
            None => Vec::new(),
        },
    };
    Ok((settings, lines))
}

fn fault(error: &toml::de::Error, table: Option<&DeTable<'_>>) -> Fault {
    let span = error.span().unwrap_or_default();
    // Names from the file may hold anything.
    let escape = |c: char| match c.is_control() {
        true => c.escape_default().collect(),
        false => c.to_string(),
    };
    let message: String = readable(error.message()).chars().map(escape).collect();
    let key = table.and_then(|table| key_at(table, &span));
    Fault {
        at: span.start,
        message: match key {
            Some(key) => format!("{key}: {message}"),
            None => message,
        },
    }
}

/// The key whose value holds this span.
fn key_at(table: &DeTable<'_>, span: &Range<usize>) -> Option<String> {
    let holds = |place: Range<usize>| place.start <= span.start && span.end <= place.end;
    let is_table = |value: &DeValue<'_>| matches!(value, DeValue::Table(_));
    for (key, value) in table {
        match value.get_ref() {
            DeValue::Array(items) if items.iter().any(|item| is_table(item.get_ref())) => {
                let tables = items.iter().filter_map(|item| item.get_ref().as_table());
                if let Some(found) = tables.filter_map(|table| key_at(table, span)).next() {
                    return Some(found);
                }
            }
            DeValue::Table(table) => {
                if let Some(found) = key_at(table, span) {
                    return Some(found);
                }
            }
            _ if holds(value.span()) => return Some(key.get_ref().to_string()),
            _ => {}
        }
    }
    None
}

/// The words of the reader's library, said for the one who wrote the file.
fn readable(message: &str) -> String {
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let (true, [wrong, known @ ..]) = (message.starts_with("unknown field `"), &*names) {
        // What belongs to one run is no key on purpose.
        if ["site", "out", "force", "dry-run", "quiet", "config"].contains(wrong) {
            return format!("`{wrong}` can only be said on the command line");
        }
        return match nearest(wrong, known.iter().copied(), 1).first() {
            Some(near) => format!("unknown key `{wrong}`, did you mean `{near}`?"),
            // A table of the file has few keys.
            None if known.len() <= 10 => {
                format!("unknown key `{wrong}`, expected one of {}", known.join(", "))
            }
            None => format!("unknown key `{wrong}`; `fewer config` lists all keys"),
        };
    }
    if let (true, [wrong, known @ ..]) = (message.starts_with("unknown variant `"), &*names) {
        return match nearest(wrong, known.iter().copied(), 1).first() {
            Some(near) => format!("unknown value `{wrong}`, did you mean `{near}`?"),
            None => format!("unknown value `{wrong}`, expected one of {}", known.join(", ")),
        };
    }
    if message == "missing field `paths`" {
        return "this rule has no `paths` to hold for".to_owned();
    }
    let Some((found, expected)) = message
        .strip_prefix("invalid type: ")
        .and_then(|rest| rest.split_once(", expected "))
    else {
        return message.to_owned();
    };
    let expected = match expected {
        "i64" => "a whole number",
        "a string" | "path string" => "a text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list in [ ]",
        other => other,
    };
    format!("expected {expected}, found {found}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refuses(text: &str, place: (u32, u32), said: &str) {
        let fault = parse(text.as_bytes()).expect_err(text);
        let found = diagnostic::position(text.as_bytes(), fault.at);
        assert_eq!((found, &*fault.message), (place, said), "{text}");
    }

    #[test]
    fn keys_have_lines() {
        let text = "# mine\ninline-limit = 2048\nskip = [\n  'combine',\n]\n\n[[rule]]\npaths = ['manual/**']\n\
            keep = true\n[[rule]]\npaths = ['*.css']\nskip = ['minify', 'all']\ninline-limit = 0\n";
        let (settings, lines) = parse(text.as_bytes()).unwrap();
        let keys = [("inline-limit", 2), ("rule", 7), ("skip", 3)];
        assert_eq!(lines.keys, keys.map(|(key, line)| (key.to_owned(), line)).into());
        assert_eq!(lines.rules, [7, 10]);
        let options = settings.options().unwrap();
        assert_eq!(options.inline_limit, Some(2048));
        assert_eq!(options.skip, [crate::options::Pass::Combine]);
        assert!(options.rules[0].keep && options.rules[0].paths.is_match("manual/a/b.html"));
        assert!(!options.rules[1].paths.is_match("a/b.css"));
        assert_eq!(options.rules[1].skip, crate::options::Pass::ALL);
        assert_eq!(options.rules[1].inline_limit, Some(0));
        assert!(parse(b"").is_ok());
        assert!(parse(b"\xef\xbb\xbfthreads = 1\r\n").is_ok());
    }

    #[test]
    fn faults_are_said_in_the_words_of_the_file() {
        refuses(
            "inlin-limit = 1",
            (1, 1),
            "unknown key `inlin-limit`, did you mean `inline-limit`?",
        );
        refuses(
            "\n  inline_limit = 1",
            (2, 3),
            "unknown key `inline_limit`, did you mean `inline-limit`?",
        );
        refuses(
            "zebra = 1",
            (1, 1),
            "unknown key `zebra`; `fewer config` lists all keys",
        );
        refuses(
            "threads = 1\n[kitchen]\n",
            (2, 2),
            "unknown key `kitchen`; `fewer config` lists all keys",
        );
        refuses(
            "force = true",
            (1, 1),
            "`force` can only be said on the command line",
        );
        refuses(
            "[[rule]]\npaths = ['a']\nkep = true",
            (3, 1),
            "unknown key `kep`, did you mean `keep`?",
        );
        refuses(
            "[[rule]]\nkeep = true",
            (1, 1),
            "this rule has no `paths` to hold for",
        );
        refuses(
            "\n[[rule]]\npaths = []",
            (2, 1),
            "this rule has no `paths` to hold for",
        );
        refuses(
            "inline-limit = 'many'",
            (1, 16),
            "inline-limit: expected a whole number, found string \"many\"",
        );
        refuses(
            "inline-limit = -1",
            (1, 16),
            "inline-limit: expected a whole number, at least 0",
        );
        refuses(
            "gzip-level = 13",
            (1, 14),
            "gzip-level: expected a whole number from 1 to 12",
        );
        refuses(
            "blocking-factor = 1.5",
            (1, 19),
            "blocking-factor: expected a whole number, found floating point `1.5`",
        );
        refuses(
            "no-gzip = 1",
            (1, 11),
            "no-gzip: expected true or false, found integer `1`",
        );
        refuses(
            "skip = 'all'",
            (1, 8),
            "skip: expected a list in [ ], found string \"all\"",
        );
        refuses(
            "csp = [1]",
            (1, 8),
            "csp: expected a text in quotes, found integer `1`",
        );
        refuses(
            "report = 1",
            (1, 10),
            "report: expected a text in quotes, found integer `1`",
        );
        refuses(
            "skip = ['inline', 'combin']",
            (1, 19),
            "skip: unknown value `combin`, did you mean `combine`?",
        );
        refuses(
            "network = 'quic'",
            (1, 11),
            "network: unknown value `quic`, expected one of h1, h2, h3",
        );
        refuses(
            "viewport = 'wide'",
            (1, 12),
            "viewport: expected WIDTHxHEIGHT in CSS pixels, such as 1280x900",
        );
        refuses(
            "[[rule]]\npaths = ['a']\n[[rule]]\npaths = ['b', 'a[']",
            (4, 15),
            "paths: unclosed character class; missing ']'",
        );
    }

    #[test]
    fn files_that_are_no_toml() {
        let check = |bytes: &[u8], place| {
            let fault = parse(bytes).unwrap_err();
            assert_eq!(diagnostic::position(bytes, fault.at), place, "{}", fault.message);
            assert!(!fault.message.is_empty());
        };
        check(b"threads = 1\n\xff", (2, 1));
        check(b"threads = 1\nthreads = 2", (2, 1));
        check(b"threads = \n", (1, 11));
        check(b"threads 1", (1, 9));
        check(
            &b"x = "
                .iter()
                .chain([b'['; 100_000].iter())
                .copied()
                .collect::<Vec<u8>>(),
            (1, 85),
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_answered(text in "(([a-z-]{1,12}|\\[\\[?rule\\]?\\]|paths|skip|report) ?(= ?)?[\\PC\n'\"\\[\\]{},0-9]{0,12}\n){0,6}") {
            if let Err(fault) = parse(text.as_bytes()) {
                proptest::prop_assert!(fault.at <= text.len() && !fault.message.contains('\n'));
            }
        }
    }

    #[test]
    fn paths_are_meant_from_the_folder_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        disk::write_file(&path, b"report = 'r.json'\ntraffic = '/var/log/access.log'").unwrap();
        let file = read(&path).unwrap();
        let report = &file.settings.report.as_ref().unwrap()[0];
        assert_eq!(report.path, dir.path().join("r.json"));
        assert_eq!(file.settings.traffic, Some("/var/log/access.log".into()));
        assert_eq!(file.place("report"), Some(format!("{}:1", path.display())));
        assert_eq!(file.place("csp"), None);
        assert_eq!(file.rule(0), None);
    }
}
