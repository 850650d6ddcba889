//! `cargo xtask gen --pages N --out DIR`: sites of any size that look like real ones, the same bytes each time.
//!
//! A site is a documentation of N pages in folders of 100: each page has a head with two stylesheets and a script, a
//! banner, a menu of its folder with icons, 1 to 5 kB of text in sections, code, a table or an image now and then, and
//! a way on. `--bytes B` asks for larger or smaller texts. `--huge KIND` makes one file that is large instead:
//! `page` (a page of `--size` MB), `sheet` (a stylesheet of so many MB), `selectors` (so many thousand in one sheet),
//! `images` (so many thousand on one page).

mod huge;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

/// Pages of a folder.
const FOLDER: u64 = 100;

/// Icons that all pages show.
const ICONS: [&str; 12] = [
    "home", "up", "back", "next", "note", "tip", "warn", "find", "print", "mail", "feed", "edit",
];

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let (mut pages, mut bytes, mut size) = (1000, 3000, 0);
    let (mut out, mut kind) = (None, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = args.next().with_context(|| format!("{arg} needs a value"))?;
        let number = || {
            value
                .parse::<u64>()
                .with_context(|| format!("{arg} {value}: expected a whole number"))
        };
        match arg.as_str() {
            "--pages" => pages = number()?,
            "--bytes" => bytes = number()?,
            "--size" => size = number()?,
            "--huge" => kind = Some(value.as_str()),
            "--out" => out = Some(PathBuf::from(value)),
            _ => bail!(
                "no option {arg}: gen --pages N [--bytes B] --out DIR, or gen --huge KIND --size N --out DIR"
            ),
        }
    }
    let out = out.context("which folder? gen --pages N --out DIR")?;
    if fs::read_dir(&out).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!("{} is not empty", out.display());
    }
    match kind {
        Some(kind) => huge::write(kind, size, &out),
        None => site(pages, bytes, &out),
    }
}

/// Writes the whole site.
pub(crate) fn site(pages: u64, bytes: u64, out: &Path) -> anyhow::Result<()> {
    put(out, "css/site.css", &sheet(0, 160))?;
    put(out, "css/theme.css", &sheet(1, 90))?;
    put(out, "js/menu.js", SCRIPT)?;
    for (nth, name) in ICONS.iter().enumerate() {
        put(out, &format!("img/{name}.svg"), &icon(nth as u64))?;
    }
    let folders = pages.div_ceil(FOLDER).max(1);
    for nth in 0..pages {
        put(out, &path(nth), &page(nth, pages, folders, bytes))?;
    }
    println!("{pages} pages in {}", out.display());
    Ok(())
}

fn put(out: &Path, path: &str, text: &str) -> anyhow::Result<()> {
    let place = out.join(path);
    if let Err(error) = fs::write(&place, text) {
        if error.kind() != std::io::ErrorKind::NotFound {
            return Err(error).with_context(|| format!("cannot write {}", place.display()));
        }
        fs::create_dir_all(place.parent().unwrap_or(out))?;
        fs::write(&place, text)?;
    }
    Ok(())
}

/// The path of a page: the first is the entry.
fn path(nth: u64) -> String {
    match nth {
        0 => "index.html".to_owned(),
        _ => format!("part{}/{}.html", nth / FOLDER, nth % FOLDER),
    }
}

fn page(nth: u64, pages: u64, folders: u64, bytes: u64) -> String {
    let mut random = Random::new(nth);
    let up = if nth == 0 { "" } else { "../" };
    let title = title(nth);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"stylesheet\" href=\"{up}css/site.css\">\n<link rel=\"stylesheet\" href=\"{up}css/theme.css\">\n\
         <script src=\"{up}js/menu.js\" defer></script>\n</head>\n<body class=\"k0 k7\">\n\
         <header><a href=\"{up}index.html\"><img src=\"{up}img/home.svg\" width=\"16\" height=\"16\" alt=\"Home\">\
         </a> <h1>{title}</h1></header>\n<nav>\n<ul>\n"
    );
    // The menu: pages of this folder, or the folders.
    let first = nth - nth % FOLDER;
    let menu: Vec<u64> = match nth {
        0 => (0..folders.min(40)).map(|folder| folder * FOLDER + 1).collect(),
        _ => (first.max(1)..first + FOLDER).step_by(5).collect(),
    };
    for other in menu.into_iter().filter(|&other| other < pages) {
        let title = self::title(other);
        let _ = writeln!(out, "<li><a href=\"{up}{}\">{title}</a></li>", path(other));
    }
    out.push_str("</ul>\n</nav>\n<main>\n");
    let end = out.len() as u64 + bytes / 2 + random.below(bytes.max(1));
    let mut section = 0;
    while (out.len() as u64) < end {
        section += 1;
        let _ = writeln!(
            out,
            "<section id=\"s{section}\" class=\"k{}\">\n<h2>{section}. {}</h2>",
            random.below(40),
            random.words(3)
        );
        match random.below(6) {
            0 => {
                let _ = writeln!(
                    out,
                    "<pre><code>{}({}, {});</code></pre>",
                    random.words(1),
                    random.words(1),
                    nth
                );
            }
            1 => {
                out.push_str("<table>\n");
                for row in 0..3 + random.below(5) {
                    let (name, value) = (random.words(1), random.words(4));
                    let _ = writeln!(out, "<tr><th>{name}</th><td>{row}</td><td>{value}</td></tr>");
                }
                out.push_str("</table>\n");
            }
            2 => {
                let icon = ICONS[random.below(ICONS.len() as u64) as usize];
                let _ = writeln!(
                    out,
                    "<p class=\"note\"><img src=\"{up}img/{icon}.svg\" width=\"16\" height=\"16\" alt=\"\"> {}.</p>",
                    random.words(14)
                );
            }
            _ => {}
        }
        for _ in 0..1 + random.below(3) {
            let (before, link, after) = (random.words(20), random.words(2), random.words(16));
            let to = path(random.below(pages));
            let _ = writeln!(out, "<p>{before} <a href=\"{up}{to}\">{link}</a> {after}.</p>");
        }
        out.push_str("</section>\n");
    }
    let (back, next) = (path(nth.saturating_sub(1)), path((nth + 1) % pages.max(1)));
    let _ = write!(
        out,
        "</main>\n<footer><a href=\"{up}{back}\"><img src=\"{up}img/back.svg\" width=\"16\" height=\"16\" alt=\"Back\"></a> \
         <a href=\"{up}{next}\"><img src=\"{up}img/next.svg\" width=\"16\" height=\"16\" alt=\"Next\"></a> Page {nth}</footer>\n\
         </body>\n</html>\n"
    );
    out
}

fn title(nth: u64) -> String {
    Random::new(nth ^ 0x7469_746C).words(3)
}

/// A stylesheet with so many rules: colours, boxes, a few images and conditions.
fn sheet(seed: u64, rules: u64) -> String {
    let mut random = Random::new(0x63_7373 + seed);
    let mut out =
        String::from("/* The style of all pages. */\nbody { margin: 0; font-family: sans-serif; }\n");
    for nth in 0..rules {
        let selector = match random.below(4) {
            0 => format!(".k{nth} p, .k{nth} li"),
            1 => format!(".k{} > h2", random.below(40)),
            2 => format!("main .k{} table td", random.below(40)),
            _ => format!(".k{nth}:hover"),
        };
        let _ = writeln!(
            out,
            "{selector} {{\n    color: #{:06x};\n    margin: {}px {}px;\n    line-height: 1.{};\n}}",
            random.below(1 << 24),
            random.below(20),
            random.below(20),
            random.below(9)
        );
        if nth % 40 == 39 {
            let icon = ICONS[random.below(ICONS.len() as u64) as usize];
            let _ = writeln!(
                out,
                ".k{} h1 {{ background: url(../img/{icon}.svg) no-repeat; }}",
                random.below(40)
            );
        }
        if nth % 50 == 49 {
            let width = 400 + random.below(600);
            let _ = writeln!(
                out,
                "@media (min-width: {width}px) {{ .k{nth} {{ float: left; }} }}"
            );
        }
    }
    out
}

/// A small drawing.
fn icon(seed: u64) -> String {
    let mut random = Random::new(0x6963_6F6E + seed);
    let mut path = String::from("M8 8");
    for _ in 0..6 {
        let _ = write!(path, "L{} {}", random.below(17), random.below(17));
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"16\" height=\"16\" viewBox=\"0 0 16 16\"><path fill=\"#{:06x}\" \
         d=\"{path}z\"/></svg>\n",
        random.below(1 << 24)
    )
}

const SCRIPT: &str = "document.addEventListener('DOMContentLoaded', function () {\n    var menu = document.querySelector('nav');\n    \
    if (menu) menu.addEventListener('click', function (event) { event.currentTarget.dataset.open = 'yes'; });\n});\n";

/// Numbers that are the same on every machine (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Some words; frequent ones come often, as in a language.
    pub(super) fn words(&mut self, count: u64) -> String {
        const SOUNDS: [&str; 16] = [
            "ta", "ne", "ro", "li", "su", "mo", "ka", "per", "in", "dal", "fe", "vor", "ul", "en", "bis",
            "co",
        ];
        let mut out = String::new();
        for nth in 0..count {
            if nth > 0 {
                out.push(' ');
            }
            // The product of two numbers is small more often than large: 4,096 words in all.
            let mut word = self.below(64) * self.below(64);
            loop {
                out.push_str(SOUNDS[(word % 16) as usize]);
                word /= 16;
                if word == 0 {
                    break;
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_site_each_time() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        site(230, 2000, &one).unwrap();
        site(230, 2000, &two).unwrap();
        for nth in 0..230 {
            let text = fs::read_to_string(one.join(path(nth))).unwrap();
            assert_eq!(text, fs::read_to_string(two.join(path(nth))).unwrap());
            // Every reference leads to a file.
            let references = text.split("href=\"").chain(text.split("src=\"")).skip(1);
            for reference in references
                .filter_map(|rest| rest.split('"').next())
                .filter(|r| r.contains('.'))
            {
                let base = one.join(path(nth));
                let place = base.parent().unwrap().join(reference);
                assert!(place.exists(), "{nth}: {reference}");
            }
        }
        let known = page(7, 1000, 10, 3000);
        assert!((2000..8000).contains(&known.len()), "{}", known.len());
    }
}
