//! The verdict as Markdown for a pull request: the sentence, the ledger, and the command line that reproduces it.

use std::fmt::Write;

use super::reproduce::call_again;
use super::table::markdown_table;
use super::verdict::{CountedRow, verdict_counted};
use crate::capture::Capture;
use crate::format::ledger::{Row, default_baseline};
use crate::quote::{markdown, markdown_block, markdown_code};
use crate::token::Tokenizer;

/// `None` until the rows that the verdict needs are there and counted.
pub fn verdict_markdown(rows: &[CountedRow<'_>], capture: &Capture, tokenizer: &Tokenizer) -> Option<String> {
    let sentence = verdict_counted(rows, tokenizer)?.text();
    let plain: Vec<&Row> = rows.iter().map(|row| row.row).collect();
    let baseline_id = default_baseline(&plain);
    let mut out = format!("{sentence}\n\n{}", markdown_table(rows, baseline_id));
    let server = &capture.server;
    let how = match (tokenizer.encoding(), tokenizer.file()) {
        (Some(encoding), _) => format!("counted with {} (exact)", encoding.name()),
        (None, Some(file)) => format!("counted with {} ({}, SHA-256 `{}`)", file.name, file.kind.title(), file.sha256),
        (None, None) => format!("{}: {}", tokenizer.name(), tokenizer.how()),
    };
    let (tool, name, version) = (markdown_code(&capture.tool.name), markdown(&server.name), markdown(&server.version));
    write!(out, "\n{tool} of {name} {version}, {how}.\n").ok();
    // Where a file stands is not known here; its name shows what to put.
    let by = Some(tokenizer.name()).filter(|_| *tokenizer != Tokenizer::default());
    if let Ok(command) = call_again(capture, by) {
        let command = command.trim_end();
        if command.contains(['\n', '\r']) {
            writeln!(out, "Reproduce:\n\n{}", markdown_block(command)).ok();
        } else {
            writeln!(out, "Reproduce: {}", markdown_code(command)).ok();
        }
    }
    Some(out)
}
