//! `formats`: every format that is built.

use super::output::{self, columns};
use super::{Done, command};
use loupe_analysis::contract;
use loupe_core::format::FORMATS;

pub fn run(args: &command::FormatsArgs) -> Done {
    if args.print.json {
        output::json(&contract::formats())?;
        return Ok(0);
    }
    let mut rows = vec![
        ["FORMAT", "TITLE", "WRITTEN BY"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for format in FORMATS {
        let writer = if format.is_as_sent() {
            "the server"
        } else {
            "Loupe, from the data"
        };
        rows.push(
            [format.id(), format.title(), writer]
                .map(str::to_owned)
                .to_vec(),
        );
    }
    output::page(&columns(&rows, &[]))?;
    Ok(0)
}
