//! `show`: a capture, result, message, data or text from a file, in the same views.

use std::io::Read;
use std::path::Path;

use bytes::Bytes;

use super::output::{self, columns, one_line};
use super::view::ViewRequest;
use super::{Done, client, command, hosts, suggest};
use crate::store::{self, ReadAs};
use loupe_core::capture::Capture;
use loupe_core::number::grouped;
use loupe_core::problem::{Problem, ProblemKind};

/// Characters of arguments in a list.
const MAX_ARGUMENTS: usize = 60;

pub fn run(args: &command::ShowArgs) -> Done {
    let asked = ViewRequest::read(&args.view, || hosts::load(&args.data))?;
    let kind = args.read_as.as_deref().map(read_as).transpose()?;
    let captures = if args.path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| {
                Problem::new(ProblemKind::Io, format!("cannot read: {error}")).at("standard input")
            })?;
        store::read_all_bytes(&Bytes::from(bytes), "stdin", kind)?
    } else {
        store::read_all(&args.path, kind)?
    };
    let capture = chosen(captures, args)?;
    client::computing(|cancel| asked.print(capture, cancel))
}

/// The capture that is asked for; where a file holds several and none is asked for, they are listed.
fn chosen(mut captures: Vec<Capture>, args: &command::ShowArgs) -> Result<Capture, Problem> {
    let many = captures.len();
    let several = || {
        let place = args.path.display().to_string();
        Problem::new(ProblemKind::Usage, format!("the file holds {many} answers")).at(place)
    };
    match args.nth {
        Some(nth) if (1..=many).contains(&nth) => Ok(captures.swap_remove(nth - 1)),
        Some(_) => Err(several().hint(format!("`--nth` is 1 to {many}"))),
        None if many > 1 => {
            if !args.view.print.json && args.view.view.is_none() && args.view.table.is_none() {
                output::page(&list(&captures))?;
            }
            Err(several().hint("choose one with `--nth N`"))
        }
        None => captures.pop().ok_or_else(several),
    }
}

fn list(captures: &[Capture]) -> String {
    let mut rows = vec![
        ["N", "TOOL", "ARGUMENTS", "OUTCOME", "BYTES"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (at, capture) in captures.iter().enumerate() {
        let arguments: String = String::from_utf8_lossy(&capture.arguments)
            .chars()
            .take(MAX_ARGUMENTS)
            .collect();
        rows.push(vec![
            (at + 1).to_string(),
            one_line(&capture.tool.name),
            one_line(&arguments),
            capture.outcome.name().to_owned(),
            grouped(capture.wire_len() as u64),
        ]);
    }
    columns(&rows, &[0, 4])
}

fn read_as(name: &str) -> Result<ReadAs, Problem> {
    ReadAs::parse(name).ok_or_else(|| {
        let names: Vec<&str> = ReadAs::ALL.iter().map(|kind| kind.name()).collect();
        let hint = suggest::hint(name, names.iter().copied())
            .unwrap_or_else(|| format!("one of {}", names.join(", ")));
        Problem::new(ProblemKind::Usage, format!("unknown kind `{name}`"))
            .at("--read-as")
            .hint(hint)
    })
}
