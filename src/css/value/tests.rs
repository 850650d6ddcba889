//! Values get shorter and stay equal in the object model.

use super::*;
use crate::css::token;

#[test]
fn values_get_shorter_and_stay_equal() {
    let check = |name: &str, value: &str, expected: &str| {
        assert_eq!(print(name, value, &token::list(value)), expected)
    };
    check("width", "0.50px", ".5px");
    check("width", "-0.0px", "-0px");
    check("width", "0px", "0");
    check("width", "0.0px", "0");
    check("width", "0em", "0em");
    check("width", "0%", "0%");
    check("width", "1.0e3px", "1.0e3px");
    check("width", "1.0em", "1em");
    check("width", "100px", "100px");
    check("width", "66.66666667%", "66.66666667%");
    check("line-height", "0px", "0px");
    check("flex", "1 1 0px", "1 1 0px");
    check("z-index", "1.0", "1.0");
    check("opacity", "1.0", "1");
    for name in [
        "order",
        "column-count",
        "orphans",
        "widows",
        "counter-reset",
        "grid-row",
        "tab-size",
    ] {
        check(name, "2.0", "2.0");
    }
    check("flex", "1.0 1 0%", "1 1 0%");
    check("animation", "a 1s steps(4.0)", "a 1s steps(4.0)");
    check("grid-template-columns", "repeat(2.0,1.0fr)", "repeat(2.0,1fr)");
    check("transform", "scale( 1.0 , 0.50 )", "scale(1,.5)");
    check("transform", "rotate3d(1.0,0,0,1deg)", "rotate3d(1,0,0,1deg)");
    check("width", "calc((1.0 + 2.0) * 1px)", "calc((1 + 2) * 1px)");
    check(
        "transition-timing-function",
        "cubic-bezier(1.0,0,0,1.0)",
        "cubic-bezier(1,0,0,1)",
    );
    check("opacity", "0.70710678", ".70710678");
    check("width", "calc( 0px + 1.50px )", "calc(0px + 1.5px)");
    check("width", "calc(1px*0.5/2)", "calc(1px*.5/2)");
    check("color", "#AABBCC", "#abc");
    check("color", "#aabbccdd", "#abcd");
    check("color", "#AABBCD", "#aabbcd");
    check("color", "rgb( 1 , 2,3 )", "#010203");
    check("color", "rgb(1.5,2,3)", "rgb(1.5,2,3)");
    check("color", "rgb(256,2,3)", "rgb(256,2,3)");
    check("color", "rgba(0, 0, 0, 0.50)", "rgba(0,0,0,.5)");
    check("color", "red", "red");
    check("background", "url( \"a.png\" ) no-repeat", "url(a.png)no-repeat");
    check("background", "url(\"a b.png\")", "url(\"a b.png\")");
    check("background", "url( a.png )", "url(a.png)");
    check(
        "background",
        "linear-gradient(rgb(0,0,0),#FFF)",
        "linear-gradient(#000000,#fff)"
            .replace("#000000", "#000")
            .as_str(),
    );
    check("content", "'a'", "\"a\"");
    check("content", "'\"'", "'\"'");
    check("content", "'\\f101'", "\"\\f101\"");
    check("content", "'\\27 \\a'", "\"\\27 \\a\"");
    check("content", "'\\''", "'\\''");
    check("content", "'\\\"'", "'\\\"'");
    check("margin", "1px 2px 1px 2px", "1px 2px");
    check("margin", "0px 0 0px 0", "0");
    check("margin", "1px 2px 3px 2px", "1px 2px 3px");
    check("margin", "inherit inherit", "inherit inherit");
    check(
        "border-color",
        "unset unset unset unset",
        "unset unset unset unset",
    );
    check("border-radius", "REVERT REVERT", "REVERT REVERT");
    check("border-style", "solid solid", "solid");
    check("border-radius", "1px 1px / 1px 1px", "1px 1px/1px 1px");
    check("font", "12px / 1.50 'A' , b", "12px/1.5 A,b");
    check("unicode-range", "U+0025-00FF, u+4??", "U+0025-00FF,u+4??");
    check(
        "filter",
        "progid:X.Y( a='#80000000', b=0.50 )",
        "progid:X.Y(a='#80000000',b=0.50)",
    );
    check("filter", "alpha(opacity=50)", "alpha(opacity=50)");
    check("color", "var( --a , #FFF )", "var(--a,#FFF)");
    check("border", "solid 1px #CCC", "1px solid#ccc");
    check("border", "rgba(0, 0, 0, .5) solid", "solid rgba(0,0,0,.5)");
    check("border", "1px solid red blue", "1px solid red blue");
    check("border-top", "none", "none");
    check(
        "transition",
        "all 0.3s ease 0s, opacity 1s ease-in",
        ".3s,opacity 1s ease-in",
    );
    check("transition", "opacity .3s ease", "opacity .3s");
    check("transition", "all color 1s", "all color 1s");
    check("transition", "ease linear 1s", "ease linear 1s");
    check("transition", "ease 1s step-end", "ease 1s step-end");
    check("transition", "all 1s allow-discrete", "all 1s allow-discrete");
    check("transition", "linear 1s all", "linear 1s");
    check("transition", "all", "all");
    check("transition", "none", "none");
    check("transition", "0s ease 0s", "0s");
    check(
        "transition",
        "all .3s cubic-bezier(.1,.2,.3,.4)",
        "all .3s cubic-bezier(.1,.2,.3,.4)",
    );
    check(
        "transform",
        "translate(0px,1px) rotate(0deg)",
        "translate(0,1px)rotate(0deg)",
    );
    check("transform", "perspective(0px)", "perspective(0px)");
    check(
        "font-family",
        "'Helvetica Neue', \"serif\", 'A 1', \"B\"",
        "Helvetica Neue,\"serif\",\"A 1\",B",
    );
    check("font", "12px 'A B', c", "12px A B,c");
    check("font-family", "'a\\62 '", "\"a\\62 \"");
    check("flex", "0 0 auto", "none");
    check("flex", "1 1 auto", "auto");
    check("flex", "1 1 0%", "1 1 0%");
    check("src", "url('a') format('b')", "url(a) format(\"b\")");
    check("a", "b/**/c", "b/**/c");
    check("margin", "1px\\9", "1px\\9");
}
