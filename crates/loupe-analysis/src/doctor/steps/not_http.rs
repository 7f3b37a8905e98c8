//! The process speaks on its pipes, and not on a port.

use crate::doctor::{ConnectionEvidence, DoctorStep, Look, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "not-http",
    title: "No HTTP server behind the command",
    group: StepGroup::Start,
    applies: |evidence| evidence.is_command(),
    look,
};

fn look(evidence: &ConnectionEvidence<'_>) -> Option<Look> {
    evidence.first_message().map(|_| Look {
        received: "it answers on standard output".into(),
        ..Look::default()
    })
}
