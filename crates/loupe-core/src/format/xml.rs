//! `xml`: one element a value, two spaces a level, `<result>` around all.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::{escape, partial_escape};
use quick_xml::events::{BytesStart, Event as Part};

use super::decode::{Builder, DecodeError, Decoded, Untyped};
use super::out::Pieces;
use super::{Format, FormatName, ParsedCapture, Sink, WriteError, growth};
use crate::json::walk::{WalkEvent, walk};
use crate::json::{Kind, Node};

#[derive(Debug)]
pub(crate) struct Xml;

impl Format for Xml {
    fn name(&self) -> FormatName {
        FormatName {
            id: "xml",
            title: "XML",
            short_title: "XML",
        }
    }
    fn extension(&self, _: &ParsedCapture) -> &'static str {
        "xml"
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(data) = &subject.data else {
            return Ok(());
        };
        let root = data.root();
        growth::check(growth::indentation(root), "indentation", root, self.title())?;
        check_characters(root)?;
        let mut out = Pieces::new(sink);
        push_elements(root, &mut out);
        out.finish();
        Ok(())
    }
    fn decode(&self, text: &str) -> Option<Result<Decoded, DecodeError>> {
        Some(decode(text))
    }
}

/// XML 1.0 cannot hold these characters in any spelling.
fn check_characters(root: Node<'_>) -> Result<(), WriteError> {
    let is_forbidden = |char: char| {
        (char < ' ' && !matches!(char, '\t' | '\n' | '\r'))
            || matches!(char, '\u{fffe}' | '\u{ffff}')
    };
    for node in (root.index()..root.subtree_end()).filter_map(|index| root.doc().node(index)) {
        let texts = [
            node.key().filter(|_| node.index() != root.index()),
            node.as_str(),
        ];
        if let Some(char) = texts
            .iter()
            .flatten()
            .find_map(|text| text.chars().find(|char| is_forbidden(*char)))
        {
            let at = node.pointer_from(root.index());
            let place = if at.is_empty() {
                String::new()
            } else {
                format!(" at {}", at.chars().take(80).collect::<String>())
            };
            return Err(WriteError(format!(
                "XML cannot hold the character U+{:04X}{place}",
                u32::from(char)
            )));
        }
    }
    Ok(())
}

/// The name of an element, and the key where it cannot be the name.
fn element<'a>(node: Node<'a>, root: Node<'_>) -> (Cow<'a, str>, Option<Cow<'a, str>>) {
    if node.index() == root.index() {
        return ("result".into(), None);
    }
    match node.key() {
        None => ("item".into(), None),
        Some(key) if is_name(&key) => (key, None),
        key => ("entry".into(), key),
    }
}

/// Whether a key is a name in every edition of XML 1.0, without a colon: libexpat and others keep to the fourth, whose list
/// of letters is the shorter one. Of that, the letters of the scripts that keys are written in.
fn is_name(key: &str) -> bool {
    let is_start = |char: char| {
        matches!(char, 'A'..='Z' | 'a'..='z' | '_' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{131}'
            | '\u{134}'..='\u{13e}' | '\u{141}'..='\u{148}' | '\u{14a}'..='\u{17e}' | '\u{388}'..='\u{38a}'
            | '\u{38e}'..='\u{3a1}' | '\u{3a3}'..='\u{3ce}' | '\u{401}'..='\u{40c}' | '\u{40e}'..='\u{44f}'
            | '\u{451}'..='\u{45c}' | '\u{45e}'..='\u{481}' | '\u{5d0}'..='\u{5ea}' | '\u{621}'..='\u{63a}'
            | '\u{641}'..='\u{64a}' | '\u{e01}'..='\u{e2e}' | '\u{1ea0}'..='\u{1ef9}' | '\u{3041}'..='\u{3094}'
            | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fa5}' | '\u{ac00}'..='\u{d7a3}')
    };
    let is_inside = |char: char| is_start(char) || matches!(char, '-' | '.' | '0'..='9' | '\u{b7}');
    let mut chars = key.chars();
    chars.next().is_some_and(is_start) && chars.all(is_inside)
}

/// White space as references, since a reader makes spaces of it.
fn attribute(text: &str) -> String {
    escape(text)
        .replace('\n', "&#10;")
        .replace('\r', "&#13;")
        .replace('\t', "&#9;")
}

/// CR as a reference, since a reader makes LF of it.
fn content(text: &str) -> Cow<'_, str> {
    let escaped = partial_escape(text);
    if escaped.contains('\r') {
        Cow::Owned(escaped.replace('\r', "&#13;"))
    } else {
        escaped
    }
}

fn push_end(name: &str, out: &mut Pieces<'_>) {
    out.push("</");
    out.push(name);
    out.push(">\n");
}

fn push_elements(root: Node<'_>, out: &mut Pieces<'_>) {
    let mut depth = 0_usize;
    walk(root, |event| {
        if let WalkEvent::Close(node) = event {
            depth -= 1;
            if node.is_empty() {
                return;
            }
            indent(depth, out);
            return push_end(&element(node, root).0, out);
        }
        let (WalkEvent::Open(node) | WalkEvent::Scalar(node) | WalkEvent::Close(node)) = event;
        indent(depth, out);
        let (name, key) = element(node, root);
        out.push("<");
        out.push(&name);
        if let Some(key) = key {
            out.push(&format!(" key=\"{}\"", attribute(&key)));
        }
        match node.kind() {
            Kind::Null => out.push(" nil=\"true\"/>\n"),
            Kind::Array | Kind::Object => {
                out.push(if node.is_empty() { "/>\n" } else { ">\n" });
                depth += 1;
            }
            Kind::Bool | Kind::Number | Kind::String => {
                let text = node.as_str().unwrap_or_else(|| node.raw_text());
                out.push(">");
                out.push(&content(&text));
                push_end(&name, out);
            }
        }
    })
}

fn indent(depth: usize, out: &mut Pieces<'_>) {
    for _ in 0..depth {
        out.push("  ");
    }
}

const LEAF: Untyped = Untyped {
    is_empty_null: false,
    null: None,
    is_nested: false,
};

/// What an element holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Text,
    /// Elements that are all called `item`.
    Items,
    Members,
}

fn unread(error: impl std::fmt::Display) -> DecodeError {
    DecodeError(error.to_string())
}

fn decode(text: &str) -> Result<Decoded, DecodeError> {
    let holds = holds(text)?;
    let mut builder = Builder::default();
    let mut reader = Reader::from_str(text);
    let mut elements = 0;
    // The element that is open and may be a leaf: its key and text so far.
    let mut leaf: Option<(String, String)> = None;
    loop {
        match reader.read_event().map_err(unread)? {
            Part::Start(element) => {
                let (key, is_null) = read(&element)?;
                match (holds.get(elements), is_null) {
                    (Some(Holds::Text), false) => leaf = Some((key, String::new())),
                    (Some(Holds::Items), false) => builder.open(&key, Kind::Array),
                    (Some(Holds::Members), false) => builder.open(&key, Kind::Object),
                    _ => return Err(unread("an element that is null and holds something")),
                }
                elements += 1;
            }
            Part::Empty(element) => {
                let (key, is_null) = read(&element)?;
                if is_null {
                    builder.json(&key, "null")
                } else {
                    builder.string(&key, "")
                }
                elements += 1;
            }
            Part::End(_) => match leaf.take() {
                Some((key, text)) => builder.untyped(&key, &text, LEAF),
                None => builder.close(),
            },
            Part::Text(part) => {
                if let Some((_, text)) = &mut leaf {
                    text.push_str(&part.decode().map_err(unread)?);
                }
            }
            Part::GeneralRef(reference) => {
                if let Some((_, text)) = &mut leaf {
                    let name = reference.decode().map_err(unread)?;
                    text.push(
                        match (reference.resolve_char_ref().map_err(unread)?, name.as_ref()) {
                            (Some(char), _) => char,
                            (None, "amp") => '&',
                            (None, "lt") => '<',
                            (None, "gt") => '>',
                            (None, other) => {
                                return Err(unread(format!("the unknown entity `{other}`")));
                            }
                        },
                    );
                }
            }
            Part::Eof => return Ok(builder.finish()),
            _ => return Err(unread("something other than elements and text")),
        }
    }
}

/// What each element holds, in the order in which they begin.
fn holds(text: &str) -> Result<Vec<Holds>, DecodeError> {
    let mut reader = Reader::from_str(text);
    let mut holds: Vec<Holds> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    loop {
        let part = reader.read_event().map_err(unread)?;
        match &part {
            Part::Start(element) | Part::Empty(element) => {
                let is_item = element.name().as_ref() == b"item";
                if let Some(&parent) = open.last() {
                    let is_list = is_item && holds[parent] != Holds::Members;
                    holds[parent] = if is_list {
                        Holds::Items
                    } else {
                        Holds::Members
                    };
                }
                if matches!(part, Part::Start(_)) {
                    open.push(holds.len());
                }
                holds.push(Holds::Text);
            }
            Part::End(_) => {
                open.pop();
            }
            Part::Eof => return Ok(holds),
            _ => {}
        }
    }
}

/// The key an element stands for, and whether it is null.
fn read(element: &BytesStart<'_>) -> Result<(String, bool), DecodeError> {
    let mut key = String::from_utf8_lossy(element.name().as_ref()).into_owned();
    let mut is_null = false;
    for attribute in element.attributes() {
        let attribute = attribute.map_err(unread)?;
        let raw = std::str::from_utf8(&attribute.value).map_err(unread)?;
        match attribute.key.as_ref() {
            b"key" => {
                key = quick_xml::escape::unescape(raw)
                    .map_err(unread)?
                    .into_owned()
            }
            b"nil" => is_null = raw == "true",
            _ => {}
        }
    }
    Ok((key, is_null))
}
