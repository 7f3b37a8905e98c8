//! Where each record is in a text: records are told by a field whose values differ, and parted where the text's
//! own shape parts them: headings, table rows, list items, blank lines, braces.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::canon::needle;
use super::labels::{Field as Name, Fit, last_word, spoken};
use super::page::Page;
use crate::json::{Kind, Node, decode_string};
use crate::layout::{Line, line_end, line_from, line_start, lines};

/// Fields looked at, values sampled and places taken of one value: enough to tell records apart, and a bound.
const MAX_FIELDS: usize = 12;
const SAMPLE: usize = 48;
const MAX_HITS: usize = 32;
/// Last words of keys that name a record.
const NAMES: [&str; 9] = [
    "id", "key", "uuid", "number", "name", "title", "slug", "login", "email",
];

/// A field whose values differ from record to record, whatever the text.
#[derive(Clone, Debug)]
pub(super) struct DistinctField {
    key: String,
    /// Its values are so short that they are in many places by chance.
    is_short: bool,
}

impl DistinctField {
    pub(super) fn key(&self) -> &str {
        &self.key
    }
}

/// A field that may tell the records apart in a text, and how well it does.
struct Field<'a> {
    key: &'a str,
    name: Name,
    /// Only places under this label, or at a line's beginning, count.
    is_strict: bool,
    is_short: bool,
    found: f64,
    spread: f64,
    mean: f64,
    /// Some of its values are under its label and some do not: those are likely another field's.
    is_mixed: bool,
    first: usize,
}

/// The places of each record in parts of a text, canonical ranges in order; `None` where nothing tells the records apart.
pub(super) fn regions(
    records: &[Node<'_>],
    distinct: &[DistinctField],
    page: &Page<'_>,
    within: &[Range<usize>],
) -> Option<Vec<Vec<Range<usize>>>> {
    let fields = fields(records, distinct, page, within);
    let best = fields.first()?;
    let in_order = best.spread >= 1.0;
    let mut anchors: Vec<(Range<usize>, usize)> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut last_end = 0;
    for (position, record) in records.iter().enumerate() {
        if in_order {
            let after = hits(*record, best, page, within, last_end, 1);
            if let Some(hit) = after.into_iter().next() {
                last_end = hit.end;
                anchors.push((hit, position));
            }
            continue;
        }
        for (rank, field) in fields.iter().take(4).enumerate() {
            let found = hits(*record, field, page, within, 0, MAX_HITS * 2);
            let value = record
                .get(field.key)
                .map(|node| node.raw_text().into_owned())
                .unwrap_or_default();
            // A second field only helps where it is plain.
            if found.is_empty() || (rank > 0 && (found.len() > 8 || value.len() < 6)) {
                continue;
            }
            // Records that share a value share its places out.
            let turn = seen.entry(value).or_insert(0);
            let nth = *turn;
            *turn += 1;
            anchors.extend(
                found
                    .into_iter()
                    .skip(if rank == 0 { nth } else { 0 })
                    .map(|hit| (hit, position)),
            );
            break;
        }
    }
    let anchors = settle(anchors);
    let mut places = vec![Vec::new(); records.len()];
    for part in within {
        let first = anchors.partition_point(|(hit, _)| hit.start < part.start);
        let end = anchors.partition_point(|(hit, _)| hit.start < part.end);
        cut(page.text(), part, &anchors[first..end], &mut places);
    }
    Some(places)
}

/// The places of members that are told by their keys: under headings or labels that open them; of records, at the
/// beginnings of lines too. `None` where no two are found.
pub(super) fn sections(
    members: &[Node<'_>],
    are_records: bool,
    page: &Page<'_>,
    within: &[Range<usize>],
) -> Option<Vec<Vec<Range<usize>>>> {
    let mut known: HashMap<String, usize> = HashMap::new();
    for (position, member) in members.iter().enumerate() {
        known.insert(spoken(&member.key()?), position);
    }
    let mut places = vec![Vec::new(); members.len()];
    for part in within {
        let heads = page
            .heads_in(part)
            .iter()
            .filter(|head| head.opens || (are_records && head.begins_line));
        let mut opened: Option<(usize, usize)> = None;
        for head in heads {
            let Some(&member) = known.get(&*page.names[head.name as usize]) else {
                continue;
            };
            // Every line of `users[0].name: Ann` opens the same.
            if opened.is_none_or(|(last, _)| last != member)
                && let Some((last, body)) = opened.replace((member, head.body))
            {
                places[last].push(body..head.start.max(body));
            }
        }
        if let Some((last, body)) = opened {
            places[last].push(body..part.end.max(body));
        }
    }
    (places.iter().filter(|places| !places.is_empty()).count() >= 2).then_some(places)
}

fn value_of(record: Node<'_>, key: &str) -> Option<String> {
    let node = record.get(key)?;
    match node.kind() {
        Kind::String => {
            Some(needle(&node.as_str()?)).filter(|text| !text.is_empty() && text.len() <= 200)
        }
        Kind::Number => node.as_number().map(str::to_owned),
        _ => None,
    }
}

fn hits(
    record: Node<'_>,
    field: &Field<'_>,
    page: &Page<'_>,
    within: &[Range<usize>],
    from: usize,
    limit: usize,
) -> Vec<Range<usize>> {
    let Some(needle) = value_of(record, field.key).and_then(|text| page.index.needle(text)) else {
        return Vec::new();
    };
    let parts = within
        .iter()
        .filter(|part| part.end > from)
        .map(|part| part.start.max(from)..part.end);
    let found = parts
        .flat_map(|part| page.hits(&needle, part))
        .take(512)
        .filter(|hit| !page.is_foreign(hit.start, &field.name));
    if !field.is_strict {
        return found.take(limit).collect();
    }
    let marked: Vec<_> = found
        .map(|hit| (mark(page, &hit, &field.name), hit))
        .filter(|(mark, _)| *mark > Mark::None)
        .collect();
    let best = marked.iter().map(|(mark, _)| *mark).max();
    marked
        .into_iter()
        .filter(|(mark, _)| Some(*mark) == best)
        .map(|(_, hit)| hit)
        .take(limit)
        .collect()
}

/// How plainly a hit is the record's own field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    None,
    BeginsLine,
    Labelled,
}

fn mark(page: &Page<'_>, hit: &Range<usize>, name: &Name) -> Mark {
    let text = page.text();
    let from = text.floor_char_boundary(hit.start.saturating_sub(96));
    let before = text[from..hit.start].trim_end_matches([' ', '"', '\'', '*', '`', '[', '#']);
    let slot = page.slot_at(hit.start).map(|slot| &page.slots[slot]);
    if let Some(slot) =
        slot.filter(|slot| slot.is_cell || from + before.len() <= slot.value().start)
    {
        let fits = name.fit(&page.names[slot.name as usize]) > Fit::None;
        return if fits { Mark::Labelled } else { Mark::None };
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    let begins = (line.len() < before.len() || from == 0) && !line.contains(char::is_alphanumeric);
    if begins { Mark::BeginsLine } else { Mark::None }
}

/// The fields whose values differ from record to record.
pub(super) fn distinct_fields<'a>(records: &[Node<'a>]) -> Vec<DistinctField> {
    let mut keys: Vec<Cow<'a, str>> = Vec::new();
    for member in records
        .iter()
        .take(50)
        .flat_map(|record| record.children().take(64))
    {
        let key = member.key().unwrap_or_default();
        if matches!(member.kind(), Kind::String | Kind::Number)
            && keys.len() < MAX_FIELDS
            && !keys.contains(&key)
        {
            keys.push(key);
        }
    }
    let mut values: Vec<Vec<&[u8]>> = vec![Vec::new(); keys.len()];
    for record in records {
        // Of duplicate keys the last counts.
        let mut own = [None; MAX_FIELDS];
        for member in record.children() {
            let spelled = member.raw_key().unwrap_or_default();
            let is_it = |known: &Cow<'_, str>| known.as_bytes() == spelled;
            let at = keys.iter().position(is_it).or_else(|| {
                let key = Some(decode_string(spelled)).filter(|_| spelled.contains(&b'\\'))?;
                keys.iter().position(|known| *known == key)
            });
            if let Some(at) = at {
                own[at] = Some(member.raw());
            }
        }
        values
            .iter_mut()
            .zip(own)
            .for_each(|(values, own)| values.extend(own));
    }
    let is_distinct = |values: &[&[u8]]| {
        // No more than a tenth may have been met before.
        let mut seen = HashSet::with_capacity(values.len());
        values.len() * 2 >= records.len()
            && values
                .iter()
                .filter(|value| !seen.insert(**value))
                .nth(values.len() / 10)
                .is_none()
    };
    let distinct = keys
        .into_iter()
        .zip(values)
        .filter(|(_, values)| is_distinct(values));
    let is_short =
        |values: &[&[u8]]| values.iter().map(|value| value.len()).sum::<usize>() < values.len() * 4;
    distinct
        .map(|(key, values)| DistinctField {
            key: key.into_owned(),
            is_short: is_short(&values),
        })
        .collect()
}

/// Whether a key names its record, rather than says something of it.
pub(super) fn names_record(key: &str) -> bool {
    NAMES.contains(&last_word(key).as_str())
}

/// The fields that tell the records apart in parts of a text, the best first.
fn fields<'a>(
    records: &[Node<'_>],
    distinct: &'a [DistinctField],
    page: &Page<'_>,
    within: &[Range<usize>],
) -> Vec<Field<'a>> {
    let step = (records.len() / SAMPLE).max(1);
    let sample: Vec<Node<'_>> = records.iter().copied().step_by(step).collect();
    let mut fields = Vec::new();
    for DistinctField { key, is_short } in distinct {
        for is_strict in [false, true] {
            let mut field = Field {
                name: Name::of([Cow::Borrowed(&**key)]),
                key,
                is_strict,
                is_short: *is_short,
                found: 0.0,
                spread: 0.0,
                mean: 0.0,
                is_mixed: false,
                first: usize::MAX,
            };
            weigh(&mut field, &sample, page, within);
            if field.found > 0.0 {
                fields.push(field);
            }
        }
    }
    let most = fields.iter().map(|field| field.found).fold(0.0, f64::max);
    fields.retain(|field| field.found >= most * 0.6);
    // Found often, always equally often, in one way, in as many parts of the text as can be, and early.
    let rank = |field: &Field<'_>| {
        let noise = if field.spread < 0.25 {
            0
        } else {
            (field.spread * 4.0) as i64
        };
        let few = field.found < most * 0.9;
        let mean = (field.mean.min(8.0) * 2.0).round() as i64;
        let is_name = names_record(field.key);
        (
            few,
            noise,
            field.is_short && !field.is_strict,
            field.is_mixed,
            !is_name,
            -mean,
            field.first,
            field.is_strict,
        )
    };
    fields.sort_by_key(rank);
    fields
}

fn weigh(field: &mut Field<'_>, sample: &[Node<'_>], page: &Page<'_>, within: &[Range<usize>]) {
    let mut counts = Vec::with_capacity(sample.len());
    let mut labelled = 0;
    for record in sample {
        let found = hits(*record, field, page, within, 0, MAX_HITS);
        if let Some(first) = found.first() {
            field.first = field.first.min(first.start);
            labelled += usize::from(mark(page, first, &field.name) == Mark::Labelled);
            counts.push(found.len());
        }
    }
    let Some(&least) = counts.iter().min() else {
        return;
    };
    field.is_mixed = field.is_strict && labelled > 0 && labelled < counts.len();
    field.found = counts.len() as f64 / sample.len() as f64;
    field.mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    field.spread = field.mean - least as f64;
}

/// Anchors in order: of two that overlap the longer stays, and a record's repeats become one. Each is the stretch
/// from the first to the last place in a row that belongs to one record.
fn settle(mut anchors: Vec<(Range<usize>, usize)>) -> Vec<(Range<usize>, usize)> {
    anchors.sort_by_key(|(hit, record)| (hit.start, std::cmp::Reverse(hit.end), *record));
    let mut kept: Vec<(Range<usize>, usize)> = Vec::with_capacity(anchors.len());
    for (hit, record) in anchors {
        if kept.last().is_some_and(|(last, _)| hit.start < last.end) {
            continue;
        }
        kept.push((hit, record));
    }
    let mut runs: Vec<(Range<usize>, usize)> = Vec::with_capacity(kept.len());
    for (hit, record) in kept {
        match runs.last_mut() {
            Some((run, last)) if *last == record => run.end = hit.end,
            _ => runs.push((hit, record)),
        }
    }
    runs
}

/// Cuts a part of the text between its anchors, and gives every record its places.
fn cut(
    text: &str,
    part: &Range<usize>,
    anchors: &[(Range<usize>, usize)],
    places: &mut [Vec<Range<usize>>],
) {
    let text = &text[..part.end];
    let mut starts: Vec<usize> = Vec::with_capacity(anchors.len());
    for pair in anchors.windows(2) {
        starts.push(boundary(text, pair[0].0.end, pair[1].0.start));
    }
    if let Some((first, _)) = anchors.first() {
        let second = anchors
            .get(1)
            .map(|(next, _)| next.start)
            .zip(starts.first().copied());
        starts.insert(
            0,
            first_start(text, part.start, first.start, second).max(part.start),
        );
    }
    let longest = anchors
        .iter()
        .zip(starts.iter().zip(starts.iter().skip(1)))
        .map(|(_, (&start, &end))| {
            text[start..trim_end(text, start, end)]
                .matches('\n')
                .count()
                + 1
        })
        .max();
    for (position, (hit, record)) in anchors.iter().enumerate() {
        let start = starts[position];
        let end = match starts.get(position + 1) {
            Some(&end) => end,
            None => last_end(text, start, hit.end, longest),
        };
        let end = trim_end(text, start, end);
        if end > start {
            places[*record].push(start..end);
        }
    }
}

/// Where the next record begins, between the last place of one and the first place of the next.
fn boundary(text: &str, from: usize, to: usize) -> usize {
    let slice = &text[from..to];
    if !slice.contains('\n') {
        return from + inline_boundary(slice);
    }
    let anchor_line = line_start(text, to);
    if text[anchor_line..to].trim_start().starts_with(['{', '['])
        && let Some(brace) = text[anchor_line..to].rfind('{')
    {
        return anchor_line + brace;
    }
    let starts = || slice.match_indices('\n').map(|(at, _)| from + at + 1);
    let line = |at: usize| line_from(text, at);
    let own = line(anchor_line);
    let is_filled = |at: &usize| !line(*at).is_blank();
    // An item under a deeper line, and a row of values, begin with their place: what looks like a heading above is the
    // end of a value of the record before.
    let above = starts().rfind(|at| *at < anchor_line && is_filled(at));
    let is_new_item =
        own.item().is_some() && above.is_some_and(|above| line(above).indent > own.indent);
    let is_new_row =
        text[anchor_line..to].trim_matches('"').is_empty() && own.text.matches(',').count() > 1;
    if is_new_item || is_new_row {
        return anchor_line;
    }
    if let Some(heading) = starts().rfind(|at| line(*at).rank() > 0) {
        return heading;
    }
    let after_blank = |before: usize| {
        let blank = starts().rfind(|at| *at < before && line(*at).is_blank());
        blank.map_or(anchor_line, |blank| line_end(text, blank) + 1)
    };
    if own.body().starts_with('|') {
        let table = starts().rfind(|at| line(*at).is_table_rule());
        return table.map_or(anchor_line, after_blank);
    }
    let indents = starts().filter(is_filled).map(|at| line(at).indent);
    let least = indents.min().unwrap_or(0);
    if own.indent > least {
        return starts()
            .rfind(|at| is_filled(at) && line(*at).indent == least)
            .unwrap_or(anchor_line);
    }
    let has_number = own.body().starts_with(|char: char| char.is_ascii_digit());
    if own.item().is_some() || has_number {
        return anchor_line;
    }
    after_blank(anchor_line)
}

/// On one line: after the brace that closes the most, at the next that opens.
fn inline_boundary(slice: &str) -> usize {
    let (mut depth, mut least, mut after) = (0_i64, 0_i64, None);
    for (at, byte) in slice.bytes().enumerate() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth <= least {
                    least = depth;
                    after = Some(at + 1);
                }
            }
            _ => {}
        }
    }
    match after {
        Some(after) => slice[after..]
            .find(['{', '['])
            .map_or(after, |len| after + len),
        None => slice.len(),
    }
}

/// Where the first record begins: as far before its place as the second before its own.
fn first_start(text: &str, from: usize, first: usize, second: Option<(usize, usize)>) -> usize {
    let own_line = line_start_from(text, from, first);
    match second {
        Some((place, start)) if text[start..place].contains('\n') => {
            let above = text[start..place].matches('\n').count();
            (0..above).fold(own_line, |at, _| {
                if at <= from {
                    from
                } else {
                    line_start_from(text, from, at - 1)
                }
            })
        }
        Some((place, start)) if start > 0 && line_start_from(text, from, place) < start => text
            [own_line..first]
            .rfind(['{', '['])
            .map_or(own_line, |at| own_line + at),
        Some(_) => own_line,
        None => boundary(text, from, first).min(
            own_line.max(
                text[own_line..first]
                    .rfind('{')
                    .map_or(0, |at| own_line + at),
            ),
        ),
    }
}

/// Where the last record ends: its brace closes, or a rule or a heading of its own rank comes, or it grew as long as
/// the longest of the others, and, where a heading or an empty line begins it, an empty line comes.
fn last_end(text: &str, start: usize, after: usize, longest: Option<usize>) -> usize {
    if text[start..].trim_start().starts_with('{') {
        let mut depth = 0_i64;
        for (at, byte) in (start..).zip(text[start..].bytes()) {
            depth += match byte {
                b'{' => 1,
                b'}' => -1,
                _ => 0,
            };
            if byte == b'}' && depth == 0 && at >= after {
                return at + 1;
            }
        }
    }
    let own = Line::new(&text[start..], start).rank();
    let is_block = own > 0
        || text[..start]
            .trim_end_matches([' ', '\t'])
            .ends_with("\n\n");
    for (number, line) in lines(&text[start..]).enumerate().skip(1) {
        let rank = line.rank();
        let is_over = longest
            .is_some_and(|longest| number >= longest && (!is_block || line.is_blank()))
            || line.rule().is_some()
            || (rank > 0 && (own == 0 || rank <= own));
        if is_over && start + line.at > after {
            return start + line.at;
        }
    }
    text.len()
}

/// Where the line begins that a place is in, or the part of it behind `from`: a text may be one long line, and each of its
/// records asks.
fn line_start_from(text: &str, from: usize, at: usize) -> usize {
    from + line_start(&text[from..], at - from)
}

/// Leaves out blank lines and rules at the end.
fn trim_end(text: &str, start: usize, end: usize) -> usize {
    let mut end = end;
    loop {
        let body = text[start..end].trim_end();
        end = start + body.len();
        if body.starts_with('{') && body.ends_with(',') {
            end -= 1;
        }
        let last = line_start_from(text, start, end);
        if last > start && Line::new(&text[last..end], last).rule().is_some() {
            end = last;
        } else {
            return end;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn what_stands_before_a_part_in_its_line_is_not_read() {
        let text = r#"{"id":1} "#.repeat(400_000);
        let time = |from: usize| -> Duration {
            let part = from..from + 900;
            let anchors: Vec<(Range<usize>, usize)> = (0..50)
                .map(|at| (from + at * 18 + 6..from + at * 18 + 7, at))
                .collect();
            let began = Instant::now();
            for _ in 0..200 {
                let mut places = vec![Vec::new(); 50];
                cut(&text, &part, &anchors, &mut places);
                assert_eq!(places[1].first(), Some(&(from + 18..from + 35)));
            }
            began.elapsed()
        };
        // To read all that is before takes hundreds of times as long.
        assert!((0..3).any(|_| time(text.len() - 900) < time(0) * 10));
    }
}
