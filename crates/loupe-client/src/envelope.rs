//! The lenient peek at a message: whose is it? Reads `id`, `method` and which of `result` and `error` are there, and
//! skips everything else by counting brackets, so that depth, odd numbers and bad UTF-8 do no harm.
//! Never fails: what could not be read is absent. The data itself is read by `capture`, from the same bytes.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use loupe_core::json::{Doc, Kind, decode_string};

/// A message from this size on is large.
const LARGE: usize = 256 << 10;

/// The id of the probe by which the era is found out, and how it goes out: a text, which no later request can have.
pub(super) const PROBE: i64 = -1;
pub(super) const PROBE_TEXT: &str = "\"loupe-discover\"";

/// The `id` of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Id {
    Absent,
    Null,
    Number(i64),
    /// Spelt otherwise (`"3"`, `3.0`, `"abc"`); the number it plainly means, if any, and the text as sent.
    Odd(Option<i64>, String),
}

impl Id {
    fn read(raw: &[u8]) -> Self {
        let text = String::from_utf8_lossy(raw).into_owned();
        if text == PROBE_TEXT {
            return Id::Number(PROBE);
        }
        if text == "null" {
            return Id::Null;
        }
        if let Ok(number) = text.parse() {
            return Id::Number(number);
        }
        let inner = text.trim_matches('"');
        let inner = inner.split_once('.').map_or(inner, |(whole, part)| {
            if part.trim_end_matches('0').is_empty() {
                whole
            } else {
                inner
            }
        });
        Id::Odd(inner.parse().ok(), text)
    }

    /// The number it means, however it is spelt.
    pub(super) fn number(&self) -> Option<i64> {
        match self {
            Id::Number(number) | Id::Odd(Some(number), _) => Some(*number),
            _ => None,
        }
    }

    /// For messages to people.
    pub(super) fn shown(&self) -> String {
        match self {
            Id::Absent => "no id".into(),
            Id::Null => "the id null".into(),
            Id::Number(number) => format!("the id {number}"),
            Id::Odd(_, text) => format!("the id {text}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Absent,
    Null,
    Present,
}

/// What the outermost layer of a message says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    pub id: Id,
    pub method: Option<String>,
    pub result: Member,
    pub error: Member,
    /// Whether `jsonrpc` is `"2.0"`.
    pub(crate) versioned: bool,
    /// Where `id` stands, to be echoed as sent.
    pub(crate) id_range: Option<Range<usize>>,
    /// The outermost object is closed.
    pub complete: bool,
    /// The index over a large message, which is read by it further on.
    pub doc: Option<Arc<Doc>>,
}

impl Envelope {
    const EMPTY: Self = Self {
        id: Id::Absent,
        method: None,
        result: Member::Absent,
        error: Member::Absent,
        versioned: false,
        id_range: None,
        complete: false,
        doc: None,
    };

    /// Of a large message that is a JSON object. To index it and to read on by that takes less time than to skip what is
    /// in it first.
    fn indexed(message: &Bytes) -> Option<Self> {
        if message.len() < LARGE {
            return None;
        }
        let doc = Doc::parse(message.clone());
        let root = doc
            .root()
            .filter(|root| doc.is_json() && root.kind() == Kind::Object)?;
        let mut envelope = Self {
            complete: true,
            ..Self::EMPTY
        };
        for member in root.children() {
            envelope.read(&member.key()?, member.range().start, member.raw(), true);
        }
        envelope.doc = Some(Arc::new(doc));
        Some(envelope)
    }

    /// Takes a member: its value, which begins at `at`, and whether that ends.
    fn read(&mut self, key: &str, at: usize, raw: &[u8], is_whole: bool) {
        let member = match raw {
            b"" => Member::Absent,
            b"null" => Member::Null,
            _ => Member::Present,
        };
        match key {
            "id" if is_whole => {
                self.id = Id::read(raw);
                self.id_range = Some(at..at + raw.len());
            }
            "method" if is_whole && raw.len() > 1 && raw[0] == b'"' => {
                self.method = Some(decode_string(&raw[1..raw.len() - 1]).into_owned());
            }
            "result" => self.result = member,
            "error" => self.error = member,
            "jsonrpc" => self.versioned = raw == b"\"2.0\"",
            _ => {}
        }
    }

    /// A response, or what is left of one.
    pub(super) fn is_response(&self) -> bool {
        self.method.is_none() && (self.has_outcome() || (self.versioned && self.id != Id::Absent))
    }

    /// Whether there is a result or an error, be it null.
    pub(super) fn has_outcome(&self) -> bool {
        self.result != Member::Absent || self.error != Member::Absent
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Peek<'a> {
    Object(Envelope),
    /// A batch: where its elements stand, one after the other.
    Batch(Elements<'a>),
    /// Neither an object nor an array.
    Noise,
}

/// As [`peek`]; a large message is indexed.
pub(super) fn peek_or_index(message: &Bytes) -> Peek<'_> {
    Envelope::indexed(message).map_or_else(|| peek(message), Peek::Object)
}

pub(super) fn peek(bytes: &[u8]) -> Peek<'_> {
    let at = skip_space(
        bytes,
        if bytes.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        },
    );
    match bytes.get(at) {
        Some(b'{') => Peek::Object(object(bytes, at)),
        Some(b'[') => Peek::Batch(Elements {
            bytes,
            at: Some(at + 1),
        }),
        _ => Peek::Noise,
    }
}

/// The elements of a batch, whatever they are. Read one by one: there may be millions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Elements<'a> {
    bytes: &'a [u8],
    /// Where the next element may begin; `None` after the last.
    at: Option<usize>,
}

impl Iterator for Elements<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = skip_space(self.bytes, self.at.take()?);
        if matches!(self.bytes.get(start)?, b']') {
            return None;
        }
        let end = skip_value(self.bytes, start);
        self.at = end.and_then(|end| {
            let end = skip_space(self.bytes, end);
            (self.bytes.get(end) == Some(&b',')).then_some(end + 1)
        });
        Some(start..end.unwrap_or(self.bytes.len()))
    }
}

fn object(bytes: &[u8], start: usize) -> Envelope {
    let mut envelope = Envelope::EMPTY;
    let mut at = start + 1;
    loop {
        at = skip_space(bytes, at);
        match bytes.get(at) {
            Some(b'}') => {
                envelope.complete = true;
                return envelope;
            }
            Some(b'"') => {}
            _ => return envelope,
        }
        let Some(key_end) = skip_string(bytes, at) else {
            return envelope;
        };
        let key = decode_string(&bytes[at + 1..key_end - 1]);
        at = skip_space(bytes, key_end);
        if bytes.get(at) != Some(&b':') {
            return envelope;
        }
        at = skip_space(bytes, at + 1);
        let end = skip_value(bytes, at);
        envelope.read(
            &key,
            at,
            &bytes[at..end.unwrap_or(bytes.len())],
            end.is_some(),
        );
        let Some(end) = end else { return envelope };
        at = skip_space(bytes, end);
        if bytes.get(at) == Some(&b',') {
            at += 1;
        }
    }
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// Just past the closing quote of the string that starts at `at`.
fn skip_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    at += 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Just past the value that starts at `at`; `None` where the input ends inside it. A bare word (a number, `NaN`) ends
/// where a separator stands.
fn skip_value(bytes: &[u8], mut at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => return skip_string(bytes, at),
        b'{' | b'[' => {}
        _ => {
            while !matches!(
                bytes.get(at)?,
                b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'
            ) {
                at += 1;
            }
            return Some(at);
        }
    }
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = skip_string(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Envelope {
        match peek(text.as_bytes()) {
            Peek::Object(envelope) => envelope,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn ids_are_read_however_they_are_spelt() {
        for (text, id) in [
            ("7", Id::Number(7)),
            ("\"7\"", Id::Odd(Some(7), "\"7\"".into())),
            ("7.0", Id::Odd(Some(7), "7.0".into())),
            ("7.5", Id::Odd(None, "7.5".into())),
            ("\"x\"", Id::Odd(None, "\"x\"".into())),
            ("null", Id::Null),
        ] {
            assert_eq!(
                object(&format!(
                    "{{\"jsonrpc\":\"2.0\",\"result\":{{}},\"id\":{text}}}"
                ))
                .id,
                id,
                "{text}"
            );
        }
        assert_eq!(object("{\"result\":1}").id, Id::Absent);
    }

    #[test]
    fn broken_messages_show_what_came() {
        let cut = object(r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"te"#);
        assert_eq!(
            (cut.id.number(), cut.result, cut.complete, cut.is_response()),
            (Some(3), Member::Present, false, true)
        );
        let nan = object(r#"{"id":3,"result":{"a":NaN,"b":"}]"}}"#);
        assert_eq!((nan.id.number(), nan.complete), (Some(3), true));
        let deep = format!(
            "{{\"result\":{}1{},\"id\":4}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert_eq!(object(&deep).id, Id::Number(4));
        assert!(!object("{").is_response());
        assert_eq!(peek(b"Listening on stdio"), Peek::Noise);
        let elements = |text: &'static str| match peek(text.as_bytes()) {
            Peek::Batch(found) => found.map(|range| &text[range]).collect::<Vec<_>>(),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(
            elements(r#"[7, {"id":1,"result":{}} ,[5],{}]"#),
            ["7", r#"{"id":1,"result":{}}"#, "[5]", "{}"]
        );
        assert_eq!(elements("[{\"id\":1,\"res"), ["{\"id\":1,\"res"]);
        assert_eq!((elements(" [ ] "), elements("[")), (vec![], vec![]));
    }

    #[test]
    fn a_large_message_is_read_as_a_small_one() {
        let padding = format!("[\"{}\"]", "\\\"".repeat(LARGE / 2));
        for rest in [
            r#""jsonrpc":"2.0","id":3"#,
            r#""id":"3","error":null,"jsonrpc":"1.0""#,
            r#""method":"a\/b","id":null,"id":7.0"#,
            r#""id":1"#,
        ] {
            let text = format!("\u{feff} {{\"result\":{padding}, {rest} }}\n");
            let Peek::Object(mut indexed) = peek_or_index(&Bytes::from(text.clone())) else {
                panic!("{rest}")
            };
            assert!(indexed.doc.take().is_some(), "{rest}");
            assert_eq!(indexed, object(&text), "{rest}");
        }
        // What is no JSON is peeked at, whatever its size.
        let odd = format!(r#"{{"result":{padding},"a":NaN,"id":3}}"#);
        let Peek::Object(odd) = peek_or_index(&Bytes::from(odd)) else {
            panic!()
        };
        assert_eq!((odd.id, odd.doc), (Id::Number(3), None));
    }

    #[test]
    fn absent_and_null_differ() {
        let both = object("\u{feff}{\"result\":null,\"error\":{\"code\":1},\"id\":1}");
        assert_eq!((both.result, both.error), (Member::Null, Member::Present));
        assert_eq!(
            object(r#"{"method":"a\/b","id":0}"#).method.as_deref(),
            Some("a/b")
        );
    }
}
