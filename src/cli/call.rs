//! `call`: one call of one tool, and its answer.

use std::cell::LazyCell;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use time::OffsetDateTime;
use time::macros::format_description;

use super::args::{LinkArgs, SourceArgs, ViewArgs};
use super::client::{Client, with_session};
use super::save_args::KeepArgs;
use super::view::ViewRequest;
use super::{Done, hosts, output, server_request_args};
use crate::store;
use loupe_analysis::queries::arguments;
use loupe_analysis::queries::arguments::validate;
use loupe_core::capture::{Capture, CaptureId};
use loupe_core::host::Hosts;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::Source;

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
    pub fetch: FetchArgs,
}

/// How an answer is fetched, shown and kept.
#[derive(Args, Clone, Debug, Default)]
pub struct FetchArgs {
    #[command(flatten)]
    pub keep: KeepArgs,
    #[command(flatten)]
    pub view: ViewArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: LinkArgs,
}

impl FetchArgs {
    /// What is shown of the answer, read from the options.
    pub fn view_request(&self) -> Result<ViewRequest, Problem> {
        ViewRequest::read(&self.view, || hosts::load(&self.link.data))
    }

    /// Connects, does `work`, then prints and keeps the answer that it gives.
    pub fn show(
        &self,
        source: &Source,
        asked: &ViewRequest,
        work: impl AsyncFnOnce(&Client<'_>) -> Result<Capture, Problem>,
    ) -> Done {
        let quiet = asked.is_quiet();
        with_session(source, &self.link, quiet, work, |capture, cancel| {
            let status = asked.print(capture.clone(), cancel)?;
            Ok(self.keep.keep(&capture, &self.link, quiet, status))
        })
    }
}

pub fn run(args: &CallArgs) -> Done {
    // Read once: what is wrong with them is said.
    let hosts = LazyCell::new(|| hosts::load(&args.fetch.link.data));
    let mut fetch = args.fetch.clone();
    if let Some(id) = &args.as_host {
        fetch.link.identity = Some(identity(
            &hosts,
            id,
            &server_request_args::answering(&fetch.link.answers, true)?,
        )?);
    }
    let asked = ViewRequest::read(&fetch.view, || Arc::clone(&hosts))?;
    let source = fetch.source.required()?;
    call(
        &source,
        &args.tool,
        read_arguments(args.args.as_deref())?,
        args.send_anyway,
        &fetch,
        &asked,
    )
}

/// How the host with this id names itself to a server.
fn identity(
    hosts: &Hosts,
    id: &str,
    answering: &loupe_client::ClientCapabilities,
) -> Result<loupe_client::Identity, Problem> {
    let host = hosts::known(hosts, id, "--as-host")?;
    host.identity().ok_or_else(|| {
        let own = loupe_client::Identity::own(answering.capabilities()).says();
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
    fetch: &FetchArgs,
    asked: &ViewRequest,
) -> Done {
    // Found out before a server is started for nothing.
    validate(None, &arguments, send_anyway)?;
    // Done before the server has told its schema; nobody waits for it.
    std::thread::Builder::new().spawn(arguments::warm_up).ok();
    fetch.show(source, asked, async |client| {
        let tool = client.tool(name).await?;
        warn_unchecked(
            name,
            validate(tool.input_schema.as_ref(), &arguments, send_anyway)?,
        );
        Ok(client
            .call(
                &format!("calling {name}"),
                client.prepare(capture_id(name), &tool, arguments),
            )
            .await)
    })
}

/// The text of `--args`: JSON, `@FILE`, or `-` for standard input. Nothing of it is changed.
///
/// # Errors
/// They cannot be read.
pub fn read_arguments(given: Option<&str>) -> Result<String, Problem> {
    let arguments = arguments_text(given)?;
    output::known().add_arguments(&arguments);
    Ok(arguments)
}

fn arguments_text(given: Option<&str>) -> Result<String, Problem> {
    let unreadable = |error: std::io::Error, place: &str| {
        Problem::new(
            ProblemKind::Io,
            format!("cannot read the arguments: {error}"),
        )
        .at(place.to_owned())
        .hint("`--args` takes a JSON object, @FILE or - for standard input")
    };
    match given {
        None => Ok("{}".to_owned()),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .lock()
                .read_to_string(&mut text)
                .map_err(|error| unreadable(error, "standard input"))?;
            Ok(text)
        }
        Some(text) => match text.strip_prefix('@') {
            Some(path) => store::file_text(Path::new(path), store::MOST_OF_ANSWERS)
                .map_err(|error| unreadable(error, path)),
            None => Ok(text.to_owned()),
        },
    }
}

/// Says that the arguments of a tool go out without having been checked, and why.
pub fn warn_unchecked(tool: &str, unchecked: Option<String>) {
    if let Some(why) = unchecked {
        output::warning(&Problem::new(
            ProblemKind::Arguments,
            arguments::unchecked(tool, &why),
        ));
    }
}

/// A name for the capture that is also a folder name everywhere.
pub fn capture_id(tool: &str) -> CaptureId {
    let safe = |char: char| {
        if char.is_ascii_alphanumeric() || matches!(char, '-' | '_') {
            char
        } else {
            '_'
        }
    };
    let name: String = tool.chars().take(80).map(safe).collect();
    let format =
        format_description!("[year][month][day]T[hour][minute][second].[subsecond digits:6]Z");
    // Every field is there, so formatting cannot fail; a name without its time would still be one.
    let time = OffsetDateTime::now_utc()
        .format(&format)
        .unwrap_or_default();
    CaptureId(format!("{name}-{time}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capture_names_are_safe() {
        assert!(capture_id("../a b").0.starts_with("___a_b-20"));
    }

    #[test]
    fn captures_of_one_second_have_names_of_their_own() {
        let first = capture_id("t").0;
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert_ne!(first, capture_id("t").0);
    }
}
