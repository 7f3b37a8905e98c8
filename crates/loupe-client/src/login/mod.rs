//! Logging in to a server that asks for it (OAuth), where the source says so: see `docs/login.md`.
//!
//! A POST that is answered 401, or 403 for want of scope, comes here; what comes back is a token, and the POST is sent
//! again. The protocol's state machine is the SDK's; what Loupe adds is that each step is told (`wire`), that what the
//! standard demands is checked (`flow`), where it may send to (`address`), the grants that need no browser (`unattended`), where the browser comes back to
//! (`redirect`), and where logins are kept (`token_store`).

mod address;
mod flow;
mod mask;
mod redirect;
mod servers;
mod token_store;
mod unattended;
mod wire;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode, header};
use rmcp::transport::auth::WWWAuthenticateParams;
use url::Url;

pub use token_store::LoginStore;
pub(super) use wire::Document;

use super::deadline::PausableDeadline;
use super::error::Error;
use flow::{Flow, LoginFailure, Wanted};
use loupe_core::problem::ProblemKind;
use loupe_core::redact::SecretList;
use loupe_core::source;
use mask::Secrets;
use servers::Servers;
use token_store::Record;
use wire::Wire;

/// How often one message may lead to a login.
const TRIES: usize = 3;

/// What a login is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A line of the log: what was done and answered, secrets masked.
    Line(String),
    /// Somebody has to open this address and log in there, within the limit.
    Open { url: String, limit: Duration },
    /// The server names several authorization servers, and one has to be chosen before anything is tried.
    Choose(Vec<String>),
    /// The browser came back.
    Back,
    /// It is over.
    Over { worked: bool },
}

/// What a login is told to.
pub(super) type OnStep = Arc<dyn Fn(Step) + Send + Sync>;

/// Who is told of a login.
pub(super) struct LoginEvents {
    pub on_step: OnStep,
    /// Told each request of it.
    pub on_document: wire::OnDocument,
}

/// The tries of one message.
#[derive(Default)]
pub(super) struct Tries {
    count: usize,
    refreshed: bool,
    /// The message is the probe: a server that refuses it after a login may take others, so that it is no failure.
    is_probe: bool,
}

impl Tries {
    pub(super) fn new(is_probe: bool) -> Self {
        Self {
            is_probe,
            ..Self::default()
        }
    }

    /// Whether the message was sent again after a login.
    pub(super) fn any(&self) -> bool {
        self.count > 0
    }
}

/// The name under which the login to a server is kept.
fn name(url: &str, client_id: Option<&str>) -> String {
    // The fragment is no part of what is asked for.
    let url = url.split('#').next().unwrap_or(url);
    client_id.map_or_else(|| url.to_owned(), |client| format!("{url} {client}"))
}

/// Removes the login to a server, wherever it is kept; says what was done. The server is not told: tokens end by themselves.
///
/// # Errors
/// Why it may still be kept, for people.
pub async fn forget(
    keep: &LoginStore,
    url: &str,
    client_id: Option<&str>,
) -> Result<String, String> {
    keep.forget(&name(url, client_id)).await
}

struct Current {
    record: Option<Record>,
    is_loaded: bool,
}

/// The login of one session.
pub(super) struct Login {
    wish: source::Login,
    url: String,
    keep: LoginStore,
    secrets: Arc<Secrets>,
    wire: Arc<Wire>,
    on_step: OnStep,
    deadline: Arc<PausableDeadline>,
    /// One login at a time.
    current: tokio::sync::Mutex<Current>,
    /// The token to send, and how many there were before it.
    token: Mutex<(u64, Option<HeaderValue>)>,
}

impl Login {
    pub(super) fn new(
        wish: source::Login,
        url: &str,
        client: reqwest::Client,
        keep: LoginStore,
        LoginEvents {
            on_step,
            on_document,
        }: LoginEvents,
        deadline: Arc<PausableDeadline>,
        known: SecretList,
    ) -> Self {
        let secrets = Arc::new(Secrets::of(known));
        let on_line = Arc::clone(&on_step);
        let wire = Wire {
            client,
            secrets: Arc::clone(&secrets),
            on_line: Arc::new(move |line| on_line(Step::Line(line))),
            on_document,
            servers: Servers::default(),
            odd: Mutex::default(),
        };
        // The fragment is no part of what is asked for.
        let url = url.split('#').next().unwrap_or(url).to_owned();
        Self {
            wish,
            url,
            keep,
            secrets,
            wire: Arc::new(wire),
            on_step,
            deadline,
            current: tokio::sync::Mutex::new(Current {
                record: None,
                is_loaded: false,
            }),
            token: Mutex::default(),
        }
    }

    /// The name under which the login is kept.
    fn name(&self) -> String {
        name(&self.url, self.wish.client_id.as_deref())
    }

    fn log_line(&self, text: &str) {
        (self.on_step)(Step::Line(self.secrets.scrub(text)));
    }

    /// What to send as `Authorization`, and its number.
    pub(super) fn token(&self) -> (u64, Option<HeaderValue>) {
        self.token
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn use_token(&self, record: &Record) -> bool {
        let Some(token) = record.access_token() else {
            return false;
        };
        self.secrets.remember(&token);
        for secret in [record.refresh_token(), record.client_secret.clone()]
            .into_iter()
            .flatten()
        {
            self.secrets.remember(&secret);
        }
        let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {token}")) else {
            return false;
        };
        value.set_sensitive(true);
        let mut current = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        *current = (current.0 + 1, Some(value));
        true
    }

    /// Takes up the login that is kept, once, before anything is sent.
    pub(super) async fn load(&self) {
        let mut current = self.current.lock().await;
        if current.is_loaded {
            return;
        }
        current.is_loaded = true;
        // A login that is kept makes no use of them, which does not make them less secret.
        for file in [&self.wish.assertion, &self.wish.client_key]
            .into_iter()
            .flatten()
        {
            if let Ok(text) = tokio::fs::read_to_string(file).await {
                self.secrets.remember(text.trim());
            }
        }
        let held = self.deadline.hold();
        let (record, note) = self.keep.load(&self.name()).await;
        drop(held);
        if let Some(note) = note {
            self.log_line(&note);
        }
        if let Some(record) = record.filter(|record| record.server == self.url)
            && self.use_token(&record)
        {
            current.record = Some(record);
        }
    }

    /// Whether an answer asks for a login, or for more than the one there is.
    pub(super) fn is_asked(&self, status: StatusCode, headers: &HeaderMap) -> bool {
        let wants_scope = || {
            challenge(headers, &self.url)
                .is_some_and(|(_, parameters)| parameters.is_insufficient_scope())
        };
        status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN && wants_scope()
    }

    /// After a refusal: whether the message shall be sent again, with another token. `used` is the number of the token
    /// that it was sent with.
    pub(super) async fn after(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        used: u64,
        tries: &mut Tries,
    ) -> Result<bool, Error> {
        if !self.is_asked(status, headers) {
            return Ok(false);
        }
        let challenge = challenge(headers, &self.url);
        let wants_scope = challenge
            .as_ref()
            .is_some_and(|(_, parameters)| parameters.is_insufficient_scope());
        let mut current = self.current.lock().await;
        if self.token().0 != used {
            // Another message led to a login meanwhile.
            tries.count += 1;
            return Ok(tries.count <= TRIES);
        }
        let refused = |what: String, hint: String| Error::Login {
            url: source::redact_url(&self.url).into_owned(),
            kind: ProblemKind::Auth,
            step: "token",
            what,
            hint,
        };
        if tries.is_probe && tries.count > 0 {
            return Ok(false);
        }
        if tries.count >= TRIES {
            return Err(refused(
                format!("the server still refuses after {TRIES} logins"),
                "it may ask for a scope that its authorization server does not give; tell whoever runs it".into(),
            ));
        }
        tries.count += 1;
        let held = self.deadline.hold();
        let mut over = Over {
            on_step: &self.on_step,
            worked: false,
        };
        let (header, parameters) = challenge.unzip();
        let scope = parameters.and_then(|parameters| parameters.scope);
        self.log_line(&match &scope {
            Some(scope) if wants_scope => {
                format!("HTTP {status}: the server wants the scopes {scope}")
            }
            _ => format!("HTTP {status}: the server wants a login"),
        });
        let may_refresh = !wants_scope && !std::mem::replace(&mut tries.refreshed, true);
        let wanted = Wanted {
            challenge: header,
            more_scopes: wants_scope.then(|| scope.unwrap_or_default()),
            kept: current.record.clone(),
            may_refresh,
        };
        let on_step = &*self.on_step;
        let flow = Flow {
            url: &self.url,
            login: &self.wish,
            wire: Arc::clone(&self.wire),
            secrets: &self.secrets,
            step: on_step,
        };
        let record = flow.run(wanted).await.map_err(|failure| {
            let LoginFailure {
                kind,
                step,
                what,
                hint,
            } = failure;
            Error::Login {
                url: self.url.clone(),
                kind,
                step,
                what,
                hint,
            }
        })?;
        if !self.use_token(&record) {
            return Err(refused(
                "the authorization server gave a token that cannot be sent".into(),
                "tell whoever runs it".into(),
            ));
        }
        let kept = self.keep.save(&self.name(), &record).await;
        self.log_line(&match record.tokens.granted_scopes.join(", ") {
            scopes if scopes.is_empty() => format!("logged in; {kept}"),
            scopes => format!("logged in with the scopes {scopes}; {kept}"),
        });
        current.record = Some(record);
        over.worked = true;
        drop(held);
        Ok(true)
    }
}

/// Tells that a login is over, however it ends.
struct Over<'a> {
    on_step: &'a OnStep,
    worked: bool,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        (self.on_step)(Step::Over {
            worked: self.worked,
        });
    }
}

/// The challenge that says most, and what it says.
fn challenge(headers: &HeaderMap, url: &str) -> Option<(String, WWWAuthenticateParams)> {
    let url = Url::parse(url).ok()?;
    let all = headers
        .get_all(header::WWW_AUTHENTICATE)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let read = all.map(|value| (value.to_owned(), WWWAuthenticateParams::parse(value, &url)));
    read.max_by_key(|(_, parameters)| {
        u8::from(parameters.resource_metadata_url.is_some()) * 4
            + u8::from(parameters.error.is_some()) * 2
            + u8::from(parameters.scope.is_some())
    })
}
