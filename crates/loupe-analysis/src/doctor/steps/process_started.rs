//! The system started the process.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "process-started",
    title: "Process started",
    group: StepGroup::Start,
    applies: |evidence| evidence.is_command(),
    look: |evidence| evidence.look("start"),
};
