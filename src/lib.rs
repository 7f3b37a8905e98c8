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
#[cfg(feature = "gui")]
pub mod app;
pub mod cli;
pub mod engine;
pub mod history;
pub mod in_process;
pub mod replay;
#[cfg(feature = "gui")]
pub mod shot;
pub mod state;
pub mod store;
#[cfg(feature = "gui")]
pub mod ui;
