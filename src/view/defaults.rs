//! The part of the browser's own style sheet that matters here: `display` (HTML standard, section 15.3).

use super::document::Document;
use super::value::Display;

/// The default, and whether no sheet can change it.
pub(super) fn display(document: &Document, id: u32) -> (Display, bool) {
    let Some(e) = document.element(id) else {
        return (Display::Inline, false);
    };
    if !e.is_html() {
        let never = matches!(&*e.name.local, "title" | "desc" | "metadata" | "script" | "style");
        return match (&*e.name.local, never) {
            (_, true) => (Display::None, true),
            ("svg" | "math", _) => (Display::InlineBlock, false),
            ("foreignObject" | "text", _) => (Display::Block, false),
            _ => (Display::Inline, false),
        };
    }
    let tag = &*e.name.local;
    match tag {
        "area" | "base" | "basefont" | "datalist" | "head" | "link" | "meta" | "noembed" | "noframes"
        | "param" | "rp" | "script" | "style" | "template" | "title" => return (Display::None, false),
        // Its content is text, scripting being on; Chromium never shows it.
        "noscript" => return (Display::None, true),
        "audio" if !e.has("controls") => return (Display::None, true),
        "input"
            if e.get("type")
                .is_some_and(|t| t.trim().eq_ignore_ascii_case("hidden")) =>
        {
            return (Display::None, true);
        }
        "dialog" if !e.has("open") => return (Display::None, false),
        // Any value; `embed` alone stays, with no size.
        _ if e.has("hidden") && tag != "embed" => return (Display::None, false),
        _ if e.has("popover") => return (Display::None, false),
        _ => {}
    }
    let display = match tag {
        "html" | "body" | "address" | "article" | "aside" | "blockquote" | "center" | "dd" | "details"
        | "dialog" | "dir" | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure" | "footer"
        | "form" | "frame" | "frameset" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "header" | "hgroup"
        | "hr" | "legend" | "li" | "listing" | "main" | "menu" | "nav" | "ol" | "optgroup" | "option"
        | "p" | "plaintext" | "pre" | "search" | "section" | "summary" | "ul" | "xmp" | "table"
        | "caption" | "colgroup" | "col" | "tbody" | "thead" | "tfoot" | "tr" | "td" | "th" => Display::Block,
        "button" | "input" | "select" | "textarea" | "meter" | "progress" | "img" | "video" | "audio"
        | "canvas" | "iframe" | "embed" | "object" | "marquee" => Display::InlineBlock,
        "slot" => Display::Contents,
        _ => Display::Inline,
    };
    (display, false)
}

/// `display` as an attribute of SVG.
pub(super) fn svg_display(document: &Document, id: u32) -> Option<Display> {
    let e = document.element(id)?;
    let none = !e.is_html() && e.get("display").is_some_and(|d| d.trim() == "none");
    none.then_some(Display::None)
}

/// The weight and slant that the browser gives to a tag: relative to the parent's where `None`.
pub(super) fn is_bold(tag: &str) -> bool {
    matches!(
        tag,
        "b" | "strong" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "th" | "optgroup"
    )
}

pub(super) fn is_italic(tag: &str) -> bool {
    matches!(tag, "i" | "em" | "cite" | "dfn" | "var" | "address")
}
