//! `loupe.compare/1`: calls over the values of an argument, as `compare --json` prints them.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::contract::{ErrorJson, LedgerOptions, ReportParts, VERSION, print, raw, report};
use crate::queries::HostsReport;
use crate::queries::comparison::{ComparedCall, Comparison};
use crate::queries::count_row;
use crate::queries::failure;
use crate::summary::ModelReads;
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::host::Hosts;
use loupe_core::problem::Problem;
use loupe_core::token::Tokenizer;

fn owned(json: &str) -> Option<Box<RawValue>> {
    raw(json.as_bytes()).map(ToOwned::to_owned)
}

#[derive(Serialize)]
struct ComparisonDocument<'a> {
    loupe: &'static str,
    schema: &'static str,
    /// `null` of equal calls, which the window makes.
    vary: Option<&'a str>,
    /// The value of the call that the others are compared with.
    baseline: Option<Box<RawValue>>,
    columns: Vec<ColumnJson>,
    delta: Vec<DeltaJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorJson<'a>>,
}

#[derive(Serialize)]
struct ColumnJson {
    value: Option<Box<RawValue>>,
    /// `null` for a call that was not made.
    report: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct DeltaJson {
    value: Option<Box<RawValue>>,
    tokens: Map<String, Value>,
    ratio: Option<f64>,
    missing: Vec<String>,
}

/// The document: `values` are all that were planned, `calls` those that were made, in the same order. The columns are
/// compared by the tokenizer, if it is one that is always counted, else by `o200k_base`.
///
/// # Errors
/// [`Cancelled`] if the caller cancelled.
pub fn comparison(
    found: &Comparison,
    values: &[String],
    calls: &[ComparedCall],
    tokenizer: &Tokenizer,
    hosts: &Hosts,
    problem: Option<&Problem>,
    cancel: &Cancel,
) -> Result<String, Cancelled> {
    let encoding = tokenizer.nearest_encoding();
    let options = LedgerOptions {
        tokenizer: tokenizer.clone(),
        ..LedgerOptions::default()
    };
    let mut columns = Vec::with_capacity(values.len());
    for (at, value) in values.iter().enumerate() {
        let report = match calls.get(at) {
            Some(call) => {
                let count = |row| {
                    cancel
                        .check()
                        .map(|()| count_row(&call.subject, row, &options.tokenizer))
                };
                let counts = call.rows.iter().map(count).collect::<Result<Vec<_>, _>>()?;
                let seen = HostsReport::new(&call.subject, hosts, cancel)?;
                let failed = failure(&call.subject);
                let measured = ReportParts {
                    rows: &call.rows,
                    counts: &counts,
                    reads: ModelReads::Most(hosts),
                    hosts: Some(&seen),
                    findings: None,
                    failure: failed.as_ref(),
                    interrupted: None,
                };
                let text = print(&report(&call.subject, &measured, &options, cancel));
                cancel.check()?;
                Some(text)
            }
            None => None,
        };
        columns.push(ColumnJson {
            value: owned(value),
            report: report.and_then(|text| owned(text.trim_end())),
        });
    }
    let value_of = |call: usize| calls.get(call).and_then(|call| owned(&call.value));
    let deltas = found.deltas(calls, encoding);
    Ok(print(&ComparisonDocument {
        loupe: VERSION,
        schema: "loupe.compare/1",
        vary: found.vary.as_deref(),
        baseline: found.baseline.and_then(value_of),
        columns,
        delta: deltas
            .into_iter()
            .map(|delta| DeltaJson {
                value: value_of(delta.call),
                tokens: delta
                    .tokens
                    .into_iter()
                    .map(|(format, tokens)| (format.to_owned(), tokens.into()))
                    .collect(),
                ratio: delta.ratio,
                missing: delta.missing,
            })
            .collect(),
        error: problem.map(ErrorJson::new),
    }))
}
