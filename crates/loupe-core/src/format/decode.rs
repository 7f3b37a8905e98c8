//! What decoders build: JSON text, so that both sides of a comparison are of one kind.

use bytes::Bytes;

use crate::json::decimal::is_number;
use crate::json::{Doc, Kind, write};

/// What a text of some format holds, as JSON.
#[derive(Debug)]
pub struct Decoded {
    pub json: Bytes,
    /// Whether it is a list of records, alone or as the last member, and the text does not tell the key it is under.
    pub is_nameless: bool,
}

/// Why a text cannot be read back: it is not of its format; a sentence fragment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(pub String);

impl Decoded {
    /// A text that is JSON as it is.
    pub(in crate::format) fn json(text: &str) -> Self {
        Self {
            json: Bytes::copy_from_slice(text.as_bytes()),
            is_nameless: false,
        }
    }

    /// Indexes it.
    ///
    /// # Errors
    /// It is no JSON.
    pub(in crate::format) fn doc(&self) -> Result<Doc, DecodeError> {
        let doc = Doc::parse(self.json.clone());
        if doc.is_json() {
            return Ok(doc);
        }
        let fault = doc.faults().iter().find(|fault| fault.kind.is_fatal());
        let what = fault.map_or_else(
            || "no value".to_owned(),
            |fault| format!("{} at byte {}", fault.kind.message(), fault.at),
        );
        Err(DecodeError(what))
    }
}

/// How a cell without a declared type is read.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) struct Untyped {
    /// Whether an empty one is null; the empty text otherwise.
    pub(crate) is_empty_null: bool,
    /// The word for null.
    pub null: Option<&'static str>,
    /// Whether JSON objects and lists are in it.
    pub(crate) is_nested: bool,
}

impl Untyped {
    /// A cell of a table, and a line of an envelope.
    pub(in crate::format) const CELL: Self = Self {
        is_empty_null: true,
        null: None,
        is_nested: true,
    };
}

/// A member's key: as text, or as the inside of a JSON string, which can hold half a surrogate pair.
#[derive(Clone, Copy)]
pub(in crate::format) enum Key<'k> {
    Text(&'k str),
    Raw(&'k [u8]),
}

impl<'k> From<&'k str> for Key<'k> {
    fn from(text: &'k str) -> Self {
        Self::Text(text)
    }
}

impl<'k> From<&'k String> for Key<'k> {
    fn from(text: &'k String) -> Self {
        Self::Text(text)
    }
}

impl<'k> From<&'k std::borrow::Cow<'_, str>> for Key<'k> {
    fn from(text: &'k std::borrow::Cow<'_, str>) -> Self {
        Self::Text(text)
    }
}

struct Level {
    is_object: bool,
    is_empty: bool,
}

/// Writes the JSON text.
#[derive(Default)]
pub(in crate::format) struct Builder {
    text: String,
    open: Vec<Level>,
}

impl Builder {
    /// How many containers are open.
    pub(in crate::format) fn depth(&self) -> usize {
        self.open.len()
    }

    fn before(&mut self, key: Key<'_>) {
        if let Some(level) = self.open.last_mut() {
            if !level.is_empty {
                self.text.push(',');
            }
            level.is_empty = false;
            if level.is_object {
                match key {
                    Key::Text(text) => write::push_string(&mut self.text, text),
                    Key::Raw(raw) => write::push_raw(&mut self.text, raw),
                }
                self.text.push(':');
            }
        }
    }

    /// Begins a list or object; the key counts inside an object alone, as everywhere here.
    pub(in crate::format) fn open<'k>(&mut self, key: impl Into<Key<'k>>, kind: Kind) {
        self.before(key.into());
        let is_object = kind == Kind::Object;
        self.text.push(if is_object { '{' } else { '[' });
        self.open.push(Level {
            is_object,
            is_empty: true,
        });
    }

    pub(in crate::format) fn close(&mut self) {
        if let Some(level) = self.open.pop() {
            self.text.push(if level.is_object { '}' } else { ']' });
        }
    }

    /// Closes until so many are open.
    pub(in crate::format) fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            self.close();
        }
    }

    /// A value that is JSON text already.
    pub(in crate::format) fn json<'k>(&mut self, key: impl Into<Key<'k>>, json: &str) {
        self.before(key.into());
        self.text.push_str(json);
    }

    pub(in crate::format) fn string(&mut self, key: &str, text: &str) {
        self.before(key.into());
        write::push_string(&mut self.text, text);
    }

    /// A cell whose type follows from what it says: nothing is null; `true` and `false` are booleans; a number by
    /// JSON's grammar is one; what begins like JSON and is JSON is nested; all else is text.
    pub(in crate::format) fn untyped(&mut self, key: &str, text: &str, rules: Untyped) {
        if rules.null == Some(text) || (text.is_empty() && rules.is_empty_null) {
            return self.json(key, "null");
        }
        let is_nested = || {
            let is_like = if rules.is_nested {
                text.starts_with(['{', '['])
            } else {
                matches!(text, "[]" | "{}")
            };
            is_like && Doc::parse(Bytes::copy_from_slice(text.as_bytes())).is_json()
        };
        if matches!(text, "true" | "false") || is_number(text) || is_nested() {
            return self.json(key, text);
        }
        self.string(key, text);
    }

    /// Begins a row set: the envelope, if there is one, as an object around the list, whose own key no text tells.
    pub(in crate::format) fn open_rows<'t>(
        &mut self,
        envelope: impl ExactSizeIterator<Item = (std::borrow::Cow<'t, str>, std::borrow::Cow<'t, str>)>,
        rules: Untyped,
    ) {
        if envelope.len() > 0 {
            self.open("", Kind::Object);
            for (key, value) in envelope {
                self.untyped(&key, &value, rules);
            }
        }
        self.open("", Kind::Array);
    }

    /// Closes everything.
    pub(in crate::format) fn finish(mut self) -> Decoded {
        self.close_to(0);
        Decoded {
            json: Bytes::from(self.text),
            is_nameless: false,
        }
    }

    /// The same after [`Builder::open_rows`].
    pub(in crate::format) fn finish_rows(self) -> Decoded {
        Decoded {
            is_nameless: true,
            ..self.finish()
        }
    }
}

/// A refusal that names the line, from 1.
pub(in crate::format) fn unreadable(line: usize, what: &str) -> DecodeError {
    DecodeError(format!("line {line}: {what}"))
}
