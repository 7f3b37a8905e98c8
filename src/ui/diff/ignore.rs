//! What of the differences does not count: the order of keys, white space, times, single places.

use egui::{RichText, Role, Ui, WidgetInfo};

use super::act;
use crate::state::diff::DiffAction;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};

/// What of the differences does not count.
pub fn ignore_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = ThemeTokens::of(ui);
    let ask = &cx.state.diff.ask;
    let is_reversed = ui.layout().prefer_right_to_left();
    let space = |ui: &mut Ui| {
        let tip = "Lines of text that differ in white space alone are equal";
        if toggle(ui, "white space", ask.ignore_space, tip) {
            act(cx, DiffAction::IgnoreSpace(!ask.ignore_space));
        }
    };
    let order = |ui: &mut Ui| {
        let tip = "Text that is JSON is laid out with sorted keys before it is compared. The keys of the data have no order";
        if toggle(ui, "key order", ask.ignore_order, tip) {
            act(cx, DiffAction::IgnoreOrder(!ask.ignore_order));
        }
    };
    let times = |ui: &mut Ui| {
        let tip = "Days and times as 2026-01-31T10:00:00Z, in the data where both sides have some, and in the text";
        if toggle(ui, "times", ask.ignore_times, tip) {
            act(cx, DiffAction::IgnoreTimes(!ask.ignore_times));
        }
    };
    let places = |ui: &mut Ui| {
        if ask.ignore.is_empty() {
            return;
        }
        let count = widgets::number_text(ask.ignore.len() as u64, "places");
        let tip = format!("{}\nClick to compare it again", ask.ignore.join("\n"));
        let name = format!("Ignored: {}. Compare them again", ask.ignore.join(", "));
        if Button::new(&count).icon(icons::CLOSE).name(&name).tip(&tip).small().show(ui).clicked() {
            act(cx, DiffAction::IgnoreNothing);
        }
    };
    let label = |ui: &mut Ui| ui.label(RichText::new("Ignore").font(theme::small()).color(t.weak));
    if is_reversed {
        places(ui);
        times(ui);
        space(ui);
        order(ui);
        label(ui);
    } else {
        label(ui);
        order(ui);
        space(ui);
        times(ui);
        places(ui);
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
