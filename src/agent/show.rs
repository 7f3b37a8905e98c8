//! `show`: what a saved result costs in every format, or one of its texts line by line.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::schema::{nth, page, result, sent_as, text};
use super::tool_call::{AgentCall, PageJson, to_json};
use super::{AgentOptions, AgentTool, Reach, schema};
use loupe_analysis::queries::{
    self, DisplayLine, HostTextQuery, HostsQuery, RepairQuery, RowQuery, TextQuery,
};
use loupe_analysis::summary::{ModelReads, summarise};
use loupe_core::capture::Outcome;
use loupe_core::format::ledger::{Row, default_baseline, ratio};
use loupe_core::format::{self, FORMATS, ParsedCapture};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::suggest;
use loupe_core::token::{Encoding, Tokenizer};

pub(super) const TOOL: AgentTool = AgentTool {
    name: "show",
    title: "Show a result",
    about: "Shows a saved result of an MCP tool. Without `view`: how many tokens (o200k_base) it costs as it was sent and in every \
            other format, and what each format would lose. With `view`: the exact lines of one text.",
    reach: Reach::Files,
    input,
    output: schema::output::<ShownJson<'static>>,
    run,
};

fn input(_: &AgentOptions) -> Value {
    let ids: Vec<_> = FORMATS.iter().map(|format| format.id()).collect();
    let view = format!(
        "Which text to show: one of {}; or host:ID for what that host's model is shown, such as host:claude-code",
        ids.join(", ")
    );
    let own = [
        ("result", result()),
        ("nth", nth()),
        ("view", text(&view)),
        ("sentAs", sent_as()),
    ];
    schema::object(own.into_iter().chain(page("lines of a view")), &["result"])
}

#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownJson<'a> {
    summary: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    tool: &'a str,
    outcome: &'static str,
    /// Where the data of the result was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    /// Formats that apply, those that were sent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    formats: Vec<FormatJson>,
    #[serde(flatten)]
    view: Option<ViewJson>,
}

#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct FormatJson {
    format: &'static str,
    /// Tokens of o200k_base.
    tokens: u64,
    /// Tokens over those of compact JSON; of the text, where there is no data.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    /// Facts of the data that this text does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_facts: Option<u64>,
    /// Whether reading the text back gives the same data.
    #[serde(skip_serializing_if = "Option::is_none")]
    comes_back: Option<bool>,
    /// What it loses, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(JsonSchema, Serialize)]
struct ViewJson {
    view: String,
    /// Of the whole view, of o200k_base.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    /// Number and text; a long line is cut into several, of which only the first has a number.
    #[schemars(with = "Vec<String>")]
    lines: Vec<Box<RawValue>>,
    #[serde(flatten)]
    page: PageJson,
}

fn run(ask: &AgentCall<'_>) -> Result<String, Problem> {
    let subject = ask.subject("result")?;
    let capture = &subject.capture;
    let mut shown = ShownJson {
        summary: String::new(),
        tool: &capture.tool.name,
        outcome: capture.outcome.name(),
        data: None,
        formats: Vec::new(),
        view: None,
    };
    match ask.text("view") {
        Some(view) => {
            let (text, lines, tokens) = text_of(ask, &subject, &view)?;
            let page = ask.page(lines.len(), |at| number_line(&text, &lines[at]))?;
            let (from, to) = (page.range.start + 1, page.range.end);
            shown.summary = format!("{view}: lines {from} to {to} of {}", lines.len());
            shown.view = Some(ViewJson {
                view: view.into_owned(),
                tokens,
                lines: page.entries,
                page: page.info,
            });
        }
        None => {
            let rows = rows(ask, &subject)?;
            shown.summary = summary(ask, &subject, &rows)?;
            shown.data = subject
                .data
                .as_ref()
                .map(loupe_core::capture::ResultData::origin_text);
            shown.formats = formats(&rows);
        }
    }
    to_json(&shown)
}

/// Every format. The sentence is made of those that do not apply too: they say what was sent.
pub(super) fn rows(
    ask: &AgentCall<'_>,
    subject: &Arc<ParsedCapture>,
) -> Result<Vec<Arc<Row>>, Problem> {
    FORMATS
        .iter()
        .map(|format| ask.get(subject, &RowQuery(format.id())))
        .collect()
}

/// What became of the call, and the sentence above the ledger.
pub(super) fn summary(
    ask: &AgentCall<'_>,
    subject: &Arc<ParsedCapture>,
    rows: &[Arc<Row>],
) -> Result<String, Problem> {
    let rows: Vec<_> = rows.iter().map(AsRef::as_ref).collect();
    let choice = ask.reads()?;
    let report = choice
        .host()
        .map(|_| ask.get(subject, &HostsQuery))
        .transpose()?;
    let reads = ModelReads::new(
        choice,
        ask.hosts(),
        report.as_deref(),
        &Tokenizer::Encoding(Encoding::O200kBase),
    );
    let repair = ask.get(subject, &RepairQuery)?;
    let sentence = summarise(&rows, reads, Encoding::O200kBase, repair.as_deref())
        .map(|summary| summary.text());
    Ok(match (queries::failure(subject), subject.capture.outcome) {
        (Some(problem), _) => format!("No result: {}.", problem.what),
        (None, Outcome::ToolError) => format!(
            "The tool answered with isError. {}",
            sentence.unwrap_or_default()
        )
        .trim_end()
        .to_owned(),
        (None, _) => sentence.unwrap_or_else(|| "The result has no text and no data.".to_owned()),
    })
}

fn formats(rows: &[Arc<Row>]) -> Vec<FormatJson> {
    let all: Vec<_> = rows.iter().map(AsRef::as_ref).collect();
    let baseline = default_baseline(&all);
    let base = rows.iter().find(|row| row.format == baseline);
    let of = |row: &Arc<Row>| FormatJson {
        format: row.format,
        tokens: row.tokens.o200k_base,
        ratio: base
            .and_then(|base| ratio(row, base, Encoding::O200kBase))
            .map(|ratio| (ratio * 100.0).round() / 100.0),
        missing_facts: row.facts.map(|facts| facts.missing),
        comes_back: row
            .round_trip
            .as_ref()
            .map(|trip| trip.fidelity.is_lossless()),
        note: row.round_trip.as_ref().and_then(|trip| trip.summary()),
    };
    rows.iter()
        .filter(|row| row.is_available())
        .map(of)
        .collect()
}

/// A text with its lines, and its tokens where they are counted.
type Text = (Arc<str>, Vec<DisplayLine>, Option<u64>);

/// The text of a format, or what a host's model is shown.
pub(super) fn text_of(
    ask: &AgentCall<'_>,
    subject: &Arc<ParsedCapture>,
    view: &str,
) -> Result<Text, Problem> {
    let hosts = &ask.agent.options.hosts;
    if let Some(id) = view.strip_prefix("host:") {
        let host = hosts.get(id).ok_or_else(|| {
            unknown(
                view,
                hosts.iter().map(|host| host.id.as_str()),
                "`hosts` lists them",
            )
        })?;
        let text = ask.get(subject, &HostTextQuery(host.id))?;
        return match &text.view.not_computable {
            Some(why) => Err(Problem::new(ProblemKind::Usage, why.clone()).at(view)),
            None => Ok((Arc::clone(&text.view.text), text.lines.clone(), None)),
        };
    }
    let ids = || FORMATS.iter().map(|format| format.id());
    let Some(format) = format::by_id(view) else {
        return Err(unknown(
            view,
            ids(),
            &format!(
                "one of {}, or host:ID",
                ids().collect::<Vec<_>>().join(", ")
            ),
        ));
    };
    let text = ask.get(subject, &TextQuery(format.id()))?;
    let row = ask.get(subject, &RowQuery(format.id()))?;
    Ok((
        Arc::clone(&text.text),
        text.lines.clone(),
        Some(row.tokens.o200k_base),
    ))
}

fn unknown<'a>(view: &str, known: impl Iterator<Item = &'a str>, otherwise: &str) -> Problem {
    let wanted = view.strip_prefix("host:").unwrap_or(view);
    let hint = suggest::hint(wanted, known).unwrap_or_else(|| otherwise.to_owned());
    Problem::new(ProblemKind::Arguments, "there is no such view")
        .at(view)
        .hint(hint)
}

/// A line behind its number, as editors for agents show it.
pub(super) fn number_line(text: &str, line: &DisplayLine) -> String {
    let number = line
        .number
        .map(|number| number.to_string())
        .unwrap_or_default();
    format!("{number}\t{}", &text[line.range.clone()])
}
