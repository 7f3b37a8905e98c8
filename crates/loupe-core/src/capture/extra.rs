//! Extra text: what a text says that is neither layout, nor a label of the data, nor a fact that was proved or found.
//! A format that is written from the data drops it.

use std::ops::Range;
use std::sync::Arc;

use super::data::{ResultData, TextSource, blocks};
use super::facts::{FactMatches, KeyWords, LABEL_WORDS};
use super::response::ParsedResponse;
use crate::layout::{Line, is_name_head, is_value_head, lines, ordinal};
use crate::reader::{self, comment_signs, says};

/// The extra text of a result's text content, in order: bytes of the texts with one LF between two. `matched` are the
/// facts of the data in it; they are asked for where the data is `structuredContent` alone.
pub fn extra_text(
    data: &ResultData,
    reading: &ParsedResponse,
    text: &str,
    matched: impl FnOnce() -> Arc<FactMatches>,
) -> Vec<Range<usize>> {
    if let Some(source) = data.text_source() {
        return unread(source, reading);
    }
    let matched = matched();
    let told = matched
        .facts
        .iter()
        .filter(|fact| !fact.state().is_missing())
        .filter_map(|fact| fact.place());
    let known = reader::merge_ranges(told.chain(matched.accounted.iter().cloned()).collect());
    let keys = data.key_words();
    outside(text, &known, |line, run| is_label(line, run, keys))
}

/// What the reader of the data does not account for.
fn unread(source: &TextSource, reading: &ParsedResponse) -> Vec<Range<usize>> {
    let starts = ResultData::starts(reading);
    let extra = source.data.extra(&blocks(reading)).into_iter();
    let place = |(block, range): (usize, Range<usize>)| {
        let at = starts.binary_search_by_key(&block, |(own, _)| *own).ok()?;
        Some(starts[at].1 + range.start..starts[at].1 + range.end)
    };
    extra.filter_map(place).collect()
}

/// What stands outside of known ranges (sorted) and says something, a range for each stretch of a line.
fn outside(
    text: &str,
    known: &[Range<usize>],
    is_label: impl Fn(&str, &str) -> bool,
) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut next = 0;
    for line in lines(text).filter(|line| !is_fence(line)) {
        let is_known = |sign: &Range<usize>| {
            let at = known.partition_point(|range| range.end <= sign.start);
            known.get(at).is_some_and(|range| range.start < sign.end)
        };
        let signs = comment_signs(line.text)
            .into_iter()
            .map(|sign| line.at + sign.start..line.at + sign.end);
        found.extend(signs.filter(|sign| !is_known(sign)));
        let body = line.at + leading_marks(line.text)..line.range().end;
        let mut at = body.start;
        while next > 0 && known[next - 1].end > at {
            next -= 1;
        }
        let mut stretches: Vec<Range<usize>> = Vec::new();
        while at < body.end {
            while known.get(next).is_some_and(|range| range.end <= at) {
                next += 1;
            }
            match known.get(next).filter(|range| range.start < body.end) {
                Some(range) => {
                    if range.start > at {
                        stretches.push(at..range.start);
                    }
                    at = range.end.max(at);
                    next += 1;
                }
                None => {
                    stretches.push(at..body.end);
                    at = body.end;
                }
            }
        }
        for stretch in stretches {
            let mut open: Option<Range<usize>> = None;
            for run in runs(text, stretch) {
                if is_label(line.text, &text[run.clone()]) {
                    found.extend(open.take());
                } else {
                    open = Some(open.map_or(run.start, |open| open.start)..run.end);
                }
            }
            found.extend(open);
        }
    }
    reader::merge_ranges(found)
}

/// Whether a line is an end of a fence, with nothing but its language.
fn is_fence(line: &Line<'_>) -> bool {
    let is_sign = |char: char| char.is_ascii_alphabetic() || matches!(char, '+' | '#' | '.');
    let is_language = |language: &str| {
        language
            .trim_end_matches(|char: char| char.is_ascii_digit())
            .chars()
            .all(is_sign)
    };
    line.fence()
        .is_some_and(|fence| fence.info.len() <= 20 && is_language(fence.info))
}

/// Bytes of the marks that a line begins with: indentation, bullets, the number of an ordered list.
fn leading_marks(line: &str) -> usize {
    let body = line.trim_start_matches([' ', '\t', '>', '#', '*', '-', '+', '•']);
    line.len() - body.len() + ordinal(body).map_or(0, |digits| digits.len() + 1)
}

/// Parts between marks that part labels from values, each from the first to the last character that says something.
fn runs(text: &str, stretch: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_mark = |char: char| {
        matches!(
            char,
            '|' | ':'
                | '='
                | '*'
                | '`'
                | '"'
                | '\t'
                | '#'
                | ','
                | ';'
                | '<'
                | '>'
                | '{'
                | '}'
                | '['
                | ']'
                | '：'
        )
    };
    let inner = &text[stretch.clone()];
    inner.split(is_mark).filter_map(move |part| {
        let start = stretch.start + (part.as_ptr() as usize - inner.as_ptr() as usize);
        let first = part.find(says)?;
        let (last, char) = part.char_indices().rfind(|(_, char)| says(*char))?;
        Some(start + first..start + last + char.len_utf8())
    })
}

/// Whether a part of a line is a label of the data: words of a key, where a label stands; or a head of a table of names
/// and values.
fn is_label(line: &str, words: &str, keys: &KeyWords) -> bool {
    let is_head = |cell: &str| is_name_head(cell.trim()) || is_value_head(cell.trim());
    let mut cells = line
        .split(['|', ',', '\t'])
        .filter(|cell| cell.contains(says));
    if is_head(words) && line.contains('|') {
        return cells.all(is_head);
    }
    if words.split_whitespace().count() > LABEL_WORDS || !keys.has(words) {
        return false;
    }
    let at = words.as_ptr() as usize - line.as_ptr() as usize;
    let after =
        line[at + words.len()..].trim_start_matches(['*', '_', '`', '"', '\'', ' ', ')', ']', '?']);
    let before = line[..at].trim_end_matches([' ', '*', '_', '`', '"']);
    let begins_value = after.starts_with([':', '=', '→', '：']) || after.starts_with("->");
    let is_cell = line.contains(['|', ',', '\t']) || line.contains("  ");
    let is_title = after.is_empty() && (before.is_empty() || before.ends_with(['#', '-']));
    begins_value || is_title || is_cell && cells.all(|cell| keys.has(cell))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::capture::locate_facts;

    fn extra(data: &str, text: &str) -> Vec<String> {
        let block = crate::json::write::string(text);
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{block}}}],"structuredContent":{data}}}}}"#
        );
        let reading = ParsedResponse::read(Bytes::from(message));
        let data = ResultData::of(&reading).unwrap();
        let ranges = extra_text(&data, &reading, text, || {
            Arc::new(locate_facts(&data, text))
        });
        ranges
            .into_iter()
            .map(|range| text[range].to_owned())
            .collect()
    }

    #[test]
    fn what_is_no_label_and_no_fact_is_extra() {
        let data = r#"{"items":[{"id":1,"companyName":"Acme","lastModifiedDate":"x9"},{"id":2,"companyName":"Beta","lastModifiedDate":"x8"}]}"#;
        let table = "| ID | Company Name | Last Modified |\n|---|---|---|\n| 1 | Acme | x9 |\n| 2 | Beta | x8 |\n";
        assert_eq!(extra(data, table), Vec::<String>::new());
        assert_eq!(
            extra(
                data,
                &format!("Found 2 companies:\n\n{table}\n… and 991 more")
            ),
            ["Found 2 companies", "… and 991 more"]
        );
        assert_eq!(
            extra(r#"{"temp":4}"#, "**Temp:** 4 °C, felt like 1"),
            ["°C, felt like 1"]
        );
        assert_eq!(extra(r#"{"temp":4}"#, r#"See: {"temp": 4}"#), ["See"]);
        assert_eq!(
            extra(r#"{"temp":4}"#, "```json\n{\"temp\": 4}\n```"),
            Vec::<String>::new()
        );
        let pretty = "[\n  {\n    \"a\": 1,\n    \"b\": null,\n    \"c\": \"x\"\n  }\n]";
        assert_eq!(
            extra(r#"[{"a":1,"b":null,"c":"x"}]"#, &format!("{pretty}\nAll.")),
            ["All"]
        );
        // FastMCP wraps a list in `result`, and sends the list alone as text.
        let list = r#"[{"a":1,"b":null},{"a":2,"b":"x"}]"#;
        let wrapped = |list: &str| format!(r#"{{"result":{list}}}"#);
        assert_eq!(extra(&wrapped(list), list), Vec::<String>::new());
        let other = r#"[{"a":1,"b":0},{"a":2,"b":"x"}]"#;
        assert_eq!(extra(&wrapped(other), list), ["null"]);
        let without = r#"[{"a":1},{"a":2,"b":"x"}]"#;
        assert_eq!(extra(&wrapped(without), list), ["null"]);
        assert_eq!(
            extra(r#"{"kind":"a b"}"#, "1. kind: a b\n2. other: kind"),
            ["other: kind"]
        );
    }
}
