//! A comparison as a screen shows it: its texts parted into sections that are next to each other, what differs as a list, and
//! the curve where the argument is a page size. Everything that does not depend on a width is made once.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::curve::{Curve, Unit};
use crate::queries::comparison::{
    Column, ColumnOrigin, ComparedCall, Comparison, page_size_argument,
};
use crate::queries::query::{Ctx, Query, Stop, Weigh};
use crate::queries::text::{DisplayLine, TextView};
use crate::queries::wrap::{TextRow, wrap};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::format::{self, ParsedCapture, Syntax};
use loupe_core::host::{Hosts, MostRead, ReadChoice, ResultShape};
use loupe_core::layout::line_start;
use loupe_core::token::{self, Encoding, Tokens};

/// Which columns are asked for. The captures asked about are the calls, in the order of `values`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ComparisonQuery {
    /// The argument; `None` of equal calls.
    pub vary: Option<Arc<str>>,
    /// Its value in each call, JSON texts; of equal calls which one it is.
    pub values: Arc<[String]>,
    /// What one model reads: the part of the results that the columns show.
    pub reads: ReadChoice,
    /// The call that the others are compared with; `None` takes the first that gave a result.
    pub baseline: Option<usize>,
    /// Columns without a call: formats of the answer to a call. `None` takes `json`, the cheapest that says the same and
    /// `markdown-table` of the result that says most, and none next to equal calls.
    pub derived: Option<Vec<(usize, &'static str)>>,
    /// By which the fields and the columns are weighed.
    pub encoding: Encoding,
}

impl ComparisonQuery {
    /// Measures the calls, which are in the order of `values`.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn calls(
        &self,
        subjects: &[Arc<ParsedCapture>],
        cancel: &Cancel,
    ) -> Result<Vec<ComparedCall>, Cancelled> {
        let calls = self.values.iter().zip(subjects);
        calls
            .map(|(value, subject)| {
                ComparedCall::measure(value.clone(), Arc::clone(subject), cancel)
            })
            .collect()
    }
}

/// The name of the section before the records.
pub const PREAMBLE: &str = "Preamble";

/// A stretch that every column has a cell for: what stands before the records, a record, what stands after them.
#[derive(Clone, Debug)]
pub struct Section {
    /// "Preamble", `items[0]`, "After the records".
    pub name: String,
    /// What people call the record.
    pub title: String,
    /// By column.
    pub cells: Vec<SectionCell>,
}

/// A section of one column.
#[derive(Clone, Debug, Default)]
pub struct SectionCell {
    /// Of its text, in order.
    pub ranges: Vec<Range<usize>>,
    /// Counted by itself.
    pub tokens: Tokens,
    /// The fields of which it loses a fact, as positions among the comparison's.
    pub missing: Vec<usize>,
}

/// A field of which a column loses something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldLost {
    /// Positions among the comparison's columns and fields.
    pub column: usize,
    pub field: usize,
    /// The first section that lacks it.
    pub section: usize,
}

/// What the screen paints.
#[derive(Clone, Debug)]
pub struct ComparisonPage {
    pub comparison: Comparison,
    /// By column.
    pub texts: Vec<TextView>,
    pub sections: Vec<Section>,
    /// Field by field.
    pub losses: Vec<FieldLost>,
    /// By unit: tokens of each encoding, then characters. Empty unless the argument is a page size.
    pub curves: Vec<Curve>,
    /// Whether a result has `structuredContent`, so that one part of it can be compared by itself.
    pub has_structured: bool,
    /// Which part the columns of calls show, and how many hosts show it; `None` where it is what one host shows.
    pub reads: Option<MostRead>,
}

impl ComparisonPage {
    /// Measures the calls and puts them side by side.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn new(
        subjects: &[Arc<ParsedCapture>],
        ask: &ComparisonQuery,
        hosts: &Hosts,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let calls = ask.calls(subjects, cancel)?;
        let comparison = Comparison::of(ask, &calls, hosts, cancel)?;
        let texts: Vec<TextView> = comparison
            .columns
            .iter()
            .map(|column| view(column, &calls))
            .collect();
        let sections = sections(&comparison, cancel)?;
        let losses = losses(&comparison);
        let size = subjects
            .first()
            .and_then(|subject| page_size_argument(&subject.capture.tool));
        let curves = match size.filter(|size| Some(&*size.name) == ask.vary.as_deref()) {
            Some(_) => {
                let units = Encoding::ALL
                    .iter()
                    .map(|encoding| Unit::Tokens(*encoding))
                    .chain([Unit::Chars]);
                units.map(|unit| Curve::new(&calls, unit)).collect()
            }
            None => Vec::new(),
        };
        let has_structured = calls
            .iter()
            .any(|call| call.row("structured").is_some_and(|row| row.is_available()));
        let reads = subjects.first().and_then(|first| {
            let shape = ResultShape::new(first);
            match ask.reads {
                ReadChoice::Most => Some(hosts.most_read(shape)),
                ReadChoice::Part(part) => Some(hosts.read_by(shape, part)),
                ReadChoice::Host(_) => None,
            }
        });
        Ok(Self {
            comparison,
            texts,
            sections,
            losses,
            curves,
            has_structured,
            reads,
        })
    }

    /// The curve that counts this.
    pub fn curve(&self, unit: Unit) -> Option<&Curve> {
        self.curves.iter().find(|curve| curve.unit == unit)
    }
}

/// A page that a question carries along: the same one only where it is the very same.
#[derive(Clone, Debug)]
pub struct ThisPage(pub Arc<ComparisonPage>);

impl PartialEq for ThisPage {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ThisPage {}

impl Hash for ThisPage {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

/// The rows of a page whose columns are so many characters wide.
#[derive(Clone, Debug)]
pub struct ComparisonRows {
    /// By section, by column.
    pub cells: Vec<Vec<Vec<TextRow>>>,
    /// In which row each section begins, and after them the number of rows. The first row of a section is its head.
    pub tops: Vec<usize>,
}

impl ComparisonRows {
    /// Cuts every cell into rows.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn new(page: &ComparisonPage, columns: u16, cancel: &Cancel) -> Result<Self, Cancelled> {
        let mut cells = Vec::with_capacity(page.sections.len());
        let mut tops = vec![0];
        for section in &page.sections {
            let mut of_section = Vec::with_capacity(section.cells.len());
            for (cell, view) in section.cells.iter().zip(&page.texts) {
                of_section.push(rows(cell, view, columns, cancel)?);
            }
            let high = of_section.iter().zip(&section.cells);
            let high = high
                .map(|(rows, cell)| rows.len() + usize::from(!cell.missing.is_empty()))
                .max()
                .unwrap_or(0);
            tops.push(tops.last().copied().unwrap_or(0) + 1 + high);
            cells.push(of_section);
        }
        Ok(Self { cells, tops })
    }

    /// As [`ComparisonRows::tops`], where of the sections with these names only the head is shown.
    pub fn folded(&self, page: &ComparisonPage, folded: &BTreeSet<String>) -> Vec<usize> {
        let mut tops = Vec::with_capacity(self.tops.len());
        let mut next = 0;
        for (section, ends) in page.sections.iter().zip(self.tops.windows(2)) {
            tops.push(next);
            next += if folded.contains(&section.name) {
                1
            } else {
                ends[1] - ends[0]
            };
        }
        tops.push(next);
        tops
    }

    pub fn len(&self) -> usize {
        self.tops.last().copied().unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn rows(
    cell: &SectionCell,
    view: &TextView,
    columns: u16,
    cancel: &Cancel,
) -> Result<Vec<TextRow>, Cancelled> {
    let mut rows = Vec::new();
    for range in &cell.ranges {
        let first = view.line_at(range.start);
        let lines = view.lines[first..]
            .iter()
            .take_while(|line| line.range.start < range.end);
        let clipped: Vec<DisplayLine> = lines
            .map(|line| {
                let cut = line.range.start.max(range.start)
                    ..line
                        .range
                        .end
                        .min(range.end)
                        .max(line.range.start.max(range.start));
                // A record begins with a value, so within a line never inside a string.
                let is_in_string = line.is_in_string && cut.start == line.range.start;
                DisplayLine {
                    range: cut,
                    is_in_string,
                    ..line.clone()
                }
            })
            .collect();
        // The line numbers of the whole text, so that its colours are found.
        let found = wrap(&view.text, &clipped, usize::from(columns), cancel)?;
        let at = u32::try_from(first).unwrap_or(u32::MAX);
        rows.extend(found.into_iter().map(|row| TextRow {
            line: row.line.saturating_add(at),
            ..row
        }));
    }
    Ok(rows)
}

fn view(column: &Column, calls: &[ComparedCall]) -> TextView {
    let subject = match column.origin {
        ColumnOrigin::Call(call) | ColumnOrigin::Derived(call) => {
            calls.get(call).map(|call| &call.subject)
        }
    };
    let format = format::by_id(column.format);
    let syntax = format
        .zip(subject)
        .map_or(Syntax::Plain, |(format, subject)| format.syntax(subject));
    TextView::with_syntax(column.format, &column.text, syntax)
}

fn sections(comparison: &Comparison, cancel: &Cancel) -> Result<Vec<Section>, Cancelled> {
    let count = comparison.records.len();
    // Before the records, the records, after them.
    let mut sections: Vec<Section> = Vec::with_capacity(count + 2);
    let cells = || vec![SectionCell::default(); comparison.columns.len()];
    sections.push(Section {
        name: PREAMBLE.into(),
        title: String::new(),
        cells: cells(),
    });
    for record in &comparison.records {
        sections.push(Section {
            name: readable(&record.path),
            title: record.title.clone(),
            cells: cells(),
        });
    }
    sections.push(Section {
        name: "After the records".into(),
        title: String::new(),
        cells: cells(),
    });
    for (at, column) in comparison.columns.iter().enumerate() {
        for (section, ranges) in parts(comparison, at).into_iter().enumerate() {
            if section.is_multiple_of(256) {
                cancel.check()?;
            }
            let cell = &mut sections[section].cells[at];
            for range in &ranges {
                let counted = token::count(&column.text[range.clone()]);
                cell.tokens.o200k_base += counted.o200k_base;
                cell.tokens.cl100k_base += counted.cl100k_base;
            }
            cell.ranges = ranges;
        }
        for (_, place) in column
            .found
            .iter()
            .zip(&comparison.facts)
            .filter(|(fact, _)| fact.state().is_missing())
        {
            let Some(record) = place.record.map(|record| record as usize) else {
                continue;
            };
            let missing = &mut sections[record + 1].cells[at].missing;
            let field = place.field as usize;
            if column.lacks.get(record) != Some(&true) && !missing.contains(&field) {
                missing.push(field);
            }
        }
    }
    sections.retain(|section| {
        section
            .cells
            .iter()
            .any(|cell| !cell.ranges.is_empty() || !cell.missing.is_empty())
            || !section.title.is_empty()
    });
    if sections.len() == 1 && sections[0].name == PREAMBLE {
        sections[0].name = "Text".into();
    }
    Ok(sections)
}

/// The parts of one column by section. Nothing of the text is left out: what stands between two records goes with the first.
fn parts(comparison: &Comparison, column: usize) -> Vec<Vec<Range<usize>>> {
    let text = &comparison.columns[column].text;
    let mut parts = vec![Vec::new(); comparison.records.len() + 2];
    let mut places: Vec<(Range<usize>, usize)> = Vec::new();
    for (record, aligned) in comparison.records.iter().enumerate() {
        let own = aligned.places.get(column).into_iter().flatten();
        places.extend(
            own.filter(|place| !place.is_empty())
                .map(|place| (place.clone(), record)),
        );
    }
    places.sort_by_key(|(place, _)| place.start);
    // White space before it in its line goes with a record.
    let start = |at: usize| {
        let line = line_start(text, at);
        if text[line..at].trim().is_empty() {
            line
        } else {
            at
        }
    };
    let trimmed = |range: Range<usize>| {
        let end = range.start + text[range.clone()].trim_end_matches(['\n', '\r']).len();
        (end > range.start).then_some(range.start..end)
    };
    let mut end = 0;
    for at in 0..places.len() {
        let (place, record) = &places[at];
        let begin = start(place.start).max(end);
        if at == 0 {
            parts[0].extend(trimmed(0..begin));
        }
        let next = places.get(at + 1).map(|(next, _)| start(next.start));
        end = next.unwrap_or(place.end).max(begin);
        let part = &mut parts[record + 1];
        match (trimmed(begin..end), part.last_mut()) {
            (Some(range), Some(last)) if at > 0 && places[at - 1].1 == *record => {
                last.end = range.end
            }
            (Some(range), _) => part.push(range),
            (None, _) => {}
        }
    }
    let rest = parts.len() - 1;
    parts[if places.is_empty() { 0 } else { rest }]
        .extend(trimmed(end..text.len()).filter(|rest| !text[rest.clone()].trim().is_empty()));
    parts
}

fn losses(comparison: &Comparison) -> Vec<FieldLost> {
    let mut losses = Vec::new();
    for (field, known) in comparison.fields.iter().enumerate() {
        for (position, column) in comparison
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.cells[field].lost > 0)
        {
            let is_lost = |fact: &&u32| {
                column
                    .found
                    .get(**fact as usize)
                    .is_some_and(|found| found.state().is_missing())
            };
            let record = |fact: &u32| {
                comparison.facts[*fact as usize]
                    .record
                    .map(|record| record as usize)
            };
            let first =
                known.facts.iter().filter(is_lost).find_map(|fact| {
                    record(fact).filter(|at| column.lacks.get(*at) != Some(&true))
                });
            losses.push(FieldLost {
                column: position,
                field,
                section: first.map_or(0, |record| record + 1),
            });
        }
    }
    losses
}

/// A pointer as people read it: `items[0].name` of `/items/0/name`.
pub fn readable(pointer: &str) -> String {
    let mut text = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        if step == "*" || (!step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit())) {
            text.push_str(&format!("[{step}]"));
        } else {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(&step);
        }
    }
    if text.is_empty() {
        "(all)".to_owned()
    } else {
        text
    }
}

impl Query for ComparisonQuery {
    type Out = Arc<ComparisonPage>;

    fn is_held(&self) -> bool {
        true
    }

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(ComparisonPage::new(
            cx.subjects,
            self,
            cx.hosts,
            cx.cancel,
        )?))
    }
}

/// The rows of a page whose columns are so many characters wide.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ComparisonRowsQuery {
    pub page: ThisPage,
    pub columns: u16,
}

impl Query for ComparisonRowsQuery {
    type Out = Arc<ComparisonRows>;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(ComparisonRows::new(
            &self.page.0,
            self.columns,
            cx.cancel,
        )?))
    }
}

impl Weigh for ComparisonPage {
    fn weight(&self) -> usize {
        let cells = self.sections.len() * self.texts.len() * size_of::<SectionCell>();
        let facts = self.comparison.facts.len()
            * (12 + self.comparison.columns.len() * size_of::<loupe_core::capture::Fact>());
        self.texts
            .iter()
            .map(|view| view.text.len() + view.lines.len() * 32)
            .sum::<usize>()
            + cells
            + facts
    }
}

impl Weigh for ComparisonRows {
    fn weight(&self) -> usize {
        self.cells
            .iter()
            .flatten()
            .map(|rows| rows.len() * size_of::<TextRow>() + 24)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::comparison::tests::{call, text_result};
    use loupe_core::capture::Outcome;

    const JSON: &str = "{\n  \"items\": [\n    {\n      \"id\": 101,\n      \"name\": \"Ann Ames\",\n      \"city\": \"Rome\"\n    },\n    {\n      \"id\": 102,\n      \"name\": \"Bob Burr\",\n      \"city\": \"Oslo\"\n    }\n  ]\n}";
    const MARKDOWN: &str =
        "# People\n\n| id | name |\n|---|---|\n| 101 | Ann Ames |\n| 102 | Bob Burr |\n\nEnd";

    fn page() -> ComparisonPage {
        let calls = [
            call("\"json\"", &text_result(JSON), Outcome::Result),
            call("\"markdown\"", &text_result(MARKDOWN), Outcome::Result),
        ];
        let subjects: Vec<_> = calls.iter().map(|call| Arc::clone(&call.subject)).collect();
        let values: Vec<_> = calls.iter().map(|call| call.value.clone()).collect();
        let ask = ComparisonQuery {
            vary: Some("f".into()),
            values: values.into(),
            derived: Some(vec![(0, "json")]),
            ..ComparisonQuery::default()
        };
        ComparisonPage::new(&subjects, &ask, &Hosts::built_in(), &Cancel::new()).unwrap()
    }

    #[test]
    fn sections_hold_the_whole_text() {
        let page = page();
        let names: Vec<_> = page
            .sections
            .iter()
            .map(|section| section.name.as_str())
            .collect();
        assert_eq!(
            names,
            ["Preamble", "items[0]", "items[1]", "After the records"]
        );
        for (at, column) in page.comparison.columns.iter().enumerate() {
            let mut ranges: Vec<_> = page
                .sections
                .iter()
                .flat_map(|section| section.cells[at].ranges.clone())
                .collect();
            ranges.sort_by_key(|range| range.start);
            let mut end = 0;
            for range in &ranges {
                assert!(
                    range.start >= end && column.text[end..range.start].trim().is_empty(),
                    "{}: {ranges:?}",
                    column.title
                );
                end = range.end;
            }
            assert!(column.text[end..].trim().is_empty(), "{}", column.title);
        }
        assert!(page.sections[1].cells[0].tokens.o200k_base > 5);
    }

    #[test]
    fn what_is_lost_is_listed_and_shown_at_its_record() {
        let page = page();
        assert_eq!(page.sections[2].cells[1].missing, [2]);
        assert_eq!(
            page.losses,
            [FieldLost {
                column: 1,
                field: 2,
                section: 1
            }]
        );
        let field = &page.comparison.fields[2];
        assert_eq!(
            (
                field.pattern.as_str(),
                field.total,
                field.records,
                field.facts.as_slice()
            ),
            ("/items/*/city", 2, 2, [2, 5].as_slice())
        );
        let costs: u64 = page
            .comparison
            .fields
            .iter()
            .map(|field| field.tokens)
            .sum();
        assert!(
            field.tokens > 4 && costs <= page.comparison.rows[4].tokens.o200k_base,
            "{field:?}"
        );
        let rows = ComparisonRows::new(&page, 20, &Cancel::new()).unwrap();
        assert_eq!(rows.tops.len(), page.sections.len() + 1);
        let folded = rows.folded(
            &page,
            &BTreeSet::from(["items[0]".to_owned(), "gone".to_owned()]),
        );
        assert_eq!((folded[1], folded[2] - folded[1]), (rows.tops[1], 1));
        assert_eq!(
            folded.last().copied(),
            Some(rows.len() - (rows.tops[2] - rows.tops[1] - 1))
        );
        let text = &page.texts[1];
        let first = &rows.cells[1][1][0];
        assert_eq!(
            (&text.text[first.range.clone()], first.number),
            ("| 101 | Ann Ames |", Some(5))
        );
    }

    #[test]
    fn pointers_are_read_aloud() {
        assert_eq!(
            ["/items/0/a~1b", "/0", "", "/total"].map(readable),
            ["items[0].a/b", "[0]", "(all)", "total"]
        );
    }
}
