//! An MCP server on loopback that wants a login, and its authorization server, both at one address. Every secret that it
//! gives begins with `canary-`, so that one can look whether any of them was written anywhere.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::broadcast;

/// What the servers do otherwise than well.
#[derive(Clone, Default)]
pub struct Modes {
    pub no_pkce: bool,
    /// What `iss` says in place of the issuer.
    pub wrong_iss: bool,
    pub refuse_registration: bool,
    /// The metadata names no place to register at.
    pub no_registration: bool,
    /// No code is worth a token.
    pub refuse_code: bool,
    pub refuse_refresh: bool,
    pub deny: bool,
    /// Calls need a scope that lists do not.
    pub step_up: bool,
    /// No scope is ever enough for a call.
    pub never_enough: bool,
    /// The authorization server's name has this path.
    pub issuer_path: &'static str,
    /// Nobody comes back from the browser.
    pub silent: bool,
    /// No token is enough for `server/discover`.
    pub refuse_probe: bool,
    /// A web page is at every address but the MCP server's.
    pub pages: bool,
    /// Metadata is forbidden to whoever names a version of the protocol.
    pub refuse_version: bool,
    /// Metadata of the server is at the root alone, and names the origin without a slash.
    pub root_only: bool,
    /// A refusal without a challenge; the scopes are those that the metadata names. The authorization server has one more.
    pub bare: Option<&'static [&'static str]>,
    /// The MCP server is one of 2024: it answers on a stream of events.
    pub streams: bool,
    /// Clients log in by a key, a workload by its token, and nobody else.
    pub alone: bool,
    /// Another authorization server is named before this one; it publishes nothing.
    pub another: bool,
    /// Answers repeat, bare, the token they came with and every secret that was sent for one.
    pub echoes: bool,
    /// The authorization server is at an origin of its own.
    pub elsewhere: bool,
    /// An endpoint of the authorization server, and the address it is said to have.
    pub endpoint: Option<(&'static str, &'static str)>,
}

#[derive(Default)]
struct Books {
    modes: Modes,
    count: usize,
    /// The challenge and the scopes of each code.
    codes: BTreeMap<String, (String, String)>,
    /// The scopes of each token that counts.
    tokens: BTreeMap<String, String>,
    refresh: BTreeMap<String, String>,
    seen: Vec<String>,
}

#[derive(Clone)]
pub struct OAuthPeer {
    pub base: String,
    /// The same servers at another origin.
    pub elsewhere: String,
    books: Arc<Mutex<Books>>,
    /// What is said on the streams.
    says: broadcast::Sender<String>,
}

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

fn reply(status: u16, body: &Value) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    response
}

impl OAuthPeer {
    pub async fn start(modes: Modes) -> Self {
        let listeners = [
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
        ];
        let [base, elsewhere] =
            [0, 1].map(|at: usize| format!("http://{}", listeners[at].local_addr().unwrap()));
        let books = Arc::new(Mutex::new(Books {
            modes,
            ..Books::default()
        }));
        let peer = Self {
            base,
            elsewhere,
            books,
            says: broadcast::channel(100).0,
        };
        for listener in listeners {
            let serving = peer.clone();
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let peer = serving.clone();
                    let service = service_fn(move |request| {
                        let peer = peer.clone();
                        async move { Ok::<_, Infallible>(peer.answer(request).await) }
                    });
                    tokio::spawn(
                        http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                    );
                }
            });
        }
        peer
    }

    /// The origin of the authorization server.
    fn home<'a>(&'a self, books: &Books) -> &'a str {
        if books.modes.elsewhere {
            &self.elsewhere
        } else {
            &self.base
        }
    }

    pub fn url(&self) -> String {
        format!("{}/mcp", self.base)
    }

    /// Requests so far: method, path with query, form.
    pub fn seen(&self) -> Vec<String> {
        self.books.lock().unwrap().seen.clone()
    }

    pub fn count(&self, what: &str) -> usize {
        self.seen()
            .iter()
            .filter(|line| line.starts_with(what))
            .count()
    }

    /// No access token counts any more.
    pub fn expire(&self) {
        self.books.lock().unwrap().tokens.clear();
    }

    pub fn set(&self, change: impl FnOnce(&mut Modes)) {
        change(&mut self.books.lock().unwrap().modes);
    }

    fn issuer(&self, books: &Books) -> String {
        format!("{}{}", self.home(books), books.modes.issuer_path)
    }

    /// What the server calls itself.
    fn resource(&self, books: &Books) -> String {
        if books.modes.root_only {
            self.base.clone()
        } else {
            self.url()
        }
    }

    fn issuers(&self, books: &Books) -> Vec<String> {
        let another = books
            .modes
            .another
            .then(|| format!("{}/another", self.base));
        another.into_iter().chain([self.issuer(books)]).collect()
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let form: BTreeMap<String, String> =
            url::form_urlencoded::parse(&body).into_owned().collect();
        let query: BTreeMap<String, String> =
            url::form_urlencoded::parse(head.uri.query().unwrap_or_default().as_bytes())
                .into_owned()
                .collect();
        let mut books = self.books.lock().unwrap();
        let path = head.uri.path().to_owned();
        let (is_known, is_root) = (
            path.contains("/.well-known/"),
            path == "/.well-known/oauth-protected-resource",
        );
        if books.modes.pages && path != "/mcp"
            || books.modes.refuse_version
                && is_known
                && head.headers.contains_key("mcp-protocol-version")
        {
            books.seen.push(format!("{} {}", head.method, head.uri));
            let mut page = reply(if books.modes.pages { 200 } else { 403 }, &json!("<html>"));
            page.headers_mut().insert(
                header::CONTENT_TYPE,
                "text/html; charset=utf-8".parse().unwrap(),
            );
            return page;
        }
        books.seen.push(format!(
            "{} {} {}",
            head.method,
            head.uri,
            String::from_utf8_lossy(&body)
        ));
        match (&head.method, path.as_str()) {
            (
                &Method::GET,
                "/.well-known/oauth-protected-resource/mcp"
                | "/.well-known/oauth-protected-resource",
            ) if is_root == books.modes.root_only => {
                let scopes = books.modes.bare.unwrap_or(&["read"]);
                reply(
                    200,
                    &json!({"resource": self.resource(&books), "authorization_servers": self.issuers(&books), "scopes_supported": scopes}),
                )
            }
            (&Method::GET, path)
                if path
                    == format!(
                        "/.well-known/oauth-authorization-server{}",
                        books.modes.issuer_path
                    ) =>
            {
                let mut metadata = json!({
                    "issuer": self.issuer(&books),
                    "authorization_endpoint": format!("{}/authorize", self.home(&books)),
                    "token_endpoint": format!("{}/token", self.home(&books)),
                    "registration_endpoint": format!("{}/register", self.home(&books)),
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["client_secret_post"],
                    "authorization_response_iss_parameter_supported": true,
                });
                if books.modes.bare.is_some() {
                    metadata["scopes_supported"] = json!(["a", "b", "offline_access"]);
                }
                if books.modes.alone {
                    metadata["grant_types_supported"] = json!(["client_credentials"]);
                    metadata["token_endpoint_auth_methods_supported"] = json!(["private_key_jwt"]);
                    metadata["token_endpoint_auth_signing_alg_values_supported"] =
                        json!(["RS256", "ES256"]);
                }
                if let Some((name, address)) = books.modes.endpoint {
                    metadata[name] = json!(address);
                }
                if books.modes.no_registration {
                    metadata
                        .as_object_mut()
                        .unwrap()
                        .remove("registration_endpoint");
                }
                if books.modes.no_pkce {
                    metadata
                        .as_object_mut()
                        .unwrap()
                        .remove("code_challenge_methods_supported");
                }
                reply(200, &metadata)
            }
            (&Method::POST, "/register") if books.modes.refuse_registration => reply(
                400,
                &json!({"error": "invalid_client_metadata", "error_description": "Only a and b"}),
            ),
            (&Method::POST, "/register") => {
                books.count += 1;
                let asked: Value = serde_json::from_slice(&body).unwrap();
                reply(
                    201,
                    &json!({"client_id": format!("client-{}", books.count), "client_secret": "canary-client-secret", "redirect_uris": asked["redirect_uris"]}),
                )
            }
            (&Method::GET, "/authorize") => {
                if books.modes.silent {
                    return reply(200, &json!("log in here"));
                }
                books.count += 1;
                let code = format!("canary-code-{}", books.count);
                assert_eq!(query["code_challenge_method"], "S256");
                assert_eq!(query["resource"], self.resource(&books));
                let scope = query.get("scope").cloned().unwrap_or_default();
                books
                    .codes
                    .insert(code.clone(), (query["code_challenge"].clone(), scope));
                let iss = if books.modes.wrong_iss {
                    "https://evil.example".to_owned()
                } else {
                    self.issuer(&books)
                };
                let outcome = if books.modes.deny {
                    ("error", "access_denied")
                } else {
                    ("code", code.as_str())
                };
                let back = url::Url::parse_with_params(
                    &query["redirect_uri"],
                    [outcome, ("state", &query["state"]), ("iss", &iss)],
                );
                let mut response = reply(302, &json!({}));
                response
                    .headers_mut()
                    .insert(header::LOCATION, back.unwrap().as_str().parse().unwrap());
                response
            }
            (&Method::POST, "/token") if books.modes.refuse_code => {
                reply(400, &json!({"error": "invalid_grant"}))
            }
            (&Method::POST, "/token") if books.modes.alone => self.alone(&mut books, &form),
            (&Method::POST, "/token") => self.token(&mut books, &form),
            // As the identity provider of an organisation, which is another issuer at the same address.
            (&Method::GET, "/idp/.well-known/openid-configuration") => reply(
                200,
                &json!({"issuer": format!("{}/idp", self.base), "token_endpoint": format!("{}/idp/token", self.base)}),
            ),
            (&Method::POST, "/idp/token") => self.id_jag(&books, &form),
            (&Method::POST, "/mcp") => self.mcp(&books, &head.headers, &body),
            (&Method::GET, "/mcp") if books.modes.streams => {
                match self.scopes(&books, &head.headers) {
                    Ok(_) => self.stream(),
                    Err(refused) => *refused,
                }
            }
            (_, "/mcp") => reply(405, &json!({})),
            _ => reply(404, &json!({})),
        }
    }

    fn token(&self, books: &mut Books, form: &BTreeMap<String, String>) -> Answer {
        let refused = |why: &str| {
            reply(
                400,
                &json!({"error": "invalid_grant", "error_description": why}),
            )
        };
        if form.get("resource") != Some(&self.resource(books)) {
            return refused("the resource is missing");
        }
        if form.get("client_secret").map(String::as_str) != Some("canary-client-secret") {
            return refused("the client's secret is missing");
        }
        let scopes = match form["grant_type"].as_str() {
            "authorization_code" => {
                let Some((challenge, scopes)) = books.codes.remove(&form["code"]) else {
                    return refused("no such code");
                };
                if BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]))
                    != challenge
                {
                    // A server that repeats what it was sent.
                    return refused(&format!("wrong verifier {}", form["code_verifier"]));
                }
                scopes
            }
            "refresh_token" if !books.modes.refuse_refresh => {
                match books.refresh.remove(&form["refresh_token"]) {
                    Some(scopes) => scopes,
                    None => return refused("no such token"),
                }
            }
            _ => {
                return refused(&format!(
                    "refused: {}",
                    form.get("refresh_token").cloned().unwrap_or_default()
                ));
            }
        };
        books.count += 1;
        let (access, refresh) = (
            format!("canary-access-{}", books.count),
            format!("canary-refresh-{}", books.count),
        );
        books.tokens.insert(access.clone(), scopes.clone());
        books.refresh.insert(refresh.clone(), scopes.clone());
        reply(
            200,
            &json!({"access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": refresh, "scope": scopes}),
        )
    }

    /// Grants without a browser. What a client or a workload says of itself is checked, its signature is not.
    fn alone(&self, books: &mut Books, form: &BTreeMap<String, String>) -> Answer {
        let claims = |token: &str| -> Value {
            let part = |number| {
                BASE64_URL_SAFE_NO_PAD
                    .decode(token.split('.').nth(number)?)
                    .ok()
            };
            part(1)
                .and_then(|bytes| serde_json::from_slice(&bytes).ok())
                .unwrap_or_default()
        };
        let is_known = match form["grant_type"].as_str() {
            "client_credentials" => {
                let claims = claims(&form["client_assertion"]);
                form["client_assertion_type"]
                    == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
                    && claims["iss"] == "robot"
                    && claims["sub"] == "robot"
                    && claims["aud"] == self.issuer(books).as_str()
                    && form.get("resource") == Some(&self.url())
            }
            "urn:ietf:params:oauth:grant-type:jwt-bearer" => {
                form["assertion"] == "canary-workload"
                    || claims(&form["assertion"])["client_id"] == "robot"
            }
            _ => false,
        };
        if !is_known {
            return reply(
                400,
                &json!({"error": "invalid_grant", "error_description": format!("not {form:?}")}),
            );
        }
        books.count += 1;
        let access = format!("canary-access-{}", books.count);
        books.tokens.insert(access.clone(), "read".into());
        reply(
            200,
            &json!({"access_token": access, "token_type": "Bearer", "expires_in": 3600, "scope": "read"}),
        )
    }

    /// What the identity provider gives for an ID token.
    fn id_jag(&self, books: &Books, form: &BTreeMap<String, String>) -> Answer {
        if form["subject_token"] != "canary-id-token"
            || form["client_id"] != "desk"
            || form["resource"] != self.url()
        {
            return reply(400, &json!({"error": "invalid_grant"}));
        }
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let claims = json!({
            "iss": format!("{}/idp", self.base), "sub": "ada", "aud": self.issuer(books), "client_id": "robot",
            "jti": "1", "iat": now, "exp": now + 60, "resource": self.url(), "scope": "read",
        });
        let parts = [json!({"alg": "ES256", "typ": "oauth-id-jag+jwt"}), claims]
            .map(|part| BASE64_URL_SAFE_NO_PAD.encode(part.to_string()));
        let token = format!(
            "{}.{}.{}",
            parts[0],
            parts[1],
            BASE64_URL_SAFE_NO_PAD.encode("unsigned")
        );
        let kind = "urn:ietf:params:oauth:token-type:id-jag";
        reply(
            200,
            &json!({"access_token": token, "issued_token_type": kind, "token_type": "N_A", "scope": "read"}),
        )
    }

    /// The scopes of the token that came along, or the refusal.
    fn scopes(&self, books: &Books, headers: &http::HeaderMap) -> Result<String, Box<Answer>> {
        let token = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        token.and_then(|token| books.tokens.get(token)).cloned().ok_or_else(|| {
            let mut response = reply(401, &json!({"error": "invalid_token"}));
            if books.modes.bare.is_some() || books.modes.pages || books.modes.root_only {
                return Box::new(response);
            }
            let challenge =
                format!("Bearer resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\", scope=\"read\"", self.base);
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge.parse().unwrap());
            Box::new(response)
        })
    }

    /// A stream that first names where to send to.
    fn stream(&self) -> Answer {
        let frame = |name: &str, data: &str| {
            Ok::<_, Infallible>(Frame::data(Bytes::from(format!(
                "event: {name}\ndata: {data}\n\n"
            ))))
        };
        let state = (Some(frame("endpoint", "/mcp")), self.says.subscribe());
        let frames = futures::stream::unfold(state, move |(first, mut says)| async move {
            let next = match first {
                Some(first) => first,
                None => frame("message", &says.recv().await.ok()?),
            };
            Some((next, (None, says)))
        });
        let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, "text/event-stream".parse().unwrap());
        response
    }

    fn mcp(&self, books: &Books, headers: &http::HeaderMap, body: &[u8]) -> Answer {
        let message: Value = serde_json::from_slice(body).unwrap();
        let method = message["method"].as_str().unwrap_or_default();
        let scopes = match self.scopes(books, headers) {
            Ok(scopes) if method != "server/discover" || !books.modes.refuse_probe => scopes,
            Ok(_) => return *self.scopes(books, &http::HeaderMap::new()).unwrap_err(),
            Err(refused) => return *refused,
        };
        let lacks_scope = books.modes.step_up && !scopes.split(' ').any(|scope| scope == "write");
        if method == "tools/call" && (lacks_scope || books.modes.never_enough) {
            let mut response = reply(403, &json!({"error": "insufficient_scope"}));
            let challenge = "Bearer error=\"insufficient_scope\", scope=\"write\"";
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, challenge.parse().unwrap());
            return response;
        }
        let result = match method {
            "initialize" => serde_json::from_str(super::INITIALIZED).unwrap(),
            "tools/list" => {
                let hints = json!({"readOnlyHint": true});
                json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}, "annotations": hints}]})
            }
            "tools/call" if books.modes.echoes => {
                let token = headers[header::AUTHORIZATION]
                    .to_str()
                    .unwrap()
                    .trim_start_matches("Bearer ");
                let forms = books
                    .seen
                    .iter()
                    .filter(|line| line.contains("/token "))
                    .flat_map(|line| line.split(['&', ' ']));
                let sent: Vec<_> = forms
                    .filter(|pair| pair.contains("canary-"))
                    .filter_map(|pair| pair.split_once('='))
                    .collect();
                let text = format!(
                    "{token} is yours, {} too; {sent:?}",
                    BASE64_URL_SAFE_NO_PAD.encode(format!("me:{token}"))
                );
                json!({"content": [{"type": "text", "text": text}], "structuredContent": {"who": token}})
            }
            "tools/call" => json!({"content": [{"type": "text", "text": "hi"}]}),
            _ => return reply(202, &json!({})),
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        if books.modes.streams {
            self.says.send(answer.to_string()).unwrap();
            return reply(202, &json!("Accepted"));
        }
        reply(200, &answer)
    }
}
