//! Lines of one shape: at least three whose fixed parts are equal and whose parts that vary are at the same places, as
//! `[FILE] a.md` and lines of a log do; and lines that are each a path or an address.

use foldhash::{HashMap, HashMapExt};

use super::build::{Builder, Cell, Record, Value, cell};
use super::label::filled;
use super::{Certainty, Reader, TextBlock, TextData};
use crate::layout::{Line, filled_lines};

pub(super) static LINES: Reader =
    Reader::new("lines", "Lines of one shape", Certainty::Layout, read);

/// The fewest lines.
const FEWEST: usize = 3;
/// The share of the lines that must have the shape: lines around them may say something else, such as a sum.
const ALIKE: f64 = 0.6;
/// The longest line: a longer one is a paragraph.
const LONGEST: usize = 500;

/// Where parts are parted, those that say most first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
enum Mark<'a> {
    /// `[…]`
    Bracket,
    Tab,
    /// Two spaces or more.
    Gap,
    Bar,
    Colon,
    Dash,
    Arrow,
    /// A space after a date, a time, a number or a word in capitals.
    Field,
    /// `name=value` among them.
    Named(&'a str),
    /// The colon after a path, and after the number of a line in it, as grep and compilers write them.
    Place,
}

/// Whether a line is a path or an address, and nothing else.
fn is_place(line: &str) -> bool {
    let is_path = line.starts_with('/')
        || line.starts_with("./")
        || line.starts_with("~/")
        || line.get(1..3) == Some(":\\");
    (is_path || line.contains("://")) && !line.contains(": ") && !line.ends_with(['.', ','])
}

fn read<'a>(block: TextBlock<'a>) -> Option<TextData> {
    let all: Vec<Line<'_>> = filled_lines(block.text).collect();
    let is_set_in =
        |line: &str| line.starts_with([' ', '\t']) && parse_name(line.trim_start()).is_none();
    let no_lines = all
        .iter()
        .filter(|line| line.text.len() > LONGEST || is_set_in(line.text))
        .count();
    if all.len() < FEWEST || no_lines * 2 > all.len() {
        return None;
    }
    if all.iter().all(|line| is_place(line.text.trim())) {
        let builder = Builder::new(&block);
        let places: Vec<Value> = all
            .iter()
            .map(|line| Value::Cell(cell(line, line.text)))
            .collect();
        return builder.records(&Record::new(), places, true);
    }
    if all
        .iter()
        .any(|line| line.is_branch() || line.is_table_rule())
    {
        return None;
    }
    let split = Split::new(&all);
    let shape = shape(&split)?;
    // Lines of one shape that are set in below each other are a tree, which records of their parts would lose.
    let mut indents = all
        .iter()
        .filter(|line| parse_name(line.text.trim_start()).is_some())
        .map(|line| line.indent);
    let first = indents.next();
    if indents.any(|indent| Some(indent) != first) {
        return None;
    }
    let mut builder = Builder::new(&block);
    let (mut records, mut envelope) = (Vec::with_capacity(all.len()), Record::new());
    for (at, line) in all.iter().enumerate() {
        let parts = split.line(at);
        if is_shaped(&parts[..parts.len().min(shape.marks.len())], &shape) {
            let parts = &parts[..parts.len().min(shape.marks.len()) + named_after(parts, &shape)];
            for (mark, _) in parts {
                if let Mark::Named(name) = mark {
                    builder.label(line.place_of(name));
                }
            }
            records.push((line, parts));
        } else if let Some(labelled) = filled(line) {
            labelled.push_to(&mut envelope, &mut builder);
        }
    }
    mark_pictogram(&records, &mut builder);
    let longest = records
        .iter()
        .map(|(_, parts)| parts.len())
        .max()
        .unwrap_or_default();
    // The rest of a line is a part, too.
    let names: Vec<String> = (1..=longest + 1).map(|at| format!("part{at}")).collect();
    let record = |(line, parts)| Value::Record(record(line, parts, &names));
    (records.len() >= FEWEST)
        .then(|| builder.records(&envelope, records.into_iter().map(record), true))
        .flatten()
}

/// How many names and values follow the parts that the shape has.
fn named_after(parts: &[(Mark<'_>, &str)], shape: &Shape<'_>) -> usize {
    let shaped = parts.len().min(shape.marks.len());
    parts[shaped..]
        .iter()
        .take_while(|(mark, _)| matches!(mark, Mark::Named(_)))
        .count()
}

/// Takes the pictogram before paths as layout where every line has the same.
fn mark_pictogram(records: &[(&Line<'_>, &[(Mark<'_>, &str)])], builder: &mut Builder) {
    let before = |(line, parts): &(&Line<'_>, &[(Mark<'_>, &str)])| match parts.first() {
        Some((Mark::Place, path)) => line.at..line.place_of(path).start,
        _ => line.at..line.at,
    };
    let text = |record: &(&Line<'_>, &[(Mark<'_>, &str)])| {
        record.0.text.get(..before(record).len()).map(str::to_owned)
    };
    let Some(first) = records
        .first()
        .and_then(text)
        .filter(|first| !first.is_empty())
    else {
        return;
    };
    if records
        .iter()
        .all(|record| record.0.text.starts_with(&first) && before(record).len() == first.len())
    {
        records
            .iter()
            .for_each(|record| builder.mark_layout(before(record)));
    }
}

/// The parts of a line, and the rest.
fn record<'a>(line: &Line<'a>, parts: &[(Mark<'a>, &'a str)], names: &'a [String]) -> Record<'a> {
    let end = parts
        .last()
        .map_or(0, |(_, part)| line.place_of(part).end - line.at);
    let rest = line.text[end..]
        .trim_start_matches(['\t', ' ', ':', '|', ']'])
        .trim_start_matches("- ")
        .trim_start_matches("-> ")
        .trim();
    let rest = Some((Mark::Field, rest)).filter(|(_, rest)| !rest.is_empty());
    let member = |(at, (mark, part)): (usize, (Mark<'a>, &'a str))| match mark {
        Mark::Named(name) => {
            let quoted = part
                .strip_prefix('"')
                .and_then(|part| part.strip_suffix('"'));
            let cell = cell(line, quoted.unwrap_or(part));
            (
                name.into(),
                Value::Cell(Cell {
                    is_quoted: quoted.is_some(),
                    ..cell
                }),
            )
        }
        _ => (names[at].as_str().into(), Value::Cell(cell(line, part))),
    };
    parts
        .iter()
        .copied()
        .chain(rest)
        .enumerate()
        .map(member)
        .collect()
}

/// The parts of lines, each with the mark that ends it.
struct Split<'a> {
    parts: Vec<(Mark<'a>, &'a str)>,
    /// Where those of each line end.
    ends: Vec<usize>,
}

impl<'a> Split<'a> {
    fn new(lines: &[Line<'a>]) -> Self {
        let mut split = Self {
            parts: Vec::new(),
            ends: Vec::with_capacity(lines.len()),
        };
        for line in lines {
            push_parts(line.text, &mut split.parts);
            split.ends.push(split.parts.len());
        }
        split
    }

    fn line(&self, at: usize) -> &[(Mark<'a>, &'a str)] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.parts[start..self.ends[at]]
    }
}

/// Whether the marks of a line are those of the shape, of which the last may be missing.
fn is_shaped(parts: &[(Mark<'_>, &str)], shape: &Shape<'_>) -> bool {
    parts.len() >= shape.required
        && parts
            .iter()
            .zip(&shape.marks)
            .all(|((own, _), mark)| own == mark)
}

struct Shape<'a> {
    marks: Vec<Mark<'a>>,
    /// How many of them every line has.
    required: usize,
}

/// The longest row of marks that enough lines begin with, and after it the marks that some of those lines go on with where
/// the others end; `None` where that is none, or nothing but one weak mark.
fn shape<'a>(split: &Split<'a>) -> Option<Shape<'a>> {
    let enough = (split.ends.len() as f64 * ALIKE).ceil() as usize;
    let mut shape = Shape {
        marks: Vec::new(),
        required: 0,
    };
    let mut alike: Vec<usize> = (0..split.ends.len()).collect();
    while shape.marks.len() < 16 {
        let mut counts: HashMap<Mark<'_>, usize> = HashMap::new();
        for line in &alike {
            let Some((mark, _)) = split.line(*line).get(shape.marks.len()) else {
                continue;
            };
            *counts.entry(*mark).or_default() += 1;
        }
        let only = counts.len() == 1;
        let Some((mark, count)) = counts.into_iter().max_by_key(|(_, count)| *count) else {
            break;
        };
        let is_required = shape.required == shape.marks.len() && count >= enough.max(FEWEST);
        if is_required {
            let at = shape.marks.len();
            alike.retain(|line| {
                split
                    .line(*line)
                    .get(at)
                    .is_some_and(|(own, _)| *own == mark)
            });
            shape.required += 1;
        } else if !only || !matches!(mark, Mark::Gap | Mark::Tab | Mark::Bar) || shape.required == 0
        {
            break;
        }
        shape.marks.push(mark);
    }
    // A colon or a dash alone is in prose, too.
    let is_strong = shape.required > 1
        || !matches!(
            shape.marks.first(),
            Some(Mark::Colon | Mark::Dash | Mark::Arrow)
        );
    if shape.required == 0 || !is_strong {
        return None;
    }
    // A field set apart by nothing but room may be empty, as the size of a folder is.
    let is_room = |mark: &Mark<'_>| matches!(mark, Mark::Gap | Mark::Tab | Mark::Bar);
    if let Some(first @ 1..) = shape.marks[..shape.required].iter().position(is_room) {
        shape.required = first;
    }
    Some(shape)
}

/// Adds the parts of a line, each with the mark that ends it. What follows the last mark is no part yet.
fn push_parts<'a>(line: &'a str, found: &mut Vec<(Mark<'a>, &'a str)>) {
    let before = found.len();
    let mut rest = line.trim_end();
    if parse_name(rest.trim_start()).is_some() {
        rest = rest.trim_start();
    }
    // A pictogram before a path says nothing that the path does not.
    let marked = rest
        .split_once(' ')
        .filter(|(mark, _)| !mark.is_ascii() && !mark.contains(char::is_alphanumeric));
    if let Some((path, number, after)) = grep_place(marked.map_or(rest, |(_, path)| path)) {
        found.extend([(Mark::Place, path), (Mark::Place, number)]);
        let column = after
            .split(':')
            .next()
            .filter(|column| column.len() < after.len())
            .unwrap_or_default();
        if !column.is_empty() && column.bytes().all(|byte| byte.is_ascii_digit()) {
            found.push((Mark::Place, column));
        }
        // What follows is the line itself.
        return;
    }
    while !rest.is_empty() && found.len() < before + 32 {
        if let Some((inner, after)) = rest
            .strip_prefix('[')
            .and_then(|inner| inner.split_once(']'))
        {
            found.push((Mark::Bracket, inner));
            rest = after.trim_start_matches([' ', '\t', ':']);
            continue;
        }
        // A field of its own class at the beginning: a date, a time, a level.
        let word = rest.split(' ').next().unwrap_or_default();
        let leads = found[before..]
            .iter()
            .all(|(mark, _)| matches!(mark, Mark::Field | Mark::Bracket | Mark::Named(_)));
        if let Some((name, value)) = parse_name(rest).filter(|_| leads) {
            found.push((Mark::Named(name), value));
            rest = rest[name.len() + 1 + value.len()..].trim_start();
            continue;
        }
        if leads
            && word.len() < rest.len()
            && is_field(word)
            && !rest[word.len()..].starts_with("  ")
        {
            found.push((Mark::Field, word.trim_end_matches(':')));
            rest = rest[word.len()..].trim_start();
            continue;
        }
        let Some((mark, at, length)) = first_mark(rest) else {
            break;
        };
        found.push((mark, &rest[..at]));
        rest = rest[at + length..].trim_start();
    }
}

/// The first mark that parts a text, where it stands and how long it is.
fn first_mark(text: &str) -> Option<(Mark<'_>, usize, usize)> {
    let bytes = text.as_bytes();
    let mark = |at: usize| match &bytes[at..] {
        [b'\t', ..] => Some((Mark::Tab, at, 1)),
        [b' ', b' ', ..] => Some((Mark::Gap, at, 2)),
        [b' ', b'|', b' ', ..] => Some((Mark::Bar, at, 3)),
        [b':', b' ', ..] => Some((Mark::Colon, at, 2)),
        [b' ', b'-', b' ', ..] => Some((Mark::Dash, at, 3)),
        [b' ', b'-', b'>', b' ', ..] => Some((Mark::Arrow, at, 4)),
        _ => None,
    };
    (0..bytes.len()).find_map(mark)
}

/// The name and the value, with its quotes, of `name=value` at the beginning of a text.
pub(super) fn parse_name(text: &str) -> Option<(&str, &str)> {
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let (name, rest) = text.split_at(text.bytes().position(|byte| !of_name(byte))?);
    let rest = rest.strip_prefix('=')?;
    if !name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_') {
        return None;
    }
    let length = match rest.strip_prefix('"') {
        Some(inner) => inner.find('"')? + 2,
        None => rest.find([' ', '\t']).unwrap_or(rest.len()),
    };
    let value = &rest[..length];
    (!value.is_empty() && !value.starts_with('=') && !value.ends_with(',')).then_some((name, value))
}

/// `src/a.rs:31:text` or `src/a.rs:31 - text` in its parts. The number may be the last: `src/a.rs:5`.
fn grep_place(line: &str) -> Option<(&str, &str, &str)> {
    let (path, rest) = line.split_once(':')?;
    let is_path = !path.contains(char::is_whitespace)
        && path.contains(['/', '.', '\\'])
        && !rest.starts_with("//");
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = &rest[digits..];
    let text = if after.is_empty() {
        Some(after)
    } else {
        after
            .strip_prefix(':')
            .or_else(|| after.strip_prefix(" - "))
    };
    text.filter(|_| is_path && digits > 0)
        .map(|text| (path, &rest[..digits], text))
}

/// A word that is a date, a time, a number, an index or a level of a log.
fn is_field(word: &str) -> bool {
    let bare = word.trim_end_matches([':', ',']);
    let has_digit = bare.bytes().any(|byte| byte.is_ascii_digit());
    let is_numeric = has_digit
        && bare.bytes().all(|byte| {
            byte.is_ascii_digit()
                || matches!(byte, b'-' | b':' | b'.' | b'/' | b'T' | b'Z' | b'+' | b',')
        });
    let is_level =
        bare.len() >= 3 && bare.len() <= 8 && bare.bytes().all(|byte| byte.is_ascii_uppercase());
    is_numeric || is_level
}
