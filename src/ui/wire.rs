//! The protocol log: every message both ways and stderr next to it on one clock, the pair of what is selected, its bytes.

use egui::{ComboBox, Frame, Id, Margin, Panel, Rect, Response, Sense, TextEdit, Ui, vec2};

use super::theme;
use super::widgets::{self, Button};
use super::{Cx, code, icons, server_requests};
use crate::state::Action;
use crate::state::wire::{LEVELS, WireAction, WireLog};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_core::capture::{Direction, Line, LineKind};

const ROW: f32 = 24.0;
const SIDE: f32 = 16.0;
/// More of a message is not laid out; it is copied whole.
const SHOWN_BYTES: usize = 1 << 20;
/// Left edges of the columns: time, arrow, what, id; sizes and latency are right-aligned.
const ARROW: f32 = 80.0;
const WHAT: f32 = 106.0;
const NUMBER: f32 = 100.0;

/// What can be left out, as the buttons name it.
const KINDS: &[(LineKind, &str)] = &[
    (LineKind::Request, "Requests"),
    (LineKind::Response, "Answers"),
    (LineKind::Error, "Errors"),
    (LineKind::Notification, "Notifications"),
    (LineKind::Stderr, "stderr"),
    (LineKind::Unreadable, "Unreadable"),
];

pub fn wire_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let view = &cx.state.session().wire;
    let rest = widgets::mode_head(ui, cx, "Protocol log", |ui| {
        if Button::new("Save…")
            .icon(icons::EXPORT)
            .enabled(!view.log.is_empty())
            .tip("As JSON Lines")
            .clicked(ui)
        {
            cx.send(WireAction::Save(None));
        }
        if Button::new("Roots…")
            .icon(icons::OPEN_FILE)
            .tip("Folders that servers are told about")
            .clicked(ui)
        {
            cx.send(server_requests::roots_dialog(cx));
        }
        level_ui(ui, cx);
    });
    widgets::part(ui, "wire", rest, |ui| {
        filter_ui(ui, cx);
        if view.log.is_empty() {
            widgets::empty_ui(
                ui,
                "No messages yet. Connect to a server to see every message here.",
                None,
            );
            return;
        }
        let selected = view
            .selected
            .and_then(|number| Some((number, view.log.line(number)?)));
        if let Some((number, line)) = selected {
            let size = ui.available_size();
            let frame = Frame::new().fill(theme::of(ui).panel);
            Panel::bottom("wire detail")
                .default_size((size.y * 0.45).max(160.0))
                .size_range(120.0..=(size.y * 0.8).max(130.0))
                .resizable(true)
                .frame(frame)
                .show(ui, |ui| detail_ui(ui, cx, number, line));
        }
        rows_ui(ui, cx);
    });
}

/// The level of the server's log messages.
fn level_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let can_log = cx
        .state
        .session()
        .connection
        .server()
        .is_some_and(|server| server.declares("/logging"));
    if !cx.state.session().connection.is_connected() || !can_log {
        return;
    }
    let mut picked = None;
    let response = ComboBox::from_id_salt("log level")
        .selected_text(cx.state.session().wire.level.unwrap_or("the server’s own"))
        .width(110.0)
        .show_ui(ui, |ui| {
            for level in LEVELS {
                if ui
                    .selectable_label(cx.state.session().wire.level == Some(level), *level)
                    .clicked()
                {
                    picked = Some(*level);
                }
            }
        });
    response.response.accessible_name("Log level");
    widgets::note(ui, "Log level");
    if let Some(level) = picked {
        cx.send(WireAction::SetLevel(level));
    }
}

fn filter_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let view = &cx.state.session().wire;
    widgets::padded(ui, Margin::symmetric(16, 8), |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(8.0, 6.0);
            let mut filter = view.filter.clone();
            let field = TextEdit::singleline(&mut filter)
                .hint_text("Find in messages")
                .desired_width(220.0)
                .margin(Margin::symmetric(8, 4));
            if ui.add(field).accessible_name("Find in messages").changed() {
                cx.send(WireAction::SetFilter(filter));
            }
            for (kind, name) in KINDS {
                let mut is_shown = !view.hidden.contains(kind);
                if ui.checkbox(&mut is_shown, *name).changed() {
                    cx.send(WireAction::ToggleKind(*kind));
                }
            }
            let shown = widgets::grouped(view.shown().len() as u64);
            let mut words = format!(
                "{shown} of {} shown",
                widgets::number_text(view.log.len() as u64, "messages")
            );
            if view.log.dropped > 0 {
                words += &format!(
                    "; the {} before them were dropped (20,000 messages or 64 MiB are kept)",
                    widgets::grouped(view.log.dropped)
                );
            }
            widgets::note(ui, words);
        });
    });
}

fn rows_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let view = &cx.state.session().wire;
    ui.spacing_mut().item_spacing.y = 0.0;
    let partner = view.selected.and_then(|number| view.log.partner(number));
    widgets::scroll("wire rows")
        .stick_to_bottom(true)
        .show_rows(ui, ROW, view.shown().len(), |ui, range| {
            for at in range {
                let Some(number) = view.shown().get(at).copied() else {
                    continue;
                };
                let Some(line) = view.log.line(number) else {
                    continue;
                };
                row_ui(ui, cx, at, number, line, partner == Some(number));
            }
        });
}

/// What a message is, in words.
fn what(log: &WireLog, number: u64, line: &Line) -> String {
    let subject = log
        .subject(number)
        .map(|subject| format!(" {}", Shown::of(subject).text))
        .unwrap_or_default();
    let method = |line: &Line| format!("{}{subject}", line.method.as_deref().unwrap_or_default());
    let of = || {
        log.partner(number)
            .and_then(|partner| log.line(partner))
            .map(method)
    };
    match line.kind {
        LineKind::Request | LineKind::Notification => method(line),
        LineKind::Response => of().map_or_else(
            || "answer to nothing".into(),
            |method| format!("answer to {method}"),
        ),
        LineKind::Error => {
            of().map_or_else(|| "error".into(), |method| format!("error to {method}"))
        }
        LineKind::Stderr => {
            String::from_utf8_lossy(&line.bytes[..line.bytes.len().min(400)]).into_owned()
        }
        LineKind::Unreadable => {
            format!(
                "unreadable: {}",
                String::from_utf8_lossy(&line.bytes[..line.bytes.len().min(200)])
            )
        }
    }
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, at: usize, number: u64, line: &Line, is_partner: bool) {
    let t = theme::of(ui);
    let view = &cx.state.session().wire;
    let (rect, _) = widgets::full_width(ui, ROW, Sense::hover());
    let response = ui.interact(rect, row_id(number), Sense::click());
    let row = widgets::ListRow::at(ui, rect, response);
    let is_selected = view.selected == Some(number);
    if is_selected {
        row.fill(t.sel);
        widgets::focus_ring_inside(ui, &row.response);
    } else {
        row.ground(is_partner);
    }
    let time = format!("{:.3} s", line.at.as_secs_f64());
    let (arrow, color, direction) = match (line.direction, line.kind) {
        (Direction::Out, LineKind::Error | LineKind::Unreadable) => {
            (icons::ARROW_RIGHT, t.bad, "in")
        }
        (_, LineKind::Error | LineKind::Unreadable) => (icons::ARROW_LEFT, t.bad, "in"),
        (Direction::Out, _) => (icons::ARROW_RIGHT, t.accent, "out"),
        (Direction::In, _) => (icons::ARROW_LEFT, t.text, "in"),
        (Direction::Stderr, _) => (icons::STDIO, t.warn, "stderr"),
    };
    let what = what(&view.log, number, line);
    let id = line.id.as_ref().map_or_else(String::new, |id| {
        format!("id {}", id.chars().take(24).collect::<String>())
    });
    let size = widgets::bytes(line.bytes.len() as u64);
    let latency = view.log.latency(number).map_or_else(String::new, |took| {
        format!("{:.1} ms", took.as_secs_f64() * 1_000.0)
    });
    let status = view
        .log
        .http(number)
        .map_or_else(String::new, |http| format!("HTTP {}", http.response.status));
    let version = line.version.clone().unwrap_or_default();
    let (left, right) = (row.inset_left(SIDE), row.inset_right(SIDE));
    row.text(left, left + ARROW - 6.0, &time, theme::mono(12.0), t.weak);
    row.icon(left + ARROW + 7.0, arrow, 14.0, color);
    let all = [
        (0.0, &latency),
        (1.0, &size),
        (2.0, &status),
        (2.8, &version),
        (3.8, &id),
    ];
    let (numbers, columns) = match row.rect.width() < 800.0 {
        true => (&all[..2], 2.0),
        false => (&all[..], 5.0),
    };
    let ink = match line.kind {
        LineKind::Stderr => t.weak,
        _ => t.text,
    };
    let left = left + WHAT;
    let end = (right - columns * NUMBER).max(left + 60.0);
    row.text(left, end, what.replace('\n', " "), theme::mono(12.5), ink);
    for (column, text) in numbers {
        row.number(right - column * NUMBER, *text, theme::mono(12.0), t.weak);
    }
    let mut parts = vec![
        &*time, direction, &*what, &*id, &*version, &*status, &*size, &*latency,
    ];
    parts.retain(|part| !part.is_empty());
    row.say_entry(is_selected, parts.join(", "));
    let response = row.response;
    if response.clicked() {
        cx.send(WireAction::Select((!is_selected).then_some(number)));
        response.request_focus();
    }
    if response.has_focus() {
        step_ui(ui, cx, at, &response);
    }
}

/// What a row of messages is distinguished by: its message, so that the focus stays with it while the list moves.
fn row_id(number: u64) -> Id {
    Id::unique(("wire row", number))
}

/// Up and Down go from the row that has the keyboard to the next.
fn step_ui(ui: &Ui, cx: &Cx<'_>, at: usize, response: &Response) {
    let step = widgets::arrow_step(ui, response, ROW);
    let next = usize::try_from(at as i64 + step).ok();
    let next = next.and_then(|at| cx.state.session().wire.shown().get(at));
    if let (true, Some(next)) = (step != 0, next) {
        cx.send(WireAction::Select(Some(*next)));
        ui.memory_mut(|memory| memory.request_focus(row_id(*next)));
    }
}

fn detail_ui(ui: &mut Ui, cx: &Cx<'_>, number: u64, line: &Line) {
    let t = theme::of(ui);
    let view = &cx.state.session().wire;
    let top = Rect::from_min_size(ui.max_rect().min, vec2(ui.available_width(), theme::HEADER));
    widgets::hline(ui, top.x_range(), top.top());
    widgets::line_part(ui, "wire head", top.shrink2(vec2(SIDE, 0.0)), |ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        let exact = usize::from(view.is_exact);
        if let Some(clicked) = widgets::segmented(ui, "Message as", &["Pretty", "Exact"], exact) {
            cx.send(WireAction::SetExact(clicked == 1));
        }
        if let Some(partner) = view.log.partner(number) {
            let words = if line.kind == LineKind::Request {
                "Its answer"
            } else {
                "Its request"
            };
            if Button::new(words).icon(icons::SWAP).clicked(ui) {
                cx.send(WireAction::Select(Some(partner)));
            }
        }
        if Button::new("Copy")
            .icon(icons::COPY)
            .tip("The exact message")
            .clicked(ui)
        {
            cx.send(Action::Copy(
                String::from_utf8_lossy(&line.bytes).into_owned(),
            ));
        }
        let of = line
            .version
            .as_ref()
            .map(|version| format!(" of {version}"))
            .unwrap_or_default();
        let words = format!(
            "{}{of} · {}",
            line.kind.name(),
            widgets::number_text(line.bytes.len() as u64, "bytes")
        );
        widgets::truncated(ui, words, theme::small(), t.weak);
        widgets::from_right(ui, |ui| {
            if widgets::icon_button(ui, icons::CLOSE, "Close the message").clicked() {
                cx.send(WireAction::Select(None));
            }
        });
    });
    let body = ui
        .max_rect()
        .with_min_y(top.bottom())
        .shrink2(vec2(SIDE, 4.0));
    widgets::part(ui, "wire body", body, |ui| {
        if let Some(http) = view.log.http(number) {
            headers_ui(ui, "sent", &http.sent);
            headers_ui(
                ui,
                &format!("HTTP {}", http.response.status),
                &http.response.headers,
            );
        }
        let shown = line.bytes.slice(..line.bytes.len().min(SHOWN_BYTES));
        if shown.len() < line.bytes.len() {
            widgets::words(
                ui,
                "The first 1 MiB is shown; Copy takes all of it",
                theme::small(),
                t.warn,
            );
        }
        let height = (ui.available_height() - 24.0).max(40.0);
        if view.is_exact {
            let lines = code::exact_lines(ui, "wire exact", &shown);
            code::code_ui(ui, "wire exact", &lines, height);
        } else {
            let lines = code::lines_of(ui, "wire pretty", &shown);
            code::code_ui(ui, "wire pretty", &lines, height);
        }
    });
}

/// Headers on one line, all of them where the pointer rests; secrets are masked.
fn headers_ui(ui: &mut Ui, what: &str, headers: &[(String, String)]) {
    let t = theme::of(ui);
    let lines: Vec<_> = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let words = format!("{what} · {}", lines.join(" · "));
    widgets::truncated_with(ui, words, theme::mono(12.0), t.weak, lines.join("\n"));
}
