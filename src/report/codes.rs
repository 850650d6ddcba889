//! What each code means and why it matters, for `fewer check --list`; what to do about it stands in `diagnostics`.

use std::fmt::Write;

use super::diagnostics::{help, severity_name};
use crate::diagnostic::Code;

/// Every code with its severity, its meaning, why it matters and what to do, for so many columns.
pub fn list_codes(width: usize) -> String {
    let mut out = String::new();
    for (nth, code) in Code::ALL.into_iter().enumerate() {
        let gap = if nth == 0 { "" } else { "\n" };
        let _ = writeln!(out, "{gap}{} ({})", code.name(), severity_name(code));
        let (means, why) = meaning(code);
        for (label, text) in [("what", means), ("why", why), ("do", help(code))] {
            wrap(&mut out, label, text, width);
        }
    }
    out
}

/// `  label  text`, wrapped at blanks below the text.
fn wrap(out: &mut String, label: &str, text: &str, width: usize) {
    const INDENT: usize = 8;
    let mut line = format!("  {label:<width$}", width = INDENT - 2);
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            let _ = writeln!(out, "{line}");
            line = " ".repeat(INDENT);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    let _ = writeln!(out, "{line}");
}

/// What is found, and why it matters.
fn meaning(code: Code) -> (&'static str, &'static str) {
    match code {
        Code::MissingFile => (
            "a reference leads to no file of the site",
            "readers see an error page, a hole or an unstyled page, and wait for the answer",
        ),
        Code::WrongCase => (
            "a reference leads to no file, but one whose name differs only in the case of letters exists",
            "it works on Windows and macOS and fails on most servers",
        ),
        Code::OutsideRoot => (
            "a reference climbs above the root of the site, names a local disk, or hides .. or / in %-escapes",
            "what it means depends on where the site is put; browsers stop at the root of the host",
        ),
        Code::MissingAnchor => (
            "a link leads to a page of the site, but to a place that the page does not have",
            "readers land at the top of the page",
        ),
        Code::LinkOutside => (
            "a symbolic link leads out of the site",
            "the file is not published with the site",
        ),
        Code::LinkDangling => (
            "a symbolic link leads nowhere",
            "its address answers with an error",
        ),
        Code::LinkLoop => (
            "a symbolic link leads to a folder that contains it",
            "the site would have no end; the link is left out",
        ),
        Code::NotAFile => ("neither file, folder nor link", "no server can send it"),
        Code::UnclosedElement => (
            "an element around images or links is not closed, or not in the order it was opened",
            "browsers guess where it ends: links spread, boxes hold what does not belong to them",
        ),
        Code::CssSyntax => (
            "a stylesheet breaks the grammar: stray brackets, cut strings, half declarations",
            "browsers drop the declaration or rule, at worst the rest of the sheet",
        ),
        Code::CssDropped => (
            "a declaration, selector or at-rule that no browser knows, most likely a typing error",
            "browsers drop it, with a wrong selector the whole rule",
        ),
        Code::IntegrityMismatch => (
            "the integrity attribute does not fit the bytes of the file",
            "browsers refuse the file",
        ),
        Code::TypeMismatch => (
            "the name of an image says another type than its bytes",
            "servers send a wrong type; some programs, and browsers told not to guess, refuse it",
        ),
        Code::BrokenImage => (
            "an image is cut off or does not decode",
            "readers see a part of it, or a hole",
        ),
        Code::OversizedImage => (
            "an image has more than 16 times the pixels of its box in CSS pixels: 4 times what a screen of 2 \
             device pixels per CSS pixel shows (from its width and height attributes; files under 10,000 bytes are left out)",
            "readers wait for pixels that they cannot see",
        ),
        Code::LargeDataUrl => (
            "a data: URL of more than 32,768 bytes",
            "it is sent again with every page, and delays what stands behind it",
        ),
        Code::DuplicateFile => (
            "pages request the same bytes under several addresses",
            "readers pay for each of them",
        ),
        Code::MixedContent => (
            "a page that is served by https: loads something by http:",
            "browsers block scripts, styles and frames, and warn of the rest",
        ),
        Code::StaleVariant => (
            "a .gz or .br beside a file does not unpack to that file",
            "most readers get the old content",
        ),
        Code::NotCarried => (
            "a file that an earlier build named by its bytes could not be carried over",
            "pages of that deploy, still in caches, may ask for it and get an error",
        ),
        Code::ManifestTaken => (
            "the site has a fewer-manifest.json of its own",
            "a build keeps it, and writes none that says which names are hashes",
        ),
        Code::UnreferencedFile => (
            "no page or stylesheet refers to the file",
            "it may be a leftover, or a reference to it may be missing",
        ),
        Code::MissingSize => (
            "an image without width and height attributes that no style gives a size either",
            "the text jumps when the image arrives",
        ),
        Code::DuplicateId => (
            "two elements of a page have the same id",
            "links and labels lead to the first, whichever is meant",
        ),
        Code::CssHack => (
            "a declaration or rule that only certain old browsers read, by intention",
            "others drop it; it costs its bytes",
        ),
        Code::HtmlOpaque => (
            "the markup of a page can be read in two ways",
            "a build copies the page as it is",
        ),
        Code::Utf16Page => (
            "a page in UTF-16 or ISO-2022-JP",
            "a build copies the page as it is",
        ),
        Code::CssOpaque => (
            "a stylesheet nested too deeply, or in an encoding that cannot be edited safely",
            "a build copies it as it is",
        ),
        Code::PolicyForbids => (
            "a content security policy forbids data: images",
            "a build inlines none there",
        ),
        Code::ServiceWorker => (
            "a script may register a service worker",
            "a build gives no file a new name that its list would miss",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_fits_and_holds_every_code() {
        let list = list_codes(80);
        for code in Code::ALL {
            assert_eq!(
                list.matches(&format!("\n\n{} (", code.name())).count(),
                usize::from(code != Code::ALL[0])
            );
        }
        let longest = list.lines().map(|line| line.chars().count()).max();
        assert!(
            longest <= Some(80) && list.starts_with("missing-file (warning)\n  what  a reference"),
            "{list}"
        );
    }
}
