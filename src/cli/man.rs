//! `man`: the manual pages, made from the same list as the help. Hidden: packages bring them along.

use clap::CommandFactory;

use super::Done;
use super::command::{Cli, ManArgs};
use loupe_core::problem::{Problem, ProblemKind};

pub fn run(args: &ManArgs) -> Done {
    clap_mangen::generate_to(Cli::command(), &args.dir).map_err(|error| {
        Problem::new(
            ProblemKind::Io,
            format!("the manual pages cannot be written: {error}"),
        )
        .at(args.dir.display().to_string())
    })?;
    Ok(0)
}
