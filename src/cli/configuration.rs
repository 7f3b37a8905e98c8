//! `configuration`: a server as the lines of a client's configuration.

use clap::Args;

use super::args::SourceArgs;
use super::{Done, output};
use crate::source::import;

/// Which client, and which server.
#[derive(Args, Debug)]
pub struct ConfigurationArgs {
    /// The client, such as "Claude Code", "VS Code", Cursor or Codex
    #[arg(value_name = "CLIENT")]
    pub client: String,
    /// What the server is called there
    #[arg(long, value_name = "NAME", default_value = "mine")]
    pub name: String,
    /// Print only errors on stderr
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub source: SourceArgs,
}

pub fn run(args: &ConfigurationArgs) -> Done {
    let source = args.source.required()?;
    let written = import::write(&args.client, &args.name, &source)?;
    output::print(written.text.as_bytes())?;
    written.notes.iter().for_each(|note| output::note(args.quiet, note));
    Ok(0)
}
