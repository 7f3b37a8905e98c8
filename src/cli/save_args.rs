//! What every command that writes captures takes and says: what is hidden, the preview, the history. Nothing of the command
//! line reaches a file but through here.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use clap::Args;

use super::args::LinkArgs;
use super::output::{self, columns, one_line};
use crate::store::{self, History};
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, Tool};
use loupe_core::number::{grouped, number_of};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::redact::{OFFERED, RedactOptions, RedactedCapture, redact, redact_document};

/// What is hidden in what is written.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What is written")]
pub struct WriteArgs {
    /// List files and possible secrets; write nothing
    #[arg(long)]
    pub preview: bool,
    /// Hide nothing: write every byte as it was sent and came
    #[arg(long, conflicts_with_all = ["hide", "leave"])]
    pub no_redact: bool,
    /// Hide these as well: email, home-path
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub hide: Vec<String>,
    /// Leave a kind that would be hidden, as `--preview` names it
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub leave: Vec<String>,
}

/// Whether captures go into the history.
#[derive(Args, Clone, Debug, Default)]
pub struct KeepArgs {
    /// Save the result in the history, secrets hidden
    #[arg(long)]
    pub keep: bool,
    /// With --keep: hide nothing
    #[arg(long, requires = "keep")]
    pub no_redact: bool,
}

/// Puts back and clears away what programs that ended left there, and says so.
pub fn recover(path: &Path, quiet: bool) {
    store::recover(path)
        .notes()
        .iter()
        .for_each(|note| output::note(quiet, note));
}

impl WriteArgs {
    /// Whether what was given can be done.
    pub fn check(&self) -> Result<(), Problem> {
        if let Some(word) = self
            .hide
            .iter()
            .find(|word| !OFFERED.contains(&word.as_str()))
        {
            return Err(
                Problem::new(ProblemKind::Usage, format!("unknown kind `{word}`"))
                    .at("--hide")
                    .hint(format!(
                        "one of {}; the other kinds are hidden by default",
                        OFFERED.join(", ")
                    )),
            );
        }
        Ok(())
    }

    /// What to hide, with what is known by now.
    pub fn options(&self) -> Result<RedactOptions, Problem> {
        self.check()?;
        Ok(RedactOptions {
            secrets: output::known().secrets(),
            also: self.hide.iter().cloned().collect(),
            keep: self.leave.iter().cloned().collect(),
        })
    }

    /// The capture as it is to be written.
    pub fn prepare(
        &self,
        capture: &Capture,
        options: &RedactOptions,
    ) -> Result<RedactedCapture, Problem> {
        if self.no_redact {
            return Ok(RedactedCapture {
                capture: capture.clone(),
                found: Vec::new(),
            });
        }
        redact(capture, options, &Cancel::new()).map_err(|_| Problem::interrupted())
    }
}

/// Writes a text for others, without what is known: a report, a saved state.
pub fn document(path: &Path, text: &str) -> Result<(), Problem> {
    file(path, output::hidden_document(text).as_bytes())
}

/// Writes a state that is saved to be compared with: as a capture is written, without what looks secret either.
pub fn state(path: &Path, json: &str) -> Result<(), Problem> {
    file(path, &redacted(&Bytes::copy_from_slice(json.as_bytes()))?)
}

/// A tool as [`state`] writes its definition.
pub fn definition(tool: &Arc<Tool>) -> Result<Arc<Tool>, Problem> {
    let raw = redacted(&tool.raw)?;
    if raw == tool.raw {
        return Ok(Arc::clone(tool));
    }
    Ok(Arc::new(Tool {
        name: tool.name.clone(),
        ..Tool::read(raw)
    }))
}

fn redacted(json: &Bytes) -> Result<Bytes, Problem> {
    let options = RedactOptions {
        secrets: output::known().secrets(),
        ..RedactOptions::default()
    };
    redact_document(json, &options).map_err(|_| Problem::interrupted())
}

/// Writes what was made of a capture in which what is secret is hidden.
pub fn file(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    Ok(store::write_whole(path, bytes)?)
}

/// Opens a file for messages, each of which loses what is known before it is written.
pub fn stream(path: &Path) -> Result<File, Problem> {
    Ok(store::create_file(path)?)
}

/// Writes a capture in which what is secret is hidden, and files next to it.
pub fn folder(capture: &Capture, files: &[(&str, &[u8])], path: &Path) -> Result<(), Problem> {
    Ok(store::write_folder_with(capture, files, path)?)
}

/// The same over a folder that is there.
pub fn over_folder(capture: &Capture, files: &[(&str, &[u8])], path: &Path) -> Result<(), Problem> {
    Ok(store::replace_folder(capture, files, path)?)
}

/// What `--preview` prints.
pub fn preview(redacted: &RedactedCapture, files: &[(&str, &[u8])]) -> String {
    let mut page = String::from("would be written\n");
    let sizes = store::folder_files(&redacted.capture, 0)
        .into_iter()
        .map(|file| (file.name.to_owned(), file.bytes));
    let more = files
        .iter()
        .map(|(name, bytes)| ((*name).to_owned(), bytes.len() as u64));
    let rows: Vec<Vec<String>> = sizes
        .chain(more)
        .map(|(name, bytes)| vec![format!("  {name}"), number_of(bytes, "bytes")])
        .collect();
    page.push_str(&columns(&rows, &[1]));
    for (is_hidden, title) in [
        (true, "hidden"),
        (false, "left as it is (`--hide KIND` hides it)"),
    ] {
        let head = ["  WHAT", "WHERE", "TIMES", "BEGINS"]
            .map(str::to_owned)
            .to_vec();
        let mut rows = vec![head];
        for found in redacted
            .found
            .iter()
            .filter(|found| found.is_hidden == is_hidden)
        {
            let redaction = &found.redaction;
            rows.push(vec![
                format!("  {}", redaction.kind),
                one_line(&format!("{} {}", redaction.part, redaction.path)),
                grouped(redaction.count),
                one_line(&found.sample),
            ]);
        }
        if rows.len() > 1 {
            page.push_str(&format!("\n{title}\n{}", columns(&rows, &[2])));
        }
    }
    page.push_str(&format!("\n{}\n", redacted.exactness()));
    page
}

impl KeepArgs {
    /// Puts the capture into the history, where that was asked for; gives the exit status. The answer has been printed by
    /// now: a failure is said, and costs nothing else.
    pub fn keep(&self, capture: &Capture, link: &LinkArgs, quiet: bool, status: u8) -> u8 {
        if !self.keep {
            return status;
        }
        match self.try_keep(capture, link) {
            Ok(message) => {
                output::note(quiet, &message);
                status
            }
            Err(problem) => {
                output::problem(&problem);
                problem.kind.exit_status()
            }
        }
    }

    /// The same for several.
    pub fn keep_all(&self, captures: &[Capture], link: &LinkArgs, quiet: bool, status: u8) -> u8 {
        captures.iter().fold(status, |status, capture| {
            self.keep(capture, link, quiet, status)
        })
    }

    fn try_keep(&self, capture: &Capture, link: &LinkArgs) -> Result<String, Problem> {
        let folder = link
            .data
            .data_dir
            .clone()
            .or_else(store::data_folder)
            .ok_or_else(|| {
                Problem::new(ProblemKind::Io, "there is no folder for the history")
                    .hint("name one with `--data-dir DIR`")
            })?;
        let write = WriteArgs {
            no_redact: self.no_redact,
            ..WriteArgs::default()
        };
        let redacted = write.prepare(capture, &write.options()?)?;
        let history = History::at(&folder);
        let entry = history.add(&redacted.capture)?;
        Ok(format!(
            "kept as {} · {}",
            history.folder(&entry.id).display(),
            redacted.exactness()
        ))
    }
}
