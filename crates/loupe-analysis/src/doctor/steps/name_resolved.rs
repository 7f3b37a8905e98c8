//! The host of the address is known.

use crate::doctor::{ConnectionEvidence, DoctorStep, StepGroup};
use loupe_core::source::Source;

pub const STEP: DoctorStep = DoctorStep {
    id: "name-resolved",
    title: "Host name resolved",
    group: StepGroup::Http,
    applies,
    look: |evidence| evidence.look("resolve"),
};

/// An address of digits needs no name.
fn applies(evidence: &ConnectionEvidence<'_>) -> bool {
    let Source::Http(http) = evidence.source else {
        return false;
    };
    let is_stopped = evidence.stopped_at() == Some(STEP.id);
    is_stopped || evidence.look("resolve").is_some() || !has_digits_alone(&http.url)
}

fn has_digits_alone(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let is_address = |part: &str| part.parse::<u8>().is_ok();
    let name = host.split(':').next().unwrap_or_default();
    host.starts_with('[') || (name.split('.').count() == 4 && name.split('.').all(is_address))
}
