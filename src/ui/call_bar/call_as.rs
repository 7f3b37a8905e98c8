//! As whom a call is made: as Loupe, or as a host whose way of naming itself is known. What is sent is in the menu.

use egui::containers::menu::SubMenuButton;
use egui::{Align, Layout, Margin, Response, ScrollArea, Ui, vec2};

use crate::state::HostsAction;
use crate::ui::Cx;
use crate::ui::theme;
use crate::ui::widgets;
use loupe_core::server_request;
use loupe_core::source::Identity;

/// How Loupe names itself.
fn own(cx: &Cx<'_>) -> Identity {
    Identity::own(server_request::capabilities(
        true,
        true,
        cx.state.roots.is_some(),
    ))
}

/// An entry of the menu next to *Call*.
pub fn menu_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let chosen = cx.state.call_as();
    let name = chosen.map_or_else(
        || "Call as Loupe".to_owned(),
        |host| format!("Call as {}", host.name),
    );
    let sent = chosen
        .and_then(|host| host.identity())
        .unwrap_or_else(|| own(cx))
        .says();
    SubMenuButton::new(name).ui(ui, |ui| {
        ui.set_width(420.0);
        ui.spacing_mut().item_spacing.y = 2.0;
        if row(ui, "Loupe", &own(cx), chosen.is_none(), "").clicked() {
            cx.send(HostsAction::CallAs(None));
            ui.close();
        }
        let mut unknown = 0;
        ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
            // The user's own come first.
            let all = || cx.state.hosts.iter();
            for host in all().filter(|host| host.is_own).chain(all().filter(|host| !host.is_own)) {
                let (Some(identity), Some(client)) = (host.identity(), &host.client) else {
                    unknown += 1;
                    continue;
                };
                let is_chosen = chosen.is_some_and(|chosen| chosen.id == host.id);
                if row(ui, &host.name, &identity, is_chosen, &client.source).clicked() {
                    cx.send(HostsAction::CallAs(Some(host.id)));
                    ui.close();
                }
            }
        });
        ui.separator();
        // Not justified, as the rows of a menu are.
        widgets::padded(ui, Margin::symmetric(8, 2), |ui| {
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                let mut weak = |words: &str| {
                    let color = theme::of(ui).weak;
                    widgets::wrapped(ui, words, theme::small(), color);
                };
                weak(&format!("Sends {sent}."));
                weak("A client names itself when it connects, so choosing one reconnects. Captures say who called.");
                if unknown > 0 {
                    weak(&format!(
                        "How {unknown} of {} hosts name themselves was not verified. [host.client] in your own hosts.toml adds one.",
                        cx.state.hosts.len()
                    ));
                }
            });
        });
    });
}

/// Whom one may call as, with the name that a server gets; what else is sent is in its tip.
fn row(ui: &mut Ui, name: &str, identity: &Identity, is_chosen: bool, source: &str) -> Response {
    let response = widgets::menu_row(ui, name, None, is_chosen);
    let weak = theme::of(ui).weak;
    let short = format!("{} {}", identity.name, identity.version);
    let width = |text: &str, font| widgets::text_width(ui, text, font);
    let right = response.rect.right_center() - vec2(28.0, 0.0);
    let room = response.rect.width() - width(name, theme::base()) - 56.0;
    if room > 40.0 {
        let taken = width(&short, theme::small()).min(room);
        widgets::text_at(
            ui,
            right - vec2(taken, 0.0),
            &short,
            theme::small(),
            weak,
            taken + 1.0,
        );
    }
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_description(format!("sends {}", identity.says()))
    });
    response.on_hover_text(format!("Sends {}.\n{source}", identity.says()).trim_end())
}
