//! The doctor in the window: what a connection left behind as a report, and the questions it asks of one that works.

use super::{Connection, Effect, Screen, ServerSession, SessionCommand, State};
use loupe_analysis::doctor::{ConnectionEvidence, DoctorReport, EXAMINED_STEPS};
use loupe_core::capture::{Direction, Line, Tool};

/// Messages that a report reads: the first ones.
const MESSAGES: usize = 20;

/// What the user asks the doctor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoctorAction {
    /// Look at all that a client relies on, and show it.
    Examine,
    /// Call this tool as the first result.
    Call(String),
}

/// How an examination of a connection that works stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examination {
    Running,
    Over,
}

impl ServerSession {
    /// What the connection shows by now; `None` where there is none.
    pub fn doctor(&self) -> Option<DoctorReport> {
        let source = self.connection.source()?;
        let problem = match &self.connection {
            Connection::Failed { problem, .. } | Connection::Disconnected { problem, .. } => {
                Some(problem)
            }
            _ => None,
        };
        let lines: Vec<Line> = self
            .wire
            .log
            .numbered()
            .map(|(_, line)| line)
            .filter(|line| line.direction != Direction::Stderr)
            .take(MESSAGES)
            .cloned()
            .collect();
        Some(DoctorReport::new(&ConnectionEvidence {
            source,
            steps: &self.steps,
            problem,
            server: self.connection.server(),
            lines: &lines,
            stderr: self.connection.stderr(),
            is_over: match self.connection {
                Connection::Connecting { .. } => false,
                Connection::Connected { .. } => self.examination != Some(Examination::Running),
                _ => true,
            },
        }))
    }

    /// A tool to call as the first result: declared read-only, and without required arguments.
    pub fn simplest_tool(&self) -> Option<&Tool> {
        let tools = self.tools.iter().map(|listed| &*listed.tool);
        let mut simple =
            tools.filter(|tool| tool.is_declared_read_only() && !tool.requires_arguments());
        simple.next()
    }
}

impl State {
    pub(super) fn change_doctor(&mut self, action: DoctorAction, effects: &mut Vec<Effect>) {
        if !self.session().connection.is_connected() {
            // Where it failed, or is on its way, the report is there already.
            self.is_new_source = false;
            self.server_diff.is_choosing = false;
            self.view.screen = Screen::Connect;
            return;
        }
        let session = self.session_mut();
        if session.examination == Some(Examination::Running) {
            return;
        }
        session.examination = Some(Examination::Running);
        let command = match action {
            DoctorAction::Examine => {
                session
                    .steps
                    .retain(|step| !EXAMINED_STEPS.contains(&step.name));
                SessionCommand::Examine(None)
            }
            DoctorAction::Call(name) => {
                session.steps.retain(|step| step.name != "call");
                let tool = session.find_tool(&name);
                SessionCommand::Examine(tool.map(|listed| listed.tool.clone()))
            }
        };
        session.command(command, effects);
        self.view.screen = Screen::Doctor;
    }
}
