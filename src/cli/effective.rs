//! The values in effect: a flag wins over the file, the file over the default; and where each came from.

use std::fmt::Write as _;

use clap::Args as _;
use toml::{Table, Value};

use super::settings::Settings;
use crate::config::{self, File};
use crate::report::Budgets;

/// Settings of which nothing is left unsaid that has a default.
#[derive(Debug)]
pub struct Effective {
    pub settings: Settings,
    /// Keys that were typed as flags.
    typed: Table,
    file: Option<File>,
}

impl Effective {
    pub fn new(typed: &Settings, file: Option<File>) -> anyhow::Result<Effective> {
        let from_file = file
            .as_ref()
            .map(|file| file.settings.clone())
            .unwrap_or_default();
        Ok(Effective {
            settings: typed.clone().or(from_file).or(Settings::defaults()),
            typed: table(typed)?,
            file,
        })
    }

    /// The name of a setting in a message about its value: as the one who said it knows it.
    pub fn name(&self, key: &str) -> String {
        match self.file.as_ref().and_then(|file| file.place(key)) {
            Some(place) if !self.typed.contains_key(key) => format!("{place}: {key}"),
            _ => format!("--{key}"),
        }
    }

    /// The limits that are in effect, and what of them cannot be checked.
    pub fn budgets(&self) -> anyhow::Result<(Budgets, Vec<String>)> {
        let place = |nth| self.file.as_ref().and_then(|file| file.budget(nth));
        self.settings.budgets(place)
    }

    fn source(&self, key: &str) -> String {
        if self.typed.contains_key(key) {
            return format!("--{key}");
        }
        let place = self.file.as_ref().and_then(|file| file.place(key));
        place.unwrap_or_else(|| "default".to_owned())
    }

    /// All values as TOML, under the headings of the help text. What has no value is a comment.
    pub fn print(&self) -> anyhow::Result<String> {
        let values = table(&self.settings)?;
        let flags = Settings::augment_args(clap::Command::new(config::NAME));
        let mut out = String::new();
        let mut heading = None;
        for arg in flags.get_arguments() {
            let Some(key) = arg.get_long() else { continue };
            if arg.get_help_heading() != heading {
                heading = arg.get_help_heading();
                let gap = if out.is_empty() { "" } else { "\n" };
                writeln!(out, "{gap}# {}", heading.unwrap_or_default())?;
            }
            match values.get(key) {
                Some(value) => writeln!(out, "{key} = {value}  # {}", self.source(key))?,
                None => writeln!(out, "# {key} is not set  # default")?,
            }
        }
        let rules = values.get("rule").and_then(Value::as_array);
        for (nth, rule) in rules.into_iter().flatten().enumerate() {
            let place = self.file.as_ref().and_then(|file| file.rule(nth));
            writeln!(out, "\n[[rule]]  # {}", place.unwrap_or_default())?;
            for (key, value) in rule.as_table().into_iter().flatten() {
                writeln!(out, "{key} = {value}")?;
            }
        }
        Ok(out)
    }
}

/// What is said, by key.
pub(super) fn table(settings: &Settings) -> anyhow::Result<Table> {
    Ok(Table::try_from(settings)?)
}
