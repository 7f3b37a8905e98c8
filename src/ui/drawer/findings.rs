//! What the rules find in the answer: the list by severity, one finding in detail, and the way to its places.

use std::fmt::Write as _;
use std::sync::Arc;

use egui::{Align, Color32, Layout, Popup, Rect, RichText, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::SIDE;
use crate::contract::finding_sentence;
use crate::finding::{AnswerFindings, Finding, FindingPlace, FindingsQuery, FoundAt, Profile, Severity, rules};
use crate::number::grouped;
use crate::quote::markdown_code;
use crate::state::{Action, DrawerTab, PaneView, QueryState, ViewAction};
use crate::ui::hosts::UNASKED;
use crate::ui::panes;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};

const ROW: f32 = 40.0;
const HEAD: f32 = 24.0;
/// Beside the list from this width of the drawer on.
const DETAIL: f32 = 432.0;
const WIDE: f32 = 820.0;
/// The room of a severity with its count.
const CHIP: f32 = 60.0;

/// The query of the findings that are shown.
pub fn query(cx: &Cx<'_>) -> FindingsQuery {
    FindingsQuery(Arc::clone(&cx.state.view.rules))
}

/// `10 · 2 errors`. Where the tab is not looked at, it waits until the panes have their answers.
pub fn count(cx: &Cx<'_>) -> Option<String> {
    let capture = cx.state.capture()?;
    let is_small = capture.response.as_ref().is_some_and(|response| response.len() <= UNASKED);
    match cx.state.answers.get(&capture.id, query(cx)) {
        Some(QueryState::Ready(found)) => {
            let errors = found.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
            let words =
                if errors == 0 { String::new() } else { format!(" · {}", widgets::number_text(errors as u64, "errors")) };
            return Some(format!("{}{words}", found.findings.len()));
        }
        None if cx.state.answers.working() > 0 || !is_small => {}
        None | Some(QueryState::Working { .. }) => {
            cx.ready(query(cx));
        }
        _ => {}
    }
    None
}

/// Colour, icon and name of a severity.
pub fn look(t: &ThemeTokens, severity: Severity) -> (Color32, &'static str, &'static str) {
    match severity {
        Severity::Error => (t.bad, icons::ERROR, "Errors"),
        Severity::Warning => (t.warn, icons::WARNING, "Warnings"),
        Severity::Info => (t.accent, icons::INFO, "Information"),
        Severity::Cost => (t.weak, icons::COST, "Cost"),
    }
}

/// The findings that are listed: all, or those of one severity.
fn listed<'a>(cx: &Cx<'_>, found: &'a AnswerFindings) -> Vec<(usize, &'a Finding)> {
    let only = cx.state.view.only_severity;
    found.findings.iter().enumerate().filter(|(_, finding)| only.is_none_or(|only| only == finding.severity)).collect()
}

pub fn tools_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let ready = cx.ready(query(cx));
    if let Some(found) = ready.filter(|found| !found.findings.is_empty())
        && widgets::icon_button(ui, icons::COPY, "Copy the findings as Markdown").clicked()
    {
        let texts: Vec<_> = listed(cx, found).into_iter().map(|(_, finding)| markdown(finding)).collect();
        cx.send(Action::Copy(texts.join("\n")));
    }
    let counts: Vec<_> =
        Severity::ALL.into_iter().map(|severity| (severity, count_of(ready, severity))).filter(|(_, count)| *count > 0).collect();
    filter_ui(ui, cx, &counts);
    // Where there is no room for them, the menu has them alone.
    if ui.available_width() >= CHIP * counts.len() as f32 {
        counts.iter().rev().for_each(|(severity, count)| severity_ui(ui, cx, *severity, *count));
    }
}

fn count_of(found: Option<&Arc<AnswerFindings>>, severity: Severity) -> usize {
    found.map_or(0, |found| found.findings.iter().filter(|finding| finding.severity == severity).count())
}

/// Which severities are listed, and the rules of other systems, each of which can be added.
fn filter_ui(ui: &mut Ui, cx: &Cx<'_>, counts: &[(Severity, usize)]) {
    let (added, only) = (&cx.state.view.rules.profiles, cx.state.view.only_severity);
    let more = added.iter().filter(|profile| !Profile::DEFAULT.contains(profile)).count() + usize::from(only.is_some());
    let label = if more == 0 { "Filter".to_owned() } else { format!("Filter +{more}") };
    let button = Button::new(&label).menu().height(theme::ICON_BUTTON).key("filter of findings").show(ui);
    Popup::menu(&button).width(420.0).show(|ui| {
        let t = ThemeTokens::of(ui);
        if ui.radio(only.is_none(), "All findings").clicked() {
            cx.send(ViewAction::OnlySeverity(None));
        }
        for (severity, count) in counts {
            if ui.radio(only == Some(*severity), format!("{} {count}", look(t, *severity).2)).clicked() {
                cx.send(ViewAction::OnlySeverity(Some(*severity)));
            }
        }
        widgets::separator(ui);
        for profile in Profile::ALL.into_iter().filter(|profile| !Profile::DEFAULT.contains(profile)) {
            let mut is_added = added.contains(&profile);
            if ui.checkbox(&mut is_added, format!("{}: {}", profile.name(), profile.about())).clicked() {
                cx.send(ViewAction::ToggleProfile(profile));
            }
        }
    });
}

fn severity_ui(ui: &mut Ui, cx: &Cx<'_>, severity: Severity, count: usize) {
    let (color, icon, title) = look(ThemeTokens::of(ui), severity);
    let is_only = cx.state.view.only_severity == Some(severity);
    let name = if is_only { format!("{title}: show all findings") } else { format!("{title}: show these {count} alone") };
    let text = RichText::new(format!("{icon} {count}")).font(theme::icon_font(14.0)).color(color);
    let response = ui.selectable_label(is_only, text).on_hover_text(&name);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_only, &name));
    if response.clicked() {
        cx.send(ViewAction::OnlySeverity((!is_only).then_some(severity)));
    }
}

pub fn findings_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let outer = ui.available_rect_before_wrap();
    ui.allocate_rect(outer, Sense::hover());
    let found = match cx.ask(query(cx)) {
        QueryState::Ready(found) => found,
        QueryState::Failed(problem) => {
            ui.scope_builder(widgets::region(ui, "findings problem").max_rect(outer.shrink(SIDE)), |ui| {
                widgets::problem_ui(ui, problem)
            });
            return;
        }
        QueryState::Working { since } => {
            ui.scope_builder(widgets::region(ui, "findings waiting").max_rect(outer.shrink(SIDE)), |ui| {
                widgets::waiting(ui, "Looking for findings", since, cx)
            });
            return;
        }
    };
    let rows = listed(cx, found);
    if rows.is_empty() {
        let words = format!("No findings in {} checks", rules().count());
        ui.scope_builder(widgets::region(ui, "no findings").max_rect(outer.shrink(SIDE)), |ui| {
            widgets::empty_ui(ui, &words, None)
        });
        return;
    }
    let is_wide = outer.width() >= WIDE;
    let list = if is_wide { outer.with_max_x(outer.right() - DETAIL) } else { outer };
    ui.scope_builder(widgets::region(ui, "findings list").max_rect(list), |ui| list_ui(ui, cx, found, &rows, !is_wide));
    if is_wide {
        let detail = outer.with_min_x(list.right());
        ui.painter().vline(detail.left() + 0.5, detail.y_range(), Stroke::new(1.0, ThemeTokens::of(ui).line));
        let selected =
            cx.state.view.finding.and_then(|at| found.findings.get(at)).or_else(|| rows.first().map(|(_, finding)| *finding));
        if let Some(finding) = selected {
            ui.scope_builder(widgets::region(ui, "finding").max_rect(detail.shrink2(vec2(SIDE, 8.0))), |ui| {
                detail_ui(ui, cx, finding)
            });
        }
    }
}

fn list_ui(ui: &mut Ui, cx: &Cx<'_>, found: &AnswerFindings, rows: &[(usize, &Finding)], with_detail: bool) {
    let t = ThemeTokens::of(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical().id_salt("findings").auto_shrink(false).show(ui, |ui| {
        let mut last = None;
        for (at, finding) in rows {
            if last != Some(finding.severity) {
                last = Some(finding.severity);
                let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEAD), Sense::hover());
                let many = rows.iter().filter(|(_, other)| other.severity == finding.severity).count();
                let title = format!("{} {many}", look(t, finding.severity).2);
                widgets::text_at(
                    ui,
                    pos2(rect.left() + SIDE, rect.center().y),
                    title,
                    theme::semibold(11.5),
                    t.weak,
                    rect.width(),
                );
            }
            let is_selected = cx.state.view.finding == Some(*at);
            if row_ui(ui, t, finding, is_selected) {
                select(ui, cx, found, *at);
            }
            if with_detail && is_selected {
                ui.indent("detail", |ui| detail_ui(ui, cx, finding));
            }
        }
    });
}

fn row_ui(ui: &mut Ui, t: &ThemeTokens, finding: &Finding, is_selected: bool) -> bool {
    let (rect, response) =
        widgets::keyed(ui, vec2(ui.available_width(), ROW), Sense::click(), &format!("{}{}", finding.rule.id, finding.message));
    if is_selected || response.hovered() {
        ui.painter().rect_filled(rect, 0.0, if is_selected { t.accent_bg } else { t.hover });
    }
    if is_selected {
        response.scroll_to_me(None);
    }
    let (color, icon, _) = look(t, finding.severity);
    widgets::glyph_at(ui, pos2(rect.left() + SIDE + 8.0, rect.top() + 13.0), icon, theme::icon_font(15.0), color);
    let right = rect.right() - SIDE;
    let side = match finding.saves {
        Some(saves) => format!("−{} tok", grouped(saves.o200k_base)),
        None if finding.count > 1 => format!("{} times", grouped(finding.count)),
        None => String::new(),
    };
    let end = widgets::text_right(ui, pos2(right, rect.top() + 13.0), side, theme::mono(11.5), t.text) - 12.0;
    let left = rect.left() + SIDE + 24.0;
    let message = sentence(&finding.message);
    widgets::text_at(ui, pos2(left, rect.top() + 13.0), message, theme::regular(13.0), t.strong, end - left);
    let profiles: Vec<_> = finding.profiles.iter().map(|(profile, _)| profile.name()).collect();
    let end = widgets::text_right(ui, pos2(right, rect.top() + 29.0), profiles.join(", "), theme::regular(11.5), t.weak) - 12.0;
    widgets::text_at(ui, pos2(left, rect.top() + 29.0), finding.rule.id, theme::mono(11.5), t.weak, end - left);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, t.line));
    let spoken = format!("{}: {}, {}", finding.severity.name(), finding.message, finding.rule.id);
    response.widget_info(|| WidgetInfo::selected(Role::ListItem, true, is_selected, &spoken));
    widgets::focus_ring_inside(ui, &response);
    response.on_hover_cursor(egui::CursorIcon::PointingHand).clicked()
}

fn detail_ui(ui: &mut Ui, cx: &Cx<'_>, finding: &Finding) {
    let t = ThemeTokens::of(ui);
    let rule = finding.rule;
    let small =
        |text: String, color: Color32| egui::Label::new(RichText::new(text).font(theme::regular(12.5)).color(color)).wrap();
    ScrollArea::vertical().id_salt("finding").auto_shrink([false, true]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        ui.horizontal(|ui| {
            ui.label(RichText::new(rule.id).font(theme::mono(12.0)).color(t.weak));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if widgets::icon_button(ui, icons::COPY, "Copy the finding as Markdown").clicked() {
                    cx.send(Action::Copy(markdown(finding)));
                }
            });
        });
        ui.add(egui::Label::new(RichText::new(sentence(&finding.message)).font(theme::medium(13.0)).color(t.strong)).wrap());
        ui.add(small(rule.means.replace('`', ""), t.text));
        ui.add(small(format!("Fix: {}", rule.fix.replace('`', "")), t.text));
        let places: Vec<_> = finding.places.iter().take(6).map(place).collect();
        if !places.is_empty() {
            ui.add(small(format!("At {}", places.join(", ")), t.weak));
        }
        let is_sure = if rule.is_heuristic { "may be wrong" } else { "certain" };
        ui.add(small(format!("{is_sure} · {}", rule.source), t.weak));
    });
}

fn place(place: &FoundAt) -> String {
    match &place.range {
        Some(range) if !range.is_empty() => format!("{} {}–{}", place.part.name(), range.start, range.end),
        _ => format!("{}{}", place.part.name(), place.path),
    }
}

/// As people read it: with a capital, and without the marks of code.
fn sentence(message: &str) -> String {
    let plain = message.replace('`', "");
    let mut chars = plain.chars();
    match chars.next() {
        Some(first) if !message.starts_with('`') => first.to_uppercase().chain(chars).collect(),
        _ => plain,
    }
}

/// One finding for a pull request or an issue.
fn markdown(finding: &Finding) -> String {
    let mut text =
        format!("- **{}** `{}` {}\n", finding.severity.name(), finding.rule.id, markdown_code(&finding_sentence(finding)));
    for at in finding.places.iter().take(3) {
        writeln!(text, "  - at {}", markdown_code(&place(at))).ok();
    }
    writeln!(text, "  - fix: {}", finding.rule.fix).ok();
    text
}

/// Selects a finding and turns the panes to its first places.
fn select(ui: &Ui, cx: &Cx<'_>, found: &AnswerFindings, at: usize) {
    cx.send(ViewAction::SelectFinding(Some(at)));
    let places = found.places.get(at).map(Vec::as_slice).unwrap_or_default();
    if let Some(FindingPlace::Node(node)) = places.iter().find(|place| matches!(place, FindingPlace::Node(_))) {
        cx.send(ViewAction::SetTreeCursor(*node));
    }
    if let Some(FindingPlace::Text(range)) = places.iter().find(|place| matches!(place, FindingPlace::Text(_))) {
        let shows_text =
            |pane: &usize| matches!(cx.state.view.shows(*pane), PaneView::Text("content") | PaneView::Rendered("content"));
        (0..3).filter(shows_text).for_each(|pane| panes::go_to(ui, pane, range.start));
    }
}

/// The next finding in the list, or the one before; the drawer turns to them.
pub fn step(ui: &Ui, cx: &Cx<'_>, is_next: bool) -> Option<Action> {
    let found = cx.ready(query(cx))?;
    let rows = listed(cx, found);
    let at = cx.state.view.finding.and_then(|at| rows.iter().position(|(own, _)| *own == at));
    let next = match (at, is_next) {
        (Some(at), true) => (at + 1) % rows.len(),
        (Some(at), false) => (at + rows.len() - 1) % rows.len(),
        (None, true) => 0,
        (None, false) => rows.len().checked_sub(1)?,
    };
    let (at, _) = rows.get(next)?;
    select(ui, cx, found, *at);
    Some(ViewAction::ShowDrawer(DrawerTab::Findings).into())
}

/// The marks of findings in a row of text: the fill, the line below.
pub fn mark_colors(t: &ThemeTokens, severity: Severity) -> (Color32, Color32) {
    match severity {
        Severity::Error => (t.bad_bg, t.bad),
        Severity::Warning => (t.warn_bg, t.warn),
        Severity::Info | Severity::Cost => (t.accent_bg, t.accent_line),
    }
}

/// Whether findings are looked at, so that panes mark their places.
pub fn marked<'a>(cx: &Cx<'a>) -> Option<&'a AnswerFindings> {
    let is_open = cx.state.view.drawer == DrawerTab::Findings && cx.state.settings.drawer_open;
    cx.ready(query(cx)).filter(|_| is_open).map(|found| &**found)
}

/// The room of a bar at the left edge of a marked row.
pub fn edge(rect: Rect) -> Rect {
    Rect::from_min_size(rect.min, vec2(2.0, rect.height()))
}
