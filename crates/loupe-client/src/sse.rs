//! Server-sent events over a byte stream, keeping what the standard drops: an unfinished last event, bad UTF-8.

use std::time::Instant;

use bytes::{Buf, Bytes, BytesMut};

/// One event. Lines of data are joined by LF.
#[derive(Debug, PartialEq, Eq)]
pub struct StreamEvent {
    pub data: Bytes,
    /// It was longer than the limit; what stands beyond it was dropped.
    pub cut: bool,
    /// The `event` line; `None` where there is none, which means `message`.
    pub name: Option<String>,
    /// When its first byte came.
    pub begun: Instant,
}

/// Fed with chunks; yields events.
#[derive(Debug)]
pub struct Parser {
    limit: usize,
    line: BytesMut,
    data: Option<BytesMut>,
    name: Option<String>,
    /// A CR was the last byte: an LF right after it belongs to it.
    after_cr: bool,
    first_line: bool,
    /// Something of this line was dropped: it is not blank, even if nothing of it is left.
    line_cut: bool,
    begun: Instant,
    /// The last `id` seen, for `Last-StreamEvent-ID`.
    pub last_id: Option<String>,
    /// The last `retry` seen.
    pub retry_ms: Option<u64>,
    /// The event that is under way is longer than the limit already.
    pub cut: bool,
}

impl Parser {
    /// `limit`: bytes of one event that are kept.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: BytesMut::new(),
            data: None,
            name: None,
            after_cr: false,
            first_line: true,
            line_cut: false,
            begun: Instant::now(),
            last_id: None,
            retry_ms: None,
            cut: false,
        }
    }

    /// The events that end in this chunk.
    pub fn feed(&mut self, mut chunk: &[u8]) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        while !chunk.is_empty() {
            if std::mem::take(&mut self.after_cr) && chunk[0] == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            if self.line.is_empty() && self.data.is_none() {
                self.begun = Instant::now();
            }
            let end = chunk.iter().position(|&byte| matches!(byte, b'\n' | b'\r'));
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let room = self
                .limit
                .saturating_sub(self.line.len() + self.data.as_ref().map_or(0, BytesMut::len));
            self.line_cut |= part.len() > room;
            self.cut |= self.line_cut;
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let Some(end) = end else { break };
            self.after_cr = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            events.extend(self.end_line());
        }
        events
    }

    /// The event that was not ended by a blank line when the stream ended.
    pub fn finish(mut self) -> Option<Bytes> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.data
            .filter(|data| !data.is_empty())
            .map(BytesMut::freeze)
    }

    fn end_line(&mut self) -> Option<StreamEvent> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.first_line) && line.starts_with(b"\xef\xbb\xbf") {
            line.advance(3);
        }
        if !std::mem::take(&mut self.line_cut) && line.is_empty() {
            let (name, cut) = (self.name.take(), std::mem::take(&mut self.cut));
            let data = self.data.take()?.freeze();
            // An event without data is a keep-alive or carries only an id.
            return (!data.is_empty()).then_some(StreamEvent {
                data,
                cut,
                name,
                begun: self.begun,
            });
        }
        let colon = line
            .iter()
            .position(|&byte| byte == b':')
            .unwrap_or(line.len());
        let mut value = line.split_off((colon + 1).min(line.len()));
        line.truncate(colon);
        if value.starts_with(b" ") {
            value.advance(1);
        }
        match &line[..] {
            b"data" => match &mut self.data {
                None => self.data = Some(value),
                Some(before) => {
                    before.extend_from_slice(b"\n");
                    before.extend_from_slice(&value);
                }
            },
            b"event" => self.name = Some(String::from_utf8_lossy(&value).into_owned()),
            b"id" => self.last_id = Some(String::from_utf8_lossy(&value).into_owned()),
            b"retry" => {
                self.retry_ms = std::str::from_utf8(&value)
                    .ok()
                    .and_then(|text| text.parse().ok())
                    .or(self.retry_ms)
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[u8], chunk: usize) -> (Vec<String>, Option<String>, Option<Bytes>) {
        let mut parser = Parser::new(1 << 20);
        let mut found = Vec::new();
        for part in text.chunks(chunk) {
            found.extend(
                parser
                    .feed(part)
                    .into_iter()
                    .map(|event| String::from_utf8_lossy(&event.data).into_owned()),
            );
        }
        let id = parser.last_id.clone();
        (found, id, parser.finish())
    }

    #[test]
    fn events_are_the_same_in_any_chunks() {
        let text =
            b"\xef\xbb\xbf: hello\r\nid: 1\r\ndata:\r\n\r\nevent: message\rdata: {\"a\":\rdata:1}\r\rdata: b\n\ndata: rest\n";
        for chunk in [1, 2, 3, 7, 1000] {
            let (events, id, rest) = parse(text, chunk);
            assert_eq!(events, ["{\"a\":\n1}", "b"], "chunks of {chunk}");
            assert_eq!(id.as_deref(), Some("1"));
            assert_eq!(rest.as_deref(), Some(&b"rest"[..]));
        }
    }

    #[test]
    fn what_is_beyond_the_limit_is_cut_and_the_next_event_is_whole() {
        let mut parser = Parser::new(10);
        assert!(parser.feed(b"data: 0123456789").is_empty());
        assert!(parser.cut, "known before the event ends");
        let events = parser.feed(b"\n\ndata: 4\ndata: 5\n\n");
        let seen: Vec<_> = events
            .iter()
            .map(|event| (&event.data[..], event.cut))
            .collect();
        assert_eq!(seen, [(&b"0123"[..], true), (b"4\n5", false)]);
        assert!(!parser.cut);
        // Lines of one event share its limit, and one of which nothing is left does not end it.
        let events = parser.feed(
            b"data: ab\ndata: cdef\ndata: 0123\ndata: 4\ndata: 5\ndata: 6\ndata: 7\n\ndata: 8\n\n",
        );
        let seen: Vec<_> = events
            .iter()
            .map(|event| (event.data.first().copied(), event.cut))
            .collect();
        assert_eq!(seen, [(Some(b'a'), true), (Some(b'8'), false)]);
    }
}
