//! The protocol log: every message of the session as it passes, and what of it is looked at. Bounded; it says what it let go.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use super::{
    Dialog, Effect, ExportEffect, PathPurpose, Screen, ServerSession, SessionEffect, State,
};
use loupe_core::capture::{Direction, HttpInfo, Line, LineKind};
use loupe_core::json::Doc;

/// What is kept of a session.
pub const MAX_LINES: usize = 20_000;
pub const MAX_BYTES: usize = 64 << 20;

/// Lines of stderr that are told with a call.
const CALL_STDERR: usize = 100;
/// So much of a line is told next to the log.
const NOTED_BYTES: usize = 2_000;

/// Levels of `logging/setLevel`, from the least.
pub const LEVELS: &[&str] = &[
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// The messages of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireLog {
    lines: VecDeque<Line>,
    bytes: usize,
    /// Lines that were let go of; the first kept has this number.
    pub dropped: u64,
    /// Open requests by direction and id: their numbers.
    waiting: HashMap<(bool, String), u64>,
    /// Requests and answers by each other's number.
    pairs: HashMap<u64, u64>,
    /// What was sent and said by HTTP, by the number of the request.
    http: HashMap<u64, HttpExchange>,
    /// Tools called, prompts filled in and resources read, by the number of the request.
    subjects: HashMap<u64, String>,
    /// The revision that was named last.
    version: Option<String>,
}

/// One exchange by HTTP; secrets are masked.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpExchange {
    /// Headers of the request, as far as Loupe sets them.
    pub sent: Vec<(String, String)>,
    /// The result's status and headers.
    pub response: HttpInfo,
}

impl WireLog {
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The line of a number, if it is still kept.
    pub fn line(&self, number: u64) -> Option<&Line> {
        self.lines
            .get(usize::try_from(number.checked_sub(self.dropped)?).ok()?)
    }

    /// Every line kept, with its number.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (u64, &Line)> {
        self.lines
            .iter()
            .enumerate()
            .map(|(at, line)| (self.dropped + at as u64, line))
    }

    /// The answer to a request, or the request of a result.
    pub fn partner(&self, number: u64) -> Option<u64> {
        self.pairs
            .get(&number)
            .copied()
            .filter(|partner| self.line(*partner).is_some())
    }

    /// How long a result took.
    pub fn latency(&self, number: u64) -> Option<Duration> {
        let line = self.line(number)?;
        if !matches!(line.kind, LineKind::Response | LineKind::Error) {
            return None;
        }
        Some(line.at.saturating_sub(self.line(self.partner(number)?)?.at))
    }

    /// What HTTP has to do with a request or its result.
    pub fn http(&self, number: u64) -> Option<&HttpExchange> {
        self.http
            .get(&number)
            .or_else(|| self.http.get(&self.partner(number)?))
    }

    /// The tool, prompt or resource of a request or of its result.
    pub fn subject(&self, number: u64) -> Option<&str> {
        let of = |number: u64| self.subjects.get(&number);
        of(number)
            .or_else(|| of(self.partner(number)?))
            .map(String::as_str)
    }

    fn push(&mut self, mut line: Line) {
        let number = self.dropped + self.lines.len() as u64;
        if let Some(subject) = subject(&line) {
            self.subjects.insert(number, subject);
        }
        let is_out = line.direction == Direction::Out;
        if let Some(id) = &line.id {
            match line.kind {
                LineKind::Request => {
                    self.waiting.insert((is_out, id.clone()), number);
                }
                LineKind::Response | LineKind::Error => {
                    if let Some(request) = self.waiting.remove(&(!is_out, id.clone())) {
                        self.pairs.insert(number, request);
                        self.pairs.insert(request, number);
                    }
                }
                _ => {}
            }
        }
        self.date(&mut line, number);
        self.bytes += line.bytes.len();
        self.lines.push_back(line);
        while self.lines.len() > MAX_LINES || (self.bytes > MAX_BYTES && self.lines.len() > 1) {
            let Some(old) = self.lines.pop_front() else {
                return;
            };
            self.bytes -= old.bytes.len();
            if let Some(id) = old.id {
                let key = (old.direction == Direction::Out, id);
                if self.waiting.get(&key) == Some(&self.dropped) {
                    self.waiting.remove(&key);
                }
            }
            if let Some(partner) = self.pairs.remove(&self.dropped) {
                self.pairs.remove(&partner);
            }
            self.http.remove(&self.dropped);
            self.subjects.remove(&self.dropped);
            self.dropped += 1;
        }
    }

    /// Says which revision a message is of, where it does not say so itself.
    fn date(&mut self, line: &mut Line, number: u64) {
        let partner = self.partner(number).and_then(|partner| self.line(partner));
        let is_answer = matches!(line.kind, LineKind::Response | LineKind::Error);
        // Any other answer has a right to a member of that name.
        let may_name = !is_answer
            || partner.is_some_and(|partner| partner.method.as_deref() == Some("initialize"));
        match line.version.take_if(|_| may_name) {
            Some(named) => {
                self.version = Some(named.clone());
                line.version = Some(named);
            }
            None if line.kind == LineKind::Stderr => line.version = None,
            None => {
                line.version = partner
                    .and_then(|partner| partner.version.clone())
                    .or_else(|| self.version.clone())
            }
        }
    }

    fn record_http(&mut self, request: i64, http: HttpExchange) {
        let id = request.to_string();
        let found = self.numbered().rev().find(|(_, line)| {
            line.direction == Direction::Out
                && line.kind == LineKind::Request
                && line.id.as_ref() == Some(&id)
        });
        if let Some(number) = found.map(|(number, _)| number) {
            self.http.insert(number, http);
        }
    }
}

/// Longer requests are not read for their subject.
const SUBJECT_BYTES: usize = 256 << 10;

/// What a request is about: the tool of a call, the name of a prompt, the URI of a resource.
fn subject(line: &Line) -> Option<String> {
    let member = match line
        .method
        .as_deref()
        .filter(|_| line.kind == LineKind::Request)?
    {
        "tools/call" | "prompts/get" => "/params/name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "/params/uri",
        _ => return None,
    };
    let doc = (line.bytes.len() <= SUBJECT_BYTES).then(|| Doc::parse(line.bytes.clone()))?;
    Some(doc.at(member)?.as_str()?.into_owned())
}

/// What is shown of the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireView {
    pub log: WireLog,
    pub filter: String,
    /// Kinds that are left out.
    pub hidden: Vec<LineKind>,
    pub selected: Option<u64>,
    /// The bytes as they are, rather than laid out.
    pub is_exact: bool,
    /// The level that the server was asked for.
    pub level: Option<&'static str>,
    /// Numbers of the lines that the filter lets through, kept in step.
    shown: VecDeque<u64>,
    /// What the server wrote to stderr since the last call was sent, the last lines of it.
    pub call_stderr: VecDeque<String>,
    /// What came on the server's stdout that is no message.
    pub noise: Option<Noise>,
}

/// Lines that are no messages, where only messages belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noise {
    /// The number of the first in the log, and its beginning.
    pub number: u64,
    pub line: String,
    pub count: u64,
}

impl WireView {
    /// Numbers of the lines that the filter lets through.
    pub fn shown(&self) -> &VecDeque<u64> {
        &self.shown
    }

    fn is_wanted(&self, line: &Line) -> bool {
        let wanted = self.filter.trim().as_bytes();
        !self.hidden.contains(&line.kind)
            && (wanted.is_empty() || memchr::memmem::find(&line.bytes, wanted).is_some())
    }

    fn filter_again(&mut self) {
        let shown = self
            .log
            .numbered()
            .filter(|(_, line)| self.is_wanted(line))
            .map(|(number, _)| number)
            .collect();
        self.shown = shown;
    }

    /// Takes note of what is told next to the log: a line's meaning for the call and for the user.
    fn note(&mut self, line: &Line) {
        let text = || {
            let text = String::from_utf8_lossy(&line.bytes[..line.bytes.len().min(NOTED_BYTES)])
                .into_owned();
            loupe_analysis::queries::invisible_chars::Shown::of(text.trim_end()).text
        };
        match (line.direction, line.kind) {
            (Direction::Out, LineKind::Request) if line.method.as_deref() == Some("tools/call") => {
                self.call_stderr.clear()
            }
            (_, LineKind::Stderr) => {
                self.call_stderr.push_back(text());
                if self.call_stderr.len() > CALL_STDERR {
                    self.call_stderr.pop_front();
                }
            }
            (Direction::In, LineKind::Unreadable) if !line.bytes.trim_ascii().is_empty() => {
                match &mut self.noise {
                    Some(noise) => noise.count += 1,
                    None => {
                        let number = self.log.dropped + self.log.len() as u64;
                        self.noise = Some(Noise {
                            number,
                            line: text(),
                            count: 1,
                        });
                    }
                }
            }
            _ => {}
        }
    }

    /// An empty log that is looked at in the same way.
    pub(super) fn empty_copy(&self) -> Self {
        Self {
            hidden: self.hidden.clone(),
            is_exact: self.is_exact,
            ..Self::default()
        }
    }

    pub(super) fn record_http(&mut self, request: i64, http: HttpExchange) {
        self.log.record_http(request, http);
    }

    pub(super) fn push(&mut self, line: Line) {
        self.note(&line);
        let is_wanted = self.is_wanted(&line);
        self.log.push(line);
        if is_wanted {
            self.shown
                .push_back(self.log.dropped + self.log.len() as u64 - 1);
        }
        while self
            .shown
            .front()
            .is_some_and(|number| *number < self.log.dropped)
        {
            self.shown.pop_front();
        }
    }
}

/// What the user does with the log.
#[derive(Clone, Debug, PartialEq)]
pub enum WireAction {
    Show,
    SetFilter(String),
    ToggleKind(LineKind),
    Select(Option<u64>),
    SetExact(bool),
    SetLevel(&'static str),
    /// Lets go of what was said of lines that are no messages.
    CloseNoise,
    /// Save every line kept; `None` asks where.
    Save(Option<PathBuf>),
}

impl State {
    pub(super) fn perform_wire(&mut self, action: WireAction, effects: &mut Vec<Effect>) {
        let ServerSession { id, wire, .. } = self.sessions.current_mut();
        match action {
            WireAction::Show => self.view.screen = Screen::Wire,
            WireAction::CloseNoise => wire.noise = None,
            WireAction::SetFilter(filter) => {
                wire.filter = filter;
                wire.filter_again();
            }
            WireAction::ToggleKind(kind) => {
                let before = wire.hidden.len();
                wire.hidden.retain(|hidden| *hidden != kind);
                if wire.hidden.len() == before {
                    wire.hidden.push(kind);
                }
                wire.filter_again();
            }
            WireAction::Select(number) => wire.selected = number,
            WireAction::SetExact(is_exact) => wire.is_exact = is_exact,
            WireAction::SetLevel(level) => {
                wire.level = Some(level);
                let command = super::SessionCommand::LogLevel(level);
                effects.push(Effect::Session(SessionEffect::Command {
                    session: *id,
                    command,
                }));
            }
            WireAction::Save(None) => {
                self.dialog = Some(Dialog::Path {
                    purpose: PathPurpose::SaveLog,
                    text: "messages.jsonl".into(),
                });
            }
            WireAction::Save(Some(path)) => {
                let lines = wire.log.numbered().map(|(_, line)| line.clone()).collect();
                self.dialog = None;
                effects.push(Effect::Export(ExportEffect::Log { lines, path }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn line(at: u64, direction: Direction, kind: LineKind, id: Option<&str>, bytes: usize) -> Line {
        let id = id.map(str::to_owned);
        Line {
            at: Duration::from_millis(at),
            direction,
            kind,
            method: None,
            id,
            bytes: Bytes::from(vec![b'x'; bytes]),
            version: None,
        }
    }

    #[test]
    fn requests_find_their_answers_in_both_directions() {
        let mut log = WireLog::default();
        log.push(line(0, Direction::Out, LineKind::Request, Some("1"), 1));
        // The server's own request has the same id.
        log.push(line(5, Direction::In, LineKind::Request, Some("1"), 1));
        log.push(line(7, Direction::Out, LineKind::Response, Some("1"), 1));
        log.push(line(9, Direction::In, LineKind::Response, Some("1"), 1));
        assert_eq!(
            (log.partner(3), log.partner(0), log.partner(2)),
            (Some(0), Some(3), Some(1))
        );
        assert_eq!(
            (log.latency(3), log.latency(2), log.latency(0)),
            (
                Some(Duration::from_millis(9)),
                Some(Duration::from_millis(2)),
                None
            )
        );
        let response = HttpInfo {
            status: 200,
            headers: Vec::new(),
        };
        log.record_http(
            1,
            HttpExchange {
                sent: vec![("a".into(), "b".into())],
                response,
            },
        );
        assert_eq!(
            log.http(3)
                .map(|http| (http.response.status, http.sent.len())),
            Some((200, 1))
        );
    }

    #[test]
    fn stderr_is_told_of_the_call_and_what_is_no_message_with_its_line() {
        let mut view = WireView::default();
        let printed = |kind, text: &'static str| Line {
            bytes: Bytes::from_static(text.as_bytes()),
            ..line(0, Direction::In, kind, None, 0)
        };
        let call = || Line {
            method: Some("tools/call".into()),
            ..line(0, Direction::Out, LineKind::Request, Some("1"), 1)
        };
        view.push(printed(LineKind::Stderr, "before"));
        view.push(printed(LineKind::Unreadable, " \n"));
        assert_eq!(view.noise, None, "an empty line disturbs nobody");
        view.push(printed(LineKind::Unreadable, "Listening on 3000\r"));
        view.push(call());
        view.push(printed(LineKind::Stderr, "in the call"));
        view.push(printed(LineKind::Unreadable, "again"));
        assert_eq!(view.call_stderr, ["in the call"]);
        assert_eq!(
            view.noise,
            Some(Noise {
                number: 2,
                line: "Listening on 3000".into(),
                count: 2
            })
        );
        view.push(call());
        assert!(view.call_stderr.is_empty());
        (0..CALL_STDERR + 5).for_each(|_| view.push(printed(LineKind::Stderr, "x")));
        assert_eq!(view.call_stderr.len(), CALL_STDERR);
    }

    #[test]
    fn a_call_and_its_answer_name_the_tool() {
        let mut log = WireLog::default();
        let text = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"name":"x"},"name":"search"}}"#;
        let call = Line {
            method: Some("tools/call".into()),
            bytes: Bytes::from_static(text),
            ..line(0, Direction::Out, LineKind::Request, Some("1"), 1)
        };
        log.push(call);
        log.push(line(9, Direction::In, LineKind::Response, Some("1"), 1));
        log.push(line(9, Direction::In, LineKind::Notification, None, 1));
        assert_eq!(
            (log.subject(0), log.subject(1), log.subject(2)),
            (Some("search"), Some("search"), None)
        );
    }

    #[test]
    fn each_message_is_of_a_revision() {
        let mut log = WireLog::default();
        let named = |version: &str, line: Line| Line {
            version: Some(version.into()),
            ..line
        };
        let request = |at, method: &str| Line {
            method: Some(method.into()),
            ..line(
                at,
                Direction::Out,
                LineKind::Request,
                Some(&at.to_string()),
                1,
            )
        };
        let answer = |at: u64| {
            line(
                at,
                Direction::In,
                LineKind::Response,
                Some(&at.to_string()),
                1,
            )
        };
        log.push(line(0, Direction::In, LineKind::Stderr, None, 1));
        log.push(named("2026-07-28", request(1, "server/discover")));
        log.push(named("2025-11-25", request(2, "initialize")));
        log.push(line(1, Direction::In, LineKind::Error, Some("1"), 1));
        log.push(named("2025-06-18", answer(2)));
        log.push(line(5, Direction::In, LineKind::Notification, None, 1));
        log.push(request(6, "tools/call"));
        log.push(named("2024-11-05", answer(6)));
        let versions: Vec<_> = (0..8)
            .map(|at| log.line(at).unwrap().version.as_deref())
            .collect();
        let (new, old) = (Some("2026-07-28"), Some("2025-06-18"));
        assert_eq!(
            versions,
            [None, new, Some("2025-11-25"), new, old, old, old, old]
        );
    }

    #[test]
    fn the_log_is_bounded_and_numbers_stay() {
        let mut log = WireLog::default();
        for at in 0..MAX_LINES as u64 + 10 {
            log.push(line(at, Direction::In, LineKind::Notification, None, 1));
        }
        assert_eq!((log.len(), log.dropped), (MAX_LINES, 10));
        assert_eq!(
            (log.line(9).is_none(), log.line(10).map(|line| line.at)),
            (true, Some(Duration::from_millis(10)))
        );
        log.push(line(
            0,
            Direction::In,
            LineKind::Response,
            None,
            MAX_BYTES + 1,
        ));
        assert_eq!(
            log.len(),
            1,
            "one message larger than the bound is kept alone"
        );
    }

    #[test]
    fn the_filter_looks_at_kind_and_bytes() {
        let mut view = WireView::default();
        view.push(Line {
            bytes: Bytes::from_static(b"abc"),
            ..line(0, Direction::In, LineKind::Response, None, 0)
        });
        view.push(Line {
            bytes: Bytes::from_static(b"xbc"),
            ..line(0, Direction::In, LineKind::Stderr, None, 0)
        });
        view.filter = "bc".into();
        view.filter_again();
        assert_eq!(*view.shown(), [0, 1]);
        view.hidden = vec![LineKind::Stderr];
        view.filter_again();
        assert_eq!(*view.shown(), [0]);
        view.push(line(
            0,
            Direction::In,
            LineKind::Response,
            None,
            MAX_BYTES + 1,
        ));
        assert!(
            view.shown().is_empty(),
            "it has no such word, and pushed the others out"
        );
    }
}
