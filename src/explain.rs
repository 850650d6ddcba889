//! `fewer explain SITE PATH`: what a build decides about one file, and why, in words for a terminal of 80 columns.
//!
//! Reads, links and decides as a dry run does. This file finds out which file is meant; `text` says what is to say of
//! it. Nothing is written.

mod text;

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::build::{self, Progress};
use crate::graph;
use crate::nearest::nearest;
use crate::options::Options;
use crate::site::{self, FileId, Site};
use crate::{disk, traffic, url};

/// `path`: in SITE, from the current folder (`SITE/img/logo.png`), or as a URL path (`/img/logo.png`).
pub fn explain(
    root: &Path,
    options: &Options,
    path: &Path,
    progress: Progress<'_>,
) -> anyhow::Result<String> {
    progress("reading");
    let (site, mut diagnostics) = site::read(root, options)?;
    let file = find(&site, root, options, path)?;
    progress("linking");
    let (graph, found) = graph::link(&site, options)?;
    diagnostics.extend(found);
    progress("deciding");
    let report = build::forecast(&site, &graph, diagnostics, options)?;
    Ok(text::text(&site, &graph, &report, file))
}

/// The file that is meant.
fn find(site: &Site, root: &Path, options: &Options, path: &Path) -> anyhow::Result<FileId> {
    let names = names(site, root, options, path)?;
    let find = |name: &Vec<u8>| {
        let index = || site.find(&[name.as_slice(), b"index.html"].concat());
        let in_folder = || site.find(&[name.as_slice(), b"/index.html"].concat());
        match name.as_slice() {
            [] | [.., b'/'] => index(),
            _ => site.find(name).or_else(in_folder),
        }
    };
    if let Some(file) = names.iter().find_map(find) {
        return Ok(file);
    }
    let shown = disk::shown(path);
    let bare = |name: &Vec<u8>| name.strip_suffix(b"/").unwrap_or(name).to_vec();
    anyhow::ensure!(
        !names.iter().any(|name| site.has_folder(&bare(name))),
        "{shown} is a folder without index.html: name a file in it"
    );
    let all: Vec<String> = site.files.iter().map(|file| file.path.to_string()).collect();
    match like(&names, &all).as_slice() {
        [] => anyhow::bail!("{shown}: SITE has no such file"),
        near => anyhow::bail!(
            "{shown}: SITE has no such file; did you mean {}?",
            near.join(", ")
        ),
    }
}

/// Up to three paths that look like one of the names, or have it in some folder.
fn like<'a>(names: &[Vec<u8>], all: &'a [String]) -> Vec<&'a str> {
    let names: Vec<_> = names.iter().map(|name| String::from_utf8_lossy(name)).collect();
    let near = |name: &str| nearest(name, all.iter().map(String::as_str), 3);
    let in_folder = |name: &str| -> Vec<&str> {
        let is_end = |path: &&str| path.strip_suffix(name).is_some_and(|rest| rest.ends_with('/'));
        let all = all.iter().map(String::as_str);
        all.filter(is_end).take(3).collect()
    };
    let found = names.iter().map(|name| near(name));
    let found = found.chain(names.iter().map(|name| in_folder(name)));
    found
        .into_iter()
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// The paths in SITE that may be meant, most literal first; the last one is that of a URL.
fn names(site: &Site, root: &Path, options: &Options, path: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    let mut names = Vec::new();
    if !path.is_absolute() {
        names.push(bytes(path.strip_prefix(".").unwrap_or(path)));
    }
    names.extend(path.strip_prefix(root).ok().map(bytes));
    if let Ok(real) = disk::real(path)
        && let Ok(below) = real.strip_prefix(&site.root)
    {
        names.push(bytes(below));
    }
    let mount = url::mount(options.base_url.as_deref())?;
    let mut text = path.as_os_str().as_bytes();
    if let Some(at) = text.iter().position(|b| matches!(b, b'?' | b'#')) {
        text = &text[..at];
    }
    let decoded = traffic::percent_decoded(text);
    let below = decoded.strip_prefix(mount.path().as_bytes());
    names.extend(below.map(<[u8]>::to_vec));
    let plain = decoded.strip_prefix(b"/").unwrap_or(&decoded);
    names.push(plain.strip_prefix(b"./").unwrap_or(plain).to_vec());
    Ok(names)
}
