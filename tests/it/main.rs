//! The whole command on whole folders: one binary, a module for each kind of question.
//!
//! `fixtures` builds every folder of `fixtures/` and holds the `promises` against it; a new case is a new folder.
//! `check` looks for faults, `cli` asks for exit codes and for what is (not) written, `determinism` for equal bytes,
//! `pins` for the traps of dependencies that the code is built around, `readme` whether the README tells the truth,
//! `settings` for `fewer.toml` and what explains it. A real browser looks at the fixtures in `cargo xtask e2e`.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at files and may fail"
)]

mod check;
mod cli;
mod command;
mod determinism;
mod fixtures;
mod pins;
mod promises;
mod readme;
mod settings;
