//! `fewer` makes a built static site load with fewer requests and fewer bytes, and proves it.
//!
//! ```text
//! SITE ──site::read──▶ Site ──graph::link──▶ Graph ──plan::decide──▶ Plan ──output::write──▶ OUT
//!  (paths, types)        (pages, sheets, requests)  (edits, reasons, costs)     (files, variants)
//! ```
//!
//! Between linking and deciding the site may get another shape (`plan::shape`): combined sheets, images that moved
//! into them, small files that moved into pages. That gives another `Site`, whose files are SITE's with edits, and a
//! few more; it is linked like SITE itself, and the later stages cannot tell the difference.
//!
//! Behind the plan `names` decides under which names and on which host pages ask for files; pages are written with them
//! at the very end (`relink`), and what earlier deploys named is carried over (`previous`, `manifest`).
//!
//! Parsers find things and report byte spans; one pure step decides; the output is the original bytes with a
//! sorted list of edits applied. What is not fully understood stays byte for byte as it was.
//!
//! Beside this line stands `verify`: it opens SITE and OUT in a browser and compares what a reader would see.
//!
//! Invariants, stated as absences:
//! - only `disk` touches the file system, only `parallel` starts threads, only `url` turns a reference into a
//!   file or a file into a reference;
//! - the scanners (`html`, `css`, `view`) know nothing of files, options or plans;
//! - nothing is written to SITE, and OUT appears by one rename.

pub mod options;
pub mod traffic;
pub mod diagnostic;
pub mod disk;
pub mod parallel;
pub mod media;
pub mod site;
pub mod url;
pub mod charset;
pub mod edit;
pub mod html;
pub mod css;
pub mod script;
pub mod view;
pub mod policy;
pub mod integrity;
pub mod image;
pub mod encode;
pub mod cache;
pub mod variants;
pub mod measure;
pub mod graph;
pub mod plan;
mod rewrite;
mod relink;
mod names;
mod manifest;
mod headers;
mod previous;
pub mod output;
pub mod compare;
pub mod report;
pub mod build;
pub mod check;
pub mod explain;
pub mod deployed;
pub mod serve;
pub mod server_config;
pub mod verify;
mod nearest;
pub mod config;
pub mod cli;
