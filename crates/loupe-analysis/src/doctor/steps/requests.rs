//! Each request gets one answer, under its own id.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "requests",
    title: "Ping answered, unknown method refused",
    group: StepGroup::Protocol,
    applies: |_| true,
    look: |evidence| {
        evidence.look_at_all(
            "requests",
            "answer each request with a result or an error, under its own id",
        )
    },
};
