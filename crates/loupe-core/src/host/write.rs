//! JSON as the hosts' languages write it, with the origin of every range. Iterative: depth is data.

use std::collections::HashMap;
use std::vec;

use super::number;
use super::rules::JsonMode;
use super::source_map::{SourceMapped, TextOrigin};
use crate::json::{Children, FaultKind, Kind, Node, write as escape};

/// Indentation beyond this is refused rather than written for every host.
const MAX_INDENTATION: usize = 16 << 20;

/// Chooses among the members of an object.
type ChooseMembers<'a> = dyn for<'n> Fn(Node<'n>, Vec<Node<'n>>) -> Vec<Node<'n>> + 'a;

/// Writes values of one document.
pub struct Writer<'a> {
    pub mode: JsonMode,
    /// Bytes after which nothing more is written.
    pub room: usize,
    /// The origin of the values that have another than the value around them.
    pub origin: &'a dyn Fn(Node<'_>) -> Option<TextOrigin>,
    /// Which members of an object are written, and in which order; `None` for all as they are.
    pub members: Option<&'a ChooseMembers<'a>>,
}

struct Frame<'a> {
    node: Node<'a>,
    members: Members<'a>,
    is_first: bool,
    origin: TextOrigin,
}

/// What is in a container, as it is written; copied only where that is not as it was sent.
enum Members<'a> {
    AsSent(Children<'a>),
    Chosen(vec::IntoIter<Node<'a>>),
}

impl<'a> Iterator for Members<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        match self {
            Self::AsSent(children) => children.next(),
            Self::Chosen(members) => members.next(),
        }
    }
}

impl Writer<'_> {
    /// The text of `root`.
    ///
    /// # Errors
    /// Why the host itself could not.
    pub fn write(&self, root: Node<'_>, origin: TextOrigin) -> Result<SourceMapped, String> {
        let has_duplicates = root
            .doc()
            .faults()
            .iter()
            .any(|fault| fault.kind == FaultKind::DuplicateKey);
        let mut out = SourceMapped::with_bytes(root.range().len().min(self.room));
        let mut stack: Vec<Frame<'_>> = Vec::new();
        let mut next = Some((root, origin));
        let mut indented = 0_usize;
        loop {
            if let Some((node, origin)) = next.take() {
                let origin = (self.origin)(node).unwrap_or(origin);
                let start = out.len();
                let piece = out.text_mut();
                match node.kind() {
                    Kind::Array | Kind::Object => {
                        let (members, is_empty) = match self.chosen(node, has_duplicates) {
                            None => (Members::AsSent(node.children()), node.is_empty()),
                            Some(chosen) => {
                                let is_empty = chosen.is_empty();
                                (Members::Chosen(chosen.into_iter()), is_empty)
                            }
                        };
                        let (open, close) = if node.kind() == Kind::Array {
                            ('[', ']')
                        } else {
                            ('{', '}')
                        };
                        piece.push(open);
                        if is_empty {
                            piece.push(close);
                        } else {
                            stack.push(Frame {
                                node,
                                members,
                                is_first: true,
                                origin,
                            });
                        }
                    }
                    Kind::Number => {
                        let literal = node.raw_text();
                        piece.push_str(&number::write(&literal, self.mode)?);
                    }
                    Kind::String => self.string(node.raw(), piece),
                    Kind::Null | Kind::Bool => piece.push_str(&node.raw_text()),
                }
                out.own(start, origin);
            }
            let depth = stack.len();
            let Some(frame) = stack.last_mut().filter(|_| out.len() <= self.room) else {
                return Ok(out);
            };
            let start = out.len();
            let piece = out.text_mut();
            let origin = frame.origin;
            let Some(child) = frame.members.next() else {
                self.line(depth - 1, &mut indented, piece)?;
                piece.push(if frame.node.kind() == Kind::Array {
                    ']'
                } else {
                    '}'
                });
                stack.pop();
                out.own(start, origin);
                continue;
            };
            if !std::mem::take(&mut frame.is_first) {
                piece.push_str(if self.mode == JsonMode::Python {
                    ", "
                } else {
                    ","
                });
            }
            self.line(depth, &mut indented, piece)?;
            if let Some(key) = child.raw_key() {
                self.string(key, piece);
                piece.push_str(
                    if matches!(self.mode, JsonMode::Python | JsonMode::JsPretty) {
                        ": "
                    } else {
                        ":"
                    },
                );
            }
            out.own(start, origin);
            next = Some((child, origin));
        }
    }

    /// A line end and the indentation of the next line, which grows by the square of the depth.
    fn line(&self, depth: usize, indented: &mut usize, piece: &mut String) -> Result<(), String> {
        if self.mode == JsonMode::JsPretty {
            *indented += 2 * depth;
            if *indented > MAX_INDENTATION {
                let what =
                    "so deep that the indentation alone would take more than 16 MiB: not written";
                return Err(what.to_owned());
            }
            piece.push('\n');
            piece.extend(std::iter::repeat_n("  ", depth));
        }
        Ok(())
    }

    /// A string or key as received, with or without its quotes.
    fn string(&self, raw: &[u8], piece: &mut String) {
        let inside = raw
            .strip_prefix(b"\"")
            .map_or(raw, |rest| rest.strip_suffix(b"\"").unwrap_or(rest));
        let start = piece.len();
        escape::push_raw(piece, inside);
        if self.mode == JsonMode::Python
            && !piece[start..]
                .bytes()
                .all(|byte| (b' '..=b'~').contains(&byte))
        {
            let ascii = ascii(&piece[start..]);
            piece.truncate(start);
            piece.push_str(&ascii);
        }
    }

    /// The members of an object, where they are not written as they are.
    fn chosen<'n>(&self, node: Node<'n>, has_duplicates: bool) -> Option<Vec<Node<'n>>> {
        let sorts = matches!(self.mode, JsonMode::Js | JsonMode::JsPretty)
            && node.children().any(|member| index(&member).is_some());
        let sorts_all = self.mode == JsonMode::PythonSorted;
        let is_as_sent = !(has_duplicates || sorts || sorts_all || self.members.is_some());
        if node.kind() == Kind::Array || is_as_sent {
            return None;
        }
        let mut members: Vec<Node<'n>> = node.children().collect();
        if has_duplicates {
            members = without_duplicates(members);
        }
        if sorts_all {
            members.sort_by_key(|member| member.key());
        }
        if sorts {
            // JavaScript's order: keys that are array indexes come first, ascending.
            members.sort_by_key(|member| index(member).map_or((1, 0), |index| (0, index)));
        }
        Some(match self.members {
            Some(choose) => choose(node, members),
            None => members,
        })
    }
}

/// Of members with one key the last value stands where the first stood.
fn without_duplicates(members: Vec<Node<'_>>) -> Vec<Node<'_>> {
    let mut places = HashMap::new();
    let mut kept: Vec<Node<'_>> = Vec::with_capacity(members.len());
    for member in members {
        let place = *places
            .entry(member.key().unwrap_or_default())
            .or_insert(kept.len());
        match kept.get_mut(place) {
            Some(first) => *first = member,
            None => kept.push(member),
        }
    }
    kept
}

/// The array index that a member's key is in JavaScript.
fn index(member: &Node<'_>) -> Option<u32> {
    let key = member.raw_key()?;
    let is_canonical = key == b"0" || key.first().is_some_and(|byte| (b'1'..=b'9').contains(byte));
    let number = is_canonical.then(|| std::str::from_utf8(key).ok()?.parse().ok())??;
    (number < u32::MAX).then_some(number)
}

/// A JSON string as Python writes it: everything but printable ASCII escaped.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        if (' '..='~').contains(&char) {
            out.push(char);
        } else {
            for unit in char.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// A text as a JSON string of that language.
pub fn string(text: &str, mode: JsonMode) -> String {
    let written = escape::string(text);
    if mode == JsonMode::Python {
        ascii(&written)
    } else {
        written
    }
}

/// The members with these keys first, then the others as they stood.
pub(super) fn first<'n>(members: Vec<Node<'n>>, keys: &[String]) -> Vec<Node<'n>> {
    let mut ordered = only(&members, keys);
    ordered.extend(members.into_iter().filter(|node| {
        !node
            .key()
            .is_some_and(|key| keys.iter().any(|first| *first == key))
    }));
    ordered
}

/// The members with these keys alone, in the order of the keys.
pub(super) fn only<'n>(members: &[Node<'n>], keys: &[String]) -> Vec<Node<'n>> {
    keys.iter()
        .filter_map(|key| {
            members
                .iter()
                .find(|node| node.key().as_deref() == Some(key))
                .copied()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Doc;

    fn write(json: &str, mode: JsonMode) -> String {
        let doc = Doc::parse(bytes::Bytes::copy_from_slice(json.as_bytes()));
        let writer = Writer {
            mode,
            room: usize::MAX,
            origin: &|_| None,
            members: None,
        };
        match writer.write(doc.root().unwrap(), TextOrigin::Structured) {
            Ok(traced) => traced.text().to_owned(),
            Err(why) => why,
        }
    }

    /// Read back from Node and Python.
    #[test]
    fn values_are_written_as_the_languages_do() {
        let json = r#"{"b":[],"10":{},"2":[1.0,"é\u007f\ud83d\ude00\/"],"01":null,"b":true,"4294967295":0}"#;
        assert_eq!(
            write(json, JsonMode::Js),
            "{\"2\":[1,\"é\u{7f}😀/\"],\"10\":{},\"b\":true,\"01\":null,\"4294967295\":0}"
        );
        assert_eq!(
            write(json, JsonMode::Python),
            r#"{"b": true, "10": {}, "2": [1.0, "\u00e9\u007f\ud83d\ude00/"], "01": null, "4294967295": 0}"#
        );
        assert_eq!(
            write(r#"{"a":[1,{}],"c":[]}"#, JsonMode::JsPretty),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"c\": []\n}"
        );
        assert_eq!(write(r#"["\ud800x"]"#, JsonMode::Python), r#"["\ud800x"]"#);
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(write(&deep, JsonMode::Js), deep);
        assert!(write(&deep, JsonMode::JsPretty).starts_with("so deep that the indentation"));
    }
}
