//! What reaching a server over HTTP takes, part by part: a resolver that says what it found, and a layer around the
//! connector that times what is left, the TCP connection and, for https, TLS in it.
//!
//! The two are one call of the HTTP library, which tells nothing in between: for https they have one time together, and it
//! says so. A connection that is used again takes none, and nothing is told of it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tower_layer::Layer;
use tower_service::Service;

use super::tap::Tap;
use crate::capture::StepState;

/// What connections took.
#[derive(Default)]
pub(super) struct Took {
    /// Microseconds of the last resolving that no connection has been charged with.
    resolve: AtomicU64,
    /// Microseconds of the last connection without its resolving; 0 where there was none since it was asked for.
    connect: AtomicU64,
    /// The same with its resolving.
    whole: AtomicU64,
}

impl Took {
    /// What the connection made last took, without and with its resolving; once.
    pub(super) fn take(&self) -> Option<(Duration, Duration)> {
        let connect = Some(self.connect.swap(0, Ordering::Relaxed)).filter(|micros| *micros > 0)?;
        Some((Duration::from_micros(connect), Duration::from_micros(self.whole.load(Ordering::Relaxed))))
    }
}

/// At least one, so that none is told from a short one.
fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1)
}

/// The system's resolver, which says what it found.
pub(super) struct Resolver {
    pub tap: Arc<Tap>,
    pub took: Arc<Took>,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (tap, took, host) = (Arc::clone(&self.tap), Arc::clone(&self.took), name.as_str().to_owned());
        Box::pin(async move {
            let begun = Instant::now();
            let found = tokio::net::lookup_host((host.as_str(), 0)).await;
            took.resolve.store(micros(begun.elapsed()), Ordering::Relaxed);
            let is_new = !tap.is_established();
            match found {
                Ok(found) => {
                    let found: Vec<_> = found.collect();
                    if is_new {
                        let shown: Vec<_> = found.iter().map(|address| address.ip().to_string()).collect();
                        tap.step("resolve", begun, &host, &shown.join(", "), StepState::Done);
                    }
                    Ok(Box::new(found.into_iter()) as Addrs)
                }
                Err(error) => {
                    if is_new {
                        tap.step("resolve", begun, &host, &error.to_string(), StepState::Failed);
                    }
                    Err(error.into())
                }
            }
        })
    }
}

/// Times each connection that is made.
#[derive(Clone)]
pub(super) struct Timed(pub Arc<Took>);

impl<S> Layer<S> for Timed {
    type Service = Timing<S>;

    fn layer(&self, inner: S) -> Timing<S> {
        Timing { inner, took: Arc::clone(&self.0) }
    }
}

#[derive(Clone)]
pub(super) struct Timing<S> {
    inner: S,
    took: Arc<Took>,
}

impl<R, S: Service<R>> Service<R> for Timing<S>
where
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, to: R) -> Self::Future {
        let took = Arc::clone(&self.took);
        let connecting = self.inner.call(to);
        Box::pin(async move {
            took.resolve.store(0, Ordering::Relaxed);
            let begun = Instant::now();
            let connected = connecting.await;
            let resolving = Duration::from_micros(took.resolve.swap(0, Ordering::Relaxed));
            let whole = begun.elapsed();
            took.whole.store(micros(whole), Ordering::Relaxed);
            took.connect.store(micros(whole.saturating_sub(resolving)), Ordering::Relaxed);
            connected
        })
    }
}
