//! The verdict as Markdown for a pull request: the sentence, the ledger, and the command line that reproduces it.

use std::fmt::Write;

use super::table::markdown_table;
use super::verdict::{CountedRow, verdict_counted};
use crate::capture::Capture;
use crate::format::ledger::{Row, default_baseline};
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
    write!(out, "\n`{}` of {} {}, {how}.\n", capture.tool.name, server.name, server.version).ok();
    if !server.source.is_empty() {
        let arguments = String::from_utf8_lossy(&capture.arguments);
        // Where a file stands is not known here; its name shows what to put.
        let by = if *tokenizer == Tokenizer::default() {
            String::new()
        } else {
            format!(" --tokenizer {}", shell_words::quote(tokenizer.name()))
        };
        let command =
            format!("mcp-loupe call {} --args {}{by} {}", capture.tool.name, shell_words::quote(&arguments), server.source);
        writeln!(out, "Reproduce: `{command}`").ok();
    }
    Some(out)
}
