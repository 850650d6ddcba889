//! Equal bytes are encoded once: the variants of their first file are those of all.
//!
//! Which file is the first depends on the threads; what is written does not. A file that SITE brings variants for
//! takes no part, as its own may be better than ours.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use super::{Writer, Written};
use crate::cache::{self, Hash};
use crate::encode::Coding;
use crate::site::FileId;
use crate::variants;

/// The first file of some content, and the variants that it got.
type First = Arc<OnceLock<(FileId, Vec<Coding>)>>;

pub(super) struct Once {
    /// Sizes that more than one file has: others need no hash, and no place in memory.
    sizes: HashSet<u64>,
    first: Mutex<HashMap<Hash, First>>,
}

impl Once {
    /// The sizes are those of the files before they are edited: equal files are mostly edited alike.
    pub(super) fn new(sizes: impl Iterator<Item = u64>) -> Once {
        let mut all: Vec<u64> = sizes.collect();
        all.sort_unstable();
        Once {
            sizes: all.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]).collect(),
            first: Mutex::default(),
        }
    }

    fn first(&self, size: u64, bytes: &[u8]) -> Option<First> {
        if !self.sizes.contains(&size) {
            return None;
        }
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        Some(first.entry(cache::hash(bytes)).or_default().clone())
    }
}

impl Writer<'_> {
    /// Writes the variants of a file for which SITE brings none.
    pub(super) fn variants(
        &self,
        id: FileId,
        bytes: &[u8],
        modified: SystemTime,
        written: &mut Written,
    ) -> anyhow::Result<()> {
        let file = self.site.file(id);
        let mut write = |coding: Coding, body: &[u8]| {
            written.count(Some(coding), body.len());
            let path = self.variant_path(id, coding);
            self.staging.write(&path, body, modified, file.mode)
        };
        let mut make = || -> anyhow::Result<Vec<Coding>> {
            let made = variants::make(bytes, self.options);
            made.iter().try_for_each(|(coding, body)| write(*coding, body))?;
            Ok(made.iter().map(|(coding, _)| *coding).collect())
        };
        let Some(cell) = self.once.first(file.size, bytes) else {
            return make().map(drop);
        };
        let mut result = Ok(());
        let (first, codings) = cell.get_or_init(|| {
            // A file that cannot be written fails the build: what others make of it does not matter.
            let codings = make().unwrap_or_else(|error| {
                result = Err(error);
                Vec::new()
            });
            (id, codings)
        });
        result?;
        if *first != id {
            for coding in codings {
                let path = self.variant_path(*first, *coding);
                let body = self.staging.whole(&path)?;
                write(*coding, &body)?;
            }
        }
        Ok(())
    }
}
