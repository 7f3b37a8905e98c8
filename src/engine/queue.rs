//! The events that wait for the window. A flood of counts takes one place each, whatever comes between them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Wake;
use crate::state::{CallUpdate, Event, ServerNotification, SessionUpdate};

/// Lines of stderr that may wait; of more, the oldest go.
const STDERR_WAITING: usize = 1_000;
/// How far back an older count is looked for. A line brings two or three events, so it stands among the last few.
const NEAR: usize = 8;

/// Whether `event` is a later word on what `waiting` says: a count that has grown.
fn is_newer(event: &Event, waiting: &Event) -> bool {
    match (event, waiting) {
        (
            Event::Session {
                session,
                update: SessionUpdate::Messages(_),
            },
            Event::Session {
                session: of,
                update: SessionUpdate::Messages(_),
            },
        ) => session == of,
        (
            Event::Call {
                call,
                update: CallUpdate::Progress { .. },
            },
            Event::Call {
                call: of,
                update: CallUpdate::Progress { .. },
            },
        )
        | (
            Event::Call {
                call,
                update: CallUpdate::Unreadable(_),
            },
            Event::Call {
                call: of,
                update: CallUpdate::Unreadable(_),
            },
        ) => call == of,
        _ => false,
    }
}

pub(super) struct Queue {
    events: Mutex<VecDeque<Event>>,
    wake: Wake,
}

impl Queue {
    pub(super) fn new(wake: Wake) -> Self {
        Self {
            events: Mutex::default(),
            wake,
        }
    }

    fn events(&self) -> MutexGuard<'_, VecDeque<Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, event: Event) {
        {
            let mut events = self.events();
            let newer = events
                .iter_mut()
                .rev()
                .take(NEAR)
                .find(|waiting| is_newer(&event, waiting));
            match newer {
                Some(waiting) => *waiting = event,
                None => {
                    if matches!(
                        event,
                        Event::Session {
                            update: SessionUpdate::Stderr(_),
                            ..
                        }
                    ) && events.len() >= STDERR_WAITING
                    {
                        let oldest = events.iter().position(|waiting| {
                            matches!(
                                waiting,
                                Event::Session {
                                    update: SessionUpdate::Stderr(_),
                                    ..
                                }
                            )
                        });
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
            .filter(|event| {
                matches!(
                    event,
                    Event::Session {
                        update: SessionUpdate::Notification(ServerNotification::Lines(_)),
                        ..
                    }
                )
            })
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
    use crate::state::SessionId;

    #[test]
    fn a_flood_takes_one_place() {
        let queue = Queue::new(Arc::new(|| {}));
        // As they come: a line that cannot be read is a message and one more of them.
        for count in 0..100 {
            queue.push(Event::Session {
                session: SessionId(1),
                update: SessionUpdate::Messages(count),
            });
            queue.push(Event::Call {
                call: 1,
                update: CallUpdate::Unreadable(count),
            });
        }
        for number in 0..5_000 {
            queue.push(Event::Session {
                session: SessionId(1),
                update: SessionUpdate::Stderr(number.to_string()),
            });
        }
        assert!(matches!(
            queue.pop(),
            Some(Event::Session {
                update: SessionUpdate::Messages(99),
                ..
            })
        ));
        assert!(matches!(
            queue.pop(),
            Some(Event::Call {
                update: CallUpdate::Unreadable(99),
                ..
            })
        ));
        let mut left = 0;
        let mut last = String::new();
        while let Some(Event::Session {
            update: SessionUpdate::Stderr(line),
            ..
        }) = queue.pop()
        {
            left += 1;
            last = line;
        }
        assert!(left <= STDERR_WAITING, "{left}");
        assert_eq!(last, "4999");
    }
}
