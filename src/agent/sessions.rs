//! Allowed servers: a session for each call of a tool, so that a server runs what is written now.

use std::sync::Arc;

use bytes::Bytes;

use super::tool_call::AgentCall;
use loupe_analysis::queries;
use loupe_analysis::queries::arguments::validate;
use loupe_analysis::queries::comparison::argument_names;
use loupe_client::{self, Options, Session};
use loupe_core::capture::{Capture, CaptureId, Outcome, Tool};
use loupe_core::format::ParsedCapture;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::Source;
use loupe_core::suggest;

/// Names that a hint lists.
const LISTED: usize = 20;

impl AgentCall<'_> {
    fn source(&self) -> Result<&Source, Problem> {
        let name = self.text("source").unwrap_or_default();
        let known = self
            .agent
            .options
            .sources
            .iter()
            .find(|(known, _)| *known == name);
        known.map(|(_, source)| source).ok_or_else(|| {
            Problem::new(ProblemKind::NotFound, "no such source is allowed").at(name)
        })
    }

    /// Connects, does `work`, and lets go of the server.
    ///
    /// # Errors
    /// What kept it from being done, the time limit among them.
    pub fn with_session<T>(
        &self,
        work: impl AsyncFnOnce(&Session) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let source = self.source()?;
        let own = &self.agent.options;
        let options = Options {
            in_process: Some(crate::in_process::start),
            connect_limit: self.time_left(),
            limits: own.limits,
            guard: own.guard.clone(),
            logins: own.logins.clone(),
            known: own.known.clone(),
            ..Options::default()
        };
        self.agent.runtime.block_on(async {
            let connecting = loupe_client::connect(source, options, Arc::new(|_| {}));
            let session = tokio::select! {
                made = connecting => made?,
                () = self.stop.call.cancelled() => return Err(self.stopped()),
            };
            let done = tokio::select! {
                done = work(&session) => done,
                () = self.stop.call.cancelled() => Err(self.stopped()),
            };
            session.leave().await;
            done
        })
    }

    /// The tool that is to be called, which may be.
    ///
    /// # Errors
    /// It is not listed, or is not declared read-only while only such tools may be called.
    pub async fn tool(&self, session: &Session) -> Result<Tool, Problem> {
        let name = self.text("tool").unwrap_or_default();
        let tools = session.list_tools(self.time_left()).await?.tools;
        let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
            let names = || tools.iter().map(|tool| tool.name.as_str());
            let hint = suggest::hint(&name, names()).unwrap_or_else(|| {
                format!(
                    "its tools are {}",
                    names().take(LISTED).collect::<Vec<_>>().join(", ")
                )
            });
            return Err(
                Problem::new(ProblemKind::NotFound, "the server lists no such tool")
                    .at(name)
                    .hint(hint),
            );
        };
        if !tool.is_declared_read_only() && !self.agent.options.any_tool {
            return Err(Problem::new(ProblemKind::Consent, "not called: the tool is not declared read-only").at(name).hint(
                "if it only reads, declare `readOnlyHint: true` in its annotations; to allow other tools, configure Loupe with `--allow-any-tool`",
            ));
        }
        Ok(tool.clone())
    }

    /// Calls a tool and keeps what came; gives the name it is kept under.
    ///
    /// # Errors
    /// The arguments do not fit its schema.
    pub async fn call(
        &self,
        session: &Session,
        tool: &Tool,
        arguments: String,
    ) -> Result<(String, Arc<ParsedCapture>), Problem> {
        validate(tool.input_schema.as_ref(), &arguments, false)
            .map_err(|problem| problem.hint(format!("nothing was called; {}", takes(tool))))?;
        self.agent.options.known.add_arguments(&arguments);
        let id = CaptureId(tool.name.as_str().into());
        let call = loupe_client::Call {
            id,
            tool: tool.clone(),
            arguments: Bytes::from(arguments),
            limit: self.time_left(),
        };
        let capture: Arc<Capture> = Arc::new(session.call(call, self.stop.call.clone()).await);
        if capture.outcome == Outcome::Cancelled && self.stop.call.is_cancelled() {
            return Err(self.stopped());
        }
        let name = self.agent.keep(&capture);
        Ok((name, queries::subject(capture)))
    }
}

/// Which arguments a tool has.
fn takes(tool: &Tool) -> String {
    match argument_names(tool).as_slice() {
        [] => "the tool takes no `arguments`".to_owned(),
        names => format!(
            "its `arguments` are {}; their schema says what each takes",
            names.join(", ")
        ),
    }
}
