//! A raw JSON-RPC server core and the sample that runs on it.
//!
//! A [`Backend`] answers exact bytes with exact bytes; [`pipe`], [`stdio`] and [`http`] carry them. Raw on purpose: the
//! sample reproduces faults that a typed SDK server would not let out. Uses `json`, `problem`, `source`; no SDK types.

mod http;
mod pipe;
mod rpc;
pub mod sample;
mod stdio;

pub use http::{Http, http};
pub use pipe::pipe;
pub use rpc::PROTOCOL_VERSIONS;
pub use stdio::stdio;

/// One server's behaviour, whatever carries the messages.
pub trait Backend: Send + Sync + 'static {
    /// Takes one JSON-RPC message as exact bytes and returns the messages to send back, in order: none for a
    /// notification, else usually one. A message holds no line feed, since the pipe and stdio end messages with one.
    fn handle(&self, message: &[u8]) -> Vec<bytes::Bytes>;
}
