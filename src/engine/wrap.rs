//! A client's configuration with `mcp-loupe tap` in it: the change computed, and written once it was shown.

use std::path::PathBuf;

use crate::state::PreparedWrap;
use crate::store::ClientConfig;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::redact::SecretList;
use loupe_core::source::import::wrap::{self, WrapKind};

/// The absolute path of this program, which entries start.
///
/// # Errors
/// The system does not say it.
pub fn own_program() -> Result<String, Problem> {
    let path = std::env::current_exe().ok();
    path.and_then(|path| path.to_str().map(str::to_owned))
        .ok_or_else(|| {
            Problem::new(
                ProblemKind::Internal,
                "the path of this program is not known",
            )
        })
}

/// Computes what would be written; its secrets are hidden where it is shown.
pub(super) fn prepare(
    kind: WrapKind,
    path: PathBuf,
    server: String,
) -> Result<PreparedWrap, Problem> {
    let config = ClientConfig::read(&path)?;
    let named = path.to_string_lossy();
    let edit = wrap::edit(kind, &named, config.text(), Some(&server), &own_program()?)?;
    if edit.changed.is_empty() {
        return Err(Problem::new(ProblemKind::Usage, edit.skipped.join("; ")).at(named));
    }
    let known = SecretList::default();
    for text in [config.text(), &edit.text] {
        for (name, value) in wrap::secrets(&named, text) {
            known.add("config", &name, &value);
        }
    }
    let difference = wrap::difference(config.text(), &edit.text, &named);
    let mut notes = Vec::new();
    if config.is_versioned() {
        notes.push("The file is in a folder under version control: others may get this change, with a path of this computer in it.".to_owned());
    }
    if kind == WrapKind::Wrap && !edit.remote.is_empty() {
        notes.push("A login that the client did itself is not passed on.".to_owned());
    }
    let difference = known
        .words(&difference)
        .lines()
        .map(str::to_owned)
        .collect();
    Ok(PreparedWrap {
        kind,
        server,
        before: config.text().to_owned(),
        after: edit.text,
        difference,
        backup: config.backup(),
        notes,
        path,
    })
}

/// Writes what was shown.
pub(super) fn write(prepared: &PreparedWrap) -> Result<(), Problem> {
    ClientConfig::with_text(&prepared.path, &prepared.before)?
        .write(&prepared.after)
        .map(drop)
}
