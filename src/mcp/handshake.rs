//! Reads the answer to `initialize` leniently, and makes the sane one that the SDK gets in its place.

use bytes::Bytes;
use rmcp::model::ServerJsonRpcMessage;

use super::VERSIONS;
use super::error::Error;
use super::tap::{End, quote};
use crate::capture::Server;
use crate::json::{Doc, Kind, Node};

/// What the server said of itself; place and transport are filled in by the caller.
pub(super) fn read(end: End, id: i64, place: &str) -> Result<(Server, ServerJsonRpcMessage), Error> {
    let bytes = match end {
        End::Lost(error) => return Err(Error::Shared(error)),
        End::Answer(answer) => match answer.fault {
            Some(Error::Malformed { place, what }) => return Err(Error::Handshake { place, what }),
            Some(error) => return Err(error),
            None => answer.bytes,
        },
    };
    let refused = |what: String| Error::Handshake { place: place.to_owned(), what };
    let doc = Doc::parse(bytes.clone());
    let root = doc.root();
    let text = |node: Option<Node<'_>>, name: &str| Some(node?.get(name)?.as_str()?.into_owned());
    let result = root.and_then(|root| root.get("result")).filter(|result| result.kind() == Kind::Object);
    let Some(result) = result else {
        let error = root.and_then(|root| root.get("error")).filter(|error| !error.is_null());
        return Err(match error {
            Some(error) => {
                let code = error.get("code").map(|code| code.raw_text().into_owned()).unwrap_or_default();
                let message = text(Some(error), "message").unwrap_or_default();
                match error.at("/data/supported") {
                    Some(versions) => Error::Version { place: place.to_owned(), version: versions.raw_text().into_owned() },
                    None => refused(format!("the server refused `initialize` with error {code}: {message}")),
                }
            }
            None => refused(format!("the answer to `initialize` has no result: {}", quote(&bytes))),
        });
    };
    let Some(version) = text(Some(result), "protocolVersion") else {
        return Err(refused(format!("the answer to `initialize` names no protocol version: {}", quote(&bytes))));
    };
    if !VERSIONS.contains(&version.as_str()) {
        return Err(Error::Version { place: place.to_owned(), version });
    }
    let info = result.get("serverInfo");
    let server = Server {
        name: text(info, "name").unwrap_or_default(),
        version: text(info, "version").unwrap_or_default(),
        protocol_version: version,
        instructions: text(Some(result), "instructions"),
        ..Server::default()
    };
    let stub = serde_json::json!({
        "jsonrpc": "2.0",
        "id": id,
        "result": {
            "protocolVersion": server.protocol_version,
            "capabilities": {},
            "serverInfo": { "name": server.name, "version": server.version },
        },
    });
    let stub = serde_json::from_value(stub).map_err(|error| refused(format!("the SDK does not take the handshake: {error}")))?;
    Ok((server, stub))
}

/// The raw bytes of one page's tools, and where the next page begins.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Each entry exactly as sent.
    pub entries: Vec<Bytes>,
    /// The cursor as sent, if there is one to follow.
    pub next: Option<Bytes>,
    /// Why the rest cannot be had.
    pub note: Option<String>,
}

/// Reads the result of a list, entry by entry: what one entry is does not matter to the others. `member` is the array's
/// name, such as `tools`.
pub(super) fn read_page(bytes: &Bytes, member: &str, place: &str) -> Result<Page, Error> {
    let malformed = |what: String| Error::Malformed { place: place.to_owned(), what };
    let doc = Doc::parse(bytes.clone());
    let root = doc.root().filter(|root| root.kind() == Kind::Object);
    let root = root.ok_or_else(|| malformed(format!("the list of {member} is no message: {}", quote(bytes))))?;
    if let Some(error) = root.get("error").filter(|error| !error.is_null()) {
        return Err(Error::Rpc {
            place: place.to_owned(),
            code: error.get("code").map(|code| code.raw_text().into_owned()).unwrap_or_default(),
            message: error.get("message").and_then(|node| node.as_str()).unwrap_or_default().into_owned(),
        });
    }
    let entries = root.at("/result").and_then(|result| result.get(member)).filter(|entries| entries.kind() == Kind::Array);
    let entries =
        entries.ok_or_else(|| malformed(format!("the list of {member} holds no `{member}` array: {}", quote(bytes))))?;
    let mut page = Page { entries: entries.children().map(Node::raw_bytes).collect(), ..Page::default() };
    if let Some(fault) = doc.faults().iter().find(|fault| fault.kind.is_fatal()) {
        page.note = Some(format!("the list is cut or broken: {} at byte {}", fault.kind.message(), fault.at));
        return Ok(page);
    }
    match root.at("/result/nextCursor") {
        None => {}
        Some(cursor) if cursor.is_null() => {}
        Some(cursor) if cursor.kind() != Kind::String => {
            page.note = Some("`nextCursor` is not a string, so the list may be longer".into());
        }
        Some(cursor) if cursor.raw() == b"\"\"" => page.note = Some("`nextCursor` is empty, so the list ends here".into()),
        Some(cursor) => page.next = Some(cursor.raw_bytes()),
    }
    Ok(page)
}
