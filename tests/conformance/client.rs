//! `conformance-client URL`: the client of the official conformance runner, on the same core as the program.
//!
//! An example, since `cargo test` builds those and nothing installs them. The runner starts a server of its own, appends
//! its address, and says by its variables which scenario is played and which revision is spoken. What the client has to
//! do stands in the scenario alone: most want the tools listed and called with plain arguments.

mod login;
mod plain;
mod visit;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use loupe_analysis::queries::arguments::validate;
use loupe_client::{self, Answer, ClientCapabilities, Listing, Session};
use loupe_core::capture::{Capture, CaptureId, Prompt, Resource, Tool};
use loupe_core::json::write;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::server_request::{Reply, RequestKind, ServerRequest, form};
use loupe_core::source::{Http, Protocol, Source, Transport};
use plain::plain;
use serde_json::{Value, json};

/// The runner gives a client half a minute in all.
const LIMIT: Duration = Duration::from_secs(20);

/// What is played, as the runner says it.
struct Play {
    http: Http,
    scenario: String,
    /// What some scenarios give besides: calls to make, or the credentials of a client.
    context: Value,
}

impl Play {
    fn read(url: String) -> Result<Self, Problem> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let scenario = variable("MCP_CONFORMANCE_SCENARIO").ok_or_else(|| {
            Problem::new(ProblemKind::Usage, "MCP_CONFORMANCE_SCENARIO is not set")
                .hint("let the conformance runner start this program")
        })?;
        let protocol = variable("MCP_CONFORMANCE_PROTOCOL_VERSION")
            .as_deref()
            .map_or(Ok(Protocol::Auto), Protocol::parse)?;
        let context = match variable("MCP_CONFORMANCE_CONTEXT") {
            None => Value::Null,
            Some(text) => serde_json::from_str(&text).map_err(|error| {
                Problem::new(ProblemKind::Usage, format!("not JSON: {error}"))
                    .at("MCP_CONFORMANCE_CONTEXT")
            })?,
        };
        let http = Http {
            url,
            protocol,
            transport: Transport::Streamable,
            ..Http::default()
        };
        Ok(Self {
            http,
            scenario,
            context,
        })
    }
}

fn main() -> ExitCode {
    let done = match std::env::args().nth(1) {
        Some(url) => run(url),
        None => Err(Problem::new(
            ProblemKind::Usage,
            "the address of the runner's server is missing",
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {}", problem.message());
            ExitCode::from(problem.kind.exit_status())
        }
    }
}

fn run(url: String) -> Result<(), Problem> {
    let play = Play::read(url)?;
    let runtime = loupe_client::runtime().map_err(|error| {
        Problem::new(
            ProblemKind::Internal,
            format!("cannot start the runtime: {error}"),
        )
    })?;
    runtime.block_on(async {
        if play.scenario.starts_with("auth/") {
            login::run(&play).await
        } else {
            talk(&play).await
        }
    })
}

async fn talk(play: &Play) -> Result<(), Problem> {
    let asker = |asked: ServerRequest, answer: Answer| answer.give(reply(&asked));
    let answering = ClientCapabilities {
        elicitation: true,
        asker: Some(Arc::new(asker)),
        ..ClientCapabilities::default()
    };
    let options = loupe_client::Options {
        connect_limit: LIMIT,
        answering,
        ..loupe_client::Options::default()
    };
    let session =
        loupe_client::connect(&Source::Http(play.http.clone()), options, Arc::new(|_| {})).await?;
    let done = talk_in(&session, play).await;
    session.close().await;
    done
}

async fn talk_in(session: &Session, play: &Play) -> Result<(), Problem> {
    act(session, play, &session.list_tools(LIMIT).await?.tools).await?;
    if play.scenario == "http-standard-headers" {
        for resource in session
            .list(Listing::Resources, LIMIT)
            .await?
            .entries
            .into_iter()
            .map(|raw| Resource::read(raw, false))
        {
            ask(
                session,
                "resources/read",
                format!(r#"{{"uri":{}}}"#, write::string(&resource.uri)),
            )
            .await;
        }
        for prompt in session
            .list(Listing::Prompts, LIMIT)
            .await?
            .entries
            .into_iter()
            .map(Prompt::read)
        {
            ask(
                session,
                "prompts/get",
                format!(r#"{{"name":{}}}"#, write::string(&prompt.name)),
            )
            .await;
        }
    }
    Ok(())
}

/// The runner wants forms accepted with their defaults.
fn reply(asked: &ServerRequest) -> Reply {
    match &asked.wants {
        RequestKind::Form { fields, .. } => Reply::Accept(Some(form::content(fields, "{}"))),
        RequestKind::Url { .. } => Reply::Accept(None),
        RequestKind::Sampling(_) | RequestKind::Roots => Reply::Cancel,
    }
}

/// Calls what the scenario wants called: what its context lists, else each tool with plain arguments.
async fn act(session: &Session, play: &Play, tools: &[Tool]) -> Result<(), Problem> {
    if play.scenario == "json-schema-ref-no-deref" {
        return Ok(());
    }
    if let Some(calls) = play.context.get("toolCalls").and_then(Value::as_array) {
        for asked in calls {
            let name = asked
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let tool = tools
                .iter()
                .find(|tool| tool.name == name)
                .cloned()
                .unwrap_or_else(|| Tool::unlisted(name));
            let arguments = asked.get("arguments").cloned().unwrap_or_else(|| json!({}));
            print_outcome(&call(session, tool, arguments.to_string()).await);
        }
        return Ok(());
    }
    if play.scenario == "json-schema-2020-12-preservation" {
        let is_echo = |tool: &&Tool| tool.name == "json_schema_echo";
        let schema = tools
            .iter()
            .find(|tool| !is_echo(tool))
            .and_then(|tool| tool.input_schema.as_ref());
        if let (Some(echo), Some(schema)) = (tools.iter().find(is_echo), schema) {
            let arguments = format!(r#"{{"schema":{}}}"#, String::from_utf8_lossy(schema));
            print_outcome(&call(session, echo.clone(), arguments).await);
        }
        return Ok(());
    }
    // At the same time, since a server must be able to tell answers to several calls apart.
    let calls = tools
        .iter()
        .filter(|tool| session.rejects(tool).is_none())
        .map(|tool| {
            let arguments = plain(tool);
            async move {
                validate(tool.input_schema.as_ref(), &arguments, true)?;
                Ok::<_, Problem>(call(session, tool.clone(), arguments).await)
            }
        });
    for capture in futures::future::try_join_all(calls).await? {
        print_outcome(&capture);
    }
    Ok(())
}

async fn call(session: &Session, tool: Tool, arguments: String) -> Capture {
    let id = CaptureId(tool.name.as_str().into());
    session
        .call(
            loupe_client::Call {
                id,
                tool,
                arguments: Bytes::from(arguments),
                limit: LIMIT,
            },
            loupe_client::CancelToken::new(),
        )
        .await
}

async fn ask(session: &Session, method: &'static str, params: String) {
    let asking = loupe_client::ContentRequest {
        id: CaptureId(method.into()),
        method,
        params: Bytes::from(params),
        limit: LIMIT,
    };
    print_outcome(&session.read(asking, loupe_client::CancelToken::new()).await);
}

fn print_outcome(capture: &Capture) {
    let problem = capture
        .problem
        .as_ref()
        .map(|problem| format!(": {}", problem.message()))
        .unwrap_or_default();
    eprintln!("{} {}{problem}", capture.tool.name, capture.outcome.name());
}
