//! Between an MCP host and a server: every byte is passed on as it comes, and a copy is recorded.
//!
//! The relay writes first and hands the copy over afterwards, to a queue that is bounded: what does not fit is missing from
//! the record, which says so, and never from the wire. See `docs/sessions.md` for the files.

#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr
)]

pub mod bridge;
pub mod proxy;
pub mod recorder;
pub mod records;
#[cfg(unix)]
pub mod relay;
pub mod sessions;
pub mod transcripts;

/// The version that is written into records.
const VERSION: &str = env!("CARGO_PKG_VERSION");
