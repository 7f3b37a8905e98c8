//! What a server is asked and told next to calls: completions, levels, folders, which resources to watch.

use std::time::Duration;

use bytes::Bytes;

use super::{Session, TimeLimit, WaitEnd};
use crate::cancel_token::CancelToken;
use crate::error::Error;
use crate::tap::End;
use loupe_core::capture::ParsedResponse;
use loupe_core::json::write;

impl Session {
    /// Asks for something next to calls: `params` is JSON. Gives the `result` exactly as it came.
    ///
    /// # Errors
    /// No answer, or an error instead of one.
    pub async fn request(
        &self,
        method: &str,
        params: &str,
        limit: Duration,
    ) -> Result<Bytes, Error> {
        let write = |id: i64| {
            self.era
                .request(&id.to_string(), method, params.as_bytes(), "", None)
        };
        let asked = self
            .ask(
                write,
                &mut TimeLimit::new(&self.tap, limit),
                &CancelToken::new(),
            )
            .await?;
        let answer = match asked.ended {
            WaitEnd::End(End::Answer(answer)) => answer,
            WaitEnd::End(End::Lost(error)) => return Err(Error::Shared(error)),
            WaitEnd::TimedOut(passed) => return Err(self.timeout(method, passed)),
            WaitEnd::Cancelled => {
                return Err(Error::Cancelled {
                    place: self.tap.place.clone(),
                });
            }
        };
        if let Some(fault) = answer.fault {
            return Err(fault);
        }
        let reading = ParsedResponse::read(answer.bytes.clone());
        let place = self.tap.place.clone();
        match (
            reading.result().filter(|result| !result.is_null()),
            &reading.rpc_error,
        ) {
            (None, Some(error)) => Err(Error::Rpc {
                place,
                error: error.clone(),
            }),
            (Some(result), _) => Ok(result.raw_bytes()),
            (None, None) => Err(Error::Malformed {
                place,
                what: format!("the answer to `{method}` has no result"),
            }),
        }
    }

    /// Other folders from here on; the server is told. Nothing happens where folders were not declared.
    ///
    /// # Errors
    /// The connection is over.
    pub fn set_roots(&self, roots: Vec<loupe_core::server_request::Root>) -> Result<(), Error> {
        if self.tap.set_roots(roots) {
            self.tap.send(Bytes::from_static(
                br#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
            ))?;
        }
        Ok(())
    }

    /// From which level on the server logs: at once where there is a session, else from the next request on, since each
    /// says it for itself.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn set_log_level(&self, level: &str, limit: Duration) -> Result<(), Error> {
        if self.era.is_stateless() {
            self.era.set_log_level(level);
            return Ok(());
        }
        let params = format!(r#"{{"level":{}}}"#, write::string(level));
        self.request("logging/setLevel", &params, limit)
            .await
            .map(drop)
    }

    /// Whether the server shall tell of each change of a resource.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn watch(&self, uri: &str, on: bool, limit: Duration) -> Result<(), Error> {
        if self.era.is_stateless() {
            return self.listen_to(uri, on, limit).await;
        }
        let method = if on {
            "resources/subscribe"
        } else {
            "resources/unsubscribe"
        };
        self.request(
            method,
            &format!(r#"{{"uri":{}}}"#, write::string(uri)),
            limit,
        )
        .await
        .map(drop)
    }
}
