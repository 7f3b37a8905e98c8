//! What could be called to know more: the buttons next to *Call* and next to the summary, the popup for other arguments, equal
//! calls, and the variant with data where a result has none.

use egui::containers::menu::SubMenuButton;
use egui::{Id, Popup, PopupCloseBehavior, RichText, TextEdit, Ui};

use crate::state::{Action, CompareAction, Screen, VaryForm};
use crate::ui::theme;
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons, shortcuts};
use loupe_analysis::queries::comparison::{
    ComparisonChoice, argument_names, choices, page_size_argument, shown,
};

/// Room under which the button says less.
const TIGHT: f32 = 860.0;

/// What the button says, and what it does; `None` where the tool has nothing that chooses a format.
fn compare_of(cx: &Cx<'_>) -> Option<(String, ComparisonChoice)> {
    let choice = cx.state.format_choice()?;
    let label = choice.label(cx.state.made_of(&choice));
    Some((label, choice))
}

/// Beside *Call*: the comparison of the tool's formats, or any argument to vary.
pub fn button_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let why = cx.why_no_call();
    let Some((label, choice)) = compare_of(cx) else {
        let is_short = ui.available_width() < TIGHT;
        vary_ui(
            ui,
            cx,
            if is_short {
                "Vary…"
            } else {
                "Vary an argument…"
            },
            why,
        );
        return;
    };
    vary_ui(ui, cx, "", why);
    // The name is always whole; what is painted is shorter where there is no room.
    let is_short = ui.available_width() < TIGHT || cx.state.view.screen == Screen::Compare;
    let painted = if is_short { "Compare" } else { label.as_str() };
    let tip = if why.is_empty() { label.as_str() } else { why };
    let button = Button::new(painted)
        .icon(icons::COMPARE)
        .name(&label)
        .tip(tip)
        .left_half()
        .enabled(why.is_empty());
    if button.clicked(ui) {
        cx.send(starting(&choice));
    }
}

fn starting(choice: &ComparisonChoice) -> Action {
    Action::Compare(CompareAction::Start {
        vary: choice.name.clone(),
        written: String::new(),
    })
}

/// The same by key: the comparison of the tool's formats, if it has any and can be called now.
pub fn by_key(cx: &Cx<'_>) -> Option<Action> {
    if cx.state.view.screen == Screen::Answer && !is_of_shown_tool(cx) {
        return None;
    }
    cx.why_no_call()
        .is_empty()
        .then(|| cx.state.format_choice().as_ref().map(starting))?
}

/// The command that makes [`USUAL_CALLS`].
pub const EQUAL: &str = "Call 5 times and compare";
const USUAL_CALLS: usize = 5;
const COUNTS: [usize; 5] = [3, USUAL_CALLS, 10, 20, 50];

fn equal(count: usize) -> Action {
    Action::Compare(CompareAction::StartEqual(count))
}

/// Equal calls by key, where the tool can be called now.
pub fn equal_by_key(cx: &Cx<'_>) -> Option<Action> {
    (cx.state.tool().is_some() && cx.why_no_call().is_empty()).then(|| equal(USUAL_CALLS))
}

/// An entry of the menu next to *Call*: the same call several times.
pub fn equal_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let why = cx.why_no_call();
    ui.add_enabled_ui(why.is_empty(), |ui| {
        SubMenuButton::new("Repeat the call several times").ui(ui, equal_menu(cx));
    });
}

fn equal_menu(cx: &Cx<'_>) -> impl FnOnce(&mut Ui) {
    move |ui| {
        for count in COUNTS {
            let button = ui.button(format!("Call {count} times"));
            let button = if count == USUAL_CALLS {
                button.on_hover_text(shortcuts::text(&shortcuts::EQUAL_CALLS))
            } else {
                button
            };
            if button.clicked() {
                cx.send(equal(count));
                ui.close();
            }
        }
    }
}

/// Whether the result shown is of the tool that would be called: next to another tool's answer there is nothing to offer.
fn is_of_shown_tool(cx: &Cx<'_>) -> bool {
    cx.state
        .capture()
        .is_none_or(|capture| Some(&capture.tool.name) == cx.state.session().selected_tool.as_ref())
}

fn has_room(ui: &Ui) -> bool {
    ui.content_rect().width() >= theme::WIDE + 160.0
}

/// Beside the summary.
pub fn offer_ui(ui: &mut Ui, cx: &Cx<'_>) {
    if let Some((label, choice)) = compare_of(cx)
        && has_room(ui)
        && is_of_shown_tool(cx)
    {
        let why = cx.why_no_call();
        let tip = if why.is_empty() {
            "Calls with each value and shows the answers side by side"
        } else {
            why
        };
        let spoken = format!("{label}, beside the summary");
        let button = Button::new(&label)
            .icon(icons::COMPARE)
            .small()
            .name(&spoken)
            .tip(tip)
            .enabled(why.is_empty());
        if button.clicked(ui) {
            cx.send(starting(&choice));
        }
    }
}

/// Any argument and its values; with an empty label it is the caret of the button before it.
fn vary_ui(ui: &mut Ui, cx: &Cx<'_>, label: &str, why: &str) {
    let Some(listed) = cx.state.tool() else {
        return;
    };
    let names = argument_names(&listed.tool);
    let why = if names.is_empty() {
        "The tool takes no arguments"
    } else {
        why
    };
    let tip = if why.is_empty() {
        "Call with several values of an argument and compare"
    } else {
        why
    };
    let button = Button::new(label)
        .name("Vary an argument…")
        .tip(tip)
        .enabled(why.is_empty());
    let button = if label.is_empty() {
        button.icon(icons::DOWN).right_half()
    } else {
        button.icon(icons::COMPARE)
    };
    let button = button.show(ui);
    if !why.is_empty() {
        return;
    }
    let popup = Popup::menu(&button)
        .id(Id::unique("vary an argument"))
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    popup.width(380.0).show(|ui| form_ui(ui, cx, &names));
}

/// The calls that measure what an item costs, where the tool takes a page size.
fn measure_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let Some(size) = cx
        .state
        .tool()
        .and_then(|listed| page_size_argument(&listed.tool))
    else {
        return;
    };
    let why = cx.why_no_call();
    let sizes = size
        .sizes()
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    let label = format!("Measure {}: {sizes}", size.name);
    let tip = if why.is_empty() {
        "What an item costs, and where limits stop"
    } else {
        why
    };
    if Button::new(&label)
        .icon(icons::COST)
        .small()
        .enabled(why.is_empty())
        .tip(tip)
        .clicked(ui)
    {
        cx.send(CompareAction::Start {
            vary: size.name.clone(),
            written: sizes,
        });
        ui.close();
    }
}

fn form_ui(ui: &mut Ui, cx: &Cx<'_>, names: &[String]) {
    let Some(listed) = cx.state.tool() else {
        return;
    };
    let tool = &listed.tool;
    let size = page_size_argument(tool);
    let preset = |name: &str| -> String {
        if let Some(size) = size.as_ref().filter(|size| size.name == name) {
            return size
                .sizes()
                .iter()
                .map(u64::to_string)
                .collect::<Vec<_>>()
                .join(", ");
        }
        let choice = choices(tool).into_iter().find(|choice| choice.name == name);
        choice.map_or_else(String::new, |choice| {
            choice
                .values
                .iter()
                .map(|value| shown(value))
                .collect::<Vec<_>>()
                .join(", ")
        })
    };
    let known = &cx.state.comparisons.form;
    let first = || {
        let chosen = choices(tool).first().map(|choice| choice.name.clone());
        chosen
            .or_else(|| size.as_ref().map(|size| size.name.clone()))
            .or_else(|| names.first().cloned())
            .unwrap_or_default()
    };
    let form = if known.tool == tool.name {
        known.clone()
    } else {
        let vary = first();
        VaryForm {
            tool: tool.name.clone(),
            written: preset(&vary),
            vary,
        }
    };
    let edit = |form: VaryForm| cx.send(CompareAction::Edit(form));
    if size.is_some() {
        measure_ui(ui, cx);
        ui.add_space(4.0);
    }
    widgets::note(ui, "Argument");
    ui.horizontal_wrapped(|ui| {
        for name in names {
            let is_chosen = *name == form.vary;
            if ui
                .selectable_label(is_chosen, RichText::new(name).font(theme::mono(12.0)))
                .clicked()
                && !is_chosen
            {
                edit(VaryForm {
                    tool: tool.name.clone(),
                    vary: name.clone(),
                    written: preset(name),
                });
            }
        }
    });
    ui.add_space(4.0);
    widgets::note(ui, "Values, with commas between them or as a JSON array");
    let mut written = form.written.clone();
    let field = TextEdit::singleline(&mut written)
        .font(theme::mono(12.0))
        .desired_width(f32::INFINITY);
    let field = ui.add(field).accessible_name("Values");
    if field.changed() {
        edit(VaryForm {
            written: written.clone(),
            ..form.clone()
        });
    }
    ui.add_space(4.0);
    let count = written
        .split(',')
        .filter(|word| !word.trim().is_empty())
        .count();
    let label = if written.trim_start().starts_with('[') {
        format!("Compare {}", form.vary)
    } else {
        format!(
            "Compare {} · {}",
            form.vary,
            widgets::number_text(count as u64, "calls")
        )
    };
    let tip = if count == 0 {
        "Enter at least one value"
    } else {
        "One call after another"
    };
    let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    if (Button::new(&label)
        .primary()
        .enabled(count > 0)
        .tip(tip)
        .clicked(ui)
        || is_entered)
        && count > 0
    {
        cx.send(CompareAction::Start {
            vary: form.vary,
            written,
        });
        ui.close();
    }
}
