//! The chip in the head of a pane: how many places of findings the pane marks, and the way to the next of them.

use egui::{Id, Ui};

use super::{Marked, go_to, look, marked};
use crate::finding::{FindingMarks, FindingPlace, Severity};
use crate::state::PaneView;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, panes};

/// The chip of a pane that marks something.
pub struct PlacesChip<'a> {
    pane: usize,
    shows: PaneView,
    format: &'static str,
    marked: Marked<'a>,
    severity: Severity,
    count: u64,
    is_short: bool,
    pub width: f32,
}

/// How many places of a kind of marks a pane shows.
fn count(marks: &FindingMarks, shows: PaneView, format: &str) -> u64 {
    let count = match shows {
        PaneView::Tree | PaneView::Table => marks.nodes().len(),
        PaneView::Text(_) | PaneView::Rendered(_) | PaneView::Hex(_) => marks.texts(format).len(),
        PaneView::Host(_) => 0,
    };
    count as u64
}

impl<'a> PlacesChip<'a> {
    /// `None` where the pane marks nothing, or has no room for it.
    pub fn fitting(ui: &Ui, cx: &Cx<'a>, pane: usize, shows: PaneView, format: &'static str, room: f32) -> Option<Self> {
        let marked = marked(cx)?;
        let counts = || marked.by_severity().map(|(severity, marks)| (severity, count(marks, shows, format)));
        let (severity, _) = counts().find(|(_, count)| *count > 0)?;
        let count = counts().map(|(_, count)| count).sum();
        let chip = Self { pane, shows, format, marked, severity, count, is_short: false, width: 0.0 };
        let fitting = [false, true].into_iter().map(|is_short| {
            let color = ThemeTokens::of(ui).text;
            let text = ui.painter().layout_no_wrap(chip.label(is_short), theme::medium(12.0), color).size().x;
            (is_short, text + 44.0)
        });
        let (is_short, width) = fitting.into_iter().find(|(_, width)| *width <= room)?;
        Some(Self { is_short, width, ..chip })
    }

    fn label(&self, is_short: bool) -> String {
        if is_short { widgets::grouped(self.count) } else { widgets::number_text(self.count, "places") }
    }

    /// The places in their order in the pane.
    fn places(&self) -> Vec<FindingPlace> {
        let mut places: Vec<FindingPlace> = Vec::new();
        for (_, marks) in self.marked.by_severity() {
            match self.shows {
                PaneView::Tree | PaneView::Table => places.extend(marks.nodes().iter().copied().map(FindingPlace::Node)),
                _ => places.extend(marks.texts(self.format).iter().cloned().map(FindingPlace::Text)),
            }
        }
        places.sort_by_key(|place| match place {
            FindingPlace::Text(range) => range.start,
            FindingPlace::Node(node) => *node,
        });
        places
    }

    /// A click turns the pane to the place after the one it was turned to last.
    pub fn show(&self, ui: &mut Ui, cx: &Cx<'_>) {
        let (_, icon, _) = look(ThemeTokens::of(ui), self.severity);
        let spoken = format!("{} of findings: show the next", self.label(false));
        let label = self.label(self.is_short);
        let button = Button::new(&label).icon(icon).name(&spoken).key("places").tip(&spoken).height(22.0);
        if !button.show(ui).clicked() {
            return;
        }
        let id = Id::unique(("place of findings", self.pane));
        let last: Option<FindingPlace> = ui.data(|data| data.get_temp(id));
        let places = self.places();
        let at = last.and_then(|last| places.iter().position(|place| *place == last)).map_or(0, |at| at + 1);
        let Some(next) = places.get(at).or_else(|| places.first()) else { return };
        ui.data_mut(|data| data.insert_temp(id, next.clone()));
        match next {
            FindingPlace::Text(range) => panes::go_to(ui, self.pane, range.start),
            FindingPlace::Node(_) => go_to(ui, cx, std::slice::from_ref(next)),
        }
    }
}
