//! The wire log: the messages of a session in order, with monotonic time. Bounded; a transcript sees them all.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use super::Transcript;
use crate::capture::{Direction, Message};

/// What a session keeps of its messages.
const BUDGET_BYTES: usize = 8 << 20;
/// What is kept of stderr in any case: a server that floods it must not fill the memory.
const STDERR_BYTES: usize = 1 << 20;

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<(u64, Message)>,
    bytes: usize,
}

impl Queue {
    fn push(&mut self, order: u64, message: Message, budget: usize) {
        self.bytes += message.bytes.len();
        self.messages.push_back((order, message));
        while self.bytes > budget && self.messages.len() > 1 {
            if let Some((_, old)) = self.messages.pop_front() {
                self.bytes -= old.bytes.len();
            }
        }
    }
}

pub(super) struct Log {
    transcript: Option<Transcript>,
    /// How many there were in all.
    count: u64,
    wire: Queue,
    stderr: Queue,
}

impl Log {
    pub(super) fn new(transcript: Option<Transcript>) -> Self {
        Self { transcript, count: 0, wire: Queue::default(), stderr: Queue::default() }
    }

    pub(super) fn push(&mut self, at: Duration, direction: Direction, bytes: Bytes) {
        self.count += 1;
        let message = Message { at, direction, bytes };
        if let Some(transcript) = &self.transcript {
            transcript(&message);
        }
        match direction {
            Direction::Stderr => self.stderr.push(self.count, message, STDERR_BYTES),
            _ => self.wire.push(self.count, message, BUDGET_BYTES),
        }
    }

    pub(super) fn messages(&self) -> Vec<Message> {
        let mut all: Vec<_> = self.wire.messages.iter().chain(&self.stderr.messages).collect();
        all.sort_by_key(|(order, _)| *order);
        all.into_iter().map(|(_, message)| message.clone()).collect()
    }

    /// The last lines of stderr that say something, for error messages.
    pub(super) fn stderr_tail(&self, lines: usize) -> Vec<String> {
        let said =
            self.stderr.messages.iter().rev().map(|(_, message)| String::from_utf8_lossy(&message.bytes).trim_end().to_owned());
        let mut tail: Vec<_> = said.filter(|line| !line.is_empty()).take(lines).collect();
        tail.reverse();
        tail
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn stderr_is_bounded_and_order_is_kept() {
        let count = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&count);
        let mut log = Log::new(Some(Arc::new(move |_: &Message| {
            counting.fetch_add(1, Ordering::Relaxed);
        })));
        for round in 0..40_u64 {
            log.push(Duration::from_millis(round), Direction::Stderr, Bytes::from(vec![b'x'; 64 << 10]));
            log.push(Duration::from_millis(round), Direction::In, Bytes::from(round.to_string()));
        }
        let messages = log.messages();
        assert_eq!(messages.iter().filter(|message| message.direction == Direction::In).count(), 40);
        assert_eq!(messages.iter().filter(|message| message.direction == Direction::Stderr).count(), 16);
        assert!(messages.is_sorted_by_key(|message| message.at));
        assert_eq!(count.load(Ordering::Relaxed), 80, "the transcript sees what the log lets go");
    }
}
