//! `[budget]` and `[[budget]]` of `fewer.toml`, `--budget FILE`, and what becomes of them.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use globset::Glob;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::value::{self, Bytes, Checked};
use crate::report::Content;
use crate::report::budget::{Budget, Coding, Limit, Metric, Part, Per, Scope, Unit, Which};

/// One entry of the key `budget`.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum BudgetSource {
    /// A budget file of Lighthouse.
    File(PathBuf),
    Table(Box<BudgetSettings>),
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BudgetSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<Checked<Glob>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per: Option<Per>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coding: Option<Coding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<ViewSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow_up: Option<ViewSettings>,
}

/// Limits of a view, all requests together and by type.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ViewSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<PartSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub css: Option<PartSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub js: Option<PartSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<PartSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font: Option<PartSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<PartSettings>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PartSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
}

impl BudgetSource {
    /// Meant from a folder.
    pub fn below(self, folder: &Path) -> BudgetSource {
        match self {
            BudgetSource::File(path) => BudgetSource::File(folder.join(path)),
            table => table,
        }
    }
}

impl From<OsString> for BudgetSource {
    fn from(path: OsString) -> BudgetSource {
        BudgetSource::File(path.into())
    }
}

impl<'de> Deserialize<'de> for BudgetSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BudgetSource, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = BudgetSource;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table, or the name of a file")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<BudgetSource, E> {
                Ok(BudgetSource::File(text.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<BudgetSource, A::Error> {
                let table = BudgetSettings::deserialize(MapAccessDeserializer::new(map))?;
                if table.limits(Coding::Br).is_empty() {
                    return Err(serde::de::Error::custom(
                        "this budget sets no limit, such as `first.requests = 20`",
                    ));
                }
                Ok(BudgetSource::Table(Box::new(table)))
            }
        }

        // Both forms describe themselves.
        deserializer.deserialize_any(Either)
    }
}

impl BudgetSettings {
    /// `coding`: of tables that name none. `source`: for messages.
    pub fn budget(&self, coding: Coding, source: String) -> anyhow::Result<Budget> {
        let coding = self.coding.unwrap_or(coding);
        let globs = value::set(self.paths.as_deref().unwrap_or_default())?;
        Ok(Budget {
            source: source.into(),
            scope: globs.map_or(Scope::All, Scope::Globs),
            per: self.per.unwrap_or(Per::Page),
            coding,
            limits: self.limits(coding),
        })
    }

    fn limits(&self, coding: Coding) -> Vec<Limit> {
        let mut limits = Vec::new();
        for (view, settings) in [(Which::First, self.first), (Which::FollowUp, self.follow_up)] {
            for (part, settings) in settings.unwrap_or_default().parts() {
                let numbers = [
                    (Unit::Requests, settings.requests),
                    (Unit::Bytes(coding), settings.bytes),
                ];
                for (unit, most) in numbers {
                    limits.extend(most.map(|most| Limit {
                        metric: Metric { view, part, unit },
                        most: most.get(),
                    }));
                }
            }
        }
        limits
    }
}

impl ViewSettings {
    fn parts(self) -> impl Iterator<Item = (Part, PartSettings)> {
        let all = PartSettings {
            requests: self.requests,
            bytes: self.bytes,
        };
        let parts = [
            (Part::All, Some(all)),
            (Part::One(Content::Html), self.html),
            (Part::One(Content::Css), self.css),
            (Part::One(Content::Js), self.js),
            (Part::One(Content::Image), self.image),
            (Part::One(Content::Font), self.font),
            (Part::Rest, self.other),
        ];
        parts
            .into_iter()
            .filter_map(|(part, settings)| Some((part, settings?)))
    }
}
