//! The ledger: what each format costs and keeps, one row each, with one computed sentence above.

mod columns;

use crate::analysis;
use crate::verdict;
use egui::{
    Align, Color32, Id, Key, Layout, Popup, Rect, Response, RichText, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use self::columns::{Columns, Widths};
use super::SIDE;
use crate::analysis::{NeededQuery, RowQuery, counted, ratio_of};
use crate::capture::FactCount;
use crate::format::FORMATS;
use crate::format::ledger::Row;
use crate::state::{Action, DrawerTab, PaneView, QueryState, SettingsAction, TokensAction, TokensPart, ViewAction};
use crate::token::{Count, Tokenizer};
use crate::ui::exact;
use crate::ui::panes::{format_title, menu_row};
use crate::ui::theme::{self, LEDGER_ROW, ThemeTokens};
use crate::ui::what_if::{self, change};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, commands, icons};
use crate::verdict::{CountedRow, VerdictPart};

/// Height of the line above the derived formats.
const DERIVED: f32 = 18.0;

/// What is known of one format.
enum Known<'a> {
    Row(&'a Row, Count),
    /// It does not apply, for this reason.
    Not(&'a Row),
    Working,
    Failed(String),
}

struct Line<'a> {
    format: &'static str,
    known: Known<'a>,
}

/// What is known of every format now.
fn lines<'a>(cx: &Cx<'a>) -> Vec<Line<'a>> {
    FORMATS
        .iter()
        .map(|format| Line {
            format: format.id(),
            known: match cx.ask(RowQuery(format.id())) {
                QueryState::Ready(row) if !row.is_available() => Known::Not(row),
                QueryState::Ready(row) => match cx.count(row) {
                    Some(Ok(count)) => Known::Row(row, count),
                    Some(Err(problem)) => Known::Failed(problem.message()),
                    None => Known::Working,
                },
                QueryState::Failed(problem) => Known::Failed(problem.message()),
                QueryState::Working { .. } => Known::Working,
            },
        })
        .collect()
}

/// The format that ratios are against: the one chosen, else compact JSON, else the text as sent.
fn baseline(cx: &Cx<'_>, lines: &[Line<'_>]) -> &'static str {
    let has = |id: &str| lines.iter().any(|line| line.format == id && matches!(line.known, Known::Row(..)));
    match cx.state.settings.baseline {
        Some(chosen) if has(chosen) => chosen,
        _ if has("json") => "json",
        _ => "content",
    }
}

/// The baseline, and what tokens are counted by.
pub fn tools_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = ThemeTokens::of(ui);
    let lines = lines(cx);
    let baseline = baseline(cx, &lines);
    let button = Button::new(format_title(baseline))
        .menu()
        .height(theme::ICON_BUTTON)
        .name("Baseline")
        .tip("What ratios and changes are against")
        .show(ui);
    Popup::menu(&button).width(240.0).show(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for line in lines.iter().filter(|line| matches!(line.known, Known::Row(..))) {
            let hue = t.hue(line.format).color;
            if menu_row(ui, format_title(line.format), Some(hue), line.format == baseline).clicked() {
                cx.send(SettingsAction::SetBaseline(line.format));
                ui.close();
            }
        }
    });
    ui.label(RichText::new("Baseline").font(theme::small()).color(t.weak));
    ui.add_space(8.0);
    let tokenizer = &cx.state.settings.tokenizer;
    let mark = if tokenizer.is_exact() { "" } else { "≈ " };
    let name = RichText::new(format!("{mark}{}", tokenizer.name())).font(theme::code()).color(t.weak);
    if *tokenizer == Tokenizer::Claude {
        exact::offer_ui(ui, cx, lines.iter().filter(|line| matches!(line.known, Known::Row(..))).map(|line| line.format));
    }
    ui.add(egui::Label::new(name).truncate()).on_hover_text(tokenizer.how());
}

/// The computed sentence; what it says well or badly has its colour, and its words say it too.
pub fn verdict_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect) {
    sentence_ui(ui, cx, rect, false);
}

/// The same on the one line of a closed drawer: the saving and its loss first, what it costs now after it.
pub fn short_verdict_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect) {
    sentence_ui(ui, cx, rect, true);
}

/// Room under which the closed drawer has its sentence and no buttons beside it.
const SENTENCE_ALONE: f32 = 520.0;

fn sentence_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, is_short: bool) {
    let lines = lines(cx);
    let rows: Vec<CountedRow<'_>> = lines
        .iter()
        .filter_map(|line| match line.known {
            Known::Row(row, count) => Some(CountedRow { row, count: Some(count), why: None }),
            Known::Not(row) => Some(CountedRow { row, count: None, why: None }),
            Known::Working | Known::Failed(_) => None,
        })
        .collect();
    ui.scope_builder(widgets::region(ui, "verdict").max_rect(rect).layout(Layout::left_to_right(Align::Center)), |ui| {
        let Some(mut verdict) = verdict::verdict_counted(&rows, &cx.state.settings.tokenizer) else {
            let failed = lines.iter().find_map(|line| if let Known::Failed(why) = &line.known { Some(why) } else { None });
            if let Some(why) = failed {
                let words = RichText::new(why).font(theme::base()).color(ThemeTokens::of(ui).bad);
                ui.add(egui::Label::new(words).truncate()).on_hover_text(why);
            } else if rows.len() < lines.len() {
                widgets::waiting(ui, "Counting tokens", cx.state.answers.since().unwrap_or(cx.state.now), cx);
            }
            return;
        };
        if let Some(money) = money(cx, &rows) {
            // Behind the first sentence, which says how many tokens were sent.
            verdict.parts.insert(verdict.parts.len().min(2), VerdictPart::Plain(money));
        }
        // Beside the sentence what could be called to know more.
        let is_alone = is_short && rect.width() < SENTENCE_ALONE;
        let buttons = if is_alone { 0.0 } else { 68.0 + crate::ui::compare::offer_width(ui, cx) };
        let room = rect.width() - buttons;
        let short = verdict::verdict_short(&rows, &cx.state.settings.tokenizer).filter(|_| is_short);
        match &short {
            Some(short) => widgets::verdict_line(ui, short, &verdict.text(), room),
            None => widgets::verdict_rows(ui, &verdict, room, if rect.height() > 40.0 { 2 } else { 1 }),
        };
        if is_alone {
            return;
        }
        if widgets::icon_button(ui, icons::COPY, "Copy verdict").clicked() {
            cx.send(Action::CopyVerdict);
        }
        if widgets::icon_button(ui, icons::ROWS, "Open the difference as steps").clicked() {
            commands::drawer_tab(ui, cx, DrawerTab::Tokens).into_iter().for_each(|action| cx.send(action));
            cx.send(Action::Tokens(TokensAction::Part(TokensPart::Saving)));
        }
        crate::ui::compare::offer_ui(ui, cx);
    });
}

/// What the answer as sent costs with the model that is wanted.
fn money(cx: &Cx<'_>, rows: &[CountedRow<'_>]) -> Option<String> {
    let model = cx.state.model()?;
    let sent = ["both", "content", "structured"]
        .into_iter()
        .find_map(|id| rows.iter().find(|row| row.row.format == id && row.row.is_available()))?;
    let Some(tokenizer) = cx.state.tokenizer_of(model) else {
        return Some(format!(" {}: open its tokenizer file {} to see its cost.", model.name, model.tokenizer));
    };
    let count = cx.count_by(sent.row, &tokenizer)?.ok()?;
    // The model counts with its own tokenizer, which may be another than the one chosen.
    let by = if tokenizer == cx.state.settings.tokenizer {
        String::new()
    } else {
        format!(" ({} by {})", counted(count), tokenizer.name())
    };
    Some(format!(" {}{by}: {}.", model.name, analysis::Cost::of(count, model).text()))
}

pub fn ledger_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let lines = lines(cx);
    let lines = lines.as_slice();
    let baseline = baseline(cx, lines);
    let t = ThemeTokens::of(ui);
    let outer = ui.available_rect_before_wrap();
    // All of the drawer is taken, however many rows fit: its height is the person's.
    ui.allocate_rect(outer, Sense::hover());
    let focus = ui.interact(outer, Id::unique("ledger"), Sense::focusable_noninteractive());
    focus.widget_info(|| WidgetInfo::labeled(Role::Table, true, "Token ledger"));
    keys(ui, cx, &focus, lines);
    let rows = || lines.iter().filter_map(|line| if let Known::Row(row, count) = line.known { Some((row, count)) } else { None });
    let most = rows().map(|(_, count)| count.high()).max().unwrap_or(0);
    let base = rows().find(|(row, _)| row.format == baseline).map(|(_, count)| count);
    let has_counted = cx.state.settings.tokenizer == Tokenizer::Claude
        && cx.state.view.capture.as_ref().is_some_and(|capture| cx.state.has_exact_counts(capture));
    let digit = ui.painter().layout_no_wrap("0".to_owned(), theme::code(), t.text).size().x;
    let scale = Scale {
        most,
        base,
        baseline,
        widths: Widths::of(rows().map(|(row, count)| (row, count, less(cx, row))), base, has_counted, digit),
        is_what_if: !cx.state.view.what_if.is_empty(),
        has_counted,
    };
    let head = Rect::from_min_size(outer.min, vec2(outer.width(), 20.0));
    head_ui(ui, head, &scale);
    let rest = Rect::from_min_max(head.left_bottom(), outer.max);
    ui.scope_builder(widgets::region(ui, "rows").max_rect(rest), |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let height = widgets::whole_rows(ui.available_height() - DERIVED, LEDGER_ROW) + DERIVED;
        ScrollArea::vertical().id_salt("ledger rows").auto_shrink(false).max_height(height).min_scrolled_height(height).show(
            ui,
            |ui| {
                let mut is_derived = false;
                for line in lines {
                    if !is_as_sent(line.format) && !is_derived {
                        is_derived = true;
                        derived_ui(ui);
                    }
                    row_ui(ui, cx, line, &scale, &focus);
                }
                ui.add_space(4.0);
            },
        );
    });
    if focus.has_focus() {
        ui.painter().rect_stroke(outer.shrink(1.0), 0.0, Stroke::new(1.0, t.accent), egui::StrokeKind::Inside);
    }
}

fn head_ui(ui: &Ui, rect: Rect, scale: &Scale) {
    let t = ThemeTokens::of(ui);
    let columns = Columns::of(rect, &scale.widths);
    let y = rect.center().y;
    let font = || theme::regular(11.5);
    widgets::text_at(ui, pos2(columns.name, y), "Format", font(), t.weak, 200.0);
    let right = |x: f32, text: &str| {
        widgets::text_right(ui, pos2(x, y), text, font(), t.weak);
    };
    right(columns.tokens, "Tokens");
    right(columns.ratio, "Ratio");
    for (x, text) in [
        (columns.counted, "Exact"),
        (columns.change, if scale.is_what_if { "What if" } else { "Change" }),
        (columns.bytes, "Bytes"),
        (columns.chars, "Chars"),
    ] {
        if let Some(x) = x {
            right(x, text);
        }
    }
    widgets::text_at(ui, pos2(columns.facts, y), "Facts kept", font(), t.weak, 90.0);
    if let Some(x) = columns.round_trip {
        widgets::text_at(ui, pos2(x - 100.0, y), "Round trip", font(), t.weak, 100.0);
    }
}

fn derived_ui(ui: &mut Ui) {
    let t = ThemeTokens::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), DERIVED), Sense::hover());
    let text = "Derived from the payload, not sent by the server";
    let end = widgets::text_at(
        ui,
        pos2(rect.left() + SIDE, rect.center().y),
        text,
        theme::regular(11.5),
        t.weak,
        rect.width() - 2.0 * SIDE,
    );
    ui.painter().hline(
        end + 10.0..=(rect.right() - SIDE).max(end + 10.0),
        rect.center().y.round() + 0.5,
        Stroke::new(1.0, t.line),
    );
}

/// What a row is measured against.
struct Scale {
    most: u64,
    base: Option<Count>,
    baseline: &'static str,
    widths: Widths,
    /// Whether keys are struck out: the column of changes shows what that saves in each format.
    is_what_if: bool,
    /// Whether the provider counted any of the rows.
    has_counted: bool,
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, line: &Line<'_>, scale: &Scale, focus: &Response) {
    let t = ThemeTokens::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), LEDGER_ROW), Sense::hover());
    let response = ui.interact(rect, ui.scope_id().with(("ledger row", line.format)), Sense::CLICK);
    let title = format_title(line.format);
    let hue = t.hue(line.format);
    let is_baseline = line.format == scale.baseline;
    let is_peeked = cx.state.view.peek == Some(line.format);
    if is_peeked || response.hovered() || is_baseline {
        ui.painter().rect_filled(rect, 0.0, if is_peeked { t.accent_bg } else { t.hover });
    }
    if is_peeked {
        ui.painter().rect_filled(Rect::from_min_size(rect.min, vec2(2.0, rect.height())), 0.0, t.accent);
    }
    let columns = Columns::of(rect, &scale.widths);
    let y = rect.center().y;
    let square = Rect::from_center_size(pos2(columns.name + 4.0, y), vec2(8.0, 8.0));
    let name_x = columns.name + 16.0;
    let (row, count) = match &line.known {
        Known::Row(row, count) => (*row, *count),
        other => {
            let why = match other {
                Known::Row(row, _) | Known::Not(row) => row.why.clone().unwrap_or_default(),
                Known::Failed(why) => why.clone(),
                Known::Working => "counting…".into(),
            };
            ui.painter().rect_stroke(square, theme::RADIUS_BAR, Stroke::new(1.0, hue.color), egui::StrokeKind::Inside);
            widgets::text_at(ui, pos2(name_x, y), title, theme::base(), t.weak, columns.bar.left() - name_x - 8.0);
            widgets::text_at(
                ui,
                pos2(columns.bar.left(), y),
                &why,
                theme::small(),
                t.weak,
                rect.right() - columns.bar.left() - SIDE,
            );
            response.widget_info(|| WidgetInfo::labeled(Role::Row, false, format!("{title}, {why}")));
            return;
        }
    };
    ui.painter().rect_filled(square, theme::RADIUS_BAR, hue.color);
    let lost = lost_needed(cx, line.format);
    let is_as_sent = is_as_sent(line.format);
    let font = if is_as_sent { theme::medium(13.0) } else { theme::base() };
    let mut end = widgets::text_at(
        ui,
        pos2(name_x, y),
        title,
        font,
        if is_as_sent { t.strong } else { t.text },
        columns.bar.left() - name_x - 8.0,
    );
    if lost.is_some() {
        // Out of the race: it loses a field that the model needs.
        ui.painter().hline(name_x..=end, y.round() + 0.5, Stroke::new(1.0, t.warn));
    }
    if is_baseline && end + 66.0 < columns.bar.left() {
        end = small_badge(ui, pos2(end + 8.0, y), "baseline");
    }
    if (response.hovered() || (is_peeked && focus.has_focus())) && end + 50.0 < columns.bar.left() {
        small_badge(ui, pos2(end + 8.0, y), "Open");
    }
    let less = less(cx, row);
    let bar = Rect::from_center_size(pos2(columns.bar.center().x, y), vec2(columns.bar.width(), 8.0));
    let share = |count: Count| if scale.most == 0 { 0.0 } else { count.high() as f32 / scale.most as f32 };
    if bar.width() > 24.0 {
        widgets::bar(ui, bar, share(less.unwrap_or(count)), hue.color);
        let mut x = bar.left() + bar.width() * share(less.unwrap_or(count));
        if less.is_some() {
            // The ghost of what is struck.
            let ghost = Rect::from_x_y_ranges(x..=(bar.left() + bar.width() * share(count)).max(x), bar.y_range());
            ui.painter().rect_filled(ghost, theme::RADIUS_BAR, hue.color.gamma_multiply(0.35));
            x = ghost.right();
        }
        if !count.is_exact() {
            // From the lowest it can be to the highest.
            let low = bar.left() + bar.width() * share(Count::Exact(count.low()));
            ui.painter().hline(low..=x, y, Stroke::new(2.0, t.panel));
        }
        if let Some(base) = scale.base {
            let x = (bar.left() + bar.width() * share(base)).round();
            ui.painter().rect_filled(Rect::from_center_size(pos2(x, y), vec2(1.5, 12.0)), 0.0, t.strong);
        }
    }
    let mono = || theme::code();
    let right = |x: Option<f32>, text: String, color| {
        if let Some(x) = x {
            widgets::text_right(ui, pos2(x, y), text, mono(), color);
        }
    };
    widgets::text_right(ui, pos2(columns.tokens, y), counted(count), theme::mono_semibold(12.0), t.strong);
    let exactly = exact::counted(cx, line.format).filter(|_| scale.has_counted);
    right(columns.counted, exactly.map_or_else(|| "–".into(), |exactly| widgets::grouped(exactly.tokens)), t.strong);
    let exactly = exactly.map_or_else(String::new, |exactly| format!(", {}", exact::words(exactly)));
    let is_cheaper = scale.base.is_some_and(|base| count.high() < base.high());
    // Green is for what costs less and loses nothing.
    let color = if is_cheaper && row.loses_nothing() { t.ok } else { t.weak };
    let ratio = ratio_of(Some(count), scale.base);
    right(Some(columns.ratio), ratio_text(ratio), color);
    let (changed, color) = match (scale.is_what_if, less) {
        (true, Some(less)) => (change(less, count), t.warn),
        (true, None) => ("–".into(), t.weak),
        (false, _) => (scale.base.map_or_else(|| "–".into(), |base| change(count, base)), color),
    };
    right(columns.change, changed, color);
    right(columns.bytes, widgets::grouped(row.bytes), t.weak);
    right(columns.chars, widgets::grouped(row.chars), t.weak);
    let facts = facts_ui(ui, pos2(columns.facts, y), row);
    if let Some(x) = columns.round_trip {
        let (word, color) = row
            .round_trip
            .as_ref()
            .map_or(("–", t.weak), |trip| (trip.verdict.name(), kept_color(t, row, trip.verdict.is_lossless())));
        widgets::text_at(ui, pos2(x - 100.0, y), word, theme::small(), color, 110.0);
    }
    let against = ratio
        .filter(|_| !is_baseline)
        .map_or_else(String::new, |ratio| format!(", {ratio:.2} times {}", format_title(scale.baseline)));
    let baseline = if is_baseline { ", baseline" } else { "" };
    let struck = less.map_or_else(String::new, |less| format!(", what if: {}", change(less, count)));
    let lost_words = lost.as_ref().map_or_else(String::new, |lost| format!(", {lost}"));
    let name = format!(
        "{title}, {}{exactly}{against}{baseline}{struck}, {}{facts}{lost_words}",
        format_args!("{} tokens", counted(count)),
        widgets::number_text(row.bytes, "bytes")
    );
    response.widget_info(|| WidgetInfo::selected(Role::Row, true, is_peeked, &name));
    if response.clicked() {
        focus.request_focus();
        cx.send(ViewAction::SetPane { pane: 1, shows: PaneView::Text(line.format) });
    }
    let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
    let trip = match &row.round_trip {
        Some(trip) => trip.summary().map(|summary| format!("Round trip {}: {summary}", trip.verdict.name())),
        None if line.format == "wire" => {
            Some("Round trip –: the message holds the answer itself; it is not read back".to_owned())
        }
        None => Some("Round trip –: the payload does not stand in this text as data that could be read back".to_owned()),
    };
    let words: Vec<String> = lost.into_iter().chain(trip).collect();
    if !words.is_empty() {
        response.on_hover_text(words.join("\n"));
    }
}

fn is_as_sent(id: &str) -> bool {
    FORMATS.iter().any(|format| format.id() == id && format.is_as_sent())
}

/// What a row costs without the keys that are struck: what the server sent stays as it is, what is written from the
/// payload shrinks.
fn less(cx: &Cx<'_>, row: &Row) -> Option<Count> {
    let is_what_if = !cx.state.view.what_if.is_empty() && !is_as_sent(row.format);
    is_what_if.then(|| what_if::count_without(cx, row)).flatten()
}

/// What a format loses of the fields that the model needs; `None` where it keeps them, or all are needed.
fn lost_needed(cx: &Cx<'_>, format: &'static str) -> Option<String> {
    let capture = cx.state.capture()?;
    let needed = cx.state.needed(&capture.server.name, &capture.tool.name)?;
    let fields: Vec<String> = needed.iter().cloned().collect();
    let Some(Some(found)) = cx.ready(NeededQuery { format, fields: fields.into() }) else { return None };
    (!found.lost.is_empty()).then(|| found.sentence(format_title(format)))
}

/// How many facts are kept, and what a screen reader says of it.
fn facts_ui(ui: &Ui, left: egui::Pos2, row: &Row) -> String {
    let t = ThemeTokens::of(ui);
    let Some(facts) = row.facts else {
        widgets::text_at(ui, left, "–", theme::small(), t.weak, 80.0);
        return String::new();
    };
    let icon = if facts.missing == 0 { icons::CHECK } else { icons::MISSING };
    let color = kept_color(t, row, facts.missing == 0);
    widgets::glyph_at(ui, left + vec2(6.0, 0.0), icon, theme::icon_font(13.0), color);
    widgets::text_at(ui, left + vec2(18.0, 0.0), kept(facts), theme::code(), color, f32::INFINITY);
    format!(", {} of {} facts kept", widgets::grouped(facts.total - facts.missing), widgets::grouped(facts.total))
}

/// Green is for what loses nothing of the answer, amber for what loses something of its data.
fn kept_color(t: &ThemeTokens, row: &Row, is_kept: bool) -> Color32 {
    match (is_kept, row.loses_nothing()) {
        (false, _) => t.warn,
        (true, true) => t.ok,
        (true, false) => t.text,
    }
}

fn kept(facts: FactCount) -> String {
    format!("{} / {}", widgets::grouped(facts.total - facts.missing), widgets::grouped(facts.total))
}

fn ratio_text(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".into(), |ratio| format!("{ratio:.2}×"))
}

fn small_badge(ui: &Ui, left: egui::Pos2, text: &str) -> f32 {
    let t = ThemeTokens::of(ui);
    let galley = ui.painter().layout_no_wrap(text.to_owned(), theme::medium(10.5), t.text);
    let rect = Rect::from_min_size(pos2(left.x.round(), (left.y - 8.0).round()), vec2((galley.size().x + 10.0).round(), 16.0));
    ui.painter().rect(rect, theme::RADIUS_BADGE, t.card, Stroke::new(1.0, t.line2), egui::StrokeKind::Inside);
    ui.painter().galley(pos2(rect.left() + 5.0, (rect.center().y - galley.size().y / 2.0).round()), galley, t.text);
    rect.right()
}

/// Up and Down flip the middle pane through the formats; Enter keeps what is shown, Shift Enter
/// puts it beside what was shown (Esc restores, in `commands`).
fn keys(ui: &Ui, cx: &Cx<'_>, focus: &Response, lines: &[Line<'_>]) {
    if !focus.has_focus() {
        return;
    }
    // Esc ends the peek first; the next one lets the focus go.
    let escape = cx.state.view.peek.is_some();
    ui.memory_mut(|memory| {
        memory.set_focus_lock_filter(focus.id, egui::EventFilter { vertical_arrows: true, escape, ..Default::default() })
    });
    let pressed = |key| ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, key));
    let formats: Vec<_> = lines.iter().filter(|line| matches!(line.known, Known::Row(..))).map(|line| line.format).collect();
    let shown = match cx.state.view.shows(1) {
        PaneView::Text(format) | PaneView::Rendered(format) => format,
        PaneView::Tree => "structured",
        PaneView::Host(_) => "",
    };
    let at = formats.iter().position(|&format| format == shown);
    if pressed(Key::ArrowDown)
        && let Some(&next) = formats.get(at.map_or(0, |at| at + 1))
    {
        cx.send(ViewAction::Peek(Some(next)));
    }
    if pressed(Key::ArrowUp)
        && let Some(&previous) = at.and_then(|at| formats.get(at.checked_sub(1)?))
    {
        cx.send(ViewAction::Peek(Some(previous)));
    }
    if cx.state.view.peek.is_some() {
        if ui.input_mut(|input| input.consume_key(egui::Modifiers::SHIFT, Key::Enter)) {
            cx.send(ViewAction::KeepPeekBeside);
        } else if pressed(Key::Enter) {
            cx.send(ViewAction::KeepPeek);
        }
    }
}
