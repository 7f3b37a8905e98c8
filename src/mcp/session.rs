//! An open connection: lists the tools, calls one, closes. A call always yields a capture, whatever happened.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rmcp::RoleClient;
use rmcp::model::ClientConfig;
use rmcp::service::RunningService;
use time::OffsetDateTime;
use tokio::task::{JoinHandle, JoinSet};

use super::cancel_token::CancelToken;
use super::child::Process;
use super::error::Error;
use super::handshake::{Page, read_page};
use super::tap::{Beside, End, Tap, Waiting};
use super::{Asking, Call, List, Listing, ToolList, http};
use crate::capture::{Capture, CaptureId, Message, Outcome, Reading, Server, Timings, Tool};
use crate::json::write;
use crate::problem::{Kind, Problem};

/// The time limit of one page of a list.
const LIST_LIMIT: Duration = Duration::from_secs(60);
/// A server whose list never ends is cut off here.
const MAX_PAGES: usize = 1_000;
/// Answers beyond this are read on a thread of their own, so that other waits go on.
const READ_ASIDE: usize = 256 << 10;
/// How long the last messages may take to leave when a session is closed.
const FLUSH_LIMIT: Duration = Duration::from_millis(200);

/// Lets go of the connection when dropped; nothing waits for it.
pub(super) struct Shut(pub Arc<Tap>);

impl Drop for Shut {
    fn drop(&mut self) {
        self.0.shut();
    }
}

pub(super) enum Link {
    Lines { _tasks: JoinSet<()>, writer: JoinHandle<()>, process: Option<Process> },
    Http(Arc<http::Link>),
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Link::Lines { writer, .. } = self {
            // Drops the server's input even if a write is stuck; the guard takes it from there.
            writer.abort();
        }
    }
}

/// An open connection to a server. Dropping it ends the server as well, in the background.
pub struct Session {
    pub(super) server: Server,
    pub(super) tap: Arc<Tap>,
    // Dropped in this order.
    pub(super) shut: Shut,
    pub(super) sdk: RunningService<RoleClient, ClientConfig>,
    pub(super) link: Link,
}

/// Gives a request up when whoever waits for it goes away.
struct Ask<'a> {
    tap: &'a Tap,
    waiting: Waiting,
}

impl Ask<'_> {
    /// Tells the server, and lets go. `None` where the request has just ended by itself.
    fn give_up(&self, reason: &str) -> Option<Beside> {
        if self.tap.is_pending(self.waiting.id) {
            let notice = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{},"reason":{}}}}}"#,
                self.waiting.id,
                write::string(reason)
            );
            // Where nothing can be sent any more there is nobody to tell.
            self.tap.send(notice.into()).ok();
        }
        self.tap.abandon(self.waiting.id)
    }
}

impl Drop for Ask<'_> {
    fn drop(&mut self) {
        self.give_up("nobody waits for it any more");
    }
}

/// How a wait ended.
enum Ended {
    End(End),
    TimedOut,
    Cancelled,
}

struct Asked {
    ended: Ended,
    beside: Beside,
    left_at: Option<Instant>,
}

impl Session {
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Every message since the session began, stderr included; the oldest are dropped when they get too many.
    pub fn wire(&self) -> Vec<Message> {
        self.tap.wire()
    }

    /// Lists the tools, page by page. What was read before something went wrong is kept, with a note.
    ///
    /// # Errors
    /// When not even the first page can be read.
    pub async fn list_tools(&self) -> Result<ToolList, Error> {
        let list = self.list(Listing::Tools).await?;
        Ok(ToolList { tools: list.entries.into_iter().map(Tool::read).collect(), note: list.note, raw: list.raw })
    }

    /// Lists what a server has of a kind, page by page. What was read before something went wrong is kept, with a note.
    ///
    /// # Errors
    /// When not even the first page can be read.
    pub async fn list(&self, listing: Listing) -> Result<List, Error> {
        let (method, member) = listing.names();
        let mut list = List::default();
        let mut seen: Vec<Bytes> = Vec::new();
        loop {
            let cursor = seen.last().map(|cursor| String::from_utf8_lossy(cursor).into_owned());
            let page = match self.list_page(method, member, cursor).await {
                Ok((page, raw)) => {
                    list.raw.push(raw);
                    page
                }
                // No such capability and no such method: there are none.
                Err(Error::Rpc { code, .. }) if code == "-32601" && list.raw.is_empty() => {
                    list.note = Some(format!("the server has no {member}: it does not know `{method}`"));
                    return Ok(list);
                }
                Err(error) if !list.raw.is_empty() => {
                    list.note = Some(format!("the rest of the list is missing: {error}"));
                    return Ok(list);
                }
                Err(error) => return Err(error),
            };
            list.entries.extend(page.entries);
            list.note = page.note;
            let Some(next) = page.next else { return Ok(list) };
            if seen.contains(&next) {
                list.note = Some("the server repeats a cursor, so the list ends here".into());
                return Ok(list);
            }
            if list.raw.len() >= MAX_PAGES {
                list.note = Some(format!("the list ends after {MAX_PAGES} pages; the server has more"));
                return Ok(list);
            }
            seen.push(next);
        }
    }

    async fn list_page(&self, method: &str, member: &str, cursor: Option<String>) -> Result<(Page, Bytes), Error> {
        let params = cursor.map_or("{}".into(), |cursor| format!(r#"{{"cursor":{cursor}}}"#));
        let write = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#).into();
        let asked = self.ask(write, LIST_LIMIT, &CancelToken::new()).await?;
        match asked.ended {
            Ended::End(End::Answer(answer)) => match answer.fault {
                Some(fault) => Err(fault),
                None => Ok((read_page(&answer.bytes, member, &self.tap.place)?, answer.bytes)),
            },
            Ended::End(End::Lost(error)) => Err(Error::Shared(error)),
            Ended::TimedOut => Err(self.timeout(method, LIST_LIMIT)),
            Ended::Cancelled => Err(Error::Cancelled { place: self.tap.place.clone() }),
        }
    }

    fn timeout(&self, what: &str, limit: Duration) -> Error {
        let (_, stderr) = self.tap.last_words();
        let (place, what) = (self.tap.place.clone(), what.to_owned());
        Error::Timeout { place, what, limit, during_handshake: false, unreadable: None, stderr }
    }

    async fn ask(&self, write: impl FnOnce(i64) -> Bytes, limit: Duration, cancel: &CancelToken) -> Result<Asked, Error> {
        let mut ask = Ask { tap: &self.tap, waiting: self.tap.request(write)? };
        let deadline = tokio::time::sleep(limit);
        tokio::pin!(deadline);
        let mut left_at = None;
        let mut is_leaving = true;
        let ended = loop {
            tokio::select! {
                biased;
                done = &mut ask.waiting.done => {
                    let lost = || (End::Lost(Arc::new(Error::Closed { place: self.tap.place.clone() })), Beside::default());
                    let (end, beside) = done.unwrap_or_else(|_| lost());
                    return Ok(Asked { ended: Ended::End(end), beside, left_at });
                }
                left = &mut ask.waiting.left, if is_leaving => {
                    is_leaving = false;
                    match left {
                        Ok(Ok(at)) => left_at = Some(at),
                        // It cannot be answered. The end of the connection, if that is why, is told by the reader,
                        // with better reasons; so that has its moment.
                        Ok(Err(source)) => {
                            let done = tokio::time::timeout(FLUSH_LIMIT, &mut ask.waiting.done).await;
                            if let Ok(Ok((end, beside))) = done {
                                return Ok(Asked { ended: Ended::End(end), beside, left_at });
                            }
                            let error = Error::Write { place: self.tap.place.clone(), source };
                            break Ended::End(End::Lost(Arc::new(error)));
                        }
                        Err(_) => {}
                    }
                }
                () = cancel.cancelled() => break Ended::Cancelled,
                () = &mut deadline => break Ended::TimedOut,
            }
        };
        let reason = match ended {
            Ended::TimedOut => format!("no answer within {} s", limit.as_secs_f64()),
            _ => "cancelled by the user".into(),
        };
        match ask.give_up(&reason) {
            Some(beside) => Ok(Asked { ended, beside, left_at }),
            // The answer came in this very moment.
            None => match ask.waiting.done.try_recv() {
                Ok((end, beside)) => Ok(Asked { ended: Ended::End(end), beside, left_at }),
                Err(_) => Ok(Asked { ended, beside: Beside::default(), left_at }),
            },
        }
    }

    /// Calls a tool. Whatever happens, there is a capture of it.
    pub async fn call(&self, call: Call, cancel: CancelToken) -> Capture {
        let (arguments, notes) = match &self.link {
            Link::Lines { .. } => on_one_line(&call.arguments),
            Link::Http(_) => (call.arguments.clone(), Vec::new()),
        };
        let name = call.tool.name.clone();
        let sent = arguments.clone();
        let write = move |id| write_call(id, &name, &sent);
        let mut capture = self.exchange(call.id, call.tool, arguments, write, ("tools/call", call.limit), cancel).await;
        capture.notes.splice(0..0, notes);
        capture
    }

    /// Reads a resource or fills in a prompt. Whatever happens, there is a capture of it; its tool is named like the
    /// method, and its arguments are the parameters.
    pub async fn read(&self, ask: Asking, cancel: CancelToken) -> Capture {
        let Asking { id, method, params, limit } = ask;
        let mut tool = Tool::unlisted(method);
        tool.faults.clear();
        let sent = params.clone();
        let write = move |id| {
            let mut message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":"#).into_bytes();
            message.extend_from_slice(&sent);
            message.push(b'}');
            message.into()
        };
        self.exchange(id, tool, params, write, (method, limit), cancel).await
    }

    async fn exchange(
        &self,
        id: CaptureId,
        tool: Tool,
        arguments: Bytes,
        write: impl FnOnce(i64) -> Bytes,
        (method, limit): (&'static str, Duration),
        cancel: CancelToken,
    ) -> Capture {
        let (started_at, begun) = (OffsetDateTime::now_utc(), Instant::now());
        let mut request = Bytes::new();
        let write = |id| {
            request = write(id);
            request.clone()
        };
        let asked = self.ask(write, limit, &cancel).await;
        let finished = Instant::now();
        let asked = asked.unwrap_or_else(|error| Asked {
            ended: Ended::End(End::Lost(Arc::new(error))),
            beside: Beside::default(),
            left_at: None,
        });
        let left_at = asked.left_at.unwrap_or(begun);
        let mut capture = Capture {
            id,
            server: self.server.clone(),
            timings: Timings {
                send: left_at.saturating_duration_since(begun),
                server: finished.saturating_duration_since(left_at),
                receive: Duration::ZERO,
            },
            started_at,
            outcome: Outcome::Disconnected,
            arguments,
            request,
            response: None,
            messages: asked.beside.messages,
            http: None,
            problem: None,
            notes: asked.beside.notes,
            tool,
        };
        match asked.ended {
            Ended::End(End::Answer(answer)) => {
                capture.timings.server = answer.begun.saturating_duration_since(left_at);
                capture.timings.receive = answer.ended.saturating_duration_since(answer.begun.max(left_at));
                capture.http = answer.http.map(|http| (*http).clone());
                capture.response = Some(answer.bytes.clone());
                (capture.outcome, capture.problem) = match answer.fault {
                    Some(fault) => (Outcome::Malformed, Some(fault.into())),
                    None => judge(answer.bytes, self.tap.place.clone()).await,
                };
            }
            Ended::End(End::Lost(error)) => {
                let problem = Problem::from(&*error);
                capture.outcome = if problem.kind == Kind::Malformed { Outcome::Malformed } else { Outcome::Disconnected };
                capture.problem = Some(problem);
            }
            Ended::TimedOut => {
                capture.outcome = Outcome::Timeout;
                capture.problem = Some(self.timeout(method, limit).into());
            }
            Ended::Cancelled => {
                capture.outcome = Outcome::Cancelled;
                capture.problem = Some(Error::Cancelled { place: capture.tool.name.clone() }.into());
            }
        }
        capture
    }

    /// Closes the connection and waits until everything the server started is gone.
    pub async fn close(self) {
        let Session { tap, shut, sdk, mut link, .. } = self;
        if let Link::Http(http) = &link {
            http.close().await;
        }
        drop((shut, sdk, tap));
        if let Link::Lines { writer, process, .. } = &mut link {
            if tokio::time::timeout(FLUSH_LIMIT, &mut *writer).await.is_err() {
                writer.abort();
            }
            if let Some(process) = process.take() {
                process.close().await;
            }
        }
    }
}

fn write_call(id: i64, name: &str, arguments: &Bytes) -> Bytes {
    let mut message =
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{},"arguments":"#, write::string(name));
    let end = format!(r#","_meta":{{"progressToken":{id}}}}}}}"#);
    let arguments: &[u8] = if arguments.trim_ascii().is_empty() { b"{}" } else { arguments };
    message.reserve(arguments.len() + end.len());
    let mut message = message.into_bytes();
    message.extend_from_slice(arguments);
    message.extend_from_slice(end.as_bytes());
    message.into()
}

/// Arguments may be typed over several lines; on stdio a message is one line.
fn on_one_line(arguments: &Bytes) -> (Bytes, Vec<String>) {
    if !arguments.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return (arguments.clone(), Vec::new());
    }
    let flat: Vec<u8> = arguments.iter().map(|&byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }).collect();
    (flat.into(), vec!["line ends in the arguments were sent as spaces, since a message is one line here".into()])
}

/// The outcome of an answer that is an answer, and what to say where it is no result.
async fn judge(bytes: Bytes, place: String) -> (Outcome, Option<Problem>) {
    if bytes.len() < READ_ASIDE {
        return judge_now(bytes, place);
    }
    let judged = tokio::task::spawn_blocking(move || judge_now(bytes, place)).await;
    judged.unwrap_or_else(|error| {
        (Outcome::Malformed, Some(Problem::new(Kind::Internal, format!("the answer could not be read: {error}"))))
    })
}

fn judge_now(bytes: Bytes, place: String) -> (Outcome, Option<Problem>) {
    let reading = Reading::read(bytes);
    let has_no_result = reading.result().is_none_or(|result| result.is_null());
    let outcome = match reading.outcome() {
        Outcome::Result if reading.rpc_error.is_some() && has_no_result => Outcome::ProtocolError,
        outcome => outcome,
    };
    let problem = match (outcome, &reading.rpc_error) {
        (Outcome::ProtocolError, Some(error)) => {
            Some(Error::Rpc { place, code: error.code.clone(), message: error.message.clone() }.into())
        }
        (Outcome::Malformed, _) => {
            let fault = reading.doc.faults().iter().find(|fault| fault.kind.is_fatal());
            let what = match fault {
                Some(fault) => format!("the answer is not JSON: {} at byte {}", fault.kind.message(), fault.at),
                None => "the answer has neither a result nor an error".into(),
            };
            Some(Error::Malformed { place, what }.into())
        }
        _ => None,
    };
    (outcome, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_leave_as_typed() {
        let typed = Bytes::from_static(br#"{"a": 1e3, "b":9007199254740993,"c":1.10}"#);
        let message = write_call(7, "a\"b", &typed);
        assert_eq!(
            message,
            &br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a\"b","arguments":{"a": 1e3, "b":9007199254740993,"c":1.10},"_meta":{"progressToken":7}}}"#[..]
        );
        assert!(String::from_utf8(write_call(1, "t", &Bytes::new()).to_vec()).unwrap().contains(r#""arguments":{},"#));
        let (flat, notes) = on_one_line(&Bytes::from_static(b"{\r\n\"a\":1}"));
        assert_eq!((&flat[..], notes.len()), (&b"{  \"a\":1}"[..], 1));
    }

    #[test]
    fn an_error_beside_a_null_result_is_an_error() {
        let judge = |text: &'static str| judge_now(Bytes::from_static(text.as_bytes()), String::new());
        let (outcome, problem) = judge(r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-1,"message":"no"}}"#);
        assert_eq!((outcome, problem.unwrap().kind), (Outcome::ProtocolError, Kind::RpcError));
        assert_eq!(judge(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":null}"#).0, Outcome::Result);
    }
}
