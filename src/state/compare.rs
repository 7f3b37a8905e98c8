//! A tool called over several values of an argument, or several times alike: the plan, what came, and how it is looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use super::call_queue::{Series, SeriesKind};
use super::update::toggle;
use super::{CallOwner, Dialog, Effect, ExportEffect, PathPurpose, Screen, State};
use loupe_analysis::contract::{ComparisonFile, TableKind, comparison_table};
use loupe_analysis::fixture::export::safe_name;
use loupe_analysis::queries::QueryKey;
use loupe_analysis::queries::arguments::unchecked;
use loupe_analysis::queries::comparison::ComparisonPage;
use loupe_analysis::queries::comparison::{
    Comparison, ComparisonChoice, ComparisonQuery, PREAMBLE, differs_only_in, format_argument,
    plan_calls, shown, value_in, values,
};
use loupe_analysis::summary::{Strip, Summary, comparison_strip, comparison_summary};
use loupe_core::capture::{Capture, CaptureId, Outcome, Tool};
use loupe_core::host::ReadChoice;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::Source;
use loupe_core::token::Encoding;

/// A comparison, running or done.
#[derive(Clone, Debug, PartialEq)]
pub struct Compare {
    /// The name of the server that is called.
    pub server: String,
    pub tool: Arc<Tool>,
    /// The argument that is varied; `None` of equal calls.
    pub vary: Option<String>,
    /// Its value in each call, JSON texts; of equal calls which one it is.
    pub values: Vec<String>,
    /// One call for each value.
    pub series: Series,
    /// Whom each call goes to, where the same call is made at several servers: `values` are what these are called then.
    pub(super) servers: Vec<Source>,
    /// What one model reads: the part of their answers that the columns of calls show.
    pub reads: ReadChoice,
    /// Sections of which only the head is shown, by name.
    pub folded: Arc<BTreeSet<String>>,
    /// What is shown of it; `None` takes what there is most to see in.
    pub tab: Option<CompareTab>,
    /// The field whose values are shown record by record, by its pattern; `None` takes the first that some column loses.
    pub field: Option<String>,
    /// The column that was gone to, by its position; counted anew each time.
    pub column: Option<(usize, u64)>,
    /// The call that the others are compared with; `None` takes the first answer.
    pub baseline: Option<usize>,
    /// Columns without a call; `None` takes the usual ones.
    pub derived: Option<Vec<(usize, &'static str)>>,
    /// The difference that was gone to, by position in the list; counted anew each time.
    pub at: Option<(usize, u64)>,
}

impl Compare {
    /// As it is looked at first.
    pub(super) fn new(
        server: String,
        tool: Arc<Tool>,
        vary: Option<String>,
        values: Vec<String>,
        series: Series,
    ) -> Self {
        Self {
            server,
            tool,
            vary,
            values,
            series,
            servers: Vec::new(),
            reads: ReadChoice::Most,
            folded: Arc::new([PREAMBLE.to_owned()].into()),
            tab: None,
            field: None,
            column: None,
            baseline: None,
            derived: None,
            at: None,
        }
    }

    /// Whether it is one call at several servers.
    pub fn is_of_servers(&self) -> bool {
        !self.servers.is_empty()
    }

    /// The calls that were made and what is asked about them; `None` before the first.
    pub fn query(&self, encoding: Encoding) -> Option<(Vec<CaptureId>, ComparisonQuery)> {
        let made = self.values.iter().zip(&self.series.captures);
        let made = made.filter_map(|(value, capture)| Some((value.clone(), capture.clone()?)));
        let (values, captures): (Vec<String>, Vec<CaptureId>) = made.unzip();
        let ask = ComparisonQuery {
            vary: self.vary.as_deref().map(Into::into),
            values: values.into(),
            reads: self.reads,
            baseline: self.baseline,
            derived: self.derived.clone(),
            encoding,
        };
        (!captures.is_empty()).then_some((captures, ask))
    }

    /// "response_format=markdown", "call 2".
    fn name(&self, value: &str) -> String {
        self.vary
            .as_ref()
            .map_or_else(|| shown(value), |vary| format!("{vary}={}", shown(value)))
    }

    /// "response_format=markdown, call 2 of 2", while one is in flight.
    pub fn progress(&self) -> Option<String> {
        let at = self.series.running()?;
        // Of equal calls the number says which.
        let is_numbered = self.vary.is_none() && !self.is_of_servers();
        let which = if is_numbered {
            String::new()
        } else {
            format!("{}, ", self.name(&self.values[at]))
        };
        Some(format!("{which}call {} of {}", at + 1, self.values.len()))
    }

    /// "response_format=markdown", of the calls that were not made.
    pub fn not_made(&self) -> Vec<String> {
        let left = self
            .values
            .iter()
            .zip(&self.series.captures)
            .filter(|(_, capture)| capture.is_none());
        left.map(|(value, _)| self.name(value)).collect()
    }
}

/// What is shown of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareTab {
    /// The fields, and what each column makes of them.
    Fields,
    /// The texts next to each other.
    Records,
    /// What each host's model would be shown.
    Hosts,
    /// The plot; only where the argument is a page size.
    Curve,
}

/// What the user does in a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum CompareAction {
    /// Call the selected tool with each value that is not there already; asks first where it is not declared read-only. The
    /// values are as the user writes them, with commas between them or as a JSON array; empty takes those of the schema.
    Start {
        vary: String,
        written: String,
    },
    /// Call it so many times with the same arguments, those of the form; asks first as [`CompareAction::Start`].
    StartEqual(usize),
    /// What the popup of another argument says.
    Edit(VaryForm),
    /// Every call anew.
    Again,
    SetReads(ReadChoice),
    /// Folds a section to its head, by name, or unfolds it.
    Fold(String),
    /// The names of all sections that are folded.
    SetFolded(BTreeSet<String>),
    Show(CompareTab),
    /// Shows the values of a field, by its pattern.
    Field(String),
    /// Scrolls to a column, by its position.
    Column(usize),
    /// The comparison as a text for the clipboard.
    Copy(ComparisonFile),
    /// The comparison as a file; `None` asks where.
    Save {
        file: ComparisonFile,
        path: Option<PathBuf>,
    },
    SetBaseline(usize),
    SetDerived(Vec<(usize, &'static str)>),
    /// Whether the plot counts characters instead of tokens.
    SetChars(bool),
    /// Whose limits the plot draws in, by the host's id.
    SetLimits(BTreeSet<String>),
    /// Goes to a difference, by its position in the list.
    Go(usize),
    /// Which fields of the records of this tool the model needs; `None` is all.
    Need(Option<BTreeSet<String>>),
    /// Whether the model needs this field of the tool whose result is shown, turned around; without any, all are needed.
    NeedField(String),
}

/// The popup for varying an argument that does not list its formats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VaryForm {
    pub tool: String,
    pub vary: String,
    pub written: String,
}

/// What is known about comparisons while the program runs.
#[derive(Debug, Default)]
pub struct Comparisons {
    pub current: Option<Compare>,
    pub form: VaryForm,
    /// Fields that the model needs, by the server's name and the tool's; all where there is no entry.
    pub needed_fields: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    /// Whether the plot counts characters instead of tokens.
    pub is_in_chars: bool,
    /// Hosts whose limits the plot draws in, by id.
    pub limits: BTreeSet<String>,
}

impl State {
    /// The argument of the selected tool that chooses how the result is written.
    pub fn format_choice(&self) -> Option<ComparisonChoice> {
        format_argument(&self.tool()?.tool)
    }

    /// How many of these values were called already with what the form says.
    pub fn made_of(&self, choice: &ComparisonChoice) -> usize {
        let (Some(listed), Some(form)) = (self.tool(), self.form()) else {
            return 0;
        };
        let made = |value: &&String| {
            self.made(&listed.tool, &choice.name, value, &form.resolved_text())
                .is_some()
        };
        choice.values.iter().filter(made).count()
    }

    /// The newest answer of this tool that was called with this value, all other arguments as given; the one shown first.
    fn made(&self, tool: &Tool, vary: &str, value: &str, arguments: &str) -> Option<CaptureId> {
        let server = self.session().connection.server()?;
        let is_it = |capture: &&Arc<Capture>| {
            let Ok(own) = std::str::from_utf8(&capture.arguments) else {
                return false;
            };
            capture.outcome == Outcome::Result
                && !capture.request.is_empty()
                && capture.tool.raw == tool.raw
                && capture.tool.name == tool.name
                && capture.server.source == server.source
                && value_in(tool, vary, own).as_deref() == Some(value)
                && differs_only_in(vary, own, arguments)
        };
        let shown = self.capture().filter(is_it);
        shown
            .or_else(|| self.captures.iter().rev().find(is_it))
            .map(|capture| capture.id.clone())
    }

    pub(super) fn compare(&mut self, action: CompareAction, effects: &mut Vec<Effect>) {
        match action {
            CompareAction::StartEqual(count) => {
                let values = (1..=count).map(|at| format!("\"call {at}\"")).collect();
                self.start_compare(None, values, effects);
            }
            CompareAction::Start { vary, written } => {
                let Some(listed) = self.tool() else { return };
                match values(&listed.tool, &vary, Some(&written)) {
                    Ok(values) => self.start_compare(Some(vary), values, effects),
                    Err(problem) => self.toast_problem(problem),
                }
            }
            CompareAction::Edit(form) => self.comparisons.form = form,
            CompareAction::Again => {
                let Some(compare) = self.comparisons.current.clone() else {
                    return;
                };
                let series = match self.again_at_servers(&compare) {
                    Ok(calls) if !calls.is_empty() => Series::new(calls),
                    Ok(_) => {
                        let arguments = compare
                            .series
                            .calls
                            .iter()
                            .map(|call| call.arguments.clone())
                            .enumerate();
                        let call = |(at, arguments)| {
                            self.prepare(&compare.tool, arguments, CallOwner::Compare(at))
                        };
                        Series::new(arguments.map(call).collect())
                    }
                    Err(problem) => return self.toast_problem(problem),
                };
                self.ask_compare(
                    Compare {
                        series,
                        at: None,
                        ..compare
                    },
                    effects,
                );
            }
            CompareAction::SetChars(is_in_chars) => self.comparisons.is_in_chars = is_in_chars,
            CompareAction::SetLimits(limits) => self.comparisons.limits = limits,
            CompareAction::Need(fields) => {
                let Some(Compare { server, tool, .. }) = &self.comparisons.current else {
                    return;
                };
                let needed = self
                    .comparisons
                    .needed_fields
                    .entry(server.clone())
                    .or_default();
                match fields {
                    Some(fields) => needed.insert(tool.name.clone(), fields),
                    None => needed.remove(&tool.name),
                };
            }
            CompareAction::NeedField(field) => self.need_field(&field),
            CompareAction::Copy(file) => self.write_compare(file, None, effects),
            CompareAction::Save {
                file,
                path: Some(path),
            } => self.write_compare(file, Some(path), effects),
            CompareAction::Save { file, path: None } => self.ask_where(file),
            CompareAction::SetReads(reads) => self.edit_compare(|compare| {
                // What differs is another list then.
                compare.reads = reads;
                compare.at = None;
            }),
            CompareAction::Fold(section) => {
                self.edit_compare(|compare| toggle(Arc::make_mut(&mut compare.folded), section))
            }
            CompareAction::SetFolded(folded) => {
                self.edit_compare(|compare| compare.folded = Arc::new(folded))
            }
            CompareAction::Show(tab) => self.edit_compare(|compare| compare.tab = Some(tab)),
            CompareAction::Field(field) => self.edit_compare(|compare| compare.field = Some(field)),
            CompareAction::Column(at) => {
                self.edit_compare(|compare| {
                    compare.column = Some((at, compare.column.map_or(0, |(_, count)| count + 1)))
                });
            }
            CompareAction::SetBaseline(call) => {
                self.edit_compare(|compare| compare.baseline = Some(call))
            }
            CompareAction::SetDerived(derived) => {
                self.edit_compare(|compare| compare.derived = Some(derived))
            }
            CompareAction::Go(at) => {
                let field = self
                    .compared()
                    .and_then(|(_, page)| page.comparison.fields.get(page.losses.get(at)?.field));
                let field = field.map(|field| field.pattern.clone());
                self.edit_compare(|compare| compare.field = field.or(compare.field.take()));
                self.edit_compare(|compare| {
                    compare.at = Some((at, compare.at.map_or(0, |(_, count)| count + 1)))
                });
            }
        }
    }

    fn edit_compare(&mut self, edit: impl FnOnce(&mut Compare)) {
        if let Some(compare) = &mut self.comparisons.current {
            edit(compare);
        }
    }

    /// The comparison on the screen, once it is measured.
    fn compared(&self) -> Option<(&Compare, &Arc<ComparisonPage>)> {
        let compare = self.comparisons.current.as_ref()?;
        let (captures, ask) = compare.query(self.settings.encoding())?;
        Some((
            compare,
            self.query_results
                .query_state::<ComparisonQuery>(&QueryKey::new(&captures, ask))?
                .ready()?,
        ))
    }

    /// What is said of a comparison, by the fields that are needed where the user chose them.
    pub fn compare_strip(&self, compare: &Compare, comparison: &Comparison) -> Strip {
        comparison_strip(
            comparison,
            self.needed_fields(&compare.server, &compare.tool.name),
        )
    }

    /// The same as a sentence.
    pub fn comparison_summary_text(&self, compare: &Compare, comparison: &Comparison) -> Summary {
        comparison_summary(
            comparison,
            self.needed_fields(&compare.server, &compare.tool.name),
        )
    }

    /// The sentence and the columns as Markdown; `None` until they are there.
    pub(super) fn compare_text(&self) -> Option<String> {
        let (compare, page) = self.compared()?;
        let headline = self.compare_strip(compare, &page.comparison).headline();
        let headline = headline.map_or_else(String::new, |headline| format!("**{headline}**\n\n"));
        let table = comparison_table(TableKind::Markdown, &page.comparison, &[]);
        Some(format!(
            "{headline}{}\n\n{table}",
            self.comparison_summary_text(compare, &page.comparison)
                .text()
        ))
    }

    /// Writes the calls that were made, as they are looked at.
    fn write_compare(
        &mut self,
        file: ComparisonFile,
        path: Option<PathBuf>,
        effects: &mut Vec<Effect>,
    ) {
        let encoding = self.settings.encoding();
        let Some((captures, ask)) = self
            .comparisons
            .current
            .as_ref()
            .and_then(|compare| compare.query(encoding))
        else {
            self.toast("No calls yet");
            return;
        };
        let find = |id: &CaptureId| {
            self.captures
                .iter()
                .find(|capture| capture.id == *id)
                .cloned()
        };
        let Some(captures) = captures.iter().map(find).collect::<Option<Vec<_>>>() else {
            self.toast("An answer of this comparison was removed; run it again");
            return;
        };
        self.dialog = None;
        effects.push(Effect::Export(ExportEffect::Compare {
            captures,
            ask,
            file,
            path,
        }));
    }

    fn ask_where(&mut self, file: ComparisonFile) {
        let Some(compare) = &self.comparisons.current else {
            return;
        };
        let name = safe_name(&format!(
            "{}-{}",
            compare.tool.name,
            compare.vary.as_deref().unwrap_or("equal-calls")
        ));
        let text = format!("{name}.{}", file.extension());
        self.dialog = Some(Dialog::Path {
            purpose: PathPurpose::ExportCompare(file),
            text,
        });
    }

    /// The comparison of the card of the start page and of the button: what chooses the format of the selected tool.
    pub(super) fn compare_formats(&mut self, effects: &mut Vec<Effect>) {
        if let Some(choice) = self.format_choice() {
            self.start_compare(Some(choice.name), choice.values, effects);
        }
    }

    /// Plans every call and checks it before the first is made.
    fn start_compare(
        &mut self,
        vary: Option<String>,
        values: Vec<String>,
        effects: &mut Vec<Effect>,
    ) {
        if self.running.is_some() {
            return;
        }
        let (Some(listed), Some(form)) = (self.tool(), self.form()) else {
            return;
        };
        if vary.is_none() && form.syntax.is_some() {
            return;
        }
        let tool = Arc::clone(&listed.tool);
        let text = form.resolved_text().into_owned();
        let mut series = Series::default();
        for (at, value) in values.iter().enumerate() {
            let owner = CallOwner::Compare(at);
            let Some(vary) = &vary else {
                series
                    .calls
                    .push(self.prepare(&tool, Bytes::from(text.clone()), owner));
                series.captures.push(None);
                continue;
            };
            match plan_calls(&tool, vary, value, &text) {
                Ok((arguments, why)) => {
                    if let Some(why) = why {
                        self.toast(&unchecked(&tool.name, &why));
                    }
                    series.captures.push(self.made(&tool, vary, value, &text));
                    series
                        .calls
                        .push(self.prepare(&tool, Bytes::from(arguments), owner));
                }
                Err(problem) => return self.toast_problem(problem),
            }
        }
        let server = self
            .session()
            .connection
            .server()
            .map(|server| server.name.clone())
            .unwrap_or_default();
        // What one model reads was chosen for the result already.
        let reads = self.read_choice();
        self.ask_compare(
            Compare {
                reads,
                ..Compare::new(server, tool, vary, values, series)
            },
            effects,
        );
    }

    /// Makes the calls, after asking where the tool is not declared read-only.
    pub(super) fn ask_compare(&mut self, compare: Compare, effects: &mut Vec<Effect>) {
        let left: Vec<String> = compare
            .series
            .remaining()
            .map(|call| self.call_text(call))
            .collect();
        if self.running.is_some() || (!left.is_empty() && !self.session().connection.is_connected())
        {
            let problem = Problem::new(ProblemKind::Disconnected, "not connected")
                .hint("reconnect (Ctrl R), then compare again");
            if self.running.is_none() {
                self.toast_problem(problem);
            }
            return;
        }
        if compare
            .series
            .remaining()
            .any(|call| self.needs_consent(call))
        {
            self.dialog = Some(Dialog::ConfirmCompare {
                compare: Box::new(compare),
                calls: left,
            });
            return;
        }
        self.run_compare(compare, effects);
    }

    pub(super) fn run_compare(&mut self, compare: Compare, effects: &mut Vec<Effect>) {
        if let Some(Err(problem)) = compare
            .series
            .remaining()
            .next()
            .map(|call| self.check_prepared(call))
        {
            self.toast_problem(problem);
            return;
        }
        self.comparisons.current = Some(compare);
        self.view.screen = Screen::Compare;
        self.view.maximised = None;
        self.next_of_series(SeriesKind::Compare, effects);
    }

    /// The fields that the model needs of this tool of this server; `None` is all.
    pub fn needed_fields(&self, server: &str, tool: &str) -> Option<&BTreeSet<String>> {
        self.comparisons.needed_fields.get(server)?.get(tool)
    }

    fn need_field(&mut self, field: &str) {
        let Some(capture) = self.capture().cloned() else {
            return;
        };
        let server = self
            .comparisons
            .needed_fields
            .entry(capture.server.name.clone())
            .or_default();
        let needed = server.entry(capture.tool.name.clone()).or_default();
        let is_needed = needed.insert(field.to_owned());
        if !is_needed {
            needed.remove(field);
        }
        let count = needed.len() as u64;
        if needed.is_empty() {
            server.remove(&capture.tool.name);
        }
        let words = match (is_needed, count) {
            (true, _) => format!("{} is needed", loupe_core::diff::pattern::name(field)),
            (false, 0) => "Every field is needed".to_owned(),
            (false, _) => format!("{} is not needed", loupe_core::diff::pattern::name(field)),
        };
        self.toast(&words);
    }

    /// Goes to the next difference of a needed field, or the one before, round and round.
    pub fn step_difference(&self, is_next: bool) -> Option<super::Action> {
        let (compare, page) = self.compared()?;
        let needed = self.needed_fields(&compare.server, &compare.tool.name);
        let is_needed = |at: &usize| {
            let field = &page.comparison.fields[page.losses[*at].field];
            needed.is_none_or(|needed| needed.contains(&field.pattern))
        };
        let all: Vec<usize> = (0..page.losses.len()).filter(is_needed).collect();
        let (first, last) = (*all.first()?, *all.last()?);
        let next = match compare.at {
            Some((at, _)) if is_next => all
                .iter()
                .copied()
                .find(|other| *other > at)
                .unwrap_or(first),
            Some((at, _)) => all
                .iter()
                .rev()
                .copied()
                .find(|other| *other < at)
                .unwrap_or(last),
            None => first,
        };
        Some(super::Action::Compare(CompareAction::Go(next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Event;
    use loupe_core::capture::{Capture, Server, Tool};

    #[test]
    fn a_field_is_needed_until_it_is_named_again() {
        let server = Server {
            name: "shop".into(),
            ..Server::default()
        };
        let capture = Arc::new(Capture {
            tool: Tool::unlisted("find"),
            ..Capture::empty(CaptureId("a".into()), server)
        });
        let mut state = State::default();
        state.apply(Event::Opened(vec![capture]), &mut Vec::new());
        let needed = |state: &State| {
            let fields = state.needed_fields("shop", "find");
            fields.map(|fields| fields.iter().cloned().collect::<Vec<_>>())
        };
        let mut name = |field: &str| {
            let action = super::super::Action::Compare(CompareAction::NeedField(field.to_owned()));
            state.perform(action, &mut Vec::new());
            needed(&state)
        };
        assert_eq!(name("/items/*/id"), Some(vec!["/items/*/id".to_owned()]));
        assert_eq!(name("/total").map(|fields| fields.len()), Some(2));
        assert_eq!(name("/items/*/id"), Some(vec!["/total".to_owned()]));
        // Without any, all are needed.
        assert_eq!(name("/total"), None);
    }
}
