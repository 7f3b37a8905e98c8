//! The regions of the window, and which control of each takes the focus.

use crate::ui::widgets;
use egui::{Id, Rect, Response, Ui};

/// The regions that F6 goes through, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    TopBar,
    Sidebar,
    CallBar,
    Panes,
    Drawer,
    /// The message that something went wrong.
    Problems,
    StatusBar,
}

impl Region {
    const ALL: [Region; 7] = [
        Region::TopBar,
        Region::Sidebar,
        Region::CallBar,
        Region::Panes,
        Region::Drawer,
        Region::Problems,
        Region::StatusBar,
    ];

    fn key(self) -> Id {
        Id::unique(("region", self as u8))
    }
}

/// Where a region stood when it was last painted, and the control that takes the focus in it.
#[derive(Clone, Copy)]
struct Place {
    rect: Rect,
    first: Id,
    pass: u64,
}

/// Says where a region is and which control takes the focus when F6 comes to it. Called by the region each frame.
pub fn region(ui: &Ui, region: Region, rect: Rect, first: &Response) {
    let place = Place {
        rect,
        first: first.id,
        pass: ui.cumulative_pass_nr(),
    };
    widgets::remember(ui, region.key(), place);
}

fn place(ui: &Ui, region: Region) -> Option<Place> {
    let place: Place = widgets::recall(ui, region.key())?;
    // Keys are looked at before this pass paints: what the last one painted counts.
    (place.pass + 1 >= ui.cumulative_pass_nr()).then_some(place)
}

/// Gives the focus to the region's first control, where it is on the screen.
pub fn focus_region(ui: &Ui, region: Region) {
    if let Some(place) = place(ui, region) {
        ui.memory_mut(|memory| memory.request_focus(place.first));
    }
}

/// Moves the focus to the next region that is on the screen.
pub fn next_region(ui: &Ui) {
    let focused = ui
        .memory(egui::Memory::focused)
        .and_then(|id| ui.read_response(id))
        .map(|response| response.rect.center());
    let current = Region::ALL.iter().position(|&region| {
        focused.is_some_and(|at| place(ui, region).is_some_and(|place| place.rect.contains(at)))
    });
    let count = Region::ALL.len();
    let start = current.map_or(0, |index| index + 1);
    let next = (0..count)
        .map(|step| Region::ALL[(start + step) % count])
        .find(|&region| place(ui, region).is_some());
    next.into_iter().for_each(|region| focus_region(ui, region));
}
