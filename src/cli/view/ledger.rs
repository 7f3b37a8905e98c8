//! The ledger as a table for people.

use crate::cli::output::{columns, one_line};
use loupe_analysis::contract::LedgerOptions;
use loupe_analysis::queries::{Repair, RowCount, ratio_of};
use loupe_analysis::summary::{ModelReads, summarise};
use loupe_core::capture::{Direction, Outcome, ResultData};
use loupe_core::format::claim::facts_cell;
use loupe_core::format::ledger::Row;
use loupe_core::format::{self, Format, ParsedCapture};
use loupe_core::number::{grouped, milliseconds, number_of};
use loupe_core::token::{Encoding, format_count};

/// The head of the capture, the summary, and a row for every format.
pub fn page(
    subject: &ParsedCapture,
    rows: &[Row],
    counts: &[RowCount],
    (reads, repair): (ModelReads<'_>, Option<&Repair>),
    options: &LedgerOptions,
) -> String {
    let mut page = head(subject);
    let references: Vec<&Row> = rows.iter().collect();
    // The sentence states exact counts; next to a further tokenizer it names the one it used.
    // What was not reached might change it.
    if !rows.iter().any(Row::is_interrupted)
        && let Some(summary) = summarise(
            &references,
            reads,
            options.tokenizer.encoding().unwrap_or(Encoding::O200kBase),
            repair,
        )
    {
        page.push_str(&format!("{}\n", one_line(&summary.text())));
        if let ModelReads::Host(host) = reads {
            page.push_str(&format!("{}\n", one_line(&host.row.dropped_text())));
        }
    }
    if options.tokenizer.encoding().is_none() {
        page.push_str(&format!(
            "{}: {}\n",
            one_line(options.tokenizer.name()),
            one_line(&options.tokenizer.how())
        ));
    }
    if !rows
        .iter()
        .any(|row| row.is_available() || row.is_interrupted())
    {
        return page;
    }
    if rows.iter().any(Row::is_available) {
        page.push('\n');
        page.push_str(&table(rows, counts, options));
    }
    let trips: Vec<_> = rows
        .iter()
        .filter_map(|row| Some((row.format, row.round_trip.as_ref()?.summary()?)))
        .collect();
    if !trips.is_empty() {
        page.push('\n');
        for (format, summary) in trips {
            page.push_str(&format!("{format}: {}\n", one_line(&summary)));
        }
    }
    let uncounted: Vec<_> = rows
        .iter()
        .zip(counts)
        .filter_map(|(row, count)| Some((row.format, count.why.as_ref()?)))
        .collect();
    if !uncounted.is_empty() {
        page.push('\n');
        for (format, why) in uncounted {
            page.push_str(&format!(
                "{format} is not counted with {}: {}\n",
                one_line(options.tokenizer.name()),
                one_line(why)
            ));
        }
    }
    page.push_str(&absent(rows));
    page
}

/// The formats that are not there, those of one reason in one line.
fn absent(rows: &[Row]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.is_available()) {
        let why = row.why.as_deref().unwrap_or("it does not apply");
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, formats)) => formats.push(row.format),
            None => reasons.push((why, vec![row.format])),
        }
    }
    let lines: Vec<String> = reasons
        .iter()
        .map(|(why, formats)| format!("no {}: {}\n", formats.join(", "), one_line(why)))
        .collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!("\n{}", lines.concat())
    }
}

/// Lines of an error's text that are shown above the table, and how much of one.
const ERROR_LINES: usize = 8;
const ERROR_CHARS: usize = 240;

/// What the tool says of its failure: nobody should have to ask for another view to read it.
fn error_text(subject: &ParsedCapture) -> String {
    let message = match (&subject.response.rpc_error, subject.capture.outcome) {
        (Some(error), _) => error.message.clone(),
        (None, Outcome::ToolError) => subject.response.content_text().unwrap_or_default(),
        _ => return String::new(),
    };
    let mut page = String::new();
    for line in message.lines().take(ERROR_LINES) {
        let is_long = line.chars().count() > ERROR_CHARS;
        let line: String = line.chars().take(ERROR_CHARS).collect();
        page.push_str(&format!(
            "error {}{}\n",
            one_line(&line),
            if is_long { "…" } else { "" }
        ));
    }
    let more = message.lines().count().saturating_sub(ERROR_LINES);
    if more > 0 {
        page.push_str(&format!(
            "error … and {}; `--view content` shows all of it\n",
            number_of(more as u64, "more lines")
        ));
    }
    page
}

fn head(subject: &ParsedCapture) -> String {
    let capture = &subject.capture;
    let mut words = Vec::new();
    if !capture.tool.name.is_empty() {
        words.push(capture.tool.name.clone());
    }
    words.push(capture.outcome.name().to_owned());
    if capture.server.transport != "file" {
        words.push(format!("{:.1} ms", milliseconds(capture.timings.total())));
        words.push(format!(
            "{} ({})",
            capture.server.heading(),
            capture.server.transport
        ));
    } else {
        words.push(capture.server.source.clone());
    }
    let mut head = format!("{}\n", one_line(&words.join(" · ")));
    if !capture.arguments.is_empty() {
        head.push_str(&format!(
            "arguments {}\n",
            one_line(&String::from_utf8_lossy(&capture.arguments))
        ));
    }
    head.push_str(&format!(
        "data {}\n",
        subject
            .data
            .as_ref()
            .map_or_else(|| "none".to_owned(), ResultData::origin_text)
    ));
    if let Some(source) = subject.data.as_ref().and_then(ResultData::text_source) {
        let next = match source.reader.id {
            "markdown-table" => "`--read-text markdown-table-2` reads the next largest",
            _ => "`--read-text markdown-table` reads the largest",
        };
        for other in &source.data.others {
            let (rows, columns) = (
                number_of(other.rows as u64, "rows"),
                one_line(&other.head.join(", ")),
            );
            head.push_str(&format!("table not read: {columns} ({rows}); {next}\n"));
        }
    }
    if loupe_core::capture::is_wrapped(&subject.response)
        && let Some(text) = subject.response.content_text()
    {
        let tokens = loupe_core::token::count(&text).o200k_base;
        let tokens = number_of(tokens, "tokens");
        head.push_str(&format!(
            "wrapped structuredContent repeats the text: {tokens} twice (o200k_base)\n"
        ));
    }
    let stderr = capture
        .messages
        .iter()
        .filter(|message| message.direction == Direction::Stderr)
        .count();
    if stderr > 0 {
        let lines = number_of(stderr as u64, "lines");
        head.push_str(&format!("stderr {lines} during the call\n"));
    }
    head.push_str(&error_text(subject));
    for note in &capture.notes {
        head.push_str(&format!("note {}\n", one_line(note)));
    }
    let in_blocks = subject.response.blocks.iter().flat_map(|block| {
        block
            .faults
            .iter()
            .map(move |fault| format!("block {}: {fault}", block.index))
    });
    for odd in subject.response.faults.iter().cloned().chain(in_blocks) {
        head.push_str(&format!("odd {}\n", one_line(&odd)));
    }
    head
}

fn table(rows: &[Row], counts: &[RowCount], options: &LedgerOptions) -> String {
    let baseline = options.baseline(rows);
    let base = rows
        .iter()
        .zip(counts)
        .find(|(row, _)| row.format == baseline)
        .and_then(|(_, count)| count.count);
    // The tokenizer of the ratios comes first.
    let mut encodings = Encoding::ALL.to_vec();
    encodings.retain(|encoding| Some(*encoding) != options.tokenizer.encoding());
    let mut head = vec![
        "FORMAT".to_owned(),
        "TITLE".to_owned(),
        one_line(options.tokenizer.name()).to_uppercase(),
    ];
    head.extend(
        encodings
            .iter()
            .map(|encoding| encoding.name().to_uppercase()),
    );
    head.extend([
        format!("× {baseline}"),
        "BYTES".to_owned(),
        "CHARS".to_owned(),
        "FACTS".to_owned(),
        "ROUND TRIP".to_owned(),
    ]);
    let mut table = vec![head];
    for (row, count) in rows
        .iter()
        .zip(counts)
        .filter(|(row, _)| row.is_available())
    {
        let title = format::by_id(row.format).map_or("", Format::title);
        let mut line = vec![row.format.to_owned(), title.to_owned()];
        line.push(count.count.map_or_else(|| "–".to_owned(), format_count));
        line.extend(
            encodings
                .iter()
                .map(|encoding| grouped(row.tokens.get(*encoding))),
        );
        let ratio = ratio_of(count.count, base);
        line.push(ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")));
        line.push(grouped(row.bytes));
        line.push(grouped(row.chars));
        let dropped = row.omitted.map(|omitted| omitted.words(&options.tokenizer));
        line.push(
            row.facts
                .map(facts_cell)
                .into_iter()
                .chain(dropped)
                .collect::<Vec<_>>()
                .join(", "),
        );
        line.push(row.round_trip.as_ref().map_or_else(String::new, |trip| {
            match trip.differences.count {
                0 => trip.fidelity.name().to_owned(),
                count => format!("{} ({})", trip.fidelity.name(), grouped(count)),
            }
        }));
        table.push(line);
    }
    let numbers: Vec<usize> = (2..6 + encodings.len()).collect();
    columns(&table, &numbers)
}
