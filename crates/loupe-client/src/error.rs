//! What can go wrong between Loupe and a server, with sources kept, and the one place that says it to people.

pub(super) mod causes;

use std::fmt::Write;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::log::{names_error, shortened};
use super::tls;
use loupe_core::capture::RpcError;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::redact_url;

/// A failure of the client. Shown as a [`Problem`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("command not found")]
    NotFound { program: String },
    #[error("not executable")]
    NotExecutable { program: String },
    #[error("working directory not found")]
    NoFolder { path: PathBuf },
    /// The first line of the script names an interpreter that is not there.
    #[error("the program's first line names `{interpreter}{}`, which is not there", if *has_carriage_return { "\\r" } else { "" })]
    Interpreter {
        program: String,
        interpreter: String,
        has_carriage_return: bool,
    },
    /// The guard could not start the program.
    #[error("the program did not start: {reason}")]
    NotStarted { program: String, reason: String },
    /// The guard itself could not be started.
    #[error("the guard process did not start: {source}")]
    Guard { program: String, source: io::Error },
    #[error("not an http or https address")]
    Address { url: String },
    #[error("the header `{name}` cannot be sent")]
    Header { name: String },
    #[error("no HTTP client: {source}")]
    Client { source: reqwest::Error },
    #[error("no TLS: {source}")]
    Tls { source: rustls::Error },
    #[error("the certificates cannot be used: {why}")]
    Authority { file: PathBuf, why: String },
    #[error("{}", connect_words(source))]
    Connect { url: String, source: reqwest::Error },
    /// The connection broke inside an answer.
    #[error("connection lost while reading the response: {}", innermost(source))]
    Broken { url: String, source: reqwest::Error },
    /// An answer in an encoding that nobody asked for, or that is not what it says.
    #[error("{what}")]
    Encoded { url: String, what: String },
    #[error("HTTP {status}{}", quote(text))]
    HttpStatus {
        url: String,
        status: String,
        text: String,
    },
    #[error("the server redirects {}to {}", if causes::http::is_downgrade(url, location) { "from https " } else { "" }, redact_url(location))]
    Redirect {
        url: String,
        status: String,
        location: String,
    },
    #[error("HTTP {status}: the server requires credentials{}", quote(text))]
    Auth {
        url: String,
        status: String,
        text: String,
    },
    /// A login did not come about: it failed, or wants the user's yes.
    #[error("{what}")]
    Login {
        url: String,
        kind: ProblemKind,
        /// The step of the doctor that it stopped at.
        step: &'static str,
        what: String,
        hint: String,
    },
    #[error(
        "the server no longer knows this session (HTTP {status}{})",
        quote(text)
    )]
    SessionLost {
        url: String,
        status: String,
        text: String,
    },
    #[error("{what}")]
    Handshake { place: String, what: String },
    #[error("the server speaks MCP {version}, which Loupe does not support")]
    Version { place: String, version: String },
    /// The revision that was pinned is not spoken there.
    #[error("{what}")]
    Unspoken { place: String, what: String },
    /// The other side closed; `how` says in which way, as far as it is known.
    #[error("{how}{}", last_output(unreadable.as_deref(), stderr))]
    Disconnected {
        place: String,
        how: String,
        during_handshake: bool,
        unreadable: Option<String>,
        stderr: Vec<String>,
    },
    #[error("no answer to `{what}` within {} s{}", limit.as_secs_f64(), last_output(unreadable.as_deref(), stderr))]
    Timeout {
        place: String,
        what: String,
        limit: Duration,
        during_handshake: bool,
        unreadable: Option<String>,
        stderr: Vec<String>,
    },
    /// A tool whose definition forbids to call it over HTTP.
    #[error("not sent: {why}")]
    Rejected { tool: String, why: String },
    #[error("cancelled")]
    Cancelled { place: String },
    #[error("{what}")]
    Malformed { place: String, what: String },
    #[error("the server answered with error{}", error.detail())]
    Rpc { place: String, error: RpcError },
    #[error("the message could not be written: {source}")]
    Write { place: String, source: io::Error },
    #[error("the session is closed")]
    Closed { place: String },
    /// The server inside this process did not start: refused settings, captures that cannot be read.
    #[error("{}", .0.what)]
    InProcess(Problem),
    /// One failure that ended several requests.
    #[error(transparent)]
    Shared(#[from] Arc<Error>),
}

impl Error {
    /// The failure itself, where several requests share it.
    pub(super) fn root(&self) -> &Error {
        let mut error = self;
        while let Error::Shared(inner) = error {
            error = inner;
        }
        error
    }

    fn kind(&self) -> ProblemKind {
        match self {
            Error::NotFound { .. }
            | Error::NotExecutable { .. }
            | Error::NoFolder { .. }
            | Error::Interpreter { .. }
            | Error::NotStarted { .. }
            | Error::Guard { .. } => ProblemKind::Spawn,
            Error::Address { .. }
            | Error::Client { .. }
            | Error::Tls { .. }
            | Error::Connect { .. } => ProblemKind::Connect,
            Error::Header { .. } => ProblemKind::Usage,
            Error::Authority { .. } => ProblemKind::Io,
            Error::HttpStatus { .. } | Error::Redirect { .. } => ProblemKind::HttpStatus,
            Error::Auth { .. } => ProblemKind::Auth,
            Error::Login { kind, .. } => *kind,
            Error::Handshake { .. }
            | Error::Unspoken { .. }
            | Error::Version { .. }
            | Error::Disconnected {
                during_handshake: true,
                ..
            } => ProblemKind::Handshake,
            Error::Broken { .. }
            | Error::SessionLost { .. }
            | Error::Disconnected { .. }
            | Error::Write { .. }
            | Error::Closed { .. } => ProblemKind::Disconnected,
            Error::Timeout { .. } => ProblemKind::Timeout,
            Error::Rejected { .. } => ProblemKind::Arguments,
            Error::Cancelled { .. } => ProblemKind::Cancelled,
            Error::Encoded { .. } | Error::Malformed { .. } => ProblemKind::Malformed,
            Error::Rpc { .. } => ProblemKind::RpcError,
            Error::InProcess(problem) => problem.kind,
            Error::Shared(shared) => shared.kind(),
        }
    }

    /// The server, program, file or tool that it happened at.
    fn place(&self) -> String {
        match self {
            Error::NotFound { program }
            | Error::NotExecutable { program }
            | Error::Interpreter { program, .. }
            | Error::NotStarted { program, .. }
            | Error::Guard { program, .. } => program.clone(),
            Error::NoFolder { path } | Error::Authority { file: path, .. } => {
                path.display().to_string()
            }
            Error::Address { url }
            | Error::Connect { url, .. }
            | Error::Broken { url, .. }
            | Error::Encoded { url, .. }
            | Error::HttpStatus { url, .. }
            | Error::Redirect { url, .. }
            | Error::Auth { url, .. }
            | Error::Login { url, .. }
            | Error::SessionLost { url, .. } => url.clone(),
            Error::Handshake { place, .. }
            | Error::Version { place, .. }
            | Error::Unspoken { place, .. }
            | Error::Disconnected { place, .. }
            | Error::Timeout { place, .. }
            | Error::Cancelled { place }
            | Error::Malformed { place, .. }
            | Error::Rpc { place, .. }
            | Error::Write { place, .. }
            | Error::Closed { place } => place.clone(),
            Error::Rejected { tool, .. } => tool.clone(),
            Error::Header { .. } | Error::Client { .. } | Error::Tls { .. } => String::new(),
            Error::InProcess(problem) => problem.place.clone(),
            Error::Shared(shared) => shared.place(),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Problem::from(&error)
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        let root = error.root();
        if let Error::InProcess(refused) = root {
            return refused.clone();
        }
        let known = causes::find(root);
        let what = match &known {
            Some(known) if known.leads => format!("{}: {root}", known.cause.sentence),
            _ => root.to_string(),
        };
        let problem = Problem::new(root.kind(), what).at(root.place());
        match known {
            Some(known) => problem.hint(known.fix).because(known.cause),
            None => problem,
        }
    }
}

/// The first words of a text the server sent, on one line.
pub(super) fn excerpt(text: &str) -> String {
    const CHARS: usize = 200;
    // A text may have hundreds of megabytes: only its start is looked at.
    let start = text
        .char_indices()
        .nth(10 * CHARS)
        .map(|(end, _)| &text[..end]);
    let line = start
        .unwrap_or(text)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    match line.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if start.is_some() => format!("{line}…"),
        None => line,
    }
}

fn quote(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(": {text}")
    }
}

/// Lines of stderr that an error quotes.
const TAIL: usize = 3;

fn last_output(unreadable: Option<&str>, stderr: &[String]) -> String {
    let mut text = String::new();
    // Writing into a String cannot fail.
    if let Some(line) = unreadable {
        write!(text, "; it printed `{}`, which is not MCP", excerpt(line)).ok();
    }
    let stderr = shortened(stderr, TAIL);
    if !stderr.is_empty() {
        let tail: Vec<_> = stderr.iter().map(|line| excerpt(line)).collect();
        // A trace may be below it.
        let how = if matches!(stderr, [line] if names_error(line)) {
            "says"
        } else {
            "ends with"
        };
        write!(text, "; stderr {how} `{}`", tail.join(" / ")).ok();
    }
    text
}

/// What an error comes from in the end, in its own words.
pub fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// Why there is no connection.
pub(super) fn connect_words(error: &reqwest::Error) -> String {
    if let Some(why) = tls::refusal(error) {
        return tls::words(why).0;
    }
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            match io.kind() {
                io::ErrorKind::ConnectionRefused => return "connection refused".into(),
                io::ErrorKind::TimedOut => return "the connection timed out".into(),
                _ => {}
            }
        }
        cause = inner.source();
    }
    if error.is_connect() && error.is_timeout() {
        return "the connection timed out".into();
    }
    format!("could not connect: {}", innermost(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_say_what_where_and_what_to_do() {
        let gone = |unreadable: Option<&str>, stderr: &[&str]| {
            Problem::from(Error::Disconnected {
                place: "sh".into(),
                how: "the program ended with status 3".into(),
                during_handshake: true,
                unreadable: unreadable.map(Into::into),
                stderr: stderr.iter().map(|&line| line.into()).collect(),
            })
        };
        for (problem, message, kind) in [
            (
                Error::NotFound {
                    program: "nosuch".into(),
                }
                .into(),
                "command not found (nosuch)",
                ProblemKind::Spawn,
            ),
            (
                Error::NotFound {
                    program: "node a.js".into(),
                }
                .into(),
                "command not found (node a.js)",
                ProblemKind::Spawn,
            ),
            (
                gone(None, &[]),
                "the program ended with status 3 (sh)",
                ProblemKind::Handshake,
            ),
            (
                gone(Some("Hello\tthere"), &["a", "b"]),
                "the program ended with status 3; it printed `Hello there`, which is not MCP; stderr ends with `a / b` (sh)",
                ProblemKind::Handshake,
            ),
            (
                gone(None, &["TypeError: x"]),
                "the program ended with status 3; stderr says `TypeError: x` (sh)",
                ProblemKind::Handshake,
            ),
            (
                Error::HttpStatus {
                    url: "http://h/".into(),
                    status: "500 Internal Server Error".into(),
                    text: "oops".into(),
                }
                .into(),
                "HTTP 500 Internal Server Error: oops (http://h/)",
                ProblemKind::HttpStatus,
            ),
        ] {
            assert_eq!(problem.message(), message);
            assert_eq!(problem.kind, kind);
            assert!(problem.hint.is_some(), "{message}");
        }
    }

    #[test]
    fn a_redirect_in_a_circle_is_not_offered_as_the_cure() {
        for (status, location, is_cure) in [
            ("301", "http://h/mcp", false),
            ("301", "http://h:80/mcp", false),
            ("301", "http://h/mcp/", true),
            ("308", "http://h/b", false),
            ("308", "https://h/mcp", true),
        ] {
            let (url, status, location) = ("http://H/mcp".into(), status.into(), location.into());
            let hint = Problem::from(Error::Redirect {
                url,
                status,
                location,
            })
            .hint
            .unwrap();
            assert_eq!(hint.contains("connect to"), is_cure, "{hint}");
        }
    }

    #[test]
    fn a_redirect_away_from_https_is_never_advised() {
        for (url, location, offered) in [
            (
                "https://h:8443/mcp/",
                "http://h:8443/mcp",
                Some("https://h:8443/mcp"),
            ),
            ("https://h/mcp/", "http://h/mcp", Some("https://h/mcp")),
            (
                "https://h/mcp/?a=1",
                "http://h:8080/mcp",
                Some("https://h/mcp?a=1"),
            ),
            ("https://h/mcp", "http://h/mcp", None),
            ("https://h/mcp", "http://inside/mcp", None),
            ("https://h/mcp", "ftp://h/", None),
        ] {
            let error = Error::Redirect {
                url: url.into(),
                status: "307".into(),
                location: location.into(),
            };
            let problem = Problem::from(error);
            let hint = problem.hint.unwrap();
            assert!(
                problem.what.contains("from https") && hint.contains("proxy"),
                "{hint}"
            );
            assert!(
                !hint.contains("http://") && !hint.contains("ftp:"),
                "{hint}"
            );
            match offered {
                Some(address) => assert!(
                    hint.starts_with(&format!("connect to {address};")),
                    "{hint}"
                ),
                None => assert!(!hint.contains("connect to"), "{hint}"),
            }
        }
    }

    #[test]
    fn excerpts_are_short_and_on_one_line() {
        assert_eq!(excerpt("a\n  b"), "a b");
        assert_eq!(excerpt(&"é".repeat(300)).chars().count(), 201);
        assert_eq!(excerpt(&format!("a{}b", " ".repeat(3_000))), "a…");
    }
}
