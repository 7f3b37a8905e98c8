//! How the drawer is opened: for one of its tabs, and by hand in a low window or below an error.

use egui::{Id, Ui};

use super::Cx;
use super::error_card::is_error;
use super::region::{Region, focus_region};
use crate::state::{Action, DrawerTab, SettingsAction, ViewAction};
use crate::ui::widgets;

/// Below this height of the window the drawer opens only when asked for.
const LOWEST: f32 = 700.0;

/// Of an error, for that error alone.
fn opened_id(cx: &Cx<'_>) -> Id {
    let error = cx.state.capture().filter(|_| is_error(cx));
    Id::unique(("drawer opened by hand", error.map(|capture| &capture.id)))
}

/// Whether the drawer opens only when asked for: there is little room, or an error, of which no format is compared.
pub fn waits_for_hand(ui: &Ui, cx: &Cx<'_>) -> bool {
    ui.content_rect().height() < LOWEST || is_error(cx)
}

/// Turns to a tab of the drawer, which opens for it.
pub fn show_tab(ui: &Ui, cx: &Cx<'_>, tab: DrawerTab) -> Option<Action> {
    focus_region(ui, Region::Drawer);
    open_by_hand(ui, cx, true);
    if !cx.state.settings.drawer_open {
        cx.send(SettingsAction::ToggleDrawer);
    }
    Some(ViewAction::ShowDrawer(tab).into())
}

/// Opens the drawer where it waits for that, or closes it again there.
pub fn open_by_hand(ui: &Ui, cx: &Cx<'_>, is_open: bool) {
    widgets::remember(ui, opened_id(cx), is_open);
}

pub fn is_opened_by_hand(ui: &Ui, cx: &Cx<'_>) -> bool {
    widgets::recall(ui, opened_id(cx)).unwrap_or(false)
}
