//! Hands a text to a [`Sink`] in pieces of at most 64 KiB, so that everyone can cancel between two.

use std::io;

use super::{Sink, WriteError};
use crate::cancel::Cancelled;

const PIECE_BYTES: usize = 64 << 10;

/// A buffer before a sink.
pub(super) struct Pieces<'a> {
    sink: &'a mut dyn Sink,
    buffer: Vec<u8>,
    /// Kept so that a writer that only knows `io::Error` can be told apart from a cancelled one.
    cancelled: Option<Cancelled>,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(sink: &'a mut dyn Sink) -> Self {
        Self { sink, buffer: Vec::new(), cancelled: None }
    }

    pub(super) fn push(&mut self, text: &str) -> Result<(), Cancelled> {
        self.push_bytes(text.as_bytes())
    }

    pub(super) fn push_bytes(&mut self, mut bytes: &[u8]) -> Result<(), Cancelled> {
        while self.buffer.len() + bytes.len() > PIECE_BYTES {
            let (now, later) = bytes.split_at(PIECE_BYTES - self.buffer.len());
            bytes = later;
            if self.buffer.is_empty() {
                self.sink.push(now)?;
            } else {
                self.buffer.extend_from_slice(now);
                self.flush_buffer()?;
            }
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn flush_buffer(&mut self) -> Result<(), Cancelled> {
        let result = self.sink.push(&self.buffer);
        self.buffer.clear();
        self.cancelled = result.err();
        result
    }

    pub(super) fn finish(mut self) -> Result<(), Cancelled> {
        if self.buffer.is_empty() { Ok(()) } else { self.flush_buffer() }
    }

    /// What a failed write through [`io::Write`] meant.
    pub(super) fn explain(&self, error: impl std::fmt::Display) -> WriteError {
        self.cancelled.map_or_else(|| WriteError::Refused(error.to_string()), WriteError::Cancelled)
    }
}

impl io::Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push_bytes(bytes).map_err(|cancelled| {
            self.cancelled = Some(cancelled);
            io::Error::other(cancelled)
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
