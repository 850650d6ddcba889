use super::*;

/// One line an import: address, layer, supports, media, statement.
fn list(text: &str) -> Vec<String> {
    imports(text)
        .iter()
        .map(|i| {
            let mut line = i.url.clone();
            match &i.layer {
                None => {}
                Some(None) => line += " layer",
                Some(Some(name)) => line += &format!(" layer({name})"),
            }
            if let Some(supports) = &i.supports {
                line += &format!(" supports({supports})");
            }
            if let Some(media) = &i.media {
                line += &format!(" [{media}]");
            }
            line
        })
        .collect()
}

#[test]
fn imports_are_listed() {
    let check = |text: &str, expected: &[&str]| assert_eq!(list(text), expected, "{text}");
    check("", &[]);
    check("@import 'a';", &["a"]);
    check("@import 'a'", &["a"]);
    check("@IMPORT url(a);@\\69mport url( \"b\" ) ;", &["a", "b"]);
    check("@import'a'print;", &["a [print]"]);
    check("@import 'a' layer;", &["a layer"]);
    check(
        "@import 'a' LAYER(b.c) screen, print;",
        &["a layer(b.c) [screen, print]"],
    );
    check("@import 'a' layer( b );", &["a layer(b)"]);
    check(
        "@import 'a' supports(display: grid) print;",
        &["a supports(display: grid) [print]"],
    );
    check(
        "@import 'a' layer(x) supports(not (a:b)) (min-width:1px);",
        &["a layer(x) supports(not (a:b)) [(min-width:1px)]"],
    );
    check(
        "@import 'a' layer (min-width:1px);",
        &["a layer [(min-width:1px)]"],
    );
    // None of these is a layer: general queries that never match.
    check("@import 'a' layer();", &["a [layer()]"]);
    check("@import 'a' layer(a b);", &["a [layer(a b)]"]);
    check("@import 'a' layer(a . b);", &["a [layer(a . b)]"]);
    check("@import 'a' layer(inherit);", &["a [layer(inherit)]"]);
    check("@import 'a' supports(a:b) layer;", &["a supports(a:b) [layer]"]);
    check("@import 'a' supports(x);@import 'b';", &["b"]);
    check("@layer;@import 'a';", &["a"]);
    check("@layer a . b;@import 'a';", &["a"]);
    check("@import 'a';@charset 'x';@import 'b';", &["a", "b"]);
    check("@import 'a'{}@import 'b';", &["b"]);
    check("@import 'a' supports(x);@layer l;@import 'b';", &[]);
    check("/* */@import/**/'a'/**/print/**/;", &["a [print]"]);
    check("<!--@import 'a';-->@import 'b';", &["a", "b"]);
    check("@charset \"x\";@import 'a';", &["a"]);
    check("@layer a, b.c;@import 'a';", &["a"]);
    check("@import 'a';@layer x;@import 'b';", &["a"]);
    check("@import 'a';b{}@import 'c';", &["a"]);
    check("@namespace 'x';@import 'a';", &[]);
    check("@layer x{}@import 'a';", &[]);
    check("@media print{@import 'a';}", &[]);
    check("@import a;", &[]);
    check("@import 'a'{}", &[]);
    check("@import url('a' b);", &[]);
    check("@import src('a');", &[]);
    check("@import;", &[]);
    check("@import 'a' };", &[]);
    // Browsers that drop the rule before it read it.
    check("@x;@import 'a';", &[]);
    check("a:nope{}@import 'a';", &[]);
    check(&"(".repeat(100), &[]);
}

#[test]
fn a_span_is_the_statement() {
    let text = "@charset \"x\"; @import 'a' print ; @import 'b'";
    let spans: Vec<&str> = imports(text).into_iter().map(|i| &text[i.span]).collect();
    assert_eq!(spans, ["@import 'a' print ;", "@import 'b'"]);
}

fn put(text: &str, sheets: &[Option<&str>]) -> Result<String, &'static str> {
    let found = imports(text);
    assert_eq!(found.len(), sheets.len(), "{text}");
    let with: Vec<_> = found.into_iter().zip(sheets.iter().copied()).collect();
    flatten(text, &with)
}

#[test]
fn imported_sheets_are_put_in() {
    let check = |text: &str, sheets: &[Option<&str>], expected: &str| {
        assert_eq!(put(text, sheets).as_deref(), Ok(expected), "{text}");
    };
    let a = Some("a{}");
    check("@import 'x';b{}", &[None], "@import 'x';b{}");
    check("@import 'x';b{}", &[a], "a{}b{}");
    check("@import 'x'", &[a], "a{}");
    check("@import 'x';b{", &[a], "a{}b{");
    check("@import 'x' all;b{}", &[a], "a{}b{}");
    check("@import 'x';@import 'x';", &[a, Some("/*!*/c{}")], "a{}/*!*/c{}");
    check(
        "@charset \"x\";@import 'x';",
        &[Some("@charset \"y\";a{}")],
        "@charset \"x\";a{}",
    );
    check("@import 'x' print;b{}", &[a], "@media print{a{}}b{}");
    check("@import 'x' layer;b{}", &[a], "@layer{a{}}b{}");
    check("@import 'x' layer(l.m);b{}", &[a], "@layer l.m{a{}}b{}");
    check("@import 'x' supports(b:c);", &[a], "@supports (b:c){a{}}");
    check(
        "@import 'x' layer(l) supports((b:c) or (d:e)) print;",
        &[a],
        "@media print{@supports (b:c) or (d:e){@layer l{a{}}}}",
    );
    check("@import 'x';@layer l;@layer m{}", &[a], "a{}@layer l;@layer m{}");
    check("@layer l;@import 'x' layer(m);", &[a], "@layer l;@layer m{a{}}");
    // Those that stay must be first.
    check("@import 'o';@import 'x';", &[None, a], "@import 'o';a{}");
    check(
        "@import 'x';b{}",
        &[Some("@import 'o';a{}")],
        "@import 'o';a{}b{}",
    );
    check(
        "@import 'o';@import 'x';",
        &[None, Some("@import 'p';a{}")],
        "@import 'o';@import 'p';a{}",
    );
    check(
        "@import 'x';@import 'o';",
        &[Some("/**/"), None],
        "/**/@import 'o';",
    );
    check(
        "@import 'x';@import 'o';",
        &[Some("@layer l;"), None],
        "@layer l;@import 'o';",
    );
    // What is ignored stays so.
    check("@import 'x';b{}@import 'y';", &[a], "a{}b{}@import 'y';");
}

#[test]
fn what_would_mean_something_else_is_refused() {
    let check = |text: &str, sheets: &[Option<&str>]| {
        let result = put(text, sheets);
        assert!(result.is_err(), "{text} {result:?}");
    };
    let a = Some("a{}");
    check("@import 'x';@import 'o';", &[a, None]);
    check("@import 'o';@import 'x';", &[None, Some("@layer l;@import 'p';")]);
    check("@import 'x';@import 'y';", &[a, Some("@import 'o';")]);
    check("@import 'x' print;", &[Some("@import 'o';")]);
    check("@import 'x' layer;", &[Some("a{}@import 'o';")]);
    check("@import 'x';", &[Some("@namespace 'n';a{}")]);
    check("@import 'x';@namespace 'n';b{}", &[a]);
    check("@import 'x';", &[Some("a{")]);
    check("@import 'x';", &[Some("a")]);
    check("@import 'x';", &[Some("/*")]);
    check("@import 'x';", &[Some("\u{feff}a{}")]);
    check("@import 'x';", &[Some("@scope{a{}}")]);
    check("@import 'x' print;", &[Some("}a{}")]);
    check("@import 'x' layer;", &[Some(";a{}")]);
    check("@import 'x' supports(b:c);", &[Some("<!--a{}-->")]);
    check("@import 'x' nonsense and;", &[a]);
    check("@import 'x' layer();", &[a]);
    check("@import 'x' scope((b));", &[a]);
    check("@import 'x' layer(\\61);", &[a]);
    // A browser that drops the odd rule obeys the last import.
    check("@import 'x';b:nope{}@import 'y';", &[a]);
    check("@import 'x';@nope{}@import 'y';", &[a]);
    check("@import 'x';@layer;@import 'y';", &[a]);
    // Chromium drops the first, so the layer ends nothing; by the standard it does.
    check("@import 'x' supports(a:b);@layer l;@import 'y';", &[a]);
    check("@import 'x';@import url('y' z);@import 'y';", &[a, None]);
    check("@import 'x';@import 'y' supports(nonsense);", &[a]);
    assert!(flatten("@import 'x';", &[]).is_err());
}
