//! The bar at the top: what server this is, and the choices that hold for the whole window.

use egui::{
    Align2, Color32, Popup, Pos2, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, pos2, vec2,
};

use super::region::{Region, region};
use super::theme::{self, ThemeTokens};
use super::{
    Cx, commands, icons, live, palette, servers, settings, shortcuts, tokenizer, watch, widgets,
};
use crate::state::server_diff::ServerDiffAction;
use crate::state::{Action, ConnectAction, Connection, Dialog, FixtureAction, Screen, ViewAction};
use loupe_core::source::Source;

/// Width of the server's menu.
const MENU: f32 = 320.0;
/// Width of the palette's field.
const PALETTE: f32 = 400.0;
const NARROW_PALETTE: f32 = 272.0;

pub fn top_bar_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let bar = ui.max_rect();
    ui.horizontal_centered(|ui| {
        ui.add_space(12.0);
        brand_ui(ui, cx);
        ui.add_space(8.0);
        let chip = server_chip(ui, cx);
        region(ui, Region::TopBar, bar, &chip);
        if cx.state.session().connection.source().is_some() {
            let tip = format!(
                "Reconnect and list the tools again ({})",
                shortcuts::text(&shortcuts::RECONNECT)
            );
            let again = widgets::icon_button_with(ui, icons::REFRESH, "Reconnect", &tip);
            if again.clicked() {
                cx.send(ConnectAction::Reconnect);
            }
        }
        let left = ui.cursor().left();
        widgets::from_right(ui, |ui| {
            ui.add_space(12.0);
            if widgets::icon_button(ui, icons::SETTINGS, settings::NAME).clicked() {
                cx.send(ViewAction::ShowSettings);
            }
            tokenizer::chooser_ui(ui, cx);
            mode_ui(ui, cx, bar.width() >= theme::WIDE);
            // In the middle of the bar, else in the middle of what the server's name leaves.
            let rest = (left + 16.0, ui.cursor().right() - 16.0);
            let place = |width: f32, middle: f32| {
                let center = pos2(middle, bar.center().y);
                let place = Rect::from_center_size(center, vec2(width, theme::BUTTON));
                (rest.0 <= place.left() && place.right() <= rest.1).then_some(place)
            };
            let place = place(PALETTE, bar.center().x)
                .or_else(|| place(NARROW_PALETTE, bar.center().x))
                .or_else(|| place(NARROW_PALETTE, (rest.0 + rest.1) / 2.0));
            palette::box_ui(ui, cx, place.filter(|_| bar.width() >= theme::WIDE));
        });
    });
}

/// Calls that one makes, or what hosts call.
fn mode_ui(ui: &mut Ui, cx: &Cx<'_>, is_wide: bool) {
    let Some(show) = live::show(cx) else {
        return;
    };
    let is_live = cx.state.view.screen == Screen::Live;
    let back = Action::from(ViewAction::ShowAnswer);
    if is_wide {
        let modes = ["Inspect", live::NAME];
        match widgets::segmented(ui, "Mode", &modes, usize::from(is_live)) {
            Some(1) => cx.send(show),
            Some(_) if is_live => cx.send(back),
            _ => {}
        }
    } else {
        let (name, tip) = match is_live {
            true => ("Inspect", "Back to the calls of this window"),
            false => (live::NAME, "Recorded sessions of hosts"),
        };
        if widgets::icon_button_with(ui, icons::MESSAGES, name, tip).clicked() {
            cx.send(if is_live { back } else { show });
        }
    }
}

/// The name of the program; a click leads to the start page.
fn brand_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let name = ui
        .painter()
        .layout_no_wrap("Loupe".to_owned(), theme::semibold(14.0), t.strong);
    let (rect, response) = ui.allocate_exact_size(vec2(28.0 + name.size().x, 28.0), Sense::click());
    widgets::say(&response, Role::Button, "Loupe: start page");
    paint_mark(ui, pos2(rect.left() + 10.0, rect.center().y), t.accent);
    ui.painter().galley(
        pos2(rect.left() + 28.0, rect.center().y - name.size().y / 2.0),
        name,
        t.strong,
    );
    widgets::focus_ring(ui, &response, theme::RADIUS_CONTROL);
    if response.on_hover_text("Start page").clicked() {
        cx.send(ViewAction::ShowStart);
    }
}

/// The glass with two lines under it.
fn paint_mark(ui: &Ui, center: Pos2, color: Color32) {
    let painter = ui.painter();
    let glass = center + vec2(-1.5, -1.5);
    painter.circle_stroke(glass, 6.5, Stroke::new(2.0, color));
    painter.line_segment(
        [glass + vec2(5.0, 5.0), glass + vec2(9.5, 9.5)],
        Stroke::new(2.5, color),
    );
    for (dy, half) in [(-1.5, 3.0), (1.5, 2.0)] {
        painter.line_segment(
            [glass + vec2(-3.0, dy), glass + vec2(-3.0 + 2.0 * half, dy)],
            Stroke::new(1.3, color),
        );
    }
}

/// What the connection is doing, as a dot (filled or hollow), a colour and words.
pub(super) struct ConnectionLook {
    pub color: Color32,
    pub is_hollow: bool,
    pub words: String,
}

pub(super) fn connection_look(connection: &Connection, t: &ThemeTokens) -> ConnectionLook {
    let (color, is_hollow, words) = match connection {
        Connection::None => (t.weak, true, "Not connected".to_owned()),
        Connection::Connecting { .. } => (t.warn, true, "Connecting".into()),
        Connection::Connected { .. } => (t.ok, false, "Connected".into()),
        Connection::Failed { problem, .. } => {
            (t.bad, false, format!("Not connected: {}", problem.what))
        }
        Connection::Disconnected { .. } => (t.bad, false, "Server gone".into()),
    };
    ConnectionLook {
        color,
        is_hollow,
        words,
    }
}

pub(super) fn paint_dot(ui: &Ui, center: Pos2, look: &ConnectionLook) {
    if look.is_hollow {
        ui.painter()
            .circle_stroke(center, 3.5, Stroke::new(1.5, look.color));
    } else {
        ui.painter().circle_filled(center, 4.0, look.color);
    }
}

/// Room that everything next to the chip takes in a narrow window.
const OTHERS: f32 = 322.0;

fn server_chip(ui: &mut Ui, cx: &Cx<'_>) -> Response {
    let t = theme::of(ui);
    let connection = &cx.state.session().connection;
    let look = connection_look(connection, t);
    let label = connection.source().map_or_else(
        || "No server".to_owned(),
        |source| cx.state.server_label(source),
    );
    let mut details = Vec::new();
    match connection {
        Connection::Connected { source, server, .. } => {
            details.push((source.transport().to_owned(), theme::regular(12.5)));
            details.push((server.protocol_version.clone(), theme::mono(12.0)));
        }
        Connection::Connecting { .. } => details.push(("Connecting".into(), theme::regular(12.5))),
        Connection::Failed { problem, .. } => {
            details.push((problem.what.clone(), theme::regular(12.5)))
        }
        Connection::Disconnected { .. } => details.push(("gone".into(), theme::regular(12.5))),
        Connection::None => {}
    }
    let is_narrow = ui.content_rect().width() < theme::MEDIUM;
    if is_narrow && connection.is_connected() {
        details.clear();
    }
    let open: Vec<_> = cx
        .state
        .sessions
        .others()
        .map(|session| cx.state.session_label(session))
        .collect();
    if !open.is_empty() {
        details.push((format!("+{}", open.len()), theme::mono(12.0)));
    }
    let clip = |text: &str, most: usize| match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    };
    let room = ui.available_width() - OTHERS;
    let painter = ui.painter();
    let label_in = |letters: usize| {
        painter.layout_no_wrap(clip(&label, letters), theme::medium(13.0), t.strong)
    };
    let mut galleys: Vec<_> = details
        .iter()
        .map(|(text, font)| painter.layout_no_wrap(clip(text, 40), font.clone(), t.weak))
        .collect();
    let width_of = |label: &egui::Galley, details: &[std::sync::Arc<egui::Galley>]| {
        52.0 + label.size().x
            + details
                .iter()
                .map(|galley| galley.size().x + 20.0)
                .sum::<f32>()
    };
    let mut letters = 32;
    let mut label_galley = label_in(letters);
    while width_of(&label_galley, &galleys) > room && letters > 8 {
        if galleys.pop().is_none() {
            letters -= 4;
            label_galley = label_in(letters);
        }
    }
    let width = width_of(&label_galley, &galleys);
    let (rect, response) = ui.allocate_exact_size(vec2(width, theme::INPUT), Sense::click());
    let words = details.iter().fold(
        format!("Server {label}, {}", look.words),
        |words, (detail, _)| format!("{words}, {detail}"),
    );
    let response = if open.is_empty() {
        response
    } else {
        response.on_hover_text(format!("Also open: {}", open.join(", ")))
    };
    widgets::say(&response, Role::Button, &words);
    let fill = if response.hovered() { t.hover } else { t.card };
    widgets::boxed(ui, rect, theme::RADIUS_CONTROL, fill, t.line2);
    if response.has_focus() {
        ui.painter().rect_stroke(
            rect.expand(2.0),
            theme::RADIUS_CONTROL,
            Stroke::new(2.0, t.accent),
            StrokeKind::Inside,
        );
    }
    let y = rect.center().y;
    paint_dot(ui, pos2(rect.left() + 13.0, y), &look);
    let mut x = rect.left() + 24.0;
    let put = |x: f32, galley: std::sync::Arc<egui::Galley>| {
        let size = galley.size();
        ui.painter()
            .galley(pos2(x, y - size.y / 2.0), galley, t.text);
        x + size.x
    };
    x = put(x, label_galley);
    for galley in galleys {
        ui.painter().vline(
            x + 10.0,
            rect.top() + 8.0..=rect.bottom() - 8.0,
            Stroke::new(1.0, t.line2),
        );
        x = put(x + 20.0, galley);
    }
    ui.painter().text(
        pos2(rect.right() - 10.0, y),
        Align2::RIGHT_CENTER,
        icons::DOWN,
        theme::icon_font(12.0),
        t.weak,
    );
    Popup::menu(&response).show(|ui| {
        let height = ui.content_rect().height() - theme::TOP_BAR - 24.0;
        // Else a popup scrolls before it is as high as it may be.
        egui::ScrollArea::vertical()
            .max_height(height)
            .min_scrolled_height(height)
            .show(ui, |ui| server_menu(ui, cx));
    });
    response
}

/// A command line in rows of so many letters, broken at spaces alone: `--` is one word. A longer word is cut where it
/// must be.
fn rows_of_words(text: &str, letters: usize) -> Vec<String> {
    let letters = letters.max(8);
    let mut rows = vec![String::new()];
    let mut room = letters;
    for word in text.split(' ') {
        let chars: Vec<char> = word.chars().collect();
        let is_first = room == letters;
        if !is_first && chars.len() < room {
            room -= chars.len() + 1;
            if let Some(row) = rows.last_mut() {
                row.push(' ');
                row.push_str(word);
            }
            continue;
        }
        for (at, piece) in chars.chunks(letters).enumerate() {
            if at > 0 || !is_first {
                rows.push(String::new());
            }
            room = letters - piece.len();
            if let Some(row) = rows.last_mut() {
                row.extend(piece);
            }
        }
    }
    rows
}

fn server_menu(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    ui.set_width(MENU);
    let connection = &cx.state.session().connection;
    if let Some(source) = connection.source() {
        let letter = widgets::text_width(ui, "0".repeat(16), theme::mono(12.0)) / 16.0;
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            for row in rows_of_words(&source.to_string(), (MENU / letter) as usize) {
                ui.add(egui::Label::new(widgets::styled(row, theme::mono(12.0), t.weak)).extend());
            }
        });
        if let Some(server) = connection.server() {
            widgets::note(ui, server.heading());
        }
        ui.separator();
    }
    let item = |ui: &mut Ui, glyph: &str, name: &str, enabled: bool, action: Action| {
        if widgets::choose_item(ui, glyph, name, "", enabled) {
            cx.send(action);
        }
    };
    let has_source = connection.source().is_some();
    let is_open = matches!(
        connection,
        Connection::Connected { .. } | Connection::Connecting { .. }
    );
    item(
        ui,
        icons::REFRESH,
        "Reconnect",
        has_source,
        ConnectAction::Reconnect.into(),
    );
    if let Some((words, action)) = commands::other_protocol(cx) {
        item(ui, icons::SWAP, words, true, action);
    }
    if let Some(open) = watch::open(cx) {
        item(ui, icons::READ_ONLY, watch::NAME, true, open);
    }
    item(
        ui,
        icons::DISCONNECT,
        "Disconnect",
        is_open,
        ConnectAction::Disconnect.into(),
    );
    item(
        ui,
        icons::CHECK_CIRCLE,
        "Check this server",
        has_source,
        Action::Doctor(crate::state::DoctorAction::Examine),
    );
    let other = Action::ServerDiff(ServerDiffAction::Choose);
    item(
        ui,
        icons::DIFF,
        "Compare tools with another…",
        connection.is_connected(),
        other,
    );
    item(
        ui,
        icons::COPY,
        "Copy as configuration for…",
        has_source,
        palette::configure(),
    );
    item(
        ui,
        icons::STDIO,
        "Show stderr",
        has_source,
        Action::ShowDialog(Dialog::Stderr),
    );
    if let Some(forget) = commands::forget_login(cx) {
        item(ui, icons::KEY, "Forget the login", true, forget);
    }
    if let Some(open) = servers::show_allowed_tools(cx) {
        let words = match cx.state.allowed_tools().len() {
            0 => "Always-allowed tools…".to_owned(),
            count => format!("Always-allowed tools ({count})…"),
        };
        item(ui, icons::CONSENT, &words, true, open);
    }
    ui.separator();
    servers::open_menu_ui(ui, cx);
    ui.separator();
    servers::recent_menu_ui(ui, cx);
    item(
        ui,
        icons::PLUG,
        "Use my server…",
        cx.state.view.screen != Screen::Connect,
        ConnectAction::Show.into(),
    );
    item(
        ui,
        icons::CALL,
        "Sample server",
        true,
        ConnectAction::Connect(Box::new(Source::sample())).into(),
    );
    item(
        ui,
        icons::OPEN_FILE,
        "Open file…",
        true,
        Action::OpenPath(None),
    );
    item(
        ui,
        icons::CHECK,
        "Verify fixtures…",
        true,
        Action::Fixture(FixtureAction::ShowVerify),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_breaks_at_spaces_alone() {
        assert_eq!(
            rows_of_words("-- node my-server --port 1", 12),
            ["-- node", "my-server", "--port 1"]
        );
        assert_eq!(
            rows_of_words("-- /a/long/path", 8),
            ["--", "/a/long/", "path"]
        );
        assert_eq!(rows_of_words("", 8), [""]);
    }
}
