//! `call`: one call of one tool, and its answer.

use std::cell::LazyCell;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use clap::Args;
use time::OffsetDateTime;
use time::macros::format_description;

use super::args;
use super::args::{LinkArgs, SourceArgs, ViewArgs};
use super::client::{Interrupt, list_tools, with_session};
use super::suggest;
use super::view::ViewRequest;
use super::written::KeepArgs;
use super::{Done, answers, hosts, output};
use crate::analysis::arguments;
use crate::analysis::arguments::refused_by;
use crate::capture::{Capture, CaptureId, Outcome, Tool};
use crate::host::Hosts;
use crate::mcp::{self, Session};
use crate::problem::{Problem, ProblemKind};
use crate::source::Source;
use crate::store;

#[derive(Args, Debug)]
pub struct CallArgs {
    /// The tool's name
    #[arg(value_name = "TOOL")]
    pub tool: String,
    /// The arguments: a JSON object, @FILE, or - for standard input; sent exactly as written
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub args: Option<String>,
    /// Send arguments that break the tool's schema
    #[arg(long)]
    pub send_anyway: bool,
    /// Identify to the server as this host does, where that is known
    #[arg(long, value_name = "ID")]
    pub as_host: Option<String>,
    #[command(flatten)]
    pub keep: KeepArgs,
    #[command(flatten)]
    pub view: ViewArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: LinkArgs,
}

pub fn run(args: &CallArgs) -> Done {
    let hosts = LazyCell::new(|| hosts::load(&args.link.data));
    let identity = match args.as_host.as_deref() {
        Some(id) => Some(identity(&hosts, id, &answers::answering(&args.link.answers, true)?)?),
        None => None,
    };
    let asked = ViewRequest::read(&args.view, || Arc::clone(&hosts))?;
    let source = args.source.required()?;
    let arguments = read_arguments(args.args.as_deref())?;
    let shown = CallOutput { asked: &asked, keep: Some(&args.keep) };
    call(&source, &args.tool, arguments, args.send_anyway, &args.link, identity, &shown)
}

/// What becomes of the answer: how it is printed, and whether it is kept.
pub struct CallOutput<'a> {
    pub asked: &'a ViewRequest,
    pub keep: Option<&'a KeepArgs>,
}

/// How the host with this id names itself to a server.
fn identity(hosts: &Hosts, id: &str, answering: &mcp::ClientCapabilities) -> Result<mcp::Identity, Problem> {
    let host = hosts::known(hosts, id, "--as-host")?;
    host.identity().ok_or_else(|| {
        let own = mcp::Identity::own(answering.capabilities()).says();
        Problem::new(ProblemKind::Usage, format!("how {} names itself to a server is not known", host.name)).at("--as-host").hint(format!(
            "without it Loupe calls as itself ({own}); what {} sends can be put as [host.client] into a hosts.toml of your own, see docs/hosts.md",
            host.name
        ))
    })
}

/// Connects, calls, prints.
pub fn call(
    source: &Source,
    name: &str,
    arguments: String,
    send_anyway: bool,
    link: &args::LinkArgs,
    identity: Option<mcp::Identity>,
    shown: &CallOutput<'_>,
) -> Done {
    // Found out before a server is started for nothing.
    refused_by(None, &arguments, send_anyway)?;
    // Done before the server has told its schema; nobody waits for it.
    std::thread::Builder::new().spawn(arguments::warm_up).ok();
    let quiet = shown.asked.is_quiet();
    with_session(
        source,
        link,
        quiet,
        identity,
        async |session, interrupt| {
            let tools = list_tools(session, link, quiet, interrupt).await?.tools;
            let Some(tool) = tools.iter().find(|tool| tool.name == name) else { return Err(not_listed(name, &tools)) };
            warn_unchecked(name, refused_by(tool.input_schema.as_ref(), &arguments, send_anyway)?);
            let call = mcp::Call {
                id: capture_id(name),
                tool: tool.clone(),
                arguments: Bytes::from(arguments),
                limit: link.call_limit(),
            };
            if !quiet {
                output::progress(&format!("calling {name}"));
            }
            Ok(session.call(call, interrupt.call.clone()).await)
        },
        |capture, cancel| {
            let status = shown.asked.print(capture.clone(), cancel)?;
            Ok(shown.keep.map_or(status, |keep| keep.keep(&capture, link, quiet, status)))
        },
    )
}

/// Makes calls one after the other, each with what is said while it is out; `came` is told of each answer. What came
/// stays, whatever happens to a later call.
pub async fn make_calls(
    calls: impl Iterator<Item = (String, mcp::Call)>,
    session: &Session,
    interrupt: &Interrupt,
    quiet: bool,
    mut came: impl FnMut(usize, &Capture) -> Result<(), Problem>,
) -> Result<Vec<Capture>, Problem> {
    let mut captures = Vec::new();
    for (at, (message, call)) in calls.enumerate() {
        if !quiet {
            output::progress(&message);
        }
        let capture = session.call(call, interrupt.call.clone()).await;
        came(at, &capture)?;
        // Where the server went away or somebody lost patience, there is nobody left to call, or to call for.
        let is_over = matches!(capture.outcome, Outcome::Cancelled | Outcome::Disconnected);
        captures.push(capture);
        if is_over {
            break;
        }
    }
    Ok(captures)
}

/// The text of `--args`: JSON, `@FILE`, or `-` for standard input. Nothing of it is changed.
pub fn read_arguments(given: Option<&str>) -> Result<String, Problem> {
    let unreadable = |error: std::io::Error, place: &str| {
        Problem::new(ProblemKind::Io, format!("cannot read the arguments: {error}"))
            .at(place.to_owned())
            .hint("`--args` takes a JSON object, @FILE or - for standard input")
    };
    match given {
        None => Ok("{}".to_owned()),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text).map_err(|error| unreadable(error, "standard input"))?;
            Ok(text)
        }
        Some(text) => match text.strip_prefix('@') {
            Some(path) => store::file_text(Path::new(path), store::MOST_OF_ANSWERS).map_err(|error| unreadable(error, path)),
            None => Ok(text.to_owned()),
        },
    }
}

/// Says that the arguments of a tool go out without having been checked, and why.
pub fn warn_unchecked(tool: &str, unchecked: Option<String>) {
    if let Some(why) = unchecked {
        output::warning(&Problem::new(ProblemKind::Arguments, arguments::unchecked(tool, &why)));
    }
}

pub fn not_listed(name: &str, tools: &[Tool]) -> Problem {
    let hint = suggest::hint(name, tools.iter().map(|tool| tool.name.as_str()));
    let hint = hint.unwrap_or_else(|| "`mcp-loupe tools` lists the server's tools".to_owned());
    Problem::new(ProblemKind::NotFound, "the server lists no such tool").at(name.to_owned()).hint(hint)
}

/// A name as a folder's name everywhere.
pub fn folder_name(name: &str) -> String {
    let safe = |char: char| if char.is_ascii_alphanumeric() || matches!(char, '-' | '_') { char } else { '_' };
    name.chars().take(80).map(safe).collect()
}

/// A name for the capture that is also a folder name everywhere.
pub fn capture_id(tool: &str) -> CaptureId {
    let safe = folder_name(tool);
    let format = format_description!("[year][month][day]T[hour][minute][second]Z");
    // Every field is there, so formatting cannot fail; a name without its time would still be one.
    let time = OffsetDateTime::now_utc().format(&format).unwrap_or_default();
    CaptureId(format!("{safe}-{time}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capture_names_are_safe() {
        assert!(capture_id("../a b").0.starts_with("___a_b-20"));
    }
}
