//! The SDK's end of the tap: its `initialize` and its notifications go out, and what it may see comes in.

use std::sync::Arc;

use bytes::Bytes;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, NumberOrString, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, oneshot};

use super::{Tap, Waiting};
use crate::mcp::error::Error;

/// The SDK's end of the tap.
pub(in crate::mcp) struct SdkEnd {
    pub tap: Arc<Tap>,
    pub inbox: mpsc::Receiver<ServerJsonRpcMessage>,
    /// Takes the handshake's request as it was sent.
    pub initialize: Option<oneshot::Sender<Waiting>>,
}

impl Transport<RoleClient> for SdkEnd {
    type Error = Error;

    fn send(&mut self, item: ClientJsonRpcMessage) -> impl Future<Output = Result<(), Error>> + Send + 'static {
        let place = || self.tap.place.clone();
        let sent =
            serde_json::to_vec(&item).map_err(|error| Error::Write { place: place(), source: error.into() }).and_then(|bytes| {
                match item {
                    ClientJsonRpcMessage::Request(request) => match (request.request, request.id, self.initialize.take()) {
                        (ClientRequest::InitializeRequest(_), NumberOrString::Number(id), Some(initialize)) => {
                            let waiting = self.tap.request_as(id, Bytes::from(bytes))?;
                            initialize.send(waiting).map_err(|_| Error::Closed { place: place() })?;
                            Ok(None)
                        }
                        _ => Err(Error::Handshake {
                            place: place(),
                            what: "a request that Loupe did not ask for was held back".into(),
                        }),
                    },
                    _ => self.tap.send(bytes.into()).map(Some),
                }
            });
        let place = place();
        async move {
            match sent? {
                None => Ok(()),
                Some(left) => match left.await {
                    Ok(Ok(_)) => Ok(()),
                    Ok(Err(source)) => Err(Error::Write { place, source }),
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
