//! Loupe: an inspector for comparing MCP response formats.
//!
//! Bytes come in and become an immutable [`capture::Capture`]; [`analysis`] answers queries about it with pure, cached
//! functions; the window ([`ui`]), the terminal and JSON ([`cli`]) show the results. Nothing is written back. A module imports only modules listed below it; `tests/it/layers.rs` holds that.
//! The map with its reasons is `docs/architecture.md`.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]

pub mod cli;
#[cfg(feature = "gui")]
pub mod app;
#[cfg(feature = "gui")]
pub mod shot;
#[cfg(feature = "gui")]
pub mod ui;
pub mod engine;
pub mod state;
pub mod agent;
pub mod mcp;
pub mod serve;
pub mod store;
pub mod fixture;
pub mod contract;
pub mod history;
pub mod verdict;
pub mod finding;
pub mod analysis;
pub mod diff;
pub mod host;
pub mod format;
pub mod capture;
pub mod reader;
pub mod source;
pub mod settings;
pub mod token;
pub mod server_request;
pub mod quote;
pub mod json;
pub mod parallel;
pub mod suggest;
pub mod number;
pub mod digest;
pub mod problem;
pub mod cancel;
