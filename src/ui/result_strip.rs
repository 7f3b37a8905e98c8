//! The result first: what is sent now, the plain choice and the cheapest that says the same, above the panes.

use std::sync::Arc;

use egui::{Popup, PopupCloseBehavior, Rect, Response, Ui};

use super::fix::fix_menu;
use super::strip::{Sender, buttons_ui, cells_ui, height_here, single_cell_ui, steps, words};
use super::theme;
use super::view_as;
use super::widgets::{self, Button};
use super::{Cx, call_bar, compare, panes};
use crate::state::{Action, ExportAction, PaneView, QueryState, Screen, ViewAction};
use loupe_analysis::fixture::export::ExportChoice;
use loupe_analysis::queries::{HostsQuery, Repair, RepairQuery, RowQuery};
use loupe_analysis::summary::{CountedRow, ModelReads, Strip, strip};
use loupe_core::format::FORMATS;
use loupe_core::format::claim::Claim;

/// How high it is in this window; `None` where no result is shown.
pub fn height(ui: &Ui, cx: &Cx<'_>) -> Option<f32> {
    let has_answer = cx.state.capture().is_some() || cx.state.running.is_some();
    has_answer.then(|| height_here(ui))
}

/// Every format as far as it is counted; asks for what is not.
pub fn rows<'a>(cx: &Cx<'a>) -> Vec<CountedRow<'a>> {
    let row = |format: &&'static dyn loupe_core::format::Format| match cx.ask(RowQuery(format.id()))
    {
        QueryState::Ready(row) if !row.is_available() => Some(CountedRow {
            row,
            count: None,
            why: None,
        }),
        QueryState::Ready(row) => Some(CountedRow {
            row,
            count: Some(cx.count(row)?.ok()?),
            why: None,
        }),
        QueryState::Failed(_)
        | QueryState::Working { .. }
        | QueryState::NeedsConfirmation { .. } => None,
    };
    FORMATS.iter().filter_map(row).collect()
}

pub fn answer_strip_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let rect = ui.max_rect();
    widgets::line_below(ui, rect);
    if let Some(running) = &cx.state.running {
        return single_cell_ui(ui, rect, |ui| {
            widgets::waiting(
                ui,
                &format!("Waiting for {}", running.tool),
                running.since,
                cx,
            );
            let progress = call_bar::running_words(cx, running);
            words(
                ui,
                &format!(
                    "gives up at {} · {progress}",
                    widgets::seconds(running.limit)
                ),
                t.weak,
            );
        });
    }
    let reads = cx.model_reads();
    let Some((strip, repair)) = reads.and_then(|reads| repaired(cx, reads)) else {
        return single_cell_ui(ui, rect, |ui| {
            match cx.state.view.hosts.view_as.map(|_| cx.ask(HostsQuery)) {
                Some(QueryState::NeedsConfirmation { bytes }) => widgets::held_ui(ui, cx, bytes),
                _ => drop(widgets::waiting(
                    ui,
                    "Counting tokens",
                    cx.state.query_results.since().unwrap_or(cx.state.now),
                    cx,
                )),
            }
        });
    };
    let sender = reads
        .and_then(ModelReads::host)
        .map(|host| host.row.dropped_text());
    let choose = |button: &Response| view_as::view_as_menu(button, cx);
    let (clicked, rest) = cells_ui(
        ui,
        &strip,
        rect,
        &Sender {
            words: sender,
            choose: &choose,
        },
        |button, cell| {
            if let Some(repair) = repair {
                fix_menu(button, cx, cell, repair);
            }
        },
    );
    if let Some(at) = clicked {
        cx.send(ViewAction::SetPane {
            pane: 1,
            shows: shown_by(cx, &strip, at),
        });
    }
    match (&strip.note, cx.held().filter(|_| rest.width() >= 200.0)) {
        (None, Some(bytes)) => single_cell_ui(ui, rest, |ui| widgets::held_ui(ui, cx, bytes)),
        (Some(note), _) => note_ui(ui, cx, rest, note, !strip.cells.is_empty()),
        (None, None) => buttons_ui(ui, cx, &strip, rest, &copy_picture()),
    }
}

/// The strip as far as it is counted, with the cell of the repair.
fn repaired<'a>(cx: &Cx<'a>, reads: ModelReads<'_>) -> Option<(Strip, Option<&'a Arc<Repair>>)> {
    let tokenizer = &cx.state.settings.tokenizer;
    let strip = strip(&rows(cx), reads, tokenizer)?;
    let may_gain = strip
        .winner()
        .is_some_and(|winner| winner.claim == Claim::ProvedWithExtra);
    let repair = match may_gain {
        true => cx.ready(RepairQuery).and_then(Option::as_ref),
        false => None,
    };
    let strip = strip.with_repair(repair.map(AsRef::as_ref), reads, tokenizer);
    Some((strip, repair))
}

/// What a cell opens in the middle pane.
fn shown_by(cx: &Cx<'_>, strip: &Strip, at: usize) -> PaneView {
    let host = cx
        .state
        .view
        .hosts
        .view_as
        .filter(|_| at == 0 && strip.sent_by.is_some());
    host.map_or(PaneView::Text(strip.cells[at].format), PaneView::Host)
}

/// The room of *Read as…*.
const READ_AS: f32 = 116.0;

/// There is nothing to compare with: what can be done about it.
fn note_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, note: &str, has_text: bool) {
    let t = theme::of(ui);
    single_cell_ui(ui, rect, |ui| {
        // The button stays in sight.
        let button = if has_text { READ_AS } else { 0.0 };
        ui.scope(|ui| {
            ui.set_max_width((ui.available_width() - button).max(40.0));
            words(ui, note, t.weak);
        });
        if has_text {
            let response = Button::new("Read as…")
                .menu()
                .small()
                .tip("Read the text by another reader, or by a pattern")
                .show(ui);
            Popup::menu(&response)
                .width(300.0)
                .close_behavior(PopupCloseBehavior::CloseOnClick)
                .show(|ui| {
                    panes::readers_ui(ui, cx);
                });
        }
        compare::offer_ui(ui, cx);
    });
}

/// The strip of the result shown; `None` until it is counted.
fn of_answer(cx: &Cx<'_>) -> Option<Strip> {
    let capture = cx
        .state
        .capture()
        .filter(|_| cx.state.view.screen == Screen::Answer)?;
    strip(
        &cx.state.counted_rows(&capture.id),
        cx.model_reads()?,
        &cx.state.settings.tokenizer,
    )
}

/// Shows the format of a cell in the middle pane.
pub fn open(cx: &Cx<'_>, at: usize) -> Option<Action> {
    let strip = of_answer(cx)?;
    strip.cells.get(at)?;
    Some(
        ViewAction::SetPane {
            pane: 1,
            shows: shown_by(cx, &strip, at),
        }
        .into(),
    )
}

/// Shows the steps that *Why?* asks for, where there is a result that is counted.
pub fn why(ui: &Ui, cx: &Cx<'_>) {
    of_answer(cx).iter().for_each(|strip| steps(ui, cx, strip));
}

/// Puts the picture to share into the clipboard.
pub fn copy_picture() -> Action {
    Action::ExportAs(ExportAction::Copy(ExportChoice::CARD))
}
