//! Which findings are listed: by profile, area, severity and words. A menu where there is little room, a bar in the large
//! view.

use std::sync::Arc;

use egui::{Align, Layout, Popup, PopupCloseBehavior, Rect, Role, Ui, pos2, vec2};

use super::{AnswerFindings, HEAD, SIDE, detail, known, list_findings};
use crate::state::{Action, FindingsAction};
use crate::ui::marks::look;
use crate::ui::theme;
use crate::ui::widgets::{self, Button, LineEdit};
use crate::ui::{Cx, drawer, icons};
use loupe_analysis::finding::{AREAS, Finding, Profile, Severity};

/// The room of a severity with its count.
const CHIP: f32 = 46.0;
/// Height of a row of the bar.
const LINE: f32 = 34.0;
const TITLE: f32 = 64.0;
const FIELD: f32 = 220.0;
/// Below this height of the window a menu stands in for the bar.
const LOW: f32 = 820.0;

pub fn tools_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let ready = known(cx);
    if let Some(found) = ready.filter(|found| !found.findings.is_empty())
        && widgets::icon_button(ui, icons::COPY, "Copy the listed findings as Markdown").clicked()
    {
        let texts: Vec<_> = list_findings(cx, found)
            .into_iter()
            .map(|(_, finding)| detail::markdown(finding))
            .collect();
        cx.send(Action::Copy(texts.join("\n")));
    }
    let counts: Vec<_> = Severity::ALL
        .into_iter()
        .map(|severity| (severity, count_of(ready, severity)))
        .filter(|(_, count)| *count > 0)
        .collect();
    // The bar has them all.
    if !drawer::is_large(cx) || is_low(ui) {
        menu_ui(ui, cx, &counts);
    }
    // Where there is no room for them, the menu has them alone.
    if ui.available_width() >= CHIP * counts.len() as f32 {
        counts
            .iter()
            .rev()
            .for_each(|(severity, count)| severity_ui(ui, cx, *severity, *count));
    }
}

/// Whether the bar would leave too little room for the list.
pub fn is_low(ui: &Ui) -> bool {
    ui.content_rect().height() < LOW
}

fn count_of(found: Option<&Arc<AnswerFindings>>, severity: Severity) -> usize {
    found.map_or(0, |found| {
        found
            .findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    })
}

/// Which severities are listed, and the rules of other systems, each of which can be added.
fn menu_ui(ui: &mut Ui, cx: &Cx<'_>, counts: &[(Severity, usize)]) {
    let view = &cx.state.view.findings;
    let added = view
        .rules
        .profiles
        .iter()
        .filter(|profile| profile.is_style())
        .count();
    let is_filtered = [
        view.severity.is_some(),
        view.area.is_some(),
        !view.words.is_empty(),
    ];
    let more = added + is_filtered.into_iter().filter(|is_on| *is_on).count();
    let label = if more == 0 {
        String::new()
    } else {
        format!("+{more}")
    };
    let button = Button::new(&label)
        .icon(icons::FILTER)
        .frameless()
        .height(theme::ICON_BUTTON)
        .key("filter of findings");
    let button = button
        .name("Filter")
        .tip("Which findings are listed, and which profiles count")
        .show(ui);
    if let Some(found) = known(cx).filter(|_| drawer::is_large(cx)) {
        let menu = Popup::menu(&button).width(560.0);
        let menu = menu.close_behavior(PopupCloseBehavior::CloseOnClickOutside);
        menu.show(|ui| {
            ui.spacing_mut().item_spacing.y = 8.0;
            ui.horizontal_wrapped(|ui| profiles_ui(ui, cx, found, &Profile::DEFAULT));
            styles_ui(ui, cx, Some(found));
            widgets::separator(ui);
            ui.horizontal_wrapped(|ui| {
                for (area, label) in list_areas(cx, found) {
                    if ui.radio(view.area == area, label).clicked() {
                        cx.send(FindingsAction::OnlyArea(area));
                    }
                }
            });
            words_ui(ui, cx);
        });
        return;
    }
    Popup::menu(&button).width(420.0).show(|ui| {
        let t = theme::of(ui);
        if ui
            .radio(
                view.severity.is_none() && view.area.is_none(),
                "All findings",
            )
            .clicked()
        {
            cx.send(FindingsAction::OnlySeverity(None));
            cx.send(FindingsAction::OnlyArea(None));
        }
        for (severity, count) in counts {
            if ui
                .radio(
                    view.severity == Some(*severity),
                    format!("{} {count}", look(t, *severity).2),
                )
                .clicked()
            {
                cx.send(FindingsAction::OnlySeverity(Some(*severity)));
            }
        }
        widgets::separator(ui);
        styles_ui(ui, cx, known(cx).map(|found| &**found));
        if let Some(file) = &view.file {
            widgets::separator(ui);
            widgets::note(ui, format!("Rules follow {}", file.display()));
        }
    });
}

fn severity_ui(ui: &mut Ui, cx: &Cx<'_>, severity: Severity, count: usize) {
    let (color, icon, title) = look(theme::of(ui), severity);
    let is_only = cx.state.view.findings.severity == Some(severity);
    let name = if is_only {
        format!("{title}: show all findings")
    } else {
        format!("{title}: show these {count} alone")
    };
    let text = widgets::styled(format!("{icon} {count}"), theme::icon_font(14.0), color);
    let response = ui.selectable_label(is_only, text).on_hover_text(&name);
    widgets::say_selected(&response, Role::Button, is_only, &name);
    if response.clicked() {
        cx.send(FindingsAction::OnlySeverity((!is_only).then_some(severity)));
    }
}

/// The bar of the large view: profiles, areas and words. Returns where it ends.
pub fn bar_ui(ui: &mut Ui, cx: &Cx<'_>, outer: Rect, found: &AnswerFindings) -> f32 {
    let t = theme::of(ui);
    let row = |at: usize| {
        Rect::from_min_size(
            outer.min + vec2(SIDE, 6.0 + LINE * at as f32),
            vec2(outer.width() - 2.0 * SIDE, LINE),
        )
    };
    let line = |ui: &mut Ui, at: usize, name: &'static str, add: &mut dyn FnMut(&mut Ui)| {
        let rect = row(at);
        widgets::text_at(
            ui,
            pos2(rect.left(), rect.center().y),
            name,
            theme::small(),
            t.weak,
            TITLE,
        );
        let room = widgets::region(ui, ("findings by", name))
            .max_rect(rect.with_min_x(rect.left() + TITLE));
        ui.scope_builder(room.layout(Layout::left_to_right(Align::Center)), |ui| {
            add(ui)
        });
    };
    line(ui, 0, "Profiles", &mut |ui| {
        // The profiles that are the same for every server, the styles that were chosen, and a menu of those that apply.
        let chosen = &cx.state.view.findings.rules.profiles;
        let styles = Profile::styles().filter(|style| chosen.contains(style));
        let shown: Vec<_> = Profile::DEFAULT.into_iter().chain(styles).collect();
        profiles_ui(ui, cx, found, &shown);
        if !offered_styles(cx, Some(found)).is_empty() {
            let button = Button::new("Add").small().menu().name("Add a profile");
            let button = button.tip("Rules of a style that applies to this result");
            Popup::menu(&button.show(ui))
                .width(420.0)
                .show(|ui| styles_ui(ui, cx, Some(found)));
        }
    });
    line(ui, 1, "Area", &mut |ui| {
        areas_ui(ui, cx, found);
        widgets::from_right(ui, |ui| words_ui(ui, cx));
    });
    let end = row(1).bottom() + 6.0;
    widgets::hline(ui, outer.x_range(), end - 0.5);
    end.max(outer.top() + HEAD)
}

/// The styles that apply to the result or are chosen.
fn offered_styles(cx: &Cx<'_>, found: Option<&AnswerFindings>) -> Vec<Profile> {
    let is_offered = |style: &Profile| {
        found.is_some_and(|found| found.styles.contains(style))
            || cx.state.view.findings.rules.profiles.contains(style)
    };
    Profile::styles().filter(is_offered).collect()
}

/// A box for each style that is offered.
fn styles_ui(ui: &mut Ui, cx: &Cx<'_>, found: Option<&AnswerFindings>) {
    for profile in offered_styles(cx, found) {
        let mut is_added = cx.state.view.findings.rules.profiles.contains(&profile);
        let words = format!("{}: {}", profile.name(), profile.about());
        if ui.checkbox(&mut is_added, words).clicked() {
            cx.send(FindingsAction::ToggleProfile(profile));
        }
    }
}

fn profiles_ui(ui: &mut Ui, cx: &Cx<'_>, found: &AnswerFindings, profiles: &[Profile]) {
    ui.spacing_mut().item_spacing.x = 6.0;
    for profile in profiles.iter().copied() {
        let is_on = cx.state.view.findings.rules.profiles.contains(&profile);
        let has = |finding: &&Finding| finding.profiles.iter().any(|(own, _)| *own == profile);
        let label = if is_on {
            format!(
                "{} {}",
                profile.name(),
                found.findings.iter().filter(has).count()
            )
        } else {
            profile.name().to_owned()
        };
        let name = format!(
            "{}, {}",
            profile.name(),
            if is_on {
                "its rules count"
            } else {
                "its rules do not count"
            }
        );
        let mut button = Button::new(&label)
            .small()
            .key(profile.name())
            .name(&name)
            .tip(profile.about());
        button = if is_on {
            button.icon(icons::CHECK)
        } else {
            button.frameless()
        };
        if button.clicked(ui) {
            cx.send(FindingsAction::ToggleProfile(profile));
        }
    }
}

/// The areas that something was found in, after all of them, each with its label.
fn list_areas(cx: &Cx<'_>, found: &AnswerFindings) -> Vec<(Option<&'static str>, String)> {
    let count = |area: &str| {
        let own = |finding: &&Finding| finding.area() == area;
        found.findings.iter().filter(own).count()
    };
    let areas = AREAS.iter().map(|area| area.id);
    let is_there =
        |area: &&'static str| count(area) > 0 || cx.state.view.findings.area == Some(*area);
    let label = |area: &'static str| {
        let (head, tail) = area.split_at(1);
        let label = format!("{}{tail} {}", head.to_uppercase(), count(area));
        (Some(area), label)
    };
    std::iter::once((None, format!("All {}", found.findings.len())))
        .chain(areas.filter(is_there).map(label))
        .collect()
}

fn areas_ui(ui: &mut Ui, cx: &Cx<'_>, found: &AnswerFindings) {
    let areas = list_areas(cx, found);
    let labels: Vec<&str> = areas.iter().map(|(_, label)| label.as_str()).collect();
    let is_chosen =
        |(area, _): &(Option<&'static str>, String)| *area == cx.state.view.findings.area;
    let chosen = areas.iter().position(is_chosen).unwrap_or_default();
    if let Some(at) = widgets::segmented(ui, "Area", &labels, chosen) {
        cx.send(FindingsAction::OnlyArea(
            areas.get(at).and_then(|(area, _)| *area),
        ));
    }
}

fn words_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let mut words = cx.state.view.findings.words.clone();
    let field = LineEdit {
        name: "Filter findings",
        hint: "Filter findings",
        width: FIELD.min(ui.available_width()),
        is_secret: false,
    };
    if field.show(ui, "findings", &mut words) {
        cx.send(FindingsAction::Find(words));
    }
}
