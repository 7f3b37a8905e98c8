//! A collection: its calls made on the server that is connected, what each costs and takes of its budgets, and what changed.

use egui::{Label, Rect, RichText, Role, ScrollArea, Sense, Stroke, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use super::dialogs::calls_text as calls;
use super::outcome::outcome_look;
use super::sidebar::captures::all_calls;
use super::theme::{self, ThemeTokens};
use super::widgets::{self, Button};
use super::{Cx, icons};
use crate::capture::CaptureId;
use crate::fixture::budget::BudgetUse;
use crate::fixture::collection::{CollectedCall, Collection};
use crate::fixture::run::RunCall;
use crate::number::signed;
use crate::problem::Problem;
use crate::state::{Action, CollectionAction, ViewAction};

const ROW: f32 = 28.0;
/// Columns of numbers, from the right: time, bytes, tokens or change.
const NUMBER: f32 = 96.0;

pub fn collection_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let collections = &cx.state.collections;
    let send = |action| cx.send(Action::Collection(action));
    let rest = widgets::mode_head(ui, cx, "Run a collection", |ui| {
        if collections.series.is_running() {
            widgets::cancel_calls(ui, cx);
            return;
        }
        let Some(collection) = &collections.collection else { return };
        let can_run = cx.state.session().connection.is_connected() && cx.state.running.is_none();
        let tip = if can_run { "One call after another, on the connected server" } else { "Connect to a server first" };
        let label = format!("Make {}", calls(collection.calls.len()));
        if Button::new(&label).icon_fill(icons::CALL).primary().enabled(can_run).tip(tip).show(ui).clicked() {
            send(CollectionAction::Run);
        }
        let has_run = collections.server.is_some() && !collections.is_counting();
        let tip = "As `mcp-loupe run --json` prints it, to compare a later run with";
        if Button::new("Save this run…").icon(icons::EXPORT).enabled(has_run).tip(tip).show(ui).clicked() {
            send(CollectionAction::SaveRun(None));
        }
        let tip = "What changed since a run that was saved";
        if Button::new("Compare with a run…").icon(icons::COMPARE).tip(tip).show(ui).clicked() {
            send(CollectionAction::Against(None));
        }
        if Button::new("Open…").icon(icons::OPEN_FILE).name("Open a collection…").show(ui).clicked() {
            send(CollectionAction::Open(None));
        }
    });
    ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| {
        widgets::mode_body(ui, |ui| match &collections.collection {
            Some(collection) => body_ui(ui, cx, collection),
            None => none_ui(ui, cx),
        });
    });
}

fn none_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let words = "A collection is a file of calls. A run shows what each answer costs, whether it stays within its budget, and what changed since another run.";
    if widgets::empty_ui(ui, words, Some("Open a collection…")) {
        cx.send(Action::Collection(CollectionAction::Open(None)));
    }
    if !cx.state.captures.is_empty() {
        ui.vertical_centered(|ui| {
            if widgets::button(ui, "Save the calls of this run as a collection…").clicked() {
                cx.send(Action::Collection(CollectionAction::Collect(all_calls(cx))));
            }
        });
    }
}

fn body_ui(ui: &mut Ui, cx: &Cx<'_>, collection: &Collection) {
    let t = ThemeTokens::of(ui);
    let collections = &cx.state.collections;
    let path = collections.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    ui.add(Label::new(RichText::new(path).font(theme::code()).color(t.weak)).truncate());
    let here =
        cx.state.session().connection.source().filter(|_| cx.state.session().connection.is_connected()).map(ToString::to_string);
    if let Some(written) = &collection.source
        && here.as_ref() != Some(written)
    {
        let now = here.map_or_else(|| "Not connected".to_owned(), |here| format!("Connected to {here}"));
        let words = format!("Written for {written} · {now}");
        ui.add(Label::new(RichText::new(words).font(theme::small()).color(t.warn)).truncate());
    }
    let made = collections.series.made();
    let all = collection.calls.len();
    let measured = collections.measured();
    let failed = measured.iter().filter(|call| !call.passed()).count();
    match (&cx.state.running, collections.series.is_running()) {
        (Some(running), true) => {
            widgets::waiting(ui, &format!("Call {} of {all}: {}", made + 1, running.tool), running.since, cx);
        }
        _ => {
            let (words, color) = match (&collections.series.stopped, made) {
                (None, 0) => (format!("{} to make", calls(all)), t.strong),
                (Some(why), _) => (format!("Stopped: {why}. {made} of {} made; those answers are kept", calls(all)), t.warn),
                (None, _) if collections.is_counting() => ("Counting the answers…".to_owned(), t.strong),
                (None, _) if failed == 0 => (format!("All {} passed", calls(all)), t.strong),
                (None, _) => (format!("{failed} of {} did not pass", calls(all)), t.bad),
            };
            ui.label(RichText::new(words).font(theme::semibold(15.0)).color(color));
        }
    }
    if made > 0 {
        total_ui(ui, cx, &measured);
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let has_before = collections.before.is_some();
    head_ui(ui, has_before);
    ScrollArea::vertical().id_salt("collection").auto_shrink(false).show_rows(ui, ROW, all, |ui, range| {
        for at in range {
            let capture = collections.series.captures.get(at).and_then(Option::as_ref);
            if let (Some(call), Some(counted)) = (collection.calls.get(at), collections.counted.get(at)) {
                row_ui(ui, cx, call, capture, counted.as_ref());
            }
        }
    });
}

/// What all answers cost, what changed, what the definitions cost beside.
fn total_ui(ui: &mut Ui, cx: &Cx<'_>, measured: &[RunCall]) {
    let t = ThemeTokens::of(ui);
    let tokens: u64 = measured.iter().filter_map(|call| call.tokens).map(|tokens| tokens.o200k_base).sum();
    let change = cx.state.collections.before.as_ref().map(|(name, before)| {
        let (sum, count) = before.total_change(measured);
        let calls = if count == 1 { "the 1 call".to_owned() } else { format!("the {count} calls") };
        format!(" · {} against {name}, in {calls} that both have", signed(sum))
    });
    let definitions = widgets::number_text(cx.state.definitions().o200k_base, "tokens");
    let words = format!(
        "Answers as sent: {} (o200k_base){} · the definitions of the server’s tools: {definitions}",
        widgets::number_text(tokens, "tokens"),
        change.unwrap_or_default(),
    );
    ui.add(Label::new(RichText::new(words).font(theme::base()).color(t.text)).wrap());
}

/// Where the columns of a row stand.
struct Places {
    name: f32,
    tool: f32,
    budgets: f32,
    /// Right ends: tokens, change, bytes, time.
    numbers: [f32; 4],
}

fn places(rect: Rect, has_before: bool) -> Places {
    let count = if has_before { 4.0 } else { 3.0 };
    let text = (rect.width() - NUMBER * count - 32.0).max(120.0);
    let left = rect.left() + 28.0;
    let numbers = left + text * 0.56;
    let change = if has_before { NUMBER } else { 0.0 };
    let ends = [numbers + NUMBER, numbers + NUMBER + change, numbers + 2.0 * NUMBER + change, numbers + 3.0 * NUMBER + change];
    Places { name: left, tool: left + text * 0.28, budgets: ends[3] + 16.0, numbers: ends }
}

fn head_ui(ui: &mut Ui, has_before: bool) {
    let t = ThemeTokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    let places = places(rect, has_before);
    let y = rect.center().y;
    let text =
        |ui: &Ui, left: f32, words: &str| widgets::text_at(ui, pos2(left, y), words, theme::small(), t.weak, rect.right() - left);
    text(ui, places.name, "Call");
    text(ui, places.tool, "Tool");
    text(ui, places.budgets, "Budgets");
    let titles = [Some("Tokens"), has_before.then_some("Change"), Some("Bytes"), Some("Time")];
    for (title, right) in titles.into_iter().zip(places.numbers) {
        if let Some(title) = title {
            widgets::text_right(ui, pos2(right, y), title, theme::small(), t.weak);
        }
    }
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, t.line));
    let change = if has_before { ", change in tokens" } else { "" };
    let words = format!("Call, tool, tokens by o200k_base{change}, bytes, time, budgets");
    response.widget_info(|| WidgetInfo::labeled(Role::Row, true, &words));
}

/// A budget in words, and whether it is kept to.
fn budget(checked: &BudgetUse) -> String {
    let tokens = checked.tokens.as_ref().map_or_else(|_| "cannot be counted".to_owned(), |tokens| widgets::grouped(*tokens));
    let over = if checked.passed() { "" } else { ", over" };
    format!("{} {tokens} of {}{over}", checked.budget.of.name(), widgets::grouped(checked.budget.most))
}

type Counted<'a> = Option<&'a Result<RunCall, Problem>>;

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, call: &CollectedCall, capture: Option<&CaptureId>, counted: Counted<'_>) {
    let t = ThemeTokens::of(ui);
    let measured = counted.and_then(|counted| counted.as_ref().ok());
    let before = cx.state.collections.before.as_ref().map(|(_, before)| before);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    if capture.is_some() && response.hovered() {
        ui.painter().rect_filled(rect, theme::RADIUS_CONTROL, t.hover);
    }
    widgets::focus_ring_inside(ui, &response);
    let places = places(rect, before.is_some());
    let y = rect.center().y;
    let (glyph, color, word) = match measured {
        Some(measured) if measured.passed() => (icons::CHECK_CIRCLE, t.ok, "passed"),
        Some(measured) => match outcome_look(measured.outcome, t) {
            _ if measured.outcome == crate::capture::Outcome::Result => (icons::ERROR, t.bad, "over its budget"),
            look => look,
        },
        None if counted.is_some() => (icons::ERROR, t.bad, "not counted"),
        None if capture.is_some() => (icons::CIRCLE, t.weak, "being counted"),
        None => (icons::CIRCLE, t.weak, "not made"),
    };
    widgets::glyph_at(ui, pos2(rect.left() + 12.0, y), glyph, theme::icon_fill_font(14.0), color);
    let name_width = places.tool - places.name - 12.0;
    widgets::text_at(ui, pos2(places.name, y), call.name.as_str(), theme::mono_semibold(12.5), t.strong, name_width);
    let sent = if call.arguments == "{}" { call.tool.clone() } else { format!("{} {}", call.tool, call.arguments) };
    let tool_width = places.numbers[0] - NUMBER - places.tool;
    widgets::text_at(ui, pos2(places.tool, y), sent.as_str(), theme::mono(12.0), t.weak, tool_width);
    let mut parts = vec![call.name.clone(), sent, word.to_owned()];
    if let Some(measured) = measured {
        let change = before.and_then(|before| before.change(measured));
        let change_color = match change {
            Some(change) if change > 0 => t.warn,
            Some(change) if change < 0 => t.ok,
            _ => t.weak,
        };
        let none = || "–".to_owned();
        let tokens = measured.tokens.map(|tokens| tokens.o200k_base);
        let cells = [
            (tokens.map_or_else(none, widgets::grouped), t.strong, "tokens"),
            (change.map_or_else(none, signed), change_color, "tokens against the other run"),
            (measured.bytes.map_or_else(none, widgets::grouped), t.text, "bytes"),
            (format!("{:.1} ms", measured.elapsed_ms), t.text, ""),
        ];
        for (at, ((cell, color, unit), right)) in cells.into_iter().zip(places.numbers).enumerate() {
            if at != 1 || before.is_some() {
                widgets::text_right(ui, pos2(right, y), cell.as_str(), theme::mono(12.0), color);
                parts.push(format!("{cell} {unit}").trim_end().to_owned());
            }
        }
    }
    let budgets = match measured {
        Some(measured) => measured.budgets.iter().map(budget).collect::<Vec<_>>().join(" · "),
        None => {
            let planned = call.budgets.iter().map(|budget| format!("{} {}", budget.of.name(), widgets::grouped(budget.most)));
            planned.collect::<Vec<_>>().join(" · ")
        }
    };
    let is_over = measured.is_some_and(|measured| measured.budgets.iter().any(|budget| !budget.passed()));
    let color = if is_over { t.bad } else { t.text };
    widgets::text_at(
        ui,
        pos2(places.budgets, y),
        budgets.as_str(),
        theme::regular(12.0),
        color,
        rect.right() - places.budgets - 4.0,
    );
    parts.push(budgets);
    parts.retain(|part| !part.is_empty());
    let label = parts.join(", ");
    let role = if capture.is_some() { Role::Button } else { Role::ListItem };
    response.widget_info(|| WidgetInfo::labeled(role, true, &label));
    if let Some(capture) = capture.filter(|_| response.clicked()) {
        cx.send(ViewAction::SelectCapture(capture.clone()));
    }
    response.on_hover_text(label);
}
