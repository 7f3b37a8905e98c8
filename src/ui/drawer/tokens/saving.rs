//! Where a saving comes from: two formats are chosen, and the steps between them shown.

use egui::{Popup, Ui};

use super::part_head;
use crate::state::{Action, TokensAction};
use crate::ui::staircase::steps_ui;
use crate::ui::theme;
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};
use loupe_analysis::queries::{RowQuery, SavingQuery};
use loupe_core::format::FORMATS;
use loupe_core::format::format_title;

/// Whether a format applies to this result.
fn applies(cx: &Cx<'_>, id: &'static str) -> bool {
    matches!(cx.ready(RowQuery(id)), Some(row) if row.is_available())
}

/// The two formats: those chosen where they apply, else the text as sent and compact JSON.
fn ends(cx: &Cx<'_>) -> Option<(&'static str, &'static str)> {
    let view = &cx.state.view.tokens;
    let has = |id: Option<&'static str>| id.filter(|id| applies(cx, id));
    let from = has(view.from).or_else(|| {
        ["both", "content", "structured"]
            .into_iter()
            .find(|id| applies(cx, id))
    })?;
    let to = has(view.to).or_else(|| has(Some("json")))?;
    Some((from, to))
}

pub fn saving_ui(ui: &mut Ui, cx: &Cx<'_>) {
    part_head(ui, "Where the saving comes from");
    let Some((from, to)) = ends(cx) else {
        widgets::note(ui, "No two formats of this answer to compare");
        return;
    };
    ui.horizontal(|ui| {
        ui.set_height(theme::ICON_BUTTON);
        ui.spacing_mut().item_spacing.x = 6.0;
        chooser_ui(ui, cx, "From", from, |from| TokensAction::Saving {
            from,
            to,
        });
        ui.label(icons::icon(icons::ARROW_RIGHT, 14.0, theme::of(ui).weak));
        chooser_ui(ui, cx, "To", to, |to| TokensAction::Saving { from, to });
        if widgets::icon_button(ui, icons::SWAP, "Swap A and B").clicked() {
            cx.send(TokensAction::Saving { from: to, to: from });
        }
    });
    ui.add_space(4.0);
    let asked = cx.ask(SavingQuery {
        from,
        to,
        encoding: cx.state.settings.encoding(),
    });
    if let Some(Some(saving)) = widgets::ready(ui, cx, "Measuring steps", asked) {
        widgets::scroll("saving").show(ui, |ui| steps_ui(ui, saving, from, to));
    }
}

fn chooser_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    name: &str,
    chosen: &'static str,
    then: impl Fn(&'static str) -> TokensAction,
) {
    let t = theme::of(ui);
    let spoken = format!("{name}: {}", format_title(chosen));
    let button = Button::new(format_title(chosen))
        .menu()
        .height(theme::ICON_BUTTON)
        .name(&spoken)
        .show(ui);
    Popup::menu(&button).width(240.0).show(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for format in FORMATS.iter().filter(|format| applies(cx, format.id())) {
            if widgets::choose_row(
                ui,
                format.title(),
                Some(t.hue(format.id()).color),
                format.id() == chosen,
            ) {
                cx.send(Action::Tokens(then(format.id())));
            }
        }
    });
}
