//! The list of recorded sessions.

use std::time::Duration;

use egui::{Panel, Ui};

use super::super::sidebar;
use crate::state::{Action, ConnectAction, LiveAction};
use crate::ui::theme;
use crate::ui::widgets;
use crate::ui::{Cx, icons};
use loupe_tap::sessions::SessionInfo;

/// The list, and how another host is recorded.
pub fn sessions_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    let sessions = cx.state.live.sessions.as_deref().unwrap_or_default();
    sidebar::heading(ui, "Sessions", sessions.len());
    Panel::bottom("live actions")
        .resizable(false)
        .frame(egui::Frame::new().inner_margin(egui::Margin::symmetric(12, 10)))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 6.0;
            widgets::words(ui, "Record a host", theme::semibold(12.5), t.strong);
            let what = "One entry of its configuration is changed. You see the change first, and can undo it.";
            widgets::note_wrapped(ui, what);
            ui.horizontal(|ui| {
                if widgets::button(ui, "Choose a server…").clicked() {
                    cx.send(ConnectAction::Show);
                }
                if widgets::button(ui, "Open file…").clicked() {
                    cx.send(Action::OpenPath(None));
                }
            });
        });
    widgets::scroll("sessions").show_rows(ui, theme::CAPTURE_ROW, sessions.len(), |ui, range| {
        for session in &sessions[range] {
            session_ui(ui, cx, session);
        }
    });
}

fn session_ui(ui: &mut Ui, cx: &Cx<'_>, info: &SessionInfo) {
    let t = theme::of(ui);
    let open = cx.state.live.session.as_ref();
    let is_open = open.is_some_and(|open| open.info.id == info.id);
    let row = widgets::ListRow::keyed(ui, theme::CAPTURE_ROW, &info.id);
    let (color, state) = super::state_of(info, t);
    let host = match &*info.client {
        "" => "A host",
        client => cx.state.host_title(client),
    };
    let when = when(cx, info);
    let size = widgets::bytes(info.size);
    row.say_entry(
        is_open,
        format!("{host} with {}, {when}, {state}, {size}", info.name),
    );
    row.ground_edged(is_open);
    match info.is_running {
        true => row.icon_fill(row.inset_left(18.0), icons::CIRCLE, 12.0, color),
        false => row.icon(row.inset_left(18.0), icons::CIRCLE, 11.0, color),
    }
    let (left, right) = (row.inset_left(32.0), row.inset_right(14.0));
    let (first, second) = (row.line(13.0), row.line(theme::CAPTURE_ROW - 12.0));
    let end = first.text(left, right, host, theme::semibold(13.0), t.strong);
    let end = first.text(end + 5.0, right, "with", theme::base(), t.weak);
    first.text(
        end + 5.0,
        right,
        &info.name,
        theme::semibold(13.0),
        t.strong,
    );
    let end = second.number(right, size, theme::mono(12.0), t.weak) - 8.0;
    let state = if info.ended == Some(0) {
        when
    } else {
        format!("{when} · {}", state.to_lowercase())
    };
    second.text(left, end, state, theme::regular(12.0), t.weak);
    if row.clicked() {
        cx.send(LiveAction::Open(info.id.clone()));
    }
}

/// When it began: the time of today, else the day.
fn when(cx: &Cx<'_>, info: &SessionInfo) -> String {
    let (today, at) = (cx.state.today(), (cx.state.local_time.0)(info.started));
    let clock = format!("{:02}:{:02}", at.hour(), at.minute());
    let days = (today.date() - at.date()).whole_days();
    match days {
        0 => clock,
        1 => format!("yesterday {clock}"),
        _ => format!("{} {clock}", at.date()),
    }
}

/// How long a session went on, for people: `5 min 41 s`.
pub(super) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, _) => widgets::seconds(time),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_names_its_units() {
        let spans = [1_400, 341_000, 7_500_000].map(|ms| span(Duration::from_millis(ms)));
        assert_eq!(spans, ["1.4 s", "5 min 41 s", "2 h 5 min"]);
    }
}
