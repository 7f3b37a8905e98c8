//! The way to a result with data, where the one shown has none.

use egui::Ui;

use crate::state::CallAction;
use crate::ui::widgets::Button;
use crate::ui::{Cx, icons};
use loupe_analysis::queries::ParsedCaptureQuery;
use loupe_analysis::queries::comparison::{shown, value_in};

/// "Get the json variant · 1 call", where the result shown has no data and the tool has a value that may give some.
pub fn variant_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let Some(subject) = cx.ready(ParsedCaptureQuery) else {
        return;
    };
    let (None, Some(capture), Some(choice)) =
        (&subject.data, cx.state.capture(), cx.state.format_choice())
    else {
        return;
    };
    if cx
        .state
        .tool()
        .is_none_or(|listed| listed.tool.name != capture.tool.name)
    {
        return;
    }
    let given = String::from_utf8_lossy(&capture.arguments);
    let current = value_in(&capture.tool, &choice.name, &given);
    let is_data = |value: &&String| {
        ["json", "structured", "raw", "yaml"].contains(&shown(value).to_lowercase().as_str())
    };
    let Some(value) = choice
        .values
        .iter()
        .find(is_data)
        .filter(|value| Some(*value) != current.as_ref())
    else {
        return;
    };
    let label = format!("Get the {} variant · 1 call", shown(value));
    let why = cx.why_no_call();
    let tip = if why.is_empty() {
        "This answer has no data to write other formats from"
    } else {
        why
    };
    let button = Button::new(&label)
        .icon(icons::CALL)
        .key("variant")
        .tip(tip)
        .height(24.0)
        .enabled(why.is_empty());
    if button.clicked(ui)
        && let Ok(arguments) =
            loupe_analysis::queries::comparison::with_value(&given, &choice.name, value)
    {
        cx.send(CallAction::SetArgumentsText(arguments));
        cx.send(CallAction::Call { send_anyway: false });
    }
}
