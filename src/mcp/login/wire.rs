//! Every HTTP step of a login: bounded in time and size, redirected within the origin only (as every
//! request, `http_client`), and told with secrets masked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest};

use super::mask::Secrets;
use super::servers::Servers;
use crate::mcp::encoding::decoded;

/// What is read of one document.
const DOCUMENT_BYTES: usize = 1 << 20;
/// The time limit of one step.
const STEP_LIMIT: Duration = Duration::from_secs(30);

/// Told a line of the log.
pub(super) type OnLine = Arc<dyn Fn(String) + Send + Sync>;

/// The HTTP client of the SDK's OAuth.
pub(super) struct Wire {
    pub client: reqwest::Client,
    pub secrets: Arc<Secrets>,
    pub on_line: OnLine,
    pub servers: Servers,
}

impl Wire {
    async fn exchange(&self, request: http::Request<Vec<u8>>) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let request = reqwest::Request::try_from(request)?;
        let response = self.client.execute(request).await.map_err(reqwest::Error::without_url)?;
        let mut response = decoded(response).await?;
        let mut head = http::Response::builder().status(response.status());
        for (name, value) in response.headers() {
            head = head.header(name, value);
        }
        let is_stream = response
            .headers()
            .get(http::header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(|kind| kind.to_lowercase().starts_with("text/event-stream"));
        let mut body = Vec::new();
        // A server that opens a stream where it was asked for a document never ends it.
        while !is_stream && let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
            if chunk.len() > DOCUMENT_BYTES - body.len() {
                return Err(format!("the answer is larger than {DOCUMENT_BYTES} bytes").into());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(head.body(body)?)
    }

    /// One step, told.
    pub(super) async fn send(&self, request: http::Request<Vec<u8>>) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let sent = if request.body().is_empty() {
            String::new()
        } else if request.body().starts_with(b"{") {
            format!(" {}", self.secrets.document(request.body()))
        } else {
            format!(" {}", self.secrets.form(request.body()))
        };
        if let Some(value) = request.headers().get(http::header::AUTHORIZATION).and_then(|value| value.to_str().ok()) {
            self.secrets.remember_header(value);
        }
        let what = format!("{} {}{sent}", request.method(), self.secrets.address(&request.uri().to_string()));
        let begun = Instant::now();
        let answer = match tokio::time::timeout(STEP_LIMIT, self.exchange(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("no answer within {} s", STEP_LIMIT.as_secs()).into()),
        };
        let took = begun.elapsed().as_millis();
        (self.on_line)(match &answer {
            Ok(answer) => {
                format!("{what} → HTTP {}, {} ({took} ms)", answer.status().as_u16(), self.secrets.document(answer.body()))
            }
            Err(error) => format!("{what} → {} ({took} ms)", self.secrets.scrub(&error.to_string())),
        });
        answer
    }
}

impl OAuthHttpClient for Wire {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let answer = self.send(request.request).await;
            answer.map(|answer| match self.servers.narrowed(answer.body()) {
                Some(narrowed) if answer.status().is_success() => answer.map(|_| narrowed),
                _ => answer,
            })
        })
    }
}
