//! `json` and `json-pretty`: our own writers over the tape, which keep order, duplicate keys and the spelling of numbers.

use super::decode::{DecodeError, Decoded};
use super::out::Pieces;
use super::{Format, FormatName, NotApplicable, ParsedCapture, Sink, Syntax, WriteError, growth};
use crate::json::walk::{WalkEvent, walk};
use crate::json::{Doc, Kind, Node, write};

/// Without white space.
#[derive(Debug)]
pub struct Compact;

/// Two spaces a level, as `JSON.stringify(value, null, 2)` lays it out.
#[derive(Debug)]
pub struct Pretty;

impl Format for Compact {
    fn name(&self) -> FormatName {
        FormatName {
            id: "json",
            title: "JSON, compact",
            short_title: "JSON",
        }
    }
    fn syntax(&self, _subject: &ParsedCapture) -> Syntax {
        Syntax::Json
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        write_json(subject, false, sink)
    }
    fn decode(&self, text: &str) -> Option<Result<Decoded, DecodeError>> {
        Some(Ok(Decoded::json(text)))
    }
}

impl Format for Pretty {
    fn name(&self) -> FormatName {
        FormatName {
            id: "json-pretty",
            title: "JSON, pretty",
            short_title: "Pretty",
        }
    }
    fn syntax(&self, _subject: &ParsedCapture) -> Syntax {
        Syntax::Json
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        write_json(subject, true, sink)
    }
    fn decode(&self, text: &str) -> Option<Result<Decoded, DecodeError>> {
        Some(Ok(Decoded::json(text)))
    }
}

/// The texts where they are JSON, laid out as `json-pretty` is: how the pane of the text shows them on demand. No format of
/// its own, since nobody sends it.
#[derive(Debug)]
pub struct PrettyContent;

impl Format for PrettyContent {
    fn name(&self) -> FormatName {
        FormatName {
            id: "content-pretty",
            title: "Text, pretty",
            short_title: "Text, pretty",
        }
    }
    fn syntax(&self, _subject: &ParsedCapture) -> Syntax {
        Syntax::Json
    }
    fn applies(&self, subject: &ParsedCapture) -> Result<(), NotApplicable> {
        match content_json(subject) {
            Some(_) => Ok(()),
            None => Err(NotApplicable("the text is not JSON".to_owned())),
        }
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(doc) = content_json(subject) else {
            return Ok(());
        };
        let mut out = Pieces::new(sink);
        if let Some(root) = doc.root() {
            push_pretty(root, "JSON, pretty", &mut out)?;
        }
        out.finish();
        Ok(())
    }
}

/// The text content, where it is JSON as a whole.
fn content_json(subject: &ParsedCapture) -> Option<Doc> {
    let doc = Doc::parse(subject.response.content_text()?.into());
    doc.is_json().then_some(doc)
}

fn write_json(
    subject: &ParsedCapture,
    is_pretty: bool,
    sink: &mut dyn Sink,
) -> Result<(), WriteError> {
    let Some(data) = &subject.data else {
        return Ok(());
    };
    let mut out = Pieces::new(sink);
    if is_pretty {
        push_pretty(data.root(), "JSON, pretty", &mut out)?;
    } else {
        push_value(data.root(), false, |text| out.push(text));
    }
    out.finish();
    Ok(())
}

/// The pretty form; `format` is the name in a refusal.
pub(super) fn push_pretty(
    root: Node<'_>,
    format: &str,
    out: &mut Pieces<'_>,
) -> Result<(), WriteError> {
    growth::check(growth::indentation(root), "indentation", root, format)?;
    push_value(root, true, |text| out.push(text));
    Ok(())
}

/// The compact form of a value, as nested values are in table cells.
pub fn compact(node: Node<'_>) -> String {
    let mut text = String::new();
    push_value(node, false, |piece| text.push_str(piece));
    text
}

/// A value over several lines, its keys, strings and numbers as they are written.
pub fn pretty(node: Node<'_>) -> String {
    let mut text = String::new();
    push_value(node, true, |piece| text.push_str(piece));
    text
}

fn push_value(root: Node<'_>, is_pretty: bool, mut push: impl FnMut(&str)) {
    let mut depth = 0_usize;
    let mut piece = String::new();
    walk(root, |event| {
        match event {
            WalkEvent::Open(node) | WalkEvent::Scalar(node) => {
                if node.index() != root.index() {
                    if node.ordinal() > 0 {
                        piece.push(',');
                    }
                    if is_pretty {
                        new_line(&mut piece, depth, &mut push);
                    }
                    if let Some(key) = node.raw_key() {
                        write::push_raw(&mut piece, key);
                        piece.push_str(if is_pretty { ": " } else { ":" });
                    }
                }
                match node.kind() {
                    Kind::Object => piece.push('{'),
                    Kind::Array => piece.push('['),
                    _ => write::push_scalar(&mut piece, node),
                }
                depth += usize::from(node.is_container());
            }
            WalkEvent::Close(node) => {
                depth -= 1;
                if is_pretty && !node.is_empty() {
                    new_line(&mut piece, depth, &mut push);
                }
                piece.push(if node.kind() == Kind::Object {
                    '}'
                } else {
                    ']'
                });
            }
        }
        hand_on(&mut piece, &mut push);
    });
    push(&piece);
}

/// Hands a piece on that has become long.
pub(super) fn hand_on(piece: &mut String, push: &mut impl FnMut(&str)) {
    if piece.len() > 4_096 {
        push(piece);
        piece.clear();
    }
}

/// A line end and the indentation, handed on at once where it is long: with depth, pretty JSON grows by its square.
fn new_line(piece: &mut String, depth: usize, push: &mut impl FnMut(&str)) {
    const SPACES: &str = "                                                                ";
    piece.push('\n');
    let mut left = depth * 2;
    while left > 0 {
        let now = left.min(SPACES.len());
        piece.push_str(&SPACES[..now]);
        left -= now;
        hand_on(piece, push);
    }
}
