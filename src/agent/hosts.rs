//! `hosts`: what each host's model is shown of a result; hosts that show the same are one entry.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::schema::{nth, page, result};
use super::tool_call::{AgentCall, PageJson, to_json};
use super::{AgentOptions, AgentTool, Reach, schema};
use loupe_analysis::queries::{HostLane, HostRow, HostsQuery, HostsReport};
use loupe_core::problem::Problem;
use loupe_core::token::Encoding;

pub(super) const TOOL: AgentTool = AgentTool {
    name: "hosts",
    title: "What each host's model is shown",
    about: "Tells what the models of known MCP hosts (Claude Code, Cursor, VS Code, Codex and others) are shown of a saved result: \
            which parts, what is cut, which fields are lost, and how many tokens (o200k_base) it costs there.",
    reach: Reach::Files,
    input,
    output: schema::output::<HostsJson>,
    run,
};

/// Fields that are named of a host that loses more.
const FIELDS: usize = 12;

fn input(_: &AgentOptions) -> Value {
    let own = [("result", result()), ("nth", nth())];
    schema::object(own.into_iter().chain(page("groups of hosts")), &["result"])
}

#[derive(JsonSchema, Serialize)]
struct HostsJson {
    summary: String,
    /// The worst first.
    #[schemars(with = "Vec<GroupJson<'static>>")]
    groups: Vec<Box<RawValue>>,
    #[serde(flatten)]
    page: PageJson,
}

#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupJson<'a> {
    outcome: &'static str,
    /// What these hosts make of the result.
    happens: String,
    /// Ids of the hosts that show the same.
    hosts: Vec<&'a str>,
    /// Of the text that is shown, of o200k_base.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    /// Facts of the data in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    facts_shown: Option<u64>,
    /// Facts of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<u64>,
    /// Fields that are not wholly shown, and how many of their facts are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lost: Vec<String>,
    /// Further fields that are not wholly shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_lost: Option<usize>,
}

fn run(ask: &AgentCall<'_>) -> Result<String, Problem> {
    let subject = ask.subject("result")?;
    let report = ask.get(&subject, &HostsQuery)?;
    let page = ask.page(report.lanes.len(), |at| group(&report, &report.lanes[at]))?;
    to_json(&HostsJson {
        summary: report.summary(Encoding::O200kBase).text(),
        groups: page.entries,
        page: page.info,
    })
}

fn group<'a>(report: &'a HostsReport, lane: &'a HostLane) -> GroupJson<'a> {
    let hosts = report.hosts_of(lane);
    let first = hosts.clone().next();
    let facts = first
        .and_then(|row| row.facts)
        .filter(|facts| facts.total > 0);
    let missing = || {
        first
            .into_iter()
            .flat_map(|row: &HostRow| row.lost.iter())
            .filter(|field| field.missing > 0)
    };
    GroupJson {
        outcome: lane.outcome.title(),
        happens: report.happens(lane),
        hosts: hosts.map(|row| row.host.id.as_str()).collect(),
        tokens: first
            .and_then(|row| row.tokens)
            .map(|tokens| tokens.o200k_base),
        facts_shown: facts.map(|facts| facts.total - facts.missing),
        facts: facts.map(|facts| facts.total),
        lost: missing()
            .take(FIELDS)
            .map(|field| format!("{}: {} of {}", field.path, field.missing, field.total))
            .collect(),
        more_lost: missing()
            .count()
            .checked_sub(FIELDS)
            .filter(|more| *more > 0),
    }
}
