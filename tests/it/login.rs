//! Logging in: against an authorization server that behaves and ones that do not, and never a secret in anything written.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::peer::oauth::{Modes, OAuthPeer};
use crate::peer::{call, options, until};
use crate::visit::Visit;
use loupe_analysis::contract::message_line;
use loupe_client::login::{LoginStore, Step};
use loupe_client::{self, Call, CancelToken, Options, Session, SessionEvent};
use loupe_core::capture::{Capture, Outcome};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Grant, Http, Login, Source, Transport};

fn source(peer: &OAuthPeer) -> Source {
    Source::Http(Http {
        url: peer.url(),
        headers: Vec::new(),
        login: Some(Login::default()),
        ..Http::default()
    })
}

/// A person with a browser, and everything that was written meanwhile.
#[derive(Clone, Default)]
struct Desk {
    steps: Arc<Mutex<Vec<Step>>>,
    written: Arc<Mutex<String>>,
    keep: LoginStore,
}

impl Desk {
    fn keeping(folder: &Path) -> Self {
        Self {
            keep: LoginStore {
                keychain: false,
                folder: Some(folder.to_owned()),
            },
            ..Self::default()
        }
    }

    async fn connect(&self, source: &Source) -> Result<Session, Problem> {
        let (steps, written) = (Arc::clone(&self.steps), Arc::clone(&self.written));
        let browser = Visit::new();
        let happenings: loupe_client::OnSessionEvent = Arc::new(move |happening| {
            if let SessionEvent::Login(step) = happening {
                if let Step::Open { url, .. } = &step {
                    browser.go(url.clone());
                }
                steps.lock().unwrap().push(step);
            }
        });
        let options = Options {
            logins: self.keep.clone(),
            transcript: Some(Arc::new(move |line| {
                written
                    .lock()
                    .unwrap()
                    .push_str(&message_line(&line.message()))
            })),
            ..options()
        };
        loupe_client::connect(source, options, happenings)
            .await
            .map_err(Problem::from)
    }

    async fn refused(&self, source: &Source) -> Problem {
        self.refused_as(ProblemKind::Auth, source).await
    }

    async fn refused_as(&self, kind: ProblemKind, source: &Source) -> Problem {
        let Err(problem) = self.connect(source).await else {
            panic!("connected")
        };
        assert_eq!(problem.kind, kind, "{problem}");
        self.wrote(&format!("{problem:?}"));
        problem
    }

    fn wrote(&self, text: &str) {
        self.written.lock().unwrap().push_str(text);
    }

    fn log(&self) -> String {
        let lines = self.steps.lock().unwrap();
        lines
            .iter()
            .filter_map(|step| {
                if let Step::Line(line) = step {
                    Some(line.clone() + "\n")
                } else {
                    None
                }
            })
            .collect()
    }

    fn opened(&self) -> usize {
        self.steps
            .lock()
            .unwrap()
            .iter()
            .filter(|step| matches!(step, Step::Open { .. }))
            .count()
    }

    /// Neither the log nor anything else that was written holds a secret.
    fn is_clean(&self) {
        let written = self.log() + &self.written.lock().unwrap();
        assert!(!written.contains("canary-"), "{written}");
    }
}

async fn called(session: &Session, desk: &Desk) -> Capture {
    let capture = session.call(call("{}"), CancelToken::new()).await;
    desk.wrote(&format!("{capture:?}"));
    capture
}

#[tokio::test]
async fn a_login_goes_step_by_step_and_leaves_no_secret() {
    let (peer, desk) = (OAuthPeer::start(Modes::default()).await, Desk::default());
    let session = desk.connect(&source(&peer)).await.unwrap();
    assert_eq!(
        session
            .list_tools(Duration::from_secs(60))
            .await
            .unwrap()
            .tools
            .len(),
        1
    );
    assert_eq!(called(&session, &desk).await.outcome, Outcome::Result);
    session.close().await;
    let log = desk.log();
    let mut rest = log.as_str();
    for step in [
        "HTTP 401 Unauthorized: the server wants a login",
        "/.well-known/oauth-protected-resource/mcp → HTTP 200",
        "/.well-known/oauth-authorization-server → HTTP 200",
        &format!("the authorization server is {}", peer.base),
        "asking for the scopes read",
        "registering Loupe as a client",
        "/register {",
        "waiting for the browser to come back to http://127.0.0.1:",
        "exchanging its code",
        "grant_type=authorization_code",
        "logged in with the scopes read; the login is kept until the session ends",
    ] {
        let at = rest
            .find(step)
            .unwrap_or_else(|| panic!("{step} is missing, or not in its place:\n{log}"));
        rest = &rest[at + step.len()..];
    }
    assert_eq!(desk.opened(), 1);
    assert_eq!(
        desk.steps.lock().unwrap().last(),
        Some(&Step::Over { worked: true })
    );
    desk.is_clean();
}

/// A stream that stays open outlives the token it was opened with.
#[tokio::test]
async fn a_token_that_runs_out_is_refreshed_on_a_stream_of_2024_too() {
    let peer = OAuthPeer::start(Modes {
        streams: true,
        ..Modes::default()
    })
    .await;
    let desk = Desk::default();
    let Source::Http(http) = source(&peer) else {
        unreachable!()
    };
    let source = Source::Http(Http {
        transport: Transport::Sse,
        ..http
    });
    let session = desk.connect(&source).await.unwrap();
    assert_eq!(called(&session, &desk).await.outcome, Outcome::Result);
    peer.expire();
    let capture = called(&session, &desk).await;
    assert_eq!(capture.outcome, Outcome::Result, "{:?}", capture.problem);
    assert_eq!((desk.opened(), peer.count("POST /token")), (1, 2));
    session.close().await;
    desk.is_clean();
}

#[tokio::test]
async fn a_kept_login_is_used_again_refreshed_and_at_last_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let peer = OAuthPeer::start(Modes::default()).await;
    let first = Desk::keeping(folder.path());
    first.connect(&source(&peer)).await.unwrap().close().await;
    assert_eq!(first.opened(), 1);

    let again = Desk::keeping(folder.path());
    again.connect(&source(&peer)).await.unwrap().close().await;
    assert_eq!((again.opened(), peer.count("POST /token")), (0, 1));

    peer.expire();
    let refreshed = Desk::keeping(folder.path());
    refreshed
        .connect(&source(&peer))
        .await
        .unwrap()
        .close()
        .await;
    assert_eq!((refreshed.opened(), peer.count("POST /token")), (0, 2));
    assert!(
        refreshed.log().contains("the token was refreshed"),
        "{}",
        refreshed.log()
    );

    peer.expire();
    peer.set(|modes| modes.refuse_refresh = true);
    let replaced = Desk::keeping(folder.path());
    replaced
        .connect(&source(&peer))
        .await
        .unwrap()
        .close()
        .await;
    assert_eq!(replaced.opened(), 1);
    assert!(
        replaced.log().contains("the token could not be refreshed"),
        "{}",
        replaced.log()
    );
    [first, again, refreshed, replaced]
        .iter()
        .for_each(Desk::is_clean);
}

#[tokio::test]
async fn a_login_moves_to_another_authorization_server_only_by_a_persons_word() {
    let folder = tempfile::tempdir().unwrap();
    let peer = OAuthPeer::start(Modes::default()).await;
    let desk = Desk::keeping(folder.path());
    desk.connect(&source(&peer)).await.unwrap().close().await;
    peer.expire();
    peer.set(|modes| modes.issuer_path = "/other");
    let other = format!("{}/other", peer.base);
    let problem = desk.refused_as(ProblemKind::Consent, &source(&peer)).await;
    assert!(
        problem
            .what
            .contains(&format!("than before: {other} in place of {}", peer.base)),
        "{problem}"
    );
    assert!(
        problem
            .hint
            .unwrap()
            .contains(&format!("--authorization-server {other}"))
    );
    assert_eq!(
        (
            desk.opened(),
            peer.count("POST /register"),
            peer.count("POST /token")
        ),
        (1, 1, 1)
    );

    // Said so, it is a new login, and nothing of the one before goes there.
    let Source::Http(http) = source(&peer) else {
        unreachable!()
    };
    let source = Source::Http(Http {
        login: Some(Login {
            server: Some(other),
            ..Login::default()
        }),
        ..http
    });
    desk.connect(&source).await.unwrap().close().await;
    assert_eq!((desk.opened(), peer.count("POST /register")), (2, 2));
    assert!(
        !peer
            .seen()
            .iter()
            .any(|line| line.contains("grant_type=refresh_token"))
    );
    desk.is_clean();
}

/// Whoever runs a server could name an authorization server of their own, and would have what is typed.
#[tokio::test]
async fn what_a_person_gives_goes_elsewhere_only_by_their_word() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "canary-workload").unwrap();
    let peer = OAuthPeer::start(Modes {
        alone: true,
        elsewhere: true,
        ..Modes::default()
    })
    .await;
    let client = Login {
        client_id: Some("robot".into()),
        ..Login::default()
    };
    let secret = Login {
        client_secret: Some("canary-client-secret".into()),
        ..client.clone()
    };
    let workload = Login {
        grant: Grant::Workload,
        assertion: Some(token.clone()),
        ..Login::default()
    };
    for login in [
        secret.clone(),
        Login {
            grant: Grant::ClientCredentials,
            ..secret.clone()
        },
        Login {
            grant: Grant::ClientCredentials,
            client_key: Some("tests/data/login/key.pem".into()),
            ..client.clone()
        },
        workload.clone(),
        Login {
            grant: Grant::Enterprise,
            assertion: Some(token.clone()),
            idp: Some(format!("{}/idp", peer.base)),
            idp_client_id: Some("desk".into()),
            ..secret
        },
    ] {
        let desk = Desk::default();
        let problem = desk
            .refused_as(ProblemKind::Consent, &alone(&peer, login.clone()))
            .await;
        assert!(problem.what.contains(&peer.elsewhere), "{problem}");
        let hint = problem.hint.unwrap();
        assert!(
            hint.contains(&format!("--authorization-server {}", peer.elsewhere)),
            "{hint}"
        );
        assert!(
            !desk
                .steps
                .lock()
                .unwrap()
                .iter()
                .any(|step| matches!(step, Step::Choose(_)))
        );
        // In the window a person is asked, with the name before their eyes.
        let window = Desk::default();
        window
            .refused_as(
                ProblemKind::Consent,
                &alone(
                    &peer,
                    Login {
                        asks: true,
                        ..login
                    },
                ),
            )
            .await;
        assert!(
            window
                .steps
                .lock()
                .unwrap()
                .contains(&Step::Choose(vec![peer.elsewhere.clone()]))
        );
        [desk, window].iter().for_each(Desk::is_clean);
    }
    assert!(
        !peer
            .seen()
            .iter()
            .any(|line| line.contains("canary-") || line.starts_with("POST /token")),
        "{:?}",
        peer.seen()
    );

    let desk = Desk::default();
    let said = Login {
        server: Some(peer.elsewhere.clone()),
        ..workload
    };
    desk.connect(&alone(&peer, said.clone()))
        .await
        .unwrap()
        .close()
        .await;
    assert_eq!(peer.count("POST /token"), 1);
    // Another one than the one that was named is no way around it.
    peer.set(|modes| modes.elsewhere = false);
    desk.refused(&alone(&peer, said)).await;
    assert_eq!(peer.count("POST /token"), 1);

    // A login that a person makes in the browser, where they see the address, gives nothing of theirs away.
    peer.set(|modes| {
        *modes = Modes {
            elsewhere: true,
            ..Modes::default()
        }
    });
    desk.connect(&source(&peer)).await.unwrap().close().await;
    desk.is_clean();
}

#[tokio::test]
async fn no_endpoint_is_nearer_than_the_server_or_in_clear() {
    for endpoint in [
        (
            "registration_endpoint",
            "http://169.254.169.254/latest/meta-data",
        ),
        ("registration_endpoint", "https://10.0.0.1/register"),
        ("token_endpoint", "http://auth.example/token"),
        ("token_endpoint", "https://192.168.1.1/token"),
        ("authorization_endpoint", "file:///etc/passwd"),
    ] {
        let (peer, desk) = (
            OAuthPeer::start(Modes {
                endpoint: Some(endpoint),
                ..Modes::default()
            })
            .await,
            Desk::default(),
        );
        let problem = desk.refused(&source(&peer)).await;
        let what = format!(
            "the authorization server's {} is not an address to send to from this server: {}",
            endpoint.0, endpoint.1
        );
        assert_eq!(problem.what, what);
        assert_eq!(
            (
                desk.opened(),
                peer.count("POST /register"),
                peer.count("POST /token")
            ),
            (0, 0, 0)
        );
    }
}

#[tokio::test]
async fn servers_that_must_not_be_logged_in_to_are_refused() {
    for (modes, what, tokens) in [
        (
            Modes {
                no_pkce: true,
                ..Modes::default()
            },
            "PKCE",
            0,
        ),
        (
            Modes {
                wrong_iss: true,
                ..Modes::default()
            },
            "not from the authorization server that was asked",
            0,
        ),
        (
            Modes {
                refuse_registration: true,
                ..Modes::default()
            },
            "Only a and b",
            0,
        ),
        (
            Modes {
                pages: true,
                ..Modes::default()
            },
            "where the login's metadata belongs came a web page (HTTP 200) from http://",
            0,
        ),
        (
            Modes {
                deny: true,
                ..Modes::default()
            },
            "did not log you in (access_denied)",
            0,
        ),
    ] {
        let (peer, desk) = (OAuthPeer::start(modes).await, Desk::default());
        let problem = desk.refused(&source(&peer)).await;
        assert!(problem.what.contains(what), "{problem}");
        assert!(problem.hint.is_some());
        assert_eq!(peer.count("POST /token"), tokens, "{what}");
        assert_eq!(
            desk.steps.lock().unwrap().last(),
            Some(&Step::Over { worked: false })
        );
        desk.is_clean();
    }
}

#[tokio::test]
async fn without_being_asked_nobody_logs_in() {
    let (peer, desk) = (OAuthPeer::start(Modes::default()).await, Desk::default());
    let source = Source::Http(Http {
        url: peer.url(),
        ..Http::default()
    });
    let problem = desk.refused(&source).await;
    assert!(problem.hint.unwrap().contains("--login"));
    assert_eq!(peer.seen().len(), 2, "the probe and the handshake");
    assert!(desk.steps.lock().unwrap().is_empty());
}

/// However sparely a server describes its login, and whatever it forbids on the way.
#[tokio::test]
async fn a_login_asks_for_what_the_server_names_and_no_more() {
    let bare = |scopes| Modes {
        bare: Some(scopes),
        ..Modes::default()
    };
    for (modes, asked) in [
        (bare(&["a", "b"]), "&scope=a+b&"),
        (bare(&["a", "offline_access"]), "&scope=a+offline_access&"),
        (bare(&[]), ""),
        (
            Modes {
                root_only: true,
                ..Modes::default()
            },
            "&scope=read&",
        ),
        (
            Modes {
                refuse_version: true,
                ..Modes::default()
            },
            "&scope=read&",
        ),
    ] {
        let (peer, desk) = (OAuthPeer::start(modes).await, Desk::default());
        let session = desk
            .connect(&source(&peer))
            .await
            .unwrap_or_else(|problem| panic!("{asked}: {problem}\n{}", desk.log()));
        assert_eq!(called(&session, &desk).await.outcome, Outcome::Result);
        let seen = peer.seen();
        let address = seen
            .iter()
            .find(|line| line.starts_with("GET /authorize"))
            .unwrap();
        assert!(
            format!("{address}&").contains(asked)
                && (asked.is_empty() != address.contains("scope=")),
            "{asked}: {address}"
        );
        session.close().await;
        desk.is_clean();
    }
}

#[tokio::test]
async fn a_probe_that_no_login_satisfies_leads_to_one_login() {
    let (peer, desk) = (
        OAuthPeer::start(Modes {
            refuse_probe: true,
            ..Modes::default()
        })
        .await,
        Desk::default(),
    );
    let session = desk.connect(&source(&peer)).await.unwrap();
    assert_eq!(called(&session, &desk).await.outcome, Outcome::Result);
    assert_eq!(
        (desk.opened(), session.server().protocol_version.as_str()),
        (1, "2025-11-25")
    );
    session.close().await;
}

#[tokio::test]
async fn a_call_that_lacks_a_scope_is_sent_again_after_a_login_with_both() {
    let (peer, desk) = (
        OAuthPeer::start(Modes {
            step_up: true,
            ..Modes::default()
        })
        .await,
        Desk::default(),
    );
    let session = desk.connect(&source(&peer)).await.unwrap();
    let capture = called(&session, &desk).await;
    assert_eq!(
        (capture.outcome, capture.notes.as_slice()),
        (
            Outcome::Result,
            &["the request was sent again after logging in".to_owned()][..]
        )
    );
    assert!(
        peer.seen()
            .iter()
            .any(|line| line.starts_with("GET /authorize") && line.contains("scope=read+write"))
    );
    assert_eq!(desk.opened(), 2);
    session.close().await;
    desk.is_clean();
}

#[tokio::test]
async fn logins_that_do_not_help_come_to_an_end() {
    let (peer, desk) = (
        OAuthPeer::start(Modes {
            never_enough: true,
            ..Modes::default()
        })
        .await,
        Desk::default(),
    );
    let session = desk.connect(&source(&peer)).await.unwrap();
    let capture = called(&session, &desk).await;
    let problem = capture.problem.unwrap();
    assert_eq!(problem.kind, ProblemKind::Auth);
    assert!(
        problem.what.contains("still refuses after 3 logins"),
        "{problem}"
    );
    assert_eq!(desk.opened(), 4);
    // The session is as good as before.
    assert_eq!(
        session
            .list_tools(Duration::from_secs(60))
            .await
            .unwrap()
            .tools
            .len(),
        1
    );
    session.close().await;
    desk.is_clean();
}

#[tokio::test]
async fn time_limits_wait_for_the_person_and_a_call_can_be_given_up() {
    let (peer, desk) = (
        OAuthPeer::start(Modes {
            step_up: true,
            ..Modes::default()
        })
        .await,
        Desk::default(),
    );
    let session = Arc::new(desk.connect(&source(&peer)).await.unwrap());
    peer.set(|modes| modes.silent = true);
    let cancel = CancelToken::new();
    let calling = {
        let (session, cancel) = (Arc::clone(&session), cancel.clone());
        tokio::spawn(async move {
            session
                .call(
                    Call {
                        limit: Duration::from_millis(500),
                        ..call("{}")
                    },
                    cancel,
                )
                .await
        })
    };
    until("the browser", || (desk.opened() == 2).then_some(())).await;
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert!(
        !calling.is_finished(),
        "the call ended while somebody was logging in"
    );
    cancel.cancel();
    assert_eq!(calling.await.unwrap().outcome, Outcome::Cancelled);
    until("the end of the login", || {
        (desk.steps.lock().unwrap().last() == Some(&Step::Over { worked: false })).then_some(())
    })
    .await;
    desk.is_clean();
}

/// A login without a browser, as the tests below ask for it.
fn alone(peer: &OAuthPeer, login: Login) -> Source {
    Source::Http(Http {
        url: peer.url(),
        login: Some(login),
        ..Http::default()
    })
}

#[tokio::test]
async fn a_client_logs_in_by_its_key_in_place_of_a_secret() {
    let (peer, desk) = (
        OAuthPeer::start(Modes {
            alone: true,
            ..Modes::default()
        })
        .await,
        Desk::default(),
    );
    let by_key = |key: &str| {
        let (client_id, client_key) = (
            Some("robot".into()),
            Some(format!("tests/data/login/{key}").into()),
        );
        alone(
            &peer,
            Login {
                grant: Grant::ClientCredentials,
                client_id,
                client_key,
                ..Login::default()
            },
        )
    };
    let session = desk.connect(&by_key("key.pem")).await.unwrap();
    assert_eq!(called(&session, &desk).await.outcome, Outcome::Result);
    session.close().await;
    assert_eq!(desk.opened(), 0);
    assert!(
        desk.log().contains("by an assertion signed with ES256"),
        "{}",
        desk.log()
    );
    assert!(desk.log().contains("client_assertion=…"), "{}", desk.log());
    assert!(
        desk.refused(&by_key("none.pem"))
            .await
            .message()
            .contains("none.pem cannot be read")
    );
    // A text that is no key: nothing is sent.
    let before = peer.count("POST /token");
    let problem = desk.refused(&by_key("no-key.txt")).await;
    assert!(
        problem
            .message()
            .contains("signs with no algorithm that the authorization server takes"),
        "{problem}"
    );
    assert_eq!(peer.count("POST /token"), before);
    desk.is_clean();
}

#[tokio::test]
async fn a_workload_logs_in_by_its_token_and_asks_once() {
    let (peer, desk) = (
        OAuthPeer::start(Modes {
            alone: true,
            ..Modes::default()
        })
        .await,
        Desk::default(),
    );
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    let source = alone(
        &peer,
        Login {
            grant: Grant::Workload,
            assertion: Some(token.clone()),
            ..Login::default()
        },
    );
    assert!(
        desk.refused(&source)
            .await
            .message()
            .contains("cannot be read")
    );
    std::fs::write(&token, "canary-other\n").unwrap();
    assert!(
        desk.refused(&source)
            .await
            .message()
            .contains("invalid_grant")
    );
    assert_eq!(peer.count("POST /token"), 1);
    // The platform has put another one in its place.
    std::fs::write(&token, "canary-workload\n").unwrap();
    let session = desk.connect(&source).await.unwrap();
    assert_eq!(called(&session, &desk).await.outcome, Outcome::Result);
    session.close().await;
    assert_eq!(desk.opened(), 0);
    desk.is_clean();
}

#[tokio::test]
async fn a_person_logs_in_by_an_id_token_of_the_organisation() {
    let (peer, desk) = (
        OAuthPeer::start(Modes {
            alone: true,
            ..Modes::default()
        })
        .await,
        Desk::default(),
    );
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "canary-id-token").unwrap();
    let login = Login {
        grant: Grant::Enterprise,
        client_id: Some("robot".into()),
        assertion: Some(token.clone()),
        idp: Some(format!("{}/idp", peer.base)),
        idp_client_id: Some("desk".into()),
        ..Login::default()
    };
    let session = desk.connect(&alone(&peer, login.clone())).await.unwrap();
    assert_eq!(called(&session, &desk).await.outcome, Outcome::Result);
    session.close().await;
    let forms: Vec<_> = peer
        .seen()
        .into_iter()
        .filter(|line| line.contains("/token "))
        .collect();
    assert!(
        forms[0].starts_with("POST /idp/token") && forms[1].starts_with("POST /token"),
        "{forms:?}"
    );

    // What is missing is said before anything is sent; a token that has expired is said to be that.
    let without = Login {
        idp_client_id: None,
        ..login.clone()
    };
    assert!(
        desk.refused(&alone(&peer, without))
            .await
            .message()
            .contains("needs an identity provider")
    );
    std::fs::write(&token, "canary-old-token").unwrap();
    assert!(
        desk.refused(&alone(&peer, login))
            .await
            .message()
            .contains("the identity provider does not accept")
    );
    desk.is_clean();
}

/// The program itself, with no keychain to be found.
fn loupe(args: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-loupe"));
    command
        .args(args)
        .args(["--data-dir", folder.to_str().unwrap()]);
    command
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_shows_the_address_and_opens_a_browser_only_when_told() {
    let folder = tempfile::tempdir().unwrap();
    let (peer, browser) = (OAuthPeer::start(Modes::default()).await, Visit::new());
    let url = peer.url();
    let mut child = loupe(
        &["tools", "--json", "--url", &url, "--login"],
        folder.path(),
    )
    .env("BROWSER", "false")
    .spawn()
    .unwrap();
    let mut written = String::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some((_, address)) = line.split_once("open this address to log in, within 300 s: ") {
            browser.go(address.to_owned());
        }
        written += &format!("{line}\n");
    }
    let mut stdout = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut stdout)
        .unwrap();
    assert!(child.wait().unwrap().success(), "{written}");
    assert!(
        stdout.contains("loupe.tools/1") && !written.contains("the browser was asked"),
        "{written}"
    );
    assert!(
        written.contains(
            "login: logged in with the scopes read; the system's keychain cannot be used"
        ),
        "{written}"
    );
    assert!(
        written.contains("logins.json, which only you can read"),
        "{written}"
    );

    // The login is there now; the quiet way says nothing at all.
    let output = loupe(
        &["tools", "--url", &url, "--login", "--quiet"],
        folder.path(),
    )
    .output()
    .unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    written += &String::from_utf8_lossy(&output.stdout);

    // Another client of the same server has no login yet; `--yes` has the browser opened.
    let (script, opened) = (folder.path().join("browser"), folder.path().join("opened"));
    std::fs::write(
        &script,
        format!(
            "printf '%s' \"$1\" > {0}.part; mv {0}.part {0}\n",
            opened.display()
        ),
    )
    .unwrap();
    std::fs::remove_file(folder.path().join("logins.json")).unwrap();
    let child = loupe(
        &["tools", "--url", &url, "--login", "--yes", "--quiet"],
        folder.path(),
    )
    .env("BROWSER", format!("sh {} %s", script.display()))
    .spawn()
    .unwrap();
    let address = until("the browser", || std::fs::read_to_string(&opened).ok()).await;
    browser.go(address);
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap())
        .await
        .unwrap();
    written += &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{written}");
    assert!(!written.contains("canary-"), "{written}");

    // Not asked for, it fails and says how.
    let output = loupe(&["tools", "--url", &url], folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("hint: log in (`--login`)"));
}

#[tokio::test]
async fn of_several_authorization_servers_a_person_chooses_one() {
    let peer = OAuthPeer::start(Modes {
        another: true,
        ..Modes::default()
    })
    .await;
    let (another, own) = (format!("{}/another", peer.base), peer.base.clone());
    let wish = |login: Login| {
        Source::Http(Http {
            url: peer.url(),
            login: Some(login),
            ..Http::default()
        })
    };
    let folder = tempfile::tempdir().unwrap();

    // Where a person is asked nothing is tried before the answer.
    let desk = Desk::keeping(folder.path());
    let problem = desk
        .refused(&wish(Login {
            asks: true,
            ..Login::default()
        }))
        .await;
    assert!(
        problem
            .what
            .contains(&format!("2 authorization servers: {another}, {own}")),
        "{problem}"
    );
    let choices = desk.steps.lock().unwrap().clone();
    assert!(
        choices.contains(&Step::Choose(vec![another.clone(), own.clone()])),
        "{choices:?}"
    );
    assert_eq!((desk.opened(), peer.count("POST /register")), (0, 0));

    let unknown = desk
        .refused(&wish(Login {
            server: Some("https://elsewhere.example".into()),
            ..Login::default()
        }))
        .await;
    assert!(
        unknown
            .what
            .contains("does not name the authorization server https://elsewhere.example"),
        "{unknown}"
    );

    let session = desk
        .connect(&wish(Login {
            server: Some(own.clone()),
            asks: true,
            ..Login::default()
        }))
        .await
        .unwrap();
    session.close().await;
    assert!(
        desk.log().contains(&format!("{own} is tried")),
        "{}",
        desk.log()
    );
    assert!(
        !peer
            .seen()
            .iter()
            .skip(4)
            .any(|line| line.contains("oauth-authorization-server/another")),
        "{:?}",
        peer.seen()
    );

    // What is kept says which it was, so nobody is asked again; once forgotten somebody is.
    peer.expire();
    let again = Desk::keeping(folder.path());
    again
        .connect(&wish(Login {
            asks: true,
            ..Login::default()
        }))
        .await
        .unwrap()
        .close()
        .await;
    assert_eq!(again.opened(), 0, "{}", again.log());
    let keep = LoginStore {
        keychain: false,
        folder: Some(folder.path().to_owned()),
    };
    assert!(
        loupe_client::login::forget(&keep, &peer.url(), None)
            .await
            .unwrap()
            .contains("was removed from")
    );
    let forgotten = Desk::keeping(folder.path());
    forgotten
        .refused(&wish(Login {
            asks: true,
            ..Login::default()
        }))
        .await;
    assert!(forgotten.log().contains("wants a login"));

    // Without anybody to ask it is the first, and the log says how to have another.
    let first = Desk::default();
    first.refused(&wish(Login::default())).await;
    let log = first.log();
    assert!(
        log.contains(&format!("{another} is tried"))
            && log.contains("`--authorization-server URL`"),
        "{log}"
    );
    [desk, again, forgotten, first]
        .iter()
        .for_each(Desk::is_clean);
}
