//! Pages for people: the rendered text, the data as a tree, the tool's definition.

use std::sync::Arc;

use crate::cli::output::{columns, one_line};
use loupe_analysis::queries::{
    Card, Ctx, Mark, MdKind, Query, RenderedQuery, Table, TreeQuery, TreeTokens, TreeTokensQuery,
    TreeView,
};
use loupe_core::cancel::Cancel;
use loupe_core::capture::Block;
use loupe_core::format::ParsedCapture;
use loupe_core::host::Hosts;
use loupe_core::json::{Kind as JsonKind, Node};
use loupe_core::number::{grouped, number_of};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::quote::visible;
use loupe_core::token;

/// Deeper levels are not indented further; they say their depth instead.
const INDENT_LEVELS: usize = 32;
/// A value longer than this is cut in the tree.
const VALUE_CHARS: usize = 120;

fn get<Q: Query>(
    subject: &Arc<ParsedCapture>,
    query: &Q,
    cancel: &Cancel,
) -> Result<Q::Out, Problem> {
    Ctx::new(std::slice::from_ref(subject), &Hosts::built_in(), cancel)
        .get(query)
        .map_err(|_| Problem::interrupted())?
}

/// The blocks in order, text with its tables drawn, anything else by what it is; each under its number where there are
/// several.
pub fn rendered(subject: &Arc<ParsedCapture>, cancel: &Cancel) -> Result<String, Problem> {
    let view = get(subject, &RenderedQuery("content"), cancel)?;
    let mut page = String::new();
    let blocks = &subject.response.blocks;
    // In the order of the blocks.
    let mut cards = view.cards.iter().peekable();
    for block in blocks {
        let card = cards.next_if(|card| card.block == Some(block.index));
        if blocks.len() > 1 || card.is_none() {
            page.push_str(&format!("[block {}]\n", block.index));
        }
        match card {
            Some(card) => text(&mut page, card),
            None => other(&mut page, block),
        }
    }
    Ok(page)
}

fn text(page: &mut String, card: &Card) {
    let mut end = 0;
    for block in &card.blocks {
        // Blank lines between blocks stay; the source says how many there are.
        page.push_str(&visible(
            card.text.get(end..block.range.start).unwrap_or(""),
        ));
        match &block.kind {
            MdKind::Table(table) => page.push_str(&draw_table(table)),
            MdKind::Html | MdKind::Markdown => {
                page.push_str(&visible(card.text.get(block.range.clone()).unwrap_or("")))
            }
        }
        end = block.range.end;
    }
    if !page.ends_with('\n') {
        page.push('\n');
    }
    if card.is_cut {
        page.push_str("… cut here; `--view content` prints it all\n");
    }
}

/// A block that is no text: its members, and its data by size alone.
fn other(page: &mut String, block: &Block) {
    let kind = if block.type_name.is_empty() {
        "no type"
    } else {
        &block.type_name
    };
    let size = block
        .data_bytes
        .map(|bytes| format!("{}, not shown", number_of(bytes as u64, "bytes")));
    let members = [
        block.name.clone(),
        block.uri.clone(),
        block.mime_type.clone(),
        size,
    ];
    let members: Vec<_> = members
        .into_iter()
        .flatten()
        .map(|member| one_line(&member))
        .collect();
    page.push_str(&format!("{} · {}\n", one_line(kind), members.join(" · ")));
    if let Some(text) = &block.text {
        page.push_str(&visible(text));
        page.push('\n');
    }
}

fn draw_table(table: &Table) -> String {
    let cells = |row: &Vec<loupe_analysis::queries::Cell>| {
        row.iter()
            .map(|cell| one_line(&cell.source))
            .collect::<Vec<_>>()
    };
    let mut rows = vec![cells(&table.header)];
    rows.extend(table.rows.iter().map(|(_, row)| cells(row)));
    let widths = (0..rows[0].len()).map(|column| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    });
    let rule = widths.map(|width| "─".repeat(width.unwrap_or(0))).collect();
    rows.insert(1, rule);
    columns(&rows, &[])
}

/// The data as an indented tree with the tokens of every container and the marks against the text.
pub fn tree(subject: &Arc<ParsedCapture>, cancel: &Cancel) -> Result<String, Problem> {
    let (Some(view), Some(tokens)) = (
        get(subject, &TreeQuery, cancel)?,
        get(subject, &TreeTokensQuery, cancel)?,
    ) else {
        return Err(Problem::new(ProblemKind::Usage, "there is no data").at("tree"));
    };
    let root = view.data.root();
    let mut page = format!("{}\n", view.data.origin_text());
    let mut open: Vec<usize> = Vec::new();
    for index in root.index()..root.subtree_end() {
        if index.is_multiple_of(4_096) {
            cancel.check().map_err(|_| Problem::interrupted())?;
        }
        let Some(node) = root.doc().node(index) else {
            break;
        };
        while open.last().is_some_and(|end| *end <= index) {
            open.pop();
        }
        page.push_str(&"  ".repeat(open.len().min(INDENT_LEVELS)));
        if open.len() > INDENT_LEVELS {
            page.push_str(&format!("[level {}] ", open.len()));
        }
        page.push_str(&leaf(node, &view, &tokens, index == root.index()));
        page.push('\n');
        if node.is_container() {
            open.push(node.subtree_end());
        }
    }
    Ok(page)
}

fn leaf(node: Node<'_>, view: &TreeView, tokens: &TreeTokens, is_root: bool) -> String {
    let mut line = match node.key() {
        Some(key) if !is_root => format!("{}: ", one_line(&key)),
        None if !is_root => format!("{}: ", node.ordinal()),
        _ => String::new(),
    };
    if node.is_container() {
        let (kind, members) = if node.kind() == JsonKind::Array {
            ("array", "items")
        } else {
            ("object", "members")
        };
        let tokens = number_of(u64::from(tokens.of(node.index())), "tokens");
        line.push_str(&format!(
            "{kind} · {} · {tokens}",
            number_of(node.len() as u64, members)
        ));
        if let Some((missing, differing)) = view.marks_inside.get(&node.index()) {
            line.push_str(&format!(" · {missing} not in text, {differing} differ"));
        }
    } else {
        let raw = node.raw_text();
        let value = one_line(&raw);
        match value.char_indices().nth(VALUE_CHARS) {
            Some((cut, _)) => line.push_str(&format!("{}…", &value[..cut])),
            None => line.push_str(&value),
        }
        match view.marks.get(&node.index()) {
            Some(Mark::NotInText) => line.push_str("  ← not in text"),
            Some(Mark::Differs(text)) => {
                line.push_str(&format!("  ← text says {}", one_line(text)))
            }
            None => {}
        }
    }
    line
}

/// The tool's definition as it was sent, under what it costs and promises.
pub fn definition(subject: &Arc<ParsedCapture>) -> Result<String, Problem> {
    let tool = &subject.capture.tool;
    if tool.raw.is_empty() {
        return Err(
            Problem::new(ProblemKind::Usage, "there is no definition of the tool").at("definition"),
        );
    }
    let raw = String::from_utf8_lossy(&tool.raw);
    let tokens = token::count(&raw);
    let mut page = format!(
        "{} · {} tokens o200k_base · {} cl100k_base · {} bytes\n",
        one_line(&tool.name),
        grouped(tokens.o200k_base),
        grouped(tokens.cl100k_base),
        grouped(tool.raw.len() as u64)
    );
    if let Some(title) = &tool.title {
        page.push_str(&format!("{}\n", one_line(title)));
    }
    for (name, hint) in [
        ("readOnlyHint", tool.annotations.read_only),
        ("destructiveHint", tool.annotations.destructive),
        ("idempotentHint", tool.annotations.idempotent),
        ("openWorldHint", tool.annotations.open_world),
    ] {
        page.push_str(&format!(
            "{name} {} ({})\n",
            hint.value,
            if hint.declared { "declared" } else { "default" }
        ));
    }
    for fault in &tool.faults {
        page.push_str(&format!("odd {}\n", one_line(fault)));
    }
    page.push_str(&format!("\n{}\n", visible(&raw)));
    Ok(page)
}
