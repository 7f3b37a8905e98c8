//! Logging in: the wish in the form, the offer after a refusal, the address before it is opened, the log.

use egui::{Frame, Id, Label, Margin, ScrollArea, Stroke, Ui};

use super::super::theme;
use super::super::{Cx, icons, widgets};
use super::{card, label, pair};
use crate::state::{Action, ConnectForm, LoginAction};
use loupe_core::source::{Grant, Login};

/// Lines of the log that the connect screen shows.
const LOG_HEIGHT: f32 = 180.0;

fn send(cx: &Cx<'_>, action: LoginAction) {
    cx.send(Action::Login(action));
}

/// The switch in the form, and what belongs to it.
pub(super) fn wish_ui(ui: &mut Ui, cx: &Cx<'_>, form: &mut ConnectForm) {
    let mut wanted = form.login.is_some();
    if ui
        .checkbox(&mut wanted, "Log in if the server asks for it")
        .changed()
    {
        form.login = wanted.then(|| Login {
            asks: true,
            ..Login::default()
        });
    }
    let Some(login) = &mut form.login else { return };
    let mut id = login.client_id.clone().unwrap_or_default();
    let mut secret = login.client_secret.clone().unwrap_or_default();
    pair(
        ui,
        0.5,
        |ui, width| {
            label(ui, "Client ID, if you registered one");
            line(
                ui,
                "Client id",
                "Loupe registers itself",
                width,
                false,
                &mut id,
            );
        },
        |ui, width| {
            label(ui, "Client secret, if it has one");
            line(ui, "Client secret", "kept secret", width, true, &mut secret);
        },
    );
    let given = |text: String| (!text.trim().is_empty()).then(|| text.trim().to_owned());
    (login.client_id, login.client_secret) = (given(id), given(secret));
    if login.client_secret.is_some() {
        let mut alone = login.grant == Grant::ClientCredentials;
        if ui
            .checkbox(
                &mut alone,
                "As the client itself, without a browser (client credentials)",
            )
            .changed()
        {
            login.grant = if alone {
                Grant::ClientCredentials
            } else {
                Grant::Browser
            };
        }
    } else if login.grant == Grant::ClientCredentials && login.client_key.is_none() {
        login.grant = Grant::Browser;
    }
    let url = form.url.trim();
    if url.is_empty() {
        return;
    }
    let tip = "Removes the tokens that are kept for this address, from the system's keychain or Loupe's file";
    if widgets::Button::new("Forget the login")
        .icon(icons::REMOVE)
        .small()
        .frameless()
        .tip(tip)
        .clicked(ui)
    {
        send(
            cx,
            LoginAction::Forget {
                url: url.to_owned(),
                client_id: login.client_id.clone(),
            },
        );
    }
}

fn line(ui: &mut Ui, name: &str, hint: &str, width: f32, is_secret: bool, text: &mut String) {
    widgets::LineEdit {
        name,
        hint,
        width,
        is_secret,
    }
    .show(ui, "connect login", text);
}

/// After a refusal: the way to log in, and the log of the login that failed.
pub fn offer_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    servers_ui(ui, cx);
    if cx.state.wants_login() {
        card(ui, true, |ui| {
            ui.horizontal(|ui| {
                ui.add(Label::new(icons::icon(icons::KEY, 16.0, t.accent)));
                widgets::words(
                    ui,
                    "This server requires a login",
                    theme::semibold(13.0),
                    t.strong,
                );
                widgets::at_right(ui, theme::BUTTON, |ui| {
                    if widgets::Button::new("Log in")
                        .icon(icons::KEY)
                        .primary()
                        .clicked(ui)
                    {
                        send(
                            cx,
                            LoginAction::Start(Login {
                                asks: true,
                                ..Login::default()
                            }),
                        );
                    }
                });
            });
            let words =
                "Loupe finds out where, and shows you the address before your browser opens it.";
            widgets::note_wrapped(ui, words);
        });
        ui.add_space(8.0);
    } else if !cx.state.login_log().lines.is_empty() {
        card(ui, false, |ui| log_ui(ui, cx));
        ui.add_space(8.0);
    }
}

/// The authorization servers of which one has to be chosen.
fn servers_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    if cx.state.login_log().servers.is_empty() {
        return;
    }
    card(ui, true, |ui| {
        ui.horizontal(|ui| {
            ui.add(Label::new(icons::icon(icons::KEY, 16.0, t.accent)));
            widgets::words(
                ui,
                "Where do you want to log in?",
                theme::semibold(13.0),
                t.strong,
            );
        });
        let words = match cx.state.login_log().servers.len() {
            1 => {
                "The server sends you to another authorization server, which sees your credentials. Continue only if you know it."
            }
            _ => {
                "The server accepts several authorization servers. Choose the one where you have an account."
            }
        };
        widgets::note_wrapped(ui, words);
        for server in &cx.state.login_log().servers {
            if widgets::Button::new(server)
                .icon(icons::KEY)
                .name(&format!("Log in at {server}"))
                .clicked(ui)
            {
                send(cx, LoginAction::StartAt(server.clone()));
            }
        }
    });
    ui.add_space(8.0);
}

/// Each step of the login, secrets masked.
pub fn log_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let lines = &cx.state.login_log().lines;
    if lines.is_empty() {
        return;
    }
    ui.horizontal(|ui| {
        ui.add(Label::new(icons::icon(icons::KEY, 14.0, t.weak)));
        widgets::words(ui, "Login, step by step", theme::semibold(12.5), t.strong);
        if widgets::Button::new("Copy")
            .small()
            .frameless()
            .name("Copy the log of the login")
            .clicked(ui)
        {
            cx.send(Action::Copy(lines.join("\n")));
        }
    });
    ScrollArea::vertical()
        .id_salt("login log")
        .max_height(LOG_HEIGHT)
        .stick_to_bottom(true)
        .auto_shrink([false, true])
        .show_rows(ui, theme::TEXT_ROW, lines.len(), |ui, range| {
            for line in &lines[range] {
                widgets::truncated(ui, line, theme::code(), t.text);
            }
        });
}

/// The address, whole, before a browser opens it.
pub(in super::super) fn dialog_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let Some((session, login, other)) = cx.state.open_login() else {
        return;
    };
    let Some((url, since, limit)) = &login.open else {
        return;
    };
    let t = theme::of(ui);
    let room = widgets::modal_room(ui);
    widgets::modal(ui, Id::unique("login dialog"), 620.0, |ui| {
        let title = match &other {
            Some(server) => format!("Log in to {server} with your browser"),
            None => "Log in with your browser".to_owned(),
        };
        widgets::words(ui, title, theme::semibold(16.0), t.strong);
        let host = url
            .split("://")
            .nth(1)
            .and_then(|rest| rest.split(['/', '?']).next())
            .unwrap_or_default();
        let words = format!(
            "The server sends you to {host}. Check that you recognise it; this is the whole address:"
        );
        widgets::wrapped(ui, words, theme::base(), t.text);
        Frame::new()
            .fill(t.bg)
            .stroke(Stroke::new(1.0, t.line))
            .corner_radius(theme::RADIUS_CONTROL)
            .inner_margin(Margin::same(10))
            .show(ui, |ui| {
                ScrollArea::vertical()
                    .id_salt("login address")
                    .max_height((room.y - 220.0).max(60.0))
                    .show(ui, |ui| {
                        ui.set_width(ui.available_width());
                        ui.add(
                            Label::new(widgets::styled(url, theme::code(), t.strong))
                                .wrap()
                                .selectable(true),
                        );
                    });
            });
        ui.horizontal(|ui| {
            let what = if login.is_opened {
                "Waiting for your browser"
            } else {
                "Waiting for you"
            };
            widgets::waiting(ui, what, *since, cx);
            widgets::words(
                ui,
                format!("of {}", widgets::seconds(*limit)),
                theme::code(),
                t.weak,
            );
        });
        widgets::at_right(ui, theme::BUTTON, |ui| {
            if widgets::Button::new("Open in the browser")
                .icon(icons::OPEN_LINK)
                .primary()
                .clicked(ui)
            {
                send(cx, LoginAction::Open(session));
            }
            if widgets::Button::new("Copy the address")
                .icon(icons::COPY)
                .clicked(ui)
            {
                send(cx, LoginAction::Copy(session));
            }
            if widgets::Button::new("Cancel")
                .name("Cancel the login")
                .clicked(ui)
            {
                send(cx, LoginAction::Cancel(session));
            }
        });
    });
}
