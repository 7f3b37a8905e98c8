//! Which record of a comparison was gone to, so that it comes into sight.

use egui::{Id, Ui};

use crate::state::{Compare, CompareAction, CompareTab};
use crate::ui::Cx;
use crate::ui::widgets;
use loupe_analysis::queries::comparison::ComparisonPage;

fn record_id() -> Id {
    Id::unique("compare record gone to")
}

/// Goes to a section of the texts, by position.
pub fn go(ui: &Ui, cx: &Cx<'_>, section: usize) {
    widgets::remember(ui, record_id(), section);
    cx.send(CompareAction::Show(CompareTab::Records));
}

/// The section that is to be scrolled to in this frame: a record or a difference that was gone to.
pub fn requested_place(
    ui: &Ui,
    cx: &Cx<'_>,
    compare: &Compare,
    page: &ComparisonPage,
) -> Option<usize> {
    let record: Option<usize> = ui.data_mut(|data| data.remove_temp(record_id()));
    if let Some(section) = record {
        unfold(cx, compare, page, section);
        return Some(section);
    }
    let gone = Id::unique("compare gone to");
    let known: Option<(usize, u64)> = widgets::recall(ui, gone);
    let at = compare.at.filter(|at| known != Some(*at))?;
    widgets::remember(ui, gone, at);
    let section = page.losses.get(at.0)?.section;
    unfold(cx, compare, page, section);
    Some(section)
}

/// What was gone to is to be seen.
fn unfold(cx: &Cx<'_>, compare: &Compare, page: &ComparisonPage, section: usize) {
    if let Some(known) = page
        .sections
        .get(section)
        .filter(|known| compare.folded.contains(&known.name))
    {
        cx.send(CompareAction::Fold(known.name.clone()));
    }
}
