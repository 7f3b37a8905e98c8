//! The connect screen where it is asked for the other list of tools: the same ways to a server, which is connected only
//! while it lists them.

use egui::{Label, Ui};

use super::super::theme;
use super::super::{Cx, icons, widgets};
use crate::state::server_diff::ServerDiffAction;
use loupe_core::source::Source;

/// On the button of the form, and of the sample.
pub(super) const LIST: &str = "List its tools";
pub(super) const LIST_SAMPLE: &str = "List this sample's tools";

/// What is asked for.
pub(super) fn head_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let name = cx.state.own_list().name;
    widgets::words(
        ui,
        "Compare tools with another server or version",
        theme::page_title(),
        t.strong,
    );
    let words = format!(
        "Choose what the tools of {name} are compared with. It is connected only while it lists its tools; {name} stays connected."
    );
    widgets::wrapped(ui, words, theme::regular(14.0), t.weak);
}

pub(super) fn retry_ui(ui: &mut Ui, cx: &Cx<'_>, source: &Source) {
    ui.horizontal(|ui| {
        if widgets::Button::new("Retry")
            .icon(icons::REFRESH)
            .clicked(ui)
        {
            cx.send(ServerDiffAction::List(Box::new(source.clone())));
        }
        ui.add(
            Label::new(widgets::styled(
                source.to_string(),
                theme::code(),
                theme::of(ui).weak,
            ))
            .truncate(),
        );
    });
}

/// Which files are taken.
pub(super) fn file_words(cx: &Cx<'_>) -> &'static str {
    if cx.state.server_diff.is_choosing {
        "A saved list of tools, a folder of captures, or a session's record"
    } else {
        "Drop a capture folder or a file with an answer here"
    }
}
