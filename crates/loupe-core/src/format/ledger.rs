//! One row of the ledger: what a format costs and what it keeps.

use std::convert::Infallible;
use std::ops::Range;

use bytes::Bytes;

use super::claim::{Claim, OmittedText};
use super::round_trip::{self, RoundTrip};
use super::{FORMATS, Format, ParsedCapture, Sink, WriteError};
use crate::cancel::Cancel;
use crate::capture::{BlockKind, FactCount, is_wrapped};
use crate::number::grouped;
use crate::parallel::{LONG_BYTES, join, parallel_map};
use crate::token::{Counter, Encoding, Tokens, image_tokens};

/// The numbers of one format; each is that of the exact bytes `--view FORMAT` prints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub format: &'static str,
    /// Why there are no numbers; `None` where the format applies.
    pub why: Option<String>,
    pub bytes: u64,
    /// Unicode scalar values.
    pub chars: u64,
    pub utf16: u64,
    pub tokens: Tokens,
    /// Facts of the data found in this format's text; `None` where there is no data.
    pub facts: Option<FactCount>,
    /// Whether it is `structuredContent` that is the text once more.
    pub is_twin: bool,
    /// What is part of the result and cannot be counted: "1 image", "2 audio clips". Only of what was sent.
    pub uncounted: Option<String>,
    /// What reading the text back gives; `None` where the question does not arise.
    pub round_trip: Option<RoundTrip>,
    /// What the result says besides the data, where this was written from the data or is the data alone; `None` where
    /// nothing is dropped.
    pub omitted: Option<OmittedText>,
    /// Whether it holds extra text itself: what is sent, next to the data.
    pub has_extra: bool,
}

/// Sizes of results whose formats are measured side by side. Of larger ones two texts at once would take the memory of two,
/// and each is counted on all cores.
const SIDE_BY_SIDE: Range<usize> = 128 << 10..2 << 20;

/// Why a number is not there of which the computing was broken off.
pub const INTERRUPTED: &str = "interrupted before it was computed";

/// Counts what passes; where it is read back, keeps it, and it is counted as a whole, once for all who write the same.
struct Measure {
    counter: Counter,
    kept: Option<Vec<u8>>,
}

impl Sink for Measure {
    fn push(&mut self, bytes: &[u8]) {
        match &mut self.kept {
            Some(kept) => kept.extend_from_slice(bytes),
            None => self.counter.push(bytes),
        }
    }
}

impl Row {
    pub fn is_available(&self) -> bool {
        self.why.is_none()
    }

    /// Whether it says all that the result says: every fact of the data, exact where it can be read back, and every text.
    pub fn loses_nothing(&self) -> bool {
        self.is_available() && Claim::of(self.facts, self.omitted) == Claim::Proved
    }

    /// What may be claimed of it against the data.
    pub fn claim(&self) -> Claim {
        Claim::of(self.facts, self.omitted).with_extra(self.has_extra)
    }

    /// One that was not reached: the caller cancelled.
    pub fn interrupted(format: &dyn Format) -> Self {
        Self {
            format: format.id(),
            why: Some(INTERRUPTED.to_owned()),
            ..Self::default()
        }
    }

    /// Whether it is one that was not reached.
    pub fn is_interrupted(&self) -> bool {
        self.why.as_deref() == Some(INTERRUPTED)
    }

    /// The tokens of one format alone; `None` where it has no text for this result.
    pub fn tokens_of(format: &dyn Format, subject: &ParsedCapture) -> Option<Tokens> {
        if format.applies(subject).is_err() {
            return None;
        }
        let mut measure = Measure {
            counter: Counter::new(),
            kept: Some(Vec::new()),
        };
        match format.write(subject, &mut measure) {
            Ok(()) => Some(
                subject
                    .cache
                    .counts(&measure.kept.unwrap_or_default())
                    .tokens,
            ),
            Err(WriteError(_)) => None,
        }
    }

    /// Measures one format; once, however often it is asked.
    pub fn measure(format: &dyn Format, subject: &ParsedCapture) -> Self {
        let measure = || Self::measure_now(format, subject);
        subject.cache.row(format.id(), measure)
    }

    /// Every format, in the order of the list. Those that were not reached when the caller cancelled say so.
    pub fn measure_all(subject: &ParsedCapture, cancel: &Cancel) -> Vec<Self> {
        let row = |format: &&'static dyn Format| {
            Ok::<_, Infallible>(match cancel.is_cancelled() {
                true => Self::interrupted(*format),
                false => Self::measure(*format, subject),
            })
        };
        let is_worth_it = SIDE_BY_SIDE.contains(&subject.capture.wire_len());
        let Ok(rows) = parallel_map(FORMATS, !is_worth_it, row);
        rows
    }

    fn measure_now(format: &dyn Format, subject: &ParsedCapture) -> Self {
        let is_whole = matches!(format.id(), "content" | "both");
        let uncounted = is_whole.then(|| describe_uncounted(subject)).flatten();
        let mut row = Self {
            format: format.id(),
            uncounted,
            ..Self::default()
        };
        if let Err(reason) = format.applies(subject) {
            row.why = Some(reason.0);
            return row;
        }
        let mut measure = Measure {
            counter: Counter::new(),
            kept: subject.compared_data().map(|_| Vec::new()),
        };
        if let Err(WriteError(why)) = format.write(subject, &mut measure) {
            row.why = Some(why);
            return row;
        }
        let kept = measure.kept.map(Bytes::from);
        let count = || match &kept {
            Some(kept) => subject.cache.counts(kept),
            None => measure.counter.finish(),
        };
        let prove = || {
            let (Some(data), Some(kept)) = (subject.compared_data(), &kept) else {
                return (None, None);
            };
            let round_trip = round_trip::prove(format, subject, kept);
            // A format whose own decoder gives back something else proves nothing.
            let is_lossy = |trip: &RoundTrip| !trip.fidelity.is_lossless() && !format.is_as_sent();
            let found = |told: FactCount| FactCount {
                proved: 0,
                found: told.told(),
                ..told
            };
            let facts = match &round_trip {
                // What decodes to the same value proves every fact, whatever its form.
                Some(trip) if trip.fidelity.is_lossless() => FactCount::all_proved(data),
                // Each comes back, so that none has to be searched for.
                Some(trip) if is_lossy(trip) && trip.keeps_facts => {
                    found(FactCount::all_proved(data))
                }
                trip => {
                    let facts = subject.count_facts(data, &String::from_utf8_lossy(kept));
                    match trip {
                        Some(trip) if is_lossy(trip) => found(facts),
                        _ => facts,
                    }
                }
            };
            (round_trip, Some(facts))
        };
        let is_short = kept.as_ref().is_none_or(|kept| kept.len() < LONG_BYTES);
        let (counts, (round_trip, facts)) = join(is_short, count, prove);
        (row.round_trip, row.facts) = (round_trip, facts);
        (row.bytes, row.chars, row.utf16, row.tokens) =
            (counts.bytes, counts.chars, counts.utf16, counts.tokens);
        row.is_twin = format.id() == "structured" && is_wrapped(&subject.response);
        let is_whole = row.is_twin || matches!(format.id(), "content" | "both" | "wire");
        row.has_extra =
            is_whole && subject.compared_data().is_some() && !subject.extra().pieces.is_empty();
        if !is_whole && subject.compared_data().is_some() && !subject.is_data_alone() {
            let extra = subject.extra();
            let omitted = OmittedText {
                bytes: extra.bytes,
                tokens: extra.tokens,
                blocks: extra.blocks as u64,
            };
            row.omitted = Some(omitted).filter(|omitted| omitted.bytes + omitted.blocks > 0);
        }
        row
    }
}

/// What the images cost, where the size of all of them is known: " (85 to 1,105 tok in Claude and GPT-4o)".
fn describe_cost(subject: &ParsedCapture) -> String {
    let blocks = &subject.response.blocks;
    let images = (0..blocks.len()).filter(|at| blocks[*at].kind == BlockKind::Image);
    let cost = |at: usize| {
        let (width, height) = subject.response.image_size(at)?;
        Some(image_tokens(width, height))
    };
    let sum = images.map(cost).try_fold((0, 0), |sum, cost| {
        let (least, most) = cost?;
        Some((sum.0 + least, sum.1 + most))
    });
    sum.map_or_else(String::new, |(least, most)| {
        format!(
            " ({} to {} tok in Claude and GPT-4o)",
            grouped(least),
            grouped(most)
        )
    })
}

/// Blocks that are no text and so not in `content`: media, which no tokenizer of text can count, and what hosts each
/// make something else of.
fn describe_uncounted(subject: &ParsedCapture) -> Option<String> {
    let of = |kind: BlockKind, one: &str, more: &str| {
        let count = subject
            .response
            .blocks
            .iter()
            .filter(|block| block.kind == kind)
            .count();
        match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {more}")),
        }
    };
    let found = [
        of(BlockKind::Image, "image", "images").map(|images| images + &describe_cost(subject)),
        of(BlockKind::Audio, "audio clip", "audio clips"),
        of(
            BlockKind::Resource,
            "embedded resource",
            "embedded resources",
        ),
        of(BlockKind::ResourceLink, "link", "links"),
        of(
            BlockKind::Unknown,
            "block of unknown type",
            "blocks of unknown type",
        ),
    ];
    let found: Vec<_> = found.into_iter().flatten().collect();
    let (last, rest) = found.split_last()?;
    Some(if rest.is_empty() {
        last.clone()
    } else {
        format!("{} and {last}", rest.join(", "))
    })
}

/// Tokens of a row over those of the baseline; `None` where either is missing or the baseline is empty.
pub fn ratio(row: &Row, baseline: &Row, encoding: Encoding) -> Option<f64> {
    let under = baseline.tokens.get(encoding);
    // Token counts are far below 2^53.
    (row.is_available() && baseline.is_available() && under > 0)
        .then(|| row.tokens.get(encoding) as f64 / under as f64)
}

/// `json`, or `content` where there is no data.
pub fn default_baseline(rows: &[&Row]) -> &'static str {
    let has_json = rows
        .iter()
        .any(|row| row.format == "json" && row.is_available());
    if has_json { "json" } else { "content" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{by_id, tests::subject};

    #[test]
    fn rows_measure_what_is_printed() {
        let subject = subject(
            r#"{"content":[{"type":"text","text":"Ünï 😀: 1,234"}],"structuredContent":{"n":1234}}"#,
        );
        let row = |id: &str| Row::measure(by_id(id).unwrap(), &subject);
        let content = row("content");
        assert_eq!((content.bytes, content.chars, content.utf16), (17, 12, 13));
        assert_eq!(
            content.facts,
            Some(FactCount {
                total: 1,
                found: 1,
                ..FactCount::default()
            })
        );
        assert!(
            content.omitted.is_none() && row("json").omitted.is_some(),
            "the label is no key of the data"
        );
        assert_eq!(
            [content.claim(), row("json").claim()],
            [Claim::Found, Claim::ProvedWithExtra]
        );
        assert_eq!(row("csv").why.as_deref(), Some("no list of records in it"));
        let rows: Vec<Row> = FORMATS.iter().map(|format| row(format.id())).collect();
        let rows: Vec<&Row> = rows.iter().collect();
        assert_eq!(default_baseline(&rows), "json");
        assert_eq!(default_baseline(&rows[..4]), "content");
        assert_eq!(ratio(rows[4], rows[4], Encoding::O200kBase), Some(1.0));
        assert_eq!(ratio(rows[10], rows[4], Encoding::O200kBase), None);
    }

    #[test]
    fn what_cannot_be_counted_is_named() {
        let subject = subject(
            r#"{"content":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"},
               {"type":"image","data":"aGk="},{"type":"audio","data":"aGk="}]}"#,
        );
        let row = |id: &str| Row::measure(by_id(id).unwrap(), &subject);
        assert_eq!(
            row("content").uncounted.as_deref(),
            Some("2 images and 1 audio clip")
        );
        assert_eq!(row("wire").uncounted, None);
    }

    #[test]
    fn images_of_known_size_say_what_they_cost() {
        let image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        let block = format!(r#"{{"type":"image","data":"{image}"}}"#);
        let uncounted = |more: &str| {
            let result =
                format!(r#"{{"content":[{{"type":"text","text":"a"}},{block},{block}{more}]}}"#);
            Row::measure(by_id("content").unwrap(), &subject(&result)).uncounted
        };
        assert_eq!(
            uncounted("").as_deref(),
            Some("2 images (2 to 510 tok in Claude and GPT-4o)")
        );
        // A range that leaves one out would be false.
        assert_eq!(
            uncounted(r#",{"type":"image","data":"aGk="}"#).as_deref(),
            Some("3 images")
        );
    }

    #[test]
    fn what_is_written_from_the_data_may_leave_out_what_the_text_says() {
        let leaves_out = |result: &str| {
            let row = Row::measure(by_id("json").unwrap(), &subject(result));
            assert!(
                row.facts.is_some_and(|facts| facts.missing == 0),
                "{result}"
            );
            !row.loses_nothing()
        };
        let block = |text: &str| {
            format!(
                r#"{{"type":"text","text":{}}}"#,
                crate::json::write::string(text)
            )
        };
        let texts = |texts: &[&str]| {
            format!(
                r#"{{"content":[{}]}}"#,
                texts
                    .iter()
                    .map(|text| block(text))
                    .collect::<Vec<_>>()
                    .join(",")
            )
        };
        assert!(!leaves_out(&texts(&[r#"{"a": 1}"#])));
        assert!(
            !leaves_out(&texts(&[r#"{"id":1}"#, r#"{"id":2}"#, r#"{"id":3}"#])),
            "all blocks are the data"
        );
        assert!(leaves_out(&texts(&[r#"{"id":1}"#, "and more"])));
        assert!(leaves_out(&texts(&[
            "Rain until 17:40.\n\n```json\n{\"temp\":4}\n```\n"
        ])));
        assert!(leaves_out(
            r#"{"content":[{"type":"text","text":"{\"a\": 2}"}],"structuredContent":{"a":1}}"#
        ));
        assert!(!leaves_out(
            r#"{"content":[{"type":"text","text":"{\"a\": 1}"}],"structuredContent":{"a":1}}"#
        ));
        assert!(!leaves_out(r#"{"content":[],"structuredContent":{"a":1}}"#));
        assert!(leaves_out(
            r#"{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}],"structuredContent":{"a":1}}"#
        ));
        assert!(leaves_out(
            r#"{"content":[{"type":"text","text":"3 issues: #101 Crash"}],"structuredContent":{"count":3}}"#
        ));
    }
}
