//! The price table to be changed: a model a line, its input price and context, the day they are of, and the way back to the
//! figures that Loupe came with.

use egui::{Id, Label, Margin, RichText, ScrollArea, TextEdit, Ui, vec2};

use super::dialogs::paragraph;
use super::theme::{self, Tokens};
use super::{Cx, widgets};
use crate::report::Model;
use crate::state::Action;
use crate::state::prices::{PriceField, PricesAction};

/// Width of a field, and of the column of the way back.
const FIELD: f32 = 150.0;
const RESET: f32 = 84.0;
const GAP: f32 = 12.0;
/// A line with its day below it.
const ROW: f32 = 58.0;

/// The dialog, below its title.
pub(super) fn dialog_ui(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    let t = Tokens::of(ui);
    paragraph(ui, "What costs are computed from. Prices change: look at the provider's own page, and type what you pay.");
    let small = |text: &str| RichText::new(text).font(theme::small()).color(t.weak);
    row(ui, |ui, name| {
        ui.allocate_ui(vec2(name, 18.0), |ui| ui.set_min_width(name));
        for title in ["US$ per M input tokens", "Context, tokens"] {
            ui.allocate_ui(vec2(FIELD, 18.0), |ui| {
                ui.set_min_width(FIELD);
                ui.add(Label::new(small(title)).truncate());
            });
        }
    });
    let models = &cx.state.prices.prices.models;
    let room = (height - 60.0).max(2.0 * ROW);
    ScrollArea::vertical().id_salt("prices").max_height(room).auto_shrink([false, true]).show(ui, |ui| {
        for model in models {
            model_ui(ui, cx, model);
        }
    });
    let note = "Without caching, batches or long-context surcharges. What you change is kept with the settings; \
                a prices.toml in their folder can add models.";
    ui.add(Label::new(small(note)).wrap());
    if let Some(problem) = &cx.state.prices.problem {
        widgets::problem_ui(ui, problem);
    }
}

/// A line of the table; what is left for the name goes to `paint`.
fn row(ui: &mut Ui, paint: impl FnOnce(&mut Ui, f32)) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        let name = (ui.available_width() - 2.0 * FIELD - RESET - 3.0 * GAP - 14.0).max(120.0);
        paint(ui, name);
    });
}

fn model_ui(ui: &mut Ui, cx: &Cx<'_>, model: &Model) {
    let t = Tokens::of(ui);
    let send = |action| cx.send(Action::Prices(action));
    let shipped = cx.state.prices.shipped(&model.name);
    row(ui, |ui, width| {
        ui.allocate_ui(vec2(width, ROW), |ui| {
            ui.vertical(|ui| {
                ui.set_min_width(width);
                ui.spacing_mut().item_spacing.y = 2.0;
                ui.add(Label::new(RichText::new(&model.name).font(theme::base()).color(t.strong)).truncate());
                let of = match shipped {
                    Some(_) => format!("Changed by you on {}", model.read),
                    None => format!("Read on {}", model.read),
                };
                let said = ui.add(Label::new(RichText::new(&of).font(theme::small()).color(t.weak)).truncate());
                said.on_hover_text(match shipped {
                    Some(shipped) => format!(
                        "Came with ${} and {}, read on {}: {}",
                        shipped.input,
                        widgets::number_text(shipped.context, "tokens"),
                        shipped.read,
                        shipped.source
                    ),
                    None => model.source.clone(),
                });
            });
        });
        field_ui(ui, cx, model, PriceField::Input);
        field_ui(ui, cx, model, PriceField::Context);
        ui.allocate_ui(vec2(RESET, ROW), |ui| {
            if shipped.is_some() {
                let name = format!("Reset {}", model.name);
                let button = widgets::Button::new("Reset").small().name(&name).tip("Back to the figures it came with");
                if button.show(ui).clicked() {
                    send(PricesAction::Reset(model.name.clone()));
                }
            }
        });
    });
}

/// A figure; what is wrong with it stands right below.
fn field_ui(ui: &mut Ui, cx: &Cx<'_>, model: &Model, field: PriceField) {
    let t = Tokens::of(ui);
    let (what, unit) = match field {
        PriceField::Input => ("Input price", "US dollars per million tokens"),
        PriceField::Context => ("Context", "tokens"),
    };
    let wrong = cx.state.prices.wrong(model, field);
    ui.allocate_ui(vec2(FIELD, ROW), |ui| {
        ui.vertical(|ui| {
            ui.set_min_width(FIELD);
            ui.spacing_mut().item_spacing.y = 2.0;
            let mut text = cx.state.prices.text(model, field);
            let edit = TextEdit::singleline(&mut text)
                .id(Id::unique(("price", &model.name, what)))
                .font(theme::mono(12.5))
                .text_color(if wrong.is_some() { t.bad } else { t.text })
                .align(egui::Align2::RIGHT_CENTER)
                .desired_width(FIELD - 18.0)
                .margin(Margin::symmetric(8, 5));
            let edited = ui.add(edit).accessible_name(format!("{what} of {}, {unit}", model.name));
            if edited.changed() {
                cx.send(Action::Prices(PricesAction::Type { model: model.name.clone(), field, text }));
            }
            if let Some(wrong) = wrong {
                ui.add(Label::new(RichText::new(wrong).font(theme::small()).color(t.bad)).wrap());
            }
        });
    });
}
