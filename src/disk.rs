//! The only door to the file system.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the one module that touches the file system"
)]
