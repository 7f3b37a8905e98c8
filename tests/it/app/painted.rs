//! What can be read on the screen, and not only in the accessibility tree.

use mcp_loupe::state::{DrawerTab, ViewAction};

use super::{Window, called, until};
use crate::window::painted;

pub fn paints(window: &Window, text: &str) -> bool {
    painted(window.output(), window.ctx.content_rect()).contains(text)
}

#[test]
fn the_saving_is_read_in_every_window() {
    for size in [[640.0, 520.0], [960.0, 700.0], [1_280.0, 800.0], [1_366.0, 768.0], [1_600.0, 1_000.0]] {
        let mut window = called(size, "strict_search_companies");
        until(&mut window, "the panes are filled", |window| window.state().state.answers.working() == 0);
        for tab in [DrawerTab::Cost, DrawerTab::Hosts, DrawerTab::Tokens] {
            window.state_mut().state.perform(ViewAction::ShowDrawer(tab), &mut Vec::new());
            // The closed drawer tells the cost, whatever its tab is; the open one is that of its tab.
            if tab == DrawerTab::Cost || size[1] < 820.0 {
                let what = format!("the saving is read at {size:?} with the tab {tab:?}");
                until(&mut window, &what, |window| paints(window, "no fact lost"));
            }
        }
    }
}
