//! What the rules find in the result: the list by severity, and the way to the places of a finding.

mod detail;
mod filters;
mod groups;
mod saved;
mod silence;

use std::sync::Arc;

use egui::text::LayoutJob;
use egui::{Color32, Id, Role, Sense, Ui, pos2, vec2};

use super::SIDE;
use crate::state::{Action, DrawerTab, FindingsAction, QueryState, ViewAction};
use crate::ui::hosts::UNASKED;
use crate::ui::marks::{Marked, edge, look, query, text_of};
use crate::ui::panes;
use crate::ui::theme;
use crate::ui::widgets::{self, ListRow};
use crate::ui::{Cx, drawer, icons};
use loupe_analysis::finding::{
    AnswerFindings, Contradiction, Finding, FindingPlace, MarkedText, Severity, rules,
};
use loupe_core::number::grouped;

use groups::{FieldGroup, ListedRow};

pub use filters::tools_ui;
pub use silence::silence_ui;

const ROW: f32 = 28.0;
/// Of two lines.
const TALL: f32 = 40.0;
const HEAD: f32 = 24.0;
/// A second line of a message.
const MORE: f32 = 16.0;
/// How far the findings of a group are set in.
const INDENT: f32 = 16.0;
/// Beside the list from this width of the drawer on.
const DETAIL: f32 = 432.0;
const WIDE: f32 = 820.0;

/// The findings, where they are known. Where nobody looks at them, they wait until the panes have their answers.
fn known<'a>(cx: &Cx<'a>) -> Option<&'a Arc<AnswerFindings>> {
    let capture = cx.state.capture()?;
    let is_small = capture
        .response
        .as_ref()
        .is_some_and(|response| response.len() <= UNASKED);
    match cx.state.query_results.get(&capture.id, query(cx)) {
        Some(QueryState::Ready(found)) => return Some(found),
        None if cx.state.query_results.working() > 0 || !is_small => {}
        None | Some(QueryState::Working { .. }) => {
            cx.ready(query(cx));
        }
        _ => {}
    }
    None
}

/// How many there are.
pub fn total(cx: &Cx<'_>) -> Option<usize> {
    known(cx).map(|found| found.findings.len())
}

/// `10 · 2 errors`.
pub fn count(cx: &Cx<'_>) -> Option<String> {
    let found = known(cx)?;
    let errors = found
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .count();
    let words = if errors == 0 {
        String::new()
    } else {
        format!(" · {}", widgets::number_text(errors as u64, "errors"))
    };
    Some(format!("{}{words}", found.findings.len()))
}

/// The findings that are listed, by what the filters leave.
fn list_findings<'a>(cx: &Cx<'_>, found: &'a AnswerFindings) -> Vec<(usize, &'a Finding)> {
    let view = &cx.state.view.findings;
    let words = view.words.to_lowercase();
    let is_listed = |finding: &Finding| {
        view.severity.is_none_or(|only| only == finding.severity)
            && view.area.is_none_or(|area| finding.area() == area)
            && (words.is_empty()
                || finding.message.to_lowercase().contains(&words)
                || finding.rule.id.contains(&words))
    };
    found
        .findings
        .iter()
        .enumerate()
        .filter(|(_, finding)| is_listed(finding))
        .collect()
}

pub fn findings_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let mut outer = ui.available_rect_before_wrap();
    ui.allocate_rect(outer, Sense::hover());
    let asked = cx.ask(query(cx));
    let QueryState::Ready(found) = asked else {
        widgets::part(ui, "no findings yet", outer.shrink(SIDE), |ui| {
            widgets::ready(ui, cx, "Looking for findings", asked);
        });
        return;
    };
    if drawer::is_large(cx) && !filters::is_low(ui) {
        outer.min.y = filters::bar_ui(ui, cx, outer, found);
    }
    let rows = list_findings(cx, found);
    if rows.is_empty() && found.contradictions.is_empty() && silenced_rules(cx).next().is_none() {
        let words = match found.findings.len() {
            0 => format!("No findings in {} checks", rules().count()),
            all => format!(
                "None of {} is listed: the filters leave them out",
                widgets::number_text(all as u64, "findings")
            ),
        };
        widgets::part(ui, "no findings", outer.shrink(SIDE), |ui| {
            widgets::empty_ui(ui, &words, None)
        });
        return;
    }
    let is_wide = outer.width() >= WIDE;
    let detail = if drawer::is_large(cx) {
        outer.width() * 0.55
    } else {
        DETAIL
    };
    let list = if is_wide {
        outer.with_max_x(outer.right() - detail)
    } else {
        outer
    };
    widgets::part(ui, "findings list", list, |ui| {
        list_ui(ui, cx, found, &rows, !is_wide)
    });
    if is_wide {
        let beside = outer.with_min_x(list.right());
        widgets::vline(ui, beside.left() + 0.5, beside.y_range());
        let chosen = cx
            .state
            .view
            .findings
            .selected
            .and_then(|at| Some((at, found.findings.get(at)?)));
        if let Some((at, finding)) = chosen.or_else(|| rows.first().copied()) {
            widgets::part(ui, "finding", beside.shrink2(vec2(SIDE, 8.0)), |ui| {
                detail::detail_ui(ui, cx, found, at, finding)
            });
        }
    }
}

/// The words of a head: its title, how many rows follow, and what they count by.
fn head_words(row: &ListRow<'_>, title: &str, count: usize, note: &str) {
    let t = theme::of(row.ui);
    let right = row.rect.right();
    let left = row.inset_left(SIDE + 24.0);
    let end = row.text(left, right, title, theme::semibold(12.0), t.text) + 8.0;
    row.text(
        end,
        end + 60.0,
        count.to_string(),
        theme::mono(11.0),
        t.weak,
    );
    row.number(row.inset_right(SIDE), note, theme::regular(11.5), t.weak);
}

/// The head of rows that are always shown.
fn plain_head(ui: &mut Ui, title: &str, count: usize, note: &str) {
    let row = ListRow::to_read(ui, HEAD);
    row.fill(theme::of(row.ui).card);
    head_words(&row, title, count, note);
}

/// The head of a group, which folds it; whether it is unfolded.
fn head_ui(ui: &mut Ui, cx: &Cx<'_>, severity: Severity, count: usize) -> bool {
    let t = theme::of(ui);
    let is_folded = cx.state.view.findings.folded.contains(&severity);
    let title = look(t, severity).2;
    let row = ListRow::keyed(ui, HEAD, title);
    let (icon, state) = match is_folded {
        true => (icons::RIGHT, "folded"),
        false => (icons::DOWN, "unfolded"),
    };
    row.say(Role::Button, format!("{title} {count}, {state}"));
    // What is scrolled out of the list is nowhere else in the window.
    let clip = row.ui.clip_rect().y_range();
    let (x0, x1) = (row.rect.left().into(), row.rect.right().into());
    let (y0, y1) = (
        clip.clamp(row.rect.top()).into(),
        clip.clamp(row.rect.bottom()).into(),
    );
    row.ui.accesskit_node_builder(row.response.id, |node| {
        node.set_bounds(egui::accesskit::Rect { x0, y0, x1, y1 })
    });
    if !row.ui.is_rect_visible(row.rect) && !row.response.has_focus() {
        return !is_folded;
    }
    row.fill(t.card);
    row.ground(false);
    row.icon(row.inset_left(SIDE + 8.0), icon, 12.0, t.weak);
    let note = match severity {
        Severity::Cost => format!("measured saving, {}", cx.state.settings.encoding().name()),
        _ => String::new(),
    };
    head_words(&row, title, count, &note);
    if row.clicked() {
        cx.send(FindingsAction::Fold(severity));
    }
    !is_folded
}

fn list_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    found: &AnswerFindings,
    rows: &[(usize, &Finding)],
    with_detail: bool,
) {
    ui.spacing_mut().item_spacing.y = 0.0;
    if cx.state.view.findings.selected.is_none() {
        ui.data_mut(|data| data.remove::<String>(Id::unique("finding that was in sight")));
    }
    widgets::scroll("findings").show(ui, |ui| {
        saved::saved_ui(ui, cx, found);
        for severity in Severity::ALL {
            let many = rows
                .iter()
                .filter(|(_, finding)| finding.severity == severity)
                .count();
            if many == 0 || !head_ui(ui, cx, severity, many) {
                continue;
            }
            for row in rows_of(rows, severity) {
                let indent = match &row {
                    ListedRow::One(..) => 0.0,
                    ListedRow::Fields(group) if group_ui(ui, cx, group) => INDENT,
                    ListedRow::Fields(_) => continue,
                };
                for (at, finding) in row.findings() {
                    let is_selected = cx.state.view.findings.selected == Some(at);
                    if row_ui(ui, cx, finding, is_selected, indent) {
                        select(ui, cx, found, at);
                    }
                    if with_detail && is_selected {
                        ui.indent("detail", |ui| detail::detail_ui(ui, cx, found, at, finding));
                    }
                }
            }
        }
        if !found.contradictions.is_empty() {
            disagreements_ui(ui, &found.contradictions);
        }
        silenced_ui(ui, cx);
    });
}

/// The rows of a severity.
fn rows_of<'a>(findings: &[(usize, &'a Finding)], severity: Severity) -> Vec<ListedRow<'a>> {
    let own = findings
        .iter()
        .filter(|(_, finding)| finding.severity == severity);
    groups::rows(own.copied().collect())
}

/// The row of findings that differ in the field alone, which unfolds them; whether they are listed.
fn group_ui(ui: &mut Ui, cx: &Cx<'_>, group: &FieldGroup<'_>) -> bool {
    let t = theme::of(ui);
    let view = &cx.state.view.findings;
    let is_member = |at: usize| group.members.iter().any(|(own, _)| *own == at);
    let has_selected = view.selected.is_some_and(is_member);
    let is_unfolded = view.unfolded.contains(&group.key);
    let is_open = is_unfolded || has_selected;
    let row = ListRow::keyed(ui, TALL, &group.key);
    let (icon, state) = match is_open {
        true => (icons::DOWN, "unfolded"),
        false => (icons::RIGHT, "folded"),
    };
    let Some((_, first)) = group.members.first() else {
        return false;
    };
    let (rule, fields) = (first.rule.id, group.fields());
    let spoken = format!(
        "{}: {}, {fields}, {rule}",
        first.severity.name(),
        group.says
    );
    row.say(Role::Button, format!("{spoken}, {state}"));
    row.ground(false);
    let (color, sign, _) = look(t, first.severity);
    let (left, right) = (row.inset_left(SIDE + 24.0), row.inset_right(SIDE));
    let (above, below) = (row.line(13.0), row.line(TALL - 13.0));
    above.icon(row.inset_left(SIDE + 8.0), sign, 15.0, color);
    above.text(
        left,
        right - 20.0,
        &group.says,
        theme::regular(13.0),
        t.strong,
    );
    row.icon(right - 6.0, icon, 12.0, t.weak);
    below.text(left, right - 20.0, &fields, theme::regular(12.0), t.weak);
    widgets::line_below(row.ui, row.rect);
    let response = row.response.on_hover_text(format!("{rule}\n{fields}"));
    if response.clicked() {
        if has_selected {
            cx.send(FindingsAction::Select(None));
        }
        if is_unfolded || !is_open {
            cx.send(FindingsAction::Unfold(group.key.clone()));
        }
    }
    is_open
}

/// The rules that say nothing of the tool of the result, each with the reason.
fn silenced_rules<'a>(cx: &Cx<'a>) -> impl Iterator<Item = (&'static str, &'a str)> {
    let tool = cx.state.capture().map_or("", |capture| &capture.tool.name);
    cx.state.view.findings.rules.silenced_for(tool)
}

fn silenced_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let many = silenced_rules(cx).count();
    if many == 0 {
        return;
    }
    plain_head(ui, "Silenced for this tool", many, "by loupe.toml");
    for (rule, reason) in silenced_rules(cx) {
        let row = ListRow::to_read(ui, ROW);
        let (left, right) = (row.inset_left(SIDE + 24.0), row.inset_right(SIDE));
        row.text(left, right, reason, theme::regular(13.0), t.weak);
        row.say_below(format!("{rule} is silenced: {reason}"));
    }
}

/// Where the profiles that count advise against each other, with what each costs on this result.
fn disagreements_ui(ui: &mut Ui, contradictions: &[Contradiction]) {
    let t = theme::of(ui);
    let (many, note) = (contradictions.len(), "this answer, o200k_base");
    plain_head(ui, "Profiles disagree", many, note);
    for contradiction in contradictions {
        let row = ListRow::to_read(ui, 28.0 + 20.0 * contradiction.choices.len() as f32);
        let (left, right) = (row.inset_left(SIDE + 24.0), row.inset_right(SIDE));
        let first = row.line(13.0);
        first.icon(row.inset_left(SIDE + 8.0), icons::DIFFERS, 15.0, t.weak);
        let question = contradiction.question;
        first.text(left, right, question, theme::regular(13.0), t.strong);
        let mut spoken = question.to_owned();
        for (at, choice) in contradiction.choices.iter().enumerate() {
            let line = row.line(33.0 + 20.0 * at as f32);
            let tokens = widgets::number_text(choice.tokens.o200k_base, "tok");
            let end = line.number(right, &tokens, theme::mono(11.5), t.text) - 12.0;
            let names: Vec<_> = choice
                .profiles
                .iter()
                .map(|profile| profile.name())
                .collect();
            let words = format!("{} · {}", choice.says, names.join(", "));
            line.text(left, end, &words, theme::regular(12.0), t.weak);
            spoken.push_str(&format!("; {words}: {tokens}"));
        }
        row.say_below(spoken);
    }
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, finding: &Finding, is_selected: bool, indent: f32) -> bool {
    let t = theme::of(ui);
    let side = match finding.saves {
        Some(saves) => format!("−{} tok", grouped(saves.get(cx.state.settings.encoding()))),
        None if finding.count > 1 => format!("{} times", grouped(finding.count)),
        None => String::new(),
    };
    let beside = widgets::text_width(ui, &side, theme::mono(11.5));
    let mut job = LayoutJob::simple(
        detail::sentence(&finding.message).to_owned(),
        theme::regular(13.0),
        t.strong,
        ui.available_width() - 2.0 * SIDE - 24.0 - indent - 12.0 - beside,
    );
    job.wrap.max_rows = 2;
    let message = ui.painter().layout_job(job);
    let more = if message.rows.len() > 1 { MORE } else { 0.0 };
    let (severity, rule) = (finding.severity, finding.rule.id);
    let id = format!("{rule}{}", finding.message);
    let row = ListRow::keyed(ui, ROW + more, &id);
    let ui = row.ui;
    let spoken = format!("{}: {}, {rule}", severity.name(), finding.message);
    row.say_entry(is_selected, spoken);
    if !ui.is_rect_visible(row.rect) && !is_selected && !row.response.has_focus() {
        return false;
    }
    row.ground(is_selected);
    if is_selected {
        ui.painter().rect_filled(edge(row.rect), 0.0, t.accent);
        // Once, so that the list can be scrolled on.
        let seen = Id::unique("finding that was in sight");
        if widgets::recall::<String>(ui, seen).as_ref() != Some(&id) {
            widgets::remember(ui, seen, id);
            row.response
                .scroll_to_me_animation(None, egui::style::ScrollAnimation::none());
        }
    }
    let (color, icon, _) = look(t, severity);
    let (left, right) = (row.inset_left(SIDE + 24.0 + indent), row.inset_right(SIDE));
    let first = row.line(ROW / 2.0);
    first.icon(row.inset_left(SIDE + 8.0 + indent), icon, 15.0, color);
    first.number(right, side, theme::mono(11.5), t.text);
    let top = row.rect.top() + (ROW - message.rows[0].height()) / 2.0;
    let at = pos2(left, top.round());
    ui.painter().galley(at, message, t.strong);
    widgets::line_below(ui, row.rect);
    let names = finding.profiles.iter().map(|(profile, _)| profile.name());
    let tip = format!("{rule} · {}", names.collect::<Vec<_>>().join(", "));
    row.response.on_hover_text(tip).clicked()
}

/// Selects a finding and turns the panes to its first places.
fn select(ui: &Ui, cx: &Cx<'_>, found: &AnswerFindings, at: usize) {
    cx.send(FindingsAction::Select(Some(at)));
    panes::show_places(
        ui,
        cx,
        found.places.get(at).map(Vec::as_slice).unwrap_or_default(),
    );
    let marked = Marked {
        found,
        only: Some(at),
    };
    for pane in 0..3 {
        let of = text_of(cx, cx.state.view.shows(pane))
            .filter(|of| *of != MarkedText::Format("content"));
        let texts = of.map(|of| marked.texts(cx, of)).unwrap_or_default();
        if let Some(first) = texts.iter().find_map(|(_, places)| places.first()) {
            panes::go_to(ui, pane, first.start);
        }
    }
}

/// The next finding in the list, or the one before; the drawer turns to them where they are not seen.
pub fn step(ui: &Ui, cx: &Cx<'_>, is_next: bool) -> Option<Action> {
    let found = cx.ready(query(cx))?;
    let listed = list_findings(cx, found);
    let unfolded = |severity: &Severity| !cx.state.view.findings.folded.contains(severity);
    let rows: Vec<_> = Severity::ALL
        .into_iter()
        .filter(unfolded)
        .flat_map(|severity| rows_of(&listed, severity))
        .flat_map(|row| row.findings())
        .collect();
    let at = cx
        .state
        .view
        .findings
        .selected
        .and_then(|at| rows.iter().position(|(own, _)| *own == at));
    let next = match (at, is_next) {
        (Some(at), true) => (at + 1) % rows.len(),
        (Some(at), false) => (at + rows.len() - 1) % rows.len(),
        (None, true) => 0,
        (None, false) => rows.len().checked_sub(1)?,
    };
    let (at, _) = rows.get(next)?;
    select(ui, cx, found, *at);
    (!drawer::has_findings_beside(ui)).then(|| ViewAction::ShowDrawer(DrawerTab::Findings).into())
}

/// Small words, weak or not, that wrap.
fn small(text: impl Into<String>, color: Color32) -> egui::Label {
    egui::Label::new(widgets::styled(text, theme::regular(12.5), color)).wrap()
}
