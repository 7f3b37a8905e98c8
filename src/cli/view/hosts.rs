//! What every host's model is shown, as a table for people.

use std::collections::HashMap;

use crate::cli::output::{columns, one_line};
use loupe_analysis::queries::{HostLane, HostOutcome, HostRow, HostsReport, Placements};
use loupe_core::format::claim::facts_cell;
use loupe_core::host::OmittedPart;
use loupe_core::number::{grouped, number_of};
use loupe_core::token::Encoding;

/// Fields that are named of a host that loses more.
const FIELDS: usize = 6;

/// The summary, and a block of lines for each lane of hosts that see the same.
pub fn page(report: &HostsReport, encoding: Encoding) -> String {
    let mut page = String::new();
    // A host that was not reached might change the summary.
    if !report.is_interrupted() {
        page.push_str(&format!(
            "{}\n\n",
            one_line(&report.summary(encoding).text())
        ));
    }
    let has_media = report
        .rows
        .iter()
        .any(|row| row.media.shown + row.media.as_text + row.media.dropped > 0);
    let mut head = [
        "HOST",
        "NAME",
        "TOKENS",
        "BYTES",
        "FACTS",
        "LIMIT",
        "DEFINITION",
        "EVIDENCE",
    ]
    .map(str::to_owned)
    .to_vec();
    if has_media {
        head.push("MEDIA BYTES".to_owned());
    }
    let mut rows = vec![head];
    for (number, lane) in texts(report).enumerate() {
        for (position, row) in report.hosts_of(lane).enumerate() {
            let label = if position == 0 {
                format!("{}", number + 1)
            } else {
                "·".to_owned()
            };
            let mut cells = line(&label, row, encoding);
            if has_media {
                let media = [
                    (row.media.shown, "shown"),
                    (row.media.as_text, "as base64 text"),
                    (row.media.dropped, "dropped"),
                ];
                let some = media.iter().filter(|(bytes, _)| *bytes > 0);
                cells.push(
                    some.map(|(bytes, how)| format!("{} {how}", grouped(*bytes)))
                        .collect::<Vec<_>>()
                        .join(", "),
                );
            }
            rows.push(cells);
        }
    }
    page.push_str(&columns(&rows, &[2, 3, 6]));
    page.push_str(
        "\nHosts that begin with · see the same as the one above. Tokens are those of the texts; media are not counted.\n",
    );
    page.push_str(&lost(report));
    for row in report.sorted().filter(|row| !row.view.is_computable()) {
        let why = row.view.not_computable.as_deref().unwrap_or_default();
        page.push_str(&format!("no text for {}: {}\n", row.host.id, one_line(why)));
    }
    page
}

/// What hosts would make of the same data, sent in other ways.
pub fn placements(placements: &Placements, encoding: Encoding) -> String {
    format!(
        "If the same data were sent in another way: {}.\n\n{}",
        one_line(&placements.summary(encoding).text()),
        table(placements, encoding)
    )
}

/// The lanes with a text.
fn texts(report: &HostsReport) -> impl Iterator<Item = &HostLane> {
    report
        .lanes
        .iter()
        .filter(|lane| lane.outcome != HostOutcome::Unknown)
}

fn line(label: &str, row: &HostRow, encoding: Encoding) -> Vec<String> {
    let facts = row.facts.map_or_else(String::new, facts_cell);
    vec![
        format!("{label} {}", row.host.id),
        row.host.name.clone(),
        row.tokens
            .map_or_else(String::new, |tokens| grouped(tokens.get(encoding))),
        grouped(row.bytes),
        facts,
        row.limit_text(),
        row.definition_tokens
            .map_or_else(String::new, |tokens| grouped(tokens.get(encoding))),
        row.host.evidence.name().to_owned(),
    ]
}

/// What the lanes lose, once for each.
fn lost(report: &HostsReport) -> String {
    let mut out = String::new();
    for lane in texts(report) {
        let Some(row) = report.hosts_of(lane).next() else {
            continue;
        };
        let missing: Vec<String> = row
            .lost
            .iter()
            .filter(|field| field.missing > 0)
            .map(|field| {
                format!(
                    "{} ({} of {})",
                    field.path,
                    grouped(field.missing),
                    grouped(field.total)
                )
            })
            .collect();
        if !missing.is_empty() {
            let more = missing.len().saturating_sub(FIELDS);
            let rest = if more > 0 {
                format!(" and {}", number_of(more as u64, "more fields"))
            } else {
                String::new()
            };
            let named = missing
                .iter()
                .take(FIELDS)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ");
            out.push_str(&one_line(&format!("{} loses {named}{rest}", row.host.id)));
            out.push('\n');
        }
    }
    // Hosts of one text may have come to it in different ways.
    let mut dropped: Vec<(String, &str, Vec<&str>)> = Vec::new();
    let mut places: HashMap<(OmittedPart, &str), usize> = HashMap::new();
    for row in texts(report).flat_map(|lane| report.hosts_of(lane)) {
        for gone in row.view.dropped.iter() {
            let place = *places
                .entry((gone.what, &gone.why))
                .or_insert(dropped.len());
            if let Some((.., hosts)) = dropped.get_mut(place) {
                hosts.push(row.host.id.as_str());
                continue;
            }
            let what = match gone.what {
                OmittedPart::Block(index) => format!("block {index}"),
                OmittedPart::Structured => "structuredContent".to_owned(),
                OmittedPart::IsError => "isError".to_owned(),
            };
            dropped.push((what, &gone.why, vec![row.host.id.as_str()]));
        }
    }
    for (what, why, hosts) in dropped {
        out.push_str(&one_line(&format!(
            "{what} is not shown by {}: {why}",
            hosts.join(", ")
        )));
        out.push('\n');
    }
    out
}

fn table(placements: &Placements, encoding: Encoding) -> String {
    let head = [
        "PLACEMENT",
        "ALL FACTS IN",
        "FACTS LOST IN ALL",
        "TOKENS, MEDIAN HOST",
        "TEXT",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for row in &placements.rows {
        let (whole, known) = row.whole();
        let is_made = row.result.is_some();
        rows.push(vec![
            row.kind.title().to_owned(),
            if is_made {
                format!("{whole} of {known} hosts")
            } else {
                "–".to_owned()
            },
            if is_made {
                grouped(row.missing())
            } else {
                "–".to_owned()
            },
            row.median(encoding).map_or_else(|| "–".to_owned(), grouped),
            one_line(&row.note),
        ]);
    }
    columns(&rows, &[1, 2, 3])
}
