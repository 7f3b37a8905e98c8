//! A tool without required arguments was called; only on request.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "first-call",
    title: "One read-only tool answers",
    group: StepGroup::FirstResult,
    applies: |_| true,
    look: |evidence| {
        evidence.look_at_all(
            "call",
            "call it in Loupe: the error card has the whole answer",
        )
    },
};
