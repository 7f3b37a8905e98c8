//! `call`: one call of one tool, and its answer.

use std::cell::LazyCell;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use time::OffsetDateTime;
use time::macros::format_description;

use super::args;
use super::client::{list_tools, with_session};
use super::near;
use super::view::Asked;
use super::written::KeepArgs;
use super::{Done, answers, hosts, output};
use crate::capture::{CaptureId, Tool};
use crate::host::Hosts;
use crate::json::Doc;
use crate::mcp;
use crate::problem::{Kind, Problem};
use crate::report::arguments::{self, Checked, check};
use crate::source::Source;
use crate::store;

pub fn run(args: &args::Call) -> Done {
    let hosts = LazyCell::new(|| hosts::load(&args.data));
    let identity = match args.as_host.as_deref() {
        Some(id) => Some(identity(&hosts, id, &answers::answering(&args.link.answers, true)?)?),
        None => None,
    };
    let asked = Asked::read(&args.view, || Arc::clone(&hosts))?;
    let source = args.source.required()?;
    let arguments = read_arguments(args.args.as_deref())?;
    let shown = Shown { asked: &asked, keep: Some((&args.keep, &args.data)) };
    call(&source, &args.tool, arguments, args.send_anyway, &args.link, identity, &shown)
}

/// What becomes of the answer: how it is printed, and whether it is kept.
pub struct Shown<'a> {
    pub asked: &'a Asked,
    pub keep: Option<(&'a KeepArgs, &'a args::Data)>,
}

/// How the host with this id names itself to a server.
fn identity(hosts: &Hosts, id: &str, answering: &mcp::Answering) -> Result<mcp::Identity, Problem> {
    let host = hosts::known(hosts, id, "--as-host")?;
    host.identity().ok_or_else(|| {
        let own = mcp::Identity::own(answering.capabilities()).says();
        Problem::new(Kind::Usage, format!("how {} names itself to a server is not known", host.name)).at("--as-host").hint(format!(
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
    link: &args::Link,
    identity: Option<mcp::Identity>,
    shown: &Shown<'_>,
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
            Ok(shown.keep.map_or(status, |(keep, data)| keep.keep(&capture, &link.known, data, quiet, status)))
        },
    )
}

/// The text of `--args`: JSON, `@FILE`, or `-` for standard input. Nothing of it is changed.
pub fn read_arguments(given: Option<&str>) -> Result<String, Problem> {
    let unreadable = |error: std::io::Error, place: &str| {
        Problem::new(Kind::Io, format!("cannot read the arguments: {error}"))
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
        output::warning(&Problem::new(Kind::Arguments, arguments::unchecked(tool, &why)));
    }
}

/// Whether the arguments may go out; why they could not be checked, if so. What is not JSON never may: the request around
/// it would not be JSON either.
pub fn refused_by(schema: Option<&Bytes>, arguments: &str, send_anyway: bool) -> Result<Option<String>, Problem> {
    let refuse = |what: String| Problem::new(Kind::Arguments, what);
    match check(schema, arguments) {
        Err((why, line, column)) => {
            let is_json = Doc::parse(Bytes::copy_from_slice(arguments.as_bytes())).is_json();
            if send_anyway && is_json {
                return Ok(None);
            }
            let place = format!("line {line}, column {column}");
            if is_json {
                return Err(refuse(why).at(place).hint("`--send-anyway` sends them all the same"));
            }
            Err(refuse(format!("arguments are not JSON: {why}"))
                .at(place)
                .hint("a JSON object, @FILE or -; in a shell, put it in single quotes"))
        }
        Ok(Checked { problems, unchecked }) => match problems.split_first() {
            Some(((pointer, message), rest)) if !send_anyway => {
                let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
                let place = if pointer.is_empty() { "the arguments as a whole" } else { pointer };
                Err(refuse(format!("arguments do not fit the schema: {message}{more}")).at(place).hint(
                    "`--args JSON` gives them, `tools --json` shows the schema, and `--send-anyway` sends them all the same",
                ))
            }
            _ => Ok(unchecked),
        },
    }
}

pub fn not_listed(name: &str, tools: &[Tool]) -> Problem {
    let hint = near::hint(name, tools.iter().map(|tool| tool.name.as_str()));
    let hint = hint.unwrap_or_else(|| "`mcp-loupe tools` lists the server's tools".to_owned());
    Problem::new(Kind::NotFound, "the server lists no such tool").at(name.to_owned()).hint(hint)
}

/// A name for the capture that is also a folder name everywhere.
pub fn capture_id(tool: &str) -> CaptureId {
    let safe: String = tool
        .chars()
        .take(80)
        .map(|char| if char.is_ascii_alphanumeric() || matches!(char, '-' | '_') { char } else { '_' })
        .collect();
    let format = format_description!("[year][month][day]T[hour][minute][second]Z");
    // Every field is there, so formatting cannot fail; a name without its time would still be one.
    let time = OffsetDateTime::now_utc().format(&format).unwrap_or_default();
    CaptureId(format!("{safe}-{time}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(arguments: &str, send_anyway: bool) -> String {
        let schema = Bytes::from_static(br#"{"properties":{"n":{"maximum":5}},"required":["m"]}"#);
        refused_by(Some(&schema), arguments, send_anyway).map_or_else(|problem| problem.message(), |_| "sent".to_owned())
    }

    #[test]
    fn arguments_are_refused_with_their_place() {
        assert_eq!(refused(r#"{"m":1,"n":5}"#, false), "sent");
        assert_eq!(
            refused(r#"{"m":1,"n":6}"#, false),
            "arguments do not fit the schema: 6 is greater than the maximum of 5 (/n)"
        );
        assert_eq!(refused(r#"{"n":6}"#, false), "arguments do not fit the schema: required, but missing, and 1 more (/m)");
        assert_eq!(refused(r#"{"n":6}"#, true), "sent");
        assert_eq!(refused("[]", false), "arguments are a JSON object, not an array (line 1, column 1)");
        assert_eq!(refused("[]", true), "sent");
        assert!(refused("{n:1}", true).starts_with("arguments are not JSON: "));
    }

    #[test]
    fn capture_names_are_safe() {
        assert!(capture_id("../a b").0.starts_with("___a_b-20"));
    }
}
