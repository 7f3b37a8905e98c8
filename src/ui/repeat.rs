//! One call several times: how far it is, how its cost is spread, what changes from call to call.

use egui::{Align, Layout, Rect, RichText, Role, ScrollArea, Sense, Stroke, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use super::sidebar::{duration, outcome_look};
use super::theme::{self, Tokens};
use super::widgets::{self, Button};
use super::{Cx, icons};
use crate::report::repeat::{Repeat, RepeatQuery, Spread};
use crate::state::diff::DiffAction;
use crate::state::repeat::RepeatAction;
use crate::state::{Action, Asked};

const COUNTS: [u32; 5] = [3, 5, 10, 20, 50];
const ROW: f32 = 24.0;
/// The widest that numbers are spread.
const WIDEST: f32 = 860.0;

pub fn repeat_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let repeat = &cx.state.repeat;
    let is_running = repeat.is_running();
    let can_start = !is_running && cx.state.running.is_none() && cx.state.connection.is_connected() && !repeat.tool.is_empty();
    let rest = widgets::mode_head(ui, cx, "Repeat a call", |ui| {
        if is_running {
            widgets::cancel_calls(ui, cx);
        } else {
            let label = format!("Call {} times", widgets::grouped(repeat.count.into()));
            let tip = if can_start { "One call at a time" } else { "Connect to a server first" };
            if Button::new(&label).icon_fill(icons::CALL).primary().enabled(can_start).tip(tip).show(ui).clicked() {
                cx.send(Action::Repeat(RepeatAction::Start));
            }
            let chosen = COUNTS.iter().position(|count| *count == repeat.count).unwrap_or(COUNTS.len());
            let names = COUNTS.map(|count| count.to_string());
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if let Some(clicked) = widgets::segmented(ui, "Calls", &names, chosen) {
                cx.send(Action::Repeat(RepeatAction::SetCount(COUNTS[clicked])));
            }
        }
    });
    ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| {
        ScrollArea::vertical().id_salt("repeat").auto_shrink(false).show(ui, |ui| {
            widgets::mode_body(ui, |ui| body_ui(ui, cx));
        });
    });
}

fn body_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = Tokens::of(ui);
    let repeat = &cx.state.repeat;
    let arguments = String::from_utf8_lossy(&repeat.arguments);
    let short: String = arguments.chars().take(200).collect();
    ui.label(RichText::new(&repeat.tool).font(theme::tool_name()).color(t.strong));
    ui.add(egui::Label::new(RichText::new(format!("Sent each time: {short}")).font(theme::code()).color(t.weak)).wrap());
    let done = repeat.captures.len();
    if let (true, Some(running)) = (repeat.is_running(), &cx.state.running) {
        widgets::waiting(ui, &format!("Call {} of {}", done + 1, repeat.count), running.since, cx);
    } else if repeat.is_stopped {
        let words = format!("Stopped: {done} of {} calls were made. Those are kept.", repeat.count);
        ui.label(RichText::new(words).font(theme::base()).color(t.warn));
    } else if done == 0 {
        let words = "The same call several times tells whether its cost is steady, and which values change from call to call.";
        ui.add(egui::Label::new(RichText::new(words).font(theme::base()).color(t.weak)).wrap());
        return;
    }
    if done == 0 {
        return;
    }
    // While calls are being made the numbers of each answer are shown; the summary follows when they stand still.
    if !repeat.is_running() {
        match cx.ask_of(&repeat.captures, RepeatQuery(cx.state.settings.encoding())) {
            Asked::Ready(found) => found_ui(ui, cx, found),
            Asked::Failed(problem) => {
                widgets::problem_ui(ui, problem);
            }
            _ => {
                let since = cx.state.answers.since().unwrap_or(cx.state.now);
                widgets::waiting(ui, "Comparing the answers", since, cx);
            }
        }
    }
    calls_ui(ui, cx);
}

fn heading(ui: &mut Ui, words: &str) {
    ui.add_space(6.0);
    let response = ui.label(RichText::new(words).font(theme::title()).color(Tokens::of(ui).strong));
    response.widget_info(|| WidgetInfo::labeled(Role::Heading, true, words));
}

fn found_ui(ui: &mut Ui, cx: &Cx<'_>, found: &Repeat) {
    let t = Tokens::of(ui);
    let answers = widgets::number_text(found.answers as u64, "answers");
    let failed: Vec<String> =
        found.failed.iter().map(|(outcome, count)| format!("{count} {}", outcome_look(*outcome, t).2)).collect();
    let failed = if failed.is_empty() { String::new() } else { format!(" · not answered: {}", failed.join(", ")) };
    heading(ui, &format!("Spread of {answers}{failed}"));
    let tokenizer = format!("tokens ({})", cx.state.settings.encoding().name());
    let rows = [
        ("Latency", "ms", found.latency_ms, 1),
        ("Size as sent", "bytes", found.bytes, 0),
        ("Tokens as sent", tokenizer.as_str(), found.tokens, 0),
    ];
    table_row(ui, ["", "least", "median", "most", "most against least"].map(str::to_owned), true);
    for (name, unit, spread, digits) in rows {
        let Some(spread) = spread else { continue };
        table_row(ui, cells(name, unit, spread, digits), false);
    }
    heading(ui, "What changes from call to call");
    if found.answers < 2 {
        ui.label(RichText::new("At least two answers are needed to tell.").font(theme::base()).color(t.weak));
        return;
    }
    if found.different == 0 {
        let words = format!("Nothing: all {answers} are the same, byte for byte.");
        ui.label(RichText::new(words).font(theme::base()).color(t.ok));
        return;
    }
    let words = format!("{} of {} answers are not, byte for byte, the first.", found.different, found.answers - 1);
    ui.label(RichText::new(words).font(theme::base()).color(t.text));
    if !found.has_data {
        ui.label(RichText::new("Without data in every answer only the bytes were compared.").font(theme::small()).color(t.weak));
    }
    for place in found.changing.iter().take(100) {
        let path = if place.pattern.is_empty() { "(whole payload)" } else { &place.pattern };
        let values = widgets::number_text(place.values, "values");
        let calls = widgets::number_text(place.calls as u64, "calls");
        ui.horizontal(|ui| {
            ui.label(icons::icon(icons::WRITES, 14.0, t.warn));
            ui.label(RichText::new(crate::report::special::Shown::of(path).text).font(theme::code()).color(t.strong));
            ui.label(RichText::new(format!("{values} in {calls}")).font(theme::small()).color(t.weak));
        });
    }
    if found.changing.len() > 100 {
        let more = widgets::number_text(found.changing.len() as u64 - 100, "more places");
        ui.label(RichText::new(format!("and {more}")).font(theme::small()).color(t.weak));
    }
}

fn number(value: f64, digits: usize) -> String {
    if digits == 0 {
        // Sizes and counts are far below 2^53; half of one is the mean of two.
        let whole = widgets::grouped(value.trunc() as u64);
        if value.fract() > 0.0 { format!("{whole}.5") } else { whole }
    } else {
        format!("{value:.digits$}")
    }
}

fn cells(name: &str, unit: &str, spread: Spread, digits: usize) -> [String; 5] {
    let share = if spread.min > 0.0 && spread.max > spread.min {
        format!("+{:.1}%", (spread.max - spread.min) / spread.min * 100.0)
    } else if spread.max > spread.min {
        "–".to_owned()
    } else {
        "the same".to_owned()
    };
    [format!("{name}, {unit}"), number(spread.min, digits), number(spread.median, digits), number(spread.max, digits), share]
}

fn table_row(ui: &mut Ui, cells: [String; 5], is_head: bool) {
    let t = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width().min(WIDEST), ROW), Sense::hover());
    let spoken = if is_head {
        "least, median, most".to_owned()
    } else {
        format!("{}: least {}, median {}, most {}, most against least {}", cells[0], cells[1], cells[2], cells[3], cells[4])
    };
    response.widget_info(|| WidgetInfo::labeled(Role::Row, true, &spoken));
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, t.line));
    let first = rect.width() * 0.36;
    let column = (rect.width() - first) / 4.0;
    for (at, cell) in cells.into_iter().enumerate() {
        if at == 0 {
            widgets::text_at(ui, pos2(rect.left(), rect.center().y), cell, theme::base(), t.text, first - 8.0);
            continue;
        }
        let right = pos2(rect.left() + first + column * at as f32, rect.center().y);
        let (font, color) =
            if is_head { (theme::small(), t.weak) } else { (theme::code(), if at == 2 { t.strong } else { t.text }) };
        widgets::text_right(ui, right, cell, font, color);
    }
}

/// Every call with its time as a bar; a click shows the answer.
fn calls_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = Tokens::of(ui);
    let captures: Vec<_> = cx.state.repeat.captures.iter().filter_map(|id| cx.state.capture_of(id)).collect();
    heading(ui, "Calls");
    let most = captures.iter().map(|capture| capture.timings.total()).max().unwrap_or_default().as_secs_f32().max(1e-6);
    let first = captures.first().map(|capture| capture.id.clone());
    for (at, capture) in captures.iter().enumerate() {
        let (glyph, color, words) = outcome_look(capture.outcome, t);
        let time = duration(capture.timings.total());
        ui.allocate_ui_with_layout(
            vec2(ui.available_width().min(WIDEST), ROW + 2.0),
            Layout::right_to_left(Align::Center),
            |ui| {
                if let Some(first) = first.as_ref().filter(|_| at > 0) {
                    let name = format!("Compare call {} with the first", at + 1);
                    if Button::new("Diff").icon(icons::DIFF).name(&name).tip(&name).height(22.0).show(ui).clicked() {
                        cx.send(Action::Diff(DiffAction::Open(first.clone(), capture.id.clone())));
                    }
                } else {
                    ui.add_space(68.0);
                }
                let name = format!("Call {}: {time}, {words}. Show the answer", at + 1);
                let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
                if response.hovered() || response.has_focus() {
                    ui.painter().rect_filled(rect, theme::RADIUS_BADGE, t.hover);
                }
                let y = rect.center().y;
                widgets::glyph_at(ui, pos2(rect.left() + 10.0, y), glyph, theme::icon_fill_font(14.0), color);
                widgets::text_at(ui, pos2(rect.left() + 24.0, y), format!("Call {}", at + 1), theme::base(), t.text, 80.0);
                widgets::text_right(ui, pos2(rect.left() + 170.0, y), time, theme::code(), t.strong);
                let bar = Rect::from_min_max(pos2(rect.left() + 184.0, y - 3.0), pos2(rect.right() - 8.0, y + 3.0));
                widgets::bar(ui, bar, capture.timings.total().as_secs_f32() / most, t.accent);
                if response.clicked() {
                    cx.send(Action::SelectCapture(capture.id.clone()));
                }
            },
        );
    }
}
