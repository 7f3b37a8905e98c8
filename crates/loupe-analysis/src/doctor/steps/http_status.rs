//! The endpoint answers a POST.

use crate::doctor::{DoctorStep, StepGroup};

pub const STEP: DoctorStep = DoctorStep {
    id: "http-status",
    title: "HTTP answer",
    group: StepGroup::Http,
    applies: |evidence| evidence.is_http(),
    look: |evidence| evidence.look("HTTP"),
};
