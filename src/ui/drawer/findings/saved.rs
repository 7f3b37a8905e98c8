//! What a change of the server really saved: the savings that were there in the same call before and are no more, what they
//! promised together, and what one model reads less.

use egui::{Role, Ui};

use super::{SIDE, TALL};
use crate::ui::Cx;
use crate::ui::icons;
use crate::ui::marks::query;
use crate::ui::theme;
use crate::ui::widgets::{self, ListRow};
use loupe_analysis::finding::AnswerFindings;
use loupe_analysis::queries::RowQuery;
use loupe_core::capture::CaptureId;
use loupe_core::number::{grouped, number_of};

/// The row above the findings; nothing where there was no such call before, or it promised nothing.
pub(super) fn saved_ui(ui: &mut Ui, cx: &Cx<'_>, found: &AnswerFindings) {
    let Some((title, note)) = saved(cx, found) else {
        return;
    };
    let t = theme::of(ui);
    let row = ListRow::to_read(ui, TALL);
    row.say(Role::Label, format!("{title}. {note}"));
    let (left, right) = (row.inset_left(SIDE + 24.0), row.inset_right(SIDE));
    let (above, below) = (row.line(13.0), row.line(TALL - 13.0));
    above.icon(row.inset_left(SIDE + 8.0), icons::CHECK_CIRCLE, 15.0, t.ok);
    above.text(left, right, title, theme::semibold(12.5), t.ok);
    below.text(left, right, note, theme::regular(12.0), t.weak);
    widgets::line_below(row.ui, row.rect);
}

fn saved(cx: &Cx<'_>, found: &AnswerFindings) -> Option<(String, String)> {
    let now = cx.state.capture()?;
    let at = cx
        .state
        .captures
        .iter()
        .position(|capture| capture.id == now.id)?;
    let is_same_call = |capture: &&std::sync::Arc<loupe_core::capture::Capture>| {
        capture.tool.name == now.tool.name
            && capture.arguments == now.arguments
            && capture.server.label() == now.server.label()
    };
    let before = cx.state.captures[..at].iter().rfind(is_same_call)?;
    let asked = cx.ask_of(std::slice::from_ref(&before.id), query(cx));
    let earlier = asked.ready()?;
    let encoding = cx.state.settings.encoding();
    let is_there = |rule: &str| found.findings.iter().any(|now| now.rule.id == rule);
    let gone: Vec<_> = earlier
        .findings
        .iter()
        .filter(|finding| !is_there(finding.rule.id))
        .filter_map(|finding| Some((finding, finding.saves?.get(encoding))))
        .filter(|(_, saves)| *saves > 0)
        .collect();
    let promised: u64 = gone.iter().map(|(_, saves)| saves).sum();
    // The same part of both.
    let mut parts = ["content", "structured"].into_iter();
    let (was, is) = parts
        .find_map(|format| Some((read(cx, &before.id, format)?, read(cx, &now.id, format)?)))?;
    let saved = was.checked_sub(is).filter(|saved| *saved > 0)?;
    let first = gone.first()?;
    let words = match promised == saved {
        true => format!("−{} tok, as predicted", grouped(saved)),
        false => format!(
            "{} tok fewer than before; −{} was predicted",
            grouped(saved),
            grouped(promised)
        ),
    };
    let more = match gone.len() {
        1 => String::new(),
        all => format!(" and {}", number_of(all as u64 - 1, "more findings")),
    };
    let note = format!(
        "Since the same call before, no more: {}{more}",
        first.0.message
    );
    Some((words, note))
}

/// Tokens of a part, where it is there.
fn read(cx: &Cx<'_>, capture: &CaptureId, format: &'static str) -> Option<u64> {
    let asked = cx.ask_of(std::slice::from_ref(capture), RowQuery(format));
    let row = asked.ready().filter(|row| row.is_available())?;
    Some(row.tokens.get(cx.state.settings.encoding()))
}
