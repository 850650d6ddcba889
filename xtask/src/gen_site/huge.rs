//! Sites with one file that is far larger than any real one: what is quadratic shows there.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::bail;

use super::{Random, icon, put};

/// `size`: megabytes or thousands, as the kind counts; 0 is what the scale table has.
pub(super) fn write(kind: &str, size: u64, out: &Path) -> anyhow::Result<()> {
    let or = |usual: u64| if size == 0 { usual } else { size };
    let (head, body, sheet) = match kind {
        "page" => (String::new(), long_text(or(50) << 20), String::new()),
        "sheet" => (LINK.to_owned(), long_text(1000), long_sheet(or(20) << 20)),
        "selectors" => (LINK.to_owned(), long_text(100_000), selectors(or(100) * 1000)),
        "images" => (String::new(), images(or(100) * 1000), String::new()),
        _ => bail!("--huge {kind}: expected page, sheet, selectors or images"),
    };
    let text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{kind}</title>\n{head}</head>\n\
         <body>\n{body}</body>\n</html>\n"
    );
    put(out, "index.html", &text)?;
    if !sheet.is_empty() {
        put(out, "site.css", &sheet)?;
    }
    for nth in 0..ICONS {
        put(out, &format!("img/{nth}.svg"), &icon(nth))?;
    }
    println!("{kind} in {}", out.display());
    Ok(())
}

const LINK: &str = "<link rel=\"stylesheet\" href=\"site.css\">\n";

/// Different images that the pages show.
const ICONS: u64 = 200;

fn long_text(bytes: u64) -> String {
    let mut random = Random::new(1);
    let mut out = String::new();
    while (out.len() as u64) < bytes {
        let (class, id) = (random.below(5000), out.len());
        let _ = writeln!(
            out,
            "<p class=\"c{class}\" id=\"p{id}\">{} <b>{}</b></p>",
            random.words(30),
            random.words(3)
        );
    }
    out
}

fn long_sheet(bytes: u64) -> String {
    let mut random = Random::new(2);
    let mut out = String::new();
    while (out.len() as u64) < bytes {
        let (class, nth) = (random.below(5000), random.below(ICONS));
        let _ = writeln!(
            out,
            ".c{class} > b {{ margin: {}px; color: #{:06x} }}",
            random.below(90),
            random.below(1 << 24)
        );
        if out.len().is_multiple_of(50) {
            let _ = writeln!(out, ".d{class} {{ background: url(img/{nth}.svg) }}");
        }
    }
    out
}

fn selectors(count: u64) -> String {
    let mut random = Random::new(3);
    let mut out = String::new();
    for nth in 0..count {
        let _ = match nth % 4 {
            0 => writeln!(out, ".c{nth} {{ top: {}px }}", random.below(99)),
            1 => writeln!(out, "p.c{} b {{ left: {}px }}", nth % 5000, random.below(99)),
            2 => writeln!(out, "#p{nth} > b {{ color: #{:06x} }}", random.below(1 << 24)),
            _ => writeln!(out, "p[class~=c{}]:first-child {{ width: {nth}px }}", nth % 5000),
        };
    }
    out
}

fn images(count: u64) -> String {
    let mut random = Random::new(4);
    let mut out = String::new();
    for nth in 0..count {
        let icon = random.below(ICONS);
        let _ = writeln!(
            out,
            "<img src=\"img/{icon}.svg\" width=\"16\" height=\"16\" alt=\"{nth}\">"
        );
    }
    out
}
