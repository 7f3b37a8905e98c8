//! `tap`: stands between a host and a server over stdio, passes every byte on, and records a copy.

use std::path::PathBuf;

use clap::Args;

use super::Done;
use super::args::DataArgs;
use super::output;
use crate::store;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Command, Source};

#[derive(Args, Debug)]
pub struct TapArgs {
    /// The session's name [default: the program's]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Add the messages to this file instead of recording a session
    #[arg(long, value_name = "FILE")]
    pub as_log: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataArgs,
    /// The server's command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Runs until the server has ended; the status is the server's.
pub fn run(args: &TapArgs) -> Done {
    let (program, rest) = args.command.split_first().ok_or_else(no_command)?;
    let source = Source::Command(Command {
        program: program.clone(),
        args: rest.to_vec(),
        ..Command::default()
    });
    let known = output::known();
    known.add_source(&source);
    start(args, source.to_string())
}

fn no_command() -> Problem {
    Problem::new(ProblemKind::Usage, "no command is given").hint("write it after `--`")
}

#[cfg(unix)]
fn start(args: &TapArgs, source: String) -> Done {
    use loupe_tap::recorder::RecordPlace;
    let failed = |error: std::io::Error| {
        Problem::new(
            ProblemKind::Spawn,
            format!("the server was not started: {error}"),
        )
        .at(args.command[0].clone())
    };
    let sessions = store::sessions_folder(args.data.data_dir.as_deref());
    let record = match &args.as_log {
        Some(file) => Some(RecordPlace::File(file.clone())),
        None => sessions.map(RecordPlace::Sessions),
    };
    let tap = loupe_tap::relay::Tap {
        command: args.command.clone(),
        name: args.name.clone(),
        record,
        guard: std::env::current_exe().map_err(failed)?,
        source,
        known: output::known().clone(),
    };
    loupe_tap::relay::run(tap).map_err(failed)
}

#[cfg(not(unix))]
fn start(args: &TapArgs, _source: String) -> Done {
    let what = "`tap` needs a system with process groups, which this one is not";
    Err(Problem::new(ProblemKind::Spawn, what).at(args.command[0].clone()))
}
