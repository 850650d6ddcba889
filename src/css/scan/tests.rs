//! What the scanner finds, and that no text harms it.

use super::*;

fn show(url: &Url) -> String {
    let place = match &url.place {
        Place::Import => "import".to_owned(),
        Place::FontFace => "font".to_owned(),
        Place::Property {
            name,
            image_set: false,
        } => name.clone(),
        Place::Property {
            name,
            image_set: true,
        } => format!("{name}+set"),
        Place::Custom => "custom".to_owned(),
        Place::Other => "other".to_owned(),
    };
    format!("{place} {}", url.value)
}

#[track_caller]
fn check(css: &str, expected: &[&str]) {
    let found = scan(css, false);
    assert_eq!(found.urls.iter().map(show).collect::<Vec<_>>(), expected, "{css}");
}

#[test]
fn urls_and_their_places() {
    check(".a{background:url(a.png)}", &["background a.png"]);
    check(
        ".a{BACKGROUND:URL( 'a b.png' ) no-repeat}",
        &["background a b.png"],
    );
    check(".a{background:u\\72l(a.png)}", &["background a.png"]);
    check(".a{background:url(a\\ b\\).png)}", &["background a b).png"]);
    check(".a{background:url(a b.png)}", &[]);
    check(".a{background:url()}", &["background "]);
    check(".a{--x:url(a.png);--y:{a:url(b)}}", &["custom a.png", "custom b"]);
    check(
        ".a{b:image-set(\"a\" 1x, url(b) 2x type(\"image/png\"))}",
        &["b+set a", "b+set b"],
    );
    check(".a{b:-webkit-image-set('a' 1x)}", &["b+set a"]);
    check(".a{b:src('a') src(var(--x))}", &["b a"]);
    check(".a{content:'url(a)' /*url(b)*/}", &[]);
    check(
        "@font-face{font-family:'a';src:local('b'),url(c.woff) format('woff')}",
        &["font c.woff"],
    );
    check("@namespace svg url(http://x/);a{}", &["other http://x/"]);
    check(
        "@supports (background:url(a)){.b{background:url(c)}}",
        &["other a", "background c"],
    );
    check(
        "@-moz-document url(a){.b{background:url(c)}}",
        &["other a", "background c"],
    );
    check("@media x{.b{&:hover{background:url(c)}}}", &["background c"]);
    check(".a{a:hover{mask:url(c)}cursor:url(d)}", &["mask c", "cursor d"]);
    check(".a{@media x{mask:url(c)}}", &["mask c"]);
    check("@keyframes k{from{background:url(a)}}", &["background a"]);
    check("@mixin x{.b{background:url(a)}}", &["other a"]);
    check("@property --x{syntax:'<url>';initial-value:url(a)}", &["other a"]);
    check("@page{@top-left{content:url(a)}}", &["content a"]);
    check(".b{background:url(a", &["background a"]);
    check(".b{background:url('a", &["background a"]);
    check(
        ";.a{background:url(a)}.b{background:url(b)}",
        &["other a", "background b"],
    );
    check(
        ".a{*background:url(a);background:url(b)}",
        &["other a", "background b"],
    );
}

#[test]
fn only_leading_imports_are_imports() {
    check(
        "@import 'a';@import url(b);@import url( \"c\" ) print;",
        &["import a", "import b", "import c"],
    );
    check(
        "@charset 'x';@layer a,b;@import 'a' layer(x) supports(background:url(q))",
        &["import a", "other q"],
    );
    check("<!-- @import 'a'; -->", &["import a"]);
    check("@import 'a", &["import a"]);
    check("@import url(\"a", &["import a"]);
    check("@import 'a'{}", &["other a"]);
    check("@import x 'a';", &[]);
    check("@import (url(a));", &["other a"]);
    check(".a{}@import 'a';", &["other a"]);
    check("@media x{@import 'a';}@import 'b';", &["other a", "other b"]);
    check("@import 'a';@layer x;@import 'b';", &["import a", "other b"]);
    check("@layer x{}@import 'a';", &["other a"]);
    check("@namespace a 'b';@import 'a';", &["other a"]);
    check("@tailwind base;@import 'a';", &["import a"]);
    check(";.x{}@import 'a';", &["import a"]);
    check("{}@import 'a';", &["import a"]);
}

#[test]
fn spans_hold_the_whole_token() {
    for (css, expected) in [
        ("a{b:url( c )}", "url( c )"),
        ("a{b:url( 'c' )}", "url( 'c' )"),
        ("a{b:src( 'c' )}", "src( 'c' )"),
        ("a{b:image-set('c' 1x)}", "'c'"),
        ("@import /**/ 'c' print;", "'c'"),
        ("a{b:url('c' ", "url('c' "),
        ("\u{e9}{b:url(\u{e9})}", "url(\u{e9})"),
    ] {
        let found = scan(css, false);
        assert_eq!(&css[found.urls[0].span.clone()], expected, "{css}");
    }
}

#[test]
fn a_style_attribute_is_a_list_of_declarations() {
    let found = scan("color:red;background:url(a);--x:url(b)", true);
    assert_eq!(
        found.urls.iter().map(show).collect::<Vec<_>>(),
        ["background a", "custom b"]
    );
    assert!(found.closed);
    let found = scan("a{background:url(a)}", true);
    assert_eq!(found.urls.iter().map(show).collect::<Vec<_>>(), ["other a"]);
    assert!(!scan("background:url(a", true).closed);
}

#[test]
fn closed_means_that_text_may_follow() {
    let check = |css: &str, expected: bool| assert_eq!(scan(css, false).closed, expected, "{css}");
    check("", true);
    check("a{}", true);
    check("a{} /* x */ ", true);
    check("a{} -->", true);
    check("a{}/* x", false);
    check("a{", false);
    check("@media x{a{}", false);
    check("a{b:'c", false);
    check("a", false);
    check("@import 'a';", true);
    check("@import 'a'", false);
    check("a{}}", false);
    check("a{}b{}}c{}", true);
    check("a{b:(}c{}", false);
    check("a{}\\", false);
}

#[test]
fn selectors_that_test_the_style_attribute() {
    let check = |css: &str, expected: bool| assert_eq!(scan(css, false).selects_style, expected, "{css}");
    check("[style]{}", true);
    check("a:not(:is([ STYLE *= 'x' i])){}", true);
    check("@media x{[st\\79 le]{}}", true);
    check("a{&[*|style]{}}", true);
    check("@scope ([style]){a{}}", true);
    check("[title=style]{}", false);
    check("[data-style]{}", false);
    check("[style-x]{}", false);
    check("a{grid-template-columns:[style] 1fr}", false);
}

#[test]
fn problems_point_at_the_fault() {
    let check = |css: &str, expected: &[usize]| {
        let at: Vec<usize> = scan(css, false).problems.iter().map(|p| p.0).collect();
        assert_eq!(at, expected, "{css}");
    };
    check("a{b:c;d:e}", &[]);
    check("a{}}b{}", &[3]);
    check("a{b:c;;d}", &[7]);
    check("a{b:}", &[2]);
    check("a{--b:}", &[]);
    check("a{};b{}", &[3]);
    // Written for old browsers, on purpose.
    check("a{*b:c}", &[]);
    check("a{*b}", &[2]);
    check("@-odd{a{b:c}}", &[]);
    check("a{b:c", &[1]);
    check("a{b:url(c d)}", &[4]);
    // The second quote opens a string that takes the brace with it.
    check("a{b:'c\nd'}", &[1, 4, 8]);
    check("@odd{a{b:}}", &[0]);
    check("{}", &[0]);
}

#[test]
fn depth_makes_opaque_without_recursion() {
    for open in [":is(", "calc(", "a{", "[", "(", "@media x{"] {
        let css = open.repeat(200_000);
        assert!(scan(&css, false).opaque.is_some(), "{open}");
        assert!(scan(&format!("a{{b:{css}"), false).opaque.is_some(), "{open}");
    }
    assert!(scan(&"a{".repeat(64), false).opaque.is_none());
    assert!(scan(&"a{".repeat(65), false).opaque.is_some());
}
