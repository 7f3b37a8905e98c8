//! The hosts of a report, and `loupe.hosts-list/1`.

use serde::Serialize;

use crate::contract::{FactsJson, TokensJson, VERSION, print};
use crate::queries::{Confirmed, HostsReport};
use loupe_core::host::rules::LimitRule;
use loupe_core::host::{Host, Hosts};

/// One host in a report.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
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
    media: Option<MediaJson>,
    /// What becomes of the images and audio, the worst of them.
    media_outcome: Option<&'static str>,
    /// Of the tool's definition as the model sees it; `null` where it is not known.
    definition_tokens: Option<TokensJson>,
}

/// Images and audio, in bytes of the decoded data.
#[derive(Serialize)]
struct MediaJson {
    shown: u64,
    #[serde(rename = "asText")]
    as_text: u64,
    dropped: u64,
}

pub(super) fn rows(report: &HostsReport) -> Vec<RowJson<'_>> {
    report
        .sorted()
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
                media: computable.then_some(MediaJson {
                    shown: host.media.shown,
                    as_text: host.media.as_text,
                    dropped: host.media.dropped,
                }),
                media_outcome: host
                    .media_counts
                    .worst()
                    .map(crate::queries::MediaOutcome::name),
                definition_tokens: host.definition_tokens.map(TokensJson::from),
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
    /// By transcripts of this machine.
    confirmed: Vec<ConfirmedJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct ConfirmedJson<'a> {
    version: Option<&'a str>,
    date: &'a str,
    calls: usize,
}

impl<'a> ConfirmedJson<'a> {
    pub(super) fn new(confirmed: &'a Confirmed) -> Self {
        Self {
            version: confirmed.version.as_deref(),
            date: &confirmed.date,
            calls: confirmed.calls,
        }
    }
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
    fn new(rule: &'a LimitRule) -> Self {
        Self {
            unit: rule.unit.name(),
            max: (rule.max > 0).then_some(rule.max),
            setting: rule.setting.as_deref(),
            certainty: &rule.certainty,
        }
    }
}

/// `loupe.hosts-list/1`: every host that is known.
pub fn hosts_list(hosts: &Hosts, confirmed: &[Confirmed]) -> String {
    list(hosts, hosts.iter().map(AsRef::as_ref), confirmed)
}

/// The same with one host alone.
pub fn host(hosts: &Hosts, host: &Host, confirmed: &[Confirmed]) -> String {
    list(hosts, std::iter::once(host), confirmed)
}

fn list<'a>(
    hosts: &Hosts,
    shown: impl Iterator<Item = &'a Host>,
    confirmed: &[Confirmed],
) -> String {
    let listed = shown.map(|host| HostJson {
        id: host.id.as_str(),
        name: &host.name,
        kind: host.kind.name(),
        version: &host.version,
        checked: &host.checked,
        evidence: host.evidence.name(),
        source: &host.source,
        notes: &host.notes,
        shows: host.shows(),
        limits: host.limit.iter().map(LimitJson::new).collect(),
        own: host.is_own,
        as_host: host.client.is_some(),
        confirmed: confirmed
            .iter()
            .filter(|confirmed| confirmed.host == host.id.as_str())
            .map(ConfirmedJson::new)
            .collect(),
    });
    print(&ListDocument {
        loupe: VERSION,
        schema: "loupe.hosts-list/1",
        checked: &hosts.checked,
        hosts: listed.collect(),
        problems: hosts
            .problems
            .iter()
            .map(|problem| problem.message())
            .collect(),
    })
}
