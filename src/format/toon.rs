//! `toon`: Token-Oriented Object Notation with commas and two spaces, as `toon-format` writes it by default.
//!
//! The crate writes and reads a value as a whole and cannot be left meanwhile. So records are given to it in batches, and a
//! long text is read in pieces: the rows of a list are written and read alike whatever other rows there are.

use serde_json::{Map, Value};

use super::out::Pieces;
use super::round_trip::{Builder, DecodeError, Decoded};
use super::rows::RowSet;
use super::value::{check, in_pieces_or_whole, spelled, to_value};
use super::{Format, NotApplicable, Sink, Subject, WriteError, payload_of};
use crate::cancel::Cancel;
use crate::json::{Kind, Node};

/// Records are written, and a text is read, in parts of about this size; between two of them the asker may look away.
const PIECE_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub struct Toon;

impl Format for Toon {
    fn id(&self) -> &'static str {
        "toon"
    }
    fn title(&self) -> &'static str {
        "TOON"
    }
    fn applies(&self, subject: &Subject) -> Result<(), NotApplicable> {
        payload_of(subject).map(|_| ())
    }
    fn write(&self, subject: &Subject, sink: &mut dyn Sink, cancel: &Cancel) -> Result<(), WriteError> {
        let Some(payload) = &subject.payload else { return Ok(()) };
        check(payload.root(), self.title())?;
        let text = encode(payload.root(), self.title(), PIECE_BYTES, cancel)?;
        let mut out = Pieces::new(sink);
        out.push(&text)?;
        Ok(out.finish()?)
    }
    fn decode(&self, text: &str, cancel: &Cancel) -> Option<Result<Decoded, DecodeError>> {
        Some(decode(text, PIECE_BYTES, cancel))
    }
}

fn write_whole(value: &Value) -> Result<String, WriteError> {
    toon_format::encode_default(value).map_err(|error| WriteError::Refused(error.to_string()))
}

fn encode(root: Node<'_>, format: &str, piece: usize, cancel: &Cancel) -> Result<String, WriteError> {
    if let Ok(rows) = RowSet::of(root)
        && rows.list().raw().len() > piece
        && let Some(text) = in_batches(root, rows, format, piece, cancel)?
    {
        return Ok(text);
    }
    write_whole(&to_value(root, 0, format, &mut cancel.steps())?)
}

/// Writes the list of records in batches. `None` where two of them are written under different heads: then the head of the
/// whole is another still.
fn in_batches(
    root: Node<'_>,
    rows: RowSet<'_>,
    format: &str,
    piece: usize,
    cancel: &Cancel,
) -> Result<Option<String>, WriteError> {
    let mut steps = cancel.steps();
    let is_root = root.index() == rows.list().index();
    let depth = if is_root { 1 } else { 2 };
    // What follows the number in the head of every batch, and the rows.
    let mut head: Option<String> = None;
    let mut body = String::new();
    let mut records = rows.records().peekable();
    while records.peek().is_some() {
        cancel.check()?;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some(record) = records.next_if(|_| bytes < piece) {
            bytes += record.raw().len();
            batch.push(to_value(record, depth, format, &mut steps)?);
        }
        let count = format!("[{}", batch.len());
        let text = write_whole(&Value::Array(batch))?;
        let Some((first, lines)) = text.strip_prefix(&count).and_then(|rest| rest.split_once('\n')) else { return Ok(None) };
        if head.get_or_insert_with(|| first.to_owned()) != first {
            return Ok(None);
        }
        body.push('\n');
        body.push_str(lines);
    }
    let head = format!("[{}{}", rows.list().len(), head.unwrap_or_default());
    if is_root {
        return Ok(Some(head + &body));
    }
    // The members around it, with an empty list in its place, which is a line of its own.
    let mut around = Map::new();
    let key = rows.list().key().unwrap_or_default().into_owned();
    for member in root.children() {
        let is_list = member.index() == rows.list().index();
        let value = if is_list { Value::Array(Vec::new()) } else { to_value(member, 1, format, &mut steps)? };
        around.insert(member.key().unwrap_or_default().into_owned(), value);
    }
    let around = write_whole(&Value::Object(around))?;
    let line = write_whole(&Value::Object(Map::from_iter([(key, Value::Array(Vec::new()))])))?;
    let Some(name) = line.strip_suffix(": []") else { return Ok(None) };
    let mut text = String::with_capacity(around.len() + body.len());
    for (position, other) in around.split('\n').enumerate() {
        if position > 0 {
            text.push('\n');
        }
        if other == line {
            text.push_str(name);
            text.push_str(&head);
            text.push_str(&body);
        } else {
            text.push_str(other);
        }
    }
    Ok(Some(text))
}

fn decode(text: &str, piece: usize, cancel: &Cancel) -> Result<Decoded, DecodeError> {
    in_pieces_or_whole(text, piece, cancel, in_pieces, parse)
}

fn parse(text: &str) -> Result<Value, DecodeError> {
    toon_format::decode_default(text).map_err(|error| DecodeError::Unreadable(error.to_string()))
}

/// Reads the members of the outermost object in pieces, and the rows of a long list as well. Refused where a piece is not
/// what it has to be: then the text is read as a whole.
fn in_pieces(text: &str, piece: usize, cancel: &Cancel) -> Result<Decoded, DecodeError> {
    let mut builder = Builder::new(cancel);
    if text.starts_with('[') {
        builder.open("", Kind::Array)?;
        push_rows(text, piece, &mut builder, cancel)?;
        return builder.finish();
    }
    builder.open("", Kind::Object)?;
    let mut rest = text;
    while !rest.is_empty() {
        cancel.check()?;
        let member = next_line(rest, 0, |line| !line.starts_with(' '));
        if member > piece
            && let Some(head) = Head::of(rest)
        {
            let Value::Object(named) = parse(&format!("{}: []", head.name))? else { return Err(unlike()) };
            let Some(key) = named.keys().next() else { return Err(unlike()) };
            builder.open(key, Kind::Array)?;
            push_rows(&rest[..member], piece, &mut builder, cancel)?;
            builder.close();
            rest = &rest[member..];
            continue;
        }
        // As many members as make a piece, the one above first.
        let mut end = member;
        while end < piece.min(rest.len()) {
            let next = next_line(rest, end, |line| !line.starts_with(' '));
            if next - end > piece {
                break;
            }
            end = next;
        }
        let Value::Object(members) = parse(&rest[..end])? else { return Err(unlike()) };
        for (key, value) in &members {
            builder.json(key, &spelled(value)?)?;
        }
        rest = &rest[end..];
    }
    builder.finish()
}

fn unlike() -> DecodeError {
    DecodeError::Unreadable("not of one kind".into())
}

/// The head of a list with a line for each of its rows, `name[12]{a,b}:`.
struct Head<'t> {
    name: &'t str,
    count: usize,
    /// From the closing bracket to the line's end.
    after: &'t str,
    /// Where the rows begin in the text.
    rows: usize,
}

impl<'t> Head<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let (line, _) = text.split_once('\n')?;
        let mut is_quoted = false;
        let mut is_escaped = false;
        let open = line.bytes().position(|byte| {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = is_quoted,
                b'"' => is_quoted = !is_quoted,
                _ => {}
            }
            byte == b'[' && !is_quoted
        })?;
        let digits = line[open + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let (count, after) = line[open + 1..].split_at(digits);
        after.ends_with(':').then_some(())?;
        Some(Self { name: &line[..open], count: count.parse().ok()?, after, rows: line.len() + 1 })
    }
}

/// Reads a list, head and rows, in pieces: each under a head with its own number of rows.
fn push_rows(text: &str, piece: usize, builder: &mut Builder<'_>, cancel: &Cancel) -> Result<(), DecodeError> {
    let head = Head::of(text).ok_or_else(unlike)?;
    let is_row = |line: &str| line.starts_with("  ") && !line[2..].starts_with(' ');
    let mut rest = &text[head.rows..];
    let mut found = 0;
    while !rest.is_empty() {
        cancel.check()?;
        let (mut end, mut count) = (0, 0);
        while end < piece.min(rest.len()) {
            end = next_line(rest, end, is_row);
            count += 1;
        }
        let piece = format!("[{count}{}\n{}", head.after, rest[..end].trim_end_matches('\n'));
        let Value::Array(rows) = parse(&piece)? else { return Err(unlike()) };
        for row in &rows {
            builder.json("", &spelled(row)?)?;
        }
        found += rows.len();
        rest = &rest[end..];
    }
    if found == head.count { Ok(()) } else { Err(unlike()) }
}

/// Where the next line begins, after the one at `from`, that is like this; else the end.
fn next_line(text: &str, from: usize, is_it: impl Fn(&str) -> bool) -> usize {
    let mut at = from;
    while let Some(end) = memchr::memchr(b'\n', &text.as_bytes()[at..]) {
        at += end + 1;
        if is_it(&text[at..]) {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::format::tests::{table, value};
    use crate::format::value::decoded;
    use crate::json::Doc;

    /// Written in batches and read in pieces of these sizes it is what the crate makes of the whole.
    #[track_caller]
    fn parts_are_the_whole(payload: &str) {
        let cancel = Cancel::new();
        let doc = Doc::parse(Bytes::copy_from_slice(payload.as_bytes()));
        let root = doc.root().unwrap();
        let Ok(whole) = to_value(root, 0, "TOON", &mut cancel.steps()) else { return };
        let text = write_whole(&whole).unwrap();
        for piece in [0, 20, 90] {
            assert_eq!(encode(root, "TOON", piece, &cancel).unwrap(), text);
        }
        let back = decoded(&parse(&text).unwrap(), &cancel).unwrap();
        for piece in [1, 20, 90] {
            let Ok(pieces) = in_pieces(&text, piece, &cancel) else { continue };
            assert_eq!(pieces.doc.bytes(), back.doc.bytes(), "{text}");
        }
    }

    #[test]
    fn lists_are_written_in_batches_and_read_in_pieces() {
        let cancel = Cancel::new();
        for payload in [
            r#"[{"a":1,"b":"x"},{"a":2,"b":"- y"},{"a":3,"b":"[1]: z"}]"#,
            r#"{"total":3,"the \"items\" [1]:":[{"a":1,"l":[1,2]},{"a":2,"l":[]},{"b":{"c":[{"d":1},{"d":2}]}}],"o":{"p":{"q":1}}}"#,
            r#"{"items":[{"id":1,"n":{"x":1}},{"id":2,"n":{"x":2}}],"tags":["a","b"],"e":[]}"#,
        ] {
            let doc = Doc::parse(Bytes::copy_from_slice(payload.as_bytes()));
            let rows = RowSet::of(doc.root().unwrap()).unwrap();
            let text = in_batches(doc.root().unwrap(), rows, "TOON", 1, &cancel).unwrap().unwrap();
            let whole = to_value(doc.root().unwrap(), 0, "TOON", &mut cancel.steps()).unwrap();
            assert_eq!(text, write_whole(&whole).unwrap());
            assert_eq!(in_pieces(&text, 1, &cancel).unwrap().doc.bytes(), payload.as_bytes(), "{text}");
        }
        // Two heads: the first batch alone would be a table.
        let mixed = r#"[{"a":1},{"a":2},{"b":1}]"#;
        let doc = Doc::parse(Bytes::from_static(mixed.as_bytes()));
        let rows = RowSet::of(doc.root().unwrap()).unwrap();
        assert_eq!(in_batches(doc.root().unwrap(), rows, "TOON", 1, &cancel), Ok(None));
        parts_are_the_whole(mixed);
        // A number of rows that is not theirs is no list.
        assert!(decode("[3]{a}:\n  1\n  2", 1, &cancel).is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_and_read_in_parts_is_the_whole(
            payload in prop_oneof![
                value(),
                table(),
                table().prop_map(|rows| format!(r#"{{"n":[1],"items":{rows},"o":{{"a":{{"b":1}}}}}}"#)),
                // Rows of one shape, which make a table.
                prop::collection::vec((any::<u8>(), any::<bool>()), 2..6).prop_map(|rows| {
                    let rows: Vec<_> = rows.iter().map(|(id, on)| format!(r#"{{"id":{id},"on":{on},"n":{{"x":{id}}}}}"#)).collect();
                    format!("[{}]", rows.join(","))
                }),
            ],
        ) {
            parts_are_the_whole(&payload);
        }
    }
}
