//! The body of an answer: a short text, or a part of a file that is read piece by piece.
//!
//! A file of any size takes one piece of memory. Reading blocks the server's one thread for a piece, which a preview
//! can bear.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

/// Bytes that are read at once.
const PIECE: u64 = 64 * 1024;

#[derive(Debug)]
pub(super) enum Content {
    Text(Bytes),
    File { file: File, left: u64 },
}

impl Content {
    /// A part of a file.
    pub(super) fn part(mut file: File, part: &Range<u64>) -> std::io::Result<Content> {
        file.seek(SeekFrom::Start(part.start))?;
        Ok(Content::File {
            file,
            left: part.end - part.start,
        })
    }

    /// Bytes that are left.
    pub(super) fn length(&self) -> u64 {
        match self {
            Content::Text(text) => text.len() as u64,
            Content::File { left, .. } => *left,
        }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        match self.get_mut() {
            Content::Text(text) if text.is_empty() => Poll::Ready(None),
            Content::Text(text) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(text))))),
            Content::File { left: 0, .. } => Poll::Ready(None),
            Content::File { file, left } => {
                let mut piece = vec![0; PIECE.min(*left) as usize];
                // A file that became shorter ends the connection: the length is promised already.
                Poll::Ready(Some(file.read_exact(&mut piece).map(|()| {
                    *left -= piece.len() as u64;
                    Frame::data(Bytes::from(piece))
                })))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.length() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length())
    }
}
