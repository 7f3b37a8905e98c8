//! An open connection: lists the tools, calls one, closes. A call always yields a capture, whatever happened.

mod call;
mod examine;
mod other_requests;
mod poll_task;
mod subscriptions;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rmcp::RoleClient;
use rmcp::model::ClientConfig;
use rmcp::service::RunningService;
use time::OffsetDateTime;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use super::cancel_token::CancelToken;
use super::child::Process;
use super::deadline::Counted;
use super::envelope::{Peek, peek};
use super::era::Era;
use super::error::{Error, excerpt};
use super::handshake::{Page, read_page};
use super::lines::Unended;
use super::tap::{AbandonedRequest, Answer, End, PendingRequest, SideMessages, Tap, Text, quote};
use super::tasks::{self, Support};
use super::{Call, ContentRequest, List, Listing, ToolList, http, param_headers};
use loupe_core::capture::{
    Capture, Message, Outcome, Prompt, Resource, Server, ServerLists, Step, StepState, Tool,
};
use loupe_core::json::write;
use loupe_core::number::number_of;
pub(super) use subscriptions::Listening;

/// A call that shows signs of life may take this many times its limit, and no more.
const HARD_LIMIT: u32 = 10;
/// The cursor that is empty, as it is sent. It is a cursor like any other.
const EMPTY: &[u8] = b"\"\"";
/// How long the last messages may take to leave when a session is closed.
const FLUSH_LIMIT: Duration = Duration::from_millis(200);

/// Lets go of the connection when dropped; nothing waits for it.
pub(super) struct CloseOnDrop(pub Arc<Tap>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.shut();
    }
}

pub(super) enum Link {
    Lines {
        _tasks: JoinSet<()>,
        writer: JoinHandle<()>,
        unended: Unended,
        process: Option<Process>,
    },
    Http(Arc<http::Link>),
    Sse,
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
    /// What captures say of the host that the session was made as.
    pub(super) called_as: Option<String>,
    pub(super) tap: Arc<Tap>,
    // Dropped in this order.
    pub(super) listening: Listening,
    pub(super) shut: CloseOnDrop,
    /// Keeps the books of a handshake; where there was none there are none.
    pub(super) sdk: Option<Box<RunningService<RoleClient, ClientConfig>>>,
    pub(super) link: Link,
    pub(super) era: Era,
}

/// Gives a request up when whoever waits for it goes away.
struct RequestGuard<'a> {
    tap: &'a Tap,
    waiting: PendingRequest,
}

impl RequestGuard<'_> {
    /// Tells the server, and lets go. `None` where the request has just ended by itself.
    fn give_up(&self, reason: &str) -> Option<AbandonedRequest> {
        if self.tap.is_pending(self.waiting.id) && !self.tap.cancel(self.waiting.id) {
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

impl Drop for RequestGuard<'_> {
    fn drop(&mut self) {
        self.give_up("nobody is waiting for it any more");
    }
}

/// How a wait ended.
enum WaitEnd {
    End(End),
    /// After this limit.
    TimedOut(Duration),
    Cancelled,
}

/// The time limit of a call, one for all its requests: progress begins it anew, up to the hard one, and while anybody
/// here is asked something it stands still.
struct TimeLimit {
    limit: Duration,
    since: Counted,
    begun: Counted,
}

impl TimeLimit {
    fn new(tap: &Tap, limit: Duration) -> Self {
        let now = tap.deadline.count();
        Self {
            limit,
            since: now,
            begun: now,
        }
    }

    fn hard(&self) -> Duration {
        self.limit.saturating_mul(HARD_LIMIT)
    }
}

struct RequestOutcome {
    ended: WaitEnd,
    beside: SideMessages,
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

    /// Lists the tools, page by page, each within `limit`. What was read before something went wrong is kept, with a note.
    ///
    /// # Errors
    /// When not even the first page can be read.
    pub async fn list_tools(&self, limit: Duration) -> Result<ToolList, Error> {
        let is_first = !self.tap.steps().iter().any(|step| step.name == "list");
        if is_first {
            self.tap.begin_step("list", "tools/list");
        }
        let list = self.list(Listing::Tools, limit).await;
        if is_first {
            match &list {
                Ok(list) => self
                    .tap
                    .end_step(&format!("tools: {}", list.entries.len()), StepState::Done),
                Err(error) => self.tap.end_step(&error.to_string(), StepState::Failed),
            }
        }
        let list = list?;
        let mut tools: Vec<_> = list.entries.into_iter().map(Tool::read).collect();
        Tool::mark_contrary(&mut tools);
        for (at, tool) in tools.iter_mut().enumerate() {
            tool.is_after_first_page = at >= list.first_page;
            if let Some(why) = self.rejects(tool) {
                tool.faults
                    .push(format!("it cannot be called over HTTP: {why}"));
            }
        }
        Ok(ToolList {
            tools,
            note: list.note,
            raw: list.raw,
        })
    }

    /// Why this tool must not be called here: over HTTP without a session, a definition that wants arguments as headers
    /// and says so wrongly makes a tool unusable. Any other tool may be tried.
    pub fn rejects(&self, tool: &Tool) -> Option<String> {
        if !matches!(self.link, Link::Http(_)) || !self.era.is_stateless() {
            return None;
        }
        param_headers::declared(tool.input_schema.as_ref()?).err()
    }

    /// How many lines came so far that were no messages, and the first of them; `None` where all were.
    pub fn strays(&self) -> Option<(u64, String)> {
        self.tap.strays()
    }

    /// Tells, for as long as it is kept, whether the server is waited for.
    pub fn waiting(&self) -> impl Fn() -> bool + Send + 'static {
        let tap = Arc::clone(&self.tap);
        move || tap.is_waiting()
    }

    /// How many lines of stderr were not shown because they are about `server/discover`, which the server does not know.
    pub fn discovery_noise(&self) -> u64 {
        self.tap.noise()
    }

    /// Why the connection is over; `None` while it is open.
    pub fn failure(&self) -> Option<Error> {
        self.tap.failure()
    }

    /// How the connection came about, step by step.
    pub fn steps(&self) -> Vec<Step> {
        self.tap.steps()
    }

    /// Lists what a server has of a kind, page by page, each within `limit`. What was read before something went wrong is kept, with a note.
    ///
    /// # Errors
    /// When not even the first page can be read.
    pub async fn list(&self, listing: Listing, limit: Duration) -> Result<List, Error> {
        let (method, member) = listing.names();
        let mut list = List::default();
        let (mut seen, mut pages) = (Vec::<Bytes>::new(), Vec::<Vec<Bytes>>::new());
        loop {
            let cursor = seen
                .last()
                .map(|cursor| String::from_utf8_lossy(cursor).into_owned());
            let page = match self.list_page((method, member), cursor, limit).await {
                Ok((page, raw)) => {
                    list.raw.push(raw);
                    page
                }
                // No such capability and no such method: there are none.
                Err(Error::Rpc { error, .. }) if error.code == "-32601" && list.raw.is_empty() => {
                    list.note = Some(format!(
                        "the server has no {member}: it does not know `{method}`"
                    ));
                    return Ok(list);
                }
                Err(error) if !list.raw.is_empty() => {
                    // Where the server meant the end by it, nothing is missing.
                    let why = if seen.last().is_some_and(|cursor| *cursor == *EMPTY) {
                        "the server names an empty `nextCursor` and refuses it; at its end a list has none"
                    } else {
                        "the rest of the list is missing"
                    };
                    list.note = Some(format!("{why}: {error}"));
                    return Ok(list);
                }
                Err(error) => return Err(error),
            };
            if let Some(at) = pages
                .iter()
                .position(|earlier| !earlier.is_empty() && *earlier == page.entries)
            {
                let (this, that) = (pages.len() + 1, at + 1);
                list.note = Some(format!(
                    "page {this} of `{method}` is page {that} again, so the list ends before it"
                ));
                return Ok(list);
            }
            pages.push(page.entries.clone());
            list.entries.extend(page.entries);
            if pages.len() == 1 {
                list.first_page = list.entries.len();
            }
            list.note = page.note;
            let Some(next) = page.next else {
                return Ok(list);
            };
            if seen.contains(&next) {
                let cursor = String::from_utf8_lossy(&next).into_owned();
                list.note = Some(format!(
                    "the server repeats the cursor {}, so the list ends here",
                    excerpt(&cursor)
                ));
                return Ok(list);
            }
            let most = self.tap.limits.pages;
            if list.raw.len() >= most {
                list.note = Some(format!(
                    "the list ends after {most} pages (limit `pages`); the server has more"
                ));
                return Ok(list);
            }
            seen.push(next);
        }
    }

    /// Lists the tools twice, then the other kinds that the server declares, each page within `limit`. `note` is told what
    /// is odd about a list.
    ///
    /// # Errors
    /// When not even the first page of one can be read.
    pub async fn lists(
        &self,
        limit: impl Fn() -> Duration,
        mut note: impl FnMut(&str),
    ) -> Result<ServerLists, Error> {
        let (first, again) = (
            self.list_tools(limit()).await?,
            self.list_tools(limit()).await?,
        );
        first.note.iter().for_each(|text| note(text));
        let shared = |list: ToolList| list.tools.into_iter().map(Arc::new).collect();
        let mut lists = ServerLists {
            server: Some(self.server.clone()),
            tools: shared(first),
            again: shared(again),
            ..ServerLists::default()
        };
        let mut entries = async |listing| {
            let list = self.list(listing, limit()).await?;
            list.note.iter().for_each(|text| note(text));
            Ok::<_, Error>(list.entries)
        };
        if self.server.declares("/resources") {
            lists.resources = entries(Listing::Resources)
                .await?
                .into_iter()
                .map(|raw| Resource::read(raw, false))
                .collect();
            match entries(Listing::Templates).await {
                Ok(templates) => lists
                    .resources
                    .extend(templates.into_iter().map(|raw| Resource::read(raw, true))),
                // Many servers declare resources and know no templates.
                Err(Error::Rpc { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if self.server.declares("/prompts") {
            lists.prompts = entries(Listing::Prompts)
                .await?
                .into_iter()
                .map(Prompt::read)
                .collect();
        }
        Ok(lists)
    }

    async fn list_page(
        &self,
        (method, member): (&str, &str),
        cursor: Option<String>,
        limit: Duration,
    ) -> Result<(Page, Bytes), Error> {
        let params = cursor.map_or("{}".into(), |cursor| format!(r#"{{"cursor":{cursor}}}"#));
        let write = |id: i64| {
            self.era
                .request(&id.to_string(), method, params.as_bytes(), "", None)
        };
        let asked = self
            .ask(
                write,
                &mut TimeLimit::new(&self.tap, limit),
                &CancelToken::new(),
            )
            .await?;
        match asked.ended {
            WaitEnd::End(End::Answer(answer)) => match answer.fault {
                Some(fault) => Err(fault),
                None => Ok((
                    read_page(&answer.bytes, member, &self.tap.place)?,
                    answer.bytes,
                )),
            },
            WaitEnd::End(End::Lost(error)) => Err(Error::Shared(error)),
            WaitEnd::TimedOut(passed) => Err(self.timeout(method, passed)),
            WaitEnd::Cancelled => Err(Error::Cancelled {
                place: self.tap.place.clone(),
            }),
        }
    }

    fn timeout(&self, what: &str, limit: Duration) -> Error {
        let (unreadable, stderr) = self.tap.last_output();
        let (place, what) = (self.tap.place.clone(), what.to_owned());
        Error::Timeout {
            place,
            what,
            limit,
            during_handshake: false,
            unreadable,
            stderr,
        }
    }

    /// Sends a request and waits; while the server waits for an answer of ours no time passes.
    async fn ask<T: Into<Text>>(
        &self,
        write: impl FnOnce(i64) -> T,
        time: &mut TimeLimit,
        cancel: &CancelToken,
    ) -> Result<RequestOutcome, Error> {
        let mut ask = RequestGuard {
            tap: &self.tap,
            waiting: self.tap.request(write)?,
        };
        let (limit, hard_limit) = (time.limit, time.hard());
        let deadline = self.tap.deadline.until(time.since, limit);
        let hard = self.tap.deadline.until(time.begun, hard_limit);
        tokio::pin!(deadline, hard);
        let mut asked = ask
            .waiting
            .activity
            .borrow()
            .is_asked
            .then(|| self.tap.deadline.hold());
        let mut left_at = None;
        let mut is_leaving = true;
        let ended = loop {
            tokio::select! {
                biased;
                done = &mut ask.waiting.done => {
                    let lost = || (End::Lost(Arc::new(Error::Closed { place: self.tap.place.clone() })), SideMessages::default());
                    let (end, beside) = done.unwrap_or_else(|_| lost());
                    return Ok(RequestOutcome { ended: WaitEnd::End(end), beside, left_at });
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
                                return Ok(RequestOutcome { ended: WaitEnd::End(end), beside, left_at });
                            }
                            let error = Error::Write { place: self.tap.place.clone(), source };
                            break WaitEnd::End(End::Lost(Arc::new(error)));
                        }
                        Err(_) => {}
                    }
                }
                () = cancel.cancelled() => break WaitEnd::Cancelled,
                Ok(()) = ask.waiting.activity.changed() => {
                    if ask.waiting.activity.borrow_and_update().is_asked {
                        asked.get_or_insert_with(|| self.tap.deadline.hold());
                    } else {
                        asked = None;
                    }
                    time.since = self.tap.deadline.count();
                    deadline.set(self.tap.deadline.until(time.since, limit));
                }
                () = &mut deadline => break WaitEnd::TimedOut(limit),
                () = &mut hard => break WaitEnd::TimedOut(hard_limit),
            }
        };
        let unended = match ended {
            WaitEnd::TimedOut(_) => self.unended().await,
            _ => Bytes::new(),
        };
        let reason = match ended {
            WaitEnd::TimedOut(passed) => format!("no answer within {} s", passed.as_secs_f64()),
            _ => "cancelled by the user".into(),
        };
        match ask.give_up(&reason) {
            Some(AbandonedRequest { mut beside, odd }) => {
                let ended = match ended {
                    WaitEnd::TimedOut(passed) => {
                        self.timed_out(ask.waiting.id, passed, odd, unended, &mut beside)
                    }
                    other => other,
                };
                Ok(RequestOutcome {
                    ended,
                    beside,
                    left_at,
                })
            }
            // The answer came in this very moment.
            None => match ask.waiting.done.try_recv() {
                Ok((end, beside)) => Ok(RequestOutcome {
                    ended: WaitEnd::End(end),
                    beside,
                    left_at,
                }),
                Err(_) => Ok(RequestOutcome {
                    ended,
                    beside: SideMessages::default(),
                    left_at,
                }),
            },
        }
    }

    /// What has come of a line that has no end yet.
    async fn unended(&self) -> Bytes {
        let Link::Lines { unended, .. } = &self.link else {
            return Bytes::new();
        };
        let (ask, asked) = oneshot::channel();
        if unended.try_send(ask).is_err() {
            return Bytes::new();
        }
        // A reader that is busy has lines that do end.
        tokio::time::timeout(FLUSH_LIMIT, asked)
            .await
            .ok()
            .and_then(Result::ok)
            .unwrap_or_default()
    }

    /// How a wait ends at its limit: what came instead of an answer is shown in its place.
    fn timed_out(
        &self,
        id: i64,
        passed: Duration,
        odd: Option<Bytes>,
        unended: Bytes,
        beside: &mut SideMessages,
    ) -> WaitEnd {
        let seconds = passed.as_secs_f64();
        let is_message = match peek(&unended) {
            Peek::Object(envelope) => {
                envelope.complete && envelope.is_response() && envelope.id.number() == Some(id)
            }
            _ => false,
        };
        let (bytes, what) = match odd {
            _ if is_message => {
                let what = format!(
                    "no answer within {seconds} s: what came has no line end, by which a message is known to be whole"
                );
                (unended, what)
            }
            _ if !unended.is_empty() => {
                beside.note(&format!(
                    "a line was still coming: {} of it, and no line end",
                    number_of(unended.len() as u64, "bytes")
                ));
                return WaitEnd::TimedOut(passed);
            }
            Some(odd) => {
                let what = format!(
                    "no answer within {seconds} s; what came last is none: {}",
                    quote(&odd)
                );
                (odd, what)
            }
            None => return WaitEnd::TimedOut(passed),
        };
        let (now, fault) = (
            Instant::now(),
            Error::Malformed {
                place: self.tap.place.clone(),
                what,
            },
        );
        WaitEnd::End(End::Answer(Answer {
            bytes,
            doc: None,
            begun: now,
            ended: now,
            fault: Some(fault),
            http: None,
        }))
    }

    /// Calls a tool. Whatever happens, there is a capture of it.
    pub async fn call(&self, call: Call, cancel: CancelToken) -> Capture {
        let (arguments, notes) = match &self.link {
            Link::Lines { .. } => on_one_line(&call.arguments),
            Link::Http(_) | Link::Sse => (call.arguments.clone(), Vec::new()),
        };
        if let (Link::Http(link), true) = (&self.link, self.era.is_stateless()) {
            match call.tool.input_schema.as_ref().map(param_headers::declared) {
                Some(Err(why)) => return self.not_sent(call, why),
                declared => link.mirror(
                    &call.tool.name,
                    declared.and_then(Result::ok).unwrap_or_default(),
                ),
            }
        }
        let name = call.tool.name.clone();
        let (sent, era) = (arguments.clone(), self.era.clone());
        // A tool that has to be called as a task is; any other is called plainly.
        let task = if self.has_tasks() && tasks::support(&call.tool) == Support::Required {
            r#","task":{}"#
        } else {
            ""
        };
        let write = move |id, extra: &str| write_call(&era, id, &name, &sent, extra, task);
        let mut capture = self
            .exchange(
                call.id,
                call.tool,
                arguments,
                write,
                ("tools/call", call.limit),
                cancel,
            )
            .await;
        capture.notes.splice(0..0, notes);
        capture
    }

    /// Reads a resource or fills in a prompt. Whatever happens, there is a capture of it; its tool is named like the
    /// method, and its arguments are the parameters.
    pub async fn read(&self, ask: ContentRequest, cancel: CancelToken) -> Capture {
        let ContentRequest {
            id,
            method,
            params,
            limit,
        } = ask;
        let mut tool = Tool::unlisted(method);
        tool.faults.clear();
        let (sent, era) = (params.clone(), self.era.clone());
        let write =
            move |id: i64, extra: &str| era.request(&id.to_string(), method, &sent, extra, None);
        self.exchange(id, tool, params, write, (method, limit), cancel)
            .await
    }

    /// The capture of a call that was not made.
    fn not_sent(&self, call: Call, why: String) -> Capture {
        let error = Error::Rejected {
            tool: call.tool.name.clone(),
            why,
        };
        Capture {
            started_at: OffsetDateTime::now_utc(),
            outcome: Outcome::Cancelled,
            arguments: call.arguments,
            problem: Some(error.into()),
            notes: self.called_as.iter().cloned().collect(),
            tool: call.tool,
            ..Capture::empty(call.id, self.server.clone())
        }
    }

    /// Whether the server takes tool calls as tasks.
    fn has_tasks(&self) -> bool {
        self.server.declares("/tasks/requests/tools/call")
    }

    /// Lets go of the connection: whatever waits for an answer ends. [`Session::close`] waits for the rest.
    pub fn shut(&self) {
        self.tap.shut();
    }

    /// Closes the connection and waits until everything the server started is gone.
    pub async fn close(self) {
        if let Some(process) = self.let_go().await {
            process.close().await;
        }
    }

    /// Closes the connection of a program that is about to end: a server that takes its time is left to its guard, which
    /// goes on without us. Where there is no guard it is waited for.
    pub async fn leave(self) {
        if let Some(process) = self.let_go().await {
            process.leave().await;
        }
    }

    /// Lets go of everything but the process.
    async fn let_go(self) -> Option<Process> {
        let Session {
            tap,
            shut,
            listening,
            sdk,
            mut link,
            ..
        } = self;
        drop(listening);
        if let Link::Http(http) = &link {
            http.close().await;
        }
        drop((shut, sdk, tap));
        let Link::Lines {
            writer, process, ..
        } = &mut link
        else {
            return None;
        };
        if tokio::time::timeout(FLUSH_LIMIT, &mut *writer)
            .await
            .is_err()
        {
            writer.abort();
        }
        process.take()
    }
}

/// `extra` and `task` are members with a comma before each.
fn write_call(era: &Era, id: i64, name: &str, arguments: &Bytes, extra: &str, task: &str) -> Bytes {
    let mut message = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{},"arguments":"#,
        write::string(name)
    );
    let meta = era
        .meta(Some(id))
        .map(|meta| format!(r#","_meta":{meta}"#))
        .unwrap_or_default();
    let end = format!("{extra}{task}{meta}}}}}");
    let arguments: &[u8] = if arguments.trim_ascii().is_empty() {
        b"{}"
    } else {
        arguments
    };
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
    let flat: Vec<u8> = arguments
        .iter()
        .map(|&byte| {
            if matches!(byte, b'\n' | b'\r') {
                b' '
            } else {
                byte
            }
        })
        .collect();
    (
        flat.into(),
        vec![
            "line ends in the arguments were sent as spaces, since a message is one line here"
                .into(),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_leave_as_typed() {
        let typed = Bytes::from_static(br#"{"a": 1e3, "b":9007199254740993,"c":1.10}"#);
        let message = write_call(&Era::default(), 7, "a\"b", &typed, "", "");
        assert_eq!(
            message,
            &br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a\"b","arguments":{"a": 1e3, "b":9007199254740993,"c":1.10},"_meta":{"progressToken":7}}}"#[..]
        );
        assert!(
            String::from_utf8(write_call(&Era::default(), 1, "t", &Bytes::new(), "", "").to_vec())
                .unwrap()
                .contains(r#""arguments":{},"#)
        );
        let (flat, notes) = on_one_line(&Bytes::from_static(b"{\r\n\"a\":1}"));
        assert_eq!((&flat[..], notes.len()), (&b"{  \"a\":1}"[..], 1));
    }
}
