//! The server says which authorization server is its own.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "resource-metadata",
    title: "Resource metadata",
    group: StepGroup::Login,
    applies: |evidence| evidence.has_login_step("resource-metadata"),
    look: |evidence| {
        evidence.look_published(
            "resource-metadata",
            "publish it there, with `authorization_servers` (RFC 9728)",
        )
    },
};
