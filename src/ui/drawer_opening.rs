//! How the drawer is opened: for one of its tabs, and by hand in a low window.

use egui::{Id, Ui};

use super::Cx;
use super::region::{Region, focus_region};
use crate::state::{Action, DrawerTab, SettingsAction, ViewAction};
use crate::ui::widgets;

fn opened_id() -> Id {
    Id::unique("drawer opened by hand")
}

/// Turns to a tab of the drawer, which opens for it.
pub fn show_tab(ui: &Ui, cx: &Cx<'_>, tab: DrawerTab) -> Option<Action> {
    focus_region(ui, Region::Drawer);
    open_by_hand(ui, true);
    if !cx.state.settings.drawer_open {
        cx.send(SettingsAction::ToggleDrawer);
    }
    Some(ViewAction::ShowDrawer(tab).into())
}

/// Opens the drawer in a low window too, or closes it again there.
pub fn open_by_hand(ui: &Ui, is_open: bool) {
    widgets::remember(ui, opened_id(), is_open);
}

/// In a low window the drawer opens only when asked for.
pub fn is_opened_by_hand(ui: &Ui) -> bool {
    widgets::recall(ui, opened_id()).unwrap_or(false)
}
