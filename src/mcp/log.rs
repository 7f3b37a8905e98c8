//! The wire log: every message of a session in order, with monotonic time. Bounded unless everything is wanted.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use crate::capture::{Direction, Message};

/// What a session keeps of its messages when no transcript was asked for.
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

#[derive(Debug)]
pub(super) struct Log {
    keep_all: bool,
    /// How many there were in all.
    count: u64,
    wire: Queue,
    stderr: Queue,
}

impl Log {
    pub(super) fn new(keep_all: bool) -> Self {
        Self { keep_all, count: 0, wire: Queue::default(), stderr: Queue::default() }
    }

    pub(super) fn push(&mut self, at: Duration, direction: Direction, bytes: Bytes) {
        self.count += 1;
        let message = Message { at, direction, bytes };
        match direction {
            Direction::Stderr => self.stderr.push(self.count, message, STDERR_BYTES),
            _ => self.wire.push(self.count, message, if self.keep_all { usize::MAX } else { BUDGET_BYTES }),
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
    use super::*;

    #[test]
    fn stderr_is_bounded_and_order_is_kept() {
        let mut log = Log::new(true);
        for round in 0..40_u64 {
            log.push(Duration::from_millis(round), Direction::Stderr, Bytes::from(vec![b'x'; 64 << 10]));
            log.push(Duration::from_millis(round), Direction::In, Bytes::from(round.to_string()));
        }
        let messages = log.messages();
        assert_eq!(messages.iter().filter(|message| message.direction == Direction::In).count(), 40);
        assert_eq!(messages.iter().filter(|message| message.direction == Direction::Stderr).count(), 16);
        assert!(messages.is_sorted_by_key(|message| message.at));
    }
}
