//! The server says how to log in.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "challenge",
    title: "Login asked for",
    group: StepGroup::Login,
    applies: |evidence| evidence.has_login_step("challenge"),
    look: |evidence| {
        evidence.look_published(
            "challenge",
            "answer 401 with `WWW-Authenticate: Bearer resource_metadata=\"…\"` (RFC 9728)",
        )
    },
};
