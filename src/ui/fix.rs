//! What the server would change so that a cheaper format says all that its text says: the menu of *Show the fix*.

use egui::{Response, Ui};

use super::theme;
use super::widgets::{self, Button};
use super::{Cx, icons};
use crate::state::Action;
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::queries::{AddedMember, Repair, RowQuery};
use loupe_analysis::summary::StripCell;
use loupe_core::format::{self, format_bytes};

const WIDTH: f32 = 420.0;

/// Opens at `button`.
pub fn fix_menu(button: &Response, cx: &Cx<'_>, cell: &StripCell, repair: &Repair) {
    egui::Popup::menu(button)
        .width(WIDTH)
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| fix_ui(ui, cx, cell, repair));
}

fn fix_ui(ui: &mut Ui, cx: &Cx<'_>, cell: &StripCell, repair: &Repair) {
    let t = theme::of(ui);
    let structured = cx.ready(RowQuery("structured"));
    let sends_data = structured.is_some_and(|row| row.is_available());
    ui.set_width(WIDTH);
    ui.spacing_mut().item_spacing.y = 6.0;
    let head = match sends_data {
        true => "Add to structuredContent what only the text says",
        false => "Send structuredContent, with what only the text says",
    };
    widgets::words(ui, head, theme::semibold(13.0), t.strong);
    for member in &repair.added {
        member_ui(ui, member);
    }
    let then = format!(
        "{} then: {} tok, {}{}",
        cell.name,
        cell.count_text(),
        cell.change
            .as_deref()
            .map_or_else(String::new, |change| format!("{change}, ")),
        cell.loss.as_ref().map_or("", |loss| loss.text.as_str()),
    );
    widgets::wrapped(ui, then, theme::small(), t.weak);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        let subject = repair.fixed.subject();
        let formats = [format::by_id("json-pretty"), format::by_id(cell.format)];
        for format in formats.into_iter().flatten() {
            let name = format!("Copy as {}", format.title());
            if Button::new(&name).icon(icons::COPY).small().clicked(ui)
                && let Ok(bytes) = format_bytes(format, subject)
            {
                cx.send(Action::Copy(String::from_utf8_lossy(&bytes).into_owned()));
                ui.close();
            }
        }
    });
}

/// `type` in 5 objects: `"Dead"`.
fn member_ui(ui: &mut Ui, member: &AddedMember) {
    let t = theme::of(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        widgets::words(ui, &member.key, theme::mono_semibold(12.0), t.strong);
        if member.objects > 1 {
            let objects = widgets::number_text(member.objects as u64, "objects");
            widgets::words(ui, format!("in {objects}"), theme::small(), t.weak);
        }
        let first = Shown::of(&member.first).text;
        widgets::truncated(ui, first, theme::code(), t.text);
    });
}
