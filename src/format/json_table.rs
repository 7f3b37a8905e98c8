//! `json-table`: compact JSON in which lists of like objects name their keys once, as columns above rows.

use std::borrow::Cow;

use super::out::Pieces;
use super::{Format, NotApplicable, Sink, Subject, WriteError, payload_of};
use crate::json::walk::{Event, walk};
use crate::json::{Kind, Node, write};

#[derive(Debug)]
pub struct JsonTable;

/// How an open container is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Plain,
    /// A list as `{"columns":[…],"rows":[…]}`.
    Table,
    /// An object as the list of its values.
    Row,
}

impl Format for JsonTable {
    fn id(&self) -> &'static str {
        "json-table"
    }
    fn title(&self) -> &'static str {
        "JSON, columns and rows"
    }
    fn applies(&self, subject: &Subject) -> Result<(), NotApplicable> {
        payload_of(subject).map(|_| ())
    }
    fn write(&self, subject: &Subject, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(payload) = &subject.payload else { return Ok(()) };
        let root = payload.root();
        let nodes = (root.index()..root.subtree_end()).filter_map(|index| root.doc().node(index));
        if nodes.into_iter().any(is_taken_for_table) {
            return Err(WriteError::Refused(
                "an object of the payload has exactly the keys `columns` and `rows`: it would be taken for a table".into(),
            ));
        }
        let mut out = Pieces::new(sink);
        push_tables(root, &mut out)?;
        Ok(out.finish()?)
    }
}

fn is_taken_for_table(node: Node<'_>) -> bool {
    if node.kind() != Kind::Object || node.len() != 2 {
        return false;
    }
    let mut keys: Vec<_> = node.children().filter_map(Node::key).collect();
    keys.sort();
    keys == ["columns", "rows"]
}

/// A key in the form in which two spellings of it are the same.
fn key_form(node: Node<'_>) -> Cow<'_, [u8]> {
    let raw = node.raw_key().unwrap_or_default();
    if !raw.contains(&b'\\') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::new();
    write::push_raw(&mut text, raw);
    Cow::Owned(text.as_bytes()[1..text.len() - 1].to_vec())
}

/// At least two objects with the same keys in the same order.
fn is_table(list: Node<'_>) -> bool {
    if list.kind() != Kind::Array || list.len() < 2 || !list.children().all(|child| child.kind() == Kind::Object) {
        return false;
    }
    let Some(first) = list.child(0) else { return false };
    let keys: Vec<_> = first.children().map(key_form).collect();
    list.children().skip(1).all(|record| record.len() == keys.len() && record.children().map(key_form).eq(keys.iter().cloned()))
}

fn push_tables(root: Node<'_>, out: &mut Pieces<'_>) -> Result<(), WriteError> {
    let mut shapes: Vec<Shape> = Vec::new();
    let mut piece = String::new();
    walk(root, |event| {
        piece.clear();
        match event {
            Event::Open(node) | Event::Scalar(node) => {
                let parent = shapes.last().copied();
                if parent.is_some() && node.ordinal() > 0 {
                    piece.push(',');
                }
                if parent == Some(Shape::Plain)
                    && let Some(key) = node.raw_key()
                {
                    write::push_raw(&mut piece, key);
                    piece.push(':');
                }
                if node.is_container() {
                    let shape = match parent {
                        Some(Shape::Table) => Shape::Row,
                        _ if is_table(node) => Shape::Table,
                        _ => Shape::Plain,
                    };
                    shapes.push(shape);
                    match (shape, node.kind()) {
                        (Shape::Table, _) => push_columns(&mut piece, node),
                        (Shape::Plain, Kind::Object) => piece.push('{'),
                        _ => piece.push('['),
                    }
                } else {
                    write::push_scalar(&mut piece, node);
                }
            }
            Event::Close(node) => piece.push_str(match (shapes.pop(), node.kind()) {
                (Some(Shape::Table), _) => "]}",
                (Some(Shape::Plain), Kind::Object) => "}",
                _ => "]",
            }),
        }
        out.push(&piece).map_err(WriteError::from)
    })
}

fn push_columns(piece: &mut String, list: Node<'_>) {
    piece.push_str("{\"columns\":[");
    for (position, member) in list.child(0).into_iter().flat_map(Node::children).enumerate() {
        if position > 0 {
            piece.push(',');
        }
        write::push_raw(piece, member.raw_key().unwrap_or_default());
    }
    piece.push_str("],\"rows\":[");
}
