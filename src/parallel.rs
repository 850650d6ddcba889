//! The only door to threads: input order in, the same order out, no locks, no shared state.
//!
//! Workers have 16 MiB stacks, because parsers of nested input recurse.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the one module that starts parallel work"
)]

use rayon::prelude::*;

const STACK_BYTES: usize = 16 << 20;

/// Calls `work` inside a pool of `threads` workers (0: one per core); `map` inside it uses that pool.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> anyhow::Result<R> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK_BYTES)
        .build()?;
    Ok(pool.install(work))
}

/// `work` of every item, in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    items.par_iter().map(work).collect()
}

/// Runs `work` beside the caller, until it ends by itself.
pub fn beside(work: impl FnOnce() + Send + 'static) -> std::io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new().name("beside".into()).spawn(work)
}
