//! Hands a text to a [`Sink`] in pieces of at most 64 KiB.

use std::io;

use super::Sink;

const PIECE_BYTES: usize = 64 << 10;

/// A buffer before a sink.
pub(super) struct Pieces<'a> {
    sink: &'a mut dyn Sink,
    buffer: Vec<u8>,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(sink: &'a mut dyn Sink) -> Self {
        Self {
            sink,
            buffer: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    pub(super) fn push_bytes(&mut self, mut bytes: &[u8]) {
        while self.buffer.len() + bytes.len() > PIECE_BYTES {
            let (now, later) = bytes.split_at(PIECE_BYTES - self.buffer.len());
            bytes = later;
            if self.buffer.is_empty() {
                self.sink.push(now);
            } else {
                self.buffer.extend_from_slice(now);
                self.flush_buffer();
            }
        }
        self.buffer.extend_from_slice(bytes);
    }

    fn flush_buffer(&mut self) {
        self.sink.push(&self.buffer);
        self.buffer.clear();
    }

    pub(super) fn finish(mut self) {
        if !self.buffer.is_empty() {
            self.flush_buffer();
        }
    }
}

impl io::Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push_bytes(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
