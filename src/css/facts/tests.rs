//! What the selectors of a stylesheet can see.

use super::*;

#[test]
fn attributes_and_classes_are_listed() {
    let check = |text: &str, tests: &[&str], classes: &[&str]| {
        let facts = selector_facts(text);
        let names: Vec<_> = facts.attribute_tests.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, tests, "{text}");
        assert_eq!(facts.classes.iter().collect::<Vec<_>>(), classes, "{text}");
        assert!(!facts.unreadable, "{text}");
    };
    check("", &[], &[]);
    check("a{b:c}", &[], &[]);
    check("a[b].c{}", &["b"], &["c"]);
    check("[b],[b],[b=c]{}", &["b", "b"], &[]);
    check(":not([b]):has(> .c:is([d])){}", &["b", "d"], &["c"]);
    check("@media print{.a{& .b{} [c]{}}}", &["c"], &["a", "b"]);
    check("@scope (.a) to ([b]){.c{}}", &["b"], &["a", "c"]);
    check("@supports (a:b){@layer x{.c{}}}", &[], &["c"]);
    check(".md\\:w-1\\/2{}.\\31 0{}", &[], &["10", "md:w-1/2"]);
    check("a{b:[c] .5px .d;e:f(.g)}", &[], &[]);
    check("a{--b:{.c [d]{}}}.e{}", &[], &["e"]);
    check("@import '.a';.b{}@font-face{src:url(.c)}", &[], &["b"]);
    check("<!-- .a{} -->.b{}", &[], &["a", "b"]);
    check(";.a{}}.b{}", &[], &["a", "b"]);
    check("@keyframes k{from{a:b}50.5%{a:b}}", &[], &[]);
    check(".a{b:c", &[], &["a"]);
    check("@unknown{.a{}}", &[], &["a"]);
    check("a:nth-child(2n+1 of .b){}", &[], &["b"]);
    check("/* .a{} */ 'x.b'{} ", &[], &[]);
}

#[test]
fn what_cannot_be_read_is_said() {
    let check = |text: &str, expected: bool| assert_eq!(selector_facts(text).unreadable, expected, "{text}");
    check("a[b]{}", false);
    check("a[b=1]{}", true);
    check("a[]{}", true);
    check("a[{}", false);
    check(":is([b c]){}", true);
    check(&"(".repeat(100), true);
    check(&"a{".repeat(100), true);
}

#[test]
fn tests_of_other_elements_are_left_out() {
    let check = |text: &str, expected: usize| {
        assert_eq!(selector_facts(text).tests_of_images.len(), expected, "{text}")
    };
    check("[class]{}", 1);
    check("img[class]{}", 1);
    check("a[class]{}", 0);
    check("a:not([href]):not([class]){}", 0);
    check("a [class]{}", 1);
    check("a>:not([class]){}", 1);
    check("a:not([id] [class]){}", 1);
    check("a:has([class]){}", 1);
    check("a:is(.b,[class]){}", 0);
    check("a[class] img{}", 0);
    check("a,[class]{}", 1);
}

#[test]
fn subjects_of_content_are_the_last_compounds() {
    let check = |text: &str, class: &str, expected: bool| {
        let facts = selector_facts(text);
        let seen = facts.replaced.iter().any(|s| s.could_match("img", class));
        assert_eq!(seen, expected, "{text} {class}")
    };
    check("p{content:none}", "", false);
    check("img{content:none}", "", true);
    check("IMG{content:none}", "", true);
    check("*{all:unset}", "", true);
    check(".caret{content:''}", "", false);
    check(".caret{content:''}", "a CARET", true);
    check(".dropup .caret{content:''}", "dropup", false);
    check(".dropup .caret,.x::before{content:''}", "caret", true);
    check("a img.b{content:''}", "b", true);
    check("img.b a{content:''}", "b", false);
    check("p{.b{content:''}}", "b", true);
    check("p{&.b{content:''}}", "", false);
    check("p{&{content:''}}", "", true);
    check("@keyframes k{to{content:''}}", "", true);
    check(":is(p,.q){content:''}", "", true);
}

#[test]
fn replaced_content_is_seen() {
    let check = |text: &str, expected: bool| {
        assert_eq!(!selector_facts(text).replaced.is_empty(), expected, "{text}")
    };
    check("a{color:red}", false);
    check("a{content:url(x)}", true);
    check("a{CONTENT :url(x)", true);
    check("a{c\\6fntent:url(x)}", true);
    check("a{color:red;all:unset}", true);
    check("a::before{content:'x'}", false);
    check("a:before,b::AFTER , c d > e:after{content:'x'}", false);
    check("a::marker{content:'x'}", false);
    check("a::before:hover{content:'x'}", false);
    check("a::before,b{content:'x'}", true);
    check("a::before b{content:'x'}", true);
    check("a:hover{content:'x'}", true);
    check("::slotted(img){content:url(x)}", true);
    check("::part(a){content:url(x)}", true);
    check(":not(a::before){content:'x'}", true);
    check("a{&::before{content:'x'}}", false);
    check("a{&:hover{content:'x'}}", true);
    check("a::before{@media print{content:'x'}}", false);
    check("a{@media print{content:'x'}}", true);
    check("@media print{a::after{content:'x'}}", false);
    check("@scope (a){content:'x'}", true);
    check("@page{@top-left{content:'x'}}", false);
    check("@keyframes k{from{content:'x'}}", true);
    check(
        "a{--content:x;content-visibility:auto;align-content:start}",
        false,
    );
    check("a{--x:{content:y}}", false);
    check("@supports (content:'x'){a{b:c}}", false);
}

#[test]
fn rules_about_head_are_seen() {
    let check = |text: &str, expected: bool| assert_eq!(selector_facts(text).sees_links, expected, "{text}");
    check("a b>c:first-child{}", false);
    check("head{display:none}", false);
    check("head,body{margin:0}", false);
    check("link , a b{}", false);
    check("link[rel=x]{}", false);
    check(".link a, [title] b, #head c, :link d{}", false);
    check("a{title:b c}", false);
    check("link+a{}", true);
    check("HEAD link{}", true);
    check("head > *{}", true);
    check("style:first-child{}", true);
    check("meta:nth-child(2){}", true);
    check("script:not([src]){}", true);
    check("html:has(link){}", true);
    check(":has(head > x) b{}", true);
    check("* ~ title{}", true);
    check("head{& > *{}}", true);
    check("head{@media print{a{}}}", true);
    check("a{link{}}", true);
    check("a{b{}}", false);
    check("@scope (head){a{}}", true);
    check("@scope (a){link{}}", true);
    check("@media print{head:empty{}}", true);
}

#[test]
fn rules_that_show_what_is_hidden_are_seen() {
    let check = |text: &str, links: bool, scripts: bool| {
        let facts = selector_facts(text);
        assert_eq!((facts.sees_links, facts.sees_scripts), (links, scripts), "{text}");
    };
    for shows in [
        "*{display:block}",
        "html *{display:block}",
        "body>*{display : block}",
        ":not(body):not(html){color:red;display:grid}",
        "[media]{display:block}",
        "[href$='.css']{display:block}",
        "*{all:unset}",
        "p,*{display:block}",
        "style{display:block}",
        ":is(h1,*){display:block}",
        "@media print{*{@media screen{display:block}}}",
    ] {
        check(shows, true, true);
    }
    for hidden in [
        "*{display:none}",
        "*{color:red}",
        "[hidden]{display:block}",
        ".a,#b,p,:root,a:hover{display:block}",
        "*::before,*:after{display:block}",
        ":is(h1,h2){display:block}",
        "a:not([href]){display:block}",
        "p:not(.x *){display:block}",
        "* p{display:block}",
        "@font-face{display:block}",
    ] {
        check(hidden, false, false);
    }
    for source in [
        "script[src]+h2{}",
        "[src]+h2{}",
        ":empty+h2{}",
        ":not(:empty) h2{}",
        "p:has(+ [src]){}",
        "[src*=a] b{}",
    ] {
        assert!(selector_facts(source).sees_scripts, "{source}");
    }
    check(
        "img[src],p:empty,.x:empty,a:not(:empty),img:not([src]){}",
        false,
        false,
    );
    check(":root:has([rel=stylesheet]:nth-of-type(3)) h1{}", true, false);
    check("a:not([href]) b{}", false, false);
}

proptest::proptest! {
    #[test]
    fn nothing_panics(text in "(a|\\.b|\\[|\\]|=|\\{|\\}|;|:|,|'|\\(|\\)|@scope|@x| |--c:|\\||\\\\|content:|/\\*){0,40}") {
        selector_facts(&text);
        crate::css::imports(&text);
        crate::css::rebase(&text, &mut |_, v| Some(v.to_owned()));
    }
}
