//! What stands in OUT beside the files of the draft: files of earlier deploys, the manifest, `_headers`.

use std::collections::BTreeSet;
use std::time::SystemTime;

use super::Draft;
use crate::diagnostic::Diagnostic;
use crate::disk::Staging;
use crate::graph::Graph;
use crate::manifest::{self, Manifest};
use crate::names::{self, Names};
use crate::options::Options;
use crate::plan::Bans;
use crate::policy;
use crate::previous;
use crate::site::{Site, SitePath};
use crate::url::{self, Mirror};

/// The names of a draft.
pub(super) fn names(site: &Site, draft: &Draft<'_>, options: &Options, bans: &Bans) -> anyhow::Result<Names> {
    names::decide(names::Ground {
        source: site,
        site: draft.site,
        graph: draft.graph,
        plan: draft.plan,
        options,
        banned: &bans.names,
    })
}

/// The other host as a reader of OUT has to know it.
pub(super) fn mirror(site: &Site, names: &Names, options: &Options) -> Option<Mirror> {
    Some(Mirror {
        root: options.cdn.clone()?,
        files: names.away(site).into(),
    })
}

/// The policy that OUT needs. Another host is another host here, whatever it serves.
pub(super) fn policy(out: &Site, graph: &Graph, options: &Options) -> anyhow::Result<String> {
    policy::needed(out, graph, &url::mount(options.base_url.as_deref())?)
}

/// Writes it all; what earlier deploys named counts as named by this one.
pub(super) fn write(
    site: &Site,
    draft: &Draft<'_>,
    names: &Names,
    staging: &Staging,
    options: &Options,
) -> anyhow::Result<Vec<Diagnostic>> {
    let mut manifest = names.manifest(draft.site);
    inherit(site, &mut manifest)?;
    let mut diagnostics = Vec::new();
    if let Some(old) = &options.keep_previous {
        let carried = previous::carry(old, &manifest, staging, options)?;
        manifest.immutable.extend(carried.paths);
        manifest.cors.extend(carried.cors);
        diagnostics.extend(carried.diagnostics);
    }
    let (modified, mode) = newest(draft);
    if let Some(headers) = &names.headers {
        staging.write(&SitePath::new("_headers"), headers, modified, mode)?;
    }
    if !names.no_manifest && !manifest.is_empty() {
        let bytes = manifest.print()?;
        staging.write(&SitePath::new(manifest::NAME), &bytes, modified, mode)?;
    }
    Ok(diagnostics)
}

/// Old names that SITE's manifest has of an earlier build, where both files are still there.
fn inherit(site: &Site, manifest: &mut Manifest) -> anyhow::Result<()> {
    let Some(before) = manifest::of_site(site)? else {
        return Ok(());
    };
    let is_there = |path: &SitePath, all: &BTreeSet<SitePath>| {
        site.find(path.as_bytes()).is_some() || all.contains(path)
    };
    for (old, new) in before.files {
        if manifest.immutable.contains(&new) && is_there(&old, &manifest.immutable) {
            manifest.files.entry(old).or_insert(new);
        }
    }
    Ok(())
}

/// The newest time of the site, and the mode of its first file.
fn newest(draft: &Draft<'_>) -> (SystemTime, u32) {
    let times = draft.site.files.iter().map(|file| file.modified);
    let mode = draft.site.files.first().map_or(0o644, |file| file.mode);
    (times.fold(SystemTime::UNIX_EPOCH, SystemTime::max), mode)
}
