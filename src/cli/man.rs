//! `man`: the manual pages, made from the same list as the help. Hidden: packages bring them along.

use std::path::PathBuf;

use clap::CommandFactory;

use super::Done;
use super::args::Cli;
use crate::problem::{Problem, ProblemKind};

/// Where the pages go: `mcp-loupe.1`, and one for each subcommand.
#[derive(clap::Args, Debug)]
pub struct ManArgs {
    /// A folder that is there
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

pub fn run(args: &ManArgs) -> Done {
    clap_mangen::generate_to(Cli::command(), &args.dir).map_err(|error| {
        Problem::new(ProblemKind::Io, format!("the manual pages cannot be written: {error}")).at(args.dir.display().to_string())
    })?;
    Ok(0)
}
