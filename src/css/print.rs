//! Prints a stylesheet in fewer bytes.
//!
//! From tokens, with a table of rewrites that are known to be invisible (`value`, `prelude`, `merge`), and not through
//! a CSS parser that knows values: such a parser drops what it does not know and rounds what it does, and proving
//! for each declaration that it did neither costs more code than the few rewrites that save bytes. So no sheet is
//! refused, and what is not understood keeps its tokens: only white space and comments go. Comments that begin with
//! `/*!` stay, as with other minifiers: licences ask for it.
//!
//! Some choices are free, such as the order of declarations that do not compete. A few combinations are tried and
//! the one that compresses best is taken.

use std::collections::BTreeSet;

use super::merge::{self, Order, Shape};
use super::token;
use super::tree::{self, Node};
use super::{Place, Scan, choose, piece, scan};

/// The same stylesheet in fewer bytes, or `None` where nothing was won. Never drops or reorders anything that a
/// browser's object model would show.
pub(super) fn print(text: &str) -> Option<String> {
    let found = scan(text, false);
    u32::try_from(text.len()).ok()?;
    let toks = token::list(text);
    if has_stray_backslash(&toks) {
        return None;
    }
    if found.opaque.is_some() {
        let out = piece::squeeze(text, &toks);
        return (out.len() < text.len()).then_some(out);
    }
    let nodes = tree::sheet(text, &toks);
    // A sheet without a declaration of its own takes the encoding of the one that imports it.
    let imports = found.urls.iter().any(|url| url.place == Place::Import);
    let shapes = match text.len() {
        LARGE.. => &SHAPES[..1],
        LONG.. => &SHAPES[..4],
        _ => &SHAPES[..],
    };
    let mut outs: Vec<String> = Vec::with_capacity(shapes.len());
    for &shape in shapes {
        let mut nodes = nodes.clone();
        merge::rules(&mut nodes, shape);
        let mut out = String::with_capacity(text.len());
        write_all(&mut out, &nodes, true);
        if text.starts_with("@charset \"")
            && out.is_ascii()
            && !imports
            && let Some((_, rest)) = out.split_once(';')
        {
            out = rest.to_owned();
        }
        if !outs.contains(&out) {
            outs.push(out);
        }
    }
    let best = if outs.len() > 1 {
        choose::smallest(&outs)
    } else {
        0
    };
    // A second reading, in case a rewrite was wrong about a token.
    outs.into_iter()
        .nth(best)
        .filter(|out| out.len() < text.len() && urls(&found) == urls(&scan(out, false)))
}

/// A backslash that begins no escape stands before a line break, and would begin one before anything else (CSS
/// Syntax 3, section 4.3.8). So rare that the whole text is left alone.
fn has_stray_backslash(toks: &[token::Tok]) -> bool {
    toks.iter().any(|t| t.kind == token::Kind::Delim('\\'))
}

/// The distinct URLs: equal declarations may have become one.
fn urls(found: &Scan) -> BTreeSet<&str> {
    found.urls.iter().map(|url| url.value.as_str()).collect()
}

/// Sheets from this many bytes on are printed in half of the shapes: the time is that of the whole build.
const LONG: usize = 100_000;

/// Sheets from this many bytes on are not printed in several shapes.
const LARGE: usize = 2_000_000;

const SHAPES: [Shape; 8] = [
    Shape {
        order: Order::Ranked,
        reach: 60,
        lists: true,
        fold: true,
    },
    Shape {
        order: Order::Ranked,
        reach: 60,
        lists: false,
        fold: true,
    },
    Shape {
        order: Order::Ranked,
        reach: 6,
        lists: false,
        fold: true,
    },
    Shape {
        order: Order::Ranked,
        reach: 6,
        lists: true,
        fold: true,
    },
    Shape {
        order: Order::Source,
        reach: 60,
        lists: true,
        fold: true,
    },
    Shape {
        order: Order::Name,
        reach: 60,
        lists: false,
        fold: true,
    },
    Shape {
        order: Order::Ranked,
        reach: 0,
        lists: true,
        fold: true,
    },
    Shape {
        order: Order::Ranked,
        reach: 0,
        lists: false,
        fold: true,
    },
];

/// The same for the value of a `style` attribute.
pub fn print_declarations(text: &str) -> Option<String> {
    let found = scan(text, true);
    if found.opaque.is_some() {
        return None;
    }
    let toks = token::list(text);
    if has_stray_backslash(&toks) {
        return None;
    }
    let mut nodes = tree::declarations(text, &toks);
    merge::declarations(&mut nodes, SHAPES[0]);
    let mut out = String::with_capacity(text.len());
    write_all(&mut out, &nodes, false);
    (out.len() < text.len() && urls(&found) == urls(&scan(&out, true))).then_some(out)
}

/// Writes items. Answers whether more may follow.
fn write_all(out: &mut String, nodes: &[Node], root: bool) -> bool {
    for (i, node) in nodes.iter().enumerate() {
        let last = nodes[i + 1..].iter().all(|n| matches!(n, Node::Comment(_)));
        match node {
            Node::Style { selectors, body } => {
                for (k, selector) in selectors.iter().enumerate() {
                    if k > 0 {
                        out.push(',');
                    }
                    out.push_str(selector);
                }
                if !write_block(out, body) {
                    return false;
                }
            }
            Node::Block { head, body, .. } => {
                out.push_str(head);
                if !write_block(out, body) {
                    return false;
                }
            }
            Node::Statement(text) => {
                out.push_str(text);
                if root || !last {
                    out.push(';');
                }
            }
            Node::Declaration(d) => {
                out.push_str(&d.name);
                out.push(':');
                out.push_str(&d.value);
                if d.important {
                    out.push_str("!important");
                }
                if !last {
                    out.push(';');
                }
            }
            Node::Raw(text) => {
                out.push_str(text);
                if !last {
                    out.push(';');
                }
            }
            Node::Comment(text) => out.push_str(text),
            Node::Tail(text) => {
                out.push_str(text);
                return false;
            }
        }
    }
    true
}

fn write_block(out: &mut String, body: &[Node]) -> bool {
    out.push('{');
    let more = write_all(out, body, false);
    if more {
        out.push('}');
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints, or keeps what cannot be printed shorter; prints the result again, which must change nothing.
    fn printed(css: &str) -> String {
        let out = print(css).unwrap_or_else(|| css.to_owned());
        let again = print(&out).unwrap_or_else(|| out.clone());
        assert_eq!(again, out, "not stable: {css}");
        out
    }

    #[track_caller]
    fn check(css: &str, expected: &str) {
        assert_eq!(printed(css), expected, "{css}");
    }

    #[test]
    fn rules_and_declarations() {
        check("a { color : red ; }", "a{color:red}");
        check("a{color:red;;}", "a{color:red}");
        check("a{color:red !IMPORTANT}", "a{color:red!important}");
        check("a{COLOR: Red}", "a{color:Red}");
        check(
            "/* x */ a{/* y */color:red/* z */}/*! keep */",
            "a{color:red}/*! keep */",
        );
        check("a{}b{color:red}@media x{}", "b{color:red}");
        check(
            "@media x { @media y { a { b : c } } }",
            "@media x{@media y{a{b:c}}}",
        );
        check(
            "@font-face { font-family : 'a b' ; src : url( 'a' ) }",
            "@font-face{font-family:a b;src:url(a)}",
        );
        check("@import url( 'a' ) ; a{b:c}", "@import\"a\";a{b:c}");
        check("@layer a , b ;", "@layer a,b;");
        check("@page :first { margin : 0px }", "@page :first{margin:0}");
        check("a { b { c : d } & > e { f : g } }", "a{b{c:d}&>e{f:g}}");
        check("<!-- a { b : c } -->", "a{b:c}");
        check(
            "a{--x: { b : c } ; --y:  1  2 ;--z: }",
            "a{--x:{ b : c };--y:1  2;--z: }",
        );
        check(
            "@keyframes k { from { a : b } 50% { a : c } 100% { a : b } }",
            "@keyframes k{0%,to{a:b}50%{a:c}}",
        );
    }

    #[test]
    fn fallbacks_and_hacks_stay() {
        check(
            "a{color:red;color:oklch(0 0 0)} ",
            "a{color:red;color:oklch(0 0 0)}",
        );
        check("a{height:100vh;height:100dvh} ", "a{height:100vh;height:100dvh}");
        check("a{display:block;display:grid} ", "a{display:block;display:grid}");
        check(
            "a{ *zoom : 1; _height: 1px; zoom: 1\\9 }",
            "a{_height:1px;*zoom:1;zoom:1\\9}",
        );
        check("a{ ;foo }", "a{foo}");
        check(
            "a{ color: red; // x: y;\n margin: 0 }",
            "a{color:red;// x: y;margin:0}",
        );
        check(
            "a{filter: progid:D.M.g( a='#1', b=2 ) }",
            "a{filter:progid:D.M.g(a='#1',b=2)}",
        );
        check("a::before{content: '\\f101' }", "a:before{content:\"\\f101\"}");
        check(
            ".a{ background: url(a b.png) red }",
            ".a{background: url(a b.png) red}",
        );
        check(";.a { b : c }", ";.a{b : c}");
        for css in [
            ".a\\\n{ color : red } .b{c:d}",
            "a{ b : c\\\n; d : e }",
            "@media x\\\n{ a{ b : c } }",
        ] {
            check(css, css);
        }
        check("} .a { b : c } .d { e : f }", "} .a{b : c}.d{e:f}");
        check("@tailwind  base; @apply  a  b ;", "@tailwind base;@apply a b;");
        check("@mixin a { b : c }", "@mixin a{b : c}");
        check(
            ".a{color:red} .a::-moz-x{color:red}",
            ".a{color:red}.a::-moz-x{color:red}",
        );
        check(
            "a{position:absolute;position:var(--x) }",
            "a{position:absolute;position:var(--x)}",
        );
    }

    #[test]
    fn what_is_dead_behind_a_rule_stays_dead() {
        let squeezed = |css: &str| check(&css.replace('_', "  "), &css.replace('_', ""));
        squeezed(".z{}_@import\"i.css\";b{c:d}");
        squeezed("@media print{}_@import\"i.css\";b{c:d}");
        squeezed("a{color:red}_@import\"i.css\";b{margin:0}_a{color:red;padding:0}");
        squeezed(".z{}_@namespace\"http://www.w3.org/2000/svg\";p{c:d}");
        squeezed("a{color:red}_a{margin:0}_@\\69mport\"i.css\";b{c:d}");
        squeezed("@import\"a\";@media x{a{c:d}}_@import\"i.css\";@media x{a{e:f}}");
        check(
            ".z{} @import 'i.css'; p{} a{c:d} a{e:f}",
            ".z{}@import\"i.css\";a{c:d;e:f}",
        );
        // Alive, and not at the start.
        check(
            "@layer a; @import 'i.css'; p{} a{c:d}",
            "@layer a;@import\"i.css\";a{c:d}",
        );
        check(
            "a{color:red}p{}@layer b; a{margin:0}",
            "a{color:red}@layer b;a{margin:0}",
        );
    }

    #[test]
    fn charset_stays_where_it_matters() {
        check(
            "@charset \"utf-8\"; a{b:'\u{e9}'}",
            "@charset \"utf-8\";a{b:\"\u{e9}\"}",
        );
        check("@charset \"utf-8\"; a{b:c}", "a{b:c}");
        check(
            "@charset \"utf-8\"; @import \"b.css\"; a{b:c}",
            "@charset \"utf-8\";@import\"b.css\";a{b:c}",
        );
        check("a{b: '\u{f101}' }", "a{b:\"\u{f101}\"}");
    }

    #[test]
    fn what_is_open_at_the_end_stays_open() {
        check("a { b : c", "a{b:c}");
        check("a { b : c } d { e : f(g  h", "a{b:c}d{e : f(g  h");
        check("a { b : c } d { e : 'g", "a{b:c}d{e : 'g");
        check("a  { b : c } /* x", "a{b:c}");
        check("@media x { a { b : url(c  ", "@media x{a{b : url(c  ");
    }

    #[test]
    fn rules_move_only_where_nothing_can_tell() {
        // The same selectors, the same body.
        check("a{color:red}a{margin:0}", "a{color:red;margin:0}");
        check("a{color:red}b{color:red}", "a,b{color:red}");
        check(
            "a{color:red}b{margin:0}a{padding:0}",
            "a{color:red;padding:0}b{margin:0}",
        );
        check("a{color:red}b{margin:0}c{color:red}", "a,c{color:red}b{margin:0}");
        // The order of unequal specificities decides nothing.
        check(
            "a{color:red}.b{color:blue}a{top:0} ",
            "a{color:red;top:0}.b{color:blue}",
        );
        check(
            ".a{color:red}b:not(.c){color:blue}.a{top:0} ",
            ".a{color:red;top:0}b:not(.c){color:blue}",
        );
        check(
            ".a{color:red}:hover{color:blue}.d{color:red} ",
            ".a{color:red}:hover{color:blue}.d{color:red}",
        );
        check(
            ".a{color:red}b:is(.c){color:blue}.d{color:red} ",
            ".a{color:red}b:is(.c){color:blue}.d{color:red}",
        );
        check(
            "a{color:red}b,.c{color:blue}d{color:red} ",
            "a{color:red}.c,b{color:blue}d{color:red}",
        );
        check(
            "a{color:red}@media x{.b{color:blue}}c{color:red} ",
            "a,c{color:red}@media x{.b{color:blue}}",
        );
        check(
            "a{color:red}@layer x{.b{color:blue}}c{color:red} ",
            "a{color:red}@layer x{.b{color:blue}}c{color:red}",
        );
        // Nor does the order of an important declaration and another.
        check(
            "a{color:red}b{color:blue!important}c{color:red} ",
            "a,c{color:red}b{color:blue!important}",
        );
        // What is passed sets the same thing.
        check(
            "a{color:red}b{color:blue}a{color:red} ",
            "b{color:blue}a{color:red}",
        );
        check(
            "a{margin:0}b{margin-top:1px}a{margin-left:0} ",
            "a{margin:0}b{margin-top:1px}a{margin-left:0}",
        );
        check(
            "a{margin:0}b{margin-top:1px}a{margin:2px} ",
            "a{margin:0}b{margin-top:1px}a{margin:2px}",
        );
        check("a{color:red}a{color:blue} ", "a{color:red}a{color:blue}");
        check("a{color:red;color:blue;color:red} ", "a{color:blue;color:red}");
        // Repeated later, but not shown there.
        check(
            "a{margin:0}b{margin:1px}a{margin:0;margin-top:2vw} ",
            "a{margin:0}b{margin:1px}a{margin:0;margin-top:2vw}",
        );
        // Blocks in between.
        check("@media x{a{b:c}}@media x{d{e:f}}", "@media x{a{b:c}d{e:f}}");
        check(
            "@media x{a{color:red}}a{color:blue}@media x{b{color:red}} ",
            "@media x{a{color:red}}a{color:blue}@media x{b{color:red}}",
        );
        check(
            "@layer x{a{color:red}}@layer x{b{color:red}} ",
            "@layer x{a{color:red}}@layer x{b{color:red}}",
        );
        // One unknown selector kills a list.
        check(
            "a{color:red}b:-x-y{color:red}c{color:red} ",
            "a,c{color:red}b:-x-y{color:red}",
        );
    }

    #[test]
    fn style_attributes() {
        let check = |css: &str, expected: Option<&str>| {
            assert_eq!(print_declarations(css).as_deref(), expected, "{css}")
        };
        check(" color : red ; ", Some("color:red"));
        check("color:red", None);
        check(
            "background: url('a b') ; color: red",
            Some("background:url(\"a b\");color:red"),
        );
        check("color: red\\\n; top: 0", None);
        check("color: red; }", Some("color:red;}"));
        check("a { b : c }", Some("a{b:c}"));
    }

    #[test]
    fn depth_and_size_are_no_danger() {
        for open in [":is(", "calc(", "a{", "[", "(", "@media x{"] {
            let css = format!("a{{b:{}", open.repeat(100_000));
            assert_eq!(print(&css), None);
            let css = format!("{}  ", open.repeat(60));
            print(&css);
        }
        let many: String = (0..20_000)
            .map(|i| format!(".n{i} {{ color: #{i:06x} }}\n"))
            .collect();
        assert!(print(&many).is_some());
        let same: String = (0..20_000).map(|i| format!(".n{i} {{ color: red }}\n")).collect();
        assert!(print(&same).is_some());
        let one = "a { color: red }".repeat(20_000);
        assert_eq!(print(&one).as_deref(), Some("a{color:red}"));
        let long = format!("a{{{}}}", "color: red; top: 0;".repeat(20_000));
        assert_eq!(print(&long).as_deref(), Some("a{color:red;top:0}"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(css in "([a-c.#:;{}()\\[\\]@!*+>~,'\"/\\\\ 0-9%-]|url\\(|/\\*|\\*/|@media |--|!important|\n|\u{e9}|px|rgb\\(){0,60}") {
            if let Some(out) = print(&css) {
                assert!(out.len() < css.len());
                if let Some(again) = print(&out) {
                    assert!(again.len() < out.len());
                }
            }
            print_declarations(&css);
        }
    }
}
