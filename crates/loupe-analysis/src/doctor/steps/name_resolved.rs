//! The host of the address is known.

use crate::doctor::{DoctorStep, Evidence, StepGroup};
use loupe_core::source::Source;

pub const STEP: DoctorStep = DoctorStep {
    id: "name-resolved",
    title: "Host name resolved",
    group: StepGroup::Http,
    applies: applies,
    look: |evidence| evidence.look("resolve"),
};

/// An address of digits needs no name.
fn applies(evidence: &Evidence<'_>) -> bool {
    let Source::Http(http) = evidence.source else {
        return false;
    };
    let is_stopped = evidence.stopped_at() == Some(STEP.id);
    is_stopped || evidence.look("resolve").is_some() || !has_digits_alone(&http.url)
}

fn has_digits_alone(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    host.starts_with('[')
        || host
            .split(':')
            .next()
            .is_some_and(|host| host.parse::<std::net::Ipv4Addr>().is_ok())
}
