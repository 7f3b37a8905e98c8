//! `compare`: saved results to the same question side by side, or one call over the values of an argument.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::schema::{arguments, list, result, sent_as, source, text};
use super::tool_call::{AgentCall, to_json};
use super::{AgentOptions, AgentTool, Reach, schema};
use loupe_analysis::queries::comparison::{
    Column, ColumnOrigin, Comparison, ComparisonPlan, ComparisonQuery, Field, argument_names,
    choices, format_argument,
};
use loupe_analysis::summary::comparison_summary;
use loupe_core::capture::Tool;
use loupe_core::format::ParsedCapture;
use loupe_core::format::ledger::ratio;
use loupe_core::json::write;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::Encoding;

pub(super) const TOOL: AgentTool = AgentTool {
    name: "compare",
    title: "Compare results side by side",
    about: "Puts results to the same question side by side, such as those of one tool in several formats: tokens (o200k_base), facts kept, \
            fields that are lost, and what formats that nobody sent would cost.",
    reach: Reach::Calls,
    input,
    output: schema::output::<ComparedJson>,
    run,
};

/// Answers that are compared at once.
const MOST: usize = 8;
/// Fields that are named of a result that lacks more, and how much of a name.
const FIELDS: usize = 4;
const FIELD_CHARS: usize = 60;

fn input(options: &AgentOptions) -> Value {
    let mut results = list(
        "Saved results to the same question, the first of which the others are compared with",
        result(),
    );
    results["minItems"] = 2.into();
    results["maxItems"] = MOST.into();
    if options.sources.is_empty() {
        return schema::object([("results", results), ("sentAs", sent_as())], &["results"]);
    }
    schema::object(
        [
            ("results", results),
            ("sentAs", sent_as()),
            (
                "source",
                source(
                    options,
                    "The server whose tool is called, in place of results",
                ),
            ),
            ("tool", text("The tool that is called once for each value")),
            ("arguments", arguments("The other arguments of these calls")),
            (
                "vary",
                text("The argument that differs; left out, the one that chooses a format"),
            ),
            (
                "values",
                text(
                    "Its values, with commas between them or as a JSON array; left out, those that the tool's schema lists",
                ),
            ),
        ],
        &[],
    )
}

#[derive(JsonSchema, Serialize)]
struct ComparedJson {
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    varies: Option<String>,
    /// Results in their order, then formats that nobody sent.
    columns: Vec<ColumnJson>,
}

#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct ColumnJson {
    title: String,
    /// The name it can be opened by; absent of a format that nobody sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    outcome: &'static str,
    /// Tokens of o200k_base.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    /// Tokens over those of the first result.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    /// Facts of the data that are proved or found in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    facts_told: Option<u64>,
    /// Facts of the data of the result that says most.
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<u64>,
    /// Fields of which it loses a fact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lacks: Vec<String>,
    /// Further fields of which it loses a fact.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_lacks: Option<usize>,
    /// Why there is nothing to compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// What is compared: which argument differs, its values as JSON texts, and each result with its name.
struct Compared {
    vary: Option<String>,
    values: Vec<String>,
    results: Vec<(String, Arc<ParsedCapture>)>,
}

fn run(ask: &AgentCall<'_>) -> Result<String, Problem> {
    let saved = ask.texts("results");
    let compared = match (saved.is_empty(), ask.text("source"), ask.text("tool")) {
        (false, None, _) => {
            let open =
                |name: &str| Ok::<_, Problem>((name.to_owned(), ask.agent.subject(name, None)?));
            let results = saved
                .iter()
                .map(|name| open(name))
                .collect::<Result<Vec<_>, _>>()?;
            Compared {
                vary: None,
                values: saved.iter().map(|name| write::string(name)).collect(),
                results,
            }
        }
        (true, Some(_), Some(_)) => call_all(ask)?,
        _ => {
            return Err(Problem::new(
                ProblemKind::Arguments,
                "either `results`, or `source` and `tool` are needed",
            )
            .hint("give `results` for saved ones, `source` and `tool` for calls"));
        }
    };
    let subjects: Vec<_> = compared
        .results
        .iter()
        .map(|(_, subject)| Arc::clone(subject))
        .collect();
    // Saved results to one question differ in their form alone; whether they hold the same records is found out.
    let vary = compared.vary.clone().unwrap_or_else(|| "format".to_owned());
    let query = ComparisonQuery {
        vary: Some(vary.into()),
        values: compared.values.into(),
        reads: ask.reads()?,
        ..ComparisonQuery::default()
    };
    let calls = ask.finish_counting(query.calls(&subjects, ask.jobs()))?;
    let found = ask.finish_counting(Comparison::of(&query, &calls, ask.hosts(), ask.jobs()))?;
    to_json(&ComparedJson {
        summary: format!(
            "{}{}",
            several_tools(&subjects),
            comparison_summary(&found, None).text()
        ),
        varies: compared.vary,
        columns: found
            .columns
            .iter()
            .map(|column| column_json(&found, column, &compared.results))
            .collect(),
    })
}

/// That the results are of several tools, where they are.
fn several_tools(subjects: &[Arc<ParsedCapture>]) -> String {
    let names: BTreeSet<&str> = subjects
        .iter()
        .map(|subject| subject.capture.tool.name.as_str())
        .filter(|name| !name.is_empty())
        .collect();
    let names: Vec<_> = names.into_iter().collect();
    if names.len() < 2 {
        String::new()
    } else {
        format!("Answers of different tools: {}. ", names.join(", "))
    }
}

fn call_all(ask: &AgentCall<'_>) -> Result<Compared, Problem> {
    ask.with_session(async |session| {
        let tool = ask.tool(session).await?;
        let vary = match ask.text("vary") {
            Some(vary) => vary.into_owned(),
            None => {
                format_argument(&tool)
                    .ok_or_else(|| nothing_to_vary(&tool))?
                    .name
            }
        };
        let plan = ComparisonPlan::new(
            &tool,
            &vary,
            ask.text("values").as_deref(),
            &ask.arguments(),
        )?;
        if plan.values.len() > MOST {
            return Err(Problem::new(
                ProblemKind::Arguments,
                format!(
                    "{} calls at once, and {MOST} are the most",
                    plan.values.len()
                ),
            )
            .at("values")
            .hint("nothing was called; give fewer `values`"));
        }
        let mut results = Vec::new();
        for arguments in plan.arguments {
            results.push(ask.call(session, &tool, arguments).await?);
        }
        Ok(Compared {
            vary: Some(vary),
            values: plan.values,
            results,
        })
    })
}

fn nothing_to_vary(tool: &Tool) -> Problem {
    let listed: Vec<_> = choices(tool)
        .into_iter()
        .map(|choice| choice.name)
        .collect();
    let names = argument_names(tool);
    let hint = match (listed.is_empty(), names.is_empty()) {
        (false, _) => format!("give as `vary` one of {}", listed.join(", ")),
        (true, false) => format!("give `vary`, one of {}, and `values`", names.join(", ")),
        (true, true) => "it takes no arguments; `call` and `show` tell what its one result costs in every format".to_owned(),
    };
    Problem::new(
        ProblemKind::Arguments,
        "no argument of this tool chooses a format",
    )
    .at(tool.name.clone())
    .hint(hint)
}

fn column_json(
    found: &Comparison,
    column: &Column,
    results: &[(String, Arc<ParsedCapture>)],
) -> ColumnJson {
    let is_measured = column.row.is_available() && !column.row.format.is_empty();
    let row = Some(&column.row).filter(|_| is_measured);
    let base = found.baseline.and_then(|at| found.column_of(at));
    let missing = || found.missing(column).filter(|_| column.is_answer());
    let field = |(field, lost): (&Field, u64)| {
        let name: String = field.pattern.chars().take(FIELD_CHARS).collect();
        format!("{name}: {lost} of {}", field.total)
    };
    ColumnJson {
        title: column.title.clone(),
        result: match column.origin {
            ColumnOrigin::Call(at) => results.get(at).map(|(name, _)| name.clone()),
            ColumnOrigin::Derived(_) => None,
        },
        outcome: column.outcome.name(),
        tokens: row.map(|row| row.tokens.o200k_base),
        ratio: row
            .zip(base)
            .and_then(|(row, base)| ratio(row, &base.row, Encoding::O200kBase))
            .map(|ratio| (ratio * 100.0).round() / 100.0),
        facts_told: column.facts.map(|facts| facts.told()),
        facts: column.facts.map(|facts| facts.total),
        lacks: missing().take(FIELDS).map(field).collect(),
        more_lacks: missing()
            .count()
            .checked_sub(FIELDS)
            .filter(|more| *more > 0),
        why: column.why.clone(),
    }
}
