//! One compound selector (Selectors 4, section 3.1): could a `link`, `style` or `script` match that it does not name?

use super::super::token::{Kind, Tok};

/// A compound selector, as far as it tells whether a `link`, `style` or `script` could match.
#[derive(Debug, Default)]
pub(super) struct Compound {
    pub(super) begun: bool,
    /// By the name of another element, a class, an id, or what those elements never are.
    pub(super) named: bool,
    /// It asks for a `src`, or for an element without content.
    pub(super) source: bool,
    /// It asks for an attribute of links.
    pub(super) meta: bool,
    /// Stands in `:is()` or the like.
    pub(super) is_list: bool,
    /// Of the list: a compound before has no name.
    pub(super) has_unnamed: bool,
}

impl Compound {
    pub(super) fn token(&mut self, text: &str, tok: &Tok, before: Kind) {
        match tok.kind {
            Kind::Comment => return,
            Kind::Hash | Kind::Delim('&') => self.named = true,
            Kind::Ident if before == Kind::Delim('.') => self.named = true,
            Kind::Ident | Kind::Function if before == Kind::Colon => {
                let name = tok.value(text).to_ascii_lowercase();
                self.source |= name == "empty";
                self.named |= STATES.contains(&name.as_str());
            }
            Kind::Ident => {
                let name = tok.value(text).to_ascii_lowercase();
                self.source |= name == "script";
                self.named |= name != "script";
            }
            _ => {}
        }
        self.begun = true;
    }

    pub(super) fn attribute(&mut self, name: &str) {
        self.begun = true;
        match name {
            "src" => self.source = true,
            "rel" | "href" | "media" => self.meta = true,
            "type" | "language" => {}
            _ => self.named = true,
        }
    }
}

/// Pseudo-classes that no `link`, `style` or `script` is in: the root, and states of what is seen.
const STATES: [&str; 18] = [
    "root",
    "host",
    "hover",
    "active",
    "focus",
    "focus-visible",
    "focus-within",
    "target",
    "checked",
    "disabled",
    "enabled",
    "visited",
    "link",
    "any-link",
    "fullscreen",
    "placeholder-shown",
    "valid",
    "invalid",
];
