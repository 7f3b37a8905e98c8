//! The SDK's end of the tap: its `initialize` and its notifications go out, and what it may see comes in.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, NumberOrString, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, oneshot};

use super::{PendingRequest, Tap};
use crate::error::Error;

/// The SDK's end of the tap.
pub(crate) struct SdkEnd {
    pub(crate) tap: Arc<Tap>,
    pub(crate) inbox: mpsc::Receiver<ServerJsonRpcMessage>,
    /// The parameters of `initialize`, which the SDK would not keep as they are, and who takes the request once it is sent.
    pub initialize: Option<(String, oneshot::Sender<PendingRequest>)>,
}

impl SdkEnd {
    /// Sends what the SDK says; `None` where nobody waits until it has left.
    fn put(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> Result<Option<oneshot::Receiver<io::Result<Instant>>>, Error> {
        let place = || self.tap.place.clone();
        let ClientJsonRpcMessage::Request(request) = item else {
            let bytes = serde_json::to_vec(&item).map_err(|error| Error::Write {
                place: place(),
                source: error.into(),
            })?;
            return self.tap.send(bytes.into()).map(Some);
        };
        match (request.request, request.id, self.initialize.take()) {
            (
                ClientRequest::InitializeRequest(_),
                NumberOrString::Number(id),
                Some((params, initialize)),
            ) => {
                let text = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{params}}}"#
                );
                let waiting = self.tap.request_as(id, Bytes::from(text))?;
                initialize
                    .send(waiting)
                    .map_err(|_| Error::Closed { place: place() })?;
                Ok(None)
            }
            _ => Err(Error::Handshake {
                place: place(),
                what: "a request that Loupe did not ask for was held back".into(),
            }),
        }
    }
}

impl Transport<RoleClient> for SdkEnd {
    type Error = Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Error>> + Send + 'static {
        let sent = self.put(item);
        let place = self.tap.place.clone();
        async move {
            match sent? {
                None => Ok(()),
                Some(left) => match left.await {
                    Ok(Ok(_)) => Ok(()),
                    // What a server said of it says more than that it could not be written.
                    Ok(Err(source)) => Err(source
                        .downcast::<Error>()
                        .unwrap_or_else(|source| Error::Write { place, source })),
                    Err(_) => Err(Error::Closed { place }),
                },
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.inbox.recv().await
    }

    async fn close(&mut self) -> Result<(), Error> {
        self.inbox.close();
        Ok(())
    }
}
