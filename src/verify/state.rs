//! What a page is looked at in: a window, and what the reader's system says of media and colours.

use std::fmt;

/// A window in CSS pixels, with a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    pub width: u32,
    pub height: u32,
    pub mode: Mode,
}

/// One at a time: a page is not printed in the dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// On screen, `prefers-color-scheme: light`.
    Light,
    /// On screen, `prefers-color-scheme: dark`.
    Dark,
    /// `@media print`, at the width of the window.
    Print,
    /// On screen, `forced-colors: active`: the system's colours in place of the page's.
    Forced,
}

impl Mode {
    pub const ALL: [Mode; 4] = [Mode::Light, Mode::Dark, Mode::Print, Mode::Forced];

    pub fn name(self) -> &'static str {
        match self {
            Mode::Light => "light",
            Mode::Dark => "dark",
            Mode::Print => "print",
            Mode::Forced => "forced-colors",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} {}", self.width, self.height, self.mode.name())
    }
}
