//! Tabs of all panes, where there is no room for three of them or one is closed.

use egui::{Align, Layout, Rect, Response, Role, Sense, Ui, pos2, vec2};

use super::PLACES;
use super::header::{chooser, copy_button, cost, is_counting, sample};
use super::title::pane_title;
use crate::state::{PaneView, ViewAction};
use crate::ui::theme::{self, Hue};
use crate::ui::widgets;
use crate::ui::{Cx, icons};
use loupe_core::format::ParsedCapture;
use loupe_core::format::format_title;
use loupe_core::token::{Count, format_count};

/// Height of the tabs.
pub const STRIP: f32 = 36.0;

/// Tabs of all panes, for those that have no room or are closed; the rest of the room.
pub fn strip_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    rect: Rect,
    shown: &[usize],
    subject: Option<&ParsedCapture>,
) -> Rect {
    let t = theme::of(ui);
    let strip = Rect::from_min_size(rect.min, vec2(rect.width(), STRIP));
    widgets::line_below(ui, strip);
    widgets::line_part(ui, "strip", strip.shrink2(vec2(12.0, 0.0)), |ui| {
        ui.spacing_mut().item_spacing.x = 18.0;
        for pane in 0..3 {
            let view = cx.state.view.shows(pane);
            let title = pane_title(cx, view, subject, t);
            let is_open = cx.state.view.open[pane];
            let name = match view {
                PaneView::Rendered(format) if format != "content" => {
                    format!("Rendered {}", format_title(format))
                }
                _ => title.name.clone(),
            };
            let tokens = cost(cx, view, &title).map(|(tokens, _)| tokens);
            let room = is_counting(cx, view, &title).then(|| sample(cx));
            let tab = Tab {
                name: &name,
                hue: title.hue,
                tokens,
                room,
                is_shown: shown.contains(&pane),
                is_open,
            };
            let response = tab.show(ui, pane);
            let response = if is_open {
                response
            } else {
                response.on_hover_text("Closed. A click brings it back.")
            };
            if response.clicked() {
                if !is_open {
                    cx.send(ViewAction::TogglePane(pane));
                }
                cx.send(ViewAction::FocusPane(pane));
            }
        }
        super::variant::variant_ui(ui, cx);
        if let [pane] = shown
            && cx.state.view.maximised.is_none()
        {
            let view = cx.state.view.shows(*pane);
            let title = pane_title(cx, view, subject, t);
            let rest = ui.available_rect_before_wrap();
            let place = widgets::region(ui, "of the pane")
                .max_rect(rest)
                .layout(Layout::right_to_left(Align::Center));
            ui.scope_builder(place, |ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                if widgets::icon_button(ui, icons::MAXIMISE, &format!("Maximise {}", title.name))
                    .clicked()
                {
                    cx.send(ViewAction::ToggleMaximised(*pane));
                }
                copy_button(ui, cx, view, &title);
                let response = widgets::icon_button(ui, icons::DOWN, "Choose what this pane shows");
                chooser(&response, cx, *pane, view);
                if let Some((_, bytes)) = cost(cx, view, &title) {
                    widgets::words(ui, widgets::bytes(bytes), theme::code(), t.weak);
                }
            });
        }
    });
    rect.with_min_y(strip.bottom())
}

struct Tab<'a> {
    name: &'a str,
    hue: Hue,
    tokens: Option<Count>,
    /// Tokens that are not known yet keep the place of these, so that the tabs after it hardly move.
    room: Option<Count>,
    is_shown: bool,
    is_open: bool,
}

impl Tab<'_> {
    fn show(self, ui: &mut Ui, pane: usize) -> Response {
        let Self {
            name,
            hue,
            tokens,
            room,
            is_shown,
            is_open,
        } = self;
        let t = theme::of(ui);
        let font = if is_shown {
            theme::semibold(13.0)
        } else {
            theme::label()
        };
        let label = ui
            .painter()
            .layout_no_wrap(name.to_owned(), font.clone(), t.text);
        let count = tokens.or(room).map(format_count).unwrap_or_default();
        let count_width = if count.is_empty() {
            0.0
        } else {
            widgets::text_width(ui, count.clone(), theme::code()) + 6.0
        };
        let size = vec2(16.0 + label.size().x + count_width, STRIP);
        let (rect, response) = widgets::keyed(ui, size, Sense::click(), PLACES[pane]);
        let spoken = tokens.map_or_else(
            || name.to_owned(),
            |tokens| format!("{name}, {}", widgets::count_text(tokens, "tokens")),
        );
        let spoken = if is_open {
            spoken
        } else {
            format!("{spoken}, closed")
        };
        widgets::say_selected(&response, Role::Tab, is_shown, &spoken);
        let square =
            Rect::from_center_size(pos2(rect.left() + 4.0, rect.center().y), vec2(8.0, 8.0));
        if is_open {
            ui.painter()
                .rect_filled(square, theme::RADIUS_BAR, hue.color);
        } else {
            widgets::outline(ui, square, theme::RADIUS_BAR, hue.color);
        }
        let color = if is_shown || response.hovered() {
            t.strong
        } else {
            t.weak
        };
        let end = widgets::text_at(
            ui,
            pos2(rect.left() + 16.0, rect.center().y),
            name,
            font,
            color,
            f32::INFINITY,
        );
        if !count.is_empty() {
            let count = if tokens.is_none() {
                "…".to_owned()
            } else {
                count
            };
            widgets::text_at(
                ui,
                pos2(end + 6.0, rect.center().y),
                count,
                theme::code(),
                t.weak,
                f32::INFINITY,
            );
        }
        if is_shown {
            ui.painter().rect_filled(
                Rect::from_min_max(pos2(rect.left(), rect.bottom() - 2.0), rect.max),
                1.0,
                t.accent,
            );
        }
        widgets::focus_ring(ui, &response, theme::RADIUS_BADGE);
        response
    }
}
