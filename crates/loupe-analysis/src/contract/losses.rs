//! `loupe.losses/1`: which host loses what of a server.

use serde::Serialize;

use crate::contract::table::{TableKind, csv_text};
use crate::contract::tokens::TokensJson;
use crate::contract::{VERSION, print};
use crate::queries::{HostLosses, LossesReport};
use crate::summary::LossColumn;
use loupe_core::capture::Tool;
use loupe_core::host::losses::{HostLoss, LossKind};
use loupe_core::token::{Encoding, Tokens};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LossesDocument<'a> {
    loupe: &'static str,
    schema: &'static str,
    server: &'a str,
    tools: usize,
    /// Tools on the first page of `tools/list`.
    first_page: usize,
    results: usize,
    hosts: Vec<HostJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HostJson<'a> {
    id: &'static str,
    name: &'a str,
    version: &'a str,
    /// `every-tool`, `part`, `nothing` or `not-known`.
    outcome: &'static str,
    losses: Vec<LossJson<'a>>,
    results: Vec<ResultJson<'a>>,
    /// Members that definitions have and no model of this host gets.
    left_out: &'a [&'static str],
    hidden_tools: usize,
    cost: CostJson,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LossJson<'a> {
    kind: &'static str,
    /// `every-tool`, `tools`, `changed` or `not-known`.
    effect: &'static str,
    text: &'a str,
    tools: Vec<&'a str>,
    fix: &'static str,
    evidence: &'static str,
    checked: &'a str,
    source: Option<&'a str>,
    /// What the model gets and what is removed, for each tool; of the instructions too.
    exact: Vec<ExactJson<'a>>,
}

#[derive(Serialize)]
struct ExactJson<'a> {
    tool: &'a str,
    what: &'static str,
    text: String,
}

#[derive(Serialize)]
struct ResultJson<'a> {
    tool: &'a str,
    text: &'a str,
}

/// What the definitions and `instructions` cost; `null` where a rule that matters is not known.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CostJson {
    listed: TokensJson,
    passed_on: Option<TokensJson>,
    at_start: Option<TokensJson>,
}

/// What a host's model gets of a tool where this is lost, by what it is: its name, the description up to the cut and what
/// is removed, the input schema.
pub fn exact_loss(
    host: &HostLosses,
    kind: LossKind,
    tool: &Tool,
    report: &LossesReport,
) -> Vec<(&'static str, String)> {
    let definition = || host.host.definition(tool, &report.server_name).0;
    match kind {
        LossKind::Description => {
            let Some((kept, removed)) = host.host.description_cut(tool, &report.server_name) else {
                return Vec::new();
            };
            vec![("description", kept), ("removed", removed)]
        }
        LossKind::Keywords | LossKind::SchemaSize => {
            let sent = tool.input_schema.as_deref().unwrap_or_default();
            let shown = host.host.input_schema(&String::from_utf8_lossy(sent));
            shown
                .map(|text| ("inputSchema", text))
                .into_iter()
                .collect()
        }
        LossKind::NameCharacters | LossKind::NameLength | LossKind::SameName => {
            let name = definition().name.unwrap_or_default();
            vec![("name", name)]
        }
        LossKind::InputReference | LossKind::OutputReference => {
            let sent = match kind {
                LossKind::InputReference => &tool.input_schema,
                _ => &tool.output_schema,
            };
            let sent = sent.as_deref().unwrap_or_default();
            let reference = loupe_core::host::losses::dangling(&String::from_utf8_lossy(sent));
            reference.map(|to| ("$ref", to)).into_iter().collect()
        }
        LossKind::Pages
        | LossKind::TooManyTools
        | LossKind::BooleanSchema
        | LossKind::NoDescription
        | LossKind::Instructions => Vec::new(),
    }
}

fn loss<'a>(host: &'a HostLosses, loss: &'a HostLoss, report: &'a LossesReport) -> LossJson<'a> {
    let tools = || loss.tools.iter().filter_map(|at| report.tools.get(*at));
    let mut exact: Vec<ExactJson<'a>> = tools()
        .flat_map(|tool| {
            let parts = exact_loss(host, loss.kind, tool, report);
            parts.into_iter().map(|(what, text)| ExactJson {
                tool: &tool.name,
                what,
                text,
            })
        })
        .collect();
    if let (LossKind::Instructions, Some(sent)) = (loss.kind, &report.instructions)
        && let Some(shown) = host.host.instructions(sent)
    {
        exact.push(ExactJson {
            tool: "",
            what: "removed",
            text: sent[shown.kept..].to_owned(),
        });
    }
    LossJson {
        kind: loss.kind.name(),
        effect: loss.effect.name(),
        text: &loss.text,
        tools: tools().map(|tool| tool.name.as_str()).collect(),
        fix: loss.kind.fix(),
        evidence: loss.evidence.evidence.name(),
        checked: &loss.evidence.checked,
        source: loss.evidence.source.as_deref(),
        exact,
    }
}

/// `loupe.losses/1`, as `losses --json` prints it; hosts in the order of their lanes.
pub fn losses(report: &LossesReport) -> String {
    let hosts = report.lanes().into_iter().flatten().map(|at| {
        let host = &report.hosts[at];
        HostJson {
            id: host.host.id.as_str(),
            name: &host.host.name,
            version: &host.host.version,
            outcome: host.outcome().name(),
            losses: host
                .losses
                .iter()
                .map(|own| loss(host, own, report))
                .collect(),
            results: host
                .results
                .iter()
                .map(|own| ResultJson {
                    tool: &own.tool,
                    text: &own.text,
                })
                .collect(),
            left_out: &host.left_out,
            hidden_tools: host.hidden,
            cost: CostJson {
                listed: host.cost.listed.into(),
                passed_on: host.cost.passed_on.map(TokensJson::from),
                at_start: host.cost.at_start.map(TokensJson::from),
            },
        }
    });
    let is_late = |tool: &&std::sync::Arc<Tool>| tool.is_after_first_page;
    print(&LossesDocument {
        loupe: VERSION,
        schema: "loupe.losses/1",
        server: &report.server,
        tools: report.tools.len(),
        first_page: report.tools.len() - report.tools.iter().filter(is_late).count(),
        results: report.results,
        hosts: hosts.collect(),
    })
}

const COLUMNS: [&str; 8] = [
    "host",
    "outcome",
    "tools",
    "definitions",
    "results",
    "listed",
    "passed_on",
    "at_start",
];

/// The headline and the table, to paste.
pub fn losses_markdown(report: &LossesReport, encoding: Encoding) -> String {
    let table = losses_table(TableKind::Markdown, report, encoding);
    format!(
        "{}. {}\n\n{table}",
        escaped(&report.headline()),
        report.why()
    )
}

/// One row for each host, to paste.
pub fn losses_table(kind: TableKind, report: &LossesReport, encoding: Encoding) -> String {
    let rows = report.lanes().into_iter().flatten().map(|at| {
        let host = &report.hosts[at];
        let cell = |column| {
            let lines = host.lines(column);
            lines
                .iter()
                .map(|line| line.text())
                .collect::<Vec<_>>()
                .join("; ")
        };
        let count = |tokens: Option<Tokens>| {
            tokens.map_or_else(String::new, |tokens| tokens.get(encoding).to_string())
        };
        let [tools, definitions, results] = LossColumn::ALL.map(cell);
        [
            host.host.name.clone(),
            host.outcome().name().to_owned(),
            tools,
            definitions,
            results,
            count(Some(host.cost.listed)),
            count(host.cost.passed_on),
            count(host.cost.at_start),
        ]
    });
    match kind {
        TableKind::Csv => csv_text(COLUMNS, rows.map(|row| row.map(plain))),
        TableKind::Markdown => {
            let mut out = String::from(
                "| Host | Loses tools | Loses in definitions | Loses in results | Listed | Passed on | At start |\n|---|---|---|---|--:|--:|--:|\n",
            );
            for [host, _, cells @ ..] in rows {
                out.push_str(&format!("| {}", escaped(&host)));
                for (at, cell) in cells.iter().enumerate() {
                    let empty = match at {
                        2 if report.results == 0 => "–",
                        0..3 => "✓",
                        _ => "not known",
                    };
                    let text = if cell.is_empty() { empty } else { cell };
                    out.push_str(&format!(" | {}", escaped(text)));
                }
                out.push_str(" |\n");
            }
            out
        }
    }
}

/// A text of a server as words of a cell, in which nothing of Markdown or HTML is meant.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\\' | '|' | '<' | '[' | '`' | '*' | '_' => out.extend(['\\', char]),
            char if char.is_control() => out.push(' '),
            char => out.push(char),
        }
    }
    out
}

/// A cell that no spreadsheet takes for a formula.
fn plain(text: String) -> String {
    match text.starts_with(['=', '+', '-', '@']) {
        true => format!("'{text}"),
        false => text,
    }
}
