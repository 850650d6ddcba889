//! Writes a stylesheet for another folder: every address that is resolved against the sheet is exchanged.
//!
//! Addresses that mean the same everywhere (a scheme, a lone fragment, nothing at all) stay. Where an address is
//! resolved against something else, or might be, the sheet must not move: custom properties are resolved where
//! `var()` is used (CSS Values 4, section 4.5), `@document` compares with the page.

use super::outline::{Outline, outline};
use super::token::{self, Kind};
use super::{Place, scan, url_token};

/// `text` with what `with` gives for each address that depends on the sheet's own, or `None` where the sheet must
/// stay in its folder.
pub fn rebase(text: &str, with: &mut dyn FnMut(&Place, &str) -> Option<String>) -> Option<String> {
    let sheet = outline(text)?;
    let scan = scan(text, false);
    if scan.opaque.is_some() || asks_elsewhere(&sheet) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for url in &scan.urls {
        match (kind(&url.value), &url.place) {
            (Address::Fixed, _) => continue,
            (Address::OfScheme, _) | (_, Place::Custom) => return None,
            (_, Place::Other) if is_name(&sheet, url.span.start) => continue,
            // Perhaps an address to another browser, or an import that counts there.
            (_, Place::Other) => return None,
            _ => {}
        }
        let new = with(&url.place, &url.value)?;
        if new == url.value {
            continue;
        }
        out.push_str(&text[done..url.span.start]);
        out.push_str(&spell(&text[url.span.clone()], &url.place, &new)?);
        done = url.span.end;
    }
    out.push_str(&text[done..]);
    Some(out)
}

enum Address {
    /// The same from everywhere.
    Fixed,
    Relative,
    /// `https:a.png`: relative if the sheet itself came over https (URL standard, section 4.4).
    OfScheme,
}

fn kind(value: &str) -> Address {
    let value = value.trim_matches(|c: char| c <= ' ');
    let mut chars = value.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r'));
    let scheme: String = chars
        .by_ref()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        .collect();
    if value.is_empty() || value.starts_with('#') {
        return Address::Fixed;
    }
    let mut rest = value.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r'));
    let named =
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && rest.by_ref().nth(scheme.len()) == Some(':');
    if !named {
        return Address::Relative;
    }
    let special = ["http", "https", "ftp", "ws", "wss", "file"]
        .iter()
        .any(|s| scheme.eq_ignore_ascii_case(s));
    if special && !(rest.next() == Some('/') && rest.next() == Some('/')) {
        return Address::OfScheme;
    }
    Address::Fixed
}

/// Does an address in this sheet ask for something that a scan does not show?
fn asks_elsewhere(sheet: &Outline<'_>) -> bool {
    let text = sheet.text;
    let mut solid = sheet.toks.iter().filter(|t| !t.kind.is_blank());
    let mut open: Vec<(Kind, bool)> = Vec::new();
    while let Some(tok) = solid.next() {
        if open.last().is_some_and(|(closer, _)| *closer == tok.kind) {
            open.pop();
            continue;
        }
        let in_set = open.last().is_some_and(|(_, set)| *set);
        match tok.kind {
            Kind::AtKeyword if tok.is(text, "document") || tok.is(text, "-moz-document") => {
                // `@-moz-document url-prefix()` is how sheets ask for Firefox.
                let mut next = || solid.next().filter(|t| !t.kind.is_blank());
                let hack = next().is_some_and(|t| t.kind == Kind::Function && t.is(text, "url-prefix"))
                    && next().is_some_and(|t| t.kind == Kind::CloseParen);
                if !hack {
                    return true;
                }
            }
            // A string that stands for an address only where it is put.
            Kind::Function if in_set && !tok.is(text, "url") && !tok.is(text, "type") => {
                let name = tok.value(text);
                if ["var", "env", "attr", "if", "inherit"]
                    .iter()
                    .any(|f| name.eq_ignore_ascii_case(f))
                    || name.starts_with("--")
                {
                    return true;
                }
            }
            _ => {}
        }
        let set = match tok.kind {
            Kind::Function => in_set || tok.is(text, "image-set") || tok.is(text, "-webkit-image-set"),
            _ => in_set,
        };
        open.extend(tok.kind.closer().map(|closer| (closer, set)));
    }
    false
}

/// Is this byte in a `@namespace`, whose addresses are names?
fn is_name(sheet: &Outline<'_>, at: usize) -> bool {
    let index = sheet.items.partition_point(|item| item.span.end <= at);
    sheet
        .items
        .get(index)
        .is_some_and(|item| item.at.as_deref() == Some("namespace") && !item.has_block)
}

/// The new address as the token that may stand in place of `old`.
pub(super) fn spell(old: &str, place: &Place, new: &str) -> Option<String> {
    let toks = token::list(old);
    let solid: Vec<_> = toks.iter().filter(|t| !t.kind.is_blank()).collect();
    match solid.as_slice() {
        [only] if only.kind == Kind::Str => Some(string(new)),
        [only] if only.kind == Kind::Url && old.ends_with(')') && !token::unfinished(**only, old) => {
            Some(shorter(place, new))
        }
        // More arguments are modifiers, which stay only if all stays.
        [name, text, end]
            if (name.kind, text.kind, end.kind) == (Kind::Function, Kind::Str, Kind::CloseParen) =>
        {
            if name.is(old, "url") {
                Some(shorter(place, new))
            } else {
                // `src()` is not `url()`: a browser that knows only one of them drops the other.
                Some(format!("{}{})", name.text(old), string(new)))
            }
        }
        _ => None,
    }
}

/// `url(…)`, or a string where that is allowed and shorter.
fn shorter(place: &Place, new: &str) -> String {
    let url = url_token(new);
    if *place != Place::Import {
        return url;
    }
    let text = string(new);
    if text.len() < url.len() { text } else { url }
}

/// A string of the quotes that need fewer escapes; never with `</style` in it.
fn string(value: &str) -> String {
    let count = |quote: char| value.matches(quote).count();
    let quote = if count('"') > count('\'') { '\'' } else { '"' };
    let mut out = String::with_capacity(value.len() + 2);
    out.push(quote);
    let mut before = ' ';
    for c in value.chars() {
        match c {
            '\0' => out.push('\u{fffd}'),
            c if c.is_ascii_control() => out.push_str(&format!("\\{:x} ", u32::from(c))),
            c => {
                if c == quote || c == '\\' || (c == '/' && before == '<') {
                    out.push('\\');
                }
                out.push(c);
            }
        }
        before = c;
    }
    out.push(quote);
    out
}

/// Some value takes a custom property.
pub fn reads_variables(text: &str) -> bool {
    let mut found = false;
    token::each(text, |tok| {
        found = tok.kind == Kind::Function && tok.is(text, "var");
        !found
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts `../` before every address.
    fn up(text: &str) -> Option<String> {
        rebase(text, &mut |_, value| Some(format!("../{value}")))
    }

    #[test]
    fn variables_are_found_however_they_are_written() {
        for text in [
            "a{b:var(--c)}",
            "a{b:VAR( --c )}",
            "a{b:v\\61r(--c)}",
            "a{b:calc(1px + var(--c))}",
        ] {
            assert!(reads_variables(text), "{text}");
        }
        for text in [
            "a{--c:url(d)}",
            "a{b:\"var(--c)\"}",
            ".var{b:c}",
            "/* var(--c) */",
        ] {
            assert!(!reads_variables(text), "{text}");
        }
    }

    #[test]
    fn addresses_move() {
        let check = |text: &str, expected: &str| assert_eq!(up(text).as_deref(), Some(expected), "{text}");
        check("", "");
        check("a{color:red}", "a{color:red}");
        check("a{background:url(i.png)}", "a{background:url(../i.png)}");
        check("a{background:url( 'i.png' )}", "a{background:url(../i.png)}");
        check(
            "a{background:url('a (b) c.png')}",
            "a{background:url(\"../a (b) c.png\")}",
        );
        check("a{background:u\\72l(i.png)}", "a{background:url(../i.png)}");
        check("a{background:url(/i.png)}", "a{background:url(..//i.png)}");
        check("a{background:url(//h/i.png)}", "a{background:url(..///h/i.png)}");
        check("a{background:url(?q)}", "a{background:url(../?q)}");
        check("@import \"a.css\";b{}", "@import \"../a.css\";b{}");
        check("@import url(a.css) print;", "@import \"../a.css\" print;");
        check("@import'a'layer;", "@import\"../a\"layer;");
        check(
            "@font-face{src:url(a.woff) format(\"woff\")}",
            "@font-face{src:url(../a.woff) format(\"woff\")}",
        );
        check(
            "a{background:image-set('a.png' 1x,url(b.png) 2x type('image/png'))}",
            "a{background:image-set(\"../a.png\" 1x,url(../b.png) 2x type('image/png'))}",
        );
        check("a{background:src('a')}", "a{background:src(\"../a\")}");
        check(
            "a{background:url(a) var(--x)}",
            "a{background:url(../a) var(--x)}",
        );
        check(
            "@media print{a{b{mask:url(a#m)}}}",
            "@media print{a{b{mask:url(../a#m)}}}",
        );
        // Neither is an address.
        check("@namespace url(foo);a{}", "@namespace url(foo);a{}");
        check("@namespace svg 'foo';a{}", "@namespace svg 'foo';a{}");
        check("a{content:'a.png'}", "a{content:'a.png'}");
        check(
            "@-moz-document url-prefix(){a{b:c}}",
            "@-moz-document url-prefix(){a{b:c}}",
        );
        // A broken token is dropped by browsers.
        check("a{background:url(a b.png)}", "a{background:url(a b.png)}");
    }

    #[test]
    fn fixed_addresses_stay() {
        let check = |value: &str| {
            let text = format!("a{{--x:url({value});background:url({value})}}");
            assert_eq!(up(&text).as_deref(), Some(text.as_str()));
        };
        check("#x");
        check(" #x ");
        check("");
        check("data:image/png;base64,AA");
        check("DATA:,x");
        check("https://h/a.png");
        check("HTTP://h/a.png");
        check("about:invalid");
        check("' \u{1}blob:x'");
        check("'da\\a ta:,x'");
    }

    #[test]
    fn some_sheets_must_stay() {
        let check = |text: &str| assert_eq!(up(text), None, "{text}");
        check("a{--x:url(i.png)}");
        check("a{--x:{b:url(i.png)}}");
        check("@property --x{syntax:'*';inherits:true;initial-value:url(i.png)}");
        check("@function --x(){result:url(i.png)}");
        check("@document url(i.png){a{b:c}}");
        check("@-moz-document domain('x'){a{b:c}}");
        check("@-moz-document url-prefix('x'){a{b:c}}");
        check("@media print{@document domain(x){}}");
        check("@supports (background:url(i.png)){a{b:c}}");
        check("a{}@import 'b';");
        check("a{background:image-set(var(--x) 1x)}");
        check("a{background:-webkit-image-set(cross-fade(url(#a),var(--x)) 1x)}");
        check("a{background:url(https:i.png)}");
        check("a{background:url(http:/i.png)}");
        check("a{background:url('i.png' crossorigin(anonymous))}");
        check("a{background:url(i.png");
        check(&format!("a{}", "(".repeat(100)));
        assert_eq!(rebase("a{background:url(i.png)}", &mut |_, _| None), None);
        // What stays is not asked about.
        assert_eq!(
            rebase("a{background:url(#x),url(data:,),url()}", &mut |_, _| None).as_deref(),
            Some("a{background:url(#x),url(data:,),url()}")
        );
    }

    #[test]
    fn nothing_changes_where_nothing_is_new() {
        let text = "@import 'a' ;a{b: url( \"c\" ) url(a";
        assert_eq!(
            rebase(text, &mut |_, v| Some(v.to_owned())).as_deref(),
            Some(text)
        );
    }

    proptest::proptest! {
        #[test]
        fn any_address_survives(new in "[ -~\u{e9}\n\t</style'\"()\\\\]*") {
            let text = "@import 'a';@import url(a);b{c:url(a);d:image-set('a' 1x);e:src('a')}";
            let moved = rebase(text, &mut |_, _| Some(new.clone())).expect("every address is relative");
            let places = |text: &str| scan(text, false).urls.into_iter().map(|u| u.place).collect::<Vec<_>>();
            proptest::prop_assert_eq!(places(&moved), places(text));
            proptest::prop_assert!(scan(&moved, false).urls.iter().all(|u| u.value == new));
            proptest::prop_assert!(scan(&moved, false).closed);
        }
    }
}
