//! The only door to threads: input order in, the same order out, no shared state but what is counted here.
//!
//! Workers have 16 MiB stacks, because parsers of nested input recurse.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the one module that starts parallel work"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

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

/// `work` of every item, begun in the order of the items: with the longest work first, no thread is left with a long
/// one at the end. `map` gives each thread a run of neighbours, and so one of them all the long ones.
pub fn map_in_turn<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = rayon::broadcast(|_| {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            done.push((index, work(item)));
        }
    });
    let mut all: Vec<(usize, R)> = done.into_iter().flatten().collect();
    all.sort_unstable_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}

/// Bytes that may be in use at once. Work that needs more than all of them waits until it is alone.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    used: Mutex<u64>,
    freed: Condvar,
}

/// A share of a budget, given back when it is dropped.
#[derive(Debug)]
pub struct Share<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    pub fn new(limit: u64) -> Budget {
        Budget {
            limit,
            used: Mutex::new(0),
            freed: Condvar::new(),
        }
    }

    /// Waits until so much is free. Who holds a share must not ask for another.
    pub fn take(&self, bytes: u64) -> Share<'_> {
        let mut used = self.used();
        while *used > 0 && used.saturating_add(bytes) > self.limit {
            used = self.freed.wait(used).unwrap_or_else(PoisonError::into_inner);
        }
        *used = used.saturating_add(bytes);
        Share { budget: self, bytes }
    }

    fn used(&self) -> MutexGuard<'_, u64> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut used = self.budget.used();
        *used = used.saturating_sub(self.bytes);
        drop(used);
        self.budget.freed.notify_all();
    }
}

/// Runs `work` beside the caller, until it ends by itself.
pub fn beside(work: impl FnOnce() + Send + 'static) -> std::io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new().name("beside".into()).spawn(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_turn_keeps_the_order() {
        let items: Vec<u32> = (0..1000).collect();
        for threads in [1, 2, 7] {
            let found = with_threads(threads, || map_in_turn(&items, |n| n * 2)).unwrap();
            assert_eq!(found, items.iter().map(|n| n * 2).collect::<Vec<_>>());
        }
        assert_eq!(map_in_turn(&[] as &[u32], |n| *n), Vec::<u32>::new());
    }

    #[test]
    fn a_budget_is_kept() {
        let budget = Budget::new(100);
        let most = Mutex::new((0, 0));
        let work = |bytes: &u64| {
            let _share = budget.take(*bytes);
            {
                let mut now = most.lock().unwrap();
                now.0 += bytes;
                now.1 = now.1.max(now.0);
            }
            std::thread::yield_now();
            most.lock().unwrap().0 -= bytes;
        };
        let sizes: Vec<u64> = (0..200).map(|n| n % 60).collect();
        with_threads(8, || map_in_turn(&sizes, work)).unwrap();
        assert!(most.lock().unwrap().1 <= 100);
        // More than all of it, alone.
        with_threads(4, || map_in_turn(&[300, 300, 1, 300], work)).unwrap();
        assert_eq!(most.lock().unwrap().1, 300);
    }
}
