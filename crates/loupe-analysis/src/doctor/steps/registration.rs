//! Loupe is a client that the authorization server knows.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "registration",
    title: "Client registered",
    group: StepGroup::Login,
    applies: |evidence| evidence.has_login_step("registration"),
    look: |evidence| evidence.look("registration"),
};
