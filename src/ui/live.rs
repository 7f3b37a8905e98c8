//! What passes between hosts and servers: recorded sessions at the left, the calls of one with what its host's model was
//! given, its bill, and the call that is chosen in the panes.

mod bill;
mod calls;
mod sessions;
mod strip;
mod transcript;

use egui::{Frame, Panel, Popup, Rect, Ui, pos2, vec2};

use super::theme;
use super::widgets::{self, Button};
use super::{Cx, icons, panes, sizes};
use crate::state::{Action, ConnectAction, LiveAction, OpenSession};
use loupe_tap::sessions::SessionInfo;

pub use sessions::sessions_ui;
pub use transcript::{allow_ui, differences_ui};

/// The name of the screen, everywhere.
pub const NAME: &str = "Live";

const SIDE: f32 = 16.0;
const BILL: f32 = 340.0;
/// Narrower, the bill leaves its room to the calls.
const WITH_BILL: f32 = 860.0;

/// Shows the screen, where there is a folder that sessions are in.
pub fn show(cx: &Cx<'_>) -> Option<Action> {
    let folder = cx.state.history.folder.as_ref();
    folder.map(|_| LiveAction::Show.into())
}

pub fn live_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let live = &cx.state.live;
    let rest = widgets::mode_head(ui, cx, NAME, |ui| {
        if let Some(session) = &live.session {
            head_controls_ui(ui, cx, session);
        }
        let has_list = cx.state.settings.sidebar_open && ui.content_rect().width() >= theme::MEDIUM;
        if !has_list {
            sessions_menu(ui, cx);
        }
    });
    widgets::part(ui, "live", rest, |ui| {
        match (&live.sessions, &live.session) {
            (_, Some(session)) => session_ui(ui, cx, session),
            (None, None) => {
                widgets::empty_ui(ui, "Looking for recorded sessions", None);
            }
            (Some(sessions), None) if sessions.is_empty() => nothing_ui(ui, cx),
            (Some(_), None) => {
                widgets::empty_ui(ui, "Choose a session", None);
            }
        }
    });
}

/// Nothing was recorded yet: how it is done.
fn nothing_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let words = "Nothing is recorded yet. Choose “Record…” at a server that was found on this computer, and its host \
                 starts it through Loupe; or start it yourself: mcp-loupe tap -- COMMAND";
    if widgets::empty_ui(ui, words, Some("Servers on this computer…")) {
        cx.send(ConnectAction::Show);
    }
}

/// The sessions in a menu, where there is no sidebar.
fn sessions_menu(ui: &mut Ui, cx: &Cx<'_>) {
    let response = Button::new("Sessions").menu().show(ui);
    Popup::menu(&response).width(theme::SIDEBAR).show(|ui| {
        ui.set_height((ui.content_rect().height() - 160.0).clamp(200.0, 480.0));
        sessions_ui(ui, cx);
    });
}

fn head_controls_ui(ui: &mut Ui, cx: &Cx<'_>, session: &OpenSession) {
    let open = Button::new("Open in Inspect")
        .icon(icons::OPEN_LINK)
        .enabled(session.selected.is_some())
        .tip("Puts the call that is shown among the captures, with costs, hosts and findings");
    if open.clicked(ui) {
        cx.send(LiveAction::Inspect);
    }
    if ui.available_width() > 480.0 {
        transcript::button_ui(ui, cx, session);
    }
    let mut filter = session.filter.clone();
    let field = widgets::LineEdit {
        name: "Find in calls",
        hint: "Find in calls and results",
        width: 220.0,
        is_secret: false,
    };
    if field.show(ui, "live", &mut filter) {
        cx.send(LiveAction::SetFilter(filter));
    }
}

fn session_ui(ui: &mut Ui, cx: &Cx<'_>, session: &OpenSession) {
    let t = theme::of(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    about_ui(ui, session);
    strip::strip_ui(ui, cx, session);
    let size = ui.available_size();
    let is_shown = session.selected.is_some() && cx.state.capture().is_some();
    if is_shown {
        Panel::bottom("live panes")
            .default_size(size.y * 0.5)
            .size_range(140.0..=(size.y - 120.0).max(150.0))
            .resizable(true)
            .frame(Frame::new().fill(t.panel))
            .show(ui, |ui| panes::panes_ui(ui, cx));
        sizes::name_edge(ui, "live panes");
    }
    let rect = ui.available_rect_before_wrap();
    let has_bill = rect.width() >= WITH_BILL;
    let edge = if has_bill {
        rect.right() - BILL
    } else {
        rect.right()
    };
    if has_bill {
        widgets::part(ui, "bill", rect.with_min_x(edge), |ui| {
            bill::bill_ui(ui, cx, session);
        });
        widgets::vline(ui, edge, rect.y_range());
    }
    widgets::part(ui, "calls", rect.with_max_x(edge), |ui| {
        calls::calls_ui(ui, cx, session);
    });
}

/// Where a session stands, as a colour and words.
fn state_of(info: &SessionInfo, t: &theme::ThemeTokens) -> (egui::Color32, String) {
    match (info.is_running, info.ended) {
        (true, _) => (t.accent, "Recording".to_owned()),
        (false, Some(0)) => (t.weak, "Ended".to_owned()),
        (false, Some(status)) => (t.warn, format!("Ended with status {status}")),
        (false, None) => (t.warn, "Broken off".to_owned()),
    }
}

/// Who speaks to whom, and what was recorded of it.
fn about_ui(ui: &mut Ui, session: &OpenSession) {
    let t = theme::of(ui);
    let row = widgets::ListRow::to_read(ui, theme::HEADER);
    widgets::line_below(row.ui, row.rect);
    let (color, state) = state_of(&session.info, t);
    let read = &session.read;
    let mut numbers = loupe_core::number::number_of(read.messages, "messages");
    if !read.is_all && session.problem.is_none() {
        numbers = format!("reading · {numbers}");
    }
    let host = session.host_name();
    let server = match read.server.heading() {
        heading if heading.trim().is_empty() => session.info.name.clone(),
        heading => heading,
    };
    let source = &session.info.source;
    let lost = (read.lost > 0).then(|| {
        let lost = loupe_core::number::number_of(read.lost, "bytes");
        format!("{lost} passed and are not recorded")
    });
    let problem = session.problem.as_ref().map(|problem| problem.what.clone());
    let warning = problem.or(lost);
    let spoken = [
        Some(&state),
        Some(&format!("{host} with {server}")),
        Some(source),
        warning.as_ref(),
        Some(&numbers),
    ];
    let spoken: Vec<&str> = spoken.into_iter().flatten().map(String::as_str).collect();
    row.say(egui::Role::Heading, spoken.join(", "));
    let dot = pos2(row.inset_left(SIDE + 4.0), row.y);
    row.ui.painter().circle_filled(dot, 4.0, color);
    let mut right = row.number(row.inset_right(SIDE), numbers, theme::small(), t.weak) - 14.0;
    if let Some(warning) = &warning {
        let width = widgets::text_width(row.ui, warning.as_str(), theme::small());
        let left = (right - width).max(row.rect.center().x);
        row.text(left, right, warning, theme::small(), t.warn);
        row.icon(left - 12.0, icons::WARNING, 13.0, t.warn);
        right = left - 30.0;
    }
    let left = row.inset_left(SIDE + 16.0);
    let end = row.text(left, right, state, theme::base(), t.text) + 14.0;
    let end = row.text(end, right, host, theme::semibold(14.0), t.strong);
    row.icon(end + 14.0, icons::MESSAGES, 14.0, t.weak);
    let end = row.text(
        end + 28.0,
        right,
        server,
        theme::mono_semibold(13.0),
        t.strong,
    ) + 14.0;
    if end + 60.0 < right {
        row.text(end, right, source, theme::mono(12.0), t.weak);
    }
}

/// A place at the left of a row of so many pixels.
fn column(rect: Rect, left: f32, width: f32, height: f32) -> Rect {
    Rect::from_min_size(
        pos2(left, rect.center().y - height / 2.0),
        vec2(width, height),
    )
}
