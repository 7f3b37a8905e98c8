//! `markdown-list`: every value as a `- **key**: value` line, nested values indented below their key, records under
//! numbered headings.

use std::borrow::Cow;

use super::out::Pieces;
use super::rows::RowSet;
use super::{Format, NotApplicable, Sink, Subject, WriteError, growth, markdown, payload_of};
use crate::json::walk::{Event, walk};
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
    fn applies(&self, subject: &Subject) -> Result<(), NotApplicable> {
        payload_of(subject).map(|_| ())
    }
    fn write(&self, subject: &Subject, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(payload) = &subject.payload else { return Ok(()) };
        let root = payload.root();
        growth::check(growth::indentation(root), "indentation", root, self.title())?;
        let mut out = Pieces::new(sink);
        match RowSet::of(root) {
            Ok(rows) => {
                markdown::push_envelope(rows, &mut out)?;
                for (position, record) in rows.records().enumerate() {
                    let gap = if position > 0 { "\n" } else { "" };
                    out.push(&format!("{gap}### {}\n\n", position + 1))?;
                    push_lines(record, &mut out)?;
                }
            }
            Err(_) => push_lines(root, &mut out)?,
        }
        Ok(out.finish()?)
    }
}

/// The lines of a value; what has no parts is one line without a key.
fn push_lines(root: Node<'_>, out: &mut Pieces<'_>) -> Result<(), WriteError> {
    if let Some(value) = line_value(root) {
        out.push(&markdown::escape(&value))?;
        return Ok(out.push("\n")?);
    }
    let mut depth = 0_usize;
    walk(root, |event| {
        match event {
            Event::Open(node) | Event::Scalar(node) => {
                if node.index() != root.index() {
                    for _ in 1..depth {
                        out.push("  ")?;
                    }
                    let key = node.key().unwrap_or_else(|| Cow::Owned((node.ordinal() + 1).to_string()));
                    markdown::push_item(out, &key, line_value(node).as_deref())?;
                }
                depth += usize::from(node.is_container());
            }
            Event::Close(_) => depth -= 1,
        }
        Ok(())
    })
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
