//! The events that wait for the window. A flood of counts takes one place each, whatever comes between them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Wake;
use crate::state::{Event, ServerNotification};

/// Lines of stderr that may wait; of more, the oldest go.
const STDERR_WAITING: usize = 1_000;
/// How far back an older count is looked for. A line brings two or three events, so it stands among the last few.
const NEAR: usize = 8;

/// Whether `event` is a later word on what `waiting` says: a count that has grown.
fn is_newer(event: &Event, waiting: &Event) -> bool {
    match (event, waiting) {
        (Event::Messages { session, .. }, Event::Messages { session: of, .. }) => session == of,
        (Event::Progress { call, .. }, Event::Progress { call: of, .. })
        | (Event::Unreadable { call, .. }, Event::Unreadable { call: of, .. }) => call == of,
        _ => false,
    }
}

pub(super) struct Queue {
    events: Mutex<VecDeque<Event>>,
    wake: Wake,
}

impl Queue {
    pub(super) fn new(wake: Wake) -> Self {
        Self { events: Mutex::default(), wake }
    }

    fn events(&self) -> MutexGuard<'_, VecDeque<Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, event: Event) {
        {
            let mut events = self.events();
            let newer = events.iter_mut().rev().take(NEAR).find(|waiting| is_newer(&event, waiting));
            match newer {
                Some(waiting) => *waiting = event,
                None => {
                    if matches!(event, Event::Stderr { .. }) && events.len() >= STDERR_WAITING {
                        let oldest = events.iter().position(|waiting| matches!(waiting, Event::Stderr { .. }));
                        oldest.and_then(|oldest| events.remove(oldest));
                    }
                    events.push_back(event);
                }
            }
        }
        (self.wake)();
    }

    /// Parcels of messages that nobody has taken yet.
    pub(super) fn parcels(&self) -> usize {
        self.events()
            .iter()
            .filter(|event| matches!(event, Event::ServerNotification { heard: ServerNotification::Lines(_), .. }))
            .count()
    }

    pub(super) fn pop(&self) -> Option<Event> {
        self.events().pop_front()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_flood_takes_one_place() {
        let queue = Queue::new(Arc::new(|| {}));
        // As they come: a line that cannot be read is a message and one more of them.
        for count in 0..100 {
            queue.push(Event::Messages { session: 1, count });
            queue.push(Event::Unreadable { call: 1, count });
        }
        for number in 0..5_000 {
            queue.push(Event::Stderr { session: 1, line: number.to_string() });
        }
        assert!(matches!(queue.pop(), Some(Event::Messages { count: 99, .. })));
        assert!(matches!(queue.pop(), Some(Event::Unreadable { count: 99, .. })));
        let mut left = 0;
        let mut last = String::new();
        while let Some(Event::Stderr { line, .. }) = queue.pop() {
            left += 1;
            last = line;
        }
        assert!(left <= STDERR_WAITING, "{left}");
        assert_eq!(last, "4999");
    }
}
