//! `configuration`: a server as the lines of a client's configuration.

use clap::Args;

use super::args::SourceArgs;
use super::{Done, output};
use loupe_core::redact::SecretList;
use loupe_core::source::secret::looks_secret;
use loupe_core::source::{Source, import};

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
    output::exactly(text_of(&written.text, &source).as_bytes())?;
    written
        .notes
        .iter()
        .for_each(|note| output::note(args.quiet, note));
    Ok(0)
}

/// The lines without what is secret in the source and still is in them. A variable whose name says nothing of a secret
/// is part of a configuration, and stays.
fn text_of(text: &str, source: &Source) -> String {
    let mut source = source.clone();
    if let Source::Command(command) = &mut source {
        command.env.retain(|(name, _)| looks_secret(name));
    }
    let known = SecretList::default();
    known.add_source(&source);
    known.add_inherited(std::env::vars_os());
    if text.starts_with('{') {
        known.json(text).into_owned()
    } else {
        known.page(text).into_owned()
    }
}
