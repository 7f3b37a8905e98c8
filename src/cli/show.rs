//! `show`: a capture, result, message, payload or text from a file, in the same views.

use std::io::Read;
use std::path::Path;

use bytes::Bytes;

use super::view::Asked;
use super::{Done, args, hosts, near};
use crate::cancel::Cancel;
use crate::problem::{Kind, Problem};
use crate::store::{self, ReadAs};

pub fn run(args: &args::Show) -> Done {
    let asked = Asked::read(&args.view, hosts::load(&args.data))?;
    let kind = args.read_as.as_deref().map(read_as).transpose()?;
    let capture = if args.path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| Problem::new(Kind::Io, format!("cannot read: {error}")).at("standard input"))?;
        store::read_bytes(&Bytes::from(bytes), "stdin", kind)?
    } else {
        store::read_as(&args.path, kind)?
    };
    // Nothing waits here but our own computing; an interrupt ends the program as the system does.
    asked.print(capture, &Cancel::new())
}

fn read_as(name: &str) -> Result<ReadAs, Problem> {
    ReadAs::parse(name).ok_or_else(|| {
        let names: Vec<&str> = ReadAs::ALL.iter().map(|(_, name)| *name).collect();
        let hint = near::hint(name, names.iter().copied()).unwrap_or_else(|| format!("one of {}", names.join(", ")));
        Problem::new(Kind::Usage, format!("unknown kind `{name}`")).at("--read-as").hint(hint)
    })
}
