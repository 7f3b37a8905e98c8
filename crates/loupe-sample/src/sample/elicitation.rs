//! What `autoreply`'s login asks of the client for: the handle and the app password that a call left out, by elicitation
//! where the client declared it. In a session by a request, and the call is answered when the client has; without one
//! (2026-07-28) inside of the result, and the client calls again with its answers.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use serde_json::{Value, json};

use super::Sample;
use super::kit::text_result;
use crate::rpc::{INVALID_PARAMS, Refusal, Service};
use loupe_core::json::{Doc, Kind, Node};

/// The name of the tool in its own set, and where all sets stand together.
const LOGINS: &[&str] = &["login", "autoreply_login"];

/// The key of the question inside of a result, and the state that has to come back with its answer.
const KEY: &str = "login";
const STATE: &str = "autoreply-login/1";

/// What is asked of each client.
pub(super) struct Asking {
    /// The oldest shape asks by a block of its own and never this way.
    asks_by_block: bool,
    sessions: Mutex<BTreeMap<String, Client>>,
}

#[derive(Default)]
struct Client {
    can_be_asked: bool,
    count: u64,
    /// By the id of the question: the call that waits for it.
    open: BTreeMap<String, Waiting>,
}

struct Waiting {
    /// The id of the call as it came.
    id: String,
    tool: String,
    arguments: Value,
}

impl Asking {
    pub fn new(asks_by_block: bool) -> Self {
        Self {
            asks_by_block,
            sessions: Mutex::default(),
        }
    }

    /// The messages to send, where a message has to do with asking; `None` leaves it to everybody else.
    pub fn handle(&self, sample: &Sample, session: &str, message: &[u8]) -> Option<Vec<Bytes>> {
        let doc = Doc::parse(Bytes::copy_from_slice(message));
        let root = doc
            .root()
            .filter(|root| doc.is_json() && root.kind() == Kind::Object)?;
        let params = root.get("params");
        match root.get("method").and_then(Node::as_str).as_deref() {
            Some("initialize") => {
                let declared = doc
                    .at("/params/capabilities/elicitation")
                    .is_some_and(|node| node.kind() == Kind::Object);
                self.client(session, |client| {
                    *client = Client {
                        can_be_asked: declared,
                        ..Client::default()
                    }
                });
                None
            }
            Some("tools/call") => {
                let id = root
                    .get("id")
                    .filter(|id| matches!(id.kind(), Kind::String | Kind::Number))?;
                let (tool, arguments) = self.login(sample, params?)?;
                let question = question(&arguments)?;
                let waiting = Waiting {
                    id: id.raw_text().into_owned(),
                    tool,
                    arguments,
                };
                self.client(session, |client| {
                    client.can_be_asked.then(|| {
                        client.count += 1;
                        let ask = format!("login-{}", client.count);
                        client.open.insert(ask.clone(), waiting);
                        vec![message_of(
                            &json!({"jsonrpc": "2.0", "id": ask, "method": "elicitation/create", "params": question}),
                        )]
                    })
                })
            }
            Some("notifications/cancelled") => {
                let id = params?.get("requestId")?.raw_text().into_owned();
                self.client(session, |client| {
                    let ask = client.open.iter().find(|(_, waiting)| waiting.id == id)?.0.clone();
                    client.open.remove(&ask);
                    let params = json!({"requestId": ask, "reason": "the call was cancelled"});
                    Some(vec![message_of(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))])
                })
            }
            Some(_) => None,
            None => {
                let ask = root.get("id")?.as_str()?.into_owned();
                let waiting = self.client(session, |client| client.open.remove(&ask))?;
                let result = finish(sample, &waiting.tool, waiting.arguments, root.get("result"));
                Some(vec![
                    format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}",
                        waiting.id
                    )
                    .into(),
                ])
            }
        }
    }

    /// One call without a session: the question inside of its result, or the answer to the call that brings the answer.
    pub fn round(
        &self,
        sample: &Sample,
        params: Node<'_>,
        can_be_asked: bool,
    ) -> Option<Result<String, Refusal>> {
        let (tool, arguments) = self.login(sample, params)?;
        let question = question(&arguments)?;
        let Some(responses) = params.get("inputResponses") else {
            let asks = json!({KEY: {"method": "elicitation/create", "params": question}});
            let result = json!({"resultType": "input_required", "inputRequests": asks, "requestState": STATE});
            return can_be_asked.then(|| Ok(result.to_string()));
        };
        if params.get("requestState").and_then(Node::as_str).as_deref() != Some(STATE) {
            return Some(Err(Refusal::new(
                INVALID_PARAMS,
                "Invalid or expired requestState",
            )));
        }
        Some(Ok(finish(sample, &tool, arguments, responses.get(KEY))))
    }

    /// The tool and the arguments of a call, where it is a login that may ask.
    fn login(&self, sample: &Sample, params: Node<'_>) -> Option<(String, Value)> {
        let tool = params.get("name")?.as_str()?.into_owned();
        if self.asks_by_block || !LOGINS.contains(&&*tool) || !sample.index.contains_key(&tool) {
            return None;
        }
        let arguments = params
            .get("arguments")
            .map_or_else(|| b"{}".to_vec(), |node| node.raw().to_vec());
        Some((tool, serde_json::from_slice(&arguments).ok()?))
    }

    fn client<T>(&self, session: &str, work: impl FnOnce(&mut Client) -> T) -> T {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        work(sessions.entry(session.to_owned()).or_default())
    }
}

fn message_of(message: &Value) -> Bytes {
    message.to_string().into()
}

/// What a login that lacks something asks for; `None` where it lacks nothing or is no login.
fn question(arguments: &Value) -> Option<Value> {
    let text = |name: &str| arguments[name].as_str().filter(|text| !text.is_empty());
    if !matches!(
        arguments.get("command").map(Value::as_str),
        None | Some(Some("login"))
    ) {
        return None;
    }
    let password = json!({"type": "string", "title": "App password", "description": "Made in the settings; never the main password of the account", "minLength": 8});
    let (message, properties, required) = match (text("handle"), text("password")) {
        (Some(_), Some(_)) => return None,
        (Some(handle), None) => (
            format!("App password of {handle}"),
            json!({"password": password}),
            json!(["password"]),
        ),
        (None, _) => (
            "Log in to autoreply".to_owned(),
            json!({"handle": {"type": "string", "title": "Handle", "description": "Such as @alice", "minLength": 1}, "password": password}),
            json!(["handle", "password"]),
        ),
    };
    Some(
        json!({"message": message, "requestedSchema": {"type": "object", "properties": properties, "required": required}}),
    )
}

/// The answer to the call, now that the client has answered.
fn finish(sample: &Sample, tool: &str, mut arguments: Value, result: Option<Node<'_>>) -> String {
    let action = result
        .and_then(|result| result.get("action"))
        .and_then(Node::as_str)
        .unwrap_or_default();
    if action != "accept" {
        let text = if action == "decline" {
            "⚠️ Login declined"
        } else {
            "⚠️ Login cancelled"
        };
        return text_result(text, true).to_string();
    }
    for name in ["handle", "password"] {
        let given = result
            .and_then(|result| result.get("content"))
            .and_then(|content| content.get(name))
            .and_then(Node::as_str);
        // Arguments that are no object are refused by the tool itself.
        if let (Some(given), Some(arguments)) = (given, arguments.as_object_mut()) {
            arguments.insert(name.to_owned(), given.into_owned().into());
        }
    }
    let doc = Doc::parse(arguments.to_string().into());
    sample
        .call(tool, doc.root())
        .unwrap_or_else(|refusal| text_result(&refusal.message, true).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backend;
    use loupe_core::source::SampleSpec;

    fn exchange(sample: &Sample, session: &str, message: &str) -> String {
        let answers = sample.handle_of(session, message.as_bytes());
        assert!(answers.len() < 2, "{message}");
        answers.first().map_or_else(String::new, |bytes| {
            String::from_utf8(bytes.to_vec()).unwrap()
        })
    }

    #[test]
    fn a_login_asks_whoever_can_be_asked() {
        let sample = Sample::new(&SampleSpec::parse("autoreply").unwrap()).unwrap();
        let hello = |capabilities: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{capabilities}}}}}"#
            )
        };
        exchange(&sample, "a", &hello(r#"{"elicitation":{}}"#));
        exchange(&sample, "b", &hello("{}"));
        let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"login","arguments":{"handle":"@carol.art"}}}"#;
        assert!(exchange(&sample, "b", call).contains("this client cannot be asked"));
        let asked = exchange(&sample, "a", call);
        assert!(
            asked.contains(r#""id":"login-1","method":"elicitation/create""#)
                && asked.contains("App password of @carol.art")
        );
        let accept = r#"{"jsonrpc":"2.0","id":"login-1","result":{"action":"accept","content":{"password":"abcd-efgh"}}}"#;
        assert_eq!(exchange(&sample, "b", accept), "", "nobody else's answer");
        let done = exchange(&sample, "a", accept);
        assert!(
            done.starts_with(r#"{"jsonrpc":"2.0","id":7,"#)
                && done.contains("Logged in as @carol.art"),
            "{done}"
        );
        assert_eq!(exchange(&sample, "a", accept), "", "answered once");
        exchange(&sample, "a", &call.replace("@carol.art", "@bob.dev"));
        assert!(
            exchange(
                &sample,
                "a",
                r#"{"id":"login-2","result":{"action":"decline"}}"#
            )
            .contains("Login declined")
        );
        exchange(&sample, "a", call.replace("@carol.art", "").as_str());
        let withdrawn = exchange(
            &sample,
            "a",
            r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#,
        );
        assert!(
            withdrawn.contains(r#""requestId":"login-3""#),
            "{withdrawn}"
        );
    }
}
