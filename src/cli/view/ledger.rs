//! The ledger as a table for people.

use crate::capture::{Direction, Payload};
use crate::cli::output::{columns, one_line};
use crate::format::ledger::Row;
use crate::format::{self, Format, Subject};
use crate::report::grouped;
use crate::report::json::{LedgerOptions, milliseconds};
use crate::report::{counted, ratio_of, verdict};
use crate::token::{Count, Encoding};

/// The head of the capture, the verdict, and a row for every format.
pub fn page(subject: &Subject, rows: &[Row], counts: &[Option<Count>], options: &LedgerOptions) -> String {
    let mut page = head(subject);
    let references: Vec<&Row> = rows.iter().collect();
    // The sentence states exact counts; beside a further tokenizer it names the one it used.
    if let Some(verdict) = verdict(&references, options.tokenizer.encoding().unwrap_or(Encoding::O200kBase)) {
        page.push_str(&format!("{}\n", one_line(&verdict.text())));
    }
    if options.tokenizer.encoding().is_none() {
        page.push_str(&format!("{}: {}\n", one_line(options.tokenizer.name()), one_line(&options.tokenizer.how())));
    }
    if !rows.iter().any(Row::is_available) {
        return page;
    }
    page.push('\n');
    page.push_str(&table(rows, counts, options));
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

fn table(rows: &[Row], counts: &[Option<Count>], options: &LedgerOptions) -> String {
    let baseline = options.baseline(rows);
    let base = rows.iter().zip(counts).find(|(row, _)| row.format == baseline).and_then(|(_, count)| *count);
    // The tokenizer of the ratios comes first.
    let mut encodings = Encoding::ALL.to_vec();
    encodings.retain(|encoding| Some(*encoding) != options.tokenizer.encoding());
    let mut head = vec!["FORMAT".to_owned(), "TITLE".to_owned(), one_line(options.tokenizer.name()).to_uppercase()];
    head.extend(encodings.iter().map(|encoding| encoding.name().to_uppercase()));
    head.extend([
        format!("× {baseline}"),
        "BYTES".to_owned(),
        "CHARS".to_owned(),
        "FACTS KEPT".to_owned(),
        "ROUND TRIP".to_owned(),
    ]);
    let mut table = vec![head];
    for (row, count) in rows.iter().zip(counts).filter(|(row, _)| row.is_available()) {
        let title = format::by_id(row.format).map_or("", Format::title);
        let mut line = vec![row.format.to_owned(), title.to_owned()];
        line.push(count.map_or_else(String::new, counted));
        line.extend(encodings.iter().map(|encoding| grouped(row.tokens.get(*encoding))));
        let ratio = ratio_of(*count, base);
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
    let numbers: Vec<usize> = (2..6 + encodings.len()).collect();
    columns(&table, &numbers)
}
