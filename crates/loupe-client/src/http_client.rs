//! The HTTP client that both HTTP transports are on: headers, certificates, proxies, redirects, and what an answer's
//! head says.
//!
//! Proxies are those of the environment (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`), except for this machine's own
//! addresses. `Origin` is never sent. A redirect is followed only within the origin, and only where a POST stays one.

use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue, header};
use reqwest::redirect::Policy;
use rustls::pki_types::CertificateDer;

use super::SessionEvent;
use super::connect_times::{ConnectTimes, Parts};
use super::connector::{Resolver, Timed};
use super::encoding::{ENCODING, EncodingFault, decoded};
use super::error::{Error, connect_words, innermost};
use super::login::{self, Document, Login, LoginEvents, LoginStore, Tries};
use super::tap::Tap;
use super::tls;
use loupe_core::capture::{HttpInfo, StepState};
use loupe_core::source;

/// How long a server may take over the TCP and TLS handshake.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// Redirects within the origin that are followed.
const REDIRECTS: usize = 5;
/// Said of a request that a login came between.
pub(super) const SENT_AGAIN: &str = "the request was sent again after logging in";

/// A client for one server.
pub(super) struct Client {
    pub client: reqwest::Client,
    pub url: reqwest::Url,
    /// As it was typed, its password and keys left out.
    pub shown: String,
    /// What the user wants sent with every request.
    pub headers: HeaderMap,
    /// `None`: nobody asked to log in.
    login: Option<Login>,
    tap: Arc<Tap>,
    /// Whether the steps of the first request have been told.
    is_reported: AtomicBool,
    took: Arc<ConnectTimes>,
}

/// The certificates of the user's own authorities.
fn authorities(file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let bad = |why: String| Error::Authority {
        file: file.to_owned(),
        why,
    };
    let pem = std::fs::read(file).map_err(|error| bad(format!("cannot read: {error}")))?;
    match tls::certificates(&pem) {
        Ok(found) if found.is_empty() => Err(bad("there is no certificate in it".into())),
        Ok(found) => Ok(found),
        Err(error) => Err(bad(error.to_string())),
    }
}

impl Client {
    pub(super) fn new(
        http: &source::Http,
        tap: &Arc<Tap>,
        logins: LoginStore,
    ) -> Result<Self, Error> {
        let shown = source::redact_url(&http.url).into_owned();
        let bad_address = || Error::Address { url: shown.clone() };
        let url = reqwest::Url::parse(&http.url).map_err(|_| bad_address())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad_address());
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &http.headers {
            let bad_header = |_| Error::Header { name: name.clone() };
            let parsed = HeaderName::from_bytes(name.as_bytes())
                .map_err(|error| bad_header(error.to_string()))?;
            let mut value =
                HeaderValue::from_str(value).map_err(|error| bad_header(error.to_string()))?;
            value.set_sensitive(true);
            headers.append(parsed, value);
        }
        let took = Arc::<ConnectTimes>::default();
        let mut builder = reqwest::Client::builder()
            .redirect(Policy::custom(|attempt| {
                let is_same = attempt
                    .previous()
                    .first()
                    .is_some_and(|first| first.origin() == attempt.url().origin());
                let stays_post = matches!(attempt.status().as_u16(), 307 | 308);
                if is_same && stays_post && attempt.previous().len() <= REDIRECTS {
                    attempt.follow()
                } else {
                    attempt.stop()
                }
            }))
            .default_headers(HeaderMap::from_iter([(
                header::ACCEPT_ENCODING,
                HeaderValue::from_static(ENCODING),
            )]))
            .connect_timeout(CONNECT_LIMIT)
            .dns_resolver(Arc::new(Resolver {
                tap: Arc::clone(tap),
                took: Arc::clone(&took),
            }))
            .connector_layer(Timed(Arc::clone(&took)))
            .user_agent(concat!("loupe/", env!("CARGO_PKG_VERSION")));
        if source::is_this_machine(&url) {
            // A proxy cannot reach this machine's own addresses.
            builder = builder.no_proxy();
        }
        if url.scheme() == "https" || http.cacert.is_some() {
            let bad = |why: String| {
                http.cacert
                    .clone()
                    .map(|file| Error::Authority { file, why })
            };
            let authorities = match &http.cacert {
                Some(file) => authorities(file)?,
                None => Vec::new(),
            };
            let config = tls::config(authorities, Arc::clone(&took))
                .map_err(|source| bad(source.to_string()).unwrap_or(Error::Tls { source }))?;
            builder = builder.tls_backend_preconfigured(config);
        }
        let client = builder.build().map_err(|source| Error::Client { source })?;
        let login = http.login.clone().map(|wish| {
            let events = Arc::clone(tap);
            let opened = Mutex::new(Instant::now());
            let on_step = Arc::new(move |step| {
                let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
                match &step {
                    login::Step::Open { .. } => *opened = Instant::now(),
                    login::Step::Back if !events.is_established() => {
                        let came = "the browser came back";
                        events.step("browser", *opened, "", came, StepState::Done);
                    }
                    _ => {}
                }
                events.emit(SessionEvent::Login(step));
            });
            let steps = Arc::clone(tap);
            let on_document = Arc::new(move |document: Document| {
                if steps.is_established() {
                    return;
                }
                let state = if document.is_success {
                    StepState::Done
                } else {
                    StepState::Passed
                };
                let Document {
                    step,
                    begun,
                    tried,
                    answered,
                    ..
                } = document;
                steps.step(step, begun, &tried, &answered, state);
            });
            Login::new(
                wish,
                &http.url,
                client.clone(),
                logins,
                LoginEvents {
                    on_step,
                    on_document,
                },
                Arc::clone(&tap.deadline),
                tap.known.clone(),
            )
        });
        let is_reported = AtomicBool::new(false);
        Ok(Self {
            client,
            url,
            shown,
            headers,
            login,
            tap: Arc::clone(tap),
            is_reported,
            took,
        })
    }

    /// Takes up the login that is kept.
    pub(super) async fn load_login(&self) {
        if let Some(login) = &self.login {
            login.load().await;
        }
    }

    /// A request with `headers`, over which what the user typed wins.
    pub(super) fn request(
        &self,
        method: reqwest::Method,
        url: &reqwest::Url,
        mut headers: HeaderMap,
    ) -> reqwest::RequestBuilder {
        if let Some((_, Some(token))) = self.login.as_ref().map(Login::token) {
            headers.insert(header::AUTHORIZATION, token);
        }
        for name in self.headers.keys() {
            headers.remove(name);
        }
        headers.extend(self.headers.clone());
        self.client.request(method, url.clone()).headers(headers)
    }

    /// Sends it and waits for the head of the answer. The first request tells the steps of the connection.
    pub(super) async fn send(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<reqwest::Response, Error> {
        let begun = Instant::now();
        let sent = request.send().await;
        let is_first = !self.is_reported.swap(true, Ordering::Relaxed);
        match sent {
            Ok(response) => {
                if is_first {
                    let address = response
                        .remote_addr()
                        .map(|address| address.to_string())
                        .unwrap_or_default();
                    let origin = self.url.origin().ascii_serialization();
                    let took = self.took.take();
                    self.tap.add_step(
                        "connect",
                        took.map(|took| took.connect),
                        &origin,
                        &address,
                        StepState::Done,
                    );
                    if self.url.scheme() == "https" {
                        let tls = took.and_then(|took| took.tls);
                        self.tap.add_step(
                            "TLS",
                            tls,
                            &origin,
                            "the certificate is trusted",
                            StepState::Done,
                        );
                    }
                    let answered = format!("HTTP {}", response.status());
                    let state = if response.status().is_success() {
                        StepState::Done
                    } else {
                        StepState::Passed
                    };
                    // What was told of already is no part of the answer's time.
                    let waited = begun
                        .elapsed()
                        .saturating_sub(took.map(|took| took.whole).unwrap_or_default());
                    self.tap
                        .add_step("HTTP", Some(waited), self.url.path(), &answered, state);
                }
                decoded(response).await.map_err(|fault| Error::Encoded {
                    url: self.shown.clone(),
                    what: fault.to_string(),
                })
            }
            Err(error) => {
                if is_first {
                    let text = if error.is_connect() {
                        connect_words(&error)
                    } else {
                        innermost(&error)
                    };
                    let took = self.took.take();
                    let name = match took {
                        Some(Parts { tls: Some(_), .. }) if error.is_connect() => "TLS",
                        _ if error.is_connect() => "connect",
                        _ => "HTTP",
                    };
                    let origin = self.url.origin().ascii_serialization();
                    match took {
                        Some(Parts {
                            connect,
                            tls: Some(tls),
                            ..
                        }) if name == "TLS" => {
                            self.tap.add_step(
                                "connect",
                                Some(connect),
                                &origin,
                                "",
                                StepState::Done,
                            );
                            self.tap
                                .add_step("TLS", Some(tls), &origin, &text, StepState::Failed);
                        }
                        _ => self
                            .tap
                            .step(name, begun, &origin, &text, StepState::Failed),
                    }
                }
                Err(self.failed(error))
            }
        }
    }

    /// The same, once more after each login that the server asks for; whether there was one. `write` makes the request
    /// anew, and a login ends when `given_up` does. The probe leads to one login at most.
    pub(super) async fn send_logged_in(
        &self,
        write: impl Fn() -> reqwest::RequestBuilder,
        is_probe: bool,
        given_up: impl Future<Output = ()>,
    ) -> Result<(reqwest::Response, bool), Error> {
        let mut given_up = pin!(given_up);
        let mut tries = Tries::new(is_probe);
        loop {
            let used = self.login.as_ref().map_or(0, |login| login.token().0);
            let response = self.send(write()).await?;
            let Some(login) = self
                .login
                .as_ref()
                .filter(|_| !self.headers.contains_key(header::AUTHORIZATION))
            else {
                return Ok((response, false));
            };
            let (begun, is_asked) = (
                Instant::now(),
                login.is_asked(response.status(), response.headers()),
            );
            if is_asked && !self.tap.is_established() {
                let challenge = response.headers().get(header::WWW_AUTHENTICATE);
                let (answered, state) = match challenge {
                    Some(challenge) => (
                        String::from_utf8_lossy(challenge.as_bytes()).into_owned(),
                        StepState::Done,
                    ),
                    None => ("no `WWW-Authenticate`".to_owned(), StepState::Passed),
                };
                let tried = format!("HTTP {}", response.status());
                self.tap.step("challenge", begun, &tried, &answered, state);
            }
            let again = tokio::select! {
                again = login.after(response.status(), response.headers(), used, &mut tries) => again,
                () = &mut given_up => Ok(false),
            };
            if is_asked && !self.tap.is_established() {
                let (answered, state) = match &again {
                    Ok(true) => ("logged in".to_owned(), StepState::Done),
                    Ok(false) => (format!("HTTP {}", response.status()), StepState::Failed),
                    Err(error) => (error.to_string(), StepState::Failed),
                };
                self.tap.step(
                    "login",
                    begun,
                    &format!("HTTP {}", response.status()),
                    &answered,
                    state,
                );
            }
            let again = again?;
            if !again {
                return Ok((response, tries.any()));
            }
        }
    }

    pub(super) fn failed(&self, source: reqwest::Error) -> Error {
        if source.is_connect() || source.is_timeout() || source.is_builder() {
            Error::Connect {
                url: self.shown.clone(),
                source,
            }
        } else {
            self.broken(source)
        }
    }

    /// Why a body ended before its end.
    pub(super) fn broken(&self, source: reqwest::Error) -> Error {
        let url = self.shown.clone();
        match EncodingFault::of(&source) {
            Some(fault) => Error::Encoded {
                url,
                what: fault.to_string(),
            },
            None => Error::Broken { url, source },
        }
    }
}

/// An HTTP client for whoever passes messages on as they are: with the proxies and the certificates of Loupe's own
/// requests, and without following redirects.
///
/// # Errors
/// The address is none of the web, or there is no TLS here.
pub fn plain_client(url: &str) -> Result<reqwest::Client, Error> {
    let shown = source::redact_url(url).into_owned();
    let parsed = reqwest::Url::parse(url).map_err(|_| Error::Address { url: shown.clone() })?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(Error::Address { url: shown });
    }
    let config = tls::config(Vec::new(), Arc::default()).map_err(|source| Error::Tls { source })?;
    let mut builder = reqwest::Client::builder()
        .redirect(Policy::none())
        .connect_timeout(CONNECT_LIMIT)
        .tls_backend_preconfigured(config)
        .user_agent(concat!("loupe/", env!("CARGO_PKG_VERSION")));
    if source::is_this_machine(&parsed) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|source| Error::Client { source })
}

/// Where a redirect leads, as a whole address.
pub(super) fn location(response: &reqwest::Response) -> Option<String> {
    let location = response.headers().get(header::LOCATION)?;
    let text = String::from_utf8_lossy(location.as_bytes()).into_owned();
    // A signed address is a key, whatever its parameters are called.
    Some(source::without_values(
        response
            .url()
            .join(&text)
            .as_ref()
            .map_or(text.as_str(), |url| url.as_str()),
    ))
}

/// The type of a body in lower case, without its parameters; empty where there is none.
pub(super) fn media_type(headers: &HeaderMap) -> String {
    let value = headers
        .get(header::CONTENT_TYPE)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).to_lowercase());
    value
        .and_then(|value| value.split(';').next().map(|media| media.trim().to_owned()))
        .unwrap_or_default()
}

/// What the head of an answer says, credentials masked.
pub(super) fn info(response: &reqwest::Response) -> HttpInfo {
    HttpInfo {
        status: response.status().as_u16(),
        headers: masked(response.headers()),
    }
}

/// The headers of a request, credentials masked; those that every request has (`Host` and its like) are not among them.
pub(super) fn sent_headers(request: reqwest::RequestBuilder) -> Vec<(String, String)> {
    request
        .build()
        .map(|request| masked(request.headers()))
        .unwrap_or_default()
}

fn masked(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = |(name, value): (&HeaderName, &HeaderValue)| {
        let text = String::from_utf8_lossy(value.as_bytes());
        let value = match name {
            _ if value.is_sensitive() || is_secret(name.as_str()) => "…".into(),
            name if *name == header::LOCATION => source::without_values(&text),
            _ => text.into_owned(),
        };
        (name.as_str().to_owned(), value)
    };
    headers.iter().map(shown).collect()
}

/// Headers whose values are credentials, or may be.
fn is_secret(name: &str) -> bool {
    [
        "cookie",
        "auth",
        "token",
        "secret",
        "key",
        "session",
        "credential",
        "signature",
    ]
    .iter()
    .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_types_compare_without_case() {
        for (name, secret) in [
            ("set-cookie", true),
            ("authorization", true),
            ("x-api-key", true),
            ("mcp-session-id", true),
            ("date", false),
        ] {
            assert_eq!(is_secret(name), secret, "{name}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("Application/JSON; charset=utf-8"),
        );
        assert_eq!(media_type(&headers), "application/json");
    }
}
