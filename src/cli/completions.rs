//! `completions`: a completion script, made from the same list as the help.

use clap::CommandFactory;

use super::command::{Cli, CompletionsArgs};
use super::{Done, output};

pub fn run(args: &CompletionsArgs) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mcp-loupe", &mut script);
    output::exactly(&script)?;
    Ok(0)
}
