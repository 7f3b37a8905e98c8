//! The verdict as Markdown for a pull request: the sentence, the ledger, and the command line that reproduces it.

use std::fmt::Write;
use std::sync::Arc;

use super::verdict::verdict;
use crate::capture::Capture;
use crate::format::ledger::{Row, default_baseline, ratio};
use crate::format::{self};
use crate::token::Encoding;

/// `None` until the rows that the verdict needs are there.
pub fn verdict_markdown(rows: &[Arc<Row>], capture: &Capture, encoding: Encoding) -> Option<String> {
    let rows: Vec<&Row> = rows.iter().map(Arc::as_ref).collect();
    let sentence = verdict(&rows, encoding)?.text();
    let baseline_id = default_baseline(&rows);
    let baseline = rows.iter().find(|row| row.format == baseline_id)?;
    let title = |id: &str| format::by_id(id).map_or(id.to_owned(), |format| format.title().to_owned());
    let mut out = format!(
        "{sentence}\n\n| Format | Tokens | Against {} | Bytes | Facts kept |\n|---|--:|--:|--:|--:|\n",
        title(baseline_id)
    );
    for row in rows.iter().filter(|row| row.is_available()) {
        let against = ratio(row, baseline, encoding).map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}×"));
        let facts =
            row.facts.map_or_else(|| "–".to_owned(), |facts| format!("{} of {}", facts.kept + facts.reworded, facts.total));
        // Writing into a String cannot fail.
        writeln!(out, "| {} | {} | {against} | {} | {facts} |", title(row.format), row.tokens.get(encoding), row.bytes).ok();
    }
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
