//! A list of objects in the data as a table: one row an item, one column a key.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use crate::queries::query::{Ctx, Query, Stop, Weigh};
use loupe_core::capture::ResultData;
use loupe_core::format::{MAX_CELLS, ParsedCapture, TableForm, WriteError, cell_text};
use loupe_core::json::{Kind, Node};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::{Encoding, each_token};

/// No more lists than these are offered; the tree leads to each.
const MAX_LISTS: usize = 100;
/// A longer value says no more about how wide its column should be.
const MAX_WIDTH: usize = 40;
/// No cell.
const NONE: u32 = u32::MAX;

/// A key of the items of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    pub key: String,
    /// How many items have it.
    pub cells: u64,
    /// Characters of its longest value that is a single one, up to 40.
    pub longest: usize,
    /// Whether every value is a number or null.
    pub is_number: bool,
}

/// A list of objects as a table.
#[derive(Clone, Debug, Default)]
pub struct DataTable {
    /// The JSON Pointer of the list, from the root of the data.
    pub list: String,
    /// JSON Pointers and lengths of the lists of objects in the data, in order, the first hundred.
    pub lists: Vec<(String, usize)>,
    pub columns: Vec<TableColumn>,
    /// The items by tape index.
    pub rows: Vec<u32>,
    cells: Vec<u32>,
}

impl DataTable {
    /// The tape index of a value; `None` where the item has no such key.
    pub fn cell(&self, row: usize, column: usize) -> Option<usize> {
        self.cells
            .get(row * self.columns.len() + column)
            .filter(|at| **at != NONE)
            .map(|at| *at as usize)
    }

    /// The position of the column of this key.
    pub fn column(&self, key: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.key == key)
    }

    fn new(data: &ResultData, wanted: Option<&str>) -> Result<Self, Problem> {
        let none = |what: &str| Problem::new(ProblemKind::Usage, what);
        let root = data.root();
        let nodes = (root.index()..root.subtree_end()).filter_map(|at| data.doc.node(at));
        let lists: Vec<_> = nodes
            .filter(|node| is_list_of_objects(*node))
            .take(MAX_LISTS)
            .collect();
        let longest = lists.iter().rev().max_by_key(|node| node.len());
        // Of another result, where the list is missing, the longest one is shown.
        let list = wanted
            .and_then(|pointer| root.at(pointer))
            .filter(|node| is_list_of_objects(*node))
            .or(longest.copied());
        let list = list.ok_or_else(|| none("there is no list of objects in the data"))?;
        let mut table = Self {
            list: list.pointer_from(root.index()),
            lists: lists
                .iter()
                .map(|node| (node.pointer_from(root.index()), node.len()))
                .collect(),
            ..Self::default()
        };
        let mut positions = HashMap::new();
        for member in list.children().flat_map(Node::children) {
            let key = member.key().unwrap_or_default();
            let at = *positions.entry(key.clone()).or_insert_with(|| {
                let column = TableColumn {
                    key: key.into_owned(),
                    cells: 0,
                    longest: 0,
                    is_number: true,
                };
                table.columns.push(column);
                table.columns.len() - 1
            });
            let column = &mut table.columns[at];
            column.cells += 1;
            column.is_number &= matches!(member.kind(), Kind::Number | Kind::Null);
            if !member.is_container() {
                column.longest = column
                    .longest
                    .max(cell_text(Some(member)).chars().take(MAX_WIDTH).count());
            }
        }
        if table.columns.len().saturating_mul(list.len()) > MAX_CELLS {
            let (items, keys) = (list.len(), table.columns.len());
            return Err(none(&format!(
                "{items} items with {keys} different keys: too wide for a table"
            )));
        }
        table.cells = vec![NONE; list.len() * table.columns.len()];
        for (row, item) in list.children().enumerate() {
            table.rows.push(tape(item));
            for member in item.children() {
                if let Some(column) = member.key().and_then(|key| positions.get(&key)) {
                    table.cells[row * table.columns.len() + column] = tape(member);
                }
            }
        }
        Ok(table)
    }

    /// The rows by the values of a column: numbers, texts, yes and no, then what holds others, and what is missing last. Equal
    /// ones keep their order.
    fn order(&self, data: &ResultData, key: &str, is_descending: bool) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..self.rows.len())
            .filter_map(|row| u32::try_from(row).ok())
            .collect();
        let Some(column) = self.column(key) else {
            return rows;
        };
        let keys: Vec<SortKey> = (0..self.rows.len())
            .map(|row| SortKey::new(self.cell(row, column).and_then(|at| data.doc.node(at))))
            .collect();
        rows.sort_by(|a, b| {
            let (a, b) = (&keys[*a as usize], &keys[*b as usize]);
            let is_last = |key: &SortKey| matches!(key, SortKey::Missing);
            match (is_last(a), is_last(b)) {
                (false, false) if is_descending => b.order(a),
                _ => a.order(b),
            }
        });
        rows
    }
}

fn tape(node: Node<'_>) -> u32 {
    u32::try_from(node.index()).unwrap_or(NONE)
}

/// Whether it is an array of objects alone, and holds one.
pub fn is_list_of_objects(node: Node<'_>) -> bool {
    node.kind() == Kind::Array
        && !node.is_empty()
        && node.children().all(|child| child.kind() == Kind::Object)
}

/// What a value is sorted by.
#[derive(Debug, PartialEq)]
enum SortKey {
    Number(f64),
    Text(String),
    Bool(bool),
    Container(usize),
    Missing,
}

impl SortKey {
    fn new(node: Option<Node<'_>>) -> Self {
        let Some(node) = node else {
            return Self::Missing;
        };
        match node.kind() {
            Kind::Null => Self::Missing,
            Kind::Number => node.as_f64().map_or(Self::Missing, Self::Number),
            Kind::String => Self::Text(node.as_str().unwrap_or_default().to_lowercase()),
            Kind::Bool => Self::Bool(node.as_bool() == Some(true)),
            Kind::Array | Kind::Object => Self::Container(node.len()),
        }
    }

    fn order(&self, other: &Self) -> Ordering {
        let rank = |key: &Self| match key {
            Self::Number(_) => 0,
            Self::Text(_) => 1,
            Self::Bool(_) => 2,
            Self::Container(_) => 3,
            Self::Missing => 4,
        };
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Container(a), Self::Container(b)) => a.cmp(b),
            (a, b) => rank(a).cmp(&rank(b)),
        }
    }
}

fn data(subject: &ParsedCapture) -> Result<&ResultData, Problem> {
    let none = || Problem::new(ProblemKind::Usage, "there is no data in this answer");
    subject.data.as_ref().ok_or_else(none)
}

/// A list of objects as a table, by its JSON Pointer; without one the longest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DataTableQuery {
    pub list: Option<Arc<str>>,
}

impl Query for DataTableQuery {
    type Out = Arc<DataTable>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(DataTable::new(
            data(cx.subject()?)?,
            self.list.as_deref(),
        )?))
    }
}

/// The positions of a table's rows, sorted by a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableOrderQuery {
    pub list: Option<Arc<str>>,
    /// The key, and whether the greatest comes first.
    pub sort: (Arc<str>, bool),
}

impl Query for TableOrderQuery {
    type Out = Arc<[u32]>;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let data = data(cx.subject()?)?;
        let table = DataTable::new(data, self.list.as_deref())?;
        cx.check()?;
        Ok(table.order(data, &self.sort.0, self.sort.1).into())
    }
}

/// What each column of a table costs in the compact JSON of the whole data: its keys and values in all items.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableTokensQuery {
    pub list: Option<Arc<str>>,
    pub encoding: Encoding,
}

impl Query for TableTokensQuery {
    type Out = Arc<[u64]>;
    const IS_COUNT: bool = true;

    /// The user turned to the table.
    fn is_held(&self) -> bool {
        false
    }

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let data = data(cx.subject()?)?;
        let table = DataTable::new(data, self.list.as_deref())?;
        cx.check()?;
        let root = data.root();
        // Prefix sums over the tape: a subtree is a range of it.
        let mut before = vec![0_u64; root.subtree_end() - root.index() + 1];
        each_token(root, self.encoding, |node, _| before[node + 1] += 1);
        for at in 1..before.len() {
            before[at] += before[at - 1];
        }
        let mut tokens = vec![0; table.columns.len()];
        for row in 0..table.rows.len() {
            for (column, sum) in tokens.iter_mut().enumerate() {
                if let Some(node) = table.cell(row, column).and_then(|at| data.doc.node(at)) {
                    *sum += before[node.subtree_end() - root.index()]
                        - before[node.index() - root.index()];
                }
            }
        }
        Ok(tokens.into())
    }
}

/// A table, or some of its columns, to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct TableText {
    pub list: Option<Arc<str>>,
    /// The keys of the columns, in their order; `None` is all.
    pub columns: Option<Vec<String>>,
    /// The key that the rows are sorted by, and whether the greatest comes first.
    pub sort: Option<(Arc<str>, bool)>,
    pub form: TableForm,
}

impl TableText {
    /// Writes it as the formats `csv` and `markdown-table` write theirs.
    ///
    /// # Errors
    /// There is no such table.
    pub fn write(&self, subject: &ParsedCapture) -> Result<String, Problem> {
        let data = data(subject)?;
        let table = DataTable::new(data, self.list.as_deref())?;
        let columns: Vec<usize> = match &self.columns {
            Some(keys) => keys.iter().filter_map(|key| table.column(key)).collect(),
            None => (0..table.columns.len()).collect(),
        };
        let order: Vec<usize> = match &self.sort {
            Some((key, is_descending)) => table
                .order(data, key, *is_descending)
                .into_iter()
                .map(|row| row as usize)
                .collect(),
            None => (0..table.rows.len()).collect(),
        };
        let names = columns
            .iter()
            .map(|column| Cow::Borrowed(table.columns[*column].key.as_str()));
        let rows = order.into_iter().map(|row| {
            let cell = |column: &usize| table.cell(row, *column).and_then(|at| data.doc.node(at));
            columns
                .iter()
                .map(|column| cell_text(cell(column)))
                .collect()
        });
        let mut text = Vec::new();
        let written = self.form.write(names, rows, &mut text);
        written.map_err(|WriteError(why)| Problem::new(ProblemKind::Internal, why))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

impl Weigh for DataTable {
    fn weight(&self) -> usize {
        (self.cells.len() + self.rows.len()) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::TokenMapQuery;
    use loupe_core::cancel::Cancel;
    use loupe_core::host::Hosts;

    const DATA: &str = r#"{"structuredContent":{"total":3,"items":[
        {"id":10,"name":"b|\"x\"","tags":[{"t":1}]},{"name":"A","id":9,"note":null},{"id":"7"},{"id":9,"name":"c\nd"}]}}"#;

    fn get<Q: Query>(answer: &str, query: &Q) -> Result<Q::Out, Problem> {
        let subjects = [Arc::new(ParsedCapture::from_result(answer))];
        let (hosts, cancel) = (Hosts::built_in(), Cancel::new());
        Ctx::new(&subjects, &hosts, &cancel).get(query).unwrap()
    }

    #[test]
    fn the_longest_list_is_a_table_and_others_are_named() {
        let table = get(DATA, &DataTableQuery::default()).unwrap();
        assert_eq!((table.list.as_str(), table.rows.len()), ("/items", 4));
        assert_eq!(
            table.lists,
            [("/items".to_owned(), 4), ("/items/0/tags".to_owned(), 1)]
        );
        let columns: Vec<_> = table
            .columns
            .iter()
            .map(|column| (column.key.as_str(), column.cells))
            .collect();
        assert_eq!(columns, [("id", 4), ("name", 3), ("tags", 1), ("note", 1)]);
        assert_eq!((table.cell(2, 1), table.cell(2, 0).is_some()), (None, true));
        let inner = get(
            DATA,
            &DataTableQuery {
                list: Some("/items/0/tags".into()),
            },
        )
        .unwrap();
        assert_eq!(inner.columns[0].key, "t");
        // Of another result, that has no such list.
        assert_eq!(
            get(
                DATA,
                &DataTableQuery {
                    list: Some("/rows".into())
                }
            )
            .unwrap()
            .list,
            "/items"
        );
        assert!(
            get(
                r#"{"structuredContent":{"a":[1,{"b":2}]}}"#,
                &DataTableQuery::default()
            )
            .is_err()
        );
    }

    #[test]
    fn rows_are_sorted_by_value_and_what_is_missing_comes_last() {
        let order = |key: &str, is_descending| {
            get(
                DATA,
                &TableOrderQuery {
                    list: None,
                    sort: (key.into(), is_descending),
                },
            )
            .unwrap()
            .to_vec()
        };
        assert_eq!(order("id", false), [1, 3, 0, 2]);
        assert_eq!(order("id", true), [2, 0, 1, 3]);
        assert_eq!(order("name", false), [1, 0, 3, 2]);
        assert_eq!(order("name", true), [3, 0, 1, 2]);
        assert_eq!(order("no such key", true), [0, 1, 2, 3]);
    }

    #[test]
    fn a_column_costs_what_the_token_map_says_of_it() {
        for &encoding in Encoding::ALL {
            let tokens = get(
                DATA,
                &TableTokensQuery {
                    list: None,
                    encoding,
                },
            )
            .unwrap();
            let map = get(DATA, &TokenMapQuery(encoding)).unwrap().unwrap();
            let of = |path: &str| -> u64 {
                let is_in = |at: &usize| {
                    map.columns
                        .path(*at)
                        .strip_prefix(path)
                        .is_some_and(|rest| !rest.starts_with(|c| c != '/'))
                };
                (0..map.own.len())
                    .filter(is_in)
                    .map(|at| map.own[at].total())
                    .sum()
            };
            assert_eq!(
                tokens.to_vec(),
                ["id", "name", "tags", "note"].map(|key| of(&format!("/items/*/{key}")))
            );
        }
    }

    #[test]
    fn a_table_is_written_as_it_is_shown() {
        let mut text = TableText {
            list: None,
            columns: None,
            sort: Some(("id".into(), false)),
            form: TableForm::Csv,
        };
        let subject = ParsedCapture::from_result(DATA);
        assert_eq!(
            text.write(&subject).unwrap(),
            "id,name,tags,note\n9,A,,\n9,\"c\nd\",,\n10,\"b|\"\"x\"\"\",\"[{\"\"t\"\":1}]\",\n7,,,\n"
        );
        text = TableText {
            columns: Some(vec!["name".into(), "id".into()]),
            sort: None,
            form: TableForm::Markdown,
            ..text
        };
        assert_eq!(
            text.write(&subject).unwrap(),
            "| name | id |\n|---|---|\n| b\\|\"x\" | 10 |\n| A | 9 |\n|  | 7 |\n| c<br>d | 9 |\n"
        );
    }
}
