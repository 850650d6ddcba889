//! Files that are too large to be held: copied, and encoded in pieces.
//!
//! Only files that no stage looks into: neither pages nor stylesheets, not edited, without variants of their own in
//! SITE. gzip packs them a little less, as libdeflate and zopfli need the whole at once.

use super::{Writer, Written};
use crate::encode;
use crate::measure::Sizes;
use crate::options::Options;
use crate::site::FileId;
use crate::variants;

/// A file larger than this part of the memory is streamed. What is encoded at once takes less than a third then.
const PART: u64 = 16;

/// Variants that are larger than this are not kept for the next build: they could not be looked up without holding
/// them.
const MOST_KEPT: u64 = 64 << 20;

pub(super) fn is_large(size: u64, options: &Options) -> bool {
    size > options.memory / PART
}

impl Writer<'_> {
    pub(super) fn stream(&self, id: FileId) -> anyhow::Result<Written> {
        let file = self.site.file(id);
        let (staging, modified) = (self.staging, file.modified);
        let length = staging.copy(&self.site.place(id), &file.path, modified, file.mode)?;
        let mut written = Written {
            sizes: Sizes::plain(length),
            ..Written::default()
        };
        if length < self.options.min_size || variants::is_packed(&staging.start(&file.path)?) {
            return Ok(written);
        }
        let mut made = Vec::new();
        for (coding, level) in self.options.codings() {
            let path = self.variant_path(id, coding);
            let content = || staging.hash(&file.path);
            let known = self.options.cache.streamed(content, coding, level)?;
            let packed = match &known.bytes {
                Some(bytes) => {
                    staging.write(&path, bytes, modified, file.mode)?;
                    bytes.len() as u64
                }
                None => staging.convert(&file.path, &path, modified, file.mode, |from, to| {
                    encode::pack_stream(coding, from, length, level, to)
                })?,
            };
            made.push((coding, path.clone(), packed));
            if !variants::pays(packed as usize, length as usize) {
                made.iter().try_for_each(|(_, path, _)| staging.remove(path))?;
                return Ok(written);
            }
            if known.bytes.is_none() && packed <= MOST_KEPT {
                known.keep(|| staging.whole(&path))?;
            }
        }
        for (coding, _, packed) in made {
            written.count(Some(coding), packed as usize);
        }
        Ok(written)
    }
}
