//! The ledger as a table to paste: Markdown for a pull request, CSV for a sheet.

use std::fmt::Write;

use crate::queries::ratio_of;
use crate::summary::CountedRow;
use loupe_core::capture::FactCount;
use loupe_core::format;
use loupe_core::format::claim::facts_cell;
use loupe_core::format::ledger::Row;
use loupe_core::token::{Count, Encoding, Tokenizer, format_count};

/// A kind of table that others can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum TableKind {
    Markdown,
    Csv,
}

impl TableKind {
    pub const ALL: [Self; 2] = [Self::Markdown, Self::Csv];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The rows that are there, with ratios against the row `baseline`. Markdown says `–` where nothing is known and shows
/// what people read; CSV leaves the cell empty, has every row and the reason in the last column.
pub(crate) fn ledger_table(
    kind: TableKind,
    rows: &[&Row],
    baseline: &str,
    encoding: Encoding,
) -> String {
    let tokenizer = Tokenizer::Encoding(encoding);
    let rows: Vec<_> = rows
        .iter()
        .map(|&row| CountedRow {
            row,
            count: tokenizer
                .from_tokens(row.tokens)
                .filter(|_| row.is_available()),
            why: None,
        })
        .collect();
    counted_table(kind, &rows, baseline, &tokenizer)
}

/// The same by any tokenizer, by which the rows were counted; an estimate is a range.
pub fn counted_table(
    kind: TableKind,
    rows: &[CountedRow<'_>],
    baseline: &str,
    tokenizer: &Tokenizer,
) -> String {
    match kind {
        TableKind::Markdown => markdown_table(rows, baseline, tokenizer),
        TableKind::Csv => csv_table(rows, baseline, tokenizer),
    }
}

fn markdown_table(rows: &[CountedRow<'_>], baseline: &str, tokenizer: &Tokenizer) -> String {
    let base = rows
        .iter()
        .find(|row| row.row.format == baseline)
        .and_then(|row| row.count);
    let mut out = format!(
        "| Format | Tokens | Against {} | Bytes | Facts | Round trip |\n|---|--:|--:|--:|--:|---|\n",
        title(baseline)
    );
    for CountedRow { row, count, .. } in rows.iter().filter(|row| row.row.is_available()) {
        let none = || "–".to_owned();
        let tokens = match *count {
            Some(Count::Exact(tokens)) => tokens.to_string(),
            Some(range) => format_count(range),
            None => none(),
        };
        let against = ratio_of(*count, base).map_or_else(none, |ratio| format!("{ratio:.2}×"));
        let mut facts = row.facts.map_or_else(none, facts_cell);
        if let Some(omitted) = row.omitted {
            facts = format!("{facts}, {}", omitted.words(tokenizer));
        }
        let trip = row
            .round_trip
            .as_ref()
            .map_or_else(none, |trip| trip.fidelity.name().to_owned());
        let name = title(row.format);
        // Writing into a String cannot fail.
        writeln!(
            out,
            "| {name} | {tokens} | {against} | {} | {facts} | {trip} |",
            row.bytes
        )
        .ok();
    }
    out
}

const COLUMNS: [&str; 15] = [
    "format",
    "available",
    "bytes",
    "chars",
    "utf16",
    "o200k_base",
    "cl100k_base",
    "ratio",
    "facts",
    "proved",
    "found",
    "missing",
    "round_trip",
    "differences",
    "why",
];

fn title(id: &str) -> &str {
    format::by_id(id).map_or(id, |format| format.title())
}

/// A CSV text with LF: the header, and rows of as many cells.
pub(super) fn csv_text<const N: usize>(
    header: [impl AsRef<[u8]>; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let mut out = csv::WriterBuilder::new()
        .terminator(csv::Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    // Writing into memory cannot fail, nor can rows of one length.
    out.write_record(header).ok();
    for row in rows {
        out.write_record(row).ok();
    }
    String::from_utf8(out.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// The cells that every table has of a row's size: bytes, characters, UTF-16 units, tokens of either encoding; empty where
/// there is nothing to measure.
pub(super) fn size_cells(row: &Row, is_there: bool) -> [String; 5] {
    let sizes = [
        row.bytes,
        row.chars,
        row.utf16,
        row.tokens.o200k_base,
        row.tokens.cl100k_base,
    ];
    sizes.map(|size| {
        if is_there {
            size.to_string()
        } else {
            String::new()
        }
    })
}

/// The cells that every table has of facts: in all, kept, reworded, missing; empty where nothing is known.
pub(super) fn fact_cells(facts: Option<FactCount>, is_there: bool) -> [String; 4] {
    let facts = facts.filter(|_| is_there);
    let cell =
        |of: fn(FactCount) -> u64| facts.map_or_else(String::new, |facts| of(facts).to_string());
    [
        cell(|facts| facts.total),
        cell(|facts| facts.proved),
        cell(|facts| facts.found),
        cell(|facts| facts.missing),
    ]
}

fn csv_table(rows: &[CountedRow<'_>], baseline: &str, tokenizer: &Tokenizer) -> String {
    let base = rows
        .iter()
        .find(|row| row.row.format == baseline)
        .and_then(|row| row.count);
    let cells = rows.iter().map(|CountedRow { row, count, why }| {
        let available = row.is_available();
        let trip = row.round_trip.as_ref();
        let [bytes, chars, utf16, o200k_base, cl100k_base] = size_cells(row, available);
        let [facts, kept, reworded, missing] = fact_cells(row.facts, available);
        let why = row
            .why
            .clone()
            .or_else(|| why.map(str::to_owned))
            .or_else(|| trip?.summary());
        let why = why
            .into_iter()
            .chain(row.omitted.map(|omitted| omitted.words(tokenizer)))
            .collect::<Vec<_>>()
            .join("; ");
        [
            row.format.to_owned(),
            available.to_string(),
            bytes,
            chars,
            utf16,
            o200k_base,
            cl100k_base,
            ratio_of(*count, base).map_or_else(String::new, |ratio| format!("{ratio:.4}")),
            facts,
            kept,
            reworded,
            missing,
            trip.map_or("", |trip| trip.fidelity.name()).to_owned(),
            trip.map_or_else(String::new, |trip| trip.differences.count.to_string()),
            why,
        ]
    });
    if tokenizer.encoding().is_some() {
        return csv_text(COLUMNS, cells);
    }
    let counts = rows.iter().map(|CountedRow { count, .. }| {
        let cell =
            |end: fn(Count) -> u64| count.map_or_else(String::new, |count| end(count).to_string());
        [
            tokenizer.name().to_owned(),
            cell(Count::low),
            cell(Count::high),
        ]
    });
    csv_text(
        join_columns(COLUMNS.map(str::to_owned), COUNT_COLUMNS.map(str::to_owned)),
        cells
            .zip(counts)
            .map(|(row, count)| join_columns(row, count)),
    )
}

/// What a tokenizer counts that has no column of its own comes before the reason.
const COUNT_COLUMNS: [&str; 3] = ["tokenizer", "tokens_low", "tokens_high"];

fn join_columns(row: [String; 15], count: [String; 3]) -> [String; 18] {
    let [cells @ .., why] = row;
    let mut all = cells.into_iter().chain(count).chain([why]);
    std::array::from_fn(|_| all.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::format::ParsedCapture;

    use loupe_core::format::FORMATS;

    #[test]
    fn a_sheet_leaves_empty_what_is_not_known_and_says_why() {
        let subject =
            ParsedCapture::from_result(r#"{"content":[{"type":"text","text":"{\"n\":1}"}]}"#);
        let rows: Vec<Row> = FORMATS
            .iter()
            .map(|format| Row::measure(*format, &subject))
            .collect();
        let line = |text: &str, id: &str| {
            text.lines()
                .find(|line| line.starts_with(id))
                .unwrap()
                .to_owned()
        };
        let text = ledger_table(
            TableKind::Csv,
            &rows.iter().collect::<Vec<_>>(),
            "json",
            Encoding::O200kBase,
        );
        assert_eq!(
            line(&text, "structured,"),
            "structured,false,,,,,,,,,,,,,no structuredContent in this answer"
        );
        assert!(line(&text, "json,").contains(",1.0000,"), "{text}");
        let tokenizer = Tokenizer::named("claude").unwrap();
        let counted = |row| CountedRow {
            row,
            count: None,
            why: Some("it holds no such token"),
        };
        let text = counted_table(
            TableKind::Csv,
            &rows.iter().map(counted).collect::<Vec<_>>(),
            "json",
            &tokenizer,
        );
        assert!(
            line(&text, "json,").ends_with(",claude,,,it holds no such token"),
            "{text}"
        );
    }
}
