//! What HTTP carries is JSON-RPC.

use crate::doctor::{ConnectionEvidence, DoctorStep, Look, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "content",
    title: "The body is a message",
    group: StepGroup::Http,
    applies: |evidence| evidence.is_http(),
    look,
};

fn look(evidence: &ConnectionEvidence<'_>) -> Option<Look> {
    evidence.first_message().map(|line| Look {
        received: format!("{} B of JSON-RPC", line.bytes.len()),
        took: Some(line.at),
        ..Look::default()
    })
}
