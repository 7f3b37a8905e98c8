//! `code-block`: `path: value` lines in a fence, one fence a record.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::out::Pieces;
use super::rows::{RowSet, cell_text};
use super::{Format, NotApplicable, Sink, Subject, WriteError, growth, payload_of};
use crate::json::walk::{Event, walk};
use crate::json::{Kind, Node};

/// How null is written.
const NULL: &str = "N/A";

#[derive(Debug)]
pub struct CodeBlock;

impl Format for CodeBlock {
    fn id(&self) -> &'static str {
        "code-block"
    }
    fn title(&self) -> &'static str {
        "Code block"
    }
    fn applies(&self, subject: &Subject) -> Result<(), NotApplicable> {
        payload_of(subject).map(|_| ())
    }
    fn write(&self, subject: &Subject, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(payload) = &subject.payload else { return Ok(()) };
        let root = payload.root();
        growth::check(path_bytes(root), "the paths", root, self.title())?;
        let mut out = Pieces::new(sink);
        match RowSet::of(root) {
            Ok(rows) => {
                out.push(&format!("{} records:\n", rows.list().len()))?;
                for node in rows.envelope() {
                    let value = if node.is_null() { Cow::Borrowed(NULL) } else { cell_text(Some(node)) };
                    out.push(&format!("{}: {}\n", escape(&node.key().unwrap_or_default()), escape(&value)))?;
                }
                for record in rows.records() {
                    out.push("\n")?;
                    push_block(record, &mut out)?;
                }
            }
            Err(_) => push_block(root, &mut out)?,
        }
        Ok(out.finish()?)
    }
}

fn push_block(root: Node<'_>, out: &mut Pieces<'_>) -> Result<(), WriteError> {
    let fence = growth::fence(root);
    out.push(&format!("{fence}\n"))?;
    let mut path = String::new();
    // The length of the path outside each open container.
    let mut outside: Vec<usize> = Vec::new();
    walk(root, |event| {
        match event {
            Event::Open(node) | Event::Scalar(node) => {
                let before = path.len();
                if node.index() != root.index() {
                    push_step(&mut path, node);
                }
                if let Some(value) = line_value(node) {
                    out.push(&path)?;
                    if !path.is_empty() || node.index() != root.index() {
                        out.push(": ")?;
                    }
                    out.push(&escape(&value))?;
                    out.push("\n")?;
                }
                if node.is_container() {
                    outside.push(before);
                } else {
                    path.truncate(before);
                }
            }
            Event::Close(_) => path.truncate(outside.pop().unwrap_or(0)),
        }
        Ok::<(), WriteError>(())
    })?;
    Ok(out.push(&format!("{fence}\n"))?)
}

fn push_step(path: &mut String, node: Node<'_>) {
    match node.key() {
        Some(key) => {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&escape(&key));
        }
        None => {
            // Writing into a String cannot fail.
            write!(path, "[{}]", node.ordinal()).ok();
        }
    }
}

/// What stands behind the path; `None` where the children have lines of their own.
fn line_value(node: Node<'_>) -> Option<Cow<'_, str>> {
    match node.kind() {
        Kind::Array if node.is_empty() => Some(Cow::Borrowed("[]")),
        Kind::Object if node.is_empty() => Some(Cow::Borrowed("{}")),
        Kind::Array | Kind::Object => None,
        Kind::Null => Some(Cow::Borrowed(NULL)),
        Kind::String => node.as_str(),
        Kind::Bool | Kind::Number => Some(node.raw_text()),
    }
}

fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '\n', '\r']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r"))
}

/// Bytes of all paths, counted without writing them.
fn path_bytes(root: Node<'_>) -> u64 {
    let (mut total, mut length) = (0_u64, 0_u64);
    let mut outside = Vec::new();
    let walked: Result<(), std::convert::Infallible> = walk(root, |event| {
        match event {
            Event::Open(node) | Event::Scalar(node) => {
                let step = node.raw_key().map_or(3, |key| key.len() as u64 + 1);
                if node.is_container() && !node.is_empty() {
                    outside.push(length);
                    length += step;
                } else {
                    total = total.saturating_add(length + step);
                    if node.is_container() {
                        outside.push(length);
                    }
                }
            }
            Event::Close(_) => length = outside.pop().unwrap_or(0),
        }
        Ok(())
    });
    let Ok(()) = walked;
    total
}
