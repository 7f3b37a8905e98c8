//! `sessions`: what `tap` recorded, and what a session cost.

mod transcript;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use serde::Serialize;

use super::args::{DataArgs, PrintArgs};
use super::client::computing;
use super::output::{self, columns, one_line};
use super::{Done, hosts, view};
use crate::store;
use loupe_analysis::contract;
use loupe_analysis::queries::{SessionBill, SessionCalls};
use loupe_core::capture::milliseconds;
use loupe_core::number::{grouped, number_of};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token;
use loupe_tap::sessions::{self, KeepLimits, SessionInfo};
use time::format_description::well_known::Rfc3339;

#[derive(Args, Debug)]
pub struct SessionsArgs {
    /// A session: its id or how that begins, its name, its folder, or a file of messages such as a Claude Code session
    #[arg(value_name = "ID|PATH")]
    pub session: Option<String>,
    /// Show what the session cost
    #[arg(long, requires = "session")]
    pub bill: bool,
    /// Compare with what the host gave its model, by the transcript that it keeps itself: read from its own folder, or from PATH
    #[arg(long, value_name = "PATH", requires = "session", conflicts_with = "bill", num_args = 0..=1)]
    pub transcript: Option<Option<PathBuf>>,
    /// The host, where the session does not tell (with --bill or --transcript)
    #[arg(long, value_name = "ID")]
    pub host: Option<String>,
    /// The tokenizer of the numbers shown: o200k_base (the default) or cl100k_base
    #[arg(long, value_name = "NAME")]
    pub tokenizer: Option<String>,
    /// Print the bill for others: markdown
    #[arg(long = "as", value_name = "KIND", requires = "bill", conflicts_with = "json", value_parser = ["markdown"])]
    pub table: Option<String>,
    /// Remove sessions older than --keep-days, then the oldest until the rest fits --keep-size
    #[arg(long, conflicts_with = "session")]
    pub prune: bool,
    /// Days to keep [default: 30]
    #[arg(long, value_name = "DAYS", requires = "prune")]
    pub keep_days: Option<u64>,
    /// Mebibytes to keep [default: 4096]
    #[arg(long, value_name = "MIB", requires = "prune")]
    pub keep_size: Option<u64>,
    #[command(flatten)]
    pub print: PrintArgs,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Serialize)]
struct ListDocument {
    loupe: &'static str,
    schema: &'static str,
    sessions: Vec<SessionJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionJson {
    id: String,
    name: String,
    source: String,
    started: String,
    folder: String,
    running: bool,
    /// The server's exit status; `null` while it runs, and where the record breaks off.
    ended: Option<i32>,
    bytes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallsDocument {
    loupe: &'static str,
    schema: &'static str,
    client: String,
    server: String,
    tools: usize,
    calls: Vec<CallJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallJson {
    number: usize,
    tool: String,
    outcome: &'static str,
    ms: f64,
    bytes: usize,
    tokens: u64,
}

pub fn run(args: &SessionsArgs) -> Done {
    let folder = store::sessions_folder(args.data.data_dir.as_deref()).ok_or_else(|| {
        Problem::new(ProblemKind::Io, "no folder for data is known").hint("give --data-dir DIR")
    })?;
    if args.prune {
        return prune(args, &folder);
    }
    match &args.session {
        None => list(args, &folder),
        Some(session) => one(args, &folder, session),
    }
}

fn prune(args: &SessionsArgs, folder: &Path) -> Done {
    let standard = KeepLimits::default();
    let limits = KeepLimits {
        age: args.keep_days.map_or(standard.age, |days| {
            Duration::from_secs(days.saturating_mul(24 * 60 * 60))
        }),
        size: args
            .keep_size
            .map_or(standard.size, |size| size.saturating_mul(1 << 20)),
    };
    let removed = sessions::prune(folder, limits, SystemTime::now()).map_err(|error| {
        Problem::new(ProblemKind::Io, format!("cannot remove a session: {error}"))
            .at(folder.display().to_string())
    })?;
    let bytes: u64 = removed.iter().map(|session| session.size).sum();
    output::page(&format!(
        "removed {}, {} bytes\n",
        number_of(removed.len() as u64, "sessions"),
        grouped(bytes)
    ))?;
    Ok(0)
}

fn json(session: SessionInfo) -> SessionJson {
    SessionJson {
        id: session.id,
        name: session.name,
        source: session.source,
        started: session.started.format(&Rfc3339).unwrap_or_default(),
        folder: session.folder.display().to_string(),
        running: session.is_running,
        ended: session.ended,
        bytes: session.size,
    }
}

fn list(args: &SessionsArgs, folder: &Path) -> Done {
    let sessions: Vec<_> = sessions::list(folder).into_iter().map(json).collect();
    if args.print.json {
        output::json(&contract::print(&ListDocument {
            loupe: env!("CARGO_PKG_VERSION"),
            schema: "loupe.sessions/1",
            sessions,
        }))?;
        return Ok(0);
    }
    if sessions.is_empty() {
        output::page("No sessions yet: `mcp-loupe tap -- COMMAND` records one.\n")?;
        return Ok(0);
    }
    let mut rows = vec![
        ["ID", "STATE", "BYTES", "SERVER"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for session in sessions {
        let state = match (session.running, session.ended) {
            (true, _) => "running".to_owned(),
            (false, Some(status)) => format!("status {status}"),
            (false, None) => "broken off".to_owned(),
        };
        rows.push(vec![
            session.id,
            state,
            grouped(session.bytes),
            one_line(&session.source),
        ]);
    }
    output::page(&columns(&rows, &[2]))?;
    Ok(0)
}

/// The file of messages that is meant.
fn file_of(folder: &Path, session: &str) -> Result<PathBuf, Problem> {
    let path = Path::new(session);
    if path.join(sessions::START).is_file() {
        return Ok(path.join(sessions::MESSAGES));
    }
    if path.is_file() {
        return Ok(path.to_owned());
    }
    match sessions::find(folder, session) {
        Some(found) => Ok(found.folder.join(sessions::MESSAGES)),
        None => Err(Problem::new(
            ProblemKind::NotFound,
            "no such session, or several begin so",
        )
        .at(session.to_owned())
        .hint("`mcp-loupe sessions` lists them")),
    }
}

fn one(args: &SessionsArgs, folder: &Path, session: &str) -> Done {
    let encoding = view::encoding(args.tokenizer.as_deref())?;
    let all = hosts::load(&args.data);
    let wanted = args.host.iter().cloned().collect::<Vec<_>>();
    let wanted = hosts::all_known(&all, &wanted)?;
    let mut calls = store::read_session(&file_of(folder, session)?)?;
    if let Some(host) = wanted.first()
        && let Some(rules) = all.iter().find(|known| known.id == *host)
        && let Some(client) = &rules.client
    {
        calls.client.clone_from(&client.name);
    }
    if let Some(path) = &args.transcript {
        return transcript::run(args, folder, session, &calls, &all, path.as_deref());
    }
    if !args.bill {
        return show(args, &calls);
    }
    computing(|cancel| {
        let bill = SessionBill::new(&calls, &all, cancel).map_err(|_| Problem::interrupted())?;
        if args.print.json {
            output::json(&contract::bill(&bill))?;
        } else {
            output::page(&contract::bill_markdown(&bill, encoding))?;
        }
        Ok(0)
    })
}

/// The calls, one a line.
fn show(args: &SessionsArgs, session: &SessionCalls) -> Done {
    let encoding = view::encoding(args.tokenizer.as_deref())?;
    let rows = session.captures.iter().enumerate().map(|(at, capture)| {
        let response = capture.response.clone().unwrap_or_default();
        CallJson {
            number: at + 1,
            tool: capture.tool.name.clone(),
            outcome: capture.outcome.name(),
            ms: (capture.timings.total().as_secs_f64() * 1e5).round() / 100.0,
            bytes: response.len(),
            tokens: token::count(&String::from_utf8_lossy(&response)).get(encoding),
        }
    });
    let server = session.definitions.server.heading();
    if args.print.json {
        output::json(&contract::print(&CallsDocument {
            loupe: env!("CARGO_PKG_VERSION"),
            schema: "loupe.session-calls/1",
            client: session.client.clone(),
            server,
            tools: session.definitions.tools.len(),
            calls: rows.collect(),
        }))?;
        return Ok(0);
    }
    let client = match session.client.as_str() {
        "" => "an unknown host",
        client => client,
    };
    let mut page = format!(
        "{} with {}, {}\n\n",
        one_line(client),
        one_line(server.trim()),
        number_of(session.definitions.tools.len() as u64, "tools")
    );
    let head = [
        "CALL",
        "TOOL",
        "OUTCOME",
        "TIME",
        "BYTES",
        "TOKENS ON THE WIRE",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for row in rows {
        lines.push(vec![
            row.number.to_string(),
            one_line(&row.tool),
            row.outcome.to_owned(),
            milliseconds(Duration::from_secs_f64(row.ms / 1000.0)),
            grouped(row.bytes as u64),
            grouped(row.tokens),
        ]);
    }
    page.push_str(&columns(&lines, &[0, 3, 4, 5]));
    page.push_str("\n`--bill` shows what it cost; `mcp-loupe show FOLDER --nth N` shows a call.\n");
    output::page(&page)?;
    Ok(0)
}
