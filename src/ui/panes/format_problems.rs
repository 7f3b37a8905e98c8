//! The line above the panes that says what the records of a result break.

use egui::{Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, vec2};

use crate::state::StartQuestion;
use crate::ui::Cx;
use crate::ui::theme;
use crate::ui::widgets;
use loupe_analysis::queries::RowQuery;
use loupe_analysis::summary::breakage;
use loupe_core::format::FORMATS;

/// Above the answer to "What do hostile records break?": which formats do not give them back, computed from their round
/// trips. Returns what is left.
pub(super) fn breaks_strip(ui: &mut Ui, cx: &Cx<'_>, rect: Rect) -> Rect {
    let is_asked = cx
        .state
        .view
        .question
        .as_ref()
        .is_some_and(|(capture, question)| {
            *question == StartQuestion::HostileRecords
                && cx.state.view.capture.as_ref() == Some(capture)
        });
    if !is_asked {
        return rect;
    }
    let t = theme::of(ui);
    let measured: Vec<_> = FORMATS
        .iter()
        .filter_map(|format| cx.ready(RowQuery(format.id())).map(|row| &**row))
        .collect();
    let ground = ui.painter().add(Shape::Noop);
    let inner = rect.shrink2(vec2(14.0, 7.0));
    let used = widgets::part(ui, "what breaks", inner, |ui| match breakage(&measured) {
        Some(summary) => {
            let rows = match (ui.content_rect().height(), rect.width()) {
                (..640.0, _) => 1,
                (_, ..1_100.0) => 4,
                _ => 3,
            };
            widgets::summary_rows(ui, &summary, inner.width(), rows);
        }
        None => match cx.held() {
            Some(bytes) => widgets::held_ui(ui, cx, bytes),
            None => {
                widgets::waiting(
                    ui,
                    "Reading every format back",
                    cx.state.query_results.since().unwrap_or(cx.state.now),
                    cx,
                );
            }
        },
    });
    let strip = rect.with_max_y(used.response.rect.bottom() + 7.0);
    ui.painter()
        .set(ground, Shape::rect_filled(strip, 0.0, t.warn_bg));
    ui.painter().hline(
        strip.x_range(),
        strip.bottom() - 0.5,
        Stroke::new(1.0, t.warn_line),
    );
    widgets::sense(
        ui,
        strip.with_max_x(strip.left() + 2.0),
        "what breaks, heading",
        Sense::hover(),
    )
    .widget_info(|| WidgetInfo::labeled(Role::Heading, true, "What hostile records break"));
    rect.with_min_y(strip.bottom())
}
