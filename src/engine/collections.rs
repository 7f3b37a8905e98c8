//! Collections for the window: opened, added to, their answers counted, their runs written and read again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use tokio::runtime::Runtime;

use super::expanded;
use super::queue::Queue;
use super::work;
use crate::analysis;
use crate::cancel::Cancel;
use crate::capture::Capture;
use crate::fixture::collection::{CollectedCall, Collection, with_calls};
use crate::fixture::fill;
use crate::fixture::redact::{RedactOptions, redact};
use crate::fixture::run::{PreviousRun, RunCall};
use crate::host::Hosts;
use crate::problem::{Problem, ProblemKind};
use crate::source::LEFT_OUT;
use crate::state::collection::{CollectionEffect, CollectionEvent};
use crate::state::{Event, ExportEvent};
use crate::store;

/// No more of a file is taken for a collection or a run: thousands of calls.
const MOST: u64 = 16 << 20;

pub(super) fn execute(
    runtime: &Runtime,
    effect: CollectionEffect,
    options: RedactOptions,
    (queue, hosts): (Arc<Queue>, Arc<Hosts>),
) {
    let awaited = match &effect {
        CollectionEffect::Measure { run, at, .. } => Some((*run, *at)),
        _ => None,
    };
    let failed = move |problem| match awaited {
        Some((run, at)) => Event::Collection(CollectionEvent::Measured { run, at, call: Err(problem) }),
        None => Event::Problem(problem),
    };
    let sink = Arc::clone(&queue);
    work::blocking(runtime.handle(), &queue, failed, move || sink.push(work(effect, &options, &hosts).unwrap_or_else(failed)));
}

fn work(effect: CollectionEffect, options: &RedactOptions, hosts: &Hosts) -> Result<Event, Problem> {
    Ok(Event::Collection(match effect {
        CollectionEffect::Open(path) => {
            let path = expanded(path);
            let collection = Collection::parse(&text(&path)?, &path.display().to_string())?;
            CollectionEvent::Opened { path, collection: Arc::new(collection) }
        }
        CollectionEffect::ReadRun(path) => {
            let path = expanded(path);
            let before = PreviousRun::parse(text(&path)?.as_bytes(), &path.display().to_string())?;
            CollectionEvent::RunRead { path, before }
        }
        CollectionEffect::SaveRun { text, path } => {
            let path = expanded(path);
            store::write_whole(&path, text.as_bytes())?;
            return Ok(Event::Export(ExportEvent::Saved(path)));
        }
        CollectionEffect::SaveCalls { captures, path } => save(&captures, expanded(path), options)?,
        CollectionEffect::Measure { run, at, call, capture } => {
            let cancel = Cancel::new();
            let called_off = |_| Problem::new(ProblemKind::Cancelled, "the answer was not counted");
            let call = RunCall::measure(&call, &analysis::subject(capture), hosts, &cancel).map_err(called_off)?;
            CollectionEvent::Measured { run, at, call: Ok(call) }
        }
    }))
}

/// A collection where the file is one; `None` where it is something else to open.
pub(super) fn opened(path: &Path) -> Option<Event> {
    let is_named_so = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    let collection = is_named_so.then(|| text(path).ok())?.filter(|text| text.contains("loupe.collection/"))?;
    Some(match Collection::parse(&collection, &path.display().to_string()) {
        Ok(collection) => Event::Collection(CollectionEvent::Opened { path: path.to_owned(), collection: Arc::new(collection) }),
        Err(problem) => Event::Problem(problem),
    })
}

fn text(path: &Path) -> Result<String, Problem> {
    String::from_utf8(store::read_file(path, MOST)?)
        .map_err(|_| Problem::new(ProblemKind::Io, "the file is not UTF-8 text").at(path.display().to_string()))
}

/// Adds calls, all to one server, to the collection at the path.
fn save(captures: &[Arc<Capture>], path: PathBuf, options: &RedactOptions) -> Result<CollectionEvent, Problem> {
    let mut hidden = 0;
    let mut source = None;
    let mut calls = Vec::new();
    for capture in captures {
        // The answer is not written, so it need not be looked through.
        let asked = Capture { request: Bytes::new(), response: None, messages: Vec::new(), ..(**capture).clone() };
        let asked =
            redact(&asked, options, &Cancel::new()).map_err(|_| Problem::new(ProblemKind::Cancelled, "not written"))?.capture;
        let (arguments, left) = fill::collected(&asked);
        hidden += left;
        // What was read from a file has no server.
        source = (asked.server.transport != "file").then(|| with_placeholders(&asked.server.source)).flatten();
        let tool = asked.tool.name;
        let arguments = String::from_utf8_lossy(&arguments).into_owned();
        calls.push(CollectedCall { name: tool.clone(), tool, arguments, budgets: Vec::new() });
    }
    let text = with_more(&path, source.as_deref(), calls)?;
    store::write_whole(&path, text.as_bytes())?;
    Ok(CollectionEvent::CallsSaved { path, calls: captures.len(), hidden })
}

/// The collection at a path, which is that of their server or is not there yet, with more calls.
fn with_more(path: &Path, source: Option<&str>, calls: Vec<CollectedCall>) -> Result<String, Problem> {
    let place = path.display().to_string();
    let existing = if path.exists() { Some(text(path)?) } else { None };
    let named = existing.as_ref().map(|existing| Collection::parse(existing, &place)).transpose()?.and_then(|there| there.source);
    if let Some(named) = named.filter(|named| source.is_some_and(|source| source != named)) {
        let what = format!("this collection belongs to another server: {named}");
        return Err(Problem::new(ProblemKind::Usage, what).at(place).hint("choose another file: a collection is of one server"));
    }
    with_calls(existing.as_deref(), &place, source, calls)
}

/// A source as captures have it, with `${NAME}` in place of the values of variables and headers, which they leave out.
/// `None` where anything else is left out, so that the server cannot be reached by it.
fn with_placeholders(source: &str) -> Option<String> {
    let mut words = shell_words::split(source).ok().filter(|words| !words.is_empty())?;
    let command = words.iter().position(|word| word == "--").unwrap_or(words.len());
    for at in 1..command {
        let between = match words[at - 1].as_str() {
            "--env" => "=",
            "--header" => ": ",
            _ => continue,
        };
        if let Some(name) = words[at].strip_suffix(LEFT_OUT).and_then(|word| word.strip_suffix(between)) {
            let variable: String =
                name.chars().map(|char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' }).collect();
            // A variable of the command has its own name.
            let variable = if between == "=" { name.to_owned() } else { variable };
            words[at] = format!("{name}{between}${{{variable}}}");
        }
    }
    let is_whole = words.iter().all(|word| !word.contains(LEFT_OUT) && !word.contains("[hidden:"));
    is_whole.then(|| shell_words::join(&words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{CaptureId, Server, Tool};

    fn call(source: &str) -> Arc<Capture> {
        let server = Server { source: source.into(), transport: "stdio".into(), ..Server::default() };
        let tool = Tool::unlisted("a");
        Arc::new(Capture { tool, arguments: Bytes::from_static(b"{}"), ..Capture::empty(CaptureId(source.into()), server) })
    }

    #[test]
    fn a_collection_names_the_one_server_of_its_calls() {
        let folder = tempfile::tempdir().unwrap();
        let saved = |name: &str, sources: &[&str]| {
            let captures: Vec<_> = sources.iter().map(|source| call(source)).collect();
            save(&captures, folder.path().join(name), &RedactOptions::default())
        };
        let source = |name: &str| Collection::parse(&text(&folder.path().join(name)).unwrap(), name).unwrap().source;
        saved("one.toml", &["--sample", "--sample"]).unwrap();
        assert_eq!(source("one.toml").as_deref(), Some("--sample"));
        saved("two.toml", &["--env 'A=…' -- node mine.js"]).unwrap();
        assert_eq!(source("two.toml").as_deref(), Some("--env 'A=${A}' -- node mine.js"));
        // What is there keeps its server, and takes calls of no other.
        let problem = saved("one.toml", &["-- node mine.js"]).unwrap_err();
        assert!(problem.what.starts_with("this collection belongs to another server: --sample"), "{problem}");
    }

    #[test]
    fn what_captures_leave_out_of_a_source_is_filled_from_the_environment() {
        let of = |source: &str| with_placeholders(source);
        assert_eq!(
            of("--url https://h/mcp --header 'X-Key: …'").as_deref(),
            Some("--url https://h/mcp --header 'X-Key: ${X_KEY}'")
        );
        assert_eq!(of("--clean-env -- x --env a").as_deref(), Some("--clean-env -- x --env a"));
        assert_eq!(of("--url 'https://me:…@h/mcp'"), None);
        assert_eq!(of("-- x --token '[hidden:argument]'"), None);
        assert_eq!(of(""), None);
    }
}
