//! One call over several values of an argument, or several times alike, side by side: what each column costs, what it
//! leaves out, and where each record is in it.
//!
//! Pure functions over calls that were made; making them is the caller's job. The columns are judged against one
//! data, that of the result which says most, so that "left out" means the same in all of them.

pub mod curve;
mod page;
mod plan;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

pub use page::{
    ComparisonPage, ComparisonQuery, ComparisonRows, ComparisonRowsQuery, FieldLost, PREAMBLE,
    Section, SectionCell, ThisPage, readable,
};
pub use plan::{
    ComparisonChoice, ComparisonPlan, PageSize, argument_names, choices, differs_only_in,
    format_argument, page_size_argument, plan_calls, shown, value_in, values, with_value,
};
pub(crate) use plan::{is_about_form, is_about_size};

use crate::queries::token_map::TokenMap;
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::facts::record_lists;
use loupe_core::capture::{
    Fact, FactCount, FactMatches, FactState, Outcome, ResultData, locate_facts,
};
use loupe_core::diff::key::{key_field, key_value};
use loupe_core::diff::pattern::pattern;
use loupe_core::format::claim::OmittedText;
use loupe_core::format::format_bytes;
use loupe_core::format::ledger::Row;
use loupe_core::format::{self, ExtraPiece, ParsedCapture};
use loupe_core::host::{Hosts, ResultPart};
use loupe_core::json::{Kind, Node};
use loupe_core::token::Encoding;

/// How much of a value is shown as an example of its field.
const MAX_VALUE_CHARS: usize = 60;
/// A format that saves less than this against compact JSON has no column of its own at first.
const WORTH_A_COLUMN: u64 = 95;

/// One call that was made, with every row of its ledger.
#[derive(Clone, Debug)]
pub struct ComparedCall {
    /// The value of the varied argument, a JSON text; of equal calls which one it is.
    pub value: String,
    pub subject: Arc<ParsedCapture>,
    pub rows: Vec<Row>,
}

impl ComparedCall {
    /// Measures every format of a call.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn measure(
        value: String,
        subject: Arc<ParsedCapture>,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let rows = Row::measure_all(&subject, cancel);
        cancel.check()?;
        Ok(Self {
            rows,
            value,
            subject,
        })
    }

    /// What the server sent: `both`, else the one part that there is.
    pub fn as_sent(&self) -> Option<&Row> {
        self.row_of(ResultPart::Both)
    }

    /// This part of what the server sent; `None` where it did not.
    pub fn row_of(&self, part: ResultPart) -> Option<&Row> {
        part.formats()
            .iter()
            .find_map(|id| self.row(id).filter(|row| row.is_available()))
    }

    pub fn row(&self, format: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.format == format)
    }
}

/// Where a column comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnOrigin {
    /// The answer to this call, as sent.
    Call(usize),
    /// Written by Loupe from the data of this call's answer, without a call.
    Derived(usize),
}

/// One place of the data, in every record at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Such as `/items/*/city`.
    pub pattern: String,
    /// How many facts it has.
    pub total: u64,
    /// Whether it is a field of the records, rather than of what stands around them.
    pub is_of_record: bool,
    /// Tokens that begin in it, its name and punctuation included, in the compact JSON of the data.
    pub tokens: u64,
    /// Its facts, as positions among [`Comparison::facts`].
    pub facts: Vec<u32>,
    /// How many records have one.
    pub records: u64,
}

/// A fact of the data, in all columns alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactPlace {
    /// Position among [`Comparison::fields`].
    pub field: u32,
    /// Position among [`Comparison::records`]; `None` of what stands around them.
    pub record: Option<u32>,
}

/// What a column makes of one field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldCell {
    /// Facts that it does not tell, of the records that it has.
    pub lost: u64,
    /// Of these, those of which it says something else.
    pub differing: u64,
    /// Facts that it tells in other words.
    pub reworded: u64,
    /// What it says of the first: of one that differs, else of one that is reworded, else of any.
    pub text: String,
}

/// A value of the data that a column gives differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueMismatch {
    /// JSON Pointer into the data that the columns are judged against.
    pub path: String,
    pub value: String,
    /// What the column says.
    pub text: String,
}

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// "json as sent", "JSON, compact".
    pub title: String,
    pub origin: ColumnOrigin,
    /// The format of its text, by id.
    pub format: &'static str,
    pub text: Arc<str>,
    /// What it costs.
    pub row: Row,
    /// Of the call; `None` where there was none.
    pub latency: Option<Duration>,
    pub outcome: Outcome,
    /// Why there is nothing to compare: the call failed, the tool answered with an error, or the format does not apply.
    pub why: Option<String>,
    /// How many facts it carries; `None` where no result has data, or there is nothing to compare.
    pub facts: Option<FactCount>,
    /// By field, in the order of [`Comparison::fields`].
    pub cells: Vec<FieldCell>,
    /// What became of each fact, in the order of [`Comparison::facts`]; none where there is nothing to compare.
    pub found: Vec<Fact>,
    /// By record: whether its own data does not have it, as where fewer were asked for; none where it has no data of its own.
    pub lacks: Vec<bool>,
    /// How many records that are.
    pub absent: u64,
    /// What it drops of what the model reads of the reference, as far as that is known.
    pub omitted: Option<OmittedText>,
    /// Records in its own data; `None` where that has no one list of records.
    pub records: Option<usize>,
    pub differing: Vec<ValueMismatch>,
}

impl Column {
    /// One of which nothing is known but its text and its cost.
    fn new(
        title: String,
        (origin, outcome): (ColumnOrigin, Outcome),
        format: &'static str,
        row: Row,
        text: Arc<str>,
    ) -> Self {
        Self {
            title,
            origin,
            format,
            text,
            latency: None,
            outcome,
            why: row.why.clone(),
            row,
            facts: None,
            cells: Vec::new(),
            found: Vec::new(),
            lacks: Vec::new(),
            absent: 0,
            omitted: None,
            records: None,
            differing: Vec::new(),
        }
    }

    /// The title without which part of the result it shows: `json` of "json as sent".
    pub fn value_title(&self) -> &str {
        let parts = ResultPart::ALL
            .iter()
            .filter(|_| matches!(self.origin, ColumnOrigin::Call(_)));
        parts
            .filter_map(|part| self.title.strip_suffix(suffix(*part)))
            .next()
            .unwrap_or(&self.title)
    }

    pub fn is_answer(&self) -> bool {
        self.why.is_none()
    }

    /// Whether it is the answer to a call.
    pub fn is_offered(&self) -> bool {
        matches!(self.origin, ColumnOrigin::Call(_))
    }
}

/// A record and where it is in each column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlignedRecord {
    /// JSON Pointer into the data that has it: `/items/0`.
    pub path: String,
    /// What people call it: its name, else its key.
    pub title: String,
    /// Whether it is in the data that the columns are judged against.
    pub is_of_reference: bool,
    /// By column: ranges of its text, in order; none where it does not be there.
    pub places: Vec<Vec<Range<usize>>>,
}

/// What a call costs next to the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta {
    pub call: usize,
    /// Tokens of each format that both have, minus those of the baseline.
    pub tokens: Vec<(&'static str, i64)>,
    /// Tokens as sent over those of the baseline as sent.
    pub ratio: Option<f64>,
    /// Patterns of the fields of which it loses a fact.
    pub missing: Vec<String>,
}

/// The result.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The argument; `None` of equal calls.
    pub vary: Option<String>,
    /// Whether that argument chooses how much is answered or in which form, so that the results are about the same data.
    pub(crate) is_about_form: bool,
    /// Whether that argument says how many records are asked for.
    pub(crate) is_about_size: bool,
    /// Calls in their order, then what is derived.
    pub columns: Vec<Column>,
    /// The call whose column is the baseline; `None` where no call gave a result.
    pub baseline: Option<usize>,
    /// The call whose data the columns are judged against; `None` where no result has data.
    pub reference: Option<usize>,
    /// Equal calls whose result is not, byte for byte, that of the baseline.
    pub different: Vec<usize>,
    /// By which fields, columns and answers are weighed.
    pub encoding: Encoding,
    /// Those of the records first.
    pub fields: Vec<Field>,
    /// Every fact of the data, in its order.
    pub facts: Vec<FactPlace>,
    /// The field by which records are found again in results with data of their own.
    pub key: Option<String>,
    /// Every row of the result whose data the columns are judged against.
    pub rows: Vec<Row>,
    pub records: Vec<AlignedRecord>,
}

impl Comparison {
    /// Puts calls side by side.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn of(
        ask: &ComparisonQuery,
        calls: &[ComparedCall],
        hosts: &Hosts,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let vary = ask.vary.as_deref();
        let varied = || vary.zip(calls.first().map(|call| &call.subject.capture.tool));
        let reference = reference(calls);
        let part = calls
            .first()
            .map(|call| hosts.part_read(ask.reads, &call.subject))
            .unwrap_or_default();
        let mut comparison = Self {
            vary: vary.map(str::to_owned),
            is_about_form: varied().is_none_or(|(vary, tool)| is_about_form(tool, vary)),
            is_about_size: varied().is_some_and(|(vary, tool)| is_about_size(tool, vary)),
            columns: calls
                .iter()
                .enumerate()
                .map(|(at, call)| sent_column(at, call, part))
                .collect(),
            baseline: None,
            reference,
            different: Vec::new(),
            encoding: ask.encoding,
            fields: Vec::new(),
            facts: Vec::new(),
            key: None,
            rows: reference
                .map(|at| calls[at].rows.clone())
                .unwrap_or_default(),
            records: Vec::new(),
        };
        let is_answer = |at: usize| comparison.columns.get(at).is_some_and(Column::is_answer);
        comparison.baseline = ask
            .baseline
            .filter(|at| is_answer(*at))
            .or_else(|| (0..calls.len()).find(|at| is_answer(*at)));
        if let (None, Some(base)) = (vary, comparison.baseline) {
            let result = |at: usize| {
                calls[at]
                    .subject
                    .response
                    .result()
                    .map(|node| node.raw_bytes())
            };
            comparison.different = (0..calls.len())
                .filter(|at| is_answer(*at) && result(*at) != result(base))
                .collect();
        }
        let usual = || {
            let ids = ["json"]
                .into_iter()
                .chain(comparison.worth_a_column())
                .chain(["markdown-table"]);
            reference
                .into_iter()
                .flat_map(|at| ids.clone().map(move |id| (at, id)))
                .collect()
        };
        let derived = ask
            .derived
            .clone()
            .unwrap_or_else(|| if vary.is_some() { usual() } else { Vec::new() });
        for (at, id) in derived {
            cancel.check()?;
            comparison
                .columns
                .extend(calls.get(at).and_then(|call| derived_column(at, id, call)));
        }
        if let Some(data) = reference.and_then(|at| calls[at].subject.data.as_ref()) {
            comparison.judge(data, calls, cancel)?;
        }
        comparison.find_omitted(calls);
        Ok(comparison)
    }

    /// The column of a call.
    pub fn column_of(&self, call: usize) -> Option<&Column> {
        self.columns
            .iter()
            .find(|column| column.origin == ColumnOrigin::Call(call))
    }

    /// The cheapest format of the reference's answer that says the same, where it saves something against compact JSON.
    fn worth_a_column(&self) -> Option<&'static str> {
        let tokens = |row: &&Row| row.tokens.get(self.encoding);
        let is_derived =
            |row: &&Row| format::by_id(row.format).is_some_and(|format| !format.is_as_sent());
        let json = self.rows.iter().find(|row| row.format == "json")?;
        let same = self
            .rows
            .iter()
            .filter(|row| row.is_available() && row.claim().is_same_data())
            .filter(is_derived);
        let cheapest = same
            .min_by_key(tokens)
            .filter(|row| tokens(row) * 100 <= tokens(&json) * WORTH_A_COLUMN)?;
        (cheapest.format != "markdown-table").then_some(cheapest.format)
    }

    /// Whether the results that were given hold the same records, as far as their own data shows. Only then can one of
    /// them be cheaper than another.
    pub(crate) fn has_same_records(&self) -> bool {
        let answers = || {
            self.columns.iter().filter(|column| {
                column.is_answer() && matches!(column.origin, ColumnOrigin::Call(_))
            })
        };
        let mut counts: HashSet<Option<usize>> = answers().map(|column| column.records).collect();
        // Data that is no list may be written so that its list is not seen; where fewer are asked for, it is one record.
        if !self.is_about_size {
            counts.remove(&None);
        }
        let keys = self.records.iter().all(|record| record.is_of_reference);
        counts.len() <= 1 && keys && answers().all(|column| column.absent == 0)
    }

    /// The fields of which a column loses a fact, with how many.
    pub fn missing<'s>(&'s self, column: &'s Column) -> impl Iterator<Item = (&'s Field, u64)> {
        self.fields
            .iter()
            .zip(column.cells.iter().map(|cell| cell.lost))
            .filter(|(_, lost)| *lost > 0)
    }

    /// Every call that gave a result, next to the baseline.
    pub fn deltas(&self, calls: &[ComparedCall], encoding: Encoding) -> Vec<Delta> {
        let Some(base) = self.baseline.and_then(|at| calls.get(at)) else {
            return Vec::new();
        };
        let mut deltas = Vec::new();
        for (at, call) in calls.iter().enumerate() {
            let Some(column) = self.column_of(at).filter(|column| column.is_answer()) else {
                continue;
            };
            let count = |row: &Row| i64::try_from(row.tokens.get(encoding)).unwrap_or(i64::MAX);
            let pairs = call.rows.iter().filter(|row| row.is_available());
            let pairs = pairs.filter_map(|row| {
                Some((
                    row,
                    base.row(row.format).filter(|base| base.is_available())?,
                ))
            });
            deltas.push(Delta {
                call: at,
                tokens: pairs
                    .map(|(row, base)| (row.format, count(row) - count(base)))
                    .collect(),
                ratio: call
                    .as_sent()
                    .zip(base.as_sent())
                    .and_then(|(row, base)| loupe_core::format::ledger::ratio(row, base, encoding)),
                missing: self
                    .missing(column)
                    .map(|(field, _)| field.pattern.clone())
                    .collect(),
            });
        }
        deltas
    }

    /// Matches every column's text against the one data.
    fn judge(
        &mut self,
        data: &ResultData,
        calls: &[ComparedCall],
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let lists = record_lists(data.root());
        let list = if let [list] = lists.as_slice() {
            Some(*list)
        } else {
            None
        };
        let records: Vec<Node<'_>> = list.into_iter().flat_map(Node::children).collect();
        let reference = self.reference;
        let look = |column: &Column| {
            cancel.check()?;
            let is_proved = matches!(column.origin, ColumnOrigin::Derived(call) if Some(call) == reference)
                && column.row.claim().is_same_data();
            Ok(match column.is_answer() {
                true if is_proved => locate_facts(data, &column.text).proved(),
                true => locate_facts(data, &column.text),
                false => FactMatches::default(),
            })
        };
        let matches: Vec<FactMatches> = self.columns.iter().map(look).collect::<Result<_, _>>()?;
        // The facts are those of one data in every column, in the same order.
        let facts = matches
            .iter()
            .map(|matched| &matched.facts)
            .find(|facts| !facts.is_empty());
        self.sort_facts(data, list, &records, facts.map_or(&[], Vec::as_slice));
        let mut places: Vec<Vec<Vec<Range<usize>>>> = Vec::new();
        for (column, matched) in self.columns.iter_mut().zip(matches) {
            column.cells = vec![FieldCell::default(); self.fields.len()];
            if let ColumnOrigin::Call(call) = column.origin
                && Some(call) != self.reference
            {
                column.lacks = absent(&records, calls[call].subject.data.as_ref());
            }
            column.absent = column.lacks.iter().filter(|lacks| **lacks).count() as u64;
            for (seen, (fact, place)) in matched.facts.iter().zip(&self.facts).enumerate() {
                if seen.is_multiple_of(1 << 12) {
                    cancel.check()?;
                }
                if place
                    .record
                    .is_some_and(|record| column.lacks.get(record as usize) == Some(&true))
                {
                    continue;
                }
                let text = || {
                    fact.place()
                        .map(|place| column.text[place].to_owned())
                        .unwrap_or_default()
                };
                let cell = &mut column.cells[place.field as usize];
                let (is_lost, is_other) = (
                    fact.state().is_missing(),
                    fact.state() == FactState::Differs,
                );
                let is_first = match fact.state() {
                    FactState::Differs => cell.differing == 0,
                    FactState::Found if fact.is_reworded() => cell.differing + cell.reworded == 0,
                    FactState::Proved | FactState::Found => {
                        cell.text.is_empty() && cell.differing + cell.reworded == 0
                    }
                    FactState::Missing => false,
                };
                if is_first {
                    cell.text = text().chars().take(MAX_VALUE_CHARS).collect();
                }
                cell.lost += u64::from(is_lost);
                cell.differing += u64::from(is_other);
                cell.reworded += u64::from(fact.is_reworded());
                if let (true, Some(node)) = (
                    is_other && fact.place().is_some(),
                    data.doc.node(fact.node()),
                ) {
                    column.differing.push(ValueMismatch {
                        path: node.pointer_from(data.root),
                        value: node
                            .as_str()
                            .unwrap_or_else(|| node.raw_text())
                            .into_owned(),
                        text: text(),
                    });
                }
            }
            column.facts = Some(matched.count).filter(|_| column.why.is_none());
            column.found = matched.facts;
            places.push(
                matched
                    .records
                    .into_iter()
                    .map(|record| record.places)
                    .collect(),
            );
        }
        for (position, record) in records.iter().enumerate() {
            self.records.push(AlignedRecord {
                path: record.pointer_from(data.root),
                title: title(*record),
                is_of_reference: true,
                places: places
                    .iter()
                    .map(|of| of.get(position).cloned().unwrap_or_default())
                    .collect(),
            });
        }
        self.add_others(&records, calls);
        Ok(())
    }

    /// The extra text of the baseline that another column does not hold word for word.
    fn find_omitted(&mut self, calls: &[ComparedCall]) {
        /// Bytes that are searched for pieces of text before all are taken for missing.
        const SEARCHED: usize = 64 << 20;
        let Some(base) = self.baseline else { return };
        let subject = &calls[base].subject;
        let (extra, text) = (
            subject.extra(),
            subject.response.content_text().unwrap_or_default(),
        );
        let is_read = self
            .column_of(base)
            .is_some_and(|column| matches!(column.format, "content" | "both"));
        for column in self
            .columns
            .iter_mut()
            .filter(|column| column.origin != ColumnOrigin::Call(base))
        {
            let is_short = column.text.len().saturating_mul(extra.pieces.len()) <= SEARCHED;
            let has =
                |piece: &ExtraPiece| is_short && column.text.contains(&text[piece.range.clone()]);
            let own_blocks = match column.origin {
                ColumnOrigin::Call(call) => calls[call].subject.extra().blocks,
                ColumnOrigin::Derived(_) => 0,
            };
            let blocks = extra.blocks.saturating_sub(own_blocks) as u64;
            let mut omitted = OmittedText {
                blocks,
                ..OmittedText::default()
            };
            for piece in extra.pieces.iter().filter(|piece| is_read && !has(piece)) {
                omitted.bytes += piece.range.len() as u64;
                omitted.tokens = omitted.tokens.plus(piece.tokens);
            }
            column.omitted = Some(omitted).filter(|omitted| omitted.bytes + omitted.blocks > 0);
        }
    }

    /// The fields of data, what each costs, and which facts it has.
    fn sort_facts(
        &mut self,
        data: &ResultData,
        list: Option<Node<'_>>,
        records: &[Node<'_>],
        facts: &[Fact],
    ) {
        let starts: Vec<usize> = records.iter().map(|record| record.index()).collect();
        let map = TokenMap::new(data.root(), self.encoding);
        let nodes: Vec<Node<'_>> = facts
            .iter()
            .filter_map(|fact| data.doc.node(fact.node()))
            .collect();
        let is_of_record = |node: &Node<'_>| {
            list.is_some_and(|list| (list.index()..list.subtree_end()).contains(&node.index()))
        };
        let column = |node: &Node<'_>| map.columns.of_node[node.index() - data.root];
        let mut field_of: HashMap<usize, u32> = HashMap::new();
        // Those of the records come first.
        for node in nodes
            .iter()
            .filter(|node| is_of_record(node))
            .chain(nodes.iter().filter(|node| !is_of_record(node)))
        {
            let next = u32::try_from(self.fields.len()).unwrap_or(u32::MAX);
            if *field_of.entry(column(node)).or_insert(next) == next {
                let (pattern, tokens) = (pattern(*node, data.root), map.own[column(node)].total());
                let is_of_record = is_of_record(node);
                self.fields.push(Field {
                    pattern,
                    total: 0,
                    is_of_record,
                    tokens,
                    facts: Vec::new(),
                    records: 0,
                });
            }
        }
        for (seen, node) in nodes.iter().enumerate() {
            let field = field_of[&column(node)];
            let record = starts
                .partition_point(|start| *start <= node.index())
                .checked_sub(1)
                .filter(|_| is_of_record(node));
            let place = FactPlace {
                field,
                record: record.and_then(|record| u32::try_from(record).ok()),
            };
            let own = &mut self.fields[field as usize];
            let is_first = own
                .facts
                .last()
                .is_none_or(|last| self.facts[*last as usize].record != place.record);
            own.records += u64::from(is_first && place.record.is_some());
            own.total += 1;
            own.facts.push(u32::try_from(seen).unwrap_or(u32::MAX));
            self.facts.push(place);
        }
    }

    /// Adds records that are in another result's data alone.
    fn add_others(&mut self, records: &[Node<'_>], calls: &[ComparedCall]) {
        let others: Vec<(usize, &ResultData, Node<'_>)> = (0..calls.len())
            .filter(|at| {
                Some(*at) != self.reference && self.column_of(*at).is_some_and(Column::is_answer)
            })
            .filter_map(|at| {
                let data = calls[at].subject.data.as_ref()?;
                if let [list] = record_lists(data.root()).as_slice() {
                    Some((at, data, *list))
                } else {
                    None
                }
            })
            .collect();
        let mut lists = vec![records.to_vec()];
        lists.extend(
            others
                .iter()
                .map(|(_, _, list)| list.children().collect::<Vec<_>>()),
        );
        self.key = key_field(&lists);
        let Some(key) = self.key.clone() else { return };
        let mut rows: HashMap<String, usize> = records
            .iter()
            .enumerate()
            .filter_map(|(at, record)| Some((key_value(*record, &key)?, at)))
            .collect();
        for (call, data, list) in others {
            let Some(column) = self
                .columns
                .iter()
                .position(|column| column.origin == ColumnOrigin::Call(call))
            else {
                continue;
            };
            let is_known = list.children().all(|record| {
                key_value(record, &key).is_some_and(|value| rows.contains_key(&value))
            });
            if is_known {
                continue;
            }
            let matched = locate_facts(data, &self.columns[column].text);
            for (record, found) in list.children().zip(&matched.records) {
                let Some(value) = key_value(record, &key) else {
                    continue;
                };
                let next = self.records.len();
                let row = *rows.entry(value).or_insert(next);
                if row == next {
                    let places = vec![Vec::new(); self.columns.len()];
                    self.records.push(AlignedRecord {
                        path: record.pointer_from(data.root),
                        title: title(record),
                        is_of_reference: false,
                        places,
                    });
                }
                if self.records[row].places[column].is_empty() {
                    self.records[row].places[column].clone_from(&found.places);
                }
            }
        }
    }
}

/// The result that says most: the one whose data has most facts; of equal ones the first.
fn reference(calls: &[ComparedCall]) -> Option<usize> {
    let facts = |call: &ComparedCall| {
        let facts = call.row("json").and_then(|row| row.facts)?;
        (call.subject.capture.outcome == Outcome::Result).then_some(facts.total)
    };
    let counted = calls
        .iter()
        .enumerate()
        .filter_map(|(at, call)| Some((facts(call)?, at)));
    counted
        .max_by_key(|(facts, at)| (*facts, usize::MAX - at))
        .map(|(_, at)| at)
}

/// Which records another result's own data does not have; none can be distinguished without a key.
fn absent(records: &[Node<'_>], own: Option<&ResultData>) -> Vec<bool> {
    let Some(own) = own else { return Vec::new() };
    let lists = record_lists(own.root());
    let [list] = lists.as_slice() else {
        return Vec::new();
    };
    let others: Vec<Node<'_>> = list.children().collect();
    let Some(key) = key_field(&[records.to_vec(), others.clone()]) else {
        return Vec::new();
    };
    let known: HashSet<String> = others
        .iter()
        .filter_map(|record| key_value(*record, &key))
        .collect();
    records
        .iter()
        .map(|record| key_value(*record, &key).is_none_or(|value| !known.contains(&value)))
        .collect()
}

/// What the column of a call is called after its value, by the part of the result that it shows.
fn suffix(part: ResultPart) -> &'static str {
    match part {
        ResultPart::Text => " text",
        ResultPart::Data => " structuredContent",
        ResultPart::Both => " as sent",
    }
}

/// A column of what a call's server sent.
fn sent_column(at: usize, call: &ComparedCall, part: ResultPart) -> Column {
    let capture = &call.subject.capture;
    let row = call.row_of(part);
    let why = match (super::failure(&call.subject), capture.outcome, row) {
        (Some(problem), ..) => Some(problem.what),
        (None, Outcome::ToolError, _) => Some("the tool answered with `isError`".to_owned()),
        (None, _, None) => Some(part.why_not().to_owned()),
        (None, _, Some(_)) => None,
    };
    let text = match row {
        Some(row) => text(row.format, &call.subject),
        None => Arc::from(""),
    };
    Column {
        latency: Some(capture.timings.total()),
        records: call.subject.data.as_ref().and_then(|data| {
            match record_lists(data.root()).as_slice() {
                [list] => Some(list.len()),
                _ => None,
            }
        }),
        why,
        ..Column::new(
            format!("{}{}", shown(&call.value), suffix(part)),
            (ColumnOrigin::Call(at), capture.outcome),
            row.map_or("content", |row| row.format),
            row.cloned().unwrap_or_default(),
            text,
        )
    }
}

/// A column that Loupe writes; `None` where there is no such format.
fn derived_column(at: usize, id: &str, call: &ComparedCall) -> Option<Column> {
    let (Some(format), Some(row)) = (format::by_id(id), call.row(id)) else {
        return None;
    };
    let text = if row.is_available() {
        text(format.id(), &call.subject)
    } else {
        Arc::from("")
    };
    let origin = (ColumnOrigin::Derived(at), call.subject.capture.outcome);
    Some(Column::new(
        format.title().to_owned(),
        origin,
        format.id(),
        row.clone(),
        text,
    ))
}

fn text(id: &str, subject: &ParsedCapture) -> Arc<str> {
    let Some(format) = format::by_id(id) else {
        return Arc::from("");
    };
    let bytes = format_bytes(format, subject).unwrap_or_default();
    String::from_utf8(bytes)
        .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
        .into()
}

/// What people call a record: the first of its texts whose field is named like a name, else its first short text or number.
fn title(record: Node<'_>) -> String {
    let short = |node: &Node<'_>| {
        matches!(node.kind(), Kind::String | Kind::Number) && (3..=80).contains(&node.raw().len())
    };
    let is_name = |node: &Node<'_>| {
        let key = node.key().unwrap_or_default().to_lowercase();
        node.kind() == Kind::String
            && ["name", "title", "subject", "label"]
                .iter()
                .any(|word| key.ends_with(word))
    };
    let fields = || record.children().take(40).filter(short);
    let chosen = fields()
        .find(is_name)
        .or_else(|| fields().find(|node| node.kind() == Kind::String))
        .or_else(|| fields().next());
    chosen
        .map(|node| {
            node.as_str()
                .unwrap_or_else(|| node.raw_text())
                .into_owned()
        })
        .unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests;
