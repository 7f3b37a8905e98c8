//! Cells and the labels of their columns: Markdown tables, CSV, TOON, and JSON as columns and rows.

use std::ops::Range;

use super::canon::Canon;
use super::span::trim;
use crate::layout::{Line, is_name_head, is_value_head};

/// A label and the cell under it.
pub(super) type Cell = (Range<usize>, Range<usize>);

/// What a line is to the table it belongs to.
pub(super) enum Row {
    /// The labels of the columns, which may be in the line before.
    Header(Range<usize>),
    /// With what stands first, which may be the name of a record.
    Cells {
        head: Range<usize>,
        cells: Vec<Cell>,
    },
    /// The labels are in a line that opens a list of its own name: `items[2]{id,name}:`.
    Opens { label: Range<usize>, body: usize },
}

/// The table that is open.
#[derive(Default)]
pub(super) struct Tables {
    header: Vec<Range<usize>>,
    sign: Option<char>,
    /// Rows that are still to come, where the header says so.
    rows: usize,
    /// A key stands before each row: `[2:]{id,name}:`.
    has_keys: bool,
    previous: Option<Range<usize>>,
}

impl Tables {
    /// Reads the next line; `None` for one that belongs to no table.
    pub(super) fn line(
        &mut self,
        canon: &Canon,
        own: &Line<'_>,
        is_key: &dyn Fn(&str) -> bool,
    ) -> Option<Row> {
        let line = own.range();
        let previous = self.previous.replace(line.clone());
        if own.is_table_rule()
            && let Some(header) = previous
        {
            (self.sign, self.rows) = (Some('|'), usize::MAX);
            self.header = split(canon, header.clone(), '|');
            return Some(Row::Header(header));
        }
        // The line before a separator is known as a header only afterwards; there is no row without one.
        if own.is_blank() || self.rows == 0 || (self.sign == Some('|') && !own.text.contains('|')) {
            self.sign = None;
        }
        if let Some(sign) = self.sign {
            self.rows -= 1;
            let key = own
                .text
                .find(':')
                .filter(|_| self.has_keys)
                .map(|len| line.start..line.start + len);
            let cells = split(
                canon,
                key.as_ref().map_or(line.start, |key| key.end + 1)..line.end,
                sign,
            );
            let head = key.or_else(|| cells.first().cloned())?;
            return self
                .row(canon, cells)
                .map(|cells| Row::Cells { head, cells });
        }
        self.has_keys = false;
        if let Some((label, count, columns)) = opening(&canon.text, line.clone()) {
            let body = line.end;
            return match columns {
                Ok(columns) => {
                    self.header = split(canon, columns, ',');
                    (self.sign, self.rows) = (Some(','), count);
                    self.has_keys = own.text.contains(":]");
                    Some(Row::Opens { label, body })
                }
                Err(values) => {
                    let cells = split(canon, values, ',');
                    let head = label.clone();
                    let cells: Vec<Cell> = cells
                        .into_iter()
                        .map(|cell| (label.clone(), cell))
                        .collect();
                    (cells.len() == count).then_some(Row::Cells { head, cells })
                }
            };
        }
        let sign = [',', '\t', ';']
            .into_iter()
            .find(|sign| own.text.contains(*sign) && is_header(own.text, *sign, is_key))?;
        self.header = split(canon, line.clone(), sign);
        (self.sign, self.rows) = (Some(sign), usize::MAX);
        Some(Row::Header(line))
    }

    fn row(&self, canon: &Canon, cells: Vec<Range<usize>>) -> Option<Vec<Cell>> {
        if let (true, [label, value]) = (self.is_field_table(canon), cells.as_slice()) {
            return Some(vec![(trim(&canon.text, label.clone()), value.clone())]);
        }
        let is_row = cells.len() == self.header.len() || self.sign == Some('|');
        is_row.then(|| {
            self.header
                .iter()
                .map(|label| trim(&canon.text, label.clone()))
                .zip(cells)
                .collect()
        })
    }

    /// Two columns, of which the first holds labels.
    fn is_field_table(&self, canon: &Canon) -> bool {
        let head = |cell: &Range<usize>| &canon.text[trim(&canon.text, cell.clone())];
        self.sign == Some('|')
            && matches!(&self.header[..], [name, value] if is_name_head(head(name)) && is_value_head(head(value)))
    }
}

/// Whether a line is the header of separated values: at least two of its cells are keys, and half of all.
fn is_header(line: &str, sign: char, is_key: &dyn Fn(&str) -> bool) -> bool {
    let is_title = |cell: &&str| {
        cell.len() <= 60 && !cell.contains([':', '=']) && is_key(cell.trim().trim_matches('"'))
    };
    let mut cells = line.split(sign);
    // Most lines are none, and need not be looked at to their ends.
    let known = cells.by_ref().take(4).filter(is_title).count();
    if known < 2 {
        return false;
    }
    let count = line.split(sign).count();
    (known + cells.filter(is_title).count()) * 2 >= count
}

/// `items[2]{id,name}:` with the range of its columns, `sizes[2]: 1,500` with that of its values.
type Opening = (Range<usize>, usize, Result<Range<usize>, Range<usize>>);

fn opening(text: &str, line: Range<usize>) -> Option<Opening> {
    let body = &text[line.clone()];
    let open = body.find('[').filter(|at| *at <= 60)?;
    let close = open + body[open..].find(']').filter(|at| *at <= 12)?;
    let count = body[open + 1..close].trim_end_matches(':').parse().ok()?;
    let label = trim(text, line.start..line.start + open);
    let rest = &body[close + 1..];
    if let Some(values) = rest.strip_prefix(": ") {
        return Some((label, count, Err(line.end - values.len()..line.end)));
    }
    let columns = rest.strip_prefix('{')?.trim_end().strip_suffix("}:")?;
    let start = line.start + close + 2;
    Some((label, count, Ok(start..start + columns.len())))
}

/// The cells of a line. A quote closes where a cell may end.
fn split(canon: &Canon, line: Range<usize>, sign: char) -> Vec<Range<usize>> {
    let text = &canon.text;
    if sign == '|' {
        let row = Line::new(&text[line.clone()], line.start);
        let cells = row.cells_between(|bar| !canon.is_literal_pipe(bar));
        return cells.map(|cell| row.place_of(cell)).collect();
    }
    let mut cells = Vec::new();
    let mut start = line.start;
    let mut is_quoted = false;
    for (offset, char) in text[line.clone()].char_indices() {
        let at = line.start + offset;
        let ends = |at: usize| at == line.end || text[at..].starts_with(sign);
        if char == '"' {
            is_quoted = if is_quoted {
                !ends(at + 1)
            } else {
                text[start..at].trim().is_empty() && !ends(at + 1)
            };
        } else if char == sign && !is_quoted {
            cells.push(start..at);
            start = at + sign.len_utf8();
        }
    }
    cells.push(start..line.end);
    cells
}

/// A container of JSON that is open.
#[derive(Default)]
struct Open {
    is_object: bool,
    /// The columns that this object has named.
    columns: Vec<Range<usize>>,
    /// Which cell of a row this is, with the columns it is under.
    row: Option<(std::rc::Rc<Vec<Range<usize>>>, usize)>,
    rows: Option<std::rc::Rc<Vec<Range<usize>>>>,
    names_columns: bool,
    start: usize,
}

/// The cells of every `{"columns":[…],"rows":[[…]]}` in a text.
pub(super) fn columns_and_rows(text: &str, headers: &mut Vec<Range<usize>>) -> Vec<Cell> {
    const COLUMNS: &str = "\"columns\":[";
    const ROWS: &str = "\"rows\":[";
    let mut cells = Vec::new();
    let Some(first) = text.find(COLUMNS) else {
        return cells;
    };
    let bytes = text.as_bytes();
    let mut stack: Vec<Open> = vec![Open {
        is_object: true,
        ..Open::default()
    }];
    let mut at = first;
    while at < bytes.len() {
        let byte = bytes[at];
        let (names_columns, names_rows) = (
            text[at..].starts_with(COLUMNS),
            text[at..].starts_with(ROWS),
        );
        let Some(top) = stack.last_mut() else { break };
        match byte {
            _ if names_columns && top.is_object => {
                at += COLUMNS.len();
                stack.push(Open {
                    names_columns: true,
                    start: at,
                    ..Open::default()
                });
                continue;
            }
            _ if names_rows && top.is_object && !top.columns.is_empty() => {
                at += ROWS.len();
                let rows = Some(std::rc::Rc::new(std::mem::take(&mut top.columns)));
                stack.push(Open {
                    rows,
                    start: at,
                    ..Open::default()
                });
                continue;
            }
            b'"' => {
                let end = string_end(bytes, at);
                if top.names_columns {
                    top.columns.push(at + 1..end.max(at + 2) - 1);
                }
                at = end;
                continue;
            }
            b'{' | b'[' => {
                let row = top
                    .rows
                    .clone()
                    .filter(|_| byte == b'[')
                    .map(|columns| (columns, 0));
                stack.push(Open {
                    is_object: byte == b'{',
                    row,
                    start: at + 1,
                    ..Open::default()
                });
            }
            b',' => top.next_cell(at, &mut cells),
            b'}' | b']' => {
                top.next_cell(at, &mut cells);
                if let Some(closed) = stack.pop()
                    && closed.names_columns
                    && let Some(object) = stack.last_mut()
                {
                    headers.push(closed.start..at);
                    object.columns = closed.columns;
                }
            }
            _ => {}
        }
        at += 1;
    }
    cells
}

impl Open {
    fn next_cell(&mut self, at: usize, cells: &mut Vec<Cell>) {
        if let Some((columns, position)) = &mut self.row {
            if let Some(label) = columns.get(*position) {
                cells.push((label.clone(), self.start..at));
            }
            *position += 1;
            self.start = at + 1;
        }
    }
}

/// Where a string of JSON ends whose escapes are undone: at a quote behind which a value may end.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let quotes = memchr::memchr_iter(b'"', &bytes[start + 1..]).map(|at| start + at + 2);
    let mut ends =
        quotes.filter(|&end| bytes.get(end).is_none_or(|next| b",:]} \n".contains(next)));
    ends.next().unwrap_or(bytes.len())
}
