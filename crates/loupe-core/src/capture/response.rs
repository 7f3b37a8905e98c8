//! The lenient reading of a response message: result, blocks, structured part, error, and what is odd.

use std::sync::Arc;

use bytes::Bytes;

use super::block::Block;
use super::tool::with_article;
use super::{Capture, Outcome};
use crate::json::{Doc, FaultKind, Kind, Node};

/// A JSON-RPC error as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// The `code` exactly as sent; normally an integer.
    pub code: String,
    pub message: String,
    /// The raw `data`.
    pub data: Option<Bytes>,
}

impl RpcError {
    /// Reads an error however it is written: where not an object, what is there is the message.
    pub fn read(error: Node<'_>) -> Self {
        let text = |node: Node<'_>| node.as_str().map(|text| text.into_owned());
        if error.kind() != Kind::Object {
            let message = text(error).unwrap_or_else(|| error.raw_text().into_owned());
            return Self {
                code: String::new(),
                message,
                data: None,
            };
        }
        Self {
            code: error
                .get("code")
                .map(|node| node.raw_text().into_owned())
                .unwrap_or_default(),
            message: error.get("message").and_then(text).unwrap_or_default(),
            data: error.get("data").map(Node::raw_bytes),
        }
    }

    /// What follows the word "error" in a sentence: ` -32602: no such tool`, `: boom`; nothing where it says nothing.
    pub fn detail(&self) -> String {
        let part = |before: &str, text: &str| {
            if text.is_empty() {
                String::new()
            } else {
                format!("{before}{text}")
            }
        };
        part(" ", &self.code) + &part(": ", &self.message)
    }
}

/// The index over a response, from when the call was judged; only of few values, so that a capture takes little more room.
/// No part of the record: with it and without it a capture is the same.
#[derive(Clone, Debug, Default)]
pub struct ResponseIndex(Option<Arc<Doc>>);

impl ResponseIndex {
    const MOST_VALUES: usize = 1024;

    pub fn new(doc: &Arc<Doc>) -> Self {
        Self((doc.len() <= Self::MOST_VALUES).then(|| Arc::clone(doc)))
    }

    /// The index, where it is over these bytes and not over those of a capture that this one was made from.
    fn over(&self, message: &Bytes) -> Option<Arc<Doc>> {
        self.0
            .clone()
            .filter(|doc| doc.bytes().as_ptr_range() == message.as_ptr_range())
    }
}

impl PartialEq for ResponseIndex {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What could be read of a response.
#[derive(Clone, Debug)]
pub struct ParsedResponse {
    /// The whole response message.
    pub doc: Arc<Doc>,
    /// Tape indices into `doc`.
    result: Option<usize>,
    structured: Option<usize>,
    pub blocks: Vec<Block>,
    /// `isError`; `None` where absent or not a boolean.
    pub is_error: Option<bool>,
    pub rpc_error: Option<RpcError>,
    /// What is odd, for people; those of a block are in the block.
    pub faults: Vec<String>,
}

impl ParsedResponse {
    /// Reads the response of a capture; without one the reading is empty.
    pub fn new(capture: &Capture) -> Self {
        let message = capture.response.clone().unwrap_or_default();
        Self::with_blocks(
            &capture
                .index
                .over(&message)
                .unwrap_or_else(|| Arc::new(Doc::parse(message))),
        )
    }

    /// Reads a response message.
    pub fn read(message: Bytes) -> Self {
        Self::with_blocks(&Arc::new(Doc::parse(message)))
    }

    fn with_blocks(doc: &Arc<Doc>) -> Self {
        let mut reading = Self::without_blocks(doc);
        reading.read_blocks();
        reading
    }

    /// What a message says but for its blocks, whose texts take as long to decode as all else to read.
    pub fn without_blocks(doc: &Arc<Doc>) -> Self {
        let mut reading = Self {
            result: None,
            structured: None,
            blocks: Vec::new(),
            is_error: None,
            rpc_error: None,
            faults: Vec::new(),
            doc: Arc::clone(doc),
        };
        if doc.bytes().is_empty() {
            return reading;
        }
        for fault in doc
            .faults()
            .iter()
            .filter(|fault| fault.kind != FaultKind::LoneSurrogate)
            .take(20)
        {
            reading
                .faults
                .push(format!("{} at byte {}", fault.kind.message(), fault.at));
        }
        let Some(root) = doc.root() else {
            return reading;
        };
        if root.kind() != Kind::Object {
            reading.faults.push(format!(
                "the message is {}, not an object",
                with_article(root.kind())
            ));
            return reading;
        }
        if root.get("jsonrpc").and_then(Node::as_str).as_deref() != Some("2.0") {
            reading.faults.push("`jsonrpc` is not \"2.0\"".into());
        }
        reading.read_error(root);
        if let Some((status, task)) = root.get("result").and_then(finished) {
            match status {
                Finished::Completed(result) => {
                    reading.result = Some(result.index());
                    reading.read_result(result);
                }
                Finished::Failed => reading.read_error(task),
            }
        } else if let Some(result) = root.get("result") {
            reading.result = Some(result.index());
            reading.read_result(result);
        } else if reading.rpc_error.is_none() {
            reading.faults.push("neither `result` nor `error`".into());
        }
        reading
    }

    fn read_error(&mut self, root: Node<'_>) {
        let Some(error) = root.get("error") else {
            return;
        };
        if error.is_null() {
            self.faults.push("`error` is null beside the result".into());
            return;
        }
        self.rpc_error = Some(RpcError::read(error));
        if error.kind() != Kind::Object {
            self.faults.push(format!(
                "`error` is {}, not an object",
                with_article(error.kind())
            ));
            return;
        }
        if error.get("code").and_then(Node::as_i64).is_none() {
            self.faults
                .push("the error's `code` is not an integer".into());
        }
        if error.get("message").and_then(Node::as_str).is_none() {
            self.faults.push("the error has no `message`".into());
        }
    }

    fn read_result(&mut self, result: Node<'_>) {
        if result.kind() != Kind::Object {
            self.faults.push(format!(
                "`result` is {}, not an object",
                with_article(result.kind())
            ));
            return;
        }
        match result.get("content").map(Node::kind) {
            None if blocks(result).is_none() => self.faults.push("no `content`".into()),
            None | Some(Kind::Array) => {}
            Some(kind) => self
                .faults
                .push(format!("`content` is {}, not an array", with_article(kind))),
        }
        self.structured = result.get("structuredContent").map(|node| node.index());
        if let Some(flag) = result.get("isError") {
            self.is_error = flag.as_bool();
            if self.is_error.is_none() {
                self.faults.push(format!(
                    "`isError` is {}, not a boolean",
                    with_article(flag.kind())
                ));
            }
        }
        for member in result.children() {
            let key = member.key().unwrap_or_default();
            let is_other = matches!(&*key, "contents" | "messages" | "description")
                && result.get("content").is_none();
            if !is_other
                && !matches!(
                    &*key,
                    "content" | "structuredContent" | "isError" | "_meta" | "resultType" | "task"
                )
            {
                self.faults
                    .push(format!("unknown field `{key}` in the result"));
            }
        }
    }

    fn read_blocks(&mut self) {
        let doc = Arc::clone(&self.doc);
        let result = self.result.and_then(|result| doc.node(result));
        let Some((list, read)) = result.and_then(blocks) else {
            return;
        };
        self.blocks = list
            .children()
            .enumerate()
            .map(|(index, node)| read(index, node))
            .collect();
        self.blocks.shrink_to_fit();
    }

    /// The `result` value.
    pub fn result(&self) -> Option<Node<'_>> {
        self.doc.node(self.result?)
    }

    /// The `structuredContent` value; present and `null` differ from absent.
    pub fn structured(&self) -> Option<Node<'_>> {
        self.doc.node(self.structured?)
    }

    /// The texts of all text blocks in order, one LF between two; `None` where there is no text block.
    pub fn content_text(&self) -> Option<String> {
        let texts: Vec<&str> = self
            .text_blocks()
            .filter_map(|block| block.text.as_deref())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// The blocks of type `text` that have a text.
    pub fn text_blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks
            .iter()
            .filter(|block| block.kind == super::BlockKind::Text && block.text.is_some())
    }

    /// The outcome of a call that was answered with this message.
    pub fn outcome(&self) -> Outcome {
        if self.doc.faults().iter().any(|fault| fault.kind.is_fatal()) {
            Outcome::Malformed
        } else if self.is_error == Some(true) {
            Outcome::ToolError
        } else if self.result().is_some_and(|result| !result.is_null()) {
            // A `result` of null is none: older writers put one next to an error.
            Outcome::Result
        } else if self.rpc_error.is_some() {
            Outcome::ProtocolError
        } else {
            Outcome::Malformed
        }
    }
}

type ReadBlock = fn(usize, Node<'_>) -> Block;

/// The blocks of a result, and how they are read: what `resources/read` and `prompts/get` answer with is shown as content is.
fn blocks(result: Node<'_>) -> Option<(Node<'_>, ReadBlock)> {
    let has_content = result.get("content").is_some();
    let lists: [(&str, ReadBlock); 3] = [
        ("content", Block::read),
        ("contents", Block::of_contents),
        ("messages", Block::of_message),
    ];
    let mut own = lists
        .into_iter()
        .filter(|(name, _)| !has_content || *name == "content");
    own.find_map(|(name, read)| {
        Some((
            result.get(name).filter(|node| node.kind() == Kind::Array)?,
            read,
        ))
    })
}

/// What a task holds that is over.
enum Finished<'a> {
    Completed(Node<'a>),
    Failed,
}

/// A result that is no result but a task that has one, or an error (`tasks/get` of the extension for tasks, 2026-07-28).
fn finished(result: Node<'_>) -> Option<(Finished<'_>, Node<'_>)> {
    result
        .get("taskId")
        .filter(|id| id.kind() == Kind::String && result.get("content").is_none())?;
    match result.get("status").and_then(Node::as_str).as_deref() {
        Some("completed") => Some((Finished::Completed(result.get("result")?), result)),
        Some("failed") => result.get("error").map(|_| (Finished::Failed, result)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_finished_task_holds_is_what_counts() {
        let done = read(
            r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"a","status":"completed","ttlMs":null,
            "result":{"content":[{"type":"text","text":"t"}],"structuredContent":[1],"isError":true}}}"#,
        );
        assert_eq!(
            (done.outcome(), done.content_text().as_deref()),
            (Outcome::ToolError, Some("t"))
        );
        assert_eq!(
            done.structured()
                .map(|node| node.raw_text().into_owned())
                .as_deref(),
            Some("[1]")
        );
        assert!(done.faults.is_empty(), "{:?}", done.faults);
        let failed = read(
            r#"{"jsonrpc":"2.0","id":1,"result":{"taskId":"a","status":"failed","error":{"code":-32603,"message":"no"}}}"#,
        );
        assert_eq!(
            (failed.outcome(), failed.rpc_error.unwrap().message.as_str()),
            (Outcome::ProtocolError, "no")
        );
        let odd = |error: &str| {
            read(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#))
                .rpc_error
                .unwrap()
                .detail()
        };
        assert_eq!(
            [odd(r#""boom""#), odd("[1]"), odd("{}")],
            [": boom", ": [1]", ""]
        );
        assert_eq!(
            [odd(r#"{"code":5}"#), odd(r#"{"code":-1,"message":"no"}"#)],
            [" 5", " -1: no"]
        );
        assert_eq!(
            read(r#"{"id":1,"error":"boom"}"#).faults.last().unwrap(),
            "`error` is a string, not an object"
        );
        // A result of a tool that looks like one, and a task that is under way.
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"taskId":"a","status":"completed","result":{"x":1}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"taskId":"a","status":"working"}}"#,
        ] {
            assert_eq!(read(text).outcome(), Outcome::Result, "{text}");
        }
    }

    fn read(text: &str) -> ParsedResponse {
        ParsedResponse::read(Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn the_index_of_another_response_is_not_taken() {
        let doc = read(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#).doc;
        let empty = Capture::empty(
            crate::capture::CaptureId("1".into()),
            crate::capture::Server::default(),
        );
        let judged = Capture {
            response: Some(doc.bytes().clone()),
            index: ResponseIndex::new(&doc),
            ..empty
        };
        assert!(Arc::ptr_eq(&ParsedResponse::new(&judged).doc, &doc));
        let response = Some(Bytes::from_static(
            br#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
        ));
        assert_eq!(
            ParsedResponse::new(&Capture { response, ..judged }).is_error,
            None
        );
    }

    #[test]
    fn a_result_of_null_is_no_result() {
        let alone = read(r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
        assert_eq!(alone.outcome(), Outcome::Malformed);
        assert_eq!(alone.faults, ["`result` is null, not an object"]);
        let beside =
            read(r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"no"}}"#);
        assert_eq!(beside.outcome(), Outcome::ProtocolError);
    }

    #[test]
    fn odd_blocks_are_shown_and_marked() {
        let reading = read(
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"hologram","x":1},{"type":"text"},7,
            {"type":"text","text":"a","annotations":{"priority":"high","audience":["robot"]}}],"isError":"no","tools":[]}}"#,
        );
        assert_eq!(reading.outcome(), Outcome::Result);
        let faults: Vec<_> = reading
            .blocks
            .iter()
            .flat_map(|block| block.faults.clone())
            .collect();
        assert_eq!(
            faults,
            [
                "unknown block type `hologram`",
                "no `text`",
                "the block is a number, not an object",
                "unknown audience `robot`",
                "`priority` is a string, not a number",
            ]
        );
        assert_eq!(
            reading.faults,
            [
                "`isError` is a string, not a boolean",
                "unknown field `tools` in the result"
            ]
        );
    }

    #[test]
    fn resources_and_prompts_are_read_as_blocks() {
        let reading = read(
            r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"a://b","mimeType":"text/plain","text":"hi"},
            {"uri":"a://c","blob":"aGk="},{"uri":"a://d"}]}}"#,
        );
        assert_eq!(reading.content_text().as_deref(), Some("hi"));
        assert_eq!(
            (
                reading.blocks[0].uri.as_deref(),
                reading.blocks[1].data_bytes
            ),
            (Some("a://b"), Some(2))
        );
        assert_eq!(
            reading.blocks[2].faults,
            ["the resource has neither `text` nor `blob`"]
        );
        let reading = read(
            r#"{"jsonrpc":"2.0","id":1,"result":{"description":"d","messages":[
            {"role":"user","content":{"type":"text","text":"a"}},{"role":"assistant","content":{"type":"text","text":"b"}},{}]}}"#,
        );
        assert_eq!(reading.content_text().as_deref(), Some("a\nb"));
        assert_eq!(reading.blocks[1].name.as_deref(), Some("assistant"));
        assert_eq!(reading.blocks[2].faults, ["the message has no `content`"]);
        assert!(reading.faults.is_empty(), "{:?}", reading.faults);
    }

    #[test]
    fn null_structured_is_not_absent() {
        assert!(
            read(r#"{"jsonrpc":"2.0","result":{"content":[],"structuredContent":null}}"#)
                .structured()
                .unwrap()
                .is_null()
        );
        assert!(
            read(r#"{"jsonrpc":"2.0","result":{"content":[]}}"#)
                .structured()
                .is_none()
        );
    }

    #[test]
    fn a_cut_message_is_malformed_and_keeps_what_came() {
        let reading = read(r#"{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"half"#);
        assert_eq!(reading.outcome(), Outcome::Malformed);
        assert_eq!(reading.content_text().as_deref(), Some("half"));
        assert_eq!(read("<html>").outcome(), Outcome::Malformed);
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"no"}}"#).outcome(),
            Outcome::ProtocolError
        );
    }
}
