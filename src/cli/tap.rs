//! `tap`: stands between a host and a server, passes every byte on, and records a copy.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::args::DataArgs;
use super::{Done, client, output};
use crate::store;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Command, Http, Source};
use loupe_tap::bridge::Bridge;
use loupe_tap::proxy::Proxy;
use loupe_tap::recorder::{RecordPlace, Recorder, SessionStart};
use loupe_tap::records::Records;

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
    /// The server's address: the host speaks to `tap` over stdio, or over HTTP with --listen
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub url: Option<String>,
    /// Listen for hosts over HTTP, such as 127.0.0.1:8932; port 0 takes any free port
    #[arg(
        long,
        value_name = "ADDR",
        requires = "url",
        conflicts_with = "command"
    )]
    pub listen: Option<SocketAddr>,
    /// Let --listen take an address that other machines reach
    #[arg(long, requires = "listen")]
    pub allow_remote: bool,
    /// A header whose value is in a variable, repeatable; words before the variable are sent before its value
    #[arg(
        long,
        value_name = "HEADER=[WORD ]VARIABLE",
        requires = "url",
        conflicts_with = "command"
    )]
    pub header_env: Vec<String>,
    /// The server's command
    #[arg(last = true, required_unless_present = "url", value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Runs until the server has ended; the status is the server's.
pub fn run(args: &TapArgs) -> Done {
    if let Some(url) = &args.url {
        return bridge(args, url);
    }
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

/// Where the session is recorded.
fn place(args: &TapArgs) -> Option<RecordPlace> {
    if let Some(file) = &args.as_log {
        return Some(RecordPlace::File(file.clone()));
    }
    let sessions = store::sessions_folder(args.data.data_dir.as_deref());
    if sessions.is_none() {
        output::note(
            false,
            "not recorded: no folder for data is known; give --data-dir DIR",
        );
    }
    sessions.map(RecordPlace::Sessions)
}

/// Runs until the host closes its end.
fn bridge(args: &TapArgs, url: &str) -> Done {
    let known = output::known();
    let headers = args.header_env.iter().map(|given| header(given));
    let headers: Vec<_> = headers.collect::<Result<_, _>>()?;
    let source = Source::Http(Http {
        url: url.to_owned(),
        ..Http::default()
    });
    known.add_source(&source);
    let host = url.split('/').nth(2).unwrap_or(url);
    let start = SessionStart {
        name: args.name.clone().unwrap_or_else(|| host.to_owned()),
        source: source.to_string(),
        started: time::OffsetDateTime::now_utc(),
    };
    let client = loupe_client::plain_client(url)?;
    let complain = |why: &str| output::note(false, why);
    if let Some(listen) = args.listen {
        let records = Records::new(place(args), start, known.clone(), complain);
        return proxy(args, url, |url| Proxy {
            url,
            headers,
            client,
            listen,
            records,
        });
    }
    let recorder = place(args).map(|place| Recorder::start(place, start, known.clone(), complain));
    let failed = |error: std::io::Error| Problem::new(ProblemKind::Io, error.to_string());
    client::runtime()?
        .block_on(loupe_tap::bridge::run(Bridge {
            url: url.to_owned(),
            headers,
            client,
            recorder,
        }))
        .map_err(failed)?;
    // A read of standard input may still block its thread.
    Ok(0)
}

/// Runs until it is told to end.
fn proxy(args: &TapArgs, url: &str, proxy: impl FnOnce(url::Url) -> Proxy) -> Done {
    let url = url::Url::parse(url)
        .map_err(|error| Problem::new(ProblemKind::Usage, error.to_string()).at("--url"))?;
    let proxy = proxy(url);
    let place = proxy.listen.to_string();
    if !proxy.listen.ip().is_loopback() && !args.allow_remote {
        let what = "other machines reach this address";
        return Err(Problem::new(ProblemKind::Usage, what)
            .at(place)
            .hint("listen at 127.0.0.1, or add --allow-remote"));
    }
    let failed = |error: std::io::Error| {
        Problem::new(ProblemKind::Io, format!("cannot serve: {error}"))
            .at(place)
            .hint("port 0 takes any free port")
    };
    let tell = |url: &str| output::note(false, &format!("listening at {url} until interrupted"));
    client::runtime()?
        .block_on(loupe_tap::proxy::run(proxy, tell))
        .map_err(failed)?;
    Ok(0)
}

/// `HEADER=VARIABLE`, and what that variable holds.
fn header(given: &str) -> Result<(String, String), Problem> {
    let wrong = |what: &str| {
        Problem::new(ProblemKind::Usage, what)
            .at(given.to_owned())
            .hint("such as `--header-env 'Authorization=Bearer API_KEY'`")
    };
    let (name, words) = given
        .split_once('=')
        .ok_or_else(|| wrong("not HEADER=VARIABLE"))?;
    let (before, variable) = words.rsplit_once(' ').unwrap_or(("", words));
    let value = std::env::var(variable)
        .map_err(|_| wrong(&format!("the variable {variable} is not set")))?;
    output::known().add("env", variable, &value);
    let value = match before {
        "" => value,
        before => format!("{before} {value}"),
    };
    Ok((name.to_owned(), value))
}

fn no_command() -> Problem {
    Problem::new(ProblemKind::Usage, "no command is given").hint("write it after `--`")
}

#[cfg(unix)]
fn start(args: &TapArgs, source: String) -> Done {
    let failed = |error: std::io::Error| {
        Problem::new(
            ProblemKind::Spawn,
            format!("the server was not started: {error}"),
        )
        .at(args.command[0].clone())
    };
    let record = place(args);
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
