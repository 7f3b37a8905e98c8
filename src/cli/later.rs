//! What the contract names and is not built yet: recognised, so that nobody takes it for a typing mistake.

use crate::problem::{Problem, ProblemKind};

const COMMANDS: &[&str] = &["check", "rules"];

const OPTIONS: &[&str] = &["--profile", "--fail-on"];

const VIEWS: &[&str] = &["findings"];

/// `not available yet`, if `word` is a command or an option (with or without `=VALUE`) that is to come.
pub fn word(word: &str) -> Option<Problem> {
    let name = word.split('=').next().unwrap_or(word);
    (COMMANDS.contains(&name) || OPTIONS.contains(&name)).then(|| not_yet(name))
}

/// The same for a value of `--view`.
pub fn view(view: &str) -> Option<Problem> {
    VIEWS.contains(&view).then(|| not_yet(view))
}

/// The failure of everything that is to come.
pub fn not_yet(what: &str) -> Problem {
    Problem::new(ProblemKind::Usage, "not available yet").at(what)
}
