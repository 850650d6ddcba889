//! Which encoding a page or a stylesheet is in (HTML standard, "determining the character encoding";
//! CSS Syntax, "the input byte stream").
//!
//! In: the first bytes of a file. Out: an encoding whose ASCII bytes mean ASCII, or `None`: UTF-16, ISO-2022-JP
//! and the replacement encoding are copied untouched, since spans of bytes mean nothing in them. What an HTTP header
//! says is out of sight, and nothing is ever guessed from the text.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// How far the declaration of an encoding may stand from the start (bytes).
const PRESCAN: usize = 1024;

/// The encoding of a page: BOM, then `meta` in the first 1,024 bytes, an XML declaration, a later `meta` of the head,
/// `fallback`. `None` for UTF-16, which is copied untouched. `bytes` is the whole file.
pub fn of_page(bytes: &[u8], fallback: &'static Encoding) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return ascii_compatible(encoding);
    }
    let head = &bytes[..bytes.len().min(PRESCAN)];
    let declared = prescan(head, Reach::Prescan).or_else(|| xml_declaration(head));
    ascii_compatible(
        declared
            .or_else(|| prescan(bytes, Reach::Head))
            .unwrap_or(fallback),
    )
}

/// The encoding of a file that is parsed as XML (XHTML by its type, SVG): BOM, XML declaration, UTF-8. `meta` means
/// nothing there (XML 1.0, section 4.3.3).
pub fn of_xml(bytes: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return ascii_compatible(encoding);
    }
    let head = &bytes[..bytes.len().min(PRESCAN)];
    ascii_compatible(
        utf16_declaration(head)
            .or_else(|| xml_declaration(head))
            .unwrap_or(UTF_8),
    )
}

/// The encoding of a stylesheet: BOM, then `@charset` as the very first bytes, then that of the page that uses it.
/// `None` for UTF-16.
pub fn of_sheet(bytes: &[u8], environment: &'static Encoding) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return ascii_compatible(encoding);
    }
    ascii_compatible(at_charset(bytes).unwrap_or(environment))
}

fn ascii_compatible(encoding: &'static Encoding) -> Option<&'static Encoding> {
    encoding.is_ascii_compatible().then_some(encoding)
}

/// A declaration that could be read as ASCII does not stand in UTF-16.
fn not_utf16(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == UTF_16BE || encoding == UTF_16LE {
        UTF_8
    } else {
        encoding
    }
}

/// CSS Syntax 3, section 3.2: exactly these bytes, the end within the first 1,024.
fn at_charset(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(PRESCAN)];
    let rest = head.strip_prefix(b"@charset \"")?;
    let end = rest.iter().position(|&b| b == b'"')?;
    if rest.get(end + 1) != Some(&b';') {
        return None;
    }
    Encoding::for_label(&rest[..end]).map(not_utf16)
}

/// `<?x` in UTF-16 without a BOM (HTML, prescan, step 3).
fn utf16_declaration(head: &[u8]) -> Option<&'static Encoding> {
    if head.starts_with(b"<\0?\0x\0") {
        Some(UTF_16LE)
    } else if head.starts_with(b"\0<\0?\0x") {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// HTML standard, "get an XML encoding": also for pages served as `text/html`, when no `meta` says otherwise.
fn xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let rest = head.strip_prefix(b"<?xml")?;
    // As in Chromium, only what stands in the declaration itself.
    let rest = &rest[..rest.iter().position(|&b| b == b'>')?];
    let name = b"encoding";
    let at = rest.windows(name.len()).position(|window| window == name)?;
    let rest = skip(&rest[at + name.len()..], |b| b <= b' ').strip_prefix(b"=")?;
    let (&quote, rest) = skip(rest, |b| b <= b' ').split_first()?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let label = &rest[..rest.iter().position(|&b| b == quote)?];
    if label.iter().any(|&b| b <= b' ') {
        return None;
    }
    Encoding::for_label(label).map(not_utf16)
}

fn skip(bytes: &[u8], unwanted: impl Fn(u8) -> bool) -> &[u8] {
    &bytes[bytes.iter().position(|&b| !unwanted(b)).unwrap_or(bytes.len())..]
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// All the bytes given, whatever they are.
    Prescan,
    /// Until the head ends, with the contents of its elements skipped: the parser meets a `meta` there and "changes
    /// the encoding" (HTML, section 13.2.3.4). Chromium 156 does so up to the end of the head, however long it is.
    Head,
}

/// Elements that leave the parser in the head, and whether their content is text.
const HEAD_ELEMENTS: [(&[u8], bool); 10] = [
    (b"html", false),
    (b"head", false),
    (b"base", false),
    (b"link", false),
    (b"meta", false),
    (b"title", true),
    (b"style", true),
    (b"script", true),
    (b"noscript", true),
    (b"template", true),
];

/// HTML standard, "prescan a byte stream to determine its encoding", without its last resort (the XML declaration).
fn prescan(head: &[u8], reach: Reach) -> Option<&'static Encoding> {
    if let Some(encoding) = utf16_declaration(head) {
        return Some(encoding);
    }
    let mut scanner = Scanner { bytes: head, at: 0 };
    loop {
        scanner.seek(|b| b == b'<')?;
        let rest = &head[scanner.at..];
        if rest.starts_with(b"<!--") {
            // `<!-->` is a whole comment: its hyphens count at both ends.
            scanner.at += 2 + rest[2..].windows(3).position(|w| w == b"-->")? + 2;
        } else if is_meta(rest) {
            scanner.at += 5;
            if let Some(encoding) = meta(&mut scanner)? {
                return Some(encoding);
            }
        } else if rest.get(1).is_some_and(u8::is_ascii_alphabetic)
            || rest.get(1) == Some(&b'/') && rest.get(2).is_some_and(u8::is_ascii_alphabetic)
        {
            let closing = rest[1] == b'/';
            let start = scanner.at + 1 + usize::from(closing);
            scanner.seek(|b| is_space(b) || b == b'>')?;
            let name = head[start..scanner.at]
                .strip_suffix(b"/")
                .unwrap_or(&head[start..scanner.at]);
            while scanner.attribute()?.is_some() {}
            if reach == Reach::Head && !closing {
                let (_, text) = HEAD_ELEMENTS
                    .iter()
                    .find(|(known, _)| name.eq_ignore_ascii_case(known))?;
                if *text {
                    scanner.skip_to_end_tag(name)?;
                    continue;
                }
            } else if reach == Reach::Head && name.eq_ignore_ascii_case(b"head") {
                return None;
            }
        } else if rest.get(1).is_some_and(|b| matches!(b, b'!' | b'/' | b'?')) {
            scanner.seek(|b| b == b'>')?;
        }
        scanner.at += 1;
    }
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(1..5)
        .is_some_and(|name| name.eq_ignore_ascii_case(b"meta"))
        && rest.get(5).is_some_and(|&b| is_space(b) || b == b'/')
}

/// What one `meta` declares; the outer `None` is the end of the bytes.
fn meta(scanner: &mut Scanner) -> Option<Option<&'static Encoding>> {
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut got_pragma = false;
    // Whether the encoding counts only with `http-equiv=content-type`; `None` until something declared one.
    let mut need_pragma = None;
    let mut charset = None;
    while let Some((name, value)) = scanner.attribute()? {
        if seen.contains(&name) {
            continue;
        }
        match name.as_slice() {
            b"http-equiv" => got_pragma |= value == b"content-type",
            b"content" if charset.is_none() => {
                charset = content_charset(&value);
                if charset.is_some() {
                    need_pragma = Some(true);
                }
            }
            b"charset" => {
                charset = Encoding::for_label(&value);
                need_pragma = Some(false);
            }
            // Only the three names above matter as duplicates; keeping others would take quadratic time.
            _ => continue,
        }
        seen.push(name);
    }
    if need_pragma == Some(true) && !got_pragma {
        return Some(None);
    }
    Some(charset.map(|encoding| {
        if encoding == X_USER_DEFINED {
            WINDOWS_1252
        } else {
            not_utf16(encoding)
        }
    }))
}

/// HTML standard, "extracting a character encoding from a meta element". `value` is in lower case.
fn content_charset(value: &[u8]) -> Option<&'static Encoding> {
    let name = b"charset";
    let mut rest = value;
    loop {
        let at = rest.windows(name.len()).position(|window| window == name)?;
        rest = skip(&rest[at + name.len()..], is_space);
        if let Some(after) = rest.strip_prefix(b"=") {
            rest = skip(after, is_space);
            break;
        }
    }
    let label = match rest.split_first()? {
        (quote @ (b'"' | b'\''), inner) => &inner[..inner.iter().position(|b| b == quote)?],
        _ => {
            &rest[..rest
                .iter()
                .position(|&b| is_space(b) || b == b';')
                .unwrap_or(rest.len())]
        }
    };
    Encoding::for_label(label)
}

/// A position in the bytes; every method answers `None` when they run out, which ends the prescan.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn seek(&mut self, wanted: impl Fn(u8) -> bool) -> Option<()> {
        self.at += self.bytes.get(self.at..)?.iter().position(|&b| wanted(b))?;
        Some(())
    }

    /// Onto the `</name` that ends an element whose content is text.
    fn skip_to_end_tag(&mut self, name: &[u8]) -> Option<()> {
        loop {
            self.seek(|b| b == b'<')?;
            let after = self.bytes[self.at + 1..].strip_prefix(b"/");
            if after
                .and_then(|after| after.get(..name.len()))
                .is_some_and(|end| end.eq_ignore_ascii_case(name))
            {
                return Some(());
            }
            self.at += 1;
        }
    }

    /// "Get an attribute": name and value in lower case, the inner `None` at the end of the tag.
    fn attribute(&mut self) -> Option<Option<(Vec<u8>, Vec<u8>)>> {
        self.seek(|b| !is_space(b) && b != b'/')?;
        if self.byte()? == b'>' {
            return Some(None);
        }
        let start = self.at;
        // A `=` that comes first belongs to the name.
        self.at += 1;
        if self.bytes[start] != b'=' {
            self.at = start;
        }
        self.seek(|b| b == b'=' || is_space(b) || b == b'/' || b == b'>')?;
        let name = self.bytes[start..self.at].to_ascii_lowercase();
        if is_space(self.byte()?) {
            self.seek(|b| !is_space(b))?;
        }
        if self.byte()? != b'=' {
            return Some(Some((name, Vec::new())));
        }
        self.at += 1;
        self.seek(|b| !is_space(b))?;
        let value = match self.byte()? {
            quote @ (b'"' | b'\'') => {
                self.at += 1;
                let start = self.at;
                self.seek(|b| b == quote)?;
                self.at += 1;
                &self.bytes[start..self.at - 1]
            }
            _ => {
                let start = self.at;
                self.seek(|b| is_space(b) || b == b'>')?;
                &self.bytes[start..self.at]
            }
        };
        Some(Some((name, value.to_ascii_lowercase())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(encoding: Option<&'static Encoding>) -> &'static str {
        encoding.map_or("none", Encoding::name)
    }

    #[track_caller]
    fn check(page: &[u8], expected: &str) {
        assert_eq!(
            named(of_page(page, WINDOWS_1252)),
            expected,
            "{}",
            String::from_utf8_lossy(page)
        );
    }

    #[test]
    fn pages_without_a_declaration() {
        check(b"", "windows-1252");
        check(b"<!doctype html><p>caf\xE9", "windows-1252");
        assert_eq!(named(of_page(b"<p>", UTF_8)), "UTF-8");
    }

    #[test]
    fn byte_order_marks_win() {
        check(b"\xEF\xBB\xBF<meta charset=windows-1251>", "UTF-8");
        check(b"\xFF\xFE<\0p\0>\0", "none");
        check(b"\xFE\xFF\0<\0p\0>", "none");
        check(b"<\0?\0x\0m\0l\0", "none");
        check(b"\0<\0?\0x\0m\0l", "none");
    }

    #[test]
    fn meta_charset() {
        check(b"<meta charset=utf-8>", "UTF-8");
        check(b"<META CharSet='Windows-1251'>", "windows-1251");
        check(b"<meta\ncharset = \"koi8-r\" />", "KOI8-R");
        check(b"<meta/charset=utf-8/>", "windows-1252");
        check(b"<meta charset=\" utf-8 \">", "UTF-8");
        check(b"<html><head a='>' b=<meta><meta charset=utf-8>", "UTF-8");
        check(b"<meta name=viewport content=x><meta charset=gbk>", "GBK");
        check(b"<meta charset=latin1>", "windows-1252");
        check(b"<meta charset=utf-16>", "UTF-8");
        check(b"<meta charset=utf-16be>", "UTF-8");
        check(b"<meta charset=x-user-defined>", "windows-1252");
        check(b"<meta charset=iso-2022-jp>", "none");
        check(b"<meta charset=iso-2022-kr>", "none");
        check(b"<meta charset=nonsense><meta charset=utf-8>", "UTF-8");
        check(b"<meta charset=utf-8 charset=gbk>", "UTF-8");
        check(b"<metadata charset=utf-8>", "windows-1252");
        check(b"</meta charset=utf-8>", "windows-1252");
        check(b"<meta =charset=gbk charset=utf-8>", "UTF-8");
        check(b"<meta charset=><meta charset=utf-8>", "UTF-8");
        check(b"<title>caf\xC3\xA9</title><meta charset=utf-8>", "UTF-8");
        // Cut off: the end of the bytes comes before the end of the tag.
        check(b"<meta charset=utf-8", "windows-1252");
        check(b"<meta charset='utf-8>", "windows-1252");
    }

    #[test]
    fn meta_content() {
        check(
            b"<meta http-equiv=Content-Type content='text/html; charset=utf-8'>",
            "UTF-8",
        );
        check(
            b"<meta content='text/html;CHARSET=utf-8' http-equiv=content-type>",
            "UTF-8",
        );
        check(
            b"<meta http-equiv=content-type content='charset = utf-8;x'>",
            "UTF-8",
        );
        check(
            b"<meta http-equiv=content-type content='charset charset=utf-8'>",
            "UTF-8",
        );
        check(
            b"<meta http-equiv=content-type content='charset=\"utf-8\" x'>",
            "UTF-8",
        );
        check(
            b"<meta http-equiv=content-type content='charset=\"utf-8'>",
            "windows-1252",
        );
        check(
            b"<meta http-equiv=content-type content='charset='>",
            "windows-1252",
        );
        check(b"<meta content='text/html; charset=utf-8'>", "windows-1252");
        check(
            b"<meta http-equiv=refresh content='0; charset=utf-8'>",
            "windows-1252",
        );
        check(
            b"<meta charset=gbk http-equiv=content-type content='charset=utf-8'>",
            "GBK",
        );
        check(
            b"<meta http-equiv=content-type content='charset=utf-8' charset=gbk>",
            "GBK",
        );
        check(
            b"<meta content='charset=utf-8' charset=nonsense http-equiv=content-type>",
            "windows-1252",
        );
    }

    #[test]
    fn comments_and_other_markup() {
        check(b"<!-- <meta charset=utf-8> --><meta charset=gbk>", "GBK");
        check(b"<!--><meta charset=utf-8>", "UTF-8");
        check(b"<!---><meta charset=utf-8>", "UTF-8");
        check(b"<!-- <meta charset=utf-8>", "windows-1252");
        check(b"<!doctype html <meta charset=gbk><meta charset=utf-8>", "UTF-8");
        check(b"<?php <meta charset=gbk>?><meta charset=utf-8>", "UTF-8");
        check(b"< meta charset=gbk><meta charset=utf-8>", "UTF-8");
        check(b"<a title='<meta charset=gbk>'><meta charset=utf-8>", "UTF-8");
    }

    #[test]
    fn only_the_first_1024_bytes_count() {
        let at = |start: usize| [vec![b' '; start], b"<meta charset=utf-8>".to_vec()].concat();
        check(&at(1004), "UTF-8");
        let in_body = |start: usize| [vec![b' '; start], b"<p><meta charset=utf-8>".to_vec()].concat();
        check(&in_body(1001), "UTF-8");
        check(&in_body(1002), "windows-1252");
    }

    /// As Chromium 156 answers, asked by `document.characterSet`.
    #[test]
    fn a_later_meta_counts_in_the_head() {
        let after = |before: &str| format!("{before}<meta charset=koi8-r><p>").into_bytes();
        let long = "x".repeat(2000);
        check(&after(&format!("<!doctype html><head><!--{long}-->")), "KOI8-R");
        check(
            &after(&format!("<!doctype html><html><head><style>{long}</style>")),
            "KOI8-R",
        );
        check(
            &after(&format!(
                "<head><script>'<meta charset=gbk>' <p>{long}</SCRIPT ><link rel=x>"
            )),
            "GBK",
        );
        check(
            &after(&format!(
                "<head><script>{long}<p>'<meta charset=gbk>' </b></SCRIPT ><link rel=x>"
            )),
            "KOI8-R",
        );
        check(&after(&format!("<head></head><body><p>{long}")), "windows-1252");
        check(&after(&format!("<head><title>{long}")), "windows-1252");
        check(&after(&format!("<head><!--{long}--></head>")), "windows-1252");
        check(
            &after(&format!("<?xml encoding='gbk'?><head><!--{long}-->")),
            "GBK",
        );
    }

    #[test]
    fn xml_declarations() {
        check(b"<?xml version='1.0' encoding='koi8-r'?><html>", "KOI8-R");
        check(b"<?xml encoding = \"utf-8\" ?>", "UTF-8");
        check(b"<?xml encoding='utf-16'?>", "UTF-8");
        check(b"<?xml encoding='koi8-r'?><meta charset=utf-8>", "UTF-8");
        check(b" <?xml encoding='utf-8'?>", "windows-1252");
        check(b"<?xml encoding='utf-8'", "windows-1252");
        check(b"<?xml encoding=utf-8?>", "windows-1252");
        check(b"<?xml encoding=' utf-8'?>", "windows-1252");
        check(b"<?xml version='1.0'?>", "windows-1252");
        check(b"<?xml version='1.0'?><html encoding='koi8-r'>", "windows-1252");
        check(b"<?xml version='>' encoding='koi8-r'?>", "windows-1252");
        assert_eq!(
            named(of_xml(b"<?xml version='1.0'?><meta charset='gbk'/>")),
            "UTF-8"
        );
        assert_eq!(
            named(of_xml(b"<?xml version='1.0' encoding='koi8-r'?>")),
            "KOI8-R"
        );
        assert_eq!(named(of_xml(b"\xEF\xBB\xBF<?xml encoding='koi8-r'?>")), "UTF-8");
        assert_eq!(named(of_xml(b"<\0?\0x\0m\0l\0")), "none");
    }

    #[test]
    fn stylesheets() {
        #[track_caller]
        fn check(sheet: &[u8], expected: &str) {
            assert_eq!(named(of_sheet(sheet, WINDOWS_1252)), expected);
        }
        check(b"a{}", "windows-1252");
        check(b"@charset \"utf-8\";", "UTF-8");
        check(b"@charset \"iso-8859-2\";a{}", "ISO-8859-2");
        check(b"@charset \"utf-16\";", "UTF-8");
        check(b"\xEF\xBB\xBF@charset \"koi8-r\";", "UTF-8");
        check(b"\xFF\xFEa\0{\0", "none");
        // Anything but the exact bytes is an unknown rule.
        for sheet in [
            "@charset 'utf-8';",
            "@CHARSET \"utf-8\";",
            " @charset \"utf-8\";",
            "@charset  \"utf-8\";",
        ] {
            check(sheet.as_bytes(), "windows-1252");
        }
        check(b"@charset \"utf-8\" ;", "windows-1252");
        check(b"@charset \"nonsense\";", "windows-1252");
        check(b"@charset \"utf-8", "windows-1252");
        check(
            format!("@charset \"{}utf-8\";", " ".repeat(1007)).as_bytes(),
            "UTF-8",
        );
        check(
            format!("@charset \"{}utf-8\";", " ".repeat(1008)).as_bytes(),
            "windows-1252",
        );
    }

    #[test]
    fn hostile_pages_take_linear_time() {
        check(&b"<".repeat(1 << 22), "windows-1252");
        check(&b"<meta charset=".repeat(1 << 18), "windows-1252");
        check(&b"<!--".repeat(1 << 18), "windows-1252");
        check(&b"<script>".repeat(1 << 18), "windows-1252");
        check(&b"<link a=b <link>".repeat(1 << 18), "windows-1252");
        check(&b"<title></title>".repeat(1 << 18), "windows-1252");
    }
}
