//! The command line: parse, do, print, exit. The only code that prints.
//!
//! Results go to stdout, everything else to stderr; a failure is one line `error: …` and, where one exists, one line
//! `hint: …`. One file per subcommand; `args` holds what they take, `output` how they print, `client` how they
//! reach a server. The contract is `docs/cli.md`.

mod args;
mod call;
mod check;
mod client;
mod command;
mod compare;
mod completions;
mod config;
mod configuration;
mod count_exactly;
mod diff;
mod doctor;
mod findings;
mod fixture;
mod formats;
mod hosts;
mod listed;
mod login;
mod logout;
mod losses;
mod man;
mod mcp;
mod output;
mod pairs;
mod prompts;
mod replay;
mod resources;
mod rules;
mod sample_server;
mod save_args;
mod screenshot;
mod server_request_args;
mod sessions;
mod show;
mod tap;
mod tools;
mod usage;
mod view;
mod window;
mod wrap;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use command::{Cli, Command};
use loupe_client::guard;
use loupe_core::problem::Problem;
use loupe_core::source::import::wrap::WrapKind;
use loupe_core::suggest;

/// How a command ended, where it did not fail: the exit status.
type Done = Result<u8, Problem>;

/// The whole program.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // The hidden command by which a child process is guarded; not for people, hence no part of `args`.
    if arguments
        .get(1)
        .is_some_and(|argument| argument == guard::COMMAND)
    {
        return guard::main(arguments.into_iter().skip(2).collect());
    }
    let (done, json) = match Cli::try_parse_from(&arguments) {
        Ok(cli) => (run(&cli), cli.wants_json()),
        Err(error) => match usage::problem(&error) {
            Some(problem) => (Err(problem), usage::wants_json(&arguments)),
            // `--help` and `--version` are answers; clap knows how they look.
            None => (output::quiet_pipe(error.print()).map(|()| 0), false),
        },
    };
    ExitCode::from(done.unwrap_or_else(|problem| fail(&problem, json)))
}

fn run(cli: &Cli) -> Done {
    output::known().add_inherited(std::env::vars_os());
    match &cli.command {
        None => window::run(&cli.window),
        Some(Command::Tools(args)) => tools::run(args),
        Some(Command::Resources(args)) => resources::run(args),
        Some(Command::Prompts(args)) => prompts::run(args),
        Some(Command::Call(args)) => call::run(args),
        Some(Command::Read(args)) => resources::read(args),
        Some(Command::Prompt(args)) => prompts::get(args),
        Some(Command::Compare(args)) => compare::run(args),
        Some(Command::Show(args)) => show::run(args),
        Some(Command::Diff(args)) => diff::run(args),
        Some(Command::Fixture(args)) => fixture::run(args),
        Some(Command::SampleServer(args)) => sample_server::run(args),
        Some(Command::Replay(args)) => replay::run(args),
        Some(Command::Mcp(args)) => mcp::run(args),
        Some(Command::Configuration(args)) => configuration::run(args),
        Some(Command::Wrap(args)) => wrap::run(WrapKind::Wrap, args),
        Some(Command::Unwrap(args)) => wrap::run(WrapKind::Unwrap, args),
        Some(Command::Check(args)) => check::run(args),
        Some(Command::Rules(args)) => rules::run(args),
        Some(Command::Screenshot(args)) => screenshot::run(args),
        Some(Command::Logout(args)) => logout::run(args),
        Some(Command::Formats(args)) => formats::run(args),
        Some(Command::Man(args)) => man::run(args),
        Some(Command::Tap(args)) => tap::run(args),
        Some(Command::Doctor(args)) => doctor::run(args),
        Some(Command::Sessions(args)) => sessions::run(args),
        Some(Command::Losses(args)) => losses::run(args),
        Some(Command::Hosts(args)) => hosts::run(args),
        Some(Command::Completions(args)) => completions::run(args),
    }
}

/// Prints a failure where nothing was captured (what was, its command has printed already); gives its exit status.
fn fail(problem: &Problem, json: bool) -> u8 {
    output::problem(problem);
    if json && let Err(unprinted) = output::json(&loupe_analysis::contract::error(problem)) {
        output::problem(&unprinted);
    }
    problem.kind.exit_status()
}
