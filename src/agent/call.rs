//! `call`: one call of a tool of an allowed server, and how its result begins.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::schema::{arguments, sent_as, source, text};
use super::show::{number_line, rows, summary, text_of};
use super::tool_call::{AgentCall, to_json};
use super::{AgentOptions, AgentTool, Reach, schema};
use loupe_analysis::queries;
use loupe_core::number::milliseconds;
use loupe_core::problem::Problem;

pub(super) const TOOL: AgentTool = AgentTool {
    name: "call",
    title: "Call a tool of a server",
    about: "Starts an allowed server, calls one of its tools, and tells what its result costs and how it begins. The result is kept: give \
            its name to `show`, `hosts`, `check`, `diff` or `compare`.",
    reach: Reach::OnlyCalls,
    input,
    output: schema::output::<CalledJson>,
    run,
};

fn input(options: &AgentOptions) -> Value {
    schema::object(
        [
            ("source", source(options, "The server")),
            ("tool", text("The tool's name")),
            (
                "arguments",
                arguments("Its arguments, which go out exactly as written; without them {}"),
            ),
            ("sentAs", sent_as()),
        ],
        &["source", "tool"],
    )
}

#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct CalledJson {
    summary: String,
    /// The name the result is kept under.
    result: String,
    outcome: &'static str,
    /// From the request to the response.
    elapsed_ms: f64,
    /// The part of the result that the lines are of.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<&'static str>,
    /// How it begins: number and text of each line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    lines: Vec<Box<RawValue>>,
    /// Lines of that part in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_all: Option<usize>,
}

fn run(ask: &AgentCall<'_>) -> Result<String, Problem> {
    let (result, subject) = ask.with_session(async |session| {
        let tool = ask.tool(session).await?;
        ask.call(session, &tool, ask.arguments()).await
    })?;
    if let Some(problem) = queries::failure(&subject) {
        return Err(problem.hint(format!(
            "what came is kept as {result}; `show` with the view `wire` has its exact text"
        )));
    }
    let capture = &subject.capture;
    let rows = rows(ask, &subject)?;
    let view = ["content", "structured"].into_iter().find(|id| {
        rows.iter()
            .any(|row| row.format == *id && row.is_available())
    });
    let text = view.map(|view| text_of(ask, &subject, view)).transpose()?;
    let page = text
        .map(|(text, lines, _)| ask.page(lines.len(), |at| number_line(&text, &lines[at])))
        .transpose()?;
    to_json(&CalledJson {
        summary: summary(ask, &subject, &rows)?,
        result,
        outcome: capture.outcome.name(),
        elapsed_ms: (milliseconds(capture.timings.total()) * 10.0).round() / 10.0,
        view,
        in_all: page.as_ref().map(|page| page.in_all()),
        lines: page.map(|page| page.entries).unwrap_or_default(),
    })
}
