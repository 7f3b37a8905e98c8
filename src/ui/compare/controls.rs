//! What a comparison is looked at with: run again, export, columns, needed fields; and in the strip above the columns
//! which part of the answers they show, and folding.

use std::collections::BTreeSet;

use egui::{Align, Layout, Popup, Rect, RichText, ScrollArea, Stroke, Ui, vec2};

use super::{SIDE, needed};
use crate::analysis::sweep::{Column, ColumnOrigin, SentPart, SweepPage};
use crate::contract::SweepFile;
use crate::contract::TableKind;
use crate::format::FORMATS;
use crate::state::{Action, Compare, CompareAction};
use crate::ui::panes::menu_row;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};

/// Height of the strip above the columns.
pub const STRIP: f32 = 36.0;

pub fn controls_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, page: Option<&SweepPage>) {
    ui.spacing_mut().item_spacing.x = 8.0;
    let why = match (compare.series.is_running(), cx.state.connection.is_connected()) {
        (true, _) => "Calls are being made",
        (_, false) => "Not connected",
        _ => "Makes every call anew",
    };
    let can_run = !compare.series.is_running() && cx.state.running.is_none() && cx.state.connection.is_connected();
    if Button::new("Run again").icon(icons::REFRESH).enabled(can_run).tip(why).show(ui).clicked() {
        cx.send(Action::Compare(CompareAction::Again));
    }
    let Some(page) = page else { return };
    export_ui(ui, cx);
    let is_plot = compare.is_curve && !page.curves.is_empty();
    if !is_plot {
        add_column_ui(ui, cx, page);
        if compare.vary.is_some() {
            needed::needed_ui(ui, cx, page);
        }
    }
    if !page.curves.is_empty()
        && let Some(clicked) = widgets::segmented(ui, "Show", &["Side by side", "Curve"], usize::from(is_plot))
    {
        cx.send(Action::Compare(CompareAction::SetCurve(clicked == 1)));
    }
}

/// The columns without a call, as they are now.
pub fn derived(page: &SweepPage) -> Vec<(usize, &'static str)> {
    let of = |column: &Column| match column.origin {
        ColumnOrigin::Derived(call) => Some((call, column.format)),
        ColumnOrigin::Call(_) => None,
    };
    page.sweep.columns.iter().filter_map(of).collect()
}

fn add_column_ui(ui: &mut Ui, cx: &Cx<'_>, page: &SweepPage) {
    let Some(call) = page.sweep.reference else {
        Button::new("Add column")
            .icon(icons::ADD)
            .enabled(false)
            .tip("No answer has data in it that another format could be written from")
            .show(ui);
        return;
    };
    let button = Button::new("Add column").icon(icons::ADD).tip("A format that Loupe writes from the data; no call").show(ui);
    Popup::menu(&button).width(280.0).show(|ui| {
        let shown = derived(page);
        ui.label(RichText::new("Written from the data, no call made").font(theme::small()).color(ThemeTokens::of(ui).weak));
        ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for format in FORMATS.iter().filter(|format| !format.is_as_sent()) {
                let is_shown = shown.iter().any(|(_, id)| *id == format.id());
                if menu_row(ui, format.title(), Some(ThemeTokens::of(ui).hue(format.id()).color), is_shown).clicked() {
                    let mut next = shown.clone();
                    if is_shown {
                        next.retain(|(_, id)| *id != format.id());
                    } else {
                        next.push((call, format.id()));
                    }
                    cx.send(Action::Compare(CompareAction::SetDerived(next)));
                    ui.close();
                }
            }
        });
    });
}

fn export_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let button = Button::new("Comparison")
        .icon(icons::EXPORT)
        .menu()
        .name("Export the comparison")
        .tip("Copy or save the comparison")
        .show(ui);
    Popup::menu(&button).width(240.0).show(|ui| {
        let table = SweepFile::Table(TableKind::Markdown);
        if ui.button("Copy as Markdown table").on_hover_text(table.about()).clicked() {
            cx.send(Action::Compare(CompareAction::Copy(table)));
            ui.close();
        }
        for file in SweepFile::ALL {
            if ui.button(format!("Save as {}…", file.title())).on_hover_text(file.about()).clicked() {
                cx.send(Action::Compare(CompareAction::Save { file, path: None }));
                ui.close();
            }
        }
    });
}

/// Which part the columns of calls show, and folding; returns the height.
pub fn strip_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, page: &SweepPage, rect: Rect) -> f32 {
    let t = ThemeTokens::of(ui);
    let strip = Rect::from_min_size(rect.min, vec2(rect.width(), STRIP));
    let layout = Layout::left_to_right(Align::Center);
    let inside = widgets::region(ui, "compare strip").max_rect(strip.shrink2(vec2(SIDE, 0.0))).layout(layout);
    ui.scope_builder(inside, |ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        if strip.width() > 640.0 {
            ui.label(RichText::new("Columns show").font(theme::small()).color(t.weak));
        }
        let names = SentPart::ALL.map(|(_, name)| name);
        let selected = SentPart::ALL.iter().position(|(part, _)| *part == compare.part).unwrap_or(0);
        if let Some((part, _)) = widgets::segmented(ui, "Columns show", &names, selected).and_then(|at| SentPart::ALL.get(at)) {
            cx.send(Action::Compare(CompareAction::SetPart(*part)));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let selected = usize::from(compare.is_rendered);
            if let Some(clicked) = widgets::segmented(ui, "Texts", &["Exact", "Rendered"], selected) {
                cx.send(Action::Compare(CompareAction::SetRendered(clicked == 1)));
            }
            // No more names are folded than there are sections: nothing has to be looked up until all may be.
            let is_folded = compare.folded.len() >= page.sections.len()
                && page.sections.iter().all(|section| compare.folded.contains(&section.name));
            let (name, icon) = if is_folded { ("Unfold all", icons::DOWN) } else { ("Fold all", icons::RIGHT) };
            let tip = "Only the heads of the sections, with their tokens";
            if Button::new(name).icon(icon).small().frameless().tip(tip).show(ui).clicked() {
                let all = page.sections.iter().map(|section| section.name.clone());
                let folded: BTreeSet<String> = if is_folded { BTreeSet::new() } else { all.collect() };
                cx.send(Action::Compare(CompareAction::SetFolded(folded)));
            }
        });
    });
    ui.painter().hline(rect.x_range(), strip.bottom() - 0.5, Stroke::new(1.0, t.line));
    STRIP
}
