//! The authorization server gave a token, and the server takes it.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "token",
    title: "Token",
    group: StepGroup::Login,
    applies: |evidence| evidence.has_login_step("token"),
    look: |evidence| evidence.look("token"),
};
