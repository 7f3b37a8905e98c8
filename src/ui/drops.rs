//! Files that are dropped on the window: a field of the form takes what is in one, anywhere else they are opened.

use std::path::PathBuf;
use std::time::Duration;

use egui::{Color32, Id, Rect, Stroke, StrokeKind, Ui};

use super::Cx;
use super::theme;
use crate::state::Action;
use crate::ui::widgets;

/// While something is dragged, most systems tell no program where the pointer is; they do right after it was let go of.
const SETTLES: Duration = Duration::from_millis(60);

/// Files that nobody took yet.
#[derive(Clone, Default)]
struct Dropped {
    paths: Vec<PathBuf>,
    /// When they came, in seconds.
    since: f64,
}

fn id() -> Id {
    Id::unique("dropped files")
}

fn is_settled(ui: &Ui, dropped: &Dropped) -> bool {
    ui.input(|input| input.time) - dropped.since >= SETTLES.as_secs_f64()
}

/// Takes in what was dropped since the last frame.
pub fn begin(ui: &Ui) {
    let (paths, since) = ui.input(|input| {
        (
            input
                .raw
                .dropped_files
                .iter()
                .map(|file| file.path().to_owned())
                .collect::<Vec<_>>(),
            input.time,
        )
    });
    if !paths.is_empty() {
        widgets::remember(ui, id(), Dropped { paths, since });
        ui.request_repaint_after(SETTLES);
    }
}

/// The file that was dropped on a field: the one under the pointer. While files are dragged over the window, it says that it
/// takes one.
pub fn on(ui: &Ui, rect: Rect) -> Option<PathBuf> {
    let t = theme::of(ui);
    if ui.input(|input| !input.raw.hovered_files.is_empty()) {
        ui.painter().rect(
            rect,
            theme::RADIUS_CONTROL,
            Color32::TRANSPARENT,
            Stroke::new(1.5, t.accent),
            StrokeKind::Inside,
        );
    }
    let dropped = widgets::recall::<Dropped>(ui, id())?;
    if !is_settled(ui, &dropped) || !ui.rect_contains_pointer(rect) {
        return None;
    }
    ui.data_mut(|data| data.remove::<Dropped>(id()));
    dropped.paths.into_iter().next()
}

/// Opens what no field took.
pub fn rest(ui: &Ui, cx: &Cx<'_>) {
    let Some(dropped) = widgets::recall::<Dropped>(ui, id()) else {
        return;
    };
    if is_settled(ui, &dropped) {
        ui.data_mut(|data| data.remove::<Dropped>(id()));
        dropped
            .paths
            .into_iter()
            .for_each(|path| cx.send(Action::OpenPath(Some(path))));
    } else {
        ui.request_repaint_after(SETTLES);
    }
}
