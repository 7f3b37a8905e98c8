//! Aligned columns: below a head with two spaces or more between its names, or parted by what is blank in every line.

use std::borrow::Cow;

use super::build::{Builder, Record, Value, cell};
use super::label::filled;
use super::lines::parse_name;
use super::{Certainty, Reader, TextBlock, TextData};
use crate::layout::{Line, filled_lines};

pub(super) static COLUMNS: Reader =
    Reader::new("columns", "Aligned columns", Certainty::Layout, read);

/// The most columns.
const MAX: usize = 100;

/// The fewest lines without a head, and the fewest columns: of less, white space in one place is chance.
const FEWEST: (usize, usize) = (4, 3);
/// The longest line, in characters.
const LONGEST: usize = 2_000;

fn read(block: TextBlock<'_>) -> Option<TextData> {
    let all: Vec<Line<'_>> = filled_lines(block.text)
        .filter(|line| line.rule().is_none())
        .collect();
    if all
        .iter()
        .any(|line| line.is_branch() || line.is_table_rule())
    {
        return None;
    }
    let under_head = if block.text.contains("  ") {
        under_head(&all)
    } else {
        None
    };
    let table = match blank_columns(&all) {
        Some(found)
            if under_head
                .as_ref()
                .is_none_or(|head| head.columns() < found.columns()) =>
        {
            found
        }
        _ => under_head?,
    };
    let mut builder = Builder::new(&block);
    let mut envelope = Record::new();
    let mut records = Vec::new();
    for (at, line) in all.iter().enumerate() {
        match table.rows.get(at).and_then(Option::as_ref) {
            Some(parts) => {
                let name = |column: usize| -> Cow<'_, str> {
                    table.names.get(column).map_or_else(
                        || format!("part{}", column + 1).into(),
                        |name| Cow::Borrowed(*name),
                    )
                };
                let cells = parts.iter().enumerate().filter(|(column, part)| {
                    !table.names.is_empty() || *column == 0 || !part.trim().is_empty()
                });
                let named =
                    cells.map(|(column, part)| (name(column), Value::Cell(cell(line, part))));
                records.push(Value::Record(named.collect()));
            }
            None if table.head == Some(at) => {
                let names = table.names.iter().map(|name| line.place_of(name));
                names.for_each(|range| builder.label(range));
            }
            None => {
                if let Some(labelled) = filled(line) {
                    labelled.push_to(&mut envelope, &mut builder);
                }
            }
        }
    }
    (records.len() > 1)
        .then(|| builder.records(&envelope, records, true))
        .flatten()
}

/// Lines in columns.
struct Table<'a> {
    /// The line of the names.
    head: Option<usize>,
    /// Of the columns; empty where there is no head.
    names: Vec<&'a str>,
    /// The fields of each line; `None` where it is no row.
    rows: Vec<Option<Vec<&'a str>>>,
}

impl Table<'_> {
    fn columns(&self) -> usize {
        self.rows.iter().flatten().next().map_or(0, Vec::len)
    }
}

/// Columns that begin where the fields of a head do, with two spaces or more between them.
fn under_head<'a>(all: &[Line<'a>]) -> Option<Table<'a>> {
    let head = all.iter().position(|line| starts(line.text).len() > 1)?;
    let starts = starts(all[head].text);
    let names: Vec<&str> = fields(all[head].text, &starts)?
        .into_iter()
        .map(str::trim)
        .collect();
    if !is_head(&names) || starts.len() > MAX {
        return None;
    }
    let row = |(at, line): (usize, &Line<'a>)| fields(line.text, &starts).filter(|_| at > head);
    Some(Table {
        head: Some(head),
        names,
        rows: all.iter().enumerate().map(row).collect(),
    })
}

/// Columns parted by what is blank in every line of three words or more, as `ls -l`, `df` and `ps` align them.
fn blank_columns<'a>(all: &[Line<'a>]) -> Option<Table<'a>> {
    let is_row = |line: &Line<'_>| line.text.split_whitespace().nth(2).is_some();
    // What begins with a mark in brackets or a field with its name are lines of one shape, items are a list.
    if all
        .first()
        .is_some_and(|line| line.text.starts_with('[') || parse_name(line.text).is_some())
        || all.iter().any(|line| line.item().is_some())
    {
        return None;
    }
    let rows = all.iter().filter(|line| is_row(line)).count();
    if rows < FEWEST.0
        || rows * 5 < all.len() * 4
        || all.iter().any(|line| line.text.contains('\t'))
    {
        return None;
    }
    let mut is_filled = Vec::new();
    // How many lines reach so far.
    let mut reach = Vec::new();
    for (at, line) in all.iter().filter(|line| is_row(line)).enumerate() {
        // Prose has no column left after some lines.
        if at == 64 && begins(&is_filled).len() < FEWEST.1 {
            return None;
        }
        for (at, char) in line.text.chars().enumerate() {
            if at == LONGEST {
                return None;
            }
            if at == is_filled.len() {
                is_filled.push(false);
                reach.push(0);
            }
            is_filled[at] |= char != ' ';
            reach[at] += 1;
        }
    }
    // Where few lines reach, what is blank in them is chance: it belongs to the last column.
    for (is_filled, reach) in is_filled.iter_mut().zip(reach) {
        *is_filled |= reach * 2 < rows;
    }
    let starts = begins(&is_filled);
    if starts.len() < FEWEST.1 || starts.len() > MAX {
        return None;
    }
    let split = |line: &Line<'a>| -> Vec<&'a str> {
        let mut places = line.text.char_indices().map(|(at, _)| at).enumerate();
        let bytes: Vec<usize> = starts
            .iter()
            .map(|start| {
                places
                    .by_ref()
                    .find(|(char, _)| char == start)
                    .map_or(line.text.len(), |(_, at)| at)
            })
            .chain([line.text.len()])
            .collect();
        bytes
            .windows(2)
            .map(|pair| &line.text[pair[0]..pair[1]])
            .collect()
    };
    let mut rows: Vec<Option<Vec<&str>>> = all
        .iter()
        .map(|line| is_row(line).then(|| split(line)))
        .collect();
    // Every column is filled in most rows, or the columns are words that happen to be below each other.
    let rows_with = |column: usize| {
        rows.iter()
            .flatten()
            .filter(|row| !row[column].trim().is_empty())
            .count()
    };
    if (0..starts.len()).any(|column| rows_with(column) * 2 < rows.iter().flatten().count()) {
        return None;
    }
    let first = rows.iter().position(Option::is_some)?;
    // Lines that nothing aligns and that differ in a word at most are a sentence told again.
    let varies = |column: &usize| {
        rows.iter().flatten().any(|row| {
            rows[first]
                .as_ref()
                .is_some_and(|of| of[*column] != row[*column])
        })
    };
    let is_padded = all.iter().any(|line| line.text.trim().contains("  "));
    if !is_padded && (0..starts.len()).filter(varies).nth(1).is_none() {
        return None;
    }
    let names: Vec<&str> = rows[first]
        .as_ref()?
        .iter()
        .map(|name| name.trim())
        .collect();
    // A head has no number where the rows below it have one.
    let has_digit = |text: &str| text.contains(|char: char| char.is_ascii_digit());
    let differs = (0..starts.len()).any(|column| {
        !has_digit(names[column])
            && rows[first + 1..]
                .iter()
                .flatten()
                .all(|row| has_digit(row[column]))
    });
    if !differs || !is_head(&names) || names.iter().any(|name| has_digit(name)) {
        return Some(Table {
            head: None,
            names: Vec::new(),
            rows,
        });
    }
    rows[first] = None;
    Some(Table {
        head: Some(first),
        names,
        rows,
    })
}

/// Where filled places begin.
fn begins(is_filled: &[bool]) -> Vec<usize> {
    (0..is_filled.len())
        .filter(|at| is_filled[*at] && (*at == 0 || !is_filled[at - 1]))
        .collect()
}

/// Names of columns: each is there, none begins with a digit, and none is a line of a program.
fn is_head(names: &[&str]) -> bool {
    let is_no_name =
        |name: &str| name.starts_with(|char: char| char.is_ascii_digit() || char == '[');
    names
        .iter()
        .all(|name| !name.is_empty() && !is_no_name(name) && !name.contains(['=', ';', '{', '}']))
}

/// Where the fields of a head begin, in characters.
fn starts(line: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut spaces = 2;
    for (at, char) in line.chars().enumerate() {
        if char == ' ' {
            spaces += 1;
        } else {
            if spaces > 1 {
                found.push(at);
            }
            spaces = 0;
        }
    }
    found
}

/// The parts of a line under each head; `None` where a word stands across the beginning of a column, or the line has only
/// its first.
fn fields<'a>(line: &'a str, starts: &[usize]) -> Option<Vec<&'a str>> {
    let places: Vec<usize> = line
        .char_indices()
        .map(|(at, _)| at)
        .chain([line.len()])
        .collect();
    let place = |char: usize| places.get(char).copied().unwrap_or(line.len());
    let mut parts = Vec::with_capacity(starts.len());
    for (at, start) in starts.iter().enumerate() {
        let (from, to) = (
            place(*start),
            starts.get(at + 1).map_or(line.len(), |next| place(*next)),
        );
        if at > 0 && from < line.len() && !line[..from].ends_with(' ') {
            return None;
        }
        parts.push(&line[from..to]);
    }
    (!line.starts_with(' ') && parts.iter().filter(|part| !part.trim().is_empty()).count() > 1)
        .then_some(parts)
}
