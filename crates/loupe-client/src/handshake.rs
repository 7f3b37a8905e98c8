//! Reads the answers to `server/discover` and `initialize` leniently, and makes the sane one of the latter that the SDK
//! gets instead of what came.

use bytes::Bytes;
use rmcp::model::ServerJsonRpcMessage;

use super::error::Error;
use super::tap::{End, quote};
use loupe_core::capture::{RpcError, Server};
use loupe_core::json::{Doc, Kind, Node};
use loupe_core::source::Protocol;

/// What the server said of itself; place and transport are filled in by the caller.
pub(super) fn read(
    end: End,
    id: i64,
    place: &str,
) -> Result<(Server, ServerJsonRpcMessage), Error> {
    let bytes = match end {
        End::Lost(error) => return Err(Error::Shared(error)),
        End::Answer(answer) => match answer.fault {
            Some(Error::Malformed { place, what }) => return Err(Error::Handshake { place, what }),
            Some(error) => return Err(error),
            None => answer.bytes,
        },
    };
    let refused = |what: String| Error::Handshake {
        place: place.to_owned(),
        what,
    };
    let doc = Doc::parse(bytes.clone());
    let root = doc.root();
    let text = |node: Option<Node<'_>>, name: &str| Some(node?.get(name)?.as_str()?.into_owned());
    let result = root
        .and_then(|root| root.get("result"))
        .filter(|result| result.kind() == Kind::Object);
    let Some(result) = result else {
        let error = root
            .and_then(|root| root.get("error"))
            .filter(|error| !error.is_null());
        return Err(match error {
            Some(error) => match error.at("/data/supported") {
                Some(versions) => {
                    let versions = versions
                        .raw_text()
                        .replace(['[', ']', '"'], "")
                        .replace(',', ", ");
                    if Protocol::VERSIONS
                        .iter()
                        .any(|known| versions.contains(known))
                    {
                        let what = format!(
                            "the server does not speak the revision that `initialize` names, but {versions}"
                        );
                        Error::Unspoken {
                            place: place.to_owned(),
                            what,
                        }
                    } else {
                        Error::Version {
                            place: place.to_owned(),
                            version: versions,
                        }
                    }
                }
                None => refused(format!(
                    "the server refused `initialize` with error{}",
                    RpcError::read(error).detail()
                )),
            },
            None => refused(format!(
                "the answer to `initialize` has no result: {}",
                quote(&bytes)
            )),
        });
    };
    let Some(version) = text(Some(result), "protocolVersion") else {
        return Err(refused(format!(
            "the answer to `initialize` names no protocol version: {}",
            quote(&bytes)
        )));
    };
    if !Protocol::VERSIONS.contains(&version.as_str()) {
        return Err(Error::Version {
            place: place.to_owned(),
            version,
        });
    }
    let info = result.get("serverInfo");
    let server = Server {
        name: text(info, "name").unwrap_or_default(),
        version: text(info, "version").unwrap_or_default(),
        protocol_version: version,
        instructions: text(Some(result), "instructions"),
        capabilities: result.get("capabilities").map(Node::raw_bytes),
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
    let stub = serde_json::from_value(stub)
        .map_err(|error| refused(format!("the SDK does not take the handshake: {error}")))?;
    Ok((server, stub))
}

/// What the probe says of a server.
pub(super) enum Verdict {
    /// It is of the era without a handshake; place and transport are filled in by the caller.
    Stateless(Server),
    /// It wants a handshake, as far as one can tell.
    Handshake(Refusal),
}

/// An answer to the probe that does not settle the era.
#[derive(Default)]
pub(super) struct Refusal {
    /// What came, for people.
    pub why: String,
    /// A version of the handshake that the server named.
    pub version: Option<&'static str>,
    /// The server, where it described itself but named no version: stateless, unless it takes a handshake.
    pub described: Option<Box<Server>>,
    /// What an MCP server without the probe does not answer: a demand for credentials, a failure.
    pub is_noted: bool,
}

/// What follows from one answer to the probe.
pub(super) enum Discovered {
    Is(Verdict),
    /// The probe is to be made again with this version, which the server speaks.
    ServerRequest(&'static str),
}

const UNSUPPORTED: i64 = -32022;
const METHOD_NOT_FOUND: i64 = -32601;

/// Reads the answer to `server/discover` in version `asked`.
///
/// # Errors
/// What ends the attempt to connect: the server cannot be reached, redirects, or speaks no version known here.
pub(super) fn discovered(end: End, asked: &'static str, place: &str) -> Result<Discovered, Error> {
    let refused = |refusal| Ok(Discovered::Is(Verdict::Handshake(refusal)));
    let handshake = |why: String| {
        refused(Refusal {
            why,
            ..Refusal::default()
        })
    };
    let answer = match end {
        End::Lost(error) => {
            return match error.root() {
                Error::Disconnected { place: gone, .. } if gone.starts_with("http") => {
                    handshake(error.to_string())
                }
                Error::Malformed { .. } | Error::Broken { .. } => handshake(error.to_string()),
                _ => Err(Error::Shared(error)),
            };
        }
        End::Answer(answer) => answer,
    };
    let status = answer.http.as_ref().map(|http| http.status);
    match answer.fault {
        Some(fault @ Error::Redirect { .. }) => return Err(fault),
        Some(fault) => {
            let is_noted = status.is_some_and(|status| matches!(status, 401 | 403 | 500..));
            return refused(Refusal {
                why: fault.to_string(),
                is_noted,
                ..Refusal::default()
            });
        }
        None => {}
    }
    let doc = Doc::parse(answer.bytes.clone());
    let root = doc.root();
    if let Some(error) = root
        .and_then(|root| root.get("error"))
        .filter(|error| !error.is_null())
    {
        let code = error.get("code").and_then(Node::as_i64).unwrap_or_default();
        let error_text = format!("error{}", RpcError::read(error).detail());
        return match error.at("/data/supported") {
            Some(versions) if code == UNSUPPORTED => {
                chosen(&names(versions), asked, error_text, place)
            }
            // Over HTTP this status with this error is the word of the era for an unknown method.
            _ if code == METHOD_NOT_FOUND && status == Some(404) => {
                Ok(Discovered::Is(Verdict::Stateless(Server {
                    protocol_version: asked.into(),
                    ..Server::default()
                })))
            }
            _ => handshake(error_text),
        };
    }
    let Some(result) = root
        .and_then(|root| root.get("result"))
        .filter(|result| result.kind() == Kind::Object)
    else {
        return handshake(format!(
            "an answer without a result: {}",
            quote(&answer.bytes)
        ));
    };
    let Some(versions) = result
        .get("supportedVersions")
        .filter(|versions| versions.kind() == Kind::Array)
    else {
        let why = format!(
            "a result without `supportedVersions`: {}",
            quote(&answer.bytes)
        );
        let described = result
            .get("capabilities")
            .is_some()
            .then(|| Box::new(describe_server(result, asked)));
        return refused(Refusal {
            why,
            described,
            ..Refusal::default()
        });
    };
    let versions = names(versions);
    if !versions.iter().any(|version| version == asked) {
        return chosen(
            &versions,
            asked,
            format!("versions {}", versions.join(", ")),
            place,
        );
    }
    Ok(Discovered::Is(Verdict::Stateless(describe_server(
        result, asked,
    ))))
}

/// A server of this version, as a result of the probe describes it.
fn describe_server(result: Node<'_>, version: &str) -> Server {
    let text = |node: Option<Node<'_>>, name: &str| Some(node?.get(name)?.as_str()?.into_owned());
    let info = result
        .at("/_meta/io.modelcontextprotocol~1serverInfo")
        .or_else(|| result.get("serverInfo"));
    Server {
        name: text(info, "name").unwrap_or_default(),
        version: text(info, "version").unwrap_or_default(),
        protocol_version: version.into(),
        instructions: text(Some(result), "instructions"),
        capabilities: result.get("capabilities").map(Node::raw_bytes),
        ..Server::default()
    }
}

fn names(versions: Node<'_>) -> Vec<String> {
    versions
        .children()
        .filter_map(|version| Some(version.as_str()?.into_owned()))
        .collect()
}

/// The newest version that both speak.
fn chosen(
    versions: &[String],
    asked: &str,
    error_text: String,
    place: &str,
) -> Result<Discovered, Error> {
    let shared = Protocol::VERSIONS
        .iter()
        .rev()
        .find(|known| versions.iter().any(|version| version == *known));
    match shared {
        Some(version) if Protocol::is_stateless(version) => Ok(Discovered::ServerRequest(version)),
        Some(version) => {
            let refusal = Refusal {
                why: error_text,
                version: Some(version),
                ..Refusal::default()
            };
            Ok(Discovered::Is(Verdict::Handshake(refusal)))
        }
        None if versions.is_empty() => {
            let why = format!("{error_text}: it refuses version {asked} and names no other");
            Ok(Discovered::Is(Verdict::Handshake(Refusal {
                why,
                ..Refusal::default()
            })))
        }
        None => Err(Error::Version {
            place: place.to_owned(),
            version: versions.join(", "),
        }),
    }
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
    let malformed = |what: String| Error::Malformed {
        place: place.to_owned(),
        what,
    };
    let doc = Doc::parse(bytes.clone());
    let root = doc.root().filter(|root| root.kind() == Kind::Object);
    let root = root.ok_or_else(|| {
        malformed(format!(
            "the list of {member} is not a message: {}",
            quote(bytes)
        ))
    })?;
    if let Some(error) = root.get("error").filter(|error| !error.is_null()) {
        return Err(Error::Rpc {
            place: place.to_owned(),
            error: RpcError::read(error),
        });
    }
    let entries = root
        .at("/result")
        .and_then(|result| result.get(member))
        .filter(|entries| entries.kind() == Kind::Array);
    let entries = entries.ok_or_else(|| {
        malformed(format!(
            "the list of {member} holds no `{member}` array: {}",
            quote(bytes)
        ))
    })?;
    let mut page = Page {
        entries: entries.children().map(Node::raw_bytes).collect(),
        ..Page::default()
    };
    if let Some(fault) = doc.faults().iter().find(|fault| fault.kind.is_fatal()) {
        page.note = Some(format!(
            "the list is cut or broken: {} at byte {}",
            fault.kind.message(),
            fault.at
        ));
        return Ok(page);
    }
    match root.at("/result/nextCursor") {
        None => {}
        Some(cursor) if cursor.is_null() => {}
        Some(cursor) if cursor.kind() != Kind::String => {
            page.note = Some("`nextCursor` is not a string, so the list may be longer".into());
        }
        Some(cursor) => page.next = Some(cursor.raw_bytes()),
    }
    Ok(page)
}
