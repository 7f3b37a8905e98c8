//! `json-table`: compact JSON in which lists of like objects name their keys once, as columns above rows.

use super::decode::{Builder, DecodeError, Decoded, Key};
use super::json::hand_on;
use super::out::Pieces;
use super::round_trip::key_form;
use super::{Format, FormatName, ParsedCapture, Sink, Syntax, WriteError};
use crate::json::walk::{WalkEvent, walk};
use crate::json::{Kind, Node, write};

#[derive(Debug)]
pub(crate) struct JsonTable;

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
    fn name(&self) -> FormatName {
        FormatName {
            id: "json-table",
            title: "JSON, columns and rows",
            short_title: "Columns",
        }
    }
    fn syntax(&self, _subject: &ParsedCapture) -> Syntax {
        Syntax::Json
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(data) = &subject.data else {
            return Ok(());
        };
        let root = data.root();
        let nodes = (root.index()..root.subtree_end()).filter_map(|index| root.doc().node(index));
        for node in nodes {
            if is_taken_for_table(node) {
                return Err(WriteError(
                    "an object of the data has exactly the keys `columns` and `rows`: it would be taken for a table".into(),
                ));
            }
        }
        let mut out = Pieces::new(sink);
        push_tables(root, &mut out);
        out.finish();
        Ok(())
    }
    fn decode(&self, text: &str) -> Option<Result<Decoded, DecodeError>> {
        Some(decode(text))
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

/// At least two objects with the same keys in the same order.
fn is_table(list: Node<'_>) -> bool {
    if list.kind() != Kind::Array
        || list.len() < 2
        || !list.children().all(|child| child.kind() == Kind::Object)
    {
        return false;
    }
    let Some(first) = list.child(0) else {
        return false;
    };
    let keys: Vec<_> = first.children().map(key_form).collect();
    list.children().skip(1).all(|record| {
        record.len() == keys.len() && record.children().map(key_form).eq(keys.iter().cloned())
    })
}

fn push_tables(root: Node<'_>, out: &mut Pieces<'_>) {
    let mut shapes: Vec<Shape> = Vec::new();
    let mut piece = String::new();
    walk(root, |event| {
        match event {
            WalkEvent::Open(node) | WalkEvent::Scalar(node) => {
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
            WalkEvent::Close(node) => piece.push_str(match (shapes.pop(), node.kind()) {
                (Some(Shape::Table), _) => "]}",
                (Some(Shape::Plain), Kind::Object) => "}",
                _ => "]",
            }),
        }
        hand_on(&mut piece, &mut |text| out.push(text));
    });
    out.push(&piece);
}

fn push_columns(piece: &mut String, list: Node<'_>) {
    piece.push_str("{\"columns\":[");
    for (position, member) in list
        .child(0)
        .into_iter()
        .flat_map(Node::children)
        .enumerate()
    {
        if position > 0 {
            piece.push(',');
        }
        write::push_raw(piece, member.raw_key().unwrap_or_default());
    }
    piece.push_str("],\"rows\":[");
}

/// Where a value of the text belongs.
enum Reading<'a> {
    /// As it stands.
    Plain,
    /// In the list that a table is; the columns.
    Table(Vec<Node<'a>>),
    /// In the object that a row is, under the names of the table above.
    Row,
}

fn decode(text: &str) -> Result<Decoded, DecodeError> {
    let written = Decoded::json(text).doc()?;
    Ok(written
        .root()
        .map_or_else(Builder::default, rebuild)
        .finish())
}

/// The value with its tables as lists of objects.
fn rebuild(root: Node<'_>) -> Builder {
    let mut builder = Builder::default();
    let mut open: Vec<Reading<'_>> = Vec::new();
    // The columns have been read where their table began; the list of rows is no value of its own.
    let mut columns_read = 0..0;
    let mut row_lists = Vec::new();
    walk(root, |event| {
        let (WalkEvent::Open(node) | WalkEvent::Close(node) | WalkEvent::Scalar(node)) = event;
        if columns_read.contains(&node.index()) {
            return;
        }
        if row_lists.last() == Some(&node.index()) {
            if let WalkEvent::Close(_) = event {
                row_lists.pop();
            }
            return;
        }
        if let WalkEvent::Close(_) = event {
            open.pop();
            builder.close();
            return;
        }
        let raw = match open.as_slice() {
            [.., Reading::Table(columns), Reading::Row] => {
                columns.get(node.ordinal()).map(|name| inside(name.raw()))
            }
            _ => node.raw_key(),
        };
        let key = Key::Raw(raw.unwrap_or_default());
        if !node.is_container() {
            return builder.json(key, &node.raw_text());
        }
        if let Some(Reading::Table(_)) = open.last() {
            open.push(Reading::Row);
            return builder.open(key, Kind::Object);
        }
        if let Some((columns, rows)) = table_parts(node) {
            open.push(Reading::Table(columns.children().collect()));
            columns_read = columns.index()..columns.subtree_end();
            row_lists.push(rows.index());
            return builder.open(key, Kind::Array);
        }
        open.push(Reading::Plain);
        builder.open(key, node.kind())
    });
    builder
}

/// A string without its quotes.
fn inside(raw: &[u8]) -> &[u8] {
    raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default()
}

/// Columns and rows, where an object is a table.
fn table_parts(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    if node.kind() != Kind::Object || node.len() != 2 {
        return None;
    }
    let mut members = node.children();
    let (columns, rows) = (members.next()?, members.next()?);
    let is_table = columns.key()? == "columns" && rows.key()? == "rows";
    (is_table && columns.kind() == Kind::Array && rows.kind() == Kind::Array)
        .then_some((columns, rows))
}
