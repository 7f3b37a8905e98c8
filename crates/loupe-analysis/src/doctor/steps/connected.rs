//! Something listens at host and port.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "connected",
    title: "Connected",
    group: StepGroup::Http,
    applies: |evidence| evidence.is_http(),
    look: |evidence| evidence.look("connect"),
};
