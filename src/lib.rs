//! Loupe: an inspector for comparing MCP response formats.
//!
//! Bytes come in and become an immutable [`capture::Capture`]; [`analysis`] answers queries about
//! it with pure, cached functions; the window ([`ui`]), the terminal and JSON ([`cli`]) show the
//! results. Nothing is written back. `docs/architecture.md` has the map: a module imports only
//! modules below it there, which `tests/it/layers.rs` checks.

#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr
)]

pub mod agent;
pub mod analysis;
#[cfg(feature = "gui")]
pub mod app;
pub mod cancel;
pub mod capture;
pub mod cli;
pub mod contract;
pub mod diff;
pub mod digest;
pub mod engine;
pub mod finding;
pub mod fixture;
pub mod format;
pub mod history;
pub mod host;
pub mod json;
pub mod mcp;
pub mod number;
pub mod parallel;
pub mod problem;
pub mod quote;
pub mod reader;
pub mod serve;
pub mod server_request;
pub mod settings;
#[cfg(feature = "gui")]
pub mod shot;
pub mod source;
pub mod state;
pub mod store;
pub mod suggest;
pub mod token;
#[cfg(feature = "gui")]
pub mod ui;
pub mod verdict;
