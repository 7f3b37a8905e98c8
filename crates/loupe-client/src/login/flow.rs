//! The steps of one login: find the authorization server, refresh or ask, exchange. Each is told.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource,
    CredentialStore, InMemoryCredentialStore, OAuthClientConfig, StoredCredentials,
};
use url::Url;

use super::Step;
use super::address::may_send;
use super::mask::Secrets;
use super::redirect::Redirect;
use super::servers::Choice;
use super::token_store::Record;
use super::wire::Wire;
use loupe_core::problem::ProblemKind;
use loupe_core::quote::shell;
use loupe_core::source::{Grant, Login};

/// How long the user may take in the browser.
const BROWSER_LIMIT: Duration = Duration::from_secs(300);
const CLIENT_NAME: &str = "Loupe";

/// Why a login did not come about.
pub(super) struct LoginFailure {
    /// [`ProblemKind::Consent`] where the user has to say yes to something first.
    pub kind: ProblemKind,
    /// The step of the doctor that it stopped at.
    pub step: &'static str,
    pub what: String,
    pub hint: String,
}

impl LoginFailure {
    pub(super) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind: ProblemKind::Auth,
            step: "token",
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// The same, at another step than the exchange for a token.
    pub(super) fn at(self, step: &'static str) -> Self {
        Self { step, ..self }
    }
}

/// What one login works with.
pub(super) struct Flow<'a> {
    pub url: &'a str,
    pub login: &'a Login,
    pub wire: Arc<Wire>,
    pub secrets: &'a Secrets,
    pub step: &'a (dyn Fn(Step) + Send + Sync),
}

/// What the server asked for, and what there is already.
pub(super) struct Wanted {
    /// The `WWW-Authenticate` of the refusal.
    pub challenge: Option<String>,
    /// The scopes that were missing, where the server said so; those there are already are asked for again.
    pub(crate) more_scopes: Option<String>,
    pub kept: Option<Record>,
    /// Whether a kept refresh token may be tried.
    pub(crate) may_refresh: bool,
}

impl Flow<'_> {
    pub(super) fn log_line(&self, text: impl Into<String>) {
        (self.step)(Step::Line(self.secrets.scrub(&text.into())));
    }

    pub(super) fn failed(&self, error: &AuthError) -> LoginFailure {
        let hint = match error {
            AuthError::PkceUnsupported => {
                "an MCP client must not log in without it; ask whoever runs the server"
            }
            AuthError::RegistrationFailed(_) => {
                "register a client there yourself and give it by `--client-id`"
            }
            AuthError::DiscoveryRequestFailed { .. } => {
                "check that the authorization server is running and can be reached from here"
            }
            AuthError::AuthorizationServersUnavailable { .. } => {
                "the server names an authorization server that publishes no metadata, or an address that is not allowed here; tell whoever runs it"
            }
            AuthError::TokenExchangeFailed(_) | AuthError::ClientCredentialsError(_) => {
                "the log above has what was sent and answered; check the client's id, secret or key, and redirect address"
            }
            _ => "the log above has each step; tell whoever runs the server",
        };
        let mut what = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(inner) = source {
            if !what.contains(&inner.to_string()) {
                what += &format!(": {inner}");
            }
            source = inner.source();
        }
        let step = match error {
            AuthError::RegistrationFailed(_) => "registration",
            AuthError::TokenExchangeFailed(_) | AuthError::ClientCredentialsError(_) => "token",
            _ => "authorization-server",
        };
        LoginFailure::new(self.secrets.scrub(&what), hint).at(step)
    }

    /// Logs in, and gives what came of it. Where metadata was looked for and something else came, a failure says so.
    pub(super) async fn run(&self, wanted: Wanted) -> Result<Record, LoginFailure> {
        self.wire
            .odd
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        let mut is_guessed = false;
        self.steps(wanted, &mut is_guessed).await.map_err(|failure| match self.wire.odd().filter(|_| is_guessed) {
            Some(odd) => LoginFailure {
                what: format!("{}; where the login's metadata belongs came {odd}", failure.what),
                hint: "tell whoever runs the server to publish its metadata there, or to answer 404".into(),
                step: "resource-metadata",
                ..failure
            },
            None => failure,
        })
    }

    /// `is_guessed` is set where nothing says how to log in, and what servers of 2025-03-26 do is tried.
    async fn steps(&self, wanted: Wanted, is_guessed: &mut bool) -> Result<Record, LoginFailure> {
        let http: Arc<Wire> = Arc::clone(&self.wire);
        let mut manager = AuthorizationManager::new_with_oauth_http_client(self.url, http)
            .await
            .map_err(|error| self.failed(&error))?;
        self.log_line("looking for the authorization server");
        let issuer = wanted.kept.as_ref().and_then(|kept| kept.issuer.clone());
        self.wire
            .servers
            .begin(self.login.server.clone(), issuer, self.login.asks);
        let found = manager
            .resolve_metadata_from_challenge(wanted.challenge.as_deref())
            .await;
        self.chosen()?;
        let found = found.map_err(|error| self.failed(&error))?;
        let metadata = found.metadata;
        *is_guessed = found.source == AuthorizationMetadataSource::LegacyEndpointFallback;
        self.check(&metadata, found.source)?;
        self.bound(&metadata, wanted.kept.as_ref())?;
        // The SDK adds `offline_access` where the authorization server has it; nobody asked for that.
        let mut narrowed = metadata.clone();
        narrowed
            .scopes_supported
            .iter_mut()
            .for_each(|scopes| scopes.retain(|scope| scope != "offline_access"));
        manager.set_metadata(narrowed);

        // What is kept is of this authorization server alone.
        let kept = wanted.kept.filter(|kept| kept.issuer == metadata.issuer);
        if let Some(kept) = kept
            .as_ref()
            .filter(|kept| wanted.may_refresh && kept.refresh_token().is_some())
        {
            match self.refresh(&mut manager, kept).await {
                Ok(record) => return Ok(record),
                Err(error) => self.log_line(format!("the token could not be refreshed: {error}")),
            }
        }
        let mut scopes = manager.select_initial_scopes(&[]).await;
        if let Some(more) = &wanted.more_scopes {
            let had = kept
                .iter()
                .flat_map(|kept| kept.tokens.granted_scopes.clone());
            scopes = had
                .chain(more.split_whitespace().map(str::to_owned))
                .chain(scopes)
                .fold(Vec::new(), |mut all, scope| {
                    if !all.contains(&scope) {
                        all.push(scope);
                    }
                    all
                });
        }
        self.log_line(if scopes.is_empty() {
            "asking for no scopes".into()
        } else {
            format!("asking for the scopes {}", scopes.join(", "))
        });
        match self.grant(&metadata) {
            Grant::ClientCredentials => self.client_credentials(manager, &metadata, scopes).await,
            Grant::Workload => self.workload(&metadata, scopes).await,
            Grant::Enterprise => self.enterprise(&metadata, scopes).await,
            Grant::Browser => self.browser(manager, &metadata, scopes, kept).await,
        }
    }

    /// Says which of several authorization servers it is, or that one has to be chosen.
    fn chosen(&self) -> Result<(), LoginFailure> {
        match self.wire.servers.choice() {
            Choice::Free => Ok(()),
            Choice::Taken { server, named } => {
                self.log_line(format!(
                    "the server names {} authorization servers ({}): {server} is tried",
                    named.len(),
                    named.join(", ")
                ));
                if self.login.server.is_none() && !self.login.asks {
                    self.log_line("another is tried by `--authorization-server URL`");
                }
                Ok(())
            }
            Choice::Open(named) => {
                let what = format!(
                    "the server names {} authorization servers: {}",
                    named.len(),
                    named.join(", ")
                );
                (self.step)(Step::Choose(named));
                Err(LoginFailure::new(what, "choose the one to log in at").at("resource-metadata"))
            }
            Choice::Unknown { chosen, named } => Err(LoginFailure::new(
                format!(
                    "the server does not name the authorization server {chosen}, but {}",
                    named.join(", ")
                ),
                "choose one of those that it names",
            )
            .at("resource-metadata")),
        }
    }

    /// What the standard demands of the metadata and the SDK does not.
    fn check(
        &self,
        metadata: &AuthorizationMetadata,
        source: AuthorizationMetadataSource,
    ) -> Result<(), LoginFailure> {
        match source {
            AuthorizationMetadataSource::LegacyEndpointFallback => {
                let why = self.wire.odd().map_or_else(
                    || "nothing is published about it".into(),
                    |odd| format!("in place of its metadata came {odd}"),
                );
                self.log_line(format!(
                    "{why}: /authorize, /token and /register of the server itself are tried, as of 2025-03-26"
                ));
            }
            _ => self.log_line(format!(
                "the authorization server is {}",
                metadata.issuer.as_deref().unwrap_or("not named")
            )),
        }
        let has_s256 = metadata
            .code_challenge_methods_supported
            .as_ref()
            .is_some_and(|methods| methods.iter().any(|method| method == "S256"));
        if source.is_discovered() && self.grant(metadata) == Grant::Browser && !has_s256 {
            return Err(self.failed(&AuthError::PkceUnsupported));
        }
        let server = self.server()?;
        let registration = metadata
            .registration_endpoint
            .as_ref()
            .map(|address| ("registration_endpoint", address));
        let endpoints = [
            ("authorization_endpoint", &metadata.authorization_endpoint),
            ("token_endpoint", &metadata.token_endpoint),
        ];
        for (name, address) in endpoints.into_iter().chain(registration) {
            if !Url::parse(address).is_ok_and(|url| may_send(&server, &url)) {
                return Err(LoginFailure::new(
                    format!(
                        "the authorization server's {name} is not an address to send to from this server: {address}"
                    ),
                    "it has to be https, and on this computer or in a private network only where the server is there too; tell whoever runs the server",
                )
                .at("authorization-server"));
            }
        }
        Ok(())
    }

    fn server(&self) -> Result<Url, LoginFailure> {
        Url::parse(self.url).map_err(|error| {
            LoginFailure::new(
                format!("the server's address cannot be read: {error}"),
                "check it",
            )
        })
    }

    /// Sees to it that what the user gave goes only where they mean it to go. Whoever runs the MCP server names the
    /// authorization server, and could name one of their own: a secret is sent to the one of `--authorization-server`, or
    /// to the MCP server's own origin. Nor does a login move to another authorization server by itself.
    fn bound(
        &self,
        metadata: &AuthorizationMetadata,
        kept: Option<&Record>,
    ) -> Result<(), LoginFailure> {
        let server = self.server()?;
        // Without a name the endpoints are the server's own.
        let issuer = metadata
            .issuer
            .clone()
            .unwrap_or_else(|| server.origin().ascii_serialization());
        let is_same = |a: &str, b: &str| a.trim_end_matches('/') == b.trim_end_matches('/');
        if let Some(chosen) = &self.login.server {
            if is_same(chosen, &issuer) {
                return Ok(());
            }
            return Err(LoginFailure::new(
                format!("the server wants a login at {issuer}, and not at {chosen}"),
                "choose one that it names, by `--authorization-server`",
            )
            .at("authorization-server"));
        }
        let what = match kept {
            Some(kept) if kept.issuer != metadata.issuer => {
                let before = kept.issuer.as_deref().unwrap_or("one without a name");
                format!(
                    "the server names another authorization server than before: {issuer} in place of {before}"
                )
            }
            _ if self.grant(metadata) == Grant::Browser && self.login.client_secret.is_none() => {
                return Ok(());
            }
            _ if Url::parse(&issuer).is_ok_and(|url| url.origin() == server.origin()) => {
                return Ok(());
            }
            _ => format!(
                "the server wants what you log in with sent elsewhere: to the authorization server {issuer}"
            ),
        };
        if self.login.asks {
            (self.step)(Step::Choose(vec![issuer.clone()]));
        }
        let hint = format!(
            "if you know it and mean it, say so by `--authorization-server {}`",
            shell(&issuer)
        );
        Err(LoginFailure {
            kind: ProblemKind::Consent,
            ..LoginFailure::new(what, hint).at("authorization-server")
        })
    }

    /// The grant to use: as chosen, or the only one the authorization server has for a client with a secret or a key.
    fn grant(&self, metadata: &AuthorizationMetadata) -> Grant {
        let grants = metadata
            .additional_fields
            .get("grant_types_supported")
            .and_then(|grants| grants.as_array());
        let has =
            |name: &str| grants.is_some_and(|grants| grants.iter().any(|grant| grant == name));
        let proves_itself = self.login.client_secret.is_some() || self.login.client_key.is_some();
        let is_open = self.login.grant == Grant::Browser;
        if is_open && proves_itself && has("client_credentials") && !has("authorization_code") {
            return Grant::ClientCredentials;
        }
        self.login.grant
    }

    pub(super) fn issued(
        &self,
        metadata: &AuthorizationMetadata,
        client: &OAuthClientConfig,
        port: Option<u16>,
        tokens: StoredCredentials,
    ) -> Record {
        Record {
            server: self.url.to_owned(),
            issuer: metadata.issuer.clone(),
            client_id: client.client_id.clone(),
            client_secret: client.client_secret.clone(),
            registered_port: port,
            tokens,
        }
    }

    async fn refresh(
        &self,
        manager: &mut AuthorizationManager,
        kept: &Record,
    ) -> Result<Record, String> {
        self.log_line("refreshing the token");
        let failed = |error: AuthError| self.secrets.scrub(&error.to_string());
        let mut client = OAuthClientConfig::new(
            &kept.client_id,
            redirect_uri(kept.registered_port.unwrap_or_default()),
        );
        client.client_secret.clone_from(&kept.client_secret);
        manager.configure_client(client).map_err(failed)?;
        let store = InMemoryCredentialStore::new();
        store.save(kept.tokens.clone()).await.map_err(failed)?;
        manager.set_credential_store(store.clone());
        manager.refresh_token().await.map_err(failed)?;
        let tokens = store.load().await.map_err(failed)?.ok_or("there is none")?;
        self.log_line("the token was refreshed");
        Ok(Record {
            tokens,
            ..kept.clone()
        })
    }

    /// The client to log in with, and the port it was registered for.
    async fn client(
        &self,
        manager: &mut AuthorizationManager,
        metadata: &AuthorizationMetadata,
        redirect: &Redirect,
        scopes: &[String],
        kept: Option<&Record>,
    ) -> Result<(OAuthClientConfig, Option<u16>), LoginFailure> {
        let named = |id: &str, secret: Option<&String>| {
            let mut client = OAuthClientConfig::new(id, redirect.uri());
            client.client_secret = secret.cloned();
            client
        };
        if let Some(id) = &self.login.client_id {
            let takes_documents = metadata
                .additional_fields
                .get("client_id_metadata_document_supported")
                .and_then(serde_json::Value::as_bool);
            if !Login::names_document(id) {
                self.log_line(format!("using the registered client {id}"));
                return Ok((named(id, self.login.client_secret.as_ref()), None));
            }
            if takes_documents == Some(true) {
                self.log_line(format!("using the client that {id} describes"));
                return Ok((named(id, None), None));
            }
            self.log_line("the authorization server takes no client metadata documents");
        }
        if let Some(kept) = kept.filter(|kept| kept.registered_port == Some(redirect.port)) {
            self.log_line(format!(
                "using the client {} that Loupe registered before",
                kept.client_id
            ));
            return Ok((
                named(&kept.client_id, kept.client_secret.as_ref()),
                kept.registered_port,
            ));
        }
        if metadata.registration_endpoint.is_none() {
            return Err(LoginFailure::new(
                "the authorization server registers no clients by itself",
                format!(
                    "register a client there with the redirect address {} (any port), and give it by `--client-id`",
                    redirect_uri(0)
                ),
            )
            .at("registration"));
        }
        self.log_line("registering Loupe as a client");
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = manager
            .register_client(CLIENT_NAME, &redirect.uri(), &scopes)
            .await
            .map_err(|error| self.failed(&error))?;
        Ok((client, Some(redirect.port)))
    }

    async fn browser(
        &self,
        mut manager: AuthorizationManager,
        metadata: &AuthorizationMetadata,
        scopes: Vec<String>,
        kept: Option<Record>,
    ) -> Result<Record, LoginFailure> {
        let redirect = Redirect::bind(kept.as_ref().and_then(|kept| kept.registered_port))
            .await
            .map_err(|error| {
                LoginFailure::new(
                    format!("no address of this computer can be listened on: {error}"),
                    "check the firewall's rules for 127.0.0.1",
                )
                .at("browser")
            })?;
        let (client, port) = self
            .client(&mut manager, metadata, &redirect, &scopes, kept.as_ref())
            .await?;
        if let Some(secret) = &client.client_secret {
            self.secrets.remember(secret);
        }
        manager
            .configure_client(client.clone())
            .map_err(|error| self.failed(&error))?;
        let store = InMemoryCredentialStore::new();
        manager.set_credential_store(store.clone());
        let wanted: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let address = manager
            .get_authorization_url(&wanted)
            .await
            .map_err(|error| self.failed(&error))?;
        let state = parameter(&address, "state").ok_or_else(|| {
            LoginFailure::new("the address of the login has no state", "report this")
        })?;

        self.log_line(format!(
            "waiting for the browser to come back to {}",
            redirect.uri()
        ));
        (self.step)(Step::Open {
            url: address,
            limit: BROWSER_LIMIT,
        });
        let back = tokio::time::timeout(BROWSER_LIMIT, redirect.wait(&state))
            .await
            .map_err(|_| {
                LoginFailure::new(
                    format!("nobody logged in within {} s", BROWSER_LIMIT.as_secs()),
                    "connect again, and open the address that is shown",
                )
                .at("browser")
            })?;
        (self.step)(Step::Back);
        let outcome = self.exchange(&manager, metadata, &state, &back).await;
        let page = match &outcome {
            Ok(()) => Ok(()),
            Err(failure) => Err(failure.what.clone()),
        };
        back.finish(page).await;
        outcome?;
        let tokens = store.load().await.map_err(|error| self.failed(&error))?;
        let tokens = tokens
            .ok_or_else(|| LoginFailure::new("no token came", "tell whoever runs the server"))?;
        Ok(self.issued(metadata, &client, port, tokens))
    }

    /// What the browser brought back, checked and exchanged for a token.
    async fn exchange(
        &self,
        manager: &AuthorizationManager,
        metadata: &AuthorizationMetadata,
        state: &str,
        back: &super::redirect::Back,
    ) -> Result<(), LoginFailure> {
        let issuer = back.parameter("iss");
        let must_name = metadata
            .additional_fields
            .get("authorization_response_iss_parameter_supported")
            == Some(&serde_json::Value::Bool(true));
        // Checked before anything else: words of a stranger are not repeated.
        let is_strange = match (issuer, metadata.issuer.as_deref()) {
            (Some(issuer), Some(expected)) => issuer != expected,
            (Some(_), None) => true,
            (None, _) => must_name,
        };
        if is_strange {
            return Err(LoginFailure::new(
                match issuer {
                    Some(_) => {
                        "the answer of the login is not from the authorization server that was asked"
                    }
                    None => {
                        "the answer of the login does not say which authorization server it is from"
                    }
                },
                "do not use this server until whoever runs it has explained that",
            )
            .at("browser"));
        }
        let Some(code) = back.parameter("code") else {
            let error = back.parameter("error").unwrap_or("no code");
            let about = back
                .parameter("error_description")
                .map(|about| format!(": {about}"))
                .unwrap_or_default();
            return Err(LoginFailure::new(
                self.secrets.scrub(&format!(
                    "the authorization server did not log you in ({error}{about})"
                )),
                "log in again, or ask whoever runs it for access",
            )
            .at("browser"));
        };
        self.secrets.remember(code);
        self.log_line("the browser came back; exchanging its code for a token");
        manager
            .exchange_code_for_token_with_issuer(code, state, issuer)
            .await
            .map_err(|error| self.failed(&error))?;
        Ok(())
    }
}

pub(super) fn redirect_uri(port: u16) -> String {
    format!("http://127.0.0.1:{port}/callback")
}

fn parameter(address: &str, name: &str) -> Option<String> {
    Url::parse(address)
        .ok()?
        .query_pairs()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.into_owned())
}
