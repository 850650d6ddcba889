//! Selectors for the `selectors` crate: how names are stored, which pseudo-classes and pseudo-elements exist.
//!
//! A name that Chromium does not know makes the parse fail, and with it the whole rule (Selectors 4, section 3.9);
//! a state that only a reader brings about (`:hover`, `:visited`) is known and matches nothing.

use std::fmt;

use cssparser::{ParseError, Parser, ToCss, serialize_identifier};
use html5ever::{LocalName, Namespace, ns};
use precomputed_hash::PrecomputedHash;
use selectors::parser::{SelectorImpl, SelectorParseErrorKind};

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
    pub(super) text: Box<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(pub(super) LocalName);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamespaceUrl(pub(super) Namespace);

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

/// Whether Chromium knows every selector of a list; one that it does not know makes it drop the rule. Prefixes of
/// namespaces are taken to be declared, `&` and a leading combinator to stand in a nested rule.
pub fn accepts_selectors(text: &str) -> bool {
    // A prefix ends in `|`, as no other token of a selector does.
    if text.contains('|') && !text.contains("|=") {
        return true;
    }
    let namespaces = Namespaces::default();
    SelectorList::parse(
        &namespaces,
        &mut Parser::new(text),
        selectors::parser::ParseRelative::ForNesting,
    )
    .is_ok()
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
        name.eq_ignore_ascii_case("-webkit-any")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_that_are_known() {
        let check = |text: &str, expected| assert_eq!(accepts_selectors(text), expected, "{text}");
        check("a:hover, b::before", true);
        check("a:is(b, :hovr)", true);
        check("&:hover", true);
        check("> a", true);
        check("svg|a", true);
        check("a:hovr", false);
        check("a:after.b", false);
        check("a::-moz-selection", false);
        check("a::-webkit-scrollbar", true);
        check(".1", false);
        check("a,,b", false);
        check("", false);
    }
}
