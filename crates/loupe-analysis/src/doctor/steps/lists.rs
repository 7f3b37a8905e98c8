//! Each list that the server declares comes whole.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "lists",
    title: "Lists answered, pages end",
    group: StepGroup::Protocol,
    applies: |_| true,
    look: |evidence| {
        evidence.look_at_all(
            "lists",
            "answer each list that the server declares, and end it without `nextCursor`",
        )
    },
};
