//! `check`: what the rules find in a result, in a saved list of tools, or in what a server lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::open::MOST_BYTES;
use super::schema::{nth, page, result, sent_as, source, text};
use super::tool_call::{AgentCall, PageJson, to_json};
use super::{AgentOptions, AgentTool, Reach, schema};
use crate::store;
use loupe_analysis::contract::{CheckOutcome, CheckedFinding, finding_sentence};
use loupe_analysis::finding::{CheckedServer, Checker, Finding, FindingsQuery, rules};
use loupe_core::capture::{ServerLists, Tool, listed_tools};
use loupe_core::number::grouped;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token;

pub(super) const TOOL: AgentTool = AgentTool {
    name: "check",
    title: "Check a result or a server's definitions",
    about: "Checks for problems with hosts, models and the MCP specification, with a fix for each: in a saved result with its \
            tool's definition, in a saved list of tools, or in what an allowed server lists (tools, resources, prompts, instructions). \
            It calls no tool.",
    reach: Reach::Lists,
    input,
    output: schema::output::<CheckedJson>,
    run,
};

fn input(options: &AgentOptions) -> Value {
    let mut own = vec![("result", result()), ("nth", nth()), ("sentAs", sent_as())];
    let tool = text("Only findings about this tool, resource or prompt");
    if options.sources.is_empty() {
        own.push(("tool", tool));
        return schema::object(own.into_iter().chain(page("findings")), &["result"]);
    }
    own.push((
        "source",
        source(
            options,
            "The server whose definitions are checked, in place of a result",
        ),
    ));
    own.push(("tool", tool));
    schema::object(own.into_iter().chain(page("findings")), &[])
}

#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckedJson {
    summary: String,
    /// What the definitions cost as listed, of o200k_base.
    #[serde(skip_serializing_if = "Option::is_none")]
    definition_tokens: Option<u64>,
    /// The most severe first.
    #[schemars(with = "Vec<FoundJson>")]
    findings: Vec<Box<RawValue>>,
    /// How to fix it, by rule.
    fixes: BTreeMap<&'static str, &'static str>,
    #[serde(flatten)]
    page: PageJson,
}

#[derive(JsonSchema, Serialize)]
struct FoundJson {
    severity: &'static str,
    rule: &'static str,
    message: String,
    /// Part and JSON Pointer of the first place.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

fn run(ask: &AgentCall<'_>) -> Result<String, Problem> {
    let (mut found, tools) = match (ask.text("result"), ask.text("source")) {
        (Some(result), None) => match saved_tools(ask, &result)? {
            Some(lists) => (of_lists(ask, &lists)?, Some(lists.tools)),
            None => {
                let found = ask.get(
                    &ask.subject("result")?,
                    &FindingsQuery {
                        settings: Arc::clone(&ask.agent.options.rules),
                        reads: ask.reads()?,
                    },
                )?;
                (found.findings.clone(), None)
            }
        },
        (None, Some(_)) => {
            let lists = ask.with_session(async |session| {
                Ok(session.lists(|| ask.time_left(), |_| {}).await?)
            })?;
            (of_lists(ask, &lists)?, Some(lists.tools))
        }
        _ => {
            return Err(Problem::new(
                ProblemKind::Arguments,
                "one of `result` and `source` is needed",
            )
            .hint("give `result` for a saved result, `source` for what a server lists"));
        }
    };
    if let Some(wanted) = ask.text("tool") {
        found.retain(|finding| finding.subject == wanted);
    }
    let page = ask.page(found.len(), |at| finding_json(&found[at]))?;
    let fixes = found[page.range]
        .iter()
        .map(|finding| (finding.rule.id, finding.rule.fix))
        .collect();
    let mut definition_tokens = None;
    for tool in tools.iter().flatten() {
        ask.finish_counting(ask.jobs().check())?;
        let tokens = token::count(&String::from_utf8_lossy(&tool.raw)).o200k_base;
        definition_tokens = Some(definition_tokens.unwrap_or(0) + tokens);
    }
    let checked = found.into_iter().map(|finding| CheckedFinding {
        finding,
        file: None,
        is_new: true,
    });
    let counts = CheckOutcome {
        findings: checked.collect(),
        ..CheckOutcome::default()
    }
    .counts();
    to_json(&CheckedJson {
        summary: format!("{counts} in {} checks", grouped(rules().count() as u64)),
        definition_tokens: definition_tokens.or(tools.map(|_| 0)),
        findings: page.entries,
        fixes,
        page: page.info,
    })
}

fn finding_json(finding: &Finding) -> FoundJson {
    let place = finding.places.first();
    FoundJson {
        severity: finding.severity.name(),
        rule: finding.rule.id,
        message: finding_sentence(finding),
        at: place.map(|place| format!("{}{}", place.part.name(), place.path)),
    }
}

fn of_lists(ask: &AgentCall<'_>, lists: &ServerLists) -> Result<Vec<Finding>, Problem> {
    let options = &ask.agent.options;
    let checker = Checker {
        settings: &options.rules,
        hosts: &options.hosts,
    };
    ask.finish_counting(checker.server(&CheckedServer::new(lists), ask.jobs()))
}

/// The tools of a file that lists some; `None` of any other result.
fn saved_tools(ask: &AgentCall<'_>, result: &str) -> Result<Option<ServerLists>, Problem> {
    Ok(tools_of(ask, result)?.map(|tools| ServerLists {
        tools: tools.into_iter().map(Arc::new).collect(),
        ..ServerLists::default()
    }))
}

/// The same, for whoever compares two.
pub(super) fn tools_of(ask: &AgentCall<'_>, result: &str) -> Result<Option<Vec<Tool>>, Problem> {
    if result.starts_with("call:") {
        return Ok(None);
    }
    let path = ask.agent.place(result)?;
    if !path.is_file() {
        return Ok(None);
    }
    Ok(listed_tools(&Bytes::from(store::read_file(
        &path, MOST_BYTES,
    )?)))
}
