//! Clients' configurations on this computer: where they lie, what they hold, and the values that fill them. Read only,
//! and only when the user asks.

use std::path::{Path, PathBuf};

use crate::state::FoundConfig;
use crate::store;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::import::{self, Import, PLACES, Placeholder};

/// Those that are there: the user's own, and those of the folder Loupe was started in.
pub fn look() -> Vec<FoundConfig> {
    let here = std::env::current_dir().ok();
    let mut found: Vec<FoundConfig> = Vec::new();
    for place in PLACES {
        let own = if cfg!(windows) {
            place.windows
        } else if cfg!(target_os = "macos") {
            place.macos
        } else {
            place.linux
        };
        let own = (!own.is_empty()).then(|| whole(own)).flatten();
        let project = here
            .as_ref()
            .filter(|_| !place.project.is_empty())
            .map(|here| here.join(place.project));
        for path in own.into_iter().chain(project).filter(|path| path.is_file()) {
            match found.iter_mut().find(|known| known.path == path) {
                Some(known) => known.client = format!("{}, {}", known.client, place.client),
                None => found.push(FoundConfig {
                    client: place.client.to_owned(),
                    path,
                }),
            }
        }
    }
    found
}

fn whole(place: &str) -> Option<PathBuf> {
    place_in(place, std::env::home_dir(), &|name| {
        std::env::var_os(name).map(PathBuf::from)
    })
}

/// A place's path. Where a variable says where settings are, `~/.config` is there (XDG base directories).
fn place_in(
    place: &str,
    home: Option<PathBuf>,
    variable: &dyn Fn(&str) -> Option<PathBuf>,
) -> Option<PathBuf> {
    if let Some(rest) = place.strip_prefix("%APPDATA%\\") {
        return Some(variable("APPDATA")?.join(rest));
    }
    let rest = place.strip_prefix("~/")?;
    let config = variable("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
    match rest.strip_prefix(".config/").zip(config) {
        Some((rest, config)) => Some(config.join(rest)),
        None => Some(home?.join(rest)),
    }
}

pub(super) fn read(path: &Path) -> Result<Import, Problem> {
    let place = path.display().to_string();
    let fail = |why: String| {
        Problem::new(ProblemKind::Io, format!("cannot read: {why}")).at(place.clone())
    };
    let hint = "choose a client's configuration";
    let text = store::file_text(path, store::MOST_OF_SETTINGS)
        .map_err(|error| fail(error.to_string()).hint(hint))?;
    import::read(&place, &text)
}

/// The values that this computer has for placeholders, by the placeholder as it is written.
pub(super) fn values(placeholders: &[Placeholder], file: Option<&Path>) -> Vec<(String, String)> {
    let value = |placeholder: &Placeholder| match placeholder {
        Placeholder::Variable { name, .. } => std::env::var(name).ok(),
        Placeholder::Input(_) => None,
        Placeholder::WorkspaceFolder => {
            file.map(|file| import::project(file).to_string_lossy().into_owned())
        }
        Placeholder::UserHome => {
            std::env::home_dir().map(|home| home.to_string_lossy().into_owned())
        }
        Placeholder::PathSeparator => Some(std::path::MAIN_SEPARATOR_STR.to_owned()),
    };
    placeholders
        .iter()
        .filter_map(|placeholder| Some((placeholder.to_string(), value(placeholder)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_where_the_variable_says() {
        let of = |place: &str, config: &str| {
            let variable = |name: &str| {
                (name == "XDG_CONFIG_HOME" && !config.is_empty()).then(|| PathBuf::from(config))
            };
            place_in(place, Some("/home/me".into()), &variable)
        };
        assert_eq!(
            of("~/.config/zed/settings.json", "/cfg"),
            Some("/cfg/zed/settings.json".into())
        );
        assert_eq!(
            of("~/.config/zed/settings.json", ""),
            Some("/home/me/.config/zed/settings.json".into())
        );
        assert_eq!(
            of("~/.config/zed/settings.json", "relative"),
            Some("/home/me/.config/zed/settings.json".into())
        );
        assert_eq!(
            of("~/.claude.json", "/cfg"),
            Some("/home/me/.claude.json".into())
        );
        assert_eq!(of("%APPDATA%\\Code\\mcp.json", "/cfg"), None);
    }
}
