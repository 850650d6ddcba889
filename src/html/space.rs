//! In which namespace a tag stands: HTML, SVG or MathML (HTML standard, 13.2.6.5).
//!
//! A stack of namespaces instead of one of elements; enough for well-formed pages. Markup that it cannot follow
//! is reported as unsure.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    Html,
    Svg,
    Math,
}

/// The namespaces around the current place, and the elements that opened them.
#[derive(Debug, Default)]
pub(super) struct Spaces {
    stack: Vec<(Space, String)>,
    /// An end tag of an HTML element came while an `svg` or `math` was open.
    pub(super) unsure: bool,
}

/// What decides about a start tag beside its name.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Start {
    pub(super) self_closing: bool,
    /// `font` with `color`, `face` or `size`.
    pub(super) font: bool,
    /// `annotation-xml` with an HTML encoding.
    pub(super) html: bool,
}

impl Spaces {
    pub(super) fn current(&self) -> Space {
        self.stack.last().map_or(Space::Html, |(space, _)| *space)
    }

    /// Whether an `svg` or `math` is open anywhere around.
    pub(super) fn open(&self) -> bool {
        !self.stack.is_empty()
    }

    /// The namespace of the element that a start tag makes.
    pub(super) fn start(&mut self, name: &str, start: Start) -> Space {
        let current = self.current();
        let (element, inside) = match (current, name) {
            (Space::Html, "svg") => (Space::Svg, Some(Space::Svg)),
            (Space::Html, "math") => (Space::Math, Some(Space::Math)),
            (Space::Html, _) => (Space::Html, None),
            _ if leaves(name) || (name == "font" && start.font) => {
                while self.current() != Space::Html {
                    self.stack.pop();
                }
                (Space::Html, None)
            }
            (_, "svg" | "math") => (current, Some(current)),
            (Space::Svg, "foreignobject" | "desc" | "title") => (current, Some(Space::Html)),
            (Space::Math, "mi" | "mo" | "mn" | "ms" | "mtext") => (current, Some(Space::Html)),
            (Space::Math, "annotation-xml") if start.html => (current, Some(Space::Html)),
            _ => (current, None),
        };
        if let Some(inside) = inside.filter(|_| !start.self_closing) {
            self.stack.push((inside, name.to_owned()));
        }
        element
    }

    pub(super) fn end(&mut self, name: &[u8]) {
        let Some((space, opener)) = self.stack.last() else {
            return;
        };
        if name.eq_ignore_ascii_case(opener.as_bytes()) {
            self.stack.pop();
        } else if *space != Space::Html && name_leaves(name) {
            self.unsure = true;
        }
    }
}

/// Start tags that end foreign content.
fn leaves(name: &str) -> bool {
    LEAVE.contains(&name)
}

fn name_leaves(name: &[u8]) -> bool {
    LEAVE
        .iter()
        .any(|leave| name.eq_ignore_ascii_case(leave.as_bytes()))
}

const LEAVE: [&str; 44] = [
    "b",
    "big",
    "blockquote",
    "body",
    "br",
    "center",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "i",
    "img",
    "li",
    "listing",
    "menu",
    "meta",
    "nobr",
    "ol",
    "p",
    "pre",
    "ruby",
    "s",
    "small",
    "span",
    "strong",
    "strike",
    "sub",
    "sup",
    "table",
    "tt",
    "u",
    "ul",
    "var",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The namespaces of the start tags in `tags`, as letters.
    fn spaces(tags: &str) -> String {
        let mut spaces = Spaces::default();
        let mut out = String::new();
        for tag in tags.split_whitespace() {
            if let Some(name) = tag.strip_prefix('/') {
                spaces.end(name.as_bytes());
                continue;
            }
            let name = tag.trim_end_matches('/');
            let start = Start {
                self_closing: name != tag,
                ..Start::default()
            };
            out.push(match spaces.start(name, start) {
                Space::Html => 'h',
                Space::Svg => 's',
                Space::Math => 'm',
            });
        }
        out
    }

    #[test]
    fn namespaces() {
        let check = |tags: &str, expected: &str| assert_eq!(spaces(tags), expected, "{tags}");
        check("p svg g /g /svg p", "hssh");
        check("svg/ style", "sh");
        check("svg svg /svg a /svg a", "sssh");
        check(
            "svg foreignobject div style /div /foreignobject style /svg style",
            "sshhsh",
        );
        check("svg title a /title a", "sshs");
        check("svg title/ a", "sss");
        check("svg svg p style", "sshh");
        check("math mi a /mi a annotation-xml a", "mmhmmm");
        check("svg foreignobject svg p a", "ssshh");
    }
}
