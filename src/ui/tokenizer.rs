//! The chooser of the tokenizer in the top bar: what counts, how its numbers come about, and what they cost in money.

use egui::{Popup, Role, ScrollArea, Ui, vec2};

use super::theme;
use super::{Cx, icons, widgets};
use crate::state::TokensAction;
use crate::state::anthropic_count::ExactAction;
use loupe_analysis::queries::Model;
use loupe_core::token::{Encoding, Tokenizer};

const WIDTH: f32 = 360.0;
const ROW: f32 = 28.0;

/// The longest name that the bar shows; the menu has it whole.
const SHOWN: usize = 24;

/// The name with a mark where its numbers are an estimate.
fn shown_name(tokenizer: &Tokenizer) -> String {
    let name: String = match tokenizer.name().char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &tokenizer.name()[..end]),
        None => tokenizer.name().to_owned(),
    };
    if tokenizer.is_exact() {
        name
    } else {
        format!("≈ {name}")
    }
}

pub fn chooser_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let chosen = &cx.state.settings.tokenizer;
    let button = egui::Button::new((
        icons::icon(icons::TOKENIZER, 14.0, t.weak),
        widgets::styled(shown_name(chosen), theme::mono(12.5), t.text),
        icons::icon(icons::DOWN, 12.0, t.weak),
    ))
    .min_size(vec2(0.0, theme::INPUT));
    let response = ui.add(button);
    widgets::say(
        &response,
        Role::Button,
        format!("Tokenizer {}", chosen.name()),
    );
    Popup::menu(&response).show(|ui| {
        ui.set_width(WIDTH);
        ScrollArea::vertical()
            .max_height((ui.content_rect().height() - 100.0).max(200.0))
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                menu_ui(ui, cx);
            });
    });
    response.on_hover_text(format!(
        "The tokenizer of every count shown: {}",
        chosen.how()
    ));
}

fn menu_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let chosen = &cx.state.settings.tokenizer;
    heading(ui, "Tokenizer");
    let file = cx
        .state
        .tokenizer_file
        .iter()
        .map(|file| Tokenizer::File(std::sync::Arc::clone(file)));
    let built_in = Encoding::ALL
        .iter()
        .copied()
        .map(Tokenizer::Encoding)
        .chain([Tokenizer::P50kBase, Tokenizer::Claude]);
    for tokenizer in built_in.chain(file) {
        let (name, note) = match &tokenizer {
            Tokenizer::Claude => ("Claude".to_owned(), "≈ estimate".to_owned()),
            Tokenizer::File(file) => (
                file.name.clone(),
                format!("{} · {}…", file.kind.title(), &file.sha256[..8]),
            ),
            other => (other.name().to_owned(), "exact".to_owned()),
        };
        if row_ui(ui, &name, &note, tokenizer == *chosen) {
            cx.send(TokensAction::Use(tokenizer));
            ui.close();
        }
    }
    if *chosen == Tokenizer::Claude
        && widgets::menu_item(ui, icons::KEY, "Count exactly…", "", true).clicked()
    {
        cx.send(ExactAction::Open(None));
        ui.close();
    }
    if widgets::choose_item(ui, icons::OPEN_FILE, "Tokenizer file…", "", true) {
        cx.send(TokensAction::OpenFile(None));
    }
    // How the numbers come about, whole: an estimate says what it was made from, a file its digest.
    note(ui, &capital(&chosen.how()), t.text);
    ui.add_space(4.0);
    widgets::separator(ui);
    money_ui(ui, cx);
}

fn money_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    heading(ui, "Money and context");
    let choose = |ui: &mut Ui, name: &str, about: &str, model: Option<&Model>| {
        let wanted = model.map(|model| model.name.clone());
        if row_ui(ui, name, about, cx.state.settings.model == wanted) {
            cx.send(TokensAction::Model(wanted));
        }
    };
    choose(ui, "Off", "", None);
    for model in &cx.state.prices.prices.models {
        let about = format!(
            "${:.2} / M in · {} context",
            model.input,
            widgets::grouped(model.context)
        );
        choose(ui, &model.name, &about, Some(model));
    }
    if let Some(model) = cx.state.model() {
        note(
            ui,
            &format!(
                "Input prices without caching or batches. Read on {}: {}",
                model.read, model.source
            ),
            t.weak,
        );
    } else {
        note(
            ui,
            "Choose a model to see what an answer costs and its share of the context",
            t.weak,
        );
    }
    if let Some(file) = &cx.state.prices.file {
        note(
            ui,
            &format!(
                "Other prices and models are read from {} when Loupe starts",
                file.display()
            ),
            t.weak,
        );
    }
    if let Some(problem) = &cx.state.prices.problem {
        ui.add_space(4.0);
        widgets::problem_ui(ui, problem);
    }
}

fn heading(ui: &mut Ui, text: &str) {
    let t = theme::of(ui);
    let row = widgets::ListRow::to_read(ui, 26.0);
    row.say(Role::Heading, text);
    row.text(
        row.inset_left(8.0),
        row.rect.right() + 8.0,
        text,
        theme::semibold(12.0),
        t.weak,
    );
}

fn note(ui: &mut Ui, text: &str, color: egui::Color32) {
    widgets::padded(
        ui,
        egui::Margin {
            left: 8,
            right: 8,
            top: 4,
            bottom: 4,
        },
        |ui| {
            widgets::wrapped(ui, text, theme::small(), color);
        },
    );
}

/// One choice with a note at the right; true when it was clicked.
fn row_ui(ui: &mut Ui, name: &str, about: &str, is_chosen: bool) -> bool {
    let t = theme::of(ui);
    let row = widgets::ListRow::new(ui, ROW);
    let ui = row.ui;
    let spoken = if about.is_empty() {
        name.to_owned()
    } else {
        format!("{name}, {about}")
    };
    widgets::say_selected(&row.response, Role::MenuItem, is_chosen, &spoken);
    if row.response.hovered() || row.response.has_focus() {
        ui.painter()
            .rect_filled(row.rect, theme::RADIUS_BADGE, t.hover);
    }
    widgets::focus_ring_inside(ui, &row.response);
    if is_chosen {
        row.icon(row.inset_left(15.0), icons::CHECK, 14.0, t.accent);
    }
    let right = row.number(row.inset_right(10.0), about, theme::small(), t.weak);
    let left = row.inset_left(30.0);
    let color = if is_chosen { t.strong } else { t.text };
    row.text(left, right - 8.0, name, theme::base(), color);
    row.response.clicked()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
