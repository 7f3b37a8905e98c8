//! The steps in order: one file each.

mod authorization_server;
mod browser;
mod challenge;
mod command_found;
mod connected;
mod content;
mod first_call;
mod first_output;
mod framing;
mod handshake;
mod http_status;
mod lists;
mod name_resolved;
mod not_http;
mod process_started;
mod registration;
mod requests;
mod resource_metadata;
mod still_running;
mod tls;
mod token;

use super::DoctorStep;

/// All steps, in the order that they are shown.
pub static STEPS: &[DoctorStep] = &[
    command_found::STEP,
    process_started::STEP,
    still_running::STEP,
    first_output::STEP,
    not_http::STEP,
    framing::STEP,
    name_resolved::STEP,
    connected::STEP,
    tls::STEP,
    http_status::STEP,
    content::STEP,
    challenge::STEP,
    resource_metadata::STEP,
    authorization_server::STEP,
    registration::STEP,
    browser::STEP,
    token::STEP,
    handshake::STEP,
    lists::STEP,
    requests::STEP,
    first_call::STEP,
];
