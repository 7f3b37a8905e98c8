//! Sizes that the user gave panels, told to the state once they are let go of.

use egui::{Id, Ui};

use super::{Cx, widgets};
use crate::state::SettingsAction;
use loupe_core::settings::PanelSize;

/// A change of less is none: layouts round.
const LEAST: f32 = 0.5;

/// What a panel was in the frame before.
#[derive(Clone, Copy)]
struct Before {
    window: egui::Vec2,
    size: f32,
    /// Whether it was changed by hand and that is not told yet.
    is_changed: bool,
}

/// Tells the size of a panel that changed while something was dragged and the window was not: so that the user changed it.
pub(super) fn keep(ui: &Ui, cx: &Cx<'_>, size: f32, what: fn(u16) -> PanelSize) {
    let id = Id::unique(("panel size", format!("{:?}", what(0))));
    let window = ui.content_rect().size();
    let before: Option<Before> = widgets::recall(ui, id);
    let mut now = Before {
        window,
        size,
        is_changed: false,
    };
    // Lists grow by themselves when something comes into them.
    let is_dragging = ui.dragged_id().is_some() || ui.drag_stopped_id().is_some();
    if let Some(before) = before.filter(|before| before.window == window) {
        now.is_changed = before.is_changed || (is_dragging && (before.size - size).abs() > LEAST);
    }
    if now.is_changed && !ui.input(|input| input.pointer.any_down()) {
        now.is_changed = false;
        cx.send(SettingsAction::KeepPanel(what(
            size.round().clamp(1.0, f32::from(u16::MAX)) as u16,
        )));
    }
    widgets::remember(ui, id, now);
}

/// Where the window's width has another layout than in the frame before, panels take the sizes of that one.
pub(super) fn follow(ui: &Ui, cx: &Cx<'_>) {
    let (id, is_narrow) = (Id::unique("narrow layout"), cx.state.has_narrow_layout());
    let before = widgets::recall(ui, id);
    if before != Some(is_narrow) {
        widgets::remember(ui, id, is_narrow);
        forget(ui);
    }
}

/// Says what the edge of a panel resizes, where several are called alike otherwise, and shows its focus. `panel` is its salt, and its name for people.
pub(super) fn name_edge(ui: &Ui, panel: &str) {
    // As egui makes it of the panel's own.
    let edge = ui.scope_id().with(panel).with("__resize");
    ui.ctx()
        .accesskit_node_builder(edge, |node| node.set_label(format!("Resize {panel}")));
    if let Some(response) = ui.read_response(edge) {
        widgets::focus_ring_inside(ui, &response);
    }
}

/// Lets go of the sizes that panels have, so that they take those of the settings.
pub(super) fn forget(ui: &Ui) {
    ui.data_mut(|data| {
        data.remove_by_type::<egui::PanelState>();
        data.remove::<[f32; 3]>(shares_id());
    });
}

/// Under which the shares of the panes are known.
pub(super) fn shares_id() -> Id {
    Id::unique("pane shares")
}

/// The same for the shares of the panes, which come and go as parts of one and are told in thousandths.
pub(super) fn keep_shares(ui: &Ui, cx: &Cx<'_>, id: Id, before: [f32; 3], now: [f32; 3]) {
    let changed = id.with("changed");
    let is_changed = before != now || widgets::recall(ui, changed).unwrap_or(false);
    let is_held = ui.input(|input| input.pointer.any_down());
    if is_changed && !is_held {
        let sum: f32 = now.iter().sum();
        cx.send(SettingsAction::KeepPanel(PanelSize::Panes(now.map(
            |share| (share / sum * 1_000.0).round().clamp(1.0, 1_000.0) as u16,
        ))));
    }
    ui.data_mut(|data| {
        data.insert_temp(changed, is_changed && is_held);
        data.insert_temp(id, now);
    });
}
