//! Reading a file of hosts: all of it, or a problem that names the line and the field.

use serde::Deserialize;

use super::rules::{Host, LimitUnit};
use crate::problem::{Problem, ProblemKind, plain_toml};

#[derive(Deserialize)]
enum Schema {
    #[serde(rename = "loupe.hosts/1")]
    One,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: Schema,
    checked: Option<String>,
    host: Vec<Host>,
}

/// The rules of definitions that may have evidence of their own.
const RULE_KEYS: &[&str] = &[
    "name",
    "name_option",
    "namespace",
    "name_charset",
    "name_replace",
    "name_max",
    "name_over",
    "name_bad",
    "name_same",
    "name_kept",
    "prefix_max",
    "pages",
    "tools_max",
    "tools_over",
    "description",
    "description_max",
    "description_fallback",
    "description_missing",
    "title",
    "output_schema",
    "annotations",
    "input_schema",
    "input_schema_max",
    "input_ref",
    "output_ref",
    "boolean_schema",
    "instructions",
    "instructions_passed",
    "instructions_max",
    "visibility",
    "loading",
];

/// The hosts of a file and the day it was checked.
///
/// # Errors
/// The first thing that is wrong, with its line and field.
pub fn file(text: &str, place: &str) -> Result<(Vec<Host>, String), Problem> {
    let File {
        schema: Schema::One,
        checked,
        host: hosts,
    } = toml::from_str(text).map_err(|error| {
        wrong(
            text,
            place,
            &plain_toml(error.message()),
            error.span().map(|span| span.start),
        )
    })?;
    for (position, host) in hosts.iter().enumerate() {
        let at = nth_host(text, position);
        let refuse = |what: &str| Err(wrong(text, place, what, Some(at)));
        if hosts[..position].iter().any(|before| before.id == host.id) {
            return refuse(&format!("a second host `{}`", host.id));
        }
        if host
            .client
            .as_ref()
            .is_some_and(|client| client.discover && client.protocol.is_none())
        {
            return refuse(&format!(
                "`discover` of `{}` says nothing without `protocol`, what it proposes after it",
                host.id
            ));
        }
        if is_no_day(&host.checked) {
            return refuse(&format!(
                "`checked` of `{}` is not a day such as 2026-01-31",
                host.id
            ));
        }
        for (key, known) in &host.definition.evidence {
            if !RULE_KEYS.contains(&key.as_str()) {
                return refuse(&format!(
                    "`{key}` in the evidence of `{}` is no rule of a definition",
                    host.id
                ));
            }
            if is_no_day(&known.checked) {
                return refuse(&format!(
                    "`checked` of `{key}` of `{}` is not a day such as 2026-01-31",
                    host.id
                ));
            }
        }
        for limit in &host.limit {
            if limit.max == 0 && limit.max_note.is_none() {
                return refuse(&format!(
                    "a limit of `{}` has max = 0 and no max_note",
                    host.id
                ));
            }
            let is_by_line = limit.unit == LimitUnit::CharsPerLine;
            if is_by_line != (limit.applies == super::rules::Applies::Line) {
                return refuse(&format!(
                    "unit = \"chars-per-line\" and applies = \"line\" belong together, in `{}`",
                    host.id
                ));
            }
        }
    }
    let newest = hosts.iter().map(|host| host.checked.clone()).max();
    Ok((hosts, checked.or(newest).unwrap_or_default()))
}

fn is_no_day(day: &str) -> bool {
    let parts: Vec<&str> = day.split('-').collect();
    let widths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    widths != [4, 2, 2]
        || !parts
            .iter()
            .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Where the table of the host at this position begins.
fn nth_host(text: &str, position: usize) -> usize {
    let mut at = 0;
    let mut left = position + 1;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("[[host]]") {
            left -= 1;
            if left == 0 {
                return at;
            }
        }
        at += line.len();
    }
    0
}

fn wrong(text: &str, place: &str, what: &str, at: Option<usize>) -> Problem {
    let place = match at {
        None => place.to_owned(),
        Some(at) => {
            let before = text.get(..at).unwrap_or(text);
            let number = before.matches('\n').count() + 1;
            let line = text.lines().nth(number - 1).unwrap_or_default().trim();
            let field = line.split('=').next().unwrap_or_default().trim();
            if field.is_empty() || field.starts_with('#') {
                format!("{place}, line {number}")
            } else {
                format!("{place}, line {number}, `{field}`")
            }
        }
    };
    let what = what.trim_end().replace('\n', "; ");
    Problem::new(
        ProblemKind::Usage,
        format!("the hosts file is not used: {what}"),
    )
    .at(place)
    .hint("the words are explained in docs/hosts.md; the built-in hosts stay as they are")
}
