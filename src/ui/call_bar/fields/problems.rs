//! What the schema says against the arguments.

use egui::{Margin, Ui};

use crate::state::{Form, FormMode};
use crate::ui::theme;
use crate::ui::widgets;

/// A JSON Pointer as people write a path: `items[2].price`.
fn path_of(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        match step.parse::<usize>() {
            Ok(at) if !path.is_empty() => path.push_str(&format!("[{at}]")),
            _ if path.is_empty() => path = step,
            _ => path.push_str(&format!(".{step}")),
        }
    }
    path
}

/// What the schema says against the arguments, by place.
pub(in crate::ui::call_bar) fn problems_ui(ui: &mut Ui, form: &Form) {
    let t = theme::of(ui);
    // In the form each field says its own.
    let at_field = |pointer: &str| {
        let name = pointer
            .trim_start_matches('/')
            .split('/')
            .next()
            .unwrap_or_default();
        form.mode == FormMode::Form && form.fields().any(|(property, _)| property.name == name)
    };
    let rest: Vec<_> = form
        .problems
        .iter()
        .filter(|(pointer, _)| !at_field(pointer))
        .collect();
    if rest.is_empty() && form.unchecked.is_none() {
        return;
    }
    widgets::padded(
        ui,
        Margin {
            top: 2,
            ..Margin::ZERO
        },
        |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            for (pointer, message) in rest.iter().take(3) {
                let place = if pointer.is_empty() {
                    String::new()
                } else {
                    format!("{}: ", path_of(pointer))
                };
                widgets::wrapped(ui, format!("{place}{message}"), theme::regular(12.0), t.bad);
            }
            if rest.len() > 3 {
                widgets::words(
                    ui,
                    format!("and {} more", rest.len() - 3),
                    theme::regular(12.0),
                    t.bad,
                );
            }
            if let Some(why) = &form.unchecked {
                let text = format!("The arguments cannot be checked: {why}");
                widgets::wrapped(ui, text, theme::regular(12.0), t.warn);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_as_people_do() {
        let paths = ["/items/2/price", "/a~1b", "/filter/0", "/3"].map(path_of);
        assert_eq!(paths, ["items[2].price", "a/b", "filter[0]", "3"]);
    }
}
