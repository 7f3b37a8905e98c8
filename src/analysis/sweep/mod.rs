//! One call over several values of an argument, or several times alike, side by side: what each column costs, what it
//! leaves out, and where each record stands in it.
//!
//! Pure functions over calls that were made; making them is the caller's job. The columns are judged against one
//! payload, that of the answer which says most, so that "left out" means the same in all of them.

mod page;
mod plan;
mod rendered;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

pub use page::{Loss, Section, SectionCell, SweepPage, SweepQuery, SweepRows, SweepRowsQuery, ThisPage, readable};
pub use plan::{
    PageSize, SweepChoice, argument_names, choices, differs_only_in, format_argument, is_about_form, page_size_argument, planned,
    shown, value_in, values, with_value,
};
pub use rendered::{Piece, SweepRendered, SweepRenderedQuery, can_render};

use crate::analysis::text::format_bytes;
use crate::cancel::{Cancel, Cancelled};
use crate::capture::facts::record_lists;
use crate::capture::{FactCount, FactState, Matched, Outcome, Payload, locate_facts};
use crate::diff::key::{key_field, key_value};
use crate::diff::pattern::pattern;
use crate::format::ledger::Row;
use crate::format::{self, FORMATS, Subject};
use crate::json::{Kind, Node};
use crate::token::Encoding;

/// Values that a list of differences shows of a field, and how much of each.
const MAX_VALUES: usize = 6;
const MAX_VALUE_CHARS: usize = 60;

/// One call that was made, with every row of its ledger.
#[derive(Clone, Debug)]
pub struct SweepCall {
    /// The value of the varied argument, a JSON text; of equal calls which one it is.
    pub value: String,
    pub subject: Arc<Subject>,
    pub rows: Vec<Row>,
}

impl SweepCall {
    /// Measures every format of a call.
    ///
    /// # Errors
    /// [`Cancelled`] when the asker looked away.
    pub fn measure(value: String, subject: Arc<Subject>, cancel: &Cancel) -> Result<Self, Cancelled> {
        let row = |format: &&dyn crate::format::Format| cancel.check().map(|()| Row::measure(*format, &subject));
        Ok(Self { rows: FORMATS.iter().map(row).collect::<Result<_, _>>()?, value, subject })
    }

    /// What the server sent: `both`, else the one part that there is.
    pub fn as_sent(&self) -> Option<&Row> {
        self.sent(SentPart::Both)
    }

    /// This part of what the server sent; `None` where it did not.
    pub fn sent(&self, part: SentPart) -> Option<&Row> {
        part.formats().iter().find_map(|id| self.row(id).filter(|row| row.is_available()))
    }

    pub fn row(&self, format: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.format == format)
    }
}

/// Which part of their answers the columns of calls show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SentPart {
    Content,
    Structured,
    /// Both as sent, else the one part that there is.
    #[default]
    Both,
}

impl SentPart {
    /// In display order, with the name for people.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Content, "Text content"), (Self::Structured, "structuredContent"), (Self::Both, "Both")];

    /// The formats that show it, by id; the first that applies is taken.
    fn formats(self) -> &'static [&'static str] {
        match self {
            Self::Content => &["content"],
            Self::Structured => &["structured"],
            Self::Both => &["both", "content", "structured"],
        }
    }

    /// What a column is called, after its value.
    fn suffix(self) -> &'static str {
        match self {
            Self::Content => " text",
            Self::Structured => " structured",
            Self::Both => " as sent",
        }
    }

    fn why_not(self) -> &'static str {
        match self {
            Self::Content => "no text content in this answer",
            Self::Structured => "no structuredContent in this answer",
            Self::Both => "no text and no structuredContent",
        }
    }
}

/// Where a column comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnOrigin {
    /// The answer to this call, as sent.
    Call(usize),
    /// Written by Loupe from the payload of this call's answer, without a call.
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
}

/// A value of the data that a column gives differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differing {
    /// JSON Pointer into the payload that the columns are judged against.
    pub path: String,
    pub value: String,
    /// What the column says.
    pub said: String,
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
    /// How many facts it carries; `None` where no answer has data, or there is nothing to compare.
    pub facts: Option<FactCount>,
    /// Facts lost by field, in the order of [`Sweep::fields`], of the records that it has.
    pub lost: Vec<u64>,
    /// The first values lost, by field as [`Column::lost`].
    pub lost_values: Vec<Vec<String>>,
    /// Each fact lost of a record, by record: its position among [`Sweep::records`] and its field.
    pub lost_in: Vec<(usize, usize)>,
    /// Where its text says what another call's answer does not, in order.
    pub not_everywhere: Vec<Range<usize>>,
    /// Records that its own data does not have, as where fewer were asked for; 0 where it has no data of its own.
    pub absent: u64,
    /// Records in its own data; `None` where that has no one list of records.
    pub records: Option<usize>,
    pub differing: Vec<Differing>,
    /// Where in its text the data begin that stand after a text; `None` where it is one part alone.
    pub data_from: Option<usize>,
}

impl Column {
    /// One of which nothing is known but its text and its cost.
    fn of(title: String, (origin, outcome): (ColumnOrigin, Outcome), format: &'static str, row: Row, text: Arc<str>) -> Self {
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
            lost: Vec::new(),
            lost_values: Vec::new(),
            lost_in: Vec::new(),
            not_everywhere: Vec::new(),
            absent: 0,
            records: None,
            differing: Vec::new(),
            data_from: None,
        }
    }

    /// The title without which part of the answer it shows: `json` of "json as sent".
    pub fn value_title(&self) -> &str {
        let parts = SentPart::ALL.iter().filter(|_| matches!(self.origin, ColumnOrigin::Call(_)));
        parts.filter_map(|(part, _)| self.title.strip_suffix(part.suffix())).next().unwrap_or(&self.title)
    }

    pub fn is_answer(&self) -> bool {
        self.why.is_none()
    }
}

/// A record and where it stands in each column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlignedRecord {
    /// JSON Pointer into the payload that has it: `/items/0`.
    pub path: String,
    /// What people call it: its name, else its key.
    pub title: String,
    /// Whether it is in the payload that the columns are judged against.
    pub is_of_reference: bool,
    /// By column: ranges of its text, in order; none where it does not stand there.
    pub places: Vec<Vec<Range<usize>>>,
}

/// What a call costs beside the baseline.
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
pub struct Sweep {
    /// The argument; `None` of equal calls.
    pub vary: Option<String>,
    /// Whether that argument chooses how much is answered or in which form, so that the answers are about the same data.
    pub is_about_form: bool,
    /// Calls in their order, then what is derived.
    pub columns: Vec<Column>,
    /// The call whose column is the baseline; `None` where no call gave an answer.
    pub baseline: Option<usize>,
    /// The call whose payload the columns are judged against; `None` where no answer has data.
    pub reference: Option<usize>,
    /// Equal calls whose result is not, byte for byte, that of the baseline.
    pub different: Vec<usize>,
    pub fields: Vec<Field>,
    /// The field by which records are found again in answers with data of their own.
    pub key: Option<String>,
    /// Whether every answer is its data and nothing else, so that a format written from it leaves out no text.
    pub is_data_alone: bool,
    pub records: Vec<AlignedRecord>,
}

impl Sweep {
    /// Puts calls side by side.
    ///
    /// # Errors
    /// [`Cancelled`] when the asker looked away.
    pub fn of(ask: &SweepQuery, calls: &[SweepCall], cancel: &Cancel) -> Result<Self, Cancelled> {
        let vary = ask.vary.as_deref();
        let reference = reference(calls);
        let mut sweep = Self {
            vary: vary.map(str::to_owned),
            is_about_form: vary.zip(calls.first()).is_none_or(|(vary, call)| is_about_form(&call.subject.capture.tool, vary)),
            columns: calls.iter().enumerate().map(|(at, call)| sent(at, call, ask.part)).collect(),
            baseline: None,
            reference,
            different: Vec::new(),
            fields: Vec::new(),
            key: None,
            is_data_alone: calls.iter().all(|call| call.sent(SentPart::Both).is_none() || call.subject.is_data_alone()),
            records: Vec::new(),
        };
        let is_answer = |at: usize| sweep.columns.get(at).is_some_and(Column::is_answer);
        sweep.baseline = ask.baseline.filter(|at| is_answer(*at)).or_else(|| (0..calls.len()).find(|at| is_answer(*at)));
        if let (None, Some(base)) = (vary, sweep.baseline) {
            let result = |at: usize| calls[at].subject.reading.result().map(|node| node.raw_bytes());
            sweep.different = (0..calls.len()).filter(|at| is_answer(*at) && result(*at) != result(base)).collect();
        }
        let usual = || reference.into_iter().flat_map(|at| [(at, "json"), (at, "markdown-table")]).collect();
        let derived = ask.derived.clone().unwrap_or_else(|| if vary.is_some() { usual() } else { Vec::new() });
        for (at, id) in derived {
            cancel.check()?;
            sweep.columns.extend(calls.get(at).and_then(|call| written(at, id, call)));
        }
        if let Some(payload) = reference.and_then(|at| calls[at].subject.payload.as_ref()) {
            sweep.judge(payload, calls, cancel)?;
        }
        Ok(sweep)
    }

    /// The column of a call.
    pub fn column_of(&self, call: usize) -> Option<&Column> {
        self.columns.iter().find(|column| column.origin == ColumnOrigin::Call(call))
    }

    /// The fields that a model may need: those of the records, or all where there are none.
    pub fn choosable_fields(&self) -> Vec<&Field> {
        let has_records = self.fields.iter().any(|field| field.is_of_record);
        self.fields.iter().filter(|field| field.is_of_record == has_records).collect()
    }

    /// Whether the answers that were given hold the same records, as far as their own data shows. Only then can one of
    /// them be cheaper than another.
    pub fn has_same_records(&self) -> bool {
        let answers =
            || self.columns.iter().filter(|column| column.is_answer() && matches!(column.origin, ColumnOrigin::Call(_)));
        let counts: HashSet<usize> = answers().filter_map(|column| column.records).collect();
        let keys = self.records.iter().all(|record| record.is_of_reference);
        counts.len() <= 1 && keys && answers().all(|column| column.absent == 0)
    }

    /// The fields of which a column carries every fact.
    pub fn kept_fields(&self, column: &Column) -> Vec<String> {
        let kept = self.fields.iter().zip(&column.lost).filter(|(_, lost)| **lost == 0);
        kept.map(|(field, _)| field.pattern.clone()).collect()
    }

    /// The fields of which a column loses a fact, with how many.
    pub fn missing<'s>(&'s self, column: &'s Column) -> impl Iterator<Item = (&'s Field, u64)> {
        self.fields.iter().zip(column.lost.iter().copied()).filter(|(_, lost)| *lost > 0)
    }

    /// Every call that gave an answer, beside the baseline.
    pub fn deltas(&self, calls: &[SweepCall], encoding: Encoding) -> Vec<Delta> {
        let Some(base) = self.baseline.and_then(|at| calls.get(at)) else { return Vec::new() };
        let mut deltas = Vec::new();
        for (at, call) in calls.iter().enumerate() {
            let Some(column) = self.column_of(at).filter(|column| column.is_answer()) else { continue };
            let count = |row: &Row| i64::try_from(row.tokens.get(encoding)).unwrap_or(i64::MAX);
            let pairs = call.rows.iter().filter(|row| row.is_available());
            let pairs = pairs.filter_map(|row| Some((row, base.row(row.format).filter(|base| base.is_available())?)));
            deltas.push(Delta {
                call: at,
                tokens: pairs.map(|(row, base)| (row.format, count(row) - count(base))).collect(),
                ratio: call
                    .as_sent()
                    .zip(base.as_sent())
                    .and_then(|(row, base)| crate::format::ledger::ratio(row, base, encoding)),
                missing: self.missing(column).map(|(field, _)| field.pattern.clone()).collect(),
            });
        }
        deltas
    }

    /// Matches every column's text against the one payload.
    fn judge(&mut self, payload: &Payload, calls: &[SweepCall], cancel: &Cancel) -> Result<(), Cancelled> {
        let lists = record_lists(payload.root());
        let list = if let [list] = lists.as_slice() { Some(*list) } else { None };
        let records: Vec<Node<'_>> = list.into_iter().flat_map(Node::children).collect();
        let starts: Vec<usize> = records.iter().map(|record| record.index()).collect();
        let mut field_of: HashMap<usize, usize> = HashMap::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut matches: Vec<Option<Matched>> = Vec::new();
        for column in &mut self.columns {
            if !column.is_answer() {
                matches.push(None);
                continue;
            }
            let matched = locate_facts(payload, &column.text);
            let absent = match column.origin {
                ColumnOrigin::Call(call) if Some(call) != self.reference => {
                    absent(&records, calls[call].subject.payload.as_ref())
                }
                _ => Vec::new(),
            };
            column.absent = absent.iter().filter(|is_absent| **is_absent).count() as u64;
            for (seen, fact) in matched.facts.iter().enumerate() {
                if seen.is_multiple_of(1 << 12) {
                    cancel.check()?;
                }
                let Some(node) = payload.doc.node(fact.node()) else { continue };
                let field = *field_of.entry(fact.node()).or_insert_with(|| {
                    let pattern = pattern(node, payload.root);
                    let next = self.fields.len();
                    let field = *known.entry(pattern.clone()).or_insert(next);
                    if field == next {
                        let is_of_record = list.is_some_and(|list| (list.index()..list.subtree_end()).contains(&fact.node()));
                        self.fields.push(Field { pattern, total: 0, is_of_record });
                    }
                    self.fields[field].total += 1;
                    field
                });
                if column.lost.len() <= field {
                    column.lost.resize(field + 1, 0);
                }
                let record = starts.partition_point(|start| *start <= fact.node()).checked_sub(1);
                if self.fields[field].is_of_record && record.and_then(|at| absent.get(at)) == Some(&true) {
                    continue;
                }
                if !fact.state.is_missing() {
                    continue;
                }
                if let (FactState::Differs, Some(place)) = (fact.state, fact.place()) {
                    column.differing.push(Differing {
                        path: node.pointer_from(payload.root),
                        value: node.as_str().unwrap_or_else(|| node.raw_text()).into_owned(),
                        said: column.text[place].to_owned(),
                    });
                }
                column.lost[field] += 1;
                if column.lost_values.len() <= field {
                    column.lost_values.resize(field + 1, Vec::new());
                }
                if column.lost_values[field].len() < MAX_VALUES {
                    let value = node.as_str().unwrap_or_else(|| node.raw_text());
                    column.lost_values[field].push(value.chars().take(MAX_VALUE_CHARS).collect());
                }
                if let (Some(record), true) = (record, self.fields[field].is_of_record) {
                    column.lost_in.push((record, field));
                }
            }
            column.facts = Some(matched.count);
            matches.push(Some(matched));
        }
        self.mark_what_is_not_everywhere(&matches);
        for column in &mut self.columns {
            column.lost.resize(self.fields.len(), 0);
            column.lost_values.resize(self.fields.len(), Vec::new());
        }
        for (position, record) in records.iter().enumerate() {
            let places = matches.iter().map(|matched| {
                let found = matched.as_ref().and_then(|matched| matched.records.get(position));
                found.map(|record| record.places.clone()).unwrap_or_default()
            });
            self.records.push(AlignedRecord {
                path: record.pointer_from(payload.root),
                title: title(*record),
                is_of_reference: true,
                places: places.collect(),
            });
        }
        self.add_others(&records, calls);
        Ok(())
    }

    /// The facts are those of one payload in every column, in the same order.
    fn mark_what_is_not_everywhere(&mut self, matches: &[Option<Matched>]) {
        let offered = self.columns.iter().zip(matches).filter(|(column, _)| matches!(column.origin, ColumnOrigin::Call(_)));
        let mut lost: Vec<bool> = Vec::new();
        for matched in offered.filter_map(|(_, matched)| matched.as_ref()) {
            lost.resize(matched.facts.len().max(lost.len()), false);
            for (lost, fact) in lost.iter_mut().zip(&matched.facts) {
                *lost |= fact.state.is_missing();
            }
        }
        for (column, matched) in self.columns.iter_mut().zip(matches) {
            let facts = matched.iter().flat_map(|matched| &matched.facts).zip(&lost);
            let kept = facts.filter(|(fact, lost)| **lost && !fact.state.is_missing());
            column.not_everywhere = kept.filter_map(|(fact, _)| fact.place()).collect();
            column.not_everywhere.sort_by_key(|place| place.start);
        }
    }

    /// Adds records that stand in another answer's data alone.
    fn add_others(&mut self, records: &[Node<'_>], calls: &[SweepCall]) {
        let others: Vec<(usize, &Payload, Node<'_>)> = (0..calls.len())
            .filter(|at| Some(*at) != self.reference && self.column_of(*at).is_some_and(Column::is_answer))
            .filter_map(|at| {
                let payload = calls[at].subject.payload.as_ref()?;
                if let [list] = record_lists(payload.root()).as_slice() { Some((at, payload, *list)) } else { None }
            })
            .collect();
        let mut lists = vec![records.to_vec()];
        lists.extend(others.iter().map(|(_, _, list)| list.children().collect::<Vec<_>>()));
        self.key = key_field(&lists);
        let Some(key) = self.key.clone() else { return };
        let mut rows: HashMap<String, usize> =
            records.iter().enumerate().filter_map(|(at, record)| Some((key_value(*record, &key)?, at))).collect();
        for (call, payload, list) in others {
            let Some(column) = self.columns.iter().position(|column| column.origin == ColumnOrigin::Call(call)) else { continue };
            let is_known = list.children().all(|record| key_value(record, &key).is_some_and(|value| rows.contains_key(&value)));
            if is_known {
                continue;
            }
            let matched = locate_facts(payload, &self.columns[column].text);
            for (record, found) in list.children().zip(&matched.records) {
                let Some(value) = key_value(record, &key) else { continue };
                let next = self.records.len();
                let row = *rows.entry(value).or_insert(next);
                if row == next {
                    let places = vec![Vec::new(); self.columns.len()];
                    self.records.push(AlignedRecord {
                        path: record.pointer_from(payload.root),
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

/// The answer that says most: the one whose payload has most facts; of equal ones the first.
fn reference(calls: &[SweepCall]) -> Option<usize> {
    let facts = |call: &SweepCall| {
        let facts = call.row("json").and_then(|row| row.facts)?;
        (call.subject.capture.outcome == Outcome::Result).then_some(facts.total)
    };
    let said = calls.iter().enumerate().filter_map(|(at, call)| Some((facts(call)?, at)));
    said.max_by_key(|(facts, at)| (*facts, usize::MAX - at)).map(|(_, at)| at)
}

/// Which records another answer's own data does not have; none can be told apart without a key.
fn absent(records: &[Node<'_>], own: Option<&Payload>) -> Vec<bool> {
    let Some(own) = own else { return Vec::new() };
    let lists = record_lists(own.root());
    let [list] = lists.as_slice() else { return Vec::new() };
    let others: Vec<Node<'_>> = list.children().collect();
    let Some(key) = key_field(&[records.to_vec(), others.clone()]) else { return Vec::new() };
    let known: HashSet<String> = others.iter().filter_map(|record| key_value(*record, &key)).collect();
    records.iter().map(|record| key_value(*record, &key).is_none_or(|value| !known.contains(&value))).collect()
}

/// A column of what a call's server sent.
fn sent(at: usize, call: &SweepCall, part: SentPart) -> Column {
    let capture = &call.subject.capture;
    let row = call.sent(part);
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
        records: call.subject.payload.as_ref().and_then(|payload| match record_lists(payload.root()).as_slice() {
            [list] => Some(list.len()),
            _ => None,
        }),
        data_from: row.filter(|row| row.format == "both").and_then(|_| usize::try_from(call.row("content")?.bytes).ok()),
        why,
        ..Column::of(
            format!("{}{}", shown(&call.value), part.suffix()),
            (ColumnOrigin::Call(at), capture.outcome),
            row.map_or("content", |row| row.format),
            row.cloned().unwrap_or_default(),
            text,
        )
    }
}

/// A column that Loupe writes; `None` where there is no such format.
fn written(at: usize, id: &str, call: &SweepCall) -> Option<Column> {
    let (Some(format), Some(row)) = (format::by_id(id), call.row(id)) else { return None };
    let text = if row.is_available() { text(format.id(), &call.subject) } else { Arc::from("") };
    let origin = (ColumnOrigin::Derived(at), call.subject.capture.outcome);
    Some(Column::of(format.title().to_owned(), origin, format.id(), row.clone(), text))
}

fn text(id: &str, subject: &Subject) -> Arc<str> {
    let Some(format) = format::by_id(id) else { return Arc::from("") };
    let bytes = format_bytes(format, subject).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned()).into()
}

/// What people call a record: the first of its texts whose field is named like a name, else its first short text or number.
fn title(record: Node<'_>) -> String {
    let short = |node: &Node<'_>| matches!(node.kind(), Kind::String | Kind::Number) && (3..=80).contains(&node.raw().len());
    let is_name = |node: &Node<'_>| {
        let key = node.key().unwrap_or_default().to_lowercase();
        node.kind() == Kind::String && ["name", "title", "subject", "label"].iter().any(|word| key.ends_with(word))
    };
    let fields = || record.children().take(40).filter(short);
    let chosen = fields().find(is_name).or_else(|| fields().find(|node| node.kind() == Kind::String)).or_else(|| fields().next());
    chosen.map(|node| node.as_str().unwrap_or_else(|| node.raw_text()).into_owned()).unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests;
