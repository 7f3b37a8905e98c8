//! The one user-facing failure: what happened, where, and what to do about it.
//!
//! A `Problem` is printed by three printers (banner, stderr, JSON) and never re-worded by them.
//! The kinds and exit statuses are part of the command line contract (`docs/cli.md`). Uses nothing of Loupe.

use std::fmt;

/// The stable kind of a failure, as printed by `--json` in `error.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    Usage,
    Arguments,
    NotFound,
    Consent,
    Spawn,
    Connect,
    HttpStatus,
    Auth,
    Handshake,
    Disconnected,
    Timeout,
    Cancelled,
    RpcError,
    Malformed,
    Io,
    Internal,
}

impl ProblemKind {
    /// Every kind with its name and exit status, in the order of the contract.
    pub const ALL: &'static [(ProblemKind, &'static str, u8)] = &[
        (ProblemKind::Usage, "usage", 2),
        (ProblemKind::Arguments, "arguments", 2),
        (ProblemKind::NotFound, "not-found", 2),
        (ProblemKind::Consent, "consent", 2),
        (ProblemKind::Spawn, "spawn", 3),
        (ProblemKind::Connect, "connect", 3),
        (ProblemKind::HttpStatus, "http-status", 3),
        (ProblemKind::Auth, "auth", 3),
        (ProblemKind::Handshake, "handshake", 3),
        (ProblemKind::Disconnected, "disconnected", 3),
        (ProblemKind::Timeout, "timeout", 4),
        (ProblemKind::Cancelled, "cancelled", 130),
        (ProblemKind::RpcError, "rpc-error", 5),
        (ProblemKind::Malformed, "malformed", 5),
        (ProblemKind::Io, "io", 2),
        (ProblemKind::Internal, "internal", 5),
    ];

    fn entry(self) -> (&'static str, u8) {
        Self::ALL
            .iter()
            .find(|(kind, ..)| *kind == self)
            .map_or(("internal", 5), |&(_, name, status)| (name, status))
    }

    /// The name used in JSON, such as `not-found`.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    /// The process exit status of the command line for this kind.
    pub fn exit_status(self) -> u8 {
        self.entry().1
    }
}

/// What happened, where, and what to do. Texts are sentence fragments in plain case without a final period.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problem {
    pub kind: ProblemKind,
    pub what: String,
    /// The server, path or argument it happened at; empty where `what` says it all.
    pub place: String,
    /// What the user can do, in the imperative.
    pub hint: Option<String>,
    /// Why a connection failed; `None` for failures of anything else.
    pub cause: Option<Box<Cause>>,
}

/// Why a connection failed, as the doctor says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The step of the doctor that it stops, such as `still-running`.
    pub step: &'static str,
    /// One sentence; says "likely" where it was not observed.
    pub sentence: String,
    /// A line to paste, where one helps.
    pub paste: Option<Paste>,
}

/// A line to paste.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paste {
    pub place: PastePlace,
    pub text: String,
}

/// Where a line is to be pasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum PastePlace {
    /// The server's entry in a client's configuration.
    Entry,
    Terminal,
    /// The code or the settings of the server.
    Server,
}

impl PastePlace {
    pub fn words(self) -> &'static str {
        match self {
            Self::Entry => "in the server's entry of the client's configuration",
            Self::Terminal => "in a terminal",
            Self::Server => "in the server",
        }
    }
}

impl Problem {
    /// The failure of an interrupt.
    pub fn interrupted() -> Self {
        Self::new(ProblemKind::Cancelled, "interrupted")
    }

    pub fn new(kind: ProblemKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
            place: String::new(),
            hint: None,
            cause: None,
        }
    }

    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = place.into();
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn because(mut self, cause: Cause) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }

    /// The failure on one line, as after `error: ` on stderr: `WHAT (WHERE)`.
    pub fn message(&self) -> String {
        if self.place.is_empty() {
            self.what.clone()
        } else {
            format!("{} ({})", self.what, self.place)
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

/// What a TOML reader says is wrong, without the names of Rust's types.
pub fn plain_toml(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let types = ["invalid type: ", "invalid value: "];
    let Some((found, wanted)) = types
        .iter()
        .find_map(|head| line.strip_prefix(head))
        .and_then(|rest| rest.split_once(", expected "))
    else {
        return line.to_owned();
    };
    let found = match found.split_once(' ') {
        Some(("string", text)) => format!("the text {text}"),
        Some(("integer" | "boolean", value)) => value.trim_matches('`').to_owned(),
        Some(("floating", value)) => value
            .trim_start_matches("point ")
            .trim_matches('`')
            .to_owned(),
        _ if found == "sequence" => "a list".to_owned(),
        _ if found == "map" => "a table".to_owned(),
        _ => found.to_owned(),
    };
    let wanted = match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more,",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a string" | "string" => "a text in quotes",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list",
        "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    format!("{found} stands where {wanted} belongs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_listed_once() {
        for (kind, name, status) in ProblemKind::ALL {
            assert_eq!(kind.name(), *name);
            assert_eq!(kind.exit_status(), *status);
            assert_eq!(
                ProblemKind::ALL
                    .iter()
                    .filter(|(_, other, _)| other == name)
                    .count(),
                1
            );
        }
        assert_eq!(ProblemKind::ALL.len(), 16);
    }

    #[test]
    fn message_names_the_place() {
        assert_eq!(
            Problem::new(ProblemKind::Spawn, "command not found")
                .at("nosuch")
                .message(),
            "command not found (nosuch)"
        );
        assert_eq!(
            Problem::new(ProblemKind::Io, "disk full").message(),
            "disk full"
        );
    }

    #[test]
    fn toml_is_told_in_plain_words() {
        let words = [
            "invalid type: string \"x\", expected u64",
            "invalid value: integer `-5`, expected u32",
            "invalid type: map, expected a sequence",
            "invalid type: floating point `1.5`, expected struct Budgets",
            "missing field `tool`\nmore",
        ];
        assert_eq!(
            words.map(plain_toml),
            [
                "the text \"x\" stands where a whole number, 0 or more, belongs",
                "-5 stands where a whole number, 0 or more, belongs",
                "a table stands where a list belongs",
                "1.5 stands where a table belongs",
                "missing field `tool`",
            ]
        );
    }
}
