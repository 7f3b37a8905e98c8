//! The program: window, command line, and MCP server for agents, on top of the `loupe-*` crates.
//! `docs/architecture.md` has the map.

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
