//! `--config FILE --server NAME`: a server from any client's configuration, with the environment's values in it.

use std::path::Path;

use crate::store;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::Source;
use loupe_core::source::import::{self, Placeholder, ServerAddress};

/// Reads the file and fills the entry. `given` are the values of `--env`: those that a placeholder asks for fill it, the
/// others are added to the command's environment.
pub fn source(
    file: &Path,
    name: Option<&str>,
    given: &[(String, String)],
) -> Result<Source, Problem> {
    let place = file.to_string_lossy().into_owned();
    let unreadable =
        |why: String| Problem::new(ProblemKind::Io, format!("cannot read: {why}")).at(place);
    let bytes = store::file_bytes(file, store::MOST_OF_SETTINGS).map_err(|error| error.to_string());
    let text = bytes
        .and_then(|bytes| import::decode(&bytes))
        .map_err(unreadable)?;
    // The whole path says whose file it is.
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let import = import::read(&file.to_string_lossy(), &text)?;
    let mut entry = import.server(name)?.clone();

    let given_for = |name: &str| {
        given
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
    };
    let asked: Vec<String> = entry
        .placeholders()
        .iter()
        .filter_map(|placeholder| placeholder.name().map(str::to_owned))
        .collect();
    for (name, value) in given.iter().filter(|(name, _)| !asked.contains(name)) {
        if let ServerAddress::Remote { .. } = entry.reach {
            let hint = match &asked[..] {
                [] => "it asks for no value; leave `--env` out".to_owned(),
                asked => format!("it asks for {}", asked.join(", ")),
            };
            return Err(Problem::new(
                ProblemKind::Usage,
                format!(
                    "`{}` is reached at a URL, which has no variable `{name}`",
                    entry.name
                ),
            )
            .at("--env")
            .hint(hint));
        }
        entry.set_env(name, value);
    }
    entry.resolve(|placeholder| match placeholder {
        Placeholder::Variable { name, .. } => given_for(name)
            .or_else(|| entry.own_value(name))
            .or_else(|| std::env::var(name).ok()),
        Placeholder::Input(id) => given_for(id),
        Placeholder::WorkspaceFolder => Some(import::project(&file).to_string_lossy().into_owned()),
        Placeholder::UserHome => {
            std::env::home_dir().map(|home| home.to_string_lossy().into_owned())
        }
        Placeholder::PathSeparator => Some(std::path::MAIN_SEPARATOR_STR.to_owned()),
    })
}
