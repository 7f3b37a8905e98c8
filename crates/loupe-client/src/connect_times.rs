//! What connections took: resolving, TCP and TLS.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What connections took.
#[derive(Default)]
pub(super) struct ConnectTimes(Mutex<Clock>);

#[derive(Default)]
pub(super) struct Clock {
    /// The last resolving that no connection has been charged with.
    pub resolve: Duration,
    /// When the handshake of the connection that is being made began.
    pub(crate) tls_begun: Option<Instant>,
    /// The last connection that nobody asked for yet.
    pub last: Option<Parts>,
}

/// What a connection took, or an attempt at one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// TCP, and what a proxy takes.
    pub connect: Duration,
    /// `None` where it did not come to TLS.
    pub tls: Option<Duration>,
    /// Both, and the resolving.
    pub whole: Duration,
}

impl ConnectTimes {
    /// What the connection made last took; once.
    pub(super) fn take(&self) -> Option<Parts> {
        self.clock().last.take()
    }

    /// A handshake begins. The last one is the server's, where a proxy has one before.
    pub(super) fn begin_tls(&self) {
        self.clock().tls_begun = Some(Instant::now());
    }

    pub(super) fn clock(&self) -> MutexGuard<'_, Clock> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
