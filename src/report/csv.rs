//! The table of pages as CSV (RFC 4180): one line a page, numbers without units, CRLF at the end of each line.
//!
//! The columns keep their order; new ones come last. A path that a spreadsheet would take for a formula is written
//! with `./` in front, which leads to the same page.

use std::io::{self, Write};

use super::text::clean;
use super::{Report, Views};

const COLUMNS: &str = "page,\
    first_requests_before,first_requests_after,\
    first_bytes_identity_before,first_bytes_identity_after,\
    first_bytes_gzip_before,first_bytes_gzip_after,\
    first_bytes_br_before,first_bytes_br_after,\
    follow_up_requests_before,follow_up_requests_after,\
    follow_up_bytes_identity_before,follow_up_bytes_identity_after,\
    follow_up_bytes_gzip_before,follow_up_bytes_gzip_after,\
    follow_up_bytes_br_before,follow_up_bytes_br_after,\
    runs_scripts\r\n";

/// Where nothing was built, what comes after stays empty.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(COLUMNS.as_bytes())?;
    for page in &report.pages {
        let mut line = field(&clean(&page.path.to_string()));
        let before = numbers(&page.before);
        let after = page.after.as_ref().map(numbers);
        for (i, number) in before.iter().enumerate() {
            line.push_str(&format!(",{number},"));
            if let Some(after) = &after {
                line.push_str(&after[i].to_string());
            }
        }
        line.push_str(if page.scripts { ",1" } else { ",0" });
        line.push_str("\r\n");
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn numbers(views: &Views) -> [u64; 8] {
    let of = |view: &super::View| [view.requests, view.bytes.identity, view.bytes.gzip, view.bytes.br];
    let ([a, b, c, d], [e, f, g, h]) = (of(&views.first), of(&views.follow_up));
    [a, b, c, d, e, f, g, h]
}

fn field(text: &str) -> String {
    let harmless = match text.starts_with(['=', '+', '-', '@']) {
        true => format!("./{text}"),
        false => text.to_owned(),
    };
    match harmless.contains([',', '"', ' ', ';']) {
        true => format!("\"{}\"", harmless.replace('"', "\"\"")),
        false => harmless,
    }
}
