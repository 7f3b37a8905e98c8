//! The browser came back with a code.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "browser",
    title: "Logged in in the browser",
    group: StepGroup::Login,
    applies: |evidence| evidence.has_login_step("browser"),
    look: |evidence| evidence.look("browser"),
};
