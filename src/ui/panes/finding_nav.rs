//! The chip in the head of a pane: how many places of findings the pane marks, and the way to the next of them.

use egui::{Id, Ui};

use super::go_to;
use crate::state::{PaneView, ViewAction};
use crate::ui::Cx;
use crate::ui::marks::{Marked, look, text_of, visible_marks};
use crate::ui::theme;
use crate::ui::widgets::{self, Button};
use loupe_analysis::finding::{FindingPlace, Severity};

/// The chip of a pane that marks something.
pub struct PlacesChip<'a> {
    pane: usize,
    shows: PaneView,
    marked: Marked<'a>,
    severity: Severity,
    count: u64,
    is_short: bool,
    pub width: f32,
}

/// How many places a pane shows, by severity, the most severe first.
fn counts(cx: &Cx<'_>, marked: Marked<'_>, shows: PaneView) -> Vec<(Severity, usize)> {
    match text_of(cx, shows) {
        Some(of) => marked
            .texts(cx, of)
            .into_iter()
            .map(|(severity, places)| (severity, places.len()))
            .collect(),
        None => marked
            .by_severity()
            .map(|(severity, marks)| (severity, marks.nodes().len() + marks.keys().len()))
            .collect(),
    }
}

impl<'a> PlacesChip<'a> {
    /// `None` where the pane marks nothing, or has no room for it.
    pub fn fitting(ui: &Ui, cx: &Cx<'a>, pane: usize, shows: PaneView, room: f32) -> Option<Self> {
        let marked = visible_marks(cx)?;
        let counts = counts(cx, marked, shows);
        let (severity, _) = *counts.iter().find(|(_, count)| *count > 0)?;
        let count = counts.iter().map(|(_, count)| *count as u64).sum();
        let chip = Self {
            pane,
            shows,
            marked,
            severity,
            count,
            is_short: false,
            width: 0.0,
        };
        let fitting = [false, true].into_iter().map(|is_short| {
            let text = widgets::text_width(ui, chip.label(is_short), theme::medium(12.0));
            (is_short, text + 44.0)
        });
        let (is_short, width) = fitting.into_iter().find(|(_, width)| *width <= room)?;
        Some(Self {
            is_short,
            width,
            ..chip
        })
    }

    fn label(&self, is_short: bool) -> String {
        if is_short {
            widgets::grouped(self.count)
        } else {
            widgets::number_text(self.count, "places")
        }
    }

    /// The places in their order in the pane.
    fn places(&self, cx: &Cx<'a>) -> Vec<FindingPlace> {
        let mut places: Vec<FindingPlace> = match text_of(cx, self.shows) {
            Some(of) => {
                let texts = self.marked.texts(cx, of);
                texts
                    .into_iter()
                    .flat_map(|(_, places)| places)
                    .cloned()
                    .map(FindingPlace::Text)
                    .collect()
            }
            None => {
                let nodes = self
                    .marked
                    .by_severity()
                    .flat_map(|(_, marks)| marks.nodes().iter().chain(marks.keys()));
                nodes.copied().map(FindingPlace::Node).collect()
            }
        };
        places.sort_by_key(|place| match place {
            FindingPlace::Text(range) => range.start,
            FindingPlace::Node(node) | FindingPlace::Key(node) | FindingPlace::Message(node) => {
                *node
            }
        });
        places
    }

    /// A click turns the pane to the place after the one it was turned to last.
    pub fn show(&self, ui: &mut Ui, cx: &Cx<'a>) {
        let (_, icon, _) = look(theme::of(ui), self.severity);
        let spoken = format!("{} of findings: show the next", self.label(false));
        let label = self.label(self.is_short);
        let button = Button::new(&label)
            .icon(icon)
            .name(&spoken)
            .key("places")
            .tip(&spoken)
            .height(22.0);
        if !button.clicked(ui) {
            return;
        }
        let id = Id::unique(("place of findings", self.pane));
        let last: Option<FindingPlace> = widgets::recall(ui, id);
        let places = self.places(cx);
        let at = last
            .and_then(|last| places.iter().position(|place| *place == last))
            .map_or(0, |at| at + 1);
        let Some(next) = places.get(at).or_else(|| places.first()) else {
            return;
        };
        widgets::remember(ui, id, next.clone());
        match next {
            FindingPlace::Text(range) => go_to(ui, self.pane, range.start),
            _ => show_places(ui, cx, std::slice::from_ref(next)),
        }
    }
}

/// Turns the panes to the first of these places.
pub fn show_places(ui: &Ui, cx: &Cx<'_>, places: &[FindingPlace]) {
    let node = |place: &FindingPlace| match place {
        FindingPlace::Node(node) | FindingPlace::Key(node) => Some(*node),
        FindingPlace::Text(_) | FindingPlace::Message(_) => None,
    };
    if let Some(node) = places.iter().find_map(node) {
        cx.send(ViewAction::SetTreeCursor(node));
    }
    if let Some(FindingPlace::Text(range)) = places
        .iter()
        .find(|place| matches!(place, FindingPlace::Text(_)))
    {
        let shows_text = |pane: &usize| {
            matches!(
                cx.state.view.shows(*pane),
                PaneView::Text("content") | PaneView::Rendered("content")
            )
        };
        (0..3)
            .filter(shows_text)
            .for_each(|pane| go_to(ui, pane, range.start));
    }
}
