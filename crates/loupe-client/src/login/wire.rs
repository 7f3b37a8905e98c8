//! Every HTTP step of a login: bounded in time and size, redirected within the origin only (as every
//! request, `http_client`), and told with secrets masked. What comes instead of metadata is remembered, since the SDK
//! passes over it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::{HeaderName, Method, StatusCode};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest,
};

use super::mask::Secrets;
use super::servers::Servers;
use crate::encoding::decoded;

/// What is read of one document.
const DOCUMENT_BYTES: usize = 1 << 20;
/// The time limit of one step.
const STEP_LIMIT: Duration = Duration::from_secs(30);

/// What the SDK sends along when it looks for metadata, which some servers refuse.
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// Where metadata is published.
const WELL_KNOWN: &str = "/.well-known/";

/// Told a line of the log.
pub(super) type OnLine = Arc<dyn Fn(String) + Send + Sync>;

/// One request of a login: which step of the doctor it belongs to, and how it went.
pub(crate) struct Document {
    pub step: &'static str,
    pub begun: Instant,
    /// Method and address, secrets masked.
    pub tried: String,
    /// The status, or why there is none.
    pub answered: String,
    pub is_success: bool,
}

/// Told each request of a login.
pub(super) type OnDocument = Arc<dyn Fn(Document) + Send + Sync>;

/// The step that a request belongs to, by what it asks for.
fn step_of(path: &str, body: &[u8]) -> &'static str {
    if path.contains("oauth-protected-resource") {
        "resource-metadata"
    } else if path.contains(WELL_KNOWN) {
        "authorization-server"
    } else if body.starts_with(b"{") {
        "registration"
    } else {
        "token"
    }
}

/// The HTTP client of the SDK's OAuth.
pub(super) struct Wire {
    pub client: reqwest::Client,
    pub secrets: Arc<Secrets>,
    pub(crate) on_line: OnLine,
    pub(crate) on_document: OnDocument,
    pub servers: Servers,
    /// What came where metadata was looked for, and was none, though the server did not say that there is none.
    pub odd: Mutex<Vec<String>>,
}

/// What there is instead of metadata: a page for people, or a refusal.
fn in_place_of_metadata(answer: &http::Response<Vec<u8>>) -> Option<String> {
    let status = answer.status();
    let kind = answer
        .headers()
        .get(http::header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    let is_page = kind.contains("html") || answer.body().trim_ascii_start().starts_with(b"<");
    let what = if is_page { "a web page" } else { "no metadata" };
    let is_refusal = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    ((status.is_success() && is_page) || is_refusal)
        .then(|| format!("{what} (HTTP {})", status.as_u16()))
}

impl Wire {
    /// What came instead of metadata since the login began, in one text.
    pub(super) fn odd(&self) -> Option<String> {
        let odd = self.odd.lock().unwrap_or_else(PoisonError::into_inner);
        (!odd.is_empty()).then(|| odd.join(", "))
    }

    /// Looks for metadata. One that is forbidden is asked for once more without the header that some servers refuse.
    async fn look(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let address = self.secrets.address(&request.uri().to_string());
        let mut plain = request.clone();
        let had_version = plain.headers_mut().remove(VERSION).is_some();
        let mut answer = self.send(request).await?;
        if answer.status() == StatusCode::FORBIDDEN && had_version {
            (self.on_line)(format!("asking {address} again without `{VERSION}`"));
            answer = self.send(plain).await?;
        }
        if let Some(what) = in_place_of_metadata(&answer) {
            self.odd
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(format!("{what} from {address}"));
        }
        Ok(answer)
    }

    async fn exchange(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let request = reqwest::Request::try_from(request)?;
        let response = self
            .client
            .execute(request)
            .await
            .map_err(reqwest::Error::without_url)?;
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
        while !is_stream
            && let Some(chunk) = response
                .chunk()
                .await
                .map_err(reqwest::Error::without_url)?
        {
            if chunk.len() > DOCUMENT_BYTES - body.len() {
                return Err(format!("the answer is larger than {DOCUMENT_BYTES} bytes").into());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(head.body(body)?)
    }

    /// One step, told.
    pub(super) async fn send(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let sent = if request.body().is_empty() {
            String::new()
        } else if request.body().starts_with(b"{") {
            format!(" {}", self.secrets.document(request.body()))
        } else {
            format!(" {}", self.secrets.form(request.body()))
        };
        if let Some(value) = request
            .headers()
            .get(http::header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
        {
            self.secrets.remember_header(value);
        }
        let tried = format!(
            "{} {}",
            request.method(),
            self.secrets.address(&request.uri().to_string())
        );
        let what = format!("{tried}{sent}");
        let step = step_of(request.uri().path(), request.body());
        let begun = Instant::now();
        let answer = match tokio::time::timeout(STEP_LIMIT, self.exchange(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("no answer within {} s", STEP_LIMIT.as_secs()).into()),
        };
        let took = begun.elapsed().as_millis();
        (self.on_document)(Document {
            step,
            begun,
            tried,
            answered: match &answer {
                Ok(answer) => format!("HTTP {}", answer.status()),
                Err(error) => self.secrets.scrub(&error.to_string()),
            },
            is_success: answer
                .as_ref()
                .is_ok_and(|answer| answer.status().is_success()),
        });
        (self.on_line)(match &answer {
            Ok(answer) => {
                format!(
                    "{what} → HTTP {}, {} ({took} ms)",
                    answer.status().as_u16(),
                    self.secrets.document(answer.body())
                )
            }
            Err(error) => format!(
                "{what} → {} ({took} ms)",
                self.secrets.scrub(&error.to_string())
            ),
        });
        answer
    }
}

impl OAuthHttpClient for Wire {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let request = request.request;
            let is_look =
                request.method() == Method::GET && request.uri().path().contains(WELL_KNOWN);
            let answer = if is_look {
                self.look(request).await
            } else {
                self.send(request).await
            };
            answer.map(|answer| match self.servers.narrowed(answer.body()) {
                Some(narrowed) if answer.status().is_success() => answer.map(|_| narrowed),
                _ => answer,
            })
        })
    }
}
