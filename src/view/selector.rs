//! Selectors for the `selectors` crate: how names are stored, which pseudo-classes exist and what they match
//! on a page that nobody has touched yet.
//!
//! A name that Chromium does not know makes the parse fail, and with it the whole rule (Selectors 4, section 3.9);
//! a state that only a reader brings about (`:hover`, `:visited`) is known and matches nothing.

use std::fmt;

use cssparser::{ParseError, Parser, ToCss, serialize_identifier};
use html5ever::{LocalName, Namespace, ns};
use precomputed_hash::PrecomputedHash;
use selectors::OpaqueElement;
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::MatchingContext;
use selectors::matching::ElementSelectorFlags;
use selectors::parser::{SelectorImpl, SelectorParseErrorKind};

use super::document::{Data, Document, ElementData, NONE};
use super::hash::hash_name;

pub(super) type Selector = selectors::parser::Selector<Impl>;
pub(super) type SelectorList = selectors::parser::SelectorList<Impl>;

#[derive(Debug, Clone)]
pub(super) struct Impl;

impl SelectorImpl for Impl {
    type ExtraMatchingData<'a> = ();
    type AttrValue = Value;
    type Identifier = Identifier;
    type LocalName = Name;
    type NamespaceUrl = NamespaceUrl;
    type NamespacePrefix = Value;
    type BorrowedNamespaceUrl = NamespaceUrl;
    type BorrowedLocalName = Name;
    type NonTSPseudoClass = PseudoClass;
    type PseudoElement = PseudoElement;
}

/// The value of an attribute selector, or a namespace prefix.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Value(Box<str>);

/// An id or a class with its case-folded hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identifier {
    pub(super) hash: u32,
    text: Box<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(pub(super) LocalName);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamespaceUrl(Namespace);

impl Default for NamespaceUrl {
    fn default() -> Self {
        NamespaceUrl(ns!())
    }
}

impl NamespaceUrl {
    pub(super) fn new(url: &str) -> Self {
        NamespaceUrl(Namespace::from(url))
    }
}

impl From<&str> for Value {
    fn from(s: &str) -> Self {
        Value(s.into())
    }
}

impl AsRef<str> for Value {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Identifier {
    fn from(s: &str) -> Self {
        Identifier {
            hash: hash_name(s),
            text: s.into(),
        }
    }
}

impl From<&str> for Name {
    fn from(s: &str) -> Self {
        Name(LocalName::from(s))
    }
}

impl PrecomputedHash for Identifier {
    fn precomputed_hash(&self) -> u32 {
        self.hash
    }
}

impl PrecomputedHash for Name {
    fn precomputed_hash(&self) -> u32 {
        hash_name(&self.0)
    }
}

impl PrecomputedHash for NamespaceUrl {
    fn precomputed_hash(&self) -> u32 {
        hash_name(&self.0)
    }
}

impl ToCss for Value {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        cssparser::serialize_string(&self.0, dest)
    }
}

impl ToCss for Identifier {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        serialize_identifier(&self.text, dest)
    }
}

impl ToCss for Name {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        serialize_identifier(&self.0, dest)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PseudoClass {
    Link,
    Checked,
    Default,
    Defined,
    Disabled,
    Enabled,
    ReadOnly,
    ReadWrite,
    Required,
    Optional,
    PlaceholderShown,
    Open,
    Valid,
    Invalid,
    InRange,
    Indeterminate,
    Lang(Box<[Box<str>]>),
    Dir(bool),
    /// A state no element is in when a page was just opened.
    Never,
}

impl selectors::parser::NonTSPseudoClass for PseudoClass {
    fn is_active_or_hover(&self) -> bool {
        false
    }

    fn is_user_action_state(&self) -> bool {
        matches!(self, PseudoClass::Never)
    }
}

impl ToCss for PseudoClass {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        write!(dest, ":{self:?}")
    }
}

/// Pseudo-elements that Chromium 156 fetches images for, as tried one by one; all others it knows but does not
/// draw on an untouched page (`::selection`, `::backdrop`, `::-webkit-progress-bar`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum PseudoElement {
    Before,
    After,
    Marker,
    FirstLine,
    FirstLetter,
    Placeholder,
    FileButton,
    SliderThumb,
    SearchCancel,
    DetailsContent,
    Other,
}

impl selectors::parser::PseudoElement for PseudoElement {
    fn accepts_state_pseudo_classes(&self) -> bool {
        true
    }

    fn valid_after_before_or_after(&self) -> bool {
        matches!(self, PseudoElement::Marker)
    }

    fn is_before_or_after(&self) -> bool {
        matches!(self, PseudoElement::Before | PseudoElement::After)
    }
}

impl ToCss for PseudoElement {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        write!(dest, "::{self:?}")
    }
}

#[derive(Debug)]
pub(super) struct Invalid;

impl From<SelectorParseErrorKind> for Invalid {
    fn from(_: SelectorParseErrorKind) -> Self {
        Invalid
    }
}

/// The namespaces that a sheet declares.
#[derive(Debug, Default, Clone)]
pub(super) struct Namespaces {
    pub(super) default: Option<NamespaceUrl>,
    pub(super) prefixes: Vec<(String, NamespaceUrl)>,
}

fn unknown<T>() -> Result<T, ParseError<Invalid>> {
    Err(ParseError::custom(Invalid))
}

impl<'i> selectors::parser::Parser<'i> for Namespaces {
    type Impl = Impl;
    type Error = Invalid;

    fn parse_nth_child_of(&self) -> bool {
        true
    }

    fn parse_is_and_where(&self) -> bool {
        true
    }

    fn parse_has(&self) -> bool {
        true
    }

    fn parse_parent_selector(&self) -> bool {
        true
    }

    fn parse_host(&self) -> bool {
        true
    }

    fn parse_slotted(&self) -> bool {
        true
    }

    fn parse_part(&self) -> bool {
        true
    }

    fn is_is_alias(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case("-webkit-any") || name.eq_ignore_ascii_case("matches")
    }

    fn parse_non_ts_pseudo_class(&self, name: &str) -> Result<PseudoClass, ParseError<Invalid>> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "link" | "any-link" | "-webkit-any-link" => PseudoClass::Link,
            "checked" => PseudoClass::Checked,
            "default" => PseudoClass::Default,
            "defined" => PseudoClass::Defined,
            "disabled" => PseudoClass::Disabled,
            "enabled" => PseudoClass::Enabled,
            "read-only" => PseudoClass::ReadOnly,
            "read-write" => PseudoClass::ReadWrite,
            "required" => PseudoClass::Required,
            "optional" => PseudoClass::Optional,
            "placeholder-shown" => PseudoClass::PlaceholderShown,
            "open" => PseudoClass::Open,
            "valid" => PseudoClass::Valid,
            "invalid" => PseudoClass::Invalid,
            "in-range" => PseudoClass::InRange,
            "indeterminate" => PseudoClass::Indeterminate,
            "hover"
            | "active"
            | "focus"
            | "focus-visible"
            | "focus-within"
            | "visited"
            | "target"
            | "target-current"
            | "target-before"
            | "target-after"
            | "autofill"
            | "-webkit-autofill"
            | "out-of-range"
            | "user-valid"
            | "user-invalid"
            | "fullscreen"
            | "-webkit-full-screen"
            | "-webkit-full-screen-document"
            | "-webkit-full-screen-ancestor"
            | "popover-open"
            | "modal"
            | "picture-in-picture"
            | "xr-overlay"
            | "active-view-transition"
            | "future"
            | "past"
            | "current"
            | "host-context"
            | "has-slotted"
            | "interest-source"
            | "interest-target"
            | "-webkit-drag"
            | "-webkit-autofill-and-obscured"
            | "-internal-autofill-selected"
            | "window-inactive"
            | "horizontal"
            | "vertical"
            | "start"
            | "end"
            | "increment"
            | "decrement"
            | "double-button"
            | "single-button"
            | "no-button"
            | "corner-present"
            | "playing"
            | "paused"
            | "seeking"
            | "muted"
            | "volume-locked"
            | "buffering"
            | "stalled" => PseudoClass::Never,
            _ => return unknown(),
        })
    }

    fn parse_non_ts_functional_pseudo_class(
        &self,
        name: &str,
        input: &mut Parser<'i>,
        _: bool,
    ) -> Result<PseudoClass, ParseError<Invalid>> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "lang" => {
                let ranges = input.parse_comma_separated(|input| {
                    Ok::<_, ParseError<Invalid>>(Box::from(&**input.expect_ident_or_string()?))
                })?;
                PseudoClass::Lang(ranges.into())
            }
            "dir" => {
                let direction = input.expect_ident()?;
                match direction.to_ascii_lowercase().as_str() {
                    "ltr" => PseudoClass::Dir(true),
                    "rtl" => PseudoClass::Dir(false),
                    _ => PseudoClass::Never,
                }
            }
            "state" | "active-view-transition-type" | "host-context" | "heading" => {
                while input.next().is_ok() {}
                PseudoClass::Never
            }
            _ => return unknown(),
        })
    }

    fn parse_pseudo_element(&self, name: &str) -> Result<PseudoElement, ParseError<Invalid>> {
        let name = name.to_ascii_lowercase();
        Ok(match name.as_str() {
            "before" => PseudoElement::Before,
            "after" => PseudoElement::After,
            "marker" => PseudoElement::Marker,
            "first-line" => PseudoElement::FirstLine,
            "first-letter" => PseudoElement::FirstLetter,
            "placeholder" | "-webkit-input-placeholder" => PseudoElement::Placeholder,
            "file-selector-button" | "-webkit-file-upload-button" => PseudoElement::FileButton,
            "-webkit-slider-thumb" => PseudoElement::SliderThumb,
            "-webkit-search-cancel-button" => PseudoElement::SearchCancel,
            "details-content" => PseudoElement::DetailsContent,
            "selection"
            | "backdrop"
            | "cue"
            | "target-text"
            | "spelling-error"
            | "grammar-error"
            | "view-transition"
            | "search-text"
            | "scroll-marker"
            | "scroll-marker-group"
            | "column"
            | "checkmark"
            | "picker-icon"
            | "interest-hint" => PseudoElement::Other,
            _ if name.starts_with("-webkit-") || name.starts_with("-internal-") => PseudoElement::Other,
            _ => return unknown(),
        })
    }

    fn parse_functional_pseudo_element(
        &self,
        name: &str,
        arguments: &mut Parser<'i>,
    ) -> Result<PseudoElement, ParseError<Invalid>> {
        match name.to_ascii_lowercase().as_str() {
            "highlight"
            | "cue"
            | "picker"
            | "scroll-button"
            | "view-transition-group"
            | "view-transition-old"
            | "view-transition-new"
            | "view-transition-image-pair" => {
                while arguments.next().is_ok() {}
                Ok(PseudoElement::Other)
            }
            _ => unknown(),
        }
    }

    fn default_namespace(&self) -> Option<NamespaceUrl> {
        self.default.clone()
    }

    fn namespace_for_prefix(&self, prefix: &Value) -> Option<NamespaceUrl> {
        self.prefixes
            .iter()
            .rev()
            .find(|(name, _)| *name == *prefix.0)
            .map(|(_, url)| url.clone())
    }
}

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
