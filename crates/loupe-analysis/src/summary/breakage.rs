//! What the records of a result break: in which format a value does not come back, is lost, looks different once
//! rendered, or cannot be written at all.

use crate::summary::{Summary, SummaryPart};
use loupe_core::format::ledger::Row;
use loupe_core::format::round_trip::RoundTrip;
use loupe_core::format::{self, FORMATS, Format};
use loupe_core::number::grouped;

/// What is wrong with one format, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Harm {
    Unwritten,
    Unreadable,
    Lost,
    Changed,
}

/// The sentence; `None` until every format that Loupe writes was measured. Of a result without data it says that.
pub fn breakage(rows: &[&Row]) -> Option<Summary> {
    let mut summary = Summary::default();
    let mut broken = Vec::new();
    let mut whole = Vec::new();
    for format in FORMATS.iter().filter(|format| !format.is_as_sent()) {
        let row = rows.iter().find(|row| row.format == format.id())?;
        match harm(row) {
            Some((harm, words)) => broken.push((harm, title(row), words)),
            None => whole.push(title(row)),
        }
    }
    let has_data = rows
        .iter()
        .any(|row| row.format == "json" && row.is_available());
    if !has_data {
        summary.plain("No data in this answer: no format to break.");
        return Some(summary);
    }
    broken.sort_by_key(|(harm, ..)| *harm);
    if broken.is_empty() {
        summary.plain("These records break no format: ");
    } else {
        summary.plain("These records break: ");
    }
    for (_, title, words) in broken {
        summary.parts.push(SummaryPart::Bad(title.to_owned()));
        summary.plain(format!(": {words}. "));
    }
    if !whole.is_empty() {
        summary.parts.push(SummaryPart::Good(whole.join(" · ")));
        summary.plain(if whole.len() == 1 {
            " gives every value back."
        } else {
            " give every value back."
        });
    }
    Some(summary)
}

fn title(row: &Row) -> &'static str {
    format::by_id(row.format).map_or(row.format, Format::title)
}

fn count_of(count: u64, one: &str, more: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { more })
}

fn harm(row: &Row) -> Option<(Harm, String)> {
    if let Some(why) = &row.why {
        return Some((Harm::Unwritten, format!("cannot be written ({why})")));
    }
    let mut words = Vec::new();
    let mut harms = Vec::new();
    if let Some(facts) = row.facts.filter(|facts| facts.missing > 0) {
        harms.push(Harm::Lost);
        words.push(format!(
            "loses {} of {} facts",
            grouped(facts.missing),
            grouped(facts.total)
        ));
    }
    if let Some(trip) = row
        .round_trip
        .as_ref()
        .filter(|trip| !trip.fidelity.is_lossless())
    {
        let (harm, message) = unlike(trip);
        harms.push(harm);
        words.push(message);
    }
    // What readers of YAML 1.1 take differently is the reader's; what is not seen of Markdown is the text's.
    if let Some(trip) = row
        .round_trip
        .as_ref()
        .filter(|_| row.format.starts_with("markdown"))
        && trip.elsewhere.count > 0
    {
        harms.push(Harm::Changed);
        let first = trip
            .elsewhere
            .first
            .first()
            .map_or_else(String::new, |first| format!(", first {}", first.path));
        words.push(format!(
            "{} different once rendered{first}",
            count_of(trip.elsewhere.count, "value looks", "values look")
        ));
    }
    Some((harms.into_iter().min()?, words.join(", ")))
}

/// What does not come back.
fn unlike(trip: &RoundTrip) -> (Harm, String) {
    if trip.fidelity == format::round_trip::Fidelity::Undecodable {
        let why = trip
            .note
            .as_ref()
            .map_or_else(String::new, |why| format!(" ({why})"));
        return (Harm::Unreadable, format!("cannot be read back{why}"));
    }
    (
        Harm::Changed,
        format!(
            "{} back different",
            count_of(trip.differences.count, "value comes", "values come")
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::capture::FactCount;
    use loupe_core::format::round_trip::{
        DifferenceKind, Differences, Fidelity as Proof, ValueChange,
    };

    fn rows() -> Vec<Row> {
        let trip = |summary| RoundTrip {
            fidelity: summary,
            keeps_facts: false,
            differences: Differences::default(),
            changes: Differences::default(),
            elsewhere: Differences::default(),
            note: None,
        };
        let row = |id| Row {
            format: id,
            facts: Some(FactCount {
                total: 9,
                proved: 9,
                ..FactCount::default()
            }),
            round_trip: Some(trip(Proof::Exact)),
            ..Row::default()
        };
        FORMATS.iter().map(|format| row(format.id())).collect()
    }

    fn of<'a>(rows: &'a mut [Row], id: &str) -> &'a mut Row {
        rows.iter_mut().find(|row| row.format == id).unwrap()
    }

    fn say(rows: &[Row]) -> Option<String> {
        breakage(&rows.iter().collect::<Vec<_>>()).map(|summary| summary.text())
    }

    #[test]
    fn the_worst_is_named_first_and_what_holds_is_named_too() {
        let mut rows = rows();
        assert!(
            say(&rows)
                .unwrap()
                .starts_with("These records break no format: JSON, compact · ")
        );
        of(&mut rows, "xml").why = Some("XML cannot hold the character U+001B at /a".into());
        let csv = of(&mut rows, "csv").round_trip.as_mut().unwrap();
        (csv.fidelity, csv.differences.count) = (Proof::Lossy, 88);
        of(&mut rows, "code-block").facts = Some(FactCount {
            total: 9,
            found: 7,
            missing: 2,
            ..FactCount::default()
        });
        let table = of(&mut rows, "markdown-table").round_trip.as_mut().unwrap();
        table.elsewhere.count = 1;
        table.elsewhere.first = vec![ValueChange {
            path: "/a".into(),
            kind: DifferenceKind::String,
            before: None,
            after: None,
        }];
        let message = say(&rows).unwrap();
        let begins = "These records break: XML: cannot be written (XML cannot hold the character U+001B at /a). Code block: loses 2 of 9 facts. CSV: 88 values come back different. Markdown table: 1 value looks different once rendered, first /a. JSON, compact · ";
        assert!(message.starts_with(begins), "{message}");
        assert!(message.ends_with(" give every value back."), "{message}");
    }

    #[test]
    fn it_waits_for_every_format_and_says_where_there_is_no_data() {
        let mut rows = rows();
        for row in &mut rows {
            row.why = Some("no data".into());
        }
        assert_eq!(
            say(&rows).unwrap(),
            "No data in this answer: no format to break."
        );
        rows.pop();
        assert_eq!(say(&rows), None);
    }
}
