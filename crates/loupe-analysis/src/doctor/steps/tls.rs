//! The certificate is valid for this host and trusted here.

use crate::doctor::{DoctorStep, StepGroup};
use loupe_core::source::Source;

pub const STEP: DoctorStep = DoctorStep {
    id: "tls",
    title: "TLS",
    group: StepGroup::Http,
    applies: |evidence| matches!(evidence.source, Source::Http(http) if http.url.starts_with("https:")),
    look: |evidence| evidence.look("TLS"),
};
