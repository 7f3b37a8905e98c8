//! The process did not end before it answered.

use crate::doctor::{ConnectionEvidence, DoctorStep, Look, StepGroup};
use loupe_core::problem::ProblemKind;

pub const STEP: DoctorStep = DoctorStep {
    id: "still-running",
    title: "Still running",
    group: StepGroup::Start,
    applies: |evidence| evidence.is_command(),
    look,
};

/// A message shows that it runs, and so does a wait that ended without an end of the process.
fn look(evidence: &ConnectionEvidence<'_>) -> Option<Look> {
    let is_silent = evidence
        .problem
        .is_some_and(|problem| problem.kind == ProblemKind::Timeout);
    let first = evidence.first_message().map(|line| line.at);
    (first.is_some() || is_silent).then(|| Look {
        received: match first {
            Some(_) => "it runs and answers".to_owned(),
            None => "it runs, and is silent".to_owned(),
        },
        took: first,
        ..Look::default()
    })
}
