//! Traps of dependencies that the code is built around. When an upgrade changes one, this says so first.
//!
//! A test that fails here is good or bad news about the dependency, not a fault of ours: read the comment beside
//! the code that works around it, then change both.

use std::cell::RefCell;

use lightningcss::printer::PrinterOptions;
use lightningcss::stylesheet::{ParserOptions, StyleSheet};
use lol_html::{HtmlRewriter, Settings, element};

/// Start tags with the bytes that the rewriter says their first attribute's value stands in.
fn values(html: &str) -> Result<Vec<(String, Option<String>)>, lol_html::errors::RewritingError> {
    let found = RefCell::new(Vec::new());
    let settings = Settings::new()
        .with_strict(true)
        .append_element_content_handler(element!("*", |el| {
            let location = el
                .attributes()
                .first()
                .and_then(|attribute| attribute.value_source_location());
            let value = location.map(|location| html[location.bytes()].to_string());
            found.borrow_mut().push((el.tag_name(), value));
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    rewriter.write(html.as_bytes())?;
    rewriter.end()?;
    Ok(found.into_inner())
}

#[track_caller]
fn check_values(html: &str, expected: &[(&str, Option<&str>)]) {
    let found = values(html).expect("strict parsing accepts this");
    let found: Vec<(&str, Option<&str>)> = found
        .iter()
        .map(|(tag, v)| (tag.as_str(), v.as_deref()))
        .collect();
    assert_eq!(found, expected, "{html}");
}

#[test]
fn lol_html_gives_the_undecoded_bytes_of_a_value() {
    check_values("<img src=\"a&amp;b.png\">", &[("img", Some("a&amp;b.png"))]);
    check_values("<p><img SRC = 'a b'>", &[("p", None), ("img", Some("a b"))]);
    check_values("<img src=a.png/>", &[("img", Some("a.png/"))]);
    check_values("<img src>", &[("img", None)]);
}

#[test]
fn lol_html_sees_no_elements_in_raw_text_and_passes_a_cut_tag() {
    check_values("<noscript a=1><img src=x></noscript>", &[("noscript", Some("1"))]);
    check_values(
        "<template a=1><img src=x></template>",
        &[("template", Some("1")), ("img", Some("x"))],
    );
    check_values("<p a=1>text<img src=\"cut", &[("p", Some("1"))]);
}

#[test]
fn lol_html_strict_refuses_what_it_cannot_be_sure_of() {
    assert!(values("<select><style>a</style></select>").is_err());
    assert!(values("<frameset><frame src=a></frameset><script>x</script>").is_err());
}

/// The sheet printed as short as `lightningcss` can without its `minify()`.
fn print(css: &str, error_recovery: bool) -> Option<String> {
    let options = ParserOptions {
        error_recovery,
        ..ParserOptions::default()
    };
    let sheet = StyleSheet::parse(css, options).ok()?;
    Some(
        sheet
            .to_css(PrinterOptions {
                minify: true,
                ..PrinterOptions::default()
            })
            .ok()?
            .code,
    )
}

#[track_caller]
fn check_print(css: &str, expected: &str) {
    assert_eq!(print(css, false).as_deref(), Some(expected), "{css}");
}

#[test]
fn lightningcss_rounds_to_six_digits() {
    check_print("a{width:66.66666667%}", "a{width:66.6667%}");
    check_print("a{width:123456.789px}", "a{width:123457px}");
}

#[test]
fn lightningcss_drops_the_charset_and_unescapes() {
    check_print("@charset \"utf-8\";a{color:red}", "a{color:red}");
    check_print("a{content:\"\\f101\"}", "a{content:\"\u{f101}\"}");
}

#[test]
fn lightningcss_error_recovery_loses_what_stands_before() {
    assert_eq!(print("a{color:red;*zoom:1}", false), None);
    assert_eq!(print("a{color:red;*zoom:1}", true).as_deref(), Some("a{}"));
}

#[test]
fn cssparser_counts_positions_in_bytes() {
    let css = "\u{e9}{background:url( a.png )}";
    let mut parser = cssparser::Parser::new(css);
    parser.next().expect("an identifier");
    assert_eq!(parser.position().byte_index(), 2);
}
