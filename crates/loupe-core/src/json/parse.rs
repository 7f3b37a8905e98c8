//! The one pass that fills the tape. See [`super`] for what it promises.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use bytes::Bytes;

use super::{
    Container, Doc, Entry, Fault, FaultKind, Kind, NONE, ORDINAL_BITS, decode_string, hex4,
};

/// Objects up to this size, of keys without escapes, are searched for duplicate keys pair by pair; others through a set.
const PAIRWISE: usize = 12;
/// A message made of faults alone must not fill the memory: so many of each kind, so that none hides another.
const MAX_FAULTS: usize = 1_000;

struct Parser {
    bytes: Bytes,
    at: usize,
    tape: Vec<Entry>,
    containers: Vec<Container>,
    /// Values that are read.
    most: usize,
    faults: Vec<Fault>,
    /// How many there were of each kind that does not end the pass.
    counts: [usize; 3],
    open: Vec<Open>,
    /// The insides of the keys of the objects that are open, those of the innermost last.
    keys: Vec<Range<u32>>,
}

/// An array or object that is being read.
#[derive(Clone, Copy)]
struct Open {
    /// Its tape index.
    index: u32,
    /// Where its own keys begin among all.
    keys: u32,
}

/// Stops the pass; the fault is already recorded.
struct Stop;

pub(super) fn parse(bytes: Bytes, most: usize) -> Doc {
    let estimate = (bytes.len() / 16).min(1 << 20);
    let mut parser = Parser {
        at: 0,
        tape: Vec::with_capacity(estimate),
        containers: Vec::new(),
        most,
        faults: Vec::new(),
        counts: [0; 3],
        open: Vec::new(),
        keys: Vec::new(),
        bytes,
    };
    if u32::try_from(parser.bytes.len()).is_ok_and(|len| len != NONE) {
        if parser.bytes.starts_with(b"\xef\xbb\xbf") {
            parser.at = 3;
        }
        if parser.document().is_err() {
            parser.close_what_is_open();
        }
    } else {
        parser.fault(FaultKind::Syntax("larger than 4 GiB"));
    }
    parser.tape.shrink_to_fit();
    Doc {
        bytes: parser.bytes,
        tape: parser.tape,
        containers: parser.containers,
        faults: parser.faults,
    }
}

impl Parser {
    fn fault(&mut self, kind: FaultKind) -> Stop {
        self.fault_at(kind, self.at);
        Stop
    }

    fn fault_at(&mut self, kind: FaultKind, at: usize) {
        let place = match kind {
            FaultKind::InvalidUtf8 => Some(0),
            FaultKind::LoneSurrogate => Some(1),
            FaultKind::DuplicateKey => Some(2),
            // A fatal fault is the last one, so it always fits.
            FaultKind::Syntax(_)
            | FaultKind::UnexpectedEnd
            | FaultKind::TrailingData
            | FaultKind::TooMany => None,
        };
        if let Some(place) = place {
            self.counts[place] += 1;
            if self.counts[place] > MAX_FAULTS {
                return;
            }
        }
        self.faults.push(Fault { kind, at });
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn document(&mut self) -> Result<(), Stop> {
        loop {
            // A value is expected here.
            self.skip_space();
            let opened = self.value()?;
            if opened {
                self.skip_space();
                let index = self.open.last().map_or(0, |open| open.index);
                let is_object = self.tape[index as usize].kind() == Kind::Object;
                let closer = if is_object { b'}' } else { b']' };
                if self.peek() == Some(closer) {
                    self.at += 1;
                    self.close();
                } else {
                    if is_object {
                        self.key()?;
                    }
                    continue;
                }
            }
            // A value is complete: close what ends here, or go on to the next sibling.
            loop {
                self.skip_space();
                let Some(&Open { index, .. }) = self.open.last() else {
                    if self.at < self.bytes.len() {
                        self.fault(FaultKind::TrailingData);
                    }
                    return Ok(());
                };
                let is_object = self.tape[index as usize].kind() == Kind::Object;
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if is_object {
                            self.skip_space();
                            self.key()?;
                        }
                        break;
                    }
                    Some(b'}') if is_object => {}
                    Some(b']') if !is_object => {}
                    None => return Err(self.fault(FaultKind::UnexpectedEnd)),
                    Some(_) if is_object => {
                        return Err(
                            self.fault(FaultKind::Syntax("expected a comma or a closing brace"))
                        );
                    }
                    Some(_) => {
                        return Err(
                            self.fault(FaultKind::Syntax("expected a comma or a closing bracket"))
                        );
                    }
                }
                self.at += 1;
                self.close();
            }
        }
    }

    /// Closes the innermost array or object.
    fn close(&mut self) {
        let (end, next) = (offset(self.at), offset(self.tape.len()));
        let Some(Open { index, keys }) = self.open.pop() else {
            return;
        };
        let keys = keys as usize;
        let Some(container) = self.container(index) else {
            return;
        };
        container.end = end;
        container.next = next;
        // A key whose value could not be read is none of its members.
        let len = container.len as usize;
        if self.tape[index as usize].kind() == Kind::Object {
            self.find_duplicates(keys..keys + len);
        }
        self.keys.truncate(keys);
    }

    fn close_what_is_open(&mut self) {
        while !self.open.is_empty() {
            self.close();
        }
    }

    fn container(&mut self, index: u32) -> Option<&mut Container> {
        self.tape[index as usize]
            .container()
            .map(|container| &mut self.containers[container])
    }

    fn key(&mut self) -> Result<(), Stop> {
        match self.peek() {
            Some(b'"') => {}
            None => return Err(self.fault(FaultKind::UnexpectedEnd)),
            Some(_) => return Err(self.fault(FaultKind::Syntax("expected a key in double quotes"))),
        }
        let start = self.at + 1;
        self.string()?;
        self.keys.push(offset(start)..offset(self.at - 1));
        self.skip_space();
        match self.peek() {
            Some(b':') => self.at += 1,
            None => return Err(self.fault(FaultKind::UnexpectedEnd)),
            Some(_) => return Err(self.fault(FaultKind::Syntax("expected a colon"))),
        }
        Ok(())
    }

    /// Reads a scalar, or opens a container and says so.
    fn value(&mut self) -> Result<bool, Stop> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            None => return Err(self.fault(FaultKind::UnexpectedEnd)),
            Some(_) => return Err(self.fault(FaultKind::Syntax("expected a value"))),
        };
        if self.tape.len() >= self.most {
            return Err(self.fault(FaultKind::TooMany));
        }
        let parent = self.open.last().map(|open| open.index);
        let ordinal = parent
            .and_then(|parent| self.container(parent))
            .map_or(0, |parent| parent.len);
        let index = offset(self.tape.len());
        let read = match kind {
            Kind::Object | Kind::Array => {
                self.at += 1;
                Ok(())
            }
            Kind::String => self.string(),
            Kind::Number => self.number(),
            Kind::Bool if self.peek() == Some(b't') => self.word(b"true"),
            Kind::Bool => self.word(b"false"),
            Kind::Null => self.word(b"null"),
        };
        if read.is_err() && kind != Kind::String {
            // `nul` or `1e` is no value; a string cut short still shows what came.
            return Err(Stop);
        }
        if let Some(parent) = parent.and_then(|parent| self.container(parent)) {
            parent.len += 1;
        }
        let opened = matches!(kind, Kind::Object | Kind::Array);
        let end = offset(self.at);
        self.tape.push(Entry {
            start: offset(start),
            end_or_container: if opened {
                offset(self.containers.len())
            } else {
                end
            },
            parent: parent.unwrap_or(NONE),
            ordinal_and_kind: (kind as u32) << ORDINAL_BITS | ordinal,
        });
        read?;
        if opened {
            self.containers.push(Container {
                end,
                next: index + 1,
                len: 0,
            });
            self.open.push(Open {
                index,
                keys: offset(self.keys.len()),
            });
        }
        Ok(opened)
    }

    fn word(&mut self, word: &'static [u8]) -> Result<(), Stop> {
        if self.bytes[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(())
        } else if word.starts_with(&self.bytes[self.at..]) {
            self.at = self.bytes.len();
            Err(self.fault(FaultKind::UnexpectedEnd))
        } else {
            Err(self.fault(FaultKind::Syntax("expected true, false or null")))
        }
    }

    fn digits(&mut self) -> Result<(), Stop> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        match self.peek() {
            _ if self.at > start => Ok(()),
            None => Err(self.fault(FaultKind::UnexpectedEnd)),
            Some(_) => Err(self.fault(FaultKind::Syntax("expected a digit"))),
        }
    }

    fn number(&mut self) -> Result<(), Stop> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.fault(FaultKind::Syntax("a number with a leading zero")));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Leaves `at` just past the closing quote.
    fn string(&mut self) -> Result<(), Stop> {
        let start = self.at + 1;
        let mut has_high_bytes = false;
        // Half the time that it takes with `self.at`, which is written to memory byte by byte.
        let mut at = start;
        let ended = loop {
            match self.bytes.get(at) {
                Some(b'"') => break Ok(()),
                Some(b'\\') => match self.escape(at) {
                    Ok(length) => at += length,
                    Err(fault) => break Err(fault),
                },
                Some(..0x20) => {
                    break Err(FaultKind::Syntax("a control character inside a string"));
                }
                Some(byte) => {
                    has_high_bytes |= !byte.is_ascii();
                    at += 1;
                }
                None => break Err(FaultKind::UnexpectedEnd),
            }
        };
        self.at = at;
        if let Err(fault) = ended {
            return Err(self.fault(fault));
        }
        if has_high_bytes && let Err(bad) = std::str::from_utf8(&self.bytes[start..at]) {
            self.fault_at(FaultKind::InvalidUtf8, start + bad.valid_up_to());
        }
        self.at += 1;
        Ok(())
    }

    /// The length of the escape at a place.
    fn escape(&mut self, at: usize) -> Result<usize, FaultKind> {
        match self.bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
            Some(b'u') => {
                let Some(code) = hex4(&self.bytes[at..]) else {
                    return Err(FaultKind::Syntax(
                        "a \\u escape needs four hexadecimal digits",
                    ));
                };
                let pair = (0xd800..0xdc00).contains(&code)
                    && matches!(
                        self.bytes.get(at + 6..).and_then(hex4),
                        Some(0xdc00..0xe000)
                    );
                if !pair && (0xd800..0xe000).contains(&code) {
                    self.fault_at(FaultKind::LoneSurrogate, at);
                }
                Ok(if pair { 12 } else { 6 })
            }
            // The end is met next.
            None => Ok(1),
            Some(_) => Err(FaultKind::Syntax("an unknown escape in a string")),
        }
    }

    /// Looks among the keys of one object, in order, for those that stood there before.
    fn find_duplicates(&mut self, keys: Range<usize>) {
        let keys = &self.keys[keys];
        let raw = |inside: &Range<u32>| &self.bytes[inside.start as usize..inside.end as usize];
        let mut repeated = Vec::new();
        if keys.len() <= PAIRWISE && !keys.iter().any(|inside| raw(inside).contains(&b'\\')) {
            for (position, inside) in keys.iter().enumerate() {
                if keys[..position]
                    .iter()
                    .any(|before| raw(before) == raw(inside))
                {
                    repeated.push(inside.start);
                }
            }
        } else {
            let mut seen = HashSet::with_capacity(keys.len());
            repeated.extend(
                keys.iter()
                    .filter(|inside| !seen.insert(without_escapes(raw(inside))))
                    .map(|inside| inside.start),
            );
        }
        for at in repeated {
            self.fault_at(FaultKind::DuplicateKey, at as usize - 1);
        }
    }
}

/// The bytes of a key, however they are written.
fn without_escapes(key: &[u8]) -> Cow<'_, [u8]> {
    match key.contains(&b'\\') {
        true => Cow::Owned(decode_string(key).into_owned().into_bytes()),
        false => Cow::Borrowed(key),
    }
}

/// Offsets fit: the length was checked before the pass began.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_of_too_many_values_is_read_up_to_there() {
        let text = Bytes::from_static(b"[1,{\"a\":2},3]");
        assert!(parse(text.clone(), 5).is_json());
        let doc = parse(text, 4);
        assert_eq!(
            doc.faults(),
            [Fault {
                kind: FaultKind::TooMany,
                at: 11
            }]
        );
        assert!(!doc.is_json());
        let shown: Vec<_> = doc
            .root()
            .unwrap()
            .children()
            .map(|node| node.raw_text().into_owned())
            .collect();
        assert_eq!(shown, ["1", "{\"a\":2}"]);
        let message = FaultKind::TooMany.message().replace(',', "");
        assert!(
            message.contains(&super::super::MAX_NODES.to_string()),
            "{message}"
        );
    }
}
