//! `wrap` and `unwrap`: put `mcp-loupe tap` into a client's entry of a server, and take it out again.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;

use super::{Done, output};
use crate::engine;
use crate::store::ClientConfig;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::import;
use loupe_core::source::import::wrap::{self, WrapEdit, WrapKind};

/// Which server, and in which file.
#[derive(Args, Debug)]
pub struct WrapArgs {
    /// The server's name in the configuration
    #[arg(
        value_name = "NAME",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub name: Option<String>,
    /// Every server of the file
    #[arg(long, requires = "config")]
    pub all: bool,
    /// A client's configuration file [default: the one of this computer that has NAME]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Write without asking
    #[arg(long)]
    pub yes: bool,
    /// Print only errors on stderr
    #[arg(long)]
    pub quiet: bool,
}

pub fn run(kind: WrapKind, args: &WrapArgs) -> Done {
    let name = args.name.as_deref();
    let path = match (&args.config, name) {
        (Some(path), _) => path.clone(),
        (None, name) => find(name.unwrap_or_default())?,
    };
    let config = ClientConfig::read(&path)?;
    let program = engine::own_program()?;
    // The whole path says whose file it is: the one that was named, also where it is a link.
    let named = std::path::absolute(&path).unwrap_or(path);
    let named = named.to_string_lossy();
    let edit = wrap::edit(kind, &named, config.text(), name, &program)?;
    if edit.changed.is_empty() {
        let why = match edit.skipped.len() {
            0 => "the file lists no server\n".to_owned(),
            _ => format!("{}\n", edit.skipped.join("\n")),
        };
        output::page(&why)?;
        return Ok(0);
    }
    for why in &edit.skipped {
        output::note(args.quiet, why);
    }
    show(&config, &named, &edit)?;
    confirm(args.yes, &config)?;
    let backup = config.write(&edit.text)?;
    let done = match kind {
        WrapKind::Wrap => "Wrapped",
        WrapKind::Unwrap => "Unwrapped",
    };
    output::page(&format!(
        "{done}: {}\nWritten: {}\nBackup: {}\n",
        edit.changed.join(", "),
        config.path().display(),
        backup.display()
    ))?;
    output::note(
        args.quiet,
        "restart the client: it has the entry that it started with",
    );
    if kind == WrapKind::Wrap && !edit.remote.is_empty() {
        let words = format!(
            "a login that the client did itself is not passed on: {}",
            edit.remote.join(", ")
        );
        output::note(args.quiet, &words);
    }
    Ok(0)
}

/// Prints what would change, its secrets hidden, and who else would see it.
fn show(config: &ClientConfig, named: &str, edit: &WrapEdit) -> Result<(), Problem> {
    for text in [config.text(), &edit.text] {
        for (name, value) in wrap::secrets(named, text) {
            output::known().add("config", &name, &value);
        }
    }
    let place = config.path().display().to_string();
    let difference = wrap::difference(config.text(), &edit.text, &place);
    output::page(&output::known().words(&difference))?;
    if config.is_versioned() {
        let words = "the file is in a folder under version control: others may get this change, with a path of this computer in it";
        output::note(false, words);
    }
    Ok(())
}

/// # Errors
/// Nobody agreed.
fn confirm(yes: bool, config: &ClientConfig) -> Result<(), Problem> {
    let refused = |what: &str| {
        Err(Problem::new(ProblemKind::Consent, what)
            .at(config.path().display().to_string())
            .hint("`--yes` writes without asking"))
    };
    if yes {
        return Ok(());
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return refused("nothing was written: nobody can be asked");
    }
    let backup = config.backup();
    let backup = backup.file_name().unwrap_or_default().to_string_lossy();
    let question = format!("Write this, and keep the file as it is as {backup}? [y/N] ");
    if output::confirm(&question, &mut io::stdin().lock()) {
        Ok(())
    } else {
        refused("nothing was written")
    }
}

/// The one configuration of this computer that has a server of this name.
fn find(name: &str) -> Result<PathBuf, Problem> {
    let has_it = |path: &PathBuf| {
        let read = ClientConfig::read(path)
            .and_then(|config| import::read(&path.to_string_lossy(), config.text()));
        read.is_ok_and(|import| import.servers.iter().any(|server| server.name == name))
    };
    let mut found: Vec<_> = engine::find_configs()
        .into_iter()
        .map(|config| config.path)
        .filter(has_it)
        .collect();
    match (found.len(), found.pop()) {
        (1, Some(path)) => Ok(path),
        (0, _) | (_, None) => Err(Problem::new(
            ProblemKind::NotFound,
            format!("no client's configuration on this computer has a server `{name}`"),
        )
        .hint("name the file with `--config`")),
        (_, Some(last)) => {
            let files: Vec<_> = found
                .iter()
                .chain([&last])
                .map(|path| path.display().to_string())
                .collect();
            Err(Problem::new(
                ProblemKind::Usage,
                format!("`{name}` is in {} files", files.len()),
            )
            .hint(format!("name one with `--config`: {}", files.join(", "))))
        }
    }
}
