//! A backend on the process's own standard input and output.

use std::io;
use std::sync::Arc;

use super::Backend;
use super::pipe::{serve_apart, serve_lines};

/// Serves newline-delimited JSON on standard input and output until the input ends.
///
/// # Errors
/// Reading or writing failed; a reader that went away is no error, since that is how clients stop a server.
pub async fn stdio(backend: Arc<dyn Backend>) -> io::Result<()> {
    unless_closed(serve_lines(&*backend, tokio::io::stdin(), tokio::io::stdout()).await)
}

/// The same for a backend whose answers take time: each message is handled on a thread of its own.
///
/// # Errors
/// As [`stdio`].
pub async fn stdio_apart(backend: Arc<dyn Backend>) -> io::Result<()> {
    unless_closed(serve_apart(backend, tokio::io::stdin(), tokio::io::stdout()).await)
}

fn unless_closed(ended: io::Result<()>) -> io::Result<()> {
    match ended {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        ended => ended,
    }
}
