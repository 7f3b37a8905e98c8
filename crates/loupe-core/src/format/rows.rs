//! The row set of data: the one list of records that a table can show, and the envelope around it.

use std::borrow::Cow;

use foldhash::HashMap;

use super::json::compact;
use super::out::Pieces;
use super::{NotApplicable, ParsedCapture, Sink, WriteError, data_of};
use crate::capture::facts::record_lists;
use crate::json::{FaultKind, Kind, Node};

/// A table with more cells is refused: it would be almost all empty, and its size the square of the data's.
pub const MAX_CELLS: usize = 20_000_000;

/// What every table begins with: whether there are records.
pub(super) fn applies(subject: &ParsedCapture) -> Result<(), NotApplicable> {
    RowSet::new(data_of(subject)?.root()).map(|_| ())
}

/// Writes a table: finds the records and their columns, and hands them to `write`; `format` is the name in the reasons.
pub(super) fn write_table(
    subject: &ParsedCapture,
    format: &str,
    sink: &mut dyn Sink,
    write: impl FnOnce(RowSet<'_>, &Columns<'_>, &mut Pieces<'_>) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let Some(data) = &subject.data else {
        return Ok(());
    };
    let rows = RowSet::new(data.root()).map_err(|why| WriteError(why.0))?;
    let columns = rows.columns(format)?;
    let mut out = Pieces::new(sink);
    write(rows, &columns, &mut out)?;
    out.finish();
    Ok(())
}

/// Records and what stands around them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSet<'a> {
    root: Node<'a>,
    /// The array of records: the root, or one of its members.
    list: Node<'a>,
}

impl<'a> RowSet<'a> {
    /// A non-empty array of objects, or an object with exactly one member that is one.
    pub(crate) fn new(root: Node<'a>) -> Result<Self, NotApplicable> {
        let no = |why: &str| Err(NotApplicable(why.to_owned()));
        match (record_lists(root).as_slice(), root.kind()) {
            ([list], _) => Ok(Self { root, list: *list }),
            ([], Kind::Array) if root.is_empty() => no("an empty list: no records"),
            ([], Kind::Array) => no("not a list of records"),
            ([], Kind::Object) => no("no list of records in it"),
            ([], _) => no("a single value, not a list of records"),
            (lists, _) => no(&format!(
                "an object of {} lists: no single table",
                number_word(lists.len())
            )),
        }
    }

    /// The array of records itself.
    pub(crate) fn list(self) -> Node<'a> {
        self.list
    }

    pub(crate) fn records(self) -> impl Iterator<Item = Node<'a>> {
        self.list.children()
    }

    /// The members next to the list, in order.
    pub(super) fn envelope(self) -> Vec<Node<'a>> {
        let list = self.list.index();
        if self.root.index() == list {
            Vec::new()
        } else {
            self.root
                .children()
                .filter(|child| child.index() != list)
                .collect()
        }
    }

    /// The union of the records' keys in order of first sight, with their positions.
    pub(super) fn columns(self, format: &str) -> Result<Columns<'a>, WriteError> {
        let faults = self.root.doc().faults();
        if faults.iter().any(|fault| {
            fault.kind == FaultKind::DuplicateKey && self.root.range().contains(&fault.at)
        }) {
            return Err(WriteError(format!(
                "a key stands twice in one object: {format} has one column for both"
            )));
        }
        let mut columns = Columns {
            names: Vec::new(),
            positions: HashMap::default(),
        };
        for member in self.records().flat_map(Node::children) {
            let key = member.key().unwrap_or_default();
            if !columns.positions.contains_key(&key) {
                columns.positions.insert(key.clone(), columns.names.len());
                columns.names.push(key);
            }
        }
        if columns.names.is_empty() {
            return Err(WriteError("the records have no fields".into()));
        }
        if columns.names.len().saturating_mul(self.list.len()) > MAX_CELLS {
            let (rows, names) = (self.list.len(), columns.names.len());
            return Err(WriteError(format!(
                "{rows} records with {names} different keys: too wide for a table"
            )));
        }
        Ok(columns)
    }
}

/// The columns of a row set.
pub(super) struct Columns<'a> {
    pub(super) names: Vec<Cow<'a, str>>,
    positions: HashMap<Cow<'a, str>, usize>,
}

impl<'a> Columns<'a> {
    /// What the cells of each record say.
    pub(super) fn cells(&self, rows: RowSet<'a>) -> impl Iterator<Item = Vec<Cow<'a, str>>> {
        rows.records()
            .map(|record| self.row(record).into_iter().map(cell_text).collect())
    }

    /// A record's members by column; `None` where it has none.
    pub(super) fn row(&self, record: Node<'a>) -> Vec<Option<Node<'a>>> {
        let mut row = vec![None; self.names.len()];
        for member in record.children() {
            if let Some(&at) = member.key().and_then(|key| self.positions.get(&key)) {
                row[at] = Some(member);
            }
        }
        row
    }
}

/// What a cell says: a string as it is, a number or boolean as its JSON token, null nothing, anything else compact JSON.
pub fn cell_text(node: Option<Node<'_>>) -> Cow<'_, str> {
    let Some(node) = node else {
        return Cow::Borrowed("");
    };
    match node.kind() {
        Kind::Null => Cow::Borrowed(""),
        Kind::String => node.as_str().unwrap_or_default(),
        Kind::Bool | Kind::Number => node.raw_text(),
        Kind::Array | Kind::Object => Cow::Owned(compact(node)),
    }
}

fn number_word(number: usize) -> String {
    const WORDS: [&str; 8] = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine",
    ];
    number
        .checked_sub(2)
        .and_then(|at| WORDS.get(at))
        .map_or_else(|| number.to_string(), |word| (*word).to_owned())
}
