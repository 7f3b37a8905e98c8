//! Whose a message is that came: the answer to a request that waits, something the server says or asks, or nothing that
//! MCP knows. What is unreadable is counted, shown, and never dropped.

use std::ops::Range;
use std::time::Instant;

use bytes::Bytes;

use super::spread::Spread;
use super::{BATCHES, Incoming, State, Tap, Within, finish, join, only, quote};
use crate::SessionEvent;
use crate::envelope::{
    Elements, Envelope, Id, Member, PROBE, PROBE_TEXT, Peek, peek, peek_or_index,
};
use crate::error::{Error, excerpt};
use loupe_core::capture::Direction;
use loupe_core::number::grouped;

/// What is looked at of a message that is cut.
const BEGINNING: usize = 1 << 20;

impl Tap {
    /// A message came, or an array of them. Says whether it was one at all.
    pub(crate) fn incoming(&self, incoming: Incoming) -> bool {
        let now = Instant::now();
        let bytes = incoming.bytes.clone();
        // What is cut is no JSON to index, and as large as can be: its owner is named at its beginning, or was cut off.
        let peeked = if incoming.cut {
            peek(&bytes[..bytes.len().min(BEGINNING)])
        } else {
            peek_or_index(&bytes)
        };
        let (count, full) = {
            let mut state = self.state();
            self.log(&mut state, now, (Direction::In, &bytes), Some(&peeked));
            (state.messages, state.log.take_note())
        };
        self.emit(SessionEvent::Messages(count));
        full.into_iter()
            .for_each(|note| self.emit(SessionEvent::Noted(note)));
        match peeked {
            Peek::Batch(elements) if !incoming.cut => self.unpack(elements, now, incoming),
            Peek::Object(envelope) => self.take(now, Some(envelope), incoming),
            Peek::Batch(_) | Peek::Noise => self.take(now, None, incoming),
        }
    }

    /// Takes the messages of a batch one by one. One revision has batches; under the others they are odd, and cost no answer.
    fn unpack(&self, elements: Elements<'_>, now: Instant, batch: Incoming) -> bool {
        let part = |bytes: Bytes| {
            let within = batch.within.clone().map(|within| Within {
                whole: false,
                ..within
            });
            Incoming {
                bytes,
                begun: batch.begun,
                cut: false,
                within,
            }
        };
        let message = |range: &Range<usize>| match peek(&batch.bytes[range.clone()]) {
            Peek::Object(envelope) if envelope.method.is_some() || envelope.is_response() => {
                Some(envelope)
            }
            _ => None,
        };
        let (messages, others) =
            elements
                .clone()
                .fold((0, 0), |(messages, others), range| match message(&range) {
                    Some(_) => (messages + 1, others),
                    None => (messages, others + 1),
                });
        if messages == 0 {
            return self.take(now, None, batch);
        }
        let mut readable = true;
        if others > 0 {
            // What in it is no message stands nowhere else.
            readable = self.take(now, None, part(batch.bytes.clone()));
        }
        {
            let mut state = self.state();
            if !state.has_batches {
                state.note_all(&format!(
                    "messages came in an array (a batch), which only the revision {BATCHES} has"
                ));
            }
        }
        for range in elements {
            if let Some(envelope) = message(&range) {
                readable &= self.take(now, Some(envelope), part(batch.bytes.slice(range)));
            }
        }
        if let Some(within) = batch.within.as_ref().filter(|within| within.whole) {
            let what = format!(
                "the body holds no answer to the request: {}",
                quote(&batch.bytes)
            );
            let (request, fault) = (
                within.request,
                Error::Malformed {
                    place: self.place.clone(),
                    what,
                },
            );
            finish(&mut self.state(), request, now, batch, Err(fault));
        }
        readable
    }

    fn take(&self, now: Instant, envelope: Option<Envelope>, incoming: Incoming) -> bool {
        let mut events = Vec::new();
        let (readable, fresh) = {
            let mut state = self.state();
            let readable = self.sort(&mut state, now, envelope, incoming, &mut events);
            if readable && !std::mem::replace(&mut state.received_any, true) && !state.established {
                events.push(SessionEvent::Phase("initialize".into()));
            }
            (readable, state.server_requests.take_fresh())
        };
        events.into_iter().for_each(|event| self.emit(event));
        self.put(fresh);
        readable
    }

    fn sort(
        &self,
        state: &mut State,
        now: Instant,
        envelope: Option<Envelope>,
        incoming: Incoming,
        events: &mut Vec<SessionEvent>,
    ) -> bool {
        if incoming.cut {
            return self.too_large(state, now, envelope.as_ref(), incoming, events);
        }
        match envelope {
            Some(envelope) if envelope.method.is_some() => {
                state.spread = None;
                self.asked(state, now, &envelope, &incoming, events)
            }
            Some(envelope)
                if envelope.is_response()
                    && (envelope.complete || is_cut_answer(state, &envelope)) =>
            {
                state.spread = None;
                self.answered(state, now, &envelope, incoming, events)
            }
            Some(envelope)
                if !envelope.complete && incoming.within.is_none() && state.spread.is_none() =>
            {
                state.spread =
                    Some(Spread::begin(&incoming.bytes, incoming.begun)).filter(Spread::is_open);
                self.unreadable(state, now, &incoming, events)
            }
            _ => {
                let readable = self.unreadable(state, now, &incoming, events);
                self.gather(state, now, &incoming);
                readable
            }
        }
    }

    /// The first part of a message. Its id may be in what was dropped: it is the answer where only one is waited for.
    fn too_large(
        &self,
        state: &mut State,
        now: Instant,
        envelope: Option<&Envelope>,
        incoming: Incoming,
        events: &mut Vec<SessionEvent>,
    ) -> bool {
        let what = format!(
            "the message is larger than {} bytes; its first part is kept",
            grouped(self.limits.message as u64)
        );
        let within = incoming.within.as_ref();
        let body = within
            .filter(|within| within.whole)
            .map(|within| within.request);
        let known = || envelope.and_then(|envelope| answers(state, envelope, within));
        let likely = || {
            let envelope = envelope?;
            let is_one = envelope.id == Id::Absent && !envelope.complete && envelope.is_response();
            waiting(state, within).filter(|_| is_one)
        };
        let Some(target) = body.or_else(known).or_else(likely) else {
            state.note_all(&what);
            return self.unreadable(state, now, &incoming, events);
        };
        finish(
            state,
            target,
            now,
            incoming,
            Err(Error::Malformed {
                place: self.place.clone(),
                what,
            }),
        );
        true
    }

    /// Puts a message together that a server printed over several lines; it is an answer, but not one MCP allows.
    fn gather(&self, state: &mut State, now: Instant, incoming: &Incoming) {
        let Some(mut spread) = state.spread.take().filter(|_| incoming.within.is_none()) else {
            return;
        };
        if !spread.add(&incoming.bytes) {
            return;
        }
        if spread.is_open() {
            state.spread = Some(spread);
            return;
        }
        let Peek::Object(envelope) = peek(&spread.text) else {
            return;
        };
        if let Some(target) = answers(state, &envelope, None).filter(|_| envelope.complete) {
            let what =
                "the answer spans several lines; on standard output a message is one line".into();
            let whole = Incoming {
                bytes: spread.text.into(),
                begun: spread.begun,
                cut: false,
                within: None,
            };
            finish(
                state,
                target,
                now,
                whole,
                Err(Error::Malformed {
                    place: self.place.clone(),
                    what,
                }),
            );
        }
    }

    /// A line that is no message: shown and counted, and it may belong to any call that waits.
    fn unreadable(
        &self,
        state: &mut State,
        now: Instant,
        incoming: &Incoming,
        events: &mut Vec<SessionEvent>,
    ) -> bool {
        if let Some(within) = incoming.within.as_ref().filter(|within| within.whole) {
            let what = format!("the body is not an MCP message: {}", quote(&incoming.bytes));
            let (target, fault) = (
                within.request,
                Error::Malformed {
                    place: self.place.clone(),
                    what,
                },
            );
            let whole = Incoming {
                bytes: incoming.bytes.clone(),
                begun: incoming.begun,
                cut: false,
                within: incoming.within.clone(),
            };
            finish(state, target, now, whole, Err(fault));
            return false;
        }
        if incoming.bytes.is_empty() {
            return false;
        }
        state.unreadable += 1;
        let start = &incoming.bytes[..incoming.bytes.len().min(2_000)];
        let first = || excerpt(&String::from_utf8_lossy(start));
        state.first_of_all.get_or_insert_with(first);
        state.first_unreadable.get_or_insert_with(first);
        for pending in state
            .pending
            .values_mut()
            .filter(|pending| !pending.is_aside)
        {
            pending.unreadable += 1;
            pending.unreadable_before = state.unreadable - pending.unreadable;
            pending.odd = Some(incoming.bytes.clone());
            pending.is_in_lines |= incoming.within.is_none();
        }
        join(state, now, Direction::In, &incoming.bytes, None);
        events.push(SessionEvent::Unreadable(state.unreadable));
        false
    }

    /// A request or a notification of the server.
    fn asked(
        &self,
        state: &mut State,
        now: Instant,
        envelope: &Envelope,
        incoming: &Incoming,
        events: &mut Vec<SessionEvent>,
    ) -> bool {
        join(state, now, Direction::In, &incoming.bytes, None);
        state
            .pending
            .values_mut()
            .for_each(|pending| pending.is_heard = true);
        let method = envelope.method.as_deref().unwrap_or_default();
        match (&envelope.id, &envelope.id_range) {
            (Id::Absent | Id::Null, _) | (_, None) => {
                self.notified(state, method, &incoming.bytes, events)
            }
            (_, Some(range)) => self.questioned(
                state,
                envelope,
                &incoming.bytes,
                &incoming.bytes.slice(range.clone()),
                events,
            ),
        }
        true
    }

    /// A response, or what is left of one.
    fn answered(
        &self,
        state: &mut State,
        now: Instant,
        envelope: &Envelope,
        incoming: Incoming,
        events: &mut Vec<SessionEvent>,
    ) -> bool {
        let within = incoming.within.as_ref();
        let shown = envelope.id.shown();
        if let Some(target) = answers(state, envelope, within) {
            let note = match &envelope.id {
                Id::Number(_) => None,
                Id::Odd(_, text) => Some(format!("the id {target} came back as {text}")),
                Id::Absent | Id::Null => Some(format!("the error came with {shown}")),
            };
            if let (Some(note), Some(pending)) = (note, state.pending.get_mut(&target)) {
                pending.beside.note(&note);
            }
            finish(state, target, now, incoming, Ok(envelope.doc.clone()));
            return true;
        }
        let body = within
            .filter(|within| within.whole)
            .map(|within| within.request);
        if let Some(id) = envelope.id.number() {
            let is_earlier = (0..state.next_id).contains(&id)
                && within.is_none_or(|within| within.request == id);
            if is_earlier || (id == PROBE && body.is_none()) {
                // Late, or a second answer: on the wire log, and next to whatever else waits.
                join(
                    state,
                    now,
                    Direction::In,
                    &incoming.bytes,
                    Some("an answer to an earlier request came"),
                );
                return true;
            }
        }
        if state.pending.values().all(|pending| pending.is_aside) {
            return true;
        }
        if !envelope.has_outcome() {
            return self.unreadable(state, now, &incoming, events);
        }
        let Some(target) = body else {
            let note = format!("an answer to no request came, with {shown}");
            join(state, now, Direction::In, &incoming.bytes, Some(&note));
            for pending in state.pending.values_mut() {
                pending.odd = Some(incoming.bytes.clone());
            }
            return false;
        };
        let had = if target == PROBE {
            PROBE_TEXT.to_owned()
        } else {
            target.to_string()
        };
        let what = format!("the answer carries {shown}, the request had {had}");
        finish(
            state,
            target,
            now,
            incoming,
            Err(Error::Malformed {
                place: self.place.clone(),
                what,
            }),
        );
        true
    }
}

/// An answer that ends before its end: whose it is was said before.
fn is_cut_answer(state: &State, envelope: &Envelope) -> bool {
    envelope.has_outcome() && answers(state, envelope, None).is_some()
}

/// The request that a message answers: the one whose id it carries; or, for an error without an id, since a server that
/// could not read a request has none to give back, the one request that waits.
fn answers(state: &State, envelope: &Envelope, within: Option<&Within>) -> Option<i64> {
    if let Some(id) = envelope.id.number() {
        return Some(id).filter(|id| envelope.is_response() && state.pending.contains_key(id));
    }
    let is_body = within.is_some_and(|within| within.whole);
    let is_nameless = matches!(envelope.id, Id::Absent | Id::Null) && envelope.complete;
    // A line of a log may have a member `error` too.
    let is_error = envelope.method.is_none()
        && envelope.error == Member::Present
        && (envelope.versioned || is_body);
    waiting(state, within).filter(|_| is_nameless && is_error)
}

/// The request that waits for what came: that of the HTTP answer it was in, else the only one.
fn waiting(state: &State, within: Option<&Within>) -> Option<i64> {
    match within {
        Some(within) => Some(within.request).filter(|id| state.pending.contains_key(id)),
        None => only(state),
    }
}
