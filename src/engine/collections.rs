//! Collections for the window: opened, added to, their answers counted, their runs written and read again.

use crate::analysis;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use tokio::runtime::Runtime;

use super::expanded;
use super::queue::Queue;
use super::work;
use crate::cancel::Cancel;
use crate::capture::Capture;
use crate::fixture::collection::{CollectedCall, Collection, with_calls};
use crate::fixture::fill;
use crate::fixture::redact::{RedactOptions, redact};
use crate::fixture::run::{Before, RunCall};
use crate::host::Hosts;
use crate::problem::{Problem, ProblemKind};
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
    let told = Arc::clone(&queue);
    work::blocking(runtime.handle(), &queue, failed, move || told.push(work(effect, &options, &hosts).unwrap_or_else(failed)));
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
            let before = Before::parse(text(&path)?.as_bytes(), &path.display().to_string())?;
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

fn save(captures: &[Arc<Capture>], path: PathBuf, options: &RedactOptions) -> Result<CollectionEvent, Problem> {
    let place = path.display().to_string();
    let existing = if path.exists() { Some(text(&path)?) } else { None };
    let mut calls = Vec::with_capacity(captures.len());
    let mut hidden = 0;
    let mut sources = BTreeSet::new();
    for capture in captures {
        // The answer is not written, so it need not be looked through.
        let asked = Capture { request: Bytes::new(), response: None, messages: Vec::new(), ..(**capture).clone() };
        let asked =
            redact(&asked, options, &Cancel::new()).map_err(|_| Problem::new(ProblemKind::Cancelled, "not written"))?.capture;
        let (arguments, left) = fill::collected(&asked);
        hidden += left;
        // What was read from a file has no server.
        if asked.server.transport != "file" && !asked.server.source.is_empty() {
            sources.insert(asked.server.source);
        }
        let tool = asked.tool.name;
        let arguments = String::from_utf8_lossy(&arguments).into_owned();
        calls.push(CollectedCall { name: tool.clone(), tool, arguments, budgets: Vec::new() });
    }
    let count = calls.len();
    let named = match &existing {
        Some(existing) => Collection::parse(existing, &place)?.source,
        None => None,
    };
    let note = match &named {
        Some(named) if sources.iter().any(|source| source != named) => {
            Some(format!("the file names {named} as its server, and some of these calls were made to another"))
        }
        None if sources.len() > 1 => Some(format!("the calls were made to {} servers, so the file names none", sources.len())),
        _ => None,
    };
    // One whose values are left out cannot be reached by its text.
    let source = sources.first().filter(|source| sources.len() == 1 && !source.contains('…'));
    let written = with_calls(existing.as_deref(), &place, source.map(String::as_str), calls)?;
    store::write_whole(&path, written.as_bytes())?;
    Ok(CollectionEvent::CallsSaved { path, calls: count, hidden, note })
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
    fn a_collection_names_the_server_of_all_its_calls_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let saved = |name: &str, sources: &[&str]| {
            let path = folder.path().join(name);
            let captures: Vec<_> = sources.iter().map(|source| call(source)).collect();
            let Ok(CollectionEvent::CallsSaved { note, .. }) = save(&captures, path.clone(), &RedactOptions::default()) else {
                panic!("not saved")
            };
            let place = path.display().to_string();
            (Collection::parse(&text(&path).unwrap(), &place).unwrap().source, note.unwrap_or_default())
        };
        let sample = || Some("--sample".to_owned());
        assert_eq!(saved("one.toml", &["--sample", "--sample"]), (sample(), String::new()));
        let (source, note) = saved("two.toml", &["--sample", "-- node mine.js"]);
        assert_eq!((source, note.as_str()), (None, "the calls were made to 2 servers, so the file names none"));
        // What is there keeps its server; that these calls are of another is said.
        let (source, note) = saved("one.toml", &["-- node mine.js"]);
        assert!(source == sample() && note.starts_with("the file names --sample as its server"), "{note}");
    }
}
