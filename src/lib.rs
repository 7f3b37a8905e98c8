//! Loupe: an inspector for comparing MCP response formats.
//!
//! Bytes come in and become an immutable [`capture::Capture`]; questions are asked of it and answered by pure,
//! cached functions ([`report`]); the window ([`ui`]), the terminal and JSON ([`cli`]) print the answers. Nothing is
//! written back. A module imports only modules listed below it; `tests/layers.rs` holds that.
//! The map with its reasons is `docs/architecture.md`.

#[cfg(feature = "gui")]
pub mod app;
pub mod cancel;
pub mod capture;
pub mod cli;
pub mod engine;
pub mod format;
pub mod json;
pub mod mcp;
pub mod problem;
pub mod report;
pub mod serve;
pub mod settings;
#[cfg(feature = "gui")]
pub mod shot;
pub mod source;
pub mod state;
pub mod store;
pub mod token;
#[cfg(feature = "gui")]
pub mod ui;
