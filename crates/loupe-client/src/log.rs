//! The wire log: the messages of a session in order, with monotonic time. Bounded; a transcript sees them all.

use std::collections::VecDeque;

use super::Transcript;
use super::envelope::Peek;
use super::wire::line;
use loupe_core::capture::{Direction, Message};
use loupe_core::number::grouped;
use loupe_core::source::Limits;

/// What a message takes next to its bytes: a flood of empty ones fills the memory as well.
const EACH: usize = 64;

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<(u64, Message)>,
    bytes: usize,
}

impl Queue {
    /// Whether something was let go of for it.
    fn push(&mut self, order: u64, message: Message, budget: usize) -> bool {
        let mut is_full = false;
        self.bytes += message.bytes.len() + EACH;
        self.messages.push_back((order, message));
        while self.bytes > budget && self.messages.len() > 1 {
            if let Some((_, old)) = self.messages.pop_front() {
                self.bytes -= old.bytes.len() + EACH;
                is_full = true;
            }
        }
        is_full
    }
}

pub(super) struct Log {
    transcript: Option<Transcript>,
    /// How many there were in all.
    count: u64,
    wire: Queue,
    stderr: Queue,
    /// The messages before it belong to a process that is gone.
    tail_from: u64,
    limits: Limits,
    /// Which queues have said that they are full, and what is to be said.
    has_said: [bool; 2],
    note: Option<String>,
}

impl Log {
    pub(super) fn new(transcript: Option<Transcript>, limits: Limits) -> Self {
        Self {
            transcript,
            count: 0,
            wire: Queue::default(),
            stderr: Queue::default(),
            tail_from: 0,
            limits,
            has_said: [false; 2],
            note: None,
        }
    }

    /// `peeked`: what was seen of the message already.
    pub(super) fn push(&mut self, message: Message, peeked: Option<&Peek<'_>>) {
        self.count += 1;
        if let Some(transcript) = &self.transcript {
            transcript(line(&message, peeked));
        }
        // A server that floods them must not fill the memory.
        let (queue, limit, at, name, word) = match message.direction {
            Direction::Stderr => (&mut self.stderr, self.limits.stderr, 1, "stderr", "stderr"),
            _ => (
                &mut self.wire,
                self.limits.log,
                0,
                "the session's messages",
                "log",
            ),
        };
        if queue.push(self.count, message, limit)
            && !std::mem::replace(&mut self.has_said[at], true)
        {
            self.note = Some(format!(
                "{name} came to more than {} bytes: the oldest are dropped from here on (limit `{word}`)",
                grouped(limit as u64)
            ));
        }
    }

    /// What is to be said of a limit that was reached, once.
    pub(super) fn take_note(&mut self) -> Option<String> {
        self.note.take()
    }

    pub(super) fn messages(&self) -> Vec<Message> {
        let mut all: Vec<_> = self
            .wire
            .messages
            .iter()
            .chain(&self.stderr.messages)
            .collect();
        all.sort_by_key(|(order, _)| *order);
        all.into_iter()
            .map(|(_, message)| message.clone())
            .collect()
    }

    /// What came so far has no part in later tails.
    pub(super) fn start_tail(&mut self) {
        self.tail_from = self.count;
    }

    /// The last lines of stderr that say something, the oldest first.
    pub(super) fn stderr_tail(&self) -> Vec<String> {
        let recent = self
            .stderr
            .messages
            .iter()
            .rev()
            .take_while(|(order, _)| *order > self.tail_from);
        let recent = recent.map(|(_, message)| {
            String::from_utf8_lossy(&message.bytes)
                .trim_end()
                .to_owned()
        });
        let mut tail: Vec<_> = recent.filter(|line| !line.is_empty()).take(TRACE).collect();
        tail.reverse();
        tail
    }
}

/// Of the last lines of stderr those to quote: the one that names an error, where a trace stands below it, else the last.
pub(super) fn shortened(tail: &[String], lines: usize) -> &[String] {
    let last = &tail[tail.len().saturating_sub(lines)..];
    match tail.iter().rposition(|line| names_error(line)) {
        Some(at) if !last.contains(&tail[at]) => &tail[at..=at],
        _ => last,
    }
}

/// Lines that are kept of a program's last words: a trace has many.
const TRACE: usize = 40;

/// `TypeError: x is no function`, `Error [ERR_X]: why`, as JavaScript and Python begin the line that says what went wrong.
pub(super) fn names_error(line: &str) -> bool {
    let Some((name, _)) = line.split_once(": ") else {
        return false;
    };
    let name = name.strip_prefix("Uncaught ").unwrap_or(name);
    let name = name.split_once(" [").map_or(name, |(name, _)| name);
    let is_word = name
        .chars()
        .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.'));
    is_word && (name.ends_with("Error") || name.ends_with("Exception"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;

    fn message(at: u64, direction: Direction, text: String) -> Message {
        Message {
            at: Duration::from_millis(at),
            direction,
            bytes: Bytes::from(text),
        }
    }

    #[test]
    fn of_a_trace_the_error_is_told_and_else_the_last_lines() {
        let tail = |lines: &str| {
            let mut log = Log::new(None, Limits::default());
            for line in lines.lines() {
                log.push(message(0, Direction::Stderr, line.to_owned()), None);
            }
            shortened(&log.stderr_tail(), 3).to_vec()
        };
        let node = "node:internal/modules:1\n  throw err;\n  ^\n\nError: Cannot find module '/a.js'\n    at f (node:1)\n    at g {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20";
        assert_eq!(tail(node), ["Error: Cannot find module '/a.js'"]);
        let coded = "TypeError [ERR_UNKNOWN]: no such thing\n    at f\n    at g\n    at h";
        assert_eq!(tail(coded), ["TypeError [ERR_UNKNOWN]: no such thing"]);
        let python = "Traceback (most recent call last):\n  File \"a.py\", line 1\n    x\nNameError: name 'x' is not defined";
        assert_eq!(
            tail(python),
            [
                "  File \"a.py\", line 1",
                "    x",
                "NameError: name 'x' is not defined"
            ]
        );
        assert_eq!(
            tail("one\ntwo: 2\nthree\nfour"),
            ["two: 2", "three", "four"]
        );
    }

    #[test]
    fn stderr_is_bounded_and_order_is_kept() {
        let count = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&count);
        let mut log = Log::new(
            Some(Arc::new(move |_| {
                counting.fetch_add(1, Ordering::Relaxed);
            })),
            Limits::default(),
        );
        for round in 0..40_u64 {
            log.push(
                message(round, Direction::Stderr, "x".repeat(64 << 10)),
                None,
            );
            log.push(message(round, Direction::In, round.to_string()), None);
        }
        assert!(
            log.take_note()
                .unwrap()
                .starts_with("stderr came to more than 1,048,576 bytes")
        );
        assert_eq!(log.take_note(), None, "said once");
        let messages = log.messages();
        assert_eq!(
            messages
                .iter()
                .filter(|message| message.direction == Direction::In)
                .count(),
            40
        );
        // The newest that fit, each in its turn: before the other message of its round.
        let rounds: Vec<_> = messages
            .windows(2)
            .filter(|pair| pair[0].direction == Direction::Stderr)
            .map(|pair| (pair[0].at, pair[1].direction, pair[1].at))
            .collect();
        let expected: Vec<_> = (25..40)
            .map(Duration::from_millis)
            .map(|at| (at, Direction::In, at))
            .collect();
        assert_eq!(rounds, expected);
        assert_eq!(
            count.load(Ordering::Relaxed),
            80,
            "the transcript sees what the log lets go"
        );
    }

    #[test]
    fn empty_messages_fill_it_as_well() {
        let limits = Limits {
            log: 64_000,
            stderr: 640,
            ..Limits::default()
        };
        let mut log = Log::new(None, limits);
        for _ in 0..2_000 {
            log.push(message(0, Direction::In, String::new()), None);
            log.push(message(0, Direction::Stderr, String::new()), None);
        }
        let messages = log.messages();
        let count = |direction| {
            messages
                .iter()
                .filter(|message| message.direction == direction)
                .count()
        };
        assert_eq!(
            (count(Direction::In), count(Direction::Stderr)),
            (1_000, 10)
        );
    }
}
