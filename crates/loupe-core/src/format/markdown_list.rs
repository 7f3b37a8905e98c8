//! `markdown-list`: every value as a `- **key**: value` line, nested values indented below their key, records under
//! numbered headings.

use std::borrow::Cow;

use super::decode::{Builder, DecodeError, Decoded, Untyped, unreadable};
use super::out::Pieces;
use super::rows::RowSet;
use super::{Format, FormatName, ParsedCapture, Sink, Syntax, WriteError, growth, markdown};
use crate::json::walk::{WalkEvent, walk};
use crate::json::{Kind, Node};

#[derive(Debug)]
pub(crate) struct MarkdownList;

impl Format for MarkdownList {
    fn name(&self) -> FormatName {
        FormatName {
            id: "markdown-list",
            title: "Markdown list",
            short_title: "List",
        }
    }
    fn syntax(&self, _subject: &ParsedCapture) -> Syntax {
        Syntax::Markdown
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(data) = &subject.data else {
            return Ok(());
        };
        let root = data.root();
        growth::check(growth::indentation(root), "indentation", root, self.title())?;
        let mut out = Pieces::new(sink);
        match RowSet::new(root) {
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
    let mut line = String::new();
    walk(root, |event| match event {
        WalkEvent::Open(node) | WalkEvent::Scalar(node) => {
            if node.index() != root.index() {
                line.clear();
                for _ in 1..depth {
                    line.push_str("  ");
                }
                let key = node
                    .key()
                    .unwrap_or_else(|| Cow::Owned((node.ordinal() + 1).to_string()));
                markdown::push_item(&mut line, &key, line_value(node).as_deref());
                out.push(&line);
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
const LINE: Untyped = Untyped {
    is_empty_null: false,
    null: Some("null"),
    is_nested: false,
};

/// One line of a list, read.
struct Line<'t> {
    depth: usize,
    key: Cow<'t, str>,
    /// `None` where the children follow.
    value: Option<&'t str>,
}

fn decode(text: &str) -> Result<Decoded, DecodeError> {
    let mut builder = Builder::default();
    let has_records = text.starts_with("### 1\n") || text.contains("\n\n### 1\n");
    let mut lines = markdown::lines(text).peekable();
    if !has_records {
        push_value(lines, None, &mut builder)?;
        return Ok(builder.finish());
    }
    let envelope = markdown::read_envelope(&mut lines);
    builder.open_rows(envelope.into_iter(), Untyped::CELL);
    while let Some((number, heading)) = lines.next() {
        if !heading.starts_with("### ") {
            return Err(unreadable(number, "no heading of a record"));
        }
        if lines.next_if(|(_, gap)| gap.is_empty()).is_none() {
            return Err(unreadable(number, "a record without its lines"));
        }
        let rest = lines.clone();
        let (mut len, mut gap) = (0, 0);
        while let Some((_, line)) = lines.next_if(|(_, line)| !line.starts_with("### ")) {
            len += 1;
            // The empty line before the next heading.
            gap = usize::from(line.is_empty());
        }
        push_value(rest.take(len - gap), Some(Kind::Object), &mut builder)?;
    }
    Ok(builder.finish_rows())
}

/// Builds the value of these lines: of the kind given, else of the kind that its keys tell. They are read twice, since they
/// would take many times the room of the text.
fn push_value<'t>(
    lines: impl Iterator<Item = (usize, &'t str)> + Clone,
    kind: Option<Kind>,
    builder: &mut Builder,
) -> Result<(), DecodeError> {
    let mut ahead = lines.clone();
    if let (Some((_, line)), None) = (ahead.next(), ahead.next())
        && markdown::read_item(line).is_none()
    {
        builder.untyped("", &markdown::unescape(line), LINE);
        return Ok(());
    }
    let read = lines.map(|(number, line)| {
        let inside = line.trim_start_matches(' ');
        let depth = (line.len() - inside.len()) / 2;
        let (key, value) = markdown::read_item(inside)
            .ok_or_else(|| unreadable(number, "no `- **key**: value`"))?;
        Ok((number, Line { depth, key, value }))
    });
    let mut are_lists = find_lists(read.clone())?.into_iter();
    let mut kind_of_next = || {
        if are_lists.next() == Some(true) {
            Kind::Array
        } else {
            Kind::Object
        }
    };
    let root = kind_of_next();
    let base = builder.depth() + 1;
    builder.open("", kind.unwrap_or(root));
    for line in read {
        let (number, line) = line?;
        if base + line.depth > builder.depth() {
            return Err(unreadable(number, "indented below nothing"));
        }
        builder.close_to(base + line.depth);
        match line.value {
            Some(value) => builder.untyped(&line.key, &markdown::unescape(value), LINE),
            None => builder.open(&line.key, kind_of_next()),
        }
    }
    builder.close_to(base - 1);
    Ok(())
}

/// Of each container in the order of the lines, the one around them first: whether its keys count from 1.
fn find_lists<'t>(
    lines: impl Iterator<Item = Result<(usize, Line<'t>), DecodeError>>,
) -> Result<Vec<bool>, DecodeError> {
    let mut are_lists = vec![true];
    // Which container each open one is, and how many children it has so far.
    let mut open: Vec<(usize, usize)> = vec![(0, 0)];
    for line in lines {
        let (_, line) = line?;
        open.truncate(line.depth + 1);
        if let Some((container, count)) = open.last_mut() {
            *count += 1;
            if line.key.parse() != Ok(*count) || line.key.starts_with(['+', '0']) {
                are_lists[*container] = false;
            }
        }
        if line.value.is_none() {
            open.push((are_lists.len(), 0));
            are_lists.push(true);
        }
    }
    Ok(are_lists)
}
