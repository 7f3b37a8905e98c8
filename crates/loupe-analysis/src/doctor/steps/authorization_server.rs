//! The authorization server publishes its endpoints.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "authorization-server",
    title: "Authorization server metadata",
    group: StepGroup::Login,
    applies: |evidence| evidence.has_login_step("authorization-server"),
    look: |evidence| {
        evidence.look_published(
            "authorization-server",
            "publish it there (RFC 8414), with S256 among `code_challenge_methods_supported`",
        )
    },
};
