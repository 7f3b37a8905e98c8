//! A comparison as a file or a text to paste: Markdown for a pull request, CSV for a sheet, JSON for programs.

use std::fmt::Write;
use std::sync::Arc;

use super::table::{TableKind, csv_text, fact_cells, size_cells};
use crate::queries;
use crate::queries::comparison::{
    Column, ColumnOrigin, ComparedCall, Comparison, ComparisonQuery, shown,
};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::format::ParsedCapture;
use loupe_core::format::ledger::ratio;
use loupe_core::host::Hosts;
use loupe_core::token::Tokenizer;

/// What a comparison can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComparisonFile {
    Table(TableKind),
    /// As `compare --json` prints it.
    Json,
}

impl ComparisonFile {
    /// In display order.
    pub const ALL: [Self; 3] = [
        Self::Table(TableKind::Markdown),
        Self::Table(TableKind::Csv),
        Self::Json,
    ];

    /// The name people see.
    pub fn title(self) -> &'static str {
        match self {
            Self::Table(TableKind::Markdown) => "Markdown table",
            Self::Table(TableKind::Csv) => "CSV",
            Self::Json => "JSON",
        }
    }

    /// What it is good for, as a sentence fragment.
    pub fn about(self) -> &'static str {
        match self {
            Self::Table(TableKind::Markdown) => "one row a column, to paste into a pull request",
            Self::Table(TableKind::Csv) => "every number of every column, for a sheet",
            Self::Json => "every call with its whole report, as `compare --json` prints it",
        }
    }

    pub fn extension(self) -> &'static str {
        match self {
            Self::Table(TableKind::Markdown) => "md",
            Self::Table(TableKind::Csv) => "csv",
            Self::Json => "json",
        }
    }

    /// Measures the calls and writes them; `subjects` are the calls in the order of the values of `ask`.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn write(
        self,
        subjects: &[Arc<ParsedCapture>],
        ask: &ComparisonQuery,
        hosts: &Hosts,
        cancel: &Cancel,
    ) -> Result<String, Cancelled> {
        let calls = ask.calls(subjects, cancel)?;
        let found = Comparison::of(ask, &calls, hosts, cancel)?;
        match self {
            Self::Table(kind) => Ok(comparison_table(kind, &found, &calls)),
            Self::Json => {
                let failure = calls
                    .iter()
                    .find_map(|call| queries::failure(&call.subject));
                let tokenizer = Tokenizer::Encoding(ask.encoding);
                super::comparison(
                    &found,
                    &ask.values,
                    &calls,
                    &tokenizer,
                    hosts,
                    failure.as_ref(),
                    cancel,
                )
            }
        }
    }
}

/// The columns as a table. Markdown has those with something to compare, and below it why the others have not; CSV has
/// every column, every number without a unit in it (the time in milliseconds), and the reason in the last one.
pub fn comparison_table(
    kind: TableKind,
    comparison: &Comparison,
    calls: &[ComparedCall],
) -> String {
    match kind {
        TableKind::Markdown => markdown(comparison),
        TableKind::Csv => csv(comparison, calls),
    }
}

/// Text in a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace(['\n', '\r'], " ")
}

/// Whether there are numbers to show.
fn is_measured(column: &Column) -> bool {
    column.row.is_available() && !column.row.format.is_empty()
}

fn milliseconds(column: &Column) -> Option<f64> {
    column.latency.map(|time| time.as_secs_f64() * 1_000.0)
}

fn markdown(comparison: &Comparison) -> String {
    let encoding = comparison.encoding;
    let base = comparison.baseline.and_then(|at| comparison.column_of(at));
    let against = base.map_or_else(
        || "Against".to_owned(),
        |base| format!("Against {}", cell(&base.title)),
    );
    let mut out = format!(
        "| {} | Tokens ({}) | {against} | Bytes | Time | Facts | Loses facts of |\n|---|--:|--:|--:|--:|--:|---|\n",
        cell(comparison.vary.as_deref().unwrap_or("Equal calls")),
        encoding.name()
    );
    // Writing into a String cannot fail.
    for column in comparison
        .columns
        .iter()
        .filter(|column| column.is_answer() && is_measured(column))
    {
        let against = base.and_then(|base| ratio(&column.row, &base.row, encoding));
        let against = against.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}×"));
        let time = milliseconds(column)
            .map_or_else(|| "no call".to_owned(), |time| format!("{time:.1} ms"));
        let facts = column.facts.map_or_else(
            || "–".to_owned(),
            |facts| format!("{} of {}", facts.told(), facts.total),
        );
        let lost: Vec<String> = comparison
            .missing(column)
            .map(|(field, lost)| {
                let path = format!("`{}`", cell(&field.pattern).replace('`', "'"));
                if lost == field.total {
                    path
                } else {
                    format!("{path} ({lost} of {})", field.total)
                }
            })
            .collect();
        let lost = if lost.is_empty() {
            "–".to_owned()
        } else {
            lost.join(", ")
        };
        writeln!(
            out,
            "| {} | {} | {against} | {} | {time} | {facts} | {lost} |",
            cell(&column.title),
            column.row.tokens.get(encoding),
            column.row.bytes
        )
        .ok();
    }
    let rest: Vec<&Column> = comparison
        .columns
        .iter()
        .filter(|column| !(column.is_answer() && is_measured(column)))
        .collect();
    if !rest.is_empty() {
        out.push('\n');
    }
    for column in rest {
        let why = column.why.as_deref().unwrap_or("no answer");
        writeln!(
            out,
            "- {}: {}",
            column.title.replace(['\n', '\r'], " "),
            why.replace(['\n', '\r'], " ")
        )
        .ok();
    }
    out
}

const COLUMNS: [&str; 19] = [
    "column",
    "value",
    "derived",
    "outcome",
    "format",
    "bytes",
    "chars",
    "utf16",
    "o200k_base",
    "cl100k_base",
    "ratio",
    "ms",
    "facts",
    "proved",
    "found",
    "missing",
    "absent_records",
    "missing_fields",
    "why",
];

fn csv(comparison: &Comparison, calls: &[ComparedCall]) -> String {
    let base = comparison.baseline.and_then(|at| comparison.column_of(at));
    let rows = comparison.columns.iter().map(|column| {
        let (ColumnOrigin::Call(call) | ColumnOrigin::Derived(call)) = column.origin;
        let here = is_measured(column);
        let [bytes, chars, utf16, o200k_base, cl100k_base] = size_cells(&column.row, here);
        let [facts, kept, reworded, missing_facts] = fact_cells(column.facts, here);
        let ratio = base
            .filter(|_| here)
            .and_then(|base| ratio(&column.row, &base.row, comparison.encoding));
        let missing: Vec<&str> = comparison
            .missing(column)
            .map(|(field, _)| field.pattern.as_str())
            .collect();
        [
            column.title.clone(),
            calls
                .get(call)
                .map_or_else(String::new, |call| shown(&call.value)),
            matches!(column.origin, ColumnOrigin::Derived(_)).to_string(),
            column.outcome.name().to_owned(),
            column.format.to_owned(),
            bytes,
            chars,
            utf16,
            o200k_base,
            cl100k_base,
            ratio.map_or_else(String::new, |ratio| format!("{ratio:.4}")),
            milliseconds(column).map_or_else(String::new, |time| format!("{time:.1}")),
            facts,
            kept,
            reworded,
            missing_facts,
            if here {
                column.absent.to_string()
            } else {
                String::new()
            },
            missing.join(" "),
            column.why.clone().unwrap_or_default(),
        ]
    });
    csv_text(COLUMNS, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::comparison::tests::{call, text_result};
    use loupe_core::capture::Outcome;

    const JSON: &str = r#"{"items":[{"id":101,"a|b":"Ann Ames"},{"id":102,"a|b":"Bob Burr"}]}"#;

    fn written(file: ComparisonFile) -> String {
        let calls = [
            call("\"json\"", &text_result(JSON), Outcome::Result),
            call("\"ids\"", &text_result("- 101\n- 102"), Outcome::Result),
            call(
                "\"bad\"",
                &text_result("no such format"),
                Outcome::ToolError,
            ),
        ];
        let subjects: Vec<_> = calls.iter().map(|call| Arc::clone(&call.subject)).collect();
        let values: Vec<_> = calls.iter().map(|call| call.value.clone()).collect();
        let ask = ComparisonQuery {
            vary: Some("format".into()),
            values: values.into(),
            derived: Some(vec![(0, "json")]),
            ..ComparisonQuery::default()
        };
        file.write(&subjects, &ask, &Hosts::default(), &Cancel::new())
            .unwrap()
    }

    #[test]
    fn a_markdown_table_says_what_is_lost_and_what_failed() {
        let text = written(ComparisonFile::Table(TableKind::Markdown));
        let lines: Vec<_> = text.lines().collect();
        assert!(
            lines[0].starts_with("| format | Tokens (o200k_base) | Against json as sent | Bytes |"),
            "{text}"
        );
        assert!(
            lines[2].ends_with("| 4 of 4 | – |") && lines[2].contains(" 1.00× "),
            "{text}"
        );
        assert!(
            lines[3].starts_with("| ids as sent |")
                && lines[3].ends_with("| 2 of 4 | `/items/*/a\\|b` |"),
            "{text}"
        );
        assert!(
            lines[4].starts_with("| JSON, compact |") && lines[4].contains("| no call |"),
            "{text}"
        );
        assert_eq!(
            lines.last(),
            Some(&"- bad as sent: the tool answered with `isError`")
        );
    }

    #[test]
    fn csv_has_every_column_with_its_reason() {
        let text = written(ComparisonFile::Table(TableKind::Csv));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
        assert_eq!(
            rows.iter().map(|row| &row[0]).collect::<Vec<_>>(),
            [
                "json as sent",
                "ids as sent",
                "bad as sent",
                "JSON, compact"
            ]
        );
        assert_eq!(
            (&rows[1][14], &rows[1][15], &rows[1][17]),
            ("2", "2", "/items/*/a|b")
        );
        assert_eq!(
            (&rows[2][3], &rows[2][18]),
            ("tool-error", "the tool answered with `isError`")
        );
        assert_eq!(
            (&rows[3][1], &rows[3][2], &rows[3][11]),
            ("json", "true", "")
        );
    }

    #[test]
    fn json_is_that_of_the_command_line() {
        let document: serde_json::Value =
            serde_json::from_str(&written(ComparisonFile::Json)).unwrap();
        assert_eq!(document["schema"], "loupe.compare/1");
        assert_eq!(document["columns"].as_array().map(Vec::len), Some(3));
    }
}
