//! The events that wait for the window. A flood of the same kind takes one place.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Wake;
use crate::state::Event;

/// Lines of stderr that may wait; of more, the oldest go.
const STDERR_WAITING: usize = 1_000;

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
            let waiting = events.len();
            match (events.back_mut(), &event) {
                (Some(last @ Event::Messages { .. }), Event::Messages { .. })
                | (Some(last @ Event::Progress { .. }), Event::Progress { .. })
                | (Some(last @ Event::Unreadable { .. }), Event::Unreadable { .. }) => *last = event,
                (_, Event::Stderr { .. }) if waiting >= STDERR_WAITING => {
                    let oldest = events.iter().position(|waiting| matches!(waiting, Event::Stderr { .. }));
                    if let Some(oldest) = oldest {
                        events.remove(oldest);
                    }
                    events.push_back(event);
                }
                _ => events.push_back(event),
            }
        }
        (self.wake)();
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
        for count in 0..100 {
            queue.push(Event::Messages { session: 1, count });
        }
        for number in 0..5_000 {
            queue.push(Event::Stderr { session: 1, line: number.to_string() });
        }
        assert!(matches!(queue.pop(), Some(Event::Messages { count: 99, .. })));
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
