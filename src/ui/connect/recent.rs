//! The servers used before: a click connects, another fills the form to change something first.

use egui::{Label, Ui};

use super::super::theme;
use super::super::{Cx, icons, servers, widgets};
use super::card;
use crate::state::{Action, ImportAction};

pub(super) fn recent_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let recent = &cx.state.importing.recent;
    let is_choosing = cx.state.server_diff.is_choosing;
    if recent.is_empty() {
        return;
    }
    let send = |action| cx.send(Action::Import(action));
    card(ui, false, |ui| {
        ui.horizontal(|ui| {
            ui.add(Label::new(icons::icon(icons::HISTORY, 16.0, t.weak)));
            widgets::words(ui, "Recent", theme::semibold(13.0), t.strong);
            widgets::note(ui, "Secrets come from the keychain, or are asked for");
        });
        for (at, (recent, (name, place))) in recent.iter().zip(servers::names(cx)).enumerate() {
            ui.horizontal(|ui| {
                if is_choosing {
                    if widgets::Button::new(&name)
                        .small()
                        .name(&format!("Use {name} again"))
                        .clicked(ui)
                    {
                        send(ImportAction::UseRecent(at));
                    }
                } else if widgets::Button::new(&name)
                    .small()
                    .icon(icons::PLUG)
                    .name(&format!("Connect to {name}"))
                    .clicked(ui)
                {
                    send(ImportAction::ConnectRecent(at));
                }
                let room = (ui.available_width() - 3.0 * theme::ICON_BUTTON - 32.0).max(40.0);
                ui.scope(|ui| {
                    ui.set_max_width(room);
                    widgets::truncated(ui, place, theme::code(), t.weak);
                });
                widgets::at_right(ui, theme::ICON_BUTTON, |ui| {
                    if widgets::icon_button(ui, icons::TRASH, &format!("Forget {name}")).clicked() {
                        send(ImportAction::Forget(at));
                    }
                    let (glyph, words) = if recent.is_pinned {
                        (icons::CHECK, format!("Unpin {name}"))
                    } else {
                        (icons::BASELINE, format!("Pin {name}"))
                    };
                    if widgets::icon_button(ui, glyph, &words).clicked() {
                        send(ImportAction::Pin(at));
                    }
                    if !is_choosing
                        && widgets::icon_button(ui, icons::ARGUMENTS, &format!("Edit {name} first"))
                            .clicked()
                    {
                        send(ImportAction::UseRecent(at));
                    }
                });
            });
        }
    });
    ui.add_space(24.0);
}
