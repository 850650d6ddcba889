//! What settings mean: options for the stages, levels of diagnostics, limits of budgets. Files that they name are read
//! here (traffic, budgets, the baseline); nothing else is.

use std::path::Path;

use globset::Glob;

use super::super::budget::BudgetSource;
use super::super::value::{self, Checked, Measure, Number, Skip};
use super::{RuleSettings, Settings};
use crate::encode::{Coding, Effort};
use crate::options::{Options, Rule};
use crate::report::baseline::{self, Allowance};
use crate::report::budget::{self, Budgets};
use crate::report::{Codes, Levels, lighthouse};
use crate::traffic;

impl Settings {
    /// What is meant. Reads the traffic, if there is some.
    pub fn options(&self) -> anyhow::Result<Options> {
        // Said in full, so that a setting without effect is a warning of the compiler.
        let Settings {
            inline_limit,
            skip,
            combine_scripts,
            targets,
            prefer,
            network,
            pages_per_visit,
            blocking_factor,
            traffic,
            fingerprint,
            keep_previous,
            cdn,
            cdn_cors,
            sri,
            link_headers,
            write_policy,
            effort,
            gzip_level,
            brotli_quality,
            zstd,
            zstd_level,
            cache: _,
            no_cache: _,
            cache_limit: _,
            memory,
            no_gzip,
            no_brotli,
            min_size,
            encode_types,
            measure,
            include,
            exclude,
            base_url,
            csp,
            entry,
            charset,
            viewport,
            request_overhead,
            threads,
            rule,
            // For the command itself, not for a stage.
            max_requests: _,
            deny: _,
            allow: _,
            budget: _,
            budget_coding: _,
            baseline: _,
            max_growth: _,
            journey: _,
            report: _,
            annotations: _,
            verbose: _,
            color: _,
        } = self;
        let root = base_url.as_ref().map_or("/", |url| url.value.path());
        let traffic = traffic.as_ref().map(|path| traffic::read_below(path, root));
        let globs = |globs: &Option<Vec<Checked<Glob>>>| value::set(globs.as_deref().unwrap_or_default());
        let rules = rule.iter().flatten().map(RuleSettings::rule);
        let or = Options::defaults();
        let effort = effort.unwrap_or(Effort::Default);
        let level = |coding, off: bool, level: Option<u32>| match off {
            true => None,
            false => level.or(Some(effort.level(coding))),
        };
        let is_off = |no: &Option<bool>| *no == Some(true);
        let no_zstd = !zstd.unwrap_or(or.zstd_level.is_some());
        Ok(Options {
            inline_limit: inline_limit.map(Number::get).or(or.inline_limit),
            skip: skip.as_deref().map_or(or.skip, Skip::passes),
            combine_scripts: combine_scripts.unwrap_or(or.combine_scripts),
            targets: targets.as_ref().map(|targets| targets.value),
            prefer: prefer.unwrap_or(or.prefer),
            network: network.unwrap_or(or.network),
            pages_per_visit: pages_per_visit.map_or(or.pages_per_visit, Number::small),
            blocking_factor: blocking_factor.map_or(or.blocking_factor, Number::small),
            traffic: traffic.transpose()?,
            fingerprint: fingerprint.unwrap_or(or.fingerprint),
            keep_previous: keep_previous.clone().or(or.keep_previous),
            cdn: cdn.as_ref().map(|cdn| cdn.value.as_str().to_owned()).or(or.cdn),
            cdn_cors: cdn_cors.unwrap_or(or.cdn_cors),
            sri: sri.unwrap_or(or.sri),
            link_headers: link_headers.unwrap_or(or.link_headers),
            writes_policy: write_policy.is_some(),
            gzip_level: level(Coding::Gzip, is_off(no_gzip), gzip_level.map(Number::small)),
            brotli_quality: level(
                Coding::Brotli,
                is_off(no_brotli),
                brotli_quality.map(Number::small),
            ),
            zstd_level: level(Coding::Zstd, no_zstd, zstd_level.map(Number::small)),
            // Opened by the command: no stage asks for it by name.
            cache: or.cache,
            memory: memory.map_or(or.memory, |memory| memory.get() << 20),
            min_size: min_size.map_or(or.min_size, Number::get),
            encode_types: encode_types.as_deref().map_or(or.encode_types, extensions),
            measure_full: measure.map_or(or.measure_full, |measure| measure == Measure::Full),
            include: globs(include)?,
            exclude: globs(exclude)?,
            base_url: base_url.as_ref().map(|url| url.text.clone()),
            csp: csp
                .as_ref()
                .map_or(or.csp, |list| list.iter().map(|csp| csp.text.clone()).collect()),
            entry: entry.clone().or(or.entry),
            charset: charset.as_ref().map(|charset| charset.text.clone()),
            viewport: viewport.as_ref().map_or(or.viewport, |v| (v.value.0, v.value.1)),
            request_overhead: request_overhead.map_or(or.request_overhead, Number::get),
            threads: threads.map_or(or.threads, |threads| threads.small() as usize),
            rules: rules.collect::<anyhow::Result<_>>()?,
            force: or.force,
        })
    }

    /// What is denied and allowed.
    pub fn levels(&self) -> anyhow::Result<Levels> {
        let list =
            |codes: &Option<Vec<Checked<Codes>>>| codes.iter().flatten().map(|code| code.value).collect();
        Levels::new(list(&self.deny), list(&self.allow))
    }

    /// Paths of a file that says these settings are meant from that file's folder.
    pub fn from_folder(mut self, folder: &Path) -> Settings {
        for path in [
            &mut self.traffic,
            &mut self.baseline,
            &mut self.keep_previous,
            &mut self.write_policy,
            &mut self.cache,
        ]
        .into_iter()
        .flatten()
        {
            *path = folder.join(&*path);
        }
        let report = self
            .report
            .into_iter()
            .flatten()
            .map(|to| to.below(folder))
            .collect();
        self.report = Some(report).filter(|list: &Vec<_>| !list.is_empty());
        let budget = self
            .budget
            .into_iter()
            .flatten()
            .map(|from| from.below(folder))
            .collect();
        self.budget = Some(budget).filter(|list: &Vec<_>| !list.is_empty());
        self
    }

    /// The limits that are meant, and what of them cannot be checked. Reads the files that they stand in. `place`:
    /// where the n-th table of `fewer.toml` stands.
    pub fn budgets(&self, place: impl Fn(usize) -> Option<String>) -> anyhow::Result<(Budgets, Vec<String>)> {
        let coding = self.budget_coding.unwrap_or(budget::Coding::Br);
        let mut budgets = Budgets {
            max_requests: self.max_requests.map(Number::small),
            ..Budgets::default()
        };
        let mut notes = Vec::new();
        for (nth, source) in self.budget.iter().flatten().enumerate() {
            match source {
                BudgetSource::File(path) => {
                    let (tables, found) = lighthouse::read(path, coding)?;
                    budgets.tables.extend(tables);
                    notes.extend(found);
                }
                BudgetSource::Table(table) => {
                    let source = place(nth).unwrap_or_default();
                    budgets.tables.push(table.budget(coding, source)?);
                }
            }
        }
        if let Some(path) = &self.baseline {
            budgets.baseline = Some(Allowance {
                baseline: baseline::read(path)?,
                growth: self.max_growth.map_or(0, Number::get),
                coding,
            });
        }
        Ok((budgets, notes))
    }
}

impl RuleSettings {
    fn rule(&self) -> anyhow::Result<Rule> {
        Ok(Rule {
            paths: value::set(&self.paths)?.unwrap_or_default(),
            keep: self.keep.unwrap_or(false),
            skip: Skip::passes(self.skip.as_deref().unwrap_or_default()),
            inline_limit: self.inline_limit.map(Number::get),
        })
    }
}

/// The list that is meant: without `+` in place of the built-in one, with `+` beside it.
fn extensions(list: &[String]) -> Vec<String> {
    let extension = |text: &&String| text.trim_start_matches(['+', '.']).to_ascii_lowercase();
    let (added, listed): (Vec<&String>, Vec<&String>) = list.iter().partition(|text| text.starts_with('+'));
    let mut all = match listed.is_empty() && !added.is_empty() {
        true => Options::defaults().encode_types,
        false => listed.iter().map(extension).collect(),
    };
    all.extend(added.iter().map(extension));
    all
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    #[test]
    fn defaults_said_in_settings_mean_the_defaults() {
        let meant = Settings::defaults().options().unwrap();
        assert_eq!(format!("{meant:?}"), format!("{:?}", Options::defaults()));
        let nothing = Settings::default().options().unwrap();
        assert_eq!(format!("{nothing:?}"), format!("{:?}", Options::defaults()));
    }

    #[test]
    fn levels_win_over_the_effort() {
        let check = |effort, gzip_level: Option<u32>, zstd, expected: [Option<u32>; 3]| {
            let settings = Settings {
                effort,
                gzip_level: gzip_level.map(|level| Number::near(level.into())),
                zstd,
                ..Settings::default()
            };
            let meant = settings.or(Settings::defaults()).options().unwrap();
            let levels = [meant.gzip_level, meant.brotli_quality, meant.zstd_level];
            assert_eq!(levels, expected, "{effort:?} {gzip_level:?} {zstd:?}");
        };
        check(None, None, None, [Some(13), Some(11), None]);
        check(Some(Effort::Fast), None, Some(true), [Some(9), Some(9), Some(12)]);
        check(Some(Effort::Fast), Some(12), None, [Some(12), Some(9), None]);
        check(
            Some(Effort::Max),
            Some(1),
            Some(true),
            [Some(1), Some(12), Some(22)],
        );
    }

    #[test]
    fn every_flag_is_a_key_and_every_key_but_rules_a_flag() {
        let flags = Settings::augment_args(clap::Command::new("test"));
        let mut flags: Vec<&str> = flags.get_arguments().filter_map(clap::Arg::get_long).collect();
        flags.push("rule");
        flags.sort_unstable();
        // An unknown key makes serde list the known ones.
        let error = toml::from_str::<Settings>("zebra = 1").unwrap_err();
        let mut keys: Vec<&str> = error.message().split('`').skip(3).step_by(2).collect();
        keys.sort_unstable();
        assert_eq!(flags, keys);
    }

    #[test]
    fn lists_of_extensions() {
        let check = |list: &[&str], length: usize, last: Option<&str>| {
            let list: Vec<String> = list.iter().map(|t| (*t).to_owned()).collect();
            let all = extensions(&list);
            assert_eq!(
                (all.len(), all.last().map(String::as_str)),
                (length, last),
                "{list:?}"
            );
        };
        let built_in = Options::defaults().encode_types.len();
        check(&[], 0, None);
        check(&[".FOO"], 1, Some("foo"));
        check(&["+foo"], built_in + 1, Some("foo"));
        check(&["+bar", "foo"], 2, Some("bar"));
    }
}
