//! Why a connection failed and what to do about it: the one list, which errors of commands, the window and the doctor ask.
//!
//! A cause is said only where what came shows it. `output` reads what a program printed; everything else follows from the
//! error itself. The first that fits is the cause.

pub(super) mod http;
mod output;

use std::path::Path;

use loupe_core::problem::{Cause, Paste, PastePlace};
use loupe_core::quote::shell;
use loupe_core::source::Protocol;

use super::Error;
use crate::tls;

/// A cause with what to do about it.
pub(super) struct Known {
    pub cause: Cause,
    /// What the user can do, in the imperative.
    pub fix: String,
    /// The sentence says more than the error, which then follows it.
    pub leads: bool,
}

impl Known {
    fn new(step: &'static str, sentence: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            cause: Cause {
                step,
                sentence: sentence.into(),
                paste: None,
            },
            fix: fix.into(),
            leads: false,
        }
    }

    fn leading(self) -> Self {
        Self {
            leads: true,
            ..self
        }
    }

    fn paste(mut self, place: PastePlace, text: impl Into<String>) -> Self {
        let text = text.into();
        self.cause.paste = Some(Paste { place, text });
        self
    }
}

/// Why this failed. `None` where there is nothing to say but the error.
pub(super) fn find(error: &Error) -> Option<Known> {
    let plain = |step: &'static str, fix: &str| Some(Known::new(step, error.to_string(), fix));
    match error {
        Error::NotFound { program } => Some(not_found(program)),
        Error::NotExecutable { program } if Path::new(program).is_dir() => Some(Known::new(
            "command-found",
            format!("{program} is a folder"),
            "give the program to start",
        )),
        Error::NotExecutable { program } => Some(
            Known::new(
                "command-found",
                format!("`{program}` is not executable"),
                format!(
                    "make it executable (`chmod +x {program}`), or start it with its interpreter"
                ),
            )
            .paste(PastePlace::Terminal, format!("chmod +x {}", shell(program))),
        ),
        Error::Interpreter {
            program,
            interpreter,
            has_carriage_return,
        } => Some(no_interpreter(program, interpreter, *has_carriage_return)),
        Error::NoFolder { path } => Some(Known::new(
            "command-found",
            format!("there is no folder {}", path.display()),
            "give the folder the program should start in",
        )),
        Error::NotStarted { program, reason } if reason.contains("Exec format error") => Some(
            Known::new(
                "process-started",
                format!("this computer cannot run `{program}`"),
                "start a script with its interpreter (`python3 FILE`), or name the interpreter in its first line; a binary has to be built for this computer",
            ),
        ),
        Error::NotStarted { .. } => plain("process-started", "start it in a terminal to see why"),
        Error::Guard { .. } => plain(
            "process-started",
            "check that Loupe's own program file is still in its place",
        ),
        Error::Address { .. } => plain(
            "name-resolved",
            "give the server's address, such as http://127.0.0.1:3001/mcp",
        ),
        Error::Header { .. } => plain(
            "http-status",
            "a header has a name without spaces and a value on one line",
        ),
        Error::Client { .. } | Error::Tls { .. } => {
            plain("tls", "check the system's certificates and proxy settings")
        }
        Error::Authority { .. } => plain(
            "tls",
            "give a PEM file: -----BEGIN CERTIFICATE----- and so on",
        ),
        Error::Connect { url, source } => Some(match tls::refusal(source) {
            Some(why) => {
                let (sentence, fix) = tls::words(why);
                Known::new("tls", sentence, fix)
            }
            None => http::no_connection(url, source),
        }),
        Error::Broken { .. } => plain(
            "http-status",
            "look at the server's log, then reconnect and call again",
        ),
        Error::HttpStatus { url, status, text } => Some(http::status(error, url, status, text)),
        Error::Redirect {
            url,
            status,
            location,
        } => Some(http::redirect(error, url, status, location)),
        Error::Encoded { .. } => plain(
            "content",
            "ask for it as it is by `--header 'Accept-Encoding: identity'`, or tell whoever runs the proxy not to encode it",
        ),
        Error::Auth { text, .. } if http::page(text).is_some() => http::page(text),
        Error::Auth { .. } => plain(
            "challenge",
            "log in (`--login`), or add the header the server asks for, such as `Authorization: Bearer …`",
        ),
        Error::Login { step, what, hint, .. } => Some(Known::new(step, what, hint)),
        Error::SessionLost { .. } => plain("http-status", "reconnect, then call again"),
        Error::Handshake { .. } => Some(
            http::page_for_people(error)
                .unwrap_or_else(|| Known::new("handshake", error.to_string(), "check that this is an MCP server")),
        ),
        Error::Unspoken { .. } => plain(
            "handshake",
            "without `--protocol` the revision that the server speaks is found; in the window, choose *Automatic*",
        ),
        Error::Version { .. } => Some(Known::new(
            "handshake",
            error.to_string(),
            format!("Loupe knows {}", Protocol::VERSIONS.join(", ")),
        )),
        Error::Disconnected {
            during_handshake: true,
            how,
            unreadable,
            stderr,
            place,
        } => Some(output::of_ended(error, place, how, unreadable.as_deref(), stderr)),
        Error::Disconnected { .. } => plain("requests", "reconnect, then call again"),
        Error::Timeout {
            during_handshake: true,
            unreadable,
            stderr,
            place,
            ..
        } => Some(output::of_silent(error, place, unreadable.as_deref(), stderr)),
        Error::Timeout {
            unreadable: Some(_), ..
        } => plain(
            "framing",
            "what it printed is not an MCP message, though it may have been meant as the answer; a message is one line of JSON",
        ),
        Error::Timeout { .. } => plain(
            "requests",
            "raise the time limit (`--timeout`), or ask for less",
        ),
        Error::Rejected { .. } => plain(
            "lists",
            "fix the tool's definition, or call it over stdio or with `--protocol 2025-11-25`",
        ),
        // Where an answer is kept, whoever keeps it points at its bytes instead.
        Error::Malformed { .. } => Some(http::page_for_people(error).unwrap_or_else(|| {
            Known::new(
                "content",
                error.to_string(),
                "look at what came: on the command line `--transcript FILE` writes every message to a file",
            )
        })),
        Error::Rpc { .. } => plain(
            "requests",
            "the message is the server's; check what was asked of it",
        ),
        Error::Write { .. } | Error::Closed { .. } => {
            plain("still-running", "reconnect, then call again")
        }
        Error::Cancelled { .. } | Error::InProcess(_) | Error::Shared(_) => None,
    }
}

/// Launchers that people lack, and what brings them.
const LAUNCHERS: &[(&[&str], &str)] = &[
    (
        &["npx", "npm", "node"],
        "install Node.js (https://nodejs.org)",
    ),
    (&["uvx", "uv"], "install uv (https://docs.astral.sh/uv)"),
    (&["python", "pip"], "most systems call it `python3`"),
    (&["docker"], "install Docker and start it"),
    (&["bun", "bunx"], "install Bun (https://bun.sh)"),
    (&["deno"], "install Deno (https://deno.com)"),
];

fn not_found(program: &str) -> Known {
    if program.is_empty() {
        return Known::new(
            "command-found",
            "no command is given",
            "give the program to start",
        );
    }
    if program.contains(char::is_whitespace) {
        return Known::new(
            "command-found",
            format!("`{program}` was taken as the name of one program"),
            "give the program and each argument as separate words, without quotes around all of them",
        );
    }
    if program.contains(['/', '\\']) {
        return Known::new(
            "command-found",
            format!("there is no file {program}"),
            "check the spelling, or give the full path",
        );
    }
    let known = LAUNCHERS.iter().find(|(names, _)| names.contains(&program));
    let fix = match known {
        Some((_, fix)) => format!("{fix}, or give the full path"),
        None => "check the spelling, or give the full path".into(),
    };
    Known::new(
        "command-found",
        format!("`{program}` is in no folder of PATH"),
        fix,
    )
}

fn no_interpreter(program: &str, interpreter: &str, has_carriage_return: bool) -> Known {
    if has_carriage_return {
        return Known::new(
            "command-found",
            format!("{program} has Windows line ends: its first line asks for `{interpreter}\\r`"),
            "write the file with Unix line ends",
        )
        .paste(
            PastePlace::Terminal,
            format!("sed -i 's/\\r$//' {}", shell(program)),
        );
    }
    Known::new(
        "command-found",
        format!("the first line of {program} asks for {interpreter}, which is not there"),
        "install it, correct the line, or start the file with its interpreter",
    )
}
