//! The command is a file that may be run, with its interpreter.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "command-found",
    title: "Command found",
    group: StepGroup::Start,
    applies: |evidence| evidence.is_command(),
    look: |evidence| evidence.look("find the program"),
};
