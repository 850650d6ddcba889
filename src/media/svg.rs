//! Whether a file is an SVG image: what browsers draw as one has the root element `svg` in the SVG namespace.
//!
//! Only the prolog and the first start tag are read (XML 1.0, sections 2.8 and 3.1; Namespaces in XML, section 3).
//! Where those break a rule of XML the answer is no, because a browser shows an error instead of the picture.

const NAMESPACE: &[u8] = b"http://www.w3.org/2000/svg";

/// Bytes of an attribute value that is compared with the namespace: each of its letters as a reference fits.
const MAX_VALUE: usize = 256;

/// Whether the root element is `svg` and declares its own namespace. UTF-16 is not read and answered with no.
pub fn svg_root(bytes: &[u8]) -> bool {
    let mut reader = Reader {
        rest: bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes),
        entities: Vec::new(),
    };
    reader.root_is_svg().unwrap_or(false)
}

struct Reader<'a> {
    rest: &'a [u8],
    /// General entities of the internal subset: drawing programs declare the namespace as one.
    entities: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> Reader<'a> {
    /// `None` where the text ends or breaks a rule.
    fn root_is_svg(&mut self) -> Option<bool> {
        if self.rest.starts_with(b"<?xml") && self.rest.get(5).is_some_and(|b| is_space(*b)) {
            self.skip_past(b"?>")?;
        }
        loop {
            self.skip_space();
            if self.take(b"<!--") {
                self.skip_past(b"--")?;
                self.expect(b">")?;
            } else if self.take(b"<?") {
                // The declaration is allowed at the very start only.
                let target = self.name()?;
                if target.eq_ignore_ascii_case(b"xml") {
                    return None;
                }
                self.skip_past(b"?>")?;
            } else if self.take(b"<!DOCTYPE") {
                self.doctype()?;
            } else if self.take(b"<") {
                return self.start_tag();
            } else {
                return None;
            }
        }
    }

    fn doctype(&mut self) -> Option<()> {
        loop {
            match self.next()? {
                b'>' => return Some(()),
                quote @ (b'"' | b'\'') => self.skip_past(&[quote])?,
                b'[' => self.subset()?,
                _ => {}
            }
        }
    }

    fn subset(&mut self) -> Option<()> {
        loop {
            if self.take(b"<!--") {
                self.skip_past(b"--")?;
                self.expect(b">")?;
            } else if self.take(b"<?") {
                self.skip_past(b"?>")?;
            } else if self.take(b"<!ENTITY") {
                self.entity()?;
            } else {
                match self.next()? {
                    b']' => return Some(()),
                    b'<' => self.declaration()?,
                    _ => {}
                }
            }
        }
    }

    fn entity(&mut self) -> Option<()> {
        self.skip_space();
        if let Some(name) = self.name() {
            self.skip_space();
            if let Some(&quote @ (b'"' | b'\'')) = self.rest.first() {
                self.rest = &self.rest[1..];
                let value = self.until(quote)?;
                // The first declaration binds (XML 1.0, section 4.2).
                self.entities.push((name, value));
            }
        }
        self.declaration()
    }

    /// The rest of a markup declaration.
    fn declaration(&mut self) -> Option<()> {
        loop {
            match self.next()? {
                b'>' => return Some(()),
                quote @ (b'"' | b'\'') => self.skip_past(&[quote])?,
                _ => {}
            }
        }
    }

    fn start_tag(&mut self) -> Option<bool> {
        let name = self.name()?;
        let wanted = match name.strip_suffix(b"svg")? {
            b"" => b"xmlns".to_vec(),
            prefix => [b"xmlns:", prefix.strip_suffix(b":")?].concat(),
        };
        let mut found = None;
        loop {
            let spaced = self.rest.first().is_some_and(|b| is_space(*b));
            self.skip_space();
            if self.take(b">") || self.take(b"/>") {
                return Some(found == Some(true));
            }
            if !spaced {
                return None;
            }
            let attribute = self.name()?;
            self.skip_space();
            self.expect(b"=")?;
            self.skip_space();
            let quote = self.next().filter(|b| matches!(b, b'"' | b'\''))?;
            let value = self.until(quote)?;
            if attribute == wanted {
                // Twice the same attribute is an error of the document.
                if found.is_some() {
                    return None;
                }
                found = Some(self.expand(value)? == NAMESPACE);
            }
        }
    }

    /// The value with its references replaced, one level deep: a namespace needs no more. Nor is a long one worth
    /// the look-ups.
    fn expand(&self, value: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut rest = (value.len() <= MAX_VALUE).then_some(value)?;
        while let Some(at) = rest.iter().position(|&b| b == b'&') {
            out.extend(&rest[..at]);
            let end = rest[at..].iter().position(|&b| b == b';')? + at;
            let name = &rest[at + 1..end];
            if let Some(number) = name.strip_prefix(b"#") {
                let number = std::str::from_utf8(number).ok()?;
                let code = match number.strip_prefix('x') {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => number.parse(),
                };
                out.extend(char::from_u32(code.ok()?)?.to_string().as_bytes());
            } else {
                out.extend(self.entities.iter().find(|(n, _)| *n == name)?.1);
            }
            rest = &rest[end + 1..];
        }
        out.extend(rest);
        Some(out)
    }

    fn name(&mut self) -> Option<&'a [u8]> {
        let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_' | b'-' | b'.' | 0x80..);
        let end = self.rest.iter().position(|b| !is_name(b))?;
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        (end > 0).then_some(name)
    }

    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn until(&mut self, end: u8) -> Option<&'a [u8]> {
        let at = self.rest.iter().position(|&b| b == end)?;
        let value = &self.rest[..at];
        self.rest = &self.rest[at + 1..];
        Some(value)
    }

    fn take(&mut self, token: &[u8]) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => self.rest = rest,
            None => return false,
        }
        true
    }

    fn expect(&mut self, token: &[u8]) -> Option<()> {
        self.take(token).then_some(())
    }

    fn skip_past(&mut self, token: &[u8]) -> Option<()> {
        let at = self.rest.windows(token.len()).position(|w| w == token)?;
        self.rest = &self.rest[at + token.len()..];
        Some(())
    }

    fn skip_space(&mut self) {
        let end = self
            .rest
            .iter()
            .position(|b| !is_space(*b))
            .unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
    }
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots() {
        let check = |text: &str, expected| assert_eq!(svg_root(text.as_bytes()), expected, "{text}");
        check("<svg xmlns=\"http://www.w3.org/2000/svg\"/>", true);
        check(
            "<svg xmlns='http://www.w3.org/2000/svg' width='1'><path/></svg>",
            true,
        );
        check(
            "\u{FEFF}<?xml version='1.0'?>\n<!-- > -->\n<svg\nxmlns = 'http://www.w3.org/2000/svg'\n>",
            true,
        );
        check("  <svg xmlns='http://www.w3.org/2000/svg'>", true);
        check("<s:svg xmlns:s='http://www.w3.org/2000/svg'>", true);
        check(
            "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://x/svg11.dtd'><svg xmlns='http://www.w3.org/2000/svg'>",
            true,
        );
        check(
            "<!DOCTYPE svg [<!-- ]> --><!ENTITY ns 'http://www.w3.org/2000/svg'><!ATTLIST a b CDATA ']>'>]>\
               <svg xmlns='&ns;'>",
            true,
        );
        check("<svg xmlns='http://www.w3.org/2000/sv&#103;'>", true);
        // Not drawn by browsers.
        check("<svg width='1' height='1'><rect/></svg>", false);
        check("<svg xmlns:x='http://www.w3.org/2000/svg'>", false);
        check("<s:svg xmlns='http://www.w3.org/2000/svg'>", false);
        check("<svg xmlns='http://www.w3.org/2000/svg/'>", false);
        check("<svg xmlns=' http://www.w3.org/2000/svg'>", false);
        check("<svg xmlns=http://www.w3.org/2000/svg>", false);
        check("<SVG xmlns='http://www.w3.org/2000/svg'>", false);
        check("<svgx xmlns='http://www.w3.org/2000/svg'>", false);
        check("<g><svg xmlns='http://www.w3.org/2000/svg'/></g>", false);
        check(
            "<svg xmlns='http://www.w3.org/2000/svg' xmlns='http://www.w3.org/2000/svg'>",
            false,
        );
        check("<svg id='a'xmlns='http://www.w3.org/2000/svg'>", false);
        check(
            "\n<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'>",
            false,
        );
        check("<!-- a -- b --><svg xmlns='http://www.w3.org/2000/svg'>", false);
        check("<svg xmlns='&ns;'>", false);
        check("text <svg xmlns='http://www.w3.org/2000/svg'>", false);
        check("", false);
        check("\u{FEFF}", false);
    }

    #[test]
    fn cut_anywhere() {
        let text = b"<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY a 'b'>]><!-- c --><svg xmlns='http://www.w3.org/2000/svg'>";
        for end in 0..text.len() {
            assert!(!svg_root(&text[..end]), "{end}");
        }
        assert!(svg_root(text));
    }
}
