//! The choices of how a server is spoken to: the revision of the protocol, the HTTP transport, further authorities.

use egui::{Popup, Ui};

use super::{field, label, pair};
use crate::state::{ConnectForm, ConnectMode};
use crate::ui::{theme, widgets};
use loupe_core::source::{Protocol, Transport};

pub fn protocol_ui(ui: &mut Ui, form: &mut ConnectForm) {
    ui.add_space(4.0);
    let is_url = form.mode == ConnectMode::Url;
    let ConnectForm {
        protocol,
        transport,
        cacert,
        ..
    } = form;
    if !is_url {
        revision_ui(ui, protocol);
        return;
    }
    pair(
        ui,
        0.4,
        |ui, _| revision_ui(ui, protocol),
        |ui, _| {
            label(ui, "Transport");
            let names = ["Automatic", "Streamable HTTP", "HTTP+SSE"];
            let at = Transport::WORDS
                .iter()
                .position(|(known, _)| known == transport)
                .unwrap_or(0);
            if let Some(chosen) = widgets::segmented(ui, "Transport", &names, at)
                && let Some((chosen, _)) = Transport::WORDS.get(chosen)
            {
                *transport = *chosen;
            }
        },
    );
    ui.add_space(4.0);
    let width = ui.available_width();
    label(ui, "More certificate authorities (a PEM file)");
    field(
        ui,
        "Certificate authorities",
        "only those of the system",
        width,
        cacert,
    );
}

fn revision_ui(ui: &mut Ui, protocol: &mut Protocol) {
    label(ui, "Protocol");
    let words = |protocol: Protocol| match protocol {
        Protocol::Auto => "Automatic".to_owned(),
        Protocol::Version(version) if Protocol::is_stateless(version) => {
            format!("{version}, without a handshake")
        }
        Protocol::Version(version) => version.to_owned(),
    };
    let all = std::iter::once(Protocol::Auto).chain(
        Protocol::VERSIONS
            .iter()
            .rev()
            .map(|version| Protocol::Version(version)),
    );
    let shown = words(*protocol);
    let spoken = format!("Protocol: {shown}");
    let tip = "Protocol version; automatic asks the server";
    let button = widgets::Button::new(&shown)
        .menu()
        .height(theme::INPUT)
        .name(&spoken)
        .tip(tip)
        .show(ui);
    Popup::menu(&button).width(260.0).show(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for choice in all {
            if widgets::choose_row(ui, &words(choice), None, *protocol == choice) {
                *protocol = choice;
            }
        }
    });
}
