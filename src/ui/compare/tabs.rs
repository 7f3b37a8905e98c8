//! The tabs of a comparison, and what it is looked at with: which part of the results, the baseline, further columns, and
//! running it again.

use egui::{Popup, Rect, ScrollArea, Ui, vec2};

use super::{Judged, SIDE};
use crate::state::{Compare, CompareAction, CompareTab, ViewAction};
use crate::ui::theme;
use crate::ui::view_as::MOST_HOSTS;
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons, strip};
use loupe_analysis::queries::comparison::{Column, ColumnOrigin, ComparisonPage};
use loupe_core::format::FORMATS;
use loupe_core::host::{ReadChoice, ResultPart};

pub use crate::state::CompareTab as Shown;

/// Below this width controls are icons, and the baseline is chosen at its column.
const TIGHT: f32 = 860.0;
const WHOLE: f32 = 1_000.0;

/// What is shown: what was chosen, else what there is most to see in.
fn current_tab(compare: &Compare, judged: Option<&Judged>) -> CompareTab {
    let has_curve = judged.is_some_and(|judged| !judged.page.curves.is_empty());
    let usual = match judged {
        Some(_) if has_curve => CompareTab::Curve,
        // Of equal calls, which are written alike, the texts tell more.
        Some(judged) if judged.page.comparison.fields.is_empty() => CompareTab::Records,
        _ => CompareTab::Fields,
    };
    compare
        .tab
        .filter(|tab| *tab != CompareTab::Curve || has_curve)
        .unwrap_or(usual)
}

pub fn tabs_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    compare: &Compare,
    judged: Option<&Judged>,
    rect: Rect,
) -> CompareTab {
    let tab = current_tab(compare, judged);
    widgets::line_below(ui, rect);
    let inner = rect.shrink2(vec2(SIDE, 0.0));
    widgets::line_part(ui, "compare tabs", inner, |ui| {
        ui.spacing_mut().item_spacing.x = if inner.width() < TIGHT { 10.0 } else { 18.0 };
        let name = if cx.state.view.capture.is_some() {
            "Answer"
        } else {
            "Start"
        };
        let back = Button::new(name)
            .icon(icons::ARROW_LEFT)
            .frameless()
            .small()
            .tip("Back to the panes");
        let back = if inner.width() < TIGHT {
            back
        } else {
            back.shortcut("Esc")
        };
        if back.clicked(ui) {
            cx.send(ViewAction::ShowAnswer);
        }
        let count = |count: usize| Some(widgets::grouped(count as u64));
        let comparison = judged.map(|judged| &judged.page.comparison);
        let curve = judged.filter(|judged| !judged.page.curves.is_empty());
        let tabs = [
            curve.map(|_| (CompareTab::Curve, "Curve", None)),
            Some((
                CompareTab::Fields,
                "Fields",
                comparison.and_then(|comparison| count(comparison.fields.len())),
            )),
            Some((
                CompareTab::Records,
                "By record",
                comparison.and_then(|comparison| count(comparison.records.len())),
            )),
            Some((
                CompareTab::Hosts,
                "Hosts",
                count(cx.state.hosts.iter().count()),
            )),
        ];
        for (of, label, count) in tabs.into_iter().flatten() {
            if widgets::tab(ui, None, label, count.as_deref(), tab == of, theme::HEADER).clicked() {
                cx.send(CompareAction::Show(of));
            }
        }
        widgets::from_right(ui, |ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            copy_ui(ui, cx, rect, inner.width());
            controls_ui(ui, cx, compare, judged, inner.width());
        });
    });
    tab
}

/// What the heads say, as text, and with what stands below them as a picture.
fn copy_ui(ui: &mut Ui, cx: &Cx<'_>, row: Rect, width: f32) {
    let button = Button::new(if width < WHOLE { "" } else { "Copy" })
        .name("Copy as…")
        .icon(icons::COPY)
        .menu()
        .small()
        .show(ui);
    let picture = strip::copy_below(ui, row.with_min_y(row.bottom()));
    Popup::menu(&button).show(|ui| strip::copy_entries_ui(ui, cx, &picture));
}

fn controls_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, judged: Option<&Judged>, width: f32) {
    let is_tight = width < TIGHT;
    let why = match (
        compare.series.is_running(),
        cx.state.session().connection.is_connected(),
    ) {
        (true, _) => "Calls are being made",
        (_, false) => "Not connected",
        _ => "Makes every call again",
    };
    let can_run = !compare.series.is_running()
        && cx.state.running.is_none()
        && cx.state.session().connection.is_connected();
    let again = Button::new(if is_tight { "" } else { "Run again" })
        .name("Run again")
        .icon(icons::REFRESH)
        .small();
    if again.enabled(can_run).tip(why).clicked(ui) {
        cx.send(CompareAction::Again);
    }
    let Some(judged) = judged else { return };
    add_column_ui(ui, cx, judged, is_tight);
    if width >= TIGHT {
        baseline_ui(ui, cx, judged, width);
    }
    part_ui(ui, cx, compare, judged, width);
}

/// The columns without a call, as they are now.
pub fn derived(page: &ComparisonPage) -> Vec<(usize, &'static str)> {
    let of = |column: &Column| match column.origin {
        ColumnOrigin::Derived(call) => Some((call, column.format)),
        ColumnOrigin::Call(_) => None,
    };
    page.comparison.columns.iter().filter_map(of).collect()
}

fn add_column_ui(ui: &mut Ui, cx: &Cx<'_>, judged: &Judged, is_tight: bool) {
    let page = &judged.page;
    let button = Button::new(if is_tight { "" } else { "Add column" })
        .name("Add column")
        .icon(icons::ADD)
        .small();
    let Some(call) = page.comparison.reference else {
        button
            .enabled(false)
            .tip("No answer has data to write another format from")
            .show(ui);
        return;
    };
    let button = button
        .tip("A format that Loupe writes from the data; no call")
        .show(ui);
    Popup::menu(&button).width(280.0).show(|ui| {
        let shown = derived(page);
        ui.label(widgets::styled(
            "Written from the data, no call made",
            theme::small(),
            theme::of(ui).weak,
        ));
        ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for format in FORMATS.iter().filter(|format| !format.is_as_sent()) {
                let is_shown = shown.iter().any(|(_, id)| *id == format.id());
                let cell = judged.strip.winner();
                let cell = cell.filter(|cell| !is_shown && cell.format == format.id());
                let name = match cell.and_then(|cell| cell.badge.as_deref()) {
                    Some(badge) => format!("{} · {badge}", format.title()),
                    None => format.title().to_owned(),
                };
                if widgets::choose_row(ui, &name, Some(theme::of(ui).faint), is_shown) {
                    let mut next = shown.clone();
                    if is_shown {
                        next.retain(|(_, id)| *id != format.id());
                    } else {
                        next.push((call, format.id()));
                    }
                    cx.send(CompareAction::SetDerived(next));
                }
            }
        });
    });
}

fn baseline_ui(ui: &mut Ui, cx: &Cx<'_>, judged: &Judged, width: f32) {
    let Some(base) = judged.base else { return };
    let title = &judged.column(base).title;
    let name = format!("Baseline: {title}");
    let button = Button::new(title)
        .menu()
        .small()
        .name(&name)
        .tip("What the others are compared with")
        .show(ui);
    Popup::menu(&button).width(240.0).show(|ui| {
        for (at, column) in judged.page.comparison.columns.iter().enumerate() {
            if let (ColumnOrigin::Call(call), true) = (column.origin, column.is_answer())
                && widgets::menu_row(
                    ui,
                    &column.title,
                    Some(theme::of(ui).hue(column.format).color),
                    at == base,
                )
                .clicked()
            {
                cx.send(CompareAction::SetBaseline(call));
                ui.close();
            }
        }
    });
    if width >= WHOLE {
        ui.label(widgets::styled(
            "Baseline",
            theme::small(),
            theme::of(ui).weak,
        ));
    }
}

/// Which part of the results is compared; only where one has two.
fn part_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, judged: &Judged, width: f32) {
    if !judged.page.has_structured {
        return;
    }
    let chosen = match compare.reads {
        ReadChoice::Most => MOST_HOSTS.to_owned(),
        ReadChoice::Part(part) => part.title().to_owned(),
        ReadChoice::Host(id) => {
            let host = cx.state.hosts.get(id.as_str());
            format!("What {} shows", host.map_or(id.as_str(), |host| &host.name))
        }
    };
    let name = format!("Columns show: {chosen}");
    let label = if width < TIGHT { "" } else { &chosen };
    let button = Button::new(label)
        .icon(icons::FILTER)
        .menu()
        .small()
        .name(&name)
        .tip(&name)
        .show(ui);
    Popup::menu(&button).width(200.0).show(|ui| {
        let parts = ResultPart::ALL
            .into_iter()
            .map(|part| (ReadChoice::Part(part), part.title()));
        for (reads, name) in std::iter::once((ReadChoice::Most, MOST_HOSTS)).chain(parts) {
            if widgets::choose_row(ui, name, None, reads == compare.reads) {
                cx.send(CompareAction::SetReads(reads));
            }
        }
    });
}
