//! `markdown-list`: every value as a `- **key**: value` line, nested values indented below their key, records under
//! numbered headings.

use std::borrow::Cow;

use super::out::Pieces;
use super::round_trip::{Builder, DecodeError, Decoded, Untyped, unreadable};
use super::rows::RowSet;
use super::{Format, ParsedCapture, Sink, Syntax, WriteError, growth, markdown};
use crate::json::walk::{WalkEvent, walk};
use crate::json::{Kind, Node};

#[derive(Debug)]
pub struct MarkdownList;

impl Format for MarkdownList {
    fn id(&self) -> &'static str {
        "markdown-list"
    }
    fn title(&self) -> &'static str {
        "Markdown list"
    }
    fn syntax(&self, _subject: &ParsedCapture) -> Syntax {
        Syntax::Markdown
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(payload) = &subject.payload else { return Ok(()) };
        let root = payload.root();
        growth::check(growth::indentation(root), "indentation", root, self.title())?;
        let mut out = Pieces::new(sink);
        match RowSet::of(root) {
            Ok(rows) => {
                markdown::push_envelope(rows, &mut out);
                for (position, record) in rows.records().enumerate() {
                    let gap = if position > 0 { "\n" } else { "" };
                    out.push(&format!("{gap}### {}\n\n", position + 1));
                    push_lines(record, &mut out);
                }
            }
            Err(_) => push_lines(root, &mut out),
        }
        out.finish();
        Ok(())
    }
    fn decode(&self, text: &str) -> Option<Result<Decoded, DecodeError>> {
        Some(decode(text))
    }
}

/// The lines of a value; what has no parts is one line without a key.
fn push_lines(root: Node<'_>, out: &mut Pieces<'_>) {
    if let Some(value) = line_value(root) {
        out.push(&markdown::escape(&value));
        return out.push("\n");
    }
    let mut depth = 0_usize;
    walk(root, |event| match event {
        WalkEvent::Open(node) | WalkEvent::Scalar(node) => {
            if node.index() != root.index() {
                for _ in 1..depth {
                    out.push("  ");
                }
                let key = node.key().unwrap_or_else(|| Cow::Owned((node.ordinal() + 1).to_string()));
                markdown::push_item(out, &key, line_value(node).as_deref());
            }
            depth += usize::from(node.is_container());
        }
        WalkEvent::Close(_) => depth -= 1,
    });
}

/// What stands behind the key; `None` where the children follow in lines of their own.
fn line_value(node: Node<'_>) -> Option<Cow<'_, str>> {
    match node.kind() {
        Kind::Array if node.is_empty() => Some(Cow::Borrowed("[]")),
        Kind::Object if node.is_empty() => Some(Cow::Borrowed("{}")),
        Kind::Array | Kind::Object => None,
        Kind::String => node.as_str(),
        Kind::Null | Kind::Bool | Kind::Number => Some(node.raw_text()),
    }
}

/// The words for null and for what is empty.
const LINE: Untyped = Untyped { is_empty_null: false, null: Some("null"), is_nested: false };

/// One line of a list, read.
struct Line<'t> {
    depth: usize,
    key: Cow<'t, str>,
    /// `None` where the children follow.
    value: Option<&'t str>,
    /// Whether what follows it is a list: its keys count from 1.
    is_list: bool,
}

fn decode(text: &str) -> Result<Decoded, DecodeError> {
    let mut builder = Builder::default();
    let has_records = text.starts_with("### 1\n") || text.contains("\n\n### 1\n");
    let mut lines = markdown::lines(text).peekable();
    if !has_records {
        let lines: Vec<_> = lines.collect();
        push_value(&lines, None, &mut builder)?;
        return builder.finish();
    }
    let envelope = markdown::read_envelope(&mut lines);
    builder.open_rows(envelope.into_iter(), Untyped::CELL);
    let lines: Vec<_> = lines.collect();
    for record in lines.chunk_by(|_, (_, next)| !next.starts_with("### ")) {
        let [(number, heading), (_, gap), body @ ..] = record else {
            return Err(unreadable(record[0].0, "a record without its lines"));
        };
        if !heading.starts_with("### ") || !gap.is_empty() {
            return Err(unreadable(*number, "no heading of a record"));
        }
        // The empty line before the next heading.
        let body = match body {
            [body @ .., (_, "")] => body,
            body => body,
        };
        push_value(body, Some(Kind::Object), &mut builder)?;
    }
    builder.finish_rows()
}

/// Builds the value of these lines: of the kind given, else of the kind that its keys tell.
fn push_value(lines: &[(usize, &str)], kind: Option<Kind>, builder: &mut Builder) -> Result<(), DecodeError> {
    if let [(_, line)] = lines
        && markdown::read_item(line).is_none()
    {
        builder.untyped("", &markdown::unescape(line), LINE);
        return Ok(());
    }
    let mut read = Vec::with_capacity(lines.len());
    for (number, line) in lines {
        let inside = line.trim_start_matches(' ');
        let depth = (line.len() - inside.len()) / 2;
        let Some((key, value)) = markdown::read_item(inside) else { return Err(unreadable(*number, "no `- **key**: value`")) };
        read.push(Line { depth, key, value, is_list: true });
    }
    let is_root_list = find_lists(&mut read) && kind.is_none();
    let base = builder.depth() + 1;
    builder.open("", if is_root_list { Kind::Array } else { Kind::Object });
    for (line, (number, _)) in read.iter().zip(lines) {
        if base + line.depth > builder.depth() {
            return Err(unreadable(*number, "indented below nothing"));
        }
        builder.close_to(base + line.depth);
        match line.value {
            Some(value) => builder.untyped(&line.key, &markdown::unescape(value), LINE),
            None => builder.open(&line.key, if line.is_list { Kind::Array } else { Kind::Object }),
        }
    }
    builder.close_to(base - 1);
    Ok(())
}

/// Marks the lines whose children count from 1; says whether those at the top do.
fn find_lists(lines: &mut [Line<'_>]) -> bool {
    let mut is_root_list = true;
    // The line of each open container, and how many children it has so far.
    let mut open: Vec<(Option<usize>, usize)> = vec![(None, 0)];
    for at in 0..lines.len() {
        open.truncate(lines[at].depth + 1);
        if let Some((parent, count)) = open.last_mut() {
            *count += 1;
            if lines[at].key.parse() != Ok(*count) || lines[at].key.starts_with(['+', '0']) {
                match *parent {
                    Some(parent) => lines[parent].is_list = false,
                    None => is_root_list = false,
                }
            }
        }
        if lines[at].value.is_none() {
            open.push((Some(at), 0));
        }
    }
    is_root_list
}
