//! "What if without this key": the strip that says which keys are struck out and what that saves. The capture is
//! untouched; the ledger shows each format's saving, and the tree strikes the keys.

use std::sync::Arc;

use egui::{Align, Layout, RichText, Ui};

use super::theme::{self, ThemeTokens};
use super::widgets::Button;
use super::{Cx, icons};
use crate::analysis::{AsMended, CountQuery, OmitKeys, RowQuery, key_of, ratio_of};
use crate::format::ledger::Row;
use crate::number;
use crate::state::{Action, QueryState, TokensAction, TriedFix};
use crate::token::Count;

/// Keys that are named in the strip; of more, how many.
const NAMED: usize = 4;

/// A format's tokens without the struck keys: the one question of the ledger and the strip. `None` until it is known,
/// and where nothing of the format is left.
pub fn count_without(cx: &Cx<'_>, row: &Row) -> Option<Count> {
    let query = CountQuery { format: row.format, tokenizer: cx.state.settings.tokenizer.clone() };
    match &cx.state.view.findings.tried {
        Some(tried) => cx.ready(AsMended(Arc::clone(&tried.mended), query)).copied(),
        None => cx.ready(OmitKeys(cx.state.view.what_if.clone(), query)).copied(),
    }
}

/// Whether the ledger shows another answer beside the one that came.
pub fn is_shown(cx: &Cx<'_>) -> bool {
    !cx.state.view.what_if.is_empty() || cx.state.view.findings.tried.is_some()
}

/// What the strip says of the fix that is tried: what is sent, and what would be.
fn tried_words(cx: &Cx<'_>, tried: &TriedFix) -> String {
    let mended = &tried.mended.parts;
    let format = match (&mended.text, &mended.structured) {
        (Some(_), Some(_)) => "both",
        (None, Some(_)) => "structured",
        (_, None) => "content",
    };
    let query = CountQuery { format, tokenizer: cx.state.settings.tokenizer.clone() };
    let after = cx.ready(AsMended(Arc::clone(&tried.mended), query)).copied();
    let before = ["both", "content", "structured"]
        .into_iter()
        .find_map(|format| cx.ready(RowQuery(format)).filter(|row| row.is_available()))
        .and_then(|row| cx.count(row)?.ok());
    let saving = match (before, after) {
        (Some(before), Some(after)) => {
            let percent = (1.0 - ratio_of(Some(after), Some(before)).unwrap_or(1.0)) * 100.0;
            format!("{} tok (−{percent:.0}% against what is sent)", change(after, before))
        }
        _ => "counting…".to_owned(),
    };
    format!("What if this were mended: {} · {saving}", tried.message.replace('`', ""))
}

/// `−412`, or `≈−450–−720`.
pub fn change(count: Count, base: Count) -> String {
    match (count.is_exact() && base.is_exact(), count == base) {
        (_, true) => "–".to_owned(),
        (true, false) => number::signed_from(base.high(), count.high()),
        (false, false) => {
            format!("≈{}…{}", number::signed_from(base.low(), count.low()), number::signed_from(base.high(), count.high()))
        }
    }
}

pub fn strip_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = ThemeTokens::of(ui);
    let struck = &cx.state.view.what_if;
    let mut names: Vec<String> = struck.iter().take(NAMED).map(|path| key_of(path)).collect();
    if struck.len() > NAMED {
        names.push(format!("{} more", struck.len() - NAMED));
    }
    let saving = match cx.ask(RowQuery("json")) {
        QueryState::Ready(row) => match (cx.count(row), count_without(cx, row)) {
            (Some(Ok(all)), Some(less)) => {
                let percent = (1.0 - ratio_of(Some(less), Some(all)).unwrap_or(1.0)) * 100.0;
                format!("{} tok (−{percent:.0}% against JSON, compact)", change(less, all))
            }
            (Some(Err(problem)), _) => problem.message(),
            _ => "counting…".to_owned(),
        },
        QueryState::Failed(problem) => problem.message(),
        QueryState::Working { .. } | QueryState::Held { .. } => "counting…".to_owned(),
    };
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.add_space(16.0);
        ui.spacing_mut().item_spacing.x = 8.0;
        ui.label(icons::icon(icons::CUT, 16.0, t.warn));
        let words = match &cx.state.view.findings.tried {
            Some(tried) => tried_words(cx, tried),
            None => format!("What if: without {} · {saving}", names.join(", ")),
        };
        let width = (ui.available_width() - 110.0).max(80.0);
        ui.scope(|ui| {
            ui.set_max_width(width);
            let label = egui::Label::new(RichText::new(&words).font(theme::base()).color(t.strong)).truncate();
            ui.add(label).on_hover_text("The ledger shows what the answer would cost so; the answer stays as it is");
        });
        if Button::new("Reset").icon(icons::UNDO).small().name("Reset what if").show(ui).clicked() {
            cx.send(Action::Tokens(TokensAction::ResetWhatIf));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_signs() {
        let exact = |to, from| change(Count::Exact(to), Count::Exact(from));
        assert_eq!([exact(5, 5), exact(1_007, 5), exact(1, 9)], ["–", "+1,002", "−8"]);
        assert_eq!(change(Count::claude(100), Count::claude(300)), "≈−220…−390");
    }
}
