//! The hidden `conformance URL`: the client of the official conformance runner, on the same core as every command.
//!
//! The runner starts a server of its own, appends its address, and says by its variables which scenario is played and
//! which revision is spoken. What the client has to do stands in the scenario alone: most want the tools listed and
//! called with plain arguments.

mod login;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::args;
use super::call::capture_id;
use super::client::with_session;
use super::command;
use super::{Done, output};
use crate::analysis::arguments::refused_by;
use crate::capture::{Capture, Prompt, Resource, Tool};
use crate::json::write;
use crate::mcp::{self, Listing, Session};
use crate::problem::{Problem, ProblemKind};
use crate::source::{Http, Protocol, Source, Transport};

/// What is played, as the runner says it.
#[derive(Clone, Debug)]
pub struct Play {
    pub url: String,
    pub scenario: String,
    pub protocol: Protocol,
    /// What some scenarios give besides: calls to make, or the credentials of a client.
    pub context: Value,
}

impl Play {
    fn read(url: &str) -> Result<Self, Problem> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let scenario = variable("MCP_CONFORMANCE_SCENARIO").ok_or_else(|| {
            Problem::new(ProblemKind::Usage, "MCP_CONFORMANCE_SCENARIO is not set")
                .hint("let the conformance runner start this command")
        })?;
        let protocol = variable("MCP_CONFORMANCE_PROTOCOL_VERSION").as_deref().map_or(Ok(Protocol::Auto), Protocol::parse)?;
        let context = match variable("MCP_CONFORMANCE_CONTEXT") {
            None => Value::Null,
            Some(text) => serde_json::from_str(&text)
                .map_err(|error| Problem::new(ProblemKind::Usage, format!("not JSON: {error}")).at("MCP_CONFORMANCE_CONTEXT"))?,
        };
        Ok(Self { url: url.to_owned(), scenario, protocol, context })
    }

    /// The runner's server.
    pub fn source(&self) -> Source {
        Source::Http(Http { url: self.url.clone(), protocol: self.protocol, transport: Transport::Streamable, ..Http::default() })
    }
}

pub fn run(args: &command::ConformanceArgs) -> Done {
    let play = Play::read(&args.url)?;
    if play.scenario.starts_with("auth/") {
        return login::run(&play);
    }
    // The runner wants forms accepted with their defaults.
    let answers = args::AnswerArgs { elicit: Some("{}".into()), ..args::AnswerArgs::default() };
    let link = args::LinkArgs { answers, ..args::LinkArgs::default() };
    with_session(
        &play.source(),
        &link,
        false,
        async |client| {
            let session = client.session;
            act(session, &play, &client.tools().await?).await?;
            if play.scenario == "http-standard-headers" {
                for resource in client.list(Listing::Resources).await?.into_iter().map(|raw| Resource::read(raw, false)) {
                    let params = format!(r#"{{"uri":{}}}"#, write::string(&resource.uri));
                    ask(session, "resources/read", params).await?;
                }
                for prompt in client.list(Listing::Prompts).await?.into_iter().map(Prompt::read) {
                    let params = format!(r#"{{"name":{}}}"#, write::string(&prompt.name));
                    ask(session, "prompts/get", params).await?;
                }
            }
            Ok(())
        },
        |(), _| Ok(0),
    )
}

/// Calls what the scenario wants called: what its context lists, else each tool with plain arguments.
pub async fn act(session: &Session, play: &Play, tools: &[Tool]) -> Result<(), Problem> {
    if play.scenario == "json-schema-ref-no-deref" {
        return Ok(());
    }
    if let Some(calls) = play.context.get("toolCalls").and_then(Value::as_array) {
        for call in calls {
            let name = call.get("name").and_then(Value::as_str).unwrap_or_default();
            let tool = tools.iter().find(|tool| tool.name == name).cloned().unwrap_or_else(|| Tool::unlisted(name));
            let arguments = call.get("arguments").cloned().unwrap_or_else(|| json!({}));
            print_outcome(&self::call(session, tool, arguments.to_string()).await);
        }
        return Ok(());
    }
    if play.scenario == "json-schema-2020-12-preservation" {
        let is_echo = |tool: &&Tool| tool.name == "json_schema_echo";
        let schema = tools.iter().find(|tool| !is_echo(tool)).and_then(|tool| tool.input_schema.as_ref());
        if let (Some(echo), Some(schema)) = (tools.iter().find(is_echo), schema) {
            let arguments = format!(r#"{{"schema":{}}}"#, String::from_utf8_lossy(schema));
            print_outcome(&call(session, echo.clone(), arguments).await);
        }
        return Ok(());
    }
    // At the same time, since a server must be able to tell answers to several calls apart.
    let calls = tools.iter().filter(|tool| session.rejects(tool).is_none()).map(|tool| {
        let arguments = plain(tool);
        async move {
            refused_by(tool.input_schema.as_ref(), &arguments, true)?;
            Ok::<_, Problem>(call(session, tool.clone(), arguments).await)
        }
    });
    for capture in futures::future::try_join_all(calls).await? {
        print_outcome(&capture);
    }
    Ok(())
}

async fn call(session: &Session, tool: Tool, arguments: String) -> Capture {
    let call = mcp::Call {
        id: capture_id(&tool.name),
        tool,
        arguments: Bytes::from(arguments),
        limit: args::LinkArgs::default().call_limit(),
    };
    session.call(call, mcp::CancelToken::new()).await
}

async fn ask(session: &Session, method: &'static str, params: String) -> Result<(), Problem> {
    let limit = args::LinkArgs::default().call_limit();
    let asking = mcp::ContentRequest { id: capture_id(method), method, params: Bytes::from(params), limit };
    print_outcome(&session.read(asking, mcp::CancelToken::new()).await);
    Ok(())
}

fn print_outcome(capture: &Capture) {
    let problem = capture.problem.as_ref().map(|problem| format!(": {}", problem.message())).unwrap_or_default();
    output::note(false, &format!("{} {}{problem}", capture.tool.name, capture.outcome.name()));
}

/// The plainest arguments that fit a tool's schema.
fn plain(tool: &Tool) -> String {
    let schema: Value = tool.input_schema.as_ref().and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default();
    let mut arguments = Map::new();
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        let kind = schema.pointer(&format!("/properties/{name}/type")).and_then(Value::as_str).unwrap_or("string");
        let value = match kind {
            "number" | "integer" => json!(2),
            "boolean" => json!(true),
            "array" => json!([]),
            "object" => json!({}),
            "null" => Value::Null,
            _ => json!("loupe"),
        };
        arguments.insert(name.to_owned(), value);
    }
    Value::Object(arguments).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_arguments_fit_the_schema() {
        let raw = br#"{"name":"t","inputSchema":{"properties":{"a":{"type":"number"},"b":{"type":"string"},"c":{}},"required":["a","b"]}}"#;
        let tool = Tool::read(Bytes::from_static(raw));
        assert_eq!(plain(&tool), r#"{"a":2,"b":"loupe"}"#);
        assert!(refused_by(tool.input_schema.as_ref(), &plain(&tool), false).is_ok());
    }
}
