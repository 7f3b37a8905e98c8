//! The hosts of a report, and `loupe.hosts-list/1`.

use serde::Serialize;

use super::{FactsJson, TokensJson, VERSION, print};
use crate::host::Hosts;
use crate::host::rules::LimitRule;
use crate::report::HostsReport;

/// One host in a report.
#[derive(Serialize)]
pub(super) struct RowJson<'a> {
    id: &'static str,
    version: &'a str,
    evidence: &'static str,
    computable: bool,
    why: Option<&'a str>,
    bytes: Option<u64>,
    tokens: Option<TokensJson>,
    truncated: Option<bool>,
    limit: &'static str,
    facts: Option<FactsJson>,
}

pub(super) fn rows(report: &HostsReport) -> Vec<RowJson<'_>> {
    report
        .rows
        .iter()
        .map(|host| {
            let (computable, state) = (host.view.is_computable(), host.view.limit.state);
            RowJson {
                id: host.host.id.as_str(),
                version: &host.host.version,
                evidence: host.host.evidence.name(),
                computable,
                why: host.view.not_computable.as_deref(),
                bytes: computable.then_some(host.bytes),
                tokens: host.tokens.map(TokensJson::from),
                truncated: state.is_truncated().filter(|_| computable),
                limit: state.name(),
                facts: host.facts.map(FactsJson::from),
            }
        })
        .collect()
}

#[derive(Serialize)]
struct ListDocument<'a> {
    loupe: &'static str,
    schema: &'static str,
    checked: &'a str,
    hosts: Vec<HostJson<'a>>,
    problems: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HostJson<'a> {
    id: &'static str,
    name: &'a str,
    kind: &'static str,
    version: &'a str,
    checked: &'a str,
    evidence: &'static str,
    source: &'a [String],
    notes: &'a str,
    shows: &'static str,
    limits: Vec<LimitJson<'a>>,
    own: bool,
    /// Whether `--as-host` can be used with it.
    as_host: bool,
}

#[derive(Serialize)]
struct LimitJson<'a> {
    unit: &'static str,
    /// `null` where it depends on the model.
    max: Option<u64>,
    setting: Option<&'a str>,
    certainty: &'a str,
}

impl<'a> LimitJson<'a> {
    fn of(rule: &'a LimitRule) -> Self {
        Self {
            unit: rule.unit.name(),
            max: (rule.max > 0).then_some(rule.max),
            setting: rule.setting.as_deref(),
            certainty: &rule.certainty,
        }
    }
}

/// `loupe.hosts-list/1`: every host that is known.
pub fn hosts_list(hosts: &Hosts) -> String {
    let listed = hosts.iter().map(|host| HostJson {
        id: host.id.as_str(),
        name: &host.name,
        kind: host.kind.name(),
        version: &host.version,
        checked: &host.checked,
        evidence: host.evidence.name(),
        source: &host.source,
        notes: &host.notes,
        shows: host.shows(),
        limits: host.limit.iter().map(LimitJson::of).collect(),
        own: host.is_own,
        as_host: host.client.is_some(),
    });
    print(&ListDocument {
        loupe: VERSION,
        schema: "loupe.hosts-list/1",
        checked: &hosts.checked,
        hosts: listed.collect(),
        problems: hosts.problems.iter().map(|problem| problem.message()).collect(),
    })
}
