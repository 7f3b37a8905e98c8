//! Why a server does not work here, or that it does: the doctor's steps as they happen, the first failure open with its
//! cause, the fix to paste, and what came. It takes the place of a connection that failed, and is a screen of its own for
//! one that works.

use egui::{Frame, Id, Label, Margin, Role, Stroke, Ui, vec2};

use super::{login, previous_connection};
use crate::state::{
    Action, ConnectAction, ConnectForm, ConnectMode, Connection, DoctorAction, Examination,
};
use crate::ui::widgets::{self, Button, ListRow};
use crate::ui::{Cx, icons, theme};
use loupe_analysis::doctor::{DoctorReport, MessageReport, StepGroup, StepReport, StepStatus};
use loupe_core::capture::{Direction, milliseconds};
use loupe_core::number::number_of;
use loupe_core::problem::{Paste, PastePlace};
use loupe_core::source::Source;

const ROW: f32 = 30.0;
const SIDE: f32 = 16.0;
/// From this width on, what came stands beside the cause.
const WIDE: f32 = 860.0;
/// Where a step's result begins, at most.
const RESULT: f32 = 340.0;

/// The doctor as a screen: for a server that is connected.
pub fn doctor_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let rest = widgets::mode_head(ui, cx, "Doctor", |_| {});
    widgets::part(ui, "doctor", rest, |ui| page_ui(ui, cx));
}

/// The report of the current connection, with what can be done about it.
pub fn page_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let Some(report) = cx.state.session().doctor() else {
        widgets::empty_ui(ui, "No server is connected.", None);
        return;
    };
    let bottom = 34.0;
    let whole = ui.available_rect_before_wrap();
    let list = whole.with_max_y(whole.bottom() - bottom);
    widgets::part(ui, "doctor list", list, |ui| {
        widgets::scroll("doctor").show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            widgets::padded(ui, Margin::symmetric(SIDE as i8, 14), |ui| {
                ui.set_width(ui.available_width());
                ui.spacing_mut().item_spacing.y = 8.0;
                head_ui(ui, cx, &report);
            });
            groups_ui(ui, cx, &report);
            ui.add_space(12.0);
        });
    });
    widgets::part(ui, "doctor foot", whole.with_min_y(list.bottom()), |ui| {
        foot_ui(ui, cx);
    });
}

fn head_ui(ui: &mut Ui, cx: &Cx<'_>, report: &DoctorReport) {
    let t = theme::of(ui);
    let connection = &cx.state.session().connection;
    let title = |ui: &mut Ui| {
        // A server's own name stays as it is.
        let words = match (report.failed(), connection) {
            (Some(_), _) => capitalised(&report.headline()),
            (None, Connection::Connecting { source, .. }) => {
                format!("Connecting to {}", source.label())
            }
            (None, _) => report.headline(),
        };
        let shown = widgets::wrapped(ui, words, theme::semibold(19.0), t.strong);
        widgets::announce(ui, shown.id);
        match connection {
            Connection::Connecting {
                phase,
                since,
                limit,
                ..
            } => {
                ui.horizontal(|ui| {
                    widgets::waiting(ui, &format!("Connecting: {phase}"), *since, cx);
                    let limit = format!("of {}", widgets::seconds(*limit));
                    widgets::words(ui, limit, theme::code(), t.weak);
                });
            }
            _ if !report.progress().is_empty() => {
                widgets::words(ui, report.progress(), theme::base(), t.text);
            }
            _ => {}
        }
    };
    if ui.available_width() >= WIDE {
        ui.horizontal_top(|ui| {
            let room = ui.available_width() - 330.0;
            ui.vertical(|ui| {
                ui.set_width(room);
                title(ui);
            });
            widgets::at_right(ui, theme::BUTTON, |ui| buttons_ui(ui, cx, report));
        });
    } else {
        title(ui);
        ui.horizontal_wrapped(|ui| buttons_ui(ui, cx, report));
    }
    if let Some(source) = connection.source() {
        source_ui(ui, source);
    }
    match connection {
        Connection::Connecting { .. } => login::log_ui(ui, cx),
        _ => login::offer_ui(ui, cx),
    }
    previous_connection::closed_ui(ui, cx);
}

/// Right to left in a wide window.
fn buttons_ui(ui: &mut Ui, cx: &Cx<'_>, report: &DoctorReport) {
    let session = cx.state.session();
    ui.spacing_mut().item_spacing.x = 8.0;
    match &session.connection {
        Connection::Connecting { .. } => {
            if Button::new("Cancel")
                .shortcut("Esc")
                .name("Cancel connecting")
                .clicked(ui)
            {
                cx.send(ConnectAction::Cancel);
            }
        }
        Connection::Connected { .. } => {
            let is_idle = session.examination != Some(Examination::Running);
            if Button::new("Check again")
                .icon(icons::REFRESH)
                .primary()
                .enabled(is_idle)
                .clicked(ui)
            {
                cx.send(Action::Doctor(DoctorAction::Examine));
            }
        }
        connection => {
            if Button::new("Try again")
                .icon(icons::REFRESH)
                .shortcut("Ctrl R")
                .primary()
                .clicked(ui)
            {
                cx.send(ConnectAction::Reconnect);
            }
            if let Some(source) = connection.source()
                && Button::new("Edit…").icon(icons::WRITES).clicked(ui)
            {
                edit(ui, cx, source, report);
            }
        }
    }
    if Button::new("Copy report")
        .icon(icons::COPY)
        .tip("As Markdown, secrets hidden")
        .clicked(ui)
    {
        cx.send(Action::Copy(report.markdown()));
    }
}

/// Opens the form with what was tried; a variable that is missing has its row already.
fn edit(ui: &Ui, cx: &Cx<'_>, source: &Source, report: &DoctorReport) {
    let mut form = ConnectForm {
        sample: cx.state.connect_form.sample.clone(),
        ..ConnectForm::new(source)
    };
    let paste = report.failed().and_then(|step| step.paste.as_ref());
    if let (ConnectMode::Command, Some(paste)) = (form.mode, paste)
        && paste.place == PastePlace::Entry
    {
        let names = variables(&paste.text);
        let first = form.environment.len();
        form.environment
            .extend(names.into_iter().map(|name| (name, String::new())));
        let value = format!("Value of variable {}", first + 1);
        ui.memory_mut(|memory| memory.request_focus(Id::unique(("connect value", value.as_str()))));
    }
    cx.send(ConnectAction::Edit(Box::new(form)));
    cx.send(ConnectAction::Show);
}

/// The names in `"env": { "A": "…" }`.
fn variables(entry: &str) -> Vec<String> {
    let names = entry.split('"').skip(1).step_by(2);
    names
        .filter(|name| {
            *name != "env" && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
        .map(str::to_owned)
        .collect()
}

fn source_ui(ui: &mut Ui, source: &Source) {
    let t = theme::of(ui);
    let (text, mut notes) = match source {
        Source::Command(command) => {
            let folder = command.cwd.as_ref();
            let folder = folder.map_or_else(
                || "in the folder Loupe was started in".to_owned(),
                |cwd| format!("in {}", cwd.display()),
            );
            let variables = match command.env.len() as u64 {
                0 => "no variables added".to_owned(),
                count => format!("{} added", number_of(count, "variables")),
            };
            (format!("$ {}", command.line()), vec![folder, variables])
        }
        source => (source.to_string(), Vec::new()),
    };
    if let Some(name) = source.name() {
        notes.push(format!("called {name}"));
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        Frame::new()
            .fill(t.card)
            .stroke(Stroke::new(1.0, t.line))
            .corner_radius(theme::RADIUS_BADGE)
            .inner_margin(Margin::symmetric(8, 4))
            .show(ui, |ui| {
                widgets::truncated(ui, text, theme::code(), t.strong);
            });
        widgets::words(ui, notes.join(" · "), theme::small(), t.weak);
    });
}

fn groups_ui(ui: &mut Ui, cx: &Cx<'_>, report: &DoctorReport) {
    let mut at = 0;
    while let Some(first) = report.steps.get(at) {
        let steps: Vec<&StepReport> = report.steps[at..]
            .iter()
            .take_while(|step| step.group == first.group)
            .collect();
        at += steps.len();
        group_head_ui(ui, first.group, &steps);
        for step in &steps {
            step_ui(ui, cx, report, step);
        }
        if first.group == StepGroup::FirstResult {
            first_call_ui(ui, cx, first);
        }
    }
}

fn group_head_ui(ui: &mut Ui, group: StepGroup, steps: &[&StepReport]) {
    let t = theme::of(ui);
    let row = ListRow::to_read(ui, 28.0);
    row.fill(t.panel);
    let right = match group {
        StepGroup::FirstResult => "only on a click".to_owned(),
        _ => DoctorReport::passed(steps),
    };
    row.text(
        row.inset_left(SIDE),
        row.inset_right(160.0),
        group.title(),
        theme::semibold(12.5),
        t.strong,
    );
    row.number(row.inset_right(SIDE), &right, theme::small(), t.weak);
    row.say(Role::Heading, format!("{}: {right}", group.title()));
}

/// How a step looks: icon, its colour, and whether the icon is filled.
fn look(status: StepStatus, t: &theme::ThemeTokens) -> (&'static str, egui::Color32, bool) {
    match status {
        StepStatus::Pass => (icons::CHECK, t.ok, false),
        StepStatus::Warn => (icons::WARNING, t.warn, true),
        StepStatus::Fail => (icons::ERROR, t.bad, true),
        StepStatus::Running => (icons::TIMEOUT, t.accent, false),
        StepStatus::NotReached => (icons::CIRCLE, t.weak, false),
    }
}

fn step_ui(ui: &mut Ui, cx: &Cx<'_>, report: &DoctorReport, step: &StepReport) {
    let t = theme::of(ui);
    let is_odd = matches!(step.status, StepStatus::Fail | StepStatus::Warn);
    let is_reached = !matches!(step.status, StepStatus::NotReached | StepStatus::Running);
    let id = Id::unique(("doctor step", step.id));
    let is_open = is_reached && widgets::recall(ui, id).unwrap_or(is_odd);
    let top = ui.cursor().top();
    let row = ListRow::keyed(ui, ROW, step.id);
    row.ground(false);
    let (icon, color, is_filled) = look(step.status, t);
    let x = row.inset_left(SIDE + 8.0);
    if is_filled {
        row.icon_fill(x, icon, 15.0, color);
    } else {
        row.icon(x, icon, 15.0, color);
    }
    let right = row.inset_right(SIDE);
    let took = match step.status {
        StepStatus::NotReached => "not reached".to_owned(),
        StepStatus::Running => "now".to_owned(),
        _ => step.took.map(milliseconds).unwrap_or_default(),
    };
    let end = row.number(right, &took, theme::mono(12.0), t.weak) - 12.0;
    let (font, name_color) = match step.status {
        StepStatus::Fail => (theme::semibold(13.0), t.strong),
        StepStatus::NotReached => (theme::base(), t.weak),
        _ => (theme::base(), t.strong),
    };
    let left = row.inset_left(SIDE + 28.0);
    let result = (row.rect.width() * 0.4).min(RESULT);
    row.text(
        left,
        row.inset_left(result).min(end),
        step.title,
        font,
        name_color,
    );
    let came = if is_odd && !is_open {
        &step.cause
    } else if step.status == StepStatus::Fail {
        // What stderr says is below.
        step.received.split(';').next().unwrap_or_default()
    } else {
        &step.received
    };
    let came_color = if step.status == StepStatus::Fail {
        t.bad
    } else {
        t.text
    };
    if is_reached && row.inset_left(result) < end {
        let from = row.inset_left(result + 8.0);
        row.text(
            from,
            end,
            came.replace('\n', " "),
            theme::code(),
            came_color,
        );
    }
    row.say(
        Role::Button,
        format!(
            "{}: {}. {}",
            step.title,
            step.status.words(),
            if step.cause.is_empty() {
                came
            } else {
                &step.cause
            }
        ),
    );
    if is_reached && row.clicked() {
        widgets::remember(ui, id, !is_open);
    }
    if is_open {
        widgets::padded(
            ui,
            Margin {
                left: (SIDE + 28.0) as i8,
                right: SIDE as i8,
                top: 2,
                bottom: 14,
            },
            |ui| {
                ui.set_width(ui.available_width());
                detail_ui(ui, cx, report, step);
            },
        );
    }
    let rect = egui::Rect::from_x_y_ranges(ui.max_rect().x_range(), top..=ui.cursor().top());
    if step.status == StepStatus::Fail {
        widgets::edge(ui, rect, t.bad);
    }
    widgets::line_below(ui, rect);
}

fn detail_ui(ui: &mut Ui, cx: &Cx<'_>, report: &DoctorReport, step: &StepReport) {
    ui.spacing_mut().item_spacing.y = 8.0;
    let has_evidence = step.status == StepStatus::Fail
        && !(report.messages.is_empty() && report.stderr.is_empty());
    if !has_evidence {
        cause_ui(ui, cx, step);
        return came_ui(ui, step);
    }
    let width = ui.available_width();
    if width < WIDE {
        cause_ui(ui, cx, step);
        return evidence_ui(ui, cx, report, step);
    }
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 24.0;
        let half = (width - 24.0) / 2.0;
        for part in [true, false] {
            ui.vertical(|ui| {
                ui.set_width(half);
                ui.spacing_mut().item_spacing = vec2(8.0, 8.0);
                if part {
                    cause_ui(ui, cx, step);
                } else {
                    evidence_ui(ui, cx, report, step);
                }
            });
        }
    });
}

fn cause_ui(ui: &mut Ui, cx: &Cx<'_>, step: &StepReport) {
    let t = theme::of(ui);
    if !step.cause.is_empty() {
        widgets::wrapped(ui, capitalised(&step.cause), theme::medium(15.0), t.strong);
    }
    if !step.fix.is_empty() {
        widgets::wrapped(ui, format!("Fix: {}", step.fix), theme::base(), t.text);
    }
    if let Some(paste) = &step.paste {
        paste_ui(ui, cx, paste);
    }
}

/// What was tried and what came, in full.
fn came_ui(ui: &mut Ui, step: &StepReport) {
    let t = theme::of(ui);
    for (name, text) in [("Tried", &step.sent), ("Came", &step.received)] {
        if !text.is_empty() && *text != step.cause {
            widgets::note(ui, name);
            ui.add(
                Label::new(widgets::styled(text.as_str(), theme::code(), t.text))
                    .wrap()
                    .selectable(true),
            );
        }
    }
}

fn code_frame(ui: &Ui) -> Frame {
    let t = theme::of(ui);
    Frame::new()
        .fill(t.card)
        .stroke(Stroke::new(1.0, t.line))
        .corner_radius(theme::RADIUS_BADGE)
        .inner_margin(Margin::symmetric(10, 6))
}

/// A line to paste, with where.
fn paste_ui(ui: &mut Ui, cx: &Cx<'_>, paste: &Paste) {
    let t = theme::of(ui);
    widgets::note(ui, capitalised(paste.place.words()));
    code_frame(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal(|ui| {
            let room = ui.available_width() - 84.0;
            ui.scope(|ui| {
                ui.set_max_width(room);
                ui.add(
                    Label::new(widgets::styled(&paste.text, theme::code(), t.strong))
                        .wrap()
                        .selectable(true),
                );
            });
            widgets::at_right(ui, theme::ICON_BUTTON, |ui| {
                if Button::new("Copy")
                    .icon(icons::COPY)
                    .name("Copy the line")
                    .small()
                    .clicked(ui)
                {
                    cx.send(Action::Copy(paste.text.clone()));
                }
            });
        });
    });
    if paste.place == PastePlace::Entry {
        let words =
            "In Loupe, Edit… adds the variable. Its value stays out of captures and reports";
        widgets::note_wrapped(ui, words);
    }
}

/// What went over the wire and to stderr before it failed.
fn evidence_ui(ui: &mut Ui, cx: &Cx<'_>, report: &DoctorReport, step: &StepReport) {
    let t = theme::of(ui);
    if !report.messages.is_empty() {
        widgets::note(ui, "Sent and received");
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for message in &report.messages {
                message_ui(ui, message);
            }
        });
    }
    if report.stderr.is_empty() {
        return;
    }
    ui.horizontal(|ui| {
        widgets::note(ui, "Last lines on stderr");
        widgets::at_right(ui, theme::ICON_BUTTON, |ui| {
            let copy = Button::new("Copy").icon(icons::COPY).name("Copy stderr");
            if copy.small().frameless().clicked(ui) {
                cx.send(Action::Copy(report.stderr.join("\n")));
            }
        });
    });
    code_frame(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 2.0;
        // The line that the cause was read from.
        let read = report
            .stderr
            .iter()
            .rposition(|line| !line.trim().is_empty() && step.received.contains(line.trim()));
        for (at, line) in report.stderr.iter().enumerate() {
            let is_cause = Some(at) == read;
            let color = if is_cause { t.strong } else { t.weak };
            let shown = widgets::truncated(ui, line.as_str(), theme::code(), color);
            if is_cause {
                widgets::edge(ui, shown.rect.expand2(vec2(8.0, 1.0)), t.bad);
            }
        }
    });
}

fn message_ui(ui: &mut Ui, message: &MessageReport) {
    let t = theme::of(ui);
    let row = ListRow::to_read(ui, 20.0);
    let (icon, words) = match message.direction {
        Direction::Out => (icons::ARROW_RIGHT, "Sent"),
        _ => (icons::ARROW_LEFT, "Received"),
    };
    let mono = || theme::mono(12.0);
    row.number(
        row.inset_left(64.0),
        milliseconds(message.at),
        mono(),
        t.weak,
    );
    row.icon(row.inset_left(82.0), icon, 13.0, t.weak);
    row.text(
        row.inset_left(98.0),
        row.inset_left(160.0),
        words,
        theme::small(),
        t.text,
    );
    let size = widgets::bytes(message.size as u64);
    let end = row.number(row.inset_right(0.0), &size, mono(), t.weak);
    row.text(
        row.inset_left(164.0),
        end - 8.0,
        &message.name,
        mono(),
        t.strong,
    );
    row.say(
        Role::ListItem,
        format!(
            "{} {words} {}, {size}",
            milliseconds(message.at),
            message.name
        ),
    );
}

/// Offers the first call, which nothing makes by itself.
fn first_call_ui(ui: &mut Ui, cx: &Cx<'_>, step: &StepReport) {
    let session = cx.state.session();
    if !session.connection.is_connected() || step.status != StepStatus::NotReached {
        return;
    }
    widgets::padded(
        ui,
        Margin::symmetric((SIDE + 28.0) as i8, 8),
        |ui| match session.simplest_tool() {
            Some(tool) => {
                let name = tool.name.clone();
                let label = format!("Call {name}");
                let is_idle = session.examination != Some(Examination::Running);
                if Button::new(&label)
                    .icon(icons::CALL)
                    .enabled(is_idle)
                    .clicked(ui)
                {
                    cx.send(Action::Doctor(DoctorAction::Call(name)));
                }
            }
            None => {
                let words = "No tool is declared read-only and needs no arguments";
                widgets::note(ui, words);
            }
        },
    );
}

/// The same for a terminal.
fn foot_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    widgets::hline(ui, ui.max_rect().x_range(), ui.max_rect().top());
    let Some(source) = cx.state.session().connection.source() else {
        return;
    };
    let command = format!("mcp-loupe doctor {source}");
    widgets::padded(ui, Margin::symmetric(SIDE as i8, 4), |ui| {
        ui.horizontal(|ui| {
            ui.set_min_height(24.0);
            widgets::words(ui, "The same in a terminal", theme::small(), t.weak);
            let copy = Button::new("").icon(icons::COPY).name("Copy the command");
            if copy.small().frameless().clicked(ui) {
                cx.send(Action::Copy(command.clone()));
            }
            widgets::truncated(ui, command, theme::code(), t.text);
        });
    });
}

/// A sentence of a report begins with a small letter, since others stand before it in a terminal.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if first.is_ascii_lowercase() && !is_code(text) => {
            first.to_ascii_uppercase().to_string() + chars.as_str()
        }
        _ => text.to_owned(),
    }
}

/// Whether a sentence begins with a name that has to stay as it is: `server.py reads …`, `tools/list: …`.
fn is_code(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    first
        .trim_end_matches([':', ','])
        .contains(['.', '/', '_', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_begin_large_and_names_stay() {
        assert_eq!(
            capitalised("the host name has no address"),
            "The host name has no address"
        );
        assert_eq!(
            capitalised("server.py reads a variable"),
            "server.py reads a variable"
        );
        assert_eq!(
            capitalised("tools/list: no answer"),
            "tools/list: no answer"
        );
    }

    #[test]
    fn the_variables_of_an_entry_are_read_back() {
        assert_eq!(
            variables(r#""env": { "A_KEY": "…", "B_ID": "…" }"#),
            ["A_KEY", "B_ID"]
        );
    }
}
