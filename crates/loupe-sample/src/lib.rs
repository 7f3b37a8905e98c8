//! A raw JSON-RPC server core, the sample that runs on it, and the replay of captures.
//!
//! A [`Backend`] answers exact bytes with exact bytes; [`pipe`], [`stdio`] and [`http`] carry them. Raw on purpose: the
//! sample reproduces faults that a typed SDK server would not let out, and a replay sends what was recorded byte for byte.
//! No SDK types.

#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr
)]

mod http;
mod pipe;

mod rpc;
pub mod sample;
mod stdio;

pub use http::{HttpServer, http};
pub use pipe::pipe;

pub(crate) use rpc::PROTOCOL_VERSIONS;
pub use rpc::{INVALID_PARAMS, LibraryService, Reference, Refusal, Service, answer, asked};
pub use stdio::{stdio, stdio_apart};

/// One server's behaviour, whatever carries the messages.
pub trait Backend: Send + Sync + 'static {
    /// Takes one JSON-RPC message as exact bytes and returns the messages to send back, in order: none for a
    /// notification, else usually one. A message holds no line feed, since the pipe and stdio end messages with one.
    fn handle(&self, message: &[u8]) -> Vec<bytes::Bytes>;

    /// As [`Backend::handle`], where one backend serves several clients: what one of them declared, or is asked, concerns no other. Among
    /// the messages may be requests of the server, and the answer to an earlier request that had to wait for theirs.
    fn handle_of(&self, session: &str, message: &[u8]) -> Vec<bytes::Bytes> {
        let _ = session;
        self.handle(message)
    }

    /// Ends what is under way: nobody is there any more to read its answer.
    fn stop(&self) {}
}
