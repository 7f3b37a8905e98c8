//! What can go wrong between Loupe and a server, with sources kept, and the one place that says it to people.

use std::fmt::Write;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::log::names_error;
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
    #[error("the server redirects {}to {}", if is_downgrade(url, location) { "from https " } else { "" }, redact_url(location))]
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
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Problem::from(&error)
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        let problem = |kind, place: &str| Problem::new(kind, error.to_string()).at(place);
        match error {
            Error::NotFound { program } if program.contains(char::is_whitespace) => problem(ProblemKind::Spawn, program)
                .hint("give the program and each argument as separate words, without quotes around all of them"),
            Error::NotFound { program } => problem(ProblemKind::Spawn, program).hint("check the spelling, or give the full path"),
            Error::NotExecutable { program } => problem(ProblemKind::Spawn, program)
                .hint(format!("make it executable (`chmod +x {program}`), or start it with its interpreter")),
            Error::NoFolder { path } => {
                problem(ProblemKind::Spawn, &path.to_string_lossy()).hint("give the folder the program should start in")
            }
            Error::NotStarted { program, .. } => problem(ProblemKind::Spawn, program).hint("start it in a terminal to see why"),
            Error::Guard { program, .. } => {
                problem(ProblemKind::Spawn, program).hint("check that Loupe's own program file is still in its place")
            }
            Error::Address { url } => {
                problem(ProblemKind::Connect, url).hint("give the server's address, such as http://127.0.0.1:3001/mcp")
            }
            Error::Header { .. } => {
                problem(ProblemKind::Usage, "").hint("a header has a name without spaces and a value on one line")
            }
            Error::Client { .. } | Error::Tls { .. } => {
                problem(ProblemKind::Connect, "").hint("check the system's certificates and proxy settings")
            }
            Error::Authority { file, .. } => {
                problem(ProblemKind::Io, &file.to_string_lossy()).hint("give a PEM file: -----BEGIN CERTIFICATE----- and so on")
            }
            Error::Connect { url, source } => problem(ProblemKind::Connect, url).hint(match tls::refusal(source) {
                Some(why) => tls::words(why).1,
                None => "start the server, then connect again; check host and port",
            }),
            Error::Broken { url, .. } => {
                problem(ProblemKind::Disconnected, url).hint("look at the server's log, then reconnect and call again")
            }
            Error::HttpStatus { url, status, .. } => problem(ProblemKind::HttpStatus, url).hint(match status.get(..3) {
                Some("404" | "405") if url.trim_end_matches('/').ends_with("/mcp") => {
                    "check the path, or try the transport of 2024 (`--transport sse`, often at /sse)"
                }
                Some("404" | "405") => "check the path: the MCP endpoint is often at /mcp",
                Some("429") => "wait, then try again",
                Some("421") => "use the host name the server expects",
                Some(code) if code.starts_with('5') => "look at the server's log",
                _ => "check the address and the headers",
            }),
            Error::Redirect { url, status, location } if is_circle(url, status, location) => {
                problem(ProblemKind::HttpStatus, url).hint(
                    "it redirects in a loop: check the settings of the server, or of the proxy in front of it",
                )
            }
            Error::Encoded { url, .. } => problem(ProblemKind::Malformed, url).hint(
                "ask for it as it is by `--header 'Accept-Encoding: identity'`, or tell whoever runs the proxy not to encode it",
            ),
            Error::Redirect { url, location, .. } if is_downgrade(url, location) => {
                problem(ProblemKind::HttpStatus, url).hint(downgrade_hint(url, location))
            }
            Error::Redirect { url, location, .. } => problem(ProblemKind::HttpStatus, url)
                .hint(format!("if you trust it, connect to {}; headers are not sent on by themselves", redact_url(location))),
            Error::Auth { url, .. } => problem(ProblemKind::Auth, url)
                .hint("log in (`--login`), or add the header the server asks for, such as `Authorization: Bearer …`"),
            Error::Login { url, kind, hint, .. } => problem(*kind, url).hint(hint.clone()),
            Error::SessionLost { url, .. } => problem(ProblemKind::Disconnected, url).hint("reconnect, then call again"),
            Error::Handshake { place, .. } => problem(ProblemKind::Handshake, place).hint("check that this is an MCP server"),
            Error::Unspoken { place, .. } => problem(ProblemKind::Handshake, place)
                .hint("without `--protocol` the revision that the server speaks is found; in the window, choose *Automatic*"),
            Error::Version { place, .. } => problem(ProblemKind::Handshake, place)
                .hint(format!("Loupe knows {}", loupe_core::source::Protocol::VERSIONS.join(", "))),
            Error::Disconnected { place, during_handshake: true, unreadable, stderr, .. } => {
                let hint = if unreadable.is_some() {
                    "an MCP server writes nothing but JSON messages to standard output; check that this starts one"
                } else if stderr.is_empty() {
                    "start it in a terminal to see why it ends; check that it is an MCP server"
                } else {
                    "see stderr above; check its arguments and environment"
                };
                problem(ProblemKind::Handshake, place).hint(hint)
            }
            Error::Disconnected { place, .. } => problem(ProblemKind::Disconnected, place).hint("reconnect, then call again"),
            Error::Timeout { place, during_handshake: true, unreadable, .. } => {
                let hint = if unreadable.is_some() {
                    "what it printed is not MCP; check that this starts an MCP server on standard input and output"
                } else {
                    "check that this is an MCP server; one that is still being downloaded needs a longer limit (`--timeout`)"
                };
                problem(ProblemKind::Timeout, place).hint(hint)
            }
            Error::Timeout { place, unreadable: Some(_), .. } => problem(ProblemKind::Timeout, place)
                .hint("what it printed is not an MCP message, though it may have been meant as the answer; a message is one line of JSON"),
            Error::Timeout { place, .. } => {
                problem(ProblemKind::Timeout, place).hint("raise the time limit (`--timeout`), or ask for less")
            }
            Error::Rejected { tool, .. } => problem(ProblemKind::Arguments, tool)
                .hint("fix the tool's definition, or call it over stdio or with `--protocol 2025-11-25`"),
            Error::Cancelled { place } => problem(ProblemKind::Cancelled, place),
            // Where an answer is kept, whoever keeps it points at its bytes instead.
            Error::Malformed { place, .. } => problem(ProblemKind::Malformed, place)
                .hint("look at what came: on the command line `--transcript FILE` writes every message to a file"),
            Error::Rpc { place, .. } => {
                problem(ProblemKind::RpcError, place).hint("the message is the server's; check what was asked of it")
            }
            Error::Write { place, .. } => problem(ProblemKind::Disconnected, place).hint("reconnect, then call again"),
            Error::Closed { place } => problem(ProblemKind::Disconnected, place).hint("reconnect, then call again"),
            Error::InProcess(refused) => refused.clone(),
            Error::Shared(shared) => Problem::from(&**shared),
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

fn last_output(unreadable: Option<&str>, stderr: &[String]) -> String {
    let mut text = String::new();
    // Writing into a String cannot fail.
    if let Some(line) = unreadable {
        write!(text, "; it printed `{}`, which is not MCP", excerpt(line)).ok();
    }
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

pub(super) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// Whether following a redirect leads nowhere: it names the address that was asked, or is one of those that are followed
/// a few times.
fn is_circle(url: &str, status: &str, location: &str) -> bool {
    let (Ok(from), Ok(to)) = (url::Url::parse(url), url::Url::parse(location)) else {
        return false;
    };
    from == to
        || (from.origin() == to.origin()
            && ["307", "308"].iter().any(|code| status.starts_with(code)))
}

/// Whether following a redirect would give up encryption.
fn is_downgrade(url: &str, location: &str) -> bool {
    url.starts_with("https:") && !location.starts_with("https:")
}

/// What to do about such a redirect: the same place by https, never in clear.
fn downgrade_hint(url: &str, location: &str) -> String {
    const CAUSE: &str = "a proxy in front of the server likely ends TLS and does not tell it (`X-Forwarded-Proto: https`)";
    let (Ok(mut from), Ok(to)) = (url::Url::parse(url), url::Url::parse(location)) else {
        return CAUSE.into();
    };
    if to.scheme() != "http" || from.host() != to.host() || from.path() == to.path() {
        return format!(
            "{CAUSE}: tell whoever runs it; in clear everybody on the way could read the credentials"
        );
    }
    from.set_path(to.path());
    format!("connect to {from}; {CAUSE}")
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
