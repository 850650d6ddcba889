//! Which text may stand between `<script>` and `</script>` and mean there what it means in a file.
//!
//! HTML standard, 4.12.1.3 and the "script data" states of 13.2.5. `</script` with a space, `/` or `>` behind it
//! ends the element. After `<!--` a `<script` opens a second level in which the page's own `</script>` does not end
//! the element, so the two never occur in this order.
//!
//! A page's line ends become LF, a file's do not. Scripts cannot tell: a template's text, cooked or raw, has LF for
//! CR and CRLF (ECMAScript, 12.9.6), a string holds none, a comment is not seen. (`toString` of a function shows
//! its source; code that reads a line end there is not worth a guard.)

/// `Err` where the text would end or change the element. HTML comments of scripts are refused before this.
pub(super) fn fits(source: &str) -> Result<(), &'static str> {
    if source.contains('\0') {
        // Becomes U+FFFD in a page.
        return Err("it has a NUL character");
    }
    let bytes = source.as_bytes();
    let mut comment = false;
    for (at, _) in source.match_indices('<') {
        let rest = &bytes[at + 1..];
        if rest.starts_with(b"!--") {
            comment = true;
        } else if begins(rest, b"/script") {
            // At the end of the text the page's own tag comes next: not the end, but not worth a thought.
            if rest.get(7).is_none_or(|b| ends_name(*b)) {
                return Err("its text holds an end tag of a script");
            }
        } else if comment && begins(rest, b"script") && rest.get(6).is_none_or(|b| ends_name(*b)) {
            return Err("its text opens a comment and a script");
        }
    }
    Ok(())
}

fn begins(text: &[u8], name: &[u8]) -> bool {
    text.get(..name.len())
        .is_some_and(|t| t.eq_ignore_ascii_case(name))
}

fn ends_name(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x0C | b' ' | b'/' | b'>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_html_reads_as_a_tag_is_refused() {
        let check = |text: &str, fit: bool| assert_eq!(fits(text).is_ok(), fit, "{text}");
        check("a<b", true);
        check("'</script>'", false);
        check("'</SCRIPT '", false);
        check("'</script\t'", false);
        check("'</script\r'", false);
        check("'</script/'", false);
        check("'</scripts>'", true);
        check("'</script'", true);
        check("// </script", false);
        check("'<\\/script>'", true);
        check("'<script>'", true);
        check("'<!--'", true);
        check("'<!--','<script>'", false);
        check("'<!--','<scripts>'", true);
        check("'<!--','<Script/'", false);
        check("'<script>','<!--'", true);
        // Conservative: the comment has ended.
        check("'<!-- -->','<script>'", false);
        check("'<!-','<script>'", true);
        check("'\0'", false);
        check("a\r\nb", true);
    }
}
