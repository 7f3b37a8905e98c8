//! Why a column costs less or more than the baseline: the steps between the two, or that they are two answers.

use egui::{Align, Id, Layout, Popup, PopupCloseBehavior, Rect, Response, Ui};

use super::Judged;
use crate::state::diff::DiffAction;
use crate::state::{Compare, CompareAction, CompareTab};
use crate::ui::Cx;
use crate::ui::staircase::steps_ui;
use crate::ui::theme;
use crate::ui::widgets::{self, Button};
use loupe_analysis::queries::SavingQuery;
use loupe_analysis::queries::comparison::ColumnOrigin;
use loupe_core::capture::CaptureId;

const WIDTH: f32 = 340.0;
/// Between it and the edge of the window, with its own frame.
const MARGIN: f32 = 24.0;

fn id(at: usize) -> Id {
    Id::unique(("compare why", at))
}

/// The call that a column is of.
fn capture(judged: &Judged, captures: &[CaptureId], at: usize) -> Option<CaptureId> {
    let (ColumnOrigin::Call(call) | ColumnOrigin::Derived(call)) = judged.column(at).origin;
    captures.get(call).cloned()
}

/// What the change of a column opens, below its head.
pub fn why_popup(
    change: &Response,
    head: Rect,
    cx: &Cx<'_>,
    compare: &Compare,
    judged: &Judged,
    at: usize,
) {
    // Beside its column only as far as the window needs it, so that it covers few others.
    let most = change.ctx.content_rect().right() - WIDTH - MARGIN;
    let head = head.with_min_x(head.left().min(most));
    let popup = Popup::menu(change)
        .id(id(at))
        .anchor(head)
        .layout(Layout::top_down(Align::Min));
    let popup = popup.close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    popup.show(|ui| {
        let Some((captures, ask)) = compare.query(cx.state.settings.encoding()) else {
            return;
        };
        let ends = [judged.base, Some(at)].map(|at| capture(judged, &captures, at?));
        let [Some(from), Some(to)] = ends else { return };
        let base = judged.base.unwrap_or(at);
        let (column, base) = (judged.column(at), judged.column(base));
        ui.set_width(WIDTH);
        ui.spacing_mut().item_spacing.y = 6.0;
        let words = format!("{} against {}", column.value_title(), base.value_title());
        widgets::wrapped(ui, words, theme::semibold(13.0), theme::of(ui).strong);
        if from == to {
            let asked = SavingQuery {
                from: base.format,
                to: column.format,
                encoding: ask.encoding,
            };
            let asked = cx.ask_of(std::slice::from_ref(&to), asked);
            if let Some(Some(saving)) = widgets::ready(ui, cx, "Measuring steps", asked) {
                steps_ui(ui, saving, base.format, column.format);
            }
            return;
        }
        let loss = &judged.losses[at];
        let words = match loss.detail.as_str() {
            "" => format!("Two answers of the server: {}", loss.text),
            detail => format!("Two answers of the server: {} ({detail})", loss.text),
        };
        widgets::note_wrapped(ui, words);
        if Button::new("Show the difference").small().clicked(ui) {
            cx.send(DiffAction::Open(from, to));
            ui.close();
        }
    });
}

/// Opens it at the column that wins, else at the last that is named, by key.
pub fn open(ui: &Ui, cx: &Cx<'_>, compare: &Compare, judged: &Judged) {
    let named = judged.strip.cells.iter().skip(1);
    let last = named.filter_map(|cell| cell.column).next_back();
    let winner = judged.winner.filter(|at| Some(*at) != judged.base);
    let Some(at) = winner.or(last) else { return };
    if compare.tab == Some(CompareTab::Curve) {
        cx.send(CompareAction::Show(CompareTab::Fields));
    }
    cx.send(CompareAction::Column(at));
    Popup::open_id(ui, id(at));
}
