//! The screen that shows several calls side by side: their heads say what to take; below them the fields and what each
//! column makes of them, the texts record by record, what hosts show; and the curve of a page size.

mod body;
mod compare_button;
mod curve;
mod fields;
mod head;
mod hosts;
mod place;
mod records;
mod tabs;
mod why;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use egui::{Id, Popup, PopupCloseBehavior, Rect, Role, Sense, Ui, UiBuilder, pos2, vec2};

use super::strip;
use super::theme;
use super::widgets::{self, Button};
use super::{Cx, icons, shortcuts};
use crate::state::{Action, CallAction, Compare, CompareAction, QueryState, Screen};
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
    /// By column: how wide it has to be for its name and what it loses.
    needs: Vec<f32>,
    /// How wide the column of fields has to be for their names.
    field_need: f32,
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
            let mut judged = Self {
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
                needs: Vec::new(),
                field_need: 0.0,
            };
            judged.field_need = fields::name_need(ui, &judged);
            judged.needs = (0..comparison.columns.len())
                .map(|at| head::need(ui, &judged, at).max(fields::need(ui, &judged, at)))
                .collect();
            let judged = Arc::new(judged);
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
    let (row, mut rest) = rect.split_top_bottom_at_y(rect.top() + theme::HEADER);
    let tab = tabs::tabs_ui(ui, cx, compare, judged.as_deref(), row);
    if let Some(headline) = judged.as_ref().and_then(|judged| judged.strip.headline()) {
        let response = widgets::sense(ui, row, "headline", Sense::empty());
        widgets::say(&response, Role::Heading, headline);
    }
    if compare.series.is_running() {
        // Columns keep their place while one is waited for.
        let place = match &judged {
            Some(_) => rest.with_min_y(rest.bottom() - NOTICE),
            None => rest.with_max_y(rest.top() + NOTICE),
        };
        progress_ui(ui, cx, compare, place);
        rest.max.y -= NOTICE;
    }
    let note = judged
        .as_ref()
        .and_then(|judged| judged.strip.note.as_ref());
    if let Some(note) = note.filter(|_| tab != tabs::Shown::Curve) {
        rest.min.y += note_ui(ui, note, rest);
    }
    rest.min.y += not_made_ui(ui, compare, rest);
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
    let asked = compare
        .query(cx.state.settings.encoding())
        .map(|(captures, ask)| cx.ask_of(&captures, ask));
    match asked {
        Some(asked) => {
            widgets::padded(ui, 12, |ui| {
                widgets::ready(ui, cx, "Measuring the answers", asked);
            });
        }
        None if !compare.series.is_running()
            && widgets::empty_ui(ui, "No calls yet", Some("Make the calls")) =>
        {
            cx.send(CompareAction::Again);
        }
        _ => {}
    }
}

/// What is waited for, with the way out of it. While a call is made nobody wins, since the last column may be the cheapest.
fn progress_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, rect: Rect) {
    let t = theme::of(ui);
    let Some((message, running)) = compare.progress().zip(cx.state.running.as_ref()) else {
        return;
    };
    strip::single_cell_ui(ui, rect, |ui| {
        widgets::waiting(ui, &format!("Waiting for {message}"), running.since, cx);
        if Button::new("Cancel")
            .small()
            .name("Cancel the comparison")
            .clicked(ui)
        {
            cx.send(CallAction::Cancel);
        }
        strip::words(
            ui,
            &format!("gives up at {}", widgets::seconds(running.limit)),
            t.weak,
        );
    });
}

/// What is said of answers among which none wins, over as many lines as it takes. Returns its height.
fn note_ui(ui: &mut Ui, note: &str, rect: Rect) -> f32 {
    let (font, color) = (theme::base(), theme::of(ui).text);
    let room = rect.width() - 2.0 * SIDE;
    let galley = ui.painter().layout(note.to_owned(), font, color, room);
    let place = rect.with_max_y(rect.top() + (galley.size().y + 17.0).round());
    widgets::galley_at(
        ui,
        pos2(rect.left() + SIDE, place.center().y),
        galley,
        color,
    );
    widgets::line_below(ui, place);
    let response = widgets::sense(ui, place, "compare note", Sense::hover());
    widgets::say(&response, Role::Label, note);
    place.height()
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

/// Why the winner is cheaper, by key.
pub fn why(ui: &Ui, cx: &Cx<'_>) {
    let Some(compare) = &cx.state.comparisons.current else {
        return;
    };
    if let Some(page) = page(ui, cx, compare) {
        why::open(ui, cx, compare, &Judged::of(ui, cx, compare, &page));
    }
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
