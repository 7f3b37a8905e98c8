//! Formats, tokens, proof and host views of MCP tool results.
#![doc = include_str!("../README.md")]
#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr
)]

pub mod cancel;
pub mod capture;
pub mod diff;
pub mod digest;
pub mod format;
pub mod host;
pub mod json;
pub mod layout;
pub mod number;
pub mod parallel;
pub mod problem;
pub mod quote;
pub mod reader;
pub mod redact;
pub mod server_request;
pub mod settings;
pub mod source;
pub mod suggest;
pub mod token;
