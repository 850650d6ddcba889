//! Elements for the `selectors` crate: the tree's structure, and which states an element is in on a page that
//! nobody has touched yet.
//!
//! States come from attributes alone; scripts are left out.

use std::fmt;

use selectors::OpaqueElement;
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::MatchingContext;
use selectors::matching::ElementSelectorFlags;

use super::document::{Data, Document, ElementData, NONE};
use super::hash::hash_name;
use super::selector::{Identifier, Impl, Name, NamespaceUrl, PseudoClass, PseudoElement, Value};

/// An element of a document, as the matcher sees it.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    pub(super) document: &'a Document,
    pub(super) id: u32,
    data: &'a ElementData,
}

impl fmt::Debug for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.data.name.local)
    }
}

impl<'a> Element<'a> {
    pub(super) fn new(document: &'a Document, id: u32) -> Option<Self> {
        Some(Element {
            document,
            id,
            data: document.element(id)?,
        })
    }

    fn along(self, from: u32, step: impl Fn(&super::document::Node) -> u32) -> Option<Self> {
        let mut at = from;
        while at != NONE {
            let node = self.document.nodes.get(at as usize)?;
            if let Data::Element(data) = &node.data {
                return Some(Element {
                    document: self.document,
                    id: at,
                    data,
                });
            }
            at = step(node);
        }
        None
    }

    fn node(self) -> &'a super::document::Node {
        &self.document.nodes[self.id as usize]
    }

    fn tag(self) -> &'a str {
        if self.data.is_html() {
            &self.data.name.local
        } else {
            ""
        }
    }

    fn input_type(self) -> String {
        self.data
            .get("type")
            .unwrap_or("text")
            .trim()
            .to_ascii_lowercase()
    }

    fn is_form_control(self) -> bool {
        matches!(self.tag(), "button" | "input" | "select" | "textarea")
    }

    /// HTML standard, "disabled": the attribute, or a disabled `fieldset` around it (its first legend apart).
    fn is_disabled(self) -> bool {
        match self.tag() {
            "button" | "input" | "select" | "textarea" | "fieldset" => {}
            "optgroup" => return self.data.has("disabled"),
            "option" => {
                return self.data.has("disabled")
                    || selectors::Element::parent_element(&self)
                        .is_some_and(|p| p.tag() == "optgroup" && p.data.has("disabled"));
            }
            _ => return false,
        }
        if self.data.has("disabled") {
            return true;
        }
        let mut below = self;
        while let Some(parent) = selectors::Element::parent_element(&below) {
            if parent.tag() == "fieldset" && parent.data.has("disabled") {
                let first_legend = parent.document.children(parent.id).find(|c| {
                    parent
                        .document
                        .element(*c)
                        .is_some_and(|e| &*e.name.local == "legend")
                });
                if first_legend != Some(below.id) {
                    return true;
                }
            }
            below = parent;
        }
        false
    }

    fn is_mutable_text(self) -> bool {
        let editable = match self.tag() {
            "textarea" => true,
            "input" => !matches!(
                self.input_type().as_str(),
                "hidden"
                    | "range"
                    | "color"
                    | "checkbox"
                    | "radio"
                    | "file"
                    | "submit"
                    | "image"
                    | "reset"
                    | "button"
            ),
            _ => {
                let mut at = Some(self);
                while let Some(e) = at {
                    if let Some(value) = e.data.get("contenteditable") {
                        return !value.eq_ignore_ascii_case("false");
                    }
                    at = selectors::Element::parent_element(&e);
                }
                return false;
            }
        };
        editable && !self.data.has("readonly") && !self.is_disabled()
    }

    fn has_text_value(self) -> bool {
        match self.tag() {
            "textarea" => !self.document.child_text(self.id).is_empty(),
            _ => self.data.get("value").is_some_and(|v| !v.is_empty()),
        }
    }

    /// Constraint validation as far as attributes alone decide it; `None` where it does not apply.
    fn validity(self) -> Option<bool> {
        match self.tag() {
            "form" | "fieldset" => {
                let mut valid = true;
                let mut at = self.node().first;
                // In tree order up to the end of this subtree.
                while at != NONE {
                    let node = &self.document.nodes[at as usize];
                    if let Some(e) = Element::new(self.document, at)
                        && e.is_form_control()
                        && e.validity() == Some(false)
                    {
                        valid = false;
                        break;
                    }
                    at = if node.first != NONE {
                        node.first
                    } else {
                        self.after(at)
                    };
                }
                Some(valid)
            }
            "input" | "textarea" | "select" | "button" => {
                let kind = self.input_type();
                if self.is_disabled()
                    || self.data.has("readonly")
                    || self.tag() == "input" && matches!(kind.as_str(), "hidden" | "reset" | "button")
                    || self.tag() == "button" && matches!(kind.as_str(), "reset" | "button")
                {
                    return None;
                }
                if self.tag() == "button" || self.tag() == "select" || !self.data.has("required") {
                    return Some(true);
                }
                Some(match kind.as_str() {
                    "checkbox" | "radio" if self.tag() == "input" => self.data.has("checked"),
                    _ => self.has_text_value(),
                })
            }
            _ => None,
        }
    }

    /// The node after the subtree of `at`, inside the subtree of this element.
    fn after(self, mut at: u32) -> u32 {
        while at != self.id && at != NONE {
            let node = &self.document.nodes[at as usize];
            if node.next != NONE {
                return node.next;
            }
            at = node.parent;
        }
        NONE
    }

    fn language(self) -> Option<&'a str> {
        let mut at = Some(self);
        while let Some(e) = at {
            let lang = e
                .data
                .attributes
                .iter()
                .find(|a| &*a.name.local == "lang" || &*a.name.local == "xml:lang");
            if let Some(lang) = lang {
                return Some(&lang.value);
            }
            at = selectors::Element::parent_element(&e);
        }
        None
    }

    fn is_ltr(self) -> bool {
        let mut at = Some(self);
        while let Some(e) = at {
            match e.data.get("dir").map(str::to_ascii_lowercase).as_deref() {
                Some("rtl") => return false,
                Some("ltr") => return true,
                _ => {}
            }
            at = selectors::Element::parent_element(&e);
        }
        true
    }

    fn matches_state(self, class: &PseudoClass) -> bool {
        match class {
            PseudoClass::Link => selectors::Element::is_link(&self),
            PseudoClass::Checked => match self.tag() {
                "input" => {
                    self.data.has("checked") && matches!(self.input_type().as_str(), "checkbox" | "radio")
                }
                "option" => self.is_selected_option(),
                _ => false,
            },
            PseudoClass::Default => match self.tag() {
                "input" if matches!(self.input_type().as_str(), "checkbox" | "radio") => {
                    self.data.has("checked")
                }
                "option" => self.data.has("selected"),
                _ => false,
            },
            // A custom element is defined by a script, and scripts are left out here.
            PseudoClass::Defined => !(self.data.is_html() && self.data.name.local.contains('-')),
            PseudoClass::Disabled => self.is_disabled(),
            PseudoClass::Enabled => {
                (self.is_form_control() || matches!(self.tag(), "option" | "optgroup" | "fieldset"))
                    && !self.is_disabled()
            }
            PseudoClass::ReadWrite => self.is_mutable_text(),
            PseudoClass::ReadOnly => !self.is_mutable_text(),
            PseudoClass::Required => {
                matches!(self.tag(), "input" | "select" | "textarea") && self.data.has("required")
            }
            PseudoClass::Optional => {
                matches!(self.tag(), "input" | "select" | "textarea") && !self.data.has("required")
            }
            PseudoClass::PlaceholderShown => {
                matches!(self.tag(), "input" | "textarea")
                    && self.data.get("placeholder").is_some_and(|p| !p.is_empty())
                    && !self.has_text_value()
            }
            PseudoClass::Open => matches!(self.tag(), "details" | "dialog") && self.data.has("open"),
            PseudoClass::Valid => self.validity() == Some(true),
            PseudoClass::Invalid => self.validity() == Some(false),
            PseudoClass::InRange => {
                self.tag() == "input"
                    && (self.data.has("min") || self.data.has("max"))
                    && matches!(
                        self.input_type().as_str(),
                        "number" | "range" | "date" | "month" | "week" | "time"
                    )
            }
            PseudoClass::Indeterminate => self.tag() == "progress" && !self.data.has("value"),
            PseudoClass::Lang(ranges) => self.language().is_some_and(|lang| {
                ranges.iter().any(|range| {
                    &**range == "*" && !lang.is_empty()
                        || lang.eq_ignore_ascii_case(range)
                        || lang.len() > range.len()
                            && !range.is_empty()
                            && lang.as_bytes()[range.len()] == b'-'
                            && lang.as_bytes()[..range.len()].eq_ignore_ascii_case(range.as_bytes())
                })
            }),
            PseudoClass::Dir(ltr) => self.data.is_html() && self.is_ltr() == *ltr,
            PseudoClass::Never => false,
        }
    }

    fn is_selected_option(self) -> bool {
        if self.data.has("selected") {
            return true;
        }
        // A drop-down list shows its first option when none is marked.
        let mut at = selectors::Element::parent_element(&self);
        while let Some(e) = at {
            if e.tag() == "select" {
                if e.data.has("multiple") || e.data.get("size").is_some_and(|s| s.trim() != "1") {
                    return false;
                }
                let mut first = None;
                let mut node = e.node().first;
                while node != NONE {
                    if let Some(o) = Element::new(e.document, node)
                        && o.tag() == "option"
                    {
                        if o.data.has("selected") {
                            return false;
                        }
                        first = first.or((!o.is_disabled()).then_some(node));
                    }
                    let n = &e.document.nodes[node as usize];
                    node = if n.first != NONE { n.first } else { e.after(node) };
                }
                return first == Some(self.id);
            }
            at = selectors::Element::parent_element(&e);
        }
        false
    }
}

impl selectors::Element for Element<'_> {
    type Impl = Impl;

    fn opaque(&self) -> OpaqueElement {
        OpaqueElement::new(self.data)
    }

    fn parent_element(&self) -> Option<Self> {
        Element::new(self.document, self.node().parent)
    }

    fn parent_node_is_shadow_root(&self) -> bool {
        false
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }

    fn is_pseudo_element(&self) -> bool {
        false
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        self.along(self.node().previous, |n| n.previous)
    }

    fn next_sibling_element(&self) -> Option<Self> {
        self.along(self.node().next, |n| n.next)
    }

    fn first_element_child(&self) -> Option<Self> {
        self.along(self.node().first, |n| n.next)
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.data.is_html()
    }

    fn has_local_name(&self, name: &Name) -> bool {
        self.data.name.local == name.0
    }

    fn has_namespace(&self, namespace: &NamespaceUrl) -> bool {
        self.data.name.ns == namespace.0
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.data.name.local == other.data.name.local && self.data.name.ns == other.data.name.ns
    }

    fn attr_matches(
        &self,
        namespace: &NamespaceConstraint<&NamespaceUrl>,
        name: &Name,
        operation: &AttrSelectorOperation<&Value>,
    ) -> bool {
        self.data.attributes.iter().any(|a| {
            a.name.local == name.0
                && match namespace {
                    NamespaceConstraint::Any => true,
                    NamespaceConstraint::Specific(url) => a.name.ns == url.0,
                }
                && operation.eval_str(&a.value)
        })
    }

    fn match_non_ts_pseudo_class(&self, class: &PseudoClass, _: &mut MatchingContext<Impl>) -> bool {
        self.matches_state(class)
    }

    fn match_pseudo_element(&self, _: &PseudoElement, _: &mut MatchingContext<Impl>) -> bool {
        false
    }

    fn apply_selector_flags(&self, _: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        let is = match self.tag() {
            "a" | "area" => self.data.has("href"),
            _ => false,
        };
        is || !self.data.is_html()
            && &*self.data.name.local == "a"
            && self.data.attributes.iter().any(|a| &*a.name.local == "href")
    }

    fn is_html_slot_element(&self) -> bool {
        false
    }

    fn has_id(&self, id: &Identifier, case: CaseSensitivity) -> bool {
        self.data.id == id.hash
            && self
                .data
                .get("id")
                .is_some_and(|v| case.eq(v.as_bytes(), id.text.as_bytes()))
    }

    fn has_class(&self, class: &Identifier, case: CaseSensitivity) -> bool {
        self.data.classes.contains(&class.hash)
            && self.data.get("class").is_some_and(|v| {
                v.split(super::document::is_space)
                    .any(|c| case.eq(c.as_bytes(), class.text.as_bytes()))
            })
    }

    fn has_custom_state(&self, _: &Identifier) -> bool {
        false
    }

    fn imported_part(&self, _: &Identifier) -> Option<Identifier> {
        None
    }

    fn is_part(&self, _: &Identifier) -> bool {
        false
    }

    fn is_empty(&self) -> bool {
        self.document
            .children(self.id)
            .all(|c| match &self.document.nodes[c as usize].data {
                Data::Element(_) => false,
                Data::Text(text) => text.is_empty(),
                _ => true,
            })
    }

    fn is_root(&self) -> bool {
        Some(self.id) == self.document.root_element()
    }

    fn add_element_unique_hashes(&self, filter: &mut BloomFilter) -> bool {
        if self.data.id != 0 {
            filter.insert_hash(self.data.id & selectors::bloom::BLOOM_HASH_MASK);
        }
        for class in &self.data.classes {
            filter.insert_hash(class & selectors::bloom::BLOOM_HASH_MASK);
        }
        filter.insert_hash(hash_name(&self.data.name.local) & selectors::bloom::BLOOM_HASH_MASK);
        true
    }
}
