//! The start page of the user's own server: what its tools cost before the first call, and which to try first.

use egui::{Rect, Response, Role, Sense, Ui, pos2, vec2};

use crate::state::{CallAction, ConnectAction, ListedTool, TokensAction};
use crate::ui::theme;
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, call_bar, icons};
use loupe_core::source::Source;

/// About how high this is, for placing the page.
pub const HEIGHT: f32 = 300.0;
const ROW: f32 = 34.0;
const BAR: f32 = 12.0;
const CARD: f32 = 76.0;
/// The most expensive tools that are named below the bar.
const NAMED: usize = 3;

pub fn own_ui(ui: &mut Ui, cx: &Cx<'_>, width: f32) {
    let t = theme::of(ui);
    let state = cx.state;
    let tools = &state.session().tools;
    if tools.is_empty() {
        widgets::words(
            ui,
            "This server lists no tools",
            theme::page_title(),
            t.strong,
        );
        return;
    }
    let encoding = state.settings.encoding();
    let cost = |listed: &ListedTool| listed.tokens.map_or(0, |tokens| tokens.get(encoding));
    let mut dearest: Vec<&ListedTool> = tools.iter().collect();
    dearest.sort_by_key(|listed| std::cmp::Reverse(cost(listed)));
    let total = state.tools_total();
    let head = match total {
        Some(total) => format!(
            "{} before the first call",
            widgets::number_text(total, "tok")
        ),
        None => "Counting the definitions…".to_owned(),
    };
    widgets::words(ui, head, theme::page_title(), t.strong);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let count = widgets::number_text(tools.len() as u64, "tools");
        widgets::words(
            ui,
            format!("{count} · most expensive"),
            theme::base(),
            t.weak,
        );
        widgets::truncated(ui, &dearest[0].tool.name, theme::code(), t.strong);
        let tokens = widgets::grouped(cost(dearest[0]));
        widgets::words(ui, tokens, theme::code(), t.text);
    });
    ui.add_space(12.0);
    if let Some(total) = total {
        bar_ui(ui, width, total, dearest.iter().map(|listed| cost(listed)));
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            for (at, listed) in dearest.iter().take(NAMED).enumerate() {
                let color = if at == 0 { t.accent } else { t.faint };
                widgets::swatch(ui, color);
                let words = format!("{} {}", listed.tool.name, widgets::grouped(cost(listed)));
                if ui.available_width() > 220.0 {
                    widgets::words(ui, words, theme::code(), t.text);
                    ui.add_space(10.0);
                }
            }
            widgets::from_right(ui, |ui| {
                let label = format!("All {}", tools.len());
                let button = Button::new(&label)
                    .icon(icons::RIGHT)
                    .tip("Every definition by part, and what cutting would save");
                if button.small().frameless().clicked(ui) {
                    cx.send(TokensAction::ShowServer);
                }
            });
        });
    }
    ui.add_space(16.0);
    if let Some(listed) = state.tool() {
        try_ui(ui, cx, listed, width, cost(listed));
    }
    ui.add_space(12.0);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        widgets::words(ui, "New to Loupe?", theme::base(), t.weak);
        let sample = Button::new("See what the sample server shows")
            .tip("Closes this connection")
            .small()
            .frameless();
        if sample.clicked(ui) {
            cx.send(ConnectAction::Connect(Box::new(Source::sample())));
        }
    });
}

/// The share of each tool in the definitions, the most expensive first.
fn bar_ui(ui: &mut Ui, width: f32, total: u64, costs: impl Iterator<Item = u64>) {
    let t = theme::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, BAR), Sense::hover());
    widgets::say(
        &response,
        Role::Image,
        "The share of each tool in the definitions",
    );
    let mut left = rect.left();
    for (at, cost) in costs.enumerate() {
        // Token counts are far below 2^24 here, or a piece is thinner than a pixel.
        let wide = rect.width() * cost as f32 / total.max(1) as f32;
        let gap = if wide > 4.0 { 2.0 } else { 0.0 };
        let piece = Rect::from_min_max(
            pos2(left, rect.top()),
            pos2((left + wide - gap).min(rect.right()), rect.bottom()),
        );
        let color = if at == 0 { t.accent } else { t.faint };
        ui.painter().rect_filled(piece, theme::RADIUS_BAR, color);
        left += wide;
    }
}

/// The tool that is chosen, why it is a good first one, and what to do.
fn try_ui(ui: &mut Ui, cx: &Cx<'_>, listed: &ListedTool, width: f32, cost: u64) {
    let t = theme::of(ui);
    let tool = &listed.tool;
    let (rect, response) = ui.allocate_exact_size(vec2(width, CARD), Sense::click());
    let kind = match tool.is_declared_read_only() {
        true => "Declared read-only",
        false => "Not declared read-only: Loupe asks before it calls",
    };
    let needs = required(cx);
    let asks = match needs.as_slice() {
        [] => "It needs no value. Press".to_owned(),
        [one] => format!("It asks for one value. Type {one} above, then press"),
        more => format!(
            "It asks for {} values. Type them above, then press",
            more.len()
        ),
    };
    let words = format!("{kind}. {asks}");
    let keys = call_bar::call_keys();
    let spoken = format!("Try it: {}. {words} {keys}", tool.name);
    widgets::say(&response, Role::Button, &spoken);
    let fill = if response.hovered() { t.hover } else { t.card };
    widgets::boxed(ui, rect, theme::RADIUS_CARD, fill, t.line2);
    widgets::focus_ring(ui, &response, theme::RADIUS_CARD);
    let line = |y: f32| {
        widgets::RowLine::new(
            ui,
            Rect::from_center_size(pos2(rect.center().x, rect.top() + y), vec2(width, 20.0)),
        )
    };
    let (first, second) = (line(26.0), line(50.0));
    first.icon_fill(rect.left() + 22.0, icons::CALL, 16.0, t.accent);
    let tokens = widgets::number_text(cost, "tok");
    let right = first.number(rect.right() - 16.0, tokens, theme::code(), t.weak) - 12.0;
    let left = rect.left() + 44.0;
    let end = first.text(left, right, "Try it:", theme::semibold(14.0), t.strong) + 6.0;
    first.text(end, right, &tool.name, theme::tool_name(), t.strong);
    let cap = widgets::key_cap_width(ui, &keys);
    let right = rect.right() - 24.0 - cap;
    let end = second.text(left, right, words, theme::base(), t.text) + 8.0;
    let at = pos2(end + cap, second.y);
    widgets::key_cap_at(ui, at, &keys, t.weak, t.line2);
    if response
        .on_hover_cursor(egui::CursorIcon::PointingHand)
        .clicked()
    {
        cx.send(CallAction::Call { send_anyway: false });
    }
}

/// The names of the values that the chosen tool needs and does not have.
fn required(cx: &Cx<'_>) -> Vec<String> {
    let form = cx.state.form();
    let fields = form.into_iter().flat_map(|form| form.missing());
    fields.map(str::to_owned).collect()
}

/// A row that leads somewhere: what, and a few words about it.
pub(super) fn row_ui(ui: &mut Ui, width: f32, glyph: &str, text: &str, about: &str) -> Response {
    let t = theme::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW), Sense::click());
    widgets::say(&response, Role::Button, format!("{text}, {about}"));
    let (fill, line) = if response.hovered() {
        (t.hover, t.accent_line)
    } else {
        (t.card, t.line2)
    };
    widgets::boxed(ui, rect, theme::RADIUS_CONTROL, fill, line);
    widgets::focus_ring(ui, &response, theme::RADIUS_CONTROL);
    let mid = widgets::RowLine::new(ui, rect);
    mid.icon(rect.left() + 20.0, glyph, 16.0, t.accent);
    let left = rect.left() + 38.0;
    let right = rect.right() - 12.0;
    let end = mid.text(left, right, text, theme::medium(13.0), t.strong);
    let needed = widgets::text_width(ui, about, theme::small());
    if end + 12.0 + needed <= right {
        mid.number(right, about, theme::small(), t.weak);
    }
    response.on_hover_cursor(egui::CursorIcon::PointingHand)
}
