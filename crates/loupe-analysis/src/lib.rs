//! What can be said about MCP tool results: queries, findings, summaries, reports, the doctor and fixtures.

#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr
)]

pub mod contract;
pub mod doctor;
pub mod finding;
pub mod fixture;
pub mod queries;
pub mod summary;
