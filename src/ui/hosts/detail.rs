//! One host in detail: what its model sees in one sentence, where it cuts, how that is known, the exact text, what is lost,
//! and the tool's definition as its model sees it.

use std::ops::Range;

use egui::{
    Align, Layout, Popup, Rect, Role, ScrollArea, Sense, Stroke, Ui, UiBuilder, pos2, vec2,
};

use super::SIDE;
use crate::state::diff::DiffAction;
use crate::state::{Action, HostDetail, HostsAction, ViewAction};
use crate::ui::code::MAX_LABEL;
use crate::ui::host_row;
use crate::ui::panes::{self, host_alone_ui, host_legend_ui};
use crate::ui::theme;
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};
use loupe_analysis::queries::{HostRemovedQuery, HostRow, HostsReport, TextOf, evidence_text};
use loupe_core::host::Evidence;
use loupe_core::number::{grouped, number_of};

/// The width of the strip next to the text that shows all of it, and the most pieces in it.
const OVERVIEW: f32 = 20.0;
const PIECES: usize = 256;

pub fn detail_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, report: &HostsReport, row: &HostRow) {
    let t = theme::of(ui);
    let inner = rect.shrink2(vec2(SIDE, 0.0));
    let mut top = rect.top();
    widgets::part(ui, "head", inner, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.add_space(8.0);
        head_ui(ui, cx, report, row);
        ui.add_space(10.0);
        widgets::wrapped(ui, row.sentence(), theme::base(), t.text);
        ui.add_space(8.0);
        cut_ui(ui, cx, row);
        evidence_ui(ui, cx, row);
        ui.add_space(2.0);
        tabs_ui(ui, cx, row);
        top = ui.cursor().top();
    });
    widgets::hline(ui, rect.x_range(), top + 0.5);
    let body = rect.with_min_y(top + 1.0);
    let padded = UiBuilder::new().max_rect(body.shrink2(vec2(SIDE, 8.0)));
    match cx.state.view.hosts.detail {
        HostDetail::Text => text_ui(ui, cx, body, row),
        HostDetail::Lost => drop(ui.scope_builder(padded, |ui| lost_ui(ui, row))),
        HostDetail::Definition => drop(ui.scope_builder(padded, |ui| definition_ui(ui, cx, row))),
    }
}

fn head_ui(ui: &mut Ui, cx: &Cx<'_>, report: &HostsReport, row: &HostRow) {
    let t = theme::of(ui);
    let id = row.host.id;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        widgets::from_right(ui, |ui| {
            if widgets::icon_button(ui, icons::OPEN_LINK, "Open this text in the middle pane")
                .clicked()
            {
                cx.send(HostsAction::Open(id));
            }
            difference_ui(ui, cx, report, row);
            let is_pinned = cx.state.view.hosts.pinned.contains(&id);
            let name = if is_pinned {
                "Unpin this host"
            } else {
                "Pin this host: it comes first"
            };
            if widgets::icon_button(ui, icons::BASELINE, name).clicked() {
                cx.send(HostsAction::Pin(id));
            }
            if Button::new("View as")
                .small()
                .height(theme::ICON_BUTTON)
                .name("View the answer as this host")
                .clicked(ui)
            {
                cx.send(HostsAction::ViewAs(Some(id)));
                cx.send(ViewAction::ShowAnswer);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 8.0;
                widgets::truncated(ui, &row.host.name, theme::semibold(14.0), t.strong);
                widgets::truncated(ui, &row.host.version, theme::mono(11.5), t.weak);
            });
        });
    });
}

/// The difference of this text to that of another lane.
fn difference_ui(ui: &mut Ui, cx: &Cx<'_>, report: &HostsReport, row: &HostRow) {
    let button = widgets::icon_button(ui, icons::DIFF, "Compare with another host's text");
    Popup::menu(&button).width(280.0).show(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for lane in report.lanes.iter().filter(|lane| {
            report
                .hosts_of(lane)
                .all(|other| other.host.id != row.host.id)
        }) {
            let Some(other) = report
                .hosts_of(lane)
                .next()
                .filter(|other| other.view.is_computable())
            else {
                continue;
            };
            let others = lane.rows.len() as u64 - 1;
            let more = if others > 0 {
                format!(" and {}", number_of(others, "others"))
            } else {
                String::new()
            };
            if widgets::menu_row(ui, &format!("{}{more}", other.host.name), None, false).clicked()
                && let Some(shown) = cx.state.view.capture.clone()
            {
                cx.send(DiffAction::Open(shown.clone(), shown));
                cx.send(DiffAction::SetTexts(
                    TextOf::Host(row.host.id),
                    TextOf::Host(other.host.id),
                ));
                ui.close();
            }
        }
    });
}

/// How the rule is known and since when; the rest of what is known of it in a menu.
fn evidence_ui(ui: &mut Ui, cx: &Cx<'_>, row: &HostRow) {
    let how = match row.host.evidence {
        Evidence::Observed => "Observed: the program was run and read back",
        Evidence::Source => "Source: read in its code, not run",
        Evidence::Documented => "Documented: as its maker says",
        Evidence::Inferred => "Inferred: from reports of users, may be wrong",
    };
    let words = format!("{how}, {}", row.host.checked);
    let button = Button::new(&words)
        .icon(host_row::evidence_icon(row.host.evidence))
        .menu()
        .frameless()
        .height(22.0)
        .name("How this is known")
        .tip("The rule in words, and its sources");
    // The icon stands where the text above begins.
    let (rect, _) = widgets::full_width(ui, 22.0, egui::Sense::hover());
    let mut left =
        ui.new_child(widgets::region(ui, "evidence").max_rect(rect.with_min_x(rect.left() - 10.0)));
    let response = button.show(&mut left);
    Popup::menu(&response).width(400.0).show(|ui| {
        ScrollArea::vertical()
            .id_salt("rule")
            .max_height(360.0)
            .show(ui, |ui| rule_ui(ui, cx, row));
    });
}

/// The rule in words, how it is known, and where that stands.
fn rule_ui(ui: &mut Ui, cx: &Cx<'_>, row: &HostRow) {
    let t = theme::of(ui);
    ui.spacing_mut().item_spacing.y = 4.0;
    let small = |text: &str| widgets::styled(text, theme::small(), t.weak);
    let shows = format!("Shows {}. Limit: {}.", row.host.shows(), row.limit_text());
    widgets::wrapped(ui, shows, theme::base(), t.text);
    ui.add(egui::Label::new(small(&evidence_text(&row.host))).wrap());
    let confirmed = cx.state.live.confirmed.iter();
    for confirmed in confirmed.filter(|confirmed| confirmed.host == row.host.id.as_str()) {
        let words = format!("By its own transcripts: {}", confirmed.words());
        widgets::wrapped(ui, words, theme::base(), t.ok);
    }
    if let Some(media) = row.media_text() {
        widgets::wrapped(ui, media, theme::base(), t.text);
    }
    if !row.host.notes.is_empty() {
        ui.add(egui::Label::new(small(&row.host.notes)).wrap());
    }
    for note in &row.limit().notes {
        ui.add(egui::Label::new(small(&format!("Limit: {note}"))).wrap());
    }
    let client = match (row.host.identity(), &row.host.client) {
        (Some(identity), Some(rules)) => {
            format!("Calls as {} ({}).", identity.says(), rules.source)
        }
        _ => {
            "How it names itself to a server was not verified; calls are made as Loupe.".to_owned()
        }
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
    if text.chars().count() > 44 {
        text.chars().take(43).chain(['…']).collect()
    } else {
        text.to_owned()
    }
}

/// The address that a source names: one written out, or `owner/repository:path` and `owner/repository#number` of GitHub.
fn link(source: &str) -> Option<String> {
    if let Some(at) = source.find("https://") {
        let end = source[at..]
            .find([' ', ')', ',', ';'])
            .map_or(source.len(), |end| at + end);
        return Some(source[at..end].to_owned());
    }
    let first = source.split([' ', ',']).next()?;
    let is_name = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
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

/// Where the limit cuts: what is shown filled, what is gone hatched.
fn cut_ui(ui: &mut Ui, cx: &Cx<'_>, row: &HostRow) {
    let t = theme::of(ui);
    let full = row.view.full.len();
    if row.view.limit.bites.is_empty() || full == 0 {
        return;
    }
    let (rect, _) = widgets::full_width(ui, 10.0, egui::Sense::hover());
    let color = if row.shares.has_structured {
        t.hue_structured.color
    } else {
        t.hue_text.color
    };
    ui.painter().rect_filled(rect, theme::RADIUS_BAR, color);
    let x = |at: usize| rect.left() + rect.width() * (at as f64 / full as f64) as f32;
    // More pieces than there are pixels say nothing.
    for gone in row.view.removed.iter().take(PIECES) {
        let place = Rect::from_x_y_ranges(
            x(gone.start)..=x(gone.end).max(x(gone.start) + 1.0),
            rect.y_range(),
        );
        widgets::boxed(ui, place, 0.0, t.warn_bg, t.warn_line);
        let painter = ui
            .painter()
            .with_clip_rect(place.shrink(1.0).intersect(ui.clip_rect()));
        let mut at = place.left() - place.height();
        while at < place.right() {
            painter.line_segment(
                [
                    pos2(at, place.bottom()),
                    pos2(at + place.height(), place.top()),
                ],
                Stroke::new(1.0, t.warn_line),
            );
            at += 5.0;
        }
    }
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let tokens = row
            .tokens
            .map_or(0, |tokens| tokens.get(cx.state.settings.encoding()));
        widgets::words(
            ui,
            format!("{} kept", number_of(tokens, "tok")),
            theme::small(),
            color,
        );
        widgets::from_right(ui, |ui| {
            let records = cx
                .ready(HostRemovedQuery(row.host.id))
                .and_then(|removed| removed.records);
            let records = records.map_or_else(String::new, |(gone, all)| {
                format!(", {} of {}", grouped(gone), number_of(all, "records"))
            });
            let gone = number_of(row.view.removed_bytes(), "bytes");
            widgets::words(
                ui,
                format!("{gone} removed{records}"),
                theme::small(),
                t.warn,
            );
            ui.label(icons::icon(icons::CUT, 13.0, t.warn));
        });
    });
    ui.add_space(4.0);
}

fn tabs_ui(ui: &mut Ui, cx: &Cx<'_>, row: &HostRow) {
    let view = &cx.state.view.hosts;
    let lost: u64 = row.lost.iter().map(|field| field.missing).sum();
    let tokens = row
        .definition_tokens
        .map(|tokens| number_of(tokens.get(cx.state.settings.encoding()), "tok"));
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 20.0;
        for detail in HostDetail::ALL {
            let count = match detail {
                HostDetail::Text => None,
                HostDetail::Lost => row.has_facts().then(|| grouped(lost)),
                HostDetail::Definition => tokens.clone(),
            };
            let is_shown = view.detail == *detail;
            if widgets::tab(
                ui,
                None,
                detail.title(),
                count.as_deref(),
                is_shown,
                theme::HEADER,
            )
            .clicked()
            {
                cx.send(HostsAction::Detail(*detail));
            }
        }
    });
}

fn text_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, row: &HostRow) {
    let t = theme::of(ui);
    let foot = Rect::from_min_max(
        pos2(rect.left(), rect.bottom() - theme::FOOTER - 2.0),
        rect.max,
    );
    widgets::hline(ui, rect.x_range(), foot.top() + 0.5);
    let mut body = rect.with_max_y(foot.top());
    if !row.view.limit.bites.is_empty() {
        let strip = body.with_min_x(body.right() - OVERVIEW);
        overview_ui(ui, row, strip, cx.state.view.hosts.shows_removed);
        body.max.x = strip.left();
    }
    widgets::part(ui, ("text", row.host.id), body, |ui| {
        ui.set_clip_rect(body.intersect(ui.clip_rect()));
        host_alone_ui(ui, cx, row.host.id);
    });
    let place = UiBuilder::new()
        .max_rect(foot.shrink2(vec2(12.0, 0.0)))
        .layout(Layout::left_to_right(Align::Center));
    ui.scope_builder(place.id_salt(("legend", row.host.id)), |ui| {
        ui.set_clip_rect(foot.intersect(ui.clip_rect()));
        host_legend_ui(ui);
        widgets::from_right(ui, |ui| {
            let words = format!("{} to the model", widgets::number_text(row.bytes, "B"));
            widgets::words(ui, words, theme::regular(11.5), t.weak);
            // The first is where F8 leads.
            if row.view.removed.len() > 1
                && Button::new("Next removed")
                    .icon(icons::ARROW_DOWN)
                    .frameless()
                    .height(22.0)
                    .clicked(ui)
            {
                panes::next_cut(ui, row.host.id);
                ui.request_repaint();
            }
        });
    });
}

/// The whole text from top to bottom, what is kept of it and what is removed; a click goes there.
fn overview_ui(ui: &Ui, row: &HostRow, rect: Rect, shows_removed: bool) {
    let t = theme::of(ui);
    ui.painter().rect_filled(rect, 0.0, t.panel);
    widgets::vline(ui, rect.left() + 0.5, rect.y_range());
    let full = row.view.full.len().max(1);
    let bar = rect.shrink2(vec2(5.0, 8.0));
    let y = |at: usize| bar.top() + bar.height() * (at as f64 / full as f64) as f32;
    let place = |range: &Range<usize>| {
        Rect::from_x_y_ranges(
            bar.x_range(),
            y(range.start)..=y(range.end).max(y(range.start) + 2.0),
        )
    };
    let color = if row.shares.has_structured {
        t.hue_structured.color
    } else {
        t.hue_text.color
    };
    // More pieces than there are pixels say nothing.
    for gone in row.view.removed.iter().take(PIECES) {
        widgets::boxed(ui, place(gone), 0.0, t.warn_bg, t.warn_line);
    }
    for kept in row.view.kept.iter().take(PIECES) {
        ui.painter().rect_filled(place(kept), 0.0, color);
    }
    let response = widgets::sense(ui, rect, "overview", Sense::click());
    let spoken = format!(
        "{} of {} bytes kept",
        grouped(full as u64 - row.view.removed_bytes()),
        grouped(full as u64)
    );
    widgets::say(&response, Role::Button, &spoken);
    widgets::focus_ring_inside(ui, &response);
    if let Some(pos) = response
        .interact_pointer_pos()
        .filter(|_| response.clicked())
    {
        let share = ((pos.y - bar.top()) / bar.height()).clamp(0.0, 1.0);
        let at = (f64::from(share) * full as f64) as usize;
        panes::show_in_host(ui, if shows_removed { at } else { shown_at(row, at) });
        ui.request_repaint();
    }
    response.on_hover_text(format!("{spoken}. A click goes there."));
}

/// Where in the text that is left a place of the whole one stands, or stood.
fn shown_at(row: &HostRow, full: usize) -> usize {
    let spans = row
        .view
        .spans
        .iter()
        .filter_map(|span| Some((span.full()?, span.range())));
    let before = spans.take_while(|(from, _)| *from <= full).last();
    before.map_or(0, |(from, range)| {
        (range.start + (full - from)).min(range.end)
    })
}

fn lost_ui(ui: &mut Ui, row: &HostRow) {
    let t = theme::of(ui);
    for dropped in row.dropped_lines() {
        widgets::wrapped(ui, dropped, theme::small(), t.warn);
    }
    if row.lost.is_empty() {
        let words = if row.facts.is_some() {
            "No fact of the data is missing."
        } else {
            "Nothing to compare: no data, or no text."
        };
        widgets::words(ui, words, theme::base(), t.weak);
        return;
    }
    widgets::scroll("lost").show_rows(ui, 20.0, row.lost.len(), |ui, range| {
        for field in &row.lost[range] {
            ui.horizontal(|ui| {
                widgets::words(
                    ui,
                    if field.path.is_empty() {
                        "/"
                    } else {
                        &field.path
                    },
                    theme::code(),
                    t.text,
                );
                let mut words = Vec::new();
                if field.missing > 0 {
                    words.push(format!(
                        "{} of {} missing",
                        grouped(field.missing),
                        grouped(field.total)
                    ));
                }
                widgets::words(
                    ui,
                    words.join(", "),
                    theme::small(),
                    if field.missing > 0 { t.warn } else { t.weak },
                );
            });
        }
    });
}

fn definition_ui(ui: &mut Ui, cx: &Cx<'_>, row: &HostRow) {
    let t = theme::of(ui);
    let Some(definition) = &row.definition else {
        widgets::empty_ui(ui, "The definition of this tool is not known.", None);
        return;
    };
    let yes =
        |known: Option<bool>| known.map(|is| if is { "shown" } else { "left out" }.to_owned());
    let tokens = row.definition_tokens.map(|tokens| {
        format!(
            "{} tokens ({}), without the provider's own wrapping",
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
        ("Evidence", definition.certainty.clone()),
        (
            "Description",
            definition.description.as_ref().map(|text| {
                let shown = &text[..text.floor_char_boundary(MAX_LABEL)];
                let more = if shown.len() < text.len() {
                    format!("… ({} bytes)", grouped(text.len() as u64))
                } else {
                    String::new()
                };
                format!(
                    "{}{shown}{more}",
                    if definition.is_description_cut {
                        "cut: "
                    } else {
                        ""
                    }
                )
            }),
        ),
    ];
    widgets::scroll("definition").show(ui, |ui| {
        for (name, value) in lines {
            if name.is_empty() && value.is_none() {
                continue;
            }
            ui.horizontal_top(|ui| {
                ui.allocate_ui(vec2(110.0, 18.0), |ui| {
                    ui.set_width(110.0);
                    widgets::note(ui, name);
                });
                let text = value.unwrap_or_else(|| "not verified".to_owned());
                widgets::wrapped(
                    ui,
                    loupe_analysis::queries::invisible_chars::Shown::of(&text).text,
                    theme::code(),
                    t.text,
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
        assert_eq!(
            link("openai/codex#42, #43").as_deref(),
            Some("https://github.com/openai/codex/issues/42")
        );
        assert_eq!(
            link("a/b:src/c.rs (d)").as_deref(),
            Some("https://github.com/a/b/blob/HEAD/src/c.rs")
        );
        assert_eq!(
            link("see https://e.org/x, y").as_deref(),
            Some("https://e.org/x")
        );
        assert_eq!(link("Release 2.1 run: read back"), None);
    }
}
