//! `sessions ID --transcript`: what the host gave its model, by its own transcript, against Loupe's rule.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::{SessionsArgs, file_of};
use crate::cli::client::computing;
use crate::cli::output::{self, columns, one_line};
use crate::cli::{Done, hosts};
use crate::store;
use loupe_analysis::contract::{self, TranscriptRead};
use loupe_analysis::queries::{
    SessionCalls, TranscriptInput, TranscriptOutcome, TranscriptReport, compare_transcript,
};
use loupe_core::host::Hosts;
use loupe_core::number::number_of;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_tap::sessions;
use loupe_tap::transcripts::{self, TRANSCRIPT_HOSTS, TranscriptHost};

/// Calls that are shown with both texts.
const SHOWN: usize = 20;

/// The session's host, and where its transcripts are.
fn place(
    args: &SessionsArgs,
    calls: &SessionCalls,
    all: &Hosts,
    path: Option<&Path>,
) -> Result<(&'static TranscriptHost, PathBuf), Problem> {
    let known = || {
        let names: Vec<_> = TRANSCRIPT_HOSTS.iter().map(|host| host.id).collect();
        format!("known are those of {}", names.join(", "))
    };
    let host = match &args.host {
        Some(id) => {
            let id = hosts::known(all, id, "--host")?.id;
            transcripts::host_by_id(id.as_str())
        }
        None => transcripts::host_of(&calls.client),
    };
    let host = host.ok_or_else(|| {
        let client = match calls.client.as_str() {
            "" => "the session's host, which does not name itself,".to_owned(),
            client => format!("`{client}`"),
        };
        Problem::new(
            ProblemKind::NotFound,
            format!("{client} keeps no transcript that Loupe can read"),
        )
        .hint(known())
    })?;
    match path.map(Path::to_owned).or_else(|| host.folder()) {
        Some(path) => Ok((host, path)),
        None => {
            let problem = Problem::new(
                ProblemKind::NotFound,
                format!("no folder with transcripts of {} is known", host.name),
            );
            Err(match host.export {
                Some(export) => {
                    problem.hint(format!("`{export}` writes one; then --transcript FILE"))
                }
                None => problem.hint("give --transcript PATH"),
            })
        }
    }
}

pub(super) fn run(
    args: &SessionsArgs,
    folder: &Path,
    session: &str,
    calls: &SessionCalls,
    all: &Hosts,
    path: Option<&Path>,
) -> Done {
    let (host, path) = place(args, calls, all, path)?;
    let record = file_of(folder, session)?;
    let info = record
        .parent()
        .and_then(|folder| sessions::read(folder).ok())
        .ok_or_else(|| {
            Problem::new(
                ProblemKind::Usage,
                "no recorded session, so its time is not known",
            )
            .at(session.to_owned())
        })?;
    let shown = path.display().to_string();
    output::note(false, &format!("reads {shown}"));
    let found = host.read(&path, sessions::time_span(&info))?;
    // The day, by the machine's clock.
    let today = time::OffsetDateTime::now_utc().date().to_string();
    let report = computing(|cancel| {
        let input = TranscriptInput {
            session: calls,
            name: &info.name,
            given: &found.calls,
            hosts: all,
            today: &today,
        };
        compare_transcript(&input, cancel).map_err(|_| Problem::interrupted())
    })?;
    let confirmed = report.confirmed(&found.versions, &calls.client_version, &today);
    if let Some(confirmed) = &confirmed {
        store::keep_confirmed(args.data.data_dir.as_deref(), confirmed)?;
    }
    let read = TranscriptRead {
        report: &report,
        path: &shown,
        files: found.files.len(),
        versions: &found.versions,
        is_version_known: host.knows(&found.versions),
        confirmed: confirmed.as_ref(),
    };
    if args.print.json {
        output::json(&contract::transcript(&read))?;
    } else {
        output::page(&page(&read, host))?;
    }
    Ok(u8::from(report.differing() > 0))
}

fn join_versions(versions: &BTreeSet<String>) -> String {
    let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
    versions.join(", ")
}

fn page(read: &TranscriptRead<'_>, host: &TranscriptHost) -> String {
    let report = read.report;
    let mut page = format!(
        "{} {}\n\n",
        host.name,
        match read.versions.is_empty() {
            true => "(its transcripts do not name its version)".to_owned(),
            false => join_versions(read.versions),
        }
    );
    let head = ["CALL", "TOOL", "IN THE TRANSCRIPT", "OUTCOME"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for call in &report.calls {
        let outcome = match &call.outcome {
            TranscriptOutcome::RuleUnknown(why) => format!("rule unknown: {why}"),
            outcome => outcome.title().to_owned(),
        };
        rows.push(vec![
            call.number.to_string(),
            one_line(&call.tool),
            call.given_name
                .as_deref()
                .map_or_else(String::new, one_line),
            one_line(&outcome),
        ]);
    }
    page.push_str(&columns(&rows, &[0]));
    page.push('\n');
    page.push_str(&differences(report));
    if !read.is_version_known {
        // Writing into a String cannot fail.
        writeln!(
            page,
            "Transcripts of version {} were not read before: what they hold may mean something else.",
            join_versions(read.versions)
        )
        .ok();
    }
    let files = number_of(read.files as u64, "transcripts");
    let summary = match read.confirmed {
        Some(confirmed) => confirmed.words(),
        None => report.summary(),
    };
    page.push_str(&format!(
        "{summary} ({files} of this time in {})\n",
        one_line(read.path)
    ));
    page
}

/// A text on one line, white space and control characters made visible.
fn quoted(text: &str) -> String {
    one_line(&loupe_core::json::write::string(text))
}

/// Both texts where they differ, and the entry that would give them.
fn differences(report: &TranscriptReport) -> String {
    let mut page = String::new();
    let differing: Vec<_> = report
        .calls
        .iter()
        .filter_map(|call| match &call.outcome {
            TranscriptOutcome::Differs(pair) => Some((call, pair)),
            _ => None,
        })
        .collect();
    for (call, pair) in differing.iter().take(SHOWN) {
        let [rule, given] = pair.around();
        page.push_str(&format!(
            "Call {}, {}: first difference at byte {} of {}\n  rule        {}\n  transcript  {}\n",
            call.number,
            one_line(&call.tool),
            pair.at[1],
            pair.given.len(),
            quoted(&rule),
            quoted(&given)
        ));
    }
    if differing.len() > SHOWN {
        page.push_str(&format!(
            "{} more: `--json` has all.\n",
            differing.len() - SHOWN
        ));
    }
    match &report.change {
        Some(change) => page.push_str(&format!(
            "\nA rule that gives every text: {}. For your own hosts.toml:\n\n{}\n",
            change.keys.join(", "),
            change.toml
        )),
        None if !differing.is_empty() => page.push_str(
            "\nNo other `select`, `json` or limit of this host's rule gives every text, so no entry is offered.\n\n",
        ),
        None => {}
    }
    page
}
