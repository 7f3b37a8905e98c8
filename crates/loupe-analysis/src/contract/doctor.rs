//! `loupe.doctor/1`: why a server does not work here.

use serde::Serialize;

use crate::contract::{VERSION, non_empty, print};
use crate::doctor::{DoctorReport, StepReport};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DoctorDocument<'a> {
    loupe: &'static str,
    schema: &'static str,
    /// Nothing failed; `warn` passes.
    passed: bool,
    /// What is wrong, or that nothing is, in one sentence.
    headline: String,
    /// `null` where it never answered.
    server: Option<ServerJson<'a>>,
    source: &'a str,
    steps: Vec<StepJson<'a>>,
    stderr: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerJson<'a> {
    name: &'a str,
    version: &'a str,
    protocol_version: &'a str,
    transport: &'a str,
}

#[derive(Serialize)]
struct StepJson<'a> {
    id: &'static str,
    title: &'static str,
    /// `pass`, `warn`, `fail` or `not-reached`.
    status: &'static str,
    cause: Option<&'a str>,
    fix: Option<&'a str>,
    /// A line to paste, and where: `entry`, `terminal` or `server`.
    paste: Option<PasteJson<'a>>,
    sent: Option<&'a str>,
    received: Option<&'a str>,
    ms: Option<f64>,
}

#[derive(Serialize)]
struct PasteJson<'a> {
    place: &'static str,
    text: &'a str,
}

/// The document of a report.
pub fn doctor(report: &DoctorReport) -> String {
    print(&DoctorDocument {
        loupe: VERSION,
        schema: "loupe.doctor/1",
        passed: report.failed().is_none(),
        headline: report.headline(),
        server: report.server.as_ref().map(|server| ServerJson {
            name: &server.name,
            version: &server.version,
            protocol_version: &server.protocol_version,
            transport: &server.transport,
        }),
        source: &report.source,
        steps: report.steps.iter().map(step).collect(),
        stderr: &report.stderr,
    })
}

fn step(report: &StepReport) -> StepJson<'_> {
    StepJson {
        id: report.id,
        title: report.title,
        status: report.status.into(),
        cause: non_empty(&report.cause),
        fix: non_empty(&report.fix),
        paste: report.paste.as_ref().map(|paste| PasteJson {
            place: paste.place.into(),
            text: &paste.text,
        }),
        sent: non_empty(&report.sent),
        received: non_empty(&report.received),
        ms: report
            .took
            .map(|took| (took.as_secs_f64() * 100_000.0).round() / 100.0),
    }
}
