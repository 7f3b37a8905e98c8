//! JSON bytes indexed into a flat tape of offsets.
//!
//! Keeps order, duplicate keys, number spelling and byte ranges, and never fails: what is wrong is reported in
//! [`Doc::faults`], and what could be read is there. Iterative throughout, since a stack overflow cannot be
//! caught and depth is data. Deliberately no typed values: nothing here ever rewrites what was received.

pub mod decimal;
mod parse;
pub mod walk;
pub mod write;

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    Null,
    #[strum(serialize = "boolean")]
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// The JSON Schema name of the type.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One thing that is wrong or risky in the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// Byte offset into the document.
    pub at: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Not JSON from here on; what stood before it is in the tape.
    Syntax(&'static str),
    /// The input ended inside a value.
    UnexpectedEnd,
    /// Something other than white space follows the value.
    TrailingData,
    /// A byte that is not UTF-8, inside a string.
    InvalidUtf8,
    /// A `\uD800`–`\uDFFF` escape without its partner.
    LoneSurrogate,
    /// The key was in this object before.
    DuplicateKey,
    /// There are more than [`MAX_NODES`] values; from here on nothing is read.
    TooMany,
}

impl FaultKind {
    /// A sentence fragment for people.
    pub fn message(&self) -> &'static str {
        match self {
            FaultKind::Syntax(what) => what,
            FaultKind::UnexpectedEnd => "ends inside a value",
            FaultKind::TrailingData => "text after the value",
            FaultKind::InvalidUtf8 => "not valid UTF-8",
            FaultKind::LoneSurrogate => "half of a surrogate pair",
            FaultKind::DuplicateKey => "duplicate key",
            FaultKind::TooMany => "more than 16,777,216 values",
        }
    }

    /// Whether the document as a whole is not JSON because of it, or was not read to its end.
    pub fn is_fatal(&self) -> bool {
        matches!(
            self,
            FaultKind::Syntax(_)
                | FaultKind::UnexpectedEnd
                | FaultKind::TrailingData
                | FaultKind::TooMany
        )
    }
}

const NONE: u32 = u32::MAX;

/// The most values of one document that are read. Each takes 16 bytes next to its own, arrays and objects 28, so that a
/// document of the smallest ones would fill the memory many times over.
pub const MAX_NODES: usize = 1 << 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    start: u32,
    /// Where a scalar ends; of an array or object, its place among the document's [`Container`]s.
    end_or_container: u32,
    parent: u32,
    /// Position among the parent's children, at most [`MAX_NODES`], and the kind in the bits above.
    ordinal_and_kind: u32,
}

/// What an array or object has that no scalar needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Container {
    end: u32,
    /// Tape index just past its subtree.
    next: u32,
    /// Number of children.
    len: u32,
}

/// The bits of an ordinal.
const ORDINAL_BITS: u32 = 28;

impl Entry {
    fn kind(self) -> Kind {
        KINDS[(self.ordinal_and_kind >> ORDINAL_BITS) as usize]
    }

    fn container(self) -> Option<usize> {
        matches!(self.kind(), Kind::Array | Kind::Object).then_some(self.end_or_container as usize)
    }
}

/// The inside of the key of the member whose value starts at `value`: from the last quote that is not escaped, since no
/// backslash stands before the quote that opens a key.
fn key_before(bytes: &[u8], value: usize) -> Option<Range<usize>> {
    let inside = bytes[..value]
        .trim_ascii_end()
        .strip_suffix(b":")?
        .trim_ascii_end()
        .strip_suffix(b"\"")?;
    let quote =
        memchr::memrchr_iter(b'"', inside).find(|at| inside[..*at].last() != Some(&b'\\'))?;
    Some(quote + 1..inside.len())
}

const KINDS: [Kind; 6] = [
    Kind::Null,
    Kind::Bool,
    Kind::Number,
    Kind::String,
    Kind::Array,
    Kind::Object,
];

/// The index over one document. Cheap to share: the bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    bytes: Bytes,
    tape: Vec<Entry>,
    containers: Vec<Container>,
    faults: Vec<Fault>,
}

impl Doc {
    /// Indexes `bytes`. Documents above 4 GiB are not indexed (a syntax fault says so), and of one with more than
    /// [`MAX_NODES`] values the rest is not (a fault says so, too).
    pub fn parse(bytes: Bytes) -> Doc {
        parse::parse(bytes, MAX_NODES)
    }

    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Whether the whole input is one JSON value (duplicate keys and lone surrogates allowed, bad UTF-8 not).
    pub fn is_json(&self) -> bool {
        !self.tape.is_empty()
            && !self
                .faults
                .iter()
                .any(|fault| fault.kind.is_fatal() || fault.kind == FaultKind::InvalidUtf8)
    }

    /// The root value; `None` when not even its first byte could be read.
    pub fn root(&self) -> Option<Node<'_>> {
        self.node(0)
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.tape.len()
    }

    /// About how many bytes it holds, with those that it is over.
    pub fn weight(&self) -> usize {
        self.bytes.len()
            + size_of_val(self.tape.as_slice())
            + size_of_val(self.containers.as_slice())
    }

    pub fn is_empty(&self) -> bool {
        self.tape.is_empty()
    }

    /// The node at a tape index, as given by [`Node::index`].
    pub fn node(&self, index: usize) -> Option<Node<'_>> {
        (index < self.tape.len()).then_some(Node { doc: self, index })
    }

    /// The node at an RFC 6901 pointer from the root.
    pub fn at(&self, pointer: &str) -> Option<Node<'_>> {
        self.root()?.at(pointer)
    }
}

/// One value of a [`Doc`].
#[derive(Clone, Copy)]
pub struct Node<'a> {
    doc: &'a Doc,
    index: usize,
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Node({}, {:?})", self.pointer(), self.raw_text())
    }
}

impl<'a> Node<'a> {
    fn entry(self) -> Entry {
        self.doc.tape[self.index]
    }

    fn container(self) -> Option<Container> {
        self.entry()
            .container()
            .map(|container| self.doc.containers[container])
    }

    pub fn doc(self) -> &'a Doc {
        self.doc
    }

    /// Index on the tape, in document order: the subtree is `index()..subtree_end()`.
    pub fn index(self) -> usize {
        self.index
    }

    pub fn subtree_end(self) -> usize {
        self.container()
            .map_or(self.index + 1, |container| container.next as usize)
    }

    pub fn kind(self) -> Kind {
        self.entry().kind()
    }

    /// Byte range in the document.
    pub fn range(self) -> Range<usize> {
        let entry = self.entry();
        let end = self
            .container()
            .map_or(entry.end_or_container, |container| container.end);
        entry.start as usize..end as usize
    }

    /// The exact bytes.
    pub fn raw(self) -> &'a [u8] {
        &self.doc.bytes[self.range()]
    }

    /// The exact bytes as a shared slice.
    pub fn raw_bytes(self) -> Bytes {
        self.doc.bytes.slice(self.range())
    }

    /// The exact bytes as text; bad UTF-8 becomes U+FFFD.
    pub fn raw_text(self) -> Cow<'a, str> {
        lossy(self.raw())
    }

    pub fn parent(self) -> Option<Node<'a>> {
        let parent = self.entry().parent;
        (parent != NONE).then_some(Node {
            doc: self.doc,
            index: parent as usize,
        })
    }

    /// Position among the parent's children.
    pub fn ordinal(self) -> usize {
        (self.entry().ordinal_and_kind & ((1 << ORDINAL_BITS) - 1)) as usize
    }

    /// Number of levels above.
    pub fn depth(self) -> usize {
        std::iter::successors(self.parent(), |node| node.parent()).count()
    }

    /// Number of children of an array or object, duplicates included.
    pub fn len(self) -> usize {
        self.container()
            .map_or(0, |container| container.len as usize)
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    pub fn is_container(self) -> bool {
        matches!(self.kind(), Kind::Array | Kind::Object)
    }

    /// Where the inside of the member's key stands.
    fn key_inside(self) -> Option<Range<usize>> {
        self.parent()
            .filter(|parent| parent.kind() == Kind::Object)?;
        key_before(&self.doc.bytes, self.entry().start as usize)
    }

    /// The member's key as received, between its quotes, escapes not undone.
    pub fn raw_key(self) -> Option<&'a [u8]> {
        self.key_inside().map(|inside| &self.doc.bytes[inside])
    }

    /// The key's place in the document, its quotes included.
    pub fn key_range(self) -> Option<Range<usize>> {
        self.key_inside()
            .map(|inside| inside.start - 1..inside.end + 1)
    }

    /// The member's key, decoded; `None` for array elements and the root.
    pub fn key(self) -> Option<Cow<'a, str>> {
        self.raw_key().map(decode_string)
    }

    /// Children in order, duplicate keys included.
    pub fn children(self) -> Children<'a> {
        Children {
            doc: self.doc,
            next: self.index + 1,
            end: self.subtree_end(),
        }
    }

    /// The member with this key; of duplicates the last, as most readers take it.
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        if self.kind() != Kind::Object {
            return None;
        }
        // Most keys are written as they are read; decoding each would cost more than all else here.
        let may_be_mended = key.contains('\u{fffd}');
        let is_escaped = |raw: &[u8]| raw.len() > key.len() && raw.contains(&b'\\');
        let is_it = |raw: &[u8]| {
            raw == key.as_bytes()
                || ((may_be_mended || is_escaped(raw)) && decode_string(raw) == key)
        };
        self.children()
            .filter(|child| child.raw_key().is_some_and(is_it))
            .last()
    }

    /// The element at `position` of an array or the nth member of an object.
    pub fn child(self, position: usize) -> Option<Node<'a>> {
        self.children().nth(position)
    }

    /// RFC 6901 pointer relative to this node.
    pub fn at(self, pointer: &str) -> Option<Node<'a>> {
        let mut node = self;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            node = match node.kind() {
                Kind::Object => node.get(&step)?,
                Kind::Array => node.child(step.parse().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }

    /// RFC 6901 pointer from the root.
    pub fn pointer(self) -> String {
        self.pointer_from(0)
    }

    /// RFC 6901 pointer from the ancestor at tape index `from`.
    pub fn pointer_from(self, from: usize) -> String {
        let mut steps = Vec::new();
        let mut node = self;
        while node.index != from {
            let Some(parent) = node.parent() else { break };
            steps.push(match node.key() {
                Some(key) => key.replace('~', "~0").replace('/', "~1"),
                None => node.ordinal().to_string(),
            });
            node = parent;
        }
        steps.iter().rev().fold(String::new(), |mut pointer, step| {
            pointer.push('/');
            pointer.push_str(step);
            pointer
        })
    }

    /// The decoded text of a string; lone surrogates and bad UTF-8 become U+FFFD.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        (self.kind() == Kind::String).then(|| decode_string(inside(self.raw())))
    }

    /// The literal of a number, exactly as received.
    pub fn as_number(self) -> Option<&'a str> {
        if self.kind() != Kind::Number {
            return None;
        }
        std::str::from_utf8(self.raw()).ok()
    }

    pub fn as_f64(self) -> Option<f64> {
        self.as_number()?.parse().ok()
    }

    pub fn as_i64(self) -> Option<i64> {
        self.as_number()?.parse().ok()
    }

    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw().first() == Some(&b't'))
    }

    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }
}

/// Iterator over the children of a node.
#[derive(Clone)]
pub struct Children<'a> {
    doc: &'a Doc,
    next: usize,
    end: usize,
}

impl<'a> Iterator for Children<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        if self.next >= self.end {
            return None;
        }
        let node = Node {
            doc: self.doc,
            index: self.next,
        };
        self.next = node.subtree_end();
        Some(node)
    }
}

/// The inside of a string literal; a literal cut short has no closing quote.
fn inside(raw: &[u8]) -> &[u8] {
    let body = raw.strip_prefix(b"\"").unwrap_or(raw);
    body.strip_suffix(b"\"").unwrap_or(body)
}

/// Bytes as text; bad UTF-8 becomes U+FFFD. What is good is found sooner than `from_utf8_lossy` finds it.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Undoes the escapes of a string's inside.
pub fn decode_string(raw: &[u8]) -> Cow<'_, str> {
    if !raw.contains(&b'\\') {
        return lossy(raw);
    }
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        // Most stand for themselves.
        if let Some(byte @ (b'"' | b'\\' | b'/')) = rest.get(at + 1) {
            out.push(*byte);
            rest = &rest[at + 2..];
            continue;
        }
        let (char, used) = decode_escape(&rest[at..]);
        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[at + used..];
    }
    out.extend_from_slice(rest);
    match String::from_utf8(out) {
        Ok(text) => Cow::Owned(text),
        Err(bad) => Cow::Owned(String::from_utf8_lossy(bad.as_bytes()).into_owned()),
    }
}

/// Where bytes of a string's decoded text, in order, are in the document; none where it is not UTF-8.
pub fn source_offsets(string: Node<'_>, decoded: &[usize]) -> Vec<usize> {
    let raw = inside(string.raw());
    if std::str::from_utf8(raw).is_err() {
        return Vec::new();
    }
    let begin = string.range().start + 1;
    let (mut at, mut seen) = (0, 0);
    let mut find = |wanted: usize| {
        while seen < wanted && at < raw.len() {
            let (used, length) = match raw[at] {
                b'\\' => {
                    let (char, used) = decode_escape(&raw[at..]);
                    (used, char.len_utf8())
                }
                _ => (1, 1),
            };
            (at, seen) = (at + used, seen + length);
        }
        begin + at
    };
    decoded.iter().map(|wanted| find(*wanted)).collect()
}

fn hex4(raw: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(raw.get(2..6)?).ok()?;
    (raw.starts_with(b"\\u") && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .then(|| u32::from_str_radix(digits, 16).ok())?
}

/// One escape at the start of `raw`: its character and the number of bytes it takes.
fn decode_escape(raw: &[u8]) -> (char, usize) {
    let simple = match raw.get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(&byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
        Some(b'u') => {
            let Some(high) = hex4(raw) else {
                return (char::REPLACEMENT_CHARACTER, raw.len().min(2));
            };
            if (0xd800..0xdc00).contains(&high)
                && let Some(low @ 0xdc00..0xe000) = raw.get(6..).and_then(hex4)
            {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return (
                    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                    12,
                );
            }
            return (
                char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER),
                6,
            );
        }
        _ => return (char::REPLACEMENT_CHARACTER, raw.len().min(2)),
    };
    (simple, 2)
}

#[cfg(test)]
mod tests;
