//! The head of a column: what it is, what it costs against the baseline, what it keeps.

use egui::{Align, Layout, Rect, Sense, Ui, pos2, vec2};

use super::SIDE;
use super::controls::derived;
use crate::analysis::sweep::{Column, ColumnOrigin, SweepPage};
use crate::capture::Outcome;
use crate::format::ledger::ratio;
use crate::state::{Action, Compare, CompareAction};
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};

pub fn card_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, page: &SweepPage, column: &Column, rect: Rect, most: u64) {
    let t = ThemeTokens::of(ui);
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
    let can_turn = compare.is_rendered && is_measured && can_render(page, column);
    let room = if can_turn { 92.0 } else { 62.0 };
    let buttons = Rect::from_min_max(pos2(inner.right() - room, inner.top()), pos2(inner.right(), inner.top() + 24.0));
    let end = widgets::text_at(
        ui,
        line(11.0) + vec2(15.0, 0.0),
        &column.title,
        theme::semibold(13.5),
        t.strong,
        buttons.left() - inner.left() - 20.0,
    );
    if is_baseline && end + 64.0 < buttons.left() {
        widgets::text_at(ui, pos2(end + 8.0, line(11.0).y), "baseline", theme::small(), t.weak, 60.0);
    }
    ui.scope_builder(
        widgets::region(ui, ("card", format!("{:?}", column.origin), &column.title))
            .max_rect(buttons)
            .layout(Layout::right_to_left(Align::Center)),
        |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            match column.origin {
                ColumnOrigin::Call(call) => {
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
                ColumnOrigin::Derived(_) => {
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
            if can_turn {
                let is_exact = compare.exact.contains(&column.title);
                let (icon, word) = if is_exact { (icons::ARTICLE, "rendered") } else { (icons::CODE, "exactly") };
                if widgets::icon_button(ui, icon, &format!("Show {} {word}", column.title)).clicked() {
                    cx.send(Action::Compare(CompareAction::TurnExact(column.title.clone())));
                }
            }
        },
    );

    let spoken = spoken(column, baseline, encoding);
    ui.interact(rect.with_max_x(buttons.left()), ui.scope_id().with(("column", &column.title)), Sense::hover())
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &spoken));
    if let (false, Some(why)) = (is_measured && column.is_answer(), &column.why) {
        let has_failed = matches!(column.origin, ColumnOrigin::Call(_)) && column.outcome != Outcome::Result;
        let color = if has_failed { t.bad } else { t.weak };
        let words = match column.origin {
            // An answer that has no such part is not a failed one.
            ColumnOrigin::Call(_) if column.outcome != Outcome::Result => format!("{}: {why}", column.outcome.name()),
            ColumnOrigin::Call(_) | ColumnOrigin::Derived(_) => why.clone(),
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
        let color = if is_whole && page.sweep.is_data_alone && change.starts_with('−') { t.ok } else { t.text };
        let end = widgets::text_at(ui, pos2(end + 8.0, line(38.0).y), change, theme::semibold(12.5), color, 60.0);
        let against = format!("against {}", baseline.title);
        widgets::text_at(ui, pos2(end + 6.0, line(38.0).y), against, theme::small(), t.weak, inner.right() - end - 6.0);
    }
    let bar = Rect::from_min_size(line(51.0), vec2(inner.width(), 5.0));
    widgets::bar(ui, bar, if most == 0 { 0.0 } else { tokens as f32 / most as f32 }, hue.color);
    // What it keeps; how long it took.
    let left = widgets::text_right(ui, pos2(inner.right(), line(68.0).y), time(column), theme::code(), t.weak);
    if let Some(facts) = column.facts {
        let (glyph, color) = match (is_whole, page.sweep.is_data_alone) {
            (true, true) => (icons::CHECK, t.ok),
            (true, false) => (icons::CHECK, t.text),
            _ => (icons::MISSING, t.warn),
        };
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
    if let Some(trip) = column.row.round_trip.as_ref().filter(|_| matches!(column.origin, ColumnOrigin::Derived(_))) {
        words.push_str(&format!(" · round trip {}", trip.verdict.name()));
    }
    widgets::text_at(ui, line(86.0), words, theme::small(), t.weak, inner.width());
}

/// Whether a column is shown as Markdown where the texts are rendered.
fn can_render(page: &SweepPage, column: &Column) -> bool {
    let at = page.sweep.columns.iter().position(|known| known.origin == column.origin && known.format == column.format);
    at.and_then(|at| page.texts.get(at)).is_some_and(|view| crate::analysis::sweep::can_render(view.syntax, column.format))
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
