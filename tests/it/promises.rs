//! What every build promises, whatever the site: checked on the folders and on the report.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::command::Tree;

/// No page makes more requests than before, on neither view.
pub(crate) fn no_more_requests(report: &Value) {
    for page in pages(report) {
        for view in ["first", "follow_up"] {
            let count = |side: &str| {
                page[side][view]["requests"]
                    .as_u64()
                    .expect("a number of requests")
            };
            let (before, after) = (count("before"), count("after"));
            assert!(
                after <= before,
                "{}: {before} requests became {after} ({view})",
                page["path"]
            );
        }
    }
}

/// No page takes more bytes, as gzip or brotli, on its first view or on a visit: the entry page's first view and
/// then this page's follow-up view.
pub(crate) fn no_more_bytes(report: &Value) {
    let entry = pages(report).iter().find(|page| page["path"] == report["entry"]);
    for page in pages(report) {
        for coding in ["gzip", "br"] {
            let bytes = |page: &Value, side: &str, view: &str| {
                page[side][view]["bytes"][coding]
                    .as_u64()
                    .expect("a number of bytes")
            };
            let (before, after) = (bytes(page, "before", "first"), bytes(page, "after", "first"));
            assert!(
                after <= before,
                "{}: {before} {coding} bytes became {after}",
                page["path"]
            );
            let Some(entry) = entry else { continue };
            let visit = |side: &str| bytes(entry, side, "first") + bytes(page, side, "follow_up");
            let (before, after) = (visit("before"), visit("after"));
            assert!(
                after <= before,
                "{}: a visit of {before} {coding} bytes became {after}",
                page["path"]
            );
        }
    }
}

/// Every file of SITE is in OUT under its old path; what is not a variant of a file of SITE is new on purpose.
pub(crate) fn nothing_lost(site: &Tree, out: &Tree) {
    let lost: Vec<&String> = site.keys().filter(|path| !out.contains_key(*path)).collect();
    // A variant that SITE brings may go with its file; an archive that stands alone may not.
    let lost: Vec<_> = lost
        .into_iter()
        .filter(|path| plain_name(path).is_none_or(|p| !site.contains_key(p)))
        .collect();
    assert!(lost.is_empty(), "not in OUT: {lost:?}");
}

/// Every variant unpacks to the file beside it, is smaller, comes with its sibling, and shares time and mode.
pub(crate) fn variants_fit(out: &Tree) {
    for (path, variant) in out {
        let Some(plain) = plain_name(path).and_then(|plain| out.get(plain)) else {
            continue;
        };
        let unpacked = unpack(path, &variant.bytes, plain.bytes.len());
        assert!(
            unpacked.as_ref() == Some(&plain.bytes),
            "{path} does not unpack to its neighbour"
        );
        assert!(
            variant.bytes.len() < plain.bytes.len(),
            "{path} is not smaller than its neighbour"
        );
        assert!(
            variant.modified == plain.modified,
            "{path} has another time than its neighbour"
        );
        assert!(
            variant.readonly == plain.readonly,
            "{path} has another mode than its neighbour"
        );
    }
}

/// References that lead nowhere in OUT led nowhere in SITE.
pub(crate) fn no_new_holes(site_report: &Value, out_report: &Value) {
    let holes = |report: &Value| -> BTreeSet<(String, String)> {
        let diagnostics = report["diagnostics"].as_array().expect("a list of diagnostics");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let missing = diagnostics
            .iter()
            .filter(|d| d["code"] == "missing-file" || d["code"] == "outside-root");
        missing.map(|d| (text(&d["file"]), text(&d["message"]))).collect()
    };
    let (before, after) = (holes(site_report), holes(out_report));
    let new: Vec<_> = after.difference(&before).collect();
    assert!(new.is_empty(), "new holes: {new:?}");
}

pub(crate) fn pages(report: &Value) -> &Vec<Value> {
    report["pages"].as_array().expect("a report lists its pages")
}

/// The file that a variant belongs to.
pub(crate) fn plain_name(path: &str) -> Option<&str> {
    [".gz", ".br", ".zst"]
        .iter()
        .find_map(|suffix| path.strip_suffix(suffix))
}

fn unpack(path: &str, bytes: &[u8], size: usize) -> Option<Vec<u8>> {
    // One byte more than expected, so that a longer content does not pass.
    let mut plain = vec![0; size + 1];
    let length = if path.ends_with(".gz") {
        libdeflater::Decompressor::new()
            .gzip_decompress(bytes, &mut plain)
            .ok()?
    } else if path.ends_with(".zst") {
        // By the library's own limit, which is that of the `zstd` program.
        return zstd::bulk::decompress(bytes, size + 1).ok();
    } else {
        let mut reader = brotlic::DecompressorReader::new(bytes);
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut reader, &mut content).ok()?;
        return Some(content);
    };
    plain.truncate(length);
    Some(plain)
}
