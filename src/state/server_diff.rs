//! The tools of the connected server against another list: those of another server, another version, another variant of
//! the sample, or a file. The other server is connected only while it lists its tools; the connection in use stays.

use std::path::PathBuf;
use std::sync::Arc;

use super::login::LoginLog;
use super::{
    Connection, Dialog, Effect, PathPurpose, Screen, SessionEffect, SessionId, SessionUpdate, State,
};
use loupe_core::capture::{Server, Tool};
use loupe_core::problem::Problem;
use loupe_core::source::Source;

/// A list of tools, and where it is from.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolListing {
    /// The server's name and version, or the file's name.
    pub name: String,
    /// The source or the path.
    pub place: String,
    pub tools: Vec<Arc<Tool>>,
    /// What has to be known to read the comparison.
    pub note: Option<String>,
}

/// What a path that was given holds.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolsRead {
    List(ToolListing),
    /// A folder of captures: its tools are listed as those of a server that answers from it.
    Folder(PathBuf),
}

/// What is known of the comparison.
#[derive(Debug, Default)]
pub struct ServerDiff {
    /// Whether the connect screen is asked for the other list.
    pub is_choosing: bool,
    /// How far the other server is, or why it did not come to be.
    pub connection: Connection,
    pub other: Option<ToolListing>,
    /// Whether the server in use is the first side; else the other list is, as the older of two versions.
    pub is_turned: bool,
    /// The number of that list.
    pub(super) listing: u64,
    /// The tool looked at, by name.
    pub chosen: Option<String>,
    /// The connection that lists, if one is being made.
    session: Option<SessionId>,
    /// Its login.
    pub login: LoginLog,
    /// The server of that connection.
    server: Option<Server>,
}

impl ServerDiff {
    /// Whether it is the connection that lists.
    pub(super) fn is_session(&self, session: SessionId) -> bool {
        self.session == Some(session)
    }

    /// The connection that lists; that of nobody where none does.
    pub(super) fn session_id(&self) -> SessionId {
        self.session.unwrap_or_default()
    }

    /// Whether a server is being asked for its tools.
    pub fn is_listing(&self) -> bool {
        matches!(self.connection, Connection::Connecting { .. })
    }
}

/// What the user does about it.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerDiffAction {
    /// The comparison, or the way to its other list.
    Show,
    /// To the connect screen, for the other list.
    Choose,
    /// Connects, lists, and disconnects.
    List(Box<Source>),
    /// Ends the connection that is being made.
    Cancel,
    /// Back from choosing.
    Leave,
    /// A file or folder with tools; `None` asks for the path.
    Open(Option<PathBuf>),
    Turn,
    /// Looks at a tool; again, at none.
    Look(String),
    Copy,
}

impl State {
    /// The tools of the server in use, as a list.
    pub fn own_list(&self) -> ToolListing {
        let server = self.session().connection.server();
        let name = server.map_or_else(|| "This server".to_owned(), server_name);
        let place = self
            .session()
            .connection
            .source()
            .map(Source::to_string)
            .unwrap_or_default();
        ToolListing {
            name,
            place,
            tools: self.session().own_tools(),
            note: self.session().tools_note.clone(),
        }
    }

    pub(super) fn versus(&mut self, action: ServerDiffAction, effects: &mut Vec<Effect>) {
        match action {
            ServerDiffAction::Show if self.server_diff.other.is_some() => {
                self.server_diff.is_choosing = false;
                self.view.screen = Screen::ServerDiff;
            }
            ServerDiffAction::Show | ServerDiffAction::Choose => {
                self.server_diff.is_choosing = true;
                self.view.screen = Screen::Connect;
            }
            ServerDiffAction::List(source) => self.list_other(*source, effects),
            ServerDiffAction::Cancel => self.stop_listing(effects),
            ServerDiffAction::Leave => {
                self.stop_listing(effects);
                self.server_diff.is_choosing = false;
                self.server_diff.connection = Connection::None;
                let answer = if self.view.capture.is_some() {
                    Screen::Answer
                } else {
                    Screen::Start
                };
                self.view.screen = if self.server_diff.other.is_some() {
                    Screen::ServerDiff
                } else {
                    answer
                };
            }
            ServerDiffAction::Open(None) => {
                self.dialog = Some(Dialog::Path {
                    purpose: PathPurpose::OpenTools,
                    text: String::new(),
                });
            }
            ServerDiffAction::Open(Some(path)) => {
                self.dialog = None;
                effects.push(Effect::ReadTools(path));
            }
            ServerDiffAction::Turn => {
                self.server_diff.is_turned = !self.server_diff.is_turned;
            }
            ServerDiffAction::Look(name) => {
                self.server_diff.chosen =
                    (self.server_diff.chosen.as_ref() != Some(&name)).then_some(name);
            }
            ServerDiffAction::Copy => match self.tools_difference(self.versus_tools()) {
                Some(found) => {
                    let text = loupe_analysis::contract::diff_tools(found);
                    self.copy(text, effects);
                }
                None => self.toast("Still comparing. Try again soon"),
            },
        }
    }

    fn list_other(&mut self, source: Source, effects: &mut Vec<Effect>) {
        self.stop_listing(effects);
        let id = self.sessions.new_id();
        self.server_diff.session = Some(id);
        self.server_diff.server = None;
        self.server_diff.login = LoginLog::default();
        self.server_diff.connection = self.connecting(id, source, effects);
    }

    /// Ends the connection that lists, where there is one.
    pub(super) fn stop_listing(&mut self, effects: &mut Vec<Effect>) {
        if let Some(session) = self.server_diff.session.take() {
            effects.push(Effect::Session(SessionEffect::Disconnect { session }));
        }
        self.server_diff.login.open = None;
        if self.server_diff.is_listing() {
            self.server_diff.connection = Connection::None;
        }
    }

    /// Takes in what is about the connection that lists.
    pub(super) fn listing_update(&mut self, update: SessionUpdate, effects: &mut Vec<Effect>) {
        match update {
            SessionUpdate::Phase(phase) => {
                if let Connection::Connecting { phase: known, .. } =
                    &mut self.server_diff.connection
                {
                    *known = phase;
                }
            }
            SessionUpdate::Stderr(line) => {
                self.server_diff.connection.add_stderr(line);
            }
            SessionUpdate::Login(step) => self.server_diff.login.add(step, self.now),
            SessionUpdate::Connected(server) => self.server_diff.server = Some(server),
            SessionUpdate::Tools { tools, note } => self.other_listed(tools, note, effects),
            SessionUpdate::ConnectFailed(problem) | SessionUpdate::Gone(problem) => {
                self.other_failed(problem, effects)
            }
            SessionUpdate::Step(_)
            | SessionUpdate::Examined
            | SessionUpdate::Messages(_)
            | SessionUpdate::Notification(_) => {}
        }
    }

    fn other_listed(&mut self, tools: Vec<Tool>, note: Option<String>, effects: &mut Vec<Effect>) {
        let source = self.server_diff.connection.source().cloned();
        self.stop_listing(effects);
        if let Some(source) = &source {
            self.remember_source(source, effects);
        }
        let server = self.server_diff.server.take();
        self.use_other(ToolListing {
            name: server
                .as_ref()
                .map_or_else(|| "The other server".to_owned(), server_name),
            place: source.as_ref().map(Source::to_string).unwrap_or_default(),
            tools: tools.into_iter().map(Arc::new).collect(),
            note,
        });
    }

    fn other_failed(&mut self, problem: Problem, effects: &mut Vec<Effect>) {
        let stderr = self.server_diff.connection.stderr().to_vec();
        let source = self.server_diff.connection.source().cloned();
        self.stop_listing(effects);
        match source {
            Some(source) => {
                self.server_diff.connection = Connection::Failed {
                    source,
                    problem,
                    stderr,
                }
            }
            None => self.toast_problem(problem),
        }
    }

    pub(super) fn tools_read(
        &mut self,
        read: Result<ToolsRead, Problem>,
        effects: &mut Vec<Effect>,
    ) {
        match read {
            Ok(ToolsRead::List(list)) => {
                self.stop_listing(effects);
                self.use_other(list);
            }
            Ok(ToolsRead::Folder(folder)) => self.list_other(Source::Fixture(folder), effects),
            Err(problem) => self.toast_problem(problem),
        }
    }

    fn use_other(&mut self, list: ToolListing) {
        self.server_diff.other = Some(list);
        self.server_diff.listing = self.number_listing();
        self.server_diff.is_choosing = false;
        self.server_diff.connection = Connection::None;
        self.view.screen = Screen::ServerDiff;
    }
}

fn server_name(server: &Server) -> String {
    server.heading().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use crate::state::ConnectAction;
    use bytes::Bytes;

    use loupe_analysis::queries::Target;

    use super::*;
    use crate::state::{Action, Event};
    use loupe_core::problem::ProblemKind;
    use loupe_core::source::Command;

    fn tool(text: &'static str) -> Tool {
        Tool::read(Bytes::from_static(text.as_bytes()))
    }

    const A: &str = r#"{"name":"a","inputSchema":{}}"#;
    const B: &str = r#"{"name":"b","inputSchema":{}}"#;

    fn perform(state: &mut State, action: impl Into<Action>) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.perform(action, &mut effects);
        effects
    }

    fn apply(state: &mut State, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.apply(event, &mut effects);
        effects
    }

    fn command(program: &str) -> Source {
        Source::Command(Command {
            program: program.into(),
            ..Command::default()
        })
    }

    fn connected() -> State {
        let mut state = State::default();
        perform(
            &mut state,
            ConnectAction::Connect(Box::new(command("mine"))),
        );
        let session = state.session().id;
        apply(
            &mut state,
            Event::Session {
                session,
                update: SessionUpdate::Connected(Server::default()),
            },
        );
        apply(
            &mut state,
            Event::Session {
                session,
                update: SessionUpdate::Tools {
                    tools: vec![tool(A)],
                    note: None,
                },
            },
        );
        state
    }

    /// The number of the connection that an effect begins.
    fn begun(effects: &[Effect]) -> SessionId {
        let session = effects.iter().find_map(|effect| match effect {
            Effect::Session(SessionEffect::Connect { session, .. }) => Some(*session),
            _ => None,
        });
        session.expect("a connection")
    }

    #[test]
    fn another_server_is_listed_and_let_go_while_the_one_in_use_stays() {
        let mut state = connected();
        perform(&mut state, Action::ServerDiff(ServerDiffAction::Show));
        assert_eq!(
            (state.view.screen, state.server_diff.is_choosing),
            (Screen::Connect, true)
        );
        // What is typed on the connect screen is the other server now.
        state.connect_form.command = "other --now".into();
        let session = begun(&perform(&mut state, ConnectAction::UseForm));
        assert!(session != state.session().id && state.session().connection.is_connected());
        apply(
            &mut state,
            Event::Session {
                session,
                update: SessionUpdate::Stderr("starting".into()),
            },
        );
        assert_eq!(state.server_diff.connection.stderr(), ["starting"]);
        let server = Server {
            name: "other".into(),
            version: "2".into(),
            ..Server::default()
        };
        apply(
            &mut state,
            Event::Session {
                session,
                update: SessionUpdate::Connected(server),
            },
        );
        let effects = apply(
            &mut state,
            Event::Session {
                session,
                update: SessionUpdate::Tools {
                    tools: vec![tool(A), tool(B)],
                    note: None,
                },
            },
        );
        assert!(
            effects.contains(&Effect::Session(SessionEffect::Disconnect { session })),
            "{effects:?}"
        );
        assert_eq!(sides(&state), [2, 1]);
        assert_eq!(
            (
                state.view.screen,
                state.session().tools.len(),
                state.server_diff.is_choosing
            ),
            (Screen::ServerDiff, 1, false)
        );
        assert_eq!(
            state
                .server_diff
                .other
                .as_ref()
                .map(|list| list.name.as_str()),
            Some("other 2")
        );
        // What that server says after its end is nobody's.
        apply(
            &mut state,
            Event::Session {
                session,
                update: SessionUpdate::Gone(Problem::new(ProblemKind::Disconnected, "gone")),
            },
        );
        assert!(state.session().connection.is_connected() && state.toasts.is_empty());
    }

    /// How many tools each side of the comparison has.
    fn sides(state: &State) -> Vec<usize> {
        let Target::Definitions(listings) = state.versus_tools().unwrap().target else {
            panic!("not about definitions")
        };
        listings
            .iter()
            .map(|listing| state.listing(*listing).unwrap().tools.len())
            .collect()
    }

    #[test]
    fn another_list_or_the_other_way_round_is_another_comparison() {
        let mut state = connected();
        let list = |tools| ToolListing {
            name: "file".into(),
            place: "/f".into(),
            tools,
            note: None,
        };
        apply(
            &mut state,
            Event::ToolsRead(Ok(ToolsRead::List(list(vec![
                Arc::new(tool(B)),
                Arc::new(tool(A)),
            ])))),
        );
        let first = state.versus_tools();
        assert_eq!(sides(&state), [2, 1]);
        perform(&mut state, Action::ServerDiff(ServerDiffAction::Turn));
        assert_eq!(sides(&state), [1, 2]);
        assert_ne!(state.versus_tools(), first);
        perform(&mut state, Action::ServerDiff(ServerDiffAction::Turn));
        assert_eq!(state.versus_tools(), first);
        apply(
            &mut state,
            Event::ToolsRead(Ok(ToolsRead::List(list(vec![
                Arc::new(tool(B)),
                Arc::new(tool(A)),
            ])))),
        );
        assert_ne!(state.versus_tools(), first, "it may hold other tools");
    }

    #[test]
    fn a_server_that_does_not_come_to_be_says_why_and_can_be_cancelled() {
        let mut state = connected();
        perform(&mut state, Action::ServerDiff(ServerDiffAction::Choose));
        let session = begun(&perform(
            &mut state,
            Action::ServerDiff(ServerDiffAction::List(Box::new(command("none")))),
        ));
        let problem =
            Problem::new(ProblemKind::NotFound, "no such program").hint("is it installed?");
        let effects = apply(
            &mut state,
            Event::Session {
                session,
                update: SessionUpdate::ConnectFailed(problem),
            },
        );
        assert_eq!(
            effects,
            [Effect::Session(SessionEffect::Disconnect { session })]
        );
        assert!(
            matches!(&state.server_diff.connection, Connection::Failed { problem, .. } if problem.hint.is_some())
        );
        assert_eq!(
            (state.view.screen, state.session().connection.is_connected()),
            (Screen::Connect, true)
        );
        let next = begun(&perform(
            &mut state,
            Action::ServerDiff(ServerDiffAction::List(Box::new(command("slow")))),
        ));
        assert!(next > session && state.server_diff.is_listing());
        assert_eq!(
            perform(&mut state, Action::ServerDiff(ServerDiffAction::Cancel)),
            [Effect::Session(SessionEffect::Disconnect { session: next })]
        );
        assert_eq!(state.server_diff.connection, Connection::None);
        perform(&mut state, Action::ServerDiff(ServerDiffAction::Leave));
        assert_eq!(
            (state.view.screen, state.server_diff.is_choosing),
            (Screen::Start, false)
        );
    }

    #[test]
    fn a_folder_of_captures_is_listed_as_a_server_and_another_connection_compares_anew() {
        let mut state = connected();
        let effects = apply(
            &mut state,
            Event::ToolsRead(Ok(ToolsRead::Folder("/captures".into()))),
        );
        assert!(
            matches!(&effects[..], [Effect::Session(SessionEffect::Connect { source, .. })] if matches!(**source, Source::Fixture(_)))
        );
        let session = begun(&effects);
        apply(
            &mut state,
            Event::Session {
                session,
                update: SessionUpdate::Tools {
                    tools: vec![tool(B)],
                    note: None,
                },
            },
        );
        perform(
            &mut state,
            ConnectAction::Connect(Box::new(command("mine"))),
        );
        assert_eq!(state.versus_tools(), None);
        let session = state.session().id;
        apply(
            &mut state,
            Event::Session {
                session,
                update: SessionUpdate::Tools {
                    tools: vec![tool(A)],
                    note: None,
                },
            },
        );
        assert_eq!(sides(&state), [1, 1]);
    }
}
