//! The ledger as a table for people.

use crate::capture::{Direction, Payload};
use crate::cli::output::{columns, one_line};
use crate::format::ledger::{Row, ratio};
use crate::format::{self, Format, Subject};
use crate::report::grouped;
use crate::report::json::{LedgerOptions, milliseconds};
use crate::report::verdict;
use crate::token::Encoding;

/// The head of the capture, the verdict, and a row for every format.
pub fn page(subject: &Subject, rows: &[Row], options: LedgerOptions) -> String {
    let mut page = head(subject);
    let references: Vec<&Row> = rows.iter().collect();
    if let Some(verdict) = verdict(&references, options.tokenizer) {
        page.push_str(&format!("{}\n", one_line(&verdict.text())));
    }
    if !rows.iter().any(Row::is_available) {
        return page;
    }
    page.push('\n');
    page.push_str(&table(rows, options));
    let said: Vec<_> = rows.iter().filter_map(|row| Some((row.format, row.round_trip.as_ref()?.summary()?))).collect();
    if !said.is_empty() {
        page.push('\n');
        for (format, summary) in said {
            page.push_str(&format!("{format}: {}\n", one_line(&summary)));
        }
    }
    let absent: Vec<&Row> = rows.iter().filter(|row| !row.is_available()).collect();
    if !absent.is_empty() {
        page.push('\n');
        for row in absent {
            page.push_str(&format!("no {}: {}\n", row.format, one_line(row.why.as_deref().unwrap_or("it does not apply"))));
        }
    }
    page
}

fn head(subject: &Subject) -> String {
    let capture = &subject.capture;
    let mut words = Vec::new();
    if !capture.tool.name.is_empty() {
        words.push(capture.tool.name.clone());
    }
    words.push(capture.outcome.name().to_owned());
    if capture.server.transport != "file" {
        words.push(format!("{:.1} ms", milliseconds(capture.timings.total())));
        words.push(format!("{} {} ({})", capture.server.name, capture.server.version, capture.server.transport));
    } else {
        words.push(capture.server.source.clone());
    }
    let mut head = format!("{}\n", one_line(&words.join(" · ")));
    if !capture.arguments.is_empty() {
        head.push_str(&format!("arguments {}\n", one_line(&String::from_utf8_lossy(&capture.arguments))));
    }
    head.push_str(&format!("payload {}\n", subject.payload.as_ref().map_or("none", Payload::origin_text)));
    let stderr = capture.messages.iter().filter(|message| message.direction == Direction::Stderr).count();
    if stderr > 0 {
        head.push_str(&format!("stderr {stderr} lines during the call\n"));
    }
    for note in &capture.notes {
        head.push_str(&format!("note {}\n", one_line(note)));
    }
    let in_blocks = subject
        .reading
        .blocks
        .iter()
        .flat_map(|block| block.faults.iter().map(move |fault| format!("block {}: {fault}", block.index)));
    for odd in subject.reading.faults.iter().cloned().chain(in_blocks) {
        head.push_str(&format!("odd {}\n", one_line(&odd)));
    }
    head
}

fn table(rows: &[Row], options: LedgerOptions) -> String {
    let baseline = options.baseline(rows);
    let base = rows.iter().find(|row| row.format == baseline);
    // The tokenizer of the ratios comes first.
    let mut encodings = Encoding::ALL.to_vec();
    encodings.sort_by_key(|encoding| *encoding != options.tokenizer);
    let mut head = vec!["FORMAT".to_owned(), "TITLE".to_owned()];
    head.extend(encodings.iter().map(|encoding| encoding.name().to_uppercase()));
    head.extend([
        format!("× {baseline}"),
        "BYTES".to_owned(),
        "CHARS".to_owned(),
        "FACTS KEPT".to_owned(),
        "ROUND TRIP".to_owned(),
    ]);
    let mut table = vec![head];
    for row in rows.iter().filter(|row| row.is_available()) {
        let title = format::by_id(row.format).map_or("", Format::title);
        let mut line = vec![row.format.to_owned(), title.to_owned()];
        line.extend(encodings.iter().map(|encoding| grouped(row.tokens.get(*encoding))));
        let ratio = base.and_then(|base| ratio(row, base, options.tokenizer));
        line.push(ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")));
        line.push(grouped(row.bytes));
        line.push(grouped(row.chars));
        line.push(row.facts.map_or_else(String::new, |facts| {
            let reworded = if facts.reworded > 0 { format!(" + {} reworded", facts.reworded) } else { String::new() };
            format!("{}/{}{reworded}", facts.kept, facts.total)
        }));
        line.push(row.round_trip.as_ref().map_or_else(String::new, |trip| match trip.differences.count {
            0 => trip.verdict.name().to_owned(),
            count => format!("{} ({})", trip.verdict.name(), grouped(count)),
        }));
        table.push(line);
    }
    columns(&table, &[2, 3, 4, 5, 6])
}
