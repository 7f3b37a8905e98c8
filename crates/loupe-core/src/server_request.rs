//! What a server asks of its client, and what the user answers, as data: elicitation, sampling, roots.
//!
//! Reading never fails: an odd question is shown with what could be read of it. Nothing here answers by itself.

pub mod form;
pub mod secret;

use bytes::Bytes;

use crate::json::{Doc, Kind, Node, write};
use form::ElicitationField;

/// The methods that the user can answer.
pub const ELICITATION: &str = "elicitation/create";
pub const SAMPLING: &str = "sampling/createMessage";
pub(crate) const ROOTS: &str = "roots/list";

/// The `capabilities` of a client that can be asked these, as JSON.
pub fn capabilities(elicitation: bool, sampling: bool, roots: bool) -> String {
    let mut members = Vec::new();
    if roots {
        members.push(r#""roots":{"listChanged":true}"#);
    }
    if sampling {
        members.push(r#""sampling":{}"#);
    }
    if elicitation {
        members.push(r#""elicitation":{"form":{},"url":{}}"#);
    }
    format!("{{{}}}", members.join(","))
}

/// One question of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerRequest {
    /// Counts the questions of a session; an answer names it.
    pub key: u64,
    pub method: String,
    /// The parameters exactly as they came; `{}` where there are none.
    pub params: Bytes,
    pub wants: RequestKind,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestKind {
    /// A form to fill in.
    Form {
        message: String,
        /// `requestedSchema` exactly as it came.
        schema: Bytes,
        fields: Vec<ElicitationField>,
    },
    /// An address to visit outside of the protocol.
    Url {
        message: String,
        url: String,
        /// The host the address leads to, for people; `None` where it is no http or https address.
        host: Option<String>,
        /// By which the server says later that it is done (2025-11-25).
        id: Option<String>,
    },
    /// A completion by a model.
    Sampling(Sampling),
    /// The folders it may use.
    Roots,
}

/// A request for a completion. Whatever else it holds is in [`ServerRequest::params`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling {
    pub system: Option<String>,
    /// Role and text of each message; what is no text is its JSON.
    pub messages: Vec<(String, String)>,
    /// `maxTokens` as spelt.
    pub max_tokens: Option<String>,
    /// Names of the tools that the model may use.
    pub tools: Vec<String>,
}

/// A folder that servers may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// A `file:` address.
    pub uri: String,
    pub name: String,
}

/// What the user says to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The content of a form as a JSON object, or that the address will be visited.
    Accept(Option<String>),
    Decline,
    Cancel,
    /// What the model is made to say.
    Message {
        text: String,
        model: String,
    },
    /// No completion, and why.
    Refuse(String),
    Roots(Vec<Root>),
}

impl Reply {
    /// In a word, for people.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Accept(_) => "accepted",
            Self::Decline => "declined",
            Self::Cancel => "cancelled",
            Self::Message { .. } | Self::Roots(_) => "answered",
            Self::Refuse(_) => "refused",
        }
    }

    /// The `result` as JSON text.
    ///
    /// # Errors
    /// Why there is none: a refusal is an error of the protocol.
    pub fn result(&self) -> Result<String, String> {
        Ok(match self {
            Self::Accept(Some(content)) => format!(r#"{{"action":"accept","content":{content}}}"#),
            Self::Accept(None) => r#"{"action":"accept"}"#.into(),
            Self::Decline => r#"{"action":"decline"}"#.into(),
            Self::Cancel => r#"{"action":"cancel"}"#.into(),
            Self::Message { text, model } => format!(
                r#"{{"role":"assistant","content":{{"type":"text","text":{}}},"model":{},"stopReason":"endTurn"}}"#,
                write::string(text),
                write::string(model)
            ),
            Self::Refuse(why) => return Err(why.clone()),
            Self::Roots(roots) => roots_json(roots),
        })
    }
}

/// The result of `roots/list`.
pub fn roots_json(roots: &[Root]) -> String {
    let root = |root: &Root| {
        format!(
            r#"{{"uri":{},"name":{}}}"#,
            write::string(&root.uri),
            write::string(&root.name)
        )
    };
    format!(
        r#"{{"roots":[{}]}}"#,
        roots.iter().map(root).collect::<Vec<_>>().join(",")
    )
}

impl ServerRequest {
    /// Reads a question. `None` where the method is none that the user can answer.
    pub fn read(key: u64, method: &str, params: Option<Node<'_>>) -> Option<Self> {
        let text = |name: &str| Some(params?.get(name)?.as_str()?.into_owned());
        let wants = match method {
            ELICITATION if text("mode").as_deref() == Some("url") => {
                let url = text("url").unwrap_or_default();
                let message = text("message").unwrap_or_default();
                RequestKind::Url {
                    message,
                    host: host_of(&url),
                    url,
                    id: text("elicitationId"),
                }
            }
            ELICITATION => {
                let schema = params.and_then(|params| params.get("requestedSchema"));
                RequestKind::Form {
                    message: text("message").unwrap_or_default(),
                    schema: schema.map_or_else(|| Bytes::from_static(b"{}"), Node::raw_bytes),
                    fields: schema.map(form::fields).unwrap_or_default(),
                }
            }
            SAMPLING => RequestKind::Sampling(sampling(params)),
            ROOTS => RequestKind::Roots,
            _ => return None,
        };
        let params = params.map_or_else(|| Bytes::from_static(b"{}"), Node::raw_bytes);
        Some(Self {
            key,
            method: method.to_owned(),
            params,
            wants,
        })
    }

    /// What it is, in a few words.
    pub fn title(&self) -> &'static str {
        match self.wants {
            RequestKind::Form { .. } => "asks for input",
            RequestKind::Url { .. } => "asks to open an address",
            RequestKind::Sampling(_) => "asks for a completion by a model",
            RequestKind::Roots => "asks for its folders",
        }
    }

    /// What it says to the user.
    pub fn message(&self) -> &str {
        match &self.wants {
            RequestKind::Form { message, .. } | RequestKind::Url { message, .. } => message,
            RequestKind::Sampling(sampling) => {
                sampling.messages.last().map_or("", |(_, text)| text)
            }
            RequestKind::Roots => "",
        }
    }

    /// The names of fields that ask for what nobody should keep.
    pub fn secrets(&self) -> Vec<&str> {
        match &self.wants {
            RequestKind::Form { fields, .. } => fields
                .iter()
                .filter(|field| field.is_secret)
                .map(|field| field.name.as_str())
                .collect(),
            _ => Vec::new(),
        }
    }

    /// What is in the secret fields of a reply: name and value.
    pub fn secret_fields(&self, reply: &Reply) -> Vec<(String, String)> {
        let Reply::Accept(Some(content)) = reply else {
            return Vec::new();
        };
        secret::values(content, &self.secrets())
    }

    /// The `result` of a reply as it is kept: what is in secret fields is masked. `None` where nothing had to be.
    pub fn masked(&self, reply: &Reply) -> Option<Reply> {
        let Reply::Accept(Some(content)) = reply else {
            return None;
        };
        secret::mask(content, &self.secrets()).map(|content| Reply::Accept(Some(content)))
    }
}

fn sampling(params: Option<Node<'_>>) -> Sampling {
    let Some(params) = params else {
        return Sampling::default();
    };
    let list = |name: &str| params.get(name).filter(|node| node.kind() == Kind::Array);
    let text = |node: Node<'_>| match (
        node.kind(),
        node.get("type").and_then(Node::as_str).as_deref(),
    ) {
        (Kind::String, _) => node.as_str().unwrap_or_default().into_owned(),
        (_, Some("text")) => node
            .get("text")
            .and_then(Node::as_str)
            .unwrap_or_default()
            .into_owned(),
        _ => node.raw_text().into_owned(),
    };
    let message = |message: Node<'_>| {
        let role = message
            .get("role")
            .and_then(Node::as_str)
            .unwrap_or_default()
            .into_owned();
        let content = match message.get("content") {
            Some(parts) if parts.kind() == Kind::Array => {
                parts.children().map(text).collect::<Vec<_>>().join("\n")
            }
            Some(part) => text(part),
            None => String::new(),
        };
        (role, content)
    };
    Sampling {
        system: params
            .get("systemPrompt")
            .and_then(Node::as_str)
            .map(|text| text.into_owned()),
        messages: list("messages")
            .map(|list| list.children().map(message).collect())
            .unwrap_or_default(),
        max_tokens: params
            .get("maxTokens")
            .map(|node| node.raw_text().into_owned()),
        tools: list("tools")
            .map(|list| {
                list.children()
                    .map(|tool| {
                        tool.get("name")
                            .and_then(Node::as_str)
                            .unwrap_or_default()
                            .into_owned()
                    })
                    .collect()
            })
            .unwrap_or_default(),
    }
}

/// The host of an http or https address, its port with it.
fn host_of(url: &str) -> Option<String> {
    let url = url::Url::parse(url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let host = url.host_str()?.to_owned();
    Some(
        url.port()
            .map_or(host.clone(), |port| format!("{host}:{port}")),
    )
}

/// What a server wants before it can answer a call (2026-07-28): `resultType` is `input_required`.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Each question under its key; the key as JSON, as it came. Not all need to be questions that the user can answer.
    pub asks: Vec<(String, Result<ServerRequest, String>)>,
    /// `requestState` exactly as it came.
    pub state: Option<Bytes>,
}

impl Round {
    /// Reads a response message; `None` where it is an answer. `next_key` is that of the first question.
    pub fn read(message: &Bytes, next_key: u64) -> Option<Self> {
        // A cheap look first: nearly every answer is not one of these.
        memchr::memmem::find(message, b"input_required")?;
        let doc = Doc::parse(message.clone());
        let result = doc.at("/result")?;
        if result.get("resultType").and_then(Node::as_str).as_deref() != Some("input_required") {
            return None;
        }
        Some(Self::new(result, next_key, &[]))
    }

    /// What a task wants, from the answer to `tasks/get`: all but the questions under the keys that were `answered`.
    pub fn of_task(message: &Bytes, next_key: u64, answered: &[String]) -> Self {
        let doc = Doc::parse(message.clone());
        let round = doc
            .at("/result")
            .map(|result| Self::new(result, next_key, answered));
        // Its state is that of the task, which is not sent back.
        Self {
            asks: round.map(|round| round.asks).unwrap_or_default(),
            state: None,
        }
    }

    fn new(result: Node<'_>, next_key: u64, answered: &[String]) -> Self {
        let mut asks = Vec::new();
        for (request, key) in result
            .get("inputRequests")
            .map(Node::children)
            .into_iter()
            .flatten()
            .zip(next_key..)
        {
            let name = String::from_utf8_lossy(request.raw_key().unwrap_or_default()).into_owned();
            let method = request
                .get("method")
                .and_then(Node::as_str)
                .unwrap_or_default()
                .into_owned();
            let name = format!("\"{name}\"");
            if !answered.contains(&name) {
                asks.push((
                    name,
                    ServerRequest::read(key, &method, request.get("params")).ok_or(method),
                ));
            }
        }
        Self {
            asks,
            state: result.get("requestState").map(Node::raw_bytes),
        }
    }

    /// The members that the repeated request has in addition: results under their keys, in order.
    pub fn members(&self, results: &[String]) -> String {
        let mut members = String::new();
        if !self.asks.is_empty() {
            let responses: Vec<_> = self
                .asks
                .iter()
                .zip(results)
                .map(|((key, _), result)| format!("{key}:{result}"))
                .collect();
            members += &format!(r#","inputResponses":{{{}}}"#, responses.join(","));
        }
        if let Some(state) = &self.state {
            members += &format!(r#","requestState":{}"#, String::from_utf8_lossy(state));
        }
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &str, params: &'static str) -> ServerRequest {
        let doc = Doc::parse(Bytes::from_static(params.as_bytes()));
        ServerRequest::read(1, method, doc.root()).unwrap()
    }

    #[test]
    fn questions_are_read_however_odd() {
        let url = read(
            ELICITATION,
            r#"{"mode":"url","message":"m","url":"https://a.example:8443/x","elicitationId":"e"}"#,
        );
        assert_eq!(
            url.wants,
            RequestKind::Url {
                message: "m".into(),
                url: "https://a.example:8443/x".into(),
                host: Some("a.example:8443".into()),
                id: Some("e".into())
            }
        );
        let RequestKind::Url { host, .. } =
            read(ELICITATION, r#"{"mode":"url","url":"javascript:alert(1)"}"#).wants
        else {
            panic!()
        };
        assert_eq!(host, None);
        assert!(
            matches!(read(ELICITATION, r#"{"requestedSchema":7}"#).wants, RequestKind::Form { fields, .. } if fields.is_empty())
        );
        let RequestKind::Sampling(sampling) = read(
            SAMPLING,
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}},{"content":[{"type":"image","data":"x"}]}],"maxTokens":1e2}"#,
        )
        .wants
        else {
            panic!()
        };
        assert_eq!(
            sampling.messages,
            [
                ("user".into(), "hi".into()),
                (String::new(), r#"{"type":"image","data":"x"}"#.to_owned())
            ]
        );
        assert_eq!(sampling.max_tokens.as_deref(), Some("1e2"));
        assert_eq!(ServerRequest::read(1, "no/such", None), None);
    }

    #[test]
    fn rounds_echo_keys_and_state_byte_for_byte() {
        let message = Bytes::from_static(
            br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a\u0062":{"method":"elicitation/create","params":{"message":"?"}},"r":{"method":"roots/list"},"x":{"method":"odd"}},"requestState":"s\u0041\/"}}"#,
        );
        let round = Round::read(&message, 5).unwrap();
        assert_eq!(round.asks.len(), 3);
        assert_eq!(round.asks[1].1.as_ref().map(|ask| ask.key), Ok(6));
        assert_eq!(round.asks[2].1, Err("odd".to_owned()));
        let results = [
            "{\"action\":\"decline\"}".to_owned(),
            "{}".into(),
            "{}".into(),
        ];
        assert_eq!(
            round.members(&results),
            r#","inputResponses":{"a\u0062":{"action":"decline"},"r":{},"x":{}},"requestState":"s\u0041\/""#
        );
        let plain = Bytes::from_static(
            br#"{"id":1,"result":{"content":[{"type":"text","text":"input_required"}]}}"#,
        );
        assert_eq!(Round::read(&plain, 1), None);
    }

    #[test]
    fn what_is_secret_is_not_kept() {
        let ask = read(
            ELICITATION,
            r#"{"requestedSchema":{"properties":{"user":{"type":"string"},"p":{"type":"string","title":"App password"}}}}"#,
        );
        assert_eq!(ask.secrets(), ["p"]);
        let reply = Reply::Accept(Some(r#"{"user":"a", "p":"hunter2"}"#.into()));
        assert_eq!(
            ask.masked(&reply),
            Some(Reply::Accept(Some(r#"{"user":"a", "p":"•••"}"#.into())))
        );
        assert_eq!(ask.masked(&Reply::Decline), None);
        assert_eq!(
            ask.masked(&Reply::Accept(Some(r#"{"user":"a"}"#.into()))),
            None
        );
    }
}
