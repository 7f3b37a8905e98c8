//! The verdict as Markdown for a pull request: the sentence, the ledger, and the command line that reproduces it.

use std::fmt::Write;
use std::sync::Arc;

use super::table::{TableKind, ledger_table};
use super::verdict::verdict;
use crate::capture::Capture;
use crate::format::ledger::{Row, default_baseline};
use crate::token::Encoding;

/// `None` until the rows that the verdict needs are there.
pub fn verdict_markdown(rows: &[Arc<Row>], capture: &Capture, encoding: Encoding) -> Option<String> {
    let rows: Vec<&Row> = rows.iter().map(Arc::as_ref).collect();
    let sentence = verdict(&rows, encoding)?.text();
    let baseline_id = default_baseline(&rows);
    let mut out = format!("{sentence}\n\n{}", ledger_table(TableKind::Markdown, &rows, baseline_id, encoding));
    let server = &capture.server;
    write!(out, "\n`{}` of {} {}, counted with {} (exact).\n", capture.tool.name, server.name, server.version, encoding.name())
        .ok();
    if !server.source.is_empty() {
        let arguments = String::from_utf8_lossy(&capture.arguments);
        let command = format!("mcp-loupe call {} --args {} {}", capture.tool.name, shell_words::quote(&arguments), server.source);
        writeln!(out, "Reproduce: `{command}`").ok();
    }
    Some(out)
}
