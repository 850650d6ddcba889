//! What a page runs or styles itself: the texts that a content security policy would have to know.

use super::document::Document;

/// Texts as the tree has them, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inline {
    /// `script` elements that a browser reads as code, import maps and speculation rules among them.
    pub scripts: Vec<String>,
    pub styles: Vec<String>,
    /// Values of event handler attributes.
    pub handlers: Vec<String>,
    /// Some element has a `style` attribute.
    pub style_attributes: bool,
}

pub fn inline(document: &Document) -> Inline {
    let mut found = Inline::default();
    for &id in &document.elements {
        let Some(element) = document.element(id) else {
            continue;
        };
        match &*element.name.local {
            "script" if !element.has("src") && !element.has("href") && is_code(element.get("type")) => {
                found.scripts.push(document.child_text(id));
            }
            "style" => found.styles.push(document.child_text(id)),
            _ => {}
        }
        for attribute in &element.attributes {
            let name = &*attribute.name.local;
            found.style_attributes |= name == "style";
            if name.len() > 2 && name.starts_with("on") {
                found.handlers.push(attribute.value.to_string());
            }
        }
    }
    found
}

/// A `type` that is not only data for other scripts. In doubt it is code.
fn is_code(kind: Option<&str>) -> bool {
    let kind = kind.unwrap_or_default().trim().to_ascii_lowercase();
    matches!(kind.as_str(), "" | "module" | "importmap" | "speculationrules")
        || ["javascript", "ecmascript", "jscript", "livescript"]
            .iter()
            .any(|name| kind.contains(name))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn texts_as_the_tree_has_them() {
        let page = "<style>a{}\r\n</style><p style=x onclick='go(&quot;a&quot;)'><script>1</script>\
            <script type=application/json>{}</script><script src=a.js></script><script type=module>2</script>\
            <template><script>3</script></template><svg><style>&lt;</style></svg>";
        let found = inline(&parse(page.as_bytes(), encoding_rs::UTF_8));
        let expected = Inline {
            scripts: vec!["1".into(), "2".into()],
            styles: vec!["a{}\n".into(), "<".into()],
            handlers: vec!["go(\"a\")".into()],
            style_attributes: true,
        };
        assert_eq!(found, expected);
    }
}
