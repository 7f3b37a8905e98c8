//! Server-sent events over a byte stream, keeping what the standard drops: an unfinished last event, bad UTF-8.

use std::time::Instant;

use bytes::Bytes;

/// One event. Lines of data are joined by LF.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub data: Bytes,
    /// When its first byte came.
    pub begun: Instant,
}

/// Fed with chunks; yields events.
#[derive(Debug)]
pub(super) struct Parser {
    limit: usize,
    line: Vec<u8>,
    data: Option<Bytes>,
    /// A CR was the last byte: an LF right after it belongs to it.
    after_cr: bool,
    first_line: bool,
    begun: Instant,
    /// The last `id` seen, for `Last-Event-ID`.
    pub last_id: Option<String>,
    /// The last `retry` seen.
    pub retry_ms: Option<u64>,
    /// Something was longer than the limit; what stands beyond it was dropped.
    pub cut: bool,
}

impl Parser {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            data: None,
            after_cr: false,
            first_line: true,
            begun: Instant::now(),
            last_id: None,
            retry_ms: None,
            cut: false,
        }
    }

    pub(super) fn feed(&mut self, mut chunk: &[u8]) -> Vec<Event> {
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
            let room = self.limit.saturating_sub(self.line.len() + self.data.as_ref().map_or(0, Bytes::len));
            self.cut |= part.len() > room;
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let Some(end) = end else { break };
            self.after_cr = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            events.extend(self.end_line());
        }
        events
    }

    /// The event that was not ended by a blank line when the stream ended.
    pub(super) fn finish(mut self) -> Option<Bytes> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.data.filter(|data| !data.is_empty())
    }

    fn end_line(&mut self) -> Option<Event> {
        let mut line = Bytes::from(std::mem::take(&mut self.line));
        if std::mem::take(&mut self.first_line) && line.starts_with(b"\xef\xbb\xbf") {
            line = line.slice(3..);
        }
        if line.is_empty() {
            let data = self.data.take()?;
            // An event without data is a keep-alive or carries only an id.
            return (!data.is_empty()).then_some(Event { data, begun: self.begun });
        }
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let mut value = line.slice((colon + 1).min(line.len())..);
        if value.starts_with(b" ") {
            value = value.slice(1..);
        }
        match &line[..colon] {
            b"data" => {
                self.data = Some(match self.data.take() {
                    None => value,
                    Some(before) => [&before[..], b"\n", &value].concat().into(),
                });
            }
            b"id" => self.last_id = Some(String::from_utf8_lossy(&value).into_owned()),
            b"retry" => self.retry_ms = std::str::from_utf8(&value).ok().and_then(|text| text.parse().ok()).or(self.retry_ms),
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
            found.extend(parser.feed(part).into_iter().map(|event| String::from_utf8_lossy(&event.data).into_owned()));
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
    fn what_is_beyond_the_limit_is_cut() {
        let mut parser = Parser::new(10);
        let events = parser.feed(b"data: 0123456789\n\n");
        assert!(parser.cut);
        assert_eq!(events[0].data, "0123");
    }
}
