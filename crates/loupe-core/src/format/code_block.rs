//! `code-block`: `path: value` lines in a fence, one fence a record.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::decode::{Builder, DecodeError, Decoded, Untyped, unreadable};
use super::out::Pieces;
use super::rows::{RowSet, cell_text};
use super::{Format, FormatName, ParsedCapture, Sink, Syntax, WriteError, growth, markdown};
use crate::json::walk::{WalkEvent, walk};
use crate::json::{Kind, Node};

/// How null is written.
const NULL: &str = "N/A";

#[derive(Debug)]
pub struct CodeBlock;

impl Format for CodeBlock {
    fn name(&self) -> FormatName {
        FormatName {
            id: "code-block",
            title: "Code block",
            short_title: "Block",
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
        growth::check(path_bytes(root), "the paths", root, self.title())?;
        let mut out = Pieces::new(sink);
        match RowSet::new(root) {
            Ok(rows) => {
                out.push(&format!("{} records:\n", rows.list().len()));
                for node in rows.envelope() {
                    let value = if node.is_null() {
                        Cow::Borrowed(NULL)
                    } else {
                        cell_text(Some(node))
                    };
                    out.push(&format!(
                        "{}: {}\n",
                        escape(&node.key().unwrap_or_default()),
                        escape(&value)
                    ));
                }
                for record in rows.records() {
                    out.push("\n");
                    push_block(record, &mut out);
                }
            }
            Err(_) => push_block(root, &mut out),
        }
        out.finish();
        Ok(())
    }
    fn decode(&self, text: &str) -> Option<Result<Decoded, DecodeError>> {
        Some(decode(text))
    }
}

fn push_block(root: Node<'_>, out: &mut Pieces<'_>) {
    let fence = growth::fence(root);
    out.push(&format!("{fence}\n"));
    let mut path = String::new();
    // The length of the path outside each open container.
    let mut outside: Vec<usize> = Vec::new();
    walk(root, |event| match event {
        WalkEvent::Open(node) | WalkEvent::Scalar(node) => {
            let before = path.len();
            if node.index() != root.index() {
                push_step(&mut path, node);
            }
            if let Some(value) = line_value(node) {
                out.push(&path);
                if !path.is_empty() || node.index() != root.index() {
                    out.push(": ");
                }
                out.push(&escape(&value));
                out.push("\n");
            }
            if node.is_container() {
                outside.push(before);
            } else {
                path.truncate(before);
            }
        }
        WalkEvent::Close(_) => path.truncate(outside.pop().unwrap_or(0)),
    });
    out.push(&format!("{fence}\n"));
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
    if memchr::memchr3(b'\\', b'\n', b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.replace('\\', "\\\\")
            .replace('\n', "\\n")
            .replace('\r', "\\r"),
    )
}

/// Bytes of all paths, counted without writing them.
fn path_bytes(root: Node<'_>) -> u64 {
    let (mut total, mut length) = (0_u64, 0_u64);
    let mut outside = Vec::new();
    walk(root, |event| match event {
        WalkEvent::Open(node) | WalkEvent::Scalar(node) => {
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
        WalkEvent::Close(_) => length = outside.pop().unwrap_or(0),
    });
    total
}

const LINE: Untyped = Untyped {
    is_empty_null: false,
    null: Some(NULL),
    is_nested: false,
};
const ENVELOPE: Untyped = Untyped {
    is_nested: true,
    ..LINE
};

fn decode(text: &str) -> Result<Decoded, DecodeError> {
    let mut lines = markdown::lines(text).peekable();
    let mut builder = Builder::default();
    if text.starts_with("```") {
        push_fence(&mut lines, &mut builder)?;
        return Ok(builder.finish());
    }
    let is_count = |line: &str| {
        line.strip_suffix(" records:")
            .is_some_and(|count| count.parse::<usize>().is_ok())
    };
    if !lines.next().is_some_and(|(_, line)| is_count(line)) {
        return Err(unreadable(1, "neither a fence nor a number of records"));
    }
    let mut envelope = Vec::new();
    while let Some((number, line)) = lines.next_if(|(_, line)| !line.is_empty()) {
        let Some((key, value)) = line.split_once(": ") else {
            return Err(unreadable(number, "no `key: value`"));
        };
        envelope.push((unescape(key), unescape(value)));
    }
    builder.open_rows(envelope.into_iter(), ENVELOPE);
    while let Some((number, line)) = lines.next() {
        if !line.is_empty() {
            return Err(unreadable(number, "no empty line before a record"));
        }
        push_fence(&mut lines, &mut builder)?;
    }
    Ok(builder.finish_rows())
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step<'t> {
    Key(Cow<'t, str>),
    At(usize),
}

/// Builds the value in one fence: neighbouring lines share the beginning of their paths.
fn push_fence<'t>(
    lines: &mut impl Iterator<Item = (usize, &'t str)>,
    builder: &mut Builder,
) -> Result<(), DecodeError> {
    let Some((first, fence)) = lines.next() else {
        return Err(DecodeError("no fence".into()));
    };
    if fence.len() < 3 || !fence.bytes().all(|byte| byte == b'`') {
        return Err(unreadable(first, "no fence"));
    }
    let base = builder.depth();
    // The steps to the containers that are open below the outermost.
    let mut open: Vec<Step<'_>> = Vec::new();
    let mut is_begun = false;
    for (number, line) in lines {
        if line == fence {
            builder.close_to(base);
            return if is_begun {
                Ok(())
            } else {
                Err(unreadable(number, "nothing in the fence"))
            };
        }
        let Some((path, value)) = line.split_once(": ") else {
            if is_begun {
                return Err(unreadable(number, "no `path: value`"));
            }
            is_begun = true;
            builder.untyped("", &unescape(line), LINE);
            continue;
        };
        let mut steps = steps(path);
        let Some(last) = steps.pop() else {
            return Err(unreadable(number, "no path"));
        };
        let kind_of = |step: &Step<'_>| {
            if matches!(step, Step::At(_)) {
                Kind::Array
            } else {
                Kind::Object
            }
        };
        if !is_begun {
            is_begun = true;
            builder.open("", kind_of(steps.first().unwrap_or(&last)));
        }
        let shared = open
            .iter()
            .zip(&steps)
            .take_while(|(open, step)| open == step)
            .count();
        builder.close_to(base + 1 + shared);
        open.truncate(shared);
        for (at, step) in steps.iter().enumerate().skip(shared) {
            builder.open(key_of(step), kind_of(steps.get(at + 1).unwrap_or(&last)));
            open.push(step.clone());
        }
        builder.untyped(key_of(&last), &unescape(value), LINE);
    }
    Err(DecodeError("a fence without an end".into()))
}

fn key_of<'s>(step: &'s Step<'_>) -> &'s str {
    match step {
        Step::Key(key) => key,
        Step::At(_) => "",
    }
}

/// `a.b[0]` as steps. A key with a dot or bracket in it reads back as several: the format does not tell them apart.
fn steps(path: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for (position, part) in path.split('.').enumerate() {
        let mut name = part;
        let mut places = Vec::new();
        while let Some((before, place)) = name
            .strip_suffix(']')
            .and_then(|rest| rest.rsplit_once('['))
        {
            let Ok(place) = place.parse() else { break };
            places.push(Step::At(place));
            name = before;
        }
        // Only what the whole begins with, or follows in a list at once, has no name.
        if !name.is_empty() || places.is_empty() || position > 0 {
            steps.push(Step::Key(unescape(name)));
        }
        steps.extend(places.into_iter().rev());
    }
    steps
}

fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            out.push(char);
            continue;
        }
        out.push(match chars.next() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some(other) => other,
            None => '\\',
        });
    }
    Cow::Owned(out)
}
