//! The lists below the columns: what they lose, and what each host's model would be shown of them.

use egui::{Align, Layout, Rect, Stroke, Ui, vec2};

use super::{SIDE, hosts, losses};
use crate::analysis::sweep::SweepPage;
use crate::state::{Action, Compare, CompareAction, CompareTab};
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};

const HEAD: f32 = theme::HEADER;

/// The height that shows all of the list.
pub fn height(cx: &Cx<'_>, compare: &Compare, page: &SweepPage) -> f32 {
    HEAD + match compare.below {
        CompareTab::Differences => losses::height(page.losses.len()),
        CompareTab::Hosts => hosts::height(cx),
    }
}

pub fn below_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, page: &SweepPage) {
    let t = ThemeTokens::of(ui);
    let rect = ui.available_rect_before_wrap();
    let head = Rect::from_min_size(rect.min, vec2(rect.width(), HEAD));
    let layout = Layout::left_to_right(Align::Center);
    ui.scope_builder(widgets::region(ui, "head").max_rect(head.shrink2(vec2(SIDE, 0.0))).layout(layout), |ui| {
        ui.spacing_mut().item_spacing.x = 20.0;
        let losses = widgets::grouped(page.losses.len() as u64);
        let is_losses = compare.below == CompareTab::Differences;
        if widgets::tab(ui, Some(icons::DIFF), "Differences", Some(&losses), is_losses, HEAD).clicked() {
            cx.send(Action::Compare(CompareAction::ShowBelow(CompareTab::Differences)));
        }
        if widgets::tab(ui, Some(icons::HOSTS), "Hosts", None, !is_losses, HEAD).clicked() {
            cx.send(Action::Compare(CompareAction::ShowBelow(CompareTab::Hosts)));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if !is_losses {
                hosts::note_ui(ui);
                return;
            }
            let button = Button::new("Next difference").shortcut("F8").small().frameless();
            if !page.losses.is_empty()
                && button.show(ui).clicked()
                && let Some(action) = cx.state.next_difference()
            {
                cx.send(action);
            }
        });
    });
    ui.painter().hline(rect.x_range(), head.bottom() - 0.5, Stroke::new(1.0, t.line));
    ui.scope_builder(widgets::region(ui, "rows").max_rect(rect.with_min_y(head.bottom())), |ui| match compare.below {
        CompareTab::Differences => losses::losses_ui(ui, cx, compare, page),
        CompareTab::Hosts => hosts::hosts_ui(ui, cx, compare, page),
    });
}
