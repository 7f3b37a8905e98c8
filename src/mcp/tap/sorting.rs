//! Whose a message is that came: the answer to a request that waits, something the server says or asks, or nothing that
//! MCP knows. What is unreadable is counted, shown, and never dropped.

use std::time::Instant;

use super::spread::Spread;
use super::{Incoming, State, Tap, finish, join, only, quote};
use crate::capture::Direction;
use crate::mcp::Happening;
use crate::mcp::envelope::{Envelope, Id, Member, PROBE, PROBE_TEXT, Peek, peek};
use crate::mcp::error::{Error, excerpt};

impl Tap {
    /// A message came. Says whether it was one at all.
    pub(in crate::mcp) fn incoming(&self, incoming: Incoming) -> bool {
        let mut happenings = Vec::new();
        let (readable, fresh) = {
            let mut state = self.state();
            let now = self.log(&mut state, Direction::In, &incoming.bytes);
            happenings.push(Happening::Messages(state.messages));
            happenings.extend(state.log.take_note().map(Happening::Noted));
            let readable = self.sort(&mut state, now, incoming, &mut happenings);
            if readable && !std::mem::replace(&mut state.heard, true) && !state.established {
                happenings.push(Happening::Phase("initialize".into()));
            }
            (readable, state.asks.take_fresh())
        };
        happenings.into_iter().for_each(|happening| self.happen(happening));
        self.put(fresh);
        readable
    }

    fn sort(&self, state: &mut State, now: Instant, incoming: Incoming, happenings: &mut Vec<Happening>) -> bool {
        let bytes = incoming.bytes.clone();
        let seen = peek(&bytes);
        if incoming.cut {
            let what = format!("the message is larger than {} bytes; its first part is kept", self.limits.message);
            let fault = Error::Malformed { place: self.place.clone(), what };
            let id = match &seen {
                Peek::Object(envelope) => envelope.id.number().filter(|id| state.pending.contains_key(id)),
                _ => None,
            };
            if let Some(target) = incoming.within.as_ref().map(|within| within.request).or(id).or(only(state)) {
                finish(state, target, now, incoming, Some(fault));
                return true;
            }
            return self.unreadable(state, now, &incoming, happenings);
        }
        match seen {
            Peek::Object(envelope) if envelope.complete || envelope.method.is_some() || envelope.is_response() => {
                if envelope.method.is_some() {
                    state.spread = None;
                    self.asked(state, now, &envelope, &incoming, happenings)
                } else if envelope.is_response() {
                    state.spread = None;
                    self.answered(state, now, &envelope, incoming, happenings)
                } else {
                    self.unreadable(state, now, &incoming, happenings)
                }
            }
            Peek::Batch(found) => {
                let (mut has_response, mut ours) = (false, None);
                for each in found {
                    has_response |= each.is_response();
                    ours = ours.or(each.id.number().filter(|id| state.pending.contains_key(id)));
                    if has_response && ours.is_some() {
                        break;
                    }
                }
                if !has_response {
                    let readable = self.unreadable(state, now, &incoming, happenings);
                    self.gather(state, now, &incoming);
                    return readable;
                }
                match ours.or(incoming.within.as_ref().map(|within| within.request)).or(only(state)) {
                    Some(target) => {
                        let what = "the answer came inside an array (a batch), which MCP does not have".into();
                        finish(state, target, now, incoming, Some(Error::Malformed { place: self.place.clone(), what }));
                        true
                    }
                    None => self.unreadable(state, now, &incoming, happenings),
                }
            }
            Peek::Object(_) if incoming.within.is_none() && state.spread.is_none() => {
                state.spread = Some(Spread::begin(&incoming.bytes, incoming.begun)).filter(Spread::is_open);
                self.unreadable(state, now, &incoming, happenings)
            }
            _ => {
                let readable = self.unreadable(state, now, &incoming, happenings);
                self.gather(state, now, &incoming);
                readable
            }
        }
    }

    /// Puts a message together that a server printed over several lines; it is an answer, but not one MCP allows.
    fn gather(&self, state: &mut State, now: Instant, incoming: &Incoming) {
        let Some(mut spread) = state.spread.take().filter(|_| incoming.within.is_none()) else { return };
        if !spread.add(&incoming.bytes) {
            return;
        }
        if spread.is_open() {
            state.spread = Some(spread);
            return;
        }
        let Peek::Object(envelope) = peek(&spread.text) else { return };
        let target = envelope.id.number().filter(|id| state.pending.contains_key(id)).or(only(state));
        if let Some(target) = target.filter(|_| envelope.complete && envelope.is_response()) {
            let what = "the answer is spread over several lines; on standard output a message is one line".into();
            let whole = Incoming { bytes: spread.text.into(), begun: spread.begun, cut: false, within: None };
            finish(state, target, now, whole, Some(Error::Malformed { place: self.place.clone(), what }));
        }
    }

    /// A line that is no message: shown and counted, and it may belong to any call that waits.
    fn unreadable(&self, state: &mut State, now: Instant, incoming: &Incoming, happenings: &mut Vec<Happening>) -> bool {
        if let Some(within) = incoming.within.as_ref().filter(|within| within.whole) {
            let what = format!("the body is no MCP message: {}", quote(&incoming.bytes));
            let (target, fault) = (within.request, Error::Malformed { place: self.place.clone(), what });
            let whole =
                Incoming { bytes: incoming.bytes.clone(), begun: incoming.begun, cut: false, within: incoming.within.clone() };
            finish(state, target, now, whole, Some(fault));
            return false;
        }
        if incoming.bytes.is_empty() {
            return false;
        }
        state.unreadable += 1;
        state.first_unreadable.get_or_insert_with(|| excerpt(&String::from_utf8_lossy(&incoming.bytes)));
        for pending in state.pending.values_mut().filter(|pending| !pending.is_aside) {
            pending.unreadable += 1;
            pending.is_in_lines |= incoming.within.is_none();
        }
        join(state, now, Direction::In, &incoming.bytes, None);
        happenings.push(Happening::Unreadable(state.unreadable));
        false
    }

    /// A request or a notification of the server.
    fn asked(
        &self,
        state: &mut State,
        now: Instant,
        envelope: &Envelope,
        incoming: &Incoming,
        happenings: &mut Vec<Happening>,
    ) -> bool {
        join(state, now, Direction::In, &incoming.bytes, None);
        let method = envelope.method.as_deref().unwrap_or_default();
        match (&envelope.id, &envelope.id_range) {
            (Id::Absent | Id::Null, _) | (_, None) => self.notified(state, method, &incoming.bytes, happenings),
            (_, Some(range)) => {
                self.questioned(state, envelope, &incoming.bytes, &incoming.bytes.slice(range.clone()), happenings)
            }
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
        happenings: &mut Vec<Happening>,
    ) -> bool {
        let within = incoming.within.as_ref().map(|within| within.request);
        let asked = match within {
            Some(id) => Some(id).filter(|id| state.pending.contains_key(id)),
            None => only(state),
        };
        if let Some(id) = envelope.id.number() {
            if state.pending.contains_key(&id) {
                if let (Id::Odd(_, text), Some(pending)) = (&envelope.id, state.pending.get_mut(&id)) {
                    pending.beside.note(&format!("the id {id} came back as {text}"));
                }
                finish(state, id, now, incoming, None);
                return true;
            }
            let is_whole = incoming.within.as_ref().is_some_and(|within| within.whole);
            let is_earlier = (0..state.next_id).contains(&id) && within.is_none_or(|within| within == id);
            if is_earlier || (id == PROBE && !is_whole) {
                // Late, or a second answer: on the wire log, and beside whatever else waits.
                join(state, now, Direction::In, &incoming.bytes, Some("an answer to an earlier request came"));
                return true;
            }
        }
        let Some(target) = asked else {
            return if state.pending.values().all(|pending| pending.is_aside) {
                join(state, now, Direction::In, &incoming.bytes, None);
                true
            } else {
                self.unreadable(state, now, &incoming, happenings)
            };
        };
        let shown = envelope.id.shown();
        let is_nameless = matches!(envelope.id, Id::Absent | Id::Null);
        if is_nameless && envelope.error == Member::Present {
            // A server that could not read the request's id has none to give back.
            if let Some(pending) = state.pending.get_mut(&target) {
                pending.beside.note(&format!("the error came with {shown}"));
            }
            finish(state, target, now, incoming, None);
        } else {
            let had = if target == PROBE { PROBE_TEXT.to_owned() } else { target.to_string() };
            let what = format!("the answer carries {shown}, the request had {had}");
            finish(state, target, now, incoming, Some(Error::Malformed { place: self.place.clone(), what }));
        }
        true
    }
}
