//! What reaching a server over HTTP takes, part by part: a resolver that says what it found, and a layer around the
//! connector that times what is left, the TCP connection and, for https, TLS, whose beginning `tls` tells.
//!
//! A connection that is used again takes no time, and nothing is told of it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tower_layer::Layer;
use tower_service::Service;

use super::connect_times::{Clock, ConnectTimes, Parts};
use super::tap::Tap;
use loupe_core::capture::StepState;

/// The system's resolver, which says what it found.
pub(super) struct Resolver {
    pub(crate) tap: Arc<Tap>,
    pub took: Arc<ConnectTimes>,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (tap, took, host) = (
            Arc::clone(&self.tap),
            Arc::clone(&self.took),
            name.as_str().to_owned(),
        );
        Box::pin(async move {
            let begun = Instant::now();
            let found = tokio::net::lookup_host((host.as_str(), 0)).await;
            took.clock().resolve = begun.elapsed();
            let is_new = !tap.is_established();
            match found {
                Ok(found) => {
                    let found: Vec<_> = found.collect();
                    if is_new {
                        let shown: Vec<_> = found
                            .iter()
                            .map(|address| address.ip().to_string())
                            .collect();
                        tap.step("resolve", begun, &host, &shown.join(", "), StepState::Done);
                    }
                    Ok(Box::new(found.into_iter()) as Addrs)
                }
                Err(error) => {
                    if is_new {
                        tap.step(
                            "resolve",
                            begun,
                            &host,
                            &error.to_string(),
                            StepState::Failed,
                        );
                    }
                    Err(error.into())
                }
            }
        })
    }
}

/// Times each connection that is made.
#[derive(Clone)]
pub(super) struct Timed(pub Arc<ConnectTimes>);

impl<S> Layer<S> for Timed {
    type Service = Timing<S>;

    fn layer(&self, inner: S) -> Timing<S> {
        Timing {
            inner,
            took: Arc::clone(&self.0),
        }
    }
}

#[derive(Clone)]
pub(super) struct Timing<S> {
    inner: S,
    took: Arc<ConnectTimes>,
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
            *took.clock() = Clock::default();
            let begun = Instant::now();
            let connected = connecting.await;
            let whole = begun.elapsed();
            let mut clock = took.clock();
            let tls = clock.tls_begun.take().map(|tls_begun| tls_begun.elapsed());
            let connect = whole
                .saturating_sub(std::mem::take(&mut clock.resolve))
                .saturating_sub(tls.unwrap_or_default());
            clock.last = Some(Parts {
                connect,
                tls,
                whole,
            });
            drop(clock);
            connected
        })
    }
}
