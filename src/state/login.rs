//! A login as the window shows it: its log, the address to open, and what the user does about it.

use std::time::Duration;

use super::{
    AppEffect, CallAction, ConnectAction, Connection, Effect, ServerSession, SessionEffect,
    SessionId, State,
};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Login, Source};

/// Lines of the log that are kept.
const LINES: usize = 1_000;

/// What the engine reports of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// A line of the log, secrets masked.
    Line(String),
    /// Somebody has to open this address and log in there, within the limit.
    Open {
        url: String,
        limit: Duration,
    },
    /// One of these authorization servers has to be chosen first.
    Choose(Vec<String>),
    /// The browser came back.
    Back,
    Over {
        worked: bool,
    },
}

/// The login of this session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginLog {
    /// What was done and answered, the oldest first.
    pub lines: Vec<String>,
    /// The address that waits to be opened, since when, and for how long.
    pub open: Option<(String, Duration, Duration)>,
    /// Whether the user has had it opened or copied.
    pub is_opened: bool,
    pub is_running: bool,
    /// Authorization servers of which the user has to choose one.
    pub servers: Vec<String>,
}

/// What the user does about a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginAction {
    /// Connect again to the server that refused, and log in.
    Start(Login),
    /// The same, at this one of the authorization servers that it named.
    StartAt(String),
    /// Remove the login saved for a server, as this client where one was named.
    Forget {
        url: String,
        client_id: Option<String>,
    },
    /// Open the address of this session's login in the browser.
    Open(SessionId),
    Copy(SessionId),
    /// Stop waiting for the browser.
    Cancel(SessionId),
}

impl State {
    /// Whether the last connection failed because the server wants a login and none was asked for.
    pub fn wants_login(&self) -> bool {
        matches!(&self.session().connection, Connection::Failed { source: Source::Http(http), problem, .. }
            if problem.kind == ProblemKind::Auth && http.login.is_none())
    }

    /// The login that waits for the user: that of the current server first, then those of the other servers. With the
    /// server's label where it is another one.
    pub fn open_login(&self) -> Option<(SessionId, &LoginLog, Option<String>)> {
        let listing = self.server_diff.login.open.is_some().then(|| {
            let label = self
                .server_diff
                .connection
                .source()
                .map(|source| self.server_label(source));
            (
                self.server_diff.session_id(),
                &self.server_diff.login,
                label,
            )
        });
        let of = |session: &'_ ServerSession| session.login.open.is_some();
        let waiting = self
            .sessions
            .iter()
            .find(|session| of(session))
            .map(|session| {
                let label =
                    (!self.sessions.is_current(session.id)).then(|| self.session_label(session));
                (session.id, &session.login, label)
            });
        listing.or(waiting)
    }

    /// The login that the connect screen is about.
    pub fn login_log(&self) -> &LoginLog {
        if self.server_diff.is_choosing {
            &self.server_diff.login
        } else {
            &self.session().login
        }
    }

    fn login_of(&mut self, id: SessionId) -> Option<&mut LoginLog> {
        match self.server_diff.is_session(id) {
            true => Some(&mut self.server_diff.login),
            false => self.sessions.get_mut(id).map(|session| &mut session.login),
        }
    }

    pub(super) fn login(&mut self, action: LoginAction, effects: &mut Vec<Effect>) {
        match action {
            LoginAction::Start(login) => {
                let Some(Source::Http(http)) = self.session().connection.source().cloned() else {
                    self.toast_problem(Problem::new(
                        ProblemKind::Usage,
                        "only a server at a URL can be logged in to",
                    ));
                    return;
                };
                self.connect_form.login = Some(login.clone());
                let mut http = http;
                http.login = Some(login);
                self.start_connecting(Source::Http(http), effects);
            }
            LoginAction::StartAt(server) => {
                let wish = match self.session().connection.source() {
                    Some(Source::Http(http)) => http.login.clone().unwrap_or_default(),
                    _ => Login::default(),
                };
                self.login(
                    LoginAction::Start(Login {
                        server: Some(server),
                        ..wish
                    }),
                    effects,
                );
            }
            LoginAction::Forget { url, client_id } => {
                effects.push(Effect::Session(SessionEffect::ForgetLogin {
                    session: self.session().id,
                    url,
                    client_id,
                }));
            }
            LoginAction::Open(id) => {
                if let Some(url) = self.login_of(id).and_then(LoginLog::take_url) {
                    effects.push(Effect::App(AppEffect::OpenUrl(url)));
                }
            }
            LoginAction::Copy(id) => {
                if let Some(url) = self.login_of(id).and_then(LoginLog::take_url) {
                    self.copy(url, effects);
                }
            }
            LoginAction::Cancel(id) => self.cancel_login(id, effects),
        }
    }

    /// Stops waiting for the browser: ends the call that needs the login, else the connection that does, and nothing of
    /// another server.
    fn cancel_login(&mut self, id: SessionId, effects: &mut Vec<Effect>) {
        if let Some(login) = self.login_of(id) {
            login.open = None;
        }
        if self.server_diff.is_session(id) {
            self.stop_listing(effects);
        } else if self
            .running
            .as_ref()
            .is_some_and(|running| running.session == id)
        {
            self.perform(CallAction::Cancel, effects);
        } else if self.sessions.is_current(id) {
            self.perform(ConnectAction::Cancel, effects);
        } else {
            self.close_server(id, effects);
        }
    }
}

impl LoginLog {
    /// The address to open, which counts as opened from here on.
    fn take_url(&mut self) -> Option<String> {
        let (url, ..) = self.open.as_ref()?;
        self.is_opened = true;
        Some(url.clone())
    }

    /// Takes in a step of the login, at the time `now`.
    pub(super) fn add(&mut self, step: LoginStep, now: Duration) {
        match step {
            LoginStep::Line(line) => {
                self.is_running = true;
                if self.lines.len() >= LINES {
                    self.lines.remove(0);
                }
                self.lines.push(line);
            }
            LoginStep::Open { url, limit } => {
                self.is_opened = false;
                self.open = Some((url, now, limit));
            }
            LoginStep::Choose(servers) => self.servers = servers,
            LoginStep::Back => self.open = None,
            LoginStep::Over { .. } => {
                self.open = None;
                self.is_running = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Action, Event, SessionUpdate};
    use loupe_core::source::Http;

    #[test]
    fn of_several_authorization_servers_one_is_chosen_and_a_login_is_forgotten() {
        let mut state = State::default();
        let mut effects = Vec::new();
        let login = Login {
            client_id: Some("me".into()),
            asks: true,
            ..Login::default()
        };
        let source = Source::Http(Http {
            url: "http://h/mcp".into(),
            login: Some(login.clone()),
            ..Http::default()
        });
        state.perform(ConnectAction::Connect(Box::new(source)), &mut effects);
        let session = state.session().id;
        let servers = vec!["https://a".to_owned(), "https://b".into()];
        state.apply(
            Event::Session {
                session,
                update: SessionUpdate::Login(LoginStep::Choose(servers.clone())),
            },
            &mut effects,
        );
        state.apply(
            Event::Session {
                session,
                update: SessionUpdate::ConnectFailed(Problem::new(ProblemKind::Auth, "choose")),
            },
            &mut effects,
        );
        assert_eq!(state.session().login.servers, servers);
        effects.clear();
        state.perform(
            Action::Login(LoginAction::StartAt("https://b".into())),
            &mut effects,
        );
        let Some(Effect::Session(SessionEffect::Connect { source, .. })) = effects.last() else {
            panic!("connects again")
        };
        let Source::Http(http) = &**source else {
            panic!("{effects:?}")
        };
        assert_eq!(
            http.login,
            Some(Login {
                server: Some("https://b".into()),
                ..login
            })
        );
        assert!(state.session().login.servers.is_empty());
        effects.clear();
        state.perform(
            Action::Login(LoginAction::Forget {
                url: "http://h/mcp".into(),
                client_id: None,
            }),
            &mut effects,
        );
        assert!(
            matches!(&effects[..], [Effect::Session(SessionEffect::ForgetLogin { url, .. })] if url == "http://h/mcp")
        );
    }

    #[test]
    fn a_refusal_leads_to_a_login_and_the_address_waits_for_a_click() {
        let mut state = State::default();
        let mut effects = Vec::new();
        let source = Source::Http(Http {
            url: "http://h/mcp".into(),
            ..Http::default()
        });
        state.perform(ConnectAction::Connect(Box::new(source)), &mut effects);
        let problem = Problem::new(ProblemKind::Auth, "HTTP 401");
        state.apply(
            Event::Session {
                session: state.session().id,
                update: SessionUpdate::ConnectFailed(problem.clone()),
            },
            &mut effects,
        );
        assert!(state.wants_login());
        effects.clear();
        state.perform(
            Action::Login(LoginAction::Start(Login::default())),
            &mut effects,
        );
        assert!(
            matches!(&effects[..], [Effect::Session(SessionEffect::Connect { source, .. })]
                if matches!(&**source, Source::Http(http) if http.login.is_some()))
        );
        assert!(!state.wants_login());

        let session = state.session().id;
        let step = |state: &mut State, step| {
            state.apply(
                Event::Session {
                    session,
                    update: SessionUpdate::Login(step),
                },
                &mut Vec::new(),
            )
        };
        step(&mut state, LoginStep::Line("a".into()));
        step(
            &mut state,
            LoginStep::Open {
                url: "https://as/?x".into(),
                limit: Duration::from_secs(300),
            },
        );
        effects.clear();
        state.perform(Action::Login(LoginAction::Open(session)), &mut effects);
        assert_eq!(
            effects,
            [Effect::App(AppEffect::OpenUrl("https://as/?x".into()))]
        );
        assert!(state.session().login.is_opened);
        step(&mut state, LoginStep::Back);
        assert_eq!(state.session().login.open, None);
        step(&mut state, LoginStep::Over { worked: true });
        assert_eq!(
            (
                state.session().login.is_running,
                state.session().login.lines.len()
            ),
            (false, 1)
        );

        // A login that was asked for and failed is not offered again as if nobody had asked.
        state.apply(
            Event::Session {
                session,
                update: SessionUpdate::ConnectFailed(problem),
            },
            &mut Vec::new(),
        );
        assert!(!state.wants_login());
        effects.clear();
        state.perform(ConnectAction::Reconnect, &mut effects);
        assert!(state.session().login.lines.is_empty());
        let session = state.session().id;
        state.perform(Action::Login(LoginAction::Cancel(session)), &mut effects);
        assert!(matches!(state.session().connection, Connection::None));
    }
}
