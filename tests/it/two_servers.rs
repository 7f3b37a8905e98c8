//! Two servers open at once, driven through random orders of events and actions: nothing of one may reach the other.
//!
//! Everything that a server sends, and everything that is typed while it is shown, carries its mark. After each step no
//! session, no effect for a session and nothing remembered of a server may carry the mark of the other, and no call of a
//! writing tool may be sent that was not agreed to at that server and for that definition.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use loupe_analysis::fixture::verify::refuse;
use loupe_core::capture::{Capture, CaptureId, Direction, Line, LineKind, Outcome, Server, Tool};
use loupe_core::json::Doc;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::server_request::{ELICITATION, ServerRequest};
use loupe_core::source::{Command, Source, server_key};
use mcp_loupe::state::fixture::{Filled, FoundFixture};
use mcp_loupe::state::library::{LibraryAction, LibraryEntry};
use mcp_loupe::state::wire::WireAction;
use mcp_loupe::state::{
    Action, AllowedTools, CallAction, CallUpdate, CheckTarget, ConnectAction, Dialog, Effect,
    Event, FixtureAction, FixtureEffect, FixtureEvent, ImportEffect, ImportEvent, LoginStep,
    OpenServersAction, SchemaCheck, ServerNotification, ServersAction, SessionEffect, SessionId,
    SessionUpdate, SidebarTab, State, ViewAction,
};

const MARKS: [&str; 2] = ["alphamark", "betamark"];
const STEPS: usize = 120;
const ORDERS: u64 = 150;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

struct World {
    state: State,
    dice: Dice,
    sessions: [SessionId; 2],
    /// Versions of each server's writing tool: it may change.
    versions: [usize; 2],
    /// Definitions of writing tools that are always allowed, by server.
    always: BTreeSet<(usize, String)>,
    /// Calls that were agreed to once: server, definition, arguments.
    once: BTreeMap<(usize, String, Vec<u8>), usize>,
    sent: usize,
    captures: u64,
    /// Folders of fixtures that are being read.
    preparing: Option<(u64, Vec<(PathBuf, Filled)>)>,
}

fn source(of: usize) -> Source {
    Source::Command(Command {
        program: format!("{}-server", MARKS[of]),
        ..Command::default()
    })
}

/// Both servers list tools of the same names. `write` is not declared read-only.
fn tools(of: usize, version: usize) -> Vec<Tool> {
    let mark = MARKS[of];
    let schema = format!(
        r#"{{"type":"object","properties":{{"{mark}{version}":{{"type":"string"}},"v":{{"type":"string"}}}}}}"#
    );
    let tool = |name: &str, hints: &str| {
        let text = format!(
            r#"{{"name":"{name}","description":"{mark}","annotations":{{{hints}}},"inputSchema":{schema}}}"#
        );
        Tool::read(Bytes::from(text))
    };
    vec![
        tool("read", r#""readOnlyHint":true"#),
        tool("write", ""),
        tool("erase", r#""destructiveHint":true"#),
    ]
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            state: State::default(),
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            sessions: [SessionId::default(); 2],
            versions: [0, 0],
            always: BTreeSet::new(),
            once: BTreeMap::new(),
            sent: 0,
            captures: 0,
            preparing: None,
        };
        world.apply(Event::Import(ImportEvent::Servers {
            folder: "/f".into(),
            known: BTreeMap::new(),
        }));
        let found = |name: &str| FoundFixture {
            dir: PathBuf::from(format!("/fixtures/{name}")),
            read: Ok((name.into(), "{}".into())),
            hidden: vec!["/v".into()],
            verdict: None,
            sides: None,
        };
        let fixtures = vec![found("read"), found("write")];
        world.apply(Event::Fixture(FixtureEvent::Found {
            path: "/fixtures".into(),
            fixtures,
        }));
        for of in 0..2 {
            world.perform(OpenServersAction::Add);
            world.connect(of);
        }
        world
    }

    fn connect(&mut self, of: usize) {
        self.perform(ConnectAction::Connect(Box::new(source(of))));
        let session = self.state.session().id;
        self.sessions[of] = session;
        let server = Server {
            name: MARKS[of].into(),
            source: source(of).to_string(),
            ..Server::default()
        };
        let server = Server {
            capabilities: Some(Bytes::from_static(br#"{"completions":{},"resources":{}}"#)),
            ..server
        };
        self.update(of, SessionUpdate::Connected(server));
        self.update(
            of,
            SessionUpdate::Tools {
                tools: tools(of, self.versions[of]),
                note: Some(MARKS[of].into()),
            },
        );
    }

    fn update(&mut self, of: usize, update: SessionUpdate) {
        self.apply(Event::Session {
            session: self.sessions[of],
            update,
        });
    }

    fn notify(&mut self, of: usize, notification: ServerNotification) {
        self.update(of, SessionUpdate::Notification(notification));
    }

    fn apply(&mut self, event: Event) {
        let mut effects = Vec::new();
        self.state.apply(event, &mut effects);
        self.check(effects);
    }

    fn perform(&mut self, action: impl Into<Action>) {
        let mut effects = Vec::new();
        self.state.perform(action, &mut effects);
        self.check(effects);
    }

    fn current(&self) -> Option<usize> {
        self.sessions
            .iter()
            .position(|session| *session == self.state.session().id)
    }

    fn server_of(&self, session: SessionId) -> Option<usize> {
        self.sessions.iter().position(|known| *known == session)
    }

    /// Agrees to what the dialog asks, as a person does who looks at it.
    fn agree(&mut self, always: Option<AllowedTools>) {
        let calls = match self.state.dialog.clone() {
            Some(Dialog::ConfirmCall { call }) => vec![call],
            Some(Dialog::ConfirmFixtures { run, .. }) => run.prepared().to_vec(),
            _ => return,
        };
        let can_always =
            always.is_some() && matches!(self.state.dialog, Some(Dialog::ConfirmCall { .. }));
        for call in calls {
            let Some(of) = self.server_of(call.session) else {
                continue;
            };
            let raw = String::from_utf8_lossy(&call.tool.raw).into_owned();
            *self
                .once
                .entry((of, raw.clone(), call.arguments.to_vec()))
                .or_default() += 1;
            let is_current = self
                .state
                .sessions
                .get(call.session)
                .is_some_and(|session| {
                    session.connection.is_connected()
                        && session
                            .find_tool(&call.tool.name)
                            .is_some_and(|listed| listed.tool.raw == call.tool.raw)
                });
            match always.filter(|_| can_always && is_current) {
                Some(AllowedTools::This) => drop(self.always.insert((of, raw))),
                Some(AllowedTools::All) => {
                    let all = tools(of, self.versions[of]);
                    let all = all
                        .iter()
                        .filter(|tool| tool.name == "write")
                        .map(|tool| String::from_utf8_lossy(&tool.raw).into_owned());
                    self.always.extend(all.map(|raw| (of, raw)));
                }
                None => {}
            }
        }
        self.perform(always.map_or(CallAction::Confirm, CallAction::ConfirmAlways));
    }

    /// Everything that must hold after each step.
    fn check(&mut self, effects: Vec<Effect>) {
        for session in self.state.sessions.iter() {
            let Some(of) = self.server_of(session.id) else {
                continue;
            };
            assert_is_of(of, &format!("{session:?}"), "the session");
        }
        for effect in effects {
            match &effect {
                Effect::Session(SessionEffect::Call {
                    session,
                    tool,
                    arguments,
                    ..
                }) => {
                    let of = self
                        .server_of(*session)
                        .expect("a call of a session that is open");
                    assert_is_of(of, &format!("{effect:?}"), "a call");
                    self.check_consent(of, tool, arguments);
                    self.sent += 1;
                }
                Effect::Session(
                    SessionEffect::Command { session, .. } | SessionEffect::Read { session, .. },
                ) => {
                    assert_is_of(
                        self.server_of(*session).expect("open"),
                        &format!("{effect:?}"),
                        "a command",
                    );
                }
                Effect::Import(ImportEffect::KeepServers { changes, .. }) => {
                    for ((key, field), value) in changes {
                        let of = (0..2)
                            .find(|of| server_key(&source(*of), None).as_ref() == Some(key))
                            .expect("a known server");
                        assert_is_of(of, &format!("{field:?} {value:?}"), "what is remembered");
                    }
                }
                Effect::Fixture(FixtureEffect::Prepare { run, dirs }) => {
                    let of = self
                        .current()
                        .expect("verifying is at the server that is shown");
                    assert_is_of(of, &format!("{dirs:?}"), "values for fixtures");
                    self.preparing = Some((*run, dirs.clone()));
                }
                Effect::Fixture(FixtureEffect::Judge { run, at, dir, .. }) => {
                    let verdict = refuse(
                        dir.display().to_string(),
                        &Problem::new(ProblemKind::Io, "not judged"),
                    );
                    self.apply(Event::Fixture(FixtureEvent::Judged {
                        run: *run,
                        at: *at,
                        verdict,
                        sides: None,
                    }));
                }
                Effect::CheckSchema(check) => {
                    assert_is_of_target(self, check);
                    self.apply(check.clone().run());
                }
                _ => {}
            }
        }
    }

    fn check_consent(&mut self, of: usize, tool: &Tool, arguments: &Bytes) {
        if tool.is_declared_read_only() {
            return;
        }
        let raw = String::from_utf8_lossy(&tool.raw).into_owned();
        if self.always.contains(&(of, raw.clone())) {
            return;
        }
        let left = self.once.get_mut(&(of, raw, arguments.to_vec()));
        match left.filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => panic!("{} of {} was called unasked", tool.name, MARKS[of]),
        }
    }

    fn step(&mut self) {
        let of = self.dice.roll(2);
        let mark = MARKS[of];
        match self.dice.roll(26) {
            0 => self.perform(OpenServersAction::Switch(self.sessions[of])),
            1 => {
                self.versions[of] = self.dice.roll(3);
                let tools = tools(of, self.versions[of]);
                self.notify(
                    of,
                    ServerNotification::Tools {
                        tools,
                        note: Some(mark.into()),
                    },
                );
            }
            2 => self.update(of, SessionUpdate::Stderr(mark.into())),
            3 => self.update(of, SessionUpdate::Login(LoginStep::Line(mark.into()))),
            4 => {
                let url = format!("https://{mark}/login");
                self.update(
                    of,
                    SessionUpdate::Login(LoginStep::Open {
                        url,
                        limit: Duration::from_secs(9),
                    }),
                );
            }
            5 => self.update(of, SessionUpdate::Login(LoginStep::Back)),
            6 => self.update(
                of,
                SessionUpdate::Login(LoginStep::Choose(vec![format!("https://{mark}")])),
            ),
            7 => {
                let doc = Doc::parse(Bytes::from(format!(
                    r#"{{"message":"{mark}?","requestedSchema":{{"type":"object"}}}}"#
                )));
                let ask = ServerRequest::read(self.dice.0, ELICITATION, doc.root()).unwrap();
                self.notify(of, ServerNotification::Asked(ask));
            }
            8 => {
                let line = Line {
                    at: Duration::ZERO,
                    direction: Direction::In,
                    kind: LineKind::Notification,
                    method: None,
                    id: None,
                    bytes: Bytes::from_static(mark.as_bytes()),
                    version: None,
                };
                self.notify(of, ServerNotification::Lines(vec![line]));
            }
            9 => {
                let raw = format!(r#"{{"name":"{mark}","arguments":[{{"name":"a"}}]}}"#);
                let entry =
                    LibraryEntry::Prompt(Arc::new(loupe_core::capture::Prompt::read(raw.into())));
                self.notify(
                    of,
                    ServerNotification::Library {
                        entries: vec![entry],
                        notes: vec![mark.into()],
                    },
                );
            }
            10 => self.notify(of, ServerNotification::LibraryChanged),
            11 => self.notify(
                of,
                ServerNotification::Completed {
                    argument: "a".into(),
                    values: vec![mark.into()],
                },
            ),
            12 => self.notify(
                of,
                ServerNotification::ResourceUpdated(format!("x://{mark}")),
            ),
            13 => self.answer_call(),
            14 => {
                let update = CallUpdate::Task {
                    status: "working".into(),
                    message: Some("x".into()),
                };
                self.apply(Event::Call {
                    call: self.dice.0 % 40,
                    update,
                });
            }
            15 => self.perform(Action::View(ViewAction::ShowTab(SidebarTab::Prompts))),
            16 => self.read_fixtures(),
            _ => self.step_by_hand(),
        }
    }

    /// What a person does at the server that is shown.
    fn step_by_hand(&mut self) {
        let Some(shown) = self.current() else { return };
        let mark = MARKS[shown];
        match self.dice.roll(14) {
            0 => {
                let tool = ["read", "write", "erase"][self.dice.roll(3)];
                self.perform(CallAction::SelectTool(tool.into()));
            }
            1 => {
                let text = format!(r#"{{"v":"{mark}{}"}}"#, self.dice.roll(3));
                self.perform(CallAction::SetArgumentsText(text));
            }
            2 => self.perform(CallAction::SetArgumentsText(r#"{"v":"{{who}}"}"#.into())),
            3 => self.perform(ServersAction::SetVariable {
                name: "who".into(),
                value: Some(mark.into()),
            }),
            4 => self.perform(ServersAction::KeepArguments(mark.into())),
            5 => self.perform(Action::View(ViewAction::SetFilter(mark.into()))),
            6 => self.perform(CallAction::Call { send_anyway: true }),
            7 => self.agree(None),
            8 => {
                let which = [AllowedTools::This, AllowedTools::All][self.dice.roll(2)];
                self.agree(Some(which));
            }
            9 => self.perform(Action::CloseDialog),
            10 => {
                let (fixture, value) = (self.dice.roll(2), mark.to_owned());
                self.perform(Action::Fixture(FixtureAction::Fill {
                    fixture,
                    pointer: "/v".into(),
                    value,
                }));
            }
            11 => self.perform(Action::Fixture(FixtureAction::Verify { offline: false })),
            12 => {
                self.perform(Action::Library(LibraryAction::Select(0)));
                self.perform(Action::Library(LibraryAction::Set {
                    name: "a".into(),
                    value: mark.into(),
                }));
            }
            _ => self.perform(Action::Wire(WireAction::SetFilter(mark.into()))),
        }
    }

    /// The folders of fixtures are read; by now another server may be shown.
    fn read_fixtures(&mut self) {
        let Some((run, dirs)) = self.preparing.take() else {
            return;
        };
        let call = |(dir, filled): (PathBuf, Vec<(String, String)>)| {
            let name = dir.file_name().unwrap().to_string_lossy().into_owned();
            let value = filled.first().map_or("", |(_, value)| value);
            Ok((name, Bytes::from(format!(r#"{{"v":"{value}"}}"#))))
        };
        let calls = dirs.into_iter().map(call).collect();
        self.apply(Event::Fixture(FixtureEvent::Prepared {
            run,
            calls: Ok(calls),
        }));
    }

    /// The call in flight is answered.
    fn answer_call(&mut self) {
        let Some(running) = self.state.running.clone() else {
            return;
        };
        let Some(of) = self.server_of(running.session) else {
            return;
        };
        self.captures += 1;
        let id = CaptureId(format!("{}-{}", MARKS[of], self.captures).into());
        let server = Server {
            name: MARKS[of].into(),
            source: source(of).to_string(),
            ..Server::default()
        };
        let tool = tools(of, self.versions[of])
            .into_iter()
            .find(|tool| tool.name == running.tool);
        let capture = Capture {
            tool: tool.unwrap_or_else(|| Tool::unlisted(&running.tool)),
            request: "{}".into(),
            response: Some(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#.into()),
            outcome: Outcome::Result,
            ..Capture::empty(id, server)
        };
        self.apply(Event::Call {
            call: running.id,
            update: CallUpdate::Captured(Arc::new(capture)),
        });
    }
}

fn assert_is_of_target(world: &World, check: &SchemaCheck) {
    let (CheckTarget::Form { session, .. } | CheckTarget::Request { session, .. }) = &check.target;
    if let Some(of) = world.server_of(*session) {
        assert_is_of(of, &format!("{check:?}"), "a check");
    }
}

#[track_caller]
fn assert_is_of(of: usize, text: &str, what: &str) {
    let other = MARKS[1 - of];
    if let Some(at) = text.find(other) {
        let from = text.floor_char_boundary(at.saturating_sub(200));
        let to = text.ceil_char_boundary((at + 60).min(text.len()));
        panic!(
            "{what} of {} holds what belongs to the other server: …{}…",
            MARKS[of],
            &text[from..to]
        );
    }
}

#[test]
fn nothing_of_one_server_reaches_the_other_in_any_order_of_events() {
    let mut sent = 0;
    for seed in 0..ORDERS {
        let mut world = World::new(seed + 1);
        for _ in 0..STEPS {
            world.step();
        }
        sent += world.sent;
    }
    assert!(sent > 200, "the orders make calls: {sent}");
}

fn open() -> World {
    World::new(1)
}

#[test]
fn a_yes_to_fixtures_is_for_the_calls_that_were_shown_at_that_server() {
    let mut world = open();
    for fixture in 0..2 {
        world.perform(Action::Fixture(FixtureAction::Fill {
            fixture,
            pointer: "/v".into(),
            value: MARKS[1].into(),
        }));
    }
    world.perform(Action::Fixture(FixtureAction::Verify { offline: false }));
    // While the folders are read, the other server is looked at: the calls are not for it.
    world.perform(OpenServersAction::Switch(world.sessions[0]));
    world.read_fixtures();
    world.perform(OpenServersAction::Switch(world.sessions[1]));
    let Some(Dialog::ConfirmFixtures { calls, .. }) = &world.state.dialog else {
        panic!("asked: {:?}", world.state.dialog)
    };
    assert_eq!(
        calls[..],
        [format!(r#"write betamark-server: {{"v":"{}"}}"#, MARKS[1])],
        "whole, and what is secret is of this server"
    );
    // The tool changes while the question is open: the yes was for another definition.
    world.versions[1] = 2;
    world.notify(
        1,
        ServerNotification::Tools {
            tools: tools(1, 2),
            note: None,
        },
    );
    world.perform(CallAction::Confirm);
    assert_eq!(
        world.sent, 0,
        "not even the first call: all were shown together"
    );
    // At the other server nothing was said or typed.
    world.perform(OpenServersAction::Switch(world.sessions[0]));
    assert_eq!(world.state.filled(0, "/v"), "");
    world.perform(Action::Fixture(FixtureAction::Verify { offline: false }));
    world.read_fixtures();
    assert!(
        matches!(world.state.dialog, Some(Dialog::ConfirmFixtures { .. })),
        "asked again"
    );
    world.perform(Action::Fixture(FixtureAction::SkipWriting));
    let running = world
        .state
        .running
        .clone()
        .expect("the read-only call is made");
    assert_eq!(
        (running.tool.as_str(), running.session),
        ("read", world.sessions[0])
    );
    world.answer_call();
    assert!(world.state.running.is_none() && world.sent == 1);
}

#[test]
fn a_list_that_changes_in_the_background_leaves_the_forms_to_their_servers() {
    let mut world = open();
    world.perform(OpenServersAction::Switch(world.sessions[0]));
    world.perform(CallAction::SelectTool("write".into()));
    world.perform(CallAction::SetArgumentsText(format!(
        r#"{{"v":"{}"}}"#,
        MARKS[0]
    )));
    world.perform(ServersAction::SetVariable {
        name: "who".into(),
        value: Some(MARKS[0].into()),
    });
    world.notify(
        1,
        ServerNotification::Tools {
            tools: tools(1, 1),
            note: None,
        },
    );
    world.perform(OpenServersAction::Switch(world.sessions[1]));
    world.perform(CallAction::SelectTool("write".into()));
    assert_eq!(world.state.form().map(|form| &*form.text), Some("{}"));
    world.perform(OpenServersAction::Switch(world.sessions[0]));
    assert!(
        world
            .state
            .form()
            .is_some_and(|form| form.text.contains(MARKS[0])),
        "it is there where it was typed"
    );
}

#[test]
fn a_login_in_the_background_is_named_and_cancelling_it_ends_no_other_server() {
    let mut world = open();
    let (behind, shown) = (world.sessions[0], world.sessions[1]);
    let url = format!("https://{}/login", MARKS[0]);
    world.update(
        0,
        SessionUpdate::Login(LoginStep::Open {
            url,
            limit: Duration::from_secs(9),
        }),
    );
    assert_eq!(world.state.session().login.open, None);
    let (session, _, label) = world.state.open_login().expect("it waits");
    assert_eq!(
        (session, label.as_deref()),
        (behind, Some("alphamark-server"))
    );
    world.perform(Action::Login(mcp_loupe::state::LoginAction::Cancel(behind)));
    assert!(world.state.sessions.get(behind).is_none());
    assert!(world.state.session().id == shown && world.state.session().connection.is_connected());
}

#[test]
fn the_status_of_a_task_is_told_of_its_own_call_alone() {
    let mut world = open();
    world.perform(CallAction::SelectTool("read".into()));
    world.perform(CallAction::Call { send_anyway: false });
    let id = world.state.running.as_ref().expect("it runs").id;
    let update = || CallUpdate::Task {
        status: "working".into(),
        message: None,
    };
    world.apply(Event::Call {
        call: id + 1,
        update: update(),
    });
    assert_eq!(
        world
            .state
            .running
            .as_ref()
            .and_then(|running| running.task.clone()),
        None
    );
    world.apply(Event::Call {
        call: id,
        update: update(),
    });
    assert_eq!(
        world
            .state
            .running
            .as_ref()
            .and_then(|running| running.task.clone())
            .as_deref(),
        Some("task working")
    );
}

#[test]
fn the_filter_of_tools_belongs_to_its_server() {
    let mut world = open();
    world.perform(Action::View(ViewAction::SetFilter(MARKS[1].into())));
    world.perform(OpenServersAction::Switch(world.sessions[0]));
    assert_eq!(world.state.session().filter, "");
    world.perform(OpenServersAction::Switch(world.sessions[1]));
    assert_eq!(world.state.session().filter, MARKS[1]);
    // Connecting elsewhere in its place ends it.
    let elsewhere = Source::Command(Command {
        program: "elsewhere".into(),
        ..Command::default()
    });
    world
        .state
        .perform(ConnectAction::Connect(Box::new(elsewhere)), &mut Vec::new());
    assert_eq!(world.state.session().filter, "");
}

#[test]
fn the_answer_of_a_call_at_another_server_is_of_that_server() {
    let mut world = open();
    world.perform(CallAction::SelectTool("read".into()));
    world.perform(CallAction::Call { send_anyway: false });
    world.answer_call();
    assert_eq!(
        world
            .state
            .session()
            .last_called
            .as_ref()
            .map(|id| id.0.starts_with(MARKS[1])),
        Some(true)
    );
    assert_eq!(
        world
            .state
            .sessions
            .get(world.sessions[0])
            .and_then(|session| session.last_called.clone()),
        None
    );
}
