//! The diff screen: what the two sides are and cost, the payload's differences as a tree, the text's by line.

mod again;
mod text;
mod tree;

use std::sync::Arc;

use egui::{
    Align, Color32, Layout, Popup, Rect, Response, RichText, Role, Sense, Stroke, StrokeKind, Ui, UiBuilder, WidgetInfo, pos2,
    vec2,
};

pub use again::{again_strip, pane_chip, tools_changed_ui};

use super::panes::{format_title, menu_row};
use super::theme::{self, Tokens};
use super::widgets::{self, Button};
use super::{Cx, icons};
use crate::capture::{Capture, CaptureId};
use crate::format::{self, FORMATS};
use crate::report::{Answer, DiffView, Question};
use crate::state::diff::DiffAction;
use crate::state::{Action, Asked, Screen};

const SIDES: f32 = 56.0;
const COSTS: f32 = 76.0;
/// Below this width the payload and the text take turns.
const BOTH: f32 = 720.0;
const NOTE: f32 = 26.0;

pub(super) fn act(cx: &Cx<'_>, action: DiffAction) {
    cx.send(Action::Diff(action));
}

/// `−119`, `+3`, `0`.
pub(super) fn signed(from: u64, to: u64) -> String {
    match from.cmp(&to) {
        std::cmp::Ordering::Equal => "0".to_owned(),
        std::cmp::Ordering::Less => format!("+{}", widgets::grouped(to - from)),
        std::cmp::Ordering::Greater => format!("−{}", widgets::grouped(from - to)),
    }
}

/// `−26.4%`; nothing against nothing.
fn percent(from: u64, to: u64) -> Option<String> {
    if from == 0 || from == to {
        return None;
    }
    let share = (to as f64 - from as f64) / from as f64 * 100.0;
    Some(format!("{}{:.1}%", if share < 0.0 { "−" } else { "+" }, share.abs()))
}

/// The places F8 goes through: the payload's, then the text's.
#[derive(Clone, Copy)]
pub(super) struct Stops {
    payload: usize,
    text: usize,
}

impl Stops {
    fn of(view: &DiffView) -> Self {
        Self { payload: view.rows.iter().filter(|row| row.op.is_some()).count(), text: text::blocks(view) }
    }

    fn count(self) -> usize {
        self.payload + self.text
    }
}

/// Where F8 leads from here.
pub(super) fn step(cx: &Cx<'_>, is_forward: bool) -> Option<Action> {
    if cx.state.view.screen != Screen::Diff {
        return None;
    }
    let count = Stops::of(cx.state.diff_view()?).count();
    if count == 0 {
        return None;
    }
    let at = match cx.state.diff.current {
        None => {
            if is_forward {
                0
            } else {
                count - 1
            }
        }
        Some(at) if is_forward => (at + 1) % count,
        Some(at) => (at + count - 1) % count,
    };
    Some(Action::Diff(DiffAction::GoTo(at)))
}

pub fn diff_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = Tokens::of(ui);
    let diff = &cx.state.diff;
    let Some((a, b)) = diff.sides.as_ref().and_then(|(a, b)| Some((cx.state.capture_of(a)?, cx.state.capture_of(b)?))) else {
        widgets::mode_head(ui, cx, "Diff", |_| {});
        widgets::empty_ui(ui, "Choose two answers to compare: the menu of a capture has “Compare with the answer shown”.", None);
        return;
    };
    let view = match cx.ask_of(&[a.id.clone(), b.id.clone()], Question::Difference(diff.ask)) {
        Asked::Ready(Answer::Difference(view)) => Ok(view),
        Asked::Failed(problem) => Err(Some(problem)),
        _ => Err(None),
    };
    let is_wide = ui.available_width() > 900.0;
    let title = if a.id == b.id { "Diff of two formats" } else { "Diff of two answers" };
    let mut rest = widgets::mode_head(ui, cx, title, |ui| {
        let copy = Button::new("Copy diff").icon(icons::COPY).enabled(view.is_ok());
        if copy.tip("Copies the differences as text").show(ui).clicked() {
            act(cx, DiffAction::Copy);
        }
        if let Ok(view) = view {
            stepper_ui(ui, cx, view);
        }
        if is_wide {
            ignore_ui(ui, cx);
        }
    });
    if !is_wide {
        let strip = strip(&mut rest, 34.0);
        inside(ui, strip.shrink2(vec2(12.0, 0.0)), "ignore", Layout::left_to_right(Align::Center), |ui| ignore_ui(ui, cx));
    }
    sides_ui(ui, cx, strip(&mut rest, SIDES), a, b);
    let view = match view {
        Ok(view) => view,
        Err(problem) => {
            ui.scope_builder(UiBuilder::new().max_rect(rest.shrink(16.0)), |ui| match problem {
                Some(problem) => {
                    widgets::problem_ui(ui, problem);
                }
                None => {
                    widgets::waiting(ui, "Comparing", cx.state.now, cx);
                }
            });
            return;
        }
    };
    costs_ui(ui, cx, strip(&mut rest, COSTS), view);
    for (tone, note) in notes(view) {
        note_ui(ui, strip(&mut rest, NOTE), tone, &note);
    }
    if view.is_equal() {
        let text = view.text.as_ref().is_ok_and(|text| text.a != text.b);
        let words = match (text, view.is_laid_out) {
            (true, _) => "No difference but white space: data, outcome and definition are the same.",
            (false, true) => {
                "No difference: data, text, outcome and definition are the same. The order of keys was not looked at."
            }
            (false, false) => "No difference: data, text, outcome and definition are the same.",
        };
        ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| widgets::empty_ui(ui, words, None));
        return;
    }
    let has_tree = !view.rows.is_empty();
    if has_tree && rest.width() >= BOTH {
        let middle = (rest.left() + rest.width() * 0.44).round();
        tree::tree_ui(ui, cx, Rect::from_min_max(rest.min, pos2(middle, rest.bottom())), view);
        ui.painter().vline(middle - 0.5, rest.y_range(), Stroke::new(1.0, t.line));
        text::text_ui(ui, cx, Rect::from_min_max(pos2(middle, rest.top()), rest.max), view);
        return;
    }
    if !has_tree {
        text::text_ui(ui, cx, rest, view);
        return;
    }
    // One at a time; F8 turns to the one it leads to.
    let id = egui::Id::unique("diff turn");
    let mut turn: (usize, Option<usize>) = ui.data(|data| data.get_temp(id)).unwrap_or((0, None));
    if diff.current != turn.1 {
        let payload = Stops::of(view).payload;
        turn = (usize::from(diff.current.is_some_and(|at| at >= payload)), diff.current);
    }
    let tabs = strip(&mut rest, 40.0);
    inside(ui, tabs.shrink2(vec2(12.0, 0.0)), "turn", Layout::left_to_right(Align::Center), |ui| {
        if let Some(chosen) = widgets::segmented(ui, "Show", &["Payload", "Text"], turn.0) {
            turn.0 = chosen;
        }
    });
    ui.data_mut(|data| data.insert_temp(id, turn));
    if turn.0 == 0 {
        tree::tree_ui(ui, cx, rest, view);
    } else {
        text::text_ui(ui, cx, rest, view);
    }
}

/// Cuts a strip from the top of what is left.
fn strip(rest: &mut Rect, height: f32) -> Rect {
    let strip = Rect::from_min_size(rest.min, vec2(rest.width(), height));
    rest.min.y += height;
    strip
}

pub(super) fn inside(ui: &mut Ui, rect: Rect, salt: &str, layout: Layout, paint: impl FnOnce(&mut Ui)) {
    ui.scope_builder(UiBuilder::new().max_rect(rect).layout(layout).id_salt(salt), |ui| {
        ui.set_clip_rect(rect.expand(2.0).intersect(ui.clip_rect()));
        paint(ui);
    });
}

fn stepper_ui(ui: &mut Ui, cx: &Cx<'_>, view: &DiffView) {
    let t = Tokens::of(ui);
    let count = Stops::of(view).count();
    if count == 0 {
        return;
    }
    if widgets::icon_button(ui, icons::DOWN, "Next difference, F8").clicked()
        && let Some(action) = step(cx, true)
    {
        cx.send(action);
    }
    if widgets::icon_button(ui, icons::UP, "Previous difference, Shift F8").clicked()
        && let Some(action) = step(cx, false)
    {
        cx.send(action);
    }
    let words = match cx.state.diff.current {
        Some(at) => format!("{} of {}", widgets::grouped(at as u64 + 1), widgets::grouped(count as u64)),
        None => widgets::number_text(count as u64, if count == 1 { "place" } else { "places" }),
    };
    ui.label(RichText::new(words).font(theme::code()).color(t.weak));
}

fn ignore_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = Tokens::of(ui);
    let ask = cx.state.diff.ask;
    let is_reversed = ui.layout().prefer_right_to_left();
    let space = |ui: &mut Ui| {
        let tip = "Lines of text that differ in white space alone are equal";
        if toggle(ui, "white space", ask.ignore_space, tip) {
            act(cx, DiffAction::IgnoreSpace(!ask.ignore_space));
        }
    };
    let order = |ui: &mut Ui| {
        let tip = "Text that is JSON is laid out with sorted keys before it is compared. The payload's keys have no order";
        if toggle(ui, "key order", ask.ignore_order, tip) {
            act(cx, DiffAction::IgnoreOrder(!ask.ignore_order));
        }
    };
    let label = |ui: &mut Ui| ui.label(RichText::new("Ignore").font(theme::small()).color(t.weak));
    if is_reversed {
        space(ui);
        order(ui);
        label(ui);
    } else {
        label(ui);
        order(ui);
        space(ui);
    }
}

fn toggle(ui: &mut Ui, label: &str, is_on: bool, tip: &str) -> bool {
    let mut button = Button::new(label).tip(tip).small();
    if is_on {
        button = button.icon(icons::CHECK);
    }
    let name = format!("Ignore {label}");
    let response = button.name(&name).show(ui);
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, is_on, &name));
    response.clicked()
}

// The two sides

fn number_of(cx: &Cx<'_>, id: &CaptureId) -> usize {
    cx.state.captures.iter().position(|capture| capture.id == *id).map_or(0, |at| at + 1)
}

fn time_of(capture: &Capture) -> String {
    let at = capture.started_at;
    if capture.request.is_empty() {
        "from a file".to_owned()
    } else {
        format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
    }
}

fn as_sent(cx: &Cx<'_>, id: &CaptureId) -> Option<u64> {
    ["both", "content", "structured"].into_iter().find_map(|format| {
        match cx.ask_of(std::slice::from_ref(id), Question::Row(format)) {
            Asked::Ready(Answer::Row(row)) if row.is_available() => Some(row.tokens.get(cx.state.settings.encoding())),
            _ => None,
        }
    })
}

fn sides_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, a: &Arc<Capture>, b: &Arc<Capture>) {
    let t = Tokens::of(ui);
    ui.painter().rect_filled(rect, 0.0, t.panel);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, t.line));
    let swap = Rect::from_center_size(rect.center(), vec2(theme::ICON_BUTTON, theme::ICON_BUTTON));
    let half = |left: f32, right: f32| Rect::from_min_max(pos2(left, rect.top() + 4.0), pos2(right, rect.bottom() - 4.0));
    let old = side_ui(ui, cx, half(rect.left() + 4.0, swap.left() - 6.0), "A", a);
    choose_ui(&old, cx, &a.id, DiffAction::SetA);
    inside(ui, swap, "swap", Layout::left_to_right(Align::Center), |ui| {
        if widgets::icon_button(ui, icons::SWAP, "Swap A and B").clicked() {
            act(cx, DiffAction::Swap);
        }
    });
    let new = side_ui(ui, cx, half(swap.right() + 6.0, rect.right() - 4.0), "B", b);
    choose_ui(&new, cx, &b.id, DiffAction::SetB);
}

/// The letter in its box, as it also stands in the list of captures.
pub(super) fn letter(ui: &Ui, center: egui::Pos2, letter: &str) {
    let t = Tokens::of(ui);
    let rect = Rect::from_center_size(center, vec2(20.0, 20.0));
    let (color, fill, line) = if letter == "B" { (t.accent, t.accent_bg, t.accent_line) } else { (t.strong, t.card, t.line2) };
    ui.painter().rect(rect, theme::RADIUS_BADGE, fill, Stroke::new(1.0, line), StrokeKind::Inside);
    widgets::glyph_at(ui, center, letter, theme::semibold(12.0), color);
}

fn side_ui(ui: &Ui, cx: &Cx<'_>, rect: Rect, name: &str, capture: &Capture) -> Response {
    let t = Tokens::of(ui);
    let response = ui.interact(rect, ui.scope_id().with(("side", name)), Sense::click());
    let tokens = as_sent(cx, &capture.id);
    let title = format!("Capture {}", number_of(cx, &capture.id));
    let when = time_of(capture);
    let arguments = String::from_utf8_lossy(&capture.arguments);
    let mut end = arguments.len().min(300);
    while !arguments.is_char_boundary(end) {
        end -= 1;
    }
    let server = format!("{} {}", capture.server.name, capture.server.version);
    let tool = if capture.tool.name.is_empty() { "(answer)" } else { &capture.tool.name };
    let second = format!("{} · {tool} · {}", server.trim(), arguments.get(..end).unwrap_or_default());
    let cost = tokens.map_or_else(|| "counting…".to_owned(), |tokens| widgets::number_text(tokens, "tok"));
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{name}: {title}, {when}, {second}, {cost}")));
    if response.hovered() {
        ui.painter().rect_filled(rect, theme::RADIUS_CONTROL, t.hover);
    }
    letter(ui, pos2(rect.left() + 20.0, rect.center().y), name);
    let right = rect.right() - 10.0;
    widgets::glyph_at(ui, pos2(right - 6.0, rect.center().y), icons::DOWN, theme::icon_font(12.0), t.weak);
    let cost = widgets::text_right(ui, pos2(right - 22.0, rect.center().y), cost, theme::mono_semibold(12.0), t.strong);
    let left = rect.left() + 40.0;
    let room = cost - 10.0 - left;
    let end = widgets::text_at(ui, pos2(left, rect.top() + 15.0), title, theme::semibold(13.0), t.strong, room);
    widgets::text_at(ui, pos2(end + 8.0, rect.top() + 15.0), when, theme::small(), t.weak, left + room - end - 8.0);
    widgets::text_at(ui, pos2(left, rect.bottom() - 14.0), second.clone(), theme::small(), t.weak, room);
    widgets::focus_ring(ui, &response, theme::RADIUS_CONTROL);
    response.on_hover_text(second)
}

fn choose_ui(response: &Response, cx: &Cx<'_>, chosen: &CaptureId, choose: fn(CaptureId) -> DiffAction) {
    Popup::menu(response).width(360.0).show(|ui| {
        egui::ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for capture in cx.state.captures.iter().rev() {
                let label = format!("Capture {} · {} · {}", number_of(cx, &capture.id), capture.tool.name, time_of(capture));
                if menu_row(ui, &label, None, capture.id == *chosen).clicked() {
                    act(cx, choose(capture.id.clone()));
                    ui.close();
                }
            }
        });
    });
}

// What they cost

fn costs_ui(ui: &Ui, cx: &Cx<'_>, rect: Rect, view: &DiffView) {
    let t = Tokens::of(ui);
    ui.painter().rect_filled(rect, 0.0, t.panel);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, t.line));
    let encoding = cx.state.settings.encoding();
    let is_as_sent = |id: &str| format::by_id(id).is_some_and(format::Format::is_as_sent);
    let (old, new) = cx.state.diff.ask.formats;
    let cards: Vec<(String, &'static str, Option<u64>, Option<u64>)> = if old != new {
        // Two formats are compared with each other, each at its side.
        let of = |id: &str| view.found.tokens.iter().find(|pair| pair.format == id);
        let (a, b) = (of(old).and_then(|pair| pair.a), of(new).and_then(|pair| pair.b));
        let title = format!("{} → {}", format_title(old), format_title(new));
        vec![(title, new, a.map(|tokens| tokens.get(encoding)), b.map(|tokens| tokens.get(encoding)))]
    } else {
        let pairs = view.found.tokens.iter().filter(|pair| is_as_sent(pair.format) || pair.format == old);
        let tokens = |tokens: Option<crate::token::Tokens>| tokens.map(|tokens| tokens.get(encoding));
        pairs.map(|pair| (format_title(pair.format).to_owned(), pair.format, tokens(pair.a), tokens(pair.b))).collect()
    };
    let shown = cards.len().min(((rect.width() / 240.0) as usize).max(1));
    let width = (rect.width() / shown.max(1) as f32).min(460.0);
    for (at, (title, format, a, b)) in cards.into_iter().take(shown).enumerate() {
        let card = Rect::from_min_size(pos2(rect.left() + at as f32 * width, rect.top()), vec2(width, rect.height()));
        if at > 0 {
            ui.painter().vline(card.left() - 0.5, card.y_range(), Stroke::new(1.0, t.line));
        }
        cost_ui(ui, card.shrink2(vec2(14.0, 8.0)), &title, t.hue(format).color, (a, b), view);
    }
}

fn cost_ui(ui: &Ui, rect: Rect, title: &str, hue: Color32, (a, b): (Option<u64>, Option<u64>), view: &DiffView) {
    let t = Tokens::of(ui);
    let (change, share) = match (a, b) {
        (Some(a), Some(b)) => (format!("{} tok", signed(a, b)), percent(a, b).map(|share| format!("{share} vs A"))),
        (Some(_), None) => ("not in B".to_owned(), None),
        _ => ("not in A".to_owned(), None),
    };
    // Fewer tokens are only good where nothing was lost for them.
    let is_good = matches!((a, b), (Some(a), Some(b)) if b < a) && view.facts_lost() == 0 && view.values_changed() == 0;
    let color = if is_good { t.ok } else { t.strong };
    let response = ui.interact(rect, ui.scope_id().with(("cost", title)), Sense::hover());
    let side = |tokens: Option<u64>| tokens.map_or_else(|| "nothing".to_owned(), |tokens| widgets::number_text(tokens, "tokens"));
    let words = format!(
        "{title}: A {}, B {}, {change}{}",
        side(a),
        side(b),
        share.as_ref().map_or_else(String::new, |share| format!(", {share}"))
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
    response.on_hover_text(words.clone());
    let y = rect.top() + 10.0;
    ui.painter().rect_filled(Rect::from_center_size(pos2(rect.left() + 5.0, y), vec2(9.0, 9.0)), theme::RADIUS_BAR, hue);
    let mut right = rect.right();
    if let Some(share) = share {
        right = widgets::text_right(ui, pos2(right, y), share, theme::code(), t.weak) - 8.0;
    }
    right = widgets::text_right(ui, pos2(right, y), change, theme::mono_semibold(12.0), color) - 8.0;
    widgets::text_at(ui, pos2(rect.left() + 16.0, y), title, theme::label(), t.strong, right - rect.left() - 16.0);
    let most = a.max(b).unwrap_or(0).max(1) as f32;
    for (line, name, tokens, color) in [(0.0, "A", a, t.weak), (1.0, "B", b, hue)] {
        let y = rect.top() + 33.0 + line * 18.0;
        widgets::text_at(ui, pos2(rect.left(), y), name, theme::small(), if name == "B" { t.accent } else { t.weak }, 12.0);
        let number = tokens.map_or_else(|| "–".to_owned(), widgets::grouped);
        widgets::text_right(ui, pos2(rect.right(), y), number, theme::code(), t.text);
        let bar = Rect::from_min_max(pos2(rect.left() + 18.0, y - 2.5), pos2(rect.right() - 58.0, y + 2.5));
        widgets::bar(ui, bar, tokens.unwrap_or(0) as f32 / most, color);
    }
}

// What must be known before reading on

fn notes(view: &DiffView) -> Vec<(widgets::Tone, String)> {
    use widgets::Tone;
    let found = &view.found;
    let mut notes = Vec::new();
    if found.outcomes.0 != found.outcomes.1 {
        notes.push((
            Tone::Bad,
            format!("The calls ended differently: A {}, B {}", found.outcomes.0.name(), found.outcomes.1.name()),
        ));
    }
    for reason in &found.left_out {
        notes.push((Tone::Warn, capitalised(reason)));
    }
    if found.other_blocks > 0 {
        let blocks = if found.other_blocks == 1 { "block" } else { "blocks" };
        notes.push((
            Tone::Warn,
            format!(
                "{} other than text differ (image, audio, resource)",
                widgets::number_text(found.other_blocks as u64, blocks)
            ),
        ));
    }
    if let Some(definition) = found.definition.as_ref().filter(|definition| !definition.found.is_empty()) {
        let count = definition.found.counts.total();
        let places = widgets::number_text(count, if count == 1 { "place" } else { "places" });
        notes.push((Tone::Accent, format!("The tool's definition differs in {places}")));
    }
    if let Some(payload) = &found.payload
        && payload.found.more() > 0
    {
        notes.push((
            Tone::Warn,
            format!(
                "Too many differences to show: the first {} of {} are in the tree",
                widgets::grouped(payload.found.changes.len() as u64),
                widgets::grouped(payload.found.counts.total())
            ),
        ));
    } else if view.is_cut {
        notes.push((Tone::Warn, "Too many values to show: the tree ends early".to_owned()));
    }
    if let Ok(text) = &view.text
        && text.found.more > 0
    {
        notes.push((Tone::Warn, format!("{} more than are shown", widgets::number_text(text.found.more, "changed lines"))));
    }
    if view.is_late {
        notes.push((Tone::Warn, "Comparing took too long: the lines are right, but more may be marked than need be".to_owned()));
    }
    notes.truncate(4);
    notes
}

fn capitalised(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

pub(super) fn note_ui(ui: &Ui, rect: Rect, tone: widgets::Tone, words: &str) {
    let t = Tokens::of(ui);
    let (color, fill, line) = tone.colors(t);
    ui.painter().rect_filled(rect, 0.0, fill);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, line));
    let icon = if tone == widgets::Tone::Accent { icons::INFO } else { icons::WARNING };
    widgets::glyph_at(ui, pos2(rect.left() + 22.0, rect.center().y), icon, theme::icon_font(14.0), color);
    let shown = crate::report::special::Shown::of(words).text;
    widgets::text_at(ui, pos2(rect.left() + 38.0, rect.center().y), shown, theme::small(), t.text, rect.width() - 50.0);
    let response = ui.interact(rect, ui.scope_id().with(("note", words)), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
    response.on_hover_text(words);
}

/// The two formats whose texts are compared, each with a menu.
fn formats_ui(ui: &mut Ui, cx: &Cx<'_>, room: f32) {
    let (a, b) = cx.state.diff.ask.formats;
    let t = Tokens::of(ui);
    let menu = |ui: &mut Ui, name: &str, chosen: &'static str, choose: &dyn Fn(&'static str) -> DiffAction| {
        let label = format!("{name} {}", format_title(chosen));
        let shown = if room > 260.0 { label.as_str() } else { name };
        let spoken = format!("Text of {label}");
        let response =
            Button::new(shown).name(&spoken).tip("Which format of the answer is compared").menu().frameless().small().show(ui);
        Popup::menu(&response).width(260.0).show(|ui| {
            egui::ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                for format in FORMATS {
                    let is_chosen = format.id() == chosen;
                    if menu_row(ui, format.title(), Some(t.hue(format.id()).color), is_chosen).clicked() {
                        act(cx, choose(format.id()));
                        ui.close();
                    }
                }
            });
        });
    };
    menu(ui, "A", a, &|a| DiffAction::SetFormats(a, b));
    menu(ui, "B", b, &|b| DiffAction::SetFormats(a, b));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_their_sign() {
        assert_eq!([signed(450, 331), signed(1, 1_201), signed(5, 5)], ["−119", "+1,200", "0"]);
        assert_eq!(percent(450, 331).as_deref(), Some("−26.4%"));
        assert_eq!((percent(0, 4), percent(4, 4)), (None, None));
    }
}
