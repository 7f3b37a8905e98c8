//! The screen of recorded sessions: those of a data folder, else one that is made of calls of the sample.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use time::macros::datetime;

use super::Stage;
use crate::state::{HistoryAction, LiveAction};
use loupe_core::capture::Capture;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_tap::recorder::{SessionStart, write_session};

/// The calls of the session that is made: at so many milliseconds, tool and arguments.
const CALLS: &[(u64, &str, &str)] = &[
    (3_200, "strict_test_connection", "{}"),
    (
        18_000,
        "dual_search_companies",
        r#"{"searchTerm":"north","pageSize":5}"#,
    ),
    (41_000, "dual_search_companies", r#"{"pageSize":250}"#),
    (60_500, "strict_search_companies", r#"{"pageSize":50}"#),
    (75_000, "dial_search_user", r#"{"name":"a"}"#),
    (92_000, "strict_search_companies", r#"{"pageSize":9999}"#),
    (
        118_000,
        "dual_search_companies",
        r#"{"searchTerm":"cedar"}"#,
    ),
];

impl Stage {
    /// Shows the newest session of a data folder, with the call of this number.
    pub(super) fn show_sessions(&mut self, data: &Path, call: usize) -> Result<(), Problem> {
        self.perform(HistoryAction::Use(data.to_owned()));
        self.perform(LiveAction::Show);
        self.until("the sessions are listed", |state| {
            state.live.sessions.is_some()
        })?;
        self.until("the session is counted", |state| {
            state.live.session.as_ref().is_none_or(|session| {
                let is_read = session.read.is_all && session.bill.is_some();
                session.problem.is_some() || (is_read && session.counted == session.calls.len())
            })
        })?;
        self.perform(LiveAction::Select(call));
        self.settle()
    }

    /// Records calls of the sample as if Claude Code had made them, and shows the session.
    pub(super) fn record_sample(&mut self) -> Result<(), Problem> {
        let failed = |error: std::io::Error| {
            Problem::new(
                ProblemKind::Io,
                format!("no folder for the session: {error}"),
            )
        };
        let mut calls = Vec::new();
        for (at, tool, arguments) in CALLS {
            self.call(tool, arguments)?;
            let capture = self.state.capture().cloned();
            calls.extend(capture.map(|capture| (*at, capture)));
        }
        let data = tempfile::tempdir().map_err(failed)?;
        let start = SessionStart {
            name: "companies".to_owned(),
            source: "-- npx -y companies-mcp".to_owned(),
            started: datetime!(2026-11-29 14:02:00 UTC),
        };
        let sessions = data.path().join("sessions");
        write_session(&sessions, &start, &self.lines(&calls)).map_err(failed)?;
        self.show_sessions(data.path(), 2)
    }

    /// The messages of such a session.
    fn lines(&self, calls: &[(u64, Arc<Capture>)]) -> String {
        let server = self.state.session().connection.server();
        let tools = self.state.session().tools.iter();
        let tools: Vec<_> = tools
            .map(|listed| String::from_utf8_lossy(&listed.tool.raw))
            .collect();
        let list = tools.join(",");
        let initialize = json!({
            "jsonrpc": "2.0", "id": "i", "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "clientInfo": {"name": "claude-code", "version": "2.1.330"}},
        });
        let initialized = json!({
            "jsonrpc": "2.0", "id": "i",
            "result": {
                "protocolVersion": "2025-11-25",
                "serverInfo": {"name": "companies", "version": "1.4.0"},
                "instructions": server.and_then(|server| server.instructions.clone()),
            },
        });
        let mut lines = String::new();
        let mut add = |at: f64, dir: &str, text: &str| {
            lines += &json!({"atMs": at, "dir": dir, "text": text}).to_string();
            lines.push('\n');
        };
        add(0.0, "out", &initialize.to_string());
        add(12.0, "in", &initialized.to_string());
        add(
            20.0,
            "out",
            r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#,
        );
        add(
            31.0,
            "in",
            &format!(r#"{{"jsonrpc":"2.0","id":"l","result":{{"tools":[{list}]}}}}"#),
        );
        for (at, call) in calls {
            let at = *at as f64;
            add(at, "out", &String::from_utf8_lossy(&call.request));
            if let Some(response) = &call.response {
                // Not the time it took: two pictures would differ.
                let took = 8.0 + response.len() as f64 / 500.0;
                add(at + took, "in", &String::from_utf8_lossy(response));
            }
        }
        lines + "{\"atMs\":126000.0,\"ended\":0}\n"
    }
}
