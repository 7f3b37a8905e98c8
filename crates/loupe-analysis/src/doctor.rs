//! Why a server does not work here: a list of steps, each with what was tried, what came of it and, where it fails, the
//! cause and the fix.
//!
//! [`DoctorReport::new`] reads [`ConnectionEvidence`]: what a connection left behind, whether it came about or not. Nothing is sent
//! from here. A step passes only by evidence of its own; the first one that fails is the cause of all the rest. Each step
//! is one file below `steps` and one line in [`STEPS`].

mod report;
mod steps;

use std::borrow::Cow;
use std::time::Duration;

use loupe_core::capture::{Direction, Line, LineKind, Server, Step, StepState};
use loupe_core::problem::{Paste, Problem};
use loupe_core::redact::SecretList;
use loupe_core::source::Source;

pub use steps::STEPS;

/// What a connection left behind.
#[derive(Clone, Copy)]
pub struct ConnectionEvidence<'a> {
    pub source: &'a Source,
    /// The client's own steps, in order.
    pub steps: &'a [Step],
    /// Why there is no connection, or no longer one.
    pub problem: Option<&'a Problem>,
    /// The server, once it has answered the handshake.
    pub server: Option<&'a Server>,
    /// The first messages in both directions.
    pub lines: &'a [Line],
    /// The last lines of stderr.
    pub stderr: &'a [String],
    /// Nothing more is to come.
    pub is_over: bool,
}

impl<'a> ConnectionEvidence<'a> {
    /// The client's steps of this name.
    fn steps_named(&self, name: &str) -> impl Iterator<Item = &'a Step> + use<'a> {
        let name = name.to_owned();
        self.steps.iter().filter(move |step| step.name == name)
    }

    /// What the client's steps of this name show: the last of them, with the time of all.
    fn look(&self, name: &str) -> Option<Look> {
        let last = self.steps_named(name).last()?;
        let mut look = Look::of(last);
        look.took = self.steps_named(name).map(|step| step.took).sum();
        Some(look)
    }

    /// What each of the client's steps of this name shows, in one: passed only if all of them did.
    fn look_at_all(&self, name: &str, fix: &'static str) -> Option<Look> {
        let mut look = self.look(name)?;
        let odd: Vec<&Step> = self
            .steps_named(name)
            .filter(|step| step.state != StepState::Done)
            .collect();
        let list = |steps: &mut dyn Iterator<Item = &'a Step>, part: fn(&Step) -> &str| {
            steps.map(part).collect::<Vec<_>>().join("; ")
        };
        look.sent = list(&mut self.steps_named(name), |step| &step.tried);
        look.received = list(&mut self.steps_named(name), |step| &step.answered);
        if let Some(first) = odd.first() {
            look.doubt = Some(Doubt {
                cause: format!("{}: {}", first.tried, first.answered),
                fix: match odd.iter().any(|step| step.state == StepState::Failed) {
                    true => "look at what the server says on stderr, and at what it depends on",
                    false => fix,
                }
                .to_owned(),
                is_failure: odd.iter().any(|step| step.state == StepState::Failed),
            });
        }
        Some(look)
    }

    /// The first message that the server sent.
    fn first_message(&self) -> Option<&'a Line> {
        self.lines
            .iter()
            .find(|line| line.direction == Direction::In && line.kind != LineKind::Unreadable)
    }

    /// The lines on standard output that are no messages.
    fn strays(&self) -> impl Iterator<Item = &'a Line> {
        self.lines
            .iter()
            .filter(|line| line.direction == Direction::In && line.kind == LineKind::Unreadable)
    }

    /// Whether the login step `id` is part of this connection: a login was asked for, and where it worked the step was taken.
    fn has_login_step(&self, id: &str) -> bool {
        self.has_login() && (self.server.is_none() || self.steps_named(id).next().is_some())
    }

    /// A document that has to be published somewhere.
    fn look_published(&self, name: &str, fix: &'static str) -> Option<Look> {
        let last = self.steps_named(name).last()?;
        let look = self.look(name)?;
        Some(match last.state {
            StepState::Passed => {
                let cause = format!("{}: {}", last.tried, last.answered);
                look.warn(cause, fix)
            }
            _ => look,
        })
    }

    fn has_login(&self) -> bool {
        let is_login = |id: &str| LOGIN_STEPS.contains(&id);
        self.steps
            .iter()
            .any(|step| step.name == "login" || is_login(step.name))
            || self.stopped_at().is_some_and(is_login)
    }

    /// The step that the failure names.
    fn stopped_at(&self) -> Option<&'static str> {
        Some(self.problem?.cause.as_ref()?.step)
    }

    fn is_command(&self) -> bool {
        matches!(self.source, Source::Command(_))
    }

    fn is_http(&self) -> bool {
        matches!(self.source, Source::Http(_))
    }
}

/// The client's steps that an examination adds to those of connecting.
pub const EXAMINED_STEPS: [&str; 3] = ["lists", "requests", "call"];

/// The steps of a login.
const LOGIN_STEPS: [&str; 6] = [
    "challenge",
    "resource-metadata",
    "authorization-server",
    "registration",
    "browser",
    "token",
];

/// What one step found.
#[derive(Clone, Debug, Default)]
struct Look {
    sent: String,
    received: String,
    took: Option<Duration>,
    /// What is wrong or odd; `None` where all is well.
    doubt: Option<Doubt>,
}

#[derive(Clone, Debug)]
struct Doubt {
    cause: String,
    fix: String,
    is_failure: bool,
}

impl Look {
    fn of(step: &Step) -> Self {
        let failure = (step.state == StepState::Failed).then(|| Doubt {
            cause: step.answered.clone(),
            fix: String::new(),
            is_failure: true,
        });
        Self {
            sent: step.tried.clone(),
            received: step.answered.clone(),
            took: step.took,
            doubt: failure,
        }
    }

    fn warn(mut self, cause: impl Into<String>, fix: impl Into<String>) -> Self {
        self.doubt = Some(Doubt {
            cause: cause.into(),
            fix: fix.into(),
            is_failure: false,
        });
        self
    }
}

/// One thing that is looked at.
pub struct DoctorStep {
    /// Stable, such as `still-running`.
    pub id: &'static str,
    /// What is true where it passes.
    pub title: &'static str,
    pub group: StepGroup,
    /// Whether there is such a step for this connection.
    applies: fn(&ConnectionEvidence<'_>) -> bool,
    /// What was found; `None` where the step was not reached.
    look: fn(&ConnectionEvidence<'_>) -> Option<Look>,
}

/// A heading of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepGroup {
    Start,
    Http,
    Login,
    Protocol,
    FirstResult,
}

impl StepGroup {
    pub fn title(self) -> &'static str {
        match self {
            Self::Start => "Start",
            Self::Http => "HTTP",
            Self::Login => "Login",
            Self::Protocol => "Protocol",
            Self::FirstResult => "First result",
        }
    }
}

/// How a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum StepStatus {
    Pass,
    /// It works, and something is odd.
    Warn,
    Fail,
    /// Being worked on.
    Running,
    NotReached,
}

/// One step as it is shown.
#[derive(Clone, Debug)]
pub struct StepReport {
    pub id: &'static str,
    pub title: &'static str,
    pub group: StepGroup,
    pub status: StepStatus,
    /// One sentence, where the step fails or something is odd.
    pub cause: String,
    pub fix: String,
    pub paste: Option<Paste>,
    pub sent: String,
    pub received: String,
    pub took: Option<Duration>,
}

/// All steps of one connection.
#[derive(Clone, Debug)]
pub struct DoctorReport {
    pub source: String,
    pub server: Option<Server>,
    pub steps: Vec<StepReport>,
    /// What went over the wire: the first messages.
    pub messages: Vec<MessageReport>,
    /// The last lines of stderr.
    pub stderr: Vec<String>,
}

/// One message, as it is listed next to the step that failed.
#[derive(Clone, Debug)]
pub struct MessageReport {
    pub at: Duration,
    pub direction: Direction,
    pub name: String,
    /// In bytes.
    pub size: usize,
}

/// Messages that are listed.
const MESSAGES: usize = 8;
/// Lines of stderr that are listed.
const STDERR_LINES: usize = 12;

impl DoctorReport {
    /// What the evidence shows.
    pub fn new(evidence: &ConnectionEvidence<'_>) -> Self {
        let mut steps: Vec<StepReport> = STEPS
            .iter()
            .filter(|step| (step.applies)(evidence))
            .map(|step| report(step, evidence))
            .collect();
        // A failure that no step knows stops at the first one that was not reached.
        if let Some(problem) = evidence.problem
            && !steps.iter().any(|step| step.status == StepStatus::Fail)
            && let Some(step) = steps
                .iter_mut()
                .find(|step| step.status == StepStatus::NotReached)
        {
            step.fail(problem);
        }
        // What comes after the cause is no finding of its own.
        if let Some(at) = steps
            .iter()
            .position(|step| step.status == StepStatus::Fail)
        {
            for step in &mut steps[at + 1..] {
                if step.status == StepStatus::Fail {
                    step.status = StepStatus::NotReached;
                }
            }
        }
        if !evidence.is_over
            && !steps.iter().any(|step| step.status == StepStatus::Fail)
            && let Some(step) = steps
                .iter_mut()
                .find(|step| step.status == StepStatus::NotReached)
        {
            step.status = StepStatus::Running;
        }
        // What was to be sent did not leave before there was a connection.
        let has_left = !evidence.is_http() || evidence.steps_named("HTTP").next().is_some();
        let messages = evidence
            .lines
            .iter()
            .filter(|line| {
                has_left && line.direction != Direction::Stderr && !line.bytes.is_empty()
            })
            .take(MESSAGES)
            .map(|line| MessageReport {
                at: line.at,
                direction: line.direction,
                name: match &line.method {
                    Some(method) => method.clone(),
                    None => line.kind.name().to_owned(),
                },
                size: line.bytes.len(),
            });
        let stderr = &evidence.stderr[evidence.stderr.len().saturating_sub(STDERR_LINES)..];
        Self {
            source: evidence.source.to_string(),
            server: evidence.server.cloned(),
            steps,
            messages: messages.collect(),
            stderr: stderr.to_vec(),
        }
    }

    /// The report without what is known to be secret.
    #[must_use]
    pub fn redacted(mut self, known: &SecretList) -> Self {
        let steps = self.steps.iter_mut().flat_map(|step| {
            let paste = step.paste.as_mut().map(|paste| &mut paste.text);
            let texts = [
                &mut step.cause,
                &mut step.fix,
                &mut step.sent,
                &mut step.received,
            ];
            texts.into_iter().chain(paste)
        });
        let messages = self.messages.iter_mut().map(|message| &mut message.name);
        let server = self
            .server
            .iter_mut()
            .flat_map(|server| [&mut server.name, &mut server.version]);
        let texts = steps.chain(messages).chain(server);
        for text in texts.chain(&mut self.stderr).chain([&mut self.source]) {
            if let Cow::Owned(masked) = known.words(text) {
                *text = masked;
            }
        }
        self
    }

    /// The step that everything stops at.
    pub fn failed(&self) -> Option<&StepReport> {
        self.steps
            .iter()
            .find(|step| step.status == StepStatus::Fail)
    }

    /// Steps that work with something odd about them.
    pub fn warnings(&self) -> impl Iterator<Item = &StepReport> {
        self.steps
            .iter()
            .filter(|step| step.status == StepStatus::Warn)
    }
}

impl StepReport {
    fn fail(&mut self, problem: &Problem) {
        self.status = StepStatus::Fail;
        let cause = problem.cause.as_ref();
        self.cause = cause.map_or_else(|| problem.what.clone(), |cause| cause.sentence.clone());
        self.fix = problem.hint.clone().unwrap_or_default();
        self.paste = cause.and_then(|cause| cause.paste.clone());
        let seen = problem
            .what
            .strip_prefix(&self.cause)
            .unwrap_or(&problem.what);
        seen.trim_start_matches(": ").clone_into(&mut self.received);
    }
}

fn report(step: &DoctorStep, evidence: &ConnectionEvidence<'_>) -> StepReport {
    let look = (step.look)(evidence);
    let mut report = StepReport {
        id: step.id,
        title: step.title,
        group: step.group,
        status: match &look {
            None => StepStatus::NotReached,
            Some(Look { doubt: None, .. }) => StepStatus::Pass,
            Some(Look {
                doubt: Some(doubt), ..
            }) if doubt.is_failure => StepStatus::Fail,
            Some(_) => StepStatus::Warn,
        },
        cause: String::new(),
        fix: String::new(),
        paste: None,
        sent: String::new(),
        received: String::new(),
        took: None,
    };
    if let Some(look) = look {
        (report.sent, report.received, report.took) = (look.sent, look.received, look.took);
        if let Some(doubt) = look.doubt {
            (report.cause, report.fix) = (doubt.cause, doubt.fix);
        }
    }
    if let Some(problem) = evidence.problem
        && evidence.stopped_at() == Some(step.id)
    {
        report.fail(problem);
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::problem::{Cause, ProblemKind};

    fn step(name: &'static str, state: StepState) -> Step {
        Step {
            name,
            at: Duration::ZERO,
            took: Some(Duration::from_millis(1)),
            tried: "tried".into(),
            answered: "answered".into(),
            state,
        }
    }

    #[test]
    fn the_first_failure_is_the_cause_and_later_steps_were_not_reached() {
        let source = Source::Command(loupe_core::source::Command {
            program: "sh".into(),
            ..Default::default()
        });
        let steps = [
            step("find the program", StepState::Done),
            step("start", StepState::Done),
        ];
        let problem = Problem::new(ProblemKind::Handshake, "it ended")
            .hint("set it")
            .because(Cause {
                step: "still-running",
                sentence: "API_KEY is not set".into(),
                paste: None,
            });
        let report = DoctorReport::new(&ConnectionEvidence {
            source: &source,
            steps: &steps,
            problem: Some(&problem),
            server: None,
            lines: &[],
            stderr: &[],
            is_over: true,
        });
        let statuses: Vec<_> = report.steps.iter().map(|step| step.status).collect();
        assert_eq!(
            statuses[..3],
            [StepStatus::Pass, StepStatus::Pass, StepStatus::Fail]
        );
        assert!(
            statuses[3..]
                .iter()
                .all(|status| *status == StepStatus::NotReached)
        );
        let failed = report.failed().unwrap();
        assert_eq!(
            (&*failed.cause, &*failed.fix),
            ("API_KEY is not set", "set it")
        );
    }

    #[test]
    fn the_step_under_way_is_said_to_run() {
        let source = Source::Command(loupe_core::source::Command::default());
        let steps = [step("find the program", StepState::Done)];
        let report = DoctorReport::new(&ConnectionEvidence {
            source: &source,
            steps: &steps,
            problem: None,
            server: None,
            lines: &[],
            stderr: &[],
            is_over: false,
        });
        assert_eq!(report.steps[1].status, StepStatus::Running);
        assert_eq!(report.steps[2].status, StepStatus::NotReached);
    }

    #[test]
    fn steps_have_one_id_each() {
        for (at, step) in STEPS.iter().enumerate() {
            assert!(STEPS[at + 1..].iter().all(|other| other.id != step.id));
        }
        for id in LOGIN_STEPS {
            assert!(STEPS.iter().any(|step| step.id == id), "{id}");
        }
    }
}
