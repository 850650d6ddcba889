//! Measured sizes of many small texts, in few files: a file for each first byte of the key.
//!
//! A file is read when it is first asked for and written once, at the end. Another build may write it in between: what
//! that one adds is lost or wins, and costs at most a second measuring. Records are of one length and sorted by key,
//! so that they are searched where they lie.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::{CHECK_BYTES, Hash, Store, check};

/// Bytes of a record: half of the key, gzip, brotli.
const RECORD: usize = 32;
const KEY: usize = 16;

/// A file that has more bytes than this begins anew. 256 of them are 256 MiB at most.
const MOST_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Known {
    shards: Vec<Shard>,
}

#[derive(Debug, Default)]
struct Shard {
    old: OnceLock<Vec<u8>>,
    new: Mutex<BTreeMap<[u8; KEY], [u8; RECORD - KEY]>>,
}

impl Default for Known {
    fn default() -> Known {
        Known {
            shards: (0..=u8::MAX).map(|_| Shard::default()).collect(),
        }
    }
}

impl Known {
    pub(super) fn get(&self, store: &Store, key: &Hash) -> Option<(u64, u64)> {
        let key: &[u8; KEY] = key.first_chunk()?;
        let shard = &self.shards[usize::from(key[0])];
        let new = shard.new.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(record) = new.get(key) {
            return decode(record);
        }
        drop(new);
        let (records, _) = shard
            .old
            .get_or_init(|| load(store, key[0]))
            .as_chunks::<RECORD>();
        let at = records.binary_search_by(|record| record[..KEY].cmp(key)).ok()?;
        decode(&records[at][KEY..])
    }

    pub(super) fn add(&self, key: &Hash, (gzip, br): (u64, u64)) {
        let mut value = [0; RECORD - KEY];
        value[..8].copy_from_slice(&gzip.to_le_bytes());
        value[8..].copy_from_slice(&br.to_le_bytes());
        if let Some(key) = key.first_chunk() {
            let shard = &self.shards[usize::from(key[0])];
            let mut new = shard.new.lock().unwrap_or_else(PoisonError::into_inner);
            new.insert(*key, value);
        }
    }

    /// Writes what is new; whether anything was.
    pub(super) fn save(&self, store: &Store) -> bool {
        let mut saved = false;
        for (first, shard) in self.shards.iter().enumerate() {
            let new = std::mem::take(&mut *shard.new.lock().unwrap_or_else(PoisonError::into_inner));
            if new.is_empty() {
                continue;
            }
            let first = first as u8;
            let mut all = new;
            // What another build wrote since.
            let old = load(store, first);
            if old.len() + all.len() * RECORD <= MOST_BYTES {
                for record in old.as_chunks::<RECORD>().0 {
                    if let (Some(key), Some(value)) = (record.first_chunk(), record.last_chunk()) {
                        all.entry(*key).or_insert(*value);
                    }
                }
            }
            let body: Vec<u8> = all
                .into_iter()
                .flat_map(|(key, value)| key.into_iter().chain(value))
                .collect();
            saved |= store.put(&name(first), &[&body, &check(&id(first), &body)]);
        }
        saved
    }
}

/// The records of a file that holds what was written; none otherwise.
fn load(store: &Store, first: u8) -> Vec<u8> {
    let Some(mut bytes) = store.get(&name(first)) else {
        return Vec::new();
    };
    let body = bytes.len().saturating_sub(CHECK_BYTES);
    if body % RECORD != 0 || check(&id(first), &bytes[..body]) != bytes[body..] {
        return Vec::new();
    }
    bytes.truncate(body);
    bytes
}

fn decode(value: &[u8]) -> Option<(u64, u64)> {
    let (gzip, br) = value.split_at_checked(8)?;
    Some((
        u64::from_le_bytes(gzip.try_into().ok()?),
        u64::from_le_bytes(br.try_into().ok()?),
    ))
}

/// Apart from the names of other entries by its length.
fn name(first: u8) -> String {
    format!("{first:02x}00")
}

fn id(first: u8) -> Hash {
    [first; 32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk;

    fn key(nth: u32) -> Hash {
        super::super::hash(&nth.to_le_bytes())
    }

    #[test]
    fn sizes_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::Folder(disk::Store::open(dir.path()).unwrap());
        let (first, second) = (Known::default(), Known::default());
        for nth in 0..1000 {
            assert_eq!(first.get(&store, &key(nth)), None);
            let known = if nth % 2 == 0 { &first } else { &second };
            known.add(&key(nth), (u64::from(nth), u64::MAX - u64::from(nth)));
            assert!(known.get(&store, &key(nth)).is_some());
        }
        assert!(first.save(&store) && second.save(&store));
        assert!(!first.save(&store));
        let third = Known::default();
        for nth in 0..1000 {
            let expected = (u64::from(nth), u64::MAX - u64::from(nth));
            assert_eq!(third.get(&store, &key(nth)), Some(expected));
        }
        assert_eq!(third.get(&store, &key(1000)), None);
    }

    #[test]
    fn broken_files_count_as_missing() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::Folder(disk::Store::open(dir.path()).unwrap());
        let known = Known::default();
        known.add(&key(1), (1, 2));
        known.save(&store);
        let first = key(1)[0];
        let whole = store.get(&name(first)).unwrap();
        assert_eq!(whole.len(), RECORD + CHECK_BYTES);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x80;
            store.put(&name(first), &[&bytes]);
            assert_eq!(Known::default().get(&store, &key(1)), None, "{at}");
            store.put(&name(first), &[&whole[..at]]);
            assert_eq!(Known::default().get(&store, &key(1)), None, "{at}");
        }
        store.put(&name(first), &[&whole]);
        assert_eq!(Known::default().get(&store, &key(1)), Some((1, 2)));
    }

    #[test]
    fn files_stay_small() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::Folder(disk::Store::open(dir.path()).unwrap());
        let mut crowd = [0; 32];
        for round in 0..3_u32 {
            let known = Known::default();
            for nth in 0..30_000_u32 {
                crowd[1..5].copy_from_slice(&(round * 30_000 + nth).to_le_bytes());
                known.add(&crowd, (1, 1));
            }
            known.save(&store);
            assert!(store.get("0000").unwrap().len() <= MOST_BYTES + CHECK_BYTES);
        }
    }
}
