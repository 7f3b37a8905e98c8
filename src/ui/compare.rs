//! The screen that shows several calls side by side: what to take in a strip, then the fields and what each column makes
//! of them, the texts record by record, what hosts show, and the curve of a page size.

mod body;
mod compare_button;
mod curve;
mod fields;
mod head;
mod hosts;
mod place;
mod records;
mod tabs;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use egui::{Align, Id, Layout, Popup, PopupCloseBehavior, Rect, Sense, Ui, UiBuilder, vec2};

use super::strip::{self, words};
use super::theme;
use super::widgets::{self, Button};
use super::{Cx, icons, shortcuts};
use crate::state::diff::DiffAction;
use crate::state::{Action, CallAction, Compare, CompareAction, QueryState, Screen, ViewAction};
use loupe_analysis::contract::{ComparisonFile, TableKind};
use loupe_analysis::queries::comparison::{
    Column, ColumnOrigin, Comparison, ComparisonPage, Field, readable,
};
use loupe_analysis::summary::{Loss, Strip, column_loss};
use loupe_core::capture::CaptureId;
use loupe_core::diff::pattern;

pub use compare_button::{EQUAL, button_ui, by_key, equal_by_key, equal_ui, offer_ui};

const SIDE: f32 = 14.0;
const NOTICE: f32 = 34.0;

/// A comparison with what is needed of it: made anew only where one of them changes.
struct Judged {
    page: Arc<ComparisonPage>,
    needed: Option<BTreeSet<String>>,
    /// By field.
    is_needed: Vec<bool>,
    /// By field: the name alone where it is the only one of its kind, else the whole path.
    names: Vec<String>,
    /// Records of the data that the columns are judged against.
    records: u64,
    /// By column.
    losses: Vec<Loss>,
    strip: Strip,
    /// Position of the column that wins.
    winner: Option<usize>,
    /// Position of the baseline's column.
    base: Option<usize>,
}

impl Judged {
    fn of(ui: &Ui, cx: &Cx<'_>, compare: &Compare, page: &Arc<ComparisonPage>) -> Arc<Self> {
        let id = Id::unique("compare judged");
        let needed = cx.state.needed_fields(&compare.server, &compare.tool.name);
        let known: Option<Arc<Self>> = widgets::recall(ui, id);
        let is_it =
            |known: &Arc<Self>| Arc::ptr_eq(&known.page, page) && known.needed.as_ref() == needed;
        known.filter(is_it).unwrap_or_else(|| {
            let comparison = &page.comparison;
            let strip = cx.state.compare_strip(compare, comparison);
            let position = |origin| {
                comparison
                    .columns
                    .iter()
                    .position(|column| column.origin == origin)
            };
            let judged = Arc::new(Self {
                is_needed: comparison
                    .fields
                    .iter()
                    .map(|field| needed.is_none_or(|needed| needed.contains(&field.pattern)))
                    .collect(),
                names: names(comparison),
                records: comparison
                    .records
                    .iter()
                    .filter(|record| record.is_of_reference)
                    .count() as u64,
                losses: (0..comparison.columns.len())
                    .map(|at| column_loss(comparison, at, needed))
                    .collect(),
                winner: strip.winner().and_then(|cell| cell.column),
                base: comparison
                    .baseline
                    .and_then(|call| position(ColumnOrigin::Call(call))),
                strip,
                needed: needed.cloned(),
                page: Arc::clone(page),
            });
            widgets::remember(ui, id, Arc::clone(&judged));
            judged
        })
    }

    fn column(&self, at: usize) -> &Column {
        &self.page.comparison.columns[at]
    }

    /// How many fields are needed.
    fn count_needed(&self) -> usize {
        self.is_needed
            .iter()
            .filter(|is_needed| **is_needed)
            .count()
    }

    /// Says that these fields are needed, by position.
    fn need(&self, cx: &Cx<'_>, is_needed: impl Fn(usize) -> bool) {
        let fields = &self.page.comparison.fields;
        let chosen: BTreeSet<String> = (0..fields.len())
            .filter(|at| is_needed(*at))
            .map(|at| fields[at].pattern.clone())
            .collect();
        cx.send(CompareAction::Need(
            Some(chosen).filter(|chosen| chosen.len() < fields.len()),
        ));
    }

    fn toggle(&self, cx: &Cx<'_>, field: usize) {
        self.need(cx, |at| self.is_needed[at] != (at == field));
    }

    /// Needs what a column has, and nothing else.
    fn need_what_it_has(&self, cx: &Cx<'_>, at: usize) {
        self.need(cx, |field| self.column(at).cells[field].lost == 0);
    }
}

fn names(comparison: &Comparison) -> Vec<String> {
    let mut same: HashMap<String, usize> = HashMap::new();
    let names: Vec<String> = comparison
        .fields
        .iter()
        .map(|field| pattern::name(&field.pattern))
        .collect();
    names
        .iter()
        .for_each(|name| *same.entry(name.clone()).or_default() += 1);
    let row = |(name, field): (String, &Field)| {
        if same[&name] == 1 && !name.is_empty() {
            name
        } else {
            readable(&field.pattern)
        }
    };
    names.into_iter().zip(&comparison.fields).map(row).collect()
}

pub fn compare_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let Some(compare) = &cx.state.comparisons.current else {
        widgets::empty_ui(
            ui,
            "Nothing is compared yet. The button beside Call compares the formats of a tool.",
            None,
        );
        return;
    };
    let t = theme::of(ui);
    let judged = page(ui, cx, compare).map(|page| Judged::of(ui, cx, compare, &page));
    let rect = ui.available_rect_before_wrap();
    ui.allocate_rect(rect, Sense::hover());
    ui.painter().rect_filled(rect, 0.0, t.panel);
    let (top, rest) = rect.split_top_bottom_at_y(rect.top() + strip::height_here(ui));
    widgets::part(ui, "compare answer", top, |ui| {
        strip_ui(ui, cx, compare, judged.as_deref())
    });
    let (row, rest) = rest.split_top_bottom_at_y(rest.top() + theme::HEADER);
    let tab = tabs::tabs_ui(ui, cx, compare, judged.as_deref(), row);
    let rest = rest.with_min_y(rest.top() + not_made_ui(ui, compare, rest));
    widgets::part(ui, "compare body", rest, |ui| match (&judged, tab) {
        (None, _) => waiting_ui(ui, cx, compare),
        (Some(judged), tabs::Shown::Fields) => fields::fields_ui(ui, cx, compare, judged),
        (Some(judged), tabs::Shown::Records) => records::records_ui(ui, cx, compare, judged),
        (Some(judged), tabs::Shown::Hosts) => hosts::hosts_ui(ui, cx, compare, judged),
        (Some(judged), tabs::Shown::Curve) => curve::curve_ui(ui, cx, &judged.page),
    });
}

/// What is known now; until it is, what was known before, so that nothing flickers.
fn page(ui: &Ui, cx: &Cx<'_>, compare: &Compare) -> Option<Arc<ComparisonPage>> {
    let id = Id::unique("compare page");
    let (captures, ask) = compare.query(cx.state.settings.encoding())?;
    match cx.ask_of(&captures, ask) {
        QueryState::Ready(page) => {
            widgets::remember(ui, id, (captures, Arc::clone(page)));
            Some(Arc::clone(page))
        }
        QueryState::Working { .. } => {
            let (before, page): (Vec<CaptureId>, Arc<ComparisonPage>) = widgets::recall(ui, id)?;
            (before.first() == captures.first()).then_some(page)
        }
        _ => None,
    }
}

fn waiting_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare) {
    let failed = compare
        .query(cx.state.settings.encoding())
        .map(|(captures, ask)| cx.ask_of(&captures, ask));
    match failed {
        Some(QueryState::Failed(problem)) => {
            widgets::padded(ui, 12, |ui| widgets::problem_ui(ui, problem));
        }
        None if !compare.series.is_running()
            && widgets::empty_ui(ui, "No calls yet", Some("Make the calls")) =>
        {
            cx.send(CompareAction::Again);
        }
        _ => {}
    }
}

/// The result of the comparison: three cells, or one sentence why there are none. While a call is made there is none, since
/// the last column may be the cheapest.
fn strip_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, judged: Option<&Judged>) {
    let t = theme::of(ui);
    let rect = ui.max_rect();
    widgets::line_below(ui, rect);
    if let Some((message, running)) = compare.progress().zip(cx.state.running.as_ref()) {
        return strip::single_cell_ui(ui, rect, |ui| {
            widgets::waiting(ui, &format!("Waiting for {message}"), running.since, cx);
            if Button::new("Cancel")
                .small()
                .name("Cancel the comparison")
                .clicked(ui)
            {
                cx.send(CallAction::Cancel);
            }
            words(
                ui,
                &format!("gives up at {}", widgets::seconds(running.limit)),
                t.weak,
            );
        });
    }
    let Some(judged) = judged else {
        if let Some((captures, ask)) = compare.query(cx.state.settings.encoding())
            && let asked @ (QueryState::Working { .. } | QueryState::NeedsConfirmation { .. }) =
                cx.ask_of(&captures, ask)
        {
            strip::single_cell_ui(ui, rect, |ui| {
                widgets::ready(ui, cx, "Measuring the answers", asked);
            });
        }
        return;
    };
    let strip = &judged.strip;
    if let Some(note) = &strip.note {
        return strip::single_cell_ui(ui, rect, |ui| {
            widgets::from_right(ui, |ui| {
                if widgets::icon_button(ui, icons::COPY, "Copy summary").clicked() {
                    cx.send(Action::CopySummary);
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| note_ui(ui, note));
            });
        });
    }
    let (clicked, rest) = strip::cells_ui(
        ui,
        strip,
        rect,
        None,
        None::<fn(&egui::Response, &loupe_analysis::summary::StripCell)>,
    );
    clicked
        .and_then(|at| cell_action(judged, at))
        .into_iter()
        .for_each(|action| cx.send(action));
    let way = why_of(cx, compare, judged);
    let why = |ui: &Ui| {
        way.clone()
            .into_iter()
            .for_each(|way| way.go(ui, cx, strip))
    };
    strip::buttons_ui(
        ui,
        cx,
        strip,
        rest,
        way.as_ref().map(|_| &why as &dyn Fn(&Ui)),
        &strip::copy_below(ui, rect),
    );
}

/// A sentence on as many lines as the strip has, the whole of it on hover.
fn note_ui(ui: &mut Ui, note: &str) {
    let rows = if ui.available_height() > 40.0 { 3 } else { 1 };
    let mut job = egui::text::LayoutJob::simple(
        note.to_owned(),
        theme::base(),
        theme::of(ui).text,
        ui.available_width(),
    );
    job.wrap.max_rows = rows;
    let galley = ui.painter().layout_job(job);
    ui.add(egui::Label::new(galley)).on_hover_text(note);
}

/// Goes to the column of a cell; one that has none gets it.
fn cell_action(judged: &Judged, at: usize) -> Option<Action> {
    let cell = judged.strip.cells.get(at)?;
    let action = match (cell.column, judged.page.comparison.reference) {
        (Some(column), _) => CompareAction::Column(column),
        (None, Some(call)) => {
            let mut derived = tabs::derived(&judged.page);
            match judged
                .page
                .comparison
                .columns
                .iter()
                .position(|column| !column.is_offered() && column.format == cell.format)
            {
                Some(column) => CompareAction::Column(column),
                None => {
                    derived.push((call, cell.format));
                    CompareAction::SetDerived(derived)
                }
            }
        }
        (None, None) => return None,
    };
    Some(Action::Compare(action))
}

/// The cell of the strip by key.
pub fn open(ui: &Ui, cx: &Cx<'_>, at: usize) -> Option<Action> {
    let compare = cx
        .state
        .comparisons
        .current
        .as_ref()
        .filter(|_| cx.state.view.screen == Screen::Compare)?;
    cell_action(&Judged::of(ui, cx, compare, &page(ui, cx, compare)?), at)
}

/// Where it is shown why the winner is cheaper than the baseline.
#[derive(Clone)]
enum Why {
    /// Both are of this result: the steps from one format to the other.
    Steps(CaptureId),
    /// The difference of two results.
    Answers(CaptureId, CaptureId),
}

impl Why {
    fn go(self, ui: &Ui, cx: &Cx<'_>, strip: &Strip) {
        match self {
            Self::Steps(capture) => {
                cx.send(ViewAction::SelectCapture(capture));
                strip::steps(ui, cx, strip);
            }
            Self::Answers(a, b) => cx.send(DiffAction::Open(a, b)),
        }
    }
}

fn why_of(cx: &Cx<'_>, compare: &Compare, judged: &Judged) -> Option<Why> {
    let (captures, _) = compare.query(cx.state.settings.encoding())?;
    let winner = judged.strip.winner()?;
    let call = |at: usize| match judged.column(at).origin {
        ColumnOrigin::Call(call) | ColumnOrigin::Derived(call) => captures.get(call).cloned(),
    };
    let base = judged.base.and_then(call)?;
    let is_offered = winner
        .column
        .is_some_and(|at| judged.column(at).is_offered());
    let own = if is_offered {
        winner.column.and_then(call)?
    } else {
        captures.get(judged.page.comparison.reference?)?.clone()
    };
    match own == base {
        true if is_offered => None,
        true => Some(Why::Steps(own)),
        false => Some(Why::Answers(base, own)),
    }
}

/// Why the winner is cheaper, by key.
pub fn why(ui: &Ui, cx: &Cx<'_>) {
    let Some(compare) = &cx.state.comparisons.current else {
        return;
    };
    let judged = page(ui, cx, compare).map(|page| Judged::of(ui, cx, compare, &page));
    let Some(judged) = judged else { return };
    why_of(cx, compare, &judged)
        .into_iter()
        .for_each(|way| way.go(ui, cx, &judged.strip));
}

/// Which calls were not made, and why. Returns its height.
fn not_made_ui(ui: &mut Ui, compare: &Compare, rect: Rect) -> f32 {
    let t = theme::of(ui);
    let left = compare.not_made();
    if compare.series.is_running() || left.is_empty() {
        return 0.0;
    }
    let strip = Rect::from_min_size(rect.min, vec2(rect.width(), NOTICE));
    ui.painter().rect_filled(strip, 0.0, t.warn_bg);
    let inner = strip.shrink2(vec2(SIDE, 0.0));
    widgets::line_part(ui, "not made", inner, |ui| {
        let why = compare.series.stopped.as_deref().unwrap_or("not called");
        let words = format!(
            "Not called: {} ({why}). What came is below.",
            left.join(", ")
        );
        ui.add(egui::Label::new(icons::icon_fill(
            icons::WARNING,
            14.0,
            t.warn,
        )));
        widgets::truncated(ui, words, theme::base(), t.text);
    });
    NOTICE
}

/// The comparison's part of *Export ▾*.
pub fn export_ui(ui: &mut Ui, cx: &Cx<'_>) {
    if ui
        .button("Copy summary")
        .on_hover_text(shortcuts::text(&shortcuts::COPY_VERDICT))
        .clicked()
    {
        cx.send(Action::CopySummary);
        ui.close();
    }
    let table = ComparisonFile::Table(TableKind::Markdown);
    if ui
        .button("Copy as Markdown table")
        .on_hover_text(table.about())
        .clicked()
    {
        cx.send(CompareAction::Copy(table));
        ui.close();
    }
    for file in ComparisonFile::ALL {
        if ui
            .button(format!("Save as {}…", file.title()))
            .on_hover_text(file.about())
            .clicked()
        {
            cx.send(CompareAction::Save { file, path: None });
            ui.close();
        }
    }
}

/// A popup that stays while things are ticked in it.
fn stays(button: &egui::Response) -> Popup<'_> {
    Popup::menu(button).close_behavior(PopupCloseBehavior::CloseOnClickOutside)
}

/// A part of the screen that is painted where others do not reach.
fn clip_ui(ui: &mut Ui, rect: Rect, salt: &str, paint: impl FnOnce(&mut Ui)) {
    ui.scope_builder(
        UiBuilder::new()
            .max_rect(rect)
            .scope_id(ui.scope_id().with(salt)),
        |ui| {
            ui.set_clip_rect(rect.intersect(ui.clip_rect()));
            paint(ui);
        },
    );
}
