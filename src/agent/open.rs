//! Opening the results that an agent names: files inside of the folders that it may see, and calls that it made.

use std::collections::VecDeque;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};

use super::Agent;
use crate::store;
use loupe_analysis::queries;
use loupe_core::capture::Capture;
use loupe_core::format::ParsedCapture;
use loupe_core::number::number_of;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::suggest;

/// A larger file or folder is not opened.
pub const MOST_BYTES: u64 = 64 << 20;
/// Calls that are kept, and their bytes; the newest always stays.
const KEPT: usize = 50;
const KEPT_BYTES: usize = 128 << 20;
/// How the name of a kept call begins.
const CALL: &str = "call:";
/// KeptResults of a file that are listed.
const LISTED: usize = 10;

/// A folder that may be seen.
pub struct Folder {
    /// As it was named, and where it is: they differ where a link leads to it.
    named: PathBuf,
    real: PathBuf,
}

impl Folder {
    /// # Errors
    /// It is not there, or is no folder.
    pub fn new(path: &Path) -> Result<Self, Problem> {
        let place = path.display().to_string();
        let unreadable = |error: std::io::Error| {
            Problem::new(ProblemKind::Io, format!("cannot open the folder: {error}"))
                .at(place.clone())
        };
        let real = fs::canonicalize(path).map_err(unreadable)?;
        if !real.is_dir() {
            return Err(Problem::new(ProblemKind::Io, "not a folder").at(place));
        }
        Ok(Self {
            named: std::path::absolute(path).map_err(unreadable)?,
            real,
        })
    }

    fn has(&self, path: &Path) -> bool {
        path.starts_with(&self.named) || path.starts_with(&self.real)
    }
}

/// The calls that were made, oldest first.
#[derive(Default)]
pub struct KeptResults {
    made: u64,
    kept: VecDeque<(u64, Arc<Capture>)>,
}

impl Agent {
    fn results(&self) -> MutexGuard<'_, KeptResults> {
        // Every change of it leaves it whole.
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a call; gives its name.
    pub fn keep(&self, capture: &Arc<Capture>) -> String {
        let mut results = self.results();
        results.made += 1;
        let number = results.made;
        results.kept.push_back((number, Arc::clone(capture)));
        let bytes = |results: &KeptResults| {
            results
                .kept
                .iter()
                .map(|(_, capture)| capture.wire_len())
                .sum::<usize>()
        };
        while results.kept.len() > 1 && (results.kept.len() > KEPT || bytes(&results) > KEPT_BYTES)
        {
            results.kept.pop_front();
        }
        format!("{CALL}{number}")
    }

    fn find_call(&self, number: &str) -> Result<Arc<Capture>, Problem> {
        let results = self.results();
        let known = number
            .parse()
            .ok()
            .and_then(|number: u64| results.kept.iter().find(|(known, _)| *known == number));
        let names: Vec<_> = results
            .kept
            .iter()
            .map(|(number, _)| format!("{CALL}{number}"))
            .collect();
        known
            .map(|(_, capture)| Arc::clone(capture))
            .ok_or_else(|| {
                let hint = match names.as_slice() {
                    [] => "no call was made yet; give the path of a saved result".to_owned(),
                    [first, .., last] => format!("the results {first} to {last} are kept"),
                    [only] => format!("only {only} is kept"),
                };
                Problem::new(ProblemKind::NotFound, "no such call is kept")
                    .at(format!("{CALL}{number}"))
                    .hint(hint)
            })
    }

    /// One result, ready for queries.
    ///
    /// # Errors
    /// It is not there, or may not be opened, or the file holds several.
    pub fn subject(&self, name: &str, nth: Option<usize>) -> Result<Arc<ParsedCapture>, Problem> {
        if let Some(number) = name.strip_prefix(CALL) {
            return Ok(queries::subject(self.find_call(number)?));
        }
        let path = self.place(name)?;
        let captures = store::read_all(&path, None)
            .map_err(|problem| folder_of_several(&path, name).unwrap_or(problem))?;
        Ok(queries::subject(Arc::new(chosen(captures, nth, name)?)))
    }

    /// Where a path leads, as far as an agent may see it. What is outside is refused alike whether it is there or not.
    ///
    /// # Errors
    /// It leads outside, is not there, or is too large.
    pub fn place(&self, name: &str) -> Result<PathBuf, Problem> {
        let first = self
            .folders
            .first()
            .map(|folder| folder.named.clone())
            .unwrap_or_default();
        let path = without_dots(&first.join(name));
        let outside = || {
            let folders: Vec<_> = self
                .folders
                .iter()
                .map(|folder| folder.named.display().to_string())
                .collect();
            Problem::new(
                ProblemKind::NotFound,
                "outside of the folders that may be seen",
            )
            .at(name)
            .hint(format!("give a path inside of {}", folders.join(" or ")))
        };
        let is_inside = |path: &Path| self.folders.iter().any(|folder| folder.has(path));
        if !is_inside(&path) {
            return Err(outside());
        }
        let real = fs::canonicalize(&path).map_err(|error| absent(&path, name, &error))?;
        let parts = match fs::read_dir(&real) {
            Ok(entries) => entries
                .filter_map(|entry| fs::canonicalize(entry.ok()?.path()).ok())
                .collect(),
            Err(_) => vec![real.clone()],
        };
        // A link in a capture's folder must not lead out of it either.
        if !is_inside(&real) || !parts.iter().all(|part| is_inside(part)) {
            return Err(outside());
        }
        let bytes: u64 = parts
            .iter()
            .filter_map(|part| fs::metadata(part).ok())
            .map(|data| data.len())
            .sum();
        if bytes > MOST_BYTES && real.is_file() {
            return Err(Problem::new(
                ProblemKind::Io,
                format!("it has more than {} MiB", MOST_BYTES >> 20),
            )
            .at(name)
            .hint("save fewer records of it in a file of their own"));
        }
        Ok(real)
    }
}

/// A path without `.` and `..`, whatever is there.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

fn absent(path: &Path, name: &str, error: &std::io::Error) -> Problem {
    let what = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        _ => format!("cannot open it: {error}"),
    };
    let problem = Problem::new(ProblemKind::NotFound, what).at(name);
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let siblings = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    let names: Vec<_> = siblings
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    match suggest::hint(&wanted, names.iter().map(String::as_str)) {
        Some(hint) => problem.hint(hint),
        None => problem.hint("give the path of a capture folder, or of a file with a result, a message, data or a text"),
    }
}

/// Where a folder is none of a capture but holds some, which ones.
fn folder_of_several(path: &Path, name: &str) -> Option<Problem> {
    let folders = store::find_folders(path).ok().filter(|_| path.is_dir())?;
    let names: Vec<_> = folders
        .iter()
        .filter(|folder| folder.as_path() != path)
        .take(LISTED)
        .filter_map(|folder| {
            Some(
                Path::new(name)
                    .join(folder.strip_prefix(path).ok()?)
                    .display()
                    .to_string(),
            )
        })
        .collect();
    let problem = Problem::new(
        ProblemKind::Usage,
        format!(
            "this folder holds {}, and is none itself",
            number_of(folders.len() as u64, "captures")
        ),
    )
    .at(name);
    (!names.is_empty()).then(|| problem.hint(format!("give one of them: {}", names.join(", "))))
}

/// The result that is asked for.
fn chosen(mut captures: Vec<Capture>, nth: Option<usize>, name: &str) -> Result<Capture, Problem> {
    let many = captures.len();
    match nth {
        None if many == 1 => Ok(captures.remove(0)),
        Some(nth) if (1..=many).contains(&nth) => Ok(captures.swap_remove(nth - 1)),
        _ => {
            let listed: Vec<_> = captures
                .iter()
                .take(LISTED)
                .enumerate()
                .map(|(at, capture)| {
                    format!(
                        "{} is {} ({})",
                        at + 1,
                        capture.tool.name,
                        capture.outcome.name()
                    )
                })
                .collect();
            Err(
                Problem::new(ProblemKind::Usage, format!("the file holds {many} results"))
                    .at(name)
                    .hint(format!("give `nth`, 1 to {many}: {}", listed.join(", "))),
            )
        }
    }
}
