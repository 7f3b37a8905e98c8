//! The screen that shows several calls side by side: what each column costs and keeps, one computed sentence, the texts
//! aligned by record, and what differs as a list.

mod body;
mod curve;
mod losses;
mod needed;
mod offer;

use std::sync::Arc;

use egui::{Align, Id, Layout, Popup, PopupCloseBehavior, Rect, RichText, ScrollArea, Sense, Stroke, Ui, UiBuilder, pos2, vec2};

use super::theme::{self, Tokens};
use super::widgets::{self, Button};
use super::{Cx, icons};
use crate::format::FORMATS;
use crate::format::ledger::ratio;
use crate::report::Answer;
use crate::report::sweep::{Column, Origin, SweepPage, needed_verdict, sweep_verdict};
use crate::state::{Action, Asked, Compare, CompareAction};
use crate::ui::panes::{format_title, menu_row};

pub use offer::{button_ui, offer_ui, offer_width, variant_ui};

/// A column is never narrower; more of them scroll.
const MIN_COLUMN: f32 = 240.0;
const CARD: f32 = 112.0;
/// Below this width the controls stand under the head.
const NARROW: f32 = 860.0;
const SIDE: f32 = 14.0;

pub fn compare_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let Some(compare) = &cx.state.comparisons.current else {
        widgets::empty_ui(ui, "Nothing is compared yet. The button beside Call compares the formats of a tool.", None);
        return;
    };
    let t = Tokens::of(ui);
    let page = page(ui, cx, compare);
    let title = format!("Compare {}", compare.vary);
    // Where the head has no room for them, the controls have a row of their own.
    let is_narrow = ui.available_width() < NARROW;
    let rest = widgets::mode_head(ui, cx, &title, |ui| {
        if !is_narrow {
            controls_ui(ui, cx, compare, page.as_deref());
        }
    });
    ui.allocate_rect(rest, Sense::hover());
    ui.painter().rect_filled(rest, 0.0, t.panel);
    let mut top = rest.top();
    if is_narrow {
        let row = Rect::from_min_size(rest.min, vec2(rest.width(), theme::HEADER + 4.0));
        let layout = Layout::right_to_left(Align::Center);
        let row = UiBuilder::new().max_rect(row.shrink2(vec2(SIDE, 0.0))).layout(layout).id_salt("compare controls");
        ui.scope_builder(row, |ui| controls_ui(ui, cx, compare, page.as_deref()));
        top += theme::HEADER + 4.0;
    }
    top += progress_ui(ui, cx, compare, rest.with_min_y(top));
    let Some(page) = page else {
        ui.scope_builder(UiBuilder::new().max_rect(rest.with_min_y(top)), |ui| waiting_ui(ui, cx, compare));
        return;
    };
    top += verdict_ui(ui, cx, &page, rest.with_min_y(top));
    let rest = rest.with_min_y(top);
    if compare.is_curve && !page.curves.is_empty() {
        ui.scope_builder(UiBuilder::new().max_rect(rest.shrink(12.0)), |ui| curve::curve_ui(ui, cx, &page));
        return;
    }
    let has_losses = !page.losses.is_empty();
    let wanted = losses::height(page.losses.len()).min(rest.height() * 0.3);
    let below = if has_losses && rest.height() > 320.0 { wanted } else { 0.0 };
    let middle = rest.with_max_y(rest.bottom() - below);
    ui.scope_builder(UiBuilder::new().max_rect(middle).id_salt("compare columns"), |ui| columns_ui(ui, cx, compare, &page));
    if below > 0.0 {
        ui.painter().hline(rest.x_range(), middle.bottom() + 0.5, Stroke::new(1.0, t.line));
        let area = rest.with_min_y(middle.bottom() + 1.0);
        ui.scope_builder(UiBuilder::new().max_rect(area).id_salt("differences"), |ui| losses::losses_ui(ui, cx, compare, &page));
    }
}

/// What is known now; until it is, what was known before, so that nothing flickers.
fn page(ui: &Ui, cx: &Cx<'_>, compare: &Compare) -> Option<Arc<SweepPage>> {
    let id = Id::unique("compare page");
    let inquiry = compare.inquiry()?;
    match cx.ask_of(&inquiry.captures, inquiry.question.clone()) {
        Asked::Ready(Answer::Sweep(page)) => {
            ui.data_mut(|data| data.insert_temp(id, (inquiry.captures.clone(), Arc::clone(page))));
            Some(Arc::clone(page))
        }
        Asked::Working { .. } => {
            let (captures, page): (Vec<crate::capture::CaptureId>, Arc<SweepPage>) = ui.data(|data| data.get_temp(id))?;
            (captures.first() == inquiry.captures.first()).then_some(page)
        }
        _ => None,
    }
}

fn waiting_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare) {
    let failed = compare.inquiry().map(|inquiry| cx.ask_of(&inquiry.captures, inquiry.question.clone()));
    match failed {
        Some(Asked::Failed(problem)) => {
            egui::Frame::new().inner_margin(12).show(ui, |ui| widgets::problem_ui(ui, problem));
        }
        Some(Asked::Working { since }) => {
            ui.add_space(12.0);
            ui.horizontal(|ui| {
                ui.add_space(SIDE);
                widgets::waiting(ui, "Measuring what came", since, cx);
            });
        }
        _ if !compare.is_running() && widgets::empty_ui(ui, "No call was made.", Some("Make the calls")) => {
            cx.send(Action::Compare(CompareAction::Again));
        }
        _ => {}
    }
}

/// "Call 2 of 2: response_format=markdown · 0.0 s · Cancel", or which calls were not made and why. Returns its height.
fn progress_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, rect: Rect) -> f32 {
    const HEIGHT: f32 = 34.0;
    let t = Tokens::of(ui);
    let running = compare.progress().zip(cx.state.compare_since());
    let left = compare.not_made();
    if running.is_none() && left.is_empty() {
        return 0.0;
    }
    let strip = Rect::from_min_size(rect.min, vec2(rect.width(), HEIGHT));
    ui.painter().rect_filled(strip, 0.0, if running.is_some() { t.accent_bg } else { t.warn_bg });
    ui.scope_builder(
        UiBuilder::new()
            .max_rect(strip.shrink2(vec2(SIDE, 0.0)))
            .layout(Layout::left_to_right(Align::Center))
            .id_salt("progress"),
        |ui| {
            ui.spacing_mut().item_spacing.x = 10.0;
            if let Some((words, since)) = running {
                widgets::waiting(ui, &words, since, cx);
                if Button::new("Cancel").small().name("Cancel the comparison").show(ui).clicked() {
                    cx.send(Action::Compare(CompareAction::Cancel));
                }
            } else {
                let why = compare.stopped.as_deref().unwrap_or("not called");
                let words = format!("Not called: {} ({why}). What came is below.", left.join(", "));
                ui.add(egui::Label::new(icons::icon_fill(icons::WARNING, 14.0, t.warn)));
                ui.add(egui::Label::new(RichText::new(words).font(theme::base()).color(t.text)).truncate());
            }
        },
    );
    HEIGHT
}

fn verdict_ui(ui: &mut Ui, cx: &Cx<'_>, page: &SweepPage, rect: Rect) -> f32 {
    let encoding = cx.state.settings.encoding();
    let needed = needed::chosen(cx, page);
    let verdict = match &needed {
        Some(needed) => needed_verdict(&page.sweep, needed, encoding),
        None => sweep_verdict(&page.sweep, encoding),
    };
    let inner = rect.shrink2(vec2(SIDE, 8.0));
    let used = ui.scope_builder(UiBuilder::new().max_rect(inner).id_salt("compare verdict"), |ui| {
        ui.horizontal_top(|ui| {
            let room = inner.width() - 34.0;
            widgets::verdict_rows(ui, &verdict, room, 5);
            if widgets::icon_button(ui, icons::COPY, "Copy the sentence").clicked() {
                cx.send(Action::Copy(verdict.text()));
            }
        });
    });
    (used.response.rect.height() + 16.0).ceil()
}

// Controls

fn controls_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, page: Option<&SweepPage>) {
    ui.spacing_mut().item_spacing.x = 8.0;
    let why = match (compare.is_running(), cx.state.connection.is_connected()) {
        (true, _) => "Calls are being made",
        (_, false) => "Not connected",
        _ => "Makes every call anew",
    };
    let can_run = !compare.is_running() && cx.state.running.is_none() && cx.state.connection.is_connected();
    if Button::new("Run again").icon(icons::REFRESH).enabled(can_run).tip(why).show(ui).clicked() {
        cx.send(Action::Compare(CompareAction::Again));
    }
    let Some(page) = page else { return };
    let is_plot = compare.is_curve && !page.curves.is_empty();
    if !is_plot {
        add_column_ui(ui, cx, page);
        needed::needed_ui(ui, cx, page);
        let selected = usize::from(compare.is_rendered);
        if let Some(clicked) = widgets::segmented(ui, "Texts", &["Exact", "Rendered"], selected) {
            cx.send(Action::Compare(CompareAction::SetRendered(clicked == 1)));
        }
    }
    if !page.curves.is_empty()
        && let Some(clicked) = widgets::segmented(ui, "Show", &["Side by side", "Curve"], usize::from(is_plot))
    {
        cx.send(Action::Compare(CompareAction::SetCurve(clicked == 1)));
    }
}

/// The columns without a call, as they are now.
fn derived(page: &SweepPage) -> Vec<(usize, &'static str)> {
    let of = |column: &Column| match column.origin {
        Origin::Derived(call) => Some((call, column.format)),
        Origin::Call(_) => None,
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
        ui.label(RichText::new("Written from the data, no call made").font(theme::small()).color(Tokens::of(ui).weak));
        ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for format in FORMATS.iter().filter(|format| !format.is_as_sent()) {
                let is_shown = shown.iter().any(|(_, id)| *id == format.id());
                if menu_row(ui, format.title(), Some(Tokens::of(ui).hue(format.id()).color), is_shown).clicked() {
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

// Columns

fn columns_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, page: &Arc<SweepPage>) {
    let area = ui.available_rect_before_wrap();
    let count = page.sweep.columns.len().max(1);
    let width = (area.width() / count as f32).max(MIN_COLUMN).floor();
    ScrollArea::horizontal().id_salt("compare across").auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
        let left = ui.cursor().left();
        let whole = Rect::from_min_size(pos2(left, area.top()), vec2(width * count as f32, area.height()));
        ui.allocate_rect(whole, Sense::hover());
        let most = page.sweep.columns.iter().map(|column| column.row.tokens.get(cx.state.settings.encoding())).max().unwrap_or(0);
        for (at, column) in page.sweep.columns.iter().enumerate() {
            let card = Rect::from_min_size(pos2(left + at as f32 * width, area.top()), vec2(width, CARD));
            if ui.is_rect_visible(card) {
                card_ui(ui, cx, page, column, card, most);
            }
        }
        let t = Tokens::of(ui);
        ui.painter().hline(whole.x_range(), whole.top() + CARD - 0.5, Stroke::new(1.0, t.line));
        let below = whole.with_min_y(whole.top() + CARD);
        ui.scope_builder(UiBuilder::new().max_rect(below).id_salt("compare body"), |ui| {
            if compare.is_rendered {
                rendered_ui(ui, cx, compare, page, below, width);
            } else {
                body::body_ui(ui, cx, compare, page, below, width);
            }
        });
        for at in 1..count {
            ui.painter().vline(left + at as f32 * width, whole.y_range(), Stroke::new(1.0, t.line));
        }
    });
}

/// Every column by itself, as Markdown is read.
fn rendered_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, page: &SweepPage, rect: Rect, width: f32) {
    let captures = compare.inquiry().map(|inquiry| inquiry.captures).unwrap_or_default();
    for (at, column) in page.sweep.columns.iter().enumerate() {
        let body = Rect::from_min_size(pos2(rect.left() + at as f32 * width, rect.top()), vec2(width, rect.height()));
        let (Origin::Call(call) | Origin::Derived(call)) = column.origin;
        if !ui.is_rect_visible(body) {
            continue;
        }
        ui.scope_builder(UiBuilder::new().max_rect(body).id_salt(("rendered column", at)), |ui| {
            ui.set_clip_rect(body.intersect(ui.clip_rect()));
            match (&column.why, captures.get(call)) {
                (Some(why), _) => {
                    widgets::empty_ui(ui, why, None);
                }
                (None, Some(capture)) => {
                    // Panes of the answer screen have other numbers.
                    let pane = super::panes::PaneCx { index: 100 + at, format: column.format, is_focused: false };
                    cx.about(capture, || super::panes::rendered::rendered_ui(ui, cx, &pane));
                }
                (None, None) => {}
            }
        });
    }
}

fn card_ui(ui: &mut Ui, cx: &Cx<'_>, page: &SweepPage, column: &Column, rect: Rect, most: u64) {
    let t = Tokens::of(ui);
    let encoding = cx.state.settings.encoding();
    let baseline = page.sweep.baseline.and_then(|at| page.sweep.column_of(at));
    let is_baseline = baseline.is_some_and(|baseline| baseline.origin == column.origin);
    let hue = t.hue(column.format);
    let inner = rect.shrink2(vec2(SIDE, 8.0));
    let line = |row: f32| pos2(inner.left(), inner.top() + row);
    let tokens = column.row.tokens.get(encoding);
    let is_measured = column.row.is_available() && !column.row.format.is_empty();

    // Name, where it is from, pin or remove.
    let square = Rect::from_center_size(line(11.0) + vec2(4.0, 0.0), vec2(8.0, 8.0));
    ui.painter().rect_filled(square, theme::RADIUS_BAR, hue.color);
    let buttons = Rect::from_min_max(pos2(inner.right() - 62.0, inner.top()), pos2(inner.right(), inner.top() + 24.0));
    let end = widgets::text_at(
        ui,
        line(11.0) + vec2(15.0, 0.0),
        &column.title,
        theme::semibold(13.5),
        t.strong,
        buttons.left() - inner.left() - 20.0,
    );
    let origin = match (column.origin, is_baseline) {
        (Origin::Call(_), true) => "baseline",
        (Origin::Call(_), false) => "",
        (Origin::Derived(_), _) => "",
    };
    if end + 64.0 < buttons.left() {
        widgets::text_at(ui, pos2(end + 8.0, line(11.0).y), origin, theme::small(), t.weak, 60.0);
    }
    ui.scope_builder(
        UiBuilder::new().max_rect(buttons).layout(Layout::right_to_left(Align::Center)).id_salt(("card", &column.title)),
        |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            match column.origin {
                Origin::Call(call) => {
                    let (icon, name) = if is_baseline {
                        (icons::BASELINE, format!("{} is the baseline", column.title))
                    } else {
                        (icons::BASELINE, format!("Compare against {}", column.title))
                    };
                    let button = Button::new("").name(&name).tip(&name).frameless().height(theme::ICON_BUTTON);
                    let button = if is_baseline { button.icon_fill(icon) } else { button.icon(icon) };
                    if column.is_answer() && button.show(ui).clicked() {
                        cx.send(Action::Compare(CompareAction::SetBaseline(call)));
                    }
                }
                Origin::Derived(_) => {
                    if widgets::icon_button(ui, icons::CLOSE, &format!("Remove {}", column.title)).clicked() {
                        let mut next = derived(page);
                        next.retain(|(_, format)| *format != column.format);
                        cx.send(Action::Compare(CompareAction::SetDerived(next)));
                    }
                }
            }
            if is_measured && widgets::icon_button(ui, icons::COPY, &format!("Copy {}", column.title)).clicked() {
                cx.send(Action::Copy(column.text.to_string()));
            }
        },
    );

    let spoken = spoken(column, baseline, encoding);
    ui.interact(rect.with_max_x(buttons.left()), ui.scope_id().with(("column", &column.title)), Sense::hover())
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &spoken));
    if let (false, Some(why)) = (is_measured && column.is_answer(), &column.why) {
        let color = if matches!(column.origin, Origin::Call(_)) { t.bad } else { t.weak };
        let words = match column.origin {
            Origin::Call(_) => format!("{}: {why}", column.outcome.name()),
            Origin::Derived(_) => why.clone(),
        };
        widgets::text_at(ui, line(40.0), &words, theme::base(), color, inner.width());
        widgets::text_at(ui, line(66.0), time(column), theme::code(), t.weak, inner.width());
        return;
    }
    // Tokens, and what they are against.
    let end = widgets::text_at(ui, line(36.0), widgets::grouped(tokens), theme::mono_semibold(18.0), t.strong, 140.0);
    let end = widgets::text_at(ui, pos2(end + 6.0, line(38.0).y), "tok", theme::code(), t.weak, 40.0);
    let is_whole = column.facts.is_none_or(|facts| facts.missing == 0);
    let is_narrow = inner.width() < 250.0;
    if let (Some(change), Some(baseline)) = (change(column, baseline, encoding), baseline) {
        let color = if is_whole && change.starts_with('−') { t.ok } else { t.text };
        let end = widgets::text_at(ui, pos2(end + 8.0, line(38.0).y), change, theme::mono_semibold(12.5), color, 60.0);
        let against = format!("against {}", baseline.title);
        widgets::text_at(ui, pos2(end + 6.0, line(38.0).y), against, theme::small(), t.weak, inner.right() - end - 6.0);
    }
    let bar = Rect::from_min_size(line(51.0), vec2(inner.width(), 5.0));
    widgets::bar(ui, bar, if most == 0 { 0.0 } else { tokens as f32 / most as f32 }, hue.color);
    // What it keeps; how long it took.
    let left = widgets::text_right(ui, pos2(inner.right(), line(68.0).y), time(column), theme::code(), t.weak);
    if let Some(facts) = column.facts {
        let (glyph, color) = if is_whole { (icons::CHECK, t.ok) } else { (icons::MISSING, t.warn) };
        widgets::glyph_at(ui, line(68.0) + vec2(6.0, 0.0), glyph, theme::icon_font(13.0), color);
        let word = if is_narrow { "facts" } else { "facts kept" };
        let kept = format!("{} of {} {word}", widgets::grouped(facts.total - facts.missing), widgets::grouped(facts.total));
        widgets::text_at(ui, line(68.0) + vec2(18.0, 0.0), kept, theme::medium(12.0), color, left - inner.left() - 26.0);
    }
    let mut words = widgets::bytes(column.row.bytes);
    if tokens > 0 {
        let unit = if is_narrow { "B/tok" } else { "B per tok" };
        words.push_str(&format!(" · {:.2} {unit}", column.row.bytes as f64 / tokens as f64));
    }
    if let Some(trip) = column.row.round_trip.as_ref().filter(|_| matches!(column.origin, Origin::Derived(_))) {
        words.push_str(&format!(" · round trip {}", trip.verdict.name()));
    }
    widgets::text_at(ui, line(86.0), words, theme::small(), t.weak, inner.width());
}

fn time(column: &Column) -> String {
    column.latency.map_or_else(|| "no call made".to_owned(), widgets::seconds)
}

/// "−81%", of columns other than the baseline.
fn change(column: &Column, baseline: Option<&Column>, encoding: crate::token::Encoding) -> Option<String> {
    let baseline = baseline.filter(|baseline| baseline.origin != column.origin)?;
    let percent = ((ratio(&column.row, &baseline.row, encoding)? - 1.0) * 100.0).round();
    Some(if percent == 0.0 { "0%".into() } else { format!("{}{}%", if percent < 0.0 { "−" } else { "+" }, percent.abs()) })
}

/// The whole card in words.
fn spoken(column: &Column, baseline: Option<&Column>, encoding: crate::token::Encoding) -> String {
    let mut words = vec![column.title.clone()];
    if let Some(why) = &column.why {
        words.push(why.clone());
    } else {
        words.push(widgets::number_text(column.row.tokens.get(encoding), "tokens"));
        if let (Some(change), Some(baseline)) = (change(column, baseline, encoding), baseline) {
            words.push(format!("{change} against {}", baseline.title));
        }
        if let Some(facts) = column.facts {
            words.push(format!(
                "{} of {} facts kept",
                widgets::grouped(facts.total - facts.missing),
                widgets::grouped(facts.total)
            ));
        }
        words.push(widgets::number_text(column.row.bytes, "bytes"));
    }
    words.push(time(column));
    words.join(", ")
}

/// A popup that stays while things are ticked in it.
fn stays(button: &egui::Response) -> Popup<'_> {
    Popup::menu(button).close_behavior(PopupCloseBehavior::CloseOnClickOutside)
}

/// Name of a column's format, for menus.
fn column_name(column: &Column) -> &str {
    if column.title.is_empty() { format_title(column.format) } else { &column.title }
}
