//! One host in detail: its rule in words with its source, where it cuts, the exact text, what is lost, and the tool's
//! definition as its model sees it; or two hosts' texts side by side.

use egui::{Align, Layout, Rect, RichText, ScrollArea, Stroke, StrokeKind, Ui, UiBuilder, pos2, vec2};

use super::{SIDE, row};
use crate::analysis::{HostRow, HostsReport, TextOf, evidence_text};
use crate::number::grouped;
use crate::state::diff::DiffAction;
use crate::state::{Action, HostDetail, HostsAction, ViewAction};
use crate::ui::dialogs::MAX_LABEL;
use crate::ui::panes::{self, host_alone_ui, host_legend_ui};
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};

pub fn detail_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, report: &HostsReport, row: &HostRow) {
    let t = ThemeTokens::of(ui);
    let inner = rect.shrink2(vec2(SIDE, 0.0));
    let mut top = rect.top();
    ui.scope_builder(widgets::region(ui, "head").max_rect(inner), |ui| {
        ui.add_space(10.0);
        head_ui(ui, cx, report, row);
        // In a low window the text itself comes first.
        if rect.height() > 300.0 {
            let room = if rect.height() > 560.0 { 176.0 } else { 76.0 };
            ScrollArea::vertical().id_salt("rule").max_height(room).show(ui, |ui| rule_ui(ui, cx, row));
        }
        ui.add_space(6.0);
        cut_ui(ui, row);
        tabs_ui(ui, cx, row);
        top = ui.cursor().top();
    });
    ui.painter().hline(rect.x_range(), top + 0.5, Stroke::new(1.0, t.line));
    let body = rect.with_min_y(top + 1.0);
    let beside = cx.state.view.hosts.beside.and_then(|id| report.row(id));
    match (cx.state.view.hosts.detail, beside) {
        (HostDetail::Text, Some(other)) => {
            let x = body.center().x.round();
            ui.painter().vline(x, body.y_range(), Stroke::new(1.0, t.line));
            text_ui(ui, cx, body.with_max_x(x - 1.0), row, true);
            text_ui(ui, cx, body.with_min_x(x + 1.0), other, true);
        }
        (HostDetail::Text, None) => text_ui(ui, cx, body, row, false),
        (HostDetail::Lost, _) => {
            ui.scope_builder(UiBuilder::new().max_rect(body.shrink2(vec2(SIDE, 8.0))), |ui| lost_ui(ui, row));
        }
        (HostDetail::Definition, _) => {
            ui.scope_builder(UiBuilder::new().max_rect(body.shrink2(vec2(SIDE, 8.0))), |ui| definition_ui(ui, cx, row));
        }
    }
}

fn head_ui(ui: &mut Ui, cx: &Cx<'_>, report: &HostsReport, row: &HostRow) {
    let t = ThemeTokens::of(ui);
    let id = row.host.id;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::icon_button(ui, icons::OPEN_LINK, "Open this text in the middle pane").clicked() {
                cx.send(Action::Hosts(HostsAction::Open(id)));
            }
            let is_pinned = cx.state.view.hosts.pinned.contains(&id);
            let name = if is_pinned { "Pinned: let it go" } else { "Pin: this host comes first" };
            if widgets::icon_button(ui, icons::BASELINE, name).clicked() {
                cx.send(Action::Hosts(HostsAction::Pin(id)));
            }
            if Button::new("View as").small().height(theme::ICON_BUTTON).name("View the answer as this host").show(ui).clicked() {
                cx.send(Action::Hosts(HostsAction::ViewAs(Some(id))));
                cx.send(ViewAction::ShowAnswer);
            }
            if let (Some(other), Some(shown)) = (cx.state.view.hosts.beside, cx.state.view.capture.clone())
                && widgets::icon_button(ui, icons::DIFF, "Difference of the two texts, line by line").clicked()
            {
                cx.send(Action::Diff(DiffAction::Open(shown.clone(), shown)));
                cx.send(Action::Diff(DiffAction::SetTexts(TextOf::Host(id), TextOf::Host(other))));
            }
            beside_ui(ui, cx, report, row);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(egui::Label::new(RichText::new(&row.host.name).font(theme::semibold(15.0)).color(t.strong)).truncate());
            });
        });
    });
}

fn beside_ui(ui: &mut Ui, cx: &Cx<'_>, report: &HostsReport, row: &HostRow) {
    let beside = cx.state.view.hosts.beside;
    let label = beside.and_then(|id| report.row(id)).map_or("Beside…", |_| "Beside");
    let button =
        Button::new(label).icon(icons::COMPARE).menu().height(theme::ICON_BUTTON).name("Compare with another host").show(ui);
    egui::Popup::menu(&button).width(260.0).show(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        if panes::menu_row(ui, "This host alone", None, beside.is_none()).clicked() {
            cx.send(Action::Hosts(HostsAction::Beside(None)));
            ui.close();
        }
        ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
            for other in report.sorted().filter(|other| other.host.id != row.host.id) {
                if panes::menu_row(ui, &other.host.name, None, beside == Some(other.host.id)).clicked() {
                    cx.send(Action::Hosts(HostsAction::Beside(Some(other.host.id))));
                    ui.close();
                }
            }
        });
    });
}

/// The rule in words, how it is known, and where that stands.
fn rule_ui(ui: &mut Ui, cx: &Cx<'_>, row: &HostRow) {
    let t = ThemeTokens::of(ui);
    ui.spacing_mut().item_spacing.y = 4.0;
    let small = |text: &str| RichText::new(text).font(theme::small()).color(t.weak);
    ui.horizontal_top(|ui| {
        let (place, _) = ui.allocate_exact_size(vec2(96.0, 20.0), egui::Sense::hover());
        row::evidence_at(ui, pos2(place.left(), place.center().y), row.host.evidence);
        ui.add(egui::Label::new(small(&evidence_text(&row.host))).wrap());
    });
    let shows = format!("Shows {}. Limit: {}.", row.host.shows(), row.limit_text());
    ui.add(egui::Label::new(RichText::new(shows).font(theme::base()).color(t.text)).wrap());
    if let Some(media) = row.media_text() {
        ui.add(egui::Label::new(RichText::new(media).font(theme::base()).color(t.text)).wrap());
    }
    if !row.host.notes.is_empty() {
        ui.add(egui::Label::new(small(&row.host.notes)).wrap());
    }
    for note in &row.limit().notes {
        ui.add(egui::Label::new(small(&format!("Limit: {note}"))).wrap());
    }
    let client = match (row.host.identity(), &row.host.client) {
        (Some(identity), Some(rules)) => format!("Calls as {} ({}).", identity.says(), rules.source),
        _ => "How it names itself to a server was not verified; calls are made as Loupe.".to_owned(),
    };
    ui.add(egui::Label::new(small(&client)).wrap());
    for source in &row.host.source {
        match link(source) {
            Some(url) => {
                let response = Button::new(&short(source))
                    .icon(icons::LINKED)
                    .frameless()
                    .height(22.0)
                    .name(&format!("Source: {source}"))
                    .tip(source)
                    .show(ui);
                if response.clicked() {
                    cx.send(Action::OpenLink(url));
                }
            }
            None => {
                ui.add(egui::Label::new(small(source)).wrap());
            }
        }
    }
}

fn short(text: &str) -> String {
    if text.chars().count() > 44 { text.chars().take(43).chain(['…']).collect() } else { text.to_owned() }
}

/// The address that a source names: one written out, or `owner/repository:path` and `owner/repository#number` of GitHub.
fn link(source: &str) -> Option<String> {
    if let Some(at) = source.find("https://") {
        let end = source[at..].find([' ', ')', ',', ';']).map_or(source.len(), |end| at + end);
        return Some(source[at..end].to_owned());
    }
    let first = source.split([' ', ',']).next()?;
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    let at = first.find([':', '#'])?;
    let (owner, repository) = first[..at].split_once('/')?;
    if !is_name(owner) || !is_name(repository) {
        return None;
    }
    let rest = &first[at + 1..];
    Some(if first[at..].starts_with('#') {
        format!("https://github.com/{owner}/{repository}/issues/{rest}")
    } else {
        format!("https://github.com/{owner}/{repository}/blob/HEAD/{rest}")
    })
}

/// Where the limit cuts: what is kept filled, what is gone outlined.
fn cut_ui(ui: &mut Ui, row: &HostRow) {
    let t = ThemeTokens::of(ui);
    let full = row.view.full.len();
    if row.view.limit.bites.is_empty() || full == 0 {
        return;
    }
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 10.0), egui::Sense::hover());
    ui.painter().rect(rect, theme::RADIUS_BAR, t.warn_bg, Stroke::new(1.0, t.warn), StrokeKind::Inside);
    let color = if row.shares.has_structured { t.hue_structured.color } else { t.hue_text.color };
    let x = |at: usize| rect.left() + rect.width() * (at as f64 / full as f64) as f32;
    // More pieces than there are pixels say nothing.
    for kept in row.view.kept.iter().take(256) {
        ui.painter().rect_filled(
            Rect::from_x_y_ranges(x(kept.start)..=x(kept.end).max(x(kept.start) + 1.0), rect.y_range()),
            theme::RADIUS_BAR,
            color,
        );
    }
    let kept: usize = row.view.kept.iter().map(ExactSizeIterator::len).sum();
    ui.horizontal(|ui| {
        ui.label(
            RichText::new(format!("{} of {} bytes kept", grouped(kept as u64), grouped(full as u64)))
                .font(theme::small())
                .color(t.text),
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let gone = widgets::number_text(row.view.removed_bytes(), "bytes");
            ui.label(RichText::new(format!("{gone} cut")).font(theme::small()).color(t.warn));
        });
    });
}

fn tabs_ui(ui: &mut Ui, cx: &Cx<'_>, row: &HostRow) {
    let view = &cx.state.view.hosts;
    ui.horizontal(|ui| {
        let names: Vec<&str> = HostDetail::ALL.iter().map(|detail| detail.title()).collect();
        let at = HostDetail::ALL.iter().position(|detail| *detail == view.detail).unwrap_or(0);
        if let Some(chosen) = widgets::segmented(ui, "Detail", &names, at) {
            cx.send(Action::Hosts(HostsAction::Detail(HostDetail::ALL[chosen])));
        }
        if view.detail == HostDetail::Text && !row.view.limit.bites.is_empty() {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let name = if view.hides_cuts { "Show what is cut" } else { "Hide what is cut" };
                if Button::new(name).small().height(theme::ICON_BUTTON).show(ui).clicked() {
                    cx.send(Action::Hosts(HostsAction::HideCuts(!view.hides_cuts)));
                }
            });
        }
    });
    ui.add_space(4.0);
}

fn text_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, row: &HostRow, is_named: bool) {
    let t = ThemeTokens::of(ui);
    let mut body = rect;
    if is_named {
        let tokens =
            row.tokens.map_or(String::new(), |tokens| format!("{} tok", grouped(tokens.get(cx.state.settings.encoding()))));
        let right = widgets::text_right(ui, pos2(rect.right() - 12.0, rect.top() + 14.0), tokens, theme::code(), t.weak);
        widgets::text_at(
            ui,
            pos2(rect.left() + SIDE, rect.top() + 14.0),
            &row.host.name,
            theme::semibold(13.0),
            t.strong,
            right - rect.left() - 28.0,
        );
        body.min.y += 28.0;
        ui.painter().hline(rect.x_range(), body.top() - 0.5, Stroke::new(1.0, t.line));
    }
    let foot = Rect::from_min_max(pos2(rect.left(), rect.bottom() - theme::FOOTER), rect.max);
    ui.painter().hline(rect.x_range(), foot.top() - 0.5, Stroke::new(1.0, t.line));
    body.max.y = foot.top() - 1.0;
    ui.scope_builder(widgets::region(ui, ("text", row.host.id)).max_rect(body), |ui| {
        ui.set_clip_rect(body.intersect(ui.clip_rect()));
        host_alone_ui(ui, cx, row.host.id);
    });
    let place = UiBuilder::new().max_rect(foot.shrink2(vec2(12.0, 0.0))).layout(Layout::left_to_right(Align::Center));
    ui.scope_builder(place.id_salt(("legend", row.host.id)), |ui| {
        ui.set_clip_rect(foot.intersect(ui.clip_rect()));
        // Two texts beside each other have room for what can be clicked only; the marks are those of one text.
        if foot.width() >= 320.0 {
            host_legend_ui(ui);
        }
        if !row.view.limit.bites.is_empty() && !cx.state.view.hosts.hides_cuts {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if Button::new("Next cut").icon(icons::ARROW_DOWN).frameless().height(22.0).show(ui).clicked() {
                    panes::next_cut(ui, row.host.id);
                    ui.request_repaint();
                }
            });
        }
    });
}

fn lost_ui(ui: &mut Ui, row: &HostRow) {
    let t = ThemeTokens::of(ui);
    for dropped in row.dropped_lines() {
        ui.add(egui::Label::new(RichText::new(dropped).font(theme::small()).color(t.warn)).wrap());
    }
    if row.lost.is_empty() {
        let words = if row.facts.is_some() {
            "No fact of the data is missing or reworded."
        } else {
            "Nothing to compare: no data, or no text."
        };
        ui.label(RichText::new(words).font(theme::base()).color(t.weak));
        return;
    }
    ScrollArea::vertical().id_salt("lost").auto_shrink(false).show_rows(ui, 20.0, row.lost.len(), |ui, range| {
        for field in &row.lost[range] {
            ui.horizontal(|ui| {
                ui.label(RichText::new(if field.path.is_empty() { "/" } else { &field.path }).font(theme::code()).color(t.text));
                let mut words = Vec::new();
                if field.missing > 0 {
                    words.push(format!("{} of {} missing", grouped(field.missing), grouped(field.total)));
                }
                if field.reworded > 0 {
                    words.push(format!("{} reworded", grouped(field.reworded)));
                }
                ui.label(RichText::new(words.join(", ")).font(theme::small()).color(if field.missing > 0 {
                    t.warn
                } else {
                    t.weak
                }));
            });
        }
    });
}

fn definition_ui(ui: &mut Ui, cx: &Cx<'_>, row: &HostRow) {
    let t = ThemeTokens::of(ui);
    let Some(definition) = &row.definition else {
        widgets::empty_ui(ui, "The definition of this tool is not known.", None);
        return;
    };
    let yes = |known: Option<bool>| known.map(|is| if is { "shown" } else { "left out" }.to_owned());
    let tokens = row.definition_tokens.map(|tokens| {
        format!(
            "{} tokens ({}), without the provider's own frame",
            grouped(tokens.get(cx.state.settings.encoding())),
            cx.state.settings.encoding().name()
        )
    });
    let lines: [(&str, Option<String>); 11] = [
        ("Cost", tokens),
        ("Name", definition.name.clone()),
        ("", definition.name_note.clone()),
        ("Namespace", definition.namespace.clone()),
        ("Title", yes(definition.title)),
        ("Output schema", yes(definition.output_schema)),
        ("Annotations", yes(definition.annotations)),
        ("Input schema", definition.input_schema.clone()),
        ("Loading", definition.loading.clone()),
        ("Known how", definition.certainty.clone()),
        (
            "Description",
            definition.description.as_ref().map(|text| {
                let shown = &text[..text.floor_char_boundary(MAX_LABEL)];
                let more =
                    if shown.len() < text.len() { format!("… ({} bytes)", grouped(text.len() as u64)) } else { String::new() };
                format!("{}{shown}{more}", if definition.is_description_cut { "cut: " } else { "" })
            }),
        ),
    ];
    ScrollArea::vertical().id_salt("definition").auto_shrink(false).show(ui, |ui| {
        for (name, value) in lines {
            if name.is_empty() && value.is_none() {
                continue;
            }
            ui.horizontal_top(|ui| {
                ui.allocate_ui(vec2(110.0, 18.0), |ui| {
                    ui.set_width(110.0);
                    ui.label(RichText::new(name).font(theme::small()).color(t.weak));
                });
                let text = value.unwrap_or_else(|| "not verified".to_owned());
                ui.add(
                    egui::Label::new(
                        RichText::new(crate::analysis::special::Shown::of(&text).text).font(theme::code()).color(t.text),
                    )
                    .wrap(),
                );
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_become_addresses() {
        assert_eq!(link("openai/codex#42, #43").as_deref(), Some("https://github.com/openai/codex/issues/42"));
        assert_eq!(link("a/b:src/c.rs (d)").as_deref(), Some("https://github.com/a/b/blob/HEAD/src/c.rs"));
        assert_eq!(link("see https://e.org/x, y").as_deref(), Some("https://e.org/x"));
        assert_eq!(link("Release 2.1 run: read back"), None);
    }
}
