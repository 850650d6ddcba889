//! `_headers` for static hosts (Netlify, Cloudflare Pages): SITE's own rules, then how long files are fresh.
//!
//! Hosts negotiate codings, types and clean addresses themselves. They add up what several rules say, so no file may be met
//! by two rules about caching; a host's own default (ask on every view) is right for pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Context, Written};
use crate::deployed::{PRIVATE, media_type};
use crate::site::SitePath;

/// Cloudflare Pages reads no more rules than these; Netlify states no limit.
const MOST_RULES: usize = 100;

pub(super) fn write(context: &Context<'_>) -> anyhow::Result<Vec<Written>> {
    let deployed = context.deployed;
    let mut out = context.preface(
        "#",
        &[
            "_headers of a site that fewer built, for Netlify and Cloudflare Pages: put it into the site's folder.",
            "They pack files themselves; pages are asked for on every view, which is their default.",
        ],
    );
    let own = deployed.own_headers.trim();
    if !own.is_empty() {
        let _ = write!(out, "\n{own}\n");
    }
    let prefix = context.wishes.prefix.as_str();
    cors(&mut out, context);
    // Files that a rule of the site speaks about, or whose name would be a pattern, keep what they have.
    let is_ours = |path: &&SitePath| {
        let address = format!("/{path}");
        let is_plain = path
            .as_bytes()
            .iter()
            .all(|&b| b.is_ascii_alphanumeric() || b"-_./".contains(&b));
        let spoken_for = deployed
            .rules
            .of(&address, &address)
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("cache-control"));
        is_plain && !spoken_for
    };
    let is_page = |extension: &str| media_type::PAGES.contains(&extension);
    let mut rules: Vec<(String, String)> = Vec::new();
    let mut left = 0;
    for path in deployed.immutable.iter() {
        match is_ours(&path) {
            true => rules.push((format!("{prefix}{path}"), context.for_ever())),
            false => left += 1,
        }
    }
    // An extension of which all files are plain can have one rule; of a mixed one each file needs its own.
    let mut plain: BTreeMap<String, Vec<&SitePath>> = BTreeMap::new();
    let mut mixed: BTreeSet<String> = BTreeSet::new();
    for path in &deployed.files {
        let extension = path.extension();
        if deployed.immutable.contains(path) || !is_ours(&path) {
            mixed.insert(extension);
        } else if !is_page(&extension) && !deployed.is_variant(path) && !is_private(path) {
            plain.entry(extension).or_default().push(path);
        }
    }
    for (extension, paths) in &plain {
        let is_word = !extension.is_empty() && extension.bytes().all(|b| b.is_ascii_alphanumeric());
        if is_word && !mixed.contains(extension) && paths.len() > 1 {
            rules.push((format!("{prefix}*.{extension}"), context.fresh()));
        } else {
            rules.extend(
                paths
                    .iter()
                    .map(|path| (format!("{prefix}{path}"), context.fresh())),
            );
        }
    }
    let room = MOST_RULES.saturating_sub(deployed.rules.0.len());
    if rules.len() > room {
        let _ = write!(
            out,
            "\n# {} more files than the {MOST_RULES} rules that Cloudflare Pages reads: those are asked for on every view.\n",
            rules.len() - room
        );
        rules.truncate(room);
    }
    if left > 0 {
        let _ = write!(
            out,
            "\n# {left} immutable names keep what the rules above say of them.\n"
        );
    }
    for (path, value) in rules {
        let _ = write!(out, "\n{path}\n  Cache-Control: {value}\n");
    }
    Ok(vec![Written {
        name: "_headers",
        text: out,
    }])
}

/// For files that pages of another host ask for. Hosts add up what several rules say, and two of these
/// headers in one answer are as good as none.
fn cors(out: &mut String, context: &Context<'_>) {
    let deployed = context.deployed;
    for extension in &deployed.cors {
        let is_theirs = |path: &&SitePath| path.as_bytes().ends_with(format!(".{extension}").as_bytes());
        let says_it = |path: &SitePath| {
            let address = format!("/{path}");
            let all = deployed.rules.of(&address, &address);
            all.iter()
                .any(|(name, value)| name.eq_ignore_ascii_case("access-control-allow-origin") && value != "*")
        };
        let pattern = format!("{}*.{extension}", context.wishes.prefix);
        if deployed.files.iter().filter(is_theirs).any(says_it) {
            let _ = write!(
                out,
                "\n# Not said of {pattern}, as the site says it otherwise above: Access-Control-Allow-Origin: *\n"
            );
        } else {
            let _ = write!(out, "\n{pattern}\n  Access-Control-Allow-Origin: *\n");
        }
    }
}

fn is_private(path: &SitePath) -> bool {
    PRIVATE.iter().any(|name| name.as_bytes() == path.as_bytes())
}
