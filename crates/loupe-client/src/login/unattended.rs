//! Logins without a browser: a client by its secret or its key, a workload by the token that its platform gave it, a
//! person by the ID token of an organisation's identity provider. Files are read anew at each login, since such tokens
//! are short-lived and whoever makes them replaces them in place.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rmcp::transport::auth::enterprise::{
    EmaAuthorizationServer, EmaClientAuthentication, EmaError, EmaExchangeRequest, EmaExchangeStage,
};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, ClientCredentialsConfig,
    CredentialStore, InMemoryCredentialStore, JwtSigningAlgorithm, OAuthClientConfig,
    OAuthTokenResponse, StoredCredentials,
};
use serde_json::{Value, json};
use url::Url;

use super::address::{is_safe, may_send};
use super::flow::{Flow, LoginFailure, redirect_uri};
use super::token_store::Record;

/// What a key may sign with; which of them it can is found by trying.
const ALGORITHMS: &[(JwtSigningAlgorithm, &str)] = &[
    (JwtSigningAlgorithm::ES256, "ES256"),
    (JwtSigningAlgorithm::ES384, "ES384"),
    (JwtSigningAlgorithm::RS256, "RS256"),
    (JwtSigningAlgorithm::RS384, "RS384"),
    (JwtSigningAlgorithm::RS512, "RS512"),
];

/// Whether a list of the metadata names this; where there is no list anything may be tried.
fn offers(metadata: &AuthorizationMetadata, list: &str, name: &str) -> bool {
    let list = metadata
        .additional_fields
        .get(list)
        .and_then(Value::as_array);
    list.is_none_or(|list| list.iter().any(|entry| entry == name))
}

impl Flow<'_> {
    /// The text of a file that holds a secret, which no message repeats.
    fn secret_file(&self, path: &Path) -> Result<String, LoginFailure> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            LoginFailure::new(
                format!("{} cannot be read: {error}", path.display()),
                "check the path and its permissions",
            )
        })?;
        let text = text.trim().to_owned();
        self.secrets.remember(&text);
        Ok(text)
    }

    /// The token that vouches for whoever logs in.
    fn assertion(&self, grant: &str) -> Result<String, LoginFailure> {
        let Some(path) = &self.login.assertion else {
            return Err(LoginFailure::new(
                format!("`{grant}` needs a token that vouches for you"),
                "give its file by `--assertion`",
            ));
        };
        self.secret_file(path)
    }

    /// The client, by its secret or its key.
    pub(super) async fn client_credentials(
        &self,
        manager: AuthorizationManager,
        metadata: &AuthorizationMetadata,
        scopes: Vec<String>,
    ) -> Result<Record, LoginFailure> {
        match (
            &self.login.client_id,
            &self.login.client_secret,
            &self.login.client_key,
        ) {
            (Some(id), _, Some(key)) => self.by_key(manager, metadata, scopes, id, key).await,
            (Some(id), Some(secret), None) => {
                self.secrets.remember(secret);
                let config = ClientCredentialsConfig::ClientSecret {
                    client_id: id.clone(),
                    client_secret: secret.clone(),
                    scopes,
                    resource: Some(self.url.to_owned()),
                };
                self.log_line(format!("logging in as the client {id}"));
                let (tokens, _) = credentials(manager, vec![(config, "")])
                    .await
                    .map_err(|error| self.failed(&error))?;
                self.kept(metadata, id, Some(secret), tokens)
            }
            _ => Err(LoginFailure::new(
                "client credentials need the id of a registered client, and its secret or key",
                "give them by `--client-id`, and `--client-secret` or `--client-key`",
            )),
        }
    }

    /// The client, by an assertion that its private key signs (RFC 7523).
    async fn by_key(
        &self,
        manager: AuthorizationManager,
        metadata: &AuthorizationMetadata,
        scopes: Vec<String>,
        id: &str,
        path: &Path,
    ) -> Result<Record, LoginFailure> {
        let key = self.secret_file(path)?.into_bytes();
        let takes = |name: &str| {
            offers(
                metadata,
                "token_endpoint_auth_signing_alg_values_supported",
                name,
            )
        };
        let configs: Vec<_> = ALGORITHMS
            .iter()
            .filter(|(_, name)| takes(name))
            .map(|&(signing_algorithm, name)| {
                let config = ClientCredentialsConfig::PrivateKeyJwt {
                    client_id: id.to_owned(),
                    signing_key: key.clone(),
                    signing_algorithm,
                    token_endpoint_audience: None,
                    scopes: scopes.clone(),
                    resource: Some(self.url.to_owned()),
                };
                (config, name)
            })
            .collect();
        let unusable = |why: &str| {
            LoginFailure::new(
                format!(
                    "{} signs with no algorithm that the authorization server takes: {why}",
                    path.display()
                ),
                "give a private key in PEM form, P-256, P-384 or RSA, whose public half is registered there",
            )
        };
        if configs.is_empty() {
            return Err(unusable("it takes none that is known here"));
        }
        match credentials(manager, configs).await {
            Ok((tokens, name)) => {
                self.log_line(format!(
                    "logged in as the client {id}, by an assertion signed with {name}"
                ));
                self.kept(metadata, id, None, tokens)
            }
            Err(AuthError::JwtSigningError(why)) => Err(unusable(&self.secrets.scrub(&why))),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// A workload, by the token of its platform as the grant itself (RFC 7523). Asked once: a token that is refused
    /// stays refused.
    pub(super) async fn workload(
        &self,
        metadata: &AuthorizationMetadata,
        scopes: Vec<String>,
    ) -> Result<Record, LoginFailure> {
        let assertion = self.assertion("workload")?;
        let scope = (!scopes.is_empty()).then(|| scopes.join(" "));
        let members = [
            (
                "grant_type",
                Some("urn:ietf:params:oauth:grant-type:jwt-bearer"),
            ),
            ("assertion", Some(assertion.as_str())),
            ("resource", Some(self.url)),
            ("scope", scope.as_deref()),
            ("client_id", self.login.client_id.as_deref()),
            ("client_secret", self.login.client_secret.as_deref()),
        ];
        let members = members
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        let form = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(members)
            .finish();
        self.log_line("logging in with the workload's token");
        let request = http::Request::post(&metadata.token_endpoint)
            .header(
                http::header::CONTENT_TYPE,
                "application/x-www-form-urlencoded",
            )
            .header(http::header::ACCEPT, "application/json")
            .body(form.into_bytes());
        let answer = self.document(request).await?;
        let tokens: OAuthTokenResponse = serde_json::from_value(answer).map_err(|error| {
            LoginFailure::new(
                format!("the authorization server's answer is not a token: {error}"),
                "tell whoever runs it",
            )
        })?;
        let id = self.login.client_id.clone().unwrap_or_default();
        let tokens = StoredCredentials::new(id.clone(), Some(tokens), scopes, Some(now()));
        self.kept(
            metadata,
            &id,
            self.login.client_secret.as_ref(),
            Some(tokens),
        )
    }

    /// The user, by an ID token: the identity provider exchanges it for a grant at the server's authorization server,
    /// and that one for a token.
    pub(super) async fn enterprise(
        &self,
        metadata: &AuthorizationMetadata,
        scopes: Vec<String>,
    ) -> Result<Record, LoginFailure> {
        let login = self.login;
        let (Some(id), Some(issuer), Some(idp_id)) =
            (&login.client_id, &login.idp, &login.idp_client_id)
        else {
            return Err(LoginFailure::new(
                "`enterprise` needs an identity provider, and a client that is registered at it and at the authorization server",
                "give them by `--idp`, `--idp-client-id` and `--client-id`",
            ));
        };
        let Some(resource_issuer) = &metadata.issuer else {
            return Err(LoginFailure::new(
                "the authorization server does not name itself",
                "tell whoever runs the server",
            ));
        };
        let id_token = self.assertion("enterprise")?;
        self.log_line(format!("looking for the identity provider {issuer}"));
        let token_endpoint = self.idp_token_endpoint(issuer).await?;
        let idp = EmaAuthorizationServer::new(issuer, token_endpoint, idp_id);
        let idp = match &login.idp_client_secret {
            Some(secret) => {
                self.secrets.remember(secret);
                idp.with_client_authentication(by_secret(secret, true)?)
            }
            None => idp,
        };
        let server = EmaAuthorizationServer::new(resource_issuer, &metadata.token_endpoint, id);
        let server = match &login.client_secret {
            Some(secret) => {
                let takes_basic = offers(
                    metadata,
                    "token_endpoint_auth_methods_supported",
                    "client_secret_basic",
                );
                server.with_client_authentication(by_secret(secret, takes_basic)?)
            }
            None => server,
        };
        self.log_line("exchanging the ID token for a grant, and that for a token");
        let request = EmaExchangeRequest::new_with_id_token(idp, server, self.url, &id_token)
            .with_scopes(scopes);
        let token = request
            .exchange(&*self.wire, &*self.wire)
            .await
            .map_err(|error| refuse(&error))?;
        let mut scopes: Vec<String> = token.scopes.into_iter().collect();
        scopes.sort_unstable();
        let answer = json!({
            "access_token": token.access_token.secret(),
            "token_type": "bearer",
            "expires_in": token.expires_in.map(|limit| limit.as_secs()),
        });
        let tokens = serde_json::from_value(answer).map_err(|error| {
            LoginFailure::new(format!("the token cannot be kept: {error}"), "report this")
        })?;
        let tokens = StoredCredentials::new(id.clone(), Some(tokens), scopes, Some(now()));
        self.kept(metadata, id, login.client_secret.as_ref(), Some(tokens))
    }

    /// Where an identity provider gives tokens, by its OpenID metadata.
    async fn idp_token_endpoint(&self, issuer: &str) -> Result<String, LoginFailure> {
        let wrong = |what: String| {
            LoginFailure::new(
                what,
                "check `--idp`: it is the issuer as the identity provider itself writes it",
            )
        };
        let address = format!(
            "{}/.well-known/openid-configuration",
            issuer.trim_end_matches('/')
        );
        let parsed = Url::parse(&address)
            .map_err(|error| wrong(format!("{issuer} is not an address: {error}")))?;
        if !is_safe(&parsed) {
            return Err(wrong(format!(
                "the identity provider is at no https address: {issuer}"
            )));
        }
        let found = self
            .document(http::Request::get(address).body(Vec::new()))
            .await?;
        if found.get("issuer").and_then(Value::as_str) != Some(issuer) {
            return Err(wrong(format!(
                "the metadata of {issuer} is that of another issuer"
            )));
        }
        let endpoint = found.get("token_endpoint").and_then(Value::as_str);
        let Some(endpoint) = endpoint else {
            return Err(wrong(format!("{issuer} names no token_endpoint")));
        };
        if !Url::parse(endpoint).is_ok_and(|url| may_send(&parsed, &url)) {
            return Err(wrong(format!(
                "the token_endpoint of {issuer} is not an address to send to: {endpoint}"
            )));
        }
        Ok(endpoint.to_owned())
    }

    /// One exchange, and the JSON that came.
    async fn document(
        &self,
        request: http::Result<http::Request<Vec<u8>>>,
    ) -> Result<Value, LoginFailure> {
        let hint = "the log above has what was sent and answered";
        let request = request
            .map_err(|error| LoginFailure::new(format!("nothing could be sent: {error}"), hint))?;
        let place = request.uri().to_string();
        let answer = self.wire.send(request).await;
        let answer = answer.map_err(|error| {
            LoginFailure::new(self.secrets.scrub(&format!("{place}: {error}")), hint)
        })?;
        let body: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
        if !answer.status().is_success() {
            let word = |name: &str| {
                body.get(name)
                    .and_then(Value::as_str)
                    .map(|text| format!(": {text}"))
                    .unwrap_or_default()
            };
            let what = format!(
                "{place} answered HTTP {}{}{}",
                answer.status().as_u16(),
                word("error"),
                word("error_description")
            );
            return Err(LoginFailure::new(self.secrets.scrub(&what), hint));
        }
        Ok(body)
    }

    fn kept(
        &self,
        metadata: &AuthorizationMetadata,
        id: &str,
        secret: Option<&String>,
        tokens: Option<StoredCredentials>,
    ) -> Result<Record, LoginFailure> {
        let tokens = tokens
            .ok_or_else(|| LoginFailure::new("no token came", "tell whoever runs the server"))?;
        let mut client = OAuthClientConfig::new(id, redirect_uri(0));
        client.client_secret = secret.cloned();
        Ok(self.issued(metadata, &client, None, tokens))
    }
}

/// The SDK's exchange, and what it keeps: the first of the ways whose key can sign, by its name. Nothing is sent for one
/// that cannot.
async fn credentials(
    mut manager: AuthorizationManager,
    ways: Vec<(ClientCredentialsConfig, &'static str)>,
) -> Result<(Option<StoredCredentials>, &'static str), AuthError> {
    let store = InMemoryCredentialStore::new();
    manager.set_credential_store(store.clone());
    let runtime = tokio::runtime::Handle::current();
    // On a thread of its own: the SDK's future cannot change threads. Each of its steps has a limit (`wire`); it is not
    // the runtime's, which would wait for it when it ends.
    let (done, outcome) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let exchanged = runtime.block_on(async move {
            let mut unsigned = AuthError::JwtSigningError("no way is left".into());
            for (config, name) in ways {
                manager.validate_client_credentials_metadata(&config)?;
                manager.configure_client_credentials(&config)?;
                match manager.exchange_client_credentials(&config).await {
                    Ok(_) => return Ok(name),
                    Err(error @ AuthError::JwtSigningError(_)) => unsigned = error,
                    Err(error) => return Err(error),
                }
            }
            Err(unsigned)
        });
        done.send(exchanged).ok();
    });
    let name = outcome
        .await
        .map_err(|error| AuthError::InternalError(error.to_string()))??;
    Ok((store.load().await?, name))
}

/// How a client proves itself with its secret: in a header, else in the form.
fn by_secret(secret: &str, in_header: bool) -> Result<EmaClientAuthentication, LoginFailure> {
    // The SDK does not export the type of a secret; it reads itself from text.
    let method = if in_header {
        serde_json::from_value(secret.into()).map(EmaClientAuthentication::ClientSecretBasic)
    } else {
        serde_json::from_value(secret.into()).map(EmaClientAuthentication::ClientSecretPost)
    };
    method.map_err(|_| LoginFailure::new("the client's secret cannot be used", "report this"))
}

/// Why one of the two exchanges failed.
fn refuse(error: &EmaError) -> LoginFailure {
    let who = |stage: EmaExchangeStage| match stage {
        EmaExchangeStage::IdentityProvider => "the identity provider",
        _ => "the authorization server",
    };
    match error {
        EmaError::InvalidGrant(stage) => LoginFailure::new(
            format!(
                "{} does not accept what it was given (invalid_grant)",
                who(*stage)
            ),
            "the ID token may have expired, or be of another client: get a new one, for the client of `--idp-client-id`",
        ),
        EmaError::InsufficientUserAuthentication(stage) => LoginFailure::new(
            format!("{} wants a stronger login of the person", who(*stage)),
            "log in to the identity provider again, and give the new ID token",
        ),
        other => LoginFailure::new(
            format!("the exchange failed: {other}"),
            "the log above has what was sent and answered",
        ),
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}
