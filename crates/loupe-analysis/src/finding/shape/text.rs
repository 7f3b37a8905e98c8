//! How a text tells values: marks, labels, times, headings.

use std::collections::BTreeSet;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};

use super::{REWRITE_BYTES, label};
use crate::finding::CheckedResult;
use crate::finding::result::{clip, leaves, tokens};
use crate::finding::rule::Severity::{Error, Warning};
use crate::finding::rule::{Hits, RulePattern};
use crate::queries::{FixedResult, Parts};
use loupe_core::capture::ResultData;
use loupe_core::layout::{Line, line_from, lines, range_at, strip_marks};
use loupe_core::number::number_of;
use loupe_core::reader::label_and_value;

fn is_markdown(answer: &CheckedResult<'_>) -> bool {
    answer.json_text().is_none() && !answer.text.is_empty()
}

pub(crate) fn no_code_block(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let reader = answer
        .subject
        .data
        .as_ref()
        .and_then(ResultData::reader)
        .map(|reader| reader.id);
    if answer.is_success() && reader == Some("key-value") && !answer.text.contains("```") {
        hits.report("records without a fence")
            .at(answer.text_at(0..0));
    }
}

/// The fences that hold `Label: value` lines, each with its labels in order.
fn fenced_records(answer: &CheckedResult<'_>) -> Vec<(Range<usize>, Vec<String>)> {
    let text = answer.markdown_text();
    let is_fence = |event: &Event<'_>| matches!(event, Event::Start(Tag::CodeBlock(_)));
    let labels = |range: &Range<usize>| {
        let lines = text[range.clone()]
            .lines()
            .filter_map(|line| line.split_once(": "));
        lines
            .map(|(label, _)| label.trim().to_owned())
            .filter(|label| !label.is_empty() && label.len() <= 40)
            .collect::<Vec<_>>()
    };
    let fences = answer
        .markdown()
        .iter()
        .filter(|(event, _)| is_fence(event))
        .map(|(_, range)| range.clone());
    fences
        .map(|range| (range.clone(), labels(&range)))
        .filter(|(_, labels)| labels.len() > 1)
        .collect()
}

pub(crate) fn format_drift(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let records = fenced_records(answer);
    let Some((_, first)) = records.first() else {
        return;
    };
    for (range, labels) in &records[1..] {
        let at = |label: &String| first.iter().position(|other| other == label);
        let shared: Vec<usize> = labels.iter().filter_map(at).collect();
        // Records of another kind have other fields.
        if shared.len() * 2 < first.len() {
            continue;
        }
        let what = if let Some(label) = labels.iter().find(|label| at(label).is_none()) {
            format!("a record has `{label}`, the first has not")
        } else if let Some(label) = first.iter().find(|label| !labels.contains(label)) {
            format!("a record has no `{label}`, the first has")
        } else if !shared.is_sorted() {
            "a record has its fields in another order than the first".to_owned()
        } else {
            continue;
        };
        hits.report(what).at(answer.text_at(range.clone()));
    }
}

/// The values next to labels: `Label: value`, `- **Label**: value`, `| **Label** | value |`.
fn find_labels(answer: &CheckedResult<'_>) -> Vec<(String, Range<usize>)> {
    let of_line = |line: Line<'_>| {
        let cells = || {
            let cells: Vec<&str> = line.cells().map(|cell| strip_marks(cell.trim())).collect();
            match cells[..] {
                [name, value] if !name.is_empty() && !value.is_empty() => {
                    Some((name.trim_end_matches(':'), line.place_of(value)))
                }
                _ => None,
            }
        };
        let (name, place) = label_and_value(&line).or_else(cells)?;
        Some((name.to_lowercase(), place))
    };
    lines(answer.markdown_text()).filter_map(of_line).collect()
}

const INVENTED: [&str; 6] = ["$0.00", "0", "0.00", "false", "1970-01-01", "Jan 1, 1970"];

pub fn invented(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if !is_markdown(answer) {
        return;
    }
    let values = find_labels(answer);
    if let Some(data) = answer.structured_data() {
        // Keys that are null somewhere and a zero nowhere.
        let mut empty: BTreeSet<String> = BTreeSet::new();
        let mut given: BTreeSet<String> = BTreeSet::new();
        for leaf in leaves(data.root()) {
            let is_zero = || leaf.as_f64() == Some(0.0) || leaf.as_bool() == Some(false);
            if leaf.is_null() || is_zero() {
                let keys = if leaf.is_null() {
                    &mut empty
                } else {
                    &mut given
                };
                keys.insert(label(&leaf.key().unwrap_or_default()));
            }
        }
        for (name, place) in &values {
            let stated = &answer.text[place.clone()];
            if empty.contains(name) && !given.contains(name) && INVENTED.contains(&stated) {
                hits.report(format!(
                    "`{name}` is missing in the data, and the text says {stated}"
                ))
                .at(answer.text_at(place.clone()));
            }
        }
        return;
    }
    let marks = values
        .iter()
        .any(|(_, place)| &answer.text[place.clone()] == "N/A");
    for (name, place) in values
        .iter()
        .filter(|(_, place)| marks && &answer.text[place.clone()] == "$0.00")
    {
        hits.report(format!(
            "`{name}` is $0.00 where others are N/A: a missing value?"
        ))
        .at(answer.text_at(place.clone()))
        .as_severity(Warning);
    }
}

pub(crate) fn absence(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if !is_markdown(answer) {
        return;
    }
    let mut marks: BTreeSet<&str> = BTreeSet::new();
    for (_, place) in find_labels(answer) {
        let stated = &answer.text[place.clone()];
        if matches!(
            stated,
            "undefined" | "[object Object]" | "NaN" | "Invalid Date"
        ) {
            hits.report(format!("`{stated}` as a value"))
                .at(answer.text_at(place))
                .as_severity(Error);
        } else if matches!(stated, "N/A" | "null" | "None" | "—" | "n/a") {
            marks.insert(stated);
        }
    }
    if marks.len() > 1 {
        let all = marks.into_iter().collect::<Vec<_>>().join(", ");
        hits.report(format!("what is missing is marked as {all}"))
            .at(answer.text_at(0..0));
    }
}

pub(crate) fn is_emoji(char: char) -> bool {
    matches!(u32::from(char), 0x2600..=0x27bf | 0x1f000..=0x1faff | 0x2b00..=0x2bff | 0x2139)
}

pub(crate) fn emoji_heading(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let text = answer.markdown_text();
    let mut mended = String::new();
    let mut places: Vec<Range<usize>> = Vec::new();
    for (event, range) in answer.markdown() {
        if let Event::Start(Tag::Heading { .. }) = event {
            let heading = text[range.clone()].trim_end();
            if heading.contains(is_emoji) {
                let plain: String = heading
                    .chars()
                    .filter(|char| !is_emoji(*char) && *char != '\u{fe0f}')
                    .collect();
                let plain = plain.replace("  ", " ");
                mended.push_str(&text[places.last().map_or(0, |last| last.end)..range.start]);
                mended.push_str(&plain);
                places.push(range.start..range.start + heading.len());
            }
        }
    }
    let Some(last) = places.last() else { return };
    mended.push_str(&answer.text[last.end..]);
    let many = places.len();
    for (at, place) in places.into_iter().enumerate() {
        let hit = hits.report("emoji in a heading");
        hit.at(answer.text_at(place));
        if at + 1 == many {
            hit.set_fix(
                answer,
                Parts {
                    text: Some(std::mem::take(&mut mended)),
                    ..answer.parts().clone()
                },
            );
        }
    }
}

/// Values under a label `Status`, and cells of a column of that name.
fn statuses(answer: &CheckedResult<'_>) -> Vec<Range<usize>> {
    if !is_markdown(answer) {
        return Vec::new();
    }
    let text = answer.markdown_text();
    let mut found: Vec<_> = find_labels(answer)
        .into_iter()
        .filter(|(name, _)| name == "status" || name == "state")
        .map(|(_, place)| place)
        .collect();
    let (mut head, mut column, mut at) = (true, None, 0);
    for (event, range) in answer.markdown() {
        match event {
            Event::Start(Tag::Table(_)) => (head, column) = (true, None),
            Event::Start(Tag::TableRow | Tag::TableHead) => at = 0,
            Event::End(TagEnd::TableHead) => head = false,
            Event::Start(Tag::TableCell) => {
                let cell = text[range.clone()].trim_matches(['|', ' ']);
                if head && matches!(&*cell.to_lowercase(), "status" | "state") {
                    column = Some(at);
                } else if !head && column == Some(at) && !cell.is_empty() {
                    let start = range.start + text[range.clone()].find(cell).unwrap_or(0);
                    found.push(start..start + cell.len());
                }
                at += 1;
            }
            _ => {}
        }
    }
    found
}

pub(crate) fn emoji_only(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    for place in statuses(answer) {
        let stated = &answer.text[place.clone()];
        if stated.contains(is_emoji) && !stated.chars().any(char::is_alphanumeric) {
            hits.report(format!("the status is {stated} alone"))
                .at(answer.text_at(place));
        }
    }
}

pub(crate) fn no_icon(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    for place in statuses(answer) {
        if !answer.text[place.clone()].contains(is_emoji) {
            hits.report("a status without an icon")
                .at(answer.text_at(place));
        }
    }
}

pub(crate) fn verbose_metrics(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    static METRIC: RulePattern = RulePattern::new(
        r"(?im)^\s*[-*]?\s*\**(likes|reposts|replies|quotes|views|comments|shares)\**:\s*(\d+)\s*$",
    );
    let found: Vec<_> = METRIC
        .captures_iter(answer.markdown_text())
        .take(10_000)
        .collect();
    if found.len() < 2 {
        return;
    }
    // The lines that follow one another become one.
    let mut mended = String::new();
    let mut from = 0;
    for stated in &found {
        let Some(all) = stated.get(0) else { continue };
        let between = &answer.text[from..all.start()];
        if from == 0 || !between.trim().is_empty() {
            mended.push_str(between);
        }
        from = all.end();
        let icon = match &*stated[1].to_lowercase() {
            "likes" => "👍",
            "reposts" | "shares" => "♻️",
            _ => "💬",
        };
        mended.push_str(&format!("{icon} {}  ", &stated[2]));
    }
    mended.push_str(&answer.text[from..]);
    let place = found[0].get(0).map_or(0..0, |all| all.range());
    hits.report("metrics on a line each")
        .at(answer.text_at(place))
        .set_fix(
            answer,
            Parts {
                text: Some(mended),
                ..answer.parts().clone()
            },
        );
}

pub(crate) fn iso_time(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    static ISO: RulePattern = RulePattern::new(r"(?-u:\b)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}");
    for found in ISO
        .find_iter(answer.markdown_text())
        .take(1_000)
        .filter(|_| is_markdown(answer))
    {
        hits.report("a time in ISO form")
            .at(answer.text_at(found.range()));
    }
}

pub(crate) fn relative_only(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    static RELATIVE: RulePattern = RulePattern::new(
        r"(?i)(?-u:\b)\d+ ?(?:minutes?|mins?|hours?|days?|weeks?|months?|[mhdw]) ago(?-u:\b)",
    );
    static DATE: RulePattern = RulePattern::new(
        r"(?i)(?-u:\b)\d{4}-\d{2}-\d{2}|(?-u:\b)(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2},? \d{4}(?-u:\b)",
    );
    let Some(first) = RELATIVE.find(answer.markdown_text()) else {
        return;
    };
    let is_dated = DATE.is_match(&answer.text)
        || answer
            .structured()
            .is_some_and(|value| DATE.is_match(&value.raw_text()));
    if !is_dated {
        hits.report(format!("“{}”, and no date anywhere", first.as_str()))
            .at(answer.text_at(first.range()));
    }
}

/// How far behind a time its zone may stand.
const NEAR_BYTES: usize = 80;

pub(crate) fn no_zone(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(data) = answer.structured_data() else {
        return;
    };
    static UTC: RulePattern =
        RulePattern::new(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z$");
    static TIME: RulePattern = RulePattern::new(r"\b\d{1,2}:\d{2}");
    static ZONE: RulePattern = RulePattern::new(r"UTC|GMT|\bZ\b|\dZ|[+-]\d{2}:?\d{2}\b");
    for fact in answer
        .fact_matches()
        .facts
        .iter()
        .filter(|fact| fact.is_reworded())
    {
        let (Some(node), Some(place)) = (data.doc.node(fact.node()), fact.place()) else {
            continue;
        };
        // Of a text on one line, what stands next to it.
        let end = answer.text.floor_char_boundary(place.end + NEAR_BYTES);
        let line = line_from(&answer.text[..end], place.start).text;
        if node.as_str().is_some_and(|text| UTC.is_match(&text))
            && TIME.is_match(line)
            && !ZONE.is_match(line)
        {
            hits.report("a time of day without its zone; the data has it in UTC")
                .at(answer.text_at(place))
                .at(answer.data_at(node));
        }
    }
}

pub(crate) fn heading_levels(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if !is_markdown(answer) || !answer.is_success() {
        return;
    }
    let mut last: Option<HeadingLevel> = None;
    for (event, range) in answer.markdown() {
        let Event::Start(Tag::Heading { level, .. }) = event else {
            continue;
        };
        let from = last.map_or(0, |level| level as usize);
        if last.is_none() && *level != HeadingLevel::H1 {
            hits.report("the first heading is not of the first level")
                .at(answer.text_at(range.clone()));
        } else if *level as usize > from + 1 {
            hits.report("a heading skips a level")
                .at(answer.text_at(range.clone()));
        }
        last = Some(*level);
    }
}

pub(crate) fn heading_overhead(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if !is_markdown(answer) || answer.text.len() > REWRITE_BYTES || !answer.subject.renders() {
        return;
    }
    let all = answer.count(&answer.text);
    let plain: Vec<_> = lines(&answer.text)
        .filter(|line| !matches!(line.rule(), Some('-' | '*' | '_')))
        .map(|line| {
            let body = match line.rank() {
                0 => line.text,
                rank => line.text[line.indent + rank..].trim_start(),
            };
            body.replace("**", "")
        })
        .collect();
    let plain = plain.join("\n");
    let saves = all.less(tokens(&plain));
    if all.o200k_base >= 50 && saves.o200k_base * 100 > all.o200k_base * hits.limit {
        let percent = saves.o200k_base * 100 / all.o200k_base;
        hits.report(format!(
            "{percent}% of the tokens are marks of headings, rules and bold"
        ))
        .at(answer.text_at(0..0))
        .set_fix(
            answer,
            Parts {
                text: Some(plain),
                ..answer.parts().clone()
            },
        );
    }
}

pub fn inconsistent(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    static PROGRESS: RulePattern =
        RulePattern::new(r"(?-u:\b)(\d{1,3})% \((\d{1,9})/(\d{1,9})(?-u:\b)");
    for stated in PROGRESS.captures_iter(answer.markdown_text()).take(1_000) {
        let number = |at: usize| stated[at].parse::<u64>().unwrap_or(0);
        disagree(number(1), number(2), number(3), |message| {
            let place = stated.get(0).map_or(0..0, |all| all.range());
            hits.report(message).at(answer.text_at(place));
        });
    }
    let Some(data) = answer.exact_data() else {
        return;
    };
    for percent in leaves(data.root()).filter(|leaf| {
        leaf.key()
            .is_some_and(|key| key == "percent" || key == "progress_percent")
    }) {
        let of = |names: &[&str]| {
            percent
                .parent()
                .and_then(|parent| names.iter().find_map(|name| parent.get(name)?.as_i64()))
        };
        let (done, total) = (
            of(&["completed_steps", "completed", "done"]),
            of(&["total_steps", "total"]),
        );
        if let (Some(share), Some(done), Some(total)) = (percent.as_i64(), done, total) {
            let plain = |number: i64| u64::try_from(number).unwrap_or(0);
            disagree(plain(share), plain(done), plain(total), |message| {
                hits.report(message).at(answer.data_at(percent));
            });
        }
    }
}

/// Says so where a percentage is not done by total, give or take one.
fn disagree(percent: u64, done: u64, total: u64, say: impl FnOnce(String)) {
    if total > 0 && (done * 100 / total).abs_diff(percent) > 1 {
        say(format!("{percent}% and {done} of {total}"));
    }
}

pub fn details(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let text = answer.markdown_text();
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("<details").map(|at| from + at) {
        let end = text[start..]
            .find("</details>")
            .map_or(text.len(), |at| start + at);
        blocks.push(start..end);
        from = end.max(start + 1);
    }
    if blocks.is_empty() {
        return;
    }
    for (node, place) in answer.strings_in_text() {
        let stated = &answer.text[place.clone()];
        if range_at(&blocks, place.start).is_some() && stated.contains(char::is_whitespace) {
            hits.report(format!("a string within `<details>`: {}", clip(stated)))
                .at(answer.text_at(place.clone()))
                .at(answer.data_at(*node));
        }
    }
}

/// What two spaces at the end of a line are in Markdown, where the paragraph goes on.
const HARD_BREAK: &str = "  ";

pub(crate) fn line_end_spaces(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let text = &*answer.text;
    if answer.json_text().is_some() || text.len() > REWRITE_BYTES {
        return;
    }
    let renders = answer.subject.renders();
    let mut fixed = String::with_capacity(text.len());
    let mut places = Vec::new();
    let code = answer.markdown().iter().filter(|(event, _)| match event {
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => true,
        Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) => renders,
        _ => false,
    });
    let code: Vec<_> = code.map(|(_, range)| range.clone()).collect();
    let mut lines = lines(text).peekable();
    while let Some(line) = lines.next() {
        let body = line.text.trim_end_matches([' ', '\t']);
        let is_code = range_at(&code, line.range().end).is_some();
        let next = lines.peek();
        let goes_on = next.is_some_and(|next| !next.is_blank());
        let kept = match &line.text[body.len()..] {
            spaces if is_code => spaces,
            spaces if renders && !body.is_empty() && spaces.starts_with(HARD_BREAK) && goes_on => {
                HARD_BREAK
            }
            _ => "",
        };
        let end = next.map_or(text.len(), |next| next.at);
        let cut = line.at + body.len() + kept.len()..line.range().end;
        fixed.push_str(body);
        fixed.push_str(kept);
        fixed.push_str(&text[cut.end..end]);
        if !cut.is_empty() {
            places.push(cut);
        }
    }
    let saves = || answer.count(text).less(tokens(&fixed));
    if places.is_empty() || saves().o200k_base < hits.limit {
        return;
    }
    let parts = Parts {
        text: Some(fixed),
        ..answer.parts().clone()
    };
    if !keeps_data(answer, &parts) {
        return;
    }
    let count = number_of(places.len() as u64, "lines");
    let hit = hits.report(format!("{count} with spaces at the end"));
    for place in places {
        hit.at(answer.text_at(place));
    }
    hit.set_fix(answer, parts);
}

/// Whether the data stays: what is read from the text as it is, and no string of `structuredContent` has such spaces itself.
fn keeps_data(answer: &CheckedResult<'_>, parts: &Parts) -> bool {
    let Some(data) = &answer.subject.data else {
        return true;
    };
    if data.is_structured() {
        let has_spaces = |text: &str| text.lines().any(|line| line.ends_with([' ', '\t']));
        return !leaves(data.root())
            .any(|leaf| leaf.as_str().is_some_and(|text| has_spaces(&text)));
    }
    let fixed = FixedResult::new(answer.subject, parts.clone());
    let read = fixed
        .subject()
        .data
        .as_ref()
        .map(|data| data.root().raw_text());
    read == Some(data.root().raw_text())
}

pub(crate) fn terminal_codes(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    // A sequence as ECMA-48 has it: parameters, intermediate bytes, one final byte.
    static CODE: RulePattern = RulePattern::new("\u{1b}\\[[0-9;:?]*[ -/]*[@-~]");
    let parts = answer.parts();
    let Some(text) = parts.text.as_deref().filter(|text| text.contains('\u{1b}')) else {
        return;
    };
    let mut plain = String::with_capacity(text.len());
    let (mut from, mut count) = (0, 0);
    for code in CODE.find_iter(text) {
        plain.push_str(&text[from..code.start()]);
        from = code.end();
        count += 1;
    }
    if count == 0 {
        return;
    }
    plain.push_str(&text[from..]);
    let fixed = Parts {
        text: Some(plain),
        ..parts.clone()
    };
    let codes = number_of(count, "terminal codes");
    hits.report(format!("{codes} in the text"))
        .at(answer.text_at(0..0))
        .set_fix(answer, fixed);
}
