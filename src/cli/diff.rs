//! `diff`: what differs between two captures, fixtures or files, or between two lists of tools.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::output::{self, one_line};
use super::{Done, command, view};
use crate::store;
use loupe_analysis::contract;
use loupe_analysis::queries;
use loupe_analysis::queries::difference::{
    Difference, NodeChange, TextDifference, ToolsDifference, ValueDifference,
};
use loupe_core::capture::{Capture, Tool, listed_tools};
use loupe_core::diff::lines::Side;
use loupe_core::diff::tree::Op;
use loupe_core::json::Node;
use loupe_core::number;
use loupe_core::number::grouped;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::quote::visible;

/// After it no shorter way is looked for between two long texts.
const LIMIT: Duration = Duration::from_secs(5);
/// Differences and lines printed for people; `--json` has more.
const MAX_LINES: usize = 200;
const MAX_VALUE_CHARS: usize = 80;

/// What one side holds.
enum Input {
    Answer(Box<Capture>),
    Tools(Vec<Tool>),
}

pub fn run(args: &command::DiffArgs) -> Done {
    let read_text = view::read_text(args.read_text.as_deref())?;
    if args.a == Path::new("-") && args.b == Path::new("-") {
        return Err(
            Problem::new(ProblemKind::Usage, "standard input can be read once")
                .hint("give a path for A or for B"),
        );
    }
    let (text, is_different) = match (read(&args.a)?, read(&args.b)?) {
        (Input::Tools(a), Input::Tools(b)) => {
            let found = ToolsDifference::new(&a, &b);
            let text = if args.print.json {
                contract::diff_tools(&found)
            } else {
                tools_page(&found)
            };
            (text, !found.is_equal())
        }
        (Input::Answer(a), Input::Answer(b)) => {
            let names = (name(&args.a, &a), name(&args.b, &b));
            let (a, b) = (
                queries::subject(a.read_as(&read_text).into()),
                queries::subject(b.read_as(&read_text).into()),
            );
            let found = Difference::new(&a, &b, Some(Instant::now() + LIMIT));
            let text = if args.print.json {
                contract::diff(&found)
            } else {
                page(&found, &names)
            };
            (text, found.is_different())
        }
        _ => {
            return Err(Problem::new(
                ProblemKind::Usage,
                "one side is a list of tools, the other is not",
            )
            .at(format!("{} and {}", args.a.display(), args.b.display()))
            .hint("compare `tools --json` of both servers"));
        }
    };
    output::page_or(args.print.json, &text)?;
    Ok(u8::from(is_different))
}

fn read(path: &Path) -> Result<Input, Problem> {
    if path.is_dir() {
        return Ok(Input::Answer(Box::new(store::read_any(path)?)));
    }
    let unreadable = |error: std::io::Error| {
        Problem::new(ProblemKind::Io, format!("cannot read: {error}"))
            .at(path.display().to_string())
    };
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
    } else {
        bytes = store::file_bytes(path, store::MOST_OF_ANSWERS).map_err(unreadable)?;
    }
    let bytes = Bytes::from(bytes);
    if let Some(tools) = listed_tools(&bytes) {
        return Ok(Input::Tools(tools));
    }
    let name = path.file_name().map_or_else(
        || "stdin".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    Ok(Input::Answer(Box::new(store::read_bytes(
        &bytes, &name, None,
    )?)))
}

fn name(path: &Path, capture: &Capture) -> String {
    let mut words = vec![path.display().to_string()];
    if !capture.tool.name.is_empty() {
        words.push(capture.tool.name.clone());
    }
    if !capture.arguments.is_empty() {
        words.push(String::from_utf8_lossy(&capture.arguments).into_owned());
    }
    words.join(" · ")
}

fn page(found: &Difference, names: &(String, String)) -> String {
    let mut page = format!("A {}\nB {}\n", one_line(&names.0), one_line(&names.1));
    page.push_str(match (found.is_different(), found.is_partial) {
        (true, _) => "they differ\n",
        (false, true) => "no differences in what was compared\n",
        (false, false) => "no differences\n",
    });
    if found.outcomes.0 != found.outcomes.1 {
        page.push_str(&format!(
            "outcome {} → {}\n",
            found.outcomes.0.name(),
            found.outcomes.1.name()
        ));
    }
    for message in &found.left_out {
        page.push_str(&format!("note {}\n", one_line(message)));
    }
    for (title, value) in [
        ("data", &found.data),
        ("rest of the result", &found.rest),
        ("definition", &found.definition),
    ] {
        if let Some(value) = value.as_ref().filter(|value| !value.found.is_empty()) {
            page.push_str(&format!("\n{title}: {}\n", describe_counts(value)));
            page.push_str(&changes(value));
        }
    }
    if let Some(text) = found.text.as_ref().filter(|text| !text.found.is_empty()) {
        let (added, removed) = (grouped(text.found.added), grouped(text.found.removed));
        page.push_str(&format!(
            "\ntext: +{added} −{removed} lines\n{}",
            hunks(text)
        ));
    }
    if let (Some(a), Some(b)) = found.tokens {
        page.push_str(&format!(
            "\ntokens as sent {} → {} o200k_base\n",
            grouped(a.o200k_base),
            grouped(b.o200k_base)
        ));
    }
    page
}

fn tools_page(found: &ToolsDifference) -> String {
    let mut page = format!(
        "tools: {} added, {} removed, {} changed, {} unchanged · {} → {} tokens o200k_base\n",
        found.added.len(),
        found.removed.len(),
        found.changed.len(),
        found.unchanged,
        grouped(found.total.0.o200k_base),
        grouped(found.total.1.o200k_base)
    );
    for (sign, tools) in [("+", &found.added), ("−", &found.removed)] {
        for (name, tokens) in tools {
            page.push_str(&format!(
                "{sign} {} · {} tokens\n",
                one_line(name),
                grouped(tokens.o200k_base)
            ));
        }
    }
    for tool in &found.changed {
        let (a, b) = (tool.tokens.0.o200k_base, tool.tokens.1.o200k_base);
        let schema = if tool.is_schema_changed {
            " · schema changed"
        } else {
            ""
        };
        let hints = if tool.hints.is_empty() {
            String::new()
        } else {
            format!(" · {} changed", tool.hints.join(", "))
        };
        page.push_str(&format!(
            "~ {} · {} tokens{schema}{hints}\n{}",
            one_line(&tool.name),
            number::signed_from(a, b),
            changes(&tool.definition)
        ));
    }
    page
}

fn describe_counts(value: &ValueDifference) -> String {
    let counts = value.found.counts;
    let parts = [
        (counts.added, "added"),
        (counts.removed, "removed"),
        (counts.changed, "changed"),
        (counts.moved, "moved"),
    ];
    let message = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{} {word}", grouped(*count)));
    message.collect::<Vec<_>>().join(", ")
}

fn changes(value: &ValueDifference) -> String {
    let mut page = String::new();
    for node in value.changes().take(MAX_LINES) {
        page.push_str(&format!("  {}\n", change(value, &node)));
    }
    let more = value.found.counts.total().saturating_sub(MAX_LINES as u64);
    if more > 0 {
        page.push_str(&format!("  … and {} more\n", grouped(more)));
    }
    page
}

fn change(value: &ValueDifference, node: &NodeChange<'_>) -> String {
    let (from, to) = value.paths(node);
    let path = to.clone().or(from.clone()).unwrap_or_default();
    let path = if path.is_empty() {
        "the whole value".to_owned()
    } else {
        one_line(&path)
    };
    let shown = |node: Option<Node<'_>>| {
        clip(
            &node
                .map(|node| node.raw_text().into_owned())
                .unwrap_or_default(),
        )
    };
    match node.op {
        Op::Add => format!("+ {path} {}", shown(node.b)),
        Op::Remove => format!("− {path} {}", shown(node.a)),
        Op::Change => format!("~ {path} {} → {}", shown(node.a), shown(node.b)),
        Op::Move => format!("> {path} from {}", one_line(&from.unwrap_or_default())),
    }
}

fn clip(text: &str) -> String {
    let line = one_line(text);
    if line.chars().count() <= MAX_VALUE_CHARS {
        return line;
    }
    line.chars().take(MAX_VALUE_CHARS).collect::<String>() + "…"
}

fn hunks(text: &TextDifference) -> String {
    let mut page = String::new();
    let mut left = MAX_LINES;
    let mut printed = 0_u64;
    for hunk in &text.found.hunks {
        if left == 0 {
            break;
        }
        let (a, b) = (&hunk.a, &hunk.b);
        page.push_str(&format!(
            "@@ -{},{} +{},{} @@\n",
            a.start,
            a.len(),
            b.start,
            b.len()
        ));
        for line in hunk.lines.iter().take(left) {
            let (sign, source) = match line.side {
                Side::Both => (' ', &text.a),
                Side::A => ('-', &text.a),
                Side::B => ('+', &text.b),
            };
            printed += u64::from(line.side != Side::Both);
            page.push_str(&format!("{sign}{}\n", visible(&source[line.range.clone()])));
        }
        left = left.saturating_sub(hunk.lines.len());
    }
    let more = (text.found.added + text.found.removed).saturating_sub(printed);
    if more > 0 {
        page.push_str(&format!("… and {} more changed lines\n", grouped(more)));
    }
    page
}
